/* Decides whether the result of a group may be written into the memory of one of its parameters.
 *
 * The parameter's element i must not be overwritten before its last read. This holds if every read
 * of the parameter that can happen after the first write of the result reads exactly the element
 * that the same task is about to write: its index is the output's axes, directly or through stages
 * that are inlined or computed inside the output's loops. Stages at the root are complete before
 * the output's loops begin, so their reads do not matter. An `overlap` tail computes elements
 * twice, so a schedule with one is refused; so are reads along a reduced axis, and results whose
 * type differs from the parameter's. */
#ifndef WICK_LOOP_INPLACE_H
#define WICK_LOOP_INPLACE_H

#include "loop/schedule.h"

/* `s` has passed wick_schedule_check. `result` is the index of a result of the group and `param`
 * the index of a parameter, both from 0. Returns false if the answer is not certain. */
bool wick_inplace(const wick_schedule *s, uint32_t result, uint32_t param, wick_arena *tmp);

#endif
