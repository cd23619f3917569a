/* The derivative of affine_gather, y[i] = x[begin + step*i].
 *
 * dx[p] is the sum of dy[i] over the solutions of p = begin + step*i. For each dimension of x an
 * index is chosen that the equation of that dimension decides (a pivot). The others are free. So dx
 * is a sum over the free indices of another affine_gather, of dy with zeros between the elements of
 * pivots whose step is not 1. An equation without a pivot is a condition: the index, which must be
 * 0, of one more dimension of size 1. */
#include "ops/gradient/grad.h"

enum { SHAPE, BEGIN, STEP, GUARD };
enum { OPEN = -1, FREE = -2 }; /* otherwise the dimension of x that decides the index */

typedef struct affine_solution {
  uint32_t rank, n, nfree;
  const wick_attr *attr;
  int64_t of[WICK_MAX_RANK];    /* per index */
  int64_t pivot[WICK_MAX_RANK]; /* per dimension of x; OPEN: none */
  uint32_t free[WICK_MAX_RANK]; /* the free indices */
} affine_solution;

/* An expression of the indices of dx and the free ones. */
typedef struct affine_form {
  wick_dim begin;
  int64_t step[2 * WICK_MAX_RANK];
} affine_form;

static int64_t affine_step(const affine_solution *s, uint32_t d, uint32_t k)
{
  return s->attr[STEP].ints[d * s->n + k];
}

static uint32_t affine_count(const affine_solution *s, uint32_t d)
{
  uint32_t count = 0;
  for (uint32_t k = 0; k < s->n; k++) count += affine_step(s, d, k) != 0;
  return count;
}

/* An index with steps between its elements may occur in one equation only. */
static bool affine_may_pivot(const affine_solution *s, uint32_t d, uint32_t k)
{
  uint32_t uses = 0;
  int64_t step = affine_step(s, d, k);
  for (uint32_t e = 0; e < s->rank; e++) uses += affine_step(s, e, k) != 0;
  return s->of[k] == OPEN && step != 0 && (step == 1 || step == -1 || uses == 1);
}

/* The equations with the fewest indices first: then most dimensions have a pivot. */
static void affine_solve(affine_solution *s)
{
  for (uint32_t k = 0; k < s->n; k++) s->of[k] = OPEN;
  for (uint32_t d = 0; d < s->rank; d++) s->pivot[d] = OPEN;
  for (uint32_t count = 1; count <= s->n; count++)
    for (uint32_t d = 0; d < s->rank; d++) {
      int64_t best = OPEN, most = -1;
      if (affine_count(s, d) != count) continue;
      for (uint32_t k = 0; k < s->n; k++) {
        int64_t size =
            wick_dim_is_const(s->attr[SHAPE].dims[k]) ? s->attr[SHAPE].dims[k].v : INT64_MAX;
        if (affine_may_pivot(s, d, k) && size > most) best = k, most = size;
      }
      s->pivot[d] = best;
      for (uint32_t k = 0; k < s->n; k++)
        if (affine_step(s, d, k) && s->of[k] == OPEN) s->of[k] = k == best ? (int64_t)d : FREE;
    }
  for (uint32_t k = 0; k < s->n; k++)
    if (s->of[k] < 0) s->free[s->nfree++] = k;
}

static void affine_form_add(wick_dims *t, affine_form *out, const affine_form *x, int64_t times)
{
  out->begin = wick_dim_add(t, out->begin, wick_dim_mul(t, x->begin, wick_dim_const(times)));
  for (uint32_t k = 0; k < 2 * WICK_MAX_RANK; k++) out->step[k] += times * x->step[k];
}

/* p_d - begin_d - the sum of all other terms of equation d; index[k] are the indices' expressions. */
static affine_form affine_rest(const affine_solution *s, wick_dims *t, uint32_t d,
                               const affine_form *index)
{
  affine_form out = {.begin = wick_dim_sub(t, wick_dim_const(0), s->attr[BEGIN].dims[d])};
  out.step[d] = 1;
  for (uint32_t k = 0; k < s->n; k++)
    if (affine_step(s, d, k) && (int64_t)k != s->pivot[d])
      affine_form_add(t, &out, &index[k], -affine_step(s, d, k));
  return out;
}

/* The indices as expressions; those of a pivot with a step are the index times the step. */
static void affine_expressions(const affine_solution *s, wick_dims *t, affine_form *index)
{
  for (uint32_t i = 0; i < s->nfree; i++) {
    index[s->free[i]] = (affine_form){.begin = wick_dim_const(0)};
    index[s->free[i]].step[s->rank + i] = 1;
  }
  for (uint32_t count = 1; count <= s->n; count++)
    for (uint32_t d = 0; d < s->rank; d++) {
      if (affine_count(s, d) != count || s->pivot[d] < 0) continue;
      affine_form rest = affine_rest(s, t, d, index);
      uint32_t k = (uint32_t)s->pivot[d];
      index[k] = (affine_form){.begin = wick_dim_const(0)};
      affine_form_add(t, &index[k], &rest, affine_step(s, d, k) < 0 ? -1 : 1);
    }
}

/* dy with zeros between the elements of pivots whose step is not 1. */
static wick_value affine_apart(wick_builder *b, const affine_solution *s, wick_value g)
{
  for (uint32_t k = 0; k < s->n; k++) {
    int64_t step = s->of[k] < 0 ? 1 : affine_step(s, (uint32_t)s->of[k], k);
    g = wick_grad_apart(b, g, k, step < 0 ? -step : step);
  }
  return g;
}

void wick_grad_affine_gather(wick_adjoint *a)
{
  wick_builder *b = a->b;
  if (b->status) return;
  wick_dims *t = b->module->dims;
  const wick_type_info x = *wick_built_info(b, a->in[0]);
  affine_solution s = {.rank = x.rank, .n = a->node->attr[SHAPE].n, .attr = a->node->attr};
  affine_form index[WICK_MAX_RANK], row[2 * WICK_MAX_RANK];
  wick_dim shape[2 * WICK_MAX_RANK], begin[2 * WICK_MAX_RANK], dim[2 * WICK_MAX_RANK];
  int64_t step[4 * WICK_MAX_RANK * WICK_MAX_RANK], axis[WICK_MAX_RANK];
  affine_solve(&s);
  affine_expressions(&s, t, index);
  wick_value g = affine_apart(b, &s, a->dout[0]);
  if (b->status) return;
  uint32_t n = s.n, nout = s.rank + s.nfree;
  for (uint32_t k = 0; k < n; k++) row[k] = index[k], dim[k] = wick_built_info(b, g)->dim[k];
  for (uint32_t d = 0; d < s.rank; d++)
    if (s.pivot[d] < 0) dim[n] = wick_dim_const(1), row[n++] = affine_rest(&s, t, d, index);
  for (uint32_t d = 0; d < s.rank; d++) shape[d] = x.dim[d];
  for (uint32_t i = 0; i < s.nfree; i++) {
    shape[s.rank + i] = s.attr[SHAPE].dims[s.free[i]];
    axis[i] = s.rank + i;
  }
  if (n > WICK_MAX_RANK || nout > WICK_MAX_RANK) {
    wick_build_fail(b, WICK_ELIMIT,
                    "the derivative of affine_gather needs rank %u, at most %d is possible",
                    n > nout ? n : nout, WICK_MAX_RANK);
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    begin[k] = row[k].begin;
    for (uint32_t j = 0; j < nout; j++) step[k * nout + j] = row[k].step[j];
  }
  const wick_attr attr[] = {[SHAPE] = {.n = nout, .dims = shape},
                            [BEGIN] = {.n = n, .dims = begin},
                            [STEP] = {.n = n * nout, .ints = step},
                            [GUARD] = {.i = 1}};
  g = wick_grad_reshape(b, g, n, dim);
  g = wick_build(b, WICK_OP_affine_gather, 1, &g, attr, 0, NULL);
  a->din[0] = s.nfree ? wick_grad_sum(b, g, s.nfree, axis, false) : g;
}
