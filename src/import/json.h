/* Reads JSON without copying: strings are parts of the text, with their escapes. */
#ifndef WICK_IMPORT_JSON_H
#define WICK_IMPORT_JSON_H

#include "base/arena.h"

typedef enum wick_json_kind {
  WICK_JSON_NULL, /* also NaN and Infinity are numbers, as Python writes them */
  WICK_JSON_FALSE,
  WICK_JSON_TRUE,
  WICK_JSON_NUMBER,
  WICK_JSON_STRING,
  WICK_JSON_ARRAY,
  WICK_JSON_OBJECT
} wick_json_kind;

typedef struct wick_json wick_json;
struct wick_json {
  wick_json_kind kind;
  const char *at; /* of a string or a number */
  size_t nbytes;
  const char *key; /* of a member of an object */
  size_t nkey;
  uint32_t n;              /* of items or members */
  wick_json *first, *next; /* items of an array, members of an object */
};

/* Returns the value of the text; NULL, and the place, if it is none. */
wick_json *wick_json_read(wick_arena *mem, const char *text, size_t nbytes, size_t *out_wrong);
/* A member of an object, an item of an array; NULL if there is none, or if j is NULL. */
const wick_json *wick_json_member(const wick_json *j, const char *key);
const wick_json *wick_json_item(const wick_json *j, int64_t k);
/* Reads a whole number, also one in a string. Returns false if it is none. */
bool wick_json_int(const wick_json *j, int64_t *out);
/* Reads a number; also NaN, Infinity, true and false. */
bool wick_json_double(const wick_json *j, double *out);
bool wick_json_is(const wick_json *j, const char *text); /* a string that equals `text` */
/* A string without its escapes; NULL if it is none. */
const char *wick_json_unescaped(wick_arena *mem, const wick_json *j);

#endif
