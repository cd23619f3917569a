/* Helpers for the operators of ai.onnx.ml. */
#include "import/onnx/ml.h"

#include <math.h>

wick_value wick_ml_matrix(wick_onnx_op *o, uint32_t i, wick_elem elem)
{
  const wick_type_info *t = wick_onnx_info(o, i);
  wick_value x = o->in[i];
  if (t->rank < 1 || t->rank > 2) {
    wick_onnx_fail(o, WICK_ETYPE, "input %u has rank %u, expected 1 or 2", i, t->rank);
    return (wick_value){0};
  }
  if (t->rank == 1) x = wick_emit_unsqueeze(o->b, x, 0);
  return o->b->status ? (wick_value){0} : wick_build_cast(o->b, x, elem);
}

wick_wire_f32s wick_ml_floats(const wick_onnx_op *o, const char *name)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  return a ? a->floats : (wick_wire_f32s){0};
}

wick_value wick_ml_table(wick_onnx_op *o, wick_wire_f32s list, int64_t rows, int64_t columns)
{
  int64_t dim[2] = {rows ? rows : columns, columns};
  double *v = wick_new(o->c->tmp, double, list.n + 1);
  if ((rows ? rows * columns : columns) != (int64_t)list.n) {
    wick_onnx_fail(o, WICK_ETYPE, "%zu numbers in an attribute, expected %lld times %lld", list.n,
                   (long long)(rows ? rows : 1), (long long)columns);
    return (wick_value){0};
  }
  for (size_t i = 0; i < list.n; i++) v[i] = (double)list.at[i];
  return wick_onnx_table(o, WICK_F32, rows ? 2 : 1, dim, v);
}

wick_value wick_ml_ints(wick_onnx_op *o, wick_wire_i64s list)
{
  wick_module *m = o->c->module;
  int64_t n = (int64_t)list.n;
  const void *kept = wick_arena_copy(&m->mem, list.at, list.n * sizeof *list.at, sizeof *list.at);
  uint32_t k = wick_emit_constant(m, wick_onnx_name(o->c, o->node->output.at[0]),
                                  wick_type_tensor_const(m, WICK_I64, 1, &n), kept,
                                  list.n * sizeof *list.at);
  return wick_build_constant(o->b, k);
}

/* ---- scores ---- */

/* The quantile of the normal distribution, sqrt(2) erfinv(2 p - 1), as in ONNX's reference
 * implementation: it uses Winitzki's approximation of the inverse error function (2008). */
static wick_value ml_probit(wick_onnx_op *o, wick_value p)
{
  const double a = 0.147;
  wick_builder *b = o->b;
  wick_value x = wick_emit_by(o->b, WICK_OP_sub, wick_emit_by(o->b, WICK_OP_mul, p, 2), 1);
  if (b->status) return x;
  wick_value one = wick_emit_number(o->b, x, 1);
  wick_value below = wick_build2(b, WICK_OP_sub, one, x),
             above = wick_build2(b, WICK_OP_add, one, x);
  wick_value log = wick_build1(b, WICK_OP_log, wick_build2(b, WICK_OP_mul, below, above));
  wick_value half = wick_emit_by(o->b, WICK_OP_mul, log, 0.5);
  wick_value v = wick_emit_by(o->b, WICK_OP_add, half, 2 / (3.14159265358979323846 * a)),
             w = wick_emit_by(o->b, WICK_OP_mul, log, 1 / a);
  wick_value square = wick_build2(b, WICK_OP_mul, v, v);
  wick_value root = wick_build1(b, WICK_OP_sqrt, wick_build2(b, WICK_OP_sub, square, w));
  wick_value y = wick_build1(b, WICK_OP_sqrt, wick_build2(b, WICK_OP_sub, root, v));
  y = wick_emit_by(o->b, WICK_OP_mul, y, sqrt(2));
  wick_value sign = wick_build1(b, WICK_OP_sign, x);
  return wick_build2(b, WICK_OP_mul, y, sign);
}

/* Softmax over the scores that are not nearly 0. The others give 0. */
static wick_value ml_softmax_zero(wick_onnx_op *o, wick_value x)
{
  wick_builder *b = o->b;
  wick_value most = wick_emit_reduce1(o->b, WICK_OP_reduce_max, x, 1, true),
             size = wick_build1(b, WICK_OP_abs, x);
  wick_value in = wick_emit_by(o->b, WICK_OP_gt, size, 1e-7);
  wick_value e = wick_build1(b, WICK_OP_exp_minus, wick_build2(b, WICK_OP_sub, x, most));
  if (b->status) return e;
  e = wick_build3(b, WICK_OP_where, in, e, wick_emit_number(o->b, e, 0));
  return wick_build2(b, WICK_OP_div, e, wick_emit_reduce1(o->b, WICK_OP_reduce_sum, e, 1, true));
}

wick_value wick_ml_post_apply(wick_onnx_op *o, wick_value scores, wick_ml_post post)
{
  if (o->b->status || !scores.id) return (wick_value){0};
  bool one = wick_dim_is(wick_built_info(o->b, scores)->dim[1], 1);
  if (post == WICK_ML_NONE || (one && post != WICK_ML_PROBIT)) return scores;
  if (post == WICK_ML_PROBIT) return ml_probit(o, scores);
  if (post == WICK_ML_LOGISTIC) return wick_build1(o->b, WICK_OP_sigmoid, scores);
  if (post == WICK_ML_SOFTMAX_ZERO) return ml_softmax_zero(o, scores);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", 1);
  return wick_emit_end1(&e, scores);
}

wick_value wick_ml_post_two(wick_onnx_op *o, wick_value score, wick_ml_post post, bool odds)
{
  wick_builder *b = o->b;
  if (b->status || !score.id) return (wick_value){0};
  wick_value other;
  if (post == WICK_ML_PROBIT) score = ml_probit(o, score);
  if (post == WICK_ML_LOGISTIC) {
    other = wick_build1(b, WICK_OP_sigmoid, wick_build1(b, WICK_OP_neg, score));
    score = wick_build1(b, WICK_OP_sigmoid, score);
  } else if (odds) {
    other = wick_build1(b, WICK_OP_neg, score);
  } else {
    other = wick_build2(b, WICK_OP_sub, wick_emit_number(o->b, score, 1), score);
  }
  return wick_build_concat(o->b, 1, 2, (const wick_value[]){other, score});
}

/* ---- labels ---- */

wick_value wick_ml_labels(wick_onnx_op *o, const char *ints, const char *strings, int64_t *out_n)
{
  wick_wire_i64s list = wick_onnx_ints(o, ints);
  const wick_onnx_attr *a = wick_onnx_attr_find(o, strings);
  *out_n = (int64_t)list.n;
  if (a && a->strings.n) {
    *out_n = (int64_t)a->strings.n;
    return wick_onnx_strings(o, a->strings);
  }
  if (!list.n) {
    wick_onnx_fail(o, WICK_EPARSE, "neither %s nor %s has labels", ints, strings);
    return (wick_value){0};
  }
  return wick_ml_ints(o, list);
}

wick_value wick_ml_label_at(wick_onnx_op *o, wick_value labels, wick_value index)
{
  return wick_emit_gather(o->b, WICK_OP_gather, labels, index, 0);
}
