/* Shape constraints: which ones the builder decides, that each exists once and is kept, and the
 * error for a violated one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/copy.h"
#include "ir/text.h"
#include "ir/verify.h"

typedef struct constraint_fixture {
  wick_guard guard;
  wick_arena mem;
  wick_module *m;
} constraint_fixture;

static void constraint_begin(constraint_fixture *t)
{
  *t = (constraint_fixture){.guard = {.allocator = wick_allocator_malloc()}};
  t->mem = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
}

static void constraint_end(constraint_fixture *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
}

/* Adds a constraint to those of `head`. Returns their number, or the error. */
static const char *constraint_added(constraint_fixture *t, const char *head, wick_dim a, wick_dim b)
{
  wick_builder builder;
  wick_build_begin(&builder, t->m, WICK_GRAPH, "f", &t->mem);
  wick_dim n = wick_dim_symbol(t->m->dims, "N", 1, 64), m = wick_dim_symbol(t->m->dims, "M", 1, 64);
  if (*head) wick_build_shape_constraint(&builder, n, m, (wick_loc){0});
  wick_build_shape_constraint(&builder, a, b, wick_loc_add(t->m, "here"));
  return builder.status ? builder.status->message
                        : wick_str_printf(&t->mem, "%u", builder.constraints.n);
}

static void test_added(void **state)
{
  (void)state;
  constraint_fixture t;
  constraint_begin(&t);
  wick_dims *d = t.m->dims;
  wick_dim n = wick_dim_symbol(d, "N", 1, 64), m = wick_dim_symbol(d, "M", 1, 64),
           two = wick_dim_const(2), n2 = wick_dim_mul(d, n, two), m2 = wick_dim_mul(d, m, two),
           odd = wick_dim_add(d, m2, wick_dim_const(1));
  assert_string_equal(constraint_added(&t, "", n, n), "0");
  assert_string_equal(constraint_added(&t, "", n, m), "1");
  assert_string_equal(constraint_added(&t, "N = M", n, m), "1");
  assert_string_equal(constraint_added(&t, "N = M", m, n), "1");
  assert_string_equal(constraint_added(&t, "N = M", n2, m2), "1");
  assert_string_equal(constraint_added(&t, "N = M", n2, m), "2");
  assert_string_equal(constraint_added(&t, "", n, wick_dim_const(64)), "1");
  assert_string_equal(constraint_added(&t, "", n, wick_dim_const(65)),
                      "here: sizes N and 65 differ");
  assert_string_equal(constraint_added(&t, "", n2, odd), "here: sizes 2*N and 2*M + 1 differ");
  assert_string_equal(constraint_added(&t, "", wick_dim_const(3), two),
                      "here: sizes 3 and 2 differ");
  constraint_end(&t);
}

static const char constraint_text[] =
    "graph @f(%x: f32[N[1..64],4], %y: f32[M[1..64],4], %z: f32[5,4]) -> f32[5,4] {\n"
    "  constraint N = M loc(\"sum\")\n"
    "  constraint N = 5 loc(\"more\")\n"
    "  %0 = add %x, %y : f32[N,4]\n"
    "  %1 = add %0, %z : f32[5,4]\n"
    "  return %1\n"
    "}\n";

static const wick_func *constraint_parsed(constraint_fixture *t)
{
  assert_null(wick_parse_module(t->m, "t", constraint_text, strlen(constraint_text), &t->mem));
  return wick_module_find(t->m, "f");
}

/* Printing and parsing, copies and the verifier keep all constraints. */
static void test_kept(void **state)
{
  (void)state;
  constraint_fixture t;
  constraint_begin(&t);
  const wick_func *f = constraint_parsed(&t);
  assert_int_equal(f->nconstraint, 2);
  wick_copier c = wick_copy_begin(f, &t.mem);
  for (uint32_t i = 0; i < f->nnode; i++) wick_copy_node(&c, &f->node[i]);
  wick_func *g = wick_copy_end(&c);
  wick_text out = wick_text_begin(&t.mem);
  wick_print_func(g, WICK_PRINT_ALL, &out);
  assert_string_equal(out.at, constraint_text);
  assert_null(wick_verify_func(g, &t.mem));
  g->nconstraint = 1;
  wick_status s = wick_verify_func(g, &t.mem);
  assert_non_null(s);
  assert_string_equal(s->message, "add: shapes do not broadcast: f32[N,4] and f32[5,4]");
  const wick_dim other = wick_dim_symbol(t.m->dims, "K", 1, 2);
  const wick_shape_constraint foreign[2] = {f->constraint[0], {other, wick_dim_const(1), {0}, 0}};
  g->nconstraint = 2, g->constraint = foreign, g->node = f->node, g->nnode = f->nnode;
  s = wick_verify_func(g, &t.mem);
  assert_non_null(s);
  constraint_end(&t);
}

static void test_hold(void **state)
{
  (void)state;
  constraint_fixture t;
  constraint_begin(&t);
  const wick_func *f = constraint_parsed(&t);
  const wick_dim sym[] = {wick_dim_symbol(t.m->dims, "N", 1, 64),
                          wick_dim_symbol(t.m->dims, "M", 1, 64)};
  const struct {
    int64_t val[2];
    const char *want;
  } rows[] = {{{5, 5}, ""},
              {{5, 4}, "sum: sizes N and M differ: 5 and 4, for N = 5, M = 4"},
              {{7, 7}, "more: sizes N and 5 differ: 7 and 5, for N = 7"}};
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_status s = wick_shape_constraints_hold(f, 2, sym, rows[i].val, &t.mem);
    assert_string_equal(s ? s->message : "", rows[i].want);
  }
  constraint_end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_added), cmocka_unit_test(test_kept),
                                     cmocka_unit_test(test_hold)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
