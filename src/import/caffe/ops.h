/* The functions that import Caffe's layers, for the table. Source of their meaning: the layers of
 * src/caffe/layers in BVLC's Caffe, and those of the forks that the table names. */
#ifndef WICK_IMPORT_CAFFE_OPS_H
#define WICK_IMPORT_CAFFE_OPS_H

#include "import/caffe/net.h"

/* weights.c: blob i of the layer in that shape, which must have as many elements; 0 after a failure.
 * A size of -1, at most one, is computed from the others. */
wick_value wick_caffe_weight(wick_import_node *n, uint32_t i, uint32_t rank, const int64_t *dim);
/* The same with one dimension, of any size. */
wick_value wick_caffe_vector(wick_import_node *n, uint32_t i);
/* Returns the shape of blob i as the file has it. False after a failure. */
bool wick_caffe_shape(wick_import_node *n, uint32_t i, uint32_t *rank, int64_t *dim);
/* Reads blob i, which has one element. False after a failure. */
bool wick_caffe_number(wick_import_node *n, uint32_t i, double *out);
uint32_t wick_caffe_nblob(const wick_import_node *n);

/* elementwise.c */
void wick_caffe_unary(wick_import_node *n); /* row->op */
void wick_caffe_same(wick_import_node *n);  /* the input, for each result */
void wick_caffe_silence(wick_import_node *n);
void wick_caffe_relu(wick_import_node *n);
void wick_caffe_relu6(wick_import_node *n);
void wick_caffe_elu(wick_import_node *n);
void wick_caffe_prelu(wick_import_node *n);
void wick_caffe_clip(wick_import_node *n);
void wick_caffe_swish(wick_import_node *n);
void wick_caffe_exp(wick_import_node *n);
void wick_caffe_log(wick_import_node *n);
void wick_caffe_power(wick_import_node *n);
void wick_caffe_threshold(wick_import_node *n);
void wick_caffe_eltwise(wick_import_node *n);
void wick_caffe_scale(wick_import_node *n); /* row->arg: it adds */
void wick_caffe_axpy(wick_import_node *n);
void wick_caffe_dropout(wick_import_node *n);

/* window.c */
void wick_caffe_conv(wick_import_node *n); /* row->arg: 1 transposed, 2 a group for each channel */
void wick_caffe_pool(wick_import_node *n);
void wick_caffe_spp(wick_import_node *n);
void wick_caffe_lrn(wick_import_node *n);
void wick_caffe_interp(wick_import_node *n);
void wick_caffe_upsample(wick_import_node *n);
void wick_caffe_padding(wick_import_node *n);

/* norm.c */
void wick_caffe_batch_norm(wick_import_node *n);
void wick_caffe_bn(wick_import_node *n);
void wick_caffe_mvn(wick_import_node *n);
void wick_caffe_normalize(wick_import_node *n);
void wick_caffe_softmax(wick_import_node *n);
void wick_caffe_inner_product(wick_import_node *n);
void wick_caffe_embed(wick_import_node *n);
void wick_caffe_reduction(wick_import_node *n);
void wick_caffe_argmax(wick_import_node *n);

/* shape.c */
void wick_caffe_concat(wick_import_node *n);
void wick_caffe_slice(wick_import_node *n);
void wick_caffe_flatten(wick_import_node *n);
void wick_caffe_reshape(wick_import_node *n);
void wick_caffe_permute(wick_import_node *n);
void wick_caffe_crop(wick_import_node *n);
void wick_caffe_tile(wick_import_node *n);
void wick_caffe_batch_reindex(wick_import_node *n);
void wick_caffe_parameter(wick_import_node *n);
void wick_caffe_shuffle(wick_import_node *n);

/* recurrent.c */
void wick_caffe_recurrent(wick_import_node *n); /* row->arg: an LSTM */

/* detection.c */
void wick_caffe_prior_box(wick_import_node *n);
void wick_caffe_detection_output(wick_import_node *n);
void wick_caffe_roi_pool(wick_import_node *n);

/* loss.c: forward values */
void wick_caffe_euclidean_loss(wick_import_node *n);
void wick_caffe_softmax_loss(wick_import_node *n); /* row->arg: of probabilities */
void wick_caffe_sigmoid_loss(wick_import_node *n);
void wick_caffe_hinge_loss(wick_import_node *n);
void wick_caffe_contrastive_loss(wick_import_node *n);
void wick_caffe_accuracy(wick_import_node *n);

/* Reads an axis of the first bottom, by default `otherwise`. False after a failure. */
static inline bool wick_caffe_axis(wick_import_node *n, const char *name, int64_t otherwise,
                                   uint32_t *out)
{
  return wick_import_axis(n, wick_import_int(n, name, otherwise), wick_import_info(n, 0)->rank,
                          out);
}

#endif
