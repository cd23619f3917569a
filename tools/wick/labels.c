/* Reads labels, and finds the best classes. */
#include "labels.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ir/element.h"

enum { LABELS_MOST = 1 << 24 };

/* Returns a label: a string, or the last string of a list. */
static const char *labels_text(const json_t *v)
{
  if (json_is_array(v) && json_array_size(v)) v = json_array_get(v, json_array_size(v) - 1);
  return json_string_value(v);
}

/* Reads a member's class number, which is its key or its value. */
static bool labels_number(const char *key, const json_t *v, size_t n, size_t *out)
{
  char *end;
  if (json_is_integer(v)) {
    json_int_t k = json_integer_value(v);
    *out = (size_t)k;
    return k >= 0 && (size_t)k < n;
  }
  if (*key < '0' || *key > '9') return false;
  unsigned long long k = strtoull(key, &end, 10);
  *out = (size_t)k;
  return !*end && k < n;
}

/* Reads a dict. Returns NULL, or a description of the error. */
static const char *labels_dict(json_t *dict, wick_arena *mem, wick_words *out)
{
  json_t *inner = json_object_get(dict, "id2label");
  if (json_is_object(inner)) dict = inner;
  size_t n = json_object_size(dict);
  const char **label = wick_new(mem, const char *, n), *key;
  json_t *v;
  json_object_foreach(dict, key, v)
  {
    size_t k;
    const char *text = json_is_integer(v) ? key : labels_text(v);
    if (!text || !labels_number(key, v, n, &k))
      return wick_str_printf(mem,
                             "the member \"%s\" is neither a number's label nor a label's "
                             "number from 0 to %zu",
                             key, n - 1);
    if (label[k]) return wick_str_printf(mem, "class %zu has two labels", k);
    label[k] = wick_str_dup(mem, text);
  }
  for (size_t i = 0; i < n; i++) wick_push(mem, out, label[i]);
  return NULL;
}

static const char *labels_list(const json_t *list, wick_arena *mem, wick_words *out)
{
  for (size_t i = 0; i < json_array_size(list); i++) {
    const char *text = labels_text(json_array_get(list, i));
    if (!text) return wick_str_printf(mem, "element %zu is no string", i);
    wick_push(mem, out, wick_str_dup(mem, text));
  }
  return NULL;
}

static const char *labels_json(const char *text, size_t n, wick_arena *mem, wick_words *out)
{
  json_error_t error;
  json_t *all = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
  const char *bad = NULL;
  if (!all)
    bad = wick_str_printf(mem, "line %d: %s", error.line, error.text);
  else if (json_is_array(all))
    bad = labels_list(all, mem, out);
  else
    bad = labels_dict(all, mem, out);
  json_decref(all);
  return bad;
}

static void labels_add(const char *at, size_t n, wick_arena *mem, wick_words *out)
{
  while (n && strchr(" \r\t\n", at[0])) at++, n--;
  while (n && strchr(" \r\t\n", at[n - 1])) n--;
  wick_push(mem, out, wick_str_dupn(mem, at, n));
}

static void labels_split(const char *at, size_t n, char by, wick_arena *mem, wick_words *out)
{
  const char *end = at + n, *next;
  for (; (next = memchr(at, by, (size_t)(end - at))); at = next + 1)
    labels_add(at, (size_t)(next - at), mem, out);
  labels_add(at, (size_t)(end - at), mem, out);
}

static bool labels_is_json(const char *text, size_t n)
{
  size_t i = 0;
  while (i < n && text[i] && strchr(" \t\r\n", text[i])) i++;
  return i < n && (text[i] == '[' || text[i] == '{');
}

wick_status wick_labels_read(wick_span bytes, const char *location, wick_arena *mem,
                             wick_words *out)
{
  const char *text = (const char *)bytes.at;
  size_t n = bytes.nbytes, bom = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  text += bom, n -= bom;
  if (n > LABELS_MOST || memchr(text, 0, n))
    return wick_fail(mem, WICK_EPARSE, location,
                     "it is neither JSON nor a text with one label per line");
  if (labels_is_json(text, n)) {
    const char *bad = labels_json(text, n, mem, out);
    if (bad) return wick_fail(mem, WICK_EPARSE, location, "%s; expected labels as JSON", bad);
  } else {
    labels_split(text, n, '\n', mem, out);
    while (out->n && !*out->at[out->n - 1]) out->n--;
  }
  return out->n ? NULL : wick_fail(mem, WICK_EPARSE, location, "there are no labels in it");
}

void wick_labels_metadata(const char *text, wick_arena *mem, wick_words *out)
{
  size_t n = strlen(text);
  if (labels_is_json(text, n) && !labels_json(text, n, mem, out)) return;
  out->n = 0;
  labels_split(text, n, ',', mem, out);
}

/* ---- classes ---- */

bool wick_classes(const wick_array *a, uint64_t *out_nbatch, uint64_t *out_nclass)
{
  bool number = a->elem != WICK_STRING && a->elem != WICK_C64 && a->elem != WICK_C128;
  uint32_t at = a->rank > 1 ? 1 : 0; /* the first dimension that may have classes */
  if (!number || !a->rank) return false;
  uint64_t nclass = 1, nbatch = 1;
  uint32_t wide = 0;
  for (uint32_t k = at; k < a->rank; k++) wide += a->dim[k] != 1;
  for (uint32_t k = 0; k < a->rank; k++) *(k < at ? &nbatch : &nclass) *= (uint64_t)a->dim[k];
  *out_nbatch = nbatch;
  *out_nclass = nclass;
  return wide <= 1 && nclass && nbatch;
}

static double classes_score(const wick_array *a, uint64_t i)
{
  wick_scalar s = wick_load_elem(a->elem, a->data, i);
  return wick_elem_is_float(a->elem) ? s.f
         : a->elem == WICK_U64       ? (double)(uint64_t)s.i
                                     : (double)s.i;
}

static bool classes_better(double x, double y) { return x > y || (isnan(y) && !isnan(x)); }

uint32_t wick_classes_best(const wick_array *a, uint64_t first, uint64_t n, uint32_t top,
                           wick_score *out)
{
  uint32_t count = 0;
  for (uint64_t i = 0; i < n; i++) {
    double x = classes_score(a, first + i);
    if (count == top && (!count || !classes_better(x, out[count - 1].score))) continue;
    uint32_t k = count < top ? count++ : count - 1;
    for (; k && classes_better(x, out[k - 1].score); k--) out[k] = out[k - 1];
    out[k] = (wick_score){i, x};
  }
  return count;
}
