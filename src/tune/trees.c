/* Fits one tree after another to the errors of those before it. */
#include "tune/trees.h"

#include <stdlib.h>

enum { TREES_LEAF = 3 /* least examples of a leaf */ };
static const double trees_rate = 0.25;

typedef struct trees_example {
  double feature, rest;
  uint32_t row;
} trees_example;

typedef struct trees_fit {
  const double *x;
  uint32_t width;
  double *rest;            /* per row: the error that is left */
  trees_example *example;  /* scratch */
  uint32_t *row, *scratch; /* the rows in the order of the tree's leaves; scratch */
  wick_tree *tree;
} trees_fit;

static int trees_compare(const void *a, const void *b)
{
  const trees_example *x = a, *y = b;
  if (x->feature != y->feature) return x->feature < y->feature ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

/* Finds the split of rows [begin, end) that reduces the error most. Returns false if none does. */
static bool trees_split(trees_fit *f, uint32_t begin, uint32_t end, int *out_feature,
                        double *out_at)
{
  double all = 0, n = end - begin, best = 1e-12;
  bool found = false;
  for (uint32_t i = begin; i < end; i++) all += f->rest[f->row[i]];
  for (uint32_t k = 0; k < f->width; k++) {
    for (uint32_t i = begin; i < end; i++) {
      uint32_t row = f->row[i];
      f->example[i - begin] = (trees_example){f->x[(size_t)row * f->width + k], f->rest[row], row};
    }
    qsort(f->example, end - begin, sizeof *f->example, trees_compare);
    double left = 0;
    for (uint32_t i = 0; i + 1 < end - begin; i++) {
      const trees_example *e = &f->example[i];
      left += e->rest;
      double m = i + 1;
      if (e->feature == e[1].feature || m < TREES_LEAF || n - m < TREES_LEAF) continue;
      double gain = left * left / m + (all - left) * (all - left) / (n - m) - all * all / n;
      if (gain <= best) continue;
      best = gain, found = true;
      *out_feature = (int)k, *out_at = (e->feature + e[1].feature) / 2;
    }
  }
  return found;
}

/* Builds node `node` for rows [begin, end), and subtracts its value from their errors. */
static void trees_grow(trees_fit *f, uint32_t node, uint32_t begin, uint32_t end)
{
  int feature = -1;
  double at = 0;
  bool leaf = 2 * node + 2 >= WICK_TREE_NODES || !trees_split(f, begin, end, &feature, &at);
  f->tree->feature[node] = leaf ? -1 : feature;
  if (leaf) {
    double sum = 0;
    for (uint32_t i = begin; i < end; i++) sum += f->rest[f->row[i]];
    at = end > begin ? trees_rate * sum / (end - begin) : 0;
    for (uint32_t i = begin; i < end; i++) f->rest[f->row[i]] -= at;
    f->tree->at[node] = at;
    return;
  }
  f->tree->at[node] = at;
  uint32_t low = begin, high = 0;
  for (uint32_t i = begin; i < end; i++) {
    uint32_t row = f->row[i];
    if (f->x[(size_t)row * f->width + (uint32_t)feature] < at)
      f->row[low++] = row;
    else
      f->scratch[high++] = row;
  }
  for (uint32_t i = 0; i < high; i++) f->row[low + i] = f->scratch[i];
  trees_grow(f, 2 * node + 1, begin, low);
  trees_grow(f, 2 * node + 2, low, end);
}

void wick_trees_fit(const double *x, const double *y, uint32_t n, uint32_t width, wick_arena *tmp,
                    wick_trees *out)
{
  *out = (wick_trees){0};
  if (!n) return;
  wick_mark mark = wick_arena_mark(tmp);
  trees_fit f = {.x = x,
                 .width = width,
                 .rest = wick_new(tmp, double, n),
                 .example = wick_new(tmp, trees_example, n),
                 .row = wick_new(tmp, uint32_t, n),
                 .scratch = wick_new(tmp, uint32_t, n)};
  for (uint32_t i = 0; i < n; i++) out->mean += y[i] / n;
  for (uint32_t i = 0; i < n; i++) f.rest[i] = y[i] - out->mean;
  for (; out->n < WICK_TREES; out->n++) {
    for (uint32_t i = 0; i < n; i++) f.row[i] = i;
    f.tree = &out->tree[out->n];
    trees_grow(&f, 0, 0, n);
  }
  wick_arena_rewind(tmp, mark);
}

double wick_trees_value(const wick_trees *t, const double *x)
{
  double sum = t->mean;
  for (uint32_t i = 0; i < t->n; i++) {
    const wick_tree *tree = &t->tree[i];
    uint32_t node = 0;
    while (tree->feature[node] >= 0)
      node = 2 * node + (x[tree->feature[node]] < tree->at[node] ? 1 : 2);
    sum += tree->at[node];
  }
  return sum;
}
