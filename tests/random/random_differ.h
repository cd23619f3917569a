/* How far results of the reference evaluator and of other executions of a random graph may
 * differ, for tests.
 *
 * It follows from the graph itself: the reference runs again, with every float that a node
 * computes disturbed by a few units in its last place. The distance that a result then moves is
 * the distance that rounding can move it. A result that jumps (a comparison, an index, an
 * integer computed from a float) is not compared where it jumps. Integers that do not depend on
 * floats are compared exactly. */
#ifndef WICK_TESTS_RANDOM_DIFFER_H
#define WICK_TESTS_RANDOM_DIFFER_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/element.h"
#include "ops/elementwise/scalar.h"
#include "ops/evaluate.h"

/* The number of disturbed runs: six show how far results move, two, which are disturbed more, show
 * where they jump. If a difference remains, it may still be a result near a jump, which all eight
 * runs may miss. Up to DIFF_DOUBTS further rounds are made before it counts. */
enum { DIFF_LITTLE = 8 }; /* units in the last place, in the runs that show how far elements move */
enum { DIFF_SPREAD = 6, DIFF_DISTURBED = 8, DIFF_DOUBTS = 24, DIFF_MOST = 16 };

typedef struct diff {
  wick_guard guard;
  wick_arena mem, tmp, a, b;
  wick_context *context;
  uint64_t noise;
  double disturb;    /* units in the last place; 0: none */
  wick_tensor *kept; /* per value: the reference's result; NULL: not kept */
  bool strict;       /* compare also results that are specified only for numbers */
  uint64_t skipped, compared;
} diff;

/* Returns a setting from the environment, or its default. */
static uint64_t diff_setting(const char *name, uint64_t otherwise)
{
  const char *s = getenv(name);
  return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

/* The caller sets the guard's jump target. */
static diff *diff_begin(void)
{
  diff *d = calloc(1, sizeof *d);
  assert_non_null(d);
  d->guard.allocator = wick_allocator_malloc();
  d->mem = wick_arena_make(&d->guard), d->tmp = wick_arena_make(&d->guard);
  d->a = wick_arena_make(&d->guard), d->b = wick_arena_make(&d->guard);
  assert_null(wick_context_create(NULL, &d->context));
  return d;
}

static void diff_end(diff *d)
{
  wick_context_free(d->context);
  wick_arena_free(&d->mem), wick_arena_free(&d->tmp), wick_arena_free(&d->a);
  wick_arena_free(&d->b);
  free(d);
}

static double diff_unit(wick_elem e) { return ldexp(1, -wick_elem_storage[e].mantissa - 1); }

static uint64_t diff_noise(diff *d)
{
  d->noise = d->noise * 6364136223846793005u + 1442695040888963407u;
  return d->noise >> 33;
}

static uint64_t diff_numel(const wick_tensor *t)
{
  uint64_t n = 1;
  for (uint32_t k = 0; k < t->rank; k++) n *= (uint64_t)t->dim[k];
  return n;
}

/* Returns the largest finite magnitude. */
static double diff_largest(const wick_tensor *t)
{
  double most = 0;
  for (uint64_t k = 0, n = diff_numel(t); k < n; k++) {
    double x = fabs(wick_load_elem(t->elem, t->data, k).f);
    if (isfinite(x)) most = fmax(most, x);
  }
  return most;
}

/* Disturbs elements by some units in the last place. If these are many, elements below one unit of
 * the tensor's largest element may be zeros that would have cancelled differently. */
static void diff_disturb(diff *d, const wick_tensor *t, double disturb)
{
  if (!wick_elem_is_float(t->elem)) return;
  double unit = t->elem == WICK_F64 ? diff_unit(t->elem) : diff_unit(t->elem) + 0x1p-22;
  double none = disturb > DIFF_LITTLE ? unit * diff_largest(t) : 0;
  for (uint64_t k = 0, n = diff_numel(t); k < n; k++) {
    double x = wick_load_elem(t->elem, t->data, k).f,
           by = ((double)(diff_noise(d) % 2001) - 1000) / 1000;
    if (isfinite(x)) x *= fabs(x) < none && by > 0 ? 0 : 1 + disturb * unit * by;
    if (x != 0 && fabs(x) < 0x1p-126) x += round(by * 2) * 0x1p-149; /* denormals have fewer bits */
    if (isnan(x)) x = copysign(x, by);                               /* its bits have no meaning */
    wick_store_elem(t->elem, t->data, k, (wick_scalar){.f = x});
  }
}

/* Keeps or disturbs the result of a node. */
static void diff_observe(void *arg, const wick_func *f, wick_value v, const wick_tensor *t)
{
  diff *d = arg;
  if (d->kept) {
    d->kept[v.id] = *t;
    d->kept[v.id].data =
        wick_arena_copy(&d->mem, t->data, wick_elem_bytes(t->elem, diff_numel(t)), 64);
  }
  if (d->disturb > 0 && v.id > f->nparam) diff_disturb(d, t, d->disturb);
}

static wick_status diff_reference(diff *d, const wick_func *f, const wick_tensor *in,
                                  wick_tensor *out)
{
  wick_evaluate_options o = {.observe = diff_observe, .arg = d};
  d->disturb = 0;
  return wick_evaluate(f, f->nparam, in, &o, &d->mem, &d->a, &d->b, out);
}

/* Runs the reference with all floats disturbed, also constants and inputs. It uses copies, because
 * compiled code must not see the changes. */
static wick_status diff_disturbed(diff *d, const wick_func *f, const wick_tensor *in,
                                  double disturb, wick_tensor *out)
{
  wick_evaluate_options o = {.observe = diff_observe, .arg = d};
  wick_tensor copy[DIFF_MOST];
  wick_module *m = f->module;
  const void **data = wick_new(&d->tmp, const void *, m->constants.n);
  for (uint32_t p = 0; p < f->nparam; p++) {
    copy[p] = in[p];
    copy[p].data =
        wick_arena_copy(&d->tmp, in[p].data, wick_elem_bytes(in[p].elem, diff_numel(&in[p])), 64);
    diff_disturb(d, &copy[p], disturb);
  }
  for (uint32_t i = 1; i < m->constants.n; i++) {
    wick_constant *c = &m->constants.at[i];
    data[i] = c->data;
    c->data = wick_arena_copy(&d->tmp, c->data, c->nbytes, 64);
  }
  d->disturb = disturb;
  wick_status s = wick_evaluate(f, f->nparam, copy, &o, &d->mem, &d->a, &d->b, out);
  for (uint32_t i = 1; i < m->constants.n; i++) m->constants.at[i].data = data[i];
  return s;
}

/* ---- inputs ---- */

/* Makes inputs with these values of the symbols; nsym: their number. */
static void diff_inputs(diff *d, const wick_func *f, bool wild, uint32_t nsym, const wick_dim *sym,
                        const int64_t *val, wick_tensor *in)
{
  for (uint32_t p = 0; p < f->nparam; p++) {
    const wick_type_info *t = wick_info_of(f, (wick_value){p + 1});
    in[p] = (wick_tensor){.elem = t->elem, .rank = t->rank};
    for (uint32_t k = 0; k < t->rank; k++)
      wick_dim_eval(f->module->dims, t->dim[k], nsym, sym, val, &in[p].dim[k]);
    uint64_t n = diff_numel(&in[p]);
    in[p].data = wick_arena_alloc(&d->mem, wick_elem_bytes(t->elem, n), 64);
    for (uint64_t k = 0; k < n; k++) {
      uint64_t x = diff_noise(d);
      wick_scalar s = {.i = (int64_t)(x % 41) - (wick_elem_class(t->elem) == WICK_UINT ? 0 : 20)};
      if (t->elem == WICK_BOOL) s.i = x & 1;
      if (wick_elem_is_int(t->elem) && wild && x % 5 == 0) s.i = (int64_t)(x * 0x9e3779b97f4a7c15u);
      if (wick_elem_is_float(t->elem)) {
        s.f = ((double)(x % 4001) - 2000) / 1000;
        if (wild && x % 97 == 0) s.f = x % 2 ? (double)NAN : x % 3 ? (double)INFINITY : -0.0;
      }
      wick_store_elem(t->elem, in[p].data, k, s);
    }
  }
}

/* ---- comparing ---- */

typedef struct diff_result {
  bool differs;
  char why[400];
} diff_result;

/* The result of disturbed runs for an output: how far each element moves, and whether it jumps. */
typedef struct diff_bound {
  double largest; /* finite magnitude: sums over a row of a tensor are rounded relative to it */
  double *spread;
  bool *jumps;
} diff_bound;

static diff_bound diff_bound_of(diff *d, const wick_tensor *want)
{
  uint64_t n = diff_numel(want);
  diff_bound b = {.spread = wick_new(&d->mem, double, n), .jumps = wick_new(&d->mem, bool, n)};
  for (uint64_t k = 0; wick_elem_is_float(want->elem) && k < n; k++) {
    double x = fabs(wick_load_elem(want->elem, want->data, k).f);
    if (isfinite(x)) b.largest = fmax(b.largest, x);
  }
  return b;
}

/* Returns the kind of x: NaN, one of the infinities, or a number. */
static int diff_kind(double x) { return isnan(x) ? 2 : isinf(x) ? (x > 0 ? 1 : -1) : 0; }

static void diff_widen(const wick_tensor *want, const wick_tensor *disturbed, bool spread,
                       diff_bound *b)
{
  wick_elem e = want->elem;
  for (uint64_t k = 0, n = diff_numel(want); k < n; k++) {
    wick_scalar w = wick_load_elem(e, want->data, k), x = wick_load_elem(e, disturbed->data, k);
    if (!wick_elem_is_float(e))
      b->jumps[k] |= x.i != w.i;
    else if (diff_kind(x.f) != diff_kind(w.f))
      b->jumps[k] = true;
    else if (isfinite(x.f) && spread)
      b->spread[k] = fmax(b->spread[k], fabs(x.f - w.f));
  }
}

/* Makes a round of disturbed runs. Returns false if one of them fails. */
static bool diff_round(diff *d, const wick_func *f, const wick_tensor *in, const wick_tensor *want,
                       diff_bound *bound)
{
  bool ok = true;
  wick_tensor *kept = d->kept, out[DIFF_MOST];
  d->kept = NULL;
  for (uint32_t i = 0; i < DIFF_DISTURBED && ok; i++) {
    wick_mark mem = wick_arena_mark(&d->mem), tmp = wick_arena_mark(&d->tmp),
              a = wick_arena_mark(&d->a), b = wick_arena_mark(&d->b);
    bool spread = i < DIFF_SPREAD;
    ok = !diff_disturbed(d, f, in, spread ? DIFF_LITTLE : 8 * DIFF_LITTLE, out);
    for (uint32_t o = 0; o < wick_return(f)->nin && ok; o++)
      diff_widen(&want[o], &out[o], spread, &bound[o]);
    wick_arena_rewind(&d->mem, mem), wick_arena_rewind(&d->tmp, tmp);
    wick_arena_rewind(&d->a, a), wick_arena_rewind(&d->b, b);
  }
  d->kept = kept;
  return ok;
}

/* Returns how far element k may be from the reference; negative: any distance. */
static double diff_limit(const diff_bound *b, uint64_t k, wick_scalar want, wick_elem e)
{
  double unit = diff_unit(e), spread = b->spread[k];
  if (b->jumps[k]) return -1;
  if (!wick_elem_is_float(e) || !isfinite(want.f)) return 0;
  if (32 * spread > fabs(want.f) && spread > unit * b->largest)
    return -1; /* it has no correct digits */
  return 128 * spread + unit * (64 * fabs(want.f) + 8 * b->largest) +
         (e == WICK_F16   ? 1e-6
          : e == WICK_F64 ? 1e-290
                          : 1e-36);
}

static bool diff_close(wick_elem e, wick_scalar w, wick_scalar g, double limit)
{
  if (!wick_elem_is_float(e)) return w.i == g.i;
  return diff_kind(w.f) == diff_kind(g.f) && (!isfinite(w.f) || fabs(w.f - g.f) <= limit);
}

static void diff_compare(diff *d, uint32_t nout, const wick_tensor *want, const diff_bound *bound,
                         const wick_tensor *got, const char *what, diff_result *r)
{
  r->differs = false;
  d->compared = d->skipped = 0;
  for (uint32_t o = 0; o < nout; o++) {
    wick_elem e = want[o].elem;
    for (uint64_t k = 0, n = diff_numel(&want[o]); k < n; k++) {
      wick_scalar w = wick_load_elem(e, want[o].data, k), g = wick_load_elem(e, got[o].data, k);
      double limit = diff_limit(&bound[o], k, w, e);
      d->compared++;
      d->skipped += limit < 0;
      if (limit < 0 || diff_close(e, w, g, limit)) continue;
      r->differs = true;
      bool is_float = wick_elem_is_float(e);
      snprintf(r->why, sizeof r->why,
               "%s: output %u, element %llu: %.9g (%lld), the reference says %.9g (%lld), limit %g",
               what, o, (unsigned long long)k, is_float ? g.f : 0, (long long)(is_float ? 0 : g.i),
               is_float ? w.f : 0, (long long)(is_float ? 0 : w.i), limit);
      return;
    }
  }
}

#endif
