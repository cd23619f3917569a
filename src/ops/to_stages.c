/* Lowers nodes of the graph to stages and to groups. */
#include "ops/to_stages.h"

#include "ops/elementwise/scalar.h"

void wick_node_to_stages(wick_builder *b, const wick_func *f, const wick_node *n,
                         const wick_value *in, wick_value *out)
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
  wick_node_to_stages(&b, f, n, in, result);
  wick_build_return(&b, n->nout, result);
  return wick_build_end(&b, out);
}
