/* A group's contract says what decides the bits of its results. It is derived only from the group's
 * stages, its schedule and the target. The number of workers, the form of tails, and JIT or bundle
 * do not matter: two groups with the same definition and the same contract give the same bits on
 * one CPU level.
 *
 *   contract = {CLAUSE "; "} class
 *   CLAUSE   = STAGE ":" ELEM {" " OP} " over" {" " LOOP | " [" LOOP "]" | " (" LOOP ")"}
 *   LOOP     = AXIS ":" N
 *   class    = "exact" | "rounding" | "approximate(" {OP N " ulp" | BOUND} ")"
 * The items of the last list are separated by ", ".
 *
 * There is a clause for each fold: the types of its state, the operators that combine the state
 * with an element, and the loops that produce the elements, outermost first. A loop in brackets is
 * split by rfactor: each iteration has a state of its own, and the states are merged as a binary
 * tree, halves with halves. A loop in parentheses is in spans: each iteration has a state of its
 * own, which is then merged with the state of the iterations before. `fma` rounds once, `mul add`
 * rounds twice.
 *
 * Classes: `exact` evaluates the text in its order, and each operator is correctly rounded.
 * `rounding` accumulates in another order than the text. `approximate` names the functions that are
 * polynomials, with their stated errors, and the bounds that maps state. */
#ifndef WICK_LOOP_CONTRACT_H
#define WICK_LOOP_CONTRACT_H

#include "loop/schedule.h"
#include "target/target.h"

/* The contract of a schedule whose steps have been applied; it lives in the module's memory. */
const char *wick_contract_of(const wick_schedule *s, const wick_target *t);

/* Returns the text between "approximate(" and ")" in a contract that ends at the end of a line, and
 * its length in *n; NULL if nothing is approximate. */
const char *wick_contract_approximate(const char *contract, size_t *n);

/* Returns an error bound for one stage, a fold by `add` or `muladd`. Its result differs from the
 * exact sum by at most the returned number times the sum of the terms' magnitudes. The number is
 * n*u/(1 - n*u), where n is the number of roundings of one term (Higham, Accuracy and Stability,
 * 3.1). Returns inf if the fold is not such a sum, or if its extents are not constant. */
double wick_contract_bound(const wick_schedule *s, const wick_target *t, uint32_t stage);

#endif
