/* Helpers that every file of Wick may use: integer arithmetic and compiler attributes. */
#ifndef WICK_BASE_BASE_H
#define WICK_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WICK_CHECKED __attribute__((warn_unused_result))
#define WICK_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
/* 1 if AddressSanitizer is compiled in, which reserves terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__)
#define WICK_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WICK_ASAN 1
#endif
#endif
#ifndef WICK_ASAN
#define WICK_ASAN 0
#endif

#define WICK_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Checked arithmetic: true if the result does not fit (then *out is unspecified). */
#define wick_add_overflows(a, b, out) __builtin_add_overflow(a, b, out)
#define wick_sub_overflows(a, b, out) __builtin_sub_overflow(a, b, out)
#define wick_mul_overflows(a, b, out) __builtin_mul_overflow(a, b, out)

static inline int64_t wick_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline uint64_t wick_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t wick_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline int64_t wick_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
/* The whole part of v: the end of i64 beyond which it is, and 0 for NaN. */
static inline int64_t wick_whole_i64(double v)
{
  return v >= 0x1p63 ? INT64_MAX : v >= -0x1p63 ? (int64_t)v : v < 0 ? INT64_MIN : 0;
}

/* Rounds towards minus infinity; b is not 0, and not (INT64_MIN, -1). */
static inline int64_t wick_floordiv_i64(int64_t a, int64_t b)
{
  int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}
static inline int64_t wick_floormod_i64(int64_t a, int64_t b)
{
  return a - wick_floordiv_i64(a, b) * b;
}
static inline int64_t wick_ceildiv_i64(int64_t a, int64_t b) { return -wick_floordiv_i64(-a, b); }

/* Returns the greatest common divisor, which is not negative; 0 if both are 0. */
static inline int64_t wick_gcd_i64(int64_t a, int64_t b)
{
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b) {
    int64_t r = a % b;
    a = b, b = r;
  }
  return a;
}

/* Smallest multiple of align (a power of two) that is at least n. */
static inline size_t wick_align_up(size_t n, size_t align)
{
  return (n + align - 1) & ~(align - 1);
}

#endif
