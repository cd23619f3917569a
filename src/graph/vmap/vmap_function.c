/* Batches of nodes that name functions until all differentiation around them is done: checkpoint
 * and with_vjp. They name functions of all rows. */
#include "graph/vmap/vmap_state.h"
#include "ops/gradient/grad.h"

static const char *function_name(wick_module *m, const char *of)
{
  for (uint32_t k = 0;; k++) {
    const char *name =
        k ? wick_str_printf(&m->mem, "%s.rows%u", of, k) : wick_str_printf(&m->mem, "%s.rows", of);
    if (!wick_module_find(m, name)) return wick_intern(m, name);
  }
}

static bool function_is_float(const wick_func *f, wick_value v)
{
  return WICK_FLOATS >> wick_info_of(f, v)->elem & 1;
}

/* Builds f for all rows, as a function of the module; `batched` says which parameters have rows.
 * Results are cotangents of the parameters of `of` (NULL: none) after the first `constants`; those of
 * parameters without rows are sums over the rows. Returns its name. */
static const char *function_build(const wick_batching *a, const wick_func *f, const bool *batched,
                                  const wick_func *of, uint32_t constants)
{
  wick_builder own;
  wick_module *m = a->b->module;
  wick_func *made;
  uint32_t nout = wick_return(f)->nin, at = 0;
  int64_t first = 0;
  wick_value *in = wick_new(a->b->mem, wick_value, f->nparam + 1u),
             *out = wick_new(a->b->mem, wick_value, nout + 1u);
  wick_type *type = wick_new(a->b->mem, wick_type, f->nparam + nout + 1u);
  wick_node call = *a->node;
  const char *name = function_name(m, f->name);
  wick_build_begin(&own, m, WICK_GRAPH, name, a->b->mem);
  wick_batching b = {
      .b = &own, .node = &call, .n = a->n, .in = in, .batched = batched, .type = type, .out = out};
  for (uint32_t k = 0; k < f->nparam; k++) {
    type[k] = wick_type_of(f, (wick_value){1 + k});
    in[k] = wick_build_param(&own, batched[k] ? wick_batch_type(&b, k) : type[k], WICK_IN, NULL);
  }
  call.nin = (uint16_t)f->nparam, call.nout = (uint16_t)nout;
  vmap_body(&own, f, &b);
  for (uint32_t k = constants; of && k < of->nparam; k++) {
    if (!function_is_float(of, (wick_value){1 + k})) continue;
    if (!batched[k]) out[at] = wick_grad_sum(&own, out[at], 1, &first, false);
    at++;
  }
  wick_build_return(&own, nout, out);
  wick_status s = wick_build_end(&own, &made);
  if (s && !a->b->status) a->b->status = s;
  if (!s) wick_module_set(m, made);
  return name;
}

static void function_call(wick_batching *a, const wick_attr *attr)
{
  wick_batch_results(a, wick_batch_build(a, a->in, attr));
}

void wick_batch_checkpoint(wick_batching *a)
{
  wick_attr *attr = wick_batch_attrs(a);
  const wick_func *f = wick_module_find(a->b->module, attr[WICK_ATTR_checkpoint_callee].s);
  if (!f || a->mask.id || !vmap_has_form(f, a->b->mem)) {
    wick_batch_rows(a);
    return;
  }
  attr[WICK_ATTR_checkpoint_callee].s = function_build(a, f, a->batched, NULL, 0);
  function_call(a, attr);
}

void wick_batch_with_vjp(wick_batching *a)
{
  wick_module *m = a->b->module;
  wick_attr *attr = wick_batch_attrs(a);
  const wick_func *f = wick_module_find(m, attr[WICK_ATTR_with_vjp_callee].s),
                  *g = wick_module_find(m, attr[WICK_ATTR_with_vjp_vjp].s);
  if (!f || !g || a->mask.id || !vmap_has_form(f, a->b->mem) || !vmap_has_form(g, a->b->mem)) {
    wick_batch_rows(a);
    return;
  }
  bool *batched = wick_new(a->b->mem, bool, g->nparam + 1u);
  for (uint32_t k = 0; k < g->nparam; k++) batched[k] = k >= f->nparam || a->batched[k];
  attr[WICK_ATTR_with_vjp_callee].s = function_build(a, f, a->batched, NULL, 0);
  attr[WICK_ATTR_with_vjp_vjp].s =
      function_build(a, g, batched, f, (uint32_t)attr[WICK_ATTR_with_vjp_constants].i);
  function_call(a, attr);
}
