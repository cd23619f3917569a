/* Specializes a function in one traversal: each node is built again with specialized attributes
 * and types. */
#include "ir/specialize_dims.h"

#include <string.h>

typedef struct specialize_state {
  const wick_func *f;
  const wick_dim_values *dim_values;
  wick_builder b;
  wick_value *to; /* per value of f */
  /* inside a stage: its axes, whose ranges have changed */
  uint32_t naxis;
  wick_dim *axis_old, *axis_new;
} specialize_state;

/* ---- sizes and types ---- */

static wick_dim specialize_dim(const specialize_state *s, wick_dim d)
{
  wick_dims *t = s->f->module->dims;
  if (wick_dim_is_const(d) || wick_dim_eq(d, WICK_DIM_ANY)) return d;
  if (s->naxis) d = wick_dim_substitute(t, d, s->naxis, s->axis_old, s->axis_new);
  return wick_dim_substitute(t, d, s->dim_values->n, s->dim_values->sym, s->dim_values->by);
}

static const wick_dim *specialize_dims(const specialize_state *s, uint32_t n, const wick_dim *d)
{
  wick_dim *out = d ? wick_dup(s->b.mem, wick_dim, d, n) : NULL;
  for (uint32_t i = 0; d && i < n; i++) out[i] = specialize_dim(s, d[i]);
  return out;
}

static wick_type specialize_type(const specialize_state *s, wick_type type)
{
  wick_module *m = s->f->module;
  wick_type_info t = *wick_type_get(m, type);
  if (t.kind == WICK_SCALAR || wick_kind_is_object(t.kind)) return type; /* without symbols */
  if (t.kind == WICK_TUPLE) {
    wick_type *item = wick_dup(s->b.mem, wick_type, t.item, t.nitem);
    for (uint32_t i = 0; i < t.nitem; i++) item[i] = specialize_type(s, t.item[i]);
    return wick_type_tuple(m, t.nitem, item);
  }
  t.dim = specialize_dims(s, t.rank, t.dim);
  t.stride = specialize_dims(s, t.rank, t.stride);
  return wick_type_intern(m, &t);
}

static wick_type *specialize_types(const specialize_state *s, uint32_t n, wick_value first)
{
  wick_type *type = wick_new(s->b.mem, wick_type, n + 1);
  for (uint32_t k = 0; k < n; k++)
    type[k] = specialize_type(s, wick_type_of(s->f, (wick_value){first.id + k}));
  return type;
}

/* ---- branches ---- */

/* Keeps the pairs of a branch that are not known to be equal. Returns false if a pair is never
 * equal. All pairs are then kept, so that entering the branch fails, as it does in the original. */
static bool specialize_equal(const specialize_state *s, wick_attr *pairs)
{
  wick_dim *d = wick_new(s->b.mem, wick_dim, pairs->n + 1);
  bool may = true;
  uint32_t n = 0;
  for (uint32_t i = 0; i + 1 < pairs->n; i += 2)
    may = may && wick_dim_may_equal(s->f->module->dims, specialize_dim(s, pairs->dims[i]),
                                    specialize_dim(s, pairs->dims[i + 1]));
  for (uint32_t i = 0; i + 1 < pairs->n; i += 2) {
    d[n] = specialize_dim(s, pairs->dims[i]), d[n + 1] = specialize_dim(s, pairs->dims[i + 1]);
    if (!may || !wick_dim_eq(d[n], d[n + 1])) n += 2;
  }
  pairs->n = n, pairs->dims = d;
  return may;
}

/* Returns true if region r of n always fails at its beginning. Its nodes are then left out,
 * unless it yields values. */
static bool specialize_barred(const specialize_state *s, const wick_node *n, uint32_t r)
{
  if (n->op != WICK_OP_if || n->nout) return false;
  wick_attr pairs = n->attr[r];
  return !specialize_equal(s, &pairs);
}

/* Adds a shape constraint. Those of branches are left out if they always hold, or if they never
 * hold, which makes the branch fail. */
static void specialize_check(specialize_state *s, const wick_shape_constraint *check)
{
  wick_dims *t = s->f->module->dims;
  wick_shape_constraint c = *check;
  c.a = specialize_dim(s, c.a), c.b = specialize_dim(s, c.b);
  if (!c.branch)
    wick_build_shape_constraint(&s->b, c.a, c.b, c.loc);
  else if (!wick_dim_eq(c.a, c.b) && wick_dim_may_equal(t, c.a, c.b))
    wick_push(s->b.mem, &s->b.branch_constraints, c);
}

/* ---- attributes ---- */

/* Replaces the axes of a stage, whose symbols get new ranges. */
static const wick_axis *specialize_axes(specialize_state *s, uint32_t n, const wick_axis *axis)
{
  wick_dims *t = s->f->module->dims;
  wick_axis *out = wick_dup(s->b.mem, wick_axis, axis, n);
  wick_dim *old = wick_new(s->b.mem, wick_dim, n + 1), *now = wick_new(s->b.mem, wick_dim, n + 1);
  s->naxis = 0; /* extents do not contain axes */
  for (uint32_t i = 0; i < n; i++) {
    const wick_atom *a = wick_dim_atom(t, wick_dim_get(t, axis[i].sym).term->atom[0]);
    out[i] = wick_make_axis(&s->b, a->name, specialize_dim(s, axis[i].extent), axis[i].reduce);
    if (wick_dim_eq(out[i].extent, axis[i].extent)) out[i].sym = axis[i].sym;
    old[i] = axis[i].sym, now[i] = out[i].sym;
  }
  s->naxis = n, s->axis_old = old, s->axis_new = now;
  return out;
}

static const wick_attr *specialize_attrs(specialize_state *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  uint32_t nattr = wick_op_nattr(op);
  wick_attr *a = wick_dup(s->b.mem, wick_attr, n->attr, nattr);
  for (uint32_t i = 0; i < nattr; i++) {
    if (n->op == WICK_OP_if)
      specialize_equal(s, &a[i]);
    else if (op->attr[i].kind == WICK_ATTR_DIMS)
      a[i].dims = specialize_dims(s, a[i].n, a[i].dims);
    if (op->attr[i].kind == WICK_ATTR_AXES) a[i].axes = specialize_axes(s, a[i].n, a[i].axes);
  }
  return nattr ? a : NULL;
}

/* ---- nodes ---- */

static void specialize_region(specialize_state *s, const wick_region *r)
{
  const wick_type *type = specialize_types(s, r->nparam, r->first);
  wick_value first = wick_region_begin(&s->b, r->nparam, type);
  for (uint32_t k = 0; k < r->nparam; k++)
    s->to[r->first.id + k] = (wick_value){first.id ? first.id + k : 0};
}

static void specialize_leaf(specialize_state *s, const wick_node *n, const wick_value *in)
{
  bool typed = wick_op_of(n)->typed;
  const wick_attr *attr = specialize_attrs(s, n);
  wick_value v = wick_build(&s->b, n->op, n->nin, in, attr, typed ? n->nout : 0,
                            typed ? specialize_types(s, n->nout, n->first) : NULL);
  for (uint32_t k = 0; k < n->nout; k++) s->to[n->first.id + k] = (wick_value){v.id ? v.id + k : 0};
}

static void specialize_open(specialize_state *s, const wick_node *n, const wick_value *in)
{
  bool typed = wick_op_of(n)->typed;
  const wick_attr *attr = specialize_attrs(s, n);
  wick_build_open(&s->b, n->op, n->nin, in, attr, typed ? n->nout : 0,
                  typed ? specialize_types(s, n->nout, n->first) : NULL);
}

static void specialize_close(specialize_state *s, const wick_node *n)
{
  wick_value v = wick_build_close(&s->b);
  for (uint32_t k = 0; k < n->nout; k++) s->to[n->first.id + k] = (wick_value){v.id ? v.id + k : 0};
}

static void specialize_names(specialize_state *s, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nout; k++) {
    const wick_value_info *old = &s->f->value[n->first.id + k];
    wick_build_name(&s->b, s->to[n->first.id + k], old->name, old->relation);
  }
}

typedef struct specialize_frame {
  const wick_node *node;
  uint32_t region;
} specialize_frame;
typedef wick_list(specialize_frame) specialize_frames;

/* Begins the next region of the node that was opened last. Returns the index of its next node. */
static uint32_t specialize_enter(specialize_state *s, const specialize_frame *o)
{
  const wick_region *r = &o->node->region[o->region];
  specialize_region(s, r);
  return specialize_barred(s, o->node, o->region) ? r->end - 1 : r->begin;
}

/* After a region's yield. Returns the index of the next node. */
static uint32_t specialize_leave(specialize_state *s, specialize_frames *open)
{
  specialize_frame *o = &open->at[open->n - 1];
  if (++o->region < o->node->nregion) return specialize_enter(s, o);
  specialize_close(s, o->node);
  specialize_names(s, o->node);
  open->n--;
  return o->node->end;
}

static void specialize_nodes(specialize_state *s)
{
  specialize_frames open = {0};
  for (uint32_t i = 0; i < s->f->nnode && !s->b.status;) {
    const wick_node *n = &s->f->node[i++];
    wick_value *in = wick_new(s->b.mem, wick_value, n->nin + 1u);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = s->to[n->in[k].id];
    s->b.loc = n->loc;
    if (n->op == WICK_OP_return) {
      wick_build_return(&s->b, n->nin, in);
    } else if (n->op == WICK_OP_yield) {
      wick_yield(&s->b, n->nin, in);
      i = specialize_leave(s, &open);
    } else if (n->nregion) {
      specialize_open(s, n, in);
      wick_push(s->b.mem, &open, (specialize_frame){n, 0});
      i = specialize_enter(s, &open.at[open.n - 1]);
    } else {
      specialize_leaf(s, n, in);
      specialize_names(s, n);
    }
  }
}

wick_status wick_func_specialize_dims(const wick_func *f, const wick_dim_values *dim_values,
                                      wick_arena *mem, wick_func **out)
{
  specialize_state s = {
      .f = f, .dim_values = dim_values, .to = wick_new(mem, wick_value, f->nvalue + 1)};
  wick_build_begin(&s.b, f->module, f->level, f->name, mem);
  s.b.procedure = f->procedure;
  s.b.schedule = f->schedule;
  for (uint32_t i = 0; i < f->nconstraint; i++) specialize_check(&s, &f->constraint[i]);
  s.b.loc = (wick_loc){0};
  for (uint32_t v = 1; v <= f->nparam; v++) {
    const wick_value_info *info = &f->value[v];
    s.to[v] = wick_build_param(&s.b, specialize_type(&s, info->type), f->qual[v - 1], NULL);
    wick_build_name(&s.b, s.to[v], info->name, info->relation);
  }
  specialize_nodes(&s);
  return wick_build_end(&s.b, out);
}
