/* Emits accesses to buffers: addresses, loads and stores. */
#include "codegen/llvm/emit.h"
#include "ir/build.h"

/* ---- addresses ---- */

/* Moves the builder to the earliest position at which both values are defined, so that invariant
 * addresses are computed outside of loops. Returns the block to return to. */
static LLVMBasicBlockRef memory_hoist(emit *e, wick_value x, wick_value y)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
  LLVMValueRef at = emit_get(e, e->order[x.id] > e->order[y.id] ? x : y);
  LLVMValueRef next = NULL;
  if (!LLVMIsAInstruction(at)) {
    next = LLVMGetBasicBlockTerminator(e->entry);
  } else {
    next = LLVMGetNextInstruction(at);
    while (next && LLVMIsAPHINode(next)) next = LLVMGetNextInstruction(next);
  }
  if (next)
    LLVMPositionBuilderBefore(e->b, next);
  else
    LLVMPositionBuilderAtEnd(e->b, LLVMGetInstructionParent(at));
  return here;
}

static LLVMValueRef memory_index(emit *e, LLVMValueRef index)
{
  return e->target->pointer_bits == 64 ? index : LLVMBuildTrunc(e->b, index, emit_word(e), "");
}

/* Returns buffer + index, which is emitted once for each pair. */
static LLVMValueRef memory_base(emit *e, wick_value buffer, wick_value index, uint64_t nbytes)
{
  for (uint32_t i = e->address_of[index.id]; i; i = e->addresses.at[i - 1].next)
    if (e->addresses.at[i - 1].buffer == buffer.id) return e->addresses.at[i - 1].pointer;
  LLVMBasicBlockRef here = memory_hoist(e, buffer, index);
  LLVMTypeRef type = LLVMIntTypeInContext(e->context, (unsigned)nbytes * 8);
  LLVMValueRef i = memory_index(e, emit_get(e, index));
  LLVMValueRef p = LLVMBuildGEP2(e->b, type, emit_get(e, buffer), &i, 1, "");
  LLVMPositionBuilderAtEnd(e->b, here);
  emit_address a = {buffer.id, index.id, p, e->address_of[index.id]};
  wick_push(e->mem, &e->addresses, a);
  e->address_of[index.id] = e->addresses.n;
  return p;
}

static LLVMValueRef memory_offset(emit *e, LLVMValueRef p, int64_t nbytes)
{
  if (nbytes == 0) return p;
  LLVMValueRef i = memory_index(e, emit_i64(e, nbytes));
  return LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), p, &i, 1, "");
}

/* Returns the address of element index + offset of the buffer; NULL after a failure. */
static LLVMValueRef memory_address(emit *e, const wick_node *n, wick_elem elem)
{
  int64_t nbytes = (int64_t)emit_elem_bytes(elem), offset, index;
  wick_scalar known;
  if (nbytes == 0 || nbytes > 8) {
    emit_fail(e, n, "elements of %s have no address", wick_elem_name(elem));
    return NULL;
  }
  if (wick_mul_overflows(n->attr[WICK_ATTR_load_offset].i, nbytes, &offset)) {
    emit_fail(e, n, "the offset is out of range");
    return NULL;
  }
  if (emit_known(e, n->in[1], &known) && !wick_mul_overflows(known.i, nbytes, &index) &&
      !wick_add_overflows(index, offset, &index))
    return memory_offset(e, emit_get(e, n->in[0]), index);
  LLVMValueRef p = memory_base(e, n->in[0], n->in[1], (uint64_t)nbytes);
  return memory_offset(e, p, offset);
}

/* ---- loads and stores ---- */

enum { MEMORY_NEAR = 16, MEMORY_SPLIT = 64 };

/* Emits an empty assembler statement with a side effect, over which nothing moves. */
static void memory_barrier(emit *e)
{
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, false);
  LLVMValueRef nothing =
      LLVMGetInlineAsm(type, "", 0, "", 0, true, false, LLVMInlineAsmDialectATT, false);
  LLVMBuildCall2(e->b, type, nothing, NULL, 0, "");
}

/* x86's instruction selection moves up to four vector loads from one base together, however far
 * apart they are, and does not count registers. In an unrolled loop full of accumulators, the
 * weights of later steps then take registers from the sums, which are spilled (9 % of a
 * convolution's speed). Therefore a barrier separates loads from one buffer that are far apart
 * here. */
static void memory_keep_apart(emit *e, uint32_t buffer)
{
  emit_group *g = &e->group;
  if (e->target->machine != WICK_MACHINE_X86_64) return;
  if (g->block != LLVMGetInsertBlock(e->b)) *g = (emit_group){.block = LLVMGetInsertBlock(e->b)};
  uint32_t i = 0;
  while (i < g->nbuffer && g->buffer[i] != buffer) i++;
  if (i < g->nbuffer && e->norder - g->first[i] > MEMORY_NEAR) {
    memory_barrier(e);
    i = g->nbuffer = 0;
  }
  if (i < g->nbuffer || i == WICK_COUNT(g->buffer)) return;
  g->buffer[i] = buffer;
  g->first[i] = e->norder;
  g->nbuffer++;
}

static LLVMTypeRef memory_type(const emit *e, const wick_type_info *t)
{
  return emit_type(e, t->elem == WICK_BOOL ? WICK_U8 : t->elem, t->lanes);
}

/* Masked intrinsics exist only for vectors: one lane becomes a vector of one. */
static LLVMTypeRef memory_as_vector(LLVMTypeRef t)
{
  return LLVMGetTypeKind(t) == LLVMVectorTypeKind ? t : LLVMVectorType(t, 1);
}

/* Returns whether a lane of a constant mask is known to be true. */
static bool memory_lane_is_on(LLVMValueRef mask, uint32_t lane)
{
  LLVMValueRef on = LLVMGetAggregateElement(mask, lane);
  return on && LLVMIsAConstantInt(on) && LLVMConstIntGetZExtValue(on);
}

static LLVMValueRef memory_masked_load(emit *e, LLVMValueRef p, LLVMTypeRef type, uint64_t align,
                                       LLVMValueRef mask)
{
  LLVMTypeRef vector = memory_as_vector(type), over[2] = {vector, emit_pointer(e)};
  LLVMValueRef arg[4] = {p, LLVMConstInt(LLVMInt32TypeInContext(e->context), align, false),
                         emit_as_vector(e, mask), LLVMConstNull(vector)};
  LLVMValueRef x = emit_intrinsic(e, "llvm.masked.load", over, 2, arg, 4);
  return vector == type ? x : LLVMBuildExtractElement(e->b, x, emit_i64(e, 0), "");
}

/* Stores lanes [first, first + n) of x. */
static void memory_store_lanes(emit *e, LLVMValueRef p, LLVMValueRef x, uint64_t align,
                               uint32_t first, uint32_t n)
{
  LLVMValueRef lane[MEMORY_SPLIT];
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context);
  for (uint32_t k = 0; k < n; k++) lane[k] = LLVMConstInt(i32, first + k, false);
  x = n == 1 ? LLVMBuildExtractElement(e->b, x, lane[0], "")
             : LLVMBuildShuffleVector(e->b, x, LLVMGetPoison(LLVMTypeOf(x)),
                                      LLVMConstVector(lane, n), "");
  LLVMSetAlignment(LLVMBuildStore(e->b, x, memory_offset(e, p, (int64_t)(first * align))),
                   (unsigned)align);
}

/* Writes a few stores of whole vectors instead of one with a known mask. Returns false if there is
 * nothing to gain. AVX2's masked store takes 12 cycles on AMD's processors (Zen 3, by Agner Fog's
 * tables), each of these one. */
static bool memory_split_store(emit *e, LLVMValueRef p, LLVMValueRef x, uint64_t align,
                               LLVMValueRef mask)
{
  enum { STORES = 3 };
  uint32_t lanes = LLVMGetVectorSize(LLVMTypeOf(x)), n = 0, first[STORES], size[STORES];
  if (e->target->machine != WICK_MACHINE_X86_64 || e->target->vector_bytes > 32 ||
      lanes > MEMORY_SPLIT || !LLVMIsConstant(mask))
    return false;
  for (uint32_t i = 0; i < lanes;) {
    uint32_t run = 0, part = 1;
    while (i + run < lanes && memory_lane_is_on(mask, i + run)) run++;
    if (!run) {
      i++;
      continue;
    }
    while (2 * part <= run) part *= 2;
    if (n == STORES) return false;
    first[n] = i, size[n++] = part;
    i += part;
  }
  for (uint32_t k = 0; k < n; k++) memory_store_lanes(e, p, x, align, first[k], size[k]);
  return true;
}

static void memory_masked_store(emit *e, LLVMValueRef p, LLVMValueRef x, uint64_t align,
                                LLVMValueRef mask)
{
  if (memory_split_store(e, p, emit_as_vector(e, x), align, emit_as_vector(e, mask))) return;
  LLVMValueRef arg[4] = {emit_as_vector(e, x), p,
                         LLVMConstInt(LLVMInt32TypeInContext(e->context), align, false),
                         emit_as_vector(e, mask)};
  LLVMTypeRef over[2] = {LLVMTypeOf(arg[0]), emit_pointer(e)};
  emit_intrinsic(e, "llvm.masked.store", over, 2, arg, 4);
}

static void memory_load(emit *e, const wick_node *n)
{
  const wick_type_info *t = emit_info(e, n->first);
  if (t->lanes > 1) memory_keep_apart(e, n->in[0].id);
  LLVMValueRef p = memory_address(e, n, t->elem), x;
  if (!p) return;
  LLVMTypeRef type = memory_type(e, t);
  uint64_t align = emit_elem_bytes(t->elem);
  if (n->nin > 2 && n->in[2].id) {
    x = memory_masked_load(e, p, type, align, emit_get(e, n->in[2]));
  } else {
    x = LLVMBuildLoad2(e->b, type, p, "");
    LLVMSetAlignment(x, (unsigned)align);
  }
  if (t->elem == WICK_BOOL) x = LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(type), "");
  emit_set(e, n->first, x);
}

/* Returns the lanes if they are looked up in a small table, from its first element on; else NULL. */
static LLVMValueRef memory_table(emit *e, const wick_node *n, LLVMValueRef p, LLVMValueRef at)
{
  wick_scalar first;
  if (n->attr[WICK_ATTR_load_lanes_offset].i || !emit_known(e, n->in[1], &first) || first.i)
    return NULL;
  LLVMValueRef x = emit_table(e, n->in[0], p, at);
  if (!x || n->nin < 4 || !n->in[3].id) return x;
  return LLVMBuildSelect(e->b, emit_as_vector(e, emit_get(e, n->in[3])), x,
                         LLVMConstNull(LLVMTypeOf(x)), "");
}

static void memory_set_lanes(emit *e, const wick_node *n, LLVMValueRef x)
{
  const wick_type_info *t = emit_info(e, n->first);
  if (t->elem == WICK_BOOL) x = LLVMBuildICmp(e->b, LLVMIntNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
  emit_set(e, n->first, t->lanes > 1 ? x : LLVMBuildExtractElement(e->b, x, emit_i64(e, 0), ""));
}

/* Where the target has no such instruction, LLVM loads the lanes one by one. */
static void memory_load_lanes(emit *e, const wick_node *n)
{
  const wick_type_info *t = emit_info(e, n->first);
  LLVMValueRef p = memory_address(e, n, t->elem), at = emit_as_vector(e, emit_get(e, n->in[2]));
  if (!p) return;
  LLVMValueRef found = memory_table(e, n, p, at);
  if (found) {
    memory_set_lanes(e, n, found);
    return;
  }
  LLVMTypeRef vector = LLVMVectorType(
                  memory_type(e, &(wick_type_info){.elem = t->elem, .lanes = 1}), t->lanes),
              bools = LLVMVectorType(LLVMInt1TypeInContext(e->context), t->lanes);
  uint64_t align = emit_elem_bytes(t->elem);
  if (e->target->pointer_bits != 64)
    at = LLVMBuildTrunc(e->b, at, LLVMVectorType(emit_word(e), t->lanes), "");
  LLVMTypeRef elem = LLVMIntTypeInContext(e->context, (unsigned)align * 8);
  p = LLVMBuildGEP2(e->b, elem, p, &at, 1, "");
  bool masked = n->nin > 3 && n->in[3].id;
  LLVMValueRef arg[4] = {p, LLVMConstInt(LLVMInt32TypeInContext(e->context), align, false),
                         masked ? emit_as_vector(e, emit_get(e, n->in[3]))
                                : LLVMConstAllOnes(bools),
                         LLVMConstNull(vector)};
  LLVMTypeRef over[2] = {vector, LLVMTypeOf(p)};
  memory_set_lanes(e, n, emit_intrinsic(e, "llvm.masked.gather", over, 2, arg, 4));
}

/* ---- stores past the caches ---- */

/* Returns the bytes to which a vector is aligned that is stored past the caches: its registers' size. */
static uint64_t memory_alignment(const emit *e, wick_elem elem, int64_t lanes)
{
  uint64_t nbytes = (uint64_t)lanes * emit_elem_bytes(elem);
  return nbytes < e->target->vector_bytes ? nbytes : e->target->vector_bytes;
}

static void memory_peel(emit *e, const wick_node *n)
{
  wick_elem elem = emit_info(e, n->in[0])->elem;
  LLVMValueRef p = memory_address(e, n, elem);
  if (!p) return;
  LLVMValueRef at = LLVMBuildPtrToInt(e->b, p, emit_word(e), "");
  at = LLVMBuildAnd(e->b, LLVMBuildNeg(e->b, at, ""),
                    LLVMConstInt(emit_word(e), WICK_LINE - 1, false), "");
  at = LLVMBuildUDiv(e->b, at, LLVMConstInt(emit_word(e), emit_elem_bytes(elem), false), "");
  emit_set(e, n->first, LLVMBuildZExt(e->b, at, LLVMInt64TypeInContext(e->context), ""));
}

static void memory_set_nontemporal(emit *e, LLVMValueRef store)
{
  LLVMMetadataRef one =
      LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(e->context), 1, false));
  LLVMSetMetadata(store, LLVMGetMDKindIDInContext(e->context, "nontemporal", 11),
                  LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &one, 1)));
  e->nontemporal = true;
}

/* Such stores become visible to other cores in any order: what comes after them must not overtake
 * them. */
void emit_flush(emit *e)
{
  if (e->nontemporal && e->target->machine == WICK_MACHINE_X86_64)
    emit_intrinsic(e, "llvm.x86.sse.sfence", NULL, 0, NULL, 0);
}

static void memory_whole_store(emit *e, const wick_node *n, LLVMValueRef x, LLVMValueRef p,
                               const wick_type_info *t)
{
  bool nontemporal = n->attr[WICK_ATTR_store_nontemporal].i;
  LLVMValueRef store = LLVMBuildStore(e->b, x, p);
  LLVMSetAlignment(store, (unsigned)(nontemporal ? memory_alignment(e, t->elem, t->lanes)
                                                 : emit_elem_bytes(t->elem)));
  if (nontemporal) memory_set_nontemporal(e, store);
}

static void memory_store(emit *e, const wick_node *n)
{
  const wick_type_info *t = emit_info(e, n->in[2]);
  LLVMValueRef p = memory_address(e, n, t->elem), x = emit_get(e, n->in[2]);
  if (!p) return;
  uint64_t align = emit_elem_bytes(t->elem);
  if (t->elem == WICK_BOOL) x = LLVMBuildZExt(e->b, x, memory_type(e, t), "");
  if (n->nin > 3 && n->in[3].id)
    memory_masked_store(e, p, x, align, emit_get(e, n->in[3]));
  else
    memory_whole_store(e, n, x, p, t);
}

static void memory_prefetch(emit *e, const wick_node *n)
{
  LLVMValueRef p = memory_address(e, n, emit_info(e, n->in[0])->elem);
  if (!p) return;
  enum { READ = 0, SECOND_CACHE = 2, DATA = 1 };
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->context), over = emit_pointer(e);
  LLVMValueRef arg[4] = {p, LLVMConstInt(i32, READ, false), LLVMConstInt(i32, SECOND_CACHE, false),
                         LLVMConstInt(i32, DATA, false)};
  emit_intrinsic(e, "llvm.prefetch", &over, 1, arg, 4);
}

/* ---- buffers ---- */

static LLVMValueRef memory_stack(emit *e, uint64_t nbytes)
{
  LLVMBasicBlockRef here = LLVMGetInsertBlock(e->b);
  LLVMPositionBuilderBefore(e->b, LLVMGetFirstInstruction(e->entry));
  LLVMTypeRef type =
      LLVMArrayType2(LLVMInt8TypeInContext(e->context), wick_align_up(nbytes, WICK_FRAME_ALIGN));
  LLVMValueRef x = LLVMBuildAlloca(e->b, type, "");
  LLVMSetAlignment(x, WICK_FRAME_ALIGN);
  LLVMPositionBuilderAtEnd(e->b, here);
  return x;
}

static void memory_alloc(emit *e, const wick_node *n)
{
  int64_t place = e->frame.place[n - e->f->node];
  uint64_t nbytes = 0;
  if (n->nin) { /* the offset is in units of the frame */
    LLVMValueRef at = LLVMBuildMul(e->b, emit_get(e, n->in[0]), emit_i64(e, WICK_FRAME_ALIGN), "");
    at = memory_index(e, at);
    LLVMValueRef p =
        memory_offset(e, e->scratch, wick_max_i64(n->attr[WICK_ATTR_alloc_offset].i, 0));
    emit_set(e, n->first, LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), p, &at, 1, ""));
    return;
  }
  if (!wick_type_nbytes(e->f->module, wick_type_of(e->f, n->first), &nbytes)) return;
  emit_set(e, n->first, place < 0 ? memory_stack(e, nbytes) : memory_offset(e, e->scratch, place));
  if (place <= 0) e->order[n->first.id] = 0; /* it is defined from the entry on */
}

/* Returns the bytes to the position that the view's index chooses. */
static LLVMValueRef memory_choice(emit *e, const wick_picked *c, uint32_t bits)
{
  LLVMValueRef last = emit_i64(e, c->count - 1), zero = emit_i64(e, 0), i = emit_get(e, c->index);
  i = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, i, zero, ""), zero, i, "");
  i = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, i, last, ""), last, i, "");
  if (c->reverse) i = LLVMBuildSub(e->b, last, i, "");
  return LLVMBuildMul(e->b, i, emit_i64(e, c->step * (int64_t)bits / 8), "");
}

static void memory_view(emit *e, const wick_node *n)
{
  wick_elem elem = emit_info(e, n->first)->elem;
  int64_t nbytes;
  if (wick_mul_overflows(n->attr[WICK_ATTR_view_offset].i, (int64_t)wick_elem_storage[elem].bits,
                         &nbytes) ||
      nbytes % 8) {
    emit_fail(e, n, "the offset is not a number of bytes");
    return;
  }
  LLVMValueRef p = memory_offset(e, emit_operand(e, n->in[0]), nbytes / 8);
  wick_picked choice = wick_view_choice(n);
  if (choice.index.id) {
    LLVMValueRef at = memory_index(e, memory_choice(e, &choice, wick_elem_storage[elem].bits));
    p = LLVMBuildGEP2(e->b, LLVMInt8TypeInContext(e->context), p, &at, 1, "");
  }
  emit_set(e, n->first, p);
  /* it is defined where its buffer is, which may be before indices that are older than the view */
  if (p == emit_operand(e, n->in[0])) e->order[n->first.id] = e->order[n->in[0].id];
}

const struct emit_named emit_memory_rows[] = {
    {"load", memory_load},   {"load_lanes", memory_load_lanes},
    {"store", memory_store}, {"prefetch", memory_prefetch},
    {"peel", memory_peel},   {"alloc", memory_alloc},
    {"view", memory_view},   {NULL, NULL},
};
