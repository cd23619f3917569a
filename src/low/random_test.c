/* Tests the passes on random low functions by running them. Each element that a pseudo-kernel
 * writes is a hash of the elements that it reads for it, and is written at once. A wrong alias
 * or an overwritten buffer therefore changes the results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/plan.h"
#include "ir/build.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "low/copy_elim.h"
#include "low/dead_store.h"
#include "low/in_place.h"
#include "low/insert_frees.h"
#include "low/plan_memory.h"
#include "low/random_testing.h"
#include "low/reorder_for_memory.h"

/* ---- the interpreter ---- */

typedef struct run_state {
  const wick_func *f;
  /* per value: the beginning of a buffer; for scalars, their number is in the pointer */
  uint32_t **at;
  uint32_t *arena;
  uint64_t nbytes;
  bool condition;
  wick_arena *tmp;
} run_state;

static uint64_t run_numel(const wick_type_info *t)
{
  uint64_t n = 1;
  for (uint32_t k = 0; k < t->rank; k++) n *= (uint64_t)t->dim[k].v;
  return n;
}

/* Returns the address of element k, in the order of the text. */
static uint32_t *run_elem(const run_state *s, wick_value v, uint64_t k)
{
  const wick_type_info *t = wick_info_of(s->f, v);
  uint64_t index = 0, dense = 1;
  for (uint32_t d = t->rank; d-- > 0;) {
    uint64_t extent = (uint64_t)t->dim[d].v;
    index += k % extent * (t->stride ? (uint64_t)t->stride[d].v : dense);
    k /= extent, dense *= extent;
  }
  return s->at[v.id] + index;
}

static void run_garbage(const run_state *s, wick_value v)
{
  for (uint64_t k = run_numel(wick_info_of(s->f, v)); k-- > 0;)
    s->at[v.id][k] = 0xdead0000u + (uint32_t)k;
}

static void run_alloc(run_state *s, const wick_node *n)
{
  uint64_t numel = run_numel(wick_info_of(s->f, n->first));
  if (!s->nbytes) {
    s->at[n->first.id] = wick_new(s->tmp, uint32_t, numel);
    run_garbage(s, n->first);
    return;
  }
  s->at[n->first.id] = s->arena + n->attr[WICK_ATTR_alloc_offset].i / 4;
}

static uint32_t run_hash(uint32_t h, uint32_t x) { return (uint32_t)wick_hash_u64(h + 1, x); }

static uint32_t run_row(const run_state *s, const wick_node *n, uint32_t nout, uint64_t k)
{
  const wick_type_info *t = wick_info_of(s->f, n->in[nout]);
  uint64_t row = (uint64_t)t->dim[t->rank - 1].v, first = k / row * row;
  uint32_t h = 7;
  for (uint64_t i = first; i < first + row; i++) h = run_hash(h, *run_elem(s, n->in[nout], i));
  return h;
}

static void run_kernel(const run_state *s, const wick_node *n)
{
  const wick_func *g = wick_module_find(s->f->module, n->attr[WICK_ATTR_kernel_callee].s);
  uint32_t nout = wick_return(g)->nin;
  bool other = g->name[0] == 'o', root = g->name[0] == 'r', at = g->name[0] == 'a';
  uint64_t numel = run_numel(wick_info_of(s->f, n->in[0]));
  uint32_t *row = wick_new(s->tmp, uint32_t, numel), h = 0;
  for (uint64_t k = 0; root && k < numel; k++) row[k] = run_row(s, n, nout, k);
  for (uint64_t k = 0; k < numel; k++) {
    /* A fold inside the loop reads its row when the row's first element is computed. */
    const wick_type_info *t = wick_info_of(s->f, n->in[0]);
    if (at && k % (uint64_t)t->dim[t->rank - 1].v == 0) h = run_row(s, n, nout, k);
    uint32_t x = root ? row[k] : at ? h : 1;
    for (uint32_t i = nout; i < n->nin; i++) {
      uint64_t have = run_numel(wick_info_of(s->f, n->in[i]));
      x = run_hash(x, *run_elem(s, n->in[i], other ? (k * 7 + 3) % have : k));
      if (other) x = run_hash(x, *run_elem(s, n->in[i], k % have));
    }
    for (uint32_t o = 0; o < nout; o++) *run_elem(s, n->in[o], k) = run_hash(x, o);
  }
}

static void run_copy(const run_state *s, const wick_node *n)
{
  uint64_t numel = run_numel(wick_info_of(s->f, n->in[0]));
  for (uint64_t k = 0; k < numel; k++) *run_elem(s, n->in[0], k) = *run_elem(s, n->in[1], k);
}

static void run_region(run_state *s, uint32_t begin, uint32_t end);

static void run_control(run_state *s, const wick_node *n)
{
  if (n->op == WICK_OP_if) {
    const wick_region *g = &n->region[s->condition ? 0 : 1];
    run_region(s, g->begin, g->end);
    return;
  }
  const wick_region *g = &n->region[0];
  uint64_t count = (uintptr_t)s->at[n->in[0].id];
  uint32_t *carried = s->at[n->in[1].id];
  for (uint64_t i = 0; i < count; i++) {
    s->at[g->first.id + 1] = carried;
    run_region(s, g->begin, g->end);
    carried = s->at[s->f->node[g->end - 1].in[1].id];
  }
  s->at[n->first.id] = carried;
}

static void run_region(run_state *s, uint32_t begin, uint32_t end)
{
  for (uint32_t i = begin; i < end; i = s->f->node[i].end) {
    const wick_node *n = &s->f->node[i];
    if (n->nregion) run_control(s, n);
    switch (n->op) {
    case WICK_OP_alloc: run_alloc(s, n); break;
    case WICK_OP_view:
      s->at[n->first.id] = s->at[n->in[0].id] + n->attr[WICK_ATTR_view_offset].i;
      break;
    case WICK_OP_const: s->at[n->first.id] = (uint32_t *)(uintptr_t)wick_const_imm(n)->i; break;
    case WICK_OP_kernel: run_kernel(s, n); break;
    case WICK_OP_copy: run_copy(s, n); break;
    case WICK_OP_free: run_garbage(s, n->in[0]); break;
    default: break;
    }
  }
}

/* Returns a hash of the outputs. With nbytes, buffers are in an arena at their planned offsets;
 * otherwise each alloc has memory of its own. Memory that was not written, or was freed, has
 * arbitrary contents. */
static uint64_t run(const wick_func *f, uint64_t nbytes, bool condition, wick_arena *tmp)
{
  wick_mark mark = wick_arena_mark(tmp);
  run_state s = {.f = f, .nbytes = nbytes, .condition = condition, .tmp = tmp};
  s.at = wick_new(tmp, uint32_t *, f->nvalue + 1);
  s.arena = wick_new(tmp, uint32_t, nbytes / 4 + 1);
  memset(s.arena, 0xa5, nbytes);
  for (uint32_t v = 2; v <= f->nparam; v++) {
    uint64_t numel = run_numel(wick_info_of(f, (wick_value){v}));
    s.at[v] = wick_new(tmp, uint32_t, numel);
    for (uint64_t k = 0; f->qual[v - 1] == WICK_IN && k < numel; k++)
      s.at[v][k] = run_hash(v, (uint32_t)k);
  }
  run_region(&s, 0, f->nnode);
  uint64_t h = WICK_HASH_SEED;
  for (uint32_t v = 2; v <= f->nparam; v++)
    h = wick_hash_bytes(h, s.at[v], 4 * run_numel(wick_info_of(f, (wick_value){v})));
  wick_arena_rewind(tmp, mark);
  return h;
}

/* ---- the passes ---- */

static const struct {
  const char *name;
  wick_pass_run *run;
} passes[] = {{"copy_elim", wick_pass_copy_elim},
              {"in_place", wick_pass_in_place},
              {"dead_store", wick_pass_dead_store},
              {"reorder_for_memory", wick_pass_reorder_for_memory},
              {"insert_frees", wick_pass_insert_frees}};

typedef struct totals {
  uint64_t copies, copies_left, peak, peak_left, kernels, kernels_left;
} totals;

static uint64_t count(const wick_func *f, wick_opcode op)
{
  uint64_t n = 0;
  for (uint32_t i = 0; i < f->nnode; i++) n += f->node[i].op == op;
  return n;
}

static void show(const wick_func *f, const char *what, uint64_t seed, wick_arena *tmp)
{
  wick_text t = wick_text_begin(tmp);
  wick_print_func(f, 0, &t);
  printf("seed %llu, %s:\n%s", (unsigned long long)seed, what, t.at);
}

static void same(const wick_func *f, const wick_func *g, uint64_t nbytes, const char *what,
                 uint64_t seed, wick_arena *tmp)
{
  wick_status s = wick_verify_func(g, tmp);
  for (int c = 0; c < 2; c++) {
    if (!s && run(f, 0, c, tmp) == run(g, nbytes, c, tmp)) continue;
    show(f, "before", seed, tmp);
    show(g, what, seed, tmp);
    fail_msg("%s, seed %llu: %s", what, (unsigned long long)seed, s ? s->message : "other results");
  }
}

/* A seed tests one pass by itself, or all passes in order. */
static void check(uint64_t seed, totals *all)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  wick_module *m = wick_module_create(&guard, "");
  const wick_func *f = random_func(seed, m, &mem), *g = f;
  all->copies += count(f, WICK_OP_copy), all->kernels += count(f, WICK_OP_kernel);
  all->peak += wick_low_peak(f, 1, &tmp);
  const wick_pass_context pass = {.mem = &mem, .tmp = &tmp};
  uint32_t alone = (uint32_t)(seed % (WICK_COUNT(passes) + 2));
  for (uint32_t i = 0; i < WICK_COUNT(passes); i++) {
    if (alone < WICK_COUNT(passes) && alone != i) continue;
    wick_func *next;
    assert_null(passes[i].run(&pass, g, &next));
    same(f, next, 0, passes[i].name, seed, &tmp);
    /* A buffer that is freed after a branch lives through both regions. */
    bool may_grow = seed % 3 == 0 && passes[i].run == wick_pass_insert_frees;
    if (!may_grow && wick_low_peak(next, 1, &tmp) > wick_low_peak(g, 1, &tmp)) {
      show(g, "before", seed, &tmp);
      show(next, passes[i].name, seed, &tmp);
      fail_msg("%s, seed %llu: more memory", passes[i].name, (unsigned long long)seed);
    }
    g = next;
  }
  wick_func *planned;
  wick_low_plan plan;
  wick_status s = wick_low_plan_make(g, 100000, 0, false, &mem, &tmp, &planned, &plan);
  if (!s) s = wick_low_plan_check(planned, &plan, &tmp);
  if (s) fail_msg("seed %llu: %s", (unsigned long long)seed, s->message);
  assert_true(plan.bound_nbytes == wick_low_peak(g, 1, &tmp));
  if (plan.arena_nbytes) same(f, planned, plan.arena_nbytes, "plan", seed, &tmp);
  all->copies_left += count(g, WICK_OP_copy), all->kernels_left += count(g, WICK_OP_kernel);
  all->peak_left += plan.bound_nbytes;
  wick_module_free(m);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
}

static void random_functions(void **state)
{
  (void)state;
  const char *one = getenv("WICK_SEED");
  totals all = {0};
  uint64_t first = one ? strtoull(one, NULL, 10) : 1, last = one ? first : 3000;
  for (uint64_t seed = first; seed <= last; seed++) check(seed, &all);
  print_message("copies %llu -> %llu, kernels %llu -> %llu, bytes %llu -> %llu\n",
                (unsigned long long)all.copies, (unsigned long long)all.copies_left,
                (unsigned long long)all.kernels, (unsigned long long)all.kernels_left,
                (unsigned long long)all.peak, (unsigned long long)all.peak_left);
  if (!one) assert_true(all.copies_left * 4 < all.copies * 3 && all.peak_left < all.peak);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
