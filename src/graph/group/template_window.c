/* The template for folds whose lanes are the output's last axis, and which are not sums of
 * products: pooling, depthwise convolution, sums over positions. */
#include "graph/group/cost.h"
#include "graph/group/template_state.h"

/* Returns the order of the output's loops: rows one after the other, as caches fetch them ahead.
 * Vectors down a column took 1 to 1.7 of the time where the data leave the second cache. */
static template_order window_order(const template_state *t, int64_t vectors, int64_t positions,
                                   int64_t lanes)
{
  uint32_t n = t->out->naxis;
  int64_t tasks = n > 1 && t->cut
                      ? wick_ceildiv_i64(template_extent(t, t->out, n - 2), positions)
                      : wick_ceildiv_i64(template_extent(t, t->out, n - 1), vectors * lanes);
  for (uint32_t k = 0; k + 2 < n; k++) tasks *= template_extent(t, t->out, k);
  return (template_order){.axis = UINT32_MAX, .serial = n > 1 && template_has_tasks(tasks)};
}

/* Writes the loops of the output if only its last two axes matter: vectors along the last one, and
 * `positions` of the axis before it, in registers. */
static const char *window_out_loops(template_state *t, int64_t vectors, int64_t positions,
                                    int64_t lanes)
{
  uint32_t n = t->out->naxis;
  template_roles r = {.v = n - 1,
                      .o = UINT32_MAX,
                      .y = UINT32_MAX,
                      .x = n > 1 && positions > 1 ? n - 2 : UINT32_MAX,
                      .no = 1,
                      .nx = 1,
                      .batch = n > 2 ? (1U << (n - 2)) - 1 : 0,
                      .own = 1,
                      .parts = 1};
  template_tile tile = {1, vectors, 1, positions};
  template_order order = window_order(t, vectors, positions, lanes);
  return template_out_loops(t, &r, &tile, &order, lanes);
}

/* Returns how far an index moves while an axis of the fold changes from one value to another, with
 * all other axes at their beginnings. 0: not known. */
static int64_t window_moves(const template_state *t, const wick_stage *fold, wick_dim index,
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

/* Returns the number of consecutive elements that a tile of `positions` neighbours along axis k
 * reads, the maximum over all reads. Elements of the window's last axis that two neighbours
 * share count once. */
static int64_t window_reach(const template_state *t, const wick_stage *fold, uint32_t k,
                            int64_t positions)
{
  const wick_node *f = template_node(t, fold);
  int64_t most = 1, middle = template_extent(t, fold, k) / 2;
  for (uint32_t i = f->region[1].begin; i < f->region[1].end; i++) {
    const wick_node *r = &t->g->node[i];
    if (r->op != WICK_OP_read) continue;
    for (uint32_t d = 0; d < wick_read_index(r)->n; d++) {
      wick_dim index = wick_read_index(r)->dims[d];
      if (wick_dim_eq(index, WICK_DIM_ANY)) continue;
      int64_t reach = 1 + (positions - 1) * window_moves(t, fold, index, k, middle - 1, middle);
      for (uint32_t a = 0; a < fold->naxis; a++)
        if (fold->axis[a].reduce)
          reach += window_moves(t, fold, index, a, 0, template_extent(t, fold, a) - 1);
      if (window_moves(t, fold, index, k, middle - 1, middle)) most = wick_max_i64(most, reach);
    }
  }
  return most;
}

/* Returns the number of neighbours in a tile. Their states, and the elements that they read, stay
 * in registers. */
static int64_t window_positions(const template_state *t, const wick_stage *fold)
{
  uint32_t x = t->out->naxis - 2;
  int64_t best = 1, width = template_extent(t, t->out, x);
  double least = 1e300;
  for (int64_t p = 1; p <= width; p++) {
    if (p > 1 && p + window_reach(t, fold, x, p) > (int64_t)t->t->nvector) break;
    wick_cost_tile whole = {.vectors = 1, .positions = p, .products = p},
                   last = {.vectors = 1, .positions = width % p, .products = width % p};
    double cost = (double)(width / p) * wick_cost_step(t->t, &whole);
    if (width % p) cost += wick_cost_step(t->t, &last) + 1; /* the rest has code of its own */
    if (cost < least * 0.999) best = p, least = cost;
  }
  return best;
}

/* Returns true if neighbours along an axis of the output may read the same elements, because this
 * axis and a reduced axis change the same index. */
static bool window_overlaps(const template_state *t, const wick_stage *fold, uint32_t axis)
{
  wick_dims *dims = t->g->module->dims;
  for (uint32_t i = fold->node + 1; i < template_node(t, fold)->end; i++) {
    const wick_node *n = &t->g->node[i];
    for (uint32_t k = 0; n->op == WICK_OP_read && k < wick_read_index(n)->n; k++) {
      wick_dim d = wick_read_index(n)->dims[k];
      if (wick_dim_eq(d, WICK_DIM_ANY)) return true;
      for (uint32_t a = 0; a < fold->naxis && wick_dim_uses(dims, d, fold->axis[axis].sym); a++)
        if (fold->axis[a].reduce && wick_dim_uses(dims, d, fold->axis[a].sym)) return true;
    }
  }
  return false;
}

/* Returns true if a step of the fold has a polynomial. Its code is large, and keeps the pipes busy
 * by itself. */
static bool window_is_expensive(const template_state *t, const wick_stage *fold)
{
  const wick_node *f = template_node(t, fold);
  bool is = false;
  for (uint32_t i = f->region[1].begin; i < f->region[1].end; i++)
    is = is || wick_op_of(&t->g->node[i])->ulp > 0;
  return is;
}

/* Returns the lanes along the output's last axis; 1 if the elements that a read takes for
 * neighbours are far apart. */
static int64_t window_lanes(const template_state *t)
{
  const wick_node *f = template_node(t, t->fold);
  uint32_t last = t->out->naxis - 1;
  int64_t lanes = template_short_lanes(t, last);
  for (uint32_t i = f->region[1].begin; i < f->region[1].end; i++)
    if (t->g->node[i].op == WICK_OP_read &&
        !template_is_near(t, &t->g->node[i], t->fold->axis[last].sym, lanes))
      return 1;
  return lanes;
}

/* Returns the lanes of a vector that holds the output's last axis, which has two or three elements,
 * and lanes that are masked; 0 if there is none. */
static int64_t window_masked(const template_state *t)
{
  enum { FEW = 4 };
  const wick_node *f = template_node(t, t->fold);
  uint32_t last = t->out->naxis - 1;
  int64_t extent = template_most(t, t->out, last);
  if (t->lanes < FEW || extent < 2 || extent >= FEW || template_varies(t->out, last) ||
      !template_has_masks(t) || wick_stage_starts(t->s, t->fold) ||
      window_overlaps(t, t->fold, last))
    return 0;
  for (uint32_t i = f->region[1].begin; i < f->region[1].end; i++)
    if (t->g->node[i].op == WICK_OP_read &&
        template_step_of(t, &t->g->node[i], t->fold->axis[last].sym) == 2)
      return 0;
  return FEW;
}

bool template_window_match(template_state *t)
{
  uint32_t n = t->out->naxis;
  return t->plain && t->fold && n >= 1 && n <= TEMPLATE_AXES && t->fold->naxis <= TEMPLATE_AXES;
}

void template_window(template_state *t)
{
  const wick_stage *fold = t->fold;
  enum { PARTS = 4 };
  uint32_t n = t->out->naxis;
  int64_t lanes = window_lanes(t), masked = lanes > 1 ? 0 : window_masked(t);
  bool expensive = window_is_expensive(t, fold);
  if (masked) lanes = masked;
  int64_t width = n > 1 ? template_extent(t, t->out, n - 2) : 1, vectors = 1,
          positions = lanes > 1 && n > 1 && !expensive ? window_positions(t, fold) : 1;
  if (lanes > 1 && !expensive &&
      (n < 2 || !window_overlaps(t, fold, n - 2))) /* whole rows of vectors */
    vectors = template_even(wick_ceildiv_i64(template_extent(t, t->out, n - 1), lanes),
                            wick_max_i64(t->t->nvector / 4, 1));
  if (vectors > 1) positions = 1;
  if (t->knobs.columns) positions = wick_min_i64(t->knobs.columns, width);
  t->refused = t->refused || (t->knobs.columns && positions * vectors > t->t->nvector / 2);
  template_inline_maps(t);
  t->cut = template_splits_lanes(t->out, n - 1, lanes) && template_cut(t, n - 1, lanes);
  const char *at = window_out_loops(t, vectors, positions, lanes);
  if (masked) wick_text_printf(&t->steps, "tail %s.lane mask; ", t->out->name);
  wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  /* one vector would wait for its previous state */
  bool parts =
      masked && positions < PARTS && template_extent(t, fold, fold->naxis - 1) >= 4 * PARTS;
  template_fold_loops(t, fold,
                      &(template_fold){UINT32_MAX, lanes > 1 ? n - 1 : UINT32_MAX, UINT32_MAX,
                                       lanes,
                                       parts       ? PARTS
                                       : expensive ? 1
                                                   : 8,
                                       false, parts});
}
