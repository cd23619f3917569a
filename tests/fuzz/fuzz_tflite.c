/* Fuzzes the import of TensorFlow Lite models: the reader of FlatBuffers, and the nodes. */
#include "import/tflite/tflite.h"
#include "importer.h"

static void fuzz_tflite(const uint8_t *bytes, size_t nbytes)
{
  const wick_import_options o = {.max_nodes = 10000};
  wick_fuzz_import(wick_import_tflite, "fuzz.tflite", bytes, nbytes, &o);
}

int main(int argc, char **argv)
{
  static const char *const patterns[] = {
      "tests/fuzz/tflite/*.tflite", "tests/tflite/files/*.tflite",
      "tests/tflite/operators/*.tflite", "../shared/frontends/tflite-*/*/*.tflite", NULL};
  static const wick_fuzz f = {"fuzz_tflite", patterns, 100000, fuzz_tflite};
  return wick_fuzz_main(&f, argc, argv);
}
