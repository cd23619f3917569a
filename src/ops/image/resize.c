/* resize: the operator, and the exact scales of its axes. */
#include "ops/image/resize.h"
#include "ops/batch/batch.h"
#include "ops/gradient/grad.h"

#include <math.h>
#include <string.h>

#include "ops/layout/layout.h"
#include "ops/tensor.h"

/* Writes x as a fraction of whole numbers, where x = m * 2^e with a whole m below 2^24. Returns
 * false if x is not above 0, or if it is too large or small for indices. */
static bool resize_fraction(double x, int64_t *over, int64_t *under)
{
  int e;
  double f = (double)(float)x;
  if (!(f > 0) || !isfinite(f)) return false;
  int64_t m = (int64_t)ldexp(frexp(f, &e), 24);
  e -= 24;
  while (m % 2 == 0) m /= 2, e++;
  *over = e > 0 ? m << (e < 31 ? e : 31) : m;
  *under = e < 0 ? (int64_t)1 << (-e < 31 ? -e : 31) : 1;
  return e >= -30 && e <= 30;
}

wick_ratio wick_resize_scale(const wick_attr *attr, uint32_t k, wick_dim in, wick_dim out)
{
  int64_t over = 1, under = 1;
  if (!attr[WICK_ATTR_resize_scale].n) return (wick_ratio){out, in};
  (void)resize_fraction(attr[WICK_ATTR_resize_scale].floats[k], &over,
                        &under); /* inference has checked this */
  return (wick_ratio){wick_dim_const(over), wick_dim_const(under)};
}

bool wick_resize_keeps(const wick_attr *attr, uint32_t k, wick_dim in, wick_dim out)
{
  bool one = !attr[WICK_ATTR_resize_scale].n || attr[WICK_ATTR_resize_scale].floats[k] == 1;
  if (attr[WICK_ATTR_resize_coordinates].i == RESIZE_CROP) {
    uint32_t rank = attr[WICK_ATTR_resize_roi].n / 2;
    one = one && attr[WICK_ATTR_resize_roi].floats[k] == 0 &&
          attr[WICK_ATTR_resize_roi].floats[rank + k] == 1;
  }
  return one && wick_dim_eq(in, out);
}

static wick_status resize_infer(wick_infer *c)
{
  const wick_type_info *x;
  WICK_TRY(wick_infer_tensor(c, 0, "x", 0, &x));
  const wick_attr *shape = &c->attr[WICK_ATTR_resize_shape],
                  *scale = &c->attr[WICK_ATTR_resize_scale], *roi = &c->attr[WICK_ATTR_resize_roi];
  bool crop = c->attr[WICK_ATTR_resize_coordinates].i == RESIZE_CROP;
  if (shape->n != x->rank || (scale->n && scale->n != x->rank))
    return wick_infer_fail(c, WICK_ETYPE, "%s has %u numbers, x has rank %u",
                           shape->n != x->rank ? "shape" : "scale",
                           shape->n != x->rank ? shape->n : scale->n, x->rank);
  if (crop && roi->n != 2u * x->rank)
    return wick_infer_fail(c, WICK_ETYPE, "roi has %u numbers, expected %u", roi->n, 2u * x->rank);
  if (c->attr[WICK_ATTR_resize_mode].i != RESIZE_IS_NEAREST && !wick_elem_is_float(x->elem))
    return wick_infer_fail(c, WICK_ETYPE, "%s is resized to the nearest element only",
                           wick_elem_name(x->elem));
  uint32_t resized = 0;
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t over, under;
    if (scale->n && !resize_fraction(scale->floats[k], &over, &under))
      return wick_infer_fail(c, WICK_ERANGE, "the scale of axis %u is %g", k, scale->floats[k]);
    if (wick_dim_is(x->dim[k], 0) && !wick_dim_is(shape->dims[k], 0))
      return wick_infer_fail(c, WICK_ETYPE, "axis %u has no elements", k);
    resized += !wick_resize_keeps(c->attr, k, x->dim[k], shape->dims[k]);
  }
  if (c->attr[WICK_ATTR_resize_mode].i != RESIZE_IS_NEAREST && resized > 3)
    return wick_infer_fail(c, WICK_EUNSUPPORTED, "%u axes are resized, at most 3 are possible",
                           resized);
  wick_infer_out(c, 0, x->elem, x->rank, shape->dims);
  return NULL;
}

/* Images in blocks of channels are resized in the same way: the operator does not change the
 * block dimension. Crops are excluded, because they would write numbers to the padding channels. */
static bool resize_layout(wick_layouts *s, const wick_node *n)
{
  const wick_order *o = wick_layout_order(s, n->in[0]);
  if (!o || !wick_layout_is_image(s, n->in[0]) || !wick_layout_is_image(s, n->first) ||
      n->attr[WICK_ATTR_resize_coordinates].i == RESIZE_CROP)
    return false;
  const wick_dim *shape = n->attr[WICK_ATTR_resize_shape].dims,
                 *in = wick_layout_info(s, n->in[0])->dim;
  for (uint32_t k = 0; k < 2; k++)
    if (!wick_resize_keeps(n->attr, k, in[k], shape[k])) return false;
  wick_value x = wick_layout_pack(s, n->in[0], o);
  wick_attr a[WICK_MAX_ATTR];
  memcpy(a, n->attr, n->nattr * sizeof *a);
  uint32_t rank = wick_built_info(&s->c.b, x)->rank;
  wick_dim dim[WICK_MAX_RANK];
  memcpy(dim, wick_built_info(&s->c.b, x)->dim, rank * sizeof *dim);
  memcpy(dim + 2, shape + 2, (rank - 3) * sizeof *dim);
  a[WICK_ATTR_resize_shape] = (wick_attr){.n = rank, .dims = wick_dup(s->mem, wick_dim, dim, rank)};
  if (a[WICK_ATTR_resize_scale].n) {
    double *scale = wick_new(s->mem, double, rank);
    memcpy(scale, a[WICK_ATTR_resize_scale].floats, (rank - 1) * sizeof *scale);
    scale[rank - 1] = 1;
    a[WICK_ATTR_resize_scale] = (wick_attr){.n = rank, .floats = scale};
  }
  a[WICK_ATTR_resize_roi] = (wick_attr){.n = 0};
  wick_layout_set(s, n, wick_build(&s->c.b, n->op, 1, &x, a, 0, NULL), o);
  return true;
}

const wick_op wick_op_resize = {
    .name = "resize",
    .doc = "x sampled at `shape` positions along each dimension. The index o of the result "
           "corresponds to the coordinate of x that `coordinates` gives: o/s (asymmetric); "
           "(o+1/2)/s (tf_half_pixel); (o+1/2)/s-1/2 (half_pixel; pytorch_half_pixel gives 0 for "
           "a result of size 1; half_pixel_symmetric keeps the centre if s does not fit the "
           "sizes); o*(in-1)/(s*in-1) (align_corners); or a position in the part of x that `roi` "
           "selects (crop). `roi` lists all begins, then all ends, in units of in-1; elements "
           "beyond x are `outside`. s is `scale`, as f32, or the ratio of the sizes. Coordinates "
           "are exact. An element of the result is the nearest element, or is interpolated along "
           "each axis from 2 (linear) or 4 (cubic) neighbours. Neighbours out of bounds are the "
           "edge's element, or with `exclude` are left out. `antialias` widens the neighbourhood "
           "by 1/s if s < 1",
    .nin = {1, 1},
    .nout = {1, 1},
    .attr = {{"shape", WICK_ATTR_DIMS, 0, true, NULL, 0, 0},
             {"scale", WICK_ATTR_FLOATS, 0, false, NULL, 0, 0},
             {"mode", WICK_ATTR_ENUM, 0, false, "nearest linear cubic", 0, 0},
             {"coordinates", WICK_ATTR_ENUM, 0, false,
              "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric crop "
              "tf_half_pixel",
              0, 0},
             {"nearest", WICK_ATTR_ENUM, 0, false,
              "round_prefer_floor round_prefer_ceil floor ceil", 0, 0},
             {"cubic", WICK_ATTR_FLOAT, -0.75, false, NULL, 0, 0},
             {"exclude", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"antialias", WICK_ATTR_BOOL, 0, false, NULL, 0, 0},
             {"roi", WICK_ATTR_FLOATS, 0, false, NULL, 0, 0},
             {"outside", WICK_ATTR_FLOAT, 0, false, NULL, 0, 0}},
    .level = WICK_GRAPH,
    .elems = WICK_PLAIN,
    .layout = resize_layout,
    .infer = resize_infer,
    .ref = wick_resize_ref,
    .compute = wick_resize_compute,
    .grad = wick_grad_resize,
    .batch.run = wick_batch_axes,
};
