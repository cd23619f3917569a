/* Dot products of pairs of bf16 and the rounding to bf16, as instructions of this processor,
 * compared with the interpreter bit by bit: for numbers of all magnitudes, infinities and NaN. */
#include "codegen/llvm/testing.h"

#include <math.h>

#include "loop/interpret.h"
#include "target/target.h"

enum { PAIRS_TASKS = 512, PAIRS_SUMS = PAIRS_TASKS * 16, PAIRS_FACTORS = 2 * PAIRS_SUMS };

static const char pairs_text[] =
    "loop @pairs(@out %y: buffer<f32[8192],io>, @out %z: buffer<bf16[8192],io>, "
    "@in %s: buffer<f32[8192],io>, @in %x: buffer<bf16[16384],io>, "
    "@in %w: buffer<bf16[16384],io>, @in %begin: i64, @in %end: i64) {\n"
    "  %n = const 16 : i64\n"
    "  %m = const 32 : i64\n"
    "  for %begin, %end (%t: i64) {\n"
    "    %i = mul %t, %n : i64\n"
    "    %j = mul %t, %m : i64\n"
    "    %a = load %s, %i : f32x16\n"
    "    %u = load %x, %j : bf16x32\n"
    "    %v = load %w, %j : bf16x32\n"
    "    %r = dot %a, %u, %v : f32x16\n"
    "    store %y, %i, %r\n"
    "    %h = narrow %r : bf16x16\n"
    "    store %z, %i, %h\n"
    "    yield\n"
    "  }\n"
    "  return\n"
    "}\n";

static uint64_t pairs_random(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 32;
}

/* Returns arbitrary bits, or a number that is rarely denormal. */
static uint32_t pairs_word(uint64_t *state, uint64_t k)
{
  uint32_t word = (uint32_t)pairs_random(state);
  return k % 64 < 16 ? word : (word & 0x87ffffffu) | 0x3c000000u;
}

static void pairs_fill(float *s, uint16_t *x, uint16_t *w)
{
  uint64_t state = 1;
  for (uint64_t k = 0; k < PAIRS_SUMS; k++) {
    uint32_t word =
        k % 5 == 0 ? (uint32_t)pairs_random(&state) & 0x80ffffff : pairs_word(&state, k);
    memcpy(&s[k], &word, sizeof word);
  }
  for (uint64_t k = 0; k < PAIRS_FACTORS; k++)
    x[k] = (uint16_t)(pairs_word(&state, k) >> 16), w[k] = (uint16_t)(pairs_word(&state, k) >> 16);
}

static void instructions_and_the_interpreter_agree(void **state)
{
  (void)state;
  static float s[PAIRS_SUMS], y[2][PAIRS_SUMS];
  static uint16_t x[PAIRS_FACTORS], w[PAIRS_FACTORS], z[2][PAIRS_SUMS];
  wick_target host = wick_target_host();
  if (!wick_target_dot(&host, WICK_BF16, WICK_BF16, 2)) skip();
  testing t;
  testing_begin(&t);
  testing_parse(&t, pairs_text);
  testing_load(&t, "host", false);
  pairs_fill(s, x, w);
  wick_kernel k = wick_image_kernel(&t.image, "pairs");
  assert_non_null(k);
  k((void *[]){y[0], z[0], s, x, w}, 0, PAIRS_TASKS);
  const wick_interpret_arg arg[7] = {
      {y[1], PAIRS_SUMS, 0}, {z[1], PAIRS_SUMS, 0}, {s, PAIRS_SUMS, 0},    {x, PAIRS_FACTORS, 0},
      {w, PAIRS_FACTORS, 0}, {NULL, 0, 0},          {NULL, 0, PAIRS_TASKS}};
  wick_arena tmp = wick_arena_make(&t.guard);
  testing_ok(wick_interpret(wick_module_find(t.m, "pairs"), 7, arg, &t.mem, &tmp));
  wick_arena_free(&tmp);
  for (uint32_t i = 0; i < PAIRS_SUMS; i++) {
    if (isnan(y[0][i]) && isnan(y[1][i])) continue;
    if (memcmp(&y[0][i], &y[1][i], sizeof **y) != 0 || z[0][i] != z[1][i])
      fail_msg("%u: %a + %04x * %04x + %04x * %04x is %a, %04x; the interpreter says %a, %04x", i,
               (double)s[i], x[2 * i], w[2 * i], x[2 * i + 1], w[2 * i + 1], (double)y[0][i],
               z[0][i], (double)y[1][i], z[1][i]);
  }
  testing_end(&t);
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {cmocka_unit_test(instructions_and_the_interpreter_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
