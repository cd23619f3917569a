/* The template for a fold along the last axes of its operand, which the output does not have: sums,
 * means and maxima. The lanes are parts of the 1-D slice that is folded. */
#include "graph/group/template_state.h"

/* vectors of partial states, so that an addition does not wait for the one before it */
enum { REDUCE_PARTS = 4 };

/* Returns true if the fold's elements are contiguous along its last axis in all reads that depend
 * on that axis. Reads with a guard or a run-time index stay scalar. */
static bool reduce_reads(const template_state *t, const wick_stage *fold)
{
  const wick_node *f = template_node(t, fold);
  wick_dim last = fold->axis[fold->naxis - 1].sym;
  bool any = false;
  for (uint32_t i = fold->node + 1; i < f->end; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op == WICK_OP_fail) return false;
    if (n->op != WICK_OP_read) continue;
    unsigned how = template_step_of(t, n, last);
    if (how == 2 || n->nin > 1 || n->attr[WICK_ATTR_read_guard].i) return false;
    any = any || how == 1;
  }
  return any;
}

/* Returns true if neighbours along the output's last axis are near each other in all reads, too, and
 * fill a vector: a window that slides along a row. A vector of neighbours needs no sum across its
 * lanes. If neighbours are `step` elements apart, it takes the elements of `step` vectors, and each
 * of them is shuffled about twice. A sum across lanes halves a vector again and again. */
static bool reduce_slides(const template_state *t, const wick_stage *fold)
{
  uint32_t n = t->out->naxis;
  int64_t taps = 1, most = 1;
  if (!n || template_short_lanes(t, n - 1) < t->lanes) return false;
  for (uint32_t i = fold->node + 1; i < template_node(t, fold)->end; i++) {
    const wick_node *r = &t->g->node[i];
    wick_dim sym = fold->axis[n - 1].sym;
    if (r->op != WICK_OP_read || template_step_of(t, r, sym) == 1) continue;
    int64_t step = wick_read_stride(t->g, r, sym);
    if (step < 2 || !template_is_near(t, r, sym, t->lanes)) return false;
    most = wick_max_i64(most, step);
  }
  if (most == 1) return true;
  for (uint32_t a = 0; a < fold->naxis; a++)
    if (fold->axis[a].reduce) taps *= template_most(t, fold, a);
  int64_t row = template_most(t, fold, fold->naxis - 1), across = 1;
  for (int64_t lanes = t->lanes; lanes > 1; lanes /= 2) across += 2;
  return taps * (3 * most - 1) <=
         t->lanes * (across + 2 * (taps / row) * wick_ceildiv_i64(row, t->lanes));
}

/* Returns true if the slices are long enough: at least one and a half vectors; or, if the lanes
 * that are too many can be masked, half a vector. Of shorter slices, a vector holds elements of
 * neighbouring ones. */
static bool reduce_is_long(const template_state *t, const wick_stage *fold)
{
  uint32_t last = fold->naxis - 1;
  int64_t most = template_most(t, fold, last);
  return 2 * most >= 3 * t->lanes ||
         (2 * most > t->lanes && !template_varies(fold, last) && template_has_masks(t));
}

/* Returns true if the states are numbers that vectors may hold. */
static bool reduce_states(const template_state *t, const wick_node *fold)
{
  const wick_region *step = &fold->region[1];
  for (uint32_t k = 0; k < step->nparam; k++) {
    wick_elem e = wick_info_of(t->g, (wick_value){step->first.id + k})->elem;
    if (!(WICK_BIT(e) & WICK_NUMBERS) || wick_elem_storage[e].bits < 8) return false;
  }
  return true;
}

bool template_reduce_match(template_state *t)
{
  const wick_stage *fold = t->fold;
  if (!t->plain || !fold) return false;
  const wick_node *f = template_node(t, fold);
  return t->out->naxis <= TEMPLATE_AXES && fold->naxis <= TEMPLATE_AXES && t->lanes >= 2 &&
         reduce_states(t, f) && !wick_stage_starts(t->s, fold) &&
         fold->axis[fold->naxis - 1].reduce && reduce_is_long(t, fold) && reduce_reads(t, fold) &&
         !reduce_slides(t, fold);
}

void template_reduce(template_state *t)
{
  const wick_stage *fold = t->fold;
  uint32_t last = fold->naxis - 1;
  template_inline_maps(t);
  if (t->out->naxis) { /* otherwise there is only one element, and the fold is computed first */
    template_roles r = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 1, 1, 0, 1, 1, 0, 0, 0};
    int64_t tasks = 1;
    for (uint32_t k = 0; k + 1 < t->out->naxis; k++) tasks *= template_extent(t, t->out, k);
    template_order order = {.axis = UINT32_MAX, .serial = template_has_tasks(tasks)};
    const char *at = template_out_loops(t, &r, &(template_tile){1, 1, 1, 1}, &order, 1);
    wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  }
  const char *name = fold->name, *loop = template_loop(t, fold, last);
  wick_text_printf(&t->steps, "split %s.%s lane:%u; ", name, loop, t->lanes);
  bool parts = template_extent(t, fold, last) >= REDUCE_PARTS * (int64_t)t->lanes;
  if (parts) wick_text_printf(&t->steps, "split %s.%s part:%d; ", name, loop, REDUCE_PARTS);
  template_order_begin(t, fold);
  for (int tile = 0; tile < 2; tile++)
    for (uint32_t a = 0; a < fold->naxis; a++)
      if (fold->axis[a].reduce != (bool)tile)
        wick_text_printf(&t->steps, " %s", template_loop(t, fold, a));
  wick_text_printf(&t->steps, "%s lane; ", parts ? " part" : "");
  if (parts) wick_text_printf(&t->steps, "rfactor %s.part; ", name);
  wick_text_printf(&t->steps, "vector %s.lane; ", name);
  for (uint32_t a = 0; a < fold->naxis; a++)
    if (!fold->axis[a].reduce)
      wick_text_printf(&t->steps, "unroll %s.%s; ", name, template_loop(t, fold, a));
}
