/* Imports normalizations. */
#include "import/onnx/import.h"

/* Begins a node of an operator that adds epsilon to a variance. */
static wick_emit norm_begin(wick_onnx_op *o, wick_opcode op)
{
  wick_emit e = wick_emit_begin(o->b, op);
  wick_emit_set_float(&e, "epsilon", wick_onnx_float(o, "epsilon", 1e-5f));
  return e;
}

/* Converts the operands to one element type: the first operand's or, if they differ, f32 or f64.
 * The result is cast back. */
static wick_value norm_row_of(wick_onnx_op *o, wick_emit *e, uint32_t nin, const wick_value *in)
{
  wick_builder *b = o->b;
  if (b->status) return in[0];
  wick_elem x = wick_built_info(b, in[0])->elem, wide = x;
  wick_value alike[5];
  for (uint32_t i = 1; i < nin; i++)
    if (in[i].id && wick_built_info(b, in[i])->elem != wide && wide != WICK_F64)
      wide = wick_built_info(b, in[i])->elem == WICK_F64 ? WICK_F64 : WICK_F32;
  for (uint32_t i = 0; i < nin; i++) alike[i] = in[i].id ? wick_build_cast(b, in[i], wide) : in[i];
  return wick_build_cast(b, wick_emit_end(e, nin, alike), x);
}

static wick_value norm_row(wick_onnx_op *o, wick_emit *e, uint32_t nin)
{
  return norm_row_of(o, e, nin, o->in);
}

/* ---- BatchNormalization ---- */

/* Normalizes x with a scale, bias, mean and variance for each channel. Before opset 9, if
 * `spatial` is 0, there is one for each element of an image. */
static wick_value norm_batch_by(wick_onnx_op *o, const wick_value in[5])
{
  wick_builder *b = o->b;
  if (wick_onnx_int(o, "spatial", 1)) {
    wick_emit e = norm_begin(o, WICK_OP_batch_norm);
    return norm_row_of(o, &e, 5, in);
  }
  wick_value eps = wick_emit_number(o->b, in[4], wick_onnx_float(o, "epsilon", 1e-5f));
  wick_value deviation = wick_build1(b, WICK_OP_sqrt, wick_build2(b, WICK_OP_add, in[4], eps));
  wick_value y = wick_build2(b, WICK_OP_div, wick_build2(b, WICK_OP_sub, in[0], in[3]), deviation);
  return wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, y, in[1]), in[2]);
}

/* Combines a running statistic with that of this batch, in the former's type. */
static wick_value norm_batch_running(wick_onnx_op *o, wick_value so_far, wick_value now)
{
  if (o->b->status) return now;
  double momentum = wick_onnx_float(o, "momentum", 0.9f);
  wick_elem e = wick_built_info(o->b, so_far)->elem, wide = wick_built_info(o->b, now)->elem;
  so_far = wick_emit_by(o->b, WICK_OP_mul, wick_build_cast(o->b, so_far, wide), momentum);
  now = wick_emit_by(o->b, WICK_OP_mul, now, 1 - momentum);
  return wick_build_cast(o->b, wick_build2(o->b, WICK_OP_add, so_far, now), e);
}

/* Normalizes with the mean and the variance of the batch, in f32 or f64, and updates the running
 * ones. Before opset 14 the statistics of the batch are results, too. */
static void norm_batch_training(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  uint32_t rank = wick_onnx_info(o, 0)->rank, n = 0;
  int64_t axes[WICK_MAX_RANK];
  if (rank < 2) {
    wick_onnx_fail(o, WICK_ETYPE, "its rank is %u, expected 2 or more", rank);
    return;
  }
  for (uint32_t k = 0; k < (wick_onnx_int(o, "spatial", 1) ? rank : 1); k++)
    if (k != 1) axes[n++] = k;
  wick_elem e = wick_onnx_info(o, 3)->elem;
  wick_value x = wick_build_cast(b, o->in[0], wick_elem_storage[wick_onnx_info(o, 0)->elem].arith);
  wick_value mean = wick_emit_reduce(o->b, WICK_OP_reduce_mean, x, n, axes, true);
  wick_value d = wick_build2(b, WICK_OP_sub, x, mean);
  wick_value variance = wick_emit_reduce(o->b, WICK_OP_reduce_mean,
                                         wick_build2(b, WICK_OP_mul, d, d), n, axes, false);
  if (b->status) return;
  const wick_type_info *t = wick_built_info(b, variance);
  mean = wick_build_reshape(o->b, mean, t->rank, t->dim);
  o->out[0] = norm_batch_by(o, (wick_value[]){o->in[0], o->in[1], o->in[2], mean, variance});
  if (o->nout > 1) o->out[1] = norm_batch_running(o, o->in[3], mean);
  if (o->nout > 2) o->out[2] = norm_batch_running(o, o->in[4], variance);
  if (o->nout > 3) o->out[3] = wick_build_cast(b, mean, e);
  if (o->nout > 4) o->out[4] = wick_build_cast(b, variance, e);
}

/* Before opset 14 a node trains if it has results that only training computes. */
static void norm_batch(wick_onnx_op *o)
{
  bool more = false;
  for (uint32_t k = 1; k < o->nout; k++) more = more || o->node->output.at[k].nbytes;
  bool training = o->opset < 14 ? more && !wick_onnx_int(o, "is_test", 0)
                                : wick_onnx_int(o, "training_mode", 0) != 0;
  if (training)
    norm_batch_training(o);
  else
    o->out[0] = norm_batch_by(o, o->in);
}

static void norm_instance(wick_onnx_op *o)
{
  wick_emit e = norm_begin(o, WICK_OP_instance_norm);
  o->out[0] = norm_row(o, &e, 3);
}

/* Repeats each group's number for each of its channels. */
static wick_value norm_spread(wick_onnx_op *o, uint32_t i, int64_t groups)
{
  wick_dims *dims = o->c->module->dims;
  wick_dim g = wick_dim_const(groups), channels = wick_onnx_info(o, 0)->dim[1],
           each = wick_dim_floordiv(dims, channels, g);
  wick_value column =
      wick_build_reshape(o->b, o->in[i], 2, (const wick_dim[]){g, wick_dim_const(1)});
  wick_emit e = wick_emit_begin(o->b, WICK_OP_broadcast_to);
  wick_emit_set_dims(&e, "shape", 2, (const wick_dim[]){g, each});
  return wick_build_reshape(o->b, wick_emit_end1(&e, column), 1, &channels);
}

/* In opset 18 scale and bias are per group, from 21 on per channel. */
static void norm_group_18(wick_onnx_op *o)
{
  int64_t groups = wick_onnx_int(o, "num_groups", 1);
  if (wick_onnx_info(o, 0)->rank < 2 || groups < 1) {
    wick_onnx_fail(o, WICK_ETYPE, "rank %u and %lld groups, expected 2 or more and 1 or more",
                   wick_onnx_info(o, 0)->rank, (long long)groups);
    return;
  }
  wick_value in[3] = {o->in[0], norm_spread(o, 1, groups), norm_spread(o, 2, groups)};
  wick_emit e = norm_begin(o, WICK_OP_group_norm);
  wick_emit_set_int(&e, "groups", groups);
  o->out[0] = wick_emit_end(&e, 3, in);
}

static void norm_group(wick_onnx_op *o)
{
  wick_emit e = norm_begin(o, WICK_OP_group_norm);
  wick_emit_set_int(&e, "groups", wick_onnx_int(o, "num_groups", 1));
  o->out[0] = norm_row(o, &e, 3);
}

/* ---- over trailing axes ---- */

/* Computes the optional results of LayerNormalization: the mean and 1 / sqrt(variance +
 * epsilon), in f32. */
static void norm_layer_statistics(wick_onnx_op *o, uint32_t axis)
{
  wick_builder *b = o->b;
  int64_t axes[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t i = axis; i < wick_onnx_info(o, 0)->rank; i++) axes[n++] = i;
  wick_elem e = wick_onnx_info(o, 0)->elem;
  wick_value x = wick_build_cast(b, o->in[0], e == WICK_F64 ? WICK_F64 : WICK_F32);
  wick_value mean = wick_emit_reduce(o->b, WICK_OP_reduce_mean, x, n, axes, true);
  wick_value d = wick_build2(b, WICK_OP_sub, x, mean);
  wick_value variance =
      wick_emit_reduce(o->b, WICK_OP_reduce_mean, wick_build2(b, WICK_OP_mul, d, d), n, axes, true);
  if (b->status) return;
  wick_value eps = wick_emit_number(o->b, variance, wick_onnx_float(o, "epsilon", 1e-5f));
  o->out[1] = wick_build_cast(b, mean, WICK_F32);
  if (o->nout > 2)
    o->out[2] = wick_build_cast(
        b,
        wick_build1(b, WICK_OP_reciprocal,
                    wick_build1(b, WICK_OP_sqrt, wick_build2(b, WICK_OP_add, variance, eps))),
        WICK_F32);
}

/* Removes leading dimensions of size 1 from scale and bias. *out_plain is true if they broadcast
 * to the normalized dimensions. Returns false if one has more dimensions than x, or does not
 * broadcast to x. */
static bool norm_layer_affine(wick_onnx_op *o, uint32_t axis, wick_value *in, bool *out_plain)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  *out_plain = true;
  for (uint32_t i = 1; i < o->nin; i++) {
    if (!(in[i] = o->in[i]).id) continue;
    const wick_type_info *t = wick_onnx_info(o, i);
    uint32_t skip = 0;
    while (t->rank - skip > x->rank - axis && wick_dim_is(t->dim[skip], 1)) skip++;
    if (t->rank - skip > x->rank) {
      wick_onnx_fail(o, WICK_ETYPE, "%s has rank %u, the input %u", i == 1 ? "scale" : "bias",
                     t->rank, x->rank);
      return false;
    }
    *out_plain = *out_plain && t->rank - skip <= x->rank - axis;
    if (skip) in[i] = wick_build_reshape(o->b, in[i], t->rank - skip, t->dim + skip);
  }
  return !o->b->status;
}

/* Multiplies y by a scale, or adds a bias, which may broadcast along any dimension. */
static wick_value norm_layer_by(wick_onnx_op *o, wick_opcode op, wick_value y, wick_value by)
{
  wick_builder *b = o->b;
  if (b->status || !by.id) return y;
  wick_value z = wick_build2(b, op, y, wick_build_cast(b, by, wick_built_info(b, y)->elem));
  if (b->status) return z;
  const wick_type_info *have = wick_built_info(b, z), *x = wick_onnx_info(o, 0);
  bool same = have->rank == x->rank;
  for (uint32_t k = 0; same && k < x->rank; k++) same = wick_onnx_equal(o, have->dim[k], x->dim[k]);
  if (!same)
    wick_onnx_fail(o, WICK_ETYPE, "%s does not broadcast to the input",
                   op == WICK_OP_mul ? "scale" : "bias");
  return z;
}

/* Applies a scale and a bias of other dimensions than the normalized ones, in f32 or f64. */
static void norm_layer_wide(wick_onnx_op *o, wick_emit *e, const wick_value *in)
{
  wick_elem elem = wick_onnx_info(o, 0)->elem;
  wick_value y =
      wick_emit_end1(e, wick_build_cast(o->b, in[0], elem == WICK_F64 ? WICK_F64 : WICK_F32));
  y = norm_layer_by(o, WICK_OP_mul, y, in[1]);
  y = norm_layer_by(o, WICK_OP_add, y, in[2]);
  o->out[0] = o->b->status ? y : wick_build_cast(o->b, y, elem);
}

/* Computes the optional result of SimplifiedLayerNormalization: 1 / sqrt(mean x^2 + epsilon), in
 * f32. */
static void norm_rms_statistics(wick_onnx_op *o, uint32_t axis)
{
  wick_builder *b = o->b;
  int64_t axes[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t i = axis; i < wick_onnx_info(o, 0)->rank; i++) axes[n++] = i;
  wick_value x = wick_build_cast(b, o->in[0], WICK_F32);
  wick_value mean =
      wick_emit_reduce(o->b, WICK_OP_reduce_mean, wick_build2(b, WICK_OP_mul, x, x), n, axes, true);
  mean = wick_emit_by(o->b, WICK_OP_add, mean, wick_onnx_float(o, "epsilon", 1e-5f));
  if (!b->status) o->out[1] = wick_build1(b, WICK_OP_rsqrt, mean);
}

static void norm_layer(wick_onnx_op *o)
{
  uint32_t axis;
  bool plain;
  wick_value in[3] = {o->in[0]};
  if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", -1), wick_onnx_info(o, 0)->rank, &axis)) return;
  if (!norm_layer_affine(o, axis, in, &plain)) return;
  wick_emit e = norm_begin(o, o->row->op);
  wick_emit_set_int(&e, "axis", axis);
  if (plain)
    o->out[0] = norm_row_of(o, &e, o->nin, in);
  else
    norm_layer_wide(o, &e, in);
  if (o->nout > 1 && o->row->op == WICK_OP_layer_norm) norm_layer_statistics(o, axis);
  if (o->nout > 1 && o->row->op == WICK_OP_rms_norm) norm_rms_statistics(o, axis);
}

static void norm_lrn(wick_onnx_op *o)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_lrn);
  wick_emit_set_int(&e, "size", wick_onnx_int(o, "size", 1));
  wick_emit_set_float(&e, "alpha", wick_onnx_float(o, "alpha", 1e-4f));
  wick_emit_set_float(&e, "beta", wick_onnx_float(o, "beta", 0.75f));
  wick_emit_set_float(&e, "bias", wick_onnx_float(o, "bias", 1));
  o->out[0] = wick_emit_end1(&e, o->in[0]);
}

/* ---- compositions ---- */

/* (x - mean) / (deviation + 1e-9) */
static void norm_mean_variance(wick_onnx_op *o)
{
  static int64_t usual[] = {0, 2, 3};
  wick_wire_i64s axes = wick_onnx_ints(o, "axes");
  if (!axes.n) axes = (wick_wire_i64s){usual, WICK_COUNT(usual)};
  uint32_t n = (uint32_t)axes.n;
  wick_builder *b = o->b;
  wick_value mean = wick_emit_reduce(o->b, WICK_OP_reduce_mean, o->in[0], n, axes.at, true);
  wick_value d = wick_build2(b, WICK_OP_sub, o->in[0], mean);
  wick_value variance = wick_emit_reduce(o->b, WICK_OP_reduce_mean,
                                         wick_build2(b, WICK_OP_mul, d, d), n, axes.at, true);
  if (b->status) return;
  wick_value deviation = wick_build1(b, WICK_OP_sqrt, variance);
  o->out[0] =
      wick_build2(b, WICK_OP_div, d,
                  wick_build2(b, WICK_OP_add, deviation, wick_emit_number(o->b, variance, 1e-9)));
}

/* x / norm, or 0 if the norm is 0. */
static void norm_lp(wick_onnx_op *o)
{
  int64_t p = wick_onnx_int(o, "p", 2), axis = wick_onnx_int(o, "axis", -1);
  wick_builder *b = o->b;
  if (p != 1 && p != 2) {
    wick_onnx_fail(o, WICK_ERANGE, "p is %lld, expected 1 or 2", (long long)p);
    return;
  }
  wick_value norm = wick_emit_reduce(o->b, p == 1 ? WICK_OP_reduce_l1 : WICK_OP_reduce_l2, o->in[0],
                                     1, &axis, true);
  if (b->status) return;
  wick_value zero = wick_emit_number(o->b, norm, 0), is = wick_build2(b, WICK_OP_eq, norm, zero);
  o->out[0] = wick_build2(b, WICK_OP_div, o->in[0],
                          wick_build3(b, WICK_OP_where, is, wick_emit_number(o->b, norm, 1), norm));
}

const wick_onnx_row wick_onnx_norm_rows[] = {
    {"BatchNormalization",
     1,
     {5, 5},
     5,
     "epsilon:f is_test:i momentum:f spatial:i",
     norm_batch,
     0,
     0},
    {"BatchNormalization", 7, {5, 5}, 5, "epsilon:f momentum:f spatial:i", norm_batch, 0, 0},
    {"BatchNormalization", 9, {5, 5}, 5, "epsilon:f momentum:f", norm_batch, 0, 0},
    {"BatchNormalization", 14, {5, 5}, 3, "epsilon:f momentum:f training_mode:i", norm_batch, 0, 0},
    {"GroupNormalization", 18, {3, 3}, 1, "epsilon:f num_groups:i!", norm_group_18, 0, 0},
    {"GroupNormalization", 21, {3, 3}, 1, "epsilon:f num_groups:i! stash_type:i", norm_group, 0, 0},
    {"InstanceNormalization", 1, {3, 3}, 1, "epsilon:f", norm_instance, 0, 0},
    {"LRN", 1, {1, 1}, 1, "alpha:f beta:f bias:f size:i!", norm_lrn, 0, 0},
    {"LayerNormalization",
     17,
     {2, 3},
     3,
     "axis:i epsilon:f stash_type:i",
     norm_layer,
     WICK_OP_layer_norm,
     0},
    {"LpNormalization", 1, {1, 1}, 1, "axis:i p:i", norm_lp, 0, 0},
    {"MeanVarianceNormalization", 9, {1, 1}, 1, "axes:I", norm_mean_variance, 0, 0},
    {"RMSNormalization",
     23,
     {2, 2},
     1,
     "axis:i epsilon:f stash_type:i",
     norm_layer,
     WICK_OP_rms_norm,
     0},
    /* the form that ONNX Runtime's converters write */
    {"SimplifiedLayerNormalization",
     1,
     {2, 2},
     2,
     "axis:i epsilon:f stash_type:i",
     norm_layer,
     WICK_OP_rms_norm,
     0},
    {0},
};
