/* Fuses channel shuffles: the last of the three nodes is replaced; the others are then dead. */
#include "graph/fuse_channel_shuffle.h"

#include "ir/rewrite.h"

/* The first dimension that the inner reshape splits becomes the shuffle's axis. */
static wick_value fuse_channel_shuffle_build(wick_rewriter *r)
{
  wick_node turn;
  wick_rewrite_def(r, wick_rewrite_var(r, 't'), WICK_OP_transpose, &turn);
  wick_value v = wick_rewrite_var(r, 'x');
  const wick_type_info *x = wick_rewrite_info(r, v), *split = wick_rewrite_info(r, turn.in[0]);
  const wick_attr *perm = &turn.attr[WICK_ATTR_transpose_perm];
  uint32_t c = 0;
  if (split->rank != x->rank + 1u || perm->n != split->rank) return (wick_value){0};
  while (c < x->rank && wick_dim_eq(x->dim[c], split->dim[c])) c++;
  if (c == x->rank || !wick_dim_is_const(x->dim[c]) || !wick_dim_is_const(split->dim[c]) ||
      !wick_dim_is_const(split->dim[c + 1]))
    return (wick_value){0};
  int64_t groups = split->dim[c].v;
  bool is = groups >= 1 && groups * split->dim[c + 1].v == x->dim[c].v;
  for (uint32_t i = c + 1; i < x->rank; i++) is = is && wick_dim_eq(x->dim[i], split->dim[i + 1]);
  for (uint32_t i = 0; i < split->rank; i++)
    is = is && perm->ints[i] == (i == c ? c + 1 : i == c + 1 ? c : i);
  wick_attr a[] = {[WICK_ATTR_channel_shuffle_axis] = {.i = c},
                   [WICK_ATTR_channel_shuffle_groups] = {.i = groups}};
  return is ? wick_build(&r->c.b, WICK_OP_channel_shuffle, 1, &v, a, 0, NULL) : (wick_value){0};
}

static const wick_rewrite fuse_channel_shuffle_rules[] = {
    {"reshape(t=transpose!(reshape!(x)))", NULL, NULL, fuse_channel_shuffle_build},
    {NULL, NULL, NULL, NULL},
};

wick_status wick_pass_fuse_channel_shuffle(const wick_pass_context *pass, const wick_func *f,
                                           wick_func **out)
{
  return wick_rewrite_pass(fuse_channel_shuffle_rules, f, pass->mem, out);
}
