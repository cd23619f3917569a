/* The names of builtin operators and types, by their numbers in the schema. */
#ifndef WICK_IMPORT_TFLITE_NAMES_H
#define WICK_IMPORT_TFLITE_NAMES_H

#include "ir/type.h"

const char *wick_tflite_op_name(int64_t code); /* "CONV_2D"; NULL: no such operator */
/* Finds the element type; false for resources, variants and numbers that are no type. */
bool wick_tflite_elem(int64_t type, wick_elem *out);

#endif
