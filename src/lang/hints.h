/* What is written otherwise in other languages, for messages. */
#ifndef WICK_LANG_HINTS_H
#define WICK_LANG_HINTS_H

#include "lang/source.h"

/* How to write what a function, a field or a value of that name is elsewhere; NULL: unknown. */
const char *wick_lang_foreign_value(const char *name);

/* The element type that has this name elsewhere, as `float32` has; NULL: unknown. */
const char *wick_lang_foreign_elem(const char *name);

/* How to write what a word or a sign means elsewhere; NULL: unknown. */
const char *wick_lang_foreign_word(const char *word, size_t length);

#endif
