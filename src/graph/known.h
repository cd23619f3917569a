/* What is known of an operand of a call: a tree of constructors, closures and numbers, whose other
 * leaves are unknown. Equal trees lead to the same instance of the function (partial_eval). */
#ifndef WICK_GRAPH_KNOWN_H
#define WICK_GRAPH_KNOWN_H

#include "ir/build.h"

typedef enum wick_known_kind {
  WICK_KNOWN_NOTHING,
  WICK_KNOWN_NUMBER,
  WICK_KNOWN_MADE,
  WICK_KNOWN_CLOSURE
} wick_known_kind;

typedef enum wick_known_detail { /* how much of it a tree has */
                                 WICK_KNOWN_ALL,
                                 WICK_KNOWN_CALLEE, /* only the function of a closure */
                                 WICK_KNOWN_NONE
} wick_known_detail;

typedef struct wick_known {
  wick_known_kind kind;
  wick_type type; /* unknown: that of the parameter, field or captured value */
  int64_t number; /* or the number of the constructor */
  const char *callee;
  uint32_t n;
  struct wick_known *part;
} wick_known;

typedef wick_list(wick_value) wick_known_values;
typedef wick_list(wick_type) wick_known_types;

typedef struct wick_known_reader {
  const wick_builder *b;
  wick_arena *mem;
  /* Returns the node of that operator that defines v; NULL if another one does. */
  const wick_node *(*node)(void *arg, wick_value v, wick_opcode op);
  void *arg;
  wick_known_values *leaves; /* out: the unknown values, in order */
  uint32_t nread;            /* parts; those beyond a limit count as unknown */
} wick_known_reader;

/* Returns true if v is a single integer or bool that is known. */
bool wick_known_number(const wick_builder *b, wick_value v, int64_t *out);
wick_known wick_known_read(wick_known_reader *r, wick_value v, wick_type declared,
                           wick_known_detail detail);
bool wick_known_eq(const wick_known *a, const wick_known *b);
/* Adds the types of the unknown values. */
void wick_known_types_of(const wick_known *s, wick_arena *mem, wick_known_types *out);
/* Builds such a value. The unknown values are the parameters from *leaf. */
wick_value wick_known_build(wick_builder *b, const wick_known *s, uint32_t *leaf);

#endif
