/* Builds the entry: views of the arena, the constants and the caller's buffers, and a launch for
 * each instruction. Begin with wick_pass_lower. */
#include "lower/lower.h"

#include <string.h>

#include "codegen/abi.h"
#include "ir/element.h"
#include "ir/verify.h"
#include "low/concurrent.h"
#include "low/liveness.h"
#include "low/plan_memory.h"
#include "lower/lower_state.h"

enum { LOWER_PLACES = 1 << 30 }; /* limit of the arena in its units: 64 GiB */

wick_status lower_fail(const lower_state *s, const wick_node *n, wick_code code, const char *what)
{
  return wick_fail(s->tmp, code, wick_loc_text(s->f->module, n->loc), "%s: %s", wick_op_of(n)->name,
                   what);
}

/* ---- buffers ---- */

/* Returns the bytes of a dense buffer. */
static wick_dim lower_nbytes(const lower_state *s, wick_type type)
{
  wick_module *m = s->f->module;
  int64_t bits = wick_elem_storage[wick_type_get(m, type)->elem].bits;
  wick_dim all = wick_type_numel(m, type);
  if (bits % 8 == 0) return wick_dim_mul(m->dims, all, wick_dim_const(bits / 8));
  return wick_dim_ceildiv(m->dims, wick_dim_mul(m->dims, all, wick_dim_const(bits)),
                          wick_dim_const(8));
}

wick_status lower_constant(lower_state *s, const wick_node *n, uint64_t *out)
{
  uint32_t id = wick_const_imm(n)->constant;
  const wick_constant *k = wick_constant_get(s->f->module, id);
  if (!s->offset[id] && !k->data && !k->deferred &&
      !wick_dim_is(wick_type_numel(s->f->module, k->type), 0))
    return lower_fail(s, n, WICK_EUNSUPPORTED,
                      wick_str_printf(s->tmp, "the constant @%s has no data", k->name));
  if (!s->offset[id]) {
    wick_lowered_constant c = {id, wick_align_up(s->out->constant_bytes, WICK_ARENA_ALIGN),
                               k->nbytes};
    wick_push(s->keep, &s->out->constants, c);
    s->out->constant_bytes = wick_align_up(c.offset + c.nbytes, WICK_ARENA_ALIGN);
    s->offset[id] = c.offset + 1;
  }
  *out = s->offset[id] - 1;
  return NULL;
}

/* Reads the number for d from the table of sizes. */
wick_value lower_size(lower_state *s, wick_dim d)
{
  if (wick_dim_is_const(d)) return wick_build_i64(&s->b, d.v);
  wick_value in[2] = {s->table, wick_build_i64(&s->b, wick_sizes_slot(&s->out->sizes, d))};
  wick_type i64 = wick_type_scalar(s->f->module, WICK_I64, 1);
  return wick_build(&s->b, WICK_OP_load, 2, in, NULL, 1, &i64);
}

/* Builds a view of the arena at an offset that the session computes. */
static wick_status lower_placed(lower_state *s, const wick_node *n, wick_value root,
                                wick_value *out)
{
  if (!s->to[root.id].id) {
    const wick_type_info *t = wick_info_of(s->f, root);
    if (t->space != WICK_ARENA || !s->buffer[root.id])
      return lower_fail(s, n, WICK_EUNSUPPORTED, "it has no offset in the arena");
    wick_value in[2] = {s->offsets, wick_build_i64(&s->b, s->buffer[root.id] - 1)};
    wick_type i64 = wick_type_scalar(s->f->module, WICK_I64, 1);
    wick_picked choice = {.index = wick_build(&s->b, WICK_OP_load, 2, in, NULL, 1, &i64),
                          .step = WICK_ARENA_ALIGN * 8 / wick_elem_storage[t->elem].bits,
                          .count = LOWER_PLACES};
    s->to[root.id] = wick_build_view(&s->b, s->arena, wick_type_of(s->f, root), 0, &choice);
    wick_push(s->tmp, &s->made, root.id);
  }
  *out = s->to[root.id];
  return s->b.status;
}

static wick_status lower_arena(lower_state *s, const wick_node *n, uint64_t *out)
{
  const wick_type_info *t = wick_info_of(s->f, n->first);
  uint64_t nbytes = wick_type_most_nbytes(s->f->module, wick_type_of(s->f, n->first));
  if (t->space != WICK_ARENA || n->attr[WICK_ATTR_alloc_offset].i < 0)
    return lower_fail(s, n, WICK_EUNSUPPORTED, "it has no offset in the arena");
  *out = (uint64_t)n->attr[WICK_ATTR_alloc_offset].i;
  uint64_t end = wick_align_up(*out + nbytes, WICK_ARENA_ALIGN);
  if (end > s->out->arena_bytes) s->out->arena_bytes = end;
  return NULL;
}

/* Finds the entry's parameter that contains v's memory, and the offset in bytes. */
static wick_status lower_base(lower_state *s, const wick_node *n, wick_value v, wick_value *out,
                              uint64_t *out_offset)
{
  const wick_memref *p = &s->alias.memref[v.id];
  uint32_t d = s->alias.definer[p->root.id];
  if (!wick_memref_resolved(p) || s->alias.tied[p->root.id])
    return lower_fail(s, n, WICK_EUNSUPPORTED, "the address of an operand is not known");
  *out_offset = 0;
  if (d == UINT32_MAX) {
    *out = s->to[p->root.id];
  } else if (s->f->node[d].op == WICK_OP_const) {
    *out = s->constants;
    WICK_TRY(lower_constant(s, &s->f->node[d], out_offset));
  } else if (s->offsets.id) {
    WICK_TRY(lower_placed(s, &s->f->node[d], p->root, out));
  } else {
    *out = s->arena;
    WICK_TRY(lower_arena(s, &s->f->node[d], out_offset));
  }
  *out_offset += (uint64_t)p->offset;
  return NULL;
}

/* Builds a view of v's memory with another type of the same elements. */
static wick_status lower_view(lower_state *s, const wick_node *n, wick_value v, wick_type type,
                              wick_value *out)
{
  wick_value base = {0};
  uint64_t offset = 0, elem = (uint64_t)s->alias.memref[v.id].elem_bytes;
  WICK_TRY(lower_base(s, n, v, &base, &offset));
  *out = base;
  wick_picked choice = s->alias.memref[v.id].choice;
  if (choice.index.id) {
    choice.index =
        s->procedures ? s->to[choice.index.id] : s->index[s->alias.memref[choice.index.id].root.id];
    if (!choice.index.id)
      return lower_fail(s, n, WICK_EUNSUPPORTED, "a view's index is no loop's own");
  }
  if (choice.index.id && s->alias.memref[v.id].dynamic) { /* rows of dynamic size */
    wick_value row = lower_size(s, s->alias.memref[v.id].row);
    choice.index = wick_build2(&s->b, WICK_OP_mul, choice.index, row);
    choice.step = 1, choice.count = (int64_t)1 << 40;
  }
  if (!offset && !choice.index.id && wick_type_eq(type, wick_built_type(&s->b, base))) return NULL;
  if (offset % elem) return lower_fail(s, n, WICK_EINTERNAL, "an operand is not aligned");
  *out = wick_build_view(&s->b, base, type, (int64_t)(offset / elem), &choice);
  return s->b.status;
}

wick_status lower_operand(lower_state *s, const wick_node *n, wick_value v, wick_value *out)
{
  if (wick_info_of(s->f, v)->kind != WICK_BUFFER)
    return lower_fail(s, n, WICK_EUNSUPPORTED, "an operand is no buffer");
  if (!s->to[v.id].id) {
    WICK_TRY(lower_view(s, n, v, wick_type_of(s->f, v), &s->to[v.id]));
    wick_push(s->tmp, &s->made, v.id);
  }
  *out = s->to[v.id];
  return NULL;
}

/* ---- launches ---- */

/* Builds the kernel for a use, unless it exists. */
static wick_status lower_kernel(lower_state *s, const wick_node *n, const wick_kernel_use *use,
                                wick_lowered_kernel **out)
{
  const char *key = wick_kernel_key(use, s->tmp);
  uint32_t id = wick_names_add(&s->keys, key, strlen(key));
  if (id > s->out->kernels.n) {
    wick_lowered_kernel k;
    WICK_TRY(wick_kernel_build(use, s->target, s->mem, s->keep, s->tmp, &k));
    k.loc = n->loc;
    s->out->scratch_bytes =
        wick_dim_max(s->f->module->dims, s->out->scratch_bytes, k.scratch_bytes);
    wick_push(s->keep, &s->out->kernels, k);
  }
  *out = &s->out->kernels.at[id - 1];
  return NULL;
}

/* Counts the constants that a launch reads. Each one counts once in a run, even if its kernel is
 * launched several times. */
static void lower_weights(lower_state *s, const wick_node *n, wick_lowered_kernel *k)
{
  wick_text key = wick_text_begin(s->tmp);
  uint32_t before = s->weights.n;
  wick_text_add(&key, k->name);
  for (uint32_t i = 0; i < n->nin; i++) {
    uint32_t d = s->alias.definer[s->alias.memref[n->in[i].id].root.id];
    if (d != UINT32_MAX && s->f->node[d].op == WICK_OP_const)
      wick_text_printf(&key, " %u", wick_const_imm(&s->f->node[d])->constant);
  }
  wick_names_add(&s->weights, key.at, key.n);
  if (s->weights.n > before) k->weights += k->launch_weights;
}

wick_status lower_launch_kernel(lower_state *s, const wick_node *n, wick_lowered_kernel *k,
                                uint32_t nin, wick_value *in)
{
  bool counted = !wick_dim_is_const(k->tasks);
  if (counted) in[nin++] = lower_size(s, k->tasks);
  k->nlaunch++;
  k->nrun += s->steps;
  lower_weights(s, n, k);
  bool concurrent = s->concurrent[n - s->f->node] && !k->fault && !s->fault;
  s->fault = k->fault;
  wick_attr a[] = {[WICK_ATTR_launch_callee] = {.s = k->name},
                   [WICK_ATTR_launch_tasks] = {.i = counted ? -1 : k->tasks.v},
                   [WICK_ATTR_launch_concurrent] = {.i = concurrent}};
  s->b.loc = n->loc;
  wick_build(&s->b, WICK_OP_launch, nin, in, a, 0, NULL);
  s->pending = true;
  return s->b.status;
}

wick_status lower_launch(lower_state *s, const wick_node *n, const wick_kernel_use *use,
                         const wick_value *operand)
{
  wick_lowered_kernel *k;
  uint32_t nin = 0;
  if (s->procedures) return lower_call_kernel(s, n, use, operand);
  WICK_TRY(lower_kernel(s, n, use, &k));
  wick_value *in = wick_new(s->tmp, wick_value, use->noperand + k->sizes.n + 1);
  for (uint32_t i = 0; i < use->noperand; i++)
    if (use->same[i] == i) in[nin++] = operand[i];
  for (uint32_t i = 0; i < k->sizes.n; i++) in[nin++] = lower_size(s, k->sizes.at[i]);
  return lower_launch_kernel(s, n, k, nin, in);
}

/* same[k] is the operand that is written in place of operand k, or k itself. Any other overlap with
 * a written operand is a bug of an earlier pass. */
static wick_status lower_same(lower_state *s, const wick_node *n, uint32_t nout, uint32_t *same)
{
  for (uint32_t k = 0; k < n->nin; k++) {
    const wick_memref *p = &s->alias.memref[n->in[k].id];
    same[k] = k;
    for (uint32_t i = 0; i < k && i < nout; i++) {
      const wick_memref *w = &s->alias.memref[n->in[i].id];
      if (w->root.id != p->root.id || wick_memref_disjoint(w, p)) continue;
      if (k < nout || !wick_memref_same(w, p))
        return lower_fail(s, n, WICK_EINTERNAL, "operands overlap");
      same[k] = i;
    }
  }
  return NULL;
}

/* Returns true if the instruction writes nothing, because its results have no elements. */
static bool lower_empty(const lower_state *s, const wick_node *n, uint32_t nout)
{
  bool empty = true;
  for (uint32_t i = 0; i < nout && empty; i++) {
    const wick_memref *p = &s->alias.memref[n->in[i].id];
    empty = p->known && !wick_memref_numel(p);
  }
  return empty;
}

wick_status lower_group(lower_state *s, const wick_node *n)
{
  const wick_func *g = wick_module_find(s->f->module, n->attr[WICK_ATTR_kernel_callee].s);
  bool low = g && g->level == WICK_LOW && g->procedure && g->nparam == n->nin;
  if (!low && (!g || g->level != WICK_GROUP))
    return lower_fail(
        s, n, WICK_EINVAL,
        wick_str_printf(s->tmp, "there is no group @%s", n->attr[WICK_ATTR_kernel_callee].s));
  uint32_t nout = low ? 0 : wick_return(g)->nin;
  if (n->nin != nout + g->nparam)
    return lower_fail(s, n, WICK_EINVAL,
                      wick_str_printf(s->tmp, "@%s has %u operands", g->name, nout + g->nparam));
  if (nout && lower_empty(s, n, nout)) return NULL;
  wick_type *type = wick_new(s->tmp, wick_type, n->nin);
  uint32_t *same = wick_new(s->tmp, uint32_t, n->nin);
  wick_value *in = wick_new(s->tmp, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) {
    type[k] = wick_type_of(s->f, n->in[k]);
    WICK_TRY(lower_operand(s, n, n->in[k], &in[k]));
  }
  if (low) return lower_launch_function(s, n, g, in);
  WICK_TRY(lower_same(s, n, nout, same));
  return lower_launch(s, n, &(wick_kernel_use){g, n->nin, type, same}, in);
}

/* ---- copies ---- */

/* Returns v's type with adjacent dimensions merged, if they are contiguous in both buffers: a copy
 * of dense buffers has one dimension. Dimension k is number order[k] of the copy. */
static wick_type lower_copy_type(lower_state *s, wick_value v, uint32_t rank, const uint32_t *last,
                                 const wick_dim *all, const uint32_t *order)
{
  wick_type_info info = *wick_info_of(s->f, v);
  wick_dim stride[WICK_MAX_RANK], dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) {
    stride[k] = wick_dim_const(s->alias.memref[v.id].stride[last[order[k]]]);
    dim[k] = all[order[k]];
  }
  bool dense = !rank || (rank == 1 && wick_dim_is(stride[0], 1));
  info.rank = (uint16_t)rank, info.dim = dim, info.stride = dense ? NULL : stride;
  return wick_type_intern(s->f->module, &info);
}

/* Returns the number of merged dimensions. last[k] is the old dimension whose stride new dimension
 * k has. */
static uint32_t lower_copy_dims(const wick_memref *a, const wick_memref *b, uint32_t *last,
                                wick_dim *dim)
{
  uint32_t rank = 0;
  for (uint32_t k = 0; k < a->rank; k++) {
    if (a->dim[k] == 1) continue;
    uint32_t before = rank ? last[rank - 1] : 0;
    bool joined = rank && a->stride[before] == a->stride[k] * a->dim[k] &&
                  b->stride[before] == b->stride[k] * b->dim[k];
    if (joined) rank--;
    dim[rank] = wick_dim_const(a->dim[k] * (joined ? dim[rank].v : 1));
    last[rank++] = k;
  }
  return rank;
}

/* Sorts the dimensions of a copy as they are in the memory of its operand, if elements are apart along
 * all of them: a template then knows which rows are contiguous. Otherwise keeps their order. */
static void lower_copy_order(const wick_memref *from, uint32_t rank, const uint32_t *last,
                             uint32_t *order)
{
  bool apart = true;
  for (uint32_t k = 0; k < rank; k++) order[k] = k, apart = apart && from->stride[last[k]] > 0;
  for (uint32_t k = 1; k < rank && apart; k++)
    for (uint32_t i = k; i > 0 && from->stride[last[order[i - 1]]] < from->stride[last[order[i]]];
         i--) {
      uint32_t other = order[i];
      order[i] = order[i - 1], order[i - 1] = other;
    }
}

/* Finds the merged dimensions of a copy between buffers of dynamic size, and their types. */
static uint32_t lower_copy_dynamic(lower_state *s, const wick_node *n, wick_dim *dim,
                                   wick_type *type)
{
  const wick_memref *a = &s->alias.memref[n->in[0].id], *b = &s->alias.memref[n->in[1].id];
  const wick_type_info *t = wick_info_of(s->f, n->in[0]);
  bool dense = a->dynamic && b->dynamic;
  uint32_t rank = dense ? 1 : t->rank;
  memcpy(dim, dense ? &a->numel : t->dim, rank * sizeof *dim);
  for (uint32_t k = 0; k < 2; k++) {
    type[k] = wick_type_of(s->f, n->in[k]);
    if (dense)
      type[k] =
          wick_type_buffer(s->f->module, t->elem, 1, dim, wick_info_of(s->f, n->in[k])->space);
  }
  return rank;
}

wick_status lower_copy(lower_state *s, const wick_node *n)
{
  const wick_memref *a = &s->alias.memref[n->in[0].id], *b = &s->alias.memref[n->in[1].id];
  uint32_t last[WICK_MAX_RANK], same[2];
  wick_dim dim[WICK_MAX_RANK];
  bool known = a->known && b->known;
  if (!wick_memref_resolved(a) || !wick_memref_resolved(b))
    return lower_fail(s, n, WICK_EUNSUPPORTED, "the address of an operand is not known");
  if (lower_empty(s, n, 1)) return NULL;
  WICK_TRY(lower_same(s, n, 1, same));
  if (same[1] == 0) return NULL;
  wick_type type[2];
  wick_value in[2];
  uint32_t rank = known ? lower_copy_dims(a, b, last, dim) : lower_copy_dynamic(s, n, dim, type),
           order[2][WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) order[0][k] = order[1][k] = k;
  if (known) lower_copy_order(b, rank, last, order[1]);
  for (uint32_t k = 0; k < 2; k++) {
    if (known) type[k] = lower_copy_type(s, n->in[k], rank, last, dim, order[k]);
    WICK_TRY(lower_view(s, n, n->in[k], type[k], &in[k]));
  }
  const wick_func *g;
  wick_elem e = wick_info_of(s->f, n->in[0])->elem;
  WICK_TRY(
      wick_kernel_copy_group(s->f->module, s->target, e, rank, dim, order[1], s->mem, s->tmp, &g));
  return lower_launch(s, n, &(wick_kernel_use){g, 2, type, same}, in);
}

/* ---- the entry ---- */

static void lower_params(lower_state *s)
{
  wick_module *m = s->f->module;
  wick_builder *b = &s->b;
  wick_build_begin(b, m, WICK_LOOP, wick_str_printf(s->tmp, "%s.entry", s->f->name), s->mem);
  wick_dim none = wick_dim_const(0); /* set at the end, when all sizes are known */
  s->arena =
      wick_build_param(b, wick_type_buffer(m, WICK_U8, 1, &none, WICK_ARENA), WICK_INOUT, "arena");
  s->constants = wick_build_param(b, wick_type_buffer(m, WICK_U8, 1, &none, WICK_CONSTANT), WICK_IN,
                                  "constants");
  wick_dim ncount = wick_dim_const((int64_t)s->out->flows.n * WICK_FLOW_SLOTS);
  wick_type numbers = wick_type_buffer(m, WICK_I64, 1, &none, WICK_IO),
            counts = wick_type_buffer(m, WICK_I64, 1, &ncount, WICK_IO);
  if (s->out->flows.n) s->counts = wick_build_param(b, counts, WICK_INOUT, "counts");
  if (s->dynamic) {
    s->table = wick_build_param(b, numbers, WICK_IN, "sizes");
    if (!s->planned) s->offsets = wick_build_param(b, numbers, WICK_IN, "offsets");
  }
  for (uint32_t v = 1; v <= s->f->nparam; v++) {
    const wick_value_info *info = &s->f->value[v];
    s->to[v] = wick_build_param(b, info->type, s->f->qual[v - 1], NULL);
    wick_build_name(b, s->to[v], info->name, info->relation);
  }
}

/* Lists the buffers that need an offset, with their live intervals. */
static void lower_buffers(lower_state *s)
{
  wick_liveness l = wick_liveness_of(&s->alias, 1, s->tmp);
  for (uint32_t i = 0; i < l.nroot; i++) {
    const wick_live_root *r = &l.root[i];
    wick_dim nbytes = lower_nbytes(s, wick_type_of(s->f, r->root));
    wick_program_buffer b = {r->live.first, r->live.last, wick_sizes_slot(&s->out->sizes, nbytes)};
    wick_push(s->keep, &s->out->buffers, b);
    s->buffer[r->root.id] = s->out->buffers.n;
  }
}

static uint32_t lower_slot(lower_state *s, wick_dim d)
{
  return wick_dim_is_const(d) ? WICK_PROGRAM_CONST : wick_sizes_slot(&s->out->sizes, d);
}

/* Lists the sizes that operators of the runtime need. */
static void lower_extents(lower_state *s, wick_lowered_kernel *k)
{
  wick_module *m = s->f->module;
  uint32_t n = k->group->nparam + wick_return(k->group)->nin;
  wick_program_extent *extent = wick_new(s->keep, wick_program_extent, n);
  for (uint32_t i = 0; i < n; i++) {
    const wick_type_info *t = wick_type_get(m, k->operand[i]);
    wick_dim step = wick_dim_const(1);
    for (uint32_t d = t->rank; d-- > 0; step = wick_dim_mul(m->dims, step, t->dim[d])) {
      extent[i].dim[d] = lower_slot(s, t->dim[d]);
      extent[i].stride[d] = lower_slot(s, t->stride ? t->stride[d] : step);
    }
  }
  k->extent = extent;
}

/* Lists the sizes of parameters, and the pairs of sizes that must be equal, for the session. */
static void lower_ports(lower_state *s)
{
  wick_sizes *sizes = &s->out->sizes;
  wick_program_port *port = wick_new(s->keep, wick_program_port, s->f->nparam);
  for (uint32_t v = 1; v <= s->f->nparam; v++) {
    const wick_type_info *t = wick_info_of(s->f, (wick_value){v});
    wick_dim nbytes = lower_nbytes(s, s->f->value[v].type);
    bool dynamic = false;
    for (uint32_t k = 0; k < t->rank; k++) {
      bool here =
          !wick_dim_is_const(t->dim[k]) || s->f->nconstraint; /* a shape constraint may determine
                                                                 it */
      port[v - 1].dim[k] = here ? wick_sizes_slot(sizes, t->dim[k]) : WICK_PROGRAM_CONST;
      dynamic = dynamic || here;
    }
    port[v - 1].nbytes = dynamic ? wick_sizes_slot(sizes, nbytes) : WICK_PROGRAM_CONST;
  }
  s->out->port = port;
  for (uint32_t i = 0; i < s->out->kernels.n; i++)
    if (s->out->kernels.at[i].host) lower_extents(s, &s->out->kernels.at[i]);
  s->out->scratch = wick_sizes_slot(sizes, s->out->scratch_bytes);
  for (uint32_t i = 0; i < s->f->nconstraint; i++) {
    const wick_shape_constraint *c = &s->f->constraint[i];
    if (c->branch) continue;
    wick_lowered_check k = {{wick_sizes_slot(sizes, c->a), wick_sizes_slot(sizes, c->b)}, c};
    wick_push(s->keep, &s->out->checks, k);
  }
}

/* Builds the function that fills the table, in the form that the code generator expects. */
static wick_status lower_fill(lower_state *s)
{
  wick_module *m = s->f->module;
  wick_dim n[2] = {wick_dim_const((int64_t)s->out->sizes.slot.n + 1),
                   wick_dim_const(s->out->buffers.n)};
  s->b.values.at[s->table.id].type = wick_type_buffer(m, WICK_I64, 1, &n[0], WICK_IO);
  if (!s->planned)
    s->b.values.at[s->offsets.id].type = wick_type_buffer(m, WICK_I64, 1, &n[1], WICK_IO);
  const wick_func *f;
  const char *name = wick_str_printf(s->keep, "%s.sizes", s->f->name);
  WICK_TRY(wick_sizes_function(&s->out->sizes, name, s->planned ? s->f : NULL, s->mem, s->tmp, &f));
  WICK_TRY(wick_verify_func(f, s->tmp));
  wick_module_set(m, f);
  s->out->fill = name;
  return NULL;
}

static void lower_sizes(lower_state *s)
{
  wick_module *m = s->f->module;
  wick_dim arena = wick_dim_const((int64_t)s->out->arena_bytes),
           blob = wick_dim_const((int64_t)s->out->constant_bytes);
  s->b.values.at[s->arena.id].type = wick_type_buffer(m, WICK_U8, 1, &arena, WICK_ARENA);
  s->b.values.at[s->constants.id].type = wick_type_buffer(m, WICK_U8, 1, &blob, WICK_CONSTANT);
}

/* ---- the whole function ---- */

wick_status lower_node(lower_state *s, const wick_node *n)
{
  switch (n->op) {
  case WICK_OP_if: return lower_if(s, n);
  case WICK_OP_loop: return lower_loop(s, n);
  case WICK_OP_kernel: return lower_group(s, n);
  case WICK_OP_copy: return lower_copy(s, n);
  case WICK_OP_alloc:
  case WICK_OP_const:
  case WICK_OP_view:
  case WICK_OP_free:
  case WICK_OP_return: return NULL;
  default: return lower_fail(s, n, WICK_EUNSUPPORTED, "it cannot be compiled yet");
  }
}

uint64_t wick_lowered_most_scratch(const wick_lowered *l, const wick_module *m)
{
  int64_t lo, hi;
  wick_dim_range(m->dims, l->scratch_bytes, &lo, &hi);
  return (uint64_t)wick_max_i64(hi, 0);
}

static lower_state lower_begin(const wick_pass_context *pass, const wick_func *f, wick_lowered *out)
{
  wick_arena *tmp = pass->tmp;
  *out = (wick_lowered){.scratch_bytes = wick_dim_const(0)};
  lower_state s = {.f = f,
                   .target = pass->target,
                   .alias = wick_alias_of(f, tmp),
                   .planned = pass->planned,
                   .mem = pass->mem,
                   .tmp = tmp,
                   .keep = pass->keep,
                   .out = out};
  s.to = wick_new(tmp, wick_value, f->nvalue + 1);
  s.steps = 1;
  s.index = wick_new(tmp, wick_value, f->nvalue + 1);
  s.offset = wick_new(tmp, uint64_t, f->module->constants.n);
  s.keys = wick_names_begin(tmp), s.weights = wick_names_begin(tmp);
  s.concurrent = wick_low_concurrent(&s.alias, tmp);
  s.buffer = wick_new(tmp, uint32_t, f->nvalue + 1);
  out->sizes = wick_sizes_begin(f, s.keep);
  s.dynamic = out->sizes.nsymbol > 0;
  return s;
}

/* Lowers the function. `counted`: the branches and loops to count are known. */
static wick_status lower_whole(lower_state *s, bool counted)
{
  const wick_func *f = s->f;
  if (!s->planned && !counted) lower_flows(s);
  if (s->dynamic && !s->planned) lower_buffers(s);
  lower_params(s);
  for (uint32_t i = 0; i < f->nnode; i = f->node[i].end) WICK_TRY(lower_node(s, &f->node[i]));
  WICK_TRY(lower_all_procedures(s));
  if (s->dynamic) {
    lower_ports(s);
    WICK_TRY(lower_fill(s));
  }
  lower_sizes(s);
  if (!s->out->kernels.n && s->b.nodes.n) /* shows that it is an entry (codegen/abi.h) */
    wick_build(&s->b, WICK_OP_wait, 0, NULL, NULL, 0, NULL);
  wick_build_return(&s->b, 0, NULL);
  wick_func *entry;
  WICK_TRY(wick_build_end(&s->b, &entry));
  WICK_TRY(wick_verify_func(entry, s->tmp));
  wick_module_set(f->module, entry);
  s->out->entry = entry->name;
  return NULL;
}

/* Gives constants and counters the positions that they have in the base program. */
static wick_status lower_like(lower_state *s, const wick_program *base)
{
  wick_lowered *out = s->out;
  wick_module *m = s->f->module;
  for (uint32_t i = 0; i < base->nflow; i++) wick_push(s->keep, &out->flows, base->flow[i]);
  for (uint32_t id = 1; id < m->constants.n; id++) {
    uint64_t nbytes;
    if (!wick_type_nbytes(m, wick_constant_get(m, id)->type, &nbytes)) continue;
    wick_lowered_constant c = {id, out->constant_bytes, nbytes};
    wick_push(s->keep, &out->constants, c);
    s->offset[id] = c.offset + 1;
    if (wick_add_overflows(c.offset, nbytes, &nbytes) || nbytes > INT64_MAX / 2)
      return wick_fail(s->tmp, WICK_ERANGE, NULL, "the constants are too large");
    out->constant_bytes = wick_align_up(nbytes, WICK_ARENA_ALIGN);
  }
  return NULL;
}

wick_status wick_pass_lower(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_lowered unasked;
  *out = (wick_func *)(uintptr_t)f;
  if (f->procedure) return NULL; /* the entry lowers it */
  lower_state s = lower_begin(pass, f, pass->lowered ? pass->lowered : &unasked);
  if (pass->base) WICK_TRY(lower_like(&s, pass->base));
  return lower_whole(&s, pass->base != NULL);
}

wick_status wick_lowered_frames(wick_lowered *l, const wick_module *m, const wick_target *t,
                                wick_arena *tmp)
{
  for (uint32_t i = 0; i < l->kernels.n; i++) {
    wick_lowered_kernel *k = &l->kernels.at[i];
    const wick_func *f = wick_module_find(m, k->name);
    wick_frame frame;
    WICK_TRY(wick_verify_func(f, tmp));
    WICK_TRY(wick_frame_of(f, t, false, tmp, &frame));
    k->scratch = frame.scratch, k->stack = frame.stack, k->fault = frame.fault || k->host;
    k->heap = frame.heap;
  }
  return NULL;
}
