/* From tokens to the syntax tree. */
#ifndef WICK_LANG_PARSE_H
#define WICK_LANG_PARSE_H

#include "lang/ast.h"
#include "lang/lex.h"

/* Returns the FILE of a source. Mistakes are reported, one for each item; items that have one are
 * left out. */
wick_ast *wick_lang_parse(wick_lang_sources *s, uint32_t source, const wick_lang_tokens *tokens,
                          wick_names *names, wick_arena *mem);
/* Returns the FN `it` without parameters whose body is the source: statements and an expression. */
wick_ast *wick_lang_parse_statements(wick_lang_sources *s, uint32_t source,
                                     const wick_lang_tokens *tokens, wick_names *names,
                                     wick_arena *mem);
/* Whether the word has a meaning of its own, so that nothing can have it as its name. */
bool wick_lang_is_keyword(const char *word);

#endif
