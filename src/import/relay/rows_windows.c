/* Convolutions and pooling, in any order of the axes. Wick's operators take [N, C, spatial...] and
 * weights [O, I, spatial...]; other layouts are transposed before and after. */
#include "import/relay/state.h"
#include "import/relay/table.h"

enum { WINDOWS_MOST = 3 };

/* An order of axes, of which letters before the spatial ones are `first`: "NC" or "OI". */
static bool windows_perm(relay_member *m, const char *layout, const char *first, uint32_t n,
                         int64_t *to, int64_t *back)
{
  const char *spatial = &"DHW"[WINDOWS_MOST - n];
  uint32_t rank = n + 2;
  bool ok = strlen(layout) == rank;
  for (uint32_t i = 0; ok && i < rank; i++) {
    char axis = i < 2 ? first[i] : spatial[i - 2];
    const char *at = strchr(layout, axis);
    ok = at != NULL;
    if (ok) to[i] = at - layout, back[at - layout] = i;
  }
  if (!ok) wick_relay_fail(m, "the layout `%s` is not supported", layout);
  return ok;
}

static uint32_t windows_dims(const relay_member *m)
{
  const char *name = m->row->name;
  for (; *name; name++)
    if (name[0] >= '1' && name[0] <= '3' && name[1] == 'd') return (uint32_t)(*name - '0');
  return 2;
}

static const char *windows_layout(const relay_member *m, const char *name, const char *dflt)
{
  uint32_t n = windows_dims(m);
  const char *all = wick_relay_word(m, name, "");
  if (*all) return all;
  return strcmp(dflt, "NC") == 0   ? (n == 1   ? "NCW"
                                      : n == 2 ? "NCHW"
                                               : "NCDHW")
         : strcmp(dflt, "IO") == 0 ? (n == 1   ? "IOW"
                                      : n == 2 ? "IOHW"
                                               : "IODHW")
                                   : (n == 1   ? "OIW"
                                      : n == 2 ? "OIHW"
                                               : "OIDHW");
}

/* The padding at the beginnings, then at the ends. */
static bool windows_padding(relay_member *m, const char *name, uint32_t n, int64_t *out)
{
  int64_t given[RELAY_MOST_INTS] = {0};
  int count = wick_relay_ints(m, name, given);
  if (count != (int)(2 * n) && count != (int)n && count > 1) {
    wick_relay_fail(m, "`%s` has %d numbers", name, count);
    return false;
  }
  for (uint32_t i = 0; i < 2 * n; i++)
    out[i] = count <= 1 ? given[0] : count == (int)n ? given[i % n] : given[i];
  return true;
}

/* Operands of integers narrower than the result are widened. */
static const char *windows_widened(relay_member *m, uint32_t k, const char *x)
{
  const char *dtype = wick_relay_word(m, "out_dtype", ""),
             *elem = *dtype ? wick_relay_element(dtype) : NULL;
  if (!elem || strcmp(elem, wick_elem_name(wick_relay_elem(m, k))) == 0) return x;
  return wick_relay_text(m, "%s(%s)", elem, x);
}

/* ---- convolutions ---- */

typedef struct windows_conv {
  uint32_t n;
  int64_t to[5], back[5], weight[5], ignored[5], stride[WINDOWS_MOST], pad[2 * WINDOWS_MOST],
      dilation[WINDOWS_MOST], groups;
  const char *x, *w, *attrs;
} windows_conv;

static bool windows_conv_read(relay_member *m, windows_conv *c, const char *kernel)
{
  c->n = windows_dims(m);
  c->groups = wick_relay_int(m, "groups", 1);
  if (wick_relay_rank(m, 0) != c->n + 2 || wick_relay_rank(m, 1) != c->n + 2) {
    wick_relay_fail(m, "the operands must have %u axes", c->n + 2);
    return false;
  }
  if (!windows_perm(m, windows_layout(m, "data_layout", "NC"), "NC", c->n, c->to, c->back) ||
      !windows_perm(m, windows_layout(m, "kernel_layout", kernel), kernel, c->n, c->weight,
                    c->ignored) ||
      !wick_relay_spread(m, "strides", c->n, 1, c->stride) ||
      !wick_relay_spread(m, "dilation", c->n, 1, c->dilation) ||
      !windows_padding(m, "padding", c->n, c->pad))
    return false;
  c->x = wick_relay_transpose(m, c->x ? c->x : windows_widened(m, 0, "a"), c->n + 2, c->to);
  c->w = wick_relay_transpose(m, c->w ? c->w : windows_widened(m, 1, "b"), c->n + 2, c->weight);
  c->attrs = wick_relay_text(m, "stride = %s, pad = %s, dilation = %s, group = %lld",
                             wick_relay_tuple(m, (int)c->n, c->stride),
                             wick_relay_tuple(m, (int)(2 * c->n), c->pad),
                             wick_relay_tuple(m, (int)c->n, c->dilation), (long long)c->groups);
  return true;
}

/* In Relay the weights of a depthwise convolution may be [channels, multiplier, ..]. */
static void windows_depthwise(relay_member *m, windows_conv *c)
{
  if (c->groups <= 1) return;
  int64_t channels = wick_relay_known(m, 0, (uint32_t)c->to[1]),
          o = wick_relay_known(m, 1, (uint32_t)c->weight[0]),
          i = wick_relay_known(m, 1, (uint32_t)c->weight[1]);
  if (m->use->wrong || channels % c->groups || i == channels / c->groups ||
      (o * i) % (channels / c->groups))
    return;
  const char *dim[5] = {wick_relay_text(m, "%lld", (long long)(o * i / (channels / c->groups))),
                        wick_relay_text(m, "%lld", (long long)(channels / c->groups))};
  for (uint32_t k = 0; k < c->n; k++)
    dim[k + 2] = wick_relay_size(m, 1, (uint32_t)c->weight[k + 2]);
  c->w = wick_relay_text(m, "reshape(%s, shape = %s)", c->w, wick_relay_dims(m, c->n + 2, dim));
}

/* The result in the order of `out_layout`, or in that of the operand. */
static const char *windows_result(relay_member *m, windows_conv *c, const char *y)
{
  const char *out = wick_relay_word(m, "out_layout", "");
  int64_t to[5];
  if (*out && !windows_perm(m, out, "NC", c->n, to, c->back)) return NULL;
  return wick_relay_transpose(m, y, c->n + 2, c->back);
}

const char *wick_relay_convolution(relay_member *m, const char *x, const char *w, bool transposed)
{
  windows_conv c = {.x = x, .w = w};
  int64_t more[WINDOWS_MOST];
  /* In one and three dimensions Relay calls the axis of the input's channels O. */
  if (!windows_conv_read(m, &c, transposed && windows_dims(m) == 2 ? "IO" : "OI")) return NULL;
  if (!transposed) {
    windows_depthwise(m, &c);
    return windows_result(m, &c, wick_relay_text(m, "conv(%s, %s, %s)", c.x, c.w, c.attrs));
  }
  if (!wick_relay_spread(m, "output_padding", c.n, 0, more)) return NULL;
  return windows_result(m, &c,
                        wick_relay_text(m, "conv_transpose(%s, %s, %s, output_pad = %s)", c.x, c.w,
                                        c.attrs, wick_relay_tuple(m, (int)c.n, more)));
}

static const char *windows_conv_any(relay_member *m)
{
  return wick_relay_convolution(m, NULL, NULL, false);
}

static const char *windows_conv_transposed(relay_member *m)
{
  return wick_relay_convolution(m, NULL, NULL, true);
}

/* The derivative by the weights; the operands are the cotangent and the images. */
static const char *windows_conv_weight(relay_member *m)
{
  int64_t stride[2], pad[4], dilation[2], size[2];
  if (!wick_relay_spread(m, "strides", 2, 1, stride) || !windows_padding(m, "padding", 2, pad) ||
      !wick_relay_spread(m, "dilation", 2, 1, dilation) ||
      !wick_relay_spread(m, "kernel_size", 2, 1, size))
    return NULL;
  int64_t group = wick_relay_int(m, "groups", 1);
  if (group < 1) return wick_relay_fail(m, "`groups` must be positive");
  return wick_relay_text(
      m,
      "vjp(fn(w) { conv(b, w, stride = %s, pad = %s, dilation = %s, group = %lld) "
      "})(broadcast_to(%s(0), shape = (%s, %lld, %lld, %lld))).1(a)",
      wick_relay_tuple(m, 2, stride), wick_relay_tuple(m, 4, pad), wick_relay_tuple(m, 2, dilation),
      (long long)group, wick_elem_name(wick_relay_elem(m, 0)), wick_relay_size(m, 0, 1),
      (long long)(wick_relay_known(m, 1, 1) / group), (long long)size[0], (long long)size[1]);
}

/* ---- pooling ---- */

static const char *windows_pool_call(relay_member *m, uint32_t n, const char *x,
                                     const int64_t *size, const int64_t *stride, const int64_t *pad,
                                     const int64_t *dilation, wick_elem elem)
{
  const char *attrs =
      wick_relay_text(m, "kernel = %s, stride = %s, pad = %s, dilation = %s, ceil = %s",
                      wick_relay_tuple(m, (int)n, size), wick_relay_tuple(m, (int)n, stride),
                      wick_relay_tuple(m, (int)(2 * n), pad), wick_relay_tuple(m, (int)n, dilation),
                      wick_relay_int(m, "ceil_mode", 0) ? "true" : "false");
  if (strstr(m->row->name, "max")) return wick_relay_text(m, "max_pool(%s, %s).0", x, attrs);
  const char *real = wick_elem_is_float(elem) ? x : wick_relay_text(m, "f32(%s)", x);
  const char *y = wick_relay_text(m, "avg_pool(%s, %s, count_pad = %s)", real, attrs,
                                  wick_relay_int(m, "count_include_pad", 0) ? "true" : "false");
  if (real == x) return y; /* integers: the quotient towards zero */
  return wick_relay_text(m, "%s(trunc(%s))", wick_elem_name(elem), y);
}

typedef struct windows_pool {
  uint32_t n;
  int64_t to[5], back[5], size[WINDOWS_MOST], stride[WINDOWS_MOST], pad[2 * WINDOWS_MOST],
      dilation[WINDOWS_MOST];
} windows_pool;

static bool windows_pool_read(relay_member *m, windows_pool *c, uint32_t operand)
{
  c->n = windows_dims(m);
  if (wick_relay_rank(m, operand) != c->n + 2) {
    wick_relay_fail(m, "the operand must have %u axes", c->n + 2);
    return false;
  }
  return windows_perm(m, windows_layout(m, "layout", "NC"), "NC", c->n, c->to, c->back) &&
         wick_relay_spread(m, "pool_size", c->n, 1, c->size) &&
         wick_relay_spread(m, "strides", c->n, 1, c->stride) &&
         wick_relay_spread(m, "dilation", c->n, 1, c->dilation) &&
         windows_padding(m, "padding", c->n, c->pad);
}

static const char *windows_pool_any(relay_member *m)
{
  windows_pool c;
  if (!windows_pool_read(m, &c, 0)) return NULL;
  const char *x = wick_relay_transpose(m, "a", c.n + 2, c.to);
  return wick_relay_transpose(m,
                              windows_pool_call(m, c.n, x, c.size, c.stride, c.pad, c.dilation,
                                                wick_relay_elem(m, m->row->most - 1u)),
                              c.n + 2, c.back);
}

const char *wick_relay_average(relay_member *m, const char *x)
{
  windows_pool c;
  if (!windows_pool_read(m, &c, 0)) return NULL;
  x = wick_relay_transpose(m, x, c.n + 2, c.to);
  return wick_relay_transpose(
      m, windows_pool_call(m, c.n, x, c.size, c.stride, c.pad, c.dilation, WICK_I32), c.n + 2,
      c.back);
}

/* The greatest sum of a window and the weights; what is outside is the least number. */
static const char *windows_dilation(relay_member *m)
{
  int64_t to[4], back[4], size[2], stride[2], pad[4], spread[2], weight[3];
  const char *kernel = wick_relay_word(m, "kernel_layout", "IHW");
  bool last = strcmp(kernel, "HWI") == 0;
  if (wick_relay_rank(m, 0) != 4 || wick_relay_rank(m, 1) != 3)
    return wick_relay_fail(m, "the operands must have 4 and 3 axes");
  if (!last && strcmp(kernel, "IHW") != 0)
    return wick_relay_fail(m, "the layout `%s` is not supported", kernel);
  if (!windows_perm(m, windows_layout(m, "data_layout", "NC"), "NC", 2, to, back) ||
      !wick_relay_spread(m, "strides", 2, 1, stride) || !windows_padding(m, "padding", 2, pad) ||
      !wick_relay_spread(m, "dilations", 2, 1, spread))
    return NULL;
  weight[0] = last ? 2 : 0, weight[1] = last ? 0 : 1, weight[2] = last ? 1 : 2;
  for (int i = 0; i < 2; i++) {
    if (stride[i] < 1 || spread[i] < 1 || spread[i] > 4096)
      return wick_relay_fail(m, "`strides` and `dilations` must be positive");
    if (pad[i] < 0 || pad[i] > INT32_MAX || pad[i + 2] < 0 || pad[i + 2] > INT32_MAX)
      return wick_relay_fail(m, "`padding` is out of range");
    int64_t window = (wick_relay_known(m, 1, (uint32_t)weight[i + 1]) - 1) * spread[i] + 1;
    size[i] =
        (wick_relay_known(m, 0, (uint32_t)to[i + 2]) + pad[i] + pad[i + 2] - window) / stride[i] +
        1;
  }
  if (m->use->wrong) return NULL;
  m->items =
      wick_relay_text(m,
                      "op dilation(x, w) {\n  y[n, c, i: %lld, j: %lld] = max(u, v) (x[n, c, "
                      "%lld * i + %lld * u, %lld * j + %lld * v] + w[c, u, v])\n}\n",
                      (long long)size[0], (long long)size[1], (long long)stride[0],
                      (long long)spread[0], (long long)stride[1], (long long)spread[1]);
  const char *x = wick_relay_text(
      m, "pad(%s, %s(-3.4028234663852886e38), pad = (0, 0, %lld, %lld, 0, 0, %lld, %lld))",
      wick_relay_transpose(m, "a", 4, to), wick_elem_name(wick_relay_elem(m, 0)), (long long)pad[0],
      (long long)pad[1], (long long)pad[2], (long long)pad[3]);
  return wick_relay_transpose(
      m, wick_relay_text(m, "dilation(%s, %s)", x, wick_relay_transpose(m, "b", 3, weight)), 4,
      back);
}

/* The cotangent of the second operand; the first one is that of the result. */
static const char *windows_pool_grad(relay_member *m)
{
  windows_pool c;
  if (!windows_pool_read(m, &c, 1)) return NULL;
  const char *x = wick_relay_transpose(m, "x", c.n + 2, c.to);
  const char *y = wick_relay_transpose(
      m, windows_pool_call(m, c.n, x, c.size, c.stride, c.pad, c.dilation, wick_relay_elem(m, 1)),
      c.n + 2, c.back);
  return wick_relay_text(m, "vjp(fn(x) { %s })(b).1(a)", y);
}

static const char *windows_global(relay_member *m)
{
  int64_t to[5], back[5];
  uint32_t n = windows_dims(m);
  if (wick_relay_rank(m, 0) != n + 2)
    return wick_relay_fail(m, "the operand must have %u axes", n + 2);
  if (!windows_perm(m, windows_layout(m, "layout", "NC"), "NC", n, to, back)) return NULL;
  return wick_relay_text(m, "reduce_%s(a, axes = %s, keepdims = true)",
                         strstr(m->row->name, "max") ? "max" : "mean",
                         wick_relay_tuple(m, (int)n, to + 2));
}

/* Window k of n over d elements is that of floor(k d / n) to ceil((k + 1) d / n). */
static const char *windows_adaptive(relay_member *m)
{
  int64_t to[5], back[5], want[RELAY_MOST_INTS], size[WINDOWS_MOST], none[2 * WINDOWS_MOST] = {0},
                                                                              one[] = {1, 1, 1};
  uint32_t n = windows_dims(m);
  int given = wick_relay_ints(m, "output_size", want);
  if (wick_relay_rank(m, 0) != n + 2)
    return wick_relay_fail(m, "the operand must have %u axes", n + 2);
  if (!windows_perm(m, windows_layout(m, "layout", "NC"), "NC", n, to, back)) return NULL;
  bool even = true;
  for (uint32_t i = 0; i < n; i++) {
    int64_t d = wick_relay_known(m, 0, (uint32_t)to[i + 2]);
    if (given <= 0) want[i] = d;
    if (given == 1) want[i] = want[0];
    if (want[i] < 1 || want[i] > 100000)
      return wick_relay_fail(m, "`output_size` must be positive");
    size[i] = d / want[i];
    even = even && d % want[i] == 0 && size[i];
  }
  const char *x = wick_relay_transpose(m, "a", n + 2, to);
  if (even)
    return wick_relay_transpose(
        m, windows_pool_call(m, n, x, size, size, none, one, wick_relay_elem(m, m->row->most - 1u)),
        n + 2, back);
  const char *reduce = strstr(m->row->name, "max") ? "max" : "mean";
  x = wick_relay_let(m, "%s", x);
  for (uint32_t i = 0; i < n; i++) { /* the mean of a box is that of its rows' means */
    int64_t d = wick_relay_known(m, 0, (uint32_t)to[i + 2]);
    wick_text t = wick_text_begin(m->mem);
    if (want[i] > 512)
      return wick_relay_fail(m, "`output_size` is too large for windows of different sizes");
    for (int64_t k = 0; k < want[i]; k++) {
      int64_t begin = k * d / want[i], end = ((k + 1) * d + want[i] - 1) / want[i];
      wick_text_printf(&t, "reduce_%s(%s[", reduce, x);
      for (uint32_t j = 0; j < i + 2; j++) wick_text_add(&t, ":, ");
      wick_text_printf(&t, "%lld:%lld], axes = (%u,), keepdims = true), ", (long long)begin,
                       (long long)end, i + 2);
    }
    x = wick_relay_let(m, "concat(%saxis = %u)", t.at, i + 2);
  }
  return wick_relay_transpose(m, x, n + 2, back);
}

#define WINDOWS_CONV                                                                               \
  "strides padding dilation groups kernel_size data_layout kernel_layout out_layout out_dtype "    \
  "channels"
#define WINDOWS_POOL                                                                               \
  "pool_size strides padding dilation layout out_layout ceil_mode count_include_pad"
#define CONV(name, write, doc) RELAY_WRITE(name, 2, 2, write, WINDOWS_CONV " output_padding", doc)
#define POOL(name, doc) RELAY_WRITE(name, 1, 1, windows_pool_any, WINDOWS_POOL, doc)
#define ADAPTIVE(name, doc)                                                                        \
  RELAY_WRITE(name, 1, 1, windows_adaptive, "output_size layout out_layout", doc)
#define GLOBAL(name, doc) RELAY_WRITE(name, 1, 1, windows_global, "layout out_layout", doc)

const relay_row wick_relay_windows[] = {
    RELAY_WRITE("image.dilation2d", 2, 2, windows_dilation,
                "strides padding dilations data_layout kernel_layout out_dtype", "index notation"),
    ADAPTIVE("nn.adaptive_avg_pool1d", "avg_pool, or reduce_mean of slices"),
    ADAPTIVE("nn.adaptive_avg_pool2d", "avg_pool, or reduce_mean of slices"),
    ADAPTIVE("nn.adaptive_avg_pool3d", "avg_pool, or reduce_mean of slices"),
    ADAPTIVE("nn.adaptive_max_pool1d", "max_pool, or reduce_max of slices"),
    ADAPTIVE("nn.adaptive_max_pool2d", "max_pool, or reduce_max of slices"),
    ADAPTIVE("nn.adaptive_max_pool3d", "max_pool, or reduce_max of slices"),
    POOL("nn.avg_pool1d", "avg_pool"),
    POOL("nn.avg_pool2d", "avg_pool"),
    RELAY_WRITE("nn.avg_pool2d_grad", 2, 2, windows_pool_grad, WINDOWS_POOL, "vjp of avg_pool"),
    POOL("nn.avg_pool3d", "avg_pool"),
    CONV("nn.conv1d", windows_conv_any, "conv"),
    CONV("nn.conv1d_transpose", windows_conv_transposed, "conv_transpose"),
    CONV("nn.conv2d", windows_conv_any, "conv"),
    CONV("nn.conv2d_backward_weight", windows_conv_weight, "vjp of conv"),
    CONV("nn.conv2d_transpose", windows_conv_transposed, "conv_transpose"),
    CONV("nn.conv3d", windows_conv_any, "conv"),
    CONV("nn.conv3d_transpose", windows_conv_transposed, "conv_transpose"),
    GLOBAL("nn.global_avg_pool1d", "reduce_mean"),
    GLOBAL("nn.global_avg_pool2d", "reduce_mean"),
    GLOBAL("nn.global_avg_pool3d", "reduce_mean"),
    GLOBAL("nn.global_max_pool1d", "reduce_max"),
    GLOBAL("nn.global_max_pool2d", "reduce_max"),
    GLOBAL("nn.global_max_pool3d", "reduce_max"),
    POOL("nn.max_pool1d", "max_pool"),
    POOL("nn.max_pool2d", "max_pool"),
    RELAY_WRITE("nn.max_pool2d_grad", 2, 2, windows_pool_grad, WINDOWS_POOL, "vjp of max_pool"),
    POOL("nn.max_pool3d", "max_pool"),
    RELAY_END_OF_ROWS,
};
