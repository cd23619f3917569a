/* The references of regions of interest, sample by sample. Coordinates are computed step by step in
 * the arithmetic of the elements: another rounding would select another
 * element. */
#include <math.h>

#include "ops/image/roi.h"
#include "ops/ref.h"

typedef struct roi_ref {
  const wick_ref *c;
  wick_elem e;
  const wick_scalar *x; /* the image */
  int64_t size[2];
  double first[2], bin[2], count[2];
} roi_ref;

static double roi_ref_step(const roi_ref *r, double x) { return wick_round_step(r->e, x); }

static wick_status roi_ref_image(const wick_ref *c, double image, int64_t *out)
{
  *out = image > -1 && image < 0x1p53 ? (int64_t)image : -1;
  if (image >= 0 && *out < c->in[0].dim[0]) return NULL;
  return wick_ref_fail(c, WICK_ERANGE, "index %lld is outside", (long long)*out);
}

/* Finds the elements on both sides of a sample, and the weight of the second. Returns false if
 * the sample is outside. */
static bool roi_ref_sample(const roi_ref *r, uint32_t k, int64_t p, int64_t i, int64_t side[2],
                           double *weight)
{
  double at =
      roi_ref_step(r, roi_ref_step(r, roi_ref_step(r, (double)i + 0.5) * r->bin[k]) / r->count[k]);
  at = roi_ref_step(r, roi_ref_step(r, r->first[k] + roi_ref_step(r, (double)p * r->bin[k])) + at);
  if (!(at >= -1 && at <= (double)r->size[k])) return false;
  at = fmin(fmax(at, 0), (double)(r->size[k] - 1));
  side[0] = (int64_t)at;
  side[1] = side[0] + 1 < r->size[k] ? side[0] + 1 : side[0];
  *weight = at - (double)side[0];
  return true;
}

/* Finds the samples of bin p that may be inside: range[0] to below range[1], with one more at
 * each end. All others are outside, even if there are very many. */
static void roi_ref_near(const roi_ref *r, uint32_t k, int64_t p, int64_t range[2])
{
  double begin = r->first[k] + (double)p * r->bin[k], step = r->bin[k] / r->count[k],
         ends[2] = {(-1 - begin) / step - 2, ((double)r->size[k] - begin) / step + 2};
  double most = r->count[k] < 0x1p62 ? r->count[k] : 0;
  bool all = most <= 1 << 10 || !(step > 0);
  for (int i = 0; i < 2; i++) {
    double at = all ? (i ? most : 0) : fmin(fmax(floor(ends[i]), 0), most);
    range[i] = (int64_t)(all && most > 1 << 10 ? 0 : at);
  }
}

static double roi_ref_bin(const roi_ref *r, int64_t py, int64_t px)
{
  bool best = r->c->attr[WICK_ATTR_roi_align_mode].i;
  int64_t iy[2], ix[2];
  double sum = best ? -(double)INFINITY : 0, n = r->count[0] * r->count[1];
  roi_ref_near(r, 0, py, iy);
  roi_ref_near(r, 1, px, ix);
  /* samples that are left out are 0 */
  if ((double)((iy[1] - iy[0]) * (ix[1] - ix[0])) < n) sum = 0;
  for (int64_t i = iy[0]; i < iy[1]; i++)
    for (int64_t j = ix[0]; j < ix[1]; j++) {
      int64_t y[2], x[2];
      double wy, wx;
      bool in_y = roi_ref_sample(r, 0, py, i, y, &wy), in_x = roi_ref_sample(r, 1, px, j, x, &wx);
      for (int k = 0; k < 4; k++) {
        double v = 0, by = in_y && in_x ? (k / 2 ? wy : 1 - wy) * (k % 2 ? wx : 1 - wx) : 0;
        if (by > 0) v = by * r->x[y[k / 2] * r->size[1] + x[k % 2]].f;
        sum = best ? (sum > v || isnan(sum) ? sum : v) : sum + v;
      }
    }
  return n < 1 ? 0 : best ? sum : sum / n;
}

/* Finds the ends of a region along axis k. */
static void roi_ref_line(roi_ref *r, const wick_scalar *roi, uint32_t k, int64_t bins)
{
  const wick_attr *a = r->c->attr;
  double offset = a[WICK_ATTR_roi_align_half].i ? 0.5 : 0,
         scale = roi_ref_step(r, a[WICK_ATTR_roi_align_scale].f);
  double end = roi_ref_step(r, roi_ref_step(r, roi[3 - k].f * scale) - offset);
  r->first[k] = roi_ref_step(r, roi_ref_step(r, roi[1 - k].f * scale) - offset);
  double length = roi_ref_step(r, end - r->first[k]);
  if (!a[WICK_ATTR_roi_align_half].i) length = fmax(length, 1);
  r->bin[k] = roi_ref_step(r, length / (double)bins);
  r->count[k] = a[WICK_ATTR_roi_align_ratio].i ? (double)a[WICK_ATTR_roi_align_ratio].i
                                               : fmax(ceil(r->bin[k]), 0);
}

wick_status wick_roi_align_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  const wick_scalar *all = wick_ref_load(c->mem, x), *rois = wick_ref_load(c->mem, &c->in[1]);
  roi_ref r = {.c = c, .e = x->elem, .size = {x->dim[2], x->dim[3]}};
  uint64_t at = 0;
  for (int64_t n = 0; n < out->dim[0]; n++) {
    int64_t image;
    WICK_TRY(roi_ref_image(c, (double)wick_load_int(WICK_I64, c->in[2].data, (uint64_t)n), &image));
    for (uint32_t k = 0; k < 2; k++) roi_ref_line(&r, rois + n * 4, k, out->dim[2 + k]);
    for (int64_t i = 0; i < out->dim[1]; i++) {
      r.x = all + (image * x->dim[1] + i) * r.size[0] * r.size[1];
      for (int64_t p = 0; p < out->dim[2] * out->dim[3]; p++, at++) {
        wick_scalar v = {.f = roi_ref_bin(&r, p / out->dim[3], p % out->dim[3])};
        wick_ref_write(out, at, 1, &v);
      }
    }
  }
  return NULL;
}

/* Finds the elements of bin p along axis k in the image: from range[0] to below range[1]. */
static void roi_ref_range(const roi_ref *r, const wick_scalar *roi, uint32_t k, int64_t bins,
                          int64_t p, double range[2])
{
  double scale = roi_ref_step(r, r->c->attr[WICK_ATTR_roi_align_scale].f),
         first = round(roi_ref_step(r, roi[2 - k].f * scale)),
         end = round(roi_ref_step(r, roi[4 - k].f * scale)),
         length = fmax(roi_ref_step(r, roi_ref_step(r, end - first) + 1), 1),
         bin = roi_ref_step(r, length / (double)bins);
  double most = (double)r->size[k];
  range[0] = fmin(fmax(floor(roi_ref_step(r, (double)p * bin)) + first, 0), most);
  range[1] = fmin(fmax(ceil(roi_ref_step(r, (double)(p + 1) * bin)) + first, 0), most);
  if (isnan(first) || isnan(end)) range[1] = 0;
}

wick_status wick_roi_max_pool_ref(wick_ref *c)
{
  const wick_tensor *x = &c->in[0], *out = &c->out[0];
  const wick_scalar *all = wick_ref_load(c->mem, x), *rois = wick_ref_load(c->mem, &c->in[1]);
  roi_ref r = {.c = c, .e = x->elem, .size = {x->dim[2], x->dim[3]}};
  uint64_t at = 0;
  for (int64_t n = 0; n < out->dim[0]; n++) {
    int64_t image;
    const wick_scalar *roi = rois + n * 5;
    WICK_TRY(roi_ref_image(c, isnan(roi[0].f) ? 0 : trunc(roi[0].f), &image));
    for (int64_t i = 0; i < out->dim[1]; i++) {
      r.x = all + (image * x->dim[1] + i) * r.size[0] * r.size[1];
      for (int64_t p = 0; p < out->dim[2] * out->dim[3]; p++, at++) {
        double ys[2], xs[2];
        wick_scalar best = {.f = 0};
        bool any = false;
        roi_ref_range(&r, roi, 0, out->dim[2], p / out->dim[3], ys);
        roi_ref_range(&r, roi, 1, out->dim[3], p % out->dim[3], xs);
        for (int64_t py = (int64_t)ys[0]; py < (int64_t)ys[1]; py++)
          for (int64_t px = (int64_t)xs[0]; px < (int64_t)xs[1]; px++) {
            double v = r.x[py * r.size[1] + px].f;
            if (!any || v > best.f || isnan(v)) best.f = any && isnan(best.f) ? best.f : v;
            any = true;
          }
        wick_ref_write(out, at, 1, &best);
      }
    }
  }
  return NULL;
}
