/* Merges stores of short vectors to neighbouring addresses into one store of a whole register.
 *
 * The stored value is an f32, or an i32 that was clamped, in each lane that became a byte, so it
 * fills a quarter of a register.
 * The arithmetic before the stores is merged as well, as far back as it is the same in all of them.
 * A machine can then convert four registers to bytes at once. Exact.
 *
 * Needs: a verified loop function. Guarantees: a store moves only to the position of the last of
 * its four. It does not move past another store, or past loads of the same buffer that may read
 * what it writes. */
#ifndef WICK_LOOP_MERGE_STORES_H
#define WICK_LOOP_MERGE_STORES_H

#include "ir/pass.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_merge_stores(const wick_pass_context *pass, const wick_func *f,
                                                wick_func **out);

#endif
