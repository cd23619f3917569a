/* Expressions of elements: the functions that build more than one node. */
#include "ir/expr.h"

static const wick_expr_format expr_formats[2] = {
    {WICK_F32, WICK_I32, 23, 127, 0x1.8p23},
    {WICK_F64, WICK_I64, 52, 1023, 0x1.8p52},
};

const wick_expr_format *wick_expr_format_of(wick_builder *b, wick_value x)
{
  return &expr_formats[wick_built_info(b, x)->elem == WICK_F64];
}

static wick_value expr_bitcast(wick_builder *b, wick_value x, wick_elem to)
{
  wick_type want = wick_type_with_elem(b->module, wick_built_type(b, x), to);
  return wick_build(b, WICK_OP_bitcast, 1, &x, NULL, 1, &want);
}

wick_value wick_expr_bits(wick_builder *b, wick_value x)
{
  return expr_bitcast(b, x, wick_expr_format_of(b, x)->bits);
}

wick_value wick_expr_from_bits(wick_builder *b, wick_value x)
{
  return expr_bitcast(b, x, wick_built_info(b, x)->elem == WICK_I64 ? WICK_F64 : WICK_F32);
}

wick_value wick_expr_int(wick_builder *b, wick_value like, int64_t i)
{
  const wick_type_info *t = wick_built_info(b, like);
  wick_type type = t->kind == WICK_SCALAR ? wick_built_type(b, like)
                                          : wick_type_tensor(b->module, t->elem, 0, NULL);
  return wick_build_const(b, type, 0, i);
}

wick_value wick_expr_shl(wick_builder *b, wick_value x, uint32_t n)
{
  return wick_build2(b, WICK_OP_shift_left, x, wick_expr_int(b, x, n));
}

wick_value wick_expr_shr(wick_builder *b, wick_value x, uint32_t n)
{
  return wick_build2(b, WICK_OP_shift_right, x, wick_expr_int(b, x, n));
}

wick_value wick_expr_with_sign(wick_builder *b, wick_value x, wick_value sign)
{
  wick_value s = wick_expr_bits(b, sign), top;
  top = wick_expr_int(b, s, wick_built_info(b, s)->elem == WICK_I64 ? INT64_MIN : INT32_MIN);
  s = wick_build2(b, WICK_OP_bit_and, s, top);
  return wick_expr_from_bits(b, wick_build2(b, WICK_OP_bit_or, wick_expr_bits(b, x), s));
}

wick_value wick_expr_upper(wick_builder *b, wick_value x)
{
  wick_value bits = wick_expr_bits(b, x);
  int64_t half = wick_expr_format_of(b, x)->mantissa / 2 + 1; /* keeps 12 of 24 bits, or 26 of 53 */
  wick_value mask = wick_expr_int(b, bits, -((int64_t)1 << half));
  return wick_expr_from_bits(b, wick_build2(b, WICK_OP_bit_and, bits, mask));
}
