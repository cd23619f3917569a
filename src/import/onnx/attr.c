/* Checks a node's attributes against the declaration in its row, and reads them by name. */
#include "import/onnx/import.h"

#include <string.h>

/* The letters of kinds in rows, and the AttributeType and the field of AttributeProto for each. */
static const struct {
  char letter;
  uint8_t type, field;
  const char *name;
} attr_kinds[] = {
    {'f', WICK_ONNX_ATTR_FLOAT, 2, "a float"},
    {'i', WICK_ONNX_ATTR_INT, 3, "an integer"},
    {'s', WICK_ONNX_ATTR_STRING, 4, "a string"},
    {'t', WICK_ONNX_ATTR_TENSOR, 5, "a tensor"},
    {'g', WICK_ONNX_ATTR_GRAPH, 6, "a graph"},
    {'F', WICK_ONNX_ATTR_FLOATS, 7, "a list of floats"},
    {'I', WICK_ONNX_ATTR_INTS, 8, "a list of integers"},
    {'S', WICK_ONNX_ATTR_STRINGS, 9, "a list of strings"},
    {'T', WICK_ONNX_ATTR_TENSORS, 10, "a list of tensors"},
    {'p', WICK_ONNX_ATTR_TYPE_PROTO, 14, "a type"},
    {'x', WICK_ONNX_ATTR_SPARSE_TENSOR, 22, "a sparse tensor"},
};

/* Resolves a reference in a function's body to the attribute of the call, or to the function's
 * default. */
static const wick_onnx_attr *attr_resolve(const wick_onnx_scope *s, const wick_onnx_attr *a)
{
  for (; a && a->ref_attr_name.nbytes; s = s->outer) {
    const wick_onnx_attr *found = NULL;
    if (!s || !s->call) return NULL;
    const wick_onnx_attrs *lists[] = {&s->function->attribute_proto, &s->call->node->attribute};
    for (size_t k = 0; k < 2; k++)
      for (size_t i = 0; i < lists[k]->n; i++) {
        wick_span n = lists[k]->at[i].name;
        if (n.nbytes == a->ref_attr_name.nbytes && memcmp(n.at, a->ref_attr_name.at, n.nbytes) == 0)
          found = &lists[k]->at[i];
      }
    a = found;
  }
  return a;
}

const wick_onnx_attr *wick_onnx_attr_find(const wick_onnx_op *o, const char *name)
{
  const wick_onnx_attr *found = NULL;
  for (size_t i = 0; i < o->node->attribute.n; i++)
    if (wick_span_is(o->node->attribute.at[i].name, name)) found = &o->node->attribute.at[i];
  return attr_resolve(o->c->scope, found);
}

/* Returns the position in `spec` after "name:", or NULL. */
static const char *attr_spec(const char *spec, wick_span name)
{
  for (const char *s = spec; *s;) {
    size_t n = strcspn(s, ":"), word = strcspn(s, " ");
    if (n == name.nbytes && memcmp(s, name.at, n) == 0) return s + n + 1;
    s += word + (s[word] == ' ');
  }
  return NULL;
}

static void attr_check_kind(wick_onnx_op *o, const wick_onnx_attr *given, char letter)
{
  const wick_onnx_attr *a = attr_resolve(o->c->scope, given);
  if (!a) return; /* refers to an attribute that the call does not have: absent */
  const char *name = wick_wire_text(o->c->tmp, given->name), *have = "nothing";
  for (size_t i = 0; i < WICK_COUNT(attr_kinds); i++) {
    /* Files before IR version 2 have no type: the field that is present determines it. */
    bool is = a->type ? a->type == attr_kinds[i].type : wick_wire_has(a->has, attr_kinds[i].field);
    if (is && attr_kinds[i].letter == letter) return;
    if (is) have = attr_kinds[i].name;
  }
  bool list = letter == 'I' || letter == 'F' || letter == 'S';
  if (!a->type && list && strcmp(have, "nothing") == 0) return; /* an empty list */
  for (size_t i = 0; i < WICK_COUNT(attr_kinds); i++)
    if (attr_kinds[i].letter == letter)
      wick_onnx_fail(o, WICK_EPARSE, "attribute \"%s\" is %s, expected %s", name, have,
                     attr_kinds[i].name);
}

void wick_onnx_attrs_check(wick_onnx_op *o)
{
  for (size_t i = 0; i < o->node->attribute.n; i++) {
    const wick_onnx_attr *a = &o->node->attribute.at[i];
    const char *spec = attr_spec(o->row->attrs, a->name);
    if (spec)
      attr_check_kind(o, a, *spec);
    else if (o->opset >= 6 ||
             !wick_span_is(a->name, "consumed_inputs")) /* a hint that early exporters gave */
      wick_onnx_fail(o, WICK_EPARSE, "there is no attribute \"%s\" in opset %d",
                     wick_wire_text(o->c->tmp, a->name), (int)o->opset);
  }
  for (const char *s = o->row->attrs; *s;) {
    size_t n = strcspn(s, ":"), word = strcspn(s, " ");
    const char *name = wick_str_dupn(o->c->tmp, s, n);
    if (s[word - 1] == '!' && !wick_onnx_attr_find(o, name))
      wick_onnx_fail(o, WICK_EPARSE, "attribute \"%s\" is missing", name);
    s += word + (s[word] == ' ');
  }
}

int64_t wick_onnx_int(const wick_onnx_op *o, const char *name, int64_t otherwise)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  return a ? a->i : otherwise;
}

double wick_onnx_float(const wick_onnx_op *o, const char *name, float otherwise)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  return (double)(a ? a->f : otherwise);
}

wick_wire_i64s wick_onnx_ints(const wick_onnx_op *o, const char *name)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  return a ? a->ints : (wick_wire_i64s){0};
}

int wick_onnx_word(wick_onnx_op *o, const char *name, const char *words)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, name);
  if (!a) return 0;
  int k = 0;
  for (const char *s = words; *s; k++) {
    size_t n = strcspn(s, " ");
    if (n == a->s.nbytes && memcmp(s, a->s.at, n) == 0) return k;
    s += n + (s[n] == ' ');
  }
  wick_onnx_fail(o, WICK_EPARSE, "%s \"%s\" is not one of: %s", name,
                 wick_wire_text(o->c->tmp, a->s), words);
  return 0;
}
