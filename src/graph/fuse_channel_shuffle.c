/* The last of the three nodes is replaced; the others are then dead. */
#include "graph/fuse_channel_shuffle.h"

#include "graph/match.h"
#include "ir/copy.h"

/* The axis C of a shuffle that ends at `last`, and the number of groups; 0 if it is no shuffle. */
static int64_t fuse_channel_shuffle_groups(const wick_match *k, const wick_node *last,
                                           uint32_t *axis)
{
  const wick_node *turn = wick_match_op(k, last->in[0], WICK_OP_transpose),
                  *first = turn ? wick_match_op(k, turn->in[0], WICK_OP_reshape) : NULL;
  if (!first || !wick_match_user(k, turn->first) || !wick_match_user(k, first->first)) return 0;
  const wick_type_info *x = wick_info_of(k->f, first->in[0]),
                       *split = wick_info_of(k->f, first->first);
  if (!wick_type_eq(wick_type_of(k->f, first->in[0]), wick_type_of(k->f, last->first)) ||
      split->rank != x->rank + 1u || turn->attr[WICK_ATTR_transpose_perm].n != split->rank)
    return 0;
  uint32_t c = 0; /* the first dimension that is split */
  while (c < x->rank && wick_dim_eq(x->dim[c], split->dim[c])) c++;
  if (c == x->rank || !wick_dim_is_const(x->dim[c]) || !wick_dim_is_const(split->dim[c]) ||
      !wick_dim_is_const(split->dim[c + 1]))
    return 0;
  int64_t groups = split->dim[c].v;
  if (groups < 1 || groups * split->dim[c + 1].v != x->dim[c].v) return 0;
  for (uint32_t i = c + 1; i < x->rank; i++)
    if (!wick_dim_eq(x->dim[i], split->dim[i + 1])) return 0;
  for (uint32_t i = 0; i < split->rank; i++) {
    int64_t want = i == c ? c + 1 : i == c + 1 ? c : i;
    if (turn->attr[WICK_ATTR_transpose_perm].ints[i] != want) return 0;
  }
  *axis = c;
  return groups;
}

wick_status wick_pass_fuse_channel_shuffle(const wick_pass_context *pass, const wick_func *f,
                                           wick_func **out)
{
  wick_arena *mem = pass->mem;
  wick_match k = wick_match_begin(f, mem);
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    uint32_t axis;
    int64_t groups = n->op == WICK_OP_reshape ? fuse_channel_shuffle_groups(&k, n, &axis) : 0;
    if (!groups) {
      wick_copy_node(&c, n);
      continue;
    }
    const wick_node *first = wick_match_node(&k, wick_match_node(&k, n->in[0])->in[0]);
    wick_attr a[] = {[WICK_ATTR_channel_shuffle_axis] = {.i = axis},
                     [WICK_ATTR_channel_shuffle_groups] = {.i = groups}};
    c.b.loc = n->loc;
    wick_value y = wick_build(&c.b, WICK_OP_channel_shuffle, 1, &c.to[first->in[0].id], a, 0, NULL);
    c.to[n->first.id] = y;
    if (y.id) wick_build_name(&c.b, y, f->value[n->first.id].name, f->value[n->first.id].relation);
  }
  return wick_copy_finish(&c, out);
}
