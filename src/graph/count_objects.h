/* Makes references to objects explicit. A value that a node ends is moved there by its last use and
 * retained before earlier ones; one that nobody ends is released after its last use. A `switch` on
 * an object that dies takes it apart: the fields are owned by the region, and the memory becomes
 * that of the first block of its size that the region constructs, or is freed. Exact. */
#ifndef WICK_GRAPH_COUNT_OBJECTS_H
#define WICK_GRAPH_COUNT_OBJECTS_H

#include "ir/pass.h"

WICK_CHECKED wick_status wick_pass_count_objects(const wick_pass_context *pass, const wick_func *f,
                                                 wick_func **out);

#endif
