/* Decomposes transposed convolutions. It first finds the phases along each axis, and then builds
 * the cheapest form. */
#include "graph/decompose_conv_transpose.h"

#include <string.h>

#include "graph/match.h"
#include "ir/copy.h"
#include "ops/nn/window.h"

/* One phase along one axis: output s*q + t is the sum over j of x[q - begin + j * step] *
 * w[tap - j * back], j < n. */
typedef struct decompose_conv_transpose_tap {
  int64_t n, begin, end; /* taps; pads of the convolution */
  int64_t tap, back, step, count;
} decompose_conv_transpose_tap;

enum { DECOMPOSE_CONV_TRANSPOSE_MOST = 16 }; /* most phases along one axis */

/* The sizes of one axis. If the size of x is dynamic, it is `size`, and in, out and all counts are
 * less by it (for out, by its product with the stride). Pads do not depend on it. */
typedef struct decompose_conv_transpose_axis {
  int64_t in, out, kernel, stride, pad, dilation;
  bool open;
  wick_dim size;
  decompose_conv_transpose_tap phase[DECOMPOSE_CONV_TRANSPOSE_MOST];
} decompose_conv_transpose_axis;

typedef struct decompose_conv_transpose {
  wick_match k;
  wick_copier c;
  wick_arena *mem;
  int64_t lanes;
  const wick_node *n; /* the node that is decomposed */
  const wick_constant *w;
  uint32_t nsp;
  int64_t ni, mi, group; /* channels of x and of the result in each group */
  decompose_conv_transpose_axis axis[WICK_WINDOW_MAX];
} decompose_conv_transpose;

static int64_t decompose_conv_transpose_gcd(int64_t a, int64_t b)
{
  return b ? decompose_conv_transpose_gcd(b, a % b) : a;
}

/* ---- the phases of an axis ---- */

static decompose_conv_transpose_tap
decompose_conv_transpose_find(const decompose_conv_transpose_axis *a, int64_t t)
{
  int64_t common = decompose_conv_transpose_gcd(a->stride, a->dilation), last = -1;
  decompose_conv_transpose_tap p = {.back = a->stride / common,
                                    .step = a->dilation / common,
                                    .count = wick_ceildiv_i64(a->out - t, a->stride)};
  for (int64_t k = 0; k < a->kernel; k++)
    if (wick_floormod_i64(t + a->pad - k * a->dilation, a->stride) == 0) last = k, p.n++;
  p.tap = last; /* -1: no element of the window contributes to this phase */
  int64_t shift = last < 0 ? 0 : wick_floordiv_i64(t + a->pad - last * a->dilation, a->stride);
  p.begin = -shift;
  p.n = wick_max_i64(p.n, 1);
  p.end = p.count - 1 + shift + (p.n - 1) * p.step - (a->in - 1);
  return p;
}

/* Finds the sizes of x and of the result. Returns false if one is dynamic and the other does not
 * follow from it. */
static bool decompose_conv_transpose_sizes(wick_dims *t, decompose_conv_transpose_axis *a,
                                           wick_dim in, wick_dim out)
{
  wick_dim rest = wick_dim_sub(t, out, wick_dim_mul(t, in, wick_dim_const(a->stride)));
  int64_t lo, hi;
  wick_dim_range(t, out, &lo, &hi);
  a->open = !wick_dim_is_const(in), a->size = in;
  a->in = a->open ? 0 : in.v;
  a->out = a->open ? rest.v : out.v;
  return wick_dim_is_const(rest) && lo >= a->stride;
}

static wick_dim decompose_conv_transpose_count(wick_dims *t, const decompose_conv_transpose_axis *a,
                                               const decompose_conv_transpose_tap *p)
{
  wick_dim more = a->open ? a->size : wick_dim_const(0);
  return wick_dim_add(t, more, wick_dim_const(p->count));
}

/* Finds the phases of an axis. Returns false if a window does not reach an edge. */
static bool decompose_conv_transpose_axis_of(decompose_conv_transpose_axis *a)
{
  if (a->stride > DECOMPOSE_CONV_TRANSPOSE_MOST) return false;
  for (int64_t t = 0; t < a->stride; t++) {
    a->phase[t] = decompose_conv_transpose_find(a, t);
    if (a->phase[t].begin < 0 || a->phase[t].end < 0) return false;
  }
  return true;
}

/* Returns the axis without pads, for a result that is cut later. Each phase then has the same
 * window. */
static decompose_conv_transpose_axis
decompose_conv_transpose_uncut(const decompose_conv_transpose_axis *a)
{
  decompose_conv_transpose_axis u = *a;
  u.pad = 0, u.out = (a->in - 1) * a->stride + a->kernel;
  for (int64_t t = 0; t < a->stride; t++) u.phase[t] = decompose_conv_transpose_find(&u, t);
  return u;
}

static bool decompose_conv_transpose_fits(decompose_conv_transpose *s, const wick_node *n)
{
  int64_t w[WICK_MAX_RANK];
  const wick_type_info *t = wick_info_of(s->k.f, n->in[0]), *y = wick_info_of(s->k.f, n->first);
  s->n = n;
  s->w = n->op == WICK_OP_conv_transpose ? wick_match_constant(&s->k, n->in[1]) : NULL;
  if (!s->w || !wick_constant_bytes(s->k.f->module, wick_match_imm(&s->k, n->in[1])->constant) ||
      t->elem != WICK_F32)
    return false;
  if (!wick_type_const_dims(wick_info_of(s->k.f, n->in[1]), w)) return false;
  s->nsp = t->rank - 2u, s->group = n->attr[WICK_ATTR_conv_transpose_group].i;
  s->ni = w[0] / s->group, s->mi = w[1];
  wick_window window = wick_window_of(n->attr, s->nsp, w + 2);
  for (uint32_t k = 0; k < s->nsp; k++) {
    s->axis[k] = (decompose_conv_transpose_axis){.kernel = w[2 + k],
                                                 .stride = window.stride[k],
                                                 .pad = window.begin[k],
                                                 .dilation = window.dilation[k]};
    if (!decompose_conv_transpose_sizes(s->k.f->module->dims, &s->axis[k], t->dim[2 + k],
                                        y->dim[2 + k]) ||
        !decompose_conv_transpose_axis_of(&s->axis[k]))
      return false;
  }
  return true;
}

/* ---- weights ---- */

static wick_value decompose_conv_transpose_constant(decompose_conv_transpose *s, const char *what,
                                                    uint32_t rank, const int64_t *dim,
                                                    const float *data)
{
  wick_module *m = s->k.f->module;
  wick_type t = wick_type_tensor_const(m, WICK_F32, rank, dim);
  uint64_t nbytes = 0;
  wick_type_nbytes(m, t, &nbytes);
  const char *name = wick_str_printf(s->mem, "%s.%s", s->w->name, what);
  return wick_build_constant(&s->c.b, wick_constant_add(m, name, t, data, nbytes));
}

/* Copies the weights of one phase (phase[k] of axis k), whose windows are [n[0], n[1], n[2]], to
 * the channels from `channel` on. */
static void decompose_conv_transpose_put(const decompose_conv_transpose *s,
                                         const decompose_conv_transpose_tap *const *phase,
                                         const int64_t *n, int64_t channel, float *out)
{
  int64_t tap[3], kernel[3] = {1, 1, 1}, size = n[0] * n[1] * n[2];
  const float *w = s->w->data;
  for (uint32_t k = 0; k < s->nsp; k++) kernel[k] = s->axis[k].kernel;
  for (tap[0] = 0; tap[0] < n[0]; tap[0]++)
    for (tap[1] = 0; tap[1] < n[1]; tap[1]++)
      for (tap[2] = 0; tap[2] < n[2]; tap[2]++) {
        int64_t at = 0, source = 0;
        for (uint32_t k = 0; k < 3; k++) {
          int64_t which = k < s->nsp ? phase[k]->tap - tap[k] * phase[k]->back : 0;
          at = at * n[k] + tap[k];
          source = source * kernel[k] + which;
        }
        for (int64_t m = 0; m < s->mi * s->group; m++)
          for (int64_t c = 0; c < s->ni; c++) {
            int64_t from = (m / s->mi * s->ni + c) * s->mi + m % s->mi;
            out[((channel + m) * s->ni + c) * size + at] =
                w[from * kernel[0] * kernel[1] * kernel[2] + source];
          }
      }
}

static float *decompose_conv_transpose_room(decompose_conv_transpose *s, int64_t channels,
                                            const int64_t *n)
{
  return wick_arena_alloc(&s->k.f->module->mem,
                          (size_t)(channels * s->ni * n[0] * n[1] * n[2]) * sizeof(float), 64);
}

/* ---- the forms ---- */

static wick_value decompose_conv_transpose_bias(const decompose_conv_transpose *s)
{
  const wick_node *n = s->n;
  return n->nin > 2 ? s->c.to[n->in[2].id] : (wick_value){0};
}

static wick_value decompose_conv_transpose_conv(decompose_conv_transpose *s, wick_value w,
                                                wick_value bias,
                                                const decompose_conv_transpose_tap *const *p)
{
  int64_t pad[2 * WICK_WINDOW_MAX], dilation[WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < s->nsp; k++) {
    pad[k] = p[k]->begin, pad[s->nsp + k] = p[k]->end;
    dilation[k] = wick_max_i64(p[k]->step, 1);
  }
  wick_attr a[] = {[WICK_ATTR_conv_stride] = {.n = 0},
                   [WICK_ATTR_conv_pad] = {.n = 2 * s->nsp, .ints = pad},
                   [WICK_ATTR_conv_dilation] = {.n = s->nsp, .ints = dilation},
                   [WICK_ATTR_conv_group] = {.i = s->group}};
  wick_value in[3] = {s->c.to[s->n->in[0].id], w, bias};
  return wick_build(&s->c.b, WICK_OP_conv, bias.id ? 3 : 2, in, a, 0, NULL);
}

/* Builds a phase that no element of the window contributes to: the bias alone. A convolution with a
 * weight of 0 would turn an infinity in x into a NaN. */
static wick_value decompose_conv_transpose_empty(decompose_conv_transpose *s,
                                                 const decompose_conv_transpose_tap *const *phase)
{
  wick_builder *b = &s->c.b;
  wick_dim shape[2 + WICK_WINDOW_MAX], column[1 + WICK_WINDOW_MAX];
  wick_value bias = decompose_conv_transpose_bias(s);
  shape[0] = wick_info_of(s->k.f, s->n->first)->dim[0];
  shape[1] = column[0] = wick_dim_const(s->mi * s->group);
  for (uint32_t k = 0; k < s->nsp; k++) {
    shape[2 + k] = decompose_conv_transpose_count(s->k.f->module->dims, &s->axis[k], phase[k]);
    column[1 + k] = wick_dim_const(1);
  }
  wick_type type = wick_type_tensor(s->k.f->module, WICK_F32, s->nsp + 2, shape);
  if (!bias.id) return wick_build_const(b, type, 0, 0);
  wick_attr to = {.n = s->nsp + 2, .dims = shape};
  bias = wick_build_reshape(b, bias, s->nsp + 1, column);
  return wick_build(b, WICK_OP_broadcast_to, 1, &bias, &to, 0, NULL);
}

/* Builds the convolution for one phase of each axis. */
static wick_value decompose_conv_transpose_one(decompose_conv_transpose *s,
                                               const decompose_conv_transpose_tap *const *phase)
{
  int64_t n[3] = {1, 1, 1}, dim[2 + WICK_WINDOW_MAX] = {s->mi * s->group, s->ni};
  for (uint32_t k = 0; k < s->nsp; k++) {
    if (phase[k]->tap < 0) return decompose_conv_transpose_empty(s, phase);
    n[k] = dim[2 + k] = phase[k]->n;
  }
  float *data = decompose_conv_transpose_room(s, s->mi * s->group, n);
  decompose_conv_transpose_put(s, phase, n, 0, data);
  return decompose_conv_transpose_conv(
      s, decompose_conv_transpose_constant(s, "phase", s->nsp + 2, dim, data),
      decompose_conv_transpose_bias(s), phase);
}

/* Builds all phases along axis k and the axes after it, for the phases chosen before it. */
static wick_value decompose_conv_transpose_alternate(decompose_conv_transpose *s, uint32_t k,
                                                     const decompose_conv_transpose_tap **phase)
{
  if (k == s->nsp) return decompose_conv_transpose_one(s, phase);
  wick_value in[DECOMPOSE_CONV_TRANSPOSE_MOST];
  uint32_t n = (uint32_t)s->axis[k].stride;
  for (uint32_t t = 0; t < n; t++) {
    phase[k] = &s->axis[k].phase[t];
    in[t] = decompose_conv_transpose_alternate(s, k + 1, phase);
  }
  wick_attr a = {.i = 2 + k};
  return n == 1 ? in[0] : wick_build(&s->c.b, WICK_OP_interleave, n, in, &a, 0, NULL);
}

/* Builds all phases as channels of one convolution, in the order of `depth_to_space`, and slices
 * its result to the part that the pads leave. */
static wick_value decompose_conv_transpose_stacked(decompose_conv_transpose *s)
{
  wick_builder *b = &s->c.b;
  const decompose_conv_transpose_axis axis[2] = {decompose_conv_transpose_uncut(&s->axis[0]),
                                                 decompose_conv_transpose_uncut(&s->axis[1])};
  int64_t stride = axis[0].stride, total = stride * stride * s->mi,
          n[3] = {axis[0].phase[0].n, axis[1].phase[0].n, 1}, dim[4] = {total, s->ni, n[0], n[1]};
  float *data = decompose_conv_transpose_room(s, total, n);
  for (int64_t t = 0; t < stride * stride; t++) {
    const decompose_conv_transpose_tap *phase[2] = {&axis[0].phase[t / stride],
                                                    &axis[1].phase[t % stride]};
    decompose_conv_transpose_put(s, phase, n, t * s->mi, data);
  }
  const decompose_conv_transpose_tap *any[2] = {&axis[0].phase[0], &axis[1].phase[0]};
  wick_value y = decompose_conv_transpose_conv(
      s, decompose_conv_transpose_constant(s, "phases", 4, dim, data), (wick_value){0}, any);
  wick_attr a[] = {[WICK_ATTR_depth_to_space_block] = {.i = stride},
                   [WICK_ATTR_depth_to_space_order] = {.i = 0}};
  y = wick_build(b, WICK_OP_depth_to_space, 1, &y, a, 0, NULL);
  wick_dim begin[4] = {wick_dim_const(0), wick_dim_const(0), wick_dim_const(s->axis[0].pad),
                       wick_dim_const(s->axis[1].pad)};
  if (axis[0].out != s->axis[0].out || axis[1].out != s->axis[1].out)
    y = wick_build_slice(b, y, 4, begin, wick_info_of(s->k.f, s->n->first)->dim, NULL);
  wick_value bias = decompose_conv_transpose_bias(s);
  if (!bias.id) return y;
  wick_dim shape[3] = {wick_dim_const(s->mi), wick_dim_const(1), wick_dim_const(1)};
  return wick_build2(b, WICK_OP_add, y, wick_build_reshape(b, bias, 3, shape));
}

/* Builds a matrix product for x [N, C, 1, 1]. Each element of the window is a column of the matrix.
 */
static wick_value decompose_conv_transpose_matmul(decompose_conv_transpose *s)
{
  wick_builder *b = &s->c.b;
  const wick_type_info *out = wick_info_of(s->k.f, s->n->first);
  int64_t all = 1;
  for (uint32_t k = 0; k < s->nsp; k++) all *= s->axis[k].kernel;
  wick_dim channels = wick_dim_const(s->ni), m = wick_dim_const(s->mi), area = wick_dim_const(all),
           columns = wick_dim_const(s->mi * all), rows[2] = {out->dim[0], channels},
           matrix[2] = {channels, columns}, wide[2] = {m, area}, tall[2] = {m, wick_dim_const(1)};
  wick_value x = wick_build_reshape(&s->c.b, s->c.to[s->n->in[0].id], 2, rows),
             w = wick_build_reshape(&s->c.b, s->c.to[s->n->in[1].id], 2, matrix),
             bias = decompose_conv_transpose_bias(s);
  wick_value y = wick_build2(b, WICK_OP_matmul, x, w);
  if (bias.id) { /* a number for each column */
    bias = wick_build_reshape(&s->c.b, bias, 2, tall);
    wick_attr a = {.n = 2, .dims = wide};
    bias = wick_build(b, WICK_OP_broadcast_to, 1, &bias, &a, 0, NULL);
    y = wick_build2(b, WICK_OP_add, y, wick_build_reshape(&s->c.b, bias, 1, &columns));
  }
  return wick_build_reshape(&s->c.b, y, s->nsp + 2, out->dim);
}

/* ---- the choice ---- */

/* Returns true if, without groups, the windows of all phases are the same before the result is cut.
 * Then no window needs additional weights of 0, which would turn an infinity in x into a NaN. */
static bool decompose_conv_transpose_stack(const decompose_conv_transpose *s)
{
  if (s->group > 1 || s->nsp != 2 || s->axis[0].stride != s->axis[1].stride ||
      s->axis[0].stride == 1)
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    const decompose_conv_transpose_axis *a = &s->axis[k];
    if (a->kernel % a->stride || a->dilation != 1 ||
        a->pad + a->out > (a->in - 1) * a->stride + a->kernel)
      return false;
  }
  return true;
}

static wick_value decompose_conv_transpose_build(decompose_conv_transpose *s)
{
  int64_t apart = wick_ceildiv_i64(s->mi, s->lanes), together = 1, taps = 1;
  bool point = s->group == 1;
  for (uint32_t k = 0; k < s->nsp; k++) {
    const decompose_conv_transpose_axis *a = &s->axis[k];
    decompose_conv_transpose_axis u = decompose_conv_transpose_uncut(a);
    int64_t more = a->open ? wick_dim_typical(s->k.f->module->dims, a->size) : 0;
    point = point && a->in == 1 && !a->pad && a->dilation == 1 && a->out == a->kernel;
    taps *= u.phase[0].n * (u.phase[0].count + more), together *= a->stride;
    int64_t sum = 0;
    for (int64_t t = 0; t < a->stride; t++) sum += a->phase[t].n * (a->phase[t].count + more);
    apart *= sum;
  }
  together = wick_ceildiv_i64(together * s->mi, s->lanes) * taps;
  s->c.b.loc = s->n->loc;
  const decompose_conv_transpose_tap *phase[WICK_WINDOW_MAX];
  if (point) return decompose_conv_transpose_matmul(s);
  return decompose_conv_transpose_stack(s) && together < apart
             ? decompose_conv_transpose_stacked(s)
             : decompose_conv_transpose_alternate(s, 0, phase);
}

wick_status wick_pass_decompose_conv_transpose(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out)
{
  wick_arena *mem = pass->mem;
  decompose_conv_transpose s = {.k = wick_match_begin(f, mem), .mem = mem};
  s.c = wick_copy_begin(f, mem);
  s.lanes = wick_max_i64(pass->target->vector_bytes / 4, 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op != WICK_OP_conv_transpose || s.c.b.status || !decompose_conv_transpose_fits(&s, n)) {
      wick_copy_node(&s.c, n);
      continue;
    }
    wick_value y = s.c.to[n->first.id] = decompose_conv_transpose_build(&s);
    if (y.id)
      wick_build_name(&s.c.b, y, f->value[n->first.id].name, f->value[n->first.id].relation);
  }
  return wick_copy_finish(&s.c, out);
}
