/* Random programs on random data types: the compiled program, the interpreter of loop functions,
 * which refuses what is no object and finds what is not released, and the reference agree. */
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
#include "wick/wick.h"

enum { CTORS = 4, FIELDS = 4, FUNCS = 3, DEPTH = 3 };

/* The fields of constructors: the data type itself, numbers, and a tensor. */
static const char *const types[] = {"@D", "@D", "@D", "i64[]", "f32[]", "f32[3]"};

typedef struct data {
  uint64_t seed;
  wick_text t;
  uint32_t nctor, nfield[CTORS], field[CTORS][FIELDS];
  uint32_t nvalue; /* names %v1 .. */
} data;

static uint32_t below(data *d, uint32_t n)
{
  d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(d->seed >> 33) % n;
}

static void data_type(data *d)
{
  d->nctor = 2 + below(d, CTORS - 1);
  wick_text_add(&d->t, "data @D { ");
  for (uint32_t c = 0; c < d->nctor; c++) {
    d->nfield[c] = c ? below(d, FIELDS + 1) : 0;
    wick_text_printf(&d->t, "%sC%u", c ? ", " : "", c);
    for (uint32_t k = 0; k < d->nfield[c]; k++) {
      d->field[c][k] = below(d, WICK_COUNT(types));
      wick_text_printf(&d->t, "%s%s", k ? ", " : "(", types[d->field[c][k]]);
    }
    if (d->nfield[c]) wick_text_add(&d->t, ")");
  }
  wick_text_add(&d->t, " }\n");
}

static bool data_is(uint32_t type) { return type < 3; }

/* The values that an expression can use. */
typedef struct scope {
  uint32_t n, id[64], type[64]; /* type: 0 for data */
} scope;

static uint32_t fresh(data *d) { return ++d->nvalue; }

static void scope_add(scope *s, uint32_t id, uint32_t type)
{
  if (s->n < WICK_COUNT(s->id)) s->id[s->n] = id, s->type[s->n++] = data_is(type) ? 0 : type;
}

/* Writes a value of the type that is in scope, or a new constant, and returns it. */
static uint32_t pick(data *d, scope *s, uint32_t type)
{
  uint32_t at = below(d, s->n + 1), v;
  for (uint32_t k = 0; k < s->n; k++)
    if (s->type[(at + k) % s->n] == type) return s->id[(at + k) % s->n];
  v = fresh(d);
  if (type)
    wick_text_printf(&d->t, "%%v%u = const %u : %s\n", v, below(d, 7), types[type]);
  else
    wick_text_printf(&d->t, "%%v%u = construct {ctor=0} : @D\n", v);
  scope_add(s, v, type);
  return v;
}

static uint32_t number(data *d, scope *s, uint32_t type)
{
  uint32_t x = pick(d, s, type), y = pick(d, s, type), v = fresh(d);
  wick_text_printf(&d->t, "%%v%u = %s %%v%u, %%v%u\n", v, below(d, 2) ? "add" : "sub", x, y);
  scope_add(s, v, type);
  return v;
}

static uint32_t value(data *d, scope s, uint32_t depth, uint32_t func);

static uint32_t construct(data *d, scope *s, uint32_t depth, uint32_t func)
{
  uint32_t c = below(d, d->nctor), in[FIELDS];
  for (uint32_t k = 0; k < d->nfield[c]; k++) {
    uint32_t type = d->field[c][k];
    in[k] = !data_is(type) ? number(d, s, type)
            : below(d, 2)  ? pick(d, s, 0)
                           : value(d, *s, depth, func);
  }
  uint32_t v = fresh(d);
  wick_text_printf(&d->t, "%%v%u = construct ", v);
  for (uint32_t k = 0; k < d->nfield[c]; k++)
    wick_text_printf(&d->t, "%s%%v%u", k ? ", " : "", in[k]);
  wick_text_printf(&d->t, " {ctor=%u} : @D\n", c);
  return v;
}

/* Writes a data value: made, chosen, taken apart, or the result of an earlier function. */
static uint32_t value(data *d, scope s, uint32_t depth, uint32_t func)
{
  uint32_t kind = depth ? below(d, 6) : below(d, 2), x, v;
  if (kind < 1) return pick(d, &s, 0);
  if (kind < 3) return construct(d, &s, depth ? depth - 1 : 0, func);
  if (kind == 3 && func) {
    x = pick(d, &s, 0), v = fresh(d);
    wick_text_printf(&d->t, "%%v%u = call @f%u %%v%u : @D\n", v, below(d, func), x);
    return v;
  }
  if (kind == 4) {
    uint32_t a = pick(d, &s, 3), b = pick(d, &s, 3), c = fresh(d), y[2];
    v = fresh(d);
    wick_text_printf(&d->t, "%%v%u = lt %%v%u, %%v%u\n%%v%u = if %%v%u () {\n", c, a, b, v, c);
    for (uint32_t r = 0; r < 2; r++) {
      y[r] = value(d, s, depth - 1, func);
      wick_text_printf(&d->t, "yield %%v%u } %s", y[r], r ? ": @D\n" : "() {\n");
    }
    return v;
  }
  x = pick(d, &s, 0), v = fresh(d);
  wick_text_printf(&d->t, "%%v%u = switch %%v%u ", v, x);
  for (uint32_t c = 0; c < d->nctor; c++) {
    scope inner = s;
    wick_text_add(&d->t, "(");
    for (uint32_t k = 0; k < d->nfield[c]; k++) {
      uint32_t f = fresh(d);
      wick_text_printf(&d->t, "%s%%v%u: %s", k ? ", " : "", f, types[d->field[c][k]]);
      scope_add(&inner, f, d->field[c][k]);
    }
    wick_text_add(&d->t, ") {\n");
    wick_text_printf(&d->t, "yield %%v%u } ", value(d, inner, depth - 1, func));
  }
  wick_text_add(&d->t, ": @D\n");
  return v;
}

/* A function that may call itself for fields, and makes something of the results. */
static void function(data *d, uint32_t func)
{
  uint32_t a = fresh(d), r = fresh(d);
  wick_text_printf(&d->t, "graph @f%u(%%v%u: @D) -> @D {\n%%v%u = switch %%v%u ", func, a, r, a);
  for (uint32_t c = 0; c < d->nctor; c++) {
    scope s = {0};
    uint32_t f[FIELDS];
    if (below(d, 2)) scope_add(&s, a, 0);
    wick_text_add(&d->t, "(");
    for (uint32_t k = 0; k < d->nfield[c]; k++) {
      f[k] = fresh(d);
      wick_text_printf(&d->t, "%s%%v%u: %s", k ? ", " : "", f[k], types[d->field[c][k]]);
      scope_add(&s, f[k], d->field[c][k]);
    }
    wick_text_add(&d->t, ") {\n");
    for (uint32_t k = 0; k < d->nfield[c]; k++) {
      if (!data_is(d->field[c][k]) || !below(d, 3)) continue;
      uint32_t v = fresh(d);
      wick_text_printf(&d->t, "%%v%u = call @f%u %%v%u : @D\n", v, func, f[k]);
      scope_add(&s, v, 0);
    }
    wick_text_printf(&d->t, "yield %%v%u } ", value(d, s, 2, func));
  }
  wick_text_printf(&d->t, ": @D\nreturn %%v%u }\n", r);
}

/* The sum of all numbers in a value. */
static void sum(data *d)
{
  wick_text_add(&d->t, "graph @sum(%a: @D) -> i64[] {\n%r = switch %a ");
  for (uint32_t c = 0; c < d->nctor; c++) {
    uint32_t all = fresh(d), f[FIELDS];
    wick_text_add(&d->t, "(");
    for (uint32_t k = 0; k < d->nfield[c]; k++) {
      f[k] = fresh(d);
      wick_text_printf(&d->t, "%s%%v%u: %s", k ? ", " : "", f[k], types[d->field[c][k]]);
    }
    wick_text_printf(&d->t, ") {\n%%v%u = const %u : i64[]\n", all, c + 1);
    for (uint32_t k = 0; k < d->nfield[c]; k++) {
      uint32_t x = f[k], next = fresh(d), type = d->field[c][k], y;
      if (type == 5) {
        y = fresh(d);
        wick_text_printf(&d->t, "%%v%u = reduce_sum %%v%u {axes=[0], keepdims=false}\n", y, x);
        x = y;
      }
      if (type != 3) {
        y = fresh(d);
        wick_text_printf(&d->t,
                         data_is(type) ? "%%v%u = call @sum %%v%u : i64[]\n"
                                       : "%%v%u = cast %%v%u : i64[]\n",
                         y, x);
        x = y;
      }
      wick_text_printf(&d->t, "%%v%u = add %%v%u, %%v%u\n", next, all, x);
      all = next;
    }
    wick_text_printf(&d->t, "yield %%v%u } ", all);
  }
  wick_text_add(&d->t, ": i64[]\nreturn %r }\n");
}

/* Writes constructor c of @build. */
static uint32_t built(data *d, uint32_t c)
{
  static const char *const given[] = {"", "", "", "%k", "%f", "%t"};
  uint32_t in[FIELDS], v;
  for (uint32_t f = 0; f < d->nfield[c]; f++) {
    uint32_t by = fresh(d), other = fresh(d);
    in[f] = fresh(d);
    if (data_is(d->field[c][f]))
      wick_text_printf(&d->t,
                       "%%v%u = const %u : i64[]; %%v%u = add %%y, %%v%u\n"
                       "%%v%u = call @build %%m, %%v%u : @D\n",
                       by, f, other, by, in[f], other);
  }
  v = fresh(d);
  wick_text_printf(&d->t, "%%v%u = construct ", v);
  for (uint32_t f = 0; f < d->nfield[c]; f++) {
    wick_text_add(&d->t, f ? ", " : "");
    if (data_is(d->field[c][f]))
      wick_text_printf(&d->t, "%%v%u", in[f]);
    else
      wick_text_add(&d->t, given[d->field[c][f]]);
  }
  wick_text_printf(&d->t, " {ctor=%u} : @D\n", c);
  return v;
}

/* Writes the choice among the constructors from c on. */
static uint32_t chosen(data *d, uint32_t c)
{
  if (c + 1 == d->nctor) return built(d, c);
  uint32_t k = fresh(d), is = fresh(d), v = fresh(d);
  wick_text_printf(&d->t,
                   "%%v%u = const %u : i64[]; %%v%u = eq %%j, %%v%u\n%%v%u = if %%v%u () {\n", k, c,
                   is, k, v, is);
  wick_text_printf(&d->t, "yield %%v%u } () {\n", built(d, c));
  wick_text_printf(&d->t, "yield %%v%u } : @D\n", chosen(d, c + 1));
  return v;
}

/* A value whose depth and constructors depend on two numbers, and what is done to it. */
static void entry(data *d)
{
  wick_text_printf(
      &d->t,
      "graph @build(%%n: i64[], %%k: i64[]) -> @D {\n"
      "%%0 = const 0 : i64[]; %%1 = const 1 : i64[]; %%c = const %u : i64[]\n"
      "%%p = const 5 : i64[]; %%m = sub %%n, %%1; %%x = mul %%k, %%p\n"
      "%%y = add %%x, %%n; %%j = mod %%y, %%c; %%z = le %%n, %%0; %%f = cast %%k : f32[]\n"
      "%%b = const 1 : f32[3]; %%t = mul %%b, %%f\n"
      "%%r = if %%z () { %%e = construct {ctor=0} : @D; yield %%e } () {\n",
      d->nctor);
  wick_text_printf(&d->t, "yield %%v%u } : @D\nreturn %%r }\n", chosen(d, 0));
  wick_text_printf(
      &d->t,
      "graph @main(%%k: i64[]) -> i64[] {\n"
      "%%n = const %d : i64[]; %%a = call @build %%n, %%k : @D\n"
      "%%b = call @f0 %%a : @D; %%c = call @f1 %%b : @D; %%d = call @f2 %%a : @D\n"
      "%%s = call @sum %%c : i64[]; %%t = call @sum %%d : i64[]; %%u = call @sum %%a : "
      "i64[]\n"
      "%%v = sub %%s, %%t; %%w = add %%v, %%u\nreturn %%w }\n",
      DEPTH);
}

static const char *program(data *d, uint64_t seed, wick_arena *mem)
{
  *d = (data){.seed = seed * 0x9e3779b97f4a7c15u + 1, .t = wick_text_begin(mem)};
  data_type(d);
  for (uint32_t f = 0; f < FUNCS; f++) function(d, f);
  sum(d);
  entry(d);
  return d->t.at;
}

/* ---- runs ---- */

typedef struct outcome {
  wick_code code;
  int64_t value;
} outcome;

static outcome reference(const char *text, int64_t k, bool loops)
{
  wick_guard guard = {.allocator = wick_allocator_malloc()};
  wick_arena mem = wick_arena_make(&guard), tmp = wick_arena_make(&guard),
             more = wick_arena_make(&guard);
  wick_module *m = wick_module_create(&guard, "");
  wick_pipeline p;
  wick_lowered lowered = {0};
  wick_tensor in = {.elem = WICK_I64, .data = &k}, result;
  outcome o = {0};
  wick_pipeline_begin(&p, m);
  p.lowered = &lowered, p.keep = &mem;
  wick_status s = wick_parse_module(m, "t", text, strlen(text), &tmp);
  if (!s && !loops)
    s = wick_evaluate(wick_module_find(m, "main"), 1, &in, NULL, &mem, &tmp, &more, &result);
  if (!s && !loops) memcpy(&o.value, result.data, sizeof o.value);
  if (!s && loops) s = wick_pipeline_run_named(&p, "default", NULL, &tmp);
  if (!s && loops) {
    unsigned char *arena = wick_new(&mem, unsigned char, lowered.arena_bytes + 1),
                  *blob = wick_new(&mem, unsigned char, lowered.constant_bytes + 1);
    for (uint32_t i = 0; i < lowered.constants.n; i++) {
      const wick_lowered_constant *c = &lowered.constants.at[i];
      memcpy(blob + c->offset, wick_constant_bytes(m, c->constant), c->nbytes);
    }
    wick_interpret_arg arg[4] = {{arena, lowered.arena_bytes, 0},
                                 {blob, lowered.constant_bytes, 0},
                                 {&k, 1, 0},
                                 {&o.value, 1, 0}};
    s = wick_interpret(wick_module_find(m, lowered.entry), 4, arg, &mem, &tmp);
  }
  if (s) print_error("%s\n", s->message);
  o.code = s ? s->code : WICK_OK;
  wick_pipeline_free(&p);
  wick_module_free(m);
  wick_arena_free(&mem), wick_arena_free(&tmp), wick_arena_free(&more);
  return o;
}

static void ok(wick_error *e)
{
  if (e) print_error("%s\n", wick_error_message(e));
  assert_null(e);
}

static void compiled(const char *text, uint32_t n, const int64_t *k, int64_t *out)
{
  wick_context *c;
  wick_model *m;
  wick_compiled *program;
  wick_session *s;
  wick_compile_options o = {.size = sizeof o, .cache = ""};
  ok(wick_context_create(NULL, &c));
  ok(wick_load_bytes(c, "t", text, strlen(text), &m));
  ok(wick_compile(m, &o, &program));
  ok(wick_session_create(program, NULL, &s));
  for (uint32_t i = 0; i < n; i++) ok(wick_run(s, (const void *[]){&k[i]}, (void *[]){&out[i]}));
  wick_session_free(s), wick_compiled_free(program), wick_model_free(m), wick_context_free(c);
}

static void programs_agree(void **state)
{
  (void)state;
  const char *given = getenv("SEED");
  uint64_t first = given ? strtoull(given, NULL, 10) : 1, last = given ? first : 40;
  static const int64_t k[] = {0, 1, 2, 3, 4};
  for (uint64_t seed = first; seed <= last; seed++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard);
    data d;
    const char *text = program(&d, seed, &mem);
    if (given) fputs(text, stdout);
    int64_t out[WICK_COUNT(k)];
    compiled(text, WICK_COUNT(k), k, out);
    for (uint32_t i = 0; i < WICK_COUNT(k); i++) {
      outcome want = reference(text, k[i], false), loops = reference(text, k[i], true);
      if (want.code || loops.code || want.value != out[i] || want.value != loops.value)
        fail_msg("SEED=%llu, %lld: reference %lld, compiled %lld, interpreted %lld",
                 (unsigned long long)seed, (long long)k[i], (long long)want.value,
                 (long long)out[i], (long long)loops.value);
    }
    wick_arena_free(&mem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(programs_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
