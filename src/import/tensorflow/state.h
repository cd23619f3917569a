/* What the files of TensorFlow's importer share: graphs with resolved edges, values, and the state
 * of an import. Begin with wick_tf_graph and wick_tf_value.
 *
 * Nodes are imported on demand, from the outputs that are asked for, in the order of their data and
 * control edges. A node is bound to its values once for each activation of its graph; regions of
 * branches and loops bind nodes again and undo that at their end (wick_tf_mark, wick_tf_rewind). */
#ifndef WICK_IMPORT_TENSORFLOW_STATE_H
#define WICK_IMPORT_TENSORFLOW_STATE_H

#include "import/kit/import.h"
#include "import/tensorflow/checkpoint.h"

/* ---- graphs ---- */

typedef struct wick_tf_edge {
  uint32_t node, output;
} wick_tf_edge;

typedef enum wick_tf_order {
  WICK_TF_EAGER,   /* all operands come first */
  WICK_TF_LAZY,    /* its function imports what it needs: Merge, Exit */
  WICK_TF_IGNORED, /* it computes nothing, and neither do its operands: Assert, NoOp */
  WICK_TF_ORDERED  /* as NoOp: only its control edges matter */
} wick_tf_order;

typedef struct wick_tf_vertex {
  const wick_tf_node *def; /* NULL: an argument of the function */
  const char *name, *op;
  wick_tf_order order;
  uint32_t nin, ncontrol, nout;
  const wick_tf_edge *in;
  const uint32_t *control; /* nodes that are executed before */
  uint32_t constant;       /* of the module, for Const; 0: none yet */
} wick_tf_vertex;

typedef struct wick_tf_graph {
  const char *name;            /* "" for the main graph */
  const wick_tf_function *def; /* NULL for the main graph */
  uint32_t narg, n;            /* the first vertices are the arguments */
  wick_tf_vertex *vertex;
  wick_names names; /* the name of vertex i has the number i + 1 */
  uint32_t nret, ncontrol_ret;
  const wick_tf_edge *ret;
  const uint32_t *control_ret;
  bool *consumed; /* per vertex: another node reads it, or waits for it */
} wick_tf_graph;

/* Resolves the edges of a graph. Adds errors to c and returns NULL if there are any. */
wick_tf_graph *wick_tf_graph_make(wick_import *c, const wick_tf_nodes *nodes,
                                  const wick_tf_function *def);
/* Finds "node", "node:1", or in functions "node:output:1". Returns false if there is none. */
bool wick_tf_edge_find(const wick_tf_graph *g, wick_span text, wick_tf_edge *out);
/* Records that something reads an output, so that its node has it. */
void wick_tf_consume(wick_tf_graph *g, wick_tf_edge e);

/* ---- values ---- */

typedef enum wick_tf_kind {
  WICK_TF_NOTHING,
  WICK_TF_BROKEN, /* its node failed, which was reported */
  WICK_TF_TENSOR,
  WICK_TF_LIST,     /* a list of tensors of one shape, stacked: TensorList, TensorArray */
  WICK_TF_VARIABLE, /* a resource */
  WICK_TF_TABLE,
  WICK_TF_COMPLEX, /* two tensors of f32: numbers of complex64 */
  WICK_TF_TEXT     /* a string that names a file */
} wick_tf_kind;

/* A list's type. The items have the shape of the first one that is stored. */
typedef struct wick_tf_list {
  wick_elem elem;
  wick_dim length;
  bool shaped; /* the shape of an item is known */
  uint32_t rank;
  wick_dim dim[WICK_MAX_RANK];
} wick_tf_list;

/* How a list was made from another by storing one item. Loops that store item after item stack
 * them. */
typedef struct wick_tf_stored {
  wick_value list, index, item;
} wick_tf_stored;

typedef struct wick_tf_value {
  wick_tf_kind kind;
  wick_value im; /* COMPLEX: the imaginary part; v is the real one */
  wick_value v;  /* TENSOR; LIST: [length, item...], or 0 while no item was stored */
  uint32_t at;   /* VARIABLE, TABLE: its index */
  const wick_tf_list *list;
  const wick_tf_stored *stored; /* LIST; NULL: not by storing one item */
  wick_span text;               /* TEXT */
} wick_tf_value;

static inline wick_tf_value wick_tf_tensor_value(wick_value v)
{
  return (wick_tf_value){.kind = v.id ? WICK_TF_TENSOR : WICK_TF_BROKEN, .v = v};
}

/* ---- the import ---- */

/* One activation of a graph: the main graph's, or one for each call of a function. */
typedef struct wick_tf_frame {
  wick_tf_graph *graph;
  wick_tf_value **bound;             /* per vertex: its outputs; NULL: not imported yet */
  bool *open;                        /* per vertex: it waits for its operands */
  const wick_tf_attr_entries *attrs; /* of the call, for attributes that are placeholders */
  const struct wick_tf_loops *loops; /* the loops of version 1; NULL: not sought yet */
} wick_tf_frame;

typedef struct wick_tf_variable {
  const char *name;
  uint32_t constant;     /* its saved value in the module; 0: not read yet */
  wick_value state;      /* of one that the run assigns: what it is when the run begins */
  wick_tf_value current; /* what was assigned; NOTHING: its saved value */
  const char *key;       /* in the checkpoint; NULL: it begins with zero */
} wick_tf_variable;

typedef struct wick_tf_map { /* a hash table */
  const char *name;
  wick_tf_value keys, values; /* NOTHING: it was not initialized */
} wick_tf_map;

typedef struct wick_tf_bound { /* a binding to undo */
  wick_tf_frame *frame;
  uint32_t vertex;
  wick_tf_value *before;
} wick_tf_bound;

typedef struct wick_tf {
  const wick_tf_graph_def *def;
  const wick_tf_meta_graph *meta; /* of a SavedModel; NULL: a GraphDef */
  const wick_tf_signature *signature;
  wick_tf_checkpoint *checkpoint; /* NULL: there is none */
  const char *folder;             /* of a SavedModel */
  wick_tf_graph *main;
  wick_names functions;                /* of the library */
  wick_list(wick_tf_graph *) function; /* by the name's number; NULL: not resolved yet */
  wick_list(const wick_tf_function *) function_def; /* by the name's number */
  wick_list(wick_tf_variable) variables;
  wick_list(wick_tf_map) tables;
  wick_list(wick_tf_bound) trail;
  wick_names keys;             /* variables of the restore function: the name of a handle */
  wick_list(const char *) key; /* by the handle's number: the tensor in the checkpoint */
} wick_tf;

static inline wick_tf *wick_tf_of(const wick_import *c) { return c->model; }

/* The node that is being imported; wick_import_node.data points to it. */
typedef struct wick_tf_op {
  wick_tf_frame *frame;
  const wick_tf_vertex *vertex;
  const wick_tf_value *in;
  wick_tf_value *out; /* set for results that are no tensors */
} wick_tf_op;

static inline const wick_tf_op *wick_tf_op_of(const wick_import_node *n) { return n->data; }

/* Imports an operator that has complex operands and treats both parts alike, once for each part; fails
 * for one that takes no complex numbers. Returns false if there are none, or the operator's own row
 * takes them (ops_complex.c). */
bool wick_tf_complex_run(wick_import *c, const char *op, const wick_tf_op *o, wick_value *plain,
                         bool broken, wick_value *out);

/* Casts from or to complex numbers, and constants of them. Return false if there are none. */
bool wick_tf_complex_cast(wick_import_node *n);
bool wick_tf_complex_const(wick_import_node *n, const wick_tf_tensor *t);

/* ---- evaluation (eval.c) ---- */

wick_tf_frame *wick_tf_frame_make(wick_import *c, wick_tf_graph *g);
/* Binds a vertex to its values. */
void wick_tf_bind(wick_import *c, wick_tf_frame *f, uint32_t vertex, const wick_tf_value *values);
/* Imports what an edge needs, and returns its value; BROKEN after an error. */
wick_tf_value wick_tf_eval(wick_import *c, wick_tf_frame *f, wick_tf_edge edge);
void wick_tf_run(wick_import *c, wick_tf_frame *f, uint32_t vertex); /* the same for all outputs */
/* Calls a function. out has `nout` entries. Returns false after an error. */
bool wick_tf_call(wick_import_node *n, const wick_tf_name_attrs *function, uint32_t nin,
                  const wick_tf_value *in, uint32_t nout, wick_tf_value *out);
/* Resolves a function of the library. NULL if there is none, or after an error, which was
 * reported. */
wick_tf_graph *wick_tf_function_find(wick_import *c, wick_span name, bool *out_known);
static inline uint32_t wick_tf_mark(const wick_import *c) { return wick_tf_of(c)->trail.n; }
void wick_tf_rewind(wick_import *c, uint32_t mark);

/* ---- attributes (attr.c) ---- */

const wick_tf_attr *wick_tf_attr_find(const wick_import_node *n, const char *name); /* or NULL */
wick_import_attr wick_tf_attr_of(const wick_import_node *n, const char *name, char kind);
/* The element type of an attribute. Returns false after a failure. */
bool wick_tf_attr_elem(wick_import_node *n, const char *name, wick_elem *out);
/* The same for an attribute with a default, which SavedModels leave out. */
bool wick_tf_attr_elem_or(wick_import_node *n, const char *name, wick_elem otherwise,
                          wick_elem *out);
bool wick_tf_elem(int64_t dtype, wick_elem *out);
const char *wick_tf_elem_name(int64_t dtype, wick_arena *mem);

/* ---- tensors (tensor.c) ---- */

/* Builds a constant of a tensor of the file. Returns 0 after an error. `*constant` is its number in
 * the module, if it was built before. */
wick_value wick_tf_constant(wick_import *c, const wick_tf_tensor *t, const char *name,
                            const char *location, uint32_t *constant);

/* ---- lists (list.c) ---- */

/* The items of a list, which are zeros while none was stored. Returns 0 if their shape is not
 * known. */
wick_value wick_tf_list_items(wick_import *c, const wick_tf_value *list);
/* A list of that length whose items are like those of `v`, [length, item...]. */
wick_tf_value wick_tf_list_of(wick_import *c, wick_value v);

/* ---- indices (ops_index.c) ---- */

/* x with updates at tuples of indices. how: 0 set, 1 add, 2 multiply, 3 max, 4 min, 5 subtract. */
wick_value wick_tf_scatter(wick_import_node *n, wick_value x, wick_value index, wick_value update,
                           int how);

/* ---- variables (variable.c) ---- */

void wick_tf_restore_keys(wick_import *c);
void wick_tf_initialize(wick_import *c, wick_tf_frame *f);
/* Declares the variables that an earlier try has found to be assigned, and says at the end what they
 * are then. */
void wick_tf_states(wick_import *c);
void wick_tf_states_end(wick_import *c);
/* The value of a variable now. BROKEN after a failure. */
wick_tf_value wick_tf_variable_value(wick_import_node *n, uint32_t variable);
/* The counter of the node, u64[1], which a session keeps; it begins with 0, and is then `more` (i64[1] or i64[])
 * larger. */
wick_value wick_tf_counter(wick_import_node *n, wick_value more);

/* ---- the table (rows.c) ---- */

extern const wick_import_op wick_tf_ops[];
extern const wick_import_format wick_tf_format; /* of graphs; SavedModels have the same operators */
const wick_import_op *wick_tf_row_find(const char *op);

#endif
