/* Piecewise linear activations: scalar operators that expand into others with the same bits.
 * Attributes and intermediate results are rounded to the type's arithmetic. */
#include <math.h>

#include "ops/elementwise/scalar.h"
#include "ops/gradient/grad.h"
#include "ops/simplify.h"

static wick_value activation_where(wick_builder *b, wick_opcode compare, wick_value x, double bound,
                                   wick_value yes, wick_value no)
{
  wick_value hit = wick_build2(b, compare, x, wick_build_like(b, x, bound));
  return wick_build3(b, WICK_OP_where, hit, yes, no);
}

static wick_value activation_clamp(wick_builder *b, wick_value x, double lo, double hi)
{
  wick_value low = wick_build2(b, WICK_OP_max, x, wick_build_like(b, x, lo));
  return wick_build2(b, WICK_OP_min, low, wick_build_like(b, x, hi));
}

static wick_scalar relu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (!wick_elem_is_float(e)) return (wick_scalar){.i = x[0].i > 0 ? x[0].i : 0};
  return (wick_scalar){.f = isnan(x[0].f) ? x[0].f : x[0].f > 0 ? x[0].f : 0.0};
}

static void relu_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  out[0] = wick_build2(b, WICK_OP_max, in[0], wick_build_like(b, in[0], 0));
}

static wick_dim relu_content(wick_dims *t, const wick_dim *x)
{
  return wick_dim_max(t, x[0], wick_dim_const(0));
}

const wick_op wick_op_relu = {
    .name = "relu",
    .doc = "max(x, 0): +0 for -0 and below, NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS | WICK_SINTS,
    .simplify = wick_simplify_relu,
    .expand = relu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = relu_eval,
    .content = relu_content,

    .grad = wick_grad_relu,
};

static wick_scalar leaky_relu_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                   const wick_scalar *x)
{
  (void)e;
  if (!(x[0].f < 0)) return x[0];
  return (wick_scalar){.f = x[0].f * wick_round_step(out, a[0].f)};
}

static void leaky_relu_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                              wick_value *out)
{
  wick_value scaled = wick_build2(b, WICK_OP_mul, in[0],
                                  wick_build_like(b, in[0], n->attr[WICK_ATTR_leaky_relu_alpha].f));
  out[0] = activation_where(b, WICK_OP_lt, in[0], 0, scaled, in[0]);
}

const wick_op wick_op_leaky_relu = {
    .name = "leaky_relu",
    .doc = "x where x >= 0 or -0, else alpha * x; NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 0.01, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = leaky_relu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = leaky_relu_eval,
    .grad = wick_grad_leaky_relu,
};

static wick_scalar prelu_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)a, (void)out;
  if (!wick_elem_is_float(e)) {
    uint64_t scaled = (uint64_t)x[0].i * (uint64_t)x[1].i;
    return wick_elem_class(e) == WICK_SINT && x[0].i < 0 ? (wick_scalar){.i = (int64_t)scaled}
                                                         : x[0];
  }
  return x[0].f < 0 ? (wick_scalar){.f = x[0].f * x[1].f} : x[0];
}

static void prelu_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  (void)n;
  wick_value scaled = wick_build2(b, WICK_OP_mul, in[0], in[1]);
  out[0] = activation_where(b, WICK_OP_lt, in[0], 0, scaled, in[0]);
}

const wick_op wick_op_prelu = {
    .name = "prelu",
    .doc = "x where x >= 0 or -0, else slope * x, the slope being the second operand; NaN "
           "for NaN",
    .nin = {2, 2},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_NUMBERS,
    .expand = prelu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = prelu_eval,
    .grad = wick_grad_prelu,
};

static wick_scalar thresholded_relu_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                         const wick_scalar *x)
{
  (void)e;
  return x[0].f > wick_round_step(out, a[0].f) ? x[0] : (wick_scalar){.f = 0};
}

static void thresholded_relu_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                                    wick_value *out)
{
  wick_value zero = wick_build_like(b, in[0], 0);
  out[0] = activation_where(b, WICK_OP_gt, in[0], n->attr[WICK_ATTR_thresholded_relu_alpha].f,
                            in[0], zero);
}

const wick_op wick_op_thresholded_relu = {
    .name = "thresholded_relu",
    .doc = "x where x > alpha, else 0; 0 for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = thresholded_relu_expand,
    .scalar = WICK_RULE_SAME,
    .eval = thresholded_relu_eval,
    .grad = wick_grad_thresholded_relu,
};

static wick_scalar shrink_eval(const wick_attr *a, wick_elem e, wick_elem out, const wick_scalar *x)
{
  (void)e;
  double lambd = wick_round_step(out, a[0].f), bias = wick_round_step(out, a[1].f);
  if (x[0].f < -lambd) return (wick_scalar){.f = x[0].f + bias};
  return (wick_scalar){.f = x[0].f > lambd ? x[0].f - bias : 0};
}

static void shrink_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                          wick_value *out)
{
  double lambd = n->attr[WICK_ATTR_shrink_lambd].f;
  wick_value bias = wick_build_like(b, in[0], n->attr[WICK_ATTR_shrink_bias].f);
  wick_value low = wick_build2(b, WICK_OP_add, in[0], bias),
             high = wick_build2(b, WICK_OP_sub, in[0], bias);
  wick_value r = activation_where(b, WICK_OP_gt, in[0], lambd, high, wick_build_like(b, in[0], 0));
  out[0] = activation_where(b, WICK_OP_lt, in[0], -lambd, low, r);
}

const wick_op wick_op_shrink = {
    .name = "shrink",
    .doc = "x + bias where x < -lambd, x - bias where x > lambd, else 0; 0 for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"lambd", WICK_ATTR_FLOAT, 0.5, false, NULL, 0, 0},
             {"bias", WICK_ATTR_FLOAT, 0, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = shrink_expand,
    .scalar = WICK_RULE_SAME,
    .eval = shrink_eval,
    .grad = wick_grad_shrink,
};

static wick_scalar hard_sigmoid_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                     const wick_scalar *x)
{
  (void)e;
  double y = wick_round_step(out, x[0].f * wick_round_step(out, a[0].f));
  y = wick_round_step(out, y + wick_round_step(out, a[1].f));
  return (wick_scalar){.f = isnan(y) ? y : y > 1 ? 1 : y > 0 ? y : 0};
}

static void hard_sigmoid_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                                wick_value *out)
{
  wick_value y = wick_build2(b, WICK_OP_mul, in[0],
                             wick_build_like(b, in[0], n->attr[WICK_ATTR_hard_sigmoid_alpha].f));
  y = wick_build2(b, WICK_OP_add, y, wick_build_like(b, y, n->attr[WICK_ATTR_hard_sigmoid_beta].f));
  out[0] = activation_clamp(b, y, 0, 1);
}

const wick_op wick_op_hard_sigmoid = {
    .name = "hard_sigmoid",
    .doc = "min(max(alpha * x + beta, 0), 1), rounded after each step; NaN for NaN",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"alpha", WICK_ATTR_FLOAT, 0.2, false, NULL, 0, 0},
             {"beta", WICK_ATTR_FLOAT, 0.5, false, NULL, 0, 0}},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = hard_sigmoid_expand,
    .scalar = WICK_RULE_SAME,
    .eval = hard_sigmoid_eval,
    .grad = wick_grad_hard_sigmoid,
};

static wick_scalar hard_swish_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                   const wick_scalar *x)
{
  (void)a, (void)e;
  double y = wick_round_step(out, x[0].f * wick_round_step(out, 1.0 / 6));
  y = wick_round_step(out, y + 0.5);
  return (wick_scalar){.f = x[0].f * (isnan(y) ? y : y > 1 ? 1 : y > 0 ? y : 0)};
}

static void hard_swish_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                              wick_value *out)
{
  (void)n;
  wick_value y = wick_build2(b, WICK_OP_mul, in[0], wick_build_like(b, in[0], 1.0 / 6));
  y = wick_build2(b, WICK_OP_add, y, wick_build_like(b, y, 0.5));
  out[0] = wick_build2(b, WICK_OP_mul, in[0], activation_clamp(b, y, 0, 1));
}

const wick_op wick_op_hard_swish = {
    .name = "hard_swish",
    .doc = "x * min(max(x * (1/6) + 1/2, 0), 1), rounded after each step; -inf gives NaN, "
           "as -inf * 0 does",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = hard_swish_expand,
    .scalar = WICK_RULE_SAME,
    .eval = hard_swish_eval,
    .grad = wick_grad_hard_swish,
};

static wick_scalar softsign_eval(const wick_attr *a, wick_elem e, wick_elem out,
                                 const wick_scalar *x)
{
  (void)a, (void)e;
  return (wick_scalar){.f = x[0].f / wick_round_step(out, 1 + fabs(x[0].f))};
}

static void softsign_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                            wick_value *out)
{
  (void)n;
  wick_value size = wick_build1(b, WICK_OP_abs, in[0]);
  wick_value below = wick_build2(b, WICK_OP_add, size, wick_build_like(b, in[0], 1));
  out[0] = wick_build2(b, WICK_OP_div, in[0], below);
}

const wick_op wick_op_softsign = {
    .name = "softsign",
    .doc = "x / (1 + |x|), rounded after each step; infinities give NaN, as inf / inf does",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_SCALAR_LEVELS,
    .elems = WICK_FLOATS,
    .expand = softsign_expand,
    .scalar = WICK_RULE_SAME,
    .eval = softsign_eval,
    .grad = wick_grad_softsign,
};

/* ---- clip: on tensors only, because its bounds may be missing ---- */

static wick_status clip_infer(wick_infer *c)
{
  for (uint32_t i = 1; i < c->nin; i++) {
    if (!c->in[i]) continue;
    const wick_type_info *x = wick_type_get(c->module, c->in[0]->type),
                         *t = wick_type_get(c->module, c->in[i]->type);
    if (t->kind != WICK_TENSOR || t->rank || t->elem != x->elem)
      return wick_infer_fail(c, WICK_ETYPE, "operand %u is not one %s", i, wick_elem_name(x->elem));
  }
  return wick_infer_same(c);
}

static wick_status clip_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0];
  wick_elem e = x->elem;
  uint64_t n = 1;
  for (uint32_t k = 0; k < x->rank; k++) n *= (uint64_t)x->dim[k];
  for (uint64_t at = 0; at < n; at++) {
    wick_scalar v[2] = {wick_load_elem(e, x->data, at)};
    for (uint32_t i = 1; i < c->nin; i++) {
      if (!c->in[i].data) continue;
      v[1] = wick_load_elem(e, c->in[i].data, 0);
      v[0] = wick_eval_scalar(i == 1 ? WICK_OP_max : WICK_OP_min, NULL, e, e, v);
    }
    wick_store_elem(e, c->out[0].data, at, v[0]);
  }
  return NULL;
}

static void clip_expand(wick_builder *b, const wick_node *n, const wick_value *in, wick_value *out)
{
  out[0] = in[0];
  for (uint32_t i = 1; i < n->nin; i++)
    if (in[i].id) out[0] = wick_build2(b, i == 1 ? WICK_OP_max : WICK_OP_min, out[0], in[i]);
}

const wick_op wick_op_clip = {
    .name = "clip",
    .doc = "min(max(x, low), high). A missing bound does not limit anything. If low is above "
           "high, the result is high. NaN gives NaN",
    .nin = {1, 3},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = clip_infer,
    .ref = clip_ref,
    .expand = clip_expand,
    .grad = wick_grad_bound,
};
