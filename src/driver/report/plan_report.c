/* Runs the stages up to loop functions, and examines the low function when it is formed and at the
 * end. */
#include "driver/report/plan_report.h"

#include <string.h>

#include "driver/compile.h"
#include "low/plan_memory.h"

typedef struct plan_report {
  wick_compilation c;
  const wick_compile_options *options;
  wick_plan_report *out;
} plan_report;

static void plan_report_stage(void *arg, const char *name, double seconds)
{
  plan_report *r = arg;
  if (r->options->stage) r->options->stage(r->options->arg, name, seconds);
  if (strcmp(name, "form_kernels") != 0) return;
  const wick_func *f = wick_module_find(r->c.module, r->c.graph->name);
  r->out->importer_bound = wick_low_peak(f, 1, &r->c.tmp);
}

static wick_status plan_report_work(plan_report *r)
{
  wick_compilation *c = &r->c;
  wick_compile_options o = *r->options;
  o.stage = plan_report_stage, o.arg = r;
  wick_lowered l;
  WICK_TRY(wick_compilation_take(c, &o));
  WICK_TRY(wick_compile_loops(c, &l));
  const wick_func *f = wick_module_find(c->module, c->graph->name);
  wick_plan_report *out = r->out;
  out->arena = l.arena_bytes;
  out->bound = wick_low_peak(f, 1, &c->tmp);
  out->padding = wick_low_peak(f, WICK_ARENA_ALIGN, &c->tmp) - out->bound;
  out->scratch = wick_lowered_most_scratch(&l, c->module);
  out->constants = l.constant_bytes;
  out->nkernel = l.kernels.n;
  for (uint32_t k = 0; k < l.kernels.n; k++) out->nlaunch += l.kernels.at[k].nlaunch;
  for (uint32_t i = 0; i < f->nnode; i++) out->nbuffer += f->node[i].op == WICK_OP_alloc;
  return NULL;
}

wick_error *wick_plan_report_make(wick_model *model, const wick_compile_options *options,
                                  wick_plan_report *out)
{
  wick_compile_options o;
  wick_error *wrong = wick_options_take("wick_compile_options", &o, sizeof o, options);
  if (wrong) return wrong;
  *out = (wick_plan_report){0};
  plan_report r = {.options = &o, .out = out};
  wick_compilation_begin(&r.c, model);
  wick_error *e;
  if (setjmp(model->guard.where))
    e = wick_guard_error(&model->guard);
  else
    e = wick_error_export(plan_report_work(&r));
  wick_compilation_free(&r.c);
  wick_arena_free(&model->tmp); /* the import puts errors there */
  return e;
}
