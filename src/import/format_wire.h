/* Inspects protobuf messages without a schema: finds out whether bytes are a message, and which
 * fields it has. */
#ifndef WICK_IMPORT_FORMAT_WIRE_H
#define WICK_IMPORT_FORMAT_WIRE_H

#include "base/reader.h"

/* The fields that occur first in a message. */
typedef struct wick_fields {
  bool whole;        /* the bytes read so far are a valid message */
  uint64_t number;   /* bit k: field k is a varint, k from 0 to 63 */
  uint64_t bytes;    /* bit k: field k has a length, as texts, bytes and messages do */
  uint32_t most;     /* the largest number of a field with a length */
  wick_span part[8]; /* the first occurrence of fields 0 to 7 with a length */
} wick_fields;

/* Reads a bounded number of fields. */
wick_fields wick_fields_of(wick_span message);

/* Returns whether the text is an identifier: letters, digits and separators. */
bool wick_fields_is_word(wick_span text);

#endif
