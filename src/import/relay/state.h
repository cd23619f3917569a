/* What the files of Relay's parser share. After a mistake the parser sees no more tokens of the
 * item, so that all loops end; the item is then left out. */
#ifndef WICK_IMPORT_RELAY_STATE_H
#define WICK_IMPORT_RELAY_STATE_H

#include <string.h>

#include "import/relay/lex.h"
#include "import/relay/relay.h"

typedef wick_list(wick_ast *) relay_nodes;
typedef wick_list(const char *) relay_names;

typedef struct relay_undo {
  const char *name;
  wick_lang_entity *before;
} relay_undo;

/* What `%0 = ...` has bound, by number; it is visible in the block, and copied elsewhere. */
typedef struct relay_graph {
  const char *name;
  const wick_ast *value;
} relay_graph;

typedef struct relay_parser {
  wick_lang_program *p;
  wick_arena *mem;
  uint32_t source;
  const char *path, *text;
  relay_tokens tokens;
  uint32_t at, depth;
  bool panic;
  uint32_t skipped;        /* the token at which the parser began to panic */
  wick_lang_map functions; /* those of the file, and those that it imports */
  wick_lang_map fixed;     /* names of functions and constructors: locals do not have them */
  wick_lang_map ctors;     /* of the file, and of the modules that it imports */
  wick_lang_map types;     /* names of data types, as the language has them */
  wick_lang_map generic;   /* type parameters of the item */
  wick_lang_map locals;    /* in scope: a name's entity is any, but NULL */
  wick_list(relay_undo) undo;
  wick_list(relay_graph) graph;
  uint32_t ncopied;   /* nodes of bindings that are used outside of their blocks */
  relay_nodes free;   /* PARAM: variables that `free_var` declares */
  relay_nodes lifted; /* FN: functions that call themselves (lift.c) */
  uint32_t nlifted;
  struct relay_section *meta; /* the section of constants; NULL: it was not read yet */
  bool stuck;                 /* `match?` is used */
  bool entry;                 /* in the signature of @main: `?` is a size with a name */
  bool open;                  /* the type that is read has a `?` */
  const char *param;          /* whose type is read */
} relay_parser;

/* ---- tokens ---- */
static inline const relay_token *relay_peek(const relay_parser *p, uint32_t k)
{
  static const relay_token end = {.kind = RELAY_END};
  if (p->panic) return &end;
  uint32_t at = p->at + k;
  return &p->tokens.at[at < p->tokens.n ? at : p->tokens.n - 1];
}
static inline bool relay_is(const relay_parser *p, int kind)
{
  return relay_peek(p, 0)->kind == kind;
}
static inline bool relay_is_word(const relay_parser *p, uint32_t k, const char *word)
{
  const relay_token *t = relay_peek(p, k);
  return t->kind == RELAY_WORD && strcmp(t->name, word) == 0;
}
static inline const relay_token *relay_next(relay_parser *p)
{
  const relay_token *t = relay_peek(p, 0);
  if (!p->panic && t->kind != RELAY_END) p->at++;
  return t;
}
static inline bool relay_take(relay_parser *p, int kind)
{
  if (!relay_is(p, kind)) return false;
  relay_next(p);
  return true;
}
static inline bool relay_take_word(relay_parser *p, const char *word)
{
  if (!relay_is_word(p, 0, word)) return false;
  relay_next(p);
  return true;
}
static inline wick_lang_at relay_place(const relay_parser *p, const relay_token *t)
{
  return (wick_lang_at){p->source, t->begin, t->end};
}

/* Reports that `what` was expected at the next token, and begins to panic. */
void wick_relay_expected(relay_parser *p, const char *what);
void wick_relay_wrong(relay_parser *p, wick_lang_at at, const char *text);
const relay_token *wick_relay_need(relay_parser *p, int kind, const char *what);
bool wick_relay_enter(relay_parser *p); /* counts a level of recursion; false: too many */
const char *wick_relay_intern(relay_parser *p, const char *name);

/* ---- nodes ---- */
/* From token `begin` to the last one taken. */
wick_ast *wick_relay_node(relay_parser *p, wick_ast_kind kind, uint32_t begin, uint32_t nkid,
                          wick_ast *const *kid);
/* Gives an INT its value; one below zero is written with its sign, as in patterns. */
void wick_relay_set_int(wick_ast *n, int64_t value);
wick_ast *wick_relay_named(relay_parser *p, wick_ast_kind kind, uint32_t begin, const char *name,
                           uint32_t nkid, wick_ast *const *kid);
wick_ast *wick_relay_list(relay_parser *p, uint32_t begin, const relay_nodes *items);
/* A NAME of an entity that is known already. */
wick_ast *wick_relay_refer(relay_parser *p, uint32_t begin, wick_lang_entity *e);

/* ---- scope.c ---- */
uint32_t wick_relay_mark(const relay_parser *p);
void wick_relay_leave(relay_parser *p, uint32_t mark);
/* Declares a local; returns its name in the tree. */
const char *wick_relay_declare(relay_parser *p, const char *name);
const char *wick_relay_local(relay_parser *p, const char *name); /* NULL: there is none */
/* Says what the local of this name in the tree is: a PARAM, or a constant; NULL: something else. */
void wick_relay_bind(relay_parser *p, const char *name, wick_ast *value);
const wick_ast *wick_relay_bound(const relay_parser *p, const char *name);
/* Collects the names of functions, types and constructors. */
void wick_relay_scan(relay_parser *p);
/* What the file uses of the std library, as a USE; NULL: nothing. */
wick_ast *wick_relay_imports(relay_parser *p);

/* ---- parse.c ---- */
const char *wick_relay_element(const char *dtype); /* "f32" of "float32"; NULL: there is none */
wick_ast *wick_relay_type(relay_parser *p);
wick_ast *wick_relay_pattern(relay_parser *p);
/* Passes over attributes that only say how TVM compiles, up to `end`. */
void wick_relay_skip(relay_parser *p, int end);
/* [A](%x: T, ...) -> T { ... } */
wick_ast *wick_relay_function(relay_parser *p, uint32_t begin, const char *name);

/* ---- parse_expr.c ---- */
wick_ast *wick_relay_expr(relay_parser *p);
wick_ast *wick_relay_block(relay_parser *p); /* { ... } */
wick_ast *wick_relay_body(relay_parser *p);  /* without braces */

/* ---- lift.c ---- */
/* Returns whether the function calls the local `name`. */
bool wick_relay_calls(const wick_ast *fn, const char *name);
/* Makes `fn`, which `let name` names, a function of the file; returns what the local then is. */
wick_ast *wick_relay_lift(relay_parser *p, uint32_t begin, const char *name, wick_ast *fn);

/* ---- meta.c ---- */
/* Returns the constant meta[relay.Constant][index]; NULL: a problem was reported. */
const wick_tensor *wick_relay_constant(relay_parser *p, const relay_token *t);

/* ---- dynamic.c ---- */
/* Returns the numbers that an expression is, as a constant or a tuple of them, if it is one, or computed from constants
 * and from sizes of parameters; NULL: it is not. */
wick_ast *wick_relay_numbers(relay_parser *p, const wick_ast *x);
/* The operator that `dyn.NAME` is where the operands that become attributes are constants, and its arguments; NULL: it
 * is no such operator, or one of them is no constant. */
const char *wick_relay_static(relay_parser *p, uint32_t begin, const char *name,
                              const relay_nodes *args, relay_nodes *out);

/* ---- table.c ---- */
/* Makes a call of an operator, whose name begins at the token; `call` has the arguments. Reports
 * operators and attributes that the table does not have. */
wick_ast *wick_relay_operator(relay_parser *p, const relay_token *name, const char *text,
                              uint32_t begin, const relay_nodes *args);
/* The operator as a function value. */
wick_ast *wick_relay_operator_value(relay_parser *p, const relay_token *name, const char *text,
                                    uint32_t begin);

#endif
