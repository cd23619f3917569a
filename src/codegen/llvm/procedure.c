/* Emits procedures, loop functions with results, and calls of them. codegen/abi.h has their calling
 * convention. */
#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "codegen/llvm/emit.h"
#include "ir/call.h"
#include "loop/clamp.h"

bool emit_calls(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_call) return true;
  return false;
}

/* ---- kernels ---- */

enum {
  /* A call takes the time of a few tens of nodes, and what is inlined in its caller can be simplified with it. Where a
   * call computes that many, neither is noticed. */
  PROCEDURE_LONG = 64,
  PROCEDURE_TRIPS = 16 /* of a loop whose range is not known */
};

typedef struct procedure_count {
  const wick_func *f;
  const uint32_t *definer;
} procedure_count;

static uint64_t procedure_trips(const procedure_count *c, const wick_node *n)
{
  wick_scalar lo, hi;
  int64_t all;
  if (n->op == WICK_OP_while) return PROCEDURE_TRIPS;
  if (n->op != WICK_OP_for) return 1;
  if (!wick_splat_number(c->f, c->definer, n->in[0], &lo) ||
      !wick_splat_number(c->f, c->definer, n->in[1], &hi) || wick_sub_overflows(hi.i, lo.i, &all))
    return PROCEDURE_TRIPS;
  int64_t step = n->attr[WICK_ATTR_for_step].i;
  return all <= 0 ? 0 : (uint64_t)((all - 1) / step) + 1;
}

/* Returns how many of the nodes begin .. end-1, with those in regions, a call computes; at most PROCEDURE_LONG. */
static uint64_t procedure_steps(const procedure_count *c, uint32_t begin, uint32_t end)
{
  uint64_t all = 0;
  for (uint32_t i = begin; i < end && all < PROCEDURE_LONG; i = c->f->node[i].end) {
    const wick_node *n = &c->f->node[i];
    uint64_t inside = 0, trips = procedure_trips(c, n);
    for (uint32_t r = 0; r < n->nregion; r++)
      inside += procedure_steps(c, n->region[r].begin, n->region[r].end);
    if (trips > PROCEDURE_LONG) trips = PROCEDURE_LONG;
    all += 1 + inside * trips;
  }
  return all < PROCEDURE_LONG ? all : PROCEDURE_LONG;
}

bool emit_is_kernel(const emit *e, const wick_func *f)
{
  if (wick_return(f)->nin || emit_calls(f)) return false;
  for (uint32_t v = 1; v <= f->nparam; v++)
    if (wick_info_of(f, (wick_value){v})->kind != WICK_BUFFER) return false;
  procedure_count c = {f, wick_definers_of(f, e->mem)};
  return procedure_steps(&c, 0, f->nnode) == PROCEDURE_LONG;
}

/* ---- signatures ---- */

/* A user may have named a procedure as a function of C, or as the bundle. */
const char *emit_symbol(const emit *e, const wick_func *f)
{
  return wick_func_is_procedure(f) ? wick_str_printf(e->mem, "%s.procedure", f->name) : f->name;
}

static LLVMTypeRef procedure_result(const emit *e, const wick_func *f, const wick_frame *frame)
{
  const wick_node *r = wick_return(f);
  LLVMTypeRef *part = wick_new(e->mem, LLVMTypeRef, r->nin + 1u);
  for (uint32_t k = 0; k < r->nin; k++)
    part[k] = emit_elem_type(e, wick_info_of(f, r->in[k])->elem);
  part[r->nin] = LLVMInt32TypeInContext(e->context);
  unsigned n = (unsigned)r->nin + frame->fault;
  if (!n) return LLVMVoidTypeInContext(e->context);
  return n == 1 ? part[0] : LLVMStructTypeInContext(e->context, part, n, false);
}

static unsigned procedure_self(void)
{
  static const char self[] = "swiftself";
  return LLVMGetEnumAttributeKindForName(self, sizeof self - 1);
}

void emit_stack_attribute(const emit *e, LLVMValueRef f)
{
  LLVMAddAttributeAtIndex(f, 1, LLVMCreateEnumAttribute(e->context, procedure_self(), 0));
}

void emit_stack_argument(const emit *e, LLVMValueRef call)
{
  LLVMAddCallSiteAttribute(call, 1, LLVMCreateEnumAttribute(e->context, procedure_self(), 0));
}

static const char procedure_recursive[] = "wick-recursive";

bool emit_gets_limit(LLVMValueRef f)
{
  return LLVMGetStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       procedure_recursive, sizeof procedure_recursive - 1);
}

uint64_t emit_recursion_bytes(const emit *e)
{
  if (e->options->recursion_bytes) return e->options->recursion_bytes;
  return e->target->pointer_bits == 64 ? WICK_BUNDLE_RECURSION : WICK_BUNDLE_RECURSION_SMALL;
}

/* Buffers that are written share no byte with others. */
static void procedure_buffers(const emit *e, const wick_func *f, bool stack, LLVMValueRef to)
{
  static const char alias[] = "noalias", reads[] = "readonly";
  unsigned kind = LLVMGetEnumAttributeKindForName(alias, sizeof alias - 1),
           only = LLVMGetEnumAttributeKindForName(reads, sizeof reads - 1);
  for (uint32_t v = 1; v <= f->nparam; v++) {
    if (wick_info_of(f, (wick_value){v})->kind != WICK_BUFFER) continue;
    LLVMAddAttributeAtIndex(to, v + stack, LLVMCreateEnumAttribute(e->context, kind, 0));
    if (f->qual[v - 1] == WICK_IN)
      LLVMAddAttributeAtIndex(to, v + stack, LLVMCreateEnumAttribute(e->context, only, 0));
  }
}

static LLVMValueRef procedure_declare(emit *e, const wick_func *f, const wick_frame *frame,
                                      LLVMTypeRef *out_type)
{
  LLVMTypeRef *param = wick_new(e->mem, LLVMTypeRef, f->nparam + 1u);
  unsigned n = 0;
  if (frame->stack) param[n++] = emit_pointer(e);
  for (uint32_t v = 1; v <= f->nparam; v++) {
    const wick_type_info *t = wick_info_of(f, (wick_value){v});
    param[n++] = t->kind == WICK_BUFFER ? emit_pointer(e) : emit_elem_type(e, t->elem);
  }
  *out_type = LLVMFunctionType(procedure_result(e, f, frame), param, n, false);
  const char *symbol = emit_symbol(e, f);
  LLVMValueRef to = LLVMGetNamedFunction(e->module, symbol);
  if (to) return to;
  to = LLVMAddFunction(e->module, symbol, *out_type);
  LLVMSetVisibility(to, LLVMHiddenVisibility);
  emit_attributes(e, to);
  if (frame->stack) emit_stack_attribute(e, to);
  if (wick_func_reaches_recursion(f, e->mem))
    LLVMAddAttributeAtIndex(to, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(e->context, procedure_recursive,
                                                      sizeof procedure_recursive - 1, "", 0));
  procedure_buffers(e, f, frame->stack, to);
  return to;
}

/* ---- results ---- */

static void procedure_return(emit *e, LLVMValueRef *x, LLVMValueRef status)
{
  LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(e->function));
  unsigned n = wick_return(e->f)->nin;
  if (n + e->frame.fault == 0) {
    LLVMBuildRetVoid(e->b);
    return;
  }
  if (n + e->frame.fault == 1) {
    LLVMBuildRet(e->b, n ? x[0] : status);
    return;
  }
  LLVMValueRef all = LLVMGetPoison(type);
  for (unsigned k = 0; k < n; k++) all = LLVMBuildInsertValue(e->b, all, x[k], k, "");
  if (e->frame.fault) all = LLVMBuildInsertValue(e->b, all, status, n, "");
  LLVMBuildRet(e->b, all);
}

void emit_procedure_return(emit *e, uint32_t n, const wick_value *v)
{
  LLVMValueRef *x = wick_new(e->mem, LLVMValueRef, n);
  for (uint32_t k = 0; k < n; k++) x[k] = emit_get(e, v[k]);
  procedure_return(e, x, LLVMConstNull(LLVMInt32TypeInContext(e->context)));
}

void emit_procedure_fail(emit *e, LLVMValueRef status)
{
  const wick_node *r = wick_return(e->f);
  LLVMValueRef *x = wick_new(e->mem, LLVMValueRef, r->nin);
  for (uint32_t k = 0; k < r->nin; k++) x[k] = LLVMConstNull(emit_type_of(e, r->in[k]));
  procedure_return(e, x, status);
}

/* ---- the stack ---- */

/* Returns the name of the stack's pointer; NULL: the machine has none that code can read. */
static const char *procedure_pointer(const emit *e)
{
  switch (e->target->machine) {
  case WICK_MACHINE_X86_64: return "rsp";
  case WICK_MACHINE_AARCH64:
  case WICK_MACHINE_RISCV64:
  case WICK_MACHINE_THUMB: return "sp";
  default: return NULL;
  }
}

static wick_loc procedure_loc(const wick_func *f)
{
  uint32_t i = 0;
  while (i + 1 < f->nnode && !f->node[i].loc.id) i++;
  return f->node[i].loc;
}

/* Fails if the frame begins below the limit. */
static void procedure_check(emit *e)
{
  const char *name = procedure_pointer(e);
  if (!name) {
    emit_fail(e, NULL, "recursion is not supported on this machine");
    return;
  }
  LLVMTypeRef word = emit_word(e);
  LLVMMetadataRef text = LLVMMDStringInContext2(e->context, name, strlen(name));
  LLVMValueRef node = LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &text, 1));
  LLVMValueRef at = emit_intrinsic(e, "llvm.read_register", &word, 1, &node, 1),
               limit = LLVMBuildLoad2(e->b, word, e->stack, "");
  LLVMBasicBlockRef deep = emit_block(e, ""), on = emit_block(e, "");
  emit_rarely(e, LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, at, limit, ""), deep, on));
  LLVMPositionBuilderAtEnd(e->b, deep);
  emit_failed(e, procedure_loc(e->f), WICK_ELIMIT, emit_i64(e, 0), 0);
  LLVMPositionBuilderAtEnd(e->b, on);
}

/* ---- the function ---- */

void emit_procedure(emit *e, const wick_func *f)
{
  LLVMTypeRef type;
  unsigned n = 0;
  e->function = procedure_declare(e, f, &e->frame, &type);
  if (LLVMCountBasicBlocks(e->function)) {
    emit_fail(e, NULL, "two functions have this name");
    return;
  }
  e->entry = emit_block(e, "");
  LLVMBasicBlockRef body = emit_block(e, "");
  LLVMPositionBuilderAtEnd(e->b, e->entry);
  if (e->frame.stack) e->stack = LLVMGetParam(e->function, n++);
  for (uint32_t v = 1; v <= f->nparam; v++)
    emit_set(e, (wick_value){v}, LLVMGetParam(e->function, n++));
  LLVMBuildBr(e->b, body);
  LLVMPositionBuilderAtEnd(e->b, body);
  if (wick_frame_checks(f, e->mem)) procedure_check(e);
  for (uint32_t i = 0; i < f->nnode && !e->status; i = f->node[i].end) emit_node(e, &f->node[i]);
}

/* ---- call ---- */

static void procedure_call(emit *e, const wick_node *n)
{
  const wick_func *f = wick_module_find(e->f->module, n->attr[WICK_ATTR_call_callee].s);
  wick_frame frame;
  if (!f || !wick_func_is_procedure(f)) {
    emit_fail(e, n, "@%s is no loop function with results", n->attr[WICK_ATTR_call_callee].s);
    return;
  }
  wick_status s = wick_frame_of(f, e->target, false, e->mem, &frame);
  if (s) {
    e->status = s;
    return;
  }
  LLVMTypeRef type;
  LLVMValueRef to = procedure_declare(e, f, &frame, &type),
               *arg = wick_new(e->mem, LLVMValueRef, n->nin + 1u);
  unsigned narg = 0;
  if (frame.stack) arg[narg++] = e->stack;
  for (uint32_t k = 0; k < n->nin; k++) arg[narg++] = emit_get(e, n->in[k]);
  LLVMValueRef r = LLVMBuildCall2(e->b, type, to, arg, narg, "");
  if (frame.stack) emit_stack_argument(e, r);
  if (n->nout + (uint32_t)frame.fault <= 1) {
    if (n->nout) emit_set(e, n->first, r);
    if (frame.fault) emit_status(e, n->loc, r);
    return;
  }
  if (frame.fault) emit_status(e, n->loc, LLVMBuildExtractValue(e->b, r, n->nout, ""));
  for (uint32_t k = 0; k < n->nout; k++)
    emit_set(e, (wick_value){n->first.id + k}, LLVMBuildExtractValue(e->b, r, k, ""));
}

const struct emit_named emit_procedure_rows[] = {{"call", procedure_call}, {NULL, NULL}};

/* ---- passes ---- */

wick_status emit_optimize(emit *e, const char *passes, void *machine)
{
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(e->module, passes, machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error) return NULL;
  char *message = LLVMGetErrorMessage(error);
  wick_status s = wick_fail(e->mem, WICK_EINTERNAL, NULL, "LLVM's passes: %s", message);
  LLVMDisposeErrorMessage(message);
  return s;
}
