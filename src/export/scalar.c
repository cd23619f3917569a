/* Exports element-wise operators that ONNX has only as compositions or not for all element types,
 * and constants and conversions. */
#include <math.h>

#include "export/write.h"
#include "ir/element.h"

static const char *scalar_number(wick_export_op *o, double number)
{
  return wick_export_number(o->x, wick_export_info(o, 0)->elem, number);
}

/* ---- constants ---- */

/* Exports a constant. If its value has the constant's name, its users read the initializer. */
void wick_export_const(wick_export_op *o)
{
  wick_export *x = o->x;
  const wick_imm *imm = wick_const_imm(o->n);
  wick_value v = o->n->first;
  const wick_type_info *t = wick_export_out_info(o, 0);
  int64_t dim[WICK_MAX_RANK];
  bool known = wick_type_const_dims(t, dim);
  const char *name = wick_names_get(&x->m->names, x->f->value[v.id].name);
  if (imm->constant) {
    const wick_constant *c = wick_constant_get(x->m, imm->constant);
    const void *data = wick_constant_bytes(x->m, imm->constant);
    if (!known || (!data && c->nbytes)) {
      wick_export_fail(o, "the constant \"%s\" has no data", c->name);
      return;
    }
    const char *made =
        wick_export_tensor(x, *name ? name : c->name, t->elem, t->rank, dim, data, c->nbytes);
    if (x->value[v.id]) /* a result: under its name, which `made` could not have */
      wick_export_result_is(o, 0, made);
    else
      x->value[v.id] = made;
    return;
  }
  unsigned char *one = wick_arena_alloc(x->mem, 16, 16);
  bool is_float = wick_elem_is_float(t->elem);
  if (t->elem == WICK_STRING) { /* ConstantOfShape does not accept strings */
    const char *text = wick_export_tensor(x, "text", WICK_STRING, 0, dim, &imm->i, sizeof imm->i);
    wick_export_result_is(o, 0,
                          wick_export_2(o, "Expand", text, wick_export_dims(o, t->rank, t->dim)));
    return;
  }
  wick_store_elem(t->elem, one, 0,
                  is_float ? (wick_scalar){.f = imm->f} : (wick_scalar){.i = imm->i});
  if (t->rank == 0 && !x->value[v.id]) {
    x->value[v.id] = wick_export_tensor(x, *name ? name : "number", t->elem, 0, dim, one,
                                        wick_elem_bytes(t->elem, 1));
    return;
  }
  const char *shape = wick_export_dims(o, t->rank, t->dim);
  wick_onnx_node *y = wick_export_begin(o, "ConstantOfShape", 1, &shape);
  wick_onnx_tensor value = {.data_type = wick_export_type(t->elem),
                            .dims = {wick_dup(x->mem, int64_t, (const int64_t[]){1}, 1), 1},
                            .raw_data = {one, wick_elem_bytes(t->elem, 1)}};
  y->attribute.at[y->attribute.n++] =
      (wick_onnx_attr){.name = wick_export_span("value"),
                       .type = WICK_ONNX_ATTR_TENSOR,
                       .t = wick_dup(x->mem, wick_onnx_tensor, &value, 1)};
  wick_export_end_results(o, y, 1);
}

/* ---- conversions ---- */

/* Clamps x before a cast to integers. Wick saturates numbers out of the range; ONNX leaves the
 * result undefined, and wraps for types smaller than a byte. */
static const char *scalar_saturate(wick_export_op *o, const char *x, wick_elem from, wick_elem to)
{
  uint32_t bits = wick_elem_storage[to].bits;
  bool is_signed = wick_elem_class(to) == WICK_SINT;
  double lo = is_signed ? -ldexp(1, (int)bits - 1) : 0,
         hi = ldexp(1, (int)bits - (is_signed ? 1 : 0)) - 1;
  return wick_export_3(o, "Clip", x, wick_export_number(o->x, from, lo),
                       wick_export_number(o->x, from, hi));
}

/* Returns the node that defines v. If it is a conversion between floats, returns the node that
 * defines its operand. */
static const wick_node *scalar_behind(wick_export_op *o, wick_value v)
{
  const wick_node *n = wick_export_definer(o, v);
  if (n && n->op == WICK_OP_cast && wick_elem_is_float(wick_info_of(o->x->f, n->in[0])->elem))
    n = wick_export_definer(o, n->in[0]);
  return n;
}

/* Returns the node that rounds, if the operand is a rounded value, with or without the addition of
 * a zero point of type `to`. Sets *out_zero to the zero point. Returns NULL if it is none. */
static const wick_node *scalar_rounding(wick_export_op *o, wick_elem to, wick_value *out_zero)
{
  const wick_node *n = wick_export_definer(o, o->n->in[0]);
  *out_zero = (wick_value){0};
  if (n && n->op == WICK_OP_add) {
    const wick_node *zero = wick_export_definer(o, n->in[1]);
    if (zero && zero->op == WICK_OP_cast && wick_info_of(o->x->f, zero->in[0])->elem == to)
      *out_zero = zero->in[0];
    n = out_zero->id ? scalar_behind(o, n->in[0]) : wick_export_definer(o, n->in[0]);
  } else {
    n = scalar_behind(o, o->n->in[0]);
  }
  return n && n->op == WICK_OP_round_even ? n : NULL;
}

static bool scalar_is_one(const wick_export_op *o, wick_value v)
{
  return wick_dim_is(wick_type_numel(o->x->m, wick_type_of(o->x->f, v)), 1);
}

/* Exports round(x / scale) + zero as ONNX's QuantizeLinear, which saturates. Returns NULL if the
 * operand has another form. */
static const char *scalar_quantize(wick_export_op *o, wick_elem to)
{
  static const uint64_t takes = WICK_BIT(WICK_I8) | WICK_BIT(WICK_U8) | WICK_BIT(WICK_I16) |
                                WICK_BIT(WICK_U16) | WICK_BIT(WICK_I4) | WICK_BIT(WICK_U4);
  const wick_func *f = o->x->f;
  wick_value zero;
  const wick_node *round = takes & WICK_BIT(to) ? scalar_rounding(o, to, &zero) : NULL;
  const wick_node *add = wick_export_definer(o, o->n->in[0]);
  if (!round || (zero.id ? !scalar_is_one(o, zero) : add && add->op == WICK_OP_add)) return NULL;
  const wick_node *div = wick_export_definer(o, round->in[0]);
  bool divides = div && div->op == WICK_OP_div && scalar_is_one(o, div->in[1]) &&
                 wick_info_of(f, div->in[0])->rank == wick_info_of(f, round->in[0])->rank;
  wick_value v = divides ? div->in[0] : round->in[0];
  wick_elem e = wick_info_of(f, v)->elem;
  if (e != WICK_F32 && e != WICK_F16 && e != WICK_BF16) return NULL;
  const char *in[] = {wick_export_value(o->x, v),
                      divides ? wick_export_reshape(o, wick_export_value(o->x, div->in[1]), 0, NULL)
                              : wick_export_number(o->x, e, 1),
                      zero.id ? wick_export_reshape(o, wick_export_value(o->x, zero), 0, NULL)
                              : ""};
  wick_onnx_node *n = wick_export_begin(o, "QuantizeLinear", WICK_COUNT(in), in);
  if (!zero.id) wick_export_set_int(o, n, "output_dtype", wick_export_type(to));
  return wick_export_end(o, n);
}

void wick_export_cast_row(wick_export_op *o)
{
  wick_elem from = wick_export_info(o, 0)->elem, to = wick_export_out_info(o, 0)->elem;
  const char *x = wick_export_in(o, 0);
  bool narrow =
      wick_elem_is_float(from) && wick_elem_is_int(to) && wick_elem_storage[to].bits <= 16;
  const char *quantized = narrow ? scalar_quantize(o, to) : NULL;
  wick_value zero;
  if (quantized) {
    wick_export_result_is(o, 0, quantized);
    return;
  }
  if (narrow && (wick_elem_storage[to].bits < 8 || scalar_rounding(o, to, &zero)))
    x = scalar_saturate(o, x, from, to);
  wick_export_result_is(o, 0, wick_export_cast(o, x, from, to));
}

void wick_export_bitcast_row(wick_export_op *o)
{
  wick_elem to = wick_export_out_info(o, 0)->elem;
  wick_export_result_is(o, 0, wick_export_bitcast(o, wick_export_in(o, 0), to));
}

/* Exports retype between element types of equal size: the bits stay, the shape changes. */
void wick_export_retype(wick_export_op *o)
{
  const wick_type_info *x = wick_export_info(o, 0), *y = wick_export_out_info(o, 0);
  if (wick_elem_storage[x->elem].bits != wick_elem_storage[y->elem].bits) {
    wick_export_fail(o, "the bytes of %s as %s have no form in ONNX", wick_elem_name(x->elem),
                     wick_elem_name(y->elem));
    return;
  }
  const char *v = wick_export_in(o, 0);
  if (x->elem != y->elem) v = wick_export_bitcast(o, v, y->elem);
  wick_export_result_is(o, 0, wick_export_reshape(o, v, y->rank, y->dim));
}

/* Exports narrow: numbers below the normal range of f32 become 0. */
void wick_export_narrow(wick_export_op *o)
{
  const char *x = wick_export_in(o, 0), *zero = scalar_number(o, 0);
  const char *small =
      wick_export_2(o, "Less", wick_export_1(o, "Abs", x), scalar_number(o, 0x1p-126));
  x = wick_export_3(o, "Where", small, wick_export_2(o, "Mul", x, zero), x);
  wick_export_result_is(o, 0, wick_export_cast(o, x, WICK_F32, wick_export_out_info(o, 0)->elem));
}

/* ---- in other words ---- */

/* Returns tanh(x / 2) * (exp(x) + 1), which has no cancellation. */
static const char *scalar_expm1(wick_export_op *o, const char *x)
{
  const char *half = wick_export_2(o, "Mul", x, scalar_number(o, 0.5)),
             *t = wick_export_1(o, "Tanh", half), *e = wick_export_1(o, "Exp", x);
  return wick_export_2(o, "Mul", t, wick_export_2(o, "Add", e, scalar_number(o, 1)));
}

/* Returns 2 * atanh(x / (2 + x)) for small x, else log(1 + x). */
static const char *scalar_log1p(wick_export_op *o, const char *x)
{
  const char *one = scalar_number(o, 1), *two = scalar_number(o, 2),
             *q = wick_export_2(o, "Div", x, wick_export_2(o, "Add", x, two)),
             *near = wick_export_2(o, "Mul", two, wick_export_1(o, "Atanh", q)),
             *far = wick_export_1(o, "Log", wick_export_2(o, "Add", one, x)),
             *is = wick_export_2(o, "Less", wick_export_1(o, "Abs", x), scalar_number(o, 0.5));
  return wick_export_3(o, "Where", is, near, far);
}

static const char *scalar_trunc(wick_export_op *o, const char *x)
{
  const char *up = wick_export_1(o, "Ceil", x), *down = wick_export_1(o, "Floor", x);
  return wick_export_3(o, "Where", wick_export_2(o, "Less", x, scalar_number(o, 0)), up, down);
}

/* Computes fma in f64, where the product of narrower floats is exact. */
static const char *scalar_fma(wick_export_op *o)
{
  wick_elem e = wick_export_info(o, 0)->elem;
  const char *in[3];
  for (uint32_t i = 0; i < 3; i++) in[i] = wick_export_cast(o, wick_export_in(o, i), e, WICK_F64);
  const char *y = wick_export_2(o, "Add", wick_export_2(o, "Mul", in[0], in[1]), in[2]);
  return wick_export_cast(o, y, WICK_F64, e);
}

void wick_export_scalar(wick_export_op *o)
{
  const char *x = wick_export_in(o, 0), *y = wick_export_in(o, 1), *z;
  switch ((int)o->n->op) {
  case WICK_OP_exp2: z = wick_export_2(o, "Pow", scalar_number(o, 2), x); break;
  case WICK_OP_expm1: z = scalar_expm1(o, x); break;
  case WICK_OP_fma: z = scalar_fma(o); break;
  case WICK_OP_log1p: z = scalar_log1p(o, x); break;
  case WICK_OP_log2:
    z = wick_export_2(o, "Div", wick_export_1(o, "Log", x), scalar_number(o, 0.693147180559945309));
    break;
  case WICK_OP_muladd:
    z = wick_export_2(o, "Add", wick_export_2(o, "Mul", x, y), wick_export_in(o, 2));
    break;
  case WICK_OP_ne: z = wick_export_1(o, "Not", wick_export_2(o, "Equal", x, y)); break;
  case WICK_OP_neg:
    z = wick_elem_class(wick_export_info(o, 0)->elem) == WICK_UINT
            ? wick_export_2(o, "Sub", scalar_number(o, 0), x)
            : wick_export_1(o, "Neg", x);
    break;
  case WICK_OP_rsqrt: z = wick_export_1(o, "Reciprocal", wick_export_1(o, "Sqrt", x)); break;
  default: z = scalar_trunc(o, x); break;
  }
  wick_export_result_is(o, 0, z);
}

/* Exports celu. ONNX has it for f32; for f64 uses its definition. */
void wick_export_celu(wick_export_op *o)
{
  wick_elem e = wick_export_info(o, 0)->elem;
  const char *x = wick_export_in(o, 0);
  if (e == WICK_F64) {
    const char *alpha = scalar_number(o, wick_export_attr(o, "alpha")->f),
               *y = wick_export_1(o, "Exp", wick_export_2(o, "Div", x, alpha));
    y = wick_export_2(o, "Mul", alpha, wick_export_2(o, "Sub", y, scalar_number(o, 1)));
    const char *below = wick_export_2(o, "Less", x, scalar_number(o, 0));
    wick_export_result_is(o, 0, wick_export_3(o, "Where", below, y, x));
    return;
  }
  x = wick_export_cast(o, x, e, WICK_F32);
  wick_onnx_node *n = wick_export_begin(o, "Celu", 1, &x);
  wick_export_set_attrs(o, n, "alpha");
  wick_export_result_is(o, 0, wick_export_cast(o, wick_export_end(o, n), WICK_F32, e));
}

/* Exports min and max. For bools the maximum is `or`, the minimum `and`. */
void wick_export_minmax(wick_export_op *o)
{
  bool max = o->n->op == WICK_OP_max, logic = wick_export_info(o, 0)->elem == WICK_BOOL;
  const char *type = logic ? (max ? "Or" : "And") : max ? "Max" : "Min";
  wick_export_result_is(o, 0, wick_export_2(o, type, wick_export_in(o, 0), wick_export_in(o, 1)));
}

static const char *scalar_shift(wick_export_op *o, const char *x, const char *y)
{
  wick_onnx_node *n = wick_export_begin(o, "BitShift", 2, (const char *const[]){x, y});
  wick_export_set_word(o, n, "direction", o->n->op == WICK_OP_shift_left ? "LEFT" : "RIGHT");
  return wick_export_end(o, n);
}

/* Exports shifts. ONNX shifts unsigned integers only. A right shift of a negative integer shifts
 * its complement, so that the inserted zeros become copies of the sign. */
void wick_export_shift(wick_export_op *o)
{
  static const wick_elem plain[WICK_NELEM] = {
      [WICK_I64] = WICK_U64, [WICK_I32] = WICK_U32, [WICK_I16] = WICK_U16, [WICK_I8] = WICK_U8};
  wick_elem e = wick_export_info(o, 0)->elem;
  const char *x = wick_export_in(o, 0), *y = wick_export_in(o, 1);
  if (!plain[e]) {
    wick_export_result_is(o, 0, scalar_shift(o, x, y));
    return;
  }
  const char *by = wick_export_bitcast(o, y, plain[e]),
             *moved = scalar_shift(o, wick_export_bitcast(o, x, plain[e]), by);
  moved = wick_export_bitcast(o, moved, e);
  if (o->n->op == WICK_OP_shift_right) {
    const char *other = wick_export_bitcast(o, wick_export_1(o, "BitwiseNot", x), plain[e]);
    other = wick_export_bitcast(o, scalar_shift(o, other, by), e);
    moved = wick_export_3(o, "Where", wick_export_2(o, "Less", x, scalar_number(o, 0)),
                          wick_export_1(o, "BitwiseNot", other), moved);
  }
  wick_export_result_is(o, 0, moved);
}

/* Exports the upper half of a product: what is left of it without its rest, divided by 2^bits. */
void wick_export_mul_high(wick_export_op *o)
{
  const char *x = wick_export_cast(o, wick_export_in(o, 0), WICK_I32, WICK_I64),
             *y = wick_export_cast(o, wick_export_in(o, 1), WICK_I32, WICK_I64),
             *one = wick_export_i64(o->x, (int64_t)1 << wick_export_attr(o, "bits")->i);
  int64_t add = wick_export_attr(o, "add")->i;
  x = wick_export_2(o, "Mul", x, y);
  if (add) x = wick_export_2(o, "Add", x, wick_export_i64(o->x, add));
  x = wick_export_2(o, "Sub", x, wick_export_2(o, "Mod", x, one));
  x = wick_export_cast(o, wick_export_2(o, "Div", x, one), WICK_I64, WICK_I32);
  wick_export_result_is(o, 0, x);
}

/* Exports mod. In ONNX remainders of floats have the dividend's sign. If the divisor's sign
 * differs, adds the divisor; a zero gets the divisor's sign. */
void wick_export_mod(wick_export_op *o)
{
  bool fmod = o->n->op == WICK_OP_fmod, is_float = wick_elem_is_float(wick_export_info(o, 0)->elem);
  const char *x = wick_export_in(o, 0), *y = wick_export_in(o, 1), *zero = scalar_number(o, 0);
  wick_onnx_node *n = wick_export_begin(o, "Mod", 2, (const char *const[]){x, y});
  wick_export_set_int(o, n, "fmod", fmod || is_float);
  const char *r = wick_export_end(o, n);
  if (is_float && !fmod) {
    const char *below = wick_export_2(o, "Less", y, zero),
               *differ = wick_export_2(o, "Xor", wick_export_2(o, "Less", r, zero), below),
               *none = wick_export_2(o, "Equal", r, zero),
               *sign = wick_export_3(o, "Where", below, scalar_number(o, -0.0), zero);
    r = wick_export_3(o, "Where", differ, wick_export_2(o, "Add", r, y), r);
    r = wick_export_3(o, "Where", none, sign, r);
  }
  wick_export_result_is(o, 0, r);
}
