/* The matrix product, as NumPy defines it. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/layout/layout.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"
#include "ops/work.h"

static wick_status matmul_infer(wick_infer *c)
{
  const wick_type_info *x, *y;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  WICK_TRY(wick_infer_alike(c, 1, "y", 1, &y));
  wick_dim inner = y->dim[y->rank > 1 ? y->rank - 2 : 0];
  if (!wick_infer_equal(c, x->dim[x->rank - 1], inner))
    return wick_infer_fail(c, WICK_ETYPE, "inner sizes differ: %s and %s",
                           wick_infer_dim_text(c, x->dim[x->rank - 1]),
                           wick_infer_dim_text(c, inner));
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = x->rank > 1 ? x->rank - 2 : 0;
  for (uint32_t k = 0; k < rank; k++) dim[k] = x->dim[k];
  WICK_TRY(wick_infer_broadcast(c, &rank, dim, y->rank > 1 ? y->rank - 2 : 0, y->dim));
  if (x->rank > 1) dim[rank++] = x->dim[x->rank - 2];
  if (y->rank > 1) dim[rank++] = y->dim[y->rank - 1];
  wick_infer_out(c, 0, x->elem, rank, dim);
  return NULL;
}

/* ---- reference ---- */

/* Returns the first element of t's matrix at a batch index, which has nbatch dimensions of the
 * result. */
static uint64_t matmul_batch(const wick_tensor *t, uint32_t nbatch, const int64_t *index)
{
  if (t->rank <= 2) return 0;
  int64_t at = 0, own = (int64_t)t->rank - 2;
  for (int64_t k = 0; k < own; k++)
    at = at * t->dim[k] + (t->dim[k] == 1 ? 0 : index[(int64_t)nbatch - own + k]);
  return (uint64_t)(at * t->dim[t->rank - 2] * t->dim[t->rank - 1]);
}

static wick_status matmul_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *y = &c->in[1], *out = &c->out[0];
  int64_t m = x->rank > 1 ? x->dim[x->rank - 2] : 1, n = y->rank > 1 ? y->dim[y->rank - 1] : 1,
          inner = x->dim[x->rank - 1];
  uint32_t nbatch = out->rank - (x->rank > 1) - (y->rank > 1);
  int64_t index[WICK_MAX_RANK] = {0};
  wick_scalar *a = wick_new(c->mem, wick_scalar, (size_t)(m * inner)),
              *row = wick_new(c->mem, wick_scalar, (size_t)n),
              *acc = wick_new(c->mem, wick_scalar, (size_t)(m * n));
  if (wick_ref_numel(out) == 0) return NULL;
  uint64_t at = 0;
  do {
    wick_ref_read(x, matmul_batch(x, nbatch, index), (uint64_t)(m * inner), a);
    for (int64_t i = 0; i < m * n; i++) acc[i].i = 0;
    uint64_t from = matmul_batch(y, nbatch, index);
    for (int64_t k = 0; k < inner; k++) {
      wick_ref_read(y, from + (uint64_t)(k * n), (uint64_t)n, row);
      for (int64_t i = 0; i < m; i++)
        wick_ref_axpy(wick_elem_is_float(x->elem), (uint64_t)n, acc + i * n, a[i * inner + k], row,
                      1);
    }
    wick_ref_write(out, at, (uint64_t)(m * n), acc);
    at += (uint64_t)(m * n);
  } while (wick_ref_next(nbatch, out->dim, index));
  return NULL;
}

/* ---- stages ---- */

/* Computes the index into an operand: its batch dimensions, then `row` and `column`, if the operand
 * has them. */
static void matmul_index(const wick_module *m, wick_type type, uint32_t nbatch,
                         const wick_axis *axis, wick_dim row, wick_dim column, wick_dim *index)
{
  const wick_type_info *t = wick_type_get(m, type);
  for (uint32_t k = 0; k + 2 < t->rank; k++)
    index[k] = wick_dim_is(t->dim[k], 1) ? wick_dim_const(0) : axis[nbatch + 2 + k - t->rank].sym;
  if (t->rank > 1) index[t->rank - 2] = row;
  index[t->rank - 1] = column;
}

static void matmul_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_type tx = wick_built_type(b, c->in[0]), ty = wick_built_type(b, c->in[1]);
  const wick_type_info *x = wick_type_get(b->module, tx), *y = wick_type_get(b->module, ty),
                       *out = wick_type_get(b->module, c->out_type[0]);
  bool rows = x->rank > 1, columns = y->rank > 1;
  uint32_t nbatch = (uint32_t)out->rank - rows - columns, n = 0;
  wick_axis axis[WICK_MAX_RANK + 1];
  for (; n < nbatch; n++)
    axis[n] = wick_make_axis(b, wick_str_printf(b->mem, "b%u", n), out->dim[n], false);
  if (rows) axis[n] = wick_make_axis(b, "m", out->dim[n], false), n++;
  if (columns) axis[n] = wick_make_axis(b, "n", out->dim[n], false), n++;
  axis[n] = wick_make_axis(b, "k", x->dim[x->rank - 1], true);
  wick_dim k = axis[n++].sym, none = wick_dim_const(0), xi[WICK_MAX_RANK], yi[WICK_MAX_RANK];
  wick_dim m = rows ? axis[nbatch].sym : none, column = columns ? axis[nbatch + rows].sym : none;
  matmul_index(b->module, tx, nbatch, axis, m, k, xi);
  if (columns)
    matmul_index(b->module, ty, nbatch, axis, k, column, yi);
  else
    yi[0] = k;
  wick_elem acc = wick_stage_arith(x->elem);
  wick_value state = wick_stage_fold(b, "matmul", n, axis, c->out_type[0], WICK_OP_add, acc);
  wick_value u = wick_build_cast(b, wick_read(b, c->in[0], xi, 0, NULL, (wick_value){0}), acc),
             v = wick_build_cast(b, wick_read(b, c->in[1], yi, 0, NULL, (wick_value){0}), acc);
  state = wick_stage_finish(b, wick_stage_muladd(b, u, v, state), WICK_OP_add);
  c->out[0] = wick_stage_end(b, state, c->out_type[0]);
}

enum { MATMUL_SMALL = 1 << 15 }; /* so few products do not pay for a conversion of their factors */

/* Dot products are used only with weights. Products of computed matrices are summed in f32. */
static wick_factors matmul_factors(const wick_narrowing *c)
{
  uint32_t d = c->definer[c->n->in[1].id];
  wick_factors none = {0};
  if (d == UINT32_MAX || c->f->node[d].op != WICK_OP_const) return none;
  const wick_type_info *y = wick_info_of(c->f, c->n->in[1]);
  wick_dims *t = c->f->module->dims;
  uint32_t row = y->rank > 1 ? y->rank - 2u : 0;
  wick_dim all =
      wick_dim_mul(t, wick_type_numel(c->f->module, wick_type_of(c->f, c->n->first)), y->dim[row]);
  bool small = wick_dim_is_const(all) && all.v < MATMUL_SMALL;
  return small ? none : (wick_factors){3, row, row + 1};
}

const wick_op wick_op_matmul = {
    .name = "matmul",
    .doc = "The matrix product of the last two dimensions; the other dimensions broadcast. A "
           "vector on the left is a row, a vector on the right is a column; its dimension of size "
           "1 is dropped from the result. Sums run in order, each step one fma; f16 and bf16 are "
           "summed in f32; integers wrap",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .product_operands = matmul_factors,
    .elems = WICK_NUMBERS,
    .layout = wick_layout_matmul,
    .infer = matmul_infer,
    .ref = matmul_ref,
    .products = wick_products_matmul,
    .compute = matmul_compute,
    .grad = wick_grad_matmul,
    .linear = {1, 2},
    .batch.run = wick_batch_matmul,
};
