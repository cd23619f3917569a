/* Inputs that are maps, from JSON: an object whose members are keys and values. */
#ifndef WICK_TOOLS_MAP_H
#define WICK_TOOLS_MAP_H

#include "tensor_io.h"

/* The tensor that the input takes: the values of its keys, 0 or "" where there is none. Members
 * that are no keys of it are left out, but their types are looked at, too. Strings are wick_string.
 * Fails naming the place, what was found and what was expected. */
WICK_CHECKED wick_status wick_map_fit(wick_span json, const wick_io *io, const char *location,
                                      wick_arena *mem, wick_array *out);

/* Are these two inputs a map whose keys only runs know: NAME.keys and NAME.values? */
bool wick_map_is_spread(const wick_io *keys, const wick_io *values);
/* The two tensors, named as their inputs: keys in order, and their values. Fails as above. */
WICK_CHECKED wick_status wick_map_spread(wick_span json, const wick_io *keys, const wick_io *values,
                                         const char *location, wick_arena *mem, wick_array out[2]);

#endif
