/* Transpositions by steps of shuffles, of all elements, on each machine that this processor runs. */
#include "base/str.h"
#include "codegen/llvm/testing.h"

enum { SHUFFLE_MOST = 16 };

static void shuffle_lanes(wick_text *out, int n, int half)
{
  for (int i = 0; i < n / 2; i++)
    wick_text_printf(out, "%s%d, %d", i ? ", " : "", half * n / 2 + i, n + half * n / 2 + i);
}

/* Rows of n elements; each step interleaves row i and row i + n / 2. */
static const char *shuffle_text(const char *elem, int n, wick_arena *mem)
{
  wick_text out = wick_text_begin(mem);
  wick_text_printf(
      &out,
      "loop @turn(@out %%y: buffer<%s[%d],io>, @in %%x: buffer<%s[%d],io>, @in %%begin: "
      "i64, @in %%end: i64) {\n",
      elem, n * n, elem, n * n);
  for (int i = 0; i < n; i++)
    wick_text_printf(&out, "%%i%d = const %d : i64; %%v0_%d = load %%x, %%i%d : %sx%d\n", i, i * n,
                     i, i, elem, n);
  int step = 0;
  for (int k = 1; k < n; k *= 2, step++)
    for (int i = 0; i < n; i++) {
      wick_text_printf(&out, "%%v%d_%d = shuffle %%v%d_%d, %%v%d_%d {lanes=[", step + 1, i, step,
                       i / 2, step, i / 2 + n / 2);
      shuffle_lanes(&out, n, i % 2);
      wick_text_printf(&out, "]} : %sx%d\n", elem, n);
    }
  for (int i = 0; i < n; i++) wick_text_printf(&out, "store %%y, %%i%d, %%v%d_%d\n", i, step, i);
  wick_text_add(&out, "return }\n");
  return out.at;
}

static const struct {
  const char *elem;
  int nbytes;
} rows[] = {{"f32", 4}, {"f64", 8}, {"i64", 8}, {"i32", 4}, {"f16", 2}, {"u8", 1}, {"bool", 1}};

static void shuffle_check(const char *target, const char *elem, int nbytes, int n)
{
  testing t;
  testing_begin(&t);
  testing_parse(&t, shuffle_text(elem, n, &t.mem));
  testing_load(&t, target, false);
  unsigned char x[SHUFFLE_MOST * SHUFFLE_MOST * 8], y[sizeof x];
  for (size_t i = 0; i < sizeof x; i++) x[i] = (unsigned char)(i * 37 + i / 251); /* NaNs, too */
  for (size_t i = 0; i < sizeof x && *elem == 'b'; i++) x[i] &= 1;
  wick_image_kernel(&t.image, "turn")((void *[]){y, x}, 0, 1);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      if (memcmp(&y[(i * n + k) * nbytes], &x[(k * n + i) * nbytes], (size_t)nbytes) != 0)
        fail_msg("%s, %s, %d: row %d, column %d", target, elem, n, i, k);
  testing_end(&t);
}

static void transpositions_are_right(void **state)
{
  (void)state;
  for (uint32_t k = 0; testing_native(k); k++)
    for (uint32_t i = 0; i < WICK_COUNT(rows); i++)
      for (int n = 4; n <= SHUFFLE_MOST; n *= 2)
        shuffle_check(testing_native(k), rows[i].elem, rows[i].nbytes, n);
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {cmocka_unit_test(transpositions_are_right)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
