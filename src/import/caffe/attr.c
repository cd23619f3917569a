/* Finds parameters of layers in their messages, by the tables of schema.c. */
#include <string.h>

#include "import/caffe/net.h"

/* Reads one field at r. A span has the bytes of the packed form. False at the end, or if the message
 * is damaged. */
static bool attr_next(wick_reader *r, uint32_t *number, uint32_t *type, wick_span *out)
{
  enum { VARINT, FIXED64, LENGTH, FIXED32 = 5 };
  uint64_t tag, v;
  if (!wick_reader_left(r) || !wick_read_varint(r, &tag) || tag >> 3 > UINT32_MAX) return false;
  *number = (uint32_t)(tag >> 3), *type = (uint32_t)(tag & 7);
  const unsigned char *at = r->at;
  switch (*type) {
  case VARINT:
    if (!wick_read_varint(r, &v)) return false;
    *out = (wick_span){at, (size_t)(r->at - at)};
    return true;
  case FIXED64: return wick_read_span(r, 8, out);
  case LENGTH: return wick_read_varint(r, &v) && wick_read_span(r, v, out);
  case FIXED32: return wick_read_span(r, 4, out);
  default: return false;
  }
}

wick_wire_spans wick_caffe_parts(wick_arena *mem, wick_span bytes, uint32_t number)
{
  wick_list(wick_span) parts = {0};
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  uint32_t at, type;
  wick_span s;
  while (attr_next(&r, &at, &type, &s))
    if (at == number && type == 2) wick_push(mem, &parts, s);
  return (wick_wire_spans){parts.at, parts.n};
}

static wick_import_attr attr_ints(wick_arena *mem, wick_wire_spans parts, bool list, char kind)
{
  wick_list(int64_t) all = {0};
  for (size_t i = 0; i < parts.n; i++) {
    wick_reader r = wick_reader_make(parts.at[i].at, parts.at[i].nbytes);
    uint64_t v;
    while (wick_reader_left(&r) && wick_read_varint(&r, &v)) wick_push(mem, &all, (int64_t)v);
  }
  if (!all.n) return (wick_import_attr){0};
  if (list || kind == 'I') return (wick_import_attr){.kind = 'I', .n = all.n, .ints = all.at};
  return (wick_import_attr){.kind = kind == 'b' ? 'b' : 'i', .i = all.at[all.n - 1]};
}

static wick_import_attr attr_floats(wick_arena *mem, wick_wire_spans parts, bool list)
{
  wick_list(double) all = {0};
  for (size_t i = 0; i < parts.n; i++) {
    wick_reader r = wick_reader_make(parts.at[i].at, parts.at[i].nbytes);
    float v;
    while (wick_reader_left(&r) && wick_read_f32(&r, &v)) wick_push(mem, &all, (double)v);
  }
  if (!all.n) return (wick_import_attr){0};
  if (list) return (wick_import_attr){.kind = 'F', .n = all.n, .floats = all.at};
  return (wick_import_attr){.kind = 'f', .f = all.at[all.n - 1]};
}

static const wick_wire_field *attr_find(const wick_wire_message *m, const char *name, size_t size)
{
  for (uint32_t i = 0; i < m->nfield; i++)
    if (strncmp(m->field[i].name, name, size) == 0 && !m->field[i].name[size]) return &m->field[i];
  return NULL;
}

wick_import_attr wick_caffe_field(wick_arena *mem, const wick_wire_message *message,
                                  wick_span bytes, const char *name, char kind)
{
  size_t size = strcspn(name, ".");
  const wick_wire_field *f = attr_find(message, name, size);
  wick_list(wick_span) parts = {0};
  uint32_t number, type;
  wick_span s;
  if (!f) return (wick_import_attr){0};
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  while (attr_next(&r, &number, &type, &s))
    if (number == f->number) wick_push(mem, &parts, s);
  if (!parts.n) return (wick_import_attr){0};
  const wick_wire_spans all = {parts.at, parts.n};
  switch ((wick_wire_kind)f->kind) {
  case WICK_WIRE_I64:
  case WICK_WIRE_I32: return attr_ints(mem, all, false, kind);
  case WICK_WIRE_I64S: return attr_ints(mem, all, true, kind);
  case WICK_WIRE_F32: return attr_floats(mem, all, false);
  case WICK_WIRE_F32S: return attr_floats(mem, all, true);
  case WICK_WIRE_BYTES: return (wick_import_attr){.kind = 's', .s = parts.at[parts.n - 1]};
  case WICK_WIRE_MESSAGES:
    if (name[size])
      return wick_caffe_field(mem, f->message, parts.at[parts.n - 1], name + size + 1, kind);
    break;
  default: break;
  }
  return (wick_import_attr){.kind = 'o'};
}

/* V0 has other names for a few fields. */
static const char *attr_renamed(const char *name)
{
  static const char *const names[][2] = {{"kernel_size", "kernelsize"}, {"bias_term", "biasterm"}};
  for (size_t i = 0; i < WICK_COUNT(names); i++)
    if (strcmp(name, names[i][0]) == 0) return names[i][1];
  return name;
}

wick_import_attr wick_caffe_attr(const wick_import_node *n, const char *name, char kind)
{
  const caffe_layer *l = n->data;
  if (!l->message) return (wick_import_attr){0};
  if (l->message == &wick_caffe_layer_v0_text) name = attr_renamed(name);
  return wick_caffe_field(n->c->tmp, l->message, l->param, name, kind);
}
