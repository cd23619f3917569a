/* Counts the work of references: elements that are read and written, and the products of operators
 * that have more of these. Sizes are multiplied as doubles, because they may overflow integers. */
#include "ops/work.h"

/* Measured on one core of a server of 2023: seconds of one. */
static const double work_product = 0.4e-9, work_element = 15e-9;

static double work_numel(const wick_tensor *t)
{
  double n = 1;
  for (uint32_t k = 0; k < t->rank; k++) n *= (double)t->dim[k];
  return n;
}

static double work_last(const wick_tensor *t, uint32_t k)
{
  return t->rank >= k ? (double)t->dim[t->rank - k] : 1;
}

double wick_products_matmul(const wick_ref *r)
{
  return work_numel(&r->out[0]) * work_last(&r->in[0], 1);
}

double wick_products_conv(const wick_ref *r)
{
  const wick_tensor *w = &r->in[1];
  return w->dim[0] ? work_numel(&r->out[0]) * work_numel(w) / (double)w->dim[0] : 0;
}

double wick_products_conv_transpose(const wick_ref *r)
{
  const wick_tensor *w = &r->in[1];
  return w->dim[0] ? work_numel(&r->in[0]) * work_numel(w) / (double)w->dim[0] : 0;
}

double wick_products_conv_weight_grad(const wick_ref *r)
{
  const wick_tensor *g = &r->in[1];
  return g->dim[1] ? work_numel(&r->out[0]) * work_numel(g) / (double)g->dim[1] : 0;
}

double wick_products_attention(const wick_ref *r)
{
  return work_last(&r->in[1], 2) * (work_numel(&r->in[0]) + work_numel(&r->out[0]));
}

double wick_products_pool(const wick_ref *r)
{
  const wick_attr *window = &r->attr[WICK_ATTR_max_pool_kernel];
  double n = work_numel(&r->out[0]);
  for (uint32_t k = 0; k < window->n; k++) n *= (double)window->ints[k];
  return n;
}

double wick_products_recurrent(const wick_ref *r)
{
  double cells = (double)r->in[0].dim[0] * (double)r->in[0].dim[1];
  return cells * (work_numel(&r->in[1]) + work_numel(&r->in[2]));
}

double wick_products_dft_pass(const wick_ref *r)
{
  return work_numel(&r->out[0]) * (double)r->in[0].dim[2];
}

double wick_ref_seconds(const wick_ref *r)
{
  const wick_op *op = wick_ops[r->op];
  double elements = 0;
  for (uint32_t i = 0; i < r->nin; i++) elements += work_numel(&r->in[i]);
  for (uint32_t k = 0; k < r->nout; k++) elements += work_numel(&r->out[k]);
  return work_element * elements + (op->products ? work_product * op->products(r) : 0);
}
