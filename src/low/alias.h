/* What a low function does to memory: where each buffer lies, and who reads and writes it when.
 *
 * Views are resolved to their root: an alloc, a parameter or a constant. What passes through the
 * results and parameters of regions (`if`, `loop`) may be one of several roots: these are tied
 * together, and an access to one of them is an access to all. Two roots that are not tied share no
 * byte (that is the contract of the io buffers, too). */
#ifndef WICK_LOW_ALIAS_H
#define WICK_LOW_ALIAS_H

#include "low/memref.h"

/* An instruction that touches a root. `yield` and `free` neither read nor write, but need it. */
typedef struct wick_access {
  uint32_t node, operand;
  wick_value value; /* the buffer through which it goes */
  bool reads, writes;
  /* A group that relies on zeros around its parameter reads them, too: how many lie before it in
   * each dim, and the dims with them. NULL: none. */
  const int64_t *halo, *dim;
} wick_access;

typedef struct wick_access_list {
  wick_access *at;
  uint32_t n, cap;
} wick_access_list;

typedef struct wick_alias {
  const wick_func *f;
  wick_memref *memref;      /* per value */
  const uint32_t *definer;  /* per value: the node, or UINT32_MAX */
  const uint32_t *parent;   /* per node: the node around it, or UINT32_MAX */
  const uint32_t *tied;     /* per root: the number of its class; 0: it stands alone */
  wick_access_list *access; /* per value that is a root, by node; of a class: the same for all */
} wick_alias;

typedef struct wick_interval {
  uint32_t first, last; /* node indices, both included */
} wick_interval;

wick_alias wick_alias_of(const wick_func *f, wick_arena *mem);

/* The bytes that an access may touch: the value's place, with its halo. */
wick_memref wick_access_memref(const wick_alias *a, const wick_access *x);

/* What node n does to its operand k: neither reads nor writes where it is no buffer. A kernel
 * writes its callee's results, then reads its parameters; a callee that is not known does both to
 * all. */
void wick_low_effect(const wick_func *f, const wick_node *n, uint32_t k, bool *out_reads,
                     bool *out_writes);

/* Is there a way back from after node i to before it, below the node `outer` (UINT32_MAX: the
 * function)? *out: what an access at i takes part in, as seen from there: i alone, or the outermost
 * loop around it. */
bool wick_alias_repeats(const wick_alias *a, uint32_t i, uint32_t outer, wick_interval *out);

/* The instructions from the first to the last that need `root`, an alloc; false where there are
 * none. What is touched in a loop that it is defined outside of lives for the whole loop; so does
 * what is carried from one iteration to the next. */
bool wick_alias_live(const wick_alias *a, wick_value root, wick_interval *out);

/* The node in whose regions the root is defined; UINT32_MAX: the function itself. */
uint32_t wick_alias_scope(const wick_alias *a, wick_value root);

/* Memory of this function's own, which the plan gives a place: an alloc in the arena. */
bool wick_alias_planned(const wick_func *f, const uint32_t *definer, wick_value root);

#endif
