/* The copier: a pass reads a function and returns a new one, through a map from old values to new.
 *
 *   wick_copier c = wick_copy_begin(f, mem);
 *   for (uint32_t i = 0; i < f->nnode; i++) {
 *     const wick_node *n = &f->node[i];
 *     if (hits) c.to[n->first.id] = ...build with &c.b...;   // a node without regions; else i =
 * n->end - 1 to leave out its regions else wick_copy_node(&c, n);
 *   }
 *   return wick_copy_end(&c);
 * A node with regions is opened when it is copied; its regions follow in the walk, and the copier
 * closes it. Locations and the user's names are carried along; types are inferred again only where
 * an operand's type has changed. */
#ifndef WICK_IR_COPY_H
#define WICK_IR_COPY_H

#include "ir/build.h"

struct wick_copy_open {
  const wick_node *node;
  uint32_t region; /* the region that is being copied */
};

typedef struct wick_copier {
  const wick_func *f;
  wick_builder b;
  wick_value *to; /* [nvalue + 1]: what an old value became */
  /* The new types of regions' parameters and of the results of nodes with regions; NULL:
   * unchanged. */
  wick_type (*retype)(const struct wick_copier *c, wick_value old);
  wick_list(struct wick_copy_open) open;
} wick_copier;

wick_copier wick_copy_begin(const wick_func *f, wick_arena *mem); /* parameters are copied */
/* The same with the parameters in another order: param[new position] is the old one, from 0. */
wick_copier wick_copy_begin_in_order(const wick_func *f, const uint32_t *param, wick_arena *mem);
void wick_copy_node(wick_copier *c, const wick_node *n);
/* Builds the definition of n's operator, which has one (`expand`), instead of the node. */
void wick_copy_opened(wick_copier *c, const wick_node *n);
/* Completes the new function. Rewrites cannot fail, so a failure is a bug of the pass; it is
 * reported as WICK_EINTERNAL. */
WICK_CHECKED wick_status wick_copy_finish(wick_copier *c, wick_func **out);
wick_func *wick_copy_end(wick_copier *c); /* asserts that there was no failure */

/* Builds a copy of n's operator with other operands in b (no regions), for passes that change only
 * operands. */
wick_value wick_copy_with(wick_builder *b, const wick_func *f, const wick_node *n,
                          const wick_value *in);

#endif
