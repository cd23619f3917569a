/* A model's inputs from files: they are matched by name or order, pictures are fitted, types and
 * sizes are checked. */
#ifndef WICK_TOOLS_MODEL_INPUTS_H
#define WICK_TOOLS_MODEL_INPUTS_H

#include "image.h"
#include "list_inputs.h"
#include "tensor_io.h"
#include "wick/wick.h"

typedef struct wick_model_inputs {
  uint32_t n;              /* number of inputs */
  const wick_array *array; /* in the order of the inputs */
  const void **data;       /* their addresses */
  uint32_t nframe; /* `data` has the inputs of as many runs, array[i].nbytes each; 1: of one run */
  uint32_t nshape; /* shapes of the inputs, and of those that are sequences or optionals */
  const wick_shape *shape;
} wick_model_inputs;

/* Reads the files and gives each of the `n` inputs its tensor: by the name in NAME=FILE or in
 * the file, else in order. A name in an .npz that no input has is an error. Dynamic sizes take any
 * number. `frames`: each tensor has one more dimension in front, the runs. Fails naming the input, what was found and what was expected. Arrays live in `mem` and
 * `files`. */
WICK_CHECKED wick_status wick_model_inputs_read(const wick_ports *ports, const wick_io *const *io,
                                                uint32_t n, const char *const *path, uint32_t npath,
                                                const wick_image_options *options, bool frames,
                                                wick_files *files, wick_arena *mem, wick_arena *tmp,
                                                wick_model_inputs *out);

/* Storage for outputs, aligned to 64 bytes. */
void **wick_model_inputs_buffers(const wick_io *const *io, uint32_t n, wick_arena *mem);

/* If an output's size along an axis depends on data, the output is cut to the size that the run
 * gave, and the outputs that give this size (driver/output_size.h) are dropped. Returns how many
 * are left. */
uint32_t wick_model_inputs_trim(wick_array *array, uint32_t n, wick_arena *mem);

/* Writes output K of the model to FOLDER/output_K.npy, or, if it is a sequence, an optional or a
 * map, to FOLDER/output_K.pb, as ONNX's test data have it. The values of a map are in
 * output_K.npy, too, and its keys, in the order of the last dimension, in output_K.keys.json.
 * All files are written, or none. */
WICK_CHECKED wick_status wick_model_outputs_write(const wick_ports *ports, const wick_array *array,
                                                  const char *folder, wick_arena *tmp);
wick_array wick_model_inputs_array(const wick_io *io, const void *data);

#endif
