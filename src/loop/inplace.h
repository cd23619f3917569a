/* In-place from the nest: may a group's result lie in the memory of one of its parameters?
 *
 * Yes, when every read of the parameter that can happen once the result is being written is of
 * exactly the element that is being written, by the same task: its index is the output's axes, also
 * through stages that are read in line or computed inside the output's loops; stages at the root
 * come before. No, when an `overlap` tail computes elements twice, a reduced axis takes part, or
 * the elements differ in type. */
#ifndef WICK_LOOP_INPLACE_H
#define WICK_LOOP_INPLACE_H

#include "loop/schedule.h"

/* `s` was checked (wick_schedule_check). result: which of the group's results; param: from 0. */
bool wick_inplace(const wick_schedule *s, uint32_t result, uint32_t param, wick_arena *tmp);

#endif
