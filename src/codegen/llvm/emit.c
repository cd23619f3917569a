/* Emits types, constants and intrinsics. */
#include "codegen/llvm/emit.h"

#include <string.h>

#include "ir/element.h"
#include "loop/clamp.h"

void emit_fail(emit *e, const wick_node *n, const char *fmt, ...)
{
  if (e->status) return;
  va_list args;
  va_start(args, fmt);
  const char *loc = n && n->loc.id ? wick_loc_text(e->f->module, n->loc) : "";
  const char *place =
      wick_str_printf(e->mem, "%s%s@%s%s%s", loc, *loc ? ": " : "", e->f ? e->f->name : "",
                      n ? ": " : "", n ? wick_op_of(n)->name : "");
  e->status = wick_vfail(e->mem, WICK_EUNSUPPORTED, place, fmt, args);
  va_end(args);
}

void emit_set(emit *e, wick_value v, LLVMValueRef x)
{
  e->value[v.id] = x;
  e->order[v.id] = LLVMIsAInstruction(x) ? ++e->norder : 0;
}

LLVMTypeRef emit_elem_type(const emit *e, wick_elem elem)
{
  switch (elem) {
  case WICK_F64: return LLVMDoubleTypeInContext(e->context);
  case WICK_F32: return LLVMFloatTypeInContext(e->context);
  case WICK_BOOL: return LLVMInt1TypeInContext(e->context);
  default: return LLVMIntTypeInContext(e->context, wick_elem_storage[elem].bits);
  }
}

LLVMTypeRef emit_type(const emit *e, wick_elem elem, uint32_t lanes)
{
  LLVMTypeRef t = emit_elem_type(e, elem);
  return lanes == 1 ? t : LLVMVectorType(t, lanes);
}

LLVMTypeRef emit_type_of(const emit *e, wick_value v)
{
  const wick_type_info *t = emit_info(e, v);
  return emit_type(e, t->elem, t->lanes);
}

LLVMTypeRef emit_pointer(const emit *e) { return LLVMPointerTypeInContext(e->context, 0); }
LLVMTypeRef emit_word(const emit *e)
{
  return LLVMIntTypeInContext(e->context, e->target->pointer_bits);
}

uint64_t emit_elem_bytes(wick_elem elem)
{
  uint32_t bits = wick_elem_storage[elem].bits;
  return bits % 8 ? 0 : bits / 8;
}

/* ---- constants ---- */

LLVMValueRef emit_i64(const emit *e, int64_t i)
{
  return LLVMConstInt(LLVMInt64TypeInContext(e->context), (unsigned long long)i, true);
}

static LLVMValueRef emit_splat(LLVMTypeRef type, LLVMValueRef x)
{
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return x;
  enum { MOST = 1024 };
  LLVMValueRef lane[MOST];
  unsigned n = LLVMGetVectorSize(type);
  for (unsigned i = 0; i < n && i < MOST; i++) lane[i] = x;
  return LLVMConstVector(lane, n);
}

static LLVMTypeRef emit_element_of(LLVMTypeRef type)
{
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

LLVMValueRef emit_int(const emit *e, LLVMTypeRef type, int64_t x)
{
  (void)e;
  return emit_splat(type, LLVMConstInt(emit_element_of(type), (unsigned long long)x, true));
}

LLVMValueRef emit_float(const emit *e, LLVMTypeRef type, double x)
{
  (void)e;
  return emit_splat(type, LLVMConstReal(emit_element_of(type), x));
}

/* Goes through the element's bits in memory, so that rounding and NaN are those of the storage
 * table. */
LLVMValueRef emit_number(const emit *e, wick_elem elem, uint32_t lanes, wick_scalar s)
{
  uint64_t bits = 0;
  wick_store_elem(elem, &bits, 0, s);
  unsigned width = elem == WICK_BOOL ? 1 : wick_elem_storage[elem].bits;
  LLVMValueRef x = LLVMConstInt(LLVMIntTypeInContext(e->context, width), bits, false);
  if (elem == WICK_F32 || elem == WICK_F64) x = LLVMConstBitCast(x, emit_elem_type(e, elem));
  return emit_splat(emit_type(e, elem, lanes), x);
}

bool emit_known(const emit *e, wick_value v, wick_scalar *out)
{
  return wick_splat_number(e->f, e->definer, v, out);
}

LLVMValueRef emit_as_vector(const emit *e, LLVMValueRef x)
{
  if (LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMVectorTypeKind) return x;
  LLVMValueRef none = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(x), 1));
  return LLVMBuildInsertElement(e->b, none, x, emit_i64(e, 0), "");
}

/* ---- calls and blocks ---- */

LLVMValueRef emit_intrinsic(emit *e, const char *name, LLVMTypeRef *type, size_t ntype,
                            LLVMValueRef *arg, uint32_t narg)
{
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  if (!id) {
    emit_fail(e, NULL, "LLVM has no %s", name);
    return LLVMGetPoison(LLVMTypeOf(arg[0]));
  }
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, type, ntype);
  return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, type, ntype), f, arg, narg, "");
}

LLVMBasicBlockRef emit_block(const emit *e, const char *name)
{
  return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

/* Narrow floats are only moved and converted. */
static bool emit_is_narrow(const emit *e, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  if (op->scalar == WICK_NOT_SCALAR || op->scalar == WICK_RULE_TYPED) return false;
  if (op->scalar == WICK_RULE_SELECT || n->nin == 0) return false;
  wick_elem elem = emit_info(e, n->in[0])->elem;
  return wick_elem_is_float(elem) && elem != WICK_F32 && elem != WICK_F64;
}

void emit_node(emit *e, const wick_node *n)
{
  emit_row row = e->rows[n->op];
  if (row && emit_is_narrow(e, n))
    emit_fail(e, n, "there is no arithmetic of %s: a pass should have widened it",
              wick_elem_name(emit_info(e, n->in[0])->elem));
  else if (row)
    row(e, n);
  else
    emit_fail(e, n, "the LLVM back end has no code for it: a pass should have expanded it");
}
