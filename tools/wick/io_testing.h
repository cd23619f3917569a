/* For tests of readers: arenas for a test, memory of exactly the input's size (so that a sanitizer
 * detects reads beyond it), every truncation of an input, and mutations. */
#ifndef WICK_TOOLS_IO_TESTING_H
#define WICK_TOOLS_IO_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/torture.h"

#include "tensor_io.h"

typedef struct io_test {
  wick_guard guard;
  wick_arena mem, tmp;
} io_test;

static inline void io_begin(io_test *t)
{
  t->guard = (wick_guard){.allocator = wick_allocator_malloc(), .limit_bytes = 1u << 30};
  t->mem = wick_arena_make(&t->guard);
  t->tmp = wick_arena_make(&t->guard);
}
static inline void io_end(io_test *t)
{
  wick_arena_free(&t->mem);
  wick_arena_free(&t->tmp);
}
/* A macro, because the function that calls setjmp must not return. */
#define IO_BEGIN(t)                                                                                \
  io_test t;                                                                                       \
  io_begin(&t);                                                                                    \
  if (setjmp(t.guard.where)) fail_msg("out of memory")

static inline wick_span io_span(const void *at, size_t nbytes) { return (wick_span){at, nbytes}; }

/* A reader under test. It reads the bytes, and then every byte of its result. */
typedef wick_status (*io_reader)(io_test *t, wick_span bytes);

static inline wick_status io_read_exactly(io_test *t, io_reader read, const void *at, size_t n)
{
  unsigned char *exact = malloc(n ? n : 1);
  assert_non_null(exact);
  if (n) memcpy(exact, at, n);
  wick_mark mem = wick_arena_mark(&t->mem), tmp = wick_arena_mark(&t->tmp);
  wick_status s = read(t, io_span(exact, n));
  if (s) assert_true(strlen(s->message) > 0);
  bool failed = s != NULL;
  wick_arena_rewind(&t->mem, mem);
  wick_arena_rewind(&t->tmp, tmp);
  free(exact);
  static const struct wick_error yes = {.code = WICK_EPARSE, .message = "failed"};
  return failed ? &yes : NULL;
}

static inline void io_touch(const wick_array *a)
{
  volatile unsigned char sum = 0;
  for (uint64_t i = 0; i < a->nbytes; i++)
    sum = (unsigned char)(sum + ((const unsigned char *)a->data)[i]);
  assert_int_equal((uintptr_t)a->data % (a->nbytes ? wick_elem_storage[a->elem].align : 1), 0);
}

/* Only the whole input is valid, and no prefix. */
static inline void io_truncate(io_test *t, io_reader read, const void *at, size_t n)
{
  for (size_t k = 0; k < n; k++)
    if (!io_read_exactly(t, read, at, k)) fail_msg("the first %zu of %zu bytes are read", k, n);
  assert_null(io_read_exactly(t, read, at, n));
}

/* Reads while the k-th allocation of the arenas fails. Returns false if there is no k-th one, and
 * it succeeds. */
static inline bool io_starve_at(io_reader read, const void *at, size_t n, uint64_t k)
{
  wick_torture torture = {.fail_at = k};
  io_test t = {.guard = {.allocator = wick_torture_allocator(&torture)}};
  t.mem = wick_arena_make(&t.guard);
  t.tmp = wick_arena_make(&t.guard);
  if (setjmp(t.guard.where) == 0) assert_null(read(&t, io_span(at, n)));
  io_end(&t);
  assert_int_equal(torture.live, 0);
  return torture.calls >= k;
}
static inline void io_starve(io_reader read, const void *at, size_t n)
{
  for (uint64_t k = 1; io_starve_at(read, at, n, k); k++) continue;
}

/* splitmix64, Steele et al. 2014 */
static inline uint64_t io_random(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Reads `rounds` inputs with one to four changes within the first `reach` bytes. Any status is
 * right. */
static inline void io_mutate(io_test *t, io_reader read, const void *at, size_t n, size_t reach,
                             int rounds)
{
  static const char extremes[] = {0,   1,    ' ',  '0',        '9',       '(',
                                  '{', '\'', 0x7f, (char)0x80, (char)0xff};
  uint64_t r = 1;
  unsigned char *copy = malloc(n + 8);
  assert_non_null(copy);
  for (int i = 0; i < rounds; i++) {
    size_t size = n;
    memcpy(copy, at, n);
    for (uint64_t k = 1 + io_random(&r) % 4; k--;) {
      size_t p = io_random(&r) % (reach < size ? reach : size);
      switch (io_random(&r) % 5) {
      case 0: copy[p] = (unsigned char)(copy[p] ^ 1u << io_random(&r) % 8); break;
      case 1: copy[p] = (unsigned char)io_random(&r); break;
      case 2: copy[p] = (unsigned char)extremes[io_random(&r) % sizeof extremes]; break;
      case 3: /* removes a byte */
        memmove(copy + p, copy + p + 1, size - p - 1);
        size -= size > 1;
        break;
      default: /* repeats a byte */
        if (size == n + 8) break;
        memmove(copy + p + 1, copy + p, size - p);
        size++;
      }
    }
    (void)!io_read_exactly(t, read, copy, size);
  }
  free(copy);
}

#endif
