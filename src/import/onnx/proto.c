/* The field tables of ONNX's messages. Source: onnx.proto of onnx 1.23.2. */
#include "import/onnx/proto.h"

#define FIELD WICK_WIRE_FIELD
#define PART WICK_WIRE_PART
#define MESSAGE WICK_WIRE_SCHEMA

static const wick_wire_message proto_type, proto_graph; /* declared first: they are recursive */

static const wick_wire_field proto_pair_fields[] = {
    FIELD(wick_onnx_pair, key, 1, BYTES),
    FIELD(wick_onnx_pair, value, 2, BYTES),
};
static MESSAGE(proto_pair, "StringStringEntryProto", wick_onnx_pair, proto_pair_fields, 0);

static const wick_wire_field proto_segment_fields[] = {
    FIELD(wick_onnx_segment, begin, 1, I64),
    FIELD(wick_onnx_segment, end, 2, I64),
};
static MESSAGE(proto_segment, "TensorProto.Segment", wick_onnx_segment, proto_segment_fields, 0);

static const wick_wire_field proto_tensor_fields[] = {
    FIELD(wick_onnx_tensor, dims, 1, I64S),
    FIELD(wick_onnx_tensor, data_type, 2, I32),
    PART(wick_onnx_tensor, segment, 3, MESSAGE, proto_segment),
    FIELD(wick_onnx_tensor, float_data, 4, DATA_F32),
    FIELD(wick_onnx_tensor, int32_data, 5, DATA_VARINT),
    FIELD(wick_onnx_tensor, string_data, 6, SPANS),
    FIELD(wick_onnx_tensor, int64_data, 7, DATA_VARINT),
    FIELD(wick_onnx_tensor, name, 8, BYTES),
    FIELD(wick_onnx_tensor, raw_data, 9, BYTES),
    FIELD(wick_onnx_tensor, double_data, 10, DATA_F64),
    FIELD(wick_onnx_tensor, uint64_data, 11, DATA_VARINT),
    FIELD(wick_onnx_tensor, doc_string, 12, BYTES),
    PART(wick_onnx_tensor, external_data, 13, MESSAGES, proto_pair),
    FIELD(wick_onnx_tensor, data_location, 14, I32),
    PART(wick_onnx_tensor, metadata_props, 16, MESSAGES, proto_pair),
};
MESSAGE(wick_onnx_tensor_message, "TensorProto", wick_onnx_tensor, proto_tensor_fields, 0);

static const wick_wire_field proto_sparse_tensor_fields[] = {
    PART(wick_onnx_sparse_tensor, values, 1, MESSAGE, wick_onnx_tensor_message),
    PART(wick_onnx_sparse_tensor, indices, 2, MESSAGE, wick_onnx_tensor_message),
    FIELD(wick_onnx_sparse_tensor, dims, 3, I64S),
};
static MESSAGE(proto_sparse_tensor, "SparseTensorProto", wick_onnx_sparse_tensor,
               proto_sparse_tensor_fields, 0);

static const wick_wire_field proto_dim_fields[] = {
    FIELD(wick_onnx_dim, dim_value, WICK_ONNX_DIM_VALUE, I64),
    FIELD(wick_onnx_dim, dim_param, WICK_ONNX_DIM_PARAM, BYTES),
    FIELD(wick_onnx_dim, denotation, 3, BYTES),
};
static MESSAGE(proto_dim, "TensorShapeProto.Dimension", wick_onnx_dim, proto_dim_fields,
               1u << WICK_ONNX_DIM_VALUE | 1u << WICK_ONNX_DIM_PARAM);

static const wick_wire_field proto_shape_fields[] = {
    PART(wick_onnx_shape, dim, 1, MESSAGES, proto_dim)};
static MESSAGE(proto_shape, "TensorShapeProto", wick_onnx_shape, proto_shape_fields, 0);

static const wick_wire_field proto_tensor_type_fields[] = {
    FIELD(wick_onnx_tensor_type, elem_type, 1, I32),
    PART(wick_onnx_tensor_type, shape, WICK_ONNX_TENSOR_TYPE_SHAPE, MESSAGE, proto_shape),
};
static MESSAGE(proto_tensor_type, "TypeProto.Tensor", wick_onnx_tensor_type,
               proto_tensor_type_fields, 0);
static MESSAGE(proto_sparse_tensor_type, "TypeProto.SparseTensor", wick_onnx_tensor_type,
               proto_tensor_type_fields, 0);

static const wick_wire_field proto_elem_type_fields[] = {
    PART(wick_onnx_elem_type, elem_type, 1, MESSAGE, proto_type)};
static MESSAGE(proto_sequence_type, "TypeProto.Sequence", wick_onnx_elem_type,
               proto_elem_type_fields, 0);
static MESSAGE(proto_optional_type, "TypeProto.Optional", wick_onnx_elem_type,
               proto_elem_type_fields, 0);

static const wick_wire_field proto_map_type_fields[] = {
    FIELD(wick_onnx_map_type, key_type, 1, I32),
    PART(wick_onnx_map_type, value_type, 2, MESSAGE, proto_type),
};
static MESSAGE(proto_map_type, "TypeProto.Map", wick_onnx_map_type, proto_map_type_fields, 0);

static const wick_wire_field proto_type_fields[] = {
    PART(wick_onnx_type, tensor_type, WICK_ONNX_TYPE_TENSOR, MESSAGE, proto_tensor_type),
    PART(wick_onnx_type, sequence_type, WICK_ONNX_TYPE_SEQUENCE, MESSAGE, proto_sequence_type),
    PART(wick_onnx_type, map_type, WICK_ONNX_TYPE_MAP, MESSAGE, proto_map_type),
    FIELD(wick_onnx_type, denotation, 6, BYTES),
    FIELD(wick_onnx_type, opaque_type, WICK_ONNX_TYPE_OPAQUE, BYTES),
    PART(wick_onnx_type, sparse_tensor_type, WICK_ONNX_TYPE_SPARSE_TENSOR, MESSAGE,
         proto_sparse_tensor_type),
    PART(wick_onnx_type, optional_type, WICK_ONNX_TYPE_OPTIONAL, MESSAGE, proto_optional_type),
};
static MESSAGE(proto_type, "TypeProto", wick_onnx_type, proto_type_fields,
               1u << WICK_ONNX_TYPE_TENSOR | 1u << WICK_ONNX_TYPE_SEQUENCE |
                   1u << WICK_ONNX_TYPE_MAP | 1u << WICK_ONNX_TYPE_OPAQUE |
                   1u << WICK_ONNX_TYPE_SPARSE_TENSOR | 1u << WICK_ONNX_TYPE_OPTIONAL);

static const wick_wire_field proto_value_info_fields[] = {
    FIELD(wick_onnx_value_info, name, 1, BYTES),
    PART(wick_onnx_value_info, type, 2, MESSAGE, proto_type),
    FIELD(wick_onnx_value_info, doc_string, 3, BYTES),
    PART(wick_onnx_value_info, metadata_props, 4, MESSAGES, proto_pair),
};
static MESSAGE(proto_value_info, "ValueInfoProto", wick_onnx_value_info, proto_value_info_fields,
               0);

static const wick_wire_field proto_attr_fields[] = {
    FIELD(wick_onnx_attr, name, 1, BYTES),
    FIELD(wick_onnx_attr, f, WICK_ONNX_FIELD_F, F32),
    FIELD(wick_onnx_attr, i, WICK_ONNX_FIELD_I, I64),
    FIELD(wick_onnx_attr, s, WICK_ONNX_FIELD_S, BYTES),
    PART(wick_onnx_attr, t, 5, MESSAGE, wick_onnx_tensor_message),
    PART(wick_onnx_attr, g, 6, MESSAGE, proto_graph),
    FIELD(wick_onnx_attr, floats, 7, F32S),
    FIELD(wick_onnx_attr, ints, 8, I64S),
    FIELD(wick_onnx_attr, strings, 9, SPANS),
    PART(wick_onnx_attr, tensors, 10, MESSAGES, wick_onnx_tensor_message),
    PART(wick_onnx_attr, graphs, 11, MESSAGES, proto_graph),
    FIELD(wick_onnx_attr, doc_string, 13, BYTES),
    PART(wick_onnx_attr, tp, 14, MESSAGE, proto_type),
    PART(wick_onnx_attr, type_protos, 15, MESSAGES, proto_type),
    FIELD(wick_onnx_attr, type, 20, I32),
    FIELD(wick_onnx_attr, ref_attr_name, 21, BYTES),
    PART(wick_onnx_attr, sparse_tensor, 22, MESSAGE, proto_sparse_tensor),
    PART(wick_onnx_attr, sparse_tensors, 23, MESSAGES, proto_sparse_tensor),
};
static MESSAGE(proto_attr, "AttributeProto", wick_onnx_attr, proto_attr_fields, 0);

static const wick_wire_field proto_node_fields[] = {
    FIELD(wick_onnx_node, input, 1, SPANS),
    FIELD(wick_onnx_node, output, 2, SPANS),
    FIELD(wick_onnx_node, name, 3, BYTES),
    FIELD(wick_onnx_node, op_type, 4, BYTES),
    PART(wick_onnx_node, attribute, 5, MESSAGES, proto_attr),
    FIELD(wick_onnx_node, doc_string, 6, BYTES),
    FIELD(wick_onnx_node, domain, 7, BYTES),
    FIELD(wick_onnx_node, overload, 8, BYTES),
    PART(wick_onnx_node, metadata_props, 9, MESSAGES, proto_pair),
};
static MESSAGE(proto_node, "NodeProto", wick_onnx_node, proto_node_fields, 0);

static const wick_wire_field proto_annotation_fields[] = {
    FIELD(wick_onnx_annotation, tensor_name, 1, BYTES),
    PART(wick_onnx_annotation, quant_parameter_tensor_names, 2, MESSAGES, proto_pair),
};
static MESSAGE(proto_annotation, "TensorAnnotation", wick_onnx_annotation, proto_annotation_fields,
               0);

static const wick_wire_field proto_graph_fields[] = {
    PART(wick_onnx_graph, node, 1, MESSAGES, proto_node),
    FIELD(wick_onnx_graph, name, 2, BYTES),
    PART(wick_onnx_graph, initializer, 5, MESSAGES, wick_onnx_tensor_message),
    FIELD(wick_onnx_graph, doc_string, 10, BYTES),
    PART(wick_onnx_graph, input, 11, MESSAGES, proto_value_info),
    PART(wick_onnx_graph, output, 12, MESSAGES, proto_value_info),
    PART(wick_onnx_graph, value_info, 13, MESSAGES, proto_value_info),
    PART(wick_onnx_graph, quantization_annotation, 14, MESSAGES, proto_annotation),
    PART(wick_onnx_graph, sparse_initializer, 15, MESSAGES, proto_sparse_tensor),
    PART(wick_onnx_graph, metadata_props, 16, MESSAGES, proto_pair),
};
static MESSAGE(proto_graph, "GraphProto", wick_onnx_graph, proto_graph_fields, 0);

static const wick_wire_field proto_opset_fields[] = {
    FIELD(wick_onnx_opset, domain, 1, BYTES),
    FIELD(wick_onnx_opset, version, 2, I64),
};
static MESSAGE(proto_opset, "OperatorSetIdProto", wick_onnx_opset, proto_opset_fields, 0);

static const wick_wire_field proto_function_fields[] = {
    FIELD(wick_onnx_function, name, 1, BYTES),
    FIELD(wick_onnx_function, input, 4, SPANS),
    FIELD(wick_onnx_function, output, 5, SPANS),
    FIELD(wick_onnx_function, attribute, 6, SPANS),
    PART(wick_onnx_function, node, 7, MESSAGES, proto_node),
    FIELD(wick_onnx_function, doc_string, 8, BYTES),
    PART(wick_onnx_function, opset_import, 9, MESSAGES, proto_opset),
    FIELD(wick_onnx_function, domain, 10, BYTES),
    PART(wick_onnx_function, attribute_proto, 11, MESSAGES, proto_attr),
    PART(wick_onnx_function, value_info, 12, MESSAGES, proto_value_info),
    FIELD(wick_onnx_function, overload, 13, BYTES),
    PART(wick_onnx_function, metadata_props, 14, MESSAGES, proto_pair),
};
static MESSAGE(proto_function, "FunctionProto", wick_onnx_function, proto_function_fields, 0);

static const wick_wire_field proto_model_fields[] = {
    FIELD(wick_onnx_model, ir_version, 1, I64),
    FIELD(wick_onnx_model, producer_name, 2, BYTES),
    FIELD(wick_onnx_model, producer_version, 3, BYTES),
    FIELD(wick_onnx_model, domain, 4, BYTES),
    FIELD(wick_onnx_model, model_version, 5, I64),
    FIELD(wick_onnx_model, doc_string, 6, BYTES),
    PART(wick_onnx_model, graph, 7, MESSAGE, proto_graph),
    PART(wick_onnx_model, opset_import, 8, MESSAGES, proto_opset),
    PART(wick_onnx_model, metadata_props, 14, MESSAGES, proto_pair),
    FIELD(wick_onnx_model, training_info, 20, SPANS),
    PART(wick_onnx_model, functions, 25, MESSAGES, proto_function),
};
MESSAGE(wick_onnx_model_message, "ModelProto", wick_onnx_model, proto_model_fields, 0);
