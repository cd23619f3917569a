/* Models: a file, its module, and how shapes of inputs close its open sizes. */
#ifndef WICK_DRIVER_MODEL_H
#define WICK_DRIVER_MODEL_H

#include "base/file.h"
#include "base/reader.h"
#include "ir/ir.h"
#include "runtime/context.h"

typedef struct wick_derivative { /* what wick_grad was asked for */
  const char *of;
  uint32_t nwrt;
  const char *const *wrt;
  bool cotangent;
} wick_derivative;

struct wick_model {
  wick_context *context;
  wick_guard guard; /* of all memory below */
  wick_arena mem, tmp;
  wick_files files; /* the model's, and those that it names */
  const char *path;
  wick_span bytes;
  wick_module *module;
  const wick_func *main; /* as imported, sizes open */
  bool spent; /* a compilation has taken the module: its functions are not the model's any more */
  bool described; /* `main` is the interface alone: sizes or contents must be given first */
  bool follows;   /* sizes are known to follow from contents of inputs */
  uint32_t ninput, noutput;
  const wick_io *io; /* inputs, then outputs */
  uint32_t noverridable;
  const wick_io *overridable;
  uint32_t noverride; /* of the overridable initializers: those that are inputs now */
  const char *const *override;
  wick_list(wick_derivative) derivatives; /* that the model has been given, in order */
};

typedef struct wick_given { /* of what is open in a model */
  uint32_t nsize;
  const wick_size *sizes;
  uint32_t ncontent;
  const wick_content *contents;
  uint32_t nlist; /* of inputs that are sequences or optionals, and of their elements */
  const wick_shape *list;
  bool *fixed; /* out, by content: it was used */
  uint32_t nrange;
  const wick_size_range *ranges; /* of sizes that stay open */
  bool vary;                     /* so do those that nothing is said of */
} wick_given;

/* The file is a module in Wick's text, and no protobuf. */
bool wick_model_is_text(wick_span bytes);
/* Parses a module in Wick's text. Its graph is the function "main", else the first graph function;
 * fails with WICK_EPARSE where there is none. */
WICK_CHECKED wick_status wick_model_parse(wick_module *m, const char *path, wick_span bytes,
                                          wick_arena *tmp, const wick_func **out_main);

/* Reads the model in `bytes` (ONNX or text, by what is in it) into a new module, with some of what
 * is open given, and differentiates it as it was asked to. Functions live in `mem`. */
WICK_CHECKED wick_status wick_model_import(wick_model *m, const wick_given *given,
                                           wick_module *module, wick_arena *mem, wick_arena *tmp,
                                           const wick_func **out_main);

/* The open sizes that shapes of the inputs and sizes give; `out_sizes` lives in `mem`. Fails with
 * WICK_ETYPE for an input that does not exist, a shape that is not the input's, two values of one
 * size; WICK_EINVAL for a size that the model does not have. */
WICK_CHECKED wick_status wick_model_sizes(const wick_model *m, uint32_t nshape,
                                          const wick_shape *shape, uint32_t nsize,
                                          const wick_size *sizes, wick_arena *mem, wick_given *out);
/* Adds ranges of sizes that stay open. Fails with WICK_EINVAL for a size that the model does not
 * have, or that is given, too, and for a range without values. */
WICK_CHECKED wick_status wick_model_ranges(const wick_model *m, uint32_t n,
                                           const wick_size_range *ranges, bool vary,
                                           wick_arena *mem, wick_given *given);
/* Adds contents of inputs, which live as long as *given. Fails with WICK_ETYPE for an input that
 * does not exist. */
WICK_CHECKED wick_status wick_model_contents(const wick_model *m, uint32_t n,
                                             const wick_content *contents, wick_arena *mem,
                                             wick_given *given);

/* derivative.c: `f` with these derivatives as further results, set in its module. */
WICK_CHECKED wick_status wick_model_derive(const wick_model *m, const wick_derivative *d,
                                           const wick_func *f, wick_arena *mem,
                                           const wick_func **out);

/* Inputs or outputs of `f`; dim -1 where a size is open. */
void wick_model_describe(const wick_func *f, wick_arena *mem, uint32_t *out_ninput,
                         uint32_t *out_noutput, const wick_io **out_io);

/* "f32[N,3,224,224]" */
const char *wick_io_text(const wick_io *io, wick_arena *mem);

#endif
