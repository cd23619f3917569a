/* Attention: softmax(q k^T * scale + mask) v, over the keys in blocks.
 *
 * For each block of keys there are these stages: the keys and values as they are (schedule
 * templates may copy them into contiguous memory); the queries, transposed so that they are
 * contiguous; their products with the keys, [key, query]; the block's maximum, weights and sum for
 * each query; the values times these weights. One fold merges the blocks. Its state is the maximum,
 * the sum, and the weighted values of each column, all relative to that maximum (Milakov and
 * Gimelshein, arXiv:1805.02867; Rabe and Staats, arXiv:2112.05682; Dao and others,
 * arXiv:2205.14135). */
#include <math.h>
#include <string.h>

#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/ref.h"
#include "ops/stage.h"
#include "ops/tensor.h"
#include "ops/work.h"

static wick_status attention_infer(wick_infer *c)
{
  const wick_type_info *q, *k, *v, *mask;
  wick_dim dim[WICK_MAX_RANK];
  WICK_TRY(wick_infer_tensor(c, 0, "q", 2, &q));
  WICK_TRY(wick_infer_alike(c, 1, "k", 2, &k));
  WICK_TRY(wick_infer_alike(c, 2, "v", 2, &v));
  uint32_t rank = q->rank - 2u;
  wick_dim m = q->dim[q->rank - 2], n = k->dim[k->rank - 2];
  if (!wick_infer_equal(c, q->dim[q->rank - 1], k->dim[k->rank - 1]))
    return wick_infer_fail(c, WICK_ETYPE, "q and k have columns of different sizes: %s and %s",
                           wick_infer_dim_text(c, q->dim[q->rank - 1]),
                           wick_infer_dim_text(c, k->dim[k->rank - 1]));
  if (!wick_infer_equal(c, n, v->dim[v->rank - 2]))
    return wick_infer_fail(c, WICK_ETYPE, "there are %s keys and %s values",
                           wick_infer_dim_text(c, n), wick_infer_dim_text(c, v->dim[v->rank - 2]));
  memcpy(dim, q->dim, rank * sizeof *dim);
  WICK_TRY(wick_infer_broadcast(c, &rank, dim, k->rank - 2u, k->dim));
  WICK_TRY(wick_infer_broadcast(c, &rank, dim, v->rank - 2u, v->dim));
  dim[rank] = m, dim[rank + 1] = n;
  uint32_t all = rank + 2;
  if (c->nin > 3 && c->in[3]) {
    WICK_TRY(wick_infer_tensor(c, 3, "mask", 0, &mask));
    if (mask->elem != WICK_BOOL && mask->elem != q->elem)
      return wick_infer_fail(c, WICK_ETYPE, "the mask is %s, expected bool or %s",
                             wick_infer_type_text(c, c->in[3]->type), wick_elem_name(q->elem));
    WICK_TRY(wick_infer_broadcast(c, &all, dim, mask->rank, mask->dim));
    if (all != rank + 2 || !wick_infer_equal(c, dim[rank], m) ||
        !wick_infer_equal(c, dim[rank + 1], n))
      return wick_infer_fail(c, WICK_ETYPE, "the mask, %s, is larger than the scores",
                             wick_infer_type_text(c, c->in[3]->type));
  }
  dim[rank + 1] = v->dim[v->rank - 1];
  wick_infer_out(c, 0, q->elem, rank + 2, dim);
  return NULL;
}

/* ---- reference ---- */

/* Finds the position in t of the matrix (or row, or number) at a batch index, and its steps along
 * the last two dimensions, which are 0 for dimensions of size 1. */
static uint64_t attention_at(const wick_tensor *t, uint32_t nbatch, const int64_t *index,
                             int64_t *row, int64_t *column)
{
  int64_t stride[WICK_MAX_RANK], at = 0;
  wick_ref_strides(t, stride);
  for (uint32_t k = 0; k + 2 < t->rank; k++)
    if (t->dim[k] != 1) at += index[nbatch + 2 + k - t->rank] * stride[k];
  *row = t->rank > 1 && t->dim[t->rank - 2] != 1 ? stride[t->rank - 2] : 0;
  *column = t->rank > 0 && t->dim[t->rank - 1] != 1 ? stride[t->rank - 1] : 0;
  return (uint64_t)at;
}

static double attention_element(const wick_tensor *t, uint64_t at, int64_t row, int64_t i,
                                int64_t column, int64_t k)
{
  return wick_load_elem(t->elem, t->data, at + (uint64_t)(row * i + column * k)).f;
}

/* Computes the weights of all keys for one query. They are not divided by their sum, which is
 * returned. */
static double attention_weights(wick_ref *c, uint32_t nbatch, const int64_t *index, double *w)
{
  const wick_tensor *q = &c->in[0], *k = &c->in[1], *mask = &c->in[3];
  bool masked = c->nin > 3 && mask->data;
  int64_t n = k->dim[k->rank - 2], d = q->dim[q->rank - 1], i = index[nbatch], row, one, next, two,
          mrow = 0, mcolumn = 0;
  uint64_t qat = attention_at(q, nbatch, index, &row, &one),
           kat = attention_at(k, nbatch, index, &next, &two),
           mat = masked ? attention_at(mask, nbatch, index, &mrow, &mcolumn) : 0;
  double max = -(double)INFINITY, sum = 0;
  for (int64_t j = 0; j < n; j++) {
    double s = 0;
    for (int64_t e = 0; e < d; e++)
      s += attention_element(q, qat, row, i, one, e) * attention_element(k, kat, next, j, two, e);
    s *= c->attr[WICK_ATTR_attention_scale].f;
    uint64_t at = mat + (uint64_t)(mrow * i + mcolumn * j);
    if (masked && mask->elem == WICK_BOOL)
      s = wick_load_elem(mask->elem, mask->data, at).i ? s : c->attr[WICK_ATTR_attention_fill].f;
    else if (masked)
      s += wick_load_elem(mask->elem, mask->data, at).f;
    w[j] = wick_ref_range(q->elem, s);
    if (w[j] > max || isnan(w[j])) max = w[j];
    if (isnan(max)) break;
  }
  for (int64_t j = 0; j < n; j++) {
    w[j] = exp(w[j] - max);
    sum += w[j];
  }
  return sum;
}

static wick_status attention_ref(wick_ref *c)
{
  const wick_tensor *v = &c->in[2], *out = &c->out[0];
  uint32_t nbatch = out->rank - 2u;
  int64_t n = v->dim[v->rank - 2], index[WICK_MAX_RANK] = {0}, row, column;
  double *w = wick_new(c->mem, double, (size_t)n + 1), total = 1;
  if (wick_ref_numel(out) == 0) return NULL;
  uint64_t to = 0;
  do {
    if (index[nbatch + 1] == 0) total = attention_weights(c, nbatch, index, w);
    uint64_t at = attention_at(v, nbatch, index, &row, &column);
    double sum = 0;
    bool none = c->attr[WICK_ATTR_attention_empty].i && !(total > 0);
    for (int64_t j = 0; j < n && !none; j++)
      sum += w[j] / total * attention_element(v, at, row, j, column, index[nbatch + 1]);
    wick_store_elem(out->elem, out->data, to++, (wick_scalar){.f = sum});
  } while (wick_ref_next(out->rank, out->dim, index));
  return NULL;
}

/* ---- stages ---- */

typedef struct attention {
  const wick_compute *c;
  wick_builder *b;
  wick_elem acc;
  uint32_t nbatch;
  wick_dim batch[WICK_MAX_RANK], m, n, d, e;
  wick_dim block, blocks; /* keys in a block; number of blocks */
  bool many, ragged;      /* several blocks; the last one is smaller */
} attention;

static attention attention_of(const wick_compute *c)
{
  wick_builder *b = c->b;
  const wick_type_info *q = wick_built_info(b, c->in[0]), *v = wick_built_info(b, c->in[2]),
                       *out = wick_type_get(b->module, c->out_type[0]);
  attention a = {.c = c, .b = b, .acc = wick_stage_arith(q->elem), .nbatch = out->rank - 2u};
  memcpy(a.batch, out->dim, a.nbatch * sizeof *a.batch);
  /* shape constraints may have made them constant */
  a.m = out->dim[a.nbatch], a.d = q->dim[q->rank - 1];
  a.n = v->dim[v->rank - 2], a.e = out->dim[a.nbatch + 1];
  wick_dims *t = b->module->dims;
  int64_t block = c->attr[WICK_ATTR_attention_block].i, lo, hi;
  wick_dim_range(t, a.n, &lo, &hi);
  a.many = block > 0 && hi > block;
  a.block = a.many ? wick_dim_const(block) : a.n;
  a.blocks = a.many ? wick_dim_ceildiv(t, a.n, a.block) : wick_dim_const(1);
  a.ragged = a.many && !wick_dim_is(wick_dim_mod(t, a.n, a.block), 0);
  return a;
}

/* The axes of a stage: the batches, then one for each letter of `names`: k is the block, i the key
 * in it, m the query, d and e the columns of keys and of values. The last axis is reduced on
 * request. */
typedef struct attention_axes {
  wick_axis axis[WICK_MAX_RANK + 4];
  uint32_t n;
  wick_dim key, m, d, e; /* symbols; key: among all keys */
  wick_dim k, i;
  wick_type type; /* of the stage's result */
} attention_axes;

static attention_axes attention_axes_of(const attention *a, const char *names, bool reduce)
{
  wick_builder *b = a->b;
  wick_dim zero = wick_dim_const(0), dim[WICK_MAX_RANK + 4];
  attention_axes x = {.n = 0, .key = zero, .m = zero, .d = zero, .e = zero, .k = zero, .i = zero};
  for (; x.n < a->nbatch; x.n++)
    x.axis[x.n] = wick_make_axis(b, wick_str_printf(b->mem, "b%u", x.n), a->batch[x.n], false);
  for (const char *s = names; *s; s++) {
    wick_dim *sym = *s == 'k'   ? &x.k
                    : *s == 'i' ? &x.i
                    : *s == 'm' ? &x.m
                    : *s == 'd' ? &x.d
                                : &x.e,
             extent = *s == 'k'   ? a->blocks
                      : *s == 'i' ? a->block
                      : *s == 'm' ? a->m
                      : *s == 'd' ? a->d
                                  : a->e;
    const char *name = *s == 'k'   ? "block"
                       : *s == 'i' ? "key"
                       : *s == 'm' ? "query"
                       : *s == 'd' ? "d"
                                   : "e";
    if (*s == 'k' && !a->many) continue;
    x.axis[x.n] = wick_make_axis(b, name, extent, reduce && !s[1]);
    *sym = x.axis[x.n++].sym;
  }
  for (uint32_t k = 0; k < x.n; k++) dim[k] = x.axis[k].extent;
  x.type = wick_type_tensor(b->module, a->acc, x.n - reduce, dim);
  x.key = wick_dim_add(b->module->dims, wick_dim_mul(b->module->dims, x.k, a->block), x.i);
  return x;
}

/* Reads an element of operand k in the arithmetic type; 0 after the last key. */
static wick_value attention_operand(const attention *a, const attention_axes *x, uint32_t k,
                                    wick_dim row, wick_dim column)
{
  wick_builder *b = a->b;
  if (b->status) return (wick_value){0};
  const wick_type_info *t = wick_built_info(b, a->c->in[k]);
  wick_dim index[WICK_MAX_RANK];
  for (uint32_t i = 0; i < t->rank; i++) {
    uint32_t at = a->nbatch + 2u + i - t->rank; /* of the dimension in the scores */
    wick_dim d = at < a->nbatch ? x->axis[at].sym : at == a->nbatch ? row : column;
    index[i] = wick_dim_is(t->dim[i], 1) ? wick_dim_const(0) : d;
  }
  wick_value v = wick_stage_read0(b, a->c->in[k], index);
  return b->status || t->elem == WICK_BOOL ? v : wick_build_cast(b, v, a->acc);
}

/* Reads an element of a stage whose dimensions are the batches and those symbols. The block's
 * symbol is used only if there are several blocks. */
static wick_value attention_read(const attention *a, const attention_axes *x, wick_value stage,
                                 bool blocks, uint32_t n, const wick_dim *sym)
{
  wick_dim index[WICK_MAX_RANK + 4];
  uint32_t at = 0;
  for (; at < a->nbatch; at++) index[at] = x->axis[at].sym;
  if (blocks && a->many) index[at++] = x->k;
  for (uint32_t i = 0; i < n; i++) index[at++] = sym[i];
  return wick_read(a->b, stage, index, 0, NULL, (wick_value){0});
}

/* Builds [.., block, key, d or e]: operand k. */
static wick_value attention_rows(const attention *a, uint32_t k)
{
  attention_axes x = attention_axes_of(a, k == 1 ? "kid" : "kie", false);
  wick_map_begin(a->b, k == 1 ? "keys" : "rows", x.n, x.axis, 1, &x.type);
  wick_value v = attention_operand(a, &x, k, x.key, k == 1 ? x.d : x.e);
  return wick_map_end(a->b, 1, &v);
}

/* Builds [.., d, query]. */
static wick_value attention_queries(const attention *a)
{
  attention_axes x = attention_axes_of(a, "dm", false);
  double scale = a->c->attr[WICK_ATTR_attention_scale].f;
  wick_map_begin(a->b, "queries", x.n, x.axis, 1, &x.type);
  wick_value v = attention_operand(a, &x, 0, x.m, x.d);
  if (scale != 1 && !a->b->status)
    v = wick_build2(a->b, WICK_OP_mul, v, wick_build_like(a->b, v, scale));
  return wick_map_end(a->b, 1, &v);
}

/* Builds [.., block, key, query]. */
static wick_value attention_products(const attention *a, wick_value keys, wick_value queries)
{
  attention_axes x = attention_axes_of(a, "kimd", true);
  wick_fold_begin(a->b, "products", x.n, x.axis, x.type, WICK_OP_add);
  wick_dim from[2] = {x.i, x.d}, at[2] = {x.d, x.m};
  wick_value k = attention_read(a, &x, keys, true, 2, from),
             q = attention_read(a, &x, queries, false, 2, at);
  return wick_fold_end_muladd(a->b, k, q);
}

/* Builds the transposed mask, [.., block, key, query], if both queries and keys have masks of their
 * own; else 0. */
static wick_value attention_turned(const attention *a)
{
  wick_value none = {0};
  if (a->c->nin < 4 || !a->c->in[3].id || a->b->status) return none;
  const wick_type_info *t = wick_built_info(a->b, a->c->in[3]);
  if (t->rank < 2 || wick_dim_is(t->dim[t->rank - 1], 1) || wick_dim_is(t->dim[t->rank - 2], 1))
    return none;
  attention_axes x = attention_axes_of(a, "kim", false);
  wick_type type =
      wick_type_with_elem(a->b->module, x.type, t->elem == WICK_BOOL ? WICK_BOOL : a->acc);
  wick_map_begin(a->b, "mask", x.n, x.axis, 1, &type);
  wick_value v = attention_operand(a, &x, 3, x.m, x.key);
  return wick_map_end(a->b, 1, &v);
}

/* Builds the same elements with the mask applied; minus infinity after the last key. */
static wick_value attention_scores(const attention *a, wick_value products)
{
  wick_builder *b = a->b;
  wick_value mask = attention_turned(a), v = {0};
  attention_axes x = attention_axes_of(a, "kim", false);
  wick_dim at[2] = {x.i, x.m};
  wick_map_begin(b, "scores", x.n, x.axis, 1, &x.type);
  wick_value s = attention_read(a, &x, products, true, 2, at);
  if (mask.id)
    v = attention_read(a, &x, mask, true, 2, at);
  else if (a->c->nin > 3 && a->c->in[3].id)
    v = attention_operand(a, &x, 3, x.m, x.key);
  if (v.id && !b->status && wick_built_info(b, v)->elem == WICK_BOOL)
    s = wick_build3(b, WICK_OP_where, v, s,
                    wick_build_like(b, s, a->c->attr[WICK_ATTR_attention_fill].f));
  else if (v.id)
    s = wick_build2(b, WICK_OP_add, s, v);
  if (a->ragged && !b->status)
    s = wick_build3(b, WICK_OP_where, wick_stage_compare(b, WICK_OP_lt, x.key, a->n), s,
                    wick_build_like(b, s, -(double)INFINITY));
  return wick_map_end(b, 1, &s);
}

/* Returns the maximum of a block without any key: the least finite number. All weights are then 0,
 * and no infinity is subtracted from another. */
static double attention_least(const attention *a)
{
  return a->acc == WICK_F64 ? -0x1.fffffffffffffp1023 : -0x1.fffffep127;
}

/* Builds [.., block, query]. */
static wick_value attention_largest(const attention *a, wick_value scores)
{
  attention_axes x = attention_axes_of(a, "kmi", true);
  wick_builder *b = a->b;
  wick_type s = wick_type_scalar(b->module, a->acc, 1);
  wick_dim at[2] = {x.i, x.m};
  wick_fold_open(b, "largest", x.n, x.axis, 1, &x.type);
  wick_region_begin(b, 0, NULL);
  wick_value least = wick_build_const(b, s, attention_least(a), 0);
  wick_yield(b, 1, &least);
  wick_value state = wick_region_begin(b, 1, &s);
  wick_value v = wick_build2(b, WICK_OP_max, state, attention_read(a, &x, scores, true, 2, at));
  return wick_stage_end(b, wick_stage_finish(b, v, WICK_OP_max), x.type);
}

/* Builds [.., block, key, query]. */
static wick_value attention_exponents(const attention *a, wick_value scores, wick_value largest)
{
  attention_axes x = attention_axes_of(a, "kim", false);
  wick_dim at[2] = {x.i, x.m};
  wick_map_begin(a->b, "weights", x.n, x.axis, 1, &x.type);
  wick_value s = attention_read(a, &x, scores, true, 2, at),
             m = attention_read(a, &x, largest, true, 1, &x.m);
  wick_value v = wick_build1(a->b, WICK_OP_exp_minus, wick_build2(a->b, WICK_OP_sub, s, m));
  return wick_map_end(a->b, 1, &v);
}

/* Builds [.., block, query]. */
static wick_value attention_sum(const attention *a, wick_value weights)
{
  attention_axes x = attention_axes_of(a, "kmi", true);
  wick_dim at[2] = {x.i, x.m};
  wick_fold_begin(a->b, "sum", x.n, x.axis, x.type, WICK_OP_add);
  return wick_fold_end(a->b, attention_read(a, &x, weights, true, 2, at));
}

/* Builds [.., block, query, e]. */
static wick_value attention_values(const attention *a, wick_value rows, wick_value weights)
{
  attention_axes x = attention_axes_of(a, "kmei", true);
  wick_dim at[2] = {x.i, x.m}, from[2] = {x.i, x.e};
  wick_fold_begin(a->b, "values", x.n, x.axis, x.type, WICK_OP_add);
  wick_value w = attention_read(a, &x, weights, true, 2, at),
             v = attention_read(a, &x, rows, true, 2, from);
  return wick_fold_end_muladd(a->b, w, v);
}

/* Merges two states, (maximum, sum, values), into one. */
static void attention_merge(wick_builder *b, const wick_value *s, const wick_value *t,
                            wick_value *out)
{
  out[0] = wick_build2(b, WICK_OP_max, s[0], t[0]);
  wick_value x = wick_build1(b, WICK_OP_exp_minus, wick_build2(b, WICK_OP_sub, s[0], out[0])),
             y = wick_build1(b, WICK_OP_exp_minus, wick_build2(b, WICK_OP_sub, t[0], out[0]));
  for (uint32_t k = 1; k < 3; k++)
    out[k] = wick_stage_muladd(b, s[k], x, wick_build2(b, WICK_OP_mul, t[k], y));
}

/* Divides by the sum. All columns share one division. The sum is 0 or NaN for a query without
 * weights. */
static wick_value attention_part(const attention *a, wick_value v, wick_value sum)
{
  wick_builder *b = a->b;
  if (b->status) return v;
  wick_value one = wick_build_like(b, sum, 1), zero = wick_build_like(b, sum, 0);
  v = wick_build2(b, WICK_OP_mul, v, wick_build2(b, WICK_OP_div, one, sum));
  if (!a->c->attr[WICK_ATTR_attention_empty].i) return v;
  return wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_gt, sum, zero), v, zero);
}

/* Builds [.., query, e]: merges the blocks. */
static wick_value attention_fold(const attention *a, wick_value largest, wick_value sum,
                                 wick_value values)
{
  wick_builder *b = a->b;
  attention_axes x = attention_axes_of(a, "mek", true);
  wick_type s = wick_type_scalar(b->module, a->acc, 1), state[6] = {s, s, s, s, s, s};
  wick_dim at[2] = {x.m, x.e};
  wick_value v[6], out[3];
  wick_fold_open(b, "blocks", x.n, x.axis, 1, &x.type);
  wick_region_begin(b, 0, NULL);
  v[0] = wick_build_const(b, s, attention_least(a), 0);
  v[1] = v[2] = wick_stage_zero(b, a->acc);
  wick_yield(b, 3, v);
  v[0] = wick_region_begin(b, 3, state);
  for (uint32_t k = 1; k < 3; k++) v[k] = (wick_value){v[0].id + k};
  v[3] = attention_read(a, &x, largest, true, 1, at);
  v[4] = attention_read(a, &x, sum, true, 1, at);
  v[5] = attention_read(a, &x, values, true, 2, at);
  attention_merge(b, v, v + 3, out);
  wick_yield(b, 3, out);
  v[0] = wick_region_begin(b, 6, state);
  for (uint32_t k = 1; k < 6; k++) v[k] = (wick_value){v[0].id + k};
  attention_merge(b, v, v + 3, out);
  wick_yield(b, 3, out);
  v[0] = wick_region_begin(b, 3, state);
  wick_value r = attention_part(a, (wick_value){v[0].id + 2}, (wick_value){v[0].id + 1});
  wick_yield(b, 1, &r);
  return wick_build_close(b);
}

static void attention_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  attention a = attention_of(c);
  wick_value keys = attention_rows(&a, 1), rows = attention_rows(&a, 2),
             products = attention_products(&a, keys, attention_queries(&a)),
             scores = attention_scores(&a, products), largest = attention_largest(&a, scores),
             weights = attention_exponents(&a, scores, largest), sum = attention_sum(&a, weights),
             values = attention_values(&a, rows, weights), all = values;
  if (a.many) all = attention_fold(&a, largest, sum, values);
  attention_axes x = attention_axes_of(&a, "me", false);
  wick_dim at[2] = {x.m, x.e};
  wick_map_begin(b, "attention", x.n, x.axis, 1, c->out_type);
  wick_value v = attention_read(&a, &x, all, false, 2, at);
  if (!a.many) v = attention_part(&a, v, attention_read(&a, &x, sum, false, 1, at));
  if (!b->status) v = wick_build_cast(b, v, wick_type_get(b->module, c->out_type[0])->elem);
  c->out[0] = wick_map_end(b, 1, &v);
}

const wick_op wick_op_attention = {
    .name = "attention",
    .doc = "softmax(q k^T * scale + mask) v, for q [.., queries, d], k [.., keys, d] and v [.., "
           "keys, e]; the dimensions before these broadcast. A mask broadcasts to [.., queries, "
           "keys]: a mask of floats is added to the scores; a mask of bools replaces the score by "
           "`fill` where it is false. Keys are processed in blocks of `block` (0: one block). "
           "Each block is computed relative to its own largest score, and the blocks are merged "
           "in order. The result of a query is all NaN if one of its scores is NaN or +inf, or if "
           "all of them are -inf; with `empty`, such a result is 0 instead",
    .nin = {3, 4},
    .nout = {1, 1},
    .attr = {{"scale", WICK_ATTR_FLOAT, 1, false, NULL, 0, 0},
             {"fill", WICK_ATTR_FLOAT, -(double)INFINITY, false, NULL, 0, 0},
             {"block", WICK_ATTR_INT, 0, false, NULL, 0, 1 << 30},
             {"empty", WICK_ATTR_BOOL, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_FLOATS,
    .aux_operands = 1u << 3,
    .infer = attention_infer,
    .ref = attention_ref,
    .products = wick_products_attention,
    .compute = attention_compute,
    .grad = wick_grad_attention,
    .batch.run = wick_batch_attention,
};
