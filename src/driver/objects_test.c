/* Passes on data, references and function values: programs give and print the same before and after
 * them, by the reference evaluator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "driver/pipeline.h"
#include "ir/text.h"
#include "ops/evaluate.h"

static const char *const passes[] = {
    "partial_eval",
    "defunctionalize",
    "promote_refs",
    "promote_refs,partial_eval,defunctionalize",
    "defunctionalize,partial_eval,promote_refs,cse,region_dce,licm,fold_control_flow",
    "defunctionalize,inline,merge_loops,partial_eval,promote_refs,simplify,constant_fold,cse",
};

static const char *const programs[] = {
    /* lists: made, mapped by a function value, folded */
    "data @List { Nil, Cons(i64[], @List) }"
    "graph @upto(%n: i64[]) -> @List {"
    "  %0 = const 0 : i64[]; %1 = const 1 : i64[]; %z = le %n, %0"
    "  %r = if %z () { %e = construct {ctor=0} : @List; yield %e } () {"
    "    %m = sub %n, %1; %t = call @upto %m : @List"
    "    %c = construct %n, %t {ctor=1} : @List; yield %c } : @List"
    "  return %r }"
    "graph @map(%f: fn<(i64[]) -> (i64[])>, %l: @List) -> @List {"
    "  %r = switch %l () { yield %l } (%x: i64[], %t: @List) {"
    "    %y = apply %f, %x; %u = call @map %f, %t : @List"
    "    %c = construct %y, %u {ctor=1} : @List; yield %c }"
    "  return %r }"
    "graph @scale(%k: i64[], %x: i64[]) -> i64[] { %0 = mul %k, %x; return %0 }"
    "graph @say(%x: i64[]) -> i64[] { print %x {text=\"x is {}\"}; return %x }"
    "graph @main() -> (@List, @List, @List) {"
    "  %n = const 5 : i64[]; %big = const 30 : i64[]"
    "  %l = call @upto %n : @List; %m = call @upto %big : @List"
    "  %f = closure @scale %n : fn<(i64[]) -> (i64[])>"
    "  %g = closure @say : fn<(i64[]) -> (i64[])>"
    "  %a = call @map %f, %l : @List; %b = call @map %g, %a : @List; %c = call @map %f, %m : @List"
    "  return %a, %b, %c }",
    /* counters shared by closures, in a loop; a reference that stays, and one that does not */
    "graph @count(%r: ref<i64[]>, %by: i64[]) -> i64[] {"
    "  %n = ref_get %r; %m = add %n, %by; ref_set %r, %m; return %m }"
    "graph @main() -> (i64[], i64[], i64[]) {"
    "  %n = const 3 : i64[]; %r = ref_new %n; %own = ref_new %n, %n"
    "  %f = closure @count %r : fn<(i64[]) -> (i64[])>"
    "  %x = loop %n, %n (%i: i64[], %v: i64[]) {"
    "    %t = const 1 : bool[]; %w = apply %f, %i; %p, %q = ref_get %own"
    "    %s = add %p, %w; %two = const 7 : i64[]; %c = lt %s, %two"
    "    if %c () { ref_set %own, %s, %v; yield } () { print %s, %q; ref_set %own, %q, %s; yield }"
    "    yield %t, %w }"
    "  %y = ref_get %r; %u, %v = ref_get %own; return %x, %y, %v }",
    /* numbers of Church; functions that make functions */
    "graph @zero(%f: fn<(i64[]) -> (i64[])>, %x: i64[]) -> i64[] { return %x }"
    "graph @next(%n: fn<(fn<(i64[]) -> (i64[])>, i64[]) -> (i64[])>, %f: fn<(i64[]) -> (i64[])>,"
    "            %x: i64[]) -> i64[] {"
    "  %0 = apply %n, %f, %x; %1 = apply %f, %0; return %1 }"
    "graph @add1(%x: i64[]) -> i64[] { %1 = const 1 : i64[]; %0 = add %x, %1; return %0 }"
    "graph @church(%n: i64[]) -> fn<(fn<(i64[]) -> (i64[])>, i64[]) -> (i64[])> {"
    "  %0 = const 0 : i64[]; %z = le %n, %0"
    "  %r = if %z () {"
    "    %e = closure @zero : fn<(fn<(i64[]) -> (i64[])>, i64[]) -> (i64[])>; yield %e } () {"
    "    %1 = const 1 : i64[]; %m = sub %n, %1"
    "    %p = call @church %m : fn<(fn<(i64[]) -> (i64[])>, i64[]) -> (i64[])>"
    "    %s = closure @next %p : fn<(fn<(i64[]) -> (i64[])>, i64[]) -> (i64[])>; yield %s }"
    "  return %r }"
    "graph @main() -> i64[] {"
    "  %n = const 40 : i64[]; %c = call @church %n : fn<(fn<(i64[]) -> (i64[])>, i64[]) -> (i64[])>"
    "  %f = closure @add1 : fn<(i64[]) -> (i64[])>; %r = apply %c, %f, %n; return %r }",
    /* a chain of continuations that recursion builds */
    "data @Tree { Leaf(f32[2]), Node(@Tree, @Tree) }"
    "graph @done(%x: f32[2]) -> f32[2] { return %x }"
    "graph @right(%t: @Tree, %k: fn<(f32[2]) -> (f32[2])>, %x: f32[2]) -> f32[2] {"
    "  %l = closure @both %x, %k : fn<(f32[2]) -> (f32[2])>"
    "  %0 = call @sum %t, %l : f32[2]; return %0 }"
    "graph @both(%x: f32[2], %k: fn<(f32[2]) -> (f32[2])>, %y: f32[2]) -> f32[2] {"
    "  %s = add %x, %y; %0 = apply %k, %s; return %0 }"
    "graph @sum(%t: @Tree, %k: fn<(f32[2]) -> (f32[2])>) -> f32[2] {"
    "  %r = switch %t (%x: f32[2]) { %0 = apply %k, %x; yield %0 } (%a: @Tree, %b: @Tree) {"
    "    %l = closure @right %b, %k : fn<(f32[2]) -> (f32[2])>"
    "    %0 = call @sum %a, %l : f32[2]; yield %0 }"
    "  return %r }"
    "graph @full(%n: i64[], %x: f32[2]) -> @Tree {"
    "  %0 = const 0 : i64[]; %z = le %n, %0"
    "  %r = if %z () { %e = construct %x {ctor=0} : @Tree; yield %e } () {"
    "    %1 = const 1 : i64[]; %m = sub %n, %1; %y = add %x, %x"
    "    %a = call @full %m, %x : @Tree; %b = call @full %m, %y : @Tree"
    "    %c = construct %a, %b {ctor=1} : @Tree; yield %c } : @Tree"
    "  return %r }"
    "graph @main() -> f32[2] {"
    "  %n = const 6 : i64[]; %x = const 0.25 : f32[2]; %t = call @full %n, %x : @Tree"
    "  %k = closure @done : fn<(f32[2]) -> (f32[2])>; %r = call @sum %t, %k : f32[2]; return %r }",
};

static void say(void *arg, const char *line)
{
  wick_text_add(arg, line);
  wick_text_char(arg, '\n');
}

/* Appends what the program prints and gives after these passes (NULL: none). */
static void outcome(const char *program, const char *names, wick_text *out)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
             scratch = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  wick_evaluate_options o = {.print = say, .arg = out, .stack_bytes = 4 << 20};
  wick_pipeline p;
  wick_pipeline_begin(&p, m);
  p.verify = true;
  wick_status s = wick_parse_module(m, "t", program, strlen(program), &tmp);
  if (!s && names) s = wick_pipeline_run_all(&p, names, &tmp);
  if (!s)
    s = wick_evaluate_text(wick_module_find(m, "main"), 0, NULL, &o, &mem, &tmp, &scratch, out);
  if (s) wick_text_add(out, s->message);
  if (s) print_error("%s\n", s->message);
  assert_null(s);
  wick_pipeline_free(&p);
  wick_module_free(m);
  wick_arena_free(&mem), wick_arena_free(&tmp), wick_arena_free(&scratch);
}

static void test_passes(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(programs); i++)
    for (size_t k = 0; k < WICK_COUNT(passes); k++) {
      wick_guard guard = {.allocator = wick_allocator_malloc()};
      wick_arena mem = wick_arena_make(&guard);
      wick_text want = wick_text_begin(&mem), got = wick_text_begin(&mem);
      outcome(programs[i], NULL, &want);
      outcome(programs[i], passes[k], &got);
      if (strcmp(want.at, got.at) != 0) print_error("program %zu, %s\n", i, passes[k]);
      assert_string_equal(got.at, want.at);
      wick_arena_free(&mem);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_passes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
