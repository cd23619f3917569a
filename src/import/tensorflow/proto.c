/* The field tables of TensorFlow's messages. Source: the .proto files of TensorFlow 2.20, in
 * tensorflow/core/framework and tensorflow/core/protobuf. */
#include "import/tensorflow/proto.h"

#define FIELD WICK_WIRE_FIELD
#define PART WICK_WIRE_PART
#define MESSAGE WICK_WIRE_SCHEMA

static const wick_wire_message proto_attr; /* declared first: it is recursive */

static const wick_wire_field proto_dim_fields[] = {FIELD(wick_tf_dim, size, 1, I64)};
static MESSAGE(proto_dim, "TensorShapeProto.Dim", wick_tf_dim, proto_dim_fields, 0);

static const wick_wire_field proto_shape_fields[] = {
    PART(wick_tf_shape, dim, 2, MESSAGES, proto_dim),
    FIELD(wick_tf_shape, unknown_rank, 3, I64),
};
static MESSAGE(proto_shape, "TensorShapeProto", wick_tf_shape, proto_shape_fields, 0);

static const wick_wire_field proto_tensor_fields[] = {
    FIELD(wick_tf_tensor, dtype, 1, I32),
    PART(wick_tf_tensor, tensor_shape, 2, MESSAGE, proto_shape),
    FIELD(wick_tf_tensor, tensor_content, 4, BYTES),
    FIELD(wick_tf_tensor, float_val, 5, DATA_F32),
    FIELD(wick_tf_tensor, double_val, 6, DATA_F64),
    FIELD(wick_tf_tensor, int_val, 7, DATA_VARINT),
    FIELD(wick_tf_tensor, string_val, 8, SPANS),
    FIELD(wick_tf_tensor, scomplex_val, 9, DATA_F32),
    FIELD(wick_tf_tensor, int64_val, 10, DATA_VARINT),
    FIELD(wick_tf_tensor, bool_val, 11, DATA_VARINT),
    FIELD(wick_tf_tensor, dcomplex_val, 12, DATA_F64),
    FIELD(wick_tf_tensor, half_val, 13, DATA_VARINT),
    FIELD(wick_tf_tensor, uint32_val, 16, DATA_VARINT),
    FIELD(wick_tf_tensor, uint64_val, 17, DATA_VARINT),
    FIELD(wick_tf_tensor, float8_val, 18, SPANS),
};
static MESSAGE(proto_tensor, "TensorProto", wick_tf_tensor, proto_tensor_fields, 0);

static const wick_wire_field proto_attr_entry_fields[] = {
    FIELD(wick_tf_attr_entry, key, 1, BYTES),
    PART(wick_tf_attr_entry, value, 2, MESSAGE, proto_attr),
};
static MESSAGE(proto_attr_entry, "NodeDef.AttrEntry", wick_tf_attr_entry, proto_attr_entry_fields,
               0);

static const wick_wire_field proto_name_attrs_fields[] = {
    FIELD(wick_tf_name_attrs, name, 1, BYTES),
    PART(wick_tf_name_attrs, attr, 2, MESSAGES, proto_attr_entry),
};
static MESSAGE(proto_name_attrs, "NameAttrList", wick_tf_name_attrs, proto_name_attrs_fields, 0);

static const wick_wire_field proto_attr_list_fields[] = {
    FIELD(wick_tf_attr_list, s, WICK_TF_ATTR_S, SPANS),
    FIELD(wick_tf_attr_list, i, WICK_TF_ATTR_I, I64S),
    FIELD(wick_tf_attr_list, f, WICK_TF_ATTR_F, F32S),
    FIELD(wick_tf_attr_list, b, WICK_TF_ATTR_B, I64S),
    FIELD(wick_tf_attr_list, type, WICK_TF_ATTR_TYPE, I64S),
    PART(wick_tf_attr_list, shape, WICK_TF_ATTR_SHAPE, MESSAGES, proto_shape),
    PART(wick_tf_attr_list, tensor, WICK_TF_ATTR_TENSOR, MESSAGES, proto_tensor),
    PART(wick_tf_attr_list, func, 9, MESSAGES, proto_name_attrs),
};
static MESSAGE(proto_attr_list, "AttrValue.ListValue", wick_tf_attr_list, proto_attr_list_fields,
               0);

static const wick_wire_field proto_attr_fields[] = {
    PART(wick_tf_attr, list, WICK_TF_ATTR_LIST, MESSAGE, proto_attr_list),
    FIELD(wick_tf_attr, s, WICK_TF_ATTR_S, BYTES),
    FIELD(wick_tf_attr, i, WICK_TF_ATTR_I, I64),
    FIELD(wick_tf_attr, f, WICK_TF_ATTR_F, F32),
    FIELD(wick_tf_attr, b, WICK_TF_ATTR_B, I64),
    FIELD(wick_tf_attr, type, WICK_TF_ATTR_TYPE, I32),
    PART(wick_tf_attr, shape, WICK_TF_ATTR_SHAPE, MESSAGE, proto_shape),
    PART(wick_tf_attr, tensor, WICK_TF_ATTR_TENSOR, MESSAGE, proto_tensor),
    FIELD(wick_tf_attr, placeholder, WICK_TF_ATTR_PLACEHOLDER, BYTES),
    PART(wick_tf_attr, func, WICK_TF_ATTR_FUNC, MESSAGE, proto_name_attrs),
};
static MESSAGE(proto_attr, "AttrValue", wick_tf_attr, proto_attr_fields, 0x7fe);

static const wick_wire_field proto_node_fields[] = {
    FIELD(wick_tf_node, name, 1, BYTES),
    FIELD(wick_tf_node, op, 2, BYTES),
    FIELD(wick_tf_node, input, 3, SPANS),
    PART(wick_tf_node, attr, 5, MESSAGES, proto_attr_entry),
};
static MESSAGE(proto_node, "NodeDef", wick_tf_node, proto_node_fields, 0);

static const wick_wire_field proto_arg_fields[] = {
    FIELD(wick_tf_arg, name, 1, BYTES),           FIELD(wick_tf_arg, type, 3, I32),
    FIELD(wick_tf_arg, type_attr, 4, BYTES),      FIELD(wick_tf_arg, number_attr, 5, BYTES),
    FIELD(wick_tf_arg, type_list_attr, 6, BYTES),
};
static MESSAGE(proto_arg, "OpDef.ArgDef", wick_tf_arg, proto_arg_fields, 0);

static const wick_wire_field proto_op_def_fields[] = {
    FIELD(wick_tf_op_def, name, 1, BYTES),
    PART(wick_tf_op_def, input_arg, 2, MESSAGES, proto_arg),
    PART(wick_tf_op_def, output_arg, 3, MESSAGES, proto_arg),
    FIELD(wick_tf_op_def, control_output, 20, SPANS),
};
static MESSAGE(proto_op_def, "OpDef", wick_tf_op_def, proto_op_def_fields, 0);

static const wick_wire_field proto_pair_fields[] = {
    FIELD(wick_tf_pair, key, 1, BYTES),
    FIELD(wick_tf_pair, value, 2, BYTES),
};
static MESSAGE(proto_pair, "FunctionDef.RetEntry", wick_tf_pair, proto_pair_fields, 0);

static const wick_wire_field proto_function_fields[] = {
    PART(wick_tf_function, signature, 1, MESSAGE, proto_op_def),
    PART(wick_tf_function, node_def, 3, MESSAGES, proto_node),
    PART(wick_tf_function, ret, 4, MESSAGES, proto_pair),
    PART(wick_tf_function, attr, 5, MESSAGES, proto_attr_entry),
    PART(wick_tf_function, control_ret, 6, MESSAGES, proto_pair),
};
static MESSAGE(proto_function, "FunctionDef", wick_tf_function, proto_function_fields, 0);

static const wick_wire_field proto_library_fields[] = {
    PART(wick_tf_library, function, 1, MESSAGES, proto_function)};
static MESSAGE(proto_library, "FunctionDefLibrary", wick_tf_library, proto_library_fields, 0);

static const wick_wire_field proto_graph_fields[] = {
    PART(wick_tf_graph_def, node, 1, MESSAGES, proto_node),
    PART(wick_tf_graph_def, library, 2, MESSAGE, proto_library),
};
MESSAGE(wick_tf_graph_message, "GraphDef", wick_tf_graph_def, proto_graph_fields, 0);

static const wick_wire_field proto_tensor_info_fields[] = {
    FIELD(wick_tf_tensor_info, name, 1, BYTES),
    FIELD(wick_tf_tensor_info, dtype, 2, I32),
    PART(wick_tf_tensor_info, tensor_shape, 3, MESSAGE, proto_shape),
};
static MESSAGE(proto_tensor_info, "TensorInfo", wick_tf_tensor_info, proto_tensor_info_fields, 0);

static const wick_wire_field proto_port_fields[] = {
    FIELD(wick_tf_port, key, 1, BYTES),
    PART(wick_tf_port, value, 2, MESSAGE, proto_tensor_info),
};
static MESSAGE(proto_port, "SignatureDef.InputsEntry", wick_tf_port, proto_port_fields, 0);

static const wick_wire_field proto_signature_fields[] = {
    PART(wick_tf_signature, inputs, 1, MESSAGES, proto_port),
    PART(wick_tf_signature, outputs, 2, MESSAGES, proto_port),
    FIELD(wick_tf_signature, method_name, 3, BYTES),
};
static MESSAGE(proto_signature, "SignatureDef", wick_tf_signature, proto_signature_fields, 0);

static const wick_wire_field proto_signature_entry_fields[] = {
    FIELD(wick_tf_signature_entry, key, 1, BYTES),
    PART(wick_tf_signature_entry, value, 2, MESSAGE, proto_signature),
};
static MESSAGE(proto_signature_entry, "MetaGraphDef.SignatureDefEntry", wick_tf_signature_entry,
               proto_signature_entry_fields, 0);

static const wick_wire_field proto_child_fields[] = {
    FIELD(wick_tf_child, node_id, 1, I32),
    FIELD(wick_tf_child, local_name, 2, BYTES),
};
static MESSAGE(proto_child, "ObjectReference", wick_tf_child, proto_child_fields, 0);

static const wick_wire_field proto_saved_variable_fields[] = {
    FIELD(wick_tf_saved_variable, dtype, 1, I32),
    PART(wick_tf_saved_variable, shape, 2, MESSAGE, proto_shape),
    FIELD(wick_tf_saved_variable, name, 6, BYTES),
};
static MESSAGE(proto_saved_variable, "SavedVariable", wick_tf_saved_variable,
               proto_saved_variable_fields, 0);

static const wick_wire_field proto_saved_object_fields[] = {
    PART(wick_tf_saved_object, children, 1, MESSAGES, proto_child),
    PART(wick_tf_saved_object, variable, 7, MESSAGE, proto_saved_variable),
};
static MESSAGE(proto_saved_object, "SavedObject", wick_tf_saved_object, proto_saved_object_fields,
               0);

static const wick_wire_field proto_saved_function_fields[] = {
    FIELD(wick_tf_saved_function, bound_inputs, 2, I64S)};
static MESSAGE(proto_saved_function, "SavedConcreteFunction", wick_tf_saved_function,
               proto_saved_function_fields, 0);

static const wick_wire_field proto_saved_function_entry_fields[] = {
    FIELD(wick_tf_saved_function_entry, key, 1, BYTES),
    PART(wick_tf_saved_function_entry, value, 2, MESSAGE, proto_saved_function),
};
static MESSAGE(proto_saved_function_entry, "SavedObjectGraph.ConcreteFunctionsEntry",
               wick_tf_saved_function_entry, proto_saved_function_entry_fields, 0);

static const wick_wire_field proto_saved_objects_fields[] = {
    PART(wick_tf_saved_objects, nodes, 1, MESSAGES, proto_saved_object),
    PART(wick_tf_saved_objects, concrete_functions, 2, MESSAGES, proto_saved_function_entry),
};
static MESSAGE(proto_saved_objects, "SavedObjectGraph", wick_tf_saved_objects,
               proto_saved_objects_fields, 0);

static const wick_wire_field proto_meta_info_fields[] = {
    FIELD(wick_tf_meta_info, tags, 4, SPANS),
    FIELD(wick_tf_meta_info, tensorflow_version, 5, BYTES),
};
static MESSAGE(proto_meta_info, "MetaInfoDef", wick_tf_meta_info, proto_meta_info_fields, 0);

static const wick_wire_field proto_asset_fields[] = {
    PART(wick_tf_asset, tensor_info, 1, MESSAGE, proto_tensor_info),
    FIELD(wick_tf_asset, filename, 2, BYTES),
};
static MESSAGE(proto_asset, "AssetFileDef", wick_tf_asset, proto_asset_fields, 0);

static const wick_wire_field proto_node_list_fields[] = {FIELD(wick_tf_node_list, value, 1, SPANS)};
static MESSAGE(proto_node_list, "CollectionDef.NodeList", wick_tf_node_list, proto_node_list_fields,
               0);
static const wick_wire_field proto_collection_fields[] = {
    PART(wick_tf_collection, node_list, 1, MESSAGE, proto_node_list)};
static MESSAGE(proto_collection, "CollectionDef", wick_tf_collection, proto_collection_fields, 0);
static const wick_wire_field proto_collection_entry_fields[] = {
    FIELD(wick_tf_collection_entry, key, 1, BYTES),
    PART(wick_tf_collection_entry, value, 2, MESSAGE, proto_collection),
};
static MESSAGE(proto_collection_entry, "MetaGraphDef.CollectionDefEntry", wick_tf_collection_entry,
               proto_collection_entry_fields, 0);

static const wick_wire_field proto_saver_fields[] = {
    FIELD(wick_tf_saver, filename_tensor_name, 1, BYTES),
    FIELD(wick_tf_saver, save_tensor_name, 2, BYTES),
    FIELD(wick_tf_saver, restore_op_name, 3, BYTES),
};
static MESSAGE(proto_saver, "SaverDef", wick_tf_saver, proto_saver_fields, 0);

static const wick_wire_field proto_meta_graph_fields[] = {
    PART(wick_tf_meta_graph, meta_info_def, 1, MESSAGE, proto_meta_info),
    PART(wick_tf_meta_graph, graph_def, 2, MESSAGE, wick_tf_graph_message),
    PART(wick_tf_meta_graph, saver_def, 3, MESSAGE, proto_saver),
    PART(wick_tf_meta_graph, collection_def, 4, MESSAGES, proto_collection_entry),
    PART(wick_tf_meta_graph, signature_def, 5, MESSAGES, proto_signature_entry),
    PART(wick_tf_meta_graph, asset_file_def, 6, MESSAGES, proto_asset),
    PART(wick_tf_meta_graph, object_graph_def, 7, MESSAGE, proto_saved_objects),
};
static MESSAGE(proto_meta_graph, "MetaGraphDef", wick_tf_meta_graph, proto_meta_graph_fields, 0);

static const wick_wire_field proto_saved_model_fields[] = {
    FIELD(wick_tf_saved_model, saved_model_schema_version, 1, I64),
    PART(wick_tf_saved_model, meta_graphs, 2, MESSAGES, proto_meta_graph),
};
MESSAGE(wick_tf_saved_model_message, "SavedModel", wick_tf_saved_model, proto_saved_model_fields,
        0);

/* ---- checkpoints ---- */

static const wick_wire_field proto_saved_tensor_fields[] = {
    FIELD(wick_tf_saved_tensor, name, 1, BYTES),
    FIELD(wick_tf_saved_tensor, full_name, 2, BYTES),
    FIELD(wick_tf_saved_tensor, checkpoint_key, 3, BYTES),
};
static MESSAGE(proto_saved_tensor, "TrackableObject.SerializedTensor", wick_tf_saved_tensor,
               proto_saved_tensor_fields, 0);

static const wick_wire_field proto_trackable_fields[] = {
    PART(wick_tf_trackable, children, 1, MESSAGES, proto_child),
    PART(wick_tf_trackable, attributes, 2, MESSAGES, proto_saved_tensor),
};
static MESSAGE(proto_trackable, "TrackableObject", wick_tf_trackable, proto_trackable_fields, 0);

static const wick_wire_field proto_trackables_fields[] = {
    PART(wick_tf_trackables, nodes, 1, MESSAGES, proto_trackable)};
MESSAGE(wick_tf_trackables_message, "TrackableObjectGraph", wick_tf_trackables,
        proto_trackables_fields, 0);

static const wick_wire_field proto_bundle_header_fields[] = {
    FIELD(wick_tf_bundle_header, num_shards, 1, I32),
    FIELD(wick_tf_bundle_header, endianness, 2, I32),
};
MESSAGE(wick_tf_bundle_header_message, "BundleHeaderProto", wick_tf_bundle_header,
        proto_bundle_header_fields, 0);

static const wick_wire_field proto_bundle_entry_fields[] = {
    FIELD(wick_tf_bundle_entry, dtype, 1, I32),
    PART(wick_tf_bundle_entry, shape, 2, MESSAGE, proto_shape),
    FIELD(wick_tf_bundle_entry, shard_id, 3, I32),
    FIELD(wick_tf_bundle_entry, offset, 4, I64),
    FIELD(wick_tf_bundle_entry, size, 5, I64),
    FIELD(wick_tf_bundle_entry, crc32c, 6, FIXED32),
    FIELD(wick_tf_bundle_entry, slices, 7, SPANS),
};
MESSAGE(wick_tf_bundle_entry_message, "BundleEntryProto", wick_tf_bundle_entry,
        proto_bundle_entry_fields, 0);

/* ---- enumerators ---- */

#define TYPE(name, value)                                                                          \
  {NULL, "DT_" #name, value}, { NULL, "DT_" #name "_REF", (value) + WICK_TF_REF }
const wick_wire_word wick_tf_words[] = {
    TYPE(FLOAT, WICK_TF_FLOAT),
    TYPE(DOUBLE, WICK_TF_DOUBLE),
    TYPE(INT32, WICK_TF_INT32),
    TYPE(UINT8, WICK_TF_UINT8),
    TYPE(INT16, WICK_TF_INT16),
    TYPE(INT8, WICK_TF_INT8),
    TYPE(STRING, WICK_TF_STRING),
    TYPE(COMPLEX64, WICK_TF_COMPLEX64),
    TYPE(INT64, WICK_TF_INT64),
    TYPE(BOOL, WICK_TF_BOOL),
    TYPE(QINT8, WICK_TF_QINT8),
    TYPE(QUINT8, WICK_TF_QUINT8),
    TYPE(QINT32, WICK_TF_QINT32),
    TYPE(BFLOAT16, WICK_TF_BFLOAT16),
    TYPE(QINT16, WICK_TF_QINT16),
    TYPE(QUINT16, WICK_TF_QUINT16),
    TYPE(UINT16, WICK_TF_UINT16),
    TYPE(COMPLEX128, WICK_TF_COMPLEX128),
    TYPE(HALF, WICK_TF_HALF),
    TYPE(RESOURCE, WICK_TF_RESOURCE),
    TYPE(VARIANT, WICK_TF_VARIANT),
    TYPE(UINT32, WICK_TF_UINT32),
    TYPE(UINT64, WICK_TF_UINT64),
    TYPE(FLOAT8_E5M2, WICK_TF_FLOAT8_E5M2),
    TYPE(FLOAT8_E4M3FN, WICK_TF_FLOAT8_E4M3FN),
    TYPE(FLOAT8_E4M3FNUZ, WICK_TF_FLOAT8_E4M3FNUZ),
    TYPE(FLOAT8_E4M3B11FNUZ, WICK_TF_FLOAT8_E4M3B11FNUZ),
    TYPE(FLOAT8_E5M2FNUZ, WICK_TF_FLOAT8_E5M2FNUZ),
    TYPE(INT4, WICK_TF_INT4),
    TYPE(UINT4, WICK_TF_UINT4),
    TYPE(INT2, WICK_TF_INT2),
    TYPE(UINT2, WICK_TF_UINT2),
    {"type", "DT_INVALID", 0},
    {NULL, NULL, 0},
};
