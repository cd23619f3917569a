/* The messages of caffe.proto, by field: for the text form, and for attr.c, which finds fields of
 * layers' parameters in either form.
 *
 * Parameters that forks added have the numbers of their forks where those are known. The others, from
 * 20000 on, are read in text only. */
#include <stddef.h>
#include <string.h>

#include "import/caffe/net.h"

#define FIELD(name, number, kind)                                                                  \
  {                                                                                                \
#name, number, WICK_WIRE_##kind, 0, NULL                                                       \
  }
#define I(name, number) FIELD(name, number, I64)
#define IS(name, number) FIELD(name, number, I64S)
#define F(name, number) FIELD(name, number, F32)
#define FS(name, number) FIELD(name, number, F32S)
#define S(name, number) FIELD(name, number, BYTES)
#define SS(name, number) FIELD(name, number, SPANS)
#define M(name, number, message)                                                                   \
  {                                                                                                \
#name, number, WICK_WIRE_MESSAGES, 0, &message                                                 \
  }
#define MESSAGE(var, title, ...)                                                                   \
  static const wick_wire_field var##_fields[] = {__VA_ARGS__};                                     \
  static const wick_wire_message var = {title, sizeof(uint64_t), var##_fields,                     \
                                        (uint32_t)WICK_COUNT(var##_fields), 0}

/* ---- weights and rules ---- */

static const wick_wire_field schema_shape_fields[] = {WICK_WIRE_FIELD(caffe_shape, dim, 1, I64S)};
WICK_WIRE_SCHEMA(wick_caffe_shape_message, "BlobShape", caffe_shape, schema_shape_fields, 0);

static const wick_wire_field schema_blob_fields[] = {
    WICK_WIRE_FIELD(caffe_blob, num, 1, I32),
    WICK_WIRE_FIELD(caffe_blob, channels, 2, I32),
    WICK_WIRE_FIELD(caffe_blob, height, 3, I32),
    WICK_WIRE_FIELD(caffe_blob, width, 4, I32),
    WICK_WIRE_FIELD(caffe_blob, data, 5, DATA_F32),
    WICK_WIRE_PART(caffe_blob, shape, 7, MESSAGE, wick_caffe_shape_message),
    WICK_WIRE_FIELD(caffe_blob, double_data, 8, DATA_F64),
    WICK_WIRE_FIELD(caffe_blob, raw_data_type, 10, I32),
    WICK_WIRE_FIELD(caffe_blob, raw_data, 12, BYTES),
};
WICK_WIRE_SCHEMA(wick_caffe_blob_message, "BlobProto", caffe_blob, schema_blob_fields, 0);

static const wick_wire_field schema_rule_fields[] = {
    WICK_WIRE_FIELD(caffe_rule, phase, 1, I32),
    WICK_WIRE_FIELD(caffe_rule, min_level, 2, I32),
    WICK_WIRE_FIELD(caffe_rule, max_level, 3, I32),
    WICK_WIRE_FIELD(caffe_rule, stage, 4, SPANS),
    WICK_WIRE_FIELD(caffe_rule, not_stage, 5, SPANS),
};
WICK_WIRE_SCHEMA(wick_caffe_rule_message, "NetStateRule", caffe_rule, schema_rule_fields, 0);

/* ---- parameters of layers ---- */

#define WINDOW                                                                                     \
  I(pad_h, 9), I(pad_w, 10), I(kernel_h, 11), I(kernel_w, 12), I(stride_h, 13), I(stride_w, 14)

MESSAGE(schema_filler, "FillerParameter", S(type, 1), F(value, 2), F(min, 3), F(max, 4), F(mean, 5),
        F(std, 6), I(sparse, 7), I(variance_norm, 8));
MESSAGE(schema_transform, "TransformationParameter", F(scale, 1), I(mirror, 2), I(crop_size, 3),
        S(mean_file, 4), FS(mean_value, 5), I(force_color, 6), I(force_gray, 7));
MESSAGE(schema_loss, "LossParameter", I(ignore_label, 1), I(normalize, 2), I(normalization, 3));
MESSAGE(schema_accuracy, "AccuracyParameter", I(top_k, 1), I(axis, 2), I(ignore_label, 3));
MESSAGE(schema_argmax, "ArgMaxParameter", I(out_max_val, 1), I(top_k, 2), I(axis, 3));
MESSAGE(schema_concat, "ConcatParameter", I(concat_dim, 1), I(axis, 2));
MESSAGE(schema_contrastive, "ContrastiveLossParameter", F(margin, 1), I(legacy_version, 2));
MESSAGE(schema_convolution, "ConvolutionParameter", I(num_output, 1), I(bias_term, 2), IS(pad, 3),
        IS(kernel_size, 4), I(group, 5), IS(stride, 6), WINDOW, I(axis, 16), IS(dilation, 18));
MESSAGE(schema_data, "DataParameter", S(source, 1), I(batch_size, 4), I(crop_size, 5));
MESSAGE(schema_dropout, "DropoutParameter", F(dropout_ratio, 1), I(scale_train, 2));
MESSAGE(schema_dummy, "DummyDataParameter", M(data_filler, 1, schema_filler), IS(num, 2),
        IS(channels, 3), IS(height, 4), IS(width, 5), M(shape, 6, wick_caffe_shape_message));
MESSAGE(schema_eltwise, "EltwiseParameter", I(operation, 1), FS(coeff, 2));
MESSAGE(schema_exp, "ExpParameter", F(base, 1), F(scale, 2), F(shift, 3));
MESSAGE(schema_hinge, "HingeLossParameter", I(norm, 1));
MESSAGE(schema_inner_product, "InnerProductParameter", I(num_output, 1), I(bias_term, 2),
        I(axis, 5), I(transpose, 6));
MESSAGE(schema_lrn, "LRNParameter", I(local_size, 1), F(alpha, 2), F(beta, 3), I(norm_region, 4),
        F(k, 5));
MESSAGE(schema_memory_data, "MemoryDataParameter", I(batch_size, 1), I(channels, 2), I(height, 3),
        I(width, 4));
MESSAGE(schema_mvn, "MVNParameter", I(normalize_variance, 1), I(across_channels, 2), F(eps, 3));
MESSAGE(schema_pooling, "PoolingParameter", I(pool, 1), I(kernel_size, 2), I(stride, 3), I(pad, 4),
        I(kernel_h, 5), I(kernel_w, 6), I(stride_h, 7), I(stride_w, 8), I(pad_h, 9), I(pad_w, 10),
        I(global_pooling, 12), I(round_mode, 13), I(ceil_mode, 20000));
MESSAGE(schema_power, "PowerParameter", F(power, 1), F(scale, 2), F(shift, 3));
MESSAGE(schema_relu, "ReLUParameter", F(negative_slope, 1));
MESSAGE(schema_softmax, "SoftmaxParameter", I(axis, 2));
MESSAGE(schema_slice, "SliceParameter", I(slice_dim, 1), IS(slice_point, 2), I(axis, 3));
MESSAGE(schema_threshold, "ThresholdParameter", F(threshold, 1));
MESSAGE(schema_prelu, "PReLUParameter", I(channel_shared, 2));
MESSAGE(schema_spp, "SPPParameter", I(pyramid_height, 1), I(pool, 2));
MESSAGE(schema_reshape, "ReshapeParameter", M(shape, 1, wick_caffe_shape_message), I(axis, 2),
        I(num_axes, 3));
MESSAGE(schema_flatten, "FlattenParameter", I(axis, 1), I(end_axis, 2));
MESSAGE(schema_reduction, "ReductionParameter", I(operation, 1), I(axis, 2), F(coeff, 3));
MESSAGE(schema_embed, "EmbedParameter", I(num_output, 1), I(input_dim, 2), I(bias_term, 3));
MESSAGE(schema_tile, "TileParameter", I(axis, 1), I(tiles, 2));
MESSAGE(schema_batch_norm, "BatchNormParameter", I(use_global_stats, 1), F(eps, 3),
        I(scale_bias, 7));
MESSAGE(schema_elu, "ELUParameter", F(alpha, 1));
MESSAGE(schema_bias, "BiasParameter", I(axis, 1), I(num_axes, 2));
MESSAGE(schema_scale, "ScaleParameter", I(axis, 1), I(num_axes, 2), I(bias_term, 4));
MESSAGE(schema_input, "InputParameter", M(shape, 1, wick_caffe_shape_message));
MESSAGE(schema_crop, "CropParameter", I(axis, 1), IS(offset, 2));
MESSAGE(schema_parameter, "ParameterParameter", M(shape, 1, wick_caffe_shape_message));
MESSAGE(schema_recurrent, "RecurrentParameter", I(num_output, 1), I(expose_hidden, 5));
MESSAGE(schema_swish, "SwishParameter", F(beta, 1));
MESSAGE(schema_clip, "ClipParameter", F(min, 1), F(max, 2));

/* of forks */
MESSAGE(schema_nms, "NonMaximumSuppressionParameter", F(nms_threshold, 1), I(top_k, 2), F(eta, 3));
MESSAGE(schema_detection, "DetectionOutputParameter", I(num_classes, 1), I(share_location, 2),
        I(background_label_id, 3), M(nms_param, 4, schema_nms), I(code_type, 6), I(keep_top_k, 7),
        I(variance_encoded_in_target, 8), F(confidence_threshold, 9), F(objectness_score, 13));
MESSAGE(schema_permute, "PermuteParameter", IS(order, 1));
MESSAGE(schema_norm, "NormalizeParameter", I(across_spatial, 1), I(channel_shared, 3), F(eps, 4));
MESSAGE(schema_prior, "PriorBoxParameter", FS(min_size, 1), FS(max_size, 2), FS(aspect_ratio, 3),
        I(flip, 4), I(clip, 5), FS(variance, 6), I(img_size, 7), I(img_h, 8), I(img_w, 9),
        F(step, 10), F(step_h, 11), F(step_w, 12), F(offset, 13));
MESSAGE(schema_proposal, "ProposalParameter", I(feat_stride, 1), I(base_size, 2), I(min_size, 3),
        FS(ratio, 4), FS(scale, 5), I(pre_nms_topn, 6), I(post_nms_topn, 7), F(nms_thresh, 8));
MESSAGE(schema_roi, "ROIPoolingParameter", I(pooled_h, 1), I(pooled_w, 2), F(spatial_scale, 3));
MESSAGE(schema_interp, "InterpParameter", I(height, 1), I(width, 2), I(zoom_factor, 3),
        I(shrink_factor, 4), I(pad_beg, 5), I(pad_end, 6));
MESSAGE(schema_upsample, "UpsampleParameter", I(scale, 1), I(scale_h, 2), I(scale_w, 3),
        I(pad_out_h, 4), I(pad_out_w, 5), I(upsample_h, 6), I(upsample_w, 7));
MESSAGE(schema_shuffle, "ShuffleChannelParameter", I(group, 1));
MESSAGE(schema_bn, "BNParameter", I(bn_mode, 20000), F(eps, 20001));
MESSAGE(schema_relu6, "ReLU6Parameter", F(threshold, 1));

/* ---- layers ---- */

#define PARAMS                                                                                     \
  M(transform_param, 100, schema_transform), M(loss_param, 101, schema_loss),                      \
      M(accuracy_param, 102, schema_accuracy), M(argmax_param, 103, schema_argmax),                \
      M(concat_param, 104, schema_concat), M(contrastive_loss_param, 105, schema_contrastive),     \
      M(convolution_param, 106, schema_convolution), M(data_param, 107, schema_data),              \
      M(dropout_param, 108, schema_dropout), M(dummy_data_param, 109, schema_dummy),               \
      M(eltwise_param, 110, schema_eltwise), M(exp_param, 111, schema_exp),                        \
      M(hinge_loss_param, 114, schema_hinge), M(inner_product_param, 117, schema_inner_product),   \
      M(lrn_param, 118, schema_lrn), M(memory_data_param, 119, schema_memory_data),                \
      M(mvn_param, 120, schema_mvn), M(pooling_param, 121, schema_pooling),                        \
      M(power_param, 122, schema_power), M(relu_param, 123, schema_relu),                          \
      M(softmax_param, 125, schema_softmax), M(slice_param, 126, schema_slice),                    \
      M(threshold_param, 128, schema_threshold), M(prelu_param, 131, schema_prelu),                \
      M(spp_param, 132, schema_spp), M(reshape_param, 133, schema_reshape),                        \
      M(log_param, 134, schema_exp), M(flatten_param, 135, schema_flatten),                        \
      M(reduction_param, 136, schema_reduction), M(embed_param, 137, schema_embed),                \
      M(tile_param, 138, schema_tile), M(batch_norm_param, 139, schema_batch_norm),                \
      M(elu_param, 140, schema_elu), M(bias_param, 141, schema_bias),                              \
      M(scale_param, 142, schema_scale), M(input_param, 143, schema_input),                        \
      M(crop_param, 144, schema_crop), M(parameter_param, 145, schema_parameter),                  \
      M(recurrent_param, 146, schema_recurrent), M(swish_param, 147, schema_swish),                \
      M(clip_param, 148, schema_clip), M(proposal_param, 201, schema_proposal),                    \
      M(permute_param, 202, schema_permute), M(permute_param, 148, schema_permute),                \
      M(prior_box_param, 203, schema_prior), M(prior_box_param, 150, schema_prior),                \
      M(detection_output_param, 204, schema_detection),                                            \
      M(detection_output_param, 147, schema_detection), M(norm_param, 206, schema_norm),           \
      M(norm_param, 149, schema_norm), M(roi_pooling_param, 8266711, schema_roi),                  \
      M(interp_param, 20000, schema_interp), M(upsample_param, 20001, schema_upsample),            \
      M(shuffle_channel_param, 20002, schema_shuffle), M(bn_param, 20003, schema_bn),              \
      M(relu6_param, 20004, schema_relu6)

static const wick_wire_field schema_layer_fields[] = {
    S(name, 1),
    S(type, 2),
    SS(bottom, 3),
    SS(top, 4),
    M(blobs, 7, wick_caffe_blob_message),
    M(include, 8, wick_caffe_rule_message),
    M(exclude, 9, wick_caffe_rule_message),
    I(phase, 10),
    PARAMS,
};
WICK_WIRE_SCHEMA(wick_caffe_layer_text, "LayerParameter", uint64_t, schema_layer_fields, 0);

/* All parameters of a layer are in one message, under its own names. */
static const wick_wire_field schema_v0_fields[] = {
    S(name, 1),           S(type, 2),        I(num_output, 3),
    I(biasterm, 4),       I(pad, 7),         I(kernelsize, 8),
    I(group, 9),          I(stride, 10),     I(pool, 11),
    F(dropout_ratio, 12), I(local_size, 13), F(alpha, 14),
    F(beta, 15),          S(source, 16),     F(scale, 17),
    S(meanfile, 18),      I(batchsize, 19),  I(cropsize, 20),
    I(mirror, 21),        F(k, 22),          M(blobs, 50, wick_caffe_blob_message),
    I(concat_dim, 65),
};
WICK_WIRE_SCHEMA(wick_caffe_layer_v0_text, "V0LayerParameter", uint64_t, schema_v0_fields, 0);

static const wick_wire_field schema_v1_fields[] = {
    M(layer, 1, wick_caffe_layer_v0_text),
    SS(bottom, 2),
    SS(top, 3),
    S(name, 4),
    FIELD(type, 5, I32),
    M(blobs, 6, wick_caffe_blob_message),
    M(concat_param, 9, schema_concat),
    M(convolution_param, 10, schema_convolution),
    M(data_param, 11, schema_data),
    M(dropout_param, 12, schema_dropout),
    M(inner_product_param, 17, schema_inner_product),
    M(lrn_param, 18, schema_lrn),
    M(pooling_param, 19, schema_pooling),
    M(power_param, 21, schema_power),
    M(memory_data_param, 22, schema_memory_data),
    M(argmax_param, 23, schema_argmax),
    M(eltwise_param, 24, schema_eltwise),
    M(threshold_param, 25, schema_threshold),
    M(dummy_data_param, 26, schema_dummy),
    M(accuracy_param, 27, schema_accuracy),
    M(hinge_loss_param, 29, schema_hinge),
    M(relu_param, 30, schema_relu),
    M(slice_param, 31, schema_slice),
    M(include, 32, wick_caffe_rule_message),
    M(exclude, 33, wick_caffe_rule_message),
    M(mvn_param, 34, schema_mvn),
    M(transform_param, 36, schema_transform),
    M(softmax_param, 39, schema_softmax),
    M(contrastive_loss_param, 40, schema_contrastive),
    M(exp_param, 41, schema_exp),
    M(loss_param, 42, schema_loss),
};
WICK_WIRE_SCHEMA(wick_caffe_layer_v1_text, "V1LayerParameter", uint64_t, schema_v1_fields, 0);

MESSAGE(schema_state, "NetState", I(phase, 1), I(level, 2), SS(stage, 3));
static const wick_wire_field schema_net_fields[] = {
    S(name, 1),
    M(layers, 2, wick_caffe_layer_v1_text),
    SS(input, 3),
    IS(input_dim, 4),
    M(state, 6, schema_state),
    M(input_shape, 8, wick_caffe_shape_message),
    M(layer, 100, wick_caffe_layer_text),
};
WICK_WIRE_SCHEMA(wick_caffe_text, "NetParameter", uint64_t, schema_net_fields, 0);

/* Fields of layers' parameters that only training or the choice of a library reads. All fields
 * without a row may be skipped in other messages. */
bool wick_caffe_skips(const wick_wire_message *message, wick_span field)
{
  static const char *const names[] = {"engine",           "weight_filler",
                                      "bias_filler",      "filler",
                                      "slope_filler",     "scale_filler",
                                      "shift_filler",     "force_nd_im2col",
                                      "stable_prod_grad", "moving_average_fraction",
                                      "debug_info",       "save_output_param",
                                      "visualize",        "visualize_threshold",
                                      "save_file",        "momentum",
                                      "frozen",           "memory_optimization"};
  if (message == &wick_caffe_text || message == &wick_caffe_layer_text ||
      message == &wick_caffe_layer_v1_text || message == &wick_caffe_layer_v0_text ||
      message == &schema_data || message == &schema_transform || message == &schema_filler ||
      message == &wick_caffe_blob_message)
    return true;
  for (size_t i = 0; i < WICK_COUNT(names); i++)
    if (wick_span_is(field, names[i])) return true;
  return false;
}

/* ---- names ---- */

const wick_wire_word wick_caffe_words[] = {
    {"phase", "TRAIN", 0},
    {"phase", "TEST", 1},
    {"pool", "MAX", 0},
    {"pool", "AVE", 1},
    {"pool", "STOCHASTIC", 2},
    {"operation", "PROD", 0},
    {"operation", "SUM", 1},
    {"operation", "MAX", 2},
    {"operation", "ASUM", 2},
    {"operation", "SUMSQ", 3},
    {"operation", "MEAN", 4},
    {"norm_region", "ACROSS_CHANNELS", 0},
    {"norm_region", "WITHIN_CHANNEL", 1},
    {"round_mode", "CEIL", 0},
    {"round_mode", "FLOOR", 1},
    {"norm", "L1", 1},
    {"norm", "L2", 2},
    {"normalization", "FULL", 0},
    {"normalization", "VALID", 1},
    {"normalization", "BATCH_SIZE", 2},
    {"normalization", "NONE", 3},
    {"variance_norm", "FAN_IN", 0},
    {"variance_norm", "FAN_OUT", 1},
    {"variance_norm", "AVERAGE", 2},
    {"code_type", "CORNER", 1},
    {"code_type", "CENTER_SIZE", 2},
    {"code_type", "CORNER_SIZE", 3},
    {"bn_mode", "LEARN", 0},
    {"bn_mode", "INFERENCE", 1},
    {"type", "NONE", 0},
    {"type", "ABSVAL", 35},
    {"type", "ACCURACY", 1},
    {"type", "ARGMAX", 30},
    {"type", "BNLL", 2},
    {"type", "CONCAT", 3},
    {"type", "CONTRASTIVE_LOSS", 37},
    {"type", "CONVOLUTION", 4},
    {"type", "DATA", 5},
    {"type", "DECONVOLUTION", 39},
    {"type", "DROPOUT", 6},
    {"type", "DUMMY_DATA", 32},
    {"type", "EUCLIDEAN_LOSS", 7},
    {"type", "ELTWISE", 25},
    {"type", "EXP", 38},
    {"type", "FLATTEN", 8},
    {"type", "HDF5_DATA", 9},
    {"type", "HDF5_OUTPUT", 10},
    {"type", "HINGE_LOSS", 28},
    {"type", "IM2COL", 11},
    {"type", "IMAGE_DATA", 12},
    {"type", "INFOGAIN_LOSS", 13},
    {"type", "INNER_PRODUCT", 14},
    {"type", "LRN", 15},
    {"type", "MEMORY_DATA", 29},
    {"type", "MULTINOMIAL_LOGISTIC_LOSS", 16},
    {"type", "MVN", 34},
    {"type", "POOLING", 17},
    {"type", "POWER", 26},
    {"type", "RELU", 18},
    {"type", "SIGMOID", 19},
    {"type", "SIGMOID_CROSS_ENTROPY_LOSS", 27},
    {"type", "SILENCE", 36},
    {"type", "SOFTMAX", 20},
    {"type", "SOFTMAX_LOSS", 21},
    {"type", "SPLIT", 22},
    {"type", "SLICE", 33},
    {"type", "TANH", 23},
    {"type", "WINDOW_DATA", 24},
    {"type", "THRESHOLD", 31},
    {0},
};

const caffe_type wick_caffe_types[] = {
    {"AbsVal", NULL, 35, NULL},
    {"Accuracy", "accuracy_param", 1, "accuracy"},
    {"AnnotatedData", "data_param", 0, NULL},
    {"ArgMax", "argmax_param", 30, NULL},
    {"BN", "bn_param", 0, NULL},
    {"BNLL", NULL, 2, "bnll"},
    {"BatchNorm", "batch_norm_param", 0, NULL},
    {"Bias", "bias_param", 0, NULL},
    {"Clip", "clip_param", 0, NULL},
    {"Concat", "concat_param", 3, "concat"},
    {"ContrastiveLoss", "contrastive_loss_param", 37, NULL},
    {"Convolution", "convolution_param", 4, "conv"},
    {"ConvolutionDepthwise", "convolution_param", 0, NULL},
    {"Crop", "crop_param", 0, NULL},
    {"Data", "data_param", 5, "data"},
    {"Deconvolution", "convolution_param", 39, NULL},
    {"DepthwiseConvolution", "convolution_param", 0, NULL},
    {"DetectionOutput", "detection_output_param", 0, NULL},
    {"Dropout", "dropout_param", 6, "dropout"},
    {"DummyData", "dummy_data_param", 32, NULL},
    {"ELU", "elu_param", 0, NULL},
    {"Eltwise", "eltwise_param", 25, NULL},
    {"Embed", "embed_param", 0, NULL},
    {"EuclideanLoss", NULL, 7, "euclidean_loss"},
    {"Exp", "exp_param", 38, NULL},
    {"Flatten", "flatten_param", 8, "flatten"},
    {"HDF5Data", NULL, 9, "hdf5_data"},
    {"HDF5Output", NULL, 10, "hdf5_output"},
    {"HingeLoss", "hinge_loss_param", 28, "hinge_loss"},
    {"Im2col", "convolution_param", 11, "im2col"},
    {"ImageData", NULL, 12, "images"},
    {"InfogainLoss", "loss_param", 13, "infogain_loss"},
    {"InnerProduct", "inner_product_param", 14, "innerproduct"},
    {"Input", "input_param", 0, NULL},
    {"Interp", "interp_param", 0, NULL},
    {"LRN", "lrn_param", 15, "lrn"},
    {"LSTM", "recurrent_param", 0, NULL},
    {"Log", "log_param", 0, NULL},
    {"MVN", "mvn_param", 34, NULL},
    {"MemoryData", "memory_data_param", 29, NULL},
    {"MultinomialLogisticLoss", "loss_param", 16, "multinomial_loss"},
    {"Normalize", "norm_param", 0, NULL},
    {"PReLU", "prelu_param", 0, NULL},
    {"Padding", NULL, 0, "padding"},
    {"Parameter", "parameter_param", 0, NULL},
    {"Permute", "permute_param", 0, NULL},
    {"Pooling", "pooling_param", 17, "pool"},
    {"Power", "power_param", 26, NULL},
    {"PriorBox", "prior_box_param", 0, NULL},
    {"Proposal", "proposal_param", 0, NULL},
    {"RNN", "recurrent_param", 0, NULL},
    {"ROIPooling", "roi_pooling_param", 0, NULL},
    {"ReLU", "relu_param", 18, "relu"},
    {"ReLU6", "relu6_param", 0, NULL},
    {"Reduction", "reduction_param", 0, NULL},
    {"Reshape", "reshape_param", 0, NULL},
    {"SPP", "spp_param", 0, NULL},
    {"Scale", "scale_param", 0, NULL},
    {"ShuffleChannel", "shuffle_channel_param", 0, NULL},
    {"Sigmoid", NULL, 19, "sigmoid"},
    {"SigmoidCrossEntropyLoss", "loss_param", 27, NULL},
    {"Silence", NULL, 36, NULL},
    {"Slice", "slice_param", 33, NULL},
    {"Softmax", "softmax_param", 20, "softmax"},
    {"SoftmaxWithLoss", "loss_param", 21, "softmax_loss"},
    {"Split", NULL, 22, "split"},
    {"Swish", "swish_param", 0, NULL},
    {"TanH", NULL, 23, "tanh"},
    {"Threshold", "threshold_param", 31, NULL},
    {"Tile", "tile_param", 0, NULL},
    {"Upsample", "upsample_param", 0, NULL},
    {"WindowData", NULL, 24, "window_data"},
    {0},
};
