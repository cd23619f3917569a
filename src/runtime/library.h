/* Libraries that some operators need, opened when the first such operator is met: so one build runs
 * with and without them. Their headers are needed to build. */
#ifndef WICK_RUNTIME_LIBRARY_H
#define WICK_RUNTIME_LIBRARY_H

#include "base/base.h"

typedef struct wick_library_symbol {
  const char *name;
  size_t offset; /* of its pointer in the caller's struct */
} wick_library_symbol;
#define WICK_SYMBOL(type, member, symbol)                                                          \
  {                                                                                                \
#symbol, offsetof(type, member)                                                                \
  }

/* Fills the pointers of *api with the addresses of the symbols, which end with an empty one. The
 * library stays open until the process ends. False where it is not there, or lacks one. */
bool wick_library_load(const char *file, const wick_library_symbol *symbol, void *api);

#endif
