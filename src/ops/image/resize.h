/* The attributes of the resize operator, and the coordinates in x of the result's elements. Only
 * resize*.c and the pass decompose_resize include this. */
#ifndef WICK_OPS_IMAGE_RESIZE_H
#define WICK_OPS_IMAGE_RESIZE_H

#include "ir/op.h"

enum { RESIZE_IS_NEAREST, RESIZE_IS_LINEAR, RESIZE_IS_CUBIC };
enum {
  RESIZE_HALF_PIXEL,
  RESIZE_HALF_PIXEL_SYMMETRIC,
  RESIZE_PYTORCH_HALF_PIXEL,
  RESIZE_ALIGN_CORNERS,
  RESIZE_ASYMMETRIC,
  RESIZE_CROP,
  RESIZE_TF_HALF_PIXEL
};
enum { RESIZE_PREFER_FLOOR, RESIZE_PREFER_CEIL, RESIZE_FLOOR, RESIZE_CEIL };

wick_status wick_resize_ref(wick_ref *c);
void wick_resize_compute(const wick_compute *c);

/* The scale of axis k as an exact fraction: the given scale, as an f32, or the ratio of the sizes.
 */
typedef struct wick_ratio {
  wick_dim over, under;
} wick_ratio;
wick_ratio wick_resize_scale(const wick_attr *attr, uint32_t k, wick_dim in, wick_dim out);
/* Returns true if axis k does not change. */
bool wick_resize_keeps(const wick_attr *attr, uint32_t k, wick_dim in, wick_dim out);

enum { RESIZE_MOST_TAPS = 4 };

/* Returns how many elements of an axis make up one element of the result. */
uint32_t wick_resize_ntap(const wick_attr *attr);
/* Computes which elements of axis k, which has `in` elements, make up each of the `out` elements of
 * the result, and their weights, as the stages do in the type e:
 *   index   [taps * out]
 *   weight  [taps * out], if the mode is not nearest
 * Not for crops and not with `exclude`. */
void wick_resize_table(wick_dims *t, const wick_attr *attr, uint32_t k, int64_t in, int64_t out,
                       wick_elem e, int32_t *index, double *weight);

#endif
