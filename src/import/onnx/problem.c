/* Collects the problems of an import for programs and lists. Equal problems of several nodes become
 * one, with the names of the first nodes. */
#include <string.h>

#include "import/onnx/import.h"

static bool problem_same(const wick_onnx_problem *a, const wick_onnx_problem *b)
{
  return a->code == b->code && a->opset == b->opset && strcmp(a->op_type, b->op_type) == 0 &&
         strcmp(a->domain, b->domain) == 0 && strcmp(a->what, b->what) == 0;
}

/* Finds an equal problem in the list. Problems that concern no node must also have equal
 * locations. */
static wick_onnx_problem *problem_find(wick_onnx_problems *list, const wick_onnx_problem *p)
{
  for (uint32_t i = 0; i < list->n; i++)
    if (problem_same(&list->at[i], p) &&
        (*p->op_type || strcmp(list->at[i].location, p->location) == 0))
      return &list->at[i];
  return NULL;
}

void wick_onnx_problem_add(wick_onnx_context *c, const wick_onnx_node *n, wick_status s,
                           const char *location)
{
  wick_onnx_problems *list = c->options ? c->options->problems : NULL;
  if (!list || !s) return;
  wick_arena *mem = c->b.mem;
  size_t head = location ? strlen(location) : 0;
  bool placed = head && strncmp(s->message, location, head) == 0 && s->message[head] == ':';
  wick_onnx_problem p = {.code = s->code,
                         .location = wick_str_dup(mem, placed ? location : ""),
                         .what = wick_str_dup(mem, s->message + (placed ? head + 2 : 0)),
                         .op_type = n ? wick_wire_text(mem, n->op_type) : "",
                         .domain = "",
                         .opset = n ? wick_onnx_opset_of(c->scope, n->domain) : 0};
  if (n) p.domain = wick_onnx_domain_is_own(n->domain) ? "ai.onnx" : wick_wire_text(mem, n->domain);
  wick_onnx_problem *known = problem_find(list, &p);
  if (!known && list->n >= WICK_ONNX_PROBLEMS) {
    list->more++;
    return;
  }
  if (!known) {
    wick_push(mem, list, p);
    known = &list->at[list->n - 1];
  }
  wick_span name = n ? n->name : (wick_span){0};
  for (size_t k = 0; n && k < n->output.n && !name.nbytes; k++) name = n->output.at[k];
  if (n && known->count < WICK_ONNX_NAMES)
    known->node[known->count] = wick_str_dup(mem, wick_onnx_name(c, name));
  known->count++;
}
