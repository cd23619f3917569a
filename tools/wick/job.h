/* What `run`, `bench` and `compile` share: a model or an artifact, how it is compiled, its session.
 *
 *   static int x_main(wick_job *j, void *arg, int argc, char **argv)
 *   {
 *     const wick_flag flag[] = {..., WICK_JOB_FLAGS(j)};
 *     wick_args args = {...};
 *     int stop = wick_job_args(j, &args, argc, argv);
 *     return stop >= 0 ? stop : wick_job_end(j, x_work(j));
 *   }
 *   int wick_cmd_x(int argc, char **argv) { wick_job j = {0}; return wick_job_main(&j, x_main,
 * ...); }
 */
#ifndef WICK_TOOLS_JOB_H
#define WICK_TOOLS_JOB_H

#include "driver/model.h"

#include "args.h"
#include "feed.h"

typedef struct wick_job {
  const char *command, *path;
  const char *target, *precision, *records;
  int64_t threads, processes, copies;
  bool no_cache, time, strict;
  wick_words dims;  /* NAME=N, NAME=LO..HI, NAME=LO..HI:STEP */
  const char *grad; /* what is differentiated; NULL: the first output, where `wrt` has names */
  wick_words wrt;
  uint32_t nsize;
  wick_size *sizes;
  uint32_t nrange;
  wick_size_range *ranges;
  wick_words pinned; /* NAME=N, and further values of the name before */
  uint32_t npin;
  wick_size *pins;
  wick_words held; /* NAME=VALUE, and further values of the name before */
  uint32_t nheld;
  wick_content *contents; /* `held`, once there is a model */
  bool vary;              /* sizes that nothing is said of stay open */

  wick_guard guard;
  wick_arena mem, tmp, scratch;
  wick_files files;
  wick_context *context;
  wick_model *model; /* NULL: an artifact */
  wick_compiled *compiled;
  wick_session *session;
} wick_job;

#define WICK_JOB_FLAGS(j)                                                                          \
  {                                                                                                \
      "threads",     't', WICK_FLAG_INT,                                                           \
      &(j)->threads, "N", "of a run; 0: all that the process may use"},                            \
      {"target", 0, WICK_FLAG_STRING, &(j)->target, "NAME", "machine to compile for; host"},       \
      {"dim",          0,                                                                          \
       WICK_FLAG_LIST, &(j)->dims,                                                                 \
       "NAME=N...",    "sizes that the model leaves open; NAME=LO..HI[:STEP]: what they may be"},  \
      {"pin-dim", 0, WICK_FLAG_LIST, &(j)->pinned, "NAME=N,N...", "copies for these sizes alone"}, \
      {"pin-input",       0,                                                                       \
       WICK_FLAG_LIST,    &(j)->held,                                                              \
       "NAME=VALUE,V...", "copies for what small inputs hold, from which branches follow"},        \
      {"copies", 0, WICK_FLAG_INT, &(j)->copies, "N", "made for sizes that are met often"},        \
      {"grad", 0, WICK_FLAG_STRING, &(j)->grad, "TENSOR", "gives its derivatives, too"},           \
      {"wrt", 0, WICK_FLAG_LIST, &(j)->wrt, "TENSOR...", "derivatives by these; all inputs"},      \
      {"processes", 0, WICK_FLAG_INT, &(j)->processes, "N", "of the code generator at once"},      \
      {"records", 0, WICK_FLAG_STRING, &(j)->records, "FILE", "schedules that `wick tune` found"}, \
      {"strict", 0, WICK_FLAG_BOOL, &(j)->strict, NULL, "nothing that only approximates"},         \
      {"precision",      0,                                                                        \
       WICK_FLAG_STRING, &(j)->precision,                                                          \
       "NAME",           "of floats: f64; bf16 or f16 where they are multiplied and in memory"},   \
      {"no-cache", 0, WICK_FLAG_BOOL, &(j)->no_cache, NULL, "neither reads nor writes the cache"}, \
  {                                                                                                \
    "time-passes", 0, WICK_FLAG_BOOL, &(j)->time, NULL, "seconds of each stage, on stderr"         \
  }

typedef int wick_job_fn(wick_job *j, void *arg, int argc, char **argv);
int wick_job_main(wick_job *j, wick_job_fn *fn, void *arg, int argc, char **argv);
/* NAME=N, NAME=LO..HI, NAME=LO..HI:STEP; false for anything else. */
bool wick_job_dim(const char *word, wick_arena *mem, wick_size_range *out);
/* The command's arguments; the one word is the model. Returns -1 to go on. */
int wick_job_args(wick_job *j, wick_args *args, int argc, char **argv);
int wick_job_usage(const wick_job *j, const char *what); /* says it; the exit status */
int wick_job_end(wick_job *j, wick_status s);            /* says what failed; the exit status */

/* A public error as a status of the job; frees it. */
WICK_CHECKED wick_status wick_job_take(wick_job *j, wick_error *e);

WICK_CHECKED wick_status wick_job_load(wick_job *j);
const char *wick_job_metadata(const wick_job *j, const char *key);
/* Of the model, or of what is compiled, once it is. */
const wick_io **wick_job_inputs(wick_job *j, uint32_t *out_n);
const wick_io **wick_job_outputs(wick_job *j);
/* Inputs from files, pictures as the model's metadata says, or as `image` does where it does. */
typedef struct wick_job_image {
  const char *layout, *mean, *scale;
} wick_job_image;
WICK_CHECKED wick_status wick_job_feed(wick_job *j, const wick_words *files,
                                       const wick_job_image *image, wick_feed *out);
/* Shapes of the model's inputs. */
const wick_shape *wick_job_shapes(wick_job *j, const wick_feed *feed);
const wick_content *wick_job_contents(wick_job *j, const wick_feed *feed);
/* What the flags, and the shapes and contents of `feed` (NULL: the model's own shapes), ask of the
 * compiler. */
wick_compile_options wick_job_options(wick_job *j, const wick_feed *feed);
/* Compiles for the shapes of `feed` (NULL: the model's own). An artifact is what it is. */
WICK_CHECKED wick_status wick_job_compile(wick_job *j, const wick_feed *feed);
/* Where sizes vary, with the shapes of `feed`; NULL: with the sizes that --dim says. */
WICK_CHECKED wick_status wick_job_session(wick_job *j, const wick_feed *feed,
                                          void (*profile)(void *arg, uint32_t kernel,
                                                          uint64_t nanoseconds),
                                          void *arg);

#endif
