/* Inputs and outputs of the model that are sequences or optionals. A program has tensors only: each
 * element is an input or output of its own, NAME.0, NAME.1, ..., and metadata say which belong
 * together: "onnx.input.NAME" (or output) is "AT COUNT TYPE": the place among the model's own
 * inputs, how many elements there are (-1: an optional without a value, ?: not known yet), and
 * seq(f32), optional(f32) or optional(seq(f32)). */
#include "import/onnx/import.h"

#include <string.h>

enum { PORTS_MOST = 65535 }; /* operands of a node */

typedef struct ports_type {
  bool optional, seq;
  wick_elem elem;
} ports_type;

bool wick_onnx_is_list(const wick_onnx_value_info *v)
{
  return v->type && (v->type->sequence_type || v->type->optional_type);
}

/* False after an error. */
static bool ports_read(wick_onnx_context *c, const wick_onnx_value_info *v, const char *place,
                       ports_type *out)
{
  const wick_onnx_type *t = v->type;
  *out = (ports_type){.optional = t->optional_type != NULL};
  if (out->optional) t = t->optional_type->elem_type;
  out->seq = t && t->sequence_type;
  if (out->seq) t = t->sequence_type->elem_type;
  if (!t || !t->tensor_type) {
    wick_onnx_error(c, WICK_EUNSUPPORTED, place,
                    "of sequences and optionals only those of tensors are supported");
    return false;
  }
  if (wick_onnx_elem(t->tensor_type->elem_type, &out->elem)) return true;
  wick_onnx_error(c, WICK_EUNSUPPORTED, place, "elements of type %s are not supported",
                  wick_onnx_elem_name(t->tensor_type->elem_type, c->tmp));
  return false;
}

static void ports_note(wick_onnx_context *c, const char *kind, const char *name, uint32_t at,
                       const char *count, ports_type t)
{
  wick_arena *mem = &c->module->mem;
  const char *elem = wick_elem_name(t.elem), *seq = t.seq ? "seq(" : "",
             *end = t.seq && t.optional ? "))" : ")";
  const char *text = wick_str_printf(mem, "%u %s %s%s%s%s", at, count,
                                     t.optional ? "optional(" : "", seq, elem, end);
  wick_push(mem, &c->module->metadata,
            (wick_pair){wick_str_printf(mem, "onnx.%s.%s", kind, name), text});
}

/* The shape that was given for that name, NULL: none. */
static const wick_onnx_given_shape *ports_shape(const wick_onnx_context *c, const char *name)
{
  for (uint32_t i = 0; c->options && i < c->options->nshape; i++)
    if (strcmp(c->options->shape[i].input, name) == 0) return &c->options->shape[i];
  return NULL;
}

/* ---- inputs ---- */

static wick_value ports_element(wick_onnx_context *c, const char *name, wick_elem elem,
                                const char *place)
{
  const wick_onnx_given_shape *s = ports_shape(c, name);
  wick_dim dim[WICK_MAX_RANK];
  if (!s || s->rank > WICK_MAX_RANK) {
    wick_onnx_error(c, WICK_ETYPE, place, "the shape of \"%s\" %s", name,
                    s ? "has too many dimensions" : "must be given");
    return (wick_value){0};
  }
  for (uint32_t k = 0; k < s->rank; k++) {
    if (s->dim[k] < 0) {
      wick_onnx_error(c, WICK_ETYPE, place, "a size of \"%s\" is negative", name);
      return (wick_value){0};
    }
    dim[k] = wick_dim_const(s->dim[k]);
  }
  wick_type type = wick_type_tensor(c->module, elem, s->rank, dim);
  if (wick_dim_eq(wick_type_numel(c->module, type), WICK_DIM_INVALID)) {
    wick_onnx_error(c, WICK_ERANGE, place, "the product of \"%s\"'s sizes overflows", name);
    return (wick_value){0};
  }
  return wick_build_param(&c->b, type, WICK_IN, name);
}

void wick_onnx_list_input(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                          const char *place)
{
  const char *name = wick_wire_text(c->tmp, v->name);
  const wick_onnx_given_shape *s = ports_shape(c, name);
  ports_type t;
  if (!ports_read(c, v, place, &t)) return;
  if (!s) {
    ports_note(c, "input", name, at, "?", t);
    if (!c->unlisted) c->unlisted = place;
    return;
  }
  int64_t count = s->rank == 1 ? s->dim[0] : -2, most = t.seq ? PORTS_MOST : 1;
  if (count < (t.optional ? -1 : 0) || count > most || (!t.seq && !count)) {
    wick_onnx_error(c, WICK_ETYPE, place,
                    "its shape is [n], n elements%s%s: no such number is given",
                    t.seq ? "" : ", n = 1", t.optional ? ", or -1, none" : "");
    return;
  }
  ports_note(c, "input", name, at, wick_str_printf(c->tmp, "%lld", (long long)count), t);
  wick_onnx_list l = {.name = v->name, .seq = t.seq, .count = count};
  l.item = wick_new(c->tmp, wick_value, (size_t)(count > 0 ? count : 0) + 1);
  for (int64_t k = 0; k < count; k++) {
    const char *element = wick_str_printf(c->tmp, "%s.%lld", name, (long long)k);
    l.item[k] = ports_element(c, element, t.elem, place);
    if (!l.item[k].id) return;
  }
  wick_push(c->tmp, &c->lists, l);
}

void wick_onnx_list_inputs_end(wick_onnx_context *c)
{
  for (uint32_t i = 0; i < c->lists.n; i++) {
    const wick_onnx_list *l = &c->lists.at[i];
    wick_value v = l->item[0];
    if (l->count < 0)
      v = wick_onnx_nothing(&c->b);
    else if (l->seq)
      v = wick_build(&c->b, WICK_OP_tuple, (uint32_t)l->count, l->item, NULL, 0, NULL);
    wick_onnx_rebind(c, l->name, v);
  }
}

/* ---- outputs ---- */

void wick_onnx_list_output(wick_onnx_context *c, const wick_onnx_value_info *v, wick_value x,
                           uint32_t at, const char *place, uint32_t *out_n, const wick_value **out)
{
  ports_type t = {.seq = true};
  const wick_type_info *info = wick_built_info(&c->b, x);
  *out_n = 0;
  if (!wick_onnx_is_list(v)) {
    wick_onnx_error(c, WICK_ETYPE, place, "it is a sequence or an optional, the model says not so");
    return;
  }
  if (!ports_read(c, v, place, &t)) return;
  bool none = wick_onnx_is_nothing(&c->b, x);
  if ((none && !t.optional) || (!none && (info->kind == WICK_TUPLE) != t.seq)) {
    wick_onnx_error(c, WICK_ETYPE, place, "it is %s, the model says not so",
                    none    ? "an optional without a value"
                    : t.seq ? "a tensor"
                            : "a sequence");
    return;
  }
  *out = wick_dup(c->tmp, wick_value, &x, 1);
  *out_n = none ? 0 : 1;
  if (!none && t.seq) {
    const wick_node *n = wick_onnx_definer(&c->b, x);
    if (!n || n->op != WICK_OP_tuple) {
      wick_onnx_error(c, WICK_EUNSUPPORTED, place, "the length of the sequence must be known");
      return;
    }
    *out_n = n->nin;
    *out = wick_dup(c->tmp, wick_value, n->in, n->nin);
  }
  for (uint32_t k = 0; k < *out_n; k++) {
    const wick_type_info *e = wick_built_info(&c->b, (*out)[k]);
    if (e->kind == WICK_TENSOR && e->elem == t.elem) continue;
    wick_onnx_error(c, WICK_ETYPE, place, "element %u is %s, the model says %s", k,
                    e->kind == WICK_TENSOR ? wick_elem_name(e->elem) : "no tensor",
                    wick_elem_name(t.elem));
    *out_n = 0;
    return;
  }
  ports_note(c, "output", wick_wire_text(c->tmp, v->name), at,
             none ? "-1" : wick_str_printf(c->tmp, "%u", *out_n), t);
}

bool wick_onnx_list_declared(wick_onnx_context *c, const wick_onnx_value_info *v, uint32_t at,
                             const char *place)
{
  ports_type t;
  if (!ports_read(c, v, place, &t)) return false;
  ports_note(c, "output", wick_wire_text(c->tmp, v->name), at, "?", t);
  return true;
}
