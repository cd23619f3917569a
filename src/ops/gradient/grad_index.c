/* Derivatives of operators with indices: the derivative of a gather is a scatter, and the reverse.
 * Rows of a large matrix are added to its sum of cotangents, one after the other. Other gathers of whole
 * slices along one axis become a product with a one-hot matrix, because products have schedules; or a
 * gather of the cotangents, if the indices are known and differ. */
#include <string.h>

#include "ir/expr.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"

enum { INDEX_NONE, INDEX_ADD, INDEX_MUL, INDEX_MAX, INDEX_MIN };

static wick_value index_scatter(wick_builder *b, wick_opcode op, int64_t reduction, int64_t axis,
                                wick_value x, wick_value indices, wick_value updates)
{
  wick_attr a[2] = {{.i = reduction}, {.i = axis}};
  wick_value in[3] = {x, indices, updates};
  return wick_build(b, op, 3, in, a, 0, NULL);
}

static wick_value index_gather(wick_builder *b, wick_opcode op, int64_t attr, wick_value x,
                               wick_value indices)
{
  wick_attr a = {.i = attr};
  wick_value in[2] = {x, indices};
  return wick_build(b, op, 2, in, &a, 0, NULL);
}

static wick_dim index_product(wick_builder *b, const wick_type_info *t, uint32_t from, uint32_t to)
{
  wick_dim n = wick_dim_const(1);
  for (uint32_t k = from; k < to; k++) n = wick_dim_mul(b->module->dims, n, t->dim[k]);
  return n;
}

/* Builds [0, 1]: the values of one-hot rows. */
static wick_value index_ends(wick_builder *b, wick_elem e)
{
  wick_dim one = wick_dim_const(1);
  wick_type type = wick_type_tensor(b->module, e, 1, &one);
  wick_value end[2] = {wick_build_const(b, type, 0, 0)};
  end[1] = wick_build_const(b, type, 1, 1);
  return wick_grad_concat(b, 0, 2, end);
}

/* ---- gathers ---- */

enum { INDEX_PRODUCT = 1 << 11 }; /* most elements of a one-hot matrix */

/* Adds rows, of `at`'s dimensions and x's but the first, to operand 0's sum of cotangents so far. */
static void index_add_rows(wick_adjoint *a, wick_value at, wick_value rows)
{
  wick_builder *b = a->b;
  const wick_type_info *t = wick_built_info(b, at);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = t->rank;
  bool some = a->sum && a->sum[0].id;
  for (uint32_t k = 0; k < rank; k++) dim[k] = t->dim[k];
  dim[rank] = wick_dim_const(1);
  at = wick_grad_reshape(b, wick_build_cast(b, at, WICK_I64), rank + 1, dim);
  wick_value sum = some ? a->sum[0] : wick_grad_fill(b, a->in[0], 0);
  a->din[0] = index_scatter(b, WICK_OP_scatter_nd, INDEX_ADD, 0, sum, at, rows);
  if (some) a->summed[0] = true;
}

/* Returns whether n rows along axis 0 of x are better added one after the other. */
static bool index_adds(const wick_adjoint *a, const wick_type_info *x, uint32_t axis, wick_dim n)
{
  bool known = wick_dim_is_const(x->dim[axis]) && wick_dim_is_const(n);
  if (axis || (a->sum && a->sum[0].id)) return !axis;
  return known && n.v && x->dim[axis].v > INDEX_PRODUCT / n.v;
}

/* Returns the matrix [rows, indices] whose elements say that the row is that index: 0 or 1 of the element type. */
static wick_value index_rows(const wick_adjoint *a, wick_dim row, wick_dim count, wick_elem e)
{
  wick_value in[2] = {wick_grad_reshape(a->b, a->in[1], 1, &count)};
  in[1] = index_ends(a->b, e);
  wick_attr hot[2] = {{.i = 0}, {.n = 1, .dims = &row}};
  return wick_build(a->b, WICK_OP_one_hot, 2, in, hot, 0, NULL);
}

/* Puts g, [outer, 1, inner], in its row. A product would make an infinite cotangent NaN in the others. */
static wick_value index_row(const wick_adjoint *a, wick_value g, wick_dim row)
{
  wick_dim one = wick_dim_const(1), dim[3] = {one, row, one};
  wick_value here = wick_grad_reshape(a->b, index_rows(a, row, one, WICK_BOOL), 3, dim);
  return a->b->status ? g : expr_where(a->b, here, g, expr_k(a->b, g, 0));
}

enum { INDEX_ROWS = 1 << 16, INDEX_SPARSE = 4 };

/* Writes, for each of `rows` rows, which index is that row, or -1. Returns false if two indices are the same, or
 * one is outside. */
static bool index_invert(const wick_tensor *at, int64_t rows, int64_t *out)
{
  for (int64_t r = 0; r < rows; r++) out[r] = -1;
  for (uint64_t i = 0; i < wick_ref_numel(at); i++) {
    int64_t row = wick_load_int(at->elem, at->data, i);
    row += row < 0 ? rows : 0;
    if (row < 0 || row >= rows || out[row] >= 0) return false;
    out[row] = (int64_t)i;
  }
  return true;
}

/* Computes which index each row is, and which rows are an index: constants of b. Returns false if the indices are
 * not known, or not all different. */
static bool index_known(const wick_adjoint *a, wick_dim row, wick_value *out_index,
                        wick_value *out_mask)
{
  wick_builder *b = a->b;
  wick_module *m = b->module;
  wick_mark mark = wick_arena_mark(b->mem);
  const wick_tensor *at = wick_grad_known(b, a->in[1], b->mem);
  uint64_t rows = (uint64_t)row.v;
  int64_t *found = at ? wick_new(b->mem, int64_t, rows) : NULL, *index = NULL;
  if (at && index_invert(at, row.v, found))
    index =
        memcpy(wick_arena_alloc(&m->mem, rows * sizeof *index, 64), found, rows * sizeof *index);
  if (b->mem != &m->mem) wick_arena_rewind(b->mem, mark);
  if (!index) return false;
  void *mask = wick_arena_alloc(&m->mem, wick_elem_bytes(WICK_BOOL, rows), 64);
  for (uint64_t r = 0; r < rows; r++) {
    wick_store_elem(WICK_BOOL, mask, r, (wick_scalar){.i = index[r] >= 0});
    if (index[r] < 0) index[r] = 0;
  }
  wick_type type = wick_type_tensor(m, WICK_I64, 1, &row);
  *out_index =
      wick_build_constant(b, wick_constant_add(m, "places", type, index, rows * sizeof *index));
  type = wick_type_tensor(m, WICK_BOOL, 1, &row);
  *out_mask = wick_build_constant(
      b, wick_constant_add(m, "placed", type, mask, wick_elem_bytes(WICK_BOOL, rows)));
  return true;
}

/* Puts the cotangents in their places, if these are known. Each row has one at most, so it can be read: a kernel
 * that uses the result does that on its way. Few rows of many are better added to a sum. */
static bool index_places(wick_adjoint *a, const wick_type_info *t, uint32_t axis, wick_dim count,
                         bool adds)
{
  wick_builder *b = a->b;
  const wick_type_info x = *t;
  wick_dim row = x.dim[axis], dim[WICK_MAX_RANK];
  wick_value index, mask;
  if (!wick_dim_is_const(row) || !wick_dim_is_const(count) || count.v < 2 || count.v > row.v ||
      row.v > INDEX_ROWS || (adds && count.v < row.v / INDEX_SPARSE) ||
      !index_known(a, row, &index, &mask))
    return false;
  for (uint32_t k = 0; k < x.rank; k++) dim[k] = k == axis ? count : x.dim[k];
  wick_value g = wick_grad_reshape(b, a->dout[0], x.rank, dim);
  g = index_gather(b, WICK_OP_gather, axis, g, index);
  for (uint32_t k = axis; k < x.rank; k++) dim[k - axis] = k == axis ? row : wick_dim_const(1);
  mask = wick_grad_reshape(b, mask, x.rank - axis, dim);
  if (!b->status) a->din[0] = expr_where(b, mask, g, expr_k(b, g, 0));
  return true;
}

/* Multiplies the one-hot matrix [rows, indices] by [outer, indices, inner]. */
void wick_grad_gather(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  const wick_type_info *x = wick_built_info(b, a->in[0]), *at = wick_built_info(b, a->in[1]);
  uint32_t axis = (uint32_t)a->node->attr[WICK_ATTR_gather_axis].i;
  wick_dim outer = index_product(b, x, 0, axis), inner = index_product(b, x, axis + 1, x->rank),
           count = index_product(b, at, 0, at->rank), dim[3] = {outer, count, inner};
  bool adds = at->rank + 1u < WICK_MAX_RANK && index_adds(a, x, axis, count);
  if (index_places(a, x, axis, count, adds)) return;
  if (adds) {
    index_add_rows(a, a->in[1], a->dout[0]);
    return;
  }
  wick_dim row = x->dim[axis];
  wick_elem elem = x->elem;
  if (wick_dim_is(count, 1)) {
    wick_value one = index_row(a, wick_grad_reshape(b, a->dout[0], 3, dim), row);
    a->din[0] = wick_grad_shape_of(b, one, a->in[0]);
    return;
  }
  wick_value rows = index_rows(a, row, count, elem), g = wick_grad_reshape(b, a->dout[0], 3, dim);
  if (wick_dim_is(outer, 1)) g = wick_grad_reshape(b, g, 2, dim + 1);
  a->din[0] = wick_grad_shape_of(b, wick_build2(b, WICK_OP_matmul, rows, g), a->in[0]);
}

void wick_grad_gather_elements(wick_adjoint *a)
{
  wick_value zeros = wick_grad_fill(a->b, a->in[0], 0);
  a->din[0] =
      index_scatter(a->b, WICK_OP_scatter_elements, INDEX_ADD,
                    a->node->attr[WICK_ATTR_gather_elements_axis].i, zeros, a->in[1], a->dout[0]);
}

/* Adds the indices of the batch dimensions before the given indices. */
static wick_value index_batched(wick_builder *b, wick_value indices, uint32_t batch)
{
  if (!batch || b->status) return indices;
  const wick_type_info *t = wick_built_info(b, indices);
  wick_dim dim[WICK_MAX_RANK];
  wick_value part[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[k];
  dim[t->rank - 1] = wick_dim_const(1);
  wick_attr shape = {.n = t->rank, .dims = dim};
  for (uint32_t k = 0; k < batch; k++) {
    wick_value n = wick_grad_count(b, t->dim[k], k, t->rank);
    part[k] = wick_build(b, WICK_OP_broadcast_to, 1, &n, &shape, 0, NULL);
  }
  part[batch] = wick_build_cast(b, indices, WICK_I64);
  return wick_grad_concat(b, t->rank - 1u, batch + 1, part);
}

void wick_grad_gather_nd(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value zeros = wick_grad_fill(b, a->in[0], 0),
             indices =
                 index_batched(b, a->in[1], (uint32_t)a->node->attr[WICK_ATTR_gather_nd_batch].i);
  a->din[0] = index_scatter(b, WICK_OP_scatter_nd, INDEX_ADD, 0, zeros, indices, a->dout[0]);
}

/* ---- scatters ---- */

typedef struct index_rule {
  wick_adjoint *a;
  wick_builder *b;
  wick_opcode scatter, gather;
  int64_t axis;
  wick_value x, indices, updates, g;
} index_rule;

static wick_value index_put(const index_rule *r, int64_t reduction, wick_value x,
                            wick_value updates)
{
  return index_scatter(r->b, r->scatter, reduction, r->axis, x, r->indices, updates);
}
static wick_value index_take(const index_rule *r, wick_value x)
{
  return index_gather(r->b, r->gather, r->scatter == WICK_OP_scatter_nd ? 0 : r->axis, x,
                      r->indices);
}

/* Returns whether no two updates are for one element, since there is only one place for each. */
static bool index_once(const index_rule *r)
{
  const wick_type_info *t = wick_built_info(r->b, r->indices);
  uint32_t axis = (uint32_t)(r->axis < 0 ? r->axis + t->rank : r->axis);
  bool once = true;
  for (uint32_t k = 0; k < t->rank; k++) {
    bool counts = r->scatter == WICK_OP_scatter_nd ? k + 1 < t->rank : k == axis;
    once = once && (!counts || wick_dim_is(t->dim[k], 1));
  }
  return once;
}

/* Only the last update of an element has an effect. To find it, each update writes its number. */
static void index_replace(const index_rule *r)
{
  wick_builder *b = r->b;
  if (r->a->wanted[0])
    r->a->din[0] = index_put(r, INDEX_NONE, r->g, wick_grad_fill(b, r->updates, 0));
  if (!r->a->wanted[2] || b->status) return;
  if (index_once(r)) {
    r->a->din[2] = index_take(r, r->g);
    return;
  }
  wick_type x = wick_type_with_elem(b->module, wick_built_type(b, r->x), WICK_I64);
  const wick_type_info *t = wick_built_info(b, r->updates);
  wick_value number = wick_grad_count(b, index_product(b, t, 0, t->rank), 0, 1);
  number = wick_grad_reshape(b, number, t->rank, t->dim);
  wick_value none = wick_build_const(b, x, 0, -1),
             last = index_take(r, index_put(r, INDEX_NONE, none, number));
  wick_value stays = wick_build2(b, WICK_OP_eq, last, number), g = index_take(r, r->g);
  if (!b->status) r->a->din[2] = expr_where(b, stays, g, expr_k(b, g, 0));
}

/* Builds the product of all factors of an element except one. It is exact even if some are 0. */
static void index_multiply(const index_rule *r)
{
  wick_builder *b = r->b;
  if (r->a->wanted[0]) r->a->din[0] = index_put(r, INDEX_MUL, r->g, r->updates);
  if (!r->a->wanted[2] || b->status) return;
  wick_value u = r->updates, flat = expr_eq(b, u, 0), one = expr_k(b, u, 1), zero = expr_k(b, u, 0);
  wick_value whole = expr_where(b, flat, one, u),
             zeros = wick_build_cast(b, flat, wick_built_info(b, u)->elem);
  wick_value product = index_take(r, index_put(r, INDEX_MUL, r->x, whole)),
             count = wick_grad_fill(b, r->x, 0);
  count = index_take(r, index_put(r, INDEX_ADD, count, zeros));
  wick_value others = expr_div(b, product, whole); /* valid if no other factor is 0 */
  wick_value only = wick_build2(b, WICK_OP_eq, count, zeros);
  others = expr_where(b, only, others, zero);
  r->a->din[2] = expr_mul(b, others, index_take(r, r->g));
}

/* Elements that equal the result share its cotangent equally. */
static void index_extreme(const index_rule *r)
{
  wick_builder *b = r->b;
  wick_value y = r->a->out[0], own = wick_build2(b, WICK_OP_eq, r->x, y);
  wick_value other = wick_build2(b, WICK_OP_eq, r->updates, index_take(r, y));
  if (b->status) return;
  wick_elem e = wick_built_info(b, r->g)->elem;
  wick_value count = wick_build_cast(b, own, e), zero = expr_k(b, r->g, 0);
  count = index_put(r, INDEX_ADD, count, wick_build_cast(b, other, e));
  wick_value share = expr_div(b, r->g, count);
  if (r->a->wanted[0]) r->a->din[0] = expr_where(b, own, share, zero);
  if (!r->a->wanted[2]) return;
  share = index_take(r, share);
  r->a->din[2] = expr_where(b, other, share, zero);
}

static void index_scattered(wick_adjoint *a, wick_opcode scatter, wick_opcode gather, int64_t axis)
{
  index_rule r = {a, a->b, scatter, gather, axis, a->in[0], a->in[1], a->in[2], a->dout[0]};
  if (a->b->status) return;
  switch (a->node->attr[WICK_ATTR_scatter_elements_reduction].i) {
  case INDEX_NONE: index_replace(&r); break;
  case INDEX_ADD:
    if (a->wanted[0]) a->din[0] = r.g;
    if (a->wanted[2]) a->din[2] = index_take(&r, r.g);
    break;
  case INDEX_MUL: index_multiply(&r); break;
  default: index_extreme(&r);
  }
}

void wick_grad_scatter_elements(wick_adjoint *a)
{
  index_scattered(a, WICK_OP_scatter_elements, WICK_OP_gather_elements,
                  a->node->attr[WICK_ATTR_scatter_elements_axis].i);
}

void wick_grad_scatter_nd(wick_adjoint *a)
{
  index_scattered(a, WICK_OP_scatter_nd, WICK_OP_gather_nd, 0);
}

/* ---- others ---- */

void wick_grad_top_k(wick_adjoint *a)
{
  wick_builder *b = a->b;
  wick_value zeros = wick_grad_fill(b, a->in[0], 0);
  a->din[0] = index_scatter(b, WICK_OP_scatter_elements, INDEX_ADD,
                            a->node->attr[WICK_ATTR_top_k_axis].i, zeros, a->out[1], a->dout[0]);
}

/* values[1] at the index, values[0] elsewhere */
void wick_grad_one_hot(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (!a->wanted[1] || b->status) return;
  wick_elem e = wick_built_info(b, a->in[1])->elem;
  wick_value in[2] = {a->in[0], index_ends(b, e)}, end[2];
  wick_value hot = wick_build(b, WICK_OP_one_hot, 2, in, a->node->attr, 0, NULL);
  wick_value on = expr_mul(b, a->dout[0], hot), off = expr_sub(b, a->dout[0], on);
  wick_dim one = wick_dim_const(1);
  wick_value single = wick_build_const(b, wick_type_tensor(b->module, e, 1, &one), 0, 0);
  end[0] = wick_grad_to(b, off, single);
  end[1] = wick_grad_to(b, on, single);
  a->din[1] = wick_grad_concat(b, 0, 2, end);
}

void wick_grad_range(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  if (a->wanted[0]) a->din[0] = wick_grad_to(b, a->dout[0], a->in[0]);
  if (!a->wanted[1]) return;
  const wick_type_info *t = wick_built_info(b, a->out[0]);
  wick_value i = wick_build_cast(b, wick_grad_count(b, t->dim[0], 0, 1), t->elem);
  a->din[1] = wick_grad_to(b, expr_mul(b, a->dout[0], i), a->in[1]);
}

/* Uses one index along an axis, clamped to the valid range. */
void wick_grad_take(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  const wick_type_info *x = wick_built_info(b, a->in[0]);
  uint32_t axis = (uint32_t)a->node->attr[WICK_ATTR_dynamic_index_axis].i;
  wick_dim dim[WICK_MAX_RANK], size = x->dim[axis];
  int64_t sizes[WICK_MAX_RANK];
  if (!wick_dim_is_const(size) && !wick_grad_sizes(b, a->in[0], sizes)) return;
  wick_value i = expr_at_most(b, expr_at_least(b, a->in[1], 0), (double)(size.v - 1));
  if (a->node->attr[WICK_ATTR_dynamic_index_reverse].i)
    i = expr_addk(b, expr_neg(b, i), (double)(size.v - 1));
  if (index_adds(a, x, axis, wick_dim_const(1))) {
    index_add_rows(a, i, a->dout[0]);
    return;
  }
  for (uint32_t k = 0; k < x->rank; k++) dim[k] = k == axis ? wick_dim_const(1) : x->dim[k];
  wick_value g = wick_grad_reshape(b, a->dout[0], x->rank, dim), zero = expr_k(b, a->dout[0], 0);
  wick_value here = wick_build2(b, WICK_OP_eq, wick_grad_count(b, size, axis, x->rank), i);
  a->din[0] = wick_grad_expand(b, expr_where(b, here, g, zero), a->in[0]);
}

/* Each element gets the cotangent at its index, unless a later element has the same index. To find
 * this, each element writes its number to its index, and reads it back. */
void wick_grad_max_unpool(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status || !a->wanted[0]) return;
  const wick_type_info *t = wick_built_info(b, a->in[0]);
  wick_value number = wick_grad_count(b, index_product(b, t, 0, t->rank), 0, 1);
  number = wick_grad_reshape(b, number, t->rank, t->dim);
  wick_value in[2] = {number, a->in[1]};
  wick_value put = wick_build(b, WICK_OP_max_unpool, 2, in, a->node->attr, 0, NULL);
  if (b->status) return;
  wick_dim all = wick_type_numel(b->module, wick_built_type(b, a->out[0]));
  wick_value last = wick_grad_reshape(b, put, 1, &all),
             g = wick_grad_reshape(b, a->dout[0], 1, &all);
  last = index_gather(b, WICK_OP_gather, 0, last, a->in[1]);
  g = index_gather(b, WICK_OP_gather, 0, g, a->in[1]);
  if (b->status) return;
  wick_value stays = wick_build2(b, WICK_OP_eq, last, number);
  a->din[0] = expr_where(b, stays, g, expr_k(b, g, 0));
}
