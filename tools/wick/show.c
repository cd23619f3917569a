/* Prints outputs, for people and as JSON. */
#include "show.h"

#include "datum_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/shown.h"
#include "ir/element.h"

#include "show_values.h"

static bool show_numeric(wick_elem e)
{
  return e != WICK_STRING && e != WICK_C64 && e != WICK_C128;
}

static double show_number(const wick_array *a, uint64_t i)
{
  wick_scalar s = wick_load_elem(a->elem, a->data, i);
  if (a->elem == WICK_U64) return (double)(uint64_t)s.i;
  return wick_elem_is_float(a->elem) ? s.f : (double)s.i;
}

static uint64_t show_count(const wick_array *a)
{
  uint64_t n = 1;
  for (uint32_t i = 0; i < a->rank; i++) n *= (uint64_t)a->dim[i];
  return n;
}

/* ---- classes ---- */

/* An output as lists of scores, one for each element of the batch. */
typedef struct show_classes {
  uint64_t nlist, nclass;
  wick_words labels; /* none: classes are shown by number */
  uint32_t top;
} show_classes;

static void show_keys(const wick_keys *keys, wick_arena *mem, wick_words *out)
{
  for (uint32_t i = 0; i < keys->n; i++) {
    const wick_string *s = keys->text ? &keys->text[i] : NULL;
    wick_push(mem, out,
              s ? wick_str_dupn(mem, s->at, (size_t)s->nbytes)
                : wick_str_printf(mem, "%lld", (long long)keys->number[i]));
  }
}

static bool show_has_labels(const wick_array *a, const wick_words *labels)
{
  uint64_t nlist, nclass;
  return labels && labels->n && wick_classes(a, &nlist, &nclass) && nclass == labels->n;
}

/* Returns whether output k is shown as classes. */
static bool show_find_classes(const wick_array *a, bool last, const wick_show_options *o,
                              wick_arena *mem, show_classes *out)
{
  *out = (show_classes){.top = o->top ? o->top : WICK_SHOW_TOP};
  if (a->keys.n) {
    show_keys(&a->keys, mem, &out->labels);
    out->nclass = out->labels.n;
    out->nlist = show_count(a) / out->nclass;
    return show_numeric(a->elem) && a->rank && a->dim[a->rank - 1] == (int64_t)out->nclass;
  }
  if (!wick_classes(a, &out->nlist, &out->nclass)) return false;
  if (show_has_labels(a, o->labels))
    out->labels = *o->labels;
  else if (last && show_has_labels(a, o->metadata))
    out->labels = *o->metadata;
  return out->labels.n || (o->top && out->nclass > 1);
}

static uint32_t show_top_of(const show_classes *c)
{
  return c->top < c->nclass ? c->top : (uint32_t)c->nclass;
}

static const char *show_label(const show_classes *c, uint64_t index, wick_arena *mem)
{
  return c->labels.n ? c->labels.at[index]
                     : wick_str_printf(mem, "class %llu", (unsigned long long)index);
}

/* Returns whether numbers look like a probability distribution, which is shown in percent. */
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

static void show_top(const wick_array *a, const show_classes *c, wick_arena *tmp)
{
  wick_score *best = wick_new(tmp, wick_score, show_top_of(c));
  for (uint64_t i = 0; i < c->nlist; i++) {
    if (c->nlist > 1) printf("%llu:\n", (unsigned long long)i);
    uint64_t first = i * c->nclass;
    bool percent = show_is_distribution(a, first, c->nclass);
    for (uint32_t k = 0, n = wick_classes_best(a, first, c->nclass, show_top_of(c), best); k < n;
         k++) {
      const char *label = wick_str_shown(tmp, show_label(c, best[k].index, tmp));
      if (percent)
        printf("%8.3f %%  %s\n", 100 * best[k].score, label);
      else
        printf("%12.6g  %s\n", best[k].score, label);
    }
  }
}

wick_status wick_show_check(const wick_array *output, uint32_t n, const wick_words *labels,
                            const char *path, wick_arena *mem)
{
  wick_text t = wick_text_begin(mem);
  for (uint32_t k = 0; k < n; k++) {
    const wick_array *a = &output[k];
    if (show_has_labels(a, labels)) return NULL;
    wick_text_printf(&t, "%s%s %s", k ? ", " : "", a->name ? a->name : "",
                     wick_array_type(mem, a->elem, a->rank, a->dim));
  }
  return wick_fail(mem, WICK_EINVAL, path, "it has %u labels, no output has as many classes: %s",
                   (unsigned)labels->n, t.at);
}

/* ---- ranges ---- */

typedef struct show_range {
  uint64_t n, nan;
  double least, most, mean; /* of the elements that are not NaN */
} show_range;

static show_range show_range_of(const wick_array *a)
{
  show_range r = {.n = show_count(a), .least = INFINITY, .most = -INFINITY};
  double sum = 0;
  for (uint64_t i = 0; i < r.n && show_numeric(a->elem); i++) {
    double x = show_number(a, i);
    r.nan += isnan(x) != 0;
    if (isnan(x)) continue;
    r.least = x < r.least ? x : r.least;
    r.most = x > r.most ? x : r.most;
    sum += x;
  }
  r.mean = sum / (double)(r.n - r.nan);
  return r;
}

/* Prints the first strings. */
static void show_texts(const wick_array *a, wick_arena *tmp)
{
  const wick_string *s = a->data;
  uint64_t n = show_count(a);
  for (uint64_t i = 0; i < n && i < WICK_SHOW_TOP; i++) {
    wick_text t = wick_text_begin(tmp);
    wick_text_shown(&t, s[i].nbytes ? s[i].at : "", (size_t)s[i].nbytes);
    printf("%s%s", i ? ", " : "  ", t.at);
  }
  if (n > WICK_SHOW_TOP) printf(", ...");
}

/* Returns the value of an output that is data. */
static const char *show_datum(const wick_array *a, wick_arena *tmp)
{
  wick_text t = wick_text_begin(tmp);
  wick_datum *d;
  wick_error *e = wick_datum_again(a->datum, &d);
  if (e)
    wick_text_add(&t, wick_error_message(e));
  else
    wick_datum_text(d, &t);
  wick_error_free(e);
  return t.at;
}

static void show_array(const wick_array *a, uint32_t k, wick_arena *tmp)
{
  if (a->datum) {
    printf("output_%u %s: %s\n", k, a->name ? wick_str_shown(tmp, a->name) : "",
           wick_str_shown(tmp, wick_datum_type(a->datum)->name));
    puts(wick_str_shown(tmp, show_datum(a, tmp)));
    return;
  }
  printf("output_%u %s: %s", k, a->name ? wick_str_shown(tmp, a->name) : "",
         wick_array_type(tmp, a->elem, a->rank, a->dim));
  show_range r = show_range_of(a);
  if (r.n > r.nan && show_numeric(a->elem))
    printf("  from %.6g to %.6g, mean %.6g", r.least, r.most, r.mean);
  if (r.nan) printf("  %llu NaN", (unsigned long long)r.nan);
  if (a->elem == WICK_STRING) show_texts(a, tmp);
  putchar('\n');
  bool said = a->elem == WICK_STRING && r.n <= 1;
  if (r.n > WICK_SHOW_WHOLE || said) return;
  wick_text t = wick_text_begin(tmp);
  wick_show_values(a, &t, tmp);
  puts(t.at);
}

void wick_show(const wick_array *output, uint32_t n, const wick_show_options *o, wick_arena *tmp)
{
  show_classes c;
  for (uint32_t k = 0; k < n; k++)
    if (show_find_classes(&output[k], k + 1 == n, o, tmp, &c))
      show_top(&output[k], &c, tmp);
    else
      show_array(&output[k], k, tmp);
}

/* ---- JSON ---- */

static json_t *show_json_element(const wick_array *a, uint64_t i)
{
  if (a->elem == WICK_STRING) {
    const wick_string *s = (const wick_string *)a->data + i;
    return wick_json_textn(s->nbytes ? s->at : "", (size_t)s->nbytes);
  }
  if (a->elem == WICK_C64 || a->elem == WICK_C128) {
    wick_elem part = a->elem == WICK_C64 ? WICK_F32 : WICK_F64;
    double re = wick_load_elem(part, a->data, 2 * i).f,
           im = wick_load_elem(part, a->data, 2 * i + 1).f;
    return json_pack("[o, o]", wick_json_real(re), wick_json_real(im));
  }
  int64_t x = wick_load_elem(a->elem, a->data, i).i;
  if (a->elem == WICK_BOOL) return json_boolean(x);
  bool integer = !wick_elem_is_float(a->elem) && !(a->elem == WICK_U64 && x < 0);
  return integer ? json_integer((json_int_t)x) : wick_json_real(show_number(a, i));
}

/* Makes nested lists, as deep as the rank; *at is the next element. */
static json_t *show_json_values(const wick_array *a, uint32_t axis, uint64_t *at)
{
  if (axis == a->rank) return show_json_element(a, (*at)++);
  json_t *list = json_array();
  for (int64_t i = 0; i < a->dim[axis]; i++)
    json_array_append_new(list, show_json_values(a, axis + 1, at));
  return list;
}

static json_t *show_json_classes(const wick_array *a, const show_classes *c, wick_arena *tmp)
{
  json_t *lists = json_array();
  wick_score *best = wick_new(tmp, wick_score, show_top_of(c));
  for (uint64_t i = 0; i < c->nlist; i++) {
    json_t *list = json_array();
    uint32_t n = wick_classes_best(a, i * c->nclass, c->nclass, show_top_of(c), best);
    for (uint32_t k = 0; k < n; k++)
      json_array_append_new(
          list, json_pack("{s:I, s:o, s:o}", "index", (json_int_t)best[k].index, "label",
                          c->labels.n ? wick_json_text(c->labels.at[best[k].index]) : json_null(),
                          "score", wick_json_real(best[k].score)));
    json_array_append_new(lists, list);
  }
  return lists;
}

static json_t *show_json_one(const wick_array *a, bool last, const wick_show_options *o,
                             wick_arena *tmp)
{
  json_t *shape = json_array(), *all;
  if (a->datum)
    return json_pack("{s:o, s:o, s:o, s:o}", "name", wick_json_text(a->name ? a->name : ""), "type",
                     wick_json_text(wick_datum_type(a->datum)->name), "shape", shape, "values",
                     wick_json_text(show_datum(a, tmp)));
  for (uint32_t k = 0; k < a->rank; k++)
    json_array_append_new(shape, json_integer((json_int_t)a->dim[k]));
  all = json_pack("{s:o, s:s, s:o}", "name", wick_json_text(a->name ? a->name : ""), "type",
                  wick_elem_name(a->elem), "shape", shape);
  show_range r = show_range_of(a);
  if (show_numeric(a->elem)) {
    json_object_set_new(all, "minimum", wick_json_real(r.least));
    json_object_set_new(all, "maximum", wick_json_real(r.most));
    json_object_set_new(all, "mean", wick_json_real(r.mean));
    json_object_set_new(all, "nan_count", json_integer((json_int_t)r.nan));
  }
  uint64_t at = 0;
  json_object_set_new(all, "values",
                      r.n > WICK_SHOW_JSON ? json_null()
                      : r.n                ? show_json_values(a, 0, &at)
                                           : json_array());
  show_classes c;
  if (show_find_classes(a, last, o, tmp, &c))
    json_object_set_new(all, "classes", show_json_classes(a, &c, tmp));
  return all;
}

json_t *wick_show_json(const wick_array *output, uint32_t n, const wick_show_options *o,
                       wick_arena *tmp)
{
  json_t *list = json_array();
  for (uint32_t k = 0; k < n; k++) {
    json_t *one = show_json_one(&output[k], k + 1 == n, o, tmp);
    if (o->folder)
      json_object_set_new(one, "file",
                          wick_json_text(wick_str_printf(tmp, "%s/output_%u.%s", o->folder, k,
                                                         output[k].datum ? "data" : "npy")));
    json_array_append_new(list, one);
  }
  return list;
}
