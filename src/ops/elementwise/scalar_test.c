/* Scalar operators: known values of their evaluation, with NaN, zeros, infinities and overflow;
 * operators on tensors through their stages; contents that inference knows.
 * loop/expand_math_test.c compares their expansions with the evaluation. */
#include "ops/operator_testing.h"

#define NANF ((double)NAN)
#define INFF ((double)INFINITY)

/* ---- values ---- */

typedef struct value_case {
  const char *op;
  wick_elem elem, out;
  double in[3], want; /* integers below 2^53 */
  double attr[WICK_MAX_ATTR];
  bool has_attr;
} value_case;

#define F WICK_F32, WICK_F32
#define D WICK_F64, WICK_F64
#define H WICK_F16, WICK_F16
#define B WICK_BF16, WICK_BF16
#define I WICK_I32, WICK_I32
#define S8 WICK_I8, WICK_I8
#define U WICK_U8, WICK_U8
#define FB WICK_F32, WICK_BOOL
#define IB WICK_I32, WICK_BOOL
#define L WICK_BOOL, WICK_BOOL

static const value_case exact[] = {
    {"add", F, {1, 2}, 3, {0}, false},
    {"add", F, {16777216, 1}, 16777216, {0}, false},
    {"add", S8, {127, 1}, -128, {0}, false},
    {"add", U, {255, 2}, 1, {0}, false},
    {"add", H, {2048, 1}, 2048, {0}, false},
    {"add", H, {2048, 3}, 2052, {0}, false},
    {"add", B, {256, 1}, 256, {0}, false},
    {"add", F, {INFF, -INFF}, NANF, {0}, false},
    {"sub", F, {0, 0}, 0, {0}, false},
    {"sub", U, {0, 1}, 255, {0}, false},
    {"mul", F, {1e30, 1e30}, INFF, {0}, false},
    {"mul", F, {0, -1}, -0.0, {0}, false},
    {"mul", S8, {64, 2}, -128, {0}, false},
    {"fma", F, {0x1.000002p0, 0x1.000002p0, -0x1.000004p0}, 0x1p-46, {0}, false},
    {"muladd", F, {2, 3, 4}, 10, {0}, false},
    {"neg", F, {0}, -0.0, {0}, false},
    {"neg", S8, {-128}, -128, {0}, false},
    {"abs", F, {-0.0}, 0, {0}, false},
    {"abs", S8, {-128}, -128, {0}, false},
    {"abs", U, {200}, 200, {0}, false},
    {"sign", F, {-0.0}, 0, {0}, false},
    {"sign", F, {NANF}, NANF, {0}, false},
    {"sign", F, {-7}, -1, {0}, false},
    {"sign", U, {200}, 1, {0}, false},
    {"max", F, {-0.0, 0}, 0, {0}, false},
    {"max", F, {NANF, 1}, NANF, {0}, false},
    {"min", F, {0, -0.0}, -0.0, {0}, false},
    {"min", F, {1, NANF}, NANF, {0}, false},
    {"max", U, {200, 100}, 200, {0}, false},
    {"max", S8, {-56, 100}, 100, {0}, false},
    {"div", F, {1, 0}, INFF, {0}, false},
    {"div", F, {0, 0}, NANF, {0}, false},
    {"div", I, {-7, 2}, -3, {0}, false},
    {"div", I, {7, 0}, 0, {0}, false},
    {"div", S8, {-128, -1}, -128, {0}, false},
    {"div", U, {200, 3}, 66, {0}, false},
    {"mod", I, {-7, 3}, 2, {0}, false},
    {"mod", I, {7, -3}, -2, {0}, false},
    {"mod", I, {7, 0}, 0, {0}, false},
    {"mod", S8, {-128, -1}, 0, {0}, false},
    {"mod", F, {-7, 3}, 2, {0}, false},
    {"mod", F, {6, -3}, -0.0, {0}, false},
    {"mod", F, {-1, INFF}, INFF, {0}, false},
    {"fmod", I, {-7, 3}, -1, {0}, false},
    {"fmod", F, {-7, 3}, -1, {0}, false},
    {"fmod", F, {-6, 3}, -0.0, {0}, false},
    {"fmod", F, {5, INFF}, 5, {0}, false},
    {"fmod", F, {5, 0}, NANF, {0}, false},
    {"fmod", F, {0x1p127, 3}, 2, {0}, false},
    {"div_unchecked", I, {-7, 2}, -3, {0}, false},
    {"rem_unchecked", I, {-7, 2}, -1, {0}, false},
    {"mul_exp2", F, {1.5, 0x1.8p23 - 3}, 0x1.8p-3, {0}, false},
    {"mul_exp2", F, {0x1.000002p0, 0x1.8p23 - 149}, 0x1p-149, {0}, false},
    {"mul_exp2", F, {1, 0x1.8p23 + 128}, INFF, {0}, false},
    {"reciprocal", F, {-0.0}, -INFF, {0}, false},
    {"reciprocal", F, {4}, 0.25, {0}, false},
    {"sqrt", F, {-0.0}, -0.0, {0}, false},
    {"sqrt", F, {-1}, NANF, {0}, false},
    {"sqrt", F, {2}, 0x1.6a09e6p0, {0}, false},
    {"rsqrt", F, {-0.0}, -INFF, {0}, false},
    {"rsqrt", F, {4}, 0.5, {0}, false},
    {"pow", F, {NANF, 0}, 1, {0}, false},
    {"pow", F, {1, NANF}, 1, {0}, false},
    {"pow", F, {-1, INFF}, 1, {0}, false},
    {"pow", F, {-2, 3}, -8, {0}, false},
    {"pow", F, {-2, 0.5}, NANF, {0}, false},
    {"pow", F, {-0.0, -3}, -INFF, {0}, false},
    {"pow", I, {3, 4}, 81, {0}, false},
    {"pow", I, {2, -1}, 0, {0}, false},
    {"pow", I, {-1, -3}, -1, {0}, false},
    {"pow", I, {0, -2}, 0, {0}, false},
    {"pow", S8, {3, 5}, -13, {0}, false},
    {"floor", F, {-0.5}, -1, {0}, false},
    {"floor", F, {-0.0}, -0.0, {0}, false},
    {"ceil", F, {-0.5}, -0.0, {0}, false},
    {"trunc", F, {-1.7}, -1, {0}, false},
    {"trunc", F, {-0.7}, -0.0, {0}, false},
    {"round_even", F, {2.5}, 2, {0}, false},
    {"round_even", F, {3.5}, 4, {0}, false},
    {"round_even", F, {-0.5}, -0.0, {0}, false},
    {"round_even", F, {INFF}, INFF, {0}, false},
    {"eq", FB, {NANF, NANF}, 0, {0}, false},
    {"eq", FB, {0, -0.0}, 1, {0}, false},
    {"ne", FB, {NANF, 1}, 1, {0}, false},
    {"lt", IB, {-1, 1}, 1, {0}, false},
    {"lt", WICK_U32, WICK_BOOL, {4294967295.0, 1}, 0, {0}, false},
    {"le", FB, {1, 1}, 1, {0}, false},
    {"le", FB, {NANF, 1}, 0, {0}, false},
    {"gt", FB, {2, 1}, 1, {0}, false},
    {"ge", FB, {1, NANF}, 0, {0}, false},
    {"isnan", FB, {NANF}, 1, {0}, false},
    {"isnan", FB, {INFF}, 0, {0}, false},
    {"isinf", FB, {-INFF}, 1, {1, 1}, true},
    {"isinf", FB, {-INFF}, 0, {0, 1}, true},
    {"isinf", FB, {INFF}, 0, {1, 0}, true},
    {"and", L, {1, 0}, 0, {0}, false},
    {"or", L, {1, 0}, 1, {0}, false},
    {"xor", L, {1, 1}, 0, {0}, false},
    {"not", L, {1}, 0, {0}, false},
    {"bit_and", I, {12, 10}, 8, {0}, false},
    {"bit_or", I, {12, 10}, 14, {0}, false},
    {"bit_xor", I, {12, 10}, 6, {0}, false},
    {"bit_not", U, {1}, 254, {0}, false},
    {"bit_not", I, {0}, -1, {0}, false},
    {"shift_left", U, {129, 1}, 2, {0}, false},
    {"shift_left", U, {1, 8}, 0, {0}, false},
    {"shift_left", I, {1, -1}, 0, {0}, false},
    {"shift_right", U, {128, 7}, 1, {0}, false},
    {"shift_right", S8, {-128, 7}, -1, {0}, false},
    {"shift_right", S8, {-128, 100}, -1, {0}, false},
    {"mul_high", I, {3, 1073741824}, 1, {0, 31}, true},
    {"mul_high", I, {3, 1073741824}, 2, {1073741824, 31}, true},
    {"mul_high", I, {-3, 1073741824}, -2, {0, 31}, true},
    {"mul_high", I, {-3, 1073741824}, -1, {1073741824, 31}, true},
    {"mul_high", I, {-2147483648.0, 2147483647}, -2147483647, {1073741824, 31}, true},
    {"mul_high", I, {-2147483648.0, -2147483648.0}, -2147483648.0, {0, 31}, true},
    {"mul_high", I, {3, 2147483647}, 1, {0, 32}, true},
    {"mul_high", I, {-3, 2147483647}, -2, {0, 32}, true},
    {"mul_high", I, {-2147483648.0, -2147483648.0}, 1073741824, {0, 32}, true},
    {"cast", WICK_F32, WICK_I8, {1000}, 127, {0}, false},
    {"cast", WICK_F32, WICK_I8, {NANF}, 0, {0}, false},
    {"cast", WICK_F32, WICK_U8, {-3.7}, 0, {0}, false},
    {"cast", WICK_F32, WICK_I32, {-3.7}, -3, {0}, false},
    {"cast", WICK_I32, WICK_I8, {300}, 44, {0}, false},
    {"cast", WICK_F32, WICK_BOOL, {NANF}, 1, {0}, false},
    {"cast", WICK_F32, WICK_BF16, {0x1.01p0}, 1, {0}, false},
    {"cast", WICK_F64, WICK_F16, {65520}, INFF, {0}, false},
    {"cast", WICK_I64, WICK_BF16, {0x1.01000001p40}, 0x1.02p40, {0}, false},
    {"bitcast", WICK_F32, WICK_I32, {1}, 0x3f800000, {0}, false},
    {"bitcast", WICK_I32, WICK_F32, {0x40000000}, 2, {0}, false},
    {"bitcast", WICK_F32, WICK_I32, {-0.0}, -2147483648.0, {0}, false},
    {"bitcast", WICK_F16, WICK_I16, {-(double)NAN}, -512, {0}, false},
    {"bitcast", WICK_BF16, WICK_U16, {(double)NAN}, 0x7fc0, {0}, false},
    {"bitcast", WICK_F8E4M3, WICK_U8, {1}, 0x38, {0}, false},
    {"relu", F, {-0.0}, 0, {0}, false},
    {"relu", F, {NANF}, NANF, {0}, false},
    {"relu", I, {-3}, 0, {0}, false},
    {"leaky_relu", F, {-2}, -0.5, {0.25}, true},
    {"leaky_relu", F, {-0.0}, -0.0, {0.25}, true},
    {"prelu", F, {-2, 3}, -6, {0}, false},
    {"prelu", I, {-2, 3}, -6, {0}, false},
    {"thresholded_relu", F, {1}, 0, {1}, true},
    {"thresholded_relu", F, {1.5}, 1.5, {1}, true},
    {"shrink", F, {-2}, -1.5, {1, 0.5}, true},
    {"shrink", F, {2}, 1.5, {1, 0.5}, true},
    {"shrink", F, {1}, 0, {1, 0.5}, true},
    {"hard_sigmoid", F, {10}, 1, {0.25, 0.5}, true},
    {"hard_sigmoid", F, {-1}, 0.25, {0.25, 0.5}, true},
    {"hard_swish", F, {3}, 3, {0}, false},
    {"hard_swish", F, {-4}, -0.0, {0}, false},
    {"softsign", F, {-1}, -0.5, {0}, false},
    {"elu", F, {-INFF}, -2, {2}, true},
    {"selu", F, {1}, 2, {1, 2}, true},
    {"celu", F, {-INFF}, -2, {2}, true},
    {"sigmoid", F, {0}, 0.5, {0}, false},
    {"sigmoid", F, {-INFF}, 0, {0}, false},
    {"sigmoid", F, {-87.34}, 0, {0}, false},
    {"softplus", F, {-87.34}, 0, {0}, false},
    {"swish", F, {-87.34}, -0.0, {1}, true},
    {"swish", F, {87.34}, 0, {-1}, true},
    {"mish", F, {-87.34}, -0.0, {0}, false},
    {"gelu", F, {-12.95}, -0.0, {0}, true},
    {"gelu", D, {-37.52}, -0.0, {0}, true},
    {"gelu", F, {-10.1}, -0.0, {1}, true},
    {"softplus", F, {INFF}, INFF, {0}, false},
    {"swish", F, {-INFF}, -0.0, {1}, true},
    {"mish", F, {-INFF}, -0.0, {0}, false},
    {"mish", F, {INFF}, INFF, {0}, false},
    {"gelu", F, {-INFF}, -0.0, {0}, true},
    {"gelu", F, {-INFF}, -0.0, {1}, true},
    {"exp", F, {-INFF}, 0, {0}, false},
    {"exp", F, {89}, INFF, {0}, false},
    {"exp_minus", F, {-0.0}, 1, {0}, false},
    {"exp_minus", F, {-INFF}, 0, {0}, false},
    {"exp_minus", F, {-87.34}, 0, {0}, false},
    {"exp_minus", F, {INFF}, 0x1.a220d4p57, {0}, false},
    {"exp_minus", F, {NANF}, NANF, {0}, false},
    {"exp2", F, {-149}, 0x1p-149, {0}, false},
    {"expm1", F, {-0.0}, -0.0, {0}, false},
    {"log", F, {-0.0}, -INFF, {0}, false},
    {"log", F, {-1}, NANF, {0}, false},
    {"log2", F, {0x1p-149}, -149, {0}, false},
    {"log1p", F, {-1}, -INFF, {0}, false},
    {"erf", F, {-INFF}, -1, {0}, false},
    {"sin", F, {INFF}, NANF, {0}, false},
    {"sin", F, {-0.0}, -0.0, {0}, false},
    {"cos", F, {0}, 1, {0}, false},
    {"tan", F, {-0.0}, -0.0, {0}, false},
    {"asin", F, {2}, NANF, {0}, false},
    {"acos", F, {1}, 0, {0}, false},
    {"sinh", F, {-INFF}, -INFF, {0}, false},
    {"cosh", F, {-INFF}, INFF, {0}, false},
    {"tanh", F, {-INFF}, -1, {0}, false},
    {"asinh", F, {-INFF}, -INFF, {0}, false},
    {"acosh", F, {0.5}, NANF, {0}, false},
    {"atanh", F, {-1}, -INFF, {0}, false},
};

/* Mathematical constants, with a tolerance of one digit in the last decimal place of f64. */
static const value_case near[] = {
    {"exp", D, {1}, 2.71828182845904523536, {0}, false},
    {"exp2", D, {0.5}, 1.41421356237309504880, {0}, false},
    {"expm1", D, {1e-10}, 1.00000000005e-10, {0}, false},
    {"log", D, {2}, 0.69314718055994530942, {0}, false},
    {"log2", D, {10}, 3.32192809488736234787, {0}, false},
    {"log1p", D, {1e-10}, 9.9999999995e-11, {0}, false},
    {"erf", D, {0.5}, 0.52049987781304653768, {0}, false},
    {"sin", D, {1}, 0.84147098480789650665, {0}, false},
    {"sin", D, {1e22}, -0.85220084976718880177, {0}, false},
    {"cos", D, {1}, 0.54030230586813971740, {0}, false},
    {"tan", D, {1}, 1.55740772465490223051, {0}, false},
    {"asin", D, {0.5}, 0.52359877559829887308, {0}, false},
    {"acos", D, {0.5}, 1.04719755119659774615, {0}, false},
    {"atan", D, {1}, 0.78539816339744830962, {0}, false},
    {"atan", D, {INFF}, 1.57079632679489661923, {0}, false},
    {"sinh", D, {1}, 1.17520119364380145688, {0}, false},
    {"cosh", D, {1}, 1.54308063481524377848, {0}, false},
    {"tanh", D, {1}, 0.76159415595576488812, {0}, false},
    {"asinh", D, {1}, 0.88137358701954302523, {0}, false},
    {"acosh", D, {2}, 1.31695789692481670863, {0}, false},
    {"atanh", D, {0.5}, 0.54930614433405484570, {0}, false},
    {"pow", D, {2, 0.5}, 1.41421356237309504880, {0}, false},
    {"sigmoid", D, {1}, 0.73105857863000487926, {0}, false},
    {"softplus", D, {1}, 1.31326168751822283405, {0}, false},
    {"elu", D, {-1}, -0.63212055882855767840, {1}, true},
    {"celu", D, {-1}, -0.78693868057473315, {2}, true},
    {"selu", D, {-1}, -1.1113307378125625, {1.6732632423543772, 1.0507009873554805}, true},
    {"swish", D, {1}, 0.73105857863000487926, {1}, true},
    {"mish", D, {1}, 0.86509838826731034, {0}, false},
    {"gelu", D, {1}, 0.84134474606854294859, {0}, true},
    {"gelu", D, {-30}, -1.472014178144456e-196, {0}, true},
    {"gelu", D, {1}, 0.841191990608276705, {1}, true},
};

static wick_scalar value_of(wick_elem e, double x)
{
  return wick_elem_is_float(e) ? (wick_scalar){.f = x} : (wick_scalar){.i = (int64_t)x};
}

static wick_scalar evaluate(const value_case *c)
{
  wick_opcode op = wick_op_find(c->op, strlen(c->op));
  const wick_op *row = wick_ops[op];
  wick_attr attr[WICK_MAX_ATTR];
  wick_scalar in[3];
  for (uint32_t i = 0; i < wick_op_nattr(row); i++) {
    double v = c->has_attr && i < 2 ? c->attr[i] : row->attr[i].dflt;
    attr[i] =
        row->attr[i].kind == WICK_ATTR_FLOAT ? (wick_attr){.f = v} : (wick_attr){.i = (int64_t)v};
  }
  for (uint32_t i = 0; i < 3; i++) in[i] = wick_round_elem(c->elem, value_of(c->elem, c->in[i]));
  return wick_eval_scalar(op, attr, c->elem, c->out, in);
}

static void exact_values(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < WICK_COUNT(exact); i++) {
    const value_case *c = &exact[i];
    wick_scalar got = evaluate(c), want = value_of(c->out, c->want);
    bool same = wick_elem_is_float(c->out)
                    ? (isnan(got.f) && isnan(want.f)) ||
                          (got.f == want.f && !signbit(got.f) == !signbit(want.f))
                    : got.i == want.i;
    if (!same)
      fail_msg("%s %s(%g, %g, %g): got %a or %lld, expected %g", wick_elem_name(c->elem), c->op,
               c->in[0], c->in[1], c->in[2], got.f, (long long)got.i, c->want);
  }
}

static void near_values(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < WICK_COUNT(near); i++) {
    double got = evaluate(&near[i]).f, want = near[i].want;
    double allowed = fabs(want) * 1e-15;
    if (!(fabs(got - want) <= allowed))
      fail_msg("%s(%g): got %.17g, expected %.17g", near[i].op, near[i].in[0], got, want);
  }
}

/* ---- on tensors ---- */

static const row_case lines[] = {
    {"add", "f32[2,1]: 1 2; f32[3]: 10 20 30", "", "f32[2,3]: 11 21 31 12 22 32", 0},
    {"add", "f32[2]; f32[3]", "", "error: shapes do not broadcast: f32[2] and f32[3]", 0},
    {"add", "f32[2]; i32[2]", "", "error: operand 1 is i32, expected f32", 0},
    {"add", "bool[2]; bool[2]", "", "error: add has no form for bool (operand 0)", 0},
    {"where", "bool[2,1]: 1 0; f32[2]: 1 2; f32[2]: 3 4", "", "f32[2,2]: 1 2 3 4", 0},
    {"lt", "i32[3]: 1 2 3; i32[]: 2", "", "bool[3]: 1 0 0", 0},
    {"cast", "f32[3]: 1.5 -2.5 300", "", "i8[3]: 1 -2 127", 0},
    {"bitcast", "f32[1]: 1", "", "i32[1]: 1065353216", 0},
    {"bitcast", "f64[]: 1", "", "error: f32 has no bits of f64", 0},
    {"div", "i32[3]: 7 -7 9; i32[]: 2", "", "i32[3]: 3 -3 4", 0},
    {"div", "i32[2]: 1 2; i32[2]: 1 0", "", "fails: division by zero -> i32[2]", 0},
    {"mod", "i8[2]: 1 2; i8[2]: 0 1", "", "fails: division by zero -> i8[2]", 0},
    {"fmod", "u64[1]: 1; u64[1]: 0", "", "fails: division by zero -> u64[1]", 0},
    {"div", "f32[2]: 1 -1; f32[]: 0", "", "f32[2]: inf -inf", 0},
    {"mod", "f32[2]: 5 -5; f32[]: 3", "", "f32[2]: 2 1", 0},
    {"clip", "f32[4]: -3 0.5 3 nan; f32[]: -1; f32[]: 2", "", "f32[4]: -1 0.5 2 nan", 0},
    {"clip", "f32[2]: -3 3; _; f32[]: 2", "", "f32[2]: -3 2", 0},
    {"clip", "f32[2]: -3 3; f32[]: -1", "", "f32[2]: -1 3", 0},
    {"clip", "i32[2]: -3 3; i32[]: 5; i32[]: 2", "", "i32[2]: 2 2", 0},
    {"clip", "f32[2]; f32[1]", "", "error: operand 1 is not one f32", 0},
    {"gelu", "f32[2]: 1 -1", "approximate=tanh", "f32[2]: 0.841192 -0.158808", 0},
    {"isinf", "f32[3]: inf -inf nan", "detect_negative=false", "bool[3]: 1 0 0", 0},
    {"prelu", "f32[2,2]: 1 -1 -2 2; f32[2,1]: 0.5 0.25", "", "f32[2,2]: 1 -0.5 -0.5 2", 0},
    {"exp", "i32[2]", "", "error: exp has no form for i32 (operand 0)", 0},
};

static void rows_on_tensors(void **state)
{
  (void)state;
  row_check(lines, WICK_COUNT(lines));
}

/* ---- contents: sizes that pass through the arithmetic of exported models ---- */

typedef struct content_test {
  wick_guard guard;
  wick_arena mem;
  wick_module *m;
  wick_builder b;
  wick_value n; /* i64[1]: the symbol N, which is 1 to 64 */
} content_test;

static void content_is(content_test *t, wick_value v, const char *want)
{
  if (t->b.status) fail_msg("%s", t->b.status->message);
  const wick_value_info *info = &t->b.values.at[v.id];
  wick_text got = wick_text_begin(&t->mem);
  if (info->content)
    wick_dim_print(t->m->dims, info->content[0], &got);
  else
    wick_text_add(&got, "?");
  assert_string_equal(got.at, want);
}

static void contents_are_known(void **state)
{
  (void)state;
  content_test t = {.guard = {.allocator = wick_allocator_malloc()}};
  t.mem = wick_arena_make(&t.guard);
  t.m = wick_module_create(&t.guard, "");
  wick_builder *b = &t.b;
  wick_build_begin(b, t.m, WICK_GRAPH, "f", &t.mem);
  wick_dim n = wick_dim_symbol(t.m->dims, "N", 1, 64), one = wick_dim_const(1);
  wick_type vector = wick_type_tensor(t.m, WICK_I64, 1, &one);
  wick_value x = wick_build_param(b, wick_type_tensor(t.m, WICK_F32, 1, &n), WICK_IN, "x");
  t.n = wick_build1(b, WICK_OP_shape, x);
  wick_value two = wick_build_const(b, vector, 0, 2), minus = wick_build_const(b, vector, 0, -1),
             zero = wick_build_const(b, vector, 0, 0),
             low = wick_build_const(b, vector, 0, INT64_MIN + 1);
  content_is(&t, wick_build2(b, WICK_OP_add, t.n, two), "N + 2");
  content_is(&t, wick_build2(b, WICK_OP_div, t.n, two), "floordiv(N, 2)");
  content_is(&t, wick_build2(b, WICK_OP_div, wick_build1(b, WICK_OP_neg, t.n), two),
             "-floordiv(N, 2)");
  content_is(&t, wick_build2(b, WICK_OP_div, t.n, zero), "?");
  content_is(&t, wick_build2(b, WICK_OP_mod, t.n, two), "mod(N, 2)");
  content_is(&t, wick_build2(b, WICK_OP_pow, t.n, two), "N*N");
  content_is(&t, wick_build1(b, WICK_OP_abs, t.n), "N");
  content_is(&t, wick_build1(b, WICK_OP_sign, t.n), "1");
  content_is(&t, wick_build1(b, WICK_OP_relu, minus), "0");
  content_is(&t, wick_build2(b, WICK_OP_eq, t.n, minus), "0");
  content_is(&t, wick_build2(b, WICK_OP_eq, t.n, t.n), "1");
  wick_value is = wick_build2(b, WICK_OP_eq, t.n, two), more = wick_build2(b, WICK_OP_gt, t.n, two);
  content_is(&t, is, "-min(max(-N + 2, N - 2, 0), 1) + 1");
  content_is(&t, more, "min(max(N - 2, 0), 1)");
  content_is(&t, wick_build3(b, WICK_OP_where, more, t.n, t.n), "N");
  content_is(&t, wick_build3(b, WICK_OP_where, more, minus, two), "-3*min(max(N - 2, 0), 1) + 2");
  content_is(&t, wick_build2(b, WICK_OP_and, more, wick_build1(b, WICK_OP_not, more)),
             "min(-min(max(N - 2, 0), 1) + 1, max(N - 2, 0))");
  content_is(&t, wick_build2(b, WICK_OP_gt, t.n, zero), "1");
  wick_value given = wick_build2(b, WICK_OP_ne, t.n, minus);
  content_is(&t, wick_build3(b, WICK_OP_where, given, t.n, two), "N");
  content_is(&t, wick_build1(b, WICK_OP_not, given), "0");
  content_is(&t, wick_build_cast(b, t.n, WICK_I32), "N");
  content_is(&t, wick_build_cast(b, t.n, WICK_I8), "N");
  wick_value large = wick_build2(b, WICK_OP_mul, t.n, wick_build_const(b, vector, 0, 100));
  content_is(&t, wick_build_cast(b, large, WICK_I8), "?"); /* may wrap */
  /* the lowest integers are handles of expressions */
  content_is(&t, low, "?");
  content_is(&t, wick_build2(b, WICK_OP_mul, two, wick_build_const(b, vector, 0, INT64_MAX)), "-2");
  wick_module_free(t.m);
  wick_arena_free(&t.mem);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact_values),
      cmocka_unit_test(near_values),
      cmocka_unit_test(rows_on_tensors),
      cmocka_unit_test(contents_are_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
