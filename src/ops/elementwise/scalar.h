/* Scalar operators: the reference and the stages that are derived from the evaluation of one
 * element (wick_eval_scalar). */
#ifndef WICK_OPS_ELEMENTWISE_SCALAR_H
#define WICK_OPS_ELEMENTWISE_SCALAR_H

#include "ir/build.h"
#include "ir/element.h"

/* Where element-wise rows are legal: on tensors, in the bodies of stages, on scalars and vectors.
 */
#define WICK_SCALAR_LEVELS (WICK_GRAPH | WICK_GROUP | WICK_LOOP)

/* x in the arithmetic of type e (f32 for f16 and bf16): what one step of a formula leaves. */
static inline double wick_round_step(wick_elem e, double x)
{
  return wick_round_elem(wick_elem_storage[e].arith, (wick_scalar){.f = x}).f;
}

/* The columns `ref` and `compute` of scalar rows; where a row leaves them NULL, these are meant. */
wick_status wick_scalar_ref(wick_ref *c);
void wick_scalar_compute(const wick_compute *c);
/* The same map, in which `check` (NULL: none) may add `fail` nodes before the row's own; it gets
 * the operands' elements, and says where a run fails: the condition, a bool, or 0 for never. */
typedef wick_value (*wick_scalar_check)(wick_builder *b, const wick_value *in);
void wick_scalar_map(const wick_compute *c, wick_scalar_check check);

/* The columns that are meant: the row's own, or those derived from `eval`. NULL where it has
 * neither. */
wick_status (*wick_ref_of(wick_opcode op))(wick_ref *);
void (*wick_compute_of(wick_opcode op))(const wick_compute *);

/* Axes for every dimension of t, named d0, d1, ...; returns their number. */
uint32_t wick_axes_of(wick_builder *b, wick_type t, wick_axis *axis);
/* The index of a tensor of type t, which broadcasts against the n axes: their symbols, 0 where the
 * size is 1. */
void wick_broadcast_index(const wick_module *m, wick_type t, uint32_t n, const wick_axis *axis,
                          wick_dim *out_index);

#endif
