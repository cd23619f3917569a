/* Messages of protobuf without a schema: which fields they have, and whether those are messages. */
#ifndef WICK_IMPORT_FORMAT_WIRE_H
#define WICK_IMPORT_FORMAT_WIRE_H

#include "base/reader.h"

/* The first fields of a message. */
typedef struct wick_fields {
  bool whole;        /* so far it is a message */
  uint64_t number;   /* bits: varint fields 0 to 63 */
  uint64_t bytes;    /* bits: fields 0 to 63 with a length: texts, bytes, messages */
  uint32_t most;     /* the largest number of a field with a length */
  wick_span part[8]; /* the first occurrence of fields 0 to 7 with a length */
} wick_fields;

/* Looks at a bounded number of fields. */
wick_fields wick_fields_of(wick_span message);

/* A name of a program: letters, digits, and what separates them. */
bool wick_fields_is_word(wick_span text);

#endif
