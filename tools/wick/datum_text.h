/* Prints data as programs of the language write it: "Cons(1, Nil)". */
#ifndef WICK_TOOLS_DATUM_TEXT_H
#define WICK_TOOLS_DATUM_TEXT_H

#include "base/str.h"
#include "wick/wick.h"

enum { WICK_DATUM_TEXT = 1 << 20 }; /* bytes; longer texts end in "..." */

/* Appends the value. Takes it over: the datum is freed. The allocator's failure is a shorter text. */
void wick_datum_text(wick_datum *d, wick_text *out);

#endif
