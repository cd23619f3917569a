/* Fuzzes the ONNX importer: messages, tensors, operators and inference. Accepted models must pass
 * the verifier and be printable. */
#include <setjmp.h>
#include <stdlib.h>

#include "fuzz.h"
#include "import/onnx/onnx.h"
#include "ir/text.h"
#include "ir/verify.h"

/* The memory that an input of this size may use: nodes that functions expand into, structs, and
 * chunks. */
static uint64_t fuzz_limit(size_t nbytes) { return (uint64_t)1024 * nbytes + (512u << 20); }

static void fuzz_import(wick_guard *guard, wick_arena *mem, wick_module **m, const uint8_t *bytes,
                        size_t nbytes)
{
  *m = wick_module_create(guard, "");
  bool described = false;
  const wick_import_options options = {.described = &described};
  const wick_func *f;
  if (wick_import_onnx(*m, (wick_span){bytes, nbytes}, "fuzz.onnx", &options, mem, mem, &f)) return;
  if (wick_verify_func(f, mem)) abort(); /* the importer built an invalid function */
  wick_text text = wick_text_begin(mem);
  wick_print_module(*m, WICK_PRINT_ALL, &text);
}

static void fuzz_onnx(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = fuzz_limit(nbytes)};
  wick_arena mem = wick_arena_make(&guard);
  wick_module *m = NULL;
  if (setjmp(guard.where)) abort(); /* it used more memory than its size allows */
  fuzz_import(&guard, &mem, &m, bytes, nbytes);
  wick_module_free(m);
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const patterns[] = {"tests/fuzz/onnx/*.onnx", "../shared/models/*/*.onnx",
                                         "../shared/frontends/onnx-torch/*/*.onnx", NULL};
  static const wick_fuzz f = {"fuzz_onnx", patterns, 400000, fuzz_onnx};
  return wick_fuzz_main(&f, argc, argv);
}
