/* Collects the problems of an import for programs and lists. Equal problems of several nodes become
 * one, with the names of the first nodes. */
#include <string.h>

#include "import/kit/options.h"

static bool problem_same(const wick_import_problem *a, const wick_import_problem *b)
{
  return a->code == b->code && a->opset == b->opset && strcmp(a->op_type, b->op_type) == 0 &&
         strcmp(a->domain, b->domain) == 0 && strcmp(a->what, b->what) == 0;
}

/* Finds an equal problem in the list. Problems that concern no node must also have equal
 * locations. */
static wick_import_problem *problem_find(wick_import_problems *list, const wick_import_problem *p)
{
  for (uint32_t i = 0; i < list->n; i++)
    if (problem_same(&list->at[i], p) &&
        (*p->op_type || strcmp(list->at[i].location, p->location) == 0))
      return &list->at[i];
  return NULL;
}

void wick_import_problem_add(wick_import_problems *list, wick_status s, const char *location,
                             wick_import_problem p, const char *node, wick_arena *mem)
{
  size_t head = location ? strlen(location) : 0;
  bool placed = head && strncmp(s->message, location, head) == 0 && s->message[head] == ':';
  p.code = s->code;
  p.location = wick_str_dup(mem, placed ? location : "");
  p.what = wick_str_dup(mem, s->message + (placed ? head + 2 : 0));
  wick_import_problem *known = problem_find(list, &p);
  if (!known && list->n >= WICK_IMPORT_PROBLEMS) {
    list->more++;
    return;
  }
  if (!known) {
    wick_push(mem, list, p);
    known = &list->at[list->n - 1];
  }
  if (node && known->count < WICK_IMPORT_NAMES) known->node[known->count] = wick_str_dup(mem, node);
  known->count++;
}
