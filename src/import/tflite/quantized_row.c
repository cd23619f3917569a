/* Operators along the last axis in fixed-point numbers whose scale the run computes.
 * Source: reference kernels of TensorFlow Lite. */
#include "import/tflite/quantized.h"

#include "import/tflite/fixed_math.h"

#include <math.h>

/* ---- SOFTMAX of 8 bits to 16 ---- */

/* The exponentials of the 256 differences to the largest number, without integer bits. Differences
 * below -16 count as 0. */
static void row_exponentials(double scale, int64_t *table)
{
  const int integer = 5;
  double real = scale * (1 << (31 - integer));
  wick_fixed f = wick_fixed_of(real < 2147483647.0 ? real : 2147483647.0);
  double radius = 31.0 * (1 << (31 - integer)) / ldexp(1, f.shift);
  for (int64_t k = 0; k < 256; k++) {
    bool far = (double)k > floor(radius);
    table[k] = far ? 0 : wick_fixed_exp(wick_fixed_number(-k, f), integer, 32);
  }
}

void wick_tflite_softmax_fixed(wick_import_node *n)
{
  enum { ACCUMULATED = 12 };
  wick_builder *b = n->b;
  int64_t table[256], rounded[256], dim = 256;
  float beta = (float)wick_tflite_f32(n, 0);
  row_exponentials((double)beta * wick_tflite_in(n, 0)->quant.scale[0], table);
  for (int k = 0; k < 256; k++) rounded[k] = (table[k] + (1 << (ACCUMULATED - 1))) >> ACCUMULATED;
  wick_value all = wick_import_copied(n->c, n->name, WICK_I64, 1, &dim, table, sizeof table),
             small = wick_import_copied(n->c, n->name, WICK_I64, 1, &dim, rounded, sizeof rounded);
  wick_value x = wick_build_cast(b, n->in[0], WICK_I32);
  wick_value most = wick_emit_reduce1(b, WICK_OP_reduce_max, x, -1, true);
  x = wick_build2(b, WICK_OP_sub, most, x);
  wick_value sum = wick_emit_gather(b, WICK_OP_gather, small, x, 0);
  sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, sum, -1, true);
  wick_value zeros = wick_fixed_zeros(b, sum);
  wick_value part = wick_build2(b, WICK_OP_shift_left, sum, zeros);
  part = wick_emit_by(b, WICK_OP_sub, part, 2147483648.0);
  wick_value by = wick_fixed_live_reciprocal(b, part);
  x = wick_fixed_live_mul(b, wick_emit_gather(b, WICK_OP_gather, all, x, 0), by);
  wick_value right = wick_emit_number(b, zeros, ACCUMULATED + 31 - 16);
  x = wick_fixed_divide_by(b, x, wick_build2(b, WICK_OP_sub, right, zeros));
  n->out[0] = wick_fixed_end(b, x, INT16_MIN, INT16_MIN, INT16_MAX, WICK_I16);
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
