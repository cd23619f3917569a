/* Templates for folds over an axis that the output has: softmax, norms. A pass of the output
 * follows the folds, one slice at a time. For `normalize`, the axis is the output's last one, or
 * several last ones, and the lanes are parts of the slice. For `normalize_outer`, the axis is another one (softmax
 * over channels), and the lanes are neighbouring slices. */
#include "graph/group/template_state.h"

enum { NORMALIZE_EXPENSIVE = 8 };

/* vectors of partial states, so that an operation does not wait for the one before it */
enum { NORMALIZE_PARTS = 4 };

/* ---- along the last axes ---- */

/* Returns true if index k of the read is the k-th axis of the reading stage that is not reduced. */
static bool normalize_fits(const template_state *t, const wick_stage *st, const wick_node *r,
                           uint32_t axis)
{
  const wick_dim *dim = wick_info_of(t->g, r->in[0])->dim;
  (void)axis;
  for (uint32_t k = 0, a = 0; k < wick_read_index(r)->n; k++, a++) {
    wick_dim d = wick_read_index(r)->dims[k];
    while (a < st->naxis && st->axis[a].reduce) a++;
    if (!(wick_dim_is(dim[k], 1) && wick_dim_is(d, 0)) &&
        !(a < st->naxis && wick_dim_eq(d, st->axis[a].sym)))
      return false;
  }
  return true;
}

/* Returns the number of axes that a fold reduces. */
static uint32_t normalize_reduced(const wick_stage *fold)
{
  uint32_t reduced = 0;
  for (uint32_t a = 0; a < fold->naxis; a++) reduced += fold->axis[a].reduce;
  return reduced;
}

/* Returns true if the fold reduces slices along the last `slice` axes of the output, and has all
 * the others. */
static bool normalize_is_slice(const template_state *t, const wick_stage *fold, uint32_t slice)
{
  uint32_t k = 0;
  for (uint32_t a = 0; a < fold->naxis; a++) {
    if (fold->axis[a].reduce) continue;
    if (k + slice < t->out->naxis) {
      if (!wick_dim_eq(fold->axis[a].extent, t->out->axis[k++].extent)) return false;
    } else if (!wick_dim_is(fold->axis[a].extent, 1)) {
      return false; /* a kept dimension, at the position of the summed one */
    }
  }
  return normalize_reduced(fold) == slice && !wick_stage_starts(t->s, fold) &&
         k + slice == t->out->naxis && template_reads(t, fold, normalize_fits, 0);
}

/* Returns the number of the output's last axes that all folds reduce; 0 if there is none. */
static uint32_t normalize_slice(const template_state *t)
{
  uint32_t slice = 0;
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (!st->fold) continue;
    if (!slice) slice = normalize_reduced(st);
    if (!normalize_is_slice(t, st, slice)) return 0;
  }
  return slice;
}

/* Returns the cost of an element of a stage, with everything that it reads in line. */
static uint32_t normalize_cost(const template_state *t, const wick_node *n, uint32_t depth)
{
  uint32_t cost = 0;
  for (uint32_t i = n->region[0].begin; i < n->region[0].end; i++) {
    const wick_node *x = &t->g->node[i];
    if (x->op == WICK_OP_read && depth)
      for (uint32_t k = 0; k < t->s->output; k++)
        if (!t->s->stage[k].fold && template_node(t, &t->s->stage[k])->first.id == x->in[0].id)
          cost += normalize_cost(t, template_node(t, &t->s->stage[k]), depth - 1);
    if (wick_op_of(x)->ulp > 0) cost += NORMALIZE_EXPENSIVE; /* a polynomial */
  }
  return cost;
}

/* Returns how often a map is evaluated if it is read in line. passes[] has the same number for the
 * stages that read it. */
static uint32_t normalize_passes(const template_state *t, uint32_t stage, const uint32_t *passes)
{
  const wick_node *n = template_node(t, &t->s->stage[stage]);
  uint32_t sum = 0;
  for (uint32_t s = stage + 1; s <= t->s->output; s++) {
    const wick_node *user = template_node(t, &t->s->stage[s]);
    bool reads = false;
    for (uint32_t i = t->s->stage[s].node + 1; i < user->end; i++)
      reads = reads || (t->g->node[i].op == WICK_OP_read && t->g->node[i].in[0].id == n->first.id);
    if (reads) sum += passes[s];
  }
  return sum;
}

/* Writes how the last vector of a map along its last axis handles the elements that are left. A few
 * of them would be computed one by one, which takes longer than a masked vector if there are
 * several, or if the map has a polynomial. */
static void normalize_tail(template_state *t, const wick_stage *st, int64_t lanes)
{
  uint32_t last = st->naxis - 1;
  int64_t rest = template_extent(t, st, last) % lanes;
  bool expensive = normalize_cost(t, template_node(t, st), 4) >= NORMALIZE_EXPENSIVE;
  if (lanes > 1 && rest > !expensive && !template_varies(st, last) && template_has_masks(t))
    wick_text_printf(&t->steps, "tail %s.lane mask; ", st->name);
}

/* Keeps the maps that are expensive and that several passes over the row read, in the loop `row`;
 * if it is NULL, in memory. The knobs may choose to keep all such maps, or none. */
static void normalize_maps(template_state *t, const char *row, int64_t lanes, bool columns)
{
  uint32_t *passes = wick_new(t->tmp, uint32_t, t->s->nstage);
  uint32_t n = t->out->naxis;
  for (uint32_t i = t->s->nstage; i-- > 0;) {
    const wick_stage *st = &t->s->stage[i];
    passes[i] = 1;
    if (st->fold || i == t->s->output) continue;
    passes[i] = normalize_passes(t, i, passes);
    bool whole = st->naxis == n && wick_dim_eq(st->axis[n - 1].extent, t->out->axis[n - 1].extent);
    bool expensive = t->knobs.keep
                         ? t->knobs.keep > 1
                         : normalize_cost(t, template_node(t, st), 4) >= NORMALIZE_EXPENSIVE;
    if (!whole || passes[i] < 2 || !expensive) {
      wick_text_printf(&t->steps, "inline %s; ", st->name);
      continue;
    }
    passes[i] = 1;
    if (row) wick_text_printf(&t->steps, "at %s %s.%s scratch; ", st->name, t->out->name, row);
    int64_t wide = columns ? lanes : template_wide(t, n - 1, lanes);
    if (lanes > 1)
      wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", st->name,
                       template_loop(t, st, n - 1), (long long)wide, st->name);
    normalize_tail(t, st, wide);
    if (columns)
      wick_text_printf(&t->steps, "unroll %s.%s; ", st->name, template_loop(t, st, n - 1));
  }
}

/* Returns the lanes along the output's last axis, which has at least `least` elements if the lanes
 * are those of whole registers. A shorter one is one vector if the lanes that are too many can be
 * masked. */
static int64_t normalize_lanes(const template_state *t, int64_t least)
{
  enum { FEW = 3 };
  uint32_t last = t->out->naxis - 1;
  int64_t extent = template_most(t, t->out, last), lanes = t->lanes;
  if (lanes < 2 || extent >= least) return lanes;
  if (extent < FEW || template_varies(t->out, last) || !template_has_masks(t)) return 1;
  while (lanes / 2 >= extent) lanes /= 2;
  return lanes;
}

bool template_normalize_match(template_state *t)
{
  uint32_t n = t->out->naxis;
  return t->plain && t->nfold && n >= 1 && n <= TEMPLATE_AXES && normalize_slice(t);
}

/* Writes the loops of a fold along a slice. */
static void normalize_fold(template_state *t, const wick_stage *fold, int64_t lanes)
{
  uint32_t c = fold->naxis - 1;
  while (!fold->axis[c].reduce) c--;
  const char *name = fold->name, *loop = template_loop(t, fold, c);
  if (lanes > 1)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", name, loop,
                     (long long)lanes, name);
  if (lanes > 1 && template_extent(t, fold, c) >= NORMALIZE_PARTS * lanes)
    wick_text_printf(&t->steps, "split %s.%s part:%d; rfactor %s.part; ", name, loop,
                     NORMALIZE_PARTS, name);
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (!fold->axis[k].reduce)
      wick_text_printf(&t->steps, "unroll %s.%s; ", name, template_loop(t, fold, k));
}

/* Writes all folds inside the loops over slices, with the lanes as partial states. If the whole
 * output is one slice of a constant extent, its first axis has a loop of one iteration for this:
 * the results of the folds stay in registers. Otherwise the folds are computed first. */
void template_normalize(template_state *t)
{
  uint32_t n = t->out->naxis, outer = n - normalize_slice(t);
  int64_t lanes = normalize_lanes(t, 2 * (int64_t)t->lanes);
  const char *row = outer ? template_loop(t, t->out, outer - 1) : NULL,
             *last = template_loop(t, t->out, n - 1), *o = t->out->name;
  if (!outer && !template_varies(t->out, 0)) {
    row = template_loop(t, t->out, 0);
    if (n == 1) last = "slice";
    wick_text_printf(&t->steps, "split %s.%s slice:%lld; ", o, row,
                     (long long)template_extent(t, t->out, 0));
  }
  normalize_maps(t, row, lanes, false);
  for (uint32_t k = 0; k < outer; k++)
    wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  /* the output itself has few operations */
  int64_t wide = t->knobs.vectors ? template_wide(t, n - 1, lanes) : lanes;
  if (lanes > 1)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", o, last, (long long)wide,
                     o);
  if (t->knobs.vectors < 2) normalize_tail(t, t->out, wide);
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *fold = &t->s->stage[i];
    if (!fold->fold) continue;
    if (row) wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, o, row);
    normalize_fold(t, fold, lanes);
  }
}

/* ---- along another axis ---- */

enum { NORMALIZE_VECTORS = 4 };

/* Returns true if the fold has all axes of the output but c. It may have an axis of extent 1
 * instead. */
static bool normalize_outer_is(const template_state *t, const wick_stage *fold, uint32_t c)
{
  uint32_t reduced = 0, k = 0;
  for (uint32_t a = 0; a < fold->naxis; a++) {
    if (fold->axis[a].reduce) {
      reduced++;
      continue;
    }
    if (k == c && !wick_dim_is(fold->axis[a].extent, 1)) k++;
    if (k >= t->out->naxis) return false;
    if (k != c && !wick_dim_eq(fold->axis[a].extent, t->out->axis[k].extent)) return false;
    k++;
  }
  return reduced == 1 && k == t->out->naxis;
}

/* Returns true if a stage reads the fold at its own axes, except for axis c. */
static bool normalize_outer_reads(const template_state *t, const wick_stage *st, const wick_node *r,
                                  uint32_t c)
{
  const wick_dim *dim = wick_info_of(t->g, r->in[0])->dim;
  if (r->attr[WICK_ATTR_read_guard].i || r->nin > 1 || (!st->fold && st->naxis != t->out->naxis))
    return false;
  for (uint32_t k = 0, a = 0; k < wick_read_index(r)->n; k++) {
    while (a < st->naxis && (st->axis[a].reduce || (!st->fold && a == c))) a++;
    if (wick_dim_is(dim[k], 1) && wick_dim_is(wick_read_index(r)->dims[k], 0) &&
        (a == st->naxis || !wick_dim_is(st->axis[a].extent, 1)))
      continue;
    if (a == st->naxis || !wick_dim_eq(wick_read_index(r)->dims[k], st->axis[a++].sym))
      return false;
  }
  return true;
}

static bool normalize_outer_fits(const template_state *t, uint32_t c)
{
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (!st->fold) continue;
    if (st->naxis > TEMPLATE_AXES || wick_stage_starts(t->s, st) || !normalize_outer_is(t, st, c) ||
        !template_reads(t, st, normalize_outer_reads, c))
      return false;
    const wick_node *n = template_node(t, st);
    uint32_t last = st->naxis - 1;
    while (st->axis[last].reduce) last--;
    for (uint32_t k = st->node + 1; k < n->end; k++)
      if (t->g->node[k].op == WICK_OP_read &&
          template_step_of(t, &t->g->node[k], st->axis[last].sym) == 2)
        return false;
  }
  return true;
}

/* Returns the axis of the output that all folds reduce; UINT32_MAX if there is none. */
static uint32_t normalize_outer_axis(const template_state *t)
{
  for (uint32_t c = 0; c + 1 < t->out->naxis; c++)
    if (normalize_outer_fits(t, c)) return c;
  return UINT32_MAX;
}

/* Returns the lanes along the output's last axis. Two elements are half a vector, whose operations
 * take as long as those on one element. */
static int64_t normalize_outer_lanes(const template_state *t)
{
  enum { PAIR = 2 };
  bool pair = template_is(t->out, t->out->naxis - 1, PAIR) && template_has_masks(t);
  return pair ? 2 * PAIR : normalize_lanes(t, t->lanes);
}

bool template_normalize_outer_match(template_state *t)
{
  uint32_t n = t->out->naxis;
  return t->plain && n >= 2 && n <= TEMPLATE_AXES && t->lanes == t->t->vector_bytes / 4 &&
         normalize_outer_lanes(t) > 1 && normalize_outer_axis(t) != UINT32_MAX;
}

/* Writes all folds of a few vectors of neighbouring slices, in registers, followed by the output
 * along them. */
void template_normalize_outer(template_state *t)
{
  uint32_t n = t->out->naxis, c = normalize_outer_axis(t);
  int64_t lanes = normalize_outer_lanes(t), extent = template_extent(t, t->out, n - 1);
  int64_t vectors = template_even(wick_ceildiv_i64(extent, lanes), NORMALIZE_VECTORS);
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1);
  normalize_maps(t, last, lanes, true);
  wick_text_printf(&t->steps, "split %s.%s lane:%lld; split %s.%s vb:%lld; ", o, last,
                   (long long)lanes, o, last, (long long)vectors);
  template_order_begin(t, t->out);
  for (uint32_t k = 0; k < n; k++)
    if (k != c) wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
  wick_text_printf(&t->steps, " %s vb lane; vector %s.lane; unroll %s.vb; ",
                   template_loop(t, t->out, c), o, o);
  normalize_tail(t, t->out, lanes);
  for (uint32_t k = 0; k < n; k++)
    if (k != c) wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *fold = &t->s->stage[i];
    if (!fold->fold) continue;
    uint32_t v = fold->naxis - 1;
    while (fold->axis[v].reduce) v--;
    wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, o, last);
    /* a few vectors would wait for their previous states */
    bool parts = vectors < NORMALIZE_VECTORS && template_extent(t, fold, fold->naxis - 1) >= 16;
    template_fold_loops(t, fold,
                        &(template_fold){UINT32_MAX, v, UINT32_MAX, lanes, 4, false, parts});
  }
}
