/* Emits operators on lanes: broadcasts, vectors of scalars, counting vectors, extraction, the
 * question whether a lane is true, shuffles. */
#include "codegen/llvm/emit.h"

/* Repeats a vector. Bytes that fill a word are broadcast as one element. */
static LLVMValueRef vector_repeat(const emit *e, LLVMValueRef x, uint32_t own, uint32_t lanes)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMTypeRef elem = LLVMGetElementType(LLVMTypeOf(x)), result = LLVMVectorType(elem, lanes);
  if (LLVMGetTypeKind(elem) == LLVMIntegerTypeKind && own * LLVMGetIntTypeWidth(elem) == 32) {
    LLVMTypeRef words = LLVMVectorType(i32, lanes / own);
    x = LLVMBuildBitCast(e->b, x, i32, "");
    x = LLVMBuildInsertElement(e->b, LLVMGetPoison(words), x, emit_i64(e, 0), "");
    x = LLVMBuildShuffleVector(e->b, x, LLVMGetPoison(words),
                               LLVMConstNull(LLVMVectorType(i32, lanes / own)), "");
    return LLVMBuildBitCast(e->b, x, result, "");
  }
  LLVMValueRef *lane = wick_new(e->mem, LLVMValueRef, lanes);
  for (uint32_t i = 0; i < lanes; i++) lane[i] = LLVMConstInt(i32, i % own, false);
  return LLVMBuildShuffleVector(e->b, x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(lane, lanes),
                                "");
}

static void vector_broadcast(emit *e, const wick_node *n)
{
  LLVMValueRef x = emit_get(e, n->in[0]);
  uint32_t lanes = emit_info(e, n->first)->lanes;
  uint32_t own = emit_info(e, n->in[0])->lanes;
  if (own > 1) {
    x = vector_repeat(e, x, own, lanes);
  } else if (lanes > 1) {
    LLVMTypeRef type = emit_type_of(e, n->first);
    x = LLVMBuildInsertElement(e->b, LLVMGetPoison(type), x, emit_i64(e, 0), "");
    LLVMTypeRef mask = LLVMVectorType(LLVMInt32TypeInContext(e->context), lanes);
    x = LLVMBuildShuffleVector(e->b, x, LLVMGetPoison(type), LLVMConstNull(mask), "");
  }
  emit_set(e, n->first, x);
}

static void vector_vector(emit *e, const wick_node *n)
{
  LLVMValueRef x = emit_get(e, n->in[0]);
  if (n->nin > 1) x = LLVMGetPoison(emit_type_of(e, n->first));
  for (uint32_t i = 0; i < n->nin && n->nin > 1; i++)
    x = LLVMBuildInsertElement(e->b, x, emit_get(e, n->in[i]), emit_i64(e, i), "");
  emit_set(e, n->first, x);
}

static void vector_iota(emit *e, const wick_node *n)
{
  const wick_type_info *t = emit_info(e, n->first);
  LLVMValueRef *lane = wick_new(e->mem, LLVMValueRef, t->lanes);
  for (uint32_t i = 0; i < t->lanes; i++)
    lane[i] = emit_number(e, t->elem, 1, (wick_scalar){.i = i});
  emit_set(e, n->first, t->lanes == 1 ? lane[0] : LLVMConstVector(lane, t->lanes));
}

static void vector_extract(emit *e, const wick_node *n)
{
  LLVMValueRef x = emit_get(e, n->in[0]);
  if (emit_info(e, n->in[0])->lanes > 1)
    x = LLVMBuildExtractElement(e->b, x, emit_i64(e, n->attr[WICK_ATTR_extract_lane].i), "");
  emit_set(e, n->first, x);
}

static void vector_any(emit *e, const wick_node *n)
{
  LLVMValueRef x = emit_get(e, n->in[0]);
  LLVMTypeRef type = LLVMTypeOf(x);
  if (emit_info(e, n->in[0])->lanes > 1)
    x = emit_intrinsic(e, "llvm.vector.reduce.or", &type, 1, &x, 1);
  emit_set(e, n->first, x);
}

/* Returns whether x is a shuffle of two vectors. */
static bool vector_is_shuffled(LLVMValueRef x)
{
  return LLVMIsAShuffleVectorInst(x) && !LLVMIsUndef(LLVMGetOperand(x, 1));
}

/* Returns x, behind which LLVM does not look. Costs no instruction. */
static LLVMValueRef vector_fence(emit *e, LLVMValueRef x, uint32_t nbytes)
{
  LLVMTypeRef type = LLVMTypeOf(x),
              floats = LLVMVectorType(LLVMFloatTypeInContext(e->context), nbytes / 4);
  x = LLVMBuildBitCast(e->b, x, floats, "");
  x = emit_intrinsic(e, "llvm.arithmetic.fence", &floats, 1, &x, 1);
  return LLVMBuildBitCast(e->b, x, type, "");
}

/* For each shuffle LLVM's back end for x86 searches all those that it depends on, whose number doubles
 * with each step of a transposition, for one that could replace them: half of the time of the
 * compilation of a transposition in four steps. It sees two steps at a time. Of bytes and halves it
 * sees all, because there it finds such shuffles. */
static LLVMValueRef vector_limit_search(emit *e, const wick_node *n, LLVMValueRef x)
{
  enum { LEAST = 8, WORD = 4, REGISTER = 16 };
  const wick_type_info *t = emit_info(e, n->first);
  uint64_t each = emit_elem_bytes(t->elem), nbytes = t->lanes * each;
  if (e->target->machine != WICK_MACHINE_X86_64 || t->lanes < LEAST || each < WORD ||
      nbytes > e->target->vector_bytes || nbytes % REGISTER || !LLVMIsAShuffleVectorInst(x))
    return x;
  if (!vector_is_shuffled(LLVMGetOperand(x, 0)) && !vector_is_shuffled(LLVMGetOperand(x, 1)))
    return x;
  return vector_fence(e, x, (uint32_t)nbytes);
}

static void vector_shuffle(emit *e, const wick_node *n)
{
  uint32_t lanes = n->attr[WICK_ATTR_shuffle_lanes].n;
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMValueRef *lane = wick_new(e->mem, LLVMValueRef, lanes);
  for (uint32_t i = 0; i < lanes; i++)
    lane[i] =
        LLVMConstInt(i32, (unsigned long long)n->attr[WICK_ATTR_shuffle_lanes].ints[i], false);
  LLVMValueRef x = emit_as_vector(e, emit_get(e, n->in[0])),
               y = emit_as_vector(e, emit_get(e, n->in[1]));
  x = LLVMBuildShuffleVector(e->b, x, y, LLVMConstVector(lane, lanes), "");
  x = vector_limit_search(e, n, x);
  emit_set(e, n->first, lanes > 1 ? x : LLVMBuildExtractElement(e->b, x, emit_i64(e, 0), ""));
}

const struct emit_named emit_vector_rows[] = {
    {"any", vector_any},   {"broadcast", vector_broadcast}, {"vector", vector_vector},
    {"iota", vector_iota}, {"extract", vector_extract},     {"shuffle", vector_shuffle},
    {NULL, NULL},
};
