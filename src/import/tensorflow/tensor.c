/* Reads TensorProto. Its elements are bytes, or a list whose last element is repeated to the end. */
#include <string.h>

#include "base/reader.h"
#include "import/tensorflow/state.h"
#include "ir/element.h"

enum { TENSOR_MOST_BYTES = 1 << 30 }; /* of a tensor whose elements are repeated */

typedef struct tensor_reader {
  wick_import *c;
  const wick_tf_tensor *t;
  const char *location;
  wick_elem elem;
  uint32_t rank;
  int64_t dim[WICK_MAX_RANK];
  uint64_t numel;
} tensor_reader;

static bool tensor_fail(const tensor_reader *r, wick_code code, const char *what)
{
  wick_import_error(r->c, code, r->location, "its tensor %s", what);
  return false;
}

static bool tensor_type(tensor_reader *r)
{
  const wick_tf_shape *s = r->t->tensor_shape;
  size_t rank = s ? s->dim.n : 0;
  if (!wick_tf_elem(r->t->dtype, &r->elem)) {
    wick_import_error(r->c, WICK_EUNSUPPORTED, r->location, "elements of type %s are not supported",
                      wick_tf_elem_name(r->t->dtype, r->c->tmp));
    return false;
  }
  if (s && s->unknown_rank) return tensor_fail(r, WICK_EPARSE, "has no shape");
  if (rank > WICK_MAX_RANK) return tensor_fail(r, WICK_EUNSUPPORTED, "has too many dimensions");
  r->rank = (uint32_t)rank;
  r->numel = 1;
  for (uint32_t i = 0; i < r->rank; i++) {
    r->dim[i] = s->dim.at[i].size;
    if (r->dim[i] < 0 || wick_mul_overflows(r->numel, (uint64_t)r->dim[i], &r->numel) ||
        r->numel > (uint64_t)INT64_MAX / 16)
      return tensor_fail(r, WICK_EPARSE, "has a size that is negative or too large");
  }
  return true;
}

/* The list of the elements' type. */
static wick_wire_spans tensor_list(const tensor_reader *r)
{
  const wick_tf_tensor *t = r->t;
  switch ((int)t->dtype) {
  case WICK_TF_FLOAT: return t->float_val;
  case WICK_TF_DOUBLE: return t->double_val;
  case WICK_TF_HALF:
  case WICK_TF_BFLOAT16: return t->half_val;
  case WICK_TF_INT64: return t->int64_val;
  case WICK_TF_BOOL: return t->bool_val;
  case WICK_TF_UINT32: return t->uint32_val;
  case WICK_TF_UINT64: return t->uint64_val;
  case WICK_TF_FLOAT8_E5M2:
  case WICK_TF_FLOAT8_E4M3FN:
  case WICK_TF_FLOAT8_E4M3FNUZ:
  case WICK_TF_FLOAT8_E5M2FNUZ: return t->float8_val;
  default: return t->int_val;
  }
}

/* Stores the elements of the list; returns how many there were, or UINT64_MAX if they are broken. */
static uint64_t tensor_elements(const tensor_reader *r, unsigned char *to, uint64_t size)
{
  wick_wire_spans list = tensor_list(r);
  uint64_t n = 0;
  bool fixed = r->elem == WICK_F32 || r->elem == WICK_F64 || list.at == r->t->float8_val.at;
  for (size_t i = 0; i < list.n; i++) {
    wick_reader s = wick_reader_make(list.at[i].at, list.at[i].nbytes);
    while (wick_reader_left(&s)) {
      uint64_t bits = 0;
      wick_span span;
      bool good = fixed ? wick_read_span(&s, size, &span) : wick_read_varint(&s, &bits);
      if (!good || n == r->numel) return UINT64_MAX;
      if (fixed)
        memcpy(to + n * size, span.at, size);
      else /* little-endian, as the file */
        for (uint64_t k = 0; k < size; k++)
          to[n * size + k] =
              (unsigned char)(r->elem == WICK_BOOL ? bits != 0 && !k : bits >> 8 * k & 255);
      n++;
    }
  }
  return n;
}

static wick_value tensor_strings(const tensor_reader *r, const char *name)
{
  const wick_wire_spans *s = &r->t->string_val;
  if (s->n > r->numel || (!s->n && r->numel > 1)) {
    tensor_fail(r, WICK_EPARSE, "has another number of strings than its shape");
    return (wick_value){0};
  }
  if (r->numel > TENSOR_MOST_BYTES / sizeof(int64_t)) {
    tensor_fail(r, WICK_ELIMIT, "is too large for its bytes in the file");
    return (wick_value){0};
  }
  int64_t *v = wick_new(r->c->tmp, int64_t, r->numel + 1);
  for (uint64_t i = 0; i < r->numel; i++) {
    wick_span text = s->n ? s->at[i < s->n ? i : s->n - 1] : (wick_span){NULL, 0};
    v[i] = wick_string_table_add(&r->c->module->strings, text.nbytes ? (const char *)text.at : "",
                                 text.nbytes, true);
  }
  return wick_import_copied(r->c, name, r->elem, r->rank, r->dim, v, r->numel * sizeof *v);
}

/* A tensor of equal elements is one number; other lists are copied. */
static wick_value tensor_listed(const tensor_reader *r, const char *name)
{
  uint64_t size = wick_elem_storage[r->elem].bits / 8;
  unsigned char one[16] = {0}, *to = one;
  tensor_reader single = *r;
  uint64_t n = 0;
  wick_wire_spans list = tensor_list(r);
  for (size_t i = 0; i < list.n; i++) n += list.at[i].nbytes;
  if (n > r->numel * 10) n = r->numel * 10;
  single.numel = 1;
  uint64_t have = tensor_elements(&single, one, size);
  if (have <= 1 && (have || !r->numel || n == 0)) {
    wick_scalar s = wick_load_elem(r->elem, one, 0);
    bool is_float = wick_elem_is_float(r->elem);
    wick_type type = wick_type_tensor_const(r->c->module, r->elem, r->rank, r->dim);
    return wick_build_const(&r->c->b, type, is_float ? s.f : 0, is_float ? 0 : s.i);
  }
  if (r->numel > TENSOR_MOST_BYTES / size) {
    tensor_fail(r, WICK_ELIMIT, "is too large for its bytes in the file");
    return (wick_value){0};
  }
  to = wick_new(r->c->tmp, unsigned char, r->numel *size + 1);
  have = tensor_elements(r, to, size);
  if (have == UINT64_MAX || (!have && r->numel)) {
    tensor_fail(r, WICK_EPARSE, "has another number of elements than its shape");
    return (wick_value){0};
  }
  for (uint64_t i = have; i < r->numel; i++) memcpy(to + i * size, to + (have - 1) * size, size);
  return wick_import_copied(r->c, name, r->elem, r->rank, r->dim, to, r->numel * size);
}

wick_value wick_tf_constant(wick_import *c, const wick_tf_tensor *t, const char *name,
                            const char *location, uint32_t *constant)
{
  tensor_reader r = {.c = c, .t = t, .location = location};
  if (*constant) return wick_build_constant(&c->b, *constant);
  if (!tensor_type(&r)) return (wick_value){0};
  wick_value v;
  if (r.elem == WICK_STRING)
    v = tensor_strings(&r, name);
  else if (t->tensor_content.nbytes)
    v = wick_import_weight(c, name, r.elem, r.rank, r.dim, t->tensor_content, location);
  else
    v = tensor_listed(&r, name);
  const wick_node *n = v.id && !c->b.status ? wick_emit_definer(&c->b, v) : NULL;
  if (n && n->op == WICK_OP_const) *constant = wick_const_imm(n)->constant;
  return v;
}
