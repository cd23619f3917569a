/* Imports linear models and support vector machines of ai.onnx.ml. */
#include "import/onnx/ml.h"

/* Builds x [rows, f] times the transposed table [n, f]. */
static wick_value linear_product(wick_onnx_op *o, wick_value x, wick_value table)
{
  wick_value t = wick_build_transpose(o->b, table, 2, (const int64_t[]){1, 0});
  return wick_build2(o->b, WICK_OP_matmul, x, t);
}

static int64_t linear_features(wick_onnx_op *o, wick_value x)
{
  wick_dim f = wick_built_info(o->b, x)->dim[1];
  if (wick_dim_is_const(f) && f.v > 0) return f.v;
  if (wick_dim_is_const(f))
    wick_onnx_fail(o, WICK_ETYPE, "there are no features");
  else
    wick_onnx_must_be_known(o, "the number of features", f);
  return 0;
}

/* Builds x times coefficients plus intercepts, n of each. */
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
  wick_emit e = wick_emit_begin(o->b, WICK_OP_argmax);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "keepdims", 0);
  return wick_emit_end1(&e, scores);
}

/* Returns 1 where the score [rows, 1] is positive, else 0. */
static wick_value linear_positive(wick_onnx_op *o, wick_value score)
{
  wick_value yes = wick_emit_by(o->b, WICK_OP_gt, wick_emit_squeeze(o->b, score, 1), 0);
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
#define LINEAR_KERNELS "LINEAR POLY RBF SIGMOID"

/* Builds |x - v|^2 for all rows and vectors. It is summed over the features, because the form
 * |x|^2 - 2 x v + |v|^2 would cancel. */
static wick_value linear_distance(wick_onnx_op *o, wick_value x, wick_value vectors)
{
  wick_builder *b = o->b;
  wick_value wide = wick_emit_unsqueeze(o->b, x, 1), others = wick_emit_unsqueeze(o->b, vectors, 0);
  wick_value d = wick_build2(b, WICK_OP_sub, wide, others);
  return wick_emit_reduce1(o->b, WICK_OP_reduce_sum_square, d, 2, false);
}

/* Builds the kernel of each row of x and each vector [n, f]: [rows, n]. */
static wick_value linear_kernel(wick_onnx_op *o, wick_value x, wick_value vectors)
{
  int kind = wick_onnx_word(o, "kernel_type", LINEAR_KERNELS);
  wick_wire_f32s p = wick_ml_floats(o, "kernel_params");
  double gamma = p.n > 0 ? (double)p.at[0] : 0, coef0 = p.n > 1 ? (double)p.at[1] : 0,
         degree = p.n > 2 ? (double)p.at[2] : 0;
  wick_builder *b = o->b;
  if (kind == LINEAR_RBF)
    return wick_build1(b, WICK_OP_exp,
                       wick_emit_by(o->b, WICK_OP_mul, linear_distance(o, x, vectors), -gamma));
  wick_value dot = linear_product(o, x, vectors);
  if (kind == LINEAR_DOT) return dot;
  wick_value v =
      wick_emit_by(o->b, WICK_OP_add, wick_emit_by(o->b, WICK_OP_mul, dot, gamma), coef0);
  if (kind == LINEAR_POLY) return wick_emit_by(o->b, WICK_OP_pow, v, degree);
  return b->status ? v : wick_build1(b, WICK_OP_tanh, v);
}

static void linear_svm_regressor(wick_onnx_op *o)
{
  wick_wire_f32s w = wick_ml_floats(o, "coefficients"), rho = wick_ml_floats(o, "rho"),
                 sv = wick_ml_floats(o, "support_vectors");
  wick_onnx_word(o, "post_transform", WICK_ML_POST_WORDS); /* there is a single score */
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
  y = wick_emit_by(o->b, WICK_OP_add, y, rho.n ? (double)rho.at[0] : 0);
  if (wick_onnx_int(o, "one_class", 0)) {
    wick_value yes = wick_emit_by(o->b, WICK_OP_gt, y, 0);
    if (o->b->status) return;
    wick_value one = wick_emit_number(o->b, y, 1), other = wick_emit_number(o->b, y, -1);
    y = wick_build3(o->b, WICK_OP_where, yes, one, other);
  }
  o->out[0] = y;
}

/* ---- SVMClassifier ---- */

/* Builds the scores of pairs of classes, [rows, pairs]. A score sums over the vectors of its two
 * classes, with separate coefficients for each pair. */
static wick_value linear_pairs(wick_onnx_op *o, wick_value k, wick_wire_i64s per, int64_t vectors)
{
  wick_wire_f32s w = wick_ml_floats(o, "coefficients"), rho = wick_ml_floats(o, "rho");
  int64_t n = (int64_t)per.n, pairs = n * (n - 1) / 2, dim[2] = {vectors, pairs};
  if (w.n != (size_t)((n - 1) * vectors) || rho.n < (size_t)pairs) {
    wick_onnx_fail(o, WICK_ETYPE, "%zu coefficients and %zu of rho for %lld classes, %lld vectors",
                   w.n, rho.n, (long long)n, (long long)vectors);
    return (wick_value){0};
  }
  double *table = wick_new(o->c->tmp, double, (size_t)(vectors * pairs) + 1),
         *bias = wick_new(o->c->tmp, double, (size_t)pairs + 1);
  int64_t e = 0, first = 0, second;
  for (int64_t i = 0; i < n; first += per.at[i++]) {
    second = first + per.at[i];
    for (int64_t j = i + 1; j < n; second += per.at[j++], e++) {
      for (int64_t v = 0; v < per.at[i]; v++)
        table[(first + v) * pairs + e] = (double)w.at[(j - 1) * vectors + first + v];
      for (int64_t v = 0; v < per.at[j]; v++)
        table[(second + v) * pairs + e] = (double)w.at[i * vectors + second + v];
      bias[e] = (double)rho.at[e];
    }
  }
  wick_value m = wick_onnx_table(o, WICK_F32, 2, dim, table),
             c = wick_onnx_table(o, WICK_F32, 1, &pairs, bias);
  return wick_build2(o->b, WICK_OP_add, wick_build2(o->b, WICK_OP_matmul, k, m), c);
}

/* Returns the class with the most votes, the first one of several. A score above 0 is a vote for
 * the pair's first class, otherwise for its second one. */
static wick_value linear_votes(wick_onnx_op *o, wick_value scores, int64_t n)
{
  int64_t pairs = n * (n - 1) / 2, dim[2] = {pairs, n}, e = 0;
  double *first = wick_new(o->c->tmp, double, (size_t)(pairs * n) + 1),
         *base = wick_new(o->c->tmp, double, (size_t)n + 1);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++, e++) first[e * n + i] = 1, first[e * n + j] = -1, base[j]++;
  wick_value yes = wick_build_cast(o->b, wick_emit_by(o->b, WICK_OP_gt, scores, 0), WICK_F32);
  wick_value m = wick_onnx_table(o, WICK_F32, 2, dim, first),
             c = wick_onnx_table(o, WICK_F32, 1, &n, base);
  wick_value votes = wick_build2(o->b, WICK_OP_matmul, yes, m);
  return linear_argmax(o, wick_build2(o->b, WICK_OP_add, votes, c));
}

/* Builds probabilities [rows, classes] from the scores of pairs. */
static wick_value linear_probabilities(wick_onnx_op *o, wick_value scores, int64_t n)
{
  wick_wire_f32s a = wick_ml_floats(o, "prob_a"), c = wick_ml_floats(o, "prob_b");
  int64_t pairs = n * (n - 1) / 2, e = 0;
  wick_builder *b = o->b;
  wick_value ta = wick_ml_table(o, a, 0, pairs), tb = wick_ml_table(o, c, 0, pairs);
  if (!ta.id || !tb.id) return (wick_value){0};
  wick_value v = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, scores, ta), tb);
  wick_value p = wick_build1(b, WICK_OP_sigmoid, wick_build1(b, WICK_OP_neg, v));
  if (b->status) return p;
  wick_value limits[3] = {p, wick_emit_number(o->b, p, 1e-7), wick_emit_number(o->b, p, 1 - 1e-7)};
  p = wick_build(b, WICK_OP_clip, 3, limits, NULL, 0, NULL);
  wick_value other = wick_build2(b, WICK_OP_sub, wick_emit_number(o->b, p, 1), p);
  wick_value both = wick_build_concat(o->b, 1, 2, (const wick_value[]){p, other});
  int64_t *at = wick_new(o->c->tmp, int64_t, (size_t)(n * n)); /* the diagonal is not used */
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++, e++) at[i * n + j] = e, at[j * n + i] = pairs + e;
  wick_value columns = wick_ml_ints(o, (wick_wire_i64s){at, (size_t)(n * n)});
  wick_value r = wick_emit_gather(o->b, WICK_OP_gather, both, columns, 1);
  if (b->status) return r;
  wick_dim dim[3] = {wick_built_info(b, r)->dim[0], wick_dim_const(n), wick_dim_const(n)};
  p = wick_build1(b, WICK_OP_pairwise_coupling, wick_build_reshape(o->b, r, 3, dim));
  return wick_build_transpose(o->b, p, 2, (const int64_t[]){1, 0});
}

/* The form with support vectors: a machine for each pair of classes. */
static void linear_svm_pairs(wick_onnx_op *o, wick_value x, wick_value labels, wick_ml_post post)
{
  wick_wire_i64s per = wick_onnx_ints(o, "vectors_per_class");
  int64_t n = (int64_t)per.n, vectors = 0, f = linear_features(o, x);
  for (size_t i = 0; i < per.n; i++) {
    if (per.at[i] < 0 || per.at[i] > 1 << 28) n = 0;
    vectors += n ? per.at[i] : 0;
  }
  if (!f) return;
  if (n < 2 || n > 1 << 10) {
    wick_onnx_fail(o, WICK_ERANGE, "vectors_per_class has %zu numbers", per.n);
    return;
  }
  wick_value table = wick_ml_table(o, wick_ml_floats(o, "support_vectors"), vectors, f);
  if (!table.id) return;
  wick_value scores = linear_pairs(o, linear_kernel(o, x, table), per, vectors);
  if (!scores.id) return;
  bool probable = wick_ml_floats(o, "prob_a").n > 0;
  wick_value p = probable ? linear_probabilities(o, scores, n) : (wick_value){0};
  if (o->failed) return;
  o->out[0] = wick_ml_label_at(o, labels, linear_votes(o, scores, n));
  if (n == 2 && !probable)
    o->out[1] = wick_ml_post_two(o, scores, post, post == WICK_ML_NONE);
  else
    o->out[1] = wick_ml_post_apply(o, probable ? p : scores, post);
}

/* Returns the class with the highest score. ONNX Runtime decides between two classes without
 * probabilities in another way: it takes the second class if the highest score is above 0, or,
 * if no coefficient is negative, at least 0.5. */
static wick_value linear_svm_choice(wick_onnx_op *o, wick_value scores, int64_t nlabel)
{
  wick_wire_f32s w = wick_ml_floats(o, "coefficients");
  wick_value index = linear_argmax(o, scores);
  if (nlabel != 2 || wick_ml_floats(o, "prob_a").n || o->b->status) return index;
  bool negative = false;
  for (size_t i = 0; i < w.n; i++) negative |= w.at[i] < 0;
  wick_value most = wick_emit_reduce1(o->b, WICK_OP_reduce_max, scores, 1, false);
  wick_value high = negative ? wick_emit_by(o->b, WICK_OP_gt, most, 0)
                             : wick_emit_by(o->b, WICK_OP_ge, most, 0.5);
  if (o->b->status) return index;
  return wick_build3(o->b, WICK_OP_where, high, wick_emit_number(o->b, index, 1), index);
}

/* The form without support vectors: a linear machine for each class. As in ONNX Runtime, all use
 * the first rho, and kernel_type is ignored. */
static void linear_svm_classes(wick_onnx_op *o, wick_value x, wick_value labels, int64_t n,
                               wick_ml_post post)
{
  wick_wire_f32s rho = wick_ml_floats(o, "rho");
  int64_t f = linear_features(o, x);
  wick_value table =
      f ? wick_ml_table(o, wick_ml_floats(o, "coefficients"), n, f) : (wick_value){0};
  if (!table.id) return;
  wick_onnx_word(o, "kernel_type", LINEAR_KERNELS);
  wick_value scores = linear_product(o, x, table);
  scores = wick_emit_by(o->b, WICK_OP_add, scores, rho.n ? (double)rho.at[0] : 0);
  o->out[0] = wick_ml_label_at(o, labels, linear_svm_choice(o, scores, n));
  o->out[1] = wick_ml_post_apply(o, scores, post);
}

static void linear_svm_classifier(wick_onnx_op *o)
{
  wick_ml_post post = (wick_ml_post)wick_onnx_word(o, "post_transform", WICK_ML_POST_WORDS);
  int64_t n;
  wick_value labels = wick_ml_labels(o, "classlabels_ints", "classlabels_strings", &n),
             x = wick_ml_matrix(o, 0, WICK_F32);
  wick_wire_i64s per = wick_onnx_ints(o, "vectors_per_class");
  if (!labels.id || !x.id) return;
  if (per.n && (int64_t)per.n != n) {
    wick_onnx_fail(o, WICK_ETYPE, "vectors of %zu classes, %lld labels", per.n, (long long)n);
    return;
  }
  if (per.n)
    linear_svm_pairs(o, x, labels, post);
  else
    linear_svm_classes(o, x, labels, n, post);
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
    {"ai.onnx.ml.SVMClassifier",
     1,
     {1, 1},
     2,
     "classlabels_ints:I classlabels_strings:S coefficients:F kernel_params:F kernel_type:s "
     "post_transform:s prob_a:F prob_b:F rho:F support_vectors:F vectors_per_class:I",
     linear_svm_classifier,
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
