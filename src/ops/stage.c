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

wick_elem wick_stage_position(const wick_builder *b, wick_dim extent, wick_elem e)
{
  enum { WORD = 32 };
  int64_t lo, hi;
  wick_dim_range(b->module->dims, extent, &lo, &hi);
  return hi <= INT32_MAX && wick_elem_storage[e].bits <= WORD ? WICK_I32 : WICK_I64;
}

static wick_value stage_place(wick_builder *b, const wick_best_rule *rule, int64_t at)
{
  return wick_build_const(b, wick_type_scalar(b->module, rule->at, 1), 0, at);
}

wick_best wick_stage_best(wick_builder *b, const wick_best_rule *rule, const char *name, uint32_t n,
                          const wick_axis *axis, uint32_t nout, const wick_type *out, wick_elem e)
{
  wick_type s[2] = {wick_type_scalar(b->module, e, 1), wick_type_scalar(b->module, rule->at, 1)};
  wick_fold_open(b, name, n, axis, nout, out);
  wick_region_begin(b, 0, NULL);
  wick_value init[2] = {wick_build_neutral(b, rule->least ? WICK_OP_min : WICK_OP_max, s[0]), {0}};
  init[1] = stage_place(b, rule, rule->ordered ? 0 : -1);
  wick_yield(b, 2, init);
  wick_value first = wick_region_begin(b, 2, s);
  return (wick_best){first, {first.id + 1}};
}

/* Builds the condition that y, which is later than x, is better. No element is better than the
 * initial state if all are equal to it: then the first one is the best, which is the initial
 * position. */
static wick_value stage_better_later(wick_builder *b, const wick_best_rule *rule, wick_best x,
                                     wick_best y)
{
  if (b->status) return x.value;
  bool real = wick_elem_is_float(wick_built_info(b, x.value)->elem);
  if (rule->last) {
    wick_value take = wick_build2(b, rule->least ? WICK_OP_le : WICK_OP_ge, y.value, x.value);
    if (!real) return take;
    return wick_build2(b, WICK_OP_or, take, wick_build2(b, WICK_OP_ne, y.value, y.value));
  }
  if (!real) return wick_build2(b, rule->least ? WICK_OP_lt : WICK_OP_gt, y.value, x.value);
  wick_value stays = wick_build2(b, rule->least ? WICK_OP_ge : WICK_OP_le, y.value, x.value),
             number = wick_build2(b, WICK_OP_eq, x.value, x.value);
  return wick_build2(b, WICK_OP_and, wick_build1(b, WICK_OP_not, stays), number);
}

/* Builds the condition that y is better than x, in any order. */
static wick_value stage_better(wick_builder *b, const wick_best_rule *rule, wick_best x,
                               wick_best y)
{
  if (b->status) return x.value;
  wick_value better = wick_build2(b, rule->least ? WICK_OP_lt : WICK_OP_gt, y.value, x.value),
             equal = wick_build2(b, WICK_OP_eq, y.value, x.value);
  if (wick_elem_is_float(wick_built_info(b, x.value)->elem)) {
    wick_value nan_x = wick_build2(b, WICK_OP_ne, x.value, x.value),
               nan_y = wick_build2(b, WICK_OP_ne, y.value, y.value),
               not_x = wick_build1(b, WICK_OP_not, nan_x);
    better = wick_build2(b, WICK_OP_or, better, wick_build2(b, WICK_OP_and, nan_y, not_x));
    equal = wick_build2(b, WICK_OP_or, equal, wick_build2(b, WICK_OP_and, nan_x, nan_y));
  }
  wick_value before = wick_build2(b, rule->last ? WICK_OP_gt : WICK_OP_lt, y.at, x.at),
             tie = wick_build2(b, WICK_OP_and, equal, before);
  better = wick_build2(b, WICK_OP_or, better, tie);
  if (rule->ordered) return better;
  return wick_build2(b, WICK_OP_or, better,
                     wick_build2(b, WICK_OP_lt, x.at, stage_place(b, rule, 0)));
}

static void stage_best_yield(wick_builder *b, wick_value take, wick_best x, wick_best y)
{
  wick_value value = wick_build3(b, WICK_OP_where, take, y.value, x.value),
             at = wick_build3(b, WICK_OP_where, take, y.at, x.at);
  wick_yield(b, 2, (wick_value[]){value, at});
}

wick_best wick_stage_best_finish(wick_builder *b, const wick_best_rule *rule, wick_best state,
                                 wick_best element, wick_value inside)
{
  if (b->status) return state;
  wick_type s[4] = {wick_built_type(b, state.value), wick_built_type(b, state.at)};
  s[2] = s[0], s[3] = s[1];
  wick_value take = rule->ordered ? stage_better_later(b, rule, state, element)
                                  : stage_better(b, rule, state, element);
  if (inside.id) take = wick_build2(b, WICK_OP_and, take, inside);
  stage_best_yield(b, take, state, element);
  uint32_t v = wick_region_begin(b, 4, s).id;
  wick_best x = {{v}, {v + 1}}, y = {{v + 2}, {v + 3}};
  take = stage_better(b, rule, x, y);
  if (!b->status && !rule->ordered) {
    wick_value some = wick_build2(b, WICK_OP_ge, y.at, stage_place(b, rule, 0));
    take = wick_build2(b, WICK_OP_and, take, some);
  }
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
