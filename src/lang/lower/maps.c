/* map_tensors, zip_tensors: a function of every tensor of a structure, which is checked for each
 * anew. Data is mapped by an instance that calls itself for fields of its type. stop_gradient is a
 * map without a function. */
#include "lang/lower/state.h"

const lowered *wick_lowering_map(lowering *s, lowering_frame *f, const wick_ast *n,
                                 const lowered *map, uint32_t narg, const lowered *const *arg)
{
  const lowered *x = arg[0];
  bool one = x->kind == LOWERED_ONE;
  if (s->failed) return x;
  for (uint32_t i = 1; i < narg; i++) /* the cotangent of an integer is () */
    if (one && arg[i]->kind == LOWERED_ITEMS) return x;
  if (one && x->type->kind == WICK_TY_TENSOR)
    return map->n ? wick_lowering_call(s, f, n, map->item[0], narg, arg, NULL, NULL)
                  : wick_lowering_op(s, f, WICK_OP_stop_gradient, 1, &x->v, NULL);
  if (one && x->type->kind == WICK_TY_DATA) {
    lowering_instance *i =
        wick_lowering_instance(s, f, n->at, map, narg, arg, NULL, x->type, false);
    return i ? wick_lowering_call_instance(s, f, n, i, map, narg, arg) : x;
  }
  if (x->kind != LOWERED_ITEMS) return x; /* functions and references stay */
  lowered *y = wick_lowering_new(s, LOWERED_ITEMS, x->type, x->n);
  wick_ty **type = wick_new(s->tmp, wick_ty *, x->n);
  const lowered **part = wick_new(s->tmp, const lowered *, narg);
  for (uint32_t k = 0; k < x->n && !s->failed; k++) {
    for (uint32_t i = 0; i < narg; i++) {
      if (arg[i]->n != x->n)
        return wick_lowering_fail(s, n->at, "the structures have different forms");
      part[i] = arg[i]->item[k];
    }
    y->item[k] = wick_lowering_map(s, f, n, map, narg, part);
    type[k] = y->item[k]->type;
  }
  if (x->type->kind == WICK_TY_TUPLE) y->type = wick_ty_new(s->t, WICK_TY_TUPLE, x->n, type);
  return y;
}

/* ---- data ---- */

typedef struct maps_data {
  lowering *s;
  lowering_frame *f;
  const wick_ast *n;
  const lowered *map;
  uint32_t narg;
  const lowered *const *arg;
  const lowered ***field; /* of each argument, in the regions that are open */
  uint32_t ctor;
} maps_data;

static const lowered *maps_built(maps_data *m)
{
  lowering *s = m->s;
  wick_ty *type = m->arg[0]->type;
  wick_lang_entity *ctor = type->data->ctor[m->ctor];
  uint32_t n = ctor->decl->nkid;
  const lowered **y = wick_new(s->tmp, const lowered *, n),
                **part = wick_new(s->tmp, const lowered *, m->narg);
  for (uint32_t k = 0; k < n && !s->failed; k++) {
    for (uint32_t i = 0; i < m->narg; i++) part[i] = m->field[i][k];
    y[k] = wick_lowering_map(s, m->f, m->n, m->map, m->narg, part);
  }
  lowered *fn = wick_lowering_new(s, LOWERED_FN, NULL, 0);
  const lowered_code code = {.entity = ctor};
  fn->code = wick_dup(s->tmp, lowered_code, &code, 1);
  return wick_lowering_call(s, m->f, m->n, fn, n, y, NULL, type);
}

/* Another constructor than that of the first argument fails the run. */
static void maps_differ(maps_data *m)
{
  wick_value no = wick_lowering_number(m->s, m->f, WICK_BOOL, 0, 0);
  const wick_attr attr[] = {
      [WICK_ATTR_assert_message] = {.s = wick_intern(m->s->module,
                                                     "the structures have different forms")},
      [WICK_ATTR_assert_strings] = {.n = 0}};
  wick_build(m->f->b, WICK_OP_assert, 1, &no, attr, 0, NULL);
}

/* Takes argument `at` apart, and those after it. */
static const lowered *maps_switch(maps_data *m, uint32_t at)
{
  lowering *s = m->s;
  lowering_frame *f = m->f;
  const lowered *x = m->arg[at];
  bool cot = x->type->kind == WICK_TY_COT;
  wick_ty *type = cot ? wick_ty_of(x->type->arg[0]) : x->type;
  wick_build_open(f->b, WICK_OP_switch, 1, &x->v, NULL, 0, NULL);
  for (uint32_t k = 0; k < type->data->nctor; k++) {
    const wick_ctor *c = &wick_data_get(s->module, x->in)->ctor[k];
    uint32_t n = type->data->ctor[k]->decl->nkid;
    const lowered *y = m->arg[0];
    wick_value next = wick_region_begin(f->b, c->nfield, c->field);
    if (!wick_lowering_ok(s, f)) return y;
    m->field[at] = wick_new(s->tmp, const lowered *, n);
    for (uint32_t i = 0; i < n; i++) {
      wick_ty *t = wick_lang_field_type(s->t, type, k, i);
      m->field[at][i] =
          wick_lowering_unflatten(s, f, cot ? wick_lowering_cotangent(s, t) : t, &next);
    }
    if (!at) m->ctor = k;
    if (m->ctor != k)
      maps_differ(m);
    else
      y = at + 1 < m->narg ? maps_switch(m, at + 1) : maps_built(m);
    wick_lowering_yield(s, f, m->n->at, y, m->arg[0]->type);
    if (!wick_lowering_ok(s, f)) return y;
  }
  wick_value v = wick_build_close(f->b);
  return wick_lowering_ok(s, f) ? wick_lowering_unflatten(s, f, m->arg[0]->type, &v) : x;
}

const lowered *wick_lowering_map_data(lowering *s, lowering_frame *f, const wick_ast *n,
                                      const lowered *map, uint32_t narg, const lowered *const *arg)
{
  maps_data m = {.s = s, .f = f, .n = n, .map = map, .narg = narg, .arg = arg};
  m.field = wick_new(s->tmp, const lowered **, narg);
  wick_lowering_at(s, f, n->at);
  return maps_switch(&m, 0);
}
