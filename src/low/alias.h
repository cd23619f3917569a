/* The memory accesses of a low function: the position of each buffer, and the nodes that read and
 * write it.
 *
 * Views are resolved to their root: an alloc, a parameter or a constant. A value that passes
 * through the results and parameters of regions (`if`, `loop`) may be one of several roots: these
 * are tied, and an access to one of them is an access to all. Two roots that are not tied share no
 * byte (that is the contract of the io buffers, too). */
#ifndef WICK_LOW_ALIAS_H
#define WICK_LOW_ALIAS_H

#include "low/memref.h"

/* An instruction that touches a root. `yield` and `free` neither read nor write, but need it. */
typedef struct wick_access {
  uint32_t node, operand;
  wick_value value; /* the buffer through which it goes */
  bool reads, writes;
  /* A group that relies on zeros around its parameter reads them, too: the number of zeros before
   * it in each dimension, and the dimensions with zeros. NULL: none. */
  const int64_t *halo, *dim;
} wick_access;

typedef struct wick_access_list {
  wick_access *at;
  uint32_t n, cap;
} wick_access_list;

typedef struct wick_alias {
  const wick_func *f;
  wick_memref *memref;     /* per value */
  const uint32_t *definer; /* per value: the node, or UINT32_MAX */
  const uint32_t *parent;  /* per node: the node around it, or UINT32_MAX */
  const uint32_t *tied;    /* per root: the number of its class; 0: not tied */
  /* per value that is a root, sorted by node; tied roots have the same list */
  wick_access_list *access;
} wick_alias;

typedef struct wick_interval {
  uint32_t first, last; /* node indices, both included */
} wick_interval;

wick_alias wick_alias_of(const wick_func *f, wick_arena *mem);

/* Returns the bytes that an access may touch: those of the value, with its halo. */
wick_memref wick_access_memref(const wick_alias *a, const wick_access *x);

/* Tells whether node n reads or writes its operand k; neither if the operand is no buffer. The
 * first operands of a kernel are the callee's results, which it writes, the others its parameters,
 * which it reads; those of a call, and of a kernel that is a low function, are as the callee's
 * parameters say. An unknown callee reads and writes all. */
void wick_low_effect(const wick_func *f, const wick_node *n, uint32_t k, bool *out_reads,
                     bool *out_writes);

/* Returns whether node i can run again inside the node `outer` (UINT32_MAX: the function). Sets
 * *out to the nodes that count as one with i there: i alone, or the outermost loop around it. */
bool wick_alias_repeats(const wick_alias *a, uint32_t i, uint32_t outer, wick_interval *out);

/* Sets *out to the instructions from the first to the last that need `root`, an alloc; returns
 * false if none does. A root that is used in a loop and defined outside of it lives for the whole
 * loop; so does one that is carried from one iteration to the next. */
bool wick_alias_live(const wick_alias *a, wick_value root, wick_interval *out);

/* Returns the node in whose regions the root is defined; UINT32_MAX for the function itself. */
uint32_t wick_alias_scope(const wick_alias *a, wick_value root);

/* Returns whether the memory plan gives the root an offset: whether it is an alloc in the arena. */
bool wick_alias_planned(const wick_func *f, const uint32_t *definer, wick_value root);

#endif
