/* The lexer. */
#include "lang/lex.h"
#include "lang/hints.h"

#include <string.h>

typedef struct lex {
  wick_lang_sources *sources;
  wick_names *names;
  wick_arena *mem;
  const char *text;
  uint32_t source, at, n;
  bool newline;
  wick_lang_tokens out;
} lex;

static bool lex_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool lex_digit(char c) { return c >= '0' && c <= '9'; }
static char lex_char(const lex *l, uint32_t k) { return l->at + k < l->n ? l->text[l->at + k] : 0; }

static void lex_token(lex *l, int kind, uint32_t begin)
{
  wick_lang_token t = {.kind = (uint16_t)kind, .newline = l->newline, .begin = begin, .end = l->at};
  if (kind == WICK_TOKEN_NAME || kind == WICK_TOKEN_TYPE)
    t.name = wick_names_get(l->names,
                            wick_names_add(l->names, l->text + begin, (size_t)(l->at - begin)));
  wick_push(l->mem, &l->out.list, t);
  l->newline = false;
}

static void lex_comment(lex *l)
{
  uint32_t begin = l->at;
  while (l->at < l->n && l->text[l->at] != '\n') l->at++;
  uint32_t end = l->at;
  while (end > begin &&
         (l->text[end - 1] == ' ' || l->text[end - 1] == '\r' || l->text[end - 1] == '\t'))
    end--;
  bool first = l->out.list.n == 0;
  wick_push(l->mem, &l->out.comments, (wick_lang_comment){begin, end, l->newline || first});
}

/* 12, 1_000, 0xff, 1.5, 1e-3, 1.5f64: the letters of an element type may follow the digits. After a
 * dot, digits are a field's: pair.1.0 has two. */
static void lex_number(lex *l)
{
  uint32_t begin = l->at;
  int kind = WICK_TOKEN_INT;
  bool hex = lex_char(l, 0) == '0' && lex_char(l, 1) == 'x';
  if (hex) l->at += 2;
  while (lex_digit(lex_char(l, 0)) || lex_char(l, 0) == '_' || (hex && lex_letter(lex_char(l, 0))))
    l->at++;
  uint32_t before = l->out.list.n;
  bool field = before && l->out.list.at[before - 1].kind == '.';
  if (!hex && !field && lex_char(l, 0) == '.' && lex_digit(lex_char(l, 1))) {
    kind = WICK_TOKEN_FLOAT;
    l->at++;
    while (lex_digit(lex_char(l, 0)) || lex_char(l, 0) == '_') l->at++;
  }
  char sign = lex_char(l, 1);
  if (!hex && !field && lex_char(l, 0) == 'e' &&
      (lex_digit(sign) || ((sign == '-' || sign == '+') && lex_digit(lex_char(l, 2))))) {
    kind = WICK_TOKEN_FLOAT;
    l->at += 2;
    while (lex_digit(lex_char(l, 0))) l->at++;
  }
  while (lex_letter(lex_char(l, 0)) || lex_digit(lex_char(l, 0))) l->at++; /* the element type */
  lex_token(l, kind, begin);
}

static int lex_hex(char c)
{
  if (lex_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads what follows a backslash in a string. */
static void lex_escape(lex *l)
{
  uint32_t begin = l->at++;
  char c = lex_char(l, 0);
  if (l->at >= l->n || c == '\n') return; /* the string has no end */
  bool hex = c == 'x' && lex_hex(lex_char(l, 1)) >= 0 && lex_hex(lex_char(l, 2)) >= 0;
  l->at += hex ? 3 : 1;
  while (l->at < l->n && (l->text[l->at] & 0xc0) == 0x80) l->at++;
  if (!hex && !strchr("nrt\"\\", c))
    wick_lang_report(l->sources, (wick_lang_at){l->source, begin, l->at},
                     "\"%.*s\" has no meaning in a string; a backslash is \"\\\\\"",
                     (int)(l->at - begin), l->text + begin);
}

static void lex_string(lex *l)
{
  uint32_t begin = l->at++;
  while (l->at < l->n && l->text[l->at] != '"' && l->text[l->at] != '\n') {
    if (l->text[l->at] == '\\')
      lex_escape(l);
    else
      l->at++;
  }
  if (l->at >= l->n || l->text[l->at] != '"') {
    if (l->at > l->n) l->at = l->n;
    wick_lang_report(l->sources, (wick_lang_at){l->source, begin, begin + 1},
                     "the string has no end on its line");
  } else {
    l->at++;
  }
  lex_token(l, WICK_TOKEN_STRING, begin);
}

static bool lex_symbol(lex *l)
{
  static const struct {
    char text[4];
    int kind;
  } symbol[] = {{"...", WICK_TOKEN_SPREAD}, {"..", WICK_TOKEN_DOTS}, {"->", WICK_TOKEN_ARROW},
                {"=>", WICK_TOKEN_DARROW},  {"==", WICK_TOKEN_EQ},   {"!=", WICK_TOKEN_NE},
                {"<=", WICK_TOKEN_LE},      {">=", WICK_TOKEN_GE},   {"&&", WICK_TOKEN_AND},
                {"||", WICK_TOKEN_OR},      {"**", WICK_TOKEN_POW}};
  uint32_t begin = l->at;
  for (size_t i = 0; i < WICK_COUNT(symbol); i++) {
    size_t n = strlen(symbol[i].text);
    if (l->n - l->at < n || memcmp(l->text + l->at, symbol[i].text, n) != 0) continue;
    l->at += (uint32_t)n;
    lex_token(l, symbol[i].kind, begin);
    return true;
  }
  char c = l->text[l->at];
  if (!c || !strchr("(){}[],.:;=<>+-*/%@!?", c)) return false;
  l->at++;
  lex_token(l, c, begin);
  return true;
}

/* Reports a run of characters that begin no token, once. */
static void lex_wrong(lex *l)
{
  uint32_t begin = l->at++;
  while (l->at < l->n && (l->text[l->at] & 0xc0) == 0x80) l->at++;
  const wick_lang_problem *last =
      l->sources->problems.n ? l->sources->problems.at[l->sources->problems.n - 1] : NULL;
  if (last && last->at.source == l->source && last->at.end == begin) return;
  wick_lang_report(l->sources, (wick_lang_at){l->source, begin, l->at},
                   "\"%.*s\" has no meaning here", (int)(l->at - begin), l->text + begin);
  const char *help = wick_lang_foreign_word(l->text + begin, l->at - begin);
  if (help) wick_lang_help(l->sources, "%s", help);
}

wick_lang_tokens wick_lang_lex(wick_lang_sources *s, uint32_t source, wick_names *names,
                               wick_arena *mem)
{
  lex l = {.sources = s,
           .names = names,
           .mem = mem,
           .text = s->list.at[source].text,
           .source = source,
           .n = s->list.at[source].nbytes};
  while (l.at < l.n) {
    char c = l.text[l.at];
    uint32_t begin = l.at;
    if (c == '\n') l.newline = true;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      l.at++;
    } else if (c == '/' && lex_char(&l, 1) == '/') {
      lex_comment(&l);
    } else if (lex_letter(c)) {
      while (lex_letter(lex_char(&l, 0)) || lex_digit(lex_char(&l, 0))) l.at++;
      lex_token(&l, c >= 'A' && c <= 'Z' ? WICK_TOKEN_TYPE : WICK_TOKEN_NAME, begin);
    } else if (lex_digit(c)) {
      lex_number(&l);
    } else if (c == '"') {
      lex_string(&l);
    } else if (!lex_symbol(&l)) {
      lex_wrong(&l);
    }
  }
  l.newline = true;
  lex_token(&l, WICK_TOKEN_END, l.n);
  return l.out;
}

void wick_lang_unquote(const char *literal, uint32_t nbytes, wick_text *out)
{
  for (uint32_t i = 1; i + 1 < nbytes; i++) {
    char c = literal[i];
    if (c != '\\' || i + 2 >= nbytes) {
      wick_text_char(out, c);
      continue;
    }
    c = literal[++i];
    int high = c == 'x' && i + 3 < nbytes ? lex_hex(literal[i + 1]) : -1,
        low = high >= 0 ? lex_hex(literal[i + 2]) : -1;
    if (low >= 0) i += 2;
    static const char named[] = "n\nr\rt\t";
    const char *name = c ? strchr(named, c) : NULL;
    bool is = name && (name - named) % 2 == 0;
    wick_text_char(out, low >= 0 ? (char)(high * 16 + low) : is ? name[1] : c);
  }
}
