/* The functions of keras.ops for linear algebra: determinants, factors of matrices, equations. */
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"
#include "import/kit/linear.h"

/* The operand as floats, and as [batch, rows, columns]; 0 after a failure. */
static wick_value linear_operand(wick_import_node *n, uint32_t at, const char *name,
                                 wick_value *whole)
{
  *whole = keras_floating(n, keras_operand(n, at, name, (wick_value){0}));
  if (n->failed || n->b->status) return (wick_value){0};
  if (keras_rank(n, *whole) < 2) {
    wick_import_fail(n, WICK_ETYPE, "%s has %u dimensions, expected 2 or more", name,
                     keras_rank(n, *whole));
    return (wick_value){0};
  }
  return wick_linear_batch(n->b, *whole);
}

static wick_value linear_square(wick_import_node *n, const char *name, wick_value *whole)
{
  wick_value a = linear_operand(n, 0, name, whole);
  if (!a.id || n->b->status) return (wick_value){0};
  const wick_dim *dim = keras_dims(n, a);
  wick_build_shape_constraint(n->b, dim[1], dim[2], n->b->loc);
  return a;
}

/* The larger number of rows or columns. */
static bool linear_size(wick_import_node *n, wick_value a, int64_t *out)
{
  const wick_dim *dim = keras_dims(n, a);
  wick_dim most = wick_dim_max(n->c->module->dims, dim[1], dim[2]);
  *out = most.v;
  return keras_known(n, "the size of the matrices", most);
}

/* The distance of 1 from the next number. */
static double linear_epsilon(wick_elem e)
{
  return e == WICK_F64 ? 0x1p-52 : e == WICK_F16 ? 0x1p-10 : e == WICK_BF16 ? 0x1p-7 : 0x1p-23;
}

/* det (arg 0), logdet (arg 1), slogdet (arg 2: the sign, and the logarithm) */
static void linear_det(wick_import_node *n)
{
  wick_value x, a = linear_square(n, "x", &x), log;
  if (!a.id) return;
  if (!n->row->arg) {
    n->out[0] = wick_build1(n->b, WICK_OP_det, x);
    return;
  }
  wick_value sign = wick_linear_log_det(n->b, a, &log);
  n->out[n->row->arg - 1] = wick_linear_unbatch(n->b, log, x);
  if (n->row->arg == 2) n->out[0] = wick_linear_unbatch(n->b, sign, x);
}

static void linear_cholesky(wick_import_node *n)
{
  wick_value x, a = linear_square(n, "x", &x);
  if (!a.id) return;
  a = wick_linear_cholesky(n->b, a);
  if (keras_is_true(n, "upper", false)) a = wick_build_swap(n->b, a);
  n->out[0] = wick_linear_unbatch(n->b, a, x);
}

/* The inverse of l l' (of u' u if upper), from the triangle. */
static void linear_cholesky_inverse(wick_import_node *n)
{
  wick_value x, a = linear_square(n, "x", &x);
  if (!a.id) return;
  bool upper = keras_is_true(n, "upper", false);
  wick_value one = wick_linear_identity(n->b, a);
  a = wick_linear_solve_triangle(n->b, a, one, !upper);
  wick_value turned = wick_build_swap(n->b, a);
  a = upper ? wick_build2(n->b, WICK_OP_matmul, a, turned)
            : wick_build2(n->b, WICK_OP_matmul, turned, a);
  n->out[0] = wick_linear_unbatch(n->b, a, x);
}

static void linear_inverse(wick_import_node *n)
{
  wick_value x, a = linear_square(n, "x", &x);
  if (!a.id) return;
  wick_value one = wick_linear_identity(n->b, a);
  n->out[0] = wick_linear_unbatch(n->b, wick_linear_solve(n->b, a, one), x);
}

/* The order of a's rows, as positions of them in the product l u. */
static void linear_lu(wick_import_node *n)
{
  wick_value x, order, a = linear_square(n, "x", &x);
  if (!a.id) return;
  n->out[0] = wick_linear_unbatch(n->b, wick_linear_lu(n->b, a, &order), x);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "axis", 1);
  wick_value own = wick_emit_count_along(n->b, keras_dims(n, a)[1], 1, 2);
  own = wick_emit_expand(n->b, own, 2, keras_dims(n, a));
  const wick_value in[] = {own, order, own};
  wick_value place = wick_build_cast(n->b, wick_emit_end(&e, 3, in), WICK_I32);
  n->out[1] = wick_linear_unbatch(n->b, place, x);
}

/* Solve, SolveTriangular (arg 1). b may be one vector for each matrix. */
static void linear_solve(wick_import_node *n)
{
  wick_value x, y, a = linear_square(n, "a", &x);
  if (!a.id) return;
  y = keras_floating(n, keras_operand(n, 1, "b", (wick_value){0}));
  if (n->failed || n->b->status) return;
  uint32_t rank = keras_rank(n, x);
  bool vector = keras_rank(n, y) + 1 == rank;
  if (vector) y = wick_emit_unsqueeze(n->b, y, rank - 1);
  if (keras_rank(n, y) != rank) {
    wick_import_fail(n, WICK_ETYPE, "a has %u dimensions, b %u", rank, keras_rank(n, y));
    return;
  }
  y = wick_linear_batch(n->b, y);
  bool lower = keras_is_true(n, "lower", false);
  y = n->row->arg ? wick_linear_solve_triangle(n->b, a, y, lower) : wick_linear_solve(n->b, a, y);
  if (vector) y = wick_emit_squeeze(n->b, y, 2);
  n->out[0] = wick_linear_unbatch(n->b, y, x);
}

/* The first min(rows, columns) of x along the axis. */
static wick_value linear_some(wick_import_node *n, wick_value x, wick_value a, uint32_t axis)
{
  if (n->b->status) return x;
  const wick_dim *dim = keras_dims(n, a);
  wick_dim least = wick_dim_min(n->c->module->dims, dim[1], dim[2]);
  return wick_emit_slice(n->b, x, axis, wick_dim_const(0), least);
}

static void linear_qr(wick_import_node *n)
{
  wick_value x, r, a = linear_operand(n, 0, "x", &x);
  if (!a.id) return;
  wick_value q = wick_linear_qr(n->b, a, &r);
  if (strcmp(wick_import_text(n, "mode", "reduced"), "complete") != 0)
    q = linear_some(n, q, a, 2), r = linear_some(n, r, a, 1);
  n->out[0] = wick_linear_unbatch(n->b, q, x);
  n->out[1] = wick_linear_unbatch(n->b, r, x);
}

static void linear_svd(wick_import_node *n)
{
  wick_value x, u, v, a = linear_operand(n, 0, "x", &x);
  if (!a.id) return;
  bool all = keras_is_true(n, "compute_uv", true);
  wick_value s = wick_linear_svd(n->b, a, &u, &v);
  if (!keras_is_true(n, "full_matrices", true))
    u = linear_some(n, u, a, 2), v = linear_some(n, v, a, 2);
  n->out[all] = wick_linear_unbatch(n->b, s, x);
  if (!all) return;
  n->out[0] = wick_linear_unbatch(n->b, u, x);
  n->out[2] = wick_linear_unbatch(n->b, wick_build_swap(n->b, v), x);
}

static void linear_eigen(wick_import_node *n)
{
  wick_value x, vectors, a = linear_square(n, "x", &x);
  if (!a.id) return;
  n->out[0] = wick_linear_unbatch(n->b, wick_linear_eigen(n->b, a, &vectors), x);
  n->out[1] = wick_linear_unbatch(n->b, vectors, x);
}

/* 1 / s for singular values [batch, k] above `share` of the first (from there on, if `equal`), 0 for the
 * others. */
static wick_value linear_inverses(wick_import_node *n, wick_value s, double share, bool equal)
{
  wick_value first = wick_emit_slice(n->b, s, 1, wick_dim_const(0), wick_dim_const(1));
  first = wick_emit_by(n->b, WICK_OP_mul, first, share);
  wick_value kept = wick_build2(n->b, equal ? WICK_OP_ge : WICK_OP_gt, s, first);
  wick_value one = wick_emit_number(n->b, s, 1), zero = wick_emit_number(n->b, s, 0);
  s = wick_build1(n->b, WICK_OP_reciprocal, wick_build3(n->b, WICK_OP_where, kept, s, one));
  return wick_build3(n->b, WICK_OP_where, kept, s, zero);
}

/* The pseudoinverse; Lstsq (arg 1) multiplies it with b. */
static void linear_pseudo(wick_import_node *n)
{
  wick_value x, u, v, a = linear_operand(n, 0, n->row->arg ? "a" : "x", &x);
  int64_t size;
  if (!a.id || !linear_size(n, a, &size)) return;
  double share = linear_epsilon(keras_elem_of(n, x)) * (double)size * (n->row->arg ? 1 : 10);
  share = wick_import_real(n, "rcond", share);
  if (share < 0) share = linear_epsilon(keras_elem_of(n, x));
  wick_value s = wick_linear_svd(n->b, a, &u, &v);
  u = linear_some(n, u, a, 2), v = linear_some(n, v, a, 2);
  s = wick_emit_unsqueeze(n->b, linear_inverses(n, s, share, n->row->arg), 1);
  v = wick_build2(n->b, WICK_OP_mul, v, s);
  u = wick_build_swap(n->b, u);
  if (!n->row->arg) {
    n->out[0] = wick_linear_unbatch(n->b, wick_build2(n->b, WICK_OP_matmul, v, u), x);
    return;
  }
  wick_value y = keras_floating(n, keras_operand(n, 1, "b", (wick_value){0}));
  if (n->failed || n->b->status) return;
  bool vector = keras_rank(n, y) == 1;
  if (vector) y = wick_emit_unsqueeze(n->b, y, 1);
  if (keras_rank(n, x) != 2 || keras_rank(n, y) != 2) {
    wick_import_fail(n, WICK_ETYPE, "a and b have %u and %u dimensions, expected 2",
                     keras_rank(n, x), keras_rank(n, y));
    return;
  }
  u = wick_build2(n->b, WICK_OP_matmul, u, wick_linear_batch(n->b, y));
  y = wick_build2(n->b, WICK_OP_matmul, v, u);
  if (vector) y = wick_emit_squeeze(n->b, y, 2);
  n->out[0] = wick_linear_unbatch(n->b, y, x);
}

static void linear_rank(wick_import_node *n)
{
  wick_value x, u, v, a = linear_operand(n, 0, "x", &x);
  int64_t size;
  if (!a.id || !linear_size(n, a, &size)) return;
  wick_value s = wick_linear_svd(n->b, a, &u, &v), least;
  if (keras_attr(n, "tol", 'f').kind) {
    least = wick_emit_number(n->b, s, wick_import_real(n, "tol", 0));
  } else {
    least = wick_emit_slice(n->b, s, 1, wick_dim_const(0), wick_dim_const(1));
    double share = linear_epsilon(keras_elem_of(n, x)) * (double)size;
    least = wick_emit_by(n->b, WICK_OP_mul, least, share);
  }
  wick_value count = wick_build2(n->b, WICK_OP_gt, s, least);
  count = wick_build_cast(n->b, count, WICK_I32);
  count = wick_emit_reduce1(n->b, WICK_OP_reduce_sum, count, 1, false);
  n->out[0] = wick_linear_unbatch(n->b, count, x);
}

wick_value keras_singular_norm(wick_import_node *n, wick_value x, wick_opcode op)
{
  if (n->failed || n->b->status) return x;
  wick_value u, v, s = wick_linear_svd(n->b, wick_linear_batch(n->b, x), &u, &v);
  return wick_linear_unbatch(n->b, wick_emit_reduce1(n->b, op, s, 1, false), x);
}

const wick_import_op keras_linear[] = {
    KERAS_ROW("Cholesky", 1, 1, 1, linear_cholesky, .arg = 0),
    KERAS_ROW("CholeskyInverse", 1, 1, 1, linear_cholesky_inverse, .arg = 0),
    KERAS_ROW("Det", 1, 1, 1, linear_det, .arg = 0),
    KERAS_ROW("Eig", 1, 1, 2, NULL, .why = "its results are complex numbers"),
    KERAS_ROW("Eigh", 1, 1, 2, linear_eigen, .arg = 0),
    KERAS_ROW("Inv", 1, 1, 1, linear_inverse, .arg = 0),
    KERAS_ROW("Logdet", 1, 1, 1, linear_det, .arg = 1),
    KERAS_ROW("Lstsq", 1, 2, 1, linear_pseudo, .arg = 1),
    KERAS_ROW("LuFactor", 1, 1, 2, linear_lu, .arg = 0),
    KERAS_ROW("MatrixRank", 1, 1, 1, linear_rank, .arg = 0),
    KERAS_ROW("Pinv", 1, 1, 1, linear_pseudo, .arg = 0),
    KERAS_ROW("Qr", 1, 1, 2, linear_qr, .arg = 0),
    KERAS_ROW("SVD", 1, 1, 3, linear_svd, .arg = 0),
    KERAS_ROW("Slogdet", 1, 1, 2, linear_det, .arg = 2),
    KERAS_ROW("Solve", 1, 2, 1, linear_solve, .arg = 0),
    KERAS_ROW("SolveTriangular", 1, 2, 1, linear_solve, .arg = 1),
    {.name = NULL},
};
