/* A launch that runs concurrently with others is serialized if one of the two may fail. */
#include "loop/serialize_faults.h"

#include <string.h>

#include "ir/call.h"
#include "ir/copy.h"

enum { SERIALIZE_UNKNOWN, SERIALIZE_SAFE, SERIALIZE_FAILS };

/* Returns whether a kernel may fail; the result is cached by the number of its name. */
static bool serialize_fails(const wick_module *m, const char *kernel, char *seen, wick_arena *tmp)
{
  uint32_t name = wick_names_find(&m->names, kernel, strlen(kernel));
  const wick_func *f = wick_module_find(m, kernel);
  if (!f) return false;
  if (seen[name] == SERIALIZE_UNKNOWN) {
    bool fails = wick_func_reaches_fail(f, tmp) || wick_func_reaches_recursion(f, tmp) ||
                 wick_func_reaches_heap(f, tmp);
    seen[name] = fails ? SERIALIZE_FAILS : SERIALIZE_SAFE;
  }
  return seen[name] == SERIALIZE_FAILS;
}

wick_status wick_pass_serialize_faults(const wick_pass_context *pass, const wick_func *f,
                                       wick_func **out)
{
  bool before = false, any = false;
  for (uint32_t i = 0; i < f->nnode; i++) any = any || f->node[i].op == WICK_OP_launch;
  *out = (wick_func *)(uintptr_t)f;
  if (!any) return NULL;
  char *seen = wick_new(pass->mem, char, f->module->names.n + 1);
  wick_copier c = wick_copy_begin(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op != WICK_OP_launch) {
      wick_copy_node(&c, n);
      continue;
    }
    bool fails = serialize_fails(f->module, n->attr[WICK_ATTR_launch_callee].s, seen, pass->tmp);
    wick_attr a[] = {[WICK_ATTR_launch_callee] = n->attr[WICK_ATTR_launch_callee],
                     [WICK_ATTR_launch_tasks] = n->attr[WICK_ATTR_launch_tasks],
                     [WICK_ATTR_launch_concurrent] = {.i = n->attr[WICK_ATTR_launch_concurrent].i &&
                                                           !fails && !before}};
    wick_value *in = wick_new(pass->tmp, wick_value, n->nin + 1u);
    for (uint32_t k = 0; k < n->nin; k++) in[k] = c.to[n->in[k].id];
    c.b.loc = n->loc;
    wick_build(&c.b, WICK_OP_launch, n->nin, in, a, 0, NULL);
    before = fails;
  }
  return wick_copy_finish(&c, out);
}
