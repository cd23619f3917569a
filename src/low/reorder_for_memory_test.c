/* Compares the order with the best of all orders, on small functions; and limits the time for a
 * long function. */
#include "low/reorder_for_memory.h"

#include "ir/text.h"
#include "low/copy_elim.h"
#include "low/in_place.h"
#include "low/insert_frees.h"
#include "low/plan_memory.h"
#include "low/random_testing.h"
#include "low/reorder_graph.h"

typedef struct all_orders {
  const wick_reorder_graph *g;
  bool done[16];
  uint64_t best;
} all_orders;

static uint64_t step_nbytes(const all_orders *o, uint32_t step)
{
  uint64_t n = 0;
  /* the buffer is in use: it was begun and has not ended, or this step needs it */
  for (uint32_t r = 0; r < o->g->nroot; r++) {
    const wick_order_root *x = &o->g->root[r];
    bool begun = false, wanted = false, now = false;
    for (uint32_t u = 0; u < x->nuser; u++) {
      begun = begun || o->done[x->user[u]];
      wanted = wanted || !o->done[x->user[u]];
      now = now || x->user[u] == step;
    }
    if (now || (begun && wanted)) n += x->nbytes;
  }
  return n;
}

static void try_orders(all_orders *o, uint32_t ndone, uint64_t peak)
{
  if (ndone == o->g->nstep && peak < o->best) o->best = peak;
  for (uint32_t i = 0; i < o->g->nstep; i++) {
    bool ready = !o->done[i];
    for (uint32_t k = 0; k < o->g->step[i].nbefore; k++)
      ready = ready && o->done[o->g->step[i].before[k]];
    if (!ready) continue;
    uint64_t n = step_nbytes(o, i);
    o->done[i] = true;
    if (n < o->best) try_orders(o, ndone + 1, n > peak ? n : peak);
    o->done[i] = false;
  }
}

static void best_of_all(void **state)
{
  (void)state;
  volatile uint32_t better = 0, nfunc = 0, missed = 0;
  for (volatile uint64_t seed = 1; seed < 3000; seed++) {
    if (seed % 3 == 0) continue; /* such seeds have control flow */
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
    if (setjmp(guard.where)) fail_msg("out of memory");
    wick_module *m = wick_module_create(&guard, "");
    const wick_func *f = random_func(seed, m, &mem);
    wick_reorder_graph g = wick_reorder_graph_of(f, &tmp);
    if (g.nstep < 12) {
      all_orders o = {.g = &g, .best = UINT64_MAX};
      try_orders(&o, 0, 0);
      wick_func *ordered;
      assert_null(wick_pass_reorder_for_memory(&(wick_pass_context){.mem = &mem, .tmp = &tmp}, f,
                                               &ordered));
      uint64_t got = wick_low_peak(ordered, 1, &tmp);
      if (got < o.best) fail_msg("seed %llu: below the optimum", (unsigned long long)seed);
      nfunc++, missed += got > o.best, better += got < wick_low_peak(f, 1, &tmp);
    }
    wick_module_free(m);
    wick_arena_free(&mem);
    wick_arena_free(&tmp);
  }
  print_message("%u functions, %u better than given, %u not at the optimum\n", nfunc, better,
                missed);
  assert_true(nfunc > 500 && better > 50 && missed == 0);
}

/* A chain of 20,000 kernels, with a side branch at every second one. */
static void long_function(void **state)
{
  (void)state;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  wick_module *m = wick_module_create(&guard, "");
  wick_builder b;
  random_gen r = {.state = 1, .m = m, .b = &b, .outer = 1};
  random_tensor t = {.channels = 4}, in[2] = {t, t}, out = t;
  const char *same = random_group(&r, SAME, t, in, 2, 1, &mem),
             *other = random_group(&r, OTHER, t, in, 1, 1, &mem);
  wick_build_begin(&b, m, WICK_LOW, "main", &mem);
  wick_value x = wick_build_param(&b, random_type(&r, t, WICK_IO), WICK_IN, NULL),
             y = wick_build_param(&b, random_type(&r, t, WICK_IO), WICK_OUT, NULL);
  for (uint32_t i = 0; i < 10000; i++) {
    random_tensor side = t;
    wick_attr a[2] = {{.s = other}, {.s = same}};
    wick_value first[2] = {random_alloc(&r, &side), x};
    wick_build(&b, WICK_OP_kernel, 2, first, &a[0], 0, NULL);
    wick_value second[3] = {random_alloc(&r, &out), side.v, x};
    wick_build(&b, WICK_OP_kernel, 3, second, &a[1], 0, NULL);
    x = out.v;
  }
  random_copy(&r, y, x);
  wick_build_return(&b, 0, NULL);
  wick_func *f;
  assert_null(wick_build_end(&b, &f));
  const wick_pass_context pass = {.mem = &mem, .tmp = &tmp};
  wick_func *g, *planned;
  assert_null(wick_pass_copy_elim(&pass, f, &g));
  assert_null(wick_pass_in_place(&pass, g, &g));
  assert_null(wick_pass_reorder_for_memory(&pass, g, &g));
  assert_null(wick_pass_insert_frees(&pass, g, &g));
  wick_low_plan plan;
  assert_null(wick_low_plan_make(g, 100000, 0, false, &mem, &tmp, &planned, &plan));
  assert_int_equal(plan.arena_nbytes, 128); /* the chain and its side branch, in place */
  wick_module_free(m);
  wick_arena_free(&mem);
  wick_arena_free(&tmp);
}

/* Zeros around a buffer are written before a kernel reads beyond the inside. The inside may be
 * written in any order. */
static void halo(void **state)
{
  (void)state;
  static const char text[] =
      "group @zero() -> (f32[1,4], f32[1,4]) { %a = map {name=\"a\", axes=[i:1, j:4]} () { %0 = "
      "const 0 : f32; yield %0 } : f32[1,4]; %b = map {name=\"b\", axes=[i:1, j:4]} () { %0 = "
      "const 0 : f32; yield %0 } : f32[1,4]; return %a, %b }\n"
      "group @copy(%x: f32[2,4]) -> f32[2,4] { %y = map {name=\"y\", axes=[i:2, j:4]} () { %0 = "
      "read %x {index=[i, j]}; yield %0 } : f32[2,4]; return %y }\n"
      "group @around(%x: f32[2,4]) -> f32[2,4] { %y = map {name=\"y\", axes=[i:2, j:4]} () { %0 = "
      "const 0 : f32; %1 = read %x, %0 {index=[i - 1, j], guard=true}; yield %1 } : f32[2,4]; "
      "return %y } schedule \"halo 0 1,1 0,0\"\n"
      "low @main(@in %x: buffer<f32[2,4],io>, @out %y: buffer<f32[2,4],io>) {\n"
      "%w = alloc : buffer<f32[4,4],arena>\n"
      "%w0 = view %w : buffer<f32[1,4],arena>\n"
      "%w2 = view %w {offset=12} : buffer<f32[1,4],arena>\n"
      "%w1 = view %w {offset=4} : buffer<f32[2,4],arena>\n"
      "kernel @zero %w0, %w2\nkernel @copy %w1, %x\nkernel @around %y, %w1\nreturn }";
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena tmp = wick_arena_make(&guard);
  if (setjmp(guard.where)) fail_msg("out of memory");
  wick_module *m = wick_module_create(&guard, "");
  wick_status s = wick_parse_module(m, "halo", text, sizeof text - 1, &tmp);
  if (s) fail_msg("%s", s->message);
  wick_reorder_graph g = wick_reorder_graph_of(wick_module_find(m, "main"), &tmp);
  bool before[3] = {false};
  assert_int_equal(g.nstep, 3);
  assert_int_equal(g.step[1].nbefore, 0);
  for (uint32_t k = 0; k < g.step[2].nbefore; k++) before[g.step[2].before[k]] = true;
  assert_true(before[0] && before[1]);
  wick_module_free(m);
  wick_arena_free(&tmp);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(best_of_all), cmocka_unit_test(halo),
                                     cmocka_unit_test(long_function)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
