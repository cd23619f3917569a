/* What callers of an import give, and what they get besides the function. All importers take these
 * options. */
#ifndef WICK_IMPORT_KIT_OPTIONS_H
#define WICK_IMPORT_KIT_OPTIONS_H

#include "base/file.h"
#include "base/reader.h"
#include "ir/ir.h"

/* Symbolic sizes are at most WICK_IMPORT_LARGEST, which is below the number that exporters write for
 * "to the end" (10^9). */
#define WICK_IMPORT_UNRANKED                                                                       \
  "..." /* the only size of a tensor of unknown rank, in descriptions of interfaces: f32[...] */
enum { WICK_IMPORT_ERRORS = 100, WICK_IMPORT_LARGEST = 1 << 29 };

/* The range of a symbolic dimension of the model's inputs. It replaces 1 to WICK_IMPORT_LARGEST. */
typedef struct wick_import_range {
  const char *name; /* as in the model */
  int64_t lo, hi;   /* both included; if they are equal, the dimension becomes that number */
  int64_t step;     /* above 1: the sizes are lo, lo + step, ... */
} wick_import_range;

/* The contents of an input, dense. */
typedef struct wick_import_content {
  const char *input; /* its name */
  wick_span data;
} wick_import_content;

/* A reason why the import fails. Equal problems of several nodes are one problem. */
enum { WICK_IMPORT_NAMES = 3, WICK_IMPORT_PROBLEMS = 1000, WICK_IMPORT_REMARKS = 100 };
typedef struct wick_import_problem {
  wick_code code;
  const char *location;         /* of the first: "net.onnx: node \"prob\" (Softmax)" */
  const char *what;             /* the message without its location */
  const char *op_type, *domain; /* of the nodes; "" if it concerns no node. Formats without domains
                                   have their own name as domain */
  const char *word;             /* of the next number: "opset", "version" */
  int64_t opset;                /* the model's opset of that domain; 0: it declares none */
  uint32_t count;               /* number of nodes */
  const char *node[WICK_IMPORT_NAMES]; /* names of the first nodes */
} wick_import_problem;
typedef struct wick_import_problems {
  wick_import_problem *at;
  uint32_t n, cap;
  uint32_t more; /* number of problems after the list was full */
} wick_import_problems;

/* problem.c: adds a failure to the list. `p` has the operator and its domain; the location and the
 * message come from `s`, whose message begins with `location`. `node` is the node's name, or
 * NULL. */
void wick_import_problem_add(wick_import_problems *list, wick_status s, const char *location,
                             wick_import_problem p, const char *node, wick_arena *mem);

/* An initializer that is also an input, in a model of IR version 4 or later: a run may override its
 * value. It has the input's shape if the model declares one, else the initializer's. */
typedef struct wick_import_overridable {
  const char *name;
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];          /* -1: the dimension has a name */
  const char *dim_name[WICK_MAX_RANK]; /* "" if it is a number */
} wick_import_overridable;
typedef wick_list(wick_import_overridable) wick_import_overridables;

/* Remarks about defects of a model that was imported, a line each, with their locations. */
typedef wick_list(const char *) wick_import_remarks;

/* The shape of an input for which the model declares none; -1 is a dynamic size. For a sequence or
 * an optional, "NAME" has the shape [n], its number of elements, or [-1], an optional without a
 * value; each element "NAME.K" has its own shape. */
typedef struct wick_import_shape {
  const char *input;
  uint32_t rank;
  const int64_t *dim;
} wick_import_shape;

/* The facts that the caller must give before a described model can be imported. Lives in `mem`. */
typedef struct wick_import_needs {
  const char **content; /* names of inputs whose contents are needed, for example for sizes */
  uint32_t ncontent;
  bool shapes; /* needs shapes of inputs that have none, or the number of elements of sequences */
  bool sizes;  /* needs numbers for symbols */
} wick_import_needs;

typedef struct wick_import_options {
  wick_files *files;  /* owns the mappings of external data; NULL: external data is refused */
  uint64_t max_nodes; /* after expanding functions; 0: 10,000,000; never more than 100,000 + nbytes
                         / 8 */
  const wick_import_range *range;
  uint32_t nrange;
  const wick_import_shape *shape;
  uint32_t nshape;
  /* Contents of inputs, used if sizes and the like depend on them. Then the input remains a
   * parameter, but no node reads it, and fixed[i] is set for content i. */
  const wick_import_content *content;
  uint32_t ncontent;
  bool *fixed;
  /* If not NULL: a model whose nodes fit together only for some sizes or contents of inputs, which
   * must be given first, is not a failure. It becomes a function that has the interface alone; its
   * results are 0 in the types that the model declares. Then *described is set, and *follows is set
   * if contents of inputs are needed, as far as the import can tell. */
  bool *described, *follows;
  /* If not NULL: set to the missing facts when *described is set. Then only models that lack
     nothing else are described; the problems tell why. */
  wick_import_needs *needs;
  wick_import_problems *problems; /* out: all problems, in the order of the file; may be NULL */
  uint32_t noverride; /* overridable initializers that become parameters, not constants */
  const char *const *override;
  wick_import_overridables *overridable; /* out: all overridable initializers; may be NULL */
  wick_import_remarks *remarks;          /* out; may be NULL */
  struct wick_custom
      *custom;       /* functions of the language as operators (lang/lower/custom.h), in the
                                 same module; NULL: none */
  const char *entry; /* the signature or function that is imported; NULL: the usual one */
  bool loose; /* large data of constants may be misaligned in the file, until wick_module_align */
} wick_import_options;

/* Imports a model and sets the function "main" of the module.
 *   bytes    the model's file; must live as long as the module: aligned weights are not copied. NULL
 *            for a folder
 *   path     its base name begins locations and errors; other files of the model are searched in its
 *            folder
 *   options  may be NULL
 *   mem      owns the function; the module owns constants and names
 * Fails with all errors of the model, a line each, at most WICK_IMPORT_ERRORS of them. */
typedef wick_status wick_import_read(wick_module *m, wick_span bytes, const char *path,
                                     const wick_import_options *options, wick_arena *mem,
                                     wick_arena *tmp, const wick_func **out);

#endif
