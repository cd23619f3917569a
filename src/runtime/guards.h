/* Guards: contents of small inputs under which a specialization may run. Guard inputs are those
 * whose contents decide branches (runtime/program.h).
 *
 * Guards are kept as words of 8 bytes, so that they are compared like sizes. For each guard input
 * there is a word that is 1 if its contents are given and 0 if not, then its bytes, padded with
 * zeros (all zeros if they are not given). */
#ifndef WICK_RUNTIME_GUARDS_H
#define WICK_RUNTIME_GUARDS_H

#include "runtime/program.h"

uint32_t wick_guards_nword(const wick_program *p);             /* words of all guard inputs */
uint32_t wick_guards_nbody(const wick_program *p, uint32_t i); /* words of the i-th one's bytes */

/* Do the words have that form? */
bool wick_guards_valid(const wick_program *p, const int64_t *guards);
/* Do the inputs have the contents that the guards require? */
bool wick_guards_match(const wick_program *p, const int64_t *guards, const void *const *inputs);

#endif
