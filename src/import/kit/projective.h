/* Images whose elements come from computed places, for importers. */
#ifndef WICK_IMPORT_KIT_PROJECTIVE_H
#define WICK_IMPORT_KIT_PROJECTIVE_H

#include "import/kit/import.h"

/* What is outside of an image: one value; the image mirrored with its border's elements repeated; the image
 * again; its border. */
typedef enum wick_outside {
  WICK_OUTSIDE_CONSTANT,
  WICK_OUTSIDE_REFLECT,
  WICK_OUTSIDE_WRAP,
  WICK_OUTSIDE_NEAREST
} wick_outside;

/* Returns false for an unknown name: "constant", "reflect", "wrap" or "nearest", in any case. */
bool wick_outside_named(const char *name, wick_outside *out);

/* TensorFlow's ImageProjectiveTransformV3: element (x, y) is that of the image at
 * ((t0 x + t1 y + t2) / k, (t3 x + t4 y + t5) / k) with k = t6 x + t7 y + 1; where k is 0, it is `fill`.
 *   image   [batch, height, width, channels]
 *   t       [1 or batch, 8], numbers
 *   size    of the result: height and width
 *   linear  interpolates between four elements, else takes the nearest one
 *   fill    of rank 0, in the image's element type */
wick_value wick_projective(wick_import_node *n, wick_value image, wick_value t,
                           const wick_dim size[2], bool linear, wick_outside outside,
                           wick_value fill);

#endif
