/* Escapes or replaces untrusted characters in one pass over the text. */
#include "base/shown.h"

#include <string.h>

size_t wick_utf8_length(const char *s, size_t n)
{
  const unsigned char *at = (const unsigned char *)s;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (!n) return 0;
  if (at[0] < 0x80) return 1;
  size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  if (at[0] < 0xc0 || at[0] >= 0xf8 || length > n) return 0;
  uint32_t c = at[0] & (0x7fu >> length);
  for (size_t k = 1; k < length; k++) {
    if ((at[k] & 0xc0) != 0x80) return 0;
    c = c << 6 | (at[k] & 0x3f);
  }
  bool surrogate = c >= 0xd800 && c < 0xe000;
  return c < least[length] || c > 0x10ffff || surrogate ? 0 : length;
}

/* Returns whether a terminal may interpret the character as a command: C0, DEL, and C1 (U+0080 to
 * U+009F). */
static bool shown_is_control(const char *s, size_t length)
{
  const unsigned char *at = (const unsigned char *)s;
  if (length == 1) return at[0] < ' ' || at[0] == 0x7f;
  return length == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

static void shown_escape(wick_text *t, unsigned char c)
{
  static const char *const digits = "0123456789abcdef";
  wick_text_char(t, '\\');
  if (c == '\n' || c == '\t' || c == '\r') {
    wick_text_char(t, c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    return;
  }
  wick_text_char(t, 'x');
  wick_text_char(t, digits[c >> 4]);
  wick_text_char(t, digits[c & 15]);
}

static bool shown_stays(const char *s, size_t length, bool lines)
{
  return length && (!shown_is_control(s, length) || (lines && (*s == '\n' || *s == '\t')));
}

static void shown_add(wick_text *t, const char *s, size_t n, bool lines)
{
  for (size_t at = 0; at < n;) {
    size_t length = wick_utf8_length(s + at, n - at), all = length ? length : 1;
    if (shown_stays(s + at, length, lines))
      wick_text_addn(t, s + at, all);
    else
      for (size_t k = 0; k < all; k++) shown_escape(t, (unsigned char)s[at + k]);
    at += all;
  }
}

static const char *shown_of(wick_arena *mem, const char *s, bool lines)
{
  size_t n = strlen(s), at = 0, length = 1;
  while (at < n && shown_stays(s + at, length = wick_utf8_length(s + at, n - at), lines))
    at += length;
  if (at == n) return s;
  wick_text t = wick_text_begin(mem);
  shown_add(&t, s, n, lines);
  return t.at;
}

void wick_text_shown(wick_text *t, const char *s, size_t n) { shown_add(t, s, n, false); }
const char *wick_str_shown(wick_arena *mem, const char *s) { return shown_of(mem, s, false); }
const char *wick_str_shown_lines(wick_arena *mem, const char *s) { return shown_of(mem, s, true); }

const char *wick_str_utf8(wick_arena *mem, const char *s)
{
  size_t n = strlen(s), at = 0, length;
  while (at < n && (length = wick_utf8_length(s + at, n - at))) at += length;
  if (at == n) return s;
  wick_text t = wick_text_begin(mem);
  for (at = 0; at < n; at += length ? length : 1) {
    length = wick_utf8_length(s + at, n - at);
    wick_text_addn(&t, length ? s + at : "\xef\xbf\xbd", length ? length : 3);
  }
  return t.at;
}
