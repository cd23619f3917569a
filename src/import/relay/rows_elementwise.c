/* Element-wise operators. */
#include <math.h>

#include "import/relay/state.h"
#include "import/relay/table.h"

/* An operator of integers or bools, which has another name for bools. */
static const char *elementwise_bits(relay_member *m)
{
  const char *name = strrchr(m->row->name, '_') + 1;
  bool truth = wick_relay_elem(m, 0) == WICK_BOOL;
  return m->row->most == 1 ? wick_relay_text(m, "%s%s(a)", truth ? "" : "bit_", name)
                           : wick_relay_text(m, "%s%s(a, b)", truth ? "" : "bit_", name);
}

static const char *elementwise_floor_divide(relay_member *m)
{
  if (wick_relay_is_float(m, 0)) return "floor(a / b)";
  return "a / b - where(and(ne(mod(a, b), 0), ne(lt(a, 0), lt(b, 0))), 1, 0)";
}

static const char *elementwise_trunc_divide(relay_member *m)
{
  return wick_relay_is_float(m, 0) ? "trunc(a / b)" : "a / b";
}

/* Numbers of a class of floats alone: integers are always finite. */
static const char *elementwise_class(relay_member *m)
{
  bool real = wick_relay_is_float(m, 0), finite = strcmp(m->row->name, "isfinite") == 0;
  if (!real) return finite ? "eq(a, a)" : "ne(a, a)";
  return finite ? "not(or(isnan(a), isinf(a)))" : wick_relay_text(m, "%s(a)", m->row->name);
}

/* Integers stay as they are. Ties are rounded away from 0. */
static const char *elementwise_rounded(relay_member *m)
{
  if (!wick_relay_is_float(m, 0)) return "a";
  if (strcmp(m->row->name, "round") != 0) return wick_relay_text(m, "%s(a)", m->row->name);
  const char *t = wick_relay_let(m, "trunc(a)");
  return wick_relay_text(m, "where(ge(abs(a - %s), 0.5), %s + sign(a), %s)", t, t, t);
}

/* A bound as a literal of the operand's type. */
static const char *elementwise_bound(relay_member *m, double f)
{
  wick_elem e = wick_relay_elem(m, 0);
  if (wick_elem_is_float(e)) return wick_relay_float(m, f);
  uint32_t bits = wick_elem_storage[e].bits;
  bool sign = wick_elem_class(e) == WICK_SINT;
  double most = sign         ? (double)((uint64_t)1 << (bits - 1)) - 1
                : bits >= 63 ? 9.2e18
                             : (double)(((uint64_t)1 << bits) - 1),
         least = sign ? -most - 1 : 0;
  double v = f < least ? least : f > most ? most : f;
  if (bits == 64 && v > 9.2e18) v = 9.2e18;
  if (bits == 64 && v < -9.2e18) v = -9.2e18;
  return wick_relay_text(m, "%lld", (long long)v);
}

static const char *elementwise_clip(relay_member *m)
{
  double low = wick_relay_real(m, "a_min", -HUGE_VAL), high = wick_relay_real(m, "a_max", HUGE_VAL);
  return wick_relay_text(m, "min(max(a, %s), %s)", elementwise_bound(m, low),
                         elementwise_bound(m, high));
}

static const char *elementwise_cast(relay_member *m)
{
  const char *dtype = wick_relay_word(m, "dtype", NULL),
             *elem = dtype ? wick_relay_element(dtype) : NULL;
  if (!elem) return wick_relay_fail(m, "the attribute `dtype` must be an element type");
  return wick_relay_text(m, "%s(a)", elem);
}

static const char *elementwise_reinterpret(relay_member *m)
{
  const char *dtype = wick_relay_word(m, "dtype", NULL),
             *elem = dtype ? wick_relay_element(dtype) : NULL, *dim[WICK_MAX_RANK];
  if (!elem) return wick_relay_fail(m, "the attribute `dtype` must be an element type");
  uint32_t rank = wick_relay_rank(m, 0);
  if (!rank) return wick_relay_text(m, "(bitcast(a): %s)", elem);
  for (uint32_t i = 0; i < rank; i++) dim[i] = wick_relay_size(m, 0, i);
  wick_text dims = wick_text_begin(m->mem);
  for (uint32_t i = 0; i < rank; i++) wick_text_printf(&dims, "%s%s", i ? ", " : "", dim[i]);
  return wick_relay_text(m, "(bitcast(a): %s[%s])", elem, dims.at);
}

/* Rounds to multiples of a scale within limits, as quantized numbers would. */
static const char *elementwise_simulated(relay_member *m)
{
  if (wick_relay_int(m, "kind", 1) == 0) return "a"; /* kinds are identity, input, weight, ... */
  const char *x = wick_relay_let(m, "min(max(a / b, c), d)"),
             *t = wick_relay_let(m, "trunc(%s)", x);
  return wick_relay_text(m, "where(ge(abs(%s - %s), 0.5), %s + sign(%s), %s) * b", x, t, t, x, t);
}

static const char *elementwise_cast_like(relay_member *m)
{
  return wick_relay_text(m, "%s(a)", wick_elem_name(wick_relay_elem(m, 1)));
}

/* a * multiplier * 2^(shift - 31) on i32, rounded to nearest, ties upwards. */
static const char *elementwise_fixed_point(relay_member *m)
{
  int64_t factor = wick_relay_int(m, "multiplier", 0), shift = wick_relay_int(m, "shift", 0);
  int64_t left = shift > 0 ? shift : 0, right = 31 + (shift < 0 ? -shift : 0);
  if (right > 62 || left > 31)
    return wick_relay_fail(m, "the shift %lld is too far", (long long)shift);
  return wick_relay_text(
      m, "i32(shift_right(shift_left(i64(a), %lldi64) * %lldi64 + %lldi64, %lldi64))",
      (long long)left, (long long)factor, (long long)((int64_t)1 << (right - 1)), (long long)right);
}

/* The same with a multiplier and shifts for each position of some axes; a right shift is an operand,
 * and 0 where there is none. */
static const char *elementwise_fixed_point_along(relay_member *m)
{
  int64_t axes[RELAY_MOST_INTS];
  uint32_t rank = wick_relay_rank(m, 0), n = wick_relay_rank(m, 1), at = 0;
  int count = wick_relay_ints(m, "axes", axes);
  if (count < 1 || (uint32_t)count != n)
    return wick_relay_fail(m, "`axes` must name an axis for each of the multipliers' axes");
  const char *dim[WICK_MAX_RANK], *along[4];
  for (uint32_t i = 0; i < rank; i++) {
    bool here = at < n && axes[at] == i;
    dim[i] = here ? wick_relay_size(m, 1, at) : "1";
    at += here;
  }
  if (at < n) return wick_relay_fail(m, "`axes` must be ascending axes of the first operand");
  const char *shape = wick_relay_dims(m, rank, dim);
  for (uint32_t k = 1; k < 4; k++)
    along[k] = wick_relay_let(m, "reshape(i64(%s), shape = %s)", wick_relay_letter(k), shape);
  const char *x = "i64(a)";
  if (wick_relay_int(m, "is_lshift_required", 0))
    x = wick_relay_text(m, "shift_left(i64(a), %s)", along[2]);
  return wick_relay_text(m, "i32(shift_right(%s * %s + shift_left(1i64, %s + 30), %s + 31))", x,
                         along[1], along[3], along[3]);
}

const relay_row wick_relay_elementwise[] = {
    RELAY_EXPR("abs", 1, "abs(a)"),
    RELAY_EXPR("acos", 1, "acos(a)"),
    RELAY_EXPR("acosh", 1, "acosh(a)"),
    RELAY_EXPR("add", 2, "a + b"),
    {"annotation.bitpack_end", 1, 1, "a", NULL, "compiler dtype", NULL},
    {"annotation.bitpack_start", 1, 1, "a", NULL, "compiler dtype", NULL},
    {"annotation.cast_hint", 1, 1, "a", NULL, "compiler dtype", NULL},
    {"annotation.checkpoint", 1, 1, "a", NULL, "compiler dtype", NULL},
    {"annotation.compiler_begin", 1, 1, "a", NULL, "compiler dtype", NULL},
    {"annotation.compiler_end", 1, 1, "a", NULL, "compiler dtype", NULL},
    {"annotation.force_cast", 1, 1, "a", NULL, "compiler dtype", NULL},
    {"annotation.on_device", 1, 1, "a", NULL, "compiler dtype", NULL},
    {"annotation.stop_fusion", 1, 1, "a", NULL, "compiler dtype", NULL},
    RELAY_WRITE("annotation.simulated_quantize", 4, 4, elementwise_simulated,
                "kind sign rounding=round", "round(min(max(a / b, c), d)) * b"),
    RELAY_EXPR("asin", 1, "asin(a)"),
    RELAY_EXPR("asinh", 1, "asinh(a)"),
    RELAY_EXPR("atan", 1, "atan(a)"),
    RELAY_EXPR("atanh", 1, "atanh(a)"),
    RELAY_WRITE("bitwise_and", 2, 2, elementwise_bits, NULL, "bit_and, of bools and"),
    RELAY_WRITE("bitwise_not", 1, 1, elementwise_bits, NULL, "bit_not, of bools not"),
    RELAY_WRITE("bitwise_or", 2, 2, elementwise_bits, NULL, "bit_or, of bools or"),
    RELAY_WRITE("bitwise_xor", 2, 2, elementwise_bits, NULL, "bit_xor, of bools xor"),
    RELAY_WRITE("cast", 1, 1, elementwise_cast, "dtype", "cast"),
    RELAY_WRITE("cast_like", 2, 2, elementwise_cast_like, NULL, "cast"),
    RELAY_WRITE("ceil", 1, 1, elementwise_rounded, NULL, "ceil; integers stay"),
    RELAY_WRITE("clip", 1, 1, elementwise_clip, "a_min a_max", "min(max(a, a_min), a_max)"),
    RELAY_EXPR("copy", 1, "a"),
    RELAY_EXPR("cos", 1, "cos(a)"),
    RELAY_EXPR("cosh", 1, "cosh(a)"),
    RELAY_EXPR("divide", 2, "a / b"),
    RELAY_EXPR("equal", 2, "eq(a, b)"),
    RELAY_EXPR("erf", 1, "erf(a)"),
    RELAY_EXPR("exp", 1, "exp(a)"),
    RELAY_EXPR("fast_erf", 1, "erf(a)"),
    RELAY_EXPR("fast_exp", 1, "exp(a)"),
    RELAY_EXPR("fast_tanh", 1, "tanh(a)"),
    RELAY_WRITE("fixed_point_multiply", 1, 1, elementwise_fixed_point, "multiplier shift",
                "i64 arithmetic, rounded to nearest, ties upwards"),
    RELAY_WRITE("fixed_point_multiply_per_axis", 4, 4, elementwise_fixed_point_along,
                "is_lshift_required is_rshift_required axes",
                "i64 arithmetic, rounded to nearest, ties upwards"),
    RELAY_WRITE("floor", 1, 1, elementwise_rounded, NULL, "floor; integers stay"),
    RELAY_WRITE("floor_divide", 2, 2, elementwise_floor_divide, NULL, "floor(a / b)"),
    RELAY_EXPR("floor_mod", 2, "mod(a, b)"),
    RELAY_EXPR("greater", 2, "gt(a, b)"),
    RELAY_EXPR("greater_equal", 2, "ge(a, b)"),
    RELAY_WRITE("isfinite", 1, 1, elementwise_class, NULL, "not(or(isnan(a), isinf(a)))"),
    RELAY_WRITE("isinf", 1, 1, elementwise_class, NULL, "isinf; integers are not"),
    RELAY_WRITE("isnan", 1, 1, elementwise_class, NULL, "isnan; integers are not"),
    RELAY_EXPR("left_shift", 2, "shift_left(a, b)"),
    RELAY_EXPR("less", 2, "lt(a, b)"),
    RELAY_EXPR("less_equal", 2, "le(a, b)"),
    RELAY_EXPR("log", 1, "log(a)"),
    RELAY_EXPR("log10", 1, "log(a) * 0.4342944819032518"),
    RELAY_EXPR("log2", 1, "log2(a)"),
    RELAY_EXPR("logical_and", 2, "and(a, b)"),
    RELAY_EXPR("logical_not", 1, "not(a)"),
    RELAY_EXPR("logical_or", 2, "or(a, b)"),
    RELAY_EXPR("logical_xor", 2, "xor(a, b)"),
    RELAY_EXPR("maximum", 2, "max(a, b)"),
    RELAY_EXPR("minimum", 2, "min(a, b)"),
    RELAY_EXPR("mod", 2, "fmod(a, b)"),
    RELAY_EXPR("multiply", 2, "a * b"),
    RELAY_EXPR("negative", 1, "-a"),
    RELAY_EXPR("not_equal", 2, "ne(a, b)"),
    {"on_device", 1, 1, "a", NULL, "constrain_result constrain_body", NULL},
    RELAY_EXPR("device_copy", 1, "a"),
    RELAY_EXPR("power", 2, "pow(a, b)"),
    RELAY_WRITE("reinterpret", 1, 1, elementwise_reinterpret, "dtype", "bitcast"),
    RELAY_EXPR("right_shift", 2, "shift_right(a, b)"),
    RELAY_WRITE("round", 1, 1, elementwise_rounded, NULL,
                "trunc of a + 0.5, exactly: ties away from 0"),
    RELAY_EXPR("rsqrt", 1, "rsqrt(a)"),
    RELAY_EXPR("sigmoid", 1, "sigmoid(a)"),
    RELAY_EXPR("sign", 1, "sign(a)"),
    RELAY_EXPR("sin", 1, "sin(a)"),
    RELAY_EXPR("sinh", 1, "sinh(a)"),
    RELAY_EXPR("sqrt", 1, "sqrt(a)"),
    RELAY_EXPR("subtract", 2, "a - b"),
    RELAY_EXPR("tan", 1, "tan(a)"),
    RELAY_EXPR("tanh", 1, "tanh(a)"),
    RELAY_WRITE("trunc", 1, 1, elementwise_rounded, NULL, "trunc; integers stay"),
    RELAY_WRITE("trunc_divide", 2, 2, elementwise_trunc_divide, NULL, "trunc(a / b)"),
    RELAY_EXPR("trunc_mod", 2, "fmod(a, b)"),
    RELAY_EXPR("where", 3, "where(a, b, c)"),
    RELAY_END_OF_ROWS,
};
