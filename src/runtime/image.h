/* Images: bytes of a file to rows of red, green and blue. Bytes are untrusted: sizes are limited
 * before memory is taken, and every reader stays within them. Libraries are opened when the first
 * image of their kind is met (runtime/library.h); they take memory of their own. */
#ifndef WICK_RUNTIME_IMAGE_H
#define WICK_RUNTIME_IMAGE_H

#include "base/base.h"
#include "wick/wick.h"

enum { WICK_IMAGE_SIDE = 1 << 16, WICK_IMAGE_PIXELS = 1 << 28 };

typedef struct wick_image {
  const unsigned char *at; /* the file */
  uint64_t nbytes;
  int64_t height, width; /* out */
  uint8_t *rgb;          /* room for height * width * 3; NULL: the sizes alone are wanted */
  char *message;         /* room for what a failure says */
  size_t room;
} wick_image;

/* JPEG, JPEG 2000, PNG, WebP, TIFF, BMP, PNM, by their first bytes. With rgb set, height and width
 * are what was found before; a file of other sizes fails. Alpha is dropped, 16 bits become 8.
 * WICK_EPARSE, WICK_ELIMIT; WICK_EUNSUPPORTED where the library is not there. */
wick_code wick_image_read(wick_image *image);

wick_code wick_image_fail(wick_image *image, wick_code code, const char *fmt, ...)
    WICK_PRINTF(3, 4);
/* A reader has found the sizes. False: it ends, with *code; they are limited, or all that was
 * wanted. */
bool wick_image_sized(wick_image *image, int64_t height, int64_t width, wick_code *code);

/* The readers; one that this build lacks says so. */
wick_code wick_image_bmp(wick_image *image);
wick_code wick_image_pnm(wick_image *image);
wick_code wick_image_png(wick_image *image);
wick_code wick_image_jpeg(wick_image *image);
wick_code wick_image_jp2(wick_image *image);
wick_code wick_image_webp(wick_image *image);
wick_code wick_image_tiff(wick_image *image);

#endif
