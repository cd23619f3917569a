/* The record of the sizes that a program has met, and of what it did where it decides, as a JSON
 * file that runs add to:
 *
 *   {"sizes": ["batch", "seq"],
 *    "entries": [{"values": [1, 128], "runs": 40, "specialization": "ready", "why": "",
 *             "base_ns": 1200000, "specialized_ns": 900000,
 *             "guards": {"rate": [16000]}, "always": {"mode": [1]}}],
 *    "flow": [{"location": "net.onnx: node \"choice\" (If)", "kind": "if", "then": 31, "else": 9},
 *             {"location": "net.onnx: node \"scan\" (Loop)", "kind": "loop", "times": 40,
 *              "steps": 400, "least": 2, "most": 16}]}
 *
 * An entry with "guards" is that of a copy for these contents of inputs; "always" are contents that
 * all runs of an entry had. The times are those of the shortest run that was measured, 0 where none
 * was. */
#ifndef WICK_TOOLS_PROFILE_H
#define WICK_TOOLS_PROFILE_H

#include <jansson.h>

#include "base/status.h"

/* What the compiled model has done, and met, or has copies for. NULL where there is no memory. */
json_t *wick_profile_json(const wick_compiled *k, wick_arena *mem);
/* {"rate": [16000], ...}: what these inputs hold, by watched input; NULL: nothing that is said. */
json_t *wick_profile_contents(const wick_compiled *k, const void *const *content, wick_arena *mem);
/* Adds what `more` has to `all`, where it is of the same sizes. */
WICK_CHECKED wick_status wick_profile_add(json_t *all, const json_t *more, const char *path,
                                          wick_arena *mem);
/* The record in a file; *out is NULL where there is no such file. */
WICK_CHECKED wick_status wick_profile_read(const char *path, wick_arena *mem, json_t **out);
WICK_CHECKED wick_status wick_profile_write(const char *path, const json_t *profile,
                                            wick_arena *mem);

#endif
