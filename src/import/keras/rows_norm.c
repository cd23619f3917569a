/* Normalization layers. */
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"

static double norm_epsilon(wick_import_node *n, double otherwise)
{
  return wick_import_real(n, "epsilon", otherwise);
}

/* x * a + b, where a = gamma / sqrt(variance + epsilon) and b = beta - mean * a. The operator has
 * the channels at axis 1. */
void keras_batch_norm(wick_import_node *n)
{
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x), axis;
  if (!keras_axis(n, "axis", -1, rank, &axis)) return;
  wick_elem e = keras_elem_of(n, x);
  x = keras_wide(n, x);
  wick_value mean = keras_weight_get(n, "moving_mean");
  wick_value variance = keras_weight_get(n, "moving_variance");
  mean = wick_build_cast(n->b, mean, keras_elem_of(n, x));
  variance = wick_build_cast(n->b, variance, keras_elem_of(n, x));
  wick_value scale = keras_by(n, WICK_OP_add, variance, norm_epsilon(n, 1e-3));
  scale = wick_build1(n->b, WICK_OP_rsqrt, scale);
  if (keras_weight_has(n, "gamma")) {
    wick_value gamma = wick_build_cast(n->b, keras_weight_get(n, "gamma"), keras_elem_of(n, x));
    scale = wick_build2(n->b, WICK_OP_mul, gamma, scale);
  }
  wick_value shift = wick_build1(n->b, WICK_OP_neg, wick_build2(n->b, WICK_OP_mul, mean, scale));
  if (keras_weight_has(n, "beta")) {
    wick_value beta = wick_build_cast(n->b, keras_weight_get(n, "beta"), keras_elem_of(n, x));
    shift = wick_build2(n->b, WICK_OP_add, beta, shift);
  }
  wick_value y = wick_build2(n->b, WICK_OP_mul, x, keras_along(n, scale, axis, rank));
  y = wick_build2(n->b, WICK_OP_add, y, keras_along(n, shift, axis, rank));
  n->out[0] = wick_build_cast(n->b, y, e);
}

/* A weight over several axes, with size 1 along all others. */
static wick_value norm_weight(wick_import_node *n, const char *name, wick_value x, uint32_t naxis,
                              const int64_t *axes)
{
  wick_value w = wick_build_cast(n->b, keras_weight_get(n, name), keras_elem_of(n, x));
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = keras_rank(n, x);
  if (keras_rank(n, w) != naxis) return w;
  for (uint32_t i = 0; i < rank; i++) dim[i] = wick_dim_const(1);
  for (uint32_t i = 0; i < naxis; i++) dim[axes[i]] = keras_dims(n, w)[i];
  return wick_build_reshape(n->b, w, rank, dim);
}

/* (x - mean) / sqrt(variance + epsilon) over the axes; without the mean if `root`. */
static wick_value norm_over(wick_import_node *n, wick_value x, uint32_t naxis, const int64_t *axes,
                            double epsilon, bool root, bool center)
{
  wick_value mean = wick_emit_reduce(n->b, WICK_OP_reduce_mean, x, naxis, axes, true);
  wick_value d = root ? x : wick_build2(n->b, WICK_OP_sub, x, mean);
  if (!center) d = x;
  wick_value square = wick_build2(n->b, WICK_OP_mul, d, d);
  wick_value variance = wick_emit_reduce(n->b, WICK_OP_reduce_mean, square, naxis, axes, true);
  variance = keras_by(n, WICK_OP_add, variance, epsilon);
  return wick_build2(n->b, WICK_OP_mul, d, wick_build1(n->b, WICK_OP_rsqrt, variance));
}

static bool norm_axes(wick_import_node *n, uint32_t rank, uint32_t *naxis, int64_t *axes)
{
  if (!rank || !keras_axes(n, "axis", rank, naxis, axes)) return false;
  if (!keras_attr(n, "axis", 'I').kind) *naxis = 1, axes[0] = rank - 1;
  return true;
}

void keras_layer_norm(wick_import_node *n)
{
  wick_elem e = keras_elem_of(n, n->in[0]);
  wick_value x = keras_wide(n, n->in[0]);
  uint32_t naxis, rank = keras_rank(n, x);
  int64_t axes[WICK_MAX_RANK];
  if (!norm_axes(n, rank, &naxis, axes)) return;
  bool root = keras_is_true(n, "rms_scaling", false), gamma = keras_weight_has(n, "gamma");
  wick_value y;
  if (root) { /* by the variance, but the mean stays, as Keras computes it */
    wick_value mean = wick_emit_reduce(n->b, WICK_OP_reduce_mean, x, naxis, axes, true);
    wick_value d = wick_build2(n->b, WICK_OP_sub, x, mean);
    wick_value square = wick_build2(n->b, WICK_OP_mul, d, d);
    wick_value v = wick_emit_reduce(n->b, WICK_OP_reduce_mean, square, naxis, axes, true);
    v = wick_build1(n->b, WICK_OP_rsqrt, keras_by(n, WICK_OP_add, v, norm_epsilon(n, 1e-3)));
    y = wick_build2(n->b, WICK_OP_mul, x, v);
  } else {
    y = norm_over(n, x, naxis, axes, norm_epsilon(n, 1e-3), false, true);
  }
  if (gamma) y = wick_build2(n->b, WICK_OP_mul, y, norm_weight(n, "gamma", x, naxis, axes));
  if (keras_weight_has(n, "beta") && !root)
    y = wick_build2(n->b, WICK_OP_add, y, norm_weight(n, "beta", x, naxis, axes));
  n->out[0] = wick_build_cast(n->b, y, e);
}

void keras_rms_norm(wick_import_node *n)
{
  wick_elem e = keras_elem_of(n, n->in[0]);
  wick_value x = keras_wide(n, n->in[0]);
  uint32_t naxis;
  int64_t axes[WICK_MAX_RANK];
  if (!norm_axes(n, keras_rank(n, x), &naxis, axes)) return;
  wick_value y = norm_over(n, x, naxis, axes, norm_epsilon(n, 1e-6), true, false);
  y = wick_build2(n->b, WICK_OP_mul, y, norm_weight(n, "scale", x, naxis, axes));
  n->out[0] = wick_build_cast(n->b, y, e);
}

/* The channels in groups: [N, ..., groups, channels / groups, ...], normalized over all axes but the
 * batch and the groups. */
void keras_group_norm(wick_import_node *n)
{
  wick_elem e = keras_elem_of(n, n->in[0]);
  wick_value x = keras_wide(n, n->in[0]);
  uint32_t rank = keras_rank(n, x), axis, k = 0, naxis = 0;
  int64_t groups = wick_import_int(n, "groups", 32), axes[WICK_MAX_RANK + 1];
  wick_dim dim[WICK_MAX_RANK + 1], whole[WICK_MAX_RANK];
  if (!keras_axis(n, "axis", -1, rank, &axis)) return;
  wick_dim channels = keras_dims(n, x)[axis];
  if (!wick_dim_is_const(channels)) {
    (void)wick_import_must_be_known(n, "the number of channels", channels);
    return;
  }
  if (groups == -1) groups = channels.v;
  if (groups < 1 || channels.v % groups || rank + 1 > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "%lld channels cannot be divided into %lld groups",
                     (long long)channels.v, (long long)groups);
    return;
  }
  for (uint32_t i = 0; i < rank; i++) {
    whole[i] = keras_dims(n, x)[i];
    if (i == axis) dim[k++] = wick_dim_const(groups);
    if (i) axes[naxis++] = k;
    dim[k++] = i == axis ? wick_dim_const(channels.v / groups) : whole[i];
  }
  wick_value y = wick_build_reshape(n->b, x, rank + 1, dim);
  y = norm_over(n, y, naxis, axes, norm_epsilon(n, 1e-3), false, true);
  y = wick_build_reshape(n->b, y, rank, whole);
  int64_t one = axis;
  if (keras_weight_has(n, "gamma"))
    y = wick_build2(n->b, WICK_OP_mul, y, norm_weight(n, "gamma", x, 1, &one));
  if (keras_weight_has(n, "beta"))
    y = wick_build2(n->b, WICK_OP_add, y, norm_weight(n, "beta", x, 1, &one));
  n->out[0] = wick_build_cast(n->b, y, e);
}

/* x / sqrt(max(sum of squares, 1e-12)) */
void keras_unit_norm(wick_import_node *n)
{
  wick_value x = n->in[0];
  uint32_t naxis;
  int64_t axes[WICK_MAX_RANK];
  if (!norm_axes(n, keras_rank(n, x), &naxis, axes)) return;
  wick_value square = wick_build2(n->b, WICK_OP_mul, x, x);
  wick_value sum = wick_emit_reduce(n->b, WICK_OP_reduce_sum, square, naxis, axes, true);
  wick_value root = wick_build1(n->b, WICK_OP_rsqrt, keras_by(n, WICK_OP_max, sum, 1e-12));
  n->out[0] = wick_build2(n->b, WICK_OP_mul, x, root);
}
