/* Attributes of MXNet are texts that Python printed: "(3, 3)", "True", "0.5", "None". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/mxnet/symbol.h"

static const char *attr_text(const wick_import_node *n, const char *name)
{
  const mxnet_node *node = n->data;
  const char *t = wick_json_unescaped(n->c->tmp, wick_json_member(node->attrs, name));
  return t && strcmp(t, "None") != 0 ? t : NULL;
}

static const char *attr_blank(const char *t)
{
  while (*t == ' ' || *t == ',' || *t == '(' || *t == ')' || *t == '[' || *t == ']') t++;
  return t;
}

/* Reads the numbers in a text. Returns false if something else is in it. An entry None is `none`. */
static bool attr_numbers(wick_arena *mem, const char *t, uint32_t *out_n, const double **out)
{
  wick_list(double) all = {0};
  for (t = attr_blank(t); *t; t = attr_blank(t)) {
    char *end;
    double v = strtod(t, &end);
    if (end == t && strncmp(t, "True", 4) == 0) v = 1, end = (char *)(uintptr_t)t + 4;
    if (end == t && strncmp(t, "False", 5) == 0) v = 0, end = (char *)(uintptr_t)t + 5;
    if (end == t && strncmp(t, "None", 4) == 0) v = INT64_MIN, end = (char *)(uintptr_t)t + 4;
    if (end == t) return false;
    if (*end == 'L') end++; /* long integers of Python 2 */
    wick_push(mem, &all, v);
    t = end;
  }
  *out_n = all.n, *out = all.at;
  return true;
}

wick_import_attr wick_mxnet_attr(const wick_import_node *n, const char *name, char kind)
{
  const char *t = attr_text(n, name);
  wick_arena *mem = n->c->tmp;
  uint32_t count;
  const double *v;
  if (!t) return (wick_import_attr){0};
  if (!kind || kind == 's')
    return (wick_import_attr){.kind = 's', .s = {(const unsigned char *)t, strlen(t)}};
  if (!attr_numbers(mem, t, &count, &v)) return (wick_import_attr){.kind = 'o'};
  if (kind == 'I' || kind == 'F') {
    int64_t *ints = wick_new(mem, int64_t, (size_t)count + 1);
    for (uint32_t k = 0; k < count; k++) ints[k] = wick_whole_i64(v[k]);
    return (wick_import_attr){.kind = kind, .n = count, .ints = ints, .floats = v};
  }
  if (count != 1) return (wick_import_attr){.kind = 'o'};
  return (wick_import_attr){.kind = kind, .i = wick_whole_i64(v[0]), .f = v[0]};
}
