/* Arithmetic of memory references. An array is a list of dimensions with strides, and every
 * function visits the dimensions from the largest stride down. */
#include "low/memref.h"

#include <string.h>

/* Makes a reference for elements smaller than a byte, which have no addresses: to all bytes, in
 * one dimension. */
static wick_memref memref_packed(wick_memref p, const wick_module *m, wick_type t, int64_t *dim,
                                 int64_t *stride)
{
  const wick_type_info *info = wick_type_get(m, t);
  int64_t numel = 1;
  p.elem_bytes = 1;
  if (info->stride || p.offset < 0 || !wick_type_const_dims(info, dim)) return p;
  for (uint32_t k = 0; k < info->rank; k++)
    if (wick_mul_overflows(numel, dim[k], &numel)) return p;
  p.known = numel < INT64_MAX / 32 - p.offset;
  if (!p.known) return p;
  p.rank = 1;
  dim[0] = (int64_t)wick_elem_bytes(info->elem, (uint64_t)numel), stride[0] = 1;
  return p;
}

wick_memref wick_memref_make(const wick_module *m, wick_type t, wick_value root, int64_t offset,
                             wick_arena *mem)
{
  const wick_type_info *info = wick_type_get(m, t);
  wick_memref p = {.root = root, .rank = info->rank, .offset = offset, .choice = {.count = 1}};
  p.numel = wick_type_numel((wick_module *)(uintptr_t)m, t), p.size = info->dim;
  uint32_t bits = wick_elem_storage[info->elem].bits;
  int64_t *dim = wick_new(mem, int64_t, info->rank + 1),
          *stride = wick_new(mem, int64_t, info->rank + 1);
  p.dim = dim, p.stride = stride;
  p.elem_bytes = bits / 8;
  if (bits && bits < 8) return memref_packed(p, m, t, dim, stride);
  if (bits % 8 || !bits || offset < 0) return p;
  if (!wick_type_const_dims(info, dim)) {
    p.dynamic = !info->stride && !wick_dim_eq(p.numel, WICK_DIM_INVALID);
    return p;
  }
  int64_t numel = 1, end = 0;
  for (uint32_t k = info->rank; k-- > 0;) {
    stride[k] = numel;
    if (info->stride) {
      if (!wick_dim_is_const(info->stride[k]) || info->stride[k].v < 0) return p;
      stride[k] = info->stride[k].v;
    }
    int64_t last;
    if (wick_mul_overflows(numel, dim[k], &numel)) return p;
    if (dim[k] &&
        (wick_mul_overflows(dim[k] - 1, stride[k], &last) || wick_add_overflows(end, last, &end)))
      return p;
  }
  p.known = end < INT64_MAX / 32 - offset;
  return p;
}

bool wick_memref_resolved(const wick_memref *p) { return p->known || p->dynamic; }

/* Returns true if both are known to have the same number of bytes. */
static bool memref_as_large(const wick_memref *p, const wick_memref *q)
{
  return wick_dim_eq(p->numel, q->numel) && p->elem_bytes == q->elem_bytes;
}

bool wick_memref_covers(const wick_memref *p, const wick_memref *whole)
{
  return wick_memref_resolved(p) && wick_memref_contiguous(p) && p->offset == whole->offset &&
         !p->choice.index.id && memref_as_large(p, whole);
}

int64_t wick_memref_numel(const wick_memref *p)
{
  int64_t n = 1;
  for (uint32_t k = 0; k < p->rank; k++) n *= p->dim[k];
  return n;
}

int64_t wick_memref_end(const wick_memref *p)
{
  int64_t last = 0;
  for (uint32_t k = 0; k < p->rank; k++) {
    if (!p->dim[k]) return p->offset;
    last += (p->dim[k] - 1) * p->stride[k];
  }
  last += (p->choice.count - 1) * p->choice.step;
  return p->offset + (last + 1) * p->elem_bytes;
}

bool wick_memref_contiguous(const wick_memref *p)
{
  int64_t dense = 1;
  if (p->dynamic) return true;
  for (uint32_t k = p->rank; k-- > 0;) {
    if (p->dim[k] > 1 && p->stride[k] != dense) return false;
    dense *= p->dim[k];
  }
  return p->known;
}

bool wick_memref_same(const wick_memref *a, const wick_memref *b)
{
  if (a->dynamic || b->dynamic) {
    bool same = a->dynamic && b->dynamic && a->root.id == b->root.id && a->offset == b->offset &&
                a->elem_bytes == b->elem_bytes && a->rank == b->rank &&
                a->choice.index.id == b->choice.index.id &&
                (!a->choice.index.id || wick_dim_eq(a->row, b->row));
    for (uint32_t k = 0; same && k < a->rank; k++) same = wick_dim_eq(a->size[k], b->size[k]);
    return same;
  }
  bool same = a->known && b->known && a->root.id == b->root.id && a->offset == b->offset &&
              a->elem_bytes == b->elem_bytes && a->rank == b->rank &&
              a->choice.index.id == b->choice.index.id && a->choice.step == b->choice.step &&
              a->choice.count == b->choice.count && a->choice.reverse == b->choice.reverse;
  for (uint32_t k = 0; same && k < a->rank; k++)
    same = a->dim[k] == b->dim[k] && (a->dim[k] <= 1 || a->stride[k] == b->stride[k]);
  return same;
}

/* ---- dimensions by stride ---- */

typedef struct memref_axis {
  int64_t extent, stride; /* stride in bytes */
} memref_axis;

typedef struct memref_box { /* axes of more than one element, from the largest stride down */
  uint32_t n;
  memref_axis axis[WICK_MAX_RANK + 2];
  int64_t offset;
} memref_box;

/* Converts a reference to axes of bytes. The bytes of an element are an axis, so that different
 * element sizes compare, and so are the positions of a choice. */
static memref_box memref_box_of(const wick_memref *p)
{
  memref_box b = {.offset = p->offset};
  for (uint32_t k = 0; k <= p->rank + 1; k++) {
    memref_axis x = k < p->rank    ? (memref_axis){p->dim[k], p->stride[k] * p->elem_bytes}
                    : k == p->rank ? (memref_axis){p->elem_bytes, 1}
                                   : (memref_axis){p->choice.count, p->choice.step * p->elem_bytes};
    if (x.extent == 1) continue;
    uint32_t at = b.n++;
    for (; at > 0 && b.axis[at - 1].stride < x.stride; at--) b.axis[at] = b.axis[at - 1];
    b.axis[at] = x;
  }
  uint32_t n = 0; /* merges neighbours that are one longer axis */
  for (uint32_t i = 0; i < b.n; i++) {
    memref_axis *last = n ? &b.axis[n - 1] : NULL, x = b.axis[i];
    if (last && last->stride == x.stride * x.extent)
      *last = (memref_axis){last->extent * x.extent, x.stride};
    else
      b.axis[n++] = x;
  }
  b.n = n;
  return b;
}

/* Returns the bytes from the first element to the end of the last one, over the axes from `i`
 * on. */
static int64_t memref_span(const memref_box *b, uint32_t i)
{
  int64_t last = 0;
  for (; i < b->n; i++) last += (b->axis[i].extent - 1) * b->axis[i].stride;
  return last + 1;
}

bool wick_memref_injective(const wick_memref *p)
{
  if (p->dynamic) return true;
  if (!p->known) return false;
  wick_memref one = *p;
  one.choice = (wick_picked){.count = 1};
  memref_box b = memref_box_of(&one);
  for (uint32_t i = 0; i < b.n; i++)
    if (b.axis[i].stride < memref_span(&b, i + 1)) return false;
  return true;
}

bool wick_memref_disjoint(const wick_memref *a, const wick_memref *b)
{
  if (!a->known || !b->known) return false;
  if (!wick_memref_numel(a) || !wick_memref_numel(b)) return true;
  /* the common case */
  if (wick_memref_end(a) <= b->offset || wick_memref_end(b) <= a->offset) return true;
  memref_box box[2] = {memref_box_of(a), memref_box_of(b)};
  uint32_t at[2] = {0, 0};
  for (;;) {
    int64_t lo[2], end[2], stride = 0;
    for (uint32_t i = 0; i < 2; i++) {
      lo[i] = box[i].offset, end[i] = lo[i] + memref_span(&box[i], at[i]);
      if (at[i] < box[i].n && box[i].axis[at[i]].stride > stride)
        stride = box[i].axis[at[i]].stride;
    }
    if (end[0] <= lo[1] || end[1] <= lo[0]) return true;
    if (stride <= 1) return false;
    /* Splits both into periods of the stride: which periods, and where in a period. */
    for (uint32_t i = 0; i < 2; i++) {
      bool has = at[i] < box[i].n && box[i].axis[at[i]].stride == stride;
      int64_t extent = has ? box[i].axis[at[i]].extent : 1;
      lo[i] = box[i].offset / stride, end[i] = lo[i] + extent;
      box[i].offset %= stride;
      at[i] += has;
      if (box[i].offset + memref_span(&box[i], at[i]) > stride) return false;
    }
    if (end[0] <= lo[1] || end[1] <= lo[0]) return true;
  }
}

/* ---- moving ---- */

typedef struct memref_block { /* dimensions of the array that stay one dimension when it moves */
  int64_t extent, dense, stride;
  int64_t start, last; /* the view's range, in steps of the block */
} memref_block;

static uint32_t memref_blocks(const wick_memref *from, const wick_memref *to, memref_block *block)
{
  uint32_t n = 0;
  int64_t dense = 1;
  for (uint32_t k = from->rank; k-- > 0;) {
    if (from->dim[k] <= 1) continue;
    memref_block *inner = n ? &block[n - 1] : NULL;
    if (inner && to->stride[k] == inner->stride * inner->extent)
      inner->extent *= from->dim[k];
    else
      block[n++] = (memref_block){.extent = from->dim[k], .dense = dense, .stride = to->stride[k]};
    dense *= from->dim[k];
  }
  return n; /* innermost first */
}

bool wick_memref_move(const wick_memref *p, const wick_memref *from, const wick_memref *to,
                      wick_arena *mem, wick_memref *out)
{
  *out = *p;
  out->root = to->root;
  if (from->dynamic || to->dynamic) { /* both are dense: the offset within them is the same */
    out->offset = to->offset + p->offset - from->offset;
    return wick_memref_resolved(p) && wick_memref_resolved(from) && wick_memref_resolved(to) &&
           memref_as_large(from, to) && wick_memref_contiguous(from) &&
           wick_memref_contiguous(to) && !from->choice.index.id && !to->choice.index.id &&
           out->offset >= 0 && out->offset % p->elem_bytes == 0;
  }
  if (!p->known || !from->known || !to->known || !wick_memref_contiguous(from)) return false;
  if (from->choice.index.id || (p->choice.index.id && to->choice.index.id)) return false;
  if (to->choice.index.id) out->choice = to->choice;
  int64_t rest = p->offset - from->offset;
  if (wick_memref_contiguous(to)) {
    out->offset = to->offset + rest;
    if (to->choice.index.id && p->elem_bytes != to->elem_bytes) return false;
    return out->offset >= 0 && out->offset % p->elem_bytes == 0;
  }
  if (p->choice.index.id || p->elem_bytes != from->elem_bytes || rest < 0 || rest % p->elem_bytes)
    return false;
  rest /= p->elem_bytes;
  memref_block block[WICK_MAX_RANK];
  uint32_t n = memref_blocks(from, to, block);
  int64_t *stride = wick_new(mem, int64_t, p->rank), offset = to->offset;
  for (uint32_t b = 0; b < n; b++) {
    block[b].last = block[b].start = rest / block[b].dense % block[b].extent;
    offset += block[b].start * block[b].stride * p->elem_bytes;
    rest -= block[b].start * block[b].dense;
  }
  if (rest) return false;
  for (uint32_t k = 0; k < p->rank; k++) {
    if (p->dim[k] <= 1) {
      stride[k] = p->stride[k];
      continue;
    }
    uint32_t b = n;
    while (b > 0 && block[b - 1].dense > p->stride[k]) b--;
    if (b == 0 || p->stride[k] % block[b - 1].dense) return false;
    int64_t step = p->stride[k] / block[b - 1].dense;
    block[b - 1].last += step * (p->dim[k] - 1);
    stride[k] = step * block[b - 1].stride;
    if (block[b - 1].last >= block[b - 1].extent) return false;
  }
  out->stride = stride;
  out->offset = offset;
  return true;
}

/* Returns the dimension of p, a part of `whole`, that steps like dimension k of the whole. p may
 * have its dimensions in another order. p->rank: none. */
static uint32_t memref_dim_of(const wick_memref *p, const wick_memref *whole, uint32_t k)
{
  if (p->dim[k] > 1 && p->stride[k] == whole->stride[k]) return k;
  for (uint32_t i = 0; i < p->rank && whole->dim[k] > 1; i++)
    if (p->dim[i] > 1 && p->stride[i] == whole->stride[k]) return i;
  return p->dim[k] <= 1 || whole->dim[k] <= 1 ? k : p->rank;
}

bool wick_memref_extend(const wick_memref *p, const wick_memref *whole, const wick_memref *to,
                        wick_arena *mem, wick_memref *out)
{
  *out = *whole;
  out->root = to->root;
  if (whole->dynamic || p->dynamic)
    return wick_memref_covers(p, whole) && wick_memref_move(whole, p, to, mem, out);
  if (!p->known || !to->known || !wick_memref_contiguous(whole)) return false;
  if (p->choice.index.id || whole->choice.index.id) return false;
  if (!wick_memref_numel(whole)) return false; /* there are no elements, and its strides are 0 */
  if (wick_memref_contiguous(p) && p->offset == whole->offset &&
      wick_memref_numel(p) == wick_memref_numel(whole))
    return wick_memref_move(whole, p, to, mem, out);
  if (p->rank != whole->rank || p->elem_bytes != whole->elem_bytes) return false;
  out->choice = to->choice;
  int64_t rest = (p->offset - whole->offset) / p->elem_bytes, offset = to->offset;
  int64_t *stride = wick_new(mem, int64_t, p->rank);
  for (uint32_t k = 0; k < p->rank; k++) {
    uint32_t i = memref_dim_of(p, whole, k);
    if (i == p->rank) return false;
    stride[k] = to->stride[i];
    if (whole->dim[k] <= 1) continue;
    offset -= rest / whole->stride[k] * stride[k] * p->elem_bytes;
    rest %= whole->stride[k];
  }
  out->stride = stride;
  out->offset = offset;
  return offset >= 0 && rest == 0;
}
