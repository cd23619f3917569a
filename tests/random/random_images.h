/* Random operators that sample images, put windows back, or decompose matrices, with operands that
 * fit. */
#ifndef WICK_TESTS_RANDOM_IMAGES_H
#define WICK_TESTS_RANDOM_IMAGES_H

#include "random_graph.h"

static void random_grid_sample(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, WICK_FLOATS, 3, 5);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t d[5] = {t.dim[0].v};
  for (uint32_t k = 1; k + 1 < t.rank; k++) d[k] = 1 + random_below(r, 6);
  d[t.rank - 1] = t.rank - 2;
  wick_value in[2] = {x, random_tensor(r, t.elem, t.rank, d, true)};
  random_build(r, op, 2, in, random_attrs(r, op), NULL);
}

/* Regions that are inside, or mostly so. */
static void random_roi(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 4, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  bool align = op == WICK_OP_roi_align;
  int64_t n = 1 + random_below(r, 4), shape[2] = {1 + random_below(r, 3), 1 + random_below(r, 3)},
          d[2] = {n, align ? 4 : 5};
  wick_type type = wick_type_tensor_const(r->m, t.elem, 2, d);
  uint64_t nbytes = 0;
  wick_type_nbytes(r->m, type, &nbytes);
  char *data = wick_arena_alloc(&r->m->mem, nbytes, 64);
  for (int64_t i = 0; i < n * d[1]; i++) {
    int64_t column = i % d[1] + align; /* columns: image, x, y, x, y */
    uint32_t size = (uint32_t)t.dim[column % 2 ? 3 : 2].v * 4;
    double v = column ? random_below(r, size) * 0.25 - 0.5 + (column > 2 ? 1 : 0)
                      : random_below(r, (uint32_t)t.dim[0].v);
    wick_store_elem(t.elem, data, (uint64_t)i, (wick_scalar){.f = v});
  }
  wick_value rois = wick_build_constant(&r->b, wick_constant_add(r->m, "rois", type, data, nbytes)),
             in[3] = {x, rois, {0}};
  if (align) {
    in[2] = random_indices(r, 1, &n, t.dim[0].v);
    wick_value zero = wick_build_like(&r->b, in[2], 0);
    in[2] = wick_build_cast(&r->b, wick_build2(&r->b, WICK_OP_max, in[2], zero), WICK_I64);
  }
  wick_attr *a = random_attrs(r, op);
  random_set_ints(r, op, a, "shape", 2, shape);
  if (align) random_attr(op, a, "ratio")->i = random_below(r, 3);
  random_build(r, op, align ? 3 : 2, in, a, NULL);
}

/* Puts windows back: x is cut to a size that fits. */
static void random_window_scatter(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 3, 5);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  uint32_t n = t.rank - 2u;
  int64_t kernel[3], stride[3], pad[6], dim[5] = {t.dim[0].v, t.dim[1].v}, image = 1, taps = 1;
  wick_attr *a = random_attrs(r, op);
  for (uint32_t k = 0; k < n; k++) {
    kernel[k] = 1 + random_below(r, 3), stride[k] = 1 + random_below(r, 2);
    pad[k] = random_below(r, 2) % kernel[k], pad[n + k] = 0;
    dim[2 + k] = (t.dim[2 + k].v - 1) * stride[k] + kernel[k] - pad[k];
    image *= dim[2 + k], taps *= kernel[k];
  }
  random_set_ints(r, op, a, "stride", n, stride);
  random_set_ints(r, op, a, "pad", 2 * n, pad);
  random_set_ints(r, op, a, "kernel", n, kernel);
  wick_value in[2] = {x};
  if (op == WICK_OP_col2im) {
    int64_t columns[3] = {dim[0], dim[1] * taps, 1};
    for (uint32_t k = 0; k < n; k++) columns[2] *= t.dim[2 + k].v;
    if (columns[1] * columns[2] > 6000) return;
    in[0] = random_tensor(r, t.elem, 3, columns, random_below(r, 2));
    random_set_dims(r, op, a, "image", n, dim + 2);
    random_build(r, op, 1, in, a, NULL);
    return;
  }
  int64_t size[5], many = 1;
  for (uint32_t k = 0; k < t.rank; k++) many *= size[k] = t.dim[k].v;
  int64_t *at = wick_arena_alloc(&r->m->mem, (uint64_t)many * sizeof *at, 64);
  for (int64_t i = 0; i < many; i++) {
    int64_t window[3] = {0}, rest = i, to = 0;
    for (uint32_t k = n; k-- > 0; rest /= size[2 + k]) window[k] = rest % size[2 + k];
    for (uint32_t k = 0; k < n; k++) {
      int64_t first = window[k] * stride[k] - pad[k], tap = random_below(r, (uint32_t)kernel[k]);
      to = to * dim[2 + k] + (first + tap < 0 ? 0 : first + tap);
    }
    at[i] = rest * image + to;
  }
  wick_type type = wick_type_tensor_const(r->m, WICK_I64, t.rank, size);
  in[1] = wick_build_constant(&r->b,
                              wick_constant_add(r->m, "at", type, at, (uint64_t)many * sizeof *at));
  random_build(r, op, 2, in, a, NULL);
}

/* The corner of x that has as many rows as columns. */
static void random_det(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 2, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t d[4], none[4] = {0}, n = wick_min_i64(t.dim[t.rank - 2].v, t.dim[t.rank - 1].v);
  for (uint32_t k = 0; k < t.rank; k++) d[k] = k + 2 < t.rank ? t.dim[k].v : wick_min_i64(n, 4);
  wick_attr *cut = random_attrs(r, WICK_OP_slice);
  random_set_dims(r, WICK_OP_slice, cut, "begin", t.rank, none);
  random_set_dims(r, WICK_OP_slice, cut, "shape", t.rank, d);
  x = random_build(r, WICK_OP_slice, 1, &x, cut, NULL);
  random_build(r, op, 1, &x, NULL, NULL);
}

#endif
