/* Layers of neural networks: what their functions share, and the functions that the table names.
 *
 * All arithmetic is in f32. Besides, a value may be i64 (indices, shapes) or bool (comparisons), so
 * that shapes which a network computes stay known; layers read their operands by wick_coreml_float
 * or wick_coreml_index. In a network with the mapping RANK5 all values have five dimensions,
 * [sequence, batch, channel, height, width]; the layers of images work on the last three, whatever
 * the rank.
 * Source of the meaning: the documentation in NeuralNetwork.proto of coremltools 9. */
#ifndef WICK_IMPORT_COREML_LAYERS_H
#define WICK_IMPORT_COREML_LAYERS_H

#include "import/coreml/model.h"

/* Layers that are imported after a branch with a jump, in each of its ways that end without one. */
typedef struct wick_coreml_rest wick_coreml_rest;
struct wick_coreml_rest {
  wick_coreml_messages layers;
  const wick_coreml_rest *next;
};

typedef struct wick_coreml_layer {
  const char *name, *kind; /* "convolution" */
  wick_coreml_message layer, params;
  uint32_t nvar; /* of a branch or a loop: the variables that it sets */
  const char *const *var;
  const wick_coreml_rest *rest; /* of a branch with a jump */
} wick_coreml_layer;

extern const wick_import_op wick_coreml_layers[]; /* table.c, sorted by name */

static inline const wick_coreml_message *wick_coreml_params(const wick_import_node *n)
{
  return &((const wick_coreml_layer *)n->data)->params;
}

/* network.c */
void wick_coreml_network(wick_import *c, const wick_coreml_model *m,
                         const wick_coreml_message *network);
/* Do arrays (or images) keep their rank? `mapping` is the field that says so. */
bool wick_coreml_is_exact(int64_t version, const wick_coreml_message *network, const char *mapping);
/* Is the value read only as indices, perhaps after its shape changed? Then an input is i32, although
 * converters declare all inputs as floats. A second reader of a value that changed its shape makes it
 * no index. */
bool wick_coreml_is_index(wick_import *c, const wick_coreml_message *network, const char *name);
wick_import_attr wick_coreml_attr(const wick_import_node *n, const char *name, char kind);
/* Imports one layer, which is no jump; its results are `nout` values under these names. */
void wick_coreml_layer_run(wick_import *c, const wick_coreml_layer *l, uint32_t nout,
                           const char *const *out);

/* operand.c */
wick_value wick_coreml_float(wick_import_node *n, uint32_t i);
wick_value wick_coreml_index(wick_import_node *n, uint32_t i);
wick_value wick_coreml_as(wick_import_node *n, wick_value x, wick_elem elem);
/* The sizes that an operand holds: its elements as dimension expressions. */
bool wick_coreml_sizes(wick_import_node *n, uint32_t i, const char *what, uint32_t *out_n,
                       const wick_dim **out);
/* Reads the attribute `axis`; false after a failure. */
bool wick_coreml_axis(wick_import_node *n, wick_value x, int64_t otherwise, uint32_t *out);
/* x [..., last dimensions] as [product, last dimensions]: `inner` of them; and back, with the leading
 * dimensions of `like`. */
wick_value wick_coreml_fold(wick_import_node *n, wick_value x, uint32_t inner);
wick_value wick_coreml_unfold(wick_import_node *n, wick_value y, wick_value like, uint32_t inner);
/* A number of the layer, where 0 stands for the default. */
double wick_coreml_positive(const wick_import_node *n, const char *name, double otherwise);

/* weights.c: the weights `name` of a message, in f32, with that shape. 0 after a failure. */
wick_value wick_coreml_weight(wick_import_node *n, const wick_coreml_message *m, const char *name,
                              uint32_t rank, const int64_t *dim);
/* The number of weights, as stored; 0 if there are none. */
uint64_t wick_coreml_weight_count(const wick_coreml_message *m, const char *name);

/* activation.c */
wick_value wick_coreml_activate(wick_import_node *n, const wick_coreml_message *activation,
                                wick_value x);
void wick_coreml_activation(wick_import_node *n);
void wick_coreml_unary(wick_import_node *n);
void wick_coreml_gelu(wick_import_node *n);
void wick_coreml_clip(wick_import_node *n); /* row->arg: clampedReLU */

/* elementwise.c */
void wick_coreml_each(wick_import_node *n);    /* row->op of one operand */
void wick_coreml_same(wick_import_node *n);    /* the input itself */
void wick_coreml_several(wick_import_node *n); /* row->op over all; row->arg: the mean */
void wick_coreml_binary(wick_import_node *n);  /* row->op; row->arg: the floor of it */
void wick_coreml_divide(wick_import_node *n);
void wick_coreml_compare(wick_import_node *n); /* row->op */
void wick_coreml_logical(wick_import_node *n); /* row->op */
void wick_coreml_where(wick_import_node *n);
void wick_coreml_scale(wick_import_node *n);     /* row->arg: only a bias */
void wick_coreml_fill(wick_import_node *n);      /* row->arg: 0 like, 1 static, 2 dynamic */
void wick_coreml_broadcast(wick_import_node *n); /* row->arg: the same */
void wick_coreml_random(wick_import_node *n);    /* row->arg: the same; row->op: random: normal,
                                                    add: uniform, lt: Bernoulli */
void wick_coreml_range(wick_import_node *n);     /* row->arg: dynamic */
void wick_coreml_constant(wick_import_node *n);  /* row->arg: of rank 5 */

/* window.c */
void wick_coreml_convolution(wick_import_node *n); /* row->arg: 3-D */
void wick_coreml_pooling(wick_import_node *n);     /* row->arg: 3-D */
void wick_coreml_global_pooling(wick_import_node *n);

/* image.c */
void wick_coreml_padding(wick_import_node *n);
void wick_coreml_constant_pad(wick_import_node *n);
void wick_coreml_crop(wick_import_node *n);
void wick_coreml_upsample(wick_import_node *n);
void wick_coreml_resize(wick_import_node *n);
void wick_coreml_crop_resize(wick_import_node *n);
void wick_coreml_reorganize(wick_import_node *n);

/* norm.c */
void wick_coreml_batch_norm(wick_import_node *n);
void wick_coreml_mvn(wick_import_node *n);
void wick_coreml_l2(wick_import_node *n);
void wick_coreml_lrn(wick_import_node *n);
void wick_coreml_layer_norm(wick_import_node *n);
void wick_coreml_softmax(wick_import_node *n); /* row->arg: along axis -3 */

/* matmul.c */
void wick_coreml_inner_product(wick_import_node *n);
void wick_coreml_embedding(wick_import_node *n); /* row->arg: N-dimensional */
void wick_coreml_matmul(wick_import_node *n);
void wick_coreml_dot(wick_import_node *n);

/* shape.c */
void wick_coreml_flatten(wick_import_node *n);
void wick_coreml_reshape(wick_import_node *n);    /* of rank 5 */
void wick_coreml_reshape_to(wick_import_node *n); /* row->arg: 0 like, 1 static, 2 dynamic */
void wick_coreml_flatten_2d(wick_import_node *n);
void wick_coreml_expand_dims(wick_import_node *n);
void wick_coreml_squeeze(wick_import_node *n);
void wick_coreml_permute(wick_import_node *n); /* row->arg: of rank 5 */
void wick_coreml_shape(wick_import_node *n);
void wick_coreml_concat(wick_import_node *n); /* row->arg: N-dimensional */
void wick_coreml_split(wick_import_node *n);  /* row->arg: the same */
void wick_coreml_stack(wick_import_node *n);
void wick_coreml_repeat(wick_import_node *n);
void wick_coreml_tile(wick_import_node *n);

/* slice.c */
void wick_coreml_slice(wick_import_node *n);
void wick_coreml_slice_masked(wick_import_node *n); /* row->arg: dynamic */
void wick_coreml_slice_by_size(wick_import_node *n);
void wick_coreml_reverse(wick_import_node *n);
void wick_coreml_reverse_sequence(wick_import_node *n);
void wick_coreml_sliding_windows(wick_import_node *n);
void wick_coreml_triangular(wick_import_node *n); /* row->arg: upper */
void wick_coreml_band(wick_import_node *n);

/* index.c */
void wick_coreml_gather(wick_import_node *n); /* row->op */
void wick_coreml_gather_nd(wick_import_node *n);
void wick_coreml_scatter(wick_import_node *n); /* row->arg: 0 slices, 1 along an axis, 2 N-D */
void wick_coreml_top_k(wick_import_node *n);
void wick_coreml_arg_sort(wick_import_node *n);
void wick_coreml_arg(wick_import_node *n); /* row->op */
void wick_coreml_one_hot(wick_import_node *n);
void wick_coreml_non_zero(wick_import_node *n);
void wick_coreml_suppress(wick_import_node *n);

/* reduce.c */
void wick_coreml_reduce(wick_import_node *n);    /* CHW */
void wick_coreml_reduce_nd(wick_import_node *n); /* row->op */
void wick_coreml_cumsum(wick_import_node *n);

/* recurrent.c */
void wick_coreml_lstm(wick_import_node *n); /* row->arg: in both directions */
void wick_coreml_gru(wick_import_node *n);
void wick_coreml_simple(wick_import_node *n);

/* flow.c */
/* Imports layers in order; later ones may write a name again. */
void wick_coreml_run(wick_import *c, wick_coreml_messages layers);
void wick_coreml_branch(wick_import_node *n);
void wick_coreml_loop(wick_import_node *n);

#endif
