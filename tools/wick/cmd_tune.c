/* wick tune: searches faster schedules for a model on this machine; what it finds goes into a file
 * of records, which compile, run and bench take with --records. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "tune/model.h"

#include "command.h"
#include "job.h"

typedef struct tune_command {
  wick_job job;
  const char *output;
  wick_words merge;
  double minutes;
} tune_command;

static void tune_say(void *arg, double seconds, const char *line)
{
  (void)arg;
  printf("%s%6.1f s  %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "", seconds, line);
  fflush(stdout);
}

/* On a terminal, gone again at the end. */
static void tune_at(void *arg, double seconds, const char *group)
{
  const tune_command *c = arg;
  fprintf(stderr, "\r\033[K%4.0f of %.0f s: %s", seconds, 60 * c->minutes, group);
}

static wick_status tune_work(tune_command *c)
{
  wick_job *j = &c->job;
  WICK_TRY(wick_job_load(j));
  if (!j->model)
    return wick_fail(&j->mem, WICK_EINVAL, j->path, "a model is tuned, this is compiled");
  bool terminal = isatty(STDERR_FILENO);
  wick_compile_options compile = wick_job_options(j, NULL);
  compile.stage = NULL;
  wick_tune_options o = {.records = c->output,
                         .nmerge = (uint32_t)c->merge.n,
                         .merge = c->merge.at,
                         .seconds = 60 * c->minutes,
                         .say = tune_say,
                         .at = terminal ? tune_at : NULL,
                         .arg = c};
  wick_tune_report r;
  wick_status s = wick_tune_model(j->model, &compile, &o, &j->mem, &j->tmp, &r);
  if (terminal) fputs("\r\033[K", stderr);
  if (s) return s;
  if (r.nchoice) printf("%u layers, of which %u are computed another way\n", r.nchoice, r.nchosen);
  printf("%u groups, %u trials, %u refused; %u schedules replaced: kernels take %.3f ms, took %.3f "
         "ms; geometric mean over the groups %.3f\n",
         r.ngroup, r.ntrial, r.nrefused, r.nfound, 1e3 * r.after, 1e3 * r.before, r.gain);
  return NULL;
}

static int tune_main(wick_job *j, void *arg, int argc, char **argv)
{
  tune_command *c = arg;
  const wick_flag flag[] = {
      {"minutes", 'm', WICK_FLAG_DOUBLE, &c->minutes, "M", "to search for; 5"},
      {"output", 'o', WICK_FLAG_STRING, &c->output, "FILE",
       "of records, where the search goes on from what it holds; MODEL.records"},
      {"merge", 0, WICK_FLAG_LIST, &c->merge, "FILE...", "more records to begin with"},
      {"target", 0, WICK_FLAG_STRING, &j->target, "NAME", "machine to tune for; host"},
      {"dim", 0, WICK_FLAG_LIST, &j->dims, "NAME=N...", "sizes that the model leaves open"},
      {"strict", 0, WICK_FLAG_BOOL, &j->strict, NULL, "nothing that only approximates"},
      {"precision", 0, WICK_FLAG_STRING, &j->precision, "NAME", "as `wick compile` has it"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_job_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (!(c->minutes >= 0)) return wick_job_usage(j, "--minutes: wanted a number from 0 up");
  if (!c->output) c->output = wick_str_printf(&j->mem, "%s.records", wick_path_base(j->path));
  return wick_job_end(j, tune_work(c));
}

int wick_cmd_tune(int argc, char **argv)
{
  tune_command c = {.minutes = 5};
  return wick_job_main(&c.job, tune_main, &c, argc, argv);
}
