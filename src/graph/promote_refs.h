/* Makes the contents of references plain values where a reference is only read and written in the
 * function that makes it: writes in branches become results of the branches, writes in loops values
 * that the loops carry.
 *
 * Needs: nothing. Leaves alone: references that are passed, stored, returned, or yielded. Exact. */
#ifndef WICK_GRAPH_PROMOTE_REFS_H
#define WICK_GRAPH_PROMOTE_REFS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_promote_refs(const wick_pass_context *pass, const wick_func *f,
                                                wick_func **out);

#endif
