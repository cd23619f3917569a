/* Nodes of the graph as rows with stages, and as groups. */
#include "ops/lower.h"

#include "ops/scalar.h"

static bool lower_applies(const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  return op->expand && !op->compute && !op->scalar;
}

static wick_func *lower_once(const wick_func *f, wick_arena *mem)
{
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (!lower_applies(n)) {
      wick_copy_node(&c, n);
      continue;
    }
    wick_value *in = wick_new(mem, wick_value, n->nin), *out = wick_new(mem, wick_value, n->nout);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    wick_op_of(n)->expand(&c.b, n, in, out);
    for (uint32_t k = 0; k < n->nout; k++) {
      const wick_value_info *v = &f->value[n->first.id + k];
      c.to[n->first.id + k] = out[k];
      wick_build_name(&c.b, out[k], v->name, v->relation);
    }
  }
  return wick_copy_end(&c);
}

wick_func *wick_pass_lower(const wick_func *f, wick_arena *mem)
{
  bool again = true;
  wick_func *r = lower_once(f, mem); /* a copy at least: passes return new functions */
  while (again) {
    again = false;
    for (uint32_t i = 0; i < r->nnode; i++) again = again || lower_applies(&r->node[i]);
    if (again) r = lower_once(r, mem);
  }
  return r;
}

void wick_lower_node(wick_builder *b, const wick_func *f, const wick_node *n, const wick_value *in,
                     wick_value *out)
{
  void (*compute)(const wick_compute *) = wick_compute_of(n->op);
  if (b->status) return;
  b->loc = n->loc;
  if (!compute) {
    wick_build_fail(b, WICK_EUNSUPPORTED, "%s has no definition in stages", wick_op_of(n)->name);
    return;
  }
  wick_type *type = wick_new(b->mem, wick_type, n->nout);
  for (uint32_t k = 0; k < n->nout; k++) type[k] = wick_type_of(f, (wick_value){n->first.id + k});
  compute(&(wick_compute){.op = n->op,
                          .b = b,
                          .attr = n->attr,
                          .nin = n->nin,
                          .nout = n->nout,
                          .in = in,
                          .out = out,
                          .out_type = type});
}

wick_status wick_group_of_node(const wick_func *f, const wick_node *n, const char *name,
                               wick_arena *mem, wick_func **out)
{
  wick_builder b;
  wick_build_begin(&b, f->module, WICK_GROUP, name, mem);
  wick_value *in = wick_new(mem, wick_value, n->nin), *result = wick_new(mem, wick_value, n->nout);
  for (uint32_t k = 0; k < n->nin; k++)
    if (n->in[k].id) in[k] = wick_build_param(&b, wick_type_of(f, n->in[k]), WICK_IN, NULL);
  wick_lower_node(&b, f, n, in, result);
  wick_build_return(&b, n->nout, result);
  return wick_build_end(&b, out);
}
