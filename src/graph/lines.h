/* Convolutions over lines, [N, C, X], become those over images of one row, [N, C, 1, X], which have
 * blocked layouts (graph/layout): views before and behind, and what is element-wise or a pool
 * between two of them goes along, so that the views meet and are dropped.
 *
 * Needs: a verified graph function; weights as constants (fold first), expand_rows before. Leaves
 * alone: fewer channels than a block is good for, weights whose bytes are made later. Exact. */
#ifndef WICK_GRAPH_LINES_H
#define WICK_GRAPH_LINES_H

#include "ir/copy.h"

wick_func *wick_pass_lines(const wick_func *f, wick_arena *mem);

#endif
