/* Imports TensorFlow Lite models. */
#ifndef WICK_IMPORT_TFLITE_TFLITE_H
#define WICK_IMPORT_TFLITE_TFLITE_H

#include "import/kit/import.h"

extern const wick_import_format wick_tflite_format;

WICK_CHECKED wick_import_read wick_import_tflite;

#endif
