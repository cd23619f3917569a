/* For tests of passes on scalar operators: a loop function that applies an operator to every
 * element of buffers. It is transformed by passes and run by the interpreter, and its results are
 * compared with the operator's evaluation. */
#ifndef WICK_LOOP_SCALAR_TESTING_H
#define WICK_LOOP_SCALAR_TESTING_H

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
#include "ir/verify.h"
#include "loop/expand_math.h"
#include "loop/interpret.h"
#include "loop/legalize.h"

enum { SCALAR_LANES = 8, SCALAR_MOST = 1 << 16 };

typedef struct scalar_test {
  wick_guard guard;
  wick_arena mem, tmp;
  wick_module *m;
  uint64_t random;
  /* one operator on one type */
  wick_opcode op;
  wick_elem elem, out;
  wick_attr attr[WICK_MAX_ATTR];
  const wick_target *target; /* NULL: not legalized */
  uint32_t nin, n;
  wick_scalar in[3][SCALAR_MOST], got[SCALAR_MOST];
  const wick_func *f; /* the function after the passes */
} scalar_test;

static int scalar_setup(void **state)
{
  scalar_test *t = test_calloc(1, sizeof *t);
  t->guard.allocator = wick_allocator_malloc();
  t->random = 0x9e3779b97f4a7c15u;
  *state = t;
  return 0;
}

static int scalar_teardown(void **state)
{
  test_free(*state);
  return 0;
}

static uint64_t scalar_random(scalar_test *t)
{
  t->random ^= t->random << 13;
  t->random ^= t->random >> 7;
  t->random ^= t->random << 17;
  return t->random * 0x2545f4914f6cdd1du;
}

/* ---- operands ---- */

static const double scalar_specials[] = {
    0,
    -0.0,
    1,
    -1,
    (double)INFINITY,
    (double)-INFINITY,
    (double)NAN,
    0.5,
    -0.5,
    1.5,
    -1.5,
    2,
    -2,
    3,
    2.5,
    -2.5,
    7,
    -7,
    10,
    -10,
    88.72,
    -87.3,
    -103.9,
    0x1p-149,
    -0x1p-149,
    0x1p-126,
    -0x1.fcp-127,
    0x1p-24,
    -0x1p-12,
    0x1p23,
    0x1.8p24,
    -0x1p31,
    0x1p63,
    0x1.fffffep127,
    1e30,
    -1e30,
    65504,
    65520,
    -65535,
    0x1p-1074,
    -0x1p-1022,
    709.7,
    -745.1,
    0x1p1023,
    3.14159274,
    1.5707964,
    -0.78539819,
    0x1.921fb54442d18p+0,
    0.2,
    -0.2,
    1e-5,
    -1e-5,
    0x1.fffffep-1,
    0x1.000002p0,
    20,
    -20,
    0.92,
    -0.55,
    0x1p52,
    0x1.00001p53,
    -1e300,
    1e22,
};

/* Returns a float: any exponent, near 0, or of ordinary magnitude. */
static double scalar_float(scalar_test *t, wick_elem e)
{
  uint64_t r = scalar_random(t);
  double part = (double)(r >> 12 & 0xffffffffff) / (double)0xffffffffff;
  int least = e == WICK_F64 ? -1080 : -155, most = e == WICK_F64 ? 1024 : 129;
  switch (r >> 61) {
  case 0:
  case 1:
    return ldexp(1 + part, least + (int)(r % (uint64_t)(most - least))) * (r >> 60 & 1 ? 1 : -1);
  case 2: return (part - 0.5) * 4;
  case 3: return (part - 0.5) * 200;
  case 4: return 1 + (part - 0.5) * 0x1p-5;
  case 5: return (double)(int64_t)(r % 41) - 20;
  case 6: return ldexp(part - 0.5, -(int)(r % 30));
  default: return (part - 0.5) * 20;
  }
}

static wick_scalar scalar_operand(scalar_test *t, wick_elem e, uint32_t i)
{
  wick_scalar s;
  if (wick_elem_is_float(e)) {
    s.f = i < WICK_COUNT(scalar_specials) ? scalar_specials[i] : scalar_float(t, e);
    return wick_round_elem(e, s);
  }
  static const int64_t specials[] = {0,         1,   -1,   2,   -2,        3,         7,
                                     -7,        8,   63,   64,  INT64_MIN, INT64_MAX, INT32_MIN,
                                     INT32_MAX, 127, -128, 255, 32767,     -32768,    65535};
  uint64_t r = scalar_random(t);
  s.i = i < WICK_COUNT(specials) ? specials[i] : (int64_t)(r >> (r % 64));
  return wick_round_elem(e, s);
}

/* Fills the operands: with every number of an 8 or 16-bit type, else with special and random
 * numbers, and pairs of special ones. */
static void scalar_fill(scalar_test *t, uint32_t n)
{
  uint32_t bits = wick_elem_storage[t->elem].bits;
  bool all = t->nin == 1 && bits <= 16, pairs = t->nin == 2 && bits == 8;
  t->n = all || pairs ? 65536 : n;
  for (uint32_t i = 0; i < t->n; i++) {
    uint32_t both = WICK_COUNT(scalar_specials), first = t->nin == 1 ? i : i / both;
    if (t->nin > 1 && i >= both * both) first = both;
    for (uint32_t k = 0; k < t->nin; k++) {
      unsigned char stored[8] = {(unsigned char)i, (unsigned char)(i >> 8)};
      if (pairs) stored[0] = stored[k];
      t->in[k][i] = all || pairs ? wick_load_elem(t->elem, stored, 0)
                                 : scalar_operand(t, t->elem, k == 0 ? first : i % (both * 2));
    }
  }
}

/* ---- running ---- */

static void scalar_ok(wick_status s)
{
  if (s) fail_msg("%s", s->message);
}

static wick_type scalar_buffer(scalar_test *t, wick_elem e)
{
  wick_dim n = wick_dim_const(t->n);
  return wick_type_buffer(t->m, e, 1, &n, WICK_IO);
}

/* for i in 0 .. n step lanes: y[i] = op(x0[i], ...) */
static void scalar_func(scalar_test *t)
{
  wick_builder b;
  wick_value x[3], in[3], lo;
  wick_build_begin(&b, t->m, WICK_LOOP, "row", &t->mem);
  wick_value y = wick_build_param(&b, scalar_buffer(t, t->out), WICK_OUT, "y");
  for (uint32_t k = 0; k < t->nin; k++)
    x[k] = wick_build_param(&b, scalar_buffer(t, t->elem), WICK_IN, "x");
  wick_type one = wick_type_scalar(t->m, t->elem, SCALAR_LANES),
            want = wick_type_scalar(t->m, t->out, SCALAR_LANES),
            index = wick_type_scalar(t->m, WICK_I64, 1);
  wick_attr step = {.i = SCALAR_LANES}, offset = {.i = 0};
  wick_value range[2] = {wick_build_i64(&b, 0), wick_build_i64(&b, t->n)};
  wick_build_open(&b, WICK_OP_for, 2, range, &step, 0, NULL);
  lo = wick_region_begin(&b, 1, &index);
  for (uint32_t k = 0; k < t->nin; k++) {
    wick_value at[2] = {x[k], lo};
    in[k] = wick_build(&b, WICK_OP_load, 2, at, &offset, 1, &one);
  }
  bool typed = wick_ops[t->op]->typed;
  wick_value r = wick_build(&b, t->op, t->nin, in, t->attr, typed, typed ? &want : NULL);
  wick_value stored[3] = {y, lo, r};
  wick_attr place[] = {[WICK_ATTR_store_offset] = offset, [WICK_ATTR_store_nontemporal] = {0}};
  wick_build(&b, WICK_OP_store, 3, stored, place, 0, NULL);
  wick_yield(&b, 0, NULL);
  wick_build_close(&b);
  wick_build_return(&b, 0, NULL);
  wick_func *f = NULL;
  scalar_ok(wick_build_end(&b, &f));
  const wick_pass_context pass = {.target = t->target, .mem = &t->mem, .tmp = &t->tmp};
  scalar_ok(wick_pass_expand_math(&pass, f, &f));
  if (t->target) scalar_ok(wick_pass_legalize(&pass, f, &f));
  scalar_ok(wick_verify_func(f, &t->tmp));
  t->f = f;
}

/* Runs the function after the passes on t->in; the results are in t->got. */
static void scalar_run(scalar_test *t)
{
  wick_interpret_arg arg[4];
  wick_elem e = t->out;
  for (uint32_t k = 0; k <= t->nin; k++) {
    uint64_t nbytes = wick_elem_bytes(k ? t->elem : t->out, t->n);
    arg[k] = (wick_interpret_arg){wick_arena_alloc(&t->tmp, nbytes, 16), t->n, 0};
    for (uint32_t i = 0; k && i < t->n; i++)
      wick_store_elem(t->elem, arg[k].data, i, t->in[k - 1][i]);
  }
  scalar_func(t);
  scalar_ok(wick_interpret(t->f, t->nin + 1, arg, &t->mem, &t->tmp));
  for (uint32_t i = 0; i < t->n; i++) t->got[i] = wick_load_elem(e, arg[0].data, i);
}

static void scalar_begin(scalar_test *t)
{
  t->mem = wick_arena_make(&t->guard);
  t->tmp = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "m");
}

static void scalar_end(scalar_test *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
  wick_arena_free(&t->tmp);
}

/* ---- comparing ---- */

static void scalar_format(wick_elem e, int *out_mantissa, int *out_least, int *out_most)
{
  *out_mantissa = e == WICK_F64 ? 52 : e == WICK_F32 ? 23 : e == WICK_F16 ? 10 : 7;
  *out_most = e == WICK_F64 ? 1023 : e == WICK_F16 ? 15 : 127;
  *out_least = 1 - *out_most;
}

static bool scalar_same(wick_elem e, wick_scalar x, wick_scalar y)
{
  if (!wick_elem_is_float(e)) return x.i == y.i;
  return (isnan(x.f) && isnan(y.f)) || (x.f == y.f && !signbit(x.f) == !signbit(y.f));
}

/* Returns |got - want| in units of the last place of `want`, an exact number in type e. Infinity
 * counts as the number that would follow the largest one. */
static inline double scalar_ulps(wick_elem e, double got, double want)
{
  int mantissa, least, most, exponent;
  scalar_format(e, &mantissa, &least, &most);
  double after = most == 1023 ? (double)INFINITY : ldexp(1, most + 1);
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want) ? 0 : (double)INFINITY;
  if (isinf(got)) got = copysign(after, got);
  if (fabs(want) >= after) want = copysign(after, want);
  if (got == want) return got != 0 || !signbit(got) == !signbit(want) ? 0 : (double)INFINITY;
  frexp(want, &exponent);
  exponent = exponent - 1 < least || want == 0 ? least : exponent - 1;
  return fabs(ldexp(got - want, mantissa - exponent));
}

#endif
