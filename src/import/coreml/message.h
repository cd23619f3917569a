/* Reads the messages of a Core ML model by the names of their fields.
 *
 * The table in schema.c describes the messages. wick_coreml_check walks over a whole model once and
 * checks every field that the table knows: later reads cannot fail, and need no memory but for lists.
 * A message is a span of the file and its description. If a field occurs again, the last occurrence
 * counts. */
#ifndef WICK_IMPORT_COREML_MESSAGE_H
#define WICK_IMPORT_COREML_MESSAGE_H

#include "base/arena.h"
#include "base/reader.h"

typedef struct wick_coreml_schema { /* a row of the table, as text */
  const char *name, *fields, *more; /* more: NULL, or further fields */
} wick_coreml_schema;
extern const wick_coreml_schema wick_coreml_schemas[];
extern const size_t wick_coreml_nschema;

typedef struct wick_coreml_type wick_coreml_type;
typedef struct wick_coreml_field {
  const char *name;
  size_t nname;
  uint32_t number;
  char kind;                    /* i f d s m, or a capital letter: schema.c */
  const wick_coreml_type *type; /* of m and M; NULL: the table does not describe it */
} wick_coreml_field;
struct wick_coreml_type {
  const char *name;
  uint32_t n;
  const wick_coreml_field *field;
};

typedef struct wick_coreml_message {
  wick_span bytes; /* .at is NULL if the message is absent */
  const wick_coreml_type *type;
} wick_coreml_message;

typedef struct wick_coreml_messages {
  uint32_t n;
  const wick_coreml_message *at;
} wick_coreml_messages;
typedef struct wick_coreml_ints {
  uint32_t n;
  const int64_t *at;
} wick_coreml_ints;
typedef struct wick_coreml_reals {
  uint32_t n;
  const double *at;
} wick_coreml_reals;
typedef struct wick_coreml_texts {
  uint32_t n;
  const wick_span *at;
} wick_coreml_texts;

/* Parses the table; returns the description of the message `Model`. */
const wick_coreml_type *wick_coreml_types(wick_arena *mem);
/* Checks a message and all messages in it. Errors are like "net.mlmodel: at byte 17:
 * GatherLayerParams.axis has wire type 2, expected 0". Time is linear in its size. */
WICK_CHECKED wick_status wick_coreml_check(const wick_coreml_message *m, wick_arena *mem,
                                           const char *location);

/* Fields by their names, which the table must have. */
bool wick_coreml_has(const wick_coreml_message *m, const char *name);
int64_t wick_coreml_int(const wick_coreml_message *m, const char *name, int64_t otherwise);
double wick_coreml_real(const wick_coreml_message *m, const char *name, double otherwise);
wick_span wick_coreml_bytes(const wick_coreml_message *m, const char *name); /* .at NULL: absent */
wick_coreml_message wick_coreml_part(const wick_coreml_message *m, const char *name);
/* Repeated fields; the lists live in `mem`. */
wick_coreml_ints wick_coreml_ints_of(const wick_coreml_message *m, const char *name,
                                     wick_arena *mem);
wick_coreml_reals wick_coreml_reals_of(const wick_coreml_message *m, const char *name,
                                       wick_arena *mem);
wick_coreml_texts wick_coreml_texts_of(const wick_coreml_message *m, const char *name,
                                       wick_arena *mem);
wick_coreml_messages wick_coreml_parts(const wick_coreml_message *m, const char *name,
                                       wick_arena *mem);
/* Returns the member of a oneof of messages that occurs last: its fields are those of kind `m` whose
 * numbers are in [lo, hi]. NULL: there is none. */
const wick_coreml_field *wick_coreml_choice(const wick_coreml_message *m, uint32_t lo, uint32_t hi,
                                            wick_coreml_message *out);
const wick_coreml_field *wick_coreml_field_of(const wick_coreml_message *m, const char *name);

#endif
