/* From low functions to numbers: modules in text and random functions go through the low passes,
 * the planner and lowering, and run in the interpreter of loops. */
#include "lower/lower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "driver/pipeline.h"
#include "ir/text.h"
#include "loop/interpret.h"
#include "low/random_testing.h"

#define LOOP_PASSES "lower,merge_stores,expand_math,legalize,licm,serialize_faults"
#define PASSES "copy_elim,in_place,dead_store,reorder_for_memory,insert_frees,plan_memory"

typedef struct bench {
  wick_guard guard;
  wick_arena mem, tmp;
  wick_module *m;
  wick_pipeline pipeline;
  wick_lowered lowered;
} bench;

static void begin(bench *b)
{
  b->guard.allocator = wick_allocator_malloc();
  b->mem = wick_arena_make(&b->guard), b->tmp = wick_arena_make(&b->guard);
  b->m = wick_module_create(&b->guard, "");
  wick_pipeline_begin(&b->pipeline, b->m);
}

static void end(bench *b)
{
  wick_pipeline_free(&b->pipeline);
  wick_module_free(b->m);
  wick_arena_free(&b->mem);
  wick_arena_free(&b->tmp);
}

static wick_status lower(bench *b, const char *passes)
{
  b->pipeline.lowered = &b->lowered, b->pipeline.keep = &b->mem;
  WICK_TRY(wick_pipeline_run_all(&b->pipeline, passes, &b->tmp));
  return wick_pipeline_run_all(&b->pipeline, LOOP_PASSES, &b->tmp);
}

static void *constants_of(bench *b)
{
  char *blob = wick_arena_alloc(&b->mem, b->lowered.constant_bytes, 64);
  for (uint32_t i = 0; i < b->lowered.constants.n; i++) {
    const wick_lowered_constant *c = &b->lowered.constants.at[i];
    assert_int_equal(c->offset % 64, 0);
    memcpy(blob + c->offset, wick_constant_get(b->m, c->constant)->data, c->nbytes);
  }
  return blob;
}

/* Runs the entry on io, which has a buffer for each buffer parameter of the low function. */
static void run(bench *b, void *const *io)
{
  const wick_func *f = wick_module_find(b->m, b->lowered.entry);
  wick_interpret_arg *arg = wick_new(&b->tmp, wick_interpret_arg, f->nparam);
  void *arena = wick_arena_alloc(&b->mem, b->lowered.arena_bytes, 64);
  memset(arena, 0xa5, b->lowered.arena_bytes);
  arg[0] = (wick_interpret_arg){.data = arena, .nelem = b->lowered.arena_bytes};
  arg[1] = (wick_interpret_arg){.data = constants_of(b), .nelem = b->lowered.constant_bytes};
  for (uint32_t v = 3; v <= f->nparam; v++) {
    wick_type t = wick_type_of(f, (wick_value){v});
    if (wick_info_of(f, (wick_value){v})->kind == WICK_BUFFER)
      arg[v - 1] =
          (wick_interpret_arg){.data = io[v - 3], .nelem = (uint64_t)wick_type_numel(b->m, t).v};
  }
  wick_status s = wick_interpret(f, f->nparam, arg, &b->mem, &b->tmp);
  if (s) fail_msg("%s", s->message);
}

/* ---- text ---- */

#define NEG                                                                                        \
  "group @neg(%x: f32[2,4]) -> f32[2,4] { %y = map {name=\"neg\", axes=[i:2, j:4]} () { %0 = "     \
  "read "                                                                                          \
  "%x {index=[i, j]}; %1 = neg %0; yield %1 } : f32[2,4]; return %y }\n"
#define NEG2                                                                                       \
  "group @other(%x: f32[2,4]) -> f32[2,4] { %y = map {name=\"neg\", axes=[i:2, j:4]} () { %0 = "   \
  "read %x {index=[i, j]}; %1 = neg %0; yield %1 } : f32[2,4]; return %y }\n"
#define ADD                                                                                        \
  "group @add(%x: f32[2,4], %z: f32[2,4]) -> f32[2,4] { %y = map {name=\"add\", axes=[i:2, j:4]} " \
  "() { %0 = read %x {index=[i, j]}; %1 = read %z {index=[i, j]}; %2 = add %0, %1; yield %2 } : "  \
  "f32[2,4]; return %y } schedule \"parallel add.i; vector add.j\"\n"
#define SUM                                                                                        \
  "group @sum(%x: f32[2,8]) -> f32[2] { %y = fold {name=\"sum\", axes=[i:2 | j:8]} () { %0 = "     \
  "const 0 : f32; yield %0 } (%s: f32) { %1 = read %x {index=[i, j]}; %2 = add %s, %1; yield %2 "  \
  "} "                                                                                             \
  "(%a: f32, %b: f32) { %3 = add %a, %b; yield %3 } (%r: f32) { yield %r } : f32[2]; return %y "   \
  "}\n"
#define IO "@in %x: buffer<f32[2,4],io>, @out %y: buffer<f32[2,4],io>"
#define ALLOC(name) "%" name " = alloc : buffer<f32[2,4],arena>\n"

/* x is 0, 1, 2, ... The numbers of kernels, launches and bytes of the arena are checked if they are
 * given. */
static const struct {
  const char *text, *passes;
  uint32_t nin, nout;
  float want[24];
  uint32_t nkernel, nlaunch;
  uint64_t arena;
} rows[] = {
    /* Equal groups share a kernel. The second launch runs in place and therefore has a kernel of
     * its own. */
    {NEG NEG2 "low @main(" IO ") {\n" ALLOC("a") "kernel @neg %a, %x\n" ALLOC(
         "b") "kernel @other %b, %a\ncopy %y, %b\nreturn }",
     PASSES,
     8,
     8,
     {0, 1, 2, 3, 4, 5, 6, 7},
     2,
     2,
     0},
    {NEG NEG2 "low @main(" IO ") {\n" ALLOC("a") "kernel @neg %a, %x\n" ALLOC(
         "b") "kernel @other %b, %a\ncopy %y, %b\nreturn }",
     "plan_memory",
     8,
     8,
     {0, 1, 2, 3, 4, 5, 6, 7},
     2,
     3,
     128},
    /* -x + 2x, with the sum in place. */
    {NEG ADD "low @main(" IO ") {\n" ALLOC("a") "kernel @neg %a, %x\n" ALLOC(
         "b") "kernel @add %b, %x, %x\n" ALLOC("c") "kernel @add %c, %a, %b\ncopy %y, "
                                                    "%c\nreturn }",
     PASSES,
     8,
     8,
     {0, 1, 2, 3, 4, 5, 6, 7},
     3,
     3,
     64},
    /* Two tensors in one buffer, summed along the rows. */
    {NEG SUM "low @main(@in %x: buffer<f32[2,4],io>, @out %y: buffer<f32[2],io>, @out %z: "
             "buffer<f32[2,8],io>) {\n" ALLOC("a") "kernel @neg %a, %x\n"
                                                   "%w = alloc : buffer<f32[2,8],arena>\n"
                                                   "%w0 = view %w : buffer<f32[2,4:8,1],arena>\n"
                                                   "copy %w0, %a\n"
                                                   "%w1 = view %w {offset=4} : "
                                                   "buffer<f32[2,4:8,1],arena>\n"
                                                   "copy %w1, %x\n"
                                                   "%s = alloc : buffer<f32[2],arena>\n"
                                                   "kernel @sum %s, %w\n"
                                                   "copy %y, %s\ncopy %z, %w\nreturn }",
     PASSES,
     8,
     18,
     {0, 0, -0.f, -1, -2, -3, 0, 1, 2, 3, -4, -5, -6, -7, 4, 5, 6, 7},
     3,
     3,
     0},
    /* A constant, an output that is an input, a part of an input. */
    {"constant @k : f32[2,4] = [1, 2, 3, 4, 5, 6, 7, 8]\n" ADD "low @main(" IO
     ", @out %z: buffer<f32[2,4],io>, @out %p: buffer<f32[2,2],io>) {\n"
     "%k = const @k : buffer<f32[2,4],constant>\nkernel @add %y, %x, %k\ncopy %z, %x\n"
     "%v = view %x {offset=1} : buffer<f32[2,2:4,1],io>\ncopy %p, %v\nreturn }",
     PASSES,
     8,
     20,
     {1, 3, 5, 7, 9, 11, 13, 15, 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 5, 6},
     3,
     3,
     0},
};

static void numbers(void **state)
{
  (void)state;
  /* volatile, because it is used after setjmp */
  for (volatile size_t i = 0; i < WICK_COUNT(rows); i++) {
    bench b = {0};
    if (setjmp(b.guard.where)) fail_msg("out of memory");
    begin(&b);
    wick_status s = wick_parse_module(b.m, "row", rows[i].text, strlen(rows[i].text), &b.tmp);
    if (!s) s = lower(&b, rows[i].passes);
    if (s) fail_msg("row %zu: %s", i, s->message);
    float in[8], out[24] = {0};
    for (uint32_t k = 0; k < 8; k++) in[k] = (float)k;
    const wick_func *f = wick_module_find(b.m, b.lowered.entry);
    void *io[8] = {in};
    for (uint32_t v = 4, at = 0; v <= f->nparam; v++) {
      io[v - 3] = &out[at];
      at += (uint32_t)wick_type_numel(b.m, wick_type_of(f, (wick_value){v})).v;
    }
    run(&b, io);
    for (uint32_t k = 0; k < rows[i].nout; k++)
      if (out[k] != rows[i].want[k])
        fail_msg("row %zu, number %u: %g, expected %g", i, k, (double)out[k],
                 (double)rows[i].want[k]);
    uint32_t nlaunch = 0;
    for (uint32_t k = 0; k < b.lowered.kernels.n; k++) nlaunch += b.lowered.kernels.at[k].nlaunch;
    if (b.lowered.kernels.n != rows[i].nkernel || nlaunch != rows[i].nlaunch ||
        b.lowered.arena_bytes != rows[i].arena)
      fail_msg("row %zu: %u kernels, %u launches, %llu bytes", i, b.lowered.kernels.n, nlaunch,
               (unsigned long long)b.lowered.arena_bytes);
    end(&b);
  }
}

static const struct {
  const char *text, *want;
} errors[] = {
    {NEG "low @main(" IO ") {\n" ALLOC("a") "kernel @neg %a, %x\nkernel @neg %y, %a\nreturn }",
     "lower: @main: alloc: it has no offset in the arena"},
    {NEG "low @main(@in %c: bool, " IO ") {\nif %c () { kernel @neg %y, %x; yield } () { yield }\n"
         "return }",
     "lower: @main: if: an operand is no buffer"},
    {NEG "low @main(" IO ") {\nkernel @neg %y\nreturn }",
     "lower: @main: kernel: @neg has 2 operands"},
    {"low @main(" IO ") {\nkernel @nobody %y, %x\nreturn }",
     "lower: @main: kernel: there is no group @nobody"},
    {"constant @k : f32[2,4]\n" NEG "low @main(" IO
     ") {\n%k = const @k : buffer<f32[2,4],constant>\nkernel @neg %y, %k\nreturn }",
     "lower: @main: const: the constant @k has no data"},
    {NEG "low @main(@inout %w: buffer<f32[3,4],io>) {\n%a = view %w : buffer<f32[2,4],io>\n"
         "%b = view %w {offset=4} : buffer<f32[2,4],io>\nkernel @neg %a, %b\nreturn }",
     "lower: @main: kernel: operands overlap"},
    {"group @bad(%x: f32[2,4]) -> f32[2,4] { %y = map {name=\"y\", axes=[i:2, j:4]} () { %0 = read "
     "%x {index=[i, j]}; yield %0 } : f32[2,4]; return %y } schedule \"vector y.q\"\n"
     "low @main(" IO ") {\nkernel @bad %y, %x\nreturn }",
     "lower: @main: @bad: step `vector y.q`: stage `y` has no loop `q`"},
};

static void failures(void **state)
{
  (void)state;
  for (volatile size_t i = 0; i < WICK_COUNT(errors); i++) {
    bench b = {0};
    if (setjmp(b.guard.where)) fail_msg("out of memory");
    begin(&b);
    wick_status s = wick_parse_module(b.m, "row", errors[i].text, strlen(errors[i].text), &b.tmp);
    if (s) fail_msg("row %zu: %s", i, s->message);
    s = lower(&b, "");
    if (!s || strcmp(s->message, errors[i].want) != 0)
      fail_msg("row %zu: %s", i, s ? s->message : "no error");
    end(&b);
  }
}

/* ---- random functions ---- */

/* Returns a hash of the outputs after the passes. */
static uint64_t random_run(uint64_t seed, const char *passes)
{
  bench b = {0};
  if (setjmp(b.guard.where)) fail_msg("out of memory");
  begin(&b);
  wick_module_set(b.m, random_func(seed, b.m, &b.m->mem));
  const wick_func *f = wick_module_find(b.m, "main");
  wick_status s = lower(&b, passes);
  if (s) fail_msg("seed %llu, %s: %s", (unsigned long long)seed, passes, s->message);
  void *io[16];
  uint64_t nbytes[16] = {0}, h = WICK_HASH_SEED;
  for (uint32_t v = 2; v <= f->nparam; v++) {
    wick_type_nbytes(b.m, wick_type_of(f, (wick_value){v}), &nbytes[v - 1]);
    int32_t *data = wick_arena_alloc(&b.mem, nbytes[v - 1], 64);
    for (uint64_t k = 0; f->qual[v - 1] == WICK_IN && k < nbytes[v - 1] / 4; k++)
      data[k] = (int32_t)(k * 7919 * v % 1009) - 500;
    io[v - 1] = data;
  }
  run(&b, io);
  for (uint32_t v = 2; v <= f->nparam; v++) h = wick_hash_bytes(h, io[v - 1], nbytes[v - 1]);
  end(&b);
  return h;
}

static void random_functions(void **state)
{
  (void)state;
  static const char *const some[] = {PASSES, "copy_elim,plan_memory", "in_place,plan_memory",
                                     "reorder_for_memory,plan_memory"};
  const char *one = getenv("WICK_SEED");
  uint64_t first = one ? strtoull(one, NULL, 10) : 1, last = one ? first : 400;
  for (uint64_t seed = first; seed <= last; seed++) {
    if (seed % 3 == 0) continue; /* such seeds have control flow */
    const char *passes = some[seed % WICK_COUNT(some)];
    if (random_run(seed, "plan_memory") != random_run(seed, passes))
      fail_msg("seed %llu: other results after %s", (unsigned long long)seed, passes);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(failures),
                                     cmocka_unit_test(random_functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
