/* Declarations that the files of the importer share. */
#ifndef WICK_IMPORT_KERAS_MODEL_H
#define WICK_IMPORT_KERAS_MODEL_H

#include "import/hdf5/hdf5.h"
#include "import/json.h"
#include "import/kit/import.h"
#include "import/zip.h"

typedef struct keras_layer keras_layer;

/* A weight of a layer. */
typedef struct keras_weight {
  const char *name;  /* of the specification: "kernel", "query_dense/bias" */
  const char *child; /* the part before the last slash; "" */
  uint32_t index;    /* among the weights of that child */
  bool trainable;
  bool named; /* stored under its own name, in archives alone */
  bool found;
  wick_hdf5_array array;
  wick_value made; /* its value in the import's try of that number */
  uint32_t made_in;
  const char *bfloat; /* "bfloat16" and the like, where the file says so beside opaque bytes */
} keras_weight;

/* A layer, or an operation of keras.ops, with its children: layers of a model, the layer of a
 * wrapper, cells. */
struct keras_layer {
  const char *name;
  const char *op; /* its row: the class, "ops.NAME" for operations, "tf.NAME" for Keras 2's */
  const wick_json *json, *config;
  const char *path; /* of its weights in model.weights.h5 */
  bool frozen;      /* it is not trainable, or within one that is not */
  wick_list(keras_weight) weights;
  wick_list(keras_layer *) children;
  bool model; /* Sequential or Functional */
};

enum { KERAS_LAYERS = 100000 };
typedef struct keras_model {
  keras_layer *root;
  uint32_t nlayer; /* at most KERAS_LAYERS */
  uint32_t tries;  /* of building the graph */
  const wick_json *config;
  wick_hdf5 *weights;      /* of a file without shards */
  bool old;                /* legacy HDF5: weights in order */
  bool second;             /* Keras 2 */
  const wick_json *shards; /* weight_map of sharded weights; NULL: none */
  wick_list(struct keras_shard {
    const char *name;
    wick_hdf5 *f;
  }) shard;
  wick_zip zip;
} keras_model;

/* A tensor with the mask that goes with it; the mask's id is 0 if there is none. */
typedef struct keras_tensor {
  wick_value v, mask;
} keras_tensor;

/* An argument of a call. */
typedef enum keras_arg_kind {
  KERAS_NOTHING, /* absent, or None */
  KERAS_TENSOR,
  KERAS_CONST, /* json: a number, a string or a truth value */
  KERAS_LIST
} keras_arg_kind;
typedef struct keras_arg keras_arg;
struct keras_arg {
  keras_arg_kind kind;
  const char *key; /* of a keyword argument; NULL: positional */
  keras_tensor t;
  const wick_json *json;
  uint32_t n; /* of a list */
  keras_arg *item;
};

/* A call: what a row finds in n->data. n->in[] are all tensors among its arguments, in order. */
typedef struct keras_call {
  keras_layer *layer;
  uint32_t narg;
  keras_arg *arg;
  wick_value mask; /* that the layer sees: of the first tensor, or an argument */
  /* out: the mask of the result; at first that of the first tensor, or 0 if the layer drops it */
  wick_value *out_mask;
  bool in_order; /* of a recurrent layer that goes backwards: results in the input's order */
} keras_call;

/* ---- model.c ---- */
wick_status keras_open(wick_import *c, wick_span bytes);
const char *keras_text(wick_import *c, const wick_json *j, const char *otherwise);
/* Returns a member of the layer's configuration that is not null; NULL: there is none. */
const wick_json *keras_config(const keras_layer *l, const char *name);
/* Makes the tree of a layer from its configuration. */
keras_layer *keras_layer_make(wick_import *c, const wick_json *json, const char *path, bool frozen);

/* ---- weights.c ---- */
void keras_weights_list(wick_import *c, keras_layer *l);
wick_status keras_weights_read(wick_import *c, keras_model *m);
/* Returns a weight as a constant in the type of the computation; 0 and an error if it is missing. */
wick_value keras_weight_get(wick_import_node *n, const char *name);
bool keras_weight_has(const wick_import_node *n, const char *name);
/* A weight of whole numbers, as floats; one of bytes that hold two numbers of 4 bits each, as those. */
wick_value keras_weight_number(wick_import_node *n, const char *name);
wick_value keras_weight_packed(wick_import_node *n, const char *name);

/* ---- quantized.c ---- */
/* The mode in which a layer's policy quantizes its weights; NULL: it does not. */
const char *keras_quantized_mode(wick_import *c, const keras_layer *l);
/* The specification of the weights with that mode; NULL: they are those of the class. */
const char *keras_quantized_weights(wick_import *c, const keras_layer *l);
/* The mode, if it is not supported. */
const char *keras_quantized_refused(wick_import *c, const keras_layer *l);
/* What a quantized layer multiplies: its input, its kernel, and what divides the product (0: nothing). */
typedef struct keras_product {
  wick_value x, kernel, divisor;
} keras_product;
keras_product keras_quantized_dense(wick_import_node *n);
keras_product keras_quantized_einsum(wick_import_node *n, const char *equation);
wick_value keras_quantized_embeddings(wick_import_node *n);

/* ---- graph.c ---- */
enum { KERAS_MOST = 64, KERAS_DEPTH = 32 }; /* results of a call; models within models */
void keras_graph(wick_import *c);
/* Calls a layer. Sets out[0 .. most), returns their number; 0 after an error. */
uint32_t keras_call_layer(wick_import *c, keras_layer *l, uint32_t narg, keras_arg *arg,
                          keras_tensor *out, uint32_t most);
/* The same for one tensor and one result. */
keras_tensor keras_call1(wick_import *c, keras_layer *l, keras_tensor x);
keras_arg keras_tensor_arg(keras_tensor t);

/* ---- call.c ---- */
wick_import_attr keras_attr(const wick_import_node *n, const char *name, char kind);
const keras_call *keras_of(const wick_import_node *n);
/* An argument by its position or its name; KERAS_NOTHING if it is absent. */
const keras_arg *keras_argument(const wick_import_node *n, uint32_t position, const char *name);
/* A number of the configuration, or an argument of a Keras 2 function; the configuration is first. */
bool keras_is_true(const wick_import_node *n, const char *name, bool otherwise);
/* Reads whole numbers: one for all of `count` axes, or one for each. */
bool keras_sizes(wick_import_node *n, const char *name, uint32_t count, int64_t otherwise,
                 int64_t *out);
/* Whether a size is a number; adds a failure if not. */
bool keras_known(wick_import_node *n, const char *what, wick_dim d);
/* An axis of the configuration, not negative. */
bool keras_axis(wick_import_node *n, const char *name, int64_t otherwise, uint32_t rank,
                uint32_t *out);
/* Axes: a number, a list, or none (all axes). Returns how many. */
bool keras_axes(wick_import_node *n, const char *name, uint32_t rank, uint32_t *out_n,
                int64_t *out);
/* An argument as a value; constants take the element type of `like`, or f32 and i32 if its id is
 * 0. */
wick_value keras_value(wick_import_node *n, const keras_arg *a, wick_value like);
/* The same for nested lists of numbers in the configuration. */
wick_value keras_json_value(wick_import_node *n, const wick_json *j, wick_value like);
/* Applies an activation: a name, or a layer's configuration. NULL and "linear" are none. */
wick_value keras_activate(wick_import_node *n, const wick_json *activation, wick_value x);
wick_value keras_activate_named(wick_import_node *n, const char *name, const wick_json *config,
                                wick_value x);
wick_elem keras_elem(const char *name, wick_elem otherwise);
/* The element type in which the layer computes floats. */
wick_elem keras_compute(const wick_import_node *n);
/* The type that the layer's policy names, integers too. */
wick_elem keras_declared(wick_import *c, const keras_layer *l);
wick_elem keras_policy(wick_import *c, const keras_layer *l);
uint32_t keras_rank(const wick_import_node *n, wick_value v);
const wick_dim *keras_dims(const wick_import_node *n, wick_value v);
wick_elem keras_elem_of(const wick_import_node *n, wick_value v);
/* Whether channels are the last axis: data_format, which is the last one by default. */
bool keras_channels_last(wick_import_node *n);
/* Moves the channels from the last axis to axis 1, and back. Returns x if they are there already. */
wick_value keras_channels_first(wick_import_node *n, wick_value x, bool last);
wick_value keras_channels_back(wick_import_node *n, wick_value x, bool last);
/* v [C] so that it broadcasts along an axis of a tensor of that rank. */
wick_value keras_along(wick_import_node *n, wick_value v, uint32_t axis, uint32_t rank);
/* The element type of results of two operands. */
wick_elem keras_common(wick_elem a, wick_elem b);
/* Binary operators with operands of the same element type: floats win, then the wider one. */
wick_value keras_op2(wick_import_node *n, wick_opcode op, wick_value x, wick_value y);
wick_value keras_by(wick_import_node *n, wick_opcode op, wick_value x, double number);
wick_value keras_reverse(wick_import_node *n, wick_value x, uint32_t axis);
/* A float of at least 32 bits. */
wick_value keras_wide(wick_import_node *n, wick_value x);

extern const wick_import_op keras_ops[];
extern const wick_import_format keras_format;
/* Whether masks pass through a layer of that row. */
bool keras_passes_masks(const char *op);

#endif
