/* May the result of a group use the memory of one of its parameters?
 *
 * Yes, if every read of the parameter that can happen after the result begins to be written reads
 * exactly the element that the same task is writing: its index is the output's axes, also through
 * stages that are inlined or computed inside the output's loops. Stages at the root are computed
 * before. No, if an `overlap` tail computes elements twice, if a reduced axis takes part, or if the
 * element types differ. */
#ifndef WICK_LOOP_INPLACE_H
#define WICK_LOOP_INPLACE_H

#include "loop/schedule.h"

/* `s` has passed wick_schedule_check. `result` and `param` are indices from 0. */
bool wick_inplace(const wick_schedule *s, uint32_t result, uint32_t param, wick_arena *tmp);

#endif
