/* Walks over the fields of a message by the rules of protobuf's wire format. */
#include "import/format_wire.h"

#include <ctype.h>
#include <string.h>

enum { FIELDS_MOST = 4096, FIELDS_WORD = 512 };

static bool fields_varint(const unsigned char **at, const unsigned char *end, uint64_t *out)
{
  *out = 0;
  for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
    unsigned char c = *(*at)++;
    *out |= (uint64_t)(c & 127) << shift;
    if (c < 128) return true;
  }
  return false;
}

wick_fields wick_fields_of(wick_span message)
{
  enum { VARINT, BITS64, LENGTH, BITS32 = 5 };
  wick_fields f = {.whole = message.nbytes > 0};
  if (!message.nbytes) return f; /* the address of an empty span may be null */
  const unsigned char *at = message.at, *end = at + message.nbytes;
  for (uint32_t i = 0; at < end && i < FIELDS_MOST; i++) {
    uint64_t tag, n;
    f.whole = false;
    if (!fields_varint(&at, end, &tag) || tag >> 3 == 0 || tag >> 3 > INT32_MAX) return f;
    uint32_t field = (uint32_t)(tag >> 3), kind = tag & 7;
    n = kind == BITS64 ? 8 : kind == BITS32 ? 4 : 0;
    if (kind > LENGTH && kind != BITS32) return f;
    if ((kind == VARINT || kind == LENGTH) && !fields_varint(&at, end, &n)) return f;
    if (kind == VARINT) {
      if (field < 64) f.number |= (uint64_t)1 << field;
      f.whole = true;
      continue;
    }
    if (n > (uint64_t)(end - at)) return f;
    if (kind == LENGTH) {
      if (field < 8 && !(f.bytes >> field & 1)) f.part[field] = (wick_span){at, (size_t)n};
      if (field < 64) f.bytes |= (uint64_t)1 << field;
      if (field > f.most) f.most = field;
    }
    at += n;
    f.whole = true;
  }
  return f;
}

bool wick_fields_is_word(wick_span text)
{
  if (!text.nbytes || text.nbytes > FIELDS_WORD) return false;
  for (size_t i = 0; i < text.nbytes; i++)
    if (!isalnum(text.at[i]) && !strchr("_./:-", text.at[i])) return false;
  return true;
}
