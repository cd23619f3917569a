/* A bounded reader of FlexBuffers. */
#include "import/tflite/flex.h"

#include <string.h>

enum {
  FLEX_INT = 1,
  FLEX_UINT,
  FLEX_FLOAT,
  FLEX_FAR_INT = 6,
  FLEX_FAR_UINT,
  FLEX_FAR_FLOAT,
  FLEX_MAP,
  FLEX_BOOL = 26
};

/* A vector's elements of `width` bytes each, after their number; values have their types after
 * them. */
typedef struct flex_vector {
  size_t at, n;
  uint32_t width;
} flex_vector;

typedef struct flex_map {
  flex_vector key, value;
} flex_map;

static bool flex_read(wick_span s, size_t at, uint32_t width, uint64_t *out)
{
  *out = 0;
  if (at > s.nbytes || width > s.nbytes - at || width > 8) return false;
  for (uint32_t i = width; i-- > 0;) *out = *out << 8 | s.at[at + i];
  return true;
}

/* Offsets lead back from where they are. */
static bool flex_follow(wick_span s, size_t at, uint32_t width, size_t *out)
{
  uint64_t back;
  if (!flex_read(s, at, width, &back) || back > at) return false;
  *out = at - (size_t)back;
  return true;
}

static bool flex_vector_at(wick_span s, size_t at, uint64_t width, flex_vector *out)
{
  uint64_t n;
  if ((width != 1 && width != 2 && width != 4 && width != 8) || at < width || at > s.nbytes ||
      !flex_read(s, at - (size_t)width, (uint32_t)width, &n) || n > (s.nbytes - at) / width)
    return false;
  *out = (flex_vector){at, (size_t)n, (uint32_t)width};
  return true;
}

static bool flex_open(wick_span s, flex_map *m)
{
  size_t at, keys;
  uint64_t width;
  if (s.nbytes < 3) return false;
  uint32_t root = s.at[s.nbytes - 1], type = s.at[s.nbytes - 2];
  if (root < 1 || root > 8 || s.nbytes < root + 2u || type >> 2 != FLEX_MAP) return false;
  if (!flex_follow(s, s.nbytes - 2 - root, root, &at)) return false;
  if (!flex_vector_at(s, at, (uint64_t)1 << (type & 3), &m->value)) return false;
  uint32_t w = m->value.width;
  if (at < 3 * (size_t)w || s.nbytes - at - m->value.n * w < m->value.n) return false;
  return flex_read(s, at - 2 * (size_t)w, w, &width) &&
         flex_follow(s, at - 3 * (size_t)w, w, &keys) && flex_vector_at(s, keys, width, &m->key) &&
         m->key.n == m->value.n;
}

bool wick_flex_is_map(wick_span bytes)
{
  flex_map m;
  return flex_open(bytes, &m);
}

static double flex_real(uint64_t bits, uint32_t width)
{
  double wide;
  float narrow;
  uint32_t word = (uint32_t)bits;
  memcpy(&wide, &bits, sizeof wide), memcpy(&narrow, &word, sizeof narrow);
  return width == 8 ? wide : width == 4 ? (double)narrow : 0;
}

static bool flex_value(wick_span s, const flex_vector *v, size_t i, double *out)
{
  uint32_t packed = s.at[v->at + v->n * v->width + i], type = packed >> 2, width = v->width;
  size_t at = v->at + i * width;
  uint64_t bits;
  if (type >= FLEX_FAR_INT && type <= FLEX_FAR_FLOAT) {
    if (!flex_follow(s, at, width, &at)) return false;
    width = 1u << (packed & 3), type -= FLEX_FAR_INT - FLEX_INT;
  }
  if (!flex_read(s, at, width, &bits)) return false;
  uint32_t unused = 64 - 8 * width;
  if (type == FLEX_INT)
    *out = (double)((int64_t)(bits << unused) >> unused);
  else if (type == FLEX_FLOAT)
    *out = flex_real(bits, width);
  else if (type == FLEX_UINT || type == FLEX_BOOL)
    *out = (double)bits;
  else
    return false;
  return true;
}

bool wick_flex_number(wick_span bytes, const char *key, double *out)
{
  flex_map m;
  size_t length = strlen(key) + 1, at;
  if (!flex_open(bytes, &m)) return false;
  for (size_t i = 0; i < m.key.n; i++)
    if (flex_follow(bytes, m.key.at + i * m.key.width, m.key.width, &at) &&
        length <= bytes.nbytes - at && memcmp(bytes.at + at, key, length) == 0)
      return flex_value(bytes, &m.value, i, out);
  return false;
}
