/* Fourier transforms of pairs of tensors, along their last axis. */
#include "import/kit/complex.h"

#include "import/kit/array.h"
#include "import/kit/dft.h"

wick_complex wick_complex_dft(wick_import_node *n, wick_complex x, int64_t size, bool inverse)
{
  wick_builder *b = n->b;
  wick_complex y = {{0}, {0}};
  if (n->failed || b->status || !wick_built_info(b, x.re)->rank) return y;
  const wick_type_info t = *wick_built_info(b, x.re);
  uint32_t last = t.rank - 1u;
  wick_dim flat[] = {wick_dim_const(1), wick_dim_const(1), t.dim[last]}, dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < last; i++) {
    flat[1] = wick_dim_mul(b->module->dims, flat[1], t.dim[i]);
    dim[i] = t.dim[i];
  }
  wick_value plane[2] = {wick_build_reshape(b, x.re, 3, flat), {0}};
  if (x.im.id) plane[1] = wick_build_reshape(b, x.im, 3, flat);
  wick_value planes = x.im.id ? wick_build_concat(b, 0, 2, plane) : plane[0];
  wick_value z = wick_dft(b, n->c->tmp, n->name, planes, size, inverse);
  z = wick_build_transpose(b, z, 3, (const int64_t[]){0, 2, 1});
  dim[last] = wick_dim_const(size);
  wick_value re = wick_emit_slice(b, z, 0, wick_dim_const(0), wick_dim_const(1));
  wick_value im = wick_emit_slice(b, z, 0, wick_dim_const(1), wick_dim_const(1));
  y.re = wick_build_reshape(b, re, t.rank, dim);
  y.im = wick_build_reshape(b, im, t.rank, dim);
  return y;
}

static wick_value complex_first(wick_import_node *n, wick_value x, int64_t size)
{
  uint32_t rank = n->b->status ? 0 : wick_built_info(n->b, x)->rank;
  return rank ? wick_emit_slice(n->b, x, rank - 1, wick_dim_const(0), wick_dim_const(size)) : x;
}

wick_complex wick_complex_rfft(wick_import_node *n, wick_value x, int64_t size)
{
  wick_complex y = wick_complex_dft(n, (wick_complex){x, {0}}, size, false);
  y.re = complex_first(n, y.re, size / 2 + 1);
  y.im = complex_first(n, y.im, size / 2 + 1);
  return y;
}

/* Element size - k of the whole transform is the conjugate of element k. */
wick_value wick_complex_irfft(wick_import_node *n, wick_complex x, int64_t size)
{
  wick_value part[2] = {x.re, x.im};
  if (n->failed || n->b->status) return x.re;
  uint32_t last = wick_built_info(n->b, x.re)->rank - 1u;
  int64_t half = size / 2 + 1, rest = size - half;
  for (int k = 0; k < 2; k++) {
    part[k] = wick_dft_fit(n->b, part[k], half);
    if (!rest) continue;
    wick_value v[2] = {part[k], {0}};
    v[1] = wick_emit_slice(n->b, part[k], last, wick_dim_const(1), wick_dim_const(rest));
    v[1] = wick_array_reverse(n, v[1], 1u << last);
    if (k) v[1] = wick_build1(n->b, WICK_OP_neg, v[1]);
    part[k] = wick_build_concat(n->b, last, 2, v);
  }
  wick_complex y = wick_complex_dft(n, (wick_complex){part[0], part[1]}, size, true);
  return wick_emit_by(n->b, WICK_OP_div, y.re, (double)size);
}
