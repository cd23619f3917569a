/* Prints tensors: brackets around each axis, and the shortest text of each element. */
#include "ops/tensor_text.h"

#include <stdio.h>
#include <string.h>

#include "ir/element.h"
#include "ops/ref.h"

static void tensor_text_float(wick_elem elem, double x, wick_text *out)
{
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, x);
    double back;
    if (sscanf(text, "%lf", &back) != 1) break;
    wick_scalar r = wick_round_elem(elem, (wick_scalar){.f = back});
    if (!(r.f < x) && !(r.f > x)) break;
  }
  double size = x < 0 ? -x : x;
  if (strchr(text, 'e') && size >= 1 && size < 1e16) snprintf(text, sizeof text, "%.0f", x);
  wick_text_add(out, text);
  if (!strpbrk(text, ".en")) wick_text_add(out, ".0");
}

static void tensor_text_number(const wick_string_table *strings, const wick_tensor *t, uint64_t k,
                               wick_text *out)
{
  if (wick_elem_is_float(t->elem)) {
    tensor_text_float(t->elem, wick_load_elem(t->elem, t->data, k).f, out);
    return;
  }
  int64_t i = wick_load_elem(t->elem, t->data, k).i;
  if (t->elem == WICK_BOOL) {
    wick_text_add(out, i ? "true" : "false");
  } else if (t->elem == WICK_STRING) {
    wick_string s = wick_string_table_get(strings, i);
    wick_text_printf(out, "\"%.*s\"", (int)s.nbytes, s.at);
  } else if (wick_elem_class(t->elem) == WICK_UINT) {
    wick_text_printf(out, "%llu", (unsigned long long)i);
  } else {
    wick_text_printf(out, "%lld", (long long)i);
  }
}

static void tensor_text_axis(const wick_string_table *strings, const wick_tensor *t, uint32_t axis,
                             uint64_t at, uint64_t size, wick_text *out)
{
  if (axis == t->rank) {
    tensor_text_number(strings, t, at, out);
    return;
  }
  uint64_t n = (uint64_t)t->dim[axis];
  wick_text_char(out, '[');
  for (uint64_t i = 0; i < n; i++) {
    if (i) wick_text_add(out, ", ");
    tensor_text_axis(strings, t, axis + 1, at + i * (size / n), size / n, out);
  }
  wick_text_char(out, ']');
}

void wick_tensor_text(const wick_string_table *strings, const wick_tensor *t, wick_text *out)
{
  tensor_text_axis(strings, t, 0, 0, wick_ref_numel(t), out);
}
