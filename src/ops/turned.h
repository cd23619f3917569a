/* Large matrices of f32 that are constant, and wanted turned: made so when their bytes are wanted,
 * or read turned by who packs them (ir/ir.h: wick_recipe). */
#ifndef WICK_OPS_TURNED_H
#define WICK_OPS_TURNED_H

#include "ir/ir.h"

/* Constant `from`, [columns, rows], as [rows, columns]. Returns the new constant. */
uint32_t wick_constant_turned(wick_module *m, const char *name, wick_type type, uint32_t from);

/* Where constant k is a turned one that has no bytes yet, the one that it comes from; else 0. */
uint32_t wick_constant_turned_from(const wick_constant *k);

#endif
