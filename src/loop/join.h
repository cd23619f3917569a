/* Stores of short vectors that lie next to each other become one store of a whole register.
 *
 * What is stored is a number of f32 in each lane that became a byte: a quarter of a register. The
 * arithmetic before it is joined as well, as far back as it is the same in all of them; so a
 * machine can make the bytes of four registers at once. Exact.
 * Needs: a verified loop function. A store moves to the place of the last one of its four: not over
 * another store, nor over loads of the same buffer that may read what it writes. */
#ifndef WICK_LOOP_JOIN_H
#define WICK_LOOP_JOIN_H

#include "ir/copy.h"
#include "target/target.h"

wick_func *wick_pass_join(const wick_func *f, const wick_target *t, wick_arena *mem);

#endif
