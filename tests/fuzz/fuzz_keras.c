/* Fuzzes the importer of Keras' files: archives and HDF5. */
#include "import/keras/keras.h"
#include "importer.h"

static void fuzz_keras(const uint8_t *bytes, size_t nbytes)
{
  const wick_import_options o = {.max_nodes = 10000};
  wick_fuzz_import(wick_import_keras, "fuzz", bytes, nbytes, &o);
}

int main(int argc, char **argv)
{
  static const char *const pattern[] = {"tests/keras/files/*.keras", "tests/keras/files/*.h5",
                                        "tests/keras/stateful/*.keras", NULL};
  const wick_fuzz f = {.name = "keras", .pattern = pattern, .most = 1 << 20, .run = fuzz_keras};
  return wick_fuzz_main(&f, argc, argv);
}
