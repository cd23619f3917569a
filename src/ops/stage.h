/* Helpers for the `compute` columns of tensor operators, which build stages. */
#ifndef WICK_OPS_STAGE_H
#define WICK_OPS_STAGE_H

#include "ops/elementwise/scalar.h"

/* ---- numbers in a body ---- */

wick_value wick_stage_zero(wick_builder *b, wick_elem e);
/* Returns the type in which elements of type e are summed: f32 for f16 and bf16. */
static inline wick_elem wick_stage_arith(wick_elem e) { return wick_elem_storage[e].arith; }
/* Returns the type of a fold's state: the arithmetic type of e. For products it is f64, because
 * partial products leave the range of f32 sooner than the whole product. */
static inline wick_elem wick_stage_range(wick_elem e, wick_opcode by)
{
  return by == WICK_OP_mul && wick_elem_is_float(e) ? WICK_F64 : wick_stage_arith(e);
}
/* Builds acc + x * y: a muladd for floats, wrapping for integers. */
wick_value wick_stage_muladd(wick_builder *b, wick_value x, wick_value y, wick_value acc);
/* Builds the value of an expression in element type e. */
wick_value wick_stage_number(wick_builder *b, wick_dim expr, wick_elem e);
/* Builds the condition 0 <= index[k] < dim[k] for all k. Returns 0 if it is always true. */
wick_value wick_stage_inside(wick_builder *b, uint32_t n, const wick_dim *index,
                             const wick_dim *dim);
/* Returns true if the expression's range is within 0 .. dim-1. */
bool wick_stage_is_inside(const wick_builder *b, wick_dim index, wick_dim dim);
/* Builds a read that yields 0 out of bounds, if the indices can be out of bounds. */
wick_value wick_stage_read0(wick_builder *b, wick_value tensor, const wick_dim *index);
/* Compares run-time indices, which are sums. The condition is a bool. */
wick_value wick_stage_compare(wick_builder *b, wick_opcode op, wick_dim x, wick_dim y);

/* ---- folds with one state, which may be wider than the result ---- */

/* Opens a fold by `op` with the state type `state`. Returns the state, in the open step. */
wick_value wick_stage_fold(wick_builder *b, const char *name, uint32_t n, const wick_axis *axis,
                           wick_type out, wick_opcode op, wick_elem state);
/* Ends the step with the next state and opens the finish. Returns the last state. */
wick_value wick_stage_finish(wick_builder *b, wick_value next, wick_opcode op);
/* Yields the result, converted to the result's type. */
wick_value wick_stage_end(wick_builder *b, wick_value result, wick_type out);

/* ---- folds that find the best element and its position ---- */

/* What makes an element the best one: it is the largest, or the least; the first of equal ones, or
 * the last. NaN wins over all others. */
typedef struct wick_best_rule {
  bool least, last;
  /* The elements come in the order of their positions, none of which is negative. Otherwise `at`
   * is -1 before the first element. */
  bool ordered;
  wick_elem at; /* the type of positions */
} wick_best_rule;

typedef struct wick_best {
  wick_value value, at;
} wick_best;

/* Returns the type of positions along an axis for elements of type e: of 32 bits if these are
 * enough, and elements are no wider, so that vectors of both have the same number of lanes. */
wick_elem wick_stage_position(const wick_builder *b, wick_dim extent, wick_elem e);
/* Opens a fold that finds the best element and its position. Returns the state. */
wick_best wick_stage_best(wick_builder *b, const wick_best_rule *rule, const char *name, uint32_t n,
                          const wick_axis *axis, uint32_t nout, const wick_type *out, wick_elem e);
/* Ends the step with one more element, which counts if `inside` is true (0: always). Opens the
 * finish and returns its state. */
wick_best wick_stage_best_finish(wick_builder *b, const wick_best_rule *rule, wick_best state,
                                 wick_best element, wick_value inside);

/* ---- maps that move elements ---- */

/* Opens a map over the type's dimensions, with axes d0, d1, ... Returns their number. */
uint32_t wick_stage_map(const wick_compute *c, uint32_t k, const char *name, wick_axis *axis);

#endif
