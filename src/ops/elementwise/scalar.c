/* Scalar operators: the reference and the stages derived from their evaluation of one element. */
#include "ops/elementwise/scalar.h"

#include <stdio.h>

/* ---- reference ---- */

/* Returns the position in t of element `at` of the output (row-major indices over out's dims). */
static uint64_t scalar_position(const wick_tensor *t, const wick_tensor *out, uint64_t at)
{
  uint64_t position = 0, stride = 1;
  for (uint32_t k = out->rank; k-- > 0;) {
    uint64_t i = at % (uint64_t)out->dim[k];
    at /= (uint64_t)out->dim[k];
    uint32_t lead = out->rank - t->rank;
    if (k < lead) continue;
    if (t->dim[k - lead] != 1) position += i * stride;
    stride *= (uint64_t)t->dim[k - lead];
  }
  return position;
}

wick_status wick_scalar_ref(wick_ref *c)
{
  const wick_op *row = wick_ops[c->op];
  wick_tensor *out = &c->out[0];
  wick_elem elem = c->nin ? c->in[row->scalar == WICK_RULE_SELECT].elem : out->elem;
  uint64_t n = 1;
  for (uint32_t k = 0; k < out->rank; k++) n *= (uint64_t)out->dim[k];
  for (uint64_t at = 0; at < n; at++) {
    wick_scalar in[4];
    for (uint32_t i = 0; i < c->nin; i++)
      in[i] = wick_load_elem(c->in[i].elem, c->in[i].data, scalar_position(&c->in[i], out, at));
    wick_store_elem(out->elem, out->data, at,
                    wick_eval_scalar(c->op, c->attr, elem, out->elem, in));
  }
  return NULL;
}

/* ---- stages ---- */

uint32_t wick_axes_of(wick_builder *b, wick_type t, wick_axis *axis)
{
  const wick_type_info *info = wick_type_get(b->module, t);
  for (uint32_t k = 0; k < info->rank; k++) {
    char name[16];
    snprintf(name, sizeof name, "d%u", k);
    axis[k] = wick_make_axis(b, name, info->dim[k], false);
  }
  return info->rank;
}

void wick_broadcast_index(const wick_module *m, wick_type t, uint32_t n, const wick_axis *axis,
                          wick_dim *out_index)
{
  const wick_type_info *info = wick_type_get(m, t);
  for (uint32_t k = 0; k < info->rank; k++)
    out_index[k] = wick_dim_is(info->dim[k], 1) ? wick_dim_const(0) : axis[n - info->rank + k].sym;
}

/* Builds the position of the axes' element in a dense tensor of these dimensions, as an i64. */
static wick_value scalar_index(wick_builder *b, uint32_t n, const wick_axis *axis)
{
  wick_dims *t = b->module->dims;
  wick_dim at = wick_dim_const(0);
  for (uint32_t k = 0; k < n; k++)
    at = wick_dim_add(t, wick_dim_mul(t, at, axis[k].extent), axis[k].sym);
  return wick_index(b, at);
}

void wick_scalar_map(const wick_compute *c, wick_scalar_check check)
{
  wick_builder *b = c->b;
  const wick_type_info *out = wick_type_get(b->module, c->out_type[0]);
  wick_axis axis[WICK_MAX_RANK];
  uint32_t n = wick_axes_of(b, c->out_type[0], axis);
  wick_map_begin(b, wick_ops[c->op]->name, n, axis, 1, c->out_type);
  wick_value in[4] = {{0}};
  for (uint32_t i = 0; i < c->nin; i++) {
    wick_dim index[WICK_MAX_RANK];
    wick_broadcast_index(b->module, wick_built_type(b, c->in[i]), n, axis, index);
    in[i] = wick_read(b, c->in[i], index, 0, NULL, (wick_value){0});
  }
  wick_value fails = check ? check(b, in) : (wick_value){0};
  if (fails.id)
    wick_build_failure(b, WICK_EINVAL, fails, scalar_index(b, n, axis),
                       wick_type_numel(b->module, c->out_type[0]));
  wick_type want = wick_type_scalar(b->module, out->elem, 1);
  bool typed = wick_ops[c->op]->typed;
  wick_value r = wick_build(b, c->op, c->nin, in, c->attr, typed, typed ? &want : NULL);
  c->out[0] = wick_map_end(b, 1, &r);
}

void wick_scalar_compute(const wick_compute *c) { wick_scalar_map(c, NULL); }

wick_status (*wick_ref_of(wick_opcode op))(wick_ref *)
{
  return wick_ops[op]->ref ? wick_ops[op]->ref : wick_ops[op]->eval ? wick_scalar_ref : NULL;
}

void (*wick_compute_of(wick_opcode op))(const wick_compute *)
{
  return wick_ops[op]->compute  ? wick_ops[op]->compute
         : wick_ops[op]->scalar ? wick_scalar_compute
                                : NULL;
}
