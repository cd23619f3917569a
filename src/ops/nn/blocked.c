/* Blocked layouts: channels are split into blocks, and the block is the innermost dimension, so
 * that one vector holds the channels of one position.
 *
 * A packed tensor is a tensor of higher rank: `pack` splits an axis into blocks and puts the
 * position within a block last (pack.c). */
#include "ops/nn/blocked.h"

#include "ir/op.h"

/* ---- orders ---- */

wick_order wick_order_make(int64_t channels, int64_t parts, int64_t block, bool shuffled)
{
  bool one = parts == 1 || (!shuffled && channels / parts % block == 0);
  return (wick_order){channels, one ? 1 : parts, block, shuffled && !one};
}

int64_t wick_order_place(const wick_order *o, int64_t channel)
{
  int64_t part = o->shuffled ? channel % o->parts : channel / wick_order_part(o),
          at = o->shuffled ? channel / o->parts : channel % wick_order_part(o);
  return part * wick_order_width(o) + at;
}

int64_t wick_order_channel(const wick_order *o, int64_t place)
{
  int64_t part = place / wick_order_width(o), at = place % wick_order_width(o);
  if (at >= wick_order_part(o)) return -1;
  return o->shuffled ? at * o->parts + part : part * wick_order_part(o) + at;
}

bool wick_runs_of(const wick_order *o, int64_t group, wick_runs *out)
{
  int64_t part = wick_order_part(o), share = o->channels / group;
  *out = (wick_runs){.order = *o, .group = group, .n = 1, .length = share};
  if (group == 1 && part % o->block == 0)
    out->n = wick_order_places(o) / o->block, out->length = o->block;
  else if (o->shuffled)
    out->n = o->parts, out->length = (share - 1) / o->parts + 1;
  else if (o->parts == 1 && share % o->block == 0)
    out->n = share / o->block, out->length = o->block;
  else if (o->parts > 1 && share % part == 0)
    out->n = share / part, out->length = part;
  else
    return o->parts == 1 || part % share == 0;
  return true;
}

bool wick_runs_of_blocks(const wick_order *o, int64_t group, wick_runs *out)
{
  int64_t part = wick_order_part(o), share = o->channels / group;
  *out = (wick_runs){.order = *o, .group = group, .length = o->block, .blocks = true};
  out->n = wick_order_places(o) / o->block / group;
  return group == 1 || (!o->shuffled && (o->parts == 1 ? share % o->block : share % part) == 0);
}

bool wick_runs_whole(wick_dims *t, const wick_runs *r, int64_t k)
{
  bool whole = r->order.block % k == 0 && (r->group == 1 || r->length % k == 0);
  for (int64_t g = 0; whole && g < r->group; g++)
    for (int64_t q = 0; whole && q < r->n; q++)
      whole = wick_runs_first(t, r, wick_dim_const(g), wick_dim_const(q)).v % k == 0;
  return whole;
}

wick_dim wick_runs_first(wick_dims *t, const wick_runs *r, wick_dim group, wick_dim run)
{
  const wick_order *o = &r->order;
  if (r->blocks) {
    wick_dim at = wick_dim_add(t, wick_dim_mul(t, group, wick_dim_const(r->n)), run);
    return wick_dim_mul(t, at, wick_dim_const(r->length));
  }
  int64_t part = wick_order_part(o), share = o->channels / r->group;
  wick_dim width = wick_dim_const(wick_order_width(o));
  if (r->group == 1)
    return wick_dim_mul(t, run, r->length == part ? width : wick_dim_const(r->length));
  wick_dim first = wick_dim_mul(t, group, wick_dim_const(share)); /* the group's first channel */
  if (o->shuffled) { /* the first channel, from there on, in part `run` */
    first = wick_dim_sub(t, wick_dim_add(t, first, wick_dim_const(o->parts - 1)), run);
    return wick_dim_add(t, wick_dim_mul(t, run, width),
                        wick_dim_floordiv(t, first, wick_dim_const(o->parts)));
  }
  if (o->parts == 1) return wick_dim_add(t, first, wick_dim_mul(t, run, wick_dim_const(r->length)));
  if (share % part == 0)
    return wick_dim_mul(t, wick_dim_add(t, wick_dim_mul(t, group, wick_dim_const(r->n)), run),
                        width);
  wick_dim of_part = wick_dim_const(part / share);
  return wick_dim_add(t, wick_dim_mul(t, wick_dim_floordiv(t, group, of_part), width),
                      wick_dim_mul(t, wick_dim_mod(t, group, of_part), wick_dim_const(share)));
}

/* ---- builders and types ---- */

/* Exchanges two neighbouring axes. */
static wick_value blocked_swap(wick_builder *b, wick_value x, int64_t axis)
{
  uint32_t rank = wick_built_info(b, x)->rank;
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) perm[k] = k;
  perm[axis] = axis + 1, perm[axis + 1] = axis;
  return wick_build_transpose(b, x, rank, perm);
}

/* Returns a view of x in which the dimensions [axis, axis + gone) are these. */
static wick_value blocked_view(wick_builder *b, wick_value x, int64_t axis, uint32_t gone,
                               uint32_t n, const int64_t *extent)
{
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t k = 0; k < (uint32_t)axis; k++) dim[rank++] = t->dim[k];
  for (uint32_t k = 0; k < n; k++) dim[rank++] = wick_dim_const(extent[k]);
  for (uint32_t k = (uint32_t)axis + gone; k < t->rank; k++) dim[rank++] = t->dim[k];
  return wick_build_reshape(b, x, rank, dim);
}

wick_value wick_build_pack(wick_builder *b, wick_value x, int64_t axis, const wick_order *o)
{
  bool split = o->parts > 1;
  int64_t parts[2] = {o->parts, wick_order_part(o)}, blocks = wick_order_places(o) / o->block;
  if (o->shuffled) parts[0] = wick_order_part(o), parts[1] = o->parts;
  if (split) x = blocked_view(b, x, axis, 1, 2, parts);
  if (o->shuffled) x = blocked_swap(b, x, axis);
  wick_attr a[2] = {{.i = axis + split}, {.i = o->block}};
  x = wick_build(b, WICK_OP_pack, 1, &x, a, 0, NULL);
  return split ? blocked_view(b, x, axis, 2, 1, &blocks) : x;
}

wick_value wick_build_unpack(wick_builder *b, wick_value x, int64_t axis, const wick_order *o)
{
  bool split = o->parts > 1;
  int64_t blocks[2] = {o->parts, wick_order_width(o) / o->block};
  if (split) x = blocked_view(b, x, axis, 1, 2, blocks);
  wick_dim extent = wick_dim_const(split ? wick_order_part(o) : o->channels);
  wick_attr a[2] = {{.i = axis + split}, {.n = 1, .dims = &extent}};
  x = wick_build(b, WICK_OP_unpack, 1, &x, a, 0, NULL);
  if (o->shuffled) x = blocked_swap(b, x, axis);
  return split ? blocked_view(b, x, axis, 2, 1, &o->channels) : x;
}

wick_elem wick_packed_sum(wick_elem e)
{
  return wick_elem_is_float(e) ? wick_elem_storage[e].arith : WICK_I32;
}

bool wick_packed_elems(wick_elem x, wick_elem w)
{
  if (x == WICK_F32 && (w == WICK_F16 || w == WICK_BF16)) return true;
  if (wick_elem_is_float(x)) return w == x || w == wick_packed_sum(x);
  return wick_elem_is_int(w) && wick_elem_storage[w].bits <= 32;
}
