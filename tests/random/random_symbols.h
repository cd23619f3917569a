/* Random graphs with symbols, for tests: a graph of constant sizes is built again, with symbols
 * for those dimensions of its parameters that have the symbols' sizes.
 *
 * A node is built again on the new operands. Nodes that inference refuses, and all that depend
 * on them, are left out. Attributes that are dimensions become dimensions of the operands, or
 * products of these, if they have these sizes. A constant that has such a size and does not fit
 * becomes a further parameter.
 *
 * Branches and loops are built again region by region. A missing result of a region is replaced
 * by one number for all elements, or, in a loop, by its previous value.
 *
 * The reverse, with numbers for the symbols, is the same traversal. It leaves nothing out. */
#ifndef WICK_TESTS_RANDOM_SYMBOLS_H
#define WICK_TESTS_RANDOM_SYMBOLS_H

#include "ir/infer.h"
#include "random_flow.h"

enum { RANDOM_NSYMBOL = 3, RANDOM_MOST_PARAM = 12 };

static const struct {
  const char *name;
  int64_t size, lo, hi;
} random_symbols[RANDOM_NSYMBOL] = {{"N", 3, 1, 5}, {"S", 7, 5, 13}, {"T", 10, 2, 19}};
static const int64_t random_symbol_size[RANDOM_NSYMBOL] = {3, 7, 10};

typedef struct random_lift {
  wick_builder b;
  const wick_func *f;
  wick_arena *mem, *tmp;
  wick_dim sym[RANDOM_NSYMBOL];
  const wick_dim *by; /* numbers for the symbols that f has; NULL: f gets symbols */
  wick_value *to;     /* per old value: the new value, or 0 */
  bool *param;        /* per old value: a constant that has become a parameter */
  const uint32_t *definer;
  uint32_t nparam;
  bool checks; /* sizes that may be equal are assumed to be */
} random_lift;

/* ---- dimensions ---- */

/* Finds an expression for a size among dimensions and products of neighbours, perhaps divided; else
 * returns the size. */
static wick_dim random_lift_dim(random_lift *l, int64_t size, uint32_t n, const wick_dim *dim)
{
  wick_dims *t = l->f->module->dims;
  for (uint32_t first = 0; first < n; first++) {
    wick_dim product = wick_dim_const(1);
    for (uint32_t k = first; k < n; k++) {
      product = wick_dim_mul(t, product, dim[k]);
      for (int64_t by = 1; by <= 6; by++) {
        int64_t have;
        wick_dim part = wick_dim_floordiv(t, product, wick_dim_const(by));
        if (wick_dim_eval(t, product, RANDOM_NSYMBOL, l->sym, random_symbol_size, &have) &&
            have == size * by)
          return part;
      }
    }
  }
  return wick_dim_const(size);
}

static wick_type random_lift_type(random_lift *l, wick_type type)
{
  const wick_type_info *t = wick_type_get(l->f->module, type);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) {
    dim[k] = t->dim[k];
    for (uint32_t i = 0; i < RANDOM_NSYMBOL && !l->by; i++)
      if (wick_dim_is(dim[k], random_symbol_size[i])) dim[k] = l->sym[i];
    if (l->by)
      dim[k] = wick_dim_substitute(l->f->module->dims, dim[k], RANDOM_NSYMBOL, l->sym, l->by);
  }
  return wick_type_tensor(l->f->module, t->elem, t->rank, dim);
}

/* Returns the number of rows that a loop stacks: its count or an upper bound of it; else the old
 * number. */
static wick_dim random_lift_most(const random_lift *l, wick_value count, wick_dim most)
{
  const wick_value_info *info = &l->b.values.at[count.id];
  if (info->content) return info->content[0];
  for (uint32_t i = l->b.nodes.n; i-- > 0;)
    if (l->b.nodes.at[i].first.id == count.id && l->b.nodes.at[i].op == WICK_OP_min)
      return random_lift_most(l, l->b.nodes.at[i].in[1], most);
  return most;
}

/* Converts an attribute's dimensions. The operand's dimension at the same position is tried first.
 * If elements are cut off, their number stays the same. */
static wick_attr random_lift_attr(random_lift *l, const wick_node *n, const wick_attr *a)
{
  wick_dims *t = l->f->module->dims;
  if (l->by) {
    wick_dim *number = wick_dup(l->tmp, wick_dim, a->dims, a->n);
    for (uint32_t k = 0; k < a->n; k++)
      number[k] = wick_dim_substitute(t, number[k], RANDOM_NSYMBOL, l->sym, l->by);
    return (wick_attr){.n = a->n, .dims = number};
  }
  if (!n->nin || !n->in[0].id) return *a;
  const wick_type_info *was = wick_info_of(l->f, n->in[0]),
                       *is = wick_built_info(&l->b, l->to[n->in[0].id]);
  wick_dim *dim = wick_dup(l->tmp, wick_dim, a->dims, a->n);
  for (uint32_t k = 0; k < a->n; k++) {
    uint32_t at = n->op == WICK_OP_reshape ? WICK_MAX_RANK : k + was->rank - a->n;
    if (at < was->rank && wick_dim_eq(was->dim[at], dim[k]))
      dim[k] = is->dim[at];
    else if (n->op == WICK_OP_reshape)
      dim[k] = random_lift_dim(l, dim[k].v, is->rank, is->dim);
    else if (n->op == WICK_OP_slice && a == &n->attr[WICK_ATTR_slice_shape] && dim[k].v > 1)
      dim[k] = wick_dim_add(t, is->dim[at], wick_dim_sub(t, dim[k], was->dim[at]));
  }
  return (wick_attr){.n = a->n, .dims = dim};
}

/* ---- nodes ---- */

static const wick_attr *random_lift_attrs(random_lift *l, const wick_node *n)
{
  wick_attr *attr = wick_dup(l->tmp, wick_attr, n->attr, n->nattr);
  for (uint32_t i = 0; i < n->nattr; i++)
    if (wick_ops[n->op]->attr[i].kind == WICK_ATTR_DIMS && n->attr[i].n)
      attr[i] = random_lift_attr(l, n, &n->attr[i]);
  return attr;
}

static wick_type random_lift_want(random_lift *l, const wick_node *n, const wick_value *in)
{
  wick_module *m = l->f->module;
  wick_type want = wick_type_of(l->f, n->first);
  if (l->by) return random_lift_type(l, want);
  if (!n->nin || wick_info_of(l->f, n->in[0])->rank != wick_type_get(m, want)->rank) return want;
  return wick_type_with_elem(m, wick_built_type(&l->b, in[0]), wick_type_get(m, want)->elem);
}

/* Builds n on the new operands. Returns 0 if it is refused. */
static wick_value random_lift_build(random_lift *l, const wick_node *n, bool open)
{
  const wick_op *op = wick_ops[n->op];
  wick_value *in = wick_new(l->tmp, wick_value, n->nin);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = l->to[n->in[k].id];
  const wick_attr *attr = open ? random_lift_attrs(l, n) : n->attr;
  wick_type want = random_lift_want(l, n, in);
  uint32_t nnode = l->b.nodes.n, nvalue = l->b.values.n, ncheck = l->b.constraints.n;
  wick_value v = wick_build(&l->b, n->op, n->nin, in, n->nattr ? attr : NULL, op->typed, &want);
  bool refused = l->b.status || (l->b.constraints.n > ncheck && !l->checks);
  if (l->by) return v;
  l->b.status = NULL;
  if (!refused) return v;
  l->b.nodes.n = nnode, l->b.values.n = nvalue, l->b.constraints.n = ncheck;
  return (wick_value){0};
}

static bool random_lift_is_param(const random_lift *l, const wick_node *n)
{
  const wick_type_info *t = wick_info_of(l->f, n->first);
  bool open = false;
  for (uint32_t k = 0; k < t->rank; k++)
    for (uint32_t i = 0; i < RANDOM_NSYMBOL; i++)
      open = open || wick_dim_is(t->dim[k], random_symbol_size[i]);
  return n->op == WICK_OP_const && open && wick_elem_is_float(t->elem) && !l->param[n->first.id];
}

/* Makes a constant operand of n a parameter, and builds everything again. */
static bool random_lift_again(random_lift *l, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nin && !l->by; k++) {
    uint32_t d = n->in[k].id ? l->definer[n->in[k].id] : UINT32_MAX;
    if (d == UINT32_MAX || l->nparam == RANDOM_MOST_PARAM ||
        !random_lift_is_param(l, &l->f->node[d]))
      continue;
    l->param[n->in[k].id] = true;
    l->nparam++;
    return true;
  }
  return false;
}

static bool random_lift_nodes(random_lift *l, uint32_t begin, uint32_t end);

/* Returns the new value of v if it has the type; else another value of the type: `otherwise`, or
 * one number for all elements. */
static wick_value random_lift_of_type(random_lift *l, wick_value v, wick_type type,
                                      wick_value otherwise)
{
  wick_value to = l->to[v.id];
  if (to.id && wick_type_eq(wick_built_type(&l->b, to), type)) return to;
  return otherwise.id ? otherwise : wick_build_const(&l->b, type, 0.5, 1);
}

/* Yields the values of a region: carried values have the types of in[1], ...; values of the second
 * region of a branch have those of the first one, type[0], ... */
static void random_lift_yield(random_lift *l, const wick_node *n, uint32_t at, wick_value param,
                              const wick_value *in, wick_type *type)
{
  const wick_node *yield = &l->f->node[n->region[at].end - 1];
  wick_value *out = wick_new(l->tmp, wick_value, yield->nin);
  for (uint32_t k = 0; k < yield->nin; k++) {
    bool carried = n->op == WICK_OP_loop && k && k < n->nin;
    wick_value before = {carried ? param.id + k : 0}, v = yield->in[k];
    wick_type want = carried          ? wick_built_type(&l->b, in[k])
                     : at             ? type[k]
                     : l->to[v.id].id ? wick_built_type(&l->b, l->to[v.id])
                                      : random_lift_type(l, wick_type_of(l->f, v));
    out[k] = random_lift_of_type(l, v, want, before);
    type[k] = want;
  }
  wick_yield(&l->b, yield->nin, out);
}

/* Builds a branch or a loop. Returns false if everything must be built again. */
static bool random_lift_flow(random_lift *l, const wick_node *n)
{
  wick_value *in = wick_new(l->tmp, wick_value, n->nin);
  wick_type type[WICK_INFER_CAPACITY];
  wick_attr *attr = wick_dup(l->tmp, wick_attr, n->attr, n->nattr);
  for (uint32_t k = 0; k < n->nin; k++) {
    wick_value v = l->to[n->in[k].id];
    if (!k && !v.id) return true; /* the condition, or the count */
    in[k] = random_lift_of_type(l, n->in[k],
                                v.id ? wick_built_type(&l->b, v)
                                     : random_lift_type(l, wick_type_of(l->f, n->in[k])),
                                (wick_value){0});
  }
  wick_dim most = wick_loop_most(n->op == WICK_OP_loop ? n->attr : (wick_attr[2]){{0}});
  if (n->op == WICK_OP_loop && n->attr[WICK_ATTR_loop_most].n) {
    most = l->by ? random_lift_attr(l, n, &n->attr[WICK_ATTR_loop_most]).dims[0]
                 : random_lift_most(l, in[0], most);
    attr[WICK_ATTR_loop_most].dims = wick_dup(l->tmp, wick_dim, &most, 1);
  }
  wick_build_open(&l->b, n->op, n->nin, in, n->nattr ? attr : NULL, 0, NULL);
  for (uint32_t r = 0; r < n->nregion; r++) {
    const wick_region *region = &n->region[r];
    for (uint32_t k = 0; k < region->nparam; k++)
      type[k] = wick_built_type(&l->b, in[k]); /* the index has the count's type */
    wick_value param = wick_region_begin(&l->b, region->nparam, type);
    for (uint32_t k = 0; k < region->nparam; k++)
      l->to[region->first.id + k] = (wick_value){param.id + k};
    if (!random_lift_nodes(l, region->begin, region->end - 1)) return false;
    random_lift_yield(l, n, r, param, in, type);
  }
  wick_value first = wick_build_close(&l->b);
  for (uint32_t k = 0; k < n->nout; k++) l->to[n->first.id + k] = (wick_value){first.id + k};
  return true;
}

/* Builds the nodes of a region. Returns false if another constant has become a parameter. */
static bool random_lift_nodes(random_lift *l, uint32_t begin, uint32_t end)
{
  const wick_func *f = l->f;
  for (uint32_t i = begin; i < end && !(l->by && l->b.status); i = f->node[i].end) {
    const wick_node *n = &f->node[i];
    if (n->nregion) {
      if (!random_lift_flow(l, n)) return false;
      continue;
    }
    bool there = n->op != WICK_OP_unpool; /* which has a constant size */
    for (uint32_t k = 0; k < n->nin; k++) there = there && (!n->in[k].id || l->to[n->in[k].id].id);
    if (!there || (l->param && l->param[n->first.id])) continue;
    wick_value v = random_lift_build(l, n, true);
    if (!v.id && !l->by) v = random_lift_build(l, n, false);
    for (uint32_t k = 0; k < n->nout && v.id; k++) l->to[n->first.id + k] = (wick_value){v.id + k};
    if (!v.id && random_lift_again(l, n)) return false;
  }
  return true;
}

/* ---- functions ---- */

static void random_lift_begin(random_lift *l, const char *name)
{
  const wick_func *f = l->f;
  wick_build_begin(&l->b, f->module, WICK_GRAPH, name, l->mem);
  memset(l->to, 0, (f->nvalue + 1) * sizeof *l->to);
  uint32_t n = 0;
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (v <= f->nparam || (l->param && l->param[v]))
      l->to[v] = wick_build_param(&l->b, random_lift_type(l, wick_type_of(f, (wick_value){v})),
                                  WICK_IN, wick_str_printf(l->tmp, "p%u", n++));
}

/* Collects up to seven unused values, the last ones first. Returns false if no size is symbolic. */
static bool random_lift_results(random_lift *l, uint32_t *n, wick_value *out)
{
  bool open = false, *used = wick_new(l->tmp, bool, l->b.values.n);
  wick_list(wick_value) all = {0};
  for (uint32_t i = 0; i < l->b.nodes.n; i++)
    for (uint32_t k = 0; k < l->b.nodes.at[i].nin; k++) used[l->b.nodes.at[i].in[k].id] = true;
  for (uint32_t i = 0; i < l->b.nodes.n; i = l->b.nodes.at[i].end)
    for (uint32_t k = 0; k < l->b.nodes.at[i].nout; k++) {
      wick_value v = {l->b.nodes.at[i].first.id + k};
      const wick_type_info *t = wick_built_info(&l->b, v);
      if (used[v.id] || l->b.nodes.at[i].op == WICK_OP_const || t->kind != WICK_TENSOR) continue;
      wick_push(l->tmp, &all, v);
    }
  *n = 0;
  while (*n < 7 && *n < all.n) {
    wick_value v = all.at[all.n - 1 - *n];
    const wick_type_info *t = wick_built_info(&l->b, v);
    for (uint32_t k = 0; k < t->rank; k++) open = open || !wick_dim_is_const(t->dim[k]);
    out[(*n)++] = v;
  }
  return open;
}

static wick_func *random_lift_end(random_lift *l, uint32_t n, const wick_value *out)
{
  wick_func *f;
  wick_build_return(&l->b, n, out);
  return wick_build_end(&l->b, &f) ? NULL : f;
}

/* Returns f with symbols; NULL if no result has any. checks: sizes that may be equal are assumed to
 * be. out_sym: the symbols. */
static wick_func *random_lifted(const wick_func *f, const char *name, bool checks, wick_arena *mem,
                                wick_arena *tmp, wick_dim *out_sym)
{
  random_lift l = {.f = f, .mem = mem, .tmp = tmp, .nparam = f->nparam, .checks = checks};
  l.to = wick_new(tmp, wick_value, f->nvalue + 1);
  l.param = wick_new(tmp, bool, f->nvalue + 1);
  l.definer = wick_definers_of(f, tmp);
  for (uint32_t i = 0; i < RANDOM_NSYMBOL; i++)
    out_sym[i] = l.sym[i] = wick_dim_symbol(f->module->dims, random_symbols[i].name,
                                            random_symbols[i].lo, random_symbols[i].hi);
  do random_lift_begin(&l, name);
  while (!random_lift_nodes(&l, 0, f->nnode - 1));
  wick_value out[7];
  uint32_t n;
  return random_lift_results(&l, &n, out) ? random_lift_end(&l, n, out) : NULL;
}

/* Returns f with numbers for its symbols; NULL if inference refuses these. */
static wick_func *random_fixed(const wick_func *f, const wick_dim *sym, const int64_t *val,
                               wick_arena *mem, wick_arena *tmp)
{
  wick_dim by[RANDOM_NSYMBOL];
  random_lift l = {.f = f, .mem = mem, .tmp = tmp, .by = by, .checks = true};
  l.to = wick_new(tmp, wick_value, f->nvalue + 1);
  for (uint32_t i = 0; i < RANDOM_NSYMBOL; i++) by[i] = wick_dim_const(val[i]), l.sym[i] = sym[i];
  random_lift_begin(&l, f->name);
  random_lift_nodes(&l, 0, f->nnode - 1);
  const wick_node *end = wick_return(f);
  wick_value *out = wick_new(tmp, wick_value, end->nin);
  for (uint32_t k = 0; k < end->nin; k++) out[k] = l.to[end->in[k].id];
  return random_lift_end(&l, end->nin, out);
}

/* ---- calls ---- */

/* Builds @main, with f's parameters: the results of a call of f, and of a branch of which one
 * region calls f again, with other numbers. */
static wick_func *random_called(random_graph *r, const wick_func *f, wick_arena *mem)
{
  static const int64_t zeros[WICK_MAX_RANK];
  const wick_node *end = wick_return(f);
  wick_value *in = wick_new(r->tmp, wick_value, f->nparam), out[2][16];
  wick_type type[16];
  wick_attr callee = {.s = f->name};
  uint32_t n = end->nin < 8 ? end->nin : 8;
  wick_build_begin(&r->b, f->module, WICK_GRAPH, "main", mem);
  for (uint32_t p = 0; p < f->nparam; p++)
    in[p] =
        wick_build_param(&r->b, f->value[p + 1].type, WICK_IN, wick_str_printf(r->tmp, "p%u", p));
  for (uint32_t k = 0; k < end->nin; k++) type[k] = wick_type_of(f, end->in[k]);
  wick_value first = wick_build(&r->b, WICK_OP_call, f->nparam, in, &callee, end->nin, type);
  for (uint32_t k = 0; k < n; k++) out[0][k] = (wick_value){first.id + k};
  wick_value cond = wick_build_cast(&r->b, random_element(r, in[0], zeros), WICK_BOOL);
  wick_build_open(&r->b, WICK_OP_if, 1, &cond, NULL, 0, NULL);
  wick_region_begin(&r->b, 0, NULL);
  wick_yield(&r->b, n, out[0]);
  wick_region_begin(&r->b, 0, NULL);
  for (uint32_t p = 0; p < f->nparam; p++)
    if (wick_elem_is_float(random_info(r, in[p])->elem))
      in[p] = wick_build1(&r->b, WICK_OP_neg, in[p]);
  wick_value second = wick_build(&r->b, WICK_OP_call, f->nparam, in, &callee, end->nin, type);
  for (uint32_t k = 0; k < n; k++) out[1][k] = (wick_value){second.id + k};
  wick_yield(&r->b, n, out[1]);
  second = wick_build_close(&r->b);
  for (uint32_t k = 0; k < n; k++) out[0][n + k] = (wick_value){second.id + k};
  wick_build_return(&r->b, 2 * n, out[0]);
  wick_func *called = NULL;
  return wick_build_end(&r->b, &called) ? NULL : called;
}

#endif
