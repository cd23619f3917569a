/* Drops checks of indices that cannot fail, and other branches that are always or never taken: loops
 * and conditions imply that numbers are in a range (loop/integer_facts.h).
 *
 * Needs: a loop function; only procedures are changed, because a failing kernel goes on. After
 * tail_calls and unroll_recursion, whose loops it looks into. Exact. */
#ifndef WICK_LOOP_DROP_CHECKS_H
#define WICK_LOOP_DROP_CHECKS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_drop_checks(const wick_pass_context *pass, const wick_func *f,
                                               wick_func **out);

#endif
