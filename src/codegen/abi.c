/* Finds the slots and the memory of generated functions. */
#include "codegen/abi.h"

#include "ir/call.h"

static bool abi_is_i64(const wick_func *f, uint32_t param)
{
  const wick_type_info *t = wick_info_of(f, (wick_value){param});
  return t->kind == WICK_SCALAR && t->elem == WICK_I64 && t->lanes == 1;
}

static wick_status abi_params(const wick_func *f, bool waits, wick_arena *mem, wick_frame *out)
{
  for (uint32_t v = 1; v <= f->nparam; v++)
    if (wick_info_of(f, (wick_value){v})->kind != WICK_BUFFER && !abi_is_i64(f, v))
      return wick_fail(mem, WICK_EUNSUPPORTED, f->name,
                       "parameter %u is neither a buffer nor an i64", v);
  uint32_t n = f->nparam;
  bool range = n >= 2 && abi_is_i64(f, n) && abi_is_i64(f, n - 1);
  out->entry = waits || out->kernels.n > 0 || (f->nnode == 1 && n && !range);
  out->range = !out->entry && range;
  out->nslot = n - (out->range ? 2 : 0);
  return NULL;
}

/* Small buffers are on the stack while there is space. Others get consecutive offsets, unless the
 * plan has given them one. */
static wick_status abi_alloc(const wick_func *f, uint32_t i, const wick_target *t, wick_arena *mem,
                             wick_frame *out, int64_t *place)
{
  const wick_node *n = &f->node[i];
  const wick_type_info *type = wick_info_of(f, n->first);
  uint64_t nbytes = 0;
  bool frame = f->procedure; /* all of its memory is on the stack */
  if (type->space != WICK_SCRATCH && !frame)
    return wick_fail(mem, WICK_EUNSUPPORTED, f->name,
                     "alloc: loop functions own scratch buffers only");
  if (n->nin) out->scratch = true; /* its offset is computed, and its bytes are counted elsewhere */
  if (!n->nin &&
      (!wick_type_nbytes(f->module, wick_type_of(f, n->first), &nbytes) || nbytes > INT64_MAX / 4))
    return wick_fail(mem, WICK_EUNSUPPORTED, f->name, "alloc: the size is not a constant");
  uint64_t size = wick_align_up(nbytes, WICK_FRAME_ALIGN);
  bool small = nbytes <= WICK_SMALL_ALLOC && out->stack_bytes + size <= t->stack_bytes;
  if (!n->nin && (frame || (small && n->attr[WICK_ATTR_alloc_offset].i < 0))) {
    out->stack_bytes += size;
    *place = -1;
    return NULL;
  }
  *place = n->attr[WICK_ATTR_alloc_offset].i >= 0 ? n->attr[WICK_ATTR_alloc_offset].i
                                                  : (int64_t)out->scratch_bytes;
  uint64_t end = (uint64_t)*place + size;
  if (end > INT64_MAX / 2 || *place % WICK_FRAME_ALIGN)
    return wick_fail(mem, WICK_ELIMIT, f->name, "alloc: offset %lld is not valid for %llu bytes",
                     (long long)*place, (unsigned long long)nbytes);
  if (end > out->scratch_bytes) out->scratch_bytes = end;
  return NULL;
}

static void abi_kernel(wick_frame *out, const char *name, wick_arena *mem)
{
  for (uint32_t k = 0; k < out->kernels.n; k++)
    if (out->kernels.at[k] == name) return;
  wick_push(mem, &out->kernels, name);
}

/* A direct entry needs the hidden slots of its kernels. */
static wick_status abi_direct(const wick_func *f, const wick_target *t, wick_arena *mem,
                              wick_frame *out)
{
  for (uint32_t k = 0; k < out->kernels.n; k++) {
    const wick_func *callee = wick_module_find(f->module, out->kernels.at[k]);
    if (!callee)
      return wick_fail(mem, WICK_EINVAL, f->name, "launch: there is no function @%s",
                       out->kernels.at[k]);
    wick_frame inner;
    WICK_TRY(wick_frame_of(callee, t, false, mem, &inner));
    if (inner.entry)
      return wick_fail(mem, WICK_EUNSUPPORTED, f->name, "launch: @%s is an entry itself",
                       callee->name);
    out->scratch |= inner.scratch;
    out->stack |= inner.stack;
    out->heap |= inner.heap;
    out->fault |= inner.fault;
    if (inner.scratch_bytes > out->scratch_bytes) out->scratch_bytes = inner.scratch_bytes;
  }
  return NULL;
}

/* Parameters and results are in registers, buffers on the stack. */
static wick_status abi_procedure(const wick_func *f, wick_arena *mem, wick_frame *out)
{
  for (uint32_t v = 1; v <= f->nparam; v++) {
    wick_kind k = wick_info_of(f, (wick_value){v})->kind;
    if (k != WICK_SCALAR && k != WICK_BUFFER)
      return wick_fail(mem, WICK_EUNSUPPORTED, f->name, "parameter %u is no scalar and no buffer",
                       v - 1);
  }
  for (uint32_t i = 0; i < f->nnode; i++)
    if ((f->node[i].op == WICK_OP_alloc && f->node[i].nin) || f->node[i].op == WICK_OP_launch ||
        f->node[i].op == WICK_OP_wait)
      return wick_fail(mem, WICK_EUNSUPPORTED, f->name, "it is called, and contains %s",
                       wick_op_of(&f->node[i])->name);
  out->scratch = false;
  return NULL;
}

/* Returns whether a procedure's frame is so large that it compares the stack's pointer with the
 * limit. */
static bool abi_is_large(const wick_func *f)
{
  uint64_t all = 0, nbytes = 0;
  for (uint32_t i = 0; f->procedure && i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_alloc &&
        wick_type_nbytes(f->module, wick_type_of(f, f->node[i].first), &nbytes))
      all += nbytes;
  return all > WICK_SMALL_FRAME;
}

bool wick_frame_checks(const wick_func *f, wick_arena *tmp)
{
  return wick_func_is_procedure(f) && (abi_is_large(f) || wick_func_recurs(f, tmp));
}

static bool abi_reaches_stack(const wick_func *f, wick_arena *tmp)
{
  return wick_func_reaches_recursion(f, tmp) || wick_func_reaches(f, abi_is_large, tmp);
}

uint64_t wick_fault_bytes(const wick_module *m, const wick_frame *entry)
{
  bool calls = false;
  for (uint32_t i = 0; i < m->funcs.n; i++) calls = calls || wick_func_is_procedure(m->funcs.at[i]);
  return entry->fault ? wick_align_up(calls ? sizeof(wick_fault) : offsetof(wick_fault, call),
                                      WICK_FRAME_ALIGN)
                      : 0;
}

wick_status wick_frame_of(const wick_func *f, const wick_target *t, bool direct, wick_arena *mem,
                          wick_frame *out_frame)
{
  *out_frame = (wick_frame){0};
  int64_t *place = wick_new(mem, int64_t, f->nnode);
  bool waits = false;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_launch) abi_kernel(out_frame, n->attr[WICK_ATTR_launch_callee].s, mem);
    if (n->op == WICK_OP_wait) waits = true;
    if (n->op == WICK_OP_alloc) WICK_TRY(abi_alloc(f, i, t, mem, out_frame, &place[i]));
  }
  out_frame->place = place;
  out_frame->procedure = wick_func_is_procedure(f);
  out_frame->heap = wick_func_reaches_heap(f, mem);
  out_frame->stack = out_frame->heap || abi_reaches_stack(f, mem);
  out_frame->fault = out_frame->stack || wick_func_reaches_fail(f, mem);
  if (out_frame->procedure) {
    out_frame->stack = out_frame->fault;
    return abi_procedure(f, mem, out_frame);
  }
  out_frame->scratch |= out_frame->scratch_bytes > 0;
  WICK_TRY(abi_params(f, waits, mem, out_frame));
  if (out_frame->entry && (out_frame->fault || out_frame->scratch))
    return wick_fail(mem, WICK_EUNSUPPORTED, f->name,
                     "a function that launches kernels cannot fail or own buffers itself");
  return out_frame->entry && direct ? abi_direct(f, t, mem, out_frame) : NULL;
}
