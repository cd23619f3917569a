/* The functions of keras.ops on signals: Fourier transforms, whose complex numbers are pairs of
 * tensors, and windows of sequences. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"
#include "import/kit/complex.h"
#include "import/kit/dft.h"

static const double signal_pi = 3.14159265358979323846;

/* A size that is known; else adds a failure and returns 0. */
static int64_t signal_size(wick_import_node *n, wick_value x, uint32_t axis)
{
  wick_dim d = keras_dims(n, x)[axis];
  return keras_known(n, "the number of elements to transform", d) ? d.v : 0;
}

/* The pair of tensors that is the first argument. */
static bool signal_pair(wick_import_node *n, wick_complex *out)
{
  const keras_arg *a = keras_argument(n, 0, "x");
  if (a->kind != KERAS_LIST || a->n != 2) {
    wick_import_fail(n, WICK_EPARSE, "a pair of tensors is expected: real and imaginary parts");
    return false;
  }
  out->re = keras_value(n, &a->item[0], (wick_value){0});
  out->im = n->failed ? out->re : keras_value(n, &a->item[1], out->re);
  return !n->failed && !n->b->status;
}

static bool signal_length(wick_import_node *n, const char *name, int64_t otherwise, int64_t *out)
{
  *out = wick_import_int(n, name, otherwise);
  if (*out >= 1 && *out <= 1 << 24) return true;
  if (!n->failed) wick_import_fail(n, WICK_EUNSUPPORTED, "%s is %lld", name, (long long)*out);
  return false;
}

/* fft (arg 1 axis), fft2 (arg 2 axes), ifft2 (arg -2) */
static void signal_fft(wick_import_node *n)
{
  wick_complex x;
  bool inverse = n->row->arg < 0;
  uint32_t axes = (uint32_t)(inverse ? -n->row->arg : n->row->arg);
  if (!signal_pair(n, &x)) return;
  uint32_t rank = keras_rank(n, x.re);
  if (rank < axes) {
    wick_import_fail(n, WICK_ETYPE, "the rank is %u, expected at least %u", rank, axes);
    return;
  }
  for (uint32_t k = 0; k < axes; k++) {
    int64_t size = signal_size(n, x.re, rank - 1);
    if (n->failed || !size) return;
    x = wick_complex_dft(n, x, size, inverse);
    if (inverse) {
      x.re = wick_emit_by(n->b, WICK_OP_div, x.re, (double)size);
      x.im = wick_emit_by(n->b, WICK_OP_div, x.im, (double)size);
    }
    if (axes == 2) x = (wick_complex){wick_build_swap(n->b, x.re), wick_build_swap(n->b, x.im)};
  }
  n->out[0] = x.re, n->out[1] = x.im;
}

static void signal_import_rfft(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  int64_t size;
  if (n->failed) return;
  uint32_t rank = keras_rank(n, x);
  bool given = keras_attr(n, "fft_length", 'i').kind != 0;
  int64_t own = rank ? signal_size(n, x, rank - 1) : 0;
  if (n->failed || (given && !signal_length(n, "fft_length", 1, &size))) return;
  if (!given) size = own;
  if (size < 1 || !rank) {
    wick_import_fail(n, WICK_ETYPE, "there is nothing to transform");
    return;
  }
  wick_complex y = wick_complex_rfft(n, x, size);
  n->out[0] = y.re, n->out[1] = y.im;
}

static void signal_import_irfft(wick_import_node *n)
{
  wick_complex x;
  int64_t size;
  if (!signal_pair(n, &x)) return;
  uint32_t rank = keras_rank(n, x.re);
  int64_t own = rank ? signal_size(n, x.re, rank - 1) : 0;
  if (n->failed || !signal_length(n, "fft_length", 2 * (own - 1), &size)) return;
  if (!rank) {
    wick_import_fail(n, WICK_ETYPE, "there is nothing to transform");
    return;
  }
  n->out[0] = wick_complex_irfft(n, x, size);
}

/* ---- windows ---- */

wick_value keras_windows(wick_import_node *n, wick_value x, uint32_t axis, int64_t size,
                         int64_t stride, int64_t dilation)
{
  wick_dims *t = n->c->module->dims;
  wick_dim whole = keras_dims(n, x)[axis], reach = wick_dim_const((size - 1) * dilation + 1);
  wick_dim room = wick_dim_sub(t, whole, reach), step = wick_dim_const(stride);
  wick_dim count = wick_dim_add(t, wick_dim_floordiv(t, room, step), wick_dim_const(1));
  count = wick_dim_max(t, count, wick_dim_const(0));
  wick_value at = wick_emit_count_along(n->b, count, 0, 2);
  wick_value in = wick_emit_count_along(n->b, wick_dim_const(size), 1, 2);
  at = wick_emit_by(n->b, WICK_OP_mul, at, (double)stride);
  in = wick_emit_by(n->b, WICK_OP_mul, in, (double)dilation);
  wick_value index = wick_build2(n->b, WICK_OP_add, at, in);
  return wick_emit_gather(n->b, WICK_OP_gather, x, index, axis);
}

static void signal_sequences(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  int64_t size, stride;
  if (n->failed || !signal_length(n, "sequence_length", 0, &size) ||
      !signal_length(n, "sequence_stride", 0, &stride))
    return;
  uint32_t rank = keras_rank(n, x);
  if (rank < 1 || rank + 1 > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "the rank is %u", rank);
    return;
  }
  n->out[0] = keras_windows(n, x, rank - 1, size, stride, 1);
}

bool keras_window(wick_import_node *n, const char *name, int64_t size, int64_t length, double *out)
{
  const wick_json *j = keras_config(keras_of(n)->layer, name);
  const char *word = keras_text(n->c, j, NULL);
  int64_t left = (length - size) / 2, of = size % 2 ? size - 1 : size; /* as TensorFlow's */
  for (int64_t i = 0; i < length; i++) out[i] = 0;
  if (word && (strcmp(word, "hann") == 0 || strcmp(word, "hamming") == 0)) {
    double a = strcmp(word, "hann") == 0 ? 0.5 : 0.54;
    for (int64_t i = 0; i < size; i++)
      out[left + i] = size == 1 ? 1 : a - (1 - a) * cos(2 * signal_pi * (double)i / (double)of);
    return true;
  }
  const wick_json *value = wick_json_member(wick_json_member(j, "config"), "value");
  if (value) j = value;
  bool good = j && !word && j->kind == WICK_JSON_ARRAY && j->n == (uint64_t)size;
  int64_t i = left;
  for (const wick_json *k = good ? j->first : NULL; k; k = k->next)
    good = wick_json_double(k, &out[i++]) && good;
  if (!good) wick_import_fail(n, WICK_EUNSUPPORTED, "the window is not understood");
  return good;
}

/* What short-time transforms have in common. */
typedef struct signal_frames {
  int64_t size, stride, length; /* of a sequence, between two, of a transform */
  bool center, windowed;
  double *window; /* [length] */
} signal_frames;

static bool signal_frames_of(wick_import_node *n, signal_frames *f)
{
  if (!signal_length(n, "sequence_length", 0, &f->size) ||
      !signal_length(n, "sequence_stride", 0, &f->stride) ||
      !signal_length(n, "fft_length", 0, &f->length))
    return false;
  if (f->length < f->size) {
    wick_import_fail(n, WICK_EPARSE, "fft_length is less than sequence_length");
    return false;
  }
  f->center = keras_is_true(n, "center", true);
  f->windowed = keras_config(keras_of(n)->layer, "window") != NULL;
  f->window = wick_new(n->c->tmp, double, (size_t)f->length);
  return !f->windowed || keras_window(n, "window", f->size, f->length, f->window);
}

bool keras_stft(wick_import_node *n, wick_value x, wick_value *real, wick_value *imaginary)
{
  signal_frames f;
  wick_dim pad[WICK_MAX_RANK];
  if (n->failed || !signal_frames_of(n, &f)) return false;
  uint32_t rank = keras_rank(n, x);
  if (rank < 1 || rank + 1 > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "the rank is %u", rank);
    return false;
  }
  for (uint32_t i = 0; i < rank; i++) pad[i] = wick_dim_const(i + 1 < rank ? 0 : f.length / 2);
  if (f.center) x = wick_array_mirror_pad(n, x, pad, pad, false);
  x = keras_windows(n, x, rank - 1, f.length, f.stride, 1);
  if (f.windowed) {
    wick_value w = wick_emit_table(n->b, n->name, keras_elem_of(n, x), 1, &f.length, f.window);
    x = wick_build2(n->b, WICK_OP_mul, x, w);
  }
  wick_complex y = wick_complex_rfft(n, x, f.length);
  *real = y.re, *imaginary = y.im;
  return !n->failed && !n->b->status;
}

static void signal_stft(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  (void)keras_stft(n, x, &n->out[0], &n->out[1]);
}

/* Adds frames [..., count, size] that begin `stride` after each other: [..., length]. */
static wick_value signal_overlapped(wick_import_node *n, wick_value x, const signal_frames *f)
{
  wick_dims *t = n->c->module->dims;
  uint32_t rank = keras_rank(n, x), row = rank - 2;
  int64_t parts = (f->length + f->stride - 1) / f->stride;
  enum { MOST = 1024 };
  if (parts > MOST) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "more than %d sequences overlap", MOST);
    return x;
  }
  wick_dim dim[WICK_MAX_RANK], before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  wick_value sum = {0};
  x = wick_dft_fit(n->b, x, parts * f->stride);
  wick_dim count = keras_dims(n, x)[row];
  for (uint32_t i = 0; i < rank; i++) {
    dim[i] = keras_dims(n, x)[i];
    before[i] = after[i] = wick_dim_const(0);
  }
  for (int64_t k = 0; k < parts && !n->b->status; k++) {
    before[row] = wick_dim_const(k), after[row] = wick_dim_const(parts - 1 - k);
    wick_dim from = wick_dim_const(k * f->stride), stride = wick_dim_const(f->stride);
    wick_value part = wick_emit_slice(n->b, x, rank - 1, from, stride);
    part = wick_array_pad(n, part, before, after, (wick_value){0});
    sum = k ? wick_build2(n->b, WICK_OP_add, sum, part) : part;
  }
  dim[row] = wick_dim_const(-1);
  sum = keras_reshape_to(n, sum, rank - 1, dim);
  wick_dim whole =
      wick_dim_mul(t, wick_dim_sub(t, count, wick_dim_const(1)), wick_dim_const(f->stride));
  whole = wick_dim_add(t, whole, wick_dim_const(f->length));
  return wick_emit_slice(n->b, sum, rank - 2, wick_dim_const(0), whole);
}

static void signal_istft(wick_import_node *n)
{
  wick_complex x;
  signal_frames f;
  wick_dims *t = n->c->module->dims;
  if (!signal_pair(n, &x) || !signal_frames_of(n, &f)) return;
  uint32_t rank = keras_rank(n, x.re);
  if (rank < 2 || !signal_size(n, x.re, rank - 1)) {
    if (!n->failed) wick_import_fail(n, WICK_ETYPE, "the rank is %u", rank);
    return;
  }
  wick_value y = wick_complex_irfft(n, x, f.length);
  if (f.windowed) { /* divided by the sum of the squares of the windows that overlap there */
    double *w = wick_new(n->c->tmp, double, (size_t)f.length);
    double *sum = wick_new(n->c->tmp, double, (size_t)f.length);
    for (int64_t i = 0; i < f.length; i++) sum[i % f.stride] += f.window[i] * f.window[i];
    for (int64_t i = 0; i < f.length; i++)
      w[i] = f.window[i] == 0 ? 0 : f.window[i] / sum[i % f.stride];
    wick_value table = wick_emit_table(n->b, n->name, keras_elem_of(n, y), 1, &f.length, w);
    y = wick_build2(n->b, WICK_OP_mul, y, table);
  }
  if (n->b->status) return;
  y = signal_overlapped(n, y, &f);
  if (n->failed || n->b->status) return;
  uint32_t last = keras_rank(n, y) - 1;
  wick_dim size = keras_dims(n, y)[last], begin = wick_dim_const(f.center ? f.length / 2 : 0);
  wick_dim end = f.center ? wick_dim_sub(t, size, begin) : size;
  int64_t length = wick_import_int(n, "length", -1);
  if (length >= 0) end = wick_dim_min(t, wick_dim_add(t, begin, wick_dim_const(length)), size);
  n->out[0] = wick_emit_slice(n->b, y, last, begin, wick_dim_sub(t, end, begin));
}

#define NO_COMPLEX "Wick has no complex numbers; use functions that take pairs of tensors"

const wick_import_op keras_signals[] = {
    KERAS_ROW("ExtractSequences", 1, 1, 1, signal_sequences, .arg = 0),
    KERAS_ROW("FFT", 1, 2, 2, signal_fft, .arg = 1),
    KERAS_ROW("FFT2", 1, 2, 2, signal_fft, .arg = 2),
    KERAS_ROW("IFFT2", 1, 2, 2, signal_fft, .arg = -2),
    KERAS_ROW("IRFFT", 1, 2, 1, signal_import_irfft, .arg = 0),
    KERAS_ROW("ISTFT", 1, 2, 1, signal_istft, .arg = 0),
    KERAS_ROW("Polar", 0, WICK_ANY, 1, NULL, .why = NO_COMPLEX),
    KERAS_ROW("RFFT", 1, 1, 2, signal_import_rfft, .arg = 0),
    KERAS_ROW("STFT", 1, 1, 2, signal_stft, .arg = 0),
    KERAS_ROW("ViewAsComplex", 0, WICK_ANY, 1, NULL, .why = NO_COMPLEX),
    KERAS_ROW("ViewAsReal", 0, WICK_ANY, 1, NULL, .why = NO_COMPLEX),
    {.name = NULL},
};
