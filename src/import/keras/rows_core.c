/* Core layers, activations as layers, regularization, merging. */
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

/* ---- core ---- */

void keras_identity(wick_import_node *n) { n->out[0] = n->in[0]; }

/* x in the type of the computation. */
void keras_floats(wick_import_node *n)
{
  n->out[0] = wick_build_cast(n->b, n->in[0], keras_compute(n));
}

void keras_activation(wick_import_node *n)
{
  n->out[0] = keras_activate(n, keras_config(keras_of(n)->layer, "activation"), n->in[0]);
}

/* Rows of activations: the layer's class names the function. */
void keras_activation_layer(wick_import_node *n)
{
  const char *name = n->row->name;
  if (strncmp(name, "ops.", 4) == 0) name += 4;
  wick_value x = n->in[0];
  if (!wick_elem_is_float(keras_elem_of(n, x))) x = wick_build_cast(n->b, x, WICK_F32);
  n->out[0] = keras_activate_named(n, name, keras_of(n)->layer->config, x);
}

/* tf.nn.NAME in a model of Keras 2. */
void keras_tf_activation(wick_import_node *n)
{
  n->out[0] = keras_activate_named(n, n->row->name + strlen("tf.nn."), NULL, n->in[0]);
}

/* LeakyReLU's slope is 0.3 where the configuration does not say it. */
void keras_leaky_relu(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_leaky_relu);
  wick_emit_set_float(&e, "alpha",
                      wick_import_real(n, "negative_slope", wick_import_real(n, "alpha", 0.3)));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* Softmax as a layer: along one axis or several, with a mask of what counts. */
void keras_softmax(wick_import_node *n)
{
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x), naxis;
  int64_t axes[WICK_MAX_RANK] = {rank - 1};
  wick_import_attr a = keras_attr(n, "axis", 'I');
  const keras_arg *mask = keras_argument(n, 1, "mask");
  if (!rank || !keras_axes(n, "axis", rank, &naxis, axes)) return;
  if (!a.kind) naxis = 1, axes[0] = rank - 1;
  if (mask->kind == KERAS_TENSOR) {
    wick_value keep = wick_build_cast(n->b, mask->t.v, WICK_BOOL);
    wick_value least =
        wick_emit_number(n->b, x, keras_elem_of(n, x) == WICK_F16 ? -3e4 : -3e38 / 2);
    wick_value zero = wick_emit_number(n->b, x, 0);
    wick_value add = wick_build3(n->b, WICK_OP_where, keep, zero, least);
    x = wick_build2(n->b, WICK_OP_add, x, add);
  }
  if (naxis == 1) {
    wick_emit e = wick_emit_begin(n->b, WICK_OP_softmax);
    wick_emit_set_int(&e, "axis", axes[0]);
    n->out[0] = wick_emit_end1(&e, x);
    return;
  }
  wick_value most = wick_emit_reduce(n->b, WICK_OP_reduce_max, x, naxis, axes, true);
  wick_value power = wick_build1(n->b, WICK_OP_exp_minus, wick_build2(n->b, WICK_OP_sub, x, most));
  wick_value sum = wick_emit_reduce(n->b, WICK_OP_reduce_sum, power, naxis, axes, true);
  n->out[0] = wick_build2(n->b, WICK_OP_div, power, sum);
}

void keras_prelu(wick_import_node *n)
{
  wick_value slope = keras_weight_get(n, "alpha");
  n->out[0] = wick_build2(n->b, WICK_OP_prelu, n->in[0], slope);
}

static bool core_is_quantized(const wick_import_node *n)
{
  return keras_quantized_weights(n->c, keras_of(n)->layer) != NULL;
}

/* Completes a product: its scale, the bias and the activation. */
static void core_product_end(wick_import_node *n, wick_value x, wick_value divisor)
{
  if (divisor.id) x = wick_build2(n->b, WICK_OP_div, x, divisor);
  if (keras_weight_has(n, "bias"))
    x = wick_build2(n->b, WICK_OP_add, x, keras_weight_get(n, "bias"));
  n->out[0] = keras_activate(n, keras_config(keras_of(n)->layer, "activation"), x);
}

void keras_dense(wick_import_node *n)
{
  keras_product p = {.x = n->in[0]};
  if (core_is_quantized(n))
    p = keras_quantized_dense(n);
  else
    p.kernel = keras_weight_get(n, "kernel");
  if (!wick_elem_is_float(keras_elem_of(n, p.x)))
    p.x = wick_build_cast(n->b, p.x, keras_compute(n));
  core_product_end(n, wick_build2(n->b, WICK_OP_matmul, p.x, p.kernel), p.divisor);
}

void keras_einsum_dense(wick_import_node *n)
{
  const char *equation = wick_import_text(n, "equation", "");
  keras_product p = {.x = n->in[0]};
  if (core_is_quantized(n))
    p = keras_quantized_einsum(n, equation);
  else
    p.kernel = keras_weight_get(n, "kernel");
  core_product_end(n, wick_array_einsum(n, equation, p.x, p.kernel), p.divisor);
}

void keras_embedding(wick_import_node *n)
{
  wick_value x = n->in[0], table = core_is_quantized(n) ? keras_quantized_embeddings(n)
                                                        : keras_weight_get(n, "embeddings");
  if (!wick_elem_is_int(keras_elem_of(n, x))) x = wick_build_cast(n->b, x, WICK_I32);
  n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, table, x, 0);
  *keras_of(n)->out_mask = (wick_value){0};
  if (keras_is_true(n, "mask_zero", false))
    *keras_of(n)->out_mask = wick_emit_by(n->b, WICK_OP_ne, x, 0);
}

void keras_layer_scale(wick_import_node *n)
{
  wick_value gamma = keras_weight_get(n, "gamma");
  if (!n->failed && gamma.id) n->out[0] = keras_op2(n, WICK_OP_mul, n->in[0], gamma);
}

/* An embedding, or with the argument `reverse` the products with all its rows. */
void keras_reversible_embedding(wick_import_node *n)
{
  const keras_arg *reverse = keras_argument(n, 1, "reverse");
  if (reverse->kind != KERAS_CONST || reverse->json->kind != WICK_JSON_TRUE) {
    keras_embedding(n);
    return;
  }
  wick_value x = n->in[0], w;
  if (keras_is_true(n, "tie_weights", true)) {
    w = keras_weight_get(n, "embeddings");
    if (n->failed || !w.id) return;
    w = wick_build_swap(n->b, w);
  } else {
    w = keras_weight_get(n, "reverse_embeddings");
  }
  if (n->failed || !w.id) return;
  wick_elem e = keras_elem(wick_import_text(n, "reverse_dtype", NULL), keras_elem_of(n, x));
  wick_value y =
      wick_build2(n->b, WICK_OP_matmul, wick_build_cast(n->b, x, e), wick_build_cast(n->b, w, e));
  double cap = wick_import_real(n, "logit_soft_cap", 0);
  if (cap != 0) {
    y = wick_build1(n->b, WICK_OP_tanh, wick_emit_by(n->b, WICK_OP_div, y, cap));
    y = wick_emit_by(n->b, WICK_OP_mul, y, cap);
  }
  n->out[0] = y;
}

/* Steps of which all elements equal the value become 0, and are masked. */
void keras_masking(wick_import_node *n)
{
  wick_value x = n->in[0];
  wick_value other = wick_emit_by(n->b, WICK_OP_ne, x, wick_import_real(n, "mask_value", 0));
  wick_value f = wick_build_cast(n->b, other, keras_elem_of(n, x));
  wick_value any = wick_emit_reduce1(n->b, WICK_OP_reduce_max, f, -1, true);
  n->out[0] = wick_build2(n->b, WICK_OP_mul, x, any);
  wick_value flat = wick_emit_squeeze(n->b, any, keras_rank(n, any) - 1);
  *keras_of(n)->out_mask = wick_emit_by(n->b, WICK_OP_ne, flat, 0);
}

/* ---- merging ---- */

/* The inputs of a merging layer: the items of its first argument. Tensors of lower rank get axes of
 * size 1 after the batch. */
static wick_value core_aligned(wick_import_node *n, uint32_t i, uint32_t rank)
{
  wick_value x = n->in[i];
  uint32_t mine = keras_rank(n, x);
  wick_dim dim[WICK_MAX_RANK];
  if (mine >= rank || !mine) return x;
  for (uint32_t k = 0; k < rank; k++)
    dim[k] = k == 0                ? keras_dims(n, x)[0]
             : k < 1 + rank - mine ? wick_dim_const(1)
                                   : keras_dims(n, x)[k - (rank - mine)];
  return wick_build_reshape(n->b, x, rank, dim);
}

/* Add, Multiply, Maximum, Minimum, Subtract, and Average (arg 1). */
void keras_merge(wick_import_node *n)
{
  uint32_t rank = 0;
  for (uint32_t i = 0; i < n->nin; i++)
    if (keras_rank(n, n->in[i]) > rank) rank = keras_rank(n, n->in[i]);
  wick_value y = core_aligned(n, 0, rank);
  for (uint32_t i = 1; i < n->nin; i++) y = keras_op2(n, n->row->op, y, core_aligned(n, i, rank));
  n->out[0] = n->row->arg == 1 ? keras_by(n, WICK_OP_div, y, n->nin) : y;
}

/* InceptionResNetV2's own: x + y * scale. */
void keras_custom_scale(wick_import_node *n)
{
  if (n->nin != 2) {
    wick_import_fail(n, WICK_EPARSE, "%u inputs, expected 2", n->nin);
    return;
  }
  wick_value y = keras_by(n, WICK_OP_mul, n->in[1], wick_import_real(n, "scale", 1));
  n->out[0] = keras_op2(n, WICK_OP_add, n->in[0], y);
}

void keras_concatenate(wick_import_node *n)
{
  uint32_t axis;
  if (!keras_axis(n, "axis", -1, keras_rank(n, n->in[0]), &axis)) return;
  wick_value *all = wick_dup(n->c->tmp, wick_value, n->in, n->nin);
  keras_common_all(n, n->nin, all);
  n->out[0] = wick_build_concat(n->b, axis, n->nin, all);
}

/* Moves an axis to the end. */
static wick_value core_axis_last(wick_import_node *n, wick_value x, uint32_t axis)
{
  uint32_t rank = keras_rank(n, x), k = 0;
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++)
    if (i != axis) perm[k++] = i;
  perm[k] = axis;
  return axis + 1 == rank ? x : wick_build_transpose(n->b, x, rank, perm);
}

static wick_value core_unit(wick_import_node *n, wick_value x, uint32_t axis)
{
  wick_value square = wick_build2(n->b, WICK_OP_mul, x, x);
  wick_value sum = wick_emit_reduce1(n->b, WICK_OP_reduce_sum, square, axis, true);
  wick_value norm = wick_build1(n->b, WICK_OP_sqrt, keras_by(n, WICK_OP_max, sum, 1e-12));
  return wick_build2(n->b, WICK_OP_div, x, norm);
}

/* Products of two tensors along one axis of each, for each element of the batch. */
void keras_dot(wick_import_node *n)
{
  wick_import_attr a = keras_attr(n, "axes", 'I');
  uint32_t rank[2] = {keras_rank(n, n->in[0]), keras_rank(n, n->in[1])}, axis[2];
  wick_value x[2] = {n->in[0], n->in[1]};
  wick_dim dim[WICK_MAX_RANK];
  keras_common_all(n, 2, x);
  for (uint32_t i = 0; i < 2; i++) {
    int64_t at = a.kind == 'I' && a.n == 2 ? a.ints[i] : a.i;
    if (!wick_import_axis(n, at, rank[i], &axis[i])) return;
    if (!axis[i]) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "products along the batch are not supported");
      return;
    }
    if (keras_is_true(n, "normalize", false)) x[i] = core_unit(n, x[i], axis[i]);
    x[i] = core_axis_last(n, x[i], axis[i]);
  }
  if (rank[0] + rank[1] > WICK_MAX_RANK + 3) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the result has too many dimensions");
    return;
  }
  /* [batch, m..., k] and [batch, n..., k] as two matrices each */
  wick_dims *t = n->c->module->dims;
  uint32_t k = 0;
  wick_value matrix[2];
  dim[k++] = keras_dims(n, x[0])[0];
  for (uint32_t i = 0; i < 2; i++) {
    wick_dim rows = wick_dim_const(1), flat[3];
    for (uint32_t d = 1; d + 1 < rank[i]; d++) {
      dim[k++] = keras_dims(n, x[i])[d];
      rows = wick_dim_mul(t, rows, keras_dims(n, x[i])[d]);
    }
    flat[0] = keras_dims(n, x[i])[0], flat[1] = rows, flat[2] = keras_dims(n, x[i])[rank[i] - 1];
    matrix[i] = wick_build_reshape(n->b, x[i], 3, flat);
  }
  wick_value y = wick_build2(n->b, WICK_OP_matmul, matrix[0], wick_build_swap(n->b, matrix[1]));
  if (k == 1) dim[k++] = wick_dim_const(1);
  n->out[0] = wick_build_reshape(n->b, y, k, dim);
}

/* x above a threshold, else 0; a layer of Keras 2. */
void keras_thresholded_relu(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_thresholded_relu);
  wick_emit_set_float(&e, "alpha", wick_import_real(n, "theta", 1));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}
