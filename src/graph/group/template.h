/* The first schedule of a group. Templates match the group and have knobs, such as tile sizes; an
 * analytic model of the target (graph/group/cost.h) sets the knobs. The table of the templates is in
 * template_table.c; docs/schedules.md is generated from it. */
#ifndef WICK_GRAPH_GROUP_TEMPLATE_H
#define WICK_GRAPH_GROUP_TEMPLATE_H

#include "ir/ir.h"
#include "loop/tuning_records.h"
#include "target/target.h"

struct template_state; /* template_state.h */
typedef struct wick_template {
  const char *name;
  bool (*match)(struct template_state *t); /* the group is one for this template */
  void (*emit)(struct template_state *t);  /* writes its steps */
  const char *takes, *makes;               /* sentences: which groups; how their loops are built */
} wick_template;

extern const wick_template wick_templates[]; /* tried in order; ends with an entry without a name */

/* A block of accumulators in registers: vectors by places. A place is a position of the output
 * along the axes that are not channels. */
typedef struct wick_tile {
  int64_t vectors, places;
  double slack; /* cycles of such a tile, as a multiple of the cycles of its multiply-adds */
} wick_tile;
/* The best tile for that many vectors and places in all; each vector takes `far` cycles to load. If
 * the number of places is dynamic, `places` is a typical one, and `least` and `most` are its
 * bounds; else these are 0. */
wick_tile wick_template_tile(const wick_target *t, wick_elem elem, int64_t vectors, int64_t places,
                             int64_t least, int64_t most, double far);

/* Sets g->schedule: the records' where they have one for this group, else the templates'. Never
 * fails on a legal group without records: what no template fits stays unscheduled but for stages in
 * line. With records (or NULL): WICK_EINVAL where theirs is illegal. */
WICK_CHECKED wick_status wick_template_schedule(wick_func *g, const wick_target *t,
                                                wick_tuning_records *records, wick_arena *tmp);

/* What a search may set of a template instead of the model; 0: the model's choice. */
typedef struct wick_knobs {
  int64_t vectors, rows, columns; /* of the tile: vectors, rows and columns of places; of maps and
                                     rows of elements the vectors side by side */
  int64_t parts;                  /* Winograd: parts of the channels; rows are those of a block */
  int64_t unroll;                 /* unrolled iterations of the sum */
  int keep;                       /* 1: no, 2: yes; maps that several passes over a row read */
  int outside, prefetch; /* 1: no, 2: yes; channels outside of places; the next weights early (of
                            Winograd's algorithm: 2 the next channels', 3 the next product's) */
} wick_knobs;

/* The templates' steps under these knobs, legal ones; NULL where a tile does not fit. */
WICK_CHECKED wick_status wick_template_steps(wick_func *g, const wick_target *t,
                                             const wick_knobs *knobs, wick_arena *tmp,
                                             const char **out);

#endif
