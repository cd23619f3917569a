/* Derivatives of programs with recursion, data and nested transformations, compared with central
 * differences in f64, and forward mode compared with reverse mode.
 *
 * A program has functions; @f is differentiated by its float parameters. Its first result is a float.
 * Data parameters are not allowed in @f, because the test fills tensors; programs build their data. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/expand_transformations.h"
#include "ir/element.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/evaluate.h"
#include "ops/ref.h"

enum { TRANSFORM_MOST = 8 };

static const char list_data[] = "data @List { Nil, Cons(f64[], @List) }\n"
                                "data @Tree { Leaf(i64[], f64[2]), Node(@Tree, @Tree) }\n";

/* Functions for programs: a list x, x*x, ... of n numbers; a complete tree of depth n. */
static const char list_functions[] =
    "graph @upto(%x: f64[], %n: i64[]) -> @List {\n"
    "  %0 = const 0 : i64[]; %c = le %n, %0\n"
    "  %r = if %c () { %e = construct {ctor=0} : @List; yield %e } () {\n"
    "    %1 = const 1 : i64[]; %m = sub %n, %1; %y = sin %x; %t = call @upto %y, %m : @List\n"
    "    %l = construct %x, %t {ctor=1} : @List; yield %l }\n"
    "  return %r }\n"
    "graph @grow(%x: f64[2], %n: i64[]) -> @Tree {\n"
    "  %0 = const 0 : i64[]; %c = le %n, %0\n"
    "  %r = if %c () { %e = construct %n, %x {ctor=0} : @Tree; yield %e } () {\n"
    "    %1 = const 1 : i64[]; %m = sub %n, %1; %y = sin %x; %z = cos %x\n"
    "    %a = call @grow %y, %m : @Tree; %b = call @grow %z, %m : @Tree\n"
    "    %l = construct %a, %b {ctor=1} : @Tree; yield %l }\n"
    "  return %r }\n";

static const struct {
  const char *name, *text;
} programs[] = {
    {"straight", "graph @f(%x: f64[3], %s: f64[]) -> f64[] { %0 = mul %x, %s; %1 = tanh %0; %2 = "
                 "reduce_sum %1 {keepdims=false}; return %2 }"},
    {"a power by recursion",
     "graph @f(%x: f64[], %n: i64[]) -> f64[] { %0 = const 0 : i64[]; %c = le %n, %0\n"
     "  %r = if %c () { yield %x } () { %1 = const 1 : i64[]; %m = sub %n, %1; %2 = call @f %x, %m "
     ": "
     "f64[]; %3 = mul %2, %x; yield %3 }\n return %r }"},
    {"two calls of itself, and of another",
     "graph @f(%x: f64[], %n: i64[]) -> f64[] { %0 = const 1 : i64[]; %c = le %n, %0\n"
     "  %r = if %c () { %s = sin %x; yield %s } () { %m = sub %n, %0; %k = sub %m, %0; %a = call "
     "@f %x, "
     "%m : f64[]; %b = call @g %a, %k : f64[]; %3 = mul %a, %b; yield %3 }\n return %r }\n"
     "graph @g(%y: f64[], %n: i64[]) -> f64[] { %e = cos %y; %z = call @f %y, %n : f64[]; %w = add "
     "%e, "
     "%z; return %w }"},
    {"weights that are passed on",
     "graph @f(%w: f64[2,2], %x: f64[2], %n: i64[]) -> f64[2] { %0 = const 0 : i64[]; %c = le %n, "
     "%0\n"
     "  %r = if %c () { yield %x } () { %1 = const 1 : i64[]; %m = sub %n, %1; %2 = call @f %w, "
     "%x, %m : "
     "f64[2]; %3 = matmul %w, %2; %4 = tanh %3; yield %4 }\n return %r }"},
    {"rows of a table", "graph @f(%w: f64[5,2], %x: f64[2], %n: i64[]) -> f64[2] { %0 = const 0 : "
                        "i64[]; %c = le %n, %0\n"
                        "  %r = if %c () { yield %x } () { %1 = const 1 : i64[]; %m = sub %n, %1; "
                        "%2 = call @f %w, %x, %m : "
                        "f64[2]; %g = gather %w, %n; %3 = mul %2, %g; %4 = gather %w, %m; %5 = add "
                        "%3, %4; yield %5 }\n "
                        "return %r }"},
    {"the same value for two parameters",
     "graph @f(%x: f64[], %n: i64[]) -> f64[] { %r = call @g %x, %x, %n : f64[]; return %r }\n"
     "graph @g(%x: f64[], %y: f64[], %n: i64[]) -> f64[] { %0 = const 0 : i64[]; %c = le %n, %0\n"
     "  %r = if %c () { %p = mul %x, %y; yield %p } () { %1 = const 1 : i64[]; %m = sub %n, %1; %z "
     "= sin "
     "%x; %2 = call @g %z, %y, %m : f64[]; yield %2 }\n return %r }"},
    {"the squares of a list", "graph @f(%x: f64[], %n: i64[]) -> f64[] { %l = call @upto %x, %n : "
                              "@List; %r = call @sum %l : "
                              "f64[]; return %r }\n"
                              "graph @sum(%l: @List) -> f64[] { %r = switch %l () { %0 = const 0 : "
                              "f64[]; yield %0 } (%x: f64[], "
                              "%t: @List) { %s = call @sum %t : f64[]; %q = mul %x, %x; %p = mul "
                              "%q, %s; %u = add %p, %x; yield "
                              "%u }\n return %r }"},
    {"a list that is mapped and used twice",
     "graph @f(%x: f64[], %k: f64[], %n: i64[]) -> f64[] { %l = call @upto %x, %n : @List; %m = "
     "call "
     "@map %l, %k : @List; %a = call @dot %l, %m : f64[]; return %a }\n"
     "graph @map(%l: @List, %k: f64[]) -> @List { %r = switch %l () { yield %l } (%x: f64[], %t: "
     "@List) "
     "{ %s = call @map %t, %k : @List; %q = mul %x, %k; %v = exp %q; %p = construct %v, %s "
     "{ctor=1} : "
     "@List; yield %p }\n return %r }\n"
     "graph @dot(%l: @List, %m: @List) -> f64[] { %r = switch %l () { %0 = const 0 : f64[]; yield "
     "%0 } "
     "(%x: f64[], %t: @List) { %s = switch %m () { yield %x } (%y: f64[], %u: @List) { %p = mul "
     "%x, %y; "
     "%d = call @dot %t, %u : f64[]; %e = add %p, %d; yield %e }; yield %s }\n return %r }"},
    {"a tree with weights",
     "graph @f(%w: f64[2,2], %x: f64[2], %n: i64[]) -> f64[] { %t = call @grow %x, %n : @Tree; %v "
     "= call "
     "@encode %w, %t : f64[2]; %q = mul %v, %v; %s = reduce_sum %q {keepdims=false}; return %s }\n"
     "graph @encode(%w: f64[2,2], %t: @Tree) -> f64[2] { %r = switch %t (%i: i64[], %x: f64[2]) { "
     "yield "
     "%x } (%a: @Tree, %b: @Tree) { %l = call @encode %w, %a : f64[2]; %m = call @encode %w, %b : "
     "f64[2]; "
     "%p = matmul %w, %l; %q = add %p, %m; %s = tanh %q; yield %s }\n return %r }"},
    {"a loop that calls a recursion, ends early and stacks rows",
     "graph @f(%x: f64[], %w: f64[], %n: i64[]) -> f64[] {\n"
     "  %v, %rows = loop %n, %x {stacked=1, most=[9]} (%i: i64[], %v: f64[]) { %p = call @pow %v, "
     "%i : f64[]; %q = mul %p, %w; "
     "%two = const 2 : i64[]; %on = lt %i, %two; %s = sin %q; yield %on, %q, %s }\n"
     "  %s = reduce_sum %rows {keepdims=false}; %r = add %v, %s; return %r }\n"
     "graph @pow(%x: f64[], %n: i64[]) -> f64[] { %0 = const 0 : i64[]; %c = le %n, %0\n"
     "  %r = if %c () { yield %x } () { %1 = const 1 : i64[]; %m = sub %n, %1; %2 = call @pow %x, "
     "%m : "
     "f64[]; %3 = mul %2, %x; yield %3 }\n return %r }"},
    {"a list that a loop builds",
     "graph @f(%x: f64[], %n: i64[]) -> f64[] { %e = construct {ctor=0} : @List\n"
     "  %l, %y = loop %n, %e, %x (%i: i64[], %a: @List, %v: f64[]) { %t = const true : bool[]; %s "
     "= sin "
     "%v; %c = construct %v, %a {ctor=1} : @List; yield %t, %c, %s }\n"
     "  %r = call @sum %l : f64[]; %q = mul %r, %y; return %q }\n"
     "graph @sum(%l: @List) -> f64[] { %r = switch %l () { %0 = const 1 : f64[]; yield %0 } (%x: "
     "f64[], "
     "%t: @List) { %s = call @sum %t : f64[]; %p = mul %x, %s; %u = add %p, %x; yield %u }\n "
     "return %r "
     "}"},
    {"a checkpoint of a recursion",
     "graph @f(%x: f64[], %n: i64[]) -> f64[] { %s = sin %x; %r = checkpoint @pow %s, %n : f64[]; "
     "%q = "
     "mul %r, %x; return %q }\n"
     "graph @pow(%x: f64[], %n: i64[]) -> f64[] { %0 = const 0 : i64[]; %c = le %n, %0\n"
     "  %r = if %c () { yield %x } () { %1 = const 1 : i64[]; %m = sub %n, %1; %2 = call @pow %x, "
     "%m : "
     "f64[]; %3 = mul %2, %x; yield %3 }\n return %r }"},
    {"a derivative inside",
     "graph @f(%x: f64[], %y: f64[], %n: i64[]) -> f64[] { %v, %g = value_and_grad @h %x, %y, %n "
     "{wrt=[0]} : f64[], f64[]; %t = mul %y, %x; %w, %d = jvp @h %x, %y, %n, %t {wrt=[1]} : f64[], "
     "f64[]; %p = mul %g, %d; %q = add %p, %v; return %q }\n"
     "graph @h(%x: f64[], %y: f64[], %n: i64[]) -> f64[] { %0 = const 0 : i64[]; %c = le %n, %0\n"
     "  %r = if %c () { %m = mul %x, %y; yield %m } () { %1 = const 1 : i64[]; %m = sub %n, %1; %s "
     "= sin "
     "%x; %2 = call @h %s, %y, %m : f64[]; %3 = mul %2, %x; yield %3 }\n return %r }"},
};

typedef struct transform {
  wick_guard guard;
  wick_arena mem, tmp, a, b;
  wick_module *m;
  const char *name;
  const wick_func *f; /* before the transformations are expanded */
  wick_tensor in[2 * TRANSFORM_MOST], out[2 * TRANSFORM_MOST];
} transform;

static void transform_ok(const transform *t, wick_status s)
{
  if (!s) return;
  wick_text text = wick_text_begin((wick_arena *)(uintptr_t)&t->mem);
  wick_print_module(t->m, 0, &text);
  fail_msg("%s: %s\n%.8000s", t->name, s->message, text.at);
}

static void transform_begin(transform *t, const char *name, const char *text)
{
  *t = (transform){.guard = {.allocator = wick_allocator_malloc()}, .name = name};
  t->mem = wick_arena_make(&t->guard);
  t->tmp = wick_arena_make(&t->guard);
  t->a = wick_arena_make(&t->guard);
  t->b = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "");
  transform_ok(t, wick_parse_module(t->m, "test", text, strlen(text), &t->tmp));
  transform_ok(t, wick_verify_module(t->m, &t->tmp));
  t->f = wick_module_find(t->m, "f");
}

static void transform_end(transform *t)
{
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
  wick_arena_free(&t->tmp);
  wick_arena_free(&t->a);
  wick_arena_free(&t->b);
}

/* Expands the transformations of the module. */
static void transform_expand(transform *t)
{
  const wick_pass_context pass = {.mem = &t->mem, .tmp = &t->tmp};
  wick_func *out;
  transform_ok(t, wick_pass_expand_transformations(&pass, wick_module_find(t->m, "main"), &out));
  transform_ok(t, wick_verify_module(t->m, &t->tmp));
}

static void transform_evaluate(transform *t, const char *name, uint32_t nin)
{
  const wick_func *f = wick_module_find(t->m, name);
  transform_ok(t, wick_evaluate(f, nin, t->in, NULL, &t->mem, &t->a, &t->b, t->out));
}

static bool transform_is_float(const wick_func *f, uint32_t k)
{
  return wick_info_of(f, (wick_value){1 + k})->elem == WICK_F64;
}

static void transform_fill(transform *t, wick_tensor *x, const wick_type_info *type, double from)
{
  *x = (wick_tensor){.elem = type->elem, .rank = type->rank};
  wick_type_const_dims(type, x->dim);
  uint64_t n = wick_ref_numel(x);
  void *data = wick_arena_alloc(&t->mem, n * sizeof(double), 64);
  for (uint64_t i = 0; i < n; i++) {
    double v = from + 0.37 * sin(1.7 * (double)i + from);
    wick_store_elem(x->elem, data, i,
                    x->elem == WICK_I64 ? (wick_scalar){.i = 4} : (wick_scalar){.f = v});
  }
  x->data = data;
}

/* Returns the sum of the first result at in[k] + by along element i. */
static double transform_at(transform *t, uint32_t nin, uint32_t k, uint64_t i, double by)
{
  double *x = t->in[k].data, old = x[i], sum = 0;
  x[i] += by;
  transform_evaluate(t, "main", nin);
  x[i] = old;
  const double *y = t->out[0].data;
  for (uint64_t e = 0; e < wick_ref_numel(&t->out[0]); e++) sum += y[e];
  return sum;
}

/* Returns the derivative of that sum, to the fourth order of the width. */
static double transform_difference(transform *t, uint32_t nin, uint32_t k, uint64_t i)
{
  double w = 1e-3, at[4];
  for (int d = 0; d < 4; d++)
    at[d] = transform_at(t, nin, k, i, (d < 2 ? w : -w) * (d % 2 ? 2 : 1));
  return (8 * (at[0] - at[2]) - (at[1] - at[3])) / (12 * w);
}

static void transform_type(const transform *t, wick_text *out, wick_type type)
{
  wick_type_print(t->m, type, out);
}

/* Builds the text of @main, which calls @f: its results, cotangents, and the tangents of its first
 * float parameter in the direction of the parameter itself. */
static const char *transform_main(transform *t, const char *text)
{
  const wick_func *f = t->f;
  wick_text s = wick_text_begin(&t->mem), types = wick_text_begin(&t->mem),
            args = wick_text_begin(&t->mem), wrt = wick_text_begin(&t->mem);
  uint32_t n = 0, first = 0;
  wick_text_printf(&s, "%s%s%s\ngraph @main(", list_data, list_functions, text);
  for (uint32_t k = 0; k < f->nparam; k++) {
    wick_text_printf(&s, "%s%%p%u: ", k ? ", " : "", k);
    transform_type(t, &s, f->value[1 + k].type);
    wick_text_printf(&args, "%s%%p%u", k ? ", " : "", k);
    if (!transform_is_float(f, k)) continue;
    if (!n) first = k;
    wick_text_printf(&wrt, "%s%u", n++ ? "," : "", k);
    wick_text_add(&types, ", ");
    transform_type(t, &types, f->value[1 + k].type);
  }
  wick_text y = wick_text_begin(&t->mem);
  transform_type(t, &y, wick_type_of(f, wick_return(f)->in[0]));
  wick_text_printf(&s, ") -> (%s%s, %s) { %%y", y.at, types.at, y.at);
  for (uint32_t k = 0; k < n; k++) wick_text_printf(&s, ", %%g%u", k);
  wick_text_printf(&s, " = value_and_grad @f %s {wrt=[%s]} : %s%s\n", args.at, wrt.at, y.at,
                   types.at);
  wick_text_printf(&s, " %%z, %%t = jvp @f %s, %%p%u {wrt=[%u]} : %s, %s\n return %%y", args.at,
                   first, first, y.at, y.at);
  for (uint32_t k = 0; k < n; k++) wick_text_printf(&s, ", %%g%u", k);
  wick_text_add(&s, ", %t }\n");
  return s.at;
}

static void transform_compare(transform *t, const char *what, double got, double want)
{
  if (fabs(got - want) > 1e-6 * fmax(1, fabs(want)))
    fail_msg("%s: %s is %.12g, expected %.12g", t->name, what, got, want);
}

static void transform_program(const char *name, const char *text)
{
  transform t, g;
  wick_tensor by[TRANSFORM_MOST];
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  wick_text whole = wick_text_begin(&mem);
  wick_text_printf(&whole, "%s%s%s", list_data, list_functions, text);
  transform_begin(&t, name, whole.at);
  transform_begin(&g, name, transform_main(&t, text));
  wick_arena_free(&mem);
  transform_expand(&g);
  uint32_t nin = t.f->nparam, n = 0;
  for (uint32_t k = 0; k < nin; k++)
    transform_fill(&g, &g.in[k], wick_info_of(t.f, (wick_value){1 + k}), 0.4 + 0.1 * k);
  transform_evaluate(&g, "main", nin);
  double tangent = 0, along = 0;
  for (uint32_t k = 0; k < nin; k++)
    if (transform_is_float(t.f, k)) by[k] = g.out[1 + n++];
  const wick_tensor *z = &g.out[1 + n];
  for (uint64_t i = 0; i < wick_ref_numel(z); i++) tangent += ((const double *)z->data)[i];
  for (uint32_t k = 0, first = 1; k < nin; k++) {
    if (!transform_is_float(t.f, k)) continue;
    for (uint64_t i = 0; i < wick_ref_numel(&by[k]); i++) {
      double near = transform_difference(&g, nin, k, i);
      double d = ((const double *)by[k].data)[i];
      transform_compare(&g, wick_str_printf(&g.mem, "the derivative by %u[%u]", k, (uint32_t)i), d,
                        near);
      if (first) along += d * ((const double *)g.in[k].data)[i];
    }
    first = 0;
  }
  transform_compare(&g, "the tangent", tangent, along);
  transform_end(&g);
  transform_end(&t);
}

static void test_programs(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(programs); i++)
    transform_program(programs[i].name, programs[i].text);
}

/* ---- orders ---- */

/* Functions of one number, on 0.4 to 0.9: the definition of %y. */
static const char *const scalars[] = {
    "%y = sin %x",
    "%y = cos %x",
    "%y = exp %x",
    "%y = log %x",
    "%y = tanh %x",
    "%y = sqrt %x",
    "%y = rsqrt %x",
    "%y = reciprocal %x",
    "%y = atan %x",
    "%y = asin %x",
    "%y = acos %x",
    "%y = tan %x",
    "%y = sinh %x",
    "%y = cosh %x",
    "%y = asinh %x",
    "%y = atanh %x",
    "%y = erf %x",
    "%y = log1p %x",
    "%y = expm1 %x",
    "%y = exp2 %x",
    "%y = log2 %x",
    "%y = sigmoid %x",
    "%y = softplus %x",
    "%y = mul %x, %x",
    "%a = mul %x, %x; %y = mul %a, %x",
    "%y = pow %x, %x",
    "%a = sin %x; %y = div %a, %x",
    "%a = exp %x; %b = sin %a; %y = mul %b, %x",
    "%c = gt %x, %x; %a = sin %x; %y = where %c, %x, %a",
    "%n = const 3 : i64[]; %y = loop %n, %x (%i: i64[], %v: f64[]) { %t = const true : bool[]; %w "
    "= "
    "mul %v, %x; %s = sin %w; yield %t, %s }",
    "%n = const 3 : i64[]; %y = call @pow %x, %n : f64[]",
};

/* Builds @d1 .. @d4 of @d0, each the derivative of the one before; bit k of `forward`: order k + 1 in
 * forward mode. */
static const char *transform_orders(wick_arena *mem, const char *y, uint32_t order,
                                    uint32_t forward)
{
  wick_text s = wick_text_begin(mem);
  wick_text_printf(&s,
                   "graph @pow(%%x: f64[], %%n: i64[]) -> f64[] { %%0 = const 0 : i64[]; %%c = le "
                   "%%n, %%0; %%r = if "
                   "%%c () { yield %%x } () { %%1 = const 1 : i64[]; %%m = sub %%n, %%1; %%2 = "
                   "call @pow %%x, %%m : "
                   "f64[]; %%3 = mul %%2, %%x; yield %%3 }; return %%r }\n"
                   "graph @d0(%%x: f64[]) -> f64[] { %s; return %%y }\n",
                   y);
  for (uint32_t k = 0; k < order; k++)
    if (forward >> k & 1)
      wick_text_printf(
          &s,
          "graph @d%u(%%x: f64[]) -> f64[] { %%1 = const 1 : f64[]; %%y, %%g = jvp @d%u "
          "%%x, %%1 {wrt=[0]} : f64[], f64[]; return %%g }\n",
          k + 1, k);
    else
      wick_text_printf(
          &s,
          "graph @d%u(%%x: f64[]) -> f64[] { %%y, %%g = value_and_grad @d%u %%x {wrt=[0]} "
          ": f64[], f64[]; return %%g }\n",
          k + 1, k);
  wick_text_printf(
      &s,
      "graph @main(%%x: f64[]) -> (f64[], f64[]) { %%a = call @d%u %%x : f64[]; %%b = call "
      "@d%u %%x : f64[]; return %%a, %%b }\n",
      order - 1, order);
  return s.at;
}

static void transform_order(const char *y, uint32_t order, uint32_t forward)
{
  transform t;
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard);
  transform_begin(&t, y, transform_orders(&mem, y, order, forward));
  transform_expand(&t);
  transform_fill(&t, &t.in[0], wick_info_of(wick_module_find(t.m, "main"), (wick_value){1}), 0.45);
  transform_evaluate(&t, "main", 1);
  double got = ((const double *)t.out[1].data)[0], want = transform_difference(&t, 1, 0, 0);
  transform_compare(&t, wick_str_printf(&mem, "order %u, forward %u", order, forward), got, want);
  transform_end(&t);
  wick_arena_free(&mem);
}

static void test_orders(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(scalars); i++)
    for (uint32_t order = 1; order <= 4; order++)
      for (uint32_t forward = 0; forward < 1u << order; forward += order < 4 ? 1 : 5)
        transform_order(scalars[i], order, forward);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_programs),
      cmocka_unit_test(test_orders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
