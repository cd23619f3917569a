/* Templates: the first schedule of a group, from the form of its stages and the registers of the
 * target. A place is a position of the output along the axes that are not channels.
 *
 * - dot: a sum of products, one factor shared by the lanes: convolution, matrix product. The
 *   register tile is vectors by places.
 * - columns: a sum of products whose lanes are channels, one dot product over neighbouring columns:
 *   depthwise convolution of bytes.
 * - inner: a sum of products whose factors are both contiguous along the last axis. The lanes are
 *   parts of the sum. The register tile is as for dot.
 * - line: a fold along the last axes of its operand, which the output does not have: sums and
 *   maxima over rows.
 * - window: any other fold whose lanes are the output's last axis: pooling, depthwise convolution,
 *   sums over places.
 * - attention: template_attention.c; Winograd: template_winograd.c; a depthwise and a pointwise
 *   convolution: template_depth.c.
 * - row: folds over the output's last axis, one row at a time: softmax, norms.
 * - column: the same along another axis, several 1-D slices at once.
 * - map: element by element; loop nests: template_walk.c.
 *
 * The output is a map in all of them, because groups are formed that way. Folds are computed inside
 * the loops of the output, in registers. */
#include "base/file.h"
#include "graph/group/cost.h"
#include "graph/group/template_spans.h"
#include "graph/group/template_state.h"
#include "graph/group/template_winograd.h"

enum { TEMPLATE_DEAR = 8 };
enum { TEMPLATE_SHORT = 4 }; /* vectors of a line that the next one follows soon */

/* ---- what stages are like ---- */

/* Every element is the same. */
static bool template_is_number(const wick_func *g, const wick_node *stage)
{
  for (uint32_t i = stage->region[0].begin; i < stage->region[0].end; i++)
    if (g->node[i].op == WICK_OP_read || g->node[i].op == WICK_OP_index) return false;
  return true;
}

/* A map is computed where it is read, unless a read of it has a guard or a run-time index: those
 * want it in memory, if not every element is the same. */
bool template_can_inline(const wick_func *g, const wick_node *stage)
{
  if (stage->op != WICK_OP_map ||
      wick_info_of(g, stage->first)->rank != stage->attr[1].n) /* it gives several at once */
    return false;
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    bool uses = false;
    for (uint32_t k = 0; k < n->nin; k++)
      uses =
          uses || (n->in[k].id >= stage->first.id && n->in[k].id < stage->first.id + stage->nout);
    if (!uses) continue;
    if (n->op == WICK_OP_return) return false;
    if (n->op == WICK_OP_read && (n->attr[1].i || (n->nin > 1 && !template_is_number(g, stage))))
      return false;
  }
  return true;
}

bool template_reads(const template_state *t, const wick_stage *fold, template_fits *fits,
                    uint32_t axis)
{
  const wick_node *f = template_node(t, fold);
  for (uint32_t s = 0; s < t->s->nstage; s++) {
    const wick_stage *st = &t->s->stage[s];
    for (uint32_t i = st->node + 1; i < template_node(t, st)->end; i++) {
      const wick_node *r = &t->g->node[i];
      if (r->op == WICK_OP_read && r->in[0].id >= f->first.id &&
          r->in[0].id < f->first.id + f->nout && !fits(t, st, r, axis))
        return false;
    }
  }
  return true;
}

/* A read has the reading stage's axes as its index, one by one; behind them, where the fold has
 * more axes, numbers. */
static bool template_fits_in_place(const template_state *t, const wick_stage *st,
                                   const wick_node *r, uint32_t axis)
{
  (void)t, (void)axis;
  if (st->fold || r->attr[1].i || r->attr[0].n < st->naxis) return false;
  for (uint32_t k = st->naxis; k < r->attr[0].n; k++)
    if (!wick_dim_is_const(r->attr[0].dims[k])) return false;
  for (uint32_t k = 0; k < st->naxis; k++)
    if (!wick_dim_eq(r->attr[0].dims[k], st->axis[k].sym) &&
        !(wick_dim_is(r->attr[0].dims[k], 0) && wick_dim_is(st->axis[k].extent, 1)))
      return false;
  return true;
}

bool template_read_in_place(const template_state *t, const wick_stage *fold)
{
  return template_reads(t, fold, template_fits_in_place, 0);
}

/* The fold's results have dimensions of their own: what templates take for the output's first axes
 * is none of the fold's. */
static bool template_owns(const template_state *t, const wick_stage *fold)
{
  uint32_t kept = 0;
  for (uint32_t a = 0; a < fold->naxis; a++) kept += !fold->axis[a].reduce;
  return wick_info_of(t->g, template_node(t, fold)->first)->rank != kept;
}

static uint32_t template_bits(const template_state *t, wick_value v)
{
  return wick_elem_storage[wick_elem_storage[wick_info_of(t->g, v)->elem].arith].bits;
}

/* As many as a register has of the output's elements, or of what they are computed from, where that
 * is wider, up to words. */
static uint32_t template_lanes(const template_state *t)
{
  enum { WORD = 32 };
  uint32_t bits = template_bits(t, template_node(t, t->out)->first);
  if (!bits || !t->t->vector_bytes) return 1;
  for (uint32_t i = 0; i <= t->s->output && bits < WORD; i++) {
    const wick_node *n = template_node(t, &t->s->stage[i]);
    uint32_t own = template_bits(t, t->s->stage[i].fold ? n->region[1].first : n->first);
    bits = own > WORD ? WORD : own > bits ? own : bits;
  }
  return t->t->vector_bytes * 8 / bits;
}

/* ---- window, row, map ---- */

/* Loops of the output when only its last axis matters: vectors along it, and `places` of the axis
 * before it, in registers. */
static const char *template_simple_out(template_state *t, int64_t vectors, int64_t places,
                                       int64_t lanes)
{
  template_roles r = {t->out->naxis - 1,
                      UINT32_MAX,
                      UINT32_MAX,
                      t->out->naxis > 1 && places > 1 ? t->out->naxis - 2 : UINT32_MAX,
                      1,
                      1,
                      0,
                      1,
                      1,
                      0,
                      0};
  template_tile tile = {1, vectors, 1, places};
  return template_out_loops(t, &r, &tile, &(template_order){true, UINT32_MAX, 0}, lanes);
}

/* Lanes along that axis of the output. */
static int64_t template_vector_lanes(const template_state *t, uint32_t axis)
{
  int64_t v = template_most(t, t->out, axis), lanes = t->lanes;
  while (lanes > v && lanes > t->t->vector_bytes / 4) lanes /= 2; /* of short elements */
  return v >= lanes ? lanes : 1;
}

/* How far an index moves while that axis of the fold goes from one value to the other, the others
 * at their beginnings; 0: not known. */
static int64_t template_moves(const template_state *t, const wick_stage *fold, wick_dim index,
                              uint32_t axis, int64_t from, int64_t to)
{
  wick_dims *dims = t->g->module->dims;
  wick_dim sym[TEMPLATE_AXES], at[TEMPLATE_AXES], end[2];
  for (uint32_t a = 0; a < fold->naxis; a++) sym[a] = fold->axis[a].sym, at[a] = wick_dim_const(0);
  for (uint32_t k = 0; k < 2; k++) {
    at[axis] = wick_dim_const(k ? to : from);
    end[k] = wick_dim_substitute(dims, index, fold->naxis, sym, at);
    if (!wick_dim_is_const(end[k])) return 0;
  }
  return end[1].v > end[0].v ? end[1].v - end[0].v : end[0].v - end[1].v;
}

/* Elements that a tile of `places` neighbours along axis k reads in a row, at most of all reads;
 * those of the window's last axis that two neighbours share count once. */
static int64_t template_window_reach(const template_state *t, const wick_stage *fold, uint32_t k,
                                     int64_t places)
{
  const wick_node *f = template_node(t, fold);
  int64_t most = 1, middle = template_extent(t, fold, k) / 2;
  for (uint32_t i = f->region[1].begin; i < f->region[1].end; i++) {
    const wick_node *r = &t->g->node[i];
    if (r->op != WICK_OP_read) continue;
    for (uint32_t d = 0; d < r->attr[0].n; d++) {
      wick_dim index = r->attr[0].dims[d];
      if (wick_dim_eq(index, WICK_DIM_ANY)) continue;
      int64_t reach = 1 + (places - 1) * template_moves(t, fold, index, k, middle - 1, middle);
      for (uint32_t a = 0; a < fold->naxis; a++)
        if (fold->axis[a].reduce)
          reach += template_moves(t, fold, index, a, 0, template_extent(t, fold, a) - 1);
      if (template_moves(t, fold, index, k, middle - 1, middle)) most = wick_max_i64(most, reach);
    }
  }
  return most;
}

/* Neighbours in a tile: their states, and what they read in a row, lie in registers. */
static int64_t template_window_places(const template_state *t, const wick_stage *fold)
{
  uint32_t x = t->out->naxis - 2;
  int64_t best = 1, width = template_extent(t, t->out, x);
  double least = 1e300;
  for (int64_t p = 1; p <= width; p++) {
    if (p > 1 && p + template_window_reach(t, fold, x, p) > (int64_t)t->t->nvector) break;
    wick_cost_tile whole = {1, p, p, 0}, last = {1, width % p, width % p, 0};
    double cost = (double)(width / p) * wick_cost_step(t->t, &whole);
    if (width % p) cost += wick_cost_step(t->t, &last) + 1; /* code of its own */
    if (cost < least * 0.999) best = p, least = cost;
  }
  return best;
}

/* The lanes of a map along that axis: those of some vectors side by side, where the knobs say so.
 */
static int64_t template_wide(template_state *t, uint32_t axis, int64_t lanes)
{
  if (lanes < 2 || t->knobs.vectors < 2) return lanes;
  int64_t wide = lanes * t->knobs.vectors;
  t->refused = t->refused || t->knobs.vectors > 4 || wide > template_extent(t, t->out, axis);
  return t->refused ? lanes : wide;
}

/* Neighbours along an axis of the output may read the same elements: it and a reduced axis move an
 * index together. */
static bool template_overlaps(const template_state *t, const wick_stage *fold, uint32_t axis)
{
  wick_dims *dims = t->g->module->dims;
  for (uint32_t i = fold->node + 1; i < template_node(t, fold)->end; i++) {
    const wick_node *n = &t->g->node[i];
    for (uint32_t k = 0; n->op == WICK_OP_read && k < n->attr[0].n; k++) {
      wick_dim d = n->attr[0].dims[k];
      if (wick_dim_eq(d, WICK_DIM_ANY)) return true;
      for (uint32_t a = 0; a < fold->naxis && wick_dim_uses(dims, d, fold->axis[axis].sym); a++)
        if (fold->axis[a].reduce && wick_dim_uses(dims, d, fold->axis[a].sym)) return true;
    }
  }
  return false;
}

int64_t template_even(int64_t n, int64_t most)
{
  return wick_ceildiv_i64(n, wick_ceildiv_i64(n, most));
}

/* A step of the fold has a polynomial: enough for the pipes, and much code. */
static bool template_is_dear(const template_state *t, const wick_stage *fold)
{
  const wick_node *f = template_node(t, fold);
  bool is = false;
  for (uint32_t i = f->region[1].begin; i < f->region[1].end; i++)
    is = is || wick_op_of(&t->g->node[i])->ulp > 0;
  return is;
}

static bool template_window(template_state *t, const wick_stage *fold)
{
  uint32_t n = t->out->naxis;
  const wick_node *f = template_node(t, fold);
  if (n < 1 || n > TEMPLATE_AXES || fold->naxis > TEMPLATE_AXES) return false;
  int64_t lanes = template_vector_lanes(t, n - 1);
  for (uint32_t i = f->region[1].begin; i < f->region[1].end && lanes > 1; i++)
    if (t->g->node[i].op == WICK_OP_read &&
        template_step_of(t, &t->g->node[i], fold->axis[n - 1].sym) == 2)
      lanes = 1;
  bool dear = template_is_dear(t, fold);
  int64_t width = n > 1 ? template_extent(t, t->out, n - 2) : 1, vectors = 1,
          places = lanes > 1 && n > 1 && !dear ? template_window_places(t, fold) : 1;
  if (lanes > 1 && !dear &&
      (n < 2 || !template_overlaps(t, fold, n - 2))) /* whole lines of vectors */
    vectors = template_even(wick_ceildiv_i64(template_extent(t, t->out, n - 1), lanes),
                            wick_max_i64(t->t->nvector / 4, 1));
  if (vectors > 1) places = 1;
  if (t->knobs.columns) places = wick_min_i64(t->knobs.columns, width);
  t->refused = t->refused || (t->knobs.columns && places * vectors > t->t->nvector / 2);
  const char *at = template_simple_out(t, vectors, places, lanes);
  if (!at) return false;
  wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  template_fold_loops(t, fold,
                      &(template_fold){UINT32_MAX, lanes > 1 ? n - 1 : UINT32_MAX, UINT32_MAX,
                                       lanes, dear ? 1 : 8, false});
  return true;
}

/* Iterations of an axis that are turned in registers, for vectors of so many lanes. */
static int64_t template_turn(const template_state *t, uint32_t axis, int64_t lanes)
{
  int64_t extent = template_extent(t, t->out, axis), n = lanes;
  while (n > extent) n /= 2;
  return n;
}

/* From multiples of `size` on, that many elements along an axis of the output lie next to each
 * other in what is read; *even: from any element on. */
static bool template_runs(const template_state *t, const wick_node *read, uint32_t axis,
                          int64_t size, bool *even)
{
  wick_dims *dims = t->g->module->dims;
  wick_dim sym = t->out->axis[axis].sym, coef, rest, from[2], first;
  uint32_t rank = read->attr[0].n;
  first = wick_dim_mul(dims, wick_dim_symbol(dims, "run", 0, INT32_MAX), wick_dim_const(size));
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim d = read->attr[0].dims[k];
    if (wick_dim_eq(d, WICK_DIM_ANY)) return false;
    from[0] = wick_dim_substitute(dims, d, 1, &sym, &first);
    for (int64_t i = 1; i < size; i++) {
      wick_dim at = wick_dim_add(dims, first, wick_dim_const(i));
      from[1] = wick_dim_substitute(dims, d, 1, &sym, &at);
      if (!wick_dim_is(wick_dim_sub(dims, from[1], from[0]), k + 1 == rank ? i : 0)) return false;
    }
  }
  *even = wick_dim_linear(dims, read->attr[0].dims[rank - 1], sym, &coef, &rest) &&
          wick_dim_is(coef, 1);
  return true;
}

/* The axis, of the first n, along which a read finds neighbours that the vector takes from far
 * apart: a transposition. UINT32_MAX: none. */
static uint32_t template_across(const template_state *t, uint32_t n, int64_t lanes,
                                const wick_node **read, bool *even)
{
  const wick_node *out = template_node(t, t->out);
  for (uint32_t i = t->out->node + 1; i < out->end; i++) {
    const wick_node *r = &t->g->node[i];
    if (r->op != WICK_OP_read || template_step_of(t, r, t->out->axis[n - 1].sym) != 2) continue;
    for (uint32_t k = 0; k + 1 < n; k++) {
      int64_t size = template_turn(t, k, lanes);
      *read = r;
      if (size > 1 && template_runs(t, r, k, size, even)) return k;
    }
  }
  return UINT32_MAX;
}

/* Vector after vector along that axis, which uses up the lines that the lanes come from; or along
 * the last axis, so that what is written are a few lines that grow: where those are long, or the
 * lanes follow one another. Where the last iterations are fewer, and may begin anywhere, they begin
 * earlier. */
static void template_map_across(template_state *t, uint32_t n, uint32_t across,
                                const wick_node *read, bool even, int64_t lanes)
{
  int64_t size = template_turn(t, across, lanes);
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1),
             *along = template_loop(t, t->out, across);
  bool split = !template_is(t->out, n - 1, lanes);
  int64_t long_line = wick_min_i64(4 * template_extent(t, t->out, n - 1), /* where it is open */
                                   template_most(t, t->out, n - 1));
  bool rows = split && (long_line > TEMPLATE_SHORT * lanes ||
                        template_stride(t, read, t->out->axis[n - 1].sym) == size);
  if (split) wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, last, (long long)lanes);
  wick_text_printf(&t->steps, "split %s.%s turned:%lld; ", o, along, (long long)size);
  if (even && (template_varies(t->out, across) || template_extent(t, t->out, across) % size))
    wick_text_printf(&t->steps, "tail %s.%s overlap; ", o, along);
  uint32_t inner = rows ? n - 1 : across, naxis = t->out->naxis;
  template_order_begin(t, t->out);
  for (uint32_t i = 0, k = n % naxis; i < naxis; i++, k = (k + 1) % naxis)
    if (k != inner && (split || k + 1 != n))
      wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
  wick_text_printf(&t->steps, " %s turned %s; vector %s.%s; turn %s.turned; ", rows ? last : along,
                   split ? "lane" : last, o, split ? "lane" : last, o);
  for (uint32_t k = 0; k < naxis; k++)
    if (k != inner && (split || k + 1 != n))
      wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
}

/* Chunks of the one axis, so that there are tasks. */
static bool template_map_line(template_state *t)
{
  const char *o = t->out->name, *name = template_loop(t, t->out, 0);
  int64_t lanes = template_wide(t, 0, template_vector_lanes(t, 0));
  if (template_extent(t, t->out, 0) < 1) return false;
  wick_text_printf(&t->steps, "split %s.%s chunk:%d; ", o, name, 4096);
  if (lanes > 1)
    wick_text_printf(&t->steps, "split %s.chunk lane:%lld; vector %s.lane; ", o, (long long)lanes,
                     o);
  wick_text_printf(&t->steps, "parallel %s.%s; ", o, name);
  return true;
}

/* Vectors along the last axis of more than one element, where it is long enough; tasks over all
 * other axes. */
static bool template_map(template_state *t, const wick_stage *none)
{
  (void)none;
  uint32_t naxis = t->out->naxis, n = naxis;
  if (n < 1 || n > TEMPLATE_AXES) return false;
  while (n > 1 && template_is(t->out, n - 1, 1)) n--;
  if (naxis == 1) return template_map_line(t);
  bool even = false;
  const wick_node *read = NULL;
  int64_t lanes = template_vector_lanes(t, n - 1), few = template_extent(t, t->out, n - 1);
  if (lanes == 1 && few >= 4 && few <= 8 && !(few & (few - 1)) &&
      template_across(t, n, few, &read, &even) != UINT32_MAX)
    lanes = few; /* of short elements: vectors that are no whole registers, but many */
  uint32_t across =
      lanes > 1 && lanes <= 16 ? template_across(t, n, lanes, &read, &even) : UINT32_MAX;
  if (across != UINT32_MAX) {
    template_map_across(t, n, across, read, even, lanes);
    return true;
  }
  /* The last axis' loop stays inside the task: a task of one vector is too small. */
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1);
  bool whole = lanes > 1 && template_is(t->out, n - 1, lanes), split = lanes > 1 && !whole;
  if (split)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, last,
                     (long long)template_wide(t, n - 1, lanes));
  if (lanes > 1 && n < naxis) {
    template_order_begin(t, t->out);
    for (uint32_t i = 0, k = n; i < naxis; i++, k = (k + 1) % naxis)
      wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
    wick_text_printf(&t->steps, "%s; ", split ? " lane" : "");
  }
  if (lanes > 1) wick_text_printf(&t->steps, "vector %s.%s; ", o, split ? "lane" : last);
  uint32_t inside = whole && n > 2 ? n - 2 : n - 1; /* from there on: whole rows of vectors */
  for (uint32_t k = 0; k < naxis; k++)
    if (k < inside || (lanes > 1 && k >= n))
      wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  return true;
}

/* Index k of a read is the reading stage's k-th axis that is not reduced. */
static bool template_fits_in_order(const template_state *t, const wick_stage *st,
                                   const wick_node *r, uint32_t axis)
{
  const wick_dim *dim = wick_info_of(t->g, r->in[0])->dim;
  (void)axis;
  for (uint32_t k = 0, a = 0; k < r->attr[0].n; k++, a++) {
    wick_dim d = r->attr[0].dims[k];
    while (a < st->naxis && st->axis[a].reduce) a++;
    if (!(wick_dim_is(dim[k], 1) && wick_dim_is(d, 0)) &&
        !(a < st->naxis && wick_dim_eq(d, st->axis[a].sym)))
      return false;
  }
  return true;
}

/* A fold over rows: one reduced axis, and the output's axes but the last. */
static bool template_is_row(const template_state *t, const wick_stage *fold)
{
  uint32_t reduced = 0, k = 0;
  for (uint32_t a = 0; a < fold->naxis; a++) {
    if (fold->axis[a].reduce) {
      reduced++;
    } else if (k + 1 < t->out->naxis) {
      if (!wick_dim_eq(fold->axis[a].extent, t->out->axis[k++].extent)) return false;
    } else if (!wick_dim_is(fold->axis[a].extent, 1)) {
      return false; /* a kept dimension, in place of the one that it sums over */
    }
  }
  return reduced == 1 && !wick_stage_starts(t->s, fold) && k + 1 == t->out->naxis &&
         template_reads(t, fold, template_fits_in_order, 0);
}

/* What an element of a stage costs, with all that it reads in line. */
static uint32_t template_cost(const template_state *t, const wick_node *n, uint32_t depth)
{
  uint32_t cost = 0;
  for (uint32_t i = n->region[0].begin; i < n->region[0].end; i++) {
    const wick_node *x = &t->g->node[i];
    if (x->op == WICK_OP_read && depth)
      for (uint32_t k = 0; k < t->s->output; k++)
        if (!t->s->stage[k].fold && template_node(t, &t->s->stage[k])->first.id == x->in[0].id)
          cost += template_cost(t, template_node(t, &t->s->stage[k]), depth - 1);
    if (wick_op_of(x)->ulp > 0) cost += TEMPLATE_DEAR; /* a polynomial */
  }
  return cost;
}

/* How often a map is evaluated if it is read in line: passes[] of the stages that read it. */
static uint32_t template_passes(const template_state *t, uint32_t stage, const uint32_t *passes)
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

/* A map of the row that is dear, and read by more than one pass over it, is kept for the row; the
 * knobs may say so of all, or of none. */
void template_row_maps(template_state *t, const char *row, int64_t lanes, bool columns)
{
  uint32_t *passes = wick_new(t->tmp, uint32_t, t->s->nstage);
  uint32_t n = t->out->naxis;
  for (uint32_t i = t->s->nstage; i-- > 0;) {
    const wick_stage *st = &t->s->stage[i];
    passes[i] = 1;
    if (st->fold || i == t->s->output) continue;
    passes[i] = template_passes(t, i, passes);
    bool whole = st->naxis == n && wick_dim_eq(st->axis[n - 1].extent, t->out->axis[n - 1].extent);
    bool dear = t->knobs.keep ? t->knobs.keep > 1
                              : template_cost(t, template_node(t, st), 4) >= TEMPLATE_DEAR;
    if (!whole || passes[i] < 2 || !dear) {
      wick_text_printf(&t->steps, "inline %s; ", st->name);
      continue;
    }
    passes[i] = 1;
    wick_text_printf(&t->steps, "at %s %s.%s scratch; ", st->name, t->out->name, row);
    if (lanes > 1)
      wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", st->name,
                       template_loop(t, st, n - 1), (long long)lanes, st->name);
    if (columns)
      wick_text_printf(&t->steps, "unroll %s.%s; ", st->name, template_loop(t, st, n - 1));
  }
}

/* Folds over the output's last axis, which it reads again: all of them inside the loops over rows,
 * the lanes as partial states. */
static bool template_row(template_state *t, const wick_stage *none)
{
  (void)none;
  uint32_t n = t->out->naxis;
  if (n < 2 || n > TEMPLATE_AXES) return false;
  int64_t lanes = t->lanes > 1 && template_most(t, t->out, n - 1) >= 2 * t->lanes ? t->lanes : 1;
  for (uint32_t i = 0; i < t->s->output; i++)
    if (t->s->stage[i].fold && !template_is_row(t, &t->s->stage[i])) return false;
  const char *row = template_loop(t, t->out, n - 2), *last = template_loop(t, t->out, n - 1),
             *o = t->out->name;
  template_row_maps(t, row, lanes, false);
  for (uint32_t k = 0; k + 1 < n; k++)
    wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  if (lanes > 1)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", o, last,
                     (long long)template_wide(t, n - 1, lanes), o);
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *fold = &t->s->stage[i];
    if (!fold->fold) continue;
    uint32_t c = 0;
    while (!fold->axis[c].reduce) c++;
    wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, o, row);
    if (lanes > 1)
      wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", fold->name,
                       template_loop(t, fold, c), (long long)lanes, fold->name);
    for (uint32_t k = 0; k < fold->naxis; k++)
      if (!fold->axis[k].reduce)
        wick_text_printf(&t->steps, "unroll %s.%s; ", fold->name, template_loop(t, fold, k));
  }
  return true;
}

/* Keeps the steps of a template that fits; takes back those of one that does not. */
static bool template_try(template_state *t, bool (*template)(template_state *, const wick_stage *),
                         const wick_stage *fold)
{
  size_t mark = t->steps.n;
  if (template(t, fold)) return true;
  t->steps.n = mark, t->steps.at[mark] = 0;
  return false;
}

/* Maps that can be are read in line; false where one lies in memory, before the output's loops. */
static bool template_inline(template_state *t)
{
  bool all = true;
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (st->fold) continue;
    if (template_can_inline(t->g, template_node(t, st)))
      wick_text_printf(&t->steps, "inline %s; ", st->name);
    else
      all = false;
  }
  return all;
}

static void template_choose(template_state *t)
{
  uint32_t nfold = 0;
  const wick_stage *fold = NULL;
  bool in_place = true, owns = false;
  size_t mark = t->steps.n;
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (!st->fold) continue;
    fold = st;
    nfold++;
    owns = owns || template_owns(t, st);
    in_place = in_place && template_read_in_place(t, st);
  }
  if (!template_inline(t) || t->out->fold || owns) return;
  if (!t->out->naxis && nfold != 1) return;
  for (uint32_t k = 0; k < t->out->naxis; k++)
    if (!template_extent(t, t->out, k)) return; /* empty: unscheduled */
  if (nfold == 0) {
    template_try(t, template_map, NULL);
    return;
  }
  if (nfold == 1 && in_place &&
      (template_try(t, template_dot, fold) || template_try(t, template_columns, fold) ||
       template_try(t, template_inner, fold) || template_try(t, template_line, fold) ||
       template_try(t, template_window, fold)))
    return;
  t->steps.n = mark, t->steps.at[mark] = 0; /* rows say themselves what is read in line */
  if (!template_try(t, template_row, NULL) && !template_try(t, template_column, NULL))
    template_inline(t);
}

wick_status wick_template_steps(wick_func *g, const wick_target *target, const wick_knobs *knobs,
                                wick_arena *tmp, const char **out)
{
  template_state t = {.g = g,
                      .t = target,
                      .tmp = tmp,
                      .s = wick_schedule_begin(g, tmp),
                      .steps = wick_text_begin(tmp),
                      .knobs = *knobs};
  *out = NULL;
  if (!t.s->nstage) return wick_fail(tmp, WICK_EINTERNAL, g->name, "a group without stages");
  t.out = &t.s->stage[t.s->output];
  t.lanes = template_lanes(&t);
  if (t.out->walk)
    template_walk(&t);
  else if (!wick_template_winograd(t.s, target, knobs, &t.steps, &t.refused) &&
           !template_attention(&t) && !template_depth(&t))
    template_choose(&t);
  if (t.refused) return NULL;
  WICK_TRY(wick_template_spans(g, tmp, &t.steps));
  *out = t.steps.at;
  return wick_schedule_apply(wick_schedule_begin(g, tmp), t.steps.at);
}

/* The record's schedule is legal for the group, and keeps the order of its sums. */
static wick_status template_tuning_record(wick_func *g, const wick_target *t,
                                          wick_tuning_records *records, wick_arena *tmp)
{
  const wick_tuning_record *x =
      wick_tuning_records_find(records, wick_tuning_records_key(g, t, tmp));
  if (!x || !x->steps || records->tuning) return NULL;
  wick_schedule *s = wick_schedule_begin(g, tmp);
  wick_status wrong = wick_schedule_apply(s, x->steps);
  if (!wrong) wrong = wick_schedule_check(s);
  if (wrong)
    return wick_fail(tmp, WICK_EINVAL, wick_path_base(records->path), "its schedule: %s",
                     wrong->message);
  g->schedule = wick_intern(g->module, x->steps);
  wick_push(records->mem, &records->used, wick_str_dup(records->mem, g->name));
  return NULL;
}

wick_status wick_template_schedule(wick_func *g, const wick_target *target,
                                   wick_tuning_records *records, wick_arena *tmp)
{
  const char *steps;
  WICK_TRY(wick_template_steps(g, target, &(wick_knobs){0}, tmp, &steps));
  if (records) WICK_TRY(template_tuning_record(g, target, records, tmp));
  if (!g->schedule) g->schedule = wick_intern(g->module, steps);
  return NULL;
}
