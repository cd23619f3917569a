/* Printing outputs. */
#include "show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ir/element.h"

typedef wick_list(const char *) show_labels;

static bool show_numeric(wick_elem e)
{
  return e != WICK_STRING && e != WICK_C64 && e != WICK_C128;
}

static double show_number(const wick_array *a, uint64_t i)
{
  wick_scalar s = wick_load_elem(a->elem, a->data, i);
  return wick_elem_is_float(a->elem) ? s.f : (double)s.i;
}

static uint64_t show_count(const wick_array *a)
{
  uint64_t n = 1;
  for (uint32_t i = 0; i < a->rank; i++) n *= (uint64_t)a->dim[i];
  return n;
}

/* ---- labels ---- */

static bool show_read_json(const char *text, wick_arena *mem, show_labels *out)
{
  json_t *list = json_loads(text, 0, NULL);
  bool right = json_is_array(list);
  for (size_t i = 0; right && i < json_array_size(list); i++) {
    const char *s = json_string_value(json_array_get(list, i));
    right = s != NULL;
    if (right) wick_push(mem, out, wick_str_dup(mem, s));
  }
  json_decref(list);
  return right;
}

static void show_read_labels(const char *text, wick_arena *mem, show_labels *out)
{
  text += strspn(text, " \t\r\n");
  if (*text == '[' && show_read_json(text, mem, out)) return;
  out->n = 0;
  for (;;) {
    size_t n = strcspn(text, ",");
    const char *end = text + n;
    while (n && strchr(" \r\n\t", text[0])) text++, n--;
    while (n && strchr(" \r\n\t", text[n - 1])) n--;
    wick_push(mem, out, wick_str_dupn(mem, text, n));
    if (!*end) return;
    text = end + 1;
  }
}

/* Numbers that look like a distribution are shown in percent. */
static bool show_is_distribution(const wick_array *a, uint64_t first, uint64_t n)
{
  double sum = 0;
  for (uint64_t i = 0; i < n; i++) {
    double x = show_number(a, first + i);
    if (!(x >= 0)) return false;
    sum += x;
  }
  return fabs(sum - 1) < 1e-2;
}

static void show_top(const wick_array *a, uint64_t first, const show_labels *labels,
                     wick_arena *tmp)
{
  bool percent = show_is_distribution(a, first, labels->n);
  bool *shown = wick_new(tmp, bool, labels->n);
  for (int k = 0; k < WICK_SHOW_TOP && (uint32_t)k < labels->n; k++) {
    uint32_t best = labels->n;
    for (uint32_t i = 0; i < labels->n; i++)
      if (!shown[i] &&
          (best == labels->n || show_number(a, first + i) > show_number(a, first + best)))
        best = i;
    shown[best] = true;
    double x = show_number(a, first + best);
    if (percent)
      printf("%8.3f %%  %s\n", 100 * x, labels->at[best]);
    else
      printf("%12.6g  %s\n", x, labels->at[best]);
  }
}

static void show_keys(const wick_keys *keys, wick_arena *mem, show_labels *out)
{
  for (uint32_t i = 0; i < keys->n; i++) {
    const wick_string *s = keys->text ? &keys->text[i] : NULL;
    wick_push(mem, out,
              s ? wick_str_dupn(mem, s->at, (size_t)s->nbytes)
                : wick_str_printf(mem, "%lld", (long long)keys->number[i]));
  }
}

/* Each of a batch. */
static bool show_classes(const wick_array *a, const char *text, wick_arena *tmp)
{
  show_labels labels = {0};
  if (a->keys.n)
    show_keys(&a->keys, tmp, &labels);
  else if (text)
    show_read_labels(text, tmp, &labels);
  uint64_t n = show_count(a);
  if (!show_numeric(a->elem) || !labels.n || !a->rank || a->dim[a->rank - 1] != labels.n)
    return false;
  for (uint64_t first = 0; first < n; first += labels.n) {
    if (n > labels.n) printf("%llu:\n", (unsigned long long)(first / labels.n));
    show_top(a, first, &labels, tmp);
  }
  return true;
}

/* ---- ranges ---- */

/* The first ones. */
static void show_texts(const wick_array *a)
{
  const wick_string *s = a->data;
  uint64_t n = show_count(a);
  for (uint64_t i = 0; i < n && i < WICK_SHOW_TOP; i++)
    printf("%s%.*s", i ? ", " : "  ", (int)s[i].nbytes, s[i].nbytes ? s[i].at : "");
  if (n > WICK_SHOW_TOP) printf(", ...");
}

static void show_range(const wick_array *a, uint32_t k, wick_arena *tmp)
{
  printf("output_%u %s: %s", k, a->name ? a->name : "",
         wick_array_type(tmp, a->elem, a->rank, a->dim));
  double least = INFINITY, most = -INFINITY, sum = 0;
  uint64_t n = show_count(a), nan = 0;
  for (uint64_t i = 0; i < n && show_numeric(a->elem); i++) {
    double x = show_number(a, i);
    nan += isnan(x) != 0;
    if (isnan(x)) continue;
    least = x < least ? x : least;
    most = x > most ? x : most;
    sum += x;
  }
  if (n > nan && show_numeric(a->elem))
    printf("  from %.6g to %.6g, mean %.6g", least, most, sum / (double)(n - nan));
  if (nan) printf("  %llu NaN", (unsigned long long)nan);
  if (a->elem == WICK_STRING) show_texts(a);
  putchar('\n');
}

void wick_show(const wick_array *output, uint32_t n, const char *labels, wick_arena *tmp)
{
  for (uint32_t k = 0; k < n; k++)
    if (!show_classes(&output[k], k + 1 < n ? NULL : labels, tmp)) show_range(&output[k], k, tmp);
}
