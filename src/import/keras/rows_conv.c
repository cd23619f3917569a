/* Convolutions and pools. Wick's operators have the channels at axis 1; transpositions between
 * layers cancel. */
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"

enum { CONV_SPATIAL = 3 };
enum { CONV_VALID, CONV_SAME, CONV_CAUSAL, CONV_FULL };

typedef struct conv_shape {
  bool last;     /* channels are the last axis */
  uint32_t rank; /* of the spatial axes */
  int padding;
  int64_t kernel[CONV_SPATIAL], stride[CONV_SPATIAL], dilation[CONV_SPATIAL];
} conv_shape;

static bool conv_ranks(wick_import_node *n, conv_shape *s)
{
  s->last = keras_channels_last(n);
  s->rank = keras_rank(n, n->in[0]);
  if (s->rank < 3 || s->rank > 5) {
    wick_import_fail(n, WICK_ETYPE, "the rank of the input is %u, expected 3 to 5", s->rank);
    return false;
  }
  s->rank -= 2;
  s->padding = wick_import_word(n, "padding", "valid same causal full");
  return !n->failed;
}

static bool conv_strides(wick_import_node *n, conv_shape *s)
{
  for (uint32_t i = 0; i < s->rank; i++) s->dilation[i] = 1;
  if (!keras_sizes(n, "strides", s->rank, 1, s->stride)) return false;
  if (keras_attr(n, "dilation_rate", 'I').kind &&
      !keras_sizes(n, "dilation_rate", s->rank, 1, s->dilation))
    return false;
  for (uint32_t i = 0; i < s->rank; i++)
    if (s->stride[i] < 1 || s->dilation[i] < 1 || s->kernel[i] < 1) {
      wick_import_fail(n, WICK_EPARSE, "a stride, a dilation or a size of the window is 0");
      return false;
    }
  return true;
}

/* The padding of TensorFlow: "same" has ceil(size / stride) positions, and the odd element is at the
 * end. With a stride above 1 it depends on the size, which must be known. */
static bool conv_pads(wick_import_node *n, const conv_shape *s, wick_value x, int64_t *pad)
{
  for (uint32_t i = 0; i < s->rank; i++) {
    int64_t span = s->dilation[i] * (s->kernel[i] - 1) + 1, total = 0;
    wick_dim size = keras_dims(n, x)[2 + i];
    pad[i] = pad[s->rank + i] = 0;
    if (s->padding == CONV_CAUSAL) pad[i] = span - 1;
    if (s->padding != CONV_SAME) continue;
    if (wick_dim_is_const(size)) {
      int64_t count = wick_ceildiv_i64(size.v, s->stride[i]);
      total = wick_max_i64(0, (count - 1) * s->stride[i] + span - size.v);
    } else if (s->stride[i] == 1) {
      total = span - 1;
    } else {
      return wick_import_must_be_known(n, "the size of the image", size);
    }
    pad[i] = total / 2;
    pad[s->rank + i] = total - total / 2;
  }
  return true;
}

static void conv_set(wick_emit *e, const conv_shape *s, const int64_t *pad)
{
  wick_emit_set_ints(e, "stride", s->rank, s->stride);
  wick_emit_set_ints(e, "pad", 2 * s->rank, pad);
  wick_emit_set_ints(e, "dilation", s->rank, s->dilation);
}

/* Moves the last two axes of a kernel [window..., in, out] to the front, in the order [out, in], or
 * with `swap` [in, out]. */
static wick_value conv_kernel(wick_import_node *n, wick_value w, uint32_t spatial, bool swap)
{
  int64_t perm[CONV_SPATIAL + 2];
  perm[0] = swap ? spatial : spatial + 1;
  perm[1] = swap ? spatial + 1 : spatial;
  for (uint32_t i = 0; i < spatial; i++) perm[2 + i] = i;
  return wick_build_transpose(n->b, w, spatial + 2, perm);
}

static bool conv_window(wick_import_node *n, conv_shape *s, wick_value w)
{
  if (keras_rank(n, w) != s->rank + 2) {
    if (w.id && !n->b->status)
      wick_import_fail(n, WICK_ETYPE, "the rank of the kernel is %u, expected %u", keras_rank(n, w),
                       s->rank + 2);
    return false;
  }
  for (uint32_t i = 0; i < s->rank; i++) {
    wick_dim d = keras_dims(n, w)[i];
    if (!wick_dim_is_const(d)) return wick_import_must_be_known(n, "the size of the kernel", d);
    s->kernel[i] = d.v;
  }
  return true;
}

/* One convolution of x, whose channels are at axis 1. w [out, in / group, window...]. */
static wick_value conv_build(wick_import_node *n, const conv_shape *s, wick_value x, wick_value w,
                             wick_value bias, int64_t group)
{
  int64_t pad[2 * CONV_SPATIAL];
  if (!conv_pads(n, s, x, pad)) return (wick_value){0};
  wick_emit e = wick_emit_begin(n->b, WICK_OP_conv);
  wick_value in[] = {x, w, bias};
  conv_set(&e, s, pad);
  wick_emit_set_int(&e, "group", group);
  return wick_emit_end(&e, bias.id ? 3 : 2, in);
}

static wick_value conv_bias(wick_import_node *n)
{
  bool has = strncmp(n->row->name, "ops.", 4) != 0 && keras_weight_has(n, "bias");
  return has ? keras_weight_get(n, "bias") : (wick_value){0};
}

/* Channels of x divided by those of the kernel. */
static int64_t conv_groups(wick_import_node *n, wick_value x, wick_value w, uint32_t spatial)
{
  wick_dim c = keras_dims(n, x)[1], k = keras_dims(n, w)[spatial];
  if (!wick_dim_is_const(c) || !wick_dim_is_const(k) || k.v < 1) return 1;
  return c.v % k.v == 0 && c.v > 0 ? c.v / k.v : 1;
}

static void conv_end(wick_import_node *n, const conv_shape *s, wick_value y)
{
  y = keras_channels_back(n, y, s->last);
  n->out[0] = strncmp(n->row->name, "ops.", 4) == 0
                  ? y
                  : keras_activate(n, keras_config(keras_of(n)->layer, "activation"), y);
}

static wick_value conv_operand(wick_import_node *n, uint32_t i, const char *name)
{
  bool op = strncmp(n->row->name, "ops.", 4) == 0;
  return op && i < n->nin ? n->in[i] : op ? (wick_value){0} : keras_weight_get(n, name);
}

void keras_conv(wick_import_node *n)
{
  conv_shape s = {0};
  wick_value w = conv_operand(n, 1, "kernel");
  if (!conv_ranks(n, &s) || !conv_window(n, &s, w) || !conv_strides(n, &s)) return;
  wick_value x = keras_channels_first(n, n->in[0], s.last);
  int64_t group = conv_groups(n, x, w, s.rank);
  w = conv_kernel(n, w, s.rank, false);
  wick_value bias = conv_bias(n);
  conv_end(n, &s, conv_build(n, &s, x, w, bias, group));
}

/* A kernel [window..., channels, multiplier] as that of a grouped convolution. */
static wick_value conv_depthwise_kernel(wick_import_node *n, wick_value w, uint32_t spatial)
{
  wick_dim dim[CONV_SPATIAL + 2];
  const wick_dim *d = keras_dims(n, w);
  dim[0] = wick_dim_mul(n->c->module->dims, d[spatial], d[spatial + 1]);
  dim[1] = wick_dim_const(1);
  for (uint32_t i = 0; i < spatial; i++) dim[2 + i] = d[i];
  w = conv_kernel(n, w, spatial, true);
  return wick_build_reshape(n->b, w, spatial + 2, dim);
}

static wick_value conv_depthwise(wick_import_node *n, const conv_shape *s, wick_value x,
                                 wick_value w, wick_value bias)
{
  wick_dim channels = keras_dims(n, x)[1];
  if (!wick_dim_is_const(channels)) {
    (void)wick_import_must_be_known(n, "the number of channels", channels);
    return (wick_value){0};
  }
  w = conv_depthwise_kernel(n, w, s->rank);
  return conv_build(n, s, x, w, bias, channels.v);
}

void keras_depthwise(wick_import_node *n)
{
  conv_shape s = {0};
  wick_value w = conv_operand(n, 1, "kernel");
  if (!conv_ranks(n, &s) || !conv_window(n, &s, w) || !conv_strides(n, &s)) return;
  wick_value x = keras_channels_first(n, n->in[0], s.last);
  wick_value bias = conv_bias(n);
  conv_end(n, &s, conv_depthwise(n, &s, x, w, bias));
}

void keras_separable(wick_import_node *n)
{
  conv_shape s = {0}, point = {0};
  wick_value w = conv_operand(n, 1, "depthwise_kernel");
  wick_value p = conv_operand(n, 2, "pointwise_kernel");
  if (!conv_ranks(n, &s) || !conv_window(n, &s, w) || !conv_strides(n, &s)) return;
  wick_value x = keras_channels_first(n, n->in[0], s.last);
  x = conv_depthwise(n, &s, x, w, (wick_value){0});
  point.rank = s.rank;
  if (!conv_window(n, &point, p)) return;
  for (uint32_t i = 0; i < s.rank; i++) point.stride[i] = point.dilation[i] = 1;
  p = conv_kernel(n, p, s.rank, false);
  wick_value bias = conv_bias(n);
  conv_end(n, &s, conv_build(n, &point, x, p, bias, 1));
}

/* Transposed convolution. Without output_padding "same" gives size * stride elements, and "valid"
 * all that windows reach, at least stride for each. */
void keras_conv_transpose(wick_import_node *n)
{
  conv_shape s = {0};
  int64_t begin[CONV_SPATIAL], end[CONV_SPATIAL], pad[2 * CONV_SPATIAL], more[CONV_SPATIAL];
  wick_value w = conv_operand(n, 1, "kernel");
  if (!conv_ranks(n, &s) || !conv_window(n, &s, w) || !conv_strides(n, &s)) return;
  bool given = keras_attr(n, "output_padding", 'I').kind != 0;
  if (!keras_sizes(n, "output_padding", s.rank, 0, more)) return;
  for (uint32_t i = 0; i < s.rank; i++) {
    int64_t span = s.dilation[i] * (s.kernel[i] - 1) + 1, extra;
    /* begin and end count elements that are cut; below 0 they are added at the end */
    if (s.padding == CONV_SAME) {
      int64_t cut = given ? 2 * (span / 2) - more[i] : span - s.stride[i];
      begin[i] = wick_max_i64(0, cut) / 2;
      end[i] = cut - begin[i];
    } else {
      extra = given ? more[i] : wick_max_i64(s.stride[i] - span, 0);
      begin[i] = 0, end[i] = -extra;
    }
    pad[i] = begin[i];
    pad[s.rank + i] = wick_max_i64(end[i], 0);
    more[i] = wick_max_i64(-end[i], 0);
  }
  wick_value x = keras_channels_first(n, n->in[0], s.last);
  int64_t perm[CONV_SPATIAL + 2]; /* [window..., out, in] to [in, out, window...] */
  perm[0] = s.rank + 1, perm[1] = s.rank;
  for (uint32_t i = 0; i < s.rank; i++) perm[2 + i] = i;
  w = wick_build_transpose(n->b, w, s.rank + 2, perm);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_conv_transpose);
  conv_set(&e, &s, pad);
  wick_emit_set_ints(&e, "output_pad", s.rank, more);
  wick_value in[] = {x, w, conv_bias(n)};
  conv_end(n, &s, wick_emit_end(&e, in[2].id ? 3 : 2, in));
}

/* ---- pools ---- */

/* Padding does not count, in averages neither. */
void keras_pool(wick_import_node *n)
{
  conv_shape s = {0};
  int64_t pad[2 * CONV_SPATIAL];
  if (!conv_ranks(n, &s) || !keras_sizes(n, "pool_size", s.rank, 2, s.kernel)) return;
  if (!conv_strides(n, &s)) return;
  if (!keras_attr(n, "strides", 'I').kind) memcpy(s.stride, s.kernel, sizeof s.stride);
  wick_value x = keras_channels_first(n, n->in[0], s.last);
  if (!conv_pads(n, &s, x, pad)) return;
  wick_emit e = wick_emit_begin(n->b, n->row->op);
  conv_set(&e, &s, pad);
  wick_emit_set_ints(&e, "kernel", s.rank, s.kernel);
  n->out[0] = keras_channels_back(n, wick_emit_end1(&e, x), s.last);
}

/* Means or maxima over all spatial axes; means of a sequence with a mask count its steps alone. */
void keras_global_pool(wick_import_node *n)
{
  wick_value x = n->in[0], mask = keras_of(n)->mask;
  uint32_t rank = keras_rank(n, x), first = keras_channels_last(n) ? 1 : 2;
  bool keep = keras_is_true(n, "keepdims", false);
  int64_t axes[WICK_MAX_RANK];
  if (!wick_import_rank(n, 0, 3, 5)) return;
  for (uint32_t i = 0; i + 2 < rank; i++) axes[i] = first + i;
  if (mask.id && rank == 3 && n->row->op == WICK_OP_reduce_mean) {
    wick_value m = wick_build_cast(n->b, mask, keras_elem_of(n, x));
    m = wick_emit_unsqueeze(n->b, m, first == 1 ? 2 : 1);
    wick_value product = wick_build2(n->b, WICK_OP_mul, x, m);
    wick_value sum = wick_emit_reduce(n->b, WICK_OP_reduce_sum, product, 1, axes, keep);
    wick_value count = wick_emit_reduce(n->b, WICK_OP_reduce_sum, m, 1, axes, keep);
    n->out[0] = wick_build2(n->b, WICK_OP_div, sum, count);
    return;
  }
  n->out[0] = wick_emit_reduce(n->b, n->row->op, x, rank - 2, axes, keep);
}

/* Adaptive pools: output position o covers [floor(o*in/out), ceil((o+1)*in/out)). Axis by axis:
 * means of means are means of the windows, because each window is a box. */
static wick_value conv_adaptive(wick_import_node *n, wick_value x, uint32_t axis, int64_t count)
{
  wick_dim size = keras_dims(n, x)[axis];
  if (!wick_dim_is_const(size)) {
    (void)wick_import_must_be_known(n, "the size of the image", size);
    return (wick_value){0};
  }
  if (count < 1 || count > 1 << 16 || size.v < 1) {
    wick_import_fail(n, WICK_EPARSE, "output_size %lld is not supported", (long long)count);
    return (wick_value){0};
  }
  wick_value *part = wick_new(n->c->tmp, wick_value, (size_t)count);
  for (int64_t o = 0; o < count; o++) {
    int64_t begin = o * size.v / count, end = wick_ceildiv_i64((o + 1) * size.v, count);
    wick_value window =
        wick_emit_slice(n->b, x, axis, wick_dim_const(begin), wick_dim_const(end - begin));
    part[o] = wick_emit_reduce1(n->b, n->row->op, window, axis, true);
  }
  return wick_build_concat(n->b, axis, (uint32_t)count, part);
}

void keras_adaptive_pool(wick_import_node *n)
{
  wick_value x = n->in[0];
  uint32_t rank = keras_rank(n, x), first = keras_channels_last(n) ? 1 : 2;
  int64_t size[CONV_SPATIAL];
  if (!wick_import_rank(n, 0, 3, 5) || !keras_sizes(n, "output_size", rank - 2, 1, size)) return;
  for (uint32_t i = 0; i + 2 < rank && x.id; i++) x = conv_adaptive(n, x, first + i, size[i]);
  n->out[0] = x;
}

/* A convolution within a recurrent cell: x has its channels at axis 1, and so has the result. `state`:
 * of the state, whose size it keeps. */
wick_value keras_conv_plain(wick_import_node *n, wick_value x, wick_value w, wick_value bias,
                            bool state)
{
  conv_shape s = {.rank = keras_rank(n, x) > 2 ? keras_rank(n, x) - 2 : 0};
  if (s.rank < 1 || s.rank > CONV_SPATIAL || !conv_window(n, &s, w) || !conv_strides(n, &s))
    return (wick_value){0};
  s.padding = state ? CONV_SAME : wick_import_word(n, "padding", "valid same causal");
  for (uint32_t i = 0; state && i < s.rank; i++) s.stride[i] = s.dilation[i] = 1;
  return conv_build(n, &s, x, conv_kernel(n, w, s.rank, false), bias, 1);
}
