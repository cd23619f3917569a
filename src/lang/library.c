/* The language's own modules by name. */
#include "lang/library.h"

#include <stddef.h>
#include <string.h>

const wick_lang_library *wick_lang_library_find(const char *name)
{
  for (const wick_lang_library *m = wick_lang_libraries; m->name; m++)
    if (strcmp(m->name, name) == 0) return m;
  return NULL;
}
