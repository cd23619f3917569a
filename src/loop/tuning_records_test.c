/* Tuning records: round trip, merging, and errors in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "loop/tuning_records.h"

#define HEAD "wick records 1\n"
#define GROUP "group x86-64-v4 (%p0: f32[4]) -> f32[4] { }\n"

static const struct {
  const char *text, *want; /* the printed records, or "error: " and the message */
} tuning_records_rows[] = {
    {HEAD, HEAD},
    {HEAD "# a comment\n\n" GROUP "steps vector out.x; \ntime 50 was 80\ntried 60 unroll out.x; \n",
     HEAD GROUP "steps vector out.x; \ntime 50 was 80\ntried 60 unroll out.x; \n"},
    /* the faster one of two records; also of two trials */
    {HEAD GROUP "steps a\ntime 50 was 80\ntried 9 x\n" GROUP
                "steps b\ntime 40 was 70\ntried 7 x\ntried 8 y",
     HEAD GROUP "steps b\ntime 40 was 70\ntried 7 x\ntried 8 y\n"},
    {HEAD GROUP "steps b\ntime 40 was 70\n" GROUP "steps a\ntime 50 was 80\n",
     HEAD GROUP "steps b\ntime 40 was 70\n"},
    {"", "error: r.txt:1: it does not begin with `wick records 1`"},
    {"wick records 2\n", "error: r.txt:1: it does not begin with `wick records 1`"},
    {HEAD "steps a\n", "error: r.txt:2: expected a group first"},
    {HEAD "group x86-64-v4\n", "error: r.txt:2: expected a target and the text of a group"},
    {HEAD GROUP "time 4 was 5\n", "error: r.txt:3: a time without its steps"},
    {HEAD GROUP "steps a\nsteps b\n", "error: r.txt:4: the steps above it have no time"},
    {HEAD GROUP "steps a\n" GROUP, "error: r.txt:4: the steps above it have no time"},
    {HEAD GROUP "steps a\n", "error: r.txt:4: the last steps have no time"},
    {HEAD GROUP "steps a\ntime 4 is 5\n",
     "error: r.txt:4: expected `time N was N`, in nanoseconds"},
    {HEAD GROUP "steps a\ntime 0 was 5\n",
     "error: r.txt:4: expected `time N was N`, in nanoseconds"},
    {HEAD GROUP "steps a\ntime 99999999999999999999 was 5\n",
     "error: r.txt:4: expected `time N was N`, in nanoseconds"},
    {HEAD GROUP "tried x\n", "error: r.txt:3: expected `tried N STEPS`"},
    {HEAD GROUP "step a\n", "error: r.txt:3: a line is none of group, steps, time, tried"},
};

static void tuning_records_files(void **state)
{
  (void)state;
  for (size_t i = 0; i < WICK_COUNT(tuning_records_rows); i++) {
    wick_guard guard = {.allocator = wick_allocator_malloc()};
    wick_arena mem = wick_arena_make(&guard);
    if (setjmp(guard.where)) fail_msg("out of memory");
    wick_tuning_records r = wick_tuning_records_begin("dir/r.txt", &mem);
    wick_text got = wick_text_begin(&mem);
    const char *text = tuning_records_rows[i].text;
    wick_status s = wick_tuning_records_read(&r, "dir/r.txt", text, strlen(text));
    if (s)
      wick_text_printf(&got, "error: %s", s->message);
    else
      wick_tuning_records_print(&r, &got);
    assert_string_equal(got.at, tuning_records_rows[i].want);
    wick_arena_free(&mem);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(tuning_records_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
