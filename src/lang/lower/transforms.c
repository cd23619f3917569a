/* Calls of what transformations give: nodes that name the function. Arguments and results are
 * counted after tuples and structs have become several values; what the function has captured comes
 * first. */
#include "lang/lower/state.h"

typedef struct transforms_call {
  lowering *s;
  lowering_frame *f;
  const wick_ast *n;
  const lowered *base; /* the function that is transformed */
  lowering_instance *instance;
  uint32_t narg; /* the function's */
  const lowered *const *arg;
  lowering_values in;
  lowering_types out;
  wick_ty *result; /* of the function */
} transforms_call;

typedef wick_list(int64_t) transforms_ints;

/* Whether a value of the graph has a cotangent. */
static bool transforms_moves(const lowering *s, wick_type type)
{
  const wick_type_info *t = wick_type_get(s->module, type);
  if (t->kind == WICK_FN || t->kind == WICK_REF) return false;
  return t->kind != WICK_TENSOR || wick_elem_is_float(t->elem);
}

static uint32_t transforms_count(const lowered *x)
{
  uint32_t n = x->kind == LOWERED_ONE;
  for (uint32_t i = 0; i < x->n; i++) n += transforms_count(x->item[i]);
  return n;
}

/* The static arguments of a transformation: wrt = 0, axes = (0, -1). */
static bool transforms_static(lowering *s, const lowered_code *c, const char *name,
                              wick_static *out)
{
  for (uint32_t i = 1; i < c->node->nkid; i++) {
    const wick_ast *k = c->node->kid[i];
    if (k->kind == WICK_AST_NAMED && strcmp(k->name, name) == 0)
      return wick_lang_static(s->p, s->t, c->typed, k->kid[0], out);
  }
  return false;
}

/* The type of x with the sizes that it has in the graph. */
static wick_ty *transforms_type(lowering *s, const lowered *x)
{
  if (x->kind == LOWERED_ONE && x->type->kind == WICK_TY_TENSOR) return wick_lowering_ty(s, x->in);
  if (x->kind != LOWERED_ITEMS || x->type->kind != WICK_TY_TUPLE) return x->type;
  wick_ty **item = wick_new(s->tmp, wick_ty *, x->n);
  for (uint32_t i = 0; i < x->n; i++) item[i] = transforms_type(s, x->item[i]);
  return wick_ty_new(s->t, WICK_TY_TUPLE, x->n, item);
}

/* The type of an instance's result. Sizes that its type leaves open are those of its body. */
static wick_ty *transforms_result(lowering *s, lowering_instance *i)
{
  if (wick_lowering_is_concrete(s, i->result_type)) return i->result_type;
  if (!i->begun) wick_lowering_body(s, i);
  return i->done && !s->failed ? transforms_type(s, i->result) : i->result_type;
}

/* Finds the function's instance; its operands are first what it has captured, then its arguments. */
static bool transforms_begin(transforms_call *c, wick_ty *result)
{
  lowering *s = c->s;
  const lowered *fn = wick_lowering_captured_plain(s, c->f, c->n->at, c->base);
  if (s->failed) return false;
  c->instance = wick_lowering_instance(s, c->f, c->n->at, fn, c->narg, c->arg, NULL, result, true);
  if (!c->instance) return false;
  c->base = fn;
  c->result = transforms_result(s, c->instance);
  if (s->failed) return false;
  wick_lowering_flatten(s, fn, &c->in);
  for (uint32_t i = 0; i < c->narg; i++) wick_lowering_flatten(s, c->arg[i], &c->in);
  wick_lowering_types(s, c->n->at, c->result, &c->out);
  return !s->failed;
}

/* Adds the positions of argument k that have cotangents. */
static void transforms_wrt(transforms_call *c, int64_t k, transforms_ints *wrt)
{
  int64_t at = transforms_count(c->base);
  for (int64_t i = 0; i < k; i++) at += transforms_count(c->arg[i]);
  if (c->arg[k]->kind == LOWERED_FN) return;
  for (uint32_t i = 0; i < transforms_count(c->arg[k]); i++, at++)
    if (transforms_moves(c->s, c->instance->param[at])) wick_push(c->s->tmp, wrt, at);
}

static wick_value transforms_build(transforms_call *c, wick_opcode op, const wick_attr *attr)
{
  wick_lowering_at(c->s, c->f, c->n->at);
  wick_value v = wick_build(c->f->b, op, c->in.n, c->in.at, attr, c->out.n, c->out.at);
  (void)wick_lowering_ok(c->s, c->f);
  return v;
}

static const lowered *transforms_pair(lowering *s, const lowered *a, const lowered *b)
{
  lowered *x = wick_lowering_new(s, LOWERED_ITEMS, NULL, 2);
  x->item[0] = a, x->item[1] = b;
  x->type = wick_ty_new(s->t, WICK_TY_TUPLE, 2, (wick_ty *[]){a->type, b->type});
  return x;
}

/* ---- grad, value_and_grad ---- */

static const lowered *transforms_grad(transforms_call *c, const lowered_code *code, bool value)
{
  lowering *s = c->s;
  wick_static given;
  int64_t zero = 0;
  transforms_ints wrt = {0};
  bool many = transforms_static(s, code, "wrt", &given) && given.n != 1;
  if (!transforms_static(s, code, "wrt", &given)) given = (wick_static){.n = 1, .ints = &zero};
  if (!transforms_begin(c, NULL)) return wick_lowering_unit(s);
  wick_ty **type = wick_new(s->tmp, wick_ty *, given.n);
  for (uint32_t i = 0; i < given.n; i++) {
    transforms_wrt(c, given.ints[i], &wrt);
    type[i] = wick_lowering_cotangent(s, c->arg[given.ints[i]]->type);
    wick_lowering_types(s, c->n->at, type[i], &c->out);
  }
  if (s->failed) return wick_lowering_unit(s);
  const wick_attr set[] = {{.s = c->instance->name}, {.n = wrt.n, .ints = wrt.at}};
  wick_value v = transforms_build(c, WICK_OP_value_and_grad, set);
  if (s->failed) return wick_lowering_unit(s);
  const lowered *y = wick_lowering_unflatten(s, c->f, c->result, &v);
  wick_ty *all = many ? wick_ty_new(s->t, WICK_TY_TUPLE, given.n, type) : type[0];
  const lowered *g = wick_lowering_unflatten(s, c->f, all, &v);
  return value ? transforms_pair(s, y, g) : g;
}

/* ---- vjp, jvp ---- */

static const lowered *transforms_vjp(transforms_call *c)
{
  lowering *s = c->s;
  wick_opcode op = wick_op_find("vjp", 3);
  if (op == WICK_OP_none) return wick_lowering_fail(s, c->n->at, "`vjp` cannot be compiled yet");
  transforms_ints wrt = {0};
  if (!transforms_begin(c, NULL)) return wick_lowering_unit(s);
  wick_ty **type = wick_new(s->tmp, wick_ty *, c->narg), *take;
  for (uint32_t k = 0; k < c->narg; k++) {
    transforms_wrt(c, k, &wrt);
    type[k] = wick_lowering_cotangent(s, c->arg[k]->type);
  }
  take = wick_lowering_cotangent(s, c->result);
  wick_ty *back = wick_ty_fn(
      s->t, 1, &take, c->narg == 1 ? type[0] : wick_ty_new(s->t, WICK_TY_TUPLE, c->narg, type));
  wick_push(s->tmp, &c->out, wick_lowering_type(s, c->n->at, back));
  if (s->failed) return wick_lowering_unit(s);
  const wick_attr set[] = {{.s = c->instance->name}, {.n = wrt.n, .ints = wrt.at}};
  wick_value v = transforms_build(c, op, set);
  if (s->failed) return wick_lowering_unit(s);
  const lowered *y = wick_lowering_unflatten(s, c->f, c->result, &v);
  return transforms_pair(s, y, wick_lowering_unflatten(s, c->f, back, &v));
}

static const lowered *transforms_jvp(transforms_call *c)
{
  lowering *s = c->s;
  transforms_ints wrt = {0};
  const lowered *const *tangent = c->arg + c->narg / 2;
  c->narg /= 2;
  if (!transforms_begin(c, NULL)) return wick_lowering_unit(s);
  for (uint32_t k = 0; k < c->narg; k++) {
    transforms_wrt(c, k, &wrt);
    wick_lowering_flatten(s, tangent[k], &c->in);
  }
  wick_ty *type = wick_lowering_cotangent(s, c->result);
  wick_lowering_types(s, c->n->at, type, &c->out);
  if (s->failed) return wick_lowering_unit(s);
  const wick_attr set[] = {{.s = c->instance->name}, {.n = wrt.n, .ints = wrt.at}};
  wick_value v = transforms_build(c, WICK_OP_jvp, set);
  if (s->failed) return wick_lowering_unit(s);
  const lowered *y = wick_lowering_unflatten(s, c->f, c->result, &v);
  return transforms_pair(s, y, wick_lowering_unflatten(s, c->f, type, &v));
}

/* ---- vmap ---- */

/* x as the function sees it: without the dimension `axis`. */
static const lowered *transforms_row(lowering *s, const lowered *x, uint32_t axis)
{
  lowered *y = wick_dup(s->tmp, lowered, x, 1);
  y->item = wick_new(s->tmp, const lowered *, x->n);
  wick_ty **type = wick_new(s->tmp, wick_ty *, x->n);
  for (uint32_t i = 0; i < x->n; i++) {
    y->item[i] = transforms_row(s, x->item[i], axis);
    type[i] = y->item[i]->type;
  }
  if (x->kind == LOWERED_ITEMS && x->type->kind == WICK_TY_TUPLE)
    y->type = wick_ty_new(s->t, WICK_TY_TUPLE, x->n, type);
  if (x->kind != LOWERED_ONE) return y;
  const wick_type_info *t = wick_type_get(s->module, x->in);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k + 1 < t->rank; k++) dim[k] = t->dim[k < axis ? k : k + 1];
  y->in = wick_type_tensor(s->module, t->elem, t->rank - 1u, dim);
  y->type = wick_lowering_ty(s, y->in);
  return y;
}

static wick_dim transforms_rows(const lowering *s, const lowered *x, uint32_t axis)
{
  if (x->kind == LOWERED_ONE) return wick_type_get(s->module, x->in)->dim[axis];
  return x->n ? transforms_rows(s, x->item[0], axis) : WICK_DIM_INVALID;
}

/* x with the first dimension of each tensor moved to `axis`. */
static const lowered *transforms_turned(lowering *s, lowering_frame *f, const lowered *x,
                                        uint32_t axis)
{
  if (x->kind == LOWERED_ONE) {
    int64_t perm[WICK_MAX_RANK];
    uint32_t rank = wick_type_get(s->module, x->in)->rank;
    for (uint32_t k = 0; k < rank; k++) perm[k] = k < axis ? k + 1 : k == axis ? 0 : k;
    const wick_attr set[] = {[WICK_ATTR_transpose_perm] = {.n = rank, .ints = perm}};
    return wick_lowering_op(s, f, WICK_OP_transpose, 1, &x->v, set);
  }
  lowered *y = wick_dup(s->tmp, lowered, x, 1);
  y->item = wick_new(s->tmp, const lowered *, x->n);
  wick_ty **type = wick_new(s->tmp, wick_ty *, x->n);
  for (uint32_t i = 0; i < x->n && !s->failed; i++) {
    y->item[i] = transforms_turned(s, f, x->item[i], axis);
    type[i] = y->item[i]->type;
  }
  if (!s->failed) y->type = wick_ty_new(s->t, WICK_TY_TUPLE, x->n, type);
  return y;
}

/* The type of rows of it, stacked: of a struct the tuple of its fields. */
static wick_ty *transforms_stacked(lowering *s, wick_ty *type, wick_dim n)
{
  wick_ty *a = wick_ty_of(type);
  if (a->kind == WICK_TY_TENSOR)
    return wick_ty_tensor(s->t, a->arg[0], wick_ty_shape(s->t, 1, &n, 1, a->arg[1]));
  uint32_t nitem = wick_lowering_nitem(a);
  wick_ty **item = wick_new(s->tmp, wick_ty *, nitem + 1u);
  for (uint32_t i = 0; i < nitem; i++)
    item[i] = transforms_stacked(s, wick_lowering_item(s, a, i), n);
  return wick_ty_new(s->t, WICK_TY_TUPLE, nitem, item);
}

/* A call for each row of the arguments: axis says which dimension of an argument has them, -1: the
 * argument is the same for all. */
static const lowered *transforms_rows_of(transforms_call *c, const int64_t *of)
{
  lowering *s = c->s;
  wick_opcode op = wick_op_find("vmap", 4);
  if (op == WICK_OP_none) return wick_lowering_fail(s, c->n->at, "`vmap` cannot be compiled yet");
  transforms_ints axis = {0};
  wick_dim n = WICK_DIM_INVALID;
  const lowered *const *all = c->arg;
  const lowered **row = wick_new(s->tmp, const lowered *, c->narg);
  for (uint32_t i = 0; i < transforms_count(c->base); i++) wick_push(s->tmp, &axis, -1);
  for (uint32_t k = 0; k < c->narg; k++) {
    bool whole = of[k] < 0;
    row[k] = whole ? all[k] : transforms_row(s, all[k], (uint32_t)of[k]);
    if (!whole && wick_dim_eq(n, WICK_DIM_INVALID)) n = transforms_rows(s, all[k], (uint32_t)of[k]);
    for (uint32_t i = 0; i < transforms_count(all[k]); i++) wick_push(s->tmp, &axis, of[k]);
  }
  if (wick_dim_eq(n, WICK_DIM_INVALID))
    return wick_lowering_fail(s, c->n->at, "no argument of this function has rows");
  c->arg = row;
  if (!transforms_begin(c, NULL)) return wick_lowering_unit(s);
  wick_ty *type = transforms_stacked(s, c->result, n);
  c->out = (lowering_types){0};
  wick_lowering_types(s, c->n->at, type, &c->out);
  if (s->failed) return wick_lowering_unit(s);
  const wick_attr set[] = {
      {.s = c->instance->name}, {.n = axis.n, .ints = axis.at}, {.n = 1, .dims = &n}};
  wick_value v = transforms_build(c, op, set);
  return s->failed ? wick_lowering_unit(s) : wick_lowering_unflatten(s, c->f, type, &v);
}

static const lowered *transforms_vmap(transforms_call *c, const lowered_code *code)
{
  lowering *s = c->s;
  wick_static axes, to;
  int64_t *axis = wick_new(s->tmp, int64_t, c->narg + 1u);
  bool given = transforms_static(s, code, "axes", &axes);
  for (uint32_t k = 0; given && k < c->narg; k++) axis[k] = axes.ints[k];
  const lowered *out = transforms_rows_of(c, axis);
  if (s->failed) return wick_lowering_unit(s);
  bool turned = transforms_static(s, code, "out", &to) && to.ints[0];
  return turned ? transforms_turned(s, c->f, out, (uint32_t)to.ints[0]) : out;
}

const lowered *wick_lowering_rows(lowering *s, lowering_frame *f, const wick_ast *n,
                                  const lowered *fn, uint32_t narg, const lowered *const *arg,
                                  const int64_t *axis)
{
  transforms_call c = {.s = s, .f = f, .n = n, .base = fn, .narg = narg, .arg = arg};
  return transforms_rows_of(&c, axis);
}

/* ---- checkpoint, with_vjp ---- */

/* One function of with_vjp, f or g, with what both have captured. */
static const lowered *transforms_half(lowering *s, const lowered *f, const lowered *g,
                                      const lowered *with_vjp, uint8_t half)
{
  lowered *x = wick_lowering_new(s, LOWERED_FN, half == 1 ? f->type : g->type, 2);
  lowered_code *code = wick_dup(s->tmp, lowered_code, with_vjp->code, 1);
  code->half = half;
  x->item[0] = f, x->item[1] = g, x->code = code;
  return x;
}

/* The functions of with_vjp have the same parameters. What they have captured is constant. */
static const lowered *transforms_marked(transforms_call *c, const lowered *fn, wick_ty *result)
{
  lowering *s = c->s;
  wick_attr set[] = {{0}, {0}, {0}};
  const lowered *vjp = fn ? wick_lowering_as_known(s, c->f, fn->item[1]) : NULL;
  if (!s->failed && vjp && (transforms_count(c->base) || transforms_count(vjp))) {
    const lowered *f = c->base, *g = vjp;
    c->base = transforms_half(s, f, g, fn, 1), vjp = transforms_half(s, f, g, fn, 2);
  }
  if (s->failed || !transforms_begin(c, result)) return wick_lowering_unit(s);
  set[WICK_ATTR_with_vjp_callee].s = c->instance->name;
  if (vjp) {
    uint32_t narg = 0;
    for (uint32_t i = 0; i < c->narg; i++) narg += transforms_count(c->arg[i]);
    set[WICK_ATTR_with_vjp_constants].i = c->in.n - narg;
    vjp = wick_lowering_captured_plain(s, c->f, c->n->at, vjp);
    const lowered **arg = wick_new(s->tmp, const lowered *, c->narg + 1u);
    for (uint32_t i = 0; i < c->narg; i++) arg[i] = c->arg[i];
    arg[c->narg] = wick_lowering_formal(s, c->n->at, wick_lowering_cotangent(s, c->result));
    lowering_instance *g = s->failed ? NULL
                                     : wick_lowering_instance(s, c->f, c->n->at, vjp, c->narg + 1,
                                                              arg, NULL, NULL, true);
    if (!g) return wick_lowering_unit(s);
    set[WICK_ATTR_with_vjp_vjp].s = g->name;
  }
  wick_value v = transforms_build(c, vjp ? WICK_OP_with_vjp : WICK_OP_checkpoint, set);
  return s->failed ? wick_lowering_unit(s) : wick_lowering_unflatten(s, c->f, c->result, &v);
}

const lowered *wick_lowering_transformed(lowering *s, lowering_frame *f, const wick_ast *n,
                                         const lowered *fn, uint32_t narg,
                                         const lowered *const *arg, wick_ty *result)
{
  const lowered_code *code = fn->code;
  transforms_call c = {.s = s, .f = f, .n = n, .narg = narg, .arg = arg};
  if (code->entity->form == WICK_FORM_STOP_GRADIENT)
    return wick_lowering_map_data(s, f, n, fn, narg, arg);
  if (code->entity->form == WICK_FORM_PRINT || code->entity->form == WICK_FORM_ASSERT)
    return wick_lowering_say_data(s, f, n, fn, arg[0]);
  c.base = wick_lowering_as_known(s, f, fn->item[0]);
  if (s->failed) return wick_lowering_unit(s);
  switch (code->entity->form) {
  case WICK_FORM_GRAD: return transforms_grad(&c, code, false);
  case WICK_FORM_VALUE_AND_GRAD: return transforms_grad(&c, code, true);
  case WICK_FORM_VJP: return transforms_vjp(&c);
  case WICK_FORM_JVP: return transforms_jvp(&c);
  case WICK_FORM_VMAP: return transforms_vmap(&c, code);
  case WICK_FORM_CHECKPOINT: return transforms_marked(&c, NULL, result);
  case WICK_FORM_WITH_VJP:
    return code->half
               ? wick_lowering_call(s, f, n, fn->item[code->half - 1], narg, arg, NULL, result)
               : transforms_marked(&c, fn, result);
  case WICK_FORM_MAP_TENSORS:
  case WICK_FORM_ZIP_TENSORS: return wick_lowering_map_data(s, f, n, fn, narg, arg);
  default: break;
  }
  const lowered **all = wick_new(s->tmp, const lowered *, fn->n + narg); /* specialize */
  for (uint32_t i = 1; i < fn->n; i++) all[i - 1] = fn->item[i];
  for (uint32_t i = 0; i < narg; i++) all[fn->n - 1 + i] = arg[i];
  return wick_lowering_call(s, f, n, fn->item[0], fn->n - 1 + narg, all, NULL, result);
}
