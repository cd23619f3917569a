/* Index notation as operators of the graph: y[i] = sum(j) a[i, j] * x[j].
 *
 * A value has a dimension for each index that it depends on, in the order of the indices' numbers.
 * Products of two factors that are summed become `matmul`. */
#include "lang/lower/state.h"

typedef struct notation_value {
  wick_value v;
  uint32_t n;
  const wick_lang_entity *index[WICK_MAX_RANK]; /* ascending by number */
} notation_value;

typedef struct notation {
  lowering *s;
  lowering_frame *f;
  wick_elem elem; /* of the numbers */
} notation;

static notation_value notation_expr(notation *c, wick_ast *n, wick_elem elem);

static notation_value notation_fail(notation *c, const wick_ast *n, const char *why)
{
  wick_lowering_fail(c->s, n->at, "%s", why);
  return (notation_value){0};
}

static wick_dim notation_size(notation *c, const wick_lang_entity *index)
{
  const wick_ty *t = c->f->typed->local[index->number];
  return t ? wick_ty_dim(c->s->t, wick_ty_of((wick_ty *)t)->size) : WICK_DIM_INVALID;
}

static bool notation_is_index(const wick_ast *n)
{
  const wick_lang_entity *e = n->kind == WICK_AST_NAME ? n->ref : NULL;
  return e && e->kind == WICK_ENTITY_LOCAL && e->decl->kind == WICK_AST_NAME;
}

/* ---- dimensions ---- */

static void notation_add(notation_value *x, const wick_lang_entity *e)
{
  uint32_t at = 0;
  while (at < x->n && x->index[at]->number < e->number) at++;
  if ((at < x->n && x->index[at] == e) || x->n == WICK_MAX_RANK) return;
  for (uint32_t i = x->n++; i > at; i--) x->index[i] = x->index[i - 1];
  x->index[at] = e;
}

static bool notation_has(const notation_value *x, const wick_lang_entity *e)
{
  for (uint32_t i = 0; i < x->n; i++)
    if (x->index[i] == e) return true;
  return false;
}

/* x with the dimensions of `to`, which has all of x's; those that x does not have are 1. */
static wick_value notation_aligned(notation *c, const notation_value *x, const notation_value *to)
{
  wick_dim dim[WICK_MAX_RANK];
  if (x->n == to->n || !x->n) return x->v;
  for (uint32_t i = 0; i < to->n; i++)
    dim[i] = notation_has(x, to->index[i]) ? notation_size(c, to->index[i]) : wick_dim_const(1);
  return wick_build_reshape(c->f->b, x->v, to->n, dim);
}

/* x with all dimensions of `to`. */
static wick_value notation_spread(notation *c, const notation_value *x, const notation_value *to)
{
  wick_dim dim[WICK_MAX_RANK];
  wick_value v = notation_aligned(c, x, to);
  if (x->n == to->n) return v;
  for (uint32_t i = 0; i < to->n; i++) dim[i] = notation_size(c, to->index[i]);
  wick_attr attr = {.n = to->n, .dims = dim};
  return wick_build(c->f->b, WICK_OP_broadcast_to, 1, &v, &attr, 0, NULL);
}

/* Transposes x, whose dimensions have these indices, to their order. */
static notation_value notation_sorted(notation *c, wick_value v, uint32_t n,
                                      const wick_lang_entity *const *index)
{
  notation_value out = {.v = v};
  int64_t perm[WICK_MAX_RANK];
  bool same = true;
  for (uint32_t i = 0; i < n; i++) notation_add(&out, index[i]);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < n; k++)
      if (index[k] == out.index[i]) perm[i] = k, same = same && k == i;
  if (!same) out.v = wick_build_transpose(c->f->b, v, n, perm);
  return out;
}

/* ---- reads ---- */

static notation_value notation_read(notation *c, wick_ast *n)
{
  wick_builder *b = c->f->b;
  const lowered *x = c->f->local[n->kid[0]->ref->number];
  const wick_lang_entity *name[WICK_MAX_RANK];
  notation_value all = {0}, part[WICK_MAX_RANK];
  uint32_t npart = n->nkid - 1;
  bool names = true;
  if (x->kind != LOWERED_ONE || npart > WICK_MAX_RANK)
    return notation_fail(c, n, "this cannot be indexed");
  for (uint32_t i = 0; i < npart; i++) {
    name[i] = n->kid[i + 1]->ref;
    names = names && notation_is_index(n->kid[i + 1]);
    for (uint32_t k = 0; k < i && names; k++) names = name[k] != name[i];
  }
  if (names) return notation_sorted(c, x->v, npart, name);
  for (uint32_t i = 0; i < npart; i++) {
    part[i] = notation_expr(c, n->kid[i + 1], WICK_I64);
    if (!wick_lowering_ok(c->s, c->f)) return all;
    for (uint32_t k = 0; k < part[i].n; k++) notation_add(&all, part[i].index[k]);
  }
  wick_value list[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK + 1];
  for (uint32_t k = 0; k < all.n; k++) dim[k] = notation_size(c, all.index[k]);
  dim[all.n] = wick_dim_const(1);
  for (uint32_t i = 0; i < npart; i++)
    list[i] = wick_build_reshape(b, notation_spread(c, &part[i], &all), all.n + 1, dim);
  wick_value in[2] = {x->v, npart == 1 ? list[0] : wick_build_concat(b, all.n, npart, list)};
  all.v = wick_build(b, WICK_OP_gather_nd, 2, in, NULL, 0, NULL);
  return all;
}

static notation_value notation_counted(notation *c, const wick_ast *n, wick_elem elem)
{
  notation_value x = {.n = 1, .index = {n->ref}};
  wick_dim size = notation_size(c, n->ref);
  wick_value in[2] = {wick_lowering_number(c->s, c->f, WICK_I64, 0, 0),
                      wick_lowering_number(c->s, c->f, WICK_I64, 0, 1)};
  wick_attr attr = {.n = 1, .dims = &size};
  x.v = wick_build(c->f->b, WICK_OP_range, 2, in, &attr, 0, NULL);
  x.v = wick_build_cast(c->f->b, x.v, elem);
  return x;
}

/* ---- operators ---- */

static notation_value notation_apply(notation *c, wick_opcode op, uint32_t n,
                                     const notation_value *arg)
{
  notation_value all = {0};
  wick_value in[8];
  if (!wick_lowering_ok(c->s, c->f)) return all;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < arg[i].n; k++) notation_add(&all, arg[i].index[k]);
  for (uint32_t i = 0; i < n; i++) in[i] = notation_aligned(c, &arg[i], &all);
  all.v = wick_build(c->f->b, op, n, in, NULL, 0, NULL);
  return all;
}

static notation_value notation_call(notation *c, wick_ast *n, wick_elem elem)
{
  notation_value arg[8];
  const wick_lang_entity *e = n->kid[0]->kind == WICK_AST_NAME ? n->kid[0]->ref : NULL;
  if (!e || n->nkid > 9) return notation_fail(c, n, "index notation cannot call this yet");
  for (uint32_t i = 1; i < n->nkid; i++) {
    if (n->kid[i]->kind == WICK_AST_NAMED)
      return notation_fail(c, n->kid[i], "index notation cannot give attributes yet");
    arg[i - 1] = notation_expr(c, n->kid[i], elem);
  }
  if (c->s->failed) return arg[0];
  wick_lowering_at(c->s, c->f, n->at);
  if (e->kind == WICK_ENTITY_ELEM) {
    arg[0].v = wick_build_cast(c->f->b, arg[0].v, e->elem);
    return arg[0];
  }
  bool square = e->kind == WICK_ENTITY_FORM && e->form == WICK_FORM_SQUARE;
  if (square) arg[1] = arg[0];
  if (square) return notation_apply(c, WICK_OP_mul, 2, arg);
  if (e->kind != WICK_ENTITY_OPERATOR || !wick_ops[e->op]->scalar)
    return notation_fail(c, n, "index notation can only call element-wise operators");
  return notation_apply(c, e->op, n->nkid - 1, arg);
}

/* ---- sums ---- */

static notation_value notation_reduced(notation *c, wick_opcode op, notation_value x,
                                       const notation_value *over)
{
  notation_value all = x, out = {0};
  int64_t axes[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t i = 0; i < over->n; i++) notation_add(&all, over->index[i]);
  x.v = notation_spread(c, &x, &all);
  for (uint32_t i = 0; i < all.n; i++) {
    if (notation_has(over, all.index[i]))
      axes[n++] = i;
    else
      notation_add(&out, all.index[i]);
  }
  const wick_attr set[] = {[WICK_ATTR_reduce_sum_axes] = {.n = n, .ints = axes},
                           [WICK_ATTR_reduce_sum_keepdims] = {.i = 0}};
  out.v = wick_build(c->f->b, op, 1, &x.v, set, 0, NULL);
  return out;
}

/* Makes x [batch, rows, columns]: the indices of each group become one dimension. */
static wick_value notation_matrix(notation *c, const notation_value *x,
                                  const notation_value *const group[3])
{
  const wick_lang_entity *order[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  wick_dim dim[3];
  uint32_t n = 0;
  for (uint32_t g = 0; g < 3; g++) {
    dim[g] = wick_dim_const(1);
    for (uint32_t i = 0; i < group[g]->n; i++) {
      order[n++] = group[g]->index[i];
      dim[g] = wick_dim_mul(c->s->t->dims, dim[g], notation_size(c, group[g]->index[i]));
    }
  }
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < x->n; k++)
      if (x->index[k] == order[i]) perm[i] = k;
  wick_value v = n > 1 ? wick_build_transpose(c->f->b, x->v, n, perm) : x->v;
  return wick_build_reshape(c->f->b, v, 3, dim);
}

static notation_value notation_product(notation *c, const notation_value *x,
                                       const notation_value *y, const notation_value *over)
{
  notation_value batch = {0}, rows = {0}, columns = {0};
  wick_dim dim[WICK_MAX_RANK];
  const wick_lang_entity *order[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->n; i++)
    if (!notation_has(over, x->index[i]))
      notation_add(notation_has(y, x->index[i]) ? &batch : &rows, x->index[i]);
  for (uint32_t i = 0; i < y->n; i++)
    if (!notation_has(over, y->index[i]) && !notation_has(x, y->index[i]))
      notation_add(&columns, y->index[i]);
  wick_value in[2] = {
      notation_matrix(c, x, (const notation_value *const[3]){&batch, &rows, over}),
      notation_matrix(c, y, (const notation_value *const[3]){&batch, over, &columns})};
  wick_value v = wick_build(c->f->b, WICK_OP_matmul, 2, in, NULL, 0, NULL);
  for (uint32_t g = 0; g < 3; g++) {
    const notation_value *group = g == 0 ? &batch : g == 1 ? &rows : &columns;
    for (uint32_t i = 0; i < group->n; i++) {
      dim[n] = notation_size(c, group->index[i]);
      order[n++] = group->index[i];
    }
  }
  return notation_sorted(c, wick_build_reshape(c->f->b, v, n, dim), n, order);
}

static notation_value notation_reduce(notation *c, wick_ast *n, wick_elem elem)
{
  static const struct {
    const char *name;
    wick_opcode op;
  } kind[] = {{"sum", WICK_OP_reduce_sum},
              {"prod", WICK_OP_reduce_prod},
              {"max", WICK_OP_reduce_max},
              {"min", WICK_OP_reduce_min}};
  notation_value over = {0}, x, y;
  wick_ast *inner = n->kid[1];
  uint32_t k = 0;
  while (k < 3 && strcmp(kind[k].name, n->name) != 0) k++;
  for (uint32_t i = 0; i < n->kid[0]->nkid; i++) notation_add(&over, n->kid[0]->kid[i]->ref);
  bool product = k == 0 && inner->kind == WICK_AST_BINARY && inner->op == '*' &&
                 (elem == WICK_F32 || elem == WICK_F64);
  if (!product) {
    x = notation_expr(c, inner, elem);
    return c->s->failed ? x : notation_reduced(c, kind[k].op, x, &over);
  }
  x = notation_expr(c, inner->kid[0], elem);
  y = notation_expr(c, inner->kid[1], elem);
  if (!wick_lowering_ok(c->s, c->f)) return x;
  wick_lowering_at(c->s, c->f, n->at);
  for (uint32_t i = 0; i < over.n && product; i++)
    product = notation_has(&x, over.index[i]) && notation_has(&y, over.index[i]);
  if (product) return notation_product(c, &x, &y, &over);
  notation_value arg[2] = {x, y};
  return notation_reduced(c, kind[k].op, notation_apply(c, WICK_OP_mul, 2, arg), &over);
}

static notation_value notation_expr(notation *c, wick_ast *n, wick_elem elem)
{
  notation_value arg[2];
  memset(arg, 0, sizeof arg);
  if (!wick_lowering_ok(c->s, c->f)) return arg[0];
  wick_lowering_at(c->s, c->f, n->at);
  switch (n->kind) {
  case WICK_AST_INT:
  case WICK_AST_FLOAT: {
    double v = n->kind == WICK_AST_FLOAT ? n->f : (double)n->i;
    bool real = wick_elem_is_float(elem);
    arg[0].v = wick_lowering_number(c->s, c->f, elem, real ? v : 0, real ? 0 : n->i);
    return arg[0];
  }
  case WICK_AST_NAME:
    if (notation_is_index(n)) return notation_counted(c, n, elem);
    arg[0].v = wick_lowering_value(c->s, c->f, n);
    if (!c->s->failed && wick_built_info(c->f->b, arg[0].v)->rank)
      return notation_fail(c, n, "a tensor of this rank needs indices");
    return arg[0];
  case WICK_AST_INDEX: return notation_read(c, n);
  case WICK_AST_CALL: return notation_call(c, n, elem);
  case WICK_AST_REDUCE: return notation_reduce(c, n, elem);
  case WICK_AST_UNARY:
    arg[0] = notation_expr(c, n->kid[0], elem);
    return notation_apply(c, n->op == '!' ? WICK_OP_not : WICK_OP_neg, 1, arg);
  case WICK_AST_BINARY:
    if (wick_infer_opcode(n->op) == WICK_OP_none)
      return notation_fail(c, n, "index notation does not have this operator");
    for (uint32_t i = 0; i < 2; i++) arg[i] = notation_expr(c, n->kid[i], elem);
    return notation_apply(c, wick_infer_opcode(n->op), 2, arg);
  default: return notation_fail(c, n, "index notation does not have this");
  }
}

static const lowered *notation_define(lowering *s, lowering_frame *f, const wick_ast *n)
{
  const wick_type type = wick_lowering_type(s, n->at, f->typed->type[n->id]);
  if (s->failed) return wick_lowering_unit(s);
  notation c = {.s = s, .f = f, .elem = wick_type_get(s->module, type)->elem};
  const wick_ast *list = n->kid[0];
  notation_value all = {0}, x = notation_expr(&c, n->kid[1], c.elem);
  int64_t perm[WICK_MAX_RANK] = {0};
  bool same = true;
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  for (uint32_t i = 0; i < list->nkid; i++) notation_add(&all, list->kid[i]->ref);
  all.v = notation_spread(&c, &x, &all);
  for (uint32_t i = 0; i < list->nkid; i++)
    for (uint32_t k = 0; k < all.n; k++)
      if (all.index[k] == list->kid[i]->ref) perm[i] = k, same = same && k == i;
  return wick_lowering_tensor(s, f,
                              same ? all.v : wick_build_transpose(f->b, all.v, list->nkid, perm));
}

const lowered *wick_lowering_notation(lowering *s, lowering_frame *f, const wick_ast *list)
{
  lowered *all = wick_lowering_new(s, LOWERED_ITEMS, NULL, list->nkid);
  wick_ty **type = wick_new(s->tmp, wick_ty *, list->nkid);
  for (uint32_t i = 0; i < list->nkid && !s->failed; i++) {
    const lowered *x = notation_define(s, f, list->kid[i]);
    f->local[list->kid[i]->ref->number] = all->item[i] = x;
    type[i] = x->type;
  }
  if (s->failed) return wick_lowering_unit(s);
  all->type = wick_ty_new(s->t, WICK_TY_TUPLE, list->nkid, type);
  return list->nkid == 1 ? all->item[0] : all;
}
