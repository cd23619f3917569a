/* The lexer: one switch over the first byte. */
#include "ir/lex.h"

#include <string.h>

static bool lex_letter(int c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool lex_digit(int c) { return c >= '0' && c <= '9'; }
static bool lex_hex(int c) { return lex_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
static bool lex_name(int c)
{
  return lex_letter(c) || lex_digit(c) || c == '.' || c == '-' || c == '$' || c == '/';
}

static int lex_peek(const wick_lexer *l, size_t k)
{
  return (size_t)(l->end - l->at) > k ? (unsigned char)l->at[k] : 0;
}

/* Skips white space, line ends and comments. */
static void lex_space(wick_lexer *l)
{
  while (l->at < l->end) {
    char c = *l->at;
    if (c == '\n') {
      l->line++;
      l->line_start = ++l->at;
      l->token.first = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      l->at++;
    } else if (c == '#' || (c == '/' && lex_peek(l, 1) == '/')) {
      const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
      l->at = stop ? stop : l->end;
    } else {
      return;
    }
  }
}

/* Reads from the opening quote to after the closing one. A string ends on its line. */
static void lex_string(wick_lexer *l, wick_token_kind kind)
{
  wick_token *t = &l->token;
  t->kind = kind;
  t->quoted = true;
  t->at = ++l->at;
  while (l->at < l->end && *l->at != '"' && *l->at != '\n') {
    bool escape = *l->at == '\\' && l->end - l->at > 1 && l->at[1] != '\n';
    l->at += escape ? 2 : 1;
  }
  t->n = (size_t)(l->at - t->at);
  if (lex_peek(l, 0) == '"')
    l->at++;
  else
    t->kind = WICK_TOKEN_BAD;
}

static void lex_number(wick_lexer *l)
{
  wick_token *t = &l->token;
  t->kind = WICK_TOKEN_INT;
  if (*l->at == '0' && lex_peek(l, 1) == 'x' && lex_hex(lex_peek(l, 2))) {
    t->kind = WICK_TOKEN_NUMBER;
    for (l->at += 2; lex_hex(lex_peek(l, 0));) l->at++;
  } else {
    while (lex_digit(lex_peek(l, 0))) l->at++;
    if (lex_peek(l, 0) == '.' && lex_digit(lex_peek(l, 1))) {
      t->kind = WICK_TOKEN_NUMBER;
      for (l->at++; lex_digit(lex_peek(l, 0));) l->at++;
    }
    size_t sign = lex_peek(l, 1) == '+' || lex_peek(l, 1) == '-';
    if ((lex_peek(l, 0) | 32) == 'e' && lex_digit(lex_peek(l, 1 + sign))) {
      t->kind = WICK_TOKEN_NUMBER;
      for (l->at += 1 + sign; lex_digit(lex_peek(l, 0));) l->at++;
    }
  }
  t->n = (size_t)(l->at - t->at);
}

static void lex_punct(wick_lexer *l)
{
  wick_token *t = &l->token;
  int c = lex_peek(l, 0), next = lex_peek(l, 1);
  t->kind = WICK_TOKEN_PUNCT;
  t->punct = c;
  t->n = 1;
  if (c == '-' && next == '>')
    t->punct = WICK_PUNCT_ARROW, t->n = 2;
  else if (c == '.' && next == '.')
    t->punct = WICK_PUNCT_DOTS, t->n = 2;
  else if (!c || !strchr("(){}[]<>,:;=|*+-@", c))
    t->kind = WICK_TOKEN_BAD;
  l->depth += t->kind == WICK_TOKEN_PUNCT ? (c == '{') - (c == '}') : 0;
  l->at += t->n;
}

/* Reads % or @ and the name that follows, with or without quotes. */
static void lex_sigil(wick_lexer *l)
{
  wick_token *t = &l->token;
  wick_token_kind kind = *l->at == '%' ? WICK_TOKEN_VALUE : WICK_TOKEN_GLOBAL;
  if (lex_peek(l, 1) == '"') {
    l->at++;
    lex_string(l, kind);
  } else if (lex_name(lex_peek(l, 1))) {
    t->kind = kind;
    t->at = ++l->at;
    while (lex_name(lex_peek(l, 0))) l->at++;
    t->n = (size_t)(l->at - t->at);
  } else {
    lex_punct(l);
  }
}

void wick_lex_next(wick_lexer *l)
{
  l->token = (wick_token){.first = l->at == l->line_start};
  lex_space(l);
  wick_token *t = &l->token;
  t->at = l->at;
  t->line = l->line;
  t->column = (uint32_t)(l->at - l->line_start) + 1;
  if (l->at == l->end) return; /* this is WICK_TOKEN_END */
  int c = lex_peek(l, 0);
  if (lex_letter(c)) {
    t->kind = WICK_TOKEN_WORD;
    while (lex_letter(lex_peek(l, 0)) || lex_digit(lex_peek(l, 0))) l->at++;
    t->n = (size_t)(l->at - t->at);
  } else if (lex_digit(c)) {
    lex_number(l);
  } else if (c == '"') {
    lex_string(l, WICK_TOKEN_STRING);
  } else if (c == '%' || c == '@') {
    lex_sigil(l);
  } else {
    lex_punct(l);
  }
}

wick_lexer wick_lex_begin(const char *text, size_t n)
{
  wick_lexer l = {.at = text, .end = text + n, .line_start = text, .line = 1};
  wick_lex_next(&l);
  return l;
}

bool wick_token_word(const wick_token *t, const char *word)
{
  return t->kind == WICK_TOKEN_WORD && strlen(word) == t->n && memcmp(word, t->at, t->n) == 0;
}

/* ---- strings ---- */

static int lex_hex_value(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

const char *wick_token_text(const wick_token *t, wick_arena *mem)
{
  if (memchr(t->at, 0, t->n)) return NULL;
  char *s = wick_str_dupn(mem, t->at, t->n), *to = s;
  if (!t->quoted) return s;
  for (const char *from = s; *from; from++) {
    if (*from != '\\') {
      *to++ = *from;
      continue;
    }
    switch (*++from) {
    case '"':
    case '\\': *to++ = *from; break;
    case 'n': *to++ = '\n'; break;
    case 't': *to++ = '\t'; break;
    case 'x':
      if (!lex_hex(from[1]) || !lex_hex(from[2])) return NULL;
      *to = (char)(lex_hex_value(from[1]) << 4 | lex_hex_value(from[2]));
      if (!*to++) return NULL;
      from += 2;
      break;
    default: return NULL;
    }
  }
  *to = 0;
  return s;
}

void wick_text_quoted(wick_text *out, const char *s)
{
  wick_text_char(out, '"');
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      wick_text_char(out, '\\'), wick_text_char(out, *s);
    else if (c == '\n')
      wick_text_add(out, "\\n");
    else if (c == '\t')
      wick_text_add(out, "\\t");
    else if (c < ' ' || c == 0x7f)
      wick_text_printf(out, "\\x%02x", c);
    else
      wick_text_char(out, *s);
  }
  wick_text_char(out, '"');
}

void wick_text_name(wick_text *out, const char *s)
{
  size_t n = 0;
  while (lex_name((unsigned char)s[n])) n++;
  if (n && !s[n])
    wick_text_addn(out, s, n);
  else
    wick_text_quoted(out, s);
}

bool wick_is_word(const char *s)
{
  if (!lex_letter((unsigned char)*s)) return false;
  while (lex_letter((unsigned char)*s) || lex_digit((unsigned char)*s)) s++;
  return !*s;
}
