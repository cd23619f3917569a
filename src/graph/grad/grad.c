/* Differentiates a function: copies it and appends its cotangents. */
#include "graph/grad/grad.h"

#include <string.h>

#include "graph/merge_loops.h"
#include "graph/region_dce.h"
#include "ir/copy.h"
#include "ops/gradient/grad.h"

static bool grad_taken(const wick_builder *b, uint32_t name)
{
  for (uint32_t i = 1; i < b->values.n; i++)
    if (b->values.at[i].name == name) return true;
  return false;
}

uint32_t wick_gradient_name(const wick_builder *b, uint32_t name)
{
  wick_module *m = b->module;
  const char *own = wick_names_get(&m->names, name);
  uint32_t made = 0;
  if (!name || !*own) return 0;
  for (uint32_t k = 1; !made || grad_taken(b, made); k++) {
    const char *s = k == 1 ? wick_str_printf(&m->mem, "%s.grad", own)
                           : wick_str_printf(&m->mem, "%s.grad%u", own, k);
    made = wick_names_add(&m->names, s, strlen(s));
  }
  return made;
}

/* Returns a value that may carry a name of its own: v, or a copy of v if v already is another
 * result. */
static wick_value grad_result(wick_builder *b, wick_value v, uint32_t name)
{
  if (b->status) return v;
  if (v.id <= b->nparam || b->values.at[v.id].name) v = wick_build_again(b, v);
  if (name && !b->status) wick_build_name(b, v, name, WICK_REL_SAME);
  return v;
}

static void grad_cotangents(wick_copier *c, const wick_gradient *g, wick_value *out)
{
  wick_module *m = c->b.module;
  for (uint32_t i = 0; i < g->nof; i++) {
    const wick_value_info *v = &c->f->value[g->of[i].id];
    uint32_t name = wick_gradient_name(&c->b, v->name);
    out[i] =
        wick_build_param(&c->b, v->type, WICK_IN, name ? wick_names_get(&m->names, name) : NULL);
  }
}

static void grad_copy(wick_copier *c, const wick_node *n)
{
  if (wick_op_of(n)->grad == wick_grad_opened)
    wick_copy_opened(c, n);
  else
    wick_copy_node(c, n);
}

wick_status wick_differentiate(const wick_func *f, const wick_gradient *g, wick_arena *mem,
                               wick_func **out)
{
  wick_copier c = wick_copy_begin(f, mem);
  wick_builder *b = &c.b;
  const wick_node *end = wick_return(f);
  wick_value *of = wick_new(mem, wick_value, g->nof), *seed = wick_new(mem, wick_value, g->nof),
             *wrt = wick_new(mem, wick_value, g->nwrt + 1),
             *result = wick_new(mem, wick_value, end->nin + g->nwrt + 1u);
  if (g->given) grad_cotangents(&c, g, seed);
  for (uint32_t i = 0; i + 1 < f->nnode; i++) grad_copy(&c, &f->node[i]);
  if (b->status) return wick_copy_finish(&c, out);
  uint32_t n = b->nodes.n;
  for (uint32_t i = 0; i < g->nwrt; i++) wrt[i] = c.to[g->wrt[i].id];
  for (uint32_t i = 0; i < g->nof; i++) {
    of[i] = c.to[g->of[i].id];
    if (!g->given) seed[i] = wick_build_const(b, wick_built_type(b, of[i]), 1, 1);
  }
  const wick_grad_request request = {
      .end = n, .nof = g->nof, .of = of, .cotangent = seed, .nwrt = g->nwrt, .wrt = wrt};
  wick_grad_build(b, &request, result + end->nin);
  for (uint32_t i = 0; i < end->nin; i++) result[i] = c.to[end->in[i].id];
  for (uint32_t i = 0; i < g->nwrt && !b->status; i++) {
    wick_value *r = &result[end->nin + i];
    if (!r->id) *r = wick_build_const(b, wick_built_type(b, wrt[i]), 0, 0);
    *r = grad_result(b, *r, wick_gradient_name(b, b->values.at[wrt[i].id].name));
  }
  wick_build_return(b, end->nin + g->nwrt, result);
  WICK_TRY(wick_copy_finish(&c, out));
  /* Derivatives run loops again with everything that might be kept, so similar loops are merged. */
  const wick_pass_context pass = {.mem = mem};
  WICK_TRY(wick_pass_merge_loops(&pass, *out, out));
  return wick_pass_region_dce(&pass, *out, out);
}

/* ---- by name ---- */

static bool grad_possible(const wick_func *f, wick_value v)
{
  const wick_type_info *t = wick_info_of(f, v);
  return t->kind == WICK_TENSOR && WICK_FLOATS >> t->elem & 1;
}

/* Finds a value by name: first among the results, then among all values, and last among the
 * constants. */
static wick_value grad_find(const wick_func *f, const char *name)
{
  const wick_module *m = f->module;
  const wick_node *end = wick_return(f);
  uint32_t own = wick_names_find(&m->names, name, strlen(name));
  for (uint32_t i = 0; own && i < end->nin; i++)
    if (f->value[end->in[i].id].name == own) return end->in[i];
  for (uint32_t i = 1; own && i <= f->nvalue; i++)
    if (f->value[i].name == own) return (wick_value){i};
  uint32_t constant = wick_constant_find(m, name);
  for (uint32_t i = 0; constant && i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_const && wick_const_imm(&f->node[i])->constant == constant)
      return f->node[i].first;
  return (wick_value){0};
}

static wick_status grad_find_one(const wick_func *f, const char *name, wick_arena *mem,
                                 wick_value *out)
{
  *out = grad_find(f, name);
  if (!out->id) return wick_fail(mem, WICK_EINVAL, NULL, "there is no tensor \"%s\"", name);
  if (grad_possible(f, *out)) return NULL;
  return wick_fail(mem, WICK_EINVAL, NULL, "\"%s\" has no derivatives: its elements are %s", name,
                   wick_elem_name(wick_info_of(f, *out)->elem));
}

wick_status wick_gradient_find(const wick_func *f, const char *of, uint32_t nwrt,
                               const char *const *wrt, wick_arena *mem, wick_gradient *out)
{
  const wick_node *end = wick_return(f);
  wick_value *y = wick_new(mem, wick_value, 1),
             *x = wick_new(mem, wick_value, nwrt > f->nparam ? nwrt : f->nparam + 1);
  *out = (wick_gradient){.nof = 1, .of = y, .nwrt = nwrt, .wrt = x};
  if (of) {
    WICK_TRY(grad_find_one(f, of, mem, y));
  } else {
    if (!end->nin || !grad_possible(f, end->in[0]))
      return wick_fail(mem, WICK_EINVAL, NULL, "the first result has no derivatives");
    *y = end->in[0];
  }
  for (uint32_t i = 0; i < nwrt; i++) WICK_TRY(grad_find_one(f, wrt[i], mem, &x[i]));
  for (uint32_t i = 1; !nwrt && i <= f->nparam; i++)
    if (!wick_is_state(f->qual[i - 1]) && grad_possible(f, (wick_value){i}))
      x[out->nwrt++] = (wick_value){i};
  return NULL;
}

wick_status wick_pass_grad(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  wick_gradient g;
  const wick_node *end = wick_return(f);
  bool acts = end->nin && grad_possible(f, end->in[0]);
  if (acts) {
    WICK_TRY(wick_gradient_find(f, NULL, 0, NULL, mem, &g));
    acts = g.nwrt != 0;
  }
  if (!acts) g = (wick_gradient){0};
  return wick_differentiate(f, &g, mem, out);
}
