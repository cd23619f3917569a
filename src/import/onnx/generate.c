/* Imports operators that generate tensors (ranges, one-hot, diagonals), and running sums. */
#include <math.h>

#include "import/onnx/import.h"

/* Computes max(ceil((limit - start) / delta), 0) for floats, with the difference in their type.
 * Returns false after it added a failure. */
static bool generate_float_count(wick_onnx_op *o, wick_dim *out)
{
  uint32_t n[3];
  const double *v[3];
  static const char *const what[] = {"start", "limit", "delta"};
  for (uint32_t i = 0; i < 3; i++)
    if (!wick_onnx_floats(o, i, what[i], &n[i], &v[i])) return false;
  double distance = n[0] == 1 && n[1] == 1 ? v[1][0] - v[0][0] : (double)NAN;
  if (wick_onnx_info(o, 0)->elem == WICK_F32) distance = (double)(float)distance;
  double count = n[2] == 1 ? ceil(distance / v[2][0]) : (double)NAN;
  *out = wick_dim_const(count > 0 && count < 0x1p53 ? (int64_t)count : 0);
  if (count < 0x1p53) return true;
  wick_onnx_fail(o, WICK_ERANGE, "its length is %g", count);
  return false;
}

static bool generate_int_count(wick_onnx_op *o, wick_dim *out)
{
  uint32_t n[3];
  const wick_dim *start, *limit;
  const int64_t *delta;
  wick_dims *dims = o->c->module->dims;
  if (!wick_onnx_dims(o, 0, "start", &n[0], &start) ||
      !wick_onnx_dims(o, 1, "limit", &n[1], &limit) ||
      !wick_onnx_numbers(o, 2, "delta", &n[2], &delta))
    return false;
  if (n[0] != 1 || n[1] != 1 || n[2] != 1 || *delta == 0 || *delta == INT64_MIN) {
    wick_onnx_fail(o, WICK_ERANGE, "start, limit and delta are not one number each, delta not 0");
    return false;
  }
  wick_dim distance =
      *delta > 0 ? wick_dim_sub(dims, *limit, *start) : wick_dim_sub(dims, *start, *limit);
  wick_dim count = wick_dim_ceildiv(dims, distance, wick_dim_const(*delta > 0 ? *delta : -*delta));
  *out = wick_dim_max(dims, count, wick_dim_const(0));
  return true;
}

static void generate_range(wick_onnx_op *o)
{
  wick_dim count;
  bool floats = wick_elem_is_float(wick_onnx_info(o, 0)->elem);
  if (!(floats ? generate_float_count(o, &count) : generate_int_count(o, &count))) return;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_range);
  wick_emit_set_dims(&e, "count", 1, &count);
  o->out[0] = wick_emit_end2(&e, wick_onnx_scalar(o, 0), wick_onnx_scalar(o, 2));
}

/* Indices and depth may be of any type of number. */
/* Converts float indices. A fraction becomes an index that matches no class. */
static wick_value generate_whole(wick_onnx_op *o, wick_value x)
{
  if (!wick_elem_is_float(wick_onnx_info(o, 0)->elem)) return wick_build_cast(o->b, x, WICK_I64);
  wick_value index = wick_build_cast(o->b, x, WICK_I64);
  wick_value whole =
      wick_build2(o->b, WICK_OP_eq, wick_build_cast(o->b, index, wick_onnx_info(o, 0)->elem), x);
  if (o->b->status) return index;
  return wick_build3(o->b, WICK_OP_where, whole, index, wick_emit_number(o->b, index, -0x1p62));
}

static void generate_one_hot(wick_onnx_op *o)
{
  uint32_t n;
  wick_dim depth;
  const wick_dim *known;
  const double *number;
  wick_value indices = o->in[0];
  if (wick_elem_is_float(wick_onnx_info(o, 1)->elem)) {
    if (!wick_onnx_floats(o, 1, "depth", &n, &number)) return;
    depth =
        wick_dim_const(n == 1 && number[0] >= 0 && number[0] < 0x1p53 ? (int64_t)number[0] : -1);
  } else {
    if (!wick_onnx_dims(o, 1, "depth", &n, &known)) return;
    depth = n == 1 ? known[0] : wick_dim_const(-1);
  }
  if (!wick_elem_is_int(wick_onnx_info(o, 0)->elem)) indices = generate_whole(o, indices);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_one_hot);
  wick_emit_set_int(&e, "axis", wick_onnx_int(o, "axis", -1));
  wick_emit_set_dims(&e, "depth", 1, &depth);
  o->out[0] = wick_emit_end2(&e, indices, o->in[2]);
}

static void generate_triangle(wick_onnx_op *o)
{
  int64_t k;
  if (!wick_onnx_one(o, 1, "k", 0, &k)) return;
  wick_emit e = wick_emit_begin(o->b, WICK_OP_trilu);
  wick_emit_set_int(&e, "upper", wick_onnx_int(o, "upper", 1));
  wick_emit_set_int(&e, "k", k);
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

/* The result has the input's shape, and its type unless an attribute gives another. */
static void generate_eye(wick_onnx_op *o)
{
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "dtype");
  if (a && !wick_onnx_elem(a->i, &elem)) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "elements of type %s are not supported",
                   wick_onnx_elem_name(a->i, o->c->tmp));
    return;
  }
  wick_type want = wick_type_with_elem(o->c->module, wick_built_type(o->b, o->in[0]), elem);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_eye);
  wick_emit_set_int(&e, "k", wick_onnx_int(o, "k", 0));
  o->out[0] = wick_build(o->b, WICK_OP_eye, 0, NULL, e.attr, 1, &want);
}

static void generate_scan(wick_onnx_op *o)
{
  int64_t axis;
  if (!wick_onnx_one(o, 1, "axis", 0, &axis)) return;
  wick_emit e = wick_emit_begin(o->b, o->row->op);
  wick_emit_set_int(&e, "axis", axis);
  wick_emit_set_int(&e, "exclusive", wick_onnx_int(o, "exclusive", 0));
  wick_emit_set_int(&e, "reverse", wick_onnx_int(o, "reverse", 0));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

const wick_onnx_row wick_onnx_generate_rows[] = {
    {"CumProd", 26, {2, 2}, 1, "exclusive:i reverse:i", generate_scan, WICK_OP_cumprod, 0},
    {"CumSum", 11, {2, 2}, 1, "exclusive:i reverse:i", generate_scan, WICK_OP_cumsum, 0},
    {"EyeLike", 9, {1, 1}, 1, "dtype:i k:i", generate_eye, 0, 0},
    {"OneHot", 9, {3, 3}, 1, "axis:i", generate_one_hot, 0, 0},
    {"Range", 11, {3, 3}, 1, "", generate_range, 0, 0},
    {"Range", 27, {3, 3}, 1, "stash_type:i", generate_range, 0, 0},
    {"Trilu", 14, {1, 2}, 1, "upper:i", generate_triangle, 0, 0},
    {0},
};
