/* The table-driven reader of protobuf messages. It walks over each message twice: first to count
 * repeated fields, then to store values in arrays of exactly that size. */
#include "import/wire.h"

#include <string.h>

typedef enum wire_type {
  WIRE_VARINT,
  WIRE_FIXED64,
  WIRE_LENGTH,
  WIRE_BEGIN,
  WIRE_END,
  WIRE_FIXED32
} wire_type;

/* One field as it is encoded. The span has the bytes that the packed form would have: a varint, 4
 * or 8 bytes, or the payload. */
typedef struct wire_record {
  uint64_t number;
  wire_type type;
  size_t position; /* of its tag */
  uint64_t value;  /* for a varint only */
  wick_span span;
} wire_record;

typedef struct wire_decoder {
  wick_arena *mem;
  const char *location;
  const unsigned char *start; /* of the input */
  uint64_t budget_bytes;      /* memory that structs may still use */
} wire_decoder;

/* The occurrences of one message. The reader merges them. */
typedef struct wire_pieces {
  const wick_span *at;
  size_t n;
} wire_pieces;

/* The common layout of struct {T *at; size_t n;} for any T. */
typedef struct wire_array {
  void *at;
  size_t n;
} wire_array;
_Static_assert(sizeof(wire_array) == sizeof(wick_wire_i64s) &&
                   sizeof(wire_array) == sizeof(wick_wire_f32s) &&
                   sizeof(wire_array) == sizeof(wick_wire_spans),
               "arrays of all element types have one form");

static wick_reader wire_reader(const wire_decoder *d, wick_span s)
{
  wick_reader r = wick_reader_make(s.at, s.nbytes);
  r.start = d->start;
  return r;
}

static bool wire_next(wick_reader *r, wire_record *out)
{
  *out = (wire_record){.position = wick_reader_position(r)};
  uint64_t tag;
  if (!wick_read_varint(r, &tag)) return false;
  out->number = tag >> 3;
  out->type = (wire_type)(tag & 7);
  if (out->number == 0 || out->number >= 1u << 29)
    return wick_reader_refuse(r, out->position, "a field's number is not in 1 to 536870911");
  const unsigned char *at = r->at;
  uint64_t nbytes;
  switch ((int)out->type) {
  case WIRE_VARINT:
    if (!wick_read_varint(r, &out->value)) return false;
    out->span = (wick_span){at, (size_t)(r->at - at)};
    return true;
  case WIRE_FIXED64: return wick_read_span(r, 8, &out->span);
  case WIRE_FIXED32: return wick_read_span(r, 4, &out->span);
  case WIRE_LENGTH: return wick_read_varint(r, &nbytes) && wick_read_span(r, nbytes, &out->span);
  case WIRE_BEGIN:
  case WIRE_END: return wick_reader_refuse(r, out->position, "groups are not supported");
  default: return wick_reader_refuse(r, out->position, "there is no wire type 6 or 7");
  }
}

static const wick_wire_field *wire_find(const wick_wire_message *m, uint64_t number)
{
  for (uint32_t i = 0; i < m->nfield; i++)
    if (m->field[i].number == number) return &m->field[i];
  return NULL;
}

static wire_type wire_wanted(wick_wire_kind k)
{
  switch (k) {
  case WICK_WIRE_I64:
  case WICK_WIRE_I32:
  case WICK_WIRE_I64S:
  case WICK_WIRE_DATA_VARINT: return WIRE_VARINT;
  case WICK_WIRE_F32:
  case WICK_WIRE_FIXED32:
  case WICK_WIRE_F32S:
  case WICK_WIRE_DATA_F32: return WIRE_FIXED32;
  case WICK_WIRE_DATA_F64: return WIRE_FIXED64;
  case WICK_WIRE_BYTES:
  case WICK_WIRE_MESSAGE:
  case WICK_WIRE_SPANS:
  case WICK_WIRE_MESSAGES: break;
  }
  return WIRE_LENGTH;
}

static size_t wire_elem_bytes(const wick_wire_field *f)
{
  switch ((wick_wire_kind)f->kind) {
  case WICK_WIRE_I64S: return sizeof(int64_t);
  case WICK_WIRE_F32S: return sizeof(float);
  case WICK_WIRE_SPANS:
  case WICK_WIRE_DATA_VARINT:
  case WICK_WIRE_DATA_F32:
  case WICK_WIRE_DATA_F64: return sizeof(wick_span);
  case WICK_WIRE_MESSAGES: return f->message->nbytes;
  default: return 0;
  }
}

static void *wire_alloc(wire_decoder *d, size_t nelem, size_t size)
{
  uint64_t nbytes;
  if (wick_mul_overflows((uint64_t)nelem, (uint64_t)size, &nbytes) || nbytes > d->budget_bytes)
    return NULL;
  d->budget_bytes -= nbytes;
  return wick_arena_array(d->mem, nelem, size, _Alignof(max_align_t));
}

static wick_status wire_too_big(const wire_decoder *d)
{
  return wick_fail(d->mem, WICK_ELIMIT, d->location,
                   "its messages would take more than %d times its size in memory",
                   WICK_WIRE_GROWTH);
}

/* Counts the elements of one record of a repeated scalar field. A varint ends at a byte below
 * 128. */
static size_t wire_count_scalars(const wire_record *rec, wick_wire_kind kind)
{
  if (rec->type != WIRE_LENGTH) return 1;
  if (kind == WICK_WIRE_F32S) return rec->span.nbytes / 4;
  size_t n = 0;
  for (size_t i = 0; i < rec->span.nbytes; i++) n += rec->span.at[i] < 128;
  return n;
}

/* Returns whether a field that occurs is stored: members of a oneof may have been replaced. */
static bool wire_kept(const wick_wire_field *f, uint64_t has, size_t count)
{
  return f->number < 64 ? wick_wire_has(has, f->number) : count > 0;
}

/* First walk: checks the records, counts the elements of repeated fields, sets the bits of
 * `has`. */
static wick_status wire_count(wire_decoder *d, const wick_wire_message *m, wire_pieces in,
                              void *out, size_t *count)
{
  uint64_t *has = out;
  for (size_t p = 0; p < in.n; p++) {
    wick_reader r = wire_reader(d, in.at[p]);
    wire_record rec;
    while (wick_reader_left(&r) && wire_next(&r, &rec)) {
      const wick_wire_field *f = wire_find(m, rec.number);
      if (!f) continue;
      wire_type want = wire_wanted((wick_wire_kind)f->kind);
      bool scalars = f->kind >= WICK_WIRE_I64S && want != WIRE_LENGTH;
      if (rec.type != want && !(scalars && rec.type == WIRE_LENGTH))
        return wick_fail(d->mem, WICK_EPARSE, d->location,
                         "at byte %zu: %s.%s has wire type %d, expected %d", rec.position, m->name,
                         f->name, (int)rec.type, (int)want);
      bool copied = f->kind == WICK_WIRE_I64S || f->kind == WICK_WIRE_F32S;
      count[f - m->field] += copied ? wire_count_scalars(&rec, (wick_wire_kind)f->kind) : 1;
      if (wick_wire_has(m->oneof, f->number)) *has &= ~m->oneof;
      if (f->number < 64) *has |= UINT64_C(1) << f->number;
    }
    WICK_TRY(wick_reader_status(&r, d->mem, d->location));
  }
  return NULL;
}

static bool wire_push_scalars(wick_reader *r, wick_wire_kind kind, wire_array *a)
{
  while (wick_reader_left(r)) {
    if (kind == WICK_WIRE_F32S) {
      float value;
      if (!wick_read_f32(r, &value)) return false;
      ((float *)a->at)[a->n++] = value;
    } else {
      uint64_t value;
      if (!wick_read_varint(r, &value)) return false;
      ((int64_t *)a->at)[a->n++] = (int64_t)value;
    }
  }
  return true;
}

static uint32_t wire_u32(wick_span s)
{
  wick_reader r = wick_reader_make(s.at, s.nbytes);
  uint32_t value;
  return wick_read_u32(&r, &value) ? value : 0;
}

static float wire_f32(wick_span s)
{
  wick_reader r = wick_reader_make(s.at, s.nbytes);
  float value;
  return wick_read_f32(&r, &value) ? value : 0;
}

/* Second walk: stores a record's value. `later` collects the pieces of messages, by field. */
static wick_status wire_store(wire_decoder *d, const wick_wire_field *f, const wire_record *rec,
                              void *out, wire_array *later)
{
  void *slot = (char *)out + f->offset;
  wire_array *a = slot;
  switch ((wick_wire_kind)f->kind) {
  case WICK_WIRE_I64: *(int64_t *)slot = (int64_t)rec->value; return NULL;
  case WICK_WIRE_I32: *(int64_t *)slot = (int32_t)(uint32_t)rec->value; return NULL;
  case WICK_WIRE_F32: *(float *)slot = wire_f32(rec->span); return NULL;
  case WICK_WIRE_FIXED32: *(int64_t *)slot = wire_u32(rec->span); return NULL;
  case WICK_WIRE_BYTES: *(wick_span *)slot = rec->span; return NULL;
  case WICK_WIRE_MESSAGE:
  case WICK_WIRE_MESSAGES: a = later; break;
  case WICK_WIRE_I64S:
  case WICK_WIRE_F32S: {
    wick_reader r = wire_reader(d, rec->span);
    return wire_push_scalars(&r, (wick_wire_kind)f->kind, a)
               ? NULL
               : wick_reader_status(&r, d->mem, d->location);
  }
  case WICK_WIRE_SPANS:
  case WICK_WIRE_DATA_VARINT:
  case WICK_WIRE_DATA_F32:
  case WICK_WIRE_DATA_F64: break;
  }
  ((wick_span *)a->at)[a->n++] = rec->span;
  return NULL;
}

static wick_status wire_decode(wire_decoder *d, const wick_wire_message *m, wire_pieces in,
                               uint32_t depth, void *out);

/* Decodes the messages of one field from their pieces: merges all pieces into one message, or
 * decodes one message from each if the field is repeated. */
static wick_status wire_decode_field(wire_decoder *d, const wick_wire_field *f, wire_pieces in,
                                     uint32_t depth, void *out)
{
  bool one = f->kind == WICK_WIRE_MESSAGE;
  size_t n = one ? 1 : in.n;
  char *at = wire_alloc(d, n, f->message->nbytes);
  if (!at) return wire_too_big(d);
  if (one)
    *(void **)(void *)((char *)out + f->offset) = at;
  else
    *(wire_array *)(void *)((char *)out + f->offset) = (wire_array){at, n};
  for (size_t i = 0; i < n; i++) {
    wire_pieces part = one ? in : (wire_pieces){in.at + i, 1};
    WICK_TRY(wire_decode(d, f->message, part, depth + 1, at + i * f->message->nbytes));
  }
  return NULL;
}

enum { WIRE_MOST_FIELDS = 32 };

static wick_status wire_decode(wire_decoder *d, const wick_wire_message *m, wire_pieces in,
                               uint32_t depth, void *out)
{
  if (depth > WICK_READER_DEPTH)
    return wick_fail(d->mem, WICK_ELIMIT, d->location,
                     "at byte %zu: messages are nested more than %d deep",
                     (size_t)(in.at[0].at - d->start), WICK_READER_DEPTH);
  uint64_t *has = out;
  size_t count[WIRE_MOST_FIELDS] = {0};
  wire_array later[WIRE_MOST_FIELDS] = {{0}};
  WICK_TRY(wire_count(d, m, in, out, count));
  for (uint32_t i = 0; i < m->nfield; i++) {
    const wick_wire_field *f = &m->field[i];
    bool message = f->kind == WICK_WIRE_MESSAGE || f->kind == WICK_WIRE_MESSAGES;
    if (!wire_kept(f, *has, count[i]) || (f->kind < WICK_WIRE_I64S && !message)) continue;
    wire_array a = {wire_alloc(d, count[i], message ? sizeof(wick_span) : wire_elem_bytes(f)), 0};
    if (!a.at) return wire_too_big(d);
    *(message ? &later[i] : (wire_array *)(void *)((char *)out + f->offset)) = a;
  }
  for (size_t p = 0; p < in.n; p++) {
    wick_reader r = wire_reader(d, in.at[p]);
    wire_record rec;
    while (wick_reader_left(&r) && wire_next(&r, &rec)) {
      const wick_wire_field *f = wire_find(m, rec.number);
      if (f && wire_kept(f, *has, count[f - m->field]))
        WICK_TRY(wire_store(d, f, &rec, out, &later[f - m->field]));
    }
  }
  for (uint32_t i = 0; i < m->nfield; i++)
    if (later[i].n)
      WICK_TRY(
          wire_decode_field(d, &m->field[i], (wire_pieces){later[i].at, later[i].n}, depth, out));
  return NULL;
}

wick_status wick_wire_decode(const wick_wire_message *message, wick_span input,
                             const char *location, wick_arena *mem, void **out_message)
{
  *out_message = NULL;
  wire_decoder d = {.mem = mem, .location = location, .budget_bytes = UINT64_MAX};
  wick_reader whole = wick_reader_make(input.at, input.nbytes);
  d.start = whole.start;
  if (wick_mul_overflows((uint64_t)input.nbytes + 64, (uint64_t)WICK_WIRE_GROWTH, &d.budget_bytes))
    d.budget_bytes = UINT64_MAX;
  void *out = wick_arena_alloc(mem, message->nbytes, _Alignof(max_align_t));
  WICK_TRY(wire_decode(&d, message, (wire_pieces){&input, 1}, 0, out));
  *out_message = out;
  return NULL;
}

/* Returns the length of the UTF-8 sequence at s, or 0 if none is there. Source: Unicode 15, table
 * 3-7. */
static size_t wire_utf8(const unsigned char *s, size_t n)
{
  unsigned c = s[0];
  if (c < 0x80) return 1;
  size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4 || len > n) return 0;
  unsigned lo = c == 0xe0   ? 0xa0
                : c == 0xf0 ? 0x90
                            : 0x80,
           hi = c == 0xed   ? 0x9f
                : c == 0xf4 ? 0x8f
                            : 0xbf;
  if (s[1] < lo || s[1] > hi) return 0;
  for (size_t i = 2; i < len; i++)
    if (s[i] < 0x80 || s[i] > 0xbf) return 0;
  return len;
}

const char *wick_wire_text(wick_arena *mem, wick_span s)
{
  const unsigned char *nul = s.nbytes ? memchr(s.at, 0, s.nbytes) : NULL;
  size_t n = nul ? (size_t)(nul - s.at) : s.nbytes, bad = 0;
  for (size_t i = 0, len; i < n; i += len ? len : 1) {
    len = wire_utf8(s.at + i, n - i);
    bad += !len;
  }
  char *text = wick_new(mem, char, n + 2 * bad + 1), *to = text;
  for (size_t i = 0, len; i < n; i += len ? len : 1) {
    len = wire_utf8(s.at + i, n - i);
    memcpy(to, len ? (const char *)s.at + i : "\xef\xbf\xbd", len ? len : 3);
    to += len ? len : 3;
  }
  return text;
}
