/* Three regions: floats that are only read, zeros, and memory that is written. */
#include "tune/operands.h"

#include <string.h>

enum { OPERANDS_FLOATS, OPERANDS_ZEROS, OPERANDS_WRITTEN };
enum { OPERANDS_ALIGN = 64, OPERANDS_MARGIN = 4096, OPERANDS_BLOCK = 1 << 16 };

void wick_operands_clear(wick_operands *o)
{
  for (uint32_t i = 0; i < WICK_COUNT(o->memory); i++) o->memory[i].used = 0;
}

static void operands_fill(char *at, uint64_t nbytes)
{
  float *block = (float *)(void *)at;
  uint32_t state = 2463534242u;
  uint64_t first = nbytes < OPERANDS_BLOCK ? nbytes : OPERANDS_BLOCK;
  for (uint64_t i = 0; i < first / 4; i++) {
    state = state * 1664525u + 1013904223u;
    block[i] = (float)(state >> 8) * 0x1p-23f - 1;
  }
  for (uint64_t done = first; done < nbytes; done += first)
    memcpy(at + done, at, nbytes - done < first ? nbytes - done : first);
}

static char *operands_alloc(wick_operands *o, uint32_t which, uint64_t nbytes)
{
  struct wick_operand_memory *r = &o->memory[which];
  if (r->used + nbytes > r->nbytes) { /* operands that were taken before stay in the old block */
    r->nbytes = 2 * nbytes + 2 * r->nbytes, r->used = 0;
    r->at = wick_arena_alloc(o->mem, r->nbytes, OPERANDS_ALIGN);
    if (which == OPERANDS_FLOATS) operands_fill(r->at, r->nbytes);
  }
  r->used += nbytes;
  return r->at + r->used - nbytes;
}

/* Computes the elements from the first to the last, and those of the halo before and after them. */
static void operands_span(const wick_type_info *t, const wick_halo *halo, uint64_t *span,
                          uint64_t *before, uint64_t *behind)
{
  uint64_t dense = 1;
  *span = 1, *before = *behind = 0;
  for (uint32_t k = t->rank; k-- > 0;) {
    uint64_t n = wick_dim_is_const(t->dim[k]) ? (uint64_t)t->dim[k].v : 1,
             stride =
                 t->stride && wick_dim_is_const(t->stride[k]) ? (uint64_t)t->stride[k].v : dense;
    *span += (n ? n - 1 : 0) * stride;
    if (halo) *before += (uint64_t)halo->lo[k] * stride, *behind += (uint64_t)halo->hi[k] * stride;
    dense *= n;
  }
}

wick_operand wick_operand_take(wick_operands *o, const wick_type_info *type, const wick_halo *halo,
                               wick_operand_kind kind)
{
  uint64_t bits = wick_elem_storage[type->elem].bits, span, lo, hi;
  operands_span(type, halo, &span, &lo, &hi);
  uint64_t before = wick_align_up(lo * bits / 8 + OPERANDS_MARGIN, OPERANDS_ALIGN),
           inside = wick_align_up((span + hi) * bits / 8 + OPERANDS_MARGIN, OPERANDS_ALIGN),
           step = before + inside;
  uint32_t which = kind == WICK_OPERAND_WRITTEN ? OPERANDS_WRITTEN
                   : type->elem == WICK_F32     ? OPERANDS_FLOATS
                                                : OPERANDS_ZEROS,
           ncopy = 1;
  if (kind == WICK_OPERAND_WEIGHTS) ncopy += (uint32_t)(o->passing / step);
  char *at = operands_alloc(o, which, step * ncopy);
  return (wick_operand){at + before, step, ncopy};
}
