/* Cotangents of data.
 *
 * The cotangent of a value of the data type @T has the type @T.d: the constructor Zero, then those
 * of @T with the cotangents of those fields that have some. Two cotangents of one value have the
 * value's constructor, or are Zero. Tangents have the same types. */
#include <string.h>

#include "ir/expr.h"
#include "ops/gradient/grad.h"

typedef wick_list(uint32_t) data_seen;

/* Returns whether a value of type t has a float in it. */
static bool data_has(const wick_module *m, wick_type t, wick_arena *mem, data_seen *seen)
{
  const wick_type_info *info = wick_type_get(m, t);
  bool has = info->kind == WICK_TENSOR && WICK_FLOATS >> info->elem & 1;
  for (uint32_t k = 0; has && k < info->rank; k++) has = !wick_dim_is(info->dim[k], 0);
  if (info->kind != WICK_DATA) return has;
  for (uint32_t i = 0; i < seen->n; i++)
    if (seen->at[i] == info->data) return false;
  wick_push(mem, seen, info->data);
  const wick_data d = *wick_data_get(m, t);
  for (uint32_t k = 0; k < d.nctor; k++)
    for (uint32_t i = 0; i < d.ctor[k].nfield && !has; i++)
      has = data_has(m, d.ctor[k].field[i], mem, seen);
  return has;
}

bool wick_has_cotangent(const wick_module *m, wick_type t)
{
  wick_arena tmp = wick_arena_make(m->guard);
  data_seen seen = {0};
  bool has = data_has(m, t, &tmp, &seen);
  wick_arena_free(&tmp);
  return has;
}

bool wick_declares_cotangent(const wick_module *m, wick_type t)
{
  const wick_type_info *info = wick_type_get(m, t);
  return info->kind == WICK_DATA || (info->kind == WICK_TENSOR && wick_elem_is_float(info->elem));
}

/* Returns whether a type that exists can be the one of d's cotangents: it has no constructors yet, only
 * Zero while it is being defined, or all. */
static bool data_fits(const wick_module *m, const wick_data *d, const wick_data *made)
{
  bool zero = made->nctor && !made->ctor[0].nfield && strcmp(made->ctor[0].name, "Zero") == 0,
       begun = !made->nctor || (made->nctor == 1 && zero),
       fits = begun || (made->nctor == d->nctor + 1 && zero);
  for (uint32_t k = 0; k < d->nctor && fits && !begun; k++) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->ctor[k].nfield; i++)
      n += wick_has_cotangent(m, d->ctor[k].field[i]);
    fits = made->ctor[k + 1].nfield == n;
  }
  return fits;
}

wick_type wick_cotangent_name(wick_module *m, wick_type t, wick_arena *mem)
{
  if (wick_type_get(m, t)->kind != WICK_DATA) return t;
  const wick_data d = *wick_data_get(m, t);
  uint32_t before = m->data.n;
  wick_type made = wick_data_type(m, wick_str_printf(mem, "%s.d", d.name));
  for (uint32_t k = 2; m->data.n == before && !data_fits(m, &d, wick_data_get(m, made)); k++)
    made = wick_data_type(m, wick_str_printf(mem, "%s.d%u", d.name, k));
  return made;
}

wick_type wick_cotangent_type(wick_module *m, wick_type t, wick_arena *mem)
{
  wick_type made = wick_cotangent_name(m, t, mem);
  if (wick_type_get(m, t)->kind != WICK_DATA || wick_data_get(m, made)->nctor) return made;
  const wick_data d = *wick_data_get(m, t);
  wick_ctor *ctor = wick_new(mem, wick_ctor, d.nctor + 1u);
  ctor[0].name = "Zero";
  wick_data_define(m, made, 1, ctor);
  for (uint32_t k = 0; k < d.nctor; k++) {
    wick_type *field = wick_new(mem, wick_type, d.ctor[k].nfield + 1u);
    ctor[k + 1] = (wick_ctor){.name = d.ctor[k].name, .field = field};
    for (uint32_t i = 0; i < d.ctor[k].nfield; i++)
      if (wick_has_cotangent(m, d.ctor[k].field[i]))
        field[ctor[k + 1].nfield++] = wick_cotangent_type(m, d.ctor[k].field[i], mem);
  }
  wick_data_define(m, made, d.nctor + 1, ctor);
  return made;
}

wick_value wick_cotangent_zero(wick_builder *b, wick_type t)
{
  if (b->status) return (wick_value){0};
  wick_type want = wick_cotangent_type(b->module, t, b->mem);
  if (wick_type_get(b->module, t)->kind == WICK_DATA)
    return wick_build_construct(b, want, 0, 0, NULL);
  return wick_build_const(b, want, 0, 0);
}

/* ---- sums ---- */

/* Builds the sum of two cotangents that are not Zero and have constructor k: field by field. */
static void data_add_fields(wick_builder *b, wick_type type, uint32_t k, wick_value x, wick_value y)
{
  const wick_data d = *wick_data_get(b->module, type);
  uint32_t n = d.ctor[k].nfield;
  wick_value *sum = wick_new(b->mem, wick_value, n + 1u);
  for (uint32_t i = 0; i < n; i++)
    sum[i] = wick_cotangent_add(b, (wick_value){x.id + i}, (wick_value){y.id + i});
  wick_value v = wick_build_construct(b, type, k, n, sum);
  wick_yield(b, 1, &v);
}

/* Builds the function that adds two values of a cotangent type. */
static void data_define_add(wick_module *m, wick_type type, const char *name, wick_arena *mem,
                            wick_status *status)
{
  wick_builder b;
  wick_func *made;
  const wick_data d = *wick_data_get(m, type);
  wick_build_begin(&b, m, WICK_GRAPH, name, mem);
  wick_value x = wick_build_param(&b, type, WICK_IN, NULL),
             y = wick_build_param(&b, type, WICK_IN, NULL);
  wick_build_open(&b, WICK_OP_switch, 1, &x, NULL, 0, NULL);
  for (uint32_t k = 0; k < d.nctor; k++) {
    wick_value of = wick_region_begin(&b, d.ctor[k].nfield, d.ctor[k].field), r = y;
    if (k && d.ctor[k].nfield) {
      wick_build_open(&b, WICK_OP_switch, 1, &y, NULL, 0, NULL);
      for (uint32_t i = 0; i < d.nctor; i++) {
        wick_value other = wick_region_begin(&b, d.ctor[i].nfield, d.ctor[i].field);
        if (i == k)
          data_add_fields(&b, type, k, of, other);
        else
          wick_yield(&b, 1, &x);
      }
      r = wick_build_close(&b);
    }
    wick_yield(&b, 1, &r);
  }
  x = wick_build_close(&b);
  wick_build_return(&b, 1, &x);
  wick_status s = wick_build_end(&b, &made);
  if (s && !*status) *status = s;
  if (!s) wick_module_set(m, made);
}

wick_value wick_cotangent_add(wick_builder *b, wick_value x, wick_value y)
{
  if (b->status) return x;
  wick_module *m = b->module;
  wick_type type = wick_built_type(b, x);
  if (wick_type_get(m, type)->kind != WICK_DATA) return expr_add(b, x, y);
  wick_attr callee = {
      .s = wick_intern(m, wick_str_printf(b->mem, "%s.add", wick_data_get(m, type)->name))};
  if (!wick_module_find(m, callee.s)) {
    /* The head of the function, which calls itself. */
    wick_builder head;
    wick_func *made;
    wick_build_begin(&head, m, WICK_GRAPH, callee.s, b->mem);
    wick_value p = wick_build_param(&head, type, WICK_IN, NULL);
    wick_build_param(&head, type, WICK_IN, NULL);
    wick_build_return(&head, 1, &p);
    wick_status s = wick_build_end(&head, &made);
    if (!s) wick_module_set(m, made);
    if (!s) data_define_add(m, type, callee.s, b->mem, &s);
    if (s) b->status = s;
  }
  wick_value in[2] = {x, y};
  return wick_build(b, WICK_OP_call, 2, in, &callee, 1, &type);
}

/* ---- parts ---- */

void wick_cotangent_fields(wick_builder *b, wick_value d, wick_type of, uint32_t ctor,
                           wick_value *out)
{
  if (b->status) return;
  const wick_data t = *wick_data_get(b->module, wick_built_type(b, d)),
                  x = *wick_data_get(b->module, of);
  uint32_t n = t.ctor[ctor + 1].nfield, at = 0;
  wick_value *zero = wick_new(b->mem, wick_value, n + 1u);
  if (!n) return;
  wick_build_open(b, WICK_OP_switch, 1, &d, NULL, 0, NULL);
  for (uint32_t k = 0; k < t.nctor && !b->status; k++) {
    wick_value field = wick_region_begin(b, t.ctor[k].nfield, t.ctor[k].field);
    for (uint32_t i = 0, j = 0; i < x.ctor[ctor].nfield; i++) {
      if (!wick_has_cotangent(b->module, x.ctor[ctor].field[i])) continue;
      zero[j] = k == ctor + 1 ? (wick_value){field.id + j}
                              : wick_cotangent_zero(b, x.ctor[ctor].field[i]);
      j++;
    }
    wick_yield(b, n, zero);
  }
  wick_value v = wick_build_close(b);
  for (uint32_t i = 0; i < x.ctor[ctor].nfield; i++)
    if (wick_has_cotangent(b->module, x.ctor[ctor].field[i])) out[i] = (wick_value){v.id + at++};
}

wick_value wick_cotangent_construct(wick_builder *b, wick_type of, uint32_t ctor,
                                    const wick_value *d)
{
  if (b->status) return (wick_value){0};
  const wick_data x = *wick_data_get(b->module, of);
  wick_value *field = wick_new(b->mem, wick_value, x.ctor[ctor].nfield + 1u);
  wick_type type = wick_cotangent_type(b->module, of, b->mem);
  uint32_t n = 0;
  bool any = false;
  for (uint32_t i = 0; i < x.ctor[ctor].nfield; i++) any = any || d[i].id;
  if (!any) return wick_cotangent_zero(b, of);
  for (uint32_t i = 0; i < x.ctor[ctor].nfield; i++)
    if (wick_has_cotangent(b->module, x.ctor[ctor].field[i]))
      field[n++] = d[i].id ? d[i] : wick_cotangent_zero(b, x.ctor[ctor].field[i]);
  return wick_build_construct(b, type, ctor + 1, n, field);
}

/* The cotangents of the fields are parts of the value's cotangent. */
void wick_grad_construct(wick_adjoint *a)
{
  wick_value *field = wick_new(a->b->mem, wick_value, a->node->nin + 1u);
  if (a->b->status) return;
  wick_cotangent_fields(a->b, a->dout[0], wick_built_type(a->b, a->out[0]),
                        (uint32_t)a->node->attr[WICK_ATTR_construct_ctor].i, field);
  for (uint32_t k = 0; k < a->node->nin; k++)
    if (a->wanted[k]) a->din[k] = field[k];
}
