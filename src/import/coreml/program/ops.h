/* The functions that import operations, by the rows of rows.c, and what they share. */
#ifndef WICK_IMPORT_COREML_PROGRAM_OPS_H
#define WICK_IMPORT_COREML_PROGRAM_OPS_H

#include "import/coreml/program/state.h"
#include "import/kit/array.h"
#include "ir/element.h"

static inline wick_dims *wick_mil_dims(const wick_import_node *n) { return n->c->module->dims; }

/* The type of a value that this operation built. After a failure of the builder, whose values are 0,
 * it is a number with sizes of 0: callers may go on. */
static inline const wick_type_info *wick_mil_info(const wick_import_node *n, wick_value v)
{
  static const wick_dim sizes[WICK_MAX_RANK];
  static const wick_type_info none = {.elem = WICK_F32, .dim = sizes};
  return n->b->status || !v.id ? &none : wick_built_info(n->b, v);
}
static inline wick_type wick_mil_type_of(const wick_import_node *n, wick_value v)
{
  return n->b->status || !v.id ? wick_type_tensor(n->c->module, WICK_F32, 0, NULL)
                               : wick_built_type(n->b, v);
}

/* Builds op(x) on a type that Wick's operator takes, and converts the result back to x's. */
wick_value wick_mil_widened(wick_import_node *n, wick_opcode op, wick_value x);
/* Reads the axes of an argument, from 0 to rank - 1; all of them if it is absent. Returns false after
 * a failure. */
bool wick_mil_axes(wick_import_node *n, const char *name, uint32_t rank, uint32_t *out_n,
                   int64_t *out);
/* A list of `count` numbers, or `otherwise` for each if it is absent. Returns false after a
 * failure. */
bool wick_mil_list_of(wick_import_node *n, const char *name, uint32_t count, int64_t otherwise,
                      int64_t *out);
/* Reads an element type: "int32". Returns false after a failure. */
bool wick_mil_dtype_of(wick_import_node *n, const char *name, wick_elem otherwise, wick_elem *out);

typedef void wick_mil_import(wick_import_node *n);
wick_mil_import wick_mil_import_activation, wick_mil_import_affine, wick_mil_import_arg,
    wick_mil_import_argsort, wick_mil_import_attention, wick_mil_import_band_part,
    wick_mil_import_batch_norm, wick_mil_import_batch_to_space, wick_mil_import_binary,
    wick_mil_import_blockwise, wick_mil_import_cast, wick_mil_import_classify, wick_mil_import_clip,
    wick_mil_import_concat, wick_mil_import_cond, wick_mil_import_const, wick_mil_import_conv,
    wick_mil_import_conv_quantized, wick_mil_import_conv_transpose, wick_mil_import_crop,
    wick_mil_import_crop_resize, wick_mil_import_cumsum, wick_mil_import_depth_space,
    wick_mil_import_dequantize, wick_mil_import_einsum, wick_mil_import_epsilon,
    wick_mil_import_expand_dims, wick_mil_import_fill, wick_mil_import_fill_like,
    wick_mil_import_flatten2d, wick_mil_import_floor_div, wick_mil_import_gather,
    wick_mil_import_gather_along_axis, wick_mil_import_gather_nd, wick_mil_import_gelu,
    wick_mil_import_gru, wick_mil_import_identity, wick_mil_import_instance_norm,
    wick_mil_import_l2_norm, wick_mil_import_layer_norm, wick_mil_import_linear,
    wick_mil_import_list_gather, wick_mil_import_list_length, wick_mil_import_list_read,
    wick_mil_import_list_scatter, wick_mil_import_list_write, wick_mil_import_lrn,
    wick_mil_import_lstm, wick_mil_import_lut, wick_mil_import_lut_old,
    wick_mil_import_lut_to_sparse, wick_mil_import_make_list, wick_mil_import_matmul,
    wick_mil_import_non_maximum_suppression, wick_mil_import_non_zero, wick_mil_import_one_hot,
    wick_mil_import_pad, wick_mil_import_pixel_unshuffle, wick_mil_import_pool,
    wick_mil_import_prelu, wick_mil_import_quantize, wick_mil_import_range,
    wick_mil_import_read_state, wick_mil_import_reduce, wick_mil_import_resample,
    wick_mil_import_reshape, wick_mil_import_reshape_like, wick_mil_import_resize,
    wick_mil_import_resize_bilinear, wick_mil_import_resize_nearest, wick_mil_import_reverse,
    wick_mil_import_reverse_sequence, wick_mil_import_rnn, wick_mil_import_scatter,
    wick_mil_import_scatter_along_axis, wick_mil_import_scatter_nd, wick_mil_import_select,
    wick_mil_import_shape, wick_mil_import_slice_by_index, wick_mil_import_slice_by_size,
    wick_mil_import_slice_update, wick_mil_import_sliding_windows, wick_mil_import_softmax,
    wick_mil_import_softplus_parametric, wick_mil_import_space_to_batch,
    wick_mil_import_sparse_blockwise, wick_mil_import_sparse_to_dense, wick_mil_import_split,
    wick_mil_import_square, wick_mil_import_squeeze, wick_mil_import_stack, wick_mil_import_tile,
    wick_mil_import_top_k, wick_mil_import_transpose, wick_mil_import_unary,
    wick_mil_import_upsample_bilinear, wick_mil_import_upsample_nearest, wick_mil_import_while,
    wick_mil_import_write_state;

#endif
