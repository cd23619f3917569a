/* Opens libraries with the dynamic linker, which opens each only once. */
#include "runtime/library.h"

#include <dlfcn.h>
#include <string.h>

bool wick_library_load(const char *file, const wick_library_symbol *symbol, void *api)
{
  void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  for (; symbol->name; symbol++) {
    void *at = dlsym(handle, symbol->name);
    if (!at) return false;
    memcpy((char *)api + symbol->offset, &at, sizeof at);
  }
  return true;
}
