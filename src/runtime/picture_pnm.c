/* Reads PNM: bits, gray or colors, as text or bytes (netpbm's pages pbm, pgm, ppm). */
#include <string.h>

#include "runtime/picture.h"

typedef struct pnm {
  const unsigned char *at, *end;
} pnm;

static bool pnm_space(int c) { return c == ' ' || (c >= 9 && c <= 13); }

/* Reads the next number. Comments end with their line. */
static bool pnm_number(pnm *p, int64_t *out)
{
  while (p->at < p->end && (pnm_space(*p->at) || *p->at == '#')) {
    bool comment = *p->at++ == '#';
    while (comment && p->at < p->end && *p->at != '\n' && *p->at != '\r') p->at++;
  }
  *out = 0;
  const unsigned char *begin = p->at;
  for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
    if ((*out = *out * 10 + (*p->at - '0')) > 1 << 24) return false;
  return p->at > begin;
}

/* Reads a bit in text form. Bits need no space between them. */
static bool pnm_bit(pnm *p, int64_t *out)
{
  while (p->at < p->end && pnm_space(*p->at)) p->at++;
  if (p->at == p->end || (*p->at != '0' && *p->at != '1')) return false;
  *out = *p->at++ - '0';
  return true;
}

static bool pnm_sample(pnm *p, char kind, int64_t most, int64_t *out)
{
  if (kind == '1') return pnm_bit(p, out);
  if (kind < '4') return pnm_number(p, out);
  if (p->end - p->at < (most > 255 ? 2 : 1)) return false;
  *out = *p->at++;
  if (most > 255) *out = *out << 8 | *p->at++;
  return true;
}

static wick_code pnm_pixels(wick_picture *image, pnm *p, char kind, int64_t most)
{
  int colors = kind == '3' || kind == '6' ? 3 : 1;
  uint8_t *to = image->rgb;
  for (int64_t y = 0; y < image->height; y++) {
    int64_t v = 0;
    for (int64_t x = 0; x < image->width * colors; x++) {
      bool good = true;
      if (kind == '4') {
        good = p->at + x / 8 < p->end;
        v = good ? p->at[x / 8] >> (7 - x % 8) & 1 : 0;
      } else {
        good = pnm_sample(p, kind, most, &v);
      }
      if (!good)
        return wick_picture_fail(image, WICK_EPARSE, "the image ends in line %lld", (long long)y);
      if (v > most) v = most;
      bool bits = kind == '1' || kind == '4';
      uint8_t byte = (uint8_t)(bits ? (v ? 0 : 255) : (v * 255 + most / 2) / most);
      for (int k = 0; k < 3 / colors; k++) *to++ = byte; /* gray: the same for all three */
    }
    if (kind == '4') p->at += (image->width + 7) / 8;
  }
  return WICK_OK;
}

wick_code wick_picture_pnm(wick_picture *image)
{
  pnm p = {image->at + 2, image->at + image->nbytes};
  char kind = (char)image->at[1];
  int64_t width, height, most = 1;
  wick_code code;
  if (!pnm_number(&p, &width) || !pnm_number(&p, &height) ||
      (kind != '1' && kind != '4' && (!pnm_number(&p, &most) || most < 1 || most > 65535)))
    return wick_picture_fail(image, WICK_EPARSE, "its sizes are no numbers");
  if (!wick_picture_sized(image, height, width, &code)) return code;
  if (p.at == p.end) return wick_picture_fail(image, WICK_EPARSE, "there are no pixels");
  if (kind >= '4') p.at++; /* a single white space */
  return pnm_pixels(image, &p, kind, most);
}
