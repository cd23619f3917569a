/* A symbol of MXNet: nodes in order, each with its attributes as texts. Sources: nnvm's Graph JSON, and
 * src/ndarray/ndarray.cc of MXNet 1.9 for files of parameters. */
#ifndef WICK_IMPORT_MXNET_SYMBOL_H
#define WICK_IMPORT_MXNET_SYMBOL_H

#include "import/json.h"
#include "import/kit/import.h"

typedef struct mxnet_param {
  const char *name; /* without "arg:" and "aux:" */
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  wick_span data;
} mxnet_param;

typedef struct mxnet_node {
  const char *op, *name;
  const wick_json *attrs; /* NULL: none */
  const wick_json *inputs;
} mxnet_node;

typedef struct mxnet_model {
  const mxnet_node *node;
  uint32_t nnode;
  const wick_json *heads;
  wick_list(mxnet_param) params;
  wick_names names;    /* of params */
  const char *weights; /* the file's path; NULL: there is none */
} mxnet_model;

/* The operators, sorted by name (table.c). */
extern const wick_import_op wick_mxnet_ops[], wick_mxnet_numpy_ops[];
extern const wick_import_format wick_mxnet_format;

/* params.c: reads a file of parameters into the model. */
WICK_CHECKED wick_status wick_mxnet_params(wick_import *c, mxnet_model *m, wick_span bytes,
                                           const char *path);
/* attr.c: an attribute, which is a text, as the kind that is asked for. */
wick_import_attr wick_mxnet_attr(const wick_import_node *n, const char *name, char kind);
/* Element types by mshadow's numbers, or by NumPy's names; false: it is none. */
bool wick_mxnet_elem(int64_t type, wick_elem *out);
bool wick_mxnet_elem_named(const char *name, wick_elem *out);

#endif
