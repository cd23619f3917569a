/* Blocked layouts: channels in blocks, the block innermost, so that one vector holds the channels
 * of one position.
 *
 * A packed tensor is a tensor of higher rank: `pack` splits an axis into blocks and puts the places
 * within a block last. */
#include "ops/blocked.h"

#include <string.h>

#include "ops/scalar.h"

/* ---- pack, unpack ---- */

static wick_status pack_infer(wick_infer *c)
{
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  int64_t axis = c->attr[0].i, block = c->attr[1].i;
  wick_dim dim[WICK_MAX_RANK];
  if (t->rank >= WICK_MAX_RANK)
    return wick_infer_fail(c, WICK_ETYPE, "the rank is %u already", t->rank);
  memcpy(dim, t->dim, t->rank * sizeof *dim);
  dim[axis] = wick_dim_ceildiv(c->module->dims, t->dim[axis], wick_dim_const(block));
  dim[t->rank] = wick_dim_const(block);
  c->out[0].type = wick_type_tensor(c->module, t->elem, t->rank + 1u, dim);
  return NULL;
}

static uint64_t blocked_product(const int64_t *dim, uint32_t from, uint32_t to)
{
  uint64_t n = 1;
  for (uint32_t k = from; k < to; k++) n *= (uint64_t)dim[k];
  return n;
}

/* Both rows move elements between [outer, extent, inner] and [outer, blocks, inner, block]. */
static void blocked_move(const wick_tensor *flat, const wick_tensor *packed, int64_t axis,
                         int64_t block, bool to_packed)
{
  uint64_t outer = blocked_product(flat->dim, 0, (uint32_t)axis),
           inner = blocked_product(flat->dim, (uint32_t)axis + 1, flat->rank);
  uint64_t extent = (uint64_t)flat->dim[axis], nblock = (uint64_t)packed->dim[axis],
           size = wick_elem_bytes(flat->elem, 1);
  char *f = flat->data, *p = packed->data;
  for (uint64_t o = 0; o < outer; o++)
    for (uint64_t e = 0; e < extent; e++) {
      char *from = f + (o * extent + e) * inner * size;
      char *to = p + (((o * nblock + e / (uint64_t)block) * inner) * (uint64_t)block +
                      e % (uint64_t)block) *
                         size;
      for (uint64_t i = 0; i < inner; i++, from += size, to += size * (uint64_t)block) {
        if (to_packed)
          memcpy(to, from, size);
        else
          memcpy(from, to, size);
      }
    }
}

static wick_status pack_ref(wick_ref *c)
{
  blocked_move(&c->in[0], &c->out[0], c->attr[0].i, c->attr[1].i, true);
  return NULL;
}

static void pack_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *dims = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_axes_of(b, c->out_type[0], axis), at = (uint32_t)c->attr[0].i;
  for (uint32_t k = 0; k < x->rank; k++) index[k] = axis[k].sym;
  index[at] =
      wick_dim_add(dims, wick_dim_mul(dims, axis[at].sym, axis[n - 1].extent), axis[n - 1].sym);
  bool exact = wick_dim_is(wick_dim_mod(dims, x->dim[at], axis[n - 1].extent), 0);
  wick_type one = wick_type_scalar(b->module, x->elem, 1);
  wick_map_begin(b, "pack", n, axis, 1, c->out_type);
  wick_value zero = exact ? (wick_value){0} : wick_build_const(b, one, 0, 0);
  wick_value v = wick_read(b, c->in[0], index, 0, NULL, zero);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_pack = {
    .name = "pack",
    .doc = "An axis in blocks: [.., C, ..] becomes [.., ceil(C / block), .., block]; what is "
           "beyond C is 0",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 1, false, NULL, 0, 0},
             {"block", WICK_ATTR_INT, 16, false, NULL, 1, 1024}},
    .level = WICK_GRAPH,
    .elems = WICK_PLAIN,
    .infer = pack_infer,
    .ref = pack_ref,
    .compute = pack_compute,
};

static wick_status unpack_infer(wick_infer *c)
{
  const wick_type_info *t = wick_type_get(c->module, c->in[0]->type);
  int64_t axis = c->attr[0].i;
  wick_dim extent = c->attr[1].n == 1 ? c->attr[1].dims[0] : WICK_DIM_INVALID, dim[WICK_MAX_RANK];
  if (t->rank < 2 || axis >= t->rank - 1)
    return wick_infer_fail(c, WICK_ETYPE, "the axis is the block itself");
  if (c->attr[1].n != 1 ||
      !wick_dim_eq(wick_dim_ceildiv(c->module->dims, extent, t->dim[t->rank - 1]), t->dim[axis]))
    return wick_infer_fail(c, WICK_ETYPE, "the extent does not have as many blocks as the operand");
  memcpy(dim, t->dim, t->rank * sizeof *dim);
  dim[axis] = extent;
  c->out[0].type = wick_type_tensor(c->module, t->elem, t->rank - 1u, dim);
  return NULL;
}

static wick_status unpack_ref(wick_ref *c)
{
  blocked_move(&c->out[0], &c->in[0], c->attr[0].i, c->in[0].dim[c->in[0].rank - 1], false);
  return NULL;
}

static void unpack_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *dims = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], block = x->dim[x->rank - 1];
  uint32_t n = wick_axes_of(b, c->out_type[0], axis), at = (uint32_t)c->attr[0].i;
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  index[at] = wick_dim_floordiv(dims, axis[at].sym, block);
  index[n] = wick_dim_mod(dims, axis[at].sym, block);
  wick_map_begin(b, "unpack", n, axis, 1, c->out_type);
  wick_value v = wick_read(b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_unpack = {
    .name = "unpack",
    .doc = "The inverse of `pack`: the axis has `extent` elements again",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"axis", WICK_ATTR_AXIS, 1, false, NULL, 0, 0},
             {"extent", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_PLAIN,
    .infer = unpack_infer,
    .ref = unpack_ref,
    .compute = unpack_compute,
};

/* ---- conv_packed ---- */

/* x [N, CB, Y, X, ci] in blocks, or [N, C, Y, X] as it is (few channels); w [OB, CB/g, R, S, ci,
 * co], or [OB, C, R, S, co], or, each channel by itself (group = C), [CB, R, S, c]. Result [N, OB,
 * Y', X', co]. */
typedef struct conv_packed_shape {
  bool plain, depthwise;
  const wick_type_info *x, *w;
  const int64_t *stride, *pad, *dilation; /* of y and x; pad: y begin, x begin, y end, x end */
  int64_t group;
} conv_packed_shape;

static const int64_t conv_packed_ones[4] = {1, 1, 1, 1}, conv_packed_zeros[4] = {0};

static conv_packed_shape conv_packed_of(const wick_type_info *x, const wick_type_info *w,
                                        const wick_attr *a)
{
  return (conv_packed_shape){.plain = x->rank == 4,
                             .depthwise = w->rank == 4,
                             .x = x,
                             .w = w,
                             .stride = a[0].n ? a[0].ints : conv_packed_ones,
                             .pad = a[1].n ? a[1].ints : conv_packed_zeros,
                             .dilation = a[2].n ? a[2].ints : conv_packed_ones,
                             .group = a[3].i};
}

static wick_status conv_packed_infer(wick_infer *c)
{
  wick_dims *dims = c->module->dims;
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type),
                       *w = wick_type_get(c->module, c->in[1]->type);
  conv_packed_shape s = conv_packed_of(x, w, c->attr);
  if ((x->rank != 5 && x->rank != 4) ||
      (w->rank != (s.plain ? 5 : 6) && !(s.depthwise && x->rank == 5)))
    return wick_infer_fail(c, WICK_ETYPE,
                           "operands of rank %u and %u are not packed for each other", x->rank,
                           w->rank);
  if (x->elem != w->elem) return wick_infer_fail(c, WICK_ETYPE, "operands of different elements");
  if ((c->attr[0].n | c->attr[2].n) & ~2u || c->attr[1].n & ~4u)
    return wick_infer_fail(c, WICK_ETYPE, "stride and dilation have 2 entries, pad has 4");
  wick_dim channels =
      wick_dim_mul(dims, s.depthwise ? wick_dim_const(1) : w->dim[1], wick_dim_const(s.group));
  if (!s.depthwise && !wick_dim_eq(channels, x->dim[1]))
    return wick_infer_fail(c, WICK_ETYPE, "x and w have different channels");
  if (s.depthwise && !wick_dim_eq(w->dim[0], x->dim[1]))
    return wick_infer_fail(c, WICK_ETYPE, "x and w have different channels");
  wick_dim dim[5] = {x->dim[0], w->dim[0], WICK_DIM_INVALID, WICK_DIM_INVALID, w->dim[w->rank - 1]};
  for (uint32_t k = 0; k < 2; k++) {
    wick_dim kernel = w->dim[(s.depthwise ? 1 : 2) +
                             k]; /* (X + pads - dilation * (K - 1) - 1) floordiv stride + 1 */
    wick_dim reach = wick_dim_mul(dims, wick_dim_sub(dims, kernel, wick_dim_const(1)),
                                  wick_dim_const(s.dilation[k]));
    wick_dim room = wick_dim_sub(
        dims, wick_dim_add(dims, x->dim[2 + k], wick_dim_const(s.pad[k] + s.pad[2 + k] - 1)),
        reach);
    dim[2 + k] = wick_dim_add(dims, wick_dim_floordiv(dims, room, wick_dim_const(s.stride[k])),
                              wick_dim_const(1));
  }
  c->out[0].type = wick_type_tensor(c->module, x->elem, 5, dim);
  return NULL;
}

typedef struct conv_packed_dims {
  int64_t n, ob, oy, ox, co, cb, ci, kr, ks, y, x, gcb; /* gcb: input blocks of one group */
} conv_packed_dims;

static double conv_packed_sum(const wick_ref *c, const conv_packed_shape *s,
                              const conv_packed_dims *d, const int64_t *at)
{
  double sum = 0;
  const wick_tensor *x = &c->in[0], *w = &c->in[1];
  int64_t first = s->group > 1 && !s->depthwise ? at[1] / (d->ob / s->group) * d->gcb : 0;
  for (int64_t cb = 0; cb < (s->depthwise ? 1 : d->gcb); cb++)
    for (int64_t r = 0; r < d->kr; r++)
      for (int64_t q = 0; q < d->ks; q++)
        for (int64_t ci = 0; ci < (s->depthwise ? 1 : d->ci); ci++) {
          int64_t y = at[2] * s->stride[0] - s->pad[0] + r * s->dilation[0],
                  xx = at[3] * s->stride[1] - s->pad[1] + q * s->dilation[1];
          if (y < 0 || y >= d->y || xx < 0 || xx >= d->x) continue;
          int64_t block = s->depthwise ? at[1] : first + cb, lane = s->depthwise ? at[4] : ci;
          uint64_t xi =
              (uint64_t)((((at[0] * d->cb + block) * d->y + y) * d->x + xx) * d->ci + lane);
          uint64_t wi =
              s->depthwise
                  ? (uint64_t)(((at[1] * d->kr + r) * d->ks + q) * d->co + at[4])
                  : (uint64_t)(((((at[1] * d->gcb + cb) * d->kr + r) * d->ks + q) * d->ci + ci) *
                                   d->co +
                               at[4]);
          sum += wick_load_elem(x->elem, x->data, xi).f * wick_load_elem(w->elem, w->data, wi).f;
        }
  return sum;
}

static wick_status conv_packed_ref(wick_ref *c)
{
  wick_type_info x = {.rank = (uint16_t)c->in[0].rank}, w = {.rank = (uint16_t)c->in[1].rank};
  conv_packed_shape s = conv_packed_of(&x, &w, c->attr);
  const int64_t *xd = c->in[0].dim, *wd = c->in[1].dim, *od = c->out[0].dim;
  conv_packed_dims d = {.n = od[0],
                        .ob = od[1],
                        .oy = od[2],
                        .ox = od[3],
                        .co = od[4],
                        .cb = xd[1],
                        .ci = s.plain ? 1 : xd[4],
                        .kr = wd[s.depthwise ? 1 : 2],
                        .ks = wd[s.depthwise ? 2 : 3],
                        .y = xd[2],
                        .x = xd[3],
                        .gcb = s.depthwise ? 1 : wd[1]};
  uint64_t k = 0;
  int64_t at[5];
  for (at[0] = 0; at[0] < d.n; at[0]++)
    for (at[1] = 0; at[1] < d.ob; at[1]++)
      for (at[2] = 0; at[2] < d.oy; at[2]++)
        for (at[3] = 0; at[3] < d.ox; at[3]++)
          for (at[4] = 0; at[4] < d.co; at[4]++)
            wick_store_elem(c->out[0].elem, c->out[0].data, k++,
                            (wick_scalar){.f = conv_packed_sum(c, &s, &d, at)});
  return NULL;
}

/* The input's index along spatial axis k. */
static wick_dim conv_packed_at(wick_dims *dims, const conv_packed_shape *s, uint32_t k,
                               wick_dim out, wick_dim tap)
{
  wick_dim at = wick_dim_mul(dims, out, wick_dim_const(s->stride[k]));
  at = wick_dim_add(dims, at, wick_dim_mul(dims, tap, wick_dim_const(s->dilation[k])));
  return wick_dim_sub(dims, at, wick_dim_const(s->pad[k]));
}

static void conv_packed_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *dims = b->module->dims;
  conv_packed_shape s =
      conv_packed_of(wick_built_info(b, c->in[0]), wick_built_info(b, c->in[1]), c->attr);
  const wick_dim *od = wick_type_get(b->module, c->out_type[0])->dim, *wd = s.w->dim;
  static const char *const name[5] = {"n", "oc", "y", "x", "v"};
  wick_axis axis[9];
  uint32_t n = 5;
  for (uint32_t k = 0; k < 5; k++) axis[k] = wick_make_axis(b, name[k], od[k], false);
  if (!s.depthwise) axis[n++] = wick_make_axis(b, "ic", wd[1], true);
  uint32_t r = n;
  axis[n++] = wick_make_axis(b, "r", wd[s.depthwise ? 1 : 2], true);
  axis[n++] = wick_make_axis(b, "s", wd[s.depthwise ? 2 : 3], true);
  if (!s.depthwise && !s.plain) axis[n++] = wick_make_axis(b, "i", wd[4], true);
  wick_dim y = conv_packed_at(dims, &s, 0, axis[2].sym, axis[r].sym),
           x = conv_packed_at(dims, &s, 1, axis[3].sym, axis[r + 1].sym);
  wick_dim block = s.depthwise ? axis[1].sym : axis[5].sym;
  if (!s.depthwise && s.group > 1) /* the input blocks of the output block's group */
    block = wick_dim_add(
        dims, block,
        wick_dim_mul(dims,
                     wick_dim_floordiv(dims, axis[1].sym,
                                       wick_dim_floordiv(dims, od[1], wick_dim_const(s.group))),
                     wd[1]));
  wick_dim xi[5] = {axis[0].sym, block, y, x, s.depthwise ? axis[4].sym : axis[n - 1].sym};
  wick_dim wi[6] = {axis[1].sym,
                    axis[5].sym,
                    axis[r].sym,
                    axis[r + 1].sym,
                    s.plain ? axis[4].sym : axis[n - 1].sym,
                    axis[4].sym};
  wick_dim wdepth[4] = {axis[1].sym, axis[r].sym, axis[r + 1].sym, axis[4].sym};
  wick_type one = wick_type_scalar(b->module, s.x->elem, 1);
  wick_fold_begin(b, "conv", n, axis, c->out_type[0], WICK_OP_add);
  wick_value zero = wick_build_const(b, one, 0, 0);
  wick_value a = wick_read(b, c->in[0], xi, 0, NULL, zero),
             w = wick_read(b, c->in[1], s.depthwise ? wdepth : wi, 0, NULL, (wick_value){0});
  c->out[0] = wick_fold_end_muladd(b, a, w);
}

const wick_op wick_op_conv_packed = {
    .name = "conv_packed",
    .doc = "A 2-D convolution on packed operands; sums in the order of input block, row, column, "
           "place in the block, each step one fma",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {{"stride", WICK_ATTR_INTS, 0, false, NULL, 1, 1 << 20},
             {"pad", WICK_ATTR_INTS, 0, false, NULL, -(1 << 20), 1 << 20},
             {"dilation", WICK_ATTR_INTS, 0, false, NULL, 1, 1 << 20},
             {"group", WICK_ATTR_INT, 1, false, NULL, 1, 1 << 20}},
    .level = WICK_GRAPH,
    .elems = WICK_BIT(WICK_F32) | WICK_BIT(WICK_F64),
    .infer = conv_packed_infer,
    .ref = conv_packed_ref,
    .compute = conv_packed_compute,
};

/* ---- matmul_packed ---- */

/* x [.., K], w [NB, K, v] (the columns of a matrix in blocks); result [.., NB, v]. */
static wick_status matmul_packed_infer(wick_infer *c)
{
  const wick_type_info *x = wick_type_get(c->module, c->in[0]->type),
                       *w = wick_type_get(c->module, c->in[1]->type);
  wick_dim dim[WICK_MAX_RANK];
  if (x->rank < 1 || x->rank + 1u > WICK_MAX_RANK || w->rank != 3)
    return wick_infer_fail(c, WICK_ETYPE,
                           "operands of rank %u and %u are not packed for each other", x->rank,
                           w->rank);
  if (x->elem != w->elem || !wick_dim_eq(x->dim[x->rank - 1], w->dim[1]))
    return wick_infer_fail(c, WICK_ETYPE, "x and w have different inner sizes");
  memcpy(dim, x->dim, x->rank * sizeof *dim);
  dim[x->rank - 1] = w->dim[0];
  dim[x->rank] = w->dim[2];
  c->out[0].type = wick_type_tensor(c->module, x->elem, x->rank + 1u, dim);
  return NULL;
}

static wick_status matmul_packed_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *w = &c->in[1];
  uint64_t rows = blocked_product(x->dim, 0, x->rank - 1), inner = (uint64_t)w->dim[1],
           v = (uint64_t)w->dim[2], blocks = (uint64_t)w->dim[0];
  for (uint64_t r = 0; r < rows; r++)
    for (uint64_t b = 0; b < blocks; b++)
      for (uint64_t i = 0; i < v; i++) {
        double sum = 0;
        for (uint64_t k = 0; k < inner; k++)
          sum += wick_load_elem(x->elem, x->data, r * inner + k).f *
                 wick_load_elem(w->elem, w->data, (b * inner + k) * v + i).f;
        wick_store_elem(x->elem, c->out[0].data, (r * blocks + b) * v + i, (wick_scalar){.f = sum});
      }
  return NULL;
}

static void matmul_packed_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_axis axis[WICK_MAX_RANK + 1];
  wick_dim xi[WICK_MAX_RANK];
  uint32_t n = wick_axes_of(b, c->out_type[0], axis);
  axis[n] = wick_make_axis(b, "k", x->dim[x->rank - 1], true);
  for (uint32_t k = 0; k + 1 < x->rank; k++) xi[k] = axis[k].sym;
  xi[x->rank - 1] = axis[n].sym;
  wick_dim wi[3] = {axis[n - 2].sym, axis[n].sym, axis[n - 1].sym};
  wick_fold_begin(b, "matmul", n + 1, axis, c->out_type[0], WICK_OP_add);
  wick_value p = wick_read(b, c->in[0], xi, 0, NULL, (wick_value){0}),
             q = wick_read(b, c->in[1], wi, 0, NULL, (wick_value){0});
  c->out[0] = wick_fold_end_muladd(b, p, q);
}

const wick_op wick_op_matmul_packed = {
    .name = "matmul_packed",
    .doc = "x [.., K] times a matrix whose columns are in blocks, w [NB, K, v]; sums in the order "
           "of k, each step one fma",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .elems = WICK_BIT(WICK_F32) | WICK_BIT(WICK_F64),
    .infer = matmul_packed_infer,
    .ref = matmul_packed_ref,
    .compute = matmul_packed_compute,
};

wick_value wick_build_pack(wick_builder *b, wick_value x, int64_t axis, int64_t block)
{
  wick_attr a[2] = {{.i = axis}, {.i = block}};
  return wick_build(b, WICK_OP_pack, 1, &x, a, 0, NULL);
}

wick_value wick_build_unpack(wick_builder *b, wick_value x, int64_t axis, wick_dim extent)
{
  wick_attr a[2] = {{.i = axis}, {.n = 1, .dims = &extent}};
  return wick_build(b, WICK_OP_unpack, 1, &x, a, 0, NULL);
}
