/* One module with a kernel for each schedule; runs of all of them in turns. */
#include "tune/measure.h"

#include <string.h>

#include "codegen/client.h"
#include "codegen/link.h"
#include "driver/lower_kernel.h"
#include "runtime/context.h"
#include "runtime/load.h"

enum { MEASURE_ROUNDS = 5, MEASURE_MARGIN = 4096 };
static const double measure_seconds = 2e-3; /* of one schedule in one round, at least */

void wick_measure_groups(const wick_func *low, wick_arena *mem, wick_tune_group **out_group,
                         wick_measure_use **out_use, uint32_t *out_n)
{
  wick_module *m = low->module;
  wick_names seen = wick_names_begin(mem);
  wick_tune_group *group = wick_new(mem, wick_tune_group, low->nnode);
  wick_measure_use *use = wick_new(mem, wick_measure_use, low->nnode);
  for (uint32_t i = m->funcs.n; i-- > 0;)
    if (m->funcs.at[i]->level == WICK_LOOP) wick_module_remove(m, m->funcs.at[i]->name);
  for (uint32_t i = 0; i < low->nnode; i++) {
    const wick_node *n = &low->node[i];
    if (n->op != WICK_OP_kernel) continue;
    uint32_t before = seen.n, id = wick_names_add(&seen, n->attr[0].s, strlen(n->attr[0].s));
    group[id - 1].launches++;
    if (seen.n == before) continue;
    wick_type *type = wick_new(mem, wick_type, n->nin);
    for (uint32_t k = 0; k < n->nin; k++) type[k] = wick_type_of(low, n->in[k]);
    group[id - 1].group = (wick_func *)(uintptr_t)wick_module_find(m, n->attr[0].s);
    use[id - 1] = (wick_measure_use){n->nin, type};
  }
  *out_group = group, *out_use = use, *out_n = seen.n - 1; /* name 0 is none */
}

/* ---- operands ---- */

/* Numbers around 0 in floats, zeros elsewhere; the address of the first element, with room for a
 * halo around it. */
static void *measure_operand(const wick_measure *m, wick_type type, uint32_t seed)
{
  const wick_type_info *t = wick_type_get(m->module, type);
  uint64_t span = 1, bytes = (wick_elem_storage[t->elem].bits + 7u) / 8, dense = 1;
  for (uint32_t k = t->rank; k-- > 0;) {
    uint64_t n = wick_dim_is_const(t->dim[k]) ? (uint64_t)t->dim[k].v : 1,
             stride =
                 t->stride && wick_dim_is_const(t->stride[k]) ? (uint64_t)t->stride[k].v : dense;
    span += (n + 16) * stride; /* a halo is smaller */
    dense *= n;
  }
  uint64_t n = 2 * (span * bytes + MEASURE_MARGIN) / 4;
  float *at = wick_arena_alloc(m->tmp, n * 4, 64);
  uint32_t state = 2463534242u + seed;
  for (uint64_t i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    at[i] = t->elem == WICK_F32 ? (float)(state >> 8) * 0x1p-23f - 1 : 0;
  }
  return (char *)at + wick_align_up(n * 2, 64);
}

/* ---- code ---- */

typedef struct measure_kernel {
  wick_kernel run;
  const char *name;
  int64_t tasks;
  void **args;
  double best, worst; /* of the rounds */
  uint32_t repeat;
} measure_kernel;

static wick_status measure_build(const wick_measure *m, uint32_t index, const char *steps,
                                 wick_lowered_kernel *out)
{
  const wick_func *g = m->group[index].group;
  const char *halo = g->schedule ? strstr(g->schedule, "halo ") : NULL;
  wick_func *with = wick_dup(m->tmp, wick_func, g, 1);
  with->schedule = wick_intern(m->module, wick_str_printf(m->tmp, "%s%s", steps, halo ? halo : ""));
  const wick_measure_use *use = &m->use[index];
  uint32_t *same = wick_new(m->tmp, uint32_t, use->noperand);
  for (uint32_t k = 0; k < use->noperand; k++) same[k] = k;
  wick_kernel_use u = {with, use->noperand, use->type, same};
  return wick_kernel_build(&u, m->target, m->tmp, m->tmp, out);
}

static wick_status measure_compile(const wick_measure *m, wick_artifact *out)
{
  wick_codegen_options options = {.output = WICK_OUTPUT_OBJECT, .clean = true};
  wick_span *object;
  uint32_t n;
  wick_section section[WICK_LINK_SECTIONS];
  wick_artifact_parts parts;
  WICK_TRY(wick_codegen_module(m->module, m->target, &options, NULL, m->tmp, &object, &n));
  WICK_TRY(wick_link(n, object, m->target, m->tmp, section));
  WICK_TRY(wick_artifact_make(m->target->machine, m->target->needs, WICK_LINK_SECTIONS, section,
                              m->tmp, &parts));
  return wick_artifact_read(wick_artifact_join(&parts, m->tmp), "tune", m->tmp, out);
}

/* ---- time ---- */

static double measure_once(const measure_kernel *k, uint32_t repeat)
{
  double begin = wick_now();
  for (uint32_t i = 0; i < repeat; i++) k->run(k->args, 0, k->tasks);
  return (wick_now() - begin) / repeat;
}

static void measure_rounds(measure_kernel *k, uint32_t n, double *out_seconds, double *out_noise)
{
  for (uint32_t i = 0; i < n; i++) {
    if (!k[i].run) continue;
    double first = measure_once(&k[i], 1);
    k[i].repeat = first < measure_seconds ? (uint32_t)(measure_seconds / (first + 1e-8)) + 1 : 1;
    k[i].best = 1e300;
  }
  for (uint32_t r = 0; r < MEASURE_ROUNDS; r++)
    for (uint32_t i = 0; i < n; i++) {
      if (!k[i].run) continue;
      double took = measure_once(&k[i], k[i].repeat);
      if (took < k[i].best)
        k[i].worst = k[i].best, k[i].best = took;
      else if (took < k[i].worst)
        k[i].worst = took; /* the second best */
    }
  for (uint32_t i = 0; i < n; i++) out_seconds[i] = k[i].run ? k[i].best : -1;
  *out_noise = k[0].run ? k[0].worst / k[0].best - 1 : 0;
}

static wick_status measure_all(const wick_measure *m, uint32_t index, uint32_t n,
                               const char *const *steps, measure_kernel *k, wick_artifact *a)
{
  const wick_measure_use *use = &m->use[index];
  void **operand = wick_new(m->tmp, void *, use->noperand);
  bool any = false;
  for (uint32_t i = 0; i < use->noperand; i++) operand[i] = measure_operand(m, use->type[i], i);
  for (uint32_t i = 0; i < n; i++) {
    wick_lowered_kernel l;
    if (measure_build(m, index, steps[i], &l)) continue; /* a schedule that the nest refuses */
    uint32_t slot = use->noperand;
    k[i] = (measure_kernel){.name = l.name, .tasks = l.tasks};
    k[i].args = wick_new(m->tmp, void *, slot + 2);
    memcpy(k[i].args, operand, slot * sizeof *operand);
    if (l.scratch) k[i].args[slot++] = wick_arena_alloc(m->tmp, l.scratch_bytes, 64);
    if (l.fault) k[i].args[slot] = wick_new(m->tmp, wick_fault, 1);
    any = true;
  }
  return any ? measure_compile(m, a) : NULL;
}

wick_status wick_measure_run(const wick_measure *m, uint32_t index, uint32_t n,
                             const char *const *steps, double *out_seconds, double *out_noise)
{
  wick_mark mark = wick_arena_mark(m->tmp);
  measure_kernel *k = wick_new(m->tmp, measure_kernel, n);
  wick_artifact a = {0};
  wick_image image = {0};
  wick_status s = measure_all(m, index, n, steps, k, &a);
  for (uint32_t i = m->module->funcs.n; i-- > 0;)
    if (m->module->funcs.at[i]->level == WICK_LOOP)
      wick_module_remove(m->module, m->module->funcs.at[i]->name);
  bool any = false;
  for (uint32_t i = 0; i < n; i++) any = any || k[i].name;
  if (!s && any) s = wick_image_map(&a, m->tmp, &image);
  if (s) return s;
  for (uint32_t i = 0; i < n && any; i++)
    if (k[i].name) k[i].run = wick_image_kernel(&image, k[i].name);
  measure_rounds(k, n, out_seconds, out_noise);
  wick_image_unmap(&image);
  wick_arena_rewind(m->tmp, mark);
  return NULL;
}
