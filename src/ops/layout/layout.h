/* Blocked layouts: the column `layout` says what an operator does with packed operands.
 *
 * A walk over a function knows each value plain, packed, or both. An image [N, C, Y, X] is packed
 * by channels, in some order (ops/nn/blocked.h); a matrix [.., N] that a product with constant weights
 * gives, by columns: [.., blocks, columns]. The column `layout` builds the node on packed operands
 * and sets its packed result, or returns false, and the node is built on plain ones. Places of a
 * packed image that hold no channel hold 0, or, where only element-wise rows see them (and what
 * sums bytes, whose weights are 0 there), some other number. */
#ifndef WICK_OPS_LAYOUT_LAYOUT_H
#define WICK_OPS_LAYOUT_LAYOUT_H

#include "ir/copy.h"
#include "ir/op.h"
#include "loop/tuning_records.h"
#include "ops/nn/blocked.h"
#include "target/target.h"

typedef struct wick_packed {
  wick_value v; /* 0: none */
  wick_order order;
  int64_t columns;  /* of a matrix: in a block; then there is no order. Else 0 */
  wick_scalar hole; /* of an image: what its places hold that hold no channel */
} wick_packed;

struct wick_layouts {
  wick_copier c;       /* c.to: the plain form, or 0 */
  wick_packed *packed; /* per old value */
  wick_packed *second; /* per old value: in another order */
  wick_value *weights; /* per old value: a constant that many nodes multiply by, as they want it */
  const uint32_t *definer;
  wick_uses uses;
  wick_arena *mem;
  const wick_target *target;
  int64_t block;                /* channels in a block: lanes of f32 */
  bool strict;                  /* nothing that is only approximately the convolution */
  wick_tuning_records *records; /* of choices; NULL: none */
  wick_status failed;           /* the first failure, NULL: none yet */
};

static inline const wick_type_info *wick_layout_info(const wick_layouts *s, wick_value v)
{
  return wick_info_of(s->c.f, v);
}
/* An image of words, halves, bytes or bools with that many channels: what can be packed. */
bool wick_layout_is_image(const wick_layouts *s, wick_value v);
/* The order of a packed image; NULL where v is none. */
const wick_order *wick_layout_order(const wick_layouts *s, wick_value v);

/* The order that n's result meets next: that of an operand beside it where its only users, one
 * after another, are element-wise. NULL where there is none. */
const wick_order *wick_layout_wanted(const wick_layouts *s, const wick_node *n);

/* What v, of f32, was cast from where that is a float of 16 bits; else v. */
wick_value wick_layout_narrow(const wick_layouts *s, wick_value v);
/* e, a float of 16 bits, holds all numbers of an f32 constant. */
bool wick_layout_holds(const wick_layouts *s, uint32_t constant, wick_elem e);
/* The f32 at `from`, which may lie misaligned and which e holds, as e. */
uint16_t wick_layout_half(wick_elem e, const void *from);
/* All of a constant. */
const uint16_t *wick_layout_halves(const wick_layouts *s, const wick_constant *k, wick_elem e);

wick_value wick_layout_plain(wick_layouts *s, wick_value v);
/* An image in that order. */
wick_value wick_layout_pack(wick_layouts *s, wick_value v, const wick_order *o);
/* In the order that it has, or in one part. */
wick_value wick_layout_packed(wick_layouts *s, wick_value v, wick_order *o);
/* n's result is packed. */
void wick_layout_set(wick_layouts *s, const wick_node *n, wick_value packed, const wick_order *o);
void wick_layout_set_columns(wick_layouts *s, const wick_node *n, wick_value packed,
                             int64_t columns);

/* The data of a constant operand, or NULL. */
const wick_constant *wick_layout_constant(const wick_layouts *s, wick_value v);
/* The number of a constant operand, whose bytes may lie misaligned or not be made yet, for
 * deferred constants; 0 if it is not a constant. */
uint32_t wick_layout_weights(const wick_layouts *s, wick_value v);
wick_value wick_layout_new_weights(wick_layouts *s, wick_elem elem, uint32_t rank,
                                   const int64_t *dim, const wick_deferred_constant *r);
wick_value wick_layout_new_constant(wick_layouts *s, const char *name, wick_elem elem,
                                    const void *data, uint32_t rank, const int64_t *dim);
/* [channels] numbers as [1, blocks, 1, 1, block]. */
wick_value wick_layout_channels(wick_layouts *s, const wick_constant *k, const wick_order *o);

/* ---- columns that rows share ---- */

/* Element by element: rows without a column of their own that are scalar have this one. */
bool wick_layout_scalar(wick_layouts *s, const wick_node *n);
/* Joins: along places as they are; along channels where the parts lie one after another. */
bool wick_layout_join(wick_layouts *s, const wick_node *n);
/* Pools: windows of 1 along the block; stride, pad, dilation, kernel come first. */
bool wick_layout_pool(wick_layouts *s, const wick_node *n);
/* Sums and means over whole images: the same axes of the packed tensor. */
bool wick_layout_reduce(wick_layouts *s, const wick_node *n);
bool wick_layout_conv(wick_layouts *s, const wick_node *n);
wick_factors wick_conv_factors(const wick_narrowing *c);
/* The same of bytes, with sums in i32 (layout_bytes.c). */
bool wick_layout_conv_bytes(wick_layouts *s, const wick_node *n);
bool wick_layout_matmul_bytes(wick_layouts *s, const wick_node *n);
/* Columns in a block of a matrix that is multiplied by rows like x's: the vectors that a tile has.
 */
int64_t wick_layout_matmul_width(const wick_layouts *s, const wick_type_info *x, int64_t columns);
bool wick_layout_matmul(wick_layouts *s, const wick_node *n);
/* Steps of recurrent rows: a narrow state by weights in pairs (layout_step.c). */
bool wick_layout_step(wick_layouts *s, const wick_node *n);
wick_factors wick_step_factors(const wick_narrowing *c);
bool wick_layout_shuffle(wick_layouts *s, const wick_node *n);
/* A view that keeps the type, and all that may be done with a value without looking at it. */
bool wick_layout_same(wick_layouts *s, const wick_node *n);

#endif
