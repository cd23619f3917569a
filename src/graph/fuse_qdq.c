/* One traversal. Each convolution and matrix product examines the nodes that compute its factors.
 */
#include "graph/fuse_qdq.h"

#include "ir/copy.h"
typedef struct quantized {
  const wick_func *f;
  const uint32_t *definer;
  wick_copier c;
} quantized;

typedef struct fuse_qdq_factor {
  wick_value whole, scale; /* an i32 and an f32, of the old function */
} fuse_qdq_factor;

static const wick_node *fuse_qdq_def(const quantized *s, wick_value v, wick_opcode op)
{
  uint32_t d = v.id ? s->definer[v.id] : UINT32_MAX;
  return d != UINT32_MAX && s->f->node[d].op == op ? &s->f->node[d] : NULL;
}

static wick_elem fuse_qdq_elem(const quantized *s, wick_value v)
{
  return wick_info_of(s->f, v)->elem;
}

/* An i32 that was 8 bits. */
static bool fuse_qdq_byte(const quantized *s, wick_value v)
{
  const wick_node *n = fuse_qdq_def(s, v, WICK_OP_cast);
  if (!n || fuse_qdq_elem(s, v) != WICK_I32) return false;
  wick_elem e = fuse_qdq_elem(s, n->in[0]);
  return e == WICK_U8 || e == WICK_I8;
}

/* v is an integer times a scale. */
static bool fuse_qdq_of(const quantized *s, wick_value v, fuse_qdq_factor *out)
{
  const wick_node *mul = fuse_qdq_def(s, v, WICK_OP_mul),
                  *cast = mul ? fuse_qdq_def(s, mul->in[0], WICK_OP_cast) : NULL;
  if (!cast || fuse_qdq_elem(s, v) != WICK_F32) return false;
  *out = (fuse_qdq_factor){cast->in[0], mul->in[1]};
  const wick_node *sub = fuse_qdq_def(s, out->whole, WICK_OP_sub);
  bool same = wick_info_of(s->f, v)->rank == wick_info_of(s->f, out->whole)->rank;
  return same && (sub ? fuse_qdq_byte(s, sub->in[0]) && fuse_qdq_byte(s, sub->in[1])
                      : fuse_qdq_byte(s, out->whole));
}

static bool fuse_qdq_one(const quantized *s, wick_value scale)
{
  return wick_dim_is(wick_type_numel(s->f->module, wick_type_of(s->f, scale)), 1);
}

/* The scale of w, of that rank, is one number, or varies along `axis` alone, to its end. */
static bool fuse_qdq_along(const quantized *s, wick_value scale, uint32_t rank, uint32_t axis)
{
  const wick_type_info *t = wick_info_of(s->f, scale);
  if (fuse_qdq_one(s, scale)) return true;
  for (uint32_t k = 0; k < t->rank; k++)
    if (k + rank != axis + t->rank && !wick_dim_is(t->dim[k], 1)) return false;
  return true;
}

/* Sums of `n` products of differences of bytes stay within i32. */
static bool fuse_qdq_fits(wick_dim n)
{
  enum { MOST = 255 + 128 };
  return wick_dim_is_const(n) && n.v <= INT32_MAX / (MOST * MOST);
}

/* Numbers along one axis of a result: [n, 1, .., 1]. */
static wick_value fuse_qdq_row(quantized *s, wick_value v, uint32_t behind)
{
  wick_builder *b = &s->c.b;
  wick_dim dim[WICK_MAX_RANK] = {wick_type_numel(b->module, wick_built_type(b, v))};
  for (uint32_t k = 1; k <= behind; k++) dim[k] = wick_dim_const(1);
  if (wick_dim_is(dim[0], 1)) behind = 0;
  wick_attr a = {.n = behind + 1, .dims = dim};
  return wick_build(b, WICK_OP_reshape, 1, &v, &a, 0, NULL);
}

static wick_value fuse_qdq_scaled(quantized *s, const wick_node *n, const fuse_qdq_factor *x,
                                  const fuse_qdq_factor *w, uint32_t behind)
{
  wick_builder *b = &s->c.b;
  wick_value in[2] = {s->c.to[x->whole.id], s->c.to[w->whole.id]},
             sum = wick_build(b, n->op, 2, in, n->attr, 0, NULL);
  wick_value scale = fuse_qdq_row(s, s->c.to[w->scale.id], behind),
             one = fuse_qdq_row(s, s->c.to[x->scale.id], 0);
  scale = wick_build2(b, WICK_OP_mul, one, scale);
  return wick_build2(b, WICK_OP_mul, wick_build_cast(b, sum, WICK_F32), scale);
}

static wick_value fuse_qdq_node(quantized *s, const wick_node *n)
{
  fuse_qdq_factor x, w;
  bool conv = n->op == WICK_OP_conv;
  if ((!conv && n->op != WICK_OP_matmul) || !fuse_qdq_of(s, n->in[0], &x) ||
      !fuse_qdq_of(s, n->in[1], &w) || !fuse_qdq_one(s, x.scale))
    return (wick_value){0};
  const wick_type_info *t = wick_info_of(s->f, n->in[1]);
  wick_dim terms = wick_dim_const(1);
  for (uint32_t k = 1; k < t->rank && conv; k++)
    terms = wick_dim_mul(s->f->module->dims, terms, t->dim[k]);
  if (!conv) terms = t->rank == 2 ? t->dim[0] : WICK_DIM_INVALID;
  if (!fuse_qdq_fits(terms) || !fuse_qdq_along(s, w.scale, t->rank, conv ? 0 : 1))
    return (wick_value){0};
  s->c.b.loc = n->loc;
  wick_value y = fuse_qdq_scaled(s, n, &x, &w, conv ? t->rank - 2u : 0);
  if (n->nin < 3 || !n->in[2].id) return y;
  wick_value bias = fuse_qdq_row(s, s->c.to[n->in[2].id], t->rank - 2u);
  return wick_build2(&s->c.b, WICK_OP_add, y, bias);
}

wick_status wick_pass_fuse_qdq(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *mem = pass->mem;
  quantized s = {.f = f, .definer = wick_definers_of(f, mem)};
  s.c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    wick_value y = fuse_qdq_node(&s, n);
    if (y.id)
      s.c.to[n->first.id] = y;
    else
      wick_copy_node(&s.c, n);
  }
  return wick_copy_finish(&s.c, out);
}
