/* Gives files to inputs that are sequences, optionals or maps, and makes them into the tensors that
 * a program takes. */
#ifndef WICK_TOOLS_LIST_INPUTS_H
#define WICK_TOOLS_LIST_INPUTS_H

#include "ports.h"

typedef wick_list(const char *) wick_paths; /* of each tensor */

typedef struct wick_list_inputs {
  uint32_t n; /* the inputs of the program */
  const wick_io *const *io;
  wick_list(wick_shape) shape; /* how many elements each sequence and optional has */
} wick_list_inputs;

/* Finds the port of each tensor and message in `given`: the one with its name, else the next one
 * without a file. Messages become tensors, all of which get the names of their inputs.
 *   io     the tensors that the model takes as far as it is known: not those of open ports
 *   from   the files' paths, for errors
 *   out    the given tensors with what messages became; out_from their files; out_inputs->io all
 *          inputs of the program: `io`, and those of open ports */
WICK_CHECKED wick_status wick_list_inputs_find(const wick_ports *ports, const wick_io *const *io,
                                               const wick_arrays *given, const wick_paths *from,
                                               wick_arena *mem, wick_arrays *out,
                                               wick_paths *out_from, wick_list_inputs *out_inputs);

#endif
