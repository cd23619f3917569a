/* Datasets and attributes. */
#include <string.h>

#include "import/hdf5/file.h"

enum { DATA_COMPACT, DATA_CONTIGUOUS, DATA_CHUNKED, DATA_VIRTUAL };

typedef struct data_parts { /* the messages of a dataset */
  wick_span type, space, layout, filters, fill, fill_old;
  bool external;
} data_parts;

static bool data_message(wick_hdf5 *f, void *arg, uint32_t type, uint32_t flags, wick_span body)
{
  data_parts *p = arg;
  wick_span *to = type == HDF5_DATATYPE    ? &p->type
                  : type == HDF5_DATASPACE ? &p->space
                  : type == HDF5_LAYOUT    ? &p->layout
                  : type == HDF5_FILTERS   ? &p->filters
                  : type == HDF5_FILL      ? &p->fill
                  : type == HDF5_FILL_OLD  ? &p->fill_old
                                           : NULL;
  if (type == HDF5_EXTERNAL) p->external = true;
  if (!to) return true;
  *to = body;
  return flags & 2 ? hdf5_shared(f, type, body, to) : true;
}

/* Sets *out to the value of elements that were never written; its size is 0 if that is 0. */
static bool data_fill(wick_hdf5 *f, const data_parts *p, wick_span *out)
{
  bool old = !p->fill.at;
  wick_span body = old ? p->fill_old : p->fill;
  wick_reader r = hdf5_reader(f, body);
  uint64_t nbytes = 0;
  *out = (wick_span){f->at, 0};
  if (!body.at) return true;
  if (!old) {
    uint32_t version = (uint32_t)hdf5_uint(&r, 1), flags = (uint32_t)hdf5_uint(&r, 1);
    bool given = flags >> 5 & 1;
    if (version < 3) {
      hdf5_uint(&r, 1);
      given = hdf5_uint(&r, 1) || version == 1;
    }
    if (given) nbytes = hdf5_uint(&r, 4);
  } else {
    nbytes = hdf5_uint(&r, 4);
  }
  if (nbytes < UINT32_MAX) *out = hdf5_span(&r, nbytes);
  return hdf5_whole(f, &r);
}

/* Makes all elements equal to the fill value. */
static bool data_filled(wick_hdf5 *f, const data_parts *p, uint64_t size, uint64_t nbytes,
                        unsigned char **out)
{
  wick_span fill;
  if (!data_fill(f, p, &fill) || !hdf5_take(f, 0, nbytes, out)) return false;
  memset(*out, 0, (size_t)nbytes);
  for (uint64_t i = 0; fill.nbytes == size && i + size <= nbytes; i += size)
    memcpy(*out + i, fill.at, (size_t)size);
  return true;
}

static bool data_read_chunks(wick_hdf5 *f, const data_parts *p, uint32_t version, wick_reader *r,
                             hdf5_chunks *c, uint64_t nbytes, wick_span *raw)
{
  hdf5_filters filters;
  if (!hdf5_filters_read(f, p->filters, &filters)) return false;
  c->filters = &filters;
  if (!data_filled(f, p, c->size, nbytes, &c->to)) return false;
  *raw = (wick_span){c->to, (size_t)nbytes};
  return hdf5_chunks_read(f, version, r, c);
}

/* Sets *raw to the elements as the file has them. */
static bool data_read(wick_hdf5 *f, const data_parts *p, const hdf5_type *t,
                      const wick_hdf5_array *a, wick_span *raw)
{
  wick_reader r = hdf5_reader(f, p->layout), block;
  uint64_t begin = wick_reader_position(&r), nbytes = a->nelem * t->size;
  uint32_t version = (uint32_t)hdf5_uint(&r, 1), nsize = 0;
  hdf5_chunks c = {.array = a, .size = t->size};
  if (version < 3) nsize = (uint32_t)hdf5_uint(&r, 1);
  uint32_t class = (uint32_t)hdf5_uint(&r, 1);
  if (version < 3) hdf5_uint(&r, 5);
  if (!hdf5_whole(f, &r)) return false;
  if (version < 1 || version > 5 || class > DATA_VIRTUAL)
    return hdf5_refuse(f, begin, WICK_EUNSUPPORTED, "a layout of version %u is not known", version);
  if (class == DATA_VIRTUAL || p->external)
    return hdf5_refuse(f, begin, WICK_EUNSUPPORTED, "its data is in other files");
  c.rank = nsize;
  if (class == DATA_CHUNKED) return data_read_chunks(f, p, version, &r, &c, nbytes, raw);
  if (class == DATA_COMPACT) {
    hdf5_span(&r, version < 3 ? 4 * (uint64_t)nsize : 0);
    *raw = hdf5_span(&r, hdf5_uint(&r, version < 3 ? 4 : 2));
    if (!hdf5_whole(f, &r)) return false;
    if (raw->nbytes < nbytes) return hdf5_refuse(f, begin, WICK_EPARSE, "its data is too short");
    raw->nbytes = (size_t)nbytes;
    return true;
  }
  uint64_t at = hdf5_address(f, &r);
  if (!hdf5_whole(f, &r)) return false;
  if (at == HDF5_NOWHERE) { /* never written */
    unsigned char *to;
    if (!data_filled(f, p, t->size, nbytes, &to)) return false;
    *raw = (wick_span){to, (size_t)nbytes};
    return true;
  }
  if (!hdf5_block(f, at, nbytes, &block)) return false;
  *raw = (wick_span){block.at, (size_t)nbytes};
  return true;
}

/* Reads the type and the dataspace, and checks the number of bytes. */
static bool data_describe(wick_hdf5 *f, wick_span type, wick_span space, hdf5_type *t,
                          wick_hdf5_array *out)
{
  wick_reader r = hdf5_reader(f, type), s = hdf5_reader(f, space);
  uint64_t nbytes;
  if (!hdf5_type_read(f, &r, t) || !hdf5_space_read(f, &s, out)) return false;
  if (wick_mul_overflows(out->nelem, (uint64_t)t->size, &nbytes) || nbytes > SIZE_MAX / 2)
    return hdf5_refuse(f, wick_reader_position(&s), WICK_EPARSE, "its data is too large");
  return true;
}

wick_status wick_hdf5_read(wick_hdf5 *f, wick_hdf5_object dataset, wick_hdf5_array *out)
{
  data_parts p = {0};
  hdf5_type t;
  wick_span raw;
  hdf5_begin(f);
  *out = (wick_hdf5_array){0};
  if (!hdf5_messages(f, dataset.at, data_message, &p) || f->bad) return f->bad;
  if (!p.type.at || !p.space.at || !p.layout.at) {
    (void)hdf5_refuse(f, dataset.at, WICK_EPARSE, "this is no dataset");
    return f->bad;
  }
  (void)(data_describe(f, p.type, p.space, &t, out) && data_read(f, &p, &t, out, &raw) &&
         hdf5_finish(f, &t, raw, out));
  return f->bad;
}

/* ---- attributes ---- */

typedef struct data_attribute {
  const char *name;
  bool found;
  wick_hdf5_array *out;
  wick_span info; /* of dense attributes */
  hdf5_fractal heap;
} data_attribute;

/* A part of an attribute: its type or its dataspace. */
static bool data_part(wick_hdf5 *f, wick_span s, uint32_t type, bool shared, wick_span *out)
{
  *out = s;
  return !shared || hdf5_shared(f, type, s, out);
}

static bool data_attribute_read(wick_hdf5 *f, data_attribute *a, wick_span body)
{
  wick_reader r = hdf5_reader(f, body);
  uint64_t at = wick_reader_position(&r);
  uint32_t version = (uint32_t)hdf5_uint(&r, 1), flags = (uint32_t)hdf5_uint(&r, 1);
  uint64_t nname = hdf5_uint(&r, 2), ntype = hdf5_uint(&r, 2), nspace = hdf5_uint(&r, 2);
  hdf5_uint(&r, version == 3 ? 1 : 0);
  uint64_t pad = version == 1 ? 7 : 0;
  wick_span name = hdf5_span(&r, (nname + pad) & ~pad);
  wick_span type = hdf5_span(&r, (ntype + pad) & ~pad),
            space = hdf5_span(&r, (nspace + pad) & ~pad);
  if (!hdf5_whole(f, &r)) return false;
  if (version < 1 || version > 3) return hdf5_refuse(f, at, WICK_EPARSE, "an attribute is damaged");
  if (version == 1) flags = 0;
  size_t n = strlen(a->name);
  if (strnlen((const char *)name.at, name.nbytes) != n || memcmp(name.at, a->name, n) != 0)
    return true; /* another one */
  hdf5_type t;
  if (!data_part(f, type, HDF5_DATATYPE, flags & 1, &type) ||
      !data_part(f, space, HDF5_DATASPACE, flags >> 1 & 1, &space) ||
      !data_describe(f, type, space, &t, a->out))
    return false;
  wick_span raw = hdf5_span(&r, a->out->nelem * t.size);
  a->found = hdf5_whole(f, &r) && hdf5_finish(f, &t, raw, a->out);
  return false;
}

static bool data_attribute_message(wick_hdf5 *f, void *arg, uint32_t type, uint32_t flags,
                                   wick_span body)
{
  data_attribute *a = arg;
  if (type == HDF5_ATTRIBUTE_INFO) a->info = body;
  if (type != HDF5_ATTRIBUTE) return true;
  if (flags & 2 && !hdf5_shared(f, type, body, &body)) return false;
  return data_attribute_read(f, a, body);
}

static bool data_attribute_record(wick_hdf5 *f, void *arg, wick_reader *record)
{
  data_attribute *a = arg;
  wick_span body, id = hdf5_span(record, 8);
  uint32_t flags = (uint32_t)hdf5_uint(record, 1);
  if (!hdf5_whole(f, record)) return false;
  if (flags & 2)
    return hdf5_refuse(f, 0, WICK_EUNSUPPORTED, "messages in a shared heap are not supported");
  return hdf5_fractal_get(f, &a->heap, id, &body) && data_attribute_read(f, a, body);
}

static bool data_attribute_dense(wick_hdf5 *f, data_attribute *a)
{
  wick_reader r = hdf5_reader(f, a->info);
  hdf5_uint(&r, 1);
  uint32_t flags = (uint32_t)hdf5_uint(&r, 1);
  hdf5_uint(&r, flags & 1 ? 2 : 0);
  uint64_t heap = hdf5_address(f, &r), names = hdf5_address(f, &r);
  if (!hdf5_whole(f, &r)) return false;
  return heap == HDF5_NOWHERE || (hdf5_fractal_open(f, heap, &a->heap) &&
                                  hdf5_btree(f, names, 8, data_attribute_record, a));
}

wick_status wick_hdf5_attribute(wick_hdf5 *f, wick_hdf5_object o, const char *name, bool *found,
                                wick_hdf5_array *out)
{
  data_attribute a = {.name = name, .out = out};
  hdf5_begin(f);
  *out = (wick_hdf5_array){0};
  if (hdf5_messages(f, o.at, data_attribute_message, &a) && !a.found && !f->bad && a.info.at)
    (void)data_attribute_dense(f, &a);
  *found = a.found;
  return f->bad;
}
