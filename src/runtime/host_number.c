/* Converts numbers to text and text to numbers, independently of the process's locale.
 *
 * Floats are written with the fewest digits that give the number back, as in NumPy and Python:
 * 1.0, 0.1, 1e-05, 1e+16. Text is read as in C. */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host.h"

enum { NUMBER_TEXT = 64 };

/* ---- narrow floats ---- */

static double number_half(uint16_t h)
{
  int exp = h >> 10 & 31, man = h & 1023;
  double x = exp == 31 ? man ? (double)NAN : (double)INFINITY
             : exp     ? ldexp(man + 1024, exp - 25)
                       : ldexp(man, -24);
  return h >> 15 ? -x : x;
}

/* Rounds to nearest even. A carry out of the mantissa correctly increments the exponent. */
static uint16_t number_to_half(double x)
{
  uint32_t sign = signbit(x) ? 0x8000 : 0, bits;
  int exp;
  x = fabs(x);
  if (x != x) return (uint16_t)(sign | 0x7e00);
  if (x >= 65520) return (uint16_t)(sign | 0x7c00);
  frexp(x, &exp);
  if (--exp < -14) exp = -14;
  bits = (uint32_t)((exp + 15) * 1024 + (int)nearbyint(ldexp(x, 10 - exp)) - 1024);
  return (uint16_t)(sign | bits);
}

static double number_brain(uint16_t b)
{
  uint32_t bits = (uint32_t)b << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

static uint16_t number_to_brain(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if (x != x) return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* ---- to text ---- */

/* Returns true if x, rounded to the element type, is y. */
static bool number_is(wick_elem e, double x, double y)
{
  switch ((int)e) {
  case WICK_F64: return x == y;
  case WICK_F32: return (float)x == (float)y;
  case WICK_F16: return number_half(number_to_half(y)) == x;
  default: return number_brain(number_to_brain((float)y)) == x;
  }
}

/* Finds the digits of |x| without a point, and the exponent of the first one. */
static int number_digits(wick_elem e, double x, char *digits, int *exponent)
{
  char text[NUMBER_TEXT];
  for (int p = 0; p < 17; p++) {
    snprintf(text, sizeof text, "%.*e", p, x);
    if (p < 16 && !number_is(e, x, strtod(text, NULL))) continue;
    int n = 0;
    const char *s = text;
    for (; *s && *s != 'e'; s++)
      if (isdigit((unsigned char)*s)) digits[n++] = *s;
    *exponent = atoi(s + 1);
    while (n > 1 && digits[n - 1] == '0') n--;
    return n;
  }
  return 0;
}

static int number_write_float(wick_elem e, double x, char *to)
{
  char d[NUMBER_TEXT], *at = to;
  int exponent = 0;
  if (x != x) return sprintf(to, "nan");
  if (signbit(x)) *at++ = '-';
  x = fabs(x);
  if (isinf(x)) return (int)(at - to) + sprintf(at, "inf");
  int n = number_digits(e, x, d, &exponent);
  if (x != 0 && (exponent < -4 || exponent >= 16)) {
    *at++ = d[0];
    if (n > 1) *at++ = '.';
    for (int k = 1; k < n; k++) *at++ = d[k];
    return (int)(at - to) + sprintf(at, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
  }
  for (int k = 0; k <= (exponent > 0 ? exponent : 0); k++)
    *at++ = exponent < 0 || k >= n ? '0' : d[k];
  *at++ = '.';
  for (int k = exponent + 1; k < 0; k++) *at++ = '0';
  int first = exponent < 0 ? 0 : exponent + 1;
  for (int k = first; k < n; k++) *at++ = d[k];
  if (first >= n) *at++ = '0';
  return (int)(at - to);
}

static int number_write(const wick_host_tensor *t, int64_t k, char *to)
{
  union {
    const void *p;
    const double *f64;
    const float *f32;
    const uint16_t *u16;
    const int64_t *i64;
    const int32_t *i32;
    const int16_t *i16;
    const int8_t *i8;
    const uint64_t *u64;
    const uint32_t *u32;
    const uint8_t *u8;
  } v = {t->data};
  int64_t i = wick_host_at(t, k);
  switch ((int)t->elem) {
  case WICK_F64: return number_write_float(t->elem, v.f64[i], to);
  case WICK_F32: return number_write_float(t->elem, (double)v.f32[i], to);
  case WICK_F16: return number_write_float(t->elem, number_half(v.u16[i]), to);
  case WICK_BF16: return number_write_float(t->elem, number_brain(v.u16[i]), to);
  case WICK_I64: return sprintf(to, "%lld", (long long)v.i64[i]);
  case WICK_I32: return sprintf(to, "%d", (int)v.i32[i]);
  case WICK_I16: return sprintf(to, "%d", v.i16[i]);
  case WICK_I8: return sprintf(to, "%d", v.i8[i]);
  case WICK_U64: return sprintf(to, "%llu", (unsigned long long)v.u64[i]);
  case WICK_U32: return sprintf(to, "%u", (unsigned)v.u32[i]);
  case WICK_U16: return sprintf(to, "%d", v.u16[i]);
  default: return sprintf(to, "%d", v.u8[i]); /* bool, too */
  }
}

int wick_host_number_text(const wick_host_tensor *t, int64_t k, char *to)
{
  return number_write(t, k, to);
}

static wick_code number_to_text(wick_host_call *c)
{
  char text[4 * NUMBER_TEXT];
  wick_code code = WICK_OK;
  for (int64_t k = 0, n = wick_host_numel(&c->arg[0]); k < n && code == WICK_OK; k++) {
    int len = number_write(&c->arg[1], k, text);
    code = wick_host_put(c, &c->arg[0], k, text, (uint64_t)len);
  }
  return code;
}

/* ---- from text ---- */

static bool number_is_float(wick_elem e)
{
  return e == WICK_F64 || e == WICK_F32 || e == WICK_F16 || e == WICK_BF16;
}

/* Truncates and saturates. */
static int64_t number_whole(double x, double least, double most)
{
  return x != x ? 0 : x <= least ? (int64_t)least : x >= most ? (int64_t)most : (int64_t)x;
}

static bool number_read_whole(const char *s, wick_elem e, int64_t *out)
{
  char *end;
  while (isspace((unsigned char)*s)) s++;
  *out = e == WICK_U64 && *s != '-' ? (int64_t)strtoull(s, &end, 10) : strtoll(s, &end, 10);
  if (end == s) return false;
  while (isspace((unsigned char)*end)) end++;
  return !*end;
}

static void number_store(wick_elem e, void *data, int64_t at, const char *s, double x, int64_t i,
                         locale_t l)
{
  float f;
  uint16_t h;
  switch ((int)e) {
  case WICK_F64: memcpy((char *)data + at * 8, &x, 8); return;
  case WICK_F32:
    f = strtof_l(s, NULL, l);
    memcpy((char *)data + at * 4, &f, 4);
    return;
  case WICK_F16:
  case WICK_BF16:
    h = e == WICK_F16 ? number_to_half(x) : number_to_brain(strtof_l(s, NULL, l));
    memcpy((char *)data + at * 2, &h, 2);
    return;
  case WICK_BOOL: ((uint8_t *)data)[at] = x != 0; return;
  default: break;
  }
  int bytes = e == WICK_I64 || e == WICK_U64   ? 8
              : e == WICK_I32 || e == WICK_U32 ? 4
              : e == WICK_I16 || e == WICK_U16 ? 2
                                               : 1;
  for (int b = 0; b < bytes; b++) ((uint8_t *)data)[at * bytes + b] = (uint8_t)(i >> (8 * b));
}

static wick_code number_prepare(wick_host_call *c)
{
  locale_t l = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t *state = l ? c->allocator.alloc(c->allocator.self, sizeof *state) : NULL;
  if (!state) {
    if (l) freelocale(l);
    return wick_host_fail(c, WICK_ENOMEM, "out of memory");
  }
  *state = l;
  c->state = state;
  return WICK_OK;
}

static void number_drop(wick_host_call *c)
{
  locale_t *state = c->state;
  freelocale(*state);
  c->allocator.free(c->allocator.self, state, sizeof *state);
}

static wick_code number_from_text(wick_host_call *c)
{
  const wick_host_tensor *out = &c->arg[0];
  locale_t l = *(const locale_t *)c->state;
  for (int64_t k = 0, n = wick_host_numel(out); k < n; k++) {
    wick_string s = wick_host_text(c, &c->arg[1], k);
    char *text = wick_string_table_reserve(c->strings, s.nbytes + 1), *end;
    if (!text) return wick_host_fail(c, WICK_ENOMEM, "out of memory for strings");
    if (s.nbytes) memcpy(text, s.at, (size_t)s.nbytes);
    text[s.nbytes] = 0;
    int64_t i = 0;
    double x = strtod_l(text, &end, l);
    bool good = end != text;
    while (isspace((unsigned char)*end)) end++;
    good = good && end == text + s.nbytes;
    if (good && !number_is_float(out->elem) && !number_read_whole(text, out->elem, &i))
      i = out->elem == WICK_U64 && x >= 0x1p63
              ? (int64_t)(uint64_t)(x < 0x1p64 ? x : 0x1.fffffffffffffp63)
              : number_whole(x, -0x1p63, 0x1.fffffffffffffp62);
    if (!good)
      return wick_host_fail(c, WICK_ERANGE, "element %lld, \"%.80s\", is not a number",
                            (long long)k, text);
    number_store(out->elem, out->data, wick_host_at(out, k), text, x, i, l);
  }
  return WICK_OK;
}

const wick_host_row wick_host_number_rows[] = {
    {"parse_number", number_prepare, number_drop, number_from_text},
    {"format_number", NULL, NULL, number_to_text},
    {0},
};
