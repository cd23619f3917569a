/* The printer's state: print_type.c prints types and dimensions, print.c nodes, functions and
 * modules. */
#ifndef WICK_IR_PRINT_H
#define WICK_IR_PRINT_H

#include "ir/text.h"

typedef struct wick_printer {
  const wick_module *m;
  wick_text *out;
  unsigned flags;
  bool ranges;              /* symbols are printed with their range if it was not printed before */
  wick_names symbols;       /* if `ranges` */
  wick_list(uint32_t) atom; /* by number in `symbols`: the atom that the bare name means now, + 1 */
  const wick_func *f;
  const char **param; /* names of the function's parameters */
  uint32_t *number;   /* by value: the number of the others */
  uint32_t next;
  wick_names params; /* the names that are taken */
} wick_printer;

/* Makes the bare name mean this symbol from here on. */
void wick_print_bind(wick_printer *p, uint32_t atom);
void wick_print_dim(wick_printer *p, wick_dim d);
void wick_print_axis(wick_printer *p, const wick_axis *a);
void wick_print_type(wick_printer *p, wick_type t);

#endif
