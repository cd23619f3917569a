/* Linear models and support vector machines of ai.onnx.ml. */
#include "import/onnx/ml.h"

/* x [rows, f] times the transposed table [n, f], or the table itself. */
static wick_value linear_product(wick_onnx_op *o, wick_value x, wick_value table)
{
  wick_value t = wick_onnx_transpose(o, table, 2, (const int64_t[]){1, 0});
  return wick_build2(o->b, WICK_OP_matmul, x, t);
}

static int64_t linear_features(wick_onnx_op *o, wick_value x)
{
  wick_dim f = wick_built_info(o->b, x)->dim[1];
  if (wick_dim_is_const(f) && f.v > 0) return f.v;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "the number of features must be known");
  return 0;
}

/* x times coefficients plus intercepts, n of each. */
static wick_value linear_scores(wick_onnx_op *o, wick_value x, int64_t n)
{
  wick_wire_f32s w = wick_ml_floats(o, "coefficients"), c = wick_ml_floats(o, "intercepts");
  int64_t f = linear_features(o, x);
  if (!f) return (wick_value){0};
  wick_value table = wick_ml_table(o, w, n, f);
  if (!table.id) return table;
  wick_value y = linear_product(o, x, table);
  if (!c.n) return y;
  wick_value bias = wick_ml_table(o, c, 0, n);
  return bias.id ? wick_build2(o->b, WICK_OP_add, y, bias) : bias;
}

static void linear_regressor(wick_onnx_op *o)
{
  wick_ml_post post = (wick_ml_post)wick_onnx_word(o, "post_transform", WICK_ML_POST_WORDS);
  int64_t n = wick_onnx_int(o, "targets", 1);
  wick_value x = wick_ml_matrix(o, 0, WICK_F32);
  if (!x.id) return;
  if (n < 1) {
    wick_onnx_fail(o, WICK_ERANGE, "%lld targets", (long long)n);
    return;
  }
  o->out[0] = wick_ml_post_apply(o, linear_scores(o, x, n), post);
}

/* ---- classes ---- */

static wick_value linear_argmax(wick_onnx_op *o, wick_value scores)
{
  wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_argmax);
  wick_onnx_set_int(&e, "axis", 1);
  wick_onnx_set_int(&e, "keepdims", 0);
  return wick_onnx_end1(&e, scores);
}

/* 1 where the score [rows, 1] is positive, else 0. */
static wick_value linear_positive(wick_onnx_op *o, wick_value score)
{
  wick_value yes = wick_onnx_by(o, WICK_OP_gt, wick_onnx_squeeze(o, score, 1), 0);
  return wick_build_cast(o->b, yes, WICK_I64);
}

static void linear_classifier(wick_onnx_op *o)
{
  wick_ml_post post = (wick_ml_post)wick_onnx_word(o, "post_transform", WICK_ML_POST_WORDS);
  int64_t nlabel, n = (int64_t)wick_ml_floats(o, "intercepts").n;
  wick_value labels = wick_ml_labels(o, "classlabels_ints", "classlabels_strings", &nlabel),
             x = wick_ml_matrix(o, 0, WICK_F32);
  if (!labels.id || !x.id) return;
  if (!n) n = nlabel;
  bool two = n == 1 && nlabel == 2;
  if (!two && n != nlabel) {
    wick_onnx_fail(o, WICK_ETYPE, "%lld intercepts and %lld labels", (long long)n,
                   (long long)nlabel);
    return;
  }
  wick_value scores = linear_scores(o, x, n);
  if (!scores.id) return;
  wick_value index = two ? linear_positive(o, scores) : linear_argmax(o, scores);
  o->out[0] = wick_ml_label_at(o, labels, index);
  o->out[1] = two ? wick_ml_post_two(o, scores, post, false) : wick_ml_post_apply(o, scores, post);
}

/* ---- kernels of support vector machines ---- */

enum { LINEAR_DOT, LINEAR_POLY, LINEAR_RBF, LINEAR_SIGMOID };

/* |x - v|^2 for all rows and vectors, as the sum over features of squares: differences cancel. */
static wick_value linear_distance(wick_onnx_op *o, wick_value x, wick_value vectors)
{
  wick_builder *b = o->b;
  wick_value wide = wick_onnx_unsqueeze(o, x, 1), others = wick_onnx_unsqueeze(o, vectors, 0);
  wick_value d = wick_build2(b, WICK_OP_sub, wide, others);
  return wick_onnx_reduce1(o, WICK_OP_reduce_sum_square, d, 2, false);
}

/* The kernel of each row of x and each of the vectors [n, f]: [rows, n]. */
static wick_value linear_kernel(wick_onnx_op *o, wick_value x, wick_value vectors)
{
  int kind = wick_onnx_word(o, "kernel_type", "LINEAR POLY RBF SIGMOID");
  wick_wire_f32s p = wick_ml_floats(o, "kernel_params");
  double gamma = p.n > 0 ? (double)p.at[0] : 0, coef0 = p.n > 1 ? (double)p.at[1] : 0,
         degree = p.n > 2 ? (double)p.at[2] : 0;
  wick_builder *b = o->b;
  if (kind == LINEAR_RBF)
    return wick_build1(b, WICK_OP_exp,
                       wick_onnx_by(o, WICK_OP_mul, linear_distance(o, x, vectors), -gamma));
  wick_value dot = linear_product(o, x, vectors);
  if (kind == LINEAR_DOT) return dot;
  wick_value v = wick_onnx_by(o, WICK_OP_add, wick_onnx_by(o, WICK_OP_mul, dot, gamma), coef0);
  if (kind == LINEAR_POLY) return wick_onnx_by(o, WICK_OP_pow, v, degree);
  return b->status ? v : wick_build1(b, WICK_OP_tanh, v);
}

static void linear_svm_regressor(wick_onnx_op *o)
{
  wick_wire_f32s w = wick_ml_floats(o, "coefficients"), rho = wick_ml_floats(o, "rho"),
                 sv = wick_ml_floats(o, "support_vectors");
  wick_onnx_word(o, "post_transform", WICK_ML_POST_WORDS); /* there is one score */
  int64_t n = wick_onnx_int(o, "n_supports", 0), f = 0;
  wick_value x = wick_ml_matrix(o, 0, WICK_F32), vectors, k = x;
  if (!x.id || !(f = linear_features(o, x))) return;
  if (n > 0) {
    vectors = wick_ml_table(o, sv, n, f);
    if (!vectors.id) return;
    k = linear_kernel(o, x, vectors);
  }
  wick_value row = wick_ml_table(o, w, 1, n > 0 ? n : f);
  if (!row.id) return;
  wick_value y = linear_product(o, k, row);
  y = wick_onnx_by(o, WICK_OP_add, y, rho.n ? (double)rho.at[0] : 0);
  if (wick_onnx_int(o, "one_class", 0)) {
    wick_value yes = wick_onnx_by(o, WICK_OP_gt, y, 0);
    if (o->b->status) return;
    wick_value one = wick_onnx_number(o, y, 1), other = wick_onnx_number(o, y, -1);
    y = wick_build3(o->b, WICK_OP_where, yes, one, other);
  }
  o->out[0] = y;
}

const wick_onnx_row wick_onnx_ml_linear_rows[] = {
    {"ai.onnx.ml.LinearClassifier",
     1,
     {1, 1},
     2,
     "classlabels_ints:I classlabels_strings:S coefficients:F! intercepts:F multi_class:i "
     "post_transform:s",
     linear_classifier,
     0,
     0},
    {"ai.onnx.ml.LinearRegressor",
     1,
     {1, 1},
     1,
     "coefficients:F intercepts:F post_transform:s targets:i",
     linear_regressor,
     0,
     0},
    {"ai.onnx.ml.SVMRegressor",
     1,
     {1, 1},
     1,
     "coefficients:F kernel_params:F kernel_type:s n_supports:i one_class:i post_transform:s rho:F "
     "support_vectors:F",
     linear_svm_regressor,
     0,
     0},
    {0},
};
