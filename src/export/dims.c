/* Exports dynamic sizes: nodes read them from the shapes of values, and compute with them. */
#include "export/write.h"

static const char *dims_one(wick_export_op *o, wick_dim d);

/* Reads the size from the first visible value that has it. */
static const char *dims_read(wick_export_op *o, wick_dim d)
{
  const wick_export *x = o->x;
  for (uint32_t v = 1; v <= x->f->nvalue && v < (o->n->nout ? o->n->first.id : UINT32_MAX); v++) {
    const wick_type_info *t = wick_info_of(x->f, (wick_value){v});
    if (!x->value[v] || t->kind != WICK_TENSOR) continue;
    for (uint32_t k = 0; k < t->rank; k++) {
      if (!wick_dim_eq(t->dim[k], d)) continue;
      wick_onnx_node *n = wick_export_begin(o, "Shape", 1, &x->value[v]);
      wick_export_set_int(o, n, "start", k);
      wick_export_set_int(o, n, "end", k + 1);
      return wick_export_end(o, n);
    }
  }
  return NULL;
}

/* floordiv rounds down, ONNX's Div towards zero. If these may differ, subtracts the remainder
 * first. */
static const char *dims_floordiv(wick_export_op *o, wick_dim a, wick_dim b)
{
  int64_t lo, hi, least, most;
  wick_dim_range(o->x->m->dims, a, &lo, &hi);
  wick_dim_range(o->x->m->dims, b, &least, &most);
  const char *x = dims_one(o, a), *y = dims_one(o, b);
  if (lo < 0 || least < 0) x = wick_export_2(o, "Sub", x, wick_export_2(o, "Mod", x, y));
  return wick_export_2(o, "Div", x, y);
}

static const char *dims_atom(wick_export_op *o, uint32_t id)
{
  static const char *const types[] = {
      [WICK_ATOM_MOD] = "Mod", [WICK_ATOM_MIN] = "Min", [WICK_ATOM_MAX] = "Max"};
  wick_dims *t = o->x->m->dims;
  const wick_atom *a = wick_dim_atom(t, id);
  if (a->kind == WICK_ATOM_FLOORDIV) return dims_floordiv(o, a->arg[0], a->arg[1]);
  if (a->kind == WICK_ATOM_SYMBOL) {
    const char *name = dims_read(o, wick_dim_from_atom(t, id));
    if (!name) wick_export_fail(o, "no value has the size %s", a->name);
    return name ? name : "";
  }
  const char *x = dims_one(o, a->arg[0]);
  for (uint32_t i = 1; i < a->narg; i++)
    x = wick_export_2(o, types[a->kind], x, dims_one(o, a->arg[i]));
  return x;
}

static const char *dims_term(wick_export_op *o, const wick_term *term)
{
  const char *x = term->coef == 1 ? NULL : wick_export_i64s(o->x, 1, &term->coef);
  for (uint32_t i = 0; i < term->natom; i++) {
    const char *y = dims_one(o, wick_dim_from_atom(o->x->m->dims, term->atom[i]));
    x = x ? wick_export_2(o, "Mul", x, y) : y;
  }
  return x;
}

static const char *dims_sum(wick_export_op *o, wick_dim d)
{
  wick_dim_form f = wick_dim_get(o->x->m->dims, d);
  if (f.nterm == 1 && f.constant == 0 && f.term[0].natom == 1 && f.term[0].coef == 1)
    return dims_atom(o, f.term[0].atom[0]);
  const char *x = f.constant ? wick_export_i64s(o->x, 1, &f.constant) : NULL;
  for (uint32_t i = 0; i < f.nterm; i++) {
    const char *y = dims_term(o, &f.term[i]);
    x = x ? wick_export_2(o, "Add", x, y) : y;
  }
  return x ? x : wick_export_i64s(o->x, 1, (const int64_t[]){0});
}

/* Returns the expression's value as an i64[1]. */
static const char *dims_one(wick_export_op *o, wick_dim d)
{
  wick_export *x = o->x;
  if (wick_dim_is_const(d)) return wick_export_i64s(x, 1, &d.v);
  for (uint32_t i = 0; i < x->sizes.n; i++)
    if (wick_dim_eq(x->sizes.at[i].dim, d)) return x->sizes.at[i].name;
  const char *name = dims_read(o, d);
  if (!name) name = dims_sum(o, d);
  wick_push(x->mem, &x->sizes, (wick_export_size){d, name});
  return name;
}

const char *wick_export_dims(wick_export_op *o, uint32_t n, const wick_dim *dim)
{
  int64_t *row = wick_new(o->x->mem, int64_t, n);
  const char **part = wick_new(o->x->mem, const char *, n);
  uint32_t npart = 0;
  for (uint32_t k = 0; k < n;) {
    uint32_t many = 0;
    while (k < n && wick_dim_is_const(dim[k])) row[many++] = dim[k++].v;
    if (many) part[npart++] = wick_export_i64s(o->x, many, row);
    if (k < n) part[npart++] = dims_one(o, dim[k++]);
  }
  if (!npart) return wick_export_i64s(o->x, 0, row);
  return npart == 1 ? part[0] : wick_export_concat(o, 0, npart, part);
}

const char *wick_export_dim(wick_export_op *o, wick_dim dim)
{
  if (wick_dim_is_const(dim)) return wick_export_i64(o->x, dim.v);
  return wick_export_2(o, "Reshape", dims_one(o, dim), wick_export_i64s(o->x, 0, NULL));
}
