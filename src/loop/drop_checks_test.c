/* Random procedures with loops, conditions and checks of indices do the same, and fail in the same
 * way, after checks have been dropped. Memory is only as large as the checks allow, and the
 * interpreter refuses accesses outside of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/build.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "loop/drop_checks.h"
#include "loop/interpret.h"

enum { PROGRAMS = 1500, RUNS = 6, SIZE = 8, NUMBERS = 64, DEPTH = 4 };

typedef struct random_code {
  uint64_t state;
  wick_builder b;
  wick_value memory, number[NUMBERS], flag[NUMBERS];
  uint32_t nnumber, nflag, depth;
} random_code;

static uint32_t below(random_code *r, uint32_t n)
{
  r->state = r->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((r->state >> 33) % n);
}

static wick_value number(random_code *r)
{
  static const int64_t extreme[] = {INT64_MIN, INT64_MAX, INT64_MIN + SIZE, INT64_MAX - 1};
  if (below(r, 3)) return r->number[r->nnumber - 1 - below(r, r->nnumber)];
  bool is_extreme = below(r, 12) == 0;
  return wick_build_i64(&r->b, is_extreme ? extreme[below(r, 4)] : (int64_t)below(r, 14) - 3);
}

static void keep(random_code *r, wick_value v)
{
  if (r->nnumber < NUMBERS) r->number[r->nnumber++] = v;
}

static wick_value condition(random_code *r)
{
  static const wick_opcode order[] = {WICK_OP_lt, WICK_OP_le, WICK_OP_gt,
                                      WICK_OP_ge, WICK_OP_eq, WICK_OP_ne};
  static const wick_opcode logic[] = {WICK_OP_and, WICK_OP_or};
  wick_value v;
  if (r->nflag > 1 && below(r, 3) == 0) {
    wick_value x = r->flag[below(r, r->nflag)], y = r->flag[r->nflag - 1];
    v = below(r, 4) ? wick_build2(&r->b, logic[below(r, 2)], x, y)
                    : wick_build1(&r->b, WICK_OP_not, x);
  } else {
    wick_value x = number(r), y = number(r);
    v = wick_build2(&r->b, order[below(r, 6)], x, y);
  }
  if (r->nflag < NUMBERS) r->flag[r->nflag++] = v;
  return v;
}

static void arithmetic(random_code *r)
{
  static const wick_opcode op[] = {WICK_OP_add, WICK_OP_add, WICK_OP_sub, WICK_OP_sub,
                                   WICK_OP_mul, WICK_OP_min, WICK_OP_max, WICK_OP_bit_and};
  wick_value x = number(r), y = number(r), v;
  switch (below(r, 6)) {
  case 0: {
    wick_value c = condition(r);
    v = wick_build3(&r->b, WICK_OP_where, c, x, y);
    break;
  }
  case 1: {
    wick_value by = wick_build_i64(&r->b, 1 + below(r, 9));
    v = wick_build2(&r->b, below(r, 2) ? WICK_OP_div_unchecked : WICK_OP_rem_unchecked, x, by);
    break;
  }
  default: v = wick_build2(&r->b, op[below(r, 8)], x, y);
  }
  keep(r, v);
}

static wick_value outside(random_code *r, wick_value i)
{
  wick_value at = wick_build_cast(&r->b, i, WICK_U64),
             size = wick_build_const(&r->b, wick_type_scalar(r->b.module, WICK_U64, 1), 0, SIZE);
  return wick_build2(&r->b, WICK_OP_ge, at, size);
}

/* The check of an index as programs have it, and an access. */
static void access(random_code *r)
{
  char place[16];
  snprintf(place, sizeof place, "check %u", (unsigned)r->b.nodes.n);
  r->b.loc = wick_loc_add(r->b.module, place);
  wick_value i = number(r), bad = outside(r, i);
  wick_if_begin(&r->b, bad, 1, &i);
  wick_value size = wick_build_i64(&r->b, SIZE), at = wick_build2(&r->b, WICK_OP_add, i, size);
  wick_value never = outside(r, at);
  wick_build_failure(&r->b, WICK_ERANGE, never, i, wick_dim_const(SIZE));
  wick_if_else(&r->b, 1, &at);
  wick_value index = wick_if_end(&r->b, 1, &i), operand[3] = {r->memory, index, number(r)};
  if (below(r, 2)) {
    wick_build(&r->b, WICK_OP_store, 3, operand, NULL, 0, NULL);
  } else {
    wick_type i64 = wick_type_scalar(r->b.module, WICK_I64, 1);
    keep(r, wick_build(&r->b, WICK_OP_load, 2, operand, NULL, 1, &i64));
  }
}

static void statements(random_code *r, uint32_t n);

static void branch(random_code *r)
{
  wick_value c = condition(r), like = number(r);
  uint32_t n = r->nnumber, k = r->nflag;
  wick_if_begin(&r->b, c, 1, &like);
  statements(r, 2);
  wick_value x = number(r);
  r->nnumber = n, r->nflag = k;
  wick_if_else(&r->b, 1, &x);
  statements(r, 2);
  x = number(r);
  r->nnumber = n, r->nflag = k;
  keep(r, wick_if_end(&r->b, 1, &x));
}

static void range(random_code *r)
{
  wick_value least = wick_build_i64(&r->b, -4), most = wick_build_i64(&r->b, 10), lo = number(r),
             hi = number(r), first = number(r);
  if (below(r, 4) == 0) hi = wick_build2(&r->b, WICK_OP_sub, hi, lo);
  lo = wick_build2(&r->b, WICK_OP_max, lo, least);
  hi = wick_build2(&r->b, WICK_OP_min, hi, most);
  uint32_t n = r->nnumber, k = r->nflag;
  wick_value i = wick_for_begin(&r->b, lo, hi, 1, &first);
  keep(r, i);
  keep(r, (wick_value){i.id + 1});
  statements(r, 3);
  wick_value next = number(r);
  r->nnumber = n, r->nflag = k;
  keep(r, wick_for_end(&r->b, 1, &next));
}

/* Counts up to a few, while a flag that the body computes is true. */
static void repeat(random_code *r)
{
  wick_value first[3] = {wick_build_i64(&r->b, 0), condition(r), number(r)}, next[3];
  wick_value most = wick_build_i64(&r->b, 5), one = wick_build_i64(&r->b, 1);
  uint32_t n = r->nnumber, k = r->nflag;
  wick_value i = wick_while_begin(&r->b, 3, first);
  wick_value few = wick_build2(&r->b, WICK_OP_lt, i, most);
  few = wick_build2(&r->b, WICK_OP_and, few, (wick_value){i.id + 1});
  i = wick_while_body(&r->b, few, 3, first);
  keep(r, i);
  keep(r, (wick_value){i.id + 2});
  statements(r, 2);
  next[0] = wick_build2(&r->b, WICK_OP_add, i, one);
  next[2] = number(r);
  keep(r, next[2]);
  next[1] = condition(r);
  r->nnumber = n, r->nflag = k;
  wick_value last = wick_while_end(&r->b, 3, next);
  keep(r, last);
  keep(r, (wick_value){last.id + 2});
}

static void statements(random_code *r, uint32_t n)
{
  static void (*const flow[])(random_code * r) = {branch, range, repeat};
  r->depth++;
  for (uint32_t i = 0; i < n; i++) {
    arithmetic(r);
    if (below(r, 2)) access(r);
    if (r->depth < DEPTH && below(r, 2)) flow[below(r, 3)](r);
  }
  r->depth--;
}

static wick_func *program(random_code *r, wick_module *m, wick_arena *mem)
{
  wick_dim size = wick_dim_const(SIZE);
  wick_type i64 = wick_type_scalar(m, WICK_I64, 1);
  wick_func *f = NULL;
  wick_build_begin(&r->b, m, WICK_LOOP, "f", mem);
  r->b.procedure = true;
  r->nnumber = r->nflag = r->depth = 0;
  r->memory =
      wick_build_param(&r->b, wick_type_buffer(m, WICK_I64, 1, &size, WICK_IO), WICK_INOUT, NULL);
  for (uint32_t k = 0; k < 2; k++) keep(r, wick_build_param(&r->b, i64, WICK_IN, NULL));
  statements(r, 4);
  access(r);
  wick_build_return(&r->b, 0, NULL);
  wick_status s = wick_build_end(&r->b, &f);
  if (s) fail_msg("%s", s->message);
  return f;
}

static uint32_t checks(const wick_func *f)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->nnode; i++) n += f->node[i].op == WICK_OP_fail;
  return n;
}

static void same(random_code *r, const wick_func *a, const wick_func *b, wick_arena *tmp)
{
  int64_t x[2][SIZE], given[2];
  for (uint32_t k = 0; k < 2; k++) given[k] = (int64_t)below(r, 16) - 5;
  const wick_func *const f[2] = {a, b};
  const char *message[2];
  for (uint32_t v = 0; v < 2; v++) {
    for (int64_t i = 0; i < SIZE; i++) x[v][i] = i * given[0] % 7;
    wick_interpret_arg arg[3] = {{x[v], SIZE, 0}, {NULL, 0, given[0]}, {NULL, 0, given[1]}};
    wick_status s = wick_interpret(f[v], 3, arg, tmp, tmp);
    message[v] = s ? s->message : "";
  }
  if (strcmp(message[0], message[1]) || memcmp(x[0], x[1], sizeof x[0]))
    fail_msg("for %d, %d: \"%s\" and \"%s\", memory %s", (int)given[0], (int)given[1], message[0],
             message[1], memcmp(x[0], x[1], sizeof x[0]) ? "differs" : "is equal");
}

static void test_random(void **unused)
{
  (void)unused;
  const char *seed = getenv("WICK_SEED"), *count = getenv("WICK_PROGRAMS");
  uint32_t before = 0, after = 0, most = count ? (uint32_t)atoi(count) : PROGRAMS;
  random_code r = {.state = seed ? strtoull(seed, NULL, 10) : 1};
  for (uint32_t i = 0; i < most; i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
    wick_module *m = wick_module_create(&guard, "");
    uint64_t state = r.state;
    const wick_func *f = program(&r, m, &mem);
    wick_pass_context pass = {.mem = &mem, .tmp = &tmp};
    wick_func *g;
    wick_status s = wick_pass_drop_checks(&pass, f, &g);
    if (!s) s = wick_verify_func(g, &tmp);
    if (s) print_error("%s\n", s->message);
    assert_null(s);
    before += checks(f), after += checks(g);
    for (uint32_t k = 0; k < RUNS; k++) {
      if (getenv("WICK_SHOWN")) print_message("state %llu\n", (unsigned long long)state);
      same(&r, f, g, &tmp);
    }
    wick_module_free(m);
    wick_arena_free(&mem);
    wick_arena_free(&tmp);
  }
  print_message("%u of %u checks are left\n", (unsigned)after, (unsigned)before);
  assert_true(after < before);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
