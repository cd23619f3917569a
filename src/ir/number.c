/* Finds shortest decimals by trial; numbers are compared as the bits of the element type. */
#include "ir/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/element.h"

static uint64_t number_mask(unsigned bits)
{
  return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static bool number_is(wick_elem e)
{
  return wick_elem_class(e) != WICK_COMPLEX && wick_elem_class(e) != WICK_TEXT;
}

/* Returns the bits of element k without conversion, because conversions change a NaN's payload. */
static uint64_t number_bits(wick_elem e, const unsigned char *data, uint64_t k)
{
  unsigned nbits = wick_elem_storage[e].bits;
  uint64_t x = 0, at = nbits < 8 ? k * nbits / 8 : k * (nbits / 8);
  if (nbits < 8) return (uint64_t)data[at] >> (k * nbits % 8) & number_mask(nbits);
  for (unsigned i = 0; i < nbits / 8; i++) x |= (uint64_t)data[at + i] << (8 * i);
  return x;
}

static uint64_t number_bits_of(wick_elem e, double f)
{
  unsigned char bytes[16] = {0};
  wick_store_elem(e, bytes, 0, (wick_scalar){.f = f});
  return number_bits(e, bytes, 0);
}

/* ---- text ---- */

/* Reads a number in the locale "C", which newlocale does not allocate. The host program's locale
 * may have another decimal point. */
static double number_strtod(const char *text)
{
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  double f = strtod_l(text, NULL, c);
  freelocale(c);
  return f;
}

/* Prints "-1.2345e-07" with `digits` significant digits. */
static void number_format(char out[32], double f, int digits)
{
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), old = uselocale(c);
  snprintf(out, 32, "%.*e", digits - 1, f);
  uselocale(old);
  freelocale(c);
}

/* Prints 0.001, 1500 and 2.5 if the exponent is small, else 1e-05 and 1.5e+16. */
static void number_layout(wick_text *out, const char *scientific)
{
  char digit[24];
  int n = 0, exponent = atoi(strchr(scientific, 'e') + 1);
  for (const char *s = scientific; *s != 'e'; s++)
    if (*s >= '0' && *s <= '9') digit[n++] = *s;
  if (*scientific == '-') wick_text_char(out, '-');
  if (exponent < -4 || exponent >= 16) {
    wick_text_char(out, digit[0]);
    if (n > 1) wick_text_char(out, '.'), wick_text_addn(out, digit + 1, (size_t)n - 1);
    wick_text_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    return;
  }
  if (exponent < 0) wick_text_add(out, "0.");
  for (int i = exponent; i < -1; i++) wick_text_char(out, '0');
  for (int i = 0; i < n || i <= exponent; i++) {
    wick_text_char(out, i < n ? digit[i] : '0');
    if (i == exponent && i + 1 < n) wick_text_char(out, '.');
  }
}

static void number_print_float(wick_text *out, wick_elem e, uint64_t bits, double f)
{
  if (isnan(f)) {
    if (bits == number_bits_of(e, (double)NAN))
      wick_text_add(out, "nan");
    else
      wick_text_printf(out, "0x%0*llx", wick_elem_storage[e].bits / 4, (unsigned long long)bits);
    return;
  }
  if (isinf(f)) {
    wick_text_add(out, f < 0 ? "-inf" : "inf");
    return;
  }
  char text[32];
  int digits = 1;
  do number_format(text, f, digits);
  while (digits++ < 17 && number_bits_of(e, number_strtod(text)) != bits);
  number_layout(out, text);
}

void wick_number_print(wick_text *out, wick_elem e, const void *data, uint64_t k)
{
  if (!number_is(e)) {
    wick_text_char(out, '?');
    return;
  }
  wick_scalar x = wick_load_elem(e, data, k);
  if (wick_elem_is_float(e))
    number_print_float(out, e, number_bits(e, data, k), x.f);
  else if (e == WICK_U64)
    wick_text_printf(out, "%llu", (unsigned long long)x.i);
  else
    wick_text_int(out, x.i);
}

void wick_number_print_scalar(wick_text *out, wick_elem e, wick_scalar x)
{
  unsigned char bytes[16] = {0};
  if (number_is(e)) wick_store_elem(e, bytes, 0, x);
  wick_number_print(out, e, bytes, 0);
}

static const char *number_outside(wick_elem e, const char *text, size_t n, wick_arena *mem)
{
  return wick_str_printf(mem, "%.*s is outside of %s", n > 60 ? 60 : (int)n, text,
                         wick_elem_name(e));
}

static const char *number_read_hex(wick_elem e, const char *text, size_t n, wick_arena *mem,
                                   uint64_t *out)
{
  uint64_t x = 0;
  for (size_t i = 2; i < n; i++) {
    char c = text[i];
    if (x >> 60) return number_outside(e, text, n, mem);
    x = x << 4 | (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  *out = x;
  return x & ~number_mask(wick_elem_storage[e].bits) ? number_outside(e, text, n, mem) : NULL;
}

static const char *number_read_int(wick_elem e, const char *text, size_t n, wick_arena *mem,
                                   uint64_t *out)
{
  bool negative = *text == '-';
  uint64_t x = 0, most;
  unsigned width = wick_elem_storage[e].bits;
  for (size_t i = negative; i < n; i++) {
    if (text[i] < '0' || text[i] > '9')
      return wick_str_printf(mem, "%.*s is not an integer", n > 60 ? 60 : (int)n, text);
    if (wick_mul_overflows(x, (uint64_t)10, &x) ||
        wick_add_overflows(x, (uint64_t)(text[i] - '0'), &x))
      return number_outside(e, text, n, mem);
  }
  switch (wick_elem_class(e)) {
  case WICK_SINT: most = number_mask(width - 1) + negative; break;
  case WICK_LOGIC: most = negative ? 0 : 1; break;
  default: most = negative ? 0 : number_mask(width); break;
  }
  *out = negative ? 0 - x : x;
  return x > most ? number_outside(e, text, n, mem) : NULL;
}

static bool number_text_is(const char *text, size_t n, const char *word)
{
  return strlen(word) == n && memcmp(text, word, n) == 0;
}

/* inf and nan are read only as these words: a decimal that is too large is refused. */
static const char *number_read_float(wick_elem e, const char *text, size_t n, wick_arena *mem,
                                     uint64_t *out)
{
  bool negative = *text == '-', inf = number_text_is(text + negative, n - negative, "inf"),
       nan = number_text_is(text, n, "nan");
  double f = inf ? (double)INFINITY : nan ? (double)NAN : 0;
  if (inf && negative) f = -f;
  bool word = !inf && !nan && !(text[negative] >= '0' && text[negative] <= '9');
  if (word) return wick_str_printf(mem, "%.*s is not a number", n > 60 ? 60 : (int)n, text);
  if (!inf && !nan) f = number_strtod(wick_str_dupn(mem, text, n));
  double rounded = wick_round_elem(e, (wick_scalar){.f = f}).f;
  *out = number_bits_of(e, f);
  return !isinf(rounded) == inf || !isnan(rounded) == nan ? number_outside(e, text, n, mem) : NULL;
}

const char *wick_number_read(wick_elem e, const char *text, size_t n, wick_arena *mem, void *data,
                             uint64_t k)
{
  uint64_t bits = 0;
  const char *wrong = NULL;
  if (!number_is(e))
    wrong = wick_str_printf(mem, "%s has no numbers", wick_elem_name(e));
  else if (e == WICK_BOOL && (number_text_is(text, n, "true") || number_text_is(text, n, "false")))
    bits = n == 4;
  else if (n > 2 && text[0] == '0' && text[1] == 'x')
    wrong = number_read_hex(e, text, n, mem, &bits);
  else if (wick_elem_is_float(e))
    wrong = number_read_float(e, text, n, mem, &bits);
  else
    wrong = number_read_int(e, text, n, mem, &bits);
  if (wrong) return wrong;
  unsigned char *at = data;
  unsigned nbits = wick_elem_storage[e].bits;
  bits &= number_mask(nbits);
  if (nbits < 8) {
    at += k * nbits / 8;
    *at =
        (unsigned char)((*at & ~(number_mask(nbits) << (k * nbits % 8))) | bits << (k * nbits % 8));
    return NULL;
  }
  for (unsigned i = 0; i < nbits / 8; i++)
    at[k * (nbits / 8) + i] = (unsigned char)(bits >> (8 * i));
  return NULL;
}
