/* Keys of inputs and outputs that are maps. The metadata contain them: "onnx.input.NAME" (or
 * output) is "AT COUNT TYPE KEYS" (import/onnx/ports.c), where KEYS is a list in JSON: [7,-3] or
 * ["a","b"]. */
#ifndef WICK_RUNTIME_KEYS_H
#define WICK_RUNTIME_KEYS_H

#include "base/str.h"
#include "wick/wick.h"

/* Writes the keys as a list in JSON; strings are UTF-8. */
void wick_keys_write(wick_text *t, wick_keys keys);

/* Reads such a list, in any valid JSON notation. Returns false if it is not a list of keys. */
bool wick_keys_read(const char *json, wick_arena *mem, wick_keys *out);

/* Sets io[i].keys from one entry of the metadata, if the entry has the keys of an input or output,
 * and as many as the last dimension has elements. */
void wick_keys_take(const char *key, const char *value, uint32_t ninput, uint32_t noutput,
                    wick_io *io, wick_arena *mem);

#endif
