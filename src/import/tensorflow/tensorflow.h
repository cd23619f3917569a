/* Imports models of TensorFlow: frozen graphs (GraphDef, binary or text) and SavedModels.
 *
 * The inputs of a graph are its placeholders, the outputs are the nodes that no node reads. A
 * SavedModel has signatures; "serving_default" is the usual one. Its variables are read from its
 * checkpoint. */
#ifndef WICK_IMPORT_TENSORFLOW_TENSORFLOW_H
#define WICK_IMPORT_TENSORFLOW_TENSORFLOW_H

#include "import/kit/options.h"

wick_import_read wick_import_graphdef, wick_import_saved_model;

#endif
