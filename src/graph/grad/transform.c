/* Expansion of transformations in reverse and forward mode. */
#include "graph/grad/transform.h"

#include <string.h>

#include "graph/grad/convert.h"
#include "graph/grad/forward.h"
#include "graph/grad/reverse.h"
#include "graph/grad/shadow.h"
#include "ir/call.h"
#include "ops/gradient/grad.h"

/* Returns the function that n transforms. NULL after a failure. */
static const wick_func *transform_callee(wick_copier *c, const wick_node *n)
{
  const char *name = n->attr[WICK_ATTR_value_and_grad_callee].s;
  const wick_func *f = wick_module_find(c->b.module, name);
  if (f && f->level == WICK_GRAPH) return f;
  wick_build_fail(&c->b, WICK_EINVAL, "there is no function @%s", name);
  return NULL;
}

/* Returns a value of its own that is x. References get shadows, which are values of their own. */
static wick_value transform_again(wick_builder *b, wick_value x)
{
  if (b->status) return x;
  wick_kind kind = wick_built_info(b, x)->kind;
  if (kind == WICK_REF) return x;
  if (kind == WICK_TENSOR) return wick_build_again(b, x);
  wick_value c = wick_build_const(b, wick_type_tensor(b->module, WICK_BOOL, 0, NULL), 0, 1);
  wick_build_open(b, WICK_OP_if, 1, &c, NULL, 0, NULL);
  for (uint32_t arm = 0; arm < 2; arm++) {
    wick_region_begin(b, 0, NULL);
    wick_yield(b, 1, &x);
  }
  return wick_build_close(b);
}

/* Sets `in` to the operands. One of the first `count`, the arguments, that is another one, too, gets a
 * value of its own, because each is a variable of its own. */
static void transform_operands(wick_copier *c, const wick_node *n, uint32_t count, wick_value *in)
{
  for (uint32_t k = 0; k < n->nin; k++) {
    bool twice = false;
    in[k] = c->to[n->in[k].id];
    for (uint32_t i = 0; i < k && k < count; i++) twice = twice || in[i].id == in[k].id;
    if (twice) in[k] = transform_again(&c->b, in[k]);
  }
}

/* Returns a name for what this expansion adds to the module, which no other has. */
static const char *transform_prefix(wick_builder *b, const wick_func *f)
{
  wick_module *m = b->module;
  for (uint32_t k = 0;; k++) {
    const char *s = k ? wick_str_printf(b->mem, "%s.kept.%u", f->name, k)
                      : wick_str_printf(b->mem, "%s.kept", f->name);
    if (!wick_names_find(&m->names, s, strlen(s))) return wick_intern(m, s);
  }
}

/* Returns whether parameters of type t have cotangents inside. Data without floats has none. */
static bool transform_moves(const wick_builder *b, wick_type t)
{
  return wick_type_get(b->module, t)->kind != WICK_DATA || wick_has_cotangent(b->module, t);
}

/* Begins reverse mode of f with respect to the parameters in `by`: sets `active`, and makes the
 * functions that are called. Returns f as it is to be built. */
static const wick_func *transform_begin(wick_reverse *r, wick_builder *b, const wick_func *f,
                                        const wick_attr *by, const char *prefix, bool *active)
{
  *r = (wick_reverse){.m = b->module, .mem = b->mem};
  for (uint32_t i = 0; i < by->n; i++)
    active[by->ints[i]] = transform_moves(b, f->value[1 + by->ints[i]].type);
  f = wick_reverse_open(r, wick_reverse_caller(r, f));
  if (!r->status) wick_reverse_functions(r, f, active, prefix);
  b->status = r->status;
  return f;
}

/* Gives the operands for the parameters of f the types that they have inside. */
static void transform_enter(wick_builder *b, const wick_func *f, wick_value *in)
{
  const wick_value *outside = wick_dup(b->mem, wick_value, in, f->nparam + 1u);
  for (uint32_t k = 0; k < f->nparam && !b->status; k++)
    in[k] = wick_shadow_enter(b, f, k, in[k], outside);
}

/* Builds f, which transform_begin returned, on `in`; then from the cotangents of its results, or of 1 for
 * the first one, those of its active parameters, in the order of `by`. */
static void transform_pull(wick_reverse *r, wick_builder *b, const wick_func *f,
                           const wick_attr *by, const char *prefix, const wick_value *in,
                           const bool *active, const wick_value *dout, wick_value *out,
                           wick_value *got)
{
  uint32_t nout = wick_return(f)->nin, ntype = 0, begin = b->nodes.n, nof = 0, nwrt = 0;
  wick_value *of = wick_new(b->mem, wick_value, nout + 1u),
             *seed = wick_new(b->mem, wick_value, nout + 1u),
             *wrt = wick_new(b->mem, wick_value, by->n + 1);
  wick_reverse_walk w = {.r = r, .b = b, .prefix = prefix, .ntype = &ntype};
  if (!b->status) wick_reverse_body(&w, f, in, active, NULL, out);
  if (r->status) b->status = r->status;
  if (b->status) return;
  for (uint32_t i = 0; i < by->n; i++)
    if (active[by->ints[i]]) wrt[nwrt++] = in[by->ints[i]];
  uint32_t end = b->nodes.n;
  for (uint32_t k = 0; k < nout && dout; k++)
    if (dout[k].id) of[nof] = out[k], seed[nof++] = dout[k];
  if (!dout) of[nof] = out[0], seed[nof++] = wick_grad_fill(b, out[0], 1);
  const wick_grad_request q = {.begin = begin,
                               .end = end,
                               .nof = nof,
                               .of = of,
                               .cotangent = seed,
                               .nwrt = nwrt,
                               .wrt = wrt,
                               .nown = w.own.n,
                               .own = w.own.at};
  wick_grad_build(b, &q, got);
}

void wick_expand_value_and_grad(wick_copier *c, const wick_node *n)
{
  wick_builder *b = &c->b;
  wick_reverse r;
  const wick_func *f = transform_callee(c, n);
  const wick_attr *by = &n->attr[WICK_ATTR_value_and_grad_wrt];
  if (!f || b->status) return;
  uint32_t nout = wick_return(f)->nin;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u), *out = &c->to[n->first.id],
             *got = wick_new(b->mem, wick_value, by->n + 1);
  bool *active = wick_new(b->mem, bool, f->nparam + 1);
  const char *prefix = transform_prefix(b, f);
  transform_operands(c, n, n->nin, in);
  f = transform_begin(&r, b, f, by, prefix, active);
  transform_enter(b, f, in);
  transform_pull(&r, b, f, by, prefix, in, active, NULL, out, got);
  for (uint32_t k = 0; k < nout && !b->status; k++)
    out[k] = wick_shadow_leave(b, out[k], wick_type_of(c->f, (wick_value){n->first.id + k}));
  for (uint32_t i = 0, at = 0; i < by->n && !b->status; i++) {
    wick_value x = in[by->ints[i]], d = {0};
    if (active[by->ints[i]]) d = got[at++].id ? got[at - 1] : wick_grad_fill(b, x, 0);
    out[nout + i] =
        wick_convert_out(b, d, x, wick_type_of(c->f, (wick_value){n->first.id + nout + i}));
  }
}

/* Adds a function of captured values and cotangents of u's results, as the program declares them,
 * which returns cotangents of the parameters in `by`. Returns its name. */
static const char *transform_back(wick_builder *b, const wick_reverse_unit *u, const wick_attr *by,
                                  const wick_type_info *fn, const bool *captured,
                                  const char *prefix)
{
  wick_builder c;
  wick_func *made = NULL;
  const wick_func *f = u->f;
  const wick_node *end = wick_return(f);
  uint32_t n, nby = 0, at = 0;
  const char *name = wick_intern(b->module, wick_str_printf(b->mem, "%s.back", prefix));
  wick_build_begin(&c, b->module, WICK_GRAPH, name, b->mem);
  wick_value *param = wick_new(b->mem, wick_value, f->nparam + 1),
             *kept = wick_new(b->mem, wick_value, u->nkept + 1),
             *dout = wick_new(b->mem, wick_value, end->nin + 1u),
             *got = wick_new(b->mem, wick_value, f->nparam + 1),
             *out = wick_new(b->mem, wick_value, by->n + 1);
  for (uint32_t k = 0; k < f->nparam; k++)
    if (captured[k]) param[k] = wick_build_param(&c, f->value[1 + k].type, WICK_IN, NULL);
  for (uint32_t k = 0; k < u->nkept; k++) kept[k] = wick_build_param(&c, u->kept[k], WICK_IN, NULL);
  for (uint32_t k = 0; k < end->nin; k++)
    if (wick_declares_cotangent(b->module, wick_type_of(f, end->in[k])))
      dout[k] = wick_build_param(&c, fn->item[at++], WICK_IN, NULL);
  for (uint32_t k = 0; k < end->nin; k++)
    if (!wick_has_cotangent(b->module, wick_type_of(f, end->in[k])))
      dout[k].id = 0;
    else if (dout[k].id)
      dout[k] = wick_convert_in(&c, dout[k],
                                wick_shadow_type(b->module, wick_type_of(f, end->in[k]), b->mem));
  wick_value *in = wick_reverse_operands(&c, u, param, kept, dout, param, &n);
  for (uint32_t k = 0; k < f->nparam; k++) nby += u->active[k];
  const wick_node shape = {.nout = (uint16_t)nby};
  if (!c.status) wick_build_body(&c, u->bwd, &shape, in, got);
  for (uint32_t i = 0; i < by->n && !c.status; i++) {
    uint32_t nth = 0;
    for (int64_t k = 0; k < by->ints[i]; k++) nth += u->active[k];
    wick_type to = fn->item[fn->ntake + i];
    uint32_t k = (uint32_t)by->ints[i];
    if (!u->active[k])
      out[i] = wick_convert_out(&c, (wick_value){0}, param[k], to);
    else if (!param[k].id)
      out[i] = got[nth];
    else
      out[i] = wick_convert_out(&c, got[nth], wick_shadow_enter(&c, f, k, param[k], NULL), to);
  }
  wick_build_return(&c, by->n, out);
  wick_status s = wick_build_end(&c, &made);
  if (s && !b->status) b->status = s;
  if (!s) wick_module_set(b->module, made);
  return name;
}

void wick_expand_vjp(wick_copier *c, const wick_node *n)
{
  wick_builder *b = &c->b;
  wick_reverse r;
  const wick_func *f = transform_callee(c, n);
  const wick_attr *by = &n->attr[WICK_ATTR_vjp_wrt];
  if (!f || b->status) return;
  uint32_t nout = wick_return(f)->nin, ntype = 0, ncaptured = 0;
  const char *prefix = transform_prefix(b, f);
  bool *active = wick_new(b->mem, bool, f->nparam + 1);
  f = transform_begin(&r, b, f, by, prefix, active);
  wick_reverse_unit u = {
      .f = f, .outside = true, .active = active, .sum = wick_new(b->mem, wick_type, f->nparam + 1)};
  if (!b->status) wick_reverse_halves(&r, &u, prefix, &ntype);
  if (r.status) b->status = r.status;
  if (b->status) return;
  wick_type type = wick_type_of(c->f, (wick_value){n->first.id + nout});
  bool *captured = wick_dup(b->mem, bool, u.needs, f->nparam + 1u);
  for (uint32_t i = 0; i < by->n; i++)
    if (wick_info_of(f, (wick_value){1 + (uint32_t)by->ints[i]})->kind == WICK_DATA)
      captured[by->ints[i]] = true;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u),
             *out = wick_new(b->mem, wick_value, nout + u.nkept + 1),
             *held = wick_new(b->mem, wick_value, f->nparam + u.nkept + 1);
  for (uint32_t k = 0; k < n->nin; k++) {
    in[k] = c->to[n->in[k].id];
    if (captured[k]) held[ncaptured++] = in[k];
  }
  const wick_node shape = {.nout = (uint16_t)(nout + u.nkept)};
  wick_build_body(b, u.fwd, &shape, in, out);
  for (uint32_t k = 0; k < u.nkept; k++) held[ncaptured++] = out[nout + k];
  for (uint32_t k = 0; k < nout; k++) c->to[n->first.id + k] = out[k];
  wick_attr callee = {
      .s = transform_back(b, &u, by, wick_type_get(b->module, type), captured, prefix)};
  c->to[n->first.id + nout] = wick_build(b, WICK_OP_closure, ncaptured, held, &callee, 1, &type);
}

static bool transform_has_refs(const wick_func *f)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_ref_new) return true;
  return false;
}

/* Calls are inlined while functions are walked; those that take references first, so that these can
 * be promoted. */
void wick_expand_jvp(wick_copier *c, const wick_node *n)
{
  wick_builder *b = &c->b;
  const wick_func *f = transform_callee(c, n);
  const wick_attr *by = &n->attr[WICK_ATTR_jvp_wrt];
  if (!f || b->status) return;
  wick_reverse r = {.m = b->module, .mem = b->mem};
  f = wick_reverse_caller(&r, f);
  if (wick_func_reaches(f, transform_has_refs, b->mem)) f = wick_reverse_open(&r, f);
  if ((b->status = r.status)) return;
  uint32_t nout = wick_return(f)->nin;
  wick_value *in = wick_new(b->mem, wick_value, n->nin + 1u), *out = &c->to[n->first.id],
             *tangent = wick_new(b->mem, wick_value, f->nparam + 1);
  transform_operands(c, n, f->nparam, in);
  transform_enter(b, f, in);
  for (uint32_t i = 0; i < by->n && !b->status; i++) {
    wick_type of = wick_built_type(b, in[by->ints[i]]);
    if (transform_moves(b, of)) tangent[by->ints[i]] = wick_convert_in(b, in[f->nparam + i], of);
  }
  wick_value *got = wick_new(b->mem, wick_value, nout + 1u);
  wick_forward_body(b, f, in, tangent, out, got);
  for (uint32_t k = 0, at = nout; k < nout && !b->status; k++) {
    if (!wick_declares_cotangent(b->module, wick_built_type(b, out[k]))) continue;
    wick_type type = wick_type_of(c->f, (wick_value){n->first.id + at});
    if (!got[k].id && wick_grad_has(b, out[k])) got[k] = wick_grad_fill(b, out[k], 0);
    out[at++] = wick_convert_out(b, got[k], out[k], type);
  }
  for (uint32_t k = 0; k < nout && !b->status; k++)
    out[k] = wick_shadow_leave(b, out[k], wick_type_of(c->f, (wick_value){n->first.id + k}));
}

/* ---- with_vjp in forward mode ---- */

/* Returns whether cotangents of the other function's parameters can be built: not of data, whose cotangents
 * have another type, and not beside references, whose shadows hold tangents. */
static bool transform_is_linear(const wick_module *m, const wick_func *g)
{
  bool is = true;
  for (uint32_t k = 0; k < g->nparam && is; k++) {
    wick_type t = g->value[1 + k].type;
    is = !wick_shadow_changes(m, t) &&
         (wick_type_get(m, t)->kind != WICK_DATA || !wick_has_cotangent(m, t));
  }
  return is;
}

bool wick_tangent_with_vjp(wick_builder *b, const wick_node *n, const wick_value *in,
                           wick_value first, const wick_value *tangent, wick_value *out)
{
  const wick_func *g = wick_module_find(b->module, n->attr[WICK_ATTR_with_vjp_vjp].s);
  if (b->status || !g || g->level != WICK_GRAPH || !transform_is_linear(b->module, g)) return false;
  uint32_t nparam = g->nparam, at = n->nin, nth = 0, nout = wick_return(g)->nin;
  wick_value *arg = wick_new(b->mem, wick_value, nparam + 1),
             *dout = wick_new(b->mem, wick_value, nout + 1u),
             *made = wick_new(b->mem, wick_value, nout + 1u),
             *got = wick_new(b->mem, wick_value, nparam + 1);
  wick_attr by = {0};
  int64_t *list = wick_new(b->mem, int64_t, nparam + 1u);
  bool *active = wick_new(b->mem, bool, nparam + 1), any = false;
  for (uint32_t k = 0; k < n->nin; k++) arg[k] = in[k];
  for (uint32_t k = 0; k < n->nout && at < nparam; k++)
    if (wick_grad_has(b, (wick_value){first.id + k}))
      list[by.n++] = at, arg[at++] = wick_grad_fill(b, (wick_value){first.id + k}, 0);
  for (uint32_t k = (uint32_t)n->attr[WICK_ATTR_with_vjp_constants].i; k < n->nin; k++)
    if (wick_grad_has(b, in[k])) any = any || tangent[k].id, dout[nth++] = tangent[k];
  if (!any) return true; /* all that has a tangent is constant */
  by.ints = list;
  const char *prefix = transform_prefix(b, g);
  wick_reverse r;
  g = transform_begin(&r, b, g, &by, prefix, active);
  transform_pull(&r, b, g, &by, prefix, arg, active, dout, made, got);
  for (uint32_t k = 0, i = 0; k < n->nout && !b->status; k++)
    if (wick_grad_has(b, (wick_value){first.id + k})) out[k] = got[i++];
  return true;
}
