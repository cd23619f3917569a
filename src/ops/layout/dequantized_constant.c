/* Dequantizes constants in strips of rows, one for each part of the deferred constant. */
#include "ops/layout/dequantized_constant.h"

#include <string.h>

#include "ir/element.h"

enum { DEQUANTIZED_ROWS = 64 };

int32_t wick_dequantized_code(wick_elem e, const void *q, int64_t k)
{
  uint32_t bits = wick_elem_storage[e].bits, at = (uint32_t)k * bits % 8;
  const unsigned char *bytes = q;
  int32_t code = bytes[(uint64_t)k * bits / 8] >> at & ((1 << bits) - 1);
  bool minus = wick_elem_class(e) == WICK_SINT && code >> (bits - 1);
  return minus ? code - (1 << bits) : code;
}

static float dequantized_number(const wick_dequantized *d, const void *q, int64_t i, int64_t j)
{
  int64_t at = d->turned ? j * d->rows + i : i * d->columns + j;
  if (wick_elem_is_float(d->elem)) return (float)wick_load_elem(d->elem, q, (uint64_t)at).f;
  const int32_t *zero = d->zero.data;
  const float *scale = d->scale.data;
  int32_t code = wick_dequantized_code(d->elem, q, at);
  if (zero) code -= zero[wick_shared_index(&d->zero, i, j)];
  return (float)code * scale[wick_shared_index(&d->scale, i, j)];
}

static void dequantized_make(const wick_deferred_constant *r, const void *from, uint32_t part,
                             void *to)
{
  const wick_dequantized *d = (const wick_dequantized *)(const void *)r;
  int64_t first = (int64_t)part * DEQUANTIZED_ROWS,
          end = wick_min_i64(d->rows, first + DEQUANTIZED_ROWS);
  for (int64_t i = first; i < end; i++)
    for (int64_t j = 0; j < d->columns; j++)
      ((float *)to)[i * d->columns + j] = dequantized_number(d, from, i, j);
}

uint32_t wick_constant_dequantized(wick_module *m, const char *name, uint32_t q,
                                   const wick_dequantized *d)
{
  wick_dequantized *x = wick_dup(&m->mem, wick_dequantized, d, 1);
  uint32_t parts = (uint32_t)wick_ceildiv_i64(d->rows, DEQUANTIZED_ROWS);
  int64_t dim[2] = {d->rows, d->columns};
  x->r = (wick_deferred_constant){q, parts, x, dequantized_make};
  return wick_constant_defer(m, name, wick_type_tensor_const(m, WICK_F32, 2, dim),
                             (uint64_t)(d->rows * d->columns) * 4, &x->r);
}

const wick_dequantized *wick_dequantized_of(const wick_constant *k)
{
  bool is = k->deferred && k->deferred->make == dequantized_make;
  return is ? (const wick_dequantized *)(const void *)k->deferred : NULL;
}

static wick_shared_numbers dequantized_swapped(const wick_shared_numbers *s)
{
  return (wick_shared_numbers){s->data, {s->block[1], s->block[0]}, {s->stride[1], s->stride[0]}};
}

wick_dequantized wick_dequantized_transposed(const wick_dequantized *d)
{
  return (wick_dequantized){.elem = d->elem,
                            .rows = d->columns,
                            .columns = d->rows,
                            .turned = !d->turned,
                            .scale = dequantized_swapped(&d->scale),
                            .zero = dequantized_swapped(&d->zero)};
}
