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
  /* per parameter: it is differentiated by; it has a sum, to which its cotangent is added; the
   * backward half takes it */
  bool *active, *sum, *needs;
  wick_func *fwd, *bwd;
  uint32_t nkept; /* what fwd returns after the results of f */
  wick_type *kept;
  /* of functions */
  const char *source, *fwd_name, *bwd_name;
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
  const bool *active, *sum; /* per value of f */
  const char *prefix;       /* of names of data types */
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
                       const bool *active, const bool *sum, wick_value *out);
/* Builds the halves of u, whose f, active and sum are set. */
void wick_reverse_halves(wick_reverse *r, wick_reverse_unit *u, const char *prefix,
                         uint32_t *ntype);
/* Builds the functions NAME.fwd and NAME.bwd that the body of f needs, and adds them to the module. */
void wick_reverse_functions(wick_reverse *r, const wick_func *f, const bool *active,
                            const char *prefix);

/* reverse_region.c: builds a branch or a loop. */
bool wick_reverse_keeps(const wick_func *f, const wick_node *n);
void wick_reverse_branch(wick_reverse_walk *w, uint32_t node);
void wick_reverse_loop(wick_reverse_walk *w, uint32_t node);

/* reverse_split.c: divides a function whose parameters are those of u->f, `nd` cotangents and sums,
 * and whose results are those of u->f, then cotangents, into the halves of u. */
void wick_reverse_split(wick_reverse *r, wick_reverse_unit *u, const wick_func *joint);

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
