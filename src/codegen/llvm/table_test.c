/* Bytes that are looked up in small tables, on each machine that this processor runs. */
#include "codegen/llvm/testing.h"

enum { TABLE_MOST = 256 };

static const char *table_text(int n, int lanes, bool masked, wick_arena *mem)
{
  wick_text out = wick_text_begin(mem);
  wick_text_printf(&out,
                   "loop @look(@out %%y: buffer<i8[%d],io>, @in %%x: buffer<u8[%d],io>, @in %%t: "
                   "buffer<i8[%d],io>, @in %%begin: i64, @in %%end: i64) {\n"
                   "%%0 = const 0 : i64 %%1 = load %%x, %%0 : u8x%d %%2 = cast %%1 : i64x%d\n",
                   lanes, lanes, n, lanes, lanes);
  if (masked)
    wick_text_printf(&out,
                     "%%m = const 2 : u8 %%b = broadcast %%m : u8x%d %%r = bit_and %%1, %%b\n"
                     "%%z = const 0 : u8 %%c = broadcast %%z : u8x%d %%k = eq %%r, %%c\n",
                     lanes, lanes);
  wick_text_printf(&out, "%%3 = load_lanes %%t, %%0, %%2%s : i8x%d store %%y, %%0, %%3 return }\n",
                   masked ? ", %k" : "", lanes);
  return out.at;
}

/* The table ends where the memory does. */
static void table_check(const char *target, int n, int lanes, bool masked)
{
  testing t;
  testing_begin(&t);
  testing_parse(&t, table_text(n, lanes, masked, &t.mem));
  testing_load(&t, target, false);
  unsigned char x[TABLE_MOST], y[TABLE_MOST], table[TABLE_MOST];
  for (int i = 0; i < n; i++) table[i] = (unsigned char)(i * 89 + 7);
  void *kept = testing_guarded((size_t)n);
  memcpy(kept, table, (size_t)n);
  for (int i = 0; i < lanes; i++)
    x[i] = (unsigned char)(i == 0 ? 0 : i == 1 ? n - 1 : (i * 37 + 11) % n);
  wick_image_kernel(&t.image, "look")((void *[]){y, x, kept}, 0, 1);
  for (int i = 0; i < lanes; i++)
    if (y[i] != (masked && x[i] & 2 ? 0 : table[x[i]]))
      fail_msg("%s, %d bytes, %d lanes: lane %d is %d", target, n, lanes, i, y[i]);
  testing_guarded_free(kept, (size_t)n);
  testing_end(&t);
}

/* The rows of a view are apart: the indices go beyond its number of elements. */
static void table_check_view(const char *target)
{
  enum { ROWS = 8, APART = 40, LANES = 16 };
  testing t;
  testing_begin(&t);
  testing_parse(&t, "loop @look(@out %y: buffer<u8[16],io>, @in %x: buffer<u8[16],io>, @in %t: "
                    "buffer<u8[8,10:40,1],io>, @in %begin: i64, @in %end: i64) {\n"
                    "%0 = const 0 : i64 %1 = load %x, %0 : u8x16 %2 = cast %1 : i64x16\n"
                    "%3 = load_lanes %t, %0, %2 : u8x16 store %y, %0, %3 return }\n");
  testing_load(&t, target, false);
  unsigned char x[LANES], y[LANES], table[ROWS * APART];
  for (int i = 0; i < ROWS * APART; i++) table[i] = (unsigned char)(i * 89 + i / 7);
  for (int i = 0; i < LANES; i++) x[i] = (unsigned char)(i % 6 * APART + i % 10);
  wick_image_kernel(&t.image, "look")((void *[]){y, x, table}, 0, 1);
  for (int i = 0; i < LANES; i++)
    if (y[i] != table[x[i]]) fail_msg("%s: lane %d of a view is %d", target, i, y[i]);
  testing_end(&t);
}

static void table_checks(const char *target)
{
  static const int size[] = {1, 5, 16, 17, 64, 65, 100, 129, 200, 255, 256},
                   lanes[] = {4, 8, 16, 32, 64, 128};
  for (size_t i = 0; i < WICK_COUNT(size); i++)
    for (size_t k = 0; k < WICK_COUNT(lanes); k++)
      table_check(target, size[i], lanes[k], (i + k) % 3 == 0);
  table_check_view(target);
}

static void lookups_are_right(void **state)
{
  (void)state;
  for (uint32_t k = 0; testing_native(k); k++) table_checks(testing_native(k));
  wick_cpu cpu = wick_cpu_detect();
  if (cpu.machine == WICK_MACHINE_X86_64 && (cpu.features & WICK_CPU_X86_AVX512VBMI))
    table_checks("x86-64-v4+avx512vbmi");
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {cmocka_unit_test(lookups_are_right)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
