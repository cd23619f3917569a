/* Tokens of Relay's text. */
#ifndef WICK_IMPORT_RELAY_LEX_H
#define WICK_IMPORT_RELAY_LEX_H

#include "ir/element.h"
#include "lang/source.h"

typedef enum relay_kind {
  RELAY_END = 256, /* others are characters */
  RELAY_WORD,      /* add, def, _ */
  RELAY_LOCAL,     /* %x */
  RELAY_GRAPH,     /* %0 */
  RELAY_GLOBAL,    /* @f */
  RELAY_INT,       /* i, elem */
  RELAY_FLOAT,     /* f, elem */
  RELAY_BOOL,      /* i */
  RELAY_STRING,
  RELAY_META,      /* meta[name][i] */
  RELAY_VERSION,   /* #[version = name] */
  RELAY_METADATA,  /* #[metadata], up to the end of the file */
  RELAY_ARROW,     /* -> */
  RELAY_FAT_ARROW, /* => */
  RELAY_EQ,
  RELAY_NE,
  RELAY_LE,
  RELAY_GE,
  RELAY_MATCH_SOME /* match? */
} relay_kind;

typedef struct relay_token {
  int kind;
  uint32_t begin, end;
  const char *name; /* interned; of strings the contents */
  int64_t i;
  double f;
  wick_elem elem;
} relay_token;

typedef struct relay_tokens {
  relay_token *at;
  uint32_t n, cap;
} relay_tokens;

/* The tokens of a source; the last one is RELAY_END. Mistakes are reported; what is no token is left
 * out. */
relay_tokens wick_relay_lex(wick_lang_sources *s, uint32_t source, wick_names *names,
                            wick_arena *mem);

#endif
