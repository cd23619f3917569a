/* Operators on packed images that depend on positions or move channels: concatenations, pools,
 * reductions over whole images, channel shuffles. */
#include <math.h>
#include <string.h>

#include "ops/layout/layout.h"
#include "ops/nn/window.h"

/* ---- concatenations ---- */

/* Finds the order of operand `v` in a concatenation along channels whose result has parts of that
 * size; 0: one part of whole blocks. Returns false if v cannot have such an order. */
static bool layout_join_each(const wick_layouts *s, wick_value v, int64_t part, wick_order *o)
{
  int64_t channels = wick_layout_info(s, v)->dim[1].v;
  if (channels % (part ? part : s->block)) return false;
  *o = wick_order_make(channels, part ? channels / part : 1, s->block, false);
  return true;
}

/* Returns the number of channels that must be moved so that all operands have parts of that size;
 * -1: it is impossible. */
static int64_t layout_join_cost(const wick_layouts *s, const wick_node *n, int64_t part)
{
  int64_t cost = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_order each;
    const wick_order *own = wick_layout_order(s, n->in[k]);
    if (!layout_join_each(s, n->in[k], part, &each)) return -1;
    if (!own || !wick_order_eq(own, &each)) cost += each.channels * (own ? 2 : 1);
  }
  return cost;
}

/* Chooses how the operands of a concatenation along channels follow each other: in whole blocks, or
 * in parts of a size that one of them has. The choice moves the fewest channels. *part: that size,
 * or 0. */
static bool layout_join_channels(const wick_layouts *s, const wick_node *n, int64_t *part)
{
  int64_t best = layout_join_cost(s, n, 0);
  *part = 0;
  for (uint32_t k = 0; k < n->nin; k++) {
    const wick_order *own = wick_layout_order(s, n->in[k]);
    int64_t cost = own ? layout_join_cost(s, n, wick_order_part(own)) : -1;
    bool larger = own && wick_order_part(own) > *part && *part;
    if (cost < 0 || (best >= 0 && (cost > best || (cost == best && !larger)))) continue;
    best = cost, *part = wick_order_part(own);
  }
  return best >= 0;
}

/* Returns true if v is 0 everywhere, which exists in every layout. */
static bool layout_join_zeros(const wick_layouts *s, wick_value v)
{
  uint32_t d = s->definer[v.id];
  const wick_node *n = d == UINT32_MAX ? NULL : &s->c.f->node[d];
  if (!n || n->op != WICK_OP_const) return false;
  const wick_imm *imm = &n->attr[WICK_ATTR_const_value].imm;
  if (!imm->constant) return imm->i == 0 && imm->f == 0 && !signbit(imm->f);
  const wick_constant *k = wick_layout_constant(s, v);
  const char *byte = k ? k->data : NULL;
  return byte && !byte[0] && (k->nbytes == 1 || !memcmp(byte, byte + 1, k->nbytes - 1));
}

/* Returns v in that order. */
static wick_value layout_join_pack(wick_layouts *s, wick_value v, const wick_order *o)
{
  wick_builder *b = &s->c.b;
  wick_value x = wick_layout_pack(s, v, o);
  if (b->status || !layout_join_zeros(s, v)) return x;
  return wick_build_const(b, wick_built_type(b, x), 0, 0);
}

bool wick_layout_join(wick_layouts *s, const wick_node *n)
{
  bool any = false, channels = n->attr[WICK_ATTR_concat_axis].i == 1;
  int64_t part = 0, packed = 0; /* elements along the axis, those of packed operands less others */
  wick_order o = {0};
  if (!wick_layout_is_image(s, n->first) || !n->attr[WICK_ATTR_concat_axis].i ||
      (channels && n->op != WICK_OP_concat))
    return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    if (s->packed[n->in[k].id].columns) return false;
    const wick_order *own = wick_layout_order(s, n->in[k]);
    wick_dim size = wick_layout_info(s, n->in[k])->dim[n->attr[WICK_ATTR_concat_axis].i];
    int64_t along = wick_dim_typical(s->c.f->module->dims, size);
    if (!layout_join_zeros(s, n->in[k])) packed += own ? along : -along;
    if (own && !any) o = *own;
    any = any || own;
  }
  if (!any || (channels && !layout_join_channels(s, n, &part))) return false;
  if (!channels && packed <= 0) return false; /* it is cheaper to unpack the packed ones */
  wick_value *in = wick_new(s->mem, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_order each = o;
    if (channels) layout_join_each(s, n->in[k], part, &each);
    in[k] = layout_join_pack(s, n->in[k], &each);
  }
  if (channels) {
    int64_t all = wick_layout_info(s, n->first)->dim[1].v;
    o = wick_order_make(all, part ? all / part : 1, s->block, false);
  }
  wick_layout_set(s, n, wick_build(&s->c.b, n->op, n->nin, in, n->attr, 0, NULL), &o);
  return true;
}

/* ---- pools ---- */

/* Extends a list attribute, which has a number per spatial dimension, by one dimension with the
 * value `more`. If `halves` is 2, the list has begins, then ends. */
static wick_attr layout_longer(wick_layouts *s, wick_attr a, uint32_t halves, int64_t more)
{
  if (!a.n) return a;
  uint32_t half = a.n / halves;
  int64_t *ints = wick_new(s->mem, int64_t, a.n + halves);
  for (uint32_t h = 0; h < halves; h++) {
    memcpy(ints + h * (half + 1), a.ints + h * half, half * sizeof *ints);
    ints[h * (half + 1) + half] = more;
  }
  return (wick_attr){.n = a.n + halves, .ints = ints};
}

bool wick_layout_pool(wick_layouts *s, const wick_node *n)
{
  /* a plain image stays plain: packing it costs more than its windows; windows have at most three
   * axes, and the block is one of them */
  if (n->nout != 1 || !wick_layout_is_image(s, n->in[0]) || !wick_layout_order(s, n->in[0]) ||
      wick_layout_info(s, n->in[0])->rank > 1 + WICK_WINDOW_MAX)
    return false;
  wick_attr a[WICK_MAX_ATTR];
  memcpy(a, n->attr, n->nattr * sizeof *a);
  a[0] = layout_longer(s, a[0], 1, 1);
  a[1] = layout_longer(s, a[1], 2, 0);
  a[2] = layout_longer(s, a[2], 1, 1);
  a[3] = layout_longer(s, a[3], 1, 1);
  wick_order o;
  wick_value x = wick_layout_packed(s, n->in[0], &o);
  wick_layout_set(s, n, wick_build(&s->c.b, n->op, 1, &x, a, 0, NULL), &o);
  return true;
}

/* ---- reductions ---- */

/* Reductions of whole images: all channels are reduced, too, so that their order does not matter. The
 * result is plain. */
static bool layout_reduce_all(wick_layouts *s, const wick_node *n, const wick_order *o)
{
  const wick_attr *axes = &n->attr[WICK_ATTR_reduce_sum_axes];
  const wick_type_info *x = wick_layout_info(s, n->in[0]), *y = wick_layout_info(s, n->first);
  int64_t all[WICK_MAX_RANK + 1];
  uint64_t set = 0;
  for (uint32_t k = 0; k < axes->n; k++) {
    all[k] = axes->ints[k] + (axes->ints[k] < 0 ? x->rank : 0);
    set |= (uint64_t)1 << all[k];
  }
  all[axes->n] = x->rank; /* the block */
  if ((set | 1) != ((uint64_t)1 << x->rank) - 1 || wick_order_places(o) != o->channels ||
      s->c.to[n->in[0].id].id)
    return false;
  wick_attr a[] = {[WICK_ATTR_reduce_sum_axes] = {.n = axes->n + 1, .ints = all},
                   [WICK_ATTR_reduce_sum_keepdims] = {.i = false}};
  wick_builder *b = &s->c.b;
  s->c.to[n->first.id] = wick_build_reshape(
      b, wick_build(b, n->op, 1, &s->packed[n->in[0].id].v, a, 0, NULL), y->rank, y->dim);
  return true;
}

bool wick_layout_reduce(wick_layouts *s, const wick_node *n)
{
  static const int64_t places[WICK_WINDOW_MAX] = {2, 3, 4};
  const wick_order *o = wick_layout_order(s, n->in[0]);
  if (!o || !wick_layout_is_image(s, n->in[0])) return false;
  if (layout_reduce_all(s, n, o)) return true;
  if (!wick_layout_is_image(s, n->first)) return false;
  uint32_t rank = wick_layout_info(s, n->in[0])->rank;
  wick_attr a[] = {[WICK_ATTR_reduce_sum_axes] = {.n = rank - 2, .ints = places},
                   [WICK_ATTR_reduce_sum_keepdims] = n->attr[WICK_ATTR_reduce_sum_keepdims]};
  if (n->attr[WICK_ATTR_reduce_sum_axes].n != rank - 2) return false;
  for (uint32_t k = 0; k + 2 < rank; k++) {
    int64_t axis = n->attr[WICK_ATTR_reduce_sum_axes].ints[k];
    if ((axis < 0 ? axis + rank : axis) < 2) return false;
  }
  bool sums = n->op == WICK_OP_reduce_mean || n->op == WICK_OP_reduce_sum;
  if (wick_order_places(o) != o->channels && !sums) return false;
  wick_value y = wick_build(&s->c.b, n->op, 1, &s->packed[n->in[0].id].v, a, 0, NULL);
  wick_layout_set(s, n, y, o);
  return true;
}

/* ---- shuffles ---- */

/* Shuffles channels without moving data: if the parts are the shuffle's groups, the same memory has
 * another order. */
bool wick_layout_shuffle(wick_layouts *s, const wick_node *n)
{
  const wick_order *own = wick_layout_order(s, n->in[0]);
  int64_t groups = n->attr[WICK_ATTR_channel_shuffle_groups].i;
  if (!own || n->attr[WICK_ATTR_channel_shuffle_axis].i != 1 || own->shuffled) return false;
  wick_order o = wick_order_make(own->channels, groups, s->block, false);
  if (!wick_order_eq(&o, own)) return false;
  o.parts = groups, o.shuffled = true;
  wick_layout_set(s, n, s->packed[n->in[0].id].v, &o);
  return true;
}
