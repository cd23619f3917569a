/* Imports networks of MXNet: NAME-symbol.json, whose weights are in NAME-NNNN.params beside it. */
#ifndef WICK_IMPORT_MXNET_MXNET_H
#define WICK_IMPORT_MXNET_MXNET_H

#include "import/kit/options.h"

wick_import_read wick_import_mxnet;

#endif
