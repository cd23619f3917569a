/* Chooses how a sum of cotangents is passed: as the tensor, or, if it is a sum of products of few
 * columns and rows, as a list of them (ops/gradient/grad_products.c). */
#include "graph/grad/reverse.h"
#include "ir/element.h"

typedef struct sums_param {
  const wick_func *f;
  uint32_t k;
} sums_param;

typedef struct sums {
  wick_reverse *r;
  wick_list(sums_param) seen;
  bool any;
  int64_t m, k; /* the sizes of the matrix, if there is any product */
} sums;

static bool sums_of_param(sums *s, const wick_func *f, uint32_t k);

/* Returns whether node i, which uses a value that node `at` defines (UINT32_MAX: the parameters), adds
 * to its cotangent directly: it is in the same region, or the value is a parameter, and the regions
 * between are built in two halves. */
static bool sums_reaches(const wick_func *f, uint32_t at, uint32_t i)
{
  for (uint32_t j = 0; j < i; j++) {
    const wick_node *n = &f->node[j];
    bool between = n->nregion && n->end > i && (at == UINT32_MAX || j > at || n->end <= at);
    if (between && (at != UINT32_MAX || !wick_reverse_keeps(f, n))) return false;
  }
  return true;
}

/* Returns whether operand x of a matrix product, a matrix of the sizes `dim`, gets a product of few
 * columns and rows. */
static bool sums_product(sums *s, const wick_func *f, const wick_node *n, uint32_t x, bool turned,
                         const int64_t *dim)
{
  int64_t other[WICK_MAX_RANK], m = dim[turned], k = dim[!turned];
  const wick_type_info *t = wick_info_of(f, n->in[1 - x]);
  if (n->in[0].id == n->in[1].id || t->rank < 1 || t->rank > 2 || !wick_type_const_dims(t, other))
    return false;
  if (s->any && (m != s->m || k != s->k)) return false;
  s->any = true, s->m = m, s->k = k;
  return wick_products_pay(m, k, t->rank == 1 ? 1 : other[1 - x]);
}

/* Returns whether all uses of v are matrix products, or pass it on. v is the parameter, reshaped if it
 * is no matrix, and transposed if `turned`. */
static bool sums_of_value(sums *s, const wick_func *f, wick_value v, uint32_t at, bool turned)
{
  int64_t dim[WICK_MAX_RANK];
  const wick_type_info *t = wick_info_of(f, v);
  if (t->kind != WICK_TENSOR || !wick_type_const_dims(t, dim)) return false;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    for (uint32_t x = 0; x < n->nin; x++) {
      if (n->in[x].id != v.id) continue;
      const wick_func *g = n->op == WICK_OP_call && at == UINT32_MAX
                               ? wick_module_find(s->r->m, n->attr[WICK_ATTR_call_callee].s)
                               : NULL;
      bool fits = sums_reaches(f, at, i);
      if (g)
        fits = fits && sums_of_param(s, wick_reverse_open(s->r, g), x);
      else if (n->op == WICK_OP_reshape)
        fits = fits && !turned && sums_of_value(s, f, n->first, i, turned);
      else if (n->op == WICK_OP_transpose)
        fits = fits && t->rank == 2 && n->attr[WICK_ATTR_transpose_perm].ints[0] == 1 &&
               sums_of_value(s, f, n->first, i, !turned);
      else
        fits = fits && n->op == WICK_OP_matmul && t->rank == 2 &&
               sums_product(s, f, n, x, turned, dim);
      if (!fits) return false;
    }
  }
  return true;
}

static bool sums_of_param(sums *s, const wick_func *f, uint32_t k)
{
  for (uint32_t i = 0; i < s->seen.n; i++)
    if (s->seen.at[i].f == f && s->seen.at[i].k == k) return true;
  wick_push(s->r->mem, &s->seen, ((sums_param){f, k}));
  return sums_of_value(s, f, (wick_value){k + 1}, UINT32_MAX, false);
}

wick_type wick_reverse_sum_type(wick_reverse *r, const wick_func *f, uint32_t k)
{
  sums s = {.r = r};
  wick_type own = f->value[1 + k].type;
  const wick_type_info *t = wick_type_get(r->m, own);
  bool known = t->kind == WICK_TENSOR && (t->elem == WICK_F32 || t->elem == WICK_F64);
  if (r->status || !known || !sums_of_param(&s, f, k) || !s.any) return own;
  return wick_products_type(r->m, t->elem, s.m, s.k, r->mem);
}

wick_value wick_reverse_sum_zero(wick_builder *b, wick_type t)
{
  if (b->status || wick_type_get(b->module, t)->kind == WICK_TENSOR)
    return wick_cotangent_zero(b, t);
  return wick_build_construct(b, t, 0, 0, NULL);
}

bool wick_reverse_sum_fits(const wick_builder *b, wick_value sum, wick_type t)
{
  return sum.id && !b->status && wick_type_eq(wick_built_type(b, sum), t);
}

void wick_reverse_sum_give(wick_adjoint *a, uint32_t i, wick_value v, wick_type t)
{
  wick_builder *b = a->b;
  a->din[i] = v;
  a->summed[i] = wick_reverse_sum_fits(b, a->sum[i], t);
  if (t.id && !a->summed[i] && !b->status && wick_type_get(b->module, t)->kind == WICK_DATA)
    a->din[i] = wick_products_total(b, v, a->in[i]);
}
