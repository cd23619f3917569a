/* Cotangents of data at the borders of a transformation. Inside, the cotangent of a value of @T is of
 * type @T.d, which may be Zero. Outside, it is of a type that the program declares, with the
 * constructors of @T in order, each with the cotangents of its floats and of its data, also of data
 * without floats, which has none inside. */
#ifndef WICK_GRAPH_GRAD_CONVERT_H
#define WICK_GRAPH_GRAD_CONVERT_H

#include "ir/build.h"

/* Builds a call of the function of this name, which `define` builds at the first call: it turns values of
 * type `of` into ones of `type`, that of the result. */
wick_value wick_convert_call(wick_builder *b, const char *name, uint32_t n, const wick_value *in,
                             wick_type of, wick_type type,
                             void (*define)(wick_builder *b, wick_type of, wick_type to));

/* Returns the cotangent or tangent v, of the declared type, of a value of type `of` as it is inside. */
wick_value wick_convert_in(wick_builder *b, wick_value v, wick_type of);
/* Returns the cotangent d of the value x as one of type `to`: Zero becomes zeros, with the constructors
 * of x. d may be 0 if x has no cotangent inside. Fails in the builder if `to` is not such a type. */
wick_value wick_convert_out(wick_builder *b, wick_value d, wick_value x, wick_type to);

#endif
