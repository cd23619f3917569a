/* Folds in one traversal. A product with constant weights looks ahead along its only user, and that
 * user's only user, and so on. The product is rebuilt with the factors that it found, at the
 * position of the last node of the chain. Scales before a product look ahead for it, and leave their
 * factors with it. A rectifier may be in between if the factors are above 0: it commutes with them. */
#include "graph/fold_scale.h"

#include <math.h>
#include <string.h>

#include "graph/match.h"
#include "ir/copy.h"
#include "ir/element.h"
#include "ir/op.h"

typedef struct fold_scale {
  wick_match k;
  wick_copier c;
  wick_arena *mem;
  wick_value *became; /* per old value: its replacement, if it is the end of a chain */
  bool *gone;         /* per old value: it is inside a chain */
  uint32_t made;      /* the number of the newest weights */
  const double *
      *before; /* per result of a product: the factors of its operand's channels, or NULL */
} fold_scale;

/* y = scale * (the product without its bias) + shift, per channel. */
typedef struct fold_scale_chain {
  uint32_t rank, axis; /* of the result */
  int64_t channels;
  double *scale, *shift, *step;
  bool scaled;
  const wick_node *rectifier; /* inside the chain; NULL: none */
  const wick_node *last;      /* NULL: nothing to fold */
} fold_scale_chain;

/* Returns true if products of ordinary numbers by c neither overflow nor lose digits in f32. */
static bool fold_scale_is_moderate(double c) { return fabs(c) > 1e-30 && fabs(c) < 1e30; }

/* ---- the chain ---- */

/* Reads one node of the chain: *k is the operand that is the chain's value, and ch->step gets the
 * other one. */
static bool fold_scale_operand(const fold_scale *s, const wick_node *n, wick_value x,
                               fold_scale_chain *ch, uint32_t *k)
{
  *k = n->in[0].id == x.id ? 0 : 1;
  if (n->nin == 1) return true;
  return n->nin == 2 && n->in[1 - *k].id != x.id &&
         wick_match_along(&s->k, n->in[1 - *k], ch->rank, ch->axis, ch->channels, ch->step);
}

static bool fold_scale_apply(fold_scale_chain *ch, wick_opcode op, uint32_t k)
{
  bool finite = true;
  for (int64_t i = 0; i < ch->channels; i++) {
    double a = ch->scale[i], b = ch->shift[i], c = op == WICK_OP_neg ? 0 : ch->step[i];
    switch (op) {
    case WICK_OP_add: b += c; break;
    case WICK_OP_sub: a = k ? -a : a, b = k ? c - b : b - c; break;
    case WICK_OP_mul: a *= c, b *= c; break;
    case WICK_OP_div: a /= c, b /= c; break;
    default: a = -a, b = -b; break;
    }
    finite = finite && isfinite(a) && isfinite(b);
    ch->step[i] = a;
    ch->shift[ch->channels + i] = b; /* copied when all are known */
  }
  if (!finite) return false;
  memcpy(ch->scale, ch->step, (size_t)ch->channels * sizeof *ch->scale);
  memcpy(ch->shift, ch->shift + ch->channels, (size_t)ch->channels * sizeof *ch->shift);
  ch->scaled = ch->scaled || op == WICK_OP_mul || op == WICK_OP_div || op == WICK_OP_neg || k == 1;
  return true;
}

/* Returns true if f(c * x) = c * f(x) for all c above 0. */
static bool fold_scale_is_rectifier(const wick_node *n)
{
  return n->op == WICK_OP_relu || n->op == WICK_OP_leaky_relu;
}

static bool fold_scale_is_positive(const fold_scale_chain *ch)
{
  for (int64_t i = 0; i < ch->channels; i++)
    if (!(ch->step[i] > 0)) return false;
  return true;
}

/* Follows the chain of only users from n's result. */
static void fold_scale_follow(const fold_scale *s, const wick_node *n, fold_scale_chain *ch)
{
  wick_type type = wick_type_of(s->k.f, n->first);
  const wick_node *rectifier = NULL;
  for (const wick_node *at = n;;) {
    uint32_t k;
    const wick_node *u = wick_match_user(&s->k, at->first);
    if (!u || u->nout != 1 || !wick_type_eq(wick_type_of(s->k.f, u->first), type)) return;
    bool linear = u->op == WICK_OP_add || u->op == WICK_OP_sub || u->op == WICK_OP_mul ||
                  u->op == WICK_OP_neg || u->op == WICK_OP_div;
    if (fold_scale_is_rectifier(u) && !rectifier) {
      rectifier = at = u;
      continue;
    }
    if (!linear || !fold_scale_operand(s, u, at->first, ch, &k)) return;
    if (u->op == WICK_OP_div && k == 1) return;
    bool scales = u->op == WICK_OP_mul || u->op == WICK_OP_div;
    if (rectifier && (!scales || !fold_scale_is_positive(ch))) return;
    if (!fold_scale_apply(ch, u->op, u->op == WICK_OP_sub ? k : 0)) return;
    ch->last = at = u;
    ch->rectifier = rectifier;
  }
}

/* ---- the product ---- */

/* The layout of the channels in the weights, which have [outer, n, inner] elements. Middle index m
 * within group g of the outer indices belongs to channel g * n + m. */
typedef struct fold_scale_weights {
  const wick_constant *w;
  uint32_t constant; /* the number of the constant */
  int64_t outer, n, inner, groups;
} fold_scale_weights;

/* Returns true if n is a product with constant weights. Finds the channels of the chain, and their
 * layout in the weights. */
static bool fold_scale_product(const fold_scale *s, const wick_node *n, fold_scale_chain *ch,
                               fold_scale_weights *w)
{
  int64_t d[WICK_MAX_RANK];
  bool conv = n->op == WICK_OP_conv, transposed = n->op == WICK_OP_conv_transpose;
  if (!conv && !transposed && n->op != WICK_OP_matmul) return false;
  const wick_type_info *r = wick_info_of(s->k.f, n->first), *t = wick_info_of(s->k.f, n->in[1]);
  *w = (fold_scale_weights){.w = wick_match_constant(&s->k, n->in[1]), .groups = 1};
  if (!w->w || !wick_elem_is_float(r->elem) || !wick_type_const_dims(t, d)) return false;
  if (!conv && !transposed && (t->rank != 2 || r->rank < 2)) return false;
  ch->rank = r->rank;
  ch->axis = conv || transposed ? 1 : r->rank - 1u;
  if (!wick_dim_is_const(r->dim[ch->axis])) return false;
  ch->channels = r->dim[ch->axis].v;
  w->outer = conv ? 1 : d[0];
  w->n = d[conv ? 0 : 1];
  w->inner = 1;
  for (uint32_t k = conv ? 1 : 2; k < t->rank; k++) w->inner *= d[k];
  if (transposed) w->groups = n->attr[WICK_ATTR_conv_transpose_group].i;
  w->constant = wick_match_imm(&s->k, n->in[1])->constant;
  return true;
}

static wick_value fold_scale_constant(fold_scale *s, const char *name, wick_type type, void *data)
{
  uint64_t nbytes = 0;
  wick_module *m = s->k.f->module;
  wick_type_nbytes(m, type, &nbytes);
  return wick_build_constant(&s->c.b, wick_constant_add(m, name, type, data, nbytes));
}

typedef struct fold_scale_deferred {
  wick_deferred_constant r; /* one part for each outer index and middle index */
  wick_elem elem;
  fold_scale_weights w;
  const double *scale;
} fold_scale_deferred;

static void fold_scale_make(const wick_deferred_constant *r, const void *from, uint32_t part,
                            void *to)
{
  const fold_scale_deferred *x = (const fold_scale_deferred *)(const void *)r;
  const fold_scale_weights *w = &x->w;
  int64_t outer = part / w->n, middle = part % w->n;
  double f = x->scale[outer / (w->outer / w->groups) * w->n + middle];
  uint64_t at = part * (uint64_t)w->inner, end = at + (uint64_t)w->inner;
  for (uint64_t i = at; i < end; i++)
    if (x->elem == WICK_F32) { /* most weights; the compiler makes a separate loop for it */
      float y;
      memcpy(&y, (const char *)from + 4 * i, 4);
      ((float *)to)[i] = (float)((double)y * f);
    } else {
      wick_store_elem(x->elem, to, i, (wick_scalar){.f = wick_load_elem(x->elem, from, i).f * f});
    }
}

static wick_value fold_scale_new_weights(fold_scale *s, const fold_scale_weights *w,
                                         const double *scale)
{
  wick_module *m = s->k.f->module;
  const wick_constant *k = w->w;
  fold_scale_deferred *x = wick_new(&m->mem, fold_scale_deferred, 1);
  *x = (fold_scale_deferred){.elem = wick_type_get(m, k->type)->elem, .w = *w};
  x->r = (wick_deferred_constant){w->constant, (uint32_t)(w->outer * w->n), x, fold_scale_make};
  x->scale = wick_dup(&m->mem, double, scale, (size_t)(w->groups * w->n));
  const char *name = wick_str_printf(s->mem, "%s.scaled", k->name);
  s->made = wick_constant_defer(m, name, k->type, k->nbytes, &x->r);
  return wick_build_constant(&s->c.b, s->made);
}

static wick_value fold_scale_shift(fold_scale *s, const fold_scale_chain *ch, const char *name,
                                   wick_elem e)
{
  wick_module *m = s->k.f->module;
  void *data = wick_arena_alloc(&m->mem, wick_elem_bytes(e, (uint64_t)ch->channels), 64);
  for (int64_t i = 0; i < ch->channels; i++)
    wick_store_elem(e, data, (uint64_t)i, (wick_scalar){.f = ch->shift[i]});
  return fold_scale_constant(s, wick_str_printf(s->mem, "%s.shift", name),
                             wick_type_tensor_const(m, e, 1, &ch->channels), data);
}

static wick_value fold_scale_build(fold_scale *s, const wick_node *n, const fold_scale_chain *ch,
                                   const fold_scale_weights *w, wick_value weights)
{
  wick_builder *b = &s->c.b;
  wick_elem e = wick_info_of(s->k.f, n->first)->elem;
  bool shifted = false, product = n->op == WICK_OP_matmul;
  for (int64_t i = 0; i < ch->channels; i++) shifted = shifted || ch->shift[i] != 0;
  b->loc = n->loc;
  wick_value in[3] = {s->c.to[n->in[0].id],
                      ch->scaled ? fold_scale_new_weights(s, w, ch->scale) : weights};
  if (shifted && !product) in[2] = fold_scale_shift(s, ch, w->w->name, e);
  wick_value y = wick_build(b, n->op, in[2].id ? 3 : 2, in, n->nattr ? n->attr : NULL, 0, NULL);
  if (shifted && product)
    y = wick_build2(b, WICK_OP_add, y, fold_scale_shift(s, ch, w->w->name, e));
  return ch->rectifier ? wick_copy_with(b, s->k.f, ch->rectifier, &y) : y;
}

/* ---- scales before a product ---- */

/* The layout of the operand's channels in the product's weights. */
static fold_scale_weights fold_scale_weights_before(const fold_scale *s, const wick_node *n,
                                                    const fold_scale_weights *own)
{
  int64_t d[WICK_MAX_RANK];
  fold_scale_weights w = *own;
  const wick_type_info *t = wick_info_of(s->k.f, n->in[1]);
  wick_type_const_dims(t, d);
  bool conv = n->op == WICK_OP_conv;
  w.groups = conv ? n->attr[WICK_ATTR_conv_group].i : 1;
  w.outer = conv ? d[0] : 1, w.n = d[conv ? 1 : 0], w.inner = 1;
  for (uint32_t k = conv ? 2 : 1; k < t->rank; k++) w.inner *= d[k];
  return w;
}

/* Removes a product by factors that vary only along the channels of the only user, a product with
 * constant weights, which gets the factors. */
static bool fold_scale_before(fold_scale *s, const wick_node *n)
{
  fold_scale_chain ch = {0};
  fold_scale_weights w;
  if (n->op != WICK_OP_mul && n->op != WICK_OP_div) return false;
  const wick_node *rectifier = NULL, *u = wick_match_user(&s->k, n->first);
  wick_value v = n->first;
  if (u && fold_scale_is_rectifier(u)) rectifier = u, v = u->first, u = wick_match_user(&s->k, v);
  if (!u || u->nout != 1 || u->nin < 2 || u->in[0].id != v.id || u->in[1].id == v.id ||
      !fold_scale_product(s, u, &ch, &w))
    return false;
  const wick_type_info *t = wick_info_of(s->k.f, v);
  ch.rank = t->rank, ch.axis = u->op == WICK_OP_matmul ? t->rank - 1u : 1;
  /* the weights of a narrow range, as those of f16, could overflow or lose digits */
  if (!wick_dim_is_const(t->dim[ch.axis]) || t->elem == WICK_F16) return false;
  ch.channels = t->dim[ch.axis].v;
  ch.step = wick_new(s->mem, double, (size_t)ch.channels);
  uint32_t k = wick_type_eq(wick_type_of(s->k.f, n->in[0]), wick_type_of(s->k.f, v)) ? 0 : 1;
  for (;; k++) { /* the other operand has the factors */
    if (k > 1 || (k && n->op == WICK_OP_div)) return false;
    if (wick_type_eq(wick_type_of(s->k.f, n->in[k]), wick_type_of(s->k.f, v)) &&
        wick_match_along(&s->k, n->in[1 - k], ch.rank, ch.axis, ch.channels, ch.step))
      break;
  }
  for (int64_t i = 0; i < ch.channels; i++) {
    if (n->op == WICK_OP_div) ch.step[i] = 1 / ch.step[i];
    if (!fold_scale_is_moderate(ch.step[i])) return false;
  }
  if (rectifier && !fold_scale_is_positive(&ch)) return false;
  s->before[u->first.id] = ch.step;
  s->c.to[n->first.id] = s->c.to[n->in[k].id];
  return true;
}

/* Returns true if a chain after n begins that can be folded. */
static bool fold_scale_after(fold_scale *s, const wick_node *n, fold_scale_chain *ch)
{
  ch->scale = wick_new(s->mem, double, (size_t)ch->channels);
  ch->shift = wick_new(s->mem, double, 2 * (size_t)ch->channels);
  ch->step = wick_new(s->mem, double, (size_t)ch->channels);
  for (int64_t i = 0; i < ch->channels; i++) ch->scale[i] = 1;
  if (n->nin > 2 && n->in[2].id &&
      !wick_match_along(&s->k, n->in[2], 1, 0, ch->channels, ch->shift))
    return false;
  fold_scale_follow(s, n, ch);
  return ch->last && (n->op != WICK_OP_matmul || ch->scaled);
}

/* Rebuilds n with the factors before it and the chain after it. Returns false if there are none. */
static bool fold_scale_node(fold_scale *s, const wick_node *n)
{
  fold_scale_chain ch = {0};
  fold_scale_weights w;
  if (n->nin < 2 || !fold_scale_product(s, n, &ch, &w)) return false;
  const double *before = s->before[n->first.id];
  wick_value weights = s->c.to[n->in[1].id];
  s->c.b.loc = n->loc;
  if (before) {
    fold_scale_weights first = fold_scale_weights_before(s, n, &w);
    weights = fold_scale_new_weights(s, &first, before);
    w.constant = s->made;
  }
  if (fold_scale_after(s, n, &ch)) {
    for (const wick_node *at = n; at != ch.last; at = wick_match_user(&s->k, at->first))
      s->gone[at->first.id] = true;
    wick_value y = s->became[ch.last->first.id] = fold_scale_build(s, n, &ch, &w, weights);
    const wick_value_info *old = &s->k.f->value[ch.last->first.id];
    if (y.id) wick_build_name(&s->c.b, y, old->name, old->relation);
    return true;
  }
  if (!before) return false;
  wick_value in[3] = {s->c.to[n->in[0].id], weights};
  if (n->nin > 2) in[2] = s->c.to[n->in[2].id];
  s->c.to[n->first.id] = wick_copy_with(&s->c.b, s->k.f, n, in);
  return true;
}

/* ---- quotients ---- */

/* Rewrites x / c as x * (1 / c) if only functions with a stated error read the quotient. None of
 * them is discontinuous, as floor is. */
static bool fold_scale_quotient(fold_scale *s, const wick_node *n)
{
  double c;
  wick_elem e = wick_info_of(s->k.f, n->first)->elem;
  if (n->op != WICK_OP_div || (e != WICK_F32 && e != WICK_F64)) return false;
  if (!wick_match_number(&s->k, n->in[1], &c) || !fold_scale_is_moderate(c)) return false;
  uint32_t first = s->k.uses.first[n->first.id], end = s->k.uses.first[n->first.id + 1];
  for (uint32_t u = first; u < end; u++)
    if (!(wick_op_of(&s->k.f->node[s->k.uses.use[u]])->ulp > 0)) return false;
  if (first == end) return false;
  wick_builder *b = &s->c.b;
  b->loc = n->loc;
  wick_value x = s->c.to[n->in[0].id];
  wick_value k = wick_build_const(b, wick_built_type(b, s->c.to[n->in[1].id]),
                                  e == WICK_F32 ? (float)(1 / c) : 1 / c, 0);
  s->c.to[n->first.id] = wick_build2(b, WICK_OP_mul, x, k);
  return true;
}

/* Returns true if the reciprocals of v's elements are neither infinite nor below the normal range
 * unless v's are 0 or infinite: v is a square root, or the larger one of a root and a number, or
 * copies of such. */
static bool fold_scale_is_root(const fold_scale *s, wick_value v)
{
  enum { DEEP = 4 };
  for (uint32_t i = 0; i < DEEP; i++) {
    double c;
    const wick_node *n = wick_match_node(&s->k, v);
    if (!n) return false;
    if (n->op == WICK_OP_sqrt) return true;
    if (n->op == WICK_OP_max || n->op == WICK_OP_add) {
      uint32_t k = wick_match_number(&s->k, n->in[1], &c) ? 1 : 0;
      if (!wick_match_number(&s->k, n->in[k], &c) || !(c >= 0 && c < 1e18)) return false;
      v = n->in[1 - k];
    } else if (n->op == WICK_OP_broadcast_to || n->op == WICK_OP_reshape) {
      v = n->in[0];
    } else {
      return false;
    }
  }
  return false;
}

/* Rewrites x / r as x * (1 / r) if r is a root with fewer elements, as in norms: a division takes as
 * long as several products. */
static bool fold_scale_by_root(fold_scale *s, const wick_node *n)
{
  const wick_func *f = s->k.f;
  wick_elem e = wick_info_of(f, n->first)->elem;
  if (n->op != WICK_OP_div || (e != WICK_F32 && e != WICK_F64) || !fold_scale_is_root(s, n->in[1]))
    return false;
  wick_value r = n->in[1];
  const wick_node *copies = wick_match_op(&s->k, r, WICK_OP_broadcast_to);
  if (copies) r = copies->in[0];
  const wick_type_info *t = wick_info_of(f, r), *to = wick_info_of(f, n->first);
  wick_type x = wick_type_of(f, n->in[0]);
  if (!wick_type_eq(x, wick_type_of(f, n->first)) || t->rank > to->rank || !t->rank ||
      !wick_dim_is(t->dim[t->rank - 1], 1) || wick_dim_is(to->dim[to->rank - 1], 1))
    return false;
  s->c.b.loc = n->loc;
  wick_value one = wick_build1(&s->c.b, WICK_OP_reciprocal, s->c.to[r.id]);
  s->c.to[n->first.id] = wick_build2(&s->c.b, WICK_OP_mul, s->c.to[n->in[0].id], one);
  return true;
}

wick_status wick_pass_fold_scale(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  fold_scale s = {.k = wick_match_begin(f, mem), .mem = mem};
  s.c = wick_copy_begin(f, mem);
  s.became = wick_new(mem, wick_value, f->nvalue + 1);
  s.gone = wick_new(mem, bool, f->nvalue + 1);
  s.before = wick_new(mem, const double *, f->nvalue + 1);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->nout == 1 && s.became[n->first.id].id)
      s.c.to[n->first.id] = s.became[n->first.id];
    else if (n->nout == 1 && s.gone[n->first.id])
      continue;
    else if (n->nout != 1 || n->nregion ||
             (!fold_scale_node(&s, n) && !fold_scale_before(&s, n) && !fold_scale_quotient(&s, n) &&
              !fold_scale_by_root(&s, n)))
      wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
