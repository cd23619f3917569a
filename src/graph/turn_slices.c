/* Replaces nodes in one traversal. The operand is [outer, n, inner], where n is the size of a
 * slice. Turned first, it is the matrix [n, inner * outer], whose columns are slices: the transposed
 * matrix [outer, n * inner]. Turned last, it is [outer * inner, n], whose rows are slices. */
#include "graph/turn_slices.h"

#include <string.h>

#include "ir/copy.h"
#include "target/target.h"

enum { TURN_LANES = 4, TURN_SLICES = 4 }; /* at least so many lanes, and vectors of slices */

typedef struct turn {
  wick_turn how;
  uint32_t axis;
  wick_dim outer, n, inner;
} turn;

static wick_dim turn_product(wick_dims *t, const wick_type_info *x, uint32_t from, uint32_t to)
{
  wick_dim d = wick_dim_const(1);
  for (uint32_t k = from; k < to; k++) d = wick_dim_mul(t, d, x->dim[k]);
  return d;
}

/* Where the operators that have a `turn` have their axis. */
_Static_assert((int)WICK_ATTR_softmax_axis == (int)WICK_ATTR_log_softmax_axis &&
                   (int)WICK_ATTR_softmax_axis == (int)WICK_ATTR_hardmax_axis &&
                   (int)WICK_ATTR_softmax_axis == (int)WICK_ATTR_argmax_axis &&
                   (int)WICK_ATTR_softmax_axis == (int)WICK_ATTR_argmin_axis &&
                   (int)WICK_ATTR_softmax_axis == (int)WICK_ATTR_top_k_axis,
               "turn_of reads the axis of all of them");

static turn turn_of(const wick_pass_context *pass, const wick_func *f, const wick_node *n)
{
  turn t = {.how = WICK_TURN_NONE};
  const wick_op *op = wick_op_of(n);
  int64_t lanes = pass->target->vector_bytes / (int64_t)sizeof(float), slices;
  if (!op->turn || lanes < TURN_LANES) return t;
  wick_dims *dims = f->module->dims;
  const wick_type_info *x = wick_info_of(f, n->in[0]);
  if (wick_elem_storage[x->elem].bits % 8) return t;
  t.axis = (uint32_t)n->attr[WICK_ATTR_softmax_axis].i;
  t.outer = turn_product(dims, x, 0, t.axis), t.n = x->dim[t.axis];
  t.inner = turn_product(dims, x, t.axis + 1, x->rank);
  if (!wick_dim_is_const(t.n) || !wick_dim_is_const(t.inner) || t.n.v < 2 || !t.inner.v ||
      t.inner.v >= lanes)
    return t;
  int64_t outer = wick_dim_is_const(t.outer) ? t.outer.v : wick_dim_typical(dims, t.outer);
  if (wick_mul_overflows(outer, t.inner.v, &slices)) return t;
  bool many = outer >= lanes && slices >= TURN_SLICES * lanes;
  wick_turn how = op->turn(n->attr, t.n.v, t.inner.v, lanes);
  if (many && (how & WICK_TURN_FIRST))
    t.how = WICK_TURN_FIRST;
  else if (outer < lanes && wick_dim_is_const(t.outer) && (how & WICK_TURN_LAST))
    t.how = WICK_TURN_LAST;
  return t;
}

static wick_value turn_swap(wick_builder *b, wick_value v, wick_dim rows, wick_dim columns)
{
  wick_dim matrix[2] = {rows, columns};
  return wick_build_swap(b, wick_build_reshape(b, v, 2, matrix));
}

/* Swaps the last two dimensions of v, as [outer, rows, columns]. */
static wick_value turn_swap_each(wick_builder *b, const turn *t, wick_value v, wick_dim rows,
                                 wick_dim columns)
{
  wick_dim dim[3] = {t->outer, rows, columns};
  return wick_build_swap(b, wick_build_reshape(b, v, 3, dim));
}

static wick_value turn_operand(wick_builder *b, const turn *t, wick_value x)
{
  wick_dims *dims = b->module->dims;
  wick_dim slices = wick_dim_mul(dims, t->inner, t->outer), matrix[2] = {t->n, slices};
  if (t->how == WICK_TURN_FIRST) {
    x = turn_swap(b, x, t->outer, wick_dim_mul(dims, t->n, t->inner));
  } else {
    x = turn_swap_each(b, t, x, t->n, t->inner);
    matrix[0] = slices, matrix[1] = t->n;
  }
  return wick_build_reshape(b, x, 2, matrix);
}

/* Returns a result of the turned operator as one of the node, of that type. */
static wick_value turn_result(wick_builder *b, const turn *t, wick_value y, uint32_t rank,
                              const wick_type_info *type)
{
  wick_dim n = type->rank == rank ? type->dim[t->axis] : wick_dim_const(1);
  wick_dim row = wick_dim_mul(b->module->dims, n, t->inner);
  if (t->how == WICK_TURN_FIRST && !wick_dim_is(row, 1))
    y = turn_swap(b, y, row, t->outer);
  else if (t->how == WICK_TURN_LAST && !wick_dim_is(n, 1))
    y = turn_swap_each(b, t, y, t->inner, n);
  return wick_build_reshape(b, y, type->rank, type->dim);
}

static void turn_node(wick_copier *c, const wick_node *n, const turn *t)
{
  wick_builder *b = &c->b;
  wick_attr attr[WICK_MAX_ATTR];
  memcpy(attr, n->attr, n->nattr * sizeof *attr);
  attr[WICK_ATTR_softmax_axis].i = t->how == WICK_TURN_LAST;
  b->loc = n->loc;
  wick_value x = turn_operand(b, t, c->to[n->in[0].id]),
             y = wick_build(b, n->op, 1, &x, attr, 0, NULL);
  for (uint32_t k = 0; k < n->nout && !b->status; k++) {
    uint32_t old = n->first.id + k;
    wick_value v = turn_result(b, t, (wick_value){y.id + k}, wick_info_of(c->f, n->in[0])->rank,
                               wick_info_of(c->f, (wick_value){old}));
    c->to[old] = v;
    if (!b->status) wick_build_name(b, v, c->f->value[old].name, c->f->value[old].relation);
  }
}

wick_status wick_pass_turn_slices(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  wick_copier c = wick_copy_begin(f, pass->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    const turn t = turn_of(pass, f, n);
    if (t.how && !c.b.status)
      turn_node(&c, n, &t);
    else
      wick_copy_node(&c, n);
  }
  return wick_copy_finish(&c, out);
}
