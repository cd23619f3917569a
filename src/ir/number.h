/* Numbers of the element types as text that reads back to the same bits. */
#ifndef WICK_IR_NUMBER_H
#define WICK_IR_NUMBER_H

#include "ir/op.h"

/* Element k of a row of elements: the shortest decimal that wick_number_read reads back to the same
 * bits; inf, -inf, nan; a NaN that is not the usual one as its bits, 0x7fc00001. The host program's
 * locale is not asked. Complex and string elements have no numbers: they are "?". */
void wick_number_print(wick_text *out, wick_elem e, const void *data, uint64_t k);
void wick_number_print_scalar(wick_text *out, wick_elem e, wick_scalar x);

/* The reverse, into element k of data: [-] digits [. digits] [e digits], inf, -inf, nan, 0xBITS;
 * true, false for bool. Floats are rounded to the nearest, ties to even.
 * NULL, or what is wrong, in mem: "300 is outside of u8". */
WICK_CHECKED const char *wick_number_read(wick_elem e, const char *text, size_t n, wick_arena *mem,
                                          void *data, uint64_t k);

#endif
