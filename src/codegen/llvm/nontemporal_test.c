/* Rows that are stored past the caches, from any element of a line on, on each machine that this
 * processor runs. */
#include "codegen/llvm/testing.h"
#include "loop/nontemporal.h"

enum { MOST = 4096, BEFORE = 64 };

typedef struct nontemporal_row {
  const char *from, *to; /* elements */
  uint32_t nfrom, nto;   /* bytes of each */
  int lanes, vectors, first;
} nontemporal_row;

static const char *nontemporal_text(const nontemporal_row *r, wick_arena *mem)
{
  wick_text out = wick_text_begin(mem);
  wick_text_printf(
      &out,
      "loop @row(@out %%y: buffer<%s[100000000],io>, @in %%x: buffer<%s[100000000],io>,"
      " @in %%begin: i64, @in %%end: i64) {\n"
      "%%lo = const %d : i64 %%hi = const %d : i64 %%lanes = const %d : i64\n"
      "for %%lo, %%hi (%%i: i64) {\n"
      "%%k = mul %%i, %%lanes %%a = load %%x, %%k {offset=2} : %sx%d\n"
      "%%b = cast %%a : %sx%d store %%y, %%k, %%b {offset=2} yield } return }\n",
      r->to, r->from, r->first, r->first + r->vectors, r->lanes, r->from, r->lanes, r->to,
      r->lanes);
  return out.at;
}

/* Runs the row at `at`, elements after an address that begins a line. The row ends where the
 * memory does, and nothing before it changes. */
static void nontemporal_check(testing *t, const nontemporal_row *r, const unsigned char *want,
                              const void *x, int at)
{
  _Alignas(64) static unsigned char y[2 * MOST];
  uint32_t begin = ((uint32_t)(r->first * r->lanes) + 2) * r->nto,
           nbytes = (uint32_t)(r->vectors * r->lanes) * r->nto, shift = (uint32_t)at * r->nto;
  memset(y, 0xa5, sizeof y);
  wick_image_kernel(&t->image, "row")((void *[]){y + BEFORE + shift, (void *)(uintptr_t)x}, 0, 1);
  for (uint32_t i = 0; i < sizeof y; i++) {
    uint32_t k = i - (BEFORE + shift + begin);
    int in = k < nbytes ? want[k] : 0xa5;
    if (y[i] != in) fail_msg("%s: byte %u of the row at %d is %d, not %d", r->to, k, at, y[i], in);
  }
}

static void nontemporal_row_check(const char *target, const nontemporal_row *r)
{
  static unsigned char x[MOST], want[MOST];
  wick_target row;
  testing t;
  testing_begin(&t);
  testing_parse(&t, nontemporal_text(r, &t.mem));
  assert_true(wick_target_find(target, &row));
  const wick_func *f = wick_module_find(t.m, "row");
  wick_func *changed;
  const wick_pass_context pass = {.target = &row, .mem = &t.mem, .tmp = &t.mem};
  testing_ok(wick_pass_nontemporal(&pass, f, &changed));
  if (row.machine == WICK_MACHINE_X86_64) assert_true(changed->nnode > f->nnode);
  testing_ok(wick_verify_func(changed, &t.mem));
  wick_module_set(t.m, changed);
  testing_load(&t, target, false);
  int n = r->vectors * r->lanes;
  for (int i = 0; i < n; i++) {
    uint32_t from = ((uint32_t)(r->first * r->lanes + i) + 2) * r->nfrom;
    float number = (float)(i % 250);
    unsigned char byte = (unsigned char)(i % 250);
    double wide = i % 250;
    memcpy(x + from, r->nfrom == 4 ? (void *)&number : (void *)&byte, r->nfrom);
    memcpy(want + (uint32_t)i * r->nto,
           r->nto == 8   ? (void *)&wide
           : r->nto == 4 ? (void *)&number
                         : (void *)&byte,
           r->nto);
  }
  for (int at = 0; at < 64 / (int)r->nto; at++) nontemporal_check(&t, r, want, x, at);
  testing_end(&t);
}

static void rows_are_right_wherever_they_begin(void **state)
{
  (void)state;
  static const nontemporal_row rows[] = {
      {"f32", "f32", 4, 4, 16, 9, 0}, {"f32", "f32", 4, 4, 8, 16, 1},
      {"f32", "f32", 4, 4, 4, 37, 2}, {"f32", "f64", 4, 8, 8, 11, 0},
      {"f32", "u8", 4, 1, 16, 33, 1}, {"u8", "u8", 1, 1, 64, 8, 0},
      {"u8", "f32", 1, 4, 16, 10, 3}, {"f32", "f64", 4, 8, 16, 9, 0},
      {"u8", "u8", 1, 1, 32, 19, 0},
  };
  for (uint32_t k = 0; testing_native(k); k++)
    for (size_t i = 0; i < WICK_COUNT(rows); i++)
      nontemporal_row_check(testing_native(k), &rows[i]);
}

int main(void)
{
  wick_llvm_begin(&(wick_codegen_options){0});
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_right_wherever_they_begin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
