/* Inputs and outputs as a model declares them, and as compiled code has them: a program has tensors
 * alone, so that a sequence, an optional or a map is some of these (wick_shape in wick/wick.h). */
#ifndef WICK_TOOLS_PORTS_H
#define WICK_TOOLS_PORTS_H

#include "ir/ir.h"

#include "value.h"

enum { WICK_PORT_OPEN = -2 }; /* the count of an input that no shapes have been given for */

typedef struct wick_port {
  const char *name, *type; /* the type as text; "" for a tensor */
  wick_value_type is;      /* unless it is a tensor */
  int64_t count;           /* of its tensors; -1: an optional without a value; WICK_PORT_OPEN */
  uint32_t first, n;       /* its tensors among all of them */
} wick_port;

typedef struct wick_ports {
  uint32_t n, nlist; /* all; those that are no tensors */
  const wick_port *at;
} wick_ports;

/* Finds the ports that consist of `n` tensors with these names.
 *   kind  "input" or "output"
 *   note  the metadata "onnx.input.NAME" or "onnx.output.NAME" among these describe them; what does
 *         not fit the tensors is ignored, because an artifact's bytes are not trusted */
wick_ports wick_ports_of(const char *kind, uint32_t nnote, const wick_pair *note, uint32_t n,
                         const char *const *name, wick_arena *mem);

#endif
