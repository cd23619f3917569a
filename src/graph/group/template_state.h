/* The interface between the files of the schedule templates. It has the state of the group that is
 * scheduled, queries about its stages, and functions that write the steps of loops. */
#ifndef WICK_GRAPH_GROUP_TEMPLATE_STATE_H
#define WICK_GRAPH_GROUP_TEMPLATE_STATE_H

#include "graph/group/template.h"
#include "ir/op.h"
#include "loop/product.h"
#include "loop/schedule.h"

enum { TEMPLATE_AXES = 16 };

/* Weights of this part of the second cache can be streamed repeatedly at no cost. */
enum { TEMPLATE_NEAR = 4 };

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
   * of their own. Then only the folds remain to be computed, inside the output's loops. */
  bool plain;
  wick_knobs knobs;
  const void *found;       /* the result of `match`, which `emit` uses */
  bool refused;            /* a knob has a value that does not fit */
  bool cut;                /* the loop of the output's vectors is cut, and serial */
  const wick_stage *panel; /* a map that is computed for blocks of columns; NULL: none */
  int64_t rows; /* rows of positions in a block for which something is computed first; 0: none */
} template_state;

typedef struct template_tile {
  int64_t ob, vb, th, tw; /* output channels, vectors along the last axis, rows, columns */
} template_tile;

/* The roles of the output's axes: v is the vector's axis (none for inner products), o the output
 * channels (blocks), y and x the last two axes of positions. UINT32_MAX: no axis has this role. */
typedef struct template_roles {
  uint32_t v, o, y, x;
  int64_t no, nx; /* a tile does not cross multiples of these sizes along o and x: groups */
  uint32_t batch; /* a set of axes along which reads share nothing, or only the shared factor */
  int64_t own;    /* elements of the fold that make up one element of the output */
  int64_t parts;  /* registers that a vector needs while it is used: 2 if it is widened */
  /* bounds of the number of positions if x is none and the number is dynamic; else 0 */
  int64_t least, most;
  /* the vectors along v are contiguous in runs of that many, of which a tile has a part or several whole ones; 0:
   * everywhere */
  int64_t run;
} template_roles;

/* ---- stages (template_stages.c) ---- */
const wick_node *template_node(const template_state *t, const wick_stage *st);
wick_elem template_elem(const template_state *t); /* of the output */
const char *template_loop(const template_state *t, const wick_stage *st, uint32_t axis);
/* Returns the extent. A symbolic extent is replaced by a typical one; choices that depend on it are
 * legal for all other extents. */
int64_t template_extent(const template_state *t, const wick_stage *st, uint32_t axis);
int64_t template_most(const template_state *t, const wick_stage *st,
                      uint32_t axis);                                  /* the largest extent */
bool template_is(const wick_stage *st, uint32_t axis, int64_t extent); /* for all sizes */
bool template_varies(const wick_stage *st, uint32_t axis);
/* Returns how a read uses the axis along which a vector would run: 0 not at all, 1 with contiguous
 * elements, 2 otherwise. */
unsigned template_step_of(const template_state *t, const wick_node *read, wick_dim sym);
/* Returns true if the elements that a read takes for lanes along an axis are in a few vectors: they
 * are the same, contiguous, or a few elements apart. */
bool template_is_near(const template_state *t, const wick_node *read, wick_dim sym, int64_t lanes);

/* Returns the vector lanes along that axis of the output. */
int64_t template_vector_lanes(const template_state *t, uint32_t axis);
/* Returns true if the target has masked loads and stores of all parameters and of the output. */
bool template_has_masks(const template_state *t);
/* The same, but vectors are narrower where the axis is shorter than a register. */
int64_t template_short_lanes(const template_state *t, uint32_t axis);
/* Returns true if the stage is a map that may be inlined where it is read. */
bool template_can_inline(const wick_func *g, const wick_node *stage);
/* Inlines all maps that may be inlined, except the panel. */
void template_inline_maps(template_state *t);
/* Returns the size of equal parts of n that have at most `most` elements. */
int64_t template_even(int64_t n, int64_t most);
/* template_reads returns true if each read of the fold's results (`read`, in stage st) fits. */
typedef bool template_fits(const template_state *t, const wick_stage *st, const wick_node *read,
                           uint32_t axis);
bool template_reads(const template_state *t, const wick_stage *fold, template_fits *fits,
                    uint32_t axis);
/* Returns true if all of these reads are at the index of the reading stage's element. */
bool template_read_in_place(const template_state *t, const wick_stage *fold);

/* ---- several vectors side by side (template_wide.c) ---- */
/* Returns true if all reads of vectors along this axis are contiguous and have no condition, and
 * nothing fails. */
bool template_is_contiguous(const template_state *t, uint32_t axis);
/* Returns the lanes of a map along that axis of the output: those of several vectors if the knobs set
 * this, or, without a knob, if the group has functions that are polynomials. */
int64_t template_wide(template_state *t, uint32_t axis, int64_t lanes);

/* ---- loops (template_loops.c) ---- */
/* Returns true if the axis must be split for a vector of that many lanes. */
bool template_splits_lanes(const wick_stage *st, uint32_t vaxis, int64_t lanes);
void template_order_begin(template_state *t, const wick_stage *st);
/* Writes the loops of a fold in registers. The loops of the sum are outside, in the order of the
 * text, and the last of them is unrolled. The tile is inside, with the output channels innermost. A
 * value that all lanes share is thus loaded, used by each of their vectors at once, and then dead.
 */
typedef struct template_fold {
  uint32_t o, v, dot; /* axes: output channels, vector, dot product; UINT32_MAX: none */
  int64_t lanes, unroll;
  bool whole; /* the whole sum is straight-line code */
  bool parts; /* the unrolled iterations have states of their own */
} template_fold;
void template_fold_loops(template_state *t, const wick_stage *fold, const template_fold *f);

/* Whether the loops over channels are outside of those over positions. This concerns all
 * positions, or blocks of `rows` positions along `axis`; the axes before `axis` are then outside
 * of the channels. */
typedef struct template_order {
  bool channels_outside;
  uint32_t axis; /* UINT32_MAX: no blocks */
  int64_t rows;
  /* Vectors in a block of the output's last axis. The loop over the tiles of such a block is the
   * innermost one, just inside of the loop along x. 0: the order is as above. */
  int64_t columns;
  int64_t lines; /* whole rows along o in a block; 0: one row, or a part of it */
  bool serial;   /* the innermost loop is inside of the tasks */
} template_order;

/* Writes the loops of the output around a tile. Returns the innermost loop, which will contain the
 * fold. */
const char *template_out_loops(template_state *t, const template_roles *r,
                               const template_tile *tile, const template_order *order,
                               int64_t lanes);

/* Returns true if so many tasks are enough for the threads: a loop inside of them stays serial. The
 * indices that do not change in it are computed once for all of its iterations. */
bool template_has_tasks(int64_t tasks);

/* Returns true if only the channels of one group share the elements that are read. The loop over
 * channels is then inside a loop over groups. */
bool template_has_groups(const template_state *t, const template_roles *r);
/* The same for the positions, where tiles would cross the end of a group. */
bool template_has_runs(const template_state *t, const template_roles *r, const template_tile *tile);
const char *template_channels_loop(template_state *t, const template_roles *r);
/* Returns the innermost loop over the output's vectors, except those of a tile. */
const char *template_columns_loop(template_state *t, const template_order *order, int64_t lanes);
/* Returns the innermost loop over rows. */
const char *template_rows_loop(template_state *t, const template_roles *r,
                               const template_tile *tile, const template_order *order);

/* ---- pieces of an axis (template_cut.c) ---- */
/* Cuts the loop along an axis of the output, whose vectors have that many lanes, where conditions
 * and indices of reads change their form. Returns false if they do not, or if the axis stays whole
 * because there would be too many pieces or too few tasks. */
bool template_cut(template_state *t, uint32_t axis, int64_t lanes);

/* ---- orders (template_order.c) ---- */
/* Chooses blocks of positions for channels that are outside. The data that `shared` reads for one
 * block stays in the second cache while the channels are traversed. */
template_order template_order_of(const template_state *t, const template_roles *r,
                                 const template_tile *tile, const wick_stage *fold,
                                 const wick_node *shared);
/* Chooses the order for a result that has few products: it takes long to write in short pieces of many
 * rows. If the second cache does not hold the result with `beside` operands of its size and what
 * `vectors` reads, but the latter alone, the rows are written to their ends, several at once, unless
 * vectors are whole cache lines in different sets of the cache. If it
 * does not even hold the result with these operands, that is done in blocks of some rows, or of
 * columns, that read as little. Returns the order unchanged if this does not apply. */
template_order template_order_columns(const template_state *t, const template_roles *r,
                                      const template_tile *tile, const wick_stage *fold,
                                      const wick_node *vectors, uint32_t beside,
                                      const template_order *order);
/* Chooses blocks of columns, or of lines, for which the second cache holds the panel that `vectors` reads
 * and what is written. Returns false if there can be none. */
bool template_panel_order(const template_state *t, const template_roles *r, const wick_stage *fold,
                          const wick_node *vectors, template_order *out);
/* ---- partial sums in memory (template_partial.c) ---- */
typedef struct template_partial {
  uint32_t sum,
      block; /* the fold's axis whose terms are in blocks; the axis of the output's blocks */
  int64_t terms, size; /* terms in a block; indices of the output's axis in a block */
} template_partial;
/* Chooses the blocks. Returns false if there can be none. */
bool template_partial_of(const template_state *t, const template_roles *r, const wick_stage *fold,
                         const wick_node *vectors, template_partial *out);
/* What is done about vectors that are in many parts of the memory. */
typedef enum template_far {
  TEMPLATE_AS_IT_IS, /* nothing: they are in few parts, or near, or sizes are not known */
  TEMPLATE_PANEL,    /* blocks of them, of which each element has many uses, are copied first */
  TEMPLATE_PARTIAL   /* sums are partial for a while: few parts are read at once */
} template_far;
/* out: the blocks of TEMPLATE_PARTIAL */
template_far template_far_of(const template_state *t, const template_roles *r,
                             const wick_stage *fold, const wick_node *vectors,
                             template_partial *out);
/* Writes the loops of the output, and of the fold with this tile. */
void template_partial_loops(template_state *t, const template_roles *r, const template_tile *tile,
                            const wick_stage *fold, const template_partial *p);

/* Returns true if the data that `shared` reads for all positions of a group of channels exceeds the
 * second cache. */
bool template_reads_far(const template_state *t, const template_roles *r, const wick_stage *fold,
                        const wick_node *shared);
/* Returns true if the vectors of the next tile should be prefetched, where a tile has `width`
 * neighbours along the output's last axis: they are in many distant rows, which processors do not
 * fetch ahead by themselves, and reading them takes long, compared to their products. They must fit
 * in the second cache beside those of this tile. */
bool template_streams(const template_state *t, const wick_stage *fold, const wick_node *vectors,
                      int64_t width);
/* Returns true if the axis of the output is neither a channel axis nor a batch axis. */
bool template_is_position(const template_state *t, const template_roles *r, uint32_t axis);

/* ---- tiles (template_tile.c) ---- */
/* The bytes of vectors that are streamed while a tile sums. `each` is for each vector of a tile, if
 * later tiles read the same vectors again; otherwise `all` is for all tiles. The first tile that
 * needs a vector waits `far` cycles for it, and `visit` for all vectors of a step. */
typedef struct template_stream {
  uint64_t each, all;
  double far, visit;
  int64_t steps; /* steps of the sum; 0: many */
  /* number of operands that are as large as the result, and are read when it is stored */
  uint32_t beside;
  int64_t apart; /* vectors of memory that a vector's lanes come from; 0: one */
  double fresh;  /* wick_cost_fresh */
} template_stream;

/* Returns the number of registers needed in addition to sums and vectors: one for a shared value,
 * one to spare, and one for a product if there is no multiply-add instruction. */
int64_t template_spare(const template_state *t, wick_elem e);
/* Returns the tile that the knobs set, or the best one of those that fit into the registers, of which
 * `spare` are left over. A tile is part of `all`, and at most `most`. */
template_tile template_tile_best(template_state *t, int64_t spare, const template_tile *all,
                                 const template_tile *most, const template_roles *r,
                                 const template_stream *stream);

/* ---- products (template_product.c) ---- */
int64_t template_dot_lanes(const template_state *t, int64_t extent); /* along a tile's vectors */
/* Returns the last axis of the fold if it is a dot product of this form, the target has such an
 * instruction, and its lanes run along axis v; otherwise UINT32_MAX. */
uint32_t template_dot_axis(const template_state *t, const wick_stage *fold, uint32_t v,
                           wick_dots form);
/* Returns true if neighbours along an axis share the elements that are read, in runs of n that
 * begin at multiples of n. */
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

/* Returns the read of a parameter whose blocks should be copied to a panel before the group's sum of
 * products reads them; NULL: none. */
const wick_node *template_panel_read(template_state *t);
/* Copies or computes the panel for each block of columns of that order. */
void template_panel_loops(template_state *t, const template_roles *r, const template_order *order);
/* Finds the tiles of a sum of products, for templates that add stages inside the output's loops.
 * Returns NULL if the fold is no such sum. */
const void *template_outer_product_of(template_state *t, const wick_stage *fold);
void template_outer_product_loops(template_state *t, const wick_stage *fold, const void *found);

#endif
