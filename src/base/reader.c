/* Checked reads from untrusted bytes. */
#include "base/reader.h"

#include <string.h>

wick_reader wick_reader_make(const void *bytes, size_t nbytes)
{
  static const unsigned char nothing[1];
  const unsigned char *at = bytes ? bytes : nothing;
  return (wick_reader){.start = at, .at = at, .end = at + (bytes ? nbytes : 0)};
}

bool wick_reader_refuse(wick_reader *r, size_t position, const char *reason)
{
  if (!r->fault) {
    r->fault = reason;
    r->fault_at = position;
  }
  r->at = r->end;
  return false;
}

static bool reader_short(wick_reader *r, size_t position)
{
  return wick_reader_refuse(r, position, "the input ends too early");
}

/* nbytes (1 to 8) as a little-endian number. */
static bool reader_fixed(wick_reader *r, size_t nbytes, uint64_t *out)
{
  *out = 0;
  if (r->fault) return false;
  if (wick_reader_left(r) < nbytes) return reader_short(r, wick_reader_position(r));
  uint64_t value = 0;
  for (size_t i = 0; i < nbytes; i++) value |= (uint64_t)r->at[i] << (8 * i);
  r->at += nbytes;
  *out = value;
  return true;
}

bool wick_read_u8(wick_reader *r, uint8_t *out)
{
  uint64_t value;
  bool ok = reader_fixed(r, 1, &value);
  *out = (uint8_t)value;
  return ok;
}

bool wick_read_u16(wick_reader *r, uint16_t *out)
{
  uint64_t value;
  bool ok = reader_fixed(r, 2, &value);
  *out = (uint16_t)value;
  return ok;
}

bool wick_read_u32(wick_reader *r, uint32_t *out)
{
  uint64_t value;
  bool ok = reader_fixed(r, 4, &value);
  *out = (uint32_t)value;
  return ok;
}

bool wick_read_u64(wick_reader *r, uint64_t *out) { return reader_fixed(r, 8, out); }

bool wick_read_f32(wick_reader *r, float *out)
{
  uint32_t bits;
  bool ok = wick_read_u32(r, &bits);
  memcpy(out, &bits, sizeof bits);
  return ok;
}

bool wick_read_f64(wick_reader *r, double *out)
{
  uint64_t bits;
  bool ok = wick_read_u64(r, &bits);
  memcpy(out, &bits, sizeof bits);
  return ok;
}

bool wick_read_varint(wick_reader *r, uint64_t *out)
{
  *out = 0;
  size_t start = wick_reader_position(r);
  uint64_t value = 0;
  for (unsigned shift = 0; r->at < r->end; shift += 7) {
    unsigned byte = *r->at++;
    if (shift == 63 && byte > 1)
      return wick_reader_refuse(r, start, "a varint has more than 64 bits");
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) {
      *out = value;
      return true;
    }
  }
  return reader_short(r, start);
}

bool wick_read_span(wick_reader *r, uint64_t nbytes, wick_span *out)
{
  *out = (wick_span){0};
  if (r->fault) return false;
  if (nbytes > wick_reader_left(r)) return reader_short(r, wick_reader_position(r));
  *out = (wick_span){r->at, (size_t)nbytes};
  r->at += nbytes;
  return true;
}

bool wick_read_part(wick_reader *r, uint64_t nbytes, wick_reader *out)
{
  *out = (wick_reader){.start = r->start, .at = r->end, .end = r->end, .depth = r->depth + 1};
  wick_span s;
  _Static_assert(WICK_READER_DEPTH == 100, "the message below says so");
  if (r->depth >= WICK_READER_DEPTH)
    wick_reader_refuse(r, wick_reader_position(r), "parts are nested more than 100 deep");
  if (!wick_read_span(r, nbytes, &s)) return wick_reader_refuse(out, r->fault_at, r->fault);
  out->at = s.at;
  out->end = s.at + s.nbytes;
  return true;
}

bool wick_reader_fits(wick_reader *r, uint64_t nelem, uint64_t size)
{
  uint64_t nbytes;
  if (!wick_mul_overflows(nelem, size, &nbytes) && nbytes <= wick_reader_left(r)) return true;
  return reader_short(r, wick_reader_position(r));
}

wick_status wick_reader_status(const wick_reader *r, wick_arena *mem, const char *location)
{
  if (!r->fault) return NULL;
  return wick_fail(mem, WICK_EPARSE, location, "at byte %zu: %s", r->fault_at, r->fault);
}
