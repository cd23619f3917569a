/* Signals: Fourier transforms, windows, the mel scale. */
#include <math.h>

#include "import/onnx/import.h"

enum {
  SIGNAL_DENSE = 64,        /* a transform as one product with a matrix */
  SIGNAL_LARGEST = 1 << 22, /* of a transform or a window */
};

static const double signal_pi = 3.14159265358979323846;

/* ---- the discrete Fourier transform along the last axis ---- */

/* Complex numbers as two tensors; im 0: real. */
typedef struct signal_complex {
  wick_value re, im;
} signal_complex;

typedef struct signal_fourier {
  wick_onnx_op *o;
  wick_elem elem;
  double sign; /* of the exponent: -1, or 1 for the inverse */
} signal_fourier;

static wick_value signal_sum(const signal_fourier *f, wick_opcode op, wick_value x, wick_value y)
{
  return wick_build2(f->o->b, op, x, y);
}

/* x * y, or x @ y, where y is complex. */
static signal_complex signal_times(const signal_fourier *f, wick_opcode op, signal_complex x,
                                   signal_complex y)
{
  wick_value re = signal_sum(f, op, x.re, y.re), im = signal_sum(f, op, x.re, y.im);
  if (x.im.id) {
    re = signal_sum(f, WICK_OP_sub, re, signal_sum(f, op, x.im, y.im));
    im = signal_sum(f, WICK_OP_add, im, signal_sum(f, op, x.im, y.re));
  }
  return (signal_complex){re, im};
}

/* exp(sign * 2 pi i * j * k / n), [rows, columns]; exact products, so that the angle is. */
static signal_complex signal_roots(const signal_fourier *f, int64_t rows, int64_t columns,
                                   int64_t n)
{
  const int64_t dim[] = {rows, columns};
  size_t count = (size_t)(rows * columns);
  double *re = wick_new(f->o->c->tmp, double, count), *im = wick_new(f->o->c->tmp, double, count);
  for (int64_t j = 0; j < rows; j++)
    for (int64_t k = 0; k < columns; k++) {
      double angle = f->sign * 2 * signal_pi * (double)(j * k % n) / (double)n;
      re[j * columns + k] = cos(angle), im[j * columns + k] = sin(angle);
    }
  return (signal_complex){wick_onnx_table(f->o, f->elem, 2, dim, re),
                          wick_onnx_table(f->o, f->elem, 2, dim, im)};
}

typedef wick_value signal_move(const signal_fourier *f, wick_value x, int64_t a, int64_t b);

static signal_complex signal_both(const signal_fourier *f, signal_move *move, signal_complex x,
                                  int64_t a, int64_t b)
{
  x.re = move(f, x.re, a, b);
  if (x.im.id) x.im = move(f, x.im, a, b);
  return x;
}

/* The last axis [a * b] as [a, b], turned into [b, a]. */
static wick_value signal_split(const signal_fourier *f, wick_value x, int64_t a, int64_t b)
{
  if (f->o->b->status) return x;
  const wick_type_info *t = wick_built_info(f->o->b, x);
  wick_dim dim[WICK_MAX_RANK + 1];
  int64_t perm[WICK_MAX_RANK + 1];
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[k], perm[k] = k;
  dim[t->rank - 1] = wick_dim_const(a), dim[t->rank] = wick_dim_const(b);
  perm[t->rank - 1] = t->rank, perm[t->rank] = t->rank - 1;
  return wick_onnx_transpose(f->o, wick_onnx_reshape(f->o, x, t->rank + 1, dim), t->rank + 1, perm);
}

/* The last axes [a, b] turned into [b, a]. */
static wick_value signal_turn(const signal_fourier *f, wick_value x, int64_t a, int64_t b)
{
  (void)a, (void)b;
  if (f->o->b->status) return x;
  uint32_t n = wick_built_info(f->o->b, x)->rank;
  int64_t perm[WICK_MAX_RANK + 1];
  for (uint32_t k = 0; k < n; k++) perm[k] = k;
  perm[n - 2] = n - 1, perm[n - 1] = n - 2;
  return wick_onnx_transpose(f->o, x, n, perm);
}

/* The last axes [a, b] as one. */
static wick_value signal_join(const signal_fourier *f, wick_value x, int64_t a, int64_t b)
{
  if (f->o->b->status) return x;
  const wick_type_info *t = wick_built_info(f->o->b, x);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k + 2 < t->rank; k++) dim[k] = t->dim[k];
  dim[t->rank - 2] = wick_dim_const(a * b);
  return wick_onnx_reshape(f->o, x, t->rank - 1, dim);
}

/* The last axis cut to `size` numbers, or with zeros behind it. */
static wick_value signal_fit(const signal_fourier *f, wick_value x, int64_t from, int64_t size)
{
  if (f->o->b->status || from == size) return x;
  uint32_t rank = wick_built_info(f->o->b, x)->rank;
  if (size < from)
    return wick_onnx_slice(f->o, x, rank - 1, wick_dim_const(0), wick_dim_const(size));
  wick_dim pad[2 * WICK_MAX_RANK];
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  pad[2 * rank - 1] = wick_dim_const(size - from);
  wick_onnx_emit e = wick_onnx_begin(f->o, WICK_OP_pad);
  wick_onnx_set_dims(&e, "pad", 2 * rank, pad);
  return wick_onnx_end1(&e, x);
}

/* The divisor of n that is next to its root; 1 for a prime. */
static int64_t signal_divisor(int64_t n)
{
  int64_t best = 1;
  for (int64_t d = 2; d * d <= n; d++)
    if (n % d == 0) best = d;
  return best;
}

static signal_complex signal_transform(const signal_fourier *f, signal_complex x, int64_t n);

/* A large prime, by Bluestein: j * k = (j^2 + k^2 - (k - j)^2) / 2 makes it a convolution, for
 * which a power of two serves. */
static signal_complex signal_prime(const signal_fourier *f, signal_complex x, int64_t n)
{
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  double *re = wick_new(f->o->c->tmp, double, (size_t)m),
         *im = wick_new(f->o->c->tmp, double, (size_t)m);
  for (int64_t k = 0; k < n; k++) {
    double angle = signal_pi * (double)(k * k % (2 * n)) / (double)n;
    re[k] = cos(angle), im[k] = f->sign * sin(angle);
  }
  signal_complex chirp = {wick_onnx_table(f->o, f->elem, 1, &n, re),
                          wick_onnx_table(f->o, f->elem, 1, &n, im)};
  for (int64_t k = 0; k < n; k++) im[k] = -im[k];
  for (int64_t k = 1; k < n; k++) re[m - k] = re[k], im[m - k] = im[k];
  signal_fourier forth = {f->o, f->elem, -1}, back = {f->o, f->elem, 1};
  signal_complex filter = {wick_onnx_table(f->o, f->elem, 1, &m, re),
                           wick_onnx_table(f->o, f->elem, 1, &m, im)};
  filter = signal_transform(&forth, filter, m); /* of constants: folded */
  signal_complex y = signal_both(f, signal_fit, signal_times(f, WICK_OP_mul, x, chirp), n, m);
  y = signal_times(f, WICK_OP_mul, signal_transform(&forth, y, m), filter);
  y = signal_both(f, signal_fit, signal_transform(&back, y, m), m, n);
  y.re = wick_onnx_by(f->o, WICK_OP_div, y.re, (double)m);
  y.im = wick_onnx_by(f->o, WICK_OP_div, y.im, (double)m);
  return signal_times(f, WICK_OP_mul, y, chirp);
}

/* Cooley and Tukey: n = a * b; transforms of a, roots between, transforms of b. */
static signal_complex signal_transform(const signal_fourier *f, signal_complex x, int64_t n)
{
  if (f->o->b->status) return x;
  if (n <= SIGNAL_DENSE) return signal_times(f, WICK_OP_matmul, x, signal_roots(f, n, n, n));
  int64_t a = signal_divisor(n), b = n / a;
  if (a == 1) return signal_prime(f, x, n);
  x = signal_transform(f, signal_both(f, signal_split, x, a, b), a); /* [b, a] */
  x = signal_times(f, WICK_OP_mul, x, signal_roots(f, b, a, n));
  x = signal_transform(f, signal_both(f, signal_turn, x, b, a), b); /* [a, b] */
  return signal_both(f, signal_join, signal_both(f, signal_turn, x, a, b), b, a);
}

/* ---- operators ---- */

static bool signal_length(wick_onnx_op *o, const char *what, int64_t n, int64_t most)
{
  if (n >= 1 && n <= most) return true;
  wick_onnx_fail(o, WICK_ERANGE, "%s is %lld, wanted 1 to %lld", what, (long long)n,
                 (long long)most);
  return false;
}

/* Parts of the last axis, [..., 1 or 2]. */
static signal_complex signal_parts(wick_onnx_op *o, wick_value x, wick_elem elem)
{
  signal_complex y = {0};
  if (o->b->status) return y;
  const wick_type_info *t = wick_built_info(o->b, x);
  uint32_t last = t->rank - 1;
  wick_dim one = wick_dim_const(1);
  bool complex = wick_dim_is(t->dim[last], 2);
  x = wick_build_cast(o->b, x, elem);
  y.re =
      wick_onnx_squeeze(o, complex ? wick_onnx_slice(o, x, last, wick_dim_const(0), one) : x, last);
  if (complex) y.im = wick_onnx_squeeze(o, wick_onnx_slice(o, x, last, one, one), last);
  return y;
}

static wick_value signal_joined(wick_onnx_op *o, signal_complex x)
{
  if (o->b->status) return x.re;
  uint32_t rank = wick_built_info(o->b, x.re)->rank;
  wick_value re = wick_onnx_unsqueeze(o, x.re, rank);
  if (!x.im.id) return re;
  return wick_onnx_concat(o, rank, 2, (wick_value[]){re, wick_onnx_unsqueeze(o, x.im, rank)});
}

/* What the first half of the spectrum of a real signal of n numbers says of the rest. */
static signal_complex signal_whole(const signal_fourier *f, signal_complex x, int64_t n)
{
  wick_onnx_op *o = f->o;
  int64_t half = n / 2 + 1, rest = n - half;
  wick_value *const part[] = {&x.re, &x.im};
  for (uint32_t i = 0; i < 2 && rest && !o->b->status; i++) {
    const wick_type_info *t = wick_built_info(o->b, *part[i]);
    wick_dim begin[WICK_MAX_RANK], size[WICK_MAX_RANK];
    int64_t step[WICK_MAX_RANK];
    for (uint32_t k = 0; k < t->rank; k++)
      begin[k] = wick_dim_const(0), size[k] = t->dim[k], step[k] = 1;
    begin[t->rank - 1] = wick_dim_const(rest), size[t->rank - 1] = wick_dim_const(rest);
    step[t->rank - 1] = -1;
    wick_onnx_emit e = wick_onnx_begin(o, WICK_OP_slice);
    wick_onnx_set_dims(&e, "begin", t->rank, begin);
    wick_onnx_set_dims(&e, "shape", t->rank, size);
    wick_onnx_set_ints(&e, "step", t->rank, step);
    wick_value mirrored = wick_onnx_end1(&e, *part[i]);
    if (i) mirrored = wick_build1(o->b, WICK_OP_neg, mirrored);
    *part[i] = wick_onnx_concat(o, t->rank - 1, 2, (wick_value[]){*part[i], mirrored});
  }
  return x;
}

static wick_elem signal_wide(wick_elem e) { return e == WICK_F64 ? WICK_F64 : WICK_F32; }

/* With the transformed axis moved behind the others and back. */
static void signal_dft_along(wick_onnx_op *o, uint32_t axis)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  uint32_t rank = t->rank - 1;
  bool inverse = wick_onnx_int(o, "inverse", 0) != 0,
       onesided = wick_onnx_int(o, "onesided", 0) != 0, real = inverse && onesided;
  signal_fourier f = {o, signal_wide(t->elem), inverse ? 1 : -1};
  if (axis < rank && !wick_dim_is_const(t->dim[axis])) {
    wick_onnx_open(o, "the size that is transformed", t->dim[axis]);
    return;
  }
  if (axis >= rank || (!wick_dim_is(t->dim[rank], 1) && !wick_dim_is(t->dim[rank], 2))) {
    wick_onnx_fail(o, WICK_ETYPE,
                   "axis %u of rank %u: it must not be the last, which has 1 or 2 "
                   "numbers",
                   axis, t->rank);
    return;
  }
  int64_t have = t->dim[axis].v, n, there[WICK_MAX_RANK], back[WICK_MAX_RANK];
  if (!wick_onnx_one(o, 1, "dft_length", real ? 2 * (have - 1) : have, &n) ||
      !signal_length(o, "dft_length", n, SIGNAL_LARGEST))
    return;
  for (uint32_t k = 0; k < rank; k++) {
    there[k] = k < axis ? k : k + 1 < rank ? k + 1 : axis;
    back[k] = k < axis ? k : k == axis ? rank - 1 : k - 1;
  }
  signal_complex x = signal_parts(o, o->in[0], f.elem);
  x.re = wick_onnx_transpose(o, x.re, rank, there);
  if (x.im.id) x.im = wick_onnx_transpose(o, x.im, rank, there);
  int64_t half = n / 2 + 1;
  if (real && !x.im.id) x.im = wick_onnx_by(o, WICK_OP_mul, x.re, 0);
  x = signal_both(&f, signal_fit, x, have, real ? half : n);
  if (real) x = signal_whole(&f, x, n);
  x = signal_transform(&f, x, n);
  if (inverse) {
    x.re = wick_onnx_by(o, WICK_OP_div, x.re, (double)n);
    x.im = real ? (wick_value){0} : wick_onnx_by(o, WICK_OP_div, x.im, (double)n);
  } else if (onesided) {
    x = signal_both(&f, signal_fit, x, n, half);
  }
  x.re = wick_onnx_transpose(o, x.re, rank, back);
  if (x.im.id) x.im = wick_onnx_transpose(o, x.im, rank, back);
  o->out[0] = wick_build_cast(o->b, signal_joined(o, x), t->elem);
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

/* Frames of the signal [batch, length, 1 or 2] times the window, each transformed. */
static void signal_stft(wick_onnx_op *o)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  wick_builder *b = o->b;
  int64_t step, n;
  wick_dim window = wick_dim_const(0);
  bool row = !wick_onnx_has(o, 2) || wick_onnx_info(o, 2)->rank == 1;
  if (row && wick_onnx_has(o, 2)) window = wick_onnx_info(o, 2)->dim[0];
  if (t->rank != 3 || !row) {
    wick_onnx_fail(o, WICK_ETYPE, "its rank is %u, wanted 3, and a window in one row", t->rank);
    return;
  }
  if (!wick_dim_is_const(t->dim[1]) || !wick_dim_is_const(window)) {
    wick_onnx_open(o, "the length of signal and window",
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
  signal_fourier f = {o, signal_wide(t->elem), -1};
  wick_dim frames = wick_dim_const((length - n) / step + 1);
  wick_value at = wick_build2(
      b, WICK_OP_add,
      wick_onnx_by(o, WICK_OP_mul, wick_onnx_count_along(o, frames, 0, 2), (double)step),
      wick_onnx_count_along(o, wick_dim_const(n), 1, 2));
  wick_value framed = wick_onnx_gather(o, WICK_OP_gather, o->in[0], at, 1);
  signal_complex x = signal_parts(o, framed, f.elem);
  wick_value *const part[] = {&x.re, &x.im};
  for (uint32_t i = 0; i < 2 && window.v; i++)
    if (part[i]->id)
      *part[i] = wick_build2(b, WICK_OP_mul, *part[i], wick_build_cast(b, o->in[2], f.elem));
  x = signal_transform(&f, x, n);
  if (wick_onnx_int(o, "onesided", 1)) x = signal_both(&f, signal_fit, x, n, n / 2 + 1);
  o->out[0] = wick_build_cast(b, signal_joined(o, x), t->elem);
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

/* A sum of cosines, by the row's number: Hann, Hamming, Blackman. */
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

/* Triangles on the mel scale: column i rises from edge i to edge i + 1 and falls to edge i + 2. */
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
           place = floor((double)(length + 1) * hertz / (double)rate);
    if (!(place >= 0 && place < (double)dim[0])) {
      wick_onnx_fail(o, WICK_ERANGE, "edge %lld lies at %g, outside of %lld bins", (long long)i,
                     place, (long long)dim[0]);
      return;
    }
    edge[i] = (int64_t)place;
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
