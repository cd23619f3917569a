/* Gradient-boosted regression trees: a number from a few features, learnt from examples.
 * Source: Friedman, Greedy function approximation, 2001; squared error, exact splits. */
#ifndef WICK_TUNE_TREES_H
#define WICK_TUNE_TREES_H

#include "base/arena.h"

enum { WICK_TREES = 40, WICK_TREE_DEPTH = 3, WICK_TREE_NODES = (1 << (WICK_TREE_DEPTH + 1)) - 1 };

typedef struct wick_tree {      /* node i has the children 2i + 1 and 2i + 2 */
  int feature[WICK_TREE_NODES]; /* -1: a leaf */
  double at[WICK_TREE_NODES];   /* below it goes to the first child; of a leaf the value */
} wick_tree;

typedef struct wick_trees {
  double mean;
  uint32_t n;
  wick_tree tree[WICK_TREES];
} wick_trees;

/* x: n rows of `width` features. Deterministic. Time O(trees * depth * width * n log n). */
void wick_trees_fit(const double *x, const double *y, uint32_t n, uint32_t width, wick_arena *tmp,
                    wick_trees *out);
double wick_trees_value(const wick_trees *t, const double *x);

#endif
