/* Symbols for the sizes of inputs that a model leaves open: a batch, a length.
 *
 * An option gives a symbol a number or a range; else it is from 1 to WICK_IMPORT_LARGEST. */
#ifndef WICK_IMPORT_KIT_SYMBOLS_H
#define WICK_IMPORT_KIT_SYMBOLS_H

#include "import/kit/options.h"

typedef struct wick_symbols {
  wick_module *module;
  const wick_import_options *options; /* may be NULL */
  wick_arena *tmp;
  wick_names names;         /* dimension names of the model, made fit for Wick's text */
  wick_list(wick_dim) dims; /* by the name's number */
  wick_names taken;         /* names of symbols that are in use */
  bool symbolic;            /* out: a size is symbolic */
} wick_symbols;

wick_symbols wick_symbols_begin(wick_module *m, const wick_import_options *options,
                                wick_arena *tmp);
/* Returns the symbol of that name, or the number that an option gives it. A name that says nothing
 * ("", "?") is a new symbol, named after `stem`, an input, and its axis: "image.0". */
wick_dim wick_symbols_get(wick_symbols *s, const char *name, const char *stem, uint32_t axis);

#endif
