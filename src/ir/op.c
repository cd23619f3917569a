/* The table of operators, by opcode and by name. */
#include "ir/op.h"

#include <string.h>

const wick_op *const wick_ops[WICK_NOP] = {
    NULL,
#define OP(name) &wick_op_##name,
#include "ir/ops.def"
};

wick_view_map wick_view_map_of(const wick_func *f, const wick_node *n, uint32_t k)
{
  wick_view_map map;
  for (uint32_t d = 0; d < WICK_MAX_RANK; d++)
    map.begin[d] = wick_dim_const(0), map.step[d] = 1, map.axis[d] = d;
  wick_op_of(n)->view_of.map(f, n, k, &map);
  return map;
}

/* ops.def is sorted, so that a binary search finds a name. */
wick_opcode wick_op_find(const char *name, size_t n)
{
  int lo = 1, hi = WICK_NOP - 1;
  while (lo <= hi) {
    int mid = (lo + hi) / 2, order = strncmp(wick_ops[mid]->name, name, n);
    if (order == 0) order = wick_ops[mid]->name[n] ? 1 : 0;
    if (order == 0) return (wick_opcode)mid;
    if (order < 0)
      lo = mid + 1;
    else
      hi = mid - 1;
  }
  return WICK_OP_none;
}

static bool op_imm_eq(const wick_imm *a, const wick_imm *b)
{
  if (a->constant || b->constant) return a->constant == b->constant;
  return memcmp(&a->f, &b->f, sizeof a->f) == 0 && a->i == b->i; /* -0 is different from 0 */
}

static bool op_dims_eq(uint32_t n, const wick_dim *a, const wick_dim *b)
{
  for (uint32_t k = 0; k < n; k++)
    if (!wick_dim_eq(a[k], b[k])) return false;
  return true;
}

bool wick_attr_eq(wick_attr_kind kind, const wick_attr *a, const wick_attr *b)
{
  if (a->n != b->n) return false;
  switch (kind) {
  case WICK_ATTR_NONE: return true;
  case WICK_ATTR_INT:
  case WICK_ATTR_BOOL:
  case WICK_ATTR_AXIS:
  case WICK_ATTR_ENUM: return a->i == b->i;
  case WICK_ATTR_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
  case WICK_ATTR_STRING:
  case WICK_ATTR_FUNC: return a->s == b->s;
  case WICK_ATTR_INTS: return !a->n || memcmp(a->ints, b->ints, a->n * sizeof *a->ints) == 0;
  case WICK_ATTR_FLOATS:
    return !a->n || memcmp(a->floats, b->floats, a->n * sizeof *a->floats) == 0;
  case WICK_ATTR_DIMS: return op_dims_eq(a->n, a->dims, b->dims);
  case WICK_ATTR_AXES: return false;
  case WICK_ATTR_CONST: return op_imm_eq(&a->imm, &b->imm);
  }
  return false;
}
