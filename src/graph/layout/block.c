/* One walk: every value is known plain, packed or both; a node takes what suits it, and conversions
 * are built where they are missing. */
#include "graph/layout/block.h"

#include <string.h>

#include "ops/blocked.h"
#include "ops/scalar.h"

enum { BLOCK_FEW_CHANNELS = 8 };

typedef struct block_state {
  wick_copier c;      /* c.to: the plain form, or 0 */
  wick_value *packed; /* per old value: the packed form, or 0 */
  int64_t
      *width; /* per old value: the block of its last axis, where that is what is packed; else 0 */
  const uint32_t *definer;
  wick_arena *mem;
  int64_t block;
} block_state;

/* ---- values ---- */

static const wick_type_info *block_info(const block_state *s, wick_value v)
{
  return wick_info_of(s->c.f, v);
}

/* An image of f32 with constant sizes: what can be packed. */
static bool block_is_image(const block_state *s, wick_value v)
{
  int64_t dim[WICK_MAX_RANK];
  const wick_type_info *t = v.id && !s->width[v.id] ? block_info(s, v) : NULL;
  return t && t->kind == WICK_TENSOR && t->rank == 4 && t->elem == WICK_F32 &&
         wick_type_const_dims(t, dim) && dim[1] > 0;
}

static wick_value block_plain(block_state *s, wick_value v)
{
  if (!v.id || s->c.to[v.id].id || !s->packed[v.id].id) return s->c.to[v.id];
  const wick_type_info *t = block_info(s, v);
  if (!s->width[v.id])
    return s->c.to[v.id] = wick_build_unpack(&s->c.b, s->packed[v.id], 1, t->dim[1]);
  if (t->dim[t->rank - 1].v % s->width[v.id])
    return s->c.to[v.id] =
               wick_build_unpack(&s->c.b, s->packed[v.id], t->rank - 1, t->dim[t->rank - 1]);
  wick_attr a[WICK_MAX_ATTR] = {
      {.n = t->rank, .dims = t->dim}}; /* whole blocks lie as the plain rows do */
  return s->c.to[v.id] = wick_build(&s->c.b, WICK_OP_reshape, 1, &s->packed[v.id], a, 0, NULL);
}

static wick_value block_packed(block_state *s, wick_value v)
{
  if (s->packed[v.id].id) return s->packed[v.id];
  return s->packed[v.id] = wick_build_pack(&s->c.b, s->c.to[v.id], 1, s->block);
}

/* The data of a constant operand, or NULL. */
static const wick_constant *block_constant(const block_state *s, wick_value v)
{
  uint32_t d = v.id ? s->definer[v.id] : UINT32_MAX;
  if (d == UINT32_MAX || s->c.f->node[d].op != WICK_OP_const ||
      !s->c.f->node[d].attr[0].imm.constant)
    return NULL;
  const wick_constant *k = wick_constant_get(s->c.f->module, s->c.f->node[d].attr[0].imm.constant);
  return k->data ? k : NULL;
}

static wick_value block_new_constant(block_state *s, const char *name, const float *data,
                                     uint32_t rank, const int64_t *dim)
{
  wick_module *m = s->c.f->module;
  uint64_t n = 4;
  for (uint32_t k = 0; k < rank; k++) n *= (uint64_t)dim[k];
  uint32_t id = wick_constant_add(m, wick_str_printf(s->mem, "%s.packed", name),
                                  wick_type_tensor_const(m, WICK_F32, rank, dim), data, n);
  return wick_build_constant(&s->c.b, id);
}

/* A constant that varies along the channels alone, as [1, blocks, 1, 1, block]; 0 where it does
 * not. */
static wick_value block_channels(block_state *s, wick_value v, int64_t channels)
{
  const wick_constant *k = block_constant(s, v);
  int64_t dim[WICK_MAX_RANK];
  if (!k) return (wick_value){0};
  const wick_type_info *t = wick_type_get(s->c.f->module, k->type);
  if (t->elem != WICK_F32 || t->rank > 4 || !wick_type_const_dims(t, dim)) return (wick_value){0};
  for (uint32_t i = 0; i < t->rank; i++)
    if (dim[i] != (i + 3 == t->rank ? channels : 1)) return (wick_value){0};
  if (t->rank < 3) return (wick_value){0};
  int64_t blocks = wick_ceildiv_i64(channels, s->block), out[5] = {1, blocks, 1, 1, s->block};
  float *data = wick_arena_alloc(&s->c.f->module->mem, (size_t)(blocks * s->block) * 4, 64);
  memcpy(data, k->data, (size_t)channels * 4);
  return block_new_constant(s, k->name, data, 5, out);
}

/* ---- convolution ---- */

typedef struct block_conv {
  const int64_t *xd, *wd; /* [N, C, Y, X], [O, C / group, R, S] */
  int64_t group;
  bool plain, depthwise;
} block_conv;

/* w as [OB, CB/g, R, S, ci, co], [OB, C, R, S, co] for a plain input, or [CB, R, S, c] by channel.
 * Lanes beyond are 0. */
static wick_value block_weights(block_state *s, const wick_constant *k, const block_conv *v)
{
  int64_t b = s->block, o = v->wd[0], c = v->wd[1], r = v->wd[2], q = v->wd[3],
          ob = wick_ceildiv_i64(o, b), cb = wick_ceildiv_i64(c, b);
  int64_t dims6[6] = {ob, cb, r, q, b, b}, dims5[5] = {ob, c, r, q, b}, dims4[4] = {ob, r, q, b};
  uint32_t rank = v->depthwise ? 4 : v->plain ? 5 : 6;
  const int64_t *dim = v->depthwise ? dims4 : v->plain ? dims5 : dims6;
  size_t n = 1;
  for (uint32_t i = 0; i < rank; i++) n *= (size_t)dim[i];
  float *out = wick_arena_alloc(&s->c.f->module->mem, n * 4, 64);
  const float *in = k->data;
  for (int64_t io = 0; io < o; io++)
    for (int64_t ic = 0; ic < c; ic++)
      for (int64_t at = 0; at < r * q; at++) {
        int64_t to = v->depthwise ? (io / b * r * q + at) * b + io % b
                     : v->plain   ? ((io / b * c + ic) * r * q + at) * b + io % b
                                : (((io / b * cb + ic / b) * r * q + at) * b + ic % b) * b + io % b;
        memcpy(&out[to], (const char *)in + ((io * c + ic) * r * q + at) * 4, 4);
      }
  return block_new_constant(s, k->name, out, rank, dim);
}

static wick_value block_bias(block_state *s, const wick_constant *k, int64_t o)
{
  int64_t blocks = wick_ceildiv_i64(o, s->block), dim[5] = {1, blocks, 1, 1, s->block};
  float *data = wick_arena_alloc(&s->c.f->module->mem, (size_t)(blocks * s->block) * 4, 64);
  memcpy(data, k->data, (size_t)o * 4);
  return block_new_constant(s, k->name, data, 5, dim);
}

static bool block_conv_fits(const block_state *s, const wick_node *n, const wick_constant *w,
                            block_conv *v)
{
  int64_t b = s->block, c = v->xd[1], o = v->wd[0], g = v->group;
  v->depthwise = g > 1 && g == c && o == c && v->wd[1] == 1;
  v->plain = g == 1 && c < BLOCK_FEW_CHANNELS && s->c.to[n->in[0].id].id;
  if (!w || (n->nin > 2 && n->in[2].id && !block_constant(s, n->in[2]))) return false;
  if (v->depthwise) return true;
  if (g > 1) return c / g % b == 0 && o / g % b == 0;
  return o >= BLOCK_FEW_CHANNELS || s->packed[n->in[0].id].id || n->attr[0].n == 0 ||
         n->attr[0].ints[0] > 1;
}

/* conv {stride, pad, dilation, group} as conv_packed and the bias added; false where it stays as it
 * is. */
static bool block_do_conv(block_state *s, const wick_node *n)
{
  int64_t xd[WICK_MAX_RANK], wd[WICK_MAX_RANK];
  const wick_constant *w = block_constant(s, n->in[1]);
  if (!block_is_image(s, n->in[0]) || !block_is_image(s, n->in[1])) return false;
  wick_type_const_dims(block_info(s, n->in[0]), xd);
  wick_type_const_dims(block_info(s, n->in[1]), wd);
  block_conv v = {.xd = xd, .wd = wd, .group = n->attr[3].i};
  if (!block_conv_fits(s, n, w, &v)) return false;
  wick_value in[2] = {v.plain ? s->c.to[n->in[0].id] : block_packed(s, n->in[0]),
                      block_weights(s, w, &v)};
  wick_value y = wick_build(&s->c.b, WICK_OP_conv_packed, 2, in, n->attr, 0, NULL);
  if (n->nin > 2 && n->in[2].id)
    y = wick_build2(&s->c.b, WICK_OP_add, y, block_bias(s, block_constant(s, n->in[2]), wd[0]));
  s->packed[n->first.id] = y;
  return true;
}

/* ---- matrix products ---- */

/* x [.., K] with a constant matrix [K, N]: its columns in blocks of four vectors, so that a kernel
 * reads it from one end to the other. */
static bool block_do_matmul(block_state *s, const wick_node *n)
{
  const wick_constant *k = block_constant(s, n->in[1]);
  const wick_type_info *x = block_info(s, n->in[0]), *w = block_info(s, n->in[1]);
  int64_t xd[WICK_MAX_RANK], wd[WICK_MAX_RANK], v = 4 * s->block;
  if (!k || x->elem != WICK_F32 || w->rank != 2 || x->rank < 2 || !wick_type_const_dims(x, xd) ||
      !wick_type_const_dims(w, wd))
    return false;
  if (wd[1] < s->block) return false;
  while (v > s->block && wick_ceildiv_i64(wd[1], v) * v > wd[1] + wd[1] / 8) v /= 2;
  int64_t dim[3] = {wick_ceildiv_i64(wd[1], v), wd[0], v};
  float *data = wick_arena_alloc(&s->c.f->module->mem, (size_t)(dim[0] * dim[1] * dim[2]) * 4, 64);
  const char *from = k->data;
  for (int64_t b = 0; b < dim[0]; b++)
    for (int64_t i = 0; i < wd[0]; i++)
      memcpy(data + (b * wd[0] + i) * v, from + (i * wd[1] + b * v) * 4,
             (size_t)wick_min_i64(v, wd[1] - b * v) * 4);
  wick_value in[2] = {block_plain(s, n->in[0]), block_new_constant(s, k->name, data, 3, dim)};
  s->packed[n->first.id] = wick_build(&s->c.b, WICK_OP_matmul_packed, 2, in, NULL, 0, NULL);
  s->width[n->first.id] = v;
  return true;
}

/* An element-wise node behind it, whose other operands are numbers, rows of N, or packed alike. */
static bool block_do_columns(block_state *s, const wick_node *n)
{
  wick_value in[8] = {{0}};
  int64_t v = 0, dim[WICK_MAX_RANK];
  const wick_type_info *r = block_info(s, n->first);
  if (n->nin > 8 || wick_op_of(n)->typed || r->elem != WICK_F32 || r->rank < 2 ||
      !wick_type_const_dims(r, dim))
    return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (n->in[k].id && s->width[n->in[k].id])
      v = v && v != s->width[n->in[k].id] ? -1 : s->width[n->in[k].id];
  if (v <= 0) return false;
  int64_t columns = dim[r->rank - 1];
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!n->in[k].id) continue;
    const wick_type_info *t = block_info(s, n->in[k]);
    const wick_constant *row = block_constant(s, n->in[k]);
    if (s->width[n->in[k].id] &&
        wick_type_eq(wick_type_of(s->c.f, n->in[k]), wick_type_of(s->c.f, n->first))) {
      in[k] = s->packed[n->in[k].id];
    } else if (t->elem == WICK_F32 &&
               wick_dim_is(wick_type_numel(s->c.f->module, wick_type_of(s->c.f, n->in[k])), 1)) {
      in[k] = s->c.to[n->in[k].id];
    } else if (row && t->elem == WICK_F32 && t->rank &&
               wick_dim_is(wick_type_numel(s->c.f->module, row->type), columns) &&
               wick_dim_is(t->dim[t->rank - 1], columns)) {
      int64_t packed[2] = {wick_ceildiv_i64(columns, v), v};
      float *data = wick_arena_alloc(&s->c.f->module->mem, (size_t)(packed[0] * v) * 4, 64);
      memcpy(data, row->data, (size_t)columns * 4);
      in[k] = block_new_constant(s, row->name, data, 2, packed);
    }
    if (!in[k].id) return false;
  }
  s->packed[n->first.id] =
      wick_build(&s->c.b, n->op, n->nin, in, n->nattr ? n->attr : NULL, 0, NULL);
  s->width[n->first.id] = v;
  return true;
}

/* ---- the other nodes ---- */

/* Lanes beyond the last channel hold 0 in all images: does the row make 0 of them? */
static bool block_keeps_zero(const block_state *s, const wick_node *n)
{
  wick_scalar in[8] = {{0}};
  if (!wick_op_of(n)->eval || n->nin > 8) return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    uint32_t d = n->in[k].id ? s->definer[n->in[k].id] : UINT32_MAX;
    if (!n->in[k].id || block_info(s, n->in[k])->elem != WICK_F32) return false;
    if (d != UINT32_MAX && s->c.f->node[d].op == WICK_OP_const &&
        !s->c.f->node[d].attr[0].imm.constant)
      in[k].f = s->c.f->node[d].attr[0].imm.f;
    const wick_constant *one = block_constant(s, n->in[k]);
    if (one && one->nbytes == 4) in[k] = wick_load_elem(WICK_F32, one->data, 0);
  }
  return wick_eval_scalar(n->op, n->attr, WICK_F32, WICK_F32, in).f == 0;
}

static bool block_do_scalar(block_state *s, const wick_node *n)
{
  wick_value in[8] = {{0}};
  bool any = false;
  if (!block_is_image(s, n->first) || n->nin > 8 || wick_op_of(n)->typed) return false;
  const wick_type_info *r = block_info(s, n->first);
  for (uint32_t k = 0; k < n->nin; k++) any = any || (n->in[k].id && s->packed[n->in[k].id].id);
  if (!any || (r->dim[1].v % s->block && !block_keeps_zero(s, n))) return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value v = n->in[k];
    if (!v.id) continue;
    if (wick_type_eq(wick_type_of(s->c.f, v), wick_type_of(s->c.f, n->first)))
      in[k] = s->packed[v.id].id ? s->packed[v.id]
                                 : v; /* packed below, once it is clear that all fit */
    else if (wick_dim_is(wick_type_numel(s->c.f->module, wick_type_of(s->c.f, v)), 1))
      in[k] = s->c.to[v.id];
    else
      in[k] = block_channels(s, v, r->dim[1].v);
    if (!in[k].id) return false;
  }
  for (uint32_t k = 0; k < n->nin; k++)
    if (n->in[k].id && wick_type_eq(wick_type_of(s->c.f, n->in[k]), wick_type_of(s->c.f, n->first)))
      in[k] = block_packed(s, n->in[k]);
  s->packed[n->first.id] =
      wick_build(&s->c.b, n->op, n->nin, in, n->nattr ? n->attr : NULL, 0, NULL);
  return true;
}

/* Joins along places as they are; along channels where the operands are whole blocks, one behind
 * another. */
static bool block_do_join(block_state *s, const wick_node *n)
{
  bool any = false, channels = n->attr[0].i == 1;
  if (!block_is_image(s, n->first) || !n->attr[0].i || (channels && n->op != WICK_OP_concat))
    return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    if (s->width[n->in[k].id]) return false;
    any = any || s->packed[n->in[k].id].id;
    if (channels && block_info(s, n->in[k])->dim[1].v % s->block) return false;
  }
  if (!any) return false;
  wick_value *in = wick_new(s->mem, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = block_packed(s, n->in[k]);
  s->packed[n->first.id] = wick_build(&s->c.b, n->op, n->nin, in, n->attr, 0, NULL);
  return true;
}

/* A list of an attribute per spatial dimension, begins then ends where `halves` is 2, with a
 * dimension more of value `more`. */
static wick_attr block_longer(block_state *s, wick_attr a, uint32_t halves, int64_t more)
{
  if (!a.n) return a;
  uint32_t half = a.n / halves;
  int64_t *ints = wick_new(s->mem, int64_t, a.n + halves);
  for (uint32_t h = 0; h < halves; h++) {
    memcpy(ints + h * (half + 1), a.ints + h * half, half * sizeof *ints);
    ints[h * (half + 1) + half] = more;
  }
  return (wick_attr){.n = a.n + halves, .ints = ints};
}

/* A pool over [Y, X] is one over [Y, X, block] with a window of 1 there. */
static bool block_do_pool(block_state *s, const wick_node *n)
{
  if (n->nout != 1 || !block_is_image(s, n->in[0])) return false;
  if (!s->packed[n->in[0].id].id && block_info(s, n->in[0])->dim[1].v % s->block)
    return false; /* lanes would be wasted */
  wick_attr a[WICK_MAX_ATTR];
  memcpy(a, n->attr, n->nattr * sizeof *a);
  a[0] = block_longer(s, a[0], 1, 1); /* stride, pad, dilation, kernel */
  a[1] = block_longer(s, a[1], 2, 0);
  a[2] = block_longer(s, a[2], 1, 1);
  a[3] = block_longer(s, a[3], 1, 1);
  wick_value x = block_packed(s, n->in[0]);
  s->packed[n->first.id] = wick_build(&s->c.b, n->op, 1, &x, a, 0, NULL);
  return true;
}

/* Means and the like over whole images, sizes kept: the same axes of the packed tensor. */
static bool block_do_reduce(block_state *s, const wick_node *n)
{
  if (!block_is_image(s, n->in[0]) || !block_is_image(s, n->first) || !s->packed[n->in[0].id].id)
    return false;
  const wick_attr *axes = &n->attr[0];
  if (axes->n != 2 || wick_min_i64(axes->ints[0], axes->ints[1]) != 2 ||
      wick_max_i64(axes->ints[0], axes->ints[1]) != 3)
    return false;
  if (block_info(s, n->in[0])->dim[1].v % s->block &&
      !(n->op == WICK_OP_reduce_mean || n->op == WICK_OP_reduce_sum))
    return false;
  s->packed[n->first.id] = wick_build(&s->c.b, n->op, 1, &s->packed[n->in[0].id], n->attr, 0, NULL);
  return true;
}

static bool block_node(block_state *s, const wick_node *n)
{
  s->c.b.loc = n->loc;
  if (n->op == WICK_OP_conv) return block_do_conv(s, n);
  if (wick_op_of(n)->joins) return block_do_join(s, n);
  if (n->op == WICK_OP_matmul) return block_do_matmul(s, n);
  if (n->op == WICK_OP_max_pool || n->op == WICK_OP_avg_pool) return block_do_pool(s, n);
  if (n->op == WICK_OP_reduce_mean || n->op == WICK_OP_reduce_sum || n->op == WICK_OP_reduce_max)
    return block_do_reduce(s, n);
  if (wick_op_of(n)->scalar && n->nout == 1) return block_do_scalar(s, n) || block_do_columns(s, n);
  if (wick_op_of(n)->view && n->nin >= 1 && n->in[0].id &&
      wick_type_eq(wick_type_of(s->c.f, n->in[0]), wick_type_of(s->c.f, n->first)) &&
      s->packed[n->in[0].id].id) {
    s->packed[n->first.id] = s->packed[n->in[0].id];
    s->width[n->first.id] = s->width[n->in[0].id];
    return true;
  }
  return false;
}

wick_status wick_pass_block(const wick_func *f, const wick_target *t, wick_arena *mem,
                            wick_func **out)
{
  block_state s = {.mem = mem, .block = t->vector_bytes / 4};
  s.c = wick_copy_begin(f, mem);
  s.packed = wick_new(mem, wick_value, f->nvalue + 1);
  s.width = wick_new(mem, int64_t, f->nvalue + 1);
  s.definer = wick_definers_of(f, mem);
  bool flat = s.block > 1;
  for (uint32_t i = 0; i < f->nnode; i++) flat = flat && !f->node[i].nregion;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (flat && block_node(&s, n)) continue;
    for (uint32_t k = 0; k < n->nin; k++) block_plain(&s, n->in[k]);
    wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
