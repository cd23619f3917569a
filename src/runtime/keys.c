/* Writes and reads keys of maps as JSON. */
#include "runtime/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void keys_quote(wick_text *t, wick_string s)
{
  wick_text_char(t, '"');
  for (uint64_t i = 0; i < s.nbytes; i++) {
    unsigned char c = (unsigned char)s.at[i];
    if (c < 0x20 || c == 0x7f)
      wick_text_printf(t, "\\u%04x", c);
    else if (c == '"' || c == '\\')
      wick_text_printf(t, "\\%c", c);
    else
      wick_text_char(t, (char)c);
  }
  wick_text_char(t, '"');
}

void wick_keys_write(wick_text *t, wick_keys keys)
{
  wick_text_char(t, '[');
  for (uint32_t i = 0; i < keys.n; i++) {
    if (i) wick_text_char(t, ',');
    if (keys.text)
      keys_quote(t, keys.text[i]);
    else
      wick_text_int(t, keys.number[i]);
  }
  wick_text_char(t, ']');
}

/* ---- reading ---- */

static const char *keys_space(const char *s) { return s + strspn(s, " \t\r\n"); }

/* Reads the four digits of a character below U+10000 that is no surrogate, and adds it as UTF-8.
 * Returns NULL otherwise. */
static const char *keys_escape(const char *s, wick_text *t)
{
  if (strspn(s, "0123456789abcdefABCDEF") < 4) return NULL;
  char digits[5] = {s[0], s[1], s[2], s[3], 0};
  unsigned long c = strtoul(digits, NULL, 16);
  if (c >= 0xd800 && c < 0xe000) return NULL;
  if (c < 0x80) {
    wick_text_char(t, (char)c);
  } else {
    if (c >= 0x800) wick_text_char(t, (char)(0xe0 | c >> 12));
    wick_text_char(t, (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6));
    wick_text_char(t, (char)(0x80 | (c & 0x3f)));
  }
  return s + 4;
}

/* Reads from after the opening quote. Returns the position after the closing one. */
static const char *keys_string(const char *s, wick_arena *mem, wick_string *out)
{
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  wick_text t = wick_text_begin(mem);
  while (s && *s && *s != '"') {
    if (*s != '\\') {
      wick_text_char(&t, *s++);
      continue;
    }
    const char *which = s[1] ? strchr(from, s[1]) : NULL;
    if (which) wick_text_char(&t, to[which - from]);
    s = which ? s + 2 : s[1] == 'u' ? keys_escape(s + 2, &t) : NULL;
  }
  if (!s || *s != '"') return NULL;
  *out = (wick_string){t.at, t.n};
  return s + 1;
}

bool wick_keys_read(const char *json, wick_arena *mem, wick_keys *out)
{
  wick_list(int64_t) number = {0};
  wick_list(wick_string) text = {0};
  *out = (wick_keys){0};
  const char *s = keys_space(json);
  if (*s++ != '[') return false;
  s = keys_space(s);
  for (bool more = *s != ']'; more; more = *s++ == ',') {
    wick_string string;
    s = keys_space(s);
    if (*s == '"') {
      if (number.n || !(s = keys_string(s + 1, mem, &string))) return false;
      wick_push(mem, &text, string);
    } else {
      char *end;
      errno = 0;
      int64_t n = strtoll(s, &end, 10);
      if (text.n || end == s || errno) return false;
      wick_push(mem, &number, n);
      s = end;
    }
    s = keys_space(s);
    if (*s != ',' && *s != ']') return false;
  }
  *out = (wick_keys){number.n + text.n, number.at, text.at};
  return true;
}

void wick_keys_take(const char *key, const char *value, uint32_t ninput, uint32_t noutput,
                    wick_io *io, wick_arena *mem)
{
  bool in = strncmp(key, "onnx.input.", 11) == 0, is = in || strncmp(key, "onnx.output.", 12) == 0;
  const char *s = is ? value : NULL;
  for (int word = 0; s && word < 3; word++) s = (s = strchr(s, ' ')) ? s + 1 : NULL;
  if (!s) return;
  const char *name = key + (in ? 11 : 12);
  for (uint32_t i = in ? 0 : ninput; i < (in ? ninput : ninput + noutput); i++) {
    wick_keys keys;
    if (strcmp(io[i].name, name) != 0 || !io[i].rank || !wick_keys_read(s, mem, &keys)) continue;
    if (io[i].dim[io[i].rank - 1] == (int64_t)keys.n) io[i].keys = keys;
  }
}
