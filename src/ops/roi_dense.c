/* Regions of any size, by the weights that all elements of the image have for them: first along y,
 * where neighbours along x are done at once, then along x. What it costs does not depend on the
 * regions. */
#include "ops/roi.h"

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
  wick_value fail[2] = {bad, i};
  wick_attr code = {.i = WICK_ERANGE};
  wick_build(b, WICK_OP_fail, 2, fail, &code, 0, NULL);
  return wick_map_end(b, 1, &i);
}

wick_value wick_roi_weighed(wick_builder *b, wick_value v, wick_value by)
{
  if (b->status) return v;
  wick_value zero = wick_stage_zero(b, wick_built_info(b, v)->elem);
  return wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_gt, by, zero),
                     wick_build2(b, WICK_OP_mul, by, v), zero);
}

/* One element's share in the state: added, or the larger one. */
static wick_value roi_share(const wick_compute *c, const wick_roi_weights *w, const wick_dim *at,
                            wick_value v, wick_value state, bool best)
{
  wick_builder *b = c->b;
  if (b->status) return state;
  wick_elem acc = wick_built_info(b, state)->elem;
  wick_value on = wick_roi_kept(b, w->on, at), zero = wick_stage_zero(b, acc);
  v = wick_build_cast(b, v, acc);
  if (w->most.id) {
    wick_value by = wick_roi_kept(b, w->most, at);
    if (best)
      by = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_lt, v, zero),
                       wick_roi_kept(b, w->least, at), by);
    v = wick_roi_weighed(b, v, wick_build_cast(b, by, acc));
  }
  wick_value next = wick_build2(b, best ? WICK_OP_max : WICK_OP_add, state, v);
  return wick_build3(b, WICK_OP_where, on, next, state);
}

/* [R, C, bins of y, W], in the type of sums. */
static wick_value roi_rows(const wick_compute *c, wick_value image, const wick_roi_weights *w,
                           bool best)
{
  wick_builder *b = c->b;
  wick_opcode by = best ? WICK_OP_max : WICK_OP_add;
  const wick_type_info *x = wick_built_info(b, c->in[0]),
                       *out = wick_type_get(b->module, c->out_type[0]);
  wick_elem acc = wick_stage_arith(x->elem);
  const wick_dim dim[] = {out->dim[0], out->dim[1], out->dim[2], x->dim[3]};
  wick_type type = wick_type_tensor(b->module, acc, 4, dim);
  wick_axis axis[5];
  wick_axes_of(b, type, axis);
  axis[4] = wick_make_axis(b, "y", x->dim[2], true);
  wick_value state = wick_stage_fold(b, "rows", 5, axis, type, by, acc), none = {0};
  wick_value i = wick_roi_kept(b, image, &axis[0].sym);
  const wick_dim from[] = {WICK_DIM_ANY, axis[1].sym, axis[4].sym, axis[3].sym},
                 at[] = {axis[0].sym, axis[2].sym, axis[4].sym};
  wick_value v = wick_read(b, c->in[0], from, 1, &i, none);
  state = roi_share(c, w, at, v, state, best);
  return wick_stage_end(b, wick_stage_finish(b, state, by), type);
}

/* Whether anything takes part in a bin: [R, bins]. */
static wick_value roi_some(wick_builder *b, wick_value on)
{
  if (b->status) return on;
  const wick_type_info *t = wick_built_info(b, on);
  wick_type type = wick_type_tensor(b->module, WICK_BOOL, 2, t->dim);
  wick_axis axis[3];
  wick_axes_of(b, type, axis);
  axis[2] = wick_make_axis(b, "i", t->dim[2], true);
  const wick_dim at[] = {axis[0].sym, axis[1].sym, axis[2].sym};
  wick_fold_begin(b, "some", 3, axis, type, WICK_OP_or);
  return wick_fold_end(b, wick_read(b, on, at, 0, NULL, (wick_value){0}));
}

/* The best of a bin, with zeros from beyond the image, or in place of nothing. */
static wick_value roi_filled(const wick_compute *c, const wick_roi_weights w[2],
                             const wick_value some[2], const wick_axis *axis, wick_value state)
{
  wick_builder *b = c->b;
  wick_value none = {0}, any[2], beyond[2] = {{0}};
  if (b->status) return state;
  wick_value zero = wick_stage_zero(b, wick_built_info(b, state)->elem);
  for (uint32_t k = 0; k < 2; k++) {
    const wick_dim at[] = {axis[0].sym, axis[2 + k].sym};
    any[k] = wick_read(b, some[k], at, 0, NULL, none);
    if (w[k].beyond.id) beyond[k] = wick_read(b, w[k].beyond, at, 0, NULL, none);
  }
  if (beyond[0].id)
    state = wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_or, beyond[0], beyond[1]),
                        wick_build2(b, WICK_OP_max, state, zero), state);
  return wick_build3(b, WICK_OP_where, wick_build2(b, WICK_OP_and, any[0], any[1]), state, zero);
}

wick_value wick_roi_dense(const wick_compute *c, wick_value image, const wick_roi_weights w[2],
                          bool best, wick_value factor)
{
  wick_builder *b = c->b;
  wick_opcode by = best ? WICK_OP_max : WICK_OP_add;
  wick_value rows = roi_rows(c, image, &w[0], best), none = {0}, some[2] = {{0}};
  for (uint32_t k = 0; k < 2 && best; k++) some[k] = roi_some(b, w[k].on);
  if (b->status) return rows;
  wick_elem acc = wick_built_info(b, rows)->elem;
  wick_axis axis[5];
  wick_axes_of(b, c->out_type[0], axis);
  axis[4] = wick_make_axis(b, "x", wick_built_info(b, rows)->dim[3], true);
  wick_value state = wick_stage_fold(b, "roi", 5, axis, c->out_type[0], by, acc);
  const wick_dim from[] = {axis[0].sym, axis[1].sym, axis[2].sym, axis[4].sym},
                 at[] = {axis[0].sym, axis[3].sym, axis[4].sym};
  state = roi_share(c, &w[1], at, wick_read(b, rows, from, 0, NULL, none), state, best);
  state = wick_stage_finish(b, state, by);
  if (factor.id)
    state = wick_build2(b, WICK_OP_mul, state, wick_read(b, factor, &axis[0].sym, 0, NULL, none));
  if (best) state = roi_filled(c, w, some, axis, state);
  return wick_stage_end(b, state, c->out_type[0]);
}
