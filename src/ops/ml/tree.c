/* tree_walk: decision trees, for all rows of a batch and all trees at once.
 *
 * A node is a column of x, a threshold and two children. If x is at most the threshold, the walk
 * goes to the first child; otherwise, also for NaN, to the second. A leaf is its own child, so that
 * all walks have the same length. The steps are straight-line code whose lanes are rows or trees.
 */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"

enum { TREE_MOST_DEPTH = 64 };
enum { TREE_X, TREE_COLUMN, TREE_THRESHOLD, TREE_CHILD, TREE_AT };

static wick_status tree_tables(const wick_infer *c, wick_dim *out_nodes)
{
  const wick_type_info *column, *threshold, *child;
  WICK_TRY(wick_infer_tensor(c, TREE_COLUMN, "the columns", 1, &column));
  WICK_TRY(wick_infer_alike(c, TREE_THRESHOLD, "the thresholds", 1, &threshold));
  WICK_TRY(wick_infer_tensor(c, TREE_CHILD, "the children", 2, &child));
  if (column->elem != WICK_I32 || child->elem != WICK_I32)
    return wick_infer_fail(c, WICK_ETYPE, "columns and children are %s and %s, expected i32",
                           wick_elem_name(column->elem), wick_elem_name(child->elem));
  wick_dim n = column->dim[0];
  if (column->rank != 1 || threshold->rank != 1 || child->rank != 2 ||
      !wick_dim_eq(threshold->dim[0], n) || !wick_dim_eq(child->dim[0], n) ||
      !wick_dim_is(child->dim[1], 2) || wick_dim_is(n, 0))
    return wick_infer_fail(c, WICK_ETYPE, "%s columns, %s thresholds and children %s",
                           wick_infer_dim_text(c, n), wick_infer_dim_text(c, threshold->dim[0]),
                           wick_infer_type_text(c, c->in[TREE_CHILD]->type));
  *out_nodes = n;
  return NULL;
}

static wick_status tree_walk_infer(wick_infer *c)
{
  const wick_type_info *x, *at;
  wick_dim nodes, dim[2];
  WICK_TRY(wick_infer_tensor(c, TREE_X, "x", 2, &x));
  WICK_TRY(tree_tables(c, &nodes));
  WICK_TRY(wick_infer_tensor(c, TREE_AT, "the first nodes", 2, &at));
  uint32_t row = c->attr[WICK_ATTR_tree_walk_rows_last].i ? 1 : 0;
  if (at->elem != WICK_I32 || at->rank != 2 || x->rank != 2 ||
      (!wick_dim_is(at->dim[row], 1) && !wick_infer_equal(c, at->dim[row], x->dim[0])))
    return wick_infer_fail(c, WICK_ETYPE, "%s as first nodes of x %s",
                           wick_infer_type_text(c, c->in[TREE_AT]->type),
                           wick_infer_type_text(c, c->in[TREE_X]->type));
  if (wick_dim_is(x->dim[1], 0)) return wick_infer_fail(c, WICK_ETYPE, "x has no columns");
  dim[row] = x->dim[0];
  dim[1 - row] = at->dim[1 - row];
  wick_infer_out(c, 0, WICK_I32, 2, dim);
  return NULL;
}

static int64_t tree_clamp(int64_t i, int64_t n) { return i < 0 || i >= n ? n - 1 : i; }

static wick_status tree_walk_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[TREE_X], *child = &c->in[TREE_CHILD], *at = &c->in[TREE_AT],
                    *out = &c->out[0];
  uint32_t row = c->attr[WICK_ATTR_tree_walk_rows_last].i ? 1 : 0;
  int64_t nodes = child->dim[0];
  for (int64_t i = 0; i < out->dim[0]; i++)
    for (int64_t j = 0; j < out->dim[1]; j++) {
      int64_t line = row ? j : i, from = i * at->dim[1] + j;
      if (at->dim[row] == 1) from = row ? i : j;
      int64_t node = tree_clamp(wick_load_int(WICK_I32, at->data, (uint64_t)from), nodes);
      for (int64_t d = 0; d < c->attr[WICK_ATTR_tree_walk_depth].i; d++) {
        uint64_t k = (uint64_t)node;
        int64_t column = tree_clamp(wick_load_int(WICK_I32, c->in[TREE_COLUMN].data, k), x->dim[1]);
        double v = wick_load_elem(x->elem, x->data, (uint64_t)(line * x->dim[1] + column)).f,
               t = wick_load_elem(x->elem, c->in[TREE_THRESHOLD].data, k).f;
        node = wick_load_int(WICK_I32, child->data, 2 * k + (v <= t ? 0 : 1));
        node = tree_clamp(node, nodes);
      }
      wick_store_elem(WICK_I32, out->data, (uint64_t)(i * out->dim[1] + j),
                      (wick_scalar){.i = node});
    }
  return NULL;
}

/* Clamps an index to 0 .. n-1, as an i64. A negative index is a large unsigned number. */
static wick_value tree_index(wick_builder *b, wick_value i, wick_dim n)
{
  wick_dim one = wick_dim_const(1);
  wick_value last = wick_stage_number(b, wick_dim_sub(b->module->dims, n, one), WICK_U32);
  i = wick_build2(b, WICK_OP_min, wick_build_cast(b, i, WICK_U32), last);
  return wick_build_cast(b, i, WICK_I64);
}

static wick_value tree_table(const wick_compute *c, uint32_t k, wick_value node)
{
  return wick_read(c->b, c->in[k], &WICK_DIM_ANY, 1, &node, (wick_value){0});
}

/* Goes from a node, whose index is inside, to one of its children. */
static wick_value tree_step(const wick_compute *c, wick_dim line, wick_value node)
{
  wick_builder *b = c->b;
  wick_value none = {0};
  if (b->status) return none;
  const wick_type_info *x = wick_built_info(b, c->in[TREE_X]),
                       *child = wick_built_info(b, c->in[TREE_CHILD]);
  wick_value column = tree_index(b, tree_table(c, TREE_COLUMN, node), x->dim[1]);
  wick_value v =
      wick_read(b, c->in[TREE_X], (const wick_dim[]){line, WICK_DIM_ANY}, 1, &column, none);
  wick_value below = wick_build2(b, WICK_OP_le, v, tree_table(c, TREE_THRESHOLD, node));
  wick_value which =
      wick_build3(b, WICK_OP_where, below, wick_build_i64(b, 0), wick_build_i64(b, 1));
  wick_value any[2] = {node, which};
  wick_value next =
      wick_read(b, c->in[TREE_CHILD], (const wick_dim[]){WICK_DIM_ANY, WICK_DIM_ANY}, 2, any, none);
  return tree_index(b, next, child->dim[0]);
}

static void tree_walk_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *at = wick_built_info(b, c->in[TREE_AT]);
  wick_axis axis[2];
  wick_dim from[2];
  uint32_t row = c->attr[WICK_ATTR_tree_walk_rows_last].i ? 1 : 0;
  wick_stage_map(c, 0, "tree_walk", axis);
  for (uint32_t k = 0; k < 2; k++)
    from[k] = wick_dim_is(at->dim[k], 1) ? wick_dim_const(0) : axis[k].sym;
  wick_value node = wick_read(b, c->in[TREE_AT], from, 0, NULL, (wick_value){0});
  if (b->status) return;
  node = tree_index(b, node, wick_built_info(b, c->in[TREE_CHILD])->dim[0]);
  for (int64_t d = 0; d < c->attr[WICK_ATTR_tree_walk_depth].i; d++)
    node = tree_step(c, axis[row].sym, node);
  node = wick_build_cast(b, node, WICK_I32);
  c->out[0] = wick_map_end(b, 1, &node);
}

const wick_op wick_op_tree_walk = {
    .name = "tree_walk",
    .doc = "The node that each row of x reaches in each tree after `depth` steps from the first "
           "node. The result is [rows, trees], or [trees, rows] with `rows_last`. A step goes to "
           "the first child if x, in the column of the node, is at most the threshold of the "
           "node; otherwise, and if x is NaN, it goes to the second child. A number outside of "
           "the tables selects the last entry",
    .nin = {5, 5},
    .nout = {1, 1},
    .attr = {{"depth", WICK_ATTR_INT, 0, true, NULL, 1, TREE_MOST_DEPTH},
             {"rows_last", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << TREE_COLUMN | 1u << TREE_CHILD | 1u << TREE_AT,
    .infer = tree_walk_infer,
    .ref = tree_walk_ref,
    .compute = tree_walk_compute,
    .grad = wick_grad_zero,
    .batch.run = wick_batch_rows,
};
