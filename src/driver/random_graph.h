/* Random graph functions for tests: every row of the registry by what it takes, with random
 * operands, attributes and element types.
 *
 * A step picks a row and tries to build it on values that are there; what inference refuses is not
 * there. So the generator needs no rules of its own beside sizes that are worth trying, and a new
 * scalar row takes part by itself. */
#ifndef WICK_DRIVER_RANDOM_GRAPH_H
#define WICK_DRIVER_RANDOM_GRAPH_H

#include <string.h>

#include "ir/build.h"
#include "ir/element.h"

typedef struct random_graph {
  wick_builder b;
  wick_module *m;
  uint64_t seed;
  uint64_t (*seen)[WICK_NOP]; /* per row, the element types that were built; counts coverage */
  wick_list(wick_value) values;
  wick_arena *tmp;
} random_graph;

static uint32_t random_below(random_graph *r, uint32_t n)
{
  r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
  return n ? (uint32_t)((r->seed >> 33) % n) : 0;
}

static const wick_elem random_elems[] = {
    WICK_F32, WICK_F32, WICK_F32, WICK_F32, WICK_F32, WICK_F32, WICK_F64, WICK_F16, WICK_BF16,
    WICK_I64, WICK_I32, WICK_I16, WICK_I8,  WICK_U64, WICK_U32, WICK_U16, WICK_U8,  WICK_BOOL};

static const wick_type_info *random_info(const random_graph *r, wick_value v)
{
  return wick_built_info(&r->b, v);
}

static wick_value random_value(random_graph *r)
{
  return r->values.at[random_below(r, r->values.n)];
}

static uint64_t random_numel(const wick_type_info *t)
{
  uint64_t n = 1;
  for (uint32_t k = 0; k < t->rank; k++) n *= (uint64_t)t->dim[k].v;
  return n;
}

/* A value that satisfies a condition, or 0. */
static wick_value random_where(random_graph *r, uint64_t elems, uint32_t least_rank,
                               uint32_t most_rank)
{
  for (int tries = 0; tries < 12; tries++) {
    wick_value v = random_value(r);
    const wick_type_info *t = random_info(r, v);
    if ((!elems || elems >> t->elem & 1) && t->rank >= least_rank && t->rank <= most_rank) return v;
  }
  return (wick_value){0};
}

/* Attributes by name; what is not set has the row's default. */
static wick_attr *random_attrs(random_graph *r, wick_opcode op)
{
  wick_attr *a = wick_new(r->tmp, wick_attr, WICK_MAX_ATTR);
  for (uint32_t i = 0; i < wick_op_nattr(wick_ops[op]); i++) a[i].n = WICK_ATTR_UNSET;
  return a;
}
static wick_attr *random_attr(wick_opcode op, wick_attr *a, const char *name)
{
  static wick_attr none;
  for (uint32_t i = 0; i < wick_op_nattr(wick_ops[op]); i++)
    if (strcmp(wick_ops[op]->attr[i].name, name) == 0) {
      a[i].n = 0;
      return &a[i];
    }
  return &none;
}
static void random_set_ints(random_graph *r, wick_opcode op, wick_attr *a, const char *name,
                            uint32_t n, const int64_t *ints)
{
  wick_attr *at = random_attr(op, a, name);
  at->n = n;
  at->ints = wick_dup(r->tmp, int64_t, ints, n);
}
static void random_set_dims(random_graph *r, wick_opcode op, wick_attr *a, const char *name,
                            uint32_t n, const int64_t *dims)
{
  wick_dim *d = wick_new(r->tmp, wick_dim, n);
  for (uint32_t i = 0; i < n; i++) d[i] = wick_dim_const(dims[i]);
  wick_attr *at = random_attr(op, a, name);
  at->n = n;
  at->dims = d;
}

/* Builds, if inference allows it and the result is small; then the results are values, too. */
static wick_value random_build(random_graph *r, wick_opcode op, uint32_t nin, const wick_value *in,
                               const wick_attr *a, const wick_type *want)
{
  uint32_t nnode = r->b.nodes.n;
  wick_value v = wick_build(&r->b, op, nin, in, a, want ? 1 : 0, want);
  if (r->b.status || !v.id) {
    r->b.status = NULL;
    return (wick_value){0};
  }
  const wick_node *n = &r->b.nodes.at[nnode];
  for (uint32_t k = 0; k < n->nout; k++) {
    const wick_type_info *t = random_info(r, (wick_value){n->first.id + k});
    if (random_numel(t) <= 6000 && random_numel(t) > 0 && t->rank <= 6)
      wick_push(r->tmp, &r->values, (wick_value){n->first.id + k});
  }
  if (r->seen && nin)
    (*r->seen)[op] |=
        WICK_BIT(random_info(r, in[nin > 1 && wick_ops[op]->scalar == WICK_RULE_SELECT])->elem);
  if (r->seen && !nin) (*r->seen)[op] |= 1;
  return v;
}

/* A constant or an input: weights are constants most of the time. */
static wick_value random_tensor(random_graph *r, wick_elem e, uint32_t rank, const int64_t *dim,
                                bool constant)
{
  wick_type type = wick_type_tensor_const(r->m, e, rank, dim);
  if (!constant) return wick_build_cast(&r->b, wick_build_const(&r->b, type, 0.5, 1), e);
  uint64_t nbytes = 0;
  wick_type_nbytes(r->m, type, &nbytes);
  char *data = wick_arena_alloc(&r->m->mem, nbytes, 64);
  uint64_t n = random_numel(wick_type_get(r->m, type));
  for (uint64_t k = 0; k < n; k++) {
    double x = ((double)random_below(r, 2001) - 1000) / 1000;
    wick_store_elem(e, data, k,
                    wick_elem_is_float(e)
                        ? (wick_scalar){.f = x}
                        : (wick_scalar){.i = random_below(r, 7) + (e == WICK_BOOL ? 0 : 1)});
  }
  return wick_build_constant(&r->b, wick_constant_add(r->m, "w", type, data, nbytes));
}

/* A value of element type e whose shape broadcasts against v's. */
static wick_value random_partner(random_graph *r, wick_value v, wick_elem e)
{
  const wick_type_info t = *random_info(r, v);
  for (int tries = 0; tries < 16; tries++) {
    wick_value w = random_value(r);
    const wick_type_info *u = random_info(r, w);
    bool same = u->rank == t.rank;
    for (uint32_t k = 0; same && k < t.rank; k++) same = wick_dim_eq(u->dim[k], t.dim[k]);
    if (!same && random_numel(u) != 1) continue;
    if (u->elem == e) return w;
    if (tries > 8) return wick_build_cast(&r->b, w, e);
  }
  int64_t dim[WICK_MAX_RANK];
  uint32_t kind = random_below(r, 3), rank = kind == 0 ? t.rank : kind == 1 && t.rank ? 1 : 0;
  for (uint32_t k = 0; k < rank; k++) dim[k] = t.dim[t.rank - rank + k].v;
  for (uint32_t k = 0; k < rank && kind == 0; k++) dim[k] = random_below(r, 3) ? dim[k] : 1;
  return random_tensor(r, e, rank, dim, true);
}

static void random_scalar(random_graph *r, wick_opcode op)
{
  const wick_op *row = wick_ops[op];
  wick_value v = random_where(r, row->elems, 0, 6), in[4] = {v, {0}};
  if (!v.id) return;
  wick_elem e = random_info(r, v)->elem;
  uint32_t nin = row->nin[1] > 4 ? 4 : row->nin[1], first = row->scalar == WICK_RULE_SELECT;
  in[first] = v;
  if (first) in[0] = random_partner(r, v, WICK_BOOL);
  for (uint32_t k = first + 1; k < nin; k++) in[k] = random_partner(r, v, e);
  wick_type want = wick_type_with_elem(r->m, wick_built_type(&r->b, v),
                                       random_elems[random_below(r, WICK_COUNT(random_elems))]);
  random_build(r, op, nin, in, NULL, row->typed ? &want : NULL);
}

static void random_window(random_graph *r, wick_opcode op, wick_attr *a, uint32_t n,
                          const int64_t *kernel, const int64_t *size)
{
  int64_t stride[3], pad[6], dilation[3];
  for (uint32_t k = 0; k < n; k++) {
    stride[k] = 1 + (random_below(r, 3) == 0) + (random_below(r, 8) == 0);
    dilation[k] = 1 + (random_below(r, 4) == 0 && (kernel[k] - 1) * 2 < size[k]);
    pad[k] = random_below(r, (uint32_t)((kernel[k] - 1) * dilation[k]) + 1) % kernel[k];
    pad[n + k] = random_below(r, (uint32_t)((kernel[k] - 1) * dilation[k]) + 1) % kernel[k];
  }
  random_set_ints(r, op, a, "stride", n, stride);
  random_set_ints(r, op, a, "pad", 2 * n, pad);
  random_set_ints(r, op, a, "dilation", n, dilation);
}

static void random_conv(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(
      r, op == WICK_OP_conv && random_below(r, 4) == 0 ? WICK_NUMBERS : WICK_FLOATS, 3, 5);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  uint32_t n = t.rank - 2u;
  int64_t wd[5], size[3], kernel[3], c = t.dim[1].v, group = 1, o = 1 + random_below(r, 36);
  for (uint32_t k = 0; k < n; k++) {
    size[k] = t.dim[2 + k].v;
    kernel[k] = 1 + random_below(r, (uint32_t)wick_min_i64(size[k], 3));
    wd[2 + k] = kernel[k];
  }
  if (random_below(r, 3) == 0) group = random_below(r, 2) ? c : c % 2 == 0 ? 2 : 1;
  o = op == WICK_OP_conv ? (group == c && random_below(r, 3) ? c : (o + group - 1) / group * group)
                         : o;
  wd[0] = op == WICK_OP_conv ? o : c;
  wd[1] = op == WICK_OP_conv ? c / group : 1 + random_below(r, 12);
  int64_t bd = op == WICK_OP_conv ? o : wd[1] * group;
  bool constant = random_below(r, 5) != 0;
  wick_value in[3] = {x, random_tensor(r, t.elem, t.rank, wd, constant), {0}};
  if (random_below(r, 2)) in[2] = random_tensor(r, t.elem, 1, &bd, true);
  wick_attr *a = random_attrs(r, op);
  random_window(r, op, a, n, kernel, size);
  random_attr(op, a, "group")->i = group;
  random_build(r, op, in[2].id ? 3 : 2, in, a, NULL);
}

static void random_pool(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 3, 5);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t size[3], kernel[3];
  for (uint32_t k = 0; k + 2 < t.rank; k++)
    size[k] = t.dim[2 + k].v, kernel[k] = 1 + random_below(r, (uint32_t)wick_min_i64(size[k], 3));
  wick_attr *a = random_attrs(r, op);
  random_window(r, op, a, t.rank - 2u, kernel, size);
  random_set_ints(r, op, a, "kernel", t.rank - 2u, kernel);
  random_attr(op, a, "ceil")->i = random_below(r, 3) == 0;
  if (op == WICK_OP_avg_pool) random_attr(op, a, "count_pad")->i = random_below(r, 2);
  if (op == WICK_OP_max_pool) random_attr(op, a, "indices")->i = random_below(r, 4) == 0;
  random_build(r, op, 1, &x, a, NULL);
}

static void random_matmul(random_graph *r)
{
  wick_value x = random_where(r, WICK_NUMBERS, 1, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t d[4];
  uint32_t rank = random_below(r, 2) || t.rank < 2 ? 2 : t.rank;
  for (uint32_t k = 0; k + 2 < rank; k++) d[k] = t.dim[k].v;
  d[rank - 2] = t.dim[t.rank - 1].v;
  d[rank - 1] = 1 + random_below(r, 70);
  wick_value in[2] = {x, random_tensor(r, t.elem, rank, d, random_below(r, 4) != 0)};
  random_build(r, WICK_OP_matmul, 2, in, NULL, NULL);
}

static void random_norm(random_graph *r, wick_opcode op)
{
  bool row = op == WICK_OP_layer_norm || op == WICK_OP_rms_norm;
  wick_value x = random_where(r, WICK_FLOATS, row ? 1 : 3, 5), in[5] = {x};
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t size = row ? t.dim[t.rank - 1].v : t.dim[1].v;
  uint32_t nin = op == WICK_OP_batch_norm ? 5
                 : op == WICK_OP_rms_norm ? 2
                 : op == WICK_OP_lrn      ? 1
                                          : 3;
  for (uint32_t k = 1; k < nin; k++) {
    in[k] = random_tensor(r, t.elem, 1, &size, true);
    if (k == 4) in[k] = wick_build1(&r->b, WICK_OP_abs, in[k]);
  }
  wick_attr *a = random_attrs(r, op);
  if (op == WICK_OP_group_norm) random_attr(op, a, "groups")->i = size % 2 ? 1 : 2;
  if (op == WICK_OP_lrn) random_attr(op, a, "size")->i = 1 + 2 * (int64_t)random_below(r, 3);
  if (op != WICK_OP_lrn) random_attr(op, a, "epsilon")->f = 1e-2;
  random_build(r, op, nin, in, a, NULL);
}

/* Reductions, softmax and the like, running sums: one operand and axes. */
static void random_axes(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, wick_ops[op]->elems, 1, 5);
  if (!x.id) return;
  const wick_type_info *t = random_info(r, x);
  wick_attr *a = random_attrs(r, op);
  for (uint32_t i = 0; i < wick_op_nattr(wick_ops[op]); i++) {
    const wick_attr_spec *s = &wick_ops[op]->attr[i];
    if (s->kind == WICK_ATTR_AXIS) a[i] = (wick_attr){.i = random_below(r, t->rank)};
    if (s->kind == WICK_ATTR_BOOL) a[i] = (wick_attr){.i = random_below(r, 2)};
    if (s->kind == WICK_ATTR_INTS) {
      int64_t axes[WICK_MAX_RANK];
      uint32_t n = 0;
      for (uint32_t k = 0; k < t->rank; k++)
        if (random_below(r, 2)) axes[n++] = k;
      if (t->rank == 4 && random_below(r, 3) == 0) n = 2, axes[0] = 2, axes[1] = 3;
      random_set_ints(r, op, a, s->name, n, axes);
    }
  }
  random_build(r, op, 1, &x, a, NULL);
}

static void random_shape(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, 0, 1, 5), in[2] = {x};
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  wick_attr *a = random_attrs(r, op);
  int64_t d[2 * WICK_MAX_RANK], e[WICK_MAX_RANK];
  uint32_t nin = 1, axis = random_below(r, t.rank);
  for (uint32_t k = 0; k < t.rank; k++) d[k] = t.dim[k].v, d[t.rank + k] = 0, e[k] = 1;
  if (op == WICK_OP_reshape) {
    uint32_t cut = random_below(r, t.rank + 1), n = 0;
    int64_t left = 1, right = 1;
    for (uint32_t k = 0; k < t.rank; k++) *(k < cut ? &left : &right) *= t.dim[k].v;
    d[n++] = left;
    if (right % 2 == 0) d[n++] = 2, right /= 2;
    if (right % 3 == 0) d[n++] = 3, right /= 3;
    d[n++] = right;
    random_set_dims(r, op, a, "shape", n, d);
  } else if (op == WICK_OP_transpose) {
    for (uint32_t k = 0; k < t.rank; k++) d[k] = k;
    for (uint32_t k = t.rank; k > 1; k--) {
      uint32_t j = random_below(r, k);
      int64_t swap = d[j];
      d[j] = d[k - 1], d[k - 1] = swap;
    }
    random_set_ints(r, op, a, "perm", t.rank, d);
  } else if (op == WICK_OP_slice) {
    for (uint32_t k = 0; k < t.rank; k++) {
      e[k] = random_below(r, (uint32_t)d[k]);
      d[k] = 1 + random_below(r, (uint32_t)(d[k] - e[k]));
    }
    random_set_dims(r, op, a, "begin", t.rank, e);
    random_set_dims(r, op, a, "shape", t.rank, d);
  } else if (op == WICK_OP_pad) {
    for (uint32_t k = 0; k < 2 * t.rank; k++)
      d[k] = random_below(r, 3) % wick_max_i64(t.dim[k % t.rank].v, 1);
    random_set_dims(r, op, a, "pad", 2 * t.rank, d);
    random_attr(op, a, "mode")->i = random_below(r, 4);
  } else if (op == WICK_OP_tile || op == WICK_OP_expand) {
    for (uint32_t k = 0; k < t.rank; k++)
      e[k] = op == WICK_OP_tile ? 1 + random_below(r, 2)
             : d[k] == 1        ? 1 + random_below(r, 3)
                                : d[k];
    random_set_dims(r, op, a, op == WICK_OP_tile ? "repeats" : "shape", t.rank, e);
  } else if (op == WICK_OP_concat || op == WICK_OP_interleave) {
    in[1] = random_partner(r, x, t.elem), nin = 2;
    random_attr(op, a, "axis")->i = axis;
  } else if (op == WICK_OP_split) {
    random_attr(op, a, "axis")->i = axis;
    random_attr(op, a, "parts")->i = d[axis] % 2 ? 1 : 2;
  } else if (op == WICK_OP_resize) {
    for (uint32_t k = 0; k < t.rank; k++) e[k] = k < 2 ? d[k] : 1 + random_below(r, 9);
    random_set_dims(r, op, a, "shape", t.rank, e);
    random_attr(op, a, "mode")->i = random_below(r, 3);
  } else if (op == WICK_OP_depth_to_space || op == WICK_OP_space_to_depth) {
    random_attr(op, a, "block")->i = 2;
  } else if (op == WICK_OP_pack) {
    random_attr(op, a, "axis")->i = axis;
    random_attr(op, a, "block")->i = 1 + random_below(r, 8);
  }
  random_build(r, op, nin, in, a, NULL);
}

static void random_gather(random_graph *r, wick_opcode op)
{
  wick_value x = random_where(r, 0, 1, 4);
  if (!x.id) return;
  const wick_type_info t = *random_info(r, x);
  int64_t d[WICK_MAX_RANK];
  uint32_t axis = random_below(r, t.rank), rank = op == WICK_OP_gather ? 1 + random_below(r, 2)
                                                  : op == WICK_OP_gather_elements ? t.rank
                                                                                  : 2;
  for (uint32_t k = 0; k < rank; k++)
    d[k] = op == WICK_OP_gather_elements ? t.dim[k].v : 1 + random_below(r, 4);
  if (op == WICK_OP_gather_nd) axis = 0, d[1] = 1;
  uint64_t n = 1;
  for (uint32_t k = 0; k < rank; k++) n *= (uint64_t)d[k];
  int64_t *index = wick_new(&r->m->mem, int64_t, n), extent = t.dim[axis].v;
  for (uint64_t k = 0; k < n; k++)
    index[k] = (int64_t)random_below(r, (uint32_t)(2 * extent)) -
               extent; /* negative ones count from the end */
  wick_type type = wick_type_tensor_const(r->m, WICK_I64, rank, d);
  wick_value in[2] = {
      x, wick_build_constant(&r->b, wick_constant_add(r->m, "index", type, index, n * 8))};
  wick_attr *a = random_attrs(r, op);
  if (op != WICK_OP_gather_nd) random_attr(op, a, "axis")->i = axis;
  random_build(r, op, 2, in, a, NULL);
}

static void random_step(random_graph *r)
{
  static const wick_opcode convs[] = {WICK_OP_conv, WICK_OP_conv, WICK_OP_conv_transpose},
                           pools[] = {WICK_OP_max_pool, WICK_OP_avg_pool, WICK_OP_lp_pool};
  static const wick_opcode norms[] = {WICK_OP_batch_norm, WICK_OP_batch_norm, WICK_OP_instance_norm,
                                      WICK_OP_layer_norm, WICK_OP_group_norm, WICK_OP_rms_norm,
                                      WICK_OP_lrn};
  static const wick_opcode axes[] = {WICK_OP_reduce_sum,
                                     WICK_OP_reduce_mean,
                                     WICK_OP_reduce_max,
                                     WICK_OP_reduce_min,
                                     WICK_OP_reduce_prod,
                                     WICK_OP_reduce_l1,
                                     WICK_OP_reduce_l2,
                                     WICK_OP_reduce_log_sum,
                                     WICK_OP_reduce_log_sum_exp,
                                     WICK_OP_reduce_sum_square,
                                     WICK_OP_argmax,
                                     WICK_OP_argmin,
                                     WICK_OP_softmax,
                                     WICK_OP_log_softmax,
                                     WICK_OP_hardmax,
                                     WICK_OP_cumsum};
  static const wick_opcode shapes[] = {
      WICK_OP_reshape,        WICK_OP_transpose,      WICK_OP_slice,  WICK_OP_pad,   WICK_OP_tile,
      WICK_OP_expand,         WICK_OP_concat,         WICK_OP_concat, WICK_OP_split, WICK_OP_resize,
      WICK_OP_depth_to_space, WICK_OP_space_to_depth, WICK_OP_pack};
  static const wick_opcode gathers[] = {WICK_OP_gather, WICK_OP_gather_elements, WICK_OP_gather_nd};
#define RANDOM_OF(list) list[random_below(r, WICK_COUNT(list))]
  switch (random_below(r, 14)) {
  case 0:
  case 1: random_conv(r, RANDOM_OF(convs)); break;
  case 2: random_pool(r, RANDOM_OF(pools)); break;
  case 3: random_matmul(r); break;
  case 4: random_norm(r, RANDOM_OF(norms)); break;
  case 5:
  case 6: random_axes(r, RANDOM_OF(axes)); break;
  case 7:
  case 8: random_shape(r, RANDOM_OF(shapes)); break;
  case 9: random_gather(r, RANDOM_OF(gathers)); break;
  default: {
    wick_opcode op = (wick_opcode)(1 + random_below(r, WICK_NOP - 1));
    while (!wick_ops[op]->scalar || !(wick_ops[op]->level & WICK_GRAPH))
      op = (wick_opcode)(1 + random_below(r, WICK_NOP - 1));
    random_scalar(r, op);
  }
  }
}

/* A function @main of some 20 nodes; returns up to seven of the values that nobody uses. */
static wick_func *random_function(random_graph *r, wick_module *m, uint64_t seed, wick_arena *mem,
                                  wick_arena *tmp, uint64_t (*seen)[WICK_NOP])
{
  *r = (random_graph){.m = m, .seed = seed * 2 + 1, .seen = seen, .tmp = tmp};
  for (int i = 0; i < 4; i++) random_below(r, 2);
  wick_build_begin(&r->b, m, WICK_GRAPH, "main", mem);
  static const char *const names[] = {"a", "b", "c", "d"};
  for (uint32_t i = 0, n = 2 + random_below(r, 3); i < n; i++) {
    int64_t dim[4];
    uint32_t rank = i == 0 ? 4 : random_below(r, 5);
    for (uint32_t k = 0; k < rank; k++) dim[k] = 1 + random_below(r, k == 1 ? 40 : k == 0 ? 2 : 12);
    wick_elem e = i == 0 && random_below(r, 3)
                      ? WICK_F32
                      : random_elems[random_below(r, WICK_COUNT(random_elems))];
    wick_push(tmp, &r->values,
              wick_build_param(&r->b, wick_type_tensor_const(m, e, rank, dim), WICK_IN, names[i]));
  }
  for (int tries = 0; tries < 200 && r->b.nodes.n < 36; tries++) random_step(r);
  bool *used = wick_new(tmp, bool, r->b.values.n);
  for (uint32_t i = 0; i < r->b.nodes.n; i++)
    for (uint32_t k = 0; k < r->b.nodes.at[i].nin; k++) used[r->b.nodes.at[i].in[k].id] = true;
  wick_value out[7];
  uint32_t nout = 0;
  for (uint32_t i = r->values.n; i-- > 0 && nout < 7;)
    if (!used[r->values.at[i].id] && r->values.at[i].id > r->b.nparam)
      out[nout++] = r->values.at[i];
  if (!nout) out[nout++] = r->values.at[r->values.n - 1];
  wick_build_return(&r->b, nout, out);
  wick_func *f = NULL;
  return wick_build_end(&r->b, &f) ? NULL : f;
}

#endif
