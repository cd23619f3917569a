/* The values of number literals, and which element types have them. */
#ifndef WICK_LANG_LITERAL_H
#define WICK_LANG_LITERAL_H

#include "ir/element.h"
#include "lang/ast.h"

/* The value of an INT, FLOAT or BOOL as an element, not rounded to it; with the sign of a pattern,
 * without that of an expression, which is a node of its own. */
wick_scalar wick_literal_value(const wick_ast *n, wick_elem elem);

/* Whether the element type has the number, with the minus before it. Floats are rounded, but a
 * finite number does not become infinite. */
bool wick_literal_fits(const wick_ast *n, wick_elem elem);

#endif
