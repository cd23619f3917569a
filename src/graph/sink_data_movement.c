/* Sinks data movement: repeats a traversal until it moves nothing, because each traversal passes
 * only one node of a chain of element-wise nodes. */
#include "graph/sink_data_movement.h"

#include "graph/match.h"
#include "ir/copy.h"

enum { SINK_DATA_MOVEMENT_ROUNDS = 32, SINK_DATA_MOVEMENT_MOST = 8 };

typedef struct sink_data_movement {
  wick_match k;
  wick_copier c;
  const wick_node *n, *move; /* f, and the node that defines its operand `at` */
  uint32_t at;
} sink_data_movement;

/* ---- which nodes move ---- */

/* Returns true if operand v is a single number. */
static bool sink_data_movement_number(const sink_data_movement *s, wick_value v)
{
  return wick_match_imm(&s->k, v) &&
         wick_dim_is(wick_type_numel(s->k.f->module, wick_type_of(s->k.f, v)), 1) &&
         wick_info_of(s->k.f, v)->rank <= wick_info_of(s->k.f, s->n->first)->rank;
}

/* Returns true if v is a constant that can be applied before the move. Its rank must not exceed the
 * result's, and for a concat its size along the axis must be 1. */
static bool sink_data_movement_goes_along(const sink_data_movement *s, wick_value v)
{
  const wick_type_info *t = wick_info_of(s->k.f, v), *r = wick_info_of(s->k.f, s->n->first);
  if (sink_data_movement_number(s, v)) return true;
  if (!wick_match_imm(&s->k, v) || t->rank > r->rank) return false;
  if (s->move->op == WICK_OP_transpose) return t->rank == r->rank;
  if (wick_op_of(s->move)->view_of.kind != WICK_VIEW_OF_RESULT) return false;
  int64_t axis = s->move->attr[WICK_ATTR_concat_axis].i - (r->rank - t->rank);
  return axis < 0 || wick_dim_is(t->dim[axis], 1);
}

/* Returns true if more bytes would have to be moved after n. */
static bool sink_data_movement_widens(const sink_data_movement *s)
{
  wick_elem from = wick_info_of(s->k.f, s->n->in[s->at])->elem,
            to = wick_info_of(s->k.f, s->n->first)->elem;
  return wick_elem_storage[to].bits > wick_elem_storage[from].bits;
}

/* Finds the dimensions of operand v before the reshape: each dimension of the reshape's operand
 * becomes several of its result, which v has all, or has none of. */
static bool sink_data_movement_regroups(const sink_data_movement *s, wick_value v, wick_dim *out)
{
  const wick_type_info *from = wick_info_of(s->k.f, s->move->in[0]),
                       *to = wick_info_of(s->k.f, s->move->first), *t = wick_info_of(s->k.f, v);
  wick_dims *dims = s->k.f->module->dims;
  uint32_t at = 0;
  if (t->rank > to->rank) return false;
  for (uint32_t i = 0; i < from->rank; i++) {
    wick_dim size = wick_dim_const(1);
    bool all = true, none = true;
    for (; size.v != from->dim[i].v && at < to->rank; at++) {
      uint32_t lead = to->rank - t->rank;
      wick_dim own = at < lead ? wick_dim_const(1) : t->dim[at - lead];
      size = wick_dim_mul(dims, size, to->dim[at]);
      all = all && own.v == to->dim[at].v, none = none && wick_dim_is(own, 1);
    }
    if (size.v != from->dim[i].v || !(all || none)) return false;
    out[i] = all ? from->dim[i] : wick_dim_const(1);
  }
  while (at < to->rank && wick_dim_is(to->dim[at], 1)) at++;
  return at == to->rank;
}

/* Returns true if n takes the reshaped result of a convolution, and other operands that can be
 * reshaped in its place. */
static bool sink_data_movement_ends_conv(sink_data_movement *s, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nin && !s->move; k++) {
    const wick_node *move = n->in[k].id ? wick_match_op(&s->k, n->in[k], WICK_OP_reshape) : NULL;
    if (!move || !wick_match_user(&s->k, n->in[k])) continue;
    if (wick_match_op(&s->k, move->in[0], WICK_OP_conv)) s->move = move, s->at = k;
  }
  bool hits = s->move && !sink_data_movement_widens(s) &&
              wick_match_same_shape(&s->k, n->first, n->in[s->at]);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < n->nin && hits; k++)
    hits = n->in[k].id && (k == s->at || sink_data_movement_regroups(s, n->in[k], dim));
  if (!hits) s->move = NULL;
  return hits;
}

static bool sink_data_movement_hits(sink_data_movement *s, const wick_node *n)
{
  if (!wick_op_of(n)->scalar || n->nout != 1 || n->nin > SINK_DATA_MOVEMENT_MOST) return false;
  s->n = n, s->move = NULL;
  if (n->nin > 1 && sink_data_movement_ends_conv(s, n)) return true;
  for (uint32_t k = 0; k < n->nin; k++) {
    if (!n->in[k].id) return false;
    if (wick_match_imm(&s->k, n->in[k])) continue;
    if (s->move) return false;
    s->move = wick_match_node(&s->k, n->in[k]);
    s->at = k;
    if (!s->move || !wick_op_of(s->move)->rearranges || !wick_match_user(&s->k, n->in[k]))
      return false;
  }
  if (!s->move || sink_data_movement_widens(s) ||
      !wick_match_same_shape(&s->k, n->first, n->in[s->at]))
    return false;
  for (uint32_t k = 0; k < n->nin; k++)
    if (k != s->at && !sink_data_movement_goes_along(s, n->in[k])) return false;
  return true;
}

/* ---- building ---- */

/* Returns another operand in the form that f needs before the move. */
static wick_value sink_data_movement_other(sink_data_movement *s, wick_value v)
{
  const wick_node *m = s->move;
  wick_dim dim[WICK_MAX_RANK];
  if (m->op == WICK_OP_reshape && !sink_data_movement_number(s, v)) {
    sink_data_movement_regroups(s, v, dim);
    return wick_build_reshape(&s->c.b, s->c.to[v.id], wick_info_of(s->k.f, m->in[0])->rank, dim);
  }
  if (m->op != WICK_OP_transpose || sink_data_movement_number(s, v)) return s->c.to[v.id];
  uint32_t rank = wick_info_of(s->k.f, v)->rank;
  int64_t back[WICK_MAX_RANK];
  wick_view_map map = wick_view_map_of(s->k.f, m, 0);
  for (uint32_t k = 0; k < rank; k++) back[map.axis[k]] = k;
  return wick_build_transpose(&s->c.b, s->c.to[v.id], rank, back);
}

/* Builds f on x. A number gets rank 0 if its own rank would enlarge the result's. */
static wick_value sink_data_movement_apply(sink_data_movement *s, wick_value x)
{
  wick_value in[SINK_DATA_MOVEMENT_MOST];
  wick_builder *b = &s->c.b;
  if (b->status) return x;
  const wick_node *n = s->n;
  uint32_t rank = wick_built_info(b, x)->rank;
  for (uint32_t k = 0; k < n->nin; k++) {
    in[k] = k == s->at ? x : sink_data_movement_other(s, n->in[k]);
    if (k == s->at || !in[k].id || wick_built_info(b, in[k])->rank <= rank) continue;
    in[k] = wick_build_reshape(b, in[k], 0, NULL);
  }
  if (b->status || !wick_op_of(n)->typed)
    return wick_build(b, n->op, n->nin, in, n->nattr ? n->attr : NULL, 0, NULL);
  wick_type type =
      wick_type_with_elem(b->module, wick_built_type(b, x), wick_info_of(s->k.f, n->first)->elem);
  return wick_build(b, n->op, n->nin, in, n->nattr ? n->attr : NULL, 1, &type);
}

static void sink_data_movement_build(sink_data_movement *s, wick_arena *mem)
{
  const wick_node *m = s->move;
  wick_value *in = wick_new(mem, wick_value, m->nin);
  s->c.b.loc = s->n->loc;
  for (uint32_t k = 0; k < m->nin; k++) in[k] = sink_data_movement_apply(s, s->c.to[m->in[k].id]);
  s->c.b.loc = m->loc;
  wick_value y = wick_build(&s->c.b, m->op, m->nin, in, m->nattr ? m->attr : NULL, 0, NULL);
  const wick_value_info *old = &s->k.f->value[s->n->first.id];
  s->c.to[s->n->first.id] = y;
  if (y.id) wick_build_name(&s->c.b, y, old->name, old->relation);
}

static wick_func *sink_data_movement_once(const wick_func *f, wick_arena *mem, uint32_t *hits)
{
  sink_data_movement s = {.k = wick_match_begin(f, mem)};
  s.c = wick_copy_begin(f, mem);
  *hits = 0;
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (!s.c.b.status && sink_data_movement_hits(&s, &f->node[i]))
      sink_data_movement_build(&s, mem), ++*hits;
    else
      wick_copy_node(&s.c, &f->node[i]);
  }
  return wick_copy_end(&s.c);
}

wick_status wick_pass_sink_data_movement(const wick_pass_context *pass, const wick_func *f,
                                         wick_func **out)
{
  uint32_t hits = 1;
  wick_func *r = NULL;
  for (uint32_t i = 0; i < SINK_DATA_MOVEMENT_ROUNDS && hits; i++)
    r = sink_data_movement_once(r ? r : f, pass->mem, &hits);
  *out = r;
  return NULL;
}
