/* The functions of keras.ops for networks: norms, losses, attention, blocks of images. */
#include <math.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"
#include "import/kit/nhwc.h"

/* An argument, or 0 if it is absent. */
static wick_value network_optional(wick_import_node *n, uint32_t at, const char *name,
                                   wick_value like)
{
  const keras_arg *a = keras_argument(n, at, name);
  if (a->kind == KERAS_NOTHING || n->failed) return (wick_value){0};
  return wick_build_cast(n->b, keras_value(n, a, like), keras_elem_of(n, like));
}

/* ---- norms ---- */

static void network_batch_norm(wick_import_node *n)
{
  static const char *const names[] = {"mean", "variance", "offset", "scale"};
  wick_builder *b = n->b;
  wick_value x = keras_operand(n, 0, "x", (wick_value){0}), v[4];
  uint32_t axis, rank = keras_rank(n, x);
  if (n->failed || !keras_axis(n, "axis", -1, rank, &axis)) return;
  for (uint32_t i = 0; i < 4; i++) {
    v[i] = network_optional(n, i + 1, names[i], x);
    if (v[i].id && keras_rank(n, v[i]) == 1) v[i] = keras_along(n, v[i], axis, rank);
  }
  if (n->failed || !v[0].id || !v[1].id) {
    if (!n->failed) wick_import_fail(n, WICK_EPARSE, "mean and variance are expected");
    return;
  }
  wick_value wide = wick_emit_by(b, WICK_OP_add, v[1], wick_import_real(n, "epsilon", 1e-3));
  wick_value by = wick_build1(b, WICK_OP_rsqrt, wide);
  if (v[3].id) by = wick_build2(b, WICK_OP_mul, by, v[3]);
  wick_value shift = wick_build1(b, WICK_OP_neg, wick_build2(b, WICK_OP_mul, v[0], by));
  if (v[2].id) shift = wick_build2(b, WICK_OP_add, shift, v[2]);
  n->out[0] = wick_build2(b, WICK_OP_add, wick_build2(b, WICK_OP_mul, x, by), shift);
}

/* layer_normalization, and rms_normalization (arg 1), over the axes; the factors have the sizes of
 * the axes. */
static void network_layer_norm(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  bool rms = n->row->arg || keras_is_true(n, "rms_scaling", false);
  double epsilon = wick_import_real(n, "epsilon", 1e-7);
  uint32_t count, rank = keras_rank(n, x);
  int64_t axes[WICK_MAX_RANK];
  if (n->failed || !keras_axes(n, "axis", rank, &count, axes)) return;
  if (!keras_attr(n, "axis", 'I').kind) count = 1, axes[0] = rank - 1;
  wick_elem e = keras_elem_of(n, x);
  x = keras_wide(n, x);
  wick_value scale = network_optional(n, 1, n->row->arg ? "scale" : "gamma", x);
  wick_value shift = n->row->arg ? (wick_value){0} : network_optional(n, 2, "beta", x);
  wick_dim dim[WICK_MAX_RANK];
  bool over[WICK_MAX_RANK] = {false};
  for (uint32_t i = 0; i < count; i++) over[axes[i]] = true;
  for (uint32_t i = 0; i < rank; i++) dim[i] = over[i] ? keras_dims(n, x)[i] : wick_dim_const(1);
  if (scale.id && keras_rank(n, scale) < rank) scale = keras_reshape_to(n, scale, rank, dim);
  if (shift.id && keras_rank(n, shift) < rank) shift = keras_reshape_to(n, shift, rank, dim);
  wick_value y = x;
  if (!rms) {
    wick_value mean = wick_emit_reduce(b, WICK_OP_reduce_mean, x, count, axes, true);
    y = wick_build2(b, WICK_OP_sub, x, mean);
  }
  wick_value square = wick_build2(b, WICK_OP_mul, y, y);
  wick_value variance = wick_emit_reduce(b, WICK_OP_reduce_mean, square, count, axes, true);
  variance = wick_emit_by(b, WICK_OP_add, variance, epsilon);
  y = wick_build2(b, WICK_OP_mul, y, wick_build1(b, WICK_OP_rsqrt, variance));
  if (scale.id) y = wick_build2(b, WICK_OP_mul, y, scale);
  if (shift.id && !rms) y = wick_build2(b, WICK_OP_add, y, shift);
  if (!n->failed) n->out[0] = wick_build_cast(b, y, e);
}

/* ---- losses ---- */

static const double network_epsilon = 1e-7;

static wick_value network_probability(wick_import_node *n, wick_value x)
{
  wick_value lo = wick_emit_number(n->b, x, network_epsilon);
  wick_value hi = wick_emit_number(n->b, x, 1 - network_epsilon);
  return wick_build3(n->b, WICK_OP_clip, x, lo, hi);
}

static void network_binary(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = keras_operand(n, 1, "output", (wick_value){0});
  wick_value target = keras_operand(n, 0, "target", x);
  if (n->failed) return;
  target = wick_build_cast(b, target, keras_elem_of(n, x));
  if (keras_is_true(n, "from_logits", false)) {
    wick_value positive = wick_build1(b, WICK_OP_relu, x);
    wick_value far = wick_build1(b, WICK_OP_neg, wick_build1(b, WICK_OP_abs, x));
    wick_value log = wick_build1(b, WICK_OP_log1p, wick_build1(b, WICK_OP_exp, far));
    wick_value own = wick_build2(b, WICK_OP_sub, positive, wick_build2(b, WICK_OP_mul, x, target));
    n->out[0] = wick_build2(b, WICK_OP_add, own, log);
    return;
  }
  wick_value one = wick_emit_number(b, x, 1), p = network_probability(n, x);
  wick_value log = wick_build1(b, WICK_OP_log, p);
  wick_value other = wick_build1(b, WICK_OP_log, wick_build2(b, WICK_OP_sub, one, p));
  wick_value yes = wick_build2(b, WICK_OP_mul, target, log);
  wick_value rest = wick_build2(b, WICK_OP_sub, one, target);
  wick_value no = wick_build2(b, WICK_OP_mul, rest, other);
  n->out[0] = wick_build1(b, WICK_OP_neg, wick_build2(b, WICK_OP_add, yes, no));
}

static wick_value network_log_softmax(wick_import_node *n, wick_value x, uint32_t axis)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_log_softmax);
  wick_emit_set_int(&e, "axis", axis);
  return wick_emit_end1(&e, x);
}

/* categorical_crossentropy, and the one whose targets are classes (arg 1) */
static void network_categorical(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x = keras_operand(n, 1, "output", (wick_value){0});
  wick_value target = keras_operand(n, 0, "target", n->row->arg ? (wick_value){0} : x), log;
  bool logits = keras_is_true(n, "from_logits", false), classes = n->row->arg;
  uint32_t axis, rank = keras_rank(n, x);
  if (n->failed || !keras_axis(n, "axis", -1, rank, &axis)) return;
  if (logits) {
    log = network_log_softmax(n, x, axis);
  } else {
    wick_value sum = wick_emit_reduce1(b, WICK_OP_reduce_sum, x, axis, true);
    wick_value p = classes ? x : wick_build2(b, WICK_OP_div, x, sum);
    log = wick_build1(b, WICK_OP_log, network_probability(n, p));
    if (classes) log = network_log_softmax(n, log, axis);
  }
  if (!classes) {
    target = wick_build_cast(b, target, keras_elem_of(n, x));
    wick_value loss = wick_build2(b, WICK_OP_mul, target, log);
    n->out[0] =
        wick_build1(b, WICK_OP_neg, wick_emit_reduce1(b, WICK_OP_reduce_sum, loss, axis, false));
    return;
  }
  target = wick_build_cast(b, target, WICK_I64);
  if (keras_rank(n, target) + 1 == rank) target = wick_emit_unsqueeze(b, target, axis);
  wick_value own = wick_emit_gather(b, WICK_OP_gather_elements, log, target, axis);
  n->out[0] = wick_build1(b, WICK_OP_neg, wick_emit_squeeze(b, own, axis));
}

static void network_psnr(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x[2] = {{0}, {0}};
  double most = wick_import_real(n, "max_val", 1);
  keras_operands(n, x);
  if (n->failed) return;
  wick_value d = keras_flat(n, keras_floating(n, keras_op2(n, WICK_OP_sub, x[0], x[1])));
  wick_value square = wick_build2(b, WICK_OP_mul, d, d);
  wick_value mean = wick_emit_reduce1(b, WICK_OP_reduce_mean, square, 0, false);
  wick_value log =
      wick_emit_by(b, WICK_OP_mul, wick_build1(b, WICK_OP_log, mean), -4.3429448190325182765);
  n->out[0] = wick_emit_by(b, WICK_OP_add, log, 20 * log10(most));
}

static void network_multi_hot(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "inputs", (wick_value){0});
  int64_t classes = wick_import_int(n, "num_classes", wick_import_int(n, "num_tokens", 0));
  uint32_t rank = keras_rank(n, x), axis;
  if (n->failed || !keras_axis(n, "axis", -1, rank + 1, &axis)) return;
  if (classes < 1 || classes > INT32_MAX || rank + 1 > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "num_classes is %lld", (long long)classes);
    return;
  }
  wick_value index = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, x, WICK_I64), axis);
  wick_value all = wick_emit_count_along(n->b, wick_dim_const(classes), axis, rank + 1);
  wick_value hot = wick_build_cast(n->b, wick_build2(n->b, WICK_OP_eq, index, all), WICK_I32);
  hot = wick_emit_reduce1(n->b, WICK_OP_reduce_max, hot, rank > 1, false);
  n->out[0] = wick_build_cast(n->b, hot, keras_elem(wick_import_text(n, "dtype", NULL), WICK_F32));
}

/* ---- attention ---- */

/* [batch, positions, heads, width] with the heads second, repeated to that number. */
static wick_value network_heads(wick_import_node *n, wick_value x, wick_dim heads)
{
  x = wick_build_transpose(n->b, x, 4, (const int64_t[]){0, 2, 1, 3});
  if (n->b->status) return x;
  wick_dim own = keras_dims(n, x)[1];
  if (wick_dim_is_const(own) && wick_dim_is_const(heads) && own.v > 1 && heads.v > own.v) {
    const wick_dim *d = keras_dims(n, x);
    wick_dim wide[] = {d[0], d[1], wick_dim_const(heads.v / own.v), d[2], d[3]};
    wick_dim flat[] = {d[0], heads, d[2], d[3]};
    x = wick_emit_expand(n->b, wick_emit_unsqueeze(n->b, x, 2), 5, wide);
    x = wick_build_reshape(n->b, x, 4, flat);
  }
  return x;
}

static void network_attention(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value q = keras_operand(n, 0, "query", (wick_value){0});
  wick_value k = keras_operand(n, 1, "key", (wick_value){0});
  wick_value v = keras_operand(n, 2, "value", (wick_value){0});
  const keras_arg *mask = keras_argument(n, 4, "mask"), *scale = keras_argument(n, 5, "scale");
  if (n->failed) return;
  if (keras_rank(n, q) != 4 || keras_rank(n, k) != 4 || keras_rank(n, v) != 4) {
    wick_import_fail(n, WICK_ETYPE, "tensors of four dimensions are expected");
    return;
  }
  wick_elem e =
      keras_common(keras_elem_of(n, q), keras_common(keras_elem_of(n, k), keras_elem_of(n, v)));
  wick_dim heads = keras_dims(n, q)[2], width = keras_dims(n, q)[3];
  double by = 0;
  if (scale->kind == KERAS_CONST) (void)wick_json_double(scale->json, &by);
  if (scale->kind == KERAS_NOTHING && keras_known(n, "the width of a head", width))
    by = 1 / sqrt((double)width.v);
  if (n->failed) return;
  q = wick_build_cast(b, network_heads(n, q, heads), e);
  k = wick_build_cast(b, network_heads(n, k, heads), e);
  v = wick_build_cast(b, network_heads(n, v, heads), e);
  wick_value x = keras_wide(n, wick_build2(b, WICK_OP_matmul, q, wick_build_swap(b, k)));
  if (scale->kind == KERAS_TENSOR)
    x = wick_build2(b, WICK_OP_mul, x, wick_build_cast(b, scale->t.v, keras_elem_of(n, x)));
  else
    x = wick_emit_by(b, WICK_OP_mul, x, by);
  wick_value bias = network_optional(n, 3, "bias", x), keep = {0};
  if (bias.id) x = wick_build2(b, WICK_OP_add, x, bias);
  if (mask->kind != KERAS_NOTHING)
    keep = wick_build_cast(b, keras_value(n, mask, (wick_value){0}), WICK_BOOL);
  if (keras_is_true(n, "is_causal", false) && !n->b->status) {
    wick_value row = wick_emit_count_along(b, keras_dims(n, x)[2], 0, 2);
    wick_value column = wick_emit_count_along(b, keras_dims(n, x)[3], 1, 2);
    wick_value before = wick_build2(b, WICK_OP_le, column, row);
    keep = keep.id ? wick_build2(b, WICK_OP_and, keep, before) : before;
  }
  if (keep.id)
    x = wick_build3(b, WICK_OP_where, keep, x, wick_emit_number(b, x, -0.7 * 3.38953e38));
  wick_emit s = wick_emit_begin(b, WICK_OP_softmax);
  wick_emit_set_int(&s, "axis", 3);
  x = wick_build_cast(b, wick_emit_end1(&s, x), e);
  x = wick_build2(b, WICK_OP_matmul, x, v);
  if (!n->failed) n->out[0] = wick_build_transpose(b, x, 4, (const int64_t[]){0, 2, 1, 3});
}

/* ---- blocks ---- */

/* depth_to_space, and space_to_depth (arg 1), with the channels last or second */
static void network_blocks(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  int64_t block = wick_import_int(n, "block_size", 1);
  bool last = keras_channels_last(n);
  if (n->failed) return;
  if (keras_rank(n, x) != 4 || block < 1) {
    wick_import_fail(n, WICK_ETYPE, "an image and a positive block_size are expected");
    return;
  }
  if (!last) x = wick_build_transpose(n->b, x, 4, (const int64_t[]){0, 2, 3, 1});
  x = n->row->arg ? wick_nhwc_space_to_depth(n, x, block) : wick_nhwc_depth_to_space(n, x, block);
  n->out[0] = last ? x : wick_build_transpose(n->b, x, 4, (const int64_t[]){0, 3, 1, 2});
}

typedef struct network_window {
  int64_t kernel[2], stride[2], dilation[2], pad[2];
} network_window;

static bool network_window_of(wick_import_node *n, network_window *w)
{
  bool good =
      keras_sizes(n, "kernel_size", 2, 1, w->kernel) && keras_sizes(n, "stride", 2, 1, w->stride) &&
      keras_sizes(n, "dilation", 2, 1, w->dilation) && keras_sizes(n, "padding", 2, 0, w->pad);
  for (int i = 0; i < 2 && good; i++)
    good = w->kernel[i] > 0 && w->stride[i] > 0 && w->dilation[i] > 0 && w->kernel[i] < 1 << 15;
  if (!good && !n->failed) wick_import_fail(n, WICK_EPARSE, "the window is not positive");
  return good;
}

/* [N, C, H, W] to [N, C * window, positions] */
static void network_unfold(wick_import_node *n)
{
  static const int64_t perm[] = {0, 1, 3, 5, 2, 4};
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  wick_dims *t = n->c->module->dims;
  network_window w;
  if (n->failed || !network_window_of(n, &w)) return;
  if (keras_rank(n, x) != 4) {
    wick_import_fail(n, WICK_ETYPE, "an image of four dimensions is expected");
    return;
  }
  wick_dim zero = wick_dim_const(0);
  wick_dim pad[] = {zero, zero, wick_dim_const(w.pad[0]), wick_dim_const(w.pad[1])};
  x = wick_array_pad(n, x, pad, pad, (wick_value){0});
  x = keras_windows(n, x, 3, w.kernel[1], w.stride[1], w.dilation[1]);
  x = keras_windows(n, x, 2, w.kernel[0], w.stride[0], w.dilation[0]);
  if (n->b->status) return;
  const wick_dim *d = keras_dims(n, x); /* N, C, rows, kernel, columns, kernel */
  wick_dim dim[] = {d[0], wick_dim_mul(t, d[1], wick_dim_const(w.kernel[0] * w.kernel[1])),
                    wick_dim_mul(t, d[2], d[4])};
  n->out[0] = wick_build_reshape(n->b, wick_build_transpose(n->b, x, 6, perm), 3, dim);
}

static void network_fold(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  network_window w;
  int64_t size[2];
  if (n->failed || !network_window_of(n, &w) || !keras_sizes(n, "output_size", 2, 1, size)) return;
  int64_t pad[] = {w.pad[0], w.pad[1], w.pad[0], w.pad[1]};
  wick_dim image[] = {wick_dim_const(size[0]), wick_dim_const(size[1])};
  wick_emit e = wick_emit_begin(n->b, WICK_OP_col2im);
  wick_emit_set_ints(&e, "stride", 2, w.stride);
  wick_emit_set_ints(&e, "dilation", 2, w.dilation);
  wick_emit_set_ints(&e, "pad", 4, pad);
  wick_emit_set_ints(&e, "kernel", 2, w.kernel);
  wick_emit_set_dims(&e, "image", 2, image);
  n->out[0] = wick_emit_end1(&e, x);
}

#define NO_CTC "losses of sequences, and their decoding, are not supported"

const wick_import_op keras_networks[] = {
    KERAS_ROW("BatchNorm", 1, WICK_ANY, 1, network_batch_norm, .arg = 0),
    KERAS_ROW("BinaryCrossentropy", 1, 2, 1, network_binary, .arg = 0),
    KERAS_ROW("CTCDecode", 0, WICK_ANY, WICK_ANY, NULL, .why = NO_CTC),
    KERAS_ROW("CTCLoss", 0, WICK_ANY, WICK_ANY, NULL, .why = NO_CTC),
    KERAS_ROW("CategoricalCrossentropy", 1, 2, 1, network_categorical, .arg = 0),
    KERAS_ROW("DepthToSpace", 1, 1, 1, network_blocks, .arg = 0),
    KERAS_ROW("DotProductAttention", 1, WICK_ANY, 1, network_attention, .arg = 0),
    KERAS_ROW("Fold", 1, 1, 1, network_fold, .arg = 0),
    KERAS_ROW("LayerNorm", 1, 3, 1, network_layer_norm, .arg = 0),
    KERAS_ROW("MultiHot", 1, 1, 1, network_multi_hot, .arg = 0),
    KERAS_ROW("PSNR", 1, 2, 1, network_psnr, .arg = 0),
    KERAS_ROW("RMSNorm", 1, 2, 1, network_layer_norm, .arg = 1),
    KERAS_ROW("SpaceToDepth", 1, 1, 1, network_blocks, .arg = 1),
    KERAS_ROW("SparseCategoricalCrossentropy", 1, 2, 1, network_categorical, .arg = 1),
    KERAS_ROW("Unfold", 1, 1, 1, network_unfold, .arg = 0),
    {.name = NULL},
};
