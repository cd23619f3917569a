/* Strips of columns are the parts: tiles of them stay in the cache. */
#include "ops/turned.h"

#include <string.h>

enum { TURNED_TILE = 32 };

typedef struct turned_recipe {
  wick_recipe r;
  int64_t rows, columns; /* of the result */
} turned_recipe;

static void turned_make(const wick_recipe *r, const void *from, uint32_t part, void *to)
{
  const turned_recipe *x = (const turned_recipe *)(const void *)r;
  const char *in = from;
  float *out = to;
  int64_t c0 = (int64_t)part * TURNED_TILE, end = wick_min_i64(x->columns, c0 + TURNED_TILE);
  for (int64_t r0 = 0; r0 < x->rows; r0 += TURNED_TILE)
    for (int64_t row = r0; row < wick_min_i64(x->rows, r0 + TURNED_TILE); row++)
      for (int64_t c = c0; c < end; c++)
        memcpy(&out[row * x->columns + c], in + 4 * (c * x->rows + row), 4);
}

uint32_t wick_constant_turned(wick_module *m, const char *name, wick_type type, uint32_t from)
{
  const wick_type_info *t = wick_type_get(m, type);
  turned_recipe *x = wick_new(&m->mem, turned_recipe, 1);
  x->rows = t->dim[0].v, x->columns = t->dim[1].v;
  x->r = (wick_recipe){from, (uint32_t)wick_ceildiv_i64(x->columns, TURNED_TILE), turned_make};
  return wick_constant_defer(m, name, type, (uint64_t)(x->rows * x->columns) * 4, &x->r);
}

uint32_t wick_constant_turned_from(const wick_constant *k)
{
  return k->recipe && k->recipe->make == turned_make ? k->recipe->from : 0;
}
