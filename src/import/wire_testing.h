/* For tests: appends the fields of a protobuf message to a text, one call for each field. */
#ifndef WICK_IMPORT_WIRE_TESTING_H
#define WICK_IMPORT_WIRE_TESTING_H

#include <string.h>

#include "base/str.h"
#include "import/wire.h"

static inline void put_varint(wick_text *t, uint64_t v)
{
  for (; v > 127; v >>= 7) wick_text_char(t, (char)(v | 128));
  wick_text_char(t, (char)v);
}
static inline void put_tag(wick_text *t, unsigned number, unsigned type)
{
  put_varint(t, (uint64_t)number << 3 | type);
}
static inline void put_i64(wick_text *t, unsigned number, int64_t v)
{
  put_tag(t, number, 0);
  put_varint(t, (uint64_t)v);
}
static inline void put_f32(wick_text *t, unsigned number, float f)
{
  put_tag(t, number, 5);
  wick_text_addn(t, (const char *)&f, sizeof f); /* tests run on little-endian machines */
}
static inline void put_bytes(wick_text *t, unsigned number, const void *at, size_t n)
{
  put_tag(t, number, 2);
  put_varint(t, n);
  wick_text_addn(t, at, n);
}
static inline void put_str(wick_text *t, unsigned number, const char *s)
{
  put_bytes(t, number, s, strlen(s));
}
static inline void put_part(wick_text *t, unsigned number, const wick_text *part)
{
  put_bytes(t, number, part->at, part->n);
}
static inline wick_span put_span(const wick_text *t)
{
  return (wick_span){(const unsigned char *)t->at, t->n};
}

#endif
