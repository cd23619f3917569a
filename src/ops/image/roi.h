/* Regions of interest: what the files of roi_align and roi_max_pool share.
 *
 * A region has a first place and a length along each axis (0: y, 1: x); the length falls into as
 * many bins as the result has elements there. roi_align takes `count` samples in each bin, evenly
 * spread; each lies between two elements, and is what these are, weighted. */
#ifndef WICK_OPS_IMAGE_ROI_H
#define WICK_OPS_IMAGE_ROI_H

#include "ops/stage.h"
#include "ops/tensor.h"

/* Weights of elements for bins, [R, bins, elements] each: how far an element takes part, where the
 * best is wanted as the largest and the least of its weights (`most` 0: all are 1); `on`: whether
 * it does. beyond: for which bins, [R, bins], zeros from beyond the image are among the best (0:
 * none). */
typedef struct wick_roi_weights {
  wick_value most, least, on;
  wick_value beyond;
} wick_roi_weights;

/* Reads what a map has for many, with a guard that is never needed: the map then lies in memory,
 * and is not computed again where it is read. */
wick_value wick_roi_kept(wick_builder *b, wick_value map, const wick_dim *at);
/* by * v; 0 where `by`, at least 0, is 0, an infinity too: samples on an element see that alone. */
wick_value wick_roi_weighed(wick_builder *b, wick_value v, wick_value by);
/* The images that the regions lie in, [R], from the first column of a tensor; one that is not there
 * fails the run. */
wick_value wick_roi_images(const wick_compute *c, wick_value images);
/* The regions' results from weights along y and x: the best where `best` (without any element: 0),
 * or sums, each times its region's `factor`, [R]. */
wick_value wick_roi_dense(const wick_compute *c, wick_value image, const wick_roi_weights w[2],
                          bool best, wick_value factor);

wick_status wick_roi_align_ref(wick_ref *c);
wick_status wick_roi_max_pool_ref(wick_ref *c);

#endif
