/* Recognizes formats of models by the content of the file, never by its name.
 *
 * Each row of the table in format.c is a format: with an importer, or with the advice that an error
 * gives, which names the format. */
#ifndef WICK_IMPORT_FORMAT_H
#define WICK_IMPORT_FORMAT_H

#include "import/kit/options.h"

typedef struct wick_format {
  const char *name;       /* "a TFLite model" */
  const char *advice;     /* how to convert the model, as the end of a sentence; may be "" */
  wick_import_read *read; /* NULL: Wick does not read the format */
} wick_format;

/* Returns the format of the bytes, or NULL if it is none of the table's: the file may then be ONNX
 * or Wick's text. Reads a bounded part of the file, so the time does not grow with its size. */
const wick_format *wick_format_of(wick_span bytes);

/* Finds the importer of the bytes. *out is NULL if they are of no format of the table: ONNX, or text.
 * Fails with WICK_EUNSUPPORTED, naming the format, if Wick does not read it, and with WICK_EPARSE if
 * the bytes fit the schemas of two formats that Wick reads. */
WICK_CHECKED wick_status wick_format_find(wick_span bytes, const char *location, wick_arena *mem,
                                          const wick_format **out);

/* Finds the importer of a folder. *out is NULL if the path is no folder. Fails with WICK_EUNSUPPORTED,
 * naming the format if the folder's files show it. */
WICK_CHECKED wick_status wick_format_find_folder(const char *path, wick_arena *mem,
                                                 const wick_format **out);

#endif
