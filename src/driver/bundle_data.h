/* The part of a bundle's header that builds and reads data. */
#ifndef WICK_DRIVER_BUNDLE_DATA_H
#define WICK_DRIVER_BUNDLE_DATA_H

#include "driver/bundle.h"

/* Returns whether an input or output of the bundle is data. */
bool wick_bundle_has_data(const wick_bundle *b);
/* Writes the functions for the types of such inputs and outputs; nothing if there are none. macro:
 * the bundle's name in upper case. */
void wick_bundle_data(const wick_bundle *b, const char *macro, wick_text *out);
/* bundle_header.c: the type of an element in C. */
const char *wick_bundle_c_type(wick_elem e);

#endif
