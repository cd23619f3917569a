/* The formats whose importers stand on the kit. */
#ifndef WICK_IMPORT_FORMATS_H
#define WICK_IMPORT_FORMATS_H

#include "import/kit/import.h"

extern const wick_import_format *const wick_import_formats[]; /* NULL ends it */

#endif
