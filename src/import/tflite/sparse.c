/* Sparse constants: the dense elements that a file stores in compressed form.
 *
 * The stored dimensions are those of the tensor, then those of its blocks, in the order of the
 * traversal. Each is dense, or lists the indices of its parts that are stored (CSR). */
#include "import/tflite/model.h"

#include <string.h>

enum { SPARSE_LEVELS = 2 * WICK_MAX_RANK, SPARSE_MOST = 1 << 28 };

typedef struct sparse_level {
  bool compressed;
  int64_t size; /* of a dense dimension */
  wick_flat_list segments, indices;
  uint32_t segment_bytes, index_bytes;
} sparse_level;

typedef struct sparse_state {
  const wick_tflite_tensor *t;
  uint32_t nlevel;
  sparse_level level[SPARSE_LEVELS];
  uint32_t axis[SPARSE_LEVELS]; /* of the tensor */
  int64_t step[SPARSE_LEVELS];  /* elements of that axis for each index of the level */
  int64_t stride[WICK_MAX_RANK];
  size_t bytes, at; /* of an element; the next stored element */
  unsigned char *out;
  uint64_t numel;
} sparse_state;

static wick_flat_list sparse_list(wick_flat t, uint32_t kind, uint32_t field, uint32_t *out_bytes)
{
  uint64_t type = wick_flat_uint(t, kind, 1, 0);
  *out_bytes = type == 1 ? 4 : type == 2 ? 2 : 1;
  return type >= 1 && type <= 3 ? wick_flat_vector(wick_flat_table(t, field), 0, *out_bytes)
                                : (wick_flat_list){0};
}

static int64_t sparse_number(wick_flat_list l, int64_t i, uint32_t nbytes)
{
  if (i < 0 || i >= (int64_t)l.n) return -1;
  int64_t v = wick_flat_item_int(l, (uint32_t)i, nbytes);
  return nbytes < 4 ? v & (((int64_t)1 << 8 * nbytes) - 1) : v;
}

/* Copies the elements below a position; `position` counts the stored parts of the level before. */
static bool sparse_copy(sparse_state *s, uint32_t k, int64_t position, uint64_t offset)
{
  if (k == s->nlevel) {
    if (offset >= s->numel || s->at + s->bytes > s->t->data.nbytes) return false;
    memcpy(s->out + offset * s->bytes, s->t->data.at + s->at, s->bytes);
    s->at += s->bytes;
    return true;
  }
  const sparse_level *l = &s->level[k];
  uint64_t unit = (uint64_t)(s->step[k] * s->stride[s->axis[k]]);
  int64_t begin = 0, end = l->size;
  if (l->compressed) {
    begin = sparse_number(l->segments, position, l->segment_bytes);
    end = sparse_number(l->segments, position + 1, l->segment_bytes);
    if (begin < 0 || end < begin || end > (int64_t)l->indices.n) return false;
  }
  for (int64_t i = begin; i < end; i++) {
    int64_t index = l->compressed ? sparse_number(l->indices, i, l->index_bytes) : i;
    if (index < 0 || (uint64_t)index > s->numel) return false;
    if (!sparse_copy(s, k + 1, l->compressed ? i : position * l->size + i,
                     offset + (uint64_t)index * unit))
      return false;
  }
  return true;
}

/* Reads the levels. Returns false if they do not fit the tensor. */
static bool sparse_levels(sparse_state *s)
{
  const wick_tflite_tensor *t = s->t;
  wick_flat_list order = wick_flat_vector(t->sparsity, 0, 4),
                 map = wick_flat_vector(t->sparsity, 1, 4),
                 dims = wick_flat_vector(t->sparsity, 2, 4);
  int64_t block[WICK_MAX_RANK];
  s->nlevel = dims.n;
  if (dims.n > SPARSE_LEVELS || dims.n != t->rank + map.n || order.n != dims.n) return false;
  for (uint32_t k = 0; k < t->rank; k++) block[k] = 1;
  for (uint32_t k = 0; k < dims.n; k++) {
    wick_flat d = wick_flat_item(dims, k);
    int64_t at = wick_flat_item_int(order, k, 4);
    bool inner = at >= t->rank;
    int64_t axis = inner && at < dims.n ? wick_flat_item_int(map, (uint32_t)at - t->rank, 4) : at;
    sparse_level *l = &s->level[k];
    if (axis < 0 || axis >= t->rank) return false;
    s->axis[k] = (uint32_t)axis;
    s->step[k] = inner ? 1 : 0; /* of blocks: known after all levels */
    l->compressed = wick_flat_int(d, 0, 1, 0) == 1;
    l->size = wick_flat_int(d, 1, 4, 0);
    l->segments = sparse_list(d, 2, 3, &l->segment_bytes);
    l->indices = sparse_list(d, 4, 5, &l->index_bytes);
    if (l->size < 0 || (inner && l->size < 1)) return false;
    if (inner) block[axis] = l->size;
  }
  for (uint32_t k = 0; k < dims.n; k++)
    if (!s->step[k]) s->step[k] = block[s->axis[k]];
  return true;
}

wick_span wick_tflite_densify(wick_import *c, const wick_tflite_tensor *t, const char *location)
{
  sparse_state s = {.t = t, .numel = 1, .bytes = wick_elem_storage[t->elem].bits / 8};
  for (uint32_t k = t->rank; k-- > 0;) {
    s.stride[k] = (int64_t)s.numel;
    if (wick_mul_overflows(s.numel, (uint64_t)t->dim[k], &s.numel)) s.numel = 0;
  }
  bool good = s.numel && s.bytes && s.numel * s.bytes <= SPARSE_MOST && sparse_levels(&s);
  if (good) {
    s.out = wick_module_alloc(c->module, (size_t)s.numel * s.bytes);
    memset(s.out, 0, (size_t)s.numel * s.bytes);
    good = sparse_copy(&s, 0, 0, 0);
  }
  if (good) return (wick_span){s.out, (size_t)s.numel * s.bytes};
  wick_import_error(c, WICK_EPARSE, location, "its sparse data does not fit its shape");
  return (wick_span){0};
}
