/* Emits the operator `dot`: sum = dot(sum, x, w). It adds to each 32-bit lane of the sum the
 * products of the k elements of x and w that belong to this lane. The target's table lists the
 * element types and k of its instructions (wick_dot). An instruction becomes one of LLVM's
 * intrinsics. Targets without one for bytes multiply pairs: the bytes with even and with odd
 * index are widened to 16 bits, and multiplied by one instruction each. */
#include "codegen/llvm/emit.h"

typedef struct dot_intrinsic {
  wick_machine machine;
  wick_dot row;     /* the instruction, as in the target's table */
  uint32_t lanes;   /* lanes of the sum; 0: scalable registers */
  const char *name; /* of the intrinsic */
  bool typed;       /* the name is overloaded by the types of the sum and of x */
  /* the element type of the vectors that the intrinsic takes for x and w; NULL: bytes */
  LLVMTypeRef (*operand)(LLVMContextRef c);
} dot_intrinsic;

static const dot_intrinsic dot_intrinsics[] = {
    {WICK_MACHINE_X86_64,
     {WICK_U8, WICK_I8, 4, false},
     16,
     "llvm.x86.avx512.vpdpbusd.512",
     false,
     LLVMInt32TypeInContext},
    {WICK_MACHINE_X86_64,
     {WICK_U8, WICK_I8, 4, false},
     8,
     "llvm.x86.avx512.vpdpbusd.256",
     false,
     LLVMInt32TypeInContext},
    {WICK_MACHINE_X86_64,
     {WICK_BF16, WICK_BF16, 2, false},
     16,
     "llvm.x86.avx512bf16.dpbf16ps.512",
     false,
     LLVMBFloatTypeInContext},
    {WICK_MACHINE_AARCH64, {WICK_I8, WICK_I8, 4, false}, 4, "llvm.aarch64.neon.sdot", true, NULL},
    {WICK_MACHINE_AARCH64, {WICK_U8, WICK_U8, 4, false}, 4, "llvm.aarch64.neon.udot", true, NULL},
    {WICK_MACHINE_AARCH64, {WICK_U8, WICK_I8, 4, false}, 4, "llvm.aarch64.neon.usdot", true, NULL},
    {WICK_MACHINE_AARCH64, {WICK_I8, WICK_I8, 4, false}, 0, "llvm.aarch64.sve.sdot", true, NULL},
    {WICK_MACHINE_AARCH64, {WICK_U8, WICK_U8, 4, false}, 0, "llvm.aarch64.sve.udot", true, NULL},
    {WICK_MACHINE_AARCH64, {WICK_U8, WICK_I8, 4, false}, 0, "llvm.aarch64.sve.usdot", true, NULL},
};

static const dot_intrinsic *dot_find(const emit *e, const wick_node *n)
{
  const wick_type_info *sum = emit_info(e, n->first), *x = emit_info(e, n->in[1]),
                       *w = emit_info(e, n->in[2]);
  const wick_dot *row = wick_target_dot(e->target, x->elem, w->elem, x->lanes / sum->lanes);
  for (uint32_t i = 0; row && i < WICK_COUNT(dot_intrinsics); i++) {
    const dot_intrinsic *d = &dot_intrinsics[i];
    if (d->machine == e->target->machine && d->row.x == row->x && d->row.w == row->w &&
        d->row.k == row->k && d->lanes == (e->target->scalable ? 0 : sum->lanes))
      return d;
  }
  return NULL;
}

/* ---- scalable registers ---- */

/* Emits an intrinsic on scalable registers: each operand, a vector of known size, is inserted at
 * the beginning of a register, and the sum is extracted from the beginning of the result. */
static void dot_scalable(emit *e, const wick_node *n, const dot_intrinsic *d)
{
  LLVMTypeRef word = LLVMInt32TypeInContext(e->context), byte = LLVMInt8TypeInContext(e->context),
              sums = LLVMScalableVectorType(word, e->target->scalable / 4),
              bytes = LLVMScalableVectorType(byte, e->target->scalable), over[2];
  LLVMValueRef arg[3], zero = emit_i64(e, 0);
  for (uint32_t i = 0; i < 3; i++) {
    over[0] = i ? bytes : sums, over[1] = emit_type_of(e, n->in[i]);
    LLVMValueRef in[3] = {LLVMGetPoison(over[0]), emit_get(e, n->in[i]), zero};
    arg[i] = emit_intrinsic(e, "llvm.vector.insert", over, 2, in, 3);
  }
  LLVMValueRef all[2] = {emit_intrinsic(e, d->name, &sums, 1, arg, 3), zero};
  over[0] = emit_type_of(e, n->first), over[1] = sums;
  emit_set(e, n->first, emit_intrinsic(e, "llvm.vector.extract", over, 2, all, 2));
}

/* ---- pairs ---- */

/* Returns every second byte of a vector, from `odd` on, as words of 16 bits; computed once in a
 * block. */
static LLVMValueRef dot_half(emit *e, wick_value v, bool odd)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
  for (uint32_t i = e->halves.n; i-- > 0 && e->halves.at[i].block == here;)
    if (e->halves.at[i].value == v.id && e->halves.at[i].odd == odd) return e->halves.at[i].half;
  const wick_type_info *t = emit_info(e, v);
  LLVMTypeRef type = emit_type(e, WICK_I16, t->lanes / 2);
  LLVMValueRef x = LLVMBuildBitCast(e->b, emit_get(e, v), type, ""), by = emit_int(e, type, 8);
  if (t->elem == WICK_U8)
    x = odd ? LLVMBuildLShr(e->b, x, by, "") : LLVMBuildAnd(e->b, x, emit_int(e, type, 255), "");
  else
    x = LLVMBuildAShr(e->b, odd ? x : LLVMBuildShl(e->b, x, by, ""), by, "");
  wick_push(e->mem, &e->halves, ((emit_half){here, v.id, odd, x}));
  return x;
}

/* pmaddwd: multiplies words of 16 bits, and adds pairs of products as i32. No sum overflows. */
static LLVMValueRef dot_madd(emit *e, LLVMValueRef sum, LLVMValueRef x, LLVMValueRef w,
                             uint32_t lanes)
{
  const char *name = lanes == 16  ? "llvm.x86.avx512.pmaddw.d.512"
                     : lanes == 8 ? "llvm.x86.avx2.pmadd.wd"
                                  : "llvm.x86.sse2.pmadd.wd";
  LLVMValueRef arg[2] = {x, w};
  return LLVMBuildAdd(e->b, sum, emit_intrinsic(e, name, NULL, 0, arg, 2), "");
}

static void dot_pairs(emit *e, const wick_node *n)
{
  LLVMValueRef sum = emit_get(e, n->in[0]);
  for (int odd = 0; odd < 2; odd++) {
    LLVMValueRef x = dot_half(e, n->in[1], odd), w = dot_half(e, n->in[2], odd);
    sum = dot_madd(e, sum, x, w, emit_info(e, n->first)->lanes);
  }
  emit_set(e, n->first, sum);
}

/* x already has words; w, bytes, is widened. */
static void dot_words(emit *e, const wick_node *n)
{
  const wick_type_info *x = emit_info(e, n->in[1]);
  LLVMValueRef w = LLVMBuildSExt(e->b, emit_get(e, n->in[2]), emit_type(e, WICK_I16, x->lanes), "");
  emit_set(
      e, n->first,
      dot_madd(e, emit_get(e, n->in[0]), emit_get(e, n->in[1]), w, emit_info(e, n->first)->lanes));
}

/* ---- the operator ---- */

/* Returns the vector type that the intrinsic takes for x and w, which has as many bits as the
 * sum. */
static LLVMTypeRef dot_operand(const emit *e, const dot_intrinsic *d)
{
  LLVMTypeRef one = d->operand(e->context);
  uint32_t each = LLVMGetTypeKind(one) == LLVMBFloatTypeKind ? 2 : 1;
  return LLVMVectorType(one, d->lanes * each);
}

static void dot_dot(emit *e, const wick_node *n)
{
  const wick_dot *row =
      wick_target_dot(e->target, emit_info(e, n->in[1])->elem, emit_info(e, n->in[2])->elem,
                      emit_info(e, n->in[1])->lanes / emit_info(e, n->first)->lanes);
  if (row && row->pairs) {
    dot_pairs(e, n);
    return;
  }
  if (row && row->x == WICK_I16) {
    dot_words(e, n);
    return;
  }
  const dot_intrinsic *d = dot_find(e, n);
  if (!d) {
    emit_fail(e, n,
              "%s has no instruction for this dot product; an earlier pass should have expanded it",
              e->target->row);
    return;
  }
  if (!d->lanes) {
    dot_scalable(e, n, d);
    return;
  }
  LLVMTypeRef sum = emit_type_of(e, n->first), over[2] = {sum};
  LLVMValueRef arg[3];
  for (uint32_t i = 0; i < 3; i++) {
    arg[i] = emit_get(e, n->in[i]);
    if (i && d->operand) arg[i] = LLVMBuildBitCast(e->b, arg[i], dot_operand(e, d), "");
  }
  over[1] = LLVMTypeOf(arg[1]);
  emit_set(e, n->first, emit_intrinsic(e, d->name, over, d->typed ? 2 : 0, arg, 3));
}

const struct emit_named emit_dot_rows[] = {{"dot", dot_dot}, {NULL, NULL}};
