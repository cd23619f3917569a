/* The templates for sums of products. They decide which axes of the output are vectors and which are
 * positions of a tile (template_tile.c). */
#include <math.h>
#include <string.h>

#include "graph/group/cost.h"
#include "graph/group/panel.h"
#include "graph/group/template_state.h"
#include "ops/nn/blocked.h"

/* ---- the two factors ---- */

/* Finds the two reads whose product a fold's step adds. Returns false if the step is something
 * else. */
/* Returns the stage that is read, or NULL for a parameter. */
static const wick_stage *product_stage(const template_state *t, const wick_node *read)
{
  for (uint32_t i = 0; i < t->s->output; i++)
    if (template_node(t, &t->s->stage[i])->first.id == read->in[0].id) return &t->s->stage[i];
  return NULL;
}

static bool product_is_panel(const wick_stage *st) { return strcmp(st->name, WICK_PANEL) == 0; }

/* Returns the read of memory that `read` stands for, if it reads a map that only moves elements;
 * else `read`. */
static const wick_node *product_moved(const template_state *t, const wick_node *read)
{
  const wick_stage *st = product_stage(t, read);
  if (st && product_is_panel(st)) return read;
  const wick_node *map = st ? template_node(t, st) : NULL;
  if (!st || st->fold || read->nin != 1 || !template_can_inline(t->g, map)) return read;
  const wick_region *body = &map->region[0];
  const wick_node *inner = &t->g->node[body->begin], *yield = inner + 1;
  if (body->end - body->begin != 2 || inner->op != WICK_OP_read || inner->nin != 1 ||
      yield->nin != 1 || yield->in[0].id != inner->first.id)
    return read;
  wick_dim sym[TEMPLATE_AXES];
  if (st->naxis > TEMPLATE_AXES || st->naxis != wick_read_index(read)->n) return read;
  for (uint32_t k = 0; k < st->naxis; k++) {
    sym[k] = st->axis[k].sym;
    if (wick_dim_eq(wick_read_index(read)->dims[k], WICK_DIM_ANY)) return read;
  }
  wick_node *moved = wick_new(t->tmp, wick_node, 1);
  wick_attr *attr = wick_new(t->tmp, wick_attr, inner->nattr);
  *moved = *inner;
  memcpy(attr, inner->attr, inner->nattr * sizeof *attr);
  wick_attr *index = &attr[wick_read_index(inner) - inner->attr];
  wick_dim *dim = wick_new(t->tmp, wick_dim, index->n + 1);
  for (uint32_t k = 0; k < index->n; k++)
    dim[k] = wick_dim_substitute(t->g->module->dims, index->dims[k], st->naxis, sym,
                                 wick_read_index(read)->dims);
  index->dims = dim, moved->attr = attr;
  return moved;
}

static bool product_factors(const template_state *t, const wick_stage *fold, const wick_node **a,
                            const wick_node **b)
{
  wick_product p;
  if (!wick_product_of(t->g, template_node(t, fold), &p)) return false;
  *a = product_moved(t, p.x), *b = product_moved(t, p.y);
  return true;
}

static wick_elem product_read_elem(const template_state *t, const wick_node *read)
{
  return wick_info_of(t->g, read->in[0])->elem;
}

/* Returns the target's dot product instruction for the fold's last axis, or NULL. */
static const wick_dot *product_dot_row(const template_state *t, const wick_stage *fold)
{
  wick_product p;
  wick_dim k = fold->axis[fold->naxis - 1].extent;
  if (!wick_dim_is_const(k) || k.v >= 64 || !wick_product_of(t->g, template_node(t, fold), &p))
    return NULL;
  return wick_target_dot(t->t, product_read_elem(t, p.x), product_read_elem(t, p.y), (uint32_t)k.v);
}

uint32_t template_dot_axis(const template_state *t, const wick_stage *fold, uint32_t v,
                           wick_dots form)
{
  wick_product p;
  const wick_axis *axis = &fold->axis[fold->naxis - 1];
  const wick_node *n = template_node(t, fold);
  if (!axis->reduce || !wick_product_of(t->g, n, &p) ||
      wick_product_dots(t->g, axis, &fold->axis[v], &p) != form ||
      wick_info_of(t->g, n->region[1].first)->elem != wick_packed_sum(product_read_elem(t, p.x)))
    return UINT32_MAX;
  return product_dot_row(t, fold) ? fold->naxis - 1 : UINT32_MAX;
}

/* ---- roles ---- */

bool template_shares(const template_state *t, const wick_node *read, wick_dim sym, int64_t n,
                     int64_t extent)
{
  wick_dims *dims = t->g->module->dims;
  wick_dim at = wick_dim_symbol(dims, "neighbour", 0, n - 1),
           first = wick_dim_symbol(dims, "neighbours", 0, extent / n - 1),
           both = wick_dim_add(dims, wick_dim_mul(dims, first, wick_dim_const(n)), at);
  for (uint32_t k = 0; k < wick_read_index(read)->n; k++) {
    wick_dim d = wick_read_index(read)->dims[k];
    if (wick_dim_eq(d, WICK_DIM_ANY) ||
        wick_dim_uses(dims, wick_dim_substitute(dims, d, 1, &sym, &both), at))
      return false;
  }
  return true;
}

/* Returns the largest number n of neighbours along an axis that share the elements that are read,
 * in runs that begin at multiples of n. These are the channels of one group of a convolution. 1:
 * none share any. */
static int64_t product_sharing(const template_state *t, const wick_node *read, const wick_stage *st,
                               uint32_t axis)
{
  int64_t extent = template_extent(t, st, axis), d = 1;
  wick_dim sym = st->axis[axis].sym;
  if (template_varies(st, axis)) return template_step_of(t, read, sym) ? 1 : extent;
  if (extent > INT32_MAX) return 1;
  for (; d <= extent / d; d++) /* the divisors, from the largest on */
    if (extent % d == 0 && template_shares(t, read, sym, extent / d, extent)) return extent / d;
  while (--d > 1)
    if (extent % d == 0 && template_shares(t, read, sym, d, extent)) return d;
  return 1;
}

/* Returns the longest runs of contiguous elements, in vectors, that neighbours along an axis read from each
 * multiple of their length on, as the columns of a matrix in blocks; 0 if there are none. */
static int64_t product_run(const template_state *t, const wick_node *read, wick_dim sym)
{
  enum { MOST = 4 };
  const wick_attr *index = wick_read_index(read);
  wick_dims *dims = t->g->module->dims;
  for (int64_t n = MOST; n; n--) {
    int64_t length = n * t->lanes;
    wick_dim at = wick_dim_symbol(dims, "column", 0, length - 1),
             first = wick_dim_symbol(dims, "columns", 0, INT32_MAX / length),
             both = wick_dim_add(dims, wick_dim_mul(dims, first, wick_dim_const(length)), at);
    bool fits = index->n > 1;
    for (uint32_t k = 0; k < index->n && fits; k++) {
      wick_dim d = index->dims[k], coef, rest;
      fits = !wick_dim_eq(d, WICK_DIM_ANY);
      if (!fits) break;
      d = wick_dim_substitute(dims, d, 1, &sym, &both);
      fits = k + 1 < index->n ? !wick_dim_uses(dims, d, at)
                              : wick_dim_linear(dims, d, at, &coef, &rest) && wick_dim_is(coef, 1);
    }
    if (fits) return n;
  }
  return 0;
}

static bool product_roles_of(const template_state *t, const wick_stage *fold, const wick_node *a,
                             const wick_node *b, template_roles *out)
{
  enum { NEAR = 8 }; /* an axis of that extent is better than a longer one before it */
  uint32_t n = t->out->naxis;
  *out = (template_roles){n - 1, UINT32_MAX, UINT32_MAX, UINT32_MAX, 1, 1, 0, 1, 1, 0, 0, 0};
  for (uint32_t k = n; k < fold->naxis; k++) {
    if (fold->axis[k].reduce) continue;
    if (template_varies(fold, k)) return false;
    out->own *= template_extent(t, fold, k);
  }
  wick_dim v = fold->axis[n - 1].sym;
  if (template_step_of(t, a, v) != 0) {
    const wick_node *swap = a;
    a = b, b = swap;
  }
  unsigned dot = template_dot_axis(t, fold, n - 1, WICK_DOTS_SHARED) !=
                 UINT32_MAX; /* lanes are then not contiguous */
  unsigned step = template_step_of(t, b, v);
  if (template_step_of(t, a, v) != 0 || step < 1 + dot) return false;
  if (!dot && step == 2) out->run = product_run(t, b, v);
  if (!dot && !out->run && !template_is_near(t, b, v, t->lanes)) return false;
  bool whole = false;
  uint32_t own = 0; /* the axes on which b alone depends */
  for (uint32_t k = 0; k + 1 < n; k++) {
    unsigned in_a = template_step_of(t, a, fold->axis[k].sym),
             in_b = template_step_of(t, b, fold->axis[k].sym);
    int64_t extent = template_extent(t, t->out, k);
    if (extent <= 1) continue;
    int64_t nb = in_b ? product_sharing(t, a, fold, k) : 1,
            na = in_a ? product_sharing(t, b, fold, k) : 1;
    if (in_a && in_b && na == 1 && nb == 1) out->batch |= 1u << k;
    if (in_b && !in_a) own |= 1u << k;
    if (nb > out->no || (nb == extent && nb >= NEAR)) out->o = k, out->no = nb;
    if (na == extent) {
      out->y = whole ? out->x : UINT32_MAX;
      out->x = k, out->nx = na, whole = true;
    } else if (na > 1 && !whole) {
      out->x = k, out->nx = na;
    }
  }
  out->batch |= out->o == UINT32_MAX ? own : own & ~(1u << out->o);
  if (out->y != UINT32_MAX && (template_varies(t->out, out->x) || template_varies(t->out, out->y)))
    /* several rows require whole rows, and one loop with a remainder is enough */
    out->y = UINT32_MAX;
  return true;
}

/* Returns the size in bytes of the parameter that a read accesses. */
static uint64_t product_bytes(const template_state *t, const wick_node *read)
{
  return wick_type_typical_nbytes(t->g->module, wick_type_of(t->g, read->in[0]));
}

/* Returns the number of parameters with as many elements as the result, except the factors of the
 * sum. */
static uint32_t product_beside(const template_state *t, const wick_node *a, const wick_node *b)
{
  wick_module *m = t->g->module;
  wick_dim all = wick_type_numel(m, wick_type_of(t->g, template_node(t, t->out)->first));
  uint32_t n = 0;
  for (uint32_t v = 1; v <= t->g->nparam; v++)
    n += v != a->in[0].id && v != b->in[0].id &&
         wick_dim_eq(wick_type_numel(m, wick_type_of(t->g, (wick_value){v})), all);
  return n;
}

/* Returns the cycles that a step waits because its vectors are in another part of the memory than those
 * of the step before it, where no cache fetches them ahead. Processors that fetch few rows ahead wait for fewer
 * rows, too, where tiles change from one row to the next. The steps along an axis that moves by less than a line share
 * a visit. A visit was about as long as eight lines on AMD Zen 3, with 36 and 92 rows of a megabyte. */
static double product_visit(const template_state *t, const wick_stage *fold,
                            const wick_node *vectors)
{
  enum { LINES = 8, FEW = 32 };
  uint64_t bytes = product_bytes(t, vectors);
  uint32_t bits = wick_elem_storage[wick_info_of(t->g, vectors->in[0])->elem].bits;
  double together = 1, rows = 1, streams = wick_target_processor(t->t)->streams;
  bool apart = false;
  for (uint32_t k = 0; k < fold->naxis; k++) {
    if (!fold->axis[k].reduce || template_extent(t, fold, k) < 2) continue;
    bool near = wick_read_stride(t->g, vectors, fold->axis[k].sym) * bits / 8 <= WICK_LINE;
    *(near ? &together : &rows) *= (double)template_extent(t, fold, k);
    apart = apart || !near;
  }
  if (streams > FEW && rows <= streams) return 0;
  bool near = 2 * bytes <= wick_target_cache(t->t, 3);
  return apart && !near ? LINES * wick_target_weights(t->t, bytes) / together : 0;
}

/* Returns how many of the elements that all steps read are not among those that the steps of other positions
 * read, too: less than 1 if windows overlap. */
static double product_share(const template_state *t, const wick_stage *fold, const wick_node *read)
{
  double steps = 1;
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (template_step_of(t, read, fold->axis[k].sym)) steps *= (double)template_extent(t, fold, k);
  wick_elem e = wick_info_of(t->g, read->in[0])->elem;
  return fmin(1, (double)product_bytes(t, read) / (steps * (double)wick_elem_bytes(e, 1)));
}

static uint64_t product_first_cache(const template_state *t) { return wick_target_cache(t->t, 1); }

/* Returns true if the image should be read again for each part of the channels. This pays if the
 * weights are large, or if the image stays in the second cache and the weights of the next part can
 * be fetched meanwhile. */
static bool product_outside(const template_state *t, const wick_node *image, uint64_t weights)
{
  uint64_t second = wick_target_cache(t->t, 2);
  return weights > second / TEMPLATE_NEAR ||
         (weights > product_first_cache(t) && product_bytes(t, image) <= second / 2);
}

/* Returns true if the loads, of which a cycle has two, leave time to prefetch the cache lines of a
 * tile's positions once in `unroll` steps. */
static bool product_loads_fit(const template_tile *x, int64_t unroll)
{
  int64_t vectors = x->ob * x->vb, positions = x->th * x->tw;
  return vectors + positions + wick_ceildiv_i64(positions, unroll) <= vectors * positions;
}

enum { PRODUCT_PAGE = 4096, PRODUCT_PAGES_MOST = 8 };

/* Returns true if neighbours along an axis are whole pages apart. More than a few of them then fall
 * into the same set of the nearest cache. */
static bool product_pages_apart(const template_state *t, const wick_node *read, wick_dim sym)
{
  int64_t bytes = wick_read_stride(t->g, read, sym) *
                  (wick_elem_storage[wick_info_of(t->g, read->in[0])->elem].bits / 8);
  return bytes && bytes % PRODUCT_PAGE == 0;
}

static wick_elem product_sum(const template_state *t, const wick_stage *fold)
{
  return wick_info_of(t->g, template_node(t, fold)->region[1].first)->elem;
}

/* Returns the lanes of a vector along an axis of that extent: all lanes; for a shorter extent,
 * either the extent, masked, if this costs nothing, or a power of two that is not larger. */
int64_t template_dot_lanes(const template_state *t, int64_t extent)
{
  int64_t lanes = t->lanes;
  bool mask = t->t->mask & WICK_BIT(template_elem(t));
  while (lanes > extent && (!mask || lanes / 2 >= extent)) lanes /= 2;
  return lanes;
}

/* steps of the sum */
static uint64_t product_steps(const template_state *t, const wick_stage *fold)
{
  uint64_t n = 1;
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (fold->axis[k].reduce) n *= (uint64_t)template_extent(t, fold, k);
  return n;
}

/* ---- outer products ---- */

/* Returns the distance between the elements of neighbouring lanes, if they are in a few vectors;
 * else 0. */
static int64_t product_apart(const template_state *t, const wick_node *vectors, wick_dim sym)
{
  return template_step_of(t, vectors, sym) == 2 && template_is_near(t, vectors, sym, t->lanes)
             ? wick_read_stride(t->g, vectors, sym)
             : 0;
}

typedef struct product_outer {
  const wick_node *a, *b; /* the factors */
  template_roles roles;
  int64_t lanes;
  uint32_t dot; /* the axis of a dot product instruction; UINT32_MAX: none */
} product_outer;

/* Returns true if both factors are contiguous along the sum's last axis, which has a vector or more. */
static bool product_is_inner(const template_state *t, const wick_stage *fold, const wick_node *a,
                             const wick_node *b)
{
  uint32_t k = fold->naxis - 1;
  return fold->axis[k].reduce && !wick_stage_starts(t->s, fold) &&
         template_step_of(t, a, fold->axis[k].sym) == 1 &&
         template_step_of(t, b, fold->axis[k].sym) == 1 && template_most(t, fold, k) >= t->lanes;
}

const void *template_outer_product_of(template_state *t, const wick_stage *fold)
{
  uint32_t n = t->out->naxis;
  product_outer *f = wick_new(t->tmp, product_outer, 1);
  if (n < 1 || n > TEMPLATE_AXES || fold->naxis > TEMPLATE_AXES || t->lanes < 2 ||
      !product_factors(t, fold, &f->a, &f->b) ||
      !product_roles_of(t, fold, f->a, f->b, &f->roles) || template_extent(t, t->out, n - 1) < 2)
    return NULL;
  wick_dim v = fold->axis[n - 1].sym;
  bool apart = template_step_of(t, f->a, v) == 2 || template_step_of(t, f->b, v) == 2;
  if (apart && product_is_inner(t, fold, f->a, f->b)) return NULL;
  f->lanes = template_dot_lanes(t, template_most(t, t->out, n - 1));
  f->dot = template_dot_axis(t, fold, n - 1, WICK_DOTS_SHARED);
  if (f->dot != UINT32_MAX && f->lanes != t->t->vector_bytes / 4) return NULL;
  if (f->roles.run && f->lanes != t->lanes) return NULL;
  return f;
}

bool template_outer_product_match(template_state *t)
{
  t->found = t->plain && t->fold ? template_outer_product_of(t, t->fold) : NULL;
  return t->found;
}

/* Returns the factor of the product whose elements are the lanes, as the fold reads it. */
static const wick_node *product_vectors(const template_state *t, const wick_stage *fold,
                                        const product_outer *f)
{
  wick_product p;
  wick_product_of(t->g, template_node(t, fold), &p);
  return template_step_of(t, f->a, fold->axis[t->out->naxis - 1].sym) ? p.x : p.y;
}

/* Returns true if the read has no condition, or gives a number where it does not hold. */
static bool product_fill_is_known(const template_state *t, const wick_node *read)
{
  if (!read->attr[WICK_ATTR_read_guard].i) return read->nin == 1;
  for (uint32_t i = 0; i < t->g->nnode; i++)
    if (t->g->node[i].first.id == read->in[read->nin - 1].id)
      return read->nin == 2 && t->g->node[i].op == WICK_OP_const;
  return false;
}

const wick_node *template_panel_read(template_state *t)
{
  if (!template_outer_product_match(t)) return NULL;
  const product_outer *f = t->found;
  const wick_node *read = product_vectors(t, t->fold, f);
  template_partial partial;
  bool wanted = f->dot == UINT32_MAX && !product_stage(t, read) && product_fill_is_known(t, read) &&
                template_far_of(t, &f->roles, t->fold, read, &partial) == TEMPLATE_PANEL;
  return wanted ? read : NULL;
}

void template_panel_loops(template_state *t, const template_roles *r, const template_order *order)
{
  const wick_stage *p = t->panel;
  uint32_t v = t->out->naxis - 1, last = p->naxis - 1, outer = UINT32_MAX;
  bool split = order->columns < wick_ceildiv_i64(template_extent(t, t->out, v), t->lanes);
  for (uint32_t k = 0; k < v; k++)
    if (k != r->x) outer = k;
  wick_text_printf(&t->steps, "at %s %s.%s scratch; split %s.%s lane:%u; vector %s.lane; ", p->name,
                   t->out->name, template_loop(t, t->out, split ? v : outer), p->name,
                   template_loop(t, p, last), t->lanes, p->name);
}

void template_outer_product(template_state *t)
{
  const product_outer *f = t->found;
  const wick_node *read = product_vectors(t, t->fold, f);
  const wick_stage *st = product_stage(t, read);
  template_order order;
  if (st && product_is_panel(st) && template_panel_order(t, &f->roles, t->fold, read, &order))
    t->panel = st;
  template_inline_maps(t);
  template_outer_product_loops(t, t->fold, t->found);
}

void template_outer_product_loops(template_state *t, const wick_stage *fold, const void *found)
{
  const product_outer *f = found;
  const wick_node *a = f->a, *b = f->b;
  uint32_t n = t->out->naxis, dot = f->dot;
  int64_t lanes = f->lanes, v = template_extent(t, t->out, n - 1);
  template_roles r = f->roles;
  if (t->rows) r.y = UINT32_MAX;
  template_tile all = {r.no, wick_ceildiv_i64(v, lanes),
                       r.y != UINT32_MAX ? template_extent(t, t->out, r.y) : 1, r.nx};
  const wick_node *shared = template_step_of(t, a, fold->axis[n - 1].sym) ? b : a,
                  *vectors = shared == a ? b : a;
  if (t->panel) all.ob = 1;
  template_tile most = all;
  if (r.x != UINT32_MAX && product_pages_apart(t, shared, fold->axis[r.x].sym))
    most.tw = wick_min_i64(all.tw, PRODUCT_PAGES_MOST);
  int64_t spare = template_spare(t, product_sum(t, fold));
  if (dot != UINT32_MAX) {
    const wick_dot *row = product_dot_row(t, fold);
    spare = row->x == WICK_I16 ? 3 : 2; /* products of words are added by another instruction */
    if (row->pairs) spare = 4, r.parts = 2;
  }
  uint64_t weights = product_bytes(t, vectors), column =
                                                    /* bytes of one vector in the whole sum */
                                                product_steps(t, fold) * t->t->vector_bytes;
  if (dot != UINT32_MAX) column /= (uint64_t)template_extent(t, fold, dot);
  bool outside = product_outside(t, shared, weights) || template_has_groups(t, &r);
  if (t->knobs.outside) outside = t->knobs.outside > 1;
  int64_t apart = product_apart(t, vectors, fold->axis[n - 1].sym);
  double share = product_share(t, fold, vectors),
         fresh = dot == UINT32_MAX ? wick_cost_fresh(t->g, fold, vectors, lanes, apart) : 1;
  template_stream stream = {outside ? (uint64_t)((double)column * fresh) : 0,
                            weights,
                            share * wick_cost_first(t->t, weights),
                            share * product_visit(t, fold, vectors),
                            (int64_t)(column / t->t->vector_bytes),
                            product_beside(t, a, b),
                            apart,
                            fresh};
  if (stream.apart > 1) spare += stream.apart - 1; /* the places that shuffles take elements from */
  template_partial blocks;
  bool partial = !t->panel && dot == UINT32_MAX && lanes == t->lanes && !t->knobs.outside &&
                 template_far_of(t, &r, fold, vectors, &blocks) == TEMPLATE_PARTIAL;
  if (t->panel || partial) stream.each = stream.all = 0, stream.far = stream.visit = 0;
  if (partial) stream.steps = stream.steps * blocks.terms / template_extent(t, fold, blocks.sum);
  template_tile tile = template_tile_best(t, spare, &all, &most, &r, &stream);
  if (partial) {
    template_partial_loops(t, &r, &tile, fold, &blocks);
    return;
  }
  template_order order = {.channels_outside = outside, .axis = UINT32_MAX};
  if (t->panel && template_panel_order(t, &r, fold, vectors, &order)) {
    int64_t whole = wick_ceildiv_i64(order.columns, tile.vb) * tile.vb; /* tiles */
    if (whole < all.vb) order.columns = whole;                          /* a block stays a block */
  } else if (outside) {
    order = template_order_of(t, &r, &tile, fold, shared);
  }
  if (!t->knobs.outside && !t->panel && !r.run)
    order = template_order_columns(t, &r, &tile, fold, vectors, stream.beside, &order);
  if (t->rows) order = (template_order){.channels_outside = true, .axis = n - 3, .rows = t->rows};
  const char *at = template_out_loops(t, &r, &tile, &order, lanes);
  int64_t unroll = t->knobs.unroll ? t->knobs.unroll : 4;
  /* enough time to prefetch while these are in use */
  bool again = all.th * all.tw > tile.th * tile.tw || (double)(tile.th * tile.tw) > stream.far;
  bool fetch = weights > product_first_cache(t) && again;
  if ((r.run || r.o != UINT32_MAX) && !order.columns &&
      (t->knobs.prefetch ? t->knobs.prefetch > 1 : fetch))
    wick_text_printf(&t->steps, "prefetch %s.%s; ", t->out->name,
                     r.run ? template_columns_loop(t, &order, lanes)
                           : template_channels_loop(t, &r));
  if (order.channels_outside && r.y != UINT32_MAX && all.th > tile.th &&
      product_loads_fit(&tile, unroll) && template_reads_far(t, &r, fold, shared))
    wick_text_printf(&t->steps, "prefetch %s.%s; ", t->out->name,
                     template_rows_loop(t, &r, &tile, &order));
  if (t->panel) template_panel_loops(t, &r, &order);
  if (!t->panel && template_streams(t, fold, vectors, lanes * tile.vb))
    wick_text_printf(&t->steps, "prefetch %s.%s; ", t->out->name,
                     template_columns_loop(t, &order, lanes));
  wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  template_fold_loops(t, fold, &(template_fold){r.o, n - 1, dot, lanes, unroll, false, false});
}

/* ---- depthwise dot products ---- */

/* Returns a tile of positions in a row, in whole groups of positions that share reads, and of
 * rows. */
static template_tile product_depthwise_tile(template_state *t, const wick_stage *fold,
                                            const wick_node *x)
{
  uint32_t n = t->out->naxis;
  int64_t width = template_extent(t, t->out, n - 2), most = t->t->nvector / 2, share = 4, least,
          largest;
  wick_dim_range(t->g->module->dims, t->out->axis[n - 2].extent, &least, &largest);
  while (share > 1 && !template_shares(t, x, fold->axis[n - 2].sym, share, largest + share))
    share /= 2;
  int64_t tw = t->knobs.columns;
  if (!tw) tw = wick_ceildiv_i64(width, wick_ceildiv_i64(width, most));
  tw = wick_min_i64(width, wick_ceildiv_i64(tw, share) * share);
  int64_t th = t->knobs.rows                             ? t->knobs.rows
               : n > 2 && template_is(t->out, n - 2, tw) ? most / tw
                                                         : 1;
  t->refused = t->refused || tw * th > 2 * most;
  return (template_tile){1, 1, wick_max_i64(th, 1), tw};
}

typedef struct product_depthwise {
  const wick_node *x; /* the image */
  uint32_t dot;       /* the axis of the instruction */
} product_depthwise;

bool template_depthwise_dot_match(template_state *t)
{
  const wick_node *a, *b;
  const wick_stage *fold = t->fold;
  uint32_t n = t->out->naxis;
  if (!t->plain || !fold || n < 2 || n > TEMPLATE_AXES || fold->naxis > TEMPLATE_AXES ||
      t->lanes < 2)
    return false;
  product_depthwise *f = wick_new(t->tmp, product_depthwise, 1);
  t->found = f;
  f->dot = template_dot_axis(t, fold, n - 1, WICK_DOTS_ACROSS);
  if (f->dot == UINT32_MAX || !template_is(t->out, n - 1, t->t->vector_bytes / 4) ||
      !product_factors(t, fold, &a, &b))
    return false;
  f->x = template_step_of(t, a, fold->axis[n - 1].sym) == 1 ? a : b;
  return true;
}

void template_depthwise_dot(template_state *t)
{
  const product_depthwise *f = t->found;
  const wick_stage *fold = t->fold;
  uint32_t n = t->out->naxis;
  int64_t lanes = t->t->vector_bytes / 4;
  template_inline_maps(t);
  template_tile tile = product_depthwise_tile(t, fold, f->x);
  template_roles r = {n - 1, UINT32_MAX, n > 2 ? n - 3 : UINT32_MAX, n - 2, 1, 1, 0, 1, 1, 0, 0, 0};
  const char *at = template_out_loops(
      t, &r, &tile, &(template_order){.channels_outside = true, .axis = UINT32_MAX}, lanes);
  wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  template_fold_loops(t, fold, &(template_fold){UINT32_MAX, n - 1, f->dot, lanes, 8, true, false});
}

/* ---- inner products ---- */

typedef struct product_inner {
  const wick_node *a, *b; /* the factors, both contiguous along the sum's last axis */
} product_inner;

/* Writes the loops of the sum, then those of the tile, with the lanes along the sum's last axis. */
static void product_inner_loops(template_state *t, const wick_stage *fold, uint32_t k,
                                const template_roles *r)
{
  const char *name = template_loop(t, fold, k), *lane = name;
  if (template_splits_lanes(fold, k, t->lanes)) {
    lane = "lane";
    wick_text_printf(&t->steps, "split %s.%s lane:%u; ", fold->name, name, t->lanes);
  }
  template_order_begin(t, fold);
  for (int tile = 0; tile < 2; tile++)
    for (uint32_t a = 0; a < fold->naxis; a++)
      if (fold->axis[a].reduce != (bool)tile && a != r->o && (a != k || lane != name))
        wick_text_printf(&t->steps, " %s", template_loop(t, fold, a));
  if (r->o != UINT32_MAX) wick_text_printf(&t->steps, " %s", template_loop(t, fold, r->o));
  wick_text_printf(&t->steps, " %s; vector %s.%s; unroll", lane, fold->name, lane);
  for (uint32_t a = 0; a < fold->naxis; a++)
    if (!fold->axis[a].reduce)
      wick_text_printf(&t->steps, " %s.%s", fold->name, template_loop(t, fold, a));
  wick_text_add(&t->steps, "; ");
}

bool template_inner_product_match(template_state *t)
{
  const wick_stage *fold = t->fold;
  uint32_t n = t->out->naxis;
  if (!t->plain || !fold || n < 1 || n > TEMPLATE_AXES || fold->naxis > TEMPLATE_AXES ||
      t->lanes < 2)
    return false;
  product_inner *f = wick_new(t->tmp, product_inner, 1);
  t->found = f;
  return product_factors(t, fold, &f->a, &f->b) && product_is_inner(t, fold, f->a, f->b);
}

void template_inner_product(template_state *t)
{
  const product_inner *f = t->found;
  const wick_node *a = f->a, *b = f->b;
  const wick_stage *fold = t->fold;
  uint32_t n = t->out->naxis, k = fold->naxis - 1, rows = UINT32_MAX;
  template_roles r = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 1, 1, 0, 1, 1, 0, 0, 0};
  template_inline_maps(t);
  for (uint32_t i = 0; i < n; i++) {
    bool in_a = template_step_of(t, a, fold->axis[i].sym),
         in_b = template_step_of(t, b, fold->axis[i].sym);
    if (template_extent(t, t->out, i) <= 1) continue;
    /* neighbours with the same value of a */
    int64_t na = in_b ? product_sharing(t, a, fold, i) : 1,
            nb = in_a ? product_sharing(t, b, fold, i) : 1;
    if (na > 1) r.o = i, r.no = na;
    if (nb > 1) rows = r.x, r.x = i, r.nx = nb;
  }
  template_tile all = {r.no, 1, 1, r.nx};
  template_stream stream = {.each = product_steps(t, fold) / t->lanes * t->t->vector_bytes};
  int64_t spare = template_spare(t, product_sum(t, fold));
  template_tile tile = template_tile_best(t, spare, &all, &all, &r, &stream);
  template_order order = {.axis = UINT32_MAX};
  const char *at = template_out_loops(t, &r, &tile, &order, 1);
  if (rows != UINT32_MAX && template_reads_far(t, &r, fold, a)) /* `a` has the positions */
    wick_text_printf(&t->steps, "prefetch %s.%s; ", t->out->name, template_loop(t, t->out, rows));
  wick_text_printf(&t->steps, "at %s %s.%s reg; ", fold->name, t->out->name, at);
  product_inner_loops(t, fold, k, &r);
}
