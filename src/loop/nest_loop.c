/* Loops of the nest: whole steps, then the remainder.
 *
 * If an extent is symbolic, the number of whole steps is its floordiv by the factor, and the
 * remainder is a symbol of its own. In the remainder, inner loops that are straight-line code need
 * a constant extent. The remainder is therefore processed in smaller steps, each about half of the
 * one before, down to single elements or to vectors. Serial loops and vectors take it as it is,
 * vectors under a mask. */
#include "loop/nest_state.h"

/* ---- one loop ---- */

wick_dim nest_for_begin(nest *t, const wick_sloop *l, wick_dim count, uint32_t ncarried,
                        const wick_value *carried, wick_value *first)
{
  wick_value *in = wick_new(t->tmp, wick_value, ncarried + 2);
  wick_type *type = wick_new(t->tmp, wick_type, ncarried + 1);
  in[0] = nest_i64(t, 0), in[1] = nest_dim(t, NULL, count);
  type[0] = wick_type_scalar(t->m, WICK_I64, 1);
  for (uint32_t i = 0; i < ncarried; i++)
    in[2 + i] = carried[i],
           type[1 + i] = t->b.status ? type[0] : wick_built_type(&t->b, carried[i]);
  wick_build_open(&t->b, WICK_OP_for, ncarried + 2, in, NULL, 0, NULL);
  wick_value index = wick_region_begin(&t->b, ncarried + 1, type);
  wick_dim sym = nest_index_open(t, l->name, count);
  wick_push(t->tmp, &t->symbols,
            (struct nest_symbol){.sym = sym,
                                 .value = index,
                                 .prefetch = l->prefetch,
                                 .level = NEST_INNER + t->symbols.n,
                                 .most = wick_dim_sub(t->m->dims, count, wick_dim_const(1))});
  *first = (wick_value){index.id + 1};
  return sym;
}

wick_value nest_for_end(nest *t, uint32_t n, const wick_value *carried)
{
  wick_yield(&t->b, n, carried);
  if (t->symbols.n) t->symbols.n--;
  return wick_build_close(&t->b);
}

nest_saved nest_narrow(nest *t, nest_run *r, const wick_sloop *l, wick_dim at, wick_dim total)
{
  nest_saved s = {r->base[l->axis], r->total[l->axis]};
  r->base[l->axis] = wick_dim_add(t->m->dims, s.base, at);
  r->total[l->axis] = total;
  return s;
}

void nest_restore(nest_run *r, const wick_sloop *l, nest_saved s)
{
  r->base[l->axis] = s.base, r->total[l->axis] = s.total;
}

void nest_once(nest *t, nest_run *r, uint32_t l, wick_dim at, wick_dim total, const nest_inner *in)
{
  nest_saved s = nest_narrow(t, r, &r->st->loops.at[l], at, total);
  in->body(t, r, l, in->arg);
  nest_restore(r, &r->st->loops.at[l], s);
}

/* Emits `count` steps of `size` elements from `at` on. */
static void loop_each(nest *t, nest_run *r, uint32_t l, wick_dim at, wick_dim count, int64_t size,
                      const nest_inner *in)
{
  wick_dims *dims = t->m->dims;
  if (wick_dim_is(count, 1)) nest_once(t, r, l, at, wick_dim_const(size), in);
  if (wick_dim_is(count, 0) || wick_dim_is(count, 1)) return;
  wick_value first;
  uint32_t mark = nest_known_mark(t);
  wick_dim sym = nest_for_begin(t, &r->st->loops.at[l], count, in->n, in->state, &first),
           step = wick_dim_mul(dims, sym, wick_dim_const(size));
  for (uint32_t i = 0; i < in->n; i++) in->state[i] = (wick_value){first.id + i};
  nest_once(t, r, l, wick_dim_add(dims, at, step), wick_dim_const(size), in);
  wick_value out = nest_for_end(t, in->n, in->state);
  for (uint32_t i = 0; i < in->n; i++) in->state[i] = (wick_value){out.id + i};
  nest_known_rewind(t, mark);
}

/* ---- conditions ---- */

nest_when nest_when_begin(nest *t, wick_value condition, uint32_t n, const wick_value *state)
{
  nest_when w = {n, nest_known_mark(t), wick_dup(t->tmp, wick_value, state, n)};
  wick_type *type = wick_new(t->tmp, wick_type, n + 1);
  for (uint32_t i = 0; i < n && !t->b.status; i++) type[i] = wick_built_type(&t->b, state[i]);
  wick_build_open(&t->b, WICK_OP_if, 1, &condition, NULL, n, type);
  wick_region_begin(&t->b, 0, NULL);
  return w;
}

void nest_when_end(nest *t, const nest_when *w, wick_value *state)
{
  wick_yield(&t->b, w->n, state);
  nest_known_rewind(t, w->mark);
  wick_region_begin(&t->b, 0, NULL);
  wick_yield(&t->b, w->n, w->old);
  wick_value out = wick_build_close(&t->b);
  for (uint32_t i = 0; i < w->n; i++) state[i] = (wick_value){out.id + i};
}

/* ---- remainders ---- */

/* Returns the next loop inside l along its axis, or NULL. */
static const wick_sloop *loop_within(const nest_run *r, uint32_t l)
{
  for (uint32_t k = l + 1; k < r->st->loops.n; k++)
    if (r->st->loops.at[k].axis == r->st->loops.at[l].axis) return &r->st->loops.at[k];
  return NULL;
}

int64_t nest_unit(const nest_run *r, uint32_t l)
{
  if (r->st->loops.at[l].unit) return r->st->loops.at[l].unit;
  for (uint32_t k = l + 1; k < r->st->loops.n; k++) {
    const wick_sloop *x = &r->st->loops.at[k];
    if (x->axis == r->st->loops.at[l].axis && x->kind == WICK_VECTOR && x->size) return x->size;
  }
  return 1;
}

static wick_value loop_some(nest *t, wick_dim n)
{
  return nest_binary(t, WICK_OP_gt, nest_dim(t, NULL, n), nest_i64(t, 0));
}

/* Makes a symbol for a remainder of at most `most` elements. If it is a multiple of the inner
 * loop's step, the symbol shows this. */
static wick_dim loop_rest(nest *t, wick_dim rest, int64_t most, const wick_sloop *inner)
{
  wick_dims *dims = t->m->dims;
  int64_t step = inner ? inner->factor : 1;
  if (step == 1 || !wick_dim_is(wick_dim_mod(dims, rest, wick_dim_const(step)), 0))
    return nest_symbol_be(t, "rest", rest, most);
  rest = wick_dim_floordiv(dims, rest, wick_dim_const(step));
  return wick_dim_mul(dims, nest_symbol_be(t, "rest", rest, most / step), wick_dim_const(step));
}

void nest_rest(nest *t, nest_run *r, uint32_t l, wick_dim at, wick_dim rest, const nest_inner *in)
{
  wick_dims *dims = t->m->dims;
  const wick_sloop *loop = &r->st->loops.at[l], *inner = loop_within(r, l);
  if (t->b.status || wick_dim_is(rest, 0)) return;
  if (wick_dim_is_const(rest)) {
    nest_once(t, r, l, at, rest, in);
    return;
  }
  bool reduce = r->st->axis[loop->axis].reduce;
  uint32_t mark = t->symbols.n;
  t->again++;
  rest = loop_rest(t, rest, wick_min_i64(nest_high(t, rest), loop->factor - 1), inner);
  bool asked = inner && inner->tail == WICK_MASK && !r->st->fold;
  if (loop->kind != WICK_SPANS && !asked && (loop->unit || (inner && inner->kind == WICK_UNROLL))) {
    int64_t unit = nest_unit(r, l), n = loop->factor / unit;
    for (n = reduce ? 1 : n / 2; n > 0 && nest_high(t, rest) > 0; n /= 2) {
      wick_dim size = wick_dim_const(n * unit), count = wick_dim_floordiv(dims, rest, size),
               whole = wick_dim_mul(dims, count, size);
      if (nest_high(t, count) > 0) loop_each(t, r, l, at, count, n * unit, in);
      at = wick_dim_add(dims, at, whole);
      rest = n * unit == 1
                 ? wick_dim_const(0)
                 : nest_symbol_be(t, "rest", wick_dim_sub(dims, rest, whole), n * unit - 1);
    }
  }
  if (nest_high(t, rest) > 0) {
    nest_when w = nest_when_begin(t, loop_some(t, rest), in->n, in->state);
    nest_once(t, r, l, at, rest, in);
    nest_when_end(t, &w, in->state);
  }
  t->again--;
  t->symbols.n = t->b.status ? t->symbols.n : mark;
}

/* ---- serial loops ---- */

wick_dim nest_behind(nest *t, wick_dim total, wick_dim whole, int64_t size)
{
  /* one whole step leaves no remainder */
  if (nest_high(t, total) <= size) return wick_dim_const(0);
  return wick_dim_mul(t->m->dims, whole, wick_dim_const(size));
}

/* The steps of a loop, or of one of the loops into which it is cut. */
static void loop_steps(nest *t, nest_run *r, uint32_t l, const nest_inner *in)
{
  wick_dims *dims = t->m->dims;
  const wick_sloop *loop = &r->st->loops.at[l];
  wick_dim total = r->total[loop->axis], size = wick_dim_const(loop->factor),
           whole = wick_dim_floordiv(dims, total, size), rest = wick_dim_mod(dims, total, size),
           at = nest_behind(t, total, whole, loop->factor);
  bool overlap = loop->tail == WICK_OVERLAP && !wick_dim_is(rest, 0);
  if (overlap && !wick_dim_is_const(total) && nest_high(t, whole) > 0) {
    nest_overlap(t, r, l, in);
    return;
  }
  loop_each(t, r, l, wick_dim_const(0), whole, loop->factor, in);
  if (wick_dim_is(rest, 0) || t->b.status) return;
  if (overlap && total.v > loop->factor) /* the extent is constant: the last step is moved back */
    at = wick_dim_sub(dims, total, size), rest = size;
  nest_rest(t, r, l, at, rest, in);
}

void nest_steps(nest *t, nest_run *r, uint32_t l, const nest_inner *in)
{
  const wick_sloop *loop = &r->st->loops.at[l];
  int64_t total = r->total[loop->axis].v, from = 0;
  for (uint32_t i = 0; i <= loop->ncut && loop->ncut; i++) {
    int64_t end = i < loop->ncut ? loop->cut[i] : total;
    nest_saved s = nest_narrow(t, r, loop, wick_dim_const(from), wick_dim_const(end - from));
    loop_steps(t, r, l, in);
    nest_restore(r, loop, s);
    from = end;
  }
  if (!loop->ncut) loop_steps(t, r, l, in);
}

/* ---- straight-line code ---- */

bool nest_const(nest *t, const nest_run *r, uint32_t axis, int64_t *out)
{
  if (wick_dim_is_const(r->total[axis])) {
    *out = r->total[axis].v;
    return true;
  }
  nest_fail(
      t,
      "stage `%s`: a loop that is unrolled, divided into parts or a vector needs a constant extent",
      r->st->name);
  return false;
}

uint32_t nest_iterations(nest *t, const nest_run *r, const wick_sloop *l)
{
  int64_t most = nest_high(t, r->total[l->axis]), n = wick_ceildiv_i64(most, l->factor), total;
  bool parts = (l->kind == WICK_RFACTOR && l->size) || /* each part may be empty */
               (l->tail == WICK_MASK && !r->st->fold);
  if (!wick_dim_is_const(r->total[l->axis]) && n > 1 && !parts) {
    nest_const(t, r, l->axis, &total);
    return 1;
  }
  return (uint32_t)wick_min_i64(n, UINT32_MAX);
}

wick_dim nest_share(nest *t, const nest_run *r, const wick_sloop *l, uint32_t i)
{
  wick_dims *dims = t->m->dims;
  wick_dim total = r->total[l->axis], left;
  if (!i && nest_high(t, total) <= l->factor) return total;
  /* a condition decides */
  if (l->tail == WICK_MASK && l->factor == 1 && !r->st->fold) return wick_dim_const(1);
  left = wick_dim_sub(dims, total, wick_dim_const((int64_t)i * l->factor));
  return wick_dim_min(dims, left, wick_dim_const(l->factor));
}

bool nest_vector_begin(nest *t, nest_run *r, const wick_sloop *loop, nest_saved *saved)
{
  wick_dim total = r->total[loop->axis];
  int64_t lanes = loop->size, most = nest_high(t, total);
  if (!lanes && !nest_const(t, r, loop->axis, &lanes)) return false;
  if (lanes > 1024)
    nest_fail(t, "stage `%s`: a vector of %lld lanes", r->st->name, (long long)lanes);
  *saved = (nest_saved){r->base[loop->axis], total};
  /* the upper bound excludes lanes that are not active */
  r->vsym = nest_symbol_open(t, "lane", most - 1);
  if (lanes == 1) {
    r->vsym = WICK_DIM_INVALID;
    return true;
  }
  r->lanes = (uint32_t)lanes;
  r->active = total;
  r->vaxis = loop->axis;
  r->base[loop->axis] = wick_dim_add(t->m->dims, saved->base, r->vsym);
  r->total[loop->axis] = wick_dim_const(1);
  return true;
}

void nest_vector_end(nest_run *r, const wick_sloop *loop, nest_saved s)
{
  nest_restore(r, loop, s);
  r->vsym = WICK_DIM_INVALID;
  r->lanes = 1, r->active = wick_dim_const(1);
  r->vaxis = UINT32_MAX;
}
