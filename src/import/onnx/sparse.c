/* Reads a SparseTensorProto, values and their positions, as the dense tensor that it represents. */
#include <string.h>

#include "import/onnx/tensor.h"
#include "ir/element.h"

/* Limits on the size of the dense tensor. A file that exceeds them is an attack on memory, not a
 * model. */
enum { SPARSE_FREE = 64 << 20, SPARSE_FACTOR = 4096 };

/* Computes the dense tensor's sizes from the sparse one. */
static wick_status sparse_shape(const wick_onnx_sparse_tensor *s, const wick_onnx_data *values,
                                const char *location, wick_arena *mem, wick_onnx_data *out,
                                uint64_t *out_numel)
{
  if (s->dims.n > WICK_MAX_RANK)
    return wick_fail(mem, WICK_EUNSUPPORTED, location, "its rank is %zu, the most is %d", s->dims.n,
                     WICK_MAX_RANK);
  *out = (wick_onnx_data){.elem = values->elem, .rank = (uint32_t)s->dims.n};
  uint64_t numel = 1, most = (uint64_t)SPARSE_FREE + SPARSE_FACTOR * (values->nbytes + 1);
  bool empty = false;
  for (uint32_t i = 0; i < out->rank; i++) {
    int64_t d = out->dim[i] = s->dims.at[i];
    if (d < 0)
      return wick_fail(mem, WICK_ERANGE, location, "dimension %u is %lld", i, (long long)d);
    empty |= d == 0;
    if (d && (wick_mul_overflows(numel, (uint64_t)d, &numel) || numel > most))
      return wick_fail(mem, WICK_ELIMIT, location,
                       "its shape has more than %llu elements, for %llu bytes of values",
                       (unsigned long long)most, (unsigned long long)values->nbytes);
  }
  *out_numel = empty ? 0 : numel;
  out->nbytes = wick_elem_bytes(out->elem, *out_numel);
  if (out->nbytes > most)
    return wick_fail(mem, WICK_ELIMIT, location, "its shape has %llu bytes, for %llu of values",
                     (unsigned long long)out->nbytes, (unsigned long long)values->nbytes);
  return NULL;
}

/* Finds the position of value k. Its index is one number, or one for each dimension. */
static wick_status sparse_position(const wick_onnx_data *dense, uint64_t numel, uint64_t k,
                                   const int64_t *at, uint32_t n, const char *location,
                                   wick_arena *mem, uint64_t *out)
{
  *out = 0;
  for (uint32_t i = 0; i < n; i++) {
    uint64_t size = n == 1 && dense->rank != 1 ? numel : (uint64_t)dense->dim[i];
    if (at[i] < 0 || (uint64_t)at[i] >= size)
      return wick_fail(mem, WICK_ERANGE, location, "index %lld of value %llu is outside [0, %llu)",
                       (long long)at[i], (unsigned long long)k, (unsigned long long)size);
    *out = *out * size + (uint64_t)at[i];
  }
  return NULL;
}

static void sparse_store(wick_elem e, void *to, uint64_t at, const void *from, uint64_t k)
{
  size_t bits = wick_elem_storage[e].bits;
  if (bits < 8)
    wick_store_elem(e, to, at, wick_load_elem(e, from, k));
  else
    memcpy((char *)to + at * (bits / 8), (const char *)from + k * (bits / 8), bits / 8);
}

/* Allocates memory for the dense tensor and fills it with zeros; for strings, with the number of
 * the empty string. */
static unsigned char *sparse_alloc(const wick_onnx_outside *outside, const wick_onnx_data *dense,
                                   uint64_t numel, wick_arena *mem)
{
  wick_module *module = outside ? outside->module : NULL;
  size_t nbytes = (size_t)dense->nbytes;
  unsigned char *to =
      module ? wick_module_alloc(module, nbytes) : wick_arena_raw(mem, nbytes + 1, 64);
  memset(to, 0, nbytes);
  if (dense->elem == WICK_STRING && module) {
    int64_t empty = wick_string_table_add(&module->strings, "", 0, true);
    for (uint64_t i = 0; i < numel; i++) memcpy(to + i * sizeof empty, &empty, sizeof empty);
  }
  return to;
}

wick_status wick_onnx_sparse_read(const wick_onnx_sparse_tensor *s,
                                  const wick_onnx_outside *outside, const char *location,
                                  wick_arena *mem, wick_onnx_data *out)
{
  wick_onnx_data values, indices;
  uint64_t numel = 0, before = 0;
  if (!s->values || !s->indices)
    return wick_fail(mem, WICK_EPARSE, location, "a sparse tensor has values and indices");
  WICK_TRY(wick_onnx_tensor_read(s->values, outside, location, mem, &values));
  WICK_TRY(wick_onnx_tensor_read(s->indices, outside, location, mem, &indices));
  WICK_TRY(sparse_shape(s, &values, location, mem, out, &numel));
  uint32_t each = indices.rank == 2 ? out->rank : 1;
  if (values.rank != 1 || indices.elem != WICK_I64 || indices.rank < 1 || indices.rank > 2 ||
      indices.dim[0] != values.dim[0] || (indices.rank == 2 && indices.dim[1] != out->rank))
    return wick_fail(mem, WICK_EPARSE, location,
                     "a sparse tensor of rank %u has values [n] and indices [n] or [n,%u], in i64",
                     out->rank, out->rank);
  unsigned char *to = sparse_alloc(outside, out, numel, mem);
  for (uint64_t k = 0; k < (uint64_t)values.dim[0]; k++) {
    int64_t at[WICK_MAX_RANK];
    uint64_t position;
    memcpy(at, (const char *)indices.data + k * each * sizeof *at, each * sizeof *at);
    WICK_TRY(sparse_position(out, numel, k, at, each, location, mem, &position));
    if (position >= numel || (k && position <= before))
      return wick_fail(mem, WICK_EPARSE, location, "its indices do not ascend, at value %llu",
                       (unsigned long long)k);
    sparse_store(out->elem, to, position, values.data, k);
    before = position;
  }
  out->data = to;
  return NULL;
}
