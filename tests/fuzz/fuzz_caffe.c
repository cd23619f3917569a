/* Fuzzes the import of Caffe's networks, in text and binary. */
#include "import/caffe/caffe.h"
#include "importer.h"

static void fuzz_caffe(const uint8_t *bytes, size_t nbytes)
{
  const wick_import_options o = {.max_nodes = 10000};
  wick_fuzz_import(wick_import_caffe, "fuzz.prototxt", bytes, nbytes, &o);
}

int main(int argc, char **argv)
{
  static const char *const pattern[] = {"tests/fuzz/caffe/*", NULL};
  const wick_fuzz f = {.name = "caffe", .pattern = pattern, .most = 100000, .run = fuzz_caffe};
  return wick_fuzz_main(&f, argc, argv);
}
