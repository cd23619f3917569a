/* Types of elements, dataspaces, and the order of bytes. */
#include <string.h>

#include "import/hdf5/file.h"

enum {
  TYPE_FIXED,
  TYPE_FLOAT,
  TYPE_TIME,
  TYPE_STRING,
  TYPE_BITS,
  TYPE_OPAQUE,
  TYPE_COMPOUND,
  TYPE_REFERENCE,
  TYPE_ENUM,
  TYPE_VARIABLE,
  TYPE_ARRAY,
  TYPE_COMPLEX
};

static bool type_fixed(hdf5_type *t, uint32_t bits, wick_reader *r)
{
  uint64_t offset = hdf5_uint(r, 2), precision = hdf5_uint(r, 2);
  t->kind = bits >> 3 & 1 ? WICK_HDF5_INT : WICK_HDF5_UINT;
  t->big = bits & 1;
  return offset == 0 && precision == 8 * (uint64_t)t->size &&
         (t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8);
}

static bool type_float(hdf5_type *t, uint32_t bits, wick_reader *r)
{
  uint64_t offset = hdf5_uint(r, 2), precision = hdf5_uint(r, 2);
  hdf5_uint(r, 1);
  uint64_t exponent = hdf5_uint(r, 1);
  t->big = bits & 1;
  t->kind = t->size == 2 && exponent == 8 ? WICK_HDF5_BFLOAT : WICK_HDF5_FLOAT;
  if (offset != 0 || precision != 8 * (uint64_t)t->size || (bits >> 6 & 1)) return false;
  return t->kind == WICK_HDF5_BFLOAT || (t->size == 2 && exponent == 5) ||
         (t->size == 4 && exponent == 8) || (t->size == 8 && exponent == 11);
}

bool hdf5_type_read(wick_hdf5 *f, wick_reader *r, hdf5_type *out)
{
  static const char *const name[] = {"integers",   "floats",   "times",     "strings",
                                     "bit fields", "opaque",   "compounds", "references",
                                     "enums",      "variable", "arrays",    "complex numbers"};
  uint64_t at = wick_reader_position(r);
  uint32_t first = (uint32_t)hdf5_uint(r, 1), class = first & 15, bits = (uint32_t)hdf5_uint(r, 3);
  *out = (hdf5_type){.size = (uint32_t)hdf5_uint(r, 4)};
  if (!hdf5_whole(f, r)) return false;
  bool good = out->size > 0 && out->size <= 1u << 30;
  switch (class) {
  case TYPE_FIXED: good = good && type_fixed(out, bits, r); break;
  case TYPE_FLOAT: good = good && type_float(out, bits, r); break;
  case TYPE_STRING: out->kind = WICK_HDF5_STRING; break;
  case TYPE_OPAQUE: out->kind = WICK_HDF5_OPAQUE; break;
  case TYPE_VARIABLE:
    out->kind = WICK_HDF5_STRINGS;
    good = good && (bits & 15) == 1 && out->size == 8 + f->noffset;
    break;
  case TYPE_ENUM: { /* booleans */
    hdf5_type base;
    uint32_t inner = wick_reader_left(r) ? *r->at & 15 : TYPE_ENUM;
    if (inner != TYPE_FIXED || !hdf5_type_read(f, r, &base)) {
      good = false;
      break;
    }
    good = good && base.size == out->size;
    base.truth = true;
    *out = base;
    break;
  }
  default: good = false;
  }
  if (!hdf5_whole(f, r)) return false;
  if (!good)
    return hdf5_refuse(f, at, WICK_EUNSUPPORTED, "its elements (%s of %u bytes) are not supported",
                       class < WICK_COUNT(name) ? name[class] : "an unknown class", out->size);
  return true;
}

bool hdf5_space_read(wick_hdf5 *f, wick_reader *r, wick_hdf5_array *out)
{
  uint64_t at = wick_reader_position(r);
  uint32_t version = (uint32_t)hdf5_uint(r, 1), rank = (uint32_t)hdf5_uint(r, 1);
  uint32_t flags = (uint32_t)hdf5_uint(r, 1), type = 1;
  if (version == 2)
    type = (uint32_t)hdf5_uint(r, 1);
  else
    hdf5_span(r, 5);
  if (version != 1 && version != 2)
    return hdf5_refuse(f, at, WICK_EPARSE, "a dataspace is damaged");
  if (rank > WICK_HDF5_RANK)
    return hdf5_refuse(f, at, WICK_EPARSE, "a dataspace has %u dimensions", rank);
  out->rank = rank;
  out->nelem = type == 2 ? 0 : 1; /* 2: there is no data */
  for (uint32_t i = 0; i < rank; i++) {
    out->dim[i] = hdf5_length(f, r);
    if (wick_mul_overflows(out->nelem, out->dim[i], &out->nelem))
      return hdf5_refuse(f, at, WICK_EPARSE, "a dataspace is too large");
  }
  for (uint32_t i = 0; i < rank; i++) {
    out->most[i] = flags & 1 ? hdf5_length(f, r) : out->dim[i];
    if (flags & 1 && out->most[i] == UINT64_MAX >> (64 - 8 * f->nlength)) out->most[i] = UINT64_MAX;
  }
  return hdf5_whole(f, r);
}

bool hdf5_shared(wick_hdf5 *f, uint32_t type, wick_span body, wick_span *out)
{
  wick_reader r = hdf5_reader(f, body);
  uint64_t at = wick_reader_position(&r);
  uint32_t version = (uint32_t)hdf5_uint(&r, 1), kind = (uint32_t)hdf5_uint(&r, 1);
  hdf5_uint(&r, version == 1 ? 6 : 0);
  uint64_t header = hdf5_address(f, &r);
  *out = (wick_span){NULL, 0};
  if (!hdf5_whole(f, &r)) return false;
  if (version < 1 || version > 3 || kind == 1)
    return hdf5_refuse(f, at, WICK_EUNSUPPORTED, "messages in a shared heap are not supported");
  if (f->depth++) return hdf5_refuse(f, at, WICK_EPARSE, "shared messages form a chain");
  bool good = hdf5_message(f, header, type, out);
  f->depth--;
  if (good && !out->at) return hdf5_refuse(f, header, WICK_EPARSE, "a shared message is missing");
  return good;
}

bool hdf5_take(wick_hdf5 *f, uint64_t at, uint64_t nbytes, unsigned char **out)
{
  *out = NULL;
  if (nbytes > f->expanded)
    return hdf5_refuse(f, at, WICK_ELIMIT,
                       "the data is %llu bytes when decompressed, too many for the file's size",
                       (unsigned long long)nbytes);
  f->expanded -= nbytes;
  *out = wick_arena_raw(f->mem, (size_t)nbytes + 1, 64);
  return true;
}

bool hdf5_finish(wick_hdf5 *f, const hdf5_type *t, wick_span raw, wick_hdf5_array *out)
{
  out->kind = t->kind, out->size = t->size, out->truth = t->truth;
  out->data = raw;
  out->at = (uint64_t)(raw.at - f->at) < f->nbytes ? (uint64_t)(raw.at - f->at) : 0;
  if (!t->big || t->size == 1) return true;
  unsigned char *to;
  if (!hdf5_take(f, out->at, raw.nbytes, &to)) return false;
  for (size_t i = 0; i + t->size <= raw.nbytes; i += t->size)
    for (size_t k = 0; k < t->size; k++) to[i + k] = raw.at[i + t->size - 1 - k];
  out->data.at = to;
  return true;
}

wick_status wick_hdf5_string(wick_hdf5 *f, const wick_hdf5_array *a, uint64_t i, wick_span *out)
{
  hdf5_begin(f);
  *out = (wick_span){a->data.at, 0};
  if (i >= a->nelem || (a->kind != WICK_HDF5_STRING && a->kind != WICK_HDF5_STRINGS)) {
    (void)hdf5_refuse(f, a->at, WICK_EPARSE, "there is no string %llu", (unsigned long long)i);
    return f->bad;
  }
  wick_span item = {a->data.at + i * a->size, a->size};
  if (a->kind == WICK_HDF5_STRING) {
    while (item.nbytes && item.at[item.nbytes - 1] == 0) item.nbytes--;
    *out = item;
    return NULL;
  }
  wick_reader r = {.start = item.at, .at = item.at, .end = item.at + item.nbytes};
  uint64_t n = hdf5_uint(&r, 4), heap = hdf5_address(f, &r), index = hdf5_uint(&r, 4);
  if (!n || !index) return NULL; /* an empty string has no object */
  if (!hdf5_global(f, heap, index, out)) return f->bad;
  if (out->nbytes > n) out->nbytes = (size_t)n;
  return NULL;
}
