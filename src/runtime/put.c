/* Writes bytes one by one, so that the machine's byte order does not matter. */
#include "runtime/put.h"

#include <string.h>

void wick_put_u32(wick_text *t, uint32_t x)
{
  for (int i = 0; i < 4; i++) wick_text_char(t, (char)(x >> (8 * i)));
}

void wick_put_u64(wick_text *t, uint64_t x)
{
  wick_put_u32(t, (uint32_t)x);
  wick_put_u32(t, (uint32_t)(x >> 32));
}

void wick_put_str(wick_text *t, const char *s)
{
  if (!s) s = "";
  wick_put_u32(t, (uint32_t)strlen(s));
  wick_text_add(t, s);
}

bool wick_get_i64(wick_reader *r, int64_t *out)
{
  uint64_t u = 0;
  bool good = wick_read_u64(r, &u);
  *out = (int64_t)u;
  return good;
}

bool wick_get_str(wick_reader *r, wick_arena *mem, const char **out)
{
  uint32_t n;
  wick_span s;
  if (!wick_read_u32(r, &n) || !wick_read_span(r, n, &s)) return false;
  *out = wick_str_dupn(mem, n ? (const char *)s.at : "", n);
  return true;
}

bool wick_get_count(wick_reader *r, uint64_t size, uint32_t *out)
{
  return wick_read_u32(r, out) && wick_reader_fits(r, *out, size);
}
