/* wick run: loads a model, compiles it, runs it once on files, and shows or writes its outputs. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "driver/model.h"
#include "driver/output_size.h"
#include "driver/states.h"
#include "ir/element.h"

#include "args.h"
#include "check_evaluate.h"
#include "command.h"
#include "invocation.h"
#include "model_inputs.h"
#include "profile.h"
#include "program_args.h"
#include "show.h"

typedef struct run_state {
  wick_invocation invocation;
  wick_words inputs;
  const char *outputs, *profile, *labels, *args;
  int64_t top;
  wick_invocation_image image;
  bool reference, unlimited, json;
  wick_list(wick_datum *) data; /* all that was made */
  wick_module *module; /* for the reference: imported with the sizes and contents of the inputs */
  wick_pipeline expanded; /* for the reference: the functions that replace transformations */
} run_state;

/* ---- the reference ---- */

/* Interns the strings, because the reference takes their numbers. */
static void *run_numbers(run_state *r, const wick_array *a)
{
  const wick_string *text = a->data;
  uint64_t n = a->nbytes / sizeof *text;
  int64_t *number = wick_new(&r->invocation.mem, int64_t, n + 1);
  for (uint64_t i = 0; i < n; i++)
    number[i] = wick_string_table_add(&r->module->strings, text[i].at, text[i].nbytes, true);
  return number;
}

/* Replaces the numbers of interned strings by the strings, as compiled code returns them. */
static void run_texts(run_state *r, wick_array *a)
{
  const int64_t *number = a->data;
  uint64_t n = a->nbytes / sizeof *number;
  wick_string *text = wick_new(&r->invocation.mem, wick_string, n + 1);
  for (uint64_t i = 0; i < n; i++) text[i] = wick_string_table_get(&r->module->strings, number[i]);
  a->data = text, a->nbytes = n * sizeof *text;
}

/* Stores an output of one run among those of all frames; without --frames it is the output. */
static void run_frame(run_state *r, const wick_array *a, uint32_t frame, uint32_t nframe,
                      wick_array *out)
{
  if (!r->invocation.frames) {
    *out = *a;
    return;
  }
  unsigned char *at;
  if (!frame) {
    *out = *a;
    memmove(out->dim + 1, a->dim, a->rank * sizeof *a->dim);
    out->dim[0] = nframe, out->rank = a->rank + 1, out->nbytes = nframe * a->nbytes;
    out->data = at = wick_arena_alloc(&r->invocation.mem, out->nbytes + 1, 64);
  } else {
    at = (unsigned char *)(uintptr_t)out->data;
  }
  if (a->nbytes) memcpy(at + frame * a->nbytes, a->data, a->nbytes);
}

/* Returns why outputs cannot be those of several runs. */
static wick_status run_frames_check(run_state *r, const wick_io *const *io, uint32_t n)
{
  wick_invocation *j = &r->invocation;
  const char **name = wick_new(&j->mem, const char *, n + 1u);
  uint32_t *rank = wick_new(&j->mem, uint32_t, n + 1u);
  for (uint32_t k = 0; k < n; k++) {
    name[k] = io[k]->name, rank[k] = io[k]->rank;
    const char *why = io[k]->data                               ? "is no tensor"
                      : io[k]->elem == WICK_STRING              ? "has strings"
                      : io[k]->rank >= WICK_MAX_RANK            ? "has too many dimensions"
                      : wick_elem_storage[io[k]->elem].bits < 8 ? "has elements of less than a byte"
                                                                : NULL;
    if (why)
      return wick_fail(&j->mem, WICK_EUNSUPPORTED, "--frames", "the output \"%s\" %s", name[k],
                       why);
  }
  if (wick_output_sizes_of(name, rank, n, &j->mem).nsize)
    return wick_fail(&j->mem, WICK_EUNSUPPORTED, "--frames",
                     "the size of an output depends on data, and differs from run to run");
  return NULL;
}

static void run_print(void *arg, const char *line)
{
  (void)arg;
  puts(line);
}

static wick_status run_reference(run_state *r, const wick_model_inputs *model_inputs,
                                 wick_array **out, uint32_t *out_n)
{
  wick_invocation *j = &r->invocation;
  wick_model *m = j->model;
  wick_given given;
  const wick_func *f;
  if (!m) return wick_fail(&j->mem, WICK_EINVAL, j->path, "an artifact has no reference");
  uint32_t ncontent, ninput;
  const wick_content *content = wick_invocation_contents(j, model_inputs, &ncontent);
  WICK_TRY(wick_model_sizes(m, model_inputs->nshape, model_inputs->shape, j->nsize, j->sizes,
                            &j->mem, &given));
  WICK_TRY(wick_model_contents(m, ncontent, content, &j->mem, &given));
  r->module = wick_module_create(&j->guard, j->path);
  WICK_TRY(wick_model_import(m, &given, r->module, &j->mem, &j->tmp, &f));
  wick_module_align(r->module);
  const wick_io *io;
  wick_model_describe(f, &j->mem, &ninput, out_n, &io);
  const wick_func *plain = f;
  WICK_TRY(wick_check_expand(&r->expanded, &plain, &j->tmp));
  uint32_t nstate = wick_states_count(f), nresult = *out_n, n = model_inputs->n;
  wick_tensor *in = wick_new(&j->mem, wick_tensor, n + nstate),
              *result = wick_new(&j->mem, wick_tensor, nresult);
  *out_n -= nstate;
  *out = wick_new(&j->mem, wick_array, *out_n);
  for (uint32_t frame = 0; frame < model_inputs->nframe; frame++) {
    for (uint32_t i = 0; i < model_inputs->n; i++) {
      const wick_array *a = &model_inputs->array[i];
      const char *at = (const char *)a->data + frame * a->nbytes;
      in[i] = (wick_tensor){
          .elem = a->elem, .rank = a->rank, .data = wick_arena_copy(&j->mem, at, a->nbytes, 64)};
      memcpy(in[i].dim, a->dim, a->rank * sizeof *a->dim);
      if (a->elem == WICK_STRING) in[i].data = run_numbers(r, a);
    }
    WICK_TRY(wick_check_run(j->command, j->path, r->unlimited, plain, n, in, run_print, &j->mem,
                            &j->tmp, &j->scratch, result));
    for (uint32_t k = 0; k < nstate; k++) in[model_inputs->n + k] = result[*out_n + k];
    n = model_inputs->n + nstate;
    for (uint32_t k = 0; k < *out_n; k++) {
      wick_array a = {.name = io[ninput + k].name,
                      .elem = result[k].elem,
                      .rank = result[k].rank,
                      .data = result[k].data,
                      .keys = io[ninput + k].keys};
      memcpy(a.dim, result[k].dim, a.rank * sizeof *a.dim);
      if (!wick_array_nbytes(a.elem, a.rank, a.dim, &a.nbytes)) a.nbytes = 0;
      if (a.elem == WICK_STRING) run_texts(r, &a);
      run_frame(r, &a, frame, model_inputs->nframe, &(*out)[k]);
    }
  }
  return NULL;
}

/* ---- compiled code ---- */

/* The inputs as the arguments in the language's syntax say. */
static wick_status run_arguments(run_state *r, wick_program_args *a, wick_model_inputs *out)
{
  wick_invocation *j = &r->invocation;
  uint32_t n, npart;
  const wick_io **io = wick_invocation_inputs(j, &n);
  const wick_part *part = j->model ? wick_model_parameters(j->model, &npart)
                                   : wick_compiled_parameters(j->compiled, &npart);
  if (r->inputs.n)
    return wick_fail(&j->mem, WICK_EINVAL, "--args", "it is given together with --inputs");
  WICK_TRY(wick_program_args_read(r->args, part, n, io, &j->mem, a));
  wick_shape *shape = wick_new(&j->mem, wick_shape, n + 1u);
  *out = (wick_model_inputs){.n = n, .array = a->array, .shape = shape, .nframe = 1};
  out->data = wick_new(&j->mem, const void *, n + 1u);
  for (uint32_t i = 0; i < n; i++) {
    out->data[i] = a->array[i].data;
    shape[out->nshape++] = (wick_shape){io[i]->name, a->array[i].rank, a->array[i].dim};
  }
  return NULL;
}

/* Makes the inputs that are data. */
static wick_status run_data(run_state *r, const wick_program_args *a, const void **data)
{
  wick_invocation *j = &r->invocation;
  for (uint32_t i = 0; i < a->n; i++) {
    const wick_io *io = wick_compiled_input(j->compiled, i);
    wick_datum *d;
    if (!io->data) continue;
    WICK_TRY(wick_program_args_datum(a->text[i], io->name, io->data, wick_session_heap(j->session),
                                     &j->mem, &d));
    wick_push(&j->mem, &r->data, d);
    data[i] = d;
  }
  return NULL;
}

static wick_status run_compiled(run_state *r, const wick_program_args *arguments,
                                const wick_model_inputs *model_inputs, wick_array **out,
                                uint32_t *out_n)
{
  wick_invocation *j = &r->invocation;
  WICK_TRY(wick_invocation_serve(j, model_inputs));
  WICK_TRY(run_data(r, arguments, model_inputs->data));
  uint32_t n = *out_n = wick_compiled_noutput(j->compiled);
  const wick_io **io = wick_invocation_outputs(j);
  if (r->invocation.frames) WICK_TRY(run_frames_check(r, io, n));
  void **buffers = wick_model_inputs_buffers(io, n, &j->mem);
  *out = wick_new(&j->mem, wick_array, n);
  const void **data = wick_dup(&j->mem, const void *, model_inputs->data, model_inputs->n);
  for (uint32_t frame = 0; frame < model_inputs->nframe; frame++) {
    for (uint32_t i = 0; r->invocation.frames && i < model_inputs->n; i++)
      data[i] = (const char *)model_inputs->data[i] + frame * model_inputs->array[i].nbytes;
    WICK_TRY(wick_invocation_take(j, wick_run(j->session, data, buffers)));
    for (uint32_t k = 0; k < n; k++) {
      wick_array a = wick_model_inputs_array(io[k], buffers[k]);
      if (io[k]->data) wick_push(&j->mem, &r->data, a.datum = *(wick_datum **)buffers[k]);
      run_frame(r, &a, frame, model_inputs->nframe, &(*out)[k]);
    }
  }
  return NULL;
}

/* Returns the outputs as the model declares them. */
static wick_ports run_ports(run_state *r, const wick_array *output, uint32_t n)
{
  wick_invocation *j = &r->invocation;
  const char **name = wick_new(&j->mem, const char *, n);
  for (uint32_t k = 0; k < n; k++) name[k] = output[k].name ? output[k].name : "";
  if (r->reference)
    return wick_ports_of("output", r->module->metadata.n, r->module->metadata.at, n, name, &j->mem);
  return wick_invocation_ports(j, "output", n, name);
}

/* Adds the profile of this run to that in the file. */
static wick_status run_add(run_state *r)
{
  wick_invocation *j = &r->invocation;
  json_t *before;
  WICK_TRY(wick_profile_read(r->profile, &j->mem, &before));
  json_t *now = wick_profile_json(j->compiled, &j->mem), *all = before ? before : now;
  wick_status bad = before ? wick_profile_add(before, now, r->profile, &j->mem) : NULL;
  if (!bad) bad = wick_profile_write(r->profile, all, &j->mem);
  json_decref(before);
  json_decref(now);
  return bad;
}

/* Locks the folder while it adds to the record. The record itself cannot be locked, because it is
 * replaced. */
static wick_status run_record(run_state *r)
{
  int folder =
      open(wick_path_folder(&r->invocation.mem, r->profile), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (folder >= 0 && flock(folder, LOCK_EX) && errno == EINTR) continue;
  wick_status bad = run_add(r);
  if (folder >= 0) close(folder);
  return bad;
}

static wick_status run_read_labels(run_state *r, wick_words *out)
{
  wick_invocation *j = &r->invocation;
  wick_file *file;
  if (!r->labels) return NULL;
  WICK_TRY(wick_files_map(&j->files, r->labels, &file));
  return wick_labels_read((wick_span){file->at, file->nbytes}, r->labels, &j->mem, out);
}

static wick_status run_show(run_state *r, const wick_array *output, uint32_t n,
                            const wick_show_options *o)
{
  wick_invocation *j = &r->invocation;
  if (!r->json) {
    wick_show(output, n, o, &j->tmp);
    return NULL;
  }
  json_t *all = json_pack("{s:o, s:o}", "model", wick_json_text(j->path), "outputs",
                          wick_show_json(output, n, o, &j->tmp));
  return wick_invocation_json(j, all);
}

static wick_status run_model(run_state *r)
{
  wick_invocation *j = &r->invocation;
  wick_words labels = {0};
  WICK_TRY(run_read_labels(r, &labels));
  j->inputs = &r->inputs;
  WICK_TRY(wick_invocation_load(j));
  wick_model_inputs model_inputs;
  wick_program_args arguments = {0};
  if (r->args)
    WICK_TRY(run_arguments(r, &arguments, &model_inputs));
  else
    WICK_TRY(wick_invocation_feed(j, &r->inputs, &r->image, &model_inputs));
  wick_array *output = NULL;
  uint32_t n = 0;
  if (r->reference)
    WICK_TRY(run_reference(r, &model_inputs, &output, &n));
  else
    WICK_TRY(run_compiled(r, &arguments, &model_inputs, &output, &n));
  n = wick_model_inputs_trim(output, n, &j->mem);
  if (labels.n) WICK_TRY(wick_show_check(output, n, &labels, r->labels, &j->mem));
  const char *text = wick_invocation_metadata(j, "labels");
  wick_words metadata = {0};
  if (text) wick_labels_metadata(text, &j->mem, &metadata);
  const wick_show_options o = {
      .labels = &labels, .metadata = &metadata, .top = (uint32_t)r->top, .folder = r->outputs};
  WICK_TRY(run_show(r, output, n, &o));
  if (r->outputs) {
    wick_ports ports = run_ports(r, output, n);
    WICK_TRY(wick_model_outputs_write(&ports, output, r->outputs, &j->tmp));
  }
  return r->profile ? run_record(r) : NULL;
}

static int run_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  run_state *r = arg;
  const wick_flag flag[] = {
      {"inputs", 'i', WICK_FLAG_FILES, &r->inputs, "FILE...",
       "reads [NAME=]FILE: tensors (.npy, .npz, .pb), pictures (.png, .jpg), maps (.json, .pb), "
       "sequences and optionals (.pb)"},
      {"input", 0, WICK_FLAG_FILES, &r->inputs, NULL, NULL},
      {"args", 0, WICK_FLAG_STRING, &r->args, "ARGUMENTS",
       "gives the arguments of a program's function in the language's syntax: 'Cons(1, Nil), "
       "[1.0]'"},
      {"frames", 0, WICK_FLAG_BOOL, &j->frames, NULL,
       "inputs and outputs have one more dimension in front: the runs of one session, in order, "
       "which keeps the model's states"},
      {"outputs", 'o', WICK_FLAG_FOLDER, &r->outputs, "DIR",
       "writes DIR/output_K.npy, .data for data, or .pb for sequences, optionals and maps; the "
       "keys of maps also "
       "to "
       "DIR/output_K.keys.json"},
      {"record-stats", 0, WICK_FLAG_FILE, &r->profile, "FILE",
       "adds the run's sizes, branches and loops to the record that wick explain reads"},
      {"labels", 0, WICK_FLAG_FILE, &r->labels, "FILE",
       "reads names of classes (lines, or a JSON list or dict) and shows the best classes"},
      {"top", 0, WICK_FLAG_COUNT, &r->top, "K", "shows K classes; 5 by default"},
      {"json", 0, WICK_FLAG_BOOL, &r->json, NULL, "prints one object of JSON (docs/json.md)"},
      WICK_IMAGE_FLAGS(&r->image),
      {"reference", 0, WICK_FLAG_BOOL, &r->reference, NULL,
       "evaluates the operators' definitions, slowly, instead of compiled code"},
      WICK_UNLIMITED_FLAG(&r->unlimited),
      WICK_INVOCATION_FLAGS(j),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_invocation_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (j->frames && r->args)
    return wick_invocation_usage(j, "--frames is for tensors in files, not for --args");
  if (r->reference && r->profile)
    return wick_invocation_usage(
        j, "--record-stats counts runs of compiled code, which --reference does not use");
  wick_status s = run_model(r);
  wick_pipeline_free(&r->expanded);
  for (uint32_t i = 0; i < r->data.n; i++) wick_datum_free(r->data.at[i]);
  return wick_invocation_end(j, s);
}

int wick_cmd_run(int argc, char **argv)
{
  run_state r = {0};
  int status = wick_invocation_main(&r.invocation, run_main, &r, argc, argv);
  wick_module_free(r.module);
  return status;
}
