/* Normalizations: by given statistics (batch_norm), and by those of the data. They are defined as
 * compositions of reductions and arithmetic, in f32 for f16 and bf16. */
#include <math.h>

#include "ops/compose.h"
#include "ops/ref.h"
#include "ops/tensor.h"

/* Verifies that operand i is [C] for x [N, C, ...]. */
static wick_status norm_channels(const wick_infer *c, uint32_t i, const char *what,
                                 const wick_type_info *x)
{
  const wick_type_info *t;
  WICK_TRY(wick_infer_alike(c, i, what, 1, &t));
  if (t->rank == 1 && wick_infer_equal(c, t->dim[0], x->dim[1])) return NULL;
  return wick_infer_fail(c, WICK_ETYPE, "%s is %s, expected [%s]", what,
                         wick_infer_type_text(c, c->in[i]->type),
                         wick_infer_dim_text(c, x->dim[1]));
}

/* ---- batch_norm ---- */

static wick_status batch_norm_infer(wick_infer *c)
{
  static const char *const what[] = {"x", "scale", "bias", "mean", "variance"};
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 2, &x));
  for (uint32_t i = 1; i < 5; i++) WICK_TRY(norm_channels(c, i, what[i], x));
  return wick_infer_same(c);
}

static wick_status batch_norm_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  wick_scalar *v = wick_ref_load(c->mem, x), *param[4];
  for (uint32_t i = 0; i < 4; i++) param[i] = wick_ref_load(c->mem, &c->in[1 + i]);
  int64_t inner = wick_ref_product(x, 2, x->rank), outer = x->dim[0] * x->dim[1];
  for (int64_t o = 0; o < outer; o++) {
    int64_t ch = o % x->dim[1];
    double factor = param[0][ch].f / sqrt(param[3][ch].f + c->attr[WICK_ATTR_batch_norm_epsilon].f);
    for (int64_t i = o * inner; i < (o + 1) * inner; i++)
      v[i].f = (v[i].f - param[2][ch].f) * factor + param[1][ch].f;
  }
  wick_ref_write(&c->out[0], 0, wick_ref_numel(x), v);
  return NULL;
}

/* Expands to a factor and a summand per channel. They are constants if the parameters are. */
static void batch_norm_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                              wick_value *out)
{
  if (b->status) return;
  wick_elem e = wick_built_info(b, in[0])->elem;
  wick_value p[5];
  for (uint32_t i = 0; i < 5; i++) p[i] = wick_compose_wide(b, in[i]);
  wick_value deviation = wick_build1(
      b, WICK_OP_sqrt,
      wick_build2(b, WICK_OP_add, p[4],
                  b->status ? p[4]
                            : wick_build_like(b, p[4], n->attr[WICK_ATTR_batch_norm_epsilon].f)));
  wick_value factor = wick_build2(b, WICK_OP_div, p[1], deviation);
  wick_value summand = wick_build2(b, WICK_OP_sub, p[2], wick_build2(b, WICK_OP_mul, p[3], factor));
  wick_value y = wick_build2(b, WICK_OP_mul, p[0], wick_compose_channels(b, factor, in[0]));
  y = wick_build2(b, WICK_OP_add, y, wick_compose_channels(b, summand, in[0]));
  out[0] = b->status ? y : wick_build_cast(b, y, e);
}

const wick_op wick_op_batch_norm = {
    .name = "batch_norm",
    .doc = "(x - mean) / sqrt(variance + epsilon) * scale + bias, for x [N, C, ...] and four "
           "vectors [C]. It is computed as x * a + b, where a = scale / sqrt(variance + epsilon) "
           "and b = bias - mean * a",
    .nin = {5, 5},
    .nout = {1, 1},
    .attr = {{"epsilon", WICK_ATTR_FLOAT, 1e-5, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = batch_norm_infer,
    .ref = batch_norm_ref,
    .expand = batch_norm_expand,
};

/* ---- by the statistics of the data ---- */

/* Normalizes each run of `inner` elements of type e: subtracts its mean if `centre`, and divides by
 * sqrt(its mean square + epsilon). */
static void norm_runs(wick_elem e, wick_scalar *v, int64_t outer, int64_t inner, bool centre,
                      double epsilon)
{
  for (int64_t o = 0; o < outer; o++, v += inner) {
    double mean = 0, square = 0;
    for (int64_t i = 0; centre && i < inner; i++) mean += v[i].f;
    mean /= (double)inner;
    if (!centre) mean = 0;
    for (int64_t i = 0; i < inner; i++) v[i].f -= mean;
    for (int64_t i = 0; i < inner; i++)
      square = wick_ref_range(e, square + wick_ref_range(e, v[i].f * v[i].f));
    double factor = 1 / sqrt(square / (double)inner + epsilon);
    for (int64_t i = 0; i < inner; i++) v[i].f *= factor;
  }
}

/* Computes v * scale + bias, where both are [C]. */
static void norm_affine_channels(const wick_ref *c, wick_scalar *v)
{
  const wick_tensor *x = &c->in[0];
  wick_scalar *scale = wick_ref_load(c->mem, &c->in[1]), *bias = wick_ref_load(c->mem, &c->in[2]);
  int64_t inner = wick_ref_product(x, 2, x->rank), outer = x->dim[0] * x->dim[1];
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = o * inner; i < (o + 1) * inner; i++)
      v[i].f = v[i].f * scale[o % x->dim[1]].f + bias[o % x->dim[1]].f;
}

/* Builds the same from operators: x, its mean square along `naxis` axes, and the root of it. */
static wick_value norm_expand_runs(wick_builder *b, wick_value x, uint32_t naxis,
                                   const int64_t *axis, bool centre, double epsilon)
{
  if (centre)
    x = wick_build2(b, WICK_OP_sub, x, wick_compose_reduce(b, WICK_OP_reduce_mean, x, naxis, axis));
  wick_value square =
      wick_compose_reduce(b, WICK_OP_reduce_mean, wick_build2(b, WICK_OP_mul, x, x), naxis, axis);
  if (b->status) return x;
  square = wick_build2(b, WICK_OP_add, square, wick_build_like(b, square, epsilon));
  return wick_build2(b, WICK_OP_mul, x, wick_build1(b, WICK_OP_rsqrt, square));
}

static uint32_t norm_axes_from(const wick_builder *b, wick_value x, uint32_t first, int64_t *axis)
{
  uint32_t n = 0;
  if (!b->status)
    for (uint32_t k = first; k < wick_built_info(b, x)->rank; k++) axis[n++] = k;
  return n;
}

static wick_value norm_expand_affine(wick_builder *b, wick_value x, wick_value scale,
                                     wick_value bias, wick_elem e)
{
  if (scale.id) x = wick_build2(b, WICK_OP_mul, x, wick_compose_wide(b, scale));
  if (bias.id) x = wick_build2(b, WICK_OP_add, x, wick_compose_wide(b, bias));
  return b->status ? x : wick_build_cast(b, x, e);
}

/* ---- instance_norm, group_norm ---- */

static wick_status instance_norm_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 3, &x));
  WICK_TRY(norm_channels(c, 1, "scale", x));
  WICK_TRY(norm_channels(c, 2, "bias", x));
  return wick_infer_same(c);
}

static wick_status instance_norm_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  wick_scalar *v = wick_ref_load(c->mem, x);
  norm_runs(x->elem, v, wick_ref_product(x, 0, 2), wick_ref_product(x, 2, x->rank), true,
            c->attr[WICK_ATTR_instance_norm_epsilon].f);
  norm_affine_channels(c, v);
  wick_ref_write(&c->out[0], 0, wick_ref_numel(x), v);
  return NULL;
}

static void instance_norm_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                                 wick_value *out)
{
  if (b->status) return;
  int64_t axis[WICK_MAX_RANK];
  uint32_t naxis = norm_axes_from(b, in[0], 2, axis);
  wick_value x = norm_expand_runs(b, wick_compose_wide(b, in[0]), naxis, axis, true,
                                  n->attr[WICK_ATTR_instance_norm_epsilon].f);
  wick_value scale = wick_compose_channels(b, in[1], in[0]),
             bias = wick_compose_channels(b, in[2], in[0]);
  out[0] = norm_expand_affine(b, x, scale, bias, wick_built_info(b, in[0])->elem);
}

const wick_op wick_op_instance_norm = {
    .name = "instance_norm",
    .doc = "(x - mean x) / sqrt(mean (x - mean x)^2 + epsilon) * scale + bias, for x [N, C, "
           "spatial...]. The means run over the spatial dimensions. scale and bias are [C]",
    .nin = {3, 3},
    .nout = {1, 1},
    .attr = {{"epsilon", WICK_ATTR_FLOAT, 1e-5, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = instance_norm_infer,
    .ref = instance_norm_ref,
    .expand = instance_norm_expand,
};

static wick_status group_norm_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 2, &x));
  WICK_TRY(norm_channels(c, 1, "scale", x));
  WICK_TRY(norm_channels(c, 2, "bias", x));
  wick_dim groups = wick_dim_const(c->attr[WICK_ATTR_group_norm_groups].i);
  if (!wick_infer_divides(c, x->dim[1], groups))
    return wick_infer_fail(c, WICK_ETYPE, "%s channels in %lld groups",
                           wick_infer_dim_text(c, x->dim[1]), (long long)groups.v);
  return wick_infer_same(c);
}

static wick_status group_norm_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  wick_scalar *v = wick_ref_load(c->mem, x);
  int64_t groups = c->attr[WICK_ATTR_group_norm_groups].i, per_group = x->dim[1] / groups;
  norm_runs(x->elem, v, x->dim[0] * groups, per_group * wick_ref_product(x, 2, x->rank), true,
            c->attr[WICK_ATTR_group_norm_epsilon].f);
  norm_affine_channels(c, v);
  wick_ref_write(&c->out[0], 0, wick_ref_numel(x), v);
  return NULL;
}

static void group_norm_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                              wick_value *out)
{
  if (b->status) return;
  const wick_type_info *t = wick_built_info(b, in[0]);
  int64_t axis = 2;
  wick_dim dim[3] = {t->dim[0], wick_dim_const(n->attr[WICK_ATTR_group_norm_groups].i),
                     wick_dim_const(-1)};
  wick_value x = wick_build_reshape(b, wick_compose_wide(b, in[0]), 3, dim);
  x = norm_expand_runs(b, x, 1, &axis, true, n->attr[WICK_ATTR_group_norm_epsilon].f);
  x = wick_build_reshape(b, x, t->rank, t->dim);
  wick_value scale = wick_compose_channels(b, in[1], in[0]),
             bias = wick_compose_channels(b, in[2], in[0]);
  out[0] = norm_expand_affine(b, x, scale, bias, wick_built_info(b, in[0])->elem);
}

const wick_op wick_op_group_norm = {
    .name = "group_norm",
    .doc = "(x - mean x) / sqrt(mean (x - mean x)^2 + epsilon) * scale + bias, for x [N, C, "
           "spatial...]. The means run over the channels of a group and the spatial dimensions. "
           "scale and bias are [C]",
    .nin = {3, 3},
    .nout = {1, 1},
    .attr = {{"epsilon", WICK_ATTR_FLOAT, 1e-5, false, NULL, 0, 0},
             {"groups", WICK_ATTR_INT, 1, true, NULL, 1, 1 << 30}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = group_norm_infer,
    .ref = group_norm_ref,
    .expand = group_norm_expand,
};

/* ---- layer_norm, rms_norm ---- */

static wick_status layer_norm_infer(wick_infer *c)
{
  const wick_type_info *x, *t;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 1, &x));
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_layer_norm_axis].i;
  for (uint32_t i = 1; i < c->nin; i++) {
    if (!c->in[i]) continue;
    const char *what = i == 1 ? "scale" : "bias";
    WICK_TRY(wick_infer_alike(c, i, what, 0, &t));
    bool fits = t->rank <= x->rank - axis;
    for (uint32_t k = 0; fits && k < t->rank; k++)
      fits = wick_dim_is(t->dim[k], 1) ||
             wick_infer_equal(c, t->dim[k], x->dim[x->rank - t->rank + k]);
    if (!fits)
      return wick_infer_fail(c, WICK_ETYPE, "%s is %s, which does not broadcast to x from axis %u",
                             what, wick_infer_type_text(c, c->in[i]->type), axis);
  }
  return wick_infer_same(c);
}

/* Returns the position in t, which broadcasts to x's last dimensions, of element `at` (row-major)
 * of x. */
static uint64_t layer_norm_position(const wick_tensor *t, const wick_tensor *x, uint64_t at)
{
  uint64_t position = 0, stride = 1;
  for (uint32_t k = t->rank; k-- > 0;) {
    uint64_t size = (uint64_t)x->dim[x->rank - t->rank + k];
    if (t->dim[k] != 1) position += at % size * stride;
    at /= size;
    stride *= (uint64_t)t->dim[k];
  }
  return position;
}

static wick_status layer_norm_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  uint32_t axis = (uint32_t)c->attr[WICK_ATTR_layer_norm_axis].i;
  wick_scalar *v = wick_ref_load(c->mem, x);
  uint64_t n = wick_ref_numel(x);
  norm_runs(x->elem, v, wick_ref_product(x, 0, axis), wick_ref_product(x, axis, x->rank),
            c->op == WICK_OP_layer_norm, c->attr[WICK_ATTR_layer_norm_epsilon].f);
  for (uint32_t i = 1; i < c->nin; i++) {
    if (!c->in[i].data) continue;
    wick_scalar *p = wick_ref_load(c->mem, &c->in[i]);
    for (uint64_t k = 0; k < n; k++) {
      double q = p[layer_norm_position(&c->in[i], x, k)].f;
      v[k].f = i == 1 ? v[k].f * q : v[k].f + q;
    }
  }
  wick_ref_write(&c->out[0], 0, n, v);
  return NULL;
}

static void layer_norm_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                              wick_value *out)
{
  if (b->status) return;
  int64_t axis[WICK_MAX_RANK];
  uint32_t naxis = norm_axes_from(b, in[0], (uint32_t)n->attr[WICK_ATTR_layer_norm_axis].i, axis);
  wick_value x =
      norm_expand_runs(b, wick_compose_wide(b, in[0]), naxis, axis, n->op == WICK_OP_layer_norm,
                       n->attr[WICK_ATTR_layer_norm_epsilon].f);
  wick_value none = {0};
  out[0] = norm_expand_affine(b, x, n->nin > 1 ? in[1] : none, n->nin > 2 ? in[2] : none,
                              wick_built_info(b, in[0])->elem);
}

const wick_op wick_op_layer_norm = {
    .name = "layer_norm",
    .doc = "(x - mean x) / sqrt(mean (x - mean x)^2 + epsilon) * scale + bias. The means run over "
           "the dimensions from `axis` on; scale and bias broadcast to these",
    .nin = {1, 3},
    .nout = {1, 1},
    .attr = {{"epsilon", WICK_ATTR_FLOAT, 1e-5, false, NULL, 0, 0},
             {"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = layer_norm_infer,
    .ref = layer_norm_ref,
    .expand = layer_norm_expand,
};

const wick_op wick_op_rms_norm = {
    .name = "rms_norm",
    .doc = "x / sqrt(mean x^2 + epsilon) * scale. The mean runs over the dimensions from `axis` "
           "on; scale broadcasts to these",
    .nin = {1, 2},
    .nout = {1, 1},
    .attr = {{"epsilon", WICK_ATTR_FLOAT, 1e-5, false, NULL, 0, 0},
             {"axis", WICK_ATTR_AXIS, -1, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .infer = layer_norm_infer,
    .ref = layer_norm_ref,
    .expand = layer_norm_expand,
};
