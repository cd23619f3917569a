/* Fuzzes the readers of HDF5 and of zip archives: all groups are listed, all data and some
 * attributes are read. */
#include <setjmp.h>
#include <stdlib.h>

#include "fuzz.h"
#include "import/hdf5/hdf5.h"
#include "import/zip.h"

enum { FUZZ_DEPTH = 8, FUZZ_OBJECTS = 200 };

static void fuzz_object(wick_hdf5 *f, wick_hdf5_object o, uint32_t depth, uint32_t *left)
{
  static const char *const names[] = {"text",         "names",  "attribute_07",
                                      "model_config", "shared", "weight_names"};
  wick_hdf5_array a;
  wick_hdf5_links links;
  wick_span s;
  bool found;
  for (size_t i = 0; i < WICK_COUNT(names); i++)
    if (!wick_hdf5_attribute(f, o, names[i], &found, &a) && found && wick_hdf5_string(f, &a, 0, &s))
      break;
  if (!wick_hdf5_read(f, o, &a) || !depth || wick_hdf5_list(f, o, &links)) return;
  for (uint32_t i = 0; i < links.n && *left; i++) {
    --*left;
    if (!links.at[i].soft) fuzz_object(f, (wick_hdf5_object){links.at[i].at}, depth - 1, left);
  }
}

static void fuzz_hdf5(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = (uint64_t)2 << 30};
  wick_arena mem = wick_arena_make(&guard);
  uint32_t left = FUZZ_OBJECTS;
  wick_span all = {bytes, nbytes}, s;
  wick_hdf5 *f;
  wick_zip z;
  if (setjmp(guard.where)) abort(); /* it used more memory than its size allows */
  if (!wick_hdf5_open(all, "fuzz", &mem, &f)) fuzz_object(f, wick_hdf5_root(f), FUZZ_DEPTH, &left);
  if (!wick_zip_open(all, "fuzz", &mem, &z))
    for (uint32_t i = 0; i < z.entries.n; i++)
      if (wick_zip_read(&z, &z.entries.at[i], &s)) break;
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const pattern[] = {"tests/hdf5/files/*.h5",
                                        "../shared/frontends/keras-v3/gru/*.keras",
                                        "../shared/frontends/keras-h5/gru/*.h5", NULL};
  const wick_fuzz f = {.name = "hdf5", .pattern = pattern, .most = 1 << 20, .run = fuzz_hdf5};
  return wick_fuzz_main(&f, argc, argv);
}
