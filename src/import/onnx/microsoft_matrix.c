/* Imports com.microsoft's operators on matrices that run step by step: inverses, and the path of least
 * cost through a matrix. */
#include <math.h>

#include "import/kit/linear.h"
#include "import/onnx/microsoft.h"

/* ---- Inverse ---- */

/* The inverse of each matrix of a batch, computed in f64. */
static void matrix_inverse_import(wick_onnx_op *o)
{
  const wick_type_info *t = wick_onnx_info(o, 0);
  if (t->rank < 2 || !wick_onnx_equal(o, t->dim[t->rank - 2], t->dim[t->rank - 1])) {
    wick_onnx_fail(o, WICK_ETYPE, "its input has rank %u, expected square matrices", t->rank);
    return;
  }
  wick_value a = wick_linear_batch(o->b, o->in[0]);
  wick_value one = wick_linear_identity(o->b, a);
  o->out[0] = wick_linear_unbatch(o->b, wick_linear_solve(o->b, a, one), o->in[0]);
}

/* ---- DynamicTimeWarping ---- */

typedef struct matrix_path {
  wick_onnx_op *o;
  wick_builder *b;
  int64_t rows, columns;
  wick_value cost; /* [steps, rows]: element [r + c, r] is that of position (r, c) */
} matrix_path;

/* Moves element r to r + 1, and puts infinity first. */
static wick_value matrix_moved(const matrix_path *p, wick_value v)
{
  wick_value first = wick_emit_expand(p->b, wick_emit_number(p->b, v, (double)INFINITY), 1,
                                      (wick_dim[]){wick_dim_const(1)});
  v = wick_emit_slice(p->b, v, 0, wick_dim_const(0), wick_dim_const(p->rows - 1));
  return wick_build_concat(p->b, 0, 2, (wick_value[]){first, v});
}

/* Reads the costs by diagonals; positions outside of the matrix cost infinity. */
static bool matrix_path_read(matrix_path *p)
{
  wick_onnx_op *o = p->o;
  wick_builder *b = p->b;
  const wick_type_info *t = wick_onnx_info(o, 0);
  if ((t->rank != 2 && t->rank != 3) ||
      (t->rank == 3 && !wick_onnx_equal(o, t->dim[0], wick_dim_const(1)))) {
    wick_onnx_fail(o, WICK_ETYPE, "its input has rank %u, expected one matrix", t->rank);
    return false;
  }
  for (uint32_t k = 0; k < 2; k++) {
    wick_dim d = t->dim[t->rank - 2 + k];
    if (!wick_dim_is_const(d)) return wick_onnx_must_be_known(o, "the size of the matrix", d);
    *(k ? &p->columns : &p->rows) = d.v;
  }
  int64_t numel;
  if (p->rows < 1 || p->columns < 1 || wick_mul_overflows(p->rows + p->columns, p->rows, &numel) ||
      numel > 1 << 28) {
    wick_onnx_fail(o, WICK_ELIMIT, "its matrix has %lld x %lld elements", (long long)p->rows,
                   (long long)p->columns);
    return false;
  }
  wick_dim rows = wick_dim_const(p->rows), steps = wick_dim_const(p->rows + p->columns - 1);
  wick_value x = wick_build_reshape(b, o->in[0], 2, (wick_dim[]){rows, wick_dim_const(p->columns)});
  wick_value step = wick_emit_count_along(b, steps, 0, 2);
  wick_value column = wick_build2(b, WICK_OP_sub, step, wick_emit_count_along(b, rows, 1, 2));
  wick_value low = wick_emit_by(b, WICK_OP_ge, column, 0);
  wick_value inside =
      wick_build2(b, WICK_OP_and, low, wick_emit_by(b, WICK_OP_lt, column, (double)p->columns));
  column = wick_emit_by(b, WICK_OP_max, column, 0);
  column = wick_emit_by(b, WICK_OP_min, column, (double)(p->columns - 1));
  x = wick_emit_gather(b, WICK_OP_gather_elements, wick_build_swap(b, x), column, 0);
  p->cost = wick_build3(b, WICK_OP_where, inside, x, wick_emit_number(b, x, (double)INFINITY));
  return !b->status;
}

/* The least costs of one diagonal after another. Returns from where each position is reached, [steps,
 * rows]: 0 from both before, 1 from the row before, 2 from the column before. */
static wick_value matrix_path_traces(const matrix_path *p)
{
  wick_builder *b = p->b;
  wick_dim rows = wick_dim_const(p->rows), steps = wick_dim_const(p->rows + p->columns - 1);
  wick_value none = wick_emit_expand(b, wick_emit_number(b, p->cost, (double)INFINITY), 1, &rows);
  wick_value first = wick_emit_by(b, WICK_OP_eq, wick_emit_count(b, rows), 0);
  wick_value zero = wick_emit_number(b, p->cost, 0);
  /* before the first diagonal: position (-1, -1) costs nothing; moved, that is element 0 */
  wick_value in[2] = {none, wick_build3(b, WICK_OP_where, first, zero, none)};
  wick_value count = wick_onnx_size(p->o, steps);
  wick_value i = wick_emit_loop_begin(b, count, 2, in, 1, steps);
  wick_value before = {i.id + 1}, both = {i.id + 2};
  wick_value up = matrix_moved(p, before);
  wick_value c0 = wick_build2(b, WICK_OP_lt, both, up);
  c0 = wick_build2(b, WICK_OP_and, c0, wick_build2(b, WICK_OP_lt, both, before));
  wick_value c1 = wick_build2(b, WICK_OP_lt, up, both);
  c1 = wick_build2(b, WICK_OP_and, c1, wick_build2(b, WICK_OP_lt, up, before));
  wick_value least = wick_build3(b, WICK_OP_where, c1, up, before);
  least = wick_build3(b, WICK_OP_where, c0, both, least);
  wick_value cost = wick_emit_gather(b, WICK_OP_gather, p->cost, i, 0);
  cost = wick_build2(b, WICK_OP_add, least, cost);
  wick_type number = wick_type_tensor(p->o->c->module, WICK_I32, 0, NULL);
  wick_value trace[3];
  for (int64_t k = 0; k < 3; k++) trace[k] = wick_build_const(b, number, 0, k);
  wick_value from = wick_build3(b, WICK_OP_where, c1, trace[1], trace[2]);
  from = wick_build3(b, WICK_OP_where, c0, trace[0], from);
  wick_value next[3] = {cost, up, from};
  return (wick_value){wick_emit_loop_end(b, 3, next).id + 2};
}

static wick_value matrix_number(const matrix_path *p, int64_t i)
{
  return wick_build_const(p->b, wick_type_tensor(p->o->c->module, WICK_I64, 0, NULL), 0, i);
}

/* Walks back from the last position. The path [2, most] has `count` positions; the rest repeats. */
static void matrix_path_import(wick_onnx_op *o)
{
  wick_builder *b = o->b;
  matrix_path p = {.o = o, .b = b};
  if (!matrix_path_read(&p)) return;
  wick_value trace = matrix_path_traces(&p);
  wick_dim most = wick_dim_const(p.rows + p.columns - 1);
  wick_value in[2], count = wick_onnx_size(o, most);
  in[0] = matrix_number(&p, p.rows - 1);
  in[1] = matrix_number(&p, p.columns - 1);
  wick_value i = wick_emit_loop_begin(b, count, 2, in, 2, most);
  wick_value r = {i.id + 1}, c = {i.id + 2}, next[4];
  wick_value row = wick_emit_by(b, WICK_OP_max, r, 0);
  wick_value diagonal = wick_build2(b, WICK_OP_add, row, wick_emit_by(b, WICK_OP_max, c, 0));
  wick_value from = wick_emit_gather(b, WICK_OP_gather, trace, diagonal, 0);
  from = wick_emit_gather(b, WICK_OP_gather, from, row, 0);
  wick_value left = wick_emit_by(b, WICK_OP_ne, from, 1), up = wick_emit_by(b, WICK_OP_ne, from, 2);
  wick_value low = wick_build2(b, WICK_OP_min, r, c);
  wick_value on = wick_emit_by(b, WICK_OP_ge, low, 0);
  up = wick_build_cast(b, wick_build2(b, WICK_OP_and, up, on), WICK_I64);
  left = wick_build_cast(b, wick_build2(b, WICK_OP_and, left, on), WICK_I64);
  next[0] = wick_build2(b, WICK_OP_sub, r, up);
  next[1] = wick_build2(b, WICK_OP_sub, c, left);
  next[2] = r, next[3] = c;
  wick_value y = wick_emit_loop_end(b, 4, next);
  wick_value part[2] = {{y.id + 2}, {y.id + 3}}; /* the path, the last position first */
  if (b->status) return;
  wick_value valid = wick_build2(b, WICK_OP_min, part[0], part[1]);
  valid = wick_build_cast(b, wick_emit_by(b, WICK_OP_ge, valid, 0), WICK_I64);
  wick_value length = wick_emit_reduce1(b, WICK_OP_reduce_sum, valid, 0, false);
  wick_value at = wick_emit_by(b, WICK_OP_sub, length, 1);
  at = wick_build2(b, WICK_OP_sub, at, wick_emit_count(b, most));
  at = wick_emit_by(b, WICK_OP_max, at, 0);
  for (uint32_t k = 0; k < 2; k++) {
    part[k] = wick_build_cast(b, wick_emit_gather(b, WICK_OP_gather, part[k], at, 0), WICK_I32);
    part[k] = wick_emit_unsqueeze(b, part[k], 0);
  }
  o->out[0] = wick_onnx_bound(o, wick_build_concat(b, 0, 2, part), 1, length);
}

const wick_onnx_row wick_onnx_microsoft_matrix_rows[] = {
    {"com.microsoft.DynamicTimeWarping", 1, {1, 1}, 1, "", matrix_path_import, 0, 0},
    {"com.microsoft.Inverse", 1, {1, 1}, 1, "", matrix_inverse_import, 0, 0},
    {0},
};
