/* Decomposes in one traversal: each resize becomes a slice, a chain of resamples and a broadcast. */
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

/* What is left of a resize after some axes. */
typedef struct decompose_resize_rest {
  bool done[WICK_MAX_RANK];
  int64_t repeat[WICK_MAX_RANK]; /* each element of the axis, so many times; 0: not regular */
} decompose_resize_rest;

/* Returns the distance between the elements; 0 if it changes, or if they go backwards. */
static int64_t decompose_resize_step(const int32_t *index, int64_t out)
{
  int64_t step = out > 1 ? (int64_t)index[1] - index[0] : 1;
  for (int64_t i = 1; i < out; i++)
    if (index[i] - index[i - 1] != step) return 0;
  return wick_max_i64(step, 0);
}

/* Returns how often each of the elements 0 .. in-1 is repeated; 0 if that differs. */
static int64_t decompose_resize_repeat(const int32_t *index, int64_t in, int64_t out)
{
  int64_t each = out / in;
  if (out % in) return 0;
  for (int64_t i = 0; i < out; i++)
    if (index[i] != i / each) return 0;
  return each;
}

/* Slices the axes of which the nearest elements are equally far apart, and finds those of which each
 * element is repeated equally often. */
static wick_value decompose_resize_regular(wick_copier *c, const wick_node *n, wick_value v,
                                           decompose_resize_rest *rest)
{
  wick_builder *b = &c->b;
  const wick_type_info *x = wick_info_of(c->f, n->in[0]), *y = wick_info_of(c->f, n->first);
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  bool any = false;
  for (uint32_t k = 0; k < x->rank; k++) {
    begin[k] = wick_dim_const(0), shape[k] = x->dim[k], step[k] = 1;
    if (wick_resize_keeps(n->attr, k, x->dim[k], y->dim[k])) continue;
    int64_t in = x->dim[k].v, out = y->dim[k].v;
    int32_t *index = wick_new(b->mem, int32_t, (uint64_t)out);
    wick_resize_table(b->module->dims, n->attr, k, in, out, x->elem, index, NULL);
    int64_t apart = decompose_resize_step(index, out);
    rest->repeat[k] = decompose_resize_repeat(index, in, out);
    rest->done[k] = apart || rest->repeat[k];
    if (!apart) continue;
    begin[k] = wick_dim_const(index[0]), shape[k] = y->dim[k], step[k] = apart;
    rest->repeat[k] = 0;
    any = true;
  }
  return any ? wick_build_slice(b, v, x->rank, begin, shape, step) : v;
}

/* Repeats elements along all axes at once. */
static wick_value decompose_resize_repeated(wick_builder *b, wick_value v, const wick_type_info *y,
                                            const decompose_resize_rest *rest)
{
  const wick_type_info *x = wick_built_info(b, v);
  wick_dim apart[WICK_MAX_RANK], wide[WICK_MAX_RANK];
  uint32_t n = 0, extra = 0;
  for (uint32_t k = 0; k < x->rank; k++) extra += rest->repeat[k] > 1;
  if (!extra) return v;
  for (uint32_t k = 0; k < x->rank; k++) {
    apart[n] = wide[n] = x->dim[k], n++;
    if (rest->repeat[k] < 2) continue;
    apart[n] = wick_dim_const(1), wide[n] = wick_dim_const(rest->repeat[k]), n++;
  }
  wick_attr shape = {.n = n, .dims = wide};
  v = wick_build_reshape(b, v, n, apart);
  v = wick_build(b, WICK_OP_broadcast_to, 1, &v, &shape, 0, NULL);
  return wick_build_reshape(b, v, y->rank, y->dim);
}

static wick_value decompose_resize_node(wick_copier *c, const wick_node *n)
{
  const wick_type_info *x = wick_info_of(c->f, n->in[0]), *y = wick_info_of(c->f, n->first);
  wick_elem e = wick_elem_storage[x->elem].arith;
  wick_value v = c->to[n->in[0].id];
  bool repeats = false;
  decompose_resize_rest rest = {{0}, {0}};
  c->b.loc = n->loc;
  if (n->attr[WICK_ATTR_resize_mode].i == RESIZE_IS_NEAREST && 2 * x->rank <= WICK_MAX_RANK)
    v = decompose_resize_regular(c, n, v, &rest);
  for (int grow = 0; grow < 2; grow++)
    for (uint32_t i = 0; i < x->rank && !c->b.status; i++) {
      uint32_t k = grow ? x->rank - 1u - i : i;
      if (rest.done[k]) continue;
      if (x->dim[k].v == 1) /* all positions are those of the only element */
        repeats = repeats || y->dim[k].v != 1;
      else if (!wick_resize_keeps(n->attr, k, x->dim[k], y->dim[k]) &&
               (y->dim[k].v >= x->dim[k].v) == (bool)grow)
        v = decompose_resize_axis(&c->b, n, v, k, x->dim[k].v, y->dim[k].v, e);
    }
  if (c->b.status) return v;
  v = decompose_resize_repeated(&c->b, v, y, &rest);
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
