/* Attention layers. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"

static wick_value attention_scalar(wick_import_node *n, wick_value x, double v)
{
  return wick_emit_number(n->b, x, v);
}

/* Which scores count: masks of values [B, S] and of queries [B, T] and scores [B, T, S], and the
 * causal triangle; 0: all. */
static wick_value attention_and(wick_import_node *n, wick_value x, wick_value y)
{
  return !x.id ? y : !y.id ? x : wick_build2(n->b, WICK_OP_and, x, y);
}

static wick_value attention_causal(wick_import_node *n, wick_dim rows, wick_dim columns)
{
  wick_value r = wick_emit_count_along(n->b, rows, 0, 2);
  wick_value c = wick_emit_count_along(n->b, columns, 1, 2);
  return wick_build2(n->b, WICK_OP_ge, r, c);
}

static wick_value attention_softmax(wick_import_node *n, wick_value scores, wick_value keep)
{
  if (keep.id) {
    double least = keras_elem_of(n, scores) == WICK_F16 ? -65504.0 / 2 : -1e9;
    wick_value zero = attention_scalar(n, scores, 0), low = attention_scalar(n, scores, least);
    wick_value add = wick_build3(n->b, WICK_OP_where, keep, zero, low);
    scores = wick_build2(n->b, WICK_OP_add, scores, add);
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_softmax);
  wick_emit_set_int(&e, "axis", (int64_t)keras_rank(n, scores) - 1);
  return wick_emit_end1(&e, scores);
}

/* The mask of a tensor among the arguments of the call. */
static wick_value attention_mask(const wick_import_node *n, uint32_t i)
{
  const keras_arg *first = keras_argument(n, 0, "inputs"), *given = keras_argument(n, 99, "mask");
  if (given->kind == KERAS_LIST)
    return i < given->n && given->item[i].kind == KERAS_TENSOR ? given->item[i].t.v
                                                               : (wick_value){0};
  if (first->kind == KERAS_LIST && i < first->n && first->item[i].kind == KERAS_TENSOR)
    return first->item[i].t.mask;
  return (wick_value){0};
}

static bool attention_flag(const wick_import_node *n, const char *name)
{
  const keras_arg *a = keras_argument(n, 99, name);
  return a->kind == KERAS_CONST && a->json->kind == WICK_JSON_TRUE;
}

/* tanh(q + k) weighed and summed over the features, for all pairs of a query and a key. */
static wick_value attention_pairs(wick_import_node *n, wick_value q, wick_value k, wick_value scale,
                                  bool after)
{
  wick_value rows = wick_emit_unsqueeze(n->b, q, 2), columns = wick_emit_unsqueeze(n->b, k, 1);
  wick_value sum = wick_build2(n->b, WICK_OP_add, rows, columns);
  if (scale.id && !after) sum = wick_build2(n->b, WICK_OP_mul, sum, scale);
  sum = wick_build1(n->b, WICK_OP_tanh, sum);
  if (scale.id && after) sum = wick_build2(n->b, WICK_OP_mul, scale, sum);
  return wick_emit_reduce1(n->b, WICK_OP_reduce_sum, sum, -1, false);
}

/* Attention and AdditiveAttention (arg 1): [query, value] or [query, value, key]. */
void keras_attention(wick_import_node *n)
{
  wick_value q = n->in[0], v = n->in[1], k = n->nin > 2 ? n->in[2] : v, scale = {0}, scores;
  if (keras_argument(n, 0, "inputs")->n < 3) k = v;
  if (keras_weight_has(n, "scale")) scale = keras_weight_get(n, "scale");
  if (n->row->arg == 1) {
    scores = attention_pairs(n, q, k, scale, true);
  } else if (strcmp(wick_import_text(n, "score_mode", "dot"), "concat") == 0) {
    scores = attention_pairs(n, q, k, scale, false);
    wick_value weight = keras_weight_get(n, "concat_score_weight");
    scores = wick_build2(n->b, WICK_OP_mul, weight, scores);
  } else {
    scores = wick_build2(n->b, WICK_OP_matmul, q, wick_build_swap(n->b, k));
    if (scale.id) scores = wick_build2(n->b, WICK_OP_mul, scores, scale);
  }
  wick_value keep = {0}, values = attention_mask(n, 1), queries = attention_mask(n, 0);
  if (values.id) keep = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, values, WICK_BOOL), 1);
  if (attention_flag(n, "use_causal_mask")) {
    uint32_t r = keras_rank(n, scores);
    wick_value causal = {0};
    if (r >= 2)
      causal = attention_causal(n, keras_dims(n, scores)[r - 2], keras_dims(n, scores)[r - 1]);
    keep = attention_and(n, keep, causal);
  }
  wick_value weights = attention_softmax(n, scores, keep);
  wick_value y = wick_build2(n->b, WICK_OP_matmul, weights, v);
  if (queries.id) {
    wick_value m = wick_build_cast(n->b, queries, keras_elem_of(n, y));
    y = wick_build2(n->b, WICK_OP_mul, y, wick_emit_unsqueeze(n->b, m, 2));
  }
  n->out[0] = y;
  *keras_of(n)->out_mask = queries;
  if (attention_flag(n, "return_attention_scores")) n->out[1] = weights;
}

/* ---- several heads ---- */

/* x [B, ..., F] times a kernel [F, heads, d], as [B, heads, ..., d] for one axis of positions. */
static wick_value attention_project(wick_import_node *n, wick_value x, const char *name)
{
  wick_value w = keras_weight_get(n, wick_str_printf(n->c->tmp, "%s/kernel", name));
  uint32_t rank = keras_rank(n, x);
  if (keras_rank(n, w) != 3 || rank != 3) {
    if (w.id && !n->b->status)
      wick_import_fail(n, WICK_EUNSUPPORTED, "inputs of rank %u are not supported", rank);
    return (wick_value){0};
  }
  wick_dims *t = n->c->module->dims;
  const wick_dim *d = keras_dims(n, w);
  wick_dim flat[2] = {d[0], wick_dim_mul(t, d[1], d[2])}, dim[WICK_MAX_RANK];
  wick_dim heads = d[1], size = d[2];
  wick_value y = wick_build2(n->b, WICK_OP_matmul, x, wick_build_reshape(n->b, w, 2, flat));
  if (keras_weight_has(n, wick_str_printf(n->c->tmp, "%s/bias", name))) {
    wick_value bias = keras_weight_get(n, wick_str_printf(n->c->tmp, "%s/bias", name));
    y = wick_build2(n->b, WICK_OP_add, y, wick_build_reshape(n->b, bias, 1, flat + 1));
  }
  for (uint32_t i = 0; i + 1 < rank; i++) dim[i] = keras_dims(n, y)[i];
  dim[rank - 1] = heads, dim[rank] = size;
  return wick_build_reshape(n->b, y, rank + 1, dim);
}

/* [B, positions, heads, d] to [B, heads, positions, d]; and back. */
static wick_value attention_heads(wick_import_node *n, wick_value x)
{
  static const int64_t perm[] = {0, 2, 1, 3};
  return wick_build_transpose(n->b, x, 4, perm);
}

static wick_value attention_output(wick_import_node *n, wick_value x)
{
  wick_value w = keras_weight_get(n, "output_dense/kernel");
  wick_dims *t = n->c->module->dims;
  if (keras_rank(n, w) != 3 || keras_rank(n, x) != 4) {
    if (!n->failed && !n->b->status)
      wick_import_fail(n, WICK_EUNSUPPORTED, "an output of several axes is not supported");
    return (wick_value){0};
  }
  const wick_dim *d = keras_dims(n, w), *s = keras_dims(n, x);
  wick_dim all = wick_dim_mul(t, d[0], d[1]), dim[3] = {s[0], s[1], all}, flat[2] = {all, d[2]};
  x = wick_build_reshape(n->b, x, 3, dim);
  wick_value y = wick_build2(n->b, WICK_OP_matmul, x, wick_build_reshape(n->b, w, 2, flat));
  if (keras_weight_has(n, "output_dense/bias"))
    y = wick_build2(n->b, WICK_OP_add, y, keras_weight_get(n, "output_dense/bias"));
  return y;
}

/* Keys and values of a group of queries, repeated: [B, positions, groups, d] to as many as heads. */
static wick_value attention_repeat(wick_import_node *n, wick_value x, int64_t by)
{
  wick_dim dim[5], whole[4];
  if (by == 1 || keras_rank(n, x) != 4) return x;
  for (uint32_t i = 0; i < 5; i++)
    dim[i] = i == 3 ? wick_dim_const(by) : keras_dims(n, x)[i - (i > 3)];
  for (uint32_t i = 0; i < 4; i++) whole[i] = keras_dims(n, x)[i];
  whole[2] = wick_dim_mul(n->c->module->dims, whole[2], wick_dim_const(by));
  x = wick_emit_expand(n->b, wick_emit_unsqueeze(n->b, x, 3), 5, dim);
  return wick_build_reshape(n->b, x, 4, whole);
}

static wick_value attention_tensor(const wick_import_node *n, uint32_t at, const char *name)
{
  const keras_arg *a = keras_argument(n, at, name);
  return a->kind == KERAS_TENSOR ? a->t.v : (wick_value){0};
}

/* All masks of a call: of queries, keys and values, an explicit one, and the causal triangle; they
 * broadcast to [B, heads, queries, keys]. */
static wick_value attention_masks(wick_import_node *n, wick_dim rows, wick_dim columns)
{
  static const struct {
    const char *given, *tensor;
    uint32_t at, axis; /* of the argument; where the missing axis is */
  } row[] = {
      {"query_mask", "query", 0, 2}, {"value_mask", "value", 1, 1}, {"key_mask", "key", 2, 1}};
  wick_value keep = {0};
  for (size_t i = 0; i < WICK_COUNT(row); i++) {
    const keras_arg *given = keras_argument(n, 99, row[i].given);
    const keras_arg *tensor = keras_argument(n, row[i].at, row[i].tensor);
    wick_value m = given->kind == KERAS_TENSOR ? given->t.v : tensor->t.mask;
    if (!m.id) continue;
    m = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, m, WICK_BOOL), row[i].axis);
    keep = attention_and(n, keep, m);
  }
  wick_value own = attention_tensor(n, 99, "attention_mask");
  if (own.id) own = wick_build_cast(n->b, own, WICK_BOOL);
  if (own.id && keras_rank(n, own) == 4) own = wick_emit_squeeze(n->b, own, 1);
  keep = attention_and(n, keep, own);
  if (attention_flag(n, "use_causal_mask"))
    keep = attention_and(n, keep, attention_causal(n, rows, columns));
  uint32_t rank = keras_rank(n, keep);
  return keep.id && rank == 3 ? wick_emit_unsqueeze(n->b, keep, 1) : keep;
}

/* MultiHeadAttention and GroupQueryAttention (arg 1). */
void keras_multi_head(wick_import_node *n)
{
  wick_value query = attention_tensor(n, 0, "query"), value = attention_tensor(n, 1, "value");
  wick_value key = attention_tensor(n, 2, "key");
  if (!key.id) key = value;
  if (!query.id || !value.id) {
    wick_import_fail(n, WICK_EPARSE, "its query or its value is missing");
    return;
  }
  wick_value q = attention_project(n, query, "query_dense");
  wick_value k = attention_project(n, key, "key_dense");
  wick_value v = attention_project(n, value, "value_dense");
  if (keras_rank(n, q) != 4 || keras_rank(n, k) != 4 || keras_rank(n, v) != 4) {
    if (!n->failed && !n->b->status)
      wick_import_fail(n, WICK_EUNSUPPORTED, "attention over several axes is not supported");
    return;
  }
  int64_t heads = keras_dims(n, q)[2].v, groups = keras_dims(n, k)[2].v;
  if (n->row->arg == 1 && groups > 0 && heads % groups == 0) {
    k = attention_repeat(n, k, heads / groups);
    v = attention_repeat(n, v, heads / groups);
  }
  wick_dim size = keras_dims(n, q)[3], rows = keras_dims(n, q)[1], columns = keras_dims(n, k)[1];
  q = keras_by(n, WICK_OP_mul, q, 1 / sqrt((double)size.v));
  q = attention_heads(n, q);
  k = wick_build_swap(n->b, attention_heads(n, k));
  wick_value scores = wick_build2(n->b, WICK_OP_matmul, q, k);
  scores = attention_softmax(n, scores, attention_masks(n, rows, columns));
  wick_value y = wick_build2(n->b, WICK_OP_matmul, scores, attention_heads(n, v));
  y = attention_output(n, attention_heads(n, y));
  n->out[0] = y;
  *keras_of(n)->out_mask = keras_argument(n, 0, "query")->t.mask;
  if (attention_flag(n, "return_attention_scores")) n->out[1] = scores;
}
