/* Exports inputs and outputs that the metadata describe as maps (import/onnx/ports.c): a
 * DictVectorizer converts an input to a tensor, a ZipMap makes an output of a tensor. If these
 * operators do not accept its types, the map stays a tensor, and its metadata are kept. */
#include <string.h>

#include "export/write.h"

/* Returns whether those operators accept the types. */
static bool maps_fit(bool output, const char *type, const wick_keys *keys, const wick_io *io)
{
  wick_elem e = io->elem;
  if (output) return strncmp(type, "seq(map(", 8) == 0 && e == WICK_F32 && io->rank == 2;
  bool named = keys->text && e == WICK_I64, numbered = !keys->text && e == WICK_STRING;
  return strncmp(type, "map(", 4) == 0 && io->rank == 1 &&
         (named || numbered || e == WICK_F32 || e == WICK_F64);
}

bool wick_export_map_of(wick_export *x, bool output, const char *name, wick_type type,
                        wick_keys *out)
{
  const wick_type_info *t = wick_type_get(x->m, type);
  const char *key = wick_str_printf(x->mem, "onnx.%s.%s", output ? "output" : "input", name);
  if (x->body || t->kind != WICK_TENSOR || !t->rank) return false;
  wick_io io = {.name = name, .elem = t->elem, .rank = t->rank};
  for (uint32_t k = 0; k < t->rank; k++)
    io.dim[k] = wick_dim_is_const(t->dim[k]) ? t->dim[k].v : -1;
  for (uint32_t i = 0; i < x->m->metadata.n; i++) {
    const wick_pair *p = &x->m->metadata.at[i];
    if (strcmp(p->key, key) != 0) continue;
    wick_keys_take(p->key, p->value, !output, output, &io, x->mem);
    const char *word = p->value;
    for (int k = 0; io.keys.n && k < 2; k++) word = strchr(word, ' ') + 1;
    if (!io.keys.n || !maps_fit(output, word, &io.keys, &io)) continue;
    wick_push(x->mem, &x->mapped, i);
    *out = io.keys;
    return true;
  }
  return false;
}

/* Makes a node of ai.onnx.ml that has the keys as an attribute. */
static wick_onnx_node *maps_node(wick_export_op *o, const char *op_type, const char *in,
                                 const char *numbers, const char *strings, const wick_keys *keys)
{
  wick_onnx_node *n = wick_export_begin(o, op_type, 1, &in);
  n->domain = wick_export_span("ai.onnx.ml");
  o->x->ml = true;
  if (!keys->text) {
    wick_export_set_ints(o, n, numbers, keys->n, keys->number);
    return n;
  }
  const char **word = wick_new(o->x->mem, const char *, keys->n);
  for (uint32_t i = 0; i < keys->n; i++)
    word[i] = wick_str_dupn(o->x->mem, keys->text[i].at, (size_t)keys->text[i].nbytes);
  wick_export_set_words(o, n, strings, keys->n, word);
  return n;
}

const char *wick_export_map_input(wick_export_op *o, const char *name, const wick_keys *keys)
{
  wick_dim n = wick_dim_const(keys->n);
  wick_onnx_node *y =
      maps_node(o, "DictVectorizer", name, "int64_vocabulary", "string_vocabulary", keys);
  return wick_export_reshape(o, wick_export_end(o, y), 1, &n);
}

void wick_export_map_output(wick_export_op *o, const char *from, const char *name,
                            const wick_keys *keys)
{
  wick_onnx_node *y =
      maps_node(o, "ZipMap", from, "classlabels_int64s", "classlabels_strings", keys);
  wick_span *out = wick_new(o->x->mem, wick_span, 1);
  *out = wick_export_span(name);
  y->output.at = out;
  y->output.n = 1;
  wick_push(o->x->mem, &o->x->nodes->list, y);
}

wick_onnx_value_info wick_export_map_info(wick_export *x, bool output, const char *name,
                                          wick_elem elem, const wick_keys *keys)
{
  wick_onnx_type *value = wick_new(x->mem, wick_onnx_type, 1),
                 *map = wick_new(x->mem, wick_onnx_type, 1),
                 *seq = wick_new(x->mem, wick_onnx_type, 1);
  value->tensor_type = wick_new(x->mem, wick_onnx_tensor_type, 1);
  value->tensor_type->elem_type = wick_export_type(elem);
  value->tensor_type->shape = wick_new(x->mem, wick_onnx_shape, 1);
  map->map_type = wick_new(x->mem, wick_onnx_map_type, 1);
  map->map_type->key_type = wick_export_type(keys->text ? WICK_STRING : WICK_I64);
  map->map_type->value_type = value;
  seq->sequence_type = wick_new(x->mem, wick_onnx_elem_type, 1);
  seq->sequence_type->elem_type = map;
  return (wick_onnx_value_info){.name = wick_export_span(name), .type = output ? seq : map};
}
