/* Numbers, texts and counts of the binary sections: little-endian. A text is a u32 length and its
 * bytes. Readers are those of base/reader.h. */
#ifndef WICK_RUNTIME_PUT_H
#define WICK_RUNTIME_PUT_H

#include "base/reader.h"
#include "base/str.h"

void wick_put_u32(wick_text *t, uint32_t x);
void wick_put_u64(wick_text *t, uint64_t x);
void wick_put_str(wick_text *t, const char *s); /* NULL: "" */

WICK_CHECKED bool wick_get_i64(wick_reader *r, int64_t *out);
WICK_CHECKED bool wick_get_str(wick_reader *r, wick_arena *mem, const char **out);
/* Reads a count of elements, each of which takes at least `size` bytes of what is left. */
WICK_CHECKED bool wick_get_count(wick_reader *r, uint64_t size, uint32_t *out);

#endif
