/* Blocked layouts: the order of channels in packed images, and functions that build packing and
 * unpacking nodes. */
#ifndef WICK_OPS_NN_BLOCKED_H
#define WICK_OPS_NN_BLOCKED_H

#include "ir/build.h"

/* The order of channels in a packed image. A place is a position for a channel, and counts through
 * all blocks. The channels are in parts of equal size. Each part has blocks of its own, so that a
 * block belongs to one part; the places after a part's channels contain 0. Channel c is number c
 * mod (channels / parts) of part c / (channels / parts), or, if `shuffled`, number c / parts of
 * part c mod parts. */
typedef struct wick_order {
  int64_t channels, parts, block;
  bool shuffled;
} wick_order;

/* Makes an order. It has a single part if that gives the same places. */
wick_order wick_order_make(int64_t channels, int64_t parts, int64_t block, bool shuffled);
static inline int64_t wick_order_part(const wick_order *o) { return o->channels / o->parts; }
static inline int64_t wick_order_width(const wick_order *o) /* places in a part */
{
  return wick_ceildiv_i64(wick_order_part(o), o->block) * o->block;
}
static inline int64_t wick_order_places(const wick_order *o)
{
  return o->parts * wick_order_width(o);
}
int64_t wick_order_place(const wick_order *o, int64_t channel);
int64_t wick_order_channel(const wick_order *o, int64_t place); /* -1 if the place has no channel */
static inline bool wick_order_eq(const wick_order *a, const wick_order *b)
{
  return a->channels == b->channels && a->parts == b->parts && a->block == b->block &&
         a->shuffled == b->shuffled;
}

/* The attributes of an operator that describe an order, except the block. */
#define WICK_ORDER_ATTRS                                                                           \
  {"parts", WICK_ATTR_INT, 1, false, NULL, 1, 1 << 20},                                            \
  {                                                                                                \
    "shuffle", WICK_ATTR_BOOL, 0, false, NULL, 0, 0                                                \
  }

/* The places of the input that a group of a convolution sums over: runs of consecutive places. Runs
 * may include channels of other groups, whose weights are 0. */
typedef struct wick_runs {
  wick_order order; /* of the input */
  int64_t group, n, length;
  bool blocks; /* runs are whole blocks, and a block belongs to one group */
} wick_runs;

/* Finds the runs for that many groups. Returns false if there are none. For one group, the runs are
 * all blocks. */
bool wick_runs_of(const wick_order *o, int64_t group, wick_runs *out);
/* The same, with runs of whole blocks only. */
bool wick_runs_of_blocks(const wick_order *o, int64_t group, wick_runs *out);
/* Returns true if each run begins at a multiple of k places, and ends at one or at the end of its
 * blocks. */
bool wick_runs_whole(wick_dims *t, const wick_runs *r, int64_t k);
/* Returns the first place of run `run` of group `group`, both of which are expressions. */
wick_dim wick_runs_first(wick_dims *t, const wick_runs *r, wick_dim group, wick_dim run);

/* The element types of packed products, with the type of their sums: i32 for integers, f32 for
 * narrow floats. The weights may be of another integer type; with narrow floats they may be f32. */
#define WICK_PACKED_ELEMS                                                                          \
  (WICK_FLOATS | WICK_BIT(WICK_U8) | WICK_BIT(WICK_I8) | WICK_BIT(WICK_I16) | WICK_BIT(WICK_I32))
wick_elem wick_packed_sum(wick_elem e);
bool wick_packed_elems(wick_elem x, wick_elem w); /* a product of these types exists */

wick_value wick_build_pack(wick_builder *b, wick_value x, int64_t axis, const wick_order *o);
wick_value wick_build_unpack(wick_builder *b, wick_value x, int64_t axis, const wick_order *o);

#endif
