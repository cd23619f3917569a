/* The formats whose importers stand on the kit. */
#include "import/formats.h"

#include "import/caffe/net.h"
#include "import/caffe2/net.h"
#include "import/coreml/program.h"
#include "import/keras/model.h"
#include "import/mxnet/symbol.h"
#include "import/tensorflow/state.h"
#include "import/tflite/tflite.h"

const wick_import_format *const wick_import_formats[] = {
    &wick_tflite_format,
    &wick_tf_format,
    &keras_format,
    &wick_caffe_format,
    &wick_caffe2_format,
    &wick_mxnet_format,
    &wick_coreml_format,
    &wick_coreml_program_format,
    NULL,
};
