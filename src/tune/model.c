/* The compilation, the file of records, and the bench of this machine. */
#include "tune/model.h"

#include <string.h>

#include "base/file.h"
#include "driver/compile.h"
#include "runtime/context.h"
#include "tune/measure.h"

static const double model_keep = 5; /* seconds between two writes of the file */

typedef struct model_tune {
  const wick_tune_options *o;
  wick_compilation *compilation;
  wick_records records;
  wick_measure measure;
  double start, kept;
  wick_arena *mem, *tmp;
} model_tune;

static wick_status model_read(model_tune *m, const char *path)
{
  char *text;
  size_t n;
  WICK_TRY(wick_file_read(m->mem, path, 0, &text, &n));
  return wick_records_read(&m->records, path, text, n);
}

static wick_status model_write(model_tune *m)
{
  wick_mark mark = wick_arena_mark(m->tmp);
  wick_text text = wick_text_begin(m->tmp);
  wick_records_print(&m->records, &text);
  m->kept = wick_now();
  WICK_TRY(wick_file_write(m->tmp, m->o->records, &(wick_bytes){text.at, text.n}, 1));
  wick_arena_rewind(m->tmp, mark);
  return NULL;
}

static wick_status model_measure(void *arg, uint32_t group, uint32_t n, const char *const *steps,
                                 double *seconds, double *noise)
{
  model_tune *m = arg;
  if (m->o->at) m->o->at(m->o->arg, wick_now() - m->start, m->measure.group[group].group->name);
  WICK_TRY(wick_work_check(&m->compilation->work, m->mem));
  WICK_TRY(wick_measure_run(&m->measure, group, n, steps, seconds, noise));
  return wick_now() - m->kept < model_keep ? NULL : model_write(m);
}

static double model_now(void *arg)
{
  (void)arg;
  return wick_now();
}

static wick_status model_progress(void *arg, const char *line)
{
  model_tune *m = arg;
  if (m->o->say) m->o->say(m->o->arg, wick_now() - m->start, line);
  return model_write(m);
}

static wick_status model_run(model_tune *m, const wick_compile_options *options,
                             wick_tune_report *out)
{
  wick_compilation *c = m->compilation;
  wick_lowered lowered;
  wick_tune_group *group;
  wick_measure_use *use;
  uint32_t n;
  WICK_TRY(wick_compilation_take(c, options));
  wick_target host = wick_target_host();
  if (c->target.machine != host.machine || (c->target.needs & ~host.needs))
    return wick_fail(m->mem, WICK_EINVAL, NULL, "code for this target does not run here");
  if (wick_file_exists(m->o->records)) WICK_TRY(model_read(m, m->o->records));
  for (uint32_t i = 0; i < m->o->nmerge; i++) WICK_TRY(model_read(m, m->o->merge[i]));
  WICK_TRY(wick_compile_loops(c, &lowered));
  wick_measure_groups(wick_module_find(c->module, c->graph->name), m->mem, &group, &use, &n);
  m->measure = (wick_measure){c->module, &c->target, group, use, &c->tmp};
  wick_tune_bench bench = {model_measure, model_now, model_progress, m};
  m->start = m->kept = wick_now();
  WICK_TRY(
      wick_tune(group, n, &c->target, m->o->seconds, &bench, &m->records, m->mem, m->tmp, out));
  return model_write(m);
}

wick_status wick_tune_model(wick_model *model, const wick_compile_options *compile,
                            const wick_tune_options *o, wick_arena *mem, wick_arena *tmp,
                            wick_tune_report *out)
{
  wick_compilation c;
  wick_compilation_begin(&c, model);
  model_tune m = {.o = o,
                  .compilation = &c,
                  .records = wick_records_begin(o->records, mem),
                  .mem = mem,
                  .tmp = tmp};
  wick_status s = setjmp(model->guard.where) ? wick_fail(mem, WICK_ENOMEM, NULL, "out of memory")
                                             : model_run(&m, compile, out);
  if (s) s = wick_fail(mem, s->code, NULL, "%s", s->message); /* it may live in the compilation */
  wick_compilation_free(&c);
  return s;
}
