/* Builds a module of 100,000 nodes, each with a location and a name, verifies, prints and parses
 * it, and runs 20 passes that copy it. Shows seconds and bytes but does not test them, because
 * machines differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "driver/pipeline.h"
#include "ir/build.h"
#include "ir/text.h"
#include "ir/verify.h"

enum { SCALE_NODES = 100000, SCALE_PASSES = 20, SCALE_BRANCHES = 100 };

static double scale_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double scale_show(const char *what, double since, const wick_guard *g)
{
  double now = scale_seconds();
  print_message("%-28s %8.3f s, %6.1f MB held, %6.1f MB at most\n", what, now - since,
                1e-6 * (double)g->used_bytes, 1e-6 * (double)g->peak_bytes);
  return now;
}

static wick_value scale_named(wick_builder *b, wick_value v, uint32_t i)
{
  char name[32];
  int n = snprintf(name, sizeof name, "layer%u/out", i);
  wick_build_name(b, v, wick_names_add(&b->module->names, name, (size_t)n), WICK_REL_SAME);
  return v;
}

/* Builds sums, products and activations of the last four values, a constant for every ten nodes,
 * and a few branches. */
static void scale_build(wick_builder *b, wick_value x, wick_value cond)
{
  wick_value last[4] = {x, x, x, x};
  for (uint32_t i = 0; b->nodes.n < SCALE_NODES + SCALE_NODES / 20; i++) {
    char location[64];
    snprintf(location, sizeof location, "net.onnx: node \"layer%u\" (Add)", i);
    b->loc = wick_loc_add(b->module, location);
    wick_value v, other = last[i * 7 % 3];
    if (i % 10 == 9) other = wick_build_like(b, x, 0.1 * i);
    if (i % (SCALE_NODES / SCALE_BRANCHES) == 5) {
      wick_build_open(b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
      for (int r = 0; r < 2; r++) {
        wick_region_begin(b, 0, NULL);
        wick_value y = wick_build1(b, r ? WICK_OP_neg : WICK_OP_relu, last[3]);
        wick_yield(b, 1, &y);
      }
      v = wick_build_close(b);
    } else if (i % 3 == 0) {
      v = wick_build1(b, WICK_OP_relu, last[3]);
    } else {
      v = wick_build2(b, i % 3 == 1 ? WICK_OP_add : WICK_OP_mul, last[3], other);
    }
    memmove(last, last + 1, 3 * sizeof *last);
    last[3] = scale_named(b, v, i);
  }
  wick_value sum = wick_build2(b, WICK_OP_add, last[3], last[2]);
  sum = wick_build2(b, WICK_OP_add, sum, wick_build2(b, WICK_OP_add, last[1], last[0]));
  wick_build_return(b, 1, &sum);
}

static wick_func *scale_function(wick_module *m, wick_arena *mem)
{
  wick_builder b;
  wick_dim dim[2] = {wick_dim_symbol(m->dims, "N", 1, 64), wick_dim_const(256)};
  wick_build_begin(&b, m, WICK_GRAPH, "main", mem);
  wick_value x = wick_build_param(&b, wick_type_tensor(m, WICK_F32, 2, dim), WICK_IN, "x");
  wick_value c = wick_build_param(&b, wick_type_tensor(m, WICK_BOOL, 0, NULL), WICK_IN, "c");
  scale_build(&b, x, c);
  wick_func *f;
  wick_status s = wick_build_end(&b, &f);
  assert_null(s);
  return f;
}

static void test_scale(void **state)
{
  (void)state;
  wick_guard g = {.allocator = wick_allocator_malloc()};
  assert_int_equal(setjmp(g.where), 0);
  wick_arena mem = wick_arena_make(&g), tmp = wick_arena_make(&g);
  double begun = scale_seconds(), t = begun;
  wick_module *m = wick_module_create(&g, "");
  wick_module_set(m, scale_function(m, &m->mem));
  t = scale_show("built", t, &g);
  assert_true(m->funcs.at[0]->nnode >= SCALE_NODES); /* a few of them are dead */
  assert_null(wick_verify_module(m, &tmp));
  t = scale_show("verified", t, &g);
  wick_text text = wick_text_begin(&mem);
  wick_print_module(m, WICK_PRINT_ALL, &text);
  t = scale_show("printed", t, &g);
  wick_module *back = wick_module_create(&g, "");
  wick_status s = wick_parse_module(back, "scale", text.at, text.n, &tmp);
  if (s) fail_msg("%s", s->message);
  wick_arena_free(&tmp);
  t = scale_show("parsed (and verified)", t, &g);
  wick_pipeline p;
  wick_pipeline_begin(&p, back);
  p.verify = false;
  for (int i = 0; i < SCALE_PASSES; i++) {
    s = wick_pipeline_run(&p, wick_pass_find("drop_identity"), &tmp);
    assert_null(s);
  }
  t = scale_show("copied by 20 passes", t, &g);
  wick_text again = wick_text_begin(&mem);
  wick_print_module(back, WICK_PRINT_ALL, &again);
  scale_show("printed again", t, &g);
  scale_show("all", begun, &g);
  assert_int_equal(text.n, again.n);
  assert_memory_equal(text.at, again.at, text.n);
  wick_pipeline_free(&p);
  wick_module_free(back);
  wick_module_free(m);
  wick_arena_free(&tmp);
  wick_arena_free(&mem);
  assert_int_equal(g.used_bytes, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_scale)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
