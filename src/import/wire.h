/* Reads protobuf's wire format into C structs, by tables of fields. Weights and names are not
 * copied: the structs point into the file.
 *
 * A table describes a message: each row has a field's number, its kind and its offset in the C
 * struct. Strings and bytes become spans of the input; repeated scalars and messages become arrays
 * in the arena. Nothing else is copied.
 *
 * Protobuf's rules leave some decisions to the reader. This reader decides:
 *  - unknown fields are skipped by their wire type; groups (wire types 3 and 4) are refused;
 *  - a known field with another wire type is an error, not an unknown field;
 *  - repeated scalars may be packed, unpacked, or both;
 *  - if a scalar or bytes field occurs again, the last occurrence counts; occurrences of a message
 *    field are merged;
 *  - if several members of a oneof occur, the member that occurs last counts (all its occurrences
 *    are merged);
 *  - varints of an int32 field lose their upper 32 bits, as in every protobuf library;
 *  - messages are nested at most WICK_READER_DEPTH deep;
 *  - the structs need at most WICK_WIRE_GROWTH bytes for each byte of the input (a node of two
 *    bytes would need 200), so that a small file cannot demand much memory.
 * Source: protobuf.dev/programming-guides/encoding. */
#ifndef WICK_IMPORT_WIRE_H
#define WICK_IMPORT_WIRE_H

#include "base/reader.h"

enum { WICK_WIRE_GROWTH = 64 };

typedef enum wick_wire_kind {
  WICK_WIRE_I64,     /* int64_t; varint: int64, uint64, bool */
  WICK_WIRE_I32,     /* int64_t; varint: int32 and enums, sign-extended from 32 bits */
  WICK_WIRE_F32,     /* float */
  WICK_WIRE_FIXED32, /* int64_t; fixed32 */
  WICK_WIRE_BYTES,   /* wick_span */
  WICK_WIRE_MESSAGE, /* pointer to the message's struct, NULL if absent */
  /* Repeated fields: */
  WICK_WIRE_I64S,     /* wick_wire_i64s */
  WICK_WIRE_F32S,     /* wick_wire_f32s */
  WICK_WIRE_SPANS,    /* wick_wire_spans */
  WICK_WIRE_MESSAGES, /* struct {T *at; size_t n;} */
  /* Repeated scalars that stay in the file: a wick_wire_spans. Its spans, one after the other, are
     the packed form. */
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
  const char *name; /* as in the .proto file */
  uint32_t number;
  uint8_t kind;                     /* wick_wire_kind */
  uint16_t offset;                  /* in the message's struct */
  const wick_wire_message *message; /* for MESSAGE and MESSAGES only */
} wick_wire_field;

/* Every message's struct begins with `uint64_t has`. Its bit K is set if field number K, at most 63,
 * is present. */
struct wick_wire_message {
  const char *name;
  size_t nbytes; /* of its struct */
  const wick_wire_field *field;
  uint32_t nfield;
  uint64_t oneof; /* bit K: field number K is a member of the oneof */
};
static inline bool wick_wire_has(uint64_t has, unsigned number)
{
  return number < 64 && (has >> number & 1);
}

/* The rows of a table of fields, and a message: a member of the struct has the field's name. */
#define WICK_WIRE_FIELD(type, member, num, k)                                                      \
  {                                                                                                \
#member, num, WICK_WIRE_##k, (uint16_t)offsetof(type, member), NULL                            \
  }
#define WICK_WIRE_PART(type, member, num, k, msg)                                                  \
  {                                                                                                \
#member, num, WICK_WIRE_##k, (uint16_t)offsetof(type, member), &msg                            \
  }
#define WICK_WIRE_SCHEMA(var, title, type, fields, ...)                                            \
  const wick_wire_message var = {title, sizeof(type), fields, (uint32_t)WICK_COUNT(fields),        \
                                 __VA_ARGS__}
#define WICK_WIRE_LIST(type)                                                                       \
  struct {                                                                                         \
    type *at;                                                                                      \
    size_t n;                                                                                      \
  }

/* Reads the `input` as one message. Errors begin with `location` (the file's name) and name the
 * byte's position, the message and the field, for example "net.onnx: at byte 17:
 * NodeProto.op_type has wire type 0, expected 2". The input must live as long as the result. Time
 * and memory are linear in the input's size. */
WICK_CHECKED wick_status wick_wire_decode(const wick_wire_message *message, wick_span input,
                                          const char *location, wick_arena *mem,
                                          void **out_message);

/* Returns the bytes as a text for messages and names. It ends at the first NUL; bytes that are not
 * UTF-8 become U+FFFD. Lives in `mem`. */
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
