/* Single elements: load, store and rounding for every stored type. Only this code converts bits to
 * numbers. */
#ifndef WICK_IR_ELEMENT_H
#define WICK_IR_ELEMENT_H

#include "ir/op.h"

/* Loads element k of an array in memory. Floats give .f, integers and bool .i (u64: its bits),
 * strings their numbers in .i (base/string_table.h). Not for complex. */
wick_scalar wick_load_elem(wick_elem e, const void *data, uint64_t k);
void wick_store_elem(wick_elem e, void *data, uint64_t k,
                     wick_scalar s); /* rounds floats, wraps integers */
int64_t wick_load_int(wick_elem e, const void *data, uint64_t k);

/* Rounds s to a value of type e: floats to the nearest, ties to even, overflow to infinity (to the
 * largest, or NaN, if the type has no infinity); integers wrap. */
wick_scalar wick_round_elem(wick_elem e, wick_scalar s);

/* The conversions of the operator `cast`: float to integer truncates towards zero, NaN gives 0, and
 * values that do not fit saturate; integer to integer wraps; to bool is "not 0". */
wick_scalar wick_cast_elem(wick_elem from, wick_elem to, wick_scalar s);

/* Computes one element of scalar operator `op`: `elem` is the data operands' type, `out` the
 * result's. It is computed in the type's arithmetic (f32 for f16 and bf16) and rounded to the
 * result's type; integers wrap. */
wick_scalar wick_eval_scalar(wick_opcode op, const wick_attr *attr, wick_elem elem, wick_elem out,
                             const wick_scalar *in);

/* Convert 16-bit and 8-bit floats to and from their bits. */
uint16_t wick_f64_to_bits16(wick_elem e, double x);
double wick_bits16_to_f64(wick_elem e, uint16_t bits);

#endif
