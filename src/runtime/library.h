/* Shared libraries that some operators need. They are opened when the first such operator occurs,
 * so that one build runs with and without them. Their headers are needed to build. */
#ifndef WICK_RUNTIME_LIBRARY_H
#define WICK_RUNTIME_LIBRARY_H

#include "base/base.h"

typedef struct wick_library_symbol {
  const char *name;
  size_t offset; /* of the symbol's pointer in the caller's struct */
} wick_library_symbol;
#define WICK_SYMBOL(type, member, symbol)                                                          \
  {                                                                                                \
#symbol, offsetof(type, member)                                                                \
  }

/* Fills the pointers of *api with the addresses of the symbols; an empty symbol ends their list.
 * The library stays open until the process ends. Returns false if the library does not exist or
 * lacks a symbol. */
bool wick_library_load(const char *file, const wick_library_symbol *symbol, void *api);

#endif
