/* Layers that find positions, or read and write at positions. */
#include <math.h>

#include "import/coreml/layers.h"
#include "import/kit/array.h"

void wick_coreml_gather(wick_import_node *n)
{
  uint32_t axis;
  wick_value at = wick_coreml_index(n, 1);
  if (wick_coreml_axis(n, n->in[0], 0, &axis))
    n->out[0] = wick_emit_gather(n->b, n->row->op, n->in[0], at, axis);
}

void wick_coreml_gather_nd(wick_import_node *n)
{
  n->out[0] = wick_build2(n->b, WICK_OP_gather_nd, n->in[0], wick_coreml_index(n, 1));
}

/* ---- scatter ---- */

enum { INDEX_SLICES, INDEX_ALONG, INDEX_ND };

/* The reduction of the operators; subtraction and division change the updates. False for a mode that
 * there is not. */
static bool index_mode(wick_import_node *n, wick_value *updates, int64_t *reduction)
{
  enum { UPDATE, ADD, SUB, MUL, DIV, MAX, MIN };
  static const int64_t words[] = {0, 1, 1, 2, 2, 3, 4}; /* none add mul max min */
  int64_t mode = wick_import_int(n, "mode", 0);
  if (mode < UPDATE || mode > MIN) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "there is no mode %lld", (long long)mode);
    return false;
  }
  if (mode == SUB) *updates = wick_build1(n->b, WICK_OP_neg, *updates);
  if (mode == DIV) *updates = wick_build1(n->b, WICK_OP_reciprocal, *updates);
  *reduction = words[mode];
  return !n->b->status;
}

void wick_coreml_scatter(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = wick_coreml_float(n, 0), at = wick_coreml_index(n, 1),
             updates = wick_coreml_float(n, 2);
  int64_t reduction;
  uint32_t axis = 0;
  if (n->row->arg != INDEX_ND && !wick_coreml_axis(n, x, 0, &axis)) return;
  if (!index_mode(n, &updates, &reduction)) return;
  if (n->row->arg == INDEX_SLICES) { /* indices [N] for slices [..., N, ...] */
    const wick_type_info *t = wick_built_info(b, updates);
    wick_dim dim[WICK_MAX_RANK];
    if (wick_built_info(b, at)->rank != 1 || axis >= t->rank) {
      wick_import_fail(n, WICK_ETYPE, "its indices have rank %u, expected 1",
                       wick_built_info(b, at)->rank);
      return;
    }
    for (uint32_t k = 0; k < t->rank; k++)
      dim[k] = k == axis ? wick_built_info(b, at)->dim[0] : wick_dim_const(1);
    at = wick_build_reshape(b, at, t->rank, dim);
    if (b->status) return;
    t = wick_built_info(b, updates);
    at = wick_emit_expand(b, at, t->rank, t->dim);
  }
  wick_emit e =
      wick_emit_begin(b, n->row->arg == INDEX_ND ? WICK_OP_scatter_nd : WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "reduction", reduction);
  if (n->row->arg != INDEX_ND) wick_emit_set_int(&e, "axis", axis);
  n->out[0] = wick_emit_end(&e, 3, (wick_value[]){x, at, updates});
}

/* ---- order ---- */

static wick_value index_sorted(wick_import_node *n, wick_value x, uint32_t axis, wick_dim k,
                               bool least)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "k", 1, &k);
  wick_emit_set_int(&e, "least", least);
  return wick_emit_end1(&e, x);
}

void wick_coreml_top_k(wick_import_node *n)
{
  wick_value x = wick_coreml_float(n, 0);
  uint32_t axis, count;
  const wick_dim *size;
  wick_dim k = wick_dim_const(wick_import_int(n, "K", 0));
  if (!wick_coreml_axis(n, x, 0, &axis)) return;
  if (n->nin > 1) {
    if (!wick_coreml_sizes(n, 1, "the number of elements", &count, &size)) return;
    k = count ? size[0] : wick_dim_const(0);
  }
  wick_value y = index_sorted(n, x, axis, k, wick_import_int(n, "useBottomK", 0) != 0);
  if (n->b->status) return;
  n->out[0] = y;
  if (n->nout > 1) n->out[1] = (wick_value){y.id + 1};
}

void wick_coreml_arg_sort(wick_import_node *n)
{
  wick_value x = wick_coreml_float(n, 0);
  uint32_t axis;
  if (!wick_coreml_axis(n, x, 0, &axis)) return;
  wick_dim size = wick_built_info(n->b, x)->dim[axis];
  wick_value y = index_sorted(n, x, axis, size, !wick_import_int(n, "descending", 0));
  if (!n->b->status) n->out[0] = (wick_value){y.id + 1};
}

void wick_coreml_arg(wick_import_node *n)
{
  wick_value x = wick_coreml_float(n, 0);
  uint32_t axis;
  if (!wick_coreml_axis(n, x, 0, &axis)) return;
  bool drop = wick_import_int(n, "removeDim", 0) && wick_built_info(n->b, x)->rank > 1;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "keepdims", !drop);
  n->out[0] = wick_emit_end1(&e, x);
}

void wick_coreml_one_hot(wick_import_node *n)
{
  wick_value at = wick_coreml_index(n, 0);
  uint32_t axis, count;
  const wick_dim *size;
  wick_dim depth = wick_dim_const(wick_import_int(n, "oneHotVectorSize", 0));
  if (n->b->status) return;
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), wick_built_info(n->b, at)->rank + 1,
                        &axis))
    return;
  if (n->nin > 1) {
    if (!wick_coreml_sizes(n, 1, "the number of classes", &count, &size)) return;
    depth = count ? size[0] : wick_dim_const(0);
  }
  double values[] = {wick_import_real(n, "offValue", 0), wick_import_real(n, "onValue", 0)};
  wick_value table = wick_emit_table(n->b, "values", WICK_F32, 1, (int64_t[]){2}, values);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_one_hot);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_dims(&e, "depth", 1, &depth);
  n->out[0] = wick_emit_end2(&e, at, table);
}

void wick_coreml_non_zero(wick_import_node *n)
{
  wick_value x = n->in[0];
  if (wick_import_info(n, 0)->elem != WICK_BOOL) x = wick_emit_by(n->b, WICK_OP_ne, x, 0);
  n->out[0] = wick_array_where(n, x);
}

/* ---- non-maximum suppression ---- */

static bool index_number(wick_import_node *n, uint32_t i, const char *name, double *out)
{
  uint32_t count;
  const double *v;
  *out = wick_import_real(n, name, (double)wick_import_int(n, name, 0));
  if (!wick_import_has(n, i)) return true;
  if (!wick_import_reals(n, i, name, &count, &v)) return false;
  *out = count ? v[0] : 0;
  return true;
}

/* Boxes [batch, n, 4] as x, y, width and height of their centres, to [batch, 4, n] as low y, low x,
 * high y, high x. */
static wick_value index_corners(wick_import_node *n, wick_value boxes)
{
  wick_builder *b = n->b;
  wick_value part[4];
  boxes = wick_build_swap(b, boxes);
  for (uint32_t k = 0; k < 2; k++) {
    wick_value centre = wick_emit_slice(b, boxes, 1, wick_dim_const(k), wick_dim_const(1));
    wick_value size = wick_emit_slice(b, boxes, 1, wick_dim_const(k + 2), wick_dim_const(1));
    size = wick_emit_by(b, WICK_OP_mul, size, 0.5);
    part[1 - k] = wick_build2(b, WICK_OP_sub, centre, size);
    part[3 - k] = wick_build2(b, WICK_OP_add, centre, size);
  }
  return wick_build_concat(b, 1, 4, part);
}

/* Moves the boxes of each class apart from those of all others, so that they never overlap. `best`
 * is the class of each box, [batch, n]. */
static wick_value index_apart(wick_import_node *n, wick_value boxes, wick_value best)
{
  wick_builder *b = n->b;
  const int64_t axes[] = {1, 2};
  wick_value size = wick_build1(b, WICK_OP_abs, boxes);
  size = wick_emit_reduce(b, WICK_OP_reduce_max, size, 2, axes, true);
  size = wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, size, 2), 1);
  wick_value shift = wick_emit_unsqueeze(b, wick_coreml_as(n, best, WICK_F32), 1);
  shift = wick_build2(b, WICK_OP_mul, shift, size);
  return wick_build2(b, WICK_OP_add, boxes, shift);
}

typedef struct index_chosen {
  wick_value at, valid, count; /* [batch, most], bool of it, [batch] */
  wick_dim batch, most;
} index_chosen;

/* Sorts the boxes by their best scores, and selects. */
static bool index_select(wick_import_node *n, wick_value boxes, wick_value scores, double overlap,
                         double least, index_chosen *c)
{
  wick_builder *b = n->b;
  wick_emit a = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&a, "axis", 2);
  wick_emit_set_int(&a, "keepdims", 0);
  wick_value best = wick_emit_end1(&a, scores);
  wick_value top = wick_emit_reduce1(b, WICK_OP_reduce_max, scores, 2, false);
  if (wick_import_int(n, "perClassSuppression", 0)) boxes = index_apart(n, boxes, best);
  wick_value good = wick_emit_by(b, WICK_OP_ge, top, least);
  if (b->status) return false;
  wick_value none = wick_emit_number(b, top, -(double)INFINITY);
  top = wick_build3(b, WICK_OP_where, good, top, none);
  if (b->status) return false;
  wick_value sorted = index_sorted(n, top, 1, wick_built_info(b, top)->dim[1], false);
  if (b->status) return false;
  wick_value order = {sorted.id + 1};
  sorted = wick_emit_unsqueeze(b, sorted, 1);
  order = wick_emit_unsqueeze(b, order, 1);
  wick_emit e = wick_emit_begin(b, WICK_OP_non_max_suppression);
  wick_emit_set_dims(&e, "most", 1, &c->most);
  wick_emit_set_float(&e, "overlap", overlap);
  wick_value y = wick_emit_end(&e, 3, (wick_value[]){boxes, sorted, order});
  if (b->status) return false;
  c->at = wick_coreml_as(n, wick_emit_squeeze(b, y, 1), WICK_I64);
  c->count = wick_build_reshape(b, (wick_value){y.id + 1}, 1, &c->batch);
  c->count = wick_coreml_as(n, c->count, WICK_I64);
  wick_value i = wick_emit_count_along(b, c->most, 1, 2);
  c->valid = wick_build2(b, WICK_OP_lt, i, wick_emit_unsqueeze(b, c->count, 1));
  wick_value zero = wick_emit_number(b, c->at, 0);
  c->at = wick_build3(b, WICK_OP_where, c->valid, c->at, zero);
  return !b->status;
}

/* The selected rows of x [batch, n, k]; 0 after the last one. */
static wick_value index_rows(wick_import_node *n, const index_chosen *c, wick_value x)
{
  wick_value y = wick_array_gather(n, x, c->at, 1, 1);
  if (n->b->status) return y;
  wick_value zero = wick_emit_number(n->b, y, 0);
  wick_value valid = wick_emit_unsqueeze(n->b, c->valid, 2);
  return wick_build3(n->b, WICK_OP_where, valid, y, zero);
}

/* Boxes, scores, indices (-1 after the last one), and their number. */
void wick_coreml_suppress(wick_import_node *n)
{
  wick_builder *b = n->b;
  double overlap, least, most;
  if (!index_number(n, 2, "iouThreshold", &overlap) ||
      !index_number(n, 3, "scoreThreshold", &least) || !index_number(n, 4, "maxBoxes", &most) ||
      !wick_import_rank(n, 0, 3, 3) || !wick_import_rank(n, 1, 3, 3))
    return;
  if (!(most >= 1 && most <= 1 << 24)) {
    wick_import_fail(n, WICK_ERANGE, "maxBoxes is %g, expected 1 or more", most);
    return;
  }
  wick_value boxes = wick_coreml_float(n, 0), scores = wick_coreml_float(n, 1);
  index_chosen c = {.most = wick_dim_const((int64_t)most)};
  if (b->status) return;
  c.batch = wick_built_info(b, scores)->dim[0];
  if (!index_select(n, index_corners(n, boxes), scores, overlap, least, &c)) return;
  n->out[0] = index_rows(n, &c, boxes);
  if (n->nout > 1) n->out[1] = index_rows(n, &c, scores);
  if (n->nout > 2) {
    wick_value none = wick_emit_number(b, c.at, -1);
    n->out[2] = wick_build3(b, WICK_OP_where, c.valid, c.at, none);
  }
  if (n->nout > 3) n->out[3] = c.count;
}
