/* Compiles a module to an object: sets up the target machine, emits all functions, generates
 * code. */
#include <llvm-c/Analysis.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/llvm.h"
#include "codegen/llvm/stack.h"
#include "ir/call.h"

/* Turns off the scheduler before register allocation. It hoists the broadcasts of an unrolled loop
 * and causes spills: half of the speed of a convolution's inner loop. Instructions are already
 * emitted in a good order.
 *
 * Also turns off the search for neighbouring stores. Its time is quadratic in the stores of a block,
 * which took most of the compilation of kernels that store lanes one by one; stores of vectors are
 * emitted as such (loop/merge_stores.c).
 *
 * Also turns off the pass that moves chains of scalar integers to mask registers: its time is quadratic
 * in the values of a function, a quarter of the time of large procedures, and it changed the code of no
 * network or program that was compared. */
void wick_llvm_begin(const wick_codegen_options *o)
{
  const char *options[] = {"wick-codegen", "-enable-misched=false", "-combiner-store-merging=false",
                           "-disable-x86-domain-reassignment", "-disable-lsr"};
  LLVMParseCommandLineOptions((int)WICK_COUNT(options) - !o->plain_loops, options, "");
}

#define MODULE_INIT(name)                                                                          \
  LLVMInitialize##name##TargetInfo(), LLVMInitialize##name##Target(),                              \
      LLVMInitialize##name##TargetMC(), LLVMInitialize##name##AsmPrinter()

/* Initializes only the back end that is needed, because each takes time. */
static void module_init(wick_machine machine)
{
  switch (machine) {
  case WICK_MACHINE_X86_64: MODULE_INIT(X86); break;
  case WICK_MACHINE_AARCH64: MODULE_INIT(AArch64); break;
  case WICK_MACHINE_RISCV64: MODULE_INIT(RISCV); break;
  case WICK_MACHINE_THUMB: MODULE_INIT(ARM); break;
  case WICK_MACHINE_WASM32: MODULE_INIT(WebAssembly); break;
  case WICK_MACHINE_NONE: break;
  }
}

static wick_status module_machine(const wick_target *t, const wick_codegen_options *o,
                                  wick_arena *mem, LLVMTargetMachineRef *out)
{
  module_init(t->machine);
  char *error = NULL;
  LLVMTargetRef target;
  if (LLVMGetTargetFromTriple(t->triple, &target, &error)) {
    wick_status s = wick_fail(mem, WICK_EUNSUPPORTED, t->row, "%s", error);
    LLVMDisposeMessage(error);
    return s;
  }
  wick_text features = wick_text_begin(mem);
  wick_target_features(t, &features);
  LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
  LLVMTargetMachineOptionsSetCPU(options, t->cpu);
  LLVMTargetMachineOptionsSetFeatures(options, features.at);
  if (t->machine == WICK_MACHINE_RISCV64) LLVMTargetMachineOptionsSetABI(options, "lp64d");
  LLVMTargetMachineOptionsSetCodeGenOptLevel(options, LLVMCodeGenLevelLess);
  LLVMTargetMachineOptionsSetRelocMode(options, o->absolute ? LLVMRelocStatic : LLVMRelocPIC);
  *out = LLVMCreateTargetMachineWithOptions(target, t->triple, options);
  LLVMDisposeTargetMachineOptions(options);
  return *out ? NULL
              : wick_fail(mem, WICK_EUNSUPPORTED, t->row, "LLVM does not support this target");
}

static const emit_row *module_rows(wick_arena *mem)
{
  static const struct emit_named *const all[] = {
      emit_scalar_rows, emit_float_rows,     emit_cast_rows,   emit_memory_rows,
      emit_vector_rows, emit_dot_rows,       emit_high_rows,   emit_control_rows,
      emit_run_rows,    emit_procedure_rows, emit_object_rows, emit_failure_rows};
  emit_row *rows = wick_new(mem, emit_row, WICK_NOP);
  for (uint32_t i = 0; i < WICK_COUNT(all); i++)
    for (const struct emit_named *r = all[i]; r->name; r++)
      rows[wick_op_find(r->name, strlen(r->name))] = r->row;
  rows[WICK_OP_none] = NULL;
  return rows;
}

static bool module_wants(const wick_codegen_options *o, const wick_func *f)
{
  if (f->level != WICK_LOOP) return false;
  for (uint32_t i = 0; i < o->nonly; i++)
    if (strcmp(o->only[i], f->name) == 0) return true;
  return o->nonly == 0;
}

/* Returns whether f is no kernel, or one that calls procedures. */
static bool module_is_scalar(const emit *e, const wick_func *f)
{
  return emit_calls(f) || (wick_func_is_procedure(f) && !emit_is_kernel(e, f));
}

/* Emits procedures and the kernels that call them, and optimizes them as LLVM optimizes C. */
static void module_scalars(emit *e, const wick_module *m, LLVMTargetMachineRef machine)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->funcs.n && !e->status; i++) {
    const wick_func *f = m->funcs.at[i];
    if (!module_wants(e->options, f) || !module_is_scalar(e, f)) continue;
    emit_function(e, f);
    if (wick_func_is_procedure(f)) emit_inside(e, f);
    n++;
  }
  if (n && !e->status) e->status = emit_optimize(e, "default<O2>", machine);
}

static wick_status module_emit(emit *e, const wick_module *m, LLVMTargetMachineRef machine)
{
  module_scalars(e, m, machine);
  for (uint32_t i = 0; i < m->funcs.n && !e->status; i++)
    if (module_wants(e->options, m->funcs.at[i]) && !module_is_scalar(e, m->funcs.at[i]))
      emit_function(e, m->funcs.at[i]);
  if (!e->status) emit_failures(e);
  for (uint32_t i = 0; i < m->funcs.n && !e->status; i++)
    if (module_wants(e->options, m->funcs.at[i])) emit_inside(e, m->funcs.at[i]);
  if (e->options->bundle && !e->status) emit_bundle(e, m);
  if (e->status || !e->options->verify) return e->status;
  char *error = NULL;
  if (LLVMVerifyModule(e->module, LLVMReturnStatusAction, &error))
    e->status = wick_fail(e->mem, WICK_EINTERNAL, m->name, "LLVM refuses the code: %s", error);
  LLVMDisposeMessage(error);
  return e->status;
}

static wick_status module_output(emit *e, LLVMTargetMachineRef machine, wick_span *out)
{
  if (e->options->output == WICK_OUTPUT_LLVM) {
    char *text = LLVMPrintModuleToString(e->module);
    size_t n = strlen(text);
    *out = (wick_span){wick_arena_copy(e->mem, text, n, 1), n};
    LLVMDisposeMessage(text);
    return NULL;
  }
  LLVMCodeGenFileType type =
      e->options->output == WICK_OUTPUT_ASSEMBLY ? LLVMAssemblyFile : LLVMObjectFile;
  char *error = NULL;
  LLVMMemoryBufferRef buffer;
  if (LLVMTargetMachineEmitToMemoryBuffer(machine, e->module, type, &error, &buffer)) {
    wick_status s = wick_fail(e->mem, WICK_EINTERNAL, NULL, "LLVM: %s", error);
    LLVMDisposeMessage(error);
    return s;
  }
  size_t n = LLVMGetBufferSize(buffer);
  *out = (wick_span){wick_arena_copy(e->mem, LLVMGetBufferStart(buffer), n, 16), n};
  LLVMDisposeMemoryBuffer(buffer);
  return NULL;
}

static wick_span module_with_stack(wick_span object, uint64_t nbytes, wick_arena *mem)
{
  unsigned char *all = wick_arena_alloc(mem, object.nbytes + 8, 16);
  memcpy(all, object.at, object.nbytes);
  for (int i = 0; i < 8; i++) all[object.nbytes + (size_t)i] = (unsigned char)(nbytes >> 8 * i);
  return (wick_span){all, object.nbytes + 8};
}

wick_status wick_llvm_compile(const wick_module *m, const wick_target *t,
                              const wick_codegen_options *options, wick_arena *mem, wick_span *out)
{
  LLVMTargetMachineRef machine;
  WICK_TRY(module_machine(t, options, mem, &machine));
  emit e = {.target = t, .options = options, .mem = mem, .rows = module_rows(mem)};
  e.context = LLVMContextCreate();
  e.module = LLVMModuleCreateWithNameInContext("wick", e.context);
  e.b = LLVMCreateBuilderInContext(e.context);
  LLVMSetTarget(e.module, t->triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(e.module, layout);
  wick_status s = module_emit(&e, m, machine);
  if (!s && options->clean)
    s = emit_optimize(&e, "function(sroa,early-cse,instcombine<no-verify-fixpoint>)", machine);
  stack_bound *stack = !s && options->stack && options->bundle ? stack_begin(&e) : NULL;
  if (!s) s = module_output(&e, machine, out);
  if (!s && stack) *out = module_with_stack(*out, stack_end(stack, options->bundle), mem);
  LLVMDisposeTargetData(layout);
  LLVMDisposeBuilder(e.b);
  LLVMDisposeModule(e.module);
  LLVMContextDispose(e.context);
  LLVMDisposeTargetMachine(machine);
  return s;
}
