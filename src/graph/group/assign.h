/* Decides which nodes run in one kernel.
 *
 * A group ends in one node, its root. Its other nodes have results that nobody outside the group
 * uses:
 * - after a node with stages of its own (the anchor): element-wise nodes with the result's shape;
 * - around folds along the last dimension or dimensions (slices: softmax, the means of a norm):
 *   element-wise nodes of the whole shape, or of one element for each slice, before, between and
 *   after the folds. Slices of several dimensions must be short enough, or so many, that whole
 *   slices are tasks;
 * - before element-wise nodes and folds: casts of narrow floats to wider ones, of any shape;
 * - before an anchor that reads all channels at a position: element-wise nodes, and before them a
 *   node with stages of its own that handles each channel separately (a depthwise convolution).
 *   This requires that the images between them exceed half of the second cache, and that the
 *   weights are few. A row of the image is consumed while it is in the cache.
 *
 * A node that could be the end of another anchor's group, through a chain of only users, joins that
 * group rather than the nodes before a slice's fold. A group is within one region. */
#ifndef WICK_GRAPH_GROUP_ASSIGN_H
#define WICK_GRAPH_GROUP_ASSIGN_H

#include "ir/build.h"
#include "target/target.h"

typedef struct wick_groups {
  const wick_func *f;
  wick_uses uses;
  const uint32_t *definer;
  uint32_t *of;     /* per node: the root of its group; UINT32_MAX: none */
  uint32_t *first;  /* per root: the first node of its group */
  uint32_t *next;   /* per node: the next one of its group; UINT32_MAX: it is the root */
  uint32_t *region; /* per node: the first node of its region */
} wick_groups;

/* `apart`, per node: it runs in no kernel; NULL: none is apart. */
wick_groups wick_groups_of(const wick_func *f, const wick_target *t, const bool *apart,
                           wick_arena *tmp);

/* Writes the values that a group reads from outside, each once, in the order of first use.
 * Immediates are not operands. `out` needs space for all values. */
uint32_t wick_group_operands(const wick_groups *g, uint32_t root, wick_value *out);

bool wick_group_is_imm(const wick_node *n); /* a number, which is no operand */
/* Returns true if the node is computed element by element and cannot fail. Operators with stages of
 * their own may fail for integers, but not for floats. */
bool wick_group_is_scalar(const wick_func *f, const wick_node *n);
/* Returns true if the result has memory of its own and constant sizes, and the operands are copied
 * into views of it. The last dimension with more than one element must be the operands' last
 * dimension, too. Otherwise the copies would be slow, and the node is a kernel. */
bool wick_group_is_filled(const wick_func *f, const wick_node *n);
/* Returns true if the loop is known to run at most `most` times. */
bool wick_group_counts_within(const wick_func *f, const wick_node *loop, wick_dim most);
/* Returns true if the result is the memory of operand 0 from element *offset on, with another type.
 * If choice->index is not 0, this index of a loop selects a part of that memory. */
bool wick_group_is_view(const wick_func *f, const wick_node *n, int64_t *offset,
                        wick_picked *choice);
/* Returns true if the node has no definition to compile. Calls and tuples have none yet. */
bool wick_group_is_later(const wick_node *n);

#endif
