/* Dot products that are instructions: which of LLVM's intrinsics. */
#include "codegen/llvm/emit.h"

typedef struct dot_intrinsic {
  wick_machine machine;
  wick_dot row;
  uint32_t lanes; /* of the sum */
  const char *name;
  bool typed; /* overloaded by the sum's type and the operands' */
  bool words; /* operands are i32 */
} dot_intrinsic;

static const dot_intrinsic dot_intrinsics[] = {
    {WICK_MACHINE_X86_64, {WICK_U8, WICK_I8, 4}, 16, "llvm.x86.avx512.vpdpbusd.512", false, true},
    {WICK_MACHINE_X86_64, {WICK_U8, WICK_I8, 4}, 8, "llvm.x86.avx512.vpdpbusd.256", false, true},
    {WICK_MACHINE_AARCH64, {WICK_I8, WICK_I8, 4}, 4, "llvm.aarch64.neon.sdot", true, false},
    {WICK_MACHINE_AARCH64, {WICK_U8, WICK_U8, 4}, 4, "llvm.aarch64.neon.udot", true, false},
    {WICK_MACHINE_AARCH64, {WICK_U8, WICK_I8, 4}, 4, "llvm.aarch64.neon.usdot", true, false},
};

static const dot_intrinsic *dot_find(const emit *e, const wick_node *n)
{
  const wick_type_info *sum = emit_info(e, n->first), *x = emit_info(e, n->in[1]),
                       *w = emit_info(e, n->in[2]);
  const wick_dot *row = wick_target_dot(e->target, x->elem, w->elem, x->lanes / sum->lanes);
  for (uint32_t i = 0; row && i < WICK_COUNT(dot_intrinsics); i++) {
    const dot_intrinsic *d = &dot_intrinsics[i];
    if (d->machine == e->target->machine && d->row.x == row->x && d->row.w == row->w &&
        d->row.k == row->k && d->lanes == sum->lanes)
      return d;
  }
  return NULL;
}

static void dot_dot(emit *e, const wick_node *n)
{
  const dot_intrinsic *d = dot_find(e, n);
  if (!d) {
    emit_fail(e, n, "%s has no such dot product: a pass expands it", e->target->row);
    return;
  }
  LLVMTypeRef sum = emit_type_of(e, n->first), over[2] = {sum};
  LLVMValueRef arg[3];
  for (uint32_t i = 0; i < 3; i++) {
    arg[i] = emit_get(e, n->in[i]);
    if (i && d->words) arg[i] = LLVMBuildBitCast(e->b, arg[i], sum, "");
  }
  over[1] = LLVMTypeOf(arg[1]);
  emit_set(e, n->first, emit_intrinsic(e, d->name, over, d->typed ? 2 : 0, arg, 3));
}

const struct emit_named emit_dot_rows[] = {{"dot", dot_dot}, {NULL, NULL}};
