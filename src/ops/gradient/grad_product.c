/* Derivatives of matrix products and of operators that consist of them. Each derivative is a matrix
 * product. */
#include "ir/expr.h"
#include "ops/gradient/grad.h"

static wick_value product(wick_builder *b, wick_value x, wick_value y)
{
  return wick_build2(b, WICK_OP_matmul, x, y);
}

/* Merges `n` dimensions of x, from `first` on, into one. */
static wick_value product_merge(wick_builder *b, wick_value x, uint32_t first, uint32_t n)
{
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim dim[WICK_MAX_RANK], all = wick_dim_const(1);
  uint32_t at = 0;
  for (uint32_t k = 0; k < t->rank; k++) {
    if (k >= first && k < first + n) all = wick_dim_mul(b->module->dims, all, t->dim[k]);
    if (k + 1 == first + n) dim[at++] = all;
    if (k < first || k >= first + n) dim[at++] = t->dim[k];
  }
  return wick_grad_reshape(b, x, at, dim);
}

/* Builds the derivative with respect to y. If all matrices of x share one y, they are merged into
 * one matrix, so that no sum is needed later. */
static wick_value product_right(wick_builder *b, wick_value x, wick_value y, wick_value g)
{
  if (b->status) return g;
  uint32_t rank = wick_built_info(b, x)->rank;
  if (rank > 2 && wick_built_info(b, y)->rank == 2) {
    x = product_merge(b, x, 0, rank - 1);
    g = product_merge(b, g, 0, rank - 1);
  }
  return wick_grad_to(b, product(b, wick_build_swap(b, x), g), y);
}

void wick_grad_matmul(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  const wick_type_info *tx = wick_built_info(b, a->in[0]), *ty = wick_built_info(b, a->in[1]),
                       *t = wick_built_info(b, a->out[0]);
  bool row = tx->rank == 1, column = ty->rank == 1;
  wick_dim dim[WICK_MAX_RANK + 2], one = wick_dim_const(1), rows[2] = {one, tx->dim[0]},
                                   columns[2] = {ty->dim[0], one};
  uint32_t nbatch = (uint32_t)t->rank - !row - !column, n = 0;
  for (; n < nbatch; n++) dim[n] = t->dim[n];
  dim[n++] = row ? one : t->dim[nbatch];
  dim[n++] = column ? one : t->dim[t->rank - 1u];
  wick_value x = row ? wick_grad_reshape(b, a->in[0], 2, rows) : a->in[0],
             y = column ? wick_grad_reshape(b, a->in[1], 2, columns) : a->in[1],
             g = wick_grad_reshape(b, a->dout[0], n, dim);
  /* The cotangent of a vector is a product with the matrix as it is, not with its transpose. */
  if (a->wanted[0] && row && ty->rank == 2) {
    a->din[0] = product(b, y, a->dout[0]);
  } else if (a->wanted[0]) {
    wick_value dx = wick_grad_to(b, product(b, g, wick_build_swap(b, y)), x);
    a->din[0] = wick_grad_shape_of(b, dx, a->in[0]);
  }
  if (a->wanted[1] && column && tx->rank == 2) {
    a->din[1] = product(b, a->dout[0], x);
  } else if (a->wanted[1]) {
    wick_value dy = product_right(b, x, y, g);
    a->din[1] = wick_grad_shape_of(b, dy, a->in[1]);
  }
}

/* Builds x [.., K] times w [NB, K, v] as a product with a matrix [K, NB * v], of which the first columns
 * may be all that count. */
static void product_unpacked(wick_builder *b, const wick_node *n, const wick_value *in,
                             wick_value *out)
{
  if (b->status) return;
  static const int64_t perm[3] = {1, 0, 2};
  const wick_type_info *x = wick_built_info(b, in[0]), *w = wick_built_info(b, in[1]);
  wick_dim dim[WICK_MAX_RANK + 1];
  for (uint32_t k = 0; k + 1 < x->rank; k++) dim[k] = x->dim[k];
  dim[x->rank - 1] = w->dim[0], dim[x->rank] = w->dim[2];
  wick_value matrix = product_merge(b, wick_grad_transpose(b, in[1], 3, perm), 1, 2);
  wick_dim columns = wick_dim_const(n->attr[WICK_ATTR_matmul_packed_columns].i);
  if (columns.v)
    out[0] = product(b, in[0], wick_build_slice_axis(b, matrix, 1, wick_dim_const(0), columns, 1));
  else
    out[0] = wick_grad_reshape(b, product(b, in[0], matrix), x->rank + 1u, dim);
}

/* Operands for dot products of several neighbours come from layouts, and are not differentiated. */
void wick_grad_matmul_packed(wick_adjoint *a)
{
  const wick_type_info *w = wick_built_info(a->b, a->in[1]), *x = wick_built_info(a->b, a->in[0]);
  bool plain = w->rank == 3 && w->elem == x->elem && wick_elem_storage[x->elem].arith == x->elem;
  if (plain)
    wick_grad_through(a, product_unpacked);
  else
    wick_grad_none(a);
}

/* ---- attention ---- */

static void product_attention(wick_builder *b, const wick_node *n, const wick_value *in,
                              wick_value *out)
{
  if (b->status) return;
  wick_value s = product(b, in[0], wick_build_swap(b, in[1]));
  if (b->status) return;
  if (n->attr[WICK_ATTR_attention_scale].f != 1)
    s = expr_mulk(b, s, n->attr[WICK_ATTR_attention_scale].f);
  bool masked = n->nin > 3 && in[3].id;
  bool logic = masked && wick_built_info(b, in[3])->elem == WICK_BOOL;
  if (logic) s = expr_where(b, in[3], s, expr_k(b, s, n->attr[WICK_ATTR_attention_fill].f));
  if (masked && !logic) s = expr_add(b, s, in[3]);
  if (b->status) return;
  wick_attr axis = {.i = (int64_t)wick_built_info(b, s)->rank - 1};
  s = wick_build(b, WICK_OP_softmax, 1, &s, &axis, 0, NULL);
  if (b->status) return;
  if (n->attr[WICK_ATTR_attention_empty].i) {
    wick_value none = wick_build1(b, WICK_OP_isnan, s);
    s = expr_where(b, none, expr_k(b, s, 0), s);
  }
  out[0] = product(b, s, in[2]);
}

void wick_grad_attention(wick_adjoint *a) { wick_grad_through(a, product_attention); }
