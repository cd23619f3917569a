/* Declares TensorFlow's messages as C structs, and their field tables. Members are named as in the
 * .proto files of TensorFlow 2.20 (tensorflow/core/framework, core/protobuf). Fields that no reader
 * here needs have no member; reading skips them. Nothing here is validated. */
#ifndef WICK_IMPORT_TENSORFLOW_PROTO_H
#define WICK_IMPORT_TENSORFLOW_PROTO_H

#include "import/wire.h"
#include "import/wire_text.h"

/* DataType. A reference to a variable of type t is t + WICK_TF_REF. */
enum {
  WICK_TF_FLOAT = 1,
  WICK_TF_DOUBLE,
  WICK_TF_INT32,
  WICK_TF_UINT8,
  WICK_TF_INT16,
  WICK_TF_INT8,
  WICK_TF_STRING,
  WICK_TF_COMPLEX64,
  WICK_TF_INT64,
  WICK_TF_BOOL,
  WICK_TF_QINT8,
  WICK_TF_QUINT8,
  WICK_TF_QINT32,
  WICK_TF_BFLOAT16,
  WICK_TF_QINT16,
  WICK_TF_QUINT16,
  WICK_TF_UINT16,
  WICK_TF_COMPLEX128,
  WICK_TF_HALF,
  WICK_TF_RESOURCE,
  WICK_TF_VARIANT,
  WICK_TF_UINT32,
  WICK_TF_UINT64,
  WICK_TF_FLOAT8_E5M2,
  WICK_TF_FLOAT8_E4M3FN,
  WICK_TF_FLOAT8_E4M3FNUZ,
  WICK_TF_FLOAT8_E4M3B11FNUZ,
  WICK_TF_FLOAT8_E5M2FNUZ,
  WICK_TF_INT4,
  WICK_TF_UINT4,
  WICK_TF_INT2,
  WICK_TF_UINT2,
  WICK_TF_NTYPE,
  WICK_TF_REF = 100
};

/* Field numbers of AttrValue, for wick_wire_has. */
enum {
  WICK_TF_ATTR_LIST = 1,
  WICK_TF_ATTR_S,
  WICK_TF_ATTR_I,
  WICK_TF_ATTR_F,
  WICK_TF_ATTR_B,
  WICK_TF_ATTR_TYPE,
  WICK_TF_ATTR_SHAPE,
  WICK_TF_ATTR_TENSOR,
  WICK_TF_ATTR_PLACEHOLDER,
  WICK_TF_ATTR_FUNC
};

typedef struct wick_tf_dim { /* TensorShapeProto.Dim; size -1: unknown */
  uint64_t has;
  int64_t size;
} wick_tf_dim;

typedef struct wick_tf_shape { /* TensorShapeProto */
  uint64_t has;
  WICK_WIRE_LIST(wick_tf_dim) dim;
  int64_t unknown_rank;
} wick_tf_shape;

typedef struct wick_tf_tensor { /* TensorProto */
  uint64_t has;
  int64_t dtype;
  wick_tf_shape *tensor_shape;
  wick_span tensor_content;
  wick_wire_spans half_val, float_val, double_val, int_val, string_val, scomplex_val, int64_val,
      bool_val, dcomplex_val, uint32_val, uint64_val, float8_val;
} wick_tf_tensor;

typedef struct wick_tf_attr_entry wick_tf_attr_entry;
typedef WICK_WIRE_LIST(wick_tf_attr_entry) wick_tf_attr_entries;

typedef struct wick_tf_name_attrs { /* NameAttrList: a function and its attributes */
  uint64_t has;
  wick_span name;
  wick_tf_attr_entries attr;
} wick_tf_name_attrs;

typedef struct wick_tf_attr_list { /* AttrValue.ListValue */
  uint64_t has;
  wick_wire_spans s;
  wick_wire_i64s i;
  wick_wire_f32s f;
  wick_wire_i64s b, type;
  WICK_WIRE_LIST(wick_tf_shape) shape;
  WICK_WIRE_LIST(wick_tf_tensor) tensor;
  WICK_WIRE_LIST(wick_tf_name_attrs) func;
} wick_tf_attr_list;

typedef struct wick_tf_attr { /* AttrValue */
  uint64_t has;
  wick_tf_attr_list *list;
  wick_span s;
  int64_t i;
  float f;
  int64_t b, type;
  wick_tf_shape *shape;
  wick_tf_tensor *tensor;
  wick_span placeholder;
  wick_tf_name_attrs *func;
} wick_tf_attr;

struct wick_tf_attr_entry { /* an entry of map<string, AttrValue> */
  uint64_t has;
  wick_span key;
  wick_tf_attr *value;
};

typedef struct wick_tf_node { /* NodeDef */
  uint64_t has;
  wick_span name, op;
  wick_wire_spans input;
  wick_tf_attr_entries attr;
} wick_tf_node;
typedef WICK_WIRE_LIST(wick_tf_node) wick_tf_nodes;

typedef struct wick_tf_arg { /* OpDef.ArgDef */
  uint64_t has;
  wick_span name;
  int64_t type;
  wick_span type_attr, number_attr, type_list_attr;
} wick_tf_arg;
typedef WICK_WIRE_LIST(wick_tf_arg) wick_tf_args;

typedef struct wick_tf_op_def { /* OpDef */
  uint64_t has;
  wick_span name;
  wick_tf_args input_arg, output_arg;
  wick_wire_spans control_output;
} wick_tf_op_def;

typedef struct wick_tf_pair { /* an entry of map<string, string> */
  uint64_t has;
  wick_span key, value;
} wick_tf_pair;
typedef WICK_WIRE_LIST(wick_tf_pair) wick_tf_pairs;

typedef struct wick_tf_function { /* FunctionDef */
  uint64_t has;
  wick_tf_op_def *signature;
  wick_tf_nodes node_def;
  wick_tf_pairs ret, control_ret;
  wick_tf_attr_entries attr;
} wick_tf_function;

typedef struct wick_tf_library { /* FunctionDefLibrary */
  uint64_t has;
  WICK_WIRE_LIST(wick_tf_function) function;
} wick_tf_library;

typedef struct wick_tf_graph_def { /* GraphDef */
  uint64_t has;
  wick_tf_nodes node;
  wick_tf_library *library;
} wick_tf_graph_def;

typedef struct wick_tf_tensor_info { /* TensorInfo */
  uint64_t has;
  wick_span name;
  int64_t dtype;
  wick_tf_shape *tensor_shape;
} wick_tf_tensor_info;

typedef struct wick_tf_port { /* an entry of map<string, TensorInfo> */
  uint64_t has;
  wick_span key;
  wick_tf_tensor_info *value;
} wick_tf_port;
typedef WICK_WIRE_LIST(wick_tf_port) wick_tf_ports;

typedef struct wick_tf_signature { /* SignatureDef */
  uint64_t has;
  wick_tf_ports inputs, outputs;
  wick_span method_name;
} wick_tf_signature;

typedef struct wick_tf_signature_entry {
  uint64_t has;
  wick_span key;
  wick_tf_signature *value;
} wick_tf_signature_entry;

typedef struct wick_tf_child { /* ObjectReference */
  uint64_t has;
  int64_t node_id;
  wick_span local_name;
} wick_tf_child;
typedef WICK_WIRE_LIST(wick_tf_child) wick_tf_children;

typedef struct wick_tf_saved_variable {
  uint64_t has;
  int64_t dtype;
  wick_tf_shape *shape;
  wick_span name;
} wick_tf_saved_variable;

typedef struct wick_tf_saved_object { /* SavedObject */
  uint64_t has;
  wick_tf_children children;
  wick_tf_saved_variable *variable;
} wick_tf_saved_object;

typedef struct wick_tf_saved_function { /* SavedConcreteFunction */
  uint64_t has;
  wick_wire_i64s bound_inputs;
} wick_tf_saved_function;

typedef struct wick_tf_saved_function_entry {
  uint64_t has;
  wick_span key;
  wick_tf_saved_function *value;
} wick_tf_saved_function_entry;

typedef struct wick_tf_saved_objects { /* SavedObjectGraph */
  uint64_t has;
  WICK_WIRE_LIST(wick_tf_saved_object) nodes;
  WICK_WIRE_LIST(wick_tf_saved_function_entry) concrete_functions;
} wick_tf_saved_objects;

typedef struct wick_tf_meta_info { /* MetaGraphDef.MetaInfoDef */
  uint64_t has;
  wick_wire_spans tags;
  wick_span tensorflow_version;
} wick_tf_meta_info;

typedef struct wick_tf_asset { /* AssetFileDef */
  uint64_t has;
  wick_tf_tensor_info *tensor_info;
  wick_span filename;
} wick_tf_asset;

typedef struct wick_tf_node_list { /* CollectionDef.NodeList */
  uint64_t has;
  wick_wire_spans value;
} wick_tf_node_list;
typedef struct wick_tf_collection {
  uint64_t has;
  wick_tf_node_list *node_list;
} wick_tf_collection;
typedef struct wick_tf_collection_entry {
  uint64_t has;
  wick_span key;
  wick_tf_collection *value;
} wick_tf_collection_entry;

typedef struct wick_tf_saver { /* SaverDef */
  uint64_t has;
  wick_span filename_tensor_name, save_tensor_name, restore_op_name;
} wick_tf_saver;

typedef struct wick_tf_meta_graph { /* MetaGraphDef */
  uint64_t has;
  wick_tf_meta_info *meta_info_def;
  wick_tf_graph_def *graph_def;
  wick_tf_saver *saver_def;
  WICK_WIRE_LIST(wick_tf_collection_entry) collection_def;
  WICK_WIRE_LIST(wick_tf_signature_entry) signature_def;
  WICK_WIRE_LIST(wick_tf_asset) asset_file_def;
  wick_tf_saved_objects *object_graph_def;
} wick_tf_meta_graph;

typedef struct wick_tf_saved_model { /* SavedModel */
  uint64_t has;
  int64_t saved_model_schema_version;
  WICK_WIRE_LIST(wick_tf_meta_graph) meta_graphs;
} wick_tf_saved_model;

/* Checkpoints: TrackableObjectGraph, BundleHeaderProto, BundleEntryProto */
typedef struct wick_tf_saved_tensor { /* TrackableObject.SerializedTensor */
  uint64_t has;
  wick_span name, full_name, checkpoint_key;
} wick_tf_saved_tensor;

typedef struct wick_tf_trackable {
  uint64_t has;
  wick_tf_children children;
  WICK_WIRE_LIST(wick_tf_saved_tensor) attributes;
} wick_tf_trackable;

typedef struct wick_tf_trackables { /* TrackableObjectGraph */
  uint64_t has;
  WICK_WIRE_LIST(wick_tf_trackable) nodes;
} wick_tf_trackables;

typedef struct wick_tf_bundle_header {
  uint64_t has;
  int64_t num_shards, endianness;
} wick_tf_bundle_header;

typedef struct wick_tf_bundle_entry {
  uint64_t has;
  int64_t dtype;
  wick_tf_shape *shape;
  int64_t shard_id, offset, size, crc32c;
  wick_wire_spans slices;
} wick_tf_bundle_entry;

extern const wick_wire_message wick_tf_graph_message, wick_tf_saved_model_message,
    wick_tf_bundle_header_message, wick_tf_bundle_entry_message, wick_tf_trackables_message;

/* The enumerators that text forms of graphs have. */
extern const wick_wire_word wick_tf_words[];

#endif
