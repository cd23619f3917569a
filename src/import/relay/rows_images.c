/* Operators on images. */
#include "import/relay/state.h"
#include "import/relay/table.h"

/* Whether the channels come last; a layout that is neither is reported. */
static bool images_last(relay_member *m, uint32_t n)
{
  static const char *const first[] = {"NCW", "NCHW", "NCDHW"}, *const last[] = {"NWC", "NHWC",
                                                                                "NDHWC"};
  const char *layout = wick_relay_word(m, "layout", first[n - 1]);
  bool is_last = strcmp(layout, last[n - 1]) == 0;
  if (!is_last && strcmp(layout, first[n - 1]) != 0)
    wick_relay_fail(m, "the layout `%s` is not supported", layout);
  return is_last;
}

static const char *images_resized(relay_member *m, uint32_t n, const char *const *size,
                                  const char *mode, const char *coordinates, const char *nearest)
{
  const char *dim[5];
  bool last = images_last(m, n);
  dim[0] = wick_relay_size(m, 0, 0);
  dim[last ? n + 1 : 1] = wick_relay_size(m, 0, last ? n + 1 : 1);
  for (uint32_t i = 0; i < n; i++) dim[i + (last ? 1 : 2)] = size[i];
  return wick_relay_text(m,
                         "resize(a, shape = %s, mode = \"%s\", coordinates = \"%s\", nearest = "
                         "\"%s\", cubic = %s, exclude = %s)",
                         wick_relay_dims(m, n + 2, dim), mode, coordinates, nearest,
                         wick_relay_float(m, wick_relay_real(m, "cubic_alpha", -0.5)),
                         wick_relay_int(m, "cubic_exclude", 0) ? "true" : "false");
}

static const char *images_mode(relay_member *m, const char *method)
{
  if (strstr(method, "nearest")) return "nearest";
  if (strstr(method, "cubic")) return "cubic";
  if (strstr(method, "linear")) return "linear";
  return wick_relay_fail(m, "the method `%s` is not supported", method);
}

static const char *images_resize(relay_member *m)
{
  int64_t size[RELAY_MOST_INTS];
  const char *text[3], *c = wick_relay_word(m, "coordinate_transformation_mode", "half_pixel"),
                       *r = wick_relay_word(m, "rounding_method", "");
  uint32_t n = (uint32_t)(strpbrk(m->row->name, "123")[0] - '0');
  int given = wick_relay_ints(m, "size", size);
  if (given != (int)n || wick_relay_rank(m, 0) != n + 2)
    return wick_relay_fail(m, "`size` must have %u numbers", n);
  for (uint32_t i = 0; i < n; i++) text[i] = wick_relay_text(m, "%lld", (long long)size[i]);
  bool corners = strcmp(c, "align_corners") == 0;
  if (strcmp(c, "tf_crop_and_resize") == 0)
    return wick_relay_fail(m, "`tf_crop_and_resize` is not supported");
  const char *nearest = strcmp(r, "") == 0        ? corners ? "round_prefer_ceil" : "floor"
                        : strcmp(r, "round") == 0 ? "round_prefer_ceil"
                        : strcmp(r, "round_prefer_floor") == 0 ||
                                strcmp(r, "round_prefer_ceil") == 0 || strcmp(r, "floor") == 0 ||
                                strcmp(r, "ceil") == 0
                            ? r
                            : wick_relay_fail(m, "the rounding `%s` is not supported", r);
  const char *mode = images_mode(m, wick_relay_word(m, "method", "linear"));
  return mode && nearest ? images_resized(m, n, text, mode, c, nearest) : NULL;
}

static const char *images_upsampling(relay_member *m)
{
  uint32_t n = strstr(m->row->name, "3d") ? 3 : 2;
  static const char *const name[] = {"scale_d", "scale_h", "scale_w"};
  bool corners = wick_relay_int(m, "align_corners", 0), last = images_last(m, n);
  const char *size[3], *mode = images_mode(m, wick_relay_word(m, "method", "nearest_neighbor"));
  if (!mode || wick_relay_rank(m, 0) != n + 2)
    return wick_relay_fail(m, "the operand must have %u axes", n + 2);
  for (uint32_t i = 0; i < n; i++)
    size[i] = wick_relay_text(m, "%lld",
                              (long long)((double)wick_relay_known(m, 0, i + (last ? 1 : 2)) *
                                              wick_relay_real(m, name[i + 3 - n], 1) +
                                          0.5));
  const char *c = n == 3    ? wick_relay_word(m, "coordinate_transformation_mode", "half_pixel")
                  : corners ? "align_corners"
                            : "asymmetric";
  return images_resized(m, n, size, mode, c,
                        strcmp(c, "align_corners") == 0 ? "round_prefer_ceil" : "floor");
}

/* Relay's grid is [N, coordinates, out...]. */
static const char *images_grid_sample(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 1);
  int64_t perm[WICK_MAX_RANK] = {0};
  if (rank < 3) return wick_relay_fail(m, "the grid must have three axes or more");
  images_last(m, rank - 2);
  for (uint32_t i = 2; i < rank; i++) perm[i - 1] = i;
  perm[rank - 1] = 1;
  const char *method = wick_relay_word(m, "method", "bilinear"), *mode = images_mode(m, method);
  if (!mode) return NULL;
  return wick_relay_text(m, "grid_sample(a, %s, mode = \"%s\", padding = \"%s\", align = %s)",
                         wick_relay_transpose(m, "b", rank, perm), mode,
                         wick_relay_word(m, "padding_mode", "zeros"),
                         wick_relay_int(m, "align_corners", 1) ? "true" : "false");
}

/* Coordinates in [-1, 1] of a grid, times matrices [N, 2, 3]. */
static const char *images_affine_grid(relay_member *m)
{
  int64_t size[RELAY_MOST_INTS];
  if (wick_relay_ints(m, "target_shape", size) != 2 || size[0] < 2 || size[1] < 2)
    return wick_relay_fail(m, "`target_shape` must have 2 numbers above 1");
  const char *e = wick_elem_name(wick_relay_elem(m, 0));
  const char *y = wick_relay_let(m, "%s(range(0.0, 1.0, count = %lld)) * %.17g - 1.0", e,
                                 (long long)size[0], 2.0 / (double)(size[0] - 1)),
             *x = wick_relay_let(m, "%s(range(0.0, 1.0, count = %lld)) * %.17g - 1.0", e,
                                 (long long)size[1], 2.0 / (double)(size[1] - 1));
  const char *shape = wick_relay_tuple(m, 2, size);
  const char *xs = wick_relay_let(m, "reshape(broadcast_to(%s, shape = %s), shape = (1, -1))", x,
                                  shape),
             *ys = wick_relay_let(
                 m,
                 "reshape(broadcast_to(reshape(%s, shape = (-1, 1)), shape = %s), shape = (1, -1))",
                 y, shape);
  return wick_relay_text(
      m, "reshape(a @ concat(%s, %s, %s * 0.0 + 1.0, axis = 0), shape = (%s, 2, %lld, %lld))", xs,
      ys, xs, wick_relay_size(m, 0, 0), (long long)size[0], (long long)size[1]);
}

/* Regions are [R, (image, x, y, x, y)]. */
static const char *images_roi(relay_member *m)
{
  int64_t size[RELAY_MOST_INTS];
  bool align = strstr(m->row->name, "align") != NULL, last = images_last(m, 2);
  int n = wick_relay_ints(m, "pooled_size", size);
  if (n == 1) size[1] = size[0];
  if (n < 1 || n > 2) return wick_relay_fail(m, "`pooled_size` must have 2 numbers");
  const char *x = last ? "transpose(a, perm = (0, 3, 1, 2))" : "a",
             *shape = wick_relay_tuple(m, 2, size),
             *scale = wick_relay_float(m, wick_relay_real(m, "spatial_scale", 1));
  if (!align)
    return wick_relay_text(m, "roi_max_pool(%s, b, shape = %s, scale = %s)", x, shape, scale);
  int64_t ratio = wick_relay_int(m, "sample_ratio", -1);
  if (strcmp(wick_relay_word(m, "mode", "avg"), "avg") != 0)
    return wick_relay_fail(m, "only the mode `avg` is supported");
  const char *y = wick_relay_text(
      m, "roi_align(%s, b[:, 1:], i64(b[:, 0]), shape = %s, scale = %s, ratio = %lld)", x, shape,
      scale, (long long)(ratio < 0 ? 0 : ratio));
  return last ? wick_relay_text(m, "transpose(%s, perm = (0, 2, 3, 1))", y) : y;
}

#define IMAGES_RESIZE                                                                              \
  "size layout method coordinate_transformation_mode rounding_method cubic_alpha cubic_exclude "   \
  "roi extrapolation_value=0 out_dtype"

const relay_row wick_relay_images[] = {
    RELAY_WRITE("image.affine_grid", 1, 1, images_affine_grid, "target_shape", "matmul"),
    RELAY_WRITE("image.grid_sample", 2, 2, images_grid_sample,
                "method layout padding_mode align_corners", "grid_sample"),
    RELAY_WRITE("image.resize1d", 1, 1, images_resize, IMAGES_RESIZE, "resize"),
    RELAY_WRITE("image.resize2d", 1, 1, images_resize, IMAGES_RESIZE, "resize"),
    RELAY_WRITE("image.resize3d", 1, 1, images_resize, IMAGES_RESIZE, "resize"),
    RELAY_WRITE("nn.upsampling", 1, 1, images_upsampling,
                "scale_h scale_w layout method align_corners", "resize"),
    RELAY_WRITE("nn.upsampling3d", 1, 1, images_upsampling,
                "scale_d scale_h scale_w layout method coordinate_transformation_mode", "resize"),
    RELAY_WRITE("vision.roi_align", 2, 2, images_roi,
                "pooled_size spatial_scale sample_ratio layout mode", "roi_align"),
    RELAY_WRITE("vision.roi_pool", 2, 2, images_roi, "pooled_size spatial_scale layout=NCHW",
                "roi_max_pool"),
    RELAY_END_OF_ROWS,
};
