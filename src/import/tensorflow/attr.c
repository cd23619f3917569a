/* Attributes of nodes, and element types. */
#include <string.h>

#include "import/tensorflow/state.h"

static const struct {
  const char *name;
  int8_t elem; /* -1: Wick has no such type */
} attr_types[WICK_TF_NTYPE] = {
    [0] = {"DT_INVALID", -1},
    [WICK_TF_FLOAT] = {"DT_FLOAT", WICK_F32},
    [WICK_TF_DOUBLE] = {"DT_DOUBLE", WICK_F64},
    [WICK_TF_INT32] = {"DT_INT32", WICK_I32},
    [WICK_TF_UINT8] = {"DT_UINT8", WICK_U8},
    [WICK_TF_INT16] = {"DT_INT16", WICK_I16},
    [WICK_TF_INT8] = {"DT_INT8", WICK_I8},
    [WICK_TF_STRING] = {"DT_STRING", WICK_STRING},
    [WICK_TF_COMPLEX64] = {"DT_COMPLEX64", -1},
    [WICK_TF_INT64] = {"DT_INT64", WICK_I64},
    [WICK_TF_BOOL] = {"DT_BOOL", WICK_BOOL},
    [WICK_TF_QINT8] = {"DT_QINT8", WICK_I8},
    [WICK_TF_QUINT8] = {"DT_QUINT8", WICK_U8},
    [WICK_TF_QINT32] = {"DT_QINT32", WICK_I32},
    [WICK_TF_BFLOAT16] = {"DT_BFLOAT16", WICK_BF16},
    [WICK_TF_QINT16] = {"DT_QINT16", WICK_I16},
    [WICK_TF_QUINT16] = {"DT_QUINT16", WICK_U16},
    [WICK_TF_UINT16] = {"DT_UINT16", WICK_U16},
    [WICK_TF_COMPLEX128] = {"DT_COMPLEX128", -1},
    [WICK_TF_HALF] = {"DT_HALF", WICK_F16},
    [WICK_TF_RESOURCE] = {"DT_RESOURCE", -1},
    [WICK_TF_VARIANT] = {"DT_VARIANT", -1},
    [WICK_TF_UINT32] = {"DT_UINT32", WICK_U32},
    [WICK_TF_UINT64] = {"DT_UINT64", WICK_U64},
    [WICK_TF_FLOAT8_E5M2] = {"DT_FLOAT8_E5M2", WICK_F8E5M2},
    [WICK_TF_FLOAT8_E4M3FN] = {"DT_FLOAT8_E4M3FN", WICK_F8E4M3},
    [WICK_TF_FLOAT8_E4M3FNUZ] = {"DT_FLOAT8_E4M3FNUZ", WICK_F8E4M3FNUZ},
    [WICK_TF_FLOAT8_E4M3B11FNUZ] = {"DT_FLOAT8_E4M3B11FNUZ", -1},
    [WICK_TF_FLOAT8_E5M2FNUZ] = {"DT_FLOAT8_E5M2FNUZ", WICK_F8E5M2FNUZ},
    [WICK_TF_INT4] = {"DT_INT4", -1},
    [WICK_TF_UINT4] = {"DT_UINT4", -1},
    [WICK_TF_INT2] = {"DT_INT2", -1},
    [WICK_TF_UINT2] = {"DT_UINT2", -1},
};

bool wick_tf_elem(int64_t dtype, wick_elem *out)
{
  if (dtype > WICK_TF_REF) dtype -= WICK_TF_REF;
  *out = WICK_F32;
  if (dtype < 0 || dtype >= WICK_TF_NTYPE || attr_types[dtype].elem < 0) return false;
  *out = (wick_elem)attr_types[dtype].elem;
  return true;
}

const char *wick_tf_elem_name(int64_t dtype, wick_arena *mem)
{
  if (dtype >= 0 && dtype < WICK_TF_NTYPE) return attr_types[dtype].name;
  return wick_str_printf(mem, "%lld", (long long)dtype);
}

static const wick_tf_attr *attr_entry(const wick_tf_attr_entries *list, wick_span key)
{
  for (size_t i = list ? list->n : 0; i-- > 0;)
    if (list->at[i].key.nbytes == key.nbytes && key.nbytes && list->at[i].value &&
        memcmp(list->at[i].key.at, key.at, key.nbytes) == 0)
      return list->at[i].value;
  return NULL;
}

const wick_tf_attr *wick_tf_attr_find(const wick_import_node *n, const char *name)
{
  const wick_tf_op *o = wick_tf_op_of(n);
  wick_span key = {(const unsigned char *)name, strlen(name)};
  if (!o->vertex->def) return NULL;
  const wick_tf_attr *a = attr_entry(&o->vertex->def->attr, key);
  if (a && wick_wire_has(a->has, WICK_TF_ATTR_PLACEHOLDER))
    a = attr_entry(o->frame->attrs, a->placeholder);
  return a;
}

wick_import_attr wick_tf_attr_of(const wick_import_node *n, const char *name, char kind)
{
  const wick_tf_attr *a = wick_tf_attr_find(n, name);
  wick_import_attr r = {0};
  if (!a) return r;
  r.kind = 'o';
  if (wick_wire_has(a->has, WICK_TF_ATTR_I)) r.kind = 'i', r.i = a->i;
  if (wick_wire_has(a->has, WICK_TF_ATTR_TYPE)) r.kind = 'i', r.i = a->type;
  if (wick_wire_has(a->has, WICK_TF_ATTR_B)) r.kind = 'b', r.i = a->b != 0;
  if (wick_wire_has(a->has, WICK_TF_ATTR_F)) r.kind = 'f', r.f = (double)a->f;
  if (wick_wire_has(a->has, WICK_TF_ATTR_S)) r.kind = 's', r.s = a->s;
  if (!a->list || !wick_wire_has(a->has, WICK_TF_ATTR_LIST)) return r;
  const wick_tf_attr_list *l = a->list;
  if (l->f.n) { /* lists of floats are read as doubles */
    double *f = wick_new(n->c->tmp, double, l->f.n);
    for (size_t i = 0; i < l->f.n; i++) f[i] = (double)l->f.at[i];
    return (wick_import_attr){.kind = 'F', .n = (uint32_t)l->f.n, .floats = f};
  }
  if (l->s.n || kind == 'S')
    return (wick_import_attr){.kind = 'S', .n = (uint32_t)l->s.n, .texts = l->s.at};
  const wick_wire_i64s *ints = l->i.n ? &l->i : l->type.n ? &l->type : &l->b;
  return (wick_import_attr){.kind = 'I', .n = (uint32_t)ints->n, .ints = ints->at};
}

bool wick_tf_attr_elem(wick_import_node *n, const char *name, wick_elem *out)
{
  const wick_tf_attr *a = wick_tf_attr_find(n, name);
  int64_t type = a ? a->type : 0;
  if (wick_tf_elem(type, out)) return true;
  wick_import_fail(n, a ? WICK_EUNSUPPORTED : WICK_EPARSE, "elements of type %s are not supported",
                   wick_tf_elem_name(type, n->c->tmp));
  return false;
}

bool wick_tf_attr_elem_or(wick_import_node *n, const char *name, wick_elem otherwise,
                          wick_elem *out)
{
  *out = otherwise;
  return !wick_tf_attr_find(n, name) || wick_tf_attr_elem(n, name, out);
}
