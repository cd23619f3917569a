/* The bounded byte reader. Importers and loaders read untrusted bytes only through it.
 *
 * A reader reads within a span. Every read checks the number of bytes left and returns false at the
 * first fault. The reader then keeps the reason and the position and is at its end. All further
 * reads return false too, so a caller may read several values and check once. Positions count from
 * the start of the whole input, also in a reader of a part of it. Reads allocate nothing and
 * dereference no pointer outside of the span. Fixed-width numbers are little-endian and need no
 * alignment. */
#ifndef WICK_BASE_READER_H
#define WICK_BASE_READER_H

#include "base/base.h"
#include "base/status.h"

/* Bytes that others own. `at` is NULL only for an absent field. */
typedef struct wick_span {
  const unsigned char *at;
  size_t nbytes;
} wick_span;

typedef struct wick_reader {
  const unsigned char *start; /* of the whole input: position 0 */
  const unsigned char *at, *end;
  uint32_t depth;    /* the number of readers around this one */
  const char *fault; /* the reason, a constant text; NULL: no fault */
  size_t fault_at;   /* its position in the input */
} wick_reader;

enum { WICK_READER_DEPTH = 100 }; /* the most parts within parts */

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

/* Reads LEB128 as in protobuf: at most ten bytes, no bits beyond the 64th. */
WICK_CHECKED bool wick_read_varint(wick_reader *r, uint64_t *out);

/* Sets *out to the next nbytes. The count may come from the input unchecked. */
WICK_CHECKED bool wick_read_span(wick_reader *r, uint64_t nbytes, wick_span *out);

/* Makes a reader of the next nbytes, one level deeper. */
WICK_CHECKED bool wick_read_part(wick_reader *r, uint64_t nbytes, wick_reader *out);

/* Checks that nelem elements of at least `size` bytes each can still follow. Call it before
 * allocating for them. */
WICK_CHECKED bool wick_reader_fits(wick_reader *r, uint64_t nelem, uint64_t size);

/* "location: at byte 17: a varint has more than 64 bits". NULL if there is no fault. */
WICK_CHECKED wick_status wick_reader_status(const wick_reader *r, wick_arena *mem,
                                            const char *location);

#endif
