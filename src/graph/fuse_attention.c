/* Fuses attention in a traversal over the products with values. Each one searches backwards to the
 * queries. */
#include "graph/fuse_attention.h"

#include <string.h>

#include "graph/match.h"
#include "ir/copy.h"

typedef struct fuse_attention_found {
  wick_value q, k, v, mask; /* k as it is multiplied: [.., d, keys]; mask 0: none */
  wick_value shaped; /* the keys after a reshape of the dimensions before the last two; 0: none */
  wick_value empty;  /* marks queries whose result is 0; 0: none */
  bool guarded;      /* the result is 0 where the weights are NaN */
  bool inverse;      /* the mask selects scores where it is false */
  double scale, fill;
  int64_t m, n, d, e; /* sizes, for the cost estimates */
  wick_dim keys;
} fuse_attention_found;

/* ---- matching ---- */

/* Returns the node that defines v, if v has one user. */
static const wick_node *fuse_attention_from(const wick_match *k, wick_value v)
{
  const wick_node *n = wick_match_node(k, v);
  return n && n->nout == 1 && wick_match_user(k, v) ? n : NULL;
}

/* Returns the operand of n that leads to the products; the other operand is the mask. It has n's
 * shape, and if both operands do, it is a node's result. 0: none. */
static wick_value fuse_attention_masked(const wick_match *k, const wick_node *n,
                                        fuse_attention_found *a)
{
  uint32_t first = n->op == WICK_OP_where;
  for (uint32_t i = 0; i < 2; i++) {
    wick_value scores = n->in[first + i], other = n->in[first + 1 - i];
    const wick_node *from = fuse_attention_from(k, scores);
    if (!from || !wick_match_same_shape(k, scores, n->first) ||
        (from->op != WICK_OP_matmul && from->op != WICK_OP_mul && from->op != WICK_OP_div))
      continue;
    if (!first) {
      a->mask = other;
      return scores;
    }
    if (!wick_match_number(k, other, &a->fill)) continue;
    a->mask = n->in[0], a->inverse = i == 1;
    return scores;
  }
  return (wick_value){0};
}

/* Follows the chain from the softmax's operand back to the product of queries and keys. Returns
 * NULL if there is none. */
static const wick_node *fuse_attention_products(const wick_match *k, wick_value v,
                                                fuse_attention_found *a)
{
  double by;
  for (const wick_node *n = fuse_attention_from(k, v); n; n = fuse_attention_from(k, v)) {
    if (n->op == WICK_OP_matmul) return n;
    if ((n->op == WICK_OP_add || n->op == WICK_OP_where) && !a->mask.id && a->scale == 1) {
      v = fuse_attention_masked(k, n, a);
      if (!v.id) return NULL;
    } else if (n->op == WICK_OP_div && wick_match_number(k, n->in[1], &by) &&
               wick_match_same_shape(k, n->in[0], n->first)) {
      a->scale /= by, v = n->in[0];
    } else if (n->op == WICK_OP_mul) {
      uint32_t number = wick_match_number(k, n->in[1], &by) ? 1 : 0;
      if (!wick_match_number(k, n->in[number], &by) ||
          !wick_match_same_shape(k, n->in[1 - number], n->first))
        return NULL;
      a->scale *= by, v = n->in[1 - number];
    } else {
      return NULL;
    }
  }
  return NULL;
}

static bool fuse_attention_sizes(const wick_match *k, const wick_node *n, fuse_attention_found *a)
{
  const wick_func *f = k->f;
  const wick_type_info *tq = wick_info_of(f, a->q), *tk = wick_info_of(f, a->k),
                       *tv = wick_info_of(f, a->v), *to = wick_info_of(f, n->first);
  if (tq->rank < 2 || tk->rank < 2 || tv->rank < 2 || !wick_elem_is_float(to->elem)) return false;
  int64_t *size[4] = {&a->m, &a->d, &a->n, &a->e}, lo, hi;
  const wick_dim dim[4] = {tq->dim[tq->rank - 2], tq->dim[tq->rank - 1], tv->dim[tv->rank - 2],
                           tv->dim[tv->rank - 1]};
  for (uint32_t i = 0; i < 4; i++) {
    wick_dim_range(f->module->dims, dim[i], &lo, &hi);
    if (lo < 1) return false;
    *size[i] = wick_dim_typical(f->module->dims, dim[i]);
  }
  a->keys = dim[2];
  return true;
}

/* Removes a factor of all elements of *v, queries or keys, which is applied to the scores. */
static void fuse_attention_unscale(const wick_match *k, wick_value *v, fuse_attention_found *a)
{
  const wick_node *n = fuse_attention_from(k, *v);
  double by;
  if (!n || n->op != WICK_OP_mul) return;
  uint32_t number = wick_match_number(k, n->in[1], &by) ? 1 : 0;
  if (wick_match_number(k, n->in[number], &by) &&
      wick_match_same_shape(k, n->in[1 - number], n->first))
    a->scale *= by, *v = n->in[1 - number];
}

/* Returns true if the node is a reshape that keeps the last two dimensions. */
static bool fuse_attention_regroups(const wick_match *k, const wick_node *n)
{
  if (!n || n->op != WICK_OP_reshape) return false;
  const wick_type_info *x = wick_info_of(k->f, n->in[0]), *y = wick_info_of(k->f, n->first);
  return x->rank >= 2 && y->rank >= 2 && wick_dim_eq(x->dim[x->rank - 1], y->dim[y->rank - 1]) &&
         wick_dim_eq(x->dim[x->rank - 2], y->dim[y->rank - 2]);
}

/* Returns true if the keys are a transpose of the last two dimensions, and the last dimension was
 * not moved before that, so that the rest is a view. */
static bool fuse_attention_is_turned(const wick_match *k, fuse_attention_found *a)
{
  const wick_node *n = wick_match_node(k, a->k);
  if (fuse_attention_regroups(k, n)) {
    a->shaped = a->k, a->k = n->in[0];
    n = wick_match_node(k, a->k);
  }
  uint32_t rank = wick_info_of(k->f, a->k)->rank;
  if (!n || n->op != WICK_OP_transpose) return false;
  return n->attr[WICK_ATTR_transpose_perm].n
             ? n->attr[WICK_ATTR_transpose_perm].ints[rank - 2] == (int64_t)rank - 1
             : rank == 2;
}

/* Returns true if `from`, a `where`, replaces weights that are NaN by 0. */
static bool fuse_attention_is_guard(const wick_match *k, const wick_node *from)
{
  double by;
  wick_value weights = from->in[2];
  const wick_node *nan = fuse_attention_from(k, from->in[0]);
  return nan && nan->op == WICK_OP_isnan && nan->in[0].id == weights.id &&
         k->uses.first[weights.id + 1] - k->uses.first[weights.id] == 2 &&
         wick_match_number(k, from->in[1], &by) && by == 0 &&
         wick_match_same_shape(k, weights, from->first);
}

/* Returns the node that computes the weights of a product with values. The weights of whole queries
 * may be set to 0; the result of such a query is then 0 for any values. */
static const wick_node *fuse_attention_weights(const wick_match *k, const wick_node *n,
                                               fuse_attention_found *a)
{
  double by;
  const wick_node *from = n->op == WICK_OP_matmul ? fuse_attention_from(k, n->in[0]) : NULL;
  if (!from || from->op != WICK_OP_where) return from;
  a->guarded = fuse_attention_is_guard(k, from);
  if (a->guarded) return wick_match_node(k, from->in[2]);
  const wick_type_info *t = wick_info_of(k->f, from->in[0]);
  if (!wick_match_number(k, from->in[1], &by) || by != 0 || !t->rank ||
      !wick_dim_is(t->dim[t->rank - 1], 1) || !wick_match_same_shape(k, from->in[2], from->first))
    return NULL;
  a->empty = from->in[0];
  return fuse_attention_from(k, from->in[2]);
}

static bool fuse_attention_find(const wick_match *k, const wick_node *n, fuse_attention_found *a)
{
  *a = (fuse_attention_found){.scale = 1};
  const wick_node *softmax = fuse_attention_weights(k, n, a);
  if (!softmax || softmax->op != WICK_OP_softmax) return false;
  uint32_t rank = wick_info_of(k->f, softmax->first)->rank;
  if (softmax->attr[WICK_ATTR_softmax_axis].i != (int64_t)rank - 1) return false;
  const wick_node *products = fuse_attention_products(k, softmax->in[0], a);
  if (!products || !wick_match_same_shape(k, products->first, softmax->first)) return false;
  a->q = products->in[0], a->k = products->in[1], a->v = n->in[1];
  fuse_attention_unscale(k, &a->q, a);
  fuse_attention_unscale(k, &a->k, a);
  return fuse_attention_sizes(k, n, a) && fuse_attention_is_turned(k, a);
}

/* ---- when fusion pays, and the size of blocks ---- */

enum {
  FUSE_ATTENTION_WEIGHT = 8,
  FUSE_ATTENTION_PASSES = 10
}; /* cycles per vector: exp; the reads of softmax */
enum {
  FUSE_ATTENTION_MOST = 512,
  FUSE_ATTENTION_LEAST = 128
}; /* keys in a block, if there are several blocks */

/* Returns true if fusion is faster. Fused, the lanes are whole queries, and each element is
 * computed once. Separate kernels have lanes along the keys, scores that go through memory, and
 * copied keys. The unit is the cycles of a vector's multiply-adds. */
static bool fuse_attention_wins(const fuse_attention_found *a, int64_t lanes)
{
  double rows = (double)wick_ceildiv_i64(a->m, lanes),
         columns = (double)wick_ceildiv_i64(a->n, lanes),
         values = (double)wick_ceildiv_i64(a->e, lanes), m = (double)a->m, n = (double)a->n,
         d = (double)a->d,
         one = rows * n * d / 2 + m * n * values / 2 + rows * n * FUSE_ATTENTION_WEIGHT,
         three = m * columns * d / 2 + m * n * values / 2 +
                 m * columns * (FUSE_ATTENTION_WEIGHT + FUSE_ATTENTION_PASSES);
  return one + 2 * rows * d <= three + 2 * columns * d;
}

/* Returns the keys in a block: a few hundred, in equal blocks if their number allows it; 0: all
 * keys in one block. If the number of keys is dynamic, blocks are small, because the last one is
 * filled up. */
static int64_t fuse_attention_block(const wick_dims *t, const fuse_attention_found *a)
{
  int64_t lo, hi;
  wick_dim_range(t, a->keys, &lo, &hi);
  if (lo < hi) return hi <= 2 * FUSE_ATTENTION_MOST ? 0 : FUSE_ATTENTION_LEAST;
  if (a->n <= FUSE_ATTENTION_MOST) return 0;
  for (int64_t block = FUSE_ATTENTION_MOST; block >= FUSE_ATTENTION_LEAST; block--)
    if (a->n % block == 0) return block;
  return a->n <= 2 * FUSE_ATTENTION_MOST ? 0 : FUSE_ATTENTION_MOST / 2;
}

/* ---- building ---- */

/* Builds the keys, [.., keys, d]. */
static wick_value fuse_attention_keys(wick_copier *c, const fuse_attention_found *a)
{
  wick_value keys = wick_build_swap(&c->b, c->to[a->k.id]);
  if (!a->shaped.id) return keys;
  const wick_type_info *t = wick_info_of(c->f, a->shaped);
  wick_dim dim[WICK_MAX_RANK];
  memcpy(dim, t->dim, t->rank * sizeof *dim);
  dim[t->rank - 1] = t->dim[t->rank - 2], dim[t->rank - 2] = t->dim[t->rank - 1];
  return wick_build_reshape(&c->b, keys, t->rank, dim);
}

static void fuse_attention_build(wick_copier *c, const wick_node *n, const fuse_attention_found *a)
{
  wick_value in[4] = {c->to[a->q.id], fuse_attention_keys(c, a), c->to[a->v.id],
                      a->mask.id ? c->to[a->mask.id] : (wick_value){0}};
  if (a->inverse) in[3] = wick_build1(&c->b, WICK_OP_not, in[3]);
  wick_attr attr[] = {
      [WICK_ATTR_attention_scale] = {.f = a->scale},
      [WICK_ATTR_attention_fill] = {.f = a->fill},
      [WICK_ATTR_attention_block] = {.i = fuse_attention_block(c->f->module->dims, a)},
      [WICK_ATTR_attention_empty] = {.i = a->guarded}};
  if (!a->mask.id || wick_info_of(c->f, a->mask)->elem != WICK_BOOL)
    attr[WICK_ATTR_attention_fill].f =
        wick_ops[WICK_OP_attention]->attr[WICK_ATTR_attention_fill].dflt;
  c->b.loc = n->loc;
  wick_value y = wick_build(&c->b, WICK_OP_attention, a->mask.id ? 4 : 3, in, attr, 0, NULL);
  if (a->empty.id && !c->b.status) {
    wick_value zero = wick_build_like(&c->b, y, 0);
    y = wick_build3(&c->b, WICK_OP_where, c->to[a->empty.id], zero, y);
  }
  const wick_value_info *old = &c->f->value[n->first.id];
  c->to[n->first.id] = y;
  if (y.id) wick_build_name(&c->b, y, old->name, old->relation);
}

wick_status wick_pass_fuse_attention(const wick_pass_context *pass, const wick_func *f,
                                     wick_func **out)
{
  wick_arena *mem = pass->mem;
  wick_match k = wick_match_begin(f, mem);
  wick_copier c = wick_copy_begin(f, mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    fuse_attention_found a;
    bool found = fuse_attention_find(&k, n, &a);
    wick_elem e = found ? wick_elem_storage[wick_info_of(f, n->first)->elem].arith : WICK_F32;
    int64_t bits = wick_elem_storage[e].bits;
    int64_t lanes = pass->target->vector_bytes ? pass->target->vector_bytes * 8 / bits : 1;
    if (found && fuse_attention_wins(&a, lanes))
      fuse_attention_build(&c, n, &a);
    else
      wick_copy_node(&c, n);
  }
  return wick_copy_finish(&c, out);
}
