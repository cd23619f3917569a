/* Fuzzes the ONNX reader: messages, then the elements of every initializer. */
#include <setjmp.h>
#include <stdlib.h>

#include "fuzz.h"
#include "import/onnx/tensor.h"

/* What an input of that size may take in all. Varints grow eightfold, structs by WICK_WIRE_GROWTH;
 * the rest is chunks. */
static uint64_t fuzz_limit(size_t nbytes)
{
  return (uint64_t)(2 * WICK_WIRE_GROWTH) * nbytes + (4u << 20);
}

static void fuzz_read(const uint8_t *bytes, size_t nbytes, wick_arena *mem)
{
  void *message;
  if (wick_wire_decode(&wick_onnx_model_message, (wick_span){bytes, nbytes}, "fuzz.onnx", mem,
                       &message))
    return;
  const wick_onnx_model *m = message;
  for (size_t i = 0; m->graph && i < m->graph->initializer.n; i++) {
    wick_onnx_data d;
    wick_mark mark = wick_arena_mark(mem);
    if (!wick_onnx_tensor_read(&m->graph->initializer.at[i], NULL, "fuzz.onnx", mem, &d)) {
      volatile uint8_t sum = 0;
      for (uint64_t k = 0; k < d.nbytes; k += 61)
        sum = (uint8_t)(sum + ((const uint8_t *)d.data)[k]);
    }
    wick_arena_rewind(mem, mark);
  }
}

static void fuzz_onnx(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = fuzz_limit(nbytes)};
  wick_arena mem = wick_arena_make(&guard);
  if (setjmp(guard.where)) abort(); /* it wanted more than its size allows */
  fuzz_read(bytes, nbytes, &mem);
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const patterns[] = {"../shared/models/*/*.onnx",
                                         "../shared/frontends/onnx-torch/*/*.onnx", NULL};
  static const wick_fuzz f = {"fuzz_onnx", patterns, 400000, fuzz_onnx};
  return wick_fuzz_main(&f, argc, argv);
}
