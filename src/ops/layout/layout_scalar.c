/* Element-wise operators on packed images, and on matrices in blocks of columns. */
#include <math.h>
#include <string.h>

#include "ops/elementwise/scalar.h"
#include "ops/layout/layout.h"

enum { SCALAR_MOST = 8 }; /* most operands */

/* ---- images ---- */

static bool layout_scalar_full(const wick_layouts *s, const wick_node *n, wick_value v)
{
  wick_type own = wick_type_of(s->c.f, v), result = wick_type_of(s->c.f, n->first);
  wick_elem e = wick_layout_info(s, n->first)->elem;
  return wick_type_eq(wick_type_with_elem(s->c.f->module, own, e), result);
}

static bool layout_scalar_one(const wick_layouts *s, wick_value v)
{
  return wick_dim_is(wick_type_numel(s->c.f->module, wick_type_of(s->c.f, v)), 1);
}

/* Returns true if v is an image with as many axes as n's result. */
static bool layout_scalar_is_image(const wick_layouts *s, const wick_node *n, wick_value v)
{
  return wick_layout_is_image(s, v) &&
         wick_layout_info(s, v)->rank == wick_layout_info(s, n->first)->rank;
}

/* Returns true if v is an image that n repeats along rows, columns or images. It is packed in the
 * order of n's result. */
static bool layout_scalar_repeats(const wick_layouts *s, const wick_node *n, wick_value v)
{
  return layout_scalar_is_image(s, n, v) && !layout_scalar_full(s, n, v) &&
         wick_dim_eq(wick_layout_info(s, v)->dim[1], wick_layout_info(s, n->first)->dim[1]) &&
         !wick_layout_constant(s, v) && !layout_scalar_one(s, v);
}

/* Returns true if v is an image of one channel that n repeats along channels. It needs no packing.
 */
static bool layout_scalar_thin(const wick_layouts *s, const wick_node *n, wick_value v)
{
  return layout_scalar_is_image(s, n, v) && !layout_scalar_one(s, v) &&
         wick_dim_is(wick_layout_info(s, v)->dim[1], 1) &&
         !wick_dim_is(wick_layout_info(s, n->first)->dim[1], 1);
}

static wick_value layout_scalar_thin_build(wick_layouts *s, wick_value v)
{
  const wick_type_info *t = wick_layout_info(s, v);
  wick_dim dim[WICK_MAX_RANK];
  memcpy(dim, t->dim, t->rank * sizeof *dim);
  dim[t->rank] = wick_dim_const(1);
  return wick_build_reshape(&s->c.b, wick_layout_plain(s, v), t->rank + 1u, dim);
}

/* Finds the value of an operand at places without a channel, for order o. It is 0 for constants
 * along channels, and the number itself for single numbers. Returns false if it is unknown. */
static bool layout_scalar_hole(const wick_layouts *s, const wick_node *n, wick_value v,
                               const wick_order *o, wick_scalar *out)
{
  uint32_t d = s->definer[v.id];
  const wick_constant *data = wick_layout_constant(s, v);
  const wick_order *own = wick_layout_order(s, v);
  *out = (wick_scalar){.i = 0};
  if (layout_scalar_thin(s, n, v)) return false;
  bool image = layout_scalar_full(s, n, v) || layout_scalar_repeats(s, n, v);
  if (image && own && wick_order_eq(own, o)) *out = s->packed[v.id].hole;
  if (layout_scalar_full(s, n, v) || !layout_scalar_one(s, v)) return true;
  if (d == UINT32_MAX || s->c.f->node[d].op != WICK_OP_const) return false;
  const wick_imm *imm = &s->c.f->node[d].attr[WICK_ATTR_const_value].imm;
  if (imm->constant && !data) return false;
  wick_elem e = wick_layout_info(s, v)->elem;
  if (data)
    *out = wick_load_elem(e, data->data, 0);
  else if (wick_elem_is_float(e))
    out->f = imm->f;
  else
    out->i = imm->i;
  return true;
}

/* Returns true if only element-wise operators read the places without a channel of n's result. */
static bool layout_scalar_alone(const wick_layouts *s, const wick_node *n)
{
  uint32_t v = n->first.id;
  for (uint32_t i = s->uses.first[v]; i < s->uses.first[v + 1]; i++) {
    const wick_node *user = &s->c.f->node[s->uses.use[i]];
    if (!wick_op_of(user)->scalar || user->nout != 1 || !wick_layout_is_image(s, user->first))
      return false;
  }
  return true;
}

/* Computes the operator's result at places without a channel. Returns false if they must be 0 but
 * are not. */
static bool layout_scalar_holes(const wick_layouts *s, const wick_node *n, const wick_order *o,
                                wick_scalar *out)
{
  const wick_op *op = wick_op_of(n);
  wick_scalar in[SCALAR_MOST] = {{0}};
  *out = (wick_scalar){.i = 0};
  if (wick_order_places(o) == o->channels) return true;
  bool select = op->scalar == WICK_RULE_SELECT;
  wick_elem from = wick_layout_info(s, n->in[select])->elem,
            to = wick_layout_info(s, n->first)->elem;
  /* an operator that may fail for integers could fail at places without a channel, for example by a
   * division by 0 */
  if (!op->eval || (op->effect != WICK_PURE && !wick_elem_is_float(from))) return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (!n->in[k].id || !layout_scalar_hole(s, n, n->in[k], o, &in[k])) return false;
  *out = wick_eval_scalar(n->op, n->attr, from, to, in);
  bool zero = wick_elem_is_float(to) ? out->f == 0 : out->i == 0;
  return zero || (layout_scalar_alone(s, n) && (!wick_elem_is_float(to) || isfinite(out->f)));
}

/* Returns v if it is a constant that varies only along the channels of n's result, else NULL. */
static const wick_constant *layout_scalar_channels(const wick_layouts *s, const wick_node *n,
                                                   wick_value v)
{
  const wick_type_info *y = wick_layout_info(s, n->first);
  const wick_constant *k = wick_layout_constant(s, v);
  const wick_type_info *t = k ? wick_type_get(s->c.f->module, k->type) : NULL;
  int64_t dim[WICK_MAX_RANK];
  if (!t || t->rank + 1u < y->rank || t->rank > y->rank || !wick_type_const_dims(t, dim))
    return NULL;
  for (uint32_t i = 0; i < t->rank; i++)
    if (dim[i] != (i + y->rank == t->rank + 1u ? y->dim[1].v : 1)) return NULL;
  return k;
}

/* Returns the number of times that the image must be moved so that all operands have order o. */
static uint32_t layout_scalar_cost(const wick_layouts *s, const wick_node *n, const wick_order *o)
{
  uint32_t cost = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value v = n->in[k];
    if (!v.id || layout_scalar_one(s, v) || !layout_scalar_full(s, n, v)) continue;
    const wick_order *own = wick_layout_order(s, v);
    const wick_packed *second = &s->second[v.id];
    bool there = own && wick_order_eq(own, o);
    if (!there && !(second->v.id && wick_order_eq(&second->order, o)))
      cost += s->c.to[v.id].id ? 1 : 2;
  }
  return cost;
}

/* Finds the cheapest order among those of the operands; among equal ones the one with the fewest
 * places. Returns false if no operand is packed, or if one fits no order. */
static bool layout_scalar_order(const wick_layouts *s, const wick_node *n, wick_order *o)
{
  bool any = false;
  uint32_t cost = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value v = n->in[k];
    if (!v.id || layout_scalar_one(s, v)) continue;
    if (!layout_scalar_full(s, n, v)) {
      if (!layout_scalar_channels(s, n, v) && !layout_scalar_repeats(s, n, v) &&
          !layout_scalar_thin(s, n, v))
        return false;
      continue;
    }
    const wick_order *own = wick_layout_order(s, v);
    uint32_t each = own ? layout_scalar_cost(s, n, own) : 0;
    if (!own ||
        (any && (each > cost || (each == cost && wick_order_places(own) >= wick_order_places(o)))))
      continue;
    *o = *own, cost = each, any = true;
  }
  return any;
}

/* Builds the node on packed operands. Result types that are attributes are those of the packed
 * tensors. */
static wick_value layout_scalar_build(wick_layouts *s, const wick_node *n, const wick_value *in)
{
  const wick_attr *attr = n->nattr ? n->attr : NULL;
  if (!wick_op_of(n)->typed || s->c.b.status)
    return wick_build(&s->c.b, n->op, n->nin, in, attr, 0, NULL);
  wick_type want = wick_type_with_elem(s->c.f->module, wick_built_type(&s->c.b, in[0]),
                                       wick_layout_info(s, n->first)->elem);
  return wick_build(&s->c.b, n->op, n->nin, in, attr, 1, &want);
}

static bool layout_scalar_image(wick_layouts *s, const wick_node *n)
{
  wick_value in[SCALAR_MOST] = {{0}};
  wick_order o;
  wick_scalar hole;
  if (!wick_layout_is_image(s, n->first) || !layout_scalar_order(s, n, &o) ||
      !layout_scalar_holes(s, n, &o, &hole))
    return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value v = n->in[k];
    if (!v.id) continue;
    if (layout_scalar_full(s, n, v) || layout_scalar_repeats(s, n, v))
      in[k] = wick_layout_pack(s, v, &o);
    else if (layout_scalar_one(s, v))
      in[k] = wick_layout_plain(s, v);
    else if (layout_scalar_thin(s, n, v))
      in[k] = layout_scalar_thin_build(s, v);
    else
      in[k] = wick_layout_channels(s, layout_scalar_channels(s, n, v),
                                   wick_layout_info(s, n->first)->rank, &o);
  }
  wick_layout_set(s, n, layout_scalar_build(s, n, in), &o);
  s->packed[n->first.id].hole = hole;
  return true;
}

/* ---- columns ---- */

/* Returns the size of blocks that the operands have in common, or 0. */
static int64_t layout_scalar_width(const wick_layouts *s, const wick_node *n)
{
  int64_t v = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    int64_t own = n->in[k].id ? s->packed[n->in[k].id].columns : 0;
    if (own && v && v != own) return 0;
    if (own) v = own;
  }
  return v;
}

/* Views a plain operand of the result's shape in blocks of columns: [.., N] as [.., blocks, width].
 * Returns 0 if that is no view. */
static wick_value layout_scalar_blocks(wick_layouts *s, const wick_node *n, wick_value v,
                                       int64_t columns, int64_t width)
{
  const wick_type_info *t = wick_layout_info(s, v);
  wick_dim dim[WICK_MAX_RANK];
  if (t->rank + 1u > WICK_MAX_RANK || s->packed[v.id].columns || columns % width ||
      !layout_scalar_full(s, n, v))
    return (wick_value){0};
  uint32_t last = t->rank - 1u;
  memcpy(dim, t->dim, last * sizeof *dim);
  dim[last] = wick_dim_const(columns / width), dim[last + 1] = wick_dim_const(width);
  return wick_build_reshape(&s->c.b, wick_layout_plain(s, v), last + 2, dim);
}

/* Returns an operand as blocks of columns, a number, or a constant row; 0 if it is none of these.
 */
static wick_value layout_scalar_row(wick_layouts *s, const wick_node *n, wick_value v,
                                    int64_t columns, int64_t width)
{
  const wick_type_info *t = wick_layout_info(s, v);
  const wick_constant *row = wick_layout_constant(s, v);
  wick_dim numel = wick_type_numel(s->c.f->module, wick_type_of(s->c.f, v));
  if (s->packed[v.id].columns && layout_scalar_full(s, n, v)) return s->packed[v.id].v;
  uint32_t d = s->definer[v.id];
  /* the mean of the only row is one of a norm, whose nodes share a kernel in the plain layout */
  bool known = d == UINT32_MAX || s->c.f->node[d].op == WICK_OP_const;
  if (wick_dim_is(numel, 1)) return known ? wick_layout_plain(s, v) : (wick_value){0};
  if (!row || !t->rank || !wick_dim_is(numel, columns) ||
      !wick_dim_is(t->dim[t->rank - 1], columns))
    return layout_scalar_blocks(s, n, v, columns, width);
  int64_t packed[2] = {wick_ceildiv_i64(columns, width), width};
  uint64_t packed_nbytes = wick_elem_bytes(t->elem, (uint64_t)(packed[0] * width)),
           used = wick_elem_bytes(t->elem, (uint64_t)columns);
  char *data = wick_arena_alloc(&s->c.f->module->mem, packed_nbytes, 64);
  memcpy(data, row->data, used);
  return wick_layout_new_constant(s, row->name, t->elem, data, 2, packed);
}

static bool layout_scalar_columns(wick_layouts *s, const wick_node *n)
{
  wick_value in[SCALAR_MOST] = {{0}};
  int64_t width = layout_scalar_width(s, n);
  const wick_type_info *r = wick_layout_info(s, n->first);
  if (!width || r->rank < 2 || !wick_dim_is_const(r->dim[r->rank - 1])) return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!n->in[k].id) continue;
    in[k] = layout_scalar_row(s, n, n->in[k], r->dim[r->rank - 1].v, width);
    if (!in[k].id) return false;
  }
  wick_layout_set_columns(s, n, layout_scalar_build(s, n, in), width);
  return true;
}

bool wick_layout_scalar(wick_layouts *s, const wick_node *n)
{
  if (n->nout != 1 || n->nin > SCALAR_MOST) return false;
  return layout_scalar_image(s, n) || layout_scalar_columns(s, n);
}
