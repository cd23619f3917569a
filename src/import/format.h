/* Formats of files that are no models Wick reads, known by their content: so that an error says
 * what the file is, and how its model becomes ONNX.
 *
 * A row of the table in format.c is a format. An importer for one of them takes its row's test. */
#ifndef WICK_IMPORT_FORMAT_H
#define WICK_IMPORT_FORMAT_H

#include "base/reader.h"

typedef struct wick_format {
  const char *name;   /* "a TFLite model" */
  const char *advice; /* what to do about it, as the end of a sentence; may be "" */
} wick_format;

/* The format of the bytes; NULL: none of those that are known, so perhaps ONNX, or Wick's text.
 * Reads a bounded part of the file: the time does not grow with it. */
const wick_format *wick_format_of(wick_span bytes);

/* WICK_EUNSUPPORTED, naming the format, if it is a known one. */
WICK_CHECKED wick_status wick_format_check(wick_span bytes, const char *location, wick_arena *mem);

/* The same for a path: WICK_EUNSUPPORTED if it is a folder, of which format as far as its files
 * say. */
WICK_CHECKED wick_status wick_format_check_folder(const char *path, wick_arena *mem);

#endif
