/* Imports operators on features of ai.onnx.ml: selection, concatenation, scaling, imputation and
 * one-hot encoding. */
#include "import/onnx/ml.h"

#include <math.h>

/* Selects along the last axis. A single row becomes a matrix. */
static void feature_extract(wick_onnx_op *o)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  if (x->rank < 1) {
    wick_onnx_fail(o, WICK_ETYPE, "x has rank 0");
    return;
  }
  wick_value flat = wick_build_reshape(o->b, o->in[1], 1, (const wick_dim[]){wick_dim_const(-1)});
  wick_value y = wick_emit_gather(o->b, WICK_OP_gather, o->in[0], flat, x->rank - 1u);
  o->out[0] = x->rank == 1 ? wick_emit_unsqueeze(o->b, y, 0) : y;
}

static void feature_binarize(wick_onnx_op *o)
{
  wick_elem e = wick_onnx_info(o, 0)->elem;
  double threshold = wick_onnx_float(o, "threshold", 0);
  if (wick_elem_is_int(e)) threshold = floor(threshold); /* for integers, x > 0.5 is x > 0 */
  o->out[0] = wick_build_cast(o->b, wick_emit_by(o->b, WICK_OP_gt, o->in[0], threshold), e);
}

/* Cuts each input to its stated number of columns, or fills it with zeros. */
static wick_value feature_columns(wick_onnx_op *o, uint32_t i, int64_t n)
{
  const wick_type_info *t = wick_onnx_info(o, i);
  wick_dim rows = t->rank > 1 ? t->dim[0] : wick_dim_const(1);
  wick_value x =
      wick_build_reshape(o->b, o->in[i], 2, (const wick_dim[]){rows, wick_dim_const(-1)});
  if (o->b->status) return x;
  wick_dim have = wick_built_info(o->b, x)->dim[1];
  x = wick_build_cast(o->b, x, WICK_F32);
  if (n < 0 || wick_dim_is(have, n)) return x;
  if (!wick_dim_is_const(have)) {
    wick_onnx_must_be_known(o, "the number of features", have);
    return x;
  }
  if (have.v > n) return wick_emit_slice(o->b, x, 1, wick_dim_const(0), wick_dim_const(n));
  wick_emit e = wick_emit_begin(o->b, WICK_OP_pad);
  wick_emit_set_ints(&e, "pad", 4, (const int64_t[]){0, 0, 0, n - have.v});
  return wick_emit_end1(&e, x);
}

static void feature_join(wick_onnx_op *o)
{
  wick_wire_i64s sizes = wick_onnx_ints(o, "inputdimensions");
  wick_value *part = wick_new(o->c->tmp, wick_value, o->nin);
  for (uint32_t i = 0; i < o->nin; i++)
    part[i] = feature_columns(o, i, i < sizes.n ? sizes.at[i] : -1);
  if (!o->failed) o->out[0] = wick_build_concat(o->b, 1, o->nin, part);
}

/* Replaces a value by one number, or by one for each column. */
static void feature_impute(wick_onnx_op *o)
{
  wick_elem e = wick_onnx_info(o, 0)->elem;
  bool is_float = wick_elem_is_float(e);
  wick_wire_f32s floats = wick_ml_floats(o, "imputed_value_floats");
  wick_wire_i64s ints = wick_onnx_ints(o, "imputed_value_int64s");
  double replaced = wick_onnx_float(o, "replaced_value_float", 0);
  if (!(is_float ? floats.n : ints.n)) {
    wick_onnx_fail(o, WICK_EPARSE, "there are no imputed values for elements of type %s",
                   wick_elem_name(e));
    return;
  }
  wick_value with =
      is_float ? wick_ml_table(o, floats, 0, (int64_t)floats.n) : wick_ml_ints(o, ints);
  with = wick_build_cast(o->b, with, e);
  wick_value hit;
  if (is_float && isnan(replaced)) {
    hit = wick_build1(o->b, WICK_OP_isnan, o->in[0]);
  } else if (is_float) {
    hit = wick_emit_by(o->b, WICK_OP_eq, o->in[0], replaced);
  } else {
    wick_value it = wick_build_const(o->b, wick_type_tensor(o->c->module, e, 0, NULL), 0,
                                     wick_onnx_int(o, "replaced_value_int64", 0));
    hit = wick_build2(o->b, WICK_OP_eq, o->in[0], it);
  }
  o->out[0] = wick_build3(o->b, WICK_OP_where, hit, with, o->in[0]);
}

/* Divides each row, along the second axis, by its largest element, the sum of its magnitudes, or
 * its length. Rows of zeros stay. */
static void feature_normalize(wick_onnx_op *o)
{
  static const wick_opcode rows[] = {WICK_OP_reduce_max, WICK_OP_reduce_l1, WICK_OP_reduce_l2};
  int norm = wick_onnx_word(o, "norm", "MAX L1 L2");
  wick_elem e = wick_onnx_info(o, 0)->elem == WICK_F64 ? WICK_F64 : WICK_F32;
  uint32_t rank = wick_onnx_info(o, 0)->rank;
  if (!rank) {
    wick_onnx_fail(o, WICK_ETYPE, "x has rank 0");
    return;
  }
  wick_value x = wick_build_cast(o->b, o->in[0], e);
  wick_value by = wick_emit_reduce1(o->b, rows[norm], x, rank > 1, true);
  wick_value zero = wick_emit_by(o->b, WICK_OP_eq, by, 0);
  if (o->b->status) return;
  by = wick_build3(o->b, WICK_OP_where, zero, wick_emit_number(o->b, by, 1), by);
  o->out[0] = wick_build_cast(o->b, wick_build2(o->b, WICK_OP_div, x, by), WICK_F32);
}

static void feature_scale(wick_onnx_op *o)
{
  wick_wire_f32s offset = wick_ml_floats(o, "offset"), scale = wick_ml_floats(o, "scale");
  wick_elem e = wick_onnx_info(o, 0)->elem == WICK_F32 ? WICK_F32 : WICK_F64;
  wick_value x = wick_build_cast(o->b, o->in[0], e);
  for (int k = 0; k < 2; k++) {
    wick_wire_f32s list = k ? scale : offset;
    if (!list.n) continue;
    wick_value by = wick_build_cast(o->b, wick_ml_table(o, list, 0, (int64_t)list.n), e);
    x = wick_build2(o->b, k ? WICK_OP_mul : WICK_OP_sub, x, by);
  }
  o->out[0] = wick_build_cast(o->b, x, WICK_F32);
}

/* One-hot encoding: a 1 for the category. A row without one fails the run unless `zeros` is set. */
static void feature_one_hot(wick_onnx_op *o)
{
  wick_wire_i64s ints = wick_onnx_ints(o, "cats_int64s");
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "cats_strings");
  bool text = wick_onnx_info(o, 0)->elem == WICK_STRING;
  if (!(text ? a && a->strings.n : ints.n)) {
    wick_onnx_fail(o, WICK_EPARSE, "there are no categories for elements of type %s",
                   wick_elem_name(wick_onnx_info(o, 0)->elem));
    return;
  }
  wick_value x = text ? o->in[0] : wick_build_cast(o->b, o->in[0], WICK_I64),
             cats = text ? wick_onnx_strings(o, a->strings) : wick_ml_ints(o, ints);
  x = wick_emit_unsqueeze(o->b, x, wick_onnx_info(o, 0)->rank);
  wick_value hit = wick_build2(o->b, WICK_OP_eq, x, cats);
  if (o->b->status) return;
  wick_value y = wick_build_cast(o->b, hit, WICK_F32);
  if (!wick_onnx_int(o, "zeros", 1)) {
    /* 1 if there is no category: an index out of range for one element, so that the run fails */
    uint32_t rank = wick_built_info(o->b, y)->rank;
    static const double one = 1;
    wick_value most = wick_emit_reduce1(o->b, WICK_OP_reduce_max, y, rank - 1u, true);
    if (o->b->status) return;
    most = wick_build2(o->b, WICK_OP_sub, wick_emit_number(o->b, y, 1), most);
    wick_value at = wick_build_cast(o->b, most, WICK_I64);
    wick_value ones = wick_onnx_table(o, WICK_F32, 1, (const int64_t[]){1}, &one);
    y = wick_build2(o->b, WICK_OP_mul, y, wick_emit_gather(o->b, WICK_OP_gather, ones, at, 0));
  }
  o->out[0] = y;
}

const wick_onnx_row wick_onnx_ml_feature_rows[] = {
    {"ai.onnx.ml.ArrayFeatureExtractor", 1, {2, 2}, 1, "", feature_extract, 0, 0},
    {"ai.onnx.ml.Binarizer", 1, {1, 1}, 1, "threshold:f", feature_binarize, 0, 0},
    {"ai.onnx.ml.FeatureVectorizer", 1, {1, WICK_ANY}, 1, "inputdimensions:I", feature_join, 0, 0},
    {"ai.onnx.ml.Imputer",
     1,
     {1, 1},
     1,
     "imputed_value_floats:F imputed_value_int64s:I replaced_value_float:f replaced_value_int64:i",
     feature_impute,
     0,
     0},
    {"ai.onnx.ml.Normalizer", 1, {1, 1}, 1, "norm:s", feature_normalize, 0, 0},
    {"ai.onnx.ml.OneHotEncoder",
     1,
     {1, 1},
     1,
     "cats_int64s:I cats_strings:S zeros:i",
     feature_one_hot,
     0,
     0},
    {"ai.onnx.ml.Scaler", 1, {1, 1}, 1, "offset:F scale:F", feature_scale, 0, 0},
    {0},
};
