/* Removes functions that are never called. All go when it is the entry's turn. */
#include "graph/global_dce.h"

#include <string.h>

#include "ir/call.h"

wick_status wick_pass_global_dce(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  *out = (wick_func *)(uintptr_t)f;
  if (strcmp(f->name, "main") == 0) wick_module_keep_reached(f->module, "main", pass->tmp);
  return NULL;
}
