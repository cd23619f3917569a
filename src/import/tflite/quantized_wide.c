/* Functions of 16 bits: the kernels interpolate in tables of 513 numbers, or of 256 for the logistic
 * function. Each becomes one table of 2^16 results here.
 * Source: reference kernels of TensorFlow Lite. */
#include "import/tflite/quantized.h"

#include <math.h>
#include <string.h>

enum { WIDE_STEPS = 512, WIDE_MOST = INT16_MAX, WIDE_LEAST = INT16_MIN };

/* ---- 512 straight pieces ---- */

typedef double wide_function(double x, const void *arg);

typedef struct wide_curve {
  int64_t at[WIDE_STEPS + 1];
} wide_curve;

typedef struct wide_scales {
  double in, out;
  int64_t in_zero, out_zero;
  bool single; /* computed in f32 */
} wide_scales;

static double wide_real(const wide_scales *s, double x) { return s->single ? (double)(float)x : x; }

/* Each number is moved by half of the error in the middle of its piece. */
static wide_curve wide_curve_of(const wide_scales *s, wide_function *fn, const void *arg)
{
  wide_curve c;
  double least = wide_real(s, s->in * (double)(WIDE_LEAST - s->in_zero)),
         most = wide_real(s, s->in * (double)(WIDE_MOST - s->in_zero)),
         low = wide_real(s, s->out * (double)(WIDE_LEAST - s->out_zero)),
         high = wide_real(s, s->out * (double)(WIDE_MOST - s->out_zero));
  double step = wide_real(s, wide_real(s, most - least) / WIDE_STEPS),
         half = wide_real(s, step / 2), inverse = wide_real(s, 65536 / wide_real(s, high - low));
  for (int k = 0; k < WIDE_STEPS; k++) {
    double at = wide_real(s, least + wide_real(s, k * step));
    double here = wide_real(s, wide_real(s, fn(at, arg)) * inverse);
    double middle = wide_real(s, wide_real(s, fn(wide_real(s, at + half), arg)) * inverse);
    double next = wide_real(s, least + wide_real(s, (k + 1) * step));
    next = wide_real(s, wide_real(s, fn(next, arg)) * inverse);
    double between = round(wide_real(s, wide_real(s, next + round(here)) / 2));
    double error = wide_real(s, between - round(middle));
    double v = round(here) - round(wide_real(s, error / 2));
    c.at[k] = (int64_t)fmin(fmax(v, WIDE_LEAST), WIDE_MOST);
  }
  double end = round(wide_real(s, wide_real(s, fn(most, arg)) * inverse));
  c.at[WIDE_STEPS] = (int64_t)fmin(fmax(end, WIDE_LEAST), WIDE_MOST);
  return c;
}

static int64_t wide_at(const wide_curve *c, int64_t x)
{
  int64_t k = WIDE_STEPS / 2 + (x >> 7), slope = c->at[k + 1] - c->at[k];
  return c->at[k] + ((slope * (x & 127) + 64) >> 7);
}

static int64_t wide_look(const wick_tflite_unary *u, int64_t x, const void *arg)
{
  (void)u;
  return wide_at(arg, x);
}

static double wide_exp(double x, const void *single)
{
  return single ? (double)expf((float)x) : exp(x);
}

static double wide_rsqrt(double x, const void *out_scale)
{
  const float *scale = out_scale;
  if (!(x > 0)) return (double)(WIDE_MOST * *scale);
  return (double)(1.0f / sqrtf((float)x));
}

static double wide_log(double x, const void *least)
{
  const float *low = least;
  return x > 0 ? (double)logf((float)x) : (double)*low;
}

static void wide_curved(wick_import_node *n)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  wide_scales s = {x->quant.scale[0], y->quant.scale[0], x->quant.zero[0], y->quant.zero[0], true};
  float scale = (float)s.out, least = (float)(WIDE_LEAST - s.out_zero) * scale;
  const char *name = n->row->name;
  wide_curve c = strcmp(name, "EXP") == 0   ? wide_curve_of(&s, wide_exp, &scale)
                 : strcmp(name, "LOG") == 0 ? wide_curve_of(&s, wide_log, &least)
                                            : wide_curve_of(&s, wide_rsqrt, &scale);
  wick_tflite_lookup(n, wide_look, &c);
}

/* ---- LOGISTIC and TANH ---- */

typedef struct wide_squash {
  int64_t multiplier;
  int right;
  bool tanh;
} wide_squash;

/* The logistic function at k / 24, times 2^16; up to one step beside the nearest number. */
static const uint16_t wide_sigmoid[] = {
    32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794,
    41432, 42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443,
    48964, 49475, 49975, 50464, 50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374,
    54755, 55125, 55485, 55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544,
    58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279,
    61441, 61599, 61750, 61896, 62036, 62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990,
    63090, 63186, 63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835, 63903, 63968, 64030,
    64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450, 64494, 64536, 64576, 64614, 64652,
    64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900, 64926, 64950, 64974, 64997, 65019,
    65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234,
    65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337, 65345, 65352, 65360,
    65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425, 65429, 65433,
    65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474, 65476,
    65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501,
    65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516,
    65517, 65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524,
    65525, 65525, 65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529,
    65529, 65530, 65530, 65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532,
    65532, 65532, 65532, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534,
    65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65535,
};

/* tanh(x) = 2 * logistic(2 x) - 1, in the same table. */
static int64_t wide_squash_of(const wick_tflite_unary *u, int64_t x, const void *arg)
{
  const wide_squash *q = arg;
  (void)u;
  int bits = q->tanh ? 8 : 9;
  int64_t v = (x * q->multiplier + (q->right > 0 ? (int64_t)1 << (q->right - 1) : 0)) >> q->right;
  int64_t size = v < 0 ? -v : v, k = size >> bits, part = size & (((int64_t)1 << bits) - 1), y;
  if (k >= 255)
    y = q->tanh ? 0xFFFF << 8 : 0x7FFF << 10;
  else
    y = wide_sigmoid[k] * ((int64_t)1 << bits) + part * (wide_sigmoid[k + 1] - wide_sigmoid[k]);
  if (q->tanh) return (v >= 0 ? y - (1 << 23) + (1 << 7) : -y + (1 << 23) + (1 << 7) - 1) >> 8;
  return (v >= 0 ? y + (1 << 9) : (1 << 25) - y + (1 << 9) - 1) >> 10;
}

/* Inputs with the scale of three integer bits (and for tanh, of twice that) are shifted only. */
static void wide_squashed(wick_import_node *n)
{
  wide_squash q = {.tanh = n->row->op == WICK_OP_tanh};
  double scale = wick_tflite_in(n, 0)->quant.scale[0], multiplier = scale * 4096 * 3;
  int exponent;
  bool power = frexp(scale, &exponent) == 0.5;
  int left = 12 + exponent - 1;
  if (power && (left == 0 || (q.tanh && left == 1))) {
    q.multiplier = (int64_t)3 << left;
  } else {
    while (multiplier <= 32767.0 / 2 && q.right <= 30) multiplier *= 2, q.right++;
    q.multiplier = multiplier < INT32_MAX ? (int32_t)multiplier : INT32_MAX;
  }
  wick_tflite_lookup(n, wide_squash_of, &q);
}

bool wick_tflite_quantized_wide(wick_import_node *n)
{
  static const struct {
    const char *name;
    void (*fn)(wick_import_node *n);
  } rows[] = {{"EXP", wide_curved},
              {"LOG", wide_curved},
              {"LOGISTIC", wide_squashed},
              {"RSQRT", wide_curved},
              {"TANH", wide_squashed}};
  if (wick_tflite_in(n, 0)->elem != WICK_I16 || wick_tflite_out(n, 0)->elem != WICK_I16)
    return false;
  for (size_t i = 0; i < WICK_COUNT(rows); i++)
    if (strcmp(rows[i].name, n->row->name) == 0) {
      rows[i].fn(n);
      return true;
    }
  return false;
}

/* ---- SOFTMAX ---- */

static double wide_reciprocal(double x, const void *arg)
{
  (void)arg;
  return 1 / (1 + x);
}

/* x, numbers of 16 bits in i32, looked up in the curve; the result is i64. */
static wick_value wide_curve_look(wick_import_node *n, wick_value x, const wide_curve *c)
{
  int64_t dim = 1 << 16;
  int16_t *table = wick_new(n->c->tmp, int16_t, (size_t)dim);
  for (int64_t k = 0; k < dim; k++) table[k] = (int16_t)wide_at(c, k + WIDE_LEAST);
  wick_value all =
      wick_import_copied(n->c, n->name, WICK_I16, 1, &dim, table, (uint64_t)dim * sizeof *table);
  x = wick_tflite_clip(n->b, x, WIDE_LEAST, WIDE_MOST);
  x = wick_emit_by(n->b, WICK_OP_sub, x, WIDE_LEAST);
  x = wick_emit_gather(n->b, WICK_OP_gather, all, x, 0);
  return n->b->status ? x : wick_build_cast(n->b, x, WICK_I64);
}

/* exp of differences to the largest, scaled so that -10 is -65535; the reciprocal of their sum. */
void wick_tflite_softmax_wide(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wide_scales from = {10.0 / 65535, 2.0 / 65535, WIDE_MOST, 0, false},
                    over = {1.0 / 65535, 2.0 / 65535, WIDE_LEAST, 0, false};
  wide_curve e = wide_curve_of(&from, wide_exp, NULL),
             r = wide_curve_of(&over, wide_reciprocal, NULL);
  double beta = (double)(float)wick_tflite_f32(n, 0);
  wick_fixed f = wick_fixed_of(wick_tflite_in(n, 0)->quant.scale[0] * beta / (10.0 / 65535));
  wick_value x = wick_build_cast(b, n->in[0], WICK_I32);
  x = wick_build2(b, WICK_OP_sub, x, wick_emit_reduce1(b, WICK_OP_reduce_max, x, -1, true));
  x = wick_emit_by(b, WICK_OP_add, wick_fixed_mul(b, x, 1, &f), WIDE_MOST);
  x = wide_curve_look(n, x, &e);
  wick_value sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, x, -1, true);
  wick_value zeros = wick_fixed_zeros(b, sum);
  wick_value whole =
      wick_build2(b, WICK_OP_shift_left, sum, wick_emit_by(b, WICK_OP_sub, zeros, 1));
  whole = wick_emit_by(b, WICK_OP_shift_right, wick_emit_by(b, WICK_OP_add, whole, 1 << 13), 14);
  whole = wick_emit_by(b, WICK_OP_sub, whole, (1 << 15) + (1 << 16));
  wick_value by = wide_curve_look(n, whole, &r);
  wick_value one = wick_emit_number(b, zeros, 1), most = wick_emit_number(b, zeros, 31);
  wick_value right = wick_build2(b, WICK_OP_sub, most, zeros);
  wick_value half = wick_build2(b, WICK_OP_shift_left, one, wick_emit_by(b, WICK_OP_sub, right, 1));
  x = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, x, by), half);
  x = wick_build2(b, WICK_OP_shift_right, x, right);
  n->out[0] = wick_fixed_end(b, x, 0, 0, WIDE_MOST, WICK_I16);
}
