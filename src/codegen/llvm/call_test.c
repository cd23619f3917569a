/* Procedures whose calls take long stay functions of their own, as their kernel was formed; short ones are inlined. */
#include "base/str.h"
#include "codegen/llvm/testing.h"

/* Adds x, whose first element is an index, to each element of y. */
#define RUN                                                                                        \
  "loop @run(@inout %y: buffer<f32[1024],io>, @in %x: buffer<i64[1],io>, @in %begin: i64, "        \
  "@in %end: i64) {\n"                                                                             \
  "  call @part %y, %x; return\n"                                                                  \
  "}\n"                                                                                            \
  "loop @part(@inout %y: buffer<f32[1024],io>, @in %x: buffer<i64[1],io>) -> () {\n"               \
  "  %0 = const 0 : i64; %n = const "

#define OUTER " : i64; %m = const "

#define BODY                                                                                       \
  " : i64\n"                                                                                       \
  "  %k = load %x, %0 : i64; %f = cast %k : f32\n" CHECK "  for %0, %m (%j: i64) {\n"              \
  "    for %0, %n (%i: i64) {\n"                                                                   \
  "      %a = load %y, %i : f32; %b = add %a, %f : f32; store %y, %i, %b; yield\n"                 \
  "    }\n"                                                                                        \
  "    yield\n"                                                                                    \
  "  }\n"                                                                                          \
  "  return\n"                                                                                     \
  "}\n"

#define CHECK
static const char short_text[] = RUN "4" OUTER "1" BODY, inner_text[] = RUN "1000" OUTER "1" BODY,
                  nested_text[] = RUN "8" OUTER "8" BODY;
#undef CHECK
#define CHECK                                                                                      \
  "  %less = lt %k, %0 : bool\n"                                                                   \
  "  fail %less, %k {code=1, of=1}\n"
static const char failing_text[] = RUN "8" OUTER "8" BODY;

static const struct {
  const char *text;
  int32_t n, m;
  bool stays;
} rows[] = {
    {short_text, 4, 1, false},
    {inner_text, 1000, 1, true},
    {nested_text, 8, 8, true},
    {failing_text, 8, 8, true},
};

/* Returns whether code of LLVM calls the procedure. */
static bool call_stays(testing *t)
{
  wick_target row = wick_target_host();
  wick_span text;
  wick_codegen_options o = {.output = WICK_OUTPUT_LLVM, .verify = true};
  testing_ok(wick_llvm_compile(t->m, &row, &o, &t->mem, &text));
  const char *line = (const char *)text.at, *end = line + text.nbytes;
  for (const char *next; line < end; line = next) {
    next = memchr(line, '\n', (size_t)(end - line));
    next = next ? next + 1 : end;
    const char *one = wick_str_printf(&t->mem, "%.*s", (int)(next - line), line);
    if (strstr(one, "call ") && strstr(one, "@part.procedure(")) return true;
  }
  return false;
}

static void calls_that_take_long_stay(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    testing t;
    testing_begin(&t);
    testing_parse(&t, rows[i].text);
    if (call_stays(&t) != rows[i].stays) fail_msg("row %u", i);
    testing_load(&t, "host", false);
    wick_kernel k = wick_image_kernel(&t.image, "run");
    assert_non_null(k);
    float y[1024] = {0};
    int64_t x[1] = {3};
    wick_fault fault = {0};
    k((void *[]){y, x, &fault}, 0, 1);
    for (int32_t j = 0; j < 1024; j++)
      assert_true(y[j] == (j < rows[i].n ? 3.0F * (float)rows[i].m : 0.0F));
    x[0] = -1;
    k((void *[]){y, x, &fault}, 0, 1);
    assert_int_equal(fault.code != 0, rows[i].text == failing_text);
    testing_end(&t);
  }
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {cmocka_unit_test(calls_that_take_long_stay)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
