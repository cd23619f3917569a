/* Inputs whose contents a compiled model relies on, because sizes or the choice of a branch follow
 * from them. A session compares their bytes and compiles again; the code of a bundle checks them. */
#ifndef WICK_DRIVER_FIXED_INPUTS_H
#define WICK_DRIVER_FIXED_INPUTS_H

#include "driver/compile.h"

/* Makes c->graph fail, before anything else, if an input has other contents than those that c->given
 * fixes.
 *   io  describes the inputs
 * Fails: WICK_EUNSUPPORTED for strings, and for inputs whose own sizes are dynamic. */
WICK_CHECKED wick_status wick_fixed_inputs_assert(wick_compilation *c, const wick_io *io);

/* Returns the contents that the input of this name must have, or NULL. */
const void *wick_fixed_input(const wick_given *g, const char *name);

#endif
