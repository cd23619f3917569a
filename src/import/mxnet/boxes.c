/* Imports MXNet's operators that choose boxes. Sources: bounding_box-inl.h and multibox_detection.cc of
 * MXNet 1.9. */
#include <math.h>

#include "import/kit/array.h"
#include "import/kit/suppress.h"
#include "import/mxnet/ops.h"

/* Column k of x [batch, count, width], as [batch, count]. */
static wick_value boxes_column(wick_import_node *n, wick_value x, int64_t k)
{
  wick_value c = wick_emit_slice(n->b, x, 2, wick_dim_const(k), wick_dim_const(1));
  return wick_emit_squeeze(n->b, c, 2);
}

static wick_value boxes_columns(wick_import_node *n, wick_value x, int64_t from, int64_t count)
{
  return wick_emit_slice(n->b, x, 2, wick_dim_const(from), wick_dim_const(count));
}

/* (middle, middle, size, size) as corners, or the inverse. */
static wick_value boxes_turned(wick_import_node *n, wick_value x, bool to_corners)
{
  wick_builder *b = n->b;
  wick_value one = boxes_columns(n, x, 0, 2), two = boxes_columns(n, x, 2, 2), part[2];
  if (to_corners) {
    two = wick_emit_by(b, WICK_OP_mul, two, 0.5);
    part[0] = wick_build2(b, WICK_OP_sub, one, two);
    part[1] = wick_build2(b, WICK_OP_add, one, two);
  } else {
    part[0] = wick_emit_by(b, WICK_OP_mul, wick_build2(b, WICK_OP_add, one, two), 0.5);
    part[1] = wick_build2(b, WICK_OP_sub, two, one);
  }
  return wick_build_concat(b, 2, 2, part);
}

/* Sorts the rows of x by a score [batch, count]; those that are not valid come last. The best `top` stay
 * valid, if that is not negative. Changes *valid to the sorted order. */
static wick_value boxes_sorted(wick_import_node *n, wick_value x, wick_value score,
                               wick_value *valid, int64_t top)
{
  wick_builder *b = n->b;
  if (b->status) return x;
  wick_dim count = wick_built_info(b, score)->dim[1];
  wick_value low = wick_emit_number(b, score, -(double)INFINITY);
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_dims(&e, "k", 1, &count);
  wick_value sorted = wick_emit_end1(&e, wick_build3(b, WICK_OP_where, *valid, score, low)),
             order = {sorted.id + 1};
  *valid = wick_emit_by(b, WICK_OP_gt, sorted, -(double)INFINITY);
  if (top >= 0) {
    wick_value few =
        wick_emit_by(b, WICK_OP_lt, wick_emit_count_along(b, count, 1, 2), (double)top);
    *valid = wick_build2(b, WICK_OP_and, *valid, few);
  }
  return wick_boxes_rows(b, x, order);
}

/* x where `marked` [batch, count], else -1. */
static wick_value boxes_marked(wick_import_node *n, wick_value marked, wick_value x)
{
  wick_value none = wick_emit_number(n->b, x, -1);
  return wick_build3(n->b, WICK_OP_where, wick_emit_unsqueeze(n->b, marked, 2), x, none);
}

/* Keeps boxes [.., count, width] in the order of their scores, and fills up with -1. */
void wick_mxnet_box_nms(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_type_info t = *wick_import_info(n, 0);
  int64_t start = wick_import_int(n, "coord_start", 2), by = wick_import_int(n, "score_index", 1),
          label = wick_import_int(n, "id_index", -1),
          none = wick_import_int(n, "background_id", -1);
  bool centre = wick_import_word(n, "in_format", "corner center") == 1,
       out_centre = wick_import_word(n, "out_format", "corner center") == 1;
  if (n->failed || !wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  wick_dim width = t.dim[t.rank - 1];
  if (!wick_dim_is_const(width)) {
    wick_import_must_be_known(n, "the width of a box", width);
    return;
  }
  if (start < 0 || start > width.v - 4 || by < 0 || by >= width.v || label < -1 ||
      label >= width.v) {
    wick_import_fail(n, WICK_ERANGE, "its boxes have %lld numbers: columns %lld, %lld and %lld",
                     (long long)width.v, (long long)start, (long long)by, (long long)label);
    return;
  }
  wick_dim batch = wick_array_product(n, t.rank - 2, t.dim);
  wick_value x = wick_build_reshape(b, n->in[0], 3, (wick_dim[]){batch, t.dim[t.rank - 2], width});
  wick_value score = boxes_column(n, x, by);
  wick_value valid = wick_emit_by(b, WICK_OP_gt, score, wick_import_real(n, "valid_thresh", 0));
  if (label >= 0 && none >= 0)
    valid = wick_build2(b, WICK_OP_and, valid,
                        wick_emit_by(b, WICK_OP_ne, boxes_column(n, x, label), (double)none));
  int64_t top = wick_import_int(n, "topk", -1);
  x = boxes_sorted(n, x, score, &valid, top > 0 ? top : -1);
  wick_value place = boxes_columns(n, x, start, 4), corners = place;
  if (centre) corners = boxes_turned(n, place, true);
  wick_boxes s = {.corners = corners, .valid = valid, .eta = 1};
  s.overlap = wick_import_real(n, "overlap_thresh", 0.5);
  if (label >= 0 && !wick_import_int(n, "force_suppress", 0)) s.label = boxes_column(n, x, label);
  wick_value kept = wick_boxes_kept(b, &s);
  if (centre != out_centre) {
    place = out_centre ? boxes_turned(n, corners, false) : corners;
    wick_value part[3] = {boxes_columns(n, x, 0, start), place,
                          boxes_columns(n, x, start + 4, width.v - start - 4)};
    x = wick_build_concat(b, 2, 3, part);
  }
  x = wick_boxes_rows(b, boxes_marked(n, kept, x), wick_boxes_first(b, kept));
  n->out[0] = wick_build_reshape(b, x, t.rank, t.dim);
}

/* Boxes of anchors and offsets [batch, count * 4] in units of variances. */
static wick_value boxes_decoded(wick_import_node *n, wick_value offset, wick_value anchor)
{
  static const double usual[] = {0.1, 0.1, 0.2, 0.2};
  wick_builder *b = n->b;
  wick_import_attr v = wick_import_attr_of(n, "variances", 'F');
  const double *variance = v.kind == 'F' && v.n == 4 ? v.floats : usual;
  const int64_t four[] = {1, 1, 4};
  wick_value by = wick_emit_table(b, n->name, WICK_F32, 3, four, variance);
  anchor = boxes_turned(n, anchor, false);
  wick_value size = boxes_columns(n, anchor, 2, 2);
  offset = wick_build2(b, WICK_OP_mul, offset, by);
  wick_value middle = wick_build2(b, WICK_OP_mul, boxes_columns(n, offset, 0, 2), size);
  middle = wick_build2(b, WICK_OP_add, middle, boxes_columns(n, anchor, 0, 2));
  wick_value grown = wick_build1(b, WICK_OP_exp, boxes_columns(n, offset, 2, 2));
  grown = wick_build2(b, WICK_OP_mul, grown, size);
  wick_value y = boxes_turned(n, wick_build_concat(b, 2, 2, (wick_value[]){middle, grown}), true);
  if (!wick_import_int(n, "clip", 1)) return y;
  return wick_emit_by(b, WICK_OP_min, wick_emit_by(b, WICK_OP_max, y, 0), 1);
}

/* The label of each anchor's best class but the first, its score and its box [batch, count, 6], in the
 * order of scores. Suppressed boxes have the label -1; boxes below the threshold are -1, and last. */
void wick_mxnet_multibox_detection(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_dims *d = n->c->module->dims;
  if (!wick_import_rank(n, 0, 3, 3) || !wick_import_rank(n, 1, 2, 2) ||
      !wick_import_rank(n, 2, 3, 3))
    return;
  const wick_type_info t = *wick_import_info(n, 0);
  const wick_dim boxes[] = {t.dim[0], t.dim[2], wick_dim_const(4)};
  wick_dim classes = wick_dim_sub(d, t.dim[1], wick_dim_const(1));
  wick_value score = wick_emit_slice(b, n->in[0], 1, wick_dim_const(1), classes), part[3];
  wick_emit e = wick_emit_begin(b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "keepdims", 0);
  part[0] = wick_build_cast(b, wick_emit_end1(&e, score), WICK_F32);
  score = wick_emit_reduce1(b, WICK_OP_reduce_max, score, 1, false);
  wick_value valid = wick_emit_by(b, WICK_OP_ge, score, wick_import_real(n, "threshold", 0.01));
  part[2] = boxes_decoded(n, wick_build_reshape(b, n->in[1], 3, boxes), n->in[2]);
  part[0] = wick_emit_unsqueeze(b, part[0], 2);
  part[1] = wick_emit_unsqueeze(b, score, 2);
  wick_value x = wick_build_concat(b, 2, 3, part);
  int64_t top = wick_import_int(n, "nms_topk", -1);
  double overlap = wick_import_real(n, "nms_threshold", 0.5);
  wick_value unsorted = wick_boxes_rows(b, boxes_marked(n, valid, x), wick_boxes_first(b, valid));
  n->out[0] = unsorted;
  if (overlap <= 0 || overlap > 1 || b->status) return;
  x = boxes_marked(n, valid, x);
  x = boxes_sorted(n, x, score, &valid, top > 0 ? top : -1);
  wick_boxes s = {.corners = boxes_columns(n, x, 2, 4), .valid = valid, .overlap = overlap};
  s.equal = true, s.eta = 1;
  if (!wick_import_int(n, "force_suppress", 0)) s.label = boxes_column(n, x, 0);
  wick_value kept = wick_boxes_kept(b, &s);
  if (top > 0) { /* those after the best `top` stay where they were */
    wick_value place = wick_emit_count_along(b, t.dim[2], 1, 3);
    x = wick_build3(b, WICK_OP_where, wick_emit_by(b, WICK_OP_lt, place, (double)top), x, unsorted);
  }
  wick_value label = boxes_marked(n, kept, boxes_columns(n, x, 0, 1));
  n->out[0] = wick_build_concat(b, 2, 2, (wick_value[]){label, boxes_columns(n, x, 1, 5)});
}
