#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cpu.h"

static void cpu_levels_are_nested(void **state)
{
  (void)state;
  wick_cpu cpu = wick_cpu_detect();
  if (cpu.machine != WICK_MACHINE_X86_64) skip();
  if (cpu.features & WICK_CPU_X86_V4) assert_true(cpu.features & WICK_CPU_X86_V3);
  if (cpu.features & WICK_CPU_X86_V3) assert_true(cpu.features & WICK_CPU_X86_V2);
  if (cpu.features & WICK_CPU_X86_AVX512VNNI) assert_true(cpu.features & WICK_CPU_X86_V4);
}

static void cpu_detection_is_stable(void **state)
{
  (void)state;
  wick_cpu a = wick_cpu_detect(), b = wick_cpu_detect();
  assert_int_equal(a.machine, b.machine);
  assert_true(a.features == b.features);
}

static void cpu_caches_grow_with_their_level(void **state)
{
  (void)state;
  uint64_t n[3];
  wick_cpu_caches(n);
  if (n[0] && n[1]) assert_true(n[0] <= n[1]);
  if (n[1] && n[2]) assert_true(n[1] <= n[2]);
  if (n[0]) assert_true(n[0] >= 1024 && n[0] <= 16 << 20);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cpu_levels_are_nested),
      cmocka_unit_test(cpu_detection_is_stable),
      cmocka_unit_test(cpu_caches_grow_with_their_level),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
