/* Loops over a symbolic extent whose last step is moved back, so that whole steps cover the extent.
 * If the remainder is small, one step of a smaller size covers it; there are a few such sizes, each
 * with code of its own. If there are fewer elements in all than a step has, two steps of the next
 * smaller size are used. Some elements are then computed twice, in the same way. */
#include "loop/nest_state.h"

static bool overlap_halves(const nest_run *r, uint32_t l)
{
  for (uint32_t k = l + 1; k < r->st->loops.n; k++)
    if (r->st->loops.at[k].axis == r->st->loops.at[l].axis && r->st->loops.at[k].turn) return true;
  return false;
}

wick_dim nest_overlap_whole(nest *t, const nest_run *r, uint32_t l)
{
  wick_dims *dims = t->m->dims;
  const wick_sloop *loop = &r->st->loops.at[l];
  int64_t unit = nest_unit(r, l),
          next = wick_tail_smaller(loop->factor / unit, overlap_halves(r, l));
  wick_dim total = r->total[loop->axis], size = wick_dim_const(loop->factor),
           whole = wick_dim_floordiv(dims, total, size), rest = wick_dim_mod(dims, total, size),
           more = wick_dim_sub(dims, rest, wick_dim_const(next * unit));
  more = wick_dim_max(dims, more, wick_dim_const(0));
  more = wick_dim_min(dims, more, wick_dim_min(dims, whole, wick_dim_const(1)));
  return wick_dim_add(dims, whole, more);
}

void nest_overlap_step(nest *t, nest_run *r, uint32_t l, wick_dim at, int64_t size,
                       const nest_inner *in)
{
  wick_dims *dims = t->m->dims;
  const wick_sloop *loop = &r->st->loops.at[l];
  wick_dim last = wick_dim_sub(dims, r->total[loop->axis], wick_dim_const(size));
  uint32_t mark = t->symbols.n;
  at = nest_symbol_be(t, loop->name, wick_dim_min(dims, at, last), nest_high(t, last));
  if (t->symbols.n > mark) t->symbols.at[mark].most = last, t->symbols.at[mark].exact = false;
  nest_once(t, r, l, at, wick_dim_const(size), in);
  t->symbols.n = t->b.status ? t->symbols.n : mark;
}

/* Emits `count` steps of `size` from `at` on. */
static void overlap_each(nest *t, nest_run *r, uint32_t l, wick_dim at, wick_dim count,
                         int64_t size, const nest_inner *in)
{
  wick_dims *dims = t->m->dims;
  wick_value first;
  uint32_t mark = nest_known_mark(t);
  wick_dim i = nest_for_begin(t, &r->st->loops.at[l], count, 0, NULL, &first);
  at = wick_dim_add(dims, at, wick_dim_mul(dims, i, wick_dim_const(size)));
  nest_overlap_step(t, r, l, at, size, in);
  nest_for_end(t, 0, NULL);
  nest_known_rewind(t, mark);
}

static wick_value overlap_compare(nest *t, wick_opcode op, wick_dim d, int64_t number)
{
  return nest_binary(t, op, nest_dim(t, NULL, d), nest_i64(t, number));
}

/* Returns the condition for steps of `size`: `size` is the smallest one that covers `rest`, and
 * there are at least `size` elements; or there are more than `size` elements, but fewer than the
 * next larger one. */
static wick_value overlap_taken(nest *t, wick_dim total, wick_dim rest, int64_t smaller,
                                int64_t size, int64_t larger)
{
  wick_value covers =
      nest_binary(t, WICK_OP_and, overlap_compare(t, WICK_OP_gt, rest, smaller),
                  nest_binary(t, WICK_OP_and, overlap_compare(t, WICK_OP_le, rest, size),
                              overlap_compare(t, WICK_OP_ge, total, size)));
  wick_value few = nest_binary(t, WICK_OP_and, overlap_compare(t, WICK_OP_gt, total, size),
                               overlap_compare(t, WICK_OP_lt, total, larger));
  return nest_binary(t, WICK_OP_or, covers, few);
}

void nest_overlap_rest(nest *t, nest_run *r, uint32_t l, const nest_inner *in)
{
  wick_dims *dims = t->m->dims;
  const wick_sloop *loop = &r->st->loops.at[l];
  wick_dim total = r->total[loop->axis], size = wick_dim_const(loop->factor),
           rest = wick_dim_mod(dims, total, size), at = wick_dim_sub(dims, total, rest);
  bool halves = overlap_halves(r, l);
  int64_t unit = nest_unit(r, l), larger = loop->factor / unit;
  uint32_t mark = t->symbols.n;
  t->again++;
  rest = nest_symbol_be(t, "rest", rest, loop->factor - 1);
  for (int64_t n = wick_tail_smaller(larger, halves); n > 0;
       larger = n, n = wick_tail_smaller(n, halves)) {
    int64_t smaller = n > 1 ? wick_tail_smaller(n, halves) : 0;
    if (n * unit > nest_high(t, total)) continue;
    wick_value taken = overlap_taken(t, total, rest, smaller * unit, n * unit, larger * unit);
    nest_when w = nest_when_begin(t, taken, 0, NULL);
    wick_dim count = wick_dim_ceildiv(dims, rest, wick_dim_const(n * unit));
    overlap_each(t, r, l, at, nest_symbol_be(t, "steps", count, 2), n * unit, in);
    nest_when_end(t, &w, NULL);
  }
  if (unit > 1) { /* fewer elements than a vector */
    wick_value few = nest_binary(t, WICK_OP_lt, nest_dim(t, NULL, total), nest_i64(t, unit));
    nest_when w = nest_when_begin(t, few, 0, NULL);
    nest_once(t, r, l, wick_dim_const(0), nest_symbol_be(t, "few", total, unit - 1), in);
    nest_when_end(t, &w, NULL);
  }
  t->again--;
  t->symbols.n = t->b.status ? t->symbols.n : mark;
}

void nest_overlap(nest *t, nest_run *r, uint32_t l, const nest_inner *in)
{
  t->again++;
  overlap_each(t, r, l, wick_dim_const(0), nest_overlap_whole(t, r, l), r->st->loops.at[l].factor,
               in);
  t->again--;
  nest_overlap_rest(t, r, l, in);
}
