/* Imports operators on signals: Fourier transforms, windows, the mel scale. */
#include <math.h>

#include "import/kit/dft.h"
#include "import/onnx/import.h"

enum { SIGNAL_LARGEST = WICK_DFT_LARGEST }; /* also of a window */

static const double signal_pi = 3.14159265358979323846;

/* ---- operators ---- */

/* The name of constants. */
static const char *signal_name(const wick_onnx_op *o)
{
  return o->nout ? wick_onnx_name(o->c, o->node->output.at[0]) : "";
}

static bool signal_length(wick_onnx_op *o, const char *what, int64_t n, int64_t most)
{
  if (n >= 1 && n <= most) return true;
  wick_onnx_fail(o, WICK_ERANGE, "%s is %lld, expected 1 to %lld", what, (long long)n,
                 (long long)most);
  return false;
}

/* Completes the spectrum of a real signal of n numbers from its first half: [planes, lines, n]. */
static wick_value signal_whole(wick_onnx_op *o, wick_value x, int64_t n)
{
  int64_t rest = n - (n / 2 + 1);
  if (o->b->status || !rest) return x;
  const wick_type_info *t = wick_built_info(o->b, x);
  const wick_dim zero = wick_dim_const(0), begin[] = {zero, zero, wick_dim_const(rest)},
                 size[] = {t->dim[0], t->dim[1], wick_dim_const(rest)};
  bool real = wick_dim_is(t->dim[0], 1);
  wick_elem elem = t->elem;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_slice);
  wick_emit_set_dims(&e, "begin", 3, begin);
  wick_emit_set_dims(&e, "shape", 3, size);
  wick_emit_set_ints(&e, "step", 3, (const int64_t[]){1, 1, -1});
  wick_value y = wick_emit_end1(&e, x);
  if (!real) {
    const double sign[] = {1, -1};
    wick_value v = wick_onnx_table(o, elem, 3, (const int64_t[]){2, 1, 1}, sign);
    y = wick_build2(o->b, WICK_OP_mul, y, v);
  }
  return wick_build_concat(o->b, 2, 2, (wick_value[]){x, y});
}

/* Interleaves the planes [1 or 2, ...]: the parts of each number become the last axis, [..., 1
 * or 2]. */
static wick_value signal_joined(wick_onnx_op *o, wick_value x)
{
  wick_dim shape[WICK_MAX_RANK];
  wick_value part[2] = {{0}};
  if (o->b->status) return x;
  const wick_type_info t = *wick_built_info(o->b, x);
  uint32_t rank = t.rank - 1u;
  for (uint32_t k = 0; k < rank; k++) shape[k] = t.dim[k + 1];
  shape[rank] = t.dim[0];
  if (wick_dim_is(t.dim[0], 2)) {
    for (int64_t k = 0; k < 2; k++) {
      part[k] = wick_emit_slice(o->b, x, 0, wick_dim_const(k), wick_dim_const(1));
      part[k] = wick_build_reshape(o->b, part[k], rank, shape);
    }
    wick_emit e = wick_emit_begin(o->b, WICK_OP_interleave);
    wick_emit_set_int(&e, "axis", -1);
    x = wick_emit_end2(&e, part[0], part[1]);
  }
  return wick_build_reshape(o->b, x, rank + 1, shape);
}

static wick_elem signal_wide(wick_elem e) { return e == WICK_F64 ? WICK_F64 : WICK_F32; }

/* Moves the axis to the end as [planes, lines, n], transforms, and moves it back. */
static void signal_dft_lines(wick_onnx_op *o, uint32_t axis, int64_t n, bool inverse, bool onesided)
{
  const wick_type_info t = *wick_onnx_info(o, 0);
  wick_dims *dims = o->c->module->dims;
  uint32_t rank = t.rank - 1u;
  int64_t there[WICK_MAX_RANK] = {rank}, back[WICK_MAX_RANK];
  wick_dim shape[WICK_MAX_RANK], lines = wick_dim_const(1);
  for (uint32_t k = 0, at = 1; k < rank; k++) {
    back[k + 1] = k == axis ? 1 : (int64_t)at + 1;
    if (k == axis) continue;
    there[at++] = k, shape[at] = t.dim[k];
    lines = wick_dim_mul(dims, lines, t.dim[k]);
  }
  there[rank] = axis, back[0] = 0;
  wick_value x = wick_build_cast(o->b, o->in[0], signal_wide(t.elem));
  const wick_dim flat[] = {t.dim[rank], lines, t.dim[axis]};
  x = wick_build_reshape(o->b, wick_build_transpose(o->b, x, t.rank, there), 3, flat);
  int64_t half = n / 2 + 1, left = onesided && !inverse ? half : n;
  bool real = onesided && inverse;
  if (real) x = signal_whole(o, wick_dft_fit(o->b, x, half), n);
  x = wick_dft(o->b, o->c->tmp, signal_name(o), x, n, inverse);
  if (left < n) x = wick_emit_slice(o->b, x, 1, wick_dim_const(0), wick_dim_const(left));
  if (real) x = wick_emit_slice(o->b, x, 0, wick_dim_const(0), wick_dim_const(1));
  if (inverse) x = wick_emit_by(o->b, WICK_OP_div, x, (double)n);
  shape[0] = wick_dim_const(real ? 1 : 2), shape[1] = wick_dim_const(left);
  x = wick_build_transpose(o->b, wick_build_reshape(o->b, x, t.rank, shape), t.rank, back);
  o->out[0] = wick_build_cast(o->b, signal_joined(o, x), t.elem);
}

static void signal_dft_along(wick_onnx_op *o, uint32_t axis)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  uint32_t rank = t->rank - 1;
  bool inverse = wick_onnx_int(o, "inverse", 0) != 0,
       onesided = wick_onnx_int(o, "onesided", 0) != 0;
  if (axis < rank && !wick_dim_is_const(t->dim[axis])) {
    wick_onnx_must_be_known(o, "the size that is transformed", t->dim[axis]);
    return;
  }
  if (axis >= rank || (!wick_dim_is(t->dim[rank], 1) && !wick_dim_is(t->dim[rank], 2))) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "axis %u of rank %u: it must not be the last, which has 1 or 2 "
                   "numbers",
                   axis, t->rank);
    return;
  }
  int64_t have = t->dim[axis].v, n;
  if (wick_onnx_one(o, 1, "dft_length", inverse && onesided ? 2 * (have - 1) : have, &n) &&
      signal_length(o, "dft_length", n, SIGNAL_LARGEST))
    signal_dft_lines(o, axis, n, inverse, onesided);
}

static void signal_dft_17(wick_onnx_op *o)
{
  uint32_t axis, rank = wick_onnx_info(o, 0)->rank;
  if (wick_onnx_axis(o, wick_onnx_int(o, "axis", 1), rank, &axis)) signal_dft_along(o, axis);
}

static void signal_dft(wick_onnx_op *o)
{
  uint32_t axis, rank = wick_onnx_info(o, 0)->rank;
  int64_t given;
  if (wick_onnx_one(o, 2, "axis", -2, &given) && wick_onnx_axis(o, given, rank, &axis))
    signal_dft_along(o, axis);
}

/* Cuts [planes, batch, length] into frames [planes, batch, count, n], each `step` after the one
 * before. It reshapes to rows whose length divides n and `step`. A frame is then a concatenation
 * of strided slices of rows. */
static wick_value signal_frames(wick_onnx_op *o, wick_value x, int64_t count, int64_t n,
                                int64_t step)
{
  enum { MOST = 64 };
  int64_t unit = n, other = step;
  if (o->b->status) return x;
  while (other) {
    int64_t rest = unit % other;
    unit = other, other = rest;
  }
  const wick_type_info t = *wick_built_info(o->b, x);
  int64_t rows = t.dim[2].v / unit;
  if (n / unit > MOST) {
    wick_value from = wick_emit_count_along(o->b, wick_dim_const(count), 0, 2),
               at = wick_emit_count_along(o->b, wick_dim_const(n), 1, 2);
    from = wick_emit_by(o->b, WICK_OP_mul, from, (double)step);
    return wick_emit_gather(o->b, WICK_OP_gather, x, wick_build2(o->b, WICK_OP_add, from, at), 2);
  }
  const wick_dim shape[] = {t.dim[0], t.dim[1], wick_dim_const(rows), wick_dim_const(unit)},
                 size[] = {t.dim[0], t.dim[1], wick_dim_const(count), wick_dim_const(unit)};
  x = wick_emit_slice(o->b, x, 2, wick_dim_const(0), wick_dim_const(rows * unit));
  x = wick_build_reshape(o->b, x, 4, shape);
  wick_value part[MOST];
  for (int64_t k = 0; k < n / unit; k++) {
    const wick_dim zero = wick_dim_const(0), begin[] = {zero, zero, wick_dim_const(k), zero};
    wick_emit e = wick_emit_begin(o->b, WICK_OP_slice);
    wick_emit_set_dims(&e, "begin", 4, begin);
    wick_emit_set_dims(&e, "shape", 4, size);
    wick_emit_set_ints(&e, "step", 4, (const int64_t[]){1, 1, step / unit, 1});
    part[k] = wick_emit_end1(&e, x);
  }
  return wick_build_concat(o->b, 3, (uint32_t)(n / unit), part);
}

/* Multiplies frames of the signal [batch, length, 1 or 2] by the window, and transforms each. */
static void signal_stft(wick_onnx_op *o)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  wick_builder *b = o->b;
  int64_t step, n;
  wick_dim window = wick_dim_const(0);
  bool row = !wick_onnx_has(o, 2) || wick_onnx_info(o, 2)->rank == 1;
  if (row && wick_onnx_has(o, 2)) window = wick_onnx_info(o, 2)->dim[0];
  if (t->rank != 3 || !row) {
    wick_onnx_fail(o, WICK_ETYPE, "its rank is %u, expected 3 and a window of rank 1", t->rank);
    return;
  }
  if (!wick_dim_is_const(t->dim[1]) || !wick_dim_is_const(window)) {
    wick_onnx_must_be_known(o, "the length of signal and window",
                            wick_dim_add(o->c->module->dims, t->dim[1], window));
    return;
  }
  int64_t length = t->dim[1].v;
  if (!wick_onnx_one(o, 1, "frame_step", 1, &step) ||
      !wick_onnx_one(o, 3, "frame_length", window.v ? window.v : length, &n) ||
      !signal_length(o, "frame_step", step, INT32_MAX) ||
      !signal_length(o, "frame_length", n, length < SIGNAL_LARGEST ? length : SIGNAL_LARGEST))
    return;
  if (window.v && window.v != n) {
    wick_onnx_fail(o, WICK_ETYPE, "the window has %lld numbers, frames have %lld",
                   (long long)window.v, (long long)n);
    return;
  }
  wick_elem elem = t->elem, wide = signal_wide(elem);
  wick_dim planes = t->dim[2], batch = t->dim[0], frames = wick_dim_const((length - n) / step + 1);
  wick_value x =
      wick_build_transpose(o->b, wick_build_cast(b, o->in[0], wide), 3, (const int64_t[]){2, 0, 1});
  x = signal_frames(o, x, frames.v, n, step);
  if (window.v) x = wick_build2(b, WICK_OP_mul, x, wick_build_cast(b, o->in[2], wide));
  int64_t left = wick_onnx_int(o, "onesided", 1) ? n / 2 + 1 : n;
  const wick_dim flat[] = {planes, wick_dim_mul(o->c->module->dims, batch, frames),
                           wick_dim_const(n)},
                 shape[] = {wick_dim_const(2), wick_dim_const(left), batch, frames};
  x = wick_build_reshape(o->b, x, 3, flat);
  x = wick_dft(o->b, o->c->tmp, signal_name(o), x, n, false);
  if (left < n) x = wick_emit_slice(o->b, x, 1, wick_dim_const(0), wick_dim_const(left));
  x = wick_build_transpose(o->b, wick_build_reshape(o->b, x, 4, shape), 4,
                           (const int64_t[]){0, 2, 3, 1});
  o->out[0] = wick_build_cast(b, signal_joined(o, x), elem);
}

/* ---- tables ---- */

static bool signal_elem(wick_onnx_op *o, wick_elem *out)
{
  int64_t number = wick_onnx_int(o, "output_datatype", 1);
  if (wick_onnx_elem(number, out) && *out != WICK_STRING) return true;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "elements of type %s are not supported",
                 wick_onnx_elem_name(number, o->c->tmp));
  return false;
}

/* Builds a sum of cosines, selected by the row's `arg`: Hann, Hamming or Blackman. */
static void signal_window(wick_onnx_op *o)
{
  static const double weight[][3] = {
      {0.5, -0.5, 0}, {25.0 / 46, -21.0 / 46, 0}, {0.42, -0.5, 0.08}};
  const double *w = weight[o->row->arg];
  int64_t n;
  wick_elem elem;
  if (!signal_elem(o, &elem) || !wick_onnx_one(o, 0, "size", 0, &n) ||
      !signal_length(o, "size", n, SIGNAL_LARGEST))
    return;
  double *y = wick_new(o->c->tmp, double, (size_t)n),
         period = wick_onnx_int(o, "periodic", 1) ? (double)n : (double)(n - 1);
  for (int64_t i = 0; i < n; i++) {
    double angle = period > 0 ? 2 * signal_pi * (double)i / period : 0;
    y[i] = w[0] + w[1] * cos(angle) + w[2] * cos(2 * angle);
  }
  o->out[0] = wick_onnx_table(o, elem, 1, &n, y);
}

/* Builds triangles on the mel scale: column i rises from edge i to edge i + 1 and falls to edge
 * i + 2. */
static void signal_mel(wick_onnx_op *o)
{
  int64_t bins, length, rate, dim[2];
  const double *low, *high;
  uint32_t nlow, nhigh;
  wick_elem elem;
  if (!signal_elem(o, &elem) || !wick_onnx_one(o, 0, "num_mel_bins", 0, &bins) ||
      !wick_onnx_one(o, 1, "dft_length", 0, &length) ||
      !wick_onnx_one(o, 2, "sample_rate", 0, &rate) ||
      !wick_onnx_floats(o, 3, "lower_edge_hertz", &nlow, &low) ||
      !wick_onnx_floats(o, 4, "upper_edge_hertz", &nhigh, &high) ||
      !signal_length(o, "num_mel_bins", bins, 4096) ||
      !signal_length(o, "dft_length", length, 1 << 16) ||
      !signal_length(o, "sample_rate", rate, INT32_MAX))
    return;
  dim[0] = length / 2 + 1, dim[1] = bins;
  double *y = wick_new(o->c->tmp, double, (size_t)(dim[0] * bins));
  int64_t *edge = wick_new(o->c->tmp, int64_t, (size_t)bins + 2);
  double from = nlow ? 2595 * log10(1 + low[0] / 700) : 0,
         to = nhigh ? 2595 * log10(1 + high[0] / 700) : 0;
  for (int64_t i = 0; i < bins + 2; i++) {
    double hertz =
               700 * (pow(10, ((double)i * (to - from) / (double)(bins + 2) + from) / 2595) - 1),
           position = floor((double)(length + 1) * hertz / (double)rate);
    if (!(position >= 0 && position < (double)dim[0])) {
      wick_onnx_fail(o, WICK_ERANGE, "edge %lld is at %g, outside of %lld bins", (long long)i,
                     position, (long long)dim[0]);
      return;
    }
    edge[i] = (int64_t)position;
  }
  for (int64_t i = 0; i < bins; i++) {
    int64_t left = edge[i], centre = edge[i + 1], right = edge[i + 2];
    if (left == centre) y[centre * bins + i] = 1;
    for (int64_t j = left; j <= centre && left < centre; j++)
      y[j * bins + i] = (double)(j - left) / (double)(centre - left);
    for (int64_t j = centre; j < right; j++)
      y[j * bins + i] = (double)(right - j) / (double)(right - centre);
  }
  o->out[0] = wick_onnx_table(o, elem, 2, dim, y);
}

#define SIGNAL_WINDOW(name, arg)                                                                   \
  {                                                                                                \
    name, 17, {1, 1}, 1, "output_datatype:i periodic:i", signal_window, 0, arg                     \
  }

const wick_onnx_row wick_onnx_signal_rows[] = {
    SIGNAL_WINDOW("BlackmanWindow", 2),
    {"DFT", 17, {1, 2}, 1, "axis:i inverse:i onesided:i", signal_dft_17, 0, 0},
    {"DFT", 20, {1, 3}, 1, "inverse:i onesided:i", signal_dft, 0, 0},
    SIGNAL_WINDOW("HammingWindow", 1),
    SIGNAL_WINDOW("HannWindow", 0),
    {"MelWeightMatrix", 17, {5, 5}, 1, "output_datatype:i", signal_mel, 0, 0},
    {"STFT", 17, {2, 4}, 1, "onesided:i", signal_stft, 0, 0},
    {0},
};
