/* Decomposes transposed convolutions. It first finds the phases along each axis, and then builds
 * the cheapest form. */
#include "graph/decompose_conv_transpose.h"

#include <math.h>
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

enum {
  DECOMPOSE_CONV_TRANSPOSE_MOST = 64, /* most convolutions that alternate, if there is a choice */
  DECOMPOSE_CONV_TRANSPOSE_ALONG = 64 /* most phases along one axis that can alternate */
};

/* Phases `first` to `first + count - 1` of an axis, whose windows have n taps each. */
typedef struct decompose_conv_transpose_run {
  int64_t first, count, n;
} decompose_conv_transpose_run;

/* The sizes of one axis. If the size of x is dynamic, it is `size`, and in, out and all counts are
 * less by it (for out, by its product with the stride). Pads do not depend on it. */
typedef struct decompose_conv_transpose_axis {
  int64_t in, out, kernel, stride, pad, dilation;
  bool dynamic;
  wick_dim size; /* of x */
  decompose_conv_transpose_tap phase[DECOMPOSE_CONV_TRANSPOSE_ALONG];
} decompose_conv_transpose_axis;

typedef struct decompose_conv_transpose {
  wick_match k;
  wick_copier c;
  wick_arena *mem;
  const wick_target *target;
  int64_t lanes;
  const wick_node *n;     /* the node that is decomposed */
  const wick_constant *w; /* its weights, or NULL: they are a value of the function */
  uint32_t nsp;
  int64_t ni, mi, group; /* channels of x and of the result in each group */
  bool apart, together;  /* the forms that are possible */
  decompose_conv_transpose_axis axis[WICK_WINDOW_MAX];
} decompose_conv_transpose;

/* ---- the phases of an axis ---- */

/* Returns what a dynamic size adds: its typical value times `scale`. */
static int64_t decompose_conv_transpose_typical(const decompose_conv_transpose *s,
                                                const decompose_conv_transpose_axis *a,
                                                int64_t scale)
{
  return a->dynamic ? wick_dim_typical(s->k.f->module->dims, a->size) * scale : 0;
}

static decompose_conv_transpose_tap
decompose_conv_transpose_find(const decompose_conv_transpose_axis *a, int64_t t)
{
  int64_t common = wick_gcd_i64(a->stride, a->dilation), last = -1;
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
  a->dynamic = !wick_dim_is_const(in), a->size = in;
  a->in = a->dynamic ? 0 : in.v;
  a->out = a->dynamic ? rest.v : out.v;
  return wick_dim_is_const(rest) && lo >= a->stride;
}

static wick_dim decompose_conv_transpose_count(wick_dims *t, const decompose_conv_transpose_axis *a,
                                               const decompose_conv_transpose_tap *p)
{
  wick_dim more = a->dynamic ? a->size : wick_dim_const(0);
  return wick_dim_add(t, more, wick_dim_const(p->count));
}

/* Finds the phases of an axis whose x has at least `least` elements. Returns false if there are too
 * many, or if the windows of one lie beside x. */
static bool decompose_conv_transpose_axis_of(decompose_conv_transpose_axis *a, int64_t least)
{
  if (a->stride > DECOMPOSE_CONV_TRANSPOSE_ALONG) return false;
  for (int64_t t = 0; t < a->stride; t++) {
    const decompose_conv_transpose_tap p = a->phase[t] = decompose_conv_transpose_find(a, t);
    if (p.tap >= 0 && wick_max_i64(-p.begin, 0) + wick_max_i64(-p.end, 0) >= least) return false;
  }
  return true;
}

/* Finds the runs of phases with equally many taps, in order: those of the elements that the window
 * has beyond a multiple of the stride, then the others. Phases without taps are in no run. */
static uint32_t decompose_conv_transpose_runs(const decompose_conv_transpose_axis *a,
                                              decompose_conv_transpose_run run[2])
{
  uint32_t n = 0;
  int64_t more = a->kernel % a->stride, whole = a->kernel / a->stride;
  if (more) run[n++] = (decompose_conv_transpose_run){0, more, whole + 1};
  if (whole) run[n++] = (decompose_conv_transpose_run){more, a->stride - more, whole};
  return n;
}

/* Returns true if the phases of an axis can be channels of one result: they are without dilation,
 * and they cover the part that the pads leave. */
static bool decompose_conv_transpose_stacks(const decompose_conv_transpose_axis *a)
{
  int64_t windows = a->in - 1 + wick_ceildiv_i64(a->kernel, a->stride);
  return a->dilation == 1 && a->pad + a->out <= windows * a->stride;
}

static bool decompose_conv_transpose_fits(decompose_conv_transpose *s, const wick_node *n)
{
  int64_t w[WICK_MAX_RANK];
  const wick_type_info *t = wick_info_of(s->k.f, n->in[0]), *y = wick_info_of(s->k.f, n->first);
  s->n = n;
  if (n->op != WICK_OP_conv_transpose || t->elem != WICK_F32) return false;
  s->w = wick_match_constant(&s->k, n->in[1]);
  if (s->w && !wick_constant_bytes(s->k.f->module, wick_match_imm(&s->k, n->in[1])->constant))
    return false;
  if (!wick_type_const_dims(wick_info_of(s->k.f, n->in[1]), w)) return false;
  s->nsp = t->rank - 2u, s->group = n->attr[WICK_ATTR_conv_transpose_group].i;
  s->ni = w[0] / s->group, s->mi = w[1];
  wick_window window = wick_window_of(n->attr, s->nsp, w + 2);
  s->apart = s->together = true;
  for (uint32_t k = 0; k < s->nsp; k++) {
    decompose_conv_transpose_axis *a = &s->axis[k];
    *a = (decompose_conv_transpose_axis){.kernel = w[2 + k],
                                         .stride = window.stride[k],
                                         .pad = window.begin[k],
                                         .dilation = w[2 + k] == 1 ? 1 : window.dilation[k]};
    wick_dims *dims = s->k.f->module->dims;
    int64_t least, most;
    if (!decompose_conv_transpose_sizes(dims, a, t->dim[2 + k], y->dim[2 + k])) return false;
    wick_dim_range(dims, a->size, &least, &most);
    s->apart = s->apart && decompose_conv_transpose_axis_of(a, least);
    s->together = s->together && decompose_conv_transpose_stacks(a);
  }
  return s->apart || s->together;
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

/* Copies the weights of one phase (phase[k] of axis k), whose windows are [n[0], n[1], n[2]]. They
 * become the phase number `at_phase` of the `phases` that each group of output channels holds. */
static void decompose_conv_transpose_put(const decompose_conv_transpose *s,
                                         const decompose_conv_transpose_tap *const *phase,
                                         const int64_t *n, int64_t at_phase, int64_t phases,
                                         float *out)
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
            int64_t to = (m / s->mi * phases + at_phase) * s->mi + m % s->mi;
            out[(to * s->ni + c) * size + at] =
                w[from * kernel[0] * kernel[1] * kernel[2] + source];
          }
      }
}

/* Builds the same from weights that are a value, as [groups, 1, mi, ni, windows of each axis];
 * without groups and other phases, as [mi, ni, windows of each axis]. */
static wick_value decompose_conv_transpose_slice(decompose_conv_transpose *s,
                                                 const decompose_conv_transpose_tap *const *phase,
                                                 bool alone)
{
  wick_builder *b = &s->c.b;
  wick_dim from[2 + WICK_WINDOW_MAX] = {{0}}, shape[4 + WICK_WINDOW_MAX];
  int64_t step[2 + WICK_WINDOW_MAX] = {1, 1}, perm[4 + WICK_WINDOW_MAX] = {0, 1, 3, 2};
  from[0] = from[1] = wick_dim_const(0);
  shape[0] = wick_dim_const(s->ni * s->group), shape[1] = wick_dim_const(s->mi);
  for (uint32_t k = 0; k < s->nsp; k++) {
    from[2 + k] = wick_dim_const(phase[k]->tap);
    shape[2 + k] = wick_dim_const(phase[k]->n);
    step[2 + k] = -phase[k]->back;
    perm[4 + k] = 4 + k;
  }
  wick_value w = s->c.to[s->n->in[1].id];
  if (alone) { /* all phases are slices of the same transposition */
    int64_t turned[2 + WICK_WINDOW_MAX] = {1, 0, 2, 3, 4};
    shape[0] = wick_dim_const(s->mi), shape[1] = wick_dim_const(s->ni);
    return wick_build_slice(b, wick_build_transpose(b, w, 2 + s->nsp, turned), 2 + s->nsp, from,
                            shape, step);
  }
  w = wick_build_slice(b, w, 2 + s->nsp, from, shape, step);
  for (uint32_t k = s->nsp; k-- > 0;) shape[4 + k] = shape[2 + k];
  shape[0] = wick_dim_const(s->group), shape[1] = wick_dim_const(1);
  shape[2] = wick_dim_const(s->ni), shape[3] = wick_dim_const(s->mi);
  w = wick_build_reshape(b, w, 4 + s->nsp, shape);
  wick_attr turned = {.n = 4 + s->nsp, .ints = perm};
  return wick_build(b, WICK_OP_transpose, 1, &w, &turned, 0, NULL);
}

/* Builds the weights [groups * phases * mi, ni, n of each axis] of the phases whose taps `at` are, one
 * after the other. `name` is that of a constant. */
static wick_value
decompose_conv_transpose_weights(decompose_conv_transpose *s, const char *name, int64_t phases,
                                 decompose_conv_transpose_tap (*at)[WICK_WINDOW_MAX])
{
  int64_t n[3] = {1, 1, 1}, dim[2 + WICK_WINDOW_MAX] = {phases * s->mi * s->group, s->ni};
  wick_dim shape[2 + WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < s->nsp; k++) n[k] = dim[2 + k] = at[0][k].n;
  for (uint32_t k = 0; k < 2 + s->nsp; k++) shape[k] = wick_dim_const(dim[k]);
  bool alone = phases == 1 && s->group == 1;
  wick_value *part = wick_new(s->mem, wick_value, (size_t)phases);
  float *data =
      s->w ? wick_arena_alloc(&s->k.f->module->mem,
                              (size_t)(dim[0] * s->ni * n[0] * n[1] * n[2]) * sizeof(float), 64)
           : NULL;
  for (int64_t p = 0; p < phases; p++) {
    const decompose_conv_transpose_tap *phase[WICK_WINDOW_MAX];
    for (uint32_t k = 0; k < s->nsp; k++) phase[k] = &at[p][k];
    if (data)
      decompose_conv_transpose_put(s, phase, n, p, phases, data);
    else
      part[p] = decompose_conv_transpose_slice(s, phase, alone);
  }
  if (data) return decompose_conv_transpose_constant(s, name, s->nsp + 2, dim, data);
  if (alone) return part[0];
  wick_value w = phases > 1 ? wick_build_concat(&s->c.b, 1, (uint32_t)phases, part) : part[0];
  return wick_build_reshape(&s->c.b, w, 2 + s->nsp, shape);
}

/* ---- the forms ---- */

static wick_value decompose_conv_transpose_bias(const decompose_conv_transpose *s)
{
  const wick_node *n = s->n;
  return n->nin > 2 ? s->c.to[n->in[2].id] : (wick_value){0};
}

/* Builds a convolution of x. A negative pad leaves elements of x out. */
static wick_value decompose_conv_transpose_conv(decompose_conv_transpose *s, wick_value w,
                                                wick_value bias,
                                                const decompose_conv_transpose_tap *const *p)
{
  int64_t pad[2 * WICK_WINDOW_MAX], dilation[WICK_WINDOW_MAX];
  wick_value x = s->c.to[s->n->in[0].id];
  for (uint32_t k = 0; k < s->nsp; k++) {
    int64_t begin = wick_max_i64(-p[k]->begin, 0), end = wick_max_i64(-p[k]->end, 0);
    pad[k] = p[k]->begin + begin, pad[s->nsp + k] = p[k]->end + end;
    dilation[k] = wick_max_i64(p[k]->step, 1);
    if (begin + end)
      x = wick_build_slice_axis(
          &s->c.b, x, 2 + k, wick_dim_const(begin),
          wick_dim_sub(s->k.f->module->dims, s->axis[k].size, wick_dim_const(begin + end)), 1);
  }
  wick_attr a[] = {[WICK_ATTR_conv_stride] = {.n = 0},
                   [WICK_ATTR_conv_pad] = {.n = 2 * s->nsp, .ints = pad},
                   [WICK_ATTR_conv_dilation] = {.n = s->nsp, .ints = dilation},
                   [WICK_ATTR_conv_group] = {.i = s->group}};
  wick_value in[3] = {x, w, bias};
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
  decompose_conv_transpose_tap at[1][WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < s->nsp; k++) {
    if (phase[k]->tap < 0) return decompose_conv_transpose_empty(s, phase);
    at[0][k] = *phase[k];
  }
  wick_value w = decompose_conv_transpose_weights(s, "phase", 1, at);
  return decompose_conv_transpose_conv(s, w, decompose_conv_transpose_bias(s), phase);
}

/* Builds all phases along axis k and the axes after it, for the phases chosen before it. */
static wick_value decompose_conv_transpose_alternate(decompose_conv_transpose *s, uint32_t k,
                                                     const decompose_conv_transpose_tap **phase)
{
  if (k == s->nsp) return decompose_conv_transpose_one(s, phase);
  wick_value in[DECOMPOSE_CONV_TRANSPOSE_ALONG];
  uint32_t n = (uint32_t)s->axis[k].stride;
  for (uint32_t t = 0; t < n; t++) {
    phase[k] = &s->axis[k].phase[t];
    in[t] = decompose_conv_transpose_alternate(s, k + 1, phase);
  }
  wick_attr a = {.i = 2 + k};
  return n == 1 ? in[0] : wick_build(&s->c.b, WICK_OP_interleave, n, in, &a, 0, NULL);
}

/* Builds the convolution for a run of phases of each axis, as a tensor [N * group, phases of each
 * axis, channels of a group, windows of each axis]. */
static wick_value decompose_conv_transpose_stack(decompose_conv_transpose *s,
                                                 const decompose_conv_transpose_run *run)
{
  wick_dims *dims = s->k.f->module->dims;
  const wick_type_info *x = wick_info_of(s->k.f, s->n->in[0]);
  int64_t count[3] = {1, 1, 1};
  decompose_conv_transpose_tap tap[WICK_WINDOW_MAX];
  const decompose_conv_transpose_tap *at[WICK_WINDOW_MAX];
  wick_dim shape[2 + 2 * WICK_WINDOW_MAX];
  shape[0] = wick_dim_mul(dims, x->dim[0], wick_dim_const(s->group));
  shape[1 + s->nsp] = wick_dim_const(s->mi);
  for (uint32_t k = 0; k < s->nsp; k++) {
    const decompose_conv_transpose_axis *a = &s->axis[k];
    int64_t most = wick_ceildiv_i64(a->kernel, a->stride);
    count[k] = run[k].count;
    tap[k] = (decompose_conv_transpose_tap){
        .n = run[k].n, .begin = run[k].n - 1, .end = most - 1, .back = a->stride, .step = 1};
    at[k] = &tap[k];
    shape[1 + k] = wick_dim_const(count[k]);
    shape[2 + s->nsp + k] = wick_dim_add(dims, a->size, wick_dim_const(most - 1));
  }
  int64_t phases = count[0] * count[1] * count[2];
  decompose_conv_transpose_tap(*all)[WICK_WINDOW_MAX] = wick_arena_alloc(
      s->mem, (size_t)phases * sizeof *all, _Alignof(decompose_conv_transpose_tap));
  for (int64_t p = 0; p < phases; p++) {
    int64_t rest = p;
    for (uint32_t k = s->nsp; k-- > 0; rest /= count[k]) {
      all[p][k] = tap[k];
      all[p][k].tap = run[k].first + rest % count[k] + (run[k].n - 1) * s->axis[k].stride;
    }
  }
  wick_value w = decompose_conv_transpose_weights(s, "phases", phases, all),
             y = decompose_conv_transpose_conv(s, w, (wick_value){0}, at);
  return wick_build_reshape(&s->c.b, y, 2 + 2 * s->nsp, shape);
}

/* Builds all phases along axis k and the axes after it, for the runs chosen before it. */
static wick_value decompose_conv_transpose_join(decompose_conv_transpose *s, uint32_t k,
                                                decompose_conv_transpose_run *run)
{
  if (k == s->nsp) return decompose_conv_transpose_stack(s, run);
  const decompose_conv_transpose_axis *a = &s->axis[k];
  decompose_conv_transpose_run all[2];
  uint32_t n = decompose_conv_transpose_runs(a, all);
  wick_value in[2];
  for (uint32_t i = 0; i < n; i++) {
    run[k] = all[i];
    in[i] = decompose_conv_transpose_join(s, k + 1, run);
  }
  return n == 1 ? in[0] : wick_build_concat(&s->c.b, 1 + k, n, in);
}

/* Builds all phases as channels of few convolutions, and moves them to their positions. */
static wick_value decompose_conv_transpose_stacked(decompose_conv_transpose *s)
{
  wick_builder *b = &s->c.b;
  decompose_conv_transpose_run run[WICK_WINDOW_MAX];
  wick_value y = decompose_conv_transpose_join(s, 0, run);
  const wick_type_info *out = wick_info_of(s->k.f, s->n->first);
  int64_t stride[WICK_WINDOW_MAX], begin[WICK_WINDOW_MAX];
  for (uint32_t k = 0; k < s->nsp; k++) stride[k] = s->axis[k].stride, begin[k] = s->axis[k].pad;
  wick_attr a[] = {[WICK_ATTR_phases_to_space_stride] = {.n = s->nsp, .ints = stride},
                   [WICK_ATTR_phases_to_space_begin] = {.n = s->nsp, .ints = begin},
                   [WICK_ATTR_phases_to_space_shape] = {.n = s->nsp, .dims = out->dim + 2}};
  y = wick_build(b, WICK_OP_phases_to_space, 1, &y, a, 0, NULL);
  y = wick_build_reshape(b, y, 2 + s->nsp, out->dim);
  wick_value bias = decompose_conv_transpose_bias(s);
  if (!bias.id) return y;
  wick_dim column[1 + WICK_WINDOW_MAX] = {wick_dim_const(s->mi * s->group), wick_dim_const(1),
                                          wick_dim_const(1), wick_dim_const(1)};
  return wick_build2(b, WICK_OP_add, y, wick_build_reshape(b, bias, 1 + s->nsp, column));
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

/* Returns the number of phases, for which the other form would build a convolution each. */
static int64_t decompose_conv_transpose_phases(const decompose_conv_transpose *s)
{
  int64_t n = 1;
  for (uint32_t k = 0; k < s->nsp; k++) n *= s->axis[k].stride;
  return n;
}

/* Returns what moving a vector of the result costs, if a plain move of it costs `move`. Phases as
 * channels are moved once more, and phases with different numbers of taps are joined before. Results
 * that alternate along the last axis are stored lane by lane, except in blocks of channels, which
 * are moved at the end. */
static double decompose_conv_transpose_move(const decompose_conv_transpose *s, bool together,
                                            double move)
{
  const double STORE = 1.25; /* a lane, in vectors of multiply-adds */
  bool joined = false, blocks = s->nsp <= 2 && s->mi >= s->lanes && s->ni >= s->lanes;
  for (uint32_t k = 0; k < s->nsp; k++)
    joined =
        joined || (s->axis[k].kernel > s->axis[k].stride && s->axis[k].kernel % s->axis[k].stride);
  if (together) return (joined ? 1.25 : 1) * move;
  return s->axis[s->nsp - 1].stride == 1 ? 0 : blocks ? move : STORE * (double)s->lanes + move;
}

/* Estimates the time of a form, in vectors of multiply-adds: for each convolution, vectors of
 * channels (if they do not fill one, their part of it, but at least a third, because the loads of x
 * remain) times elements of windows times positions.
 * If the phases are channels, each vector of the result is moved, too; otherwise phases whose windows
 * begin inside of x read a slice of it. */
static double decompose_conv_transpose_cost(const decompose_conv_transpose *s, bool together)
{
  double cost = 0, elements = (double)s->mi;
  int64_t cases[3] = {1, 1, 1};
  decompose_conv_transpose_run run[3][2] = {{{0, 1, 1}}, {{0, 1, 1}}, {{0, 1, 1}}};
  for (uint32_t k = 0; k < s->nsp; k++) {
    const decompose_conv_transpose_axis *a = &s->axis[k];
    cases[k] = together ? decompose_conv_transpose_runs(a, run[k]) : a->stride;
    elements *= (double)decompose_conv_transpose_typical(s, a, a->stride) + (double)a->out;
  }
  double nbytes = 4 * elements * (double)s->group,
         move = wick_target_move(s->target, (uint64_t)fmin(nbytes, 1e18));
  for (int64_t i = 0; i < cases[0] * cases[1] * cases[2]; i++) {
    int64_t rest = i, phases = 1;
    bool sliced = false;
    double work = (double)s->ni, image = (double)s->ni;
    for (uint32_t k = s->nsp; k-- > 0; rest /= cases[k]) {
      const decompose_conv_transpose_axis *a = &s->axis[k];
      int64_t more = decompose_conv_transpose_typical(s, a, 1);
      const decompose_conv_transpose_run *r = &run[k][together ? rest % cases[k] : 0];
      const decompose_conv_transpose_tap *p = &a->phase[together ? 0 : rest % cases[k]];
      phases *= r->count;
      sliced = sliced || (!together && (p->begin < 0 || p->end < 0));
      image *= (double)(a->in + more);
      if (together)
        work *= (double)(r->n * (a->in + more + wick_ceildiv_i64(a->kernel, a->stride) - 1));
      else
        work *= p->tap < 0 ? 0 : (double)(p->n * (p->count + more));
    }
    double vectors = (double)(phases * s->mi) / (double)s->lanes;
    if (sliced) cost += move * image / (double)s->lanes;
    cost += work * (vectors < 1 ? fmax(vectors, 1.0 / 3) : ceil(vectors));
  }
  return cost + decompose_conv_transpose_move(s, together, move) * elements / (double)s->lanes;
}

/* Returns true if the phases become channels of few convolutions. */
static bool decompose_conv_transpose_together(const decompose_conv_transpose *s)
{
  if (!s->together || !s->apart) return s->together;
  return decompose_conv_transpose_phases(s) > DECOMPOSE_CONV_TRANSPOSE_MOST ||
         decompose_conv_transpose_cost(s, true) < decompose_conv_transpose_cost(s, false);
}

static wick_value decompose_conv_transpose_build(decompose_conv_transpose *s)
{
  bool point = s->group == 1;
  for (uint32_t k = 0; k < s->nsp; k++) {
    const decompose_conv_transpose_axis *a = &s->axis[k];
    point =
        point && !a->dynamic && a->in == 1 && !a->pad && a->dilation == 1 && a->out == a->kernel;
  }
  s->c.b.loc = s->n->loc;
  const decompose_conv_transpose_tap *phase[WICK_WINDOW_MAX];
  if (point) return decompose_conv_transpose_matmul(s);
  return decompose_conv_transpose_together(s) ? decompose_conv_transpose_stacked(s)
                                              : decompose_conv_transpose_alternate(s, 0, phase);
}

wick_status wick_pass_decompose_conv_transpose(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out)
{
  wick_arena *mem = pass->mem;
  decompose_conv_transpose s = {.k = wick_match_begin(f, mem), .mem = mem};
  s.c = wick_copy_begin(f, mem);
  s.target = pass->target;
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
