/* Conversions between element types. Narrow floats are integers here (emit.h): those of 16 bits
 * become f32 and back where the target's row has the conversion; the rest is a pass's work. */
#include "codegen/llvm/emit.h"

static bool cast_is_wide(wick_elem e) { return e == WICK_F32 || e == WICK_F64; }

/* Between a 16-bit float and f32. */
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
  if (narrow == from) return LLVMBuildFPExt(e->b, LLVMBuildBitCast(e->b, x, half, ""), type, "");
  return LLVMBuildBitCast(e->b, LLVMBuildFPTrunc(e->b, x, half, ""), type, "");
}

/* To integers whose limits are floats: within these limits (NaN becomes 0), then by a word, whose
 * conversion is an instruction; LLVM would take one lane after another. */
static LLVMValueRef cast_short(emit *e, const wick_node *n, wick_elem to, LLVMValueRef x)
{
  uint32_t bits = wick_elem_storage[to].bits;
  bool is_signed = wick_elem_class(to) == WICK_SINT;
  double hi = (double)((1u << (bits - is_signed)) - 1), lo = is_signed ? -hi - 1 : 0;
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef least = emit_float(e, type, lo), most = emit_float(e, type, hi);
  if (is_signed)
    x = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealORD, x, x, ""), x, LLVMConstNull(type),
                        "");
  x = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGT, x, least, ""), x, least, "");
  x = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, x, most, ""), x, most, "");
  x = LLVMBuildFPToSI(e->b, x, emit_type(e, WICK_I32, emit_info(e, n->first)->lanes), "");
  return LLVMBuildTrunc(e->b, x, emit_type_of(e, n->first), "");
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

static void cast_bitcast(emit *e, const wick_node *n)
{
  emit_set(e, n->first,
           LLVMBuildBitCast(e->b, emit_get(e, n->in[0]), emit_type_of(e, n->first), ""));
}

const struct emit_named emit_cast_rows[] = {
    {"cast", cast_cast}, {"bitcast", cast_bitcast}, {NULL, NULL}};
