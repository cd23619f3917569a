/* Random graphs: the reference evaluator compared with compiled code, on one and on three
 * threads, on every level of this processor, within the limits of random_differ.h, which says
 * how far rounding can move a result.
 *
 * One eighth of the graphs is differentiated by their parameters. One third is first rounded to
 * bf16 or f16 between kernels (graph/demote.h); both sides then compute the resulting graph.
 *
 * WICK_RANDOM_GRAPHS: number of graphs (60); WICK_RANDOM_SEED: the first seed. A difference is
 * reduced to the first node that is wrong by itself, with its operands as parameters.
 *
 * WICK_RANDOM_EMPTY_GRAPHS: number of further graphs (60) with dimensions of size 0. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/demote.h"
#include "graph/grad/grad.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/elementwise/scalar.h"
#include "ops/evaluate.h"
#include "random_differ.h"
#include "random_flow.h"
#include "target/target.h"
#include "wick/wick.h"

/* ---- compiled code ---- */

enum { DIFF_TARGETS = 5 };

static const char *diff_text(diff *d, const wick_func *f)
{
  wick_text t = wick_text_begin(&d->tmp);
  wick_print_module(f->module, WICK_PRINT_DATA, &t);
  return t.at;
}

static wick_error *diff_session(const wick_compiled *k, uint32_t threads, const wick_tensor *in,
                                wick_arena *mem, wick_tensor *out)
{
  wick_session_options o = {.size = sizeof o, .threads = threads};
  wick_session *s = NULL;
  wick_error *e = wick_session_create(k, &o, &s);
  const void *inputs[DIFF_MOST];
  void *outputs[DIFF_MOST];
  for (uint32_t i = 0; i < wick_compiled_ninput(k); i++) inputs[i] = in[i].data;
  for (uint32_t i = 0; i < wick_compiled_noutput(k); i++) {
    out[i].data = wick_arena_alloc(mem, wick_compiled_output(k, i)->nbytes, 64);
    outputs[i] = out[i].data;
  }
  for (int twice = 0; twice < 2 && !e; twice++)
    e = wick_run(s, inputs, outputs); /* the second run finds used memory */
  wick_session_free(s);
  return e;
}

static bool diff_same_bits(const wick_tensor *a, const wick_tensor *b)
{
  return memcmp(a->data, b->data, wick_elem_bytes(a->elem, diff_numel(a))) == 0;
}

static void diff_fails(diff_result *r, const char *what, wick_error *e)
{
  r->differs = true;
  snprintf(r->why, sizeof r->why, "%s: %s", what, wick_error_message(e));
}

/* Returns true if a result of a branch or a loop is not used, or only its shape, or it has no
 * elements: the reference computes it, and may fail, but compiled code need not. */
static bool diff_unwanted(diff *d, const wick_func *f)
{
  wick_uses uses = wick_uses_of(f, &d->tmp);
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (f->node[i].op == WICK_OP_shape) return true;
    if (f->node[i].nout &&
        wick_dim_is(wick_type_numel(f->module, wick_type_of(f, f->node[i].first)), 0))
      return true;
    for (uint32_t k = 0; f->node[i].nregion && k < f->node[i].nout; k++) {
      uint32_t v = f->node[i].first.id + k;
      if (uses.first[v + 1] == uses.first[v]) return true;
    }
  }
  return false;
}

/* Compares compiled code on one thread with the reference, and on three threads with one. */
static void diff_against(diff *d, const wick_func *f, const wick_compiled *k, const wick_tensor *in,
                         wick_status s, const wick_tensor *want, diff_bound *bound,
                         const char *target, diff_result *r)
{
  uint32_t nout = wick_return(f)->nin;
  wick_tensor one[DIFF_MOST], three[DIFF_MOST];
  memcpy(one, want, sizeof one), memcpy(three, want, sizeof three);
  wick_error *e = diff_session(k, 1, in, &d->mem, one);
  if (!s != !e && !(s && diff_unwanted(d, f))) {
    r->differs = true;
    snprintf(r->why, sizeof r->why, "the reference %s, compiled code %s: %s", s ? "fails" : "runs",
             e ? "fails" : "runs", s ? s->message : wick_error_message(e));
  }
  bool fails = s || e;
  wick_error_free(e);
  if (fails) return;
  diff_compare(d, nout, want, bound, one, target, r);
  for (int doubt = 0; r->differs && doubt < DIFF_DOUBTS; doubt++) {
    if (!diff_round(d, f, in, want, bound)) return;
    diff_compare(d, nout, want, bound, one, target, r);
  }
  e = diff_session(k, 3, in, &d->mem, three);
  for (uint32_t i = 0; i < nout && !e && !r->differs; i++)
    if (!diff_same_bits(&one[i], &three[i]))
      r->differs = true,
      snprintf(r->why, sizeof r->why, "%s: output %u has other bits with three threads", target, i);
  wick_error_free(e);
}

/* Approximations are specified only for numbers: an infinity or NaN may reach more elements than it
 * should. */
static bool diff_all_finite(const diff *d, const wick_func *f)
{
  for (uint32_t v = 1; v <= f->nvalue; v++) {
    const wick_tensor *t = &d->kept[v];
    for (uint64_t k = 0; t->data && wick_elem_is_float(t->elem) && k < diff_numel(t); k++)
      if (!isfinite(wick_load_elem(t->elem, t->data, k).f)) return false;
  }
  return true;
}

/* Runs f compiled for a target, and compares. If the reference fails, the run must fail, too. */
static diff_result diff_run(diff *d, const wick_func *f, const wick_tensor *in, const char *target)
{
  diff_result r = {false, ""};
  wick_tensor want[DIFF_MOST];
  diff_bound bound[DIFF_MOST];
  wick_status s = diff_reference(d, f, in, want);
  if (d->kept) d->strict = s || !diff_all_finite(d, f);
  for (uint32_t o = 0; o < wick_return(f)->nin && !s; o++) bound[o] = diff_bound_of(d, &want[o]);
  if (!s && !diff_round(d, f, in, want, bound)) return r; /* a disturbed run fails */
  const char *text = diff_text(d, f);
  wick_model *m = NULL;
  wick_compiled *k = NULL;
  wick_error *e = wick_load_bytes(d->context, "random", text, strlen(text), &m);
  wick_compile_options o = {
      .size = sizeof o, .target = target, .cache = "", .jobs = 1, .strict = d->strict};
  if (!e) e = wick_compile(m, &o, &k);
  if (e) {
    if (wick_error_code(e) != WICK_EUNSUPPORTED) diff_fails(&r, "compile", e);
    if (getenv("WICK_RANDOM_VERBOSE")) print_message("%s\n", wick_error_message(e));
  } else {
    diff_against(d, f, k, in, s, want, bound, target, &r);
  }
  wick_error_free(e);
  wick_compiled_free(k);
  wick_model_free(m);
  return r;
}

/* ---- shrinking ---- */

/* Returns the single node n of f as a function, with its operands (except constants) as
 * parameters. */
static wick_func *diff_cut(diff *d, const wick_func *f, uint32_t node, wick_value *out_param)
{
  const wick_node *n = &f->node[node];
  const uint32_t *definer = wick_definers_of(f, &d->tmp);
  wick_builder b;
  wick_build_begin(&b, f->module, WICK_GRAPH, "main", &d->mem);
  wick_value *in = wick_new(&d->tmp, wick_value, n->nin + 1),
             *result = wick_new(&d->tmp, wick_value, n->nout);
  uint32_t nparam = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value v = n->in[k];
    bool constant =
        v.id && definer[v.id] != UINT32_MAX && f->node[definer[v.id]].op == WICK_OP_const;
    if (!v.id || constant) continue;
    for (uint32_t j = 0; j < k && !in[k].id; j++)
      if (n->in[j].id == v.id) in[k] = in[j];
    if (in[k].id) continue;
    in[k] =
        wick_build_param(&b, wick_type_of(f, v), WICK_IN, wick_str_printf(&d->tmp, "p%u", nparam));
    out_param[nparam++] = v;
  }
  for (uint32_t k = 0; k < n->nin; k++)
    if (n->in[k].id && !in[k].id)
      in[k] = wick_copy_with(&b, f, &f->node[definer[n->in[k].id]], NULL);
  wick_value first = wick_copy_with(&b, f, n, in);
  for (uint32_t k = 0; k < n->nout; k++) result[k] = (wick_value){first.id + k};
  wick_build_return(&b, n->nout, result);
  wick_func *cut = NULL;
  return wick_build_end(&b, &cut) ? NULL : cut;
}

/* Finds the first node that is wrong by itself, on the tensors that the reference computed; else
 * the whole function. */
static void diff_shrink(diff *d, const wick_func *f, const char *target, const char *why,
                        uint64_t seed)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    wick_value param[64];
    if (n->op == WICK_OP_const || wick_op_of(n)->terminator || n->nregion || n->nout > DIFF_MOST)
      continue;
    wick_func *cut = diff_cut(d, f, i, param);
    if (!cut || cut->nparam > DIFF_MOST) continue;
    wick_tensor in[DIFF_MOST];
    bool met = true; /* not in a region that did not run */
    for (uint32_t p = 0; p < cut->nparam; p++) {
      in[p] = d->kept[param[p].id];
      met = met && in[p].data;
    }
    if (!met) continue;
    wick_tensor *kept = d->kept;
    const wick_func *whole = wick_module_find(f->module, "main");
    d->kept = NULL;
    wick_module_set(f->module, cut);
    diff_result r = diff_run(d, cut, in, target);
    wick_module_set(f->module, whole);
    d->kept = kept;
    if (!r.differs) continue;
    wick_text t = wick_text_begin(&d->tmp);
    wick_print_func(cut, 0, &t);
    fprintf(stderr, "seed %llu: %s\n%s\n", (unsigned long long)seed, r.why, t.at);
    return;
  }
  wick_text t = wick_text_begin(&d->tmp);
  wick_print_func(f, 0, &t);
  fprintf(stderr, "seed %llu: %s (no node is wrong by itself)\n%s\n", (unsigned long long)seed, why,
          t.at);
}

/* ---- the test ---- */

/* Counts the operators and element types of a graph. */
static void diff_count(const wick_func *f, uint64_t (*seen)[WICK_NOP])
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    wick_value v = random_counted(&f->node[i]);
    if (v.id) (*seen)[f->node[i].op] |= WICK_BIT(wick_info_of(f, v)->elem);
  }
}

/* Adds the derivatives of all float results by all float parameters. Returns f itself if an
 * operator has none, or if it becomes too large for a test. */
static wick_func *diff_derive(diff *d, wick_func *f)
{
  enum { MOST = 400 }; /* most nodes */
  wick_value of[DIFF_MOST], wrt[DIFF_MOST];
  wick_gradient g = {.of = of, .wrt = wrt};
  const wick_node *end = wick_return(f);
  for (uint32_t i = 0; i < end->nin; i++)
    if (WICK_FLOATS >> wick_info_of(f, end->in[i])->elem & 1) of[g.nof++] = end->in[i];
  for (uint32_t i = 1; i <= f->nparam; i++)
    if (WICK_FLOATS >> wick_info_of(f, (wick_value){i})->elem & 1) wrt[g.nwrt++] = (wick_value){i};
  wick_func *df;
  wick_status s = wick_differentiate(f, &g, &d->mem, &df);
  if (s && s->code != WICK_EUNSUPPORTED) fail_msg("%s", s->message);
  return s || df->nnode > MOST ? f : df;
}

static bool diff_one(diff *d, uint64_t seed, const char *target, bool empty,
                     uint64_t (*seen)[WICK_NOP], uint32_t *nnode)
{
  random_graph *r = calloc(1, sizeof *r);
  wick_module *m = wick_module_create(&d->guard, "random");
  wick_func *f =
      random_function(r, m, seed, &(random_wish){.flow = 2, .empty = empty}, &d->mem, &d->tmp);
  uint32_t npair;
  random_pair pair = random_pair_of(&(random_wish){0}, seed, &npair);
  if (!f && empty) { /* the operator cannot be built without elements */
    wick_module_free(m);
    free(r);
    return true;
  }
  if (!f)
    fail_msg("seed %llu: no %s of %s is built", (unsigned long long)seed, wick_ops[pair.op]->name,
             wick_elem_name(pair.elem));
  wick_status s = wick_verify_func(f, &d->tmp);
  if (s) fail_msg("seed %llu: %s", (unsigned long long)seed, s->message);
  diff_count(f, seen);
  if (seed % 8 == 4) f = diff_derive(d, f);
  if (seed % 3 == 2) { /* for all targets and levels */
    wick_target t = wick_target_host();
    const wick_pass_context pass = {.target = &t, .mem = &d->mem, .tmp = &d->tmp};
    s = seed / 12 % 4 ? wick_pass_demote_to_bf16(&pass, f, &f)
                      : wick_pass_demote_to_f16(&pass, f, &f);
    if (!s) s = wick_verify_func(f, &d->tmp);
    if (s) fail_msg("seed %llu: %s", (unsigned long long)seed, s->message);
  }
  wick_module_set(m, f);
  wick_tensor in[DIFF_MOST];
  d->noise = seed;
  diff_inputs(d, f, seed % 4 == 0, 0, NULL, NULL, in);
  d->kept = wick_new(&d->mem, wick_tensor, f->nvalue + 1);
  *nnode = f->nnode;
  diff_result result = diff_run(d, f, in, target);
  if (result.differs) diff_shrink(d, f, target, result.why, seed);
  wick_module_free(m);
  free(r);
  return !result.differs;
}

static int diff_order(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Checks that all pairs of an operator and an element type were built. Each graph has one of them,
 * in turn, so that as many graphs as there are pairs have all. */
static void diff_coverage(uint64_t (*seen)[WICK_NOP], uint64_t ngraph)
{
  uint32_t rows = 0, all = 0, pairs = 0, npair;
  random_pair_of(&(random_wish){0}, 0, &npair);
  for (uint32_t op = 1; op < WICK_NOP; op++) {
    uint64_t types = random_types(&(random_wish){0}, (wick_opcode)op),
             missing = types & ~(*seen)[op];
    all += types != 0;
    rows += (types & (*seen)[op]) != 0;
    for (uint64_t s = types & (*seen)[op]; s; s &= s - 1) pairs++;
    for (uint64_t s = missing; s && ngraph >= npair; s &= s - 1)
      print_error("no %s of %s\n", wick_ops[op]->name,
                  wick_elem_name((wick_elem)__builtin_ctzll(s)));
  }
  print_message("%u of %u rows, %u of %u pairs of row and element type\n", rows, all, pairs, npair);
  if (ngraph >= npair) assert_int_equal(pairs, npair);
  assert_true(pairs >= (ngraph < npair ? ngraph : npair));
}

/* One graph, with memory of its own. */
typedef struct diff_total {
  uint64_t compared, skipped;
  bool differs;
} diff_total;

static __attribute__((noinline)) void diff_graph(diff_total *out, uint64_t seed, const char *target,
                                                 bool empty, uint64_t (*seen)[WICK_NOP],
                                                 uint32_t *nnode)
{
  diff *d = diff_begin();
  if (setjmp(d->guard.where)) fail_msg("out of memory");
  bool ok = diff_one(d, seed, target, empty, seen, nnode);
  *out = (diff_total){d->compared, d->skipped, !ok};
  diff_end(d);
}

/* Lists the targets that this processor can run. */
static uint32_t diff_targets(const char **run)
{
  static const char *const targets[DIFF_TARGETS] = {"host", "x86-64-v4", "x86-64-v3", "x86-64-v1",
                                                    "armv8-a"};
  uint32_t n = 0;
  wick_target host = wick_target_host(), t;
  for (uint32_t i = 0; i < DIFF_TARGETS; i++)
    if (wick_target_find(targets[i], &t) && t.machine == host.machine &&
        wick_target_runs_on(&t, wick_cpu_detect()))
      run[n++] = targets[i];
  return n;
}

static void diff_graphs(uint64_t n, uint64_t first, bool empty)
{
  diff_total total;
  uint64_t bad = 0, compared = 0, skipped = 0;
  const char *run[DIFF_TARGETS];
  uint32_t ntarget = diff_targets(run), *nnode = calloc(n + 1, sizeof *nnode);
  uint64_t(*seen)[WICK_NOP] = calloc(1, sizeof *seen);
  if (!ntarget) skip();
  for (uint64_t i = 0; i < n; i++) {
    diff_graph(&total, first + i, run[i % ntarget], empty, seen, &nnode[i]);
    compared += total.compared, skipped += total.skipped;
    bad += total.differs;
  }
  qsort(nnode, n, sizeof *nnode, diff_order);
  print_message("%llu graphs, a median of %u nodes; %llu elements compared, %llu not stable\n",
                (unsigned long long)n, nnode[n / 2], (unsigned long long)compared,
                (unsigned long long)skipped);
  if (!empty) diff_coverage(seen, n);
  free(nnode);
  free(seen);
  if (bad) fail_msg("%llu of %llu graphs differ", (unsigned long long)bad, (unsigned long long)n);
}

static void diff_random_graphs(void **state)
{
  (void)state;
  diff_graphs(diff_setting("WICK_RANDOM_GRAPHS", 60), diff_setting("WICK_RANDOM_SEED", 1), false);
}

/* Dimensions of size 0 anywhere: tensors without elements still have a type, and their neighbours
 * run. */
static void diff_empty_graphs(void **state)
{
  (void)state;
  diff_graphs(diff_setting("WICK_RANDOM_EMPTY_GRAPHS", 60), diff_setting("WICK_RANDOM_SEED", 1),
              true);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(diff_random_graphs),
                                     cmocka_unit_test(diff_empty_graphs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
