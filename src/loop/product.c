/* Recognizes sums of products. */
#include "loop/product.h"

#include "ir/op.h"

/* Returns the node of the region that defines v, or NULL. */
static const wick_node *product_def(const wick_func *g, const wick_region *step, wick_value v)
{
  for (uint32_t i = step->begin; i < step->end; i++)
    if (g->node[i].nout && g->node[i].first.id == v.id) return &g->node[i];
  return NULL;
}

/* Returns the read that v is, perhaps through casts, or through the steps that dequantize it:
 * halves of bytes, a zero point and a scale. Adds the number of all reads to *nread. */
static const wick_node *product_read(const wick_func *g, const wick_region *step, wick_value v,
                                     uint32_t *nread)
{
  const wick_node *n = product_def(g, step, v);
  while (n && n->op != WICK_OP_read) {
    bool shared = n->op == WICK_OP_sub || n->op == WICK_OP_mul,
         bits = n->op == WICK_OP_shift_left || n->op == WICK_OP_shift_right ||
                n->op == WICK_OP_bit_and;
    if (n->op != WICK_OP_cast && !shared && !bits) return NULL;
    if (shared) {
      const wick_node *by = product_def(g, step, n->in[1]);
      if (by && by->op == WICK_OP_cast) by = product_def(g, step, by->in[0]);
      if (!by || by->op != WICK_OP_read) return NULL;
      ++*nread;
    }
    n = product_def(g, step, n->in[0]);
  }
  *nread += n != NULL;
  return n;
}

bool wick_product_of(const wick_func *group, const wick_node *fold, wick_product *out)
{
  const wick_region *step = &fold->region[1];
  const wick_node *yield = &group->node[step->end - 1],
                  *sum = yield->nin == 1 ? product_def(group, step, yield->in[0]) : NULL,
                  *mul = sum;
  uint32_t nread = 0, found = 0;
  for (uint32_t i = step->begin; i < step->end; i++) nread += group->node[i].op == WICK_OP_read;
  if (!sum || step->nparam != 1 || nread < 2) return false;
  wick_value state = {0};
  if (sum->op == WICK_OP_muladd)
    state = sum->in[2];
  else if (sum->op == WICK_OP_add)
    state = sum->in[0], mul = product_def(group, step, sum->in[1]);
  if (state.id != step->first.id || !mul || (mul != sum && mul->op != WICK_OP_mul)) return false;
  *out = (wick_product){product_read(group, step, mul->in[0], &found),
                        product_read(group, step, mul->in[1], &found)};
  return out->x && out->y && out->x != out->y && found == nread;
}

/* Returns 1 if d is sym + an expression without sym, 0 if it does not use sym, else -1. */
static int product_step(wick_dims *t, wick_dim d, wick_dim sym)
{
  wick_dim coef, rest;
  if (wick_dim_eq(d, WICK_DIM_ANY)) return -1;
  if (!wick_dim_uses(t, d, sym)) return 0;
  return wick_dim_linear(t, d, sym, &coef, &rest) && wick_dim_is(coef, 1) ? 1 : -1;
}

/* Returns true if index k of the read steps by one with sym, and no other index uses sym. */
static bool product_steps(wick_dims *t, const wick_node *read, uint32_t k, wick_dim sym)
{
  for (uint32_t i = 0; i < wick_read_index(read)->n; i++)
    if (product_step(t, wick_read_index(read)->dims[i], sym) != (i == k)) return false;
  return true;
}

wick_dots wick_product_dots(const wick_func *group, const wick_axis *axis, const wick_axis *lane,
                            const wick_product *p)
{
  wick_dims *t = group->module->dims;
  uint32_t nx = wick_read_index(p->x)->n, ny = wick_read_index(p->y)->n;
  const wick_type_info *y = wick_info_of(group, p->y->in[0]);
  if (!nx || ny < 2 || !wick_dim_is_const(axis->extent) ||
      !product_steps(t, p->y, ny - 1, axis->sym) || !product_steps(t, p->y, ny - 2, lane->sym) ||
      !wick_dim_eq(wick_read_index(p->y)->dims[ny - 1], axis->sym) ||
      !wick_dim_eq(y->dim[ny - 1], axis->extent))
    return WICK_DOTS_NONE;
  if (nx >= 2 && product_steps(t, p->x, nx - 2, axis->sym) &&
      product_steps(t, p->x, nx - 1, lane->sym))
    return WICK_DOTS_ACROSS;
  for (uint32_t i = 0; i < nx; i++)
    if (product_step(t, wick_read_index(p->x)->dims[i], lane->sym) != 0) return WICK_DOTS_NONE;
  return product_steps(t, p->x, nx - 1, axis->sym) ? WICK_DOTS_SHARED : WICK_DOTS_NONE;
}
