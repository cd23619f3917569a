/* Simplification around quantization: a chain of numbers ends in a cast to bytes, or begins with
 * the cast of bytes. Its steps are monotone, so that its value for one number bounds all others. */
#include <math.h>

#include "ir/element.h"
#include "ops/simplify.h"

enum { QUANTIZED_STEPS = 4, QUANTIZED_BYTES = 256 };

/* The steps between x and the result: x * c, x / c, x + c and round(x), in order. c > 0 for factors,
 * which are powers of two times numbers that neither overflow nor underflow. */
typedef struct quantized_chain {
  uint32_t n;
  wick_opcode op[QUANTIZED_STEPS];
  double c[QUANTIZED_STEPS];
  wick_value by[QUANTIZED_STEPS]; /* the operand */
} quantized_chain;

static bool quantized_is_factor(double c)
{
  const double least = ldexp(1, -64), most = ldexp(1, 64);
  return c >= least && c <= most;
}

/* Walks from v back to the first node that is no step. Returns that node's result. */
static wick_value quantized_walk(wick_rewriter *r, wick_value v, quantized_chain *out)
{
  wick_node d;
  quantized_chain back = {0};
  while (back.n < QUANTIZED_STEPS) {
    uint32_t i = back.n;
    back.by[i] = (wick_value){0};
    bool sum = wick_rewrite_def(r, v, WICK_OP_add, &d),
         factor = !sum && (wick_rewrite_def(r, v, WICK_OP_mul, &d) ||
                           wick_rewrite_def(r, v, WICK_OP_div, &d));
    if (sum || factor) {
      if (!wick_rewrite_number(r, d.in[1], &back.c[i]) || !isfinite(back.c[i]) ||
          (factor && !quantized_is_factor(back.c[i])))
        break;
      back.by[i] = d.in[1];
    } else if (!wick_rewrite_def(r, v, WICK_OP_round_even, &d)) {
      break;
    }
    back.op[back.n++] = d.op;
    v = d.in[0];
  }
  *out = (quantized_chain){.n = back.n};
  for (uint32_t i = 0; i < back.n; i++) {
    uint32_t from = back.n - 1 - i;
    out->op[i] = back.op[from], out->c[i] = back.c[from], out->by[i] = back.by[from];
  }
  return v;
}

/* Computes the chain as a kernel does, in f32. */
static float quantized_apply(const quantized_chain *s, float x)
{
  for (uint32_t i = 0; i < s->n; i++) {
    float c = (float)s->c[i];
    switch (s->op[i]) {
    case WICK_OP_add: x += c; break;
    case WICK_OP_mul: x *= c; break;
    case WICK_OP_div: x /= c; break;
    default: x = nearbyintf(x);
    }
  }
  return x;
}

static bool quantized_limits(wick_elem e, double *low, double *high)
{
  *low = e == WICK_I8 ? -128 : 0, *high = e == WICK_I8 ? 127 : 255;
  return e == WICK_I8 || e == WICK_U8;
}

/* Returns the operand of v if v bounds it only where the chain saturates anyway. NaN stays NaN in
 * relu, max and min. */
static wick_value quantized_unbounded(wick_rewriter *r, wick_value v, const quantized_chain *s,
                                      double low, double high)
{
  wick_node d;
  double c = 0;
  if (wick_rewrite_def(r, v, WICK_OP_relu, &d))
    return (double)quantized_apply(s, 0) <= low ? d.in[0] : (wick_value){0};
  bool max = wick_rewrite_def(r, v, WICK_OP_max, &d);
  if (!max && !wick_rewrite_def(r, v, WICK_OP_min, &d)) return (wick_value){0};
  uint32_t k = wick_rewrite_number(r, d.in[1], &c) ? 1 : 0;
  if ((!k && !wick_rewrite_number(r, d.in[0], &c)) || isnan(c)) return (wick_value){0};
  double y = (double)quantized_apply(s, (float)c);
  return (max ? y <= low : y >= high) ? d.in[1 - k] : (wick_value){0};
}

wick_value wick_simplify_saturated(wick_rewriter *r)
{
  quantized_chain s;
  double low, high;
  wick_builder *b = &r->c.b;
  wick_type type = wick_rewrite_type(r);
  if (!quantized_limits(wick_info_of(r->c.f, r->node->first)->elem, &low, &high) ||
      wick_rewrite_info(r, r->in[0])->elem != WICK_F32)
    return (wick_value){0};
  wick_value v = quantized_unbounded(r, quantized_walk(r, r->in[0], &s), &s, low, high);
  if (!v.id) return v;
  for (uint32_t i = 0; i < s.n; i++)
    v = s.by[i].id ? wick_build2(b, s.op[i], v, s.by[i]) : wick_build1(b, s.op[i], v);
  return wick_build(b, WICK_OP_cast, 1, &v, r->node->attr, 1, &type);
}

/* Finds the bytes that v, an f32, was cast from, perhaps minus a zero point. */
static wick_value quantized_bytes(wick_rewriter *r, wick_value v, int64_t *zero)
{
  wick_node d, sub;
  *zero = 0;
  if (!wick_rewrite_def(r, v, WICK_OP_cast, &d)) return (wick_value){0};
  v = d.in[0];
  if (wick_rewrite_def(r, v, WICK_OP_sub, &sub)) {
    if (wick_rewrite_info(r, v)->elem != WICK_I32 || !wick_rewrite_int(r, sub.in[1], zero) ||
        *zero < INT16_MIN || *zero > INT16_MAX || !wick_rewrite_def(r, sub.in[0], WICK_OP_cast, &d))
      return (wick_value){0};
    v = d.in[0];
  } else if (wick_rewrite_info(r, v)->elem == WICK_I32) {
    if (!wick_rewrite_def(r, v, WICK_OP_cast, &d)) return (wick_value){0};
    v = d.in[0];
  }
  double low, high;
  return quantized_limits(wick_rewrite_info(r, v)->elem, &low, &high) ? v : (wick_value){0};
}

wick_value wick_simplify_requantized(wick_rewriter *r)
{
  quantized_chain s;
  double low, high;
  int64_t zero;
  wick_elem e = wick_info_of(r->c.f, r->node->first)->elem;
  if (!quantized_limits(e, &low, &high) || wick_rewrite_info(r, r->in[0])->elem != WICK_F32)
    return (wick_value){0};
  wick_value x = quantized_bytes(r, quantized_walk(r, r->in[0], &s), &zero);
  if (!x.id || !s.n || wick_rewrite_info(r, x)->elem != e) return (wick_value){0};
  for (int64_t q = (int64_t)low; q <= (int64_t)high; q++) {
    float y = quantized_apply(&s, (float)(q - zero));
    double whole = trunc((double)y);
    if ((whole < low ? low : whole > high ? high : whole) != (double)q) return (wick_value){0};
  }
  return x;
}

/* Returns true if s is one positive number, and x holds small integers: their products with s are
 * different numbers, in the same order. */
static bool quantized_keeps_order(wick_rewriter *r)
{
  double s;
  int64_t zero;
  wick_node d;
  return wick_rewrite_def(r, r->in[0], WICK_OP_mul, &d) && wick_rewrite_number(r, d.in[1], &s) &&
         quantized_is_factor(s) && quantized_bytes(r, d.in[0], &zero).id;
}

static wick_value quantized_order(wick_rewriter *r)
{
  wick_node d;
  int64_t zero;
  if (!wick_rewrite_def(r, r->in[0], WICK_OP_mul, &d)) return (wick_value){0};
  wick_value x = quantized_bytes(r, d.in[0], &zero);
  return wick_build(&r->c.b, r->node->op, 1, &x, r->node->attr, 0, NULL);
}

const wick_rewrite wick_simplify_arg[] = {
    {"argmax(mul(x, s))", NULL, quantized_keeps_order, quantized_order},
    {"argmin(mul(x, s))", NULL, quantized_keeps_order, quantized_order},
    {NULL, NULL, NULL, NULL}};
