/* Custom operators on sound: spectrograms, and the cepstrum on the mel scale.
 * Source: spectrogram.cc, mfcc_mel_filterbank.cc and mfcc_dct.cc of LiteRT. */
#include <math.h>

#include "import/kit/dft.h"
#include "import/tflite/flex.h"
#include "import/tflite/quantized.h"

enum { AUDIO_WINDOW = 1 << 20, AUDIO_CHANNELS = 1 << 12, AUDIO_TABLE = 1 << 24 };

static const double audio_pi = 3.14159265358979323846;

/* An option from `least` to `most`; the kernels take its integer part. Returns false after a
 * failure. */
static bool audio_option(wick_import_node *n, const char *name, double least, double most,
                         double *out)
{
  *out = 0;
  wick_flex_number(wick_tflite_op_of(n)->custom, name, out);
  *out = trunc(*out);
  if (*out >= least && *out <= most) return true;
  wick_import_fail(n, WICK_ERANGE, "its option %s is %g, expected %g to %g", name, *out, least,
                   most);
  return false;
}

/* ---- spectrograms ---- */

/* The indices [frames, window] of the samples of each frame. */
static wick_value audio_frames(wick_import_node *n, int64_t frames, int64_t window, int64_t stride)
{
  wick_builder *b = n->b;
  wick_value begin = wick_emit_count(b, wick_dim_const(frames));
  begin = wick_emit_by(b, WICK_OP_mul, begin, (double)stride);
  wick_value at = wick_emit_count(b, wick_dim_const(window));
  return wick_build2(b, WICK_OP_add, wick_emit_unsqueeze(b, begin, 1), at);
}

/* x [channels, samples] as windows [channels, frames, window], times a Hann window. */
static wick_value audio_windows(wick_import_node *n, wick_value x, int64_t frames, int64_t window,
                                int64_t stride)
{
  double *hann = wick_new(n->c->tmp, double, (size_t)window);
  for (int64_t i = 0; i < window; i++)
    hann[i] = 0.5 - 0.5 * cos(2 * audio_pi * (double)i / (double)window);
  wick_value at = audio_frames(n, frames, window, stride);
  x = wick_emit_gather(n->b, WICK_OP_gather, x, at, 1);
  return wick_build2(n->b, WICK_OP_mul, x,
                     wick_emit_table(n->b, n->name, WICK_F64, 1, &window, hann));
}

static void audio_spectrogram(wick_import_node *n)
{
  wick_builder *b = n->b;
  double window, stride, squared;
  if (!wick_import_rank(n, 0, 2, 2) || !audio_option(n, "window_size", 2, AUDIO_WINDOW, &window) ||
      !audio_option(n, "stride", 1, 1 << 30, &stride) ||
      !audio_option(n, "magnitude_squared", 0, 1, &squared))
    return;
  const wick_dim *size = wick_import_info(n, 0)->dim;
  wick_dim samples = size[0], channels = size[1];
  if (!wick_dim_is_const(samples) || (double)samples.v < window) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the number of samples must be known, and at least %g",
                     window);
    return;
  }
  int64_t frames = 1 + (samples.v - (int64_t)window) / (int64_t)stride, length = 2;
  while (length < (int64_t)window) length *= 2;
  wick_value x = wick_build_swap(b, wick_build_cast(b, n->in[0], WICK_F64));
  x = audio_windows(n, x, frames, (int64_t)window, (int64_t)stride);
  wick_dim lines = wick_dim_mul(n->c->module->dims, channels, wick_dim_const(frames));
  const wick_dim flat[] = {wick_dim_const(1), lines, wick_dim_const((int64_t)window)};
  x = wick_dft(b, n->c->tmp, n->name, wick_build_reshape(b, x, 3, flat), length, false);
  x = wick_emit_slice(b, x, 1, wick_dim_const(0), wick_dim_const(length / 2 + 1));
  x = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, x, x), 0, false);
  x = wick_build_swap(b, x);
  const wick_dim dim[] = {channels, wick_dim_const(frames), wick_dim_const(length / 2 + 1)};
  x = wick_build_reshape(b, x, 3, dim);
  if (b->status) return;
  x = wick_build_cast(b, x, WICK_F32);
  n->out[0] = squared != 0 ? x : wick_build1(b, WICK_OP_sqrt, x);
}

/* ---- the mel scale ---- */

typedef struct audio_mel {
  double rate, lower, upper; /* hertz */
  int64_t bins, channels;
} audio_mel;

static double audio_mel_of(double hertz) { return 1127 * log1p(hertz / 700); }

/* The weights [bins, channels]: each bin is divided between two neighbouring channels. */
static wick_value audio_filters(wick_import_node *n, const audio_mel *m)
{
  const int64_t dim[] = {m->bins, m->channels};
  double *w = wick_new(n->c->tmp, double, (size_t)(m->bins * m->channels));
  double low = audio_mel_of(m->lower),
         spacing = (audio_mel_of(m->upper) - low) / (double)(m->channels + 1),
         hertz = 0.5 * m->rate / (double)(m->bins - 1);
  double first = trunc(1.5 + m->lower / hertz), last = trunc(m->upper / hertz);
  int64_t channel = 0; /* the first whose centre is not below the bin */
  for (int64_t i = 0; i < m->bins; i++) {
    double mel = audio_mel_of((double)i * hertz);
    if ((double)i < first || (double)i > last) continue;
    while (channel < m->channels && low + spacing * (double)(channel + 1) < mel) channel++;
    double share = (low + spacing * (double)(channel + 1) - mel) / spacing;
    if (channel) w[i * m->channels + channel - 1] = share;
    if (channel < m->channels) w[i * m->channels + channel] = 1 - share;
  }
  return wick_emit_table(n->b, n->name, WICK_F64, 2, dim, w);
}

static wick_value audio_cosines(wick_import_node *n, int64_t from, int64_t to)
{
  const int64_t dim[] = {from, to};
  double *w = wick_new(n->c->tmp, double, (size_t)(from * to));
  for (int64_t j = 0; j < from; j++)
    for (int64_t i = 0; i < to; i++)
      w[j * to + i] =
          sqrt(2 / (double)from) * cos((double)i * audio_pi / (double)from * ((double)j + 0.5));
  return wick_emit_table(n->b, n->name, WICK_F64, 2, dim, w);
}

static bool audio_mel_read(wick_import_node *n, audio_mel *m, double *coefficients)
{
  double channels;
  uint32_t count;
  const wick_dim *rate;
  if (!wick_import_rank(n, 0, 3, 3) ||
      !audio_option(n, "lower_frequency_limit", 0, 1e9, &m->lower) ||
      !audio_option(n, "upper_frequency_limit", 0, 1e9, &m->upper) ||
      !audio_option(n, "filterbank_channel_count", 1, AUDIO_CHANNELS, &channels) ||
      !audio_option(n, "dct_coefficient_count", 1, channels, coefficients) ||
      !wick_import_dims(n, 1, "the sample rate", &count, &rate))
    return false;
  wick_dim bins = wick_import_info(n, 0)->dim[2];
  if (count != 1 || !wick_dim_is_const(rate[0]) || rate[0].v < 1 || !wick_dim_is_const(bins) ||
      bins.v < 2 || (double)bins.v > AUDIO_TABLE / channels || m->upper <= m->lower) {
    wick_import_fail(n, WICK_ETYPE,
                     "it needs a known sample rate, two bins or more, and an upper limit above the "
                     "lower one");
    return false;
  }
  m->rate = (double)rate[0].v, m->bins = bins.v, m->channels = (int64_t)channels;
  return true;
}

static void audio_mfcc(wick_import_node *n)
{
  wick_builder *b = n->b;
  audio_mel m;
  double coefficients;
  if (!audio_mel_read(n, &m, &coefficients)) return;
  wick_value x = wick_build1(b, WICK_OP_sqrt, wick_build_cast(b, n->in[0], WICK_F64));
  x = wick_build2(b, WICK_OP_matmul, x, audio_filters(n, &m));
  x = wick_build1(b, WICK_OP_log, wick_emit_by(b, WICK_OP_max, x, 1e-12));
  x = wick_build2(b, WICK_OP_matmul, x, audio_cosines(n, m.channels, (int64_t)coefficients));
  if (!b->status) n->out[0] = wick_build_cast(b, x, WICK_F32);
}

const wick_import_op wick_tflite_audio_ops[] = {
    {"AudioSpectrogram", 1, {1, 1}, 1, NULL, audio_spectrogram, WICK_OP_none, 0, "float32", NULL},
    {"Mfcc", 1, {2, 2}, 1, NULL, audio_mfcc, WICK_OP_none, 0, "float32", NULL},
    {0},
};
