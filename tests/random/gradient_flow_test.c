/* Derivatives through branches, loops and calls, compared with central differences in f64 by the
 * reference evaluator; and compiled code compared with the reference, bit for bit if a program
 * has no sums in parts and no polynomials.
 *
 * Float inputs are random. All other inputs have one number each, from a list of each program,
 * which decides branches and iterations. If differences of two widths disagree, the point is
 * near a corner, and is skipped. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/grad/forward.h"
#include "graph/grad/grad.h"
#include "ir/copy.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/evaluate.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "random_flow.h"
#include "wick/wick.h"

enum { FLOW_MOST = 24, FLOW_ELEMENTS = 4, FLOW_NUMBERS = 5, FLOW_RANDOM = 250 };
static const double flow_width = 1e-4, flow_bound = 1e-6, flow_corner = 2e-7;

#define ON "%on = const 1 : bool[]\n"

typedef struct program {
  const char *name;
  int64_t number[FLOW_NUMBERS]; /* of the inputs that are not floats; ends with -1 */
  bool again;                   /* differentiated a second time, too */
  double bound;                 /* of compiled code, relative; 0: the same bits */
  const char *text;
} program;

static const program programs[] = {
    {"a branch",
     {0, 1, -1},
     true,
     1e-12,
     "graph @main(%x: f64[3], %w: f64[3], %c: bool[]) -> f64[3] {\n"
     "%0 = mul %x, %w\n"
     "%1, %2 = if %c () { %3 = sin %0; %4 = mul %3, %x; yield %4, %0 }\n"
     "  () { %5 = mul %w, %w; yield %5, %x }\n"
     "%6 = mul %1, %2; %7 = add %6, %x; return %7 }"},
    {"branches in branches, decided by numbers",
     {0, -1},
     true,
     0,
     "graph @main(%x: f64[3], %w: f64[3], %c: i64[]) -> f64[3] {\n"
     "%z = const 0 : f64[]; %s = reduce_sum %x {keepdims=false}; %p = gt %s, %z\n"
     "%m = reduce_max %w {keepdims=false}; %q = gt %m, %z\n"
     "%0 = if %p () {\n"
     "  %1 = if %q () { %2 = mul %x, %w; yield %2 } () { %3 = sub %x, %w; yield %3 }\n"
     "  %4 = mul %1, %1; yield %4\n"
     "} () { %5 = if %q () { yield %w } () { %6 = mul %w, %s; yield %6 }; yield %5 }\n"
     "return %0 }"},
    {"a loop of constant count that scans, stacks and shares weights",
     {0, -1},
     true,
     1e-11,
     "graph @main(%x: f64[2,3], %w: f64[3,3], %s: f64[6,2,3], %r: f64[2,6,3], %c: i64[])\n"
     "    -> (f64[2,3], f64[6,2,3], f64[6,3,2]) {\n"
     "%n = const 6 : i64[]\n"
     "%0, %1, %2, %3 = loop %n, %x, %x {stacked=2, most=[6]} (%i: i64[], %h: f64[2,3], %g: "
     "f64[2,3]) "
     "{\n" ON "%a = matmul %h, %w; %t = dynamic_index %s, %i; %u = dynamic_index %r, %i {axis=1, "
     "reverse=true}\n"
     "  %b = add %a, %t; %d = tanh %b; %e = mul %u, %d; %k = add %g, %e\n"
     "  %tr = transpose %e {perm=[1,0]}; yield %on, %d, %k, %e, %tr }\n"
     "%5 = add %0, %1; return %5, %2, %3 }"},
    {"large weights, whose products are summed after the loop",
     {0, -1},
     true,
     1e-11,
     "graph @main(%x: f64[1,9], %w: f64[9,9], %v: f64[9,9], %c: i64[]) -> f64[1,9] {\n"
     "%n = const 5 : i64[]; %t = transpose %v {perm=[1,0]}\n"
     "%0 = loop %n, %x (%i: i64[], %h: f64[1,9]) {\n" ON
     "  %a = matmul %h, %w; %b = tanh %a; %p = transpose %b {perm=[1,0]}; %d = matmul %v, %p\n"
     "  %r = reshape %t {shape=[3,3,9]}; %s = reshape %r {shape=[9,9]}; %e = matmul %b, %s\n"
     "  %q = transpose %d {perm=[1,0]}; %g = sin %q; %k = sub %e, %g; yield %on, %k }\n"
     "return %0 }"},
    {"a count that is given, with a bound",
     {0, 1, 4, 7, -1},
     true,
     0,
     "graph @main(%x: f64[4], %w: f64[4], %s: f64[9,4], %c: i64[]) -> (f64[4], f64[7,4]) {\n"
     "%most = const 7 : i64[]; %n = min %c, %most\n"
     "%0, %1 = loop %n, %x {stacked=1, most=[7]} (%i: i64[], %h: f64[4]) {\n" ON
     "%t = dynamic_index %s, %i; %a = mul %h, %w; %b = add %a, %t; yield %on, %b, %a }\n"
     "return %0, %1 }"},
    {"a count that is given",
     {0, 3, 256, 700, -1},
     false,
     0,
     "graph @main(%x: f64[2], %w: f64[2], %s: f64[9,2], %c: i64[]) -> f64[2] {\n"
     "%k = const 0.02 : f64[]\n"
     "%0, %1 = loop %c, %x, %c (%i: i64[], %h: f64[2], %v: i64[]) {\n" ON
     "%t = dynamic_index %s, %v; %a = mul %h, %w; %b = add %a, %t; %d = sub %h, %b; %e = mul %d, "
     "%k\n"
     "  %f = sub %h, %e; %one = const 1 : i64[]; %u = sub %v, %one; yield %on, %f, %u }\n"
     "return %0 }"},
    {"a loop that ends by what it computes",
     {0, 40, -1},
     false,
     0,
     "graph @main(%x: f64[3], %w: f64[3], %c: i64[]) -> (f64[3], f64[3]) {\n"
     "%most = const 9223372036854775807 : i64[]; %k = const 3 : f64[]; %one = const 1.125 : f64[]\n"
     "%v = mul %w, %w; %u = add %v, %one\n"
     "%0, %1 = loop %most, %x, %w (%i: i64[], %h: f64[3], %g: f64[3]) {\n"
     "  %a = mul %h, %u; %b = mul %a, %a; %s = reduce_max %b {keepdims=false}\n"
     "  %more = lt %s, %k; %d = add %g, %a; yield %more, %a, %d }\n"
     "return %0, %1 }"},
    {"one that ends early, with rows",
     {2, 9, -1},
     true,
     0,
     "graph @main(%x: f64[3], %w: f64[3], %c: i64[]) -> (f64[3], f64[9,3]) {\n"
     "%n = const 9 : i64[]; %last = const 5 : i64[]; %end = min %c, %last\n"
     "%0, %1 = loop %n, %x {stacked=1, most=[9]} (%i: i64[], %h: f64[3]) {\n"
     "  %a = mul %h, %w; %b = add %a, %x; %more = lt %i, %end; yield %more, %b, %a }\n"
     "return %0, %1 }"},
    {"loops and branches in a loop",
     {1, 3, -1},
     false,
     1e-11,
     "graph @main(%x: f64[2,2], %w: f64[2,2], %s: f64[4,2], %c: i64[]) -> f64[2,2] {\n"
     "%n = const 4 : i64[]; %two = const 2 : i64[]; %half = const 0.5 : f64[]\n"
     "%0, %1 = loop %n, %x, %w {} (%i: i64[], %h: f64[2,2], %g: f64[2,2]) {\n" ON
     "%t = dynamic_index %s, %i; %p = lt %i, %two\n"
     "  %a = if %p () { %b = matmul %h, %w; %d = add %b, %t; yield %d }\n"
     "    () { %e = mul %h, %half; %f = sub %e, %g; yield %f }\n"
     "  %j, %rows = loop %c, %a {stacked=1, most=[3]} (%k: i64[], %v: f64[2,2]) {\n"
     "    %on1 = const 1 : bool[]; %m = matmul %v, %w; %o = sin %m; %q = add %o, %t\n"
     "    yield %on1, %q, %o }\n"
     "  %z = reduce_sum %rows {axes=[0], keepdims=false}; %l = add %j, %z\n"
     "  %l1 = mul %l, %half; yield %on, %l1, %a }\n"
     "%r = mul %0, %1; return %r }"},
    {"a loop without a bound in another",
     {0, 2, 300, -1},
     false,
     0,
     "graph @main(%x: f64[2], %w: f64[2], %c: i64[]) -> f64[2] {\n"
     "%n = const 3 : i64[]; %k = const 0.01 : f64[]\n"
     "%0 = loop %n, %x (%i: i64[], %h: f64[2]) {\n" ON
     "%1 = loop %c, %h (%j: i64[], %g: f64[2]) {\n"
     "    %on1 = const 1 : bool[]; %a = mul %g, %w; %b = mul %a, %k; %d = sub %g, %b\n"
     "    yield %on1, %d }\n"
     "  %e = mul %1, %x; yield %on, %e }\n"
     "return %0 }"},
    {"a branch around a loop",
     {0, 5, -1},
     false,
     0,
     "graph @main(%x: f64[2], %w: f64[2], %c: i64[]) -> f64[2] {\n"
     "%two = const 2 : i64[]; %p = gt %c, %two; %n = const 5 : i64[]\n"
     "%0 = if %p () {\n"
     "  %1 = loop %n, %w (%i: i64[], %h: f64[2]) { " ON " %a = mul %h, %x; yield %on, %a }\n"
     "  yield %1 } () { yield %x }\n"
     "return %0 }"},
    {"a value that is not looked at may be anything",
     {0, -1},
     false,
     0,
     "graph @main(%x: f64[2], %w: f64[2], %c: i64[]) -> f64[2] {\n"
     "%n = const 3 : i64[]; %zero = const 0 : f64[2]\n"
     "%0, %1, %2 = loop %n, %x, %zero, %w (%i: i64[], %h: f64[2], %g: f64[2], %v: f64[2]) {\n" ON
     "%a = mul %h, %v; %b = sqrt %g; %d = mul %b, %a; yield %on, %a, %d, %v }\n"
     "return %0 }"},
    {"a program that calls others",
     {0, 1, -1},
     true,
     0,
     "graph @main(%x: f64[2], %w: f64[2], %c: bool[]) -> f64[2] {\n"
     "%0 = call @g %x, %w : f64[2]; %1 = if %c () { %2 = call @g %0, %x : f64[2]; yield %2 }\n"
     "() { yield %w }; %3 = mul %1, %0; return %3 }\n"
     "graph @g(%a: f64[2], %b: f64[2]) -> f64[2] { %0 = mul %a, %b; %1 = sub %0, %a; return %1 }"},
};

typedef struct flow {
  wick_guard guard;
  wick_arena mem, tmp, a, b;
  wick_module *m;
  const char *name;
  uint64_t random;
  const wick_func *f, *df;        /* the program; the program with its cotangents */
  uint32_t nin, nout;             /* inputs of f; its results that have cotangents */
  wick_value of[FLOW_MOST];       /* these results */
  uint32_t at[FLOW_MOST];         /* their indices among the results */
  wick_tensor in[2 * FLOW_MOST];  /* operands, then the weights of results */
  wick_tensor out[2 * FLOW_MOST]; /* results of df */
  wick_tensor by[FLOW_MOST];      /* derivatives; .data is NULL for other types than floats */
  uint32_t compared, corners;
} flow;

static double flow_random(flow *t)
{
  t->random = t->random * 6364136223846793005u + 1442695040888963407u;
  return (double)(t->random >> 11) / 0x1p52 - 1;
}

static void flow_begin(flow *t, const char *name, uint64_t seed)
{
  *t = (flow){.guard = {.allocator = wick_allocator_malloc()}, .name = name, .random = seed};
  t->mem = wick_arena_make(&t->guard);
  t->tmp = wick_arena_make(&t->guard);
  t->a = wick_arena_make(&t->guard);
  t->b = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
}

static void flow_end(flow *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
  wick_arena_free(&t->tmp);
  wick_arena_free(&t->a);
  wick_arena_free(&t->b);
}

static void flow_wrong(flow *t, const char *what)
{
  wick_text text = wick_text_begin(&t->mem);
  wick_print_func(t->f, 0, &text);
  fail_msg("%s: %s\n%.6000s", t->name, what, text.at);
}

static void flow_ok(flow *t, wick_status s)
{
  if (s) flow_wrong(t, s->message);
}

static void flow_done(flow *t, wick_error *e)
{
  if (e) flow_wrong(t, wick_error_message(e));
}

static bool flow_is_float(const wick_type_info *t) { return WICK_FLOATS >> t->elem & 1; }

static void flow_fill(flow *t, wick_tensor *x, const wick_type_info *type, int64_t number)
{
  *x = (wick_tensor){.elem = type->elem, .rank = type->rank};
  wick_type_const_dims(type, x->dim);
  uint64_t n = wick_ref_numel(x);
  x->data = wick_arena_alloc(&t->mem, wick_elem_bytes(type->elem, n) + 1, 64);
  for (uint64_t i = 0; i < n; i++) {
    double v = flow_random(t);
    wick_store_elem(type->elem, x->data, i,
                    flow_is_float(type) ? (wick_scalar){.f = v} : (wick_scalar){.i = number});
  }
}

/* ---- derivatives ---- */

/* Builds derivatives by all float parameters of all float results. Returns false if an operator has
 * none. */
static bool flow_derive(flow *t)
{
  wick_value wrt[FLOW_MOST];
  wick_func *df;
  wick_gradient d = {.of = t->of, .wrt = wrt, .given = true};
  const wick_node *end = wick_return(t->f);
  t->nin = t->f->nparam, t->nout = 0;
  for (uint32_t k = 0; k < end->nin; k++)
    if (flow_is_float(wick_info_of(t->f, end->in[k])))
      t->at[t->nout] = k, t->of[t->nout++] = end->in[k];
  for (uint32_t k = 0; k < t->nin; k++)
    if (flow_is_float(wick_info_of(t->f, (wick_value){1 + k}))) wrt[d.nwrt++] = (wick_value){1 + k};
  d.nof = t->nout;
  wick_status s = wick_differentiate(t->f, &d, &t->mem, &df);
  if (s && s->code == WICK_EUNSUPPORTED) return false;
  flow_ok(t, s);
  flow_ok(t, wick_verify_func(df, &t->tmp));
  t->df = df;
  return true;
}

static void flow_evaluate(flow *t, int64_t number, bool fill)
{
  const wick_node *end = wick_return(t->f);
  for (uint32_t k = 0; k < t->df->nparam; k++)
    if (fill || k >= t->nin)
      flow_fill(t, &t->in[k], wick_info_of(t->df, (wick_value){1 + k}), number);
  flow_ok(t, wick_evaluate(t->df, t->df->nparam, t->in, NULL, &t->mem, &t->a, &t->b, t->out));
  memset(t->by, 0, sizeof t->by);
  for (uint32_t k = 0, n = end->nin; k < t->nin; k++)
    if (flow_is_float(wick_info_of(t->f, (wick_value){1 + k}))) t->by[k] = t->out[n++];
}

/* Returns the weighted sum of the results at operand k + by * direction. */
static double flow_at(flow *t, uint32_t k, const double *direction, double by)
{
  wick_mark mark = wick_arena_mark(&t->tmp);
  wick_tensor in[2 * FLOW_MOST], out[2 * FLOW_MOST];
  memcpy(in, t->in, t->nin * sizeof *in);
  uint64_t n = wick_ref_numel(&in[k]);
  const double *x = in[k].data;
  double *moved = wick_arena_alloc(&t->tmp, n * sizeof *moved + 1, 64), sum = 0;
  for (uint64_t i = 0; i < n; i++) moved[i] = x[i] + by * direction[i];
  in[k].data = moved;
  flow_ok(t, wick_evaluate(t->f, t->nin, in, NULL, &t->tmp, &t->a, &t->b, out));
  for (uint32_t o = 0; o < t->nout; o++) {
    const wick_tensor *y = &out[t->at[o]], *w = &t->in[t->nin + o];
    for (uint64_t i = 0; i < wick_ref_numel(y); i++)
      sum += wick_load_elem(y->elem, y->data, i).f * wick_load_elem(w->elem, w->data, i).f;
  }
  wick_arena_rewind(&t->tmp, mark);
  return sum;
}

static double flow_difference(flow *t, uint32_t k, const double *direction, double width)
{
  return (flow_at(t, k, direction, width) - flow_at(t, k, direction, -width)) / (2 * width);
}

/* Returns the derivative of the weighted sum in that direction, at operand k + by * direction. */
static double flow_derivative(flow *t, uint32_t k, const double *direction, double by)
{
  wick_mark mark = wick_arena_mark(&t->tmp);
  wick_tensor in[2 * FLOW_MOST], out[2 * FLOW_MOST];
  memcpy(in, t->in, t->df->nparam * sizeof *in);
  uint64_t n = wick_ref_numel(&in[k]);
  const double *x = in[k].data;
  double *moved = wick_arena_alloc(&t->tmp, n * sizeof *moved + 1, 64), sum = 0;
  for (uint64_t i = 0; i < n; i++) moved[i] = x[i] + by * direction[i];
  in[k].data = moved;
  flow_ok(t, wick_evaluate(t->df, t->df->nparam, in, NULL, &t->tmp, &t->a, &t->b, out));
  const wick_tensor *d = &out[wick_return(t->f)->nin];
  for (uint32_t j = 0; j < k; j++) d += t->by[j].data != NULL;
  for (uint64_t i = 0; i < n; i++) sum += ((const double *)d->data)[i] * direction[i];
  wick_arena_rewind(&t->tmp, mark);
  return sum;
}

/* Returns true if the derivative near the operand is another one, by half of what differences miss:
 * x mod x / 100 has two, by how its quotient is rounded, and differences may see only one. */
static bool flow_is_corner(flow *t, uint32_t k, const double *direction, double here, double missed)
{
  enum { STEPS = 16 };
  for (int i = -STEPS; i <= STEPS; i++)
    if (fabs(flow_derivative(t, k, direction, i * flow_width / STEPS) - here) > missed / 2)
      return true;
  return false;
}

static void flow_compare(flow *t, uint32_t k, const double *direction)
{
  const double *by = t->by[k].data;
  double want = 0, scale = 1, near, wide, got;
  for (uint64_t i = 0; i < wick_ref_numel(&t->by[k]); i++) {
    want += by[i] * direction[i];
    scale = fmax(scale, fabs(by[i]));
  }
  near = flow_difference(t, k, direction, flow_width / 2);
  wide = flow_difference(t, k, direction, flow_width);
  got = (4 * near - wide) / 3;
  if (!(fabs(near - wide) <= flow_corner * scale) || !isfinite(want)) {
    t->corners++;
    return;
  }
  if (fabs(want - got) > flow_bound * scale &&
      flow_is_corner(t, k, direction, want, fabs(want - got))) {
    t->corners++;
    return;
  }
  t->compared++;
  if (fabs(want - got) <= flow_bound * scale) return;
  flow_wrong(
      t, wick_str_printf(&t->mem, "by operand %u: %.12g, differences give %.12g", k, want, got));
}

/* Compares the tangents of a direction of all operands that have cotangents with these. */
static void flow_forward(flow *t)
{
  wick_builder b;
  wick_func *f;
  wick_value in[FLOW_MOST], to[FLOW_MOST] = {{0}}, y[2 * FLOW_MOST], got[2 * FLOW_MOST];
  wick_tensor operand[2 * FLOW_MOST], out[FLOW_MOST];
  uint32_t n = t->nin;
  double want = 0, sum = 0, scale = 1;
  wick_build_begin(&b, t->m, WICK_GRAPH, "tangents", &t->mem);
  for (uint32_t k = 0; k < t->nin; k++) {
    operand[k] = t->in[k];
    in[k] = wick_build_param(&b, wick_type_of(t->f, (wick_value){1 + k}), WICK_IN, NULL);
  }
  for (uint32_t k = 0; k < t->nin; k++) {
    const wick_type_info *type = wick_info_of(t->f, (wick_value){1 + k});
    if (!t->by[k].data || !flow_is_float(type)) continue;
    to[k] = wick_build_param(&b, wick_type_of(t->f, (wick_value){1 + k}), WICK_IN, NULL);
    flow_fill(t, &operand[n], type, 0);
    for (uint64_t i = 0; i < wick_ref_numel(&t->by[k]); i++) {
      double v = wick_load_elem(type->elem, t->by[k].data, i).f *
                 wick_load_elem(type->elem, operand[n].data, i).f;
      want += v, scale += fabs(v);
    }
    n++;
  }
  wick_forward_body(&b, t->f, in, to, y, got);
  for (uint32_t k = 0; k < t->nout; k++)
    y[k] = got[t->at[k]].id ? got[t->at[k]] : wick_grad_fill(&b, y[t->at[k]], 0);
  wick_build_return(&b, t->nout, y);
  flow_ok(t, wick_build_end(&b, &f));
  flow_ok(t, wick_verify_func(f, &t->tmp));
  flow_ok(t, wick_evaluate(f, n, operand, NULL, &t->mem, &t->a, &t->b, out));
  for (uint32_t k = 0; k < t->nout; k++)
    for (uint64_t i = 0; i < wick_ref_numel(&out[k]); i++) {
      const wick_tensor *w = &t->in[t->nin + k];
      double v =
          wick_load_elem(out[k].elem, out[k].data, i).f * wick_load_elem(w->elem, w->data, i).f;
      sum += v, scale += fabs(v);
    }
  if (isfinite(scale) && !(fabs(want - sum) <= 1e-9 * scale))
    flow_wrong(t, wick_str_printf(&t->mem, "tangents give %.17g, cotangents %.17g", sum, want));
}

static void flow_differences(flow *t)
{
  flow_forward(t);
  for (uint32_t k = 0; k < t->nin; k++) {
    uint64_t n = t->by[k].data && t->by[k].elem == WICK_F64 ? wick_ref_numel(&t->by[k]) : 0;
    double *direction = wick_new(&t->mem, double, n + 1);
    if (!n) continue;
    for (uint64_t i = 0; i < n; i++) direction[i] = flow_random(t) / (double)n;
    flow_compare(t, k, direction);
    for (uint32_t e = 0; e < FLOW_ELEMENTS; e++) {
      memset(direction, 0, n * sizeof *direction);
      direction[(uint64_t)((flow_random(t) + 1) / 2 * (double)n) % n] = 1;
      flow_compare(t, k, direction);
    }
  }
}

/* ---- compiled code ---- */

static void flow_run(flow *t, double bound, const char *text)
{
  wick_context *context;
  wick_model *model;
  wick_compiled *compiled;
  wick_session *session;
  const void *from[FLOW_MOST];
  void *to[FLOW_MOST];
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  wick_session_options s = {.size = sizeof s, .threads = 1};
  flow_done(t, wick_context_create(NULL, &context));
  flow_done(t, wick_load_bytes(context, t->name, text, strlen(text), &model));
  flow_done(t, wick_compile(model, &o, &compiled));
  flow_done(t, wick_session_create(compiled, &s, &session));
  uint32_t nout = wick_compiled_noutput(compiled);
  for (uint32_t k = 0; k < wick_compiled_ninput(compiled); k++) from[k] = t->in[k].data;
  for (uint32_t k = 0; k < nout; k++)
    to[k] = wick_arena_alloc(&t->mem,
                             wick_elem_bytes(t->out[k].elem, wick_ref_numel(&t->out[k])) + 1, 64);
  for (int again = 0; again < 2; again++) flow_done(t, wick_run(session, from, to));
  for (uint32_t k = 0; k < nout; k++) {
    wick_tensor *want = &t->out[k];
    double scale = 0;
    for (uint64_t i = 0; i < wick_ref_numel(want); i++)
      scale = fmax(scale, fabs(wick_load_elem(want->elem, want->data, i).f));
    for (uint64_t i = 0; i < wick_ref_numel(want); i++) {
      double x = wick_load_elem(want->elem, want->data, i).f,
             y = wick_load_elem(want->elem, to[k], i).f;
      if (!(fabs(x - y) <= bound * scale))
        flow_wrong(t, wick_str_printf(&t->mem, "result %u, element %llu: %.17g, compiled %.17g", k,
                                      (unsigned long long)i, x, y));
    }
  }
  wick_session_free(session);
  wick_compiled_free(compiled);
  wick_model_free(model);
  wick_context_free(context);
}

static const char *flow_text(flow *t)
{
  wick_text text = wick_text_begin(&t->mem);
  wick_print_func(t->df, 0, &text);
  return text.at;
}

/* ---- tests ---- */

/* Replaces the program by its derivative. */
static void flow_again(flow *t)
{
  t->f = t->df;
  if (!flow_derive(t)) flow_wrong(t, "has no second derivative");
}

static void flow_program(const program *p)
{
  for (uint32_t k = 0; k < FLOW_NUMBERS && p->number[k] >= 0; k++) {
    flow t;
    flow_begin(&t, p->name, 7 + k);
    flow_ok(&t, wick_parse_module(t.m, p->name, p->text, strlen(p->text), &t.tmp));
    t.f = wick_module_find(t.m, "main");
    if (!flow_derive(&t)) flow_wrong(&t, "has no derivative");
    for (int twice = 0; twice <= p->again; twice++) {
      if (twice) flow_again(&t);
      flow_evaluate(&t, p->number[k], !twice);
      flow_differences(&t);
      bool calls = false;
      for (uint32_t i = 0; i < t.df->nnode; i++) calls = calls || t.df->node[i].op == WICK_OP_call;
      if (!calls) flow_run(&t, p->bound, flow_text(&t));
    }
    if (t.corners > t.compared)
      fail_msg("%s: %u points compared, %u near corners", p->name, t.compared, t.corners);
    flow_end(&t);
  }
}

static void test_programs(void **state)
{
  (void)state;
  const char *only = getenv("WICK_FLOW_PROGRAM");
  for (size_t i = 0; i < WICK_COUNT(programs); i++)
    if (!only || strcmp(only, programs[i].name) == 0) flow_program(&programs[i]);
}

/* Regions that take more than 256 values, and yield as many. */
static void test_many(void **state)
{
  (void)state;
  enum { MANY = 300 };
  flow t;
  flow_begin(&t, "many", 3);
  wick_text w = wick_text_begin(&t.mem);
  wick_text_add(&w, "graph @main(%x: f64[2], %w: f64[300,2]) -> f64[2] {\n"
                    "%n = const 2 : i64[]\n");
  for (int k = 0; k < MANY; k++)
    wick_text_printf(&w, "%%k%d = const %d : i64[]; %%w%d = dynamic_index %%w, %%k%d\n", k, k, k,
                     k);
  wick_text_add(&w, "%0 = loop %n, %x (%i: i64[], %h0: f64[2]) { " ON);
  for (int k = 0; k < MANY; k++)
    wick_text_printf(&w,
                     "%%s%d = reduce_max %%h%d {keepdims=false}; %%a%d = mul %%w%d, %%s%d\n"
                     "%%b%d = sin %%a%d; %%h%d = add %%h%d, %%b%d\n",
                     k, k, k, k, k, k, k, k + 1, k, k);
  wick_text_add(&w, "yield %on, %h300 }\nreturn %0 }");
  flow_ok(&t, wick_parse_module(t.m, t.name, w.at, strlen(w.at), &t.tmp));
  t.f = wick_module_find(t.m, "main");
  if (!flow_derive(&t)) flow_wrong(&t, "has no derivative");
  flow_evaluate(&t, 0, true);
  flow_differences(&t);
  flow_end(&t);
}

/* ---- random programs ---- */

/* Builds a graph of f64 with nested branches and loops. Returns NULL if it contains narrower
 * floats, whose rounding would disturb differences. */
static const wick_func *flow_graph(flow *t, random_graph *r, uint64_t seed)
{
  static const int64_t dim[3][2] = {{2, 3}, {3, 1}, {1, 3}};
  wick_value out[FLOW_MOST / 4];
  uint32_t nout = 0;
  wick_func *f;
  *r = (random_graph){.m = t->m, .seed = seed * 2 + 1, .tmp = &t->tmp, .nests = 2};
  for (int i = 0; i < 4; i++) random_below(r, 2);
  wick_build_begin(&r->b, t->m, WICK_GRAPH, "main", &t->mem);
  for (uint32_t k = 0; k < 3; k++) {
    wick_type type = wick_type_tensor_const(t->m, WICK_F64, 2, dim[k]);
    const char *name = wick_str_printf(&t->mem, "p%u", k);
    wick_push(&t->tmp, &r->values, wick_build_param(&r->b, type, WICK_IN, name));
  }
  r->only = WICK_BIT(WICK_F64);
  for (uint32_t k = 0; k < 6; k++)
    if (k % 2)
      random_step(r);
    else if (random_below(r, 2))
      random_if(r);
    else
      random_loop(r);
  for (uint32_t i = r->values.n; i-- > 0 && nout < WICK_COUNT(out);)
    if (r->values.at[i].id > 3 && random_info(r, r->values.at[i])->elem == WICK_F64)
      out[nout++] = r->values.at[i];
  if (!nout) return NULL;
  wick_build_return(&r->b, nout, out);
  flow_ok(t, wick_build_end(&r->b, &f));
  for (uint32_t i = 1; i <= f->nvalue; i++)
    if (flow_is_float(wick_info_of(f, (wick_value){i})) &&
        wick_info_of(f, (wick_value){i})->elem != WICK_F64)
      return NULL;
  return f;
}

static void test_random(void **state)
{
  (void)state, (void)random_function;
  const char *text = getenv("WICK_FLOW_GRAPHS"), *first = getenv("WICK_FLOW_SEED");
  uint64_t graphs = text ? strtoull(text, NULL, 10) : FLOW_RANDOM,
           seed = first ? strtoull(first, NULL, 10) : 0;
  uint32_t compared = 0, corners = 0, made = 0;
  random_graph *r = calloc(1, sizeof *r);
  for (uint64_t end = seed + graphs; seed < end; seed++) {
    flow t;
    char name[32];
    snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
    flow_begin(&t, name, seed);
    t.f = flow_graph(&t, r, seed);
    if (t.f && flow_derive(&t)) {
      made++;
      flow_evaluate(&t, 0, true);
      flow_differences(&t);
    }
    compared += t.compared, corners += t.corners;
    flow_end(&t);
  }
  free(r);
  if (text) print_message("%u graphs, %u points, %u corners\n", made, compared, corners);
  if (corners > compared) fail_msg("%u points compared, %u near corners", compared, corners);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs), cmocka_unit_test(test_many),
                                     cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
