/* Probabilities of classes from those of pairs of classes: the second method of Wu, Lin and Weng
 * 2004 ("Probability estimates for multi-class classification by pairwise coupling"), with the
 * stopping rule of LIBSVM. The steps are a fold whose state no longer changes after convergence. */
#include <math.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { PAIRWISE_COUPLING_STEPS = 100, PAIRWISE_COUPLING_MOST = 32 };
static const double pairwise_coupling_good = 0.005; /* is divided by the number of classes */

static wick_status pairwise_coupling_infer(wick_infer *c)
{
  const wick_type_info *r;
  WICK_TRY(wick_infer_tensor(c, 0, "the pairs", 3, &r));
  if (r->rank != 3 || !wick_dim_is_const(r->dim[1]) || !wick_dim_eq(r->dim[1], r->dim[2]) ||
      r->dim[1].v < 2 || r->dim[1].v > PAIRWISE_COUPLING_MOST)
    return wick_infer_fail(c, WICK_ETYPE, "pairs %s, expected [rows, k, k] with k of 2 to %d",
                           wick_infer_type_text(c, c->in[0]->type), PAIRWISE_COUPLING_MOST);
  wick_dim dim[2] = {r->dim[1], r->dim[0]};
  wick_infer_out(c, 0, r->elem, 2, dim);
  return NULL;
}

static double pairwise_coupling_pair(const double *r, int64_t k, int64_t i, int64_t j)
{
  if (i != j) return -r[j * k + i] * r[i * k + j];
  double sum = 0;
  for (int64_t t = 0; t < k; t++)
    if (t != i) sum += r[t * k + i] * r[t * k + i];
  return sum;
}

static void pairwise_coupling_row(const double *r, int64_t k, double *p)
{
  double q[PAIRWISE_COUPLING_MOST];
  for (int64_t i = 0; i < k; i++) p[i] = 1.0 / (double)k;
  for (int step = 0; step < PAIRWISE_COUPLING_STEPS; step++) {
    double all = 0, worst = 0;
    for (int64_t i = 0; i < k; i++) {
      q[i] = 0;
      for (int64_t j = 0; j < k; j++) q[i] += pairwise_coupling_pair(r, k, i, j) * p[j];
      all += p[i] * q[i];
    }
    for (int64_t i = 0; i < k; i++) worst = fmax(worst, fabs(q[i] - all));
    if (worst < pairwise_coupling_good / (double)k) return;
    for (int64_t i = 0; i < k; i++) {
      double own = pairwise_coupling_pair(r, k, i, i), more = (all - q[i]) / own, by = 1 + more;
      p[i] += more;
      all = (all + more * (more * own + 2 * q[i])) / by / by;
      for (int64_t j = 0; j < k; j++) {
        q[j] = (q[j] + more * pairwise_coupling_pair(r, k, i, j)) / by;
        p[j] /= by;
      }
    }
  }
}

static wick_status pairwise_coupling_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  int64_t n = x->dim[0], k = x->dim[1];
  double r[PAIRWISE_COUPLING_MOST * PAIRWISE_COUPLING_MOST], p[PAIRWISE_COUPLING_MOST];
  for (int64_t row = 0; row < n; row++) {
    for (int64_t i = 0; i < k * k; i++)
      r[i] = wick_load_elem(x->elem, x->data, (uint64_t)(row * k * k + i)).f;
    pairwise_coupling_row(r, k, p);
    for (int64_t i = 0; i < k; i++)
      wick_store_elem(x->elem, c->out[0].data, (uint64_t)(i * n + row), (wick_scalar){.f = p[i]});
  }
  return NULL;
}

/* ---- stages ---- */

typedef struct couple {
  wick_builder *b;
  int64_t k;
  wick_value q[PAIRWISE_COUPLING_MOST][PAIRWISE_COUPLING_MOST]; /* the symmetric matrix */
  wick_value p[PAIRWISE_COUPLING_MOST], qp[PAIRWISE_COUPLING_MOST], all;
} couple;

static void pairwise_coupling_matrix(couple *s, wick_value tensor, wick_dim row)
{
  wick_builder *b = s->b;
  wick_value r[PAIRWISE_COUPLING_MOST][PAIRWISE_COUPLING_MOST];
  for (int64_t i = 0; i < s->k; i++)
    for (int64_t j = 0; j < s->k; j++) {
      wick_dim index[3] = {row, wick_dim_const(i), wick_dim_const(j)};
      if (i != j) r[i][j] = wick_read(b, tensor, index, 0, NULL, (wick_value){0});
    }
  for (int64_t i = 0; i < s->k; i++) {
    wick_value sum = {0};
    for (int64_t j = 0; j < s->k; j++) {
      if (i == j) continue;
      wick_value square = wick_build2(b, WICK_OP_mul, r[j][i], r[j][i]);
      sum = sum.id ? wick_build2(b, WICK_OP_add, sum, square) : square;
      s->q[i][j] = i < j
                       ? wick_build1(b, WICK_OP_neg, wick_build2(b, WICK_OP_mul, r[j][i], r[i][j]))
                       : s->q[j][i];
    }
    s->q[i][i] = sum;
  }
}

/* Builds the products with the matrix, and the largest difference that remains. */
static wick_value pairwise_coupling_products(couple *s)
{
  wick_builder *b = s->b;
  wick_value worst = {0};
  s->all = (wick_value){0};
  for (int64_t i = 0; i < s->k; i++) {
    s->qp[i] = wick_build2(b, WICK_OP_mul, s->q[i][0], s->p[0]);
    for (int64_t j = 1; j < s->k; j++) {
      wick_value term = wick_build2(b, WICK_OP_mul, s->q[i][j], s->p[j]);
      s->qp[i] = wick_build2(b, WICK_OP_add, s->qp[i], term);
    }
    wick_value term = wick_build2(b, WICK_OP_mul, s->p[i], s->qp[i]);
    s->all = i ? wick_build2(b, WICK_OP_add, s->all, term) : term;
  }
  for (int64_t i = 0; i < s->k; i++) {
    wick_value d = wick_build2(b, WICK_OP_sub, s->qp[i], s->all);
    d = wick_build1(b, WICK_OP_abs, d);
    worst = i ? wick_build2(b, WICK_OP_max, worst, d) : d;
  }
  return worst;
}

static void pairwise_coupling_class(couple *s, int64_t i)
{
  wick_builder *b = s->b;
  wick_value own = s->q[i][i], more = wick_build2(b, WICK_OP_sub, s->all, s->qp[i]);
  more = wick_build2(b, WICK_OP_div, more, own);
  if (b->status) return;
  wick_value by = wick_build2(b, WICK_OP_add, wick_build_like(b, more, 1), more);
  s->p[i] = wick_build2(b, WICK_OP_add, s->p[i], more);
  wick_value twice = wick_build2(b, WICK_OP_add, s->qp[i], s->qp[i]);
  wick_value change = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, more, own), twice);
  s->all = wick_build2(b, WICK_OP_add, s->all, wick_build2(b, WICK_OP_mul, more, change));
  s->all = wick_build2(b, WICK_OP_div, wick_build2(b, WICK_OP_div, s->all, by), by);
  for (int64_t j = 0; j < s->k; j++) {
    wick_value term = wick_build2(b, WICK_OP_mul, more, s->q[i][j]);
    s->qp[j] = wick_build2(b, WICK_OP_div, wick_build2(b, WICK_OP_add, s->qp[j], term), by);
    s->p[j] = wick_build2(b, WICK_OP_div, s->p[j], by);
  }
}

static void pairwise_coupling_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  couple s = {.b = b, .k = x->dim[1].v};
  uint32_t k = (uint32_t)s.k;
  wick_type one = wick_type_scalar(b->module, x->elem, 1), type[2 * PAIRWISE_COUPLING_MOST];
  wick_axis axis[2] = {wick_make_axis(b, "row", x->dim[0], false),
                       wick_make_axis(b, "step", wick_dim_const(PAIRWISE_COUPLING_STEPS), true)};
  for (uint32_t i = 0; i < 2 * k; i++) type[i] = one;
  wick_fold_open(b, "pairwise_coupling", 2, axis, 1, c->out_type);
  wick_region_begin(b, 0, NULL);
  wick_value v[PAIRWISE_COUPLING_MOST];
  for (uint32_t i = 0; i < k; i++) v[i] = wick_build_const(b, one, 1.0 / (double)k, 0);
  wick_yield(b, k, v);
  wick_value old = wick_region_begin(b, k, type);
  for (uint32_t i = 0; i < k; i++) s.p[i] = (wick_value){old.id + i};
  pairwise_coupling_matrix(&s, c->in[0], axis[0].sym);
  wick_value worst = pairwise_coupling_products(&s);
  if (b->status) return;
  wick_value limit = wick_build_like(b, worst, pairwise_coupling_good / (double)k);
  wick_value good = wick_build2(b, WICK_OP_lt, worst, limit);
  for (int64_t i = 0; i < s.k; i++) pairwise_coupling_class(&s, i);
  for (uint32_t i = 0; i < k; i++)
    v[i] = wick_build3(b, WICK_OP_where, good, (wick_value){old.id + i}, s.p[i]);
  wick_yield(b, k, v);
  /* the fold is never split: its steps depend on each other */
  wick_value m = wick_region_begin(b, 2 * k, type);
  for (uint32_t i = 0; i < k; i++) v[i] = (wick_value){m.id + k + i};
  wick_yield(b, k, v);
  wick_value last = wick_region_begin(b, k, type);
  for (uint32_t i = 0; i < k; i++) v[i] = (wick_value){last.id + i};
  wick_yield(b, k, v);
  c->out[0] = wick_build_close(b);
}

const wick_op wick_op_pairwise_coupling = {
    .name = "pairwise_coupling",
    .doc = "The probabilities [k, rows] of k classes from those of pairs of classes, [rows, k, "
           "k], where [i, j] is the probability of i given that it is i or j. The method is the "
           "pairwise coupling of LIBSVM; it stops when no product differs by 0.005 / k, or after "
           "100 steps",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .elems = WICK_BIT(WICK_F32) | WICK_BIT(WICK_F64),
    .infer = pairwise_coupling_infer,
    .ref = pairwise_coupling_ref,
    .compute = pairwise_coupling_compute,
    .grad = wick_grad_none,
    .batch = {wick_batch_merge, .in = {1}, .out = {2}},
};
