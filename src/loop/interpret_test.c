/* The interpreter: control flow, vectors, masks, memory, and accesses that leave it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/text.h"
#include "loop/interpret.h"

#define HEAD "loop @f(@out %y: buffer<f32[8],io>, @in %x: buffer<f32[8],io>, @in %n: i64) { "

static const struct {
  const char *text;
  int64_t n;
  const char *error; /* the end of the message, or NULL */
  float want[8];
} rows[] = {
    /* carried values are exchanged */
    {HEAD "%zero = const 0 : i64 %a = const 1 : f32 %b = const 2 : f32 "
          "%p, %q = for %zero, %n, %a, %b (%i: i64, %u: f32, %v: f32) { "
          "  %w = add %u, %v : f32 yield %v, %w } : f32, f32 "
          "store %y, %zero, %p store %y, %zero, %q {offset=1} return }",
     4,
     NULL,
     {8, 13}},
    {HEAD "%zero = const 0 : i64 %c4 = const 4 : i64 "
          "for %zero, %n {step=3} (%i: i64) { %c = lt %i, %c4 : bool "
          "  if %c () { %v = load %x, %i : f32 store %y, %i, %v yield } () { yield } yield } "
          "return }",
     8,
     NULL,
     {10, 0, 0, 13}},
    {HEAD "%zero = const 0 : i64 %one = const 1 : i64 "
          "%r = while %zero (%i: i64) { %c = lt %i, %n : bool yield %c } (%j: i64) { "
          "  %k = add %j, %j : i64 %l = add %k, %one : i64 yield %l } : i64 "
          "%f = cast %r : f32 store %y, %zero, %f return }",
     10,
     NULL,
     {15}},
    /* lanes: a masked load gives 0 and reads nothing, a masked store keeps the old elements */
    {HEAD "%zero = const 0 : i64 %l = iota : i64x4 %nn = broadcast %n : i64x4 "
          "%m = lt %l, %nn : boolx4 %v = load %x, %zero, %m {offset=6} : f32x4 "
          "%s = shuffle %v, %v {lanes=[3,0,1,6]} : f32x4 store %y, %zero, %s "
          "%c = const 9 : f32x4 store %y, %zero, %c, %m {offset=4} return }",
     2,
     NULL,
     {0, 16, 17, 0, 9, 9}},
    {HEAD "%zero = const 0 : i64 %a = const 1 : f32 %b = const 2 : f32 "
          "%v = vector %a, %b : f32x2 %e = extract %v {lane=1} : f32 store %y, %zero, %e "
          "%t = alloc {offset=0} : buffer<f32[2],scratch> store %t, %zero, %v "
          "%w = load %t, %zero {offset=1} : f32 store %y, %n, %w return }",
     7,
     NULL,
     {2, 0, 0, 0, 0, 0, 0, 2}},
    {HEAD "%v = load %x, %n {offset=-1} : f32 store %y, %n, %v return }",
     8,
     "@f: node 1 (store): element 8 + 0 + 0 of a buffer of 8",
     {0}},
    {HEAD "%v = load %x, %n : f32x4 store %y, %n, %v return }",
     5,
     "@f: node 0 (load): element 5 + 0 + 3 of a buffer of 8",
     {0}},
    {HEAD "%zero = const 0 : i64 %c = lt %n, %zero : bool fail %c, %n {code=4} return }",
     -3,
     "@f: node 2 (fail): failed at element -3",
     {0}},
    {HEAD "%zero = const 0 : i64 %c = lt %n, %zero : bool fail %c, %n {code=4} return }",
     3,
     NULL,
     {0}},
    {HEAD
     "launch @k %y, %x {tasks=3} return } "
     "loop @k(@out %y: buffer<f32[8],io>, @in %x: buffer<f32[8],io>, @in %b: i64, @in %e: i64) "
     "{ for %b, %e (%i: i64) { %v = load %x, %i : f32 store %y, %i, %v {offset=1} yield } "
     "return }",
     0,
     NULL,
     {0, 10, 11, 12}},
    {HEAD "launch @k %y {tasks=3} return }",
     0,
     "@f: node 0 (launch): @k is no loop function of 3 parameters",
     {0}},
};

static bool ends_in(const char *s, const char *tail)
{
  size_t n = strlen(s), k = strlen(tail);
  return n >= k && strcmp(s + n - k, tail) == 0;
}

static void test_rows(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard);
    wick_module *m = wick_module_create(&guard, "");
    wick_status s = wick_parse_module(m, "t", rows[i].text, strlen(rows[i].text), &tmp);
    float x[8] = {10, 11, 12, 13, 14, 15, 16, 17}, y[8] = {0};
    wick_interpret_arg arg[3] = {{y, 8, 0}, {x, 8, 0}, {NULL, 0, rows[i].n}};
    if (!s) s = wick_interpret(wick_module_find(m, "f"), 3, arg, &mem, &tmp);
    if (!s != !rows[i].error || (s && !ends_in(s->message, rows[i].error)))
      print_error("row %zu: %s\n", i, s ? s->message : "no error");
    assert_true(!s == !rows[i].error);
    assert_true(!s || ends_in(s->message, rows[i].error));
    for (int k = 0; !s && k < 8; k++) assert_true(y[k] == rows[i].want[k]);
    wick_module_free(m);
    wick_arena_free(&mem);
    wick_arena_free(&tmp);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
