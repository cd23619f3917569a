/* Scalar operators: the reference and the stages that are derived from the evaluation of one
 * element (wick_eval_scalar). */
#ifndef WICK_OPS_ELEMENTWISE_SCALAR_H
#define WICK_OPS_ELEMENTWISE_SCALAR_H

#include "ir/build.h"
#include "ir/element.h"

/* The levels at which element-wise operators are legal: on tensors, in the bodies of stages, and on
 * scalars and vectors. */
#define WICK_SCALAR_LEVELS (WICK_GRAPH | WICK_GROUP | WICK_LOOP)

/* Rounds x to the arithmetic of type e (f32 for f16 and bf16), as after one step of a formula. */
static inline double wick_round_step(wick_elem e, double x)
{
  return wick_round_elem(wick_elem_storage[e].arith, (wick_scalar){.f = x}).f;
}

/* The columns `ref` and `compute` of scalar operators. An operator that leaves them NULL uses
 * these. */
wick_status wick_scalar_ref(wick_ref *c);
void wick_scalar_compute(const wick_compute *c);
/* The same map, in which `check` (NULL: none) may add `fail` nodes before the operator's own nodes.
 * It gets the elements of the operands, and returns the condition under which a run fails: a bool,
 * or 0 for never. */
typedef wick_value (*wick_scalar_check)(wick_builder *b, const wick_value *in);
void wick_scalar_map(const wick_compute *c, wick_scalar_check check);

/* Returns the operator's own column, or the one that is derived from `eval`; NULL if it has
 * neither. */
wick_status (*wick_ref_of(wick_opcode op))(wick_ref *);
void (*wick_compute_of(wick_opcode op))(const wick_compute *);

/* Makes axes for all dimensions of t, named d0, d1, ... Returns their number. */
uint32_t wick_axes_of(wick_builder *b, wick_type t, wick_axis *axis);
/* Computes the index into a tensor of type t, which broadcasts against the n axes: their symbols,
 * or 0 along dimensions of size 1. */
void wick_broadcast_index(const wick_module *m, wick_type t, uint32_t n, const wick_axis *axis,
                          wick_dim *out_index);

#endif
