/* Images with the channels last. */
#include "import/kit/nhwc.h"

#include <math.h>

wick_nhwc_window wick_nhwc_window_of(uint32_t n)
{
  wick_nhwc_window w = {.n = n};
  for (uint32_t i = 0; i < n; i++) {
    w.kernel[i] = w.stride[i] = w.dilation[i] = 1;
    w.before[i] = w.after[i] = wick_dim_const(0);
  }
  return w;
}

bool wick_nhwc_window_check(wick_import_node *n, const wick_nhwc_window *w)
{
  const int64_t most = 1 << 30;
  for (uint32_t i = 0; i < w->n; i++)
    if (w->kernel[i] < 1 || w->stride[i] < 1 || w->dilation[i] < 1 || w->kernel[i] > most ||
        w->stride[i] > most || w->dilation[i] > most ||
        (w->kernel[i] - 1) * w->dilation[i] >= most) {
      wick_import_fail(
          n, WICK_ERANGE,
          "its window has size %lld, stride %lld and dilation %lld, expected 1 to %lld",
          (long long)w->kernel[i], (long long)w->stride[i], (long long)w->dilation[i],
          (long long)most);
      return false;
    }
  return true;
}

void wick_nhwc_pad(wick_import *c, wick_nhwc_window *w, const wick_dim *size,
                   wick_nhwc_padding word)
{
  wick_dims *t = c->module->dims;
  for (uint32_t i = 0; i < w->n; i++) {
    w->before[i] = w->after[i] = wick_dim_const(0);
    if (word == WICK_NHWC_VALID) continue;
    wick_dim s = wick_dim_const(w->stride[i]), two = wick_dim_const(2),
             reach = wick_dim_const((w->kernel[i] - 1) * w->dilation[i] + 1);
    wick_dim last = wick_dim_sub(t, wick_dim_ceildiv(t, size[i], s), wick_dim_const(1));
    wick_dim total = wick_dim_sub(t, wick_dim_add(t, wick_dim_mul(t, last, s), reach), size[i]);
    if (w->stride[i] == 1) total = wick_dim_sub(t, reach, wick_dim_const(1));
    total = wick_dim_max(t, total, wick_dim_const(0));
    wick_dim half = wick_dim_floordiv(t, total, two), rest = wick_dim_sub(t, total, half);
    w->before[i] = word == WICK_NHWC_SAME ? half : rest;
    w->after[i] = word == WICK_NHWC_SAME ? rest : half;
  }
}

wick_value wick_nhwc_move(wick_builder *b, wick_value x, bool first)
{
  if (b->status || !x.id) return x;
  uint32_t rank = wick_built_info(b, x)->rank;
  int64_t perm[WICK_MAX_RANK];
  if (rank < 3) {
    wick_build_fail(b, WICK_ETYPE, "its input has rank %u, expected 3 or more", rank);
    return x;
  }
  perm[0] = 0;
  for (uint32_t k = 1; k < rank; k++)
    perm[k] = first ? (k == 1 ? rank - 1 : k - 1) : (k == rank - 1 ? 1 : k + 1);
  return wick_build_transpose(b, x, rank, perm);
}

wick_value wick_nhwc_last(wick_builder *b, wick_value x) { return wick_nhwc_move(b, x, false); }

/* ---- values with the channels second ----
 *
 * Between two convolutions there are element-wise nodes on values with the channels last: a residual
 * sum, an activation, steps of fixed-point arithmetic. Each of them is built again on the values
 * before the transpositions, so that none is left between layers; the others are dead then. */

enum { NHWC_DEPTH = 64 };

static wick_value nhwc_twin(wick_import *c, wick_value x, uint32_t rank, uint32_t depth);

/* Is the node `transpose` from the channels second to the channels last? */
static bool nhwc_is_last(const wick_node *n, uint32_t rank)
{
  if (n->op != WICK_OP_transpose || rank < 3) return false;
  const wick_attr *perm = &n->attr[WICK_ATTR_transpose_perm];
  if (perm->n != rank) return false;
  for (uint32_t k = 0; k < rank; k++)
    if (perm->ints[k] != (k == 0 ? 0 : k == rank - 1 ? 1 : (int64_t)k + 1)) return false;
  return true;
}

/* An operand that broadcasts: a number, or one for each channel. Returns 0 for others. */
static wick_value nhwc_broadcast(wick_import *c, wick_value x, uint32_t rank)
{
  wick_builder *b = &c->b;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim dim[WICK_MAX_RANK];
  if (!t->rank) return x;
  if (t->rank > 1) return (wick_value){0};
  dim[0] = t->dim[0];
  for (uint32_t k = 1; k + 1 < rank; k++) dim[k] = wick_dim_const(1);
  return wick_build_reshape(b, x, rank - 1, dim);
}

/* Is there one element for each element of the batch? Then it does not matter where the channels are. */
static bool nhwc_is_row(const wick_type_info *t)
{
  bool ones = true;
  for (uint32_t k = 1; k < t->rank; k++) ones = ones && wick_dim_is(t->dim[k], 1);
  return ones;
}

/* The position of an axis when the channels are second. */
static uint32_t nhwc_axis(uint32_t axis, uint32_t rank)
{
  return !axis ? 0 : axis == rank - 1 ? 1 : axis + 1;
}

/* Builds a pad or a concat again. Returns 0 if an operand has no value with the channels second. */
static wick_value nhwc_moved(wick_import *c, const wick_node *from, uint32_t rank, uint32_t depth)
{
  wick_builder *b = &c->b;
  const wick_node n = *from;
  wick_value *in = wick_new(c->tmp, wick_value, n.nin + 1u);
  uint32_t count = n.op == WICK_OP_pad ? 1 : n.nin;
  for (uint32_t i = 0; i < n.nin; i++) in[i] = n.in[i];
  for (uint32_t i = 0; i < count; i++) {
    in[i] = nhwc_twin(c, in[i], rank, depth + 1);
    if (!in[i].id || b->status) return (wick_value){0};
  }
  if (n.op == WICK_OP_concat)
    return wick_build_concat(b, nhwc_axis((uint32_t)n.attr[WICK_ATTR_concat_axis].i, rank), n.nin,
                             in);
  wick_dim pad[2 * WICK_MAX_RANK];
  wick_emit e = wick_emit_begin(b, WICK_OP_pad);
  for (uint32_t k = 0; k < rank; k++) {
    pad[nhwc_axis(k, rank)] = n.attr[WICK_ATTR_pad_pad].dims[k];
    pad[rank + nhwc_axis(k, rank)] = n.attr[WICK_ATTR_pad_pad].dims[rank + k];
  }
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  wick_emit_set_int(&e, "mode", n.attr[WICK_ATTR_pad_mode].i);
  return wick_emit_end(&e, n.nin, in);
}

/* Builds an element-wise node again. Returns 0 if an operand has no value with the channels second. */
static wick_value nhwc_again(wick_import *c, const wick_node *from, uint32_t rank, uint32_t depth)
{
  wick_builder *b = &c->b;
  const wick_node n = *from; /* a copy, because the list may be reallocated */
  wick_value in[4] = {{0}}, none = {0};
  bool look = n.op == WICK_OP_gather && wick_built_info(b, n.in[0])->rank == 1;
  bool each = wick_ops[n.op]->scalar != WICK_NOT_SCALAR || n.op == WICK_OP_clip || look;
  if ((n.op == WICK_OP_pad || n.op == WICK_OP_concat) && depth <= NHWC_DEPTH)
    return nhwc_moved(c, from, rank, depth);
  if (!each || n.nin > WICK_COUNT(in) || n.nout != 1 || n.nregion || depth > NHWC_DEPTH)
    return none;
  for (uint32_t i = 0; i < n.nin; i++) {
    if (!n.in[i].id) continue;
    const wick_type_info *t = wick_built_info(b, n.in[i]);
    bool whole = t->rank == rank, same = (look && !i) || (whole && nhwc_is_row(t));
    in[i] = same    ? n.in[i]
            : whole ? nhwc_twin(c, n.in[i], rank, depth + 1)
                    : nhwc_broadcast(c, n.in[i], rank);
    if (!in[i].id || b->status) return none;
  }
  if (n.op == WICK_OP_cast) return wick_build_cast(b, in[0], wick_built_info(b, n.first)->elem);
  if (wick_ops[n.op]->scalar == WICK_RULE_TYPED) return none;
  return wick_build(b, n.op, n.nin, in, n.attr, 0, NULL);
}

/* Returns the value with the channels second that equals x, if one exists or can be built without a
 * transposition; else 0. */
static wick_value nhwc_twin(wick_import *c, wick_value x, uint32_t rank, uint32_t depth)
{
  const wick_node *n = wick_emit_definer(&c->b, x);
  if (!n || c->b.status) return (wick_value){0};
  if (nhwc_is_last(n, rank)) return n->in[0];
  for (uint32_t i = c->twin.n; i-- > 0;)
    if (c->twin.at[i].of.id == x.id) return c->twin.at[i].twin;
  wick_value y = nhwc_again(c, n, rank, depth);
  if (!c->b.open.n) /* values of a region are gone after it */
    wick_push(c->tmp, &c->twin, (wick_import_twin){x, y});
  return y;
}

wick_value wick_nhwc_first(wick_import *c, wick_value x)
{
  wick_builder *b = &c->b;
  if (b->status || !x.id) return x;
  wick_value twin = nhwc_twin(c, x, wick_built_info(b, x)->rank, 0);
  return twin.id && !b->status ? twin : wick_nhwc_move(b, x, true);
}

/* Sets the window's attributes. Padding that is no number, or that the operator does not take, is
 * added to *x [N, C, spatial...] by a node of its own, with the number `fill`. */
static void nhwc_set(wick_import_node *n, wick_emit *e, const wick_nhwc_window *w, wick_value *x,
                     double fill)
{
  wick_dim pad[2 * WICK_MAX_RANK];
  uint32_t rank = w->n + 2;
  bool known = true, any = false;
  int64_t *list = wick_new(n->c->mem, int64_t, 4 * (size_t)w->n);
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  for (uint32_t i = 0; i < w->n; i++) {
    pad[2 + i] = w->before[i], pad[rank + 2 + i] = w->after[i];
    known = known && wick_dim_is_const(w->before[i]) && wick_dim_is_const(w->after[i]);
    any = any || !wick_dim_is(w->before[i], 0) || !wick_dim_is(w->after[i], 0);
    list[i] = w->stride[i], list[w->n + i] = w->dilation[i];
  }
  if (any && !known) {
    wick_emit p = wick_emit_begin(n->b, WICK_OP_pad);
    wick_emit_set_dims(&p, "pad", 2 * rank, pad);
    *x = wick_emit_end2(&p, *x, wick_emit_number(n->b, *x, fill));
  } else if (any) {
    int64_t *both = list + 2 * w->n;
    for (uint32_t i = 0; i < w->n; i++)
      both[i] = pad[2 + i].v, both[w->n + i] = pad[rank + 2 + i].v;
    wick_emit_set_ints(e, "pad", 2 * w->n, both);
  }
  wick_emit_set_ints(e, "stride", w->n, list);
  if (e->op != WICK_OP_none) wick_emit_set_ints(e, "dilation", w->n, list + w->n);
}

static wick_value nhwc_conv(wick_import_node *n, wick_value x, wick_value w, wick_value bias,
                            const wick_nhwc_window *window, int64_t group)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_conv);
  x = wick_nhwc_first(n->c, x);
  if (n->b->status) return x;
  nhwc_set(n, &e, window, &x, 0);
  wick_emit_set_int(&e, "group", group);
  const wick_value in[] = {x, w, bias};
  return wick_nhwc_last(n->b, wick_emit_end(&e, bias.id ? 3 : 2, in));
}

wick_value wick_nhwc_conv(wick_import_node *n, wick_value x, wick_value w, const int64_t *perm,
                          wick_value bias, const wick_nhwc_window *window, int64_t group)
{
  w = wick_build_transpose(n->b, w, window->n + 2, perm);
  return nhwc_conv(n, x, w, bias, window, group);
}

/* The full result has (in - 1) * stride + reach elements, from which the padding is cut; the result
 * asked for may be longer at its end. */
wick_value wick_nhwc_conv_transpose(wick_import_node *n, wick_value x, wick_value w,
                                    const int64_t *perm, wick_value bias,
                                    const wick_nhwc_window *window, const wick_dim *size,
                                    int64_t group)
{
  wick_builder *b = n->b;
  wick_dims *t = b->module->dims;
  w = wick_build_transpose(b, w, window->n + 2, perm);
  x = wick_nhwc_first(n->c, x);
  if (b->status) return x;
  wick_nhwc_window full = *window;
  for (uint32_t i = 0; i < full.n; i++) full.before[i] = full.after[i] = wick_dim_const(0);
  wick_emit e = wick_emit_begin(b, WICK_OP_conv_transpose);
  nhwc_set(n, &e, &full, &x, 0);
  wick_emit_set_int(&e, "group", group);
  wick_value y = wick_emit_end2(&e, x, w);
  if (b->status) return y;
  uint32_t rank = window->n + 2;
  const wick_type_info *have = wick_built_info(b, y);
  wick_dim begin[WICK_MAX_RANK], shape[WICK_MAX_RANK], pad[2 * WICK_MAX_RANK];
  bool longer = false, cut = false;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim from = k < 2 ? wick_dim_const(0) : window->before[k - 2],
             to = k < 2 ? have->dim[k] : size[k - 2],
             more = wick_dim_max(t, wick_dim_sub(t, wick_dim_add(t, from, to), have->dim[k]),
                                 wick_dim_const(0));
    begin[k] = from, shape[k] = to, pad[k] = wick_dim_const(0), pad[rank + k] = more;
    longer = longer || !wick_dim_is(more, 0);
    cut = cut || !wick_dim_is(from, 0) || !wick_dim_eq(to, have->dim[k]);
  }
  if (longer) {
    wick_emit p = wick_emit_begin(b, WICK_OP_pad);
    wick_emit_set_dims(&p, "pad", 2 * rank, pad);
    y = wick_emit_end1(&p, y);
  }
  if (cut) y = wick_build_slice(b, y, rank, begin, shape, NULL);
  y = wick_nhwc_last(b, y);
  return bias.id ? wick_build2(b, WICK_OP_add, y, bias) : y;
}

/* The mean over windows with padding of open size: sums, divided by sums of ones. */
static wick_value nhwc_mean_open(wick_import_node *n, wick_value x, const wick_nhwc_window *w)
{
  wick_builder *b = n->b;
  wick_value sum[2], one = wick_emit_number(b, x, 1);
  for (uint32_t k = 0; k < 2 && !b->status; k++) {
    wick_emit e = wick_emit_begin(b, WICK_OP_avg_pool);
    wick_value v = x;
    if (k) v = wick_emit_expand(b, one, wick_built_info(b, x)->rank, wick_built_info(b, x)->dim);
    nhwc_set(n, &e, w, &v, 0);
    wick_emit_set_ints(&e, "kernel", w->n, w->kernel);
    sum[k] = wick_emit_end1(&e, v);
  }
  return b->status ? x : wick_build2(b, WICK_OP_div, sum[0], sum[1]);
}

wick_value wick_nhwc_pool(wick_import_node *n, wick_opcode op, wick_value x,
                          const wick_nhwc_window *window)
{
  wick_builder *b = n->b;
  x = wick_nhwc_first(n->c, x);
  if (b->status) return x;
  bool known = true;
  for (uint32_t i = 0; i < window->n; i++)
    known = known && wick_dim_is_const(window->before[i]) && wick_dim_is_const(window->after[i]);
  if (op == WICK_OP_avg_pool && !known) return wick_nhwc_last(b, nhwc_mean_open(n, x, window));
  wick_elem e = wick_built_info(b, x)->elem;
  double least = e == WICK_U8    ? 0
                 : e == WICK_I8  ? -128
                 : e == WICK_I16 ? -32768
                                 : -(double)INFINITY;
  wick_emit pool = wick_emit_begin(b, op);
  nhwc_set(n, &pool, window, &x, least);
  wick_emit_set_ints(&pool, "kernel", window->n, window->kernel);
  return wick_nhwc_last(b, wick_emit_end1(&pool, x));
}

wick_value wick_nhwc_resize(wick_import_node *n, wick_value x, const wick_dim *size, int mode,
                            int coordinates, int nearest)
{
  wick_builder *b = n->b;
  x = wick_nhwc_first(n->c, x);
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  wick_dim dim[WICK_MAX_RANK] = {t->dim[0], t->dim[1]};
  for (uint32_t k = 2; k < t->rank; k++) dim[k] = size[k - 2];
  wick_emit e = wick_emit_begin(b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", t->rank, dim);
  wick_emit_set_int(&e, "mode", mode);
  wick_emit_set_int(&e, "coordinates", coordinates);
  wick_emit_set_int(&e, "nearest", nearest);
  return wick_nhwc_last(b, wick_emit_end1(&e, x));
}

static wick_value nhwc_block(wick_import_node *n, wick_opcode op, wick_value x, int64_t block)
{
  if (block < 1 || block > 32768) {
    wick_import_fail(n, WICK_ERANGE, "the block size is %lld, expected 1 to 32768",
                     (long long)block);
    return (wick_value){0};
  }
  wick_emit e = wick_emit_begin(n->b, op);
  wick_emit_set_int(&e, "block", block);
  x = wick_nhwc_first(n->c, x);
  return wick_nhwc_last(n->b, wick_emit_end1(&e, x));
}

wick_value wick_nhwc_space_to_depth(wick_import_node *n, wick_value x, int64_t block)
{
  return nhwc_block(n, WICK_OP_space_to_depth, x, block);
}

wick_value wick_nhwc_depth_to_space(wick_import_node *n, wick_value x, int64_t block)
{
  return nhwc_block(n, WICK_OP_depth_to_space, x, block);
}
