/* Halos of zeros: which reads need them, and the kernel that writes them. */
#include "graph/group/halo.h"

#include <stdio.h>
#include <string.h>

#include "graph/group/cost.h"
#include "ops/elementwise/scalar.h"

/* Measured on windows of 3 and 5 elements along one or two axes: the rows of a tile share most of
 * the conditions. */
static const double HALO_WINDOW = 0.25;

enum { HALO_MOST = 64, HALO_RATIO = 16, HALO_NUMBER = 1 << 20, HALO_LANES = 4 };

/* ---- which groups need halos ---- */

/* Returns true if v is a number that a halo may have. For floats only 0 is possible. */
static bool halo_number(const wick_func *g, wick_value v, int64_t *out)
{
  *out = 0;
  for (uint32_t i = 0; i < g->nnode; i++)
    if (g->node[i].op == WICK_OP_const && g->node[i].first.id == v.id) {
      *out = wick_const_imm(&g->node[i])->i;
      return !wick_const_imm(&g->node[i])->constant && wick_const_imm(&g->node[i])->f == 0 &&
             *out > -HALO_NUMBER && *out < HALO_NUMBER;
    }
  return false;
}

/* Returns true if the read is in a map whose last axis is contiguous there, or is in several indices
 * (of a phase and of a block). It reads an element once, and its conditions are masks of vectors,
 * which cost less than another copy of the tensor. */
static bool halo_copies(const wick_func *g, uint32_t read)
{
  const wick_node *n = &g->node[read], *stage = NULL;
  for (uint32_t i = 0; i < read; i = g->node[i].end)
    if (g->node[i].end > read) stage = &g->node[i];
  uint32_t rank = wick_read_index(n)->n, moved = 0;
  if (!stage || stage->op != WICK_OP_map || !rank || !wick_stage_axes(stage)->n) return false;
  wick_dim last = wick_stage_axes(stage)->axes[wick_stage_axes(stage)->n - 1].sym, coef, rest;
  bool unit = false;
  for (uint32_t d = 0; d < rank; d++) {
    bool linear = wick_dim_linear(g->module->dims, wick_read_index(n)->dims[d], last, &coef, &rest);
    moved += !linear || !wick_dim_is(coef, 0);
    unit = linear && wick_dim_is(coef, 1); /* of the last index */
  }
  return unit || moved > 1;
}

bool wick_halo_wanted(const wick_func *g, uint32_t k, wick_halo *out)
{
  const wick_type_info *t = wick_info_of(g, (wick_value){k + 1});
  int64_t dim[WICK_MAX_RANK], inside = 1, all = 1;
  bool any = false, guarded = false;
  *out = (wick_halo){.fill = 0};
  if (t->kind != WICK_TENSOR || !wick_type_const_dims(t, dim)) return false;
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    if (n->op != WICK_OP_read || n->in[0].id != k + 1 || !n->attr[WICK_ATTR_read_guard].i ||
        halo_copies(g, i))
      continue;
    int64_t fill;
    if (n->nin != 2 || !halo_number(g, n->in[1], &fill) || (guarded && fill != out->fill))
      return false;
    out->fill = fill, guarded = true;
    for (uint32_t d = 0; d < t->rank; d++) {
      int64_t lo, hi;
      wick_dim_range(g->module->dims, wick_read_index(n)->dims[d], &lo, &hi);
      out->lo[d] = wick_max_i64(out->lo[d], -lo);
      out->hi[d] = wick_max_i64(out->hi[d], hi - dim[d] + 1);
    }
  }
  for (uint32_t d = 0; d < t->rank; d++) {
    any = any || out->lo[d] || out->hi[d];
    if (out->lo[d] > HALO_MOST || out->hi[d] > HALO_MOST) return false;
    inside *= dim[d];
    all *= dim[d] + out->lo[d] + out->hi[d];
  }
  return any && all <= inside * HALO_RATIO;
}

/* Returns how many elements of the output the iterations of the loop that computes `fold` cover
 * along axis a. */
static int64_t halo_tile(const wick_stage *out, const wick_stage *fold, uint32_t a, int64_t extent)
{
  int64_t n = 1;
  for (uint32_t i = fold->consumer_loop + 1; i < out->loops.n; i++) {
    const wick_sloop *l = &out->loops.at[i];
    if (l->axis == a) n *= l->size ? l->size : wick_ceildiv_i64(extent, l->factor);
  }
  return wick_min_i64(n, extent);
}

/* Returns the share of the tiles that read beyond the parameter along one of its dimensions.
 * `extent` and `tile` are those of the output's axes. */
static double halo_border(wick_dims *dims, const wick_stage *fold, wick_dim index, int64_t size,
                          uint32_t naxis, const int64_t *extent, const int64_t *tile)
{
  for (uint32_t a = 0; a < naxis; a++) {
    wick_dim coef, rest;
    int64_t lo, hi;
    if (!wick_dim_uses(dims, index, fold->axis[a].sym)) continue;
    if (!wick_dim_linear(dims, index, fold->axis[a].sym, &coef, &rest) ||
        !wick_dim_is_const(coef) || coef.v < 1)
      return 1;
    wick_dim_range(dims, rest, &lo, &hi);
    int64_t begin = lo < 0 ? wick_ceildiv_i64(-lo, coef.v) : 0, /* the positions inside */
        end = hi < size ? wick_min_i64(wick_ceildiv_i64(size - hi, coef.v), extent[a]) : 0,
            first = wick_ceildiv_i64(begin, tile[a]), n = wick_ceildiv_i64(extent[a], tile[a]),
            last = end >= extent[a] ? n : end / tile[a];
    return last <= first ? 1 : 1 - (double)(last - first) / (double)n;
  }
  return 1;
}

/* Returns the share of the tiles of a sum that read beyond the parameter. */
static double halo_borders(const wick_schedule *s, uint32_t k, const wick_halo *h)
{
  const wick_func *g = s->group;
  const wick_type_info *type = wick_info_of(g, (wick_value){k + 1});
  const wick_stage *out = &s->stage[s->output];
  double inside = 1;
  for (uint32_t i = 0; i < s->nstage; i++) {
    const wick_stage *st = &s->stage[i];
    int64_t extent[WICK_MAX_RANK], tile[WICK_MAX_RANK];
    bool fits = st->fold && st->where == WICK_AT && st->consumer == s->output &&
                out->naxis <= WICK_MAX_RANK && out->naxis <= st->naxis;
    for (uint32_t a = 0; fits && a < out->naxis; a++) {
      if (!wick_dim_is_const(out->axis[a].extent)) return 1;
      extent[a] = out->axis[a].extent.v, tile[a] = halo_tile(out, st, a, extent[a]);
    }
    for (uint32_t r = st->node + 1; r < g->node[st->node].end; r++) {
      const wick_node *n = &g->node[r];
      if (n->op != WICK_OP_read || n->in[0].id != k + 1 || !n->attr[WICK_ATTR_read_guard].i)
        continue;
      /* only conditions of lanes cost little */
      fits = fits && wick_dim_uses(g->module->dims, wick_read_index(n)->dims[type->rank - 1],
                                   st->axis[out->naxis - 1].sym);
      for (uint32_t d = 0; d < type->rank; d++)
        if (h->lo[d] || h->hi[d])
          inside *= !fits ? 0
                          : 1 - halo_border(g->module->dims, st, wick_read_index(n)->dims[d],
                                            type->dim[d].v, out->naxis, extent, tile);
    }
  }
  return 1 - inside;
}

/* Returns true if the conditions of the tiles at borders cost more than a copy. Such a tile takes
 * about twice as long, and much longer if conditions of lanes are no masks of vectors; along one or
 * two axes it takes the share `few` longer. */
static bool halo_borders_cost(const wick_func *g, const wick_target *t, uint32_t k,
                              const wick_halo *h, uint32_t share, double few, wick_arena *tmp)
{
  wick_schedule *s = wick_schedule_begin(g, tmp);
  if (wick_schedule_apply(s, g->schedule) || wick_schedule_check(s)) return true;
  uint64_t nbytes = wick_type_typical_nbytes(g->module, wick_type_of(g, (wick_value){k + 1}));
  double copy =
      (double)nbytes / t->vector_bytes * wick_target_move(t, nbytes) / wick_target_products(t);
  const wick_type_info *type = wick_info_of(g, (wick_value){k + 1});
  bool masks = t->mask & WICK_BIT(type->elem);
  uint32_t axes = 0;
  for (uint32_t d = 0; d < type->rank; d++) axes += h->lo[d] || h->hi[d];
  double more = !masks ? 16 : axes <= 2 ? few : 1; /* of a tile's time */
  return halo_borders(s, k, h) * more * wick_cost_of(s, t).cycles > copy / share;
}

bool wick_halo_is_worth_copy(const wick_func *g, const wick_target *t, uint32_t k,
                             const wick_halo *h, uint32_t share, wick_arena *tmp)
{
  uint32_t last = wick_info_of(g, (wick_value){k + 1})->rank - 1u;
  const char *name = g->schedule ? wick_schedule_template(g->schedule, tmp) : NULL;
  bool whole = !h->lo[last] && !h->hi[last];
  if (name && strcmp(name, "outer_product") == 0)
    return halo_borders_cost(g, t, k, h, share, 1, tmp);
  if (name && strcmp(name, "window") == 0)
    return halo_borders_cost(g, t, k, h, share, HALO_WINDOW, tmp);
  return !name || strcmp(name, "transpose") != 0 || !whole;
}

void wick_halo_join(wick_halo *h, const wick_halo *more, uint32_t rank)
{
  for (uint32_t d = 0; d < rank; d++) {
    h->lo[d] = wick_max_i64(h->lo[d], more->lo[d]);
    h->hi[d] = wick_max_i64(h->hi[d], more->hi[d]);
  }
  h->fill = more->fill;
}

void wick_halo_declare(wick_func *group, uint32_t k, const wick_halo *h, wick_arena *tmp)
{
  wick_text t = wick_text_begin(tmp);
  wick_text_printf(&t, "%shalo %u", group->schedule ? group->schedule : "", k);
  for (uint32_t d = 0; d < wick_info_of(group, (wick_value){k + 1})->rank; d++)
    wick_text_printf(&t, " %lld,%lld", (long long)h->lo[d], (long long)h->hi[d]);
  if (h->fill) wick_text_printf(&t, " =%lld", (long long)h->fill);
  wick_text_add(&t, "; ");
  group->schedule = wick_intern(group->module, t.at);
}

/* ---- the zeros ---- */

/* One box of zeros in a buffer: its first index and its extents. */
typedef struct halo_box {
  int64_t at[WICK_MAX_RANK], extent[WICK_MAX_RANK];
} halo_box;

/* Finds boxes that cover the halo without overlap. A box along axis d covers the axes after d
 * completely, and the inside of the axes before d. */
static uint32_t halo_boxes(const int64_t *dim, const wick_halo *h, uint32_t rank, halo_box *out)
{
  uint32_t n = 0;
  for (uint32_t d = 0; d < rank; d++)
    for (int end = 0; end < 2; end++) {
      int64_t width = end ? h->hi[d] : h->lo[d];
      if (!width) continue;
      halo_box *b = &out[n++];
      for (uint32_t k = 0; k < rank; k++) {
        b->at[k] = k < d ? h->lo[k] : 0;
        b->extent[k] = k < d ? dim[k] : dim[k] + h->lo[k] + h->hi[k];
      }
      b->at[d] = end ? dim[d] + h->lo[d] : 0;
      b->extent[d] = width;
    }
  return n;
}

/* Builds a group that writes a tensor of `fill` for each box, with vectors along the last axis. */
static const char *halo_group(wick_module *m, const wick_target *t, wick_elem elem, uint32_t rank,
                              const halo_box *box, uint32_t nbox, int64_t fill, wick_arena *tmp)
{
  wick_builder b;
  wick_text steps = wick_text_begin(tmp);
  wick_value result[2 * WICK_MAX_RANK];
  int64_t most = t->vector_bytes * 8 / wick_elem_storage[elem].bits;
  const char *name = wick_str_printf(tmp, "halo.%u", m->funcs.n);
  wick_build_begin(&b, m, WICK_GROUP, name, &m->mem);
  wick_type one = wick_type_scalar(m, elem, 1);
  for (uint32_t i = 0; i < nbox; i++) {
    wick_axis axis[WICK_MAX_RANK];
    wick_type type = wick_type_tensor_const(m, elem, rank, box[i].extent);
    wick_axes_of(&b, type, axis);
    wick_map_begin(&b, "zero", rank, axis, 1, &type);
    wick_value zero = wick_build_const(&b, one, 0, fill);
    result[i] = wick_map_end(&b, 1, &zero);
    char stage[32];
    snprintf(stage, sizeof stage, i ? "zero.%u" : "zero", i);
    int64_t lanes = most, last = box[i].extent[rank - 1];
    while (lanes > last && lanes > HALO_LANES) lanes /= 2;
    if (lanes > 1 && last == lanes)
      wick_text_printf(&steps, "vector %s.d%u; ", stage, rank - 1);
    else if (lanes > 1 && last > lanes)
      wick_text_printf(&steps, "split %s.d%u lane:%lld; vector %s.lane; ", stage, rank - 1,
                       (long long)lanes, stage);
  }
  wick_build_return(&b, nbox, result);
  wick_func *g = NULL;
  if (wick_build_end(&b, &g)) return NULL;
  g->schedule = wick_intern(m, steps.at);
  wick_module_set(m, g);
  return g->name;
}

static wick_type halo_view_type(wick_module *m, const wick_type_info *t, const int64_t *extent,
                                const int64_t *stride)
{
  wick_dim dim[WICK_MAX_RANK], step[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++)
    dim[k] = wick_dim_const(extent[k]), step[k] = wick_dim_const(stride[k]);
  return wick_type_intern(m, &(wick_type_info){.kind = WICK_BUFFER,
                                               .elem = t->elem,
                                               .rank = t->rank,
                                               .dim = dim,
                                               .stride = step,
                                               .space = WICK_ARENA});
}

static wick_value halo_view(wick_builder *b, wick_value whole, wick_type type, const int64_t *at,
                            const int64_t *stride, uint32_t rank)
{
  int64_t offset = 0;
  for (uint32_t k = 0; k < rank; k++) offset += at[k] * stride[k];
  return wick_build_view(b, whole, type, offset, NULL);
}

wick_value wick_halo_alloc(wick_builder *b, const wick_target *t, wick_type tensor,
                           const wick_halo *h, wick_arena *tmp)
{
  wick_module *m = b->module;
  const wick_type_info *info = wick_type_get(m, tensor);
  int64_t dim[WICK_MAX_RANK], stride[WICK_MAX_RANK], step = 1;
  wick_dim padded[WICK_MAX_RANK];
  wick_type_const_dims(info, dim);
  for (uint32_t k = info->rank; k-- > 0;) {
    stride[k] = step;
    step *= dim[k] + h->lo[k] + h->hi[k];
    padded[k] = wick_dim_const(dim[k] + h->lo[k] + h->hi[k]);
  }
  wick_type type = wick_type_buffer(m, info->elem, info->rank, padded, WICK_ARENA);
  wick_value whole = wick_build(b, WICK_OP_alloc, 0, NULL, NULL, 1, &type), in[2 * WICK_MAX_RANK];
  halo_box box[2 * WICK_MAX_RANK];
  uint32_t n = halo_boxes(dim, h, info->rank, box);
  for (uint32_t i = 0; i < n; i++)
    in[i] = halo_view(b, whole, halo_view_type(m, info, box[i].extent, stride), box[i].at, stride,
                      info->rank);
  wick_attr a = {.s = halo_group(m, t, info->elem, info->rank, box, n, h->fill, tmp)};
  if (!a.s)
    wick_build_fail(b, WICK_EINTERNAL, "the kernel that writes a halo cannot be built");
  else
    wick_build(b, WICK_OP_kernel, n, in, &a, 0, NULL);
  return halo_view(b, whole, halo_view_type(m, info, dim, stride), h->lo, stride, info->rank);
}
