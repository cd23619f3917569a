/* Linear models and support vector machines. */
#include <math.h>
#include <string.h>

#include "import/coreml/classic.h"
#include "import/coreml/classify.h"

enum { LINEAR_MOST_CLASSES = 1 << 12 };

/* ---- linear models ---- */

/* Weights of the same length as a constant [rows, columns]. Returns 0 after it added a problem. */
static wick_value linear_matrix(wick_import *c, wick_coreml_messages rows, const char *field)
{
  wick_list(double) all = {0};
  uint32_t columns = 0;
  for (uint32_t k = 0; k < rows.n; k++) {
    wick_coreml_reals v = wick_coreml_reals_of(&rows.at[k], field, c->tmp);
    if (k && v.n != columns) {
      wick_import_error(c, WICK_EPARSE, c->file, "its vectors have %u and %u numbers", columns,
                        v.n);
      return (wick_value){0};
    }
    columns = v.n;
    for (uint32_t i = 0; i < v.n; i++) wick_push(c->tmp, &all, v.at[i]);
  }
  if (all.n)
    return wick_emit_table(&c->b, "vectors", WICK_F64, 2, (const int64_t[]){rows.n, columns},
                           all.at);
  wick_import_error(c, WICK_EPARSE, c->file, "it has no weights");
  return (wick_value){0};
}

/* The scores [n] of weights [n, features] and offsets. */
static wick_value linear_scores(wick_import *c, const wick_coreml_model *m,
                                const wick_coreml_message *part, uint32_t *out_n)
{
  wick_coreml_messages rows = wick_coreml_parts(part, "weights", c->tmp);
  wick_coreml_reals offset = wick_coreml_reals_of(part, "offset", c->tmp);
  wick_value x = wick_coreml_vector(c, m), w = {0};
  *out_n = rows.n;
  if (x.id) w = linear_matrix(c, rows, "value");
  if (!w.id) return w;
  wick_value y = wick_build2(&c->b, WICK_OP_matmul, w, x);
  return offset.n ? wick_build2(&c->b, WICK_OP_add, y, wick_coreml_numbers(c, offset)) : y;
}

/* The distribution function of the normal distribution. */
static wick_value linear_normal(wick_import *c, wick_value x)
{
  x = wick_build1(&c->b, WICK_OP_erf, wick_emit_by(&c->b, WICK_OP_mul, x, sqrt(0.5)));
  return wick_emit_by(&c->b, WICK_OP_mul, wick_emit_by(&c->b, WICK_OP_add, x, 1), 0.5);
}

void wick_coreml_glm_regressor(wick_import *c, const wick_coreml_model *m,
                               const wick_coreml_message *part)
{
  enum { NONE, LOGIT, PROBIT };
  uint32_t n;
  int64_t transform = wick_coreml_int(part, "postEvaluationTransform", 0);
  wick_value y = linear_scores(c, m, part, &n);
  if (!y.id) return;
  if (transform == LOGIT) y = wick_build1(&c->b, WICK_OP_sigmoid, y);
  if (transform == PROBIT) y = linear_normal(c, y);
  if (transform < NONE || transform > PROBIT)
    wick_import_error(c, WICK_EUNSUPPORTED, c->file, "there is no transform %lld",
                      (long long)transform);
  wick_coreml_result(c, m, 0, y);
}

/* ReferenceClass: the first class has the score 0. OneVsRest: each class has a probability of its
 * own; they are scaled to the sum 1. */
void wick_coreml_glm_classifier(wick_import *c, const wick_coreml_model *m,
                                const wick_coreml_message *part)
{
  enum { LOGIT, PROBIT };
  wick_builder *b = &c->b;
  uint32_t n;
  bool probit = wick_coreml_int(part, "postEvaluationTransform", 0) == PROBIT,
       rest = wick_coreml_int(part, "classEncoding", 0) == 1;
  wick_value y = linear_scores(c, m, part, &n);
  if (!y.id || b->status) return;
  if (n == 1) {
    wick_value yes = probit ? linear_normal(c, y) : wick_build1(b, WICK_OP_sigmoid, y);
    wick_value minus = wick_build1(b, WICK_OP_neg, y);
    wick_value no = probit ? linear_normal(c, minus) : wick_build1(b, WICK_OP_sigmoid, minus);
    y = wick_build_concat(b, 0, 2, (const wick_value[]){no, yes});
  } else if (rest) {
    y = probit ? linear_normal(c, y) : wick_build1(b, WICK_OP_sigmoid, y);
    y = wick_build2(b, WICK_OP_div, y, wick_emit_reduce1(b, WICK_OP_reduce_sum, y, 0, true));
  } else if (probit) {
    wick_import_error(c, WICK_EUNSUPPORTED, c->file,
                      "the probit of several classes with a reference is not supported");
    return;
  } else {
    wick_value zero = wick_coreml_numbers(c, (wick_coreml_reals){1, (const double[]){0}});
    y = wick_build_concat(b, 0, 2, (const wick_value[]){zero, y});
    wick_emit e = wick_emit_begin(b, WICK_OP_softmax);
    wick_emit_set_int(&e, "axis", 0);
    y = wick_emit_end1(&e, y);
  }
  wick_coreml_classified(c, m, part, y);
}

/* ---- support vectors ---- */

/* Sparse vectors: pairs of an index, from 1 on, and a value. */
static wick_value linear_sparse(wick_import *c, const wick_coreml_message *set, int64_t columns)
{
  wick_coreml_messages rows = wick_coreml_parts(set, "vectors", c->tmp);
  uint64_t count;
  if (columns < 1 || wick_mul_overflows((uint64_t)rows.n, (uint64_t)columns, &count) ||
      count > (1u << 28) || !rows.n) {
    wick_import_error(c, WICK_ELIMIT, c->file, "%u vectors of %lld features", rows.n,
                      (long long)columns);
    return (wick_value){0};
  }
  double *all = wick_new(c->tmp, double, count);
  for (uint32_t r = 0; r < rows.n; r++) {
    wick_coreml_messages nodes = wick_coreml_parts(&rows.at[r], "nodes", c->tmp);
    for (uint32_t k = 0; k < nodes.n; k++) {
      int64_t at = wick_coreml_int(&nodes.at[k], "index", 0);
      if (at < 1 || at > columns) {
        wick_import_error(c, WICK_ERANGE, c->file, "a support vector has feature %lld of %lld",
                          (long long)at, (long long)columns);
        return (wick_value){0};
      }
      all[(int64_t)r * columns + at - 1] = wick_coreml_real(&nodes.at[k], "value", 0);
    }
  }
  return wick_emit_table(&c->b, "vectors", WICK_F64, 2, (const int64_t[]){rows.n, columns}, all);
}

/* The kernel of x [features] and each support vector: [vectors]. */
static wick_value linear_kernel(wick_import *c, const wick_coreml_message *part, wick_value x)
{
  wick_builder *b = &c->b;
  wick_coreml_message dense = wick_coreml_part(part, "denseSupportVectors"),
                      sparse = wick_coreml_part(part, "sparseSupportVectors"),
                      kernel = wick_coreml_part(part, "kernel"), k;
  if (!x.id || b->status) return (wick_value){0};
  wick_dim columns = wick_built_info(b, x)->dim[0];
  wick_value v = dense.bytes.at
                     ? linear_matrix(c, wick_coreml_parts(&dense, "vectors", c->tmp), "values")
                     : linear_sparse(c, &sparse, wick_dim_is_const(columns) ? columns.v : 0);
  if (!v.id) return v;
  const wick_coreml_field *f = wick_coreml_choice(&kernel, 1, 63, &k);
  double gamma = wick_coreml_real(&k, "gamma", 0);
  if (f && f->number == 2) { /* rbf: the difference is squared itself, which does not cancel */
    wick_value d = wick_build2(b, WICK_OP_sub, v, wick_emit_unsqueeze(b, x, 0));
    d = wick_emit_reduce1(b, WICK_OP_reduce_sum_square, d, 1, false);
    return wick_build1(b, WICK_OP_exp, wick_emit_by(b, WICK_OP_mul, d, -gamma));
  }
  wick_value y = wick_build2(b, WICK_OP_matmul, v, x);
  if (!f || f->number == 1) return y;
  y = wick_emit_by(b, WICK_OP_mul, y, gamma);
  y = wick_emit_by(b, WICK_OP_add, y, wick_coreml_real(&k, "c", 0));
  if (f->number == 3)
    return wick_emit_by(b, WICK_OP_pow, y, (double)wick_coreml_int(&k, "degree", 0));
  return wick_build1(b, WICK_OP_tanh, y);
}

void wick_coreml_svm_regressor(wick_import *c, const wick_coreml_model *m,
                               const wick_coreml_message *part)
{
  wick_builder *b = &c->b;
  wick_coreml_message coefficients = wick_coreml_part(part, "coefficients");
  wick_value k = linear_kernel(c, part, wick_coreml_vector(c, m));
  if (!k.id) return;
  wick_value alpha = wick_coreml_numbers(c, wick_coreml_reals_of(&coefficients, "alpha", c->tmp));
  wick_value y =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, k, alpha), 0, true);
  y = wick_emit_by(b, WICK_OP_sub, y, wick_coreml_real(part, "rho", 0));
  wick_coreml_result(c, m, 0, y);
}

typedef struct linear_svm {
  uint32_t n, pairs;
  int64_t vectors;
  wick_coreml_ints per; /* vectors of each class */
} linear_svm;

/* The decisions [pairs]: each sums over the vectors of its two classes, with coefficients of its own,
 * less its rho. */
static wick_value linear_decisions(wick_import *c, const wick_coreml_message *part,
                                   const linear_svm *s, wick_value kernel)
{
  wick_coreml_messages list = wick_coreml_parts(part, "coefficients", c->tmp);
  wick_coreml_reals rho = wick_coreml_reals_of(part, "rho", c->tmp);
  wick_coreml_reals *alpha = wick_new(c->tmp, wick_coreml_reals, (size_t)list.n + 1);
  bool fit = list.n == s->n - 1 && rho.n == s->pairs;
  for (uint32_t k = 0; k < list.n; k++) {
    alpha[k] = wick_coreml_reals_of(&list.at[k], "alpha", c->tmp);
    fit = fit && alpha[k].n == s->vectors;
  }
  if (!fit || (uint64_t)s->vectors * s->pairs > (1u << 28)) {
    wick_import_error(c, WICK_EPARSE, c->file,
                      "%u lists of coefficients and %u of rho for %u classes, %lld vectors", list.n,
                      rho.n, s->n, (long long)s->vectors);
    return (wick_value){0};
  }
  double *table = wick_new(c->tmp, double, (size_t)(s->vectors * s->pairs) + 1);
  int64_t first = 0, e = 0;
  for (uint32_t i = 0; i < s->n; first += s->per.at[i++]) {
    int64_t second = first + s->per.at[i];
    for (uint32_t j = i + 1; j < s->n; second += s->per.at[j++], e++) {
      for (int64_t v = first; v < first + s->per.at[i]; v++)
        table[v * s->pairs + e] = alpha[j - 1].at[v];
      for (int64_t v = second; v < second + s->per.at[j]; v++)
        table[v * s->pairs + e] = alpha[i].at[v];
    }
  }
  wick_value w = wick_emit_table(&c->b, "coefficients", WICK_F64, 2,
                                 (const int64_t[]){s->vectors, s->pairs}, table);
  wick_value y = wick_build2(&c->b, WICK_OP_matmul, kernel, w);
  return wick_build2(&c->b, WICK_OP_sub, y, wick_coreml_numbers(c, rho));
}

/* The votes [classes]: of each pair for the first class if the decision is above 0. */
static wick_value linear_votes(wick_import *c, const linear_svm *s, wick_value decisions)
{
  wick_builder *b = &c->b;
  double *first = wick_new(c->tmp, double, (size_t)s->pairs * s->n + 1),
         *base = wick_new(c->tmp, double, s->n);
  int64_t e = 0, n = s->n;
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t j = i + 1; j < s->n; j++, e++)
      first[e * n + i] = 1, first[e * n + j] = -1, base[j]++;
  wick_value yes = wick_build_cast(b, wick_emit_by(b, WICK_OP_gt, decisions, 0), WICK_F64);
  wick_value w = wick_emit_table(b, "votes", WICK_F64, 2, (const int64_t[]){s->pairs, n}, first);
  wick_value add = wick_emit_table(b, "votes", WICK_F64, 1, &n, base);
  return wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_matmul, yes, w), add);
}

/* The probabilities [classes] by pairwise coupling (Wu, Lin and Weng 2004), as in LIBSVM. */
static wick_value linear_probabilities(wick_import *c, const wick_coreml_message *part,
                                       const linear_svm *s, wick_value decisions)
{
  wick_builder *b = &c->b;
  wick_coreml_reals pa = wick_coreml_reals_of(part, "probA", c->tmp),
                    pb = wick_coreml_reals_of(part, "probB", c->tmp);
  if (pa.n != s->pairs || pb.n != s->pairs) {
    wick_import_error(c, WICK_EPARSE, c->file, "%u of probA and %u of probB, expected %u", pa.n,
                      pb.n, s->pairs);
    return (wick_value){0};
  }
  wick_value v = wick_build2(b, WICK_OP_mul, decisions, wick_coreml_numbers(c, pa));
  v = wick_build2(b, WICK_OP_add, v, wick_coreml_numbers(c, pb));
  wick_value p = wick_build1(b, WICK_OP_sigmoid, wick_build1(b, WICK_OP_neg, v));
  if (b->status) return p;
  wick_value low = wick_emit_number(b, p, 1e-7), high = wick_emit_number(b, p, 1 - 1e-7);
  p = wick_build3(b, WICK_OP_clip, p, low, high);
  wick_value one = wick_emit_number(b, p, 1);
  wick_value other = wick_build2(b, WICK_OP_sub, one, p);
  wick_value both = wick_build_concat(b, 0, 2, (const wick_value[]){p, other});
  int64_t n = s->n, count = n * n, e = 0;
  int64_t *at = wick_new(c->tmp, int64_t, (size_t)count); /* the diagonal is not used */
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = i + 1; j < n; j++, e++) at[i * n + j] = e, at[j * n + i] = s->pairs + e;
  wick_value index =
      wick_import_copied(c, "pairs", WICK_I64, 1, &count, at, (uint64_t)count * sizeof *at);
  wick_value r = wick_emit_gather(b, WICK_OP_gather, both, index, 0);
  wick_dim dim[] = {wick_dim_const(1), wick_dim_const(n), wick_dim_const(n)};
  r = wick_build_reshape(b, r, 3, dim);
  return wick_build1(b, WICK_OP_pairwise_coupling, r);
}

void wick_coreml_svm_classifier(wick_import *c, const wick_coreml_model *m,
                                const wick_coreml_message *part)
{
  linear_svm s = {.per = wick_coreml_ints_of(part, "numberOfSupportVectorsPerClass", c->tmp)};
  s.n = s.per.n;
  for (uint32_t k = 0; k < s.n; k++) {
    bool good = s.per.at[k] >= 0 && s.per.at[k] < 1 << 28;
    s.vectors = good && s.vectors >= 0 ? s.vectors + s.per.at[k] : -1;
  }
  if (s.n < 2 || s.n > LINEAR_MOST_CLASSES || s.vectors < 0) {
    wick_import_error(c, WICK_ERANGE, c->file, "support vectors of %u classes, expected 2 or more",
                      s.n);
    return;
  }
  s.pairs = s.n * (s.n - 1) / 2;
  wick_value k = linear_kernel(c, part, wick_coreml_vector(c, m));
  wick_value d = k.id ? linear_decisions(c, part, &s, k) : k;
  if (!d.id) return;
  bool probable = wick_coreml_reals_of(part, "probA", c->tmp).n > 0;
  wick_value scores = probable ? linear_probabilities(c, part, &s, d) : linear_votes(c, &s, d);
  if (scores.id) wick_coreml_classified(c, m, part, scores);
}
