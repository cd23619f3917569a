/* A bounded reader of FlatBuffers. */
#include "import/tflite/flat.h"

#include <string.h>

static bool flat_refuse(wick_flat_file *f, size_t at, const char *fault)
{
  if (!f->fault) f->fault = fault, f->fault_at = at;
  return false;
}

/* Returns whether n bytes at `at` are within the file. */
static bool flat_within(wick_flat_file *f, size_t at, uint64_t n)
{
  if (f->fault) return false;
  if (at > f->bytes.nbytes || n > f->bytes.nbytes - at)
    return flat_refuse(f, at, "an offset leads out of the file");
  return true;
}

/* Reads a little-endian number; 0 outside of the file. */
static uint64_t flat_number(wick_flat_file *f, size_t at, uint32_t nbytes)
{
  uint64_t v = 0;
  if (!flat_within(f, at, nbytes)) return 0;
  for (uint32_t i = nbytes; i-- > 0;) v = v << 8 | f->bytes.at[at + i];
  return v;
}

/* Reads the offset at `at`, which is relative to itself. Returns its target, or 0 after a fault. */
static size_t flat_offset(wick_flat_file *f, size_t at)
{
  uint64_t offset = flat_number(f, at, 4);
  if (f->fault) return 0;
  if (offset < 4 || !flat_within(f, at, offset)) {
    flat_refuse(f, at, "an offset leads out of the file");
    return 0;
  }
  return at + (size_t)offset;
}

static wick_flat flat_open(wick_flat_file *f, size_t at)
{
  if (!at || f->fault) return (wick_flat){0};
  int64_t back = (int32_t)flat_number(f, at, 4), vtable = (int64_t)at - back;
  if (vtable < 0 || (uint64_t)vtable > f->bytes.nbytes) {
    flat_refuse(f, at, "a table's list of fields is outside of the file");
    return (wick_flat){0};
  }
  uint64_t nbytes = flat_number(f, (size_t)vtable, 2);
  if (nbytes < 4 || !flat_within(f, (size_t)vtable, nbytes)) {
    flat_refuse(f, at, "a table's list of fields is outside of the file");
    return (wick_flat){0};
  }
  return (wick_flat){f, at, (size_t)vtable, (uint32_t)(nbytes / 2 - 2)};
}

wick_flat wick_flat_root(wick_flat_file *file) { return flat_open(file, flat_offset(file, 0)); }

/* Returns the position of a field of nbytes, or 0 if it is absent. */
static size_t flat_field(wick_flat t, uint32_t field, uint32_t nbytes)
{
  if (!t.file || field >= t.nfield) return 0;
  uint64_t offset = flat_number(t.file, t.vtable + 4 + 2 * (size_t)field, 2);
  if (!offset || !flat_within(t.file, t.at, offset + nbytes)) return 0;
  return t.at + (size_t)offset;
}

static int64_t flat_signed(uint64_t v, uint32_t nbytes)
{
  uint32_t unused = 64 - 8 * nbytes;
  return (int64_t)(v << unused) >> unused;
}

uint64_t wick_flat_uint(wick_flat t, uint32_t field, uint32_t nbytes, uint64_t otherwise)
{
  size_t at = flat_field(t, field, nbytes);
  return at ? flat_number(t.file, at, nbytes) : otherwise;
}

int64_t wick_flat_int(wick_flat t, uint32_t field, uint32_t nbytes, int64_t otherwise)
{
  size_t at = flat_field(t, field, nbytes);
  return at ? flat_signed(flat_number(t.file, at, nbytes), nbytes) : otherwise;
}

static float flat_f32(uint64_t bits)
{
  uint32_t word = (uint32_t)bits;
  float v;
  memcpy(&v, &word, sizeof v);
  return v;
}

float wick_flat_f32(wick_flat t, uint32_t field, float otherwise)
{
  size_t at = flat_field(t, field, 4);
  return at ? flat_f32(flat_number(t.file, at, 4)) : otherwise;
}

wick_flat wick_flat_table(wick_flat t, uint32_t field)
{
  size_t at = flat_field(t, field, 4);
  return at ? flat_open(t.file, flat_offset(t.file, at)) : (wick_flat){0};
}

wick_flat_list wick_flat_vector(wick_flat t, uint32_t field, uint32_t element_bytes)
{
  size_t at = flat_field(t, field, 4), list = at ? flat_offset(t.file, at) : 0;
  if (!list) return (wick_flat_list){0};
  uint64_t n = flat_number(t.file, list, 4);
  if (!flat_within(t.file, list + 4, n * element_bytes)) return (wick_flat_list){0};
  return (wick_flat_list){t.file, list + 4, (uint32_t)n};
}

wick_span wick_flat_bytes(wick_flat t, uint32_t field)
{
  wick_flat_list l = wick_flat_vector(t, field, 1);
  return l.file ? (wick_span){l.file->bytes.at + l.at, l.n} : (wick_span){0};
}

wick_flat wick_flat_item(wick_flat_list l, uint32_t i)
{
  return flat_open(l.file, flat_offset(l.file, l.at + 4 * (size_t)i));
}

int64_t wick_flat_item_int(wick_flat_list l, uint32_t i, uint32_t nbytes)
{
  return flat_signed(flat_number(l.file, l.at + (size_t)nbytes * i, nbytes), nbytes);
}

float wick_flat_item_f32(wick_flat_list l, uint32_t i)
{
  return flat_f32(flat_number(l.file, l.at + 4 * (size_t)i, 4));
}
