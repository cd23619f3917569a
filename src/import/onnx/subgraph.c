/* Imports graphs within nodes: branches and bodies. The names around them are visible. */
#include "import/onnx/import.h"

wick_onnx_trial wick_onnx_trial_begin(wick_onnx_op *o)
{
  wick_onnx_context *c = o->c;
  return (wick_onnx_trial){.errors = c->errors,
                           .unsupported = c->unsupported.n,
                           .misfits = c->misfits,
                           .unknown = c->unknown,
                           .sizes = c->sizes,
                           .bounded = c->bounded.n,
                           .nodes = c->b.nodes.n,
                           .values = c->b.values.n,
                           .open = c->b.open.n,
                           .checks = c->b.constraints.n,
                           .branch_checks = c->b.branch_constraints.n};
}

bool wick_onnx_trial_good(const wick_onnx_op *o, const wick_onnx_trial *t)
{
  const wick_onnx_context *c = o->c;
  return !c->b.status && !c->over && c->errors.list.n == t->errors.list.n &&
         c->errors.more == t->errors.more && c->unsupported.n == t->unsupported;
}

void wick_onnx_trial_undo(wick_onnx_op *o, const wick_onnx_trial *t)
{
  wick_onnx_context *c = o->c;
  if (c->over) return;
  c->errors.list.n = t->errors.list.n, c->errors.more = t->errors.more;
  c->unsupported.n = t->unsupported, c->bounded.n = t->bounded;
  c->misfits = t->misfits, c->unknown = t->unknown, c->sizes = t->sizes;
  uint32_t given = 0;
  for (uint32_t i = 0; i < c->given.n; i++)
    if (c->given.at[i].v.id < t->values) c->given.at[given++] = c->given.at[i];
  c->given.n = given;
  c->b.nodes.n = t->nodes, c->b.values.n = t->values, c->b.open.n = t->open;
  c->b.constraints.n = t->checks, c->b.branch_constraints.n = t->branch_checks;
  c->b.status = NULL;
  o->failed = false;
}

void wick_onnx_trial_stop(wick_onnx_op *o, const wick_onnx_trial *t)
{
  wick_onnx_context *c = o->c;
  if (c->b.status) wick_errors_add(&c->errors, c->b.status);
  c->b.status = NULL;
  c->b.open.n = t->open;
  o->failed = true;
}

bool wick_onnx_subgraph(wick_onnx_op *o, const wick_onnx_graph *g, uint32_t nin,
                        const wick_value *in, wick_value *out)
{
  wick_onnx_context *c = o->c;
  wick_onnx_trial t = wick_onnx_trial_begin(o);
  wick_onnx_scope *around = c->scope, *s = wick_onnx_scope_make(c, around->opsets);
  s->around = around;
  s->call = around->call, s->outer = around->outer, s->function = around->function;
  if (g->input.n != nin) {
    wick_onnx_fail(o, WICK_EPARSE, "its graph \"%s\" takes %zu values, expected %u",
                   wick_onnx_name(c, g->name), g->input.n, nin);
    return false;
  }
  if (!wick_onnx_enter(c, s)) return false;
  for (uint32_t i = 0; i < nin; i++)
    wick_onnx_bind(c, g->input.at[i].name, (wick_onnx_binding){.v = in[i]});
  wick_onnx_import_initializers(c, g);
  wick_onnx_import_nodes(c, &g->node);
  for (size_t k = 0; k < g->output.n && !c->over; k++)
    out[k] = wick_onnx_use(c, g->output.at[k].name, o->location, "the graph's output").v;
  wick_onnx_leave(c, around);
  c->b.loc = wick_loc_add(c->module, o->location);
  bool good = wick_onnx_trial_good(o, &t);
  for (size_t k = 0; k < g->output.n; k++)
    good = good && out[k].id && wick_onnx_whole(o, out[k], "an output of its graph");
  return good;
}
