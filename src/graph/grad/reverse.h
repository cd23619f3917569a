/* Reverse mode through calls of functions that call themselves, through data, and through branches
 * and loops that contain them.
 *
 * What such a node computes is not computed again. It gives one value more, of a generated data type,
 * with what the backward half reads. A function f becomes f.fwd, which returns the results and what
 * is kept, and f.bwd, which gets these, cotangents of the results and sums, and returns cotangents of
 * the parameters. Branches keep a constructor for each arm, loops a list with an element for each
 * step. */
#ifndef WICK_GRAPH_GRAD_REVERSE_H
#define WICK_GRAPH_GRAD_REVERSE_H

#include "ir/replay.h"
#include "ops/gradient/grad.h"

/* A function, an arm of a branch or the body of a loop, in two halves. */
typedef struct wick_reverse_unit {
  const wick_func *f;
  bool outside; /* parameters of fwd, and its first results, have the types of f; else those of
                   shadow.h, as everywhere inside */
  bool *active, *needs; /* per parameter: it is differentiated by; the backward half takes it */
  wick_type *sum; /* per parameter: the type of a sum, to which its cotangent is added; or 0 */
  wick_func *fwd, *bwd;
  uint32_t nkept; /* what fwd returns after the results of f */
  wick_type *kept;
  /* of functions */
  const char *source, *mask, *fwd_name, *bwd_name; /* mask: of active parameters */
} wick_reverse_unit;
/* bwd takes the parameters in `needs`, what is kept, cotangents of those results that have some, and
 * the sums; it returns the cotangent of each active parameter, added to its sum if it has one. */

typedef struct wick_reverse_opened {
  const wick_func *of, *f;
} wick_reverse_opened;

typedef struct wick_reverse {
  wick_module *m;
  wick_arena *mem;
  wick_status status;
  wick_list(wick_reverse_unit *) units; /* of functions */
  wick_list(wick_reverse_opened) opened;
} wick_reverse;

/* The walk over a function that builds it in another builder. */
typedef struct wick_reverse_walk {
  wick_reverse *r;
  wick_builder *b;
  const wick_func *f;
  wick_replay to;
  const bool *active;   /* per value of f */
  const wick_type *sum; /* per value of f, as in a unit */
  const char *prefix;   /* of names of data types */
  uint32_t *ntype;
  wick_list(wick_grad_own) own; /* nodes of b with derivatives of their own */
} wick_reverse_walk;

/* Returns f with operators opened, and calls of functions that do not call themselves inlined. */
const wick_func *wick_reverse_open(wick_reverse *r, const wick_func *f);
/* Returns f, or if it calls itself a function that calls it, so that its body is not built again. */
const wick_func *wick_reverse_caller(wick_reverse *r, const wick_func *f);
/* Builds f, which is opened, on the values `in`, and sets `out`. w has r, b, prefix and ntype. active,
 * sum: per parameter; sum may be NULL. */
void wick_reverse_body(wick_reverse_walk *w, const wick_func *f, const wick_value *in,
                       const bool *active, const wick_type *sum, wick_value *out);
/* Builds the halves of u, whose f, active and sum are set. */
void wick_reverse_halves(wick_reverse *r, wick_reverse_unit *u, const char *prefix,
                         uint32_t *ntype);
/* Builds the functions NAME.fwd and NAME.bwd that the body of f needs, and adds them to the module. */
void wick_reverse_functions(wick_reverse *r, const wick_func *f, const bool *active,
                            const char *prefix);

/* The type in the builder of values that have type t in a function. */
wick_type wick_reverse_type(const wick_reverse *r, wick_type t);

/* reverse_ref.c: builds a node that makes, reads or writes a reference to floats. */
void wick_reverse_ref(wick_reverse_walk *w, const wick_node *n);
/* Returns v, parameter k of f from outside, with shadows. Each run of the backward half ends with zeros
 * in that of a reference. */
wick_value wick_reverse_enter(wick_reverse_walk *w, const wick_func *f, uint32_t k, wick_value v);

/* reverse_region.c: builds a branch or a loop. */
bool wick_reverse_keeps(const wick_func *f, const wick_node *n);
void wick_reverse_branch(wick_reverse_walk *w, uint32_t node);
void wick_reverse_loop(wick_reverse_walk *w, uint32_t node);

/* reverse_sums.c: the type of the sum of parameter k of f, which is opened. */
wick_type wick_reverse_sum_type(wick_reverse *r, const wick_func *f, uint32_t k);
wick_value wick_reverse_sum_zero(wick_builder *b, wick_type t);
/* Returns whether there is a sum, of type t. */
bool wick_reverse_sum_fits(const wick_builder *b, wick_value sum, wick_type t);
/* Gives the cotangent v of operand i. t: 0, or the type of sum that v is; it then begins with the
 * operand's sum if that is of this type. */
void wick_reverse_sum_give(wick_adjoint *a, uint32_t i, wick_value v, wick_type t);

/* reverse_split.c: divides a function whose parameters are those of u->f, `nd` cotangents and sums,
 * and whose results are those of u->f, then cotangents, into the halves of u. Effects of nodes from
 * `backward` on are in the backward half. */
void wick_reverse_split(wick_reverse *r, wick_reverse_unit *u, const wick_func *joint,
                        uint32_t backward);

/* Returns the operands of u->bwd in order. param: per parameter of u->f, those that are needed; kept;
 * dout: per result of u->f, 0 is all zeros; sum: per parameter with a sum. */
wick_value *wick_reverse_operands(wick_builder *b, const wick_reverse_unit *u,
                                  const wick_value *param, const wick_value *kept,
                                  const wick_value *dout, const wick_value *sum, uint32_t *out_n);

static inline void wick_reverse_failed(wick_reverse *r, wick_status s)
{
  if (s && !r->status) r->status = s;
}

#endif
