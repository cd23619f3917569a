/* Decodes PNG with libpng. All of its memory comes from the scratch arena, so that an error can
 * leave it by longjmp without leaks. */
#include "image.h"

#include <png.h>
#include <string.h>

#include "base/str.h"

typedef struct png_state {
  wick_arena *mem, *tmp;
  wick_span in;
  size_t at;
  jmp_buf where;
  char message[160];
} png_state;

enum { PNG_MOST_RATIO = 1032 /* deflate's largest ratio */ };

static png_voidp png_state_alloc(png_structp png, png_alloc_size_t nbytes)
{
  png_state *s = png_get_mem_ptr(png);
  return wick_arena_alloc(s->tmp, nbytes, 16);
}

static void png_state_free(png_structp png, png_voidp p) { (void)png, (void)p; }

static _Noreturn void png_state_refuse(png_state *s, const char *message)
{
  size_t n = strnlen(message, sizeof s->message - 1);
  memcpy(s->message, message, n);
  s->message[n] = 0;
  longjmp(s->where, 1);
}

static _Noreturn void png_state_error(png_structp png, png_const_charp message)
{
  png_state_refuse(png_get_error_ptr(png), message);
}

static void png_state_warning(png_structp png, png_const_charp message)
{
  (void)png, (void)message;
}

static void png_state_read(png_structp png, png_bytep to, size_t nbytes)
{
  png_state *s = png_get_io_ptr(png);
  if (nbytes > s->in.nbytes - s->at) png_error(png, "the file ends too early");
  memcpy(to, s->in.at + s->at, nbytes);
  s->at += nbytes;
}

/* Converts all formats to eight bits, grey or RGB. */
static void png_state_transform(png_structp png, png_infop info)
{
  int color = png_get_color_type(png, info), depth = png_get_bit_depth(png, info);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (color == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (depth == 16) png_set_scale_16(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

static void png_state_decode(png_state *s, png_structp png, png_infop info, wick_array *out)
{
  /* Text, colour profiles and the like are not decompressed. Of the known chunks only PLTE is
   * kept. */
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_set_user_limits(png, WICK_IMAGE_MOST_BYTES, WICK_IMAGE_MOST_BYTES);
  png_read_info(png, info);
  uint64_t height = png_get_image_height(png, info), width = png_get_image_width(png, info);
  uint64_t row_nbytes = png_get_rowbytes(png, info);
  if (height * width > WICK_IMAGE_MOST_BYTES / 3) png_error(png, "the picture is too large");
  if (height * row_nbytes / PNG_MOST_RATIO > s->in.nbytes)
    png_error(png, "the picture is larger than the file's bytes can hold");
  png_state_transform(png, info);
  size_t channels = png_get_channels(png, info), step = (size_t)width * channels;
  if (png_get_rowbytes(png, info) != step) png_error(png, "its kind of pixels is not known");
  unsigned char *data = wick_arena_alloc(s->mem, (size_t)height * step, 64);
  png_bytep *row = wick_new(s->tmp, png_bytep, (size_t)height);
  for (size_t y = 0; y < height; y++) row[y] = data + y * step;
  png_read_image(png, row);
  png_read_end(png, NULL);
  *out = (wick_array){.name = "",
                      .elem = WICK_U8,
                      .picture = true,
                      .rank = 3,
                      .dim = {(int64_t)height, (int64_t)width, (int64_t)channels},
                      .data = data,
                      .nbytes = height * step};
}

wick_status wick_png_read(wick_span bytes, const char *location, wick_arena *mem, wick_arena *tmp,
                          wick_array *out)
{
  wick_mark mark = wick_arena_mark(tmp);
  png_state *s = wick_new(tmp, png_state, 1);
  s->mem = mem;
  s->tmp = tmp;
  s->in = bytes;
  if (setjmp(s->where)) {
    char *message = wick_str_dup(mem, s->message);
    wick_arena_rewind(tmp, mark);
    return wick_fail(mem, WICK_EPARSE, location, "it cannot be read as PNG: %s", message);
  }
  png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, png_state_error,
                                             png_state_warning, s, png_state_alloc, png_state_free);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info) png_state_refuse(s, "libpng has another version than its header");
  png_set_read_fn(png, s, png_state_read);
  png_state_decode(s, png, info, out);
  wick_arena_rewind(tmp, mark);
  return NULL;
}
