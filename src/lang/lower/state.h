/* What the files of the lowering share. */
#ifndef WICK_LANG_LOWER_STATE_H
#define WICK_LANG_LOWER_STATE_H

#include <string.h>

#include "ir/build.h"
#include "lang/lower/lowering.h"

typedef enum lowered_kind {
  LOWERED_ONE,   /* a value of the graph: a tensor, data, a reference, an unknown function */
  LOWERED_ITEMS, /* a tuple or a struct */
  LOWERED_FN     /* a function that is known; its items are what it has captured */
} lowered_kind;

/* The rows of a `match` that are left (matches.c). */
typedef struct matches_rest matches_rest;

/* The code of a known function: an entity, or a literal. An arm of a `match` that several leaves of
 * its decisions share is a literal without parameters; so are decisions that others share. */
typedef struct lowered_code {
  wick_lang_entity *entity; /* a function, a constructor, an operator, an element type, a form */
  wick_ast *node;           /* a literal or an arm; of a form: the call */
  bool applies;             /* neither: it calls its item, which only the running program knows */
  uint8_t half;             /* of with_vjp: 1 and 2 call that function alone, but capture both */
  const wick_typed *typed;  /* of the function around a literal or a form */
  const matches_rest *rest; /* of decisions: `node` is the match */
  uint32_t nmatched;        /* of them: the first items are the values that they test or bind */
  uint32_t ncaptured;       /* the locals that the literal reads */
  wick_lang_entity *const *captured;
} lowered_code;

typedef struct lowered lowered;
struct lowered {
  lowered_kind kind;
  wick_ty *type; /* without unknowns; of a FN also NULL: the use decides */
  wick_value v;
  wick_type in; /* of a ONE: its type in the graph */
  uint32_t n;
  const lowered **item;
  const lowered_code *code;
};

typedef struct lowering_instance lowering_instance;
struct lowering_instance {
  const char *key, *name;
  const char *typed_key;   /* of what `typed` follows from; NULL: some of it is not known */
  const lowered *fn;       /* as in `key`; its values are those of the first use */
  const wick_typed *typed; /* NULL: of an arm, that of its code */
  uint32_t narg;
  const lowered *const *arg;
  bool wraps;       /* the function is an operator or such: it is called */
  wick_type *param; /* of what `fn` captured, then of the arguments */
  uint32_t nparam;
  wick_ty *result_type;
  bool plain; /* its result has no known functions */
  bool begun, done;
  const lowered *result;           /* after it is done; values count from 1 */
  wick_lang_at at;                 /* of the first use */
  const lowering_instance *parent; /* whose body has the first use; NULL: the entry */
  const wick_static *fixed;
};

/* A graph function that is being built. */
typedef struct lowering_frame {
  wick_builder *b;
  const wick_typed *typed;
  const lowering_instance *instance; /* whose body this is; NULL: of none */
  const lowered **local;             /* by number */
  const lowered **matched;           /* in the function of decisions: what they are about */
  bool placed;                       /* nodes keep the location of the builder */
} lowering_frame;

typedef struct lowering_data {
  const char *key;
  wick_type type;
} lowering_data;

/* A parameter that gets ever larger known functions. */
typedef struct lowering_growth {
  const lowered_code *code;
  uint32_t param;
} lowering_growth;

typedef struct lowering {
  wick_lang_program *p;
  wick_types *t;
  wick_module *module;
  wick_arena *mem, *tmp; /* of the functions; of everything else */
  wick_status failed;    /* the first failure; then all values are () */
  wick_list(lowering_instance *) instances;
  uint32_t next;             /* the first instance whose body may not be lowered yet */
  wick_list(uint32_t) slots; /* hash table of instances, by key; 0: empty */
  wick_list(lowering_data) datas;
  wick_list(lowering_growth) growing;
  uint64_t nnode; /* that have been built */
  const char *stack;
} lowering;

typedef wick_list(wick_value) lowering_values;
typedef wick_list(wick_type) lowering_types;
typedef wick_list(wick_part) lowering_parts;

/* Reports a failure at n; returns (). */
const lowered *wick_lowering_fail(lowering *s, wick_lang_at at, const char *fmt, ...)
    WICK_PRINTF(3, 4);
/* Makes the place the location of the nodes that follow. */
void wick_lowering_at(lowering *s, lowering_frame *f, wick_lang_at at);
/* Checks the builder after nodes were built; returns false if one failed. */
bool wick_lowering_ok(lowering *s, lowering_frame *f);

/* ---- types.c ---- */
/* Adds the graph's types of a value of this type. Fails if it is not known. */
void wick_lowering_types(lowering *s, wick_lang_at at, wick_ty *type, lowering_types *out);
wick_type wick_lowering_type(lowering *s, wick_lang_at at, wick_ty *type);
/* Adds a value of this type, and the parts of tuples and structs. */
void wick_lowering_parts(lowering *s, wick_ty *type, const char *name, lowering_parts *out);
/* The type of a tensor of the graph. */
wick_ty *wick_lowering_ty(lowering *s, wick_type type);
bool wick_lowering_has_fn(lowering *s, wick_ty *type);
/* The type of the cotangents of a value: () for what has none. */
wick_ty *wick_lowering_cotangent(lowering *s, wick_ty *type);
/* Whether all its tensors have known sizes. */
bool wick_lowering_is_concrete(lowering *s, wick_ty *type);
bool wick_lowering_is_items(const wick_ty *type);  /* a tuple or a struct */
uint32_t wick_lowering_nitem(const wick_ty *type); /* of a tuple or a struct */
wick_ty *wick_lowering_item(lowering *s, wick_ty *type, uint32_t i);
bool wick_lowering_has_type(lowering *s, wick_ty *type); /* all of it is known */
void wick_lowering_type_key(lowering *s, wick_ty *type, wick_text *out);

/* ---- values.c ---- */
lowered *wick_lowering_new(lowering *s, lowered_kind kind, wick_ty *type, uint32_t n);
const lowered *wick_lowering_one(lowering *s, lowering_frame *f, wick_value v, wick_ty *type);
/* A parameter of this type, which has no values yet. */
const lowered *wick_lowering_formal(lowering *s, wick_lang_at at, wick_ty *type);
const lowered *wick_lowering_tensor(lowering *s, lowering_frame *f, wick_value v);
const lowered *wick_lowering_unit(lowering *s);
void wick_lowering_flatten(lowering *s, const lowered *x, lowering_values *out);
/* The value of this type whose parts are the values from *next on. Tensors have the types that they
 * have in the graph, so that sizes which are `?` in `type` are known where they can be. */
const lowered *wick_lowering_unflatten(lowering *s, lowering_frame *f, wick_ty *type,
                                       wick_value *next);
/* The same as x, with the values from *next on in the place of its. */
const lowered *wick_lowering_replaced(lowering *s, const lowered *x, wick_value *next);
/* Makes known functions function values of the graph. */
const lowered *wick_lowering_plain(lowering *s, lowering_frame *f, wick_lang_at at,
                                   const lowered *x, wick_ty *type);
void wick_lowering_key(lowering *s, const lowered *x, wick_text *out);
/* The same for what a known function has captured, if it contains itself. */
const lowered *wick_lowering_captured_plain(lowering *s, lowering_frame *f, wick_lang_at at,
                                            const lowered *x);
/* A known function that calls x, if only the running program knows that; else x. */
const lowered *wick_lowering_as_known(lowering *s, lowering_frame *f, const lowered *x);
/* How often the code of a known function occurs inside of itself, at most. */
bool wick_lowering_is_nested(const lowered *x);
/* A function literal or an arm, with what it captures here. */
const lowered *wick_lowering_literal(lowering *s, lowering_frame *f, wick_ast *n, wick_ty *type);
/* The decisions of a `match` that are left, about these values. */
const lowered *wick_lowering_rest(lowering *s, lowering_frame *f, wick_ast *match,
                                  const matches_rest *rest, uint32_t n, const lowered *const *x);

/* ---- instances.c ---- */
/* Replaces known functions that contain themselves, as recursion builds them, by values of the
 * graph. */
const lowered *wick_lowering_argument(lowering *s, lowering_frame *f, wick_lang_at at,
                                      const lowered *x);
/* Calls a function that is known or not. result: what the use expects; NULL: not known. */
const lowered *wick_lowering_call(lowering *s, lowering_frame *f, const wick_ast *n,
                                  const lowered *fn, uint32_t narg, const lowered *const *arg,
                                  const wick_static *fixed, wick_ty *result);
/* The instance of a known function; of an operator and such a function that calls it. `f` is the
 * function that asks. */
lowering_instance *wick_lowering_instance(lowering *s, lowering_frame *f, wick_lang_at at,
                                          const lowered *fn, uint32_t narg,
                                          const lowered *const *arg, const wick_static *fixed,
                                          wick_ty *result, bool plain);
void wick_lowering_body(lowering *s, lowering_instance *i);
const lowered *wick_lowering_call_instance(lowering *s, lowering_frame *f, const wick_ast *n,
                                           lowering_instance *i, const lowered *fn, uint32_t narg,
                                           const lowered *const *arg);

/* ---- exprs.c ---- */
const lowered *wick_lowering_expr(lowering *s, lowering_frame *f, wick_ast *n);
/* The value of a tensor, or 0 after a failure. */
wick_value wick_lowering_value(lowering *s, lowering_frame *f, wick_ast *n);
void wick_lowering_bind(lowering *s, lowering_frame *f, const wick_ast *pattern, const lowered *x);
wick_value wick_lowering_number(lowering *s, lowering_frame *f, wick_elem elem, double v,
                                int64_t i);
/* A size as a number, also one that only the inputs of the entry decide. */
const lowered *wick_lowering_size(lowering *s, lowering_frame *f, wick_dim d);
wick_value wick_lowering_string(lowering *s, lowering_frame *f, const char *text);
/* Yields the parts of x, as its type has them. */
void wick_lowering_yield(lowering *s, lowering_frame *f, wick_lang_at at, const lowered *x,
                         wick_ty *type);

/* ---- calls.c ---- */
const lowered *wick_lowering_call_expr(lowering *s, lowering_frame *f, wick_ast *n);
const lowered *wick_lowering_operator(lowering *s, lowering_frame *f, const wick_ast *n,
                                      wick_lang_entity *op, uint32_t narg,
                                      const lowered *const *arg);
/* Returns whether a call of e converts to an element type. */
bool wick_lowering_converts(const lowering_frame *f, const wick_lang_entity *e, wick_elem *out);
const lowered *wick_lowering_op(lowering *s, lowering_frame *f, wick_opcode op, uint32_t narg,
                                const wick_value *arg, const wick_attr *attr);

/* ---- forms.c ---- */
const lowered *wick_lowering_form(lowering *s, lowering_frame *f, wick_ast *n,
                                  wick_lang_entity *form);
/* What a reference holds. */
const lowered *wick_lowering_read(lowering *s, lowering_frame *f, const lowered *r);
/* A call of what a transformation gave. */
const lowered *wick_lowering_transformed(lowering *s, lowering_frame *f, const wick_ast *n,
                                         const lowered *fn, uint32_t narg,
                                         const lowered *const *arg, wick_ty *result);

/* A call of fn for each row of the arguments, stacked. axis: the dimension of each argument that
 * numbers its rows, or -1 for an argument as it is. */
const lowered *wick_lowering_rows(lowering *s, lowering_frame *f, const wick_ast *n,
                                  const lowered *fn, uint32_t narg, const lowered *const *arg,
                                  const int64_t *axis);

/* ---- say.c ---- */
/* print and assert. */
const lowered *wick_lowering_say(lowering *s, lowering_frame *f, const wick_ast *n,
                                 wick_lang_entity *form, uint32_t narg, const lowered *const *arg);
/* Says x, which is data, in the instance that does it. */
const lowered *wick_lowering_say_data(lowering *s, lowering_frame *f, const wick_ast *n,
                                      const lowered *fn, const lowered *x);

/* ---- maps.c ---- */
/* map_tensors and zip_tensors; `map` is the form, which has captured the function. */
const lowered *wick_lowering_map(lowering *s, lowering_frame *f, const wick_ast *n,
                                 const lowered *map, uint32_t narg, const lowered *const *arg);
/* The same for data, in the instance that does it. */
const lowered *wick_lowering_map_data(lowering *s, lowering_frame *f, const wick_ast *n,
                                      const lowered *map, uint32_t narg, const lowered *const *arg);

/* ---- matches.c ---- */
const lowered *wick_lowering_match(lowering *s, lowering_frame *f, wick_ast *n);
const lowered *wick_lowering_match_rest(lowering *s, lowering_frame *f, wick_ast *n,
                                        const matches_rest *rest, wick_ty *type);

/* ---- indices.c ---- */
const lowered *wick_lowering_index(lowering *s, lowering_frame *f, const wick_ast *n,
                                   const lowered *x);
const lowered *wick_lowering_with(lowering *s, lowering_frame *f, const wick_ast *n,
                                  const lowered *x, const lowered *value);

/* ---- notation.c ---- */
const lowered *wick_lowering_notation(lowering *s, lowering_frame *f, const wick_ast *list);

#endif
