/* Imports MXNet's operators on regions and boxes of images, sampling, and attention in one matrix. */
#include <math.h>

#include "import/kit/array.h"
#include "import/mxnet/ops.h"

enum { REGIONS_MOST = 1 << 24 };

/* ---- regions ---- */

/* Reads two sizes. Returns false after a failure. */
static bool regions_sizes(wick_import_node *n, const char *name, int64_t *out)
{
  wick_import_attr a = wick_import_ints(n, name);
  for (uint32_t k = 0; k < 2 && a.n; k++) out[k] = a.ints[k < a.n ? k : 0];
  if (a.n && a.n < 3 && out[0] > 0 && out[1] > 0 && out[0] <= 1 << 20 && out[1] <= 1 << 20)
    return true;
  wick_import_fail(n, WICK_EPARSE, "%s is no pair of sizes", name);
  return false;
}

/* The largest elements in bins of regions [rows, (image, x, y, x, y)]. */
void wick_mxnet_roi_pool(wick_import_node *n)
{
  int64_t shape[2];
  if (!wick_import_rank(n, 1, 2, 2) || !regions_sizes(n, "pooled_size", shape)) return;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_roi_max_pool);
  wick_emit_set_ints(&e, "shape", 2, shape);
  wick_emit_set_float(&e, "scale", wick_import_real(n, "spatial_scale", 1));
  n->out[0] = wick_emit_end2(&e, n->in[0], n->in[1]);
}

/* Means of samples in the bins of such regions. */
void wick_mxnet_roi_align(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t shape[2], ratio = wick_import_int(n, "sample_ratio", -1);
  if (!wick_import_rank(n, 1, 2, 2) || !regions_sizes(n, "pooled_size", shape)) return;
  if (wick_import_int(n, "position_sensitive", 0)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "position_sensitive is not supported");
    return;
  }
  wick_value image = wick_emit_slice(b, n->in[1], 1, wick_dim_const(0), wick_dim_const(1));
  image = wick_emit_squeeze(b, wick_build_cast(b, image, WICK_I64), 1);
  wick_value box = wick_emit_slice(b, n->in[1], 1, wick_dim_const(1), wick_dim_const(4));
  wick_emit e = wick_emit_begin(b, WICK_OP_roi_align);
  wick_emit_set_ints(&e, "shape", 2, shape);
  wick_emit_set_float(&e, "scale", wick_import_real(n, "spatial_scale", 1));
  wick_emit_set_int(&e, "ratio", ratio > 0 ? ratio : 0);
  wick_emit_set_int(&e, "half", wick_import_int(n, "aligned", 0));
  n->out[0] = wick_emit_end(&e, 3, (wick_value[]){n->in[0], box, image});
}

/* ---- prior boxes ---- */

/* Reads a list of numbers, by default one. */
static wick_import_attr regions_floats(const wick_import_node *n, const char *name,
                                       const double *otherwise, uint32_t count)
{
  wick_import_attr a = wick_import_attr_of(n, name, 'F');
  if (a.kind == 'F' && a.n) return a;
  return (wick_import_attr){.kind = 'F', .n = count, .floats = otherwise};
}

/* Boxes around each position [1, boxes, (x, y, x, y)], in shares of the image: each size with the first
 * ratio, then the first size with the other ratios. */
void wick_mxnet_prior_boxes(wick_import_node *n)
{
  static const double one[] = {1}, none[] = {-1, -1}, middle[] = {0.5, 0.5};
  wick_import_attr sizes = regions_floats(n, "sizes", one, 1),
                   ratios = regions_floats(n, "ratios", one, 1),
                   steps = regions_floats(n, "steps", none, 2),
                   offsets = regions_floats(n, "offsets", middle, 2);
  const wick_type_info *t = wick_import_info(n, 0);
  bool clip = wick_import_int(n, "clip", 0) != 0;
  int64_t count = (int64_t)sizes.n + ratios.n - 1, all, dim[3] = {1, 0, 4};
  if (!wick_import_rank(n, 0, 4, 4)) return;
  for (uint32_t k = 2; k < 4; k++)
    if (!wick_dim_is_const(t->dim[k])) {
      wick_import_must_be_known(n, "the image's size", t->dim[k]);
      return;
    }
  int64_t rows = t->dim[2].v, columns = t->dim[3].v;
  if (steps.n != 2 || offsets.n != 2 || wick_mul_overflows(rows, columns, &all) ||
      wick_mul_overflows(all, count, &all) || all < 1 || all > REGIONS_MOST) {
    wick_import_fail(n, WICK_ERANGE, "%lld boxes at %lld x %lld positions", (long long)count,
                     (long long)rows, (long long)columns);
    return;
  }
  dim[1] = all;
  double step_y = steps.floats[0] > 0 ? steps.floats[0] : 1 / (double)rows,
         step_x = steps.floats[1] > 0 ? steps.floats[1] : 1 / (double)columns;
  double *numbers = wick_new(n->c->tmp, double, 4 * (size_t)all), *to = numbers;
  for (int64_t place = 0; place < rows * columns; place++)
    for (uint32_t k = 0; k < count; k++) {
      double size = sizes.floats[k < sizes.n ? k : 0],
             root = sqrt(ratios.floats[k < sizes.n ? 0 : k - sizes.n + 1]);
      double y = ((double)(place / columns) + offsets.floats[0]) * step_y,
             x = ((double)(place % columns) + offsets.floats[1]) * step_x;
      double w = size * (double)rows / (double)columns * root / 2, h = size / root / 2;
      const double box[4] = {x - w, y - h, x + w, y + h};
      for (uint32_t i = 0; i < 4; i++) *to++ = clip ? fmin(fmax(box[i], 0), 1) : box[i];
    }
  n->out[0] = wick_emit_table(n->b, n->name, WICK_F32, 3, dim, numbers);
}

/* ---- sampling ---- */

/* A grid [images, (x, y), rows, columns] of places from -1 to 1, by matrices [images, 6]. */
void wick_mxnet_grid(wick_import_node *n)
{
  wick_builder *b = n->b;
  int64_t size[2];
  if (wick_import_word(n, "transform_type", "affine warp") || n->failed) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "transform_type warp is not supported");
    return;
  }
  if (!wick_import_rank(n, 0, 2, 2) || !regions_sizes(n, "target_shape", size)) return;
  if (size[0] * size[1] > REGIONS_MOST) {
    wick_import_fail(n, WICK_ELIMIT, "target_shape has more than %d elements", REGIONS_MOST);
    return;
  }
  const int64_t dim[2] = {3, size[0] * size[1]};
  double *numbers = wick_new(n->c->tmp, double, 3 * (size_t)dim[1]);
  for (int64_t k = 0; k < dim[1]; k++) {
    int64_t row = k / size[1], column = k % size[1];
    numbers[k] = size[1] > 1 ? -1 + 2 * (double)column / (double)(size[1] - 1) : -1;
    numbers[dim[1] + k] = size[0] > 1 ? -1 + 2 * (double)row / (double)(size[0] - 1) : -1;
    numbers[2 * dim[1] + k] = 1;
  }
  wick_value places = wick_emit_table(b, n->name, WICK_F32, 2, dim, numbers);
  wick_dim images = wick_import_info(n, 0)->dim[0], two = wick_dim_const(2);
  wick_value m = wick_build_reshape(b, n->in[0], 3, (wick_dim[]){images, two, wick_dim_const(3)});
  const wick_dim out[4] = {images, two, wick_dim_const(size[0]), wick_dim_const(size[1])};
  n->out[0] = wick_build_reshape(b, wick_build2(b, WICK_OP_matmul, m, places), 4, out);
}

/* Samples images at the places of a grid; those out of bounds are 0. */
void wick_mxnet_sampler(wick_import_node *n)
{
  static const int64_t last[] = {0, 2, 3, 1};
  if (!wick_import_rank(n, 0, 4, 4) || !wick_import_rank(n, 1, 4, 4)) return;
  wick_value grid = wick_build_transpose(n->b, n->in[1], 4, last);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_grid_sample);
  wick_emit_set_int(&e, "align", 1);
  n->out[0] = wick_emit_end2(&e, n->in[0], grid);
}

/* ---- attention, with queries, keys and values side by side ---- */

/* Takes the queries, keys or values of x [steps, batch, heads * 3 * size] as
 * [batch * heads, steps, size]. */
static wick_value regions_part(wick_import_node *n, int64_t heads, uint32_t part,
                               wick_dim *out_size)
{
  static const int64_t perm[] = {1, 2, 0, 3};
  wick_builder *b = n->b;
  wick_dims *d = n->c->module->dims;
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dim size = wick_dim_floordiv(d, t.dim[2], wick_dim_const(3 * heads)),
           many = wick_dim_const(heads), one = wick_dim_const(1);
  *out_size = size;
  wick_value x = wick_build_reshape(
      b, n->in[0], 5, (wick_dim[]){t.dim[0], t.dim[1], many, wick_dim_const(3), size});
  x = wick_emit_squeeze(b, wick_emit_slice(b, x, 3, wick_dim_const(part), one), 3);
  x = wick_build_transpose(b, x, 4, perm);
  return wick_build_reshape(b, x, 3, (wick_dim[]){wick_dim_mul(d, t.dim[1], many), t.dim[0], size});
}

static int64_t regions_heads(wick_import_node *n)
{
  int64_t heads = wick_import_int(n, "heads", 0);
  if (!wick_import_rank(n, 0, 3, 3)) return 0;
  if (heads > 0 && heads <= 1 << 20) return heads;
  wick_import_fail(n, WICK_ERANGE, "heads is %lld", (long long)heads);
  return 0;
}

/* queries / sqrt(size) times keys: [batch * heads, steps, steps] */
void wick_mxnet_self_attention_scores(wick_import_node *n)
{
  int64_t heads = regions_heads(n);
  wick_dim size;
  if (!heads) return;
  wick_value q = regions_part(n, heads, 0, &size);
  wick_value k = regions_part(n, heads, 1, &size);
  if (!wick_dim_is_const(size)) {
    wick_import_must_be_known(n, "the size of a head", size);
    return;
  }
  q = wick_emit_by(n->b, WICK_OP_div, q, sqrt((double)size.v));
  n->out[0] = wick_build2(n->b, WICK_OP_matmul, q, wick_build_swap(n->b, k));
}

/* weights times values, as [steps, batch, heads * size] */
void wick_mxnet_self_attention_values(wick_import_node *n)
{
  static const int64_t perm[] = {2, 0, 1, 3};
  int64_t heads = regions_heads(n);
  wick_dim size, many = wick_dim_const(heads);
  if (!heads) return;
  const wick_type_info t = *wick_import_info(n, 0);
  wick_value y = wick_build2(n->b, WICK_OP_matmul, n->in[1], regions_part(n, heads, 2, &size));
  y = wick_build_reshape(n->b, y, 4, (wick_dim[]){t.dim[1], many, t.dim[0], size});
  y = wick_build_transpose(n->b, y, 4, perm);
  wick_dim all = wick_dim_mul(n->c->module->dims, many, size);
  n->out[0] = wick_build_reshape(n->b, y, 3, (wick_dim[]){t.dim[0], t.dim[1], all});
}
