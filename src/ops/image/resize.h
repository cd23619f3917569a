/* The attributes of the resize operator, and the coordinates in x of the result's elements. Only
 * resize*.c include this. */
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

#endif
