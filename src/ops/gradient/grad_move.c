/* Derivatives of operators that move elements: cotangents move back, and those of repeated elements
 * are added. */
#include "ir/expr.h"
#include "ops/gradient/grad.h"

void wick_grad_reshape_row(wick_adjoint *a)
{
  a->din[0] = wick_grad_shape_of(a->b, a->dout[0], a->in[0]);
}

void wick_grad_transpose_row(wick_adjoint *a)
{
  if (a->b->status) return;
  int64_t back[WICK_MAX_RANK];
  uint32_t rank = wick_built_info(a->b, a->in[0])->rank;
  for (uint32_t k = 0; k < rank; k++)
    back[a->node->attr[WICK_ATTR_transpose_perm].n ? a->node->attr[WICK_ATTR_transpose_perm].ints[k]
                                                   : rank - 1 - k] = k;
  a->din[0] = wick_grad_transpose(a->b, a->dout[0], rank, back);
}

void wick_grad_expand_row(wick_adjoint *a) { a->din[0] = wick_grad_to(a->b, a->dout[0], a->in[0]); }

void wick_grad_tile(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  const wick_type_info *t = wick_built_info(b, a->in[0]);
  wick_dim dim[2 * WICK_MAX_RANK];
  int64_t axis[WICK_MAX_RANK];
  uint32_t n = 0, naxis = 0;
  for (uint32_t k = 0; k < t->rank; k++) {
    wick_dim repeats = a->node->attr[WICK_ATTR_tile_repeats].dims[k];
    if (!wick_dim_is(repeats, 1)) axis[naxis++] = n, dim[n++] = repeats;
    dim[n++] = t->dim[k];
  }
  wick_value g = wick_grad_reshape(b, a->dout[0], n, dim);
  a->din[0] = wick_grad_sum(b, g, naxis, axis, false);
}

/* ---- pad ---- */

enum { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP };

static void move_pad_constant(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_dim back[2 * WICK_MAX_RANK], zero = wick_dim_const(0);
  uint32_t rank = wick_built_info(b, a->in[0])->rank;
  for (uint32_t k = 0; k < 2 * rank; k++)
    back[k] = wick_dim_sub(b->module->dims, zero, a->node->attr[WICK_ATTR_pad_pad].dims[k]);
  wick_value own = wick_grad_pad(b, a->dout[0], back);
  if (a->wanted[0]) a->din[0] = own;
  if (a->node->nin < 2 || !a->wanted[1]) return;
  /* the cotangent of the pad value: the sum of g outside of x */
  wick_value zeros = wick_grad_fill(b, own, 0);
  if (b->status) return;
  wick_value ones = wick_grad_fill(b, zeros, 1),
             inside = wick_grad_pad(b, ones, a->node->attr[WICK_ATTR_pad_pad].dims);
  wick_value outside = expr_eq(b, inside, 0), none = expr_k(b, a->dout[0], 0);
  a->din[1] = wick_grad_to(b, expr_where(b, outside, a->dout[0], none), a->in[1]);
}

/* Returns the element of x that index i of the result reads along an axis, for a pad mode. */
static int64_t move_pad_source(int64_t mode, int64_t i, int64_t n)
{
  if (mode == PAD_EDGE) return wick_max_i64(0, wick_min_i64(i, n - 1));
  if (mode == PAD_WRAP) return wick_floormod_i64(i, n);
  if (n == 1) return 0;
  i = wick_floormod_i64(i, 2 * (n - 1));
  return i < n ? i : 2 * (n - 1) - i;
}

/* Adds g along one axis to the elements that it was read from, in runs of indices that rise, fall,
 * or stay the same. */
static wick_value move_pad_axis(wick_adjoint *a, wick_value g, uint32_t axis, int64_t n)
{
  wick_builder *b = a->b;
  const wick_attr *at = a->node->attr;
  uint32_t rank = wick_built_info(b, a->in[0])->rank;
  int64_t mode = at[WICK_ATTR_pad_mode].i, begin = at[WICK_ATTR_pad_pad].dims[axis].v,
          size = begin + n + at[WICK_ATTR_pad_pad].dims[rank + axis].v;
  wick_value sum = {0};
  for (int64_t i = 0, next; i < size && !b->status; i = next) {
    int64_t first = move_pad_source(mode, i - begin, n), last = first, step = 0;
    for (next = i + 1; next < size; next++) {
      int64_t s = move_pad_source(mode, next - begin, n);
      if (next == i + 1) step = s - first;
      if (s - last != step || step > 1 || step < -1) break;
      last = s;
    }
    bool falls = last < first, stays = step == 0 && next > i + 1;
    wick_value part = wick_grad_slice(b, g, axis, wick_dim_const(falls ? next - 1 : i),
                                      wick_dim_const(next - i), falls ? -1 : 1);
    int64_t summed = axis;
    if (stays) part = wick_grad_sum(b, part, 1, &summed, true);
    wick_dim pad[2 * WICK_MAX_RANK];
    for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
    pad[axis] = wick_dim_const(wick_min_i64(first, last));
    pad[rank + axis] = wick_dim_const(n - 1 - wick_max_i64(first, last));
    part = wick_grad_pad(b, part, pad);
    sum = sum.id ? expr_add(b, sum, part) : part;
  }
  return sum;
}

void wick_grad_pad_row(wick_adjoint *a)
{
  wick_builder *b = a->b;
  int64_t x[WICK_MAX_RANK], y[WICK_MAX_RANK];
  if (b->status) return;
  if (a->node->attr[WICK_ATTR_pad_mode].i == PAD_CONSTANT) {
    move_pad_constant(a);
    return;
  }
  if (!wick_grad_sizes(b, a->in[0], x) || !wick_grad_sizes(b, a->out[0], y)) return;
  uint32_t rank = wick_built_info(b, a->in[0])->rank;
  wick_value g = a->dout[0];
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim begin = a->node->attr[WICK_ATTR_pad_pad].dims[k],
             end = a->node->attr[WICK_ATTR_pad_pad].dims[rank + k];
    if (wick_dim_is(begin, 0) && wick_dim_is(end, 0)) continue;
    g = move_pad_axis(a, g, k, x[k]);
    if (!g.id) return; /* the result has no elements */
  }
  a->din[0] = g;
}

/* ---- slice, and other operators that select parts ---- */

wick_value wick_grad_apart(wick_builder *b, wick_value g, uint32_t axis, int64_t step)
{
  if (step == 1 || b->status) return g;
  const wick_type_info *t = wick_built_info(b, g);
  wick_dim dim[WICK_MAX_RANK + 1], pad[2 * WICK_MAX_RANK + 2];
  uint32_t rank = t->rank + 1u;
  for (uint32_t k = 0; k < rank; k++)
    dim[k] = k == axis + 1 ? wick_dim_const(1) : t->dim[k - (k > axis)];
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  pad[rank + axis + 1] = wick_dim_const(step - 1);
  g = wick_grad_pad(b, wick_grad_reshape(b, g, rank, dim), pad);
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[k];
  dim[axis] = wick_dim_mul(b->module->dims, dim[axis], wick_dim_const(step));
  return wick_grad_reshape(b, g, t->rank, dim);
}

void wick_grad_slice_row(wick_adjoint *a)
{
  enum { BEGIN, SHAPE, STEP };
  wick_builder *b = a->b;
  if (b->status) return;
  wick_dims *t = b->module->dims;
  const wick_attr *at = a->node->attr;
  const wick_type_info *x = wick_built_info(b, a->in[0]);
  wick_dim pad[2 * WICK_MAX_RANK], one = wick_dim_const(1);
  wick_value g = a->dout[0];
  for (uint32_t k = 0; k < x->rank; k++) {
    wick_dim begin = at[BEGIN].dims[k], n = at[SHAPE].dims[k];
    int64_t step = at[STEP].n ? at[STEP].ints[k] : 1;
    if (step < 0) {
      wick_dim last = wick_dim_sub(t, n, one);
      g = wick_grad_slice(b, g, k, last, n, -1);
      begin = wick_dim_add(t, begin, wick_dim_mul(t, last, wick_dim_const(step)));
      step = -step;
    }
    g = wick_grad_apart(b, g, k, step);
    wick_dim used = wick_dim_add(t, begin, wick_dim_mul(t, n, wick_dim_const(step)));
    bool empty = wick_dim_is(n, 0);
    pad[k] = empty ? wick_dim_const(0) : begin;
    pad[x->rank + k] = empty ? x->dim[k] : wick_dim_sub(t, x->dim[k], used);
  }
  a->din[0] = wick_grad_pad(b, g, pad);
}

void wick_grad_concat_row(wick_adjoint *a)
{
  wick_builder *b = a->b;
  uint32_t axis = (uint32_t)a->node->attr[WICK_ATTR_concat_axis].i;
  wick_dim begin = wick_dim_const(0);
  for (uint32_t i = 0; i < a->node->nin && !b->status; i++) {
    wick_dim size = wick_built_info(b, a->in[i])->dim[axis];
    if (a->wanted[i]) a->din[i] = wick_grad_slice(b, a->dout[0], axis, begin, size, 1);
    begin = wick_dim_add(b->module->dims, begin, size);
  }
}

void wick_grad_interleave(wick_adjoint *a)
{
  wick_builder *b = a->b;
  uint32_t axis = (uint32_t)a->node->attr[WICK_ATTR_interleave_axis].i, n = a->node->nin;
  for (uint32_t i = 0; i < n && !b->status; i++) {
    wick_dim size = wick_built_info(b, a->in[i])->dim[axis];
    if (a->wanted[i]) a->din[i] = wick_grad_slice(b, a->dout[0], axis, wick_dim_const(i), size, n);
  }
}

void wick_grad_split(wick_adjoint *a)
{
  wick_builder *b = a->b;
  uint32_t n = a->node->nout;
  wick_value *part = wick_new(b->mem, wick_value, n);
  for (uint32_t i = 0; i < n && !b->status; i++)
    part[i] = a->dout[i].id ? a->dout[i] : wick_grad_fill(b, a->out[i], 0);
  if (!b->status)
    a->din[0] = wick_grad_concat(b, (uint32_t)a->node->attr[WICK_ATTR_split_axis].i, n, part);
}

/* ---- permutations ---- */

void wick_grad_channel_shuffle(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  wick_attr axis = a->node->attr[WICK_ATTR_channel_shuffle_axis],
            groups = a->node->attr[WICK_ATTR_channel_shuffle_groups];
  wick_dim size = wick_built_info(b, a->in[0])->dim[axis.i];
  int64_t sizes[WICK_MAX_RANK];
  if (!wick_dim_is_const(size) && !wick_grad_sizes(b, a->in[0], sizes)) return;
  groups.i = size.v / groups.i;
  wick_attr at[] = {
      [WICK_ATTR_channel_shuffle_axis] = axis, [WICK_ATTR_channel_shuffle_groups] = groups};
  a->din[0] = size.v ? wick_build(b, WICK_OP_channel_shuffle, 1, a->dout, at, 0, NULL) : a->dout[0];
}

void wick_grad_depth_to_space(wick_adjoint *a)
{
  wick_builder *b = a->b;
  const wick_attr *at = a->node->attr;
  wick_value g = wick_build(b, WICK_OP_space_to_depth, 1, a->dout, at, 0, NULL);
  int64_t block = at[WICK_ATTR_depth_to_space_block].i;
  wick_attr turn[] = {[WICK_ATTR_channel_shuffle_axis] = {.i = 1},
                      [WICK_ATTR_channel_shuffle_groups] = {.i = block * block}};
  a->din[0] = at[WICK_ATTR_depth_to_space_order].i
                  ? wick_build(b, WICK_OP_channel_shuffle, 1, &g, turn, 0, NULL)
                  : g;
}

void wick_grad_space_to_depth(wick_adjoint *a)
{
  wick_attr at[] = {[WICK_ATTR_depth_to_space_block] =
                        a->node->attr[WICK_ATTR_space_to_depth_block],
                    [WICK_ATTR_depth_to_space_order] = {.i = 0}};
  a->din[0] = wick_build(a->b, WICK_OP_depth_to_space, 1, a->dout, at, 0, NULL);
}

/* The elements that the result leaves out have no derivative. */
void wick_grad_phases_to_space(wick_adjoint *a)
{
  wick_builder *b = a->b;
  const wick_attr *at = a->node->attr;
  if (b->status) return;
  wick_dims *t = b->module->dims;
  const wick_type_info x = *wick_built_info(b, a->in[0]);
  uint32_t n = at[WICK_ATTR_phases_to_space_stride].n, rank = 2 + 2 * n;
  wick_dim pad[2 * WICK_MAX_RANK] = {wick_dim_const(0)},
                   dim[WICK_MAX_RANK] = {x.dim[0], x.dim[1 + n]};
  int64_t perm[WICK_MAX_RANK] = {0};
  perm[1 + n] = 1;
  for (uint32_t k = 0; k < 2 * (2 + n); k++) pad[k] = wick_dim_const(0);
  for (uint32_t k = 0; k < n; k++) {
    wick_dim s = wick_dim_const(at[WICK_ATTR_phases_to_space_stride].ints[k]),
             begin = wick_dim_const(at[WICK_ATTR_phases_to_space_begin].ints[k]),
             size = at[WICK_ATTR_phases_to_space_shape].dims[k], blocks = x.dim[2 + n + k];
    pad[2 + k] = begin;
    pad[4 + n + k] = wick_dim_sub(t, wick_dim_mul(t, blocks, s), wick_dim_add(t, begin, size));
    dim[2 + 2 * k] = blocks, dim[3 + 2 * k] = s;
    perm[1 + k] = 3 + 2 * k, perm[2 + n + k] = 2 + 2 * k;
  }
  wick_value g = wick_grad_reshape(b, wick_grad_pad(b, a->dout[0], pad), rank, dim);
  for (uint32_t k = 0; k < n && !b->status; k++)
    g = wick_grad_slice(b, g, 3 + 2 * k, wick_dim_const(0), x.dim[1 + k], 1);
  a->din[0] = wick_grad_transpose(b, g, rank, perm);
}

void wick_grad_triangle(wick_adjoint *a)
{
  a->din[0] = wick_build(a->b, WICK_OP_trilu, 1, a->dout, a->node->attr, 0, NULL);
}

void wick_grad_pack(wick_adjoint *a)
{
  if (a->b->status) return;
  const wick_attr *at = a->node->attr;
  const wick_dim *extent = &wick_built_info(a->b, a->in[0])->dim[at[WICK_ATTR_pack_axis].i];
  wick_attr back[2] = {at[WICK_ATTR_pack_axis], {.n = 1, .dims = extent}};
  a->din[0] = wick_build(a->b, WICK_OP_unpack, 1, a->dout, back, 0, NULL);
}

void wick_grad_unpack(wick_adjoint *a)
{
  if (a->b->status) return;
  const wick_attr *at = a->node->attr;
  const wick_type_info *x = wick_built_info(a->b, a->in[0]);
  wick_attr back[2] = {at[WICK_ATTR_unpack_axis], {.i = x->dim[x->rank - 1].v}};
  a->din[0] = wick_build(a->b, WICK_OP_pack, 1, a->dout, back, 0, NULL);
}
