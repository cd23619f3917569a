/* Emits mul_high: bits above the lower half of products of 32 bits. */
#include "codegen/llvm/emit.h"

enum { HIGH_WORD = 32 };

/* (x * y + add) >> bits, in vectors of 64 bits. */
static LLVMValueRef high_product(emit *e, const wick_node *n, LLVMValueRef x, LLVMValueRef y)
{
  int64_t add = n->attr[WICK_ATTR_mul_high_add].i;
  LLVMValueRef p = LLVMBuildMul(e->b, x, y, "");
  return add ? LLVMBuildAdd(e->b, p, emit_int(e, LLVMTypeOf(p), add), "") : p;
}

/* Returns the lanes with even or with odd index, as numbers of 64 bits. */
static LLVMValueRef high_half(emit *e, LLVMValueRef x, LLVMTypeRef wide, bool odd)
{
  LLVMValueRef word = emit_int(e, wide, HIGH_WORD);
  x = LLVMBuildBitCast(e->b, x, wide, "");
  return LLVMBuildAShr(e->b, odd ? x : LLVMBuildShl(e->b, x, word, ""), word, "");
}

/* x86 multiplies every second lane of a register to 64 bits (pmuldq). So the lanes with even and
 * with odd index are multiplied where they are: widening whole vectors would move them to another
 * register and back. */
static LLVMValueRef high_by_halves(emit *e, const wick_node *n, LLVMValueRef x, LLVMValueRef y)
{
  uint32_t lanes = emit_info(e, n->first)->lanes;
  LLVMTypeRef type = emit_type(e, WICK_I32, lanes), wide = emit_type(e, WICK_I64, lanes / 2);
  bool word = n->attr[WICK_ATTR_mul_high_bits].i == HIGH_WORD;
  LLVMValueRef half[2], *lane = wick_new(e->mem, LLVMValueRef, lanes);
  for (int odd = 0; odd < 2; odd++) {
    LLVMValueRef u = high_half(e, x, wide, odd), v = high_half(e, y, wide, odd);
    half[odd] = high_product(e, n, u, v);
    if (!word) /* the 32 bits from bit 31 on, as the lower or as the upper word */
      half[odd] = odd ? LLVMBuildShl(e->b, half[odd], emit_int(e, wide, 1), "")
                      : LLVMBuildLShr(e->b, half[odd], emit_int(e, wide, HIGH_WORD - 1), "");
    half[odd] = LLVMBuildBitCast(e->b, half[odd], type, "");
  }
  for (uint32_t i = 0; i < lanes; i++)
    lane[i] = LLVMConstInt(LLVMInt32TypeInContext(e->context),
                           i % 2  ? lanes + i
                           : word ? i + 1
                                  : i,
                           false);
  return LLVMBuildShuffleVector(e->b, half[0], half[1], LLVMConstVector(lane, lanes), "");
}

static void high_mul_high(emit *e, const wick_node *n)
{
  uint32_t lanes = emit_info(e, n->first)->lanes;
  LLVMValueRef x = emit_get(e, n->in[0]), y = emit_get(e, n->in[1]);
  /* pmuldq came with the instructions that round floats */
  bool halves = e->target->machine == WICK_MACHINE_X86_64 &&
                (e->target->round & WICK_BIT(WICK_F32)) && lanes > 2 && lanes % 2 == 0;
  if (halves) {
    emit_set(e, n->first, high_by_halves(e, n, x, y));
    return;
  }
  LLVMTypeRef wide = emit_type(e, WICK_I64, lanes);
  x = LLVMBuildSExt(e->b, x, wide, ""), y = LLVMBuildSExt(e->b, y, wide, "");
  x = LLVMBuildAShr(e->b, high_product(e, n, x, y),
                    emit_int(e, wide, n->attr[WICK_ATTR_mul_high_bits].i), "");
  emit_set(e, n->first, LLVMBuildTrunc(e->b, x, emit_type_of(e, n->first), ""));
}

const struct emit_named emit_high_rows[] = {{"mul_high", high_mul_high}, {NULL, NULL}};
