/* Strings become i64: each is its number among the module's strings, and in a run among the strings
 * of the session (base/string_table.h). All operators that move or compare elements then work on
 * them without change. Constants that are printed become a part of the text.
 *
 * Guarantees: no string elements are left. Leaves alone: functions without strings. */
#ifndef WICK_GRAPH_INTERN_STRINGS_H
#define WICK_GRAPH_INTERN_STRINGS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_intern_strings(const wick_pass_context *pass, const wick_func *f,
                                                  wick_func **out);

#endif
