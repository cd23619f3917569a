/* The profile of a program as a JSON file that runs add to: the sizes that have occurred, and the
 * counts of branches and loops.
 *
 *   {"sizes": ["batch", "seq"],
 *    "entries": [{"values": [1, 128], "runs": 40, "specialization": "ready", "why": "",
 *             "base_ns": 1200000, "specialized_ns": 900000,
 *             "guards": {"rate": [16000]}, "always": {"mode": [1]}}],
 *    "flow": [{"location": "net.onnx: node \"choice\" (If)", "kind": "if", "then": 31, "else": 9},
 *             {"location": "net.onnx: node \"scan\" (Loop)", "kind": "loop", "times": 40,
 *              "steps": 400, "least": 2, "most": 16}]}
 *
 * An entry with "guards" belongs to a specialization for these contents of inputs. "always" lists
 * contents that all runs of an entry had. The times are those of the shortest measured run, or 0 if
 * none was measured. */
#ifndef WICK_TOOLS_PROFILE_H
#define WICK_TOOLS_PROFILE_H

#include <jansson.h>

#include "base/status.h"

/* Returns the profile of a compiled model, or NULL if there is no memory. */
json_t *wick_profile_json(const wick_compiled *k, wick_arena *mem);
/* Returns {"rate": [16000], ...}, the contents of the guard inputs (NULL in `content`: unknown), or
 * NULL if none is known. */
json_t *wick_profile_contents(const wick_compiled *k, const void *const *content, wick_arena *mem);
/* Adds the counts in `more` to `all`. Fails if they are not of the same sizes. */
WICK_CHECKED wick_status wick_profile_add(json_t *all, const json_t *more, const char *path,
                                          wick_arena *mem);
/* Reads a profile from a file; *out is NULL if the file does not exist. */
WICK_CHECKED wick_status wick_profile_read(const char *path, wick_arena *mem, json_t **out);
WICK_CHECKED wick_status wick_profile_write(const char *path, const json_t *profile,
                                            wick_arena *mem);

#endif
