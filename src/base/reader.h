/* The bounded byte reader: the one way in which importers and loaders look at bytes that they do
 * not trust.
 *
 * A reader is inside a span. Every read checks what is left, and returns false at the first
 * thing that is wrong: the reader then keeps the reason and the position, is at its end, and
 * all further reads return false too, so that a caller may read several values and ask once.
 * Positions count from the start of the whole input, also in a reader of a part of it. Nothing is
 * allocated, and no pointer is dereferenced outside of the span. Fixed-width numbers are
 * little-endian and may lie at any address. */
#ifndef WICK_BASE_READER_H
#define WICK_BASE_READER_H

#include "base/base.h"
#include "base/status.h"

/* Bytes of somebody else; `at` is NULL only where there are none at all (an absent field). */
typedef struct wick_span {
  const unsigned char *at;
  size_t nbytes;
} wick_span;

typedef struct wick_reader {
  const unsigned char *start; /* of the whole input: position 0 */
  const unsigned char *at, *end;
  uint32_t depth;    /* readers that this one was opened in */
  const char *fault; /* what is wrong, a constant text; NULL while nothing is */
  size_t fault_at;   /* its position in the input */
} wick_reader;

enum { WICK_READER_DEPTH = 100 }; /* parts within parts, at most */

wick_reader wick_reader_make(const void *bytes, size_t nbytes);

static inline size_t wick_reader_left(const wick_reader *r) { return (size_t)(r->end - r->at); }
static inline size_t wick_reader_position(const wick_reader *r)
{
  return (size_t)(r->at - r->start);
}

/* Marks `r` as faulty at `position` and returns false. `reason` outlives the reader. */
bool wick_reader_refuse(wick_reader *r, size_t position, const char *reason);

WICK_CHECKED bool wick_read_u8(wick_reader *r, uint8_t *out);
WICK_CHECKED bool wick_read_u16(wick_reader *r, uint16_t *out);
WICK_CHECKED bool wick_read_u32(wick_reader *r, uint32_t *out);
WICK_CHECKED bool wick_read_u64(wick_reader *r, uint64_t *out);
WICK_CHECKED bool wick_read_f32(wick_reader *r, float *out);
WICK_CHECKED bool wick_read_f64(wick_reader *r, double *out);

/* LEB128, as protobuf has it: at most ten bytes, and no bits beyond the 64th. */
WICK_CHECKED bool wick_read_varint(wick_reader *r, uint64_t *out);

/* The next nbytes as they lie there. A count from the input goes in unchecked. */
WICK_CHECKED bool wick_read_span(wick_reader *r, uint64_t nbytes, wick_span *out);

/* The next nbytes as a reader of their own, one deeper. */
WICK_CHECKED bool wick_read_part(wick_reader *r, uint64_t nbytes, wick_reader *out);

/* nelem elements of at least size bytes each can still follow: ask before allocating for them. */
WICK_CHECKED bool wick_reader_fits(wick_reader *r, uint64_t nelem, uint64_t size);

/* "location: at byte 17: a varint has more than 64 bits". NULL where nothing is wrong. */
WICK_CHECKED wick_status wick_reader_status(const wick_reader *r, wick_arena *mem,
                                            const char *location);

#endif
