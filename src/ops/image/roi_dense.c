/* Regions of any size: each element of the image has a weight for each region along each axis.
 * The elements with a weight are listed, and each channel looks them up. */
#include "ops/image/roi.h"
#include "ops/loop/loop_nest.h"

wick_value wick_roi_kept(wick_builder *b, wick_value map, const wick_dim *at)
{
  if (b->status) return map;
  wick_value zero = wick_stage_zero(b, wick_built_info(b, map)->elem);
  return wick_read(b, map, at, 0, NULL, zero);
}

wick_value wick_roi_images(const wick_compute *c, wick_value images)
{
  wick_builder *b = c->b;
  const wick_type_info *x = wick_built_info(b, c->in[0]);
  wick_type type = wick_type_tensor(b->module, WICK_I64, 1, wick_built_info(b, images)->dim);
  wick_axis axis[1];
  wick_axes_of(b, type, axis);
  wick_map_begin(b, "image", 1, axis, 1, &type);
  const wick_dim index[2] = {axis[0].sym, wick_dim_const(0)};
  wick_value i =
      wick_build_cast(b, wick_read(b, images, index, 0, NULL, (wick_value){0}), WICK_I64);
  wick_value bad =
      wick_build2(b, WICK_OP_or, wick_build2(b, WICK_OP_lt, i, wick_build_i64(b, 0)),
                  wick_build2(b, WICK_OP_ge, i, wick_stage_number(b, x->dim[0], WICK_I64)));
  wick_build_failure(b, WICK_ERANGE, bad, i, x->dim[0]);
  return wick_map_end(b, 1, &i);
}

wick_value wick_roi_weighed(wick_builder *b, wick_value v, wick_value by)
{
  if (b->status) return v;
  wick_value zero = wick_stage_zero(b, wick_built_info(b, v)->elem);
  return wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_gt, by, zero),
                     wick_build2(b, WICK_OP_mul, by, v), zero);
}

/* ---- a loop nest: for each region, lists of the elements of each bin, then all channels ---- */

typedef struct roi_dense {
  const wick_compute *c;
  wick_builder *b;
  const wick_roi_weights *w;
  bool best;
  wick_elem acc;
  wick_dim region;
  const wick_type_info *x, *out;
  wick_value image;
  /* Along each axis: the number of elements of each bin, [bins]; their indices and their
   * weights, [bins, elements]. */
  wick_value count[2], place[2], most[2], least[2];
} roi_dense;

enum { ROI_LISTS = 4 };

static wick_value roi_of(const roi_dense *s, wick_value map, wick_value bin, wick_value i)
{
  const wick_dim index[3] = {s->region, WICK_DIM_ANY, WICK_DIM_ANY};
  wick_value any[2] = {bin, i};
  return wick_read(s->b, map, index, 2, any, (wick_value){0});
}

static wick_value roi_cell(const roi_dense *s, wick_value list, wick_value bin, wick_value i)
{
  const wick_dim index[2] = {WICK_DIM_ANY, WICK_DIM_ANY};
  wick_value any[2] = {bin, i};
  return wick_get(s->b, list, index, 2, any);
}

static void roi_cell_put(const roi_dense *s, wick_value list, wick_value bin, wick_value i,
                         wick_value v)
{
  const wick_dim index[2] = {WICK_DIM_ANY, WICK_DIM_ANY};
  wick_value any[2] = {bin, i};
  wick_put(s->b, list, index, 2, any, v);
}

static wick_value roi_each(const roi_dense *s, wick_dim n)
{
  return wick_for_size_begin(s->b, n, 0, NULL);
}

/* Makes the lists along axis k. */
static void roi_list(const roi_dense *s, uint32_t k)
{
  wick_builder *b = s->b;
  wick_value zero = wick_build_i64(b, 0), bin = roi_each(s, s->out->dim[2 + k]);
  wick_value end = wick_index(b, s->x->dim[2 + k]), i = wick_for_begin(b, zero, end, 1, &zero),
             n = {i.id + 1};
  wick_value on = roi_of(s, s->w[k].on, bin, i);
  if (!s->best && s->w[k].most.id && !b->status) { /* an element with weight 0 may be infinite */
    wick_value by = roi_of(s, s->w[k].most, bin, i);
    on = b->status ? on : wick_build2(b, WICK_OP_gt, by, wick_build_like(b, by, 0));
  }
  wick_if_begin(b, on, 1, &n);
  roi_cell_put(s, s->place[k], bin, n, i);
  if (s->w[k].most.id) {
    roi_cell_put(s, s->most[k], bin, n, roi_of(s, s->w[k].most, bin, i));
    roi_cell_put(s, s->least[k], bin, n, roi_of(s, s->w[k].least, bin, i));
  }
  wick_value more = wick_loop_nest_by(b, WICK_OP_add, n, 1);
  wick_if_else(b, 1, &more);
  n = wick_if_end(b, 1, &n);
  n = wick_for_end(b, 1, &n);
  wick_cell_put(b, s->count[k], bin, n);
  wick_for_end(b, 0, NULL);
}

/* Multiplies v by its weight along axis k. For a maximum, takes the larger of the products with
 * the largest and the least weight, because v may be negative. */
static wick_value roi_weigh_cell(const roi_dense *s, uint32_t k, wick_value bin, wick_value i,
                                 wick_value v)
{
  wick_builder *b = s->b;
  if (!s->w[k].most.id || b->status) return v;
  wick_value by = wick_build_cast(b, roi_cell(s, s->most[k], bin, i), s->acc);
  if (!s->best) return wick_build2(b, WICK_OP_mul, v, by);
  wick_value most = wick_roi_weighed(b, v, by), least = roi_cell(s, s->least[k], bin, i);
  least = wick_roi_weighed(b, v, wick_build_cast(b, least, s->acc));
  return wick_build2(b, WICK_OP_max, most, least);
}

/* Combines all elements of a bin in one channel: first along x, then the results along y. */
static wick_value roi_bin(const roi_dense *s, wick_value channel, const wick_value bin[2])
{
  wick_builder *b = s->b;
  wick_opcode by = s->best ? WICK_OP_max : WICK_OP_add;
  wick_value zero = wick_build_i64(b, 0), none, i[2], state[2], place[2];
  if (b->status) return zero;
  none = wick_build_neutral(b, by, wick_type_scalar(b->module, s->acc, 1));
  for (uint32_t k = 0; k < 2; k++) {
    i[k] = wick_for_begin(b, zero, wick_cell_get(b, s->count[k], bin[k]), 1, &none);
    state[k] = (wick_value){i[k].id + 1};
    place[k] = roi_cell(s, s->place[k], bin[k], i[k]);
  }
  const wick_dim index[4] = {WICK_DIM_ANY, WICK_DIM_ANY, WICK_DIM_ANY, WICK_DIM_ANY};
  const wick_value any[4] = {s->image, channel, place[0], place[1]};
  wick_value v = wick_read(b, s->c->in[0], index, 4, any, (wick_value){0});
  v = wick_build_cast(b, v, s->acc);
  for (uint32_t k = 2; k-- > 0;) {
    v = roi_weigh_cell(s, k, bin[k], i[k], v);
    v = wick_build2(b, by, state[k], v);
    v = wick_for_end(b, 1, &v);
  }
  return v;
}

/* The maximum of a bin, also with the zeros from outside the image; 0 for a bin without
 * elements. */
static wick_value roi_filled(const roi_dense *s, const wick_value bin[2], wick_value state)
{
  wick_builder *b = s->b;
  wick_value zero = wick_stage_zero(b, s->acc), some[2], beyond[2] = {{0}};
  for (uint32_t k = 0; k < 2; k++) {
    const wick_dim at[2] = {s->region, WICK_DIM_ANY};
    some[k] = wick_loop_nest_by(b, WICK_OP_gt, wick_cell_get(b, s->count[k], bin[k]), 0);
    if (s->w[k].beyond.id)
      beyond[k] = wick_read(b, s->w[k].beyond, at, 1, &bin[k], (wick_value){0});
  }
  if (beyond[0].id) {
    wick_value more = wick_build2(b, WICK_OP_max, state, zero),
               any = wick_build2(b, WICK_OP_or, beyond[0], beyond[1]);
    state = wick_build3(b, WICK_OP_where, any, more, state);
  }
  return wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_and, some[0], some[1]), state, zero);
}

/* Opens the loop nest. Its results are the operator's, then the lists. */
static wick_value roi_begin(roi_dense *s)
{
  wick_builder *b = s->b;
  wick_axis axis[4];
  wick_type type[1 + 2 * ROI_LISTS] = {s->c->out_type[0]};
  wick_elem by = s->w[0].most.id ? wick_built_info(b, s->w[0].most)->elem : s->acc;
  for (uint32_t k = 0; k < 2; k++) {
    const wick_dim dim[2] = {s->out->dim[2 + k], s->x->dim[2 + k]};
    type[1 + ROI_LISTS * k] = wick_type_tensor(b->module, WICK_I64, 1, dim);
    type[2 + ROI_LISTS * k] = wick_type_tensor(b->module, WICK_I64, 2, dim);
    type[3 + ROI_LISTS * k] = type[4 + ROI_LISTS * k] = wick_type_tensor(b->module, by, 2, dim);
  }
  wick_axes_of(b, s->c->out_type[0], axis);
  s->region = axis[0].sym;
  wick_value out = wick_loop_nest_begin(b, "roi", 1, axis, 1 + 2 * ROI_LISTS, type);
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t first = out.id + 1 + ROI_LISTS * k;
    s->count[k] = (wick_value){first}, s->place[k] = (wick_value){first + 1};
    s->most[k] = (wick_value){first + 2}, s->least[k] = (wick_value){first + 3};
  }
  return out;
}

wick_value wick_roi_dense(const wick_compute *c, wick_value image, const wick_roi_weights w[2],
                          bool best, wick_value factor)
{
  wick_builder *b = c->b;
  roi_dense s = {.c = c, .b = b, .w = w, .best = best};
  if (b->status) return image;
  s.x = wick_built_info(b, c->in[0]), s.out = wick_type_get(b->module, c->out_type[0]);
  s.acc = wick_stage_arith(s.x->elem);
  wick_value out = roi_begin(&s), bin[2];
  s.image = wick_read(b, image, &s.region, 0, NULL, (wick_value){0});
  if (factor.id) factor = wick_read(b, factor, &s.region, 0, NULL, (wick_value){0});
  for (uint32_t k = 0; k < 2; k++) roi_list(&s, k);
  wick_value channel = roi_each(&s, s.x->dim[1]);
  for (uint32_t k = 0; k < 2; k++) bin[k] = roi_each(&s, s.out->dim[2 + k]);
  wick_value state = roi_bin(&s, channel, bin);
  if (factor.id) state = wick_build2(b, WICK_OP_mul, state, factor);
  if (best) state = roi_filled(&s, bin, state);
  const wick_dim index[4] = {s.region, WICK_DIM_ANY, WICK_DIM_ANY, WICK_DIM_ANY};
  const wick_value any[3] = {channel, bin[0], bin[1]};
  wick_put(b, out, index, 3, any, b->status ? state : wick_build_cast(b, state, s.x->elem));
  for (uint32_t k = 0; k < 3; k++) wick_for_end(b, 0, NULL);
  return wick_loop_nest_end(b);
}
