/* Transposes constants in strips of columns, one for each part of the deferred constant. Tiles of a
 * strip stay in the cache. */
#include "ops/layout/transposed_constant.h"

#include <string.h>

enum { TRANSPOSED_CONSTANT_TILE = 32 };

typedef struct transposed_constant_deferred {
  wick_deferred_constant r;
  int64_t rows, columns; /* of the result */
} transposed_constant_deferred;

static void transposed_constant_make(const wick_deferred_constant *r, const void *from,
                                     uint32_t part, void *to)
{
  const transposed_constant_deferred *x = (const transposed_constant_deferred *)(const void *)r;
  const char *in = from;
  float *out = to;
  int64_t c0 = (int64_t)part * TRANSPOSED_CONSTANT_TILE,
          end = wick_min_i64(x->columns, c0 + TRANSPOSED_CONSTANT_TILE);
  for (int64_t r0 = 0; r0 < x->rows; r0 += TRANSPOSED_CONSTANT_TILE)
    for (int64_t row = r0; row < wick_min_i64(x->rows, r0 + TRANSPOSED_CONSTANT_TILE); row++)
      for (int64_t c = c0; c < end; c++)
        memcpy(&out[row * x->columns + c], in + 4 * (c * x->rows + row), 4);
}

uint32_t wick_constant_transposed(wick_module *m, const char *name, wick_type type, uint32_t from)
{
  const wick_type_info *t = wick_type_get(m, type);
  transposed_constant_deferred *x = wick_new(&m->mem, transposed_constant_deferred, 1);
  x->rows = t->dim[0].v, x->columns = t->dim[1].v;
  x->r = (wick_deferred_constant){from,
                                  (uint32_t)wick_ceildiv_i64(x->columns, TRANSPOSED_CONSTANT_TILE),
                                  NULL, transposed_constant_make};
  return wick_constant_defer(m, name, type, (uint64_t)(x->rows * x->columns) * 4, &x->r);
}

uint32_t wick_constant_transposed_from(const wick_constant *k)
{
  return k->deferred && k->deferred->make == transposed_constant_make ? k->deferred->from : 0;
}
