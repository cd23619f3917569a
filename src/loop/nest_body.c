/* Evaluates the bodies of stages at given indices: reads from memory, from tiles in registers and
 * from inlined stages; and stores of the results. */
#include <string.h>

#include "base/hash.h"
#include "loop/nest_state.h"

enum { NEST_KEY_LOAD = 16, NEST_KEY_TILE, NEST_KEY_INLINE, NEST_KEY_CONST };

/* ---- memory ---- */

bool nest_address_of(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                     const wick_dim *index, nest_address *out)
{
  wick_dims *dims = t->m->dims;
  wick_dim linear = wick_dim_const(0), step = wick_dim_const(0);
  for (uint32_t k = 0; k < rank; k++)
    linear = wick_dim_add(dims, linear,
                          wick_dim_mul(dims, wick_dim_sub(dims, index[k], p->lo[k]), p->stride[k]));
  if (r->lanes > 1 && wick_dim_uses(dims, linear, r->vsym)) {
    wick_dim rest;
    if (!wick_dim_linear(dims, linear, r->vsym, &step, &rest) || !wick_dim_is_const(step))
      return false;
    linear = rest;
  }
  int64_t constant = wick_dim_get(dims, linear).constant;
  *out = (nest_address){wick_dim_sub(dims, linear, wick_dim_const(constant)), constant, step.v};
  return true;
}

wick_value nest_load_at(nest *t, const nest_place *p, wick_value index, int64_t offset,
                        wick_type want, wick_value mask)
{
  wick_value in[3] = {p->buffer, index, mask};
  wick_attr a = {.i = offset};
  return wick_build(&t->b, WICK_OP_load, mask.id ? 3 : 2, in, &a, 1, &want);
}

/* Combines the condition `mask` (0: none) with the active lanes, because it is not computed for
 * others. */
static wick_value nest_active(nest *t, const nest_run *r, wick_value mask)
{
  wick_value active = nest_mask(t, r);
  return !active.id ? mask : mask.id ? nest_binary(t, WICK_OP_and, mask, active) : active;
}

/* Returns true if the buffer is a table of bytes that some machines keep in registers. */
static bool nest_is_table(const nest *t, const nest_place *p)
{
  enum { BYTES = 256 };
  wick_dim n = wick_type_numel(t->m, wick_built_type(&t->b, p->buffer));
  const wick_type_info *b = wick_built_info(&t->b, p->buffer);
  return wick_dim_is_const(n) && n.v <= BYTES && !b->stride && wick_elem_storage[b->elem].bits == 8;
}

/* Returns true if machines have instructions that load such elements from a place per lane. */
static bool nest_gathers(const nest *t, const nest_place *p, wick_elem e, uint32_t lanes)
{
  uint32_t bits = wick_elem_storage[e].bits;
  return (bits == 32 || bits == 64 || nest_is_table(t, p)) && lanes >= 4;
}

/* Loads lanes that are not contiguous. `index` is a vector. */
static wick_value nest_gather(nest *t, const nest_run *r, const nest_place *p, wick_value index,
                              wick_elem e, wick_value mask)
{
  wick_value *lane = wick_new(t->tmp, wick_value, r->lanes);
  wick_type one = wick_type_scalar(t->m, e, 1), all = wick_type_scalar(t->m, e, r->lanes);
  if (nest_gathers(t, p, e, r->lanes)) {
    wick_value in[4] = {p->buffer, nest_i64(t, 0), index, mask};
    return wick_build(&t->b, WICK_OP_load_lanes, mask.id ? 4 : 3, in, NULL, 1, &all);
  }
  for (uint32_t i = 0; i < r->lanes; i++) {
    wick_attr a = {.i = i};
    wick_value at = wick_build(&t->b, WICK_OP_extract, 1, &index, &a, 0, NULL), on = {0};
    if (mask.id) on = wick_build(&t->b, WICK_OP_extract, 1, &mask, &a, 0, NULL);
    lane[i] = nest_load_at(t, p, at, 0, one, on);
  }
  return wick_build(&t->b, WICK_OP_vector, r->lanes, lane, NULL, 1, &all);
}

wick_value nest_load(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                     const wick_dim *index, wick_elem e, wick_value mask)
{
  nest_address a;
  bool affine = nest_address_of(t, r, p, rank, index, &a);
  bool wide = affine ? a.step != 0 : true,
       lanes = mask.id && wick_built_info(&t->b, mask)->lanes > 1;
  if (wide || lanes) mask = nest_active(t, r, mask);
  wick_dim linear = wick_dim_const(0);
  if (!affine || (a.step != 0 && a.step != 1))
    for (uint32_t k = 0; k < rank; k++)
      linear = wick_dim_add(
          t->m->dims, linear,
          wick_dim_mul(t->m->dims, wick_dim_sub(t->m->dims, index[k], p->lo[k]), p->stride[k]));
  uint64_t key[8] = {NEST_KEY_LOAD,
                     p->buffer.id,
                     (uint64_t)(affine ? a.rest.v : linear.v),
                     (uint64_t)(affine ? a.offset : 0),
                     (uint64_t)(affine ? a.step : -1),
                     wide ? r->lanes : 1,
                     mask.id,
                     e};
  nest_known *k = p->frozen ? nest_find(t, key, 8) : NULL;
  if (k) return k->value;
  wick_value v;
  if (affine && a.step == 0) {
    if (lanes) /* one element, under a condition for each lane: it is loaded if any lane needs it */
      v = nest_gather(
          t, r, p,
          nest_widen(t, nest_dim(t, r, wick_dim_add(t->m->dims, a.rest, wick_dim_const(a.offset))),
                     r->lanes),
          e, mask);
    else
      v = nest_load_at(t, p, nest_dim(t, r, a.rest), a.offset, wick_type_scalar(t->m, e, 1), mask);
    nest_fetch(t, r, p, &a, e);
  } else if (affine && a.step == 1) {
    if (mask.id) mask = nest_widen(t, mask, r->lanes);
    v = nest_load_at(t, p, nest_dim(t, r, a.rest), a.offset, wick_type_scalar(t->m, e, r->lanes),
                     mask);
    nest_fetch(t, r, p, &a, e);
  } else if (affine && wick_nest_is_strided(a.step, r->lanes)) {
    v = nest_strided(t, r, p, &a, e, mask);
  } else {
    if (mask.id) mask = nest_widen(t, mask, r->lanes);
    v = nest_gather(t, r, p, nest_dim(t, r, linear), e, mask);
  }
  return p->frozen ? nest_remember(t, key, 8, v) : v;
}

/* ---- reads ---- */

/* Returns true if the halo contains the value that a guarded read has outside the tensor. */
static bool nest_halo_fits(const nest *t, const nest_run *r, const wick_node *read,
                           const wick_halo *halo)
{
  for (uint32_t i = r->st->node; i < r->node->end; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op != WICK_OP_const || n->first.id != read->in[read->nin - 1].id) continue;
    return !wick_const_imm(n)->constant && wick_const_imm(n)->f == 0 &&
           wick_const_imm(n)->i == halo->fill;
  }
  return false;
}

static wick_value nest_lane(nest *t, wick_value v, int64_t lane)
{
  wick_attr a = {.i = lane};
  return wick_build(&t->b, WICK_OP_extract, 1, &v, &a, 0, NULL);
}

/* Reads an element of a tile in registers. Relative to the tile's beginning, each index is a
 * constant or the lane. */
static wick_value nest_read_tile(nest *t, const nest_run *r, wick_value tensor, uint32_t rank,
                                 const wick_dim *index)
{
  const nest_place *p = &t->place[tensor.id];
  uint64_t key[NEST_KEY] = {NEST_KEY_TILE, tensor.id};
  int64_t lane = -1;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim rel = wick_dim_sub(t->m->dims, index[k], p->lo[k]);
    if (r->lanes > 1 && wick_dim_uses(t->m->dims, rel, r->vsym)) {
      rel = wick_dim_sub(t->m->dims, rel, r->vsym);
      lane = -2;
    }
    if (!wick_dim_is_const(rel)) {
      nest_fail(t, "stage `%s` is in registers, but is read at an index that is not a constant",
                t->s->stage[p->stage].name);
      return (wick_value){0};
    }
    key[2 + k] = (uint64_t)rel.v;
  }
  nest_known *found = nest_find(t, key, 2 + rank);
  if (found && lane == -1 && wick_built_info(&t->b, found->value)->lanes > 1)
    return nest_lane(t, found->value, 0);
  if (found) return found->value;
  if (lane == -1 && p->vdim < rank) { /* one lane of a vector that begins before the lane */
    uint64_t at = key[2 + p->vdim];
    for (uint64_t back = 1; back <= at && back < 1024; back++) {
      key[2 + p->vdim] = at - back;
      found = nest_find(t, key, 2 + rank);
      if (found && back < wick_built_info(&t->b, found->value)->lanes)
        return nest_lane(t, found->value, (int64_t)back);
    }
  }
  nest_fail(t, "stage `%s` is read outside the tile that was computed", t->s->stage[p->stage].name);
  return (wick_value){0};
}

static wick_value nest_read_inline(nest *t, const nest_run *r, wick_value tensor, uint32_t rank,
                                   const wick_dim *index)
{
  const nest_place *p = &t->place[tensor.id];
  uint64_t key[NEST_KEY] = {NEST_KEY_INLINE, tensor.id, r->lanes};
  for (uint32_t k = 0; k < rank; k++) key[3 + k] = (uint64_t)index[k].v;
  nest_known *found = nest_find(t, key, 3 + rank);
  if (found) return found->value;
  nest_run child = *r;
  child.stage = p->stage;
  child.st = &t->s->stage[p->stage];
  child.node = &t->g->node[child.st->node];
  uint32_t numel, own = nest_own(t, child.node, p->nth, &numel), before = 0;
  if (own) {
    nest_fail(t, "stage `%s` computes several elements at once, but is inlined", child.st->name);
    return (wick_value){0};
  }
  for (uint32_t k = 0; k < p->nth; k++) {
    nest_own(t, child.node, k, &numel);
    before += numel;
  }
  child.base = wick_dup(t->tmp, wick_dim, index, rank);
  wick_value *out = wick_new(t->tmp, wick_value, t->g->node[child.node->region[0].end - 1].nin + 1);
  nest_eval(t, &child, 0, NULL, out);
  return nest_remember(t, key, 3 + rank, out[before]);
}

/* Builds a linear index from constant and run-time parts. If all lanes share the run-time parts,
 * the result is the index of the first lane, and *step is 1 if lanes are contiguous, or 0 if all
 * have the same index. Otherwise it is a vector, and *step is -1. */
wick_value nest_place_any(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                          const wick_dim *index, const wick_value *any, int64_t *step)
{
  wick_dims *dims = t->m->dims;
  wick_dim linear = wick_dim_const(0), coef = wick_dim_const(0), rest;
  wick_value at = {0};
  for (uint32_t k = 0; k < rank; k++) {
    if (!wick_dim_eq(index[k], WICK_DIM_ANY)) {
      wick_dim from = wick_dim_sub(dims, index[k], p->lo[k]);
      linear = wick_dim_add(dims, linear, wick_dim_mul(dims, from, p->stride[k]));
      continue;
    }
    wick_value v = *any++;
    if (!wick_dim_is(p->lo[k], 0)) v = nest_binary(t, WICK_OP_sub, v, nest_dim(t, r, p->lo[k]));
    if (!wick_dim_is(p->stride[k], 1))
      v = nest_binary(t, WICK_OP_mul, v, nest_dim(t, r, p->stride[k]));
    at = at.id ? nest_binary(t, WICK_OP_add, at, v) : v;
  }
  if (t->b.status) return at;
  bool shared = wick_built_info(&t->b, at)->lanes == 1,
       uses = r->lanes > 1 && wick_dim_uses(dims, linear, r->vsym);
  if (shared && uses && wick_dim_linear(dims, linear, r->vsym, &coef, &rest) &&
      wick_dim_is(coef, 1))
    linear = rest, *step = 1;
  else
    *step = shared && !uses ? 0 : -1;
  return nest_binary(t, WICK_OP_add, at, nest_dim(t, r, linear));
}

wick_value nest_load_any(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                         const wick_dim *index, const wick_value *any, wick_elem e, wick_value mask)
{
  int64_t step = 0;
  wick_value at = nest_place_any(t, r, p, rank, index, any, &step);
  if (t->b.status) return (wick_value){0};
  bool lanes = mask.id && wick_built_info(&t->b, mask)->lanes > 1;
  if (step == 0 && !lanes) return nest_load_at(t, p, at, 0, wick_type_scalar(t->m, e, 1), mask);
  mask = nest_active(t, r, mask);
  if (mask.id) mask = nest_widen(t, mask, r->lanes);
  if (step == 1) return nest_load_at(t, p, at, 0, wick_type_scalar(t->m, e, r->lanes), mask);
  return nest_gather(t, r, p, nest_widen(t, at, r->lanes), e, mask);
}

static wick_value nest_read(nest *t, const nest_run *r, const wick_node *n, const wick_value *val)
{
  if (t->b.status) return (wick_value){0};
  wick_value tensor = n->in[0];
  const wick_type_info *type = wick_info_of(t->g, tensor);
  const nest_place *p = &t->place[tensor.id];
  wick_dim sym[64], index[WICK_MAX_RANK];
  wick_value any[WICK_MAX_RANK];
  uint32_t nany = 0;
  for (uint32_t a = 0; a < r->st->naxis; a++) sym[a] = r->st->axis[a].sym;
  for (uint32_t k = 0; k < type->rank; k++) {
    index[k] = wick_read_index(n)->dims[k];
    if (wick_dim_eq(index[k], WICK_DIM_ANY))
      any[nany] = val[n->in[1 + nany].id], nany++;
    else
      index[k] = wick_dim_substitute(t->m->dims, index[k], r->st->naxis, sym, r->base);
  }
  bool guard = n->attr[WICK_ATTR_read_guard].i && !t->within[r->stage], never = false;
  wick_dim nearest[WICK_MAX_RANK], guarded[WICK_MAX_RANK];
  memcpy(nearest, index, type->rank * sizeof *nearest);
  memcpy(guarded, index, type->rank * sizeof *guarded);
  for (uint32_t k = 0; k < type->rank && guard && t->sure.read == n; k++)
    if (t->sure.dims >> k & 1) guarded[k] = WICK_DIM_ANY;
  const wick_halo *halo = guard && p->halo && nest_halo_fits(t, r, n, p->halo) ? p->halo : NULL;
  wick_value v = {0}, otherwise = guard ? val[n->in[n->nin - 1].id] : v;
  bool alike = !guard || wick_built_info(&t->b, otherwise)->lanes == 1;
  if (guard && t->sure.read == n && t->sure.outside) return otherwise;
  if (p->in_memory && !nany && alike && !r->turns && r->lanes > 1)
    v = nest_pattern(t, r, p, type, index, otherwise);
  if (v.id || t->b.status) return v;
  wick_value inside = guard ? nest_inside(t, r, type, halo, guarded, nearest, &never) : v;
  if (never) return otherwise;
  if (p->in_memory && r->turns && !nany && alike) /* only if `otherwise` is scalar: other iterations
                                                     may be outside */
    v = nest_turned(t, r, n, otherwise);
  if (v.id || t->b.status) return v;
  bool near = p->in_memory && !nany && inside.id && nest_is_near(t, r, type, nearest);
  wick_value mask = inside;
  if (p->in_memory && inside.id && !near)
    mask = nest_clamp_shared(t, r, type, halo, guarded, index, nearest, inside);
  if (p->in_memory && nany)
    v = nest_load_any(t, r, p, type->rank, index, any, type->elem, mask);
  else if (near)
    v = nest_load(t, r, p, type->rank, nearest, type->elem, (wick_value){0});
  else if (p->in_memory)
    v = nest_load(t, r, p, type->rank, index, type->elem, mask);
  else if (inside.id || (nany && t->s->stage[p->stage].where != WICK_INLINE)) {
    nest_fail(t, "stage `%s` is not in memory, but is read at an index that may be out of bounds",
              t->s->stage[p->stage].name);
    return (wick_value){0};
  } else if (t->s->stage[p->stage].where == WICK_INLINE) {
    for (uint32_t k = 0; k < type->rank; k++) /* any index will do: all elements are the same
                                                 number */
      if (wick_dim_eq(index[k], WICK_DIM_ANY)) index[k] = wick_dim_const(0);
    v = nest_read_inline(t, r, tensor, type->rank, index);
  } else
    v = nest_read_tile(t, r, tensor, type->rank, index);
  if (!inside.id || t->b.status) return v;
  uint32_t lanes = wick_built_info(&t->b, v)->lanes > 1 || wick_built_info(&t->b, inside)->lanes > 1
                       ? r->lanes
                       : 1;
  otherwise = nest_widen(t, otherwise, lanes);
  v = nest_widen(t, v, lanes);
  return wick_build3(&t->b, WICK_OP_where, nest_widen(t, inside, lanes), v, otherwise);
}

/* ---- bodies ---- */

/* Builds a `fail` for each lane, because the operator takes one condition. */
static void nest_body_fail_lanes(nest *t, const nest_run *r, const wick_node *n,
                                 const wick_value *in)
{
  uint32_t lanes = 1;
  for (uint32_t k = 0; k < 2; k++)
    if (wick_built_info(&t->b, in[k])->lanes > 1) lanes = r->lanes;
  if (lanes == 1) {
    wick_build(&t->b, n->op, 2, in, n->attr, 0, NULL);
    return;
  }
  wick_value mask = wick_dim_is_const(r->active) ? (wick_value){0} : nest_mask(t, r);
  int64_t active = mask.id ? lanes : r->active.v;
  wick_value some = wick_build1(&t->b, WICK_OP_any, nest_widen(t, in[0], lanes));
  nest_when any = nest_when_begin(t, some, 0, NULL);
  for (int64_t i = 0; i < active; i++) {
    wick_value one[2];
    for (uint32_t k = 0; k < 2; k++) one[k] = nest_lane(t, nest_widen(t, in[k], lanes), i);
    if (mask.id) one[0] = nest_binary(t, WICK_OP_and, one[0], nest_lane(t, mask, i));
    wick_build(&t->b, n->op, 2, one, n->attr, 0, NULL);
  }
  nest_when_end(t, &any, NULL);
}

/* A failure names the operator's place and its calls, of all that the kernel computes. */
static void nest_body_fail(nest *t, const nest_run *r, const wick_node *n, const wick_value *in)
{
  wick_loc outer = t->b.loc;
  t->b.loc = n->loc;
  nest_body_fail_lanes(t, r, n, in);
  t->b.loc = outer;
}

wick_value nest_body_node(nest *t, const nest_run *r, const wick_node *n, const wick_value *val)
{
  if (n->op == WICK_OP_read) return nest_read(t, r, n, val);
  if (n->op == WICK_OP_index) {
    wick_dim sym[64];
    for (uint32_t a = 0; a < r->st->naxis; a++) sym[a] = r->st->axis[a].sym;
    return nest_dim(t, r,
                    wick_dim_substitute(t->m->dims, n->attr[WICK_ATTR_index_expr].dims[0],
                                        r->st->naxis, sym, r->base));
  }
  const wick_op *op = wick_op_of(n);
  wick_value in[8];
  uint32_t lanes = 1;
  for (uint32_t k = 0; k < n->nin && k < WICK_COUNT(in); k++) {
    in[k] = val[n->in[k].id];
    if (!t->b.status && wick_built_info(&t->b, in[k])->lanes > lanes)
      lanes = wick_built_info(&t->b, in[k])->lanes;
  }
  if (t->b.status) return (wick_value){0};
  if (n->op == WICK_OP_fail) {
    nest_body_fail(t, r, n, in);
    return (wick_value){0};
  }
  for (uint32_t k = 0; k < n->nin; k++) in[k] = nest_widen(t, in[k], lanes);
  wick_type want = wick_type_of(t->g, n->first);
  if (n->op == WICK_OP_const) {
    uint64_t bits, key[3] = {NEST_KEY_CONST, want.id, 0};
    if (wick_elem_is_float(wick_type_get(t->m, want)->elem))
      memcpy(&bits, &wick_const_imm(n)->f, 8);
    else
      bits = (uint64_t)wick_const_imm(n)->i;
    key[2] = bits;
    nest_known *k = nest_find(t, key, 3);
    return k ? k->value
             : nest_remember(t, key, 3, wick_build(&t->b, n->op, 0, NULL, n->attr, 1, &want));
  }
  if (lanes > 1) want = wick_type_scalar(t->m, wick_type_get(t->m, want)->elem, lanes);
  return wick_build(&t->b, n->op, n->nin, in, n->nattr ? n->attr : NULL, op->typed,
                    op->typed ? &want : NULL);
}

void nest_eval_part(nest *t, const nest_run *r, const wick_region *region, const uint64_t *of,
                    uint64_t some, bool depends, wick_value *val)
{
  for (uint32_t i = region->begin; i < region->end - 1 && !t->b.status; i++) {
    const wick_node *n = &t->g->node[i];
    if (of && (n->nout ? (of[n->first.id] & some) != 0 : true) != depends) continue;
    if (n->nregion || n->nin > 8 + WICK_MAX_RANK) {
      nest_fail(t, "stage `%s`: control flow in a stage's body", r->st->name);
      return;
    }
    wick_value v = nest_body_node(t, r, n, val);
    if (n->nout) val[n->first.id] = v;
  }
}

void nest_eval(nest *t, const nest_run *r, uint32_t region, const wick_value *param,
               wick_value *out)
{
  const wick_region *g = &r->node->region[region];
  wick_value *val = wick_new(t->tmp, wick_value, t->g->nvalue + 1);
  for (uint32_t i = 0; i < g->nparam; i++) val[g->first.id + i] = param[i];
  nest_eval_part(t, r, g, NULL, 0, true, val);
  const wick_node *y = &t->g->node[g->end - 1];
  for (uint32_t i = 0; i < y->nin; i++) out[i] = val[y->in[i].id];
}

wick_value nest_eval_read(nest *t, const nest_run *r, const wick_node *read)
{
  wick_value *val = wick_new(t->tmp, wick_value, t->g->nvalue + 1);
  for (uint32_t i = r->st->node; i < r->node->end; i++)
    for (uint32_t k = 1; k < read->nin; k++)
      if (t->g->node[i].op == WICK_OP_const && t->g->node[i].first.id == read->in[k].id)
        val[read->in[k].id] = nest_body_node(t, r, &t->g->node[i], val);
  return nest_read(t, r, read, val);
}

/* ---- writing ---- */

static void nest_store_lanes(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                             const wick_dim *index, wick_value v)
{
  wick_dim linear = wick_dim_const(0);
  for (uint32_t k = 0; k < rank; k++)
    linear = wick_dim_add(
        t->m->dims, linear,
        wick_dim_mul(t->m->dims, wick_dim_sub(t->m->dims, index[k], p->lo[k]), p->stride[k]));
  wick_value mask = wick_dim_is_const(r->active) ? (wick_value){0} : nest_mask(t, r);
  int64_t active = mask.id ? r->lanes : r->active.v;
  for (int64_t i = 0; i < active; i++) {
    wick_dim lane = wick_dim_const(i);
    wick_value one = nest_lane(t, v, i);
    wick_value at = nest_dim(t, NULL, wick_dim_substitute(t->m->dims, linear, 1, &r->vsym, &lane));
    wick_value in[4] = {p->buffer, at, one, mask.id ? nest_lane(t, mask, i) : mask};
    wick_build(&t->b, WICK_OP_store, mask.id ? 4 : 3, in, NULL, 0, NULL);
  }
}

void nest_store(nest *t, const nest_run *r, const nest_place *p, uint32_t rank,
                const wick_dim *index, wick_value v)
{
  nest_address a;
  if (t->b.status) return;
  bool wide = wick_built_info(&t->b, v)->lanes > 1,
       affine = nest_address_of(t, r, p, rank, index, &a);
  if (wide && (!affine || a.step != 1)) {
    nest_store_lanes(t, r, p, rank, index, v);
    return;
  }
  if (!affine) return;
  wick_value in[4] = {p->buffer, nest_dim(t, r, a.rest), v,
                      wide ? nest_mask(t, r) : (wick_value){0}};
  wick_attr attr[] = {
      [WICK_ATTR_store_offset] = {.i = a.offset}, [WICK_ATTR_store_nontemporal] = {0}};
  wick_build(&t->b, WICK_OP_store, in[3].id ? 4 : 3, in, attr, 0, NULL);
}

uint32_t nest_own(const nest *t, const wick_node *stage, uint32_t k, uint32_t *out_numel)
{
  const wick_type_info *type = wick_info_of(t->g, (wick_value){stage->first.id + k});
  uint32_t own = type->rank;
  for (uint32_t a = 0; a < wick_stage_axes(stage)->n; a++)
    own -= !wick_stage_axes(stage)->axes[a].reduce;
  *out_numel = 1;
  for (uint32_t i = 0; i < own; i++) *out_numel *= (uint32_t)type->dim[i].v;
  return own;
}

/* Stores element `elem` of the own dimensions of result k. */
static void nest_sink_one(nest *t, const nest_run *r, uint32_t k, uint32_t elem, wick_value v)
{
  wick_value result = {r->node->first.id + k};
  nest_place *p = &t->place[result.id];
  wick_dim index[WICK_MAX_RANK];
  uint32_t numel, rank = nest_own(t, r->node, k, &numel);
  for (uint32_t i = rank; i-- > 0;) {
    uint32_t extent = (uint32_t)wick_info_of(t->g, result)->dim[i].v;
    index[i] = wick_dim_const(elem % extent);
    elem /= extent;
  }
  for (uint32_t a = 0; a < r->st->naxis; a++)
    if (!r->st->axis[a].reduce) {
      if (a == r->vaxis && r->lanes > 1) p->vdim = rank;
      index[rank++] = r->base[a];
    }
  bool wide = r->lanes > 1 && r->vaxis < r->st->naxis && !r->st->axis[r->vaxis].reduce;
  if (wide) v = nest_widen(t, v, r->lanes);
  if (t->b.status) return;
  if (!p->in_memory) {
    uint64_t key[NEST_KEY] = {NEST_KEY_TILE, result.id};
    for (uint32_t i = 0; i < rank; i++) {
      wick_dim rel = wick_dim_sub(t->m->dims, index[i], p->lo[i]);
      if (wide && wick_dim_uses(t->m->dims, rel, r->vsym))
        rel = wick_dim_sub(t->m->dims, rel, r->vsym);
      if (!wick_dim_is_const(rel)) {
        nest_fail(t, "stage `%s` is in registers, but a loop that indexes it is not unrolled",
                  r->st->name);
        return;
      }
      key[2 + i] = (uint64_t)rel.v;
    }
    nest_remember(t, key, 2 + rank, v);
    return;
  }
  nest_store(t, r, p, rank, index, v);
}

void nest_sink(nest *t, const nest_run *r, const wick_value *v)
{
  for (uint32_t k = 0; k < r->node->nout; k++) {
    uint32_t numel;
    nest_own(t, r->node, k, &numel);
    for (uint32_t e = 0; e < numel; e++) nest_sink_one(t, r, k, e, *v++);
  }
}
