/* The first schedule of a group. A template matches groups of one form and writes their loops. Its
 * knobs, such as tile sizes, are set by an analytic model of the target (graph/group/cost.h). The
 * table of the templates is in template_table.c; docs/schedules.md is generated from it. */
#ifndef WICK_GRAPH_GROUP_TEMPLATE_H
#define WICK_GRAPH_GROUP_TEMPLATE_H

#include "ir/ir.h"
#include "loop/tuning_records.h"
#include "target/target.h"

struct template_state; /* template_state.h */
typedef struct wick_template {
  const char *name;
  bool (*match)(struct template_state *t); /* returns true if the template fits the group */
  void (*emit)(struct template_state *t);  /* writes the template's steps */
  const char *takes, *makes; /* sentences: which groups fit; how their loops are built */
} wick_template;

extern const wick_template wick_templates[]; /* tried in order; ends with an entry without a name */

/* A block of accumulators in registers: vectors by positions. A position is an index of the
 * output's axes that are not channels. */
typedef struct wick_tile {
  int64_t vectors, positions;
  double slack; /* cycles of such a tile, as a multiple of the cycles of its multiply-adds */
} wick_tile;
/* Returns the best tile if there are that many vectors and positions in all, and if each vector
 * takes `far` cycles to load. If the number of positions is dynamic, `positions` is a typical
 * number, and `least` and `most` are its bounds. Otherwise both bounds are 0. */
wick_tile wick_template_tile(const wick_target *t, wick_elem elem, int64_t vectors,
                             int64_t positions, int64_t least, int64_t most, double far);

/* Sets g->schedule. The schedule comes from the tuning records if they have one for this group,
 * otherwise from the templates. If no template fits, only stages that can be computed in line are
 * scheduled. `records` may be NULL. Fails: WICK_EINVAL if a record's schedule is illegal; without
 * records, a legal group never fails. */
WICK_CHECKED wick_status wick_template_schedule(wick_func *g, const wick_target *t,
                                                wick_tuning_records *records, wick_arena *tmp);

/* Returns the read of a parameter whose blocks should be copied to a panel (graph/group/panel.h); NULL:
 * none. */
const wick_node *wick_template_panel(wick_func *g, const wick_target *t, wick_arena *tmp);

/* The choices of a template that a search may set instead of the model. 0 leaves a choice to the
 * model. For maps and 1-D slices, `vectors` is the number of vectors next to each other. For
 * Winograd's algorithm, `rows` is the number of rows of a block. */
typedef struct wick_knobs {
  int64_t vectors, rows, columns; /* of the tile: vectors, and rows and columns of positions */
  int64_t parts;                  /* Winograd: parts of the channels */
  int64_t unroll;                 /* unrolled iterations of the sum */
  int keep; /* 1: no, 2: yes; keep maps that several passes over a slice read */
  /* 1: no, 2: yes. `outside`: the channels outside of the positions. `prefetch`: fetch the next
   * weights early. For Winograd's algorithm, 2 fetches those of the next channels, 3 those of the
   * next product. */
  int outside, prefetch;
} wick_knobs;

/* Writes the templates' steps under these knobs to *out. The steps are legal. *out is NULL if a
 * tile does not fit. */
WICK_CHECKED wick_status wick_template_steps(wick_func *g, const wick_target *t,
                                             const wick_knobs *knobs, wick_arena *tmp,
                                             const char **out);

#endif
