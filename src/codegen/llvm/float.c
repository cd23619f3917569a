/* Floats where machines differ: fused multiply-add, rounding, square roots, the larger and the
 * smaller. Integers' larger and smaller stand here too. */
#include <math.h>

#include "codegen/llvm/emit.h"

static bool float_has(const emit *e, const wick_node *n, uint64_t set)
{
  return set & WICK_BIT(emit_info(e, n->first)->elem);
}

/* An intrinsic of the operands' type, where the target's row says that it needs no call. */
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
  float_intrinsic(e, n, "llvm.roundeven", e->target->round);
}

/* ---- max, min ---- */

/* The operand that is a number, not NaN: out_x is the other one. */
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

/* c against x, where x86's maxps and minps give x if it is NaN, or equal: so only zeros can have
 * the wrong sign, and adding +0 turns -0 into +0, and nothing else. NULL where this does not hold.
 */
static LLVMValueRef float_extreme_known(emit *e, const wick_node *n, bool max)
{
  wick_value v;
  double c;
  if (e->target->machine != WICK_MACHINE_X86_64 || !float_known_operand(e, n, &v, &c)) return NULL;
  if (!max && c == 0 && signbit(c)) return NULL;
  LLVMTypeRef type = emit_type_of(e, n->first);
  LLVMValueRef x = emit_get(e, v), k = emit_float(e, type, c);
  LLVMValueRef wins = LLVMBuildFCmp(e->b, max ? LLVMRealOGT : LLVMRealOLT, k, x, "");
  LLVMValueRef r = LLVMBuildSelect(e->b, wins, k, x, "");
  return max && c == 0 && !signbit(c) ? LLVMBuildFAdd(e->b, r, emit_float(e, type, 0), "") : r;
}

static void float_extreme(emit *e, const wick_node *n, bool max)
{
  LLVMTypeRef type = emit_type_of(e, n->first);
  wick_elem elem = emit_info(e, n->first)->elem;
  LLVMValueRef arg[2] = {emit_get(e, n->in[0]), emit_get(e, n->in[1])}, r = NULL;
  const char *name = NULL;
  switch (wick_elem_storage[elem].cls) {
  case WICK_FLOAT:
    r = float_extreme_known(e, n, max);
    name = max ? "llvm.maximum" : "llvm.minimum";
    break;
  case WICK_SINT: name = max ? "llvm.smax" : "llvm.smin"; break;
  case WICK_UINT: name = max ? "llvm.umax" : "llvm.umin"; break;
  default:
    r = max ? LLVMBuildOr(e->b, arg[0], arg[1], "") : LLVMBuildAnd(e->b, arg[0], arg[1], "");
    break;
  }
  emit_set(e, n->first, r ? r : emit_intrinsic(e, name, &type, 1, arg, 2));
}

static void float_max(emit *e, const wick_node *n) { float_extreme(e, n, true); }
static void float_min(emit *e, const wick_node *n) { float_extreme(e, n, false); }

const struct emit_named emit_float_rows[] = {
    {"fma", float_fma},     {"muladd", float_muladd}, {"sqrt", float_sqrt},
    {"floor", float_floor}, {"ceil", float_ceil},     {"trunc", float_trunc},
    {"max", float_max},     {"min", float_min},       {"round_even", float_round_even},
    {NULL, NULL},
};
