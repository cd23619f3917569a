/* Imports models of Core ML: .mlmodel files and .mlpackage folders. */
#ifndef WICK_IMPORT_COREML_COREML_H
#define WICK_IMPORT_COREML_COREML_H

#include "import/kit/options.h"

wick_import_read wick_import_coreml;

#endif
