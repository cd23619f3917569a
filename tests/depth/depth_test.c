/* Models of many nodes, compiled in a thread with a small stack: chains of random element-wise
 * operators and products, fan-outs, nodes with many operands, nested branches. Nothing in the
 * library may recurse with the model's size, or take time that grows with its square.
 *
 * WICK_DEPTH_NODES: number of nodes (2,000); WICK_DEPTH_SEED: the seed (1); WICK_DEPTH_STACK:
 * bytes of the stack (256 KiB; the address sanitizer's frames are larger). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"
#include "wick/wick.h"

enum { DEPTH_STACK = WICK_ASAN ? 2 << 20 : 256 << 10 };

typedef struct depth_case {
  const char *text;
  char message[512];
} depth_case;

static uint64_t depth_setting(const char *name, uint64_t otherwise)
{
  const char *s = getenv(name);
  return s && *s ? strtoull(s, NULL, 10) : otherwise;
}

static void *depth_compile(void *arg)
{
  depth_case *c = arg;
  wick_context *context = NULL;
  wick_model *m = NULL;
  wick_compiled *k = NULL;
  wick_session *s = NULL;
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  wick_error *e = wick_context_create(NULL, &context);
  if (!e) e = wick_load_bytes(context, "depth", c->text, strlen(c->text), &m);
  if (!e) e = wick_compile(m, &o, &k);
  if (!e) e = wick_session_create(k, NULL, &s);
  if (e && wick_error_code(e) != WICK_ELIMIT)
    snprintf(c->message, sizeof c->message, "%s", wick_error_message(e));
  wick_error_free(e);
  wick_session_free(s), wick_compiled_free(k), wick_model_free(m);
  wick_context_free(context);
  return NULL;
}

static void depth_check(const char *text)
{
  depth_case c = {.text = text};
  pthread_attr_t attr;
  pthread_t thread;
  assert_int_equal(pthread_attr_init(&attr), 0);
  size_t stack = (size_t)depth_setting("WICK_DEPTH_STACK", DEPTH_STACK);
  assert_int_equal(pthread_attr_setstacksize(&attr, stack), 0);
  assert_int_equal(pthread_create(&thread, &attr, depth_compile, &c), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attr);
  if (*c.message) fail_msg("%s", c.message);
}

typedef struct depth_state {
  FILE *out; /* receives the model's text */
  char *text;
  size_t ntext;
  uint64_t n, seed;
} depth_state;

static uint32_t depth_below(depth_state *s, uint32_t n)
{
  s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(s->seed >> 33) % n;
}

static void depth_begin(depth_state *s)
{
  *s = (depth_state){.seed = depth_setting("WICK_DEPTH_SEED", 1)};
  s->out = open_memstream(&s->text, &s->ntext);
  assert_non_null(s->out);
  s->n = depth_setting("WICK_DEPTH_NODES", 2000);
}

static void depth_end(depth_state *s)
{
  assert_int_equal(fclose(s->out), 0);
  depth_check(s->text);
  free(s->text);
}

/* Each node uses the previous one, and often one of the last few. */
static void chain(void **state)
{
  static const char *const one[] = {"tanh", "sigmoid", "abs", "neg", "sqrt", "relu", "erf", "sin"},
                           *const two[] = {"add", "mul", "sub", "max", "min"};
  (void)state;
  depth_state s;
  depth_begin(&s);
  fprintf(s.out, "graph @main(%%0: f32[4,4]) -> f32[4,4] {\n");
  for (uint64_t i = 1; i <= s.n; i++) {
    unsigned long long at = i, other = i - 1 - depth_below(&s, i < 8 ? (uint32_t)i : 8);
    uint32_t kind = depth_below(&s, 16);
    if (kind == 0)
      fprintf(s.out, "%%%llu = softmax %%%llu {axis=1}\n", at, at - 1);
    else if (kind < 8)
      fprintf(s.out, "%%%llu = %s %%%llu\n", at, one[depth_below(&s, 8)], at - 1);
    else
      fprintf(s.out, "%%%llu = %s %%%llu, %%%llu\n", at, two[depth_below(&s, 5)], at - 1, other);
  }
  fprintf(s.out, "return %%%llu\n}\n", (unsigned long long)s.n);
  depth_end(&s);
}

/* All nodes use one value, and are added up in a tree. */
static void fan(void **state)
{
  (void)state;
  depth_state s;
  depth_begin(&s);
  fprintf(s.out, "graph @main(%%x: f32[4]) -> f32[4] {\n");
  uint64_t n = s.n / 3, next = n;
  for (uint64_t i = 0; i < n; i++)
    fprintf(s.out, "%%k%llu = const %llu : f32[]\n%%%llu = mul %%x, %%k%llu\n",
            (unsigned long long)i, (unsigned long long)i, (unsigned long long)i,
            (unsigned long long)i);
  for (uint64_t i = 0; i + 1 < next; i += 2, next++)
    fprintf(s.out, "%%%llu = add %%%llu, %%%llu\n", (unsigned long long)next, (unsigned long long)i,
            (unsigned long long)i + 1);
  fprintf(s.out, "return %%%llu\n}\n", (unsigned long long)next - 1);
  depth_end(&s);
}

/* One value that many kernels read. */
static void readers(void **state)
{
  (void)state;
  depth_state s;
  depth_begin(&s);
  fprintf(s.out, "graph @main(%%x0: f32[4]) -> f32[4] {\n%%x = softmax %%x0 {axis=0}\n");
  unsigned long long n = s.n / 8, next = n;
  for (unsigned long long i = 0; i < n; i++)
    fprintf(s.out,
            "%%k%llu = const %llu : f32[]\n%%m%llu = mul %%x, %%k%llu\n"
            "%%%llu = softmax %%m%llu {axis=0}\n",
            i, i, i, i, i, i);
  for (unsigned long long i = 0; i + 1 < next; i += 2, next++)
    fprintf(s.out, "%%%llu = add %%%llu, %%%llu\n", next, i, i + 1);
  fprintf(s.out, "return %%%llu\n}\n", next - 1);
  depth_end(&s);
}

/* One node with many operands. */
static void join(void **state)
{
  (void)state;
  depth_state s;
  depth_begin(&s);
  unsigned long long n = s.n / 4;
  fprintf(s.out, "graph @main(%%x: f32[4]) -> f32[%llu] {\n", 4 * n);
  for (unsigned long long i = 0; i < n; i++)
    fprintf(s.out, "%%k%llu = const %llu : f32[]\n%%%llu = mul %%x, %%k%llu\n", i, i, i, i);
  fprintf(s.out, "%%all = concat ");
  for (unsigned long long i = 0; i < n; i++) fprintf(s.out, i ? ", %%%llu" : "%%%llu", i);
  fprintf(s.out, " {axis=0}\nreturn %%all\n}\n");
  depth_end(&s);
}

/* Many inputs: their sum, or a concat of operands that no node computes. */
static void depth_inputs(bool concat)
{
  depth_state s;
  depth_begin(&s);
  unsigned long long n = s.n / 2;
  fprintf(s.out, "graph @main(");
  for (unsigned long long i = 0; i < n; i++)
    fprintf(s.out, i ? ", %%x%llu: f32[4]" : "%%x%llu: f32[4]", i);
  fprintf(s.out, ") -> f32[%llu] {\n", concat ? 4 * n : 4);
  for (unsigned long long i = 1; i < n && !concat; i++)
    fprintf(s.out, i > 1 ? "%%y%llu = add %%y%llu, %%x%llu\n" : "%%y%llu = add %%x%llu, %%x%llu\n",
            i, i - 1, i);
  if (concat) fprintf(s.out, "%%y%llu = concat ", n - 1);
  for (unsigned long long i = 0; i < n && concat; i++)
    fprintf(s.out, i ? ", %%x%llu" : "%%x%llu", i);
  fprintf(s.out, "%s\nreturn %%y%llu\n}\n", concat ? " {axis=0}" : "", n - 1);
  depth_end(&s);
}

static void inputs(void **state)
{
  (void)state;
  depth_inputs(false);
  depth_inputs(true);
}

/* Many outputs. */
static void outputs(void **state)
{
  (void)state;
  depth_state s;
  depth_begin(&s);
  unsigned long long n = s.n / 4;
  fprintf(s.out, "graph @main(%%x: f32[4]) -> (");
  for (unsigned long long i = 0; i < n; i++) fprintf(s.out, i ? ", f32[4]" : "f32[4]");
  fprintf(s.out, ") {\n");
  for (unsigned long long i = 0; i < n; i++)
    fprintf(s.out, "%%k%llu = const %llu : f32[]\n%%%llu = mul %%x, %%k%llu\n", i, i, i, i);
  fprintf(s.out, "return ");
  for (unsigned long long i = 0; i < n; i++) fprintf(s.out, i ? ", %%%llu" : "%%%llu", i);
  fprintf(s.out, "\n}\n");
  depth_end(&s);
}

/* A node of many results, all of them outputs. */
static void split(void **state)
{
  (void)state;
  depth_state s;
  depth_begin(&s);
  unsigned long long n = s.n / 4 < UINT16_MAX ? s.n / 4 : UINT16_MAX;
  fprintf(s.out, "graph @main(%%x: f32[%llu]) -> (", 4 * n);
  for (unsigned long long i = 0; i < n; i++) fprintf(s.out, i ? ", f32[4]" : "f32[4]");
  fprintf(s.out, ") {\n");
  for (unsigned long long i = 0; i < n; i++) fprintf(s.out, i ? ", %%%llu" : "%%%llu", i);
  fprintf(s.out, " = split %%x {parts=%llu}\nreturn ", n);
  for (unsigned long long i = 0; i < n; i++) fprintf(s.out, i ? ", %%%llu" : "%%%llu", i);
  fprintf(s.out, "\n}\n");
  depth_end(&s);
}

/* Alternating products and transposes: separate kernels, with views between them. */
static void alternate(void **state)
{
  (void)state;
  depth_state s;
  depth_begin(&s);
  fprintf(s.out, "graph @main(%%0: f32[4,4], %%w: f32[4,4]) -> f32[4,4] {\n");
  unsigned long long n = s.n / 2;
  for (unsigned long long i = 1; i <= n; i++)
    fprintf(s.out,
            i % 2 ? "%%%llu = matmul %%%llu, %%w\n" : "%%%llu = transpose %%%llu {perm=[1,0]}\n", i,
            i - 1);
  fprintf(s.out, "return %%%llu\n}\n", n);
  depth_end(&s);
}

/* Nested branches, as deep as the parser accepts them, or beyond its limit. */
static void nest(void **state)
{
  (void)state;
  for (uint64_t n = 4; n <= depth_setting("WICK_DEPTH_NODES", 2000); n *= 5) {
    depth_state s;
    depth_begin(&s);
    fprintf(s.out, "graph @main(%%x: f32[4], %%c: bool[]) -> f32[4] {\n");
    for (uint64_t i = 0; i < n; i++)
      fprintf(s.out, "%%r%llu = if %%c () {\n", (unsigned long long)i);
    fprintf(s.out, "%%y = tanh %%x\nyield %%y\n");
    for (uint64_t i = n; i-- > 0;) {
      fprintf(s.out, "} () { yield %%x } : f32[4]\n");
      fprintf(s.out, "%s %%r%llu\n", i ? "yield" : "return", (unsigned long long)i);
    }
    fprintf(s.out, "}\n");
    depth_end(&s);
  }
}

/* Loops in loops, in the same way. */
static void loops(void **state)
{
  (void)state;
  for (unsigned long long n = 4; n <= depth_setting("WICK_DEPTH_NODES", 2000); n *= 5) {
    depth_state s;
    depth_begin(&s);
    fprintf(s.out, "graph @main(%%x: f32[4], %%n: i64[]) -> f32[4] {\n");
    for (unsigned long long i = 0; i < n; i++) {
      fprintf(s.out, i ? "%%r%llu = loop %%n, %%v%llu" : "%%r%llu = loop %%n, %%x", i, i - 1);
      fprintf(s.out, " (%%i%llu: i64[], %%v%llu: f32[4]) {\n", i, i);
    }
    fprintf(s.out, "%%y = tanh %%v%llu\n%%t = const true : bool[]\nyield %%t, %%y\n", n - 1);
    for (unsigned long long i = n; i-- > 0;) {
      fprintf(s.out, "} : f32[4]\n");
      if (i) fprintf(s.out, "%%t%llu = const true : bool[]\nyield %%t%llu, %%r%llu\n", i, i, i);
    }
    fprintf(s.out, "return %%r0\n}\n");
    depth_end(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(chain),   cmocka_unit_test(fan),
                                     cmocka_unit_test(readers), cmocka_unit_test(join),
                                     cmocka_unit_test(inputs),  cmocka_unit_test(outputs),
                                     cmocka_unit_test(split),   cmocka_unit_test(alternate),
                                     cmocka_unit_test(nest),    cmocka_unit_test(loops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
