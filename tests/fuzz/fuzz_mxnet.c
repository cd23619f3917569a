/* Fuzzes the import of MXNet's symbols and parameters. */
#include "import/mxnet/mxnet.h"
#include "import/mxnet/symbol.h"
#include "importer.h"

/* The same bytes as a file of parameters. */
static void fuzz_params(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(),
                      .limit_bytes = (uint64_t)4096 * nbytes + (64u << 20)};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) abort();
  mxnet_model model = {.names = wick_names_begin(&mem)};
  wick_import c = {.tmp = &mem, .mem = &mem};
  wick_status s = wick_mxnet_params(&c, &model, (wick_span){bytes, nbytes}, "fuzz.params");
  (void)s; /* any status is fine */
  wick_arena_free(&mem);
}

static void fuzz_mxnet(const uint8_t *bytes, size_t nbytes)
{
  const wick_import_options o = {.shape = wick_fuzz_shapes, .nshape = WICK_COUNT(wick_fuzz_shapes)};
  wick_fuzz_import(wick_import_mxnet, "fuzz.json", bytes, nbytes, &o);
  fuzz_params(bytes, nbytes);
}

int main(int argc, char **argv)
{
  static const char *const pattern[] = {"tests/fuzz/mxnet/*",
                                        "../shared/frontends/mxnet/*/*-symbol.json", NULL};
  const wick_fuzz f = {.name = "mxnet", .pattern = pattern, .most = 100000, .run = fuzz_mxnet};
  return wick_fuzz_main(&f, argc, argv);
}
