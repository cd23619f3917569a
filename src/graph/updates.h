/* Which tensor parameters of called functions are updated in place.
 *
 * A parameter is updated if its function replaces a part of it, passes it to a function that
 * updates it, or calls itself at its end with another tensor. Its memory is then the function's: the
 * caller gives memory that it does not read afterwards, a copy if necessary. If a result is the
 * tensor with its updates, it is in the same memory afterwards. */
#ifndef WICK_GRAPH_UPDATES_H
#define WICK_GRAPH_UPDATES_H

#include "ir/ir.h"

enum {
  WICK_UPDATES_NONE = -2, /* the function only reads the parameter */
  WICK_UPDATES_LOST = -1, /* no result is in the parameter's memory */
};

typedef struct wick_updates {
  uint32_t n;
  const char **name;
  int32_t **result; /* per function and parameter: the result in its memory, or one of the above */
} wick_updates;

/* Finds the updates of all graphs of the module that are called. */
wick_updates wick_updates_of(const wick_module *m, wick_arena *mem);
/* Returns the parameters of a function; NULL: it updates none that are known. */
const int32_t *wick_updates_find(const wick_updates *u, const char *name);
/* Returns the parameter in whose memory result k is; nparam: it has memory of its own. */
uint32_t wick_updates_param(const int32_t *result, uint32_t nparam, uint32_t k);

#endif
