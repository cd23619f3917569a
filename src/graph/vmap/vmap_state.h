/* What the files of batching share. */
#ifndef WICK_GRAPH_VMAP_VMAP_STATE_H
#define WICK_GRAPH_VMAP_VMAP_STATE_H

#include "ops/batch/batch.h"

/* A function whose nodes are built for n rows. */
typedef struct vmap_walk {
  wick_builder *b;
  const wick_func *f;
  wick_dim n;
  wick_loc call;   /* of the call whose place the nodes take */
  wick_value mask; /* bool[n]: the rows that matter here; 0: all */
  wick_value *to;  /* per value of f: what it became */
  bool *rows;      /* per value of f: it has rows, as its first dimension */
} vmap_walk;

/* Finds which values that the nodes define have rows. `masked`: some rows may not matter there. */
void vmap_mark(vmap_walk *w, uint32_t begin, uint32_t end, bool masked);
void vmap_nodes(vmap_walk *w, uint32_t begin, uint32_t end);
/* The place of a node of the function. */
wick_loc vmap_place(const vmap_walk *w, const wick_node *n);
/* What v became, with rows. */
wick_value vmap_full(vmap_walk *w, wick_value v);
/* Whether one of bool[n] is true: bool[]. */
wick_value vmap_some(wick_builder *b, wick_value mask);

/* Returns whether f and the functions that it calls consist of nodes with batched forms. */
bool vmap_has_form(const wick_func *f, wick_arena *mem);
/* Builds the nodes of f on operands, of which some have rows. Results without rows get equal ones. */
void vmap_body(wick_builder *b, const wick_func *f, const wick_batching *a);

void vmap_if(vmap_walk *w, const wick_node *n);
void vmap_loop(vmap_walk *w, const wick_node *n);

#endif
