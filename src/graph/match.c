/* Answers queries about values. Constants are found through the nodes that define them; elements
 * are read from their data. */
#include "graph/match.h"

#include "ir/element.h"

wick_match wick_match_begin(const wick_func *f, wick_arena *mem)
{
  return (wick_match){.f = f, .definer = wick_definers_of(f, mem), .uses = wick_uses_of(f, mem)};
}

const wick_node *wick_match_node(const wick_match *k, wick_value v)
{
  return v.id && k->definer[v.id] != UINT32_MAX ? &k->f->node[k->definer[v.id]] : NULL;
}

const wick_node *wick_match_op(const wick_match *k, wick_value v, wick_opcode op)
{
  const wick_node *n = wick_match_node(k, v);
  return n && n->op == op ? n : NULL;
}

const wick_node *wick_match_user(const wick_match *k, wick_value v)
{
  uint32_t first = k->uses.first[v.id];
  return k->uses.first[v.id + 1] - first == 1 ? &k->f->node[k->uses.use[first]] : NULL;
}

bool wick_match_same_shape(const wick_match *k, wick_value a, wick_value b)
{
  const wick_type_info *x = wick_info_of(k->f, a), *y = wick_info_of(k->f, b);
  bool same = x->rank == y->rank;
  for (uint32_t i = 0; same && i < x->rank; i++) same = wick_dim_eq(x->dim[i], y->dim[i]);
  return same;
}

const wick_imm *wick_match_imm(const wick_match *k, wick_value v)
{
  const wick_node *n = wick_match_op(k, v, WICK_OP_const);
  return n ? wick_const_imm(n) : NULL;
}

const wick_constant *wick_match_constant(const wick_match *k, wick_value v)
{
  const wick_imm *imm = wick_match_imm(k, v);
  if (!imm || !imm->constant) return NULL;
  const wick_constant *c = wick_constant_get(k->f->module, imm->constant);
  return c->data || c->deferred ? c : NULL;
}

const wick_constant *wick_match_data(const wick_match *k, wick_value v)
{
  const wick_constant *c = wick_match_constant(k, v);
  return c && c->data ? c : NULL;
}

/* Returns true if all of v's elements are equal, and their value. */
static bool match_one(const wick_match *k, wick_value v, wick_scalar *out)
{
  const wick_imm *imm = wick_match_imm(k, v);
  const wick_constant *c = wick_match_data(k, v);
  wick_elem e = imm ? wick_info_of(k->f, v)->elem : WICK_F32;
  if (imm && !imm->constant)
    *out = wick_elem_is_float(e) ? (wick_scalar){.f = imm->f} : (wick_scalar){.i = imm->i};
  else if (c && wick_dim_is(wick_type_numel(k->f->module, c->type), 1))
    *out = wick_load_elem(e, c->data, 0);
  else
    return false;
  return true;
}

bool wick_match_number(const wick_match *k, wick_value v, double *out)
{
  wick_scalar s;
  if (!wick_match_imm(k, v) || !wick_elem_is_float(wick_info_of(k->f, v)->elem) ||
      !match_one(k, v, &s))
    return false;
  *out = s.f;
  return true;
}

bool wick_match_along(const wick_match *k, wick_value v, uint32_t rank, uint32_t axis,
                      int64_t extent, double *out)
{
  double all;
  const wick_constant *c = wick_match_data(k, v);
  const wick_type_info *t = c ? wick_type_get(k->f->module, c->type) : NULL;
  int64_t dim[WICK_MAX_RANK], numel = 1;
  if (wick_match_number(k, v, &all)) {
    for (int64_t i = 0; i < extent; i++) out[i] = all;
    return true;
  }
  if (!t || !wick_elem_is_float(t->elem) || t->rank > rank || !wick_type_const_dims(t, dim))
    return false;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (dim[i] != 1 && (rank - t->rank + i != axis || dim[i] != extent)) return false;
    numel *= dim[i];
  }
  if (numel != extent) return false;
  for (int64_t i = 0; i < extent; i++) out[i] = wick_load_elem(t->elem, c->data, (uint64_t)i).f;
  return true;
}

const uint32_t *wick_match_regions(const wick_func *f, wick_arena *mem)
{
  uint32_t *region = wick_new(mem, uint32_t, f->nnode), nregion = 0;
  for (uint32_t i = 0; i < f->nnode; i++)
    for (uint32_t r = 0; r < f->node[i].nregion; r++) {
      const wick_region *x = &f->node[i].region[r];
      nregion++;
      for (uint32_t k = x->begin; k < x->end; k++) region[k] = nregion;
    }
  return region;
}
