/* A TensorFlow Lite model as it is in the file: its subgraphs, tensors and operators.
 *
 * Reading checks every index and size, so that the import can use them as they are. */
#ifndef WICK_IMPORT_TFLITE_MODEL_H
#define WICK_IMPORT_TFLITE_MODEL_H

#include "import/kit/import.h"
#include "import/tflite/flat.h"
#include "import/tflite/names.h"

/* The types of tensors: their numbers in the schema. */
enum { WICK_TFLITE_RESOURCE = 13, WICK_TFLITE_VARIANT = 14 };

/* How the numbers of a tensor stand for reals: real = scale * (number - zero). n is 0 if they do
 * not: then there are the scale 1 and the zero point 0. */
typedef struct wick_tflite_quant {
  uint32_t n, axis;    /* n: 1, or one for each slice along the axis */
  const double *scale; /* values of f32 */
  const int64_t *zero;
  /* 0, or how many numbers along the last axis share a scale: there are as many scales as rows have
   * blocks in all, and no zero points. Only the weights of FULLY_CONNECTED are quantized so. */
  uint32_t block;
} wick_tflite_quant;

typedef struct wick_tflite_tensor {
  const char *name; /* not empty; another than those of the subgraph's other tensors */
  int type;         /* in the schema */
  wick_elem elem;   /* of resources and variants: i64, a number */
  uint32_t rank;
  const int64_t *dim; /* -1: open */
  bool variable;
  bool constant; /* `data` has its elements */
  wick_span data;
  wick_tflite_quant quant;
  wick_flat sparsity;
} wick_tflite_tensor;

typedef struct wick_tflite_op {
  const char *name; /* "CONV_2D"; of a custom operator, its own */
  int version;
  uint32_t nin, nout, nintermediate;
  const int32_t *in, *out, *intermediate; /* tensors; -1: absent */
  wick_flat options, options2;
  wick_span custom; /* options of a custom operator */
  bool is_custom;
} wick_tflite_op;

typedef struct wick_tflite_graph {
  const char *name;
  uint32_t ntensor, nop, nin, nout;
  const wick_tflite_tensor *tensor;
  const wick_tflite_op *op;
  const int32_t *in, *out;
} wick_tflite_graph;

typedef struct wick_tflite_model {
  wick_flat_file file;
  wick_flat root;
  const char *location; /* the file, for messages */
  uint32_t ngraph, nbuffer;
  const wick_tflite_graph *graph;
  const wick_span *buffer;
} wick_tflite_model;

/* Reads the whole structure; c->model becomes the model. */
wick_status wick_tflite_open(wick_import *c, wick_span bytes);

/* sparse.c: the dense elements of a sparse constant. Returns an empty span after an error. */
wick_span wick_tflite_densify(wick_import *c, const wick_tflite_tensor *t, const char *location);

#endif
