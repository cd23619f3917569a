/* Matrix products with constant or large weights: columns in blocks of one to four vectors, so that a
 * kernel reads them sequentially. */
#include <math.h>
#include <string.h>

#include "ops/layout/layout.h"
#include "ops/layout/transposed_constant.h"

enum { MATMUL_ROWS = 64 }; /* rows of a part */

typedef struct layout_matmul_deferred {
  wick_deferred_constant r;
  int64_t rows, columns, v;
  int64_t k;      /* rows that are stored next to each other */
  wick_elem elem; /* of the result */
} layout_matmul_deferred;

/* Packs one part: some rows of all blocks. */
static void layout_matmul_make(const wick_deferred_constant *r, const void *from, uint32_t part,
                               void *to)
{
  const layout_matmul_deferred *x = (const layout_matmul_deferred *)(const void *)r;
  int64_t first = (int64_t)part * MATMUL_ROWS, end = wick_min_i64(x->rows, first + MATMUL_ROWS);
  for (int64_t b = 0; b * x->v < x->columns; b++)
    for (int64_t i = first; i < end; i++)
      memcpy((float *)to + (b * x->rows + i) * x->v,
             (const char *)from + 4 * (i * x->columns + b * x->v),
             (size_t)wick_min_i64(x->v, x->columns - b * x->v) * 4);
}

/* The same for 16-bit floats: [NB, K / k, v, k]. */
static void layout_matmul_make_halves(const wick_deferred_constant *r, const void *from,
                                      uint32_t part, void *to)
{
  const layout_matmul_deferred *x = (const layout_matmul_deferred *)(const void *)r;
  int64_t first = (int64_t)part * MATMUL_ROWS, end = wick_min_i64(x->rows, first + MATMUL_ROWS);
  for (int64_t b = 0; b * x->v < x->columns; b++)
    for (int64_t i = first; i < end; i++) {
      const char *in = (const char *)from + 4 * (i * x->columns + b * x->v);
      uint16_t *row = (uint16_t *)to + (b * x->rows + i / x->k * x->k) * x->v + i % x->k;
      for (int64_t j = 0; j < wick_min_i64(x->v, x->columns - b * x->v); j++)
        row[j * x->k] = wick_layout_half(x->elem, in + 4 * j);
    }
}

/* The same from [columns, rows]. A part is one block, packed column by column. */
static void layout_matmul_make_transposed(const wick_deferred_constant *r, const void *from,
                                          uint32_t part, void *to)
{
  enum { LINE = 16 };
  const layout_matmul_deferred *x = (const layout_matmul_deferred *)(const void *)r;
  int64_t first = part * x->v, n = wick_min_i64(x->v, x->columns - first);
  for (int64_t i = 0; i < x->rows; i += LINE) {
    int64_t lines = wick_min_i64(LINE, x->rows - i);
    float line[LINE], *block = (float *)to + (part * x->rows + i) * x->v;
    for (int64_t k = 0; k < n; k++) {
      memcpy(line, (const char *)from + 4 * ((first + k) * x->rows + i), (size_t)lines * 4);
      for (int64_t q = 0; q < lines; q++) block[q * x->v + k] = line[q];
    }
  }
}

/* Packs the constant [rows, columns] as [blocks, rows, v], for the element type of x. If x and all
 * numbers are 16-bit floats, the result has these, in pairs if the target has a dot product of
 * pairs. */
static wick_value layout_matmul_packed(wick_layouts *s, uint32_t from, const int64_t *wd, int64_t v,
                                       wick_elem e)
{
  enum { PAIR = 2 };
  wick_module *m = s->c.f->module;
  layout_matmul_deferred *x = wick_new(&m->mem, layout_matmul_deferred, 1);
  bool half = e != WICK_F32 && wick_layout_holds(s, from, e),
       pairs = half && wick_target_dot(s->target, e, e, PAIR) && wd[0] % PAIR == 0;
  *x = (layout_matmul_deferred){
      .rows = wd[0], .columns = wd[1], .v = v, .k = pairs ? PAIR : 1, .elem = half ? e : WICK_F32};
  int64_t blocks = wick_ceildiv_i64(wd[1], v), dim[4] = {blocks, wd[0] / x->k, v, x->k};
  uint32_t other = half ? 0 : wick_constant_transposed_from(wick_constant_get(m, from)),
           parts = (uint32_t)wick_ceildiv_i64(wd[0], MATMUL_ROWS);
  x->r =
      other ? (wick_deferred_constant){other, (uint32_t)blocks, NULL, layout_matmul_make_transposed}
            : (wick_deferred_constant){from, parts, NULL,
                                       half ? layout_matmul_make_halves : layout_matmul_make};
  return wick_layout_new_weights(s, x->elem, pairs ? 4 : 3, dim, &x->r);
}

enum { MATMUL_MOST = 4 }; /* vectors in a block */
enum { MATMUL_TILE = 8 }; /* rows of a tile with three blocks of one vector */

/* Returns the cycles for one vector of columns and all rows, per step along the sum. Register tiles
 * have v vectors by some rows. */
static double layout_matmul_cycles(const wick_target *t, int64_t v, double rows)
{
  double most = (double)((t->nvector - 2) / v - 1);
  double tiles = ceil(rows / (most > 1 ? most : 1)), places = rows / tiles;
  double cycles = fmax((double)v * places / wick_target_products(t),
                       ((double)v + places) / wick_target_loads(t));
  return tiles * (fmax(cycles, wick_target_processor(t)->latency) + 0.3) / (double)v;
}

/* Returns the rows of a product; the first `batch` axes of x count products. */
static double layout_matmul_rows(const wick_layouts *s, const wick_type_info *x, uint32_t batch)
{
  double rows = 1;
  for (uint32_t k = batch; k + 1 < x->rank; k++)
    rows *= (double)wick_dim_typical(s->c.f->module->dims, x->dim[k]);
  return rows;
}

/* Returns the columns of a block: as many vectors as a tile has, so that all columns take the fewest
 * cycles, those that fill the last block included. Among equally fast sizes the smallest is used,
 * because each vector is then used by more rows. With only a few tiles of rows, a block has one
 * vector: the weights come from far away, and a tile reads several blocks, the next of which are
 * prefetched (16 x 650 x 10240: 0.90 ms; with blocks of four vectors 1.08). */
int64_t wick_layout_matmul_width(const wick_layouts *s, const wick_type_info *x, uint32_t batch,
                                 int64_t columns)
{
  double rows = layout_matmul_rows(s, x, batch), least = 0;
  int64_t best = 1;
  if (rows <= 4 * MATMUL_TILE) return s->block;
  for (int64_t v = 1; v <= MATMUL_MOST; v++) {
    int64_t all = wick_ceildiv_i64(columns, v * s->block) * v;
    double cost = layout_matmul_cycles(s->target, v, rows) * (double)all;
    if (v > 1 && cost > least * 0.995) continue;
    best = v, least = cost;
  }
  return best * s->block;
}

/* Returns true if the product of a matrix as it is takes less time, because the sum is short and the
 * columns do not fill their blocks: the result need not be moved out of them (591 x 21 x 241: 78 us
 * instead of 96; 326 x 23 x 720: 128 instead of 152; 119 x 627 x 89: 162 instead of 151). */
static bool layout_matmul_is_short(const wick_layouts *s, wick_value x, const int64_t *wd,
                                   int64_t v)
{
  enum { SHORT = 32 };
  return wd[0] <= SHORT && wd[1] % v && wick_layout_info(s, x)->elem == WICK_F32;
}

/* Builds the product with a packed matrix. The result of floats has no more columns than the plain matrix if
 * the target has vectors that end anywhere, so that it need not be moved out of whole blocks (187 x 42 x 254:
 * 0.8 of the time). */
static wick_value layout_matmul_build(wick_layouts *s, wick_value x, wick_value w, uint32_t batch,
                                      const int64_t *wd, int64_t v)
{
  wick_value in[2] = {x, w};
  if (s->c.b.status) return x;
  bool ends = wd[1] % v && s->target->mask & WICK_BIT(WICK_F32) &&
              wick_built_info(&s->c.b, x)->elem == WICK_F32 &&
              wick_built_info(&s->c.b, w)->elem == WICK_F32;
  const wick_attr attr[] = {[WICK_ATTR_matmul_packed_batch] = {.i = batch},
                            [WICK_ATTR_matmul_packed_columns] = {.i = ends ? wd[1] : 0}};
  return wick_build(&s->c.b, WICK_OP_matmul_packed, 2, in, attr, 0, NULL);
}

/* ---- weights that are computed ---- */

/* Returns the node that transposes matrices to v, or NULL. */
static const wick_node *layout_matmul_transpose(const wick_layouts *s, wick_value v)
{
  uint32_t d = s->definer[v.id], rank = wick_layout_info(s, v)->rank;
  const wick_node *n = d == UINT32_MAX ? NULL : &s->c.f->node[d];
  if (!n || n->op != WICK_OP_transpose) return NULL;
  for (uint32_t k = 0; k < rank; k++)
    if (n->attr[WICK_ATTR_transpose_perm].ints[k] !=
        (k + 2 < rank ? k : 2 * (int64_t)rank - 3 - (int64_t)k))
      return NULL;
  return n;
}

/* Returns true if v is the same in each step of the loop around the product, so that it is packed before the
 * loop (licm). */
static bool layout_matmul_is_invariant(const wick_layouts *s, wick_value v)
{
  uint32_t d = s->definer[v.id];
  if (!s->loop) return false;
  return d == UINT32_MAX ? v.id <= s->c.f->nparam : d < (uint32_t)(s->loop - s->c.f->node);
}

/* Returns true if only products read v, the transposition, so that it is not made. */
static bool layout_matmul_alone(const wick_layouts *s, wick_value v)
{
  for (uint32_t i = s->uses.first[v.id]; i < s->uses.first[v.id + 1]; i++)
    if (s->c.f->node[s->uses.use[i]].op != WICK_OP_matmul) return false;
  return true;
}

/* Returns how much the reads of a plain matrix wait, in reads of its lines from the second cache. A tile of rows
 * reads a line of each row; such lines share few sets of the caches, and rows of a page and more are not
 * prefetched (of the ceiling, on Zen 3: 128 x 768 x 768 66 %, packed 91; 128 x 1024 x 1024 35 and 70; 32 x 64 x 1024
 * 38 and 98). Vectors of a whole line have tiles of more rows, and wait only if the lines leave the first cache before
 * the next tile reads them (on Zen 5: 64 x 512 x 512 126 us, packed 160; 128 x 1024 x 1024 1.09 ms and 1.23;
 * 100 x 2048 x 512 1.12 and 0.92; 256 x 2048 x 2048 13.9 and 9.7). */
static double layout_matmul_waits(const wick_target *t, double rows, const int64_t *wd)
{
  enum { LINE = 64, PAGE = 4096 };
  const double kept = 2.0 / 3; /* of the first cache, beside the rows of the other factor */
  if (t->vector_bytes < LINE) return rows / MATMUL_TILE * (wd[1] * 4 < PAGE ? 1 : 2);
  return rows / (t->nvector - 3) * LINE * (double)wd[0] /
         (kept * (double)wick_target_processor(t)->cache_bytes[0]);
}

/* Returns true if the rows together save more than it takes to pack the weights, of all products of a
 * batch. Of a batch, matrices that are small stay in the caches as they are, and results of short sums
 * would have to be moved out of blocks (32 x 197 x 64 x 197: 2.3 ms, packed 3.7; 3 x 271 x 433 x 1179: 19.2 and
 * 15.0). Packing a line costs as much as 6 such reads from the second cache, and 11 from the third. It is
 * `free` if many steps or runs share it, or if it takes the place of a transposition. */
static bool layout_matmul_is_worth(const wick_layouts *s, const wick_type_info *x, uint32_t batch,
                                   const int64_t *wd, int64_t v, bool free)
{
  enum { SHORT = 32, LONG = 128, SMALL = 4 };
  const uint64_t *cache = wick_target_processor(s->target)->cache_bytes;
  uint64_t nbytes = (uint64_t)(wd[0] * wd[1]) * 4;
  double rows = layout_matmul_rows(s, x, batch), all = (double)nbytes;
  if (wd[0] < SHORT || nbytes <= cache[0] || rows < MATMUL_TILE) return false;
  if (batch && (SMALL * nbytes <= cache[1] || (wd[0] < LONG && wd[1] % v))) return false;
  for (uint32_t k = 0; k < batch; k++)
    all *= (double)wick_dim_typical(s->c.f->module->dims, x->dim[k]);
  return free || layout_matmul_waits(s->target, rows, wd) > (all <= (double)cache[1] ? 6 : 11);
}

/* Returns true if sums along the rows of the matrix that is transposed take less time than packing it:
 * rows are long and few products share it (16 x 512 x 512: 70 us, packed 95; 8 x 100 x 1000: 29 and 22; 32 x
 * 2048 x 2048: 4.2 ms and 3.5). */
static bool layout_matmul_is_turned(const wick_layouts *s, const wick_type_info *x, uint32_t batch,
                                    const int64_t *wd)
{
  enum { MOST = 24, LONG = 16 };
  double rows = layout_matmul_rows(s, x, batch);
  return rows <= MOST && LONG * rows <= (double)wd[0];
}

/* Multiplies by matrices that a run computes, or is given, or by a batch of constant ones, which are packed
 * when the program is compiled. Returns 0 if packing them does not save time. */
static wick_value layout_matmul_computed(wick_layouts *s, const wick_node *n, uint32_t batch,
                                         const int64_t *wd, int64_t v)
{
  const wick_node *turn = layout_matmul_transpose(s, n->in[1]);
  wick_value from = turn ? turn->in[0] : n->in[1];
  const wick_type_info *x = wick_layout_info(s, n->in[0]);
  bool once = !wick_layout_weights(s, from) && !layout_matmul_is_invariant(s, from),
       alone = turn && layout_matmul_alone(s, n->in[1]);
  if ((once && alone && layout_matmul_is_turned(s, x, batch, wd)) ||
      !layout_matmul_is_worth(s, x, batch, wd, v, !once || alone))
    return (wick_value){0};
  wick_order order = wick_order_make(wd[1], 1, v, false);
  wick_value w = wick_layout_plain(s, from);
  w = wick_build_pack(&s->c.b, w, batch + !turn, &order);
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t k = 0; k < batch + 3; k++) perm[k] = k;
  perm[batch] = batch + 1, perm[batch + 1] = batch;
  if (!turn) w = wick_build_transpose(&s->c.b, w, batch + 3, perm);
  return layout_matmul_build(s, wick_layout_plain(s, n->in[0]), w, batch, wd, v);
}

/* Multiplies by a constant. Returns 0 if the plain matrix takes less time. */
static wick_value layout_matmul_constant(wick_layouts *s, const wick_node *n, uint32_t k,
                                         const int64_t *wd, int64_t v)
{
  wick_value from = wick_layout_narrow(s, n->in[0]);
  wick_value y = wick_layout_matmul_narrow(s, n, k, v);
  if (y.id || layout_matmul_is_short(s, from, wd, v)) return y;
  wick_value packed = layout_matmul_packed(s, k, wd, v, wick_layout_info(s, from)->elem);
  return layout_matmul_build(s, wick_layout_plain(s, from), packed, 0, wd, v);
}

/* Returns true if w is one matrix, or has as many as x. */
static bool layout_matmul_pairs(const wick_type_info *x, const wick_type_info *w)
{
  if (x->rank < 2 || w->rank < 2) return false;
  if (w->rank == 2) return true;
  bool pairs = x->rank == w->rank && w->rank < WICK_MAX_RANK;
  for (uint32_t k = 0; k + 2 < w->rank; k++) pairs = pairs && wick_dim_eq(x->dim[k], w->dim[k]);
  return pairs;
}

bool wick_layout_matmul(wick_layouts *s, const wick_node *n)
{
  uint32_t k = wick_layout_weights(s, n->in[1]);
  const wick_type_info *x = wick_layout_info(s, n->in[0]), *w = wick_layout_info(s, n->in[1]);
  if (x->elem == WICK_I32) return wick_layout_matmul_bytes(s, n);
  if (x->elem != WICK_F32 || !layout_matmul_pairs(x, w)) return false;
  uint32_t batch = w->rank - 2u;
  wick_dim rows = w->dim[batch], columns = w->dim[batch + 1];
  if (!wick_dim_is_const(rows) || !wick_dim_is_const(columns) || columns.v < s->block) return false;
  const int64_t wd[2] = {rows.v, columns.v};
  int64_t v = wick_layout_matmul_width(s, x, batch, wd[1]);
  wick_value y = k && !batch ? layout_matmul_constant(s, n, k, wd, v)
                             : layout_matmul_computed(s, n, batch, wd, v);
  if (!y.id) return false;
  if (!s->c.b.status && wick_built_info(&s->c.b, y)->rank == x->rank)
    s->c.to[n->first.id] = y;
  else
    wick_layout_set_columns(s, n, y, v);
  return true;
}
