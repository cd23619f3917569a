/* The table of rows, by opcode and by name. */
#include "ir/op.h"

#include <string.h>

const wick_op *const wick_ops[WICK_NOP] = {
    NULL,
#define OP(name) &wick_op_##name,
#include "ir/ops.def"
#undef OP
};

/* ops.def is sorted, so a name is found by halving. */
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
