/* Sequences, optionals and maps in files: ONNX's SequenceProto, OptionalProto and MapProto.
 *
 * A file does not say which of these it has: the model's input does. No reader trusts what it
 * reads: kinds, element types and counts are compared with those that the input declares. */
#ifndef WICK_TOOLS_VALUE_H
#define WICK_TOOLS_VALUE_H

#include "tensor_io.h"

/* The type of an input or output that is no tensor. */
typedef struct wick_value_type {
  bool optional, seq, map; /* optional(x), optional(seq(x)), seq(x), map(k,x), seq(map(k,x)) */
  wick_elem elem, key;     /* `key`: i64 or string, of a map */
} wick_value_type;

/* Parses "seq(map(string,f32))". Returns false for other texts. */
bool wick_value_type_parse(const char *text, wick_value_type *out);

/* Returns the name that the message of a file has, "" if it has none. `tensor`: the message is a
 * TensorProto. */
const char *wick_value_name(wick_span bytes, bool tensor, wick_arena *mem);

/* Reads a value.
 *   count    out: its tensors; -1 for an optional without a value; 2 for a map
 *   element  out: the tensors; of a map its keys, in their order, and its values, both of rank 1
 * Errors begin with `location`. */
WICK_CHECKED wick_status wick_value_read(wick_span bytes, const wick_value_type *type,
                                         const char *location, wick_arena *mem, int64_t *out_count,
                                         wick_array **out_element);

/* Returns the keys that the tensor NAME.keys of a map has. */
wick_keys wick_value_keys(const wick_array *keys);

/* Writes the message of a value that consists of these tensors: the elements, or the keys and the
 * values of a map. For a map with keys.n > 0 `element` is the tensor of its values, and for a
 * sequence of maps it has the rank 2. `count` is -1 for an optional without a value. */
WICK_CHECKED wick_status wick_value_write(const wick_value_type *type, const char *name,
                                          int64_t count, const wick_array *element,
                                          const char *location, wick_arena *mem, wick_bytes *out);

#endif
