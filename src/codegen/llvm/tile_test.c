/* The inner loop of a convolution: 2 x 14 sums of 16 lanes in registers, four steps unrolled. It
 * uses 31 of 32 registers, so that anything LLVM moves is seen as an access to the stack. */
#include "codegen/llvm/testing.h"

enum { TILE_OUT = 2, TILE_POSITIONS = 14, TILE_UNROLL = 4, TILE_SUMS = TILE_OUT * TILE_POSITIONS };

static void tile_list(wick_text *t, const char *separator, const char *fmt)
{
  for (int i = 0; i < TILE_SUMS; i++) {
    wick_text_add(t, i ? separator : "");
    for (const char *p = fmt; *p; p++)
      if (*p == '#')
        wick_text_int(t, i);
      else
        wick_text_char(t, *p);
  }
}

static void tile_step(wick_text *t, int step)
{
  for (int p = 0; p < TILE_POSITIONS; p++) {
    wick_text_printf(t, "    %%x%d.%d = load %%x, %%k {offset=%d} : f32\n", step, p, p * 16 + step);
    wick_text_printf(t, "    %%b%d.%d = broadcast %%x%d.%d : f32x16\n", step, p, step, p);
    for (int o = 0; o < TILE_OUT; o++) {
      if (p == 0)
        wick_text_printf(t, "    %%w%d.%d = load %%w, %%k16 {offset=%d} : f32x16\n", step, o,
                         o * 9216 + step * 16);
      wick_text_printf(t, "    %%s%d.%d = fma %%b%d.%d, %%w%d.%d, %%s%d.%d : f32x16\n", step + 1,
                       o * TILE_POSITIONS + p, step, p, step, o, step, o * TILE_POSITIONS + p);
    }
  }
}

static const char *tile_text(wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  wick_text_add(&t,
                "loop @tile(@out %y: buffer<f32[448],io>, @in %x: buffer<f32[20000],io>, "
                "@in %w: buffer<f32[20000],io>, @in %begin: i64, @in %end: i64) {\n"
                "  %zero = const 0 : i64\n  %n = const 64 : i64\n  %none = const 0 : f32x16\n  ");
  tile_list(&t, ", ", "%r#");
  wick_text_add(&t, " = for %zero, %n, ");
  tile_list(&t, ", ", "%none");
  wick_text_printf(&t, " {step=%d} (%%k: i64, ", TILE_UNROLL);
  tile_list(&t, ", ", "%s0.#: f32x16");
  wick_text_add(&t, ") {\n    %c16 = const 16 : i64\n    %k16 = mul %k, %c16 : i64\n");
  for (int step = 0; step < TILE_UNROLL; step++) tile_step(&t, step);
  wick_text_add(&t, "    yield ");
  tile_list(&t, ", ", "%s4.#");
  wick_text_add(&t, "\n  } : ");
  tile_list(&t, ", ", "f32x16");
  wick_text_char(&t, '\n');
  for (int i = 0; i < TILE_SUMS; i++)
    wick_text_printf(&t, "  store %%y, %%zero, %%r%d {offset=%d}\n", i, i * 16);
  wick_text_add(&t, "  return\n}\n");
  return t.at;
}

static void the_inner_loop_does_not_touch_the_stack(void **state)
{
  (void)state;
  testing t;
  testing_begin(&t);
  testing_parse(&t, tile_text(&t.mem));
  wick_target row;
  wick_span text;
  assert_true(wick_target_find("x86-64-v4", &row));
  wick_codegen_options o = {.output = WICK_OUTPUT_ASSEMBLY, .verify = true};
  for (int clean = 0; clean < 2; clean++) {
    o.clean = clean;
    testing_ok(wick_llvm_compile(t.m, &row, &o, &t.mem, &text));
    const char *code = wick_str_dupn(&t.mem, (const char *)text.at, text.nbytes);
    int nfma = 0;
    for (const char *p = code; (p = strstr(p, "vfmadd")); p++) nfma++;
    assert_int_equal(nfma, TILE_SUMS * TILE_UNROLL);
    if (strstr(code, "%rsp")) fail_msg("%s", strstr(code, "%rsp") - 40);
  }
  testing_end(&t);
}

static void the_inner_loop_is_right(void **state)
{
  (void)state;
  wick_target host = wick_target_host();
  if (!(host.fma & WICK_BIT(WICK_F32))) skip();
  testing t;
  testing_begin(&t);
  testing_parse(&t, tile_text(&t.mem));
  testing_load(&t, "host", false);
  static float x[20000], w[20000], y[TILE_SUMS * 16];
  for (int i = 0; i < 20000; i++) x[i] = (float)(i % 17 - 8), w[i] = (float)(i % 11 - 5);
  wick_image_kernel(&t.image, "tile")((void *[]){y, x, w}, 0, 1);
  for (int o = 0; o < TILE_OUT; o++)
    for (int p = 0; p < TILE_POSITIONS; p++)
      for (int lane = 0; lane < 16; lane++) {
        float sum = 0; /* small integers, whose sums are exact */
        for (int k = 0; k < 64; k++) sum += x[k + p * 16] * w[k * 16 + o * 9216 + lane];
        assert_true(y[(o * TILE_POSITIONS + p) * 16 + lane] == sum);
      }
  testing_end(&t);
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_inner_loop_does_not_touch_the_stack),
      cmocka_unit_test(the_inner_loop_is_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
