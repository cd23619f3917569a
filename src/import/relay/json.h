/* Reads JSON without copying: strings are parts of the text, with their escapes. */
#ifndef WICK_IMPORT_RELAY_JSON_H
#define WICK_IMPORT_RELAY_JSON_H

#include "base/arena.h"

typedef enum relay_json_kind {
  RELAY_JSON_NULL,
  RELAY_JSON_TRUTH, /* i */
  RELAY_JSON_NUMBER,
  RELAY_JSON_STRING,
  RELAY_JSON_ARRAY,
  RELAY_JSON_OBJECT
} relay_json_kind;

typedef struct relay_json relay_json;
struct relay_json {
  relay_json_kind kind;
  const char *at; /* of a string or a number */
  size_t nbytes;
  const char *key; /* of a member of an object */
  size_t nkey;
  relay_json *first, *next; /* items of an array, members of an object */
};

/* Returns the value of the text; NULL, and the place, if it is none. */
relay_json *wick_relay_json(wick_arena *mem, const char *text, size_t nbytes, size_t *out_wrong);
/* A member of an object, an item of an array; NULL if there is none. */
const relay_json *wick_relay_json_member(const relay_json *j, const char *key);
const relay_json *wick_relay_json_item(const relay_json *j, int64_t k);
/* Reads a whole number, also one in a string. Returns false if it is none. */
bool wick_relay_json_int(const relay_json *j, int64_t *out);
bool wick_relay_json_is(const relay_json *j, const char *text);

#endif
