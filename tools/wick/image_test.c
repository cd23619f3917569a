/* Pictures: each kind of PNG, grey and colour JPEG, damaged files, and fitting to inputs. */
#include "image.h"

#include <stdio.h>

#include <png.h>
/* must come before jpeglib.h */
#include <jpeglib.h>

#include "base/str.h"
#include "ir/element.h"

#include "io_testing.h"

static wick_status read_png(io_test *t, wick_span bytes)
{
  wick_array a;
  WICK_TRY(wick_png_read(bytes, "x.png", &t->mem, &t->tmp, &a));
  io_touch(&a);
  return NULL;
}

static wick_status read_jpeg(io_test *t, wick_span bytes)
{
  wick_array a;
  WICK_TRY(wick_jpeg_read(bytes, "x.jpg", &t->mem, &a));
  io_touch(&a);
  return NULL;
}

static wick_span span(const wick_text *t) { return io_span(t->at, t->n); }

/* ---- PNG ---- */

static void put(png_structp png, png_bytep at, size_t n)
{
  wick_text_addn(png_get_io_ptr(png), (const char *)at, n);
}
static void flush(png_structp png) { (void)png; }

typedef struct png_kind {
  int color, depth, interlace;
  bool transparent;
  const char *want; /* the type of the picture */
} png_kind;

enum { HEIGHT = 9, WIDTH = 13 };

/* Returns sample c of the pixel, in the file's depth: palette indices, grey, colours, alpha. */
static unsigned sample(const png_kind *k, int y, int x, int c)
{
  return (unsigned)(y * 7919 + x * 104729 + c * 31337 + y * x * 17) & ((1u << k->depth) - 1);
}
static png_color palette_entry(unsigned i)
{
  return (png_color){(png_byte)(i * 3), (png_byte)(255 - i), (png_byte)(i * 7 + 1)};
}

static wick_text encode_png(wick_arena *mem, const png_kind *k)
{
  wick_text out = wick_text_begin(mem);
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png_create_info_struct(png);
  assert_int_equal(setjmp(png_jmpbuf(png)), 0);
  png_set_write_fn(png, &out, put, flush);
  png_set_IHDR(png, info, WIDTH, HEIGHT, k->depth, k->color, k->interlace, 0, 0);
  png_color palette[256];
  png_byte alpha[256] = {0};
  for (unsigned i = 0; i < 256; i++) palette[i] = palette_entry(i);
  if (k->color == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 1 << k->depth);
  png_color_16 clear = {0};
  if (k->transparent) png_set_tRNS(png, info, alpha, 2, &clear);
  png_set_gAMA(png, info, 1.0); /* must have no effect */
  png_text text = {.compression = PNG_TEXT_COMPRESSION_zTXt,
                   .key = (char[]){"Comment"},
                   .text = (char[]){"text"}};
  png_set_text(png, info, &text, 1);
  png_write_info(png, info);
  int channels = png_get_channels(png, info);
  png_byte row[HEIGHT][WIDTH * 8] = {0};
  png_bytep rows[HEIGHT];
  for (int y = 0; y < HEIGHT; y++) {
    rows[y] = row[y];
    for (int x = 0, bit = 0; x < WIDTH; x++)
      for (int c = 0; c < channels; c++, bit += k->depth) {
        unsigned v = sample(k, y, x, c);
        if (k->depth == 16) row[y][bit / 8 + 1] = (png_byte)v, v >>= 8;
        row[y][bit / 8] |= (png_byte)(k->depth < 8 ? v << (8 - k->depth - bit % 8) : v);
      }
  }
  png_write_image(png, rows);
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  return out;
}

static int expected(const png_kind *k, int y, int x, int c)
{
  if (k->color == PNG_COLOR_TYPE_PALETTE) {
    png_color p = palette_entry(sample(k, y, x, 0));
    return c == 0 ? p.red : c == 1 ? p.green : p.blue;
  }
  unsigned most = (1u << k->depth) - 1;
  return (int)((sample(k, y, x, c) * 255u + most / 2) / most);
}

#define GREY "u8[9,13,1]"
#define COLOR "u8[9,13,3]"
static const png_kind kinds[] = {
    {PNG_COLOR_TYPE_GRAY, 1, 0, false, GREY},
    {PNG_COLOR_TYPE_GRAY, 2, 0, true, GREY},
    {PNG_COLOR_TYPE_GRAY, 4, 1, false, GREY},
    {PNG_COLOR_TYPE_GRAY, 8, 0, false, GREY},
    {PNG_COLOR_TYPE_GRAY, 8, 1, true, GREY},
    {PNG_COLOR_TYPE_GRAY, 16, 0, false, GREY},
    {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 0, false, GREY},
    {PNG_COLOR_TYPE_GRAY_ALPHA, 16, 1, false, GREY},
    {PNG_COLOR_TYPE_RGB, 8, 0, false, COLOR},
    {PNG_COLOR_TYPE_RGB, 8, 1, true, COLOR},
    {PNG_COLOR_TYPE_RGB, 16, 0, true, COLOR},
    {PNG_COLOR_TYPE_RGB_ALPHA, 8, 0, false, COLOR},
    {PNG_COLOR_TYPE_RGB_ALPHA, 16, 1, false, COLOR},
    {PNG_COLOR_TYPE_PALETTE, 1, 0, true, COLOR},
    {PNG_COLOR_TYPE_PALETTE, 2, 1, false, COLOR},
    {PNG_COLOR_TYPE_PALETTE, 4, 0, false, COLOR},
    {PNG_COLOR_TYPE_PALETTE, 8, 0, true, COLOR},
};

static void test_kinds_of_png(void **state)
{
  (void)state;
  IO_BEGIN(t);
  for (size_t i = 0; i < WICK_COUNT(kinds); i++) {
    const png_kind *k = &kinds[i];
    wick_text text = encode_png(&t.mem, k);
    wick_array a;
    wick_status s = wick_png_read(span(&text), "x.png", &t.mem, &t.tmp, &a);
    assert_string_equal(s ? s->message : wick_array_type(&t.mem, a.elem, a.rank, a.dim), k->want);
    assert_true(a.picture);
    const unsigned char *at = a.data;
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++)
        for (int c = 0; c < (int)a.dim[2]; c++)
          if (*at++ != expected(k, y, x, c))
            fail_msg("kind %zu, (%d, %d, %d): %d, expected %d", i, y, x, c, at[-1],
                     expected(k, y, x, c));
    io_truncate(&t, read_png, text.at, text.n);
    io_starve(read_png, text.at, text.n);
  }
  io_end(&t);
}

static uint32_t crc32_of(const unsigned char *at, size_t n)
{
  uint32_t c = 0xffffffff;
  while (n--) {
    c ^= *at++;
    for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
  }
  return ~c;
}

/* Corrects all checksums and reads, so that mutations reach the decoder. */
static wick_status read_png_mended(io_test *t, wick_span bytes)
{
  unsigned char *at = (unsigned char *)(uintptr_t)bytes.at;
  for (size_t k = 8; k + 12 <= bytes.nbytes;) {
    uint32_t n =
        (uint32_t)at[k] << 24 | (uint32_t)at[k + 1] << 16 | (uint32_t)at[k + 2] << 8 | at[k + 3];
    if (n > bytes.nbytes - k - 12) break;
    uint32_t crc = crc32_of(at + k + 4, n + 4u);
    for (int b = 0; b < 4; b++) at[k + 8 + n + (size_t)b] = (unsigned char)(crc >> (24 - 8 * b));
    k += n + 12;
  }
  return read_png(t, bytes);
}

static void test_damaged_png(void **state)
{
  (void)state;
  IO_BEGIN(t);
  for (size_t i = 0; i < WICK_COUNT(kinds); i += 3) {
    wick_text text = encode_png(&t.mem, &kinds[i]);
    io_mutate(&t, read_png, text.at, text.n, text.n, 300);
    io_mutate(&t, read_png_mended, text.at, text.n, text.n, 3000);
  }
  io_end(&t);
}

static void test_png_that_claims_much(void **state)
{
  (void)state;
  IO_BEGIN(t);
  static const struct {
    uint32_t height, width;
    const char *want;
  } sizes[] = {
      {0, 13, "x.png: it cannot be read as PNG: Invalid IHDR data"},
      {9, 0x7fffffff, "x.png: it cannot be read as PNG: Invalid IHDR data"},
      {100000, 100000, "x.png: it cannot be read as PNG: the picture is too large"},
      {9000, 9000,
       "x.png: it cannot be read as PNG: the picture is larger than the file's bytes can hold"},
  };
  wick_text text = encode_png(&t.mem, &kinds[3]);
  for (size_t i = 0; i < WICK_COUNT(sizes); i++) {
    for (int b = 0; b < 4; b++) {
      text.at[16 + b] = (char)(sizes[i].width >> (24 - 8 * b));
      text.at[20 + b] = (char)(sizes[i].height >> (24 - 8 * b));
    }
    uint32_t crc = crc32_of((unsigned char *)text.at + 12, 17);
    for (int b = 0; b < 4; b++) text.at[29 + b] = (char)(crc >> (24 - 8 * b));
    wick_array a;
    wick_status s = wick_png_read(span(&text), "x.png", &t.mem, &t.tmp, &a);
    assert_non_null(s);
    assert_string_equal(s->message, sizes[i].want);
  }
  io_end(&t);
}

/* ---- JPEG ---- */

static int smooth(int y, int x, int c) { return 40 + y * 8 + x * 5 + c * 20; }

static wick_text encode_jpeg(wick_arena *mem, int channels, J_COLOR_SPACE space, bool progressive)
{
  struct jpeg_compress_struct c;
  struct jpeg_error_mgr error;
  unsigned char *at = NULL, row[WIDTH * 4];
  unsigned long n = 0;
  c.err = jpeg_std_error(&error);
  jpeg_create_compress(&c);
  jpeg_mem_dest(&c, &at, &n);
  c.image_width = WIDTH;
  c.image_height = HEIGHT;
  c.input_components = channels;
  c.in_color_space = space;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, 98, TRUE);
  if (progressive) jpeg_simple_progression(&c);
  jpeg_start_compress(&c, TRUE);
  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < WIDTH; x++)
      for (int k = 0; k < channels; k++) row[x * channels + k] = (unsigned char)smooth(y, x, k);
    JSAMPROW rows = row;
    jpeg_write_scanlines(&c, &rows, 1);
  }
  jpeg_finish_compress(&c);
  jpeg_destroy_compress(&c);
  wick_text out = wick_text_begin(mem);
  wick_text_addn(&out, (const char *)at, n);
  free(at);
  return out;
}

static void test_jpeg(void **state)
{
  (void)state;
  IO_BEGIN(t);
  for (int k = 0; k < 4; k++) {
    int channels = k & 1 ? 3 : 1;
    wick_text text = encode_jpeg(&t.mem, channels, k & 1 ? JCS_RGB : JCS_GRAYSCALE, k & 2);
    wick_array a;
    wick_status s = wick_jpeg_read(span(&text), "x.jpg", &t.mem, &a);
    assert_string_equal(s ? s->message : wick_array_type(&t.mem, a.elem, a.rank, a.dim),
                        k & 1 ? COLOR : GREY);
    const unsigned char *at = a.data;
    for (int y = 0; y < HEIGHT; y++)
      for (int x = 0; x < WIDTH; x++)
        for (int c = 0; c < channels; c++) assert_true(abs(*at++ - smooth(y, x, c)) < 12);
    io_truncate(&t, read_jpeg, text.at, text.n);
    io_starve(read_jpeg, text.at, text.n);
    io_mutate(&t, read_jpeg, text.at, text.n, text.n, 3000);
  }
  wick_text text = encode_jpeg(&t.mem, 4, JCS_CMYK, false);
  wick_array a;
  wick_status s = wick_jpeg_read(span(&text), "x.jpg", &t.mem, &a);
  assert_non_null(s);
  assert_string_equal(
      s->message, "x.jpg: it cannot be read as JPEG: its pixels are CMYK, expected grey or RGB");
  io_end(&t);
}

/* ---- options ---- */

static void test_options(void **state)
{
  (void)state;
  IO_BEGIN(t);
  static const struct {
    wick_image_texts text;
    const char *want;
  } bad[] = {
      {{.layout = "chw"}, "here: image layout is \"chw\", expected nchw or nhwc"},
      {{.color = "grb"}, "here: image color is \"grb\", expected rgb or bgr"},
      {{.filter = "box"},
       "here: image filter is \"box\", expected bilinear, bicubic, lanczos or nearest"},
      {{.mean = ""}, "here: image mean is \"\", expected one number or three, by commas"},
      {{.mean = "1,2"}, "here: image mean is \"1,2\", expected one number or three, by commas"},
      {{.mean = "1,2,3,4"},
       "here: image mean is \"1,2,3,4\", expected one number or three, by commas"},
      {{.mean = "1;2;3"}, "here: image mean is \"1;2;3\", expected one number or three, by commas"},
      {{.scale = "nan"}, "here: image scale is \"nan\", expected one number or three, by commas"},
      {{.scale = "1,"}, "here: image scale is \"1,\", expected one number or three, by commas"},
      {{.std = "1,0,1"}, "here: image std is 0: nothing can be divided by it"},
      {{.resize = "0"}, "here: image resize is \"0\", expected N or HEIGHTxWIDTH"},
      {{.resize = "-3"}, "here: image resize is \"-3\", expected N or HEIGHTxWIDTH"},
      {{.resize = "2x3x4"}, "here: image resize is \"2x3x4\", expected N or HEIGHTxWIDTH"},
      {{.crop = "3x"}, "here: image crop is \"3x\", expected N or HEIGHTxWIDTH"},
      {{.crop = "99999999999999999999"},
       "here: image crop is \"99999999999999999999\", expected N or HEIGHTxWIDTH"},
  };
  for (size_t i = 0; i < WICK_COUNT(bad); i++) {
    wick_image_options o = {0};
    wick_status s = wick_image_options_read(&bad[i].text, "here", &t.mem, &o);
    assert_non_null(s);
    assert_string_equal(s->message, bad[i].want);
  }
  wick_image_options o = {0};
  const wick_image_texts model = {.layout = "nchw", .mean = "0.5", .scale = "0.25", .crop = "7"},
                         line = {.layout = "nhwc", .mean = "1, -2,3e1", .resize = "4x5"};
  assert_null(wick_image_options_read(&model, "model", &t.mem, &o));
  assert_null(wick_image_options_read(&line, "line", &t.mem, &o)); /* overrides the others */
  assert_int_equal(o.layout, WICK_IMAGE_NHWC);
  assert_int_equal(o.nmean, 3);
  assert_true(o.mean[0] == 1 && o.mean[1] == -2 && o.mean[2] == 30);
  assert_int_equal(o.nscale, 1);
  assert_true(o.scale[0] == 0.25);
  assert_true(o.nresize == 2 && o.resize[0] == 4 && o.resize[1] == 5);
  assert_true(o.ncrop == 1 && o.crop[0] == 7 && o.crop[1] == 7);
  io_end(&t);
}

/* ---- fitting ---- */

/* Makes a picture of 2 x 3 pixels; pixel i is 10 i + 1, 2, 3. */
static wick_array small_picture(int channels, unsigned char *data)
{
  for (int i = 0; i < 6; i++)
    for (int c = 0; c < channels; c++) data[i * channels + c] = (unsigned char)(10 * i + c + 1);
  return (wick_array){.name = "",
                      .elem = WICK_U8,
                      .picture = true,
                      .rank = 3,
                      .dim = {2, 3, channels},
                      .data = data,
                      .nbytes = (uint64_t)(6 * channels)};
}

static const struct {
  int channels; /* of the picture */
  wick_elem elem;
  uint32_t rank;
  int64_t dim[5];
  wick_image_texts text;
  const char *want; /* the values, or the error */
} fits[] = {
    /* channels and layouts */
    {1, WICK_U8, 4, {1, 1, 2, 3}, {0}, "u8[1,1,2,3] 1 11 21 31 41 51"},
    {1, WICK_U8, 2, {2, 3}, {0}, "u8[2,3] 1 11 21 31 41 51"},
    {3,
     WICK_F32,
     4,
     {-1, 3, -1, -1},
     {0},
     "f32[1,3,2,3] 1 11 21 31 41 51 2 12 22 32 42 52 3 13 23 33 43 53"},
    {3,
     WICK_F64,
     4,
     {1, -1, -1, 3},
     {0},
     "f64[1,2,3,3] 1 2 3 11 12 13 21 22 23 31 32 33 41 42 43 51 52 53"},
    {3, WICK_U8, 3, {2, 3, 3}, {0}, "u8[2,3,3] 1 2 3 11 12 13 21 22 23 31 32 33 41 42 43 51 52 53"},
    {3,
     WICK_F32,
     4,
     {-1, -1, -1, -1},
     {.layout = "nhwc"},
     "f32[1,2,3,3] 1 2 3 11 12 13 21 22 23 31 32 33 41 42 43 51 52 53"},
    {3, WICK_U8, 4, {1, 1, 2, 3}, {.layout = "nchw"}, "u8[1,1,2,3] 2 12 22 32 42 52"},
    {3,
     WICK_U8,
     4,
     {1, 3, 2, 3},
     {0},
     "u8[1,3,2,3] 1 11 21 31 41 51 2 12 22 32 42 52 3 13 23 33 43 53"},
    {3,
     WICK_U8,
     4,
     {1, 3, 2, 3},
     {.color = "bgr"},
     "u8[1,3,2,3] 3 13 23 33 43 53 2 12 22 32 42 52 1 11 21 31 41 51"},
    /* values */
    {1,
     WICK_F32,
     3,
     {1, 2, 3},
     {.layout = "nchw", .mean = "2", .scale = "2"},
     "f32[1,2,3] 0 20 40 60 80 100"},
    {1,
     WICK_F16,
     4,
     {1, 3, 2, 3},
     {.layout = "nchw", .mean = "1,2,3", .std = "1,0.5,0.25"},
     "f16[1,3,2,3] 0 10 20 30 40 50 -2 18 38 58 78 98 -8 32 72 112 152 192"},
    {1,
     WICK_F64,
     2,
     {2, 3},
     {.mean = "0", .std = "0.2"},
     "f64[2,3] 0.0196078 0.215686 0.411765 0.607843 0.803922 1"},
    {1, WICK_F32, 2, {2, 3}, {.mean = "0", .std = "10"}, "f32[2,3] 0.1 1.1 2.1 3.1 4.1 5.1"},
    /* sizes: of the whole picture, of the input, of the middle */
    {1,
     WICK_U8,
     2,
     {-1, -1},
     {.resize = "4x6", .filter = "nearest"},
     "u8[4,6] 1 1 11 11 21 21 1 1 11 11 21 21 31 31 41 41 51 51 31 31 41 41 51 51"},
    {1, WICK_U8, 2, {-1, -1}, {.resize = "1", .filter = "nearest"}, "u8[1,1] 41"},
    {1, WICK_U8, 2, {1, -1}, {.filter = "nearest"}, "u8[1,2] 31 51"},
    {1, WICK_U8, 2, {2, 1}, {0}, "u8[2,1] 11 41"},
    {1,
     WICK_U8,
     2,
     {4, 4},
     {.filter = "nearest"},
     "u8[4,4] 1 11 11 21 1 11 11 21 31 41 41 51 31 41 41 51"},
    {1, WICK_U8, 2, {-1, -1}, {.crop = "1"}, "u8[1,1] 11"},
    {1, WICK_U8, 2, {1, 1}, {.resize = "2"}, "u8[1,1] 11"},
    {1,
     WICK_U8,
     2,
     {2, 3},
     {.crop = "3"},
     "x.png: the picture has 2 x 3 pixels (height x width), the crop is 3 x 3"},
    {1,
     WICK_U8,
     2,
     {2, 3},
     {.crop = "1x2"},
     "x.png: the picture has 1 x 2 pixels (height x width), the input \"image\" is 2 x 3"},
    {1,
     WICK_U8,
     2,
     {4, -1},
     {.resize = "2x8"},
     "x.png: the picture has 2 x 8 pixels (height x width), the input \"image\" is 4 x any"},
    {1,
     WICK_U8,
     2,
     {-1, -1},
     {.resize = "999999x99999"},
     "x.png: a picture resized to 999999 x 99999 pixels (height x width) is larger than 268435456 "
     "bytes"},
    {1,
     WICK_U8,
     2,
     {INT64_MAX, 4},
     {0},
     "x.png: the input \"image\", u8[9223372036854775807,4], is larger than any picture"},
    {1, WICK_U8, 2, {0, 4}, {0}, "x.png: the input \"image\", u8[0,4], is empty"},
    /* inputs that no picture fits */
    {1,
     WICK_U8,
     4,
     {8, 1, 2, 3},
     {.layout = "nchw"},
     "x.png: the input \"image\", u8[8,1,2,3], takes 8 pictures, not one"},
    {1,
     WICK_F32,
     4,
     {1, 4, 2, 3},
     {.layout = "nchw"},
     "x.png: the input \"image\", f32[1,4,2,3], has 4 channels, a picture has 1 or 3"},
    {1,
     WICK_F32,
     4,
     {1, -1, 2, 4},
     {0},
     "x.png: the input \"image\", f32[1,?,2,4], does not show where its channels are: give "
     "--layout nchw or --layout nhwc"},
    {1,
     WICK_F32,
     4,
     {1, 3, 7, 3},
     {0},
     "x.png: the input \"image\", f32[1,3,7,3], does not show where its channels are: give "
     "--layout nchw or --layout nhwc"},
    {1,
     WICK_F32,
     5,
     {1, 1, 1, 2, 3},
     {0},
     "x.png: a picture cannot be the input \"image\", f32[1,1,1,2,3]: expected 2 to 4 dimensions"},
    {1,
     WICK_I64,
     2,
     {2, 3},
     {0},
     "x.png: a picture cannot be the input \"image\", i64[2,3]: expected floats or u8"},
    {1,
     WICK_U8,
     2,
     {2, 3},
     {.mean = "1"},
     "x.png: the input \"image\", u8[2,3], takes pixels as they are: image mean is for floats"},
    {1,
     WICK_F32,
     2,
     {2, 3},
     {.mean = "1,2,3"},
     "x.png: image mean has 3 numbers, the input \"image\", f32[2,3], has 1 channels"},
};

static const char *show(wick_arena *mem, const wick_array *a)
{
  wick_text t = wick_text_begin(mem);
  wick_text_add(&t, wick_array_type(mem, a->elem, a->rank, a->dim));
  uint64_t n = 8 * a->nbytes / wick_elem_storage[a->elem].bits;
  for (uint64_t i = 0; i < n; i++) {
    wick_scalar v = wick_load_elem(a->elem, a->data, i);
    wick_text_printf(&t, " %g", wick_elem_is_float(a->elem) ? v.f : (double)v.i);
  }
  return t.at;
}

static void test_fit(void **state)
{
  (void)state;
  IO_BEGIN(t);
  for (size_t i = 0; i < WICK_COUNT(fits); i++) {
    unsigned char data[18];
    wick_array picture = small_picture(fits[i].channels, data), out;
    wick_image_input in = {"image", fits[i].elem, fits[i].rank, {0}};
    memcpy(in.dim, fits[i].dim, sizeof fits[i].dim);
    wick_image_options o = {0};
    assert_null(wick_image_options_read(&fits[i].text, "", &t.mem, &o));
    wick_status s = wick_image_fit(&picture, &in, &o, "x.png", &t.mem, &out);
    assert_string_equal(s ? s->message : show(&t.mem, &out), fits[i].want);
  }
  io_end(&t);
}

/* The demo's picture: its size, and the sum of its pixels. */
static void test_seven(void **state)
{
  (void)state;
  IO_BEGIN(t);
  wick_files files = wick_files_begin(&t.mem);
  wick_arrays list = {0};
  assert_null(wick_arrays_read(&files, "examples/digits/seven.png", &t.mem, &t.tmp, &list));
  wick_files_close(&files);
  const wick_array *a = &list.at[0];
  assert_string_equal(wick_array_type(&t.mem, a->elem, a->rank, a->dim), "u8[64,64,1]");
  uint64_t sum = 0;
  for (uint64_t i = 0; i < a->nbytes; i++) sum += ((const unsigned char *)a->data)[i];
  assert_int_equal(sum, 295798);
  io_end(&t);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kinds_of_png),
      cmocka_unit_test(test_damaged_png),
      cmocka_unit_test(test_png_that_claims_much),
      cmocka_unit_test(test_jpeg),
      cmocka_unit_test(test_options),
      cmocka_unit_test(test_fit),
      cmocka_unit_test(test_seven),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
