/* Fuzzes the reader of Relay's text: a file is parsed, its types are inferred, and what has none of
 * the problems that are reported becomes graphs. */
#include <setjmp.h>
#include <stdlib.h>

#include "fuzz.h"
#include "import/relay/relay.h"
#include "lang/infer.h"
#include "lang/lower/lowering.h"

/* The memory that a text of this size may use. */
static uint64_t fuzz_limit(size_t nbytes) { return (uint64_t)65536 * nbytes + (512u << 20); }

static void fuzz_read(wick_lang_program *p, wick_types *t, const char *text, size_t nbytes,
                      wick_arena *mem)
{
  const wick_lang_source known = {.path = "fuzz.relay", .text = text, .nbytes = (uint32_t)nbytes};
  wick_lang_module *file;
  p->known = &known, p->nknown = 1;
  if (wick_lang_program_load(p, known.path, &file) || wick_lang_problems(&p->sources)) return;
  wick_lang_resolve(p);
  wick_lang_infer(p, t);
  if (wick_lang_problems(&p->sources)) return;
  const wick_lowering_options o = {.entry = "main", .mem = mem};
  const wick_func *f;
  wick_status s = wick_lang_lower(p, t, file, &o, NULL, &f);
  (void)s;
}

static void fuzz_relay(const uint8_t *bytes, size_t nbytes)
{
  wick_guard guard = {.allocator = wick_allocator_malloc(), .limit_bytes = fuzz_limit(nbytes)};
  wick_arena mem = wick_arena_make(&guard);
  wick_lang_program p;
  wick_types t;
  if (setjmp(guard.where)) abort(); /* it used more memory than its size allows */
  const char *text = wick_str_dupn(&mem, (const char *)bytes, nbytes);
  wick_lang_program_begin(&p, &mem);
  p.reader = &wick_relay_reader;
  wick_types_begin(&t, &mem);
  fuzz_read(&p, &t, text, nbytes, &mem);
  wick_types_end(&t);
  wick_arena_free(&mem);
}

int main(int argc, char **argv)
{
  static const char *const pattern[] = {"tests/fuzz/relay/*.relay", NULL};
  const wick_fuzz f = {.name = "relay", .pattern = pattern, .most = 1 << 20, .run = fuzz_relay};
  return wick_fuzz_main(&f, argc, argv);
}
