/* Linear algebra: factors of matrices, and equations. */
#include "import/kit/linear.h"
#include "import/tensorflow/ops.h"

/* Operand k as [batch, rows, columns]; 0 after a failure. */
static wick_value linear_operand(wick_import_node *n, uint32_t k)
{
  if (!wick_import_rank(n, k, 2, WICK_MAX_RANK)) return (wick_value){0};
  if (!wick_elem_is_float(wick_import_info(n, k)->elem)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its elements are %s, expected floats",
                     wick_elem_name(wick_import_info(n, k)->elem));
    return (wick_value){0};
  }
  return wick_linear_batch(n->b, n->in[k]);
}

static wick_value linear_square(wick_import_node *n, uint32_t k)
{
  wick_value a = linear_operand(n, k);
  if (n->failed || n->b->status) return a;
  const wick_dim *dim = wick_built_info(n->b, a)->dim;
  wick_build_shape_constraint(n->b, dim[1], dim[2], n->b->loc);
  return a;
}

static void linear_set(wick_import_node *n, uint32_t k, wick_value y)
{
  n->out[k] = wick_linear_unbatch(n->b, y, n->in[0]);
}

void wick_tf_import_cholesky(wick_import_node *n)
{
  wick_value a = linear_square(n, 0);
  if (!n->failed) linear_set(n, 0, wick_linear_cholesky(n->b, a));
}

void wick_tf_import_inverse(wick_import_node *n)
{
  wick_value a = linear_square(n, 0);
  if (n->failed) return;
  if (wick_import_int(n, "adjoint", 0)) a = wick_build_swap(n->b, a);
  wick_value one = wick_linear_identity(n->b, a);
  linear_set(n, 0, wick_linear_solve(n->b, a, one));
}

/* Gives both operands the leading dimensions of their broadcast. */
static bool linear_broadcast(wick_import_node *n, wick_value v[2])
{
  wick_type_info t[2] = {*wick_import_info(n, 0), *wick_import_info(n, 1)};
  wick_dim dim[WICK_MAX_RANK];
  uint32_t lead;
  if (!wick_array_broadcast(n, t[0].rank - 2u, t[0].dim, t[1].rank - 2u, t[1].dim, &lead, dim))
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    for (uint32_t i = 0; i < 2; i++) dim[lead + i] = t[k].dim[t[k].rank - 2u + i];
    v[k] = wick_emit_expand(n->b, n->in[k], lead + 2, dim);
  }
  return true;
}

/* MatrixSolve, MatrixTriangularSolve (arg 1) */
void wick_tf_import_solve(wick_import_node *n)
{
  wick_value v[2];
  linear_square(n, 0);
  linear_operand(n, 1);
  if (n->failed || n->b->status || !linear_broadcast(n, v)) return;
  wick_value a = wick_linear_batch(n->b, v[0]), y = wick_linear_batch(n->b, v[1]);
  bool lower = wick_import_int(n, "lower", 1), adjoint = wick_import_int(n, "adjoint", 0);
  if (adjoint) a = wick_build_swap(n->b, a);
  y = n->row->arg ? wick_linear_solve_triangle(n->b, a, y, lower != adjoint)
                  : wick_linear_solve(n->b, a, y);
  n->out[0] = wick_linear_unbatch(n->b, y, v[0]);
}

void wick_tf_import_lu(wick_import_node *n)
{
  wick_value a = linear_square(n, 0), order;
  if (n->failed) return;
  wick_elem e;
  if (!wick_tf_attr_elem_or(n, "output_idx_type", WICK_I32, &e)) return;
  linear_set(n, 0, wick_linear_lu(n->b, a, &order));
  linear_set(n, 1, wick_build_cast(n->b, order, e));
}

void wick_tf_import_log_det(wick_import_node *n)
{
  wick_value a = linear_square(n, 0), log;
  if (n->failed) return;
  linear_set(n, 0, wick_linear_log_det(n->b, a, &log));
  linear_set(n, 1, log);
}

/* The first min(rows, columns) columns of x. */
static wick_value linear_some(wick_import_node *n, wick_value x, wick_value a, uint32_t axis)
{
  if (n->b->status) return x;
  const wick_dim *dim = wick_built_info(n->b, a)->dim;
  wick_dim least = wick_dim_min(n->c->module->dims, dim[1], dim[2]);
  return wick_emit_slice(n->b, x, axis, wick_dim_const(0), least);
}

void wick_tf_import_qr(wick_import_node *n)
{
  wick_value a = linear_operand(n, 0), r;
  if (n->failed) return;
  wick_value q = wick_linear_qr(n->b, a, &r);
  if (!wick_import_int(n, "full_matrices", 0))
    q = linear_some(n, q, a, 2), r = linear_some(n, r, a, 1);
  linear_set(n, 0, q);
  linear_set(n, 1, r);
}

void wick_tf_import_svd(wick_import_node *n)
{
  wick_value a = linear_operand(n, 0), u, v;
  if (n->failed) return;
  linear_set(n, 0, wick_linear_svd(n->b, a, &u, &v));
  if (!wick_import_int(n, "compute_uv", 1)) return;
  if (!wick_import_int(n, "full_matrices", 0))
    u = linear_some(n, u, a, 2), v = linear_some(n, v, a, 2);
  linear_set(n, 1, u);
  linear_set(n, 2, v);
}

void wick_tf_import_eigen(wick_import_node *n)
{
  wick_value a = linear_square(n, 0), vectors;
  if (n->failed) return;
  linear_set(n, 0, wick_linear_eigen(n->b, a, &vectors));
  if (wick_import_int(n, "compute_v", 1)) linear_set(n, 1, vectors);
}
