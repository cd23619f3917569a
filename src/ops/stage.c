/* Helpers for the stages of tensor operators: numbers in bodies, folds with a state, maps. */
#include "ops/stage.h"

/* ---- numbers ---- */

wick_value wick_stage_zero(wick_builder *b, wick_elem e)
{
  return wick_build_const(b, wick_type_scalar(b->module, e, 1), 0, 0);
}

wick_value wick_stage_muladd(wick_builder *b, wick_value x, wick_value y, wick_value acc)
{
  if (b->status) return acc;
  if (wick_elem_is_float(wick_built_info(b, acc)->elem))
    return wick_build3(b, WICK_OP_muladd, x, y, acc);
  return wick_build2(b, WICK_OP_add, acc, wick_build2(b, WICK_OP_mul, x, y));
}

wick_value wick_stage_number(wick_builder *b, wick_dim expr, wick_elem e)
{
  if (wick_dim_is_const(expr))
    return wick_build_const(b, wick_type_scalar(b->module, e, 1), (double)expr.v, expr.v);
  return wick_build_cast(b, wick_index(b, expr), e);
}

wick_value wick_stage_compare(wick_builder *b, wick_opcode op, wick_dim x, wick_dim y)
{
  return wick_build2(b, op, wick_stage_number(b, x, WICK_I64), wick_stage_number(b, y, WICK_I64));
}

bool wick_stage_is_inside(const wick_builder *b, wick_dim index, wick_dim dim)
{
  wick_dims *t = b->module->dims;
  const wick_axis *axis;
  uint32_t n = wick_build_axes(b, &axis);
  wick_dim least, most;
  int64_t lo, hi;
  wick_axes_ends(t, index, n, axis, &least, &most);
  wick_dim_range(t, least, &lo, &hi);
  if (lo < 0) return false;
  wick_dim_range(t, wick_dim_sub(t, most, dim), &lo, &hi);
  return hi < 0;
}

wick_value wick_stage_inside(wick_builder *b, uint32_t n, const wick_dim *index,
                             const wick_dim *dim)
{
  wick_value all = {0};
  for (uint32_t k = 0; k < n; k++) {
    int64_t lo, hi;
    wick_dim least, most;
    const wick_axis *axis;
    uint32_t naxis = wick_build_axes(b, &axis);
    if (wick_stage_is_inside(b, index[k], dim[k])) continue;
    wick_value c = wick_stage_compare(b, WICK_OP_lt, index[k], dim[k]);
    wick_axes_ends(b->module->dims, index[k], naxis, axis, &least, &most);
    wick_dim_range(b->module->dims, least, &lo, &hi);
    if (lo < 0)
      c = wick_build2(b, WICK_OP_and,
                      wick_stage_compare(b, WICK_OP_ge, index[k], wick_dim_const(0)), c);
    all = all.id ? wick_build2(b, WICK_OP_and, all, c) : c;
  }
  return all;
}

wick_value wick_stage_read0(wick_builder *b, wick_value tensor, const wick_dim *index)
{
  if (b->status) return tensor;
  const wick_type_info *t = wick_built_info(b, tensor);
  bool inside = true;
  for (uint32_t k = 0; k < t->rank; k++)
    inside = inside && wick_stage_is_inside(b, index[k], t->dim[k]);
  return wick_read(b, tensor, index, 0, NULL,
                   inside ? (wick_value){0} : wick_stage_zero(b, t->elem));
}

/* ---- folds ---- */

wick_value wick_stage_fold(wick_builder *b, const char *name, uint32_t n, const wick_axis *axis,
                           wick_type out, wick_opcode op, wick_elem state)
{
  wick_type s = wick_type_scalar(b->module, state, 1);
  wick_fold_open(b, name, n, axis, 1, &out);
  wick_region_begin(b, 0, NULL);
  wick_value neutral = wick_build_neutral(b, op, s);
  wick_yield(b, 1, &neutral);
  return wick_region_begin(b, 1, &s);
}

wick_value wick_stage_finish(wick_builder *b, wick_value next, wick_opcode op)
{
  if (b->status) return next;
  wick_type s = wick_built_type(b, next);
  wick_yield(b, 1, &next);
  wick_value x = wick_region_begin(b, 2, (wick_type[]){s, s});
  wick_value m = wick_build2(b, op, x, (wick_value){x.id + 1});
  wick_yield(b, 1, &m);
  return wick_region_begin(b, 1, &s);
}

wick_value wick_stage_end(wick_builder *b, wick_value result, wick_type out)
{
  if (b->status) return result;
  result = wick_build_cast(b, result, wick_type_get(b->module, out)->elem);
  wick_yield(b, 1, &result);
  return wick_build_close(b);
}

/* ---- the best element ---- */

wick_best wick_stage_best(wick_builder *b, const char *name, uint32_t n, const wick_axis *axis,
                          uint32_t nout, const wick_type *out, wick_elem e)
{
  wick_type s[2] = {wick_type_scalar(b->module, e, 1), wick_type_scalar(b->module, WICK_I64, 1)};
  wick_fold_open(b, name, n, axis, nout, out);
  wick_region_begin(b, 0, NULL);
  wick_value init[2] = {wick_build_neutral(b, WICK_OP_max, s[0]), wick_build_i64(b, -1)};
  wick_yield(b, 2, init);
  wick_value first = wick_region_begin(b, 2, s);
  return (wick_best){first, {first.id + 1}};
}

/* Builds the condition that y is better than x. Among equal elements, the one at the lower (or
 * higher) position is better. */
static wick_value stage_better(wick_builder *b, wick_best x, wick_best y, bool least, bool last)
{
  if (b->status) return x.value;
  wick_value better = wick_build2(b, least ? WICK_OP_lt : WICK_OP_gt, y.value, x.value),
             equal = wick_build2(b, WICK_OP_eq, y.value, x.value);
  if (wick_elem_is_float(wick_built_info(b, x.value)->elem)) {
    wick_value nan_x = wick_build2(b, WICK_OP_ne, x.value, x.value),
               nan_y = wick_build2(b, WICK_OP_ne, y.value, y.value);
    better = wick_build2(b, WICK_OP_or, better,
                         wick_build2(b, WICK_OP_and, nan_y, wick_build1(b, WICK_OP_not, nan_x)));
    equal = wick_build2(b, WICK_OP_or, equal, wick_build2(b, WICK_OP_and, nan_x, nan_y));
  }
  wick_value tie = wick_build2(b, WICK_OP_and, equal,
                               wick_build2(b, last ? WICK_OP_gt : WICK_OP_lt, y.at, x.at));
  wick_value none = wick_build2(b, WICK_OP_lt, x.at, wick_build_i64(b, 0));
  return wick_build2(b, WICK_OP_or, wick_build2(b, WICK_OP_or, better, tie), none);
}

static void stage_best_yield(wick_builder *b, wick_value take, wick_best x, wick_best y)
{
  wick_value next[2] = {wick_build3(b, WICK_OP_where, take, y.value, x.value),
                        wick_build3(b, WICK_OP_where, take, y.at, x.at)};
  wick_yield(b, 2, next);
}

wick_best wick_stage_best_finish(wick_builder *b, wick_best state, wick_best element,
                                 wick_value inside, bool least, bool last)
{
  if (b->status) return state;
  wick_type s[4] = {wick_built_type(b, state.value), wick_built_type(b, state.at)};
  s[2] = s[0], s[3] = s[1];
  wick_value take = stage_better(b, state, element, least, last);
  if (inside.id) take = wick_build2(b, WICK_OP_and, take, inside);
  stage_best_yield(b, take, state, element);
  uint32_t v = wick_region_begin(b, 4, s).id;
  wick_best x = {{v}, {v + 1}}, y = {{v + 2}, {v + 3}};
  take = stage_better(b, x, y, least, last);
  if (!b->status)
    take =
        wick_build2(b, WICK_OP_and, take, wick_build2(b, WICK_OP_ge, y.at, wick_build_i64(b, 0)));
  stage_best_yield(b, take, x, y);
  v = wick_region_begin(b, 2, s).id;
  return (wick_best){{v}, {v + 1}};
}

/* ---- maps ---- */

uint32_t wick_stage_map(const wick_compute *c, uint32_t k, const char *name, wick_axis *axis)
{
  uint32_t n = wick_axes_of(c->b, c->out_type[k], axis);
  wick_map_begin(c->b, name, n, axis, 1, &c->out_type[k]);
  return n;
}
