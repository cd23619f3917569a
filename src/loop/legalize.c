/* Legalizes node by node: operators and types that the target lacks are replaced. */
#include "loop/legalize.h"

#include <float.h>

#include "ir/copy.h"
#include "loop/legalize_cast.h"
#include "loop/legalize_divide.h"
#include "loop/legalize_soft.h"

typedef struct legalize_state {
  wick_builder *b;
  const wick_target *t;
} legalize_state;

/* ---- f32 and f64 ---- */

/* Builds a node on types that have arithmetic: the operator, or its replacement. */
static wick_value legalize_build(const legalize_state *s, const wick_node *n, const wick_value *in)
{
  wick_builder *b = s->b;
  uint64_t bit = WICK_BIT(wick_built_info(b, in[n->nin - 1])->elem);
  switch (n->op) {
  case WICK_OP_muladd:
    if (!(s->t->fma & bit)) return expr_add(b, expr_mul(b, in[0], in[1]), in[2]);
    return wick_build3(b, WICK_OP_fma, in[0], in[1], in[2]);
  case WICK_OP_fma:
    if (!(s->t->fma & bit)) return wick_legalize_fma(b, in[0], in[1], in[2]);
    break;
  case WICK_OP_sqrt:
    if (!(s->t->sqrt & bit)) return wick_legalize_sqrt(b, in[0]);
    break;
  case WICK_OP_floor:
  case WICK_OP_ceil:
  case WICK_OP_trunc:
  case WICK_OP_round_even:
    if (!(s->t->round & bit)) return wick_legalize_round(b, n->op, in[0]);
    break;
  default: break;
  }
  return wick_build(b, n->op, n->nin, in, n->attr, 0, NULL);
}

/* ---- narrow floats ---- */

static bool legalize_moves(wick_opcode op) { return op == WICK_OP_where || op == WICK_OP_bitcast; }

static wick_value legalize_widened(const legalize_state *s, const wick_node *n, wick_elem narrow,
                                   const wick_value *in)
{
  wick_value wide[4], r;
  for (uint32_t i = 0; i < n->nin; i++)
    wide[i] = wick_legalize_cast(s->b, in[i], wick_elem_storage[narrow].arith, s->t->convert);
  r = legalize_build(s, n, wide);
  if (s->b->status || !wick_elem_is_float(wick_built_info(s->b, r)->elem)) return r;
  return wick_legalize_cast(s->b, r, narrow, s->t->convert);
}

/* Builds `narrow` as a cast in which numbers below the normal range become 0. Returns 0 if the
 * target has an instruction. For f16 nothing is needed: the cast already gives 0. */
static wick_value legalize_narrow(const legalize_state *s, wick_value x, wick_elem to)
{
  wick_builder *b = s->b;
  bool whole = wick_built_info(b, x)->lanes == s->t->vector_bytes / 4;
  if (whole && (s->t->narrow & WICK_BIT(to))) return (wick_value){0};
  if (to == WICK_BF16) {
    /* in a statement of its own, because C does not define the order of arguments */
    wick_value bits = wick_expr_bits(b, x);
    wick_value sign = wick_expr_with_sign(b, expr_k(b, x, 0), bits);
    x = expr_where(b, expr_lt(b, expr_abs(b, x), FLT_MIN), sign, x);
  }
  return wick_legalize_cast(b, x, to, s->t->convert);
}

/* ---- dot products ---- */

/* Returns every k-th lane of v, from lane j on, in the sum's type. */
static wick_value legalize_every(const legalize_state *s, wick_value v, wick_elem sum, uint32_t k,
                                 uint32_t j)
{
  wick_builder *b = s->b;
  uint32_t n = wick_built_info(b, v)->lanes / k;
  int64_t *lane = wick_new(b->mem, int64_t, n);
  for (uint32_t i = 0; i < n; i++) lane[i] = (int64_t)i * k + j;
  wick_attr a = {.n = n, .ints = lane};
  wick_value both[2] = {v, v};
  v = wick_build(b, WICK_OP_shuffle, 2, both, &a, 0, NULL);
  return sum == WICK_I32 ? wick_build_cast(b, v, sum)
                         : wick_legalize_cast(b, v, sum, s->t->convert);
}

static wick_value legalize_dot(const legalize_state *s, const wick_value *in)
{
  wick_builder *b = s->b;
  const wick_type_info *sum = wick_built_info(b, in[0]), *x = wick_built_info(b, in[1]),
                       *w = wick_built_info(b, in[2]);
  uint32_t k = x->lanes / sum->lanes;
  bool whole = sum->lanes == s->t->vector_bytes / 4;
  wick_value r = in[0];
  if (whole && wick_target_dot(s->t, x->elem, w->elem, k)) return (wick_value){0};
  bool floats = wick_elem_is_float(sum->elem), fused = s->t->fma & WICK_BIT(sum->elem);
  for (uint32_t i = 0; i < k; i++) {
    uint32_t j = floats ? k - 1 - i : i;
    wick_value u = legalize_every(s, in[1], sum->elem, k, j),
               v = legalize_every(s, in[2], sum->elem, k, j);
    r = floats && fused ? wick_build3(b, WICK_OP_fma, u, v, r) : expr_add(b, r, expr_mul(b, u, v));
  }
  return r;
}

/* Builds n's replacement; returns 0 if n is legal. */
static wick_value legalize_node(const legalize_state *s, const wick_func *f, const wick_node *n,
                                const wick_value *in)
{
  if (n->op == WICK_OP_dot) return legalize_dot(s, in);
  if (!wick_op_of(n)->scalar || legalize_moves(n->op) || s->b->status) return (wick_value){0};
  wick_elem e = wick_info_of(f, n->in[n->nin - 1])->elem, out = wick_info_of(f, n->first)->elem;
  bool narrow = wick_legalize_is_narrow(e), to_narrow = wick_legalize_is_narrow(out);
  if (n->op == WICK_OP_narrow) return legalize_narrow(s, in[0], out);
  if (n->op == WICK_OP_cast)
    return narrow || to_narrow ? wick_legalize_cast(s->b, in[0], out, s->t->convert)
                               : (wick_value){0};
  if (n->op == WICK_OP_div_unchecked || n->op == WICK_OP_rem_unchecked)
    return wick_legalize_divide(s->b, s->t, n->op, in[0], in[1]);
  if (narrow) return legalize_widened(s, n, e, in);
  return wick_elem_is_float(e) ? legalize_build(s, n, in) : (wick_value){0};
}

wick_status wick_pass_legalize(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_copier c = wick_copy_begin(f, pass->mem);
  legalize_state s = {&c.b, pass->target};
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    wick_value in[4] = {{0}};
    for (uint32_t k = 0; k < n->nin && k < 4; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    wick_value r = legalize_node(&s, f, n, in);
    if (r.id)
      c.to[n->first.id] = r;
    else
      wick_copy_node(&c, n);
  }
  return wick_copy_finish(&c, out);
}
