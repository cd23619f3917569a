/* The interface between the files of the schedule templates: the group that is scheduled, queries
 * about its stages, and functions that write the steps of loops. */
#ifndef WICK_GRAPH_GROUP_TEMPLATE_STATE_H
#define WICK_GRAPH_GROUP_TEMPLATE_STATE_H

#include "graph/group/template.h"
#include "ir/op.h"
#include "loop/product.h"
#include "loop/schedule.h"

enum { TEMPLATE_AXES = 16 };

/* Bytes of weights that pass by again and again at no cost. */
enum { TEMPLATE_NEAR = 256 << 10 };

typedef struct template_state {
  wick_func *g;
  const wick_target *t;
  wick_arena *tmp;
  wick_schedule *s;
  wick_text steps;
  const wick_stage *out;
  uint32_t lanes; /* vector lanes of the widest result type of the stages */
  uint32_t nfold;
  const wick_stage *fold; /* the only fold, if all reads of it are in place; else NULL */
  /* The output is a map with elements, all other maps can be inlined, and folds have no dimensions
   * of their own: what remains is to compute folds inside the output's loops. */
  bool plain;
  wick_knobs knobs;
  const void *found; /* what `match` found out for `emit` */
  bool refused;      /* a knob does not fit */
  int64_t rows;      /* of places in a block, for which something is made before; 0: none */
} template_state;

typedef struct template_tile {
  int64_t ob, vb, th, tw; /* output channels, vectors along the last axis, rows, columns */
} template_tile;

/* The roles of the output's axes: the vector (of `inner` none), output channels (blocks), the last
 * two places. UINT32_MAX: none. */
typedef struct template_roles {
  uint32_t v, o, y, x;
  int64_t no, nx;      /* along o and x, tiles lie within so many neighbours */
  uint32_t batch;      /* a set: along these axes nothing that is read is shared */
  int64_t own;         /* elements of the fold that one of the output is made of */
  int64_t parts;       /* registers that a vector takes while it is used: 2 where it is widened */
  int64_t least, most; /* places where there are none of x, and their number is open; 0: known */
} template_roles;

/* ---- stages (template_stages.c) ---- */
const wick_node *template_node(const template_state *t, const wick_stage *st);
wick_elem template_elem(const template_state *t); /* of the output */
const char *template_loop(const template_state *t, const wick_stage *st, uint32_t axis);
/* The extent; a typical one where it is symbolic: what is chosen by it is legal for all others. */
int64_t template_extent(const template_state *t, const wick_stage *st, uint32_t axis);
int64_t template_most(const template_state *t, const wick_stage *st,
                      uint32_t axis);                                  /* the largest */
bool template_is(const wick_stage *st, uint32_t axis, int64_t extent); /* always */
bool template_varies(const wick_stage *st, uint32_t axis);
/* How a read uses an axis along which the vector would run: 0 not at all, 1 next to each other, 2
 * otherwise. */
unsigned template_step_of(const template_state *t, const wick_node *read, wick_dim sym);
/* Elements from neighbour to neighbour along an axis in what is read; 0 where it is not known. */
int64_t template_stride(const template_state *t, const wick_node *read, wick_dim sym);

/* Lanes along that axis of the output. */
int64_t template_vector_lanes(const template_state *t, uint32_t axis);
/* The lanes of a map along that axis: those of several vectors at once where the knobs say so. */
int64_t template_wide(template_state *t, uint32_t axis, int64_t lanes);
/* The stage is a map that may be inlined where it is read. */
bool template_can_inline(const wick_func *g, const wick_node *stage);
/* Inlines all maps that may be. */
void template_inline_maps(template_state *t);
/* The size of equal parts of n that have at most `most` elements. */
int64_t template_even(int64_t n, int64_t most);
/* Every read of the fold's results, `read` in stage st, fits. */
typedef bool template_fits(const template_state *t, const wick_stage *st, const wick_node *read,
                           uint32_t axis);
bool template_reads(const template_state *t, const wick_stage *fold, template_fits *fits,
                    uint32_t axis);
/* All of these reads are at the index of the reading stage's element. */
bool template_read_in_place(const template_state *t, const wick_stage *fold);

/* ---- loops (template_loops.c) ---- */
/* The axis must be split for a vector of that many lanes. */
bool template_splits_lanes(const wick_stage *st, uint32_t vaxis, int64_t lanes);
void template_order_begin(template_state *t, const wick_stage *st);
/* The loops of a fold in registers: the sum outside, in the text's order, its last axis unrolled by
 * some; the tile inside, with the output channels innermost: a value that all lanes share is
 * loaded, used by each of their vectors at once, and dead. */
typedef struct template_fold {
  uint32_t o, v, dot; /* axes: output channels, the vector's, one that is a dot product; or none */
  int64_t lanes, unroll;
  bool whole; /* all of the sum is straight-line code */
} template_fold;
void template_fold_loops(template_state *t, const wick_stage *fold, const template_fold *f);

/* Whether the loops over channels go outside those over places; of all, or of blocks of `rows`
 * along an axis, with the axes before it outside. */
typedef struct template_order {
  bool channels_outside;
  uint32_t axis; /* UINT32_MAX: no blocks */
  int64_t rows;
} template_order;

/* There is a loop of the output around a vector of that many lanes along axis v (UINT32_MAX: no
 * vector). */
bool template_has_out_loop(const template_state *t, uint32_t v, int64_t lanes);
/* The loops of the output around a tile; the innermost of them, where the fold goes. */
const char *template_out_loops(template_state *t, const template_roles *r,
                               const template_tile *tile, const template_order *order,
                               int64_t lanes);

/* Channels of one group alone share what is read: then the loop over them is inside one over
 * groups.
 */
bool template_has_groups(const template_state *t, const template_roles *r);
const char *template_channels_loop(template_state *t, const template_roles *r);
/* The innermost loop over rows. */
const char *template_rows_loop(template_state *t, const template_roles *r,
                               const template_tile *tile, const template_order *order);

/* ---- orders (template_order.c) ---- */
/* For channels that go outside: blocks of places of which what `shared` reads stays in the second
 * cache while the channels pass by. */
template_order template_order_of(const template_state *t, const template_roles *r,
                                 const template_tile *tile, const wick_stage *fold,
                                 const wick_node *shared);
/* The data that `shared` reads for all places of a group of channels exceeds the second cache. */
bool template_reads_far(const template_state *t, const template_roles *r, const wick_stage *fold,
                        const wick_node *shared);
/* The axis of the output is neither a channel axis nor a batch axis. */
bool template_is_place(const template_state *t, const template_roles *r, uint32_t axis);

/* ---- products (template_product.c) ---- */
int64_t template_dot_lanes(const template_state *t, int64_t extent); /* along a tile's vectors */
/* The last axis of the fold where it is a dot product of that form that the target has, its lanes
 * along axis v; UINT32_MAX where it is none. */
uint32_t template_dot_axis(const template_state *t, const wick_stage *fold, uint32_t v,
                           wick_dots form);
/* Neighbours along an axis, from multiples of n on, share what is read. */
bool template_shares(const template_state *t, const wick_node *read, wick_dim sym, int64_t n,
                     int64_t extent);

/* ---- templates, in the order of the table ---- */
bool template_loop_nest_match(template_state *t);
void template_loop_nest(template_state *t);
bool template_winograd_match(template_state *t);
void template_winograd(template_state *t);
bool template_attention_match(template_state *t);
void template_attention(template_state *t);
bool template_depthwise_pointwise_match(template_state *t);
void template_depthwise_pointwise(template_state *t);
bool template_transpose_match(template_state *t);
void template_transpose(template_state *t);
bool template_map_match(template_state *t);
void template_map(template_state *t);
bool template_outer_product_match(template_state *t);
void template_outer_product(template_state *t);
bool template_depthwise_dot_match(template_state *t);
void template_depthwise_dot(template_state *t);
bool template_inner_product_match(template_state *t);
void template_inner_product(template_state *t);
bool template_reduce_match(template_state *t);
void template_reduce(template_state *t);
bool template_window_match(template_state *t);
void template_window(template_state *t);
bool template_normalize_match(template_state *t);
void template_normalize(template_state *t);
bool template_normalize_outer_match(template_state *t);
void template_normalize_outer(template_state *t);

/* The tiles of a sum of products, for templates that add stages inside the output's loops. NULL:
 * the fold is no such sum. */
const void *template_outer_product_of(template_state *t, const wick_stage *fold);
void template_outer_product_loops(template_state *t, const wick_stage *fold, const void *found);

#endif
