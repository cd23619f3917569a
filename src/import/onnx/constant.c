/* Imports constants, and conversions of the element type. */
#include <string.h>

#include "import/onnx/import.h"
#include "ir/element.h"

static const char *constant_name(const wick_onnx_op *o)
{
  return o->nout ? wick_onnx_name(o->c, o->node->output.at[0]) : "";
}

static wick_value constant_row(wick_onnx_op *o, wick_elem elem, const void *data, size_t n,
                               size_t size)
{
  wick_module *m = o->c->module;
  int64_t dim = (int64_t)n;
  const void *kept = wick_arena_copy(&m->mem, data, n * size, size);
  wick_type type = wick_type_tensor_const(m, elem, 1, &dim);
  return wick_build_constant(o->b, wick_emit_constant(m, constant_name(o), type, kept, n * size));
}

int64_t wick_onnx_string(wick_onnx_context *c, wick_span s)
{
  return wick_string_table_add(&c->module->strings, (const char *)s.at, s.nbytes, true);
}

wick_value wick_onnx_strings(wick_onnx_op *o, wick_wire_spans list)
{
  int64_t *v = wick_new(o->c->tmp, int64_t, list.n + 1);
  for (size_t i = 0; i < list.n; i++) v[i] = wick_onnx_string(o->c, list.at[i]);
  return constant_row(o, WICK_STRING, v, list.n, sizeof *v);
}

/* Exactly one attribute has the value. From opset 11 on there are several forms. */
static void constant_constant(wick_onnx_op *o)
{
  static const char *const names[] = {"value",         "value_float", "value_floats",
                                      "value_int",     "value_ints",  "value_string",
                                      "value_strings", "sparse_value"};
  const wick_onnx_attr *a = NULL, *given;
  size_t form = 0;
  for (size_t i = 0; i < WICK_COUNT(names); i++) {
    if (!(given = wick_onnx_attr_find(o, names[i]))) continue;
    if (a) wick_onnx_fail(o, WICK_EPARSE, "it has both %s and %s", names[form], names[i]);
    a = given;
    form = i;
  }
  wick_module *m = o->c->module;
  if (!a) {
    wick_onnx_fail(o, WICK_EPARSE, "it has no value");
  } else if (form == 0 && a->t) {
    o->out[0] = wick_onnx_constant(o->c, a->t, constant_name(o), o->location);
    o->failed = !o->out[0].id;
  } else if (form == 1) {
    o->out[0] = wick_build_const(o->b, wick_type_tensor(m, WICK_F32, 0, NULL), (double)a->f, 0);
  } else if (form == 2) {
    o->out[0] = constant_row(o, WICK_F32, a->floats.at, a->floats.n, sizeof *a->floats.at);
  } else if (form == 3) {
    o->out[0] = wick_build_const(o->b, wick_type_tensor(m, WICK_I64, 0, NULL), 0, a->i);
  } else if (form == 4) {
    o->out[0] = constant_row(o, WICK_I64, a->ints.at, a->ints.n, sizeof *a->ints.at);
  } else if (form == 5) {
    wick_type one = wick_type_tensor(m, WICK_STRING, 0, NULL);
    o->out[0] = wick_build_const(o->b, one, 0, wick_onnx_string(o->c, a->s));
  } else if (form == 6) {
    o->out[0] = wick_onnx_strings(o, a->strings);
  } else if (form == 7 && a->sparse_tensor) {
    o->out[0] = wick_onnx_sparse_constant(o->c, a->sparse_tensor, constant_name(o), o->location);
    o->failed = !o->out[0].id;
  } else {
    wick_onnx_fail(o, WICK_EPARSE, "%s is empty", names[form]);
  }
}

/* One number, by default 0.f, in the shape that the operand contains. */
static void constant_of_shape(wick_onnx_op *o)
{
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_onnx_dims(o, 0, "the shape", &rank, &dim)) return;
  if (rank > WICK_MAX_RANK) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", rank, WICK_MAX_RANK);
    return;
  }
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "value");
  wick_onnx_data d = {.elem = WICK_F32, .rank = 1, .dim = {1}, .data = (const float[]){0}};
  wick_status s =
      a && a->t ? wick_onnx_tensor_read(a->t, &o->c->outside, o->location, o->c->tmp, &d) : NULL;
  if (s) {
    wick_errors_add(&o->c->errors, s);
    wick_onnx_problem_add(o->c, o->node, s, o->location);
    o->failed = true;
    return;
  }
  int64_t numel = 1;
  for (uint32_t i = 0; i < d.rank; i++) numel *= d.dim[i];
  if (numel != 1) {
    wick_onnx_fail(o, WICK_ETYPE, "its value has %lld elements, expected 1", (long long)numel);
    return;
  }
  wick_scalar one = wick_load_elem(d.elem, d.data, 0);
  bool is_float = wick_elem_is_float(d.elem);
  wick_type type = wick_type_tensor(o->c->module, d.elem, rank, dim);
  o->out[0] = wick_build_const(o->b, type, is_float ? one.f : 0, is_float ? 0 : one.i);
}

/* ---- element types ---- */

/* Returns the largest finite number of an 8-bit float type. `saturate`, which is the default, clips
 * to it, infinities too. */
static double constant_largest(wick_elem e)
{
  switch ((int)e) {
  case WICK_F8E4M3: return 448;
  case WICK_F8E4M3FNUZ: return 240;
  case WICK_F8E5M2:
  case WICK_F8E5M2FNUZ: return 57344;
  default: return 0;
  }
}

wick_value wick_onnx_saturate(wick_onnx_op *o, wick_value x, wick_elem to)
{
  double most = constant_largest(to);
  if (most == 0 || !wick_onnx_int(o, "saturate", 1)) return x;
  wick_value in[3] = {x, wick_emit_number(o->b, x, -most), wick_emit_number(o->b, x, most)};
  return wick_build(o->b, WICK_OP_clip, 3, in, NULL, 0, NULL);
}

static wick_value constant_bits(wick_onnx_op *o, wick_value x, wick_elem to)
{
  if (o->b->status) return x;
  wick_type want = wick_type_with_elem(o->c->module, wick_built_type(o->b, x), to);
  return wick_build(o->b, WICK_OP_bitcast, 1, &x, NULL, 1, &want);
}

/* In f64 the exponent and the fraction of every number are separate bits. The code is the exponent,
 * plus one if the fraction requires it. Negative numbers become NaN; ONNX leaves them undefined. */
wick_value wick_onnx_power(wick_onnx_op *o, wick_value x)
{
  enum { UP, DOWN, NEAREST, BIAS = 1023 - 127, MOST = 254, NOT_A_NUMBER = 255 };
  wick_builder *b = o->b;
  int mode = wick_onnx_word(o, "round_mode", "up down nearest");
  bool saturate = wick_onnx_int(o, "saturate", 1) != 0;
  x = wick_build_cast(b, x, WICK_F64);
  wick_value word = constant_bits(o, x, WICK_I64), zero = wick_emit_number(o->b, word, 0);
  wick_value fraction = wick_build2(b, WICK_OP_bit_and, word,
                                    wick_emit_number(o->b, word, (double)((INT64_C(1) << 52) - 1)));
  wick_value code = wick_emit_by(
      o->b, WICK_OP_sub,
      wick_build2(b, WICK_OP_shift_right, word, wick_emit_number(o->b, word, 52)), BIAS);
  wick_value more = wick_emit_by(o->b, WICK_OP_ge, fraction, mode == NEAREST ? 0x1p51 : 1);
  if (mode != DOWN) code = wick_build2(b, WICK_OP_add, code, wick_build_cast(b, more, WICK_I64));
  wick_value most = wick_emit_number(o->b, word, MOST),
             nan = wick_emit_number(o->b, word, NOT_A_NUMBER);
  wick_value low = wick_build2(b, WICK_OP_lt, code, zero),
             high = wick_build2(b, WICK_OP_gt, code, most);
  code = wick_build3(b, WICK_OP_where, low, saturate ? zero : nan, code);
  code = wick_build3(b, WICK_OP_where, high, saturate ? most : nan, code);
  wick_value number = wick_emit_by(o->b, WICK_OP_ge, x, 0);
  code = wick_build3(b, WICK_OP_where, number, code, nan);
  return constant_bits(o, wick_build_cast(b, code, WICK_U8), WICK_F8E8M0);
}

wick_value wick_onnx_cast_text(wick_onnx_op *o, wick_value x, wick_elem to)
{
  wick_elem from = wick_built_info(o->b, x)->elem;
  if (from == to) return x;
  if (from != WICK_STRING && to != WICK_STRING) return wick_build_cast(o->b, x, to);
  wick_type want = wick_type_with_elem(o->c->module, wick_built_type(o->b, x), to);
  wick_opcode op = to == WICK_STRING ? WICK_OP_format_number : WICK_OP_parse_number;
  return wick_build(o->b, op, 1, &x, NULL, 1, &want);
}

static void constant_cast_to(wick_onnx_op *o, wick_elem to)
{
  wick_value x = o->in[0];
  if (wick_onnx_info(o, 0)->elem == WICK_STRING || to == WICK_STRING) {
    o->out[0] = wick_onnx_cast_text(o, x, to);
    return;
  }
  if (to == WICK_F8E8M0 && to != wick_onnx_info(o, 0)->elem) {
    o->out[0] = wick_onnx_power(o, x);
    return;
  }
  if (constant_largest(to) > 0 && !wick_elem_is_float(wick_onnx_info(o, 0)->elem))
    x = wick_build_cast(o->b, x, WICK_F32);
  x = wick_onnx_saturate(o, x, to);
  /* Integers smaller than a byte wrap, also from floats. Wick's conversion of floats saturates. */
  if (wick_elem_storage[to].bits < 8 && wick_elem_is_int(to) &&
      wick_elem_is_float(wick_onnx_info(o, 0)->elem))
    x = wick_build_cast(o->b, x, WICK_I32);
  wick_value y = wick_build_cast(o->b, x, to);
  wick_onnx_fraction_cast(o, y);
  o->out[0] = y.id == o->in[0].id ? y : y;
}

/* Reads the element type that an attribute names: a number, or a word in opset 1. */
static bool constant_type(wick_onnx_op *o, const wick_onnx_attr *a, wick_elem *out)
{
  int64_t type = a->i;
  for (int64_t k = 0; a->s.nbytes && k < WICK_ONNX_NTYPE; k++)
    if (wick_span_is(a->s, wick_onnx_elem_name(k, o->c->tmp))) type = k;
  if (wick_onnx_elem(type, out)) return true;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "elements of type %s are not supported",
                 wick_onnx_elem_name(type, o->c->tmp));
  return false;
}

static void constant_cast(wick_onnx_op *o)
{
  wick_elem to;
  if (constant_type(o, wick_onnx_attr_find(o, "to"), &to)) constant_cast_to(o, to);
}

static void constant_cast_like(wick_onnx_op *o) { constant_cast_to(o, wick_onnx_info(o, 1)->elem); }

static void constant_bitcast(wick_onnx_op *o)
{
  wick_elem to;
  if (!constant_type(o, wick_onnx_attr_find(o, "to"), &to)) return;
  if (to == WICK_STRING || wick_onnx_info(o, 0)->elem == WICK_STRING) {
    wick_onnx_fail(o, WICK_ETYPE, "the bits of strings are their own");
    return;
  }
  if (wick_onnx_info(o, 0)->elem == WICK_BOOL && wick_elem_storage[to].bits == 8 &&
      wick_elem_is_int(to)) {
    o->out[0] = wick_build_cast(o->b, o->in[0], to); /* its bits are 0 and 1 */
    return;
  }
  o->out[0] = constant_bits(o, o->in[0], to);
}

/* ---- what passes its operand on ---- */

static void constant_identity(wick_onnx_op *o) { o->out[0] = o->in[0]; }

const wick_onnx_row wick_onnx_constant_rows[] = {
    {"BitCast", 26, {1, 1}, 1, "to:i!", constant_bitcast, 0, 0},
    {"Cast", 1, {1, 1}, 1, "to:s!", constant_cast, 0, 0},
    {"Cast", 6, {1, 1}, 1, "to:i!", constant_cast, 0, 0},
    {"Cast", 19, {1, 1}, 1, "to:i! saturate:i", constant_cast, 0, 0},
    {"Cast", 24, {1, 1}, 1, "to:i! saturate:i round_mode:s", constant_cast, 0, 0},
    {"CastLike", 15, {2, 2}, 1, "", constant_cast_like, 0, 0},
    {"CastLike", 19, {2, 2}, 1, "saturate:i", constant_cast_like, 0, 0},
    {"CastLike", 24, {2, 2}, 1, "saturate:i round_mode:s", constant_cast_like, 0, 0},
    {"Constant", 1, {0, 0}, 1, "value:t!", constant_constant, 0, 0},
    {"Constant", 11, {0, 0}, 1, "value:t sparse_value:x", constant_constant, 0, 0},
    {"Constant",
     12,
     {0, 0},
     1,
     "value:t value_float:f value_floats:F value_int:i value_ints:I value_string:s value_strings:S "
     "sparse_value:x",
     constant_constant,
     0,
     0},
    {"ConstantOfShape", 9, {1, 1}, 1, "value:t", constant_of_shape, 0, 0},
    {"Identity", 1, {1, 1}, 1, "", constant_identity, WICK_OP_tuple, 0},
    {0},
};
