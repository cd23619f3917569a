/* Random operators on blocked layouts. */
#ifndef WICK_TESTS_RANDOM_PACKED_H
#define WICK_TESTS_RANDOM_PACKED_H

#include "random_graph.h"

/* Packs x, for the operators that need blocks. */
static wick_value random_packed(random_graph *r, wick_value x, int64_t axis, int64_t block)
{
  wick_attr *a = random_attrs(r, WICK_OP_pack);
  random_attr(WICK_OP_pack, a, "axis")->i = axis;
  random_attr(WICK_OP_pack, a, "block")->i = block;
  return random_build(r, WICK_OP_pack, 1, &x, a, NULL);
}

static void random_pack(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, WICK_PLAIN, 1, 4);
  if (!x.id) return;
  int64_t axis = random_below(r, random_info(r, x)->rank), extent = random_info(r, x)->dim[axis].v;
  x = random_packed(r, x, axis, 1 + random_below(r, 8));
  if (op == WICK_OP_pack || !x.id) return;
  wick_attr *a = random_attrs(r, op);
  random_attr(op, a, "axis")->i = axis;
  random_attr(op, a, "shuffle")->i = 0;
  random_set_dims(r, op, a, "extent", 1, &extent);
  random_build(r, op, 1, &x, a, NULL);
}

static void random_conv_packed(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 3, 5), in[2];
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  uint32_t n = t.rank - 2u, rank = 1;
  bool is_packed = random_below(r, 2);
  int64_t co = 1 + random_below(r, 8), ci = 1 + random_below(r, 8),
          cb = wick_ceildiv_i64(t.dim[1].v, ci), dim[8] = {2, 1}, pad[6];
  rank += is_packed;
  for (uint32_t k = 0; k < n; k++) {
    int64_t taps = dim[rank++] = 1 + random_below(r, 3);
    pad[k] = taps / 2, pad[n + k] = taps - 1;
  }
  bool bytes = t.elem == WICK_U8 || t.elem == WICK_I8;
  wick_attr *a = random_attrs(r, op);
  if (bytes && is_packed && random_below(r, 2)) { /* dot products */
    ci = 4 * (1 + random_below(r, 2)), cb = wick_ceildiv_i64(t.dim[1].v, ci);
    dim[1] = cb, dim[rank++] = ci / 4, dim[rank++] = co, dim[rank++] = 4;
    in[1] = random_tensor(r, WICK_I8, rank, dim, true);
    random_attr(op, a, "fill")->i = random_below(r, 100);
  } else {
    dim[rank++] = is_packed ? cb * ci : t.dim[1].v, dim[rank++] = co;
    in[1] = random_tensor(r, t.elem, rank, dim, true);
  }
  in[0] = is_packed ? random_packed(r, x, 1, ci) : x;
  random_set_ints(r, op, a, "pad", 2 * n, pad);
  random_attr(op, a, "shuffle")->i = 0;
  random_attr(op, a, "spatial")->i = n;
  random_build(r, op, 2, in, a, NULL);
}

static void random_conv_weight_grad_packed(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 3, 5);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  uint32_t n = t.rank - 2u, form = random_below(r, 3); /* x is plain, in blocks, or apart */
  int64_t ci = 1 + random_below(r, 8), co = form == 2 ? ci : 1 + random_below(r, 16),
          images = t.dim[0].v,
          blocks = form == 2 ? wick_ceildiv_i64(t.dim[1].v, ci) : 1 + random_below(r, 3),
          dim[6] = {images, blocks}, kernel[3], pad[6];
  for (uint32_t k = 0; k < n; k++) {
    dim[2 + k] = 1 + random_below(r, 9);
    kernel[k] = 1 + random_below(r, 3);
    pad[k] = kernel[k] / 2, pad[n + k] = 0;
  }
  dim[2 + n] = co;
  wick_value in[2] = {form ? random_packed(r, x, 1, ci) : x,
                      random_tensor(r, t.elem, n + 3, dim, random_below(r, 4) == 0)};
  wick_attr *a = random_attrs(r, op);
  random_set_ints(r, op, a, "pad", 2 * n, pad);
  random_set_ints(r, op, a, "kernel", n, kernel);
  random_attr(op, a, "group")->i = form == 2 ? 1 + (int64_t)random_below(r, 4) : 1;
  random_attr(op, a, "parts")->i = images > 0 && random_below(r, 2) ? images : 1;
  random_build(r, op, 2, in, a, NULL);
}

static void random_depthwise_packed(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 4, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t c = 4 << random_below(r, 3), taps = 1 + random_below(r, 5),
          stride[2] = {1 + random_below(r, 2), 1 + random_below(r, 2)}, groups = 1, phases = 1,
          rows = 1 + random_below(r, 3), pad[4] = {rows / 2, taps / 2, rows - 1, taps - 1};
  while (groups * 4 < taps) groups++;
  while ((2 * phases - 1) * stride[1] + taps <= groups * 4) phases *= 2;
  int64_t dim[6] = {wick_ceildiv_i64(t.dim[1].v, c), rows, phases, groups, c, 4};
  wick_value in[2] = {random_packed(r, x, 1, c), random_tensor(r, WICK_I8, 6, dim, true)};
  wick_attr *a = random_attrs(r, op);
  random_set_ints(r, op, a, "stride", 2, stride);
  random_set_ints(r, op, a, "pad", 4, pad);
  random_attr(op, a, "taps")->i = taps;
  random_attr(op, a, "fill")->i = random_below(r, 100);
  random_build(r, op, 2, in, a, NULL);
}

static void random_conv_winograd(random_graph *r, wick_opcode op)
{
  static const int64_t sizes[][2] = {{2, 3}, {4, 3}, {4, 5}, {3, 2}}; /* tiles and taps */
  wick_value x = random_where(r, wick_ops[op]->elems, 4, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  const int64_t *size = RANDOM_OF(r, sizes);
  int64_t ci = 1 + random_below(r, 8), n = size[0] + size[1] - 1,
          dim[5] = {n * n, 1 + random_below(r, 2), wick_ceildiv_i64(t.dim[1].v, ci), ci,
                    1 + random_below(r, 8)},
          group = random_below(r, 2) && dim[2] ? dim[2] : 1, pad[4];
  dim[1] *= group, dim[2] /= group;
  for (uint32_t i = 0; i < 4; i++) pad[i] = size[1] - 1 - random_below(r, 2);
  wick_value in[2] = {random_packed(r, x, 1, ci), random_tensor(r, t.elem, 5, dim, true)};
  wick_attr *a = random_attrs(r, op);
  random_attr(op, a, "tile")->i = size[0];
  random_attr(op, a, "taps")->i = size[1];
  random_attr(op, a, "group")->i = group;
  random_set_ints(r, op, a, "pad", 4, pad);
  random_build(r, op, 2, in, a, NULL);
}

static void random_matmul_packed(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 1, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t d[3] = {1 + random_below(r, 3), t.dim[t.rank - 1].v, 1 + random_below(r, 16)};
  bool bytes = t.elem == WICK_U8 || t.elem == WICK_I8, dots = bytes && d[1] % 4 == 0;
  uint32_t batch = (uint32_t)random_below(r, t.rank), rank = batch;
  int64_t dim[8];
  for (uint32_t k = 0; k < batch; k++) dim[k] = t.dim[k].v;
  dim[rank++] = d[0], dim[rank++] = dots ? d[1] / 4 : d[1], dim[rank++] = d[2];
  if (dots) dim[rank++] = 4;
  wick_value in[2] = {x, random_tensor(r, dots ? WICK_I8 : t.elem, rank, dim, true)};
  wick_attr *a = random_attrs(r, op);
  random_attr(op, a, "batch")->i = batch;
  random_build(r, op, 2, in, a, NULL);
}

#endif
