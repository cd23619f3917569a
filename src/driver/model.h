/* Models: a file, its module, and how shapes of inputs give its dynamic sizes. */
#ifndef WICK_DRIVER_MODEL_H
#define WICK_DRIVER_MODEL_H

#include "base/file.h"
#include "base/reader.h"
#include "ir/ir.h"
#include "lang/source.h"
#include "runtime/context.h"

struct wick_custom; /* lang/lower/custom.h */

typedef struct wick_derivative { /* the arguments of a call of wick_grad */
  const char *of;
  uint32_t nwrt;
  const char *const *wrt;
  bool cotangent;
} wick_derivative;

struct wick_model {
  wick_context *context;
  wick_guard guard; /* of all memory below */
  wick_arena mem, tmp;
  wick_files files; /* the model's file, and those with its external data */
  const char *path;
  const char *entry;     /* of a program of the language: its function; NULL: another model */
  const char *signature; /* which one of a model with several; NULL: the usual one */
  uint32_t nsource;      /* of a program, or of wick_options.ops: the files, which are read once */
  const wick_lang_source *source;
  wick_span ops; /* the texts of wick_options.ops */
  wick_span bytes;
  const struct wick_format *format; /* NULL: ONNX, text or a program */
  wick_module *module;
  const wick_func *main; /* as imported, with dynamic sizes */
  bool spent;     /* a compilation has taken the module, whose functions the model no longer owns */
  bool described; /* `main` is only the interface: sizes or contents must be given first */
  bool follows;   /* sizes depend on contents of inputs */
  uint32_t ninput, noutput, nstate;
  const wick_io *io; /* inputs, then outputs; the last nstate of both are states */
  uint32_t noverridable;
  const wick_io *overridable;
  uint32_t noverride; /* the overridable initializers that are inputs now */
  const char *const *override;
  wick_list(wick_derivative) derivatives; /* of all calls of wick_grad, in order */
};

typedef struct wick_given { /* sizes and contents that are given for a model */
  uint32_t nsize;
  const wick_size *sizes;
  uint32_t ncontent;
  const wick_content *contents;
  uint32_t nlist; /* shapes of inputs that are sequences or optionals, and of their elements */
  const wick_shape *list;
  bool *fixed; /* out, by content: it was used */
  uint32_t nrange;
  const wick_size_range *ranges; /* of sizes that stay dynamic */
  bool vary;                     /* sizes that are not given stay dynamic, too */
} wick_given;

/* Is the file a module in Wick's text, rather than a protobuf? Other formats may be text, too: ask
 * import/format.h first. */
bool wick_model_is_text(wick_span bytes);
/* Parses a module in Wick's text. Its graph is the function "main", else the first graph function.
 * Fails with WICK_EPARSE if there is none. */
WICK_CHECKED wick_status wick_model_parse(wick_module *m, const char *path, wick_span bytes,
                                          wick_arena *tmp, const wick_func **out_main);

/* Replaces sizes by numbers in all functions of a parsed module, and *main by the new function.
 * Fails with WICK_EINVAL for a size that *main does not have, and with WICK_ETYPE for a number
 * outside of the size's range. */
WICK_CHECKED wick_status wick_model_text_sizes(wick_module *m, const char *path, uint32_t nsize,
                                               const wick_size *sizes, wick_arena *mem,
                                               wick_arena *tmp, const wick_func **main);

/* Imports the model's bytes (whose contents tell the format) into a new module with the
 * given sizes and contents, and applies the calls of wick_grad. Functions live in `mem`. */
WICK_CHECKED wick_status wick_model_import(wick_model *m, const wick_given *given,
                                           wick_module *module, wick_arena *mem, wick_arena *tmp,
                                           const wick_func **out_main);

/* Finds the dynamic sizes that shapes of the inputs and sizes give; *out lives in `mem`. Fails with
 * WICK_ETYPE for an input that does not exist, a shape that does not fit the input, or two values
 * of one size; with WICK_EINVAL for a size that the model does not have. */
WICK_CHECKED wick_status wick_model_sizes(const wick_model *m, uint32_t nshape,
                                          const wick_shape *shape, uint32_t nsize,
                                          const wick_size *sizes, wick_arena *mem, wick_given *out);
/* Adds ranges of sizes that stay dynamic. Fails with WICK_EINVAL for a size that the model does not
 * have or that already has a value, and for an empty range. */
WICK_CHECKED wick_status wick_model_ranges(const wick_model *m, uint32_t n,
                                           const wick_size_range *ranges, bool vary,
                                           wick_arena *mem, wick_given *given);
/* Adds contents of inputs, which must live as long as *given. Fails with WICK_ETYPE for an input
 * that does not exist. */
WICK_CHECKED wick_status wick_model_contents(const wick_model *m, uint32_t n,
                                             const wick_content *contents, wick_arena *mem,
                                             wick_given *given);

/* Adds these derivatives to the results of `f`, and replaces `f` in its module (derivative.c). */
WICK_CHECKED wick_status wick_model_derive(const wick_model *m, const wick_derivative *d,
                                           const wick_func *f, wick_arena *mem,
                                           const wick_func **out);

/* Lowers the program at m->path for the given sizes (NULL: none) into the module (language.c). The
 * first call reads the program's files and keeps them in *m. */
WICK_CHECKED wick_status wick_model_lower(wick_model *m, const wick_given *given,
                                          wick_module *module, wick_arena *mem, wick_arena *tmp,
                                          const wick_func **out_main);

/* Reads the functions of wick_options.ops for an import into the module (language.c); *out is NULL if
 * there are none, else wick_custom_end ends it. */
WICK_CHECKED wick_status wick_model_custom(wick_model *m, wick_module *module, wick_arena *mem,
                                           wick_arena *tmp, struct wick_custom **out);

/* Makes f the model's function, and describes its inputs and outputs. */
WICK_CHECKED wick_status wick_model_take(wick_model *m, const wick_func *f);

/* Describes the inputs and outputs of `f`; a dynamic size has dim -1. */
void wick_model_describe(const wick_func *f, wick_arena *mem, uint32_t *out_ninput,
                         uint32_t *out_noutput, const wick_io **out_io);

/* Returns the type as text: "f32[N,3,224,224]". */
const char *wick_io_text(const wick_io *io, wick_arena *mem);

#endif
