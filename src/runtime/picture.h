/* Images: bytes of a file to rows of red, green and blue. Bytes are untrusted: sizes are limited
 * before memory is taken, and every reader stays within them. Libraries are opened when the first
 * image of their kind is met (runtime/library.h); they take memory of their own. */
#ifndef WICK_RUNTIME_PICTURE_H
#define WICK_RUNTIME_PICTURE_H

#include "base/base.h"
#include "wick/wick.h"

enum { WICK_PICTURE_SIDE = 1 << 16, WICK_PICTURE_PIXELS = 1 << 27 };

typedef struct wick_picture {
  const unsigned char *at; /* the file */
  uint64_t nbytes;
  int64_t height, width; /* out */
  uint8_t *rgb;          /* room for height * width * 3; NULL: the sizes alone are wanted */
  char *message;         /* room for what a failure says */
  size_t room;
} wick_picture;

/* JPEG, JPEG 2000, PNG, WebP, TIFF, BMP, PNM, by their first bytes. With rgb set, height and width
 * are what was found before; a file of other sizes fails. Alpha is dropped, 16 bits become 8.
 * WICK_EPARSE, WICK_ELIMIT; WICK_EUNSUPPORTED where the library is not there. */
wick_code wick_picture_read(wick_picture *image);

wick_code wick_picture_fail(wick_picture *image, wick_code code, const char *fmt, ...)
    WICK_PRINTF(3, 4);
/* A reader has found the sizes. False: it ends, with *code; they are limited, or all that was
 * wanted. */
bool wick_picture_sized(wick_picture *image, int64_t height, int64_t width, wick_code *code);

/* The readers; one that this build lacks says so. */
wick_code wick_picture_bmp(wick_picture *image);
wick_code wick_picture_pnm(wick_picture *image);
wick_code wick_picture_png(wick_picture *image);
wick_code wick_picture_jpeg(wick_picture *image);
wick_code wick_picture_jp2(wick_picture *image);
wick_code wick_picture_webp(wick_picture *image);
wick_code wick_picture_tiff(wick_picture *image);

#endif
