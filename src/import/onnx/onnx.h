/* Imports ONNX models, opset 1 to 28, as graph functions.
 *
 * The import includes the main graph with its initializers (external ones too), local functions
 * (expanded at their calls), names of values, locations and metadata. The rows in this folder's
 * files define the meaning of each operator by opset. Sequences, optionals and maps at the
 * interface become tensors (ports.c). Sparse constants become dense; sparse inputs and outputs are
 * errors that name them. */
#ifndef WICK_IMPORT_ONNX_ONNX_H
#define WICK_IMPORT_ONNX_ONNX_H

#include "import/onnx/tensor.h"
#include "ir/ir.h"

/* Symbolic sizes are at most WICK_ONNX_LARGEST, which is below the number that exporters write for
 * "to the end" (10^9). */
#define WICK_ONNX_UNRANKED                                                                         \
  "..." /* the only size of a tensor of unknown rank, in descriptions of interfaces: f32[...] */
enum { WICK_ONNX_OPSET = 28, WICK_ONNX_ERRORS = 100, WICK_ONNX_LARGEST = 1 << 29 };

/* The range of a symbolic dimension of the model's inputs. It replaces 1 to WICK_ONNX_LARGEST. */
typedef struct wick_onnx_range {
  const char *name; /* as in the model */
  int64_t lo, hi;   /* both included; if they are equal, the dimension becomes that number */
  int64_t step;     /* above 1: the sizes are lo, lo + step, ... */
} wick_onnx_range;

/* The contents of an input, dense. */
typedef struct wick_onnx_content {
  const char *input; /* its name */
  wick_span data;
} wick_onnx_content;

/* A reason why the import fails. Equal problems of several nodes are one problem. */
enum { WICK_ONNX_NAMES = 3, WICK_ONNX_PROBLEMS = 1000, WICK_ONNX_REMARKS = 100 };
typedef struct wick_onnx_problem {
  wick_code code;
  const char *location;              /* of the first: "net.onnx: node \"prob\" (Softmax)" */
  const char *what;                  /* the message without its location */
  const char *op_type, *domain;      /* of the nodes; "" if it concerns no node */
  int64_t opset;                     /* the model's opset of that domain; 0: it declares none */
  uint32_t count;                    /* number of nodes */
  const char *node[WICK_ONNX_NAMES]; /* names of the first nodes */
} wick_onnx_problem;
typedef struct wick_onnx_problems {
  wick_onnx_problem *at;
  uint32_t n, cap;
  uint32_t more; /* number of problems after the list was full */
} wick_onnx_problems;

/* An initializer that is also an input, in a model of IR version 4 or later: a run may override its
 * value. It has the input's shape if the model declares one, else the initializer's. */
typedef struct wick_onnx_overridable {
  const char *name;
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];          /* -1: the dimension has a name */
  const char *dim_name[WICK_MAX_RANK]; /* "" if it is a number */
} wick_onnx_overridable;
typedef wick_list(wick_onnx_overridable) wick_onnx_overridables;

/* Remarks about defects of a model that was imported, a line each, with their locations. */
typedef wick_list(const char *) wick_onnx_remarks;

/* The shape of an input for which the model declares none; -1 is a dynamic size. For a sequence or
 * an optional, "NAME" has the shape [n], its number of elements, or [-1], an optional without a
 * value; each element "NAME.K" has its own shape. */
typedef struct wick_onnx_given_shape {
  const char *input;
  uint32_t rank;
  const int64_t *dim;
} wick_onnx_given_shape;

/* The facts that the caller must give before a described model can be imported. Lives in `mem`. */
typedef struct wick_onnx_needs {
  const char **content; /* names of inputs whose contents are needed, for example for sizes */
  uint32_t ncontent;
  bool shapes; /* needs shapes of inputs that have none, or the number of elements of sequences */
  bool sizes;  /* needs numbers for symbols */
} wick_onnx_needs;

typedef struct wick_onnx_options {
  wick_files *files;  /* owns the mappings of external data; NULL: external data is refused */
  uint64_t max_nodes; /* after expanding functions; 0: 10,000,000; never more than 100,000 + nbytes
                         / 8 */
  const wick_onnx_range *range;
  uint32_t nrange;
  const wick_onnx_given_shape *shape;
  uint32_t nshape;
  /* Contents of inputs, used if sizes and the like depend on them. Then the input remains a
   * parameter, but no node reads it, and fixed[i] is set for content i. */
  const wick_onnx_content *content;
  uint32_t ncontent;
  bool *fixed;
  /* If not NULL: a model whose nodes fit together only for some sizes or contents of inputs, which
   * must be given first, is not a failure. It becomes a function that has the interface alone; its
   * results are 0 in the types that the model declares. Then *described is set, and *follows is set
   * if contents of inputs are needed, as far as the import can tell. */
  bool *described, *follows;
  /* If not NULL: set to the missing facts when *described is set. Then only models that lack
     nothing else are described; the problems tell why. */
  wick_onnx_needs *needs;
  wick_onnx_problems *problems; /* out: all problems, in the order of the file; may be NULL */
  uint32_t noverride;           /* overridable initializers that become parameters, not constants */
  const char *const *override;
  wick_onnx_overridables *overridable; /* out: all overridable initializers; may be NULL */
  wick_onnx_remarks *remarks;          /* out; may be NULL */
  struct wick_custom
      *custom; /* functions of the language as operators (lang/lower/custom.h), in the
                                 same module; NULL: none */
  bool loose;  /* large data of constants may be misaligned in the file, until wick_module_align */
} wick_onnx_options;

/* Imports the model in `bytes`, the contents of `path`, and sets the function "main" of the module.
 *   bytes    must live as long as the module: aligned weights are not copied
 *   path     its base name begins locations and errors; external data is searched in its folder
 *   options  may be NULL
 *   mem      owns the function; the module owns constants and names
 * Fails with all errors of the model, a line each, at most WICK_ONNX_ERRORS of them. */
WICK_CHECKED wick_status wick_import_onnx(wick_module *m, wick_span bytes, const char *path,
                                          const wick_onnx_options *options, wick_arena *mem,
                                          wick_arena *tmp, const wick_func **out);

/* Lists the supported operators: returns row i, from 0, or false after the last row. The rows of
 * one operator are consecutive. */
typedef struct wick_onnx_support {
  const char *op_type;
  int since, until; /* opsets, both included */
} wick_onnx_support;
bool wick_onnx_supported(size_t i, wick_onnx_support *out);

/* Activations of recurrent layers, in the order of the operators' words. Names are ONNX's and match
 * in any case. nattr is the number of attributes (alpha, then beta) that an activation has. The
 * last entry has no name. */
typedef struct wick_onnx_act {
  const char *name;
  uint32_t nattr;
} wick_onnx_act;
extern const wick_onnx_act wick_onnx_acts[];

#endif
