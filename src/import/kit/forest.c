/* Builds decision trees as tables of the operator tree_walk. Its nodes have one comparison: x is
 * at most a threshold (first child), or not (second child, also for NaN).
 *
 * x < t is the same as x at most the next lower number. If NaN must go to the first child, and
 * for x > t, the node compares -x with -next(t) and exchanges its children; columns after those
 * of x contain -x. An equality becomes two such nodes, and membership in a set a binary search
 * over its members. The leaves are the first nodes, and each is its own child. */
#include "import/kit/forest.h"

#include <math.h>
#include <string.h>

enum { FOREST_MOST_NODES = 1 << 28, FOREST_MOST_DEPTH = 4096, FOREST_STEPS = 16 };

typedef struct forest {
  wick_builder *b;
  wick_arena *tmp;
  const char *name; /* of constants */
  const wick_forest *f;
  int64_t columns;   /* of x */
  uint32_t *first;   /* per source node: the first of its nodes */
  uint32_t n;        /* nodes, including leaves */
  int32_t *column;   /* [n]; columns + k: the negative of column k */
  double *threshold; /* [n] */
  int32_t *child;    /* [n, 2] */
  uint32_t at;       /* the next free node */
  bool negated;      /* a node reads a negated column */
} forest;

/* ---- from source nodes to nodes ---- */

static uint64_t forest_size(const wick_forest_node *n)
{
  uint64_t equal = n->mode == WICK_FOREST_EQ || n->mode == WICK_FOREST_NEQ;
  return n->mode == WICK_FOREST_MEMBER ? n->nmember ? 3 * (uint64_t)n->nmember - 1 : 1 : 1 + equal;
}

static int32_t forest_target(const forest *t, wick_forest_to to)
{
  return to < 0 ? ~to : (int32_t)t->first[to];
}

static double forest_next(const forest *t, double x, double to)
{
  return t->f->elem == WICK_F64 ? nextafter(x, to) : (double)nextafterf((float)x, (float)to);
}

static void forest_put(forest *t, uint32_t at, int64_t column, double threshold, int32_t yes,
                       int32_t no)
{
  t->column[at] = (int32_t)column;
  t->threshold[at] = threshold;
  t->child[2 * at] = yes;
  t->child[2 * at + 1] = no;
}

/* Goes to `yes` if x <= v, to `no` if x > v. NaN goes to `yes` if `nan_yes`, else to `no`. */
static void forest_most(forest *t, uint32_t at, int64_t column, double v, int32_t yes, int32_t no,
                        bool nan_yes)
{
  if (!nan_yes) {
    forest_put(t, at, column, v, yes, no);
    return;
  }
  double above = v == (double)INFINITY ? (double)NAN : -forest_next(t, v, (double)INFINITY);
  forest_put(t, at, t->columns + column, above, no, yes);
  t->negated = true;
}

/* Goes to `yes` if x < v, to `no` if x >= v. */
static void forest_less(forest *t, uint32_t at, int64_t column, double v, int32_t yes, int32_t no,
                        bool nan_yes)
{
  if (v == -(double)INFINITY) /* no number is less: all go to `no`, except perhaps NaN */
    forest_most(t, at, column, nan_yes ? v : (double)NAN, nan_yes ? no : yes, no, nan_yes);
  else
    forest_most(t, at, column, forest_next(t, v, -(double)INFINITY), yes, no, nan_yes);
}

/* Tests equality by two nodes from `at` on. */
static void forest_equal(forest *t, uint32_t at, int64_t column, double v, int32_t yes, int32_t no,
                         bool nan_yes)
{
  int32_t second = (int32_t)at + 1;
  if (nan_yes) {
    forest_less(t, at, column, v, no, second, false);
    forest_most(t, at + 1, column, v, yes, no, true);
  } else {
    forest_most(t, at, column, v, second, no, false);
    forest_less(t, at + 1, column, v, no, yes, false);
  }
}

/* Tests membership in members lo .. hi-1 by 3 (hi - lo) - 1 nodes from `at` on. NaN goes to the
 * right half. */
static void forest_members(forest *t, const wick_forest_node *n, uint32_t at, uint32_t lo,
                           uint32_t hi, int32_t yes, int32_t no)
{
  while (hi - lo > 1) { /* recursion into the left half, whose depth is logarithmic */
    uint32_t mid = lo + (hi - lo) / 2, left = at + 1, right = left + 3 * (mid - lo) - 1;
    forest_most(t, at, n->column, n->member[mid - 1], (int32_t)left, (int32_t)right, false);
    forest_members(t, n, left, lo, mid, yes, no);
    at = right, lo = mid;
  }
  forest_equal(t, at, n->column, n->member[lo], yes, no, n->tracks);
}

static void forest_node(forest *t, const wick_forest_node *n, uint32_t at)
{
  int32_t yes = forest_target(t, n->yes), no = forest_target(t, n->no);
  switch (n->mode) {
  case WICK_FOREST_LEQ: forest_most(t, at, n->column, n->value, yes, no, n->tracks); break;
  case WICK_FOREST_LT: forest_less(t, at, n->column, n->value, yes, no, n->tracks); break;
  case WICK_FOREST_GTE: forest_less(t, at, n->column, n->value, no, yes, !n->tracks); break;
  case WICK_FOREST_GT: forest_most(t, at, n->column, n->value, no, yes, !n->tracks); break;
  case WICK_FOREST_EQ: forest_equal(t, at, n->column, n->value, yes, no, n->tracks); break;
  case WICK_FOREST_NEQ: forest_equal(t, at, n->column, n->value, no, yes, false); break;
  default:
    if (n->nmember)
      forest_members(t, n, at, 0, n->nmember, yes, no);
    else /* the set is empty; with `tracks`, NaN counts as a member */
      forest_put(t, at, n->column, n->tracks ? (double)INFINITY : (double)NAN, no,
                 n->tracks ? yes : no);
  }
}

static bool forest_tables(forest *t)
{
  const wick_forest *f = t->f;
  wick_arena *tmp = t->tmp;
  uint64_t n = f->nleaf;
  t->first = wick_new(tmp, uint32_t, (size_t)f->nnode + 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    if (f->node[i].column < 0 || f->node[i].column >= t->columns) {
      wick_build_fail(t->b, WICK_ERANGE, "feature %lld of %lld", (long long)f->node[i].column,
                      (long long)t->columns);
      return false;
    }
    t->first[i] = (uint32_t)n;
    n += forest_size(&f->node[i]);
  }
  if (n > FOREST_MOST_NODES || t->columns > INT32_MAX / 2 || !f->nleaf || !f->nroot) {
    wick_build_fail(t->b, WICK_ELIMIT, "%llu nodes, %u leaves, %u trees", (unsigned long long)n,
                    f->nleaf, f->nroot);
    return false;
  }
  t->n = (uint32_t)n;
  t->column = wick_new(tmp, int32_t, n);
  t->threshold = wick_new(tmp, double, n);
  t->child = wick_new(tmp, int32_t, 2 * n);
  for (uint32_t i = 0; i < f->nleaf; i++) forest_put(t, i, 0, 0, (int32_t)i, (int32_t)i);
  for (uint32_t i = 0; i < f->nnode; i++) forest_node(t, &f->node[i], t->first[i]);
  return true;
}

/* ---- the longest path from a root to a leaf ---- */

/* Returns the largest depth of a tree, where leaves have depth 1, or 0 if there is a cycle.
 * Visits children before their parent. */
static uint32_t forest_depth(const forest *t)
{
  uint32_t *depth = wick_new(t->tmp, uint32_t, t->n), deepest = 1; /* 0: not visited */
  wick_list(uint32_t) open = {0};
  const uint32_t busy = UINT32_MAX;
  for (uint32_t i = 0; i < t->f->nleaf; i++) depth[i] = 1;
  for (uint32_t r = 0; r < t->f->nroot; r++) {
    wick_push(t->tmp, &open, (uint32_t)forest_target(t, t->f->root[r]));
    while (open.n) {
      uint32_t i = open.at[open.n - 1], below = 0;
      bool done = depth[i] && depth[i] != busy, wait = false;
      for (int k = 0; k < 2 && !done; k++) {
        uint32_t to = (uint32_t)t->child[2 * i + (uint32_t)k], d = depth[to];
        if (d == busy) return 0;
        if (!d) wick_push(t->tmp, &open, to), wait = true;
        if (d > below) below = d;
        if (wait) break;
      }
      if (wait) {
        depth[i] = busy;
        continue;
      }
      if (!done) depth[i] = below + 1;
      if (depth[i] > deepest) deepest = depth[i];
      open.n--;
    }
  }
  return deepest;
}

/* ---- operands of tree_walk ---- */

static wick_value forest_i32(const forest *t, uint32_t rank, const int64_t *dim, const int32_t *v)
{
  wick_module *m = t->b->module;
  size_t n = sizeof *v;
  for (uint32_t k = 0; k < rank; k++) n *= (size_t)dim[k];
  const void *kept = wick_arena_copy(&m->mem, v, n, 64);
  uint32_t k =
      wick_emit_constant(m, t->name, wick_type_tensor_const(m, WICK_I32, rank, dim), kept, n);
  return wick_build_constant(t->b, k);
}

/* Appends the negated columns of x if a node reads one. */
static wick_value forest_input(const forest *t, wick_value x)
{
  x = wick_build_cast(t->b, x, t->f->elem);
  if (!t->negated) return x;
  wick_value negative = wick_build1(t->b, WICK_OP_neg, x);
  return wick_build_concat(t->b, 1, 2, (const wick_value[]){x, negative});
}

/* Returns the leaf for each row and tree, [rows, trees], or [trees, rows] if `rows_last`. */
static wick_value forest_leaves(const forest *t, wick_value x, uint32_t steps, bool rows_last)
{
  int64_t n = t->n, two[2] = {n, 2}, roots[2] = {1, 1};
  int32_t *root = wick_new(t->tmp, int32_t, t->f->nroot);
  for (uint32_t r = 0; r < t->f->nroot; r++) root[r] = forest_target(t, t->f->root[r]);
  roots[rows_last ? 0 : 1] = t->f->nroot;
  wick_value in[5] = {forest_input(t, x), forest_i32(t, 1, &n, t->column),
                      wick_emit_table(t->b, t->name, t->f->elem, 1, &n, t->threshold),
                      forest_i32(t, 2, two, t->child), forest_i32(t, 2, roots, root)};
  do { /* at least one step, because the operand x determines the number of rows */
    uint32_t some = steps < FOREST_STEPS ? steps : FOREST_STEPS;
    wick_emit e = wick_emit_begin(t->b, WICK_OP_tree_walk);
    wick_emit_set_int(&e, "depth", some ? some : 1);
    wick_emit_set_int(&e, "rows_last", rows_last);
    in[4] = wick_emit_end(&e, 5, in);
    steps -= some;
  } while (steps);
  return in[4];
}

wick_value wick_forest_apply(wick_builder *b, wick_arena *tmp, const char *name,
                             const wick_forest *f, wick_value x, int aggregate)
{
  static const wick_opcode by[] = {WICK_OP_reduce_mean, WICK_OP_reduce_sum, WICK_OP_reduce_min,
                                   WICK_OP_reduce_max};
  if (b->status) return (wick_value){0};
  const wick_type_info *info = wick_built_info(b, x);
  forest t = {.b = b, .tmp = tmp, .name = name, .f = f};
  t.columns = wick_dim_is_const(info->dim[1]) ? info->dim[1].v : -1;
  if (t.columns < 0) wick_build_fail(b, WICK_EUNSUPPORTED, "the number of features must be known");
  if (b->status || !forest_tables(&t)) return (wick_value){0};
  uint32_t deepest = forest_depth(&t);
  if (!deepest || deepest > FOREST_MOST_DEPTH) {
    if (deepest)
      wick_build_fail(b, WICK_ELIMIT, "a tree is deeper than %d", FOREST_MOST_DEPTH);
    else
      wick_build_fail(b, WICK_EPARSE, "a node is below itself");
    return (wick_value){0};
  }
  bool rows_last = !wick_dim_is_const(info->dim[0]) || info->dim[0].v >= f->nroot;
  wick_value leaf = forest_leaves(&t, x, deepest - 1, rows_last);
  wick_value table =
      wick_emit_table(b, name, f->elem, 2, (const int64_t[]){f->nleaf, f->ntarget}, f->weight);
  wick_value weights = wick_emit_gather(b, WICK_OP_gather, table, leaf, 0);
  return wick_emit_reduce1(b, by[aggregate], weights, rows_last ? 0 : 1, false);
}
