/* The template for groups without a fold: element by element. */
#include "graph/group/template_state.h"

enum { MAP_SHORT = 4 }; /* vectors of a 1-D slice that the next one follows soon */

/* Iterations of an axis that are turned in registers, for vectors of so many lanes. */
static int64_t map_turn(const template_state *t, uint32_t axis, int64_t lanes)
{
  int64_t extent = template_extent(t, t->out, axis), n = lanes;
  while (n > extent) n /= 2;
  return n;
}

/* From multiples of `size` on, that many elements along an axis of the output lie next to each
 * other in what is read; *even: from any element on. */
static bool map_runs(const template_state *t, const wick_node *read, uint32_t axis, int64_t size,
                     bool *even)
{
  wick_dims *dims = t->g->module->dims;
  wick_dim sym = t->out->axis[axis].sym, coef, rest, from[2], first;
  uint32_t rank = wick_read_index(read)->n;
  first = wick_dim_mul(dims, wick_dim_symbol(dims, "run", 0, INT32_MAX), wick_dim_const(size));
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim d = wick_read_index(read)->dims[k];
    if (wick_dim_eq(d, WICK_DIM_ANY)) return false;
    from[0] = wick_dim_substitute(dims, d, 1, &sym, &first);
    for (int64_t i = 1; i < size; i++) {
      wick_dim at = wick_dim_add(dims, first, wick_dim_const(i));
      from[1] = wick_dim_substitute(dims, d, 1, &sym, &at);
      if (!wick_dim_is(wick_dim_sub(dims, from[1], from[0]), k + 1 == rank ? i : 0)) return false;
    }
  }
  *even = wick_dim_linear(dims, wick_read_index(read)->dims[rank - 1], sym, &coef, &rest) &&
          wick_dim_is(coef, 1);
  return true;
}

/* The axis, of the first n, along which a read finds neighbours that the vector takes from far
 * apart: a transposition. UINT32_MAX: none. */
static uint32_t map_across(const template_state *t, uint32_t n, int64_t lanes,
                           const wick_node **read, bool *even)
{
  const wick_node *out = template_node(t, t->out);
  for (uint32_t i = t->out->node + 1; i < out->end; i++) {
    const wick_node *r = &t->g->node[i];
    if (r->op != WICK_OP_read || template_step_of(t, r, t->out->axis[n - 1].sym) != 2) continue;
    for (uint32_t k = 0; k + 1 < n; k++) {
      int64_t size = map_turn(t, k, lanes);
      *read = r;
      if (size > 1 && map_runs(t, r, k, size, even)) return k;
    }
  }
  return UINT32_MAX;
}

/* Vector after vector along that axis, which uses up the lines that the lanes come from; or along
 * the last axis, so that what is written are a few lines that grow: where those are long, or the
 * lanes follow one another. Where the last iterations are fewer, and may begin anywhere, they begin
 * earlier. */
static void map_transposed(template_state *t, uint32_t n, uint32_t across, const wick_node *read,
                           bool even, int64_t lanes)
{
  int64_t size = map_turn(t, across, lanes);
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1),
             *along = template_loop(t, t->out, across);
  bool split = !template_is(t->out, n - 1, lanes);
  int64_t long_slice = wick_min_i64(4 * template_extent(t, t->out, n - 1), /* where it is open */
                                    template_most(t, t->out, n - 1));
  bool rows = split && (long_slice > MAP_SHORT * lanes ||
                        template_stride(t, read, t->out->axis[n - 1].sym) == size);
  if (split) wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, last, (long long)lanes);
  wick_text_printf(&t->steps, "split %s.%s turned:%lld; ", o, along, (long long)size);
  if (even && (template_varies(t->out, across) || template_extent(t, t->out, across) % size))
    wick_text_printf(&t->steps, "tail %s.%s overlap; ", o, along);
  uint32_t inner = rows ? n - 1 : across, naxis = t->out->naxis;
  template_order_begin(t, t->out);
  for (uint32_t i = 0, k = n % naxis; i < naxis; i++, k = (k + 1) % naxis)
    if (k != inner && (split || k + 1 != n))
      wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
  wick_text_printf(&t->steps, " %s turned %s; vector %s.%s; turn %s.turned; ", rows ? last : along,
                   split ? "lane" : last, o, split ? "lane" : last, o);
  for (uint32_t k = 0; k < naxis; k++)
    if (k != inner && (split || k + 1 != n))
      wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
}

/* Chunks of the one axis, so that there are tasks. */
static bool map_flat(template_state *t)
{
  const char *o = t->out->name, *name = template_loop(t, t->out, 0);
  int64_t lanes = template_wide(t, 0, template_vector_lanes(t, 0));
  if (template_extent(t, t->out, 0) < 1) return false;
  wick_text_printf(&t->steps, "split %s.%s chunk:%d; ", o, name, 4096);
  if (lanes > 1)
    wick_text_printf(&t->steps, "split %s.chunk lane:%lld; vector %s.lane; ", o, (long long)lanes,
                     o);
  wick_text_printf(&t->steps, "parallel %s.%s; ", o, name);
  return true;
}

/* Vectors along the last axis of more than one element, where it is long enough; tasks over all
 * other axes. */
bool template_map(template_state *t, const wick_stage *none)
{
  (void)none;
  uint32_t naxis = t->out->naxis, n = naxis;
  if (n < 1 || n > TEMPLATE_AXES) return false;
  while (n > 1 && template_is(t->out, n - 1, 1)) n--;
  if (naxis == 1) return map_flat(t);
  bool even = false;
  const wick_node *read = NULL;
  int64_t lanes = template_vector_lanes(t, n - 1), few = template_extent(t, t->out, n - 1);
  if (lanes == 1 && few >= 4 && few <= 8 && !(few & (few - 1)) &&
      map_across(t, n, few, &read, &even) != UINT32_MAX)
    lanes = few; /* of short elements: vectors that are no whole registers, but many */
  uint32_t across = lanes > 1 && lanes <= 16 ? map_across(t, n, lanes, &read, &even) : UINT32_MAX;
  if (across != UINT32_MAX) {
    map_transposed(t, n, across, read, even, lanes);
    return true;
  }
  /* The last axis' loop stays inside the task: a task of one vector is too small. */
  const char *o = t->out->name, *last = template_loop(t, t->out, n - 1);
  bool whole = lanes > 1 && template_is(t->out, n - 1, lanes), split = lanes > 1 && !whole;
  if (split)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; ", o, last,
                     (long long)template_wide(t, n - 1, lanes));
  if (lanes > 1 && n < naxis) {
    template_order_begin(t, t->out);
    for (uint32_t i = 0, k = n; i < naxis; i++, k = (k + 1) % naxis)
      wick_text_printf(&t->steps, " %s", template_loop(t, t->out, k));
    wick_text_printf(&t->steps, "%s; ", split ? " lane" : "");
  }
  if (lanes > 1) wick_text_printf(&t->steps, "vector %s.%s; ", o, split ? "lane" : last);
  uint32_t inside = whole && n > 2 ? n - 2 : n - 1; /* from there on: whole rows of vectors */
  for (uint32_t k = 0; k < naxis; k++)
    if (k < inside || (lanes > 1 && k >= n))
      wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
  return true;
}
