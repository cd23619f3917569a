/* Bundles within the process: names, the header's text, errors, memory that runs out. tests/bundle
 * tests the results of bundles. */
#include "driver/bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena_testing.h"
#include "base/torture.h"
#include "target/target.h"

static char folder[] = "/tmp/wick-bundle-XXXXXX";

static int make_folder(void **state)
{
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
  char command[64];
  (void)state;
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

/* ---- names ---- */

static void names_are_made_of_paths(void **state)
{
  (void)state;
  static const struct {
    const char *path, *name;
  } rows[] = {
      {"digits.onnx", "digits"},    {"a/b/Res-Net.50.onnx", "Res_Net_50"},
      {"7up.onnx", "net_7up"},      {"while.onnx", "net_while"},
      {"main.onnx", "net_main"},    {"_x.onnx", "net_x"},
      {".onnx", "net_onnx"},        {"", "net_"},
      {"memset", "net_memset"},     {"caf\xc3\xa9.onnx", "caf__"},
      {"/tmp/x y;z.onnx", "x_y_z"},
  };
  for (uint32_t i = 0; i < WICK_COUNT(rows); i++)
    assert_string_equal(wick_bundle_name(rows[i].path, &mem), rows[i].name);
  char longer[400];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = 0;
  assert_int_equal(strlen(wick_bundle_name(longer, &mem)), 100);
}

/* ---- the header ---- */

static void the_header_says_everything(void **state)
{
  (void)state;
  static const wick_io io[] = {
      {.name = "a \"b\"\\\n*/?", .elem = WICK_F16, .rank = 2, .dim = {3, 5}, .nbytes = 30},
      {.name = "n", .elem = WICK_I64, .rank = 0, .nbytes = 8},
      {.name = "", .elem = WICK_BOOL, .rank = 3, .dim = {4, 0, 2}, .nbytes = 0},
  };
  static const uint64_t offset[] = {0, 64, 128};
  static const char *const needs[] = {"memcpy", "__aeabi_dadd", "__aeabi_dmul", "__aeabi_d2iz",
                                      "__aeabi_i2d"};
  wick_target t;
  assert_true(wick_target_find("cortex-m4", &t));
  wick_bundle b = {.name = "Net",
                   .target = &t,
                   .embed = true,
                   .ninput = 2,
                   .noutput = 1,
                   .io = io,
                   .offset = offset,
                   .constant_bytes = 64,
                   .mutable_bytes = 192,
                   .arena_bytes = 4096,
                   .contract = "x: sums */ of\nnet.loop: sum: f32 add over k:4; exact",
                   .needs = needs,
                   .nneed = 5};
  static const char *const wanted[] = {
      "/* Net.h: a network as a function of C.",
      " * For cortex-m4 (single precision in hardware).\n",
      " * Net.o needs from outside: memcpy, __aeabi_dadd, __aeabi_dmul, __aeabi_d2iz,\n"
      " *   __aeabi_i2d.\n",
      "if (Net(Net_constants, data, arena)) return 3;",
      "/* The numbers, and the order in which each kernel computes them:\n"
      " *   x: sums / of\n *   net.loop: sum: f32 add over k:4; exact\n */\n",
      "#define NET_TARGET \"cortex-m4\"\n",
      "#define NET_ALIGN 64\n#define NET_CONSTANTS_BYTES 64\n#define NET_MUTABLE_BYTES 192\n"
      "#define NET_ARENA_BYTES 4096\n",
      "#define WICK_BUNDLE_EALIGN 102 ",
      "#define WICK_BUNDLE_F16 2\n#define WICK_BUNDLE_I64 10\n#define WICK_BUNDLE_BOOL 22\n",
      "#define NET_INPUT_0_NAME \"a \\042b\\042\\134\\012*/\\077\"\n"
      "#define NET_INPUT_0_TYPE WICK_BUNDLE_F16\n"
      "#define NET_INPUT_0_RANK 2\n"
      "#define NET_INPUT_0_SHAPE {3, 5}\n"
      "#define NET_INPUT_0_ELEMENTS 15\n"
      "#define NET_INPUT_0_BYTES 30\n"
      "#define NET_INPUT_0_OFFSET 0\n"
      "#define NET_INPUT_0(mutable_data) \\\n"
      "  ((unsigned short *)(void *)((char *)(mutable_data) + NET_INPUT_0_OFFSET))\n",
      "#define NET_INPUT_1_RANK 0\n#define NET_INPUT_1_SHAPE {1}\n#define NET_INPUT_1_ELEMENTS 1\n",
      "#define NET_OUTPUT_0_SHAPE {4, 0, 2}\n#define NET_OUTPUT_0_ELEMENTS 0\n",
      "extern const unsigned char Net_constants[NET_CONSTANTS_BYTES];\n",
      "int Net(const void *constants, void *mutable_data, void *arena);\n",
  };
  wick_text h = wick_text_begin(&mem);
  wick_bundle_header(&b, &mem, &h);
  const char *at = h.at;
  for (uint32_t i = 0; i < WICK_COUNT(wanted); i++) {
    const char *found = strstr(at, wanted[i]); /* in this order */
    if (!found) fail_msg("after\n%.300s\nthere is no\n%s", at, wanted[i]);
    at = found + strlen(wanted[i]);
  }
  assert_null(strstr(h.at, "*/?"));
}

/* ---- from models ---- */

static const char small_text[] = "constant @w : f32[3,2] = [1, 2, 3, 4, 5, 6]\n"
                                 "graph @main(%x: f32[4,3]) -> f32[4,2] {\n"
                                 "  %1 = const @w : f32[3,2]\n"
                                 "  %2 = matmul %x, %1 : f32[4,2]\n"
                                 "  return %2\n"
                                 "}\n";

/* Writes a bundle of the text. The caller frees the error. */
static wick_error *bundle_write(const wick_options *options, const char *text, const char *target,
                                const char *into)
{
  wick_context *context = NULL;
  wick_model *model = NULL;
  wick_compile_options o = {.size = sizeof o, .target = target};
  wick_bundle_options b = {.size = sizeof b, .folder = into};
  wick_error *e = wick_context_create(options, &context);
  if (!e) e = wick_load_bytes(context, "net.wick", text, strlen(text), &model);
  if (!e) e = wick_bundle_write(model, &o, &b);
  wick_model_free(model);
  wick_context_free(context);
  return e;
}

/* Finds the line of the contract that the header shows in its comment. */
static void contract_line(const char *header, const char *contract)
{
  for (const char *at = contract; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    const char *line = wick_str_printf(&mem, " *   %.*s\n", (int)strcspn(at, "\n"), at);
    if (!strstr(header, line)) fail_msg("there is no line%s", line);
  }
}

static bool have_codegen(void)
{
  wick_error *e = bundle_write(NULL, small_text, "wasm32", folder);
  bool missing = wick_error_code(e) == WICK_EIO;
  if (missing) print_message("skipped: %s\n", wick_error_message(e));
  wick_error_free(e);
  return !missing;
}

static void refused(wick_error *e, wick_code code, const char *what)
{
  assert_int_equal(wick_error_code(e), code);
  if (!strstr(wick_error_message(e), what)) fail_msg("\"%s\"", wick_error_message(e));
  wick_error_free(e);
}

static void more_than_a_machine_can_address_is_refused(void **state)
{
  (void)state;
  static const char large[] = "graph @main(%x: f32[400000000]) -> f32[400000000] {\n"
                              "  %1 = relu %x\n  return %1\n}\n";
  if (!have_codegen()) skip();
  const char *into = wick_path_join(&mem, folder, "large");
  refused(bundle_write(NULL, large, "cortex-m4", into), WICK_ELIMIT,
          "net.wick: it needs 3200000128 bytes of memory, more than a program for cortex-m4");
  assert_false(wick_file_exists(into));
  wick_error *e = bundle_write(NULL, large, "armv8-a", into);
  if (e) print_error("%s\n", wick_error_message(e));
  assert_null(e);
}

/* A bundle has the same contract, line by line, as the compiled model. On a machine without fused
 * multiply-add it is different. */
static void the_contract_is_that_of_the_process(void **state)
{
  (void)state;
  if (!have_codegen()) skip();
  static const char *const target[] = {"x86-64-v4", "x86-64-v2", "armv8-a"};
  static const char *const sum[] = {"f32 fma over k:3", "f32 mul add over k:3", "f32 fma over k:3"};
  for (uint32_t i = 0; i < WICK_COUNT(target); i++) {
    const char *into = wick_path_join(&mem, folder, target[i]);
    wick_context *context = NULL;
    wick_model *model = NULL;
    wick_compiled *compiled = NULL;
    wick_compile_options o = {.size = sizeof o, .target = target[i], .cache = ""};
    assert_null(bundle_write(NULL, small_text, target[i], into));
    assert_null(wick_context_create(NULL, &context));
    assert_null(wick_load_bytes(context, "net.wick", small_text, strlen(small_text), &model));
    char *header;
    size_t n;
    assert_null(wick_file_read(&mem, wick_path_join(&mem, into, "net.h"), 0, &header, &n));
    header = wick_str_dupn(&mem, header, n);
    assert_non_null(strstr(header, sum[i]));
    assert_null(wick_compile(model, &o, &compiled));
    contract_line(header, wick_compiled_contract(compiled));
    wick_compiled_free(compiled);
    wick_model_free(model);
    wick_context_free(context);
  }
}

static bool stop(void *arg)
{
  (void)arg;
  return true;
}

static void work_that_is_canceled_leaves_nothing(void **state)
{
  (void)state;
  const char *into = wick_path_join(&mem, folder, "canceled");
  wick_options o = {.size = sizeof o, .cancel = stop};
  wick_error *e = bundle_write(&o, small_text, "wasm32", into);
  assert_int_equal(wick_error_code(e), WICK_ECANCELED);
  wick_error_free(e);
  assert_false(wick_file_exists(into));
}

static void running_out_of_memory_is_an_error_everywhere(void **state)
{
  (void)state;
  if (!have_codegen()) skip();
  const char *into = wick_path_join(&mem, folder, "torture");
  for (uint64_t n = 1;; n++) {
    wick_torture torture = {.fail_at = n};
    wick_options o = {.size = sizeof o, .allocator = wick_torture_allocator(&torture)};
    wick_error *e = bundle_write(&o, small_text, "wasm32", into);
    bool failed = e != NULL;
    if (failed) assert_int_equal(wick_error_code(e), WICK_ENOMEM);
    wick_error_free(e);
    assert_int_equal(torture.live, 0);
    if (!failed) break;
    assert_true(n < 1000);
  }
  static const char *const file[] = {"net.o", "net.h", "net.weights.bin"};
  for (uint32_t i = 0; i < WICK_COUNT(file); i++)
    assert_true(wick_file_exists(wick_path_join(&mem, into, file[i])));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(names_are_made_of_paths, setup, teardown),
      cmocka_unit_test_setup_teardown(the_header_says_everything, setup, teardown),
      cmocka_unit_test_setup_teardown(the_contract_is_that_of_the_process, setup, teardown),
      cmocka_unit_test_setup_teardown(more_than_a_machine_can_address_is_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(work_that_is_canceled_leaves_nothing, setup, teardown),
      cmocka_unit_test_setup_teardown(running_out_of_memory_is_an_error_everywhere, setup,
                                      teardown),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
