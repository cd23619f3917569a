/* Builds nodes of Wick for importers: attributes by name, and small compositions.
 *
 * Everything here takes the function's builder. A misfit is the builder's first failure
 * (wick_builder.status), with the location that the builder has; the importer moves it to its list
 * of errors after each node. Axes count from 0. */
#ifndef WICK_IMPORT_KIT_EMIT_H
#define WICK_IMPORT_KIT_EMIT_H

#include "base/reader.h"
#include "ir/build.h"

/* A node with attributes by name; the others have their defaults. Lists must live until the node is
 * built. */
typedef struct wick_emit {
  wick_builder *b;
  wick_opcode op;
  wick_attr attr[WICK_MAX_ATTR];
} wick_emit;
wick_emit wick_emit_begin(wick_builder *b, wick_opcode op);
void wick_emit_set_int(wick_emit *e, const char *name, int64_t i);
void wick_emit_set_float(wick_emit *e, const char *name, double f);
void wick_emit_set_ints(wick_emit *e, const char *name, uint32_t n, const int64_t *ints);
void wick_emit_set_floats(wick_emit *e, const char *name, uint32_t n, const double *floats);
void wick_emit_set_dims(wick_emit *e, const char *name, uint32_t n, const wick_dim *dims);
wick_value wick_emit_end(wick_emit *e, uint32_t nin, const wick_value *in);
wick_value wick_emit_end1(wick_emit *e, wick_value x);
wick_value wick_emit_end2(wick_emit *e, wick_value x, wick_value y);

/* Adds data to the module as a constant under a free name near `name`; the data is not copied.
 * Takes constant time, even if many constants have the same name. */
uint32_t wick_emit_constant(wick_module *m, const char *name, wick_type type, const void *data,
                            uint64_t nbytes);
/* The same for the contents of an input as callers give them, which are copied: strings are
 * wick_string there. Returns false if they have another size than the type. */
bool wick_emit_content(wick_module *m, const char *name, wick_type type, wick_span data,
                       uint32_t *out);

/* Builds an immediate of rank 0 and of x's element type; integers saturate. */
wick_value wick_emit_number(wick_builder *b, wick_value x, double number);
/* Returns x op number, with the number in x's element type. */
wick_value wick_emit_by(wick_builder *b, wick_opcode op, wick_value x, double number);
/* Returns floor(x / y) of integers; where x / y overflows, it wraps. */
wick_value wick_emit_floor_div(wick_builder *b, wick_value x, wick_value y);
/* Builds a constant of these numbers, rounded to `elem`. */
wick_value wick_emit_table(wick_builder *b, const char *name, wick_elem elem, uint32_t rank,
                           const int64_t *dim, const double *numbers);

/* A text as a constant of rank 0. */
wick_value wick_emit_string(wick_builder *b, const char *text);
/* Returns the bits of x as another element type of the same size. */
wick_value wick_emit_bits(wick_builder *b, wick_value x, wick_elem elem);
wick_value wick_emit_expand(wick_builder *b, wick_value x, uint32_t n, const wick_dim *dim);
/* Returns 0, 1, ... n - 1 in i64; along: with rank `rank`, where all axes but `axis` have size
 * 1. */
wick_value wick_emit_count(wick_builder *b, wick_dim n);
wick_value wick_emit_count_along(wick_builder *b, wick_dim n, uint32_t axis, uint32_t rank);
wick_value wick_emit_unsqueeze(wick_builder *b, wick_value x, uint32_t axis);
wick_value wick_emit_squeeze(wick_builder *b, wick_value x, uint32_t axis);
wick_value wick_emit_slice(wick_builder *b, wick_value x, uint32_t axis, wick_dim begin,
                           wick_dim size);
/* gather or gather_elements */
wick_value wick_emit_gather(wick_builder *b, wick_opcode op, wick_value x, wick_value index,
                            uint32_t axis);
/* Axes from -rank to rank - 1. */
wick_value wick_emit_reduce(wick_builder *b, wick_opcode op, wick_value x, uint32_t n,
                            const int64_t *axes, bool keepdims);
wick_value wick_emit_reduce1(wick_builder *b, wick_opcode op, wick_value x, int64_t axis,
                             bool keepdims);
/* A loop of `count` steps that carries n values. Begin returns the region's first parameter: the index,
 * after which the carried values follow. End gets their next values, then the `stacked` values, of which
 * each step's is a row of a result with `most` rows; it returns the first result. */
wick_value wick_emit_loop_begin(wick_builder *b, wick_value count, uint32_t n,
                                const wick_value *carried, uint32_t stacked, wick_dim most);
wick_value wick_emit_loop_end(wick_builder *b, uint32_t n, const wick_value *next);

/* The angle of the point (x, y), from -pi to pi, as C's atan2 has it for zeros and infinities. */
wick_value wick_emit_atan2(wick_builder *b, wick_value y, wick_value x);
/* Converts x to a type that Wick's operator accepts, if the format accepts more: integers to f64,
 * narrow floats to f32. */
wick_value wick_emit_widen(wick_builder *b, wick_opcode op, wick_value x);

#endif
