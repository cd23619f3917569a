/* The layers of Caffe that are read, sorted by name. */
#include "import/caffe/ops.h"

#define ROW(name, least, most, nout, attrs, import, op, arg)                                       \
  {                                                                                                \
    name, 1, {least, most}, nout, attrs, import, op, arg, "f32", NULL                              \
  }
#define UNARY(name, op) ROW(name, 1, 1, 1, "", wick_caffe_unary, WICK_OP_##op, 0)
#define WINDOW "kernel_h:i kernel_w:i stride_h:i stride_w:i pad_h:i pad_w:i "
#define CONV                                                                                       \
  WINDOW "num_output:i kernel_size:I stride:I pad:I dilation:I group:i bias_term:b axis:i"
#define POOL WINDOW "pool:i kernel_size:I stride:I pad:I global_pooling:b round_mode:i ceil_mode:b"
#define RECURRENT "num_output:i expose_hidden:b"
#define REFUSED(layer, reason)                                                                     \
  {                                                                                                \
    .name = layer, .since = 1, .why = reason                                                       \
  }
#define DATA(name)                                                                                 \
  {                                                                                                \
    name, 1, {0, 0}, WICK_ANY, NULL, wick_caffe_silence, 0, 0, "f32", NULL                         \
  }

const wick_import_op wick_caffe_ops[] = {
    UNARY("AbsVal", abs),
    ROW("Accuracy", 2, 2, 2, "top_k:i axis:i ignore_label:i", wick_caffe_accuracy, 0, 0),
    DATA("AnnotatedData"),
    ROW("ArgMax", 1, 1, 1, "out_max_val:b top_k:i axis:i", wick_caffe_argmax, 0, 0),
    ROW("Axpy", 3, 3, 1, NULL, wick_caffe_axpy, 0, 0),
    ROW("BN", 1, 1, 1, "bn_mode:i eps:f", wick_caffe_bn, 0, 0),
    UNARY("BNLL", softplus),
    ROW("BatchNorm", 1, 1, 1, "use_global_stats:b eps:f scale_bias:b", wick_caffe_batch_norm, 0, 0),
    ROW("BatchReindex", 2, 2, 1, NULL, wick_caffe_batch_reindex, 0, 0),
    ROW("Bias", 1, 2, 1, "axis:i num_axes:i", wick_caffe_scale, 0, 1),
    ROW("Clip", 1, 1, 1, "min:f! max:f!", wick_caffe_clip, 0, 0),
    ROW("Concat", 1, WICK_ANY, 1, "axis:i concat_dim:i", wick_caffe_concat, 0, 0),
    ROW("ContrastiveLoss", 3, 3, 1, "margin:f legacy_version:b", wick_caffe_contrastive_loss, 0, 0),
    ROW("Convolution", 1, 1, 1, CONV, wick_caffe_conv, 0, 0),
    ROW("ConvolutionDepthwise", 1, 1, 1, CONV, wick_caffe_conv, 0, 2),
    ROW("Crop", 2, 2, 1, "axis:i offset:I", wick_caffe_crop, 0, 0),
    DATA("Data"),
    ROW("Deconvolution", 1, 1, 1, CONV, wick_caffe_conv, 0, 1),
    ROW("DepthwiseConvolution", 1, 1, 1, CONV, wick_caffe_conv, 0, 2),
    ROW("DetectionOutput", 3, 3, 1,
        "num_classes:i! share_location:b background_label_id:i nms_param.nms_threshold:f "
        "nms_param.top_k:i nms_param.eta:f code_type:i keep_top_k:i "
        "variance_encoded_in_target:b confidence_threshold:f objectness_score:f",
        wick_caffe_detection_output, 0, 0),
    ROW("Dropout", 1, 1, 1, "dropout_ratio:f scale_train:b", wick_caffe_dropout, 0, 0),
    DATA("DummyData"),
    ROW("ELU", 1, 1, 1, "alpha:f", wick_caffe_elu, 0, 0),
    ROW("Eltwise", 1, WICK_ANY, 1, "operation:i coeff:F", wick_caffe_eltwise, 0, 0),
    ROW("Embed", 1, 1, 1, "num_output:i! input_dim:i! bias_term:b", wick_caffe_embed, 0, 0),
    ROW("EuclideanLoss", 2, 2, 1, NULL, wick_caffe_euclidean_loss, 0, 0),
    ROW("Exp", 1, 1, 1, "base:f scale:f shift:f", wick_caffe_exp, 0, 0),
    REFUSED("Filter", "the size of its results depends on the data: select after the run"),
    ROW("Flatten", 1, 1, 1, "axis:i end_axis:i", wick_caffe_flatten, 0, 0),
    DATA("HDF5Data"),
    REFUSED("HDF5Output", "it writes a file: remove it from the network"),
    ROW("HingeLoss", 2, 2, 1, "norm:i", wick_caffe_hinge_loss, 0, 0),
    REFUSED("Im2col", "convolutions are computed without it"),
    DATA("ImageData"),
    REFUSED("InfogainLoss", "its matrix is in a file of its own"),
    ROW("InnerProduct", 1, 1, 1, "num_output:i! bias_term:b axis:i transpose:b",
        wick_caffe_inner_product, 0, 0),
    DATA("Input"),
    ROW("Interp", 1, 2, 1, "height:i width:i zoom_factor:i shrink_factor:i pad_beg:i pad_end:i",
        wick_caffe_interp, 0, 0),
    ROW("LRN", 1, 1, 1, "local_size:i alpha:f beta:f norm_region:i k:f", wick_caffe_lrn, 0, 0),
    ROW("LSTM", 2, 5, 3, RECURRENT, wick_caffe_recurrent, 0, 1),
    ROW("Log", 1, 1, 1, "base:f scale:f shift:f", wick_caffe_log, 0, 0),
    ROW("MVN", 1, 1, 1, "normalize_variance:b across_channels:b eps:f", wick_caffe_mvn, 0, 0),
    DATA("MemoryData"),
    ROW("MultinomialLogisticLoss", 2, 2, 1, NULL, wick_caffe_softmax_loss, 0, 1),
    ROW("Normalize", 1, 1, 1, "across_spatial:b channel_shared:b eps:f", wick_caffe_normalize, 0,
        0),
    ROW("PReLU", 1, 1, 1, "channel_shared:b", wick_caffe_prelu, 0, 0),
    ROW("Padding", 1, 1, 1, "pad:i", wick_caffe_padding, 0, 0),
    ROW("Parameter", 0, 0, 1, "shape.dim:I", wick_caffe_parameter, 0, 0),
    ROW("Permute", 1, 1, 1, "order:I", wick_caffe_permute, 0, 0),
    ROW("Pooling", 1, 1, 2, POOL, wick_caffe_pool, 0, 0),
    ROW("Power", 1, 1, 1, "power:f scale:f shift:f", wick_caffe_power, 0, 0),
    ROW("PriorBox", 2, 2, 1,
        "min_size:F! max_size:F aspect_ratio:F flip:b clip:b variance:F img_size:i img_h:i img_w:i "
        "step:f step_h:f step_w:f offset:f",
        wick_caffe_prior_box, 0, 0),
    REFUSED("Proposal", "the number of its regions depends on the image: cut the network there"),
    REFUSED("Python", "its code is not in the model"),
    ROW("RNN", 2, 4, 2, RECURRENT, wick_caffe_recurrent, 0, 0),
    ROW("ROIPooling", 2, 2, 1, "pooled_h:i! pooled_w:i! spatial_scale:f", wick_caffe_roi_pool, 0,
        0),
    ROW("ReLU", 1, 1, 1, "negative_slope:f", wick_caffe_relu, 0, 0),
    ROW("ReLU6", 1, 1, 1, "threshold:f", wick_caffe_relu6, 0, 0),
    ROW("Reduction", 1, 1, 1, "operation:i axis:i coeff:f", wick_caffe_reduction, 0, 0),
    ROW("Reshape", 1, 1, 1, "shape.dim:I axis:i num_axes:i", wick_caffe_reshape, 0, 0),
    ROW("SPP", 1, 1, 1, "pyramid_height:i! pool:i", wick_caffe_spp, 0, 0),
    ROW("Scale", 1, 2, 1, "axis:i num_axes:i bias_term:b", wick_caffe_scale, 0, 0),
    ROW("ShuffleChannel", 1, 1, 1, "group:i", wick_caffe_shuffle, 0, 0),
    UNARY("Sigmoid", sigmoid),
    ROW("SigmoidCrossEntropyLoss", 2, 2, 1, "ignore_label:i normalize:b normalization:i",
        wick_caffe_sigmoid_loss, 0, 0),
    ROW("Silence", 1, WICK_ANY, 0, NULL, wick_caffe_silence, 0, 0),
    ROW("Slice", 1, 1, WICK_ANY, "axis:i slice_dim:i slice_point:I", wick_caffe_slice, 0, 0),
    ROW("Softmax", 1, 1, 1, "axis:i", wick_caffe_softmax, 0, 0),
    ROW("SoftmaxWithLoss", 2, 2, 2, "ignore_label:i normalize:b normalization:i",
        wick_caffe_softmax_loss, 0, 0),
    ROW("Split", 1, 1, WICK_ANY, NULL, wick_caffe_same, 0, 0),
    ROW("Swish", 1, 1, 1, "beta:f", wick_caffe_swish, 0, 0),
    UNARY("TanH", tanh),
    ROW("Threshold", 1, 1, 1, "threshold:f", wick_caffe_threshold, 0, 0),
    ROW("Tile", 1, 1, 1, "axis:i tiles:i!", wick_caffe_tile, 0, 0),
    ROW("Upsample", 1, 2, 1,
        "scale:i scale_h:i scale_w:i pad_out_h:b pad_out_w:b upsample_h:i upsample_w:i",
        wick_caffe_upsample, 0, 0),
    DATA("WindowData"),
    {0},
};
