/* Matrix products with constant weights: columns in blocks of one to four vectors, so that a kernel
 * reads them from one end to the other. */
#include <math.h>
#include <string.h>

#include "ops/layout.h"

/* Some rows at a time: of those, each block's part is whole pages. */
static void layout_matmul_pack(const float *from, const int64_t *dim, int64_t v, float *to)
{
  enum { ROWS = 64 };
  for (int64_t first = 0; first < dim[0]; first += ROWS)
    for (int64_t b = 0; b * v < dim[1]; b++)
      for (int64_t i = first; i < dim[0] && i < first + ROWS; i++) {
        float *row = to + (b * dim[0] + i) * v;
        int64_t n = wick_min_i64(v, dim[1] - b * v);
        memcpy(row, from + i * dim[1] + b * v, (size_t)n * 4);
        if (n < v) memset(row + n, 0, (size_t)(v - n) * 4);
      }
}

enum { MATMUL_MOST = 4 }; /* vectors in a block */
enum { MATMUL_TILE = 8 }; /* rows of a tile of three blocks of one vector */

/* Cycles for one vector's columns of all rows, a step along the sum: register tiles of v vectors by
 * places, on a machine with two multiply-add pipes of latency 4 and two loads a cycle. */
static double layout_matmul_cycles(const wick_target *t, int64_t v, double rows)
{
  double most = (double)((t->nvector - 2) / v - 1);
  double tiles = ceil(rows / (most > 1 ? most : 1)), places = rows / tiles;
  double fma = (double)v * places / 2, load = ((double)v + places) / 2;
  double cycles = fma > load ? fma : load;
  return tiles * ((cycles > 4 ? cycles : 4) + 0.3) / (double)v;
}

/* Vectors in a block: as many as a tile has. Of equal ones the fewest: then each is used by more
 * rows. Of a few tiles of rows one: the weights come from far, and a tile takes several blocks, of
 * which the next ones are fetched early (16 x 650 x 10240: 0.90 ms; with blocks of four 1.08). */
int64_t wick_layout_matmul_width(const wick_layouts *s, const wick_type_info *x, int64_t columns)
{
  double rows = 1, least = 0;
  int64_t best = 1;
  for (uint32_t k = 0; k + 1 < x->rank; k++) rows *= (double)x->dim[k].v;
  if (rows > MATMUL_TILE && rows <= 4 * MATMUL_TILE) return s->block;
  for (int64_t v = 1; v <= MATMUL_MOST; v *= 2) {
    int64_t all = wick_ceildiv_i64(columns, v * s->block) * v * s->block;
    double cost = layout_matmul_cycles(s->target, v, rows);
    if (v > 1 && (all > columns + columns / 8 || cost > least * 0.995)) continue;
    best = v, least = cost;
  }
  return best * s->block;
}

bool wick_layout_matmul(wick_layouts *s, const wick_node *n)
{
  const wick_constant *k = wick_layout_constant(s, n->in[1]);
  const wick_type_info *x = wick_layout_info(s, n->in[0]), *w = wick_layout_info(s, n->in[1]);
  int64_t xd[WICK_MAX_RANK], wd[WICK_MAX_RANK];
  if (x->elem == WICK_I32) return wick_layout_matmul_bytes(s, n);
  if (!k || x->elem != WICK_F32 || w->rank != 2 || x->rank < 2 || !wick_type_const_dims(x, xd) ||
      !wick_type_const_dims(w, wd) || wd[1] < s->block)
    return false;
  int64_t v = wick_layout_matmul_width(s, x, wd[1]),
          dim[3] = {wick_ceildiv_i64(wd[1], v), wd[0], v};
  float *data = wick_module_room(s->c.f->module, (size_t)(dim[0] * dim[1] * dim[2]) * 4);
  layout_matmul_pack(k->data, wd, v, data);
  wick_value in[2] = {wick_layout_plain(s, n->in[0]),
                      wick_layout_new_constant(s, k->name, WICK_F32, data, 3, dim)};
  wick_layout_set_columns(s, n, wick_build(&s->c.b, WICK_OP_matmul_packed, 2, in, NULL, 0, NULL),
                          v);
  return true;
}
