/* The messages of MIL.proto, which an ML program is made of. Source: mlmodel/format/MIL.proto of
 * coremltools 9. Maps are lists of entries, as on the wire. */
#ifndef WICK_IMPORT_COREML_PROGRAM_PROTO_H
#define WICK_IMPORT_COREML_PROGRAM_PROTO_H

#include "import/wire.h"

/* ---- types ---- */

typedef enum wick_mil_dtype {
  WICK_MIL_BOOL = 1,
  WICK_MIL_STRING = 2,
  WICK_MIL_F16 = 10,
  WICK_MIL_F32 = 11,
  WICK_MIL_F64 = 12,
  WICK_MIL_BF16 = 13,
  WICK_MIL_I8 = 21,
  WICK_MIL_I16 = 22,
  WICK_MIL_I32 = 23,
  WICK_MIL_I64 = 24,
  WICK_MIL_I4 = 25,
  WICK_MIL_U8 = 31,
  WICK_MIL_U16 = 32,
  WICK_MIL_U32 = 33,
  WICK_MIL_U64 = 34,
  WICK_MIL_U4 = 35,
  WICK_MIL_U2 = 36,
  WICK_MIL_U1 = 37,
  WICK_MIL_U6 = 38,
  WICK_MIL_U3 = 39
} wick_mil_dtype;

typedef struct wick_mil_constant_dim {
  uint64_t has;
  int64_t size;
} wick_mil_constant_dim;
typedef struct wick_mil_unknown_dim {
  uint64_t has;
  int64_t variadic;
} wick_mil_unknown_dim;
typedef struct wick_mil_dim {
  uint64_t has;
  const wick_mil_constant_dim *constant;
  const wick_mil_unknown_dim *unknown;
} wick_mil_dim;

typedef struct wick_mil_tensor_type {
  uint64_t has;
  int64_t dtype, rank;
  WICK_WIRE_LIST(wick_mil_dim) dimensions;
} wick_mil_tensor_type;

typedef struct wick_mil_type wick_mil_type;
typedef struct wick_mil_list_type {
  uint64_t has;
  const wick_mil_type *type;
  const wick_mil_dim *length;
} wick_mil_list_type;
typedef struct wick_mil_state_type {
  uint64_t has;
  const wick_mil_type *wrapped;
} wick_mil_state_type;
struct wick_mil_type {
  uint64_t has;
  const wick_mil_tensor_type *tensor;
  const wick_mil_list_type *list;
  const wick_mil_state_type *state;
};

/* ---- values ---- */

typedef struct wick_mil_numbers { /* a list of numbers, packed */
  uint64_t has;
  wick_wire_spans values;
} wick_mil_numbers;
typedef struct wick_mil_bytes {
  uint64_t has;
  wick_span values;
} wick_mil_bytes;
typedef struct wick_mil_tensor {
  uint64_t has;
  const wick_mil_numbers *floats, *ints, *bools, *strings, *longs, *doubles;
  const wick_mil_bytes *bytes;
} wick_mil_tensor;

typedef struct wick_mil_value wick_mil_value;
typedef struct wick_mil_list {
  uint64_t has;
  WICK_WIRE_LIST(wick_mil_value) values;
} wick_mil_list;
typedef struct wick_mil_immediate {
  uint64_t has;
  const wick_mil_tensor *tensor;
  const wick_mil_list *tuple, *list;
} wick_mil_immediate;
typedef struct wick_mil_blob {
  uint64_t has;
  wick_span file;
  int64_t offset;
} wick_mil_blob;
struct wick_mil_value {
  uint64_t has;
  const wick_mil_type *type;
  const wick_mil_immediate *immediate;
  const wick_mil_blob *blob;
};
typedef struct wick_mil_attr {
  uint64_t has;
  wick_span key;
  const wick_mil_value *value;
} wick_mil_attr;
typedef WICK_WIRE_LIST(wick_mil_attr) wick_mil_attrs;

/* ---- programs ---- */

typedef struct wick_mil_binding { /* of an argument: to a name, or to a value */
  uint64_t has;
  wick_span name;
  const wick_mil_value *value;
} wick_mil_binding;
typedef struct wick_mil_argument {
  uint64_t has;
  WICK_WIRE_LIST(wick_mil_binding) bindings;
} wick_mil_argument;
typedef struct wick_mil_input {
  uint64_t has;
  wick_span key;
  const wick_mil_argument *value;
} wick_mil_input;

typedef struct wick_mil_named_type {
  uint64_t has;
  wick_span name;
  const wick_mil_type *type;
} wick_mil_named_type;
typedef WICK_WIRE_LIST(wick_mil_named_type) wick_mil_named_types;

typedef struct wick_mil_block wick_mil_block;
typedef struct wick_mil_operation {
  uint64_t has;
  wick_span type;
  WICK_WIRE_LIST(wick_mil_input) inputs;
  wick_mil_named_types outputs;
  WICK_WIRE_LIST(wick_mil_block) blocks;
  wick_mil_attrs attributes;
} wick_mil_operation;
struct wick_mil_block {
  uint64_t has;
  wick_mil_named_types inputs;
  wick_wire_spans outputs;
  WICK_WIRE_LIST(wick_mil_operation) operations;
};
typedef struct wick_mil_specialization {
  uint64_t has;
  wick_span key;
  const wick_mil_block *value;
} wick_mil_specialization;

typedef struct wick_mil_function {
  uint64_t has;
  wick_mil_named_types inputs;
  wick_span opset;
  WICK_WIRE_LIST(wick_mil_specialization) blocks;
} wick_mil_function;
typedef struct wick_mil_function_entry {
  uint64_t has;
  wick_span key;
  const wick_mil_function *value;
} wick_mil_function_entry;

typedef struct wick_mil_program {
  uint64_t has;
  int64_t version;
  WICK_WIRE_LIST(wick_mil_function_entry) functions;
} wick_mil_program;

extern const wick_wire_message wick_mil_program_message;

#endif
