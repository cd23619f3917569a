/* Decision trees in the form between a format's attributes and the tables that the program reads. */
#ifndef WICK_IMPORT_KIT_FOREST_H
#define WICK_IMPORT_KIT_FOREST_H

#include "import/kit/emit.h"

typedef enum wick_forest_mode { /* in the order of TreeEnsemble's numbers */
                                WICK_FOREST_LEQ,
                                WICK_FOREST_LT,
                                WICK_FOREST_GTE,
                                WICK_FOREST_GT,
                                WICK_FOREST_EQ,
                                WICK_FOREST_NEQ,
                                WICK_FOREST_MEMBER,
                                WICK_FOREST_LEAF
} wick_forest_mode;
#define WICK_FOREST_WORDS                                                                          \
  "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ BRANCH_MEMBER LEAF"

/* The target of a branch: the number of a node or, if negative, ~number of a leaf. */
typedef int32_t wick_forest_to;

typedef struct wick_forest_node {
  wick_forest_mode mode; /* not LEAF */
  int64_t column;
  double value;         /* MEMBER: unused */
  const double *member; /* MEMBER: the set, ascending, without duplicates */
  uint32_t nmember;
  bool tracks; /* a NaN takes the branch `yes` */
  wick_forest_to yes, no;
} wick_forest_node;

typedef struct wick_forest {
  wick_elem elem; /* the type of comparisons: f32 or f64 */
  uint32_t nnode, nroot, nleaf, ntarget;
  const wick_forest_node *node;
  const wick_forest_to *root;
  const double *weight; /* [nleaf, ntarget] */
} wick_forest;

enum { WICK_FOREST_AVERAGE, WICK_FOREST_SUM, WICK_FOREST_MIN, WICK_FOREST_MAX };

/* Finds the leaves that each row of x [rows, columns] reaches, and returns the sum, mean, minimum
 * or maximum of their weights, [rows, ntarget] in the forest's type. The number of columns must be
 * known. `name` is for constants; `tmp` must live as long as the builder. A misfit is the builder's
 * failure. */
wick_value wick_forest_apply(wick_builder *b, wick_arena *tmp, const char *name,
                             const wick_forest *f, wick_value x, int aggregate);

#endif
