/* Layers that stretch the contrast of images: by the range of each channel, and by histograms of
 * tiles. */
#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

static const double contrast_bytes[2] = {0, 255};

/* Reads value_range. */
static void contrast_values(wick_import_node *n, double range[2])
{
  wick_import_attr a = keras_attr(n, "value_range", 'F');
  range[0] = a.kind == 'F' && a.n == 2 ? a.floats[0] : 0;
  range[1] = a.kind == 'F' && a.n == 2 ? a.floats[1] : 255;
}

/* Values from the range of[0] to of[1] in the range to[0] to to[1]. */
static wick_value contrast_scaled(wick_import_node *n, wick_value x, const double *of,
                                  const double *to)
{
  if (of[0] == to[0] && of[1] == to[1]) return x;
  x = wick_emit_by(n->b, WICK_OP_sub, x, of[0]);
  x = wick_emit_by(n->b, WICK_OP_div, x, of[1] - of[0]);
  x = wick_emit_by(n->b, WICK_OP_mul, x, to[1] - to[0]);
  return wick_emit_by(n->b, WICK_OP_add, x, to[0]);
}

/* Each channel's least value becomes the least of the range, its largest the largest; a channel of
 * one value stays. */
void keras_auto_contrast(wick_import_node *n)
{
  double range[2];
  wick_value x = n->in[0];
  if (!wick_import_rank(n, 0, 3, 4)) return;
  contrast_values(n, range);
  if (!wick_elem_is_float(keras_elem_of(n, x))) x = wick_build_cast(n->b, x, keras_compute(n));
  uint32_t rank = keras_rank(n, x);
  const int64_t axes[2] = {rank - 3, rank - 2};
  wick_value y = contrast_scaled(n, x, range, contrast_bytes);
  wick_value low = wick_emit_reduce(n->b, WICK_OP_reduce_min, y, 2, axes, true);
  wick_value high = wick_emit_reduce(n->b, WICK_OP_reduce_max, y, 2, axes, true);
  wick_value all = wick_emit_number(n->b, y, 255), none = wick_emit_number(n->b, y, 0);
  wick_value scale = wick_build2(n->b, WICK_OP_div, all, wick_build2(n->b, WICK_OP_sub, high, low));
  wick_value offset = wick_build2(n->b, WICK_OP_mul, wick_build1(n->b, WICK_OP_neg, low), scale);
  y = wick_build2(n->b, WICK_OP_add, wick_build2(n->b, WICK_OP_mul, y, scale), offset);
  y = wick_build3(n->b, WICK_OP_clip, y, none, all);
  y = contrast_scaled(n, y, contrast_bytes, range);
  if (n->b->status) return;
  n->out[0] = wick_build3(n->b, WICK_OP_where, wick_build1(n->b, WICK_OP_isnan, y), x, y);
}

/* ---- histograms of tiles ---- */

enum { CONTRAST_BINS = 256, CONTRAST_TILES = 1024 };

/* Images [batch, size[0], size[1], channels], cut into grid[0] x grid[1] tiles of tile[0] x tile[1]
 * pixels; the last tiles are filled by mirroring. */
typedef struct contrast_tiles {
  wick_dim batch;
  int64_t size[2], grid[2], tile[2], channels;
} contrast_tiles;

static bool contrast_shape(wick_import_node *n, wick_value x, contrast_tiles *t)
{
  wick_import_attr grid = keras_attr(n, "tile_grid_size", 'I');
  const wick_dim *dim = keras_dims(n, x);
  if (n->b->status) return false;
  t->batch = dim[0];
  for (uint32_t k = 1; k < 4; k++)
    if (!keras_known(n, "the size of its images", dim[k])) return false;
  t->channels = dim[3].v;
  for (uint32_t k = 0; k < 2; k++) {
    t->size[k] = dim[k + 1].v;
    t->grid[k] = grid.kind == 'I' && grid.n == 2 ? grid.ints[k] : 8;
    if (t->grid[k] < 1 || t->grid[k] > CONTRAST_TILES || t->size[k] < 1) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "%lld pixels in %lld tiles", (long long)t->size[k],
                       (long long)t->grid[k]);
      return false;
    }
    t->tile[k] = (t->size[k] + t->grid[k] - 1) / t->grid[k];
  }
  return true;
}

/* Returns, for each tile and channel, the share of pixels up to each value, of 255:
 * [batch, grid[0], grid[1], channels, 256]. pixel: [batch, height, width, channels], 0 to 255 in i32. */
static wick_value contrast_curves(wick_import_node *n, wick_value pixel, const contrast_tiles *t)
{
  wick_builder *b = n->b;
  static const int64_t tiles_first[] = {0, 1, 3, 5, 2, 4};
  const wick_dim cut[] = {t->batch,
                          wick_dim_const(t->grid[0]),
                          wick_dim_const(t->tile[0]),
                          wick_dim_const(t->grid[1]),
                          wick_dim_const(t->tile[1]),
                          wick_dim_const(t->channels)};
  const int64_t area = t->tile[0] * t->tile[1];
  const wick_dim flat[] = {t->batch, cut[1], cut[3], cut[5], wick_dim_const(area)};
  double limit = wick_import_real(n, "clip_limit", 4) * (double)area / CONTRAST_BINS;
  wick_value x = wick_build_transpose(b, wick_build_reshape(b, pixel, 6, cut), 6, tiles_first);
  x = wick_emit_unsqueeze(b, wick_build_reshape(b, x, 5, flat), 5);
  wick_value bin = wick_emit_count_along(b, wick_dim_const(CONTRAST_BINS), 5, 6);
  x = wick_build2(b, WICK_OP_eq, x, wick_build_cast(b, bin, WICK_I32));
  x = wick_emit_reduce1(b, WICK_OP_reduce_sum, wick_build_cast(b, x, WICK_F32), 4, false);
  if (limit > 0) { /* the counts above the limit are spread over all values */
    wick_value low = wick_emit_by(b, WICK_OP_min, x, (double)(float)limit);
    wick_value more = wick_build2(b, WICK_OP_sub, x, low);
    more = wick_emit_reduce1(b, WICK_OP_reduce_sum, more, 4, true);
    x = wick_build2(b, WICK_OP_add, low, wick_emit_by(b, WICK_OP_div, more, CONTRAST_BINS));
  }
  wick_emit sums = wick_emit_begin(b, WICK_OP_cumsum);
  wick_emit_set_int(&sums, "axis", 4);
  x = wick_emit_end1(&sums, x);
  wick_value least = wick_emit_reduce1(b, WICK_OP_reduce_min, x, 4, true);
  wick_value all = wick_build2(b, WICK_OP_sub, wick_emit_number(b, least, (double)area), least);
  wick_value none = wick_emit_by(b, WICK_OP_eq, all, 0);
  all = wick_build3(b, WICK_OP_where, none, wick_emit_number(b, all, 1), all);
  x = wick_emit_by(b, WICK_OP_mul, wick_build2(b, WICK_OP_sub, x, least), 255);
  x = wick_build2(b, WICK_OP_div, x, all);
  return wick_build3(b, WICK_OP_clip, x, wick_emit_number(b, x, 0), wick_emit_number(b, x, 255));
}

/* Positions of pixels between the centres of tiles, along one axis: the tile before (offset 0) or after
 * (1), times `stride`; and the weight of the tile after. */
static wick_value contrast_tile(wick_import_node *n, const contrast_tiles *t, uint32_t axis,
                                int64_t offset, int64_t stride, wick_value *weight)
{
  int64_t count = t->tile[axis] * t->grid[axis], dim[] = {1, 1, 1, 1};
  double *at = wick_new(n->c->tmp, double, (size_t)count);
  double *share = wick_new(n->c->tmp, double, (size_t)count);
  dim[axis + 1] = count;
  for (int64_t k = 0; k < count; k++) {
    float y = ((float)k - (float)t->tile[axis] / 2.0f) / (float)t->tile[axis] + 1.0f;
    int64_t before = (int64_t)y,
            most = t->grid[axis] - 1; /* the first and last tile are repeated */
    share[k] = y - (float)before;
    before += offset - 1;
    at[k] = (double)((before < 0 ? 0 : before > most ? most : before) * stride);
  }
  *weight = wick_emit_table(n->b, n->name, WICK_F32, 4, dim, share);
  return wick_emit_table(n->b, n->name, WICK_I64, 4, dim, at);
}

static wick_value contrast_between(wick_import_node *n, wick_value x, wick_value y, wick_value at)
{
  wick_value rest = wick_build2(n->b, WICK_OP_sub, wick_emit_number(n->b, at, 1), at);
  return wick_build2(n->b, WICK_OP_add, wick_build2(n->b, WICK_OP_mul, x, rest),
                     wick_build2(n->b, WICK_OP_mul, y, at));
}

/* Each pixel's value on the curves of the four tiles around it, by its distances from them. */
static wick_value contrast_mapped(wick_import_node *n, wick_value curves, wick_value pixel,
                                  const contrast_tiles *t)
{
  wick_builder *b = n->b;
  const int64_t across = t->channels * CONTRAST_BINS, down = across * t->grid[1];
  const wick_dim all[] = {{-1}};
  wick_value flat = wick_build_reshape(b, curves, 1, all), weight[2], row[2], corner[2];
  wick_value image = wick_emit_count_along(b, t->batch, 0, 4);
  wick_value channel = wick_emit_count_along(b, wick_dim_const(t->channels), 3, 4);
  wick_value base = wick_build_cast(b, pixel, WICK_I64);
  image = wick_emit_by(b, WICK_OP_mul, image, (double)(down * t->grid[0]));
  base = wick_build2(b, WICK_OP_add, base, image);
  base = wick_build2(b, WICK_OP_add, base, wick_emit_by(b, WICK_OP_mul, channel, CONTRAST_BINS));
  for (uint32_t i = 0; i < 2; i++) {
    for (uint32_t j = 0; j < 2; j++) {
      wick_value at =
          wick_build2(b, WICK_OP_add, base, contrast_tile(n, t, 0, i, down, &weight[0]));
      at = wick_build2(b, WICK_OP_add, at, contrast_tile(n, t, 1, j, across, &weight[1]));
      corner[j] = wick_emit_gather(b, WICK_OP_gather, flat, at, 0);
    }
    row[i] = contrast_between(n, corner[0], corner[1], weight[1]);
  }
  return contrast_between(n, row[0], row[1], weight[0]);
}

/* ContrastLimitedAdaptiveHistogramEqualization */
void keras_local_contrast(wick_import_node *n)
{
  wick_builder *b = n->b;
  static const int64_t last[] = {0, 2, 3, 1}, first[] = {0, 3, 1, 2};
  wick_dim before[4], after[4];
  double range[2];
  contrast_tiles t;
  wick_value x = n->in[0];
  if (!wick_import_rank(n, 0, 3, 4)) return;
  bool single = keras_rank(n, x) == 3, channels_last = keras_channels_last(n);
  wick_elem e = keras_elem_of(n, x);
  contrast_values(n, range);
  if (single) x = wick_emit_unsqueeze(b, x, 0);
  if (!channels_last) x = wick_build_transpose(b, x, 4, last);
  if (!contrast_shape(n, x, &t)) return;
  x = contrast_scaled(n, wick_build_cast(b, x, WICK_F32), range, contrast_bytes);
  for (uint32_t k = 0; k < 4; k++) {
    bool padded = k == 1 || k == 2;
    before[k] = wick_dim_const(0);
    after[k] = wick_dim_const(padded ? t.tile[k - 1] * t.grid[k - 1] - t.size[k - 1] : 0);
  }
  x = wick_array_mirror_pad(n, x, before, after, true);
  x = wick_build3(b, WICK_OP_clip, x, wick_emit_number(b, x, 0), wick_emit_number(b, x, 255));
  wick_value pixel = wick_build_cast(b, x, WICK_I32);
  x = contrast_mapped(n, contrast_curves(n, pixel, &t), pixel, &t);
  for (uint32_t k = 0; k < 2; k++)
    x = wick_emit_slice(b, x, k + 1, wick_dim_const(0), wick_dim_const(t.size[k]));
  x = wick_build_cast(b, contrast_scaled(n, x, contrast_bytes, range), e);
  if (!channels_last) x = wick_build_transpose(b, x, 4, first);
  n->out[0] = single ? wick_emit_squeeze(b, x, 0) : x;
}
