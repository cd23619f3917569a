/* Folds in one traversal. A division rebuilds the chain before it; the old nodes of the chain are
 * then dead. */
#include "graph/fold_requantize.h"

#include <math.h>

#include "ir/copy.h"
#include "ir/element.h"
#include "ir/op.h"

enum { FOLD_REQUANTIZE_DEEP = 8 };

typedef struct fold_requantize_state {
  const wick_func *f;
  const uint32_t *definer;
  wick_uses uses;
  wick_copier c;
  wick_value *sum; /* per old value: its replacement, if a bias was added to its integers */
} fold_requantize_state;

static const wick_node *fold_requantize_def(const fold_requantize_state *s, wick_value v)
{
  uint32_t d = v.id ? s->definer[v.id] : UINT32_MAX;
  return d == UINT32_MAX ? NULL : &s->f->node[d];
}

static bool fold_requantize_once(const fold_requantize_state *s, wick_value v)
{
  return s->uses.first[v.id + 1] - s->uses.first[v.id] == 1;
}

static bool fold_requantize_is_const(const fold_requantize_state *s, wick_value v)
{
  const wick_node *n = fold_requantize_def(s, v);
  return n && n->op == WICK_OP_const && wick_info_of(s->f, v)->elem == WICK_F32;
}

/* Returns element i of a constant, which may be a single number. */
static double fold_requantize_at(const fold_requantize_state *s, wick_value v, uint64_t i)
{
  const wick_imm *imm = wick_const_imm(fold_requantize_def(s, v));
  if (!imm->constant) return imm->f;
  const wick_constant *k = wick_constant_get(s->f->module, imm->constant);
  if (!k->data) return NAN;
  return wick_load_elem(WICK_F32, k->data, k->nbytes > 4 ? i : 0).f;
}

static bool fold_requantize_is_one(const fold_requantize_state *s, wick_value v)
{
  return wick_dim_is(wick_type_numel(s->f->module, wick_type_of(s->f, v)), 1);
}

/* ---- factors ---- */

/* Returns true if v is an integer times a constant, with the further operations that the header
 * lists. */
static bool fold_requantize_chain(const fold_requantize_state *s, wick_value v, uint32_t depth)
{
  const wick_node *n = fold_requantize_def(s, v);
  if (!n || !fold_requantize_once(s, v) || depth > FOLD_REQUANTIZE_DEEP) return false;
  switch (n->op) {
  case WICK_OP_mul: {
    const wick_node *cast = fold_requantize_def(s, n->in[0]);
    return fold_requantize_is_const(s, n->in[1]) && cast && cast->op == WICK_OP_cast &&
           wick_elem_is_int(wick_info_of(s->f, cast->in[0])->elem) &&
           wick_info_of(s->f, v)->elem == WICK_F32;
  }
  case WICK_OP_relu: return fold_requantize_chain(s, n->in[0], depth + 1);
  case WICK_OP_clip:
    return n->nin == 3 && n->in[1].id && n->in[2].id && fold_requantize_is_const(s, n->in[1]) &&
           fold_requantize_is_const(s, n->in[2]) && fold_requantize_chain(s, n->in[0], depth + 1);
  case WICK_OP_add:
    return fold_requantize_chain(s, n->in[0], depth + 1) &&
           (fold_requantize_is_const(s, n->in[1]) || fold_requantize_chain(s, n->in[1], depth + 1));
  default: return false;
  }
}

static wick_value fold_requantize_apply(fold_requantize_state *s, const wick_node *by, wick_value v)
{
  return wick_build2(&s->c.b, by->op, v, s->c.to[by->in[1].id]);
}

/* Builds the chain again, with `by` in its constants. */
static wick_value fold_requantize_rebuild(fold_requantize_state *s, const wick_node *by,
                                          wick_value v)
{
  const wick_node *n = fold_requantize_def(s, v);
  wick_builder *b = &s->c.b;
  b->loc = n->loc;
  if (n->op == WICK_OP_mul)
    return wick_build2(b, WICK_OP_mul, s->c.to[n->in[0].id],
                       fold_requantize_apply(s, by, s->c.to[n->in[1].id]));
  if (s->sum[v.id].id) { /* the bias is in the integers, and only a product is left */
    const wick_node *mul = fold_requantize_def(s, n->in[0]);
    return wick_build2(b, WICK_OP_mul, s->sum[v.id],
                       fold_requantize_apply(s, by, s->c.to[mul->in[1].id]));
  }
  wick_value in[3] = {fold_requantize_rebuild(s, by, n->in[0]), {0}, {0}};
  for (uint32_t k = 1; k < n->nin; k++)
    in[k] = fold_requantize_is_const(s, n->in[k])
                ? fold_requantize_apply(s, by, s->c.to[n->in[k].id])
                : fold_requantize_rebuild(s, by, n->in[k]);
  return wick_build(b, n->op, n->nin, in, n->nattr ? n->attr : NULL, 0, NULL);
}

static wick_value fold_requantize_scaled(fold_requantize_state *s, const wick_node *n)
{
  if ((n->op != WICK_OP_div && n->op != WICK_OP_mul) || !fold_requantize_is_const(s, n->in[1]) ||
      !fold_requantize_is_one(s, n->in[1]) || !fold_requantize_chain(s, n->in[0], 0))
    return (wick_value){0};
  double k = fold_requantize_at(s, n->in[1], 0);
  if (!(k > 0) || !isfinite(k) || !isfinite(1 / k)) return (wick_value){0};
  return fold_requantize_rebuild(s, n, n->in[0]);
}

/* ---- biases ---- */

/* Returns how large a bias may be if it is added to a sum of that many products of bytes; negative
 * if no bias fits. */
static double fold_requantize_limit(const wick_type_info *w)
{
  enum { MOST = 255 + 128 };
  double terms = 1;
  for (uint32_t k = 1; k < w->rank; k++)
    terms *= wick_dim_is_const(w->dim[k]) ? (double)w->dim[k].v : INFINITY;
  return INT32_MAX - terms * MOST * MOST;
}

/* Returns a constant of the module with the bias of an integer convolution, in units of its scale;
 * 0 if an element is not a whole number. */
static uint32_t fold_requantize_bias(const fold_requantize_state *s, const wick_node *conv,
                                     wick_value scale, wick_value bias)
{
  wick_module *m = s->f->module;
  const wick_type_info *w = wick_info_of(s->f, conv->in[1]), *t = wick_info_of(s->f, bias);
  if (!wick_dim_is_const(w->dim[0]) ||
      (!fold_requantize_is_one(s, bias) && t->rank + 1u != w->rank))
    return 0;
  uint64_t n = (uint64_t)w->dim[0].v;
  if (!fold_requantize_is_one(s, bias) && !wick_dim_is(t->dim[0], (int64_t)n)) return 0;
  int32_t *out = wick_module_alloc(m, n * 4);
  for (uint64_t i = 0; i < n; i++) {
    double unit = fold_requantize_at(s, scale, i), x = fold_requantize_at(s, bias, i) / unit,
           whole = nearbyint(x);
    if (!(fabs(whole) < fold_requantize_limit(w)) || !(fabs(x - whole) <= 1e-6 * fabs(whole)))
      return 0;
    out[i] = (int32_t)whole;
  }
  wick_dim dim = wick_dim_const((int64_t)n);
  return wick_constant_add(m, "bias", wick_type_tensor(m, WICK_I32, 1, &dim), out, n * 4);
}

/* Rewrites add(mul(cast(conv), scale), bias) so that the bias is in the convolution. */
static wick_value fold_requantize_biased(fold_requantize_state *s, const wick_node *n)
{
  wick_builder *b = &s->c.b;
  const wick_node *mul = n->op == WICK_OP_add ? fold_requantize_def(s, n->in[0]) : NULL,
                  *cast = mul && mul->op == WICK_OP_mul ? fold_requantize_def(s, mul->in[0]) : NULL,
                  *conv =
                      cast && cast->op == WICK_OP_cast ? fold_requantize_def(s, cast->in[0]) : NULL;
  if (!conv || conv->op != WICK_OP_conv || (conv->nin > 2 && conv->in[2].id) ||
      !fold_requantize_is_const(s, n->in[1]) || !fold_requantize_is_const(s, mul->in[1]) ||
      !fold_requantize_once(s, n->in[0]) || !fold_requantize_once(s, mul->in[0]) ||
      !fold_requantize_once(s, cast->in[0]) || wick_info_of(s->f, conv->first)->elem != WICK_I32 ||
      !wick_type_eq(wick_type_of(s->f, n->first), wick_type_of(s->f, mul->first)))
    return (wick_value){0};
  uint32_t k = fold_requantize_bias(s, conv, mul->in[1], n->in[1]);
  if (!k) return (wick_value){0};
  b->loc = conv->loc;
  wick_value in[3] = {s->c.to[conv->in[0].id], s->c.to[conv->in[1].id], wick_build_constant(b, k)},
             y = wick_build(b, WICK_OP_conv, 3, in, conv->attr, 0, NULL);
  s->sum[n->first.id] = wick_build_cast(b, y, WICK_F32);
  return wick_build2(b, WICK_OP_mul, s->sum[n->first.id], s->c.to[mul->in[1].id]);
}

wick_status wick_pass_fold_requantize(const wick_pass_context *pass, const wick_func *f,
                                      wick_func **out)
{
  wick_arena *mem = pass->mem;
  fold_requantize_state s = {.f = f,
                             .definer = wick_definers_of(f, mem),
                             .uses = wick_uses_of(f, mem),
                             .sum = wick_new(mem, wick_value, f->nvalue + 1)};
  s.c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    s.c.b.loc = n->loc;
    wick_value y = n->nout == 1 && !n->nregion ? fold_requantize_biased(&s, n) : (wick_value){0};
    if (!y.id && n->nout == 1 && !n->nregion) y = fold_requantize_scaled(&s, n);
    if (y.id)
      s.c.to[n->first.id] = y;
    else
      wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
