/* Decomposes in one traversal: each resize becomes a chain of resamples. */
#include "graph/decompose_resize.h"

#include "ir/copy.h"
#include "ir/element.h"
#include "ops/image/resize.h"

static bool decompose_resize_hits(const wick_func *f, const wick_node *n)
{
  int64_t in[WICK_MAX_RANK], out[WICK_MAX_RANK];
  if (n->op != WICK_OP_resize) return false;
  const wick_attr *a = n->attr;
  const wick_type_info *x = wick_info_of(f, n->in[0]), *y = wick_info_of(f, n->first);
  if (!wick_type_const_dims(x, in) || !wick_type_const_dims(y, out) ||
      a[WICK_ATTR_resize_coordinates].i == RESIZE_CROP || a[WICK_ATTR_resize_exclude].i ||
      a[WICK_ATTR_resize_antialias].i || wick_elem_storage[x->elem].bits % 8)
    return false;
  bool any = false;
  for (uint32_t k = 0; k < x->rank; k++) {
    if (in[k] < 1 || out[k] < 1 || in[k] > INT32_MAX || out[k] > INT32_MAX) return false;
    any = any || !wick_resize_keeps(a, k, x->dim[k], y->dim[k]);
  }
  if (!any) return false;
  return a[WICK_ATTR_resize_mode].i != RESIZE_IS_NEAREST ||
         !wick_resize_keeps(a, x->rank - 1u, x->dim[x->rank - 1], y->dim[x->rank - 1]);
}

static wick_value decompose_resize_constant(wick_builder *b, const char *name, wick_elem e,
                                            uint32_t taps, int64_t out, const void *data)
{
  wick_module *m = b->module;
  wick_dim dim[2] = {wick_dim_const(taps), wick_dim_const(out)};
  wick_type type = wick_type_tensor(m, e, 2, dim);
  uint64_t nbytes = wick_elem_bytes(e, (uint64_t)(taps * out));
  return wick_build_constant(b, wick_constant_add(m, name, type, data, nbytes));
}

/* Resizes axis k of v, in the arithmetic type e. */
static wick_value decompose_resize_axis(wick_builder *b, const wick_node *n, wick_value v,
                                        uint32_t k, int64_t in, int64_t out, wick_elem e)
{
  wick_module *m = b->module;
  uint32_t taps = wick_resize_ntap(n->attr);
  uint64_t count = (uint64_t)(taps * out);
  int32_t *index = wick_arena_alloc(&m->mem, count * sizeof *index, 64);
  double *weight = wick_new(b->mem, double, count);
  wick_resize_table(m->dims, n->attr, k, in, out, e, index, weight);
  wick_value operand[3] = {
      v, decompose_resize_constant(b, "resize.index", WICK_I32, taps, out, index)};
  if (n->attr[WICK_ATTR_resize_mode].i != RESIZE_IS_NEAREST) {
    void *data = wick_arena_alloc(&m->mem, wick_elem_bytes(e, count), 64);
    for (uint64_t i = 0; i < count; i++) wick_store_elem(e, data, i, (wick_scalar){.f = weight[i]});
    operand[2] = decompose_resize_constant(b, "resize.weight", e, taps, out, data);
  }
  wick_attr axis = {.i = k};
  return wick_build(b, WICK_OP_resample, operand[2].id ? 3 : 2, operand, &axis, 0, NULL);
}

static wick_value decompose_resize_node(wick_copier *c, const wick_node *n)
{
  const wick_type_info *x = wick_info_of(c->f, n->in[0]), *y = wick_info_of(c->f, n->first);
  wick_elem e = wick_elem_storage[x->elem].arith;
  wick_value v = c->to[n->in[0].id];
  bool repeats = false;
  c->b.loc = n->loc;
  for (int grow = 0; grow < 2; grow++)
    for (uint32_t i = 0; i < x->rank && !c->b.status; i++) {
      uint32_t k = grow ? x->rank - 1u - i : i;
      if (x->dim[k].v == 1) /* all positions are those of the only element */
        repeats = repeats || y->dim[k].v != 1;
      else if (!wick_resize_keeps(n->attr, k, x->dim[k], y->dim[k]) &&
               (y->dim[k].v >= x->dim[k].v) == (bool)grow)
        v = decompose_resize_axis(&c->b, n, v, k, x->dim[k].v, y->dim[k].v, e);
    }
  if (c->b.status) return v;
  wick_attr shape = {.n = y->rank, .dims = y->dim};
  if (repeats) v = wick_build(&c->b, WICK_OP_broadcast_to, 1, &v, &shape, 0, NULL);
  return wick_build_cast(&c->b, v, y->elem);
}

wick_status wick_pass_decompose_resize(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  wick_copier c = wick_copy_begin(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!decompose_resize_hits(f, n)) {
      wick_copy_node(&c, n);
      continue;
    }
    c.to[n->first.id] = decompose_resize_node(&c, n);
    if (!c.b.status)
      wick_build_name(&c.b, c.to[n->first.id], f->value[n->first.id].name,
                      f->value[n->first.id].relation);
  }
  return wick_copy_finish(&c, out);
}
