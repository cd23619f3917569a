/* Layers that compute spectra: STFTSpectrogram, whose Fourier transform is a product with weights, and
 * MelSpectrogram. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

/* ---- STFTSpectrogram ---- */

/* Zeros before and after the last axis, so that there is a window for each `stride` elements. */
static wick_value spectrum_same(wick_import_node *n, wick_value x, int64_t size, int64_t stride)
{
  wick_dims *t = n->c->module->dims;
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK], zero = wick_dim_const(0);
  uint32_t last = keras_rank(n, x) - 1;
  wick_dim whole = keras_dims(n, x)[last], step = wick_dim_const(stride);
  wick_dim count = wick_dim_sub(t, wick_dim_ceildiv(t, whole, step), wick_dim_const(1));
  wick_dim reach = wick_dim_add(t, wick_dim_mul(t, count, step), wick_dim_const(size));
  wick_dim more = wick_dim_max(t, wick_dim_sub(t, reach, whole), zero);
  for (uint32_t i = 0; i < last; i++) before[i] = after[i] = zero;
  before[last] = wick_dim_floordiv(t, more, wick_dim_const(2));
  after[last] = wick_dim_sub(t, more, before[last]);
  return wick_array_pad(n, x, before, after, (wick_value){0});
}

/* The products of windows [batch, channels, count, size] with a kernel [size, 1, frequencies]. */
static wick_value spectrum_part(wick_import_node *n, wick_value windows, const char *kernel)
{
  wick_value w = keras_weight_get(n, kernel);
  if (n->failed || !w.id) return windows;
  w = wick_build_cast(n->b, wick_emit_squeeze(n->b, w, 1), keras_elem_of(n, windows));
  return wick_build2(n->b, WICK_OP_matmul, windows, w);
}

/* What the mode makes of the windows: [batch, channels, count, frequencies]. */
static wick_value spectrum_mode(wick_import_node *n, wick_value x, const char *mode)
{
  const double epsilon = 1e-7;
  wick_value part[2] = {x, x};
  if (strcmp(mode, "imag") != 0) part[0] = spectrum_part(n, x, "real_kernel");
  if (strcmp(mode, "real") != 0) part[1] = spectrum_part(n, x, "imag_kernel");
  if (n->failed || n->b->status || strcmp(mode, "real") == 0) return part[0];
  if (strcmp(mode, "imag") == 0) return part[1];
  if (strcmp(mode, "angle") == 0) return wick_emit_atan2(n->b, part[1], part[0]);
  if (strcmp(mode, "stft") == 0) return wick_build_concat(n->b, 3, 2, part);
  for (int i = 0; i < 2; i++) part[i] = wick_build2(n->b, WICK_OP_mul, part[i], part[i]);
  wick_value y = wick_build2(n->b, WICK_OP_add, part[0], part[1]);
  if (strcmp(mode, "psd") == 0) { /* all frequencies but the first and the last count twice */
    if (n->b->status || !keras_known(n, "the number of frequencies", keras_dims(n, y)[3])) return y;
    int64_t count = keras_dims(n, y)[3].v;
    double *times = wick_new(n->c->tmp, double, (size_t)count);
    for (int64_t i = 0; i < count; i++) times[i] = i == 0 || i == count - 1 ? 1 : 2;
    wick_value table = wick_emit_table(n->b, n->name, keras_elem_of(n, y), 1, &count, times);
    return wick_build2(n->b, WICK_OP_mul, y, table);
  }
  y = wick_build1(n->b, WICK_OP_sqrt, wick_emit_by(n->b, WICK_OP_max, y, epsilon));
  if (strcmp(mode, "magnitude") == 0) return y;
  return wick_build1(n->b, WICK_OP_log, wick_emit_by(n->b, WICK_OP_max, y, epsilon));
}

void keras_stft_spectrogram(wick_import_node *n)
{
  bool last = keras_channels_last(n), apart = keras_is_true(n, "expand_dims", false);
  int64_t size = wick_import_int(n, "frame_length", 256);
  int64_t stride = wick_import_int(n, "frame_step", size / 2);
  wick_value x = n->in[0];
  if (!wick_import_rank(n, 0, 3, 3)) return;
  if (size < 1 || size > 1 << 24 || stride < 1 || stride > size) {
    wick_import_fail(n, WICK_EPARSE, "frame_length %lld and frame_step %lld do not fit",
                     (long long)size, (long long)stride);
    return;
  }
  if (last) x = wick_build_swap(n->b, x);
  if (strcmp(wick_import_text(n, "padding", "valid"), "same") == 0)
    x = spectrum_same(n, x, size, stride);
  if (n->failed || n->b->status) return;
  x = keras_windows(n, x, 2, size, stride, 1);
  x = spectrum_mode(n, x, wick_import_text(n, "mode", "log"));
  if (n->failed || n->b->status) return;
  static const int64_t order[2][2][4] = {{{0, 1, 3, 2}, {0, 1, 2, 3}},
                                         {{0, 2, 1, 3}, {0, 2, 3, 1}}};
  x = wick_build_transpose(n->b, x, 4, order[last][apart]);
  if (n->b->status) return;
  if (!apart) { /* the channels' frequencies after each other */
    const wick_dim *d = keras_dims(n, x);
    uint32_t at = last ? 2 : 1;
    wick_dim dim[3] = {d[0], d[1], d[3]};
    dim[at] = wick_dim_mul(n->c->module->dims, d[at], d[at + 1]);
    x = wick_build_reshape(n->b, x, 3, dim);
  }
  n->out[0] = x;
}

/* ---- MelSpectrogram ---- */

static float spectrum_mel(float hertz) { return 1127.0f * logf(1.0f + hertz / 700.0f); }

/* The weights [frequencies, bins]: triangles over the frequencies in mel; the first frequency has none. The
 * numbers are f32 as Keras computes them. */
static wick_value spectrum_bins(wick_import_node *n, int64_t frequencies, int64_t bins, wick_elem e)
{
  float rate = (float)wick_import_real(n, "sampling_rate", 16000);
  float low = spectrum_mel((float)wick_import_real(n, "min_freq", 20));
  float high = spectrum_mel((float)wick_import_real(n, "max_freq", (double)(int64_t)(rate / 2)));
  const int64_t dim[2] = {frequencies, bins};
  double *w = wick_new(n->c->tmp, double, (size_t)(frequencies * bins));
  float step = rate / 2 / (float)(frequencies - 1), band = (high - low) / (float)(bins + 1);
  for (int64_t i = 1; i < frequencies; i++) {
    float mel = spectrum_mel(i == frequencies - 1 ? rate / 2 : step * (float)i);
    for (int64_t k = 0; k < bins; k++) {
      float at[3];
      for (int j = 0; j < 3; j++) at[j] = k + j == bins + 1 ? high : low + band * (float)(k + j);
      float up = (mel - at[0]) / (at[1] - at[0]), down = (at[2] - mel) / (at[2] - at[1]);
      w[i * bins + k] = fmaxf(0, fminf(up, down));
    }
  }
  return wick_emit_table(n->b, n->name, e, 2, dim, w);
}

/* Powers in decibels over the reference, at most top_db below the largest of all. */
static wick_value spectrum_decibels(wick_import_node *n, wick_value x)
{
  double least = wick_import_real(n, "min_power", 1e-10), most = 10 / log(10.0);
  double reference = fmax(fabs(wick_import_real(n, "ref_power", 1)), least);
  int64_t axes[WICK_MAX_RANK];
  for (uint32_t i = 0; i < keras_rank(n, x); i++) axes[i] = i;
  x = wick_build1(n->b, WICK_OP_log, wick_emit_by(n->b, WICK_OP_max, x, least));
  x = wick_emit_by(n->b, WICK_OP_mul, x, most);
  x = wick_emit_by(n->b, WICK_OP_sub, x, 10 * log10(reference));
  if (n->b->status) return x;
  wick_value top = wick_emit_reduce(n->b, WICK_OP_reduce_max, x, keras_rank(n, x), axes, false);
  top = wick_emit_by(n->b, WICK_OP_sub, top, wick_import_real(n, "top_db", 80));
  return wick_build2(n->b, WICK_OP_max, x, top);
}

void keras_mel_spectrogram(wick_import_node *n)
{
  wick_elem own = keras_compute(n), e = own == WICK_F64 ? WICK_F64 : WICK_F32;
  int64_t bins = wick_import_int(n, "num_mel_bins", 128);
  wick_value part[2];
  if (!wick_import_rank(n, 0, 1, 2)) return;
  wick_value x = wick_build_cast(n->b, n->in[0], e);
  if (bins < 1 || bins > 1 << 16) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "num_mel_bins is %lld", (long long)bins);
    return;
  }
  if (!keras_stft(n, x, &part[0], &part[1])) return;
  for (int i = 0; i < 2; i++) part[i] = wick_build2(n->b, WICK_OP_mul, part[i], part[i]);
  x = wick_build1(n->b, WICK_OP_sqrt, wick_build2(n->b, WICK_OP_add, part[0], part[1]));
  x = wick_emit_by(n->b, WICK_OP_pow, x, wick_import_real(n, "mag_exp", 2));
  if (n->b->status) return;
  int64_t frequencies = keras_dims(n, x)[keras_rank(n, x) - 1].v; /* known: half of fft_length */
  if (frequencies < 2 || frequencies > (1 << 28) / bins) {
    wick_import_fail(n, WICK_EUNSUPPORTED,
                     "fft_length and num_mel_bins are too small or too large");
    return;
  }
  x = wick_build2(n->b, WICK_OP_matmul, x, spectrum_bins(n, frequencies, bins, e));
  if (keras_is_true(n, "power_to_db", true)) x = spectrum_decibels(n, x);
  n->out[0] = wick_build_cast(n->b, wick_build_swap(n->b, x), own);
}
