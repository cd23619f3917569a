/* Graph: f32 becomes a float of 16 bits where it is multiplied and summed, and where it lies in
 * memory between kernels; what is computed from it stays f32.
 *
 * - The factors of products (the rows' column `factors`: convolutions, matrix products, recurrent
 *   steps) are rounded, constants too where they are multiplied as they are. Products are exact
 *   then, and their sums are f32.
 * - What one kernel gives to another is rounded once, behind all that the first one does with it,
 *   where somebody multiplies it, or it is much and one of the two multiplies; users in f32 each
 * have a cast of their own, which goes into their kernel.
 * - Rows that move elements, or take the best or the mean of some (`moves`), work on what is
 *   rounded.
 * Inputs and results keep their types; a result that nobody else multiplies is not rounded. What is
 * known of kernels is that of graph/group/assign.h. Functions with control flow stay as they are.
 */
#ifndef WICK_GRAPH_NARROW_H
#define WICK_GRAPH_NARROW_H

#include "base/status.h"
#include "target/target.h"

WICK_CHECKED wick_status wick_pass_narrow(const wick_func *f, wick_elem elem, const wick_target *t,
                                          bool strict, wick_arena *mem, wick_arena *tmp,
                                          wick_func **out);

#endif
