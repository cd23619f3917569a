/* Builds objects where they are used: a construct whose uses are all in arms of one later branch or
 * switch moves into these arms, as far in as that holds. So a recursion that gives an object when it
 * ends allocates it once, and not in each step.
 *
 * Needs: nothing. Leaves alone: constructors without fields, which are no objects in memory, and uses
 * in loops. Exact. */
#ifndef WICK_GRAPH_SINK_CONSTRUCTS_H
#define WICK_GRAPH_SINK_CONSTRUCTS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_sink_constructs(const wick_pass_context *pass,
                                                   const wick_func *f, wick_func **out);

#endif
