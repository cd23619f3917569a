/* Finds the windows that contribute to an output. */
#include "ops/nn/window_source.h"

#include "ops/stage.h"

wick_window_source wick_window_source_of(wick_builder *b, const wick_window *w, uint32_t k,
                                         wick_dim out)
{
  wick_dims *t = b->module->dims;
  const char *name = wick_window_tap(w->n, k);
  int64_t s = w->stride[k], d = w->dilation[k], n = w->kernel[k];
  wick_dim at = wick_dim_add(t, out, wick_dim_const(w->begin[k])), stride = wick_dim_const(s);
  wick_window_source m = {.rest = wick_dim_const(0), .kernel = wick_dim_const(w->kernel[k])};
  if (d == 1) { /* the outputs of one phase use every s-th element of the window, and no other */
    m.axis = wick_make_axis(b, name, wick_dim_const(wick_ceildiv_i64(n, s)), true);
    m.x = wick_dim_sub(t, wick_dim_floordiv(t, at, stride), m.axis.sym);
    m.w = wick_dim_add(t, wick_dim_mod(t, at, stride), wick_dim_mul(t, m.axis.sym, stride));
    m.exact = n % s == 0;
    return m;
  }
  m.axis = wick_make_axis(b, name, wick_dim_const(n), true);
  m.w = m.axis.sym;
  at = wick_dim_sub(t, at, wick_dim_mul(t, m.axis.sym, wick_dim_const(d)));
  m.x = wick_dim_floordiv(t, at, stride);
  m.rest = wick_dim_mod(t, at, stride);
  m.exact = wick_dim_is(m.rest, 0);
  return m;
}

wick_value wick_window_source_inside(wick_builder *b, const wick_window_source *m, wick_dim windows)
{
  const wick_dim index[] = {m->x, m->w}, size[] = {windows, m->kernel};
  wick_value on = wick_stage_inside(b, 2, index, size);
  if (wick_dim_is(m->rest, 0)) return on;
  wick_value whole = wick_stage_compare(b, WICK_OP_eq, m->rest, wick_dim_const(0));
  return on.id ? wick_build2(b, WICK_OP_and, on, whole) : whole;
}
