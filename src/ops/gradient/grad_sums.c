/* Cotangents that are sums over the steps of a loop, as those of weights are.
 *
 * If a step adds a product of a few columns with a few rows to a large sum, the step returns the
 * factors instead. After the loop, one product of the factors of all steps is the sum. A step that
 * scatters a few updates onto zeros, as the derivative of a gather does, returns these and their places,
 * and one scatter follows the loop. */
#include "ir/expr.h"
#include "ops/gradient/grad_loop.h"

enum { SUMS_LESS = 2, SUMS_BYTES = 1 << 26 };

static const wick_node *sums_node(const wick_builder *b, uint32_t begin, wick_value v)
{
  for (uint32_t i = begin; i < b->nodes.n; i = b->nodes.at[i].end) {
    const wick_node *n = &b->nodes.at[i];
    if (n->nout && n->first.id == v.id) return n;
  }
  return NULL;
}

static bool sums_matrix(const wick_builder *b, wick_value v, int64_t *dim)
{
  const wick_type_info *t = wick_built_info(b, v);
  return t->rank == 2 && wick_type_const_dims(t, dim);
}

/* Returns the factor, or the value that it is the transpose of. */
static wick_value sums_factor(const wick_builder *b, uint32_t begin, wick_value v, bool *turned)
{
  const wick_node *n = sums_node(b, begin, v);
  *turned = n && n->op == WICK_OP_transpose;
  return *turned ? n->in[0] : v;
}

/* Returns the node that scatters what v is onto zeros, adding; NULL: v is something else. */
static const wick_node *sums_scatter(const wick_builder *b, uint32_t begin, wick_value v)
{
  enum { SUMS_ADD = 1 }; /* the reduction */
  const wick_node *n = sums_node(b, begin, v), *zeros = NULL;
  if (!n || n->op != WICK_OP_scatter_nd || n->attr[WICK_ATTR_scatter_nd_reduction].i != SUMS_ADD)
    return NULL;
  for (uint32_t i = 0; i < b->nodes.n && !zeros; i++)
    if (b->nodes.at[i].nout && b->nodes.at[i].first.id == n->in[0].id) zeros = &b->nodes.at[i];
  bool zero = zeros && zeros->op == WICK_OP_const && !wick_const_imm(zeros)->constant &&
              wick_const_imm(zeros)->f == 0;
  return zero ? n : NULL;
}

wick_value wick_loop_scattered(wick_builder *b, uint32_t begin, wick_value sum, wick_value v)
{
  const wick_node *n = b->status ? NULL : sums_scatter(b, begin, v);
  if (!n) return (wick_value){0};
  const wick_node old = *n;
  wick_value in[3] = {sum, old.in[1], old.in[2]};
  return wick_build(b, old.op, 3, in, old.attr, 0, NULL);
}

/* Returns whether a scatter after the loop is better than one at each step. */
static bool sums_scatters(const wick_loop_run *run, const wick_builder *b, uint32_t begin,
                          wick_value v, wick_loop_sum *out)
{
  uint64_t places, updates, all;
  const wick_node *n = b->status ? NULL : sums_scatter(b, begin, v);
  if (!n || !wick_type_nbytes(b->module, wick_built_type(b, n->in[1]), &places) ||
      !wick_type_nbytes(b->module, wick_built_type(b, n->in[2]), &updates) ||
      !wick_type_nbytes(b->module, wick_built_type(b, v), &all))
    return false;
  if ((places + updates) * SUMS_LESS > all ||
      places + updates > (uint64_t)(SUMS_BYTES / run->nkept))
    return false;
  *out = (wick_loop_sum){.scatters = true, .factor = {n->in[1], n->in[2]}};
  return true;
}

bool wick_loop_sum_of(const wick_loop_run *run, const wick_builder *b, uint32_t begin, wick_value v,
                      wick_loop_sum *out)
{
  int64_t x[WICK_MAX_RANK], y[WICK_MAX_RANK];
  if (sums_scatters(run, b, begin, v, out)) return true;
  *out = (wick_loop_sum){.nmove = 0};
  const wick_node *n = sums_node(b, begin, v);
  for (; n && (n->op == WICK_OP_reshape || n->op == WICK_OP_transpose) &&
         out->nmove < WICK_COUNT(out->move);
       n = sums_node(b, begin, n->in[0]))
    out->move[out->nmove++] = *n;
  if (b->status || !n || n->op != WICK_OP_matmul || !sums_matrix(b, n->in[0], x) ||
      !sums_matrix(b, n->in[1], y))
    return false;
  int64_t factors = x[1] * (x[0] + y[1]),
          nbytes = (int64_t)wick_elem_bytes(wick_built_info(b, v)->elem, 1);
  if (factors * SUMS_LESS > x[0] * y[1] || factors > SUMS_BYTES / nbytes / run->nkept) return false;
  for (uint32_t k = 0; k < 2; k++)
    out->factor[k] = sums_factor(b, begin, n->in[k], &out->turned[k]);
  return true;
}

/* Merges all rows: [steps * k, n] from [steps, k, n], or from [steps, n, k] if they are transposed.
 */
static wick_value sums_side(wick_builder *b, wick_value rows, bool turned)
{
  static const int64_t perm[3] = {0, 2, 1};
  if (turned) rows = wick_grad_transpose(b, rows, 3, perm);
  if (b->status) return rows;
  const wick_type_info *t = wick_built_info(b, rows);
  wick_dim dim[2] = {wick_dim_mul(b->module->dims, t->dim[0], t->dim[1]), t->dim[2]};
  return wick_grad_reshape(b, rows, 2, dim);
}

/* Merges the steps with the first dimension of what each of them gave. */
static wick_value sums_places(wick_builder *b, wick_value rows)
{
  if (b->status) return rows;
  const wick_type_info *t = wick_built_info(b, rows);
  wick_dim dim[WICK_MAX_RANK];
  dim[0] = wick_dim_mul(b->module->dims, t->dim[0], t->dim[1]);
  for (uint32_t k = 2; k < t->rank; k++) dim[k - 1] = t->dim[k];
  return wick_grad_reshape(b, rows, t->rank - 1u, dim);
}

wick_value wick_loop_summed(wick_builder *b, const wick_loop_sum *s, wick_value to,
                            const wick_value *rows)
{
  if (s->scatters) {
    const wick_attr attr[] = {[WICK_ATTR_scatter_nd_reduction] = {.i = 1}};
    wick_value in[3] = {to, sums_places(b, rows[0])};
    in[2] = sums_places(b, rows[1]);
    return wick_build(b, WICK_OP_scatter_nd, 3, in, attr, 0, NULL);
  }
  wick_value left = sums_side(b, rows[0], !s->turned[0]),
             right = sums_side(b, rows[1], s->turned[1]);
  wick_value v = wick_build2(b, WICK_OP_matmul, wick_build_swap(b, left), right);
  for (uint32_t k = s->nmove; k-- > 0 && !b->status;)
    v = wick_build(b, s->move[k].op, 1, &v, s->move[k].attr, 0, NULL);
  return expr_add(b, to, v);
}
