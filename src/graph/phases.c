/* Along each axis the phases are found first; then the cheapest form is built. */
#include "graph/phases.h"

#include <string.h>

#include "graph/known.h"
#include "ops/window.h"

/* One phase along one axis: output s*q + t is the sum over j of x[q - begin + j * step] *
 * w[tap - j * back], j < n. */
typedef struct phases_tap {
  int64_t n, begin, end; /* taps; pads of the convolution */
  int64_t tap, back, step, count;
} phases_tap;

enum { PHASES_MOST = 16 }; /* of one axis */

/* Where the size of x is open it is `size`, and in, out and all counts are less by it, times the
 * stride for out: pads do not depend on it. */
typedef struct phases_axis {
  int64_t in, out, kernel, stride, pad, dilation;
  bool open;
  wick_dim size;
  phases_tap phase[PHASES_MOST];
} phases_axis;

typedef struct phases {
  wick_known k;
  wick_copier c;
  wick_arena *mem;
  int64_t lanes;
  const wick_node *n; /* the node at hand */
  const wick_constant *w;
  uint32_t nsp;
  int64_t ni, mi, group; /* channels of x and of the result in each group */
  phases_axis axis[WICK_WINDOW_MAX];
} phases;

static int64_t phases_gcd(int64_t a, int64_t b) { return b ? phases_gcd(b, a % b) : a; }

/* ---- the phases of an axis ---- */

static phases_tap phases_find(const phases_axis *a, int64_t t)
{
  int64_t common = phases_gcd(a->stride, a->dilation), last = -1;
  phases_tap p = {.back = a->stride / common,
                  .step = a->dilation / common,
                  .count = wick_ceildiv_i64(a->out - t, a->stride)};
  for (int64_t k = 0; k < a->kernel; k++)
    if (wick_floormod_i64(t + a->pad - k * a->dilation, a->stride) == 0) last = k, p.n++;
  p.tap = last; /* -1: no element of the window meets this phase */
  int64_t shift = last < 0 ? 0 : wick_floordiv_i64(t + a->pad - last * a->dilation, a->stride);
  p.begin = -shift;
  p.n = wick_max_i64(p.n, 1);
  p.end = p.count - 1 + shift + (p.n - 1) * p.step - (a->in - 1);
  return p;
}

/* The sizes of x and of the result; false where one is open and the other does not follow from it.
 */
static bool phases_sizes(wick_dims *t, phases_axis *a, wick_dim in, wick_dim out)
{
  wick_dim rest = wick_dim_sub(t, out, wick_dim_mul(t, in, wick_dim_const(a->stride)));
  int64_t lo, hi;
  wick_dim_range(t, out, &lo, &hi);
  a->open = !wick_dim_is_const(in), a->size = in;
  a->in = a->open ? 0 : in.v;
  a->out = a->open ? rest.v : out.v;
  return wick_dim_is_const(rest) && lo >= a->stride;
}

static wick_dim phases_count(wick_dims *t, const phases_axis *a, const phases_tap *p)
{
  wick_dim more = a->open ? a->size : wick_dim_const(0);
  return wick_dim_add(t, more, wick_dim_const(p->count));
}

/* False where a window does not reach to an edge. */
static bool phases_axis_of(phases_axis *a)
{
  if (a->stride > PHASES_MOST) return false;
  for (int64_t t = 0; t < a->stride; t++) {
    a->phase[t] = phases_find(a, t);
    if (a->phase[t].begin < 0 || a->phase[t].end < 0) return false;
  }
  return true;
}

/* The axis without pads, for a result to be cut: then each phase has the same window. */
static phases_axis phases_uncut(const phases_axis *a)
{
  phases_axis u = *a;
  u.pad = 0, u.out = (a->in - 1) * a->stride + a->kernel;
  for (int64_t t = 0; t < a->stride; t++) u.phase[t] = phases_find(&u, t);
  return u;
}

static bool phases_fits(phases *s, const wick_node *n)
{
  int64_t w[WICK_MAX_RANK];
  const wick_type_info *t = wick_info_of(s->k.f, n->in[0]), *y = wick_info_of(s->k.f, n->first);
  s->n = n;
  s->w = n->op == WICK_OP_conv_transpose ? wick_known_constant(&s->k, n->in[1]) : NULL;
  if (!s->w || !wick_constant_bytes(s->k.f->module, wick_known_imm(&s->k, n->in[1])->constant) ||
      t->elem != WICK_F32)
    return false;
  if (!wick_type_const_dims(wick_info_of(s->k.f, n->in[1]), w)) return false;
  s->nsp = t->rank - 2u, s->group = n->attr[3].i;
  s->ni = w[0] / s->group, s->mi = w[1];
  wick_window window = wick_window_of(n->attr, s->nsp, w + 2);
  for (uint32_t k = 0; k < s->nsp; k++) {
    s->axis[k] = (phases_axis){.kernel = w[2 + k],
                               .stride = window.stride[k],
                               .pad = window.begin[k],
                               .dilation = window.dilation[k]};
    if (!phases_sizes(s->k.f->module->dims, &s->axis[k], t->dim[2 + k], y->dim[2 + k]) ||
        !phases_axis_of(&s->axis[k]))
      return false;
  }
  return true;
}

/* ---- weights ---- */

static wick_value phases_constant(phases *s, const char *what, uint32_t rank, const int64_t *dim,
                                  const float *data)
{
  wick_module *m = s->k.f->module;
  wick_type t = wick_type_tensor_const(m, WICK_F32, rank, dim);
  uint64_t nbytes = 0;
  wick_type_nbytes(m, t, &nbytes);
  const char *name = wick_str_printf(s->mem, "%s.%s", s->w->name, what);
  return wick_build_constant(&s->c.b, wick_constant_add(m, name, t, data, nbytes));
}

/* Puts the weights of one phase, phase[k] of axis k, whose windows are [n[0], n[1], n[2]], into
 * the channels from `channel` on. */
static void phases_put(const phases *s, const phases_tap *const *phase, const int64_t *n,
                       int64_t channel, float *out)
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

static float *phases_room(phases *s, int64_t channels, const int64_t *n)
{
  return wick_arena_alloc(&s->k.f->module->mem,
                          (size_t)(channels * s->ni * n[0] * n[1] * n[2]) * sizeof(float), 64);
}

/* ---- the forms ---- */

static wick_value phases_bias(const phases *s)
{
  const wick_node *n = s->n;
  return n->nin > 2 ? s->c.to[n->in[2].id] : (wick_value){0};
}

static wick_value phases_conv(phases *s, wick_value w, wick_value bias, const phases_tap *const *p)
{
  int64_t pad[2 * WICK_WINDOW_MAX], dilation[WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < s->nsp; k++) {
    pad[k] = p[k]->begin, pad[s->nsp + k] = p[k]->end;
    dilation[k] = wick_max_i64(p[k]->step, 1);
  }
  wick_attr a[4] = {
      {.n = 0}, {.n = 2 * s->nsp, .ints = pad}, {.n = s->nsp, .ints = dilation}, {.i = s->group}};
  wick_value in[3] = {s->c.to[s->n->in[0].id], w, bias};
  return wick_build(&s->c.b, WICK_OP_conv, bias.id ? 3 : 2, in, a, 0, NULL);
}

/* A phase that no element of the window meets: the bias alone. Not a convolution with a weight of
 * 0, which an infinity in x would make a not-a-number. */
static wick_value phases_empty(phases *s, const phases_tap *const *phase)
{
  wick_builder *b = &s->c.b;
  wick_dim shape[2 + WICK_WINDOW_MAX], column[1 + WICK_WINDOW_MAX];
  wick_value bias = phases_bias(s);
  shape[0] = wick_info_of(s->k.f, s->n->first)->dim[0];
  shape[1] = column[0] = wick_dim_const(s->mi * s->group);
  for (uint32_t k = 0; k < s->nsp; k++) {
    shape[2 + k] = phases_count(s->k.f->module->dims, &s->axis[k], phase[k]);
    column[1 + k] = wick_dim_const(1);
  }
  wick_type type = wick_type_tensor(s->k.f->module, WICK_F32, s->nsp + 2, shape);
  if (!bias.id) return wick_build_const(b, type, 0, 0);
  wick_attr as = {.n = s->nsp + 1, .dims = column}, to = {.n = s->nsp + 2, .dims = shape};
  bias = wick_build(b, WICK_OP_reshape, 1, &bias, &as, 0, NULL);
  return wick_build(b, WICK_OP_expand, 1, &bias, &to, 0, NULL);
}

/* The convolution of one phase of each axis. */
static wick_value phases_one(phases *s, const phases_tap *const *phase)
{
  int64_t n[3] = {1, 1, 1}, dim[2 + WICK_WINDOW_MAX] = {s->mi * s->group, s->ni};
  for (uint32_t k = 0; k < s->nsp; k++) {
    if (phase[k]->tap < 0) return phases_empty(s, phase);
    n[k] = dim[2 + k] = phase[k]->n;
  }
  float *data = phases_room(s, s->mi * s->group, n);
  phases_put(s, phase, n, 0, data);
  return phases_conv(s, phases_constant(s, "phase", s->nsp + 2, dim, data), phases_bias(s), phase);
}

/* All phases along axis k and those behind it, with those before it chosen. */
static wick_value phases_alternate(phases *s, uint32_t k, const phases_tap **phase)
{
  if (k == s->nsp) return phases_one(s, phase);
  wick_value in[PHASES_MOST];
  uint32_t n = (uint32_t)s->axis[k].stride;
  for (uint32_t t = 0; t < n; t++) {
    phase[k] = &s->axis[k].phase[t];
    in[t] = phases_alternate(s, k + 1, phase);
  }
  wick_attr a = {.i = 2 + k};
  return n == 1 ? in[0] : wick_build(&s->c.b, WICK_OP_interleave, n, in, &a, 0, NULL);
}

/* All phases as channels of one convolution, in the order of `depth_to_space`, and what the pads
 * leave of its result. */
static wick_value phases_stacked(phases *s)
{
  wick_builder *b = &s->c.b;
  const phases_axis axis[2] = {phases_uncut(&s->axis[0]), phases_uncut(&s->axis[1])};
  int64_t stride = axis[0].stride, total = stride * stride * s->mi,
          n[3] = {axis[0].phase[0].n, axis[1].phase[0].n, 1}, dim[4] = {total, s->ni, n[0], n[1]};
  float *data = phases_room(s, total, n);
  for (int64_t t = 0; t < stride * stride; t++) {
    const phases_tap *phase[2] = {&axis[0].phase[t / stride], &axis[1].phase[t % stride]};
    phases_put(s, phase, n, t * s->mi, data);
  }
  const phases_tap *any[2] = {&axis[0].phase[0], &axis[1].phase[0]};
  wick_value y = phases_conv(s, phases_constant(s, "phases", 4, dim, data), (wick_value){0}, any);
  wick_attr a[2] = {{.i = stride}, {.i = 0}};
  y = wick_build(b, WICK_OP_depth_to_space, 1, &y, a, 0, NULL);
  wick_dim begin[4] = {wick_dim_const(0), wick_dim_const(0), wick_dim_const(s->axis[0].pad),
                       wick_dim_const(s->axis[1].pad)};
  wick_attr cut[3] = {
      {.n = 4, .dims = begin}, {.n = 4, .dims = wick_info_of(s->k.f, s->n->first)->dim}, {.n = 0}};
  if (axis[0].out != s->axis[0].out || axis[1].out != s->axis[1].out)
    y = wick_build(b, WICK_OP_slice, 1, &y, cut, 0, NULL);
  wick_value bias = phases_bias(s);
  if (!bias.id) return y;
  wick_dim shape[3] = {wick_dim_const(s->mi), wick_dim_const(1), wick_dim_const(1)};
  wick_attr as = {.n = 3, .dims = shape};
  bias = wick_build(b, WICK_OP_reshape, 1, &bias, &as, 0, NULL);
  return wick_build2(b, WICK_OP_add, y, bias);
}

static wick_value phases_reshape(phases *s, wick_value x, uint32_t rank, const wick_dim *dim)
{
  wick_attr a = {.n = rank, .dims = dim};
  return wick_build(&s->c.b, WICK_OP_reshape, 1, &x, &a, 0, NULL);
}

/* x [N, C, 1, 1]: each element of the window is a column of a matrix. */
static wick_value phases_matmul(phases *s)
{
  wick_builder *b = &s->c.b;
  const wick_type_info *out = wick_info_of(s->k.f, s->n->first);
  int64_t all = 1;
  for (uint32_t k = 0; k < s->nsp; k++) all *= s->axis[k].kernel;
  wick_dim channels = wick_dim_const(s->ni), m = wick_dim_const(s->mi), area = wick_dim_const(all),
           columns = wick_dim_const(s->mi * all), rows[2] = {out->dim[0], channels},
           matrix[2] = {channels, columns}, wide[2] = {m, area}, tall[2] = {m, wick_dim_const(1)};
  wick_value x = phases_reshape(s, s->c.to[s->n->in[0].id], 2, rows),
             w = phases_reshape(s, s->c.to[s->n->in[1].id], 2, matrix), bias = phases_bias(s);
  wick_value y = wick_build2(b, WICK_OP_matmul, x, w);
  if (bias.id) { /* a number for each column */
    bias = phases_reshape(s, bias, 2, tall);
    wick_attr a = {.n = 2, .dims = wide};
    bias = wick_build(b, WICK_OP_expand, 1, &bias, &a, 0, NULL);
    y = wick_build2(b, WICK_OP_add, y, phases_reshape(s, bias, 1, &columns));
  }
  return phases_reshape(s, y, s->nsp + 2, out->dim);
}

/* ---- the choice ---- */

/* Without groups: are all phases' windows the same once the result is not cut? Then no weight of 0
 * stands beside others: it would make a not-a-number of an infinity in x. */
static bool phases_stack(const phases *s)
{
  if (s->group > 1 || s->nsp != 2 || s->axis[0].stride != s->axis[1].stride ||
      s->axis[0].stride == 1)
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    const phases_axis *a = &s->axis[k];
    if (a->kernel % a->stride || a->dilation != 1 ||
        a->pad + a->out > (a->in - 1) * a->stride + a->kernel)
      return false;
  }
  return true;
}

static wick_value phases_build(phases *s)
{
  int64_t apart = wick_ceildiv_i64(s->mi, s->lanes), together = 1, taps = 1;
  bool point = s->group == 1;
  for (uint32_t k = 0; k < s->nsp; k++) {
    const phases_axis *a = &s->axis[k];
    phases_axis u = phases_uncut(a);
    int64_t more = a->open ? wick_dim_typical(s->k.f->module->dims, a->size) : 0;
    point = point && a->in == 1 && !a->pad && a->dilation == 1 && a->out == a->kernel;
    taps *= u.phase[0].n * (u.phase[0].count + more), together *= a->stride;
    int64_t sum = 0;
    for (int64_t t = 0; t < a->stride; t++) sum += a->phase[t].n * (a->phase[t].count + more);
    apart *= sum;
  }
  together = wick_ceildiv_i64(together * s->mi, s->lanes) * taps;
  s->c.b.loc = s->n->loc;
  const phases_tap *phase[WICK_WINDOW_MAX];
  if (point) return phases_matmul(s);
  return phases_stack(s) && together < apart ? phases_stacked(s) : phases_alternate(s, 0, phase);
}

wick_status wick_pass_phases(const wick_func *f, const wick_target *t, wick_arena *mem,
                             wick_func **out)
{
  phases s = {.k = wick_known_of(f, mem), .mem = mem};
  s.c = wick_copy_begin(f, mem);
  s.lanes = wick_max_i64(t->vector_bytes / 4, 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op != WICK_OP_conv_transpose || s.c.b.status || !phases_fits(&s, n)) {
      wick_copy_node(&s.c, n);
      continue;
    }
    wick_value y = s.c.to[n->first.id] = phases_build(&s);
    if (y.id)
      wick_build_name(&s.c.b, y, f->value[n->first.id].name, f->value[n->first.id].relation);
  }
  return wick_copy_finish(&s.c, out);
}
