/* Blocks of positions. If the data that all positions read exceeds the second cache, each tile of
 * channels would load it again from farther away; blocks keep it in the cache. */
#include "graph/group/template_state.h"

/* Vectors that are whole pages apart fall into one set of the nearest cache. */
enum { ORDER_PAGE = 4096 /* bytes */ };

/* Writes how many indices of each dimension of the parameter the positions of a block read, for one
 * group of channels, and returns true if they are known. A block has one position along each axis
 * before `axis`, `rows` positions along `axis`, and all positions along the axes after it. If `axis`
 * is UINT32_MAX, the block has all positions. */
static bool order_spans(const template_state *t, const template_roles *r, const wick_stage *fold,
                        const wick_node *shared, uint32_t axis, int64_t rows, int64_t *span)
{
  wick_dims *dims = t->g->module->dims;
  const wick_type_info *info = wick_info_of(t->g, shared->in[0]);
  wick_dim sym[TEMPLATE_AXES];
  int64_t first[TEMPLATE_AXES] = {0}, last[TEMPLATE_AXES] = {0};
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->out->naxis; k++) {
    bool all = (k > axis || axis == UINT32_MAX) && template_is_position(t, r, k);
    if (all && !template_varies(t->out, k)) continue;
    last[n] = all ? template_extent(t, t->out, k) - 1 : k == axis ? rows - 1 : 0;
    sym[n++] = fold->axis[k].sym;
  }
  for (uint32_t k = 0; k < info->rank; k++) {
    int64_t lo, hi, extent = wick_dim_is_const(info->dim[k]) ? info->dim[k].v : INT32_MAX;
    if (wick_dim_eq(wick_read_index(shared)->dims[k], WICK_DIM_ANY)) return false;
    wick_dim_range_with(dims, wick_read_index(shared)->dims[k], n, sym, first, last, &lo, &hi);
    span[k] = wick_min_i64(hi - lo + 1, extent);
  }
  return true;
}

/* Returns how many bytes of the parameter such a block reads. */
static uint64_t order_bytes(const template_state *t, const template_roles *r,
                            const wick_stage *fold, const wick_node *shared, uint32_t axis,
                            int64_t rows)
{
  const wick_type_info *info = wick_info_of(t->g, shared->in[0]);
  int64_t span[WICK_MAX_RANK];
  uint64_t bytes = wick_elem_bytes(info->elem, 1);
  if (!order_spans(t, r, fold, shared, axis, rows, span)) return UINT64_MAX;
  for (uint32_t k = 0; k < info->rank; k++) bytes *= (uint64_t)span[k];
  return bytes;
}

/* Returns how many rows of the parameter a tile reads. */
static int64_t order_rows(const template_state *t, const template_roles *r, const wick_stage *fold,
                          const wick_node *vectors)
{
  int64_t span[WICK_MAX_RANK], rows = 1;
  uint32_t rank = wick_info_of(t->g, vectors->in[0])->rank;
  if (!order_spans(t, r, fold, vectors, t->out->naxis - 1, t->lanes, span)) return INT64_MAX;
  for (uint32_t k = 0; k + 1 < rank; k++) rows *= span[k];
  return rows;
}

/* Returns how many parts of the memory, at least a page apart, a tile reads. */
static int64_t order_parts(const template_state *t, const template_roles *r, const wick_stage *fold,
                           const wick_node *vectors)
{
  int64_t span[WICK_MAX_RANK], parts = 1;
  const wick_type_info *info = wick_info_of(t->g, vectors->in[0]);
  uint64_t apart = wick_elem_bytes(info->elem, 1);
  if (!order_spans(t, r, fold, vectors, t->out->naxis - 1, t->lanes, span)) return 0;
  for (uint32_t k = info->rank; k-- > 0; apart *= (uint64_t)info->dim[k].v)
    if (apart >= ORDER_PAGE) parts *= span[k];
  return parts;
}

static uint64_t order_cache(const template_state *t) { return wick_target_cache(t->t, 2); }

bool template_reads_far(const template_state *t, const template_roles *r, const wick_stage *fold,
                        const wick_node *shared)
{
  return order_bytes(t, r, fold, shared, UINT32_MAX, 0) > 2 * order_cache(t);
}

/* Returns true if each vector of the result is whole cache lines, and the vectors of neighbouring
 * positions do not fall into the same sets of the nearest cache. They are then stored as fast far from
 * each other as one after another. */
static bool order_stores_apart(const template_state *t, const template_roles *r)
{
  uint32_t v = t->out->naxis - 1;
  wick_elem e = wick_info_of(t->g, template_node(t, t->out)->first)->elem;
  int64_t apart = (int64_t)wick_elem_bytes(e, 1), line = apart * template_extent(t, t->out, v);
  for (uint32_t k = v; k > r->x; k--) {
    if (template_varies(t->out, k)) return false;
    apart *= template_extent(t, t->out, k);
  }
  return t->t->vector_bytes >= WICK_LINE && line % WICK_LINE == 0 && apart % ORDER_PAGE != 0;
}

template_order template_order_columns(const template_state *t, const template_roles *r,
                                      const template_tile *tile, const wick_stage *fold,
                                      const wick_node *vectors, uint32_t beside,
                                      const template_order *order)
{
  enum { STEPS = 256, ROWS = 64, LEAST = 8 /* vectors */ };
  const wick_node *out = template_node(t, t->out);
  uint32_t v = t->out->naxis - 1;
  int64_t n = wick_ceildiv_i64(template_extent(t, t->out, v), t->lanes), columns = n, parts = 1,
          steps = 1;
  for (uint32_t k = 0; k < fold->naxis; k++)
    if (fold->axis[k].reduce) steps *= template_extent(t, fold, k);
  uint64_t result = wick_type_typical_nbytes(t->g->module, wick_type_of(t->g, out->first)),
           read = wick_type_typical_nbytes(t->g->module, wick_type_of(t->g, vectors->in[0]));
  if (tile->ob > 1 || tile->th > 1 || template_has_groups(t, r) || r->x == UINT32_MAX ||
      r->v != v || t->cut || t->rows || template_varies(t->out, v) ||
      template_extent(t, t->out, r->x) <= tile->tw || steps > STEPS ||
      result * (1 + beside) + read <= order_cache(t))
    return *order;
  template_roles inside = {r->x, UINT32_MAX, UINT32_MAX, UINT32_MAX, .batch = r->batch};
  uint64_t most = order_cache(t) / 2;
  if (order_bytes(t, &inside, fold, vectors, UINT32_MAX, 0) <= order_cache(t) / 8 * 5)
    return order_stores_apart(t, r) ? *order : (template_order){.axis = UINT32_MAX};
  if (result * (1 + beside) <= order_cache(t) || order_rows(t, r, fold, vectors) > ROWS)
    return *order;
  while (columns > LEAST && order_bytes(t, r, fold, vectors, v, columns * t->lanes) > most)
    columns = wick_ceildiv_i64(wick_ceildiv_i64(n, ++parts), tile->vb) * tile->vb;
  int64_t all = r->o == v - 1 ? template_extent(t, t->out, r->o) : 1, lines = all;
  for (parts = 1; lines > 1 && order_bytes(t, &inside, fold, vectors, r->o, lines) > most;)
    lines = wick_ceildiv_i64(all, ++parts);
  if (columns < n) lines = 1;
  if (columns * lines < LEAST) return *order;
  return (template_order){.axis = UINT32_MAX, .columns = columns, .lines = lines > 1 ? lines : 0};
}

/* Returns how many elements the panel has for a block of that many columns and lines; INT64_MAX if this
 * is not known. */
static int64_t order_panel(const template_state *t, const template_roles *r, const wick_stage *fold,
                           const wick_node *vectors, const template_order *order)
{
  wick_dims *dims = t->g->module->dims;
  const wick_attr *index = wick_read_index(vectors);
  wick_dim sym[TEMPLATE_AXES];
  int64_t first[TEMPLATE_AXES] = {0}, last[TEMPLATE_AXES], n = 1;
  for (uint32_t k = 0; k < t->out->naxis; k++) {
    int64_t extent = template_extent(t, t->out, k);
    sym[k] = fold->axis[k].sym;
    last[k] = k == r->x   ? extent - 1
              : k == r->v ? wick_min_i64(order->columns * t->lanes, extent) - 1
              : k == r->o ? wick_max_i64(order->lines, 1) - 1
                          : 0;
  }
  for (uint32_t k = 0; k < index->n; k++) {
    int64_t lo, hi;
    if (wick_dim_eq(index->dims[k], WICK_DIM_ANY)) return INT64_MAX;
    wick_dim_range_with(dims, index->dims[k], t->out->naxis, sym, first, last, &lo, &hi);
    if (wick_mul_overflows(n, hi - lo + 1, &n)) return INT64_MAX;
  }
  return n;
}

bool template_panel_order(const template_state *t, const template_roles *r, const wick_stage *fold,
                          const wick_node *vectors, template_order *out)
{
  enum { TASKS = 16, LEAST = 8 /* vectors */ };
  uint32_t v = t->out->naxis - 1;
  if (r->x == UINT32_MAX || r->v != v || t->cut || t->rows || template_has_groups(t, r))
    return false;
  int64_t n = wick_ceildiv_i64(template_extent(t, t->out, v), t->lanes), tasks = 1, parts = 1;
  wick_elem e = wick_info_of(t->g, vectors->in[0])->elem;
  /* in elements, as what a block writes */
  int64_t most = (int64_t)(order_cache(t) / 2 / wick_elem_bytes(e, 1)),
          own = template_extent(t, t->out, r->x) * t->lanes;
  for (uint32_t k = 0; k < v; k++)
    if (k != r->x) tasks *= template_extent(t, t->out, k);
  *out = (template_order){.axis = UINT32_MAX, .columns = n};
  while (out->columns > LEAST &&
         (order_panel(t, r, fold, vectors, out) > most - own * out->columns ||
          tasks * wick_ceildiv_i64(n, out->columns) < TASKS))
    out->columns = wick_ceildiv_i64(n, ++parts);
  if (parts == 1 && r->o == v - 1) {
    int64_t all = template_extent(t, t->out, r->o);
    for (template_order more = *out; parts <= all; parts++) {
      more.lines = wick_ceildiv_i64(all, parts);
      if (order_panel(t, r, fold, vectors, &more) > most - own * n * more.lines ||
          tasks / all * wick_ceildiv_i64(all, more.lines) < TASKS)
        continue;
      if (more.lines > 1) *out = more;
      break;
    }
  }
  /* the panel is computed in a loop around that over x */
  bool outside = v > 1 || parts > 1;
  return outside && order_panel(t, r, fold, vectors, out) <= most;
}

/* Returns how many products there are; 0 if a size is not known, or if the vectors are in the second
 * cache. */
static double order_products(const template_state *t, const wick_stage *fold,
                             const wick_node *vectors)
{
  const wick_type_info *info = wick_info_of(t->g, vectors->in[0]);
  double products = 1;
  for (uint32_t k = 0; k < fold->naxis; k++) {
    if (template_varies(fold, k)) return 0;
    products *= (double)template_extent(t, fold, k);
  }
  for (uint32_t k = 0; k < info->rank; k++)
    if (!wick_dim_is_const(info->dim[k])) return 0;
  uint64_t bytes = wick_type_typical_nbytes(t->g->module, wick_type_of(t->g, vectors->in[0]));
  return bytes > order_cache(t) ? products : 0;
}

/* Returns true if there may be a panel, and each of its elements has that many uses. */
static bool order_panel_pays(const template_state *t, const template_roles *r,
                             const wick_stage *fold, const wick_node *vectors, double products,
                             int uses)
{
  template_order order;
  if (!template_panel_order(t, r, fold, vectors, &order)) return false;
  double copies = (double)order_panel(t, r, fold, vectors, &order);
  for (uint32_t k = 0; k < t->out->naxis; k++) {
    int64_t block = k == r->v   ? order.columns * t->lanes
                    : k == r->o ? wick_max_i64(order.lines, 1)
                                : 1;
    if (k != r->x) copies *= (double)wick_ceildiv_i64(template_extent(t, t->out, k), block);
  }
  return products >= uses * copies;
}

/* Where rows are in more parts of the memory than the processor reads at once, a tile waits for each of them, and a
 * panel pays after a few uses. Elsewhere it pays if so many tiles use an element that those after the first
 * have it in a nearer cache. */
template_far template_far_of(const template_state *t, const template_roles *r,
                             const wick_stage *fold, const wick_node *vectors,
                             template_partial *out)
{
  enum { SOON = 16, LATE = 56, USES = 24, STREAMS = 32 /* fewer rows are left as they are */ };
  const wick_type_info *info = wick_info_of(t->g, vectors->in[0]);
  double products = order_products(t, fold, vectors), elements = 1;
  int64_t parts = products > 0 ? order_parts(t, r, fold, vectors) : 0;
  if (parts <= STREAMS) return TEMPLATE_AS_IT_IS;
  bool waits = (double)parts > wick_target_processor(t->t)->streams,
       panel = order_panel_pays(t, r, fold, vectors, products, waits ? SOON : LATE);
  for (uint32_t k = 0; k < info->rank; k++) elements *= (double)info->dim[k].v;
  if (waits && template_partial_of(t, r, fold, vectors, out) &&
      (!panel || products < USES * elements))
    return TEMPLATE_PARTIAL;
  return panel ? TEMPLATE_PANEL : TEMPLATE_AS_IT_IS;
}

bool template_streams(const template_state *t, const wick_stage *fold, const wick_node *vectors,
                      int64_t width)
{
  enum { HIDDEN = 8, SHARE = 4 };
  uint32_t v = t->out->naxis - 1;
  uint64_t nbytes = wick_type_typical_nbytes(t->g->module, wick_type_of(t->g, vectors->in[0]));
  double steps = 1, products = 1.0 / t->lanes;
  for (uint32_t k = 0; k < fold->naxis; k++) {
    double extent = (double)template_extent(t, fold, k);
    products *= extent, steps *= fold->axis[k].reduce ? extent : 1;
  }
  wick_elem e = wick_info_of(t->g, vectors->in[0])->elem;
  double tile = steps * (double)wick_elem_bytes(e, (uint64_t)width);
  return nbytes > order_cache(t) && template_extent(t, t->out, v) > width &&
         SHARE * tile <= (double)order_cache(t) &&
         wick_read_stride(t->g, vectors, fold->axis[v].sym) &&
         HIDDEN * (double)nbytes / WICK_LINE * wick_target_weights(t->t, nbytes) >
             products / wick_target_products(t->t);
}

/* Returns the rows of a block along an axis of dynamic extent: as many as the cache can hold,
 * rounded down to a power of two, because most sizes in practice are powers of two; or just enough
 * tiles for that many rows. Blocks are even because a last block of few rows leaves one of two
 * threads with little work. */
static int64_t order_even(const template_state *t, const template_roles *r, const wick_stage *fold,
                          const wick_node *shared, uint32_t axis, int64_t tile, uint64_t budget)
{
  int64_t even = 1, least, most;
  wick_dim_range(t->g->module->dims, t->out->axis[axis].extent, &least, &most);
  while (even < most && order_bytes(t, r, fold, shared, axis, even * 2) <= budget) even *= 2;
  int64_t rows = wick_ceildiv_i64(even, tile) * tile;
  bool fits = rows == tile || order_bytes(t, r, fold, shared, axis, rows) <= budget;
  return fits ? rows : rows - tile;
}

template_order template_order_of(const template_state *t, const template_roles *r,
                                 const template_tile *tile, const wick_stage *fold,
                                 const wick_node *shared)
{
  const template_order all = {.channels_outside = true, .axis = UINT32_MAX};
  template_order order = all;
  uint64_t budget = order_cache(t) / 2;
  /* the channels are traversed only once */
  int64_t channels = r->run ? template_extent(t, t->out, r->v) : r->no,
          once = r->run ? tile->vb * t->lanes : tile->ob;
  if (channels <= once || r->x == UINT32_MAX) return all;
  for (uint32_t k = 0; k < t->out->naxis; k++) {
    int64_t extent = template_extent(t, t->out, k),
            least = k == r->y   ? tile->th
                    : k == r->x ? tile->tw
                                : 1,
            n = 1, rows = extent;
    if (!template_is_position(t, r, k)) continue;
    while (rows > least && order_bytes(t, r, fold, shared, k, rows) > budget)
      rows = wick_ceildiv_i64(wick_ceildiv_i64(extent, ++n), least) * least;
    if (n > 1 && rows > least && template_varies(t->out, k))
      rows = order_even(t, r, fold, shared, k, least, budget);
    if (order_bytes(t, r, fold, shared, k, rows) > budget)
      /* one row in each block; the next axis divides it further */
      order = (template_order){.channels_outside = true, .axis = k, .rows = rows};
    else
      return n == 1 ? order : (template_order){.channels_outside = true, .axis = k, .rows = rows};
  }
  return all;
}
