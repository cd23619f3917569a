/* The state of the reference evaluator: values, their storage, frames of functions. evaluate.c runs
 * nodes and functions, evaluate_object.c has the operators on objects, evaluate_store.c storage. */
#ifndef WICK_OPS_EVALUATE_STATE_H
#define WICK_OPS_EVALUATE_STATE_H

#include "ops/evaluate.h"

typedef struct evaluate_block { /* memory of one tensor; in a free list while refs is 0 */
  struct evaluate_block *next;
  uint32_t refs;
  uint64_t nbytes;
  void *data;
} evaluate_block;

typedef struct evaluate_object evaluate_object;

/* A value: a tensor, a tuple of values, or an object. Constants and the caller's tensors have no
 * block. */
typedef struct evaluate_datum {
  wick_tensor tensor;
  evaluate_block *block;
  uint32_t nitem;
  struct evaluate_datum *item;
  evaluate_object *object;
} evaluate_datum;

/* Data (fields), a reference (contents), or a function value (captured values). Cycles of
 * references live until the end. */
struct evaluate_object {
  evaluate_object *next; /* in a free list, or among those that are being released */
  wick_type type;
  uint32_t refs, ctor, nitem;
  const char *callee; /* of a function value */
  evaluate_datum *item;
};

/* What is known of a function: dead[first[i]] .. dead[first[i + 1] - 1] are the values that are
 * dead after node i; `frames` are arrays for values of calls that have ended. */
typedef struct evaluate_plan {
  const wick_func *f;
  uint32_t *first, *dead;
  wick_list(evaluate_datum *) frames;
} evaluate_plan;

enum { EVALUATE_CLASSES = 10, EVALUATE_ITEMS = 8 };

typedef struct evaluate {
  const wick_evaluate_options *options;
  const wick_module *module;
  wick_arena *mem, *tmp, *scratch;
  evaluate_block *small[EVALUATE_CLASSES];  /* free blocks of 8 << class bytes */
  evaluate_block *large;                    /* other free blocks */
  evaluate_object *objects[EVALUATE_ITEMS]; /* free ones, by their number of items */
  wick_list(evaluate_plan *) plans;
  wick_text line, message; /* what has been printed of a line, and of an assertion's text */
  uint32_t depth;
  const char *stack; /* where it began */
  double seconds;    /* by the estimate */
} evaluate;

typedef struct evaluate_frame {
  const wick_func *f;
  const evaluate_plan *plan;
  evaluate_datum *value; /* by id */
  wick_dim_list sym;
  wick_list(int64_t) val;
} evaluate_frame;

/* ---- evaluate_store.c ---- */

/* Returns a block of zeros with one reference. */
evaluate_block *evaluate_take(evaluate *e, uint64_t nbytes);
evaluate_object *evaluate_object_new(evaluate *e, wick_type type, uint32_t nitem);
evaluate_datum evaluate_retain(evaluate_datum d);
void evaluate_release(evaluate *e, evaluate_datum *d);
/* Appends the value as a program writes it: "Cons(1, Nil)". */
void evaluate_text(const evaluate *e, const evaluate_datum *d, wick_text *out);

/* ---- evaluate.c ---- */

static inline const evaluate_datum *evaluate_operand(const evaluate_frame *fr, const wick_node *n,
                                                     uint32_t k)
{
  return &fr->value[n->in[k].id];
}
bool evaluate_true(const evaluate_datum *d);
const char *evaluate_place(const evaluate_frame *fr, const wick_node *n);
/* Runs a region, and sets out[] to the values that it yields. */
WICK_CHECKED wick_status evaluate_yield(evaluate *e, evaluate_frame *fr, const wick_region *g,
                                        evaluate_datum *out);
/* Calls the function of that name with the values first[0 .. nfirst-1] and the operands of n from
 * `from` on. */
WICK_CHECKED wick_status evaluate_call(evaluate *e, const evaluate_frame *fr, const wick_node *n,
                                       const char *callee, uint32_t nfirst,
                                       const evaluate_datum *first, uint32_t from,
                                       evaluate_datum *out);

/* ---- evaluate_object.c ---- */

/* Runs an operator on objects, or one that says something. Returns false if n is another one. */
bool evaluate_objects(evaluate *e, evaluate_frame *fr, const wick_node *n, evaluate_datum *out,
                      wick_status *status);

#endif
