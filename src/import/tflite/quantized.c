/* Element-wise operators on quantized tensors.
 *
 * A function of one operand of 8 bits has 256 results: they are computed here, by the kernel's own
 * arithmetic, and the node becomes a look-up. Source: reference kernels of TensorFlow Lite. */
#include "import/tflite/quantized.h"

#include "import/tflite/fixed_math.h"
#include "ir/element.h"

#include <math.h>
#include <string.h>

bool wick_tflite_is_quantized(const wick_tflite_tensor *t)
{
  return t->quant.n && wick_elem_is_int(t->elem) && t->elem != WICK_I64;
}

void wick_tflite_limits(wick_elem e, int64_t *lo, int64_t *hi)
{
  uint32_t bits = wick_elem_storage[e].bits;
  bool sign = wick_elem_class(e) == WICK_SINT;
  *lo = !sign ? 0 : bits < 64 ? -((int64_t)1 << (bits - 1)) : INT64_MIN;
  *hi = bits < 64 ? ((int64_t)1 << (bits - sign)) - 1 : INT64_MAX;
}

static int64_t quantized_clamp(double v, int64_t lo, int64_t hi)
{
  return !(v > (double)lo) ? lo : v >= (double)hi ? hi : (int64_t)v;
}

void wick_tflite_range(wick_import_node *n, int64_t act, int64_t *lo, int64_t *hi)
{
  const wick_tflite_tensor *y = wick_tflite_out(n, 0);
  int64_t zero = y->quant.n ? y->quant.zero[0] : 0;
  float scale = y->quant.n ? (float)y->quant.scale[0] : 1;
  wick_tflite_limits(y->elem, lo, hi);
  double least = act == 2 ? -1 : 0, most = act == 2 ? 1 : 6;
  if (act == 1 || act == 2 || act == 3)
    *lo = wick_max_i64(
        *lo, zero + quantized_clamp((double)roundf((float)least / scale), INT32_MIN, INT32_MAX));
  if (act == 2 || act == 3)
    *hi = wick_min_i64(
        *hi, zero + quantized_clamp((double)roundf((float)most / scale), INT32_MIN, INT32_MAX));
  if (act > 3)
    wick_import_fail(n, WICK_EUNSUPPORTED, "the fused activation %lld is not supported",
                     (long long)act);
}

wick_value wick_tflite_zero(wick_import_node *n, uint32_t i)
{
  const wick_tflite_tensor *t = wick_tflite_in(n, i);
  if (!wick_tflite_is_quantized(t) || !t->quant.zero[0]) return (wick_value){0};
  return wick_emit_number(n->b, n->in[i], (double)t->quant.zero[0]);
}

/* Operand i without its zero point, in i32. */
static wick_value quantized_centre(wick_import_node *n, uint32_t i)
{
  const wick_tflite_tensor *t = wick_tflite_in(n, i);
  wick_value x = wick_build_cast(n->b, n->in[i], WICK_I32);
  return t->quant.zero[0] ? wick_emit_by(n->b, WICK_OP_sub, x, (double)t->quant.zero[0]) : x;
}

/* Operand i without its zero point is in [-2^bits, 2^bits). */
static int quantized_bits(const wick_import_node *n, uint32_t i)
{
  const wick_tflite_tensor *t = wick_tflite_in(n, i);
  int64_t lo, hi, zero = t->quant.zero[0];
  int bits = 0;
  wick_tflite_limits(t->elem, &lo, &hi);
  while (bits < 31 && (hi - zero >= (int64_t)1 << bits || lo - zero < -((int64_t)1 << bits)))
    bits++;
  return bits;
}

/* Operand i without its zero point, times 2^left * f. */
static wick_value quantized_left(wick_import_node *n, uint32_t i, int left, wick_fixed f)
{
  return wick_fixed_mul_left(n->b, quantized_centre(n, i), quantized_bits(n, i), left, f);
}

static double quantized_scale(const wick_tflite_tensor *t) { return t->quant.scale[0]; }

/* ---- functions of one operand ---- */

void wick_tflite_lookup(wick_import_node *n, wick_tflite_function *fn, const void *arg)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  wick_tflite_unary u = {.in_scale = quantized_scale(x),
                         .out_scale = y->quant.n ? quantized_scale(y) : 1,
                         .in_zero = x->quant.zero[0],
                         .out_zero = y->quant.n ? y->quant.zero[0] : 0};
  int64_t least, most;
  wick_tflite_limits(x->elem, &least, &most);
  int64_t dim = most - least + 1;
  wick_tflite_limits(y->elem, &u.lo, &u.hi);
  size_t nbytes = (size_t)wick_elem_bytes(y->elem, (uint64_t)dim);
  void *table = wick_arena_alloc(n->c->tmp, nbytes + 64, 64);
  for (int64_t k = 0; k < dim; k++) { /* an element's bits, without a sign, are its index */
    int64_t v = fn(&u, k > most ? k - dim : k, arg);
    v = v < u.lo ? u.lo : v > u.hi ? u.hi : v;
    wick_store_elem(y->elem, table, (uint64_t)k, (wick_scalar){.i = v});
  }
  wick_value all = wick_import_copied(n->c, n->name, y->elem, 1, &dim, table, nbytes);
  wick_value index = wick_build_cast(n->b, n->in[0], dim > UINT8_MAX + 1 ? WICK_U16 : WICK_U8);
  if (dim <= UINT8_MAX) index = wick_emit_by(n->b, WICK_OP_bit_and, index, (double)(dim - 1));
  n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, all, index, 0);
}

typedef struct quantized_real {
  const char *name;
  float (*fn)(float);
  bool truncates; /* where the others round */
} quantized_real;

static int64_t quantized_of_real(const wick_tflite_unary *u, int64_t x, const void *arg)
{
  const quantized_real *r = arg;
  float inverse = 1 / (float)u->out_scale;
  float v = r->fn((float)u->in_scale * (float)(x - u->in_zero));
  float scaled = r->truncates ? truncf(v * inverse) : roundf(v * inverse);
  return quantized_clamp((double)(scaled + (float)u->out_zero), u->lo, u->hi);
}

static float real_logistic(float x) { return 1.0f / (1.0f + expf(-x)); }
static float real_elu(float x) { return x < 0 ? expm1f(x) : x; }
static float real_gelu(float x) { return 0.5f * x * (1 + erff(x * 0.70710678118654752440f)); }
static float real_gelu_tanh(float x)
{
  return 0.5f * x * (1 + tanhf(0.79788456080286535588f * (x + 0.044715f * x * x * x)));
}

static const quantized_real quantized_reals[] = {
    {"ELU", real_elu, false}, {"EXP", expf, false},
    {"LOG", logf, false},     {"LOGISTIC", real_logistic, false},
    {"SQRT", sqrtf, true},    {"TANH", tanhf, false},
    {"SIN", sinf, false},     {"COS", cosf, false},
};

static int64_t quantized_rescale_of(const wick_tflite_unary *u, int64_t x, const void *arg)
{
  const wick_fixed *f = arg;
  return wick_fixed_number(x - u->in_zero, *f) + u->out_zero;
}

static int64_t quantized_leaky_of(const wick_tflite_unary *u, int64_t x, const void *arg)
{
  const wick_fixed *f = arg; /* identity, alpha */
  int64_t v = x - u->in_zero;
  return wick_fixed_number(v, f[v < 0]) + u->out_zero;
}

static int64_t quantized_abs_of(const wick_tflite_unary *u, int64_t x, const void *arg)
{
  const wick_fixed *f = arg;
  int64_t v = x - u->in_zero;
  v = v < 0 ? -v : v;
  return (u->in_scale == u->out_scale ? v : wick_fixed_number(v, *f)) + u->out_zero;
}

static int64_t quantized_rsqrt_of(const wick_tflite_unary *u, int64_t x, const void *arg)
{
  enum { SHIFT = 20 }; /* keeps the root an integer */
  const wick_fixed *f = arg;
  int right;
  int64_t v = x - u->in_zero;
  if (v <= 0) return u->hi;
  wick_fixed root = {.multiplier = (int32_t)wick_fixed_inverse_root(v, &right)};
  root.shift = SHIFT - right;
  int64_t y = wick_fixed_number(1, root);
  return wick_fixed_number(y, (wick_fixed){f->multiplier, f->shift - SHIFT}) + u->out_zero;
}

/* ---- HARD_SWISH: 16-bit steps ---- */

typedef struct quantized_swish {
  int32_t out, reluish; /* multipliers of 15 bits */
  int out_exponent, reluish_exponent;
} quantized_swish;

static int32_t swish_saturate(int64_t v)
{
  return v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : (int32_t)v;
}

/* The high half of the doubled product, rounded to the nearest, or towards 0. */
static int32_t swish_high(int32_t a, int32_t b, bool rounds)
{
  int32_t ab = a * b, nudge = !rounds ? 0 : ab >= 0 ? 1 << 14 : 1 - (1 << 14);
  return a == b && a == INT16_MIN ? INT16_MAX : (ab + nudge) / (1 << 15);
}

/* LiteRT's mask for the remainder has 16 bits: beyond these, what should round to 0 is off by one. */
static int32_t swish_divide(int32_t x, int exponent)
{
  enum { BITS = 16 };
  if (exponent <= 0) return x;
  if (exponent >= BITS) return x < 0 ? -1 : 1;
  return (x + (1 << (exponent - 1)) - (x < 0)) >> exponent;
}

static int64_t quantized_swish_of(const wick_tflite_unary *u, int64_t x, const void *arg)
{
  const quantized_swish *s = arg;
  int32_t wide = (int16_t)((x - u->in_zero) * 128);
  int32_t scaled = swish_high(wide, s->out, true), gate = wide;
  if (s->reluish_exponent > 0)
    gate = swish_saturate((int64_t)gate * ((int64_t)1 << (s->reluish_exponent - 1)));
  gate = swish_high(gate, s->reluish, true);
  if (s->reluish_exponent > 0) gate = swish_saturate((int64_t)gate * 2);
  if (s->reluish_exponent < 0) gate = swish_divide(gate, -s->reluish_exponent);
  gate = (gate + (1 << 15)) >> 1;
  int32_t y = swish_high(gate, scaled, false);
  return swish_divide(y, -s->out_exponent) + u->out_zero;
}

static int32_t swish_narrow(int32_t multiplier)
{
  return multiplier >= INT32_MAX - (1 << 15) ? INT16_MAX : (multiplier + (1 << 15)) >> 16;
}

static void quantized_hard_swish(wick_import_node *n)
{
  float in = (float)quantized_scale(wick_tflite_in(n, 0)),
        out = (float)quantized_scale(wick_tflite_out(n, 0));
  float fine = 1.0f / 128 * in;
  wick_fixed y = wick_fixed_of((double)(fine / out)),
             gate = wick_fixed_of((double)(fine / (3.0f / 32768)));
  quantized_swish s = {swish_narrow(y.multiplier), swish_narrow(gate.multiplier), y.shift,
                       gate.shift};
  if (y.shift > 0 || gate.shift > 31) {
    wick_import_fail(n, WICK_ERANGE, "its scales %g and %g are too different", (double)in,
                     (double)out);
    return;
  }
  wick_tflite_lookup(n, quantized_swish_of, &s);
}

/* ---- activations that clamp ---- */

/* In 16 bits too, by arithmetic. */
static void quantized_clamped(wick_import_node *n, double least, double most)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  wick_fixed f = wick_fixed_of((double)((float)x->quant.scale[0] / (float)y->quant.scale[0]));
  int64_t lo, hi, zero = y->quant.zero[0];
  float scale = (float)y->quant.scale[0];
  wick_tflite_limits(y->elem, &lo, &hi);
  lo = wick_max_i64(
      lo, zero + quantized_clamp((double)roundf((float)least / scale), INT32_MIN, INT32_MAX));
  if (!isinf(most))
    hi = wick_min_i64(
        hi, zero + quantized_clamp((double)roundf((float)most / scale), INT32_MIN, INT32_MAX));
  wick_value v = wick_fixed_mul(n->b, quantized_centre(n, 0), 1, &f);
  n->out[0] = wick_fixed_end(n->b, v, zero, lo, hi, y->elem);
}

static void quantized_leaky(wick_import_node *n)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  float in = (float)x->quant.scale[0], out = (float)y->quant.scale[0],
        alpha = (float)wick_tflite_f32(n, 0);
  wick_fixed f[2] = {wick_fixed_of((double)(in / out)), wick_fixed_of((double)(in * alpha / out))};
  if (alpha < 0) {
    f[1] = wick_fixed_of((double)(in * -alpha / out));
    f[1].multiplier = -f[1].multiplier;
  }
  if (x->elem != WICK_I16) {
    wick_tflite_lookup(n, quantized_leaky_of, f);
    return;
  }
  wick_builder *b = n->b;
  int64_t lo, hi;
  wick_tflite_limits(y->elem, &lo, &hi);
  wick_value v = quantized_centre(n, 0), zero = wick_emit_number(b, v, 0);
  wick_value below = wick_build2(b, WICK_OP_lt, v, zero);
  wick_value up = wick_fixed_mul(b, v, 1, &f[0]), down = wick_fixed_mul(b, v, 1, &f[1]);
  v = wick_build3(b, WICK_OP_where, below, down, up);
  n->out[0] = wick_fixed_end(b, v, y->quant.zero[0], lo, hi, y->elem);
}

/* ---- two operands ---- */

/* The operands in a common scale: shifted left, times scale / (2 * the larger scale). */
static void quantized_common(wick_import_node *n, int left, wick_value *a, wick_value *b,
                             double *out_twice)
{
  double s0 = quantized_scale(wick_tflite_in(n, 0)), s1 = quantized_scale(wick_tflite_in(n, 1));
  double twice = 2 * (s0 > s1 ? s0 : s1);
  wick_fixed f[2] = {wick_fixed_of(s0 / twice), wick_fixed_of(s1 / twice)};
  wick_value v[2];
  for (uint32_t k = 0; k < 2; k++) v[k] = quantized_left(n, k, left, f[k]);
  *a = v[0], *b = v[1], *out_twice = twice;
}

/* Of 16 bits with scales that are powers of two: one operand is shifted to the other's scale. */
static bool quantized_add_shifted(wick_import_node *n, wick_opcode op, int64_t lo, int64_t hi)
{
  double out = quantized_scale(wick_tflite_out(n, 0));
  wick_value v[2];
  if (wick_tflite_in(n, 0)->elem != WICK_I16 ||
      !wick_flat_uint(wick_tflite_op_of(n)->options, 1, 1, 1))
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    int exponent;
    double ratio = quantized_scale(wick_tflite_in(n, k)) / out;
    if (frexp(ratio, &exponent) != 0.5 || exponent > 1 || exponent < -14) return false;
    v[k] = wick_build_cast(n->b, n->in[k], WICK_I64);
    v[k] = wick_fixed_divide(n->b, v[k], 1 - exponent);
  }
  n->out[0] = wick_fixed_end(n->b, wick_build2(n->b, op, v[0], v[1]), 0, lo, hi, WICK_I16);
  return true;
}

static void quantized_add(wick_import_node *n)
{
  const wick_tflite_tensor *y = wick_tflite_out(n, 0);
  wick_opcode op = n->row->op;
  int left = wick_tflite_in(n, 0)->elem == WICK_I16 ? 15 : 20;
  int64_t lo, hi;
  double twice;
  wick_value a, b;
  wick_tflite_range(n, wick_tflite_byte(n, 0), &lo, &hi);
  if (quantized_add_shifted(n, op, lo, hi)) return;
  quantized_common(n, left, &a, &b, &twice);
  wick_fixed f = wick_fixed_of(twice / ((double)((int64_t)1 << left) * quantized_scale(y)));
  /* each is at most half of what is shifted */
  int bits = left + (int)wick_max_i64(quantized_bits(n, 0), quantized_bits(n, 1));
  wick_value sum = wick_fixed_mul_below(n->b, wick_build2(n->b, op, a, b), bits, f);
  n->out[0] = wick_fixed_end(n->b, sum, y->quant.zero[0], lo, hi, y->elem);
}

static void quantized_mul(wick_import_node *n)
{
  const wick_tflite_tensor *y = wick_tflite_out(n, 0);
  int64_t lo, hi;
  double s0 = quantized_scale(wick_tflite_in(n, 0)), s1 = quantized_scale(wick_tflite_in(n, 1));
  wick_fixed f = wick_fixed_of((double)((float)s0 * (float)s1 / (float)quantized_scale(y)));
  wick_tflite_range(n, wick_tflite_byte(n, 0), &lo, &hi);
  wick_value a = quantized_centre(n, 0), b = quantized_centre(n, 1);
  int bits = quantized_bits(n, 0) + quantized_bits(n, 1);
  wick_value v = wick_fixed_mul_below(n->b, wick_build2(n->b, WICK_OP_mul, a, b), bits, f);
  n->out[0] = wick_fixed_end(n->b, v, y->quant.zero[0], lo, hi, y->elem);
}

static void quantized_squared_difference(wick_import_node *n)
{
  enum { LEFT = 7 };
  const wick_tflite_tensor *y = wick_tflite_out(n, 0);
  int64_t lo, hi;
  double twice;
  wick_value a, b;
  wick_tflite_limits(y->elem, &lo, &hi);
  quantized_common(n, LEFT, &a, &b, &twice);
  wick_fixed f = wick_fixed_of(twice * twice / ((double)(1 << 2 * LEFT) * quantized_scale(y)));
  wick_value d = wick_build2(n->b, WICK_OP_sub, a, b);
  d = wick_fixed_mul(n->b, wick_build2(n->b, WICK_OP_mul, d, d), 1, &f);
  n->out[0] = wick_fixed_end(n->b, d, y->quant.zero[0], lo, hi, y->elem);
}

static void quantized_compare(wick_import_node *n)
{
  enum { LEFT = 8 };
  wick_value v[2];
  for (uint32_t k = 0; k < 2; k++) {
    wick_fixed f = wick_fixed_of(quantized_scale(wick_tflite_in(n, k)));
    v[k] = quantized_left(n, k, LEFT, f);
  }
  n->out[0] = wick_build2(n->b, n->row->op, v[0], v[1]);
}

static void quantized_prelu(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *y = wick_tflite_out(n, 0);
  double in = quantized_scale(wick_tflite_in(n, 0)), slope = quantized_scale(wick_tflite_in(n, 1)),
         out = quantized_scale(y);
  wick_fixed same = wick_fixed_of((double)((float)in / (float)out)),
             low = wick_fixed_of((double)((float)in * (float)slope / (float)out));
  int64_t lo, hi;
  wick_tflite_limits(y->elem, &lo, &hi);
  wick_value x = quantized_centre(n, 0), alpha = quantized_centre(n, 1);
  wick_value positive = wick_build2(b, WICK_OP_ge, x, wick_emit_number(b, x, 0));
  wick_value up = wick_fixed_mul(b, x, 1, &same);
  wick_value down = wick_fixed_mul(b, wick_build2(b, WICK_OP_mul, x, alpha), 1, &low);
  x = wick_build3(b, WICK_OP_where, positive, up, down);
  n->out[0] = wick_fixed_end(b, x, y->quant.zero[0], lo, hi, y->elem);
}

/* ---- DIV ---- */

/* A table with a number for each value of operand i, looked up. */
static wick_value quantized_table(wick_import_node *n, uint32_t i, const int64_t *table)
{
  int64_t dim = 256, least, most;
  wick_tflite_limits(wick_tflite_in(n, i)->elem, &least, &most);
  wick_value all = wick_import_copied(n->c, n->name, WICK_I64, 1, &dim, table, sizeof *table * 256);
  wick_value at = wick_build_cast(n->b, n->in[i], WICK_I32);
  if (least) at = wick_emit_by(n->b, WICK_OP_sub, at, (double)least);
  return wick_emit_gather(n->b, WICK_OP_gather, all, at, 0);
}

static int quantized_zeros(int64_t x) /* leading, of 32 bits */
{
  int n = 0;
  while (n < 32 && !(x >> (31 - n) & 1)) n++;
  return n;
}

/* The reciprocal of the divisor and both operands' shifts are tables of the operand. The room of x is
 * that of -x where the divisor is negative. */
static void quantized_div(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *d = wick_tflite_in(n, 1),
                           *y = wick_tflite_out(n, 0);
  int64_t centred[256], room[256], turned[256], inverse[256], shift[256], least, most, lo, hi;
  wick_fixed f = wick_fixed_of((double)((float)quantized_scale(x) /
                                        ((float)quantized_scale(d) * (float)quantized_scale(y))));
  wick_tflite_limits(x->elem, &least, &most);
  for (int64_t k = 0; k < 256; k++) {
    int64_t v = least + k - x->quant.zero[0], w = least + k - d->quant.zero[0];
    int zeros = quantized_zeros(w < 0 ? -w : w);
    centred[k] = v;
    room[k] = quantized_zeros(v < 0 ? ~v : v) - 1;
    turned[k] = quantized_zeros(-v < 0 ? ~-v : -v) - 1;
    shift[k] = 31 - zeros;
    inverse[k] = 0; /* a divisor of 0 is undefined */
    if (w)
      inverse[k] = wick_fixed_reciprocal(
          (int64_t)(((uint64_t)(w < 0 ? -w : w) << zeros) - ((uint64_t)1 << 31)), 32);
    if (w < 0) inverse[k] = -inverse[k];
  }
  wick_tflite_range(n, wick_tflite_byte(n, 0), &lo, &hi);
  wick_value by = quantized_table(n, 1, inverse);
  wick_value negative = wick_build2(b, WICK_OP_lt, by, wick_emit_number(b, by, 0));
  wick_value other = quantized_table(n, 0, turned), own = quantized_table(n, 0, room);
  wick_value left = wick_build3(b, WICK_OP_where, negative, other, own);
  wick_value right = wick_build2(b, WICK_OP_add, left, quantized_table(n, 1, shift));
  right = wick_emit_by(b, WICK_OP_sub, right, f.shift);
  wick_value v = wick_build2(b, WICK_OP_shift_left, quantized_table(n, 0, centred), left);
  v = wick_build2(b, WICK_OP_mul, v, by);
  v = wick_emit_by(b, WICK_OP_add, v, 1073741824);
  v = wick_emit_by(b, WICK_OP_shift_right, v, 31);
  wick_fixed unshifted = {f.multiplier, 0};
  v = wick_fixed_mul(b, v, 1, &unshifted);
  v = wick_fixed_divide_by(b, v, right);
  n->out[0] = wick_fixed_end(b, v, y->quant.zero[0], lo, hi, y->elem);
}

/* ---- the table ---- */

static bool quantized_unary_real(wick_import_node *n)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0);
  if (wick_elem_storage[x->elem].bits != 8) return false;
  for (size_t i = 0; i < WICK_COUNT(quantized_reals); i++)
    if (strcmp(quantized_reals[i].name, n->row->name) == 0) {
      wick_tflite_lookup(n, quantized_of_real, &quantized_reals[i]);
      return true;
    }
  if (strcmp(n->row->name, "GELU") == 0) {
    const quantized_real r = {"", wick_tflite_byte(n, 0) ? real_gelu_tanh : real_gelu, false};
    wick_tflite_lookup(n, quantized_of_real, &r);
    return true;
  }
  return false;
}

static void quantized_abs(wick_import_node *n)
{
  wick_fixed f = wick_fixed_of((double)((float)quantized_scale(wick_tflite_in(n, 0)) /
                                        (float)quantized_scale(wick_tflite_out(n, 0))));
  wick_tflite_lookup(n, quantized_abs_of, &f);
}

static void quantized_rsqrt(wick_import_node *n)
{
  float root = sqrtf((float)quantized_scale(wick_tflite_in(n, 0)));
  wick_fixed f = wick_fixed_of(1 / (double)(root * (float)quantized_scale(wick_tflite_out(n, 0))));
  wick_tflite_lookup(n, quantized_rsqrt_of, &f);
}

static void quantized_relu(wick_import_node *n) { quantized_clamped(n, 0, INFINITY); }
static void quantized_relu6(wick_import_node *n) { quantized_clamped(n, 0, 6); }
static void quantized_relu1(wick_import_node *n) { quantized_clamped(n, -1, 1); }
static void quantized_relu01(wick_import_node *n) { quantized_clamped(n, 0, 1); }

static const struct {
  const char *name;
  void (*fn)(wick_import_node *n);
  bool wide; /* also for 16 bits */
} quantized_rows[] = {
    {"ABS", quantized_abs, true},
    {"ADD", quantized_add, true},
    {"DIV", quantized_div, false},
    {"EQUAL", quantized_compare, true},
    {"GREATER", quantized_compare, false},
    {"GREATER_EQUAL", quantized_compare, false},
    {"HARD_SWISH", quantized_hard_swish, false},
    {"L2_NORMALIZATION", wick_tflite_normalize, false},
    {"LEAKY_RELU", quantized_leaky, true},
    {"LESS", quantized_compare, false},
    {"LESS_EQUAL", quantized_compare, false},
    {"MUL", quantized_mul, true},
    {"NOT_EQUAL", quantized_compare, true},
    {"PRELU", quantized_prelu, true},
    {"RELU", quantized_relu, true},
    {"RELU6", quantized_relu6, true},
    {"RELU_0_TO_1", quantized_relu01, true},
    {"RELU_N1_TO_1", quantized_relu1, true},
    {"RSQRT", quantized_rsqrt, false},
    {"SQUARED_DIFFERENCE", quantized_squared_difference, true},
    {"SUB", quantized_add, true},
};

/* MAXIMUM and MINIMUM compare the numbers themselves: their scales are equal. */
bool wick_tflite_quantized(wick_import_node *n)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  uint32_t bits = wick_elem_storage[x->elem].bits;
  if (!wick_tflite_is_quantized(x) || bits == 32 || n->row->op == WICK_OP_max ||
      n->row->op == WICK_OP_min)
    return false;
  bool same = n->row->op == WICK_OP_eq || n->row->op == WICK_OP_ne;
  if (bits == 16 && y->elem == WICK_BOOL && !same)
    return false; /* these kernels compare the numbers themselves */
  for (uint32_t i = 1; i < n->nin; i++)
    if (!wick_tflite_is_quantized(wick_tflite_in(n, i))) return false;
  bool result = wick_tflite_is_quantized(y);
  if (result && (quantized_unary_real(n) || wick_tflite_quantized_wide(n))) return true;
  for (size_t i = 0; i < WICK_COUNT(quantized_rows); i++)
    if (strcmp(quantized_rows[i].name, n->row->name) == 0 &&
        (bits == 8 || quantized_rows[i].wide) &&
        (result || (quantized_rows[i].fn == quantized_compare && y->elem == WICK_BOOL))) {
      quantized_rows[i].fn(n);
      return true;
    }
  wick_import_fail(n, WICK_EUNSUPPORTED, "it is not supported for quantized %s",
                   wick_elem_name(x->elem));
  return true;
}

/* ---- QUANTIZE, DEQUANTIZE ---- */

/* The scales of a tensor along its axis, as f32 that broadcast; rank 0 for one scale. */
static wick_value quantized_scales(wick_import_node *n, const wick_tflite_tensor *t)
{
  int64_t dim[WICK_MAX_RANK];
  if (t->quant.n == 1)
    return wick_build_const(n->b, wick_type_tensor(n->c->module, WICK_F32, 0, NULL),
                            t->quant.scale[0], 0);
  for (uint32_t k = t->quant.axis; k < t->rank; k++)
    dim[k - t->quant.axis] = k == t->quant.axis ? t->quant.n : 1;
  return wick_emit_table(n->b, t->name, WICK_F32, t->rank - t->quant.axis, dim, t->quant.scale);
}

wick_value wick_tflite_real(wick_import_node *n, uint32_t i, wick_value x, wick_value rows)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *t = wick_tflite_in(n, i);
  wick_value scale;
  if (b->status) return x;
  x = wick_build_cast(b, x, WICK_F32);
  if (!t->quant.n) return x;
  if (t->quant.zero[0]) x = wick_emit_by(b, WICK_OP_sub, x, (double)t->quant.zero[0]);
  if (rows.id && t->quant.n > 1) {
    int64_t dim = t->quant.n;
    scale = wick_emit_table(b, t->name, WICK_F32, 1, &dim, t->quant.scale);
    scale = wick_emit_gather(b, WICK_OP_gather, scale, rows, 0);
    for (uint32_t k = 1; k < t->rank && !b->status; k++)
      scale = wick_emit_unsqueeze(b, scale, wick_built_info(b, scale)->rank);
  } else {
    scale = quantized_scales(n, t);
  }
  return wick_build2(b, WICK_OP_mul, x, scale);
}

void wick_tflite_dequantize(wick_import_node *n)
{
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  wick_value v =
      wick_elem_is_float(x->elem) ? n->in[0] : wick_tflite_real(n, 0, n->in[0], (wick_value){0});
  n->out[0] = n->b->status ? v : wick_build_cast(n->b, v, y->elem);
}

wick_value wick_tflite_round(wick_builder *b, wick_value x, double lo, double hi)
{
  wick_value whole = wick_build1(b, WICK_OP_trunc, x);
  wick_value rest = wick_build1(b, WICK_OP_abs, wick_build2(b, WICK_OP_sub, x, whole));
  wick_value away = wick_build2(b, WICK_OP_add, whole, wick_build1(b, WICK_OP_sign, x));
  wick_value up = wick_build2(b, WICK_OP_ge, rest, wick_emit_number(b, x, 0.5));
  return wick_tflite_clip(b, wick_build3(b, WICK_OP_where, up, away, whole), lo, hi);
}

void wick_tflite_quantize(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  int64_t lo, hi;
  if (!wick_tflite_is_quantized(y)) {
    wick_import_fail(n, WICK_EPARSE, "its output has no scale");
    return;
  }
  wick_tflite_limits(y->elem, &lo, &hi);
  if (wick_elem_is_float(x->elem)) {
    wick_value v =
        wick_build2(b, WICK_OP_div, wick_build_cast(b, n->in[0], WICK_F32), quantized_scales(n, y));
    v = wick_tflite_round(b, v, -2147483648.0, 2147483647.0);
    if (b->status) return;
    n->out[0] =
        wick_fixed_end(b, wick_build_cast(b, v, WICK_I32), y->quant.zero[0], lo, hi, y->elem);
    return;
  }
  if (!wick_tflite_is_quantized(x)) {
    wick_import_fail(n, WICK_EPARSE, "its input has no scale");
    return;
  }
  wick_fixed f = wick_fixed_of(quantized_scale(x) / quantized_scale(y));
  if (wick_elem_storage[x->elem].bits == 8) {
    wick_tflite_lookup(n, quantized_rescale_of, &f);
    return;
  }
  n->out[0] = wick_fixed_end(b, wick_fixed_mul(b, quantized_centre(n, 0), 1, &f), y->quant.zero[0],
                             lo, hi, y->elem);
}

wick_value wick_tflite_rescaled(wick_import_node *n, uint32_t i)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, i), *y = wick_tflite_out(n, 0);
  if (!wick_tflite_is_quantized(x) || !wick_tflite_is_quantized(y) ||
      (x->quant.scale[0] == y->quant.scale[0] && x->quant.zero[0] == y->quant.zero[0]) ||
      x->elem != WICK_U8)
    return n->in[i];
  float scale = (float)x->quant.scale[0] * (1.0f / (float)y->quant.scale[0]),
        bias = -(float)x->quant.zero[0] * scale;
  wick_value v =
      wick_emit_by(b, WICK_OP_mul, wick_build_cast(b, n->in[i], WICK_F32), (double)scale);
  v = wick_tflite_round(b, wick_emit_by(b, WICK_OP_add, v, (double)bias), -2147483648.0,
                        2147483647.0);
  if (b->status) return v;
  return wick_fixed_end(b, wick_build_cast(b, v, WICK_I32), y->quant.zero[0], 0, 255, y->elem);
}
