/* Decodes image files to rows of red, green and blue. The bytes are untrusted: sizes are limited
 * before memory is allocated, and no reader reads outside of the bytes. A library is opened when
 * the first image of its format occurs (runtime/library.h); libraries allocate their own memory. */
#ifndef WICK_RUNTIME_PICTURE_H
#define WICK_RUNTIME_PICTURE_H

#include "base/base.h"
#include "wick/wick.h"

enum { WICK_PICTURE_SIDE = 1 << 16, WICK_PICTURE_PIXELS = 1 << 27 };

typedef struct wick_picture {
  const unsigned char *at; /* the file */
  uint64_t nbytes;
  int64_t height, width; /* out */
  uint8_t *rgb;          /* buffer of height * width * 3 bytes; NULL: find only the sizes */
  char *message;         /* buffer for the message of a failure */
  size_t message_nbytes; /* its bytes */
} wick_picture;

/* Reads JPEG, JPEG 2000, PNG, WebP, TIFF, BMP and PNM, which it distinguishes by their first bytes.
 * If rgb is set, height and width must be those that an earlier call found; a file of other sizes
 * fails. Alpha is removed, and 16 bits become 8. Fails with WICK_EPARSE, WICK_ELIMIT, or
 * WICK_EUNSUPPORTED if the library is missing. */
wick_code wick_picture_read(wick_picture *image);

wick_code wick_picture_fail(wick_picture *image, wick_code code, const char *fmt, ...)
    WICK_PRINTF(3, 4);
/* A reader calls it when it has found the sizes. If it returns false, the reader returns *code: the
 * sizes exceed a limit, or only the sizes were requested. */
bool wick_picture_sized(wick_picture *image, int64_t height, int64_t width, wick_code *code);

/* The readers. A reader that is not in this build fails with WICK_EUNSUPPORTED. */
wick_code wick_picture_bmp(wick_picture *image);
wick_code wick_picture_pnm(wick_picture *image);
wick_code wick_picture_png(wick_picture *image);
wick_code wick_picture_jpeg(wick_picture *image);
wick_code wick_picture_jp2(wick_picture *image);
wick_code wick_picture_webp(wick_picture *image);
wick_code wick_picture_tiff(wick_picture *image);

#endif
