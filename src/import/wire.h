/* Protobuf's wire form, read into C structs by tables of fields; weights and names stay where they
 * are in the file.
 *
 * A message is described by a table with a row for each field: number, kind, place in the C struct.
 * Strings and bytes become spans of the input; repeated scalars and messages become arrays in the
 * arena. Nothing else is copied.
 *
 * What protobuf's rules leave to a reader, this one decides so:
 *  - unknown fields are skipped by their wire type; groups (wire types 3 and 4) are refused;
 *  - a known field with another wire type is an error, not an unknown field;
 *  - repeated scalars may be packed, unpacked, or both;
 *  - of a scalar or bytes field that occurs again, the last one holds; a message field that occurs
 * again is merged;
 *  - of the members of a oneof, the one that occurs last holds (all its occurrences are merged);
 *  - varints of an int32 field lose their upper 32 bits, as in every protobuf library;
 *  - messages lie at most WICK_READER_DEPTH deep;
 *  - the structs take at most WICK_WIRE_GROWTH bytes for each byte of the input (a node of two
 * bytes would take 200), so that a small file cannot demand much memory. Source:
 * protobuf.dev/programming-guides/encoding. */
#ifndef WICK_IMPORT_WIRE_H
#define WICK_IMPORT_WIRE_H

#include "base/reader.h"

enum { WICK_WIRE_GROWTH = 64 };

typedef enum wick_wire_kind {
  WICK_WIRE_I64,     /* int64_t; varint: int64, uint64, bool */
  WICK_WIRE_I32,     /* int64_t; varint: int32 and enums, sign-extended from 32 bits */
  WICK_WIRE_F32,     /* float */
  WICK_WIRE_BYTES,   /* wick_span */
  WICK_WIRE_MESSAGE, /* pointer to the message's struct, NULL where absent */
  /* Repeated: */
  WICK_WIRE_I64S,     /* wick_wire_i64s */
  WICK_WIRE_F32S,     /* wick_wire_f32s */
  WICK_WIRE_SPANS,    /* wick_wire_spans */
  WICK_WIRE_MESSAGES, /* struct {T *at; size_t n;} */
  /* Repeated scalars that stay in the file: wick_wire_spans whose bytes, one span after the other,
     are the packed form. */
  WICK_WIRE_DATA_VARINT,
  WICK_WIRE_DATA_F32,
  WICK_WIRE_DATA_F64
} wick_wire_kind;

typedef struct wick_wire_i64s {
  int64_t *at;
  size_t n;
} wick_wire_i64s;
typedef struct wick_wire_f32s {
  float *at;
  size_t n;
} wick_wire_f32s;
typedef struct wick_wire_spans {
  wick_span *at;
  size_t n;
} wick_wire_spans;

typedef struct wick_wire_message wick_wire_message;
typedef struct wick_wire_field {
  const char *name;                 /* as the .proto file has it */
  uint8_t number;                   /* 1 to 63 */
  uint8_t kind;                     /* wick_wire_kind */
  uint16_t offset;                  /* in the message's struct */
  const wick_wire_message *message; /* of MESSAGE and MESSAGES */
} wick_wire_field;

/* Every message's struct begins with `uint64_t has`, in which bit K says that field number K was
 * there. */
struct wick_wire_message {
  const char *name;
  size_t nbytes; /* of its struct */
  const wick_wire_field *field;
  uint32_t nfield;
  uint64_t oneof; /* the numbers, as bits, of fields of which one excludes the others */
};
static inline bool wick_wire_has(uint64_t has, unsigned number) { return has >> number & 1; }

/* Reads the `input` as one message. `location` (the file's name) precedes errors, which have
 * the byte's position and the message and field: "net.onnx: at byte 17: NodeProto.op_type has wire
 * type 0, wanted 2". The input must live as long as the result. Time and memory are linear in the
 * input's size. */
WICK_CHECKED wick_status wick_wire_decode(const wick_wire_message *message, wick_span input,
                                          const char *location, wick_arena *mem,
                                          void **out_message);

/* A text for people and for names: ends at the first NUL; what is not UTF-8 becomes U+FFFD. */
const char *wick_wire_text(wick_arena *mem, wick_span s);

static inline bool wick_span_is(wick_span s, const char *text)
{
  size_t n = 0;
  while (text[n]) n++;
  if (s.nbytes != n) return false;
  for (size_t i = 0; i < n; i++)
    if (s.at[i] != (unsigned char)text[i]) return false;
  return true;
}

#endif
