/* Partial evaluation: a `switch` of a known constructor and an `if` of a known bool become their
 * region, an `apply` of a known closure becomes a call, integers and bools that follow from known
 * ones become constants, and calls with an operand that is known (data, a closure, an integer, a
 * bool) are replaced by the nodes of the function, so that recursion on known data is written out.
 * So are calls of functions that give data or closures and do not stay calls (wick_func_stays).
 *
 * A call that leads to more than 2,000 nodes or calls, to 400 calls inside each other, or to 32
 * undecided regions, because it recurs on data that is not known, calls an instance of its function:
 * one for each combination of what is known of the operands, if that is more than numbers. What is
 * not known in them (fields, captured values) are the parameters. Data with only one constructor
 * counts as made of its fields there, also where it is not known: a switch yields them. A function
 * that would need more than 40 instances, or instances of more than 20,000 nodes, gets more general
 * ones: of the operand that differs most, only the function of a closure is used, then nothing. After
 * 100,000 nodes that were built in vain there are no instances. Calls without an instance stay calls,
 * and so do the later ones of that function. Remarks say which limits were met.
 *
 * Nothing is run: nodes that may fail, and floats, stay as they are. Functions that are no longer
 * called go.
 *
 * Needs: nothing. Leaves alone: calls of which nothing is known (see inline), and functions without
 * calls and switches. Exact. */
#ifndef WICK_GRAPH_PARTIAL_EVAL_H
#define WICK_GRAPH_PARTIAL_EVAL_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_partial_eval(const wick_pass_context *pass, const wick_func *f,
                                                wick_func **out);

#endif
