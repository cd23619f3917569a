/* Inputs that are maps, from JSON: an object whose members are keys and values. */
#ifndef WICK_TOOLS_MAP_H
#define WICK_TOOLS_MAP_H

#include "tensor_io.h"

/* The tensor that the input takes: the values of its keys, 0 or "" where there is none. Members
 * that are no keys of it are left out, but their types are looked at, too. Strings are wick_string.
 * Fails naming the place, what was found and what was wanted. */
WICK_CHECKED wick_status wick_map_fit(wick_span json, const wick_io *io, const char *place,
                                      wick_arena *mem, wick_array *out);

#endif
