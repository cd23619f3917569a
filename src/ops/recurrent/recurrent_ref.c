/* The references of the recurrent operators: the definition, one batch entry at a time, in double.
 */
#include <math.h>
#include <string.h>

#include "ops/recurrent/recurrent.h"
#include "ops/ref.h"

static double recurrent_act(const wick_attr *attr, uint32_t k, double x)
{
  int64_t kind = attr[WICK_RECURRENT_CELL + k].i;
  double alpha, beta, clip = attr[WICK_RECURRENT_CLIP].f;
  wick_recurrent_defaults(kind, &alpha, &beta);
  if (attr[WICK_RECURRENT_ALPHA].n > k) alpha = attr[WICK_RECURRENT_ALPHA].floats[k];
  if (attr[WICK_RECURRENT_BETA].n > k) beta = attr[WICK_RECURRENT_BETA].floats[k];
  if (k == WICK_RECURRENT_HIDDEN) clip = 0;
  if (clip > 0 && x > clip) x = clip;
  if (clip > 0 && x < -clip) x = -clip;
  switch (kind) {
  case 0: return tanh(x);
  case 1: return 1 / (1 + exp(-x));
  case 2: return isnan(x) ? x : x > 0 ? x : 0;
  case 3: return alpha * x + beta;
  case 4: return x < 0 ? alpha * x : x;
  case 5: return x > alpha ? x : 0;
  case 6: return alpha * tanh(beta * x);
  case 7: return isnan(x) ? x : fmin(fmax(alpha * x + beta, 0), 1);
  case 8: return x < 0 ? alpha * expm1(x) : x;
  case 9: return x / (1 + fabs(x));
  default: return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
  }
}

double wick_recurrent_act_ref(const wick_attr *attr, wick_elem e, uint32_t k, double x)
{
  return wick_ref_range(e, recurrent_act(attr, k, wick_ref_range(e, x)));
}

double wick_recurrent_mix_ref(wick_elem e, double x, double a, double y, double b)
{
  return wick_ref_range(e, wick_ref_range(e, x * a) + wick_ref_range(e, y * b));
}

static void recurrent_products(wick_recurrent_ref *r, int64_t t, int64_t place)
{
  wick_elem e = r->c->in[WICK_RECURRENT_X].elem;
  int64_t all = r->gates * r->units;
  const wick_scalar *x = r->in[WICK_RECURRENT_X] + (t * r->batch + place) * r->inputs,
                    *bias = r->in[WICK_RECURRENT_B];
  for (int64_t i = 0; i < all; i++) {
    const wick_scalar *w = r->in[WICK_RECURRENT_W] + i * r->inputs,
                      *u = r->in[WICK_RECURRENT_R] + i * r->units;
    double a = bias ? bias[i].f : 0, s = bias ? bias[all + i].f : 0;
    for (int64_t k = 0; k < r->inputs; k++) a = wick_ref_range(e, a + x[k].f * w[k].f);
    for (int64_t k = 0; r->begun[place] && k < r->units; k++)
      s = wick_ref_range(e, s + r->state[0][place * r->units + k] * u[k].f);
    r->from_input[i] = a, r->from_state[i] = s;
  }
}

static void recurrent_write(const wick_tensor *to, uint64_t at, int64_t n, const double *from)
{
  for (int64_t k = 0; k < n; k++)
    wick_store_elem(to->elem, to->data, at + (uint64_t)k, (wick_scalar){.f = from[k]});
}

wick_status wick_recurrent_run_ref(const wick_ref *c, uint32_t gates, uint32_t nstate, bool reverse,
                                   wick_recurrent_cell *cell)
{
  const wick_tensor *x = &c->in[WICK_RECURRENT_X];
  wick_recurrent_ref r = {.c = c,
                          .steps = x->dim[0],
                          .batch = x->dim[1],
                          .inputs = x->dim[2],
                          .units = c->in[WICK_RECURRENT_R].dim[1],
                          .gates = gates};
  for (uint32_t i = 0; i < c->nin; i++)
    if (c->in[i].data) r.in[i] = wick_ref_load(c->mem, &c->in[i]);
  r.from_input = wick_new(c->mem, double, (size_t)(gates * r.units) + 1);
  r.from_state = wick_new(c->mem, double, (size_t)(gates * r.units) + 1);
  int64_t n = r.batch * r.units;
  for (uint32_t k = 0; k < nstate; k++) {
    const wick_scalar *from = r.in[WICK_RECURRENT_H + k];
    r.state[k] = wick_new(c->mem, double, (size_t)n + 1);
    for (int64_t i = 0; from && i < n; i++) r.state[k][i] = from[i].f;
  }
  r.begun = wick_new(c->mem, bool, (size_t)r.batch + 1);
  for (int64_t p = 0; p < r.batch; p++) r.begun[p] = r.in[WICK_RECURRENT_H] != NULL;
  const wick_scalar *length = r.in[WICK_RECURRENT_LENGTHS];
  for (int64_t s = 0; s < r.steps; s++) {
    int64_t t = reverse ? r.steps - 1 - s : s;
    for (int64_t p = 0; p < r.batch; p++) {
      if (length && t >= length[p].i) continue; /* results are zeroed */
      double *state[2] = {r.state[0] + p * r.units, nstate > 1 ? r.state[1] + p * r.units : NULL};
      recurrent_products(&r, t, p);
      cell(&r, state);
      r.begun[p] = true;
      recurrent_write(&c->out[0], (uint64_t)((t * r.batch + p) * r.units), r.units, state[0]);
    }
  }
  for (uint32_t k = 0; k < nstate; k++) recurrent_write(&c->out[1 + k], 0, n, r.state[k]);
  return NULL;
}
