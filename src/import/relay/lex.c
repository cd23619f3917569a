/* From bytes to tokens. */
#include "import/relay/lex.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct lex {
  wick_lang_sources *sources;
  wick_names *names;
  wick_arena *mem;
  const char *text;
  uint32_t source, at, nbytes;
  relay_tokens out;
  wick_list(const char *) numbered; /* names of variables that end in `.` and a number */
} lex;

static bool lex_digit(char c) { return c >= '0' && c <= '9'; }
static bool lex_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static char lex_peek(const lex *s, uint32_t k)
{
  return s->at + k < s->nbytes ? s->text[s->at + k] : '\0';
}
static bool lex_starts(const lex *s, const char *with)
{
  size_t n = strlen(with);
  return s->nbytes - s->at >= n && memcmp(s->text + s->at, with, n) == 0;
}

static relay_token *lex_add(lex *s, int kind, uint32_t begin)
{
  relay_token t = {.kind = kind, .begin = begin, .end = s->at};
  wick_push(s->mem, &s->out, t);
  return &s->out.at[s->out.n - 1];
}
static void lex_wrong(lex *s, uint32_t begin, const char *text)
{
  wick_lang_report(s->sources, (wick_lang_at){s->source, begin, s->at}, "%s", text);
}
static const char *lex_name(lex *s, uint32_t begin, uint32_t end)
{
  return wick_names_get(s->names, wick_names_add(s->names, s->text + begin, end - begin));
}

/* Comments are nested. */
static void lex_comment(lex *s)
{
  uint32_t begin = s->at, depth = 0;
  do {
    bool open = lex_starts(s, "/*"), close = lex_starts(s, "*/");
    depth += open ? 1u : close ? UINT32_MAX : 0u;
    s->at += open || close ? 2 : 1;
  } while (depth && s->at < s->nbytes);
  if (s->at > s->nbytes) s->at = s->nbytes;
  if (depth) lex_wrong(s, begin, "the comment has no end");
}

static void lex_blank(lex *s)
{
  for (; s->at < s->nbytes;) {
    char c = lex_peek(s, 0);
    if (lex_starts(s, "/*")) {
      lex_comment(s);
    } else if (lex_starts(s, "//")) {
      while (s->at < s->nbytes && s->text[s->at] != '\n') s->at++;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      s->at++;
    } else {
      return;
    }
  }
}

/* Words may contain `/`: names of other frameworks do. */
static void lex_word(lex *s)
{
  for (;;) {
    char c = lex_peek(s, 0), next = lex_peek(s, 1);
    bool slash = c == '/' && (lex_letter(next) || lex_digit(next));
    if (!lex_letter(c) && !lex_digit(c) && !slash) return;
    s->at++;
  }
}

/* ---- numbers ---- */

static bool lex_fits(wick_elem elem, int64_t i)
{
  uint32_t bits = wick_elem_storage[elem].bits;
  bool sign = elem == WICK_I8 || elem == WICK_I16 || elem == WICK_I32 || elem == WICK_I64;
  if (!sign) return i >= 0 && (bits >= 64 || i < (int64_t)1 << bits);
  return bits >= 64 || (i >= -((int64_t)1 << (bits - 1)) && i < (int64_t)1 << (bits - 1));
}

static void lex_integer(lex *s, relay_token *t, const char *digits, bool minus, bool sign,
                        uint32_t width)
{
  bool sized = width > 0;
  char *end;
  errno = 0;
  unsigned long long u = strtoull(digits, &end, 10);
  bool wide = errno == ERANGE || u > (unsigned long long)INT64_MAX + (minus ? 1u : 0u);
  t->i = (int64_t)(minus ? 0 - u : u);
  t->elem = width == 8    ? sign ? WICK_I8 : WICK_U8
            : width == 16 ? sign ? WICK_I16 : WICK_U16
            : width == 64 ? sign ? WICK_I64 : WICK_U64
            : sign        ? WICK_I32
                          : WICK_U32;
  if (!sized && !lex_fits(WICK_I32, t->i)) t->elem = WICK_I64;
  if (*end)
    lex_wrong(s, t->begin, "this is no whole number; numbers with a fraction end in `f`");
  else if (sized && width != 8 && width != 16 && width != 32 && width != 64)
    lex_wrong(s, t->begin, "integers have 8, 16, 32 or 64 bits");
  else if (wide || !lex_fits(t->elem, t->i))
    lex_wrong(s, t->begin, "the number does not fit its type");
}

static void lex_float(lex *s, relay_token *t, const char *digits, bool minus, uint32_t width)
{
  char *end;
  t->kind = RELAY_FLOAT;
  t->f = strtod(digits, &end);
  if (minus) t->f = -t->f;
  t->elem = width == 16 ? WICK_F16 : width == 64 ? WICK_F64 : WICK_F32;
  bool finite = t->f - t->f >= 0;
  double most = t->elem == WICK_F16 ? 65504 : t->elem == WICK_F32 ? 3.4028234664e38 : HUGE_VAL;
  if (*end)
    lex_wrong(s, t->begin, "this is no number");
  else if (width && width != 16 && width != 32 && width != 64)
    lex_wrong(s, t->begin, "floats have 16, 32 or 64 bits");
  else if (!finite || fabs(t->f) > most)
    lex_wrong(s, t->begin, "the number does not fit its type");
}

static uint32_t lex_width(lex *s)
{
  uint32_t width = 0;
  for (; lex_digit(lex_peek(s, 0)); s->at++)
    if (width < 10000) width = 10 * width + (uint32_t)(lex_peek(s, 0) - '0');
  return width;
}

static void lex_number(lex *s, uint32_t begin, bool minus)
{
  uint32_t first = s->at;
  bool real = false, item = s->out.n && s->out.at[s->out.n - 1].kind == '.'; /* %x.0.1 */
  while (lex_digit(lex_peek(s, 0))) s->at++;
  if (item) {
    relay_token *t = lex_add(s, RELAY_INT, begin);
    lex_integer(s, t, wick_str_dupn(s->mem, s->text + first, s->at - first), false, true, 64);
    return;
  }
  if (lex_peek(s, 0) == '.' && lex_digit(lex_peek(s, 1))) {
    real = true;
    for (s->at++; lex_digit(lex_peek(s, 0));) s->at++;
  } else if (lex_peek(s, 0) == '.' && !lex_letter(lex_peek(s, 1))) {
    real = true, s->at++;
  }
  char e = lex_peek(s, 0), sign = lex_peek(s, 1);
  bool exponent = (e == 'e' || e == 'E') &&
                  (lex_digit(sign) || ((sign == '-' || sign == '+') && lex_digit(lex_peek(s, 2))));
  if (exponent) {
    real = true;
    for (s->at += 2; lex_digit(lex_peek(s, 0));) s->at++;
  }
  const char *digits = wick_str_dupn(s->mem, s->text + first, s->at - first);
  char suffix = lex_peek(s, 0);
  uint32_t width = 0;
  if (suffix == 'f' || suffix == 'i' || suffix == 'u') s->at++, width = lex_width(s);
  relay_token *t = lex_add(s, RELAY_INT, begin);
  if (real && (suffix == 'i' || suffix == 'u'))
    lex_wrong(s, begin, "a number with a fraction is no integer");
  else if (real || suffix == 'f')
    lex_float(s, t, digits, minus, width);
  else
    lex_integer(s, t, digits, minus, suffix != 'u', width);
}

/* Numbers that are not finite: inff, nanf, of 16 or 64 bits inff16 and so on. */
static bool lex_special(const lex *s) { return lex_starts(s, "inff") || lex_starts(s, "nanf"); }

static void lex_infinity(lex *s, uint32_t begin, bool minus)
{
  double value = lex_starts(s, "inff") ? HUGE_VAL : (double)NAN;
  s->at += 4;
  uint32_t width = lex_width(s);
  relay_token *t = lex_add(s, RELAY_FLOAT, begin);
  t->f = minus ? -value : value;
  t->elem = width == 16 ? WICK_F16 : width == 64 ? WICK_F64 : WICK_F32;
}

/* Signs before a number belong to it, unless it comes after an operand. */
static bool lex_signed(lex *s)
{
  uint32_t begin = s->at, n = 0;
  static const int operand[] = {RELAY_LOCAL, RELAY_GRAPH, RELAY_GLOBAL, RELAY_INT,
                                RELAY_FLOAT, RELAY_BOOL,  RELAY_META,   ')'};
  int before = s->out.n ? s->out.at[s->out.n - 1].kind : 0;
  for (size_t i = 0; i < WICK_COUNT(operand); i++)
    if (operand[i] == before) return false;
  while (lex_peek(s, n) == '-') n++;
  char c = lex_peek(s, n);
  s->at += n;
  if (lex_digit(c))
    lex_number(s, begin, n % 2);
  else if (lex_special(s))
    lex_infinity(s, begin, n % 2);
  else
    s->at = begin;
  return s->at > begin;
}

/* ---- the others ---- */

static const relay_token *lex_last(const lex *s)
{
  return s->out.n ? &s->out.at[s->out.n - 1] : NULL;
}

/* Returns whether the variable whose name ends here is declared: after `let`, or before its type or its
 * attributes. */
static bool lex_declares(const lex *s)
{
  const relay_token *last = lex_last(s);
  uint32_t k = 0;
  if (last && last->kind == RELAY_WORD && strcmp(last->name, "let") == 0) return true;
  while (lex_peek(s, k) == ' ') k++;
  bool attributes = lex_peek(s, k) == '{' && last && (last->kind == '(' || last->kind == ',');
  return lex_peek(s, k) == ':' || attributes;
}

/* The names of variables may have parts: `%conv1.weight`, `%aten::linear_0`. A part that is a number
 * belongs to the name where one is declared, and to names that were declared so: `%input.1`. */
static void lex_parts(lex *s, uint32_t begin)
{
  for (;;) {
    uint32_t before = s->at, skip = lex_starts(s, "::") ? 2 : lex_peek(s, 0) == '.' ? 1 : 0;
    char c = skip ? lex_peek(s, skip) : '\0';
    if (!lex_letter(c) && !lex_digit(c)) return;
    s->at += skip;
    lex_word(s);
    if (lex_letter(c)) continue;
    const char *name = lex_name(s, begin + 1, s->at);
    bool known = false;
    for (uint32_t i = 0; i < s->numbered.n; i++) known = known || s->numbered.at[i] == name;
    if (!known && !lex_declares(s)) {
      s->at = before;
      return;
    }
    if (!known) wick_push(s->mem, &s->numbered, name);
  }
}

static void lex_variable(lex *s, char first)
{
  uint32_t begin = s->at++;
  char c = lex_peek(s, 0);
  bool graph = first == '%' && lex_digit(c);
  if (graph)
    while (lex_digit(lex_peek(s, 0))) s->at++;
  else if (lex_letter(c)) {
    lex_word(s);
    if (first == '%') lex_parts(s, begin);
  } else {
    lex_wrong(s, begin, first == '%' ? "a name or a number follows `%`" : "a name follows `@`");
    return;
  }
  int kind = first == '@' ? RELAY_GLOBAL : graph ? RELAY_GRAPH : RELAY_LOCAL;
  lex_add(s, kind, begin)->name = lex_name(s, begin + 1, s->at);
}

static void lex_meta(lex *s)
{
  uint32_t begin = s->at, name = s->at + 5;
  const char *close = memchr(s->text + name, ']', s->nbytes - name);
  s->at = close ? (uint32_t)(close - s->text) : s->nbytes;
  uint32_t end = s->at;
  bool ok = lex_starts(s, "][") && lex_digit(lex_peek(s, 2));
  int64_t index = 0;
  if (ok) {
    for (s->at += 2; lex_digit(lex_peek(s, 0)); s->at++)
      if (index < INT32_MAX) index = 10 * index + (lex_peek(s, 0) - '0');
    ok = lex_peek(s, 0) == ']';
    if (ok) s->at++;
  }
  if (!ok) {
    lex_wrong(s, begin, "expected meta[TYPE][NUMBER]");
    return;
  }
  relay_token *t = lex_add(s, RELAY_META, begin);
  t->name = lex_name(s, name, end), t->i = index;
}

static void lex_section(lex *s)
{
  uint32_t begin = s->at, name = s->at + 2;
  const char *close = memchr(s->text + s->at, ']', s->nbytes - s->at);
  if (lex_peek(s, 1) != '[' || !close) {
    s->at++;
    lex_wrong(s, begin, "expected #[version = ...] or #[metadata]");
    return;
  }
  uint32_t end = (uint32_t)(close - s->text);
  s->at = end + 1;
  while (name < end && s->text[name] == ' ') name++;
  while (end > name && s->text[end - 1] == ' ') end--;
  const char *text = wick_str_dupn(s->mem, s->text + name, end - name);
  if (strcmp(text, "metadata") == 0) {
    s->at = s->nbytes;
    lex_add(s, RELAY_METADATA, begin);
  } else if (strncmp(text, "version", 7) == 0) {
    const char *quote = strchr(text, '"'), *last = quote ? strchr(quote + 1, '"') : NULL;
    relay_token *t = lex_add(s, RELAY_VERSION, begin);
    t->name = last ? wick_str_dupn(s->mem, quote + 1, (size_t)(last - quote - 1)) : "";
  } else {
    lex_wrong(s, begin, "expected #[version = ...] or #[metadata]");
  }
}

static void lex_string(lex *s)
{
  uint32_t begin = s->at++;
  char quote = s->text[begin];
  wick_text text = wick_text_begin(s->mem);
  for (; s->at < s->nbytes && s->text[s->at] != quote; s->at++) {
    bool escaped = s->text[s->at] == '\\' && s->at + 1 < s->nbytes;
    char c = s->text[escaped ? ++s->at : s->at];
    wick_text_char(&text, !escaped ? c : c == 'n' ? '\n' : c == 't' ? '\t' : c);
  }
  if (s->at == s->nbytes)
    lex_wrong(s, begin, "the string has no end");
  else
    s->at++;
  lex_add(s, RELAY_STRING, begin)->name =
      wick_names_get(s->names, wick_names_add(s->names, text.at, text.n));
}

static void lex_any_word(lex *s)
{
  uint32_t begin = s->at;
  lex_word(s);
  const char *name = lex_name(s, begin, s->at);
  bool yes = strcmp(name, "True") == 0;
  if (strcmp(name, "match") == 0 && lex_peek(s, 0) == '?') {
    s->at++;
    lex_add(s, RELAY_MATCH_SOME, begin)->name = name;
    return;
  }
  bool truth = yes || strcmp(name, "False") == 0;
  relay_token *t = lex_add(s, truth ? RELAY_BOOL : RELAY_WORD, begin);
  t->name = name, t->i = yes, t->elem = WICK_BOOL;
}

static void lex_punctuation(lex *s)
{
  static const struct {
    const char *text;
    int kind;
  } two[] = {{"->", RELAY_ARROW}, {"=>", RELAY_FAT_ARROW}, {"==", RELAY_EQ},
             {"!=", RELAY_NE},    {"<=", RELAY_LE},        {">=", RELAY_GE}};
  uint32_t begin = s->at;
  for (size_t i = 0; i < WICK_COUNT(two); i++)
    if (lex_starts(s, two[i].text)) {
      s->at += 2;
      lex_add(s, two[i].kind, begin);
      return;
    }
  char c = s->text[s->at++];
  if (c && strchr("().,=;:+-*/<>{}[]?", c)) {
    lex_add(s, c, begin);
    return;
  }
  while ((lex_peek(s, 0) & 0xc0) == 0x80) s->at++; /* the rest of a character */
  lex_wrong(s, begin, "this character has no meaning here");
}

relay_tokens wick_relay_lex(wick_lang_sources *sources, uint32_t source, wick_names *names,
                            wick_arena *mem)
{
  const wick_lang_source *text = &sources->list.at[source];
  lex s = {.sources = sources,
           .names = names,
           .mem = mem,
           .text = text->text,
           .nbytes = text->nbytes,
           .source = source};
  for (lex_blank(&s); s.at < s.nbytes; lex_blank(&s)) {
    char c = s.text[s.at];
    if (c == '%' || c == '@')
      lex_variable(&s, c);
    else if (lex_digit(c))
      lex_number(&s, s.at, false);
    else if (lex_special(&s) && !lex_letter(lex_peek(&s, 4)))
      lex_infinity(&s, s.at, false);
    else if (lex_starts(&s, "meta["))
      lex_meta(&s);
    else if (lex_letter(c))
      lex_any_word(&s);
    else if (c == '"' || c == '\'')
      lex_string(&s);
    else if (c == '#')
      lex_section(&s);
    else if (c != '-' || lex_starts(&s, "->") || !lex_signed(&s))
      lex_punctuation(&s);
  }
  lex_add(&s, RELAY_END, s.at);
  return s.out;
}
