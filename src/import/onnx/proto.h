/* Declares ONNX's messages as C structs, and their field tables. Members are named as in onnx.proto
 * (onnx 1.23.2, IR version 14).
 *
 * Device and sharding configurations and Opaque types have no struct; reading skips them.
 * Enumerations and numbers are as in the file: nothing here is validated. */
#ifndef WICK_IMPORT_ONNX_PROTO_H
#define WICK_IMPORT_ONNX_PROTO_H

#include "import/wire.h"

/* TensorProto.DataType */
enum {
  WICK_ONNX_UNDEFINED,
  WICK_ONNX_FLOAT,
  WICK_ONNX_UINT8,
  WICK_ONNX_INT8,
  WICK_ONNX_UINT16,
  WICK_ONNX_INT16,
  WICK_ONNX_INT32,
  WICK_ONNX_INT64,
  WICK_ONNX_STRING,
  WICK_ONNX_BOOL,
  WICK_ONNX_FLOAT16,
  WICK_ONNX_DOUBLE,
  WICK_ONNX_UINT32,
  WICK_ONNX_UINT64,
  WICK_ONNX_COMPLEX64,
  WICK_ONNX_COMPLEX128,
  WICK_ONNX_BFLOAT16,
  WICK_ONNX_FLOAT8E4M3FN,
  WICK_ONNX_FLOAT8E4M3FNUZ,
  WICK_ONNX_FLOAT8E5M2,
  WICK_ONNX_FLOAT8E5M2FNUZ,
  WICK_ONNX_UINT4,
  WICK_ONNX_INT4,
  WICK_ONNX_FLOAT4E2M1,
  WICK_ONNX_FLOAT8E8M0,
  WICK_ONNX_UINT2,
  WICK_ONNX_INT2,
  WICK_ONNX_FLOAT6E2M3,
  WICK_ONNX_FLOAT6E3M2,
  WICK_ONNX_NTYPE
};

/* AttributeProto.AttributeType */
enum {
  WICK_ONNX_ATTR_UNDEFINED,
  WICK_ONNX_ATTR_FLOAT,
  WICK_ONNX_ATTR_INT,
  WICK_ONNX_ATTR_STRING,
  WICK_ONNX_ATTR_TENSOR,
  WICK_ONNX_ATTR_GRAPH,
  WICK_ONNX_ATTR_FLOATS,
  WICK_ONNX_ATTR_INTS,
  WICK_ONNX_ATTR_STRINGS,
  WICK_ONNX_ATTR_TENSORS,
  WICK_ONNX_ATTR_GRAPHS,
  WICK_ONNX_ATTR_SPARSE_TENSOR,
  WICK_ONNX_ATTR_SPARSE_TENSORS,
  WICK_ONNX_ATTR_TYPE_PROTO,
  WICK_ONNX_ATTR_TYPE_PROTOS,
  WICK_ONNX_ATTR_NKIND
};

/* Field numbers for wick_wire_has, for the fields whose presence matters. */
enum {
  WICK_ONNX_DIM_VALUE = 1,
  WICK_ONNX_DIM_PARAM = 2,
  WICK_ONNX_TYPE_TENSOR = 1,
  WICK_ONNX_TYPE_SEQUENCE = 4,
  WICK_ONNX_TYPE_MAP = 5,
  WICK_ONNX_TYPE_OPAQUE = 7,
  WICK_ONNX_TYPE_SPARSE_TENSOR = 8,
  WICK_ONNX_TYPE_OPTIONAL = 9,
  WICK_ONNX_TENSOR_TYPE_SHAPE = 2,
  WICK_ONNX_FIELD_F = 2, /* of attributes */
  WICK_ONNX_FIELD_I = 3,
  WICK_ONNX_FIELD_S = 4,
};

typedef struct wick_onnx_pair { /* StringStringEntryProto */
  uint64_t has;
  wick_span key, value;
} wick_onnx_pair;
typedef WICK_WIRE_LIST(wick_onnx_pair) wick_onnx_pairs;

typedef struct wick_onnx_segment {
  uint64_t has;
  int64_t begin, end;
} wick_onnx_segment;

typedef struct wick_onnx_tensor { /* TensorProto */
  uint64_t has;
  wick_wire_i64s dims;
  int64_t data_type;
  wick_onnx_segment *segment;
  wick_wire_spans float_data, int32_data, string_data, int64_data, double_data, uint64_data;
  wick_span name, doc_string, raw_data;
  wick_onnx_pairs external_data;
  int64_t data_location; /* 1: external */
  wick_onnx_pairs metadata_props;
} wick_onnx_tensor;

typedef struct wick_onnx_sparse_tensor {
  uint64_t has;
  wick_onnx_tensor *values, *indices;
  wick_wire_i64s dims;
} wick_onnx_sparse_tensor;

typedef struct wick_onnx_dim { /* TensorShapeProto.Dimension */
  uint64_t has;
  int64_t dim_value;
  wick_span dim_param, denotation;
} wick_onnx_dim;

typedef struct wick_onnx_shape {
  uint64_t has;
  WICK_WIRE_LIST(wick_onnx_dim) dim;
} wick_onnx_shape;

typedef struct wick_onnx_tensor_type { /* TypeProto.Tensor and TypeProto.SparseTensor */
  uint64_t has;
  int64_t elem_type;
  wick_onnx_shape *shape;
} wick_onnx_tensor_type;

typedef struct wick_onnx_type wick_onnx_type;
typedef struct wick_onnx_elem_type { /* TypeProto.Sequence and TypeProto.Optional */
  uint64_t has;
  wick_onnx_type *elem_type;
} wick_onnx_elem_type;

typedef struct wick_onnx_map_type {
  uint64_t has;
  int64_t key_type;
  wick_onnx_type *value_type;
} wick_onnx_map_type;

struct wick_onnx_type { /* TypeProto; `has` tells which member is present */
  uint64_t has;
  wick_onnx_tensor_type *tensor_type, *sparse_tensor_type;
  wick_onnx_elem_type *sequence_type, *optional_type;
  wick_onnx_map_type *map_type;
  wick_span opaque_type; /* unread */
  wick_span denotation;
};

typedef struct wick_onnx_value_info {
  uint64_t has;
  wick_span name, doc_string;
  wick_onnx_type *type;
  wick_onnx_pairs metadata_props;
} wick_onnx_value_info;
typedef WICK_WIRE_LIST(wick_onnx_value_info) wick_onnx_value_infos;

typedef struct wick_onnx_graph wick_onnx_graph;
typedef struct wick_onnx_attr { /* AttributeProto */
  uint64_t has;
  wick_span name, ref_attr_name, doc_string, s;
  int64_t type, i;
  float f;
  wick_onnx_tensor *t;
  wick_onnx_graph *g;
  wick_onnx_sparse_tensor *sparse_tensor;
  wick_onnx_type *tp;
  wick_wire_f32s floats;
  wick_wire_i64s ints;
  wick_wire_spans strings;
  WICK_WIRE_LIST(wick_onnx_tensor) tensors;
  WICK_WIRE_LIST(wick_onnx_graph) graphs;
  WICK_WIRE_LIST(wick_onnx_sparse_tensor) sparse_tensors;
  WICK_WIRE_LIST(wick_onnx_type) type_protos;
} wick_onnx_attr;
typedef WICK_WIRE_LIST(wick_onnx_attr) wick_onnx_attrs;

typedef struct wick_onnx_node { /* NodeProto */
  uint64_t has;
  wick_wire_spans input, output;
  wick_span name, op_type, domain, overload, doc_string;
  wick_onnx_attrs attribute;
  wick_onnx_pairs metadata_props;
} wick_onnx_node;
typedef WICK_WIRE_LIST(wick_onnx_node) wick_onnx_nodes;

typedef struct wick_onnx_annotation { /* TensorAnnotation */
  uint64_t has;
  wick_span tensor_name;
  wick_onnx_pairs quant_parameter_tensor_names;
} wick_onnx_annotation;

struct wick_onnx_graph { /* GraphProto */
  uint64_t has;
  wick_onnx_nodes node;
  wick_span name, doc_string;
  WICK_WIRE_LIST(wick_onnx_tensor) initializer;
  WICK_WIRE_LIST(wick_onnx_sparse_tensor) sparse_initializer;
  wick_onnx_value_infos input, output, value_info;
  WICK_WIRE_LIST(wick_onnx_annotation) quantization_annotation;
  wick_onnx_pairs metadata_props;
};

typedef struct wick_onnx_opset { /* OperatorSetIdProto */
  uint64_t has;
  wick_span domain;
  int64_t version;
} wick_onnx_opset;
typedef WICK_WIRE_LIST(wick_onnx_opset) wick_onnx_opsets;

typedef struct wick_onnx_function { /* FunctionProto */
  uint64_t has;
  wick_span name, doc_string, domain, overload;
  wick_wire_spans input, output, attribute;
  wick_onnx_attrs attribute_proto;
  wick_onnx_nodes node;
  wick_onnx_opsets opset_import;
  wick_onnx_value_infos value_info;
  wick_onnx_pairs metadata_props;
} wick_onnx_function;

typedef struct wick_onnx_model { /* ModelProto */
  uint64_t has;
  int64_t ir_version, model_version;
  wick_onnx_opsets opset_import;
  wick_span producer_name, producer_version, domain, doc_string;
  wick_onnx_graph *graph;
  wick_onnx_pairs metadata_props;
  wick_wire_spans training_info; /* unread */
  WICK_WIRE_LIST(wick_onnx_function) functions;
} wick_onnx_model;

extern const wick_wire_message wick_onnx_model_message, wick_onnx_tensor_message;

#endif
