/* Eigenvalues and singular values by Jacobi's rotations. A round rotates disjoint pairs of columns, which
 * are those of a round-robin tournament: after as many rounds as there are columns, each pair has met. */
#include "import/kit/linear.h"

enum { JACOBI_SWEEPS = 12 }; /* over all pairs; 8 are enough up to 100 columns */

/* The rounds of a tournament of n columns. */
typedef struct jacobi_rounds {
  wick_builder *b;
  wick_dim n;
  wick_value size, rounds; /* i64[]: n, and the smallest odd number that is not below n - 1 */
  wick_value own;          /* [n]: 0, 1, ... */
} jacobi_rounds;

static jacobi_rounds jacobi_begin(wick_builder *b, wick_dim n)
{
  jacobi_rounds j = {.b = b, .n = n, .own = wick_emit_count(b, n)};
  j.size = wick_build1(b, WICK_OP_size, j.own);
  wick_value odd = wick_build2(b, WICK_OP_mod, j.size, wick_emit_number(b, j.size, 2));
  j.rounds = wick_emit_by(b, WICK_OP_sub, wick_build2(b, WICK_OP_add, j.size, odd), 1);
  return j;
}

static wick_value jacobi_steps(const jacobi_rounds *j)
{
  return wick_emit_by(j->b, WICK_OP_mul, j->rounds, JACOBI_SWEEPS);
}

/* The partner [n] of each column in a round. Columns i and k below `rounds` meet if i + k = round modulo
 * `rounds`. One is left over in each round: it meets the last column if n is even, else itself. */
static wick_value jacobi_partner(const jacobi_rounds *j, wick_value step)
{
  wick_builder *b = j->b;
  wick_value round = wick_build2(b, WICK_OP_mod, step, j->rounds);
  wick_value other = wick_build2(b, WICK_OP_sub, round, j->own);
  other = wick_build2(b, WICK_OP_add, other, j->rounds);
  other = wick_build2(b, WICK_OP_mod, other, j->rounds);
  wick_value last = wick_emit_by(b, WICK_OP_sub, j->size, 1);
  wick_value alone = wick_build2(b, WICK_OP_eq, other, j->own);
  wick_value is_even = wick_build2(b, WICK_OP_eq, last, j->rounds);
  wick_value left = wick_build3(b, WICK_OP_where, is_even, last, j->own);
  other = wick_build3(b, WICK_OP_where, alone, left, other);
  /* The last of an even number meets the column k with 2 k = round modulo `rounds`. */
  wick_value half = wick_emit_by(b, WICK_OP_add, j->rounds, 1);
  half = wick_emit_by(b, WICK_OP_div, half, 2);
  half = wick_build2(b, WICK_OP_mod, wick_build2(b, WICK_OP_mul, round, half), j->rounds);
  wick_value is_last = wick_build2(b, WICK_OP_eq, j->own, j->rounds);
  return wick_build3(b, WICK_OP_where, is_last, half, other);
}

/* The factors of each column itself and, in *of_other, of its partner, both [batch, n], so that the pair's
 * product becomes 0. square: the columns' squares; product: those with their partners. */
static wick_value jacobi_rotation(const jacobi_rounds *j, wick_value square, wick_value product,
                                  wick_value partner, wick_value *of_other)
{
  wick_builder *b = j->b;
  wick_value theirs = wick_emit_gather(b, WICK_OP_gather, square, partner, 1);
  wick_value is_first = wick_build2(b, WICK_OP_lt, j->own, partner);
  wick_value low = wick_build3(b, WICK_OP_where, is_first, square, theirs);
  wick_value high = wick_build3(b, WICK_OP_where, is_first, theirs, square);
  wick_value nothing = wick_emit_by(b, WICK_OP_eq, product, 0);
  wick_value alone = wick_build2(b, WICK_OP_eq, j->own, partner);
  nothing = wick_build2(b, WICK_OP_or, nothing, alone);
  wick_value one = wick_emit_number(b, product, 1), zero = wick_emit_number(b, product, 0);
  wick_value twice = wick_emit_by(b, WICK_OP_mul, product, 2);
  twice = wick_build3(b, WICK_OP_where, nothing, one, twice);
  wick_value h = wick_build2(b, WICK_OP_div, wick_build2(b, WICK_OP_sub, high, low), twice);
  wick_value root = wick_emit_by(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, h, h), 1);
  wick_value sum = wick_build1(b, WICK_OP_abs, h);
  sum = wick_build2(b, WICK_OP_add, sum, wick_build1(b, WICK_OP_sqrt, root));
  wick_value t = wick_build1(b, WICK_OP_reciprocal, sum);
  wick_value is_negative = wick_emit_by(b, WICK_OP_lt, h, 0);
  t = wick_build3(b, WICK_OP_where, is_negative, wick_build1(b, WICK_OP_neg, t), t);
  t = wick_build3(b, WICK_OP_where, nothing, zero, t);
  root = wick_emit_by(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, t, t), 1);
  wick_value cosine = wick_build1(b, WICK_OP_reciprocal, wick_build1(b, WICK_OP_sqrt, root));
  wick_value sine = wick_build2(b, WICK_OP_mul, t, cosine);
  wick_value minus = wick_build1(b, WICK_OP_neg, sine);
  *of_other = wick_build3(b, WICK_OP_where, is_first, minus, sine);
  return cosine;
}

/* own x + other x[partners], along an axis of x [batch, m, n]. */
static wick_value jacobi_turned(wick_builder *b, wick_value x, wick_value partner, wick_value own,
                                wick_value other, uint32_t axis)
{
  wick_value theirs = wick_emit_gather(b, WICK_OP_gather, x, partner, axis);
  own = wick_build2(b, WICK_OP_mul, wick_emit_unsqueeze(b, own, 3 - axis), x);
  other = wick_build2(b, WICK_OP_mul, wick_emit_unsqueeze(b, other, 3 - axis), theirs);
  return wick_build2(b, WICK_OP_add, own, other);
}

/* Sorts the columns of x by values [batch, n]. */
static wick_value jacobi_sorted(wick_builder *b, wick_value values, bool ascending, wick_dim n,
                                wick_value *order)
{
  wick_emit e = wick_emit_begin(b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 1);
  wick_emit_set_int(&e, "least", ascending);
  wick_emit_set_dims(&e, "k", 1, &n);
  values = wick_emit_end1(&e, values);
  *order = (wick_value){values.id + 1};
  return values;
}

static wick_value jacobi_columns(wick_builder *b, wick_value x, wick_value order)
{
  if (b->status) return x;
  wick_value from = wick_emit_unsqueeze(b, order, 1);
  from = wick_emit_expand(b, from, 3, wick_built_info(b, x)->dim);
  return wick_emit_gather(b, WICK_OP_gather_elements, x, from, 2);
}

wick_value wick_linear_eigen(wick_builder *b, wick_value a, wick_value *vectors)
{
  *vectors = a;
  if (b->status) return a;
  const wick_type_info t = *wick_built_info(b, a);
  const wick_dim column[] = {t.dim[0], t.dim[1], wick_dim_const(1)};
  wick_value one = wick_linear_identity(b, a), lower = wick_linear_triangle(b, a, true);
  wick_value both = wick_build2(b, WICK_OP_add, lower, wick_build_swap(b, lower));
  a = wick_build2(b, WICK_OP_sub, both, wick_build2(b, WICK_OP_mul, one, a));
  jacobi_rounds j = jacobi_begin(b, t.dim[1]);
  wick_value steps = jacobi_steps(&j);
  const wick_value first[] = {a, one};
  wick_value step = wick_emit_loop_begin(b, steps, 2, first, 0, t.dim[1]);
  wick_value x = {step.id + 1}, next[2], other;
  wick_value partner = jacobi_partner(&j, step), to = wick_emit_unsqueeze(b, partner, 1);
  to = wick_emit_expand(b, wick_emit_unsqueeze(b, to, 0), 3, column);
  wick_value product = wick_emit_gather(b, WICK_OP_gather_elements, x, to, 2);
  product = wick_emit_squeeze(b, product, 2);
  wick_value square = wick_linear_diagonal(b, x);
  wick_value own = jacobi_rotation(&j, square, product, partner, &other);
  x = jacobi_turned(b, x, partner, own, other, 1);
  next[0] = jacobi_turned(b, x, partner, own, other, 2);
  next[1] = jacobi_turned(b, (wick_value){step.id + 2}, partner, own, other, 2);
  a = wick_emit_loop_end(b, 2, next);
  wick_value order, values = wick_linear_diagonal(b, a);
  values = jacobi_sorted(b, values, true, t.dim[1], &order);
  *vectors = jacobi_columns(b, (wick_value){a.id + 1}, order);
  return values;
}

/* The same for at least as many rows as columns. */
static wick_value jacobi_svd(wick_builder *b, wick_value a, wick_value *u, wick_value *v)
{
  const wick_type_info t = *wick_built_info(b, a);
  const wick_dim n = t.dim[2], square[] = {t.dim[0], n, n};
  wick_value row = wick_emit_count_along(b, n, 0, 2), column = wick_emit_count_along(b, n, 1, 2);
  wick_value one = wick_build_cast(b, wick_build2(b, WICK_OP_eq, row, column), WICK_F64);
  one = wick_emit_expand(b, wick_emit_unsqueeze(b, one, 0), 3, square);
  jacobi_rounds j = jacobi_begin(b, n);
  wick_value steps = jacobi_steps(&j);
  const wick_value first[] = {a, one};
  wick_value step = wick_emit_loop_begin(b, steps, 2, first, 0, n);
  wick_value x = {step.id + 1}, next[2], other, partner = jacobi_partner(&j, step);
  wick_value theirs = wick_emit_gather(b, WICK_OP_gather, x, partner, 2);
  wick_value product = wick_build2(b, WICK_OP_mul, x, theirs);
  product = wick_emit_reduce1(b, WICK_OP_reduce_sum, product, 1, false);
  wick_value sum = wick_emit_reduce1(b, WICK_OP_reduce_sum_square, x, 1, false);
  wick_value own = jacobi_rotation(&j, sum, product, partner, &other);
  next[0] = jacobi_turned(b, x, partner, own, other, 2);
  next[1] = jacobi_turned(b, (wick_value){step.id + 2}, partner, own, other, 2);
  a = wick_emit_loop_end(b, 2, next);
  wick_value order, r;
  *v = (wick_value){a.id + 1};
  wick_value s = wick_emit_reduce1(b, WICK_OP_reduce_l2, a, 1, false);
  s = jacobi_sorted(b, s, false, n, &order);
  a = jacobi_columns(b, a, order);
  *v = jacobi_columns(b, *v, order);
  /* The columns are orthogonal: r is diagonal, and q completes them, also where some are 0. */
  *u = wick_linear_qr(b, a, &r);
  wick_value is_negative = wick_emit_by(b, WICK_OP_lt, wick_linear_diagonal(b, r), 0);
  wick_value sign = wick_build_cast(b, is_negative, WICK_F64);
  sign = wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, sign, -2), 1);
  *v = wick_build2(b, WICK_OP_mul, *v, wick_emit_unsqueeze(b, sign, 1));
  return s;
}

wick_value wick_linear_svd(wick_builder *b, wick_value a, wick_value *u, wick_value *v)
{
  *u = *v = a;
  if (b->status) return a;
  const wick_type_info *t = wick_built_info(b, a);
  wick_dim rest = wick_dim_sub(b->module->dims, t->dim[1], t->dim[2]);
  int64_t least, most;
  wick_dim_range(b->module->dims, rest, &least, &most);
  if (least >= 0) return jacobi_svd(b, a, u, v);
  if (most <= 0) return jacobi_svd(b, wick_build_swap(b, a), v, u);
  wick_build_fail(b, WICK_ETYPE,
                  "it is not known whether the matrices have more rows or more columns");
  return a;
}
