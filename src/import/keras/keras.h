/* Imports Keras models, of Keras 2 and 3: .keras archives and HDF5 files.
 *
 *   model.c    the file: configuration, version, the tree of layers, weights
 *   weights.c  which weights a layer has, in the order in which it creates them
 *   graph.c    Sequential and Functional models, calls of layers, masks
 *   call.c     what rows share: arguments, constants, activations, layouts
 *   table.c    the table of layers and of keras.ops; rows_*.c: their functions */
#ifndef WICK_IMPORT_KERAS_KERAS_H
#define WICK_IMPORT_KERAS_KERAS_H

#include "import/kit/options.h"

wick_import_read wick_import_keras;

#endif
