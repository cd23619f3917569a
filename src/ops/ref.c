/* Accesses elements of concrete tensors, for references. */
#include "ops/ref.h"

#include <math.h>
#include <string.h>

double wick_ref_range(wick_elem e, double x)
{
  wick_elem arith = wick_elem_storage[e].arith;
  double rounded = wick_round_elem(arith, (wick_scalar){.f = x}).f;
  bool normal = arith == WICK_F64 || fabs(x) >= 0x1p-126;
  return isinf(rounded) || !normal ? rounded : x;
}

uint64_t wick_ref_numel(const wick_tensor *t) { return (uint64_t)wick_ref_product(t, 0, t->rank); }

int64_t wick_ref_product(const wick_tensor *t, uint32_t begin, uint32_t end)
{
  int64_t n = 1;
  for (uint32_t k = begin; k < end; k++) n *= t->dim[k];
  return n;
}

void wick_ref_strides(const wick_tensor *t, int64_t *out_stride)
{
  int64_t stride = 1;
  for (uint32_t k = t->rank; k-- > 0;) {
    out_stride[k] = stride;
    stride *= t->dim[k];
  }
}

bool wick_ref_next(uint32_t rank, const int64_t *dim, int64_t *index)
{
  for (uint32_t k = rank; k-- > 0;) {
    if (++index[k] < dim[k]) return true;
    index[k] = 0;
  }
  return false;
}

void wick_ref_read(const wick_tensor *t, uint64_t at, uint64_t n, wick_scalar *out)
{
  if (t->elem == WICK_F32) {
    const float *x = (const float *)t->data + at;
    for (uint64_t i = 0; i < n; i++) out[i].f = (double)x[i];
    return;
  }
  for (uint64_t i = 0; i < n; i++) out[i] = wick_load_elem(t->elem, t->data, at + i);
}

wick_scalar *wick_ref_load(wick_arena *mem, const wick_tensor *t)
{
  uint64_t n = wick_ref_numel(t);
  wick_scalar *out = wick_new(mem, wick_scalar, n);
  wick_ref_read(t, 0, n, out);
  return out;
}

void wick_ref_write(const wick_tensor *t, uint64_t at, uint64_t n, const wick_scalar *v)
{
  for (uint64_t i = 0; i < n; i++) wick_store_elem(t->elem, t->data, at + i, v[i]);
}

void wick_ref_move(const wick_tensor *to, uint64_t at, const wick_tensor *from, uint64_t from_at)
{
  uint32_t bits = wick_elem_storage[to->elem].bits;
  if (bits < 8) {
    wick_store_elem(to->elem, to->data, at, wick_load_elem(from->elem, from->data, from_at));
    return;
  }
  uint64_t nbytes = bits / 8;
  memcpy((char *)to->data + at * nbytes, (const char *)from->data + from_at * nbytes, nbytes);
}

wick_status wick_ref_fail(const wick_ref *c, wick_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  const char *place = c->location && *c->location ? c->location : wick_ops[c->op]->name;
  wick_status s = wick_vfail(c->mem, code, place, fmt, args);
  va_end(args);
  return s;
}
