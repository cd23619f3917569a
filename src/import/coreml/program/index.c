/* Operations with indices: gather, scatter, one-hot vectors, selected boxes. */
#include <math.h>

#include "import/coreml/program/ops.h"

static wick_value index_wide(wick_import_node *n, wick_value v)
{
  return wick_build_cast(n->b, v, WICK_I64);
}

static bool index_axis(wick_import_node *n, int64_t otherwise, uint32_t *out)
{
  return wick_import_axis(n, wick_import_int(n, "axis", otherwise), wick_import_info(n, 0)->rank,
                          out);
}

/* ---- gather ---- */

void wick_mil_import_gather(wick_import_node *n) /* x, indices */
{
  uint32_t at;
  int64_t batch = wick_import_int(n, "batch_dims", 0), rank = wick_import_info(n, 1)->rank;
  if (!index_axis(n, 0, &at)) return;
  if (batch < 0) batch += rank;
  if (batch < 0 || batch > rank || batch > at) {
    wick_import_fail(n, WICK_ETYPE, "batch_dims does not fit axis %u", at);
    return;
  }
  n->out[0] = wick_array_gather(n, n->in[0], n->in[1], at, (uint32_t)batch);
}

void wick_mil_import_gather_along_axis(wick_import_node *n) /* x, indices */
{
  uint32_t at;
  if (index_axis(n, 0, &at))
    n->out[0] = wick_emit_gather(n->b, WICK_OP_gather_elements, n->in[0], n->in[1], at);
}

void wick_mil_import_gather_nd(wick_import_node *n) /* x, indices */
{
  int64_t batch = wick_import_int(n, "batch_dims", 0);
  if (batch < 0 || batch > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "batch_dims is %lld", (long long)batch);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_gather_nd);
  wick_emit_set_int(&e, "batch", batch);
  n->out[0] = wick_emit_end2(&e, n->in[0], n->in[1]);
}

/* ---- scatter ---- */

/* How updates are combined: by a word of Wick's operators, after they are negated or before they
 * divide. */
typedef enum index_mode {
  INDEX_ADD,
  INDEX_DIV,
  INDEX_MAX,
  INDEX_MIN,
  INDEX_MUL,
  INDEX_SUB,
  INDEX_UPDATE
} index_mode;

static wick_value index_scatter_word(wick_import_node *n, wick_opcode op, uint32_t axis, int word,
                                     wick_value x, wick_value index, wick_value update)
{
  wick_emit e = wick_emit_begin(n->b, op);
  if (op == WICK_OP_scatter_elements) wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "reduction", word);
  const wick_value in[] = {x, index, update};
  return wick_emit_end(&e, 3, in);
}

/* scatter_nd, or scatter_elements along an axis, with a mode of Core ML. A quotient is rounded once:
 * x is divided by the product of the updates. */
static wick_value index_scatter(wick_import_node *n, wick_opcode op, uint32_t axis, wick_value x,
                                wick_value index, wick_value update)
{
  static const int word[] = {1, 2, 3, 4, 2, 1, 0}; /* none add mul max min */
  int mode = wick_import_word(n, "mode", "add div max min mul sub update");
  if (n->failed || n->b->status) return (wick_value){0};
  if (mode == INDEX_SUB) update = wick_build1(n->b, WICK_OP_neg, update);
  if (mode != INDEX_DIV) return index_scatter_word(n, op, axis, word[mode], x, index, update);
  const wick_type_info t = *wick_mil_info(n, x);
  wick_value ones = wick_emit_expand(n->b, wick_emit_number(n->b, x, 1), t.rank, t.dim);
  wick_value by = index_scatter_word(n, op, axis, word[mode], ones, index, update);
  return wick_build2(n->b, WICK_OP_div, x, by);
}

/* The indices select along one axis; the updates have the indices' dimensions in its place. */
void wick_mil_import_scatter(wick_import_node *n) /* data, indices, updates */
{
  const wick_type_info x = *wick_import_info(n, 0), i = *wick_import_info(n, 1),
                       u = *wick_import_info(n, 2);
  wick_dims *d = wick_mil_dims(n);
  wick_dim flat[WICK_MAX_RANK], one[WICK_MAX_RANK];
  uint32_t at;
  if (!index_axis(n, 0, &at)) return;
  if (u.rank + 1 != x.rank + i.rank) {
    wick_import_fail(n, WICK_ETYPE, "the updates have rank %u, expected %u", u.rank,
                     x.rank + i.rank - 1);
    return;
  }
  for (uint32_t k = 0; k < x.rank; k++) {
    one[k] = wick_dim_const(1);
    flat[k] = k < at ? u.dim[k] : k == at ? wick_dim_const(1) : u.dim[k + i.rank - 1];
  }
  for (uint32_t k = 0; k < i.rank; k++) flat[at] = wick_dim_mul(d, flat[at], i.dim[k]);
  one[at] = flat[at];
  wick_value update = wick_build_reshape(n->b, n->in[2], x.rank, flat);
  wick_value index = wick_build_reshape(n->b, n->in[1], x.rank, one);
  index = wick_emit_expand(n->b, index, x.rank, flat);
  n->out[0] = index_scatter(n, WICK_OP_scatter_elements, at, n->in[0], index, update);
}

void wick_mil_import_scatter_along_axis(wick_import_node *n) /* data, indices, updates */
{
  uint32_t at;
  if (index_axis(n, 0, &at))
    n->out[0] = index_scatter(n, WICK_OP_scatter_elements, at, n->in[0], n->in[1], n->in[2]);
}

void wick_mil_import_scatter_nd(wick_import_node *n) /* data, indices, updates */
{
  n->out[0] = index_scatter(n, WICK_OP_scatter_nd, 0, n->in[0], n->in[1], n->in[2]);
}

/* ---- one-hot vectors and positions ---- */

void wick_mil_import_one_hot(wick_import_node *n) /* indices, size, on_value, off_value */
{
  wick_builder *b = n->b;
  uint32_t count, at;
  const wick_dim *depth;
  wick_type number = wick_type_tensor(n->c->module, WICK_I32, 0, NULL);
  if (!wick_import_dims(n, 1, "the size of the vectors", &count, &depth) ||
      !wick_import_axis(n, wick_import_int(n, "axis", -1), wick_import_info(n, 0)->rank + 1, &at))
    return;
  if (count != 1) {
    wick_import_fail(n, WICK_ETYPE, "the size of the vectors has %u numbers, expected 1", count);
    return;
  }
  wick_value on = n->in[2], off = n->in[3];
  if (!on.id) on = wick_build_const(b, off.id ? wick_mil_type_of(n, off) : number, 1, 1);
  if (!off.id) off = wick_build_const(b, wick_mil_type_of(n, on), 0, 0);
  if (b->status) return;
  const wick_dim one = wick_dim_const(1);
  wick_value pair[2] = {wick_build_reshape(b, off, 1, &one), {0}};
  pair[1] = wick_build_reshape(b, on, 1, &one);
  wick_value values = wick_build_concat(b, 0, 2, pair);
  /* Core ML's negative indices give no element; Wick's count from the end. */
  wick_value index = index_wide(n, n->in[0]);
  wick_value below = wick_emit_by(b, WICK_OP_lt, index, 0);
  index =
      wick_build3(b, WICK_OP_where, below, wick_emit_number(b, index, (double)INT32_MAX), index);
  wick_emit e = wick_emit_begin(b, WICK_OP_one_hot);
  wick_emit_set_int(&e, "axis", at);
  wick_emit_set_dims(&e, "depth", 1, depth);
  n->out[0] = wick_emit_end2(&e, index, values);
}

void wick_mil_import_non_zero(wick_import_node *n)
{
  wick_value y = wick_array_where(n, n->in[0]);
  if (n->failed || n->b->status || !y.id) return;
  const wick_import_sized *s = wick_import_bounded_find(n->c, y);
  n->out[0] = wick_build_cast(n->b, y, WICK_I32);
  if (s) n->out[0] = wick_import_bounded(n->c, n->out[0], 0, s->count);
}

/* ---- non-maximum suppression ---- */

/* [batch, boxes, 4] with x, y, width and height becomes [batch, 4, boxes]: low y, low x, high y,
 * high x. */
static wick_value index_corners(wick_import_node *n, wick_value boxes)
{
  wick_builder *b = n->b;
  wick_value side[4], out[4];
  wick_dim one = wick_dim_const(1);
  boxes = wick_build_swap(b, wick_build_cast(b, boxes, WICK_F32));
  for (int64_t k = 0; k < 4; k++) side[k] = wick_emit_slice(b, boxes, 1, wick_dim_const(k), one);
  for (uint32_t k = 0; k < 2; k++) {
    wick_value half = wick_emit_by(b, WICK_OP_mul, side[3 - k], 0.5);
    out[k] = wick_build2(b, WICK_OP_sub, side[1 - k], half);
    out[2 + k] = wick_build2(b, WICK_OP_add, side[1 - k], half);
  }
  return wick_build_concat(b, 1, 4, out);
}

/* The scores of the boxes [batch, classes, boxes]: a box belongs to the class of its best score, and
 * has no score in the other ones. Without classes, [batch, 1, boxes]. */
static wick_value index_class_scores(wick_import_node *n, wick_value best, wick_value scores,
                                     double threshold, bool each)
{
  wick_builder *b = n->b;
  wick_value none = wick_emit_number(b, best, -(double)INFINITY);
  wick_value above = wick_emit_by(b, WICK_OP_gt, best, threshold);
  wick_value s = wick_build3(b, WICK_OP_where, above, best, none);
  s = wick_emit_unsqueeze(b, s, 1);
  if (!each || b->status) return s;
  wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 2);
  wick_emit_set_int(&e, "keepdims", 0);
  wick_value class = wick_emit_unsqueeze(b, wick_emit_end1(&e, scores), 1);
  if (b->status) return s;
  wick_value all = wick_emit_count_along(b, wick_mil_info(n, scores)->dim[2], 1, 3);
  wick_value own = wick_build2(b, WICK_OP_eq, class, all);
  return wick_build3(b, WICK_OP_where, own, s, none);
}

typedef struct index_picks {
  wick_value index, count; /* [batch, most], [batch, 1]; i64 */
  wick_value valid;        /* [batch, most] */
} index_picks;

static wick_value index_top(wick_import_node *n, wick_value x, uint32_t axis, wick_dim k)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "k", 1, &k);
  return wick_emit_end1(&e, x);
}

/* Selects in each class, then the best of all classes. */
static void index_pick(wick_import_node *n, wick_value corners, wick_value scores, wick_dim most,
                       double overlap, index_picks *out)
{
  wick_builder *b = n->b;
  if (b->status) return;
  const wick_type_info t = *wick_mil_info(n, scores);
  wick_value top = index_top(n, scores, 2, t.dim[2]), in[] = {corners, top, {top.id + 1}};
  wick_emit e = wick_emit_begin(b, WICK_OP_non_max_suppression);
  wick_emit_set_dims(&e, "most", 1, &most);
  wick_emit_set_float(&e, "overlap", overlap);
  wick_value box = wick_emit_end(&e, 3, in), count = index_wide(n, (wick_value){box.id + 1});
  wick_value place = wick_emit_count_along(b, most, 2, 3);
  wick_value there = wick_build2(b, WICK_OP_lt, place, wick_emit_unsqueeze(b, count, 2));
  wick_value s = wick_emit_gather(b, WICK_OP_gather_elements, scores, box, 2);
  s = wick_build3(b, WICK_OP_where, there, s, wick_emit_number(b, s, -(double)INFINITY));
  wick_dim flat[] = {t.dim[0], wick_dim_mul(wick_mil_dims(n), t.dim[1], most)};
  wick_value best = index_top(n, wick_build_reshape(b, s, 2, flat), 1, most);
  box = wick_build_reshape(b, index_wide(n, box), 2, flat);
  out->index = wick_emit_gather(b, WICK_OP_gather_elements, box, (wick_value){best.id + 1}, 1);
  count = wick_emit_reduce1(b, WICK_OP_reduce_sum, count, 1, true);
  out->count = wick_emit_by(b, WICK_OP_min, count, (double)most.v);
}

/* If no box is above the threshold, the one with the best score is selected. */
static void index_at_least_one(wick_import_node *n, wick_value best, wick_dim most, index_picks *p)
{
  wick_builder *b = n->b;
  wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 1);
  wick_value first = index_wide(n, wick_emit_end1(&e, best));
  wick_value empty = wick_emit_by(b, WICK_OP_eq, p->count, 0);
  p->index = wick_build3(b, WICK_OP_where, empty, first, p->index);
  p->count = wick_emit_by(b, WICK_OP_max, p->count, 1);
  wick_value place = wick_emit_count_along(b, most, 1, 2);
  p->valid = wick_build2(b, WICK_OP_lt, place, p->count);
}

/* The rows of x [batch, boxes, k] that are selected; 0 for the others. */
static wick_value index_rows(wick_import_node *n, wick_value x, const index_picks *p)
{
  wick_builder *b = n->b;
  wick_emit e = wick_emit_begin(b, WICK_OP_gather_nd);
  wick_emit_set_int(&e, "batch", 1);
  wick_value y = wick_emit_end2(&e, x, wick_emit_unsqueeze(b, p->index, 2));
  wick_value valid = wick_emit_unsqueeze(b, p->valid, 2);
  return wick_build3(b, WICK_OP_where, valid, y, wick_emit_number(b, y, 0));
}

void wick_mil_import_non_maximum_suppression(wick_import_node *n) /* boxes, scores */
{
  wick_builder *b = n->b;
  index_picks p = {{0}, {0}, {0}};
  int64_t limit = wick_import_int(n, "max_boxes", 1);
  bool each = wick_import_int(n, "per_class_suppression", 0) != 0;
  double threshold = wick_import_real(n, "score_threshold", -(double)INFINITY);
  if (!wick_import_rank(n, 0, 3, 3) || !wick_import_rank(n, 1, 3, 3)) return;
  if (limit < 1 || limit > 1 << 24 || !wick_dim_is(wick_import_info(n, 0)->dim[2], 4)) {
    wick_import_fail(n, WICK_ETYPE, "its boxes [batch, n, 4] or their number do not fit");
    return;
  }
  wick_dim most = wick_dim_const(limit);
  wick_value scores = wick_build_cast(b, n->in[1], WICK_F32);
  wick_value best = wick_emit_reduce1(b, WICK_OP_reduce_max, scores, 2, false);
  wick_value by_class = index_class_scores(n, best, scores, threshold, each);
  wick_value corners = index_corners(n, n->in[0]);
  index_pick(n, corners, by_class, most, wick_import_real(n, "iou_threshold", 0), &p);
  index_at_least_one(n, best, most, &p);
  if (n->nout > 0) n->out[0] = index_rows(n, n->in[0], &p);
  if (n->nout > 1) n->out[1] = index_rows(n, n->in[1], &p);
  if (n->nout > 2) {
    wick_value none = wick_emit_number(b, p.index, -1);
    n->out[2] = wick_build_cast(b, wick_build3(b, WICK_OP_where, p.valid, p.index, none), WICK_I32);
  }
  if (n->nout > 3) n->out[3] = wick_build_cast(b, wick_emit_squeeze(b, p.count, 1), WICK_I32);
}
