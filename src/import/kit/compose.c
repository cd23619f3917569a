/* Helpers for operators of a format that are compositions of several operators of Wick. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "import/kit/emit.h"

/* Returns the type of x, which must have that axis. Returns NULL after a failure. */
static const wick_type_info *compose_info(wick_builder *b, wick_value x, uint32_t axis,
                                          uint32_t most)
{
  if (b->status || !x.id) return NULL;
  const wick_type_info *t = wick_built_info(b, x);
  if (axis < most + t->rank && t->rank + most <= WICK_MAX_RANK) return t;
  wick_build_fail(b, WICK_ETYPE, "rank %u has no axis %u", t->rank, axis);
  return NULL;
}

wick_value wick_emit_floor_div(wick_builder *b, wick_value x, wick_value y)
{
  wick_value zero = wick_emit_number(b, x, 0), one = wick_emit_number(b, x, 1),
             minus = wick_build2(b, WICK_OP_lt, x, zero), by = wick_build2(b, WICK_OP_lt, y, zero),
             below = wick_build2(b, WICK_OP_ne, minus, by),
             rest = wick_build2(b, WICK_OP_mod, x, y);
  below = wick_build2(b, WICK_OP_and, below, wick_build2(b, WICK_OP_ne, rest, zero));
  wick_value quotient = wick_build2(b, WICK_OP_div, x, y),
             down = wick_build3(b, WICK_OP_where, below, one, zero);
  return wick_build2(b, WICK_OP_sub, quotient, down);
}

wick_value wick_emit_bits(wick_builder *b, wick_value x, wick_elem elem)
{
  if (b->status || !x.id) return x;
  const wick_type_info *t = wick_built_info(b, x);
  wick_type want = wick_type_tensor(b->module, elem, t->rank, t->dim);
  return wick_build(b, WICK_OP_bitcast, 1, &x, NULL, 1, &want);
}

wick_value wick_emit_expand(wick_builder *b, wick_value x, uint32_t n, const wick_dim *dim)
{
  wick_emit e = wick_emit_begin(b, WICK_OP_broadcast_to);
  wick_emit_set_dims(&e, "shape", n, dim);
  return wick_emit_end1(&e, x);
}

wick_value wick_emit_count(wick_builder *b, wick_dim n)
{
  wick_type scalar = wick_type_tensor(b->module, WICK_I64, 0, NULL);
  wick_emit e = wick_emit_begin(b, WICK_OP_range);
  wick_emit_set_dims(&e, "count", 1, &n);
  return wick_emit_end2(&e, wick_build_const(b, scalar, 0, 0), wick_build_const(b, scalar, 0, 1));
}

wick_value wick_emit_count_along(wick_builder *b, wick_dim n, uint32_t axis, uint32_t rank)
{
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) dim[k] = k == axis ? n : wick_dim_const(1);
  return wick_build_reshape(b, wick_emit_count(b, n), rank, dim);
}

wick_value wick_emit_unsqueeze(wick_builder *b, wick_value x, uint32_t axis)
{
  const wick_type_info *t = compose_info(b, x, axis, 1);
  if (!t) return (wick_value){0};
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k <= t->rank; k++)
    dim[k] = k == axis ? wick_dim_const(1) : t->dim[k - (k > axis)];
  return wick_build_reshape(b, x, t->rank + 1, dim);
}

wick_value wick_emit_squeeze(wick_builder *b, wick_value x, uint32_t axis)
{
  const wick_type_info *t = compose_info(b, x, axis, 0);
  if (!t) return (wick_value){0};
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0, n = 0; k < t->rank; k++)
    if (k != axis) dim[n++] = t->dim[k];
  return wick_build_reshape(b, x, t->rank - 1, dim);
}

wick_value wick_emit_slice(wick_builder *b, wick_value x, uint32_t axis, wick_dim begin,
                           wick_dim size)
{
  const wick_type_info *t = compose_info(b, x, axis, 0);
  if (!t) return (wick_value){0};
  wick_dim from[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) {
    from[k] = k == axis ? begin : wick_dim_const(0);
    shape[k] = k == axis ? size : t->dim[k];
  }
  wick_emit e = wick_emit_begin(b, WICK_OP_slice);
  wick_emit_set_dims(&e, "begin", t->rank, from);
  wick_emit_set_dims(&e, "shape", t->rank, shape);
  return wick_emit_end1(&e, x);
}

wick_value wick_emit_gather(wick_builder *b, wick_opcode op, wick_value x, wick_value index,
                            uint32_t axis)
{
  wick_emit e = wick_emit_begin(b, op);
  wick_emit_set_int(&e, "axis", axis);
  return wick_emit_end2(&e, x, index);
}

wick_value wick_emit_by(wick_builder *b, wick_opcode op, wick_value x, double number)
{
  if (b->status || !x.id) return (wick_value){0};
  return wick_build2(b, op, x, wick_emit_number(b, x, number));
}

wick_value wick_emit_reduce1(wick_builder *b, wick_opcode op, wick_value x, int64_t axis,
                             bool keepdims)
{
  return wick_emit_reduce(b, op, x, 1, &axis, keepdims);
}

wick_value wick_emit_widen(wick_builder *b, wick_opcode op, wick_value x)
{
  wick_elem e = wick_built_info(b, x)->elem;
  if (wick_ops[op]->elems & WICK_BIT(e)) return x;
  return wick_build_cast(b, x, wick_elem_is_int(e) ? WICK_F64 : WICK_F32);
}

wick_value wick_emit_reduce(wick_builder *b, wick_opcode op, wick_value x, uint32_t n,
                            const int64_t *axes, bool keepdims)
{
  if (b->status) return (wick_value){0};
  int64_t rank = wick_built_info(b, x)->rank, *front = wick_new(b->mem, int64_t, n);
  for (uint32_t i = 0; i < n; i++)
    front[i] = axes[i] < 0 && axes[i] >= -rank ? axes[i] + rank : axes[i];
  wick_emit e = wick_emit_begin(b, op);
  wick_emit_set_ints(&e, "axes", n, front);
  wick_emit_set_int(&e, "keepdims", keepdims);
  return wick_emit_end1(&e, x);
}

wick_value wick_emit_table(wick_builder *b, const char *name, wick_elem elem, uint32_t rank,
                           const int64_t *dim, const double *numbers)
{
  size_t n = 1;
  for (uint32_t k = 0; k < rank; k++) n *= (size_t)dim[k];
  wick_type type = wick_type_tensor_const(b->module, WICK_F64, rank, dim);
  const void *kept =
      wick_arena_copy(&b->module->mem, numbers, n * sizeof *numbers, sizeof *numbers);
  uint32_t k = wick_emit_constant(b->module, name, type, kept, n * sizeof *numbers);
  return wick_build_cast(b, wick_build_constant(b, k), elem);
}

wick_value wick_emit_string(wick_builder *b, const char *text)
{
  int64_t id = wick_string_table_add(&b->module->strings, text, strlen(text), true);
  return wick_build_const(b, wick_type_tensor(b->module, WICK_STRING, 0, NULL), 0, id);
}

/* ---- loops ---- */

enum { COMPOSE_CARRIED = 15 };

wick_value wick_emit_loop_begin(wick_builder *b, wick_value count, uint32_t n,
                                const wick_value *carried, uint32_t stacked, wick_dim most)
{
  wick_value in[1 + COMPOSE_CARRIED] = {count};
  wick_type type[1 + COMPOSE_CARRIED];
  wick_attr attr[WICK_MAX_ATTR] = {{0}};
  assert(n <= COMPOSE_CARRIED);
  if (b->status) return (wick_value){0};
  for (uint32_t k = 0; k < n; k++) in[1 + k] = carried[k];
  for (uint32_t k = 0; k <= n; k++) type[k] = wick_built_type(b, in[k]);
  attr[WICK_ATTR_loop_stacked].i = stacked;
  attr[WICK_ATTR_loop_most].dims = &most;
  attr[WICK_ATTR_loop_most].n = stacked ? 1 : 0;
  wick_build_open(b, WICK_OP_loop, 1 + n, in, attr, 0, NULL);
  return wick_region_begin(b, 1 + n, type);
}

wick_value wick_emit_loop_end(wick_builder *b, uint32_t n, const wick_value *next)
{
  wick_value y[1 + 2 * COMPOSE_CARRIED];
  assert(n <= 2 * COMPOSE_CARRIED);
  y[0] = wick_build_const(b, wick_type_tensor(b->module, WICK_BOOL, 0, NULL), 0, 1);
  for (uint32_t k = 0; k < n; k++) y[1 + k] = next[k];
  wick_yield(b, 1 + n, y);
  return wick_build_close(b);
}

/* Whether floats have their sign bit, -0 too. */
static wick_value compose_negative(wick_builder *b, wick_value x)
{
  if (b->status) return x;
  wick_elem e = wick_built_info(b, x)->elem;
  x = wick_emit_bits(b, x, e == WICK_F64 ? WICK_I64 : e == WICK_F32 ? WICK_I32 : WICK_I16);
  return wick_emit_by(b, WICK_OP_lt, x, 0);
}

static wick_value compose_both(wick_builder *b, wick_value x, wick_value y, double number)
{
  return wick_build2(b, WICK_OP_and, wick_emit_by(b, WICK_OP_eq, x, number),
                     wick_emit_by(b, WICK_OP_eq, y, number));
}

wick_value wick_emit_atan2(wick_builder *b, wick_value y, wick_value x)
{
  const double pi = 3.14159265358979323846;
  wick_value left = compose_negative(b, x), below = compose_negative(b, y);
  wick_value slope = wick_build2(b, WICK_OP_div, y, x), flat = wick_build1(b, WICK_OP_abs, y);
  wick_value far = compose_both(b, flat, wick_build1(b, WICK_OP_abs, x), (double)INFINITY);
  wick_value falls = wick_build2(b, WICK_OP_ne, left, below);
  wick_value diagonal =
      wick_build3(b, WICK_OP_where, falls, wick_emit_number(b, y, -1), wick_emit_number(b, y, 1));
  slope = wick_build3(b, WICK_OP_where, far, diagonal, slope);
  wick_value angle = wick_build1(b, WICK_OP_atan, slope);
  angle = wick_build3(b, WICK_OP_where, compose_both(b, x, y, 0), y, angle);
  wick_value turn =
      wick_build3(b, WICK_OP_where, below, wick_emit_number(b, y, -pi), wick_emit_number(b, y, pi));
  return wick_build3(b, WICK_OP_where, left, wick_build2(b, WICK_OP_add, angle, turn), angle);
}
