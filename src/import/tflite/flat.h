/* A bounded reader of FlatBuffers.
 *
 * Every access checks that it stays within the file. The first one that does not sets the file's
 * fault and gives the field's default or an empty list, as all later ones do: callers read several
 * fields and check once. Nothing is allocated, and no number needs alignment. Fields are named by their
 * numbers in the schema, from 0.
 * Source: the format's internals, flatbuffers.dev/internals. */
#ifndef WICK_IMPORT_TFLITE_FLAT_H
#define WICK_IMPORT_TFLITE_FLAT_H

#include "base/reader.h"

typedef struct wick_flat_file {
  wick_span bytes;
  const char *fault; /* a constant text; NULL: none */
  size_t fault_at;   /* its position */
} wick_flat_file;

typedef struct wick_flat { /* a table */
  wick_flat_file *file;    /* NULL: the table is absent, and all its fields are */
  size_t at, vtable;
  uint32_t nfield;
} wick_flat;

typedef struct wick_flat_list { /* a vector */
  wick_flat_file *file;
  size_t at; /* of the first element */
  uint32_t n;
} wick_flat_list;

wick_flat wick_flat_root(wick_flat_file *file);

/* Scalars. */
int64_t wick_flat_int(wick_flat t, uint32_t field, uint32_t nbytes, int64_t otherwise); /* signed */
uint64_t wick_flat_uint(wick_flat t, uint32_t field, uint32_t nbytes, uint64_t otherwise);
float wick_flat_f32(wick_flat t, uint32_t field, float otherwise);
/* Tables, texts and vectors of bytes or numbers; absent ones are empty. */
wick_flat wick_flat_table(wick_flat t, uint32_t field);
wick_span wick_flat_bytes(wick_flat t, uint32_t field);
wick_flat_list wick_flat_vector(wick_flat t, uint32_t field, uint32_t element_bytes);
/* Elements, i below n. */
wick_flat wick_flat_item(wick_flat_list l, uint32_t i);
int64_t wick_flat_item_int(wick_flat_list l, uint32_t i, uint32_t nbytes); /* signed */
float wick_flat_item_f32(wick_flat_list l, uint32_t i);

#endif
