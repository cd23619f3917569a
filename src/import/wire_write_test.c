/* Tests the writer of protobuf messages: its output reads as the same structs and is as short as
 * possible. */
#include "import/wire_write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "import/onnx/proto.h"
#include "import/wire_testing.h"

static wick_guard guard;
static wick_arena mem;

static int begin(void **state)
{
  (void)state;
  guard = (wick_guard){.allocator = wick_allocator_malloc()};
  mem = wick_arena_make(&guard);
  return setjmp(guard.where);
}

static int end(void **state)
{
  (void)state;
  wick_arena_free(&mem);
  return 0;
}

static wick_text joined(const wick_wire_parts *p)
{
  wick_text t = wick_text_begin(&mem);
  for (size_t i = 0; i < p->n; i++) wick_text_addn(&t, p->at[i].at, p->at[i].nbytes);
  assert_int_equal(t.n, p->nbytes);
  return t;
}

static wick_text written(const wick_wire_message *m, const void *value)
{
  wick_wire_parts p;
  assert_null(wick_wire_encode(m, value, "f", &mem, &p));
  return joined(&p);
}

/* A model with every kind of field, in the order of the tables. */
static wick_text model_bytes(size_t nraw)
{
  wick_text model = wick_text_begin(&mem), graph = wick_text_begin(&mem),
            node = wick_text_begin(&mem), attr = wick_text_begin(&mem),
            tensor = wick_text_begin(&mem), list = wick_text_begin(&mem);
  put_str(&node, 1, "x");
  put_str(&node, 1, "");
  put_str(&node, 2, "y");
  put_str(&node, 4, "Op");
  put_str(&attr, 1, "a");
  put_f32(&attr, 2, -1.5f);
  put_bytes(&attr, 7, (const float[]){3.f, 4.f}, 8);
  put_varint(&list, 2);
  put_varint(&list, (uint64_t)-3);
  put_part(&attr, 8, &list);
  put_i64(&attr, 20, 7);
  put_part(&node, 5, &attr);
  put_part(&graph, 1, &node);
  put_part(&tensor, 1, &list);
  put_i64(&tensor, 2, 1);
  put_str(&tensor, 8, "w");
  char *raw = wick_arena_alloc(&mem, nraw, 1);
  for (size_t i = 0; i < nraw; i++) raw[i] = (char)i;
  put_bytes(&tensor, 9, raw, nraw);
  put_part(&graph, 5, &tensor);
  put_i64(&model, 1, -8);
  put_str(&model, 2, "producer");
  put_part(&model, 7, &graph);
  return model;
}

static void what_is_read_is_written_again(void **state)
{
  (void)state;
  for (size_t nraw = 1; nraw < 300000; nraw = nraw * 3 + 1) {
    wick_text bytes = model_bytes(nraw);
    void *model;
    assert_null(wick_wire_decode(&wick_onnx_model_message, put_span(&bytes), "f", &mem, &model));
    wick_text again = written(&wick_onnx_model_message, model);
    assert_int_equal(again.n, bytes.n);
    assert_memory_equal(again.at, bytes.at, bytes.n);
  }
}

static void large_bytes_are_not_copied(void **state)
{
  (void)state;
  static const unsigned char raw[100000];
  const wick_onnx_tensor t = {.data_type = 1, .raw_data = {raw, sizeof raw}};
  wick_wire_parts p;
  assert_null(wick_wire_encode(&wick_onnx_tensor_message, &t, "f", &mem, &p));
  bool there = false;
  for (size_t i = 0; i < p.n; i++) there |= p.at[i].at == raw && p.at[i].nbytes == sizeof raw;
  assert_true(there);
}

static void zeros_are_written_where_they_are_said_to_be_there(void **state)
{
  (void)state;
  wick_onnx_tensor t = {.data_type = 0};
  assert_int_equal(written(&wick_onnx_tensor_message, &t).n, 0);
  t.has = 1u << 2;
  assert_int_equal(written(&wick_onnx_tensor_message, &t).n, 2);
}

static void limits(void **state)
{
  (void)state;
  enum { DEEP = 60 };
  wick_onnx_graph g[DEEP];
  wick_onnx_node n[DEEP];
  wick_onnx_attr a[DEEP];
  for (int i = 0; i < DEEP; i++) { /* graph, node, attribute: three levels each */
    g[i] = (wick_onnx_graph){.node = {&n[i], 1}};
    n[i] = (wick_onnx_node){.attribute = {&a[i], 1}};
    a[i] = (wick_onnx_attr){.g = i + 1 < DEEP ? &g[i + 1] : NULL};
  }
  const wick_onnx_model m = {.graph = g};
  wick_wire_parts p;
  wick_status s = wick_wire_encode(&wick_onnx_model_message, &m, "f", &mem, &p);
  assert_non_null(s);
  assert_string_equal(s->message, "f: messages are nested more than 100 deep");
  static const unsigned char byte;
  const wick_onnx_tensor t = {.raw_data = {&byte, (size_t)INT32_MAX}}; /* only counted */
  s = wick_wire_encode(&wick_onnx_tensor_message, &t, "f", &mem, &p);
  assert_non_null(s);
  assert_string_equal(s->message,
                      "f: it needs 2147483653 bytes, but a message has at most 2147483647");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_read_is_written_again, begin, end),
      cmocka_unit_test_setup_teardown(large_bytes_are_not_copied, begin, end),
      cmocka_unit_test_setup_teardown(zeros_are_written_where_they_are_said_to_be_there, begin,
                                      end),
      cmocka_unit_test_setup_teardown(limits, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
