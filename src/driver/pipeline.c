/* Runs passes: owns the functions that they return, verifies the module, measures times. */
#include "driver/pipeline.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/plan.h"
#include "ir/verify.h"

/* ---- ownership of functions ---- */

struct wick_generation {
  wick_arena mem;
  uint32_t nlive; /* the number of the module's functions that live here */
};

struct wick_version { /* the function that the module had under a name after the last pass */
  const wick_func *f;
  struct wick_generation *in; /* NULL: it was parsed or imported */
  uint32_t account;           /* the number of that pass */
};

void wick_pipeline_begin(wick_pipeline *p, wick_module *m)
{
  *p = (wick_pipeline){.m = m, .mem = wick_arena_make(m->guard), .target = wick_target_host()};
#ifndef NDEBUG
  p->verify = true;
#endif
}

void wick_pipeline_free(wick_pipeline *p)
{
  for (uint32_t i = 0; i < p->generations.n; i++) wick_arena_free(&p->generations.at[i]->mem);
  if (p->m) wick_arena_free(&p->mem);
  *p = (wick_pipeline){0};
}

static struct wick_generation *pipeline_open(wick_pipeline *p)
{
  struct wick_generation *g = wick_new(&p->mem, struct wick_generation, 1);
  g->mem = wick_arena_make(p->m->guard);
  wick_push(&p->mem, &p->generations, g);
  return g;
}

/* Assigns functions that are new in the module to `now`, and frees arenas without functions. */
static void pipeline_account(wick_pipeline *p, struct wick_generation *now)
{
  p->naccount++;
  for (uint32_t i = 0; i < p->generations.n; i++) p->generations.at[i]->nlive = 0;
  for (uint32_t i = 0; i < p->m->funcs.n; i++) {
    const wick_func *f = p->m->funcs.at[i];
    uint32_t name = wick_names_find(&p->m->names, f->name, strlen(f->name));
    while (p->versions.n <= name) wick_push(&p->mem, &p->versions, (struct wick_version){0});
    struct wick_version *v = &p->versions.at[name];
    if (v->f != f || v->account + 1 != p->naccount) *v = (struct wick_version){.f = f, .in = now};
    v->account = p->naccount;
    if (v->in) v->in->nlive++;
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->generations.n; i++) {
    struct wick_generation *g = p->generations.at[i];
    if (g->nlive)
      p->generations.at[n++] = g;
    else
      wick_arena_free(&g->mem);
  }
  p->generations.n = n;
}

/* ---- running ---- */

static double pipeline_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Compares two functions node by node. Passes copy in order, so that equal functions have equal
 * ids. */
static bool pipeline_same(const wick_func *a, const wick_func *b)
{
  if (a == b) return true;
  if (!b || a->level != b->level || a->nnode != b->nnode || a->nparam != b->nparam) return false;
  for (uint32_t i = 0; i < a->nnode; i++) {
    const wick_node *x = &a->node[i], *y = &b->node[i];
    if (x->op != y->op || x->nin != y->nin || x->first.id != y->first.id || x->end != y->end)
      return false;
    for (uint32_t k = 0; k < x->nin; k++)
      if (x->in[k].id != y->in[k].id) return false;
    if (x->op == WICK_OP_const && wick_const_imm(x)->constant != wick_const_imm(y)->constant)
      return false;
  }
  return true;
}

static wick_status pipeline_function(const wick_pass *pass, wick_pass_context *c,
                                     const wick_func *f, bool *acted)
{
  wick_func *out = NULL;
  WICK_TRY(pass->run(c, f, &out));
  *acted = *acted || !pipeline_same(f, out);
  if (!out)
    wick_module_remove(f->module, f->name);
  else if (out != f)
    wick_module_set(f->module, out);
  return NULL;
}

/* Lists the functions of the pass's levels before it runs, because it may add others. */
static wick_status pipeline_functions(wick_pipeline *p, const wick_pass *pass, wick_pass_context *c,
                                      bool *acted)
{
  uint32_t n = p->m->funcs.n;
  const wick_func **f = wick_dup(c->tmp, const wick_func *, p->m->funcs.at, n);
  for (uint32_t i = 0; i < n; i++) {
    if (!(f[i]->level & pass->levels) || wick_module_find(p->m, f[i]->name) != f[i]) continue;
    wick_mark m = wick_arena_mark(c->tmp);
    wick_status s = pipeline_function(pass, c, f[i], acted);
    if (s)
      return wick_fail(c->tmp, s->code, NULL, "%s: @%s: %s", pass->name, f[i]->name, s->message);
    wick_arena_rewind(c->tmp, m);
  }
  return NULL;
}

static wick_status pipeline_verify(wick_pipeline *p, const wick_pass *pass, wick_arena *tmp)
{
  wick_status s = wick_verify_module(p->m, tmp);
  return s ? wick_fail(tmp, WICK_EINTERNAL, NULL, "after %s: %s", pass->name, s->message) : NULL;
}

static wick_pass_context pipeline_context(wick_pipeline *p, wick_arena *mem, wick_arena *tmp)
{
  return (wick_pass_context){.target = &p->target,
                             .precision = p->precision,
                             .strict = p->strict,
                             .planned = p->planned,
                             .records = p->records,
                             .lowered = p->lowered,
                             .base = p->base,
                             .remarks = &p->remarks,
                             .mem = mem,
                             .tmp = tmp,
                             .keep = p->keep ? p->keep : &p->mem};
}

wick_status wick_pipeline_run(wick_pipeline *p, const wick_pass *pass, wick_arena *tmp)
{
  if (!p->versions.n) pipeline_account(p, NULL);
  struct wick_generation *g = pipeline_open(p);
  wick_pass_context c = pipeline_context(p, &g->mem, tmp);
  void *memo = NULL;
  c.memo = &memo;
  double begun = pipeline_seconds();
  wick_pass_time t = {.pass = pass};
  wick_status s = pipeline_functions(p, pass, &c, &t.acted);
  t.seconds = pipeline_seconds() - begun;
  pipeline_account(p, g);
  if (s) return s;
  if (t.acted) wick_module_collect(p->m, tmp);
  for (uint32_t i = 0; i < p->m->funcs.n; i++) t.nnode += p->m->funcs.at[i]->nnode;
  t.nbytes = p->m->guard->used_bytes;
  wick_push(&p->mem, &p->times, t);
  if (p->verify) WICK_TRY(pipeline_verify(p, pass, tmp));
  return p->after ? p->after(p->arg, &t, p->m) : NULL;
}

wick_status wick_pipeline_run_all(wick_pipeline *p, const char *names, wick_arena *tmp)
{
  wick_list(const wick_pass *) list = {0};
  while (*names) {
    size_t n = strcspn(names, ", ");
    const char *name = wick_str_dupn(tmp, names, n);
    const wick_pass *pass = wick_pass_find(name);
    if (n && !pass) return wick_fail(tmp, WICK_EINVAL, NULL, "there is no pass \"%s\"", name);
    if (n) wick_push(tmp, &list, pass);
    names += n + (names[n] != 0);
  }
  for (uint32_t i = 0; i < list.n; i++) WICK_TRY(wick_pipeline_run(p, list.at[i], tmp));
  return NULL;
}

/* Where a run ends: when `pass` has run `left` times; NULL: at the end of the pipeline. */
typedef struct pipeline_end {
  const wick_pass *pass;
  unsigned long left;
  bool reached;
} pipeline_end;

/* Reads "constant_fold", the pass's first run, or "constant_fold:2", its second one. */
static wick_status pipeline_until(const char *until, wick_arena *tmp, pipeline_end *out)
{
  size_t n = strcspn(until, ":");
  char *end = NULL;
  out->left = until[n] ? strtoul(until + n + 1, &end, 10) : 1;
  out->pass = wick_pass_find(wick_str_dupn(tmp, until, n));
  if (out->pass && out->left && (!end || !*end)) return NULL;
  return wick_fail(tmp, WICK_EINVAL, NULL, "there is no pass \"%s\"", until);
}

static wick_status pipeline_steps(wick_pipeline *p, const wick_step *step, pipeline_end *end,
                                  wick_arena *tmp)
{
  for (; step->pass && !end->reached; step++) {
    const wick_pass_context c = pipeline_context(p, NULL, tmp);
    if (step->when && !step->when->holds(&c)) continue;
    const wick_named_pipeline *named = wick_pipeline_find(step->pass);
    if (named) {
      WICK_TRY(pipeline_steps(p, named->step, end, tmp));
      continue;
    }
    const wick_pass *pass = wick_pass_find(step->pass);
    WICK_TRY(wick_pipeline_run(p, pass, tmp));
    end->reached = pass == end->pass && !--end->left;
  }
  return NULL;
}

wick_status wick_pipeline_run_named(wick_pipeline *p, const char *name, const char *until,
                                    wick_arena *tmp)
{
  const wick_named_pipeline *named = wick_pipeline_find(name);
  pipeline_end end = {0};
  if (!named) return wick_fail(tmp, WICK_EINVAL, NULL, "there is no pipeline \"%s\"", name);
  if (until) WICK_TRY(pipeline_until(until, tmp, &end));
  WICK_TRY(pipeline_steps(p, named->step, &end, tmp));
  if (!until || end.reached) return NULL;
  return wick_fail(tmp, WICK_EINVAL, NULL, "the pipeline %s ran, and did not come to \"%s\"", name,
                   until);
}
