/* The words of Wick's text, for the printer and the parser. docs/text.md is the grammar. */
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
extern const wick_keyword wick_relation_words[];  /* `gone`: wick_relation */
/* words of dimensions: a symbol of such a name is quoted */
extern const wick_keyword wick_dim_words[];

const char *wick_keyword_of(const wick_keyword *table, int value);
const wick_keyword *wick_keyword_find(const wick_keyword *table, const char *word, size_t n);

enum { WICK_TEXT_DEPTH = 100 }; /* the most nested dimensions or types */

/* Returns the index of the attribute that is written right after the operator: the first of kind
 * CONST or FUNC; WICK_MAX_ATTR if there is none. */
uint32_t wick_op_positional(const wick_op *op);

/* Writes the name of a function's unnamed parameter number `index`: %p0, %p1, ... */
void wick_param_unnamed(char out[16], uint32_t index);

#endif
