/* The field tables of MIL's messages. */
#include "import/coreml/program/proto.h"

#define FIELD WICK_WIRE_FIELD
#define PART WICK_WIRE_PART
#define MESSAGE static WICK_WIRE_SCHEMA

/* Recursive messages are declared first. */
static const wick_wire_message proto_type, proto_value, proto_block;

static const wick_wire_field proto_constant_dim_fields[] = {
    FIELD(wick_mil_constant_dim, size, 1, I64)};
MESSAGE(proto_constant_dim, "Dimension.ConstantDimension", wick_mil_constant_dim,
        proto_constant_dim_fields, 0);

static const wick_wire_field proto_unknown_dim_fields[] = {
    FIELD(wick_mil_unknown_dim, variadic, 1, I64)};
MESSAGE(proto_unknown_dim, "Dimension.UnknownDimension", wick_mil_unknown_dim,
        proto_unknown_dim_fields, 0);

static const wick_wire_field proto_dim_fields[] = {
    PART(wick_mil_dim, constant, 1, MESSAGE, proto_constant_dim),
    PART(wick_mil_dim, unknown, 2, MESSAGE, proto_unknown_dim)};
MESSAGE(proto_dim, "Dimension", wick_mil_dim, proto_dim_fields, 0x6);

static const wick_wire_field proto_tensor_type_fields[] = {
    FIELD(wick_mil_tensor_type, dtype, 1, I32), FIELD(wick_mil_tensor_type, rank, 2, I64),
    PART(wick_mil_tensor_type, dimensions, 3, MESSAGES, proto_dim)};
MESSAGE(proto_tensor_type, "TensorType", wick_mil_tensor_type, proto_tensor_type_fields, 0);

static const wick_wire_field proto_list_type_fields[] = {
    PART(wick_mil_list_type, type, 1, MESSAGE, proto_type),
    PART(wick_mil_list_type, length, 2, MESSAGE, proto_dim)};
MESSAGE(proto_list_type, "ListType", wick_mil_list_type, proto_list_type_fields, 0);

static const wick_wire_field proto_state_type_fields[] = {
    PART(wick_mil_state_type, wrapped, 1, MESSAGE, proto_type)};
MESSAGE(proto_state_type, "StateType", wick_mil_state_type, proto_state_type_fields, 0);

static const wick_wire_field proto_type_fields[] = {
    PART(wick_mil_type, tensor, 1, MESSAGE, proto_tensor_type),
    PART(wick_mil_type, list, 2, MESSAGE, proto_list_type),
    PART(wick_mil_type, state, 5, MESSAGE, proto_state_type)};
MESSAGE(proto_type, "ValueType", wick_mil_type, proto_type_fields, 0x3e);

/* ---- values ---- */

static const wick_wire_field proto_floats_fields[] = {FIELD(wick_mil_numbers, values, 1, DATA_F32)};
MESSAGE(proto_floats, "TensorValue.RepeatedFloats", wick_mil_numbers, proto_floats_fields, 0);

static const wick_wire_field proto_doubles_fields[] = {
    FIELD(wick_mil_numbers, values, 1, DATA_F64)};
MESSAGE(proto_doubles, "TensorValue.RepeatedDoubles", wick_mil_numbers, proto_doubles_fields, 0);

static const wick_wire_field proto_ints_fields[] = {
    FIELD(wick_mil_numbers, values, 1, DATA_VARINT)};
MESSAGE(proto_ints, "TensorValue.RepeatedInts", wick_mil_numbers, proto_ints_fields, 0);

static const wick_wire_field proto_strings_fields[] = {FIELD(wick_mil_numbers, values, 1, SPANS)};
MESSAGE(proto_strings, "TensorValue.RepeatedStrings", wick_mil_numbers, proto_strings_fields, 0);

static const wick_wire_field proto_bytes_fields[] = {FIELD(wick_mil_bytes, values, 1, BYTES)};
MESSAGE(proto_bytes, "TensorValue.RepeatedBytes", wick_mil_bytes, proto_bytes_fields, 0);

static const wick_wire_field proto_tensor_fields[] = {
    PART(wick_mil_tensor, floats, 1, MESSAGE, proto_floats),
    PART(wick_mil_tensor, ints, 2, MESSAGE, proto_ints),
    PART(wick_mil_tensor, bools, 3, MESSAGE, proto_ints),
    PART(wick_mil_tensor, strings, 4, MESSAGE, proto_strings),
    PART(wick_mil_tensor, longs, 5, MESSAGE, proto_ints),
    PART(wick_mil_tensor, doubles, 6, MESSAGE, proto_doubles),
    PART(wick_mil_tensor, bytes, 7, MESSAGE, proto_bytes)};
MESSAGE(proto_tensor, "TensorValue", wick_mil_tensor, proto_tensor_fields, 0xfe);

static const wick_wire_field proto_list_fields[] = {
    PART(wick_mil_list, values, 1, MESSAGES, proto_value)};
MESSAGE(proto_list, "ListValue", wick_mil_list, proto_list_fields, 0);

static const wick_wire_field proto_immediate_fields[] = {
    PART(wick_mil_immediate, tensor, 1, MESSAGE, proto_tensor),
    PART(wick_mil_immediate, tuple, 2, MESSAGE, proto_list),
    PART(wick_mil_immediate, list, 3, MESSAGE, proto_list)};
MESSAGE(proto_immediate, "Value.ImmediateValue", wick_mil_immediate, proto_immediate_fields, 0x1e);

static const wick_wire_field proto_blob_fields[] = {FIELD(wick_mil_blob, file, 1, BYTES),
                                                    FIELD(wick_mil_blob, offset, 2, I64)};
MESSAGE(proto_blob, "Value.BlobFileValue", wick_mil_blob, proto_blob_fields, 0);

static const wick_wire_field proto_value_fields[] = {
    PART(wick_mil_value, type, 2, MESSAGE, proto_type),
    PART(wick_mil_value, immediate, 3, MESSAGE, proto_immediate),
    PART(wick_mil_value, blob, 5, MESSAGE, proto_blob)};
MESSAGE(proto_value, "Value", wick_mil_value, proto_value_fields, 0x28);

static const wick_wire_field proto_attr_fields[] = {
    FIELD(wick_mil_attr, key, 1, BYTES), PART(wick_mil_attr, value, 2, MESSAGE, proto_value)};
MESSAGE(proto_attr, "Operation.AttributesEntry", wick_mil_attr, proto_attr_fields, 0);

/* ---- programs ---- */

static const wick_wire_field proto_binding_fields[] = {
    FIELD(wick_mil_binding, name, 1, BYTES),
    PART(wick_mil_binding, value, 2, MESSAGE, proto_value)};
MESSAGE(proto_binding, "Argument.Binding", wick_mil_binding, proto_binding_fields, 0x6);

static const wick_wire_field proto_argument_fields[] = {
    PART(wick_mil_argument, bindings, 1, MESSAGES, proto_binding)};
MESSAGE(proto_argument, "Argument", wick_mil_argument, proto_argument_fields, 0);

static const wick_wire_field proto_input_fields[] = {
    FIELD(wick_mil_input, key, 1, BYTES), PART(wick_mil_input, value, 2, MESSAGE, proto_argument)};
MESSAGE(proto_input, "Operation.InputsEntry", wick_mil_input, proto_input_fields, 0);

static const wick_wire_field proto_named_type_fields[] = {
    FIELD(wick_mil_named_type, name, 1, BYTES),
    PART(wick_mil_named_type, type, 2, MESSAGE, proto_type)};
MESSAGE(proto_named_type, "NamedValueType", wick_mil_named_type, proto_named_type_fields, 0);

static const wick_wire_field proto_operation_fields[] = {
    FIELD(wick_mil_operation, type, 1, BYTES),
    PART(wick_mil_operation, inputs, 2, MESSAGES, proto_input),
    PART(wick_mil_operation, outputs, 3, MESSAGES, proto_named_type),
    PART(wick_mil_operation, blocks, 4, MESSAGES, proto_block),
    PART(wick_mil_operation, attributes, 5, MESSAGES, proto_attr)};
MESSAGE(proto_operation, "Operation", wick_mil_operation, proto_operation_fields, 0);

static const wick_wire_field proto_block_fields[] = {
    PART(wick_mil_block, inputs, 1, MESSAGES, proto_named_type),
    FIELD(wick_mil_block, outputs, 2, SPANS),
    PART(wick_mil_block, operations, 3, MESSAGES, proto_operation)};
MESSAGE(proto_block, "Block", wick_mil_block, proto_block_fields, 0);

static const wick_wire_field proto_specialization_fields[] = {
    FIELD(wick_mil_specialization, key, 1, BYTES),
    PART(wick_mil_specialization, value, 2, MESSAGE, proto_block)};
MESSAGE(proto_specialization, "Function.BlockSpecializationsEntry", wick_mil_specialization,
        proto_specialization_fields, 0);

static const wick_wire_field proto_function_fields[] = {
    PART(wick_mil_function, inputs, 1, MESSAGES, proto_named_type),
    FIELD(wick_mil_function, opset, 2, BYTES),
    PART(wick_mil_function, blocks, 3, MESSAGES, proto_specialization)};
MESSAGE(proto_function, "Function", wick_mil_function, proto_function_fields, 0);

static const wick_wire_field proto_function_entry_fields[] = {
    FIELD(wick_mil_function_entry, key, 1, BYTES),
    PART(wick_mil_function_entry, value, 2, MESSAGE, proto_function)};
MESSAGE(proto_function_entry, "Program.FunctionsEntry", wick_mil_function_entry,
        proto_function_entry_fields, 0);

static const wick_wire_field proto_program_fields[] = {
    FIELD(wick_mil_program, version, 1, I64),
    PART(wick_mil_program, functions, 2, MESSAGES, proto_function_entry)};
WICK_WIRE_SCHEMA(wick_mil_program_message, "Program", wick_mil_program, proto_program_fields, 0);
