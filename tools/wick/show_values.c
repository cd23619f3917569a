/* Formats elements as words of equal width, then arranges the words in lines within brackets.
 * Source: NumPy, numpy/_core/arrayprint.py (FloatingFormat, _formatArray). */
#include "show_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/element.h"

enum { VALUES_LINE = 75, VALUES_DIGITS = 8, VALUES_LONGEST = 17 };

/* ---- numbers ---- */

/* The format of the floats of one array. */
typedef struct values_float {
  wick_elem elem;
  bool exponent; /* as in 1.5e-07 */
  int digits;    /* after the point: the maximum over the elements */
  int width;
} values_float;

/* Rounds x to the element's type. */
static double values_round(wick_elem elem, double x)
{
  uint64_t stored[2] = {0};
  wick_scalar s = {.f = x};
  wick_store_elem(elem, stored, 0, s);
  return wick_load_elem(elem, stored, 0).f;
}

/* Returns how many digits after the first one distinguish x from its neighbours; *out_exponent is
 * the power of 10. */
static int values_shortest(wick_elem elem, double x, int *out_exponent)
{
  char text[48];
  for (int n = 0; n <= VALUES_LONGEST; n++) {
    snprintf(text, sizeof text, "%.*e", n, x);
    if (n < VALUES_LONGEST && values_round(elem, strtod(text, NULL)) != x) continue;
    *out_exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    return n;
  }
  return 0;
}

static int values_digits(const values_float *f, double x)
{
  int exponent, n = values_shortest(f->elem, x, &exponent);
  if (!f->exponent) n -= exponent;
  return n < 0 ? 0 : n > VALUES_DIGITS ? VALUES_DIGITS : n;
}

/* Pads with spaces at the end, so that the points are in one column. */
static void values_positional(const values_float *f, double x, char *text, size_t n)
{
  int digits = values_digits(f, x);
  int at = snprintf(text, n, "%.*f%s", digits, x, digits ? "" : ".");
  for (; digits && text[at - 1] == '0'; at--, digits--) text[at - 1] = 0; /* it was limited to 8 */
  snprintf(text + at, n - (size_t)at, "%*s", f->digits - digits, "");
}

/* Pads with zeros at the end of the digits. */
static void values_exponent(const values_float *f, double x, char *text, size_t n)
{
  char number[64];
  int digits = values_digits(f, x);
  snprintf(number, sizeof number, "%.*e", digits, x);
  char *e = strchr(number, 'e');
  snprintf(text, n, "%.*s%s%0*d", (int)(e - number), number, digits ? "" : ".", f->digits - digits,
           0);
  if (f->digits == digits) text[e - number + (digits ? 0 : 1)] = 0;
  size_t at = strlen(text);
  snprintf(text + at, n - at, "%s", e);
}

/* Returns an element as a word of the common width. */
static const char *values_float_word(const values_float *f, double x, wick_arena *mem)
{
  char text[400];
  if (!isfinite(x))
    snprintf(text, sizeof text, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
  else if (f->exponent)
    values_exponent(f, x, text, sizeof text);
  else
    values_positional(f, x, text, sizeof text);
  return wick_str_printf(mem, "%*s", f->width, text);
}

static void values_floats(const wick_array *a, uint64_t n, const char **word, wick_arena *mem)
{
  values_float f = {.elem = a->elem};
  double least = INFINITY, most = 0;
  for (uint64_t i = 0; i < n; i++) {
    double x = fabs(wick_load_elem(a->elem, a->data, i).f);
    if (!isfinite(x) || x == 0) continue;
    least = x < least ? x : least;
    most = x > most ? x : most;
  }
  f.exponent = most > 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
  for (uint64_t i = 0; i < n; i++) {
    double x = wick_load_elem(a->elem, a->data, i).f;
    int digits = isfinite(x) ? values_digits(&f, x) : 0;
    if (digits > f.digits) f.digits = digits;
  }
  for (int pass = 0; pass < 2; pass++)
    for (uint64_t i = 0; i < n; i++) {
      word[i] = values_float_word(&f, wick_load_elem(a->elem, a->data, i).f, mem);
      if ((int)strlen(word[i]) > f.width) f.width = (int)strlen(word[i]);
    }
}

static void values_complex(const wick_array *a, uint64_t n, const char **word, wick_arena *mem)
{
  bool wide = a->elem == WICK_C128;
  values_float f = {.elem = wide ? WICK_F64 : WICK_F32};
  for (uint64_t i = 0; i < n; i++) {
    const char *part[2];
    for (int k = 0; k < 2; k++) {
      double x = wick_load_elem(f.elem, a->data, 2 * i + (uint64_t)k).f, size = fabs(x);
      f.exponent = isfinite(x) && x != 0 && (size >= 1e8 || size < 1e-4);
      f.digits = isfinite(x) ? values_digits(&f, x) : 0;
      part[k] = values_float_word(&f, x, mem);
    }
    word[i] = wick_str_printf(mem, "%s%s%sj", part[0], *part[1] == '-' ? "" : "+", part[1]);
  }
}

static void values_texts(const wick_array *a, uint64_t n, const char **word, wick_arena *mem)
{
  const wick_string *s = a->data;
  for (uint64_t i = 0; i < n; i++) {
    wick_text t = wick_text_begin(mem);
    wick_text_char(&t, '\'');
    for (uint64_t k = 0; k < s[i].nbytes; k++) {
      unsigned char c = (unsigned char)s[i].at[k];
      if (c == '\'' || c == '\\') wick_text_char(&t, '\\');
      if (c < ' ' || c == 127) /* escaped, because it may be a terminal's command */
        wick_text_printf(&t, "\\x%02x", c);
      else
        wick_text_char(&t, (char)c);
    }
    wick_text_char(&t, '\'');
    word[i] = t.at;
  }
}

static void values_ints(const wick_array *a, uint64_t n, const char **word, wick_arena *mem)
{
  int width = 0;
  for (int pass = 0; pass < 2; pass++)
    for (uint64_t i = 0; i < n; i++) {
      long long x = (long long)wick_load_elem(a->elem, a->data, i).i;
      if (a->elem == WICK_BOOL)
        word[i] = wick_str_printf(mem, "%*s", width, x ? "True" : "False");
      else if (a->elem == WICK_U64)
        word[i] = wick_str_printf(mem, "%*llu", width, (unsigned long long)x);
      else
        word[i] = wick_str_printf(mem, "%*lld", width, x);
      if ((int)strlen(word[i]) > width) width = (int)strlen(word[i]);
    }
}

/* ---- brackets ---- */

typedef struct values_print {
  const wick_array *a;
  const char **word; /* the next word */
  wick_text *out;
} values_print;

/* Prints the last axis: words, with a new line when one is full. */
static void values_row(values_print *p, int64_t n, size_t indent)
{
  size_t width = VALUES_LINE - p->a->rank + 1, at = indent;
  for (int64_t i = 0; i < n; i++, p->word++) {
    size_t len = strlen(*p->word);
    if (at + len > width - 1 && at > indent) {
      while (p->out->at[p->out->n - 1] == ' ') p->out->at[--p->out->n] = 0;
      wick_text_printf(p->out, "\n%*s", (int)indent, "");
      at = indent;
    }
    wick_text_printf(p->out, "%s%s", *p->word, i + 1 < n ? " " : "");
    at += len + 1;
  }
}

static void values_axis(values_print *p, uint32_t axis)
{
  int64_t n = p->a->dim[axis];
  wick_text_char(p->out, '[');
  if (axis + 1 == p->a->rank)
    values_row(p, n, axis + 1);
  else
    for (int64_t i = 0; i < n; i++) {
      values_axis(p, axis + 1); /* recursion to the depth of the rank, which is limited */
      for (uint32_t k = axis + 1; k < p->a->rank && i + 1 < n; k++) wick_text_char(p->out, '\n');
      if (i + 1 < n) wick_text_printf(p->out, "%*s", (int)axis + 1, "");
    }
  wick_text_char(p->out, ']');
}

void wick_show_values(const wick_array *a, wick_text *out, wick_arena *tmp)
{
  uint64_t n = 1;
  for (uint32_t i = 0; i < a->rank; i++) n *= (uint64_t)a->dim[i];
  if (!n) {
    wick_text_add(out, "[]");
    return;
  }
  const char **word = wick_new(tmp, const char *, n);
  if (a->elem == WICK_STRING)
    values_texts(a, n, word, tmp);
  else if (a->elem == WICK_C64 || a->elem == WICK_C128)
    values_complex(a, n, word, tmp);
  else if (wick_elem_is_float(a->elem))
    values_floats(a, n, word, tmp);
  else
    values_ints(a, n, word, tmp);
  values_print p = {a, word, out};
  if (a->rank)
    values_axis(&p, 0);
  else
    wick_text_add(out, word[0] + strspn(word[0], " "));
}
