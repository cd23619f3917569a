/* Makes untrusted text from files safe to print: a name may contain a terminal's commands, or bytes
 * that are not UTF-8. */
#ifndef WICK_BASE_SHOWN_H
#define WICK_BASE_SHOWN_H

#include "base/str.h"

/* Returns the length in bytes of the UTF-8 character at `s`, of which `n` bytes may be read; 0 if
 * there is none. Overlong forms, surrogates and incomplete characters are none. */
size_t wick_utf8_length(const char *s, size_t n);

/* Makes one line: control characters and bytes that are not UTF-8 become \n, \t, \r or the form
 * \x1b. Returns `s` itself if nothing is replaced. */
const char *wick_str_shown(wick_arena *mem, const char *s);
void wick_text_shown(wick_text *t, const char *s, size_t n);

/* The same, but line ends stay. */
const char *wick_str_shown_lines(wick_arena *mem, const char *s);

/* Makes valid UTF-8 for JSON: other bytes become U+FFFD. Returns `s` itself if nothing is
 * replaced. */
const char *wick_str_utf8(wick_arena *mem, const char *s);

#endif
