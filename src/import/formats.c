/* The formats whose importers stand on the kit. */
#include "import/formats.h"

#include "import/tflite/tflite.h"

const wick_import_format *const wick_import_formats[] = {
    &wick_tflite_format,
    NULL,
};
