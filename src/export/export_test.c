/* Tests that exported graphs read back as the same text, or as the composition that replaces it,
 * and that the export reports all nodes that ONNX cannot express. */
#include "export/export.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "import/onnx/onnx.h"
#include "ir/op.h"
#include "ir/text.h"
#include "ir/verify.h"

static wick_guard guard;
static wick_arena mem, tmp;
static wick_module *module, *back;

static int begin(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  tmp = wick_arena_make(&guard);
  return setjmp(guard.where);
}

static int end(void **state)
{
  (void)state;
  wick_module_free(module);
  wick_module_free(back);
  module = back = NULL;
  wick_arena_free(&tmp);
  wick_arena_free(&mem);
  return 0;
}

/* ---- the registry ---- */

/* Graph operators that ONNX cannot express: packed operands, which only passes make; ends of
 * regions; random numbers by a key, because each library defines its own streams for ONNX's; data,
 * references, function values, effects and transformations of functions; and operators whose export
 * is not written yet. Remove an operator from this list when its export exists. */
static const char without[] =
    " affine_gather apply assert barrier checkpoint closure construct conv_packed "
    "conv_weight_grad conv_weight_grad_packed conv_winograd depthwise_packed "
    "gru_step jvp lstm_step matmul_packed non_max_suppression object_free object_release "
    "object_retain object_take pack pairwise_coupling phases_to_space print random "
    "ref_get ref_new ref_set regex_replace resample return stop_gradient string_compare "
    "string_find "
    "string_hash string_length string_replace string_slice string_strip switch tree_walk unpack "
    "unpool value_and_grad vjp vmap wait with_vjp yield ";

static void rows_without_a_form_are_these(void **state)
{
  (void)state;
  for (wick_opcode op = 1; op < WICK_NOP; op++) {
    char word[64];
    snprintf(word, sizeof word, " %s ", wick_ops[op]->name);
    bool want = (wick_ops[op]->level & WICK_GRAPH) && !strstr(without, word);
    if (wick_export_has(op) != want)
      fail_msg("%s has %s form in ONNX", wick_ops[op]->name, want ? "no" : "a");
  }
}

/* ---- there and back ---- */

static const wick_func *parsed(const char *text)
{
  wick_module_free(module);
  module = wick_module_create(&guard, "");
  wick_status s = wick_parse_module(module, "t", text, strlen(text), &tmp);
  if (s) fail_msg("%s", s->message);
  return wick_module_find(module, "main");
}

static wick_text joined(const wick_wire_parts *p)
{
  wick_text t = wick_text_begin(&mem);
  for (size_t i = 0; i < p->n; i++) wick_text_addn(&t, p->at[i].at, p->at[i].nbytes);
  return t;
}

static const char *printed(wick_module *m)
{
  wick_text t = wick_text_begin(&mem);
  wick_print_module(m, WICK_PRINT_NAMES | WICK_PRINT_LOCS, &t);
  return t.at;
}

/* Returns the text that an exported graph reads back as, or the error. */
static const char *there_and_back(const char *text)
{
  const wick_func *f = parsed(text), *g;
  const wick_export_options o = {.data_name = "m.onnx.data"};
  wick_export_result r;
  wick_status s = wick_export_onnx(module, f, "t", &o, &mem, &r);
  if (s) return s->message;
  wick_text bytes = joined(&r.model);
  wick_module_free(back);
  back = wick_module_create(&guard, "");
  wick_span span = {(const unsigned char *)bytes.at, bytes.n};
  s = wick_import_onnx(back, span, "m.onnx", NULL, &mem, &tmp, &g);
  if (!s) s = wick_verify_func(g, &tmp);
  return s ? s->message : printed(back);
}

#define META "metadata \"onnx.producer_name\" = \"wick\"\nmetadata \"onnx.graph.name\" = \"main\"\n"

/* If a row has no expected text, the text must stay the same. */
static const struct {
  const char *text, *want;
} rows[] = {
    {META "graph @main(%x: f32[N[1..536870912],3]) -> f32[N,3] {\n"
          "  %0 = relu %x : f32[N,3] as \"y\" loc(\"m.onnx: node \\\"a\\\" (Relu)\")\n"
          "  return %0\n}\n",
     NULL},
    {META "graph @main(%x: f32[2,3], %k: i64[]) -> f32[2,3] {\n"
          "  %0 = ne %x, %x\n  %1 = not %0\n  return %x\n}\n",
     META "graph @main(%x: f32[2,3], %k: i64[]) -> f32[2,3] {\n"
          "  %0 = reshape %x {shape=[2, 3]} : f32[2,3] as \"x/Identity\" loc(\"m.onnx: output "
          "\\\"x/Identity\\\"\")\n"
          "  return %0\n}\n"},
    {"graph @main(%x: tuple<f32[4]>) -> tuple<f32[4]> {\n  return %x\n}\n",
     "t: \"x\" is not a tensor, and ONNX has no type for it\n"
     "t: \"x/Identity\" is not a tensor, and ONNX has no type for it"},
};

static void graphs_go_there_and_back(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    const char *got = there_and_back(rows[i].text), *want = rows[i].want;
    if (!want) {
      parsed(rows[i].text);
      want = printed(module);
    }
    assert_string_equal(got, want);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(rows_without_a_form_are_these, begin, end),
      cmocka_unit_test_setup_teardown(graphs_go_there_and_back, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
