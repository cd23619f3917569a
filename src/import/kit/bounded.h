/* The kit's own: how sizes that depend on data go on from operator to operator. */
#ifndef WICK_IMPORT_KIT_BOUNDED_H
#define WICK_IMPORT_KIT_BOUNDED_H

#include "import/kit/import.h"

/* After an operator of the model became the nodes from `first` on, whose values are those from `value` on: records which of their results
 * have a size that depends on data, and lets reductions leave out what is not valid. If an operand's
 * size cannot be followed, the operator fails, unless the contents of inputs tell the size. */
void wick_import_bounded_follow(wick_import_node *n, uint32_t first, uint32_t value);
/* The same for an operator whose bodies were imported, node by node: their values cannot be carried by
 * a loop. */
void wick_import_bounded_bodies(wick_import_node *n, uint32_t first);

#endif
