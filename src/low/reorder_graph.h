/* The dependences of a low function's instructions through memory, values and prints, and the buffers of the arena that each needs.
 * The search in reorder_for_memory.c works on this graph. */
#ifndef WICK_LOW_REORDER_GRAPH_H
#define WICK_LOW_REORDER_GRAPH_H

#include "low/alias.h"

typedef struct wick_order_step { /* an instruction of the function's own region */
  uint32_t node;                 /* its first node; its regions move with it */
  uint32_t nbefore, nafter;      /* lengths of the lists, in which a step may occur several times */
  const uint32_t *after;         /* steps that depend on it */
  const uint32_t *before;        /* steps that it depends on */
  uint32_t *needs;               /* roots of the arena, each once */
  uint32_t nneeds;
} wick_order_step;

typedef struct wick_order_root {
  uint64_t nbytes;
  const uint32_t *user; /* steps that need it */
  uint32_t nuser;
} wick_order_root;

typedef struct wick_reorder_graph {
  uint32_t nstep;
  wick_order_step *step; /* in the function's order; without allocs, views, constants, return */
  uint32_t nroot;
  wick_order_root *root;
} wick_reorder_graph;

wick_reorder_graph wick_reorder_graph_of(const wick_func *f, wick_arena *mem);

#endif
