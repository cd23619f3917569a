/* Steps of recurrent operators with a state of 16-bit floats: the weights are stored in pairs if
 * the target has dot products of them. */
#include <string.h>

#include "ops/layout/layout.h"
#include "ops/recurrent/recurrent.h"

wick_factors wick_step_factors(const wick_narrowing *c)
{
  uint32_t r = WICK_STEP_R < c->n->nin ? c->definer[c->n->in[WICK_STEP_R].id] : UINT32_MAX;
  bool is = r != UINT32_MAX && c->f->node[r].op == WICK_OP_const;
  return is ? (wick_factors){1u << WICK_STEP_H | 1u << WICK_STEP_R, 1, 2} : (wick_factors){0};
}

/* Packs [N, K, gates, v] as [N, K / k, gates, v, k]. */
static wick_value layout_step_weights(wick_layouts *s, const wick_constant *w, wick_elem e,
                                      const uint16_t *half)
{
  enum { PAIR = 2 };
  int64_t d[WICK_MAX_RANK], k = wick_target_dot(s->target, e, e, PAIR) ? PAIR : 1;
  wick_type_const_dims(wick_type_get(s->c.f->module, w->type), d);
  int64_t dim[5] = {d[0], wick_ceildiv_i64(d[1], k), d[2], d[3], k}, row = d[2] * d[3];
  uint64_t nbytes = (uint64_t)(dim[0] * dim[1] * k * row) * sizeof *half;
  uint16_t *data = wick_module_alloc(s->c.f->module, nbytes);
  memset(data, 0, nbytes);
  for (int64_t n = 0; n < d[0]; n++)
    for (int64_t i = 0; i < d[1]; i++)
      for (int64_t j = 0; j < row; j++)
        data[((n * dim[1] + i / k) * row + j) * k + i % k] = half[(n * d[1] + i) * row + j];
  return wick_layout_new_constant(s, w->name, e, data, k > 1 ? 5 : 4, dim);
}

/* Finds the state and its weights as narrow floats. Returns false if they are not narrow. */
static bool layout_step_narrow(wick_layouts *s, const wick_node *n, wick_value *out_h,
                               wick_value *out_r)
{
  wick_value h = wick_layout_narrow(s, n->in[WICK_STEP_H]), r = n->in[WICK_STEP_R],
             *known = &s->weights[r.id];
  const wick_constant *w = wick_layout_constant(s, r);
  wick_elem e = wick_layout_info(s, h)->elem;
  const wick_dim *places = wick_layout_info(s, h)->dim, *dim = wick_layout_info(s, r)->dim;
  if (h.id == n->in[WICK_STEP_H].id || !w || wick_layout_info(s, r)->elem != WICK_F32 ||
      wick_layout_info(s, r)->rank != 4 || !wick_dim_is_const(dim[1]) ||
      !wick_dim_is_const(places[1]) || places[1].v < dim[1].v + dim[1].v % 2)
    return false;
  if (!known->id) {
    if (!wick_layout_holds(s, wick_layout_weights(s, r), e)) return false;
    *known = layout_step_weights(s, w, e, wick_layout_halves(s, w, e));
  }
  *out_h = wick_layout_plain(s, h), *out_r = *known;
  return true;
}

bool wick_layout_step(wick_layouts *s, const wick_node *n)
{
  wick_value in[WICK_STEP_MORE + 1] = {{0}};
  if (n->nin <= WICK_STEP_R || !n->in[WICK_STEP_R].id) return false;
  if (!layout_step_narrow(s, n, &in[WICK_STEP_H], &in[WICK_STEP_R])) return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (!in[k].id) in[k] = wick_layout_plain(s, n->in[k]);
  wick_value y = wick_build(&s->c.b, n->op, n->nin, in, n->attr, 0, NULL);
  for (uint32_t k = 0; k < n->nout; k++)
    s->c.to[n->first.id + k] = (wick_value){y.id ? y.id + k : 0};
  return true;
}
