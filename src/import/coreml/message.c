/* Messages by the table of their fields. */
#include "import/coreml/message.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static const wick_coreml_type *message_type(const wick_coreml_type *types, const char *name,
                                            size_t n)
{
  for (size_t i = 0; i < wick_coreml_nschema; i++)
    if (strncmp(types[i].name, name, n) == 0 && !types[i].name[n]) return &types[i];
  return NULL;
}

typedef wick_list(wick_coreml_field) message_list;

/* Parses the words NAME=NUMBERkind or NAME=NUMBERm:TYPE. */
static void message_fields(wick_arena *mem, const wick_coreml_type *types, const char *at,
                           message_list *list)
{
  while (*at) {
    wick_coreml_field f = {.name = at, .nname = strcspn(at, "=")};
    char *end;
    f.number = (uint32_t)strtoul(at + f.nname + 1, &end, 10);
    f.kind = *end++;
    if (*end == ':') {
      size_t n = strcspn(++end, " ");
      f.type = message_type(types, end, n);
      end += n;
    }
    wick_push(mem, list, f);
    at = end + (*end == ' ');
  }
}

const wick_coreml_type *wick_coreml_types(wick_arena *mem)
{
  wick_coreml_type *types = wick_new(mem, wick_coreml_type, wick_coreml_nschema);
  for (size_t i = 0; i < wick_coreml_nschema; i++) types[i].name = wick_coreml_schemas[i].name;
  for (size_t i = 0; i < wick_coreml_nschema; i++) {
    message_list list = {0};
    message_fields(mem, types, wick_coreml_schemas[i].fields, &list);
    if (wick_coreml_schemas[i].more) message_fields(mem, types, wick_coreml_schemas[i].more, &list);
    types[i].n = list.n, types[i].field = list.at;
  }
  return message_type(types, "Model", 5);
}

const wick_coreml_field *wick_coreml_field_of(const wick_coreml_message *m, const char *name)
{
  size_t n = strlen(name);
  for (uint32_t i = 0; m->type && i < m->type->n; i++)
    if (m->type->field[i].nname == n && memcmp(m->type->field[i].name, name, n) == 0)
      return &m->type->field[i];
  return NULL;
}

/* ---- records ---- */

enum { MESSAGE_VARINT, MESSAGE_FIXED64, MESSAGE_LENGTH, MESSAGE_FIXED32 = 5 };

typedef struct message_record {
  uint64_t number, value; /* value: of a varint */
  int wire;
  wick_span span; /* the payload, or the bytes of a number */
  size_t position;
} message_record;

static bool message_next(wick_reader *r, message_record *out)
{
  uint64_t tag, n;
  *out = (message_record){.position = wick_reader_position(r)};
  if (!wick_reader_left(r) || !wick_read_varint(r, &tag)) return false;
  out->number = tag >> 3, out->wire = (int)(tag & 7);
  const unsigned char *at = r->at;
  switch (out->wire) {
  case MESSAGE_VARINT:
    if (!wick_read_varint(r, &out->value)) return false;
    out->span = (wick_span){at, (size_t)(r->at - at)};
    return true;
  case MESSAGE_FIXED64: return wick_read_span(r, 8, &out->span);
  case MESSAGE_FIXED32: return wick_read_span(r, 4, &out->span);
  case MESSAGE_LENGTH: return wick_read_varint(r, &n) && wick_read_span(r, n, &out->span);
  default: return wick_reader_refuse(r, out->position, "there is no such wire type");
  }
}

static int message_wire(char kind)
{
  switch (tolower(kind)) {
  case 'i': return MESSAGE_VARINT;
  case 'f': return MESSAGE_FIXED32;
  case 'd': return MESSAGE_FIXED64;
  default: return MESSAGE_LENGTH;
  }
}

/* A repeated number may be packed: its payload is the elements. Returns false if that does not
 * fit. */
static bool message_packed_fits(char kind, wick_span s)
{
  if (kind == 'F') return s.nbytes % 4 == 0;
  if (kind == 'D') return s.nbytes % 8 == 0;
  wick_reader r = wick_reader_make(s.at, s.nbytes);
  uint64_t v;
  while (wick_reader_left(&r))
    if (!wick_read_varint(&r, &v)) return false;
  return !r.fault;
}

static const wick_coreml_field *message_by_number(const wick_coreml_type *t, uint64_t number)
{
  for (uint32_t i = 0; t && i < t->n; i++)
    if (t->field[i].number == number) return &t->field[i];
  return NULL;
}

/* ---- the check ---- */

static wick_status message_refuse(const wick_coreml_type *t, const wick_coreml_field *f,
                                  const message_record *rec, wick_arena *mem, const char *location)
{
  int want = message_wire(f->kind);
  if (rec->wire == want || (rec->wire == MESSAGE_LENGTH && isupper((unsigned char)f->kind)))
    return wick_fail(mem, WICK_EPARSE, location, "at byte %zu: the numbers of %s.%.*s do not fit",
                     rec->position, t->name, (int)f->nname, f->name);
  return wick_fail(mem, WICK_EPARSE, location, "at byte %zu: %s.%.*s has wire type %d, expected %d",
                   rec->position, t->name, (int)f->nname, f->name, rec->wire, want);
}

static bool message_fits(const wick_coreml_field *f, const message_record *rec)
{
  int want = message_wire(f->kind);
  bool packed = isupper((unsigned char)f->kind) && want != MESSAGE_LENGTH;
  if (packed && rec->wire == MESSAGE_LENGTH) return message_packed_fits(f->kind, rec->span);
  return rec->wire == want;
}

wick_status wick_coreml_check(const wick_coreml_message *m, wick_arena *mem, const char *location)
{
  struct {
    wick_reader r;
    const wick_coreml_type *type;
  } open[WICK_READER_DEPTH];
  uint32_t n = 1;
  open[0].r = wick_reader_make(m->bytes.at, m->bytes.nbytes), open[0].type = m->type;
  while (n) {
    wick_reader *r = &open[n - 1].r;
    const wick_coreml_type *type = open[n - 1].type;
    message_record rec;
    if (!wick_reader_left(r) && !r->fault) {
      n--;
      continue;
    }
    if (!message_next(r, &rec)) return wick_reader_status(r, mem, location);
    const wick_coreml_field *f = message_by_number(type, rec.number);
    if (!f) continue;
    if (!message_fits(f, &rec)) return message_refuse(type, f, &rec, mem, location);
    if (!f->type) continue;
    if (n == WICK_READER_DEPTH)
      return wick_fail(mem, WICK_ELIMIT, location,
                       "at byte %zu: messages are nested more than %d deep", rec.position,
                       WICK_READER_DEPTH);
    open[n].r = wick_reader_make(rec.span.at, rec.span.nbytes);
    if (rec.span.at) open[n].r.start = m->bytes.at;
    open[n++].type = f->type;
  }
  return NULL;
}

/* ---- fields ---- */

/* Finds the last record of a field. */
static bool message_last(const wick_coreml_message *m, const char *name, message_record *out)
{
  const wick_coreml_field *f = wick_coreml_field_of(m, name);
  wick_reader r = wick_reader_make(m->bytes.at, m->bytes.nbytes);
  message_record rec;
  bool found = false;
  while (f && message_next(&r, &rec))
    if (rec.number == f->number) *out = rec, found = true;
  return found;
}

bool wick_coreml_has(const wick_coreml_message *m, const char *name)
{
  message_record rec;
  return message_last(m, name, &rec);
}

int64_t wick_coreml_int(const wick_coreml_message *m, const char *name, int64_t otherwise)
{
  message_record rec;
  return message_last(m, name, &rec) ? (int64_t)rec.value : otherwise;
}

static double message_real(wick_span s, size_t nbytes)
{
  wick_reader r = wick_reader_make(s.at, nbytes);
  float f = 0;
  double d = 0;
  bool good = nbytes == 4 ? wick_read_f32(&r, &f) : wick_read_f64(&r, &d);
  return !good ? 0 : nbytes == 4 ? (double)f : d;
}

double wick_coreml_real(const wick_coreml_message *m, const char *name, double otherwise)
{
  message_record rec;
  return message_last(m, name, &rec) ? message_real(rec.span, rec.span.nbytes) : otherwise;
}

wick_span wick_coreml_bytes(const wick_coreml_message *m, const char *name)
{
  static const unsigned char nothing[1];
  message_record rec;
  if (!message_last(m, name, &rec)) return (wick_span){0};
  return rec.span.at ? rec.span : (wick_span){nothing, 0};
}

wick_coreml_message wick_coreml_part(const wick_coreml_message *m, const char *name)
{
  const wick_coreml_field *f = wick_coreml_field_of(m, name);
  return (wick_coreml_message){wick_coreml_bytes(m, name), f ? f->type : NULL};
}

wick_coreml_ints wick_coreml_ints_of(const wick_coreml_message *m, const char *name,
                                     wick_arena *mem)
{
  const wick_coreml_field *f = wick_coreml_field_of(m, name);
  wick_reader r = wick_reader_make(m->bytes.at, m->bytes.nbytes);
  wick_list(int64_t) list = {0};
  message_record rec;
  while (f && message_next(&r, &rec)) {
    if (rec.number != f->number) continue;
    wick_reader part = wick_reader_make(rec.span.at, rec.span.nbytes);
    uint64_t v;
    while (wick_reader_left(&part) && wick_read_varint(&part, &v))
      wick_push(mem, &list, (int64_t)v);
  }
  return (wick_coreml_ints){list.n, list.at};
}

wick_coreml_reals wick_coreml_reals_of(const wick_coreml_message *m, const char *name,
                                       wick_arena *mem)
{
  const wick_coreml_field *f = wick_coreml_field_of(m, name);
  wick_reader r = wick_reader_make(m->bytes.at, m->bytes.nbytes);
  size_t size = f && f->kind == 'D' ? 8 : 4;
  wick_list(double) list = {0};
  message_record rec;
  while (f && message_next(&r, &rec))
    for (size_t i = 0; rec.number == f->number && i + size <= rec.span.nbytes; i += size)
      wick_push(mem, &list, message_real((wick_span){rec.span.at + i, size}, size));
  return (wick_coreml_reals){list.n, list.at};
}

wick_coreml_texts wick_coreml_texts_of(const wick_coreml_message *m, const char *name,
                                       wick_arena *mem)
{
  const wick_coreml_field *f = wick_coreml_field_of(m, name);
  wick_reader r = wick_reader_make(m->bytes.at, m->bytes.nbytes);
  wick_list(wick_span) list = {0};
  message_record rec;
  while (f && message_next(&r, &rec))
    if (rec.number == f->number) wick_push(mem, &list, rec.span);
  return (wick_coreml_texts){list.n, list.at};
}

wick_coreml_messages wick_coreml_parts(const wick_coreml_message *m, const char *name,
                                       wick_arena *mem)
{
  const wick_coreml_field *f = wick_coreml_field_of(m, name);
  wick_coreml_texts t = wick_coreml_texts_of(m, name, mem);
  wick_coreml_message *at = wick_new(mem, wick_coreml_message, (size_t)t.n + 1);
  for (uint32_t i = 0; i < t.n; i++) at[i] = (wick_coreml_message){t.at[i], f->type};
  return (wick_coreml_messages){t.n, at};
}

const wick_coreml_field *wick_coreml_choice(const wick_coreml_message *m, uint32_t lo, uint32_t hi,
                                            wick_coreml_message *out)
{
  wick_reader r = wick_reader_make(m->bytes.at, m->bytes.nbytes);
  const wick_coreml_field *last = NULL;
  message_record rec;
  *out = (wick_coreml_message){0};
  while (message_next(&r, &rec)) {
    const wick_coreml_field *f =
        rec.number >= lo && rec.number <= hi ? message_by_number(m->type, rec.number) : NULL;
    if (!f || f->kind != 'm') continue;
    last = f;
    *out = (wick_coreml_message){rec.span, f->type};
  }
  return last;
}
