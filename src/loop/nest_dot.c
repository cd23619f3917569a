/* A reduced loop that is one dot product: the elements of both factors for all of its iterations
 * at once. */
#include "loop/nest_state.h"
#include "loop/product.h"

/* What `read` gives for the k iterations of loop `l`; where it has the run's lane, for each of
 * them: lane i * k + j is lane i of iteration j. */
static wick_value nest_dot_factor(nest *t, const nest_run *r, const wick_sloop *l, uint32_t k,
                                  const wick_node *read, bool lanes)
{
  wick_dims *dims = t->m->dims;
  nest_run all = *r;
  all.lanes = lanes ? k * r->lanes : k;
  all.active = lanes ? k * r->active : k;
  all.base = wick_dup(t->tmp, wick_dim, r->base, r->st->naxis);
  all.vsym = nest_symbol_open(t, "dot", (int64_t)all.active - 1);
  all.base[l->axis] = lanes ? wick_dim_mod(dims, all.vsym, wick_dim_const(k)) : all.vsym;
  if (lanes)
    all.base[r->vaxis] = wick_dim_add(dims, wick_dim_sub(dims, r->base[r->vaxis], r->vsym),
                                      wick_dim_floordiv(dims, all.vsym, wick_dim_const(k)));
  return nest_widen(t, nest_eval_read(t, &all, read), all.lanes);
}

wick_value nest_dot(nest *t, const nest_run *r, const wick_sloop *l, wick_value state)
{
  wick_product p;
  const wick_axis *axis = &r->st->axis[l->axis];
  if (r->lanes < 2 || !wick_product_of(t->g, r->node, &p) ||
      !wick_product_dots(t->g, axis, &r->st->axis[r->vaxis], &p)) {
    nest_fail(t, "stage `%s`: loop `%s` is no dot product", r->st->name, l->name);
    return state;
  }
  uint32_t k = (uint32_t)axis->extent.v;
  wick_value in[3] = {nest_widen(t, state, r->lanes), nest_dot_factor(t, r, l, k, p.x, false),
                      nest_dot_factor(t, r, l, k, p.y, true)};
  in[1] = nest_repeat(t, in[1], k * r->lanes);
  return wick_build(&t->b, WICK_OP_dot, 3, in, NULL, 0, NULL);
}
