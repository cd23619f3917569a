/* From a typed program to functions of graphs.
 *
 * Each use of a function has an instance: a graph function for the types and sizes of its
 * arguments, its static arguments, and the function values among its arguments that are known where
 * it is called. Tuples and structs become several values. A function value that is known is no
 * value at all: what it has captured is passed. Others become nodes `closure` and `apply`.
 *
 * Each node has the user's place as its location: "tree.wick:7:15". */
#ifndef WICK_LANG_LOWER_LOWERING_H
#define WICK_LANG_LOWER_LOWERING_H

#include "lang/infer.h"

typedef struct wick_lowering_options {
  const char *entry;
  uint32_t nsize; /* of those that the entry's signature names; others stay open */
  const wick_size *sizes;
  uint32_t nrange; /* of open ones */
  const wick_size_range *ranges;
  wick_arena *mem; /* of the functions */
} wick_lowering_options;

/* Lowers the entry of an inferred program, and all that it reaches, into the module of `t`. The
 * entry becomes the function "main". Its inputs have the names of the parameters, and of fields:
 * "w.table", "pair.0". Its outputs are "result", "result.0", ...
 * If that fails, and the entry has open sizes, *out_described is set (it may be NULL), and "main"
 * only has the inputs and outputs. Fails with the user's places: for an entry that does not exist
 * or is not concrete, for forms that have no graph, and for programs that need too many instances. */
WICK_CHECKED wick_status wick_lang_lower(wick_lang_program *p, wick_types *t,
                                         const wick_lang_module *m,
                                         const wick_lowering_options *options, bool *out_described,
                                         const wick_func **out_main);

#endif
