/* MXNet's NumPy interface (mx.np and mx.npx): scalars, booleans, and operands of several types. Operators that it shares with mx.nd are
 * in the table of those. */
#include <string.h>

#include "import/kit/array.h"
#include "import/mxnet/ops.h"

/* ---- elements ---- */

/* x in the type of the other operand, if that is the wider kind: bool, integer, float. */
static wick_value numpy_as(wick_import_node *n, wick_value x, wick_elem other)
{
  wick_elem e = wick_built_info(n->b, x)->elem;
  bool wider = wick_elem_is_float(other) ? !wick_elem_is_float(e)
               : other != WICK_BOOL      ? e == WICK_BOOL
                                         : false;
  return wider ? wick_build_cast(n->b, x, other) : x;
}

static bool numpy_is_logic(wick_opcode op)
{
  return op == WICK_OP_and || op == WICK_OP_or || op == WICK_OP_xor || op == WICK_OP_not;
}

static wick_value numpy_apply(wick_import_node *n, wick_value x, wick_value y)
{
  if (n->b->status) return x;
  wick_elem e = wick_built_info(n->b, x)->elem, other = wick_built_info(n->b, y)->elem;
  x = numpy_as(n, x, other), y = numpy_as(n, y, e);
  if (n->b->status) return x;
  e = wick_built_info(n->b, x)->elem;
  bool divides = n->row->op == WICK_OP_div;
  wick_elem as = numpy_is_logic(n->row->op)                    ? WICK_BOOL
                 : divides && !wick_elem_is_float(e)           ? WICK_F32
                 : e == WICK_BOOL && n->row->op == WICK_OP_add ? WICK_BOOL
                                                               : e;
  if (as != e) x = wick_build_cast(n->b, x, as), y = wick_build_cast(n->b, y, as);
  wick_opcode op = as == WICK_BOOL && n->row->op == WICK_OP_add   ? WICK_OP_or
                   : as == WICK_BOOL && n->row->op == WICK_OP_mul ? WICK_OP_and
                                                                  : n->row->op;
  return wick_build2(n->b, op, x, y);
}

void wick_mxnet_numpy_binary(wick_import_node *n)
{
  n->out[0] = numpy_apply(n, n->in[0], n->in[1]);
}

/* The scalar is an integer or a float beside operands that are not. */
void wick_mxnet_numpy_scalar(wick_import_node *n)
{
  wick_value x = n->in[0];
  wick_elem e = wick_mxnet_type_of(n, 0);
  bool whole = wick_import_int(n, "is_int", 1) != 0;
  if (!wick_elem_is_float(e) && !whole) x = wick_build_cast(n->b, x, WICK_F32);
  if (e == WICK_BOOL && whole) x = wick_build_cast(n->b, x, WICK_I64);
  wick_value by = wick_emit_number(n->b, x, wick_import_real(n, "scalar", 1));
  n->out[0] = n->row->arg ? numpy_apply(n, by, x) : numpy_apply(n, x, by);
}

/* Functions of reals; integers become floats. arg: 1 for those that integers have, too */
void wick_mxnet_numpy_unary(wick_import_node *n)
{
  wick_value x = n->in[0];
  if (!wick_elem_is_float(wick_mxnet_type_of(n, 0)) && !n->row->arg)
    x = wick_build_cast(n->b, x, n->row->op == WICK_OP_not ? WICK_BOOL : WICK_F32);
  if (n->row->op == WICK_OP_not) x = wick_build_cast(n->b, x, WICK_BOOL);
  n->out[0] = wick_build1(n->b, n->row->op, x);
}

/* where(condition, x, y); arg: a bit for each that is a scalar */
void wick_mxnet_numpy_where(wick_import_node *n)
{
  static const char *const name[] = {"scalar", "x", "y"};
  wick_value v[2], is = wick_build_cast(n->b, n->in[0], WICK_BOOL);
  uint32_t at = 1;
  for (int k = 0; k < 2; k++) v[k] = n->row->arg & (1 << k) ? (wick_value){0} : n->in[at++];
  for (int k = 0; k < 2; k++) {
    if (v[k].id) continue;
    double s = wick_import_real(n, name[n->row->arg == 3 ? 1 + k : 0], 0);
    wick_type f32 = wick_type_tensor(n->c->module, WICK_F32, 0, NULL);
    v[k] = v[1 - k].id ? wick_emit_number(n->b, v[1 - k], s) : wick_build_const(n->b, f32, s, 0);
  }
  if (n->b->status) return;
  wick_elem e = wick_built_info(n->b, v[0])->elem, other = wick_built_info(n->b, v[1])->elem;
  v[0] = numpy_as(n, v[0], other), v[1] = numpy_as(n, v[1], e);
  n->out[0] = wick_build3(n->b, WICK_OP_where, is, v[0], v[1]);
}

void wick_mxnet_numpy_around(wick_import_node *n)
{
  int64_t decimals = wick_import_int(n, "decimals", 0);
  double by = 1;
  for (int64_t k = decimals; k && by < 1e18; k += k < 0 ? 1 : -1) by *= 10;
  wick_opcode before = decimals < 0 ? WICK_OP_div : WICK_OP_mul,
              after = decimals < 0 ? WICK_OP_mul : WICK_OP_div;
  wick_value x = by > 1 ? wick_emit_by(n->b, before, n->in[0], by) : n->in[0];
  x = wick_build1(n->b, WICK_OP_round_even, x);
  n->out[0] = by > 1 ? wick_emit_by(n->b, after, x, by) : x;
}

/* ---- reductions: results may be scalars ---- */

static bool numpy_axes(wick_import_node *n, uint32_t *out_n, int64_t *out)
{
  uint32_t rank = wick_import_info(n, 0)->rank, axis;
  wick_import_attr given = wick_import_ints(n, "axis");
  bool at[WICK_MAX_RANK] = {false}, all = !wick_import_attr_has(n, "axis");
  for (uint32_t k = 0; k < given.n; k++) {
    if (!wick_import_axis(n, given.ints[k], rank, &axis)) return false;
    at[axis] = true;
  }
  *out_n = 0;
  for (uint32_t k = 0; k < rank; k++)
    if (all || at[k]) out[(*out_n)++] = k;
  return true;
}

/* arg: 1 of floats, 2 of truth */
void wick_mxnet_numpy_reduce(wick_import_node *n)
{
  uint32_t count;
  int64_t axes[WICK_MAX_RANK];
  wick_elem e = wick_mxnet_type_of(n, 0), to = e;
  if (!numpy_axes(n, &count, axes)) return;
  if (n->row->arg == 1 && !wick_elem_is_float(e)) to = WICK_F32;
  if (n->row->arg == 0 && e == WICK_BOOL) to = WICK_I64;
  if (n->row->arg == 2) to = WICK_I32;
  if (n->row->arg < 2 && !wick_mxnet_dtype(n, to, &to)) return;
  if (wick_import_attr_has(n, "initial")) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "initial is not supported");
    return;
  }
  wick_value x = n->in[0];
  if (n->row->arg == 2) x = wick_build_cast(n->b, x, WICK_BOOL);
  x = wick_build_cast(n->b, x, to);
  bool keep = wick_import_int(n, "keepdims", 0) != 0;
  x = count ? wick_emit_reduce(n->b, n->row->op, x, count, axes, keep) : x;
  n->out[0] = n->row->arg == 2 ? wick_build_cast(n->b, x, WICK_BOOL) : x;
}

/* arg 1: the root */
void wick_mxnet_numpy_variance(wick_import_node *n)
{
  uint32_t count;
  int64_t axes[WICK_MAX_RANK];
  wick_builder *b = n->b;
  if (!numpy_axes(n, &count, axes) || !count) return;
  wick_value x = n->in[0], size, y;
  if (!wick_elem_is_float(wick_mxnet_type_of(n, 0))) x = wick_build_cast(b, x, WICK_F32);
  wick_value mean = wick_emit_reduce(b, WICK_OP_reduce_mean, x, count, axes, true);
  y = wick_build2(b, WICK_OP_sub, x, mean);
  y = wick_build2(b, WICK_OP_mul, y, y);
  y = wick_emit_reduce(b, WICK_OP_reduce_sum, y, count, axes,
                       wick_import_int(n, "keepdims", 0) != 0);
  wick_dim numel = wick_dim_const(1);
  for (uint32_t k = 0; k < count; k++)
    numel = wick_dim_mul(n->c->module->dims, numel, wick_import_info(n, 0)->dim[axes[k]]);
  if (b->status) return;
  size = wick_build1(b, WICK_OP_size, wick_emit_count(b, numel));
  size = wick_build_cast(b, size, wick_built_info(b, x)->elem);
  size = wick_emit_by(b, WICK_OP_sub, size, (double)wick_import_int(n, "ddof", 0));
  y = wick_build2(b, WICK_OP_div, y, size);
  n->out[0] = n->row->arg ? wick_build1(b, WICK_OP_sqrt, y) : y;
}

void wick_mxnet_numpy_arg(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_dim all = wick_array_product(n, t->rank, t->dim);
  bool flat = !wick_import_attr_has(n, "axis");
  wick_value x = flat ? wick_build_reshape(n->b, n->in[0], 1, &all) : n->in[0];
  uint32_t axis = 0;
  if (!flat && !wick_mxnet_axis(n, "axis", 0, t->rank, &axis)) return;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "keepdims", wick_import_int(n, "keepdims", 0) != 0);
  n->out[0] = wick_build_cast(n->b, wick_emit_end1(&e, x), WICK_I64);
}

/* ---- products ---- */

void wick_mxnet_numpy_matmul(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, WICK_OP_matmul, n->in[0], n->in[1]);
}

/* The last axis of x with the last but one of y, or its only one; scalars multiply. */
void wick_mxnet_numpy_dot(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank, other = wick_import_info(n, 1)->rank;
  if (!rank || !other)
    n->out[0] = wick_build2(n->b, WICK_OP_mul, n->in[0], n->in[1]);
  else if (other <= 2)
    n->out[0] = wick_build2(n->b, WICK_OP_matmul, n->in[0], n->in[1]);
  else
    wick_import_fail(n, WICK_EUNSUPPORTED, "products with an operand of rank %u", other);
}

void wick_mxnet_numpy_einsum(wick_import_node *n)
{
  const char *equation = wick_import_text(n, "subscripts", "");
  if (n->nin != 2)
    wick_import_fail(n, WICK_EUNSUPPORTED, "it has %u operands, expected 2", n->nin);
  else
    n->out[0] = wick_array_einsum(n, equation, n->in[0], n->in[1]);
}

/* ---- shapes ---- */

static wick_value numpy_flat(wick_import_node *n, wick_value x)
{
  const wick_type_info *t = wick_built_info(n->b, x);
  wick_dim all = wick_array_product(n, t->rank, t->dim);
  return wick_build_reshape(n->b, x, 1, &all);
}

/* arg: 0 along `axis`, all in one dimension without it; 1 stack; 2 and more: vstack, hstack, dstack */
void wick_mxnet_numpy_concat(wick_import_node *n)
{
  enum { CONCAT, STACK, VSTACK, HSTACK, DSTACK };
  wick_value *part = wick_new(n->c->tmp, wick_value, n->nin + 1u);
  uint32_t rank = wick_import_info(n, 0)->rank, axis = 0;
  int how = n->row->arg;
  bool flat = how == CONCAT && !wick_import_attr_has(n, "axis");
  if (how <= STACK && !flat && !wick_mxnet_axis(n, "axis", 0, rank + (how == STACK), &axis)) return;
  if (how == HSTACK) axis = rank > 1;
  if (how == DSTACK) axis = 2;
  uint32_t least = how == VSTACK ? 2 : how == HSTACK ? 1 : how == DSTACK ? 3 : 0;
  for (uint32_t i = 0; i < n->nin && !n->b->status; i++) {
    part[i] = n->in[i];
    if (flat) part[i] = numpy_flat(n, part[i]);
    if (how == STACK) part[i] = wick_emit_unsqueeze(n->b, part[i], axis);
    for (uint32_t k = wick_import_info(n, i)->rank; k < least && !n->b->status; k++)
      part[i] = wick_emit_unsqueeze(n->b, part[i], k < 2 ? 0 : k);
  }
  n->out[0] = wick_build_concat(n->b, axis, n->nin, part);
}

/* Into `sections` equal parts, or at `indices`, of which the first is 0. */
void wick_mxnet_numpy_split(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_dims *d = n->c->module->dims;
  wick_import_attr at = wick_import_ints(n, "indices");
  int64_t sections = wick_import_int(n, "sections", 0);
  uint32_t axis, count = sections > 0 ? (uint32_t)sections : at.n;
  if (!wick_mxnet_axis(n, "axis", 1, t->rank, &axis)) return;
  if (!count || sections > n->nout || count > n->nout) {
    wick_import_fail(n, WICK_ERANGE, "it has %u parts, the most is %u", count, n->nout);
    return;
  }
  wick_dim size = t->dim[axis], each = wick_dim_floordiv(d, size, wick_dim_const(count));
  for (uint32_t k = 0; k < count; k++) {
    wick_dim from = sections > 0 ? wick_dim_mul(d, each, wick_dim_const(k))
                                 : wick_dim_min(d, wick_dim_const(at.ints[k]), size);
    wick_dim to = k + 1 == count ? size
                  : sections > 0 ? wick_dim_add(d, from, each)
                                 : wick_dim_min(d, wick_dim_const(at.ints[k + 1]), size);
    wick_value y = wick_emit_slice(n->b, n->in[0], axis, from, wick_dim_sub(d, to, from));
    n->out[k] = wick_import_int(n, "squeeze_axis", 0) ? wick_emit_squeeze(n->b, y, axis) : y;
  }
}

void wick_mxnet_numpy_flip(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank, axis, axes = 0;
  wick_import_attr given = wick_import_ints(n, "axis");
  for (uint32_t k = 0; k < given.n; k++) {
    if (!wick_import_axis(n, given.ints[k], rank, &axis)) return;
    axes |= 1u << axis;
  }
  n->out[0] = wick_array_reverse(n, n->in[0], given.n ? axes : (1u << rank) - 1);
}

void wick_mxnet_numpy_move_axis(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank, from, to, k = 0;
  wick_import_attr source = wick_import_ints(n, "source"),
                   target = wick_import_ints(n, "destination");
  int64_t perm[WICK_MAX_RANK];
  if (source.n != 1 || target.n != 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "it moves %u axes, expected 1", source.n);
    return;
  }
  if (!wick_import_axis(n, source.ints[0], rank, &from) ||
      !wick_import_axis(n, target.ints[0], rank, &to))
    return;
  for (uint32_t i = 0; i < rank; i++) {
    if (k == from) k++;
    perm[i] = i == to ? from : k++;
  }
  n->out[0] = wick_build_transpose(n->b, n->in[0], rank, perm);
}

/* By NumPy's rules: dimensions are added in front; -2 keeps one. */
void wick_mxnet_numpy_broadcast_to(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr shape = wick_import_ints(n, "shape");
  wick_dim dim[WICK_MAX_RANK];
  if (shape.n < t->rank || shape.n > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "shape has %u numbers for rank %u", shape.n, t->rank);
    return;
  }
  uint32_t more = shape.n - t->rank;
  for (uint32_t k = 0; k < shape.n; k++)
    dim[k] = shape.ints[k] >= 0 || k < more ? wick_dim_const(shape.ints[k]) : t->dim[k - more];
  n->out[0] = wick_emit_expand(n->b, n->in[0], shape.n, dim);
}

/* Elements move by `shift` along the axes, or through all of them in order. */
void wick_mxnet_numpy_roll(wick_import_node *n)
{
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dims *d = n->c->module->dims;
  wick_import_attr shift = wick_import_ints(n, "shift"), axes = wick_import_ints(n, "axis");
  wick_value x = axes.n ? n->in[0] : numpy_flat(n, n->in[0]);
  if (!shift.n || (shift.n != axes.n && shift.n != 1)) {
    wick_import_fail(n, WICK_EPARSE, "shift and axis differ in length");
    return;
  }
  for (uint32_t k = 0; k < (axes.n ? axes.n : 1) && !n->b->status; k++) {
    uint32_t axis = 0;
    if (axes.n && !wick_import_axis(n, axes.ints[k], t.rank, &axis)) return;
    wick_dim size = wick_built_info(n->b, x)->dim[axis];
    wick_dim by = wick_dim_const(shift.ints[shift.n > 1 ? k : 0]);
    wick_dim low = wick_dim_mod(d, by, size), rest = wick_dim_sub(d, size, low);
    wick_value part[2];
    part[0] = wick_emit_slice(n->b, x, axis, rest, low);
    part[1] = wick_emit_slice(n->b, x, axis, wick_dim_const(0), rest);
    x = wick_build_concat(n->b, axis, 2, part);
  }
  n->out[0] = axes.n ? x : wick_build_reshape(n->b, x, t.rank, t.dim);
}

/* arg 1: the part above and on a diagonal, else below and on it */
void wick_mxnet_numpy_triangle(wick_import_node *n)
{
  const wick_type_info t = *wick_import_info(n, 0);
  wick_builder *b = n->b;
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  wick_value row = wick_emit_count_along(b, t.dim[t.rank - 2], 0, 2);
  wick_value column = wick_emit_count_along(b, t.dim[t.rank - 1], 1, 2);
  row = wick_emit_by(b, WICK_OP_add, row, (double)wick_import_int(n, "k", 0));
  wick_value in = wick_build2(b, n->row->arg ? WICK_OP_ge : WICK_OP_le, column, row);
  n->out[0] = wick_build3(b, WICK_OP_where, in, n->in[0], wick_emit_number(b, n->in[0], 0));
}

void wick_mxnet_numpy_pad(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr width = wick_import_ints(n, "pad_width");
  const char *mode = wick_import_text(n, "mode", "constant");
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  if (width.n != 2 * t->rank) {
    wick_import_fail(n, WICK_ETYPE, "pad_width has %u numbers for rank %u", width.n, t->rank);
    return;
  }
  for (uint32_t k = 0; k < t->rank; k++) {
    before[k] = wick_dim_const(width.ints[2 * k]), after[k] = wick_dim_const(width.ints[2 * k + 1]);
    if (width.ints[2 * k] < 0 || width.ints[2 * k + 1] < 0)
      wick_import_fail(n, WICK_ERANGE, "pad_width has a negative number");
  }
  if (n->failed) return;
  bool symmetric = strcmp(mode, "symmetric") == 0;
  wick_value fill = wick_emit_number(n->b, n->in[0], wick_import_real(n, "constant_value", 0));
  if (strcmp(mode, "constant") == 0)
    n->out[0] = wick_array_pad(n, n->in[0], before, after, fill);
  else if (symmetric || strcmp(mode, "reflect") == 0)
    n->out[0] = wick_array_mirror_pad(n, n->in[0], before, after, symmetric);
  else
    wick_import_fail(n, WICK_EUNSUPPORTED, "the mode %s is not supported",
                     wick_import_shown(n->c, mode));
}
