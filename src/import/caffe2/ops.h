/* The functions that import Caffe2's operators, for the table. Source of their meaning: the schemas of
 * caffe2/operators in PyTorch 1.0. */
#ifndef WICK_IMPORT_CAFFE2_OPS_H
#define WICK_IMPORT_CAFFE2_OPS_H

#include "import/caffe2/net.h"

/* elementwise.c */
void wick_caffe2_unary(wick_import_node *n);  /* row->op */
void wick_caffe2_binary(wick_import_node *n); /* row->op, with Caffe2's forms of broadcasting */
void wick_caffe2_nary(wick_import_node *n);   /* row->op over all inputs; row->arg: the mean */
void wick_caffe2_same(wick_import_node *n);   /* the input itself */
void wick_caffe2_scaled(
    wick_import_node *n); /* row->op with the argument alpha; row->arg: beta, too */
void wick_caffe2_prelu(wick_import_node *n);
void wick_caffe2_clip(wick_import_node *n);
void wick_caffe2_scale(wick_import_node *n);
void wick_caffe2_pow(wick_import_node *n);
void wick_caffe2_sqr(wick_import_node *n);
void wick_caffe2_cbrt(wick_import_node *n);
void wick_caffe2_swish(wick_import_node *n);
void wick_caffe2_cast(wick_import_node *n);
void wick_caffe2_where(wick_import_node *n);
void wick_caffe2_replace_nan(wick_import_node *n);
void wick_caffe2_compare(wick_import_node *n); /* row->op, negated if row->arg */

/* window.c */
void wick_caffe2_conv(wick_import_node *n); /* row->arg: transposed */
void wick_caffe2_pool(wick_import_node *n); /* row->op; row->arg: over whole images */
void wick_caffe2_lrn(wick_import_node *n);
void wick_caffe2_batch_norm(wick_import_node *n);
void wick_caffe2_instance_norm(wick_import_node *n); /* row->arg: in groups */
void wick_caffe2_layer_norm(wick_import_node *n);
void wick_caffe2_resize(wick_import_node *n); /* row->arg: linear */
void wick_caffe2_pad(wick_import_node *n);
void wick_caffe2_shuffle(wick_import_node *n);
void wick_caffe2_order(wick_import_node *n); /* row->arg: to NHWC */

/* matmul.c */
void wick_caffe2_fc(wick_import_node *n); /* row->arg: the weights are transposed */
void wick_caffe2_matmul(wick_import_node *n);
void wick_caffe2_batch_matmul(wick_import_node *n);
void wick_caffe2_softmax(wick_import_node *n); /* row->op */
void wick_caffe2_dot(wick_import_node *n); /* row->arg: 0 product, 1 squared distance, 2 cosine */
void wick_caffe2_normalize(wick_import_node *n); /* row->op: the norm */

/* shape.c */
void wick_caffe2_concat(wick_import_node *n);
void wick_caffe2_split(wick_import_node *n);
void wick_caffe2_slice(wick_import_node *n);
void wick_caffe2_reshape(wick_import_node *n);
void wick_caffe2_flatten(wick_import_node *n); /* row->arg: to one dimension */
void wick_caffe2_expand_dims(wick_import_node *n);
void wick_caffe2_squeeze(wick_import_node *n);
void wick_caffe2_transpose(wick_import_node *n);
void wick_caffe2_tile(wick_import_node *n);
void wick_caffe2_gather(wick_import_node *n); /* row->arg: the default axis */
void wick_caffe2_shape(wick_import_node *n);  /* row->op: shape or size */
void wick_caffe2_fill(wick_import_node *n);   /* ConstantFill */
void wick_caffe2_given(wick_import_node *n);  /* GivenTensorFill; row->arg: the element type */

/* reduce.c */
void wick_caffe2_reduce(wick_import_node *n);      /* row->op over axes */
void wick_caffe2_reduce_ends(wick_import_node *n); /* row->op; row->arg: the last dimensions */
void wick_caffe2_reduce_all(wick_import_node *n);  /* row->op */
void wick_caffe2_arg(wick_import_node *n);         /* row->op */
void wick_caffe2_top_k(wick_import_node *n);
void wick_caffe2_one_hot(wick_import_node *n);
void wick_caffe2_bags(
    wick_import_node *n); /* SparseLengths...; row->arg: 0 sum, 1 mean, 2 weighted */
void wick_caffe2_cumsum(wick_import_node *n);

/* Reads an axis, by default `otherwise`, of the first operand. False after a failure. */
static inline bool wick_caffe2_axis(wick_import_node *n, int64_t otherwise, uint32_t *out)
{
  return wick_import_axis(n, wick_import_int(n, "axis", otherwise), wick_import_info(n, 0)->rank,
                          out);
}
/* Element types by TensorProto.DataType. False after a failure. */
bool wick_caffe2_elem(wick_import_node *n, int64_t type, wick_elem *out);

#endif
