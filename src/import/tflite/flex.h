/* A bounded reader of FlexBuffers, as far as options of custom operators need it: a map of numbers.
 * Source: flatbuffers.dev/flexbuffers; include/flatbuffers/flexbuffers.h of FlatBuffers. */
#ifndef WICK_IMPORT_TFLITE_FLEX_H
#define WICK_IMPORT_TFLITE_FLEX_H

#include "base/reader.h"

/* Is the root of the buffer a map whose keys and values are within it? */
bool wick_flex_is_map(wick_span bytes);
/* The number of that key; false if there is none, or if it is no number. */
bool wick_flex_number(wick_span bytes, const char *key, double *out);

#endif
