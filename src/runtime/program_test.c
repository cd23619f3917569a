/* The section `program`: it is read back as written, and anything else is refused. */
#include "runtime/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
  wick_guard guard;
  wick_arena mem;
} fixture;

static const wick_io program_io[] = {
    {.name = "x", .elem = WICK_F32, .rank = 2, .dim = {3, 0}, .nbytes = 0},
    {.name = "", .elem = WICK_U8, .rank = 0, .nbytes = 1},
    {.name = "y", .elem = WICK_BF16, .rank = 1, .dim = {7}, .nbytes = 14}};
static const wick_program_kernel program_kernel[] = {{.name = "k0",
                                                      .location = "net: node \"a\"",
                                                      .schedule = "vector out.x",
                                                      .scratch = true,
                                                      .flops = 1u << 31,
                                                      .bytes = 12,
                                                      .weights = 5,
                                                      .cost = 3},
                                                     {.name = "k1", .location = "", .fault = true}};
static const wick_program_pair program_pair[] = {{"labels", "a,b"}, {"", ""}};
static const unsigned char program_byte = 7;
static const void *const program_fixed[] = {NULL, &program_byte};
static const wick_program program_all = {.entry = "main.entry",
                                         .contract = "sums in order",
                                         .arena_bytes = 1ull << 40,
                                         .scratch_bytes = 64,
                                         .packed_bytes = 128,
                                         .ninput = 2,
                                         .noutput = 1,
                                         .nkernel = 2,
                                         .nmetadata = 2,
                                         .io = program_io,
                                         .fixed = program_fixed,
                                         .kernel = program_kernel,
                                         .metadata = program_pair};

static void program_check(const wick_program *p)
{
  assert_string_equal(p->entry, "main.entry");
  assert_string_equal(p->contract, "sums in order");
  assert_true(p->arena_bytes == 1ull << 40 && p->scratch_bytes == 64 && p->packed_bytes == 128);
  assert_int_equal(p->ninput, 2);
  assert_int_equal(p->noutput, 1);
  for (uint32_t i = 0; i < 3; i++) {
    assert_string_equal(p->io[i].name, program_io[i].name);
    assert_int_equal(p->io[i].elem, program_io[i].elem);
    assert_int_equal(p->io[i].rank, program_io[i].rank);
    assert_memory_equal(p->io[i].dim, program_io[i].dim, sizeof p->io[i].dim);
    assert_int_equal(p->io[i].nbytes, program_io[i].nbytes);
  }
  assert_null(p->fixed[0]);
  assert_int_equal(*(const unsigned char *)p->fixed[1], program_byte);
  assert_true(p->kernel[0].scratch && !p->kernel[0].fault && p->kernel[1].fault);
  assert_int_equal(p->kernel[0].flops, 1u << 31);
  assert_int_equal(p->kernel[0].weights, 5);
  assert_int_equal(p->kernel[0].cost, 3);
  assert_string_equal(p->kernel[0].location, "net: node \"a\"");
  assert_string_equal(p->kernel[0].schedule, "vector out.x");
  assert_string_equal(p->metadata[0].value, "a,b");
}

static void check_round_trip(fixture *t)
{
  wick_span s = wick_program_write(&program_all, &t->mem);
  wick_program p;
  assert_null(wick_program_read(s, "test", &t->mem, &p));
  program_check(&p);
}

static void check_cut_off(fixture *t)
{
  wick_span s = wick_program_write(&program_all, &t->mem), part = {NULL, 0};
  wick_program p;
  assert_non_null(wick_program_read(part, "test", &t->mem, &p));
  for (size_t n = 0; n < s.nbytes; n++) {
    unsigned char *exact = malloc(n ? n : 1);
    assert_non_null(exact);
    memcpy(exact, s.at, n);
    wick_mark mark = wick_arena_mark(&t->mem);
    part = (wick_span){exact, n};
    assert_non_null(wick_program_read(part, "test", &t->mem, &p));
    wick_arena_rewind(&t->mem, mark);
    free(exact);
  }
}

/* Sets bytes to any value: reading gives a status or a program, never a crash or a large
 * allocation. */
static void check_damaged(fixture *t)
{
  t->guard.limit_bytes = 1 << 24;
  wick_span s = wick_program_write(&program_all, &t->mem);
  unsigned char *copy = wick_dup(&t->mem, unsigned char, s.at, s.nbytes);
  for (size_t i = 0; i < s.nbytes; i++)
    for (int bit = 0; bit < 8; bit++) {
      wick_program p;
      wick_mark mark = wick_arena_mark(&t->mem);
      copy[i] = (unsigned char)(copy[i] ^ 1 << bit);
      wick_status st = wick_program_read((wick_span){copy, s.nbytes}, "test", &t->mem, &p);
      if (st) assert_int_equal(st->code, WICK_EPARSE);
      copy[i] = s.at[i];
      wick_arena_rewind(&t->mem, mark);
    }
}

static void in_fixture(void (*check)(fixture *t))
{
  fixture t = {.guard = {.allocator = wick_allocator_malloc()}};
  t.mem = wick_arena_make(&t.guard);
  if (setjmp(t.guard.where)) fail_msg("out of memory");
  check(&t);
  wick_arena_free(&t.mem);
}

static void round_trip(void **state)
{
  (void)state;
  in_fixture(check_round_trip);
}
static void cut_off(void **state)
{
  (void)state;
  in_fixture(check_cut_off);
}
static void damaged(void **state)
{
  (void)state;
  in_fixture(check_damaged);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(cut_off),
                                     cmocka_unit_test(damaged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
