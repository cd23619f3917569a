/* The model to tune: its compilation, the file of records, and measurements on this machine. */
#include "tune/model.h"

#include <string.h>

#include "base/file.h"
#include "driver/compile.h"
#include "graph/group/form_kernels.h"
#include "ir/text.h"
#include "runtime/context.h"
#include "tune/measure.h"

static const double model_keep = 5; /* seconds between two writes of the file */

typedef struct model_tune {
  const wick_tune_options *o;
  wick_compilation *compilation;
  wick_tuning_records records;
  wick_measure measure;
  const wick_tune_group *group;
  const wick_measure_use *use;
  wick_module *options; /* of the current choice */
  wick_arena memory;    /* memory of the operands */
  double start, kept;
  wick_arena *mem, *tmp;
} model_tune;

static wick_status model_read(model_tune *m, const char *path)
{
  char *text;
  size_t n;
  WICK_TRY(wick_file_read(m->mem, path, 0, &text, &n));
  return wick_tuning_records_read(&m->records, path, text, n);
}

static wick_status model_write(model_tune *m)
{
  wick_mark mark = wick_arena_mark(m->tmp);
  wick_text text = wick_text_begin(m->tmp);
  wick_tuning_records_print(&m->records, &text);
  m->kept = wick_now();
  WICK_TRY(wick_file_write(m->tmp, m->o->records, &(wick_bytes){text.at, text.n}, 1));
  wick_arena_rewind(m->tmp, mark);
  return NULL;
}

static wick_status model_work(model_tune *m, const char *what)
{
  if (m->o->at) m->o->at(m->o->arg, wick_now() - m->start, what);
  WICK_TRY(wick_work_check(&m->compilation->work, m->mem));
  return wick_now() - m->kept < model_keep ? NULL : model_write(m);
}

static wick_status model_measure(void *arg, uint32_t group, uint32_t n, const char *const *steps,
                                 double *seconds, double *noise)
{
  model_tune *m = arg;
  const wick_func *g = m->group[group].group;
  WICK_TRY(model_work(m, g->name));
  wick_mark mark = wick_arena_mark(m->tmp);
  wick_measured *of = wick_new(m->tmp, wick_measured, n);
  for (uint32_t i = 0; i < n; i++) of[i] = (wick_measured){g, &m->use[group], steps[i]};
  WICK_TRY(wick_measure_run(&m->measure, n, of, seconds, noise));
  wick_arena_rewind(m->tmp, mark);
  return NULL;
}

/* Finds the last kernel of an option's function. Before it there are only kernels that write a
 * halo. */
static wick_status model_option(model_tune *m, const wick_option *o, wick_measured *out)
{
  wick_func *low;
  wick_tune_group *group;
  wick_measure_use *use;
  uint32_t n;
  WICK_TRY(wick_parse_module(m->options, o->steps, o->graph, strlen(o->graph), m->tmp));
  const wick_func *f = m->options->funcs.at[m->options->funcs.n - 1];
  const wick_pass_context pass = {.target = m->measure.target, .mem = m->tmp, .tmp = m->tmp};
  WICK_TRY(wick_pass_form_kernels(&pass, f, &low));
  wick_measure_groups(low, true, m->tmp, &group, &use, &n);
  if (!n) return wick_fail(m->tmp, WICK_EINTERNAL, o->steps, "an option without a kernel");
  const wick_func *g = group[n - 1].group;
  *out = (wick_measured){g, &use[n - 1], wick_tune_steps(g, m->tmp)};
  return NULL;
}

static wick_status model_compare(void *arg, const wick_choice *c, uint32_t n,
                                 const uint32_t *option, double *seconds, double *noise)
{
  model_tune *m = arg;
  wick_module *model = m->measure.module;
  WICK_TRY(model_work(m, strchr(c->key, '(')));
  wick_mark mark = wick_arena_mark(m->tmp);
  wick_measured *of = wick_new(m->tmp, wick_measured, n);
  m->options = wick_module_create(&m->compilation->model->guard, "options");
  for (uint32_t i = 0; i < n; i++) WICK_TRY(model_option(m, &c->option[option[i]], &of[i]));
  m->measure.module = m->options;
  WICK_TRY(wick_measure_run(&m->measure, n, of, seconds, noise));
  m->measure.module = model;
  wick_module_free(m->options);
  m->options = NULL;
  wick_arena_rewind(m->tmp, mark);
  return NULL;
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

/* Compiles the model up to its groups, with the templates' schedules. */
static wick_status model_groups(model_tune *m, const wick_compile_options *options, uint32_t *out_n)
{
  enum { PASSING = 64 << 20 };
  wick_compilation *c = m->compilation;
  wick_lowered lowered;
  wick_tune_group *group;
  wick_measure_use *use;
  WICK_TRY(wick_compilation_take(c, options));
  wick_target host = wick_target_host();
  if (c->target.machine != host.machine || (c->target.needs & ~host.needs))
    return wick_fail(m->mem, WICK_EINVAL, NULL, "code for this target does not run here");
  m->records.tuning = true, m->records.choices.n = 0;
  c->records = &m->records;
  WICK_TRY(wick_compile_loops(c, &lowered));
  wick_measure_groups(wick_module_find(c->module, c->graph->name), false, m->mem, &group, &use,
                      out_n);
  uint64_t most = wick_target_processor(&c->target)->cache_bytes[2]
                      ? 2 * wick_target_cache(&c->target, 3)
                      : PASSING;
  m->group = group, m->use = use;
  m->measure.module = c->module, m->measure.target = &c->target, m->measure.tmp = &c->tmp;
  m->measure.control = (wick_process_control){.cancel = c->work.context->options.cancel,
                                              .arg = c->work.context->options.arg};
  m->measure.operands.passing = lowered.constant_bytes < most ? lowered.constant_bytes : most;
  return NULL;
}

static wick_status model_run(model_tune *m, const wick_compile_options *options,
                             wick_tune_report *out)
{
  static const double first = 0.3; /* the part of the time for choices, which come before groups */
  wick_tune_bench bench = {model_measure, model_compare, model_now, model_progress, m};
  uint32_t n;
  *out = (wick_tune_report){0};
  if (wick_file_exists(m->o->records)) WICK_TRY(model_read(m, m->o->records));
  for (uint32_t i = 0; i < m->o->nmerge; i++) WICK_TRY(model_read(m, m->o->merge[i]));
  WICK_TRY(model_groups(m, options, &n));
  m->start = m->kept = wick_now();
  WICK_TRY(wick_tune_choices(first * m->o->seconds, &bench, &m->records, m->tmp, out));
  double left = m->o->seconds - (wick_now() - m->start);
  if (m->o->seconds > 0 && left <= 0) left = 1e-9; /* one turn */
  if (out->nchosen) {                              /* then the groups are different */
    wick_compilation_free(m->compilation);
    wick_compilation_begin(m->compilation, m->compilation->model);
    WICK_TRY(model_groups(m, options, &n));
  }
  WICK_TRY(
      wick_tune(m->group, n, m->measure.target, left, &bench, &m->records, m->mem, m->tmp, out));
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
                  .records = wick_tuning_records_begin(o->records, mem),
                  .mem = mem,
                  .tmp = tmp};
  m.memory = wick_arena_make(&model->guard);
  m.measure.operands.mem = &m.memory;
  wick_status s =
      setjmp(model->guard.where) ? wick_guard_error(&model->guard) : model_run(&m, compile, out);
  if (s) /* it may be in the compilation's memory */
    s = wick_fail_size(mem, s->code, NULL, s->size ? wick_str_dup(mem, s->size) : NULL, "%s",
                       s->message);
  wick_pipeline_free(&m.measure.pipeline);
  if (m.options) wick_module_free(m.options);
  wick_arena_free(&m.memory);
  wick_compilation_free(&c);
  return s;
}
