/* Visits the moves. Each is built on the operand of the first node of the chain before it, and the
 * nodes of the chain after it; the old chain is dead. */
#include "graph/delay_scalars.h"

#include "graph/group/assign.h"
#include "graph/match.h"
#include "ir/copy.h"

enum { DELAY_CHAIN = 16, DELAY_OPERANDS = 8 };

typedef struct delay {
  wick_match k;
  wick_copier c;
  bool casts; /* only nodes from a cast to wider elements on */
  uint32_t nchain;
  const wick_node *chain[DELAY_CHAIN]; /* from the move backwards */
  uint32_t at[DELAY_CHAIN];            /* the operand of each that is no constant */
} delay;

static bool delay_is_number(const delay *s, wick_value v)
{
  const wick_func *f = s->k.f;
  return wick_dim_is(wick_type_numel(f->module, wick_type_of(f, v)), 1);
}

/* Finds the only operand of n that is no constant. Returns false if there is none or several, or if
 * n cannot be computed after the move. */
static bool delay_operand(const delay *s, const wick_node *move, const wick_node *n, uint32_t *at)
{
  const wick_func *f = s->k.f;
  uint32_t rank = wick_info_of(f, n->first)->rank;
  *at = UINT32_MAX;
  if (n->nin > DELAY_OPERANDS) return false;
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value v = n->in[k];
    if (!v.id) return false;
    if (wick_match_imm(&s->k, v)) {
      if (!delay_is_number(s, v) && move->op != WICK_OP_transpose) return false;
      if (wick_info_of(f, v)->rank > rank) return false;
    } else {
      if (*at != UINT32_MAX || !wick_match_same_shape(&s->k, v, n->first)) return false;
      *at = k;
    }
  }
  return *at != UINT32_MAX;
}

/* Returns whether the kernel of the node that defines v takes element-wise nodes after it. */
static bool delay_is_taken(const delay *s, wick_value v)
{
  int64_t offset;
  wick_picked choice;
  const wick_node *n = wick_match_node(&s->k, v);
  return n && wick_match_user(&s->k, v) && !n->nregion &&
         !wick_group_is_view(s->k.f, n, &offset, &choice) && !wick_group_is_filled(s->k.f, n);
}

static uint32_t delay_bits(const delay *s, wick_value v)
{
  return wick_elem_storage[wick_info_of(s->k.f, v)->elem].bits;
}

/* Shortens the chain so that it begins with the cast whose operand has the fewest bits. Empties it if
 * none has fewer than the chain's result. */
static void delay_to_cast(delay *s, wick_value result)
{
  uint32_t best = 0, least = delay_bits(s, result);
  for (uint32_t k = 0; k < s->nchain; k++) {
    uint32_t bits = delay_bits(s, s->chain[k]->in[s->at[k]]);
    if (bits >= 8 && bits < least) best = k + 1, least = bits;
  }
  s->nchain = best;
}

static bool delay_hits(delay *s, const wick_node *move)
{
  const wick_func *f = s->k.f;
  const wick_op *op = wick_op_of(move);
  int64_t offset;
  wick_picked choice;
  if (!op->rearranges || !op->compute || move->nin != 1 || move->nout != 1 ||
      wick_group_is_filled(f, move) || wick_group_is_view(f, move, &offset, &choice) ||
      !wick_dim_eq(wick_type_numel(f->module, wick_type_of(f, move->first)),
                   wick_type_numel(f->module, wick_type_of(f, move->in[0]))))
    return false;
  wick_value v = move->in[0];
  for (s->nchain = 0; s->nchain < DELAY_CHAIN;
       v = s->chain[s->nchain]->in[s->at[s->nchain]], s->nchain++) {
    const wick_node *n = wick_match_node(&s->k, v);
    if (!n || n->nout != 1 || !wick_group_is_scalar(f, n) || !wick_match_user(&s->k, v) ||
        !delay_operand(s, move, n, &s->at[s->nchain]))
      break;
    s->chain[s->nchain] = n;
  }
  if (s->casts) delay_to_cast(s, move->in[0]);
  return s->nchain && (s->casts || !delay_is_taken(s, v));
}

/* Returns a constant in the form that an element-wise node needs after the move. */
static wick_value delay_constant(delay *s, const wick_node *move, wick_value v, uint32_t rank)
{
  wick_builder *b = &s->c.b;
  wick_value to = s->c.to[v.id];
  wick_dim dim[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  if (delay_is_number(s, v))
    return wick_built_info(b, to)->rank <= rank ? to : wick_build_reshape(b, to, 0, NULL);
  const wick_type_info *t = wick_built_info(b, to);
  for (uint32_t k = 0; k < rank; k++)
    dim[k] = k + t->rank < rank ? wick_dim_const(1) : t->dim[k + t->rank - rank];
  wick_view_map map = wick_view_map_of(s->k.f, move, 0);
  for (uint32_t k = 0; k < rank; k++) perm[k] = map.axis[k];
  return wick_build_transpose(b, wick_build_reshape(b, to, rank, dim), rank, perm);
}

static wick_value delay_apply(delay *s, const wick_node *move, uint32_t link, wick_value x)
{
  wick_builder *b = &s->c.b;
  const wick_node *n = s->chain[link];
  wick_value in[DELAY_OPERANDS];
  if (b->status) return x;
  uint32_t rank = wick_built_info(b, x)->rank;
  for (uint32_t k = 0; k < n->nin && !b->status; k++)
    in[k] = k == s->at[link] ? x : delay_constant(s, move, n->in[k], rank);
  if (b->status) return x;
  wick_type type =
      wick_type_with_elem(b->module, wick_built_type(b, x), wick_info_of(s->k.f, n->first)->elem);
  bool typed = wick_op_of(n)->typed;
  b->loc = n->loc;
  return wick_build(b, n->op, n->nin, in, n->nattr ? n->attr : NULL, typed, typed ? &type : NULL);
}

static void delay_build(delay *s, const wick_node *move)
{
  wick_builder *b = &s->c.b;
  uint32_t last = s->nchain - 1;
  b->loc = move->loc;
  wick_value x = s->c.to[s->chain[last]->in[s->at[last]].id],
             y = wick_build(b, move->op, 1, &x, move->nattr ? move->attr : NULL, 0, NULL);
  for (uint32_t k = s->nchain; k-- > 0;) y = delay_apply(s, move, k, y);
  const wick_value_info *old = &s->k.f->value[move->first.id];
  s->c.to[move->first.id] = y;
  if (y.id) wick_build_name(b, y, old->name, old->relation);
}

static wick_status delay_run(const wick_func *f, bool casts, wick_arena *mem, wick_func **out)
{
  delay s = {.k = wick_match_begin(f, mem), .c = wick_copy_begin(f, mem), .casts = casts};
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (!s.c.b.status && delay_hits(&s, &f->node[i]))
      delay_build(&s, &f->node[i]);
    else
      wick_copy_node(&s.c, &f->node[i]);
  }
  return wick_copy_finish(&s.c, out);
}

wick_status wick_pass_delay_scalars(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  return delay_run(f, false, pass->mem, out);
}

wick_status wick_pass_delay_casts(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  return delay_run(f, true, pass->mem, out);
}
