/* C structs in protobuf's wire form, by the same tables of fields that read them (wire.h).
 *
 * A scalar or bytes field is written where it is not 0 or empty, or where `has` says that it is
 * there; repeated scalars are packed; the order of the fields is the table's. So what was read and
 * is written reads again as the same, and equal structs give equal bytes. */
#ifndef WICK_IMPORT_WIRE_WRITE_H
#define WICK_IMPORT_WIRE_WRITE_H

#include "base/file.h"
#include "import/wire.h"

/* A file in pieces. Large bytes fields are pieces of their own: they are not copied. */
typedef struct wick_wire_parts {
  const wick_bytes *at;
  size_t n;
  uint64_t nbytes;
} wick_wire_parts;

enum { WICK_WIRE_MOST = INT32_MAX }; /* bytes of a message that other readers of protobuf take */

/* Writes the struct of a message. `value` and the bytes that it names live as long as the parts.
 * Fails with WICK_ELIMIT where messages lie deeper than WICK_READER_DEPTH, or where it takes more
 * than WICK_WIRE_MOST bytes. Time and memory are linear in the struct's size, large bytes fields
 * left out. */
WICK_CHECKED wick_status wick_wire_encode(const wick_wire_message *message, const void *value,
                                          const char *location, wick_arena *mem,
                                          wick_wire_parts *out);

#endif
