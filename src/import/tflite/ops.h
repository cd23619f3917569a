/* What the files of operators share. Begin with wick_tflite_at. */
#ifndef WICK_IMPORT_TFLITE_OPS_H
#define WICK_IMPORT_TFLITE_OPS_H

#include "import/tflite/model.h"

/* A resource: a variable or a table of keys and values, by its name. */
typedef struct wick_tflite_resource {
  const char *name;
  wick_value value;        /* of a variable; 0: not assigned yet */
  wick_value keys, values; /* of a table */
} wick_tflite_resource;

/* Shared by all subgraphs of one try. */
typedef struct wick_tflite_run {
  const wick_tflite_model *m;
  wick_list(wick_tflite_resource) resources;
  bool *called_once; /* by subgraph */
} wick_tflite_run;

/* A subgraph that is being imported; value[tensor] is 0 before it is computed. */
typedef struct wick_tflite_body {
  wick_tflite_run *run;
  const wick_tflite_graph *g;
  wick_value *value;
  bool *failed; /* by tensor: its node failed, which was reported */
} wick_tflite_body;

/* wick_import_node.data of a node. */
typedef struct wick_tflite_at {
  wick_tflite_body *body;
  const wick_tflite_op *op;
} wick_tflite_at;

static inline const wick_tflite_op *wick_tflite_op_of(const wick_import_node *n)
{
  return ((const wick_tflite_at *)n->data)->op;
}
/* The tensors of operand i, which must be present, and of result k. */
const wick_tflite_tensor *wick_tflite_in(const wick_import_node *n, uint32_t i);
const wick_tflite_tensor *wick_tflite_out(const wick_import_node *n, uint32_t k);
/* Options, by their field's number. */
int64_t wick_tflite_byte(const wick_import_node *n, uint32_t field);
int64_t wick_tflite_i32(const wick_import_node *n, uint32_t field, int64_t otherwise);
double wick_tflite_f32(const wick_import_node *n, uint32_t field);

/* graph.c: imports a subgraph in place. */
bool wick_tflite_subgraph(wick_import_node *n, uint32_t graph, uint32_t nin, const wick_value *in,
                          uint32_t nout, wick_value *out);

/* Fused activations: 0 none, 1 relu, 2 relu_n1_to_1, 3 relu6, 4 tanh, 5 sign bit. */
wick_value wick_tflite_activate(wick_import_node *n, wick_value x, int64_t act);
wick_value wick_tflite_clip(wick_builder *b, wick_value x, double lo, double hi);

/* The tables, sorted by name. */
#define WICK_TFLITE_FAMILY(name) extern const wick_import_op wick_tflite_##name##_ops[];
#include "import/tflite/families.def"
#undef WICK_TFLITE_FAMILY

#endif
