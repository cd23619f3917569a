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

enum { WICK_IMAGE_MOST_BYTES = 1 << 28 }; /* of a decoded picture; a larger one is refused */

/* Truncated and damaged files are errors. */
WICK_CHECKED wick_status wick_png_read(wick_span bytes, const char *location, wick_arena *mem,
                                       wick_arena *tmp, wick_array *out);
WICK_CHECKED wick_status wick_jpeg_read(wick_span bytes, const char *location, wick_arena *mem,
                                        wick_array *out);

typedef enum wick_image_layout {
  WICK_IMAGE_GUESS, /* from the input's sizes: which dimension is 1 or 3, and the picture's size */
  WICK_IMAGE_NCHW,
  WICK_IMAGE_NHWC
} wick_image_layout;

enum { WICK_IMAGE_CHANNELS = 3 };

/* Pillow's filters, which are wider if a picture becomes smaller */
typedef enum wick_image_filter {
  WICK_IMAGE_BILINEAR,
  WICK_IMAGE_BICUBIC,
  WICK_IMAGE_LANCZOS,
  WICK_IMAGE_NEAREST
} wick_image_filter;

/* The steps that a picture goes through, in this order; all zero means none. */
typedef struct wick_image_options {
  wick_image_layout layout;
  wick_image_filter filter;
  /* number of sizes: 0; 1: of the shorter side, the ratio is kept; 2: height and width */
  uint32_t nresize;
  int64_t resize[2];
  uint32_t ncrop; /* of the middle: 0; 1: height and width are equal; 2: height and width */
  int64_t crop[2];
  bool bgr;                     /* the first channel is blue, not red */
  uint32_t nscale, nmean, nstd; /* counts: 0, 1, or one number for each channel of the input */
  double scale[WICK_IMAGE_CHANNELS], mean[WICK_IMAGE_CHANNELS], std[WICK_IMAGE_CHANNELS];
} wick_image_options;

/* The options as texts ("nchw", "256", "240x320", "0.485,0.456,0.406"), of the command line or of
 * a model's metadata; NULL: not given. */
typedef struct wick_image_texts {
  const char *layout, *resize, *crop, *filter, *color, *scale, *mean, *std;
} wick_image_texts;

/* Sets the given options in `out`. `location` names the source of the texts in messages. */
WICK_CHECKED wick_status wick_image_options_read(const wick_image_texts *texts,
                                                 const char *location, wick_arena *mem,
                                                 wick_image_options *out);

/* Resizes a picture of any number of channels: the result has the bytes of Pillow's Image.resize,
 * of the width first, then of the height. Sizes are 1 or more. `out` is not `picture`. */
WICK_CHECKED wick_status wick_image_resize(const wick_array *picture, int64_t height, int64_t width,
                                           wick_image_filter filter, const char *location,
                                           wick_arena *mem, wick_array *out);

typedef struct wick_image_input {
  const char *name;
  wick_elem elem;
  uint32_t rank; /* 4: a batch of one picture; 3: without batch; 2: also without channels */
  int64_t dim[WICK_MAX_RANK]; /* negative: any size */
} wick_image_input;

/* Fits the picture to the input:
 *   channels  grey becomes three equal channels; colour becomes grey by the luma of ITU-R BT.601,
 *             as in Pillow.
 *   size      the picture is resized, then its middle is cut out. If the options ask for neither
 *             and the input has another size, the picture is resized, with its aspect ratio kept,
 *             to the smallest size that covers the input. A picture that is larger than the input
 *             after resizing is cropped to it; a smaller one is an error.
 *   value     (pixel * scale - mean) / std, rounded to the input's type. The scale is 1/255 if a
 *             mean or std is given and none is above 1 (they are for pixels from 0 to 1), else 1.
 * The input has floats, or u8 without scale, mean and std. `location` names the picture in
 * messages. */
WICK_CHECKED wick_status wick_image_fit(const wick_array *picture, const wick_image_input *input,
                                        const wick_image_options *options, const char *location,
                                        wick_arena *mem, wick_array *out);

#endif
