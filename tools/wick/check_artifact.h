/* Describes an artifact for `wick check`: its interface, its dynamic sizes and its memory. */
#ifndef WICK_TOOLS_CHECK_ARTIFACT_H
#define WICK_TOOLS_CHECK_ARTIFACT_H

#include <jansson.h>

#include "base/status.h"
#include "wick/wick.h"

typedef struct wick_check_artifact {
  wick_context *context;
  wick_compiled *compiled;
} wick_check_artifact;

/* Opens the artifact. The caller closes *out with wick_check_close, after a failure, too. */
WICK_CHECKED wick_status wick_check_open(const char *path, wick_check_artifact *out,
                                         wick_arena *mem);
void wick_check_close(wick_check_artifact *a);

void wick_check_artifact_print(const char *path, const wick_compiled *compiled, wick_arena *tmp);
/* An object with the members of a model, "kind": "artifact", and the memory in bytes. */
json_t *wick_check_artifact_json(const char *path, const wick_compiled *compiled, wick_arena *tmp);

#endif
