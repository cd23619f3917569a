/* Rewrites products of dequantized numbers: the product of the integers is multiplied by the
 * product of the scales. */
#include "graph/fuse_qdq.h"

#include "ir/rewrite.h"

static wick_elem fuse_qdq_elem(const wick_rewriter *r, wick_value v)
{
  return wick_rewrite_info(r, v)->elem;
}

/* Returns true if v is an i32 that was converted from 8 bits. */
static bool fuse_qdq_is_byte(wick_rewriter *r, wick_value v)
{
  wick_node cast;
  if (!wick_rewrite_def(r, v, WICK_OP_cast, &cast) || fuse_qdq_elem(r, v) != WICK_I32) return false;
  wick_elem e = fuse_qdq_elem(r, cast.in[0]);
  return e == WICK_U8 || e == WICK_I8;
}

/* Returns true if the factor is an f32 of the integer's rank, and the integer is a byte or a
 * difference of bytes. */
static bool fuse_qdq_is_factor(wick_rewriter *r, wick_value factor, wick_value integer)
{
  wick_node sub;
  if (fuse_qdq_elem(r, factor) != WICK_F32 ||
      wick_rewrite_info(r, factor)->rank != wick_rewrite_info(r, integer)->rank)
    return false;
  return wick_rewrite_def(r, integer, WICK_OP_sub, &sub)
             ? fuse_qdq_is_byte(r, sub.in[0]) && fuse_qdq_is_byte(r, sub.in[1])
             : fuse_qdq_is_byte(r, integer);
}

static bool fuse_qdq_is_one(const wick_rewriter *r, wick_value scale)
{
  return wick_dim_is(wick_type_numel(r->c.f->module, wick_built_type(&r->c.b, scale)), 1);
}

/* Returns true if the scale of w, which has that rank, is one number, or varies only along `axis`,
 * over its whole extent. */
static bool fuse_qdq_is_along(const wick_rewriter *r, wick_value scale, uint32_t rank,
                              uint32_t axis)
{
  const wick_type_info *t = wick_rewrite_info(r, scale);
  if (fuse_qdq_is_one(r, scale)) return true;
  for (uint32_t k = 0; k < t->rank; k++)
    if (k + rank != axis + t->rank && !wick_dim_is(t->dim[k], 1)) return false;
  return true;
}

/* Returns true if sums of `n` products of differences of bytes cannot exceed i32. */
static bool fuse_qdq_fits(wick_dim n)
{
  enum { MOST = 255 + 128 };
  return wick_dim_is_const(n) && n.v <= INT32_MAX / (MOST * MOST);
}

static bool fuse_qdq_is_product(wick_rewriter *r)
{
  bool conv = r->node->op == WICK_OP_conv;
  const wick_type_info *t = wick_rewrite_info(r, r->in[1]);
  if (!fuse_qdq_is_factor(r, r->in[0], wick_rewrite_var(r, 'x')) ||
      !fuse_qdq_is_factor(r, r->in[1], wick_rewrite_var(r, 'w')) ||
      !fuse_qdq_is_one(r, wick_rewrite_var(r, 'a')))
    return false;
  wick_dim terms = wick_dim_const(1);
  for (uint32_t k = 1; k < t->rank && conv; k++)
    terms = wick_dim_mul(r->c.f->module->dims, terms, t->dim[k]);
  if (!conv) terms = t->rank == 2 ? t->dim[0] : WICK_DIM_INVALID;
  return fuse_qdq_fits(terms) &&
         fuse_qdq_is_along(r, wick_rewrite_var(r, 'b'), t->rank, conv ? 0 : 1);
}

/* Reshapes numbers along one axis of a result to [n, 1, .., 1]. */
static wick_value fuse_qdq_along(wick_builder *b, wick_value v, uint32_t behind)
{
  wick_dim dim[WICK_MAX_RANK] = {wick_type_numel(b->module, wick_built_type(b, v))};
  for (uint32_t k = 1; k <= behind; k++) dim[k] = wick_dim_const(1);
  return wick_build_reshape(b, v, wick_dim_is(dim[0], 1) ? 1 : behind + 1, dim);
}

static wick_value fuse_qdq_build(wick_rewriter *r)
{
  wick_builder *b = &r->c.b;
  const wick_node *n = r->node;
  uint32_t behind = n->op == WICK_OP_conv ? wick_rewrite_info(r, r->in[1])->rank - 2u : 0;
  wick_value in[2] = {wick_rewrite_var(r, 'x'), wick_rewrite_var(r, 'w')},
             bias = wick_rewrite_var(r, 'c'), sum = wick_build(b, n->op, 2, in, n->attr, 0, NULL);
  wick_value scale = fuse_qdq_along(b, wick_rewrite_var(r, 'b'), behind),
             one = fuse_qdq_along(b, wick_rewrite_var(r, 'a'), 0);
  scale = wick_build2(b, WICK_OP_mul, one, scale);
  wick_value y = wick_build2(b, WICK_OP_mul, wick_build_cast(b, sum, WICK_F32), scale);
  return bias.id ? wick_build2(b, WICK_OP_add, y, fuse_qdq_along(b, bias, behind)) : y;
}

static const wick_rewrite fuse_qdq_rules[] = {
    {"matmul(mul(cast(x), a), mul(cast(w), b))", NULL, fuse_qdq_is_product, fuse_qdq_build},
    {"conv(mul(cast(x), a), mul(cast(w), b))", NULL, fuse_qdq_is_product, fuse_qdq_build},
    {"conv(mul(cast(x), a), mul(cast(w), b), c)", NULL, fuse_qdq_is_product, fuse_qdq_build},
    {NULL, NULL, NULL, NULL},
};

wick_status wick_pass_fuse_qdq(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  return wick_rewrite_pass(fuse_qdq_rules, f, pass->mem, out);
}
