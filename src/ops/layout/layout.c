/* The walk that assigns layouts. It converts values that do not have the required layout, and packs
 * constants. */
#include "ops/layout/layout.h"

#include <string.h>

#include "ir/element.h"

bool wick_layout_is_image(const wick_layouts *s, wick_value v)
{
  const wick_type_info *t = v.id && !s->packed[v.id].columns ? wick_layout_info(s, v) : NULL;
  uint64_t elems = WICK_BIT(WICK_F32) | WICK_BIT(WICK_F16) | WICK_BIT(WICK_BF16) |
                   WICK_BIT(WICK_I32) | WICK_BIT(WICK_U8) | WICK_BIT(WICK_I8) | WICK_BOOLS;
  return t && t->kind == WICK_TENSOR && (t->rank == 4 || t->rank == 5) &&
         WICK_BIT(t->elem) & elems && wick_dim_is_const(t->dim[1]) && t->dim[1].v > 0;
}

const wick_order *wick_layout_order(const wick_layouts *s, wick_value v)
{
  const wick_packed *p = &s->packed[v.id];
  return v.id && p->v.id && !p->columns ? &p->order : NULL;
}

const wick_order *wick_layout_wanted(const wick_layouts *s, const wick_node *n)
{
  wick_value v = n->first;
  wick_type type = wick_type_of(s->c.f, v);
  for (;;) {
    uint32_t use = s->uses.first[v.id];
    if (s->uses.first[v.id + 1] - use != 1) return NULL;
    const wick_node *user = &s->c.f->node[s->uses.use[use]];
    if (!wick_op_of(user)->scalar || user->nout != 1 ||
        !wick_type_eq(wick_type_of(s->c.f, user->first), type))
      return NULL;
    for (uint32_t k = 0; k < user->nin; k++)
      if (user->in[k].id != v.id && user->in[k].id &&
          wick_type_eq(wick_type_of(s->c.f, user->in[k]), type) &&
          wick_layout_order(s, user->in[k]))
        return wick_layout_order(s, user->in[k]);
    v = user->first;
  }
}

wick_value wick_layout_narrow(const wick_layouts *s, wick_value v)
{
  uint32_t d = v.id ? s->definer[v.id] : UINT32_MAX;
  const wick_node *n = d == UINT32_MAX ? NULL : &s->c.f->node[d];
  if (!n || n->op != WICK_OP_cast || wick_layout_info(s, v)->elem != WICK_F32) return v;
  wick_elem e = wick_layout_info(s, n->in[0])->elem;
  return e == WICK_F16 || e == WICK_BF16 ? n->in[0] : v;
}

uint16_t wick_layout_half(wick_elem e, const void *from)
{
  uint32_t word;
  float x;
  memcpy(&word, from, sizeof word);
  memcpy(&x, from, sizeof x);
  return e == WICK_BF16 ? (uint16_t)(word >> 16) : wick_f64_to_bits16(e, (double)x);
}

bool wick_layout_holds(const wick_layouts *s, uint32_t constant, wick_elem e)
{
  const float *x = wick_constant_bytes(s->c.f->module, constant);
  uint64_t n = x ? wick_constant_get(s->c.f->module, constant)->nbytes / sizeof *x : 0;
  bool holds = x;
  for (uint64_t i = 0; i < n && holds; i++) {
    uint32_t word;
    memcpy(&word, &x[i], sizeof word);
    holds = e == WICK_BF16 ? !(word & 0xffff)
                           : wick_bits16_to_f64(e, wick_layout_half(e, &x[i])) == (double)x[i];
  }
  return holds;
}

const uint16_t *wick_layout_halves(const wick_layouts *s, const wick_constant *k, wick_elem e)
{
  uint64_t n = k->nbytes / sizeof(float);
  const float *from = k->data;
  uint16_t *to = wick_arena_alloc(s->mem, n * sizeof *to, 64);
  for (uint64_t i = 0; i < n; i++) to[i] = wick_layout_half(e, &from[i]);
  return to;
}

/* Returns the columns of p, which are those of the plain matrix's rows and of what fills the last
 * block. */
static wick_value layout_rows(wick_layouts *s, const wick_packed *p, const wick_type_info *t)
{
  wick_dim dim[WICK_MAX_RANK];
  uint32_t last = t->rank - 1u;
  int64_t columns = t->dim[last].v, padded = wick_ceildiv_i64(columns, p->columns) * p->columns;
  memcpy(dim, t->dim, t->rank * sizeof *dim);
  dim[last] = wick_dim_const(padded);
  wick_value x = wick_build_reshape(&s->c.b, p->v, t->rank, dim);
  if (padded == columns) return x;
  return wick_build_slice_axis(&s->c.b, x, last, wick_dim_const(0), t->dim[last], 1);
}

wick_value wick_layout_plain(wick_layouts *s, wick_value v)
{
  const wick_packed *p = &s->packed[v.id];
  if (!v.id || s->c.to[v.id].id || !p->v.id) return s->c.to[v.id];
  const wick_type_info *t = wick_layout_info(s, v);
  if (!p->columns) return s->c.to[v.id] = wick_build_unpack(&s->c.b, p->v, 1, &p->order);
  return s->c.to[v.id] = layout_rows(s, p, t);
}

wick_value wick_layout_pack(wick_layouts *s, wick_value v, const wick_order *o)
{
  wick_packed *p = &s->packed[v.id], *second = &s->second[v.id];
  if (p->v.id && wick_order_eq(&p->order, o)) return p->v;
  if (second->v.id && wick_order_eq(&second->order, o)) return second->v;
  wick_value x = wick_build_pack(&s->c.b, wick_layout_plain(s, v), 1, o);
  *(p->v.id ? second : p) = (wick_packed){.v = x, .order = *o};
  return x;
}

wick_value wick_layout_packed(wick_layouts *s, wick_value v, wick_order *o)
{
  const wick_order *own = wick_layout_order(s, v);
  *o = own ? *own : wick_order_make(wick_layout_info(s, v)->dim[1].v, 1, s->block, false);
  return wick_layout_pack(s, v, o);
}

void wick_layout_set(wick_layouts *s, const wick_node *n, wick_value packed, const wick_order *o)
{
  s->packed[n->first.id] = (wick_packed){.v = packed, .order = *o};
}

void wick_layout_set_columns(wick_layouts *s, const wick_node *n, wick_value packed,
                             int64_t columns)
{
  s->packed[n->first.id] = (wick_packed){.v = packed, .columns = columns};
}

/* ---- constants ---- */

uint32_t wick_layout_weights(const wick_layouts *s, wick_value v)
{
  uint32_t d = v.id ? s->definer[v.id] : UINT32_MAX;
  if (d == UINT32_MAX || s->c.f->node[d].op != WICK_OP_const) return 0;
  uint32_t id = s->c.f->node[d].attr[WICK_ATTR_const_value].imm.constant;
  const wick_constant *k = wick_constant_get(s->c.f->module, id);
  return k->data || k->deferred ? id : 0;
}

const wick_constant *wick_layout_constant(const wick_layouts *s, wick_value v)
{
  uint32_t id = wick_layout_weights(s, v);
  bool has = wick_constant_bytes(s->c.f->module, id) != NULL;
  return has ? wick_constant_get(s->c.f->module, id) : NULL;
}

wick_value wick_layout_new_constant(wick_layouts *s, const char *name, wick_elem elem,
                                    const void *data, uint32_t rank, const int64_t *dim)
{
  wick_module *m = s->c.f->module;
  uint64_t n = 1;
  for (uint32_t k = 0; k < rank; k++) n *= (uint64_t)dim[k];
  uint32_t id =
      wick_constant_add(m, wick_str_printf(s->mem, "%s.packed", name),
                        wick_type_tensor_const(m, elem, rank, dim), data, wick_elem_bytes(elem, n));
  return wick_build_constant(&s->c.b, id);
}

wick_value wick_layout_new_weights(wick_layouts *s, wick_elem elem, uint32_t rank,
                                   const int64_t *dim, const wick_deferred_constant *r)
{
  wick_module *m = s->c.f->module;
  uint64_t n = 1;
  for (uint32_t k = 0; k < rank; k++) n *= (uint64_t)dim[k];
  const char *name = wick_str_printf(s->mem, "%s.packed", wick_constant_get(m, r->from)->name);
  uint32_t id = wick_constant_defer(m, name, wick_type_tensor_const(m, elem, rank, dim),
                                    wick_elem_bytes(elem, n), r);
  return wick_build_constant(&s->c.b, id);
}

wick_value wick_layout_channels(wick_layouts *s, const wick_constant *k, uint32_t rank,
                                const wick_order *o)
{
  int64_t places = wick_order_places(o), dim[WICK_MAX_RANK] = {1, places / o->block};
  for (uint32_t i = 2; i < rank; i++) dim[i] = 1;
  dim[rank] = o->block;
  wick_elem e = wick_type_get(s->c.f->module, k->type)->elem;
  size_t size = wick_elem_bytes(e, 1);
  char *data = wick_arena_alloc(&s->c.f->module->mem, (size_t)places * size, 64);
  for (int64_t c = 0; c < o->channels; c++)
    memcpy(data + (size_t)wick_order_place(o, c) * size, (const char *)k->data + (size_t)c * size,
           size);
  return wick_layout_new_constant(s, k->name, e, data, rank + 1, dim);
}

bool wick_layout_same(wick_layouts *s, const wick_node *n)
{
  const wick_packed *p = &s->packed[n->in[0].id];
  if (!n->in[0].id || n->nout != 1 || !p->v.id ||
      !wick_type_eq(wick_type_of(s->c.f, n->in[0]), wick_type_of(s->c.f, n->first)))
    return false;
  s->packed[n->first.id] = *p;
  return true;
}
