/* Blocked layouts: the order of channels in packed images, and nodes that pack and unpack. */
#ifndef WICK_OPS_NN_BLOCKED_H
#define WICK_OPS_NN_BLOCKED_H

#include "ir/build.h"

/* The order of channels in a packed image: in parts of equal size, each in blocks of its own, so
 * that a block belongs to one part; places after a part's channels hold 0. A place counts through
 * all blocks. Channel c is the part's channel c mod (channels / parts) of part c / (channels /
 * parts); `shuffled`: channel c / parts of part c mod parts. */
typedef struct wick_order {
  int64_t channels, parts, block;
  bool shuffled;
} wick_order;

/* With one part where that comes to the same. */
wick_order wick_order_make(int64_t channels, int64_t parts, int64_t block, bool shuffled);
static inline int64_t wick_order_part(const wick_order *o) { return o->channels / o->parts; }
static inline int64_t wick_order_width(const wick_order *o) /* places of a part */
{
  return wick_ceildiv_i64(wick_order_part(o), o->block) * o->block;
}
static inline int64_t wick_order_places(const wick_order *o)
{
  return o->parts * wick_order_width(o);
}
int64_t wick_order_place(const wick_order *o, int64_t channel);
int64_t wick_order_channel(const wick_order *o, int64_t place); /* -1 where there is none */
static inline bool wick_order_eq(const wick_order *a, const wick_order *b)
{
  return a->channels == b->channels && a->parts == b->parts && a->block == b->block &&
         a->shuffled == b->shuffled;
}

/* The attributes of an operator that state an order, beside the block. */
#define WICK_ORDER_ATTRS                                                                           \
  {"parts", WICK_ATTR_INT, 1, false, NULL, 1, 1 << 20},                                            \
  {                                                                                                \
    "shuffle", WICK_ATTR_BOOL, 0, false, NULL, 0, 0                                                \
  }

/* The input places that a group of a convolution sums over: runs of consecutive places. They may
 * hold channels of other groups, whose weights are 0. */
typedef struct wick_runs {
  wick_order order; /* of the input */
  int64_t group, n, length;
  bool blocks; /* runs are whole blocks, which belong to one group each */
} wick_runs;

/* False where there are no such runs for that many groups. One group: all blocks. */
bool wick_runs_of(const wick_order *o, int64_t group, wick_runs *out);
/* The same, of whole blocks. */
bool wick_runs_of_blocks(const wick_order *o, int64_t group, wick_runs *out);
/* In units of k places runs begin, and end there or where their blocks do. */
bool wick_runs_whole(wick_dims *t, const wick_runs *r, int64_t k);
/* The first place of run `run` of group `group`, both expressions. */
wick_dim wick_runs_first(wick_dims *t, const wick_runs *r, wick_dim group, wick_dim run);

/* What packed products take, and the type of their sums: i32 of integers, f32 of narrow floats. The
 * weights of integers may be others; those of narrow floats may be f32. */
#define WICK_PACKED_ELEMS                                                                          \
  (WICK_FLOATS | WICK_BIT(WICK_U8) | WICK_BIT(WICK_I8) | WICK_BIT(WICK_I16) | WICK_BIT(WICK_I32))
wick_elem wick_packed_sum(wick_elem e);
bool wick_packed_elems(wick_elem x, wick_elem w); /* they are multiplied */

wick_value wick_build_pack(wick_builder *b, wick_value x, int64_t axis, const wick_order *o);
wick_value wick_build_unpack(wick_builder *b, wick_value x, int64_t axis, const wick_order *o);

#endif
