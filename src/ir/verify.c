/* The verifier, in one pass over the nodes. A value may be used if its definition comes before,
 * in a region that is still open. */
#include "ir/verify.h"

#include <string.h>

#include "ir/infer.h"

typedef struct verify_state {
  const wick_func *f;
  wick_arena *tmp;
  uint32_t *scope_end; /* per value: the index at which it goes out of scope; 0: not defined yet */
  uint32_t stack[256], depth; /* open nodes */
  wick_value_info *results;
} verify_state;

static wick_status verify_fail(const verify_state *s, uint32_t i, const char *what)
{
  const wick_node *n = &s->f->node[i];
  const char *op = n->op > 0 && n->op < WICK_NOP ? wick_ops[n->op]->name : "?";
  return wick_fail(s->tmp, WICK_EINTERNAL, wick_loc_text(s->f->module, n->loc),
                   "@%s, node %u (%s): %s", s->f->name, i, op, what);
}

/* Returns the end of the region that contains node i. */
static uint32_t verify_scope(const verify_state *s, uint32_t i)
{
  if (!s->depth) return s->f->nnode;
  const wick_node *p = &s->f->node[s->stack[s->depth - 1]];
  for (uint32_t r = 0; r < p->nregion; r++)
    if (i >= p->region[r].begin && i < p->region[r].end) return p->region[r].end;
  return 0;
}

static wick_status verify_define(verify_state *s, uint32_t i, wick_value first, uint32_t n,
                                 uint32_t end)
{
  if (n && (first.id == 0 || first.id > s->f->nvalue || n > s->f->nvalue - first.id + 1))
    return verify_fail(s, i, "results are not values of the function");
  for (uint32_t k = 0; k < n; k++) {
    if (s->scope_end[first.id + k]) return verify_fail(s, i, "a value is defined twice");
    s->scope_end[first.id + k] = end;
  }
  return NULL;
}

static wick_status verify_regions(verify_state *s, uint32_t i)
{
  const wick_node *n = &s->f->node[i];
  uint32_t at = i + 1;
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *region = &n->region[r];
    if (region->begin != at || region->end <= at || region->end > s->f->nnode)
      return verify_fail(s, i, "regions do not follow each other");
    if (s->f->node[region->end - 1].op != WICK_OP_yield)
      return verify_fail(s, i, "a region does not end in yield");
    WICK_TRY(verify_define(s, i, region->first, region->nparam, region->end));
    at = region->end;
  }
  return n->end == at ? NULL : verify_fail(s, i, "its regions and its end do not agree");
}

static wick_status verify_operands(const verify_state *s, uint32_t i)
{
  const wick_node *n = &s->f->node[i];
  for (uint32_t k = 0; k < n->nin; k++) {
    uint32_t v = n->in[k].id;
    if (v == 0 && wick_op_of(n)->terminator) return verify_fail(s, i, "a value is missing");
    if (v == 0) continue;
    if (v > s->f->nvalue) return verify_fail(s, i, "an operand is not a value of the function");
    if (s->scope_end[v] <= i)
      return verify_fail(s, i, "an operand is not defined before, or out of scope");
  }
  return NULL;
}

static void verify_region_types(const verify_state *s, const wick_node *n, wick_infer *c)
{
  uint32_t *nyield = wick_new(s->tmp, uint32_t, n->nregion),
           *nparam = wick_new(s->tmp, uint32_t, n->nregion);
  const wick_type **yield = wick_new(s->tmp, const wick_type *, n->nregion);
  const wick_type **param = wick_new(s->tmp, const wick_type *, n->nregion);
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *region = &n->region[r];
    const wick_node *y = &s->f->node[region->end - 1];
    wick_type *t = wick_new(s->tmp, wick_type, y->nin),
              *p = wick_new(s->tmp, wick_type, region->nparam);
    for (uint32_t i = 0; i < y->nin; i++) t[i] = wick_type_of(s->f, y->in[i]);
    for (uint32_t i = 0; i < region->nparam; i++) p[i] = s->f->value[region->first.id + i].type;
    yield[r] = t, nyield[r] = y->nin, param[r] = p, nparam[r] = region->nparam;
  }
  c->nregion = n->nregion;
  c->yield = yield, c->nyield = nyield, c->param = param, c->nregionparam = nparam;
}

static bool verify_relies(void *arg, wick_dim a, wick_dim b)
{
  const wick_func *f = arg;
  return wick_shape_constraints_imply(f->module->dims, f->nconstraint, f->constraint, a, b);
}

/* Repeats inference, and compares the result types with the function's. */
static wick_status verify_types(const verify_state *s, uint32_t i)
{
  const wick_node *n = &s->f->node[i];
  wick_mark m = wick_arena_mark(s->tmp);
  const wick_value_info **in = wick_new(s->tmp, const wick_value_info *, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = n->in[k].id ? &s->f->value[n->in[k].id] : NULL;
  wick_type *want = wick_new(s->tmp, wick_type, n->nout);
  for (uint32_t k = 0; k < n->nout; k++) want[k] = s->f->value[n->first.id + k].type;
  wick_infer c = {.relies = verify_relies,
                  .arg = (void *)(uintptr_t)s->f,
                  .module = s->f->module,
                  .mem = s->tmp,
                  .op = n->op,
                  .location = wick_loc_text(s->f->module, n->loc),
                  .nin = n->nin,
                  .in_value = n->in,
                  .in = in,
                  .attr = n->attr,
                  .nwant = n->nout,
                  .want = want,
                  .capacity = WICK_INFER_CAPACITY,
                  .out = s->results};
  const wick_op *op = wick_op_of(n);
  for (uint32_t k = 0; k < n->nattr; k++)
    if (op->attr[k].kind == WICK_ATTR_FUNC) c.callee = wick_module_find(s->f->module, n->attr[k].s);
  verify_region_types(s, n, &c);
  WICK_TRY(wick_infer_node(&c, s->f->level));
  if (c.nout != n->nout) return verify_fail(s, i, "the number of results differs from inference");
  for (uint32_t k = 0; k < c.nout; k++)
    if (!wick_type_eq(c.out[k].type, want[k])) {
      wick_text a = wick_text_begin(s->tmp), b = wick_text_begin(s->tmp);
      wick_type_print(s->f->module, c.out[k].type, &a);
      wick_type_print(s->f->module, want[k], &b);
      return verify_fail(
          s, i,
          wick_str_printf(s->tmp, "result %u is %s, but the function declares %s", k, a.at, b.at));
    }
  wick_arena_rewind(s->tmp, m);
  return NULL;
}

static wick_status verify_node(verify_state *s, uint32_t i)
{
  const wick_func *f = s->f;
  const wick_node *n = &f->node[i];
  if (n->op <= WICK_OP_none || n->op >= WICK_NOP) return verify_fail(s, i, "no such operator");
  while (s->depth && f->node[s->stack[s->depth - 1]].end <= i) s->depth--;
  uint32_t scope = verify_scope(s, i);
  if (!scope) return verify_fail(s, i, "it is between regions");
  if (n->op == WICK_OP_return && (i != f->nnode - 1 || s->depth))
    return verify_fail(s, i, "return is not the end");
  if (n->op == WICK_OP_yield && (!s->depth || i != scope - 1))
    return verify_fail(s, i, "yield is not a region's end");
  if (n->nattr != wick_op_nattr(wick_op_of(n)))
    return verify_fail(s, i, "its attributes are not those of its operator");
  WICK_TRY(verify_operands(s, i));
  if (!n->nregion && n->end != i + 1) return verify_fail(s, i, "its end is not after it");
  if (n->nregion) WICK_TRY(verify_regions(s, i));
  if (!wick_op_of(n)->terminator) WICK_TRY(verify_types(s, i));
  /* Results are in scope only after the node's regions. Operands inside these were already
   * checked by their order. */
  WICK_TRY(verify_define(s, i, n->first, n->nout, scope));
  if (n->nregion) {
    if (s->depth >= WICK_COUNT(s->stack)) return verify_fail(s, i, "regions are nested too deep");
    s->stack[s->depth++] = i;
  }
  return NULL;
}

/* A node's results may not be used inside its own regions. */
static wick_status verify_own_results(const verify_state *s)
{
  const wick_func *f = s->f;
  const uint32_t *definer = wick_definers_of(f, s->tmp);
  for (uint32_t i = 0; i < f->nnode; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) {
      uint32_t d = definer[f->node[i].in[k].id];
      if (d != UINT32_MAX && d < i && f->node[d].end > i)
        return verify_fail(s, i, "it uses a result of the node around it");
    }
  return NULL;
}

/* Constraints may use only symbols of the parameters, because callers check them. */
static wick_status verify_constraints(const wick_func *f, wick_arena *tmp)
{
  if (!f->nconstraint) return NULL;
  wick_func head = *f;
  head.nnode = 0;
  wick_dim_list sym = wick_func_sizes(&head, tmp);
  uint32_t nparam = sym.n;
  for (uint32_t i = 0; i < f->nconstraint; i++) {
    wick_dim_symbols(f->module->dims, f->constraint[i].a, tmp, &sym);
    wick_dim_symbols(f->module->dims, f->constraint[i].b, tmp, &sym);
    if (sym.n == nparam) continue;
    wick_text t = wick_text_begin(tmp);
    wick_dim_print(f->module->dims, sym.at[nparam], &t);
    return wick_fail(tmp, WICK_EINTERNAL, wick_loc_text(f->module, f->constraint[i].loc),
                     "@%s checks a size of %s, which is no size of its parameters", f->name, t.at);
  }
  return NULL;
}

/* A state is a tensor of constant shape that has a name, and its initial value has its type. */
static wick_status verify_kept(const wick_func *f, uint32_t v, wick_arena *tmp)
{
  const wick_module *m = f->module;
  const wick_type_info *t = wick_info_of(f, (wick_value){v});
  uint32_t name = f->value[v].name, initial = wick_initial_get(m, name);
  int64_t dim[WICK_MAX_RANK];
  if (!name || t->elem == WICK_STRING || !wick_type_const_dims(t, dim))
    return wick_fail(tmp, WICK_EINTERNAL, NULL, "@%s: parameter %u is a state, but %s", f->name,
                     v - 1, name ? "no tensor of numbers whose shape is constant" : "has no name");
  for (uint32_t k = 1; k < v; k++)
    if (wick_is_state(f->qual[k - 1]) && f->value[k].name == name)
      return wick_fail(tmp, WICK_EINTERNAL, NULL, "@%s: two states are named \"%s\"", f->name,
                       wick_names_get(&m->names, name));
  if (initial && wick_constant_get(m, initial)->type.id != f->value[v].type.id)
    return wick_fail(tmp, WICK_EINTERNAL, NULL,
                     "@%s: the initial value of parameter %u does not have its type", f->name,
                     v - 1);
  return NULL;
}

/* Each given parameter is a tensor that has the type of its result, which is in no other one. */
static wick_status verify_given(const wick_func *f, wick_arena *tmp)
{
  const wick_node *r = wick_return(f);
  bool *taken = NULL;
  for (uint32_t v = 1; v <= f->nparam; v++) {
    if (!wick_is_given(f->qual[v - 1])) continue;
    uint32_t k = wick_given_result(f->qual[v - 1]);
    if (f->level != WICK_GRAPH || wick_info_of(f, (wick_value){v})->kind != WICK_TENSOR)
      return wick_fail(tmp, WICK_EINTERNAL, NULL,
                       "@%s: parameter %u is given, but no tensor of a graph", f->name, v - 1);
    if (k >= r->nin || wick_type_of(f, r->in[k]).id != f->value[v].type.id)
      return wick_fail(tmp, WICK_EINTERNAL, NULL,
                       "@%s: parameter %u is given to result %u, which does not have its type",
                       f->name, v - 1, k);
    if (!taken) taken = wick_new(tmp, bool, r->nin);
    if (taken[k])
      return wick_fail(tmp, WICK_EINTERNAL, NULL, "@%s: two parameters are given to result %u",
                       f->name, k);
    taken[k] = true;
    if (wick_is_state(f->qual[v - 1])) WICK_TRY(verify_kept(f, v, tmp));
  }
  return NULL;
}

wick_status wick_verify_func(const wick_func *f, wick_arena *tmp)
{
  wick_mark m = wick_arena_mark(tmp);
  verify_state s = {.f = f, .tmp = tmp, .scope_end = wick_new(tmp, uint32_t, f->nvalue + 1)};
  s.results = wick_new(tmp, wick_value_info, WICK_INFER_CAPACITY);
  if (!f->nnode || f->node[f->nnode - 1].op != WICK_OP_return)
    return wick_fail(tmp, WICK_EINTERNAL, NULL, "@%s does not end in return", f->name);
  for (uint32_t v = 1; v <= f->nparam; v++) s.scope_end[v] = f->nnode;
  for (uint32_t i = 0; i < f->nnode; i++) WICK_TRY(verify_node(&s, i));
  WICK_TRY(verify_own_results(&s));
  WICK_TRY(verify_constraints(f, tmp));
  WICK_TRY(verify_given(f, tmp));
  const wick_node *r = wick_return(f);
  for (uint32_t k = 0; f->level & (WICK_LOW | WICK_LOOP) && k < r->nin; k++)
    if (wick_info_of(f, r->in[k])->kind != WICK_SCALAR || wick_info_of(f, r->in[k])->lanes != 1)
      return wick_fail(tmp, WICK_EINTERNAL, NULL, "@%s: low and loop functions return scalars",
                       f->name);
  wick_arena_rewind(tmp, m);
  return NULL;
}

wick_status wick_verify_module(const wick_module *m, wick_arena *tmp)
{
  wick_errors all = wick_errors_begin(tmp, 20);
  for (uint32_t i = 0; i < m->funcs.n; i++)
    wick_errors_add(&all, wick_verify_func(m->funcs.at[i], tmp));
  return wick_errors_end(&all);
}
