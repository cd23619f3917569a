/* Tokens of the language. */
#ifndef WICK_LANG_LEX_H
#define WICK_LANG_LEX_H

#include "lang/source.h"

/* A token of one character is that character. */
typedef enum wick_lang_token_kind {
  WICK_TOKEN_END = 0,
  WICK_TOKEN_NAME = 256, /* begins with a lower-case letter or _ */
  WICK_TOKEN_TYPE,       /* begins with an upper-case letter: a type or a constructor */
  WICK_TOKEN_INT,
  WICK_TOKEN_FLOAT,
  WICK_TOKEN_STRING,
  WICK_TOKEN_ARROW,  /* -> */
  WICK_TOKEN_DARROW, /* => */
  WICK_TOKEN_EQ,     /* == */
  WICK_TOKEN_NE,     /* != */
  WICK_TOKEN_LE,     /* <= */
  WICK_TOKEN_GE,     /* >= */
  WICK_TOKEN_AND,    /* && */
  WICK_TOKEN_OR,     /* || */
  WICK_TOKEN_POW,    /* ** */
  WICK_TOKEN_DOTS,   /* .. */
  WICK_TOKEN_SPREAD, /* ... */
} wick_lang_token_kind;

typedef struct wick_lang_token {
  uint16_t kind;
  bool newline; /* a line ends between this token and the one before */
  uint32_t begin, end;
  const char *name; /* of names and types: interned, so that equal names are equal pointers */
} wick_lang_token;

typedef struct wick_lang_comment {
  uint32_t begin, end; /* without the end of the line */
  bool own_line;       /* nothing but blanks is before it */
} wick_lang_comment;

typedef struct wick_lang_tokens {
  wick_list(wick_lang_token) list; /* the last is WICK_TOKEN_END */
  wick_list(wick_lang_comment) comments;
} wick_lang_tokens;

/* Reads the tokens of a source. Characters that begin no token are reported and left out. */
wick_lang_tokens wick_lang_lex(wick_lang_sources *s, uint32_t source, wick_names *names,
                               wick_arena *mem);

/* Adds the text of a string literal, without quotes and escapes. */
void wick_lang_unquote(const char *literal, uint32_t nbytes, wick_text *out);

#endif
