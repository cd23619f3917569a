/* The functions that import operators, by the rows of rows.c, and what they share. */
#ifndef WICK_IMPORT_TENSORFLOW_OPS_H
#define WICK_IMPORT_TENSORFLOW_OPS_H

#include "import/kit/array.h"
#include "import/tensorflow/state.h"
#include "ir/element.h"

/* Builds op(x) on a type that the operator takes, and converts the result back to x's. */
wick_value wick_tf_widened(wick_import_node *n, wick_opcode op, wick_value x);
/* [N, spatial..., C] to [N, C, spatial...], and back. */
wick_value wick_tf_channels_first(wick_import_node *n, wick_value x);
wick_value wick_tf_channels_last(wick_import_node *n, wick_value x);
/* What the attribute data_format says. */
bool wick_tf_is_channels_last(wick_import_node *n);

typedef void wick_tf_import(wick_import_node *n);
wick_tf_import wick_tf_import_as_string, wick_tf_import_add_n, wick_tf_import_adjust_color,
    wick_tf_import_adjust_contrast, wick_tf_import_arg, wick_tf_import_array,
    wick_tf_import_array_close, wick_tf_import_array_concat, wick_tf_import_array_gather,
    wick_tf_import_array_read, wick_tf_import_array_scatter, wick_tf_import_array_size,
    wick_tf_import_array_split, wick_tf_import_array_write, wick_tf_import_assign_variable,
    wick_tf_import_atan2, wick_tf_import_band_part, wick_tf_import_batch_blocks,
    wick_tf_import_bias_add, wick_tf_import_binary, wick_tf_import_bincount, wick_tf_import_bitcast,
    wick_tf_import_block_lstm, wick_tf_import_broadcast_args, wick_tf_import_broadcast_to,
    wick_tf_import_bucketize, wick_tf_import_case, wick_tf_import_cast, wick_tf_import_cholesky,
    wick_tf_import_clip, wick_tf_import_combined_suppression, wick_tf_import_compare,
    wick_tf_import_complex, wick_tf_import_complex_part, wick_tf_import_conj, wick_tf_import_exp,
    wick_tf_import_fft, wick_tf_import_irfft, wick_tf_import_mul, wick_tf_import_rfft,
    wick_tf_import_concat, wick_tf_import_const, wick_tf_import_conv, wick_tf_import_conv_transpose,
    wick_tf_import_crop_and_resize, wick_tf_import_projective, wick_tf_import_cross_entropy,
    wick_tf_import_cumulate, wick_tf_import_cumulate_log, wick_tf_import_depth_space,
    wick_tf_import_diag, wick_tf_import_diag_part, wick_tf_import_dilation, wick_tf_import_div,
    wick_tf_import_eigen, wick_tf_import_einsum, wick_tf_import_empty, wick_tf_import_ensure_shape,
    wick_tf_import_erfc, wick_tf_import_exit, wick_tf_import_expand_dims, wick_tf_import_fake_quant,
    wick_tf_import_fill, wick_tf_import_fill_empty_rows, wick_tf_import_floor_div,
    wick_tf_import_fused_batch_norm, wick_tf_import_gather, wick_tf_import_gather_nd,
    wick_tf_import_gru_cell, wick_tf_import_gradient_unary, wick_tf_import_gradient_bias,
    wick_tf_import_gradient_batch_norm, wick_tf_import_broadcast_axes, wick_tf_import_concat_offset,
    wick_tf_import_gradient_through, wick_tf_import_hsv_to_rgb, wick_tf_import_identity,
    wick_tf_import_if, wick_tf_import_image_patches, wick_tf_import_in_top_k,
    wick_tf_import_inverse, wick_tf_import_invert_permutation, wick_tf_import_is,
    wick_tf_import_is_finite, wick_tf_import_is_initialized, wick_tf_import_l2_loss,
    wick_tf_import_leaky_relu, wick_tf_import_like, wick_tf_import_linspace,
    wick_tf_import_list_concat, wick_tf_import_list_diff, wick_tf_import_list_element_shape,
    wick_tf_import_list_empty, wick_tf_import_list_from_tensor, wick_tf_import_list_gather,
    wick_tf_import_list_get_item, wick_tf_import_list_length, wick_tf_import_list_pop_back,
    wick_tf_import_list_push_back, wick_tf_import_list_reserve, wick_tf_import_list_resize,
    wick_tf_import_list_scatter, wick_tf_import_list_scatter_into, wick_tf_import_list_set_item,
    wick_tf_import_list_split, wick_tf_import_list_stack, wick_tf_import_log_det,
    wick_tf_import_lrn, wick_tf_import_lu, wick_tf_import_lstm_cell, wick_tf_import_matmul,
    wick_tf_import_max_pool_argmax, wick_tf_import_merge, wick_tf_import_mirror_pad,
    wick_tf_import_multinomial, wick_tf_import_no_nan, wick_tf_import_non_max_suppression,
    wick_tf_import_nth, wick_tf_import_old_batch_norm, wick_tf_import_one_hot,
    wick_tf_import_optimize, wick_tf_import_pack, wick_tf_import_pad,
    wick_tf_import_partitioned_call, wick_tf_import_placeholder, wick_tf_import_pool,
    wick_tf_import_qr, wick_tf_import_random, wick_tf_import_random_algorithm,
    wick_tf_import_random_key, wick_tf_import_range, wick_tf_import_rank,
    wick_tf_import_read_variable, wick_tf_import_reduce, wick_tf_import_ref_variable,
    wick_tf_import_resource_scatter, wick_tf_import_relu6, wick_tf_import_reshape,
    wick_tf_import_resize, wick_tf_import_resize_area, wick_tf_import_resize_bicubic,
    wick_tf_import_resource_gather, wick_tf_import_reverse, wick_tf_import_reverse_sequence,
    wick_tf_import_rgb_to_hsv, wick_tf_import_roll, wick_tf_import_scale, wick_tf_import_scatter_nd,
    wick_tf_import_search_sorted, wick_tf_import_segment, wick_tf_import_select,
    wick_tf_import_set_diag, wick_tf_import_shape, wick_tf_import_size, wick_tf_import_slice,
    wick_tf_import_softmax, wick_tf_import_solve, wick_tf_import_sparse_cross,
    wick_tf_import_sparse_matmul, wick_tf_import_sparse_reshape, wick_tf_import_sparse_segment,
    wick_tf_import_sparse_to_dense, wick_tf_import_special, wick_tf_import_cross,
    wick_tf_import_text_length, wick_tf_import_text_strip, wick_tf_import_text_slice,
    wick_tf_import_split, wick_tf_import_split_v, wick_tf_import_square,
    wick_tf_import_squared_difference, wick_tf_import_squeeze, wick_tf_import_stateless_random,
    wick_tf_import_stitch, wick_tf_import_strided_slice, wick_tf_import_svd, wick_tf_import_switch,
    wick_tf_import_table, wick_tf_import_table_find, wick_tf_import_table_from_file,
    wick_tf_import_table_import, wick_tf_import_table_size, wick_tf_import_tensor_scatter,
    wick_tf_import_text_bucket, wick_tf_import_text_case, wick_tf_import_text_join,
    wick_tf_import_text_match, wick_tf_import_text_number, wick_tf_import_text_replace,
    wick_tf_import_text_split, wick_tf_import_ragged_to_tensor, wick_tf_import_quantize_and_back,
    wick_tf_import_ragged_bincount, wick_tf_import_text_ngrams, wick_tf_import_tile,
    wick_tf_import_top_k, wick_tf_import_transpose, wick_tf_import_partition, wick_tf_import_unary,
    wick_tf_import_unique, wick_tf_import_unpack, wick_tf_import_unravel,
    wick_tf_import_unsorted_segment, wick_tf_import_var_handle, wick_tf_import_where,
    wick_tf_import_while, wick_tf_import_xlog;

#endif
