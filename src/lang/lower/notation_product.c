/* Sums of products in index notation.
 *
 * Two factors are joined into one by what their indices are: those of both factors that stay are a
 * batch, those of both that are summed are contracted, and the others are rows and columns. So each
 * pair is a `matmul`; or a `conv`, if a dimension of a factor is read at a sum s*o + d*r of an index
 * o that stays and an index r that is summed with the other factor. */
#include "lang/lower/notation.h"

typedef struct product_pair {
  const notation_value *x, *y; /* x has the windows */
  notation_value over;         /* summed indices of x or y alone */
  notation_value batch, rows, columns, sum;
} product_pair;

/* Sorts the indices of a pair into its groups. */
static void product_groups(notation *c, product_pair *p)
{
  const notation_value *x = p->x, *y = p->y;
  p->batch = p->rows = p->columns = p->sum = (notation_value){0};
  for (uint32_t i = 0; i < x->n; i++) {
    const wick_lang_entity *e = x->index[i];
    bool both = wick_notation_has(y, e), summed = wick_notation_has(&p->over, e);
    wick_notation_add(c, summed ? &p->sum : both ? &p->batch : &p->rows, e);
  }
  for (uint32_t i = 0; i < y->n; i++)
    if (!wick_notation_has(x, y->index[i]) && !wick_notation_has(&p->over, y->index[i]))
      wick_notation_add(c, &p->columns, y->index[i]);
}

/* Transposes v, whose dimensions have the indices of x, to the order of the groups, and joins each
 * of the first `joined` groups into one dimension. */
static wick_value product_grouped(notation *c, wick_value v, const notation_value *x, uint32_t n,
                                  const notation_value *const *group, uint32_t joined)
{
  int64_t perm[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  uint32_t count = 0, rank = 0;
  for (uint32_t g = 0; g < n; g++) {
    if (g < joined) dim[rank++] = wick_dim_const(1);
    for (uint32_t i = 0; i < group[g]->n; i++) {
      uint32_t at = wick_notation_at(x, group[g]->index[i]);
      wick_dim size = wick_built_info(c->f->b, v)->dim[at];
      if (count < WICK_MAX_RANK) perm[count++] = at;
      if (g >= joined && rank < WICK_MAX_RANK)
        dim[rank++] = size;
      else if (g < joined)
        dim[rank - 1] = wick_dim_mul(c->s->t->dims, dim[rank - 1], size);
    }
  }
  if (count > 1) v = wick_build_transpose(c->f->b, v, count, perm);
  return c->f->b->status ? v : wick_build_reshape(c->f->b, v, rank, dim);
}

/* v, whose dimensions are the groups' indices, in their order, joined or not. */
static notation_value product_result(notation *c, wick_value v, uint32_t n,
                                     const notation_value *const *group)
{
  const wick_lang_entity *order[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  uint32_t count = 0;
  for (uint32_t g = 0; g < n; g++)
    for (uint32_t i = 0; i < group[g]->n && count < WICK_MAX_RANK; i++) {
      dim[count] = wick_notation_size(c, group[g]->index[i]);
      order[count++] = group[g]->index[i];
    }
  return wick_notation_of(wick_build_reshape(c->f->b, v, count, dim), count, order);
}

static notation_value product_multiply(notation *c, const notation_value *x,
                                       const notation_value *y)
{
  notation_value all = {0};
  const notation_value *first = x->n < y->n ? y : x, *second = x->n < y->n ? x : y;
  for (uint32_t i = 0; i < first->n; i++) wick_notation_add(c, &all, first->index[i]);
  for (uint32_t i = 0; i < second->n; i++) wick_notation_add(c, &all, second->index[i]);
  if (c->s->failed) return all;
  wick_value a = wick_notation_aligned(c, x, &all), b = wick_notation_aligned(c, y, &all);
  all.v = wick_build2(c->f->b, WICK_OP_mul, a, b);
  return all;
}

static double product_size(notation *c, const notation_value *x)
{
  double size = 1;
  for (uint32_t i = 0; i < x->n; i++)
    size *= (double)wick_dim_typical(c->s->t->dims, wick_notation_size(c, x->index[i]));
  return size;
}

/* The elements of x that are moved to bring its indices into the order of the groups. */
static double product_moved(notation *c, const notation_value *x,
                            const notation_value *const group[3])
{
  uint32_t n = 0;
  bool same = true;
  for (uint32_t g = 0; g < 3; g++)
    for (uint32_t i = 0; i < group[g]->n; i++) same = same && x->index[n++] == group[g]->index[i];
  return same ? 0 : product_size(c, x);
}

/* The indices that are summed, as one run in the order that y has them. Returns false if they are
 * none. *out_before: where it begins. */
static bool product_run(const product_pair *p, notation_value *out, uint32_t *out_before)
{
  *out = (notation_value){0};
  for (uint32_t i = 0; i < p->y->n; i++) {
    if (!wick_notation_has(&p->sum, p->y->index[i])) continue;
    if (out->n && i != *out_before + out->n) return false;
    if (!out->n) *out_before = i;
    out->index[out->n++] = p->y->index[i];
  }
  return out->n == p->sum.n;
}

/* y [before, sum, after] by x [rows, sum]: a product for each index before the sum, where y stays
 * as it is. */
static bool product_middle(notation *c, const product_pair *p, notation_value *result)
{
  notation_value run, before = {0}, after = {0};
  uint32_t at = 0;
  if (p->batch.n || !product_run(p, &run, &at) || !at || at + run.n == p->y->n) return false;
  for (uint32_t i = 0; i < p->y->n; i++)
    if (i < at || i >= at + run.n) {
      notation_value *to = i < at ? &before : &after;
      to->index[to->n++] = p->y->index[i];
    }
  const notation_value *const left[] = {&p->rows, &run};
  const notation_value *const right[] = {&before, &run, &after};
  const notation_value *const out[] = {&before, &p->rows, &after};
  wick_value a = wick_notation_built(c, p->x), b = wick_notation_built(c, p->y);
  if (c->f->b->status) return true;
  a = product_grouped(c, a, p->x, 2, left, 2);
  b = product_grouped(c, b, p->y, 3, right, 3);
  *result = product_result(c, wick_build2(c->f->b, WICK_OP_matmul, a, b), 3, out);
  return true;
}

static notation_value product_matmul(notation *c, product_pair *p)
{
  const notation_value *const left[] = {&p->batch, &p->rows, &p->sum};
  const notation_value *const right[] = {&p->batch, &p->sum, &p->columns};
  const notation_value *const turned_left[] = {&p->batch, &p->columns, &p->sum};
  const notation_value *const turned_right[] = {&p->batch, &p->sum, &p->rows};
  const notation_value *const out[] = {&p->batch, &p->rows, &p->columns};
  notation_value result;
  double as_is = product_moved(c, p->x, left) + product_moved(c, p->y, right),
         turned = product_moved(c, p->y, turned_left) + product_moved(c, p->x, turned_right);
  if (turned < as_is || (turned == as_is && product_size(c, p->y) > product_size(c, p->x))) {
    const notation_value *x = p->x;
    p->x = p->y, p->y = x;
    product_groups(c, p);
    as_is = turned;
  }
  if (as_is > 0 && product_middle(c, p, &result)) return result;
  wick_value a = wick_notation_built(c, p->x), b = wick_notation_built(c, p->y);
  if (c->f->b->status) return (notation_value){0};
  a = product_grouped(c, a, p->x, 3, left, 3);
  b = product_grouped(c, b, p->y, 3, right, 3);
  wick_value v = wick_build2(c->f->b, WICK_OP_matmul, a, b);
  return product_result(c, v, 3, out);
}

/* ---- convolutions ---- */

typedef struct product_window { /* a spatial dimension */
  uint32_t d;                   /* of the tensor that is read */
  const wick_lang_entity *out, *tap;
  int64_t stride, dilation; /* dilation < 0: the taps are reversed */
} product_window;

typedef struct product_conv {
  uint32_t nwindow;
  product_window window[3];
  notation_value out, tap;            /* the windows' indices, in their order */
  notation_value n, channels, groups; /* other indices of x */
} product_conv;

/* Finds the role of dimension d of the tensor that x reads; returns false if it has none. */
static bool product_dimension(notation *c, const product_pair *p, uint32_t d, product_conv *out)
{
  const notation_access *a = p->x->access;
  uint32_t n = 0, at[2] = {0};
  for (uint32_t k = 0; k < p->x->n; k++) {
    if (!a->step[d][k]) continue;
    if (n == 2) return false;
    at[n++] = k;
    for (uint32_t e = 0; e < a->rank; e++)
      if (e != d && a->step[e][k]) return false; /* the index is in two dimensions */
  }
  if (n == 0) return true;
  if (n == 1) return a->step[d][at[0]] == 1 && wick_dim_is_const(a->begin[d]);
  const wick_lang_entity *e[2] = {p->x->index[at[0]], p->x->index[at[1]]};
  uint32_t tap = wick_notation_has(&p->sum, e[0]) ? 0 : 1;
  product_window w = {.d = d, .out = e[1 - tap], .tap = e[tap]};
  w.stride = a->step[d][at[1 - tap]], w.dilation = a->step[d][at[tap]];
  if (out->nwindow == 3 || w.stride < 1 || !wick_notation_has(&p->sum, w.tap) ||
      !wick_notation_has(p->y, w.tap) || !wick_notation_has(&p->rows, w.out) ||
      !wick_dim_is_const(a->begin[d]) || !wick_dim_is_const(wick_notation_size(c, w.tap)) ||
      !wick_dim_is_const(wick_notation_size(c, w.out)) ||
      !wick_dim_is_const(wick_built_info(c->f->b, a->x)->dim[d]))
    return false;
  out->window[out->nwindow++] = w;
  return true;
}

/* Returns whether the pair is a convolution of what x reads with y. */
static bool product_is_conv(notation *c, const product_pair *p, product_conv *out)
{
  *out = (product_conv){0};
  if (!p->x->access) return false;
  for (uint32_t d = 0; d < p->x->access->rank; d++)
    if (!product_dimension(c, p, d, out)) return false;
  if (!out->nwindow) return false;
  for (uint32_t i = 0; i < out->nwindow; i++) {
    wick_notation_add(c, &out->out, out->window[i].out);
    wick_notation_add(c, &out->tap, out->window[i].tap);
  }
  for (uint32_t i = 0; i < p->rows.n; i++)
    if (!wick_notation_has(&out->out, p->rows.index[i]))
      wick_notation_add(c, &out->n, p->rows.index[i]);
  for (uint32_t i = 0; i < p->sum.n; i++) {
    if (wick_notation_has(&out->tap, p->sum.index[i])) continue;
    if (!wick_notation_has(p->x, p->sum.index[i]) || !wick_notation_has(p->y, p->sum.index[i]))
      return false;
    wick_notation_add(c, &out->channels, p->sum.index[i]);
  }
  out->groups = p->batch;
  return !c->s->failed;
}

/* The part of the tensor that the windows read, with a dimension for each index (windows: for their
 * `out`), and the zeros around it: pads[0 .. n-1] before it, then after it. */
static notation_value product_image(notation *c, const product_pair *p, const product_conv *conv,
                                    int64_t *pad)
{
  const notation_access *a = p->x->access;
  wick_dims *t = c->s->t->dims;
  const wick_type_info info = *wick_built_info(c->f->b, a->x);
  wick_dim begin[WICK_MAX_RANK], size[WICK_MAX_RANK], kept[WICK_MAX_RANK];
  const wick_lang_entity *order[WICK_MAX_RANK];
  bool all = true;
  uint32_t n = 0;
  for (uint32_t d = 0; d < info.rank; d++) {
    const wick_lang_entity *e = NULL;
    for (uint32_t k = 0; k < p->x->n && !e; k++)
      if (a->step[d][k]) e = p->x->index[k];
    begin[d] = a->begin[d];
    size[d] = e ? wick_notation_size(c, e) : wick_dim_const(1);
    for (uint32_t w = 0; w < conv->nwindow; w++) {
      const product_window *s = &conv->window[w];
      if (s->d != d) continue;
      int64_t taps = wick_notation_size(c, s->tap).v - 1, reach = s->dilation * taps,
              first = begin[d].v + wick_min_i64(reach, 0),
              end = first + s->stride * (wick_notation_size(c, s->out).v - 1) +
                    (reach < 0 ? -reach : reach) + 1,
              whole = info.dim[d].v;
      pad[w] = wick_max_i64(-first, 0), pad[conv->nwindow + w] = wick_max_i64(end - whole, 0);
      begin[d] = wick_dim_const(wick_max_i64(first, 0));
      size[d] = wick_dim_const(wick_min_i64(end, whole) - begin[d].v);
      e = s->out;
    }
    if (e) order[n] = e, kept[n++] = size[d];
    all = all && wick_dim_is(begin[d], 0) && wick_dim_eq(size[d], info.dim[d]);
  }
  (void)t;
  wick_value v = a->x;
  const wick_attr cut[] = {[WICK_ATTR_slice_begin] = {.n = info.rank, .dims = begin},
                           [WICK_ATTR_slice_shape] = {.n = info.rank, .dims = size},
                           [WICK_ATTR_slice_step] = {.n = 0}};
  if (!all) v = wick_build(c->f->b, WICK_OP_slice, 1, &v, cut, 0, NULL);
  return wick_notation_of(wick_build_reshape(c->f->b, v, n, kept), n, order);
}

/* Whether all of the image can be read: what is left of it is not empty. */
static bool product_image_is_whole(notation *c, const product_pair *p, const product_conv *conv)
{
  const notation_access *a = p->x->access;
  for (uint32_t d = 0; d < a->rank; d++) {
    const product_window *w = NULL;
    wick_dim size = wick_built_info(c->f->b, a->x)->dim[d];
    for (uint32_t i = 0; i < conv->nwindow; i++)
      if (conv->window[i].d == d) w = &conv->window[i];
    if (!w && !a->guard) continue;
    if (!w) { /* a guarded read of another dimension must be inside */
      uint32_t k = 0;
      while (k < p->x->n && !a->step[d][k]) k++;
      wick_dim n = k < p->x->n ? wick_notation_size(c, p->x->index[k]) : wick_dim_const(1);
      if (!wick_dim_is_const(n) || !wick_dim_is_const(size) || !wick_dim_is_const(a->begin[d]) ||
          a->begin[d].v < 0 || a->begin[d].v + n.v > size.v)
        return false;
      continue;
    }
    int64_t taps = wick_notation_size(c, w->tap).v, outs = wick_notation_size(c, w->out).v,
            reach = w->dilation * (taps - 1), first = a->begin[d].v + wick_min_i64(reach, 0),
            end = first + w->stride * (outs - 1) + (reach < 0 ? -reach : reach) + 1;
    if (taps < 1 || outs < 1 || first >= size.v || end <= 0) return false;
    if (!a->guard && (first < 0 || end > size.v)) return false;
  }
  return true;
}

static wick_value product_weights(notation *c, const product_pair *p, const product_conv *conv,
                                  const notation_value *const *group)
{
  wick_value v = wick_notation_built(c, p->y);
  wick_dim begin[WICK_MAX_RANK], size[WICK_MAX_RANK];
  int64_t step[WICK_MAX_RANK];
  bool reversed = false;
  for (uint32_t k = 0; k < p->y->n; k++) {
    size[k] = wick_notation_size(c, p->y->index[k]);
    begin[k] = wick_dim_const(0), step[k] = 1;
    for (uint32_t w = 0; w < conv->nwindow; w++)
      if (conv->window[w].tap == p->y->index[k] && conv->window[w].dilation < 0)
        begin[k] = wick_dim_const(size[k].v - 1), step[k] = -1, reversed = true;
  }
  const wick_attr cut[] = {[WICK_ATTR_slice_begin] = {.n = p->y->n, .dims = begin},
                           [WICK_ATTR_slice_shape] = {.n = p->y->n, .dims = size},
                           [WICK_ATTR_slice_step] = {.n = p->y->n, .ints = step}};
  if (reversed) v = wick_build(c->f->b, WICK_OP_slice, 1, &v, cut, 0, NULL);
  if (c->f->b->status) return v;
  v = product_grouped(c, v, p->y, 4, group, 3);
  if (c->f->b->status) return v;
  /* [groups, columns, channels, taps...] to [groups * columns, channels, taps...] */
  const wick_type_info info = *wick_built_info(c->f->b, v);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 1; k < info.rank; k++) dim[k - 1] = info.dim[k];
  dim[0] = wick_dim_mul(c->s->t->dims, info.dim[0], info.dim[1]);
  return wick_build_reshape(c->f->b, v, info.rank - 1u, dim);
}

static notation_value product_conv_built(notation *c, const product_pair *p,
                                         const product_conv *conv)
{
  int64_t pad[6], stride[3], dilation[3];
  uint32_t n = conv->nwindow;
  notation_value none = {0}, out = {0}, tap = {0}, image = product_image(c, p, conv, pad);
  /* the windows in the order of their dimensions, which `out` and `tap` must have */
  for (uint32_t w = 0; w < n; w++) {
    out.index[out.n++] = conv->window[w].out, tap.index[tap.n++] = conv->window[w].tap;
    stride[w] = conv->window[w].stride;
    dilation[w] =
        conv->window[w].dilation < 0 ? -conv->window[w].dilation : conv->window[w].dilation;
  }
  notation_value inner = conv->groups; /* groups, then channels: one dimension */
  for (uint32_t i = 0; i < conv->channels.n && inner.n < WICK_MAX_RANK; i++)
    inner.index[inner.n++] = conv->channels.index[i];
  const notation_value *const in[] = {&conv->n, &inner, &out};
  const notation_value *const weights[] = {&conv->groups, &p->columns, &conv->channels, &tap};
  const notation_value *const result[] = {&conv->n, &conv->groups, &p->columns, &out};
  if (c->f->b->status) return none;
  wick_value arg[2] = {product_grouped(c, image.v, &image, 3, in, 2)};
  arg[1] = product_weights(c, p, conv, weights);
  wick_dim groups = wick_dim_const(1);
  for (uint32_t i = 0; i < conv->groups.n; i++)
    groups = wick_dim_mul(c->s->t->dims, groups, wick_notation_size(c, conv->groups.index[i]));
  const wick_attr attr[] = {[WICK_ATTR_conv_stride] = {.n = n, .ints = stride},
                            [WICK_ATTR_conv_pad] = {.n = 2 * n, .ints = pad},
                            [WICK_ATTR_conv_dilation] = {.n = n, .ints = dilation},
                            [WICK_ATTR_conv_group] = {.i = groups.v}};
  wick_value v = wick_build(c->f->b, WICK_OP_conv, 2, arg, attr, 0, NULL);
  return product_result(c, v, 4, result);
}

/* ---- pairs ---- */

static notation_value product_join(notation *c, const notation_value *x, const notation_value *y,
                                   const notation_value *over)
{
  product_pair p = {.x = x, .y = y, .over = *over};
  product_conv conv;
  for (uint32_t turn = 0; turn < 2; turn++) {
    p.x = turn ? y : x, p.y = turn ? x : y;
    product_groups(c, &p);
    bool groups = true;
    for (uint32_t i = 0; i < p.batch.n; i++)
      groups = groups && wick_dim_is_const(wick_notation_size(c, p.batch.index[i])) &&
               !wick_dim_is(wick_notation_size(c, p.batch.index[i]), 0);
    if (groups && product_is_conv(c, &p, &conv) && product_image_is_whole(c, &p, &conv))
      return product_conv_built(c, &p, &conv);
  }
  p.x = x, p.y = y;
  product_groups(c, &p);
  return p.sum.n ? product_matmul(c, &p) : product_multiply(c, x, y);
}

/* The indices of `over` that only the factors i and j have. */
static notation_value product_alone(notation *c, uint32_t n, const notation_value *factor,
                                    uint32_t i, uint32_t j, const notation_value *over)
{
  notation_value out = {0};
  for (uint32_t k = 0; k < over->n; k++) {
    bool alone = wick_notation_has(&factor[i], over->index[k]) ||
                 wick_notation_has(&factor[j], over->index[k]);
    for (uint32_t m = 0; m < n && alone; m++)
      alone = m == i || m == j || !wick_notation_has(&factor[m], over->index[k]);
    if (alone) wick_notation_add(c, &out, over->index[k]);
  }
  return out;
}

/* How many elements there are more after a pair has become one factor; of equal ones the pair with
 * fewer multiplications comes first. */
static double product_cost(notation *c, const notation_value *x, const notation_value *y,
                           const notation_value *over)
{
  double kept = 1, all = 1;
  for (uint32_t i = 0; i < x->n + y->n; i++) {
    const wick_lang_entity *e = i < x->n ? x->index[i] : y->index[i - x->n];
    if (i >= x->n && wick_notation_has(x, e)) continue;
    double size = (double)wick_dim_typical(c->s->t->dims, wick_notation_size(c, e));
    all *= size;
    if (!wick_notation_has(over, e)) kept *= size;
  }
  return kept - product_size(c, x) - product_size(c, y) + 1e-6 * all;
}

notation_value wick_notation_product(notation *c, uint32_t n, notation_value *factor,
                                     const notation_value *over)
{
  for (uint32_t i = 0; i < n && !c->s->failed; i++) { /* an index of one factor alone */
    notation_value alone = product_alone(c, n, factor, i, i, over);
    if (alone.n) factor[i] = wick_notation_reduced(c, WICK_OP_reduce_sum, &factor[i], &alone);
  }
  while (n > 1 && wick_lowering_ok(c->s, c->f)) {
    uint32_t x = 0, y = 1;
    double least = 0;
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t j = i + 1; j < n; j++) {
        notation_value alone = product_alone(c, n, factor, i, j, over);
        double cost = product_cost(c, &factor[i], &factor[j], &alone);
        if ((i == 0 && j == 1) || cost < least) least = cost, x = i, y = j;
      }
    notation_value alone = product_alone(c, n, factor, x, y, over);
    factor[x] = product_join(c, &factor[x], &factor[y], &alone);
    factor[y] = factor[--n];
  }
  return factor[0];
}
