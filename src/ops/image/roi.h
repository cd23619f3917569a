/* Regions of interest: helpers that the files of roi_align and roi_max_pool share.
 *
 * A region has a first position and a length along each axis (0: y, 1: x). The length is divided
 * into as many bins as the result has elements there. roi_align takes `count` samples in each bin,
 * evenly spaced. Each sample is between two elements, and is their weighted mean. */
#ifndef WICK_OPS_IMAGE_ROI_H
#define WICK_OPS_IMAGE_ROI_H

#include "ops/stage.h"
#include "ops/tensor.h"

/* Weights of elements for bins, each [R, bins, elements]: the contribution of an element, or, for a
 * maximum, the largest and the least of its weights (`most` 0: all are 1). `on`: whether an element
 * contributes. beyond: the bins, [R, bins], for whose maximum zeros from outside the image count
 * (0: none). */
typedef struct wick_roi_weights {
  wick_value most, least, on;
  wick_value beyond;
} wick_roi_weights;

/* Reads an element of a map that many readers share, with a guard that is never needed. The map is
 * therefore kept in memory, and not computed again for each read. */
wick_value wick_roi_kept(wick_builder *b, wick_value map, const wick_dim *at);
/* Returns by * v; 0 if `by`, which is at least 0, is 0, even if v is infinite. A sample exactly on
 * an element therefore depends on no other element. */
wick_value wick_roi_weighed(wick_builder *b, wick_value v, wick_value by);
/* Returns the image of each region, [R], from the first column of a tensor. The run fails if an
 * image does not exist. */
wick_value wick_roi_images(const wick_compute *c, wick_value images);
/* Returns the regions' results from weights along y and x. If `best`, they are maxima (0 without
 * any element); otherwise sums, each times its region's `factor`, [R]. */
wick_value wick_roi_dense(const wick_compute *c, wick_value image, const wick_roi_weights w[2],
                          bool best, wick_value factor);

wick_status wick_roi_align_ref(wick_ref *c);
wick_status wick_roi_max_pool_ref(wick_ref *c);

#endif
