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
 *   convolution: template_depthwise_pointwise.c.
 * - row: folds over the output's last axis, one row at a time: softmax, norms.
 * - column: the same along another axis, several 1-D slices at once.
 * - map: element by element; loop nests: template_loop_nest.c.
 *
 * The output is a map in all of them, because groups are formed that way. Folds are computed inside
 * the loops of the output, in registers. */
#include "base/file.h"
#include "graph/group/template_spans.h"
#include "graph/group/template_state.h"
#include "graph/group/template_winograd.h"

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
      (template_try(t, template_outer_product, fold) ||
       template_try(t, template_depthwise_dot, fold) ||
       template_try(t, template_inner_product, fold) || template_try(t, template_reduce, fold) ||
       template_try(t, template_window, fold)))
    return;
  t->steps.n = mark, t->steps.at[mark] = 0; /* rows say themselves what is read in line */
  if (!template_try(t, template_normalize, NULL) &&
      !template_try(t, template_normalize_outer, NULL))
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
  if (t.out->loop_nest)
    template_loop_nest(&t);
  else if (!wick_template_winograd(t.s, target, knobs, &t.steps, &t.refused) &&
           !template_attention(&t) && !template_depthwise_pointwise(&t))
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
