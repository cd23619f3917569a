/* Emits the C function of a bundle, which calls its entry; codegen/abi.h specifies it. */
#include "codegen/llvm/emit.h"

#include "runtime/heap.h"
#include "wick/bundle.h"

_Static_assert(WICK_BUNDLE_ALIGN == WICK_FRAME_ALIGN, "scratch memory lies in the arena");

/* ---- the floating-point environment ----
 * The entry runs with rounding to nearest even, with denormals, and without traps. The caller's
 * environment is restored. */

typedef struct bundle_float {
  wick_machine machine;
  const char *get, *set; /* LLVM's intrinsics */
  unsigned bits;         /* of their operand; 0: it is in memory */
  uint64_t keep, value;  /* new = (old & keep) | value */
} bundle_float;

static const bundle_float bundle_floats[] = {
    /* MXCSR: all exceptions masked */
    {WICK_MACHINE_X86_64, "llvm.x86.sse.stmxcsr", "llvm.x86.sse.ldmxcsr", 0, 0, 0x1f80},
    {WICK_MACHINE_AARCH64, "llvm.aarch64.get.fpcr", "llvm.aarch64.set.fpcr", 64, 0, 0},
    /* FPSCR: AHP, DN, FZ, RMode and FZ16 become 0; flags stay */
    {WICK_MACHINE_THUMB, "llvm.arm.get.fpscr", "llvm.arm.set.fpscr", 32, ~(uint64_t)0x07c80000, 0},
    /* frm, with the numbers of FLT_ROUNDS: 1 is to nearest even. Denormals are always kept. */
    {WICK_MACHINE_RISCV64, "llvm.get.rounding", "llvm.set.rounding", 32, 0, 1},
};

typedef struct bundle {
  emit *e;
  const wick_func *f;
  LLVMValueRef slots, stack;       /* on the stack */
  uint64_t nfault;                 /* bytes of the record of a failure; 0: nothing can fail */
  const bundle_float *environment; /* NULL: the machine has only one */
  LLVMValueRef before;             /* the caller's environment, or its address if it is in memory */
  LLVMValueRef now;                /* then the address of the new environment */
} bundle;

static void bundle_float_begin(bundle *b)
{
  emit *e = b->e;
  const bundle_float *c = b->environment;
  if (!c) return;
  LLVMTypeRef type = LLVMIntTypeInContext(e->context, c->bits ? c->bits : 32);
  LLVMValueRef value = LLVMConstInt(type, c->value, false);
  if (c->bits) {
    b->before = emit_intrinsic(e, c->get, NULL, 0, NULL, 0);
    LLVMValueRef keep = LLVMConstInt(type, c->keep, false);
    value = LLVMBuildOr(e->b, LLVMBuildAnd(e->b, b->before, keep, ""), value, "");
    emit_intrinsic(e, c->set, NULL, 0, &value, 1);
    return;
  }
  emit_intrinsic(e, c->get, NULL, 0, &b->before, 1);
  LLVMBuildStore(e->b, value, b->now);
  emit_intrinsic(e, c->set, NULL, 0, &b->now, 1);
}

static void bundle_float_end(bundle *b)
{
  if (b->environment) emit_intrinsic(b->e, b->environment->set, NULL, 0, &b->before, 1);
}

/* ---- the arguments ---- */

static LLVMValueRef bundle_fault(const bundle *b);

/* Emits `if (bad) return code`. If there is a text, it is written into the record of a failure. */
static void bundle_refuse(const bundle *b, LLVMValueRef bad, int code, const char *text,
                          uint32_t detail)
{
  emit *e = b->e;
  LLVMBasicBlockRef stop = emit_block(e, ""), on = emit_block(e, "");
  LLVMBuildCondBr(e->b, bad, stop, on);
  LLVMPositionBuilderAtEnd(e->b, stop);
  if (text)
    emit_failure_record(e, bundle_fault(b), emit_i64(e, 0), (wick_loc){0}, text, code,
                        emit_i64(e, detail), 0);
  LLVMBuildRet(e->b, LLVMConstInt(LLVMInt32TypeInContext(e->context), (unsigned)code, false));
  LLVMPositionBuilderAtEnd(e->b, on);
}

/* Returns the bytes of parameter v; those of the last one, the arena, include the heap of objects,
 * the record of a failure and the scratch memory, which follow it. */
static uint64_t bundle_bytes(const bundle *b, uint32_t v)
{
  uint64_t nbytes = 0;
  wick_type type = wick_type_of(b->f, (wick_value){v});
  if (!wick_type_nbytes(b->f->module, type, &nbytes))
    emit_fail(b->e, NULL, "parameter %u of a bundle has no constant size", v);
  bool last = v == b->f->nparam;
  return last ? wick_align_up(nbytes, WICK_FRAME_ALIGN) + b->e->options->heap_bytes + b->nfault +
                    b->e->frame.scratch_bytes
              : nbytes;
}

static void bundle_check(const bundle *b, uint32_t v)
{
  emit *e = b->e;
  LLVMValueRef p = LLVMGetParam(e->function, v - 1);
  LLVMValueRef word = LLVMBuildPtrToInt(e->b, p, emit_word(e), ""),
               none = LLVMConstNull(emit_word(e)),
               low = LLVMConstInt(emit_word(e), WICK_BUNDLE_ALIGN - 1, false);
  if (bundle_bytes(b, v))
    bundle_refuse(b, LLVMBuildICmp(e->b, LLVMIntEQ, word, none, ""), WICK_BUNDLE_ENULL, NULL, 0);
  LLVMValueRef rest = LLVMBuildAnd(e->b, word, low, "");
  bundle_refuse(b, LLVMBuildICmp(e->b, LLVMIntNE, rest, none, ""), WICK_BUNDLE_EALIGN, NULL, 0);
}

static void bundle_slot(const bundle *b, uint32_t i, LLVMValueRef x)
{
  emit *e = b->e;
  LLVMValueRef at = LLVMConstInt(LLVMInt32TypeInContext(e->context), i, false);
  LLVMBuildStore(e->b, x, LLVMBuildGEP2(e->b, emit_pointer(e), b->slots, &at, 1, ""));
}

static LLVMValueRef bundle_at(const bundle *b, LLVMValueRef p, uint64_t offset)
{
  LLVMValueRef at = LLVMConstInt(emit_word(b->e), offset, false);
  return LLVMBuildGEP2(b->e->b, LLVMInt8TypeInContext(b->e->context), p, &at, 1, "");
}

/* Returns the address of the scratch memory. */
static LLVMValueRef bundle_scratch(const bundle *b)
{
  uint64_t before = bundle_bytes(b, b->f->nparam) - b->e->frame.scratch_bytes;
  return bundle_at(b, LLVMGetParam(b->e->function, b->f->nparam - 1), before);
}

/* Returns the address of the record of a failure. */
static LLVMValueRef bundle_fault(const bundle *b)
{
  return bundle_at(b, bundle_scratch(b), -b->nfault);
}

static LLVMValueRef bundle_load(const bundle *b, LLVMValueRef p, uint64_t offset)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext(b->e->context);
  return LLVMBuildLoad2(b->e->b, i64, bundle_at(b, p, offset), "");
}

static LLVMValueRef bundle_heap_at(const bundle *b)
{
  return bundle_at(b, bundle_fault(b), -b->e->options->heap_bytes);
}

/* Refuses memory that the caller has not made a heap, and inputs that are no objects: 0, which a
 * constructor gives if the heap is full, and what is no block of it. */
static void bundle_check_objects(const bundle *b)
{
  emit *e = b->e;
  if (!e->frame.heap || !e->options->keeps_heap) return;
  LLVMValueRef heap = bundle_heap_at(b), top = bundle_load(b, heap, offsetof(wick_heap, top)),
               end = bundle_load(b, heap, offsetof(wick_heap, end)),
               least = emit_i64(e, sizeof(wick_heap)),
               size = emit_i64(e, (int64_t)e->options->heap_bytes);
  const char *begin = wick_str_printf(e->mem, "the heap has not begun: call %s_begin(arena) first",
                                      e->options->bundle);
  bundle_refuse(b, LLVMBuildICmp(e->b, LLVMIntNE, end, size, ""), WICK_BUNDLE_EINVAL, begin, 0);
  for (uint32_t i = 0; i < e->options->nobject; i++) {
    const wick_codegen_object *object = &e->options->object[i];
    const char *text = wick_str_printf(
        e->mem, "input %u is no value of the arena's heap, or 0 because the heap was full",
        object->input);
    LLVMValueRef v = bundle_load(b, LLVMGetParam(e->function, 1), object->offset);
    LLVMValueRef odd = LLVMBuildTrunc(e->b, v, LLVMInt1TypeInContext(e->context), "");
    LLVMValueRef rest = LLVMBuildAnd(e->b, v, emit_i64(e, 7), "");
    LLVMValueRef apart = LLVMBuildICmp(e->b, LLVMIntNE, rest, emit_i64(e, 0), "");
    LLVMValueRef before = LLVMBuildICmp(e->b, LLVMIntULT, v, least, "");
    LLVMValueRef after = LLVMBuildICmp(e->b, LLVMIntUGE, v, top, "");
    LLVMValueRef outside = LLVMBuildOr(e->b, before, after, "");
    LLVMValueRef bad = LLVMBuildOr(e->b, apart, outside, "");
    bundle_refuse(b, LLVMBuildAnd(e->b, bad, LLVMBuildNot(e->b, odd, ""), ""), WICK_BUNDLE_EINVAL,
                  text, object->input);
  }
}

/* Returns the address of the heap, which is empty unless the caller has made it. */
static LLVMValueRef bundle_heap(const bundle *b)
{
  emit *e = b->e;
  uint64_t nbytes = e->options->heap_bytes;
  LLVMValueRef heap = bundle_heap_at(b);
  if (e->options->keeps_heap) return heap;
  LLVMBuildStore(e->b, emit_i64(e, sizeof(wick_heap)),
                 bundle_at(b, heap, offsetof(wick_heap, top)));
  LLVMBuildStore(e->b, emit_i64(e, (int64_t)nbytes), bundle_at(b, heap, offsetof(wick_heap, end)));
  LLVMValueRef zero = LLVMConstNull(LLVMInt8TypeInContext(e->context));
  LLVMBuildMemSet(e->b, bundle_at(b, heap, offsetof(wick_heap, free)), zero,
                  LLVMConstInt(emit_word(e), WICK_HEAP_CLASSES * 8, false), 8);
  return heap;
}

/* Allocates the function's variables on the stack, in its first block, so that they live until it
 * returns. */
static void bundle_stack(bundle *b)
{
  emit *e = b->e;
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context), i64 = LLVMInt64TypeInContext(e->context);
  LLVMTypeRef slots = LLVMArrayType2(emit_pointer(e), (uint64_t)b->f->nparam + 3);
  b->slots = LLVMBuildAlloca(e->b, slots, "");
  if (e->frame.stack)
    b->stack = LLVMBuildAlloca(e->b, LLVMArrayType2(i64, sizeof(wick_stack) / 8), "");
  for (uint32_t i = 0; i < WICK_COUNT(bundle_floats); i++)
    if (bundle_floats[i].machine == e->target->machine && !e->target->soft_float)
      b->environment = &bundle_floats[i];
  if (!b->environment || b->environment->bits) return;
  b->before = LLVMBuildAlloca(e->b, i32, "");
  b->now = LLVMBuildAlloca(e->b, i32, "");
}

/* Returns the least address of a recursive procedure's frame: a part of the caller's stack. */
static LLVMValueRef bundle_limit(const bundle *b)
{
  emit *e = b->e;
  LLVMValueRef nbytes = LLVMConstInt(emit_word(e), emit_recursion_bytes(e), false),
               own = LLVMBuildPtrToInt(e->b, b->stack, emit_word(e), "");
  return LLVMBuildIntToPtr(e->b, LLVMBuildSub(e->b, own, nbytes, ""), emit_pointer(e), "");
}

static LLVMValueRef bundle_call(const bundle *b)
{
  emit *e = b->e;
  uint32_t n = b->f->nparam;
  LLVMTypeRef type;
  LLVMValueRef entry = emit_declare(e, b->f->name, true, &type), slots = b->slots;
  for (uint32_t i = 0; i < n; i++) bundle_slot(b, i, LLVMGetParam(e->function, i));
  if (e->frame.scratch) bundle_slot(b, n++, bundle_scratch(b));
  if (e->frame.stack) {
    LLVMValueRef stack = e->frame.heap ? bundle_heap(b) : b->stack;
    LLVMBuildStore(e->b, bundle_limit(b), stack);
    LLVMBuildStore(e->b, bundle_fault(b), bundle_at(b, stack, offsetof(wick_stack, fault)));
    bundle_slot(b, n++, stack);
  }
  if (e->frame.fault) {
    LLVMValueRef fault = bundle_fault(b);
    LLVMBuildStore(e->b, emit_i64(e, 0), fault); /* its code */
    bundle_slot(b, n, fault);
  }
  return LLVMBuildCall2(e->b, type, entry, &slots, 1, "");
}

/* ---- the function ---- */

static const wick_func *bundle_entry(emit *e, const wick_module *m)
{
  const wick_func *entry = NULL;
  for (uint32_t i = 0; i < m->funcs.n && !e->status; i++) {
    wick_frame frame;
    if (m->funcs.at[i]->level != WICK_LOOP) continue;
    e->status = wick_frame_of(m->funcs.at[i], e->target, true, e->mem, &frame);
    if (e->status || !frame.entry) continue;
    if (entry)
      emit_fail(e, NULL, "a bundle has one entry, not @%s and @%s", entry->name,
                m->funcs.at[i]->name);
    entry = m->funcs.at[i];
    e->frame = frame;
    if (frame.heap && e->options->heap_bytes < sizeof(wick_heap))
      emit_fail(e, NULL, "a bundle of a program with objects has memory for them");
  }
  if (!entry || !e->options->direct)
    emit_fail(e, NULL, "a bundle has an entry, which calls its kernels itself");
  return entry;
}

static void bundle_function(bundle *b)
{
  emit *e = b->e;
  uint32_t n = b->f->nparam;
  LLVMTypeRef *param = wick_new(e->mem, LLVMTypeRef, n);
  for (uint32_t i = 0; i < n; i++) param[i] = emit_pointer(e);
  LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(e->context), param, n, false);
  if (LLVMGetNamedFunction(e->module, e->options->bundle))
    emit_fail(e, NULL, "a function of the module has the name @%s of the bundle",
              e->options->bundle);
  e->function = LLVMAddFunction(e->module, e->options->bundle, type);
  emit_attributes(e, e->function);
  LLVMPositionBuilderAtEnd(e->b, emit_block(e, ""));
  bundle_stack(b);
  for (uint32_t v = 1; v <= n; v++) bundle_check(b, v);
  bundle_check_objects(b);
  bundle_float_begin(b);
  LLVMValueRef code = bundle_call(b);
  bundle_float_end(b);
  LLVMBuildRet(e->b, code);
}

/* Emits NAME_constants, read-only data. */
static void bundle_constants(const emit *e)
{
  wick_span k = e->options->constants;
  const char *name = wick_str_printf(e->mem, "%s_constants", e->options->bundle);
  LLVMValueRef data = LLVMConstStringInContext2(e->context, (const char *)k.at, k.nbytes,
                                                /*DontNullTerminate=*/true);
  LLVMValueRef global = LLVMAddGlobal(e->module, LLVMTypeOf(data), name);
  LLVMSetInitializer(global, data);
  LLVMSetGlobalConstant(global, true);
  LLVMSetAlignment(global, WICK_BUNDLE_ALIGN);
}

void emit_bundle(emit *e, const wick_module *m)
{
  bundle b = {.e = e, .f = bundle_entry(e, m)};
  e->f = b.f;
  if (!e->status) b.nfault = wick_fault_bytes(m, &e->frame);
  for (uint32_t v = 1; !e->status && v <= b.f->nparam; v++)
    if (emit_info(e, (wick_value){v})->kind != WICK_BUFFER)
      emit_fail(e, NULL, "parameter %u of a bundle is no buffer", v);
  if (!e->status) bundle_function(&b);
  if (!e->status && e->options->constants.at) bundle_constants(e);
}
