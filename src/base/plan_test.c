/* The planner: its invariant on random requests, the optimum of small ones by brute force, the
 * bound on traces of real networks, and invalid requests. */
#include "base/plan.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_testing.h"
#include "base/file.h"
#include "base/str.h"
#include "base/torture.h"
#include "base/trace.h"

static wick_plan plan_ok(const wick_plan_buffer *b, uint32_t n, const wick_plan_options *o)
{
  wick_plan p = {0};
  wick_status s = wick_plan_make(b, n, o, &mem, &tmp, &p);
  if (!s) s = wick_plan_check(b, n, o, &p, &mem);
  if (s) fail_msg("%s", s->message);
  return p;
}

/* ---- random requests ---- */

static uint32_t random_below(uint64_t *state, uint32_t n)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((*state >> 33) % n);
}

/* Makes n buffers over `time` instructions. With `extras`, some are empty, in sets, or pinned. */
static wick_plan_buffer *random_request(uint64_t *state, uint32_t n, uint32_t time, bool extras)
{
  wick_plan_buffer *b = wick_new(&mem, wick_plan_buffer, n);
  uint64_t pin = 0;
  for (uint32_t i = 0; i < n; i++) {
    b[i].first = random_below(state, time);
    b[i].last = b[i].first + random_below(state, 1 + (time - b[i].first) / (1 + i % 3));
    b[i].nbytes = random_below(state, 1u << random_below(state, 11));
    if (!extras) continue;
    if (random_below(state, 5) == 0) b[i].apart = 1 + random_below(state, 2);
    if (random_below(state, 8) == 0) { /* pins that cannot collide */
      b[i].pinned = true;
      b[i].offset_bytes = pin;
      pin += (b[i].nbytes + 63) / 64 * 64 + 64 * random_below(state, 10);
    }
  }
  return b;
}

static void test_invariant(void **state)
{
  (void)state;
  uint64_t random = 1;
  for (uint32_t round = 0; round < 400; round++) {
    uint32_t n = round < 300 ? round % 50 : round;
    wick_mark m = wick_arena_mark(&mem);
    wick_plan_buffer *b = random_request(&random, n, n < 300 ? 4 + round % 90 : 2000, round % 2);
    wick_plan_options o = {.align_bytes = 1u << round % 7};
    wick_plan first_fit = plan_ok(b, n, &o);
    o.nstep = 100000;
    wick_plan found = plan_ok(b, n, &o);
    assert_true(found.nbytes <= first_fit.nbytes);
    assert_int_equal(found.bound_nbytes, first_fit.bound_nbytes);
    wick_arena_rewind(&mem, m);
  }
}

/* Runs first fit for all orders. One of them, the order of an optimal plan's offsets, gives an
 * optimum. `at` gets the offsets of the buffers in `used`. */
static uint64_t brute_force(const wick_plan_buffer *b, uint32_t n, uint64_t *at, uint32_t used,
                            uint64_t end, uint64_t best)
{
  if (end >= best || used == (1u << n) - 1) return end < best ? end : best;
  for (uint32_t i = 0; i < n; i++) {
    if (used & 1u << i) continue;
    at[i] = 0;
    for (uint32_t k = 0; k < n; k++) {
      bool meet = b[i].first <= b[k].last && b[k].first <= b[i].last;
      bool apart = b[i].apart && b[i].apart == b[k].apart;
      if (!(used & 1u << k) || !(meet || apart) || !b[i].nbytes || !b[k].nbytes) continue;
      if (at[i] + b[i].nbytes <= at[k] || at[i] >= at[k] + b[k].nbytes) continue;
      at[i] = at[k] + b[k].nbytes;
      k = UINT32_MAX; /* restarts from the first one */
    }
    uint64_t top = b[i].nbytes ? at[i] + b[i].nbytes : 0;
    best = brute_force(b, n, at, used | 1u << i, top > end ? top : end, best);
  }
  return best;
}

static void test_brute_force(void **state)
{
  (void)state;
  uint64_t random = 2;
  uint32_t above_bound = 0;
  for (uint32_t round = 0; round < 2000; round++) {
    uint32_t n = 1 + round % 7, used = 0;
    wick_mark m = wick_arena_mark(&mem);
    wick_plan_buffer *b = random_request(&random, n, 2 + round % 9, round % 2);
    uint64_t at[7] = {0}, end = 0;
    for (uint32_t i = 0; i < n; i++) {
      if (round % 3) b[i].nbytes = 1 + b[i].nbytes % 9; /* small sizes make many ties */
      if (!b[i].pinned) continue;
      used |= 1u << i;
      at[i] = b[i].offset_bytes;
      if (b[i].nbytes && at[i] + b[i].nbytes > end) end = at[i] + b[i].nbytes;
    }
    wick_plan_options o = {.nstep = 10000000};
    wick_plan p = plan_ok(b, n, &o);
    assert_int_equal(p.nbytes, brute_force(b, n, at, used, end, UINT64_MAX));
    assert_true(p.nstep < o.nstep);
    above_bound += p.nbytes > p.bound_nbytes;
    wick_arena_rewind(&mem, m);
  }
  /* in these cases the proof that there is no smaller plan was needed */
  assert_true(above_bound > 10);
}

/* Cuts a rectangle of time and memory into n buffers: the optimum is its height. */
static wick_plan_buffer *perfect_request(uint64_t *state, uint32_t n, uint32_t height)
{
  wick_plan_buffer *b = wick_new(&mem, wick_plan_buffer, n);
  b[0] = (wick_plan_buffer){.nbytes = height, .last = 399};
  for (uint32_t k = 1; k < n;) {
    wick_plan_buffer *cut = &b[random_below(state, k)];
    uint32_t length = cut->last - cut->first + 1, size = (uint32_t)cut->nbytes;
    bool in_time = random_below(state, 2);
    if ((in_time ? length : size) < 2) continue;
    b[k] = *cut;
    uint32_t part = 1 + random_below(state, (in_time ? length : size) - 1);
    if (in_time)
      b[k].first = (cut->last = cut->first + part - 1) + 1;
    else
      b[k].nbytes -= cut->nbytes = part;
    k++;
  }
  return b;
}

static void test_perfect_packings(void **state)
{
  (void)state;
  uint64_t random = 3;
  uint32_t by_first_fit = 0;
  for (uint32_t round = 0; round < 100; round++) {
    wick_mark m = wick_arena_mark(&mem);
    wick_plan_buffer *b = perfect_request(&random, 40, 1000);
    wick_plan_options o = {0};
    by_first_fit += plan_ok(b, 40, &o).nbytes == 1000;
    o.nstep = WICK_PLAN_STEPS;
    assert_int_equal(plan_ok(b, 40, &o).nbytes, 1000);
    wick_arena_rewind(&mem, m);
  }
  assert_true(by_first_fit < 50);
}

static void test_determinism(void **state)
{
  (void)state;
  uint64_t random = 4;
  wick_plan_buffer *b = perfect_request(&random, 200, 5000);
  wick_plan_options o = {.nstep = 3000000};
  wick_plan p = plan_ok(b, 200, &o), q = plan_ok(b, 200, &o);
  assert_memory_equal(p.offset_bytes, q.offset_bytes, 200 * sizeof *p.offset_bytes);
  assert_int_equal(p.nstep, q.nstep);
  assert_true(p.nstep < o.nstep + o.nstep / 10);
}

/* So many collisions that they are not stored as lists. */
static void test_dense(void **state)
{
  (void)state;
  enum { N = 3500 };
  uint64_t random = 5;
  wick_plan_buffer *b = wick_new(&mem, wick_plan_buffer, N);
  for (uint32_t i = 0; i < N; i++) {
    uint32_t first = random_below(&random, 100);
    b[i] = (wick_plan_buffer){
        .nbytes = 1 + random_below(&random, 9999), .first = first, .last = 150 + first};
  }
  wick_plan_options o = {.align_bytes = 16};
  wick_plan first_fit = plan_ok(b, N, &o);
  o.nstep = 1000;
  assert_true(plan_ok(b, N, &o).nbytes <= first_fit.nbytes);
}

/* ---- the traces of real networks ---- */

static void test_traces(void **state)
{
  (void)state;
  static const char path[] = "../shared/memory/traces.txt";
  if (!wick_file_exists(path)) {
    print_message("%s is not there\n", path);
    skip();
  }
  char *text;
  size_t nbytes;
  const wick_trace *trace;
  uint32_t ntrace = 0, by_first_fit = 0;
  wick_status s = wick_file_read(&mem, path, 0, &text, &nbytes);
  if (!s) s = wick_trace_read(text, nbytes, path, &mem, &tmp, &trace, &ntrace);
  if (s) fail_msg("%s", s->message);
  assert_int_equal(ntrace, 40);
  for (uint32_t i = 0; i < ntrace; i++) {
    const wick_trace *t = &trace[i];
    wick_plan_options o = {.align_bytes = t->align_bytes};
    wick_plan p = plan_ok(t->buffer, t->nbuffer, &o);
    by_first_fit += p.nbytes == p.bound_nbytes;
    o.nstep = WICK_PLAN_STEPS;
    p = plan_ok(t->buffer, t->nbuffer, &o);
    if (p.nbytes != p.bound_nbytes || p.nbytes > t->mem_nbytes)
      fail_msg("%s: %" PRIu64 " bytes, bound %" PRIu64, t->name, p.nbytes, p.bound_nbytes);
    assert_true(p.nstep < 1000000);
  }
  assert_int_equal(by_first_fit, 37);
}

/* ---- rows: "size[first,last]", then "=set" and "@pin"; and the result ---- */

static const struct {
  const char *buffers;
  wick_plan_options options;
  const char *want; /* "offsets: bytes/bound/live", or the error */
} rows[] = {
    {"", {0}, ": 0/0/0"},
    {"0[0,5] 0[0,5]", {.align_bytes = 64}, "0 0: 0/0/0"},
    {"5[0,0]", {.align_bytes = 64}, "0: 64/64/5"},
    {"100[0,1] 50[1,2] 100[2,3]", {0}, "0 100 0: 150/150/150"},
    /* both ends are included: these two do not collide */
    {"10[0,0] 10[1,1]", {0}, "0 0: 10/10/10"},
    {"10[0,1] 10[1,1]", {0}, "0 10: 20/20/20"},
    {"10[0,0]=7 10[1,1]=7 5[2,2]=8", {0}, "0 10 0: 20/20/10"},
    {"10[0,3] 10[0,3]@0", {0}, "10 0: 20/20/20"},
    {"10[0,3] 4[0,3]@4", {0}, "8 4: 18/14/14"}, /* the gap below the pin is too small */
    {"4[0,3] 4[0,3]@4", {0}, "0 4: 8/8/8"},
    {"4[0,0] 4[1,1]@100", {0}, "0 100: 104/104/4"},
    {"0[0,0]@64", {.align_bytes = 64}, "64: 0/0/0"},
    {"4[4294967295,4294967295] 4[0,4294967295]", {0}, "4 0: 8/8/8"},
    {"9223372036854775807[0,0]",
     {0},
     "0: 9223372036854775807/9223372036854775807/9223372036854775807"},
    {"10[0,1] 20[1,1]", {.limit_bytes = 30}, "20 0: 30/30/30"},
    {"10[0,1] 20[1,1]",
     {.limit_bytes = 29},
     "buffer 0: 10 bytes, live from 0 to 1, do not fit in 29 bytes: the plan takes 30, and none "
     "takes less than 30"},
    {"10[0,1] 10[1,0]", {0}, "buffer 1: lives from 1 to 0, which is before it"},
    {"10[0,1]@32", {.align_bytes = 64}, "buffer 0: pinned at 32, which is no multiple of 64"},
    {"10[0,1]@0 1[3,4]@4 10[1,4]@5",
     {0},
     "buffer 0: pinned onto buffer 2: both are live at one time, or must stay apart"},
    {"1[0,0]@0=3 1[5,5]@0=3",
     {0},
     "buffer 0: pinned onto buffer 1: both are live at one time, or must stay apart"},
    {"1[0,0]", {.align_bytes = 48}, "the alignment 48 is no power of two below 2^63"},
    {"9223372036854775807[0,0] 1[1,1]",
     {0},
     "buffer 1: 1 bytes, with those before it, pass 2^63 - 1"},
    {"18446744073709551615[0,0]",
     {0},
     "buffer 0: 18446744073709551615 bytes, with those before it, pass 2^63 - 1"},
    {"9223372036854775807[0,0]",
     {.align_bytes = 2},
     "buffer 0: 9223372036854775807 bytes, with those before it, pass 2^63 - 1"},
    {"1[0,0]@9223372036854775807",
     {0},
     "buffer 0: 1 bytes and its pin, with those before it, pass 2^63 - 1"},
    {"1[0,0]",
     {.align_bytes = 1ull << 63},
     "the alignment 9223372036854775808 is no power of two below 2^63"},
};

static uint32_t parse_buffers(const char *s, wick_plan_buffer *b)
{
  uint32_t n = 0;
  for (; *s; n++) {
    char *at;
    b[n] = (wick_plan_buffer){.nbytes = strtoull(s, &at, 10)};
    b[n].first = (uint32_t)strtoul(at + 1, &at, 10);
    b[n].last = (uint32_t)strtoul(at + 1, &at, 10);
    at++;
    b[n].pinned = *at == '@';
    if (*at == '@') b[n].offset_bytes = strtoull(at + 1, &at, 10);
    if (*at == '=') b[n].apart = (uint32_t)strtoul(at + 1, &at, 10);
    s = at + (*at == ' ');
  }
  return n;
}

static void test_rows(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(rows); i++) {
    wick_plan_buffer b[8];
    uint32_t n = parse_buffers(rows[i].buffers, b);
    for (int search = 0; search < 2; search++) {
      wick_plan_options o = rows[i].options;
      o.nstep = search ? 100000 : 0;
      wick_plan p;
      wick_status s = wick_plan_make(b, n, &o, &mem, &tmp, &p);
      wick_text t = wick_text_begin(&mem);
      for (uint32_t k = 0; !s && k < n; k++)
        wick_text_printf(&t, "%s%" PRIu64, k ? " " : "", p.offset_bytes[k]);
      if (!s)
        wick_text_printf(&t, ": %" PRIu64 "/%" PRIu64 "/%" PRIu64, p.nbytes, p.bound_nbytes,
                         p.live_nbytes);
      assert_string_equal(s ? s->message : t.at, rows[i].want);
      if (!s) assert_null(wick_plan_check(b, n, &o, &p, &mem));
    }
  }
}

/* ---- the check finds errors ---- */

static void test_check(void **state)
{
  (void)state;
  wick_plan_buffer b[] = {{.name = "x", .nbytes = 10, .first = 0, .last = 1},
                          {.name = "y", .nbytes = 6, .first = 1, .last = 2},
                          {.nbytes = 8, .first = 4, .last = 4, .pinned = true, .offset_bytes = 8}};
  static const struct {
    uint64_t at[3], nbytes;
    const char *want;
  } cases[] = {
      {{0, 16, 8}, 24, NULL},
      {{0, 8, 8}, 24, "buffer \"x\": 10 bytes at 0 share memory with buffer \"y\", 6 bytes at 8"},
      {{0, 4, 8}, 24, "buffer \"y\": lies at 4, no multiple of 8"},
      {{0, 24, 8}, 24, "buffer \"y\": 6 bytes at 24 pass the arena's 24"},
      {{0, 16, 0}, 24, "buffer 2: lies at 0, pinned at 8"},
      {{0, 16, 8}, 16, "live 16, bound 24, arena 16 do not rise"},
  };
  for (size_t i = 0; i < WICK_COUNT(cases); i++) {
    uint64_t at[3];
    memcpy(at, cases[i].at, sizeof at);
    wick_plan p = {
        .offset_bytes = at, .nbytes = cases[i].nbytes, .bound_nbytes = 24, .live_nbytes = 16};
    wick_status s = wick_plan_check(b, 3, &(wick_plan_options){.align_bytes = 8}, &p, &mem);
    if (cases[i].want)
      assert_string_equal(s ? s->message : "no error", cases[i].want);
    else
      assert_null(s);
  }
}

static void test_out_of_memory(void **state)
{
  (void)state;
  uint64_t random = 6;
  wick_plan_buffer *b = perfect_request(&random, 150, 5000);
  for (uint64_t fail = 1;; fail++) {
    wick_torture torture = {.fail_at = fail};
    wick_guard g = {.allocator = wick_torture_allocator(&torture)};
    wick_arena results = wick_arena_make(&g), scratch = wick_arena_make(&g);
    if (!setjmp(g.where)) {
      wick_plan p;
      wick_plan_options o = {.nstep = 100000};
      assert_null(wick_plan_make(b, 150, &o, &results, &scratch, &p));
    }
    wick_arena_free(&results);
    wick_arena_free(&scratch);
    assert_int_equal(torture.live, 0);
    if (torture.calls < fail) break;
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
      cmocka_unit_test_setup_teardown(test_check, setup, teardown),
      cmocka_unit_test_setup_teardown(test_invariant, setup, teardown),
      cmocka_unit_test_setup_teardown(test_brute_force, setup, teardown),
      cmocka_unit_test_setup_teardown(test_perfect_packings, setup, teardown),
      cmocka_unit_test_setup_teardown(test_determinism, setup, teardown),
      cmocka_unit_test_setup_teardown(test_dense, setup, teardown),
      cmocka_unit_test_setup_teardown(test_traces, setup, teardown),
      cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
