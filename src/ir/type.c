/* The storage table, and the table of interned types. */
#include "ir/type.h"

#include <string.h>

#include "base/hash.h"
#include "ir/ir.h"

#define FLOAT_ROW(n, b, m, lo, hi, a)                                                              \
  {                                                                                                \
    n, WICK_FLOAT, b, ((b) + 7) / 8, a, m, lo, hi                                                  \
  }
#define INT_ROW(n, c, b, a)                                                                        \
  {                                                                                                \
    n, c, b, ((b) + 7) / 8, a, 0, 0, 0                                                             \
  }
const wick_storage wick_elem_storage[WICK_NELEM] = {
    [WICK_F64] = FLOAT_ROW("f64", 64, 52, 0, 0, WICK_F64),
    [WICK_F32] = FLOAT_ROW("f32", 32, 23, -126, 127, WICK_F32),
    [WICK_F16] = FLOAT_ROW("f16", 16, 10, -14, 15, WICK_F32),
    [WICK_BF16] = FLOAT_ROW("bf16", 16, 7, -126, 127, WICK_F32),
    [WICK_F8E4M3] = FLOAT_ROW("f8e4m3", 8, 3, -6, 8, WICK_F32),
    [WICK_F8E4M3FNUZ] = FLOAT_ROW("f8e4m3fnuz", 8, 3, -7, 7, WICK_F32),
    [WICK_F8E5M2] = FLOAT_ROW("f8e5m2", 8, 2, -14, 15, WICK_F32),
    [WICK_F8E5M2FNUZ] = FLOAT_ROW("f8e5m2fnuz", 8, 2, -15, 15, WICK_F32),
    [WICK_F8E8M0] = FLOAT_ROW("f8e8m0", 8, 0, -127, 127, WICK_F32),
    [WICK_F4E2M1] = FLOAT_ROW("f4e2m1", 4, 1, 0, 2, WICK_F32),
    [WICK_I64] = INT_ROW("i64", WICK_SINT, 64, WICK_I64),
    [WICK_I32] = INT_ROW("i32", WICK_SINT, 32, WICK_I32),
    [WICK_I16] = INT_ROW("i16", WICK_SINT, 16, WICK_I16),
    [WICK_I8] = INT_ROW("i8", WICK_SINT, 8, WICK_I8),
    [WICK_I4] = INT_ROW("i4", WICK_SINT, 4, WICK_I8),
    [WICK_I2] = INT_ROW("i2", WICK_SINT, 2, WICK_I8),
    [WICK_U64] = INT_ROW("u64", WICK_UINT, 64, WICK_U64),
    [WICK_U32] = INT_ROW("u32", WICK_UINT, 32, WICK_U32),
    [WICK_U16] = INT_ROW("u16", WICK_UINT, 16, WICK_U16),
    [WICK_U8] = INT_ROW("u8", WICK_UINT, 8, WICK_U8),
    [WICK_U4] = INT_ROW("u4", WICK_UINT, 4, WICK_U8),
    [WICK_U2] = INT_ROW("u2", WICK_UINT, 2, WICK_U8),
    [WICK_BOOL] = {"bool", WICK_LOGIC, 8, 1, WICK_BOOL, 0, 0, 0},
    [WICK_C64] = {"c64", WICK_COMPLEX, 64, 4, WICK_C64, 0, 0, 0},
    [WICK_C128] = {"c128", WICK_COMPLEX, 128, 8, WICK_C128, 0, 0, 0},
    [WICK_STRING] = {"string", WICK_TEXT, 64, 8, WICK_STRING, 0, 0, 0},
};

bool wick_elem_parse(const char *s, size_t n, wick_elem *out)
{
  for (int e = 0; e < WICK_NELEM; e++) {
    const char *name = wick_elem_storage[e].name;
    if (strlen(name) == n && memcmp(name, s, n) == 0) {
      *out = (wick_elem)e;
      return true;
    }
  }
  return false;
}

uint64_t wick_elem_bytes(wick_elem e, uint64_t n)
{
  uint64_t bits = wick_elem_storage[e].bits;
  return bits >= 8 ? n * (bits / 8) : (n * bits + 7) / 8;
}

/* ---- interning ---- */

struct wick_type_table {
  wick_list(wick_type_info) types; /* at[0] is unused */
  uint32_t *slot, nslot;
};

wick_type_table *wick_types_create(wick_arena *mem)
{
  wick_type_table *t = wick_new(mem, wick_type_table, 1);
  t->nslot = 64;
  t->slot = wick_new(mem, uint32_t, t->nslot);
  wick_push(mem, &t->types, (wick_type_info){0});
  return t;
}

static uint64_t type_hash(const wick_type_info *t)
{
  uint64_t h = WICK_HASH_SEED;
  h = wick_hash_u64(h, (uint64_t)t->kind | (uint64_t)t->elem << 8 | (uint64_t)t->space << 16 |
                           (uint64_t)t->rank << 24 | (uint64_t)t->lanes << 40);
  for (uint32_t i = 0; i < t->rank; i++) h = wick_hash_u64(h, (uint64_t)t->dim[i].v);
  for (uint32_t i = 0; i < t->rank && t->stride; i++)
    h = wick_hash_u64(h, (uint64_t)t->stride[i].v);
  for (uint32_t i = 0; i < t->nitem; i++) h = wick_hash_u64(h, t->item[i].id);
  return wick_hash_u64(h, (uint64_t)t->data | (uint64_t)t->ntake << 32);
}

static bool type_dims_same(const wick_dim *a, const wick_dim *b, uint32_t n)
{
  if (!a || !b) return a == b;
  return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static bool type_same(const wick_type_info *a, const wick_type_info *b)
{
  return a->kind == b->kind && a->elem == b->elem && a->space == b->space && a->rank == b->rank &&
         a->lanes == b->lanes && a->nitem == b->nitem && a->ntake == b->ntake &&
         a->data == b->data && (a->rank == 0 || type_dims_same(a->dim, b->dim, a->rank)) &&
         type_dims_same(a->stride, b->stride, a->rank) &&
         (a->nitem == 0 || memcmp(a->item, b->item, a->nitem * sizeof *a->item) == 0);
}

static uint32_t type_slot(const wick_type_table *t, const wick_type_info *info)
{
  uint32_t i = (uint32_t)type_hash(info) & (t->nslot - 1);
  while (t->slot[i] && !type_same(&t->types.at[t->slot[i]], info)) i = (i + 1) & (t->nslot - 1);
  return i;
}

/* Removes strides that are those of a dense buffer. */
static bool type_stride_dense(wick_module *m, const wick_type_info *t)
{
  wick_dim want = wick_dim_const(1);
  for (uint32_t k = t->rank; k-- > 0;) {
    /* also for a single element, because a halo may be around it */
    if (!wick_dim_eq(t->stride[k], want)) return false;
    want = wick_dim_mul(m->dims, want, t->dim[k]);
  }
  return true;
}

wick_type wick_type_intern(wick_module *m, const wick_type_info *info)
{
  wick_type_table *t = m->types;
  wick_type_info key = *info;
  if (key.kind != WICK_BUFFER) key.stride = NULL, key.space = 0;
  if (key.stride && type_stride_dense(m, &key)) key.stride = NULL;
  if (key.kind == WICK_SCALAR) key.rank = 0;
  uint32_t slot = type_slot(t, &key);
  if (t->slot[slot]) return (wick_type){t->slot[slot]};
  key.dim = wick_dup(&m->mem, wick_dim, key.dim, key.rank);
  if (key.stride) key.stride = wick_dup(&m->mem, wick_dim, key.stride, key.rank);
  key.item = wick_dup(&m->mem, wick_type, key.item, key.nitem);
  wick_push(&m->mem, &t->types, key);
  uint32_t id = t->types.n - 1;
  t->slot[slot] = id;
  if (t->types.n * 2 > t->nslot) {
    t->nslot *= 2;
    t->slot = wick_new(&m->mem, uint32_t, t->nslot);
    for (uint32_t i = 1; i < t->types.n; i++) t->slot[type_slot(t, &t->types.at[i])] = i;
  }
  return (wick_type){id};
}

const wick_type_info *wick_type_get(const wick_module *m, wick_type t)
{
  return &m->types->types.at[t.id];
}

/* ---- shorthands ---- */

wick_type wick_type_tensor(wick_module *m, wick_elem e, uint32_t rank, const wick_dim *dim)
{
  return wick_type_intern(
      m, &(wick_type_info){.kind = WICK_TENSOR, .elem = e, .rank = (uint16_t)rank, .dim = dim});
}

wick_type wick_type_tensor_const(wick_module *m, wick_elem e, uint32_t rank, const int64_t *dim)
{
  wick_dim d[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) d[i] = wick_dim_const(dim[i]);
  return wick_type_tensor(m, e, rank, d);
}

wick_type wick_type_buffer(wick_module *m, wick_elem e, uint32_t rank, const wick_dim *dim,
                           wick_space space)
{
  return wick_type_intern(
      m, &(wick_type_info){
             .kind = WICK_BUFFER, .elem = e, .rank = (uint16_t)rank, .dim = dim, .space = space});
}

wick_type wick_type_scalar(wick_module *m, wick_elem e, uint32_t lanes)
{
  return wick_type_intern(
      m, &(wick_type_info){.kind = WICK_SCALAR, .elem = e, .lanes = (uint16_t)lanes});
}

wick_type wick_type_tuple(wick_module *m, uint32_t n, const wick_type *item)
{
  return wick_type_intern(m, &(wick_type_info){.kind = WICK_TUPLE, .nitem = n, .item = item});
}

wick_type wick_type_ref(wick_module *m, uint32_t n, const wick_type *item)
{
  return wick_type_intern(m, &(wick_type_info){.kind = WICK_REF, .nitem = n, .item = item});
}

wick_type wick_type_fn(wick_module *m, uint32_t ntake, const wick_type *take, uint32_t ngive,
                       const wick_type *give)
{
  wick_type *item = wick_new(&m->mem, wick_type, ntake + ngive);
  for (uint32_t i = 0; i < ntake; i++) item[i] = take[i];
  for (uint32_t i = 0; i < ngive; i++) item[ntake + i] = give[i];
  return wick_type_intern(
      m, &(wick_type_info){.kind = WICK_FN, .nitem = ntake + ngive, .ntake = ntake, .item = item});
}

wick_type wick_type_with_elem(wick_module *m, wick_type t, wick_elem e)
{
  wick_type_info info = *wick_type_get(m, t);
  if (info.elem == e) return t;
  info.elem = e;
  return wick_type_intern(m, &info);
}

wick_dim wick_type_numel(wick_module *m, wick_type t)
{
  const wick_type_info *info = wick_type_get(m, t);
  if (info->kind == WICK_SCALAR) return wick_dim_const(info->lanes);
  wick_dim n = wick_dim_const(1);
  for (uint32_t i = 0; i < info->rank; i++) n = wick_dim_mul(m->dims, n, info->dim[i]);
  return n;
}

bool wick_type_is_held(const wick_module *m, wick_type t)
{
  const wick_type_info *i = wick_type_get(m, t);
  bool held = i->kind == WICK_TENSOR || wick_kind_is_object(i->kind);
  for (uint32_t k = 0; k < i->rank; k++) held = held && wick_dim_is_const(i->dim[k]);
  return held;
}

bool wick_type_is_one(const wick_module *m, wick_type t)
{
  const wick_type_info *i = wick_type_get(m, t);
  return i->kind == WICK_SCALAR ? i->lanes == 1 : i->kind == WICK_TENSOR && i->rank == 0;
}

bool wick_type_const_dims(const wick_type_info *t, int64_t *out_dim)
{
  for (uint32_t i = 0; i < t->rank; i++) {
    if (!wick_dim_is_const(t->dim[i])) return false;
    out_dim[i] = t->dim[i].v;
  }
  return true;
}

bool wick_type_nbytes(wick_module *m, wick_type t, uint64_t *out)
{
  wick_dim n = wick_type_numel(m, t);
  if (!wick_dim_is_const(n) || n.v < 0) return false;
  uint64_t bits;
  if (wick_mul_overflows((uint64_t)n.v, (uint64_t)wick_elem_storage[wick_type_get(m, t)->elem].bits,
                         &bits))
    return false;
  *out = (bits + 7) / 8;
  return true;
}

uint64_t wick_type_most_nbytes(wick_module *m, wick_type t)
{
  int64_t lo, hi;
  uint64_t bits;
  wick_dim_range(m->dims, wick_type_numel(m, t), &lo, &hi);
  if (hi < 0 || hi == INT64_MAX ||
      wick_mul_overflows((uint64_t)hi, (uint64_t)wick_elem_storage[wick_type_get(m, t)->elem].bits,
                         &bits))
    return UINT64_MAX;
  return (bits + 7) / 8;
}

uint64_t wick_type_typical_nbytes(wick_module *m, wick_type t)
{
  uint64_t n = (uint64_t)wick_dim_typical(m->dims, wick_type_numel(m, t)), bits;
  if (wick_mul_overflows(n, (uint64_t)wick_elem_storage[wick_type_get(m, t)->elem].bits, &bits))
    return UINT64_MAX / 16;
  return (bits + 7) / 8;
}
