/* Inputs that are maps, from JSON: an object whose members are keys and values. */
#ifndef WICK_TOOLS_MAP_H
#define WICK_TOOLS_MAP_H

#include "tensor_io.h"

/* Builds the tensor of an input: the values of its keys, 0 or "" for a missing key. Members that
 * are not keys of the input are ignored, but their types are checked, too. Strings are wick_string.
 * The message of a failure names the location, what was found and what was expected. */
WICK_CHECKED wick_status wick_map_fit(wick_span json, const wick_io *io, const char *location,
                                      wick_arena *mem, wick_array *out);

/* The same from all keys of a map and their values (value.h). */
void wick_map_fit_pairs(const wick_array pair[2], const wick_io *io, wick_arena *mem,
                        wick_array *out);

/* Returns whether two inputs, NAME.keys and NAME.values, are a map whose keys are not known in
 * advance. */
bool wick_map_is_spread(const wick_io *keys, const wick_io *values);
/* Builds the two tensors, which have the names of their inputs: keys in order, and their values.
 * Fails as above. */
WICK_CHECKED wick_status wick_map_spread(wick_span json, const wick_io *keys, const wick_io *values,
                                         const char *location, wick_arena *mem, wick_array out[2]);

#endif
