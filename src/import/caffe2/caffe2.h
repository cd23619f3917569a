/* Imports networks of Caffe2: predict_net.pb, whose weights are in init_net.pb beside it. */
#ifndef WICK_IMPORT_CAFFE2_CAFFE2_H
#define WICK_IMPORT_CAFFE2_CAFFE2_H

#include "import/kit/options.h"

wick_import_read wick_import_caffe2;

#endif
