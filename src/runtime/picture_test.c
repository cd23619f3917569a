#include "runtime/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct picture {
  const char *at;
  size_t n;
  const char *want; /* "2x1: ff0000 00ff00" with one line for each row, or the end of the message */
} picture;
#define PICTURE(bytes, want)                                                                       \
  {                                                                                                \
    bytes, sizeof bytes - 1, want                                                                  \
  }

/* The header of a BMP with 2 x 2 pixels. */
#define BMP(bits, kind, colors, offset, more)                                                      \
  "BM\0\0\0\0\0\0\0\0" offset "\0\0\0\x28\0\0\0\2\0\0\0\2\0\0\0\1\0" bits "\0" kind                \
  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" colors "\0\0\0\0\0\0\0" more

static const picture pictures[] = {
    PICTURE("P6\n2 1\n255\n\xff\x00\x10\x01\x02\x03", "2x1: ff0010 010203"),
    PICTURE("P3 # three\n1 2 15\n0 15 7  1 2 3", "1x2: 00ff77 112233"),
    PICTURE("P5 3 1 1023 \x03\xff\x00\x00\x02\x00", "3x1: ffffff 000000 808080"),
    PICTURE("P2\n2 1 4\n2 9", "2x1: 808080 ffffff"),
    PICTURE("P4 9 1\n\x80\x00", "9x1: 000000 ffffff ffffff ffffff ffffff ffffff ffffff ffffff "
                                "ffffff"),
    PICTURE("P1 3 1\n101", "3x1: 000000 ffffff 000000"),
    PICTURE("P6\n2 1\n255\n\xff", "the image ends in line 0"),
    PICTURE("P6\n2", "its sizes are no numbers"),
    PICTURE("P6\n70000 1 255\n", "is too large"),
    PICTURE("P6\n0 1 255\n", "the image is 1 times 0"),
    PICTURE("P6\n99999999999999999999 1 255\n", "its sizes are no numbers"),
    PICTURE("what is this", "it begins like no image that is known"),
    PICTURE("", "it begins like no image that is known"),
    PICTURE(BMP("\x18", "\0", "\0", "\x36", "\1\2\3\4\5\6\0\0\x11\x12\x13\x14\x15\x16\0\0"),
            "2x2: 131211 161514 030201 060504"),
    PICTURE(BMP("\x08", "\0", "\2", "\x3e", "\1\2\3\0\4\5\6\0\0\1\0\0\1\5\0\0"),
            "2x2: 060504 000000 030201 060504"),
    PICTURE(BMP("\x01", "\0", "\2", "\x3e", "\0\0\0\0\xff\xff\xff\0\x40\0\0\0\x80\0\0\0"),
            "2x2: ffffff 000000 000000 ffffff"),
    PICTURE(BMP("\x10", "\0", "\0", "\x36", "\x1f\0\xe0\3\0\x7c\xff\x7f"),
            "2x2: ff0000 ffffff 0000ff 00ff00"),
    PICTURE(BMP("\x08", "\1", "\2", "\x3e", "\1\2\3\0\4\5\6\0\2\1\0\0\0\2\0\1\0\1"),
            "2x2: 030201 030201 060504 060504"),
    PICTURE(BMP("\x18", "\0", "\0", "\x36", "\1\2\3"), "the image ends in line 0"),
    PICTURE(BMP("\x08", "\1", "\2", "\x3e", "\1\2\3\0\4\5\6\0\2\1"), "its runs end early"),
    PICTURE(BMP("\x18", "\4", "\0", "\x36", ""), "BMP of kind 4 with 24 bits"),
    PICTURE("BM", "its header is not that of a BMP"),
};

static void reads(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
    const picture *p = &pictures[i];
    char text[400] = "", *at = text;
    /* a copy of exact size, so that reads beyond it are detected */
    unsigned char *bytes = malloc(p->n + 1);
    memcpy(bytes, p->at, p->n);
    wick_picture m = {.at = bytes, .nbytes = p->n, .message = text, .message_nbytes = sizeof text};
    wick_code code = wick_picture_read(&m);
    if (!code) {
      m.rgb = calloc(1, (size_t)(m.height * m.width * 3));
      code = wick_picture_read(&m);
    }
    if (!code) {
      at += snprintf(at, 40, "%lldx%lld:", (long long)m.width, (long long)m.height);
      for (int64_t k = 0; k < m.height * m.width; k++, at += 7)
        snprintf(at, 8, " %02x%02x%02x", m.rgb[3 * k], m.rgb[3 * k + 1], m.rgb[3 * k + 2]);
    }
    size_t n = strlen(text), want = strlen(p->want);
    if (n < want || strcmp(text + n - want, p->want) != 0)
      fail_msg("picture %zu: %s, expected %s", i, text, p->want);
    free(m.rgb);
    free(bytes);
  }
}

/* Files of every supported kind are truncated and changed: an error, or pixels. */
static void survives(void **state)
{
  (void)state;
#define HEAD(bytes)                                                                                \
  {                                                                                                \
    bytes, sizeof bytes - 1                                                                        \
  }
  static const struct {
    const char *at;
    size_t n;
  } heads[] = {HEAD("\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"),
               HEAD("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\1\0\0\0\1\x08\2\0\0\0"),
               HEAD("\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14"
                    "ftypjp2 "),
               HEAD("\xff\x4f\xff\x51\0\x29\0\0\0\0\0\x20\0\0\0\x20"),
               HEAD("II*\0\x08\0\0\0\1\0\0\1\3\0\1\0\0\0\1\0\0\0"),
               HEAD("RIFF\x20\0\0\0WEBPVP8 \x10\0\0\0\x30\1\0\x9d\1\x2a")};
  uint32_t random = 1;
  for (int i = 0; i < 3000; i++) {
    unsigned char bytes[96];
    char text[200] = "";
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, heads[i % 6].at, heads[i % 6].n);
    for (int k = 12; k < 96; k++) {
      random = random * 1664525 + 1013904223;
      if (random >> 30 == 0 || k > 30) bytes[k] = (unsigned char)(random >> 16);
    }
    wick_picture m = {
        .at = bytes, .nbytes = 12 + random % 84, .message = text, .message_nbytes = 200};
    if (wick_picture_read(&m) || m.height * m.width > 1 << 20) continue;
    m.rgb = malloc((size_t)(m.height * m.width * 3));
    wick_code code = wick_picture_read(&m);
    assert_true(code == WICK_OK || *text);
    free(m.rgb);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(survives)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
