/* ONNX models, opset 1 to 28, as graph functions.
 *
 * What is imported: the main graph with its initializers (external ones too), local functions
 * (expanded where they are called), names of values, locations, metadata. What an operator means in
 * which opset is in the rows of this folder's files. Sequences, optionals and maps at the
 * interface become tensors (ports.c). Sparse constants become dense; sparse inputs and outputs are
 * refused by name. */
#ifndef WICK_IMPORT_ONNX_ONNX_H
#define WICK_IMPORT_ONNX_ONNX_H

#include "import/onnx/tensor.h"
#include "ir/ir.h"

/* Symbolic sizes are at most WICK_ONNX_LARGEST: below what exporters write for "to the end" (10^9).
 */
#define WICK_ONNX_UNRANKED                                                                         \
  "..." /* the one size of a tensor whose rank is open, in descriptions of interfaces: f32[...] */
enum { WICK_ONNX_OPSET = 28, WICK_ONNX_ERRORS = 100, WICK_ONNX_LARGEST = 1 << 29 };

/* The range of a symbolic dimension of the model's inputs, in place of 1 to WICK_ONNX_LARGEST. */
typedef struct wick_onnx_range {
  const char *name; /* as the model has it */
  int64_t lo, hi;   /* equal: the dimension becomes that number */
  int64_t step;     /* above 1: it is lo, lo + step, ... */
} wick_onnx_range;

/* What an input holds, dense. */
typedef struct wick_onnx_content {
  const char *input; /* its name */
  wick_span data;
} wick_onnx_content;

/* What an import cannot take. Equal problems of several nodes are one. */
enum { WICK_ONNX_NAMES = 3, WICK_ONNX_PROBLEMS = 1000, WICK_ONNX_REMARKS = 100 };
typedef struct wick_onnx_problem {
  wick_code code;
  const char *location;              /* "net.onnx: node \"prob\" (Softmax)"; of the first */
  const char *what;                  /* without its place */
  const char *op_type, *domain;      /* of the nodes; "" where it is of no node */
  int64_t opset;                     /* that the model has of that domain; 0: it says none */
  uint32_t count;                    /* nodes */
  const char *node[WICK_ONNX_NAMES]; /* names of the first ones */
} wick_onnx_problem;
typedef struct wick_onnx_problems {
  wick_onnx_problem *at;
  uint32_t n, cap;
  uint32_t more; /* that are not in the list: it is full */
} wick_onnx_problems;

/* An initializer that is an input, too, in a model of IR version 4 or later: a run may give another
 * value. Its shape is that of the input, else of the initializer. */
typedef struct wick_onnx_overridable {
  const char *name;
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];          /* -1: it has a name */
  const char *dim_name[WICK_MAX_RANK]; /* "" where it is a number */
} wick_onnx_overridable;
typedef wick_list(wick_onnx_overridable) wick_onnx_overridables;

/* What is odd in a model that was imported, a line each with its place. */
typedef wick_list(const char *) wick_onnx_remarks;

/* Of an input that the model gives no shape: its shape, where -1 leaves a size open. Of one that is
 * a sequence or an optional: "NAME" has the shape [n], n elements, or [-1], an optional without a
 * value; each element "NAME.K" has its own. */
typedef struct wick_onnx_given_shape {
  const char *input;
  uint32_t rank;
  const int64_t *dim;
} wick_onnx_given_shape;

/* What must be given before a model that was described can be imported; live in `mem`. */
typedef struct wick_onnx_needs {
  const char **content; /* names of inputs whose contents sizes and the like follow from */
  uint32_t ncontent;
  bool shapes; /* of inputs that the model gives none, or how many elements sequences have */
  bool sizes;  /* numbers for symbols */
} wick_onnx_needs;

typedef struct wick_onnx_options {
  wick_files *files;  /* owns the mappings of external data; NULL: external data is refused */
  uint64_t max_nodes; /* after expanding functions; 0: 10,000,000; never more than 100,000 + nbytes
                         / 8 */
  const wick_onnx_range *range;
  uint32_t nrange;
  const wick_onnx_given_shape *shape;
  uint32_t nshape;
  /* Used where sizes and the like follow from what an input holds; then the input is still a
   * parameter, but nobody reads it, and fixed[i] is set for content i. */
  const wick_onnx_content *content;
  uint32_t ncontent;
  bool *fixed;
  /* Not NULL: where the nodes fit together for some sizes or contents of inputs only, which must be
   * given first, there is no failure, but a function of the interface alone, its results 0 in the
   * types that the model declares; then *described is set, and *follows where contents of inputs
   * are wanted, as far as that can be seen. */
  bool *described, *follows;
  /* Not NULL: what is needed, set where *described is, and no model is described but those that
   * lack nothing else; the problems say why. */
  wick_onnx_needs *needs;
  wick_onnx_problems *problems; /* what is wrong, in the order of the file; NULL: not wanted */
  uint32_t noverride;           /* overridable initializers that are parameters, not constants */
  const char *const *override;
  wick_onnx_overridables *overridable; /* out: all of them; NULL: not wanted */
  wick_onnx_remarks *remarks;          /* NULL: not wanted */
  bool loose; /* large data of constants may lie misaligned in the file, until wick_module_align */
} wick_onnx_options;

/* Reads the model in `bytes`, which came from `path`, and sets the function "main" of the module.
 *   bytes    live as long as the module: weights are not copied where alignment allows
 *   path     its base name precedes locations and errors, its folder is searched for
 * external data options  may be NULL mem      of the function; constants and names are the module's
 * Fails with all that it cannot take, a line each, at most WICK_ONNX_ERRORS of them. */
WICK_CHECKED wick_status wick_import_onnx(wick_module *m, wick_span bytes, const char *path,
                                          const wick_onnx_options *options, wick_arena *mem,
                                          wick_arena *tmp, const wick_func **out);

/* What is supported, for lists: row i from 0; false after the last. Rows of one operator follow
 * each other. */
typedef struct wick_onnx_support {
  const char *op_type;
  int since, until; /* opsets, both included */
} wick_onnx_support;
bool wick_onnx_supported(size_t i, wick_onnx_support *out);

/* Activations of recurrent layers by ONNX's names, whatever case a model writes them in, in the
 * order of the rows' words, and how many of alpha and beta each takes; ends without a name. */
typedef struct wick_onnx_act {
  const char *name;
  uint32_t nattr;
} wick_onnx_act;
extern const wick_onnx_act wick_onnx_acts[];

#endif
