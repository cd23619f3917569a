/* For the commands `run`, `bench` and `compile`: a model or an artifact, its compilation, its session.
 *
 *   static int x_main(wick_invocation *j, void *arg, int argc, char **argv)
 *   {
 *     const wick_flag flag[] = {..., WICK_INVOCATION_FLAGS(j)};
 *     wick_args args = {...};
 *     int stop = wick_invocation_args(j, &args, argc, argv);
 *     return stop >= 0 ? stop : wick_invocation_end(j, x_work(j));
 *   }
 *   int wick_cmd_x(int argc, char **argv)
 *   {
 *     wick_invocation j = {0};
 *     return wick_invocation_main(&j, x_main, ...);
 *   }
 */
#ifndef WICK_TOOLS_INVOCATION_H
#define WICK_TOOLS_INVOCATION_H

#include "driver/model.h"

#include "args.h"
#include "json_out.h"
#include "model_inputs.h"

typedef struct wick_invocation {
  const char *command, *path;
  const char *entry; /* of a program of the language */
  const char *ops;   /* functions of the language for imported models */
  const char *target, *tune, *precision, *records;
  int64_t threads, jobs, auto_specialize;
  bool no_cache, time, strict, allow_links;
  bool frames;      /* the inputs' tensors have one more dimension in front: runs of one session */
  bool remarks;     /* remarks on the model and its compilation go to standard error */
  wick_words dims;  /* NAME=N, NAME=LO..HI, NAME=LO..HI:STEP */
  const char *grad; /* the tensor to differentiate; NULL: the first output, if `wrt` has names */
  wick_words wrt;
  wick_words donate;        /* inputs */
  wick_words override;      /* initializers that become inputs */
  const wick_words *inputs; /* tensors; an initializer with a tensor's name becomes an input */
  uint32_t nsize;
  wick_size *sizes;
  uint32_t nrange;
  wick_size_range *ranges;
  wick_words specialize_dim_words; /* NAME=N, and further values of the previous name */
  uint32_t nspecialize_dim;
  wick_size *specialize_dims;
  wick_words specialize_input_words; /* NAME=VALUE, and further values of the previous name */
  uint32_t nspecialize_input;
  wick_content *contents; /* the values of specialize_input_words, set when the model is loaded */
  bool dynamic;           /* sizes that are not given stay dynamic */

  wick_guard guard;
  wick_arena mem, tmp, scratch;
  wick_files files;
  wick_context *context;
  wick_model *model; /* NULL for an artifact */
  wick_compiled *compiled;
  wick_session *session;
} wick_invocation;

/* The option of all commands that read models. */
#define WICK_LINKS_FLAG(out)                                                                       \
  {                                                                                                \
    "allow-links", 0, WICK_FLAG_BOOL, out, NULL,                                                   \
        "follows all links to external data, also those outside of a model store"                  \
  }

#define WICK_OPS_FLAG(out)                                                                         \
  {                                                                                                \
    "ops", 0, WICK_FLAG_FILE, out, "FILE.wick",                                                    \
        "functions of the language that are operators of the model, by domain and name"            \
  }

#define WICK_INVOCATION_FLAGS(j)                                                                     \
  {"entry",     0,      WICK_FLAG_STRING,                                                            \
   &(j)->entry, "NAME", "the function of a program (main by default), or a model's signature"},      \
      {"threads",     't', WICK_FLAG_THREADS,                                                        \
       &(j)->threads, "N", "threads of a run; 0 for all that the process may use"},                  \
      {"target",     0,      WICK_FLAG_STRING,                                                       \
       &(j)->target, "NAME", "the machine to compile for; without it, this one"},                    \
      {"tune",           0,                                                                          \
       WICK_FLAG_STRING, &(j)->tune,                                                                 \
       "NAME|FILE",      "schedules for this processor: a name, host, or a file of wick calibrate"}, \
      {"dim",      0,           WICK_FLAG_DIMS,                                                      \
       &(j)->dims, "NAME=N...", "sizes of dynamic dimensions; NAME=LO..HI[:STEP]: their range"},     \
      {"specialize-dim", 0,                                                                          \
       WICK_FLAG_SIZES,  &(j)->specialize_dim_words,                                                 \
       "NAME=N,N...",    "specializes the program for these sizes"},                                 \
      {"specialize-input",                                                                           \
       0,                                                                                            \
       WICK_FLAG_CONTENTS,                                                                           \
       &(j)->specialize_input_words,                                                                 \
       "NAME=VALUE,V...",                                                                            \
       "specializes the program for these contents of small inputs that decide branches"},           \
      {"auto-specialize",                                                                            \
       0,                                                                                            \
       WICK_FLAG_SMALL,                                                                              \
       &(j)->auto_specialize,                                                                        \
       "N",                                                                                          \
       "specializes the program for at most N combinations of sizes that runs often have"},          \
      {"grad",     0,        WICK_FLAG_STRING,                                                       \
       &(j)->grad, "TENSOR", "adds the derivatives of this tensor to the outputs"},                  \
      {"override",     0,                                                                            \
       WICK_FLAG_LIST, &(j)->override,                                                               \
       "TENSOR,...",   "makes inputs of these overridable initializers"},                            \
      {"donate",     0,           WICK_FLAG_LIST,                                                    \
       &(j)->donate, "INPUT,...", "lets each of these inputs share its memory with an output"},      \
      {"wrt",          0,                                                                            \
       WICK_FLAG_LIST, &(j)->wrt,                                                                    \
       "TENSOR,...",   "derivatives with respect to these; without it, to all inputs"},              \
      {"jobs",     0,   WICK_FLAG_THREADS,                                                           \
       &(j)->jobs, "N", "processes of the code generator at once; 0: one for each CPU"},             \
      {"tuning", 0, WICK_FLAG_FILE, &(j)->records, "FILE", "schedules that `wick tune` found"},      \
      {"strict",     0,    WICK_FLAG_BOOL,                                                           \
       &(j)->strict, NULL, "makes no use of rewrites that approximate"},                             \
      {"precision",      0,                                                                          \
       WICK_FLAG_CHOICE, &(j)->precision,                                                            \
       "f64|bf16|f16",   "of floats: f64; bf16 or f16 where they are multiplied and in memory"},     \
      WICK_OPS_FLAG(&(j)->ops), WICK_LINKS_FLAG(&(j)->allow_links),                                  \
      {"no-cache", 0, WICK_FLAG_BOOL, &(j)->no_cache, NULL, "neither reads nor writes the cache"},   \
  {                                                                                                  \
    "time-passes", 0, WICK_FLAG_BOOL, &(j)->time, NULL,                                              \
        "prints the seconds of each stage on standard error"                                         \
  }

/* The options that fit pictures to inputs. */
typedef struct wick_invocation_image {
  wick_image_texts text;
  bool bgr;
} wick_invocation_image;

#define WICK_IMAGE_FLAGS(i)                                                                        \
  {"resize",          0,       WICK_FLAG_STRING,                                                   \
   &(i)->text.resize, "N|HxW", "resizes pictures: their shorter side to N, or both sides"},        \
      {"crop",          0,       WICK_FLAG_STRING,                                                 \
       &(i)->text.crop, "N|HxW", "then cuts this size out of the middle"},                         \
      {"filter",                                                                                   \
       0,                                                                                          \
       WICK_FLAG_CHOICE,                                                                           \
       &(i)->text.filter,                                                                          \
       "bilinear|bicubic|lanczos|nearest",                                                         \
       "resizes with this filter; bilinear by default"},                                           \
      {"scale",                                                                                    \
       0,                                                                                          \
       WICK_FLAG_NUMBERS,                                                                          \
       &(i)->text.scale,                                                                           \
       "X[,X,X]",                                                                                  \
       "multiplies pixels by X; 1/255 by default if --mean or --std is given and at most 1"},      \
      {"mean",          0,         WICK_FLAG_NUMBERS,                                              \
       &(i)->text.mean, "X[,X,X]", "then subtracts X from each channel"},                          \
      {"std", 0, WICK_FLAG_NUMBERS, &(i)->text.std, "X[,X,X]", "then divides each channel by X"},  \
      {"bgr", 0, WICK_FLAG_BOOL, &(i)->bgr, NULL, "orders the channels blue, green, red"},         \
  {                                                                                                \
    "layout", 0, WICK_FLAG_CHOICE, &(i)->text.layout, "nchw|nhwc",                                 \
        "sets the order of the axes; derived from the input's sizes by default"                    \
  }

typedef int wick_invocation_fn(wick_invocation *j, void *arg, int argc, char **argv);
int wick_invocation_main(wick_invocation *j, wick_invocation_fn *fn, void *arg, int argc,
                         char **argv);
/* Parses the command's arguments; the only word is the model. Returns -1 to go on. */
int wick_invocation_args(wick_invocation *j, wick_args *args, int argc, char **argv);
int wick_invocation_usage(const wick_invocation *j,
                          /* prints an error; returns the exit status */
                          const char *what);
/* prints a failure; returns the exit status */
int wick_invocation_end(wick_invocation *j, wick_status s);

/* Prints the object of --json, and frees it. */
WICK_CHECKED wick_status wick_invocation_json(wick_invocation *j, json_t *object);

/* Converts a public error to a status of the invocation, and frees it. */
WICK_CHECKED wick_status wick_invocation_take(wick_invocation *j, wick_error *e);

/* Maps the file at j->path; a folder that is a model gives no bytes. */
WICK_CHECKED wick_status wick_invocation_map(wick_invocation *j, const wick_file **out);

WICK_CHECKED wick_status wick_invocation_load(wick_invocation *j);
const char *wick_invocation_metadata(const wick_invocation *j, const char *key);
/* Returns the inputs of the model, or of the compiled model if it exists. */
const wick_io **wick_invocation_inputs(wick_invocation *j, uint32_t *out_n);
const wick_io **wick_invocation_outputs(wick_invocation *j);
/* Reads inputs from files. Pictures are converted as the model's metadata describe, or as `image`
 * does, which takes precedence. */
WICK_CHECKED wick_status wick_invocation_feed(wick_invocation *j, const wick_words *files,
                                              const wick_invocation_image *image,
                                              wick_model_inputs *out);
/* Returns the contents of the model's inputs. */
const wick_content *wick_invocation_contents(wick_invocation *j,
                                             const wick_model_inputs *model_inputs,
                                             uint32_t *out_n);
/* Returns the inputs or outputs as the model declares them (`kind`: "input" or "output"). They
 * consist of these tensors of the program. */
wick_ports wick_invocation_ports(wick_invocation *j, const char *kind, uint32_t n,
                                 const char *const *name);
/* Returns the compiler's options for the flags, and for the shapes and contents of `feed` (NULL:
 * the model's own shapes). */
wick_compile_options wick_invocation_options(wick_invocation *j,
                                             const wick_model_inputs *model_inputs);
/* Compiles for the shapes of `feed` (NULL: the model's own). An artifact is not compiled. */
WICK_CHECKED wick_status wick_invocation_compile(wick_invocation *j,
                                                 const wick_model_inputs *model_inputs);
/* Creates a session. If sizes are dynamic, it gets the shapes of `feed`; NULL: the sizes of
 * --dim. */
WICK_CHECKED wick_status wick_invocation_session(
    wick_invocation *j, const wick_model_inputs *model_inputs,
    void (*profile)(void *arg, uint32_t kernel, uint64_t nanoseconds), void *arg);
/* Compiles, and creates a session for the shapes of `feed`. If the model has dynamic sizes, it is
 * compiled for all sizes if possible, so that every session with equal inputs gives the same bits;
 * otherwise for these shapes. */
WICK_CHECKED wick_status wick_invocation_serve(wick_invocation *j,
                                               const wick_model_inputs *model_inputs);

#endif
