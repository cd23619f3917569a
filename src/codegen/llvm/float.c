/* Emits the float operators in which machines differ: fused multiply-add, rounding, square roots,
 * max and min. Also max and min of integers. */
#include <math.h>

#include "codegen/llvm/emit.h"

static LLVMTypeRef float_bits_type(const emit *e, const wick_node *n)
{
  const wick_type_info *t = emit_info(e, n->first);
  return emit_type(e, t->elem == WICK_F64 ? WICK_I64 : WICK_I32, t->lanes);
}

static bool float_has(const emit *e, const wick_node *n, uint64_t set)
{
  return set & WICK_BIT(emit_info(e, n->first)->elem);
}

/* Emits an intrinsic of the operands' type, if the target's entry says that it needs no call. */
static void float_intrinsic(emit *e, const wick_node *n, const char *name, uint64_t set)
{
  LLVMTypeRef type = emit_type_of(e, n->first);
  LLVMValueRef arg[3];
  for (uint32_t i = 0; i < n->nin; i++) arg[i] = emit_get(e, n->in[i]);
  if (float_has(e, n, set))
    emit_set(e, n->first, emit_intrinsic(e, name, &type, 1, arg, n->nin));
  else
    emit_fail(e, n, "%s has no instruction for %s", e->target->row,
              wick_elem_name(emit_info(e, n->first)->elem));
}

static void float_fma(emit *e, const wick_node *n)
{
  float_intrinsic(e, n, "llvm.fma", e->target->fma);
}

static void float_muladd(emit *e, const wick_node *n)
{
  if (float_has(e, n, e->target->fma)) {
    float_fma(e, n);
    return;
  }
  LLVMValueRef x = LLVMBuildFMul(e->b, emit_get(e, n->in[0]), emit_get(e, n->in[1]), "");
  emit_set(e, n->first, LLVMBuildFAdd(e->b, x, emit_get(e, n->in[2]), ""));
}

static void float_sqrt(emit *e, const wick_node *n)
{
  float_intrinsic(e, n, "llvm.sqrt", e->target->sqrt);
}
static void float_floor(emit *e, const wick_node *n)
{
  float_intrinsic(e, n, "llvm.floor", e->target->round);
}
static void float_ceil(emit *e, const wick_node *n)
{
  float_intrinsic(e, n, "llvm.ceil", e->target->round);
}
static void float_trunc(emit *e, const wick_node *n)
{
  float_intrinsic(e, n, "llvm.trunc", e->target->round);
}
static void float_round_even(emit *e, const wick_node *n)
{
  /* LLVM 19 has no roundeven for Arm's M profile. There the rounding mode is always to nearest
   * even. */
  bool by_mode = e->target->machine == WICK_MACHINE_THUMB;
  float_intrinsic(e, n, by_mode ? "llvm.nearbyint" : "llvm.roundeven", e->target->round);
}

/* ---- powers of two ---- */

/* Uses AVX-512's vscalef, which rounds once. Returns NULL for vectors that are no registers. */
static LLVMValueRef float_scalef(emit *e, const wick_node *n, LLVMValueRef x, LLVMValueRef by)
{
  const wick_type_info *t = emit_info(e, n->first);
  bool wide = t->elem == WICK_F64;
  uint32_t bits = t->lanes * wick_elem_storage[t->elem].bits;
  const char *name =
      bits == 512
          ? (wide ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512")
      : bits == 256
          ? (wide ? "llvm.x86.avx512.mask.scalef.pd.256" : "llvm.x86.avx512.mask.scalef.ps.256")
      : bits == 128
          ? (wide ? "llvm.x86.avx512.mask.scalef.pd.128" : "llvm.x86.avx512.mask.scalef.ps.128")
          : NULL;
  if (!name || e->target->machine != WICK_MACHINE_X86_64 || !(e->target->needs & WICK_CPU_X86_V4))
    return NULL;
  LLVMTypeRef mask = LLVMIntTypeInContext(e->context, t->lanes > 8 ? t->lanes : 8);
  LLVMValueRef arg[5] = {x, by, x, LLVMConstAllOnes(mask),
                         /* the current rounding mode */
                         LLVMConstInt(LLVMInt32TypeInContext(e->context), 4, false)};
  return emit_intrinsic(e, name, NULL, 0, arg, bits == 512 ? 5 : 4);
}

/* Applies 2^n in two factors, 2^(n - c) and 2^c, where c is half of the largest exponent with the
 * sign of n. Both are normal numbers, and the first product is exact. The bits of y end with n: one
 * shift moves n to the exponent, and its sign to the sign. */
static LLVMValueRef float_exp2_factors(emit *e, const wick_node *n, LLVMValueRef x, LLVMValueRef y)
{
  LLVMTypeRef type = emit_type_of(e, n->first), bits = float_bits_type(e, n);
  bool wide = emit_info(e, n->first)->elem == WICK_F64;
  const int64_t bias = wide ? 1023 : 127, c = wide ? 512 : 64;
  const uint32_t mantissa = wide ? 52 : 23;
  LLVMValueRef by =
      LLVMBuildShl(e->b, LLVMBuildBitCast(e->b, y, bits, ""), emit_int(e, bits, mantissa), "");
  LLVMValueRef below = LLVMBuildICmp(e->b, LLVMIntSLT, by, emit_int(e, bits, 0), "");
  LLVMValueRef first = LLVMBuildSelect(e->b, below, emit_int(e, bits, (bias + c) << mantissa),
                                       emit_int(e, bits, (bias - c) << mantissa), "");
  LLVMValueRef second = LLVMBuildSelect(e->b, below, emit_float(e, type, ldexp(1, -(int)c)),
                                        emit_float(e, type, ldexp(1, (int)c)), "");
  first = LLVMBuildBitCast(e->b, LLVMBuildAdd(e->b, by, first, ""), type, "");
  return LLVMBuildFMul(e->b, LLVMBuildFMul(e->b, x, first, ""), second, "");
}

static void float_mul_exp2(emit *e, const wick_node *n)
{
  LLVMTypeRef type = emit_type_of(e, n->first);
  LLVMValueRef x = emit_get(e, n->in[0]), y = emit_get(e, n->in[1]);
  bool wide = emit_info(e, n->first)->elem == WICK_F64;
  LLVMValueRef magic = emit_float(e, type, wide ? 0x1.8p52 : 0x1.8p23);
  LLVMValueRef r = float_scalef(e, n, x, LLVMBuildFSub(e->b, y, magic, ""));
  emit_set(e, n->first, r ? r : float_exp2_factors(e, n, x, y));
}

/* ---- max, min ---- */

/* Returns x if it wins, else y; so y if one is NaN or they are equal. It is one instruction on
 * x86. */
static LLVMValueRef float_pick(emit *e, LLVMValueRef x, LLVMValueRef y, bool max)
{
  LLVMValueRef wins = LLVMBuildFCmp(e->b, max ? LLVMRealOGT : LLVMRealOLT, x, y, "");
  return LLVMBuildSelect(e->b, wins, x, y, "");
}

/* Finds an operand that is a constant other than NaN; out_x is the other one. */
static bool float_known_operand(const emit *e, const wick_node *n, wick_value *out_x, double *out)
{
  for (uint32_t i = 0; i < 2; i++) {
    wick_scalar s;
    if (!emit_known(e, n->in[i], &s) || isnan(s.f)) continue;
    *out_x = n->in[1 - i];
    *out = s.f;
    return true;
  }
  return false;
}

/* max or min of x and a constant c, by x86's maxps or minps, which return x if x is NaN or equal to
 * c. Only a zero can then have the wrong sign, and adding +0 turns -0 into +0 and changes nothing
 * else. Returns NULL if this does not apply. */
static LLVMValueRef float_extreme_known(emit *e, const wick_node *n, bool max)
{
  wick_value v;
  double c;
  if (e->target->machine != WICK_MACHINE_X86_64 || !float_known_operand(e, n, &v, &c)) return NULL;
  if (!max && c == 0 && signbit(c)) return NULL;
  LLVMTypeRef type = emit_type_of(e, n->first);
  LLVMValueRef x = emit_get(e, v), k = emit_float(e, type, c);
  LLVMValueRef r = float_pick(e, k, x, max);
  return max && c == 0 && !signbit(c) ? LLVMBuildFAdd(e->b, r, emit_float(e, type, 0), "") : r;
}

/* Computes both orders of the operands. They have the same bits, except for zeros of different
 * signs, and for NaN with a number. `and` of two zeros is +0, `or` is -0. `or` keeps NaN, because
 * its exponent is all ones. For max, all bits are set if one operand is NaN. */
static LLVMValueRef float_extreme_bits(emit *e, const wick_node *n, LLVMValueRef x, LLVMValueRef y,
                                       bool max)
{
  LLVMTypeRef type = emit_type_of(e, n->first), bits = float_bits_type(e, n);
  LLVMValueRef a = LLVMBuildBitCast(e->b, float_pick(e, x, y, max), bits, ""),
               b = LLVMBuildBitCast(e->b, float_pick(e, y, x, max), bits, ""), r;
  if (!max) return LLVMBuildBitCast(e->b, LLVMBuildOr(e->b, a, b, ""), type, "");
  LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, y, "");
  r = LLVMBuildOr(e->b, LLVMBuildAnd(e->b, a, b, ""), LLVMBuildSExt(e->b, nan, bits, ""), "");
  return LLVMBuildBitCast(e->b, r, type, "");
}

/* Uses AVX-512 DQ's vrange, which orders zeros, but returns the number if one operand is NaN.
 * Returns NULL for other types. */
static LLVMValueRef float_extreme_range(emit *e, const wick_node *n, LLVMValueRef x, LLVMValueRef y,
                                        bool max)
{
  static const struct {
    wick_elem elem;
    uint32_t lanes;
    const char *name;
  } rows[] = {
      {WICK_F32, 16, "llvm.x86.avx512.mask.range.ps.512"},
      {WICK_F32, 8, "llvm.x86.avx512.mask.range.ps.256"},
      {WICK_F32, 4, "llvm.x86.avx512.mask.range.ps.128"},
      {WICK_F64, 8, "llvm.x86.avx512.mask.range.pd.512"},
      {WICK_F64, 4, "llvm.x86.avx512.mask.range.pd.256"},
      {WICK_F64, 2, "llvm.x86.avx512.mask.range.pd.128"},
  };
  const wick_type_info *t = emit_info(e, n->first);
  uint32_t i = 0;
  while (i < WICK_COUNT(rows) && (rows[i].elem != t->elem || rows[i].lanes != t->lanes)) i++;
  if (i == WICK_COUNT(rows)) return NULL;
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context),
              mask = LLVMIntTypeInContext(e->context, t->lanes > 8 ? t->lanes : 8);
  bool whole = t->lanes * wick_elem_storage[t->elem].bits == 512;
  LLVMValueRef arg[6] = {x, y,
                         LLVMConstInt(i32, max ? 5 : 4, false), /* with the sign of the result */
                         x, LLVMConstAllOnes(mask),
                         /* the current rounding mode; nothing is rounded */
                         LLVMConstInt(i32, 4, false)};
  LLVMValueRef r = emit_intrinsic(e, rows[i].name, NULL, 0, arg, whole ? 6 : 5);
  LLVMValueRef nan = LLVMBuildFCmp(e->b, LLVMRealUNO, x, y, "");
  return LLVMBuildSelect(e->b, nan, LLVMBuildFAdd(e->b, x, y, ""), r, "");
}

/* Emits max or min in the best form for the machine: NaN if an operand is NaN, and ordered
 * zeros. */
static LLVMValueRef float_extreme_of(emit *e, const wick_node *n, LLVMValueRef x, LLVMValueRef y,
                                     bool max)
{
  LLVMTypeRef type = emit_type_of(e, n->first);
  LLVMValueRef arg[2] = {x, y}, r = NULL;
  switch (e->target->machine) {
  case WICK_MACHINE_X86_64:
    r = float_extreme_known(e, n, max);
    if (!r && (e->target->needs & WICK_CPU_X86_V4)) r = float_extreme_range(e, n, x, y, max);
    return r ? r : float_extreme_bits(e, n, x, y, max);
  case WICK_MACHINE_THUMB: return float_extreme_bits(e, n, x, y, max);
  default: return emit_intrinsic(e, max ? "llvm.maximum" : "llvm.minimum", &type, 1, arg, 2);
  }
}

static void float_extreme(emit *e, const wick_node *n, bool max)
{
  LLVMTypeRef type = emit_type_of(e, n->first);
  LLVMValueRef arg[2] = {emit_get(e, n->in[0]), emit_get(e, n->in[1])}, r;
  const char *name = max ? "llvm.umax" : "llvm.umin";
  switch (wick_elem_storage[emit_info(e, n->first)->elem].cls) {
  case WICK_FLOAT: r = float_extreme_of(e, n, arg[0], arg[1], max); break;
  case WICK_LOGIC:
    r = max ? LLVMBuildOr(e->b, arg[0], arg[1], "") : LLVMBuildAnd(e->b, arg[0], arg[1], "");
    break;
  case WICK_SINT: name = max ? "llvm.smax" : "llvm.smin"; /* fallthrough */
  default: r = emit_intrinsic(e, name, &type, 1, arg, 2); break;
  }
  emit_set(e, n->first, r);
}

static void float_max(emit *e, const wick_node *n) { float_extreme(e, n, true); }
static void float_min(emit *e, const wick_node *n) { float_extreme(e, n, false); }

const struct emit_named emit_float_rows[] = {
    {"fma", float_fma},
    {"muladd", float_muladd},
    {"sqrt", float_sqrt},
    {"floor", float_floor},
    {"ceil", float_ceil},
    {"trunc", float_trunc},
    {"max", float_max},
    {"min", float_min},
    {"round_even", float_round_even},
    {"mul_exp2", float_mul_exp2},
    {NULL, NULL},
};
