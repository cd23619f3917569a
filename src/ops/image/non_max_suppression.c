/* non_max_suppression: boxes in the order of their scores, without those that overlap an earlier
 * one. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/loop/loop_nest.h"
#include "ops/ref.h"
#include "ops/tensor.h"

enum { NON_MAX_SUPPRESSION_BOXES, NON_MAX_SUPPRESSION_SCORES, NON_MAX_SUPPRESSION_ORDER };
enum {
  NON_MAX_SUPPRESSION_SIDES = 4,
  NON_MAX_SUPPRESSION_AREA = 4,
  NON_MAX_SUPPRESSION_NUMBERS
}; /* rows of a box: low y, low x, high y, high x */

static wick_status non_max_suppression_infer(wick_infer *c)
{
  const wick_type_info *boxes, *scores, *order;
  WICK_TRY(wick_infer_tensor(c, NON_MAX_SUPPRESSION_BOXES, "the boxes", 3, &boxes));
  WICK_TRY(wick_infer_alike(c, NON_MAX_SUPPRESSION_SCORES, "the scores", 3, &scores));
  WICK_TRY(wick_infer_tensor(c, NON_MAX_SUPPRESSION_ORDER, "the order", 3, &order));
  bool fit = boxes->rank == 3 && scores->rank == 3 && order->rank == 3 && order->elem == WICK_I64 &&
             wick_dim_is(boxes->dim[1], NON_MAX_SUPPRESSION_SIDES) &&
             c->attr[WICK_ATTR_non_max_suppression_most].n == 1 &&
             wick_infer_equal(c, boxes->dim[0], scores->dim[0]);
  for (uint32_t k = 0; fit && k < 3; k++) fit = wick_infer_equal(c, order->dim[k], scores->dim[k]);
  if (!fit)
    return wick_infer_fail(
        c, WICK_ETYPE, "boxes %s, scores %s and their order %s do not fit each other",
        wick_infer_type_text(c, c->in[0]->type), wick_infer_type_text(c, c->in[1]->type),
        wick_infer_type_text(c, c->in[2]->type));
  wick_dim dim[3] = {scores->dim[0], scores->dim[1],
                     c->attr[WICK_ATTR_non_max_suppression_most].dims[0]};
  wick_infer_out(c, 0, WICK_I64, 3, dim);
  wick_infer_out(c, 1, WICK_I64, 2, dim);
  wick_infer_out(c, 2, WICK_BOOL, 2, dim);
  c->nout = 3;
  return NULL;
}

/* ---- reference ---- */

static double non_max_suppression_side(const wick_ref *c, int64_t batch, int64_t box, int64_t side)
{
  const wick_tensor *t = &c->in[NON_MAX_SUPPRESSION_BOXES];
  return wick_load_elem(t->elem, t->data,
                        (uint64_t)((batch * NON_MAX_SUPPRESSION_SIDES + side) * t->dim[2] + box))
      .f;
}

static bool non_max_suppression_covers(const wick_ref *c, int64_t batch, int64_t x, int64_t y)
{
  wick_elem e = c->in[NON_MAX_SUPPRESSION_BOXES].elem;
  double both = 1, area[2] = {1, 1};
  for (int64_t k = 0; k < 2; k++) {
    double low[2] = {non_max_suppression_side(c, batch, x, k),
                     non_max_suppression_side(c, batch, y, k)},
           high[2] = {non_max_suppression_side(c, batch, x, k + 2),
                      non_max_suppression_side(c, batch, y, k + 2)};
    for (int i = 0; i < 2; i++) area[i] = wick_ref_range(e, area[i] * (high[i] - low[i]));
    both *= fmax(fmin(high[0], high[1]) - fmax(low[0], low[1]), 0);
  }
  return both / (area[0] + area[1] - both) > c->attr[WICK_ATTR_non_max_suppression_overlap].f;
}

static wick_status non_max_suppression_ref(wick_ref *c)
{
  const wick_tensor *scores = &c->in[NON_MAX_SUPPRESSION_SCORES],
                    *order = &c->in[NON_MAX_SUPPRESSION_ORDER];
  int64_t n = scores->dim[2], nbox = c->in[NON_MAX_SUPPRESSION_BOXES].dim[2],
          most = c->out[0].dim[2], *kept = wick_new(c->mem, int64_t, (size_t)most + 1);
  for (int64_t line = 0; line < scores->dim[0] * scores->dim[1]; line++) {
    int64_t count = 0, batch = line / scores->dim[1];
    bool ended = false;
    for (int64_t i = 0; i < n && count < most && !ended; i++) {
      int64_t box = wick_load_int(WICK_I64, order->data, (uint64_t)(line * n + i));
      double score = wick_load_elem(scores->elem, scores->data, (uint64_t)(line * n + i)).f;
      if (box < 0 || box >= nbox)
        return wick_ref_fail(c, WICK_ERANGE, "box %lld of %lld", (long long)box, (long long)nbox);
      ended = score == -INFINITY;
      bool covered = isnan(score) || ended;
      for (int64_t k = 0; k < count && !covered; k++)
        covered = non_max_suppression_covers(c, batch, kept[k], box);
      if (covered) continue;
      kept[count] = box;
      wick_store_elem(WICK_I64, c->out[0].data, (uint64_t)(line * most + count++),
                      (wick_scalar){.i = box});
    }
    wick_store_elem(WICK_I64, c->out[1].data, (uint64_t)line, (wick_scalar){.i = count});
    wick_store_elem(WICK_BOOL, c->out[2].data, (uint64_t)line,
                    (wick_scalar){.i = count < most && !ended});
  }
  return NULL;
}

/* ---- the loop nest ---- */

typedef struct suppress {
  const wick_compute *c;
  wick_builder *b;
  wick_dim batch, class; /* the current batch entry and class */
  wick_value kept;       /* the boxes that were selected: [sides and area, boxes] */
} suppress;

static wick_value non_max_suppression_read(const suppress *s, uint32_t operand, wick_dim row,
                                           wick_value i)
{
  wick_dim index[3] = {s->batch, row, WICK_DIM_ANY};
  return wick_read(s->b, s->c->in[operand], index, 1, &i, (wick_value){0});
}

static wick_value non_max_suppression_kept(const suppress *s, uint32_t number, wick_value i)
{
  wick_dim index[2] = {wick_dim_const(number), WICK_DIM_ANY};
  return wick_get(s->b, s->kept, index, 1, &i);
}

/* Reads the sides of a box, and computes its area. */
static void non_max_suppression_box(const suppress *s, wick_value box, wick_value *out)
{
  wick_builder *b = s->b;
  for (uint32_t k = 0; k < NON_MAX_SUPPRESSION_SIDES; k++)
    out[k] = non_max_suppression_read(s, NON_MAX_SUPPRESSION_BOXES, wick_dim_const(k), box);
  wick_value y = wick_build2(b, WICK_OP_sub, out[2], out[0]),
             x = wick_build2(b, WICK_OP_sub, out[3], out[1]);
  out[NON_MAX_SUPPRESSION_AREA] = wick_build2(b, WICK_OP_mul, y, x);
}

/* Returns the length of the overlap of a box and the i-th selected one along an axis, or 0. */
static wick_value non_max_suppression_common(const suppress *s, uint32_t axis, wick_value i,
                                             const wick_value *box)
{
  wick_builder *b = s->b;
  wick_value low = wick_build2(b, WICK_OP_max, non_max_suppression_kept(s, axis, i), box[axis]),
             high = wick_build2(b, WICK_OP_min, non_max_suppression_kept(s, axis + 2, i),
                                box[axis + 2]);
  wick_value side = wick_build2(b, WICK_OP_sub, high, low);
  return b->status ? side : wick_build2(b, WICK_OP_max, side, wick_build_like(b, side, 0));
}

/* Returns whether the i-th selected box suppresses a box. Most boxes do not overlap along x, so
 * that their areas are not computed. */
static wick_value non_max_suppression_hit(const suppress *s, wick_value i, const wick_value *box)
{
  wick_builder *b = s->b;
  double overlap = s->c->attr[WICK_ATTR_non_max_suppression_overlap].f;
  wick_value x = non_max_suppression_common(s, 1, i, box), never, part;
  if (b->status) return x;
  wick_type yes = wick_type_scalar(b->module, WICK_BOOL, 1);
  never = wick_build_const(b, yes, 0, 0);
  wick_value meets = wick_build2(b, WICK_OP_gt, x, wick_build_like(b, x, 0));
  if (!(overlap >= 0)) meets = wick_build_const(b, yes, 0, 1);
  wick_if_begin(b, meets, 1, &never);
  wick_value both = wick_build2(b, WICK_OP_mul, non_max_suppression_common(s, 0, i, box), x);
  part = wick_build2(b, WICK_OP_add, non_max_suppression_kept(s, NON_MAX_SUPPRESSION_AREA, i),
                     box[NON_MAX_SUPPRESSION_AREA]);
  part = wick_build2(b, WICK_OP_div, both, wick_build2(b, WICK_OP_sub, part, both));
  part = b->status ? part : wick_build2(b, WICK_OP_gt, part, wick_build_like(b, part, overlap));
  wick_if_else(b, 1, &part);
  return wick_if_end(b, 1, &never);
}

/* Returns whether any of the `count` selected boxes suppresses a box. */
static wick_value non_max_suppression_covered(const suppress *s, wick_value count,
                                              const wick_value *box, wick_value init)
{
  wick_builder *b = s->b;
  wick_value state[2] = {wick_build_i64(b, 0), init}, next[2];
  wick_value i = wick_while_begin(b, 2, state);
  wick_value free = wick_build1(b, WICK_OP_not, (wick_value){i.id + 1}),
             more = wick_build2(b, WICK_OP_lt, i, count);
  i = wick_while_body(b, wick_build2(b, WICK_OP_and, free, more), 2, state);
  next[1] = non_max_suppression_hit(s, i, box);
  next[0] = wick_loop_nest_by(b, WICK_OP_add, i, 1);
  return (wick_value){wick_while_end(b, 2, next).id + 1};
}

/* Selects the i-th box in the order of scores, unless it is suppressed. Returns the new count. */
static wick_value non_max_suppression_step(const suppress *s, wick_value chosen, wick_value i,
                                           wick_value count, wick_value score)
{
  wick_builder *b = s->b;
  wick_value box = non_max_suppression_read(s, NON_MAX_SUPPRESSION_ORDER, s->class, i),
             number[NON_MAX_SUPPRESSION_NUMBERS];
  wick_dim place[3] = {s->batch, s->class, WICK_DIM_ANY};
  wick_value n = wick_index(b, wick_built_info(b, s->c->in[NON_MAX_SUPPRESSION_BOXES])->dim[2]),
             low = wick_loop_nest_by(b, WICK_OP_lt, box, 0),
             high = wick_build2(b, WICK_OP_ge, box, n);
  wick_value bad = wick_build2(b, WICK_OP_or, low, high);
  wick_build_failure(b, WICK_ERANGE, bad, box, wick_dim_const(0));
  box = wick_build3(b, WICK_OP_where, bad, wick_build_i64(b, 0), box);
  non_max_suppression_box(s, box, number);
  wick_value none = wick_build2(b, WICK_OP_ne, score, score);
  wick_value covered = non_max_suppression_covered(s, count, number, none);
  wick_if_begin(b, covered, 1, &count);
  wick_if_else(b, 1, &count);
  for (uint32_t k = 0; k < NON_MAX_SUPPRESSION_NUMBERS; k++) {
    wick_dim index[2] = {wick_dim_const(k), WICK_DIM_ANY};
    wick_put(b, s->kept, index, 1, &count, number[k]);
  }
  wick_put(b, chosen, place, 1, &count, box);
  wick_value more = wick_loop_nest_by(b, WICK_OP_add, count, 1);
  return wick_if_end(b, 1, &more);
}

static void non_max_suppression_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *scores = wick_built_info(b, c->in[NON_MAX_SUPPRESSION_SCORES]);
  wick_axis axis[3];
  wick_axes_of(b, c->out_type[0], axis);
  wick_dim most = c->attr[WICK_ATTR_non_max_suppression_most].dims[0], last = scores->dim[2],
           scratch_dim[2] = {wick_dim_const(NON_MAX_SUPPRESSION_NUMBERS),
                             wick_dim_max(b->module->dims, most, wick_dim_const(1))};
  wick_type type[4] = {c->out_type[0], c->out_type[1], c->out_type[2],
                       wick_type_tensor(b->module, scores->elem, 2, scratch_dim)};
  suppress s = {.c = c, .b = b, .batch = axis[0].sym, .class = axis[1].sym};
  wick_value chosen = wick_loop_nest_begin(b, "non_max_suppression", 2, axis, 4, type),
             all = {chosen.id + 1}, open = {chosen.id + 2};
  s.kept = (wick_value){chosen.id + 3};
  wick_value zero = wick_build_i64(b, 0), n = wick_index(b, last), k = wick_index(b, most);
  wick_value on = wick_build_const(b, wick_type_scalar(b->module, WICK_BOOL, 1), 0, 1),
             state[3] = {zero, zero, on}, next[3];
  wick_value i = wick_while_begin(b, 3, state);
  wick_value more = wick_build2(b, WICK_OP_lt, i, n),
             has_space = wick_build2(b, WICK_OP_lt, (wick_value){i.id + 1}, k);
  more = wick_build2(b, WICK_OP_and, more, has_space);
  i = wick_while_body(b, wick_build2(b, WICK_OP_and, more, (wick_value){i.id + 2}), 3, state);
  wick_value count = {i.id + 1},
             score = non_max_suppression_read(&s, NON_MAX_SUPPRESSION_SCORES, s.class, i);
  next[0] = wick_loop_nest_by(b, WICK_OP_add, i, 1);
  next[2] = b->status ? i : wick_build2(b, WICK_OP_ne, score, wick_build_like(b, score, -INFINITY));
  wick_if_begin(b, next[2], 1, &count);
  next[1] = non_max_suppression_step(&s, chosen, i, count, score);
  wick_if_else(b, 1, &next[1]);
  next[1] = wick_if_end(b, 1, &count);
  wick_value end = wick_while_end(b, 3, next);
  count = (wick_value){end.id + 1};
  wick_value less = wick_build2(b, WICK_OP_lt, count, k);
  wick_dim point[2] = {s.batch, s.class}, place[3] = {s.batch, s.class, WICK_DIM_ANY};
  wick_put(b, all, point, 0, NULL, count);
  wick_put(b, open, point, 0, NULL, wick_build2(b, WICK_OP_and, less, (wick_value){end.id + 2}));
  i = wick_for_begin(b, count, k, 0, NULL);
  wick_put(b, chosen, place, 1, &i, zero);
  wick_for_end(b, 0, NULL);
  c->out[0] = wick_loop_nest_end(b);
  for (uint32_t r = 1; r < 3; r++) c->out[r] = (wick_value){c->out[0].id + r};
}

const wick_op wick_op_non_max_suppression = {
    .name = "non_max_suppression",
    .doc = "Selects the best boxes of each class that do not overlap. Boxes are [batch, 4, n]: "
           "low y, low x, high y, high x. Scores [batch, classes, k] are in descending order, and "
           "`order`, of the same shape, gives the index of each score's box. A box is left out if "
           "its intersection over union with a box selected earlier is above `overlap`. Boxes of "
           "score NaN are left out; a score of minus infinity ends the list. At most `most` boxes "
           "are selected for a class. The results are the indices of the selected boxes [batch, "
           "classes, most], padded with 0; how many were selected; and whether there would be "
           "more if there were more scores",
    .nin = {3, 3},
    .nout = {3, 3},
    .attr = {{"most", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"overlap", WICK_ATTR_FLOAT, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .effect = WICK_MAY_FAIL,
    .unfusable = true,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << NON_MAX_SUPPRESSION_ORDER,
    .infer = non_max_suppression_infer,
    .ref = non_max_suppression_ref,
    .compute = non_max_suppression_compute,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};
