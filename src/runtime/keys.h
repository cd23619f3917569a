/* Keys of inputs and outputs that are maps. Metadata have them: "onnx.input.NAME" (or output) is
 * "AT COUNT TYPE KEYS" (import/onnx/ports.c), KEYS a list in JSON: [7,-3] or ["a","b"]. */
#ifndef WICK_RUNTIME_KEYS_H
#define WICK_RUNTIME_KEYS_H

#include "base/str.h"
#include "wick/wick.h"

/* The list in JSON; strings are UTF-8. */
void wick_keys_write(wick_text *t, wick_keys keys);

/* Back; false where it is no such list. Other ways to write it are understood, too. */
bool wick_keys_read(const char *json, wick_arena *mem, wick_keys *out);

/* Of one entry of the metadata: if it has keys of an input or output, and as many as that has
 * elements along its last dimension, they become io[i].keys. */
void wick_keys_take(const char *key, const char *value, uint32_t ninput, uint32_t noutput,
                    wick_io *io, wick_arena *mem);

#endif
