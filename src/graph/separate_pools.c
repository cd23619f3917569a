/* Separates in one traversal. */
#include "graph/separate_pools.h"

#include <string.h>

#include "ir/copy.h"
#include "ops/nn/window.h"
#include "target/target.h"

/* Returns the window along axis k alone; along the other axes each element is a window. */
static wick_window separate_pools_along(const wick_window *w, uint32_t k)
{
  wick_window one = {.n = w->n};
  for (uint32_t a = 0; a < w->n; a++)
    one.kernel[a] = one.stride[a] = one.dilation[a] = 1, one.begin[a] = one.end[a] = 0;
  one.kernel[k] = w->kernel[k], one.stride[k] = w->stride[k], one.dilation[k] = w->dilation[k];
  one.begin[k] = w->begin[k], one.end[k] = w->end[k];
  return one;
}

/* Returns true if the window does something along axis k. */
static bool separate_pools_acts(const wick_window *w, uint32_t k)
{
  return w->kernel[k] > 1 || w->stride[k] > 1 || w->begin[k] || w->end[k];
}

/* Returns what it costs to read an element for windows along the last axis. With a stride, vectors of
 * them are gathered; windows that are fewer than a vector, or further apart than half of one, are
 * read one by one. */
static double separate_pools_last(const wick_window *w, int64_t windows, int64_t lanes)
{
  const double GATHERED = 3, ALONE = 10;
  int64_t stride = w->stride[w->n - 1];
  return stride == 1 || lanes < 2 ? 1 : windows < 4 || 2 * stride > lanes ? ALONE : GATHERED;
}

/* Returns true if a chain takes much less time. Costs are in elements that are read. An intermediate
 * result is written and read, and a kernel must begin. */
static bool separate_pools_is_worth(const wick_func *f, const wick_node *n, const wick_window *w,
                                    int64_t lanes)
{
  const double MOVED = 2, KERNEL = 30000, LEAST = 0.6;
  const wick_type_info *x = wick_info_of(f, n->in[0]), *y = wick_info_of(f, n->first);
  wick_dims *dims = f->module->dims;
  double elements = 1, whole, chain = 0,
         last = separate_pools_last(w, wick_dim_typical(dims, y->dim[1 + w->n]), lanes);
  whole = last;
  uint32_t parts = 0;
  for (uint32_t k = 0; k < x->rank; k++) elements *= (double)wick_dim_typical(dims, x->dim[k]);
  for (uint32_t k = 0; k < w->n; k++) {
    double read = (double)w->kernel[k];
    whole *= read;
    if (!separate_pools_acts(w, k)) continue;
    elements *= (double)wick_dim_typical(dims, y->dim[2 + k]) /
                (double)wick_dim_typical(dims, x->dim[2 + k]);
    chain += elements * ((k + 1 == w->n ? last : 1) * read + MOVED);
    chain += parts++ ? KERNEL : 0;
  }
  return parts > 1 && chain < LEAST * whole * elements;
}

static bool separate_pools_hits(const wick_pass_context *pass, const wick_func *f,
                                const wick_node *n)
{
  if ((n->op != WICK_OP_max_pool && n->op != WICK_OP_avg_pool) || n->nout != 1) return false;
  const wick_type_info *x = wick_info_of(f, n->in[0]);
  if (n->op == WICK_OP_avg_pool && x->elem != WICK_F32 && x->elem != WICK_F64) return false;
  for (uint32_t k = 0; k < x->rank; k++)
    if (wick_dim_is(x->dim[k], 0)) return false;
  const int64_t *kernel = n->attr[WICK_ATTR_max_pool_kernel].ints;
  wick_window w = wick_window_of(n->attr, x->rank - 2u, kernel);
  int64_t lanes = pass->target->vector_bytes / (int64_t)wick_elem_bytes(x->elem, 1);
  return separate_pools_is_worth(f, n, &w, lanes);
}

static wick_value separate_pools_one(wick_copier *c, const wick_node *n, const wick_window *w,
                                     wick_value x)
{
  int64_t pad[2 * WICK_WINDOW_MAX];
  wick_attr a[WICK_MAX_ATTR];
  memcpy(pad, w->begin, w->n * sizeof *pad);
  memcpy(pad + w->n, w->end, w->n * sizeof *pad);
  memcpy(a, n->attr, n->nattr * sizeof *a);
  a[WICK_WINDOW_STRIDE] = (wick_attr){.n = w->n, .ints = w->stride};
  a[WICK_WINDOW_PAD] = (wick_attr){.n = 2 * w->n, .ints = pad};
  a[WICK_WINDOW_DILATION] = (wick_attr){.n = w->n, .ints = w->dilation};
  a[WICK_ATTR_max_pool_kernel] = (wick_attr){.n = w->n, .ints = w->kernel};
  return wick_build(&c->b, n->op, 1, &x, a, 0, NULL);
}

wick_status wick_pass_separate_pools(const wick_pass_context *pass, const wick_func *f,
                                     wick_func **out)
{
  wick_copier c = wick_copy_begin(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!separate_pools_hits(pass, f, n)) {
      wick_copy_node(&c, n);
      continue;
    }
    wick_window w = wick_window_of(n->attr, wick_info_of(f, n->in[0])->rank - 2u,
                                   n->attr[WICK_ATTR_max_pool_kernel].ints);
    wick_value v = c.to[n->in[0].id];
    c.b.loc = n->loc;
    for (uint32_t k = 0; k < w.n; k++) {
      wick_window one = separate_pools_along(&w, k);
      if (separate_pools_acts(&w, k) && !c.b.status) v = separate_pools_one(&c, n, &one, v);
    }
    c.to[n->first.id] = v;
    if (!c.b.status)
      wick_build_name(&c.b, v, f->value[n->first.id].name, f->value[n->first.id].relation);
  }
  return wick_copy_finish(&c, out);
}
