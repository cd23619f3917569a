/* Imports Caffe's losses as their values, for networks that a file of weights has with the layers of the
 * test. Labels are floats. */
#include <float.h>

#include "import/caffe/ops.h"
#include "import/kit/array.h"

enum { LOSS_FULL, LOSS_VALID, LOSS_BATCH, LOSS_NONE };

/* Divides a sum by the number of images. */
static wick_value loss_by_images(wick_import_node *n, wick_value sum, double factor)
{
  wick_dim images = wick_import_info(n, 0)->dim[0];
  wick_value count = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, images));
  count = wick_build_cast(n->b, count, WICK_F32);
  wick_value y = wick_build2(n->b, WICK_OP_div, sum, count);
  return factor != 1 ? wick_emit_by(n->b, WICK_OP_mul, y, factor) : y;
}

static wick_value loss_sum(wick_import_node *n, wick_value x)
{
  int64_t axes[WICK_MAX_RANK];
  if (n->b->status) return x;
  uint32_t rank = wick_built_info(n->b, x)->rank;
  for (uint32_t k = 0; k < rank; k++) axes[k] = k;
  return rank ? wick_emit_reduce(n->b, WICK_OP_reduce_sum, x, rank, axes, false) : x;
}

/* half of the squared distance, per image */
void wick_caffe_euclidean_loss(wick_import_node *n)
{
  wick_value d = wick_build2(n->b, WICK_OP_sub, n->in[0], n->in[1]);
  n->out[0] = loss_by_images(n, loss_sum(n, wick_build2(n->b, WICK_OP_mul, d, d)), 0.5);
}

/* Returns the labels [outer, inner] as indices along the axis of x [outer, classes, inner], and whether
 * each counts. */
static bool loss_labels(wick_import_node *n, uint32_t axis, wick_value *x, wick_value *label,
                        wick_value *valid)
{
  wick_builder *b = n->b;
  const wick_type_info *t = wick_import_info(n, 0);
  const wick_dim dim[3] = {wick_array_product(n, axis, t->dim), t->dim[axis],
                           wick_array_product(n, t->rank - axis - 1, t->dim + axis + 1)};
  *x = wick_build_reshape(b, n->in[0], 3, dim);
  *label = wick_build_reshape(b, n->in[1], 2, (wick_dim[]){dim[0], dim[2]});
  *label = wick_build_cast(b, *label, WICK_I64);
  *valid = (wick_value){0};
  if (b->status) return false;
  if (wick_import_attr_has(n, "ignore_label")) {
    double none = (double)wick_import_int(n, "ignore_label", 0);
    wick_value ignored = wick_emit_by(b, WICK_OP_eq, *label, none);
    *valid = wick_build1(b, WICK_OP_not, ignored);
    *label = wick_build3(b, WICK_OP_where, *valid, *label, wick_emit_number(b, *label, 0));
  }
  return !b->status;
}

/* The number by which a sum over labels [outer, inner] is divided. */
static wick_value loss_divisor(wick_import_node *n, wick_value label, wick_value valid,
                               int64_t mode)
{
  wick_builder *b = n->b;
  if (b->status) return label;
  wick_dim numel = wick_type_numel(n->c->module, wick_built_type(b, label));
  if (mode == LOSS_NONE)
    return wick_build_const(b, wick_type_tensor(n->c->module, WICK_F32, 0, NULL), 1, 0);
  if (mode == LOSS_VALID && valid.id) {
    wick_value count = loss_sum(n, wick_build_cast(b, valid, WICK_F32));
    return wick_emit_by(b, WICK_OP_max, count, 1);
  }
  if (mode == LOSS_BATCH) numel = wick_built_info(b, label)->dim[0];
  wick_value count = wick_build1(b, WICK_OP_size, wick_emit_count(b, numel));
  return wick_build_cast(b, count, WICK_F32);
}

static int64_t loss_mode(wick_import_node *n, int64_t otherwise)
{
  if (wick_import_attr_has(n, "normalization"))
    return wick_import_int(n, "normalization", otherwise);
  if (wick_import_attr_has(n, "normalize"))
    return wick_import_int(n, "normalize", 1) ? LOSS_VALID : LOSS_BATCH;
  return otherwise;
}

/* The mean of -log p[label]; p is the softmax of the first input, or the input itself. */
void wick_caffe_softmax_loss(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x, label, valid;
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK) || !loss_labels(n, 1, &x, &label, &valid)) return;
  wick_value p = x;
  if (!n->row->arg) {
    wick_emit e = wick_emit_begin(b, WICK_OP_softmax);
    wick_emit_set_int(&e, "axis", 1);
    p = wick_emit_end1(&e, x);
  }
  wick_value at = wick_emit_unsqueeze(b, label, 1);
  wick_value y = wick_emit_squeeze(b, wick_emit_gather(b, WICK_OP_gather_elements, p, at, 1), 1);
  y = wick_emit_by(b, WICK_OP_max, y, n->row->arg ? 1e-20 : (double)FLT_MIN);
  y = wick_build1(b, WICK_OP_neg, wick_build1(b, WICK_OP_log, y));
  if (valid.id) y = wick_build3(b, WICK_OP_where, valid, y, wick_emit_number(b, y, 0));
  int64_t mode = n->row->arg ? LOSS_BATCH : loss_mode(n, LOSS_VALID);
  wick_value by = loss_divisor(n, label, valid, mode);
  n->out[0] = wick_build2(b, WICK_OP_div, loss_sum(n, y), by);
  const wick_type_info *t = wick_import_info(n, 0);
  if (n->nout > 1) n->out[1] = wick_build_reshape(b, p, t->rank, t->dim);
}

/* softplus(x) - x * target, summed, per image by default */
void wick_caffe_sigmoid_loss(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value valid = {0};
  wick_value y = wick_build2(b, WICK_OP_mul, n->in[0], n->in[1]);
  y = wick_build2(b, WICK_OP_sub, wick_build1(b, WICK_OP_softplus, n->in[0]), y);
  if (wick_import_attr_has(n, "ignore_label")) {
    double none = (double)wick_import_int(n, "ignore_label", 0);
    valid = wick_build1(b, WICK_OP_not, wick_emit_by(b, WICK_OP_eq, n->in[1], none));
    y = wick_build3(b, WICK_OP_where, valid, y, wick_emit_number(b, y, 0));
  }
  wick_value by = loss_divisor(n, n->in[0], valid, loss_mode(n, LOSS_BATCH));
  n->out[0] = wick_build2(b, WICK_OP_div, loss_sum(n, y), by);
}

/* max(0, 1 - x) for the label and max(0, 1 + x) for the others, or their squares */
void wick_caffe_hinge_loss(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = wick_array_matrix(n, n->in[0], 1);
  if (b->status) return;
  wick_dim classes = wick_built_info(b, x)->dim[1], images = wick_built_info(b, x)->dim[0];
  wick_value label = wick_build_reshape(b, wick_build_cast(b, n->in[1], WICK_I64), 2,
                                        (wick_dim[]){images, wick_dim_const(1)});
  wick_value is = wick_build2(b, WICK_OP_eq, wick_emit_count_along(b, classes, 1, 2), label);
  wick_value turned = wick_build1(b, WICK_OP_neg, x);
  wick_value y = wick_build3(b, WICK_OP_where, is, turned, x);
  y = wick_build1(b, WICK_OP_relu, wick_emit_by(b, WICK_OP_add, y, 1));
  if (wick_import_int(n, "norm", 1) == 2) y = wick_build2(b, WICK_OP_mul, y, y);
  n->out[0] = loss_by_images(n, loss_sum(n, y), 1);
}

/* Pairs: the squared distance if they are alike, else by how much it falls short of the margin. */
void wick_caffe_contrastive_loss(wick_import_node *n)
{
  wick_builder *b = n->b;
  double margin = wick_import_real(n, "margin", 1);
  bool legacy = wick_import_int(n, "legacy_version", 0) != 0;
  wick_value d = wick_build2(b, WICK_OP_sub, n->in[0], n->in[1]);
  d = wick_array_matrix(n, wick_build2(b, WICK_OP_mul, d, d), 1);
  d = wick_emit_reduce1(b, WICK_OP_reduce_sum, d, 1, false);
  if (b->status) return;
  wick_dim images = wick_built_info(b, d)->dim[0];
  wick_value alike = wick_build_cast(b, wick_build_reshape(b, n->in[2], 1, &images), WICK_BOOL);
  wick_value far = legacy ? d : wick_build1(b, WICK_OP_sqrt, d);
  far = wick_emit_by(b, WICK_OP_add, wick_build1(b, WICK_OP_neg, far), margin);
  far = wick_build1(b, WICK_OP_relu, far);
  if (!legacy) far = wick_build2(b, WICK_OP_mul, far, far);
  wick_value y = wick_build3(b, WICK_OP_where, alike, d, far);
  n->out[0] = loss_by_images(n, loss_sum(n, y), 0.5);
}

/* The part of the labels that are among the top_k largest elements: fewer than top_k others are as
 * large. */
void wick_caffe_accuracy(wick_import_node *n)
{
  wick_builder *b = n->b;
  uint32_t axis;
  wick_value x, label, valid;
  int64_t k = wick_import_int(n, "top_k", 1);
  if (!wick_caffe_axis(n, "axis", 1, &axis) || !loss_labels(n, axis, &x, &label, &valid)) return;
  if (n->nout > 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "accuracies of each class are not supported");
    return;
  }
  wick_value at = wick_emit_unsqueeze(b, label, 1);
  wick_value own = wick_emit_gather(b, WICK_OP_gather_elements, x, at, 1);
  wick_value above = wick_build_cast(b, wick_build2(b, WICK_OP_ge, x, own), WICK_F32);
  above = wick_emit_reduce1(b, WICK_OP_reduce_sum, above, 1, false); /* itself among them */
  wick_value right = wick_emit_by(b, WICK_OP_le, above, (double)k);
  if (valid.id) right = wick_build2(b, WICK_OP_and, right, valid);
  wick_value by = loss_divisor(n, label, valid, LOSS_VALID);
  n->out[0] = wick_build2(b, WICK_OP_div, loss_sum(n, wick_build_cast(b, right, WICK_F32)), by);
}
