/* Blocked layouts: the column `layout` of an operator defines how it handles packed operands.
 *
 * A walk over a function tracks whether each value is plain, packed, or both. An image, [N, C, Y, X] or [N, C, Z, Y, X],
 * is packed by channels, in some order (ops/nn/blocked.h). A matrix [.., N] that is the result of a
 * product with constant weights is packed by columns: [.., blocks, columns]. The column `layout`
 * builds the node on packed operands and sets its packed result, or returns false, and the node is
 * built on plain operands. Places of a packed image without a channel contain 0. They may contain
 * some other number if only element-wise operators read them (or sums of bytes, which have weights
 * of 0 there). */
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
  int64_t columns;  /* for a matrix: columns in a block, without an order; else 0 */
  wick_scalar hole; /* for an image: the value of places without a channel */
} wick_packed;

struct wick_layouts {
  wick_copier c;       /* c.to: the plain form, or 0 */
  wick_packed *packed; /* per old value */
  wick_packed *second; /* per old value: its form in another order */
  /* per old value: a constant factor of many nodes, in the form that they need */
  wick_value *weights;
  const uint32_t *definer;
  const wick_node
      *loop; /* the loop whose step the node at hand belongs to; NULL if there is none, or a branch
                          * is nearer */
  wick_uses uses;
  wick_arena *mem;
  const wick_target *target;
  int64_t block;                /* channels in a block: the lanes of f32 */
  bool strict;                  /* no algorithm that only approximates the convolution */
  wick_tuning_records *records; /* of choices; NULL: none */
  wick_status failed;           /* the first failure; NULL: none */
};

static inline const wick_type_info *wick_layout_info(const wick_layouts *s, wick_value v)
{
  return wick_info_of(s->c.f, v);
}
/* Returns true if v is an image with that many channels whose elements can be packed: words,
 * halves, bytes or bools. */
bool wick_layout_is_image(const wick_layouts *s, wick_value v);
/* Returns the order of a packed image, or NULL if v is not packed as one. */
const wick_order *wick_layout_order(const wick_layouts *s, wick_value v);

/* Returns the order in which n's result is used next. It is the order of the other operand that a
 * chain of element-wise only users combines it with. NULL if there is none. */
const wick_order *wick_layout_wanted(const wick_layouts *s, const wick_node *n);

/* Returns the 16-bit float that v, an f32, was cast from; v itself if it was not. */
wick_value wick_layout_narrow(const wick_layouts *s, wick_value v);
/* Returns true if e, a 16-bit float type, can represent all numbers of an f32 constant exactly. */
bool wick_layout_holds(const wick_layouts *s, uint32_t constant, wick_elem e);
/* Converts the f32 at `from` to e, which can represent it exactly. `from` may be misaligned. */
uint16_t wick_layout_half(wick_elem e, const void *from);
/* Converts a whole constant. */
const uint16_t *wick_layout_halves(const wick_layouts *s, const wick_constant *k, wick_elem e);

wick_value wick_layout_plain(wick_layouts *s, wick_value v);
/* Returns an image in that order. */
wick_value wick_layout_pack(wick_layouts *s, wick_value v, const wick_order *o);
/* Returns an image in the order that it already has, or else in one part. */
wick_value wick_layout_packed(wick_layouts *s, wick_value v, wick_order *o);
/* Sets the packed form of n's result. */
void wick_layout_set(wick_layouts *s, const wick_node *n, wick_value packed, const wick_order *o);
void wick_layout_set_columns(wick_layouts *s, const wick_node *n, wick_value packed,
                             int64_t columns);

/* Returns the data of a constant operand, or NULL. */
const wick_constant *wick_layout_constant(const wick_layouts *s, wick_value v);
/* Returns the number of a constant operand, for use in deferred constants; 0 if it is not a
 * constant. Its bytes may be misaligned, or not computed yet. */
uint32_t wick_layout_weights(const wick_layouts *s, wick_value v);
wick_value wick_layout_new_weights(wick_layouts *s, wick_elem elem, uint32_t rank,
                                   const int64_t *dim, const wick_deferred_constant *r);
wick_value wick_layout_new_constant(wick_layouts *s, const char *name, wick_elem elem,
                                    const void *data, uint32_t rank, const int64_t *dim);
/* Packs [channels] numbers for images of that rank: [1, blocks, 1, .., 1, block]. */
wick_value wick_layout_channels(wick_layouts *s, const wick_constant *k, uint32_t rank,
                                const wick_order *o);

/* ---- columns that operators share ---- */

/* Element-wise operators. Scalar operators without a column of their own use this one. */
bool wick_layout_scalar(wick_layouts *s, const wick_node *n);
/* Concatenations: along other axes without a change; along channels if the parts follow each other.
 */
bool wick_layout_join(wick_layouts *s, const wick_node *n);
/* Pools: the window is 1 along the block. The attributes stride, pad, dilation and kernel come
 * first. */
bool wick_layout_pool(wick_layouts *s, const wick_node *n);
/* Sums and means over the places of images reduce the same axes of the packed tensor; reductions of
 * whole images, all of its axes. */
bool wick_layout_reduce(wick_layouts *s, const wick_node *n);
bool wick_layout_conv(wick_layouts *s, const wick_node *n);
bool wick_layout_conv_weight_grad(wick_layouts *s, const wick_node *n);
wick_factors wick_conv_factors(const wick_narrowing *c);
/* Convolutions of bytes, with sums in i32 (layout_bytes.c). */
bool wick_layout_conv_bytes(wick_layouts *s, const wick_node *n);
bool wick_layout_matmul_bytes(wick_layouts *s, const wick_node *n);
/* Returns the columns in a block of a matrix that is multiplied by rows like those of x, whose first
 * `batch` axes count products. It is the number of vectors in a tile. */
int64_t wick_layout_matmul_width(const wick_layouts *s, const wick_type_info *x, uint32_t batch,
                                 int64_t columns);
bool wick_layout_matmul(wick_layouts *s, const wick_node *n);
/* Builds the packed product of the matmul n with a constant of narrow numbers (ops/layout/
 * dequantized_constant.h), which it keeps, with v columns in a block. Returns 0 if the constant is
 * none, or weights of f32 are faster. */
wick_value wick_layout_matmul_narrow(wick_layouts *s, const wick_node *n, uint32_t weights,
                                     int64_t v);
/* Steps of recurrent operators: products of a narrow state with weights in pairs (layout_step.c).
 */
bool wick_layout_step(wick_layouts *s, const wick_node *n);
wick_factors wick_step_factors(const wick_narrowing *c);
bool wick_layout_shuffle(wick_layouts *s, const wick_node *n);
/* Views that keep the type, and all other operators that do not depend on the elements' values. */
bool wick_layout_same(wick_layouts *s, const wick_node *n);

#endif
