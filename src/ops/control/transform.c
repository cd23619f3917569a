/* Transformations of functions, as nodes that name the function. The pass expand_transformations
 * replaces them by ordinary nodes. Arguments and results are those of the function after
 * flattening; `wrt` counts its parameters from 0. */
#include "ir/build.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"

static wick_status transform_operand(const wick_infer *c, uint32_t k, wick_type expected)
{
  if (wick_type_eq(c->in[k]->type, expected)) return NULL;
  wick_text a = wick_text_begin(c->mem), b = wick_text_begin(c->mem);
  wick_type_print(c->module, c->in[k]->type, &a);
  wick_type_print(c->module, expected, &b);
  return wick_infer_fail(c, WICK_ETYPE, "operand %u is %s, expected %s", k, a.at, b.at);
}

static wick_status transform_result(const wick_infer *c, uint32_t k, wick_type expected)
{
  const wick_type_info *t = wick_type_get(c->module, expected);
  if (t->kind != WICK_TENSOR || wick_type_eq(c->want[k], expected)) return NULL;
  wick_text a = wick_text_begin(c->mem), b = wick_text_begin(c->mem);
  wick_type_print(c->module, c->want[k], &a);
  wick_type_print(c->module, expected, &b);
  return wick_infer_fail(c, WICK_ETYPE, "result %u is %s, expected %s", k, a.at, b.at);
}

/* Checks the operands that are f's arguments, `more` operands after them, and the results that are
 * f's, `after` results after them. */
static wick_status transform_call(const wick_infer *c, const wick_func *f, uint32_t more,
                                  uint32_t after)
{
  const wick_node *r = wick_return(f);
  if (c->nin != f->nparam + more)
    return wick_infer_fail(c, WICK_ETYPE, "%u operands are given, expected %u for @%s", c->nin,
                           f->nparam + more, f->name);
  if (c->nwant != r->nin + after)
    return wick_infer_fail(c, WICK_ETYPE, "it has %u results, expected %u for @%s", c->nwant,
                           r->nin + after, f->name);
  for (uint32_t k = 0; k < f->nparam; k++) WICK_TRY(transform_operand(c, k, f->value[k + 1].type));
  for (uint32_t k = 0; k < r->nin; k++) WICK_TRY(transform_result(c, k, wick_type_of(f, r->in[k])));
  return NULL;
}

/* Checks the numbers of the parameters by which f is differentiated. */
static wick_status transform_wrt(const wick_infer *c, const wick_func *f, const wick_attr *wrt)
{
  for (uint32_t i = 0; i < wrt->n; i++) {
    int64_t p = wrt->ints[i];
    if (p < 0 || p >= f->nparam)
      return wick_infer_fail(c, WICK_ETYPE, "wrt has %lld, @%s has %u parameters", (long long)p,
                             f->name, f->nparam);
    for (uint32_t k = 0; k < i; k++)
      if (wrt->ints[k] == p)
        return wick_infer_fail(c, WICK_ETYPE, "wrt has %lld twice", (long long)p);
    if (!wick_declares_cotangent(c->module, f->value[p + 1].type))
      return wick_infer_fail(c, WICK_ETYPE, "parameter %lld of @%s has no cotangents", (long long)p,
                             f->name);
  }
  return NULL;
}

/* Returns the number of f's results that have cotangents. */
static uint32_t transform_nresult(const wick_infer *c, const wick_func *f)
{
  uint32_t n = 0;
  for (uint32_t k = 0; k < wick_return(f)->nin; k++)
    n += wick_declares_cotangent(c->module, wick_type_of(f, wick_return(f)->in[k]));
  return n;
}

static wick_status value_and_grad_infer(wick_infer *c)
{
  const wick_func *f = c->callee;
  const wick_attr *wrt = &c->attr[WICK_ATTR_value_and_grad_wrt];
  if (!f) return NULL; /* defined later in the text: the verifier checks it */
  const wick_node *r = wick_return(f);
  WICK_TRY(transform_wrt(c, f, wrt));
  WICK_TRY(transform_call(c, f, 0, wrt->n));
  const wick_type_info *t = r->nin ? wick_info_of(f, r->in[0]) : NULL;
  if (!t || t->kind != WICK_TENSOR || !(WICK_FLOATS >> t->elem & 1))
    return wick_infer_fail(c, WICK_ETYPE, "the first result of @%s is not a tensor of floats",
                           f->name);
  for (uint32_t i = 0; i < wrt->n; i++)
    WICK_TRY(transform_result(c, r->nin + i, f->value[wrt->ints[i] + 1].type));
  return NULL;
}

const wick_op wick_op_value_and_grad = {
    .name = "value_and_grad",
    .doc = "Calls a function and gives its results, then the derivatives of the sum of the first "
           "result's elements with respect to the parameters `wrt`",
    .nin = {0, WICK_ANY},
    .nout = {1, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0},
             {"wrt", WICK_ATTR_INTS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .effect = WICK_MAY_FAIL,
    .typed = true,
    .objects = true,
    .infer = value_and_grad_infer,
    .grad = wick_grad_none,
    .batch.run = wick_batch_rows,
};

static wick_status jvp_infer(wick_infer *c)
{
  const wick_func *f = c->callee;
  const wick_attr *wrt = &c->attr[WICK_ATTR_jvp_wrt];
  if (!f) return NULL;
  const wick_node *r = wick_return(f);
  WICK_TRY(transform_wrt(c, f, wrt));
  WICK_TRY(transform_call(c, f, wrt->n, transform_nresult(c, f)));
  for (uint32_t i = 0; i < wrt->n; i++)
    if (wick_type_get(c->module, f->value[wrt->ints[i] + 1].type)->kind == WICK_TENSOR)
      WICK_TRY(transform_operand(c, f->nparam + i, f->value[wrt->ints[i] + 1].type));
  for (uint32_t k = 0, at = r->nin; k < r->nin; k++)
    if (wick_declares_cotangent(c->module, wick_type_of(f, r->in[k])))
      WICK_TRY(transform_result(c, at++, wick_type_of(f, r->in[k])));
  return NULL;
}

const wick_op wick_op_jvp = {
    .name = "jvp",
    .doc = "Calls a function and gives its results, then the tangents of its float results. The "
           "operands are its arguments, then the tangents of the parameters `wrt`",
    .nin = {0, WICK_ANY},
    .nout = {1, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0},
             {"wrt", WICK_ATTR_INTS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .effect = WICK_MAY_FAIL,
    .typed = true,
    .objects = true,
    .infer = jvp_infer,
    .grad = wick_grad_none,
    .batch.run = wick_batch_rows,
};

/* Checks the function from cotangents of results to cotangents of parameters. */
static wick_status vjp_function(const wick_infer *c, const wick_func *f, const wick_attr *wrt)
{
  const wick_node *r = wick_return(f);
  const wick_type_info *t = wick_type_get(c->module, c->want[r->nin]);
  uint32_t n = transform_nresult(c, f), at = 0;
  bool fits = t->kind == WICK_FN && t->ntake == n && t->nitem == n + wrt->n;
  for (uint32_t k = 0; k < r->nin && fits; k++) {
    wick_type type = wick_type_of(f, r->in[k]);
    if (!wick_declares_cotangent(c->module, type)) continue;
    fits = wick_type_get(c->module, type)->kind != WICK_TENSOR || wick_type_eq(type, t->item[at]);
    at++;
  }
  for (uint32_t i = 0; i < wrt->n && fits; i++) {
    wick_type type = f->value[wrt->ints[i] + 1].type;
    fits =
        wick_type_get(c->module, type)->kind != WICK_TENSOR || wick_type_eq(type, t->item[n + i]);
  }
  if (fits) return NULL;
  return wick_infer_fail(
      c, WICK_ETYPE,
      "the last result is not a function from cotangents of the results of @%s to "
      "cotangents of its parameters",
      f->name);
}

static wick_status vjp_infer(wick_infer *c)
{
  const wick_func *f = c->callee;
  const wick_attr *wrt = &c->attr[WICK_ATTR_vjp_wrt];
  if (!f) return NULL;
  WICK_TRY(transform_wrt(c, f, wrt));
  WICK_TRY(transform_call(c, f, 0, 1));
  return vjp_function(c, f, wrt);
}

const wick_op wick_op_vjp = {
    .name = "vjp",
    .doc = "Calls a function and gives its results, then a function from cotangents of its float "
           "results to those of the parameters `wrt`",
    .nin = {0, WICK_ANY},
    .nout = {1, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0},
             {"wrt", WICK_ATTR_INTS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .effect = WICK_MAY_FAIL,
    .typed = true,
    .objects = true,
    .infer = vjp_infer,
    .grad = wick_grad_none,
};

/* ---- marks for differentiation ---- */

static wick_status transform_copy(wick_ref *c)
{
  uint64_t n = wick_ref_numel(c->in);
  for (uint64_t i = 0; i < n; i++) wick_ref_move(c->out, i, c->in, i);
  return NULL;
}

static void stop_gradient_expand(wick_builder *b, const wick_node *n, const wick_value *in,
                                 wick_value *out)
{
  (void)n;
  out[0] = wick_build_again(b, in[0]);
}

const wick_op wick_op_stop_gradient = {
    .name = "stop_gradient",
    .doc = "x, which counts as constant when a function that contains it is differentiated",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .infer = wick_infer_same,
    .ref = transform_copy,
    .expand = stop_gradient_expand,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_axes,
};

static wick_status checkpoint_infer(wick_infer *c)
{
  return c->callee ? transform_call(c, c->callee, 0, 0) : NULL;
}

const wick_op wick_op_checkpoint = {
    .name = "checkpoint",
    .doc = "Calls a function. Its derivative keeps the arguments alone, and computes the function "
           "again",
    .nin = {0, WICK_ANY},
    .nout = {0, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .effect = WICK_MAY_FAIL,
    .typed = true,
    .objects = true,
    .infer = checkpoint_infer,
    .grad = wick_grad_checkpoint,
    .batch.run = wick_batch_checkpoint,
};

/* The other function takes the arguments, then the cotangents of float results, and gives the
 * cotangents of float parameters. */
static wick_status with_vjp_infer(wick_infer *c)
{
  const wick_func *f = c->callee,
                  *g = wick_module_find(c->module, c->attr[WICK_ATTR_with_vjp_vjp].s);
  f = wick_module_find(c->module, c->attr[WICK_ATTR_with_vjp_callee].s);
  if (!f || !g) return NULL;
  const wick_node *r = wick_return(f);
  uint32_t np = f->nparam, n = np, nby = 0;
  int64_t constants = c->attr[WICK_ATTR_with_vjp_constants].i;
  WICK_TRY(transform_call(c, f, 0, 0));
  if (constants > np)
    return wick_infer_fail(c, WICK_ETYPE, "constants is %lld, @%s has %u parameters",
                           (long long)constants, f->name, np);
  for (uint32_t k = 0; k < r->nin; k++) {
    if (!wick_declares_cotangent(c->module, wick_type_of(f, r->in[k]))) continue;
    if (n < g->nparam && !wick_type_eq(g->value[n + 1].type, wick_type_of(f, r->in[k])))
      return wick_infer_fail(c, WICK_ETYPE, "parameter %u of @%s has another type than result %u",
                             n, g->name, k);
    n++;
  }
  for (uint32_t k = 0; k < np; k++) {
    if (k < g->nparam && !wick_type_eq(g->value[k + 1].type, f->value[k + 1].type))
      return wick_infer_fail(c, WICK_ETYPE, "parameter %u has another type in @%s", k, g->name);
    if (k < constants || !wick_declares_cotangent(c->module, f->value[k + 1].type)) continue;
    if (nby < wick_return(g)->nin)
      if (!wick_type_eq(wick_type_of(g, wick_return(g)->in[nby]), f->value[k + 1].type))
        return wick_infer_fail(c, WICK_ETYPE, "result %u of @%s is not of parameter %u's type", nby,
                               g->name, k);
    nby++;
  }
  if (g->nparam != n || wick_return(g)->nin != nby)
    return wick_infer_fail(
        c, WICK_ETYPE,
        "@%s takes %u values and gives %u, expected %u and %u: the arguments and "
        "cotangents of @%s, and the cotangents of its parameters",
        g->name, g->nparam, wick_return(g)->nin, n, nby, f->name);
  return NULL;
}

const wick_op wick_op_with_vjp = {
    .name = "with_vjp",
    .doc = "Calls a function whose cotangents another function gives: from the arguments, then the "
           "cotangents of float results, it computes the cotangents of float parameters; the first "
           "`constants` of them have none",
    .nin = {0, WICK_ANY},
    .nout = {0, WICK_ANY},
    .attr = {{"callee", WICK_ATTR_FUNC, 0, true, NULL, 0, 0},
             {"vjp", WICK_ATTR_FUNC, 0, true, NULL, 0, 0},
             {"constants", WICK_ATTR_INT, 0, false, NULL, 0, 1 << 30}},
    .level = WICK_GRAPH,
    .effect = WICK_MAY_FAIL,
    .typed = true,
    .objects = true,
    .infer = with_vjp_infer,
    .grad = wick_grad_with_vjp,
    .batch.run = wick_batch_with_vjp,
};

static void barrier_compute(const wick_compute *c)
{
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK];
  uint32_t n = wick_stage_map(c, 0, "barrier", axis);
  for (uint32_t k = 0; k < n; k++) index[k] = axis[k].sym;
  wick_value v = wick_read(c->b, c->in[0], index, 0, NULL, (wick_value){0});
  c->out[0] = wick_map_end(c->b, 1, &v);
}

const wick_op wick_op_barrier = {
    .name = "barrier",
    .doc = "x. It is not merged with x, so that values that are computed from it are computed "
           "again, instead of being kept from an earlier computation",
    .nin = {1, 1},
    .nout = {1, 1},
    .level = WICK_GRAPH,
    .rounding_transparent = true,
    .view_of = {.kind = WICK_VIEW_SAME},
    .infer = wick_infer_same,
    .ref = transform_copy,
    .compute = barrier_compute,
    .grad = wick_grad_reshape_row,
    .linear = {1},
    .batch.run = wick_batch_axes,
};
