/* Converts in one traversal. Each value has a plain form, a form as images, or both. Plain forms
 * without readers are not copied. */
#include "graph/conv3d_to_conv2d.h"

#include <math.h>
#include <string.h>

#include "graph/match.h"
#include "ir/copy.h"
#include "ops/nn/conv_cost.h"
#include "ops/nn/window.h"
#include "ops/nn/winograd.h"

enum { CONV3D_TO_CONV2D_MOST = 8, CONV3D_TO_CONV2D_TAPS = 64 };

typedef struct conv3d_to_conv2d {
  wick_match k;
  wick_copier c;
  const wick_target *target;
  int64_t lanes;
  wick_value *image; /* per old value: its form as images, or 0 */
} conv3d_to_conv2d;

/* Returns v, [N, C, D, H, W] or something that broadcasts to it along N and D, as images. */
static wick_value conv3d_to_conv2d_image(conv3d_to_conv2d *s, wick_value v)
{
  static const int64_t perm[5] = {0, 2, 1, 3, 4};
  if (!v.id || s->image[v.id].id) return s->image[v.id];
  const wick_type_info *t = wick_info_of(s->k.f, v);
  wick_value x = s->c.to[v.id];
  wick_dim dim[5];
  if (t->rank < 3) return x; /* broadcasts without a change */
  uint32_t depth = t->rank - 3u, rank = t->rank - 1u;
  if (t->rank == 5) x = wick_build_transpose(&s->c.b, x, 5, perm);
  memcpy(dim + rank - 2, t->dim + depth + 1, 2 * sizeof *dim);
  if (rank > 2) dim[rank - 3] = t->dim[depth - 1];
  if (rank > 3) dim[0] = wick_dim_mul(s->k.f->module->dims, t->dim[0], t->dim[2]);
  return wick_build_reshape(&s->c.b, x, rank, dim);
}

/* Returns the plain form of images y. */
static wick_value conv3d_to_conv2d_plain(conv3d_to_conv2d *s, wick_value y, const wick_type_info *t)
{
  static const int64_t perm[5] = {0, 2, 1, 3, 4};
  wick_dim dim[5] = {t->dim[0], t->dim[2], t->dim[1], t->dim[3], t->dim[4]};
  return wick_build_transpose(&s->c.b, wick_build_reshape(&s->c.b, y, 5, dim), 5, perm);
}

/* ---- which nodes are converted ---- */

/* Returns how many times faster Winograd's algorithm is on the images; 0: it is not. For 3 x 3 taps
 * that is measured, for others the same share of the products that it saves. */
static double conv3d_to_conv2d_winograd(const conv3d_to_conv2d *s, const wick_node *n,
                                        const wick_window *x, const int64_t *w)
{
  static const double three = 2.25, saved = three / 4; /* with tiles of 4 */
  wick_dims *t = s->k.f->module->dims;
  const wick_type_info *y = wick_info_of(s->k.f, n->first);
  if (w[3] != w[4] || x->stride[1] != 1 || x->stride[2] != 1 || x->dilation[1] != 1 ||
      x->dilation[2] != 1)
    return 0;
  if (w[3] == 3) return three;
  int64_t group = n->attr[WICK_ATTR_conv_group].i;
  wick_winograd_layer l = {.images =
                               wick_dim_typical(t, y->dim[0]) * wick_dim_typical(t, y->dim[2]),
                           .in = wick_ceildiv_i64(w[1] * group * w[2], s->lanes),
                           .out = wick_ceildiv_i64(w[0], s->lanes),
                           .group = group,
                           .lanes = s->lanes,
                           .y = wick_dim_typical(t, y->dim[3]),
                           .x = wick_dim_typical(t, y->dim[4]),
                           .taps = w[3]};
  int64_t m = wick_winograd_tile(s->target, &l);
  double side = (double)(m * w[3]) / (double)(m + w[3] - 1);
  return m ? saved * side * side : 0;
}

/* Returns true if Winograd's algorithm on images is faster, although the images are moved: twice
 * before, for each tap, and once after. The times are those of a position of the result, in vectors
 * of products. Packed convolutions fill blocks of channels. */
static bool conv3d_to_conv2d_pays(const conv3d_to_conv2d *s, const wick_node *n, const int64_t *w)
{
  wick_module *m = s->k.f->module;
  static const double packed = 0.85;
  wick_window x = wick_window_of(n->attr, 3, w + 2);
  double lanes = (double)s->lanes, out = (double)w[0], taps = (double)w[2],
         group = (double)n->attr[WICK_ATTR_conv_group].i, in = (double)w[1] * group,
         sum = (double)(w[1] * w[2] * w[3] * w[4]);
  double winograd = conv3d_to_conv2d_winograd(s, n, &x, w);
  int64_t width = wick_dim_typical(m->dims, wick_info_of(s->k.f, n->first)->dim[4]),
          vectors = wick_ceildiv_i64(wick_max_i64(width, 1), s->lanes);
  double plain = sum * out * (double)vectors / (double)wick_max_i64(width, 1) *
                 wick_conv_plain_cost(s->target, w[0], n->attr[WICK_ATTR_conv_group].i,
                                      w[1] * w[2] * w[3] * w[4], x.stride[2]),
         blocks = sum * group * ceil(out / group / lanes) / packed,
         after = blocks / fmax(winograd, 1);
  uint64_t nbytes = wick_type_typical_nbytes(m, wick_type_of(s->k.f, n->in[0])) +
                    wick_type_typical_nbytes(m, wick_type_of(s->k.f, n->first));
  double move = wick_target_move(s->target, nbytes) / lanes;
  return winograd > 1 &&
         after + move * (2 * in * taps + out) < fmin(plain, blocks + move * (in + out));
}

static bool conv3d_to_conv2d_is_conv(const conv3d_to_conv2d *s, const wick_node *n)
{
  int64_t w[WICK_MAX_RANK];
  if (n->op != WICK_OP_conv || !wick_match_data(&s->k, n->in[1])) return false;
  const wick_type_info *x = wick_info_of(s->k.f, n->in[0]), *t = wick_info_of(s->k.f, n->in[1]);
  return x->rank == 5 && x->elem == WICK_F32 && t->elem == WICK_F32 &&
         wick_dim_is_const(x->dim[1]) && wick_type_const_dims(t, w) &&
         w[2] <= CONV3D_TO_CONV2D_TAPS && conv3d_to_conv2d_pays(s, n, w);
}

/* Returns true if the operand v of an element-wise node can be read as images: it has all
 * dimensions of the result, or none along N and D. */
static bool conv3d_to_conv2d_broadcasts(const conv3d_to_conv2d *s, wick_value v,
                                        const wick_type_info *y)
{
  const wick_type_info *t = wick_info_of(s->k.f, v);
  uint32_t skip = 5u - t->rank;
  bool all = t->rank == 5, none = true;
  for (uint32_t k = 0; k < t->rank; k++) {
    all = all && wick_dim_eq(t->dim[k], y->dim[k + skip]);
    none = none && ((k + skip != 0 && k + skip != 2) || wick_dim_is(t->dim[k], 1));
  }
  return all || none;
}

/* Returns true if n is element-wise and has an operand in the form of images. */
static bool conv3d_to_conv2d_goes_along(const conv3d_to_conv2d *s, const wick_node *n)
{
  bool any = false;
  if (!wick_op_of(n)->scalar || wick_op_of(n)->typed || n->nout != 1 || n->nregion ||
      n->nin > CONV3D_TO_CONV2D_MOST || wick_info_of(s->k.f, n->first)->rank != 5)
    return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!n->in[k].id) continue;
    any = any || s->image[n->in[k].id].id;
    if (!conv3d_to_conv2d_broadcasts(s, n->in[k], wick_info_of(s->k.f, n->first))) return false;
  }
  return any;
}

/* ---- building ---- */

/* Returns the weights [O, C, T, R, S] as [O, T * C, R, S]. */
static wick_value conv3d_to_conv2d_weights(conv3d_to_conv2d *s, wick_value v, const int64_t *w)
{
  const wick_constant *k = wick_match_data(&s->k, v);
  int64_t area = w[3] * w[4], dim[4] = {w[0], w[1] * w[2], w[3], w[4]};
  const float *from = k->data;
  wick_module *m = s->k.f->module;
  float *to = wick_arena_alloc(&m->mem, (size_t)k->nbytes, 64);
  for (int64_t o = 0; o < w[0]; o++)
    for (int64_t c = 0; c < w[1]; c++)
      for (int64_t t = 0; t < w[2]; t++)
        memcpy(to + ((o * w[2] + t) * w[1] + c) * area, from + ((o * w[1] + c) * w[2] + t) * area,
               (size_t)area * sizeof *to);
  wick_type type = wick_type_tensor_const(m, WICK_F32, 4, dim);
  return wick_build_constant(&s->c.b, wick_constant_add(m, k->name, type, to, k->nbytes));
}

/* Returns the images that the windows read: for each output along D, those of all taps, as channels
 * in the order group, tap, channel. */
static wick_value conv3d_to_conv2d_taps(conv3d_to_conv2d *s, const wick_node *n, const int64_t *w,
                                        const wick_window *window)
{
  wick_builder *b = &s->c.b;
  wick_dims *dims = s->k.f->module->dims;
  const wick_type_info *t = wick_info_of(s->k.f, n->in[0]), *y = wick_info_of(s->k.f, n->first);
  wick_value x = conv3d_to_conv2d_image(s, n->in[0]), in[CONV3D_TO_CONV2D_TAPS];
  int64_t group = n->attr[WICK_ATTR_conv_group].i;
  if (w[2] == 1 && window->stride[0] == 1 && !window->begin[0] && !window->end[0]) return x;
  bool one = wick_dim_is(t->dim[0], 1);
  uint32_t axis = one ? 0 : 1, rank = one ? 4 : 5;
  wick_dim apart[5] = {t->dim[0], t->dim[2], t->dim[1], t->dim[3], t->dim[4]};
  if (!one) x = wick_build_reshape(b, x, 5, apart);
  if (window->begin[0] || window->end[0]) {
    int64_t pad[10] = {0};
    pad[axis] = window->begin[0], pad[rank + axis] = window->end[0];
    wick_attr a[] = {
        [WICK_ATTR_pad_pad] = {.n = 2 * rank, .ints = pad}, [WICK_ATTR_pad_mode] = {.i = 0}};
    x = wick_build(b, WICK_OP_pad, 1, &x, a, 0, NULL);
  }
  wick_dim images = wick_dim_mul(dims, t->dim[0], y->dim[2]),
           each[5] = {images, wick_dim_const(group), wick_dim_const(w[1]), t->dim[3], t->dim[4]},
           all[4] = {images, wick_dim_const(group * w[1] * w[2]), t->dim[3], t->dim[4]};
  for (int64_t k = 0; k < w[2]; k++) {
    in[k] = wick_build_slice_axis(b, x, axis, wick_dim_const(k * window->dilation[0]), y->dim[2],
                                  window->stride[0]);
    if (group > 1 || !one) in[k] = wick_build_reshape(b, in[k], 5, each);
  }
  if (group == 1 && one) return wick_build_concat(b, 1, (uint32_t)w[2], in);
  return wick_build_reshape(b, wick_build_concat(b, 2, (uint32_t)w[2], in), 4, all);
}

static wick_value conv3d_to_conv2d_conv(conv3d_to_conv2d *s, const wick_node *n)
{
  int64_t w[WICK_MAX_RANK], stride[2], pad[4], dilation[2];
  wick_type_const_dims(wick_info_of(s->k.f, n->in[1]), w);
  wick_window window = wick_window_of(n->attr, 3, w + 2);
  for (uint32_t k = 0; k < 2; k++) {
    stride[k] = window.stride[k + 1], dilation[k] = window.dilation[k + 1];
    pad[k] = window.begin[k + 1], pad[2 + k] = window.end[k + 1];
  }
  wick_attr a[WICK_MAX_ATTR] = {{0}};
  memcpy(a, n->attr, n->nattr * sizeof *a);
  a[WICK_ATTR_conv_stride] = (wick_attr){.n = 2, .ints = stride};
  a[WICK_ATTR_conv_pad] = (wick_attr){.n = 4, .ints = pad};
  a[WICK_ATTR_conv_dilation] = (wick_attr){.n = 2, .ints = dilation};
  wick_value in[3] = {conv3d_to_conv2d_taps(s, n, w, &window),
                      conv3d_to_conv2d_weights(s, n->in[1], w),
                      n->nin > 2 ? s->c.to[n->in[2].id] : (wick_value){0}};
  return wick_build(&s->c.b, WICK_OP_conv, n->nin, in, a, 0, NULL);
}

static void conv3d_to_conv2d_build(conv3d_to_conv2d *s, const wick_node *n)
{
  const wick_func *f = s->k.f;
  wick_value in[CONV3D_TO_CONV2D_MOST] = {{0}}, y;
  s->c.b.loc = n->loc;
  if (n->op == WICK_OP_conv) {
    y = conv3d_to_conv2d_conv(s, n);
  } else {
    for (uint32_t k = 0; k < n->nin; k++) in[k] = conv3d_to_conv2d_image(s, n->in[k]);
    y = wick_copy_with(&s->c.b, f, n, in);
  }
  if (!y.id) return;
  s->image[n->first.id] = y;
  wick_value plain = s->c.to[n->first.id] = conv3d_to_conv2d_plain(s, y, wick_info_of(f, n->first));
  if (plain.id)
    wick_build_name(&s->c.b, plain, f->value[n->first.id].name, f->value[n->first.id].relation);
}

wick_status wick_pass_conv3d_to_conv2d(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  wick_arena *mem = pass->mem;
  conv3d_to_conv2d s = {.k = wick_match_begin(f, mem),
                        .target = pass->target,
                        .lanes = wick_max_i64(pass->target->vector_bytes / 4, 1)};
  s.image = wick_new(mem, wick_value, f->nvalue + 1);
  s.c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!s.c.b.status && (conv3d_to_conv2d_is_conv(&s, n) || conv3d_to_conv2d_goes_along(&s, n)))
      conv3d_to_conv2d_build(&s, n);
    else
      wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
