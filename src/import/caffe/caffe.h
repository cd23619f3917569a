/* Imports networks of Caffe: NAME.prototxt (text) with the weights in NAME.caffemodel beside it, either
 * of which may be given. */
#ifndef WICK_IMPORT_CAFFE_CAFFE_H
#define WICK_IMPORT_CAFFE_CAFFE_H

#include "import/kit/options.h"

wick_import_read wick_import_caffe;

#endif
