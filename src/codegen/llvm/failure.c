/* Emits failures, what programs print, and calls of the runtime. A kernel writes its own failure to
 * its wick_fault. A procedure returns a status, which it gets from a function of the object file that
 * writes what has failed; each call that it leaves on the way to the kernel gives the status to
 * another one, which adds its place. LLVM's pipeline sees both only as declarations that do not
 * access memory, so that procedures that do nothing else but compute are pure functions, whose equal
 * calls become one. Their results are needed, and each takes the one before, so that no call is
 * dropped and their order is kept. */
#include <string.h>

#include "base/str.h"
#include "codegen/llvm/emit.h"

/* The members of the wick_fault, which has the offsets of 64-bit machines. */
enum {
  FAILURE_CODE = offsetof(wick_fault, code),
  FAILURE_TASK = offsetof(wick_fault, task),
  FAILURE_DETAIL = offsetof(wick_fault, detail),
  FAILURE_OF = offsetof(wick_fault, of),
  FAILURE_NCALL = offsetof(wick_fault, ncall),
  FAILURE_PLACE = offsetof(wick_fault, place),
  FAILURE_TEXT = offsetof(wick_fault, text),
  FAILURE_SAY = offsetof(wick_fault, say),
  FAILURE_CONTEXT = offsetof(wick_fault, context),
  FAILURE_HOST = offsetof(wick_fault, host),
  FAILURE_HOST_CONTEXT = offsetof(wick_fault, host_context),
  FAILURE_CALL = offsetof(wick_fault, call)
};

LLVMValueRef emit_rarely(emit *e, LLVMValueRef branch)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMMetadataRef part[3] = {LLVMMDStringInContext2(e->context, "branch_weights", 14),
                             LLVMValueAsMetadata(LLVMConstInt(i32, 1, false)),
                             LLVMValueAsMetadata(LLVMConstInt(i32, 1 << 20, false))};
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, part, 3);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(e->context, "prof", 4),
                  LLVMMetadataAsValue(e->context, node));
  return branch;
}

/* ---- places ---- */

/* Returns the address of bytes; equal names have one address. */
static LLVMValueRef failure_data(emit *e, const char *name, const char *at, size_t n)
{
  LLVMValueRef old = LLVMGetNamedGlobal(e->module, name);
  if (old) return old;
  LLVMValueRef data = LLVMConstStringInContext2(e->context, at, n, /*DontNullTerminate=*/false);
  LLVMValueRef global = LLVMAddGlobal(e->module, LLVMTypeOf(data), name);
  LLVMSetInitializer(global, data);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  return global;
}

/* Returns the address of a string; NULL for NULL. */
static LLVMValueRef failure_text(emit *e, const char *text)
{
  if (!text) return LLVMConstNull(emit_pointer(e));
  return failure_data(e, wick_str_printf(e->mem, "text %s", text), text, strlen(text));
}

/* Returns the address of a wick_place; NULL for the location 0. */
static LLVMValueRef failure_place(emit *e, wick_loc loc)
{
  const wick_module *m = e->f->module;
  wick_text text = wick_text_begin(e->mem), name = wick_text_begin(e->mem);
  if (!loc.id) return LLVMConstNull(emit_pointer(e));
  wick_text_add(&name, "place");
  for (wick_loc l = loc; l.id; l = wick_loc_call(m, l)) {
    wick_text_add(&text, wick_loc_text(m, l));
    wick_text_char(&text, '\0');
    wick_text_printf(&name, " %s", wick_loc_text(m, l));
  }
  return failure_data(e, name.at, text.at, text.n);
}

/* ---- the functions ---- */

static LLVMValueRef failure_field(emit *e, LLVMValueRef fault, uint32_t offset)
{
  LLVMValueRef at = LLVMConstInt(emit_word(e), offset, false);
  return LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), fault, &at, 1, "");
}

static LLVMValueRef failure_load(emit *e, LLVMValueRef fault, uint32_t i)
{
  return LLVMBuildLoad2(e->b, LLVMInt64TypeInContext(e->context), failure_field(e, fault, i), "");
}

/* Returns the fault of a wick_stack. */
static LLVMValueRef failure_of_stack(emit *e, LLVMValueRef stack)
{
  LLVMValueRef at = LLVMConstInt(emit_word(e), offsetof(wick_stack, fault), false);
  LLVMValueRef p = LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), stack, &at, 1, "");
  return LLVMBuildLoad2(e->b, emit_pointer(e), p, "");
}

static const char failure_failed[] = "wick.failed", failure_left[] = "wick.left";

/* failed(stack, place, text, detail, of, code) and left(stack, place, code) return code. */
static LLVMTypeRef failure_type(const emit *e, const char *name)
{
  LLVMTypeRef p = emit_pointer(e), i64 = LLVMInt64TypeInContext(e->context),
              i32 = LLVMInt32TypeInContext(e->context), failed[6] = {p, p, p, i64, i64, i32},
              left[3] = {p, p, i32};
  return name == failure_failed ? LLVMFunctionType(i32, failed, 6, false)
                                : LLVMFunctionType(i32, left, 3, false);
}

/* Calls one of the two functions. Returns the status, which is not 0. */
static LLVMValueRef failure_call(emit *e, const char *name, LLVMValueRef *arg, unsigned narg)
{
  static const char *const marks[] = {"cold",       "noinline", "memory",
                                      "willreturn", "nosync",   "nofree"};
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context), type = failure_type(e, name);
  LLVMValueRef f = LLVMGetNamedFunction(e->module, name);
  if (!f) {
    f = LLVMAddFunction(e->module, name, type);
    emit_attributes(e, f);
    for (uint32_t i = 0; i < WICK_COUNT(marks); i++) emit_attribute(e, f, marks[i], 0);
  }
  LLVMValueRef r = LLVMBuildCall2(e->b, type, f, arg, narg, "");
  LLVMMetadataRef range[2] = {LLVMValueAsMetadata(LLVMConstInt(i32, 1, false)),
                              LLVMValueAsMetadata(LLVMConstInt(i32, INT32_MAX, false))};
  LLVMSetMetadata(r, LLVMGetMDKindIDInContext(e->context, "range", 5),
                  LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, range, 2)));
  return r;
}

/* Returns the last parameter, the status. */
static void failure_return(emit *e) { LLVMBuildRet(e->b, LLVMGetLastParam(e->function)); }

/* Begins the body. Returns the fault of the first parameter, a wick_stack. Emits a return if it has
 * a failure. */
static LLVMValueRef failure_begin(emit *e, LLVMValueRef f)
{
  LLVMSetLinkage(f, LLVMInternalLinkage);
  LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 LLVMGetEnumAttributeKindForName("memory", 6));
  e->function = f;
  LLVMPositionBuilderAtEnd(e->b, emit_block(e, ""));
  LLVMValueRef fault = failure_of_stack(e, LLVMGetParam(f, 0));
  LLVMBasicBlockRef stop = emit_block(e, ""), on = emit_block(e, "");
  LLVMBuildCondBr(
      e->b,
      LLVMBuildICmp(e->b, LLVMIntNE, failure_load(e, fault, FAILURE_CODE), emit_i64(e, 0), ""),
      stop, on);
  LLVMPositionBuilderAtEnd(e->b, stop);
  failure_return(e);
  LLVMPositionBuilderAtEnd(e->b, on);
  return fault;
}

static void failure_failed_body(emit *e, LLVMValueRef f)
{
  static const uint32_t to[] = {FAILURE_PLACE, FAILURE_TEXT, FAILURE_DETAIL, FAILURE_OF};
  LLVMValueRef fault = failure_begin(e, f);
  for (uint32_t i = 0; i < WICK_COUNT(to); i++)
    LLVMBuildStore(e->b, LLVMGetParam(f, 1 + i), failure_field(e, fault, to[i]));
  LLVMBuildStore(e->b, emit_i64(e, 0), failure_field(e, fault, FAILURE_NCALL));
  failure_return(e);
}

/* Returns the address of the place (0) or the count (1) of call i; runtime/kernel.h says which entry
 * is its own. */
static LLVMValueRef failure_entry(emit *e, LLVMValueRef fault, LLVMValueRef i, uint32_t part)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
  LLVMValueRef first = LLVMConstInt(i64, WICK_FAULT_FIRST, false),
               last = LLVMConstInt(i64, WICK_FAULT_LAST, false),
               ring = LLVMBuildAdd(e->b, first, LLVMBuildURem(e->b, i, last, ""), ""),
               entry = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntULT, i, first, ""), i, ring,
                                       ""),
               at = LLVMBuildMul(e->b, entry, emit_i64(e, sizeof(wick_fault_call)), "");
  if (e->target->pointer_bits != 64) at = LLVMBuildTrunc(e->b, at, emit_word(e), "");
  LLVMValueRef base = failure_field(
      e, fault,
      FAILURE_CALL + (part ? offsetof(wick_fault_call, count) : offsetof(wick_fault_call, place)));
  return LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), base, &at, 1, "");
}

/* If the call before was at the same place, its count grows. */
static void failure_left_body(emit *e, LLVMValueRef f)
{
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context);
  LLVMValueRef fault = failure_begin(e, f), place = LLVMGetParam(f, 1), one = emit_i64(e, 1),
               n = failure_load(e, fault, FAILURE_NCALL);
  LLVMBasicBlockRef some = emit_block(e, ""), same = emit_block(e, ""), add = emit_block(e, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, n, emit_i64(e, 0), ""), some, add);
  LLVMPositionBuilderAtEnd(e->b, some);
  LLVMValueRef before = LLVMBuildSub(e->b, n, one, ""),
               was = LLVMBuildLoad2(e->b, emit_pointer(e), failure_entry(e, fault, before, 0), "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, was, place, ""), same, add);
  LLVMPositionBuilderAtEnd(e->b, same);
  LLVMValueRef count = failure_entry(e, fault, before, 1);
  LLVMBuildStore(e->b, LLVMBuildAdd(e->b, LLVMBuildLoad2(e->b, i64, count, ""), one, ""), count);
  failure_return(e);
  LLVMPositionBuilderAtEnd(e->b, add);
  LLVMBuildStore(e->b, place, failure_entry(e, fault, n, 0));
  LLVMBuildStore(e->b, one, failure_entry(e, fault, n, 1));
  LLVMBuildStore(e->b, LLVMBuildAdd(e->b, n, one, ""), failure_field(e, fault, FAILURE_NCALL));
  failure_return(e);
}

void emit_failures(emit *e)
{
  LLVMValueRef failed = LLVMGetNamedFunction(e->module, failure_failed),
               left = LLVMGetNamedFunction(e->module, failure_left);
  if (failed) failure_failed_body(e, failed);
  if (left) failure_left_body(e, left);
}

LLVMValueRef emit_own_stack(emit *e)
{
  LLVMTypeRef part[2] = {LLVMInt64TypeInContext(e->context), emit_pointer(e)};
  LLVMTypeRef type = LLVMStructTypeInContext(e->context, part, 2, false);
  LLVMValueRef stack = LLVMBuildAlloca(e->b, type, "");
  LLVMValueRef fault = LLVMBuildStructGEP2(e->b, type, stack, 1, "");
  LLVMSetVolatile(LLVMBuildStore(e->b, e->fault, fault),
                  true); /* no code that LLVM sees reads it */
  return stack;
}

/* ---- failures of procedures ---- */

static void failure_failed_with(emit *e, wick_loc loc, const char *text, int64_t code,
                                LLVMValueRef detail, int64_t of)
{
  LLVMValueRef status = LLVMConstInt(LLVMInt32TypeInContext(e->context), (unsigned)code, false),
               arg[6] = {e->stack, failure_place(e, loc), failure_text(e, text),
                         detail,   emit_i64(e, of),       status};
  emit_procedure_fail(e, failure_call(e, failure_failed, arg, 6));
}

void emit_failed(emit *e, wick_loc loc, int64_t code, LLVMValueRef detail, int64_t of)
{
  failure_failed_with(e, loc, NULL, code, detail, of);
}

/* ---- failures of kernels ---- */

/* Emits a jump to `on` unless the record is empty, or its failure is of a later task. */
static void failure_unless_worse(emit *e, LLVMBasicBlockRef on)
{
  LLVMBasicBlockRef write = emit_block(e, "");
  LLVMValueRef none =
      LLVMBuildICmp(e->b, LLVMIntEQ, failure_load(e, e->fault, FAILURE_CODE), emit_i64(e, 0), "");
  LLVMValueRef later =
      LLVMBuildICmp(e->b, LLVMIntSLT, e->task, failure_load(e, e->fault, FAILURE_TASK), "");
  LLVMBuildCondBr(e->b, LLVMBuildOr(e->b, none, later, ""), write, on);
  LLVMPositionBuilderAtEnd(e->b, write);
}

void emit_failure_record(emit *e, LLVMValueRef fault, LLVMValueRef task, wick_loc loc,
                         const char *text, int64_t code, LLVMValueRef detail, int64_t of)
{
  const struct {
    uint32_t member;
    LLVMValueRef x;
  } part[] = {{FAILURE_CODE, emit_i64(e, code)},
              {FAILURE_TASK, task},
              {FAILURE_DETAIL, detail},
              {FAILURE_OF, emit_i64(e, of)},
              {FAILURE_NCALL, emit_i64(e, 0)},
              {FAILURE_PLACE, failure_place(e, loc)},
              {FAILURE_TEXT, failure_text(e, text)}};
  for (uint32_t i = 0; i < WICK_COUNT(part); i++)
    LLVMSetVolatile(LLVMBuildStore(e->b, part[i].x, failure_field(e, fault, part[i].member)),
                    part[i].member == FAILURE_CODE);
}

/* Writes a failure of the current task, and jumps to `on`. */
static void failure_write(emit *e, wick_loc loc, const char *text, int64_t code,
                          LLVMValueRef detail, int64_t of, LLVMBasicBlockRef on)
{
  failure_unless_worse(e, on);
  emit_failure_record(e, e->fault, e->task, loc, text, code, detail, of);
  LLVMBuildBr(e->b, on);
}

/* ---- checks ---- */

/* Emits the end of a failing block, which continues at `on` in a kernel. */
static void failure_end(emit *e, wick_loc loc, const char *text, int64_t code, LLVMValueRef detail,
                        int64_t of, LLVMBasicBlockRef on)
{
  if (e->frame.procedure)
    failure_failed_with(e, loc, text, code, detail, of);
  else
    failure_write(e, loc, text, code, detail, of, on);
  LLVMPositionBuilderAtEnd(e->b, on);
}

/* Emits a jump to a block that rarely runs. Returns the block of what is after it. */
static LLVMBasicBlockRef failure_if(emit *e, LLVMValueRef bad)
{
  LLVMBasicBlockRef failed = emit_block(e, ""), on = emit_block(e, "");
  emit_rarely(e, LLVMBuildCondBr(e->b, bad, failed, on));
  LLVMPositionBuilderAtEnd(e->b, failed);
  return on;
}

void emit_check(emit *e, wick_loc loc, LLVMValueRef bad, int64_t code, LLVMValueRef detail,
                int64_t of)
{
  LLVMBasicBlockRef on = failure_if(e, bad);
  failure_end(e, loc, NULL, code, detail, of, on);
}

void emit_status(emit *e, wick_loc loc, LLVMValueRef status)
{
  LLVMValueRef none = LLVMConstNull(LLVMTypeOf(status));
  LLVMBasicBlockRef on = failure_if(e, LLVMBuildICmp(e->b, LLVMIntNE, status, none, ""));
  LLVMValueRef arg[3] = {e->stack, failure_place(e, loc), status};
  if (loc.id) status = failure_call(e, failure_left, arg, 3);
  if (e->frame.procedure) {
    emit_procedure_fail(e, status);
  } else {
    failure_unless_worse(e, on);
    LLVMValueRef code = LLVMBuildSExt(e->b, status, LLVMInt64TypeInContext(e->context), "");
    LLVMSetVolatile(LLVMBuildStore(e->b, code, failure_field(e, e->fault, FAILURE_CODE)), true);
    LLVMBuildStore(e->b, e->task, failure_field(e, e->fault, FAILURE_TASK));
    LLVMBuildBr(e->b, on);
  }
  LLVMPositionBuilderAtEnd(e->b, on);
}

static void failure_fail(emit *e, const wick_node *n)
{
  emit_check(e, n->loc, emit_get(e, n->in[0]), n->attr[WICK_ATTR_fail_code].i,
             emit_get(e, n->in[1]), n->attr[WICK_ATTR_fail_of].i);
}

/* ---- what a program prints ---- */

static LLVMValueRef failure_variable(emit *e, LLVMTypeRef type)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
  LLVMPositionBuilderBefore(e->b, LLVMGetBasicBlockTerminator(e->entry));
  LLVMValueRef x = LLVMBuildAlloca(e->b, type, "");
  LLVMPositionBuilderAtEnd(e->b, here);
  return x;
}

/* Returns the address of the bytes of a value. */
static LLVMValueRef failure_bytes(emit *e, wick_value v)
{
  LLVMValueRef x = emit_get(e, v);
  if (emit_info(e, v)->kind == WICK_BUFFER) return emit_operand(e, v);
  if (LLVMTypeOf(x) == LLVMInt1TypeInContext(e->context))
    x = LLVMBuildZExt(e->b, x, LLVMInt8TypeInContext(e->context), "");
  LLVMValueRef to = failure_variable(e, LLVMTypeOf(x));
  LLVMBuildStore(e->b, x, to);
  return to;
}

static LLVMValueRef failure_dims(emit *e, const wick_type_info *t)
{
  int32_t dim[WICK_MAX_RANK];
  if (t->kind != WICK_BUFFER || !t->rank) return LLVMConstNull(emit_pointer(e));
  wick_text name = wick_text_begin(e->mem);
  wick_text_add(&name, "dims");
  for (uint32_t k = 0; k < t->rank; k++) {
    dim[k] = (int32_t)t->dim[k].v;
    wick_text_printf(&name, " %d", (int)dim[k]);
  }
  LLVMValueRef global = failure_data(e, name.at, (const char *)dim, t->rank * sizeof *dim);
  LLVMSetAlignment(global, sizeof *dim);
  return global;
}

/* Returns the wick_elem of an operand; numbers of strings are strings. */
static wick_elem failure_elem(emit *e, const wick_node *n, uint32_t k)
{
  const wick_attr *strings = &n->attr[WICK_ATTR_say_strings];
  for (uint32_t i = 0; i < strings->n; i++)
    if (strings->ints[i] == k) return WICK_STRING;
  return emit_info(e, n->in[k])->elem;
}

/* Returns the address of an array of wick_said: the operands from `first` on. */
static LLVMValueRef failure_said(emit *e, const wick_node *n, uint32_t first)
{
  LLVMTypeRef p = emit_pointer(e), i32 = LLVMInt32TypeInContext(e->context),
              part[4] = {p, p, i32, i32},
              type = LLVMArrayType2(LLVMStructTypeInContext(e->context, part, 4, false),
                                    n->nin - first);
  if (n->nin == first) return LLVMConstNull(p);
  LLVMValueRef all = failure_variable(e, type);
  for (uint32_t k = first; k < n->nin; k++) {
    const wick_type_info *t = emit_info(e, n->in[k]);
    uint32_t rank = t->kind == WICK_BUFFER ? t->rank : 0;
    LLVMValueRef data = failure_bytes(e, n->in[k]), dims = failure_dims(e, t),
                 x[4] = {data, dims, LLVMConstInt(i32, failure_elem(e, n, k), false),
                         LLVMConstInt(i32, rank, false)};
    for (uint32_t i = 0; i < WICK_COUNT(x); i++) {
      LLVMValueRef at[3] = {LLVMConstNull(i32), LLVMConstInt(i32, k - first, false),
                            LLVMConstInt(i32, i, false)};
      LLVMBuildStore(e->b, x[i], LLVMBuildGEP2(e->b, type, all, at, 3, ""));
    }
  }
  return all;
}

/* Calls the function that the user of a bundle defines. */
static void failure_print_bundle(emit *e, const wick_node *n)
{
  LLVMTypeRef p = emit_pointer(e), i32 = LLVMInt32TypeInContext(e->context), param[3] = {p, i32, p},
              type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), param, 3, false);
  int64_t to = n->attr[WICK_ATTR_say_to].i;
  if (to == WICK_SAY_MESSAGE) return;
  const char *name =
      wick_str_printf(e->mem, "%s_print%s", e->options->bundle, to == WICK_SAY_PART ? "_part" : "");
  LLVMValueRef f = LLVMGetNamedFunction(e->module, name),
               arg[3] = {failure_text(e, n->attr[WICK_ATTR_say_text].s),
                         LLVMConstInt(i32, n->nin, false), failure_said(e, n, 0)};
  if (!f) f = LLVMAddFunction(e->module, name, type);
  LLVMBuildCall2(e->b, type, f, arg, 3, "");
}

static LLVMValueRef failure_of(emit *e)
{
  return e->frame.procedure ? failure_of_stack(e, e->stack) : e->fault;
}

/* Calls the runtime's function, if there is one, with the operands from `first` on. */
static void failure_say_to(emit *e, const wick_node *n, uint32_t first)
{
  LLVMTypeRef p = emit_pointer(e), i32 = LLVMInt32TypeInContext(e->context),
              param[5] = {p, i32, p, i32, p},
              type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), param, 5, false);
  LLVMValueRef fault = failure_of(e),
               say = LLVMBuildLoad2(e->b, p, failure_field(e, fault, FAILURE_SAY), "");
  LLVMBasicBlockRef some = emit_block(e, ""), on = emit_block(e, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntNE, say, LLVMConstNull(p), ""), some, on);
  LLVMPositionBuilderAtEnd(e->b, some);
  LLVMValueRef context = LLVMBuildLoad2(e->b, p, failure_field(e, fault, FAILURE_CONTEXT), ""),
               arg[5] = {context,
                         LLVMConstInt(i32,
                                      n->attr[WICK_ATTR_say_fails].i
                                          ? WICK_SAY_MESSAGE
                                          : (unsigned)n->attr[WICK_ATTR_say_to].i,
                                      false),
                         failure_text(e, n->attr[WICK_ATTR_say_text].s),
                         LLVMConstInt(i32, n->nin - first, false), failure_said(e, n, first)};
  LLVMBuildCall2(e->b, type, say, arg, 5, "");
  LLVMBuildBr(e->b, on);
  LLVMPositionBuilderAtEnd(e->b, on);
}

static void failure_say(emit *e, const wick_node *n)
{
  if (!n->attr[WICK_ATTR_say_fails].i) {
    if (e->options->bundle)
      failure_print_bundle(e, n);
    else
      failure_say_to(e, n, 0);
    return;
  }
  LLVMBasicBlockRef on = failure_if(e, emit_get(e, n->in[0]));
  if (n->nin > 1 && !e->options->bundle) failure_say_to(e, n, 1);
  failure_end(e, n->loc, n->attr[WICK_ATTR_say_text].s, WICK_EINVAL, emit_i64(e, 0), 0, on);
}

/* ---- operators of the runtime ---- */

/* In a procedure. The runtime has the message of a failure; its place is that of the call. */
static void failure_host(emit *e, const wick_node *n)
{
  LLVMTypeRef p = emit_pointer(e), i32 = LLVMInt32TypeInContext(e->context), param[3] = {p, i32, p},
              type = LLVMFunctionType(i32, param, 3, false), array = LLVMArrayType2(p, n->nin);
  LLVMValueRef all = failure_variable(e, array), fault = failure_of(e);
  for (uint32_t k = 0; k < n->nin; k++) {
    LLVMValueRef at[2] = {LLVMConstNull(i32), LLVMConstInt(i32, k, false)};
    LLVMBuildStore(e->b, emit_operand(e, n->in[k]), LLVMBuildGEP2(e->b, array, all, at, 2, ""));
  }
  LLVMValueRef host = LLVMBuildLoad2(e->b, p, failure_field(e, fault, FAILURE_HOST), ""),
               context = LLVMBuildLoad2(e->b, p, failure_field(e, fault, FAILURE_HOST_CONTEXT), ""),
               arg[3] = {context,
                         LLVMConstInt(i32, (unsigned)n->attr[WICK_ATTR_host_call_kernel].i, false),
                         all},
               status = LLVMBuildCall2(e->b, type, host, arg, 3, "");
  LLVMBasicBlockRef on =
      failure_if(e, LLVMBuildICmp(e->b, LLVMIntNE, status, LLVMConstNull(i32), ""));
  LLVMValueRef failed[6] = {e->stack,       failure_place(e, n->loc), failure_text(e, NULL),
                            emit_i64(e, 0), emit_i64(e, 0),           status};
  emit_procedure_fail(e, failure_call(e, failure_failed, failed, 6));
  LLVMPositionBuilderAtEnd(e->b, on);
}

const struct emit_named emit_failure_rows[] = {
    {"fail", failure_fail}, {"host_call", failure_host}, {"say", failure_say}, {NULL, NULL}};
