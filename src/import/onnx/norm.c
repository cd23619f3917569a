/* The rows follow with Wick's own. */
#include "import/onnx/import.h"

const wick_onnx_row wick_onnx_norm_rows[] = {{0}};
