/* What the files of the parser share. After a mistake the parser sees no more tokens, so that all
 * loops end; the item is then left out. */
#ifndef WICK_LANG_PARSE_STATE_H
#define WICK_LANG_PARSE_STATE_H

#include <string.h>

#include "lang/parse.h"

typedef struct wick_lang_parser {
  wick_lang_sources *sources;
  wick_names *names;
  wick_arena *mem;
  const wick_lang_token *token;
  const char *text;
  uint32_t source, at, depth;
  bool panic;
  bool joined; /* inside of brackets: ends of lines mean nothing */
  bool in_op;  /* in the body of an `op` */
} wick_lang_parser;

typedef wick_list(wick_ast *) wick_ast_list;

static inline const wick_lang_token *parse_peek(const wick_lang_parser *p, uint32_t k)
{
  static const wick_lang_token end = {.kind = WICK_TOKEN_END, .newline = true};
  if (p->panic) return &end;
  uint32_t at = p->at;
  while (k-- && p->token[at].kind != WICK_TOKEN_END) at++;
  return &p->token[at];
}
static inline bool parse_is(const wick_lang_parser *p, int kind)
{
  return parse_peek(p, 0)->kind == kind;
}
static inline bool parse_is_word(const wick_lang_parser *p, uint32_t k, const char *word)
{
  const wick_lang_token *t = parse_peek(p, k);
  return t->kind == WICK_TOKEN_NAME && strcmp(t->name, word) == 0;
}
static inline const wick_lang_token *parse_next(wick_lang_parser *p)
{
  const wick_lang_token *t = parse_peek(p, 0);
  if (!p->panic && t->kind != WICK_TOKEN_END) p->at++;
  return t;
}
static inline bool parse_take(wick_lang_parser *p, int kind)
{
  if (!parse_is(p, kind)) return false;
  parse_next(p);
  return true;
}
static inline bool parse_take_word(wick_lang_parser *p, const char *word)
{
  if (!parse_is_word(p, 0, word)) return false;
  parse_next(p);
  return true;
}

/* Reports "expected WHAT" at the next token, or another mistake there, and begins to panic. */
void wick_lang_parse_expected(wick_lang_parser *p, const char *what);
void wick_lang_parse_wrong(wick_lang_parser *p, wick_lang_at at, const char *text);
/* Takes a token of this kind, or reports that `what` was expected. */
const wick_lang_token *wick_lang_parse_need(wick_lang_parser *p, int kind, const char *what);
/* Takes a name that is no keyword. */
const wick_lang_token *wick_lang_parse_name(wick_lang_parser *p, const char *what);

/* A node from token `begin` to the last one taken. */
wick_ast *wick_lang_parse_node(wick_lang_parser *p, wick_ast_kind kind, uint32_t begin,
                               uint32_t nkid, wick_ast *const *kid);
/* The same; takes the name from a token. */
wick_ast *wick_lang_parse_named(wick_lang_parser *p, wick_ast_kind kind, uint32_t begin,
                                const wick_lang_token *name, uint32_t nkid, wick_ast *const *kid);
/* Counts levels of recursion; false (and a report) if there are too many. */
bool wick_lang_parse_enter(wick_lang_parser *p);

wick_ast *wick_lang_parse_type(wick_lang_parser *p);
wick_ast *wick_lang_parse_pattern(wick_lang_parser *p);
wick_ast *wick_lang_parse_params(wick_lang_parser *p);
wick_ast *wick_lang_parse_expr(wick_lang_parser *p);
/* Operators of at least this precedence; 0: all. */
wick_ast *wick_lang_parse_binary(wick_lang_parser *p, uint32_t least);
enum { WICK_LANG_PRODUCT = 5 };
wick_ast *wick_lang_parse_block(wick_lang_parser *p);
/* Index notation: the names of indices, each perhaps with its size, and the token after them. */
wick_ast *wick_lang_parse_indices(wick_lang_parser *p, int end);
void wick_lang_parse_body(wick_lang_parser *p, wick_ast_list *out); /* without braces */
/* The literal at the next token, or NULL. */
wick_ast *wick_lang_parse_literal(wick_lang_parser *p);

#endif
