/* Reads files of parameters: a list of arrays, then a list of their names. */
#include <string.h>

#include "base/reader.h"
#include "import/mxnet/symbol.h"

enum { PARAMS_FILE = 0x112 };
static const uint32_t params_v1 = 0xf993fac8u, params_v3 = 0xf993facau;

bool wick_mxnet_elem(int64_t type, wick_elem *out)
{
  static const wick_elem elems[] = {WICK_F32, WICK_F64, WICK_F16, WICK_U8,
                                    WICK_I32, WICK_I8,  WICK_I64, WICK_BOOL};
  if (type < 0 || type >= (int64_t)WICK_COUNT(elems)) return false;
  return *out = elems[type], true;
}

bool wick_mxnet_elem_named(const char *name, wick_elem *out)
{
  static const char *const names[] = {"float32", "float64", "float16", "uint8",
                                      "int32",   "int8",    "int64",   "bool"};
  for (size_t i = 0; i < WICK_COUNT(names); i++)
    if (strcmp(name, names[i]) == 0) return wick_mxnet_elem((int64_t)i, out);
  return false;
}

static bool params_u32(wick_reader *r, int64_t *out)
{
  uint32_t v;
  if (!wick_read_u32(r, &v)) return false;
  return *out = v, true;
}

/* Reads sizes of 4 or 8 bytes; files before version 1 begin with the rank itself. */
static bool params_shape(wick_reader *r, int64_t rank, bool wide, mxnet_param *p)
{
  if (rank > WICK_MAX_RANK)
    return wick_reader_refuse(r, wick_reader_position(r), "its rank is too large");
  p->rank = (uint32_t)rank;
  for (uint32_t k = 0; k < p->rank; k++) {
    uint64_t v;
    if (!wide && !params_u32(r, &p->dim[k])) return false;
    if (wide && !wick_read_u64(r, &v)) return false;
    if (wide) p->dim[k] = (int64_t)v;
    if (p->dim[k] < 0) return wick_reader_refuse(r, wick_reader_position(r), "a size is negative");
  }
  return true;
}

static bool params_array(wick_reader *r, mxnet_param *p)
{
  int64_t magic, rank, kind = 0, device, number, type;
  if (!params_u32(r, &magic)) return false;
  bool old = magic < params_v1 || magic > params_v3;
  if (!old && magic > params_v1 && !params_u32(r, &kind)) return false;
  if (kind && kind != 0xffffffff && kind != 0)
    return wick_reader_refuse(r, wick_reader_position(r),
                              "an array is sparse, which is not supported");
  rank = magic;
  if (!old && !params_u32(r, &rank)) return false;
  if (!params_shape(r, rank, !old, p)) return false;
  if (!p->rank && magic != params_v3) return true; /* an array without elements */
  if (!params_u32(r, &device) || !params_u32(r, &number) || !params_u32(r, &type)) return false;
  if (!wick_mxnet_elem(type, &p->elem))
    return wick_reader_refuse(r, wick_reader_position(r), "its element type is unknown");
  uint64_t numel = 1;
  for (uint32_t k = 0; k < p->rank; k++)
    if (wick_mul_overflows(numel, (uint64_t)p->dim[k], &numel))
      return wick_reader_refuse(r, wick_reader_position(r), "the product of its sizes overflows");
  if (wick_mul_overflows(numel, wick_elem_storage[p->elem].bits / 8, &numel))
    return wick_reader_refuse(r, wick_reader_position(r), "the product of its sizes overflows");
  return wick_read_span(r, numel, &p->data);
}

static bool params_name(wick_import *c, wick_reader *r, mxnet_param *p)
{
  uint64_t n;
  wick_span s;
  if (!wick_read_u64(r, &n) || !wick_read_span(r, n, &s)) return false;
  if (s.nbytes > 4 && (memcmp(s.at, "arg:", 4) == 0 || memcmp(s.at, "aux:", 4) == 0))
    s.at += 4, s.nbytes -= 4;
  p->name = wick_str_dupn(c->tmp, (const char *)s.at, s.nbytes);
  return true;
}

static bool params_read(wick_import *c, mxnet_model *m, wick_reader *r)
{
  uint64_t magic, none, n, names;
  if (!wick_read_u64(r, &magic) || !wick_read_u64(r, &none) || !wick_read_u64(r, &n)) return false;
  if (magic != PARAMS_FILE) return wick_reader_refuse(r, 0, "it is no file of parameters");
  if (!wick_reader_fits(r, n, 8)) return false;
  for (uint64_t k = 0; k < n; k++) {
    mxnet_param p = {0};
    if (!params_array(r, &p)) return false;
    wick_push(c->tmp, &m->params, p);
  }
  if (!wick_read_u64(r, &names)) return false;
  if (names != n)
    return wick_reader_refuse(r, wick_reader_position(r), "not every array has a name");
  for (uint32_t k = 0; k < n; k++) {
    if (!params_name(c, r, &m->params.at[k])) return false;
    if (wick_names_add(&m->names, m->params.at[k].name, strlen(m->params.at[k].name)) != k + 1)
      return wick_reader_refuse(r, wick_reader_position(r), "two arrays have one name");
  }
  return true;
}

wick_status wick_mxnet_params(wick_import *c, mxnet_model *m, wick_span bytes, const char *path)
{
  wick_reader r = wick_reader_make(bytes.at, bytes.nbytes);
  if (params_read(c, m, &r)) return NULL;
  return wick_fail(c->tmp, WICK_EPARSE, wick_path_base(path), "at byte %zu: %s", r.fault_at,
                   r.fault);
}
