/* Folds in one traversal. From each sum of tensors, an expression grows backwards to its scatters. If
 * it has no other leaves, they are built again at the sum, each on the result of the one before. */
#include "graph/fold_scatter.h"

#include <math.h>

#include "graph/match.h"
#include "ir/copy.h"

enum { FOLD_SCATTER_DEPTH = 32, FOLD_SCATTER_ADD = 1 /* the reduction */ };

typedef struct fold_scatter {
  wick_match k;
  wick_copier c;
  wick_type type;         /* of the sum, and of all tensors between it and the scatters */
  const uint32_t *region; /* per node: the number of its region */
  const wick_node *sum;
} fold_scatter;

/* What the updates are multiplied by: the factor of the expression around them, and so on. */
typedef struct fold_scatter_factor {
  const struct fold_scatter_factor *outer;
  const wick_node *by; /* mul or div; NULL: the sign changes */
  uint32_t operand;    /* the number among by's operands */
} fold_scatter_factor;

/* Returns whether all elements of v are the same number, which is finite if it is known. */
static bool fold_scatter_is_number(const fold_scatter *s, wick_value v)
{
  double number;
  if (wick_match_number(&s->k, v, &number)) return isfinite(number);
  return !wick_info_of(s->k.f, v)->rank;
}

static bool fold_scatter_is_zeros(const fold_scatter *s, wick_value v)
{
  double zero;
  const wick_node *n = wick_match_op(&s->k, v, WICK_OP_broadcast_to);
  return wick_match_number(&s->k, n ? n->in[0] : v, &zero) && zero == 0;
}

/* Returns whether the updates are known to have more elements than the tensor. */
static bool fold_scatter_is_large(const fold_scatter *s, const wick_node *n)
{
  wick_module *m = s->k.f->module;
  wick_dim all = wick_type_numel(m, s->type),
           some = wick_type_numel(m, wick_type_of(s->k.f, n->in[2]));
  return wick_dim_is_const(all) && wick_dim_is_const(some) && some.v > all.v;
}

/* Returns whether v is a scatter onto zeros, or computed from such scatters, and only for the sum. */
static bool fold_scatter_takes(const fold_scatter *s, wick_value v, uint32_t depth)
{
  const wick_node *n = wick_match_node(&s->k, v);
  if (!n || !depth || !wick_match_user(&s->k, v) ||
      !wick_type_eq(wick_type_of(s->k.f, v), s->type) ||
      s->region[n - s->k.f->node] != s->region[s->sum - s->k.f->node])
    return false;
  depth--;
  switch (n->op) {
  case WICK_OP_scatter_nd:
    return n->attr[WICK_ATTR_scatter_nd_reduction].i == FOLD_SCATTER_ADD &&
           !fold_scatter_is_large(s, n) &&
           (fold_scatter_is_zeros(s, n->in[0]) || fold_scatter_takes(s, n->in[0], depth));
  case WICK_OP_add:
  case WICK_OP_sub:
    return fold_scatter_takes(s, n->in[0], depth) && fold_scatter_takes(s, n->in[1], depth);
  case WICK_OP_neg: return fold_scatter_takes(s, n->in[0], depth);
  case WICK_OP_mul:
    if (fold_scatter_is_number(s, n->in[0])) return fold_scatter_takes(s, n->in[1], depth);
    return fold_scatter_is_number(s, n->in[1]) && fold_scatter_takes(s, n->in[0], depth);
  case WICK_OP_div:
    return fold_scatter_is_number(s, n->in[1]) && fold_scatter_takes(s, n->in[0], depth);
  default: return false;
  }
}

/* Multiplies updates by the factors, the innermost first. */
static wick_value fold_scatter_scaled(fold_scatter *s, wick_value updates,
                                      const fold_scatter_factor *f)
{
  wick_builder *b = &s->c.b;
  bool minus = false;
  for (; f; f = f->outer) {
    if (!f->by) {
      minus = !minus;
      continue;
    }
    double number;
    wick_value by = f->by->in[f->operand], in[2] = {updates, updates};
    in[f->operand] = wick_match_number(&s->k, by, &number) ? wick_build_like(b, updates, number)
                                                           : s->c.to[by.id];
    updates = wick_build2(b, f->by->op, in[0], in[1]);
  }
  return minus ? wick_build1(b, WICK_OP_neg, updates) : updates;
}

/* Builds the scatters of v on `onto`, and returns the last one's result. */
static wick_value fold_scatter_build(fold_scatter *s, wick_value v, const fold_scatter_factor *f,
                                     wick_value onto)
{
  const wick_node *n = wick_match_node(&s->k, v);
  fold_scatter_factor minus = {.outer = f}, by = {.outer = f, .by = n};
  switch (n->op) {
  case WICK_OP_add:
  case WICK_OP_sub:
    onto = fold_scatter_build(s, n->in[0], f, onto);
    return fold_scatter_build(s, n->in[1], n->op == WICK_OP_sub ? &minus : f, onto);
  case WICK_OP_neg: return fold_scatter_build(s, n->in[0], &minus, onto);
  case WICK_OP_mul:
  case WICK_OP_div:
    by.operand = !(n->op == WICK_OP_mul && fold_scatter_is_number(s, n->in[0]));
    return fold_scatter_build(s, n->in[1 - by.operand], &by, onto);
  default: break;
  }
  if (!fold_scatter_is_zeros(s, n->in[0])) onto = fold_scatter_build(s, n->in[0], f, onto);
  wick_value in[3] = {onto, s->c.to[n->in[1].id]};
  in[2] = fold_scatter_scaled(s, s->c.to[n->in[2].id], f);
  return wick_build(&s->c.b, n->op, 3, in, n->attr, 0, NULL);
}

/* Returns what a sum becomes; 0: it stays. */
static wick_value fold_scatter_sum(fold_scatter *s, const wick_node *n)
{
  wick_value none = {0};
  if (n->op != WICK_OP_add && n->op != WICK_OP_sub) return none;
  wick_elem e = wick_info_of(s->k.f, n->first)->elem;
  if (e != WICK_F32 && e != WICK_F64) return none;
  s->sum = n, s->type = wick_type_of(s->k.f, n->first);
  for (uint32_t k = 2; k-- > (n->op == WICK_OP_sub);) {
    wick_value to = n->in[1 - k];
    if (!wick_type_eq(wick_type_of(s->k.f, to), s->type) ||
        !fold_scatter_takes(s, n->in[k], FOLD_SCATTER_DEPTH))
      continue;
    s->c.b.loc = n->loc;
    const fold_scatter_factor minus = {0};
    return fold_scatter_build(s, n->in[k], n->op == WICK_OP_sub ? &minus : NULL, s->c.to[to.id]);
  }
  return none;
}

wick_status wick_pass_fold_scatter(const wick_pass_context *pass, const wick_func *f,
                                   wick_func **out)
{
  fold_scatter s = {.k = wick_match_begin(f, pass->mem), .c = wick_copy_begin(f, pass->mem)};
  s.region = wick_match_regions(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    wick_value v = fold_scatter_sum(&s, n);
    if (!v.id) {
      wick_copy_node(&s.c, n);
      continue;
    }
    s.c.to[n->first.id] = v;
    wick_build_name(&s.c.b, v, f->value[n->first.id].name, f->value[n->first.id].relation);
  }
  return wick_copy_finish(&s.c, out);
}
