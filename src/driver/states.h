/* States of sessions: parameters of the graph that are paired with results (WICK_STATE). Models and
 * programs have them as their last inputs and outputs, which users do not see. */
#ifndef WICK_DRIVER_STATES_H
#define WICK_DRIVER_STATES_H

#include "ir/ir.h"

uint32_t wick_states_count(const wick_func *f);

/* Moves the states after the other parameters, and their results after the other results. *out is f
 * itself if they are there. Fails with WICK_EUNSUPPORTED if f has data, too. */
WICK_CHECKED wick_status wick_states_last(const wick_func *f, wick_arena *mem, wick_arena *tmp,
                                          const wick_func **out);

/* Returns for each state of f, in order, its bytes before the first run; NULL: zeros. */
const void *const *wick_states_initial(const wick_func *f, wick_arena *mem);

#endif
