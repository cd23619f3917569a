/* Attention: a task takes some vectors of queries of one batch. For each block of keys it makes the
 * products, weights and weighed values of these queries in scratch memory, sized for the nearest
 * caches; both products are tiles in registers. */
#include <stdio.h>
#include <string.h>

#include "graph/group/template_state.h"

enum { ATTENTION_VECTORS = 2 }; /* of queries, in a task */

typedef struct attention_group {
  template_state *t;
  const wick_stage *st[9]; /* in the order of the row's stages; NULL: there is none */
  const wick_stage *out;
  uint32_t nbatch;
  int64_t m, e, d, n;       /* queries, columns of values and of keys, keys in a block */
  int64_t queries, columns; /* lanes of vectors along queries, and along columns of values */
  bool many;                /* blocks of keys */
  const char *block;        /* STAGE.LOOP in which one is */
} attention_group;

enum { QUERIES, PRODUCTS, MASK, SCORES, LARGEST, WEIGHTS, SUM, VALUES, BLOCKS };

static bool attention_group_of(template_state *t, attention_group *a)
{
  static const char *const name[] = {"queries", "products", "mask",   "scores", "largest",
                                     "weights", "sum",      "values", "blocks"};
  static const bool fold[] = {false, true, false, false, true, false, true, true, true};
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
  a->m = template_extent(a->out, a->nbatch), a->e = template_extent(a->out, a->nbatch + 1);
  a->d = template_extent(products, products->naxis - 1);
  a->n = template_extent(products, products->naxis - 3);
  a->queries = template_dot_lanes(t, a->m), a->columns = template_dot_lanes(t, a->e);
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

/* Splits `lane` off a loop and makes it the vector; true where it has one. */
static bool attention_lanes(const attention_group *a, const char *stage, const char *loop,
                            int64_t lanes)
{
  if (lanes > 1)
    attention_text(a, "split %s.%s lane:%lld; vector %s.lane; ", stage, loop, (long long)lanes,
                   stage);
  return lanes > 1;
}

/* `order STAGE:`, the batches, and the block where the stage has one. */
static void attention_order(const attention_group *a, const wick_stage *st)
{
  template_order_begin(a->t, st);
  for (uint32_t k = 0; k < a->nbatch; k++) attention_text(a, " %s", template_loop(a->t, st, k));
  if (a->many && st != a->out && st != a->st[QUERIES] && st != a->st[BLOCKS])
    attention_text(a, " block");
}

static const char *attention_lane(int64_t lanes) { return lanes > 1 ? " lane" : ""; }

/* A map in which the queries lie side by side, made of something in which they do not: vectors are
 * read along loop `along`, of that extent, and turned. */
static void attention_turned(const attention_group *a, uint32_t stage, const char *along,
                             int64_t extent)
{
  const wick_stage *st = a->st[stage];
  int64_t n = a->queries <= 16 ? a->queries : 1;
  while (n > extent) n /= 2;
  attention_lanes(a, st->name, "query", a->queries);
  if (n > 1) {
    attention_text(a, "split %s.%s turned:%lld; ", st->name, along, (long long)n);
    if (extent % n) attention_text(a, "tail %s.%s overlap; ", st->name, along);
  }
  attention_order(a, st);
  attention_text(a, " query %s%s%s; ", along, n > 1 ? " turned" : "", attention_lane(a->queries));
  if (n > 1) attention_text(a, "turn %s.turned; ", st->name);
}

/* A sum of products in registers: `sum` outside, then the tile's loops. */
static void attention_product(const attention_group *a, uint32_t stage, const char *sum,
                              int64_t extent, const char *places, const char *vectors,
                              int64_t lanes)
{
  const wick_stage *st = a->st[stage];
  int64_t unroll = a->t->knobs.unroll ? a->t->knobs.unroll : 4;
  bool split = extent > unroll && unroll > 1;
  if (split) attention_text(a, "split %s.%s u:%lld; ", st->name, sum, (long long)unroll);
  attention_lanes(a, st->name, vectors, lanes);
  attention_order(a, st);
  attention_text(a, " %s%s %s %s%s; ", sum, split ? " u" : "", places, vectors,
                 attention_lane(lanes));
  for (uint32_t k = 0; k < a->nbatch; k++)
    attention_text(a, "unroll %s.%s; ", st->name, template_loop(a->t, st, k));
  if (a->many) attention_text(a, "unroll %s.block; ", st->name);
  attention_text(a, "unroll %s.%s %s.%s; ", st->name, places, st->name, vectors);
  if (split) attention_text(a, "unroll %s.u; ", st->name);
}

/* A number for each query, of all keys of a block: some partial states, for the pipes. */
static void attention_row(const attention_group *a, uint32_t stage)
{
  const char *name = a->st[stage]->name;
  bool parts = a->n >= 8;
  attention_lanes(a, name, "query", a->queries);
  if (parts) attention_text(a, "split %s.key p:4; parts %s.p; ", name, name);
  attention_order(a, a->st[stage]);
  attention_text(a, " key%s query%s; unroll %s.query; ", parts ? " p" : "",
                 attention_lane(a->queries), name);
}

/* ---- the whole ---- */

/* The tile with those vectors and at most so many places; a knob's, where it is set. */
static wick_tile attention_tile_of(const attention_group *a, int64_t vectors, int64_t places,
                                   int64_t knob)
{
  wick_tile x = wick_template_tile(a->t->t, template_elem(a->t), vectors, places);
  if (knob) x.places = wick_min_i64(knob, places);
  int64_t registers = a->t->t->nvector ? a->t->t->nvector : 8;
  if (knob && x.vectors * (x.places + 1) + 2 > registers) a->t->refused = true;
  return x;
}

/* Loops over queries and columns of values around a tile of them, which is computed there. */
static void attention_around(const attention_group *a, const wick_stage *st, const char *first,
                             const char *query, const char *column, const wick_tile *tile)
{
  const char *s = st->name;
  attention_text(a, "split %s.%s mi:%lld; ", s, query, (long long)tile->places);
  attention_lanes(a, s, column, a->columns);
  attention_text(a, "split %s.%s ev:%lld; ", s, column, (long long)tile->vectors);
  attention_order(a, st);
  attention_text(a, " %s %s %s mi ev%s; unroll %s.mi %s.ev; ", first, query, column,
                 attention_lane(a->columns), s, s);
  attention_text(a, "at values %s.%s reg; ", s, column);
}

/* The fold over blocks, and the output, which takes its elements. */
static void attention_many(const attention_group *a, const char *query, const char *column,
                           const wick_tile *tile)
{
  const char *o = a->out->name;
  attention_text(a, "at blocks %s.%s scratch; ", o, query);
  attention_around(a, a->st[BLOCKS], "block", "query", "e", tile);
  if (!attention_lanes(a, o, column, a->columns)) return;
  attention_order(a, a->out);
  attention_text(a, " %s qi %s lane; ", query, column);
}

/* What is made for each block of keys, in scratch memory. */
static void attention_inside(const attention_group *a, const wick_tile *tile)
{
  static const uint32_t inside[] = {SCORES, LARGEST, WEIGHTS, SUM};
  for (uint32_t k = 0; k < WICK_COUNT(inside); k++)
    attention_text(a, "at %s %s scratch; ", a->st[inside[k]]->name, a->block);
  if (a->st[MASK]) {
    attention_text(a, "at mask %s scratch; ", a->block);
    attention_turned(a, MASK, "key", a->n);
  }
  attention_text(a, "split scores.key ki:%lld; ", (long long)tile->places);
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

/* Of the weighed values: queries by columns. With several blocks it has all columns, so that a
 * block's are used where they are made. Queries are a power of two, which divides a task's. */
static wick_tile attention_values(const attention_group *a, int64_t queries)
{
  int64_t vectors = wick_ceildiv_i64(a->e, a->columns), two = 1,
          registers = a->t->t->nvector ? a->t->t->nvector : 8;
  wick_tile x = attention_tile_of(a, vectors, queries, a->t->knobs.rows);
  if (a->many && x.vectors < vectors) {
    x.vectors = vectors;
    x.places = wick_min_i64(wick_max_i64((registers - 2) / vectors - 1, 1), queries);
  }
  while (2 * two <= x.places) two *= 2;
  x.places = two;
  return x;
}

bool template_attention(template_state *t)
{
  attention_group g, *a = &g;
  if (!attention_group_of(t, a)) return false;
  const char *o = a->out->name, *query = template_loop(t, a->out, a->nbatch),
             *column = template_loop(t, a->out, a->nbatch + 1);
  int64_t vectors = t->knobs.vectors ? t->knobs.vectors : ATTENTION_VECTORS,
          size = wick_min_i64(vectors * a->queries, a->m);
  wick_tile products =
                attention_tile_of(a, wick_ceildiv_i64(size, a->queries), a->n, t->knobs.columns),
            values = attention_values(a, size);
  size = wick_ceildiv_i64(size, values.places) * values.places;
  for (const wick_stage *st = a->st[VALUES] + 1; st < a->out; st++)
    if (!st->fold) attention_text(a, "inline %s; ", st->name);
  attention_text(a, "split %s.%s qi:%lld; ", o, query, (long long)size);
  if (a->many)
    attention_many(a, query, column, &values);
  else
    attention_around(a, a->out, query, "qi", column, &values);
  for (uint32_t k = 0; k < a->nbatch; k++)
    attention_text(a, "parallel %s.%s; ", o, template_loop(t, a->out, k));
  attention_text(a, "parallel %s.%s; ", o, query);
  attention_text(a, "at queries %s.%s scratch; ", o, query);
  attention_turned(a, QUERIES, "d", a->d);
  attention_inside(a, &products);
  attention_product(a, VALUES, "key", a->n, "query", "e", a->columns);
  return true;
}
