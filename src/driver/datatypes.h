/* Describes data types of a module for the interface. */
#ifndef WICK_DRIVER_DATATYPES_H
#define WICK_DRIVER_DATATYPES_H

#include "ir/ir.h"
#include "runtime/datatype.h"

/* Completes the descriptions of n values of a module, of these types: those that are data become a
 * number, the address in a run, and get their data types. */
void wick_datatypes_describe(const wick_module *m, uint32_t n, const wick_type *type, wick_io *io,
                             wick_arena *mem);
/* Fails with WICK_EUNSUPPORTED if an input or output of `f` cannot be outside of a program. */
WICK_CHECKED wick_status wick_datatypes_check(const wick_func *f, const char *location,
                                              wick_arena *mem);

#endif
