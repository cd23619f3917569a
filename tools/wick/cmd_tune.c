/* wick tune: searches for faster schedules of a model on this machine, and writes them to a file of
 * records. compile, run and bench read the file with --tuning. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shown.h"
#include "tune/model.h"

#include "command.h"
#include "interrupt.h"
#include "invocation.h"

typedef struct tune_command {
  wick_invocation invocation;
  const char *output;
  wick_words merge;
  double minutes;
  bool json;
} tune_command;

static void tune_say(void *arg, double seconds, const char *line)
{
  tune_command *c = arg;
  if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
  printf("%6.1f s  %s\n", seconds, wick_str_shown(&c->invocation.tmp, line));
  fflush(stdout);
}

/* Shows the progress on a terminal, and erases it at the end. */
static void tune_at(void *arg, double seconds, const char *group)
{
  tune_command *c = arg;
  fprintf(stderr, "\r\033[K%4.0f of %.0f s: %s", seconds, 60 * c->minutes,
          wick_str_shown(&c->invocation.tmp, group));
}

static wick_status tune_work(tune_command *c)
{
  wick_invocation *j = &c->invocation;
  WICK_TRY(wick_invocation_load(j));
  if (!j->model)
    return wick_fail(&j->mem, WICK_EINVAL, j->path, "a model is tuned, this is compiled");
  bool terminal = isatty(STDERR_FILENO);
  wick_compile_options compile = wick_invocation_options(j, NULL);
  compile.stage = NULL;
  wick_tune_options o = {.records = c->output,
                         .nmerge = (uint32_t)c->merge.n,
                         .merge = c->merge.at,
                         .seconds = 60 * c->minutes,
                         .say = c->json ? NULL : tune_say,
                         .at = terminal ? tune_at : NULL,
                         .arg = c};
  wick_tune_report r;
  wick_interrupt_begin();
  wick_status s = wick_tune_model(j->model, &compile, &o, &j->mem, &j->tmp, &r);
  wick_interrupt_end();
  if (terminal) fputs("\r\033[K", stderr);
  if (s) return s;
  if (c->json)
    return wick_invocation_json(
        j, json_pack("{s:o, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:f}", "model",
                     wick_json_text(j->path), "records", wick_json_text(c->output), "layers",
                     (int)r.nchoice, "layers_replaced", (int)r.nchosen, "groups", (int)r.ngroup,
                     "trials", (int)r.ntrial, "refused", (int)r.nrefused, "schedules_replaced",
                     (int)r.nfound, "seconds_before", r.before, "seconds_after", r.after, "gain",
                     r.gain));
  if (r.nchoice) printf("%u layers, of which %u are computed another way\n", r.nchoice, r.nchosen);
  printf("%u groups, %u trials, %u refused; %u schedules replaced: kernels take %.3f ms, took %.3f "
         "ms; geometric mean over the groups %.3f\n",
         r.ngroup, r.ntrial, r.nrefused, r.nfound, 1e3 * r.after, 1e3 * r.before, r.gain);
  return NULL;
}

static int tune_main(wick_invocation *j, void *arg, int argc, char **argv)
{
  tune_command *c = arg;
  const wick_flag flag[] = {
      {"minutes", 'm', WICK_FLAG_SECONDS, &c->minutes, "M", "searches for M minutes; 5 by default"},
      {"output", 'o', WICK_FLAG_FILE, &c->output, "FILE",
       "continues from the records in this file and writes them there; MODEL.records by default"},
      {"merge", 0, WICK_FLAG_FILES, &c->merge, "FILE...",
       "begins with the records in these files, too"},
      {"json", 0, WICK_FLAG_BOOL, &c->json, NULL, "prints one object of JSON (docs/json.md)"},
      {"target", 0, WICK_FLAG_STRING, &j->target, "NAME", "tunes for this target; host by default"},
      {"tune", 0, WICK_FLAG_STRING, &j->tune, "NAME|FILE",
       "begins with schedules for this processor, as in wick compile"},
      {"dim", 0, WICK_FLAG_DIMS, &j->dims, "NAME=N...", "gives dynamic sizes"},
      WICK_OPS_FLAG(&j->ops),
      WICK_LINKS_FLAG(&j->allow_links),
      {"strict", 0, WICK_FLAG_BOOL, &j->strict, NULL, "forbids rewrites that approximate"},
      {"precision", 0, WICK_FLAG_CHOICE, &j->precision, "f64|bf16|f16",
       "sets the precision, as in wick compile"},
  };
  wick_args args = {.flag = flag, .nflag = WICK_COUNT(flag), .least = 1, .most = 1};
  int stop = wick_invocation_args(j, &args, argc, argv);
  if (stop >= 0) return stop;
  if (!c->output) c->output = wick_str_printf(&j->mem, "%s.records", wick_path_base(j->path));
  return wick_invocation_end(j, tune_work(c));
}

int wick_cmd_tune(int argc, char **argv)
{
  tune_command c = {.minutes = 5};
  return wick_invocation_main(&c.invocation, tune_main, &c, argc, argv);
}
