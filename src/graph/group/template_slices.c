/* Templates for folds along 1-D slices of memory. `line`: the output does not have the folded axes
 * (sums, means and maxima over the last axes), and the lanes are parts of the slice. `column`: the
 * output has the folded axis, which is not the last one (softmax over channels), and the lanes are
 * neighbouring slices. */
#include "graph/group/template_state.h"

enum { LINE_PARTS = 4 }; /* vectors of partial states, so that one does not wait for the last */

/* The fold's elements lie next to each other along its last axis: those of all reads that it moves.
 * What has a guard or a run-time index stays scalar. */
static bool line_reads(const template_state *t, const wick_stage *fold)
{
  const wick_node *f = template_node(t, fold);
  wick_dim line = fold->axis[fold->naxis - 1].sym;
  bool any = false;
  for (uint32_t i = fold->node + 1; i < f->end; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op == WICK_OP_fail || n->op == WICK_OP_index) return false;
    if (n->op != WICK_OP_read) continue;
    unsigned how = template_step_of(t, n, line);
    if (how == 2 || n->nin > 1 || n->attr[1].i) return false;
    any = any || how == 1;
  }
  return any;
}

/* One state of float32, and a line of at least one vector and a half. */
bool template_line(template_state *t, const wick_stage *fold)
{
  const wick_node *f = template_node(t, fold);
  uint32_t last = fold->naxis - 1;
  if (t->out->naxis > TEMPLATE_AXES || fold->naxis > TEMPLATE_AXES || t->lanes < 2 || f->nout != 1)
    return false;
  const wick_type_info *state = wick_info_of(t->g, f->region[1].first);
  if (f->region[1].nparam != 1 || state->elem != WICK_F32 || t->lanes != t->t->vector_bytes / 4 ||
      wick_stage_starts(t->s, fold) || !fold->axis[last].reduce ||
      2 * template_most(t, fold, last) < 3 * t->lanes || !line_reads(t, fold))
    return false;
  if (t->out->naxis) { /* else all is one element, and the fold goes first */
    template_roles r = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 1, 1, 0, 1, 1, 0, 0};
    template_order order = {false, UINT32_MAX, 0};
    const char *at = template_out_loops(t, &r, &(template_tile){1, 1, 1, 1}, &order, 1);
    wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  }
  const char *name = fold->name, *line = template_loop(t, fold, last);
  wick_text_printf(&t->steps, "split %s.%s lane:%u; ", name, line, t->lanes);
  bool parts = template_extent(t, fold, last) >= LINE_PARTS * (int64_t)t->lanes;
  if (parts) wick_text_printf(&t->steps, "split %s.%s part:%d; ", name, line, LINE_PARTS);
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
  return true;
}

/* ---- columns ---- */

enum { COLUMN_VECTORS = 4 };

/* Axis c is the one of the output's that the fold does not have; one of extent 1 may be in its
 * place. */
static bool column_is(const template_state *t, const wick_stage *fold, uint32_t c)
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

/* A stage reads the fold at its own axes, but for c. */
static bool column_read(const template_state *t, const wick_stage *st, const wick_node *r,
                        uint32_t c)
{
  const wick_dim *dim = wick_info_of(t->g, r->in[0])->dim;
  if (r->attr[1].i || r->nin > 1 || (!st->fold && st->naxis != t->out->naxis)) return false;
  for (uint32_t k = 0, a = 0; k < r->attr[0].n; k++) {
    while (a < st->naxis && (st->axis[a].reduce || (!st->fold && a == c))) a++;
    if (wick_dim_is(dim[k], 1) && wick_dim_is(r->attr[0].dims[k], 0) &&
        (a == st->naxis || !wick_dim_is(st->axis[a].extent, 1)))
      continue;
    if (a == st->naxis || !wick_dim_eq(r->attr[0].dims[k], st->axis[a++].sym)) return false;
  }
  return true;
}

static bool column_fits(const template_state *t, uint32_t c)
{
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (!st->fold) continue;
    if (st->naxis > TEMPLATE_AXES || wick_stage_starts(t->s, st) || !column_is(t, st, c) ||
        !template_reads(t, st, column_read, c))
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

/* A few vectors of neighbouring columns at a time: all folds of them, in registers, and then the
 * output along them. */
bool template_column(template_state *t, const wick_stage *none)
{
  (void)none;
  uint32_t n = t->out->naxis, c = 0;
  if (n < 2 || n > TEMPLATE_AXES || t->lanes < 2 || t->lanes != t->t->vector_bytes / 4)
    return false;
  while (c + 1 < n && !column_fits(t, c)) c++;
  int64_t lanes = t->lanes, extent = template_extent(t, t->out, n - 1);
  if (c + 1 == n || template_most(t, t->out, n - 1) < lanes) return false;
  int64_t vectors = template_even(wick_ceildiv_i64(extent, lanes), COLUMN_VECTORS);
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1);
  template_row_maps(t, last, lanes, true);
  wick_text_printf(&t->steps, "split %s.%s lane:%lld; split %s.%s vb:%lld; ", o, last,
                   (long long)lanes, o, last, (long long)vectors);
  template_order_begin(t, t->out);
  for (uint32_t k = 0; k < n; k++)
    if (k != c) wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
  wick_text_printf(&t->steps, " %s vb lane; vector %s.lane; unroll %s.vb; ",
                   template_loop(t, t->out, c), o, o);
  for (uint32_t k = 0; k < n; k++)
    if (k != c) wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *fold = &t->s->stage[i];
    if (!fold->fold) continue;
    uint32_t v = fold->naxis - 1;
    while (fold->axis[v].reduce) v--;
    wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, o, last);
    template_fold_loops(t, fold, &(template_fold){UINT32_MAX, v, UINT32_MAX, lanes, 4, false});
  }
  return true;
}
