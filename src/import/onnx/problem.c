/* Adds problems of nodes to the caller's list. */
#include "import/onnx/import.h"

void wick_onnx_problem_add(wick_onnx_context *c, const wick_onnx_node *n, wick_status s,
                           const char *location)
{
  wick_import_problems *list = c->options ? c->options->problems : NULL;
  if (!list || !s) return;
  wick_arena *mem = c->b.mem;
  wick_import_problem p = {.op_type = n ? wick_wire_text(mem, n->op_type) : "",
                           .domain = "",
                           .word = "opset",
                           .opset = n ? wick_onnx_opset_of(c->scope, n->domain) : 0};
  if (n) p.domain = wick_onnx_domain_is_own(n->domain) ? "ai.onnx" : wick_wire_text(mem, n->domain);
  wick_span name = n ? n->name : (wick_span){0};
  for (size_t k = 0; n && k < n->output.n && !name.nbytes; k++) name = n->output.at[k];
  wick_import_problem_add(list, s, location, p, n ? wick_onnx_name(c, name) : NULL, mem);
}
