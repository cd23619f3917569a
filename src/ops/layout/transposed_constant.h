/* Transposed copies of large constant matrices of f32. A copy is a deferred constant (ir/ir.h:
 * wick_deferred_constant): it is transposed when its bytes are needed, or packing reads the
 * original transposed. */
#ifndef WICK_OPS_LAYOUT_TRANSPOSED_CONSTANT_H
#define WICK_OPS_LAYOUT_TRANSPOSED_CONSTANT_H

#include "ir/ir.h"

/* Makes the transpose [rows, columns] of constant `from` [columns, rows]. Returns its index. */
uint32_t wick_constant_transposed(wick_module *m, const char *name, wick_type type, uint32_t from);

/* Returns the constant that k is the transpose of, if k has no bytes yet; else 0. */
uint32_t wick_constant_transposed_from(const wick_constant *k);

#endif
