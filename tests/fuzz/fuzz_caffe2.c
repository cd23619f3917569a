/* Fuzzes the import of Caffe2's networks. */
#include "import/caffe2/caffe2.h"
#include "importer.h"

static void fuzz_caffe2(const uint8_t *bytes, size_t nbytes)
{
  const wick_import_options o = {.shape = wick_fuzz_shapes, .nshape = WICK_COUNT(wick_fuzz_shapes)};
  wick_fuzz_import(wick_import_caffe2, "fuzz.pb", bytes, nbytes, &o);
}

int main(int argc, char **argv)
{
  static const char *const pattern[] = {"tests/fuzz/caffe2/*",
                                        "../shared/frontends/caffe2/*/predict_net.pb", NULL};
  const wick_fuzz f = {.name = "caffe2", .pattern = pattern, .most = 100000, .run = fuzz_caffe2};
  return wick_fuzz_main(&f, argc, argv);
}
