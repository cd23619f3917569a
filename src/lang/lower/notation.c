/* Index notation as operators of the graph: y[i] = sum(j) a[i, j] * x[j].
 *
 * An expression of indices becomes a tensor with a dimension for each index that it depends on.
 * Reads are built where their values are needed: sums of products (notation_product.c) use them as
 * they are. */
#include "lang/lower/notation.h"

#include <math.h>

#include "lang/lex.h"

notation_value wick_notation_fail(notation *c, const wick_ast *n, const char *why)
{
  wick_lowering_fail(c->s, n->at, "%s", why);
  return (notation_value){0};
}

wick_dim wick_notation_size(notation *c, const wick_lang_entity *index)
{
  const wick_ty *t = c->f->typed->type[index->decl->id];
  return t ? wick_ty_dim(c->s->t, wick_ty_of((wick_ty *)t)->size) : WICK_DIM_INVALID;
}

static bool notation_is_index(const wick_ast *n)
{
  const wick_lang_entity *e = n->kind == WICK_AST_NAME ? n->ref : NULL;
  return e && e->kind == WICK_ENTITY_LOCAL && e->decl->kind == WICK_AST_INDEX_NAME;
}

static bool notation_uses_index(const wick_ast *n)
{
  bool uses = notation_is_index(n) || n->kind == WICK_AST_REDUCE;
  for (uint32_t i = 0; i < n->nkid && !uses; i++)
    uses = n->kid[i] && notation_uses_index(n->kid[i]);
  return uses;
}

/* ---- dimensions ---- */

bool wick_notation_has(const notation_value *x, const wick_lang_entity *e)
{
  for (uint32_t i = 0; i < x->n; i++)
    if (x->index[i] == e) return true;
  return false;
}

uint32_t wick_notation_at(const notation_value *x, const wick_lang_entity *e)
{
  uint32_t at = 0;
  while (at + 1 < x->n && x->index[at] != e) at++;
  return at;
}

void wick_notation_add(notation *c, notation_value *x, const wick_lang_entity *e)
{
  if (wick_notation_has(x, e)) return;
  if (x->n < WICK_MAX_RANK)
    x->index[x->n++] = e;
  else
    wick_lowering_fail(c->s, e->decl->at,
                       "with the index `%s` an expression has more than %d indices", e->name,
                       WICK_MAX_RANK);
}

wick_value wick_notation_aligned(notation *c, const notation_value *x, const notation_value *to)
{
  wick_dim dim[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK] = {0};
  uint32_t n = 0;
  bool same = true;
  wick_value v = wick_notation_built(c, x);
  for (uint32_t i = 0; i < to->n; i++) {
    bool has = wick_notation_has(x, to->index[i]);
    dim[i] = has ? wick_notation_size(c, to->index[i]) : wick_dim_const(1);
    if (!has) continue;
    perm[n] = wick_notation_at(x, to->index[i]);
    same = same && perm[n] == n;
    n++;
  }
  if (!same) v = wick_build_transpose(c->f->b, v, n, perm);
  return x->n == to->n || !x->n ? v : wick_build_reshape(c->f->b, v, to->n, dim);
}

wick_value wick_notation_spread(notation *c, const notation_value *x, const notation_value *to)
{
  wick_dim dim[WICK_MAX_RANK];
  wick_value v = wick_notation_aligned(c, x, to);
  if (x->n == to->n) return v;
  for (uint32_t i = 0; i < to->n; i++) dim[i] = wick_notation_size(c, to->index[i]);
  wick_attr attr = {.n = to->n, .dims = dim};
  return wick_build(c->f->b, WICK_OP_broadcast_to, 1, &v, &attr, 0, NULL);
}

notation_value wick_notation_of(wick_value v, uint32_t n, const wick_lang_entity *const *index)
{
  notation_value out = {.v = v, .n = n};
  for (uint32_t i = 0; i < n; i++) out.index[i] = index[i];
  return out;
}

/* ---- reads ---- */

/* Whether each dimension is read at one index, or none, and no index in two of them. */
static bool notation_is_slice(const notation_access *a, uint32_t n)
{
  uint32_t uses[WICK_MAX_RANK] = {0};
  for (uint32_t d = 0; d < a->rank; d++) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < n; k++)
      if (a->step[d][k]) count++, uses[k]++;
    if (count > 1) return false;
  }
  for (uint32_t k = 0; k < n; k++)
    if (uses[k] != 1) return false;
  return !a->guard;
}

static wick_value notation_slice(notation *c, const notation_value *x)
{
  wick_builder *b = c->f->b;
  const notation_access *a = x->access;
  const wick_type_info info = *wick_built_info(b, a->x);
  wick_dim size[WICK_MAX_RANK], kept[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  uint32_t n = 0;
  bool all = true;
  for (uint32_t d = 0; d < a->rank; d++) {
    const wick_lang_entity *e = NULL;
    size[d] = wick_dim_const(1), step[d] = 1;
    for (uint32_t k = 0; k < x->n; k++)
      if (a->step[d][k]) e = x->index[k], step[d] = a->step[d][k];
    if (e) size[d] = wick_notation_size(c, e), kept[n++] = size[d];
    all = all && step[d] == 1 && wick_dim_is(a->begin[d], 0) && wick_dim_eq(size[d], info.dim[d]);
  }
  const wick_attr attr[] = {[WICK_ATTR_slice_begin] = {.n = a->rank, .dims = a->begin},
                            [WICK_ATTR_slice_shape] = {.n = a->rank, .dims = size},
                            [WICK_ATTR_slice_step] = {.n = a->rank, .ints = step}};
  wick_value v = all ? a->x : wick_build(b, WICK_OP_slice, 1, &a->x, attr, 0, NULL);
  if (n < a->rank) v = wick_build_reshape(b, v, n, kept);
  return v; /* indices are in the order of the dimensions: notation_access_of */
}

wick_value wick_notation_built(notation *c, const notation_value *x)
{
  wick_dim dim[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK * WICK_MAX_RANK];
  const notation_access *a = x->access;
  if (!a) return x->v;
  if (notation_is_slice(a, x->n)) return notation_slice(c, x);
  for (uint32_t k = 0; k < x->n; k++) dim[k] = wick_notation_size(c, x->index[k]);
  for (uint32_t d = 0; d < a->rank; d++)
    for (uint32_t k = 0; k < x->n; k++) step[d * x->n + k] = a->step[d][k];
  const wick_attr attr[] = {[WICK_ATTR_affine_gather_shape] = {.n = x->n, .dims = dim},
                            [WICK_ATTR_affine_gather_begin] = {.n = a->rank, .dims = a->begin},
                            [WICK_ATTR_affine_gather_step] = {.n = a->rank * x->n, .ints = step},
                            [WICK_ATTR_affine_gather_guard] = {.i = a->guard}};
  return wick_build(c->f->b, WICK_OP_affine_gather, 1, &a->x, attr, 0, NULL);
}

/* Whether a dimension is read inside of the tensor for all indices. */
static bool notation_is_inside(notation *c, const wick_affine *e, wick_dim size)
{
  wick_dims *t = c->s->t->dims;
  wick_dim first = e->offset, last = e->offset;
  int64_t lo, hi, over, beyond;
  for (uint32_t i = 0; i < e->n; i++) {
    wick_dim end = wick_dim_sub(t, wick_notation_size(c, e->index[i]), wick_dim_const(1)),
             *to = e->coef[i].v < 0 ? &first : &last;
    *to = wick_dim_add(t, *to, wick_dim_mul(t, e->coef[i], end));
  }
  wick_dim_range(t, first, &lo, &hi);
  wick_dim_range(t, wick_dim_sub(t, last, size), &over, &beyond);
  return lo >= 0 && beyond < 0;
}

/* Reads each of the parts as an affine expression with known steps. */
static bool notation_affine(notation *c, const wick_ast *n, wick_affine *part)
{
  const lowering *s = c->s;
  for (uint32_t d = 0; d + 1 < n->nkid; d++) {
    if (!wick_lang_affine(s->p, s->t, c->f->typed, n->kid[d + 1], &part[d])) return false;
    if (wick_dim_eq(part[d].offset, s->t->any)) return false;
    for (uint32_t i = 0; i < part[d].n; i++)
      if (!wick_dim_is_const(part[d].coef[i])) return false;
  }
  return true;
}

static notation_value notation_access_of(notation *c, wick_value x, uint32_t rank,
                                         const wick_affine *part)
{
  notation_value out = {0};
  notation_access *a = wick_new(c->s->tmp, notation_access, 1);
  const wick_type_info info = *wick_built_info(c->f->b, x);
  a->x = x, a->rank = rank;
  for (uint32_t d = 0; d < rank; d++)
    for (uint32_t i = 0; i < part[d].n; i++) wick_notation_add(c, &out, part[d].index[i]);
  if (c->s->failed) return out;
  for (uint32_t d = 0; d < rank; d++) {
    a->begin[d] = part[d].offset;
    if (!part[d].n && wick_dim_is_const(part[d].offset) && part[d].offset.v < 0)
      a->begin[d] = wick_dim_add(c->s->t->dims, part[d].offset, info.dim[d]); /* from the end */
    for (uint32_t i = 0; i < part[d].n; i++)
      a->step[d][wick_notation_at(&out, part[d].index[i])] = part[d].coef[i].v;
    if (c->nguard && part[d].n) a->guard |= !notation_is_inside(c, &part[d], info.dim[d]);
  }
  out.access = a;
  return out;
}

/* An index that is data; where no branch around reads it, it is 0, which fails nothing. */
static notation_value notation_number(notation *c, wick_ast *n)
{
  notation_value i = wick_notation_expr(c, n);
  for (uint32_t k = 0; k < c->nguard && !c->s->failed; k++) {
    notation_value all = c->mask[k], zero = {0};
    for (uint32_t m = 0; m < i.n; m++) wick_notation_add(c, &all, i.index[m]);
    all.access = NULL;
    wick_value v = wick_notation_aligned(c, &i, &all),
               mask = wick_notation_aligned(c, &c->mask[k], &all);
    zero.v = wick_build_like(c->f->b, v, 0);
    i = all;
    i.v = wick_build3(c->f->b, WICK_OP_where, mask, v, zero.v);
  }
  return i;
}

/* Reads by one index that is data, where all other dimensions are whole. */
static bool notation_gather(notation *c, const wick_ast *n, wick_value x,
                            const notation_value *part, uint32_t at, notation_value *out)
{
  const wick_lang_entity *order[2 * WICK_MAX_RANK];
  wick_value in[2] = {x, wick_notation_built(c, &part[at])};
  uint32_t count = 0;
  for (uint32_t d = 0; d + 1 < n->nkid; d++) {
    if (d != at && !notation_is_index(n->kid[d + 1])) return false;
    if (d == at)
      for (uint32_t i = 0; i < part[at].n; i++) order[count++] = part[at].index[i];
    else
      order[count++] = n->kid[d + 1]->ref;
  }
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (order[i] == order[k]) return false;
  for (uint32_t d = 0; d + 1 < n->nkid; d++)
    if (d != at && !wick_dim_eq(wick_notation_size(c, n->kid[d + 1]->ref),
                                wick_built_info(c->f->b, x)->dim[d]))
      return false;
  if (count > WICK_MAX_RANK) return false;
  wick_attr attr = {.i = at};
  *out = wick_notation_of(wick_build(c->f->b, WICK_OP_gather, 2, in, &attr, 0, NULL), count, order);
  return true;
}

/* Reads at indices that are data. */
static notation_value notation_data(notation *c, wick_ast *n, wick_value x)
{
  wick_builder *b = c->f->b;
  notation_value all = {0}, part[WICK_MAX_RANK];
  uint32_t npart = n->nkid - 1, ndata = 0, data = 0;
  for (uint32_t d = 0; d < npart; d++) {
    part[d] = notation_number(c, n->kid[d + 1]);
    if (!notation_is_index(n->kid[d + 1])) data = d, ndata++;
    for (uint32_t k = 0; k < part[d].n; k++) wick_notation_add(c, &all, part[d].index[k]);
    if (!wick_lowering_ok(c->s, c->f)) return all;
    part[d].v = wick_build_cast(b, wick_notation_built(c, &part[d]), WICK_I64);
    part[d].access = NULL;
  }
  if (ndata == 1 && notation_gather(c, n, x, part, data, &all)) return all;
  wick_value list[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK + 1];
  if (all.n == WICK_MAX_RANK) return wick_notation_fail(c, n, "this read has too many indices");
  for (uint32_t k = 0; k < all.n; k++) dim[k] = wick_notation_size(c, all.index[k]);
  dim[all.n] = wick_dim_const(1);
  for (uint32_t d = 0; d < npart; d++)
    list[d] = wick_build_reshape(b, wick_notation_spread(c, &part[d], &all), all.n + 1, dim);
  wick_value in[2] = {x, npart == 1 ? list[0] : wick_build_concat(b, all.n, npart, list)};
  all.v = wick_build(b, WICK_OP_gather_nd, 2, in, NULL, 0, NULL);
  return all;
}

static notation_value notation_read(notation *c, wick_ast *n)
{
  wick_affine *part = wick_new(c->s->tmp, wick_affine, n->nkid);
  if (notation_uses_index(n->kid[0]))
    return wick_notation_fail(c, n->kid[0],
                              "index notation reads tensors that do not depend on indices");
  wick_value x = wick_lowering_value(c->s, c->f, n->kid[0]);
  if (!wick_lowering_ok(c->s, c->f)) return (notation_value){0};
  if (wick_built_info(c->f->b, x)->rank != n->nkid - 1)
    return wick_notation_fail(c, n, "each dimension needs an index");
  return notation_affine(c, n, part) ? notation_access_of(c, x, n->nkid - 1, part)
                                     : notation_data(c, n, x);
}

static notation_value notation_counted(notation *c, const wick_ast *n)
{
  notation_value x = {.n = 1, .index = {n->ref}};
  wick_dim size = wick_notation_size(c, n->ref);
  wick_value in[2] = {wick_lowering_number(c->s, c->f, WICK_I64, 0, 0), {0}};
  in[1] = wick_lowering_number(c->s, c->f, WICK_I64, 0, 1);
  wick_attr attr = {.n = 1, .dims = &size};
  x.v = wick_build(c->f->b, WICK_OP_range, 2, in, &attr, 0, NULL);
  return x;
}

/* ---- operators ---- */

notation_value wick_notation_apply(notation *c, wick_opcode op, uint32_t n,
                                   const notation_value *arg, const wick_attr *attr)
{
  notation_value all = {0};
  wick_value in[8];
  uint32_t first = 0;
  if (!wick_lowering_ok(c->s, c->f)) return all;
  for (uint32_t i = 1; i < n; i++)
    if (arg[i].n > arg[first].n) first = i;
  for (uint32_t i = 0; i < n; i++) /* in the order of the operand with the most indices */
    for (uint32_t m = (first + i) % n, k = 0; k < arg[m].n; k++)
      wick_notation_add(c, &all, arg[m].index[k]);
  for (uint32_t i = 0; i < n; i++) in[i] = wick_notation_aligned(c, &arg[i], &all);
  all.v = wick_build(c->f->b, op, n, in, attr, 0, NULL);
  return all;
}

/* ---- branches ---- */

static const wick_ast *notation_only(const wick_ast *n)
{
  while (n && n->kind == WICK_AST_BLOCK && n->nkid == 1) n = n->kid[0];
  return n;
}

static bool notation_is_zero(const wick_ast *n)
{
  return n && ((n->kind == WICK_AST_INT && n->i == 0) ||
               (n->kind == WICK_AST_FLOAT && n->f == 0 && !signbit(n->f)));
}

static bool notation_same(notation *c, const wick_affine *a, const wick_affine *b, int64_t sign,
                          wick_dim offset)
{
  wick_dims *t = c->s->t->dims;
  if (a->n != b->n) return false;
  for (uint32_t i = 0; i < a->n; i++) {
    uint32_t k = 0;
    while (k < b->n && b->index[k] != a->index[i]) k++;
    if (k == b->n) return false;
    if (!wick_dim_eq(a->coef[i], wick_dim_mul(t, b->coef[k], wick_dim_const(sign)))) return false;
  }
  return wick_dim_eq(a->offset,
                     wick_dim_add(t, wick_dim_mul(t, b->offset, wick_dim_const(sign)), offset));
}

/* `if 0 <= e && e < n { x[e] } else { 0 }` is a read that is 0 outside of x. */
static bool notation_padded(notation *c, const wick_ast *n, notation_value *out)
{
  const wick_ast *read = notation_only(n->kid[1]);
  wick_affine part[WICK_MAX_RANK];
  wick_guards guards = {0};
  const lowering *s = c->s;
  if (!notation_is_zero(notation_only(n->kid[2])) || read->kind != WICK_AST_INDEX ||
      read->nkid > WICK_MAX_RANK || notation_uses_index(read->kid[0]) ||
      !wick_lang_guards(s->p, s->t, c->f->typed, n->kid[0], &guards) ||
      !notation_affine(c, read, part))
    return false;
  wick_value x = wick_lowering_value(c->s, c->f, read->kid[0]);
  if (!wick_lowering_ok(c->s, c->f)) return true;
  const wick_type_info *info = wick_built_info(c->f->b, x);
  for (uint32_t i = 0; i < guards.n; i++) {
    bool bound = false;
    for (uint32_t d = 0; d + 1 < read->nkid && !bound; d++) {
      wick_dim last = wick_dim_sub(s->t->dims, info->dim[d], wick_dim_const(1));
      bound = part[d].n && (notation_same(c, &guards.at[i], &part[d], 1, wick_dim_const(0)) ||
                            notation_same(c, &guards.at[i], &part[d], -1, last));
    }
    if (!bound) return false;
  }
  c->nguard++;
  *out = notation_access_of(c, x, read->nkid - 1, part);
  c->nguard--;
  return true;
}

static notation_value notation_if(notation *c, wick_ast *n)
{
  notation_value arg[3] = {0};
  bool holds;
  if (!n->kid[2]) return wick_notation_fail(c, n, "an `if` in index notation needs an `else`");
  if (wick_lang_decided(c->s->p, c->s->t, c->f->typed, n->kid[0], &holds))
    return wick_notation_expr(c, n->kid[holds ? 1 : 2]);
  if (notation_padded(c, n, &arg[0])) return arg[0];
  arg[0] = wick_notation_expr(c, n->kid[0]);
  if (!wick_lowering_ok(c->s, c->f)) return arg[0];
  if (c->nguard == sizeof c->mask / sizeof *c->mask)
    return wick_notation_fail(c, n, "branches are nested too deeply");
  arg[0].v = wick_notation_built(c, &arg[0]), arg[0].access = NULL;
  for (uint32_t i = 1; i < 3 && !c->s->failed; i++) {
    c->mask[c->nguard] = arg[0];
    if (i == 2) c->mask[c->nguard].v = wick_build1(c->f->b, WICK_OP_not, arg[0].v);
    c->nguard++;
    arg[i] = wick_notation_expr(c, n->kid[i]);
    c->nguard--;
  }
  wick_lowering_at(c->s, c->f, n->at);
  return wick_notation_apply(c, WICK_OP_where, 3, arg, NULL);
}

/* ---- reductions ---- */

notation_value wick_notation_reduced(notation *c, wick_opcode op, const notation_value *x,
                                     const notation_value *over)
{
  notation_value all = *x, out = {0};
  int64_t axes[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t i = 0; i < over->n; i++) wick_notation_add(c, &all, over->index[i]);
  if (c->s->failed) return out;
  wick_value v = wick_notation_spread(c, x, &all);
  for (uint32_t i = 0; i < all.n; i++) {
    if (wick_notation_has(over, all.index[i]))
      axes[n++] = i;
    else
      wick_notation_add(c, &out, all.index[i]);
  }
  const wick_attr set[] = {[WICK_ATTR_reduce_sum_axes] = {.n = n, .ints = axes},
                           [WICK_ATTR_reduce_sum_keepdims] = {.i = 0}};
  out.v = n ? wick_build(c->f->b, op, 1, &v, set, 0, NULL) : v;
  return out;
}

enum { NOTATION_FACTORS = 16 };

typedef struct notation_factors {
  uint32_t n;
  wick_ast *at[NOTATION_FACTORS];
  bool minus, too_many;
} notation_factors;

static void notation_split(wick_ast *n, notation_factors *out)
{
  if (n->kind == WICK_AST_BLOCK && n->nkid == 1) n = n->kid[0];
  if (n->kind == WICK_AST_BINARY && n->op == '*') {
    notation_split(n->kid[0], out);
    notation_split(n->kid[1], out);
  } else if (n->kind == WICK_AST_UNARY && n->op == '-') {
    out->minus = !out->minus;
    notation_split(n->kid[0], out);
  } else if (out->n == NOTATION_FACTORS) {
    out->too_many = true;
  } else {
    out->at[out->n++] = n;
  }
}

static bool notation_is_float(notation *c, const wick_ast *n)
{
  const wick_ty *t = wick_ty_of(c->f->typed->type[n->id]);
  const wick_ty *e = t->kind == WICK_TY_TENSOR ? wick_ty_of(t->arg[0]) : NULL;
  return e && e->kind == WICK_TY_ELEM && (WICK_BIT(e->elem) & WICK_FLOATS);
}

/* A sum of a product of floats, of which two factors or more have indices. */
static notation_value notation_sum(notation *c, wick_ast *n, const notation_value *over)
{
  notation_factors list = {0};
  notation_value factor[NOTATION_FACTORS], scale = {0}, out, pair[2];
  uint32_t count = 0;
  notation_split(n->kid[1], &list);
  if (list.too_many) {
    out = wick_notation_expr(c, n->kid[1]);
    return c->s->failed ? out : wick_notation_reduced(c, WICK_OP_reduce_sum, &out, over);
  }
  for (uint32_t i = 0; i < list.n && !c->s->failed; i++) {
    notation_value x = wick_notation_expr(c, list.at[i]);
    if (x.n) {
      factor[count++] = x;
      continue;
    }
    pair[0] = scale, pair[1] = x;
    scale = i > count ? wick_notation_apply(c, WICK_OP_mul, 2, pair, NULL) : x;
  }
  if (!wick_lowering_ok(c->s, c->f)) return (notation_value){0};
  wick_lowering_at(c->s, c->f, n->at);
  notation_value left = {0}, used = {0}; /* indices that no factor has: the sum is a multiple */
  for (uint32_t i = 0; i < over->n; i++) {
    bool any = false;
    for (uint32_t k = 0; k < count; k++) any = any || wick_notation_has(&factor[k], over->index[i]);
    wick_notation_add(c, any ? &used : &left, over->index[i]);
  }
  out = count ? wick_notation_product(c, count, factor, &used) : scale;
  if (!wick_lowering_ok(c->s, c->f)) return out;
  pair[0] = out, pair[1] = scale;
  if (count && count < list.n) out = wick_notation_apply(c, WICK_OP_mul, 2, pair, NULL);
  if (list.minus) out = wick_notation_apply(c, WICK_OP_neg, 1, &out, NULL);
  return left.n ? wick_notation_reduced(c, WICK_OP_reduce_sum, &out, &left) : out;
}

static notation_value notation_reduce(notation *c, wick_ast *n)
{
  static const struct {
    const char *name;
    wick_opcode op;
  } kind[] = {{"sum", WICK_OP_reduce_sum},
              {"prod", WICK_OP_reduce_prod},
              {"max", WICK_OP_reduce_max},
              {"min", WICK_OP_reduce_min}};
  notation_value over = {0};
  uint32_t k = 0;
  while (k < 3 && strcmp(kind[k].name, n->name) != 0) k++;
  for (uint32_t i = 0; i < n->kid[0]->nkid; i++)
    wick_notation_add(c, &over, n->kid[0]->kid[i]->ref);
  if (c->s->failed) return over;
  if (k == 0 && notation_is_float(c, n)) return notation_sum(c, n, &over);
  notation_value x = wick_notation_expr(c, n->kid[1]);
  if (!wick_lowering_ok(c->s, c->f)) return x;
  wick_lowering_at(c->s, c->f, n->at);
  return wick_notation_reduced(c, kind[k].op, &x, &over);
}

/* ---- expressions ---- */

static notation_value notation_constant(notation *c, wick_ast *n)
{
  notation_value x = {.v = wick_lowering_value(c->s, c->f, n)};
  if (wick_lowering_ok(c->s, c->f) && wick_built_info(c->f->b, x.v)->rank)
    return wick_notation_fail(c, n, "a tensor of this rank needs indices");
  return x;
}

static notation_value notation_binary(notation *c, wick_ast *n)
{
  notation_value arg[2];
  wick_opcode op = n->op == WICK_TOKEN_AND  ? WICK_OP_and
                   : n->op == WICK_TOKEN_OR ? WICK_OP_or
                                            : wick_infer_opcode(n->op);
  if (op == WICK_OP_none || !wick_ops[op]->scalar)
    return wick_notation_fail(c, n, "index notation does not have this operator");
  arg[0] = wick_notation_expr(c, n->kid[0]);
  arg[1] = wick_notation_expr(c, n->kid[1]);
  wick_lowering_at(c->s, c->f, n->at);
  return wick_notation_apply(c, op, 2, arg, NULL);
}

notation_value wick_notation_expr(notation *c, wick_ast *n)
{
  notation_value arg;
  if (!wick_lowering_ok(c->s, c->f)) return (notation_value){0};
  wick_lowering_at(c->s, c->f, n->at);
  if (notation_is_index(n)) return notation_counted(c, n);
  if (n->kind != WICK_AST_REDUCE && n->kind != WICK_AST_INDEX && !notation_uses_index(n))
    return notation_constant(c, n);
  switch (n->kind) {
  case WICK_AST_INDEX: return notation_read(c, n);
  case WICK_AST_CALL: return wick_notation_call(c, n);
  case WICK_AST_REDUCE: return notation_reduce(c, n);
  case WICK_AST_IF: return notation_if(c, n);
  case WICK_AST_BINARY: return notation_binary(c, n);
  case WICK_AST_ASCRIBE: return wick_notation_expr(c, n->kid[0]);
  case WICK_AST_UNARY:
    arg = wick_notation_expr(c, n->kid[0]);
    wick_lowering_at(c->s, c->f, n->at);
    return wick_notation_apply(c, n->op == '!' ? WICK_OP_not : WICK_OP_neg, 1, &arg, NULL);
  case WICK_AST_BLOCK:
    if (n->nkid == 1 && n->kid[0]->kind != WICK_AST_LET) return wick_notation_expr(c, n->kid[0]);
    return wick_notation_fail(c, n, "index notation has no statements");
  default: return wick_notation_fail(c, n, "index notation does not have this");
  }
}

static const lowered *notation_define(lowering *s, lowering_frame *f, const wick_ast *n)
{
  notation c = {.s = s, .f = f};
  const wick_ast *list = n->kid[0];
  notation_value x = wick_notation_expr(&c, n->kid[1]), all = {0};
  if (!wick_lowering_ok(s, f)) return wick_lowering_unit(s);
  for (uint32_t i = 0; i < list->nkid; i++) wick_notation_add(&c, &all, list->kid[i]->ref);
  return wick_lowering_tensor(s, f, wick_notation_spread(&c, &x, &all));
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
