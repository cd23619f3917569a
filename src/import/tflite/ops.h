/* What the files of operators share. Begin with wick_tflite_at. */
#ifndef WICK_IMPORT_TFLITE_OPS_H
#define WICK_IMPORT_TFLITE_OPS_H

#include "import/tflite/model.h"

/* A resource: a variable or a table of keys and values, by its name. Tensors that are variable are
 * resources, too. */
typedef struct wick_tflite_resource {
  const char *name;
  const wick_tflite_tensor *tensor; /* NULL: one with a handle */
  wick_value state;        /* of a variable that the run assigns: what it is when a run begins */
  wick_value value;        /* of a variable; 0: not assigned yet */
  wick_value keys, values; /* of a table */
} wick_tflite_resource;

/* Shared by all subgraphs of one try. */
typedef struct wick_tflite_run {
  const wick_tflite_model *m;
  wick_list(wick_tflite_resource) resources;
  bool *called_once; /* by subgraph */
  bool first;        /* a subgraph is being imported that is called once: before the first run */
} wick_tflite_run;

/* A subgraph that is being imported; value[tensor] is 0 before it is computed. */
typedef struct wick_tflite_body {
  wick_tflite_run *run;
  const wick_tflite_graph *g;
  wick_value *value;
  wick_value *imaginary; /* by tensor, of complex ones: value is the real part */
  bool *failed;          /* by tensor: its node failed, which was reported */
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
/* The tensors of operand i and of result k; one without a name if it is absent. */
const wick_tflite_tensor *wick_tflite_in(const wick_import_node *n, uint32_t i);
const wick_tflite_tensor *wick_tflite_out(const wick_import_node *n, uint32_t k);
/* Options, by their field's number. */
int64_t wick_tflite_byte(const wick_import_node *n, uint32_t field);
/* The operator of a body of two operands (slices.c): none, if the body is empty. False after an error. */
bool wick_tflite_combines(wick_import_node *n, uint32_t graph, wick_opcode *out);
int64_t wick_tflite_i32(const wick_import_node *n, uint32_t field, int64_t otherwise);
double wick_tflite_f32(const wick_import_node *n, uint32_t field);

/* graph.c: imports a subgraph in place. */
bool wick_tflite_subgraph(wick_import_node *n, uint32_t graph, uint32_t nin, const wick_value *in,
                          uint32_t nout, wick_value *out);

/* complex.c */
bool wick_tflite_is_complex(const wick_tflite_tensor *t);
bool wick_tflite_moves_complex(const char *op); /* does it move elements of any type? */
bool wick_tflite_reads_complex(const char *op); /* does it take both parts? */

/* labels.c: adds the metadata "labels" if the file has labels for an output of that subgraph. */
void wick_tflite_labels(wick_import *c, const wick_tflite_model *m, uint32_t graph);

/* state.c: declares the states, after the inputs. */
void wick_tflite_states(wick_import *c, wick_tflite_run *run);
/* Returns the number of the resource of that name, which is new if there is none; `t`: of a variable
 * tensor. */
uint32_t wick_tflite_resource_of(wick_import *c, wick_tflite_run *run, const char *name,
                                 const wick_tflite_tensor *t);
/* The value of a variable tensor when the nodes of its subgraph begin. */
wick_value wick_tflite_variable(wick_import *c, wick_tflite_run *run, const wick_tflite_tensor *t);
/* Assigns a value to a variable, or to operand i if it is a variable tensor. */
void wick_tflite_assign(wick_import_node *n, uint32_t resource, wick_value v);
void wick_tflite_update(wick_import_node *n, uint32_t i, wick_value v);
/* Says what the states are when the run ends. */
void wick_tflite_states_end(wick_import *c, const wick_tflite_run *run);

/* Fused activations: 0 none, 1 relu, 2 relu_n1_to_1, 3 relu6, 4 tanh, 5 sign bit. */
wick_value wick_tflite_activate(wick_import_node *n, wick_value x, int64_t act);
wick_value wick_tflite_clip(wick_builder *b, wick_value x, double lo, double hi);

/* The tables, sorted by name. */
#define WICK_TFLITE_FAMILY(name) extern const wick_import_op wick_tflite_##name##_ops[];
#include "import/tflite/families.def"
#undef WICK_TFLITE_FAMILY

#endif
