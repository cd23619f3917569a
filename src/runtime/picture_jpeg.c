/* Reads JPEG with libjpeg(-turbo) and its default settings: exact integer transforms, smooth
 * chroma. */
#include "runtime/library.h"
#include "runtime/picture.h"

#ifdef WICK_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define IMAGE_TEXT(x) #x
#define IMAGE_NUMBER(x) IMAGE_TEXT(x)
#if JPEG_LIB_VERSION >= 80
#define JPEG_FILE "libjpeg.so.8"
#else
#define JPEG_FILE "libjpeg.so." IMAGE_NUMBER(JPEG_LIB_VERSION)
#endif

typedef struct picture_jpeg_api {
  __typeof__(jpeg_CreateDecompress) *create;
  __typeof__(jpeg_destroy_decompress) *destroy;
  __typeof__(jpeg_mem_src) *source;
  __typeof__(jpeg_read_header) *header;
  __typeof__(jpeg_read_scanlines) *lines;
  __typeof__(jpeg_start_decompress) *start;
  __typeof__(jpeg_std_error) *error;
} picture_jpeg_api;

static const wick_library_symbol picture_jpeg_symbols[] = {
    WICK_SYMBOL(picture_jpeg_api, create, jpeg_CreateDecompress),
    WICK_SYMBOL(picture_jpeg_api, destroy, jpeg_destroy_decompress),
    WICK_SYMBOL(picture_jpeg_api, source, jpeg_mem_src),
    WICK_SYMBOL(picture_jpeg_api, header, jpeg_read_header),
    WICK_SYMBOL(picture_jpeg_api, lines, jpeg_read_scanlines),
    WICK_SYMBOL(picture_jpeg_api, start, jpeg_start_decompress),
    WICK_SYMBOL(picture_jpeg_api, error, jpeg_std_error),
    {0},
};

/* All variables that survive an error are in this struct, and not in registers of the function that
 * calls setjmp. */
typedef struct picture_jpeg {
  /* first, so that the library's pointer to it is a pointer to the struct */
  struct jpeg_error_mgr error;
  struct jpeg_decompress_struct d;
  picture_jpeg_api api;
  wick_picture *image;
  uint8_t *line; /* a row of four colors */
  wick_code code;
  jmp_buf where;
} picture_jpeg;

static void picture_jpeg_error(j_common_ptr d)
{
  picture_jpeg *j = (picture_jpeg *)(void *)d->err;
  char text[JMSG_LENGTH_MAX];
  j->error.format_message(d, text);
  j->code = wick_picture_fail(j->image, WICK_EPARSE, "JPEG: %s", text);
  longjmp(j->where, 1);
}

static void picture_jpeg_message(j_common_ptr d, int level) { (void)d, (void)level; }
static void picture_jpeg_output(j_common_ptr d) { (void)d; }

/* Converts cyan, magenta, yellow and black; Adobe's are inverted. */
static void picture_jpeg_cmyk(picture_jpeg *j, uint8_t *to)
{
  bool inverted = j->d.saw_Adobe_marker;
  for (int64_t x = 0; x < j->image->width; x++) {
    const uint8_t *c = j->line + 4 * x;
    int black = inverted ? c[3] : 255 - c[3];
    for (int k = 0; k < 3; k++) {
      int v = (inverted ? c[k] : 255 - c[k]) * black;
      to[3 * x + k] = (uint8_t)((v + 127) / 255);
    }
  }
}

static void picture_jpeg_run(picture_jpeg *j)
{
  wick_picture *m = j->image;
  j->api.create(&j->d, JPEG_LIB_VERSION, sizeof j->d);
  j->api.source(&j->d, m->at, (unsigned long)m->nbytes);
  j->api.header(&j->d, TRUE);
  if (!wick_picture_sized(m, j->d.image_height, j->d.image_width, &j->code)) return;
  bool four = j->d.num_components == 4;
  j->d.out_color_space = four ? JCS_CMYK : JCS_RGB;
  if (four && !(j->line = malloc(4 * (size_t)m->width))) {
    j->code = wick_picture_fail(m, WICK_ENOMEM, "out of memory");
    return;
  }
  j->api.start(&j->d);
  for (int64_t y = 0; y < m->height; y++) {
    uint8_t *to = m->rgb + 3 * y * m->width;
    JSAMPROW row = four ? j->line : to;
    if (j->api.lines(&j->d, &row, 1) != 1) {
      j->code = wick_picture_fail(m, WICK_EPARSE, "JPEG: it ends in line %lld", (long long)y);
      return;
    }
    if (four) picture_jpeg_cmyk(j, to);
  }
}

wick_code wick_picture_jpeg(wick_picture *image)
{
  picture_jpeg *j = calloc(1, sizeof *j);
  if (!j) return wick_picture_fail(image, WICK_ENOMEM, "out of memory");
  j->image = image;
  if (!wick_library_load(JPEG_FILE, picture_jpeg_symbols, &j->api)) {
    free(j);
    return wick_picture_fail(image, WICK_EUNSUPPORTED, "the library " JPEG_FILE " is not here");
  }
  j->d.err = j->api.error(&j->error);
  j->error.error_exit = picture_jpeg_error;
  j->error.emit_message = picture_jpeg_message;
  j->error.output_message = picture_jpeg_output;
  if (!setjmp(j->where)) picture_jpeg_run(j);
  j->api.destroy(&j->d);
  wick_code code = j->code;
  free(j->line);
  free(j);
  return code;
}

#else

wick_code wick_picture_jpeg(wick_picture *image)
{
  return wick_picture_fail(image, WICK_EUNSUPPORTED, "this build of Wick was made without libjpeg");
}

#endif
