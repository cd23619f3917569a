/* The canonical form of a source: `wick fmt`. */
#ifndef WICK_LANG_FORMAT_H
#define WICK_LANG_FORMAT_H

#include "lang/parse.h"

/* Adds the file in canonical form. Comments are kept: one before an item or a statement stays
 * there, one at the end of a line stays at its end, one inside of an expression moves after its
 * statement. Formatting the result again changes nothing. */
void wick_lang_format(const wick_lang_source *source, const wick_lang_tokens *tokens,
                      const wick_ast *file, wick_text *out);

#endif
