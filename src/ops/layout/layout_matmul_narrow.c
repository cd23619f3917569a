/* Products with weights of few bits: packed like those of f32, but with their narrow numbers,
 * scales and zero points. */
#include <math.h>
#include <string.h>

#include "ir/element.h"
#include "ops/layout/dequantized_constant.h"
#include "ops/layout/layout.h"

enum { NARROW_ROWS = 64 }; /* rows of a part */

typedef struct narrow_deferred {
  wick_deferred_constant r;
  wick_dequantized d;
  int64_t v;
} narrow_deferred;

static int64_t narrow_at(const wick_dequantized *d, int64_t i, int64_t j)
{
  return d->turned ? j * d->rows + i : i * d->columns + j;
}

/* Packs one part, some rows of all blocks: [NB, K, v]. */
static void narrow_make_bytes(const wick_deferred_constant *r, const void *from, uint32_t part,
                              void *to)
{
  const narrow_deferred *x = (const narrow_deferred *)(const void *)r;
  const wick_dequantized *d = &x->d;
  size_t size = wick_elem_bytes(d->elem, 1);
  int64_t first = (int64_t)part * NARROW_ROWS, end = wick_min_i64(d->rows, first + NARROW_ROWS);
  for (int64_t b = 0; b * x->v < d->columns; b++)
    for (int64_t i = first; i < end; i++)
      for (int64_t j = b * x->v; j < wick_min_i64(d->columns, (b + 1) * x->v); j++)
        memcpy((char *)to + (size_t)((b * d->rows + i) * x->v + j % x->v) * size,
               (const char *)from + (size_t)narrow_at(d, i, j) * size, size);
}

/* The same for at most 4 bits, two rows in a byte: [NB, K / 2, v]. */
static void narrow_make_nibbles(const wick_deferred_constant *r, const void *from, uint32_t part,
                                void *to)
{
  const narrow_deferred *x = (const narrow_deferred *)(const void *)r;
  const wick_dequantized *d = &x->d;
  int64_t first = (int64_t)part * NARROW_ROWS, end = wick_min_i64(d->rows, first + NARROW_ROWS);
  for (int64_t b = 0; b * x->v < d->columns; b++)
    for (int64_t i = first; i < end; i++) {
      unsigned char *row = (unsigned char *)to + (b * d->rows + i) / 2 * x->v;
      for (int64_t j = b * x->v; j < wick_min_i64(d->columns, (b + 1) * x->v); j++)
        row[j % x->v] |=
            (unsigned char)((wick_dequantized_code(d->elem, from, narrow_at(d, i, j)) & 15)
                            << (i % 2 * 4));
    }
}

/* Returns the numbers of groups of rows in blocks of columns: [NB, G, v]. */
static wick_value narrow_shared(wick_layouts *s, const wick_dequantized *d,
                                const wick_shared_numbers *of, int64_t groups, int64_t v,
                                const char *name, wick_elem e)
{
  int64_t dim[3] = {wick_ceildiv_i64(d->columns, v), groups, v};
  uint64_t nbytes = wick_elem_bytes(e, (uint64_t)(dim[0] * groups * v));
  wick_elem from = e == WICK_F32 ? WICK_F32 : WICK_I32;
  void *out = memset(wick_module_alloc(s->c.f->module, nbytes), 0, nbytes);
  for (int64_t j = 0; j < d->columns; j++)
    for (int64_t g = 0; g < groups; g++) {
      int64_t at = wick_shared_index(of, g * (d->rows / groups), j);
      wick_store_elem(e, out, (uint64_t)((j / v * groups + g) * v + j % v),
                      wick_load_elem(from, of->data, (uint64_t)at));
    }
  return wick_layout_new_constant(s, name, e, out, 3, dim);
}

/* Returns the number of groups of rows that share scales and zero points; 0 if there are none. */
static int64_t narrow_groups(const wick_dequantized *d)
{
  int64_t rows = d->rows;
  if (d->scale.data) rows = wick_min_i64(rows, d->scale.block[0]);
  if (d->zero.data) rows = wick_min_i64(rows, d->zero.block[0]);
  bool whole = d->rows % rows == 0 && (!d->scale.data || d->scale.block[0] % rows == 0) &&
               (!d->zero.data || d->zero.block[0] % rows == 0);
  return whole ? d->rows / rows : 0;
}

static bool narrow_has_zero(const wick_dequantized *d)
{
  const int32_t *z = d->zero.data;
  for (int64_t i = 0; i < d->rows && z; i += d->zero.block[0])
    for (int64_t j = 0; j < d->columns; j += d->zero.block[1])
      if (z[wick_shared_index(&d->zero, i, j)]) return true;
  return false;
}

/* Returns true if the target widens these numbers in vectors. */
static bool narrow_widens(const wick_layouts *s, wick_elem e)
{
  return e != WICK_F16 || s->target->convert & WICK_BIT(e);
}

/* Returns true if weights that are widened in each run are faster than weights of f32, which come
 * from farther away. Tiles of rows widen a vector once. If the number of rows is not known, it may
 * be the least possible. */
static bool narrow_pays(const wick_layouts *s, const wick_dequantized *d, const wick_type_info *x)
{
  enum { TILE = 6 };
  wick_dims *dims = s->c.f->module->dims;
  uint32_t bits = wick_elem_storage[d->elem].bits;
  double rows = 1, per_cycle = wick_target_products(s->target),
         operations = d->elem == WICK_F16    ? 1
                      : d->elem == WICK_BF16 ? 2
                      : bits < 8             ? 5
                                             : 3;
  for (uint32_t k = 0; k + 1 < x->rank; k++) {
    int64_t least, most;
    wick_dim_range(dims, x->dim[k], &least, &most);
    rows *= (double)wick_max_i64(least, 1);
  }
  double wide = wick_target_weights(s->target, (uint64_t)(d->rows * d->columns) * 4) *
                s->target->vector_bytes / WICK_LINE,
         products = rows / per_cycle, tiles = ceil(rows / TILE);
  /* as many pipes as for products do other operations */
  return products + tiles * operations / (2 * per_cycle) < fmax(products, wide);
}

wick_value wick_layout_matmul_narrow(wick_layouts *s, const wick_node *n, uint32_t weights,
                                     int64_t v)
{
  enum { FEW = 8 }; /* rows with scales of their own are too few to be a loop */
  wick_module *m = s->c.f->module;
  const wick_dequantized *d = wick_dequantized_of(wick_constant_get(m, weights));
  if (!d || wick_layout_narrow(s, n->in[0]).id != n->in[0].id) return (wick_value){0};
  const char *name = wick_constant_get(m, weights)->name;
  int64_t groups = narrow_groups(d), inner = groups ? d->rows / groups : 0;
  uint32_t bits = wick_elem_storage[d->elem].bits;
  const wick_type_info *t = wick_layout_info(s, n->in[0]);
  if (!narrow_widens(s, d->elem) || !narrow_pays(s, d, t) || (inner < FEW && groups != 1) ||
      (bits < 8 && inner % 2))
    return (wick_value){0};
  narrow_deferred *y = wick_new(&m->mem, narrow_deferred, 1);
  *y = (narrow_deferred){.d = *d, .v = v};
  wick_elem e = bits >= 8 ? d->elem : wick_elem_class(d->elem) == WICK_SINT ? WICK_I8 : WICK_U8;
  int64_t dim[3] = {wick_ceildiv_i64(d->columns, v), bits < 8 ? d->rows / 2 : d->rows, v};
  y->r = (wick_deferred_constant){d->r.from, (uint32_t)wick_ceildiv_i64(d->rows, NARROW_ROWS), y,
                                  bits < 8 ? narrow_make_nibbles : narrow_make_bytes};
  wick_value in[4] = {wick_layout_plain(s, n->in[0]), wick_layout_new_weights(s, e, 3, dim, &y->r)};
  uint32_t nin = 2;
  if (d->scale.data) in[nin++] = narrow_shared(s, d, &d->scale, groups, v, name, WICK_F32);
  if (d->scale.data && narrow_has_zero(d))
    in[nin++] = narrow_shared(s, d, &d->zero, groups, v, name, e);
  return wick_build(&s->c.b, WICK_OP_matmul_packed, nin, in, NULL, 0, NULL);
}
