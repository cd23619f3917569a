/* wick compile: a model to an artifact, or to a bundle for programs without Wick. */
#include <stdio.h>
#include <string.h>

#include "driver/error_report.h"

#include "command.h"
#include "job.h"

typedef struct compile_state {
  wick_job job;
  const char *output, *name;
  wick_words inputs;
  bool embed;
} compile_state;

static bool compile_is_artifact(const char *path)
{
  size_t n = strlen(path);
  return n > 5 && strcmp(path + n - 5, ".wick") == 0;
}

/* What the kernels that approximate come to, on these inputs. */
static wick_status compile_errors(compile_state *s, const wick_feed *feed)
{
  wick_job *j = &s->job;
  wick_compile_options o = wick_job_options(j, feed);
  wick_error_report r;
  WICK_TRY(
      wick_job_take(j, wick_error_report_make(j->model, &o, j->compiled, feed->data, &j->mem, &r)));
  printf("differences from f64 over the largest magnitude: the largest, RMS\n");
  for (uint32_t i = 0; i < r.n; i++)
    printf("%9.1e %9.1e  %s%s%s\n", r.line[i].largest, r.line[i].rms, r.line[i].what,
           r.line[i].bound ? ": " : "", r.line[i].bound ? r.line[i].bound : "");
  return NULL;
}

static wick_status compile_work(compile_state *s)
{
  wick_job *j = &s->job;
  wick_feed feed;
  WICK_TRY(wick_job_load(j));
  if (s->inputs.n && !j->model)
    return wick_fail(&j->mem, WICK_EINVAL, j->path, "errors are those of a model, not an artifact");
  if (s->inputs.n) WICK_TRY(wick_job_feed(j, &s->inputs, &(wick_job_image){0}, &feed));
  if (compile_is_artifact(s->output)) {
    j->vary = !s->inputs.n;
    WICK_TRY(wick_job_compile(j, s->inputs.n ? &feed : NULL));
    const char *contract = wick_compiled_contract(j->compiled);
    printf("%.*s\n", (int)strcspn(contract, "\n"), contract); /* the line for all kernels */
    WICK_TRY(wick_job_take(j, wick_save(j->compiled, s->output)));
    return s->inputs.n ? compile_errors(s, &feed) : NULL;
  }
  if (!j->model)
    return wick_fail(&j->mem, WICK_EINVAL, j->path,
                     "a bundle is made of a model, this is compiled");
  wick_compile_options o = wick_job_options(j, NULL);
  wick_bundle_options b = {
      .size = sizeof b, .folder = s->output, .name = s->name, .embed = s->embed};
  return wick_job_take(j, wick_bundle_write(j->model, &o, &b));
}

static int compile_main(wick_job *j, void *arg, int argc, char **argv)
{
  compile_state *s = arg;
  const wick_flag flag[] = {
      {"output", 'o', WICK_FLAG_STRING, &s->output, "PATH",
       "X.wick: an artifact, for wick run and libwick_rt; else the folder of a bundle"},
      {"inputs", 'i', WICK_FLAG_LIST, &s->inputs, "FILE...",
       "says how far an artifact is from f64 on these"},
      {"input", 0, WICK_FLAG_LIST, &s->inputs, NULL, NULL},
      {"name", 'n', WICK_FLAG_STRING, &s->name, "NAME",
       "of the bundle's files and function; made of the model's name"},
      {"embed", 0, WICK_FLAG_BOOL, &s->embed, NULL, "puts the weights into the bundle's object"},
      WICK_JOB_FLAGS(j),
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_job_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (!s->output) return wick_job_usage(j, "--output is wanted");
  if (compile_is_artifact(s->output) && (s->name || s->embed))
    return wick_job_usage(j, "--name and --embed are for bundles");
  if (!compile_is_artifact(s->output) && s->inputs.n)
    return wick_job_usage(j, "--inputs are for artifacts");
  return wick_job_end(j, compile_work(s));
}

int wick_cmd_compile(int argc, char **argv)
{
  compile_state s = {0};
  return wick_job_main(&s.job, compile_main, &s, argc, argv);
}
