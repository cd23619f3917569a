/* Turns protobuf's text form into its wire format, by the tables that wick_wire_decode reads. So a
 * schema is written once, and a model in text form is read by the reader of binary models.
 *
 * Fields that the table does not have are skipped, whatever they hold. Repeated fields may be lists
 * in brackets. Enumerators are words of the caller's list. Messages are nested at most
 * WICK_READER_DEPTH deep. Source: protobuf.dev/reference/protobuf/textformat-spec. */
#ifndef WICK_IMPORT_WIRE_TEXT_H
#define WICK_IMPORT_WIRE_TEXT_H

#include "import/wire.h"

/* A name for a number in fields of enumerations. */
typedef struct wick_wire_word {
  const char *field; /* the field's name; NULL: any field */
  const char *word;
  int64_t value;
} wick_wire_word;

/* Returns the wire form of the text, which lives in `mem`. `words` ends with a row whose word is
 * NULL. Errors are like "net.pbtxt: line 3: NodeDef.op is a text in quotes, found 7". Time and
 * memory are linear in the text's size. */
WICK_CHECKED wick_status wick_wire_from_text(const wick_wire_message *message,
                                             const wick_wire_word *words, wick_span text,
                                             const char *location, wick_arena *mem, wick_span *out);

/* The same, but a field that a message does not have is an error unless `skips` says that it may be
 * skipped. */
typedef bool wick_wire_skips(const wick_wire_message *message, wick_span field);
WICK_CHECKED wick_status wick_wire_from_strict_text(const wick_wire_message *message,
                                                    const wick_wire_word *words,
                                                    wick_wire_skips *skips, wick_span text,
                                                    const char *location, wick_arena *mem,
                                                    wick_span *out);

#endif
