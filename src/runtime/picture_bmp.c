/* Reads BMP with all kinds of headers, 1 to 32 bits a pixel, with and without run-length encoding
 * (Microsoft's page "Bitmap Storage"). */
#include <stdlib.h>
#include <string.h>

#include "runtime/picture.h"

enum { BMP_RGB, BMP_RLE8, BMP_RLE4, BMP_FIELDS, BMP_ALPHA_FIELDS = 6 };

typedef struct bmp {
  wick_picture *image;
  uint32_t header, bits, kind, ncolor;
  bool top; /* the first row is the top one */
  const unsigned char *palette, *pixel;
  uint32_t each; /* bytes of each color in the palette */
  uint64_t left; /* bytes from `pixel` on */
  uint32_t mask[3];
} bmp;

static uint32_t bmp_u16(const unsigned char *p) { return p[0] | (uint32_t)p[1] << 8; }
static uint32_t bmp_u32(const unsigned char *p) { return bmp_u16(p) | bmp_u16(p + 2) << 16; }

static uint8_t *bmp_place(const bmp *b, int64_t x, int64_t y)
{
  int64_t line = b->top ? y : b->image->height - 1 - y;
  return b->image->rgb + 3 * (line * b->image->width + x);
}

/* Writes color k of the palette, or black if there is no such color. */
static void bmp_put(const bmp *b, int64_t x, int64_t y, uint32_t k)
{
  uint8_t *to = bmp_place(b, x, y);
  const unsigned char *c = k < b->ncolor ? b->palette + (uint64_t)k * b->each : NULL;
  for (int i = 0; i < 3; i++) to[i] = c ? c[2 - i] : 0;
}

/* Scales the bits of a mask to 0 .. 255. */
static uint8_t bmp_field(uint32_t v, uint32_t mask)
{
  if (!mask) return 0;
  uint32_t shift = 0;
  while (!(mask >> shift & 1)) shift++;
  uint32_t most = mask >> shift, x = (v & mask) >> shift;
  return (uint8_t)(((uint64_t)x * 255 + most / 2) / most);
}

static void bmp_line(const bmp *b, const unsigned char *p, int64_t y)
{
  for (int64_t x = 0; x < b->image->width; x++) {
    if (b->bits <= 8) {
      int64_t bit = x * b->bits;
      bmp_put(b, x, y, (uint32_t)p[bit / 8] >> (8 - b->bits - bit % 8) & ((1u << b->bits) - 1));
      continue;
    }
    uint8_t *to = bmp_place(b, x, y);
    const unsigned char *q = p + x * (b->bits / 8);
    uint32_t v = b->bits == 16 ? bmp_u16(q) : b->bits == 32 ? bmp_u32(q) : 0;
    for (int i = 0; i < 3; i++) to[i] = b->bits == 24 ? q[2 - i] : bmp_field(v, b->mask[i]);
  }
}

static wick_code bmp_lines(const bmp *b)
{
  uint64_t pitch = ((uint64_t)b->image->width * b->bits + 31) / 32 * 4;
  for (int64_t y = 0; y < b->image->height; y++) {
    if (((uint64_t)y + 1) * pitch > b->left)
      return wick_picture_fail(b->image, WICK_EPARSE, "the image ends in line %lld", (long long)y);
    bmp_line(b, b->pixel + (uint64_t)y * pitch, y);
  }
  return WICK_OK;
}

/* Reads runs: pairs of a count and a color, or 0 and an escape code. Pixels outside are ignored. */
static wick_code bmp_runs(const bmp *b)
{
  const unsigned char *p = b->pixel, *end = p + b->left;
  int64_t x = 0, y = 0, w = b->image->width, h = b->image->height;
  bool four = b->kind == BMP_RLE4;
  for (int64_t k = 0; k < h; k++)
    for (int64_t i = 0; i < w; i++) bmp_put(b, i, k, 0);
  while (end - p >= 2) {
    uint32_t n = p[0], v = p[1];
    p += 2;
    if (n) {
      for (uint32_t i = 0; i < n; i++, x++)
        if (x < w && y < h) bmp_put(b, x, y, !four ? v : i % 2 ? v & 15 : v >> 4);
    } else if (v == 1) {
      return WICK_OK;
    } else if (v == 0) {
      x = 0, y++;
    } else if (v == 2) {
      if (end - p < 2) break;
      x += p[0], y += p[1], p += 2;
    } else {
      uint64_t bytes = four ? (v + 1) / 2 : v;
      if ((uint64_t)(end - p) < bytes) break;
      for (uint32_t i = 0; i < v; i++, x++)
        if (x < w && y < h)
          bmp_put(b, x, y, !four ? p[i] : i % 2 ? p[i / 2] & 15u : (uint32_t)p[i / 2] >> 4);
      p += bytes;
      if (bytes % 2 && p < end) p++;
    }
  }
  return y >= h ? WICK_OK : wick_picture_fail(b->image, WICK_EPARSE, "its runs end early");
}

static bool bmp_header(bmp *b, int64_t *height, int64_t *width)
{
  wick_picture *m = b->image;
  if (m->nbytes < 26) return false;
  b->header = bmp_u32(m->at + 14);
  bool core = b->header == 12;
  if ((!core && b->header < 40) || b->header > m->nbytes - 14) return false;
  const unsigned char *h = m->at + 14;
  *width = core ? (int64_t)bmp_u16(h + 4) : (int64_t)(int32_t)bmp_u32(h + 4);
  *height = core ? (int64_t)bmp_u16(h + 6) : (int64_t)(int32_t)bmp_u32(h + 8);
  b->bits = core ? bmp_u16(h + 10) : bmp_u16(h + 14);
  b->kind = core ? BMP_RGB : bmp_u32(h + 16);
  b->ncolor = core ? 0 : bmp_u32(h + 32);
  b->top = *height < 0;
  if (b->top) *height = -*height;
  b->each = core ? 3 : 4;
  static const uint32_t usual[2][3] = {{0x7c00, 0x3e0, 0x1f}, {0xff0000, 0xff00, 0xff}};
  memcpy(b->mask, usual[b->bits == 32], sizeof b->mask);
  uint64_t behind = 14 + (uint64_t)b->header;
  if (b->kind == BMP_FIELDS || b->kind == BMP_ALPHA_FIELDS) {
    if (m->nbytes < 14 + 40 + 12) return false;
    for (int i = 0; i < 3; i++) b->mask[i] = bmp_u32(h + 40 + 4 * i);
    if (b->header == 40) behind += b->kind == BMP_FIELDS ? 12 : 16;
  }
  if (b->bits <= 8 && (!b->ncolor || b->ncolor > 1u << b->bits)) b->ncolor = 1u << b->bits;
  if (b->bits > 8) b->ncolor = 0;
  uint64_t offset = bmp_u32(m->at + 10), available = offset > behind ? offset - behind : 0;
  if (offset > m->nbytes || behind > m->nbytes) return false;
  if ((uint64_t)b->ncolor * b->each > available) b->ncolor = (uint32_t)(available / b->each);
  b->palette = m->at + behind;
  b->pixel = m->at + offset;
  b->left = m->nbytes - offset;
  return true;
}

wick_code wick_picture_bmp(wick_picture *image)
{
  bmp b = {.image = image};
  int64_t height, width;
  wick_code code;
  if (!bmp_header(&b, &height, &width))
    return wick_picture_fail(image, WICK_EPARSE, "its header is not that of a BMP");
  bool plain = b.kind == BMP_RGB || b.kind == BMP_FIELDS || b.kind == BMP_ALPHA_FIELDS,
       bits = b.bits == 1 || b.bits == 2 || b.bits == 4 || b.bits == 8 || b.bits == 16 ||
              b.bits == 24 || b.bits == 32;
  if (!bits ||
      (!plain && !(b.kind == BMP_RLE8 && b.bits == 8) && !(b.kind == BMP_RLE4 && b.bits == 4)))
    return wick_picture_fail(image, WICK_EUNSUPPORTED, "BMP of kind %u with %u bits", b.kind,
                             b.bits);
  if (!wick_picture_sized(image, height, width, &code)) return code;
  return plain ? bmp_lines(&b) : bmp_runs(&b);
}
