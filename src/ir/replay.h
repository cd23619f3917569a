/* Builds nodes of a builder again in the same builder, on other values. Derivatives and importers
 * use it for computations that are repeated.
 *
 *   wick_replay r = wick_replay_begin(b);
 *   r.to[old.id] = other;                        // as often as needed
 *   wick_replay_nodes(&r, begin, end);
 *   wick_value again = wick_replayed(&r, old);   // old itself if it was not built again
 * wick_replay_whole builds a new version of a function in which nodes may become others (`instead`).
 * Locations are copied, with that of the call if a function is inlined; the user's names are not. Types are inferred again only if the type or the
 * known content of an operand has changed. */
#ifndef WICK_IR_REPLAY_H
#define WICK_IR_REPLAY_H

#include "ir/build.h"

typedef struct wick_replay {
  wick_builder *b;
  const wick_node *node; /* the nodes when the replay began */
  const wick_value_info *value;
  uint32_t nvalue;
  wick_value *to; /* [nvalue]: what an old value became; 0: it is itself */
  /* Builds something else than a copy of n, with its regions, and sets its results. Returns false
   * if n is to be copied. `in` has what its operands became. NULL: all nodes are copied. */
  bool (*instead)(struct wick_replay *r, const wick_node *n, const wick_value *in, wick_value *out);
  void *arg;
  wick_loc call; /* of the call that is inlined; 0: none is */
} wick_replay;

wick_replay wick_replay_begin(wick_builder *b);
/* Replays nodes of another function. The caller sets the values of its parameters. */
wick_replay wick_replay_func(wick_builder *b, const wick_func *f);
/* Replays nodes begin .. end-1, including their regions, which are closed. */
void wick_replay_nodes(wick_replay *r, uint32_t begin, uint32_t end);

/* Replays all of f, in a new builder, as a version of f. The caller sets b->mem, instead and arg of
 * *r before; the user's names are copied. */
WICK_CHECKED wick_status wick_replay_whole(wick_replay *r, const wick_func *f, wick_func **out);

static inline wick_value wick_replayed(const wick_replay *r, wick_value v)
{
  return v.id < r->nvalue && r->to[v.id].id ? r->to[v.id] : v;
}

#endif
