/* Forward mode for one node: the tangents of its results from those of its operands.
 *
 * Element-wise operators multiply each tangent by the operator's own rule for cotangents, because
 * their Jacobians are diagonal. Linear operators are applied to the tangents. Others are transposed
 * twice: a cotangent c of the results gives cotangents of the operands, which are linear in c, and
 * the derivative of these with respect to c, times the tangents, is what is looked for. */
#include "ir/expr.h"
#include "ops/gradient/grad.h"

typedef struct tangent {
  wick_builder *b;
  wick_node n; /* the node, which is the last one of its region */
  uint32_t at; /* its index */
  const wick_value *of;
  wick_value *out;
} tangent;

static wick_value tangent_sum(wick_builder *b, wick_value x, wick_value y)
{
  return !x.id ? y : !y.id ? x : expr_add(b, x, y);
}

/* ---- element-wise operators ---- */

static wick_value tangent_by_rule(const tangent *t, uint32_t k)
{
  wick_builder *b = t->b;
  wick_value in[4] = {{0}}, din[4] = {{0}}, dout = wick_grad_expand(b, t->of[k], t->n.first);
  bool wanted[4] = {false};
  wick_node n = t->n;
  for (uint32_t i = 0; i < n.nin; i++)
    in[i] = wick_built_info(b, n.in[i])->kind == WICK_TENSOR
                ? wick_grad_expand(b, n.in[i], t->n.first)
                : n.in[i];
  wanted[k] = true;
  n.in = in;
  wick_adjoint a = {.b = b,
                    .node = &n,
                    .in = in,
                    .out = &t->n.first,
                    .dout = &dout,
                    .wanted = wanted,
                    .din = din};
  if (!b->status) wick_op_of(&n)->grad(&a);
  return din[k];
}

static void tangent_scalar(const tangent *t)
{
  if (t->n.op == WICK_OP_cast) {
    t->out[0] = wick_build_cast(t->b, t->of[0], wick_built_info(t->b, t->n.first)->elem);
    return;
  }
  for (uint32_t k = 0; k < t->n.nin && !t->b->status; k++)
    if (t->of[k].id) t->out[0] = tangent_sum(t->b, t->out[0], tangent_by_rule(t, k));
}

/* ---- linear operators ---- */

/* Applies the operator to the tangents of a set of operands, in place of these. */
static void tangent_apply(const tangent *t, uint32_t set, uint32_t taken)
{
  wick_builder *b = t->b;
  const wick_op *op = wick_op_of(&t->n);
  wick_value *in = wick_new(b->mem, wick_value, t->n.nin + 1u);
  uint32_t n = 0;
  bool any = false;
  for (uint32_t k = 0; k < t->n.nin && !b->status; k++) {
    bool linear = k >= 32 ? set >> 31 & 1 : set >> k & 1,
         gone = linear && (taken >> (k < 32 ? k : 31) & 1);
    wick_value of = gone ? (wick_value){0} : t->of[k];
    in[k] = !linear ? t->n.in[k]
            : of.id || (k >= op->nin[0] && op->nin[1] != WICK_ANY)
                ? of
                : wick_grad_fill(b, t->n.in[k], 0);
    any = any || (linear && of.id);
    if (in[k].id) n = k + 1;
  }
  if (!any || b->status) return;
  wick_value v = wick_build(b, t->n.op, n, in, t->n.attr, 0, NULL);
  for (uint32_t k = 0; k < t->n.nout && !b->status; k++)
    t->out[k] = tangent_sum(b, t->out[k], (wick_value){v.id + k});
}

/* ---- two transpositions ---- */

static void tangent_transposed(const tangent *t)
{
  wick_builder *b = t->b;
  const wick_node *n = &t->n;
  wick_value *of = wick_new(b->mem, wick_value, n->nout + 1u),
             *c = wick_new(b->mem, wick_value, n->nout + 1u),
             *got = wick_new(b->mem, wick_value, n->nout + 1u),
             *wrt = wick_new(b->mem, wick_value, n->nin + 1u),
             *g = wick_new(b->mem, wick_value, n->nin + 1u),
             *by = wick_new(b->mem, wick_value, n->nin + 1u);
  uint32_t nof = 0, nwrt = 0, ng = 0;
  for (uint32_t k = 0; k < n->nout && !b->status; k++) {
    wick_value v = {n->first.id + k};
    if (wick_grad_has(b, v)) of[nof] = v, c[nof++] = wick_grad_fill(b, v, 0);
  }
  for (uint32_t k = 0; k < n->nin; k++) {
    bool fresh = t->of[k].id != 0;
    for (uint32_t i = 0; i < nwrt; i++) fresh = fresh && wrt[i].id != n->in[k].id;
    if (fresh) wrt[nwrt] = n->in[k], by[nwrt++] = t->of[k];
  }
  wick_grad_request r = {.begin = t->at,
                         .end = t->at + 1,
                         .nof = nof,
                         .of = of,
                         .cotangent = c,
                         .nwrt = nwrt,
                         .wrt = wrt};
  uint32_t begin = b->nodes.n;
  wick_grad_build(b, &r, g);
  for (uint32_t i = 0; i < nwrt; i++)
    if (g[i].id) g[ng] = g[i], by[ng++] = by[i];
  r = (wick_grad_request){.begin = begin,
                          .end = b->nodes.n,
                          .nof = ng,
                          .of = g,
                          .cotangent = by,
                          .nwrt = nof,
                          .wrt = c};
  if (ng) wick_grad_build(b, &r, got);
  for (uint32_t k = 0; k < nof && ng && !b->status; k++) t->out[of[k].id - n->first.id] = got[k];
}

void wick_tangent_of_node(wick_builder *b, uint32_t node, const wick_value *in, wick_value *out)
{
  bool any = false;
  if (b->status) return;
  tangent t = {.b = b, .n = b->nodes.at[node], .at = node, .of = in, .out = out};
  const wick_op *op = wick_op_of(&t.n);
  for (uint32_t k = 0; k < t.n.nin; k++) any = any || in[k].id;
  if (!any || op->grad == wick_grad_zero) return;
  if (t.n.op == WICK_OP_construct) {
    out[0] = wick_cotangent_construct(b, wick_built_type(b, t.n.first),
                                      (uint32_t)t.n.attr[WICK_ATTR_construct_ctor].i, in);
  } else if (op->scalar && op->grad) {
    tangent_scalar(&t);
  } else if (op->linear[0]) {
    tangent_apply(&t, op->linear[0], 0);
    tangent_apply(&t, op->linear[1], op->linear[0]);
  } else {
    tangent_transposed(&t);
  }
}
