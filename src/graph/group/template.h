/* The first schedule of a group: templates with knobs, set by an analytic model of the target. */
#ifndef WICK_GRAPH_GROUP_TEMPLATE_H
#define WICK_GRAPH_GROUP_TEMPLATE_H

#include "ir/ir.h"
#include "target/target.h"

/* Sets g->schedule. Never fails on a legal group: what no template fits stays unscheduled but for
 * stages in line. */
/* Registers that hold one block of accumulators: vectors by places. */
typedef struct wick_tile {
  int64_t vectors, places;
  double slack; /* cycles that such tiles take, as a multiple of those of their multiply-adds */
} wick_tile;
/* The best for that many vectors and places in all. */
wick_tile wick_template_tile(const wick_target *t, wick_elem elem, int64_t vectors, int64_t places);

WICK_CHECKED wick_status wick_template_schedule(wick_func *g, const wick_target *t,
                                                wick_arena *tmp);

#endif
