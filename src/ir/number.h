/* Numbers of the element types as text that reads back to the same bits. */
#ifndef WICK_IR_NUMBER_H
#define WICK_IR_NUMBER_H

#include "ir/op.h"

/* Prints element k of an array: the shortest decimal that wick_number_read reads back to the same
 * bits; inf, -inf, nan; an unusual NaN as its bits, 0x7fc00001. The host program's locale has no
 * effect. Complex and string elements print as "?". */
void wick_number_print(wick_text *out, wick_elem e, const void *data, uint64_t k);
void wick_number_print_scalar(wick_text *out, wick_elem e, wick_scalar x);

/* Reads a number into element k of data: [-] digits [. digits] [e digits], inf, -inf, nan, 0xBITS;
 * true, false for bool. Floats are rounded to the nearest, ties to even.
 * Returns NULL, or the reason in mem: "300 is outside of u8". */
WICK_CHECKED const char *wick_number_read(wick_elem e, const char *text, size_t n, wick_arena *mem,
                                          void *data, uint64_t k);

#endif
