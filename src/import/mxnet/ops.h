/* The functions that import MXNet's operators, for the table. Source of their meaning: MXNet 1.9's
 * documentation of mx.sym. */
#ifndef WICK_IMPORT_MXNET_OPS_H
#define WICK_IMPORT_MXNET_OPS_H

#include "import/mxnet/symbol.h"

/* elementwise.c */
void wick_mxnet_unary(wick_import_node *n); /* row->op */
void wick_mxnet_binary(
    wick_import_node *n); /* row->op; a comparison gives 0 and 1 of the operands' type */
void wick_mxnet_scalar(wick_import_node *n); /* row->op with `scalar`; row->arg: it comes first */
void wick_mxnet_same(wick_import_node *n);
void wick_mxnet_sum_of(wick_import_node *n);
void wick_mxnet_activation(wick_import_node *n);
void wick_mxnet_leaky(wick_import_node *n);
void wick_mxnet_clip(wick_import_node *n);
void wick_mxnet_cast(wick_import_node *n);
void wick_mxnet_where(wick_import_node *n);
void wick_mxnet_composed(wick_import_node *n); /* row->arg: which function */
void wick_mxnet_hard_sigmoid(wick_import_node *n);
void wick_mxnet_full(wick_import_node *n); /* row->arg: 0 zeros, 1 ones, 2 `value` */
void wick_mxnet_like(wick_import_node *n); /* the same, with the shape of an operand */
void wick_mxnet_arange(wick_import_node *n);

/* window.c */
void wick_mxnet_conv(wick_import_node *n); /* row->arg: transposed */
void wick_mxnet_pool(wick_import_node *n);
void wick_mxnet_batch_norm(wick_import_node *n);
void wick_mxnet_norm(wick_import_node *n); /* row->op: layer_norm or instance_norm */
void wick_mxnet_group_norm(wick_import_node *n);
void wick_mxnet_l2(wick_import_node *n);
void wick_mxnet_lrn(wick_import_node *n);
void wick_mxnet_pad(wick_import_node *n);
void wick_mxnet_upsample(wick_import_node *n);
void wick_mxnet_resize(wick_import_node *n);
void wick_mxnet_blocks(wick_import_node *n); /* row->op: depth_to_space or space_to_depth */
void wick_mxnet_adaptive(wick_import_node *n);

/* matmul.c */
void wick_mxnet_dense(wick_import_node *n);
void wick_mxnet_dot(wick_import_node *n);     /* row->arg: of batches */
void wick_mxnet_softmax(wick_import_node *n); /* row->op */
void wick_mxnet_softmax_output(wick_import_node *n);
void wick_mxnet_softmax_activation(wick_import_node *n);
void wick_mxnet_rnn(wick_import_node *n);

/* shape.c */
void wick_mxnet_flatten(wick_import_node *n);
void wick_mxnet_reshape(wick_import_node *n);
void wick_mxnet_reshape_like(wick_import_node *n);
void wick_mxnet_transpose(wick_import_node *n);
void wick_mxnet_swap_axes(wick_import_node *n);
void wick_mxnet_expand_dims(wick_import_node *n);
void wick_mxnet_squeeze(wick_import_node *n);
void wick_mxnet_concat(wick_import_node *n); /* row->arg: a new axis */
void wick_mxnet_split(wick_import_node *n);
void wick_mxnet_slice(wick_import_node *n);
void wick_mxnet_slice_axis(wick_import_node *n);
void wick_mxnet_slice_like(wick_import_node *n);
void wick_mxnet_tile(wick_import_node *n);
void wick_mxnet_repeat(wick_import_node *n);
void wick_mxnet_broadcast_to(wick_import_node *n);
void wick_mxnet_broadcast_axis(wick_import_node *n);
void wick_mxnet_broadcast_like(wick_import_node *n);
void wick_mxnet_reverse(wick_import_node *n);
void wick_mxnet_shape(wick_import_node *n);

/* reduce.c */
void wick_mxnet_reduce(wick_import_node *n); /* row->op */
void wick_mxnet_l2_norm(wick_import_node *n);
void wick_mxnet_arg(wick_import_node *n); /* row->op */
void wick_mxnet_top_k(wick_import_node *n);
void wick_mxnet_sort(wick_import_node *n); /* row->arg: the indices */
void wick_mxnet_take(wick_import_node *n);
void wick_mxnet_embedding(wick_import_node *n);
void wick_mxnet_pick(wick_import_node *n);
void wick_mxnet_gather_nd(wick_import_node *n);
void wick_mxnet_one_hot(wick_import_node *n);
void wick_mxnet_sequence(wick_import_node *n); /* row->arg: 0 mask, 1 last */
void wick_mxnet_cumsum(wick_import_node *n);
void wick_mxnet_sequence_reverse(wick_import_node *n);
void wick_mxnet_scatter_nd(wick_import_node *n);

/* boxes.c */
void wick_mxnet_box_nms(wick_import_node *n);
void wick_mxnet_multibox_detection(wick_import_node *n);

/* quantized.c */
void wick_mxnet_quantize(wick_import_node *n); /* row->arg: the range is in operands */
void wick_mxnet_dequantize(wick_import_node *n);
void wick_mxnet_requantize(wick_import_node *n);
void wick_mxnet_quantized_conv(wick_import_node *n);
void wick_mxnet_quantized_dense(wick_import_node *n);
void wick_mxnet_quantized_pool(wick_import_node *n);
void wick_mxnet_quantized_activation(wick_import_node *n);
void wick_mxnet_quantized_flatten(wick_import_node *n);

/* regions.c */
void wick_mxnet_roi_pool(wick_import_node *n);
void wick_mxnet_roi_align(wick_import_node *n);
void wick_mxnet_prior_boxes(wick_import_node *n);
void wick_mxnet_grid(wick_import_node *n);
void wick_mxnet_sampler(wick_import_node *n);
void wick_mxnet_self_attention_scores(wick_import_node *n);
void wick_mxnet_self_attention_values(wick_import_node *n);

/* numpy.c */
void wick_mxnet_numpy_unary(wick_import_node *n);
void wick_mxnet_numpy_binary(wick_import_node *n); /* row->op */
void wick_mxnet_numpy_scalar(wick_import_node *n); /* row->arg: it comes first */
void wick_mxnet_numpy_where(wick_import_node *n);
void wick_mxnet_numpy_around(wick_import_node *n);
void wick_mxnet_numpy_reduce(wick_import_node *n); /* row->op */
void wick_mxnet_numpy_variance(wick_import_node *n);
void wick_mxnet_numpy_arg(wick_import_node *n); /* row->op */
void wick_mxnet_numpy_matmul(wick_import_node *n);
void wick_mxnet_numpy_dot(wick_import_node *n);
void wick_mxnet_numpy_einsum(wick_import_node *n);
void wick_mxnet_numpy_concat(wick_import_node *n);
void wick_mxnet_numpy_split(wick_import_node *n);
void wick_mxnet_numpy_flip(wick_import_node *n);
void wick_mxnet_numpy_move_axis(wick_import_node *n);
void wick_mxnet_numpy_broadcast_to(wick_import_node *n);
void wick_mxnet_numpy_roll(wick_import_node *n);
void wick_mxnet_numpy_triangle(wick_import_node *n);
void wick_mxnet_numpy_pad(wick_import_node *n);

static inline bool wick_mxnet_axis(wick_import_node *n, const char *name, int64_t otherwise,
                                   uint32_t rank, uint32_t *out)
{
  return wick_import_axis(n, wick_import_int(n, name, otherwise), rank, out);
}
/* The attribute `dtype`; `otherwise` if it is absent. False after a failure (elementwise.c). */
bool wick_mxnet_dtype(wick_import_node *n, wick_elem otherwise, wick_elem *out);
static inline wick_elem wick_mxnet_type_of(const wick_import_node *n, uint32_t i)
{
  return wick_import_info(n, i)->elem;
}

#endif
