/* Helpers for the `compute` columns of tensor operators, which build stages. */
#ifndef WICK_OPS_STAGE_H
#define WICK_OPS_STAGE_H

#include "ops/elementwise/scalar.h"

/* ---- numbers in a body ---- */

wick_value wick_stage_zero(wick_builder *b, wick_elem e);
/* The type that sums of e are kept in: f32 for f16 and bf16. */
static inline wick_elem wick_stage_arith(wick_elem e) { return wick_elem_storage[e].arith; }
/* The type of a fold's state: the row's arithmetic; for products f64, as parts of one leave the
 * range of f32 sooner than the whole. */
static inline wick_elem wick_stage_range(wick_elem e, wick_opcode by)
{
  return by == WICK_OP_mul && wick_elem_is_float(e) ? WICK_F64 : wick_stage_arith(e);
}
/* acc + x * y: a muladd for floats, wrapping for integers. */
wick_value wick_stage_muladd(wick_builder *b, wick_value x, wick_value y, wick_value acc);
/* An expression's value in element type e. */
wick_value wick_stage_number(wick_builder *b, wick_dim expr, wick_elem e);
/* The condition 0 <= index[k] < dim[k] for all k; 0 where it always holds. */
wick_value wick_stage_inside(wick_builder *b, uint32_t n, const wick_dim *index,
                             const wick_dim *dim);
/* An expression's range lies in 0 .. dim-1. */
bool wick_stage_is_inside(const wick_builder *b, wick_dim index, wick_dim dim);
/* A read that gives 0 out of bounds, if the indices may be there. */
wick_value wick_stage_read0(wick_builder *b, wick_value tensor, const wick_dim *index);
/* A run-time index as a sum is compared and used; the condition is a bool. */
wick_value wick_stage_compare(wick_builder *b, wick_opcode op, wick_dim x, wick_dim y);

/* ---- folds with one state, which may be wider than the result ---- */

/* Opens a fold by `op` with the state type `state`; returns the state, in the open step. */
wick_value wick_stage_fold(wick_builder *b, const char *name, uint32_t n, const wick_axis *axis,
                           wick_type out, wick_opcode op, wick_elem state);
/* Ends the step with the next state, opens the finish; returns the last state. */
wick_value wick_stage_finish(wick_builder *b, wick_value next, wick_opcode op);
/* Yields the result, in the result's type. */
wick_value wick_stage_end(wick_builder *b, wick_value result, wick_type out);

/* ---- folds that find the best element and its position ---- */

typedef struct wick_best {
  wick_value value, at; /* at: an i64; -1 before the first element */
} wick_best;

/* Opens a fold with that state: the largest element (or least), the first of equal ones (or the
 * last); NaN is best of all. */
wick_best wick_stage_best(wick_builder *b, const char *name, uint32_t n, const wick_axis *axis,
                          uint32_t nout, const wick_type *out, wick_elem e);
/* Ends the step by one more element, which takes part where `inside` (0: always); opens the finish,
 * and returns its state. */
wick_best wick_stage_best_finish(wick_builder *b, wick_best state, wick_best element,
                                 wick_value inside, bool least, bool last);

/* ---- maps that move elements ---- */

/* A map over the type's dimensions: axes d0, d1, ... ; returns their number. */
uint32_t wick_stage_map(const wick_compute *c, uint32_t k, const char *name, wick_axis *axis);

#endif
