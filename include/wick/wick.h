/* wick.h: load a trained model, compile it and run it. This is the whole public interface of
 * libwick. Begin with wick_load, wick_compile, wick_session_create and wick_run.
 *
 * Errors: a function that can fail returns a `wick_error *`. It is NULL on success, else an error
 * that the caller frees with wick_error_free. The message names the location in the user's model,
 * the value that was found and the value that was expected. No function prints, exits or aborts.
 *
 * Threads: a context and a model belong to one thread at a time. Any number of threads may use a
 * compiled model at the same time, each with its own session.
 *
 * Versions: structs that begin with `size` are only ever extended at their end. Set `size` to the
 * struct's sizeof. A size that no version can have (for example 0) is refused, and so are fields of
 * a newer version that are not 0.
 *
 * NULL: a required argument that is NULL is refused with WICK_EINVAL. Functions that return no
 * error then return 0, false, NULL or "", and functions that free do nothing. */
#ifndef WICK_WICK_H
#define WICK_WICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define WICK_API
#else
#define WICK_API __attribute__((visibility("default")))
#endif

#define WICK_VERSION_MAJOR 0
#define WICK_VERSION_MINOR 1

/* ---- errors ---- */

typedef enum wick_code {
  WICK_OK,
  WICK_EINVAL,       /* an argument of the call is wrong */
  WICK_EPARSE,       /* the file's bytes or the text's grammar are wrong */
  WICK_ETYPE,        /* types, shapes or attributes do not fit together */
  WICK_ERANGE,       /* a number is outside its range, or an index at run time */
  WICK_EUNSUPPORTED, /* valid, but Wick cannot do it (yet) */
  WICK_ELIMIT,       /* a limit of the context was reached: nodes, bytes, seconds, depth */
  WICK_ENOMEM,
  WICK_EIO,       /* the operating system refused; the message contains its reason */
  WICK_ECANCELED, /* the context's cancel function returned true */
  WICK_EINTERNAL  /* a bug in Wick */
} wick_code;

typedef struct wick_error wick_error;

WICK_API wick_code wick_error_code(const wick_error *e); /* WICK_OK for NULL */
WICK_API const char *wick_error_message(
    const wick_error *e); /* all problems, one line each; "" for NULL; lives as long as e */
/* Returns the name of a dynamic size that must be given, or NULL if this is another error. A
 * compilation is given sizes as shapes, sizes, ranges or `dynamic` in wick_compile_options, a
 * session by wick_session_shape. */
WICK_API const char *wick_error_size(const wick_error *e);
WICK_API void wick_error_free(wick_error *e); /* NULL is legal */

/* ---- element types ---- */

typedef enum wick_elem {
  WICK_F64,
  WICK_F32,
  WICK_F16,
  WICK_BF16,
  WICK_F8E4M3,
  WICK_F8E4M3FNUZ,
  WICK_F8E5M2,
  WICK_F8E5M2FNUZ,
  WICK_F8E8M0,
  WICK_F4E2M1,
  WICK_I64,
  WICK_I32,
  WICK_I16,
  WICK_I8,
  WICK_I4,
  WICK_I2,
  WICK_U64,
  WICK_U32,
  WICK_U16,
  WICK_U8,
  WICK_U4,
  WICK_U2,
  WICK_BOOL, /* one byte, 0 or 1 */
  WICK_C64,
  WICK_C128,
  WICK_STRING,
  WICK_NELEM
} wick_elem;

/* An element of a tensor of type WICK_STRING. ONNX requires its bytes to be UTF-8. A string that a
 * run writes points into the inputs of that run, into the compiled model or into the session. It is
 * valid until the session's next run. */
typedef struct wick_string {
  const char *at; /* may be NULL if nbytes is 0 */
  uint64_t nbytes;
} wick_string;

/* ---- context ---- */

/* Allocates all memory except that of runs. `alloc` returns storage aligned to 16 bytes, or
 * NULL. */
typedef struct wick_allocator {
  void *(*alloc)(void *self, size_t nbytes);
  void (*free)(void *self, void *p, size_t nbytes);
  void *self;
} wick_allocator;

typedef struct wick_options {
  size_t size;               /* sizeof(wick_options) */
  wick_allocator allocator;  /* all zero: malloc and free */
  uint64_t max_nodes;        /* limit for one model; 0: 10,000,000 */
  uint64_t max_bytes;        /* limit of compile-time memory; 0: no limit */
  double max_seconds;        /* limit for one compilation; 0: no limit */
  bool (*cancel)(void *arg); /* called every few milliseconds while a model is loaded or compiled,
                                on the thread of the call; true stops it with WICK_ECANCELED */
  void (*log)(void *arg, const char *line); /* reports progress, one line without its newline */
  void *arg;                                /* the argument of cancel, log and remark */
  bool allow_links; /* follow all links to external data of models. If false, links are followed
                       only for models in the snapshots of a model store (a folder that contains the
                       folders `blobs` and `snapshots`, Hugging Face's layout) and only to files
                       beneath the store's root */
  /* Gets what is worth knowing about a model though it is no error: oddities of its file, limits
   * that its compilation met. One line without its newline, on the thread of the call. */
  void (*remark)(void *arg, const char *line);
  /* A file of Wick's language whose functions are operators of imported models (docs/language.md); NULL:
   * none. The text of the path must live as long as the context. */
  const char *ops;
} wick_options;

typedef struct wick_context wick_context;

/* Creates a context. `options` may be NULL. Free the context after everything that was made with
 * it. */
WICK_API wick_error *wick_context_create(const wick_options *options, wick_context **out_context);
WICK_API void wick_context_free(wick_context *context);

/* ---- inputs and outputs ---- */

enum { WICK_MAX_DIMS = 16 };

/* The keys of a map, numbers or strings, in the order of its elements. */
typedef struct wick_keys {
  uint32_t n;
  const int64_t *number;   /* NULL: the keys are strings, or n is 0 */
  const wick_string *text; /* UTF-8 */
} wick_keys;

/* A parameter, a result or a field as the user's program has it. Tuples and structs are passed as
 * their parts, which are inputs, outputs and fields of their own. Parts are listed from outside to
 * inside: a part, then those of its first item, and so on. */
typedef struct wick_part {
  const char *name; /* of the parameter, or of the struct's field; else "" */
  const char *type; /* the name of a struct; else "" */
  bool leaf;        /* it is the next input, output or field */
  uint32_t nitem;   /* of a tuple or struct, which follow; 0 if it is a leaf */
} wick_part;

/* A data type of a program of the language, for certain types and sizes, and its constructors. */
typedef struct wick_constructor {
  const char *name;
  uint32_t nfield;
  const struct wick_io *field;
  uint32_t npart; /* part[0] is all of the fields */
  const wick_part *part;
} wick_constructor;
typedef struct wick_datatype {
  const char *name; /* "List[i64]" */
  uint32_t nconstructor;
  const wick_constructor *constructor;
} wick_datatype;

/* An input or output of a model or of a compiled model, or a field of a constructor. */
typedef struct wick_io {
  const char *name; /* in the model; "" if it has no name */
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_DIMS];          /* outermost first; -1: dynamic */
  const char *dim_name[WICK_MAX_DIMS]; /* names a dynamic size: "N", "2*N + 1"; else "" */
  uint64_t nbytes; /* dense, last dimension contiguous; 0 if a size is dynamic */
  bool unranked;   /* the rank is dynamic, too, until the model is compiled; then `rank` is 0 */
  wick_keys keys;  /* of a map, or of a sequence of maps (rank 2): one key for each element of the
                      last dimension; otherwise keys.n is 0 */
  const wick_datatype *data; /* NULL: a tensor. Otherwise a value of that type (wick_datum); `elem`
                                 and `nbytes` are those of its address in a run */
} wick_io;

/* ---- models ---- */

typedef struct wick_model wick_model;

/* Reads and checks a model, which is ONNX or a module in Wick's text. The file stays mapped as long
 * as the model lives, so that weights are not copied. An error lists everything that Wick does not
 * support, one line each. */
WICK_API wick_error *wick_load(wick_context *context, const char *path, wick_model **out_model);
/* Reads a model from memory, which must live as long as the model. Messages begin with `name`.
 * External data is read from the folder of the path `name`. Fails with WICK_EINVAL if `bytes` is
 * NULL. */
WICK_API wick_error *wick_load_bytes(wick_context *context, const char *name, const void *bytes,
                                     size_t nbytes, wick_model **out_model);
/* Does a file with these bytes look like a program of Wick's language? It begins, after comments,
 * with one of the language's items. The beginning of a file is enough. NULL gives false. */
WICK_API bool wick_is_program(const void *bytes, size_t nbytes);
/* Reads a program of Wick's language (docs/language.md) and those that it uses. The model is its
 * function `entry`: a tensor of a parameter is an input with the parameter's name, a part of a
 * tuple or a struct has a name such as "pair.0" or "w.bias". The result is the output "result", or
 * outputs such as "result.0". Sizes that the function's signature names are dynamic. An error lists
 * all mistakes of the program. */
WICK_API wick_error *wick_load_program(wick_context *context, const char *path, const char *entry,
                                       wick_model **out_model);
/* The same for a program in memory; `path` is in messages, and modules that it uses are files beside
 * it. The bytes are copied. */
WICK_API wick_error *wick_load_program_bytes(wick_context *context, const char *path,
                                             const char *entry, const void *bytes, size_t nbytes,
                                             wick_model **out_model);
WICK_API void wick_model_free(wick_model *model); /* NULL is legal */

/* The functions and types of a program's file: what wick_load_program can be asked for. */
typedef struct wick_function {
  const char *name;
  const char *type; /* "fn total(l: List[i64]) -> i64", with inferred types */
  uint32_t nparam;
  const char *const *param; /* names of the parameters */
} wick_function;
typedef struct wick_declarations wick_declarations;

/* Reads and checks a program. Fails as wick_load_program does. */
WICK_API wick_error *wick_declarations_load(wick_context *context, const char *path,
                                            wick_declarations **out_declarations);
WICK_API void wick_declarations_free(wick_declarations *declarations); /* NULL is legal */
/* They live as long as the declarations; NULL: there is no i-th one. Of the types, which may have
 * parameters, only names are known: of the type, the constructors and the fields. A struct has one
 * constructor with its own name. */
WICK_API const wick_function *wick_declarations_function(const wick_declarations *declarations,
                                                         uint32_t i);
WICK_API const wick_datatype *wick_declarations_type(const wick_declarations *declarations,
                                                     uint32_t i);
WICK_API bool wick_declarations_is_struct(const wick_declarations *declarations, uint32_t i);

WICK_API uint32_t wick_model_ninput(const wick_model *model);
WICK_API uint32_t wick_model_noutput(const wick_model *model);
WICK_API const wick_io *wick_model_input(const wick_model *model, uint32_t i); /* or NULL */
/* How the parameters and the result of a program of the language consist of the inputs and outputs:
 * *npart parts, of which the first is the tuple of the parameters, or the result. NULL: the model is
 * no such program. */
WICK_API const wick_part *wick_model_parameters(const wick_model *model, uint32_t *npart);
WICK_API const wick_part *wick_model_result(const wick_model *model, uint32_t *npart);
WICK_API const wick_io *wick_model_output(const wick_model *model, uint32_t i);
/* States are variables that a session keeps from run to run: the past frames of a streaming model, a
 * recurrent layer's state. They are neither inputs nor outputs. Their shapes are constant. */
WICK_API uint32_t wick_model_nstate(const wick_model *model);
WICK_API const wick_io *wick_model_state(const wick_model *model, uint32_t i);      /* or NULL */
WICK_API const char *wick_model_metadata(const wick_model *model, const char *key); /* or NULL */
WICK_API const char *wick_model_metadata_key(const wick_model *model, uint32_t i);  /* or NULL */
/* Returns true if the shapes or contents of some inputs must be given before the model can be
 * compiled. */
WICK_API bool wick_model_needs_shapes(const wick_model *model);

/* ---- overridable initializers ---- */

/* Overridable initializers are ONNX initializers (from IR version 4 on) that the graph also lists
 * as inputs: default values of inputs. Wick treats them as constants, which makes code faster,
 * unless wick_override makes them inputs. Their sizes are those that the input declares; nbytes is
 * 0 if a size is dynamic. */
WICK_API uint32_t wick_model_noverridable(const wick_model *model);
WICK_API const wick_io *wick_model_overridable(const wick_model *model, uint32_t i); /* or NULL */
/* Makes these initializers inputs of the model, in the order in which the model lists them among
 * its other inputs. Each run then gives their values. All other initializers are constants. Call it
 * before wick_grad. Invalidates the descriptions that wick_model_input, wick_model_output and
 * wick_model_overridable have returned. Fails with WICK_EINVAL, and does not change the model, if a
 * name is not that of an overridable initializer. */
WICK_API wick_error *wick_override(wick_model *model, uint32_t n, const char *const *names);

/* ---- derivatives ---- */

typedef struct wick_grad_options {
  size_t size;            /* sizeof(wick_grad_options) */
  const char *of;         /* the name of the tensor Y to differentiate; NULL: the first output */
  uint32_t nwrt;          /* the tensors X by which Y is differentiated; 0: all float inputs */
  const char *const *wrt; /* their names: inputs, constants (initializers) or intermediate tensors.
                             An intermediate tensor counts as independent of its operands */
  bool cotangent;         /* adds an input "Y.grad" of Y's type that weighs the elements of Y; if
                             false, all weights are 1 */
} wick_grad_options;

/* Adds derivatives to the model as outputs. For each tensor X there is one output of X's shape: the
 * derivative of the (weighted) sum of Y's elements by each element of X, in reverse mode. It is
 * named "X.grad", or "X.grad2", ... if that name is used already. Call it before the model is
 * compiled. A further call differentiates the extended model, including "X.grad". `options` may be
 * NULL. Fails with WICK_EINVAL for a tensor that does not exist or is not of floats, and with
 * WICK_EUNSUPPORTED for operators without a derivative. For a model with dynamic sizes, only inputs
 * and outputs can be named; such a model is differentiated when it is compiled. */
WICK_API wick_error *wick_grad(wick_model *model, const wick_grad_options *options);

/* ---- compiling ---- */

typedef struct wick_compiled wick_compiled;

/* The shape of an input. If the input's rank is dynamic (wick_io.unranked), a -1 leaves that size
 * dynamic; this needs `dynamic`.
 *
 * Compiled models have only tensors as inputs and outputs. Other ONNX types become tensors:
 *
 * Sequences and optionals: the shape of an input NAME is [n], its number of elements, or [-1] for
 * an optional without a value. Each element is then an input NAME.0, NAME.1, ..., whose shape must
 * be given, too. An output NAME becomes the outputs NAME.0, NAME.1, ...
 *
 * Outputs whose size along an axis depends on data: the output has memory for the largest possible
 * size. A further output NAME.size.AXIS, one i64, has the size of this run. The rest of the
 * output's memory is not written.
 *
 * Maps: an output that is a map is a tensor NAME [n], and a sequence of maps is a tensor NAME
 * [rows, n]; the keys are in wick_io.keys. An input that is a map is a tensor NAME [n] with the
 * values of those keys that the model reads: 0 or "" for a key that the map does not have. Its
 * other keys are left out. A map whose keys are not known in advance becomes two tensors NAME.keys
 * and NAME.values, in the order of the keys.
 *
 * The metadata "onnx.input.NAME" and "onnx.output.NAME" describe these inputs and outputs. Their
 * text is "AT COUNT TYPE", or "AT COUNT TYPE KEYS" for maps with known keys:
 *   AT     the position among the model's own inputs or outputs, from 0
 *   COUNT  the number of tensors; -1 for an optional without a value; ? before it is compiled
 *   TYPE   seq(f32), optional(f32), optional(seq(f32)), map(string,f32), seq(map(i64,f32)), ...
 *   KEYS   a list in JSON: [7,-3] or ["a","b"] */
typedef struct wick_shape {
  const char *input; /* its name */
  uint32_t rank;
  const int64_t *dim;
} wick_shape;

typedef struct wick_size { /* the value of a dynamic size */
  const char *name;
  int64_t value;
} wick_size;

typedef struct wick_size_range { /* the values that a dynamic size may have, from run to run */
  const char *name;
  int64_t least, most; /* both included */
  int64_t step;        /* above 1: the values are least, least + step, ... */
} wick_size_range;

typedef struct wick_content { /* the contents of an input in every run of the compiled code */
  const char *input;          /* its name */
  const void *data;           /* dense, in the input's shape */
  uint64_t nbytes;
} wick_content;

typedef struct wick_compile_options {
  size_t size;        /* sizeof(wick_compile_options) */
  const char *target; /* "x86-64-v3", "host", ...; NULL: host. Code for another processor can be
                         saved but not run here: sessions fail with WICK_EUNSUPPORTED */
  uint32_t jobs;      /* concurrent processes of the code generator; 0: one for each CPU */
  uint32_t nshape;    /* shapes, sizes and ranges must give every size of the model, unless
                         `dynamic` is set */
  const wick_shape *shape;
  uint32_t nsize;
  const wick_size *sizes;
  const char *cache;    /* a folder; NULL: $WICK_CACHE_DIR, else `wick` in the user's cache folder;
                           "": no cache */
  uint64_t cache_bytes; /* the cache's limit, beyond which the least recently used files are
                           removed, now and then; 0: 4 GiB */
  void (*stage)(void *arg, const char *name, double seconds); /* called after each stage, or NULL */
  void *arg;                                                  /* the argument of stage */
  bool strict;           /* allows only rewrites that keep the rounding of the operators: for
                            example, no Winograd convolution */
  const char *precision; /* of floats between inputs and outputs, whose own types stay. "f64": all
                            floats are f64. "bf16" or "f16": f32 is rounded to it between kernels
                            and before it is multiplied and summed, and sums stay f32. NULL: the
                            model's types */
  const char *tuning;    /* a file of schedules that `wick tune` wrote; NULL: none */
  uint32_t ncontent;     /* contents of inputs; used only if sizes or attributes depend on them.
                   wick_compiled_required_input tells for which inputs they were used */
  const wick_content *contents;
  /* Dynamic sizes: one program serves all their values, and wick_session_shape sets those of a
   * session. Sizes with a range are dynamic. `dynamic` makes all sizes that are not given dynamic,
   * too. */
  uint32_t nrange;
  const wick_size_range *ranges;
  bool dynamic;
  /* Specializations of the program for some of its sizes: faster code whose results have the same
   * bits. `specialize_dims` lists values of sizes by name, one or more for each dynamic size. A
   * specialization is compiled for each combination, and wick_save writes them with the program. */
  uint32_t nspecialize_dim;
  const wick_size *specialize_dims;
  /* Further specializations are compiled while sessions run, at most `auto_specialize` of them (0:
   * none), for sizes that have had `auto_specialize_after` runs (0: 32). A thread of the compiled
   * model compiles them and keeps them in the cache; it calls the context's allocator. A session
   * changes to a specialization when a run begins. */
  uint32_t auto_specialize;
  uint64_t auto_specialize_after;
  /* Specializations for contents of small inputs that decide branches: they keep only the region
   * that runs. `specialize_inputs` lists one or more contents of an input of whole numbers or bools
   * with at most 64 bytes. A specialization is compiled for each combination, also with the values
   * of `specialize_dims`. These contents are its guards: a run uses it only if the inputs have
   * them. A specialization that is compiled while sessions run guards an input's contents if they
   * were the same in all runs of its sizes. */
  uint32_t nspecialize_input;
  const wick_content *specialize_inputs;
  const char *tune; /* the processor whose caches and pipes decide the schedules: a name that `wick
                       targets` lists, a file that `wick calibrate` wrote, or "host". Code for the
                       target runs on all its processors. NULL: for the target "host" the measured
                       processor in the cache's folder, or this one's entry; else the target's
                       typical one */
  /* Inputs that are donated: weights of a training step, the cache of a decoder. Each shares its
   * memory with an output of equal type (wick_compiled_donor), and is updated in place as far as
   * that is safe. The name of a structure stands for all its tensors. A run that gives both the same
   * address does not copy; one that gives others leaves the input as it is. In bundles both always
   * have one place. */
  uint32_t ndonate;
  const char *const *donate;
} wick_compile_options;

/* Compiles a model. `options` may be NULL. The model may be freed before the compiled model. Fails
 * with WICK_EUNSUPPORTED, which lists the operators that cannot be compiled, with WICK_ETYPE for
 * shapes that do not fit the model, and with WICK_ELIMIT or WICK_ECANCELED by the context's
 * options. */
WICK_API wick_error *wick_compile(wick_model *model, const wick_compile_options *options,
                                  wick_compiled **out_compiled);
WICK_API bool wick_compiled_cached(const wick_compiled *compiled); /* was it read from the cache? */

typedef struct wick_bundle_report { /* sizes of a bundle, which its header also defines */
  uint64_t flash_bytes;             /* code, tables and constants */
  uint64_t ram_bytes;               /* mutable data and arena */
  uint64_t stack_bytes;             /* of one call, at most; 0: unknown for this target */
  uint64_t constants_bytes;         /* the part of flash_bytes for constants */
} wick_bundle_report;

typedef struct wick_bundle_options {
  size_t size;                /* sizeof(wick_bundle_options) */
  const char *folder;         /* created if it does not exist; NULL: the current folder */
  const char *name;           /* of the C function; NULL: derived from the model's file name */
  bool embed;                 /* put the weights into the object */
  wick_bundle_report *report; /* out, on success; may be NULL */
  /* For programs with objects (lists, trees): the bytes of the arena that they may take in one run.
   * 0: 64 KiB, or 8 KiB with pointers of 32 bits. A run that needs more returns
   * WICK_BUNDLE_ELIMIT. */
  uint64_t heap_bytes;
  /* For recursive programs: the bytes of the caller's stack that recursion may take, at most 1 GiB.
   * 0: 256 KiB, or 4 KiB with pointers of 32 bits. Deeper recursion returns WICK_BUNDLE_ELIMIT. */
  uint64_t recursion_bytes;
} wick_bundle_options;

/* Compiles a model to a bundle: the files NAME.o, NAME.h and NAME.weights.bin, which run without
 * Wick (wick/bundle.h). Writes all of them or none. Both options may be NULL. Fails as wick_compile
 * does, with WICK_EINVAL for a name that no C function can have, and with WICK_EIO if the files
 * cannot be written. */
WICK_API wick_error *wick_bundle_write(wick_model *model, const wick_compile_options *options,
                                       const wick_bundle_options *bundle);

/* Gives the model to `print` as a module in Wick's text (docs/text.md), as it is before any pass: in
 * one call, with the shapes, sizes and contents of the options (NULL: none), and if `data` is set
 * with the elements of its constants. Fails as wick_compile does for shapes that do not fit. */
WICK_API wick_error *wick_model_print(wick_model *model, const wick_compile_options *options,
                                      bool data,
                                      void (*print)(void *arg, const char *text, size_t nbytes),
                                      void *arg);

/* Everything from here on is also in libwick_rt, a library without the compiler. */

/* wick_save writes a compiled model to a file, an artifact. wick_compiled_load opens one. An
 * artifact contains machine code that is not checked: open it only if you would run a program by
 * its author. */
WICK_API wick_error *wick_save(const wick_compiled *compiled, const char *path);
WICK_API wick_error *wick_compiled_load(wick_context *context, const char *path,
                                        wick_compiled **out_compiled);
WICK_API void wick_compiled_free(wick_compiled *compiled); /* after its sessions; NULL is legal */

WICK_API uint32_t wick_compiled_ninput(const wick_compiled *compiled);
WICK_API uint32_t wick_compiled_noutput(const wick_compiled *compiled);
WICK_API const wick_io *wick_compiled_input(const wick_compiled *compiled, uint32_t i);
WICK_API const wick_io *wick_compiled_output(const wick_compiled *compiled, uint32_t i);
/* The states of its sessions (wick_session_reset). */
WICK_API uint32_t wick_compiled_nstate(const wick_compiled *compiled);
WICK_API const wick_io *wick_compiled_state(const wick_compiled *compiled, uint32_t i);
/* Returns the donated input whose memory output `i` shares; UINT32_MAX: none. */
WICK_API uint32_t wick_compiled_donor(const wick_compiled *compiled, uint32_t i);
/* Returns the contents that input `i` must have in every run, wick_io.nbytes bytes, because
 * sizes in the code depend on them. NULL: any contents. A run with other contents fails with
 * WICK_ERANGE. */
WICK_API const void *wick_compiled_required_input(const wick_compiled *compiled, uint32_t i);
WICK_API const char *wick_compiled_metadata(const wick_compiled *compiled, const char *key);
WICK_API const char *wick_compiled_metadata_key(const wick_compiled *compiled, uint32_t i);
/* Returns the numerical contract: everything on which the bits of the results depend. Its first
 * line sums up the program. Then there is a line for each kernel with the order and precision of
 * each accumulation, and with the operations that round or approximate. If two compilations of a
 * model have equal contracts, their results have equal bits on one CPU level, for any number of
 * threads, in the process and as a bundle. If sizes are dynamic, equal inputs give equal bits in
 * every session, whatever sizes it has had before and whether or not a specialization runs. A
 * program that was compiled only for one of these sizes has its own contract. */
WICK_API const char *wick_compiled_contract(const wick_compiled *compiled);

/* The dynamic sizes, in the order of wick_profile_entry.sizes. */
WICK_API uint32_t wick_compiled_nsize(const wick_compiled *compiled);
WICK_API wick_size_range wick_compiled_size(const wick_compiled *compiled, uint32_t i);

typedef enum wick_specialization_state {
  WICK_SPECIALIZATION_NONE,
  WICK_SPECIALIZATION_REQUESTED,
  WICK_SPECIALIZATION_COMPILING,
  WICK_SPECIALIZATION_READY,
  WICK_SPECIALIZATION_FAILED, /* for the reason `why`; the base program is used */
  WICK_SPECIALIZATION_SLOWER  /* than the base program, which is used */
} wick_specialization_state;

/* The profile of a compiled model with dynamic sizes: one entry for each combination of sizes that
 * a run has had or that has a specialization. The base program is the one that serves all
 * sizes. */
typedef struct wick_profile_entry {
  const int64_t *sizes; /* wick_compiled_nsize of them; live as long as the compiled model */
  uint64_t nrun;        /* runs of all sessions */
  wick_specialization_state specialization;
  bool ahead;      /* the specialization was compiled ahead of time */
  bool cached;     /* the specialization was read from the cache */
  const char *why; /* why specialization failed, or "" */
  /* The shortest measured run of the base program and of the specialization; 0: none. */
  uint64_t base_nanoseconds, specialized_nanoseconds;
} wick_profile_entry;

/* Gets the present state of the profile's i-th entry. Entries are in the order in which their sizes
 * first occurred, at most 1,024. The same sizes may have further entries, for specializations that
 * guard contents (wick_compiled_profile_content). Returns false after the last entry. Any thread
 * may call it. */
WICK_API bool wick_compiled_profile(const wick_compiled *compiled, uint32_t i,
                                    wick_profile_entry *out);
typedef struct wick_profile_content { /* the contents of an input that decides branches */
  const char *input;
  const void *data; /* wick_io.nbytes bytes, which live as long as the compiled model; NULL: unknown
                       for this entry */
  bool guarded;     /* true: the entry belongs to a specialization that guards these contents.
                       False: all runs of the entry had these contents */
} wick_profile_content;

/* Guard inputs are small inputs of whole numbers or bools that decide branches. */
WICK_API uint32_t wick_compiled_nguard_input(const wick_compiled *compiled); /* at most 64 */
WICK_API const char *wick_compiled_guard_input(const wick_compiled *compiled,
                                               uint32_t k); /* its name, or NULL */
/* Gets the contents of the k-th guard input in the i-th entry of the profile. Returns false if the
 * entry or the input does not exist. Any thread may call it. */
WICK_API bool wick_compiled_profile_content(const wick_compiled *compiled, uint32_t i, uint32_t k,
                                            wick_profile_content *out);
/* Waits until each requested specialization is ready or has failed. */
WICK_API void wick_compiled_wait(const wick_compiled *compiled);

typedef enum wick_flow_kind { WICK_FLOW_IF, WICK_FLOW_LOOP } wick_flow_kind;

typedef struct wick_flow { /* a branch or a loop, with the counts of all sessions */
  const char *location;    /* of the user's node; lives as long as the compiled model */
  wick_flow_kind kind;
  uint64_t ntaken[2];    /* runs through each branch of an if: else, then */
  uint64_t nloop, nstep; /* entries of a loop; iterations of all entries */
  uint64_t least, most;  /* fewest and most iterations of one entry; 0 if nloop is 0 */
} wick_flow;

/* The branches and loops in the code, in its order. Nodes with the same name share one entry.
 * Branches that sizes and constants decide are not among them, since the compiler removes them.
 * wick_compiled_flow returns the present counts; any thread may call it. A failed run counts up to
 * its failure. */
WICK_API uint32_t wick_compiled_nflow(const wick_compiled *compiled);
WICK_API wick_flow wick_compiled_flow(const wick_compiled *compiled, uint32_t i);

typedef struct wick_memory { /* bytes */
  uint64_t constants;        /* packed weights, shared by all sessions */
  uint64_t arena;            /* of a session; 0 if sizes are dynamic, as it depends on the shapes */
  uint64_t scratch;          /* of each thread of a session; 0 if sizes are dynamic */
  uint64_t states;           /* of a session; one whose runs can fail has them twice */
} wick_memory;
WICK_API wick_memory wick_compiled_memory(const wick_compiled *compiled);

typedef struct wick_kernel_facts {
  const char *name;
  const char *location;   /* of the user's nodes that it computes */
  const char *schedule;   /* the steps that transform its plain loops */
  uint64_t flops, nbytes; /* of one run: floating-point operations; bytes read and written, each
                             constant once */
  uint64_t cycles;   /* estimate of one run on one thread, in units of the cost model: the time of
                             two vector multiply-adds, about one clock cycle */
  uint64_t tasks;    /* the number of tasks that threads share */
  const char *limit; /* the bottleneck by the cost model, in words */
  uint64_t nweights; /* the bytes of constants in nbytes, each once */
} wick_kernel_facts;
WICK_API uint32_t wick_compiled_nkernel(const wick_compiled *compiled);
WICK_API wick_kernel_facts wick_compiled_kernel(const wick_compiled *compiled, uint32_t i);

/* As wick_model_parameters and wick_model_result. */
WICK_API const wick_part *wick_compiled_parameters(const wick_compiled *compiled, uint32_t *npart);
WICK_API const wick_part *wick_compiled_result(const wick_compiled *compiled, uint32_t *npart);

/* ---- data ---- */

/* A heap: the memory of data (lists, trees). Sessions that have the same heap exchange data without
 * copies. A heap, its data and its sessions are used by one thread at a time. */
typedef struct wick_data_heap wick_data_heap;

/* A reference to an immutable value of a data type, in a heap. Each is freed once, before its heap;
 * what it refers to lives as long as anything refers to it. */
typedef struct wick_datum wick_datum;

/* Creates a heap of at most max_bytes (0: 8 GiB, or what the system grants), whose pages are used as
 * needed. Free it after its data and its sessions. */
WICK_API wick_error *wick_data_heap_create(wick_context *context, uint64_t max_bytes,
                                           wick_data_heap **out_heap);
WICK_API void wick_data_heap_free(wick_data_heap *heap);           /* NULL is legal */
WICK_API uint64_t wick_data_heap_used(const wick_data_heap *heap); /* bytes of all that it holds */

/* Returns the index of a constructor; UINT32_MAX: the type has none of that name. */
WICK_API uint32_t wick_datatype_find(const wick_datatype *type, const char *constructor);

/* Returns the bytes that describe a type in files of its data, which live as long as the type. Equal
 * types have equal ones. */
WICK_API const void *wick_datatype_description(const wick_datatype *type, size_t *out_nbytes);

/* Builds a value. `type` is that of an input, an output or a field (wick_io.data). fields[i] is the
 * address of a dense tensor, which is copied, or a `const wick_datum *`. Fails with WICK_ETYPE for
 * data of another type, with WICK_EINVAL for data of another heap, and with WICK_ELIMIT if the heap
 * is full. */
WICK_API wick_error *wick_datum_create(wick_data_heap *heap, const wick_datatype *type,
                                       uint32_t constructor, const void *const *fields,
                                       wick_datum **out_datum);
WICK_API void wick_datum_free(wick_datum *datum); /* NULL is legal */
/* Makes another reference to the same value. */
WICK_API wick_error *wick_datum_again(const wick_datum *datum, wick_datum **out_datum);

WICK_API const wick_datatype *
wick_datum_type(const wick_datum *datum); /* lives as long as the heap */
WICK_API uint32_t wick_datum_constructor(const wick_datum *datum);
/* Returns the address of a field that is a tensor: dense, aligned to 8 bytes, valid until the next
 * run with the heap or until the datum is freed. NULL: there is no such tensor. */
WICK_API const void *wick_datum_tensor(const wick_datum *datum, uint32_t field);
/* Makes a reference to a field that is data. */
WICK_API wick_error *wick_datum_field(const wick_datum *datum, uint32_t field,
                                      wick_datum **out_datum);
/* Makes `datum` refer to its field, which it may do without memory: to walk along a list. */
WICK_API wick_error *wick_datum_step(wick_datum *datum, uint32_t field);

/* Data as bytes (docs/language.md): a format with a version, its type and a check sum, in which
 * shared parts are written once. wick_datum_write gives bytes that wick_datum_free_bytes frees, with
 * a datum of the same heap. wick_datum_read accepts only a value of `type`, and refuses anything else
 * with WICK_EPARSE or WICK_ETYPE; depth has no limit. */
WICK_API wick_error *wick_datum_write(const wick_datum *datum, void **out_bytes,
                                      size_t *out_nbytes);
WICK_API void wick_datum_free_bytes(const wick_datum *datum, void *bytes, size_t nbytes);
WICK_API wick_error *wick_datum_read(wick_data_heap *heap, const wick_datatype *type,
                                     const void *bytes, size_t nbytes, wick_datum **out_datum);
/* The same in a file. */
WICK_API wick_error *wick_datum_save(const wick_datum *datum, const char *path);
WICK_API wick_error *wick_datum_load(wick_data_heap *heap, const wick_datatype *type,
                                     const char *path, wick_datum **out_datum);

/* ---- running ---- */

typedef struct wick_session wick_session; /* used by one thread at a time */

typedef struct wick_session_options {
  size_t size;      /* sizeof(wick_session_options) */
  uint32_t threads; /* including the caller's; 0: one for each CPU that the process may use */
  bool pin_threads; /* each thread stays on one CPU */
  /* Called after each kernel, on the thread of the run; may be NULL. If it is set, the session runs
   * only the base program. */
  void (*profile)(void *arg, uint32_t kernel, uint64_t nanoseconds);
  void *arg; /* the argument of profile */
  /* The most memory that objects (lists, trees) may take in one run, in bytes; 0: 8 GiB, or what the
   * system grants. Pages are used as needed. A run that needs more fails with WICK_ELIMIT. */
  uint64_t heap_bytes;
  wick_data_heap *heap; /* of inputs and outputs that are data; NULL: one of the session */
  /* Gets what a program prints, in parts; each line ends with a line feed. Called with `arg` on the
   * thread of the run. NULL: standard output gets it. */
  void (*print)(void *arg, const char *text, size_t nbytes);
} wick_session_options;

/* Creates a session. `options` may be NULL. The compiled model must outlive its sessions. */
WICK_API wick_error *wick_session_create(const wick_compiled *compiled,
                                         const wick_session_options *options,
                                         wick_session **out_session);
WICK_API void wick_session_free(wick_session *session); /* NULL is legal */
WICK_API uint32_t wick_session_threads(const wick_session *session);
/* Returns the heap of its data; NULL: it has no inputs or outputs that are data. */
WICK_API wick_data_heap *wick_session_heap(const wick_session *session);

/* Sets the shapes of inputs for the next runs, if the compiled model has dynamic sizes (wick_io.dim
 * is -1). The shape of an input that is not named follows from the others. Memory is allocated here
 * and kept, so that setting the same sizes again costs nothing, and runs do not allocate. Fails
 * with WICK_EINVAL for an input that does not exist, with WICK_ETYPE for shapes that do not fit the
 * model or each other, and with WICK_ERANGE for sizes outside of their ranges; the shapes are then
 * unchanged. After WICK_ENOMEM no shapes are set. */
WICK_API wick_error *wick_session_shape(wick_session *session, uint32_t nshape,
                                        const wick_shape *shape);
/* Inputs and outputs with the sizes of the next runs; dim is -1 for sizes that are not set yet.
 * Valid until the next call of wick_session_shape. NULL if there is no i-th one. */
WICK_API const wick_io *wick_session_input(const wick_session *session, uint32_t i);
WICK_API const wick_io *wick_session_output(const wick_session *session, uint32_t i);

/* States (wick_compiled_state). A new session has the model's initial values. Each run reads what the
 * run before has left, and leaves its own; a run that fails leaves the states as they were before it.
 * Sessions do not share states. wick_session_reset sets the initial values again. The other two copy
 * a state, found by its name, to save and restore it: `nbytes` is that of its wick_io. They fail with
 * WICK_EINVAL for a state that does not exist or has another size. */
WICK_API void wick_session_reset(wick_session *session); /* NULL is legal */
WICK_API wick_error *wick_session_state_get(const wick_session *session, const char *name,
                                            void *out_data, uint64_t nbytes);
WICK_API wick_error *wick_session_state_set(wick_session *session, const char *name,
                                            const void *data, uint64_t nbytes);

/* Runs the model once on the caller's memory: an address for each input and each output, with
 * wick_io.nbytes bytes, aligned to the element. An output must not overlap anything else, except that
 * it may be at the address of the input that is donated to it (wick_compile_options.donate). Nothing
 * is copied or allocated, with one exception: memory for strings that the model creates grows if a
 * run has more of them than any run before. The bits are the same for any number of threads. Fails
 * if the model fails on these inputs.
 *
 * The address of an input that is data is a `const wick_datum *` of the session's heap, which the run
 * only reads. That of an output that is data is a `wick_datum **`, which gets a new datum that the
 * caller frees; it is unchanged if the run fails. */
WICK_API wick_error *wick_run(wick_session *session, const void *const *inputs,
                              void *const *outputs);
/* The same, with data given up: if donated[i] is true, input `i` is a datum that the run frees, also
 * if it fails. The memory of what nothing else refers to is used for the results. */
WICK_API wick_error *wick_run_donating(wick_session *session, const void *const *inputs,
                                       const bool *donated, void *const *outputs);

#ifdef __cplusplus
}
#endif
#endif
