/* Recognizes model formats that Wick does not read by the content of the file, so that an error
 * names the format and says how to convert the model to ONNX.
 *
 * Each row of the table in format.c is a format. An importer for one of them reuses the row's
 * test. */
#ifndef WICK_IMPORT_FORMAT_H
#define WICK_IMPORT_FORMAT_H

#include "base/reader.h"

typedef struct wick_format {
  const char *name;   /* "a TFLite model" */
  const char *advice; /* how to convert the model, as the end of a sentence; may be "" */
} wick_format;

/* Returns the format of the bytes, or NULL if it is none of the table's: the file may then be ONNX
 * or Wick's text. Reads a bounded part of the file, so the time does not grow with its size. */
const wick_format *wick_format_of(wick_span bytes);

/* Fails with WICK_EUNSUPPORTED, naming the format, if the bytes have a format of the table. */
WICK_CHECKED wick_status wick_format_check(wick_span bytes, const char *location, wick_arena *mem);

/* Fails with WICK_EUNSUPPORTED if the path is a folder. Names the format if the folder's files show
 * it. */
WICK_CHECKED wick_status wick_format_check_folder(const char *path, wick_arena *mem);

#endif
