/* A walk back finds what is to be narrow, a walk on builds it. */
#include "graph/narrow.h"

#include "graph/group/assign.h"
#include "graph/narrow_weights.h"
#include "ir/copy.h"

typedef struct narrow_state {
  wick_copier c; /* c.to: f32; 0 where a value is narrow alone */
  wick_groups g;
  const wick_target *target;
  wick_elem elem;
  bool strict;
  wick_arena *tmp;
  bool *multiplies;   /* per root: a kernel with rounded factors */
  bool *wanted;       /* per value: somebody takes it narrow */
  wick_value *narrow; /* per value: the narrow form, or 0 */
  wick_value *exact;  /* per constant that is a factor: its rounded numbers, f32 */
} narrow_state;

static bool narrow_is_f32(const narrow_state *s, wick_value v)
{
  if (!v.id) return false;
  const wick_type_info *t = wick_info_of(s->c.f, v);
  return t->kind == WICK_TENSOR && t->elem == WICK_F32;
}

static const wick_node *narrow_def(const narrow_state *s, wick_value v)
{
  uint32_t d = v.id ? s->g.definer[v.id] : UINT32_MAX;
  return d == UINT32_MAX ? NULL : &s->c.f->node[d];
}

static bool narrow_is_const(const narrow_state *s, wick_value v)
{
  const wick_node *d = narrow_def(s, v);
  return d && d->op == WICK_OP_const;
}

/* The operands of n that are rounded since they are multiplied. */
static wick_factors narrow_factors(const narrow_state *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  wick_narrowing c = {s->c.f, n, s->g.definer, s->target, s->elem, s->strict};
  return op->factors ? op->factors(&c) : (wick_factors){0};
}

/* The row works on narrow elements throughout, and all that it takes and gives is f32. */
static bool narrow_is_whole(const narrow_state *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  bool is = op->moves && (!op->elems || (op->elems & WICK_BIT(s->elem)));
  for (uint32_t k = 0; k < n->nin && is; k++)
    is = n->in[k].id && narrow_is_f32(s, n->in[k]) && !narrow_is_const(s, n->in[k]);
  for (uint32_t k = 0; k < n->nout && is; k++) is = narrow_is_f32(s, (wick_value){n->first.id + k});
  return is;
}

static bool narrow_any_wanted(const narrow_state *s, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++)
    if (s->wanted[n->first.id + k]) return true;
  return false;
}

/* What node `user` takes of v comes out of memory that another kernel has written. */
static bool narrow_crosses(const narrow_state *s, wick_value v, const wick_node *user)
{
  const wick_node *d = narrow_def(s, v);
  if (!d || (d->nout > 1 && !narrow_is_whole(s, d))) return false;
  uint32_t own = s->g.of[d - s->c.f->node], its = s->g.of[user - s->c.f->node];
  return own != its || own == UINT32_MAX;
}

/* It is much to write and read again: more than the second cache holds. What is joined is read more
 * than once. */
static bool narrow_is_much(const narrow_state *s, wick_value v)
{
  const wick_node *d = narrow_def(s, v);
  if (d && wick_op_of(d)->joins && narrow_is_whole(s, d)) return true;
  return wick_type_typical_nbytes(s->c.f->module, wick_type_of(s->c.f, v)) >
         s->target->cache_bytes[1];
}

/* The kernel that writes v, or the one of node `user`, multiplies what is rounded: between others
 * f32 is left whole. */
static bool narrow_is_near(const narrow_state *s, wick_value v, const wick_node *user)
{
  const wick_node *d = narrow_def(s, v);
  uint32_t own = d ? s->g.of[d - s->c.f->node] : UINT32_MAX, its = s->g.of[user - s->c.f->node];
  return (own != UINT32_MAX && s->multiplies[own]) || (its != UINT32_MAX && s->multiplies[its]);
}

static void narrow_find(narrow_state *s)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = 0; i < f->nnode; i++)
    if (s->g.of[i] != UINT32_MAX && narrow_factors(s, &f->node[i]).operands)
      s->multiplies[s->g.of[i]] = true;
}

static void narrow_want(narrow_state *s)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = f->nnode; i-- > 0;) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_return) continue;
    bool whole = narrow_is_whole(s, n), later = wick_group_is_later(n);
    wick_factors factors = narrow_factors(s, n);
    for (uint32_t k = 0; k < n->nin; k++) {
      wick_value v = n->in[k];
      if (!narrow_is_f32(s, v) || narrow_is_const(s, v)) continue;
      bool want = whole                       ? narrow_any_wanted(s, n)
                  : factors.operands >> k & 1 ? true
                                              : !later && narrow_crosses(s, v, n) &&
                                                    narrow_is_near(s, v, n) && narrow_is_much(s, v);
      s->wanted[v.id] = s->wanted[v.id] || want;
    }
  }
}

/* ---- operands ---- */

/* A constant's numbers, rounded. */
static wick_value narrow_exact(narrow_state *s, wick_value v, const wick_factors *factors)
{
  const wick_node *n = narrow_def(s, v);
  wick_module *m = s->c.f->module;
  wick_imm imm = n->attr[0].imm;
  wick_type type = wick_type_of(s->c.f, v);
  if (s->exact[v.id].id) return s->exact[v.id];
  if (!imm.constant) {
    double x = (double)wick_narrow_number(s->elem, (float)imm.f);
    return s->exact[v.id] = wick_build_const(&s->c.b, type, x, 0);
  }
  const void *bytes = wick_constant_bytes(m, imm.constant);
  const wick_constant old = *wick_constant_get(m, imm.constant);
  const wick_type_info *info = wick_info_of(s->c.f, v);
  if (!bytes) return s->c.to[v.id];
  float *data = wick_module_room(m, old.nbytes);
  uint64_t size[3] = {1, 1, 1}; /* before the axes that are summed over, along and behind them */
  for (uint32_t k = 0; k < info->rank; k++)
    size[(k >= factors->first) + (k >= factors->end)] *= (uint64_t)info->dim[k].v;
  wick_narrow_weights(s->elem, size[0], size[1], size[2], bytes, data, s->tmp);
  uint32_t id = wick_constant_add(m, old.name, type, data, old.nbytes);
  return s->exact[v.id] = wick_build_constant(&s->c.b, id);
}

/* Operand k of node n as f32. */
static wick_value narrow_wide(narrow_state *s, const wick_node *n, uint32_t k,
                              const wick_factors *factors)
{
  wick_value v = n->in[k];
  bool factor = factors->operands >> k & 1;
  if (!narrow_is_f32(s, v)) return s->c.to[v.id];
  if (narrow_is_const(s, v)) return factor ? narrow_exact(s, v, factors) : s->c.to[v.id];
  bool take = factor || !s->c.to[v.id].id ||
              (s->wanted[v.id] && n->op != WICK_OP_return && narrow_crosses(s, v, n));
  return take ? wick_build_cast(&s->c.b, s->narrow[v.id], WICK_F32) : s->c.to[v.id];
}

/* ---- nodes ---- */

/* n on operands in[], or with the map as it is where in is NULL. */
static void narrow_copy(narrow_state *s, const wick_node *n, const wick_value *in)
{
  wick_copier *c = &s->c;
  wick_value *kept = wick_new(c->b.mem, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) kept[k] = c->to[n->in[k].id];
  for (uint32_t k = 0; k < n->nin; k++)
    if (n->in[k].id) c->to[n->in[k].id] = in[k];
  wick_copy_node(c, n);
  for (uint32_t k = n->nin; k-- > 0;)
    if (n->in[k].id) c->to[n->in[k].id] = kept[k];
}

static void narrow_round(narrow_state *s, wick_value v)
{
  if (s->wanted[v.id] && !s->narrow[v.id].id) {
    wick_type type = wick_type_with_elem(s->c.f->module, wick_type_of(s->c.f, v), s->elem);
    s->narrow[v.id] = wick_build(&s->c.b, WICK_OP_narrow, 1, &s->c.to[v.id], NULL, 1, &type);
  }
}

static void narrow_node(narrow_state *s, const wick_node *n)
{
  wick_value *in = wick_new(s->c.b.mem, wick_value, n->nin);
  bool whole = narrow_is_whole(s, n) && narrow_any_wanted(s, n);
  wick_factors factors = narrow_factors(s, n);
  s->c.b.loc = n->loc;
  for (uint32_t k = 0; k < n->nin; k++)
    in[k] = whole ? s->narrow[n->in[k].id] : narrow_wide(s, n, k, &factors);
  narrow_copy(s, n, in);
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    if (whole)
      s->narrow[v.id] = s->c.to[v.id], s->c.to[v.id] = (wick_value){0};
    else if (narrow_is_f32(s, v) && n->op != WICK_OP_const)
      narrow_round(s, v);
  }
}

wick_status wick_pass_narrow(const wick_func *f, wick_elem elem, const wick_target *t, bool strict,
                             wick_arena *mem, wick_arena *tmp, wick_func **out)
{
  narrow_state s = {.c = wick_copy_begin(f, mem),
                    .g = wick_groups_of(f, t, tmp),
                    .target = t,
                    .elem = elem,
                    .strict = strict,
                    .tmp = tmp};
  s.multiplies = wick_new(tmp, bool, f->nnode + 1);
  s.wanted = wick_new(tmp, bool, f->nvalue + 1);
  s.narrow = wick_new(tmp, wick_value, f->nvalue + 1);
  s.exact = wick_new(tmp, wick_value, f->nvalue + 1);
  bool flat = true;
  for (uint32_t i = 0; i < f->nnode; i++) flat = flat && !f->node[i].nregion;
  if (flat) narrow_find(&s), narrow_want(&s);
  for (uint32_t v = 1; v <= f->nparam && flat; v++)
    if (narrow_is_f32(&s, (wick_value){v})) narrow_round(&s, (wick_value){v});
  for (uint32_t i = 0; i < f->nnode; i++)
    if (flat)
      narrow_node(&s, &f->node[i]);
    else
      wick_copy_node(&s.c, &f->node[i]);
  return wick_copy_finish(&s.c, out);
}
