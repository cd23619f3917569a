/* What the files of ML programs share: values, scopes, and the state of an import. Begin with
 * wick_coreml_program in program.c.
 *
 * A program has functions; a function has a block for its opset; a block has operations in order.
 * Arguments are bound by name to results before them, or to values in place. The argument that a
 * row of the table declares with the kind v, "x:v! weight:v!", is an operand: n->in[k] is the k-th
 * of them. Those of other kinds must be known; they are read as attributes. V, the last one, stands
 * for any number of operands. */
#ifndef WICK_IMPORT_COREML_PROGRAM_STATE_H
#define WICK_IMPORT_COREML_PROGRAM_STATE_H

#include "import/coreml/program.h"
#include "import/coreml/program/proto.h"

/* ---- values ---- */

typedef enum wick_mil_kind {
  WICK_MIL_BROKEN, /* its operation failed, which was reported */
  WICK_MIL_TENSOR,
  WICK_MIL_TEXT, /* a constant of strings: one, or a list */
  WICK_MIL_LIST, /* a list of tensors of one shape, stacked */
  WICK_MIL_STATE
} wick_mil_kind;

typedef struct wick_mil_list_info {
  wick_elem elem;
  bool grows, shaped; /* shaped: the shape of an item is known */
  int64_t length;     /* while no item was written */
  uint32_t rank;
  wick_dim dim[WICK_MAX_RANK];
} wick_mil_list_info;

typedef struct wick_mil_item { /* what a name is bound to */
  wick_mil_kind kind;
  wick_value v;   /* TENSOR; LIST: [length, item...], or 0 if the shape of an item is not known */
  uint32_t state; /* STATE: its index in wick_mil */
  uint32_t ntext;
  const wick_span *text;          /* TEXT */
  const wick_mil_list_info *list; /* LIST */
} wick_mil_item;

static inline wick_mil_item wick_mil_tensor_item(wick_value v)
{
  return (wick_mil_item){.kind = v.id ? WICK_MIL_TENSOR : WICK_MIL_BROKEN, .v = v};
}

typedef struct wick_mil_scope wick_mil_scope;
struct wick_mil_scope {
  wick_names names;
  wick_list(wick_mil_item) items; /* by name */
  wick_mil_scope *around;
};

/* ---- operations ---- */

typedef struct wick_mil_arg {
  wick_span name;
  uint32_t n;
  wick_mil_item *item;
} wick_mil_arg;

/* The operation that is being imported; wick_import_node.data points to it. */
typedef struct wick_mil_op {
  const wick_mil_operation *def;
  uint32_t narg;
  const wick_mil_arg *arg;
  wick_mil_item *out; /* set for results that are no tensors */
} wick_mil_op;

static inline const wick_mil_op *wick_mil_op_of(const wick_import_node *n) { return n->data; }

/* Finds an argument by its name. NULL: it is absent. */
const wick_mil_arg *wick_mil_arg_find(const wick_import_node *n, const char *name);

/* ---- the import ---- */

typedef struct wick_mil_variable { /* a state */
  wick_value first, now;           /* when the run begins; after the operations so far */
  bool written;
} wick_mil_variable;

typedef struct wick_mil { /* c->model while a program is imported */
  const wick_coreml_model *model;
  const wick_mil_function *function;
  const wick_mil_block *block; /* of the function */
  int opset;                   /* 5: iOS 15, and so on */
  wick_mil_scope *scope;
  wick_list(wick_mil_variable) states;
} wick_mil;

static inline wick_mil *wick_mil_of(const wick_import *c) { return c->model; }

/* Makes a new scope current, around which the present one is, and returns that. */
wick_mil_scope *wick_mil_enter(wick_import *c);
/* Binds a name in the current scope; it must be free there. */
void wick_mil_bind(wick_import *c, wick_span name, wick_mil_item item, const char *location);

/* Imports the operations of a block in a scope of its own, with its inputs bound to `in`. Sets the
 * items of its outputs. Returns false after an error. */
bool wick_mil_block_run(wick_import *c, const wick_mil_block *block, uint32_t nin,
                        const wick_mil_item *in, uint32_t nout, wick_mil_item *out);

/* The element type of tensors of that type: numbers of few bits are bytes. Returns false if there is
 * none. */
bool wick_mil_elem(int64_t dtype, wick_elem *out);

/* ---- values.c ---- */

/* Builds a constant value. BROKEN after an error, which was added at `location`. */
wick_mil_item wick_mil_constant(wick_import *c, const wick_mil_value *v, const char *name,
                                const char *location);
/* Reads an attribute; see wick_import_format. */
wick_import_attr wick_mil_attr_of(const wick_import_node *n, const char *name, char kind);

/* ---- blob.c ---- */

/* Finds the data of a blob: nbytes after the metadata at its offset. `type` is the number of the
 * element type that the file must state. Returns false after an error, which was added at
 * `location`. */
bool wick_mil_blob_read(wick_import *c, const wick_mil_blob *blob, uint32_t type, uint64_t nbytes,
                        const char *location, wick_span *out);

/* ---- rows.c ---- */

extern const wick_import_op wick_mil_ops[];

#endif
