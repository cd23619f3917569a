/* Operators along the last axis in fixed-point numbers whose scale the run computes.
 * Source: reference kernels of TensorFlow Lite. */
#include "import/tflite/quantized.h"

#include "import/tflite/fixed_math.h"

#include <math.h>

/* ---- SOFTMAX of 8 bits to 16 ---- */

enum { ROW_INTEGER = 5, ROW_SUM_INTEGER = 12, ROW_DIFFERENCES = 256 };

/* What a difference to the largest number is worth: its fixed-point number, and the exponential of that,
 * without integer bits. Differences below -16 count as 0. */
typedef struct row_differences {
  wick_fixed factor;
  int64_t least; /* below it differences count as 0 */
  int64_t scaled[ROW_DIFFERENCES], exponential[ROW_DIFFERENCES], rounded[ROW_DIFFERENCES];
} row_differences;

static row_differences row_differences_of(double scale)
{
  row_differences d;
  double real = scale * (1 << (31 - ROW_INTEGER));
  d.factor = wick_fixed_of(real < 2147483647.0 ? real : 2147483647.0);
  double radius = 31.0 * (1 << (31 - ROW_INTEGER)) / ldexp(1, d.factor.shift);
  d.least = -(int64_t)floor(radius < 1e9 ? radius : 1e9);
  for (int64_t k = 0; k < ROW_DIFFERENCES; k++) {
    bool far = -k < d.least;
    d.scaled[k] = far ? INT32_MIN : wick_fixed_number(-k, d.factor);
    d.exponential[k] = far ? 0 : wick_fixed_exp(d.scaled[k], ROW_INTEGER, 32);
    d.rounded[k] = (d.exponential[k] + (1 << (ROW_SUM_INTEGER - 1))) >> ROW_SUM_INTEGER;
  }
  return d;
}

/* Looks the differences up. */
static wick_value row_look(wick_import_node *n, const int64_t *table, wick_value x)
{
  int64_t dim = ROW_DIFFERENCES;
  wick_value all =
      wick_import_copied(n->c, n->name, WICK_I64, 1, &dim, table, ROW_DIFFERENCES * sizeof *table);
  return wick_emit_gather(n->b, WICK_OP_gather, all, x, 0);
}

/* The largest number of each row minus the numbers, in i32. */
static wick_value row_below(wick_import_node *n)
{
  wick_value x = wick_build_cast(n->b, n->in[0], WICK_I32);
  wick_value most = wick_emit_reduce1(n->b, WICK_OP_reduce_max, x, -1, true);
  return wick_build2(n->b, WICK_OP_sub, most, x);
}

void wick_tflite_softmax_fixed(wick_import_node *n)
{
  wick_builder *b = n->b;
  float beta = (float)wick_tflite_f32(n, 0);
  row_differences d = row_differences_of((double)beta * wick_tflite_in(n, 0)->quant.scale[0]);
  wick_value x = row_below(n), sum = row_look(n, d.rounded, x);
  sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, sum, -1, true);
  wick_value zeros = wick_fixed_zeros(b, sum);
  wick_value part = wick_build2(b, WICK_OP_shift_left, sum, zeros);
  wick_value by = wick_fixed_live_reciprocal(b, wick_emit_by(b, WICK_OP_sub, part, 2147483648.0));
  x = wick_fixed_live_mul(b, row_look(n, d.exponential, x), by);
  wick_value right = wick_emit_number(b, zeros, ROW_SUM_INTEGER + 31 - 16);
  x = wick_fixed_divide_by(b, x, wick_build2(b, WICK_OP_sub, right, zeros));
  n->out[0] = wick_fixed_end(b, x, INT16_MIN, INT16_MIN, INT16_MAX, WICK_I16);
}

/* ---- LOG_SOFTMAX of 8 bits, with four integer bits ---- */

void wick_tflite_log_softmax(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_elem e = wick_tflite_out(n, 0)->elem;
  row_differences d = row_differences_of(wick_tflite_in(n, 0)->quant.scale[0]);
  int64_t lo, hi;
  wick_tflite_limits(e, &lo, &hi);
  wick_value x = row_below(n), sum = row_look(n, d.rounded, x);
  sum = wick_fixed_live_log(b, wick_emit_reduce1(b, WICK_OP_reduce_sum, sum, -1, true));
  /* the least difference whose logarithm has a number */
  double unit = ldexp(1, 31 - d.factor.shift) / (double)wick_max_i64(d.factor.multiplier, 1);
  wick_fixed back = wick_fixed_of(unit);
  wick_value least = wick_emit_by(b, WICK_OP_add, sum, INT32_MIN);
  least = wick_fixed_mul(b, least, 1, &back);
  least = wick_emit_by(b, WICK_OP_max, least, (double)(d.least - 1));
  if (b->status) return;
  wick_value difference = wick_build1(b, WICK_OP_neg, wick_build_cast(b, x, WICK_I64));
  wick_value counts = wick_build2(b, WICK_OP_gt, difference, least);
  wick_value y = wick_build2(b, WICK_OP_sub, row_look(n, d.scaled, x), sum);
  y = wick_emit_by(b, WICK_OP_add, wick_fixed_divide(b, y, 31 - ROW_INTEGER - 4), (double)hi);
  y = wick_build3(b, WICK_OP_where, counts, y, wick_emit_number(b, y, (double)lo));
  n->out[0] = wick_fixed_end(b, y, 0, lo, hi, e);
}

/* ---- L2_NORMALIZATION of 8 bits ---- */

void wick_tflite_normalize(wick_import_node *n)
{
  wick_builder *b = n->b;
  const wick_tflite_tensor *x = wick_tflite_in(n, 0), *y = wick_tflite_out(n, 0);
  wick_value v = wick_build_cast(b, n->in[0], WICK_I64), right;
  v = wick_emit_by(b, WICK_OP_sub, v, (double)x->quant.zero[0]);
  wick_value sum =
      wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build2(b, WICK_OP_mul, v, v), -1, true);
  wick_value by = wick_fixed_live_inverse_root(b, sum, &right);
  right = wick_emit_by(b, WICK_OP_sub, right, 7);
  wick_value none = wick_emit_number(b, right, 0);
  wick_value left = wick_build2(b, WICK_OP_max, wick_build1(b, WICK_OP_neg, right), none);
  if (y->elem == WICK_U8) { /* the factor 128 is in the numbers */
    v = wick_emit_by(b, WICK_OP_mul, v, 128);
    right = wick_emit_by(b, WICK_OP_add, right, 7);
  } else {
    v = wick_build2(b, WICK_OP_shift_left, v, left);
  }
  v = wick_fixed_divide_by(b, wick_fixed_live_mul(b, v, by), right);
  int64_t lo, hi;
  wick_tflite_limits(y->elem, &lo, &hi);
  n->out[0] = wick_fixed_end(b, v, y->elem == WICK_U8 ? 128 : 0, lo, hi, y->elem);
}
