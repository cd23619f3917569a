/* Random graphs with symbols, for tests: a graph of constant sizes is built once more, with symbols
 * where dimensions of its parameters have the symbols' sizes.
 *
 * A node is built again on what its operands have become; what inference refuses, and all that
 * hangs on it, is left out. Attributes that are dimensions become the operand's dimensions, or
 * products of them, where they have their sizes. A constant that has such a size and does not fit
 * becomes one more parameter. */
#ifndef WICK_DRIVER_RANDOM_SYMBOLS_H
#define WICK_DRIVER_RANDOM_SYMBOLS_H

#include "driver/random_graph.h"

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
  wick_value *to; /* per old value: what it has become, or 0 */
  bool *param;    /* per old value: a constant that is a parameter now */
  uint32_t nparam;
  bool checks; /* sizes that may be equal are taken to be */
} random_lift;

/* ---- dimensions ---- */

/* What has a size among dimensions and products of neighbours, perhaps divided; else the size. */
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
    for (uint32_t i = 0; i < RANDOM_NSYMBOL; i++)
      if (wick_dim_is(dim[k], random_symbol_size[i])) dim[k] = l->sym[i];
  }
  return wick_type_tensor(l->f->module, t->elem, t->rank, dim);
}

/* An attribute's dimensions, of which the operand's at the same place count first. What is cut off
 * stays as much. */
static wick_attr random_lift_attr(random_lift *l, const wick_node *n, const wick_attr *a)
{
  if (!n->nin || !n->in[0].id) return *a;
  wick_dims *t = l->f->module->dims;
  const wick_type_info *was = wick_info_of(l->f, n->in[0]),
                       *is = wick_built_info(&l->b, l->to[n->in[0].id]);
  wick_dim *dim = wick_dup(l->tmp, wick_dim, a->dims, a->n);
  for (uint32_t k = 0; k < a->n; k++) {
    uint32_t at = n->op == WICK_OP_reshape ? WICK_MAX_RANK : k + was->rank - a->n;
    if (at < was->rank && wick_dim_eq(was->dim[at], dim[k]))
      dim[k] = is->dim[at];
    else if (n->op == WICK_OP_reshape)
      dim[k] = random_lift_dim(l, dim[k].v, is->rank, is->dim);
    else if (n->op == WICK_OP_slice && a == &n->attr[1] && dim[k].v > 1)
      dim[k] = wick_dim_add(t, is->dim[at], wick_dim_sub(t, dim[k], was->dim[at]));
  }
  return (wick_attr){.n = a->n, .dims = dim};
}

/* ---- nodes ---- */

/* Builds n on the new operands; 0 where it is refused. */
static wick_value random_lift_build(random_lift *l, const wick_node *n, bool open)
{
  const wick_op *op = wick_ops[n->op];
  wick_attr *attr = wick_dup(l->tmp, wick_attr, n->attr, n->nattr);
  wick_value *in = wick_new(l->tmp, wick_value, n->nin);
  wick_type want = wick_type_of(l->f, n->first);
  for (uint32_t k = 0; k < n->nin; k++) in[k] = l->to[n->in[k].id];
  for (uint32_t i = 0; i < n->nattr && open; i++)
    if (op->attr[i].kind == WICK_ATTR_DIMS && n->attr[i].n)
      attr[i] = random_lift_attr(l, n, &n->attr[i]);
  if (op->typed && n->nin &&
      wick_info_of(l->f, n->in[0])->rank == wick_type_get(l->f->module, want)->rank)
    want = wick_type_with_elem(l->f->module, wick_built_type(&l->b, in[0]),
                               wick_info_of(l->f, n->first)->elem);
  uint32_t nnode = l->b.nodes.n, nvalue = l->b.values.n, ncheck = l->b.checks.n;
  wick_value v = wick_build(&l->b, n->op, n->nin, in, n->nattr ? attr : NULL, op->typed, &want);
  bool refused = l->b.status || (l->b.checks.n > ncheck && !l->checks);
  l->b.status = NULL;
  if (!refused) return v;
  l->b.nodes.n = nnode, l->b.values.n = nvalue, l->b.checks.n = ncheck;
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

/* All nodes, as far as they go; false where another constant has become a parameter. */
static bool random_lift_nodes(random_lift *l, const uint32_t *definer)
{
  const wick_func *f = l->f;
  for (uint32_t i = 0; i + 1 < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    bool there = !n->nregion && n->op != WICK_OP_unpool; /* which has a size in numbers */
    for (uint32_t k = 0; k < n->nin; k++) there = there && (!n->in[k].id || l->to[n->in[k].id].id);
    if (!there || l->param[n->first.id]) continue;
    wick_value v = random_lift_build(l, n, true);
    if (!v.id) v = random_lift_build(l, n, false);
    for (uint32_t k = 0; k < n->nout && v.id; k++) l->to[n->first.id + k] = (wick_value){v.id + k};
    for (uint32_t k = 0; k < n->nin && !v.id; k++) {
      uint32_t d = n->in[k].id ? definer[n->in[k].id] : UINT32_MAX;
      if (d == UINT32_MAX || l->nparam == RANDOM_MOST_PARAM ||
          !random_lift_is_param(l, &f->node[d]))
        continue;
      l->param[n->in[k].id] = true;
      l->nparam++;
      return false;
    }
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
    if (v <= f->nparam || l->param[v])
      l->to[v] = wick_build_param(&l->b, random_lift_type(l, wick_type_of(f, (wick_value){v})),
                                  WICK_IN, wick_str_printf(l->tmp, "p%u", n++));
}

/* Up to seven values that nobody uses, the last ones first; false where no size is open. */
static bool random_lift_results(random_lift *l, uint32_t *n, wick_value *out)
{
  bool open = false, *used = wick_new(l->tmp, bool, l->b.values.n);
  for (uint32_t i = 0; i < l->b.nodes.n; i++)
    for (uint32_t k = 0; k < l->b.nodes.at[i].nin; k++) used[l->b.nodes.at[i].in[k].id] = true;
  *n = 0;
  for (uint32_t i = l->b.nodes.n; i-- > 0 && *n < 7;) {
    wick_value v = l->b.nodes.at[i].first;
    const wick_type_info *t = wick_built_info(&l->b, v);
    if (used[v.id] || l->b.nodes.at[i].op == WICK_OP_const || t->kind != WICK_TENSOR) continue;
    for (uint32_t k = 0; k < t->rank; k++) open = open || !wick_dim_is_const(t->dim[k]);
    out[(*n)++] = v;
  }
  return open;
}

/* f, which has no regions, with symbols; NULL where none is left in a result. checks: sizes that
 * may be equal are taken to be. out_sym: the symbols. */
static wick_func *random_lifted(const wick_func *f, bool checks, wick_arena *mem, wick_arena *tmp,
                                wick_dim *out_sym)
{
  random_lift l = {.f = f, .mem = mem, .tmp = tmp, .nparam = f->nparam, .checks = checks};
  l.to = wick_new(tmp, wick_value, f->nvalue + 1);
  l.param = wick_new(tmp, bool, f->nvalue + 1);
  for (uint32_t i = 0; i < RANDOM_NSYMBOL; i++)
    out_sym[i] = l.sym[i] = wick_dim_symbol(f->module->dims, random_symbols[i].name,
                                            random_symbols[i].lo, random_symbols[i].hi);
  const uint32_t *definer = wick_definers_of(f, tmp);
  do random_lift_begin(&l, f->name);
  while (!random_lift_nodes(&l, definer));
  wick_value out[7];
  uint32_t n;
  if (!random_lift_results(&l, &n, out)) return NULL;
  wick_build_return(&l.b, n, out);
  wick_func *lifted;
  return wick_build_end(&l.b, &lifted) ? NULL : lifted;
}

/* ---- one size ---- */

static wick_type random_fixed_type(const wick_func *f, wick_type type, const wick_dim *sym,
                                   const wick_dim *by)
{
  const wick_type_info *t = wick_type_get(f->module, type);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++)
    dim[k] = wick_dim_substitute(f->module->dims, t->dim[k], RANDOM_NSYMBOL, sym, by);
  return wick_type_tensor(f->module, t->elem, t->rank, dim);
}

/* f, which has no regions, with numbers for its symbols; NULL where inference refuses these. */
static wick_func *random_fixed(const wick_func *f, const wick_dim *sym, const int64_t *val,
                               wick_arena *mem, wick_arena *tmp)
{
  wick_builder b;
  wick_value *to = wick_new(tmp, wick_value, f->nvalue + 1);
  wick_dim by[RANDOM_NSYMBOL];
  for (uint32_t i = 0; i < RANDOM_NSYMBOL; i++) by[i] = wick_dim_const(val[i]);
  wick_build_begin(&b, f->module, WICK_GRAPH, f->name, mem);
  for (uint32_t v = 1; v <= f->nparam; v++)
    to[v] = wick_build_param(&b, random_fixed_type(f, f->value[v].type, sym, by), WICK_IN,
                             wick_str_printf(tmp, "p%u", v - 1));
  for (uint32_t i = 0; i < f->nnode && !b.status; i++) {
    const wick_node *n = &f->node[i];
    const wick_op *op = wick_ops[n->op];
    wick_attr *attr = wick_dup(tmp, wick_attr, n->attr, n->nattr);
    wick_value *in = wick_new(tmp, wick_value, n->nin);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = to[n->in[k].id];
    for (uint32_t k = 0; k < n->nattr; k++) {
      if (op->attr[k].kind != WICK_ATTR_DIMS) continue;
      wick_dim *dim = wick_dup(tmp, wick_dim, n->attr[k].dims, n->attr[k].n);
      for (uint32_t j = 0; j < n->attr[k].n; j++)
        dim[j] = wick_dim_substitute(f->module->dims, dim[j], RANDOM_NSYMBOL, sym, by);
      attr[k].dims = dim;
    }
    if (n->op == WICK_OP_return) {
      wick_build_return(&b, n->nin, in);
      break;
    }
    wick_type want = random_fixed_type(f, wick_type_of(f, n->first), sym, by);
    wick_value v = wick_build(&b, n->op, n->nin, in, n->nattr ? attr : NULL, op->typed, &want);
    for (uint32_t k = 0; k < n->nout; k++) to[n->first.id + k] = (wick_value){v.id + k};
  }
  wick_func *fixed;
  return wick_build_end(&b, &fixed) ? NULL : fixed;
}

#endif
