/* Chooses the reader of an image, and checks limits. */
#include "runtime/picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

wick_code wick_picture_fail(wick_picture *image, wick_code code, const char *fmt, ...)
{
  va_list args;
  va_start(args, fmt);
  if (image->message_nbytes) vsnprintf(image->message, image->message_nbytes, fmt, args);
  va_end(args);
  return code;
}

bool wick_picture_sized(wick_picture *image, int64_t height, int64_t width, wick_code *code)
{
  bool known = image->rgb != NULL;
  *code = WICK_OK;
  if (height < 1 || width < 1)
    *code = wick_picture_fail(image, WICK_EPARSE, "the image is %lld times %lld", (long long)height,
                              (long long)width);
  else if (height > WICK_PICTURE_SIDE || width > WICK_PICTURE_SIDE ||
           height * width > WICK_PICTURE_PIXELS)
    *code = wick_picture_fail(image, WICK_ELIMIT, "an image of %lld times %lld is too large",
                              (long long)height, (long long)width);
  else if (known && (height != image->height || width != image->width))
    *code = wick_picture_fail(
        image, WICK_ERANGE, "the image is %lld times %lld, not %lld times %lld", (long long)height,
        (long long)width, (long long)image->height, (long long)image->width);
  image->height = height, image->width = width;
  return *code == WICK_OK && known;
}

static const struct {
  const char *magic;
  size_t n, at;
  wick_code (*read)(wick_picture *);
} picture_kinds[] = {
    {"\xff\xd8\xff", 3, 0, wick_picture_jpeg},
    {"\x89PNG\r\n\x1a\n", 8, 0, wick_picture_png},
    {"BM", 2, 0, wick_picture_bmp},
    {"\0\0\0\x0cjP  \r\n\x87\n", 12, 0, wick_picture_jp2},
    {"\xff\x4f\xff\x51", 4, 0, wick_picture_jp2},
    {"II*\0", 4, 0, wick_picture_tiff},
    {"MM\0*", 4, 0, wick_picture_tiff},
    {"II+\0", 4, 0, wick_picture_tiff},
    {"MM\0+", 4, 0, wick_picture_tiff},
    {"WEBP", 4, 8, wick_picture_webp},
};

wick_code wick_picture_read(wick_picture *image)
{
  for (size_t k = 0; k < WICK_COUNT(picture_kinds); k++)
    if (image->nbytes >= picture_kinds[k].at + picture_kinds[k].n &&
        memcmp(image->at + picture_kinds[k].at, picture_kinds[k].magic, picture_kinds[k].n) == 0)
      return picture_kinds[k].read(image);
  if (image->nbytes > 2 && image->at[0] == 'P' && image->at[1] >= '1' && image->at[1] <= '6')
    return wick_picture_pnm(image);
  return wick_picture_fail(image, WICK_EPARSE, "it begins like no image that is known");
}
