/* Derivatives of small networks by inputs and weights: compiled code compared with the reference
 * evaluation of the same graph; and, in f64, a second derivative compared with differences of the
 * first. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/grad/grad.h"
#include "ir/text.h"
#include "ops/evaluate.h"
#include "ops/ref.h"
#include "wick/wick.h"

enum { NETWORK_MOST = 24 };

typedef struct network {
  const char *name, *text; /* @w: constants follow from the declarations in the text */
  const char *of;          /* NULL: the first result */
  const char *wrt[10];     /* empty: all inputs */
  double bound;            /* of differences, relative to the largest element */
} network;

static const network networks[] = {
    {"convolutions",
     "graph @main(%x: f32[2,3,15,14], %t: f32[2,10]) -> (f32[], f32[2,10]) {\n"
     "%w0 = const @w0 : f32[32,3,3,3]; %b0 = const @b0 : f32[32]; %w1 = const @w1 : f32[32,1,3,3]\n"
     "%w2 = const @w2 : f32[48,32,1,1]; %w3 = const @w3 : f32[48,12,3,2]; %s = const @s : f32[48]\n"
     "%w4 = const @w4 : f32[48,10]; %zero = const 0 : f32[48]; %one = const 1 : f32[48]\n"
     "%0 = conv %x, %w0, %b0 {stride=[2,2], pad=[1,1,1,1]}; %1 = relu %0\n"
     "%2 = conv %1, %w1 {group=32, pad=[1,1,1,1]}; %3 = hard_swish %2\n"
     "%4 = conv %3, %w2; %5 = batch_norm %4, %s, %zero, %zero, %one; %6 = add %5, %4\n"
     "%7 = max_pool %6 {kernel=[3,3], stride=[2,2], pad=[1,1,1,1]}\n"
     "%8 = conv %7, %w3 {group=4, dilation=[1,2], pad=[1,1,1,1]}; %9 = sigmoid %8\n"
     "%10 = avg_pool %9 {kernel=[2,2], stride=[2,2]}; %11 = reduce_mean %10 {axes=[2,3]}\n"
     "%12 = reshape %11 {shape=[2,48]}; %13 = matmul %12, %w4; %14 = log_softmax %13\n"
     "%15 = mul %14, %t; %16 = reduce_sum %15 {keepdims=false}; %17 = neg %16\n"
     "return %17, %14 }\n",
     NULL,
     {"x", "w0", "b0", "w1", "w2", "w3", "s", "w4", "t"},
     2e-5},
    {"a transformer's block",
     "graph @main(%x: f32[2,9,32], %m: f32[9,9]) -> (f32[2,9,32]) {\n"
     "%g = const @g : f32[32]; %wq = const @wq : f32[32,32]; %wk = const @wk : f32[32,32]\n"
     "%wv = const @wv : f32[32,32]; %wo = const @wo : f32[32,32]; %w1 = const @w1 : f32[32,64]\n"
     "%w2 = const @w2 : f32[64,32]\n"
     "%n = layer_norm %x, %g\n"
     "%q = matmul %n, %wq; %k = matmul %n, %wk; %v = matmul %n, %wv\n"
     "%q1 = reshape %q {shape=[2,9,2,16]}; %q2 = transpose %q1 {perm=[0,2,1,3]}\n"
     "%k1 = reshape %k {shape=[2,9,2,16]}; %k2 = transpose %k1 {perm=[0,2,3,1]}\n"
     "%v1 = reshape %v {shape=[2,9,2,16]}; %v2 = transpose %v1 {perm=[0,2,1,3]}\n"
     "%s = matmul %q2, %k2; %c = const 0.25 : f32[]; %s1 = mul %s, %c; %s2 = add %s1, %m\n"
     "%p = softmax %s2; %a = matmul %p, %v2; %a1 = transpose %a {perm=[0,2,1,3]}\n"
     "%a2 = reshape %a1 {shape=[2,9,32]}; %o = matmul %a2, %wo; %r = add %x, %o\n"
     "%e = rms_norm %r, %g; %f = matmul %e, %w1; %f1 = gelu %f; %f2 = matmul %f1, %w2\n"
     "%y = add %r, %f2\n"
     "return %y }\n",
     NULL,
     {"x", "m", "g", "wq", "wk", "wv", "wo", "w1", "w2"},
     2e-5},
    {"recurrent layers",
     "graph @main(%x: f32[5,3,7], %h: f32[3,20]) -> (f32[3,20]) {\n"
     "%w = const @w : f32[80,7]; %r = const @r : f32[80,20]; %b = const @b : f32[160]\n"
     "%w1 = const @w1 : f32[60,20]; %r1 = const @r1 : f32[60,20]; %none = const 0 : f32[3,20]\n"
     "%l = const 5 : i32[3]\n"
     "%a, %a1, %a2 = lstm %x, %w, %r, %b, %l, %h, %none\n"
     "%c, %c1 = gru %a, %w1, %r1 {late=true, reverse=true}\n"
     "%y = mul %c1, %a2\n"
     "return %y }\n",
     NULL,
     {"x", "h", "w", "r", "b", "w1", "r1"},
     2e-5},
    {"a sequence that runs as a loop",
     "graph @main(%x: f32[40,2,5]) -> (f32[2,9]) {\n"
     "%w = const @w : f32[36,5]; %r = const @r : f32[36,9]\n"
     "%a, %a1, %a2 = lstm %x, %w, %r\n"
     "return %a1 }\n",
     NULL,
     {"x", "w", "r"},
     2e-5},
    {"images and indices",
     "graph @main(%x: f32[1,4,6,7], %i: i64[5]) -> (f32[]) {\n"
     "%k = const @k : f32[4,6,3,3]; %e = const @e : f32[11,13]\n"
     "%0 = conv_transpose %x, %k {stride=[2,2], pad=[1,1,1,1], output_pad=[1,0]}\n"
     "%1 = resize %0 {shape=[1,6,9,11], mode=linear}\n"
     "%2 = pad %1 {pad=[0,0,2,1,0,0,1,2], mode=reflect}\n"
     "%3 = slice %2 {begin=[0,1,11,0], shape=[1,4,5,13], step=[1,1,-2,1]}\n"
     "%4 = gather %e, %i {axis=0}; %5 = mul %3, %4; %6 = reduce_log_sum_exp %5 {axes=[1,3]}\n"
     "%7, %8 = top_k %6 {axis=2, k=[3]}; %9 = reduce_l2 %7 {keepdims=false}\n"
     "return %9 }\n",
     NULL,
     {"x", "k", "e"},
     2e-5},
};

typedef struct run {
  wick_guard guard;
  wick_arena mem, tmp, scratch;
  uint64_t random;
} run;

static double run_random(run *r)
{
  r->random = r->random * 6364136223846793005u + 1442695040888963407u;
  return (double)((int64_t)(r->random >> 33) % 2001 - 1000) / 1000;
}

static void run_ok(const char *what, wick_status s)
{
  if (s) fail_msg("%s: %s", what, s->message);
}

static void run_done(const char *what, wick_error *e)
{
  if (e) fail_msg("%s: %s", what, wick_error_message(e));
}

/* Returns the network with its constants before it: small numbers, of the types that its nodes
 * declare. */
static const char *run_text(run *r, const char *text)
{
  wick_text t = wick_text_begin(&r->mem);
  for (const char *at = text; (at = strstr(at, "= const @")); at++) {
    const char *name = at + 9, *type = strstr(name, ": ") + 2;
    size_t n = strcspn(name, " "), size = strcspn(type, "]") + 1;
    wick_text_printf(&t, "constant @%.*s : %.*s = [", (int)n, name, (int)size, type);
    int64_t count = 1;
    for (const char *d = type + strcspn(type, "[") + 1; d < type + size; d += strcspn(d, ",]") + 1)
      count *= strtoll(d, NULL, 10);
    for (int64_t k = 0; k < count; k++)
      wick_text_printf(&t, "%s%.3f", k ? "," : "", run_random(r) * 0.3);
    wick_text_add(&t, "]\n");
  }
  wick_text_add(&t, text);
  return t.at;
}

static void run_begin(run *r)
{
  *r = (run){.guard = {.allocator = wick_allocator_malloc()}, .random = 7};
  r->mem = wick_arena_make(&r->guard);
  r->tmp = wick_arena_make(&r->guard);
  r->scratch = wick_arena_make(&r->guard);
}

static void run_end(run *r)
{
  wick_arena_free(&r->mem);
  wick_arena_free(&r->tmp);
  wick_arena_free(&r->scratch);
}

static uint32_t run_names(const network *n)
{
  uint32_t k = 0;
  while (k < 10 && n->wrt[k]) k++;
  return k;
}

static wick_tensor run_input(run *r, const wick_type_info *t)
{
  wick_tensor x = {.elem = t->elem, .rank = t->rank};
  wick_type_const_dims(t, x.dim);
  uint64_t n = wick_ref_numel(&x);
  x.data = wick_arena_alloc(&r->mem, wick_elem_bytes(t->elem, n), 64);
  for (uint64_t k = 0; k < n; k++) {
    double v = run_random(r);
    bool is_float = wick_elem_is_float(t->elem);
    wick_store_elem(t->elem, x.data, k,
                    is_float ? (wick_scalar){.f = v} : (wick_scalar){.i = (int64_t)(v * 5 + 5)});
  }
  return x;
}

/* ---- compiled and reference ---- */

static void run_compiled(const network *n, const char *text, const wick_tensor *in, uint32_t nout,
                         wick_tensor *out)
{
  wick_context *context;
  wick_model *model;
  wick_compiled *compiled;
  wick_session *session;
  const void *from[NETWORK_MOST];
  void *to[NETWORK_MOST];
  wick_grad_options g = {.size = sizeof g, .of = n->of, .nwrt = run_names(n), .wrt = n->wrt};
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  wick_session_options s = {.size = sizeof s, .threads = 2};
  run_done(n->name, wick_context_create(NULL, &context));
  run_done(n->name, wick_load_bytes(context, n->name, text, strlen(text), &model));
  run_done(n->name, wick_grad(model, &g));
  run_done(n->name, wick_compile(model, &o, &compiled));
  run_done(n->name, wick_session_create(compiled, &s, &session));
  assert_int_equal(wick_compiled_noutput(compiled), nout);
  for (uint32_t k = 0; k < wick_compiled_ninput(compiled); k++) from[k] = in[k].data;
  for (uint32_t k = 0; k < nout; k++) to[k] = out[k].data;
  run_done(n->name, wick_run(session, from, to));
  wick_session_free(session);
  wick_compiled_free(compiled);
  wick_model_free(model);
  wick_context_free(context);
}

static void run_compare(const network *n, uint32_t output, const wick_tensor *got,
                        const wick_tensor *want)
{
  double scale = 1e-30, worst = 0;
  uint64_t count = wick_ref_numel(want);
  for (uint64_t k = 0; k < count; k++)
    scale = fmax(scale, fabs(wick_load_elem(want->elem, want->data, k).f));
  for (uint64_t k = 0; k < count; k++)
    worst = fmax(worst, fabs(wick_load_elem(got->elem, got->data, k).f -
                             wick_load_elem(want->elem, want->data, k).f));
  if (!(worst <= n->bound * scale))
    fail_msg("%s: output %u differs by %g, its largest element is %g", n->name, output, worst,
             scale);
}

static void run_network(const network *n)
{
  run r;
  run_begin(&r);
  wick_module *m = wick_module_create(&r.guard, "");
  const char *text = run_text(&r, n->text);
  wick_tensor in[NETWORK_MOST], want[NETWORK_MOST], got[NETWORK_MOST];
  wick_gradient g;
  wick_func *df;
  run_ok(n->name, wick_parse_module(m, n->name, text, strlen(text), &r.tmp));
  const wick_func *f = wick_module_find(m, "main");
  run_ok(n->name, wick_gradient_find(f, n->of, run_names(n), n->wrt, &r.mem, &g));
  run_ok(n->name, wick_differentiate(f, &g, &r.mem, &df));
  for (uint32_t k = 0; k < df->nparam; k++)
    in[k] = run_input(&r, wick_info_of(df, (wick_value){1 + k}));
  run_ok(n->name, wick_evaluate(df, df->nparam, in, NULL, &r.mem, &r.tmp, &r.scratch, want));
  uint32_t nout = wick_return(df)->nin;
  for (uint32_t k = 0; k < nout; k++) {
    got[k] = want[k];
    got[k].data =
        wick_arena_alloc(&r.mem, wick_elem_bytes(want[k].elem, wick_ref_numel(&want[k])), 64);
  }
  run_compiled(n, text, in, nout, got);
  for (uint32_t k = 0; k < nout; k++) run_compare(n, k, &got[k], &want[k]);
  wick_module_free(m);
  run_end(&r);
}

static void test_networks(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(networks); i++) run_network(&networks[i]);
}

/* ---- second derivatives ---- */

static const char twice[] =
    "graph @main(%x: f64[2,4], %w: f64[4,3], %s: f64[3]) -> (f64[]) {\n"
    "%0 = matmul %x, %w; %1 = tanh %0; %2 = mul %1, %s; %3 = softmax %2; %4 = log %3\n"
    "%5 = layer_norm %4, %s; %6 = mul %5, %1; %7 = reduce_sum %6 {keepdims=false}\n"
    "return %7 }\n";

/* Compares d/dw sum(dy/dx) along a direction of w with the difference of sum(dy/dx) along it. */
static void test_second(void **state)
{
  (void)state;
  run r;
  run_begin(&r);
  wick_module *m = wick_module_create(&r.guard, "");
  static const char *const x[] = {"x"}, *const w[] = {"w"};
  wick_gradient g;
  wick_func *first, *second;
  run_ok("twice", wick_parse_module(m, "twice", twice, strlen(twice), &r.tmp));
  const wick_func *f = wick_module_find(m, "main");
  run_ok("first", wick_gradient_find(f, NULL, 1, x, &r.mem, &g));
  run_ok("first", wick_differentiate(f, &g, &r.mem, &first));
  run_ok("second", wick_gradient_find(first, "x.grad", 1, w, &r.mem, &g));
  run_ok("second", wick_differentiate(first, &g, &r.mem, &second));
  wick_tensor in[3], out[3], at[2][2], base;
  for (uint32_t k = 0; k < 3; k++) in[k] = run_input(&r, wick_info_of(f, (wick_value){1 + k}));
  run_ok("second", wick_evaluate(second, 3, in, NULL, &r.mem, &r.tmp, &r.scratch, out));
  double *direction = wick_new(&r.mem, double, 12), want = 0, sum[2] = {0};
  base = in[1];
  for (uint32_t k = 0; k < 12; k++) {
    direction[k] = run_random(&r);
    want += direction[k] * ((const double *)out[2].data)[k];
  }
  for (int side = 0; side < 2; side++) {
    double *moved = wick_new(&r.mem, double, 12);
    for (uint32_t k = 0; k < 12; k++)
      moved[k] = ((const double *)base.data)[k] + (side ? -1e-5 : 1e-5) * direction[k];
    in[1].data = moved;
    run_ok("first", wick_evaluate(first, 3, in, NULL, &r.mem, &r.tmp, &r.scratch, at[side]));
    for (uint32_t k = 0; k < 8; k++) sum[side] += ((const double *)at[side][1].data)[k];
  }
  double got = (sum[0] - sum[1]) / 2e-5;
  if (!(fabs(got - want) <= 1e-6 * fmax(1, fabs(want))))
    fail_msg("the second derivative is %.10g, differences give %.10g", want, got);
  wick_module_free(m);
  run_end(&r);
}

/* ---- errors ---- */

static void test_refused(void **state)
{
  (void)state;
  static const struct {
    const char *text, *of, *wrt, *message;
  } refused[] = {
      {"graph @main(%x: f32[4]) -> f32[4] { %0 = call @g %x : f32[4] loc(\"net: f\"); return %0 }\n"
       "graph @g(%x: f32[4]) -> f32[4] { %0 = exp %x; %1 = call @g %0 : f32[4]; return %1 }",
       NULL, "x", "net: f: @g calls itself, which is not supported"},
      {"graph @main(%x: f32[4]) -> f32[4] { %0 = exp %x; return %0 }", NULL, "y",
       "there is no tensor \"y\""},
      {"graph @main(%x: f32[4], %i: i32[4]) -> f32[4] { %0 = exp %x; return %0 }", NULL, "i",
       "\"i\" has no derivatives: its elements are i32"},
      {"graph @main(%x: f32[4]) -> bool[4] { %0 = isnan %x; return %0 }", NULL, "x",
       "the first result has no derivatives"},
  };
  for (size_t i = 0; i < WICK_COUNT(refused); i++) {
    run r;
    run_begin(&r);
    wick_module *m = wick_module_create(&r.guard, "");
    wick_gradient g;
    wick_func *df;
    run_ok("text", wick_parse_module(m, "t", refused[i].text, strlen(refused[i].text), &r.tmp));
    const wick_func *f = wick_module_find(m, "main");
    wick_status s = wick_gradient_find(f, refused[i].of, 1, &refused[i].wrt, &r.mem, &g);
    if (!s) s = wick_differentiate(f, &g, &r.mem, &df);
    assert_non_null(s);
    assert_string_equal(s->message, refused[i].message);
    wick_module_free(m);
    run_end(&r);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_networks), cmocka_unit_test(test_second),
                                     cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
