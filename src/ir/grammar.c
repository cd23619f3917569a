/* The tables of the words of Wick's text. */
#include "ir/grammar.h"

#include <stdio.h>
#include <string.h>

const wick_keyword wick_level_words[] = {{"graph", WICK_GRAPH},
                                         {"group", WICK_GROUP},
                                         {"low", WICK_LOW},
                                         {"loop", WICK_LOOP},
                                         {NULL, 0}};
const wick_keyword wick_space_words[] = {{"io", WICK_IO},       {"constant", WICK_CONSTANT},
                                         {"arena", WICK_ARENA}, {"scratch", WICK_SCRATCH},
                                         {"pool", WICK_POOL},   {NULL, 0}};
const wick_keyword wick_qualifier_words[] = {{"in", WICK_IN},
                                             {"out", WICK_OUT},
                                             {"inout", WICK_INOUT},
                                             {"taken", WICK_TAKEN},
                                             {"given", WICK_GIVEN},
                                             {"state", WICK_STATE},
                                             {NULL, 0}};
const wick_keyword wick_relation_words[] = {{"gone", WICK_REL_NONE}, {NULL, 0}};
const wick_keyword wick_dim_words[] = {{"any", 0}, {"floordiv", 0}, {"mod", 0},
                                       {"min", 0}, {"max", 0},      {NULL, 0}};

const char *wick_keyword_of(const wick_keyword *table, int value)
{
  while (table->word && table->value != value) table++;
  return table->word ? table->word : "?";
}

const wick_keyword *wick_keyword_find(const wick_keyword *table, const char *word, size_t n)
{
  for (; table->word; table++)
    if (strlen(table->word) == n && memcmp(table->word, word, n) == 0) return table;
  return NULL;
}

uint32_t wick_op_positional(const wick_op *op)
{
  for (uint32_t i = 0; i < WICK_MAX_ATTR && op->attr[i].name; i++)
    if (op->attr[i].kind == WICK_ATTR_CONST || op->attr[i].kind == WICK_ATTR_FUNC) return i;
  return WICK_MAX_ATTR;
}

void wick_param_unnamed(char out[16], uint32_t index) { snprintf(out, 16, "p%u", index); }
