/* Demotes in two traversals: a backward one finds the values that are rounded, and a forward one
 * builds them. */
#include "graph/demote.h"

#include "graph/demote_weights.h"
#include "graph/group/assign.h"
#include "ir/copy.h"

typedef struct demote_state {
  wick_copier c; /* c.to: the f32 form; 0 if a value has only a narrow form */
  wick_groups g;
  const wick_target *target;
  wick_elem elem;
  bool strict;
  wick_arena *tmp;
  bool *multiplies;   /* per root: the kernel has rounded factors */
  bool *wanted;       /* per value: a user reads its narrow form */
  wick_value *narrow; /* per value: the narrow form, or 0 */
  wick_value *exact;  /* per constant that is a factor: its rounded numbers, as f32 */
} demote_state;

static bool demote_is_f32(const demote_state *s, wick_value v)
{
  if (!v.id) return false;
  const wick_type_info *t = wick_info_of(s->c.f, v);
  return t->kind == WICK_TENSOR && t->elem == WICK_F32;
}

static const wick_node *demote_def(const demote_state *s, wick_value v)
{
  uint32_t d = v.id ? s->g.definer[v.id] : UINT32_MAX;
  return d == UINT32_MAX ? NULL : &s->c.f->node[d];
}

static bool demote_is_const(const demote_state *s, wick_value v)
{
  const wick_node *d = demote_def(s, v);
  return d && d->op == WICK_OP_const;
}

/* Returns the operands of n that are rounded because they are multiplied. */
static wick_factors demote_factors(const demote_state *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  wick_narrowing c = {s->c.f, n, s->g.definer, s->target, s->elem, s->strict};
  return op->product_operands ? op->product_operands(&c) : (wick_factors){0};
}

/* Returns true if the operator can work on narrow elements, and all of its operands and results are
 * f32. */
static bool demote_is_whole(const demote_state *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  bool is = op->rounding_transparent && (!op->elems || (op->elems & WICK_BIT(s->elem)));
  for (uint32_t k = 0; k < n->nin && is; k++)
    is = n->in[k].id && demote_is_f32(s, n->in[k]) && !demote_is_const(s, n->in[k]);
  for (uint32_t k = 0; k < n->nout && is; k++) is = demote_is_f32(s, (wick_value){n->first.id + k});
  return is;
}

static bool demote_any_wanted(const demote_state *s, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++)
    if (s->wanted[n->first.id + k]) return true;
  return false;
}

/* Returns true if `user` reads v from memory that another kernel has written. */
static bool demote_crosses(const demote_state *s, wick_value v, const wick_node *user)
{
  const wick_node *d = demote_def(s, v);
  if (!d || (d->nout > 1 && !demote_is_whole(s, d))) return false;
  uint32_t own = s->g.of[d - s->c.f->node], its = s->g.of[user - s->c.f->node];
  return own != its || own == UINT32_MAX;
}

/* Returns true if v is expensive to write and read again, because it exceeds the second cache.
 * Operands that are copied into one result are read more than once. */
static bool demote_is_much(const demote_state *s, wick_value v)
{
  const wick_node *d = demote_def(s, v);
  if (d && wick_op_of(d)->view_of.kind == WICK_VIEW_OF_RESULT && d->nin > 1 &&
      demote_is_whole(s, d))
    return true;
  return wick_type_typical_nbytes(s->c.f->module, wick_type_of(s->c.f, v)) >
         wick_target_cache(s->target, 2);
}

/* Returns true if the kernel that writes v, or the kernel of `user`, multiplies rounded factors.
 * Between other kernels, f32 is kept. */
static bool demote_is_near(const demote_state *s, wick_value v, const wick_node *user)
{
  const wick_node *d = demote_def(s, v);
  uint32_t own = d ? s->g.of[d - s->c.f->node] : UINT32_MAX, its = s->g.of[user - s->c.f->node];
  return (own != UINT32_MAX && s->multiplies[own]) || (its != UINT32_MAX && s->multiplies[its]);
}

static void demote_find(demote_state *s)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = 0; i < f->nnode; i++)
    if (s->g.of[i] != UINT32_MAX && demote_factors(s, &f->node[i]).operands)
      s->multiplies[s->g.of[i]] = true;
}

static void demote_want(demote_state *s)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = f->nnode; i-- > 0;) {
    const wick_node *n = &f->node[i];
    if (n->op == WICK_OP_return) continue;
    bool whole = demote_is_whole(s, n), later = wick_group_is_later(n);
    wick_factors factors = demote_factors(s, n);
    for (uint32_t k = 0; k < n->nin; k++) {
      wick_value v = n->in[k];
      if (!demote_is_f32(s, v) || demote_is_const(s, v)) continue;
      bool want = whole                       ? demote_any_wanted(s, n)
                  : factors.operands >> k & 1 ? true
                                              : !later && demote_crosses(s, v, n) &&
                                                    demote_is_near(s, v, n) && demote_is_much(s, v);
      s->wanted[v.id] = s->wanted[v.id] || want;
    }
  }
}

/* ---- operands ---- */

/* Returns a constant with its numbers rounded. */
static wick_value demote_exact(demote_state *s, wick_value v, const wick_factors *factors)
{
  const wick_node *n = demote_def(s, v);
  wick_module *m = s->c.f->module;
  wick_imm imm = *wick_const_imm(n);
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
  float *data = wick_module_alloc(m, old.nbytes);
  uint64_t size[3] = {1, 1, 1}; /* before, along and after the axes that are summed */
  for (uint32_t k = 0; k < info->rank; k++)
    size[(k >= factors->first) + (k >= factors->end)] *= (uint64_t)info->dim[k].v;
  wick_narrow_weights(s->elem, size[0], size[1], size[2], bytes, data, s->tmp);
  uint32_t id = wick_constant_add(m, old.name, type, data, old.nbytes);
  return s->exact[v.id] = wick_build_constant(&s->c.b, id);
}

/* Returns operand k of node n as f32. */
static wick_value demote_wide(demote_state *s, const wick_node *n, uint32_t k,
                              const wick_factors *factors)
{
  wick_value v = n->in[k];
  bool factor = factors->operands >> k & 1;
  if (!demote_is_f32(s, v)) return s->c.to[v.id];
  if (demote_is_const(s, v)) return factor ? demote_exact(s, v, factors) : s->c.to[v.id];
  bool take = factor || !s->c.to[v.id].id ||
              (s->wanted[v.id] && n->op != WICK_OP_return && demote_crosses(s, v, n));
  return take ? wick_build_cast(&s->c.b, s->narrow[v.id], WICK_F32) : s->c.to[v.id];
}

/* ---- nodes ---- */

/* Builds n on operands in[], or on the mapped operands if in is NULL. */
static void demote_copy(demote_state *s, const wick_node *n, const wick_value *in)
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

static void demote_round(demote_state *s, wick_value v)
{
  if (s->wanted[v.id] && !s->narrow[v.id].id) {
    wick_type type = wick_type_with_elem(s->c.f->module, wick_type_of(s->c.f, v), s->elem);
    s->narrow[v.id] = wick_build(&s->c.b, WICK_OP_narrow, 1, &s->c.to[v.id], NULL, 1, &type);
  }
}

static void demote_node(demote_state *s, const wick_node *n)
{
  wick_value *in = wick_new(s->c.b.mem, wick_value, n->nin);
  bool whole = demote_is_whole(s, n) && demote_any_wanted(s, n);
  wick_factors factors = demote_factors(s, n);
  s->c.b.loc = n->loc;
  for (uint32_t k = 0; k < n->nin; k++)
    in[k] = whole ? s->narrow[n->in[k].id] : demote_wide(s, n, k, &factors);
  demote_copy(s, n, in);
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_value v = {n->first.id + k};
    if (whole)
      s->narrow[v.id] = s->c.to[v.id], s->c.to[v.id] = (wick_value){0};
    else if (demote_is_f32(s, v) && n->op != WICK_OP_const)
      demote_round(s, v);
  }
}

static wick_status demote_to(wick_elem elem, const wick_pass_context *pass, const wick_func *f,
                             wick_func **out)
{
  wick_arena *tmp = pass->tmp;
  demote_state s = {.c = wick_copy_begin(f, pass->mem),
                    .g = wick_groups_of(f, pass->target, NULL, tmp),
                    .target = pass->target,
                    .elem = elem,
                    .strict = pass->strict,
                    .tmp = tmp};
  s.multiplies = wick_new(tmp, bool, f->nnode + 1);
  s.wanted = wick_new(tmp, bool, f->nvalue + 1);
  s.narrow = wick_new(tmp, wick_value, f->nvalue + 1);
  s.exact = wick_new(tmp, wick_value, f->nvalue + 1);
  bool flat = true;
  for (uint32_t i = 0; i < f->nnode; i++) flat = flat && !f->node[i].nregion;
  if (flat) demote_find(&s), demote_want(&s);
  for (uint32_t v = 1; v <= f->nparam && flat; v++)
    if (demote_is_f32(&s, (wick_value){v})) demote_round(&s, (wick_value){v});
  for (uint32_t i = 0; i < f->nnode; i++)
    if (flat)
      demote_node(&s, &f->node[i]);
    else
      wick_copy_node(&s.c, &f->node[i]);
  return wick_copy_finish(&s.c, out);
}

wick_status wick_pass_demote_to_bf16(const wick_pass_context *pass, const wick_func *f,
                                     wick_func **out)
{
  return demote_to(WICK_BF16, pass, f, out);
}

wick_status wick_pass_demote_to_f16(const wick_pass_context *pass, const wick_func *f,
                                    wick_func **out)
{
  return demote_to(WICK_F16, pass, f, out);
}
