/* Builds nodes of Wick with attributes by name, and constants. */
#include "import/kit/emit.h"

#include <string.h>

#include "ir/element.h"

wick_emit wick_emit_begin(wick_builder *b, wick_opcode op)
{
  wick_emit e = {.b = b, .op = op};
  for (uint32_t i = 0; i < WICK_MAX_ATTR; i++) e.attr[i].n = WICK_ATTR_UNSET;
  return e;
}

static wick_attr *emit_attr(wick_emit *e, const char *name)
{
  const wick_op *row = wick_ops[e->op];
  for (uint32_t i = 0; i < WICK_MAX_ATTR && row->attr[i].name; i++)
    if (strcmp(row->attr[i].name, name) == 0) return &e->attr[i];
  wick_build_fail(e->b, WICK_EINTERNAL, "%s has no attribute \"%s\"", row->name, name);
  return e->attr;
}

void wick_emit_set_int(wick_emit *e, const char *name, int64_t i)
{
  *emit_attr(e, name) = (wick_attr){.i = i};
}

void wick_emit_set_float(wick_emit *e, const char *name, double f)
{
  *emit_attr(e, name) = (wick_attr){.f = f};
}

void wick_emit_set_ints(wick_emit *e, const char *name, uint32_t n, const int64_t *ints)
{
  *emit_attr(e, name) = (wick_attr){.n = n, .ints = ints};
}

void wick_emit_set_floats(wick_emit *e, const char *name, uint32_t n, const double *floats)
{
  *emit_attr(e, name) = (wick_attr){.n = n, .floats = floats};
}

void wick_emit_set_dims(wick_emit *e, const char *name, uint32_t n, const wick_dim *dims)
{
  *emit_attr(e, name) = (wick_attr){.n = n, .dims = dims};
}

wick_value wick_emit_end(wick_emit *e, uint32_t nin, const wick_value *in)
{
  return wick_build(e->b, e->op, nin, in, e->attr, 0, NULL);
}

wick_value wick_emit_end1(wick_emit *e, wick_value x) { return wick_emit_end(e, 1, &x); }

wick_value wick_emit_end2(wick_emit *e, wick_value x, wick_value y)
{
  return wick_emit_end(e, 2, (wick_value[]){x, y});
}

wick_value wick_emit_number(wick_builder *b, wick_value x, double number)
{
  if (b->status) return (wick_value){0};
  wick_elem e = wick_built_info(b, x)->elem;
  bool is_float = wick_elem_is_float(e), plain = is_float || wick_elem_is_int(e) || e == WICK_BOOL;
  int64_t whole =
      is_float || !plain ? 0 : wick_cast_elem(WICK_F64, e, (wick_scalar){.f = number}).i;
  return wick_build_const(b, wick_type_tensor(b->module, e, 0, NULL), is_float ? number : 0, whole);
}

/* Finds a free name in constant time even if many constants have the same name, as in functions. */
uint32_t wick_emit_constant(wick_module *m, const char *name, wick_type type, const void *data,
                            uint64_t nbytes)
{
  if (*name && wick_constant_find(m, name))
    name = wick_str_printf(&m->mem, "%s.%u", name, m->constants.n);
  return wick_constant_add(m, name, type, data, nbytes);
}

bool wick_emit_content(wick_module *m, const char *name, wick_type type, wick_span data,
                       uint32_t *out)
{
  enum { ALIGN = 64 };
  uint64_t nbytes;
  bool text = wick_type_get(m, type)->elem == WICK_STRING;
  if (!wick_type_nbytes(m, type, &nbytes)) return false; /* its size is dynamic */
  uint64_t n = nbytes / sizeof(int64_t);
  if (data.nbytes != (text ? n * sizeof(wick_string) : nbytes)) return false;
  char *to = wick_arena_alloc(&m->mem, nbytes + 1, ALIGN);
  if (!text && nbytes) memcpy(to, data.at, (size_t)nbytes);
  for (uint64_t k = 0; text && k < n; k++) {
    wick_string s;
    memcpy(&s, data.at + k * sizeof s, sizeof s);
    ((int64_t *)(void *)to)[k] = wick_string_table_add(&m->strings, s.at, s.nbytes, true);
  }
  *out = wick_emit_constant(m, name, type, to, nbytes);
  return true;
}
