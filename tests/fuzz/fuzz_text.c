/* Fuzzes the parser of Wick's text: accepted text is verified, printed, parsed again and printed
 * the same, and goes through a pass. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/pipeline.h"
#include "fuzz.h"
#include "ir/text.h"

typedef struct fuzz_state {
  wick_guard guard;
  wick_arena mem;
  wick_module *first, *second;
  wick_pipeline pipeline;
} fuzz_state;

/* The memory that a text of this size may use. */
static uint64_t fuzz_limit(size_t nbytes) { return (uint64_t)4096 * nbytes + (64u << 20); }

static void fuzz_fail(const char *what, const char *more)
{
  fprintf(stderr, "%s\n%s\n", what, more);
  abort();
}

static wick_text fuzz_print(fuzz_state *s, const wick_module *m)
{
  wick_text out = wick_text_begin(&s->mem);
  wick_print_module(m, WICK_PRINT_ALL, &out);
  return out;
}

static void fuzz_read(fuzz_state *s, const uint8_t *bytes, size_t nbytes)
{
  s->first = wick_module_create(&s->guard, "");
  wick_status bad = wick_parse_module(s->first, "fuzz", (const char *)bytes, nbytes, &s->mem);
  if (bad) return;
  wick_text text = fuzz_print(s, s->first);
  s->second = wick_module_create(&s->guard, "");
  bad = wick_parse_module(s->second, "again", text.at, text.n, &s->mem);
  if (bad) fuzz_fail(bad->message, text.at);
  wick_text again = fuzz_print(s, s->second);
  if (again.n != text.n || memcmp(again.at, text.at, text.n) != 0) fuzz_fail(text.at, again.at);
  wick_pipeline_begin(&s->pipeline, s->second);
  s->pipeline.verify = true;
  bad = wick_pipeline_run_all(&s->pipeline, "drop_identity,cse", &s->mem);
  if (bad) fuzz_fail(bad->message, text.at);
}

static void fuzz_text(const uint8_t *bytes, size_t nbytes)
{
  fuzz_state s = {
      .guard = {.allocator = wick_allocator_malloc(), .limit_bytes = fuzz_limit(nbytes)}};
  s.mem = wick_arena_make(&s.guard);
  if (setjmp(s.guard.where)) abort(); /* it used more memory than its size allows */
  fuzz_read(&s, bytes, nbytes);
  wick_pipeline_free(&s.pipeline);
  wick_module_free(s.first);
  wick_module_free(s.second);
  wick_arena_free(&s.mem);
}

int main(int argc, char **argv)
{
  static const char *const patterns[] = {"tests/fuzz/text/*.wick", NULL};
  static const wick_fuzz f = {"fuzz_text", patterns, 65536, fuzz_text};
  return wick_fuzz_main(&f, argc, argv);
}
