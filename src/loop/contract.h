/* A group's contract: what decides the bits of its results, derived from its stages, its schedule
 * and the target's row, and nothing else. The number of workers, the form of tails, JIT or bundle
 * do not come into it; two groups of one definition and one contract give the same bits on one CPU
 * level.
 *
 *   contract = {STAGE ":" ELEM {" " OP} " over" {" " LOOP | " [" LOOP "]" | " (" LOOP ")"} "; "}
 * class LOOP     = AXIS ":" N class    = "exact" | "rounding" | "approximate(" {OP N " ulp" |
 * BOUND} ")", the last two with
 * ", "
 *
 * A clause per fold: the types of its state, the operators that combine it with an element, the
 * loops in which its elements come, outermost first. A loop in brackets is parts: each has a state
 * of its own, and these are merged as a binary tree, halves upon halves. One in parentheses is
 * spans: each iteration has a state of its own, which is merged with that of those before. `fma`
 * rounds once, where `mul add` rounds twice. Class: `exact` evaluates the text in its order, each
 * operator correctly rounded; `rounding` has an accumulation in another order than the text;
 * `approximate` names the functions that are polynomials, with their stated errors, and the bounds
 * that maps state. */
#ifndef WICK_LOOP_CONTRACT_H
#define WICK_LOOP_CONTRACT_H

#include "loop/schedule.h"
#include "target/target.h"

/* The text, of a schedule whose steps have been applied; in the module's memory. */
const char *wick_contract_of(const wick_schedule *s, const wick_target *t);

/* What stands between "approximate(" and ")" in a contract that ends at the line's end, *n bytes of
 * it; NULL: nothing approximates. */
const char *wick_contract_approximate(const char *contract, size_t *n);

/* An error bound for one stage, a fold by `add` or `muladd`: its result differs from the exact sum
 * by at most the returned number times the sum of the terms' magnitudes (n*u/(1 - n*u), where n is
 * the number of roundings that one term goes through: Higham, Accuracy and Stability, 3.1). inf
 * where the fold is no such sum, or its extents are not constant. */
double wick_contract_bound(const wick_schedule *s, const wick_target *t, uint32_t stage);

#endif
