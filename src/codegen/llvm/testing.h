/* For tests: compiles loop functions, from text or from a builder, to code that can be called. */
#ifndef WICK_CODEGEN_LLVM_TESTING_H
#define WICK_CODEGEN_LLVM_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "codegen/abi.h"
#include "codegen/link.h"
#include "codegen/llvm/llvm.h"
#include "codegen/object.h"
#include "ir/build.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "runtime/load.h"

typedef struct testing {
  wick_guard guard;
  wick_arena mem;
  wick_module *m;
  wick_span file;
  wick_artifact artifact; /* of `file` */
  wick_image image;
} testing;

static inline void testing_ok(wick_status s)
{
  if (s) print_error("%s\n", s->message);
  assert_null(s);
}

static inline void testing_begin(testing *t)
{
  *t = (testing){.guard = {.allocator = wick_allocator_malloc()}};
  if (setjmp(t->guard.where)) fail_msg("out of memory");
  t->mem = wick_arena_make(&t->guard);
  t->m = wick_module_create(&t->guard, "test");
}

static inline void testing_end(testing *t)
{
  wick_image_unmap(&t->image);
  wick_module_free(t->m);
  wick_arena_free(&t->mem);
}

static inline void testing_parse(testing *t, const char *text)
{
  testing_ok(wick_parse_module(t->m, "test", text, strlen(text), &t->mem));
}

static inline void testing_add(testing *t, wick_builder *b)
{
  wick_func *f;
  testing_ok(wick_build_end(b, &f));
  testing_ok(wick_verify_func(f, &t->mem));
  wick_module_set(t->m, f);
}

static inline wick_status testing_compile(testing *t, const char *target, bool direct,
                                          wick_span *out)
{
  wick_target row;
  assert_true(wick_target_find(target, &row));
  wick_codegen_options o = {.direct = direct, .verify = true};
  return wick_llvm_compile(t->m, &row, &o, &t->mem, out);
}

/* Compiles the module's loop functions for the target into an artifact. */
static inline void testing_make(testing *t, const char *target, bool direct)
{
  wick_target row;
  wick_section section[WICK_LINK_SECTIONS];
  wick_artifact_parts parts;
  wick_span object;
  testing_ok(testing_compile(t, target, direct, &object));
  assert_true(wick_target_find(target, &row));
  testing_ok(wick_object_check(object, &row, NULL, &t->mem));
  testing_ok(wick_link(1, &object, &row, &t->mem, section));
  testing_ok(
      wick_artifact_make(row.machine, row.needs, WICK_LINK_SECTIONS, section, &t->mem, &parts));
  t->file = wick_artifact_join(&parts, &t->mem);
  testing_ok(wick_artifact_read(t->file, "test", &t->mem, &t->artifact));
}

/* Compiles the module and maps the code. */
static inline void testing_load(testing *t, const char *target, bool direct)
{
  testing_make(t, target, direct);
  testing_ok(wick_image_map(&t->artifact, &t->mem, &t->image));
}

/* Returns target i of those that this processor can run. */
static inline const char *testing_native(uint32_t i)
{
  wick_cpu cpu = wick_cpu_detect();
  for (uint32_t k = 0; wick_target_row(k); k++)
    if (wick_target_runs_on(wick_target_row(k), cpu) && i-- == 0) return wick_target_row(k)->row;
  return NULL;
}

/* Allocates memory whose end is followed by an unmapped page. */
static inline size_t testing_pages(size_t nbytes) { return wick_align_up(nbytes, 65536); }
static inline void *testing_guarded(size_t nbytes)
{
  size_t n = testing_pages(nbytes);
  unsigned char *at =
      mmap(NULL, n + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(at != MAP_FAILED);
  assert_int_equal(mprotect(at + n, 65536, PROT_NONE), 0);
  return at + n - nbytes;
}
static inline void testing_guarded_free(void *p, size_t nbytes)
{
  size_t n = testing_pages(nbytes);
  munmap((unsigned char *)p + nbytes - n, n + 65536);
}

#endif
