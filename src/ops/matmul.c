/* The matrix product, as NumPy has it. */
#include "ops/ref.h"
#include "ops/tensor.h"

static wick_status matmul_infer(wick_infer *c)
{
  const wick_type_info *x, *y;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  WICK_TRY(wick_infer_alike(c, 1, "y", 1, &y));
  wick_dim inner = y->dim[y->rank > 1 ? y->rank - 2 : 0];
  if (!wick_dim_eq(x->dim[x->rank - 1], inner))
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

/* The first element of the matrix that t has at a batch index (nbatch of them, of the result). */
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

const wick_op wick_op_matmul = {
    .name = "matmul",
    .doc = "The matrix product of the last two dimensions; the others broadcast. A vector on the "
           "left is a row, on the right a column, and its dimension of size 1 is dropped from the "
           "result. Summed in order by fma, f16 and bf16 in f32; integers wrap",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = matmul_infer,
    .ref = matmul_ref,
};
