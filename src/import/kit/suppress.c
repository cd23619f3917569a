/* The suppression of boxes, as a loop over the boxes in the order of their scores. */
#include "import/kit/suppress.h"

#include "import/kit/emit.h"

typedef struct suppress_step {
  wick_builder *b;
  const wick_boxes *s;
  wick_value side[4], area; /* [batch, count] */
  wick_value index, count;  /* of this step, i64[]; all, i64 [1, count] */
} suppress_step;

static wick_value suppress_length(const suppress_step *t, wick_value low, wick_value high)
{
  wick_value d = wick_build2(t->b, WICK_OP_sub, high, low);
  if (t->s->side != 0) d = wick_emit_by(t->b, WICK_OP_add, d, t->s->side);
  return wick_emit_by(t->b, WICK_OP_max, d, 0);
}

/* Element `index` of each row of x [batch, count], as [batch, 1]. */
static wick_value suppress_at(const suppress_step *t, wick_value x)
{
  return wick_emit_unsqueeze(t->b, wick_emit_gather(t->b, WICK_OP_gather, x, t->index, 1), 1);
}

/* The overlaps of this step's box with all: the common area by that of both. */
static wick_value suppress_overlap(const suppress_step *t)
{
  wick_builder *b = t->b;
  wick_value length[2];
  for (uint32_t k = 0; k < 2; k++) {
    wick_value low = suppress_at(t, t->side[k]);
    wick_value high = suppress_at(t, t->side[2 + k]);
    low = wick_build2(b, WICK_OP_max, low, t->side[k]);
    high = wick_build2(b, WICK_OP_min, high, t->side[2 + k]);
    length[k] = suppress_length(t, low, high);
  }
  wick_value common = wick_build2(b, WICK_OP_mul, length[0], length[1]);
  wick_value all = wick_build2(b, WICK_OP_add, suppress_at(t, t->area), t->area);
  all = wick_build2(b, WICK_OP_sub, all, common);
  wick_value none = wick_emit_by(b, WICK_OP_le, all, 0);
  wick_value share = wick_build2(b, WICK_OP_div, common, all);
  return wick_build3(b, WICK_OP_where, none, wick_emit_number(b, share, 0), share);
}

/* Whether this step's box is kept, bool [batch, 1]. */
static wick_value suppress_keeps(const suppress_step *t, wick_value kept, wick_value limit)
{
  wick_builder *b = t->b;
  wick_value over =
      wick_build2(b, t->s->equal ? WICK_OP_ge : WICK_OP_gt, suppress_overlap(t), limit);
  over = wick_build2(b, WICK_OP_and, over, kept);
  if (t->s->label.id) {
    wick_value same = wick_build2(b, WICK_OP_eq, suppress_at(t, t->s->label), t->s->label);
    over = wick_build2(b, WICK_OP_and, over, same);
  }
  over = wick_build_cast(b, over, WICK_I32);
  over = wick_emit_by(b, WICK_OP_eq, wick_emit_reduce1(b, WICK_OP_reduce_max, over, 1, true), 0);
  return wick_build2(b, WICK_OP_and, over, suppress_at(t, t->s->valid));
}

static void suppress_begin(suppress_step *t)
{
  wick_builder *b = t->b;
  wick_value length[2];
  for (uint32_t k = 0; k < 4; k++) {
    t->side[k] = wick_emit_slice(b, t->s->corners, 2, wick_dim_const(k), wick_dim_const(1));
    t->side[k] = wick_emit_squeeze(b, t->side[k], 2);
  }
  for (uint32_t k = 0; k < 2; k++) length[k] = suppress_length(t, t->side[k], t->side[2 + k]);
  t->area = wick_build2(b, WICK_OP_mul, length[0], length[1]);
}

wick_value wick_boxes_kept(wick_builder *b, const wick_boxes *s)
{
  suppress_step t = {.b = b, .s = s};
  suppress_begin(&t);
  if (b->status) return s->valid;
  const wick_type_info *v = wick_built_info(b, s->valid);
  const wick_dim column[] = {v->dim[0], wick_dim_const(1)};
  wick_value carried[2], next[2], none = wick_emit_number(b, s->valid, 0);
  carried[0] = wick_emit_expand(b, none, 2, v->dim);
  carried[1] = wick_emit_expand(b, wick_emit_number(b, t.area, s->overlap), 2, column);
  wick_value count = wick_emit_count(b, v->dim[1]);
  t.count = wick_emit_unsqueeze(b, count, 0);
  count = wick_build1(b, WICK_OP_size, count);
  t.index = wick_emit_loop_begin(b, count, 2, carried, 0, wick_dim_const(0));
  wick_value kept = {t.index.id + 1}, limit = {t.index.id + 2};
  wick_value keeps = suppress_keeps(&t, kept, limit);
  wick_value here = wick_build2(b, WICK_OP_eq, t.count, t.index);
  next[0] = wick_build3(b, WICK_OP_where, here, keeps, kept);
  next[1] = limit;
  if (s->eta < 1) {
    wick_value adapts = wick_build2(b, WICK_OP_and, keeps, wick_emit_by(b, WICK_OP_gt, limit, 0.5));
    next[1] =
        wick_build3(b, WICK_OP_where, adapts, wick_emit_by(b, WICK_OP_mul, limit, s->eta), limit);
  }
  return wick_emit_loop_end(b, 2, next);
}

wick_value wick_boxes_first(wick_builder *b, wick_value marked)
{
  if (b->status) return marked;
  wick_dim count = wick_built_info(b, marked)->dim[1];
  wick_value place = wick_emit_count_along(b, count, 1, 2);
  wick_value later = wick_build1(b, WICK_OP_size, wick_emit_count(b, count));
  later = wick_build2(b, WICK_OP_add, place, later);
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "least", 1);
  wick_emit_set_dims(&e, "k", 1, &count);
  return (wick_value){wick_emit_end1(&e, wick_build3(b, WICK_OP_where, marked, place, later)).id +
                      1};
}

wick_value wick_boxes_rows(wick_builder *b, wick_value x, wick_value order)
{
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x), *o = wick_built_info(b, order);
  const wick_dim all[] = {t->dim[0], o->dim[1], t->dim[2]};
  order = wick_emit_expand(b, wick_emit_unsqueeze(b, order, 2), 3, all);
  return wick_emit_gather(b, WICK_OP_gather_elements, x, order, 1);
}
