/* The text form: one printer and one parser for all levels, an exact round trip. docs/text.md is
 * the grammar. */
#ifndef WICK_IR_TEXT_H
#define WICK_IR_TEXT_H

#include "ir/ir.h"

enum { WICK_PRINT_LOCS = 1, WICK_PRINT_DATA = 2, WICK_PRINT_NAMES = 4, WICK_PRINT_ALL = 7 };

void wick_print_func(const wick_func *f, unsigned flags, wick_text *out);
void wick_print_constant(const wick_module *m, uint32_t id, unsigned flags, wick_text *out);
void wick_print_module(const wick_module *m, unsigned flags, wick_text *out);

/* Parses the text of a module into `m` (which may hold other functions already). `file` is for
 * error messages: "file:LINE:COLUMN: ...". Reports every problem up to 20. Functions are verified.
 */
WICK_CHECKED wick_status wick_parse_module(wick_module *m, const char *file, const char *text,
                                           size_t n, wick_arena *tmp);

#endif
