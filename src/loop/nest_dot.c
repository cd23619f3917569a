/* A reduced loop that is one dot product: loads the elements of both factors for all of its
 * iterations at once. */
#include "loop/nest_state.h"
#include "loop/product.h"

/* The order of a factor's elements in a vector. */
typedef enum nest_dot_order {
  NEST_DOT_SHARED, /* k elements, the same for all lanes */
  NEST_DOT_LANES,  /* lane i * k + j is lane i of iteration j */
  NEST_DOT_ACROSS  /* lane j * lanes + i is lane i of iteration j */
} nest_dot_order;

/* Reads the factor for the k iterations of loop `l`: for each of the run's lanes, or once if all
 * lanes share it. */
static wick_value nest_dot_factor(nest *t, const nest_run *r, const wick_sloop *l, uint32_t k,
                                  const wick_node *read, nest_dot_order order)
{
  wick_dims *dims = t->m->dims;
  nest_run all = *r;
  bool lanes = order != NEST_DOT_SHARED, across = order == NEST_DOT_ACROSS;
  all.lanes = lanes ? k * r->lanes : k;
  all.active = lanes ? wick_dim_mul(dims, r->active, wick_dim_const(k)) : wick_dim_const(k);
  all.base = wick_dup(t->tmp, wick_dim, r->base, r->st->naxis);
  all.vsym = nest_symbol_open(t, "dot", nest_high(t, all.active) - 1);
  wick_dim by = wick_dim_const(across ? (int64_t)r->lanes : (int64_t)k),
           high = wick_dim_floordiv(dims, all.vsym, by), low = wick_dim_mod(dims, all.vsym, by);
  all.base[l->axis] = !lanes ? all.vsym : across ? high : low;
  if (lanes)
    all.base[r->vaxis] =
        wick_dim_add(dims, wick_dim_sub(dims, r->base[r->vaxis], r->vsym), across ? low : high);
  return nest_widen(t, nest_eval_read(t, &all, read), all.lanes);
}

/* Reorders v from NEST_DOT_ACROSS to NEST_DOT_LANES. */
static wick_value nest_dot_turn(nest *t, wick_value v, uint32_t k, uint32_t lanes)
{
  enum { NEST_KEY_DOT = 40 };
  uint64_t key[3] = {NEST_KEY_DOT, v.id, k};
  nest_known *known = nest_find(t, key, 3);
  if (known) return known->value;
  int64_t *lane = wick_new(&t->m->mem, int64_t, k * lanes);
  for (uint32_t i = 0; i < k * lanes; i++) lane[i] = (int64_t)(i % k) * lanes + i / k;
  wick_value in[2] = {v, v};
  wick_attr a = {.n = k * lanes, .ints = lane};
  return nest_remember(t, key, 3, wick_build(&t->b, WICK_OP_shuffle, 2, in, &a, 0, NULL));
}

wick_value nest_dot(nest *t, const nest_run *r, const wick_sloop *l, wick_value state)
{
  wick_product p;
  const wick_axis *axis = &r->st->axis[l->axis];
  wick_dots how = r->lanes > 1 && wick_product_of(t->g, r->node, &p)
                      ? wick_product_dots(t->g, axis, &r->st->axis[r->vaxis], &p)
                      : WICK_DOTS_NONE;
  bool across = how == WICK_DOTS_ACROSS;
  if (how == WICK_DOTS_NONE || (across && !wick_dim_is(r->active, r->lanes))) {
    nest_fail(t, "stage `%s`: loop `%s` is no dot product", r->st->name, l->name);
    return state;
  }
  uint32_t k = (uint32_t)axis->extent.v;
  wick_value x = nest_dot_factor(t, r, l, k, p.x, across ? NEST_DOT_ACROSS : NEST_DOT_SHARED);
  wick_value in[3] = {nest_widen(t, state, r->lanes), x,
                      nest_dot_factor(t, r, l, k, p.y, NEST_DOT_LANES)};
  in[1] = across ? nest_dot_turn(t, x, k, r->lanes) : nest_repeat(t, x, k * r->lanes);
  return wick_build(&t->b, WICK_OP_dot, 3, in, NULL, 0, NULL);
}
