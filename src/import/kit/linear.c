/* Triangular factors of matrices, and what they solve. */
#include "import/kit/linear.h"

/* ---- batches ---- */

/* The three sizes, which live as long as the module; zeros after a failure. */
static const wick_dim *linear_dims(const wick_builder *b, wick_value x)
{
  static const wick_dim none[WICK_MAX_RANK];
  return b->status ? none : wick_built_info(b, x)->dim;
}

wick_value wick_linear_batch(wick_builder *b, wick_value x)
{
  if (b->status) return x;
  wick_type_info t = *wick_built_info(b, x);
  wick_dim dim[3] = {wick_dim_const(1), t.dim[t.rank - 2], t.dim[t.rank - 1]};
  for (uint32_t k = 0; k + 2 < t.rank; k++)
    dim[0] = wick_dim_mul(b->module->dims, dim[0], t.dim[k]);
  return wick_build_cast(b, wick_build_reshape(b, x, 3, dim), WICK_F64);
}

wick_value wick_linear_unbatch(wick_builder *b, wick_value y, wick_value x)
{
  if (b->status) return y;
  const wick_type_info t = *wick_built_info(b, x), u = *wick_built_info(b, y);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t lead = t.rank - 2u, rank = lead + u.rank - 1u;
  for (uint32_t k = 0; k < rank; k++) dim[k] = k < lead ? t.dim[k] : u.dim[k - lead + 1];
  y = wick_build_reshape(b, y, rank, dim);
  return u.elem == WICK_F64 ? wick_build_cast(b, y, t.elem) : y;
}

static wick_value linear_size(wick_builder *b, wick_dim n)
{
  return wick_build1(b, WICK_OP_size, wick_emit_count(b, n));
}

/* The numbers of rows [rows, 1], and of columns [1, columns]. */
static wick_value linear_rows(wick_builder *b, wick_value x)
{
  return wick_emit_count_along(b, linear_dims(b, x)[1], 0, 2);
}

static wick_value linear_columns(wick_builder *b, wick_value x)
{
  return wick_emit_count_along(b, linear_dims(b, x)[2], 1, 2);
}

/* x where the condition holds, zeros elsewhere. */
static wick_value linear_where(wick_builder *b, wick_value condition, wick_value x)
{
  return wick_build3(b, WICK_OP_where, condition, x, wick_emit_number(b, x, 0));
}

wick_value wick_linear_identity(wick_builder *b, wick_value x)
{
  wick_value row = linear_rows(b, x), column = linear_columns(b, x);
  wick_value one = wick_build_cast(b, wick_build2(b, WICK_OP_eq, row, column), WICK_F64);
  return wick_emit_expand(b, wick_emit_unsqueeze(b, one, 0), 3, linear_dims(b, x));
}

wick_value wick_linear_triangle(wick_builder *b, wick_value x, bool lower)
{
  wick_value row = linear_rows(b, x), column = linear_columns(b, x);
  return linear_where(b, wick_build2(b, lower ? WICK_OP_le : WICK_OP_ge, column, row), x);
}

wick_value wick_linear_diagonal(wick_builder *b, wick_value x)
{
  if (b->status) return x;
  const wick_dim *dim = linear_dims(b, x);
  wick_dim least = wick_dim_min(b->module->dims, dim[1], dim[2]);
  const wick_dim column[] = {dim[0], least, wick_dim_const(1)};
  x = wick_emit_slice(b, x, 1, wick_dim_const(0), least);
  wick_value own = wick_emit_expand(b, wick_emit_count_along(b, least, 1, 3), 3, column);
  return wick_emit_squeeze(b, wick_emit_gather(b, WICK_OP_gather_elements, x, own, 2), 2);
}

/* A row or a column of each matrix [batch, n]; with the axis, of size 1. */
static wick_value linear_at(wick_builder *b, wick_value x, wick_value index, uint32_t axis)
{
  return wick_emit_gather(b, WICK_OP_gather, x, index, axis);
}

static wick_value linear_at_kept(wick_builder *b, wick_value x, wick_value index, uint32_t axis)
{
  return wick_emit_unsqueeze(b, linear_at(b, x, index, axis), axis);
}

/* x - column row: column [batch, m, 1], row [batch, 1, n]. */
static wick_value linear_less(wick_builder *b, wick_value x, wick_value column, wick_value row)
{
  return wick_build2(b, WICK_OP_sub, x, wick_build2(b, WICK_OP_mul, column, row));
}

/* ---- elimination ---- */

/* The order [batch, n] of rows that exchanges the row `step` with the one, from there on, that has the
 * largest element in column `step`. */
static wick_value linear_pivot(wick_builder *b, wick_value a, wick_value step)
{
  wick_value row = wick_emit_count_along(b, linear_dims(b, a)[1], 1, 2);
  wick_value column = wick_build1(b, WICK_OP_abs, linear_at(b, a, step, 2));
  wick_value left = wick_build2(b, WICK_OP_ge, row, step);
  wick_value none = wick_emit_number(b, column, -1);
  column = wick_build3(b, WICK_OP_where, left, column, none);
  wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "keepdims", 1);
  wick_value best = wick_emit_end1(&e, column); /* [batch, 1] */
  wick_value here = wick_build2(b, WICK_OP_eq, row, step);
  wick_value there = wick_build2(b, WICK_OP_eq, row, best);
  wick_value from = wick_build3(b, WICK_OP_where, there, step, row);
  return wick_build3(b, WICK_OP_where, here, best, from);
}

/* The rows of x in that order. */
static wick_value linear_ordered(wick_builder *b, wick_value x, wick_value order)
{
  wick_value from = wick_emit_unsqueeze(b, order, 2);
  from = wick_emit_expand(b, from, 3, linear_dims(b, x));
  return wick_emit_gather(b, WICK_OP_gather_elements, x, from, 1);
}

wick_value wick_linear_solve(wick_builder *b, wick_value a, wick_value y)
{
  const wick_dim n = linear_dims(b, a)[2], k = linear_dims(b, y)[2];
  wick_value both = wick_build_concat(b, 2, 2, (wick_value[]){a, y});
  wick_value rows = linear_rows(b, a), count = linear_size(b, n);
  wick_value step = wick_emit_loop_begin(b, count, 1, &both, 0, n);
  wick_value x = {step.id + 1};
  x = linear_ordered(b, x, linear_pivot(b, x, step));
  wick_value column = linear_at_kept(b, x, step, 2), row = linear_at_kept(b, x, step, 1);
  row = wick_build2(b, WICK_OP_div, row, linear_at_kept(b, column, step, 1));
  wick_value rest = linear_less(b, x, column, row);
  wick_value here = wick_build2(b, WICK_OP_eq, rows, step);
  wick_value next = wick_build3(b, WICK_OP_where, here, row, rest);
  both = wick_emit_loop_end(b, 1, &next);
  return wick_emit_slice(b, both, 2, n, k);
}

wick_value wick_linear_lu(wick_builder *b, wick_value a, wick_value *order)
{
  const wick_dim *dim = linear_dims(b, a);
  wick_value rows = linear_rows(b, a), columns = linear_columns(b, a);
  wick_value start = wick_emit_expand(b, columns, 2, dim), count = linear_size(b, dim[1]);
  const wick_value first[] = {a, start};
  wick_value step = wick_emit_loop_begin(b, count, 2, first, 0, dim[1]);
  wick_value x = {step.id + 1}, next[2];
  wick_value from = linear_pivot(b, x, step);
  x = linear_ordered(b, x, from);
  next[1] = wick_emit_gather(b, WICK_OP_gather_elements, (wick_value){step.id + 2}, from, 1);
  wick_value below = wick_build2(b, WICK_OP_gt, rows, step);
  wick_value row = linear_at_kept(b, x, step, 1), column = linear_at_kept(b, x, step, 2);
  row = linear_where(b, wick_build2(b, WICK_OP_ge, columns, step), row); /* the others are l's */
  wick_value factor = wick_build2(b, WICK_OP_div, column, linear_at_kept(b, column, step, 1));
  factor = linear_where(b, below, factor);
  wick_value here = wick_build2(b, WICK_OP_eq, columns, step);
  here = wick_build2(b, WICK_OP_and, here, below);
  wick_value rest = linear_less(b, x, factor, row);
  next[0] = wick_build3(b, WICK_OP_where, here, factor, rest);
  wick_value lu = wick_emit_loop_end(b, 2, next);
  *order = (wick_value){lu.id + 1};
  return lu;
}

wick_value wick_linear_log_det(wick_builder *b, wick_value a, wick_value *log)
{
  wick_value order, lu = wick_linear_lu(b, a, &order);
  wick_value d = wick_linear_diagonal(b, lu);
  wick_value size = wick_build1(b, WICK_OP_log, wick_build1(b, WICK_OP_abs, d));
  *log = wick_emit_reduce1(b, WICK_OP_reduce_sum, size, 1, false);
  /* The order is even if an even number of pairs are in the wrong order. */
  wick_value first = wick_emit_unsqueeze(b, order, 2), second = wick_emit_unsqueeze(b, order, 1);
  wick_value rows = linear_rows(b, a), columns = linear_columns(b, a);
  wick_value wrong = wick_build2(b, WICK_OP_gt, first, second);
  wrong = wick_build2(b, WICK_OP_and, wrong, wick_build2(b, WICK_OP_lt, rows, columns));
  wick_value sign = wick_build_cast(b, wrong, WICK_F64);
  sign = wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, sign, -2), 1);
  sign = wick_emit_reduce(b, WICK_OP_reduce_prod, sign, 2, (const int64_t[]){1, 2}, false);
  wick_value signs = wick_build1(b, WICK_OP_sign, d);
  signs = wick_emit_reduce1(b, WICK_OP_reduce_prod, signs, 1, false);
  return wick_build2(b, WICK_OP_mul, sign, signs);
}

/* ---- triangles ---- */

/* x with its last rows first, and also its last columns if `both`. */
static wick_value linear_flipped(wick_builder *b, wick_value x, bool both)
{
  for (uint32_t axis = 1; axis < (both ? 3u : 2u); axis++) {
    wick_dim n = linear_dims(b, x)[axis];
    wick_dim last = wick_dim_sub(b->module->dims, n, wick_dim_const(1));
    x = wick_build_slice_axis(b, x, axis, last, n, -1);
  }
  return x;
}

wick_value wick_linear_solve_triangle(wick_builder *b, wick_value a, wick_value y, bool lower)
{
  if (!lower) a = linear_flipped(b, a, true), y = linear_flipped(b, y, false);
  const wick_dim n = linear_dims(b, a)[1];
  wick_value count = linear_size(b, n), next[2];
  wick_value step = wick_emit_loop_begin(b, count, 1, &y, 1, n);
  wick_value rest = {step.id + 1}, column = linear_at_kept(b, a, step, 2);
  wick_value pivot = linear_at(b, column, step, 1);
  next[1] = wick_build2(b, WICK_OP_div, linear_at(b, rest, step, 1), pivot);
  next[0] = linear_less(b, rest, column, wick_emit_unsqueeze(b, next[1], 1));
  wick_value x = {wick_emit_loop_end(b, 2, next).id + 1};
  x = wick_build_transpose(b, x, 3, (const int64_t[]){1, 0, 2});
  return lower ? x : linear_flipped(b, x, false);
}

wick_value wick_linear_cholesky(wick_builder *b, wick_value a)
{
  const wick_dim n = linear_dims(b, a)[1];
  wick_value row = wick_emit_count_along(b, n, 1, 2), count = linear_size(b, n), next[2];
  wick_value step = wick_emit_loop_begin(b, count, 1, &a, 1, n);
  wick_value rest = {step.id + 1}, column = linear_at(b, rest, step, 2);
  wick_value pivot = wick_build1(b, WICK_OP_sqrt, linear_at_kept(b, column, step, 1));
  wick_value from = wick_build2(b, WICK_OP_ge, row, step);
  next[1] = linear_where(b, from, wick_build2(b, WICK_OP_div, column, pivot));
  wick_value down = wick_emit_unsqueeze(b, next[1], 2), across = wick_emit_unsqueeze(b, next[1], 1);
  next[0] = linear_less(b, rest, down, across);
  wick_value columns = {wick_emit_loop_end(b, 2, next).id + 1}; /* [n, batch, n] */
  return wick_build_transpose(b, columns, 3, (const int64_t[]){1, 2, 0});
}

/* ---- Householder's reflections ---- */

/* The reflection 1 - scale v v' that makes column `step` of x zero below the diagonal. Returns v
 * [batch, m], and scale v. Where the column is zero there already, the scale is 0. */
static wick_value linear_reflection(wick_builder *b, wick_value x, wick_value step,
                                    wick_value *scaled)
{
  wick_value row = wick_emit_count_along(b, linear_dims(b, x)[1], 1, 2);
  wick_value column = linear_at(b, x, step, 2), first = linear_at_kept(b, column, step, 1);
  wick_value below = wick_build2(b, WICK_OP_gt, row, step);
  wick_value tail = linear_where(b, below, column);
  wick_value rest = wick_emit_reduce1(b, WICK_OP_reduce_sum_square, tail, 1, true);
  wick_value square = wick_build2(b, WICK_OP_mul, first, first);
  wick_value size = wick_build1(b, WICK_OP_sqrt, wick_build2(b, WICK_OP_add, square, rest));
  wick_value negative = wick_build1(b, WICK_OP_neg, size);
  wick_value is_up = wick_emit_by(b, WICK_OP_ge, first, 0);
  wick_value to = wick_build3(b, WICK_OP_where, is_up, negative, size);
  wick_value nothing = wick_emit_by(b, WICK_OP_le, rest, 2.2250738585072014e-308);
  wick_value one = wick_emit_number(b, rest, 1);
  wick_value by = wick_build2(b, WICK_OP_sub, first, to);
  by = wick_build3(b, WICK_OP_where, nothing, one, by);
  to = wick_build3(b, WICK_OP_where, nothing, one, to);
  wick_value scale = wick_build2(b, WICK_OP_div, wick_build1(b, WICK_OP_neg, by), to);
  scale = wick_build3(b, WICK_OP_where, nothing, wick_emit_number(b, rest, 0), scale);
  wick_value here = wick_build2(b, WICK_OP_eq, row, step);
  wick_value v = wick_build2(b, WICK_OP_div, tail, by);
  v = wick_build3(b, WICK_OP_where, here, one, v);
  *scaled = wick_build2(b, WICK_OP_mul, v, scale);
  return v;
}

wick_value wick_linear_qr(wick_builder *b, wick_value a, wick_value *r)
{
  const wick_dim *dim = linear_dims(b, a), square[] = {dim[0], dim[1], dim[1]};
  wick_value row = linear_rows(b, a), column = wick_emit_count_along(b, dim[1], 1, 2);
  wick_value one = wick_build_cast(b, wick_build2(b, WICK_OP_eq, row, column), WICK_F64);
  one = wick_emit_expand(b, wick_emit_unsqueeze(b, one, 0), 3, square);
  wick_value count = linear_size(b, wick_dim_min(b->module->dims, dim[1], dim[2]));
  const wick_value first[] = {one, a};
  wick_value step = wick_emit_loop_begin(b, count, 2, first, 0, dim[1]), next[2];
  wick_value q = {step.id + 1}, x = {step.id + 2}, scaled;
  wick_value v = linear_reflection(b, x, step, &scaled);
  wick_value down = wick_emit_unsqueeze(b, v, 2), across = wick_emit_unsqueeze(b, v, 1);
  wick_value scaled_down = wick_emit_unsqueeze(b, scaled, 2);
  wick_value scaled_across = wick_emit_unsqueeze(b, scaled, 1);
  next[0] = linear_less(b, q, wick_build2(b, WICK_OP_matmul, q, down), scaled_across);
  next[1] = linear_less(b, x, scaled_down, wick_build2(b, WICK_OP_matmul, across, x));
  wick_value out = wick_emit_loop_end(b, 2, next);
  *r = wick_linear_triangle(b, (wick_value){out.id + 1}, false);
  return out;
}
