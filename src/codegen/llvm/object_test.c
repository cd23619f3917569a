/* Counted objects, compiled and interpreted: blocks are shared, moved, reused and freed, and a full
 * heap is a failure. */
#include "codegen/llvm/testing.h"
#include "loop/interpret.h"
#include "runtime/heap_map.h"

#define KERNEL(callee)                                                                             \
  "loop @run(@out %y: buffer<i64[1],io>, @in %x: buffer<i64[1],io>, @in %begin: i64, "             \
  "@in %end: i64) {\n"                                                                             \
  "  %0 = const 0 : i64; %n = load %x, %0 : i64; %r = call @" callee " %n : i64\n"                 \
  "  store %y, %0, %r; return\n"                                                                   \
  "}\n"

/* A list of n numbers, the last first. */
#define BUILD                                                                                      \
  "loop @build(@in %n: i64) -> i64 {\n"                                                            \
  "  %0 = const 0 : i64; %nil = const 1 : i64\n"                                                   \
  "  %l = for %0, %n, %nil (%i: i64, %t: i64) {\n"                                                 \
  "    %c = object_new %t, %i {tag=1, refs=1} : i64; yield %c\n"                                   \
  "  } : i64\n"                                                                                    \
  "  return %l\n"                                                                                  \
  "}\n"

/* Reads the list without references of its own. */
#define SUM                                                                                        \
  "loop @sum(@in %l: i64) -> i64 {\n"                                                              \
  "  %0 = const 0 : i64; %1 = const 1 : i64\n"                                                     \
  "  %e, %s = while %l, %0 (%a: i64, %b: i64) {\n"                                                 \
  "    %odd = bit_and %a, %1 : i64; %go = ne %odd, %1 : bool; yield %go\n"                         \
  "  } (%p: i64, %q: i64) {\n"                                                                     \
  "    %v = object_load %p {at=1} : i64; %t = object_load %p {at=0} : i64\n"                       \
  "    %w = add %q, %v : i64; yield %t, %w\n"                                                      \
  "  } : i64, i64\n"                                                                               \
  "  return %s\n"                                                                                  \
  "}\n"

/* Twice each number; what it gets belongs to it. */
#define DOUBLE                                                                                     \
  "loop @double(@in %l: i64) -> i64 {\n"                                                           \
  "  %1 = const 1 : i64; %odd = bit_and %l, %1 : i64; %end = eq %odd, %1 : bool\n"                 \
  "  %r = if %end () { yield %l } () {\n"                                                          \
  "    %t = object_load %l {at=0} : i64; %v = object_load %l {at=1} : i64\n"                       \
  "    %k = object_take %l : i64\n"                                                                \
  "    %u = call @double %t : i64; %w = add %v, %v : i64\n"                                        \
  "    %c = object_reuse %k, %u, %w {tag=1, refs=1} : i64; yield %c\n"                             \
  "  } : i64\n"                                                                                    \
  "  return %r\n"                                                                                  \
  "}\n"

/* The list is shared when it is doubled first, and unique when its double is. */
static const char shared_text[] =
    KERNEL("f") BUILD SUM DOUBLE "loop @f(@in %n: i64) -> i64 {\n"
                                 "  %l = call @build %n : i64; object_retain %l\n"
                                 "  %d = call @double %l : i64; %e = call @double %d : i64\n"
                                 "  %a = call @sum %l : i64; %b = call @sum %e : i64\n"
                                 "  object_release %l; object_release %e\n"
                                 "  %r = sub %b, %a : i64; return %r\n"
                                 "}\n";

static const char released_text[] = KERNEL("f") BUILD SUM "loop @f(@in %n: i64) -> i64 {\n"
                                                          "  %l = call @build %n : i64\n"
                                                          "  %a = call @sum %l : i64\n"
                                                          "  object_release %l; return %a\n"
                                                          "}\n";

/* Fields of all widths, tags, a written field, blocks with more room than fields, and of another
 * class; a block that is taken and freed, or taken while it is shared. */
static const char fields_text[] = KERNEL(
    "f") "loop @f(@in %n: i64) -> i64 {\n"
         "  %b = cast %n : bool; %c = cast %n : u8; %d = cast %n : f32; %e = cast %n : f64\n"
         "  %s = cast %n : i16; %7 = const 7 : i64; %1 = const 1 : i64\n"
         "  %p = object_new %n {tag=2} : i64\n"
         "  %o = object_new %p, %p, %b, %c, %d, %e, %s, %n {tag=65535, refs=2, words=40} : i64\n"
         "  object_retain %p; object_retain %1\n"
         "  object_store %o, %7 {at=39}\n"
         "  %g = object_load %o {at=39} : i64; %t = object_tag %o : i64; %u = object_tag %p : i64\n"
         "  %x2 = object_load %o {at=2} : bool; %x3 = object_load %o {at=3} : u8\n"
         "  %x4 = object_load %o {at=4} : f32; %x5 = object_load %o {at=5} : f64\n"
         "  %x6 = object_load %o {at=6} : i16; %x7 = object_load %o {at=7} : i64\n"
         "  %y2 = cast %x2 : i64; %y3 = cast %x3 : i64; %y4 = cast %x4 : i64; %y5 = cast %x5 : "
         "i64\n"
         "  %y6 = cast %x6 : i64\n"
         "  %r1 = add %g, %t : i64; %r2 = add %r1, %u : i64; %r3 = add %r2, %y2 : i64\n"
         "  %r4 = add %r3, %y3 : i64; %r5 = add %r4, %y4 : i64; %r6 = add %r5, %y5 : i64\n"
         "  %r7 = add %r6, %y6 : i64; %r8 = add %r7, %x7 : i64\n"
         "  object_retain %o; %k = object_take %o : i64; object_free %k\n" /* shared: it stays */
         "  object_release %p; object_release %p\n"
         "  %m = object_take %o : i64; object_free %m\n" /* its fields are ours now */
         "  object_release %p; object_release %p; object_release %1\n"
         "  return %r8\n"
         "}\n";

static int64_t object_fields_want(int64_t n)
{
  return 7 + 65535 + 2 + (n != 0) + (uint8_t)n + (int64_t)(float)n + n + (int16_t)n + n;
}

static int64_t object_zero(int64_t n) { return n * (n - 1) / 2 * 3; }
static int64_t object_sum(int64_t n) { return n * (n - 1) / 2; }

static const struct {
  const char *text;
  int64_t (*want)(int64_t n);
  int64_t least; /* the bytes that n = 100 needs */
} rows[] = {{shared_text, object_zero, 200 * 24},
            {released_text, object_sum, 100 * 24},
            {fields_text, object_fields_want, 16 + 48 * 8}};

static wick_code object_compiled(testing *t, wick_heap *heap, int64_t n, int64_t *out)
{
  wick_fault fault = {0};
  void *args[] = {out, &n, heap, &fault};
  heap->stack.fault = &fault;
  wick_image_kernel(&t->image, "run")(args, 0, 1);
  return (wick_code)fault.code;
}

static void object_interpreted(testing *t, int64_t n, int64_t want)
{
  int64_t y = 0;
  wick_arena tmp = wick_arena_make(&t->guard);
  wick_interpret_arg arg[4] = {{&y, 1, 0}, {&n, 1, 0}, {.number = 0}, {.number = 1}};
  testing_ok(wick_interpret(wick_module_find(t->m, "run"), 4, arg, &t->mem, &tmp));
  assert_int_equal(y, want);
  wick_arena_free(&tmp);
}

static void object_row(testing *t, uint32_t i)
{
  wick_heap_map map = {0};
  int64_t r;
  assert_true(wick_heap_map_make(&map, 1 << 16));
  for (int64_t n = 0; n <= 300; n += 50) {
    assert_int_equal(object_compiled(t, map.heap, n, &r), WICK_OK);
    assert_int_equal(r, rows[i].want(n));
    assert_int_equal(wick_heap_used(map.heap), 0);
    object_interpreted(t, n, rows[i].want(n));
  }
  wick_heap_begin(map.heap, sizeof(wick_heap) + (uint64_t)rows[i].least);
  assert_int_equal(object_compiled(t, map.heap, 100, &r), WICK_OK);
  wick_heap_begin(map.heap, sizeof(wick_heap) + (uint64_t)rows[i].least - 1);
  assert_int_equal(object_compiled(t, map.heap, 100, &r), WICK_ELIMIT);
  wick_heap_map_free(&map);
}

static void objects_are_counted(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++)
    for (uint32_t level = 0; testing_native(level); level++) {
      testing t;
      testing_begin(&t);
      testing_parse(&t, rows[i].text);
      testing_load(&t, testing_native(level), false);
      object_row(&t, i);
      testing_end(&t);
    }
}

/* Needs no machine stack, and the pages of the heap return to the system. */
static void a_long_list_is_released(void **state)
{
  (void)state;
  testing t;
  wick_heap_map map = {0};
  int64_t r, n = 10000000;
  testing_begin(&t);
  testing_parse(&t, released_text);
  testing_load(&t, testing_native(0), false);
  assert_true(wick_heap_map_make(&map, 0));
  assert_int_equal(object_compiled(&t, map.heap, n, &r), WICK_OK);
  assert_int_equal(r, n * (n - 1) / 2);
  assert_int_equal(wick_heap_used(map.heap), 0);
  wick_heap_map_reset(&map);
  assert_int_equal(object_compiled(&t, map.heap, 10, &r), WICK_OK);
  wick_heap_map_free(&map);
  testing_end(&t);
}

static void classes_hold_their_blocks(void **state)
{
  (void)state;
  for (uint64_t words = 1; words < 100000; words++) {
    uint64_t room = wick_heap_words(wick_heap_class(words));
    assert_true(room >= words && room < words + words / 2 + 1);
    assert_int_equal(wick_heap_class(room), wick_heap_class(words));
  }
  assert_int_equal(wick_heap_class((uint64_t)1 << 28), WICK_HEAP_CLASSES - 1);
}

/* The interpreter says what is no object, and what is freed. */
static const struct {
  const char *body, *want;
} wrong[] = {
    {"object_release %n", "it is no object"},
    {"%o = object_new %n : i64; object_release %o; object_retain %o", "it is no object"},
    {"%o = object_new %n : i64; %v = object_load %o {at=1} : i64", "no such field"},
    {"%o = object_new %n : i64; %k = object_take %o : i64; %v = object_reuse %k, %n, %n : i64",
     "another size"},
    {"%k = const 1 : i64; %v = object_tag %k : i64", "it is no object"},
};

static void wrong_objects_are_noticed(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < WICK_COUNT(wrong); i++) {
    testing t;
    int64_t n = 24;
    testing_begin(&t);
    testing_parse(&t,
                  wick_str_printf(&t.mem, "loop @f(@in %%n: i64) { %s; return }", wrong[i].body));
    wick_arena tmp = wick_arena_make(&t.guard);
    wick_status s = wick_interpret(wick_module_find(t.m, "f"), 1,
                                   &(wick_interpret_arg){.number = n}, &t.mem, &tmp);
    assert_non_null(s);
    if (!strstr(s->message, wrong[i].want)) fail_msg("%s", s->message);
    wick_arena_free(&tmp);
    testing_end(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objects_are_counted),
      cmocka_unit_test(a_long_list_is_released),
      cmocka_unit_test(classes_hold_their_blocks),
      cmocka_unit_test(wrong_objects_are_noticed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
