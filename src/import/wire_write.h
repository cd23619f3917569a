/* Writes C structs in protobuf's wire format, by the same tables of fields that read them (wire.h).
 *
 * A scalar or bytes field is written if it is not 0 or empty, or if its bit of `has` is set.
 * Repeated scalars are packed. The fields have the order of the table. So a message that was read
 * and written again reads as the same structs, and equal structs give equal bytes. */
#ifndef WICK_IMPORT_WIRE_WRITE_H
#define WICK_IMPORT_WIRE_WRITE_H

#include "base/file.h"
#include "import/wire.h"

/* A file in pieces. Each large bytes field is a piece of its own and is not copied. */
typedef struct wick_wire_parts {
  const wick_bytes *at;
  size_t n;
  uint64_t nbytes;
} wick_wire_parts;

/* The largest message, in bytes, that other readers of protobuf accept. */
enum { WICK_WIRE_MOST = INT32_MAX };

/* Writes the struct of a message. `value` and the bytes that it points to must live as long as the
 * parts. Fails with WICK_ELIMIT if messages are nested deeper than WICK_READER_DEPTH, or if the
 * message needs more than WICK_WIRE_MOST bytes. Time and memory are linear in the struct's size
 * without large bytes fields. */
WICK_CHECKED wick_status wick_wire_encode(const wick_wire_message *message, const void *value,
                                          const char *location, wick_arena *mem,
                                          wick_wire_parts *out);

#endif
