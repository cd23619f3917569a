/* Tokens of Wick's text. The lexer allocates nothing and may be copied: a copy is a position to
 * which the parser can return. */
#ifndef WICK_IR_LEX_H
#define WICK_IR_LEX_H

#include "base/str.h"

typedef enum wick_token_kind {
  WICK_TOKEN_END,
  WICK_TOKEN_WORD,   /* conv f32 N */
  WICK_TOKEN_VALUE,  /* %name: at, n are the name */
  WICK_TOKEN_GLOBAL, /* @name */
  WICK_TOKEN_STRING, /* "...": at, n are the text between the quotes */
  WICK_TOKEN_INT,    /* 12 */
  WICK_TOKEN_NUMBER, /* 1.5 1e-05 0x7fc0 */
  WICK_TOKEN_PUNCT, /* one of ( ) { } [ ] < > , : ; = | * + - @, or "->" ('>'-'-' below), or ".." */
  WICK_TOKEN_BAD    /* at, n are the offending bytes */
} wick_token_kind;

enum { WICK_PUNCT_ARROW = 256, WICK_PUNCT_DOTS };

typedef struct wick_token {
  const char *at; /* into the text */
  size_t n;
  wick_token_kind kind;
  int punct;             /* of WICK_TOKEN_PUNCT */
  uint32_t line, column; /* from 1; column in bytes */
  bool quoted;           /* strings, and names in quotes: wick_token_text resolves escapes */
  bool first;            /* on its line */
} wick_token;

typedef struct wick_lexer {
  const char *at, *end, *line_start;
  uint32_t line;
  int32_t depth;    /* of curly braces, after `token` */
  wick_token token; /* the current one */
} wick_lexer;

wick_lexer wick_lex_begin(const char *text, size_t n); /* is at the first token */
void wick_lex_next(wick_lexer *l);

static inline bool wick_token_is(const wick_token *t, int punct)
{
  return t->kind == WICK_TOKEN_PUNCT && t->punct == punct;
}
bool wick_token_word(const wick_token *t, const char *word);

/* Returns the characters of a string or a name, with escapes resolved, in `mem`; NULL if an escape
 * is wrong or is \x00. */
const char *wick_token_text(const wick_token *t, wick_arena *mem);

/* The reverse: write a string with quotes and escapes. A name is quoted only if necessary. */
void wick_text_quoted(wick_text *out, const char *s);
void wick_text_name(wick_text *out, const char *s);
bool wick_is_word(const char *s); /* one WORD token */

#endif
