/* Emits launches of kernels. */
#include "codegen/llvm/emit.h"
#include "ir/build.h"

/* ---- launch ---- */

/* Returns the array for the slots of the largest launch. */
static LLVMValueRef run_slots(emit *e)
{
  if (e->slots) return e->slots;
  uint64_t most = 1;
  for (uint32_t i = 0; i < e->f->nnode; i++)
    if (e->f->node[i].op == WICK_OP_launch && e->f->node[i].nin + 3u > most)
      most = e->f->node[i].nin + 3u;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
  LLVMPositionBuilderBefore(e->b, LLVMGetFirstInstruction(e->entry));
  e->slots = LLVMBuildAlloca(e->b, LLVMArrayType2(emit_pointer(e), most), "");
  LLVMPositionBuilderAtEnd(e->b, here);
  return e->slots;
}

static void run_store_slot(emit *e, uint32_t i, LLVMValueRef x)
{
  LLVMValueRef at = LLVMConstInt(LLVMInt32TypeInContext(e->context), i, false);
  if (LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMIntegerTypeKind) {
    if (e->target->pointer_bits != 64) x = LLVMBuildTrunc(e->b, x, emit_word(e), "");
    x = LLVMBuildIntToPtr(e->b, x, emit_pointer(e), "");
  }
  LLVMBuildStore(e->b, x, LLVMBuildGEP2(e->b, emit_pointer(e), run_slots(e), &at, 1, ""));
}

/* Returns x from the entry if it is not 0. */
static void run_return_unless_zero(emit *e, LLVMValueRef x)
{
  LLVMBasicBlockRef stop = emit_block(e, ""), on = emit_block(e, "");
  LLVMValueRef bad = LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  LLVMBuildCondBr(e->b, bad, stop, on);
  LLVMPositionBuilderAtEnd(e->b, stop);
  LLVMBuildRet(e->b, LLVMBuildTrunc(e->b, x, LLVMInt32TypeInContext(e->context), ""));
  LLVMPositionBuilderAtEnd(e->b, on);
}

static void run_direct(emit *e, const wick_node *n, LLVMValueRef kernel, LLVMTypeRef type,
                       LLVMValueRef tasks)
{
  const wick_func *callee = wick_module_find(e->f->module, n->attr[WICK_ATTR_launch_callee].s);
  wick_frame frame;
  wick_status s = wick_frame_of(callee, e->target, false, e->mem, &frame);
  if (s) {
    if (!e->status) e->status = s;
    return;
  }
  uint32_t slot = wick_launch_nslot(n);
  if (frame.scratch) run_store_slot(e, slot++, e->scratch);
  if (frame.stack) run_store_slot(e, slot++, e->stack);
  if (frame.fault) run_store_slot(e, slot++, e->fault);
  LLVMValueRef arg[3] = {run_slots(e), emit_i64(e, 0), tasks};
  LLVMBuildCall2(e->b, type, kernel, arg, 3, "");
  if (frame.fault)
    run_return_unless_zero(e,
                           LLVMBuildLoad2(e->b, LLVMInt64TypeInContext(e->context), e->fault, ""));
}

static LLVMTypeRef run_launch_type(emit *e)
{
  LLVMTypeRef p = emit_pointer(e), i32 = LLVMInt32TypeInContext(e->context),
              i64 = LLVMInt64TypeInContext(e->context), args[7] = {p, p, i32, p, i64, i64, i32};
  return LLVMFunctionType(i32, args, 7, false);
}

static void run_callback(emit *e, const wick_node *n, LLVMValueRef kernel, LLVMValueRef tasks)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  uint32_t index = 0;
  while (e->frame.kernels.at[index] != n->attr[WICK_ATTR_launch_callee].s) index++;
  LLVMValueRef arg[7] = {e->context_slot,
                         kernel,
                         LLVMConstInt(i32, index, false),
                         run_slots(e),
                         emit_i64(e, wick_launch_nslot(n)),
                         tasks,
                         LLVMConstInt(i32, n->attr[WICK_ATTR_launch_concurrent].i != 0, false)};
  LLVMValueRef r = LLVMBuildCall2(e->b, run_launch_type(e), e->launch, arg, 7, "");
  run_return_unless_zero(e, r);
}

static void run_launch(emit *e, const wick_node *n)
{
  const wick_func *callee = wick_module_find(e->f->module, n->attr[WICK_ATTR_launch_callee].s);
  uint32_t nslot = wick_launch_nslot(n);
  if (callee) {
    wick_frame frame;
    wick_status s = wick_frame_of(callee, e->target, false, e->mem, &frame);
    if (s && !e->status) e->status = s;
    if (!s && (frame.entry || frame.nslot != nslot))
      emit_fail(e, n, "@%s takes %u slots, %u are given", callee->name, frame.nslot, nslot);
    if (e->status) return;
  }
  if (!e->options->direct && nslot > WICK_KERNEL_SLOTS)
    emit_fail(e, n, "@%s takes %u slots, the most is %d", n->attr[WICK_ATTR_launch_callee].s, nslot,
              WICK_KERNEL_SLOTS);
  LLVMTypeRef type;
  LLVMValueRef kernel = emit_declare(e, n->attr[WICK_ATTR_launch_callee].s, false, &type);
  for (uint32_t i = 0; i < nslot; i++) run_store_slot(e, i, emit_operand(e, n->in[i]));
  LLVMValueRef tasks =
      nslot < n->nin ? emit_get(e, n->in[nslot]) : emit_i64(e, n->attr[WICK_ATTR_launch_tasks].i);
  if (e->options->direct)
    run_direct(e, n, kernel, type, tasks);
  else
    run_callback(e, n, kernel, tasks);
}

/* Emits a launch without a kernel. Nothing is needed if kernels are called directly. */
static void run_wait(emit *e, const wick_node *n)
{
  (void)n;
  if (e->options->direct) return;
  LLVMTypeRef p = emit_pointer(e), i32 = LLVMInt32TypeInContext(e->context);
  LLVMValueRef arg[7] = {e->context_slot, LLVMConstNull(p), LLVMConstNull(i32), LLVMConstNull(p),
                         emit_i64(e, 0),  emit_i64(e, 0),   LLVMConstNull(i32)};
  run_return_unless_zero(e, LLVMBuildCall2(e->b, run_launch_type(e), e->launch, arg, 7, ""));
}

const struct emit_named emit_run_rows[] = {
    {"launch", run_launch}, {"wait", run_wait}, {NULL, NULL}};
