/* The table of passes, and running one. */
#include "driver/pipeline.h"

#include <string.h>
#include <time.h>

#include "base/plan.h"
#include "graph/attention.h"
#include "graph/branch.h"
#include "graph/calls.h"
#include "graph/cse.h"
#include "graph/drop_identity.h"
#include "graph/expand_rows.h"
#include "graph/fold.h"
#include "graph/fold_scale.h"
#include "graph/grad/grad.h"
#include "graph/group/form.h"
#include "graph/invariant.h"
#include "graph/layout/block.h"
#include "graph/lines.h"
#include "graph/narrow.h"
#include "graph/phases.h"
#include "graph/quantized.h"
#include "graph/rescale.h"
#include "graph/shuffles.h"
#include "graph/simplify.h"
#include "graph/sink.h"
#include "graph/subbyte.h"
#include "graph/tokens.h"
#include "graph/twins.h"
#include "graph/unused.h"
#include "graph/widen.h"
#include "ir/verify.h"
#include "loop/expand.h"
#include "loop/hoist.h"
#include "loop/join.h"
#include "loop/legalize.h"
#include "low/copy_elim.h"
#include "low/dead_store.h"
#include "low/free.h"
#include "low/in_place.h"
#include "low/order.h"
#include "low/plan.h"

/* ---- the passes ---- (what is dead needs none: the builder, with which each ends, drops it) */

static wick_status pipeline_calls(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_calls(f, c->mem, out);
}

static wick_status pipeline_tokens(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_tokens(f, c->mem, out);
}

static wick_status pipeline_widen(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_widen(f, c->mem, out);
}

static wick_status pipeline_narrow_bf16(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_narrow(f, WICK_BF16, c->target, c->strict, c->mem, c->tmp, out);
}

static wick_status pipeline_narrow_f16(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_narrow(f, WICK_F16, c->target, c->strict, c->mem, c->tmp, out);
}

static wick_status pipeline_expand_rows(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_expand_rows(f, c->mem, out);
}

static wick_status pipeline_grad(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_grad(f, c->mem, out);
}

static wick_status pipeline_attention(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_attention(f, c->target, c->mem, out);
}

static wick_status pipeline_phases(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_phases(f, c->target, c->mem, out);
}

static wick_status pipeline_block(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_pass_block(f, c->target, c->strict, c->records, c->mem, out);
}

static wick_status pipeline_form_groups(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return wick_form_groups(f, c->target, c->records, c->mem, c->tmp, out);
}

typedef wick_func *pipeline_scratch(const wick_func *f, wick_arena *mem, wick_arena *tmp);

static wick_status pipeline_with(pipeline_scratch *pass, wick_pass_context *c, const wick_func *f,
                                 wick_func **out)
{
  *out = pass(f, c->mem, c->tmp);
  return NULL;
}

static wick_status pipeline_copy_elim(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return pipeline_with(wick_pass_copy_elim, c, f, out);
}

static wick_status pipeline_in_place(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return pipeline_with(wick_pass_in_place, c, f, out);
}

static wick_status pipeline_dead_store(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return pipeline_with(wick_pass_dead_store, c, f, out);
}

static wick_status pipeline_order(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return pipeline_with(wick_pass_order, c, f, out);
}

static wick_status pipeline_free(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  return pipeline_with(wick_pass_free, c, f, out);
}

static wick_status pipeline_plan(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  wick_low_plan plan;
  return wick_low_plan_make(f, WICK_PLAN_STEPS, 0, false, c->mem, c->tmp, out, &plan);
}

static wick_status pipeline_plan_most(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  wick_low_plan plan;
  return wick_low_plan_make(f, WICK_PLAN_STEPS, 0, true, c->mem, c->tmp, out, &plan);
}

static wick_status pipeline_join(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  *out = wick_pass_join(f, c->target, c->mem);
  return NULL;
}

static wick_status pipeline_legalize(wick_pass_context *c, const wick_func *f, wick_func **out)
{
  *out = wick_pass_legalize(f, c->target, c->mem);
  return NULL;
}

const wick_pass wick_passes[] = {
    {"calls", WICK_GRAPH, NULL, pipeline_calls, WICK_EXACT,
     "what is called stands in the place of the call"},
    {"branch", WICK_GRAPH, wick_pass_branch, NULL, WICK_EXACT, "branches that are known"},
    {"invariant", WICK_GRAPH, wick_pass_invariant, NULL, WICK_EXACT,
     "what a loop's steps do not change is computed before it"},
    {"cse", WICK_GRAPH | WICK_GROUP, wick_pass_cse, NULL, WICK_EXACT,
     "one node where several give the same"},
    {"drop_identity", WICK_GRAPH, wick_pass_drop_identity, NULL, WICK_EXACT,
     "x*1 and x/1 become x"},
    {"expand_rows", WICK_GRAPH, NULL, pipeline_expand_rows, WICK_EXACT,
     "rows without stages become others"},
    {"fold", WICK_GRAPH, wick_pass_fold, NULL, WICK_EXACT,
     "computes what depends on constants alone"},
    {"fold_scale", WICK_GRAPH, wick_pass_fold_scale, NULL, WICK_ROUNDING,
     "factors per channel go into the weights before them"},
    {"grad", WICK_GRAPH, NULL, pipeline_grad, WICK_EXACT,
     "the first result's derivatives by the parameters"},
    {"quantized", WICK_GRAPH, wick_pass_quantized, NULL, WICK_ROUNDING,
     "products of dequantized numbers as those of integers"},
    {"rescale", WICK_GRAPH, wick_pass_rescale, NULL, WICK_ROUNDING,
     "one factor and an integer bias behind sums of integers"},
    {"shuffles", WICK_GRAPH, wick_pass_shuffles, NULL, WICK_EXACT,
     "reshape, transpose, reshape as one node"},
    {"simplify", WICK_GRAPH, wick_pass_simplify, NULL, WICK_EXACT,
     "nodes that are equal to something cheaper"},
    {"sink", WICK_GRAPH, wick_pass_sink, NULL, WICK_EXACT,
     "moves of elements behind element-wise nodes"},
    {"subbyte", WICK_GRAPH, wick_pass_subbyte, NULL, WICK_EXACT,
     "elements below a byte are computed in whole ones"},
    {"tokens", WICK_GRAPH, NULL, pipeline_tokens, WICK_EXACT, "strings become their numbers"},
    {"twins", WICK_GRAPH, wick_pass_twins, NULL, WICK_EXACT,
     "one loop where another does the same, and more"},
    {"unused", WICK_GRAPH, wick_pass_unused, NULL, WICK_EXACT,
     "results of branches and loops that nobody uses"},
    {"widen", WICK_GRAPH, NULL, pipeline_widen, WICK_ROUNDING, "floats become f64"},
    {"attention", WICK_GRAPH, NULL, pipeline_attention, WICK_ROUNDING,
     "queries, keys, softmax and values as one node"},
    {"narrow_bf16", WICK_GRAPH, NULL, pipeline_narrow_bf16, WICK_ROUNDING,
     "factors and what kernels leave in memory become bf16"},
    {"narrow_f16", WICK_GRAPH, NULL, pipeline_narrow_f16, WICK_ROUNDING,
     "factors and what kernels leave in memory become f16"},
    {"lines", WICK_GRAPH, wick_pass_lines, NULL, WICK_EXACT,
     "convolutions over lines as those over images of one row"},
    {"phases", WICK_GRAPH, NULL, pipeline_phases, WICK_ROUNDING,
     "transposed convolutions as convolutions"},
    {"block", WICK_GRAPH, NULL, pipeline_block, WICK_ROUNDING,
     "images and weights in blocks of channels"},
    {"form_groups", WICK_GRAPH, NULL, pipeline_form_groups, WICK_EXACT,
     "kernels on buffers, from nodes"},
    {"copy_elim", WICK_LOW, NULL, pipeline_copy_elim, WICK_EXACT,
     "sources of copies are written in place"},
    {"in_place", WICK_LOW, NULL, pipeline_in_place, WICK_EXACT,
     "results take the memory of dying operands"},
    {"dead_store", WICK_LOW, NULL, pipeline_dead_store, WICK_EXACT,
     "drops kernels that nobody reads"},
    {"order", WICK_LOW, NULL, pipeline_order, WICK_EXACT,
     "the order of least peak memory that is found"},
    {"free", WICK_LOW, NULL, pipeline_free, WICK_EXACT, "frees buffers behind their last use"},
    {"plan", WICK_LOW, NULL, pipeline_plan, WICK_EXACT, "gives buffers of the arena their offsets"},
    {"plan_most", WICK_LOW, NULL, pipeline_plan_most, WICK_EXACT,
     "the same, for the most that sizes can be where they vary"},
    {"join", WICK_LOOP, NULL, pipeline_join, WICK_EXACT, "stores of quarters of registers as one"},
    {"expand", WICK_LOOP, wick_pass_expand, NULL, WICK_EXACT,
     "scalar rows become what machines have"},
    {"legalize", WICK_LOOP, NULL, pipeline_legalize, WICK_EXACT,
     "types and operators that the target lacks"},
    {"hoist", WICK_LOOP, wick_pass_hoist, NULL, WICK_EXACT,
     "moves what does not change out of loops"},
    {NULL, 0, NULL, NULL, WICK_EXACT, NULL},
};

const char wick_pipeline_compile[] =
    "calls,tokens,quantized,fold,branch,twins,unused,expand_rows,fold,subbyte,drop_identity,"
    "simplify,"
    "invariant,cse,rescale,"
    "fold_scale,"
    "shuffles,attention,phases,lines,fold,"
    "sink,"
    "simplify,"
    "block,fold,form_groups,copy_elim,in_place,dead_store,order,free,plan";

const wick_pass *wick_pass_find(const char *name)
{
  for (const wick_pass *p = wick_passes; p->name; p++)
    if (strcmp(p->name, name) == 0) return p;
  return NULL;
}

/* ---- who owns which function ---- */

struct wick_generation {
  wick_arena mem;
  uint32_t nlive; /* functions of the module that live here */
};

struct wick_version { /* what the module held under a name after the last pass */
  const wick_func *f;
  struct wick_generation *in; /* NULL: not of the pipeline (parsed, imported) */
  uint32_t account;           /* when that was so */
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

/* Functions that the module did not hold before belong to `now`; arenas without functions go. */
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

/* Node by node the same: passes copy in order, so that equal functions have equal numbers. */
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
    if (x->op == WICK_OP_const && x->attr[0].imm.constant != y->attr[0].imm.constant) return false;
  }
  return true;
}

static wick_status pipeline_function(const wick_pass *pass, wick_pass_context *c,
                                     const wick_func *f, bool *acted)
{
  wick_func *out = NULL;
  if (pass->rewrite)
    out = pass->rewrite(f, c->mem);
  else
    WICK_TRY(pass->run(c, f, &out));
  *acted = *acted || !pipeline_same(f, out);
  if (!out)
    wick_module_remove(c->module, f->name);
  else if (out != f)
    wick_module_set(c->module, out);
  return NULL;
}

/* The functions of the pass's levels, as they are before it: it may add others. */
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

wick_status wick_pipeline_run(wick_pipeline *p, const wick_pass *pass, wick_arena *tmp)
{
  if (!p->versions.n) pipeline_account(p, NULL);
  struct wick_generation *g = pipeline_open(p);
  wick_pass_context c = {.module = p->m,
                         .target = &p->target,
                         .strict = p->strict,
                         .records = p->records,
                         .mem = &g->mem,
                         .tmp = tmp};
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
  if (p->after) p->after(p->arg, pass, p->m);
  return NULL;
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
