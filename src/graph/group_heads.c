/* Groups heads by one rule: the copies are found in the types of the operators that made them. */
#include "graph/group_heads.h"

#include <string.h>

#include "ir/rewrite.h"

/* Returns true if `copied`, of rank `rank` + 1, is `one` with its dimension `rank` - 2 copied, and
 * if these two dimensions are one in `joined`. */
static bool group_heads_is_copied(wick_rewriter *r, const wick_type_info *joined,
                                  const wick_type_info *copied, const wick_type_info *one)
{
  uint32_t rank = joined->rank, g = rank - 2;
  if (rank < 3 || copied->rank != rank + 1 || one->rank != rank + 1) return false;
  for (uint32_t i = 0; i <= rank; i++)
    if (!(i == g ? wick_dim_is(one->dim[i], 1) : wick_dim_eq(one->dim[i], copied->dim[i])))
      return false;
  for (uint32_t i = 0; i < rank; i++) {
    wick_dim d = copied->dim[i < g ? i : i + 1];
    if (i == g - 1) d = wick_dim_mul(r->c.f->module->dims, d, copied->dim[g]);
    if (!wick_dim_eq(joined->dim[i], d)) return false;
  }
  return true;
}

/* Finds the matrices of which v has copies: [.., h, 1, a, b]; *g: how many. Returns 0 if there are
 * none. */
static wick_value group_heads_source(wick_rewriter *r, wick_value v, wick_dim *g)
{
  wick_node joined, copied;
  if (!wick_rewrite_def(r, v, WICK_OP_reshape, &joined) ||
      (!wick_rewrite_def(r, joined.in[0], WICK_OP_broadcast_to, &copied) &&
       !wick_rewrite_def(r, joined.in[0], WICK_OP_tile, &copied)) ||
      !group_heads_is_copied(r, wick_rewrite_info(r, v), wick_rewrite_info(r, joined.in[0]),
                             wick_rewrite_info(r, copied.in[0])))
    return (wick_value){0};
  *g = wick_rewrite_info(r, joined.in[0])->dim[wick_rewrite_info(r, v)->rank - 2];
  return copied.in[0];
}

static bool group_heads_swaps(const wick_node *n, uint32_t rank)
{
  const wick_attr *perm = &n->attr[WICK_ATTR_transpose_perm];
  bool swaps = perm->n == rank;
  for (uint32_t i = 0; swaps && i < rank; i++)
    swaps = perm->ints[i] == (i + 2 < rank ? i : 2 * rank - 3 - i);
  return swaps;
}

static wick_value group_heads_build(wick_rewriter *r)
{
  wick_builder *b = &r->c.b;
  wick_value x = wick_rewrite_var(r, 'x'), y = wick_rewrite_var(r, 'y');
  const wick_type_info tx = *wick_rewrite_info(r, x), ty = *wick_rewrite_info(r, y),
                       *to = wick_type_get(b->module, wick_rewrite_type(r));
  wick_dim dim[WICK_MAX_RANK], g;
  wick_node turned;
  uint32_t rank = ty.rank;
  bool swapped =
      wick_rewrite_def(r, y, WICK_OP_transpose, &turned) && group_heads_swaps(&turned, rank);
  wick_value one = group_heads_source(r, swapped ? turned.in[0] : y, &g);
  if (!one.id || tx.rank != rank) return (wick_value){0};
  for (uint32_t i = 0; i + 2 < rank; i++)
    if (!wick_dim_eq(tx.dim[i], ty.dim[i])) return (wick_value){0};
  const wick_type_info *t = wick_rewrite_info(r, one);
  memcpy(dim, t->dim, (rank - 2) * sizeof *dim);
  dim[rank - 2] = t->dim[rank - 1], dim[rank - 1] = t->dim[rank];
  one = wick_build_reshape(b, one, rank, dim);
  if (swapped) one = wick_build_swap(b, one);
  dim[rank - 2] = wick_dim_mul(b->module->dims, g, tx.dim[rank - 2]);
  dim[rank - 1] = tx.dim[rank - 1];
  wick_value rows = wick_build_reshape(b, x, rank, dim);
  return wick_build_reshape(b, wick_build2(b, WICK_OP_matmul, rows, one), to->rank, to->dim);
}

static const wick_rewrite group_heads_rules[] = {
    {"matmul(x, y)", NULL, NULL, group_heads_build},
    {NULL, NULL, NULL, NULL},
};

wick_status wick_pass_group_heads(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  return wick_rewrite_pass(group_heads_rules, f, pass->mem, out);
}
