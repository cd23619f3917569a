/* Emits loops and branches as blocks with phis, terminators, and constants. */
#include "codegen/llvm/emit.h"

/* Emits the body of a region. Returns its `yield`. */
static const wick_node *control_region(emit *e, const wick_region *r)
{
  uint32_t last = r->end - 1;
  for (uint32_t i = r->begin; i < last && !e->status; i = e->f->node[i].end)
    emit_node(e, &e->f->node[i]);
  return &e->f->node[last];
}

static void control_pass(const emit *e, const wick_node *yield, LLVMValueRef *out)
{
  for (uint32_t i = 0; i < yield->nin; i++) out[i] = emit_get(e, yield->in[i]);
}

static void control_results(emit *e, const wick_node *n, LLVMValueRef *x)
{
  for (uint32_t i = 0; i < n->nout; i++) emit_set(e, (wick_value){n->first.id + i}, x[i]);
}

static LLVMValueRef control_phi(emit *e, LLVMTypeRef type, LLVMValueRef x, LLVMBasicBlockRef from)
{
  LLVMValueRef phi = LLVMBuildPhi(e->b, type, "");
  LLVMAddIncoming(phi, &x, &from, 1);
  return phi;
}

/* ---- if, while ---- */

static void control_arm(emit *e, const wick_region *r, LLVMBasicBlockRef from,
                        LLVMBasicBlockRef join, LLVMValueRef *x, LLVMBasicBlockRef *out_end)
{
  LLVMPositionBuilderAtEnd(e->b, from);
  control_pass(e, control_region(e, r), x);
  if (e->status) return;
  *out_end = LLVMGetInsertBlock(e->b);
  LLVMBuildBr(e->b, join);
}

/* Returns whether the region may end the run. */
static bool control_fails(const emit *e, const wick_region *r)
{
  for (uint32_t i = r->begin; i < r->end; i = e->f->node[i].end)
    if (e->f->node[i].op == WICK_OP_fail) return true;
  return false;
}

/* An arm with a check that the other one does not need is the rare one. */
static void control_if(emit *e, const wick_node *n)
{
  LLVMBasicBlockRef arm[2] = {emit_block(e, ""), emit_block(e, "")}, join = emit_block(e, ""),
                    end[2] = {NULL, NULL};
  LLVMValueRef *x[2] = {wick_new(e->mem, LLVMValueRef, n->nout),
                        wick_new(e->mem, LLVMValueRef, n->nout)};
  LLVMValueRef br = LLVMBuildCondBr(e->b, emit_get(e, n->in[0]), arm[0], arm[1]);
  if (control_fails(e, &n->region[0]) && !control_fails(e, &n->region[1])) emit_rarely(e, br);
  for (uint32_t r = 0; r < 2 && !e->status; r++)
    control_arm(e, &n->region[r], arm[r], join, x[r], &end[r]);
  if (e->status) return;
  LLVMMoveBasicBlockAfter(join, end[1]);
  LLVMPositionBuilderAtEnd(e->b, join);
  for (uint32_t i = 0; i < n->nout; i++) {
    LLVMValueRef phi = control_phi(e, LLVMTypeOf(x[0][i]), x[0][i], end[0]);
    LLVMAddIncoming(phi, &x[1][i], &end[1], 1);
    emit_set(e, (wick_value){n->first.id + i}, phi);
  }
}

/* The carried values are phis of the block that tests the condition. */
static void control_while(emit *e, const wick_node *n)
{
  LLVMBasicBlockRef pre = LLVMGetInsertBlock(e->b), head = emit_block(e, ""),
                    body = emit_block(e, ""), exit = emit_block(e, "");
  LLVMValueRef *phi = wick_new(e->mem, LLVMValueRef, n->nin);
  LLVMBuildBr(e->b, head);
  LLVMPositionBuilderAtEnd(e->b, head);
  for (uint32_t i = 0; i < n->nin; i++)
    phi[i] = control_phi(e, emit_type_of(e, n->in[i]), emit_get(e, n->in[i]), pre);
  for (uint32_t i = 0; i < n->nin; i++)
    for (uint32_t r = 0; r < 2; r++) emit_set(e, (wick_value){n->region[r].first.id + i}, phi[i]);
  const wick_node *test = control_region(e, &n->region[0]);
  if (e->status) return;
  LLVMBuildCondBr(e->b, emit_get(e, test->in[0]), body, exit);
  LLVMPositionBuilderAtEnd(e->b, body);
  const wick_node *next = control_region(e, &n->region[1]);
  if (e->status) return;
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
  LLVMBuildBr(e->b, head);
  for (uint32_t i = 0; i < n->nin; i++) {
    LLVMValueRef x = emit_get(e, next->in[i]);
    LLVMAddIncoming(phi[i], &x, &latch, 1);
  }
  LLVMMoveBasicBlockAfter(exit, latch);
  LLVMPositionBuilderAtEnd(e->b, exit);
  control_results(e, n, phi);
}

/* ---- for ---- */

typedef struct control_range { /* known facts about a loop's range */
  bool known, runs, once;
  bool narrow; /* its index fits in 32 bits */
} control_range;

static control_range control_range_of(const emit *e, const wick_node *n)
{
  wick_scalar lo, hi;
  control_range r = {0};
  if (!emit_known(e, n->in[0], &lo) || !emit_known(e, n->in[1], &hi)) return r;
  int64_t step = n->attr[WICK_ATTR_for_step].i, next;
  r.known = true;
  r.runs = lo.i < hi.i;
  r.once = r.runs && (wick_add_overflows(lo.i, step, &next) || next >= hi.i);
  r.narrow = lo.i > INT32_MIN && hi.i < INT32_MAX / 2 && step < INT32_MAX / 2;
  return r;
}

static void control_bind(emit *e, const wick_region *r, LLVMValueRef index, LLVMValueRef *carried)
{
  emit_set(e, r->first, index);
  for (uint32_t i = 1; i < r->nparam; i++)
    emit_set(e, (wick_value){r->first.id + i}, carried[i - 1]);
}

/* Emits the loop, rotated: the test is at the end of the body. Returns the block that jumps back.
 * Afterwards the builder is after the loop, and x holds the values of the last iteration. */
static LLVMBasicBlockRef control_body(emit *e, const wick_node *n, control_range range,
                                      LLVMBasicBlockRef pre, LLVMBasicBlockRef body,
                                      LLVMBasicBlockRef exit, LLVMValueRef *x)
{
  bool narrow = range.narrow && e->target->pointer_bits == 32;
  LLVMTypeRef i64 = LLVMInt64TypeInContext(e->context), type = narrow ? emit_word(e) : i64;
  LLVMValueRef lo = emit_get(e, n->in[0]), hi = emit_get(e, n->in[1]);
  if (narrow) lo = LLVMConstTrunc(lo, type), hi = LLVMConstTrunc(hi, type);
  LLVMPositionBuilderAtEnd(e->b, body);
  LLVMValueRef index = control_phi(e, type, lo, pre);
  LLVMValueRef *phi = wick_new(e->mem, LLVMValueRef, n->nout);
  for (uint32_t i = 0; i < n->nout; i++) phi[i] = control_phi(e, LLVMTypeOf(x[i]), x[i], pre);
  LLVMValueRef wide = narrow ? LLVMBuildSExt(e->b, index, i64, "") : index, outer = e->task;
  control_bind(e, n->region, wide, phi);
  if (e->begin && e->task == e->begin && lo == e->begin && hi == e->end) e->task = wide;
  control_pass(e, control_region(e, n->region), x);
  e->task = outer;
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
  if (e->status) return latch;
  LLVMValueRef next =
      LLVMBuildNSWAdd(e->b, index, emit_int(e, type, n->attr[WICK_ATTR_for_step].i), "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, next, hi, ""), body, exit);
  LLVMAddIncoming(index, &next, &latch, 1);
  for (uint32_t i = 0; i < n->nout; i++) LLVMAddIncoming(phi[i], &x[i], &latch, 1);
  LLVMMoveBasicBlockAfter(exit, latch);
  LLVMPositionBuilderAtEnd(e->b, exit);
  return latch;
}

static void control_for(emit *e, const wick_node *n)
{
  control_range range = control_range_of(e, n);
  LLVMValueRef *x = wick_new(e->mem, LLVMValueRef, n->nout),
               *init = wick_new(e->mem, LLVMValueRef, n->nout);
  for (uint32_t i = 0; i < n->nout; i++) init[i] = x[i] = emit_get(e, n->in[2 + i]);
  if (range.once) {
    control_bind(e, n->region, emit_get(e, n->in[0]), x);
    control_pass(e, control_region(e, n->region), x);
  } else if (!range.known || range.runs) {
    LLVMBasicBlockRef pre = LLVMGetInsertBlock(e->b), body = emit_block(e, ""),
                      exit = emit_block(e, "");
    if (range.known)
      LLVMBuildBr(e->b, body);
    else
      LLVMBuildCondBr(
          e->b, LLVMBuildICmp(e->b, LLVMIntSLT, emit_get(e, n->in[0]), emit_get(e, n->in[1]), ""),
          body, exit);
    LLVMBasicBlockRef latch = control_body(e, n, range, pre, body, exit, x);
    if (e->status) return;
    for (uint32_t i = 0; i < n->nout && !range.known; i++) {
      LLVMValueRef phi = control_phi(e, LLVMTypeOf(x[i]), init[i], pre);
      LLVMAddIncoming(phi, &x[i], &latch, 1);
      x[i] = phi;
    }
  }
  if (!e->status) control_results(e, n, x);
}

/* ---- constants, the end ---- */

enum { CONTROL_MOST_TABLE = 65536 };

/* Emits a constant as data of the object. Large constants are parameters. */
static void control_table(emit *e, const wick_node *n)
{
  const wick_constant *k = wick_constant_get(e->f->module, wick_const_imm(n)->constant);
  if (!k->data || k->nbytes > CONTROL_MOST_TABLE) {
    emit_fail(e, n, "@%s: constants of more than %d bytes, or without data, are parameters",
              k->name, CONTROL_MOST_TABLE);
    return;
  }
  LLVMValueRef data =
      LLVMConstStringInContext2(e->context, k->data, (size_t)k->nbytes, /*DontNullTerminate=*/true);
  LLVMValueRef table = LLVMAddGlobal(e->module, LLVMTypeOf(data), "");
  LLVMSetInitializer(table, data);
  LLVMSetGlobalConstant(table, true);
  LLVMSetLinkage(table, LLVMPrivateLinkage);
  LLVMSetAlignment(table, WICK_FRAME_ALIGN);
  emit_set(e, n->first, table);
}

static void control_const(emit *e, const wick_node *n)
{
  const wick_type_info *t = emit_info(e, n->first);
  const wick_imm *imm = wick_const_imm(n);
  if (t->kind == WICK_BUFFER && imm->constant) {
    control_table(e, n);
    return;
  }
  if (t->kind != WICK_SCALAR || imm->constant || emit_elem_bytes(t->elem) == 0 ||
      wick_elem_storage[t->elem].cls > WICK_LOGIC) {
    emit_fail(e, n, "only numbers are constants here");
    return;
  }
  bool is_float = wick_elem_is_float(t->elem);
  wick_scalar s = is_float ? (wick_scalar){.f = imm->f} : (wick_scalar){.i = imm->i};
  emit_set(e, n->first, emit_number(e, t->elem, t->lanes, s));
}

static void control_return(emit *e, const wick_node *n)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  emit_flush(e);
  if (e->frame.procedure)
    emit_procedure_return(e, n->nin, n->in);
  else if (e->frame.entry)
    LLVMBuildRet(e->b, LLVMConstInt(i32, 0, false));
  else
    LLVMBuildRetVoid(e->b);
}

const struct emit_named emit_control_rows[] = {
    {"if", control_if},       {"while", control_while},   {"for", control_for},
    {"const", control_const}, {"return", control_return}, {NULL, NULL},
};
