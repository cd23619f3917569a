/* wick.h: load a trained model, compile it, run it. The whole public interface of libwick.
 *
 * Errors: a function that can fail returns `wick_error *`: NULL on success, else an error that the
 * caller frees with wick_error_free. Its message names the location in the user's model, what was
 * found and what was wanted. Nothing here prints, exits or aborts. Threads: a context and a model
 * belong to one thread at a time; a compiled model may be used by any number of threads at once,
 * each with a session of its own.
 *
 * Versioned and append-only: a struct that begins with `size` is extended at its end; set it to
 * sizeof. A size that no version can have (0, say) is refused, and so are fields of a newer version
 * that are set.
 *
 * An argument that is NULL where something must be is refused with WICK_EINVAL; functions that
 * return no error then return 0, false, NULL or "", and functions that free do nothing. */
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
  WICK_EUNSUPPORTED, /* understood, but Wick cannot do it (yet) */
  WICK_ELIMIT,       /* a limit of the context was reached: nodes, bytes, seconds, depth */
  WICK_ENOMEM,
  WICK_EIO,       /* the operating system refused; the message has its reason */
  WICK_ECANCELED, /* the context's cancel function said so */
  WICK_EINTERNAL  /* a bug in Wick */
} wick_code;

typedef struct wick_error wick_error;

WICK_API wick_code wick_error_code(const wick_error *e); /* WICK_OK for NULL */
WICK_API const char *wick_error_message(
    const wick_error *e); /* all problems, a line each; "" for NULL; lives as long as e */
/* The name of a dynamic size that must be given (in wick_compile_options a shape, a size, a range or
 * `dynamic`; for a session wick_session_shape). NULL: it is another error. */
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

/* An element of a tensor of strings, of WICK_STRING: bytes, which ONNX says are UTF-8. What a run
 * writes points into the inputs of that run, into the compiled model or into the session, and is
 * good until the session's next run. */
typedef struct wick_string {
  const char *at; /* may be NULL where nbytes is 0 */
  uint64_t nbytes;
} wick_string;

/* ---- context ---- */

/* Memory for everything but runs. `alloc` returns storage aligned to 16 bytes, or NULL. */
typedef struct wick_allocator {
  void *(*alloc)(void *self, size_t nbytes);
  void (*free)(void *self, void *p, size_t nbytes);
  void *self;
} wick_allocator;

typedef struct wick_options {
  size_t size;               /* sizeof(wick_options) */
  wick_allocator allocator;  /* all zero: malloc and free */
  uint64_t max_nodes;        /* of one model; 0: 10,000,000 */
  uint64_t max_bytes;        /* of compile-time memory; 0: no limit */
  double max_seconds;        /* of one compilation; 0: no limit */
  bool (*cancel)(void *arg); /* polled every few milliseconds while a model is loaded or compiled,
                                on the thread of the call; true stops it with WICK_ECANCELED */
  void (*log)(void *arg, const char *line); /* progress, one line without its newline */
  void *arg;                                /* of cancel and log */
  bool allow_links; /* external data of models is reached through links that lead anywhere; without
                       it only beneath the root of a model store, a folder with the folders `blobs`
                       and `snapshots`, for models in its snapshots (Hugging Face's layout) */
} wick_options;

typedef struct wick_context wick_context;

/* `options` may be NULL. The context is freed last. */
WICK_API wick_error *wick_context_create(const wick_options *options, wick_context **out_context);
WICK_API void wick_context_free(wick_context *context);

/* ---- inputs and outputs ---- */

enum { WICK_MAX_DIMS = 16 };

/* Keys of a map, in the order of its elements: numbers or strings. */
typedef struct wick_keys {
  uint32_t n;
  const int64_t *number;   /* NULL: they are strings, or there are none */
  const wick_string *text; /* UTF-8 */
} wick_keys;

/* An input or output of a model, or of compiled code. */
typedef struct wick_io {
  const char *name; /* as the model has it; "" where it has none */
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_DIMS];          /* outermost first; -1: dynamic */
  const char *dim_name[WICK_MAX_DIMS]; /* of a dynamic size: "N", "2*N + 1"; else "" */
  uint64_t nbytes;                     /* dense, last dimension fastest; 0 if a size is dynamic */
  bool unranked;  /* its rank is dynamic, too, until it is compiled; rank is 0 */
  wick_keys keys; /* it is a map, or (of rank 2) a sequence of maps: one for each element of the
                     last dimension; else n is 0 */
} wick_io;

/* ---- models ---- */

typedef struct wick_model wick_model;

/* Reads and checks a model: ONNX, or a module in Wick's text. The file stays mapped as long as the
 * model lives: weights are not copied. Fails with all that Wick cannot take, a line each. */
WICK_API wick_error *wick_load(wick_context *context, const char *path, wick_model **out_model);
/* The same from memory, which the caller keeps as long as the model. `name` precedes
 * messages; data outside the file is looked for in its folder. Fails with WICK_EINVAL where `bytes`
 * is NULL. */
WICK_API wick_error *wick_load_bytes(wick_context *context, const char *name, const void *bytes,
                                     size_t nbytes, wick_model **out_model);
WICK_API void wick_model_free(wick_model *model); /* NULL is legal */

WICK_API uint32_t wick_model_ninput(const wick_model *model);
WICK_API uint32_t wick_model_noutput(const wick_model *model);
WICK_API const wick_io *wick_model_input(const wick_model *model, uint32_t i); /* NULL: no such */
WICK_API const wick_io *wick_model_output(const wick_model *model, uint32_t i);
WICK_API const char *wick_model_metadata(const wick_model *model, const char *key); /* or NULL */
WICK_API const char *wick_model_metadata_key(const wick_model *model, uint32_t i);  /* or NULL */
/* It can be compiled only once the shapes of some inputs, or their contents, are given. */
WICK_API bool wick_model_needs_shapes(const wick_model *model);

/* ---- overridable initializers ---- */

/* Initializers of ONNX that the graph lists as inputs, too, from IR version 4 on: defaults of
 * inputs. They are constants, which makes code faster, unless wick_override makes them inputs.
 * Their sizes are as the input declares them; nbytes is 0 if one is dynamic. */
WICK_API uint32_t wick_model_noverridable(const wick_model *model);
WICK_API const wick_io *wick_model_overridable(const wick_model *model,
                                               uint32_t i); /* NULL: no such */
/* From now on these initializers are inputs of the model, in the order in which it lists them among
 * its others, and each run gives their values; all others are constants. To be called before
 * wick_grad; what wick_model_input and the like returned before is not valid any more. Fails, and
 * leaves the model as it was: WICK_EINVAL for a name that no overridable initializer has. */
WICK_API wick_error *wick_override(wick_model *model, uint32_t n, const char *const *names);

/* ---- derivatives ---- */

typedef struct wick_grad_options {
  size_t size;            /* sizeof(wick_grad_options) */
  const char *of;         /* a tensor's name; NULL: the first output */
  uint32_t nwrt;          /* by which tensors: inputs, constants (initializers), or others on the */
  const char *const *wrt; /* way, by name; none: by all inputs of floats. Those on the way count as
                             independent of what they were computed from */
  bool cotangent;         /* one more input, "Y.grad", of Y's type, weighs Y's elements; else they
                             are added up */
} wick_grad_options;

/* From now on the model has more outputs: for each of these tensors the derivative of the sum of
 * Y's elements by each of X's, in reverse mode; "X.grad", or "X.grad2", ... where that is taken. To
 * be called before the model is compiled; again, it differentiates what there is, "X.grad" among
 * it. `options` may be NULL. Fails: WICK_EINVAL for a tensor that is not there, or not of floats;
 * WICK_EUNSUPPORTED at operators that have no derivative. A model with dynamic sizes is asked for
 * tensors of its interface alone, and is differentiated when it is compiled. */
WICK_API wick_error *wick_grad(wick_model *model, const wick_grad_options *options);

/* ---- compiling ---- */

typedef struct wick_compiled wick_compiled;

/* What an input has from now on. Of an input whose rank is dynamic (wick_io.unranked) -1 leaves a size
 * dynamic, for `dynamic`. An input that is a sequence or an optional is told how many
 * elements it has: NAME has the shape [n], or [-1], an optional without a value; then each element
 * is an input of its own, NAME.0, NAME.1, ..., whose shape is given, too. Outputs that are
 * sequences or optionals are outputs NAME.0, ...
 * An output whose size along an axis depends on data has room for the most that there can be, and
 * how much of it a run gives is a further output of one i64, NAME.size.AXIS; the rest of its memory
 * is left as it was.
 * An output that is a map is a tensor NAME [n], a sequence of maps NAME [rows, n]; wick_io.keys are
 * theirs. An input that is a map is a tensor NAME [n] of the values of those keys that the model
 * looks for: 0 or "" where the map has none; others are left out. Where a model takes or gives maps
 * whatever their keys are, these are tensors NAME.keys and NAME.values, in the order of the keys.
 * The metadata "onnx.input.NAME", "onnx.output.NAME" are "AT COUNT TYPE", of maps with known keys
 * "AT COUNT TYPE KEYS": the position among the model's own inputs or outputs, counted from 0; the
 * number of tensors, -1, or ? before it is compiled; seq(f32), optional(f32), optional(seq(f32)),
 * map(string,f32), seq(map(i64,f32)); [7,-3] or ["a","b"], as JSON. */
typedef struct wick_shape {
  const char *input; /* its name */
  uint32_t rank;
  const int64_t *dim;
} wick_shape;

typedef struct wick_size { /* what the value of a dynamic size */
  const char *name;
  int64_t value;
} wick_size;

typedef struct wick_size_range { /* the values that a dynamic size may have, from run to run */
  const char *name;
  int64_t least, most; /* both included */
  int64_t step;        /* above 1: it is least, least + step, ... */
} wick_size_range;

typedef struct wick_content { /* the contents of an input in every run of the compiled code */
  const char *input;          /* its name */
  const void *data;           /* dense, in the shape that the input then has */
  uint64_t nbytes;
} wick_content;

typedef struct wick_compile_options {
  size_t size;        /* sizeof(wick_compile_options) */
  const char *target; /* "x86-64-v3", "host", ...; NULL: host. Code for another processor can be
                         saved, but has no sessions here: they fail with WICK_EUNSUPPORTED */
  uint32_t jobs;      /* processes of the code generator at the same time; 0: one for each CPU */
  uint32_t nshape;    /* shapes and sizes must give every size of the model */
  const wick_shape *shape;
  uint32_t nsize;
  const wick_size *sizes;
  const char *cache;    /* a folder; NULL: WICK_CACHE_DIR, else `wick` in the user's cache; "":
                           none */
  uint64_t cache_bytes; /* the cache drops what was not used for longest; 0: 4 GiB */
  void (*stage)(void *arg, const char *name, double seconds); /* after each stage; may be NULL */
  void *arg;                                                  /* of stage */
  bool strict;           /* only rewrites that round as the operators do; no Winograd convolution */
  const char *precision; /* of floats, between inputs and outputs that keep their types: "f64";
                            "bf16" or "f16": f32 is rounded where it is multiplied and summed, and
                            between kernels, sums stay f32; NULL: as the model's types say */
  const char *tuning;    /* a file of schedules that `wick tune` wrote; NULL: none */
  uint32_t
      ncontent; /* read only where sizes or the like follow from them: wick_compiled_required_input tells
                            for which inputs */
  const wick_content *contents;
  /* Dynamic sizes: one program serves them all, and wick_session_shape says which a session runs with.
   * With `dynamic` all sizes that are not given stay dynamic, too; without it, each must be given. */
  uint32_t nrange;
  const wick_size_range *ranges;
  bool dynamic;
  /* Specializations of the program for some of its sizes: faster code with the same bits.
   * `specialize_dims` has values for sizes by name, one or more for each dynamic size; a specialization
   * is compiled for each combination, and wick_save writes them with the program. */
  uint32_t nspecialize_dim;
  const wick_size *specialize_dims;
  /* Others are compiled while sessions run, for sizes that have had `auto_specialize_after` runs
   * (0: 32), by a thread of the compiled model, at most `auto_specialize` of them (0: none), and kept
   * in the cache. A session changes to one when a run begins. The thread calls the context's
   * allocator. */
  uint32_t auto_specialize;
  uint64_t auto_specialize_after;
  /* Specializations for contents of small inputs that decide branches: only the region that runs is
   * left. `specialize_inputs` has one or more contents for an input of whole numbers or bools of at
   * most 64 bytes; a specialization is compiled for each combination, also with `specialize_dims`. A
   * run uses it if the inputs have just these contents: they are its guards. Specializations that are
   * compiled while sessions run guard the contents that such inputs had in all runs of their size. */
  uint32_t nspecialize_input;
  const wick_content *specialize_inputs;
} wick_compile_options;

/* `options` may be NULL. The result does not need the model any more. Fails: WICK_EUNSUPPORTED with
 * the operators that cannot be compiled, WICK_ETYPE for shapes that do not fit the model,
 * WICK_ELIMIT and WICK_ECANCELED by the context. */
WICK_API wick_error *wick_compile(wick_model *model, const wick_compile_options *options,
                                  wick_compiled **out_compiled);
WICK_API bool wick_compiled_cached(const wick_compiled *compiled); /* it came out of the cache */

typedef struct wick_bundle_report { /* the header has the same numbers */
  uint64_t flash_bytes;             /* code, tables and constants */
  uint64_t ram_bytes;               /* mutable data and arena */
  uint64_t stack_bytes;             /* of one call, at most; 0: not known for this target */
  uint64_t constants_bytes;         /* of flash_bytes */
} wick_bundle_report;

typedef struct wick_bundle_options {
  size_t size;                /* sizeof(wick_bundle_options) */
  const char *folder;         /* is made where it is not there; NULL: the current one */
  const char *name;           /* of the C function; NULL: made of the model's file name */
  bool embed;                 /* the weights go into the object, too */
  wick_bundle_report *report; /* out, if all went well; may be NULL */
} wick_bundle_options;

/* Writes NAME.o, NAME.h and NAME.weights.bin, which need no Wick to run (wick/bundle.h): all of
 * them or none. Both options may be NULL. Fails as wick_compile does; WICK_EINVAL for a name that
 * no C function can have, WICK_EIO where the files cannot be written. */
WICK_API wick_error *wick_bundle_write(wick_model *model, const wick_compile_options *options,
                                       const wick_bundle_options *bundle);

/* Everything from here on is in libwick_rt, too, which needs no compiler. */

/* Writes an artifact, and opens one. Who opens an artifact trusts its author as if it were a
 * program. */
WICK_API wick_error *wick_save(const wick_compiled *compiled, const char *path);
WICK_API wick_error *wick_compiled_load(wick_context *context, const char *path,
                                        wick_compiled **out_compiled);
WICK_API void wick_compiled_free(wick_compiled *compiled); /* after its sessions; NULL is legal */

WICK_API uint32_t wick_compiled_ninput(const wick_compiled *compiled);
WICK_API uint32_t wick_compiled_noutput(const wick_compiled *compiled);
WICK_API const wick_io *wick_compiled_input(const wick_compiled *compiled, uint32_t i);
WICK_API const wick_io *wick_compiled_output(const wick_compiled *compiled, uint32_t i);
/* The contents that input `i` must have in every run, wick_io.nbytes bytes: sizes in the code follow
 * from them. NULL: any. A run with other contents fails with WICK_ERANGE. */
WICK_API const void *wick_compiled_required_input(const wick_compiled *compiled, uint32_t i);
WICK_API const char *wick_compiled_metadata(const wick_compiled *compiled, const char *key);
WICK_API const char *wick_compiled_metadata_key(const wick_compiled *compiled, uint32_t i);
/* What the bits of the results depend on: a line for all, then one for each kernel: the order of
 * every accumulation, its precision, what rounds or approximates. Equal texts of one model say
 * equal bits on one CPU level, for any number of threads, in the process and as a bundle. If
 * sizes are dynamic, equal inputs give equal bits in every session, whatever sizes it has had before
 * and whether or not a specialization runs. A program that was compiled for one of these sizes alone has a
 * contract of its own. */
WICK_API const char *wick_compiled_contract(const wick_compiled *compiled);

/* The dynamic sizes, in the order in which wick_profile_entry has them. */
WICK_API uint32_t wick_compiled_nsize(const wick_compiled *compiled);
WICK_API wick_size_range wick_compiled_size(const wick_compiled *compiled, uint32_t i);

typedef enum wick_specialization_state {
  WICK_SPECIALIZATION_NONE,
  WICK_SPECIALIZATION_REQUESTED,
  WICK_SPECIALIZATION_COMPILING,
  WICK_SPECIALIZATION_READY,
  WICK_SPECIALIZATION_FAILED, /* `why` says why; the program for all sizes is used */
  WICK_SPECIALIZATION_SLOWER  /* than the program for all sizes, which is used */
} wick_specialization_state;

typedef struct wick_profile_entry { /* sizes that have occurred, or have a specialization */
  const int64_t *sizes; /* wick_compiled_nsize of them; as long as the compiled model lives */
  uint64_t nrun;        /* of all sessions */
  wick_specialization_state specialization;
  bool ahead;      /* the specialization came with the artifact */
  bool cached;     /* it came out of the cache */
  const char *why; /* or "" */
  /* The shortest run that was measured, of the program for all sizes and of the specialization;
   * 0: none. */
  uint64_t base_nanoseconds, specialized_nanoseconds;
} wick_profile_entry;

/* The i-th entry of the profile as it is now, in the order in which sizes first occurred, at most
 * 1,024. Sizes may have further entries, of specializations for some contents
 * (wick_compiled_profile_content). False: there are no more. From any thread. */
WICK_API bool wick_compiled_profile(const wick_compiled *compiled, uint32_t i,
                                    wick_profile_entry *out);
typedef struct wick_profile_content { /* of an input that decides branches */
  const char *input;
  const void *data; /* wick_io.nbytes of them, as long as the compiled model lives; NULL: this entry
                       says nothing about it */
  bool guarded;     /* the entry is that of a specialization for these contents; if not, all runs of
                       the entry had these contents */
} wick_profile_content;

/* Guard inputs: small inputs of whole numbers or bools that decide branches; and what the i-th entry
 * says about the k-th of them. False: there is no such entry or input. From any thread. */
WICK_API uint32_t wick_compiled_nguard_input(const wick_compiled *compiled); /* at most 64 */
WICK_API const char *wick_compiled_guard_input(const wick_compiled *compiled,
                                               uint32_t k); /* or NULL */
WICK_API bool wick_compiled_profile_content(const wick_compiled *compiled, uint32_t i, uint32_t k,
                                            wick_profile_content *out);
/* Returns when each requested specialization is ready or has failed. */
WICK_API void wick_compiled_wait(const wick_compiled *compiled);

typedef enum wick_flow_kind { WICK_FLOW_IF, WICK_FLOW_LOOP } wick_flow_kind;

typedef struct wick_flow { /* what the runs of all sessions have done where the model decides */
  const char *location;    /* of the user's node; as long as the compiled model lives */
  wick_flow_kind kind;
  uint64_t ntaken[2];    /* runs through each branch of an if: else, then */
  uint64_t nloop, nstep; /* times that a loop was entered; steps of all these times */
  uint64_t least, most;  /* steps of one time; 0 where nloop is */
} wick_flow;

/* Branches and loops that are left in the code, in its order; nodes of one name count as one. What
 * follows from sizes and constants was decided while compiling, and is none. The counts are as they
 * are now; from any thread. Failed runs count as far as they went. */
WICK_API uint32_t wick_compiled_nflow(const wick_compiled *compiled);
WICK_API wick_flow wick_compiled_flow(const wick_compiled *compiled, uint32_t i);

typedef struct wick_memory { /* bytes */
  uint64_t constants;        /* packed weights, shared by all sessions */
  uint64_t arena;            /* of a session; 0 if sizes are dynamic: it depends on the shapes */
  uint64_t scratch;          /* of each of its threads; 0 if sizes are dynamic */
} wick_memory;
WICK_API wick_memory wick_compiled_memory(const wick_compiled *compiled);

typedef struct wick_kernel_facts {
  const char *name;
  const char *location;   /* of the user's nodes that it computes */
  const char *schedule;   /* the steps that made its loops, from the plain ones */
  uint64_t flops, nbytes; /* of one run: floating-point operations; bytes read and written, each
                             constant once */
  uint64_t cycles;        /* of one run on one thread, by Wick's model: the time of so many pairs of
                             multiply-adds of a vector */
  uint64_t tasks;         /* that threads share */
  const char *limit;      /* what limits it by the model, in words */
  uint64_t nweights;      /* constants among nbytes, each once */
} wick_kernel_facts;
WICK_API uint32_t wick_compiled_nkernel(const wick_compiled *compiled);
WICK_API wick_kernel_facts wick_compiled_kernel(const wick_compiled *compiled, uint32_t i);

/* ---- running ---- */

typedef struct wick_session wick_session; /* of one thread at a time */

typedef struct wick_session_options {
  size_t size;      /* sizeof(wick_session_options) */
  uint32_t threads; /* with the caller's; 0: as many as the process may use CPUs */
  bool pin_threads; /* each thread stays on one CPU */
  /* After each kernel, on the thread of the run; may be NULL. */
  void (*profile)(void *arg, uint32_t kernel, uint64_t nanoseconds);
  void *arg; /* of profile; with it, the session runs the program for all sizes alone */
} wick_session_options;

/* `options` may be NULL. The compiled model outlives its sessions. */
WICK_API wick_error *wick_session_create(const wick_compiled *compiled,
                                         const wick_session_options *options,
                                         wick_session **out_session);
WICK_API void wick_session_free(wick_session *session); /* NULL is legal */
WICK_API uint32_t wick_session_threads(const wick_session *session);

/* Gives the shapes of inputs in the next runs, if the compiled model has dynamic sizes (wick_io.dim is
 * -1). An input that is not named has the shape that follows from those of the others.
 * What a new size needs is made here, and kept: giving one again costs nothing, and runs allocate
 * nothing. Fails, and leaves the shapes as they were: WICK_EINVAL for an input that does not exist,
 * WICK_ETYPE for shapes that do not fit the model or each other, WICK_ERANGE for sizes outside of
 * their ranges; after WICK_ENOMEM there are no shapes. */
WICK_API wick_error *wick_session_shape(wick_session *session, uint32_t nshape,
                                        const wick_shape *shape);
/* Inputs and outputs as they are in the runs to come: dim -1 where a shape is to be given first.
 * Valid until wick_session_shape is called again. NULL: no such. */
WICK_API const wick_io *wick_session_input(const wick_session *session, uint32_t i);
WICK_API const wick_io *wick_session_output(const wick_session *session, uint32_t i);

/* Runs once, on the caller's memory: an address for each input and each output, of wick_io.nbytes
 * bytes, aligned to the element; no output overlaps anything else. Nothing is copied or allocated,
 * but for strings that the model makes: memory for those is taken where a run has more of them than
 * any before.
 * The bits are the same for any number of threads. Fails where the model fails on these inputs. */
WICK_API wick_error *wick_run(wick_session *session, const void *const *inputs,
                              void *const *outputs);

#ifdef __cplusplus
}
#endif
#endif
