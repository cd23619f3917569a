/* Types are completed in two steps, because they refer to each other: first all of a list are made,
 * then their bytes are written. */
#include "runtime/datatype.h"

#include <string.h>

#include "runtime/heap.h"
#include "runtime/put.h"

typedef struct datatype {
  wick_datatype type;
  wick_span bytes; /* wick_datatype_bytes */
} datatype;

wick_datatype *wick_datatype_make(const char *name, wick_arena *mem)
{
  datatype *t = wick_new(mem, datatype, 1);
  t->type.name = wick_str_dup(mem, name);
  return &t->type;
}

/* Bits of an element in memory. */
static uint64_t datatype_bits(wick_elem e)
{
  switch (e) {
  case WICK_C128: return 128;
  case WICK_F64:
  case WICK_I64:
  case WICK_U64:
  case WICK_C64: return 64;
  case WICK_F32:
  case WICK_I32:
  case WICK_U32: return 32;
  case WICK_F16:
  case WICK_BF16:
  case WICK_I16:
  case WICK_U16: return 16;
  case WICK_F4E2M1:
  case WICK_I4:
  case WICK_U4: return 4;
  case WICK_I2:
  case WICK_U2: return 2;
  default: return e == WICK_STRING || e >= WICK_NELEM ? 0 : 8;
  }
}

bool wick_datatype_tensor(wick_elem elem, uint32_t rank, const int64_t *dim, wick_io *out)
{
  uint64_t n = datatype_bits(elem);
  out->elem = elem, out->rank = rank;
  bool good = n > 0 && rank <= WICK_MAX_DIMS;
  for (uint32_t k = 0; k < rank && good; k++) {
    out->dim[k] = dim[k], out->dim_name[k] = "";
    good = dim[k] >= 0 && !wick_mul_overflows(n, (uint64_t)dim[k], &n) && n < (uint64_t)1 << 40;
  }
  out->nbytes = (n + 7) / 8;
  return good;
}

/* ---- lists ---- */

uint32_t wick_datatype_number(const wick_datatype_list *list, const wick_datatype *t)
{
  uint32_t i = 0;
  while (t && i < list->n && list->at[i] != t) i++;
  return t ? i + 1 : 0;
}

static void datatype_add(wick_datatype_list *list, const wick_datatype *t, wick_arena *mem)
{
  if (t && wick_datatype_number(list, t) > list->n)
    wick_push(mem, list, (wick_datatype *)(uintptr_t)t);
}

void wick_datatype_reach(wick_datatype_list *list, const wick_datatype *t, wick_arena *mem)
{
  uint32_t from = list->n;
  datatype_add(list, t, mem);
  for (uint32_t i = from; i < list->n; i++) {
    const wick_datatype *d = list->at[i];
    for (uint32_t k = 0; k < d->nconstructor; k++)
      for (uint32_t f = 0; f < d->constructor[k].nfield; f++)
        datatype_add(list, d->constructor[k].field[f].data, mem);
  }
}

void wick_datatypes_end(const wick_datatype_list *list, wick_arena *mem)
{
  for (uint32_t i = 0; i < list->n; i++) {
    wick_datatype_list all = {0};
    wick_text t = wick_text_begin(mem);
    wick_datatype_reach(&all, list->at[i], mem);
    wick_datatypes_write(&all, &t);
    ((datatype *)list->at[i])->bytes = (wick_span){(const unsigned char *)t.at, t.n};
  }
}

wick_span wick_datatype_bytes(const wick_datatype *t) { return ((const datatype *)t)->bytes; }

bool wick_datatype_same(const wick_datatype *a, const wick_datatype *b)
{
  wick_span x = wick_datatype_bytes(a), y = wick_datatype_bytes(b);
  return a == b || (x.nbytes == y.nbytes && memcmp(x.at, y.at, x.nbytes) == 0);
}

/* ---- writing ---- */

void wick_parts_write(wick_text *t, uint32_t n, const wick_part *part)
{
  wick_put_u32(t, n);
  for (uint32_t i = 0; i < n; i++) {
    wick_put_str(t, part[i].name);
    wick_put_str(t, part[i].type);
    wick_put_u32(t, part[i].leaf);
    wick_put_u32(t, part[i].nitem);
  }
}

static void datatype_write_field(const wick_datatype_list *list, const wick_io *io, wick_text *t)
{
  wick_put_str(t, io->name);
  wick_put_u32(t, wick_datatype_number(list, io->data));
  if (io->data) return;
  wick_put_u32(t, (uint32_t)io->elem);
  wick_put_u32(t, io->rank);
  for (uint32_t k = 0; k < io->rank; k++) wick_put_u64(t, (uint64_t)io->dim[k]);
}

void wick_datatypes_write(const wick_datatype_list *list, wick_text *t)
{
  wick_put_u32(t, list->n);
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_datatype *d = list->at[i];
    wick_put_str(t, d->name);
    wick_put_u32(t, d->nconstructor);
    for (uint32_t k = 0; k < d->nconstructor; k++) {
      const wick_constructor *c = &d->constructor[k];
      wick_put_str(t, c->name);
      wick_put_u32(t, c->nfield);
      for (uint32_t f = 0; f < c->nfield; f++) datatype_write_field(list, &c->field[f], t);
      wick_parts_write(t, c->npart, c->part);
    }
  }
}

/* ---- reading ---- */

/* Reads one part and all that follow as its items. */
static bool datatype_parts_fit(uint32_t n, const wick_part *part, uint32_t nleaf)
{
  uint64_t due = 1, leaves = 0; /* the parts that are still to follow */
  for (uint32_t i = 0; i < n; i++) {
    if (!due || (part[i].leaf && part[i].nitem)) return false;
    due += (uint64_t)part[i].nitem - 1;
    leaves += part[i].leaf;
  }
  return !due && leaves == nleaf;
}

bool wick_parts_read(wick_reader *r, wick_arena *mem, uint32_t nleaf, uint32_t *n,
                     const wick_part **out)
{
  if (!wick_get_count(r, 16, n)) return false;
  wick_part *part = wick_new(mem, wick_part, *n + 1u);
  for (uint32_t i = 0; i < *n; i++) {
    uint32_t leaf;
    if (!wick_get_str(r, mem, &part[i].name) || !wick_get_str(r, mem, &part[i].type) ||
        !wick_read_u32(r, &leaf) || !wick_read_u32(r, &part[i].nitem))
      return false;
    part[i].leaf = leaf != 0;
  }
  *out = part;
  if (!*n || datatype_parts_fit(*n, part, nleaf)) return true;
  return wick_reader_refuse(r, wick_reader_position(r), "parts are not described correctly");
}

static bool datatype_read_field(wick_reader *r, wick_arena *mem, const wick_datatype_list *list,
                                wick_io *io)
{
  uint32_t data, elem, rank;
  int64_t dim[WICK_MAX_DIMS];
  if (!wick_get_str(r, mem, &io->name) || !wick_read_u32(r, &data)) return false;
  if (data > list->n)
    return wick_reader_refuse(r, wick_reader_position(r), "there is no such data type");
  if (data) {
    io->data = list->at[data - 1];
    return wick_datatype_tensor(WICK_I64, 0, NULL, io);
  }
  if (!wick_read_u32(r, &elem) || !wick_read_u32(r, &rank)) return false;
  for (uint32_t k = 0; k < rank && k < WICK_MAX_DIMS; k++)
    if (!wick_get_i64(r, &dim[k])) return false;
  return (elem < WICK_NELEM && wick_datatype_tensor((wick_elem)elem, rank, dim, io)) ||
         wick_reader_refuse(r, wick_reader_position(r), "a field is not described correctly");
}

static bool datatype_read_constructor(wick_reader *r, wick_arena *mem,
                                      const wick_datatype_list *list, wick_constructor *c)
{
  if (!wick_get_str(r, mem, &c->name) || !wick_get_count(r, 8, &c->nfield)) return false;
  wick_io *field = wick_new(mem, wick_io, c->nfield + 1u);
  c->field = field;
  for (uint32_t f = 0; f < c->nfield; f++)
    if (!datatype_read_field(r, mem, list, &field[f])) return false;
  if (!wick_parts_read(r, mem, c->nfield, &c->npart, &c->part)) return false;
  return wick_datatype_refs(c) <= WICK_OBJECT_MOST_REFS ||
         wick_reader_refuse(r, wick_reader_position(r), "a constructor has too many fields");
}

bool wick_datatypes_read(wick_reader *r, wick_arena *mem, wick_datatype_list *out)
{
  uint32_t n;
  *out = (wick_datatype_list){0};
  if (!wick_get_count(r, 8, &n)) return false;
  for (uint32_t i = 0; i < n; i++) wick_push(mem, out, wick_datatype_make("", mem));
  for (uint32_t i = 0; i < n; i++) {
    wick_datatype *d = out->at[i];
    if (!wick_get_str(r, mem, &d->name) || !wick_get_count(r, 12, &d->nconstructor)) return false;
    if (d->nconstructor > WICK_OBJECT_MOST_TAG)
      return wick_reader_refuse(r, wick_reader_position(r), "a type has too many constructors");
    wick_constructor *c = wick_new(mem, wick_constructor, d->nconstructor + 1u);
    d->constructor = c;
    for (uint32_t k = 0; k < d->nconstructor; k++)
      if (!datatype_read_constructor(r, mem, out, &c[k])) return false;
  }
  wick_datatypes_end(out, mem);
  return true;
}

/* ---- blocks ---- */

enum { DATATYPE_OBJECT, DATATYPE_NUMBER, DATATYPE_TENSOR, DATATYPE_END };

static int datatype_kind(const wick_io *io)
{
  return io->data ? DATATYPE_OBJECT : io->rank ? DATATYPE_TENSOR : DATATYPE_NUMBER;
}

/* The words of the fields before one of this kind and index. */
static uint64_t datatype_before(const wick_constructor *c, int kind, uint32_t field)
{
  uint64_t at = 0;
  for (uint32_t i = 0; i < c->nfield; i++) {
    int other = datatype_kind(&c->field[i]);
    if (other < kind || (other == kind && i < field))
      at += other == DATATYPE_OBJECT ? 1 : wick_max_u64(1, (c->field[i].nbytes + 7) / 8);
  }
  return at;
}

uint64_t wick_datatype_word(const wick_constructor *c, uint32_t field)
{
  return datatype_before(c, datatype_kind(&c->field[field]), field);
}

uint64_t wick_datatype_words(const wick_constructor *c)
{
  return datatype_before(c, DATATYPE_END, 0);
}

uint64_t wick_datatype_refs(const wick_constructor *c)
{
  return datatype_before(c, DATATYPE_NUMBER, 0);
}
