/* Layers that move elements, and preprocessing. */
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"

void keras_flatten(wick_import_node *n)
{
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x);
  if (!keras_channels_last(n) && rank > 2) { /* channels come last in the result */
    int64_t perm[WICK_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) perm[i] = i == 0 ? 0 : i + 1 == rank ? 1 : i + 1;
    x = wick_build_transpose(n->b, x, rank, perm);
  }
  wick_dim dim[2] = {rank ? keras_dims(n, x)[0] : wick_dim_const(1), wick_dim_const(1)};
  for (uint32_t i = 1; i < rank; i++)
    dim[1] = wick_dim_mul(n->c->module->dims, dim[1], keras_dims(n, x)[i]);
  n->out[0] = wick_build_reshape(n->b, x, 2, dim);
}

/* One size may be -1: it is the rest of the elements. */
wick_value keras_reshape_to(wick_import_node *n, wick_value x, uint32_t rank, wick_dim *dim)
{
  wick_dims *t = n->c->module->dims;
  wick_dim all = wick_dim_const(1), known = wick_dim_const(1);
  uint32_t open = rank;
  for (uint32_t i = 0; i < keras_rank(n, x); i++) all = wick_dim_mul(t, all, keras_dims(n, x)[i]);
  for (uint32_t i = 0; i < rank; i++)
    if (wick_dim_is(dim[i], -1))
      open = i;
    else
      known = wick_dim_mul(t, known, dim[i]);
  if (open < rank) dim[open] = wick_dim_is(known, 0) ? known : wick_dim_floordiv(t, all, known);
  return wick_build_reshape(n->b, x, rank, dim);
}

void keras_reshape(wick_import_node *n)
{
  wick_import_attr a = wick_import_ints(n, "target_shape");
  wick_dim dim[WICK_MAX_RANK];
  if (a.n + 1 > WICK_MAX_RANK || !keras_rank(n, n->in[0])) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the shape has too many dimensions");
    return;
  }
  dim[0] = keras_dims(n, n->in[0])[0];
  uint32_t open = 0;
  for (uint32_t i = 0; i < a.n; i++) {
    open += a.ints[i] < 0;
    dim[1 + i] = a.ints[i] < 0 ? (wick_dim){-1} : wick_dim_const(a.ints[i]);
  }
  if (open == 1) { /* of one element of the batch */
    wick_dims *t = n->c->module->dims;
    wick_dim all = wick_dim_const(1), known = wick_dim_const(1);
    for (uint32_t i = 1; i < keras_rank(n, n->in[0]); i++)
      all = wick_dim_mul(t, all, keras_dims(n, n->in[0])[i]);
    for (uint32_t i = 0; i < a.n; i++)
      if (a.ints[i] >= 0) known = wick_dim_mul(t, known, dim[1 + i]);
    for (uint32_t i = 0; i < a.n; i++)
      if (a.ints[i] < 0)
        dim[1 + i] = wick_dim_floordiv(t, all, wick_dim_is(known, 0) ? wick_dim_const(1) : known);
  }
  if (open > 1) {
    wick_import_fail(n, WICK_EPARSE, "the shape has %u sizes that are -1", open);
    return;
  }
  n->out[0] = wick_build_reshape(n->b, n->in[0], a.n + 1, dim);
}

void keras_permute(wick_import_node *n)
{
  wick_import_attr a = wick_import_ints(n, "dims");
  int64_t perm[WICK_MAX_RANK] = {0};
  if (a.n + 1 != keras_rank(n, n->in[0])) {
    wick_import_fail(n, WICK_ETYPE, "dims has %u axes, the input has %u", a.n + 1,
                     keras_rank(n, n->in[0]));
    return;
  }
  for (uint32_t i = 0; i < a.n; i++) perm[1 + i] = a.ints[i];
  n->out[0] = wick_build_transpose(n->b, n->in[0], a.n + 1, perm);
}

void keras_repeat_vector(wick_import_node *n)
{
  wick_dim dim[3];
  if (!wick_import_rank(n, 0, 2, 2)) return;
  dim[0] = keras_dims(n, n->in[0])[0], dim[2] = keras_dims(n, n->in[0])[1];
  dim[1] = wick_dim_const(wick_import_int(n, "n", 1));
  n->out[0] = wick_emit_expand(n->b, wick_emit_unsqueeze(n->b, n->in[0], 1), 3, dim);
}

/* [[begin, end], ...], one number for all, or one for each axis. */
static bool shape_borders(wick_import_node *n, const char *name, uint32_t count, int64_t *begin,
                          int64_t *end)
{
  const wick_json *j = keras_config(keras_of(n)->layer, name);
  int64_t one = 1;
  bool good = !j || j->kind == WICK_JSON_ARRAY || wick_json_int(j, &one);
  for (uint32_t i = 0; i < count; i++) begin[i] = end[i] = one;
  const wick_json *item = j && j->kind == WICK_JSON_ARRAY ? j->first : NULL;
  bool pair = item && count == 1 && j->n == 2;
  if (pair)
    good = wick_json_int(item, &begin[0]) && wick_json_int(item->next, &end[0]);
  else if (item && j->n != count)
    good = false;
  for (uint32_t i = 0; i < count && item && !pair && good; i++, item = item->next) {
    if (item->kind == WICK_JSON_ARRAY)
      good = wick_json_int(wick_json_item(item, 0), &begin[i]) &&
             wick_json_int(wick_json_item(item, 1), &end[i]);
    else
      good = wick_json_int(item, &begin[i]), end[i] = begin[i];
  }
  if (!good) wick_import_fail(n, WICK_EPARSE, "%s is expected to be pairs of numbers", name);
  return good;
}

/* ZeroPadding (arg 1) and Cropping (arg -1): numbers at both ends of each spatial axis. */
void keras_borders(wick_import_node *n)
{
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x), first = keras_channels_last(n) ? 1 : 2;
  int64_t begin[WICK_MAX_RANK], end[WICK_MAX_RANK];
  wick_dim pad[2 * WICK_MAX_RANK];
  if (!wick_import_rank(n, 0, 3, 5)) return;
  if (!shape_borders(n, n->row->arg > 0 ? "padding" : "cropping", rank - 2, begin, end)) return;
  for (uint32_t i = 0; i < 2 * rank; i++) pad[i] = wick_dim_const(0);
  for (uint32_t i = 0; i + 2 < rank; i++) {
    pad[first + i] = wick_dim_const(n->row->arg * begin[i]);
    pad[rank + first + i] = wick_dim_const(n->row->arg * end[i]);
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  n->out[0] = wick_emit_end1(&e, x);
}

static void shape_resize_mode(wick_import_node *n, wick_emit *e, const char *mode)
{
  wick_emit_set_int(e, "mode",
                    strcmp(mode, "nearest") == 0    ? 0
                    : strcmp(mode, "bilinear") == 0 ? 1
                                                    : 2);
  if (strcmp(mode, "nearest") != 0 && strcmp(mode, "bilinear") != 0 && strcmp(mode, "bicubic") != 0)
    wick_import_fail(n, WICK_EUNSUPPORTED, "the interpolation \"%s\" is not supported", mode);
  wick_emit_set_float(e, "cubic", -0.5);
}

/* Repeats elements along the spatial axes, or interpolates between them. */
void keras_up_sampling(wick_import_node *n)
{
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x);
  bool last = keras_channels_last(n);
  int64_t by[WICK_MAX_RANK];
  if (!wick_import_rank(n, 0, 3, 5) || !keras_sizes(n, "size", rank - 2, 2, by)) return;
  const char *mode = wick_import_text(n, "interpolation", "nearest");
  x = keras_channels_first(n, x, last);
  wick_dim dim[WICK_MAX_RANK];
  double scale[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) {
    int64_t k = i < 2 ? 1 : by[i - 2];
    dim[i] = wick_dim_mul(n->c->module->dims, keras_dims(n, x)[i], wick_dim_const(k));
    scale[i] = (double)k;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", rank, dim);
  wick_emit_set_floats(&e, "scale", rank, scale);
  shape_resize_mode(n, &e, mode);
  if (strcmp(mode, "nearest") == 0)
    wick_emit_set_int(&e, "coordinates", 4), wick_emit_set_int(&e, "nearest", 2);
  if (strcmp(mode, "bicubic") == 0) wick_emit_set_int(&e, "exclude", 1);
  n->out[0] = keras_channels_back(n, wick_emit_end1(&e, x), last);
}

/* Resizes images to height x width. Coordinates are those of half pixels. */
wick_value keras_resize_to(wick_import_node *n, wick_value x, bool last, int64_t height,
                           int64_t width, const char *mode, bool antialias)
{
  uint32_t rank = keras_rank(n, x), at = rank - (last ? 3 : 2);
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) dim[i] = keras_dims(n, x)[i];
  dim[at] = wick_dim_const(height), dim[at + 1] = wick_dim_const(width);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_resize);
  wick_emit_set_dims(&e, "shape", rank, dim);
  shape_resize_mode(n, &e, mode);
  if (strcmp(mode, "nearest") == 0)
    wick_emit_set_int(&e, "coordinates", 6), wick_emit_set_int(&e, "nearest", 2);
  if (antialias || strcmp(mode, "bicubic") == 0) wick_emit_set_int(&e, "exclude", 1);
  wick_emit_set_int(&e, "antialias", antialias);
  return wick_emit_end1(&e, x);
}

void keras_resizing(wick_import_node *n)
{
  wick_value x = n->in[0];
  int64_t height = wick_import_int(n, "height", 0), width = wick_import_int(n, "width", 0);
  if (!wick_import_rank(n, 0, 3, 4)) return;
  if (height < 1 || width < 1) {
    wick_import_fail(n, WICK_EPARSE, "the size is not positive");
    return;
  }
  const char *mode = wick_import_text(n, "interpolation", "bilinear");
  if (!wick_elem_is_float(keras_elem_of(n, x))) x = wick_build_cast(n->b, x, keras_compute(n));
  bool crop = keras_is_true(n, "crop_to_aspect_ratio", false);
  bool pad = keras_is_true(n, "pad_to_aspect_ratio", false), last = keras_channels_last(n);
  if (crop || pad)
    x = keras_fit_aspect(n, x, last, (int64_t[]){height, width}, pad,
                         wick_import_real(n, "fill_value", 0));
  n->out[0] =
      keras_resize_to(n, x, last, height, width, mode, keras_is_true(n, "antialias", false));
}

/* The middle of images that are large enough. */
void keras_center_crop(wick_import_node *n)
{
  wick_value x = n->in[0];
  int64_t size[2] = {wick_import_int(n, "height", 0), wick_import_int(n, "width", 0)};
  if (!wick_import_rank(n, 0, 3, 4)) return;
  uint32_t at = keras_rank(n, x) - (keras_channels_last(n) ? 3 : 2);
  if (!wick_elem_is_float(keras_elem_of(n, x))) x = wick_build_cast(n->b, x, keras_compute(n));
  for (uint32_t i = 0; i < 2; i++) {
    wick_dim d = keras_dims(n, x)[at + i];
    if (!wick_dim_is_const(d)) {
      (void)wick_import_must_be_known(n, "the size of the image", d);
      return;
    }
    if (d.v < size[i] || size[i] < 1) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "images smaller than the crop are not supported");
      return;
    }
    x = wick_emit_slice(n->b, x, at + i, wick_dim_const((d.v - size[i]) / 2),
                        wick_dim_const(size[i]));
  }
  n->out[0] = x;
}

/* A number or a list of numbers as a constant of x's type. */
static wick_value shape_numbers(wick_import_node *n, const char *name, wick_value x,
                                double otherwise)
{
  wick_import_attr a = keras_attr(n, name, 'F');
  if (a.kind != 'F') return wick_emit_number(n->b, x, wick_import_real(n, name, otherwise));
  int64_t dim = a.n;
  return wick_emit_table(n->b, name, keras_elem_of(n, x), 1, &dim, a.floats);
}

void keras_rescaling(wick_import_node *n)
{
  wick_value x = n->in[0];
  if (!wick_elem_is_float(keras_elem_of(n, x))) x = wick_build_cast(n->b, x, keras_compute(n));
  wick_value scale = shape_numbers(n, "scale", x, 1);
  wick_value offset = shape_numbers(n, "offset", x, 0);
  n->out[0] = wick_build2(n->b, WICK_OP_add, wick_build2(n->b, WICK_OP_mul, x, scale), offset);
}

/* (x - mean) / max(sqrt(variance), epsilon), or x * that + mean if inverted. */
void keras_normalization(wick_import_node *n)
{
  wick_value x = n->in[0], mean, variance;
  uint32_t rank = keras_rank(n, x);
  if (!wick_elem_is_float(keras_elem_of(n, x))) x = wick_build_cast(n->b, x, keras_compute(n));
  wick_import_attr axis = keras_attr(n, "axis", 'I');
  if (keras_weight_has(n, "mean")) {
    mean = keras_weight_get(n, "mean");
    variance = keras_weight_get(n, "variance");
  } else {
    mean = shape_numbers(n, "mean", x, 0);
    variance = shape_numbers(n, "variance", x, 1);
  }
  wick_dim dim[WICK_MAX_RANK];
  uint32_t k = 0, mine = keras_rank(n, mean);
  for (uint32_t i = 0; i < rank; i++) {
    bool kept = false;
    for (uint32_t a = 0; a < (axis.kind == 'I' ? axis.n : axis.kind == 'i'); a++) {
      int64_t at = axis.kind == 'I' ? axis.ints[a] : axis.i;
      kept = kept || (at < 0 ? at + rank : at) == i;
    }
    dim[i] = kept && k < mine ? keras_dims(n, mean)[k++] : wick_dim_const(1);
  }
  if (mine && k == mine) {
    mean = wick_build_reshape(n->b, mean, rank, dim);
    variance = wick_build_reshape(n->b, variance, rank, dim);
  }
  wick_value root = wick_build1(n->b, WICK_OP_sqrt, variance);
  root = keras_by(n, WICK_OP_max, root, 1e-7);
  if (keras_is_true(n, "invert", false))
    n->out[0] = wick_build2(n->b, WICK_OP_add, mean, wick_build2(n->b, WICK_OP_mul, x, root));
  else
    n->out[0] = wick_build2(n->b, WICK_OP_div, wick_build2(n->b, WICK_OP_sub, x, mean), root);
}
