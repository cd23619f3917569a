/* Rounds weights in two passes over the weights of each sum. The first pass rounds them and adds up
 * the errors. The second pass changes the rounding of some weights to reduce the sum of the errors.
 */
#include "graph/demote_weights.h"

#include <math.h>
#include <string.h>

#include "ir/element.h"

/* The number of low bits of f32 that the narrow type does not have, and the range of f32's exponent
 * codes in which cutting off these bits rounds correctly. */
typedef struct narrow_format {
  uint32_t drop, least, most;
} narrow_format;

static narrow_format narrow_format_of(wick_elem e)
{
  return e == WICK_BF16 ? (narrow_format){16, 1, 253} : (narrow_format){13, 113, 141};
}

static uint32_t narrow_word(float x)
{
  uint32_t word;
  memcpy(&word, &x, sizeof word);
  return word;
}

static float narrow_float(uint32_t word)
{
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}

static bool narrow_by_bits(const narrow_format *f, uint32_t word)
{
  uint32_t exponent = word >> 23 & 0xff;
  return exponent >= f->least && exponent <= f->most;
}

float wick_narrow_number(wick_elem e, float x)
{
  narrow_format f = narrow_format_of(e);
  uint32_t word = narrow_word(x);
  if (!(word & 0x7f800000)) return copysignf(0, x);
  if (!narrow_by_bits(&f, word)) return (float)wick_round_elem(e, (wick_scalar){.f = (double)x}).f;
  word += (1u << (f.drop - 1)) - 1 + (word >> f.drop & 1);
  return narrow_float(word >> f.drop << f.drop);
}

typedef struct narrow_sum {
  double error; /* sum of the errors */
  double step;  /* sum of the distances between neighbours */
  /* distance from the middle, in steps, within which a weight is rounded the other way */
  double near;
} narrow_sum;

static void narrow_add(const narrow_format *f, float x, float y, narrow_sum *s)
{
  uint32_t word = narrow_word(x) & 0x7f800000;
  if (!narrow_by_bits(f, word)) return;
  s->error += (double)y - (double)x;
  s->step += (double)narrow_float(word + (1u << f->drop)) - (double)narrow_float(word);
}

/* Rounds down a weight that was rounded up if the sum is too large, and the reverse if it is too
 * small. */
static float narrow_turn(const narrow_format *f, float x, float y, narrow_sum *s)
{
  bool down = s->error > 0;
  uint32_t word = narrow_word(x), unit = 1u << f->drop, rest = word & (unit - 1);
  if (!narrow_by_bits(f, word) || (down ? y <= x : y >= x)) return y;
  double middle = fabs((double)rest / unit - 0.5);
  float low = narrow_float(word - rest), high = narrow_float(word - rest + unit),
        other = y == low ? high : low;
  double step = (double)other - (double)y;
  if (middle >= s->near || fabs(step) > 2 * fabs(s->error)) return y;
  s->error += step;
  return other;
}

void wick_narrow_weights(wick_elem e, uint64_t outer, uint64_t summed, uint64_t inner,
                         const float *from, float *to, wick_arena *tmp)
{
  enum { ENOUGH = 2 }; /* the ratio of weights near the middle to those needed, on average */
  narrow_format f = narrow_format_of(e);
  wick_mark mark = wick_arena_mark(tmp);
  narrow_sum *sum = wick_new(tmp, narrow_sum, inner);
  for (uint64_t o = 0; o < outer; o++, from += summed * inner, to += summed * inner) {
    for (uint64_t j = 0; j < inner; j++) sum[j] = (narrow_sum){0};
    for (uint64_t i = 0; i < summed * inner; i++) {
      to[i] = wick_narrow_number(e, from[i]);
      narrow_add(&f, from[i], to[i], &sum[i % inner]);
    }
    for (uint64_t j = 0; j < inner; j++)
      sum[j].near = sum[j].step > 0 ? ENOUGH * fabs(sum[j].error) / sum[j].step : 0;
    for (uint64_t i = 0; i < summed * inner; i++)
      to[i] = narrow_turn(&f, from[i], to[i], &sum[i % inner]);
  }
  wick_arena_rewind(tmp, mark);
}
