/* Matrices of f32 that are constant numbers of few bits, dequantized: (q - zero) * scale, or casts
 * of 16-bit floats. A matrix is a deferred constant (ir/ir.h: wick_deferred_constant): it becomes
 * f32 when its bytes are needed, or a product reads the narrow numbers. */
#ifndef WICK_OPS_LAYOUT_DEQUANTIZED_CONSTANT_H
#define WICK_OPS_LAYOUT_DEQUANTIZED_CONSTANT_H

#include "ir/ir.h"

/* Numbers that blocks of a matrix share. Axis 0 counts rows, axis 1 columns. */
typedef struct wick_shared_numbers {
  const void *data;            /* NULL: none */
  int64_t block[2], stride[2]; /* neighbours that share a number; elements between blocks */
} wick_shared_numbers;

static inline int64_t wick_shared_index(const wick_shared_numbers *s, int64_t row, int64_t column)
{
  return row / s->block[0] * s->stride[0] + column / s->block[1] * s->stride[1];
}

typedef struct wick_dequantized {
  wick_deferred_constant r;        /* r.from: the numbers q */
  wick_elem elem;                  /* of q */
  int64_t rows, columns;           /* of the matrix */
  bool turned;                     /* q is [columns, rows] */
  wick_shared_numbers scale, zero; /* f32 and i32; a matrix of 16-bit floats has none */
} wick_dequantized;

/* Returns element k of q as an integer, for elements of 2 to 8 bits. */
int32_t wick_dequantized_code(wick_elem e, const void *q, int64_t k);
/* Adds the matrix that `d` describes, except d->r, as a constant. Returns its index. */
uint32_t wick_constant_dequantized(wick_module *m, const char *name, uint32_t q,
                                   const wick_dequantized *d);
/* Returns what the constant is made of; NULL if it is none of these, or has its bytes already. */
const wick_dequantized *wick_dequantized_of(const wick_constant *k);
/* Returns the description of the transposed matrix. */
wick_dequantized wick_dequantized_transposed(const wick_dequantized *d);

#endif
