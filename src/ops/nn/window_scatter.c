/* Windows that are added to an image: col2im sums their elements, and max_unpool returns the
 * maximum of each window to its index. */
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"
#include "ops/loop/loop_nest.h"
#include "ops/nn/window_source.h"
#include "ops/ref.h"
#include "ops/stage.h"

/* The attributes after those of every window. */

#define WINDOW_SCATTER_ATTRS                                                                       \
  WICK_WINDOW_ATTRS, { "kernel", WICK_ATTR_INTS, 0, true, NULL, 1, WICK_WINDOW_LIMIT }

static wick_status window_scatter_check(const wick_infer *c, uint32_t n)
{
  const wick_attr *kernel = &c->attr[WICK_ATTR_max_unpool_kernel];
  int64_t taps = 1;
  WICK_TRY(wick_window_check(c, n + 2, c->attr));
  if (kernel->n != n)
    return wick_infer_fail(c, WICK_ETYPE, "kernel has %u numbers, expected %u", kernel->n, n);
  for (uint32_t k = 0; k < n && taps <= WICK_WINDOW_LIMIT; k++) taps *= kernel->ints[k];
  if (taps <= WICK_WINDOW_LIMIT) return NULL;
  return wick_infer_fail(c, WICK_ERANGE, "windows of more than %d elements", WICK_WINDOW_LIMIT);
}

static wick_window window_scatter_of(const wick_attr *attr)
{
  return wick_window_of(attr, attr[WICK_ATTR_max_unpool_kernel].n,
                        attr[WICK_ATTR_max_unpool_kernel].ints);
}

static int64_t window_scatter_numel(const wick_window *w)
{
  int64_t n = 1;
  for (uint32_t k = 0; k < w->n; k++) n *= w->kernel[k];
  return n;
}

/* Makes the axes of an image [N, C, spatial...], then those over the windows that contain an
 * element of it. Returns the number of axes. */
static uint32_t window_scatter_axes(wick_builder *b, const wick_window *w, wick_type image,
                                    wick_axis *axis, wick_window_source *m)
{
  const wick_type_info *t = wick_type_get(b->module, image);
  uint32_t n = 2 + w->n;
  axis[0] = wick_make_axis(b, "n", t->dim[0], false);
  axis[1] = wick_make_axis(b, "c", t->dim[1], false);
  for (uint32_t k = 0; k < w->n; k++)
    axis[2 + k] = wick_make_axis(b, wick_window_axis(w->n, k), t->dim[2 + k], false);
  for (uint32_t k = 0; k < w->n; k++) {
    m[k] = wick_window_source_of(b, w, k, axis[2 + k].sym);
    axis[n++] = m[k].axis;
  }
  return n;
}

/* Builds the condition that a window exists along all dimensions; 0 if it always does. */
static wick_value window_scatter_inside(wick_builder *b, const wick_window *w,
                                        const wick_window_source *m, const wick_dim *windows)
{
  wick_value all = {0};
  for (uint32_t k = 0; k < w->n; k++) {
    wick_value on = wick_window_source_inside(b, &m[k], windows[k]);
    all = all.id && on.id ? wick_build2(b, WICK_OP_and, all, on) : on.id ? on : all;
  }
  return all;
}

/* Returns the row-major position of an element in its window. */
static wick_dim window_scatter_tap(wick_dims *t, const wick_window *w, const wick_window_source *m)
{
  wick_dim at = wick_dim_const(0);
  for (uint32_t k = 0; k < w->n; k++)
    at = wick_dim_add(t, wick_dim_mul(t, at, wick_dim_const(w->kernel[k])), m[k].w);
  return at;
}

/* ---- col2im ---- */

static wick_status col2im_infer(wick_infer *c)
{
  const wick_type_info *x;
  wick_dims *t = c->module->dims;
  const wick_attr *image = &c->attr[WICK_ATTR_col2im_image];
  WICK_TRY(wick_infer_tensor(c, 0, "x", 3, &x));
  WICK_TRY(window_scatter_check(c, image->n));
  if (x->rank != 3) return wick_infer_fail(c, WICK_ETYPE, "x has rank %u, expected 3", x->rank);
  wick_window w = window_scatter_of(c->attr);
  wick_dim taps = wick_dim_const(window_scatter_numel(&w)), windows = wick_dim_const(1);
  wick_dim dim[WICK_MAX_RANK] = {x->dim[0], wick_dim_floordiv(t, x->dim[1], taps)};
  if (!wick_infer_divides(c, x->dim[1], taps))
    return wick_infer_fail(c, WICK_ETYPE, "%s elements in windows of %s",
                           wick_infer_dim_text(c, x->dim[1]), wick_infer_dim_text(c, taps));
  for (uint32_t k = 0; k < w.n; k++) {
    wick_dim n;
    dim[2 + k] = image->dims[k];
    WICK_TRY(wick_window_size(c, &w, k, dim[2 + k], false, &n));
    windows = wick_dim_mul(t, windows, n);
  }
  if (!wick_infer_equal(c, windows, x->dim[2]))
    return wick_infer_fail(c, WICK_ETYPE, "x has %s windows, the image %s",
                           wick_infer_dim_text(c, x->dim[2]), wick_infer_dim_text(c, windows));
  wick_infer_out(c, 0, x->elem, 2 + w.n, dim);
  return NULL;
}

/* Adds one row of x, which has the element `tap` of all windows, to an image. */
static void col2im_line(const wick_window3 *w, const int64_t tap[3], bool is_float,
                        const wick_scalar *x, wick_scalar *image)
{
  wick_scalar one = {.i = 1};
  if (is_float) one.f = 1;
  for (int64_t z = 0; z < w->out[0]; z++)
    for (int64_t y = 0; y < w->out[1]; y++)
      for (int64_t i = 0; i < w->out[2]; i++, x++) {
        int64_t iz = wick_window3_at(w, 0, z, tap[0]), iy = wick_window3_at(w, 1, y, tap[1]),
                ix = wick_window3_at(w, 2, i, tap[2]);
        if (iz >= 0 && iy >= 0 && ix >= 0)
          wick_ref_axpy(is_float, 1, &image[(iz * w->in[1] + iy) * w->in[2] + ix], one, x, 1);
      }
}

static wick_status col2im_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  wick_window window = window_scatter_of(c->attr);
  wick_window3 w = wick_window3_of(&window, out, out);
  for (uint32_t k = 0; k < 3; k++)
    w.out[k] =
        (w.in[k] + w.begin[k] + w.end[k] - w.dilation[k] * (w.kernel[k] - 1) - 1) / w.stride[k] + 1;
  int64_t taps = w.kernel[0] * w.kernel[1] * w.kernel[2],
          size = wick_ref_product(out, 2, out->rank);
  const wick_scalar *xs = wick_ref_load(c->mem, x);
  wick_scalar *image = wick_new(c->mem, wick_scalar, (size_t)size);
  for (int64_t i = 0; i < out->dim[0] * out->dim[1]; i++) {
    for (int64_t k = 0; k < size; k++) image[k] = (wick_scalar){.i = 0};
    for (int64_t t = 0; t < taps; t++) {
      int64_t tap[3] = {t / w.kernel[2] / w.kernel[1], t / w.kernel[2] % w.kernel[1],
                        t % w.kernel[2]};
      col2im_line(&w, tap, wick_elem_is_float(x->elem), xs + (i * taps + t) * x->dim[2], image);
    }
    wick_ref_write(out, (uint64_t)(i * size), (uint64_t)size, image);
  }
  return NULL;
}

static void col2im_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]),
                       *out = wick_type_get(b->module, c->out_type[0]);
  wick_window w = window_scatter_of(c->attr);
  wick_axis axis[2 + 2 * WICK_WINDOW_MAX];
  wick_window_source m[WICK_WINDOW_MAX];
  wick_dim windows[WICK_WINDOW_MAX], line = wick_dim_const(0);
  uint32_t n = window_scatter_axes(b, &w, c->out_type[0], axis, m);
  for (uint32_t k = 0; k < w.n; k++) {
    int64_t more = w.begin[k] + w.end[k] - w.dilation[k] * (w.kernel[k] - 1) - 1 + w.stride[k];
    windows[k] = wick_dim_floordiv(t, wick_dim_add(t, out->dim[2 + k], wick_dim_const(more)),
                                   wick_dim_const(w.stride[k]));
    line = wick_dim_add(t, wick_dim_mul(t, line, windows[k]), m[k].x);
  }
  wick_dim taps = wick_dim_const(window_scatter_numel(&w)),
           tap = wick_dim_add(t, wick_dim_mul(t, axis[1].sym, taps), window_scatter_tap(t, &w, m));
  wick_elem acc = wick_stage_arith(x->elem);
  wick_value state = wick_stage_fold(b, "col2im", n, axis, c->out_type[0], WICK_OP_add, acc);
  wick_value v = wick_stage_read0(b, c->in[0], (const wick_dim[]){axis[0].sym, tap, line}),
             on = window_scatter_inside(b, &w, m, windows);
  v = wick_build_cast(b, v, acc);
  if (on.id) v = wick_build3(b, WICK_OP_where, on, v, wick_stage_zero(b, acc));
  v = wick_build2(b, WICK_OP_add, state, v);
  c->out[0] = wick_stage_end(b, wick_stage_finish(b, v, WICK_OP_add), c->out_type[0]);
}

const wick_op wick_op_col2im = {
    .name = "col2im",
    .doc = "Adds windows up into images: x is [N, C*taps, windows], the result [N, C, spatial...] "
           "with the spatial sizes `image`. Each element is the sum of the window elements that "
           "fall on it; the windows slide as in a convolution, in row-major order. f16 and bf16 "
           "are summed in f32; integers wrap",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {WINDOW_SCATTER_ATTRS, {"image", WICK_ATTR_DIMS, 0, true, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_NUMBERS,
    .infer = col2im_infer,
    .ref = col2im_ref,
    .compute = col2im_compute,
    .grad = wick_grad_col2im,
    .batch = {wick_batch_merge, .in = {1}, .out = {1}},
};

/* ---- max_unpool ---- */

static wick_status max_unpool_infer(wick_infer *c)
{
  const wick_type_info *x, *at;
  wick_dims *t = c->module->dims;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 3, &x));
  WICK_TRY(wick_infer_tensor(c, 1, "the places", 3, &at));
  WICK_TRY(window_scatter_check(c, x->rank - 2u));
  bool same = at->rank == x->rank && at->elem == WICK_I64;
  for (uint32_t k = 0; same && k < x->rank; k++) same = wick_infer_equal(c, at->dim[k], x->dim[k]);
  if (!same)
    return wick_infer_fail(c, WICK_ETYPE, "the positions are %s, but x is %s",
                           wick_infer_type_text(c, c->in[1]->type),
                           wick_infer_type_text(c, c->in[0]->type));
  wick_window w = window_scatter_of(c->attr);
  wick_dim dim[WICK_MAX_RANK] = {x->dim[0], x->dim[1]};
  for (uint32_t k = 0; k < w.n; k++) {
    int64_t lo, hi, more = w.dilation[k] * (w.kernel[k] - 1) + 1 - w.begin[k] - w.end[k];
    dim[2 + k] = wick_dim_mul(t, wick_dim_sub(t, x->dim[2 + k], wick_dim_const(1)),
                              wick_dim_const(w.stride[k]));
    dim[2 + k] = wick_dim_add(t, dim[2 + k], wick_dim_const(more));
    wick_dim_range(t, dim[2 + k], &lo, &hi);
    if (hi < 0)
      return wick_infer_fail(c, WICK_ETYPE, "dimension %u of the result is %s", 2 + k,
                             wick_infer_dim_text(c, dim[2 + k]));
  }
  wick_infer_out(c, 0, x->elem, x->rank, dim);
  return NULL;
}

static wick_status max_unpool_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  int64_t size = wick_ref_product(out, 2, out->rank), many = wick_ref_product(x, 2, x->rank);
  for (int64_t i = 0; i < x->dim[0] * x->dim[1] * many; i++) {
    int64_t to = wick_load_int(WICK_I64, c->in[1].data, (uint64_t)i), rest = to - i / many * size;
    if (rest < 0 || rest >= size)
      return wick_ref_fail(c, WICK_ERANGE, "position %lld is outside of its image", (long long)to);
    wick_ref_move(out, (uint64_t)to, x, (uint64_t)i);
  }
  return NULL;
}

/* Builds a loop nest for each plane. It writes zeros, then copies the elements of the windows in
 * order, each to its index. */
static void max_unpool_compute(const wick_compute *c)
{
  wick_builder *b = c->b;
  wick_dims *t = b->module->dims;
  const wick_type_info *x = wick_built_info(b, c->in[0]),
                       *out = wick_type_get(b->module, c->out_type[0]);
  uint32_t n = x->rank - 2u;
  wick_axis axis[WICK_MAX_RANK];
  wick_dim index[WICK_MAX_RANK], size = wick_dim_const(1);
  wick_value any[WICK_MAX_RANK], to[WICK_MAX_RANK];
  wick_axes_of(b, c->out_type[0], axis);
  wick_value y = wick_loop_nest_begin(b, "max_unpool", 2, axis, 1, c->out_type);
  for (uint32_t k = 0; k < x->rank; k++) index[k] = k < 2 ? axis[k].sym : WICK_DIM_ANY;
  for (uint32_t k = 0; k < n; k++) size = wick_dim_mul(t, size, out->dim[2 + k]);
  wick_for_sizes_begin(b, n, &out->dim[2], any);
  wick_put(b, y, index, n, any, wick_stage_zero(b, x->elem));
  for (uint32_t k = 0; k < n; k++) wick_for_end(b, 0, NULL);
  wick_for_sizes_begin(b, n, &x->dim[2], any);
  wick_dim plane = wick_dim_add(t, wick_dim_mul(t, index[0], out->dim[1]), index[1]);
  wick_value place = wick_read(b, c->in[1], index, n, any, (wick_value){0}),
             first = wick_index(b, wick_dim_mul(t, plane, size));
  wick_value rest = wick_build2(b, WICK_OP_sub, place, first), end = wick_index(b, size);
  wick_value low = wick_loop_nest_by(b, WICK_OP_lt, rest, 0),
             high = wick_build2(b, WICK_OP_ge, rest, end);
  wick_value bad = wick_build2(b, WICK_OP_or, low, high), none = {0};
  wick_build_failure(b, WICK_ERANGE, bad, place, wick_dim_const(0));
  wick_if_begin(b, bad, 0, NULL);
  wick_if_else(b, 0, NULL);
  for (uint32_t k = n; k-- > 0;) { /* an index is at least 0 here */
    wick_value extent = wick_index(b, out->dim[2 + k]);
    to[k] = k ? wick_build2(b, WICK_OP_rem_unchecked, rest, extent) : rest;
    if (k) rest = wick_build2(b, WICK_OP_div_unchecked, rest, extent);
  }
  wick_put(b, y, index, n, to, wick_read(b, c->in[0], index, n, any, none));
  wick_if_end(b, 0, NULL);
  for (uint32_t k = 0; k < n; k++) wick_for_end(b, 0, NULL);
  c->out[0] = wick_loop_nest_end(b);
}

const wick_op wick_op_max_unpool = {
    .name = "max_unpool",
    .doc = "Writes each element of x [N, C, windows...] at its index in a result of zeros [N, C, "
           "spatial...]. The size of the result is the one over which windows slide as in "
           "max_pool. The indices (i64) count all elements of the result, row-major. If two "
           "indices are equal, the later window wins. An index outside of the element's own image "
           "and channel fails the run",
    .nin = {2, 2},
    .nout = {1, 1},
    .attr = {WINDOW_SCATTER_ATTRS},
    .level = WICK_GRAPH,
    .elems = WICK_PLAIN,
    .aux_operands = 1u << 1,
    .effect = WICK_MAY_FAIL,
    .unfusable = true,
    .infer = max_unpool_infer,
    .ref = max_unpool_ref,
    .compute = max_unpool_compute,
    .grad = wick_grad_max_unpool,
    .batch = {wick_batch_unpool, .in = {1, 1}, .out = {1}},
};
