/* The builder. It appends nodes in pre-order, keeps open regions on a stack, and removes dead
 * code at the end. */
#include "ir/build.h"

#include <string.h>

#include "ir/call.h"
#include "ir/infer.h"

struct wick_open_node {
  uint32_t node;
  const wick_type *want;
  uint32_t nwant;
  bool in_region;
  wick_list(wick_region) regions;
};

void wick_build_begin(wick_builder *b, wick_module *m, wick_level level, const char *name,
                      wick_arena *mem)
{
  *b = (wick_builder){.module = m, .mem = mem, .level = level, .name = wick_intern(m, name)};
  b->infer_out = wick_new(mem, wick_value_info, WICK_INFER_CAPACITY);
  wick_push(mem, &b->values, (wick_value_info){0});
}

void wick_build_fail(wick_builder *b, wick_code code, const char *fmt, ...)
{
  if (b->status) return;
  va_list args;
  va_start(args, fmt);
  const char *location = b->loc.id ? wick_loc_text(b->module, b->loc) : b->name;
  b->status = wick_vfail(&b->module->mem, code, location, fmt, args);
  va_end(args);
}

const wick_type_info *wick_built_info(const wick_builder *b, wick_value v)
{
  return wick_type_get(b->module, b->values.at[v.id].type);
}

bool wick_built_number(const wick_builder *b, wick_value v, double *out)
{
  for (uint32_t i = b->nodes.n; i-- > 0;) {
    const wick_node *n = &b->nodes.at[i];
    if (n->first.id != v.id || n->nout != 1) continue;
    if (n->op == WICK_OP_broadcast) {
      v = n->in[0];
      continue;
    }
    if (n->op != WICK_OP_const || wick_const_imm(n)->constant ||
        !wick_elem_is_float(wick_built_info(b, v)->elem))
      return false;
    *out = wick_const_imm(n)->f;
    return true;
  }
  return false;
}

wick_value wick_build_param(wick_builder *b, wick_type type, wick_qualifier qual, const char *name)
{
  wick_value_info info = {.type = type, .relation = WICK_REL_NONE};
  if (name && *name)
    info.name = wick_names_add(&b->module->names, name, strlen(name)),
    info.relation = WICK_REL_SAME;
  wick_push(b->mem, &b->values, info);
  wick_push(b->mem, &b->quals, qual);
  return (wick_value){++b->nparam};
}

void wick_build_name(wick_builder *b, wick_value v, uint32_t name, wick_relation r)
{
  if (!v.id || v.id >= b->values.n || !name) return;
  b->values.at[v.id].name = name;
  b->values.at[v.id].relation = r;
}

static wick_value build_results(wick_builder *b, wick_node *n, uint32_t nout,
                                const wick_value_info *out)
{
  n->nout = (uint16_t)nout;
  n->first = (wick_value){b->values.n};
  for (uint32_t i = 0; i < nout; i++) wick_push(b->mem, &b->values, out[i]);
  return n->first;
}

static bool build_operands_ok(wick_builder *b, wick_opcode op, uint32_t nin, const wick_value *in)
{
  if (b->status) return false;
  if (nin > UINT16_MAX)
    return wick_build_fail(b, WICK_ELIMIT, "%s: too many operands", wick_ops[op]->name), false;
  for (uint32_t i = 0; i < nin; i++)
    if (in[i].id >= b->values.n || (in[i].id && !b->values.at[in[i].id].type.id))
      return wick_build_fail(b, WICK_EINTERNAL, "%s: operand %u is not a value", wick_ops[op]->name,
                             i),
             false;
  return true;
}

static bool build_relies(void *arg, wick_dim x, wick_dim y)
{
  wick_builder *b = arg;
  wick_build_shape_constraint(b, x, y, b->loc);
  return true;
}

static wick_infer build_infer(wick_builder *b, wick_opcode op, uint32_t nin, const wick_value *in,
                              const wick_value_info **info)
{
  for (uint32_t i = 0; i < nin; i++) info[i] = in[i].id ? &b->values.at[in[i].id] : NULL;
  return (wick_infer){.relies = b->level == WICK_GRAPH ? build_relies : NULL,
                      .arg = b,
                      .module = b->module,
                      .mem = &b->module->mem,
                      .op = op,
                      .location = wick_loc_text(b->module, b->loc),
                      .nin = nin,
                      .in_value = in,
                      .in = info,
                      .capacity = WICK_INFER_CAPACITY,
                      .out = b->infer_out};
}

/* Adds constraints for sizes that could be negative. */
static void build_sizes(wick_builder *b, const wick_infer *c)
{
  for (uint32_t i = 0; !b->status && i < c->nout; i++) {
    const wick_type_info *t = wick_type_get(b->module, c->out[i].type);
    for (uint32_t k = 0; t->kind == WICK_TENSOR && k < t->rank; k++) {
      int64_t lo = 0, hi;
      if (!wick_dim_is_const(t->dim[k])) wick_dim_range(b->module->dims, t->dim[k], &lo, &hi);
      if (lo < 0 && !wick_infer_least(c, t->dim[k], 0))
        wick_build_fail(b, WICK_ETYPE, "size %u of the result is negative", k);
    }
  }
}

/* Short operand lists are on the stack, longer ones in the arena. */
enum { BUILD_FEW = 16 };

wick_value wick_build(wick_builder *b, wick_opcode op, uint32_t nin, const wick_value *in,
                      const wick_attr *attr, uint32_t nwant, const wick_type *want)
{
  if (!build_operands_ok(b, op, nin, in)) return (wick_value){0};
  const wick_value_info *few[BUILD_FEW],
      **info = nin <= BUILD_FEW ? few : wick_new(b->mem, const wick_value_info *, nin);
  wick_infer c = build_infer(b, op, nin, in, info);
  c.nwant = nwant;
  c.want = want;
  const wick_op *row = wick_ops[op];
  for (uint32_t i = 0; i < wick_op_nattr(row); i++)
    if (row->attr[i].kind == WICK_ATTR_FUNC && attr && attr[i].s)
      c.callee = wick_module_find(b->module, attr[i].s);
  b->status = wick_attrs_complete(&c, b->level, attr, &c.attr);
  if (!b->status) b->status = wick_infer_node(&c, b->level);
  if (b->level == WICK_GRAPH) build_sizes(b, &c);
  if (b->status) return (wick_value){0};
  wick_node n = {.op = op,
                 .nin = (uint16_t)nin,
                 .nattr = (uint16_t)wick_op_nattr(row),
                 .loc = b->loc,
                 .end = b->nodes.n + 1,
                 .in = wick_dup(b->mem, wick_value, in, nin),
                 .attr = c.attr};
  wick_value first = build_results(b, &n, c.nout, c.out);
  wick_push(b->mem, &b->nodes, n);
  return c.nout ? first : (wick_value){0};
}

wick_value wick_build_raw(wick_builder *b, const wick_node *like, const wick_value *in,
                          const wick_value_info *results)
{
  if (b->status) return (wick_value){0};
  wick_node n = *like;
  n.in = wick_dup(b->mem, wick_value, in, n.nin);
  n.end = b->nodes.n + 1;
  wick_value first = build_results(b, &n, n.nout, results);
  wick_push(b->mem, &b->nodes, n);
  return first;
}

/* ---- regions ---- */

void wick_build_open(wick_builder *b, wick_opcode op, uint32_t nin, const wick_value *in,
                     const wick_attr *attr, uint32_t nwant, const wick_type *want)
{
  if (b->open.n >= WICK_MAX_DEPTH)
    wick_build_fail(b, WICK_ELIMIT, "regions are nested deeper than %d", WICK_MAX_DEPTH);
  struct wick_open_node *o = wick_new(b->mem, struct wick_open_node, 1);
  wick_push(b->mem, &b->open, o);
  if (!build_operands_ok(b, op, nin, in)) return;
  const wick_value_info **info = wick_new(b->mem, const wick_value_info *, nin);
  wick_infer c = build_infer(b, op, nin, in, info);
  b->status = wick_attrs_complete(&c, b->level, attr, &c.attr);
  if (b->status) return;
  o->node = b->nodes.n;
  o->nwant = nwant;
  o->want = wick_dup(b->mem, wick_type, want, nwant);
  wick_push(b->mem, &b->nodes,
            (wick_node){.op = op,
                        .nin = (uint16_t)nin,
                        .nattr = (uint16_t)wick_op_nattr(wick_ops[op]),
                        .loc = b->loc,
                        .first = {b->values.n}, /* it has no results until it is closed */
                        .in = wick_dup(b->mem, wick_value, in, nin),
                        .attr = c.attr});
}

void wick_build_open_attr(wick_builder *b, uint32_t i, wick_dim_list dims)
{
  if (b->status || !b->open.n) return;
  wick_node *n = &b->nodes.at[b->open.at[b->open.n - 1]->node];
  wick_attr *a = wick_dup(b->mem, wick_attr, n->attr, n->nattr);
  a[i].n = dims.n, a[i].dims = dims.at;
  n->attr = a;
}

static struct wick_open_node *build_top(wick_builder *b, bool in_region)
{
  if (b->status) return NULL;
  if (!b->open.n || b->open.at[b->open.n - 1]->in_region != in_region) {
    wick_build_fail(b, WICK_EINTERNAL, "regions are not begun and ended in pairs");
    return NULL;
  }
  return b->open.at[b->open.n - 1];
}

uint32_t wick_build_axes(const wick_builder *b, const wick_axis **out)
{
  *out = NULL;
  for (uint32_t i = b->open.n; i-- > 0 && !b->status;) {
    const wick_node *n = &b->nodes.at[b->open.at[i]->node];
    if (!wick_op_of(n)->stage) continue;
    *out = wick_stage_axes(n)->axes;
    return wick_stage_axes(n)->n;
  }
  return 0;
}

wick_value wick_region_begin(wick_builder *b, uint32_t nparam, const wick_type *type)
{
  struct wick_open_node *o = build_top(b, false);
  if (!o) return (wick_value){0};
  wick_value first = {b->values.n};
  wick_push(b->mem, &o->regions,
            (wick_region){.first = first, .nparam = nparam, .begin = b->nodes.n});
  for (uint32_t i = 0; i < nparam; i++)
    wick_push(b->mem, &b->values, (wick_value_info){.type = type[i]});
  o->in_region = true;
  return first;
}

static void build_terminator(wick_builder *b, wick_opcode op, uint32_t n, const wick_value *v)
{
  if (!build_operands_ok(b, op, n, v)) return;
  for (uint32_t i = 0; i < n; i++)
    if (!v[i].id) wick_build_fail(b, WICK_ETYPE, "%s: value %u is missing", wick_ops[op]->name, i);
  if (b->status) return;
  wick_push(b->mem, &b->nodes,
            (wick_node){.op = op,
                        .nin = (uint16_t)n,
                        .loc = b->loc,
                        .first = {b->values.n},
                        .end = b->nodes.n + 1,
                        .in = wick_dup(b->mem, wick_value, v, n)});
}

void wick_yield(wick_builder *b, uint32_t n, const wick_value *v)
{
  struct wick_open_node *o = build_top(b, true);
  build_terminator(b, WICK_OP_yield, n, v);
  if (!o || b->status) return;
  o->regions.at[o->regions.n - 1].end = b->nodes.n;
  o->in_region = false;
}

/* Collects the types of each region's parameters and yield, for inference. */
static void build_region_types(wick_builder *b, const struct wick_open_node *o, wick_infer *c)
{
  uint32_t n = o->regions.n, *nyield = wick_new(b->mem, uint32_t, n),
           *nparam = wick_new(b->mem, uint32_t, n);
  const wick_type **yield = wick_new(b->mem, const wick_type *, n),
                  **param = wick_new(b->mem, const wick_type *, n);
  for (uint32_t r = 0; r < n; r++) {
    const wick_region *region = &o->regions.at[r];
    const wick_node *y = &b->nodes.at[region->end - 1];
    wick_type *t = wick_new(b->mem, wick_type, y->nin),
              *p = wick_new(b->mem, wick_type, region->nparam);
    for (uint32_t i = 0; i < y->nin; i++) t[i] = b->values.at[y->in[i].id].type;
    for (uint32_t i = 0; i < region->nparam; i++) p[i] = b->values.at[region->first.id + i].type;
    yield[r] = t, nyield[r] = y->nin, param[r] = p, nparam[r] = region->nparam;
  }
  c->nregion = n;
  c->yield = yield, c->nyield = nyield, c->param = param, c->nregionparam = nparam;
}

void wick_build_want(wick_builder *b, uint32_t nwant, const wick_type *want)
{
  struct wick_open_node *o = build_top(b, false);
  if (!o) return;
  o->nwant = nwant;
  o->want = wick_dup(b->mem, wick_type, want, nwant);
}

void wick_build_attrs(wick_builder *b, const wick_attr *attr)
{
  struct wick_open_node *o = build_top(b, false);
  if (!o) return;
  wick_node *n = &b->nodes.at[o->node];
  const wick_value_info **info = wick_new(b->mem, const wick_value_info *, n->nin);
  wick_infer c = build_infer(b, n->op, n->nin, n->in, info);
  b->status = wick_attrs_complete(&c, b->level, attr, &c.attr);
  if (!b->status) n->attr = c.attr;
}

wick_value wick_build_close(wick_builder *b)
{
  struct wick_open_node *o = build_top(b, false);
  if (!o) return (wick_value){0};
  wick_node *n = &b->nodes.at[o->node];
  const wick_value_info **info = wick_new(b->mem, const wick_value_info *, n->nin);
  wick_infer c = build_infer(b, n->op, n->nin, n->in, info);
  c.location = wick_loc_text(b->module, n->loc);
  c.attr = n->attr;
  c.nwant = o->nwant;
  c.want = o->want;
  build_region_types(b, o, &c);
  b->status = wick_infer_node(&c, b->level);
  if (b->status) return (wick_value){0};
  n->nregion = (uint16_t)o->regions.n;
  n->region = wick_dup(b->mem, wick_region, o->regions.at, o->regions.n);
  n->end = b->nodes.n;
  b->open.n--;
  wick_value first = build_results(b, n, c.nout, c.out);
  return c.nout ? first : (wick_value){0};
}

void wick_build_return(wick_builder *b, uint32_t n, const wick_value *v)
{
  if (b->open.n) wick_build_fail(b, WICK_EINTERNAL, "return inside a region");
  build_terminator(b, WICK_OP_return, n, v);
}

/* ---- the end: dead code ---- */

/* Returns, for each node, the node whose region contains it, or UINT32_MAX. */
static uint32_t *build_parents(const wick_builder *b)
{
  uint32_t *parent = wick_new(b->mem, uint32_t, b->nodes.n), depth = 0, stack[WICK_MAX_DEPTH + 1];
  for (uint32_t i = 0; i < b->nodes.n; i++) {
    while (depth && b->nodes.at[stack[depth - 1]].end <= i) depth--;
    parent[i] = depth ? stack[depth - 1] : UINT32_MAX;
    if (b->nodes.at[i].nregion) stack[depth++] = i;
  }
  return parent;
}

static bool build_has_buffer(const wick_builder *b, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nin; k++)
    if (wick_built_info(b, n->in[k])->kind == WICK_BUFFER) return true;
  return false;
}

/* Returns true if n has an effect. A call that has buffers may write them. In low functions a
 * branch that may fail has one, too. `e` is filled at the first call, because few functions have
 * one. */
static bool build_acts(const wick_builder *b, wick_effects *e, const wick_node *n)
{
  if (n->op == WICK_OP_call && build_has_buffer(b, n)) return true;
  bool runs = wick_func_run(n, 0) != NULL;
  if (runs && !e->module) *e = wick_effects_of(b->module, b->mem);
  return (runs ? wick_node_acts(e, n) : wick_ops[n->op]->effect == WICK_EFFECT) ||
         (n->op == WICK_OP_if && b->level == WICK_LOW &&
          n->attr[WICK_ATTR_if_then_equal].n + n->attr[WICK_ATTR_if_else_equal].n > 0);
}

/* Returns, for each node, whether it has an effect or a result that a live node uses. A
 * terminator is live if its parent is. */
static bool *build_live(const wick_builder *b, uint32_t *out_nlive)
{
  const wick_node *node = b->nodes.at;
  uint32_t n = b->nodes.n, *parent = build_parents(b), nlive = 0;
  bool *live = wick_new(b->mem, bool, n), *used = wick_new(b->mem, bool, b->values.n);
  wick_effects effects = {0};
  for (uint32_t i = 0; i < n; i++)
    if (build_acts(b, &effects, &node[i]))
      for (uint32_t p = i; p != UINT32_MAX && !live[p]; p = parent[p]) live[p] = true;
  live[n - 1] = true;
  /* A parent comes before its regions in the array, but its results are used after them. It is
   * therefore decided at its last node. */
  for (uint32_t i = n; i-- > 0;) {
    for (uint32_t p = parent[i]; p != UINT32_MAX && node[p].end == i + 1; p = parent[p])
      for (uint32_t k = 0; k < node[p].nout; k++) live[p] = live[p] || used[node[p].first.id + k];
    if (wick_ops[node[i].op]->terminator) live[i] = parent[i] == UINT32_MAX || live[parent[i]];
    for (uint32_t k = 0; k < node[i].nout; k++) live[i] = live[i] || used[node[i].first.id + k];
    nlive += live[i];
    for (uint32_t k = 0; live[i] && k < node[i].nin; k++) used[node[i].in[k].id] = true;
  }
  *out_nlive = nlive;
  return live;
}

static void build_compact(wick_builder *b, const bool *live)
{
  uint32_t *to = wick_new(b->mem, uint32_t, b->nodes.n + 1), n = 0;
  for (uint32_t i = 0; i < b->nodes.n; i++) to[i] = n, n += live[i];
  to[b->nodes.n] = n;
  for (uint32_t i = 0; i < b->nodes.n; i++) {
    if (!live[i]) continue;
    wick_node node = b->nodes.at[i];
    node.end = to[node.end];
    if (node.nregion) {
      wick_region *region = wick_dup(b->mem, wick_region, node.region, node.nregion);
      for (uint32_t r = 0; r < node.nregion; r++)
        region[r].begin = to[region[r].begin], region[r].end = to[region[r].end];
      node.region = region;
    }
    b->nodes.at[to[i]] = node;
  }
  b->nodes.n = n;
}

wick_status wick_build_end(wick_builder *b, wick_func **out)
{
  if (!b->status && (!b->nodes.n || b->nodes.at[b->nodes.n - 1].op != WICK_OP_return || b->open.n))
    wick_build_fail(b, WICK_EINTERNAL, "the function does not end in return");
  if (b->status) return b->status;
  uint32_t nlive;
  bool *live = build_live(b, &nlive);
  if (b->level & (WICK_LOW | WICK_LOOP) && b->nodes.at[b->nodes.n - 1].nin) b->procedure = true;
  if (nlive != b->nodes.n) build_compact(b, live);
  for (uint32_t i = 0; i < b->branch_constraints.n; i++)
    wick_push(b->mem, &b->constraints, b->branch_constraints.at[i]);
  wick_func *f = wick_new(b->mem, wick_func, 1);
  *f = (wick_func){.module = b->module,
                   .name = b->name,
                   .level = b->level,
                   .procedure = b->procedure,
                   .nparam = b->nparam,
                   .qual = b->quals.at,
                   .nnode = b->nodes.n,
                   .node = b->nodes.at,
                   .nvalue = b->values.n - 1,
                   .value = b->values.at,
                   .nconstraint = b->constraints.n,
                   .constraint = b->constraints.at,
                   .schedule = b->schedule,
                   .contract = b->contract};
  wick_func_note_callees(f, b->mem);
  *out = f;
  return NULL;
}
