/* The table-driven writer of protobuf messages. It writes from the end to the beginning, so that
 * the length of a nested message is known when its length field is written. */
#include "import/wire_write.h"

#include <string.h>

enum { WRITE_CHUNK = 1 << 16, WRITE_LARGE = 4096 }; /* bytes; spans from LARGE on are not copied */

/* Wire types, with the same numbers as in the reader's wire_type. */
enum { WRITE_VARINT = 0, WRITE_LENGTH = 2, WRITE_FIXED32 = 5 };

typedef struct wire_writer {
  wick_arena *mem;
  wick_list(wick_bytes) part; /* in reverse order */
  unsigned char *chunk, *at;  /* the bytes in [chunk, at) are free */
  unsigned char *end;         /* the bytes in [at, end) belong to no part yet */
  uint64_t nbytes;            /* so far */
  bool deep;
} wire_writer;

static void wire_write_flush(wire_writer *w)
{
  if (w->at != w->end) wick_push(w->mem, &w->part, (wick_bytes){w->at, (size_t)(w->end - w->at)});
  w->end = w->at;
}

static void wire_write_bytes(wire_writer *w, const void *from, size_t n)
{
  if (!n) return;
  w->nbytes += n;
  if (n >= WRITE_LARGE) {
    wire_write_flush(w);
    wick_push(w->mem, &w->part, (wick_bytes){from, n});
    return;
  }
  if ((size_t)(w->at - w->chunk) < n) {
    wire_write_flush(w);
    w->chunk = wick_arena_raw(w->mem, WRITE_CHUNK, 1);
    w->at = w->end = w->chunk + WRITE_CHUNK;
  }
  w->at -= n;
  memcpy(w->at, from, n);
}

static void wire_write_varint(wire_writer *w, uint64_t v)
{
  unsigned char text[10];
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) text[n++] = (unsigned char)(v | 0x80);
  text[n++] = (unsigned char)v;
  wire_write_bytes(w, text, n);
}

static void wire_write_u32(wire_writer *w, uint32_t bits)
{
  unsigned char text[4];
  for (unsigned i = 0; i < 4; i++) text[i] = (unsigned char)(bits >> 8 * i);
  wire_write_bytes(w, text, sizeof text);
}

static void wire_write_f32(wire_writer *w, float f)
{
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  wire_write_u32(w, bits);
}

static void wire_write_tag(wire_writer *w, const wick_wire_field *f, unsigned type)
{
  wire_write_varint(w, (uint64_t)f->number << 3 | type);
}

/* Writes the tag and the length of the bytes that were written since `before`, in front of them. */
static void wire_write_close(wire_writer *w, const wick_wire_field *f, uint64_t before)
{
  wire_write_varint(w, w->nbytes - before);
  wire_write_tag(w, f, WRITE_LENGTH);
}

static void wire_write_span(wire_writer *w, const wick_wire_field *f, wick_span s)
{
  uint64_t before = w->nbytes;
  wire_write_bytes(w, s.at, s.nbytes);
  wire_write_close(w, f, before);
}

static void wire_write_i64s(wire_writer *w, const wick_wire_field *f, const wick_wire_i64s *v)
{
  uint64_t before = w->nbytes;
  for (size_t i = v->n; i-- > 0;) wire_write_varint(w, (uint64_t)v->at[i]);
  if (v->n) wire_write_close(w, f, before);
}

static void wire_write_f32s(wire_writer *w, const wick_wire_field *f, const wick_wire_f32s *v)
{
  uint64_t before = w->nbytes;
  for (size_t i = v->n; i-- > 0;) wire_write_f32(w, v->at[i]);
  if (v->n) wire_write_close(w, f, before);
}

/* Writes packed scalars that stayed in a file. */
static void wire_write_data(wire_writer *w, const wick_wire_field *f, const wick_wire_spans *v)
{
  uint64_t before = w->nbytes;
  for (size_t i = v->n; i-- > 0;) wire_write_bytes(w, v->at[i].at, v->at[i].nbytes);
  if (v->n) wire_write_close(w, f, before);
}

static void wire_write_scalar(wire_writer *w, const wick_wire_field *f, const void *at, bool has)
{
  wick_wire_kind kind = (wick_wire_kind)f->kind;
  if (kind == WICK_WIRE_F32) {
    float v;
    memcpy(&v, at, sizeof v);
    uint32_t bits;
    memcpy(&bits, at, sizeof bits); /* -0 must be written */
    if (!bits && !has) return;
    wire_write_f32(w, v);
    wire_write_tag(w, f, WRITE_FIXED32);
  } else if (kind == WICK_WIRE_BYTES) {
    wick_span s = *(const wick_span *)at;
    if (s.nbytes || has) wire_write_span(w, f, s);
  } else {
    int64_t v = *(const int64_t *)at;
    if (!v && !has) return;
    bool fixed = kind == WICK_WIRE_FIXED32;
    if (fixed)
      wire_write_u32(w, (uint32_t)v);
    else
      wire_write_varint(w, (uint64_t)v);
    wire_write_tag(w, f, fixed ? WRITE_FIXED32 : WRITE_VARINT);
  }
}

static void wire_write_message(wire_writer *w, const wick_wire_message *m, const void *value,
                               uint32_t depth);

/* An array of any messages. Each element has the size of the message's struct. */
typedef struct wire_write_array {
  const char *at;
  size_t n;
} wire_write_array;

static void wire_write_field(wire_writer *w, const wick_wire_field *f, const void *at, bool has,
                             uint32_t depth)
{
  const wick_wire_spans *spans = at;
  const wire_write_array *array = at;
  switch ((wick_wire_kind)f->kind) {
  case WICK_WIRE_I64:
  case WICK_WIRE_I32:
  case WICK_WIRE_F32:
  case WICK_WIRE_FIXED32:
  case WICK_WIRE_BYTES: wire_write_scalar(w, f, at, has); break;
  case WICK_WIRE_I64S: wire_write_i64s(w, f, at); break;
  case WICK_WIRE_F32S: wire_write_f32s(w, f, at); break;
  case WICK_WIRE_SPANS:
    for (size_t i = spans->n; i-- > 0;) wire_write_span(w, f, spans->at[i]);
    break;
  case WICK_WIRE_DATA_VARINT:
  case WICK_WIRE_DATA_F32:
  case WICK_WIRE_DATA_F64: wire_write_data(w, f, spans); break;
  case WICK_WIRE_MESSAGE: {
    const void *one = *(const void *const *)at;
    uint64_t before = w->nbytes;
    if (!one) break;
    wire_write_message(w, f->message, one, depth);
    wire_write_close(w, f, before);
    break;
  }
  case WICK_WIRE_MESSAGES:
    for (size_t i = array->n; i-- > 0;) {
      uint64_t before = w->nbytes;
      wire_write_message(w, f->message, array->at + i * f->message->nbytes, depth);
      wire_write_close(w, f, before);
    }
    break;
  }
}

static void wire_write_message(wire_writer *w, const wick_wire_message *m, const void *value,
                               uint32_t depth)
{
  uint64_t has;
  memcpy(&has, value, sizeof has);
  if (depth >= WICK_READER_DEPTH) {
    w->deep = true;
    return;
  }
  for (uint32_t i = m->nfield; i-- > 0;)
    wire_write_field(w, &m->field[i], (const char *)value + m->field[i].offset,
                     wick_wire_has(has, m->field[i].number), depth + 1);
}

wick_status wick_wire_encode(const wick_wire_message *message, const void *value,
                             const char *location, wick_arena *mem, wick_wire_parts *out)
{
  wire_writer w = {.mem = mem};
  wire_write_message(&w, message, value, 0);
  wire_write_flush(&w);
  for (uint32_t i = 0; i < w.part.n / 2; i++) {
    wick_bytes last = w.part.at[w.part.n - 1 - i];
    w.part.at[w.part.n - 1 - i] = w.part.at[i];
    w.part.at[i] = last;
  }
  *out = (wick_wire_parts){w.part.at, w.part.n, w.nbytes};
  if (w.deep)
    return wick_fail(mem, WICK_ELIMIT, location, "messages are nested more than %d deep",
                     WICK_READER_DEPTH);
  if (w.nbytes > WICK_WIRE_MOST)
    return wick_fail(mem, WICK_ELIMIT, location,
                     "it needs %llu bytes, but a message has at most %d",
                     (unsigned long long)w.nbytes, WICK_WIRE_MOST);
  return NULL;
}
