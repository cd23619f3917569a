/* The C function of a bundle, called on every level of this processor: the arguments that it
 * refuses, its results, and the floating-point environment before, during and after the call. */
#include "codegen/llvm/testing.h"

#include <fenv.h>

#include "wick/bundle.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* y[i] = x[i] * w[i], through the arena; then a kernel with scratch memory that fails at the first
 * negative number. */
static const char bundle_text[] =
    "loop @scale(@out %y: buffer<f32[16],arena>, @in %x: buffer<f32[16],io>,\n"
    "            @in %w: buffer<f32[16],constant>, @in %begin: i64, @in %end: i64) {\n"
    "  for %begin, %end (%i: i64) {\n"
    "    %a = load %x, %i : f32\n"
    "    %b = load %w, %i : f32\n"
    "    %c = mul %a, %b : f32\n"
    "    store %y, %i, %c\n"
    "    yield\n"
    "  }\n"
    "  return\n"
    "}\n"
    "loop @check(@out %y: buffer<f32[16],io>, @in %x: buffer<f32[16],arena>, @in %begin: i64,\n"
    "            @in %end: i64) {\n"
    "  %t = alloc : buffer<f32[2048],scratch>\n"
    "  for %begin, %end (%i: i64) {\n"
    "    %a = load %x, %i : f32\n"
    "    store %t, %i, %a\n"
    "    %z = const 0 : f32\n"
    "    %bad = gt %z, %a : bool\n"
    "    fail %bad, %i {code=4}\n"
    "    %b = load %t, %i : f32\n"
    "    store %y, %i, %b\n"
    "    yield\n"
    "  }\n"
    "  return\n"
    "}\n"
    "loop @net.entry(@in %c: buffer<u8[64],constant>, @inout %m: buffer<u8[128],io>,\n"
    "                @inout %a: buffer<u8[64],arena>) {\n"
    "  %w = view %c : buffer<f32[16],constant>\n"
    "  %x = view %m : buffer<f32[16],io>\n"
    "  %y = view %m {offset=16} : buffer<f32[16],io>\n"
    "  %t = view %a : buffer<f32[16],arena>\n"
    "  launch @scale %t, %x, %w {tasks=16}\n"
    "  launch @check %y, %t {tasks=16}\n"
    "  return\n"
    "}\n";

typedef int bundle_fn(const void *constants, void *mutable_data, void *arena);

static wick_status bundle_compile(testing *t, const char *target, wick_span constants,
                                  wick_span *out)
{
  wick_target row;
  assert_true(wick_target_find(target, &row));
  wick_codegen_options o = {
      .direct = true, .verify = true, .bundle = "net", .constants = constants};
  return wick_llvm_compile(t->m, &row, &o, &t->mem, out);
}

static bundle_fn *bundle_load(testing *t, const char *target)
{
  wick_target row;
  wick_span object;
  wick_section section[WICK_LINK_SECTIONS];
  wick_artifact_parts parts;
  testing_begin(t);
  testing_parse(t, bundle_text);
  testing_ok(bundle_compile(t, target, (wick_span){NULL, 0}, &object));
  assert_true(wick_target_find(target, &row));
  testing_ok(wick_object_check(object, &row, NULL, &t->mem));
  testing_ok(wick_link(1, &object, &row, &t->mem, section));
  testing_ok(
      wick_artifact_make(row.machine, row.needs, WICK_LINK_SECTIONS, section, &t->mem, &parts));
  wick_span file = wick_artifact_join(&parts, &t->mem);
  testing_ok(wick_artifact_read(file, "test", &t->mem, &t->artifact));
  testing_ok(wick_image_map(&t->artifact, &t->mem, &t->image));
  assert_int_equal(t->artifact.nsymbol, 1); /* only this function is exported */
  union {
    void *p;
    bundle_fn *f;
  } u = {wick_image_symbol(&t->image, "net")};
  assert_non_null(u.p);
  return u.f;
}

static _Alignas(64) float bundle_weights[16];
static _Alignas(64) float bundle_data[32];
static _Alignas(64) unsigned char bundle_arena[64 + 8192];

static void bundle_each(void (*check)(bundle_fn *net))
{
  for (uint32_t i = 0; testing_native(i); i++) {
    testing t;
    check(bundle_load(&t, testing_native(i)));
    testing_end(&t);
  }
}

static void bundle_fill(float first)
{
  for (int i = 0; i < 16; i++)
    bundle_weights[i] = 0.5f, bundle_data[i] = first + (float)i, bundle_data[16 + i] = -1;
}

static void bundle_runs(bundle_fn *net)
{
  bundle_fill(1);
  assert_int_equal(net(bundle_weights, bundle_data, bundle_arena), WICK_BUNDLE_OK);
  for (int i = 0; i < 16; i++) {
    assert_true(bundle_data[16 + i] == 0.5f * (1 + (float)i));
    assert_true(bundle_data[i] == 1 + (float)i);
  }
}

static void bundle_runs_on_every_level(void **state)
{
  (void)state;
  bundle_each(bundle_runs);
}

static void bundle_refuses(bundle_fn *net)
{
  unsigned char *data = (unsigned char *)bundle_data;
  bundle_fill(1);
  assert_int_equal(net(NULL, data, bundle_arena), WICK_BUNDLE_ENULL);
  assert_int_equal(net(bundle_weights, NULL, bundle_arena), WICK_BUNDLE_ENULL);
  assert_int_equal(net(bundle_weights, data, NULL), WICK_BUNDLE_ENULL);
  assert_int_equal(net(bundle_weights + 4, data, bundle_arena), WICK_BUNDLE_EALIGN);
  assert_int_equal(net(bundle_weights, data + 32, bundle_arena), WICK_BUNDLE_EALIGN);
  assert_int_equal(net(bundle_weights, data, bundle_arena + 1), WICK_BUNDLE_EALIGN);
  for (int i = 0; i < 16; i++) assert_true(bundle_data[16 + i] == -1); /* nothing was written */
}

static void bundle_refuses_wrong_addresses(void **state)
{
  (void)state;
  bundle_each(bundle_refuses);
}

static void bundle_fails(bundle_fn *net)
{
  bundle_fill(-3);
  assert_int_equal(net(bundle_weights, bundle_data, bundle_arena), WICK_BUNDLE_ERANGE);
  bundle_fill(3); /* the caller's environment does not change it */
  assert_int_equal(net(bundle_weights, bundle_data, bundle_arena), WICK_BUNDLE_OK);
}

static void bundle_returns_the_failure_of_a_kernel(void **state)
{
  (void)state;
  bundle_each(bundle_fails);
}

#if defined(__x86_64__)
enum { BUNDLE_FLAGS = 0x3f }; /* bits of MXCSR that record exceptions */
static unsigned bundle_environment(void) { return _mm_getcsr() & ~(unsigned)BUNDLE_FLAGS; }
static void bundle_spoil(void) { _mm_setcsr(0xdfc0); } /* rounds up, flushes denormals to zero */
static void bundle_repair(void) { _mm_setcsr(0x1f80); }
#else
static unsigned bundle_environment(void) { return (unsigned)fegetround(); }
static void bundle_spoil(void) { (void)fesetround(FE_UPWARD); }
static void bundle_repair(void) { (void)fesetround(FE_TONEAREST); }
#endif

/* A denormal; half of a denormal, which is between two; and a product that overflows. */
static void bundle_keeps_environment(bundle_fn *net)
{
  bundle_fill(1);
  bundle_data[0] = 2e-38f, bundle_data[1] = 7e-45f, bundle_data[2] = 1 + 0x1p-23f;
  bundle_weights[2] = 1 + 0x1p-23f;
  bundle_spoil();
  unsigned before = bundle_environment();
  int code = net(bundle_weights, bundle_data, bundle_arena);
  unsigned after = bundle_environment();
  bundle_repair();
  assert_int_equal(before, after);
  assert_int_equal(code, WICK_BUNDLE_OK);
  for (int i = 0; i < 3; i++) {
    volatile float want = bundle_weights[i];
    want *= bundle_data[i];
    assert_true(want != 0 && bundle_data[16 + i] == want);
  }
}

static void bundle_sets_and_restores_the_environment(void **state)
{
  (void)state;
  bundle_each(bundle_keeps_environment);
}

static void bundle_holds_constants_for_all_machines(void **state)
{
  (void)state;
  bundle_fill(1);
  for (uint32_t k = 0; wick_target_row(k); k++) {
    testing t;
    wick_span object, constants = {(const unsigned char *)bundle_weights, sizeof bundle_weights};
    testing_begin(&t);
    testing_parse(&t, bundle_text);
    testing_ok(bundle_compile(&t, wick_target_row(k)->row, constants, &object));
    testing_ok(wick_object_check(object, wick_target_row(k), NULL, &t.mem));
    bool found = false;
    for (size_t i = 0; i + sizeof bundle_weights <= object.nbytes && !found; i++)
      found = memcmp(object.at + i, bundle_weights, sizeof bundle_weights) == 0;
    assert_true(found);
    testing_end(&t);
  }
}

static void bundle_says_what_it_wants(void **state)
{
  (void)state;
  static const struct {
    const char *text, *want;
  } rows[] = {
      {"", "a bundle has an entry"},
      {"loop @k(@out %y: buffer<f32[1],io>, @in %b: i64, @in %e: i64) { return }\n"
       "loop @a(@out %y: buffer<f32[1],io>) { launch @k %y; return }\n"
       "loop @b(@out %y: buffer<f32[1],io>) { launch @k %y; return }\n",
       "one entry, not @a and @b"},
      {"loop @k(@out %y: buffer<f32[1],io>, @in %b: i64, @in %e: i64) { return }\n"
       "loop @a(@out %y: buffer<f32[1],io>, @in %n: i64) { launch @k %y; return }\n",
       "parameter 2 of a bundle is no buffer"},
      {"loop @net(@out %y: buffer<f32[1],io>, @in %b: i64, @in %e: i64) { return }\n"
       "loop @a(@out %y: buffer<f32[1],io>) { launch @net %y; return }\n",
       "has the name @net"},
  };
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    testing t;
    wick_span object;
    testing_begin(&t);
    testing_parse(&t, rows[i].text);
    wick_status s = bundle_compile(&t, "host", (wick_span){NULL, 0}, &object);
    assert_non_null(s);
    if (!strstr(s->message, rows[i].want)) fail_msg("\"%s\": %s", rows[i].want, s->message);
    testing_end(&t);
  }
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bundle_runs_on_every_level),
      cmocka_unit_test(bundle_refuses_wrong_addresses),
      cmocka_unit_test(bundle_returns_the_failure_of_a_kernel),
      cmocka_unit_test(bundle_sets_and_restores_the_environment),
      cmocka_unit_test(bundle_holds_constants_for_all_machines),
      cmocka_unit_test(bundle_says_what_it_wants),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
