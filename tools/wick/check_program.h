/* Checks programs of the language for `wick check`. */
#ifndef WICK_TOOLS_CHECK_PROGRAM_H
#define WICK_TOOLS_CHECK_PROGRAM_H

#include <jansson.h>

#include "base/arena.h"

/* Whether the file is a program: X.wick, but no artifact. */
bool wick_check_is_program(const char *path);
/* Prints what the program has, or its mistakes; with `json` appends an object instead. Returns
 * whether the program is good. */
bool wick_check_program(const char *path, json_t *json, wick_arena *tmp);
/* Returns remarks as a list of JSON. */
json_t *wick_check_remarks(uint32_t n, const char *const *remark, wick_arena *tmp);

#endif
