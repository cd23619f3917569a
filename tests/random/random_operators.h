/* Random operators for random graphs: a builder for each kind of operator that is not scalar, with
 * useful sizes and attributes; steps, and the function around them. */
#ifndef WICK_TESTS_RANDOM_OPERATORS_H
#define WICK_TESTS_RANDOM_OPERATORS_H

#include "random_images.h"
#include "random_indices.h"
#include "random_packed.h"

static void random_scalar(random_graph *r, wick_opcode op)
{
  const wick_op *row = wick_ops[op];
  wick_value v = random_where(r, row->elems, 0, 6), in[4] = {v, {0}};
  if (!v.id) return;
  wick_elem e = random_info(r, v)->elem;
  uint32_t nin = row->nin[random_below(r, 2)], first = row->scalar == WICK_RULE_SELECT;
  in[first] = v;
  if (first) in[0] = random_partner(r, v, WICK_BOOL);
  for (uint32_t k = first + 1; k < nin; k++) in[k] = random_partner(r, v, e);
  wick_type want = wick_type_with_elem(r->m, wick_built_type(&r->b, v), random_elem(r));
  random_build(r, op, nin, in, random_attrs(r, op), row->typed ? &want : NULL);
}

static void random_clip(random_graph *r, wick_opcode op)
{
  wick_value in[3] = {random_where(r, wick_ops[op]->elems, 0, 6)};
  if (!in[0].id) return;
  wick_elem e = random_info(r, in[0])->elem;
  uint32_t nin = 1 + random_below(r, 3);
  for (uint32_t k = 1; k < nin; k++) in[k] = random_tensor(r, e, 0, NULL, true);
  random_build(r, op, nin, in, NULL, NULL);
}

/* ---- windows, products, norms ---- */

static void random_window(random_graph *r, wick_opcode op, wick_attr *a, uint32_t n,
                          const int64_t *kernel, const int64_t *size)
{
  int64_t stride[3], pad[6], dilation[3];
  for (uint32_t k = 0; k < n; k++) {
    stride[k] = 1 + (random_below(r, 3) == 0) + (random_below(r, 8) == 0);
    dilation[k] = 1 + (random_below(r, 4) == 0 && (kernel[k] - 1) * 2 < size[k]);
    pad[k] = random_below(r, (uint32_t)((kernel[k] - 1) * dilation[k]) + 1) % kernel[k];
    pad[n + k] = random_below(r, (uint32_t)((kernel[k] - 1) * dilation[k]) + 1) % kernel[k];
  }
  random_set_ints(r, op, a, "stride", n, stride);
  random_set_ints(r, op, a, "pad", 2 * n, pad);
  random_set_ints(r, op, a, "dilation", n, dilation);
}

static void random_conv(random_graph *r, wick_opcode op)
{
  wick_value x =
      random_where(r, r->only || random_below(r, 4) == 0 ? WICK_NUMBERS : WICK_FLOATS, 3, 5);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  uint32_t n = t.rank - 2u;
  int64_t wd[5], size[3], kernel[3], c = t.dim[1].v, group = 1, o = 1 + random_below(r, 36);
  for (uint32_t k = 0; k < n; k++) {
    size[k] = t.dim[2 + k].v;
    kernel[k] = 1 + random_below(r, (uint32_t)wick_min_i64(size[k], 3));
    wd[2 + k] = kernel[k];
  }
  if (random_below(r, 3) == 0 && c) group = random_below(r, 2) ? c : c % 2 == 0 ? 2 : 1;
  o = op == WICK_OP_conv ? (group == c && random_below(r, 3) ? c : (o + group - 1) / group * group)
                         : o;
  wd[0] = op == WICK_OP_conv ? o : c;
  wd[1] = op == WICK_OP_conv ? c / group : 1 + random_below(r, 12);
  int64_t bd = op == WICK_OP_conv ? o : wd[1] * group;
  bool constant = random_below(r, 5) != 0;
  wick_value in[3] = {x, random_tensor(r, t.elem, t.rank, wd, constant), {0}};
  if (random_below(r, 2)) in[2] = random_tensor(r, t.elem, 1, &bd, true);
  wick_attr *a = random_attrs(r, op);
  random_window(r, op, a, n, kernel, size);
  random_attr(op, a, "group")->i = group;
  random_build(r, op, in[2].id ? 3 : 2, in, a, NULL);
}

/* Any cotangent is legal, also one that is larger or smaller than the convolution's result. */
static void random_conv_weight_grad(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, WICK_FLOATS, 3, 5);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  uint32_t n = t.rank - 2u;
  int64_t size[3], kernel[3], c = t.dim[1].v, group = 1, o = 1 + random_below(r, 36);
  if (random_below(r, 3) == 0 && c) group = random_below(r, 2) ? c : c % 2 == 0 ? 2 : 1;
  int64_t gd[5] = {t.dim[0].v, random_below(r, 2) ? group : (o + group - 1) / group * group};
  for (uint32_t k = 0; k < n; k++) {
    size[k] = t.dim[2 + k].v;
    kernel[k] = 1 + random_below(r, (uint32_t)wick_min_i64(size[k], 3));
    gd[2 + k] = random_below(r, 8) ? size[k] : random_below(r, 12);
  }
  wick_value in[2] = {x, random_tensor(r, t.elem, t.rank, gd, random_below(r, 5) == 0)};
  wick_attr *a = random_attrs(r, op);
  random_window(r, op, a, n, kernel, size);
  random_set_ints(r, op, a, "kernel", n, kernel);
  random_attr(op, a, "group")->i = group;
  random_build(r, op, 2, in, a, NULL);
}

static void random_pool(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 3, 5);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t size[3], kernel[3];
  for (uint32_t k = 0; k + 2 < t.rank; k++)
    size[k] = t.dim[2 + k].v, kernel[k] = 1 + random_below(r, (uint32_t)wick_min_i64(size[k], 3));
  wick_attr *a = random_attrs(r, op);
  random_window(r, op, a, t.rank - 2u, kernel, size);
  random_set_ints(r, op, a, "kernel", t.rank - 2u, kernel);
  random_attr(op, a, "ceil")->i = random_below(r, 3) == 0;
  if (op == WICK_OP_max_pool) random_attr(op, a, "indices")->i = random_below(r, 4) == 0;
  if (op == WICK_OP_lp_pool) random_attr(op, a, "p")->i = 1 + random_below(r, 3);
  random_build(r, op, 1, &x, a, NULL);
}

/* Puts back the elements that a maximum pool of x selected. */
static void random_unpool(random_graph *r, wick_opcode op)
{
  uint32_t before = r->b.nodes.n;
  random_pool(r, WICK_OP_max_pool);
  for (uint32_t i = before; i < r->b.nodes.n; i++) {
    const wick_node pool = r->b.nodes.at[i];
    if (pool.op != WICK_OP_max_pool || pool.nout < 2 ||
        pool.attr[WICK_ATTR_max_pool_column_major].i)
      continue;
    const wick_type_info *t = random_info(r, pool.in[0]);
    int64_t size[3];
    for (uint32_t k = 0; k + 2 < t->rank; k++) size[k] = t->dim[2 + k].v;
    wick_attr a[] = {[WICK_ATTR_unpool_stride] = pool.attr[WICK_ATTR_max_pool_stride],
                     [WICK_ATTR_unpool_pad] = pool.attr[WICK_ATTR_max_pool_pad],
                     [WICK_ATTR_unpool_dilation] = pool.attr[WICK_ATTR_max_pool_dilation],
                     [WICK_ATTR_unpool_kernel] = pool.attr[WICK_ATTR_max_pool_kernel],
                     [WICK_ATTR_unpool_size] = {.n = t->rank - 2u, .ints = size}};
    wick_value in[2] = {pool.first, {pool.first.id + 1}};
    random_build(r, op, 2, in, a, NULL);
    return;
  }
}

static void random_matmul(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, WICK_NUMBERS, 1, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t d[4];
  uint32_t rank = random_below(r, 2) || t.rank < 2 ? 2 : t.rank;
  for (uint32_t k = 0; k + 2 < rank; k++) d[k] = t.dim[k].v;
  d[rank - 2] = t.dim[t.rank - 1].v;
  d[rank - 1] = 1 + random_below(r, 70);
  wick_value in[2] = {x, random_tensor(r, t.elem, rank, d, random_below(r, 4) != 0)};
  random_build(r, op, 2, in, NULL, NULL);
}

/* q is given. Builds the operator, or the composition that fuse_attention recognizes. */
static void random_attention(random_graph *r, wick_opcode op)
{
  wick_value q = random_where(r, wick_ops[op]->elems, 2, 4), in[4] = {q};
  if (!q.id) return;
  const wick_type_info t = *random_info(r, q);
  uint32_t rank = random_below(r, 3) ? t.rank : 2;
  int64_t d[WICK_MAX_RANK], n = 1 + random_below(r, 40), perm[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++)
    d[k] = random_below(r, 3) ? t.dim[t.rank - rank + k].v : 1, perm[k] = k;
  d[rank - 2] = n, d[rank - 1] = t.dim[t.rank - 1].v;
  in[1] = random_tensor(r, t.elem, rank, d, random_below(r, 4) == 0);
  d[rank - 1] = 1 + random_below(r, 40);
  in[2] = random_tensor(r, t.elem, rank, d, random_below(r, 4) == 0);
  int64_t mask[2] = {random_below(r, 2) ? t.dim[t.rank - 2].v : 1, random_below(r, 3) ? n : 1};
  bool logic = random_below(r, 2), masked = random_below(r, 2), apart = random_below(r, 2);
  if (masked) in[3] = random_tensor(r, logic ? WICK_BOOL : t.elem, 2, mask, random_below(r, 2));
  double scale = random_below(r, 2) ? 0.5 : 1, fill = -2;
  if (!apart) {
    wick_attr *a = random_attrs(r, op);
    random_attr(op, a, "scale")->f = scale;
    random_attr(op, a, "fill")->f = fill;
    random_attr(op, a, "block")->i = random_below(r, 12);
    random_build(r, op, masked ? 4 : 3, in, a, NULL);
    return;
  }
  perm[rank - 2] = rank - 1, perm[rank - 1] = rank - 2;
  wick_attr *a = random_attrs(r, WICK_OP_transpose);
  random_set_ints(r, WICK_OP_transpose, a, "perm", rank, perm);
  wick_value s[3] = {q, random_build(r, WICK_OP_transpose, 1, &in[1], a, NULL)};
  s[0] = random_build(r, WICK_OP_matmul, 2, s, NULL, NULL);
  s[1] = r->b.status ? q : wick_build_like(&r->b, q, scale);
  s[0] = random_build(r, WICK_OP_mul, 2, s, NULL, NULL);
  s[1] = in[3];
  if (masked && !logic) s[0] = random_build(r, WICK_OP_add, 2, s, NULL, NULL);
  wick_value where[3] = {in[3], s[0], r->b.status ? q : wick_build_like(&r->b, q, fill)};
  if (masked && logic) s[0] = random_build(r, WICK_OP_where, 3, where, NULL, NULL);
  a = random_attrs(r, WICK_OP_softmax);
  random_attr(WICK_OP_softmax, a, "axis")->i = s[0].id ? random_info(r, s[0])->rank - 1 : 0;
  s[0] = random_build(r, WICK_OP_softmax, 1, s, a, NULL), s[1] = in[2];
  random_build(r, WICK_OP_matmul, 2, s, NULL, NULL);
}

static void random_norm(random_graph *r, wick_opcode op)
{
  bool row = op == WICK_OP_layer_norm || op == WICK_OP_rms_norm;
  wick_value x = random_where(r, WICK_FLOATS, row ? 1 : 3, 5), in[5] = {x};
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t size = row ? t.dim[t.rank - 1].v : t.dim[1].v;
  uint32_t nin = op == WICK_OP_batch_norm ? 5
                 : op == WICK_OP_rms_norm ? 2
                 : op == WICK_OP_lrn      ? 1
                                          : 3;
  for (uint32_t k = 1; k < nin; k++) {
    in[k] = random_tensor(r, t.elem, 1, &size, true);
    if (k == 4) in[k] = wick_build1(&r->b, WICK_OP_abs, in[k]);
  }
  wick_attr *a = random_attrs(r, op);
  if (op == WICK_OP_group_norm) random_attr(op, a, "groups")->i = size % 2 ? 1 : 2;
  if (op == WICK_OP_lrn) random_attr(op, a, "size")->i = 1 + 2 * (int64_t)random_below(r, 3);
  if (op != WICK_OP_lrn) random_attr(op, a, "epsilon")->f = 1e-2;
  random_build(r, op, nin, in, a, NULL);
}

/* Operators whose result is the operand. */
static void random_copy(random_graph *r, wick_opcode op)
{
  wick_value v = random_where(r, WICK_PLAIN, 0, 5);
  if (v.id) random_build(r, op, 1, &v, NULL, NULL);
}

/* Reductions, softmax and similar operators, running sums: one operand and axes. */
static void random_axes(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 1, 5);
  if (!x.id) return;
  const wick_type_info *t = random_info(r, x);
  wick_attr *a = random_attrs(r, op);
  for (uint32_t i = 0; i < wick_op_nattr(wick_ops[op]); i++) {
    const wick_attr_spec *s = &wick_ops[op]->attr[i];
    if (s->kind == WICK_ATTR_AXIS) a[i] = (wick_attr){.i = random_below(r, t->rank)};
    if (s->kind == WICK_ATTR_INTS) {
      int64_t axes[WICK_MAX_RANK];
      uint32_t n = 0;
      for (uint32_t k = 0; k < t->rank; k++)
        if (random_below(r, 2)) axes[n++] = k;
      if (t->rank == 4 && random_below(r, 3) == 0) n = 2, axes[0] = 2, axes[1] = 3;
      random_set_ints(r, op, a, s->name, n, axes);
    }
  }
  random_build(r, op, 1, &x, a, NULL);
}

/* ---- moves ---- */

static void random_shape(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, 0, 1, 5), in[2] = {x};
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  wick_attr *a = random_attrs(r, op);
  int64_t d[2 * WICK_MAX_RANK], e[WICK_MAX_RANK];
  uint32_t nin = 1, axis = random_below(r, t.rank);
  for (uint32_t k = 0; k < t.rank; k++) d[k] = t.dim[k].v, d[t.rank + k] = 0, e[k] = 1;
  if (op == WICK_OP_reshape) {
    uint32_t cut = random_below(r, t.rank + 1), n = 0;
    int64_t left = 1, right = 1;
    for (uint32_t k = 0; k < t.rank; k++) *(k < cut ? &left : &right) *= t.dim[k].v;
    d[n++] = left;
    if (right % 2 == 0) d[n++] = 2, right /= 2;
    if (right % 3 == 0) d[n++] = 3, right /= 3;
    d[n++] = right;
    random_set_dims(r, op, a, "shape", n, d);
  } else if (op == WICK_OP_transpose) {
    for (uint32_t k = 0; k < t.rank; k++) d[k] = k;
    for (uint32_t k = t.rank; k > 1; k--) {
      uint32_t j = random_below(r, k);
      int64_t swap = d[j];
      d[j] = d[k - 1], d[k - 1] = swap;
    }
    random_set_ints(r, op, a, "perm", t.rank, d);
  } else if (op == WICK_OP_slice) {
    for (uint32_t k = 0; k < t.rank; k++) {
      e[k] = random_below(r, (uint32_t)d[k]);
      d[k] = 1 + random_below(r, (uint32_t)(d[k] - e[k]));
    }
    random_set_dims(r, op, a, "begin", t.rank, e);
    random_set_dims(r, op, a, "shape", t.rank, d);
  } else if (op == WICK_OP_affine_gather) {
    int64_t step[3 * WICK_MAX_RANK], size[3];
    uint32_t n = random_below(r, 4);
    for (uint32_t k = 0; k < n; k++) size[k] = 1 + random_below(r, 4);
    for (uint32_t k = 0; k < t.rank; k++) e[k] = (int64_t)random_below(r, 5) - 1;
    for (uint32_t k = 0; k < t.rank * n; k++)
      step[k] = random_below(r, 2) ? 0 : (int64_t)random_below(r, 5) - 2;
    random_set_dims(r, op, a, "shape", n, size);
    random_set_dims(r, op, a, "begin", t.rank, e);
    random_set_ints(r, op, a, "step", t.rank * n, step);
    random_attr(op, a, "guard")->i = 1;
  } else if (op == WICK_OP_pad) {
    for (uint32_t k = 0; k < 2 * t.rank; k++)
      d[k] = random_below(r, 3) % wick_max_i64(t.dim[k % t.rank].v, 1);
    random_set_dims(r, op, a, "pad", 2 * t.rank, d);
  } else if (op == WICK_OP_tile || op == WICK_OP_broadcast_to) {
    for (uint32_t k = 0; k < t.rank; k++)
      e[k] = op == WICK_OP_tile ? 1 + random_below(r, 2)
             : d[k] == 1        ? 1 + random_below(r, 3)
                                : d[k];
    random_set_dims(r, op, a, op == WICK_OP_tile ? "repeats" : "shape", t.rank, e);
  } else if (op == WICK_OP_concat || op == WICK_OP_interleave) {
    in[1] = random_partner(r, x, t.elem), nin = 2;
    random_attr(op, a, "axis")->i = axis;
  } else if (op == WICK_OP_split) {
    random_attr(op, a, "axis")->i = axis;
    random_attr(op, a, "parts")->i = d[axis] % 2 ? 1 : 2;
  } else if (op == WICK_OP_resize) {
    for (uint32_t k = 0; k < t.rank; k++) e[k] = k < 2 ? d[k] : 1 + random_below(r, 9);
    random_set_dims(r, op, a, "shape", t.rank, e);
  } else if (op == WICK_OP_channel_shuffle) {
    random_attr(op, a, "axis")->i = axis;
    random_attr(op, a, "groups")->i = 1 + random_below(r, 4);
  } else if (op == WICK_OP_trilu) {
    random_attr(op, a, "k")->i = (int64_t)random_below(r, 7) - 3;
  } else if (op == WICK_OP_shape) {
    random_attr(op, a, "start")->i = (int64_t)random_below(r, 3) - 1;
  } else if (op == WICK_OP_top_k) {
    random_attr(op, a, "axis")->i = axis;
    random_set_dims(r, op, a, "k", 1, (int64_t[]){1 + random_below(r, (uint32_t)d[axis])});
  }
  random_build(r, op, nin, in, a, NULL);
}

/* The first channels or positions that are a multiple of the block. */
static void random_depth(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, 0, 4, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t d[4], none[4] = {0};
  for (uint32_t k = 0; k < 4; k++) d[k] = t.dim[k].v;
  if (op == WICK_OP_depth_to_space)
    d[1] = d[1] / 4 * 4;
  else
    d[2] = d[2] / 2 * 2, d[3] = d[3] / 2 * 2;
  if (!d[1] || !d[2] || !d[3]) {
    d[0] = 1, d[1] = d[2] = d[3] = 4;
    x = random_tensor(r, t.elem, 4, d, true);
  }
  wick_attr *cut = random_attrs(r, WICK_OP_slice), *a = random_attrs(r, op);
  random_set_dims(r, WICK_OP_slice, cut, "begin", 4, none);
  random_set_dims(r, WICK_OP_slice, cut, "shape", 4, d);
  random_attr(op, a, "block")->i = 2;
  x = random_build(r, WICK_OP_slice, 1, &x, cut, NULL);
  random_build(r, op, 1, &x, a, NULL);
}

/* Phases of one to three axes; there may be fewer than the stride. */
static void random_phases(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, 0, 1, 4);
  if (!x.id) return;
  wick_elem e = random_info(r, x)->elem;
  uint32_t n = 1 + random_below(r, 3);
  int64_t d[8], stride[3], begin[3], shape[3];
  d[0] = 1 + random_below(r, 2), d[1 + n] = 1 + random_below(r, 3);
  for (uint32_t k = 0; k < n; k++) {
    stride[k] = 1 + random_below(r, 3);
    d[1 + k] = 1 + random_below(r, (uint32_t)stride[k]);
    d[2 + n + k] = 1 + random_below(r, 4);
    int64_t most = d[2 + n + k] * stride[k];
    begin[k] = random_below(r, (uint32_t)most);
    shape[k] = 1 + random_below(r, (uint32_t)(most - begin[k]));
  }
  x = random_tensor(r, e, 2 + 2 * n, d, true);
  wick_attr *a = random_attrs(r, op);
  random_set_ints(r, op, a, "stride", n, stride);
  random_set_ints(r, op, a, "begin", n, begin);
  random_set_dims(r, op, a, "shape", n, shape);
  random_build(r, op, 1, &x, a, NULL);
}

/* ---- recurrent operators ---- */

static void random_recurrent(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 3, 3), in[8] = {x};
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t units = 1 + random_below(r, 20), batch = t.dim[1].v,
          gates = op == WICK_OP_lstm  ? 4
                  : op == WICK_OP_gru ? 3
                                      : 1;
  int64_t w[2] = {gates * units, t.dim[2].v}, u[2] = {gates * units, units},
          state[2] = {batch, units}, bias = 2 * gates * units, peep = 3 * units;
  uint32_t nin = 3;
  in[1] = random_tensor(r, t.elem, 2, w, true);
  in[2] = random_tensor(r, t.elem, 2, u, random_below(r, 4) != 0);
  for (uint32_t k = 3; k < wick_ops[op]->nin[1]; k++) {
    if (random_below(r, 2)) continue;
    if (k == 3) in[k] = random_tensor(r, t.elem, 1, &bias, true);
    if (k == 4) in[k] = random_tensor(r, WICK_I32, 1, &batch, true);
    if (k == 5 || k == 6) in[k] = random_tensor(r, t.elem, 2, state, random_below(r, 2));
    if (k == 7) in[k] = random_tensor(r, t.elem, 1, &peep, true);
    nin = k + 1;
  }
  wick_attr *a = random_attrs(r, op);
  random_attr(op, a, "clip")->f = random_below(r, 3) ? 0 : 0.75;
  /* Without a bound, gates multiply states by states, until everything depends on one last bit.
   * sigmoid is bounded. */
  if (random_attr(op, a, "clip")->f == 0 && t.dim[0].v > 3) random_attr(op, a, "gate")->i = 1;
  random_build(r, op, nin, in, a, NULL);
}

static void random_recurrent_step(random_graph *r, wick_opcode op)
{
  wick_value state = random_where(r, wick_ops[op]->elems, 3, 3), in[5] = {{0}, state};
  if (!state.id) return;
  const wick_type_info t = *random_info(r, state);
  int64_t gates = op == WICK_OP_lstm_step ? 4 : 3, inner = 1 + random_below(r, 40);
  int64_t x[4] = {t.dim[0].v, t.dim[1].v, gates, t.dim[2].v}, h[2] = {x[0], inner + 1},
          u[4] = {x[1], inner, gates, x[3]}, more[3] = {x[1], gates == 4 ? 3 : 1, x[3]};
  uint32_t nin = 2;
  in[0] = random_tensor(r, t.elem, 4, x, true);
  if (random_below(r, 4)) {
    in[2] = random_tensor(r, t.elem, 2, h, random_below(r, 2));
    in[3] = random_tensor(r, t.elem, 4, u, true);
    nin = 4;
  }
  if (random_below(r, 2)) in[4] = random_tensor(r, t.elem, 3, more, true), nin = 5;
  random_build(r, op, nin, in, random_attrs(r, op), NULL);
}

/* ---- steps ---- */

/* Builders of operators that are not scalar, with their frequencies. Scalar operators are two
 * fifths as frequent as these. */
typedef struct random_kind {
  wick_opcode op;
  void (*build)(random_graph *, wick_opcode);
  uint32_t weight;
} random_kind;

static const random_kind random_kinds[] = {
    {WICK_OP_clip, random_clip, 2},
    {WICK_OP_conv, random_conv, 12},
    {WICK_OP_conv_transpose, random_conv, 6},
    {WICK_OP_conv_packed, random_conv_packed, 1},
    {WICK_OP_conv_weight_grad, random_conv_weight_grad, 4},
    {WICK_OP_conv_weight_grad_packed, random_conv_weight_grad_packed, 1},
    {WICK_OP_conv_winograd, random_conv_winograd, 1},
    {WICK_OP_max_pool, random_pool, 3},
    {WICK_OP_avg_pool, random_pool, 3},
    {WICK_OP_lp_pool, random_pool, 3},
    {WICK_OP_unpool, random_unpool, 1},
    {WICK_OP_matmul, random_matmul, 8},
    {WICK_OP_depthwise_packed, random_depthwise_packed, 1},
    {WICK_OP_matmul_packed, random_matmul_packed, 1},
    {WICK_OP_attention, random_attention, 2},
    {WICK_OP_lstm, random_recurrent, 1},
    {WICK_OP_gru, random_recurrent, 1},
    {WICK_OP_rnn, random_recurrent, 1},
    {WICK_OP_lstm_step, random_recurrent_step, 1},
    {WICK_OP_gru_step, random_recurrent_step, 1},
    {WICK_OP_batch_norm, random_norm, 3},
    {WICK_OP_instance_norm, random_norm, 1},
    {WICK_OP_layer_norm, random_norm, 1},
    {WICK_OP_group_norm, random_norm, 1},
    {WICK_OP_rms_norm, random_norm, 1},
    {WICK_OP_lrn, random_norm, 1},
    {WICK_OP_reduce_sum, random_axes, 1},
    {WICK_OP_reduce_mean, random_axes, 1},
    {WICK_OP_reduce_max, random_axes, 1},
    {WICK_OP_reduce_min, random_axes, 1},
    {WICK_OP_reduce_extremes, random_axes, 1},
    {WICK_OP_reduce_prod, random_axes, 1},
    {WICK_OP_reduce_l1, random_axes, 1},
    {WICK_OP_reduce_l2, random_axes, 1},
    {WICK_OP_reduce_log_sum, random_axes, 1},
    {WICK_OP_reduce_log_sum_exp, random_axes, 1},
    {WICK_OP_reduce_sum_square, random_axes, 1},
    {WICK_OP_argmax, random_axes, 1},
    {WICK_OP_argmin, random_axes, 1},
    {WICK_OP_softmax, random_axes, 1},
    {WICK_OP_log_softmax, random_axes, 1},
    {WICK_OP_hardmax, random_axes, 1},
    {WICK_OP_cumsum, random_axes, 1},
    {WICK_OP_cumprod, random_axes, 1},
    {WICK_OP_reshape, random_shape, 1},
    {WICK_OP_transpose, random_shape, 1},
    {WICK_OP_affine_gather, random_shape, 1},
    {WICK_OP_slice, random_shape, 1},
    {WICK_OP_pad, random_shape, 1},
    {WICK_OP_tile, random_shape, 1},
    {WICK_OP_broadcast_to, random_shape, 1},
    {WICK_OP_concat, random_shape, 3},
    {WICK_OP_interleave, random_shape, 1},
    {WICK_OP_split, random_shape, 1},
    {WICK_OP_resize, random_shape, 2},
    {WICK_OP_depth_to_space, random_depth, 1},
    {WICK_OP_space_to_depth, random_depth, 1},
    {WICK_OP_phases_to_space, random_phases, 1},
    {WICK_OP_channel_shuffle, random_shape, 1},
    {WICK_OP_trilu, random_shape, 1},
    {WICK_OP_top_k, random_shape, 1},
    {WICK_OP_shape, random_shape, 1},
    {WICK_OP_size, random_shape, 1},
    {WICK_OP_pack, random_pack, 1},
    {WICK_OP_unpack, random_pack, 1},
    {WICK_OP_gather, random_gather, 1},
    {WICK_OP_gather_elements, random_gather, 1},
    {WICK_OP_gather_nd, random_gather, 1},
    {WICK_OP_dynamic_index, random_take, 1},
    {WICK_OP_scatter_elements, random_scatter, 1},
    {WICK_OP_scatter_nd, random_scatter, 1},
    {WICK_OP_grid_sample, random_grid_sample, 1},
    {WICK_OP_roi_align, random_roi, 1},
    {WICK_OP_roi_max_pool, random_roi, 1},
    {WICK_OP_col2im, random_window_scatter, 1},
    {WICK_OP_max_unpool, random_window_scatter, 1},
    {WICK_OP_det, random_det, 1},
    {WICK_OP_one_hot, random_one_hot, 1},
    {WICK_OP_random, random_made, 1},
    {WICK_OP_pairwise_coupling, random_couple, 1},
    {WICK_OP_dft_pass, random_fourier, 1},
    {WICK_OP_tree_walk, random_tree, 1},
    {WICK_OP_search_sorted, random_search, 1},
    {WICK_OP_nonzero, random_places, 1},
    {WICK_OP_non_max_suppression, random_suppress, 1},
    {WICK_OP_range, random_made, 1},
    {WICK_OP_eye, random_made, 1},
    {WICK_OP_barrier, random_copy, 1},
    /* not in random graphs, whose derivatives are compared with differences */
    {WICK_OP_stop_gradient, random_copy, 0},
};

/* Tries to build an operator. */
static void random_row(random_graph *r, wick_opcode op)
{
  for (uint32_t i = 0; i < WICK_COUNT(random_kinds); i++)
    if (random_kinds[i].op == op) {
      random_kinds[i].build(r, op);
      return;
    }
  if (wick_ops[op]->scalar) random_scalar(r, op);
}

static void random_step(random_graph *r)
{
  uint32_t total = 0, at;
  for (uint32_t i = 0; i < WICK_COUNT(random_kinds); i++) total += random_kinds[i].weight;
  at = random_below(r, total + total * 2 / 5);
  for (uint32_t i = 0; i < WICK_COUNT(random_kinds); at -= random_kinds[i++].weight)
    if (at < random_kinds[i].weight) {
      random_row(r, random_kinds[i].op);
      return;
    }
  wick_opcode op = WICK_OP_none;
  while (!op || !wick_ops[op]->scalar || !random_types(&r->wish, op))
    op = (wick_opcode)(1 + random_below(r, WICK_NOP - 1));
  random_row(r, op);
}

/* Returns the value whose element type counts for the pair: an operand, or the result. */
static wick_value random_counted(const wick_node *n)
{
  uint32_t k = random_counted_operand(n->op, n->nin);
  return k < n->nin ? n->in[k] : n->first;
}

/* Returns the result of the graph's node for the pair, or 0. */
static wick_value random_find(const random_graph *r, random_pair pair)
{
  for (uint32_t i = 0; i < r->b.nodes.n; i++) {
    const wick_node *n = &r->b.nodes.at[i];
    if (n->op == pair.op && random_info(r, random_counted(n))->elem == pair.elem) return n->first;
  }
  return (wick_value){0};
}

static void random_params(random_graph *r, random_pair pair)
{
  static const char *const names[] = {"a", "b", "c", "d"};
  for (uint32_t i = 0, n = 2 + random_below(r, 3); i < n; i++) {
    int64_t dim[4];
    uint32_t rank = i == 0 ? 4 : random_below(r, 5);
    for (uint32_t k = 0; k < rank; k++) dim[k] = 1 + random_below(r, k == 1 ? 40 : k == 0 ? 2 : 12);
    for (uint32_t k = 0; k < rank && r->wish.size; k++)
      if (random_below(r, i == 0 && k == 1 ? 4 : 2) == 0) dim[k] = r->wish.size[random_below(r, 3)];
    for (uint32_t k = 0; k < rank && r->wish.empty; k++) dim[k] = random_empty(r) ? 0 : dim[k];
    wick_elem e = random_elem(r);
    if (i < 2) e = i ? WICK_F32 : pair.elem;
    wick_push(
        r->tmp, &r->values,
        wick_build_param(&r->b, wick_type_tensor_const(r->m, e, rank, dim), WICK_IN, names[i]));
  }
}

#endif
