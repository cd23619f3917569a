/* A function for each pair of types goes through the data. Tensors stay as they are. */
#include "graph/grad/convert.h"

#include "ops/gradient/grad.h"

/* Returns whether the declared type `to` has the constructors of `of`, each with the fields of `of`
 * that have declared cotangents. Fields are compared where they are converted. */
static bool convert_fits(const wick_module *m, wick_type of, wick_type to)
{
  if (wick_type_get(m, to)->kind != WICK_DATA) return false;
  const wick_data a = *wick_data_get(m, of), d = *wick_data_get(m, to);
  bool fits = a.nctor == d.nctor;
  for (uint32_t k = 0; k < a.nctor && fits; k++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < a.ctor[k].nfield; i++)
      n += wick_declares_cotangent(m, a.ctor[k].field[i]);
    fits = n == d.ctor[k].nfield;
  }
  return fits;
}

static wick_value convert_misfit(wick_builder *b, wick_type of, wick_type to)
{
  wick_text x = wick_text_begin(b->mem), y = wick_text_begin(b->mem);
  wick_type_print(b->module, of, &x);
  wick_type_print(b->module, to, &y);
  wick_build_fail(b, WICK_ETYPE, "%s cannot be the cotangent of %s", y.at, x.at);
  return (wick_value){0};
}

wick_value wick_convert_call(wick_builder *b, const char *name, uint32_t n, const wick_value *in,
                             wick_type of, wick_type type,
                             void (*define)(wick_builder *b, wick_type of, wick_type to))
{
  wick_module *m = b->module;
  wick_attr callee = {.s = wick_intern(m, name)};
  wick_type t[2] = {{0}};
  for (uint32_t k = 0; k < n && !b->status; k++) t[k] = wick_built_type(b, in[k]);
  if (!b->status && !wick_module_find(m, callee.s)) {
    /* The head of the function comes first, because it calls itself. */
    const wick_qualifier qual[2] = {WICK_IN, WICK_IN};
    wick_builder f;
    wick_func *made;
    wick_module_set(m, wick_func_head(m, WICK_GRAPH, callee.s, n, t, qual, 1, &type, b->mem));
    wick_build_begin(&f, m, WICK_GRAPH, callee.s, b->mem);
    for (uint32_t i = 0; i < n; i++) wick_build_param(&f, t[i], WICK_IN, NULL);
    define(&f, of, type);
    b->status = wick_build_end(&f, &made);
    if (!b->status) wick_module_set(m, made);
  }
  return wick_build(b, WICK_OP_call, n, in, &callee, 1, &type);
}

static const char *convert_name(const wick_builder *b, wick_type t)
{
  return wick_data_get(b->module, t)->name;
}

/* ---- from outside ---- */

static void convert_define_in(wick_builder *b, wick_type of, wick_type to)
{
  wick_value v = {1};
  (void)to;
  const wick_data d = *wick_data_get(b->module, wick_built_type(b, v)),
                  x = *wick_data_get(b->module, of);
  wick_build_open(b, WICK_OP_switch, 1, &v, NULL, 0, NULL);
  for (uint32_t k = 0; k < d.nctor && !b->status; k++) {
    wick_value field = wick_region_begin(b, d.ctor[k].nfield, d.ctor[k].field),
               *part = wick_new(b->mem, wick_value, x.ctor[k].nfield + 1u);
    for (uint32_t i = 0; i < x.ctor[k].nfield && !b->status; i++) {
      wick_type t = x.ctor[k].field[i];
      if (wick_has_cotangent(b->module, t)) part[i] = wick_convert_in(b, field, t);
      field.id += wick_declares_cotangent(b->module, t);
    }
    wick_value made = wick_cotangent_construct(b, of, k, part);
    wick_yield(b, 1, &made);
  }
  v = wick_build_close(b);
  wick_build_return(b, 1, &v);
}

wick_value wick_convert_in(wick_builder *b, wick_value v, wick_type of)
{
  if (b->status) return v;
  wick_type type = wick_cotangent_type(b->module, of, b->mem), from = wick_built_type(b, v);
  if (wick_type_eq(type, from)) return v;
  if (wick_type_get(b->module, of)->kind != WICK_DATA || !convert_fits(b->module, of, from))
    return convert_misfit(b, of, from);
  const char *name =
      wick_str_printf(b->mem, "%s.from.%s", convert_name(b, type), convert_name(b, from));
  return wick_convert_call(b, name, 1, &v, of, type, convert_define_in);
}

/* ---- to outside ---- */

/* The second parameter is missing if values of type `of` have no cotangents inside. */
static void convert_define_out(wick_builder *b, wick_type of, wick_type to)
{
  wick_value x = {1}, d = {b->nparam > 1 ? 2 : 0};
  const wick_data from = *wick_data_get(b->module, of), made = *wick_data_get(b->module, to);
  wick_build_open(b, WICK_OP_switch, 1, &x, NULL, 0, NULL);
  for (uint32_t k = 0; k < from.nctor && !b->status; k++) {
    uint32_t nfield = from.ctor[k].nfield, n = 0;
    wick_value field = wick_region_begin(b, nfield, from.ctor[k].field),
               *part = wick_new(b->mem, wick_value, nfield + 1u);
    if (d.id) wick_cotangent_fields(b, d, of, k, part);
    for (uint32_t i = 0; i < nfield && !b->status; i++)
      if (wick_declares_cotangent(b->module, from.ctor[k].field[i])) {
        wick_value primal = {field.id + i};
        part[n] = wick_convert_out(b, part[i], primal, made.ctor[k].field[n]);
        n++;
      }
    wick_value v = wick_build_construct(b, to, k, n, part);
    wick_yield(b, 1, &v);
  }
  x = wick_build_close(b);
  wick_build_return(b, 1, &x);
}

wick_value wick_convert_out(wick_builder *b, wick_value d, wick_value x, wick_type to)
{
  if (b->status || (d.id && wick_type_eq(wick_built_type(b, d), to))) return d;
  wick_type of = wick_built_type(b, x);
  /* Values without floats are their own cotangents if they have no other numbers, either. */
  if (!d.id && wick_type_eq(of, to)) return x;
  if (wick_type_get(b->module, of)->kind != WICK_DATA || !convert_fits(b->module, of, to))
    return convert_misfit(b, of, to);
  const char *from = convert_name(b, d.id ? wick_built_type(b, d) : of),
             *name = wick_str_printf(b->mem, "%s.to.%s", from, convert_name(b, to));
  wick_value in[2] = {x, d};
  return wick_convert_call(b, name, d.id ? 2 : 1, in, of, to, convert_define_out);
}
