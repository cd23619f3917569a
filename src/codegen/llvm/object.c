/* Emits counted objects. The stack's slot is the address of the heap, and an object is an offset
 * from there. Allocation and the usual end of a reference are emitted in place. What has a loop is a
 * function of the object file: it is rarer, and LLVM would unroll it in each place. The algorithms are
 * those of runtime/heap.c. */
#include "codegen/llvm/emit.h"
#include "runtime/heap.h"

static LLVMTypeRef object_i64(const emit *e) { return LLVMInt64TypeInContext(e->context); }

/* Returns the address of byte object + offset of the heap. */
static LLVMValueRef object_pointer(emit *e, LLVMValueRef object, int64_t offset)
{
  LLVMTypeRef byte = LLVMInt8TypeInContext(e->context);
  if (e->target->pointer_bits != 64) object = LLVMBuildTrunc(e->b, object, emit_word(e), "");
  LLVMValueRef p = LLVMBuildGEP2(e->b, byte, e->stack, &object, 1, ""),
               at = LLVMConstInt(emit_word(e), (uint64_t)offset, true);
  return offset ? LLVMBuildGEP2(e->b, byte, p, &at, 1, "") : p;
}

static LLVMValueRef object_fetch(emit *e, LLVMTypeRef type, LLVMValueRef p)
{
  return LLVMBuildLoad2(e->b, type, p, "");
}

/* Returns the address of a member of the wick_heap. */
static LLVMValueRef object_member(emit *e, uint64_t offset)
{
  LLVMValueRef at = LLVMConstInt(emit_word(e), offset, false);
  return LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), e->stack, &at, 1, "");
}

static LLVMValueRef object_list(emit *e, LLVMValueRef class)
{
  LLVMValueRef first = object_member(e, offsetof(wick_heap, free));
  if (e->target->pointer_bits != 64) class = LLVMBuildTrunc(e->b, class, emit_word(e), "");
  return LLVMBuildGEP2(e->b, object_i64(e), first, &class, 1, "");
}

static LLVMValueRef object_shift(emit *e, LLVMValueRef x, unsigned by, bool left)
{
  LLVMValueRef n = emit_i64(e, by);
  return left ? LLVMBuildShl(e->b, x, n, "") : LLVMBuildLShr(e->b, x, n, "");
}

/* Emits a branch on whether x is even, an object in the heap; the builder continues there. Returns
 * the block for odd ones. */
static LLVMBasicBlockRef object_if_block(emit *e, LLVMValueRef x)
{
  LLVMValueRef odd = LLVMBuildTrunc(e->b, x, LLVMInt1TypeInContext(e->context), "");
  LLVMBasicBlockRef block = emit_block(e, ""), on = emit_block(e, "");
  LLVMBuildCondBr(e->b, odd, on, block);
  LLVMPositionBuilderAtEnd(e->b, block);
  return on;
}

static void object_continue(emit *e, LLVMBasicBlockRef on)
{
  LLVMBuildBr(e->b, on);
  LLVMPositionBuilderAtEnd(e->b, on);
}

/* ---- freeing ---- */

static void object_give_back(emit *e, LLVMValueRef o, LLVMValueRef class)
{
  LLVMValueRef list = object_list(e, class), next = object_fetch(e, object_i64(e), list);
  LLVMBuildStore(e->b, object_shift(e, next, WICK_HEAP_NEXT, true), object_pointer(e, o, 0));
  LLVMBuildStore(e->b, o, list);
}

static LLVMValueRef object_class(emit *e, LLVMValueRef header)
{
  return object_shift(e, header, WICK_OBJECT_CLASS, false);
}

/* Emits the loop over the fields of a block that is freed. Drops a reference to each, and puts those
 * without others in the list `waiting`. Returns the list afterwards. */
static LLVMValueRef object_fields(emit *e, LLVMValueRef o, LLVMValueRef header,
                                  LLVMValueRef waiting)
{
  LLVMTypeRef i64 = object_i64(e), i32 = LLVMInt32TypeInContext(e->context);
  LLVMBasicBlockRef pre = LLVMGetInsertBlock(e->b), head = emit_block(e, ""),
                    body = emit_block(e, ""), next = emit_block(e, ""), exit = emit_block(e, "");
  LLVMValueRef refs = LLVMBuildAnd(e->b, object_shift(e, header, WICK_OBJECT_REFS, false),
                                   emit_i64(e, WICK_OBJECT_MOST_REFS), ""),
               zero = emit_i64(e, 0);
  object_continue(e, head);
  LLVMValueRef k = LLVMBuildPhi(e->b, i64, ""), list = LLVMBuildPhi(e->b, i64, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, k, refs, ""), body, exit);
  LLVMPositionBuilderAtEnd(e->b, body);
  LLVMValueRef at = LLVMBuildAdd(e->b, o, object_shift(e, k, 3, true), ""),
               field = object_fetch(e, i64, object_pointer(e, at, 8));
  LLVMBasicBlockRef odd = object_if_block(e, field), last = emit_block(e, ""),
                    more = emit_block(e, "");
  LLVMValueRef p = object_pointer(e, field, 0), count = object_fetch(e, i32, p),
               one = LLVMConstInt(i32, 1, false);
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, count, one, ""), last, more);
  LLVMPositionBuilderAtEnd(e->b, more);
  LLVMBuildStore(e->b, LLVMBuildSub(e->b, count, one, ""), p);
  LLVMBuildBr(e->b, odd);
  LLVMPositionBuilderAtEnd(e->b, last);
  LLVMBuildStore(e->b, LLVMBuildTrunc(e->b, object_shift(e, list, WICK_HEAP_LINK, false), i32, ""),
                 p);
  LLVMBuildBr(e->b, next);
  LLVMPositionBuilderAtEnd(e->b, odd);
  LLVMBuildBr(e->b, next);
  LLVMPositionBuilderAtEnd(e->b, next);
  LLVMValueRef now = LLVMBuildPhi(e->b, i64, ""), new[2] = {field, list},
               step = LLVMBuildAdd(e->b, k, emit_i64(e, 1), "");
  LLVMBuildBr(e->b, head);
  LLVMAddIncoming(now, new, (LLVMBasicBlockRef[]){last, odd}, 2);
  LLVMAddIncoming(k, (LLVMValueRef[]){zero, step}, (LLVMBasicBlockRef[]){pre, next}, 2);
  LLVMAddIncoming(list, (LLVMValueRef[]){waiting, now}, (LLVMBasicBlockRef[]){pre, next}, 2);
  LLVMPositionBuilderAtEnd(e->b, exit);
  return list;
}

/* Frees an object whose last reference has ended, and what only it refers to. */
static void object_freeing(emit *e, LLVMValueRef object)
{
  LLVMTypeRef i64 = object_i64(e), i32 = LLVMInt32TypeInContext(e->context);
  LLVMBasicBlockRef pre = LLVMGetInsertBlock(e->b), pop = emit_block(e, ""),
                    next = emit_block(e, ""), done = emit_block(e, "");
  object_continue(e, pop);
  LLVMValueRef o = LLVMBuildPhi(e->b, i64, ""), waiting = LLVMBuildPhi(e->b, i64, ""),
               header = object_fetch(e, i64, object_pointer(e, o, 0)),
               rest = object_fields(e, o, header, waiting);
  object_give_back(e, o, object_class(e, header));
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, rest, emit_i64(e, 0), ""), done, next);
  LLVMPositionBuilderAtEnd(e->b, next);
  LLVMValueRef link = object_fetch(e, i32, object_pointer(e, rest, 0));
  link = object_shift(e, LLVMBuildZExt(e->b, link, i64, ""), WICK_HEAP_LINK, true);
  LLVMBuildBr(e->b, pop);
  LLVMAddIncoming(o, (LLVMValueRef[]){object, rest}, (LLVMBasicBlockRef[]){pre, next}, 2);
  LLVMAddIncoming(waiting, (LLVMValueRef[]){emit_i64(e, 0), link}, (LLVMBasicBlockRef[]){pre, next},
                  2);
  LLVMPositionBuilderAtEnd(e->b, done);
}

/* Returns a function of the object file that takes the heap and an object; `body` emits what it does
 * with the object, but for its end. */
static LLVMValueRef object_function(emit *e, const char *name, void (*body)(emit *, LLVMValueRef),
                                    LLVMTypeRef *out_type)
{
  LLVMTypeRef param[2] = {emit_pointer(e), object_i64(e)};
  *out_type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), param, 2, false);
  LLVMValueRef f = LLVMGetNamedFunction(e->module, name), outer = e->function, heap = e->stack;
  if (f) return f;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
  f = LLVMAddFunction(e->module, name, *out_type);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  emit_attributes(e, f);
  emit_stack_attribute(e, f);
  emit_attribute(e, f, "noinline", 0);
  emit_attribute(e, f, "cold", 0); /* registers are saved there, not around it */
  e->function = f, e->stack = LLVMGetParam(f, 0);
  LLVMPositionBuilderAtEnd(e->b, emit_block(e, ""));
  body(e, LLVMGetParam(f, 1));
  LLVMBuildRetVoid(e->b);
  e->function = outer, e->stack = heap;
  LLVMPositionBuilderAtEnd(e->b, here);
  return f;
}

static void object_call(emit *e, const char *name, void (*body)(emit *, LLVMValueRef),
                        LLVMValueRef x)
{
  LLVMTypeRef type;
  LLVMValueRef f = object_function(e, name, body, &type), arg[2] = {e->stack, x};
  emit_stack_argument(e, LLVMBuildCall2(e->b, type, f, arg, 2, ""));
}

/* ---- counts ---- */

/* Splits on whether the count at p is 1: the builder continues where it is not, after one less is
 * stored. Returns the block where it is. */
static LLVMBasicBlockRef object_drop(emit *e, LLVMValueRef p)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMValueRef count = object_fetch(e, i32, p), one = LLVMConstInt(i32, 1, false);
  LLVMBasicBlockRef last = emit_block(e, ""), more = emit_block(e, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, count, one, ""), last, more);
  LLVMPositionBuilderAtEnd(e->b, more);
  LLVMBuildStore(e->b, LLVMBuildSub(e->b, count, one, ""), p);
  return last;
}

static void object_count_up(emit *e, LLVMValueRef x)
{
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  LLVMBasicBlockRef on = object_if_block(e, x);
  LLVMValueRef p = object_pointer(e, x, 0),
               count = LLVMBuildAdd(e->b, object_fetch(e, i32, p), LLVMConstInt(i32, 1, false), "");
  LLVMBuildStore(e->b, count, p);
  object_continue(e, on);
}

static void object_retain(emit *e, const wick_node *n)
{
  object_count_up(e, emit_get(e, n->in[0]));
}

static void object_release(emit *e, const wick_node *n)
{
  LLVMValueRef x = emit_get(e, n->in[0]);
  LLVMBasicBlockRef on = object_if_block(e, x), last = object_drop(e, object_pointer(e, x, 0));
  LLVMBuildBr(e->b, on);
  LLVMPositionBuilderAtEnd(e->b, last);
  object_call(e, "wick.object.free", object_freeing, x);
  object_continue(e, on);
}

/* Emits new references to the fields of x, a block that is not freed. */
static void object_sharing(emit *e, LLVMValueRef x)
{
  LLVMTypeRef i64 = object_i64(e);
  LLVMValueRef header = object_fetch(e, i64, object_pointer(e, x, 0)),
               refs = LLVMBuildAnd(e->b, object_shift(e, header, WICK_OBJECT_REFS, false),
                                   emit_i64(e, WICK_OBJECT_MOST_REFS), "");
  LLVMBasicBlockRef pre = LLVMGetInsertBlock(e->b), head = emit_block(e, ""),
                    body = emit_block(e, ""), exit = emit_block(e, "");
  object_continue(e, head);
  LLVMValueRef k = LLVMBuildPhi(e->b, i64, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, k, refs, ""), body, exit);
  LLVMPositionBuilderAtEnd(e->b, body);
  LLVMValueRef at = LLVMBuildAdd(e->b, x, object_shift(e, k, 3, true), ""),
               next = LLVMBuildAdd(e->b, k, emit_i64(e, 1), "");
  object_count_up(e, object_fetch(e, i64, object_pointer(e, at, 8)));
  LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->b);
  LLVMBuildBr(e->b, head);
  LLVMAddIncoming(k, (LLVMValueRef[]){emit_i64(e, 0), next}, (LLVMBasicBlockRef[]){pre, latch}, 2);
  LLVMPositionBuilderAtEnd(e->b, exit);
}

static void object_take(emit *e, const wick_node *n)
{
  LLVMValueRef x = emit_get(e, n->in[0]);
  LLVMBasicBlockRef last = object_drop(e, object_pointer(e, x, 0)), on = emit_block(e, "");
  object_call(e, "wick.object.share", object_sharing, x);
  LLVMBasicBlockRef shared = LLVMGetInsertBlock(e->b);
  LLVMBuildBr(e->b, on);
  LLVMPositionBuilderAtEnd(e->b, last);
  object_continue(e, on);
  LLVMValueRef r = LLVMBuildPhi(e->b, object_i64(e), "");
  LLVMAddIncoming(r, (LLVMValueRef[]){x, emit_i64(e, 0)}, (LLVMBasicBlockRef[]){last, shared}, 2);
  emit_set(e, n->first, r);
}

static void object_free(emit *e, const wick_node *n)
{
  LLVMValueRef x = emit_get(e, n->in[0]);
  LLVMBasicBlockRef some = emit_block(e, ""), on = emit_block(e, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, x, emit_i64(e, 0), ""), on, some);
  LLVMPositionBuilderAtEnd(e->b, some);
  LLVMValueRef header = object_fetch(e, object_i64(e), object_pointer(e, x, 0));
  object_give_back(e, x, object_class(e, header));
  object_continue(e, on);
}

/* ---- blocks ---- */

/* Returns memory for a block that was never used. Fails if there is none. */
static LLVMValueRef object_bump(emit *e, wick_loc loc, uint64_t nbytes)
{
  LLVMTypeRef i64 = object_i64(e);
  LLVMValueRef top = object_member(e, offsetof(wick_heap, top)),
               end = object_fetch(e, i64, object_member(e, offsetof(wick_heap, end))),
               o = object_fetch(e, i64, top),
               after = LLVMBuildAdd(e->b, o, emit_i64(e, (int64_t)nbytes), ""),
               full = LLVMBuildICmp(e->b, LLVMIntUGT, after, end, "");
  emit_check(e, loc, full, WICK_ELIMIT, emit_i64(e, (int64_t)nbytes), 0);
  LLVMBuildStore(e->b, after, top);
  return o;
}

/* Returns a free block of the class, or new memory. */
static LLVMValueRef object_block(emit *e, wick_loc loc, uint32_t class)
{
  LLVMTypeRef i64 = object_i64(e);
  LLVMValueRef list = object_list(e, emit_i64(e, class)), first = object_fetch(e, i64, list);
  LLVMBasicBlockRef some = emit_block(e, ""), none = emit_block(e, ""), on = emit_block(e, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, first, emit_i64(e, 0), ""), none, some);
  LLVMPositionBuilderAtEnd(e->b, some);
  LLVMValueRef next = object_fetch(e, i64, object_pointer(e, first, 0));
  LLVMBuildStore(e->b, object_shift(e, next, WICK_HEAP_NEXT, false), list);
  LLVMBuildBr(e->b, on);
  LLVMPositionBuilderAtEnd(e->b, none);
  LLVMValueRef fresh = object_bump(e, loc, wick_heap_words(class) * 8);
  none = LLVMGetInsertBlock(e->b);
  object_continue(e, on);
  LLVMValueRef o = LLVMBuildPhi(e->b, i64, "");
  LLVMAddIncoming(o, (LLVMValueRef[]){first, fresh}, (LLVMBasicBlockRef[]){some, none}, 2);
  return o;
}

static void object_put(emit *e, LLVMValueRef o, int64_t at, LLVMValueRef x)
{
  LLVMTypeRef bit = LLVMInt1TypeInContext(e->context);
  if (LLVMTypeOf(x) == bit) x = LLVMBuildZExt(e->b, x, LLVMInt8TypeInContext(e->context), "");
  LLVMBuildStore(e->b, x, object_pointer(e, o, 8 + 8 * at));
}

static void object_fill(emit *e, const wick_node *n, uint32_t first, uint64_t header,
                        LLVMValueRef o)
{
  LLVMBuildStore(e->b, emit_i64(e, (int64_t)header), object_pointer(e, o, 0));
  for (uint32_t k = first; k < n->nin; k++) object_put(e, o, k - first, emit_get(e, n->in[k]));
  emit_set(e, n->first, o);
}

static uint64_t object_header(const wick_node *n, uint32_t first)
{
  uint64_t words = (uint64_t)n->attr[WICK_ATTR_object_new_words].i;
  return wick_object_header((uint64_t)n->attr[WICK_ATTR_object_new_tag].i,
                            (uint64_t)n->attr[WICK_ATTR_object_new_refs].i,
                            words ? words : n->nin - first);
}

static void object_new(emit *e, const wick_node *n)
{
  uint64_t header = object_header(n, 0);
  object_fill(e, n, 0, header, object_block(e, n->loc, (uint32_t)(header >> WICK_OBJECT_CLASS)));
}

static void object_reuse(emit *e, const wick_node *n)
{
  uint64_t header = object_header(n, 1);
  LLVMValueRef old = emit_get(e, n->in[0]);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b), none = emit_block(e, ""),
                    on = emit_block(e, "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, old, emit_i64(e, 0), ""), none, on);
  LLVMPositionBuilderAtEnd(e->b, none);
  LLVMValueRef fresh = object_block(e, n->loc, (uint32_t)(header >> WICK_OBJECT_CLASS));
  none = LLVMGetInsertBlock(e->b);
  object_continue(e, on);
  LLVMValueRef o = LLVMBuildPhi(e->b, object_i64(e), "");
  LLVMAddIncoming(o, (LLVMValueRef[]){old, fresh}, (LLVMBasicBlockRef[]){here, none}, 2);
  object_fill(e, n, 1, header, o);
}

/* ---- fields ---- */

static void object_tag(emit *e, const wick_node *n)
{
  LLVMTypeRef i16 = LLVMInt16TypeInContext(e->context);
  LLVMValueRef p = object_pointer(e, emit_get(e, n->in[0]), WICK_OBJECT_TAG / 8);
  emit_set(e, n->first, LLVMBuildZExt(e->b, object_fetch(e, i16, p), object_i64(e), ""));
}

static void object_load(emit *e, const wick_node *n)
{
  wick_elem elem = emit_info(e, n->first)->elem;
  LLVMTypeRef type = emit_type(e, elem == WICK_BOOL ? WICK_U8 : elem, 1);
  LLVMValueRef p = object_pointer(e, emit_get(e, n->in[0]),
                                  8 + 8 * n->attr[WICK_ATTR_object_load_at].i),
               x = object_fetch(e, type, p);
  if (elem == WICK_BOOL) x = LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(type), "");
  emit_set(e, n->first, x);
}

static void object_store(emit *e, const wick_node *n)
{
  object_put(e, emit_get(e, n->in[0]), n->attr[WICK_ATTR_object_store_at].i, emit_get(e, n->in[1]));
}

/* Copies the bytes of a buffer, operand k, and of a block, from a field on. */
static void object_tensor(emit *e, const wick_node *n, uint32_t k)
{
  uint64_t nbytes = 0;
  if (!wick_type_nbytes(e->f->module, wick_type_of(e->f, n->in[k]), &nbytes)) return;
  LLVMValueRef buffer = emit_operand(e, n->in[k]),
               field = object_pointer(e, emit_get(e, n->in[1 - k]),
                                      8 + 8 * n->attr[WICK_ATTR_object_load_at].i),
               all = LLVMConstInt(emit_word(e), nbytes, false);
  LLVMBuildMemCpy(e->b, k ? field : buffer, k ? 8 : 1, k ? buffer : field, k ? 1 : 8, all);
}

static void object_get_tensor(emit *e, const wick_node *n) { object_tensor(e, n, 0); }
static void object_put_tensor(emit *e, const wick_node *n) { object_tensor(e, n, 1); }

const struct emit_named emit_object_rows[] = {
    {"object_new", object_new},
    {"object_reuse", object_reuse},
    {"object_take", object_take},
    {"object_free", object_free},
    {"object_retain", object_retain},
    {"object_release", object_release},
    {"object_tag", object_tag},
    {"object_load", object_load},
    {"object_store", object_store},
    {"object_get_tensor", object_get_tensor},
    {"object_put_tensor", object_put_tensor},
    {NULL, NULL},
};
