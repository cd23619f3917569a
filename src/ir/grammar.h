/* The words of Wick's text, for printer and parser alike. docs/text.md is the grammar. */
#ifndef WICK_IR_GRAMMAR_H
#define WICK_IR_GRAMMAR_H

#include "ir/op.h"

typedef struct wick_keyword {
  const char *word;
  int value;
} wick_keyword;

/* Each ends with a NULL word. */
extern const wick_keyword wick_level_words[];     /* graph group low loop: wick_level */
extern const wick_keyword wick_space_words[];     /* wick_space */
extern const wick_keyword wick_qualifier_words[]; /* wick_qualifier */
extern const wick_keyword wick_relation_words[];  /* gone: wick_relation */
extern const wick_keyword wick_dim_words[];       /* a symbol of such a name is quoted */

const char *wick_keyword_of(const wick_keyword *table, int value);
const wick_keyword *wick_keyword_find(const wick_keyword *table, const char *word, size_t n);

enum { WICK_TEXT_DEPTH = 100 }; /* of dimensions within dimensions, types within types */

/* The attribute that is written right after the operator: the first of kind CONST or FUNC;
 * WICK_MAX_ATTR: none. */
uint32_t wick_op_positional(const wick_op *op);

/* The parameter number `index` of a function has no name of its own when it is written %p0, %p1,
 * ... */
void wick_param_unnamed(char out[16], uint32_t index);

#endif
