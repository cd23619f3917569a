/* Text for people and programs, of bytes from a file that nobody trusts: a name may hold a
 * terminal's commands, or bytes that are not UTF-8. */
#ifndef WICK_BASE_SHOWN_H
#define WICK_BASE_SHOWN_H

#include "base/str.h"

/* Bytes of the UTF-8 character at `s`, 0 where there is none: overlong forms, surrogates and what
 * ends too early are none. `n` bytes are there. */
size_t wick_utf8_length(const char *s, size_t n);

/* On one line: control characters and bytes that are not UTF-8 become \n, \t, \r, or \x1b. Returns
 * `s` itself where there is nothing to replace. */
const char *wick_str_shown(wick_arena *mem, const char *s);
void wick_text_shown(wick_text *t, const char *s, size_t n);

/* The same for a message: its lines stay lines. */
const char *wick_str_shown_lines(wick_arena *mem, const char *s);

/* Valid UTF-8, as JSON wants it: other bytes become U+FFFD; `s` itself where there are none. */
const char *wick_str_utf8(wick_arena *mem, const char *s);

#endif
