/* Partial sums in memory. If the vectors of a sum of products are in many parts of the memory, and each
 * is used a few times, a task goes through few of these parts at once, in sequence: it adds a block of
 * the sum's terms to all sums of a block of the output before it begins with the next terms. */
#include <string.h>

#include "graph/group/template_state.h"

/* Sets the axis of the sum, and its terms in a block. Returns false if there are few blocks. */
static bool partial_terms(const template_state *t, const wick_stage *fold, const wick_node *vectors,
                          template_partial *out)
{
  enum { TERMS = 8, SPAN = 256 }; /* parts of the memory at once, and terms of a sum in registers */
  int64_t inside = 1;
  out->sum = UINT32_MAX;
  for (uint32_t k = 0; k < fold->naxis; k++) {
    if (!fold->axis[k].reduce || template_extent(t, fold, k) == 1) continue;
    if (out->sum == UINT32_MAX)
      out->sum = k;
    else
      inside *= template_extent(t, fold, k);
  }
  if (out->sum == UINT32_MAX || !template_step_of(t, vectors, fold->axis[out->sum].sym))
    return false;
  out->terms = wick_max_i64(wick_min_i64(TERMS, SPAN / inside), 1);
  return template_extent(t, fold, out->sum) >= 2 * TERMS;
}

/* Returns true if the axis of the output is in each tile of the positions that share vectors. */
static bool partial_shares(const template_roles *r, uint32_t axis)
{
  return axis == r->x || axis == r->y;
}

bool template_partial_of(const template_state *t, const template_roles *r, const wick_stage *fold,
                         const wick_node *vectors, template_partial *out)
{
  enum {
    TASKS = 16,
    LEAST = 1024, /* elements of the output that follow each other in a block */
    MOST = 4096,  /* the same, if nothing is gained by more */
    SHARE = 4     /* of the second cache for sums */
  };
  uint32_t v = t->out->naxis - 1;
  int64_t all = 1, sums = 1, tasks = 1;
  *out = (template_partial){.block = v};
  if (!partial_terms(t, fold, vectors, out) || r->v != v || r->own > 1 || t->cut || t->rows ||
      !template_splits_lanes(t->out, v, t->lanes) || wick_stage_starts(t->s, fold))
    return false;
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (template_varies(fold, k)) return false;
  for (uint32_t k = 0; k < v; k++) {
    all *= template_extent(t, t->out, k);
    if (partial_shares(r, k)) sums *= template_extent(t, t->out, k);
  }
  wick_elem e = wick_info_of(t->g, template_node(t, fold)->region[1].first)->elem;
  int64_t most = (int64_t)(wick_target_cache(t->t, 2) / SHARE / wick_elem_bytes(e, 1)) / sums,
          width = template_extent(t, t->out, v), inner = width;
  if (most < LEAST) return false;
  tasks = all / sums;
  int64_t parts =
      wick_max_i64(wick_ceildiv_i64(width, wick_min_i64(most, MOST)),
                   wick_min_i64(wick_ceildiv_i64(TASKS, tasks), wick_max_i64(width / LEAST, 1)));
  out->size = wick_ceildiv_i64(width, parts);
  for (uint32_t k = v; k-- > 0 && parts == 1;) {
    int64_t extent = template_extent(t, t->out, k);
    if (partial_shares(r, k) || extent == 1) continue;
    tasks /= extent;
    parts = wick_max_i64(wick_ceildiv_i64(extent * inner, most), wick_ceildiv_i64(TASKS, tasks));
    out->block = k, out->size = wick_ceildiv_i64(extent, parts);
    inner *= extent;
  }
  return parts > 1;
}

/* Writes the loops of the output: tasks over blocks, then those inside of a block. Returns the loop in
 * which the fold is computed. */
static const char *partial_output(template_state *t, const template_roles *r,
                                  const template_tile *tile, const template_partial *p)
{
  const wick_stage *out = t->out;
  uint32_t v = out->naxis - 1;
  const char *name = out->name, *at = NULL;
  int64_t lanes = t->lanes,
          block = p->block == v ? wick_ceildiv_i64(p->size, lanes * tile->vb) * tile->vb : p->size;
  bool split = block > 1 && block < template_extent(t, out, p->block);
  wick_text parallel = wick_text_begin(t->tmp);
  wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", name, template_loop(t, out, v),
                   (long long)lanes);
  if (split)
    wick_text_printf(&t->steps, "split %s.%s block:%lld; ", name, template_loop(t, out, p->block),
                     (long long)block);
  template_order_begin(t, out);
  for (uint32_t k = 0; k <= p->block; k++) {
    if (partial_shares(r, k)) continue;
    at = template_loop(t, out, k);
    wick_text_printf(&t->steps, " %s", at);
    wick_text_printf(&parallel, " %s.%s", name, at);
  }
  for (uint32_t k = 0; k < v; k++)
    if (partial_shares(r, k)) wick_text_printf(&t->steps, " %s", template_loop(t, out, k));
  if (split) wick_text_add(&t->steps, " block");
  for (uint32_t k = p->block + 1; k <= v; k++)
    if (!partial_shares(r, k)) wick_text_printf(&t->steps, " %s", template_loop(t, out, k));
  wick_text_printf(&t->steps, " lane; parallel%s; vector %s.lane; ", parallel.at, name);
  return at;
}

/* The loops of the fold: blocks of terms, the positions of a block, the terms, and the tile. */
typedef struct partial_fold {
  const char *unrolled; /* the innermost loop of the sum */
  wick_text tile;       /* the names of the tile's loops, outermost first */
  uint64_t whole;       /* axes whose loops are in the tile, not parts of them */
} partial_fold;

/* Splits the terms and the tile off the fold's axes. */
static partial_fold partial_split(template_state *t, const template_roles *r,
                                  const template_tile *tile, const wick_stage *fold,
                                  const template_partial *p)
{
  uint32_t v = t->out->naxis - 1, last = p->sum;
  const struct {
    uint32_t axis;
    int64_t size;
    const char *name;
  } part[] = {
      {r->y, tile->th, "yi"}, {r->x, tile->tw, "xi"}, {r->o, tile->ob, "ob"}, {v, tile->vb, "vb"}};
  partial_fold f = {.tile = wick_text_begin(t->tmp)};
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (fold->axis[k].reduce && template_extent(t, fold, k) > 1) last = k;
  f.unrolled = last == p->sum ? "terms" : template_loop(t, fold, last);
  int64_t extent = last == p->sum ? p->terms : template_extent(t, fold, last),
          unroll = t->knobs.unroll ? t->knobs.unroll : 4;
  wick_text_printf(&t->steps, "split %s.%s terms:%lld; split %s.%s lane:%u; ", fold->name,
                   template_loop(t, fold, p->sum), (long long)p->terms, fold->name,
                   template_loop(t, fold, v), t->lanes);
  if (extent > unroll) {
    wick_text_printf(&t->steps, "split %s.%s u:%lld; ", fold->name, f.unrolled, (long long)unroll);
    f.unrolled = "u";
  }
  for (uint32_t i = 0; i < WICK_COUNT(part); i++) {
    uint32_t k = part[i].axis;
    if (k == UINT32_MAX || part[i].size < 2) continue;
    bool runs = k == r->x && template_has_runs(t, r, tile);
    const char *loop = runs ? "run" : template_loop(t, fold, k);
    int64_t n = runs ? r->nx : wick_ceildiv_i64(template_extent(t, fold, k), k == v ? t->lanes : 1);
    if (runs)
      wick_text_printf(&t->steps, "split %s.%s run:%lld; ", fold->name, template_loop(t, fold, k),
                       (long long)n);
    if (n > part[i].size)
      wick_text_printf(&t->steps, "split %s.%s %s:%lld; ", fold->name, loop, part[i].name,
                       (long long)part[i].size);
    else
      f.whole |= (uint64_t)1 << k;
    wick_text_printf(&f.tile, " %s", n > part[i].size ? part[i].name : loop);
  }
  return f;
}

static void partial_fold_loops(template_state *t, const template_roles *r,
                               const template_tile *tile, const wick_stage *fold,
                               const template_partial *p)
{
  const partial_fold f = partial_split(t, r, tile, fold, p);
  bool split = strcmp(f.unrolled, "u") == 0, done = false;
  template_order_begin(t, fold);
  for (uint32_t k = 0; k <= p->sum; k++)
    if (fold->axis[k].reduce) wick_text_printf(&t->steps, " %s", template_loop(t, fold, k));
  for (int shared = 0; shared < 2; shared++)
    for (uint32_t k = 0; k < t->out->naxis; k++)
      if (partial_shares(r, k) == (bool)shared && !(f.whole >> k & 1))
        wick_text_printf(&t->steps, " %s%s", template_loop(t, fold, k),
                         k == r->x && template_has_runs(t, r, tile) ? " run" : "");
  for (uint32_t k = p->sum; k < fold->naxis; k++) {
    if (!fold->axis[k].reduce) continue;
    wick_text_printf(&t->steps, " %s", k == p->sum ? "terms" : template_loop(t, fold, k));
    bool last = split && !done;
    for (uint32_t i = k + 1; i < fold->naxis; i++)
      last = last && !(fold->axis[i].reduce && template_extent(t, fold, i) > 1);
    if (last) wick_text_add(&t->steps, " u"), done = true;
  }
  wick_text_printf(&t->steps, "%s lane; vector %s.lane; unroll %s.%s", f.tile.n ? f.tile.at : "",
                   fold->name, fold->name, f.unrolled);
  for (const char *c = f.tile.n ? f.tile.at : ""; *c; c += strcspn(c, " ")) {
    c += strspn(c, " ");
    wick_text_printf(&t->steps, " %s.%.*s", fold->name, (int)strcspn(c, " "), c);
  }
  wick_text_add(&t->steps, "; ");
}

void template_partial_loops(template_state *t, const template_roles *r, const template_tile *tile,
                            const wick_stage *fold, const template_partial *p)
{
  const char *at = partial_output(t, r, tile, p);
  wick_text_printf(&t->steps, "at %s %s.%s scratch; ", fold->name, t->out->name, at);
  partial_fold_loops(t, r, tile, fold, p);
}
