/* The linker, on objects from the system's C compilers: calls between objects, constants, external
 * calls, and errors. */
#include "codegen/link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena_testing.h"
#include "codegen/object.h"
#include "runtime/load.h"

static char folder[] = "/tmp/wick-link-XXXXXX";

static void link_ok(wick_status s)
{
  if (s) print_error("%s\n", s->message);
  assert_null(s);
}

static bool link_shell(const char *fmt, ...)
{
  char command[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(command, sizeof command, fmt, args);
  va_end(args);
  return system(command) == 0;
}

/* Compiles C text to an object. Returns false if the compiler is not installed. */
static bool link_compile(const char *cc, const char *text, const char *flags, wick_span *out)
{
  const char *c = wick_path_join(&mem, folder, "a.c");
  wick_bytes bytes = {text, strlen(text)};
  link_ok(wick_file_write(&mem, c, &bytes, 1));
  if (!link_shell("%s -O1 -fPIC -fvisibility=hidden -fno-asynchronous-unwind-tables %s -c %s -o "
                  "%s/a.o 2>%s/errors",
                  cc, flags, c, folder, folder))
    return false;
  char *at;
  size_t n;
  link_ok(wick_file_read(&mem, wick_path_join(&mem, folder, "a.o"), 0, &at, &n));
  *out = (wick_span){(unsigned char *)at, n};
  return true;
}

static wick_target link_target(const char *name)
{
  wick_target t;
  assert_true(wick_target_find(name, &t));
  return t;
}

/* y: 64 floats of x; then 16 times the first byte of the second buffer; then the result of the
 * other object's function on a table. */
static const char link_first[] =
    "#include <stdint.h>\n#include <string.h>\n"
    "float scale(int64_t i);\n"
    "void k(void **args, int64_t begin, int64_t end) {\n"
    "  unsigned char *y = args[0]; const unsigned char *x = args[1], *z = args[2];\n"
    "  memcpy(y, x, 256 * (size_t)(end - begin));\n"
    "  memset(y + 256, z[0], 16 * (size_t)(end - begin));\n"
    "  float *f = (float *)(y + 512);\n"
    "  for (int64_t i = 0; i < 16; i++) f[i] = scale(i);\n"
    "}\n";
static const char link_second[] =
    "#include <stdint.h>\n"
    "static const float table[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, "
    "225};\n"
    "static const double half[3] = {0.5, 0.25, 0.125};\n"
    "float scale(int64_t i);\n"
    "__attribute__((noinline)) static float odd(int64_t i) { return table[i] * (float)half[i % 3]; "
    "}\n"
    "float scale(int64_t i) {\n"
    "  switch (i) { case 3: return 33; case 5: return -5; case 6: return 66.5f; case 9: return "
    "1e9f;\n"
    "  case 11: return odd(2); case 12: return -1; default: return odd(i & 15); }\n"
    "}\n";

static float link_scale(int64_t i)
{
  static const double half[3] = {0.5, 0.25, 0.125};
  switch (i) {
  case 3: return 33;
  case 5: return -5;
  case 6: return 66.5f;
  case 9: return 1e9f;
  case 11: return 4 * 0.125f;
  case 12: return -1;
  default: return (float)(i * i) * (float)half[i % 3];
  }
}

static wick_span link_artifact(uint32_t n, const wick_span *object, const wick_target *t)
{
  wick_section section[WICK_LINK_SECTIONS];
  wick_artifact_parts parts;
  link_ok(wick_link(n, object, t, &mem, section));
  link_ok(wick_artifact_make(t->machine, t->needs, WICK_LINK_SECTIONS, section, &mem, &parts));
  return wick_artifact_join(&parts, &mem);
}

static void link_check(const unsigned char *x, const unsigned char *y)
{
  assert_memory_equal(y, x, 256);
  for (int i = 0; i < 16; i++) assert_int_equal(y[256 + i], 7);
  const float *f = (const float *)(const void *)(y + 512);
  for (int i = 0; i < 16; i++) assert_true(f[i] == link_scale(i));
}

static void objects_call_each_other_and_outside(void **state)
{
  (void)state;
  wick_target t = wick_target_host();
  wick_span object[2];
  if (!link_compile("cc", link_first, "", &object[0])) skip();
  assert_true(link_compile("cc", link_second, "", &object[1]));
  wick_span file = link_artifact(2, object, &t), again = link_artifact(2, object, &t);
  assert_int_equal(file.nbytes, again.nbytes);
  assert_memory_equal(file.at, again.at, file.nbytes);
  wick_artifact a;
  wick_image image;
  link_ok(wick_artifact_read(file, "test", &mem, &a));
  assert_int_equal(a.nimport, 2);
  assert_int_equal(a.nsymbol, 2);
  link_ok(wick_image_map(&a, &mem, &image));
  static _Alignas(64) unsigned char x[256], y[1024], z[16] = {7};
  for (int i = 0; i < 256; i++) x[i] = (unsigned char)(i * 3);
  wick_image_kernel(&image, "k")((void *[]){y, x, z}, 0, 1);
  link_check(x, y);
  wick_image_unmap(&image);
}

/* The same under an emulator, with tests/codegen/run_artifact.c. */
static void link_emulated(const char *cc, const char *qemu, const char *flags, const char *target)
{
  wick_target t = link_target(target);
  wick_span object[2];
  if (!link_shell("command -v %s >/dev/null && command -v %s >/dev/null", cc, qemu) ||
      !link_shell("%s -std=c17 -D_GNU_SOURCE -O1 -static -Isrc -Iinclude "
                  "tests/codegen/run_artifact.c src/runtime/artifact.c src/runtime/load.c "
                  "src/base/arena.c src/base/cpu.c src/base/file.c src/base/reader.c "
                  "src/base/status.c src/base/str.c -o %s/run",
                  cc, folder)) {
    print_message("skipped: %s and %s are expected\n", cc, qemu);
    skip();
  }
  assert_true(link_compile(cc, link_second, flags, &object[1]));
  assert_true(link_compile(cc, link_first, flags, &object[0]));
  wick_span file = link_artifact(2, object, &t);
  wick_bytes bytes = {file.at, file.nbytes};
  link_ok(wick_file_write(&mem, wick_path_join(&mem, folder, "code"), &bytes, 1));
  enum { NBYTES = 8200 };
  struct {
    int64_t ntask;
    unsigned char x[3][NBYTES];
  } *in = wick_arena_alloc(&mem, 2 * sizeof *in, 64);
  for (int k = 0; k < 2; k++) { /* arguments of k; calling the other function is harmless */
    in[k].ntask = 1;
    for (int i = 0; i < 256; i++) in[k].x[0][i] = (unsigned char)(i * 3);
    in[k].x[1][0] = 7;
  }
  bytes = (wick_bytes){in, 2 * sizeof *in};
  link_ok(wick_file_write(&mem, wick_path_join(&mem, folder, "in"), &bytes, 1));
  assert_true(link_shell("%s %s/run %s/code %s/in %s/out", qemu, folder, folder, folder, folder));
  char *out;
  size_t n;
  link_ok(wick_file_read(&mem, wick_path_join(&mem, folder, "out"), 0, &out, &n));
  assert_int_equal(n, 2 * NBYTES);
  unsigned char *y = wick_arena_copy(&mem, out, NBYTES, 64); /* "k" is sorted before "scale" */
  link_check(in[0].x[0], y);
}

static void objects_of_aarch64(void **state)
{
  (void)state;
  link_emulated("aarch64-linux-gnu-gcc", "qemu-aarch64", "", "armv8-a");
}

static void objects_of_riscv64(void **state)
{
  (void)state;
  link_emulated("riscv64-linux-gnu-gcc", "qemu-riscv64", "-mno-relax -march=rv64g -mabi=lp64d",
                "rv64gc");
}

static void what_is_not_code_is_refused(void **state)
{
  (void)state;
  static const struct {
    const char *text, *flags, *want;
  } rows[] = {
      {"int counter = 3; int f(void); int f(void) { return counter++; }", "",
       "no section like .data"},
      {"int counter; int f(void); int f(void) { return counter++; }", "", "no section like .bss"},
      {"int puts(const char *); int f(void); int f(void) { return puts(\"x\"); }",
       "-fvisibility=default", "puts is defined nowhere"},
      {"double exp(double); double f(double); double f(double x) { return exp(x) + 1; }",
       "-fno-builtin", "exp is defined nowhere"},
      {"static int g(void) { return 1; } int (*const f[1])(void) = {g};", "", "no section like"},
      {"const int f[3] = {1, 2, 3};", "", "f is not a function"},
  };
  wick_target t = wick_target_host();
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_span object;
    wick_section section[WICK_LINK_SECTIONS];
    if (!link_compile("cc", rows[i].text, rows[i].flags, &object)) skip();
    wick_status s = wick_link(1, &object, &t, &mem, section);
    assert_non_null(s);
    if (!strstr(s->message, rows[i].want))
      fail_msg("\"%s\", expected \"%s\"", s->message, rows[i].want);
  }
}

static void a_function_is_defined_once(void **state)
{
  (void)state;
  wick_target t = wick_target_host(), other = link_target("armv8-a"), wasm = link_target("wasm32");
  wick_span object[2];
  wick_section section[WICK_LINK_SECTIONS];
  if (!link_compile("cc", "void f(void); void f(void) {}", "", &object[0])) skip();
  object[1] = object[0];
  wick_status s = wick_link(2, object, &t, &mem, section);
  assert_string_equal(s->message, "link: f is defined twice");
  s = wick_link(1, object, &other, &mem, section);
  if (t.machine != other.machine)
    assert_string_equal(s->message, "link: the object is not for armv8-a");
  s = wick_link(1, object, &wasm, &mem, section);
  assert_string_equal(s->message, "link: code for wasm32 is not linked by Wick");
}

static void every_truncation_of_an_object_ends_well(void **state)
{
  (void)state;
  wick_target t = wick_target_host();
  wick_span object;
  if (!link_compile("cc", link_second, "", &object)) skip();
  for (size_t n = 0; n < object.nbytes; n++) {
    wick_mark mark = wick_arena_mark(&mem);
    wick_section section[WICK_LINK_SECTIONS];
    wick_span cut = {wick_arena_copy(&mem, object.at, n, 64), n};
    wick_status s = wick_link(1, &cut, &t, &mem, section);
    if (!s) fail_msg("%zu of %zu bytes are taken", n, object.nbytes);
    wick_arena_rewind(&mem, mark);
  }
}

int main(void)
{
  if (!mkdtemp(folder)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(objects_call_each_other_and_outside, setup, teardown),
      cmocka_unit_test_setup_teardown(objects_of_aarch64, setup, teardown),
      cmocka_unit_test_setup_teardown(objects_of_riscv64, setup, teardown),
      cmocka_unit_test_setup_teardown(what_is_not_code_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(a_function_is_defined_once, setup, teardown),
      cmocka_unit_test_setup_teardown(every_truncation_of_an_object_ends_well, setup, teardown),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  if (!link_shell("rm -rf %s", folder)) return 1;
  return failed;
}
