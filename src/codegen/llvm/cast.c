/* Emits conversions between element types. Narrow floats are integers here (emit.h): 16-bit floats
 * are converted to and from f32 if the target has instructions for this; a pass expands all other
 * conversions. */
#include <math.h>

#include "codegen/llvm/emit.h"
#include "loop/clamp.h"

static bool cast_is_wide(wick_elem e) { return e == WICK_F32 || e == WICK_F64; }

/* Converts between a 16-bit float and f32. */
static LLVMValueRef cast_narrow(emit *e, const wick_node *n, wick_elem from, wick_elem to,
                                LLVMValueRef x)
{
  wick_elem narrow = from == WICK_F32 ? to : from;
  if ((from != WICK_F32 && to != WICK_F32) || !(e->target->convert & WICK_BIT(narrow))) {
    emit_fail(e, n, "%s does not convert %s to %s", e->target->row, wick_elem_name(from),
              wick_elem_name(to));
    return x;
  }
  uint32_t lanes = emit_info(e, n->first)->lanes;
  LLVMTypeRef half =
      narrow == WICK_F16 ? LLVMHalfTypeInContext(e->context) : LLVMBFloatTypeInContext(e->context);
  if (lanes > 1) half = LLVMVectorType(half, lanes);
  LLVMTypeRef type = emit_type_of(e, n->first);
  if (narrow == from) { /* over the fence, LLVM would compare in the narrow type, lane by lane */
    x = LLVMBuildFPExt(e->b, LLVMBuildBitCast(e->b, x, half, ""), type, "");
    return emit_intrinsic(e, "llvm.arithmetic.fence", &type, 1, &x, 1);
  }
  return LLVMBuildBitCast(e->b, LLVMBuildFPTrunc(e->b, x, half, ""), type, "");
}

/* Converts x, of f32, to the nearest i32, ties to even. Returns NULL if the target has no
 * instruction for this. */
static LLVMValueRef cast_nearest(emit *e, LLVMValueRef x, uint32_t lanes)
{
  if (e->target->machine != WICK_MACHINE_X86_64 || lanes * 4 > e->target->vector_bytes) return NULL;
  LLVMTypeRef i16 = LLVMInt16TypeInContext(e->context), i32 = LLVMInt32TypeInContext(e->context);
  LLVMValueRef arg[4] = {x, LLVMConstNull(emit_type(e, WICK_I32, lanes)), LLVMConstAllOnes(i16),
                         LLVMConstInt(i32, 4, false)};
  switch (lanes) {
  case 16: return emit_intrinsic(e, "llvm.x86.avx512.mask.cvtps2dq.512", NULL, 0, arg, 4);
  case 8: return emit_intrinsic(e, "llvm.x86.avx.cvt.ps2dq.256", NULL, 0, arg, 1);
  case 4: return emit_intrinsic(e, "llvm.x86.sse2.cvtps2dq", NULL, 0, arg, 1);
  default: return NULL;
  }
}

/* If v, an f32, is a number rounded to an integer, perhaps plus a small constant, returns the
 * number and the constant. */
static wick_value cast_rounded(const emit *e, wick_value v, int64_t *out_add)
{
  enum { SMALL = 1 << 16 };
  const wick_node *n = e->definer[v.id] == UINT32_MAX ? NULL : &e->f->node[e->definer[v.id]];
  wick_scalar c;
  *out_add = 0;
  if (n && n->op == WICK_OP_add && emit_known(e, n->in[1], &c) && c.f > -SMALL && c.f < SMALL &&
      c.f == (double)(int64_t)c.f) {
    *out_add = (int64_t)c.f;
    n = e->definer[n->in[0].id] == UINT32_MAX ? NULL : &e->f->node[e->definer[n->in[0].id]];
  }
  bool is = n && n->op == WICK_OP_round_even && emit_info(e, n->first)->elem == WICK_F32;
  return is ? n->in[0] : (wick_value){0};
}

/* Clamps x to lo .. hi; NaN becomes `nan`. */
static LLVMValueRef cast_within(emit *e, LLVMValueRef x, double lo, double hi, double nan)
{
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef least = emit_float(e, type, lo), most = emit_float(e, type, hi);
  if (nan != lo)
    x = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealORD, x, x, ""), x,
                        emit_float(e, type, nan), "");
  x = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGT, x, least, ""), x, least, "");
  return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, x, most, ""), x, most, "");
}

/* Returns n lanes of x, from lane `first` on. */
static LLVMValueRef cast_part(emit *e, LLVMValueRef x, uint32_t first, uint32_t n)
{
  LLVMValueRef lane[64];
  for (uint32_t k = 0; k < n; k++)
    lane[k] = LLVMConstInt(LLVMInt32TypeInContext(e->context), first + k, false);
  LLVMValueRef none = LLVMGetPoison(LLVMTypeOf(x));
  return LLVMBuildShuffleVector(e->b, x, none, LLVMConstVector(lane, n), "");
}

/* Narrows four registers of i32 to bytes twice, with saturation, adds `add` between, and restores
 * the order of the parts of a register. */
static LLVMValueRef cast_pack(emit *e, LLVMValueRef *y, uint32_t lanes, int64_t add, bool is_signed)
{
  static const char *const words[] = {"llvm.x86.sse2.packssdw.128", "llvm.x86.avx2.packssdw",
                                      "llvm.x86.avx512.packssdw.512"},
                           *const bytes[2][3] = {
                               {"llvm.x86.sse2.packuswb.128", "llvm.x86.avx2.packuswb",
                                "llvm.x86.avx512.packuswb.512"},
                               {"llvm.x86.sse2.packsswb.128", "llvm.x86.avx2.packsswb",
                                "llvm.x86.avx512.packsswb.512"}};
  uint32_t n = lanes / 4, parts = n / 4, size = parts == 4 ? 2 : parts == 2 ? 1 : 0;
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context), i16 = emit_type(e, WICK_I16, 2 * n);
  LLVMValueRef lane[64];
  for (uint32_t i = 0; i < 2; i++) {
    y[i] = emit_intrinsic(e, words[size], NULL, 0, (LLVMValueRef[]){y[2 * i], y[2 * i + 1]}, 2);
    LLVMValueRef arg[2] = {y[i], emit_int(e, i16, add)};
    if (add) y[i] = emit_intrinsic(e, "llvm.sadd.sat", &i16, 1, arg, 2);
  }
  LLVMValueRef x = emit_intrinsic(e, bytes[is_signed][size], NULL, 0, y, 2);
  for (uint32_t k = 0; k < n; k++) lane[k] = LLVMConstInt(i32, k % parts * 4 + k / parts, false);
  LLVMTypeRef word = emit_type(e, WICK_I32, n), type = LLVMTypeOf(x);
  x = LLVMBuildBitCast(e->b, x, word, "");
  x = LLVMBuildShuffleVector(e->b, x, LLVMGetPoison(word), LLVMConstVector(lane, n), "");
  return LLVMBuildBitCast(e->b, x, type, "");
}

/* Converts four registers of f32 (as one vector) to bytes: rounds to nearest, adds `add`, and
 * narrows the words. Returns NULL on other targets. `hi` is the largest number that does not
 * saturate. `within`: all are known to fit into words. */
static LLVMValueRef cast_four(emit *e, LLVMValueRef x, uint32_t lanes, int64_t add, int64_t hi,
                              bool is_signed, bool within)
{
  uint32_t n = lanes / 4;
  if (e->target->machine != WICK_MACHINE_X86_64 || lanes != e->target->vector_bytes || add > 255 ||
      add < -255)
    return NULL;
  LLVMValueRef y[4];
  for (uint32_t i = 0; i < 4; i++) {
    y[i] = cast_part(e, x, i * n, n);
    LLVMValueRef most = emit_float(e, LLVMTypeOf(y[i]), (double)(hi - add)), /* keeps NaN */
        large = LLVMBuildFCmp(e->b, LLVMRealOLT, most, y[i], "");
    if (!within) y[i] = LLVMBuildSelect(e->b, large, most, y[i], "");
    y[i] = cast_nearest(e, y[i], n);
  }
  return cast_pack(e, y, lanes, add, is_signed);
}

/* Converts clamped words to bytes: four registers (as one vector), or one of eight words. Narrowing
 * saturates, so that the clamp is only needed for limits inside those of the bytes, and only after
 * it. Returns NULL if the words are not clamped, or on other targets. */
static LLVMValueRef cast_clamped(emit *e, const wick_node *n, wick_elem to)
{
  enum { EIGHT = 8 };
  wick_clamp c;
  uint32_t lanes = emit_info(e, n->first)->lanes, bytes = e->target->vector_bytes;
  bool is_signed = to == WICK_I8, one = lanes == EIGHT && 4 * lanes == bytes;
  if (e->target->machine != WICK_MACHINE_X86_64 || (!one && lanes != bytes) ||
      !wick_clamp_of_bytes(e->f, e->definer, n->in[0], to, &c))
    return NULL;
  LLVMValueRef x = emit_get(e, c.x), y[4];
  if (one) {
    for (uint32_t i = 0; i < 2; i++) y[i] = cast_part(e, x, i * lanes / 2, lanes / 2);
    x = emit_intrinsic(e, "llvm.x86.sse2.packssdw.128", NULL, 0, y, 2);
    y[0] = y[1] = x;
    x = emit_intrinsic(e, is_signed ? "llvm.x86.sse2.packsswb.128" : "llvm.x86.sse2.packuswb.128",
                       NULL, 0, y, 2);
  } else {
    for (uint32_t i = 0; i < 4; i++) y[i] = cast_part(e, x, i * lanes / 4, lanes / 4);
    x = cast_pack(e, y, lanes, 0, is_signed);
  }
  LLVMTypeRef type = LLVMTypeOf(x);
  y[0] = x, y[1] = emit_int(e, type, c.lo);
  if (c.lo > (is_signed ? INT8_MIN : 0))
    y[0] = emit_intrinsic(e, is_signed ? "llvm.smax" : "llvm.umax", &type, 1, y, 2);
  y[1] = emit_int(e, type, c.hi);
  if (c.hi < (is_signed ? INT8_MAX : UINT8_MAX))
    y[0] = emit_intrinsic(e, is_signed ? "llvm.smin" : "llvm.umin", &type, 1, y, 2);
  return one ? cast_part(e, y[0], 0, lanes) : y[0];
}

/* Converts to integers whose limits are floats: clamps to these limits (NaN becomes 0), then
 * converts through words, for which there are instructions. LLVM would convert one lane after
 * another. The limits are integers, so that rounding may come before or after. */
static LLVMValueRef cast_short(emit *e, const wick_node *n, wick_elem to, LLVMValueRef x)
{
  uint32_t bits = wick_elem_storage[to].bits, lanes = emit_info(e, n->first)->lanes;
  bool is_signed = wick_elem_class(to) == WICK_SINT;
  double hi = (double)((1u << (bits - is_signed)) - 1), lo = is_signed ? -hi - 1 : 0;
  int64_t add;
  wick_value rounded = cast_rounded(e, n->in[0], &add);
  LLVMTypeRef word = emit_type(e, WICK_I32, lanes);
  LLVMValueRef y = NULL;
  if (rounded.id && emit_info(e, n->in[0])->elem == WICK_F32) {
    double by = (double)add;
    LLVMValueRef z = emit_get(e, rounded);
    if (is_signed && !n->attr[WICK_ATTR_cast_within].i) /* NaN would become the least integer */
      z = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealORD, z, z, ""), z,
                          emit_float(e, LLVMTypeOf(z), -by), "");
    z = bits == 8
            ? cast_four(e, z, lanes, add, (int64_t)hi, is_signed, n->attr[WICK_ATTR_cast_within].i)
            : NULL;
    if (z) return z;
    double nan = n->attr[WICK_ATTR_cast_within].i ? lo - by : -by;
    y = cast_nearest(e, cast_within(e, emit_get(e, rounded), lo - by, hi - by, nan), lanes);
    if (y && add) y = LLVMBuildAdd(e->b, y, emit_int(e, word, add), "");
  }
  if (!y) y = LLVMBuildFPToSI(e->b, cast_within(e, x, lo, hi, 0), word, "");
  return LLVMBuildTrunc(e->b, y, emit_type_of(e, n->first), "");
}

/* Returns true if vectors are converted to integers of 64 bits by halves: x86 before AVX-512 has no instruction
 * for it, and LLVM would convert one lane after another. */
static bool cast_by_halves(const emit *e, wick_elem to)
{
  const wick_target *t = e->target;
  return wick_elem_storage[to].bits == 64 && t->machine == WICK_MACHINE_X86_64 &&
         !(t->needs & WICK_CPU_X86_V4) && t->round & WICK_BIT(WICK_F64);
}

/* Converts a vector within the limits. The halves of an integer of 64 bits are the last bits of
 * floats that are as large as 2^52. */
static LLVMValueRef cast_truncated(emit *e, LLVMValueRef x, LLVMTypeRef type, wick_elem to)
{
  LLVMTypeRef wide = LLVMTypeOf(x);
  if (!cast_by_halves(e, to))
    return wick_elem_class(to) == WICK_SINT ? LLVMBuildFPToSI(e->b, x, type, "")
                                            : LLVMBuildFPToUI(e->b, x, type, "");
  x = emit_intrinsic(e, "llvm.trunc", &wide, 1, &x, 1);
  LLVMValueRef high = LLVMBuildFMul(e->b, x, emit_float(e, wide, 0x1p-32), "");
  high = emit_intrinsic(e, "llvm.floor", &wide, 1, &high, 1);
  LLVMValueRef low =
      LLVMBuildFSub(e->b, x, LLVMBuildFMul(e->b, high, emit_float(e, wide, 0x1p32), ""), "");
  /* 3 * 2^51, whose last 32 bits are 0, so that they are those of the sum: high may be negative */
  high = LLVMBuildFAdd(e->b, high, emit_float(e, wide, 0x1.8p52), "");
  high = LLVMBuildShl(e->b, LLVMBuildBitCast(e->b, high, type, ""), emit_int(e, type, 32), "");
  low = LLVMBuildBitCast(e->b, LLVMBuildFAdd(e->b, low, emit_float(e, wide, 0x1p52), ""), type, "");
  low = LLVMBuildAnd(e->b, low, emit_int(e, type, UINT32_MAX), "");
  return LLVMBuildOr(e->b, high, low, "");
}

/* Converts to integers of 32 or 64 bits, whose limits are no floats in most cases: lanes within the limits are
 * converted, the others are the limits (NaN is 0). LLVM would convert one lane after another. */
static LLVMValueRef cast_long(emit *e, const wick_node *n, wick_elem to, LLVMValueRef x)
{
  uint32_t bits = wick_elem_storage[to].bits;
  bool is_signed = wick_elem_class(to) == WICK_SINT;
  LLVMTypeRef type = emit_type_of(e, n->first), from = LLVMTypeOf(x);
  if (cast_by_halves(e, to) && emit_info(e, n->in[0])->elem != WICK_F64) {
    from = emit_type(e, WICK_F64, emit_info(e, n->first)->lanes);
    x = LLVMBuildFPExt(e->b, x, from, "");
  }
  if (n->attr[WICK_ATTR_cast_within].i) return cast_truncated(e, x, type, to);
  if (bits == 32 && emit_info(e, n->in[0])->elem == WICK_F64) { /* the limits are floats */
    double most = (double)(UINT32_MAX >> is_signed);
    return cast_truncated(e, cast_within(e, x, is_signed ? -most - 1 : 0, most, 0), type, to);
  }
  LLVMValueRef end = emit_float(e, from, ldexp(1, (int)bits - is_signed)),
               least = emit_float(e, from, is_signed ? -ldexp(1, (int)bits - 1) : -1);
  LLVMRealPredicate above = is_signed ? LLVMRealOGE : LLVMRealOGT;
  LLVMValueRef within = LLVMBuildAnd(e->b, LLVMBuildFCmp(e->b, above, x, least, ""),
                                     LLVMBuildFCmp(e->b, LLVMRealOLT, x, end, ""), ""),
               in = LLVMBuildSelect(e->b, within, x, LLVMConstNull(from), ""),
               y = cast_truncated(e, in, type, to);
  uint64_t ones = UINT64_MAX >> (64 - bits + is_signed);
  y = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGE, x, end, ""),
                      emit_int(e, type, (int64_t)ones), y, "");
  if (!is_signed) return y;
  return LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, x, least, ""),
                         emit_int(e, type, (int64_t)~ones), y, "");
}

static LLVMValueRef cast_from_float(emit *e, const wick_node *n, wick_elem from, wick_elem to,
                                    LLVMValueRef x)
{
  LLVMTypeRef type = emit_type_of(e, n->first), wide = LLVMTypeOf(x), over[2] = {type, wide};
  if (wick_elem_is_float(to)) {
    if (!cast_is_wide(from) || !cast_is_wide(to)) return cast_narrow(e, n, from, to, x);
    return to == WICK_F64 ? LLVMBuildFPExt(e->b, x, type, "") : LLVMBuildFPTrunc(e->b, x, type, "");
  }
  if (!cast_is_wide(from)) return cast_narrow(e, n, from, to, x);
  if (to == WICK_BOOL) return LLVMBuildFCmp(e->b, LLVMRealUNE, x, LLVMConstNull(wide), "");
  bool is_signed = wick_elem_class(to) == WICK_SINT;
  if (wick_elem_storage[to].bits <= 16) return cast_short(e, n, to, x);
  if (emit_info(e, n->first)->lanes > 1) return cast_long(e, n, to, x);
  return emit_intrinsic(e, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", over, 2, &x, 1);
}

static LLVMValueRef cast_from_integer(emit *e, const wick_node *n, wick_elem from, wick_elem to,
                                      LLVMValueRef x)
{
  LLVMTypeRef type = emit_type_of(e, n->first);
  bool is_signed = wick_elem_class(from) == WICK_SINT;
  if (to == WICK_BOOL)
    return from == WICK_BOOL ? x
                             : LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  if (wick_elem_is_float(to)) {
    if (!cast_is_wide(to)) return cast_narrow(e, n, from, to, x);
    return is_signed ? LLVMBuildSIToFP(e->b, x, type, "") : LLVMBuildUIToFP(e->b, x, type, "");
  }
  uint32_t width = from == WICK_BOOL ? 1 : wick_elem_storage[from].bits,
           want = wick_elem_storage[to].bits;
  LLVMValueRef clamped = cast_clamped(e, n, to);
  if (clamped) return clamped;
  if (want < width) return LLVMBuildTrunc(e->b, x, type, "");
  if (want == width) return x;
  return is_signed ? LLVMBuildSExt(e->b, x, type, "") : LLVMBuildZExt(e->b, x, type, "");
}

static void cast_cast(emit *e, const wick_node *n)
{
  wick_elem from = emit_info(e, n->in[0])->elem, to = emit_info(e, n->first)->elem;
  LLVMValueRef x = emit_get(e, n->in[0]);
  if (from != to)
    x = wick_elem_is_float(from) ? cast_from_float(e, n, from, to, x)
                                 : cast_from_integer(e, n, from, to, x);
  emit_set(e, n->first, x);
}

/* To bf16, as an instruction. */
static void cast_to_bf16(emit *e, const wick_node *n)
{
  const wick_type_info *t = emit_info(e, n->first);
  LLVMValueRef x = emit_get(e, n->in[0]);
  bool has = e->target->narrow & WICK_BIT(t->elem) && t->lanes == e->target->vector_bytes / 4 &&
             t->lanes == 16;
  if (has)
    emit_set(e, n->first,
             LLVMBuildBitCast(
                 e->b, emit_intrinsic(e, "llvm.x86.avx512bf16.cvtneps2bf16.512", NULL, 0, &x, 1),
                 emit_type_of(e, n->first), ""));
  else
    emit_fail(e, n, "%s narrows no %u lanes: a pass expands it", e->target->row, t->lanes);
}

static void cast_bitcast(emit *e, const wick_node *n)
{
  emit_set(e, n->first,
           LLVMBuildBitCast(e->b, emit_get(e, n->in[0]), emit_type_of(e, n->first), ""));
}

const struct emit_named emit_cast_rows[] = {
    {"cast", cast_cast}, {"bitcast", cast_bitcast}, {"narrow", cast_to_bf16}, {NULL, NULL}};
