/* The functions of the table's rows. */
#ifndef WICK_IMPORT_KERAS_ROWS_H
#define WICK_IMPORT_KERAS_ROWS_H

#include "import/kit/import.h"

/* The tables of functions of keras.ops that have files of their own. */
extern const wick_import_op keras_formulas[], keras_arrays[], keras_statistics[], keras_signals[],
    keras_networks[], keras_images[], keras_indices[], keras_products[], keras_linear[],
    keras_geometry[], keras_integers[], keras_rearranging[];
#define KERAS_ROW(function, least, most, results, import_by, ...)                                  \
  {                                                                                                \
    .name = "ops." function, .since = 1, .nin = {least, most}, .nout = (results),                  \
    .import = (import_by), __VA_ARGS__                                                             \
  }

void keras_stft_spectrogram(wick_import_node *n);
void keras_mel_spectrogram(wick_import_node *n);
void keras_auto_contrast(wick_import_node *n);
void keras_local_contrast(wick_import_node *n);
void keras_reversible_embedding(wick_import_node *n);
void keras_category_encoding(wick_import_node *n);
void keras_discretization(wick_import_node *n);
void keras_hashing(wick_import_node *n);
void keras_hashed_crossing(wick_import_node *n);
void keras_lookup(wick_import_node *n);
void keras_text_vectorization(wick_import_node *n);
void keras_attention(wick_import_node *n);
void keras_multi_head(wick_import_node *n);
void keras_conv(wick_import_node *n);
void keras_depthwise(wick_import_node *n);
void keras_separable(wick_import_node *n);
void keras_conv_transpose(wick_import_node *n);
void keras_pool(wick_import_node *n);
void keras_global_pool(wick_import_node *n);
void keras_adaptive_pool(wick_import_node *n);
void keras_identity(wick_import_node *n);
void keras_floats(wick_import_node *n);
void keras_activation(wick_import_node *n);
void keras_activation_layer(wick_import_node *n);
void keras_tf_activation(wick_import_node *n);
void keras_leaky_relu(wick_import_node *n);
void keras_softmax(wick_import_node *n);
void keras_prelu(wick_import_node *n);
void keras_thresholded_relu(wick_import_node *n);
void keras_dense(wick_import_node *n);
void keras_einsum_dense(wick_import_node *n);
void keras_layer_scale(wick_import_node *n);
void keras_embedding(wick_import_node *n);
void keras_masking(wick_import_node *n);
void keras_merge(wick_import_node *n);
void keras_custom_scale(wick_import_node *n);
void keras_concatenate(wick_import_node *n);
void keras_dot(wick_import_node *n);
void keras_batch_norm(wick_import_node *n);
void keras_layer_norm(wick_import_node *n);
void keras_rms_norm(wick_import_node *n);
void keras_group_norm(wick_import_node *n);
void keras_unit_norm(wick_import_node *n);
void keras_unary(wick_import_node *n);
void keras_binary(wick_import_node *n);
void keras_floor_divide(wick_import_node *n);
void keras_square(wick_import_node *n);
void keras_cast_op(wick_import_node *n);
void keras_reduction(wick_import_node *n);
void keras_variance(wick_import_node *n);
void keras_arg_extreme(wick_import_node *n);
void keras_clip_op(wick_import_node *n);
void keras_reshape_op(wick_import_node *n);
void keras_transpose_op(wick_import_node *n);
void keras_swapaxes(wick_import_node *n);
void keras_expand_dims(wick_import_node *n);
void keras_squeeze_op(wick_import_node *n);
void keras_concatenate_op(wick_import_node *n);
void keras_stack_op(wick_import_node *n);
void keras_split_op(wick_import_node *n);
void keras_take(wick_import_node *n);
void keras_where_op(wick_import_node *n);
void keras_one_hot_op(wick_import_node *n);
void keras_matmul_op(wick_import_node *n);
void keras_softmax_op(wick_import_node *n);
void keras_get_item(wick_import_node *n);
void keras_rnn(wick_import_node *n);
void keras_cell(wick_import_node *n);
void keras_bidirectional(wick_import_node *n);
void keras_time_distributed(wick_import_node *n);
void keras_spectral(wick_import_node *n);
void keras_flatten(wick_import_node *n);
void keras_reshape(wick_import_node *n);
void keras_permute(wick_import_node *n);
void keras_repeat_vector(wick_import_node *n);
void keras_borders(wick_import_node *n);
void keras_up_sampling(wick_import_node *n);
void keras_resizing(wick_import_node *n);
void keras_center_crop(wick_import_node *n);
void keras_rescaling(wick_import_node *n);
void keras_normalization(wick_import_node *n);

/* Helpers of one file that others use. */
wick_value keras_operand(wick_import_node *n, uint32_t at, const char *name, wick_value like);
/* Both operands of a binary function; a number takes the type of the tensor. */
void keras_operands(wick_import_node *n, wick_value out[2]);
/* x, or x in f32 if its elements are no floats. */
wick_value keras_floating(wick_import_node *n, wick_value x);
/* The tensors of the first argument, a list; out[KERAS_MOST]. Returns how many, 0 after a failure. */
uint32_t keras_list(wick_import_node *n, const char *name, wick_value *out);
/* Converts all to their common element type. */
void keras_common_all(wick_import_node *n, uint32_t count, wick_value *v);
/* x as a vector. */
wick_value keras_flat(wick_import_node *n, wick_value x);
/* The attribute `axis`; if it is absent, x becomes a vector. Returns false after a failure. */
bool keras_axis_or_flat(wick_import_node *n, wick_value *x, uint32_t *axis);
/* x with axis `from` at the position `to`. */
wick_value keras_moved(wick_import_node *n, wick_value x, uint32_t from, uint32_t to);
/* Sizes from an attribute or an argument: numbers, and -1 where one is open. */
bool keras_shape(wick_import_node *n, const char *name, uint32_t *rank, wick_dim *dim);
/* The sum, maximum or minimum of the singular values of x [..., rows, columns]. */
wick_value keras_singular_norm(wick_import_node *n, wick_value x, wick_opcode op);
wick_value keras_conv_plain(wick_import_node *n, wick_value x, wick_value w, wick_value bias,
                            bool state);
wick_value keras_reshape_to(wick_import_node *n, wick_value x, uint32_t rank, wick_dim *dim);
/* Windows of an axis: it becomes [windows, size], with `stride` between the first elements of windows
 * and `dilation` between those of one. */
wick_value keras_windows(wick_import_node *n, wick_value x, uint32_t axis, int64_t size,
                         int64_t stride, int64_t dilation);
/* The short-time Fourier transform of x along its last axis, which becomes [windows, frequencies]; sizes and the
 * window are attributes. Returns false after a failure. */
bool keras_stft(wick_import_node *n, wick_value x, wick_value *real, wick_value *imaginary);
/* Reads the window of `size` numbers of that attribute into the middle of out[length], zeros around
 * it. */
bool keras_window(wick_import_node *n, const char *name, int64_t size, int64_t length, double *out);
/* Crops or pads images in the middle so that their sides have the ratio of size[2]. */
wick_value keras_fit_aspect(wick_import_node *n, wick_value x, bool last, const int64_t *size,
                            bool pad, double fill);
wick_value keras_resize_to(wick_import_node *n, wick_value x, bool last, int64_t height,
                           int64_t width, const char *mode, bool antialias);

#endif
