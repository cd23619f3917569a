/* Compiles one module with a kernel for each schedule, and runs all of them in turns. */
#include "tune/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codegen/client.h"
#include "codegen/link.h"
#include "lower/lower_kernel.h"
#include "ops/host.h"
#include "runtime/context.h"
#include "runtime/load.h"

enum { MEASURE_LEAST = 9, MEASURE_MOST = 25 }; /* number of turns */
static const double measure_slice = 0.3e-3,    /* least seconds of one schedule in a turn */
    measure_enough = 0.25;                     /* seconds of all turns */

/* ---- the groups of a function ---- */

static wick_operand_kind measure_kind(const wick_func *low, const wick_node *n, uint32_t k,
                                      bool alone)
{
  const wick_func *g = wick_module_find(low->module, n->attr[WICK_ATTR_kernel_callee].s);
  if (k + g->nparam < n->nin) return WICK_OPERAND_WRITTEN;
  bool constant = alone ? n->in[k].id > 1 && n->in[k].id <= low->nparam
                        : wick_info_of(low, n->in[k])->space == WICK_CONSTANT;
  return constant ? WICK_OPERAND_WEIGHTS : WICK_OPERAND_READ;
}

static void measure_drop_loops(wick_module *m)
{
  for (uint32_t i = m->funcs.n; i-- > 0;)
    if (m->funcs.at[i]->level == WICK_LOOP) wick_module_remove(m, m->funcs.at[i]->name);
}

void wick_measure_groups(const wick_func *low, bool alone, wick_arena *mem,
                         wick_tune_group **out_group, wick_measure_use **out_use, uint32_t *out_n)
{
  wick_module *m = low->module;
  wick_names observed = wick_names_begin(mem);
  wick_tune_group *group = wick_new(mem, wick_tune_group, low->nnode);
  wick_measure_use *use = wick_new(mem, wick_measure_use, low->nnode);
  for (uint32_t i = 0; i < low->nnode; i++) {
    const wick_node *n = &low->node[i];
    if (n->op != WICK_OP_kernel ||
        wick_host_node(wick_module_find(m, n->attr[WICK_ATTR_kernel_callee].s)))
      continue;
    uint32_t before = observed.n, id = wick_names_add(&observed, n->attr[WICK_ATTR_kernel_callee].s,
                                                      strlen(n->attr[WICK_ATTR_kernel_callee].s));
    group[id - 1].launches++;
    if (observed.n == before) continue;
    wick_type *type = wick_new(mem, wick_type, n->nin);
    wick_operand_kind *kind = wick_new(mem, wick_operand_kind, n->nin);
    for (uint32_t k = 0; k < n->nin; k++) {
      type[k] = wick_type_of(low, n->in[k]);
      kind[k] = measure_kind(low, n, k, alone);
    }
    group[id - 1].group =
        (wick_func *)(uintptr_t)wick_module_find(m, n->attr[WICK_ATTR_kernel_callee].s);
    use[id - 1] = (wick_measure_use){n->nin, type, kind};
  }
  *out_group = group, *out_use = use, *out_n = observed.n - 1; /* name 0 is unused */
}

static const char *measure_halo(const wick_func *g)
{
  return g->schedule ? strstr(g->schedule, "halo ") : NULL;
}

/* ---- code ---- */

typedef struct measure_kernel {
  wick_kernel run;
  const char *name;
  int64_t tasks;
  uint32_t noperand;
  const wick_operand *operand;
  void **args;
  uint32_t repeat;
} measure_kernel;

static wick_status measure_build(const wick_measure *m, const wick_measured *of,
                                 wick_lowered_kernel *out)
{
  const char *halo = measure_halo(of->group);
  wick_func *with = wick_dup(m->tmp, wick_func, of->group, 1);
  with->schedule =
      wick_intern(m->module, wick_str_printf(m->tmp, "%s%s", of->steps, halo ? halo : ""));
  uint32_t *same = wick_new(m->tmp, uint32_t, of->use->noperand);
  for (uint32_t k = 0; k < of->use->noperand; k++) same[k] = k;
  wick_kernel_use u = {with, of->use->noperand, of->use->type, same};
  return wick_kernel_build(&u, m->target, m->tmp, m->tmp, m->tmp, out);
}

/* Runs the loop passes, after which the hidden slots of each kernel are known. */
static wick_status measure_passes(wick_measure *m, wick_lowered *l)
{
  wick_pipeline *p = &m->pipeline;
  wick_pipeline_begin(p, m->module);
  p->target = *m->target;
  WICK_TRY(wick_pipeline_run_named(p, "nested", NULL, m->tmp));
  return wick_lowered_frames(l, m->module, m->target, m->tmp);
}

static wick_status measure_compile(const wick_measure *m, wick_artifact *out)
{
  wick_codegen_options options = {.output = WICK_OUTPUT_OBJECT, .clean = true};
  wick_span *object;
  uint32_t n;
  wick_section section[WICK_LINK_SECTIONS];
  wick_artifact_parts parts;
  const wick_codegen_limits limits = {.control = m->control};
  WICK_TRY(wick_codegen_module(m->module, m->target, &options, &limits, m->tmp, &object, &n));
  WICK_TRY(wick_link(n, object, m->target, m->tmp, section));
  WICK_TRY(wick_artifact_make(m->target->machine, m->target->needs, WICK_LINK_SECTIONS, section,
                              m->tmp, &parts));
  return wick_artifact_read(wick_artifact_join(&parts, m->tmp), "tune", m->tmp, out);
}

/* Returns the results, then the parameters with the halos of the group's schedule. */
static const wick_operand *measure_operands(wick_measure *m, const wick_measured *of)
{
  const wick_measure_use *use = of->use;
  const char *halo = measure_halo(of->group);
  wick_schedule *s = wick_schedule_begin(of->group, m->tmp);
  uint32_t first = use->noperand - of->group->nparam;
  bool has = halo && !wick_schedule_apply(s, halo);
  wick_operand *out = wick_new(m->tmp, wick_operand, use->noperand);
  for (uint32_t k = 0; k < use->noperand; k++)
    out[k] = wick_operand_take(&m->operands, wick_type_get(m->module, use->type[k]),
                               has && k >= first ? &s->halo[k - first] : NULL, use->kind[k]);
  return out;
}

/* Prepares all kernels. They share scratch memory, because the addresses of its pages affect the
 * caches. */
static wick_status measure_all(wick_measure *m, uint32_t n, const wick_measured *of,
                               measure_kernel *k, wick_artifact *a)
{
  wick_lowered l = {0};
  uint32_t *of_kernel = wick_new(m->tmp, uint32_t, n);
  int64_t scratch = 0;
  wick_operands_clear(&m->operands);
  for (uint32_t i = 0; i < n; i++) {
    bool again = i && of[i].use == of[i - 1].use; /* then they share the operands */
    wick_lowered_kernel built;
    k[i].noperand = of[i].use->noperand;
    k[i].operand = again ? k[i - 1].operand : measure_operands(m, &of[i]);
    if (measure_build(m, &of[i], &built)) continue;                 /* an illegal schedule */
    if (!wick_dim_is_const(built.tasks) || built.sizes.n) continue; /* sizes are dynamic */
    k[i].name = built.name, k[i].tasks = built.tasks.v;
    of_kernel[l.kernels.n] = i;
    wick_push(m->tmp, &l.kernels, built);
  }
  if (!l.kernels.n) return NULL;
  WICK_TRY(measure_passes(m, &l));
  for (uint32_t i = 0; i < l.kernels.n; i++)
    if (l.kernels.at[i].scratch) scratch = wick_max_i64(scratch, l.kernels.at[i].scratch_bytes.v);
  char *scratch_memory = wick_arena_alloc(m->tmp, (uint64_t)scratch, 64);
  for (uint32_t i = 0; i < l.kernels.n; i++) {
    measure_kernel *run = &k[of_kernel[i]];
    uint32_t slot = run->noperand;
    run->args = wick_new(m->tmp, void *, slot + 2);
    if (l.kernels.at[i].scratch) run->args[slot++] = scratch_memory;
    if (l.kernels.at[i].fault) run->args[slot] = wick_new(m->tmp, wick_fault, 1);
  }
  return measure_compile(m, a);
}

/* ---- time ---- */

/* The CPU time of this thread, so that other processes are not counted. */
static double measure_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs a kernel `repeat` times. *next selects the copies of constants for all kernels, because the
 * last ones are still in the caches. */
static double measure_once(measure_kernel *k, uint32_t repeat, uint32_t *next)
{
  double begin = measure_now();
  for (uint32_t i = 0; i < repeat; i++, ++*next) {
    for (uint32_t o = 0; o < k->noperand; o++)
      k->args[o] = k->operand[o].at + *next % k->operand[o].ncopy * k->operand[o].step;
    k->run(k->args, 0, k->tasks);
  }
  return (measure_now() - begin) / repeat;
}

static int measure_compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double measure_median(double *at, uint32_t n)
{
  qsort(at, n, sizeof *at, measure_compare);
  return n % 2 ? at[n / 2] : (at[n / 2 - 1] + at[n / 2]) / 2;
}

/* Sets how often each kernel runs in its slice. Returns the number of turns. */
static uint32_t measure_turns(measure_kernel *k, uint32_t n, uint32_t *next)
{
  double turn = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!k[i].run) continue;
    double first = measure_once(&k[i], 1, next), second = measure_once(&k[i], 1, next),
           once = (first < second ? first : second) + 1e-8;
    k[i].repeat = once < measure_slice ? (uint32_t)(measure_slice / once) + 1 : 1;
    turn += once * k[i].repeat * (i ? 1 : 2);
  }
  double turns = measure_enough / turn;
  return turns < MEASURE_LEAST  ? MEASURE_LEAST
         : turns > MEASURE_MOST ? MEASURE_MOST
                                : (uint32_t)turns;
}

/* A turn begins and ends with the first schedule. The others are compared with the mean of both. */
static void measure_rounds(measure_kernel *k, uint32_t n, wick_arena *tmp, double *out_seconds,
                           double *out_noise)
{
  uint32_t next = 0, turns = measure_turns(k, n, &next);
  double *ratio = wick_new(tmp, double, (size_t)n *turns), least = 1e300;
  for (uint32_t r = 0; r < turns && !wick_guard_stopped(tmp->guard); r++) {
    double begin = measure_once(&k[0], k[0].repeat, &next);
    for (uint32_t j = 1; j < n; j++) {
      uint32_t i = r % 2 ? n - j : j;
      if (k[i].run) ratio[i * turns + r] = measure_once(&k[i], k[i].repeat, &next);
    }
    double end = measure_once(&k[0], k[0].repeat, &next), own = (begin + end) / 2;
    for (uint32_t i = 1; i < n; i++) ratio[i * turns + r] /= own;
    ratio[r] = fabs(end / begin - 1);
    least = fmin(least, fmin(begin, end));
  }
  out_seconds[0] = least;
  /* three times the uncertainty of the median of so many turns */
  *out_noise = 3 * measure_median(ratio, turns) / sqrt(turns);
  for (uint32_t i = 1; i < n; i++)
    out_seconds[i] = k[i].run ? least * measure_median(ratio + i * turns, turns) : -1;
}

wick_status wick_measure_run(wick_measure *m, uint32_t n, const wick_measured *of,
                             double *out_seconds, double *out_noise)
{
  wick_mark mark = wick_arena_mark(m->tmp);
  measure_kernel *k = wick_new(m->tmp, measure_kernel, n);
  wick_artifact a = {0};
  wick_image image = {0};
  measure_drop_loops(m->module);
  wick_status s = measure_all(m, n, of, k, &a);
  measure_drop_loops(m->module);
  wick_pipeline_free(&m->pipeline);
  *out_noise = 0;
  for (uint32_t i = 0; i < n; i++) out_seconds[i] = -1;
  if (s || !k[0].name) return s;
  WICK_TRY(wick_image_map(&a, m->tmp, &image));
  for (uint32_t i = 0; i < n; i++)
    if (k[i].name) k[i].run = wick_image_kernel(&image, k[i].name);
  measure_rounds(k, n, m->tmp, out_seconds, out_noise);
  wick_image_unmap(&image);
  if (wick_guard_stopped(m->tmp->guard)) /* too few turns to decide */
    return wick_fail(m->tmp, WICK_ECANCELED, NULL, "canceled");
  wick_arena_rewind(m->tmp, mark);
  return NULL;
}
