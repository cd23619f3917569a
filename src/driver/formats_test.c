/* Models of each format: every allocation of their import fails in turn. */
#include "base/torture.h"
#include "driver/compile_testing.h"

/* From the tests of the formats, and the seeds of their fuzzers. */
static const char *const formats[] = {
    "tests/fuzz/caffe/layers0.prototxt",
    "tests/fuzz/caffe2/rows.pb",
    "tests/fuzz/coreml/bilstm.mlmodel",
    "tests/fuzz/coreml/branch_0.mlmodel",
    "tests/fuzz/coreml/classic_image.mlmodel",
    "tests/fuzz/mxnet/operators0.json",
    "tests/fuzz/tflite/conv_2d.tflite",
    "tests/fuzz/tflite/softmax.tflite",
    "tests/import/tensorflow/saved_signatures/saved",
    "tests/import/tensorflow_states/counter",
    "tests/import/tensorflow_states/flow",
    "tests/keras/stateful/lstm.h5",
    "tests/keras/stateful/masked.keras",
    "tests/tflite/files/ring.tflite",
};

static void out_of_memory(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(formats); i++) {
    bool failed = true;
    for (uint64_t n = 1; failed; n++) {
      wick_torture torture = {.fail_at = n};
      wick_options o = {.size = sizeof o, .allocator = wick_torture_allocator(&torture)};
      fixture t = {0};
      wick_error *e = wick_context_create(&o, &t.context);
      if (!e) e = wick_load(t.context, formats[i], &t.model);
      failed = e != NULL;
      if (e) assert_int_equal(wick_error_code(e), WICK_ENOMEM);
      wick_error_free(e);
      end(&t);
      assert_int_equal(torture.live, 0);
      if (!failed) assert_true(n > 10);
    }
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(out_of_memory)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
