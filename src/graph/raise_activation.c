/* Raises in one traversal. From each node, an expression grows backwards, and is compared whenever
 * it depends on a single tensor. */
#include "graph/raise_activation.h"

#include <math.h>

#include "graph/match.h"
#include "ir/copy.h"
#include "ir/op.h"

enum {
  RAISE_ACTIVATION_NODES = 20,   /* of an expression */
  RAISE_ACTIVATION_OPERANDS = 3, /* of a node */
  RAISE_ACTIVATION_POINTS = 512
};

/* Operators that are faster than their parts. Not sigmoid, swish and the exact gelu, which also
 * compute the results below the normal range. */
static const struct {
  wick_opcode op;
  wick_attr only; /* the attribute of an operator that has one */
} raise_activation_targets[] = {
    {WICK_OP_mish, {0}},
    {WICK_OP_softplus, {0}},
    {WICK_OP_hard_swish, {0}},
    {WICK_OP_gelu, {.i = 1}}, /* approximate = tanh */
};

/* An expression: its nodes from the last one backwards, and the values that they read from
 * outside. */
typedef struct raise_activation {
  wick_match k;
  wick_copier c;
  double *x, *y; /* points, and the values of the expression there */
  uint32_t npoint, nnode;
  const wick_node *node[RAISE_ACTIVATION_NODES];
} raise_activation;

/* ---- expressions ---- */

/* Returns true if n's result is a continuous function of its operands, or selects one of them. */
static bool raise_activation_takes(const raise_activation *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  if (!op->scalar || op->typed || !op->eval || n->nout != 1 || n->nin > RAISE_ACTIVATION_OPERANDS)
    return false;
  for (uint32_t i = 0; i < n->nin; i++)
    if (!n->in[i].id) return false;
  wick_elem e = wick_info_of(s->k.f, n->first)->elem;
  if (e != WICK_F32 && e != WICK_F64 && e != WICK_BOOL) return false;
  switch (n->op) {
  case WICK_OP_add:
  case WICK_OP_sub:
  case WICK_OP_mul:
  case WICK_OP_div:
  case WICK_OP_neg:
  case WICK_OP_abs:
  case WICK_OP_max:
  case WICK_OP_min:
  case WICK_OP_relu:
  case WICK_OP_reciprocal:
  case WICK_OP_sqrt:
  case WICK_OP_hard_sigmoid:
  case WICK_OP_where:
  case WICK_OP_gt:
  case WICK_OP_ge:
  case WICK_OP_lt:
  case WICK_OP_le:
  case WICK_OP_isnan: return true;
  default: return op->ulp > 0;
  }
}

static uint32_t raise_activation_index(const raise_activation *s, wick_value v)
{
  for (uint32_t i = 0; i < s->nnode; i++)
    if (s->node[i]->first.id == v.id) return i;
  return UINT32_MAX;
}

/* Returns the tensors that the expression reads: the only one, or 0 if there are several. *last is
 * the node that defines the last of them. */
static wick_value raise_activation_reads(const raise_activation *s, const wick_node **last)
{
  wick_value only = {0};
  bool several = false;
  *last = NULL;
  for (uint32_t i = 0; i < s->nnode; i++)
    for (uint32_t j = 0; j < s->node[i]->nin; j++) {
      double number;
      wick_value v = s->node[i]->in[j];
      if (wick_match_number(&s->k, v, &number) || raise_activation_index(s, v) != UINT32_MAX)
        continue;
      several = several || (only.id && only.id != v.id);
      only = v;
      const wick_node *d = wick_match_node(&s->k, v);
      if (d && (!*last || d > *last)) *last = d;
    }
  return several ? (wick_value){0} : only;
}

/* Returns true if nodes outside of the expression read a value of it other than its result. */
static bool raise_activation_is_read(const raise_activation *s)
{
  for (uint32_t i = 1; i < s->nnode; i++) {
    uint32_t inside = 0, id = s->node[i]->first.id;
    for (uint32_t j = 0; j < i; j++)
      for (uint32_t k = 0; k < s->node[j]->nin; k++) inside += s->node[j]->in[k].id == id;
    if (inside != s->k.uses.first[id + 1] - s->k.uses.first[id]) return true;
  }
  return false;
}

/* Returns true if the expression may be an activation: it has more than sums and products. */
static bool raise_activation_bends(const raise_activation *s)
{
  for (uint32_t i = 0; i < s->nnode; i++) {
    wick_opcode op = s->node[i]->op;
    if (wick_ops[op]->ulp > 0 || op == WICK_OP_min || op == WICK_OP_hard_sigmoid) return true;
  }
  return false;
}

/* ---- values ---- */

static void raise_activation_add(raise_activation *s, double x)
{
  if (s->npoint + 2 > RAISE_ACTIVATION_POINTS || !(fabs(x) < 80)) return;
  s->x[s->npoint++] = x, s->x[s->npoint++] = -x;
}

/* The points: some of each magnitude, and some beside each number of the expression, where it may
 * have another formula. */
static void raise_activation_points(raise_activation *s)
{
  double number;
  s->npoint = 0;
  for (double x = 1e-4; x < 80; x *= 1.37) raise_activation_add(s, x);
  for (double x = 0.1; x < 12; x += 0.31) raise_activation_add(s, x);
  for (uint32_t i = 0; i < s->nnode; i++)
    for (uint32_t j = 0; j < s->node[i]->nin; j++) {
      if (!wick_match_number(&s->k, s->node[i]->in[j], &number)) continue;
      raise_activation_add(s, number);
      raise_activation_add(s, number * 1.001);
      raise_activation_add(s, number * 0.999);
    }
}

static wick_scalar raise_activation_operand(const raise_activation *s, wick_value v,
                                            const wick_scalar *value, double x)
{
  double number;
  uint32_t i = raise_activation_index(s, v);
  if (i != UINT32_MAX) return value[i];
  return (wick_scalar){.f = wick_match_number(&s->k, v, &number) ? number : x};
}

/* Evaluates the expression at all points. Returns false if a result is not finite. */
static bool raise_activation_evaluate(raise_activation *s)
{
  wick_scalar value[RAISE_ACTIVATION_NODES], in[RAISE_ACTIVATION_OPERANDS];
  for (uint32_t p = 0; p < s->npoint; p++) {
    for (uint32_t i = s->nnode; i-- > 0;) {
      const wick_node *n = s->node[i];
      for (uint32_t j = 0; j < n->nin; j++)
        in[j] = raise_activation_operand(s, n->in[j], value, s->x[p]);
      value[i] = wick_op_of(n)->eval(n->attr, WICK_F64, WICK_F64, in);
    }
    s->y[p] = value[0].f;
    if (!isfinite(s->y[p])) return false;
  }
  return true;
}

/* Returns true if the operator has the same values, within the errors of numbers in f32. */
static bool raise_activation_equals(const raise_activation *s, wick_opcode op,
                                    const wick_attr *attr)
{
  for (uint32_t p = 0; p < s->npoint; p++) {
    wick_scalar x = {.f = s->x[p]};
    double y = wick_ops[op]->eval(attr, WICK_F64, WICK_F64, &x).f;
    if (!(fabs(y - s->y[p]) <= 1e-6 * fmax(fabs(y), fabs(s->x[p])))) return false;
  }
  return true;
}

/* ---- the pass ---- */

/* Compares the expression with the operators. *x is the tensor that it depends on. */
static bool raise_activation_compare(raise_activation *s, wick_value x, wick_value *y)
{
  const wick_node *n = s->node[0];
  if (s->nnode < 2 || !raise_activation_bends(s) || raise_activation_is_read(s) ||
      !wick_type_eq(wick_type_of(s->k.f, x), wick_type_of(s->k.f, n->first)))
    return false;
  raise_activation_points(s);
  if (!raise_activation_evaluate(s)) return false;
  for (uint32_t i = 0; i < WICK_COUNT(raise_activation_targets); i++) {
    wick_opcode op = raise_activation_targets[i].op;
    const wick_attr *attr = wick_op_nattr(wick_ops[op]) ? &raise_activation_targets[i].only : NULL;
    if (!raise_activation_equals(s, op, attr)) continue;
    s->c.b.loc = n->loc;
    *y = wick_build(&s->c.b, op, 1, &s->c.to[x.id], attr, 0, NULL);
    return true;
  }
  return false;
}

static bool raise_activation_node(raise_activation *s, const wick_node *n)
{
  const wick_node *last = n;
  wick_value y = {0};
  if (s->c.b.status || !raise_activation_takes(s, n) ||
      !wick_elem_is_float(wick_info_of(s->k.f, n->first)->elem))
    return false;
  s->nnode = 0;
  while (last && s->nnode < RAISE_ACTIVATION_NODES && raise_activation_takes(s, last)) {
    s->node[s->nnode++] = last;
    wick_value x = raise_activation_reads(s, &last);
    if (!x.id || !raise_activation_compare(s, x, &y)) continue;
    const wick_value_info *old = &s->k.f->value[n->first.id];
    s->c.to[n->first.id] = y;
    if (y.id) wick_build_name(&s->c.b, y, old->name, old->relation);
    return true;
  }
  return false;
}

wick_status wick_pass_raise_activation(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  raise_activation s = {.k = wick_match_begin(f, pass->mem)};
  s.x = wick_new(pass->mem, double, RAISE_ACTIVATION_POINTS);
  s.y = wick_new(pass->mem, double, RAISE_ACTIVATION_POINTS);
  s.c = wick_copy_begin(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++)
    if (!raise_activation_node(&s, &f->node[i])) wick_copy_node(&s.c, &f->node[i]);
  return wick_copy_finish(&s.c, out);
}
