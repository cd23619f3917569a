/* Pictures: PNG and JPEG decoded to u8[height, width, channels], and fitted to a network's input.
 *
 * A decoded picture has one channel (grey) or three (red, green, blue). Of a PNG, palettes and
 * fewer than eight bits are expanded, sixteen bits rounded to eight, and transparency is dropped;
 * gamma is left alone. A JPEG's orientation tag is not applied. These are what Pillow's
 * convert("L") and convert("RGB") do. */
#ifndef WICK_TOOLS_IMAGE_H
#define WICK_TOOLS_IMAGE_H

#include "tensor_io.h"

#define WICK_PNG_MAGIC "\x89PNG\r\n\x1a\n"
#define WICK_JPEG_MAGIC "\xff\xd8\xff"

enum { WICK_IMAGE_MOST_BYTES = 1 << 28 }; /* decoded; a larger picture is refused */

/* Cut-off and damaged files are errors. */
WICK_CHECKED wick_status wick_png_read(wick_span bytes, const char *place, wick_arena *mem,
                                       wick_arena *tmp, wick_array *out);
WICK_CHECKED wick_status wick_jpeg_read(wick_span bytes, const char *place, wick_arena *mem,
                                        wick_array *out);

typedef enum wick_image_layout {
  WICK_IMAGE_GUESS, /* by the input's sizes: which dimension is 1 or 3, and the picture's */
  WICK_IMAGE_NCHW,
  WICK_IMAGE_NHWC
} wick_image_layout;

enum { WICK_IMAGE_CHANNELS = 3 };
typedef struct wick_image_options { /* zeroed: nothing was asked for */
  wick_image_layout layout;
  uint32_t nmean, nscale; /* 0, 1, or a number for each channel */
  double mean[WICK_IMAGE_CHANNELS], scale[WICK_IMAGE_CHANNELS];
} wick_image_options;

/* Options by their texts ("nchw", "0.485,0.456,0.406", "0.0078125"), of the command line or of a
 * model's metadata; NULL leaves as it is. `place` says whose they are. */
WICK_CHECKED wick_status wick_image_options_read(const char *layout, const char *mean,
                                                 const char *scale, const char *place,
                                                 wick_arena *mem, wick_image_options *out);

typedef struct wick_image_input {
  const char *name;
  wick_elem elem;
  uint32_t rank; /* 4: a batch of one picture; 3: without batch; 2: without channels too */
  int64_t dim[WICK_MAX_RANK]; /* negative: any size */
} wick_image_input;

/* The picture as the input wants it: value = (pixel - mean) * scale, rounded to the input's type.
 * Grey becomes three equal channels, colour becomes grey by the luma of ITU-R BT.601, as in Pillow.
 * Inputs are floats, or u8 without mean and scale. A picture of another size is an error: nothing
 * is resized. `place` names the picture. */
WICK_CHECKED wick_status wick_image_fit(const wick_array *picture, const wick_image_input *input,
                                        const wick_image_options *options, const char *place,
                                        wick_arena *mem, wick_array *out);

#endif
