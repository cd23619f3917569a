/* Rows that look at places or put channels elsewhere, on packed images: joins, pools, reductions
 * over whole images, channel shuffles. */
#include <string.h>

#include "ops/layout.h"

/* ---- joins ---- */

/* Along channels: whole blocks one behind another, or parts of one size. */
static bool layout_join_channels(const wick_layouts *s, const wick_node *n, wick_order *o)
{
  int64_t total = 0, parts = 0, part = 0;
  bool whole = true, same = true;
  for (uint32_t k = 0; k < n->nin; k++) {
    const wick_order *own = wick_layout_order(s, n->in[k]);
    int64_t channels = wick_layout_info(s, n->in[k])->dim[1].v;
    whole = whole && channels % s->block == 0;
    same = same && own && !own->shuffled && (!k || wick_order_part(own) == part);
    if (own) part = wick_order_part(own), parts += own->parts;
    total += channels;
  }
  if (!whole && !same) return false;
  *o = wick_order_make(total, whole ? 1 : parts, s->block, false);
  return true;
}

bool wick_layout_join(wick_layouts *s, const wick_node *n)
{
  bool any = false, channels = n->attr[0].i == 1;
  wick_order o = {0};
  if (!wick_layout_is_image(s, n->first) || !n->attr[0].i || (channels && n->op != WICK_OP_concat))
    return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    if (s->packed[n->in[k].id].columns) return false;
    const wick_order *own = wick_layout_order(s, n->in[k]);
    if (own && !any) o = *own;
    any = any || own;
  }
  if (!any || (channels && !layout_join_channels(s, n, &o))) return false;
  wick_value *in = wick_new(s->mem, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_order each = o;
    if (channels) {
      int64_t own = wick_layout_info(s, n->in[k])->dim[1].v;
      each = wick_order_make(own, own / wick_order_part(&o) ? own / wick_order_part(&o) : 1,
                             s->block, false);
    }
    in[k] = wick_layout_pack(s, n->in[k], &each);
  }
  wick_layout_set(s, n, wick_build(&s->c.b, n->op, n->nin, in, n->attr, 0, NULL), &o);
  return true;
}

/* ---- pools ---- */

/* A list of an attribute per spatial dimension, begins then ends where `halves` is 2, with a
 * dimension more of value `more`. */
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
  if (n->nout != 1 || !wick_layout_is_image(s, n->in[0]) || !wick_layout_order(s, n->in[0]))
    return false;
  wick_attr a[WICK_MAX_ATTR];
  memcpy(a, n->attr, n->nattr * sizeof *a);
  a[0] = layout_longer(s, a[0], 1, 1);
  a[1] = layout_longer(s, a[1], 2, 0);
  a[2] = layout_longer(s, a[2], 1, 1);
  a[3] = layout_longer(s, a[3], 1, 1);
  const wick_packed *x = &s->packed[n->in[0].id];
  wick_layout_set(s, n, wick_build(&s->c.b, n->op, 1, &x->v, a, 0, NULL), &x->order);
  return true;
}

/* ---- reductions ---- */

bool wick_layout_reduce(wick_layouts *s, const wick_node *n)
{
  static const int64_t places[2] = {2, 3};
  const wick_order *o = wick_layout_order(s, n->in[0]);
  wick_attr a[2] = {{.n = 2, .ints = places}, n->attr[1]};
  if (!o || !wick_layout_is_image(s, n->in[0]) || !wick_layout_is_image(s, n->first)) return false;
  if (n->attr[0].n != 2) return false;
  for (uint32_t k = 0; k < 2; k++) {
    int64_t axis = n->attr[0].ints[k];
    if ((axis < 0 ? axis + 4 : axis) < 2) return false;
  }
  bool sums = n->op == WICK_OP_reduce_mean || n->op == WICK_OP_reduce_sum;
  if (wick_order_places(o) != o->channels && !sums) return false;
  wick_value y = wick_build(&s->c.b, n->op, 1, &s->packed[n->in[0].id].v, a, 0, NULL);
  wick_layout_set(s, n, y, o);
  return true;
}

/* ---- shuffles ---- */

/* Parts that are the shuffle's groups: the same memory, in another order. */
bool wick_layout_shuffle(wick_layouts *s, const wick_node *n)
{
  const wick_order *own = wick_layout_order(s, n->in[0]);
  int64_t groups = n->attr[1].i;
  if (!own || n->attr[0].i != 1 || own->shuffled) return false;
  wick_order o = wick_order_make(own->channels, groups, s->block, false);
  if (!wick_order_eq(&o, own)) return false;
  o.parts = groups, o.shuffled = true;
  wick_layout_set(s, n, s->packed[n->in[0].id].v, &o);
  return true;
}
