/* The table of the schedule templates. A template matches groups by the form of their stages, and
 * writes a group's first schedule, which fits the registers and caches of the target. (`wick tune`
 * measures others.) The first template of the table that matches a group schedules it. The step
 * `template` records its name in the schedule.
 *
 * Groups are formed so that their last stage, the output, is a map; only loop_nest has another
 * one. A position is an index of the output's axes that are not channels. */
#include "base/file.h"
#include "graph/group/template_spans.h"
#include "graph/group/template_state.h"

static bool template_serial_match(template_state *t)
{
  (void)t;
  return true;
}

const wick_template wick_templates[] = {
    {"loop_nest", template_loop_nest_match, template_loop_nest, "The output is a loop nest.",
     "Tasks run over its axes. If all of its reads and writes are contiguous along the last axis, "
     "and all points take the same path, vectors of points run at once."},
    {"winograd", template_winograd_match, template_winograd,
     "A convolution by Winograd's algorithm: stages that transform tiles of the input, multiply "
     "them, and transform the products into tiles of the output.",
     "A task transforms a block of tiles into scratch memory, and multiplies them by the weights "
     "of some of the channels; the tiles of the output are computed in registers."},
    {"attention", template_attention_match, template_attention,
     "The stages of attention, from keys to weighted values.",
     "A task takes some vectors of queries and goes through blocks of keys. The products and "
     "weights of a block are in scratch memory."},
    {"depthwise_pointwise", template_depthwise_pointwise_match, template_depthwise_pointwise,
     "A depthwise convolution followed by a pointwise one.",
     "Rows of the first result, in all channels, are in scratch memory until the tiles of the "
     "second convolution have read them."},
    {"transpose", template_transpose_match, template_transpose,
     "A map that reads something along another axis than the one along which it writes.",
     "Blocks are read in vectors along the one axis and transposed in registers."},
    {"map", template_map_match, template_map, "Any other map.",
     "Vectors run along the last axis, tasks over the others. A task has several short rows."},
    {"outer_product", template_outer_product_match, template_outer_product,
     "A sum of products, one factor of which all lanes share: convolutions, matrix products.",
     "The sum is computed in a register tile of vectors by positions, which the cost model "
     "chooses. If the rows of a factor are in many parts of the memory, blocks of them are first "
     "copied to scratch memory, or, if they have few uses, a block of terms is added to many sums, "
     "which are partial meanwhile, in scratch memory."},
    {"depthwise_dot", template_depthwise_dot_match, template_depthwise_dot,
     "A depthwise convolution of bytes, for targets with a dot product instruction.",
     "The lanes are channels, and an instruction multiplies neighbouring columns. A register tile "
     "has several positions."},
    {"inner_product", template_inner_product_match, template_inner_product,
     "A sum of products whose factors are both contiguous along the axis of the sum.",
     "The lanes are parts of the sum. The register tile is chosen as for outer_product."},
    {"reduce", template_reduce_match, template_reduce,
     "A fold along the last axes of its operand, which the output does not have: sums, means, "
     "maxima.",
     "The lanes are parts of the slice of memory that is folded, with several partial states."},
    {"window", template_window_match, template_window,
     "Any other single fold: pooling, depthwise convolutions, sums over positions.",
     "The lanes run along the output's last axis, and several positions or vectors are in "
     "registers."},
    {"normalize", template_normalize_match, template_normalize,
     "Folds along the last axis or axes, which the output has, too: softmax, norms.",
     "A task takes whole slices. It computes the folds of a slice one after the other, with the "
     "lanes as parts of the slice and several partial states, and then the output."},
    {"normalize_outer", template_normalize_outer_match, template_normalize_outer,
     "Folds as for normalize, along another axis than the last: softmax over channels.",
     "The lanes are neighbouring slices, a few vectors of them at once, or several partial states "
     "of "
     "fewer vectors."},
    {"serial", template_serial_match, template_inline_maps, "Any other group.",
     "Stages are computed one after the other, in serial loops; maps are inlined where they can "
     "be."},
    {NULL, NULL, NULL, NULL, NULL},
};

/* Returns true if the fold's results have dimensions of their own. The axes of the output are then
 * not the first axes of the fold. */
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

/* Returns true if there are folds, and no state has more bits. */
static bool template_states_fit(const template_state *t, uint32_t bits)
{
  bool some = false, fit = true;
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_region *step = &template_node(t, &t->s->stage[i])->region[1];
    for (uint32_t k = 0; t->s->stage[i].fold && k < step->nparam; k++)
      some = true, fit = fit && template_bits(t, (wick_value){step->first.id + k}) <= bits;
  }
  return some && fit;
}

/* Returns how many elements fit into a vector register: of the output's type, or of a wider type
 * that the output is computed from. Types of more than 32 bits are ignored, also that of an output
 * of positions that were found as 32 bits. */
static uint32_t template_lanes(const template_state *t)
{
  enum { WORD = 32 };
  uint32_t bits = template_bits(t, template_node(t, t->out)->first);
  if (bits > WORD && template_states_fit(t, WORD)) bits = WORD;
  if (!bits || !t->t->vector_bytes) return 1;
  for (uint32_t i = 0; i <= t->s->output && bits < WORD; i++) {
    const wick_node *n = template_node(t, &t->s->stage[i]);
    uint32_t own = template_bits(t, t->s->stage[i].fold ? n->region[1].first : n->first);
    bits = own > WORD ? WORD : own > bits ? own : bits;
  }
  return t->t->vector_bytes * 8 / bits;
}

/* Returns true if a stage that reads a fold has the elements of the output. If a smaller map reads
 * the fold, several elements of the output share a result. */
static bool template_is_whole(const template_state *t, const wick_stage *st, const wick_node *read,
                              uint32_t axis)
{
  (void)read, (void)axis;
  if (st->naxis != t->out->naxis) return false;
  for (uint32_t k = 0; k < st->naxis; k++)
    if (!wick_dim_eq(st->axis[k].extent, t->out->axis[k].extent)) return false;
  return true;
}

/* Sets the members of t that several templates use: `out`, `plain`, `lanes`, `nfold` and `fold`
 * (template_state.h). */
static void template_examine(template_state *t)
{
  const wick_stage *fold = NULL;
  bool in_place = true;
  t->out = &t->s->stage[t->s->output];
  t->plain = !t->out->fold && !t->out->loop_nest;
  t->lanes = template_lanes(t);
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (st->fold) {
      fold = st, t->nfold++;
      in_place = in_place && template_read_in_place(t, st);
      t->plain = t->plain && !template_owns(t, st);
    } else {
      t->plain = t->plain && template_can_inline(t->g, template_node(t, st));
    }
  }
  if (t->nfold == 1 && in_place && template_reads(t, fold, template_is_whole, 0)) t->fold = fold;
  t->plain = t->plain && (t->out->naxis || t->nfold == 1);
  for (uint32_t k = 0; k < t->out->naxis; k++) t->plain = t->plain && template_extent(t, t->out, k);
}

const wick_node *wick_template_panel(wick_func *g, const wick_target *target, wick_arena *tmp)
{
  template_state t = {.g = g,
                      .t = target,
                      .tmp = tmp,
                      .s = wick_schedule_begin(g, tmp),
                      .steps = wick_text_begin(tmp)};
  const wick_template *row = wick_templates;
  if (!t.s->nstage) return NULL;
  template_examine(&t);
  while (row->match != template_outer_product_match && !row->match(&t)) row++;
  return row->match == template_outer_product_match ? template_panel_read(&t) : NULL;
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
  const wick_template *row = wick_templates;
  *out = NULL;
  if (!t.s->nstage) return wick_fail(tmp, WICK_EINTERNAL, g->name, "a group without stages");
  template_examine(&t);
  while (!row->match(&t)) row++;
  wick_text_printf(&t.steps, "template %s; ", row->name);
  row->emit(&t);
  if (t.refused) return NULL;
  WICK_TRY(wick_template_spans(g, tmp, &t.steps));
  *out = t.steps.at;
  return wick_schedule_apply(wick_schedule_begin(g, tmp), t.steps.at);
}

/* Takes the schedule from the group's tuning record, if there is one. Fails if it is not legal for
 * the group or changes the order of its sums. */
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
