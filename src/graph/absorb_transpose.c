/* One rule. The rows of the constant are split into the dimensions that the transposition has put
 * there, and put back into the order of its operand. */
#include "graph/absorb_transpose.h"

#include "ir/rewrite.h"

/* Finds the first of the last dimensions of t, a transposition's result, whose product is k, so that
 * those before it stay in their order; t's rank if there is none. */
static uint32_t absorb_first(const wick_type_info *t, const int64_t *perm, int64_t k)
{
  int64_t n = 1;
  uint32_t d = t->rank, same = 0;
  while (same < t->rank && perm[same] == same) same++;
  while (d > 0 && (n != k || d > same)) {
    wick_dim size = t->dim[--d];
    if (!wick_dim_is_const(size) || !size.v || k % (n * size.v)) return t->rank;
    n *= size.v;
  }
  return n == k && d <= same ? d : t->rank;
}

static wick_value absorb_build(wick_rewriter *r)
{
  wick_value none = {0}, x = wick_rewrite_var(r, 'x'), w = wick_rewrite_var(r, 'w');
  wick_builder *b = &r->c.b;
  wick_node constant, turn;
  const wick_type_info *wt = wick_rewrite_info(r, w), *a = wick_rewrite_info(r, r->in[0]);
  if (!wick_rewrite_def(r, w, WICK_OP_const, &constant) || wt->rank != 2 || a->rank < 2 ||
      a->rank > wick_rewrite_info(r, x)->rank || !wick_dim_is_const(wt->dim[0]) ||
      !wick_dim_is_const(wt->dim[1]))
    return none;
  wick_rewrite_def(r, wick_rewrite_var(r, 't'), WICK_OP_transpose, &turn);
  const wick_type_info *t = wick_rewrite_info(r, wick_rewrite_var(r, 't'));
  uint32_t rank = t->rank, narrow = a->rank;
  const wick_attr *p = &turn.attr[WICK_ATTR_transpose_perm];
  int64_t perm[WICK_MAX_RANK], back[WICK_MAX_RANK];
  for (uint32_t k = 0; k < rank; k++) perm[k] = p->n ? p->ints[k] : rank - 1 - (int64_t)k;
  uint32_t first = absorb_first(t, perm, wt->dim[0].v), n = rank - first;
  wick_dim dim[WICK_MAX_RANK], shape[WICK_MAX_RANK], rows[2] = {wt->dim[0], wt->dim[1]};
  if (first == rank || n + 1 > WICK_MAX_RANK) return none;
  for (uint32_t k = 0; k < narrow; k++) shape[k] = a->dim[k];
  for (uint32_t k = first; k < rank; k++) {
    dim[k - first] = t->dim[k];
    back[perm[k] - first] = k - first;
  }
  dim[n] = rows[1], back[n] = n;
  w = wick_build_reshape(b, w, n + 1, dim);
  w = wick_build_transpose(b, w, n + 1, back);
  w = wick_build_reshape(b, w, 2, rows);
  x = wick_build_reshape(b, x, narrow, shape);
  return wick_build2(b, WICK_OP_matmul, x, w);
}

static const wick_rewrite absorb_rules[] = {
    {"matmul(reshape!(t=transpose!(x)), w)", NULL, NULL, absorb_build}, {NULL, NULL, NULL, NULL}};

wick_status wick_pass_absorb_transpose(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  return wick_rewrite_pass(absorb_rules, f, pass->mem, out);
}
