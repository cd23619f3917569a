/* Finds dimension expressions for sizes that exporters compute in floats, as floor(size * 0.5).
 * When a cast makes integers of a small float tensor, its elements are traced back as fractions of
 * dimension expressions.
 *
 * The numerator is below 2^22, by a shape constraint. So a fraction whose denominator is a power of
 * two equals the float. For any other fraction the float was rounded once. Then only rounding to a
 * whole number may follow: it agrees with rounding the fraction, because the fraction is whole or
 * differs from each whole number by at least 1 / `under`. */
#include "import/onnx/import.h"
#include "ops/elementwise/scalar.h"
#include "ops/ref.h"

enum { FRACTION_DEPTH = 16, FRACTION_PARTS = 4096, FRACTION_OVER = 1 << 22 };

typedef struct fraction {
  wick_dim over;
  int64_t under; /* 1 to FRACTION_PARTS */
} fraction;

typedef struct fractions {
  uint32_t n;
  fraction at[WICK_MAX_CONTENT];
} fractions;

static bool fraction_make(wick_onnx_op *o, wick_dim over, int64_t under, fraction *out)
{
  wick_dims *t = o->c->module->dims;
  int64_t lo, hi;
  *out = (fraction){over, under};
  wick_dim_range(t, over, &lo, &hi);
  if (wick_dim_eq(over, WICK_DIM_INVALID) || under < 1 || under > FRACTION_PARTS || lo < 0)
    return false;
  return hi < FRACTION_OVER ||
         wick_onnx_equal(o, wick_dim_floordiv(t, over, wick_dim_const(FRACTION_OVER)),
                         wick_dim_const(0));
}

static bool fraction_constant(wick_onnx_op *o, wick_value v, fractions *out)
{
  wick_tensor t;
  if (!wick_onnx_known(o->c, v, &t) || wick_ref_numel(&t) > WICK_MAX_CONTENT) return false;
  out->n = (uint32_t)wick_ref_numel(&t);
  for (uint32_t k = 0; k < out->n; k++) {
    double x = wick_load_elem(t.elem, t.data, k).f;
    int64_t under = 1;
    if (!(x >= 0 && x < FRACTION_OVER)) return false;
    while (under < FRACTION_PARTS && x * (double)under != (double)(int64_t)(x * (double)under))
      under *= 2;
    double over = x * (double)under;
    if (!(over >= 0 && over < FRACTION_OVER) || over != (double)(int64_t)over) return false;
    if (!fraction_make(o, wick_dim_const((int64_t)over), under, &out->at[k])) return false;
  }
  return true;
}

/* Computes x op y. Returns false if the result is no such fraction. */
static bool fraction_pair(wick_onnx_op *o, wick_opcode op, fraction x, fraction y, fraction *out)
{
  wick_dims *t = o->c->module->dims;
  wick_dim ux = wick_dim_const(x.under), uy = wick_dim_const(y.under),
           a = wick_dim_mul(t, x.over, uy), b = wick_dim_mul(t, y.over, ux);
  int64_t under = x.under * y.under;
  if ((x.under & (x.under - 1)) || (y.under & (y.under - 1))) return false;
  switch (op) {
  case WICK_OP_mul: return fraction_make(o, wick_dim_mul(t, x.over, y.over), under, out);
  case WICK_OP_add: return fraction_make(o, wick_dim_add(t, a, b), under, out);
  case WICK_OP_sub: return fraction_make(o, wick_dim_sub(t, a, b), under, out);
  case WICK_OP_min: return fraction_make(o, wick_dim_min(t, a, b), under, out);
  case WICK_OP_max: return fraction_make(o, wick_dim_max(t, a, b), under, out);
  case WICK_OP_div:
    return wick_dim_is_const(y.over) && y.over.v > 0 &&
           fraction_make(o, a, x.under * y.over.v, out);
  default: return false;
  }
}

static bool fraction_find(wick_onnx_op *o, wick_value v, uint32_t depth, fractions *out);

static bool fraction_two(wick_onnx_op *o, const wick_node *n, uint32_t depth, fractions *out)
{
  fractions *y = wick_new(o->c->tmp, fractions, 1);
  if (!fraction_find(o, n->in[0], depth, out) || !fraction_find(o, n->in[1], depth, y))
    return false;
  uint32_t nx = out->n, all = nx == 1 ? y->n : nx;
  if ((nx != 1 && nx != all) || (y->n != 1 && y->n != all)) return false;
  fraction first = out->at[0];
  for (uint32_t k = 0; k < all; k++)
    if (!fraction_pair(o, n->op, nx == 1 ? first : out->at[k], y->at[y->n == 1 ? 0 : k],
                       &out->at[k]))
      return false;
  out->n = all;
  return true;
}

static bool fraction_joined(wick_onnx_op *o, const wick_node *n, uint32_t depth, fractions *out)
{
  fractions *part = wick_new(o->c->tmp, fractions, 1);
  out->n = 0;
  for (uint32_t i = 0; i < n->nin; i++) {
    if (wick_built_info(o->b, n->in[i])->rank != 1 || !fraction_find(o, n->in[i], depth, part) ||
        out->n + part->n > WICK_MAX_CONTENT)
      return false;
    for (uint32_t k = 0; k < part->n; k++) out->at[out->n++] = part->at[k];
  }
  return true;
}

/* Converts integers whose expressions inference knows to fractions. */
static bool fraction_whole(wick_onnx_op *o, const wick_value_info *v, fractions *out)
{
  out->n = v->ncontent;
  for (uint32_t k = 0; k < out->n; k++)
    if (!fraction_make(o, v->content[k], 1, &out->at[k])) return false;
  return v->content != NULL;
}

static bool fraction_rounded(wick_onnx_op *o, wick_opcode op, fractions *x)
{
  wick_dims *t = o->c->module->dims;
  for (uint32_t k = 0; k < x->n; k++) {
    wick_dim under = wick_dim_const(x->at[k].under);
    wick_dim whole = op == WICK_OP_ceil ? wick_dim_ceildiv(t, x->at[k].over, under)
                                        : wick_dim_floordiv(t, x->at[k].over, under);
    x->at[k] = (fraction){whole, 1};
  }
  return true;
}

static bool fraction_find(wick_onnx_op *o, wick_value v, uint32_t depth, fractions *out)
{
  if (o->b->status || depth > FRACTION_DEPTH) return false;
  const wick_value_info *info = &o->b->values.at[v.id];
  if (info->content) return fraction_whole(o, info, out);
  wick_dim numel = wick_type_numel(o->c->module, info->type);
  const wick_node *d = wick_emit_definer(o->b, v);
  if (!d || d->nregion || !wick_dim_is_const(numel) || numel.v > WICK_MAX_CONTENT) return false;
  const wick_node n = *d; /* a copy, because the list may be reallocated */
  wick_elem e = wick_built_info(o->b, v)->elem;
  bool wide = e == WICK_F32 || e == WICK_F64, whole = e == WICK_I64 || e == WICK_I32;
  switch (n.op) {
  case WICK_OP_const: return fraction_constant(o, v, out);
  case WICK_OP_reshape: return fraction_find(o, n.in[0], depth + 1, out);
  case WICK_OP_concat: return fraction_joined(o, &n, depth + 1, out);
  case WICK_OP_cast:
    if (!fraction_find(o, n.in[0], depth + 1, out)) return false;
    return wide || (whole && fraction_rounded(o, WICK_OP_floor, out));
  case WICK_OP_floor:
  case WICK_OP_ceil:
    return fraction_find(o, n.in[0], depth + 1, out) && fraction_rounded(o, n.op, out);
  default: return wide && n.nin == 2 && fraction_two(o, &n, depth + 1, out);
  }
}

void wick_onnx_fraction_cast(wick_onnx_op *o, wick_value y)
{
  if (o->b->status || !y.id || o->b->values.at[y.id].content) return;
  const wick_node *n = wick_emit_definer(o->b, y);
  wick_elem to = wick_built_info(o->b, y)->elem;
  if (!n || n->op != WICK_OP_cast || (to != WICK_I64 && to != WICK_I32)) return;
  wick_elem from = wick_built_info(o->b, n->in[0])->elem;
  fractions *x = wick_new(o->c->tmp, fractions, 1);
  uint32_t before = o->b->constraints.n;
  if ((from != WICK_F32 && from != WICK_F64) || !fraction_find(o, y, 0, x)) {
    o->b->constraints.n = before;
    return;
  }
  wick_dim *content = wick_new(&o->c->module->mem, wick_dim, x->n);
  for (uint32_t k = 0; k < x->n; k++) content[k] = x->at[k].over;
  o->b->values.at[y.id].content = content;
  o->b->values.at[y.id].ncontent = x->n;
}
