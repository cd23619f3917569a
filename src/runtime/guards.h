/* Contents of small inputs, which copies of a program may take as given: those of its watched
 * inputs (runtime/program.h), from which branches follow.
 *
 * They are kept as words of 8 bytes, so that two are compared like sizes are: for each watched
 * input a word that is 1 where its contents are held and 0 where they are not, then its bytes, with
 * zeros behind them (all zeros where they are not held). */
#ifndef WICK_RUNTIME_GUARDS_H
#define WICK_RUNTIME_GUARDS_H

#include "runtime/program.h"

uint32_t wick_held_nword(const wick_program *p);             /* of all inputs */
uint32_t wick_held_nbody(const wick_program *p, uint32_t i); /* behind the i-th one's first word */

/* The words are of that form. */
bool wick_held_good(const wick_program *p, const int64_t *held);
/* Do the inputs hold what is held? */
bool wick_held_fits(const wick_program *p, const int64_t *held, const void *const *inputs);

#endif
