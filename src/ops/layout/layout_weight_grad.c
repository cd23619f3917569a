/* Derivatives of convolutions with respect to their weights, with lanes along the channels of the
 * result's cotangent. */
#include "ops/layout/layout.h"

enum {
  WEIGHT_GRAD_POSITIONS = 256, /* fewest positions of a part */
  WEIGHT_GRAD_TASKS = 64,      /* tasks of the kernel, if parts can make as many */
  WEIGHT_GRAD_TILE = 16        /* vectors of the result that a task sums at once */
};

typedef struct layout_weight_grad {
  const wick_node *n;
  wick_elem elem;
  int64_t x[WICK_MAX_RANK], g[WICK_MAX_RANK], group;
  bool apart;       /* each channel is a group, with one channel of g */
  wick_order order; /* of g */
} layout_weight_grad;

static int64_t weight_grad_numel(const int64_t *dim, uint32_t first, uint32_t end)
{
  int64_t n = 1;
  for (uint32_t k = first; k < end; k++) n *= dim[k];
  return n;
}

/* Chooses the number of parts, by the sizes alone: the operands of a part stay in the second cache
 * while all weights are summed, and there are enough tasks. */
static int64_t weight_grad_parts(const wick_layouts *s, const layout_weight_grad *v)
{
  const wick_attr *kernel = &v->n->attr[WICK_ATTR_conv_weight_grad_kernel];
  uint32_t rank = kernel->n + 2;
  int64_t size = (int64_t)wick_elem_bytes(v->elem, 1), images = wick_max_i64(v->x[0], 1),
          positions = weight_grad_numel(v->g, 2, rank),
          vectors = wick_order_places(&v->order) / v->order.block * (v->x[1] / v->group),
          bytes = size * (weight_grad_numel(v->x, 0, rank) + weight_grad_numel(v->g, 0, rank)),
          near = (int64_t)wick_target_cache(s->target, 2) / 2;
  for (uint32_t k = 0; k < kernel->n; k++) vectors *= kernel->ints[k];
  int64_t tasks = wick_ceildiv_i64(vectors, WEIGHT_GRAD_TILE),
          least = wick_max_i64(wick_ceildiv_i64(bytes, near),
                               wick_ceildiv_i64(WEIGHT_GRAD_TASKS, tasks)),
          most = wick_min_i64(images * positions / WEIGHT_GRAD_POSITIONS,
                              bytes / (size * vectors * v->order.block)),
          parts = 1;
  for (int64_t p = 1; p <= wick_min_i64(images, most) && parts < least; p++)
    if (images % p == 0) parts = p;
  return parts;
}

/* Chooses blocks of g. Returns false if the channels of a group leave most lanes empty. */
static bool weight_grad_order(const wick_layouts *s, layout_weight_grad *v)
{
  int64_t block = s->target->vector_bytes / (int64_t)wick_elem_bytes(v->elem, 1),
          per_group = v->g[1] / v->group;
  v->apart = v->group > 1 && v->x[1] == v->group && per_group == 1;
  if (v->apart) per_group = v->group;
  while (block > 4 && block / 2 >= per_group) block /= 2;
  v->order = wick_order_make(v->g[1], v->apart ? 1 : v->group, block, false);
  return block > 1 && v->x[1] && v->g[1] && wick_order_places(&v->order) <= 2 * v->g[1];
}

static wick_value weight_grad_pack(wick_layouts *s, const layout_weight_grad *v, wick_value x,
                                   const wick_order *o)
{
  if (o->block == s->block && v->elem == WICK_F32 && wick_layout_is_image(s, x))
    return wick_layout_pack(s, x, o);
  return wick_build_pack(&s->c.b, wick_layout_plain(s, x), 1, o);
}

/* Returns the order of x if it is in blocks that its channels fill, or not plain. */
static const wick_order *weight_grad_blocks(const wick_layouts *s, const layout_weight_grad *v)
{
  wick_value x = v->n->in[0];
  const wick_order *o = wick_layout_order(s, x);
  bool full = o && 2 * wick_order_places(o) <= 3 * v->x[1];
  return o && v->group == 1 && (full || !s->c.to[x.id].id) ? o : NULL;
}

/* Adds the parts. */
static wick_value weight_grad_sum(wick_builder *b, wick_value y)
{
  const wick_type_info *t = wick_built_info(b, y);
  int64_t first = 0;
  wick_attr sum[] = {[WICK_ATTR_reduce_sum_axes] = {.n = 1, .ints = &first},
                     [WICK_ATTR_reduce_sum_keepdims] = {.i = 0}};
  return wick_dim_is(t->dim[0], 1) ? wick_build_reshape(b, y, t->rank - 1u, t->dim + 1)
                                   : wick_build(b, WICK_OP_reduce_sum, 1, &y, sum, 0, NULL);
}

/* Moves the channels of blocks to their axes. If all places are channels, this is a single
 * transposition of [OB, C or CB, taps.., (ci), co]. */
static wick_value weight_grad_whole(wick_layouts *s, const layout_weight_grad *v, wick_value y,
                                    const wick_order *x)
{
  wick_builder *b = &s->c.b;
  if (b->status) return y;
  y = weight_grad_sum(b, y);
  const wick_type_info *type = wick_layout_info(s, v->n->first);
  bool whole = wick_order_places(&v->order) == v->g[1] &&
               (!x || (x->parts == 1 && wick_order_places(x) == v->x[1]));
  if (b->status) return y;
  if (!whole) {
    y = wick_build_unpack(b, y, 0, &v->order);
    if (x) y = wick_build_unpack(b, y, 1, x);
    return v->apart ? wick_build_reshape(b, y, type->rank, type->dim) : y;
  }
  uint32_t rank = wick_built_info(b, y)->rank, n = 2, lanes = x ? 2 : 1;
  int64_t perm[WICK_MAX_RANK] = {0, rank - 1};
  if (!v->apart) perm[n++] = 1;
  if (x) perm[n++] = rank - 2;
  for (uint32_t k = v->apart ? 1 : 2; k < rank - lanes; k++) perm[n++] = k;
  return wick_build_reshape(b, wick_build_transpose(b, y, rank, perm), type->rank, type->dim);
}

bool wick_layout_conv_weight_grad(wick_layouts *s, const wick_node *n)
{
  const wick_type_info *x = wick_layout_info(s, n->in[0]), *g = wick_layout_info(s, n->in[1]);
  layout_weight_grad v = {
      .n = n, .elem = x->elem, .group = n->attr[WICK_ATTR_conv_weight_grad_group].i};
  bool floats = v.elem == WICK_F32 || v.elem == WICK_F64;
  if (!floats || !wick_type_const_dims(x, v.x) || !wick_type_const_dims(g, v.g) ||
      !weight_grad_order(s, &v))
    return false;
  wick_attr a[WICK_MAX_ATTR] = {{0}};
  for (uint32_t k = 0; k <= WICK_ATTR_conv_weight_grad_kernel; k++) a[k] = n->attr[k];
  a[WICK_ATTR_conv_weight_grad_packed_parts].i = weight_grad_parts(s, &v);
  const wick_order *blocks = weight_grad_blocks(s, &v);
  wick_order own = blocks ? *blocks : v.order;
  wick_value in[2];
  in[0] =
      v.apart || blocks ? weight_grad_pack(s, &v, n->in[0], &own) : wick_layout_plain(s, n->in[0]);
  in[1] = weight_grad_pack(s, &v, n->in[1], &v.order);
  wick_value y = wick_build(&s->c.b, WICK_OP_conv_weight_grad_packed, 2, in, a, 0, NULL);
  s->c.to[n->first.id] = weight_grad_whole(s, &v, y, blocks ? &own : NULL);
  return true;
}
