/* wick opt: reads a model or a module in text, runs passes on it, and prints it as text. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/shown.h"
#include "driver/pipeline.h"
#include "driver/processor.h"
#include "import/format.h"
#include "ir/text.h"
#include "ir/verify.h"

#include "args.h"
#include "command.h"
#include "invocation.h"
#include "opt_pages.h"

typedef struct opt_state {
  wick_words pass, print_after;
  const char *out, *target, *tune, *pipeline, *until;
  bool time, verify, list, steps, markdown, no_data, no_locs;
  unsigned flags;
  wick_invocation invocation;
  wick_words inputs;     /* files of tensors that give a model's sizes and contents */
  wick_arena *mem, *tmp; /* belong to the invocation */
  wick_module *module;   /* in this struct, so that they are freed after a longjmp, too */
  wick_pipeline pipeline_run;
} opt_state;

static wick_status opt_write(const opt_state *o, const char *path)
{
  wick_text text = wick_text_begin(o->mem);
  if (o->flags & WICK_PRINT_DATA) wick_module_compute_deferred(o->module, o->tmp);
  wick_print_module(o->module, o->flags, &text);
  if (path) return wick_file_write(o->mem, path, &(wick_bytes){text.at, text.n}, 1);
  fwrite(text.at, 1, text.n, stdout);
  return NULL;
}

static wick_status opt_after(void *arg, const wick_pass_time *done, const wick_module *m)
{
  const opt_state *o = arg;
  (void)m;
  for (uint32_t i = 0; i < o->print_after.n; i++)
    if (strcmp(o->print_after.at[i], done->pass->name) == 0 ||
        strcmp(o->print_after.at[i], "all") == 0) {
      printf("// after %s\n", done->pass->name);
      return opt_write(o, NULL);
    }
  return NULL;
}

static void opt_times(const opt_state *o)
{
  fprintf(stderr, "%-20s %10s %10s %10s\n", "pass", "ms", "nodes", "MB held");
  for (uint32_t i = 0; i < o->pipeline_run.times.n; i++) {
    const wick_pass_time *t = &o->pipeline_run.times.at[i];
    fprintf(stderr, "%-20s %10.3f %10llu %10.1f\n", t->pass->name, 1e3 * t->seconds,
            (unsigned long long)t->nnode, 1e-6 * (double)t->nbytes);
  }
}

/* Imports a model. Fails for an artifact, which has no graph. */
static wick_status opt_import(opt_state *o)
{
  wick_invocation *j = &o->invocation;
  const wick_invocation_image image = {0};
  wick_model_inputs model_inputs = {0};
  wick_given given;
  const wick_func *f;
  WICK_TRY(wick_invocation_load(j));
  if (!j->model) return wick_fail(o->mem, WICK_EINVAL, j->path, "it is compiled and has no graph");
  if (o->inputs.n) WICK_TRY(wick_invocation_feed(j, &o->inputs, &image, &model_inputs));
  WICK_TRY(wick_model_sizes(j->model, model_inputs.nshape, model_inputs.shape, j->nsize, j->sizes,
                            o->mem, &given));
  WICK_TRY(wick_model_ranges(j->model, j->nrange, j->ranges, true, o->mem, &given));
  uint32_t ncontent;
  const wick_content *content = wick_invocation_contents(j, &model_inputs, &ncontent);
  WICK_TRY(wick_model_contents(j->model, ncontent, content, o->mem, &given));
  WICK_TRY(wick_model_import(j->model, &given, o->module, o->mem, o->tmp, &f));
  wick_module_align(o->module);
  return NULL;
}

/* Reads the module: text from a file or from standard input, or a model from its file. */
static wick_status opt_read(opt_state *o, const char *path)
{
  bool standard_input = strcmp(path, "-") == 0;
  char *text;
  size_t n;
  const wick_format *format;
  WICK_TRY(wick_format_find_folder(path, o->mem, &format));
  if (format) return opt_import(o);
  WICK_TRY(wick_file_read(o->mem, standard_input ? "/dev/stdin" : path, 0, &text, &n));
  const wick_span bytes = {(const unsigned char *)text, n};
  bool artifact = n >= 4 && memcmp(text, "WICK", 4) == 0;
  if (n && !artifact) WICK_TRY(wick_format_find(bytes, path, o->mem, &format));
  if (n && (artifact || format || wick_is_program(text, n) || !wick_model_is_text(bytes))) {
    if (standard_input)
      return wick_fail(o->mem, WICK_EINVAL, path,
                       "standard input takes a module in text; a model is read from its file");
    return opt_import(o);
  }
  if (o->invocation.dims.n || o->inputs.n) {
    if (!standard_input) return opt_import(o);
    return wick_fail(o->mem, WICK_EINVAL, path, "%s is for files, not for standard input",
                     o->inputs.n ? "--inputs" : "--dim");
  }
  return wick_parse_module(o->module, path, text, n, o->tmp);
}

static wick_status opt_file(opt_state *o, const char *path)
{
  o->module = wick_module_create(o->mem->guard, "");
  WICK_TRY(opt_read(o, path));
  wick_pipeline_begin(&o->pipeline_run, o->module);
  o->pipeline_run.verify = o->pipeline_run.verify || o->verify;
  o->pipeline_run.after = opt_after;
  o->pipeline_run.arg = o;
  if (o->target && !wick_target_find(o->target, &o->pipeline_run.target))
    return wick_fail(o->mem, WICK_EINVAL, NULL, "--target: there is no target \"%s\"", o->target);
  WICK_TRY(wick_target_tune(&o->pipeline_run.target, o->tune, false, NULL, o->mem));
  if (o->pipeline)
    WICK_TRY(wick_pipeline_run_named(&o->pipeline_run, o->pipeline, o->until, o->tmp));
  wick_text names = wick_text_begin(o->mem);
  for (uint32_t i = 0; i < o->pass.n; i++) wick_text_printf(&names, "%s,", o->pass.at[i]);
  WICK_TRY(wick_pipeline_run_all(&o->pipeline_run, names.at, o->tmp));
  for (uint32_t i = 0; i < o->pipeline_run.remarks.n; i++)
    fprintf(stderr, "remark: %s\n", wick_str_shown_lines(o->tmp, o->pipeline_run.remarks.at[i]));
  if (o->time) opt_times(o);
  return opt_write(o, o->out);
}

static int opt_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  opt_state *o = arg;
  o->mem = &j->mem, o->tmp = &j->tmp;
  const wick_flag flag[] = {
      {"pass", 'p', WICK_FLAG_LIST, &o->pass, "NAME,...", "runs these passes, in this order"},
      {"pipeline", 0, WICK_FLAG_STRING, &o->pipeline, "NAME",
       "first runs all passes of a pipeline: default, graph, kernels, ..."},
      {"until", 0, WICK_FLAG_STRING, &o->until, "PASS[:N]",
       "stops --pipeline after this pass, or after its N-th run"},
      {"target", 0, WICK_FLAG_STRING, &o->target, "NAME",
       "optimizes for this target; host by default"},
      {"tune", 0, WICK_FLAG_STRING, &o->tune, "NAME|FILE", "chooses schedules for this processor"},
      {"passes", 0, WICK_FLAG_BOOL, &o->list, NULL, "lists the passes and the pipelines"},
      {"schedule-steps", 0, WICK_FLAG_BOOL, &o->steps, NULL, "lists the steps of schedules"},
      {"markdown", 0, WICK_FLAG_BOOL, &o->markdown, NULL,
       "prints these lists as docs/passes.md and docs/schedules.md"},
      {"output", 'o', WICK_FLAG_FILE, &o->out, "FILE",
       "writes the module to this file instead of printing it"},
      {"print-after", 0, WICK_FLAG_LIST, &o->print_after, "NAME,...",
       "prints the module after these passes, or `all`"},
      {"dim", 0, WICK_FLAG_DIMS, &j->dims, "NAME=N...",
       "gives a dynamic size of a model a value, or a range: NAME=LO..HI[:STEP]"},
      {"entry", 0, WICK_FLAG_STRING, &j->entry, "NAME",
       "the function of a program (main by default)"},
      {"inputs", 'i', WICK_FLAG_FILES, &o->inputs, "FILE...",
       "takes a model's sizes from these tensors, and their contents where sizes depend on them"},
      {"input", 0, WICK_FLAG_FILES, &o->inputs, NULL, NULL},
      WICK_OPS_FLAG(&j->ops),
      WICK_LINKS_FLAG(&j->allow_links),
      {"time-passes", 0, WICK_FLAG_BOOL, &o->time, NULL,
       "prints the milliseconds, nodes and memory of each pass on standard error"},
      {"verify", 0, WICK_FLAG_BOOL, &o->verify, NULL,
       "verifies the module after each pass, as debug builds always do"},
      {"no-data", 0, WICK_FLAG_BOOL, &o->no_data, NULL, "prints constants without their data"},
      {"no-locs", 0, WICK_FLAG_BOOL, &o->no_locs, NULL, "prints the module without locations"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 0, .most = 1};
  int stop = wick_invocation_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (o->list || o->steps) {
    if (o->list) wick_opt_passes(o->markdown);
    if (o->steps) wick_opt_schedule_steps(o->markdown);
    return WICK_EXIT_OK;
  }
  if (!args.word.n) return wick_invocation_usage(j, "a file is missing");
  o->flags =
      WICK_PRINT_NAMES | (o->no_data ? 0 : WICK_PRINT_DATA) | (o->no_locs ? 0 : WICK_PRINT_LOCS);
  return wick_invocation_end(j, opt_file(o, j->path));
}

int wick_cmd_opt(int argc, char **argv)
{
  opt_state o = {0};
  int status = wick_invocation_main(&o.invocation, opt_main, &o, argc, argv);
  wick_pipeline_free(&o.pipeline_run);
  wick_module_free(o.module);
  return status;
}
