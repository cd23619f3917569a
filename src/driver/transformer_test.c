/* A transformer's layer with various sizes, through all passes and the interpreter of loops,
 * compared with the reference; and the number of its kernels. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/pipeline.h"
#include "ir/text.h"
#include "loop/interpret.h"
#include "lower/lower.h"
#include "ops/evaluate.h"

static const char *const targets[2] = {"x86-64-v4", "x86-64-v3"};

typedef struct layer {
  /* size: of a head; inner: between the last two products */
  int64_t batch, tokens, heads, size, inner;
  bool mask;
  uint32_t kernels[2]; /* launched kernels, per target */
} layer;

/* A norm, three products, attention, a product, a norm, a product with GELU, a product, a norm.
 * Products have no columns beyond those of their results, which a norm would not read where they are. With
 * one token, attention is three kernels. */
static const layer rows[] = {
    {1, 8, 2, 32, 64, false, {10, 10}},  {1, 64, 2, 16, 64, false, {10, 10}},
    {2, 16, 2, 32, 96, true, {10, 10}},  {1, 77, 1, 80, 40, true, {10, 10}},
    {1, 37, 3, 16, 50, false, {10, 10}}, {3, 5, 2, 10, 33, true, {10, 10}},
    {1, 197, 1, 16, 32, true, {10, 10}}, {1, 1, 2, 32, 64, false, {12, 12}},
};

typedef struct bench {
  wick_guard guard;
  wick_arena mem, tmp, scratch;
  wick_module *m;
  uint64_t random;
} bench;

static float bench_random(bench *b)
{
  b->random = b->random * 6364136223846793005u + 1442695040888963407u;
  return (float)((int64_t)(b->random >> 33) % 2001 - 1000) / 1000.0f;
}

static float *bench_data(bench *b, uint64_t n, double scale)
{
  float *data = wick_arena_alloc(&b->mem, n * 4, 64);
  for (uint64_t i = 0; i < n; i++) data[i] = bench_random(b) * (float)scale;
  return data;
}

static void bench_weights(bench *b, const char *name, int64_t rows_, int64_t columns)
{
  int64_t dim[2] = {rows_, columns}, n = (rows_ ? rows_ : 1) * columns;
  uint32_t rank = rows_ ? 2 : 1;
  wick_constant_add(
      b->m, name, wick_type_tensor_const(b->m, WICK_F32, rank, rank == 2 ? dim : dim + 1),
      bench_data(b, (uint64_t)n, 1 / sqrt((double)(rows_ ? rows_ : 4))), (uint64_t)n * 4);
}

/* ---- the layer's text ---- */

/* out = in w + b. Values and constants are named after the result. */
static void layer_product(wick_text *t, const char *out, const char *in, int64_t from, int64_t to)
{
  wick_text_printf(t, "%%%s.w = const @%s.w : f32[%lld,%lld]\n", out, out, (long long)from,
                   (long long)to);
  wick_text_printf(t, "%%%s.b = const @%s.b : f32[%lld]\n", out, out, (long long)to);
  wick_text_printf(t, "%%%s.m = matmul %%%s, %%%s.w\n%%%s = add %%%s.m, %%%s.b\n", out, in, out,
                   out, out, out);
}

static void layer_norm(wick_text *t, const char *out, const char *in)
{
  wick_text_printf(t, "%%%s = layer_norm %%%s, %%s, %%t\n", out, in);
}

static void layer_heads(wick_text *t, const layer *l, const char *out, const char *in,
                        const char *perm)
{
  wick_text_printf(t, "%%%s.r = reshape %%%s {shape=[%lld, %lld, %lld, %lld]}\n", out, in,
                   (long long)l->batch, (long long)l->tokens, (long long)l->heads,
                   (long long)l->size);
  wick_text_printf(t, "%%%s = transpose %%%s.r {perm=[%s]}\n", out, out, perm);
}

static const char *layer_text(bench *b, const layer *l)
{
  wick_text t = wick_text_begin(&b->mem);
  long long n = l->batch, s = l->tokens, d = l->heads * l->size;
  wick_text_printf(&t, "graph @main(%%x: f32[%lld,%lld,%lld], %%mask: f32[%lld,1,1,%lld])", n, s, d,
                   n, s);
  wick_text_printf(&t, " -> f32[%lld,%lld,%lld] {\n", n, s, d);
  wick_text_printf(&t, "%%s = const @s : f32[%lld]\n%%t = const @t : f32[%lld]\n", d, d);
  layer_norm(&t, "a", "x");
  layer_product(&t, "q", "a", d, d);
  layer_product(&t, "k", "a", d, d);
  layer_product(&t, "v", "a", d, d);
  layer_heads(&t, l, "qh", "q", "0,2,1,3");
  layer_heads(&t, l, "kh", "k", "0,2,3,1");
  layer_heads(&t, l, "vh", "v", "0,2,1,3");
  wick_text_printf(&t, "%%root = const %.9g : f32[]\n%%two = const 1.4142135 : f32[]\n",
                   sqrt((double)l->size));
  wick_text_add(&t, "%one = const 1 : f32[]\n%half = const 0.5 : f32[]\n");
  wick_text_add(&t, "%qk = matmul %qh, %kh\n%scaled = div %qk, %root\n");
  wick_text_add(&t, l->mask ? "%scores = add %scaled, %mask\n" : "");
  wick_text_printf(&t, "%%p = softmax %%%s\n", l->mask ? "scores" : "scaled");
  wick_text_add(&t, "%c = matmul %p, %vh\n%ct = transpose %c {perm=[0,2,1,3]}\n");
  wick_text_printf(&t, "%%cr = reshape %%ct {shape=[%lld, %lld, %lld]}\n", n, s, d);
  layer_product(&t, "o", "cr", d, d);
  wick_text_add(&t, "%res = add %a, %o\n");
  layer_norm(&t, "e", "res");
  layer_product(&t, "f", "e", d, l->inner);
  wick_text_add(&t, "%f1 = div %f, %two\n%f2 = erf %f1\n%f3 = add %f2, %one\n%f4 = mul %f, %f3\n"
                    "%gelu = mul %f4, %half\n");
  layer_product(&t, "g", "gelu", l->inner, d);
  wick_text_add(&t, "%last = add %e, %g\n");
  layer_norm(&t, "y", "last");
  wick_text_add(&t, "return %y\n}");
  return t.at;
}

static void layer_weights(bench *b, const layer *l)
{
  static const char *const square[] = {"q", "k", "v", "o"};
  int64_t d = l->heads * l->size;
  for (size_t i = 0; i < WICK_COUNT(square); i++) {
    bench_weights(b, wick_str_printf(&b->mem, "%s.w", square[i]), d, d);
    bench_weights(b, wick_str_printf(&b->mem, "%s.b", square[i]), 0, d);
  }
  bench_weights(b, "f.w", d, l->inner);
  bench_weights(b, "f.b", 0, l->inner);
  bench_weights(b, "g.w", l->inner, d);
  bench_weights(b, "g.b", 0, d);
  bench_weights(b, "s", 0, d);
  bench_weights(b, "t", 0, d);
}

/* ---- running it ---- */

static void layer_ok(const layer *l, wick_status s)
{
  if (s)
    fail_msg("%lld x %lld, %lld heads of %lld: %s", (long long)l->batch, (long long)l->tokens,
             (long long)l->heads, (long long)l->size, s->message);
}

static void *layer_constants(bench *b, const wick_lowered *w)
{
  char *blob = wick_arena_alloc(&b->mem, w->constant_bytes, 64);
  for (uint32_t i = 0; i < w->constants.n; i++) {
    const wick_constant *k = wick_constant_get(b->m, w->constants.at[i].constant);
    memcpy(blob + w->constants.at[i].offset, k->data, k->nbytes);
  }
  return blob;
}

/* Runs the compiled layer in the interpreter. */
static uint32_t layer_run(bench *b, const layer *l, const char *name, const wick_tensor *in,
                          float *out, uint64_t nout)
{
  wick_pipeline p;
  wick_lowered w;
  wick_target target;
  assert_true(wick_target_find(name, &target));
  wick_pipeline_begin(&p, b->m);
  p.target = target;
  p.lowered = &w, p.keep = &b->mem;
  layer_ok(l, wick_pipeline_run_named(&p, "default", NULL, &b->tmp));
  const wick_func *f = wick_module_find(b->m, w.entry);
  wick_interpret_arg *arg = wick_new(&b->mem, wick_interpret_arg, f->nparam);
  void *arena = wick_arena_alloc(&b->mem, w.arena_bytes, 64);
  memset(arena, 0xa5, w.arena_bytes);
  arg[0] = (wick_interpret_arg){.data = arena, .nelem = w.arena_bytes};
  arg[1] = (wick_interpret_arg){.data = layer_constants(b, &w), .nelem = w.constant_bytes};
  for (uint32_t k = 0; k < 2; k++)
    arg[2 + k] =
        (wick_interpret_arg){.data = in[k].data,
                             .nelem = (uint64_t)(in[k].dim[0] * in[k].dim[1] * in[k].dim[2] *
                                                 (in[k].rank > 3 ? in[k].dim[3] : 1))};
  arg[4] = (wick_interpret_arg){.data = out, .nelem = nout};
  uint64_t nscratch = (uint64_t)w.scratch_bytes.v;
  void *scratch = wick_arena_alloc(&b->mem, nscratch + 64, 64);
  for (uint32_t k = 5; k < f->nparam; k++)
    if (wick_info_of(f, (wick_value){k + 1})->kind == WICK_BUFFER)
      arg[k] = (wick_interpret_arg){.data = scratch, .nelem = nscratch};
  layer_ok(l, wick_interpret(f, f->nparam, arg, &b->mem, &b->tmp));
  uint32_t nlaunch = 0;
  for (uint32_t i = 0; i < f->nnode; i++) nlaunch += f->node[i].op == WICK_OP_launch;
  wick_pipeline_free(&p);
  return nlaunch;
}

static void layer_compare(const layer *l, uint64_t n, const float *want, const float *got)
{
  double most = 0, worst = 0;
  for (uint64_t i = 0; i < n; i++) {
    assert_true(isfinite(got[i]));
    most = fmax(most, fabs(want[i])), worst = fmax(worst, fabs((double)want[i] - got[i]));
  }
  if (worst > 1e-5 * most)
    fail_msg("%lld x %lld, %lld heads of %lld: differs by %g of %g", (long long)l->batch,
             (long long)l->tokens, (long long)l->heads, (long long)l->size, worst, most);
}

static void layer_test(bench *b, const layer *l, uint32_t machine)
{
  b->m = wick_module_create(&b->guard, "");
  layer_weights(b, l);
  const char *text = layer_text(b, l);
  layer_ok(l, wick_parse_module(b->m, "layer", text, strlen(text), &b->tmp));
  int64_t d = l->heads * l->size;
  uint64_t n = (uint64_t)(l->batch * l->tokens * d), nmask = (uint64_t)(l->batch * l->tokens);
  wick_tensor in[2] = {{WICK_F32, 3, {l->batch, l->tokens, d}, bench_data(b, n, 1)},
                       {WICK_F32, 4, {l->batch, 1, 1, l->tokens}, bench_data(b, nmask, 5)}};
  wick_tensor out;
  layer_ok(l, wick_evaluate(wick_module_find(b->m, "main"), 2, in, NULL, &b->mem, &b->tmp,
                            &b->scratch, &out));
  float *got = wick_arena_alloc(&b->mem, n * 4, 64);
  uint32_t nlaunch = layer_run(b, l, targets[machine], in, got, n);
  layer_compare(l, n, out.data, got);
  if (nlaunch != l->kernels[machine])
    fail_msg("%s, %lld x %lld, %lld heads of %lld: %u launches", targets[machine],
             (long long)l->batch, (long long)l->tokens, (long long)l->heads, (long long)l->size,
             nlaunch);
  wick_module_free(b->m);
}

static void layers(void **state)
{
  (void)state;
  for (volatile size_t i = 0; i < 2 * WICK_COUNT(rows); i++) {
    bench b = {.guard.allocator = wick_allocator_malloc(), .random = i};
    b.mem = wick_arena_make(&b.guard), b.tmp = wick_arena_make(&b.guard);
    b.scratch = wick_arena_make(&b.guard);
    if (setjmp(b.guard.where)) fail_msg("out of memory");
    layer_test(&b, &rows[i / 2], i % 2);
    wick_arena_free(&b.mem);
    wick_arena_free(&b.tmp);
    wick_arena_free(&b.scratch);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(layers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
