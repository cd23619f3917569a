/* Emits one loop function: its signature, the loads of its slots, its body. codegen/abi.h has the
 * calling convention. */
#include "codegen/llvm/emit.h"
#include "ir/build.h"

#include <string.h>

void emit_attribute(const emit *e, LLVMValueRef f, const char *name, uint64_t value)
{
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(e->context, kind, value));
}

/* Adds the attributes of all functions: nothing unwinds, and there are no unwind tables. They also
 * give the least and the largest size of SVE's registers, so that a vector of that size is one
 * register. */
void emit_attributes(const emit *e, LLVMValueRef f)
{
  enum { MOST = 16 };
  emit_attribute(e, f, "nounwind", 0);
  uint32_t unit = e->target->machine == WICK_MACHINE_AARCH64 ? e->target->scalable : 0;
  if (unit)
    emit_attribute(e, f, "vscale_range", (uint64_t)(e->target->vector_bytes / unit) << 32 | MOST);
}

static LLVMTypeRef function_type(const emit *e, bool entry)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context), args[3] = {emit_pointer(e), i64, i64};
  return entry ? LLVMFunctionType(LLVMInt32TypeInContext(e->context), args, 1, false)
               : LLVMFunctionType(LLVMVoidTypeInContext(e->context), args, 3, false);
}

LLVMValueRef emit_declare(const emit *e, const char *name, bool entry, LLVMTypeRef *out_type)
{
  *out_type = function_type(e, entry);
  LLVMValueRef f = LLVMGetNamedFunction(e->module, name);
  if (f) return f;
  f = LLVMAddFunction(e->module, name, *out_type);
  LLVMSetVisibility(f, LLVMHiddenVisibility);
  emit_attributes(e, f);
  return f;
}

/* ---- slots ---- */

enum {
  FUNCTION_LAUNCH = 2,  /* the callback and its context, which come first */
  FUNCTION_EARLY = 256, /* an entry with more slots loads those of launches late */
};

static LLVMValueRef function_slot(const emit *e, LLVMValueRef args, uint32_t i, LLVMTypeRef type)
{
  LLVMValueRef at[1] = {emit_i64(e, i)};
  if (e->target->pointer_bits == 32)
    at[0] = LLVMConstInt(LLVMInt32TypeInContext(e->context), i, false);
  LLVMValueRef p = LLVMBuildGEP2(e->b, emit_pointer(e), args, at, 1, "");
  return LLVMBuildLoad2(e->b, type, p, "");
}

static LLVMValueRef function_param(const emit *e, LLVMValueRef args, uint32_t slot, wick_value v)
{
  bool buffer = emit_info(e, v)->kind == WICK_BUFFER;
  LLVMValueRef x = function_slot(e, args, slot, buffer ? emit_pointer(e) : emit_word(e));
  if (!buffer && e->target->pointer_bits != 64)
    x = LLVMBuildSExt(e->b, x, LLVMInt64TypeInContext(e->context), "");
  return x;
}

/* Finds the slots that only launches and views read, in an entry with many slots. If all were
 * loaded in one block, LLVM's time would be quadratic in their number. */
static const bool *function_late(const emit *e, const wick_func *f)
{
  if (!e->frame.entry || e->options->direct || e->frame.nslot <= FUNCTION_EARLY) return NULL;
  bool *late = wick_new(e->mem, bool, f->nvalue + 1);
  for (uint32_t v = 1; v <= e->frame.nslot; v++) late[v] = true;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    uint32_t k = n->op == WICK_OP_launch ? wick_launch_nslot(n) : n->op == WICK_OP_view;
    for (; k < n->nin; k++) late[n->in[k].id] = false;
  }
  return late;
}

LLVMValueRef emit_operand(const emit *e, wick_value v)
{
  if (!e->late || !e->late[v.id]) return emit_get(e, v);
  return function_param(e, LLVMGetParam(e->function, 0), FUNCTION_LAUNCH + v.id - 1, v);
}

static void function_params(emit *e, const wick_func *f, LLVMValueRef args)
{
  bool through = e->frame.entry && !e->options->direct;
  uint32_t slot = 0;
  if (through) {
    e->launch = function_slot(e, args, slot++, emit_pointer(e));
    e->context_slot = function_slot(e, args, slot++, emit_pointer(e));
  }
  e->late = function_late(e, f);
  for (uint32_t v = 1; v <= e->frame.nslot; v++, slot++)
    if (!e->late || !e->late[v])
      emit_set(e, (wick_value){v}, function_param(e, args, slot, (wick_value){v}));
  if (through) return;
  if (e->frame.scratch) e->scratch = function_slot(e, args, slot++, emit_pointer(e));
  if (e->frame.stack) e->stack = function_slot(e, args, slot++, emit_pointer(e));
  if (e->frame.fault) e->fault = function_slot(e, args, slot, emit_pointer(e));
  if (e->frame.fault && !e->frame.stack && emit_calls(f)) e->stack = emit_own_stack(e);
  if (!e->frame.range) return;
  e->begin = LLVMGetParam(e->function, 1);
  e->end = LLVMGetParam(e->function, 2);
  emit_set(e, (wick_value){f->nparam - 1}, e->begin);
  emit_set(e, (wick_value){f->nparam}, e->end);
}

/* ---- the stack ---- */

/* Returns true if the loop's first carried value is a vector: a tile's states. */
static bool function_is_tile(const wick_func *f, const wick_node *n)
{
  return n->op == WICK_OP_for && n->nout && wick_info_of(f, n->first)->lanes > 1;
}

/* Returns true if a loop keeps states while a loop inside it has others, which begin anew: sums in
 * spans (loop/schedule.h). Together they may not fit in the registers. */
static bool function_keeps(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!function_is_tile(f, n)) continue;
    const wick_region *body = &n->region[0];
    for (uint32_t k = body->begin; k < body->end; k = f->node[k].end) {
      const wick_node *inner = &f->node[k];
      if (function_is_tile(f, inner) && inner->in[2].id - body->first.id >= body->nparam)
        return true;
    }
  }
  return false;
}

/* Aligns the stack, so that spilled vectors do not cross cache lines. A caller guarantees only 16
 * bytes. */
static void function_stack(const emit *e, const wick_func *f)
{
  static const char name[] = "stackrealign";
  enum { PROMISED = 16 };
  if (e->target->machine != WICK_MACHINE_X86_64 || e->target->vector_bytes <= PROMISED ||
      !function_keeps(f))
    return;
  LLVMAddAttributeAtIndex(e->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateStringAttribute(e->context, name, sizeof name - 1, "", 0));
}

/* ---- the function ---- */

static void function_begin(emit *e, const wick_func *f)
{
  e->f = f;
  e->value = wick_new(e->mem, LLVMValueRef, f->nvalue + 1);
  e->order = wick_new(e->mem, uint32_t, f->nvalue + 1);
  e->address_of = wick_new(e->mem, uint32_t, f->nvalue + 1);
  e->halves.n = 0;
  e->definer = wick_definers_of(f, e->mem);
  e->addresses.n = 0;
  e->norder = 0;
  e->scratch = e->stack = e->fault = e->begin = e->end = e->task = e->launch = e->context_slot =
      e->slots = NULL;
}

void emit_inside(const emit *e, const wick_func *f)
{
  LLVMValueRef function = LLVMGetNamedFunction(e->module, emit_symbol(e, f));
  wick_frame frame;
  if (wick_frame_of(f, e->target, e->options->direct, e->mem, &frame) || !function) return;
  bool inside = e->options->bundle || (e->options->direct && !frame.entry && !e->options->nonly);
  if (!inside && !frame.procedure) return;
  LLVMSetVisibility(function, LLVMDefaultVisibility);
  LLVMSetLinkage(function, LLVMInternalLinkage);
}

void emit_function(emit *e, const wick_func *f)
{
  function_begin(e, f);
  wick_status s = wick_frame_of(f, e->target, e->options->direct, e->mem, &e->frame);
  if (s) {
    e->status = s;
    return;
  }
  if (e->frame.procedure) {
    emit_procedure(e, f);
    return;
  }
  LLVMTypeRef type;
  e->function = emit_declare(e, f->name, e->frame.entry, &type);
  if (LLVMCountBasicBlocks(e->function)) {
    emit_fail(e, NULL, "two functions have this name");
    return;
  }
  function_stack(e, f);
  e->entry = emit_block(e, "");
  LLVMBasicBlockRef body = emit_block(e, "");
  LLVMPositionBuilderAtEnd(e->b, e->entry);
  function_params(e, f, LLVMGetParam(e->function, 0));
  e->task = e->begin ? e->begin : emit_i64(e, 0);
  LLVMBuildBr(e->b, body);
  LLVMPositionBuilderAtEnd(e->b, body);
  for (uint32_t i = 0; i < f->nnode && !e->status; i = f->node[i].end) emit_node(e, &f->node[i]);
}
