/* Operators on strings: concatenation, parts, search, splitting, lower and upper case. Positions
 * count characters of UTF-8; a byte that belongs to none counts as one.
 *
 * Case is changed character by character with the C library: in the given locale if the system
 * has it, else in C.UTF-8, whose tables are Unicode's. */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wctype.h>

#include "runtime/host.h"

/* ---- string_concat ---- */

static wick_code string_concat(wick_host_call *c)
{
  const wick_host_tensor *out = &c->arg[0];
  for (int64_t k = 0, n = wick_host_numel(out); k < n; k++) {
    wick_string x = wick_host_text(c, &c->arg[1], k), y = wick_host_text(c, &c->arg[2], k);
    char *buffer = wick_string_table_reserve(c->strings, x.nbytes + y.nbytes);
    if (!buffer) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
    if (x.nbytes) memcpy(buffer, x.at, (size_t)x.nbytes);
    if (y.nbytes) memcpy(buffer + x.nbytes, y.at, (size_t)y.nbytes);
    int64_t number = wick_string_table_take(c->strings, buffer, x.nbytes + y.nbytes);
    if (number < 0) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
    wick_host_set(out, k, number);
  }
  return WICK_OK;
}

/* ---- string_split ---- */

/* Returns the bytes of white space at s, which is not empty, as Python's str.split defines it for
 * UTF-8. */
static uint64_t string_space(const char *s, uint64_t n)
{
  const unsigned char *u = (const unsigned char *)s;
  if ((u[0] >= 9 && u[0] <= 13) || (u[0] >= 28 && u[0] <= 32)) return 1;
  if (n >= 2 && u[0] == 0xc2 && (u[1] == 0x85 || u[1] == 0xa0)) return 2;
  if (n < 3) return 0;
  unsigned c = u[0] >> 4 == 0xe ? (u[0] & 15u) << 12 | (u[1] & 63u) << 6 | (u[2] & 63u) : 0;
  bool is = c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
            c == 0x202f || c == 0x205f || c == 0x3000;
  return is ? 3 : 0;
}

static uint64_t string_words(wick_string s, int64_t most,
                             void (*part)(void *, const char *, uint64_t), void *arg)
{
  uint64_t at = 0, pieces = 0, space;
  while (true) {
    while (at < s.nbytes && (space = string_space(s.at + at, s.nbytes - at))) at += space;
    if (at == s.nbytes) return pieces;
    uint64_t begin = at;
    if (most >= 0 && pieces == (uint64_t)most) at = s.nbytes;
    while (at < s.nbytes && !string_space(s.at + at, s.nbytes - at)) at++;
    part(arg, s.at + begin, at - begin);
    pieces++;
  }
}

uint64_t wick_host_split(wick_string s, wick_string delimiter, int64_t most,
                         void (*part)(void *arg, const char *at, uint64_t nbytes), void *arg)
{
  if (!delimiter.nbytes) return string_words(s, most, part, arg);
  uint64_t pieces = 0, begin = 0, at = 0;
  if (!s.nbytes) return 0;
  while (at + delimiter.nbytes <= s.nbytes && (most < 0 || pieces < (uint64_t)most)) {
    if (memcmp(s.at + at, delimiter.at, (size_t)delimiter.nbytes) != 0) {
      at++;
      continue;
    }
    part(arg, s.at + begin, at - begin);
    pieces++;
    begin = at += delimiter.nbytes;
  }
  part(arg, s.at + begin, s.nbytes - begin);
  return pieces + 1;
}

typedef struct string_pieces {
  wick_host_call *c;
  int64_t first, n, width; /* first: of the row that is being filled */
  wick_code code;
} string_pieces;

static void string_piece(void *arg, const char *at, uint64_t nbytes)
{
  string_pieces *p = arg;
  if (p->n < p->width && p->code == WICK_OK)
    p->code = wick_host_put(p->c, &p->c->arg[0], p->first + p->n, at, nbytes);
  p->n++;
}

enum { SPLIT_DELIMITER, SPLIT_MOST };

static wick_code string_split(wick_host_call *c)
{
  const wick_host_tensor *out = &c->arg[0], *count = &c->arg[1], *x = &c->arg[2];
  wick_string delimiter = wick_string_table_get(c->strings, c->attr[SPLIT_DELIMITER].i);
  int64_t width = out->dim[out->rank - 1];
  for (int64_t k = 0, n = wick_host_numel(x); k < n; k++) {
    string_pieces p = {c, k * width, 0, width, WICK_OK};
    wick_host_split(wick_host_text(c, x, k), delimiter, c->attr[SPLIT_MOST].i, string_piece, &p);
    if (p.code != WICK_OK) return p.code;
    if (p.n > width)
      return wick_host_fail(c, WICK_ERANGE, "element %lld has %lld parts, there is room for %lld",
                            (long long)k, (long long)p.n, (long long)width);
    wick_host_set(count, k, p.n);
    for (; p.n < width; p.n++) wick_host_set(out, k * width + p.n, 0);
  }
  return WICK_OK;
}

/* ---- characters ---- */

/* Decodes a UTF-8 character at s and returns its length, at least 1. For an invalid byte, *out is
 * 0. */
static uint64_t string_decode(const unsigned char *s, uint64_t n, uint32_t *out)
{
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  uint64_t len = *s < 0x80 ? 1 : *s >> 5 == 6 ? 2 : *s >> 4 == 14 ? 3 : *s >> 3 == 30 ? 4 : 0;
  *out = 0;
  if (!len || len > n) return 1;
  uint32_t x = len == 1 ? *s : *s & (0x7fu >> len);
  for (uint64_t k = 1; k < len; k++) {
    if (s[k] >> 6 != 2) return 1;
    x = x << 6 | (s[k] & 63u);
  }
  if (x < least[len] || x > 0x10ffff || (x >= 0xd800 && x < 0xe000)) return 1;
  *out = x;
  return len;
}

static uint64_t string_next(wick_string s, uint64_t at)
{
  uint32_t x;
  return at + string_decode((const unsigned char *)s.at + at, s.nbytes - at, &x);
}

static int64_t string_count(wick_string s)
{
  int64_t n = 0;
  for (uint64_t at = 0; at < s.nbytes; n++) at = string_next(s, at);
  return n;
}

/* The byte at which character k begins; the end of the string if it has k or fewer. */
static uint64_t string_byte(wick_string s, int64_t k)
{
  uint64_t at = 0;
  while (k-- > 0 && at < s.nbytes) at = string_next(s, at);
  return at;
}

/* Element k of an operand that has an element for each of the result's, or is of rank 0. */
static wick_string string_of(const wick_host_call *c, uint32_t arg, int64_t k)
{
  return wick_host_text(c, &c->arg[arg], c->arg[arg].rank ? k : 0);
}

static int64_t string_position(const wick_host_call *c, uint32_t arg, int64_t k)
{
  return wick_host_get(&c->arg[arg], c->arg[arg].rank ? k : 0);
}

/* ---- string_length, string_slice, string_strip ---- */

static wick_code string_length(wick_host_call *c)
{
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n; k++)
    wick_host_set(&c->arg[0], k, string_count(string_of(c, 1, k)));
  return WICK_OK;
}

/* Sets element k to the bytes [begin, end) of s. They are copied first: the table that s points
 * into may grow. */
static wick_code string_set_part(wick_host_call *c, int64_t k, wick_string s, uint64_t begin,
                                 uint64_t end)
{
  uint64_t n = end > begin ? end - begin : 0;
  char *buffer = wick_string_table_reserve(c->strings, n);
  if (!buffer) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  if (n) memcpy(buffer, s.at + begin, (size_t)n);
  int64_t number = wick_string_table_take(c->strings, buffer, n);
  if (number < 0) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  wick_host_set(&c->arg[0], k, number);
  return WICK_OK;
}

/* A position from the end, if it is negative, as one from the beginning. */
static int64_t string_from_end(int64_t at, int64_t length)
{
  if (at >= 0) return at;
  return at < -length ? 0 : at + length;
}

static wick_code string_slice(wick_host_call *c)
{
  wick_code code = WICK_OK;
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n && code == WICK_OK; k++) {
    wick_string s = string_of(c, 1, k);
    int64_t begin = string_position(c, 2, k), end = string_position(c, 3, k);
    int64_t length = begin < 0 || end < 0 ? string_count(s) : 0;
    code = string_set_part(c, k, s, string_byte(s, string_from_end(begin, length)),
                           string_byte(s, string_from_end(end, length)));
  }
  return code;
}

static wick_code string_strip(wick_host_call *c)
{
  wick_code code = WICK_OK;
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n && code == WICK_OK; k++) {
    wick_string s = string_of(c, 1, k);
    uint64_t begin = 0, space;
    while (begin < s.nbytes && (space = string_space(s.at + begin, s.nbytes - begin)))
      begin += space;
    uint64_t end = begin;
    for (uint64_t at = begin; at < s.nbytes;) {
      space = string_space(s.at + at, s.nbytes - at);
      at = space ? at + space : string_next(s, at);
      if (!space) end = at;
    }
    code = string_set_part(c, k, s, begin, end);
  }
  return code;
}

/* ---- string_find, string_replace, string_compare ---- */

/* The byte from `at` on at which `part` begins; UINT64_MAX: nowhere. */
static uint64_t string_search(wick_string s, wick_string part, uint64_t at)
{
  if (part.nbytes > s.nbytes || at > s.nbytes - part.nbytes) return UINT64_MAX;
  if (!part.nbytes) return at;
  const char *found = memmem(s.at + at, (size_t)(s.nbytes - at), part.at, (size_t)part.nbytes);
  return found ? (uint64_t)(found - s.at) : UINT64_MAX;
}

static wick_code string_find(wick_host_call *c)
{
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n; k++) {
    wick_string s = string_of(c, 1, k);
    int64_t from = string_position(c, 3, k), length = string_count(s);
    from = string_from_end(from, length);
    uint64_t at =
        from > length ? UINT64_MAX : string_search(s, string_of(c, 2, k), string_byte(s, from));
    if (at != UINT64_MAX) s.nbytes = at;
    wick_host_set(&c->arg[0], k, at == UINT64_MAX ? -1 : string_count(s));
  }
  return WICK_OK;
}

static wick_code string_replace_one(wick_host_call *c, int64_t k)
{
  wick_string s = string_of(c, 1, k), part = string_of(c, 2, k), by = string_of(c, 3, k);
  uint64_t hits = 0, at = 0, n = 0, copied = 0;
  while (part.nbytes && (at = string_search(s, part, at)) != UINT64_MAX) hits++, at += part.nbytes;
  uint64_t rest = s.nbytes - hits * part.nbytes;
  if (by.nbytes && hits > (UINT64_MAX / 2 - rest) / by.nbytes)
    return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  char *buffer = wick_string_table_reserve(c->strings, rest + hits * by.nbytes);
  if (!buffer) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  while (hits--) {
    at = string_search(s, part, copied);
    memcpy(buffer + n, s.at + copied, (size_t)(at - copied));
    n += at - copied;
    if (by.nbytes) memcpy(buffer + n, by.at, (size_t)by.nbytes);
    n += by.nbytes;
    copied = at + part.nbytes;
  }
  if (s.nbytes > copied) memcpy(buffer + n, s.at + copied, (size_t)(s.nbytes - copied));
  int64_t number = wick_string_table_take(c->strings, buffer, n + s.nbytes - copied);
  if (number < 0) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  wick_host_set(&c->arg[0], k, number);
  return WICK_OK;
}

static wick_code string_replace(wick_host_call *c)
{
  wick_code code = WICK_OK;
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n && code == WICK_OK; k++)
    code = string_replace_one(c, k);
  return code;
}

/* The order of bytes of UTF-8 is that of characters. */
static wick_code string_compare(wick_host_call *c)
{
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n; k++) {
    wick_string x = string_of(c, 1, k), y = string_of(c, 2, k);
    uint64_t both = x.nbytes < y.nbytes ? x.nbytes : y.nbytes;
    int order = both ? memcmp(x.at, y.at, (size_t)both) : 0;
    if (order == 0) order = (x.nbytes > y.nbytes) - (x.nbytes < y.nbytes);
    wick_host_set(&c->arg[0], k, (order > 0) - (order < 0));
  }
  return WICK_OK;
}

/* ---- string_case ---- */

enum { CASE_CHANGE, CASE_LOCALE };
enum { CASE_LOWER, CASE_UPPER };

typedef struct string_locale {
  locale_t locale;
  bool ascii; /* other characters stay */
} string_locale;

/* Returns whether a language has case rules of its own. */
static bool string_language_is_own(const char *name)
{
  return strncmp(name, "tr", 2) == 0 || strncmp(name, "az", 2) == 0 || strncmp(name, "lt", 2) == 0;
}

static wick_code string_case_prepare(wick_host_call *c)
{
  wick_string s = wick_string_table_get(c->strings, c->attr[CASE_LOCALE].i);
  char name[64] = "", wide[72];
  if (s.nbytes < sizeof name) memcpy(name, s.at, (size_t)s.nbytes), name[s.nbytes] = 0;
  snprintf(wide, sizeof wide, "%s.UTF-8", name);
  locale_t l = *name ? newlocale(LC_CTYPE_MASK, wide, (locale_t)0) : (locale_t)0;
  if (!l && string_language_is_own(name))
    return wick_host_fail(c, WICK_EUNSUPPORTED, "the system has no locale \"%s\"", wide);
  if (!l) l = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  if (!l) return wick_host_fail(c, WICK_EUNSUPPORTED, "the system has no locale \"C.UTF-8\"");
  string_locale *state = c->allocator.alloc(c->allocator.self, sizeof *state);
  if (!state) {
    freelocale(l);
    return wick_host_fail(c, WICK_ENOMEM, "out of memory");
  }
  state->locale = l;
  state->ascii = strcmp(name, "POSIX") == 0;
  c->state = state;
  return WICK_OK;
}

static void string_case_drop(wick_host_call *c)
{
  string_locale *state = c->state;
  freelocale(state->locale);
  c->allocator.free(c->allocator.self, state, sizeof *state);
}

static uint64_t string_encode(uint32_t x, char *to)
{
  uint64_t len = x < 0x80 ? 1 : x < 0x800 ? 2 : x < 0x10000 ? 3 : 4;
  static const uint32_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (uint64_t k = len; k-- > 1; x >>= 6) to[k] = (char)(0x80 | (x & 63));
  to[0] = (char)(lead[len] | x);
  return len;
}

static wick_code string_case_one(wick_host_call *c, int64_t k)
{
  wick_string s = wick_host_text(c, &c->arg[1], k);
  const string_locale *state = c->state;
  locale_t l = state->locale;
  char *buffer = wick_string_table_reserve(c->strings, 4 * s.nbytes);
  if (!buffer) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  uint64_t n = 0;
  for (uint64_t at = 0; at < s.nbytes;) {
    uint32_t x;
    uint64_t len = string_decode((const unsigned char *)s.at + at, s.nbytes - at, &x);
    wint_t y = !x || (state->ascii && x >= 0x80)      ? (wint_t)x
               : c->attr[CASE_CHANGE].i == CASE_LOWER ? towlower_l((wint_t)x, l)
                                                      : towupper_l((wint_t)x, l);
    if (x)
      n += string_encode((uint32_t)y, buffer + n);
    else
      buffer[n++] = s.at[at];
    at += len;
  }
  int64_t number = wick_string_table_take(c->strings, buffer, n);
  if (number < 0) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
  wick_host_set(&c->arg[0], k, number);
  return WICK_OK;
}

static wick_code string_case(wick_host_call *c)
{
  wick_code code = WICK_OK;
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n && code == WICK_OK; k++)
    code = string_case_one(c, k);
  return code;
}

const wick_host_row wick_host_string_rows[] = {
    {"string_case", string_case_prepare, string_case_drop, string_case},
    {"string_compare", NULL, NULL, string_compare},
    {"string_concat", NULL, NULL, string_concat},
    {"string_find", NULL, NULL, string_find},
    {"string_length", NULL, NULL, string_length},
    {"string_replace", NULL, NULL, string_replace},
    {"string_slice", NULL, NULL, string_slice},
    {"string_split", NULL, NULL, string_split},
    {"string_strip", NULL, NULL, string_strip},
    {0},
};
