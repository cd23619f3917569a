/* Joins dimensions of operators that work on slices: sorts, running sums. */
#include "graph/group/form_state.h"
#include "ops/elementwise/scalar.h"

/* Finds the type of a tensor whose dimensions before the axis are one, and those after it. Returns
 * false if they are dynamic or not contiguous. *out_axis is the axis' new position. */
static bool form_sliced(const form_state *s, wick_value v, uint32_t axis, uint32_t joins,
                        wick_type *out, uint32_t *out_axis)
{
  const wick_type_info *t = wick_info_of(s->f, v);
  int64_t dim[WICK_MAX_RANK], size[3] = {1, 1, 1};
  wick_dim kept[3];
  uint32_t rank = 0;
  if (!wick_type_const_dims(t, dim)) return false;
  for (uint32_t k = 0; k < t->rank; k++) {
    size[k < axis ? 0 : k == axis ? 1 : 2] *= dim[k];
    if (k + 1 < t->rank && k != axis && k + 1 != axis && !(joins >> k & 1)) return false;
  }
  for (uint32_t k = 0; k < 3; k++) {
    if (k == 1) *out_axis = rank;
    if (k == 1 || size[k] != 1) kept[rank++] = wick_dim_const(size[k]);
  }
  *out = wick_type_tensor(s->f->module, t->elem, rank, kept);
  return true;
}

/* the axis is the first attribute of all such operators */
_Static_assert(WICK_ATTR_cumsum_axis == WICK_ATTR_top_k_axis, "the axis of slices");

wick_status wick_form_slices(form_state *s, uint32_t i, const uint32_t *joins, wick_func **group)
{
  const wick_node *n = &s->f->node[i];
  if (!wick_op_of(n)->slices || (*group)->nparam != 1 || n->nin != 1) return NULL;
  wick_arena *mem = &s->f->module->mem;
  wick_builder b;
  wick_value in, *out = wick_new(s->tmp, wick_value, n->nout);
  wick_type type, *out_type = wick_new(s->tmp, wick_type, n->nout);
  wick_attr *attr = wick_dup(mem, wick_attr, n->attr, n->nattr);
  uint32_t axis = (uint32_t)attr[WICK_ATTR_cumsum_axis].i, to;
  if (!form_sliced(s, n->in[0], axis, joins[0], &type, &to)) return NULL;
  for (uint32_t k = 0; k < n->nout; k++)
    if (!form_sliced(s, (wick_value){n->first.id + k}, axis, joins[1 + k], &out_type[k], &to))
      return NULL;
  attr[WICK_ATTR_cumsum_axis].i = to;
  wick_build_begin(&b, s->f->module, WICK_GROUP, (*group)->name, mem);
  in = wick_build_param(&b, type, WICK_IN, NULL);
  b.loc = n->loc;
  wick_compute_of(n->op)(&(wick_compute){.op = n->op,
                                         .b = &b,
                                         .attr = attr,
                                         .nin = 1,
                                         .nout = n->nout,
                                         .in = &in,
                                         .out = out,
                                         .out_type = out_type});
  wick_form_output(&b, n->nout, out);
  wick_build_return(&b, n->nout, out);
  return wick_build_end(&b, group);
}
