/* The reference of resize, axis by axis. A coordinate is one division of integers in double. It is
 * therefore whole, or a half, exactly where the exact coordinate is: an error would select another
 * neighbour. */
#include <math.h>

#include "ops/image/resize.h"
#include "ops/ref.h"

/* One axis; its scale is over / under. */
typedef struct resize_axis {
  const wick_attr *attr;
  uint32_t k, rank;
  int64_t in, out;
  double over, under;
} resize_axis;

static double resize_coordinate(const resize_axis *a, double o)
{
  double in = (double)a->in, out = (double)a->out, half = (2 * o + 1) * a->under - a->over;
  switch (a->attr[WICK_ATTR_resize_coordinates].i) {
  case RESIZE_HALF_PIXEL: return half / (2 * a->over);
  case RESIZE_HALF_PIXEL_SYMMETRIC: return (half + in * a->over - out * a->under) / (2 * a->over);
  case RESIZE_PYTORCH_HALF_PIXEL: return a->out > 1 ? half / (2 * a->over) : 0;
  case RESIZE_ALIGN_CORNERS:
    if (a->attr[WICK_ATTR_resize_scale]
            .n) /* the result's length, in * over / under, before it is rounded */
      return in * a->over != a->under ? o * (in - 1) * a->under / (in * a->over - a->under) : 0;
    return out != 1 ? o * (in - 1) / (out - 1) : 0;
  case RESIZE_ASYMMETRIC: return o * a->under / a->over;
  case RESIZE_TF_HALF_PIXEL: return (2 * o + 1) * a->under / (2 * a->over);
  default: {
    double begin = a->attr[WICK_ATTR_resize_roi].floats[a->k],
           end = a->attr[WICK_ATTR_resize_roi].floats[a->rank + a->k];
    return a->out > 1 ? begin * (in - 1) + o * (end - begin) * (in - 1) / (out - 1)
                      : (begin + end) / 2 * (in - 1);
  }
  }
}

static int64_t resize_nearest(const resize_axis *a, double x)
{
  double i = floor(x);
  switch (a->attr[WICK_ATTR_resize_nearest].i) {
  case RESIZE_PREFER_FLOOR: i = ceil(x - 0.5); break;
  case RESIZE_PREFER_CEIL: i = floor(x + 0.5); break;
  case RESIZE_CEIL: i = ceil(x); break;
  default: break;
  }
  return wick_max_i64(0, wick_min_i64((int64_t)i, a->in - 1));
}

static double resize_weight(const resize_axis *a, double d)
{
  double c = a->attr[WICK_ATTR_resize_cubic].f;
  d = fabs(d);
  if (a->attr[WICK_ATTR_resize_mode].i == RESIZE_IS_LINEAR) return d < 1 ? 1 - d : 0;
  if (d < 1) return ((c + 2) * d - (c + 3)) * d * d + 1;
  return d < 2 ? ((c * d - 5 * c) * d + 8 * c) * d - 4 * c : 0;
}

/* Interpolates a 1-D slice at x. */
static double resize_sample(const resize_axis *a, const wick_scalar *line, int64_t step, double x)
{
  double scale = a->over / a->under,
         shrink = a->attr[WICK_ATTR_resize_antialias].i && scale < 1 ? scale : 1;
  double reach = a->attr[WICK_ATTR_resize_mode].i == RESIZE_IS_LINEAR ? 1 : 2,
         radius = reach / shrink;
  double sum = 0, total = 0;
  /* Only elements that a weight can reach: a NaN next to them must not affect the result. */
  int64_t first = shrink < 1 ? (int64_t)floor(x - radius) : (int64_t)(floor(x) - radius + 1);
  int64_t last = shrink < 1 ? (int64_t)ceil(x + radius) : (int64_t)(floor(x) + radius);
  for (int64_t i = first; i <= last; i++) {
    double d = ((double)i - x) * shrink, w = resize_weight(a, d);
    if (shrink < 1 && fabs(d) >= reach - 1e-9) continue; /* 1e-9, because d has been rounded */
    int64_t at = wick_max_i64(0, wick_min_i64(i, a->in - 1));
    if (a->attr[WICK_ATTR_resize_exclude].i && at != i) continue;
    sum += w * line[at * step].f;
    total += w;
  }
  bool normal = a->attr[WICK_ATTR_resize_exclude].i || shrink < 1;
  return normal ? sum / total : sum;
}

/* Resizes elements [outer, in, inner] to [outer, out, inner]. */
static wick_scalar *resize_pass(wick_ref *c, const resize_axis *a, const wick_scalar *v,
                                int64_t outer, int64_t inner)
{
  bool nearest = a->attr[WICK_ATTR_resize_mode].i == RESIZE_IS_NEAREST;
  wick_scalar *r = wick_new(c->mem, wick_scalar, (size_t)(outer * a->out * inner));
  for (int64_t o = 0; o < outer; o++)
    for (int64_t k = 0; k < a->out; k++)
      for (int64_t i = 0; i < inner; i++) {
        double x = resize_coordinate(a, (double)k);
        const wick_scalar *line = v + o * a->in * inner + i;
        wick_scalar *to = &r[(o * a->out + k) * inner + i];
        if (nearest)
          *to = line[resize_nearest(a, x) * inner];
        else
          to->f = resize_sample(a, line, inner, x);
      }
  return r;
}

/* The crop replaces elements whose coordinate is outside x. */
static void resize_outside(const wick_ref *c, const resize_axis *axis, wick_scalar *v)
{
  const wick_tensor *out = &c->out[0];
  int64_t index[WICK_MAX_RANK] = {0};
  wick_scalar other = {.f = c->attr[WICK_ATTR_resize_outside].f};
  if (!wick_elem_is_float(out->elem)) other.i = (int64_t)c->attr[WICK_ATTR_resize_outside].f;
  do {
    for (uint32_t k = 0; k < out->rank; k++) {
      double x = resize_coordinate(&axis[k], (double)index[k]);
      if (x < 0 || x > (double)(axis[k].in - 1)) *v = other;
    }
    v++;
  } while (wick_ref_next(out->rank, out->dim, index));
}

wick_status wick_resize_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  resize_axis axis[WICK_MAX_RANK];
  wick_scalar *v = wick_ref_load(c->mem, x);
  int64_t outer = 1, inner = (int64_t)wick_ref_numel(x);
  if (wick_ref_numel(out) == 0) return NULL;
  for (uint32_t k = 0; k < x->rank; k++) {
    wick_dim in = wick_dim_const(x->dim[k]), size = wick_dim_const(out->dim[k]);
    wick_ratio s = wick_resize_scale(c->attr, k, in, size);
    axis[k] = (resize_axis){.attr = c->attr, .k = k, .rank = x->rank, .in = in.v, .out = size.v};
    axis[k].over = (double)s.over.v, axis[k].under = (double)s.under.v;
    inner /= in.v;
    if (!wick_resize_keeps(c->attr, k, in, size)) v = resize_pass(c, &axis[k], v, outer, inner);
    outer *= size.v;
  }
  if (c->attr[WICK_ATTR_resize_coordinates].i == RESIZE_CROP) resize_outside(c, axis, v);
  wick_ref_write(out, 0, wick_ref_numel(out), v);
  return NULL;
}
