/* Imports inputs and outputs of the model that are sequences, optionals or maps. A program has only
 * tensors: each element of a sequence is an input or output of its own, NAME.0, NAME.1, ...; a map
 * or a sequence of maps is the tensor NAME of its values if its keys are known, else NAME.keys and
 * NAME.values. Metadata describe the group: "onnx.input.NAME" (or output) is "AT COUNT TYPE", or
 * "AT COUNT TYPE KEYS" for a map with known keys. AT is the index among the model's inputs, COUNT
 * the number of tensors (-1: an optional without a value, ?: not known yet), TYPE is seq(f32),
 * optional(f32), optional(seq(f32)), map(string,f32) or seq(map(i64,f32)), and KEYS are the keys
 * (runtime/keys.h). */
#include "import/onnx/import.h"
#include "runtime/keys.h"

#include <string.h>

enum { PORTS_MOST = 65535 }; /* operands of a node */

typedef struct ports_type {
  bool optional, seq, map;
  wick_elem elem, key; /* for a map: the types of its values and keys */
} ports_type;

bool wick_onnx_is_list(const wick_onnx_value_info *v)
{
  return v->type && (v->type->sequence_type || v->type->optional_type || v->type->map_type);
}

static bool ports_elem(wick_onnx_context *c, int64_t type, const char *what, const char *location,
                       wick_elem *out)
{
  if (wick_onnx_elem(type, out)) return true;
  wick_onnx_error(c, WICK_EUNSUPPORTED, location, "%s of type %s are not supported", what,
                  wick_onnx_elem_name(type, c->tmp));
  return false;
}

/* False after an error. */
static bool ports_read(wick_onnx_context *c, const wick_onnx_value_info *v, const char *location,
                       ports_type *out)
{
  const wick_onnx_type *t = v->type;
  *out = (ports_type){.optional = t->optional_type != NULL};
  if (out->optional) t = t->optional_type->elem_type;
  out->seq = t && t->sequence_type;
  if (out->seq) t = t->sequence_type->elem_type;
  out->map = t && t->map_type && !out->optional;
  if (out->map) {
    if (!ports_elem(c, t->map_type->key_type, "keys", location, &out->key)) return false;
    if (out->key != WICK_I64 && out->key != WICK_STRING) {
      wick_onnx_error(c, WICK_EUNSUPPORTED, location, "its keys are %s, expected i64 or string",
                      wick_elem_name(out->key));
      return false;
    }
    t = t->map_type->value_type;
  }
  if (t && t->tensor_type)
    return ports_elem(c, t->tensor_type->elem_type, out->map ? "values" : "elements", location,
                      &out->elem);
  wick_onnx_error(c, WICK_EUNSUPPORTED, location,
                  out->map        ? "of maps only those to numbers or strings are supported"
                  : out->optional ? "of optionals only those of tensors and their sequences are "
                                    "supported"
                                  : "of sequences only those of tensors and maps are supported");
  return false;
}

static const char *ports_text(wick_arena *mem, ports_type t)
{
  const char *x = wick_elem_name(t.elem);
  if (t.map) x = wick_str_printf(mem, "map(%s,%s)", wick_elem_name(t.key), x);
  if (t.seq) x = wick_str_printf(mem, "seq(%s)", x);
  return t.optional ? wick_str_printf(mem, "optional(%s)", x) : x;
}

/* Adds the metadata of an input or output. `more` is appended; it may be "". */
static void ports_note(wick_onnx_context *c, const char *kind, const char *name, uint32_t at,
                       const char *count, ports_type t, const char *more)
{
  wick_arena *mem = &c->module->mem;
  const char *text = wick_str_printf(mem, "%u %s %s%s", at, count, ports_text(c->tmp, t), more);
  wick_push(mem, &c->module->metadata,
            (wick_pair){wick_str_printf(mem, "onnx.%s.%s", kind, name), text});
}

/* Returns a space and the keys as text. */
static const char *ports_keys(wick_onnx_context *c, wick_elem elem, uint32_t n, const int64_t *key)
{
  wick_text t = wick_text_begin(c->tmp);
  wick_string *text = wick_new(c->tmp, wick_string, (size_t)n + 1);
  bool strings = elem == WICK_STRING;
  for (uint32_t i = 0; i < n && strings; i++)
    text[i] = wick_string_table_get(&c->module->strings, key[i]);
  wick_text_char(&t, ' ');
  wick_keys_write(&t, (wick_keys){n, strings ? NULL : key, strings ? text : NULL});
  return t.at;
}

const wick_import_shape *wick_onnx_shape_given(const wick_onnx_context *c, const char *name)
{
  for (uint32_t i = 0; c->options && i < c->options->nshape; i++)
    if (strcmp(c->options->shape[i].input, name) == 0) return &c->options->shape[i];
  return NULL;
}

/* ---- inputs ---- */

void wick_onnx_unlisted(wick_onnx_context *c, const char *location, const char *why)
{
  if (!c->unlisted) c->unlisted = location, c->unlisted_why = why;
}

static wick_value ports_element(wick_onnx_context *c, const char *name, wick_elem elem,
                                const char *location)
{
  const wick_import_shape *s = wick_onnx_shape_given(c, name);
  wick_dim dim[WICK_MAX_RANK];
  if (!s || s->rank > WICK_MAX_RANK) {
    wick_onnx_error(c, WICK_ETYPE, location, "the shape of \"%s\" %s", name,
                    s ? "has too many dimensions" : "must be given");
    return (wick_value){0};
  }
  for (uint32_t k = 0; k < s->rank; k++) {
    if (s->dim[k] < 0) {
      wick_onnx_error(c, WICK_ETYPE, location, "a size of \"%s\" is negative", name);
      return (wick_value){0};
    }
    dim[k] = wick_dim_const(s->dim[k]);
  }
  wick_type type = wick_type_tensor(c->module, elem, s->rank, dim);
  if (wick_dim_eq(wick_type_numel(c->module, type), WICK_DIM_INVALID)) {
    wick_onnx_error(c, WICK_ERANGE, location, "the product of \"%s\"'s sizes overflows", name);
    return (wick_value){0};
  }
  return wick_build_param(&c->b, type, WICK_IN, name);
}

/* Returns the keys that nodes requested of that input in earlier tries. */
static wick_onnx_ask *ports_ask(wick_onnx_context *c, wick_span name)
{
  for (uint32_t i = 0; i < c->asks->n; i++) {
    wick_onnx_ask *a = c->asks->at[i];
    if (a->name.nbytes == name.nbytes && memcmp(a->name.at, name.at, name.nbytes) == 0) return a;
  }
  wick_onnx_ask *a = wick_new(c->tmp, wick_onnx_ask, 1);
  a->name = name;
  wick_push(c->tmp, c->asks, a);
  return a;
}

static void ports_map_input(wick_onnx_context *c, const wick_onnx_value_info *v, ports_type t,
                            uint32_t at, const char *name)
{
  wick_onnx_list l = {.name = v->name, .ask = ports_ask(c, v->name), .key = t.key};
  const wick_onnx_ask *ask = l.ask;
  l.count = ask->all ? 2 : 1;
  l.item = wick_new(c->tmp, wick_value, 2);
  const char *keys = wick_str_printf(c->tmp, "%s.keys", name),
             *values = wick_str_printf(c->tmp, "%s.values", name);
  wick_dim n = wick_dim_const(ask->key.n);
  if (ask->all) {
    n = wick_onnx_symbol(c, (wick_span){0}, keys, 0);
    l.item[0] = wick_build_param(&c->b, wick_type_tensor(c->module, t.key, 1, &n), WICK_IN, keys);
  }
  l.item[ask->all] = wick_build_param(&c->b, wick_type_tensor(c->module, t.elem, 1, &n), WICK_IN,
                                      ask->all ? values : name);
  ports_note(c, "input", name, at, ask->all ? "2" : "1", t,
             ask->all ? "" : ports_keys(c, t.key, ask->key.n, ask->key.at));
  wick_push(c->tmp, &c->lists, l);
}

void wick_onnx_list_input(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                          const char *location)
{
  const char *name = wick_wire_text(c->tmp, v->name);
  const wick_import_shape *s = wick_onnx_shape_given(c, name);
  ports_type t;
  if (!ports_read(c, v, location, &t)) return;
  if (t.map && t.seq) {
    wick_onnx_error(c, WICK_EUNSUPPORTED, location,
                    "sequences of maps are supported only as outputs");
    return;
  }
  if (t.map) {
    ports_map_input(c, v, t, at, name);
    return;
  }
  if (!s) {
    ports_note(c, "input", name, at, "?", t, "");
    wick_onnx_unlisted(c, location, "its number of elements must be given");
    return;
  }
  int64_t count = s->rank == 1 ? s->dim[0] : -2, most = t.seq ? PORTS_MOST : 1;
  if (count < (t.optional ? -1 : 0) || count > most || (!t.seq && !count)) {
    wick_onnx_error(c, WICK_ETYPE, location, "its shape must be [n], for n elements%s%s",
                    t.seq ? "" : ", n = 1", t.optional ? ", or -1, none" : "");
    return;
  }
  ports_note(c, "input", name, at, wick_str_printf(c->tmp, "%lld", (long long)count), t, "");
  wick_onnx_list l = {.name = v->name, .seq = t.seq, .count = count};
  l.item = wick_new(c->tmp, wick_value, (size_t)(count > 0 ? count : 0) + 1);
  for (int64_t k = 0; k < count; k++) {
    const char *element = wick_str_printf(c->tmp, "%s.%lld", name, (long long)k);
    l.item[k] = ports_element(c, element, t.elem, location);
    if (!l.item[k].id) return;
  }
  wick_push(c->tmp, &c->lists, l);
}

void wick_onnx_list_inputs_end(wick_onnx_context *c)
{
  for (uint32_t i = 0; i < c->lists.n; i++) {
    wick_onnx_list *l = &c->lists.at[i];
    wick_onnx_ask *ask = l->ask;
    l->whole = l->item[0];
    if (ask && ask->all)
      l->whole = wick_onnx_map_make(&c->b, l->item[0], l->item[1]);
    else if (ask)
      l->whole =
          wick_onnx_map_make(&c->b, wick_onnx_keys(c, l->key, ask->key.n, ask->key.at), l->item[0]);
    else if (l->count < 0)
      l->whole = wick_onnx_nothing(&c->b);
    else if (l->seq)
      l->whole = wick_build(&c->b, WICK_OP_tuple, (uint32_t)l->count, l->item, NULL, 0, NULL);
    wick_onnx_rebind(c, l->name, l->whole);
  }
}

/* ---- outputs ---- */

/* Describes a value in words. */
static const char *ports_what(const wick_onnx_context *c, wick_value x)
{
  const wick_type_info *t = wick_built_info(&c->b, x);
  if (wick_onnx_is_nothing(&c->b, x)) return "an optional without a value";
  if (wick_onnx_is_map(&c->b, x)) {
    const wick_type_info *values = wick_type_get(c->module, t->item[2]);
    return values->rank == 2 ? "a sequence of maps" : "a map";
  }
  return t->kind == WICK_TUPLE ? "a sequence of tensors" : "a tensor";
}

static void ports_map_output(wick_onnx_context *c, const char *name, wick_value x, uint32_t at,
                             ports_type t, const char *location, wick_onnx_results *out)
{
  wick_onnx_map m = wick_onnx_map_all(c, x);
  if (m.seq != t.seq || m.key != t.key || m.elem != t.elem) {
    const ports_type have = {.seq = m.seq, .map = true, .key = m.key, .elem = m.elem};
    wick_onnx_error(c, WICK_ETYPE, location, "it is %s, but the model declares %s",
                    ports_text(c->tmp, have), ports_text(c->tmp, t));
    return;
  }
  ports_note(c, "output", name, at, m.known ? "1" : "2", t,
             m.known ? ports_keys(c, m.key, m.n, m.at) : "");
  if (!m.known)
    wick_push(c->tmp, out, (wick_onnx_result){m.keys, wick_str_printf(c->tmp, "%s.keys", name)});
  wick_push(
      c->tmp, out,
      (wick_onnx_result){m.values, m.known ? name : wick_str_printf(c->tmp, "%s.values", name)});
}

/* Finds the tensors of a sequence or an optional. Returns false after an error. */
static bool ports_items(wick_onnx_context *c, wick_value x, ports_type t, const char *location,
                        uint32_t *out_n, const wick_value **out)
{
  *out = wick_dup(c->tmp, wick_value, &x, 1);
  *out_n = wick_onnx_is_nothing(&c->b, x) ? 0 : 1;
  if (*out_n && t.seq) {
    const wick_node *n = wick_emit_definer(&c->b, x);
    if (!n || n->op != WICK_OP_tuple || wick_onnx_stack(&c->b, x).id) {
      wick_onnx_error(c, WICK_EUNSUPPORTED, location, "the length of the sequence must be known");
      c->misfits++; /* numbers for sizes may avoid the error */
      return false;
    }
    *out_n = n->nin;
    *out = wick_dup(c->tmp, wick_value, n->in, n->nin);
  }
  for (uint32_t k = 0; k < *out_n; k++) {
    const wick_type_info *e = wick_built_info(&c->b, (*out)[k]);
    if (e->kind == WICK_TENSOR && e->elem == t.elem) continue;
    wick_onnx_error(c, WICK_ETYPE, location, "element %u is %s, but the model declares %s", k,
                    e->kind == WICK_TENSOR ? wick_elem_name(e->elem) : "no tensor",
                    wick_elem_name(t.elem));
    return false;
  }
  return true;
}

void wick_onnx_list_output(wick_onnx_context *c, const wick_onnx_value_info *v, wick_value x,
                           uint32_t at, const char *location, wick_onnx_results *out)
{
  ports_type t = {.seq = true};
  uint32_t n;
  const wick_value *item;
  const char *name = wick_wire_text(c->tmp, v->name);
  bool none = wick_onnx_is_nothing(&c->b, x), map = wick_onnx_is_map(&c->b, x);
  if (!wick_onnx_is_list(v)) {
    wick_onnx_error(c, WICK_ETYPE, location, "it is %s, but the model declares another type",
                    ports_what(c, x));
    return;
  }
  if (!ports_read(c, v, location, &t)) return;
  bool tuple = wick_built_info(&c->b, x)->kind == WICK_TUPLE;
  if (map != t.map || (none && !t.optional) || (!none && !map && tuple != t.seq)) {
    wick_onnx_error(c, WICK_ETYPE, location, "it is %s, but the model declares another type",
                    ports_what(c, x));
    return;
  }
  if (map) {
    ports_map_output(c, name, x, at, t, location, out);
    return;
  }
  if (!ports_items(c, x, t, location, &n, &item)) return;
  for (uint32_t k = 0; k < n; k++)
    wick_push(c->tmp, out, (wick_onnx_result){item[k], wick_str_printf(c->tmp, "%s.%u", name, k)});
  ports_note(c, "output", name, at, none ? "-1" : wick_str_printf(c->tmp, "%u", n), t, "");
}

bool wick_onnx_list_declared(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                             const char *location)
{
  ports_type t;
  if (!ports_read(c, v, location, &t)) return false;
  ports_note(c, "output", wick_wire_text(c->tmp, v->name), at, "?", t, "");
  return true;
}
