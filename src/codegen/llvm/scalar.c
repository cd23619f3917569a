/* Emits arithmetic, logic and comparisons that need the same few instructions on every machine.
 * src/ops defines each operator; floats here are f32 and f64. */
#include "codegen/llvm/emit.h"

static wick_elem scalar_elem(const emit *e, const wick_node *n)
{
  return emit_info(e, n->in[0])->elem;
}
static bool scalar_is_float(const emit *e, const wick_node *n)
{
  return wick_elem_is_float(scalar_elem(e, n));
}
static bool scalar_is_unsigned(const emit *e, const wick_node *n)
{
  wick_class c = wick_elem_storage[scalar_elem(e, n)].cls;
  return c == WICK_UINT || c == WICK_LOGIC;
}

static LLVMTypeRef scalar_type(const emit *e, const wick_node *n)
{
  return emit_type_of(e, n->in[0]);
}
static LLVMValueRef scalar_in(const emit *e, const wick_node *n, uint32_t i)
{
  return emit_get(e, n->in[i]);
}

/* ---- sums, products, signs ---- */

#define SCALAR_BOTH(name, of_floats, of_integers)                                                  \
  static void scalar_##name(emit *e, const wick_node *n)                                           \
  {                                                                                                \
    LLVMValueRef x = scalar_in(e, n, 0), y = scalar_in(e, n, 1);                                   \
    emit_set(e, n->first,                                                                          \
             scalar_is_float(e, n) ? of_floats(e->b, x, y, "") : of_integers(e->b, x, y, ""));     \
  }
SCALAR_BOTH(add, LLVMBuildFAdd, LLVMBuildAdd)
SCALAR_BOTH(sub, LLVMBuildFSub, LLVMBuildSub)
SCALAR_BOTH(mul, LLVMBuildFMul, LLVMBuildMul)

static void scalar_neg(emit *e, const wick_node *n)
{
  LLVMValueRef x = scalar_in(e, n, 0);
  emit_set(e, n->first,
           scalar_is_float(e, n) ? LLVMBuildFNeg(e->b, x, "") : LLVMBuildNeg(e->b, x, ""));
}

static void scalar_abs(emit *e, const wick_node *n)
{
  LLVMTypeRef type = scalar_type(e, n);
  LLVMValueRef arg[2] = {scalar_in(e, n, 0), LLVMConstNull(LLVMInt1TypeInContext(e->context))};
  if (scalar_is_float(e, n))
    emit_set(e, n->first, emit_intrinsic(e, "llvm.fabs", &type, 1, arg, 1));
  else if (scalar_is_unsigned(e, n))
    emit_set(e, n->first, arg[0]);
  else
    emit_set(e, n->first, emit_intrinsic(e, "llvm.abs", &type, 1, arg, 2));
}

static void scalar_sign(emit *e, const wick_node *n)
{
  LLVMTypeRef type = scalar_type(e, n);
  LLVMValueRef x = scalar_in(e, n, 0), zero = LLVMConstNull(type), one, minus, r;
  if (scalar_is_float(e, n)) {
    one = emit_float(e, type, 1), minus = emit_float(e, type, -1);
    r = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGT, x, zero, ""), one, zero, "");
    r = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOLT, x, zero, ""), minus, r, "");
    r = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, ""), x, r, "");
  } else {
    one = emit_int(e, type, 1), minus = emit_int(e, type, -1);
    LLVMIntPredicate more = scalar_is_unsigned(e, n) ? LLVMIntUGT : LLVMIntSGT;
    r = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, more, x, zero, ""), one, zero, "");
    if (more == LLVMIntSGT)
      r = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, x, zero, ""), minus, r, "");
  }
  emit_set(e, n->first, r);
}

/* ---- comparisons, choice ---- */

static void scalar_compare(emit *e, const wick_node *n, LLVMRealPredicate f, LLVMIntPredicate s,
                           LLVMIntPredicate u)
{
  LLVMValueRef x = scalar_in(e, n, 0), y = scalar_in(e, n, 1);
  emit_set(e, n->first,
           scalar_is_float(e, n) ? LLVMBuildFCmp(e->b, f, x, y, "")
                                 : LLVMBuildICmp(e->b, scalar_is_unsigned(e, n) ? u : s, x, y, ""));
}

#define SCALAR_COMPARE(name, f, s, u)                                                              \
  static void scalar_##name(emit *e, const wick_node *n) { scalar_compare(e, n, f, s, u); }
SCALAR_COMPARE(eq, LLVMRealOEQ, LLVMIntEQ, LLVMIntEQ)
SCALAR_COMPARE(ne, LLVMRealUNE, LLVMIntNE, LLVMIntNE)
SCALAR_COMPARE(lt, LLVMRealOLT, LLVMIntSLT, LLVMIntULT)
SCALAR_COMPARE(le, LLVMRealOLE, LLVMIntSLE, LLVMIntULE)
SCALAR_COMPARE(gt, LLVMRealOGT, LLVMIntSGT, LLVMIntUGT)
SCALAR_COMPARE(ge, LLVMRealOGE, LLVMIntSGE, LLVMIntUGE)

static void scalar_isnan(emit *e, const wick_node *n)
{
  LLVMValueRef x = scalar_in(e, n, 0);
  emit_set(e, n->first, LLVMBuildFCmp(e->b, LLVMRealUNO, x, x, ""));
}

static void scalar_isinf(emit *e, const wick_node *n)
{
  LLVMTypeRef type = scalar_type(e, n);
  LLVMValueRef x = scalar_in(e, n, 0), r = LLVMConstNull(emit_type_of(e, n->first));
  for (uint32_t i = 0; i < 2; i++) {
    if (!n->attr[i].i) continue;
    LLVMValueRef inf = emit_float(e, type, i ? (double)__builtin_inf() : -(double)__builtin_inf());
    r = LLVMBuildOr(e->b, r, LLVMBuildFCmp(e->b, LLVMRealOEQ, x, inf, ""), "");
  }
  emit_set(e, n->first, r);
}

static void scalar_where(emit *e, const wick_node *n)
{
  emit_set(e, n->first,
           LLVMBuildSelect(e->b, scalar_in(e, n, 0), scalar_in(e, n, 1), scalar_in(e, n, 2), ""));
}

/* ---- bits ---- */

#define SCALAR_BITS(name, build)                                                                   \
  static void scalar_##name(emit *e, const wick_node *n)                                           \
  {                                                                                                \
    emit_set(e, n->first, build(e->b, scalar_in(e, n, 0), scalar_in(e, n, 1), ""));                \
  }
SCALAR_BITS(and, LLVMBuildAnd)
SCALAR_BITS(or, LLVMBuildOr)
SCALAR_BITS(xor, LLVMBuildXor)

static void scalar_not(emit *e, const wick_node *n)
{
  emit_set(e, n->first, LLVMBuildNot(e->b, scalar_in(e, n, 0), ""));
}

/* Returns the shift amount, at most `most` as an unsigned number, because LLVM requires it to be
 * below the width. */
static LLVMValueRef scalar_amount(emit *e, const wick_node *n, int64_t most, bool *out_fits)
{
  wick_scalar known;
  LLVMValueRef y = scalar_in(e, n, 1);
  *out_fits = emit_known(e, n->in[1], &known) && known.i >= 0 && known.i <= most;
  if (*out_fits) return y;
  LLVMTypeRef type = scalar_type(e, n);
  LLVMValueRef arg[2] = {y, emit_int(e, type, most)};
  return emit_intrinsic(e, "llvm.umin", &type, 1, arg, 2);
}

static LLVMValueRef scalar_if_fits(emit *e, const wick_node *n, LLVMValueRef r, int64_t most)
{
  LLVMTypeRef type = scalar_type(e, n);
  LLVMValueRef ok =
      LLVMBuildICmp(e->b, LLVMIntULE, scalar_in(e, n, 1), emit_int(e, type, most), "");
  return LLVMBuildSelect(e->b, ok, r, LLVMConstNull(type), "");
}

static void scalar_shift_left(emit *e, const wick_node *n)
{
  bool fits;
  int64_t most = wick_elem_storage[scalar_elem(e, n)].bits - 1;
  LLVMValueRef r = LLVMBuildShl(e->b, scalar_in(e, n, 0), scalar_amount(e, n, most, &fits), "");
  emit_set(e, n->first, fits ? r : scalar_if_fits(e, n, r, most));
}

static void scalar_shift_right(emit *e, const wick_node *n)
{
  bool fits;
  int64_t most = wick_elem_storage[scalar_elem(e, n)].bits - 1;
  LLVMValueRef x = scalar_in(e, n, 0), y = scalar_amount(e, n, most, &fits);
  if (!scalar_is_unsigned(e, n)) { /* with a larger amount, only copies of the sign are left */
    emit_set(e, n->first, LLVMBuildAShr(e->b, x, y, ""));
    return;
  }
  LLVMValueRef r = LLVMBuildLShr(e->b, x, y, "");
  emit_set(e, n->first, fits ? r : scalar_if_fits(e, n, r, most));
}

/* ---- integer division ---- */

/* Returns a divisor that traps on no machine: 1 instead of 0, and of -1 for signed types. */
static LLVMValueRef scalar_divisor(emit *e, const wick_node *n, bool is_signed)
{
  wick_scalar known;
  LLVMTypeRef type = scalar_type(e, n);
  LLVMValueRef y = scalar_in(e, n, 1), one = emit_int(e, type, 1);
  if (emit_known(e, n->in[1], &known) && known.i != 0 && known.i != -1) return y;
  LLVMValueRef bad = LLVMBuildICmp(e->b, LLVMIntEQ, y, LLVMConstNull(type), "");
  if (is_signed)
    bad = LLVMBuildOr(e->b, bad, LLVMBuildICmp(e->b, LLVMIntEQ, y, emit_int(e, type, -1), ""), "");
  return LLVMBuildSelect(e->b, bad, one, y, "");
}

static LLVMValueRef scalar_zero_by_zero(emit *e, const wick_node *n, LLVMValueRef r)
{
  LLVMTypeRef type = scalar_type(e, n);
  LLVMValueRef y = scalar_in(e, n, 1), zero = LLVMConstNull(type);
  return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, y, zero, ""), zero, r, "");
}

static void scalar_div(emit *e, const wick_node *n)
{
  LLVMValueRef x = scalar_in(e, n, 0), y = scalar_in(e, n, 1);
  if (scalar_is_float(e, n)) {
    emit_set(e, n->first, LLVMBuildFDiv(e->b, x, y, ""));
    return;
  }
  bool is_signed = !scalar_is_unsigned(e, n);
  LLVMValueRef d = scalar_divisor(e, n, is_signed);
  LLVMValueRef q = is_signed ? LLVMBuildSDiv(e->b, x, d, "") : LLVMBuildUDiv(e->b, x, d, "");
  if (d != y && is_signed) {
    LLVMValueRef minus = emit_int(e, scalar_type(e, n), -1);
    q = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, y, minus, ""),
                        LLVMBuildNeg(e->b, x, ""), q, "");
  }
  emit_set(e, n->first, d == y ? q : scalar_zero_by_zero(e, n, q));
}

/* Emits x - trunc(x / y) * y. It is 0 for y = 0 and y = -1, because the divisor is then 1. */
static LLVMValueRef scalar_rest(emit *e, const wick_node *n)
{
  bool is_signed = !scalar_is_unsigned(e, n);
  LLVMValueRef x = scalar_in(e, n, 0), d = scalar_divisor(e, n, is_signed);
  return is_signed ? LLVMBuildSRem(e->b, x, d, "") : LLVMBuildURem(e->b, x, d, "");
}

static bool scalar_want_integers(emit *e, const wick_node *n)
{
  if (!scalar_is_float(e, n)) return true;
  emit_fail(e, n, "remainders of floats are expanded by a pass");
  return false;
}

static void scalar_fmod(emit *e, const wick_node *n)
{
  if (scalar_want_integers(e, n)) emit_set(e, n->first, scalar_rest(e, n));
}

static void scalar_mod(emit *e, const wick_node *n)
{
  if (!scalar_want_integers(e, n)) return;
  LLVMValueRef r = scalar_rest(e, n), y = scalar_in(e, n, 1);
  if (!scalar_is_unsigned(e, n)) { /* a remainder whose sign is not y's */
    LLVMValueRef zero = LLVMConstNull(scalar_type(e, n));
    LLVMValueRef some = LLVMBuildICmp(e->b, LLVMIntNE, r, zero, "");
    LLVMValueRef other = LLVMBuildICmp(e->b, LLVMIntSLT, LLVMBuildXor(e->b, r, y, ""), zero, "");
    r = LLVMBuildSelect(e->b, LLVMBuildAnd(e->b, some, other, ""), LLVMBuildAdd(e->b, r, y, ""), r,
                        "");
  }
  emit_set(e, n->first, r);
}

static void scalar_quot(emit *e, const wick_node *n)
{
  LLVMValueRef x = scalar_in(e, n, 0), y = scalar_in(e, n, 1);
  emit_set(e, n->first,
           scalar_is_unsigned(e, n) ? LLVMBuildUDiv(e->b, x, y, "")
                                    : LLVMBuildSDiv(e->b, x, y, ""));
}

static void scalar_rem(emit *e, const wick_node *n)
{
  LLVMValueRef x = scalar_in(e, n, 0), y = scalar_in(e, n, 1);
  emit_set(e, n->first,
           scalar_is_unsigned(e, n) ? LLVMBuildURem(e->b, x, y, "")
                                    : LLVMBuildSRem(e->b, x, y, ""));
}

const struct emit_named emit_scalar_rows[] = {
    {"add", scalar_add},
    {"sub", scalar_sub},
    {"mul", scalar_mul},
    {"neg", scalar_neg},
    {"abs", scalar_abs},
    {"sign", scalar_sign},
    {"eq", scalar_eq},
    {"ne", scalar_ne},
    {"lt", scalar_lt},
    {"le", scalar_le},
    {"gt", scalar_gt},
    {"ge", scalar_ge},
    {"isnan", scalar_isnan},
    {"isinf", scalar_isinf},
    {"where", scalar_where},
    {"and", scalar_and},
    {"or", scalar_or},
    {"xor", scalar_xor},
    {"not", scalar_not},
    {"bit_and", scalar_and},
    {"bit_or", scalar_or},
    {"bit_xor", scalar_xor},
    {"bit_not", scalar_not},
    {"shift_left", scalar_shift_left},
    {"shift_right", scalar_shift_right},
    {"div", scalar_div},
    {"fmod", scalar_fmod},
    {"mod", scalar_mod},
    {"div_unchecked", scalar_quot},
    {"rem_unchecked", scalar_rem},
    {NULL, NULL},
};
