/* The template for attention. A task takes some vectors of queries of one batch. For each block of
 * keys it computes the products, weights and weighted values of these queries in scratch memory,
 * sized for the nearest caches. Both products are tiles in registers. */
#include <stdio.h>
#include <string.h>

#include "graph/group/cost.h"
#include "graph/group/template_state.h"

enum { ATTENTION_VECTORS = 2 }; /* vectors of queries in a task */
/* Keys and values are copied for the tasks of a batch if there are at least this many queries, and
 * if the copies need at most this much memory. */
enum { ATTENTION_COPY = 256, ATTENTION_COPIED = 8 << 20 };

typedef struct attention_group {
  template_state *t;
  const wick_stage *st[11]; /* in the order of the enum below; NULL: the group has no such stage */
  const wick_stage *out;
  uint32_t nbatch;
  int64_t m, e, d, n;       /* queries, columns of values and of keys, keys in a block */
  int64_t queries, columns; /* vector lanes along queries, and along columns of values */
  bool many;                /* there are several blocks of keys */
  bool varies;              /* the number of keys in a block is dynamic */
  const char *block;        /* STAGE.LOOP that contains one block */
} attention_group;

enum { KEYS, ROWS, QUERIES, PRODUCTS, MASK, SCORES, LARGEST, WEIGHTS, SUM, VALUES, BLOCKS };

static bool attention_group_of(template_state *t, attention_group *a)
{
  static const char *const name[] = {"keys",    "rows",    "queries", "products", "mask",  "scores",
                                     "largest", "weights", "sum",     "values",   "blocks"};
  static const bool fold[] = {
      [PRODUCTS] = true, [LARGEST] = true, [SUM] = true, [VALUES] = true, [BLOCKS] = true};
  *a = (attention_group){.t = t, .out = t->out};
  uint32_t at = 0;
  for (uint32_t k = 0; k < WICK_COUNT(name); k++) {
    const wick_stage *st = at < t->s->output ? &t->s->stage[at] : NULL;
    bool is = st && strcmp(st->name, name[k]) == 0 && st->fold == fold[k];
    if (!is && k != MASK && k != BLOCKS) return false;
    if (is) a->st[k] = st, at++;
  }
  for (; at < t->s->output; at++)
    if (t->s->stage[at].fold) return false;
  if (a->out->fold || a->out->naxis < 2 || a->out->naxis > TEMPLATE_AXES) return false;
  a->nbatch = a->out->naxis - 2;
  const wick_stage *products = a->st[PRODUCTS];
  a->m = template_extent(t, a->out, a->nbatch), a->e = template_extent(t, a->out, a->nbatch + 1);
  a->d = template_extent(t, products, products->naxis - 1);
  a->n = template_extent(t, products, products->naxis - 3);
  a->varies = template_varies(products, products->naxis - 3);
  a->queries = template_dot_lanes(t, template_most(t, a->out, a->nbatch));
  a->columns = template_dot_lanes(t, template_most(t, a->out, a->nbatch + 1));
  a->many = a->st[BLOCKS] != NULL;
  a->block =
      a->many ? "blocks.block"
              : wick_str_printf(t->tmp, "%s.%s", a->out->name, template_loop(t, a->out, a->nbatch));
  return a->m > 0 && a->e > 0 && a->d > 0 && a->n > 0;
}

/* ---- steps of a stage ---- */

static void attention_text(const attention_group *a, const char *fmt, ...) WICK_PRINTF(2, 3);
static void attention_text(const attention_group *a, const char *fmt, ...)
{
  char text[256];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  wick_text_add(&a->t->steps, text);
}

/* Splits `lane` off a loop and makes it the vector. Returns true if the loop has vectors. */
static bool attention_lanes(const attention_group *a, const char *stage, const char *loop,
                            int64_t lanes)
{
  if (lanes > 1)
    attention_text(a, "split %s.%s lane:%lld; vector %s.lane; ", stage, loop, (long long)lanes,
                   stage);
  return lanes > 1;
}

/* Writes `order STAGE:`, the batches, and the block if the stage is computed for each block. */
static void attention_order(const attention_group *a, const wick_stage *st)
{
  template_order_begin(a->t, st);
  for (uint32_t k = 0; k < a->nbatch; k++) attention_text(a, " %s", template_loop(a->t, st, k));
  if (a->many && st != a->out && st != a->st[QUERIES] && st != a->st[BLOCKS])
    attention_text(a, " block");
}

static const char *attention_lane(int64_t lanes) { return lanes > 1 ? " lane" : ""; }

/* Writes the loops of a map in which neighbouring queries are contiguous, but not in the tensor
 * that it reads. Vectors are read along the loop `along`, which has that extent, and transposed. */
static void attention_turned(const attention_group *a, uint32_t stage, const char *along,
                             int64_t extent)
{
  const wick_stage *st = a->st[stage];
  int64_t n = a->queries <= 16 ? a->queries : 1;
  while (n > extent) n /= 2;
  attention_lanes(a, st->name, "query", a->queries);
  if (n > 1) {
    attention_text(a, "split %s.%s turned:%lld; ", st->name, along, (long long)n);
    if (extent % n || (stage == MASK && a->varies))
      attention_text(a, "tail %s.%s overlap; ", st->name, along);
  }
  attention_order(a, st);
  attention_text(a, " query %s%s%s; ", along, n > 1 ? " turned" : "", attention_lane(a->queries));
  if (n > 1) attention_text(a, "turn %s.turned; ", st->name);
}

/* Unrolls a part of a sum's loop. Returns " u" if the loop was split for this, else "". */
static const char *attention_unroll(const attention_group *a, const char *stage, const char *sum,
                                    int64_t extent)
{
  int64_t unroll = a->t->knobs.unroll ? a->t->knobs.unroll : 4;
  if (extent <= unroll || unroll < 2) return "";
  attention_text(a, "split %s.%s u:%lld; unroll %s.u; ", stage, sum, (long long)unroll, stage);
  return " u";
}

/* Writes the loops of a sum of products in registers: `sum` outside, then the loops of the tile. */
static void attention_product(const attention_group *a, uint32_t stage, const char *sum,
                              int64_t extent, const char *positions, const char *vectors,
                              int64_t lanes)
{
  const wick_stage *st = a->st[stage];
  const char *u = attention_unroll(a, st->name, sum, extent);
  attention_lanes(a, st->name, vectors, lanes);
  attention_order(a, st);
  attention_text(a, " %s%s %s %s%s; ", sum, u, positions, vectors, attention_lane(lanes));
  for (uint32_t k = 0; k < a->nbatch; k++)
    attention_text(a, "unroll %s.%s; ", st->name, template_loop(a->t, st, k));
  if (a->many) attention_text(a, "unroll %s.block; ", st->name);
  attention_text(a, "unroll %s.%s %s.%s; ", st->name, positions, st->name, vectors);
}

/* Writes the loops of a fold that yields one number for each query from all keys of a block. It has
 * several partial states, which keep the pipes busy. */
static void attention_row(const attention_group *a, uint32_t stage)
{
  const char *name = a->st[stage]->name;
  bool parts = a->n >= 8;
  attention_lanes(a, name, "query", a->queries);
  if (parts) attention_text(a, "split %s.key p:4; rfactor %s.p; ", name, name);
  attention_order(a, a->st[stage]);
  attention_text(a, " key%s query%s; unroll %s.query; ", parts ? " p" : "",
                 attention_lane(a->queries), name);
}

/* ---- the whole group ---- */

/* Returns the cycles of tiles of v vectors by p positions that cover all vectors and positions.
 * Each vector of a tile streams `each` bytes of vectors. */
static double attention_cost(const attention_group *a, int64_t vectors, int64_t positions,
                             int64_t v, int64_t p, uint64_t each)
{
  double cost = 0;
  for (uint32_t rest = 0; rest < 4; rest++) { /* bits: the last, smaller tile along each axis */
    int64_t x = rest & 1 ? vectors % v : v, y = rest & 2 ? positions % p : p,
            count = (rest & 1 ? x != 0 : vectors / v) * (rest & 2 ? y != 0 : positions / p);
    wick_cost_tile tile = {
        .vectors = x, .positions = y, .products = x * y, .stream_bytes = (uint64_t)x * each};
    if (count && x && y) cost += (double)count * wick_cost_step(a->t->t, &tile);
  }
  return cost;
}

/* Returns the best tile in registers, or the one that the knob sets. With `whole`, the tile has
 * all vectors. With `even`, its number of positions is a power of two, so that it divides the
 * queries of a task; smaller tiles after the others were measured to add half of the time. */
static wick_tile attention_tile_of(const attention_group *a, int64_t vectors, int64_t positions,
                                   bool whole, bool even, uint64_t each, int64_t knob)
{
  int64_t registers = a->t->t->nvector ? a->t->t->nvector : 8;
  wick_tile best = {whole ? vectors : 1, 1, 1};
  double least = 1e300;
  for (int64_t v = whole ? vectors : 1; v <= vectors && v <= 8; v++)
    for (int64_t p = 1; p <= positions && (p == 1 || v * (p + 1) + 2 <= registers); p++) {
      if ((even && p & (p - 1)) || (knob && p != wick_min_i64(knob, positions))) continue;
      double cost = attention_cost(a, vectors, positions, v, p, each);
      if (cost < least * 0.999) best = (wick_tile){v, p, 1}, least = cost;
    }
  a->t->refused = a->t->refused || (knob && least == 1e300);
  return best;
}

/* Writes the loops over queries and columns, in the order `outside`, around a tile. */
static void attention_around(const attention_group *a, const wick_stage *st, const char *query,
                             const char *column, const wick_tile *tile, const char *outside)
{
  const char *s = st->name;
  attention_text(a, "split %s.%s mi:%lld; ", s, query, (long long)tile->positions);
  attention_lanes(a, s, column, a->columns);
  attention_text(a, "split %s.%s ev:%lld; ", s, column, (long long)tile->vectors);
  attention_order(a, st);
  attention_text(a, " %s mi ev%s; unroll %s.mi %s.ev; ", outside, attention_lane(a->columns), s, s);
}

/* Writes the loops of the fold over blocks, which keeps its values in scratch memory, and of the
 * output, which reads them. */
static void attention_many(const attention_group *a, const char *query, const char *column,
                           const wick_tile *tile)
{
  const char *o = a->out->name;
  attention_text(a, "at blocks %s.%s scratch; ", o, query);
  attention_lanes(a, "blocks", "e", a->columns);
  attention_order(a, a->st[BLOCKS]);
  attention_text(a, " block query e%s; at values blocks.block scratch; ",
                 attention_lane(a->columns));
  const char *u = attention_unroll(a, "values", "key", a->n);
  attention_around(a, a->st[VALUES], "query", "e", tile,
                   wick_str_printf(a->t->tmp, "e query key%s", u));
  if (!attention_lanes(a, o, column, a->columns)) return;
  attention_order(a, a->out);
  attention_text(a, " %s qi %s lane; ", query, column);
}

/* Writes the loops of the stages that are computed for each block of keys, in scratch memory. */
static void attention_inside(const attention_group *a, const wick_tile *tile)
{
  static const uint32_t inside[] = {SCORES, LARGEST, WEIGHTS, SUM};
  for (uint32_t k = 0; k < WICK_COUNT(inside); k++)
    attention_text(a, "at %s %s scratch; ", a->st[inside[k]]->name, a->block);
  if (a->st[MASK]) {
    attention_text(a, "at mask %s scratch; ", a->block);
    attention_turned(a, MASK, "key", a->n);
  }
  attention_text(a, "split scores.key ki:%lld; ", (long long)tile->positions);
  attention_lanes(a, "scores", "query", a->queries);
  attention_order(a, a->st[SCORES]);
  attention_text(a, " key ki query%s; unroll scores.ki scores.query; at products scores.key reg; ",
                 attention_lane(a->queries));
  attention_product(a, PRODUCTS, "d", a->d, "key", "query", a->queries);
  attention_row(a, LARGEST);
  attention_lanes(a, "weights", "query", a->queries);
  if (a->n >= 4) attention_text(a, "split weights.key ki:2; unroll weights.ki; ");
  attention_text(a, "unroll weights.query; ");
  attention_row(a, SUM);
}

/* Places the copies of keys and values. The first task of a batch that a worker runs makes them;
 * without copies, keys and values are read directly. */
static void attention_copies(const attention_group *a)
{
  const wick_stage *rows = a->st[ROWS];
  int64_t all = a->n * (a->d + a->e) * (a->many ? template_extent(a->t, rows, a->nbatch) : 1);
  bool copy = a->nbatch && a->m >= ATTENTION_COPY && all <= ATTENTION_COPIED / 4;
  for (uint32_t k = KEYS; k <= ROWS; k++) {
    const char *name = a->st[k]->name;
    if (!copy) {
      attention_text(a, "inline %s; ", name);
      continue;
    }
    attention_text(a, "at %s %s.%s scratch; ", name, a->out->name,
                   template_loop(a->t, a->out, a->nbatch - 1));
    attention_lanes(a, name, k == KEYS ? "d" : "e",
                    template_dot_lanes(a->t, k == KEYS ? a->d : a->e));
  }
}

bool template_attention_match(template_state *t)
{
  attention_group *a = wick_new(t->tmp, attention_group, 1);
  t->found = a;
  return attention_group_of(t, a);
}

void template_attention(template_state *t)
{
  const attention_group *a = t->found;
  const char *o = a->out->name, *query = template_loop(t, a->out, a->nbatch),
             *column = template_loop(t, a->out, a->nbatch + 1);
  int64_t vectors = t->knobs.vectors ? t->knobs.vectors : ATTENTION_VECTORS,
          most = template_most(t, a->out, a->nbatch),
          size = wick_min_i64(vectors * a->queries, most);
  bool varies = template_varies(a->out, a->nbatch);
  if (varies)
    size = wick_ceildiv_i64(size, a->queries) * a->queries; /* whole vectors, then a remainder */
  uint64_t bytes = t->t->vector_bytes;
  wick_tile products = attention_tile_of(a, wick_ceildiv_i64(size, a->queries), a->n, true, false,
                                         (uint64_t)a->d * bytes, t->knobs.columns),
            values = attention_tile_of(a, wick_ceildiv_i64(a->e, a->columns), size, false, true,
                                       (uint64_t)a->n * bytes, t->knobs.rows);
  size = wick_ceildiv_i64(size, values.positions) * values.positions;
  for (const wick_stage *st = a->st[VALUES] + 1; st < a->out; st++)
    if (!st->fold) attention_text(a, "inline %s; ", st->name);
  attention_copies(a);
  attention_text(a, "split %s.%s qi:%lld; ", o, query, (long long)size);
  if (varies) attention_text(a, "tail %s.%s peel:%lld; ", o, query, (long long)a->queries);
  if (a->many) {
    attention_many(a, query, column, &values);
  } else {
    attention_around(a, a->out, "qi", column, &values,
                     wick_str_printf(t->tmp, "%s qi %s", query, column));
    attention_text(a, "at values %s.%s reg; ", o, column);
    attention_product(a, VALUES, "key", a->n, "query", "e", a->columns);
  }
  for (uint32_t k = 0; k < a->nbatch; k++)
    attention_text(a, "parallel %s.%s; ", o, template_loop(t, a->out, k));
  attention_text(a, "parallel %s.%s; ", o, query);
  attention_text(a, "at queries %s.%s scratch; ", o, query);
  attention_turned(a, QUERIES, "d", a->d);
  attention_inside(a, &products);
}
