/* Says why a run of generated code failed, and through which calls. */
#ifndef WICK_RUNTIME_FAULT_TEXT_H
#define WICK_RUNTIME_FAULT_TEXT_H

#include "runtime/kernel.h"

/* Writes the text of a failure, which is cut off if it does not fit.
 *   location  of the kernel, if the failure has no place of its own
 *   said      the text of an assertion with its values; NULL or empty: it has none */
void wick_fault_text(const wick_fault *f, const char *location, const char *said, char *out,
                     size_t nbytes);

#endif
