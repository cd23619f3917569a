/* det: determinants by Gaussian elimination. */
#include <math.h>

#include "ops/compose.h"
#include "ops/ref.h"
#include "ops/tensor.h"

enum { DET_MOST = 512 }; /* most rows; each is a step of its own */

static wick_status det_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 2, &x));
  wick_dim rows = x->dim[x->rank - 2], columns = x->dim[x->rank - 1];
  if (!wick_infer_equal(c, rows, columns))
    return wick_infer_fail(c, WICK_ETYPE, "matrices of %s rows and %s columns",
                           wick_infer_dim_text(c, rows), wick_infer_dim_text(c, columns));
  if (!wick_dim_is_const(rows) || !wick_dim_is_const(columns) || rows.v > DET_MOST)
    return wick_infer_fail(c, WICK_EUNSUPPORTED,
                           "matrices of %s rows and %s columns, expected a number up to %d",
                           wick_infer_dim_text(c, rows), wick_infer_dim_text(c, columns), DET_MOST);
  wick_infer_out(c, 0, x->elem, x->rank - 2u, x->dim);
  return NULL;
}

/* Computes a determinant by elimination, with the largest element of each column as pivot. a is
 * destroyed. */
static double det_of(int64_t n, wick_scalar *a)
{
  double det = 1;
  for (int64_t k = 0; k < n; k++) {
    int64_t p = k;
    for (int64_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k].f) > fabs(a[p * n + k].f) ||
          (isnan(a[i * n + k].f) && !isnan(a[p * n + k].f)))
        p = i;
    for (int64_t j = k; j < n && p != k; j++) {
      wick_scalar swap = a[k * n + j];
      a[k * n + j] = a[p * n + j], a[p * n + j] = swap;
    }
    double pivot = a[k * n + k].f;
    det *= p == k ? pivot : -pivot;
    for (int64_t i = k + 1; i < n && pivot != 0; i++) {
      double by = a[i * n + k].f / pivot;
      for (int64_t j = k + 1; j < n; j++) a[i * n + j].f -= by * a[k * n + j].f;
    }
  }
  return det;
}

static wick_status det_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  int64_t n = x->dim[x->rank - 1];
  wick_scalar *a = wick_ref_load(c->mem, x);
  uint64_t count = wick_ref_numel(&c->out[0]);
  for (uint64_t i = 0; i < count; i++) {
    wick_scalar v = {.f = det_of(n, a + i * (uint64_t)(n * n))};
    wick_ref_write(&c->out[0], i, 1, &v);
  }
  return NULL;
}

/* Selects rows and columns of the last two dimensions. */
static wick_value det_part(wick_builder *b, wick_value x, int64_t row, int64_t rows, int64_t column,
                           int64_t columns)
{
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim begin[WICK_MAX_RANK] = {{0}}, shape[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) shape[k] = t->dim[k];
  begin[t->rank - 2] = wick_dim_const(row), shape[t->rank - 2] = wick_dim_const(rows);
  begin[t->rank - 1] = wick_dim_const(column), shape[t->rank - 1] = wick_dim_const(columns);
  return wick_build_slice(b, x, t->rank, begin, shape, NULL);
}

/* Finds the row of each matrix with the largest element of its first column, [..., 1, 1]. */
static wick_value det_pivot(wick_builder *b, wick_value x, int64_t n)
{
  wick_value size = wick_build1(b, WICK_OP_abs, det_part(b, x, 0, n, 0, 1));
  if (b->status) return x;
  wick_attr a[WICK_MAX_ATTR];
  for (uint32_t i = 0; i < WICK_MAX_ATTR; i++) a[i] = (wick_attr){.n = WICK_ATTR_UNSET};
  a[0] = (wick_attr){.i = wick_built_info(b, size)->rank - 2};
  return wick_build(b, WICK_OP_argmax, 1, &size, a, 0, NULL);
}

static wick_value det_rows(wick_builder *b, int64_t n)
{
  wick_type scalar = wick_type_tensor(b->module, WICK_I64, 0, NULL);
  wick_dim count = wick_dim_const(n), column[] = {count, wick_dim_const(1)};
  wick_attr a[WICK_MAX_ATTR] = {{.n = 1, .dims = &count}};
  wick_value zero = wick_build_const(b, scalar, 0, 0), one = wick_build_const(b, scalar, 0, 1);
  wick_value range = wick_build(b, WICK_OP_range, 2, (wick_value[]){zero, one}, a, 0, NULL);
  return wick_build_reshape(b, range, 2, column);
}

/* Builds one step: x [..., n, n] becomes [..., n - 1, n - 1], and det is multiplied by the pivot.
 * After a pivot of 0 the rest stays unchanged: the determinant is 0, unless there are infinities.
 */
static void det_step(wick_builder *b, int64_t n, wick_value *x, wick_value *det)
{
  wick_value at = det_pivot(b, *x, n);
  if (b->status) return;
  wick_value zero = wick_build_like(b, *x, 0),
             first = wick_build2(b, WICK_OP_eq, at, wick_build_like(b, at, 0)),
             is = wick_build2(b, WICK_OP_eq, det_rows(b, n), at);
  const int64_t rows = wick_built_info(b, *x)->rank - 2;
  wick_value row = wick_compose_reduce(b, WICK_OP_reduce_sum,
                                       wick_build3(b, WICK_OP_where, is, *x, zero), 1, &rows);
  wick_value pivot = det_part(b, row, 0, 1, 0, 1);
  wick_value own = wick_build3(b, WICK_OP_where, first, pivot, wick_build1(b, WICK_OP_neg, pivot));
  *det = det->id ? wick_build2(b, WICK_OP_mul, *det, own) : own;
  if (n == 1) return;
  wick_value y = wick_build3(b, WICK_OP_where, is, det_part(b, *x, 0, 1, 0, n), *x);
  wick_value by = wick_build2(b, WICK_OP_div, det_part(b, y, 1, n - 1, 0, 1), pivot),
             none = wick_build2(b, WICK_OP_eq, pivot, zero);
  by = wick_build3(b, WICK_OP_where, none, zero, by);
  wick_value off = wick_build2(b, WICK_OP_mul, by, det_part(b, row, 0, 1, 1, n - 1));
  *x = wick_build2(b, WICK_OP_sub, det_part(b, y, 1, n - 1, 1, n - 1), off);
}

static void det_expand(wick_builder *b, const wick_node *node, const wick_value *in,
                       wick_value *out)
{
  (void)node;
  const wick_type_info *t = wick_built_info(b, in[0]);
  int64_t n = t->dim[t->rank - 1].v;
  wick_value x = wick_compose_wide(b, in[0]), det = {0};
  for (int64_t k = n; k > 0 && !b->status; k--) det_step(b, k, &x, &det);
  if (b->status) return;
  if (!n) {
    out[0] = wick_build_const(b, wick_type_tensor(b->module, t->elem, t->rank - 2u, t->dim), 1, 1);
    return;
  }
  out[0] = wick_build_cast(b, wick_build_reshape(b, det, t->rank - 2u, t->dim), t->elem);
}

const wick_op wick_op_det = {
    .name = "det",
    .doc = "The determinants of the matrices in the last two dimensions, by Gaussian elimination "
           "with the largest element of each column as pivot. f16 and bf16 are computed in f32",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = det_infer,
    .ref = det_ref,
    .expand = det_expand,
};
