/* Convolutions and pools, in two and three spatial dimensions. */
#include <math.h>

#include "import/coreml/layers.h"
#include "import/kit/nhwc.h"

/* ---- windows ---- */

static bool window_list(wick_import_node *n, const char *name, int64_t otherwise, uint32_t count,
                        int64_t *out)
{
  wick_import_attr a = wick_import_ints(n, name);
  if (a.n && a.n != count) {
    wick_import_fail(n, WICK_EPARSE, "%s has %u numbers, expected %u", name, a.n, count);
    return false;
  }
  for (uint32_t k = 0; k < count; k++) out[k] = a.n ? a.ints[k] : otherwise;
  return true;
}

/* Reads the three numbers kernelDepth, kernelHeight, kernelWidth and the like; 0 means 1. */
static void window_three(const wick_import_node *n, const char *stem, int64_t out[3])
{
  static const char *const axis[] = {"Depth", "Height", "Width"};
  for (uint32_t k = 0; k < 3; k++) {
    out[k] = wick_import_int(n, wick_str_printf(n->c->tmp, "%s%s", stem, axis[k]), 0);
    if (!out[k]) out[k] = 1;
  }
}

/* Sets the padding from a list of EdgeSizes. */
static bool window_borders(wick_import_node *n, const wick_coreml_message *amounts,
                           wick_nhwc_window *w)
{
  wick_coreml_messages edge = wick_coreml_parts(amounts, "borderAmounts", n->c->tmp);
  if (edge.n && edge.n != w->n) {
    wick_import_fail(n, WICK_EPARSE, "it has %u border amounts, expected %u", edge.n, w->n);
    return false;
  }
  for (uint32_t k = 0; k < edge.n; k++) {
    int64_t lo = wick_coreml_int(&edge.at[k], "startEdgeSize", 0),
            hi = wick_coreml_int(&edge.at[k], "endEdgeSize", 0);
    if (lo < 0 || hi < 0 || lo > INT32_MAX / 4 || hi > INT32_MAX / 4) {
      wick_import_fail(n, WICK_ERANGE, "border amounts are %lld and %lld", (long long)lo,
                       (long long)hi);
      return false;
    }
    w->before[k] = wick_dim_const(lo), w->after[k] = wick_dim_const(hi);
  }
  return true;
}

/* The padding of 2-D layers: `valid` with amounts, or `same`. */
static bool window_padding(wick_import_node *n, wick_nhwc_window *w, const wick_dim *size)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  wick_coreml_message same = wick_coreml_part(p, "same"), valid = wick_coreml_part(p, "valid"),
                      amounts = wick_coreml_part(&valid, "paddingAmounts");
  if (!same.bytes.at) return window_borders(n, &amounts, w);
  bool top = wick_coreml_int(&same, "asymmetryMode", 0) == 1;
  wick_nhwc_pad(n->c, w, size, top ? WICK_NHWC_SAME_LOWER : WICK_NHWC_SAME);
  return true;
}

/* The padding of 3-D layers. */
static bool window_padding_3d(wick_import_node *n, wick_nhwc_window *w, const wick_dim *size)
{
  enum { CUSTOM, VALID, SAME };
  static const char *const sides[] = {"customPaddingFront", "customPaddingBack",
                                      "customPaddingTop",   "customPaddingBottom",
                                      "customPaddingLeft",  "customPaddingRight"};
  int64_t type = wick_import_int(n, "paddingType", CUSTOM);
  wick_nhwc_pad(n->c, w, size, type == SAME ? WICK_NHWC_SAME : WICK_NHWC_VALID);
  for (uint32_t k = 0; k < 6 && type == CUSTOM; k++) {
    int64_t v = wick_import_int(n, sides[k], 0);
    if (v < 0 || v > INT32_MAX / 4) {
      wick_import_fail(n, WICK_ERANGE, "%s is %lld", sides[k], (long long)v);
      return false;
    }
    *(k % 2 ? &w->after[k / 2] : &w->before[k / 2]) = wick_dim_const(v);
  }
  return true;
}

/* Padding that the operator takes as an attribute, or a node of its own where it is no number. */
static wick_value window_set(wick_import_node *n, wick_emit *e, const wick_nhwc_window *w,
                             wick_value x, double fill)
{
  wick_dim pad[2 * WICK_MAX_RANK];
  uint32_t rank = w->n + 2;
  bool known = true;
  int64_t *list = wick_new(n->c->mem, int64_t, 4 * (size_t)w->n);
  for (uint32_t k = 0; k < 2 * rank; k++) pad[k] = wick_dim_const(0);
  for (uint32_t i = 0; i < w->n; i++) {
    pad[2 + i] = w->before[i], pad[rank + 2 + i] = w->after[i];
    known = known && wick_dim_is_const(w->before[i]) && wick_dim_is_const(w->after[i]);
    list[i] = w->stride[i], list[w->n + i] = w->dilation[i];
  }
  for (uint32_t i = 0; i < w->n && known; i++)
    list[2 * w->n + i] = w->before[i].v, list[3 * w->n + i] = w->after[i].v;
  if (!known) {
    wick_emit p = wick_emit_begin(n->b, WICK_OP_pad);
    wick_emit_set_dims(&p, "pad", 2 * rank, pad);
    x = wick_emit_end2(&p, x, wick_emit_number(n->b, x, fill));
  }
  wick_emit_set_ints(e, "stride", w->n, list);
  wick_emit_set_ints(e, "dilation", w->n, list + w->n);
  if (known) wick_emit_set_ints(e, "pad", 2 * w->n, list + 2 * w->n);
  return x;
}

/* ---- convolutions ---- */

typedef struct window_conv {
  wick_nhwc_window w;
  wick_value x, like; /* [N, C, spatial...] */
  int64_t out, in, group;
  bool transposed;
  wick_value weights, bias;
} window_conv;

/* The result of a transposed convolution has the size `outputShape`, or size * stride if the padding
 * is `same`, else the full size less the padding. */
static void window_transposed_size(wick_import_node *n, window_conv *c, const wick_dim *size,
                                   bool same, wick_dim *out)
{
  wick_dims *t = n->c->module->dims;
  wick_import_attr shape = wick_import_ints(n, "outputShape");
  for (uint32_t k = 0; k < c->w.n; k++) {
    wick_nhwc_window *w = &c->w;
    wick_dim s = wick_dim_const(w->stride[k]),
             reach = wick_dim_const((w->kernel[k] - 1) * w->dilation[k] + 1);
    wick_dim full =
        wick_dim_add(t, wick_dim_mul(t, wick_dim_sub(t, size[k], wick_dim_const(1)), s), reach);
    bool given = shape.n == w->n && shape.ints[k] > 0 && shape.ints[k] < INT32_MAX;
    out[k] = wick_dim_sub(t, full, wick_dim_add(t, w->before[k], w->after[k]));
    if (!given && !same) continue;
    out[k] = given ? wick_dim_const(shape.ints[k]) : wick_dim_mul(t, size[k], s);
    wick_dim cut = wick_dim_max(t, wick_dim_sub(t, full, out[k]), wick_dim_const(0));
    wick_dim half = wick_dim_floordiv(t, cut, wick_dim_const(2));
    if (same || shape.n) w->before[k] = half;
  }
}

static wick_value window_transpose(wick_import_node *n, window_conv *c, bool same)
{
  wick_builder *b = n->b;
  uint32_t rank = c->w.n + 2;
  wick_dim size[WICK_NHWC_SPATIAL], begin[WICK_MAX_RANK], shape[WICK_MAX_RANK],
      pad[2 * WICK_MAX_RANK];
  window_transposed_size(n, c, wick_built_info(b, c->x)->dim + 2, same, size);
  wick_nhwc_window full = c->w;
  for (uint32_t k = 0; k < full.n; k++) full.before[k] = full.after[k] = wick_dim_const(0);
  wick_emit e = wick_emit_begin(b, WICK_OP_conv_transpose);
  wick_value x = window_set(n, &e, &full, c->x, 0);
  wick_emit_set_int(&e, "group", c->group);
  wick_value y = wick_emit_end(&e, c->bias.id ? 3 : 2, (wick_value[]){x, c->weights, c->bias});
  if (b->status) return y;
  wick_dims *t = b->module->dims;
  const wick_type_info *have = wick_built_info(b, y);
  bool longer = false;
  for (uint32_t k = 0; k < rank; k++) {
    begin[k] = k < 2 ? wick_dim_const(0) : c->w.before[k - 2];
    shape[k] = k < 2 ? have->dim[k] : size[k - 2];
    wick_dim more = wick_dim_sub(t, wick_dim_add(t, begin[k], shape[k]), have->dim[k]);
    pad[k] = wick_dim_const(0), pad[rank + k] = wick_dim_max(t, more, wick_dim_const(0));
    longer = longer || !wick_dim_is(pad[rank + k], 0);
  }
  if (longer) {
    wick_import_fail(n, WICK_ERANGE, "its outputShape is larger than its windows cover");
    return y;
  }
  return wick_build_slice(b, y, rank, begin, shape, NULL);
}

static bool window_conv_read(wick_import_node *n, window_conv *c)
{
  bool three = n->row->arg;
  uint32_t d = three ? 3 : 2;
  c->w = wick_nhwc_window_of(d);
  c->out = wick_import_int(n, "outputChannels", 0);
  c->in = wick_import_int(n, three ? "inputChannels" : "kernelChannels", 0);
  c->group = wick_import_int(n, "nGroups", 0);
  c->transposed = wick_import_int(n, "isDeconvolution", 0) != 0;
  if (!c->group) c->group = 1;
  if (three) {
    window_three(n, "kernel", c->w.kernel);
    window_three(n, "stride", c->w.stride);
    window_three(n, "dilation", c->w.dilation);
  } else if (!window_list(n, "kernelSize", 3, d, c->w.kernel) ||
             !window_list(n, "stride", 1, d, c->w.stride) ||
             !window_list(n, "dilationFactor", 1, d, c->w.dilation)) {
    return false;
  }
  for (uint32_t k = 0; k < d && c->transposed; k++) c->w.dilation[k] = 1;
  if (c->out < 1 || c->in < 1 || c->group < 1 || c->out % c->group || (three && c->in % c->group)) {
    wick_import_fail(n, WICK_EPARSE, "%lld and %lld channels in %lld groups", (long long)c->in,
                     (long long)c->out, (long long)c->group);
    return false;
  }
  return wick_nhwc_window_check(n, &c->w);
}

/* Weights [out, in / group, window...]; of a transposed one [in, out / group, window...]. With a
 * second operand, the weights are that. */
static bool window_conv_weights(wick_import_node *n, window_conv *c)
{
  const wick_coreml_message *p = wick_coreml_params(n);
  int64_t dim[2 + WICK_NHWC_SPATIAL] = {c->out, c->in};
  if (n->row->arg) dim[1] = c->in / c->group;
  if (c->transposed) dim[0] = c->in, dim[1] = c->out / c->group;
  for (uint32_t k = 0; k < c->w.n; k++) dim[2 + k] = c->w.kernel[k];
  if (n->nin > 1)
    c->weights = wick_coreml_float(n, 1);
  else
    c->weights = wick_coreml_weight(n, p, "weights", c->w.n + 2, dim);
  if (n->nin > 2)
    c->bias = wick_coreml_float(n, 2);
  else if (wick_import_int(n, "hasBias", 0) && !n->failed)
    c->bias = wick_coreml_weight(n, p, "bias", 1, &c->out);
  return !n->failed && !n->b->status;
}

void wick_coreml_convolution(wick_import_node *n)
{
  window_conv c = {.like = wick_coreml_float(n, 0)};
  if (!window_conv_read(n, &c)) return;
  uint32_t inner = c.w.n + 1;
  c.x = wick_coreml_fold(n, c.like, inner);
  if (n->failed || !window_conv_weights(n, &c)) return;
  const wick_dim *size = wick_built_info(n->b, c.x)->dim + 2;
  bool same = n->row->arg ? wick_import_int(n, "paddingType", 0) == 2
                          : wick_coreml_has(wick_coreml_params(n), "same");
  if (n->row->arg ? !window_padding_3d(n, &c.w, size) : !window_padding(n, &c.w, size)) return;
  wick_value y;
  if (c.transposed) {
    y = window_transpose(n, &c, same);
  } else {
    wick_emit e = wick_emit_begin(n->b, WICK_OP_conv);
    wick_value x = window_set(n, &e, &c.w, c.x, 0);
    wick_emit_set_int(&e, "group", c.group);
    y = wick_emit_end(&e, c.bias.id ? 3 : 2, (wick_value[]){x, c.weights, c.bias});
  }
  if (!n->failed) n->out[0] = wick_coreml_unfold(n, y, c.like, inner);
}

/* ---- pools ---- */

enum { WINDOW_MAX, WINDOW_AVERAGE, WINDOW_L2 };

/* The square root of the sum of squares, which for windows is lp_pool. */
static wick_opcode window_pool_op(wick_import_node *n, bool whole)
{
  int64_t type = wick_import_int(n, "type", 0);
  switch (type) {
  case WINDOW_MAX: return whole ? WICK_OP_reduce_max : WICK_OP_max_pool;
  case WINDOW_AVERAGE: return whole ? WICK_OP_reduce_mean : WICK_OP_avg_pool;
  case WINDOW_L2: return whole ? WICK_OP_reduce_l2 : WICK_OP_lp_pool;
  default:
    wick_import_fail(n, WICK_EUNSUPPORTED, "there is no pool of the type %lld", (long long)type);
    return WICK_OP_none;
  }
}

static void window_pool_whole(wick_import_node *n, uint32_t spatial)
{
  int64_t axes[] = {-1, -2, -3};
  wick_opcode op = window_pool_op(n, true);
  if (!n->failed)
    n->out[0] = wick_emit_reduce(n->b, op, wick_coreml_float(n, 0), spatial, axes, true);
}

void wick_coreml_global_pooling(wick_import_node *n) { window_pool_whole(n, 3); }

/* includeLastPixel: the result's size is rounded up, and a window may not begin after the image and
 * its padding at the beginning. The padding is symmetric; what the last window lacks is added. */
static bool window_last_pixel(wick_import_node *n, wick_nhwc_window *w, const wick_dim *size)
{
  wick_coreml_message p = wick_coreml_part(wick_coreml_params(n), "includeLastPixel");
  wick_coreml_ints pad = wick_coreml_ints_of(&p, "paddingAmounts", n->c->tmp);
  bool any = false;
  if (pad.n && pad.n != w->n) {
    wick_import_fail(n, WICK_EPARSE, "it has %u padding amounts, expected %u", pad.n, w->n);
    return false;
  }
  for (uint32_t k = 0; k < pad.n; k++) any = any || pad.at[k] > 0;
  for (uint32_t k = 0; k < w->n; k++) {
    int64_t amount = pad.n ? pad.at[k] : 0, s = w->stride[k];
    if (!wick_dim_is_const(size[k]))
      return wick_import_must_be_known(n, "the image's size", size[k]);
    if (amount < 0 || amount > INT32_MAX / 4) {
      wick_import_fail(n, WICK_ERANGE, "a padding amount is %lld", (long long)amount);
      return false;
    }
    int64_t span = size[k].v + 2 * amount - w->kernel[k];
    int64_t out = (span > 0 ? (span + s - 1) / s : 0) + 1;
    if (any && (out - 1) * s >= size[k].v + amount) out--;
    int64_t after = (out - 1) * s + w->kernel[k] - size[k].v - amount;
    w->before[k] = wick_dim_const(amount);
    w->after[k] = wick_dim_const(after > 0 ? after : 0);
  }
  return true;
}

/* The mean with a padding that counts, except for what includeLastPixel adds after the symmetric
 * padding. */
static wick_value window_average(wick_import_node *n, const wick_nhwc_window *w, wick_value x)
{
  wick_builder *b = n->b;
  bool exclude =
      wick_import_int(n, n->row->arg ? "countExcludePadding" : "avgPoolExcludePadding", 0) != 0;
  wick_emit e = wick_emit_begin(b, WICK_OP_avg_pool);
  wick_emit_set_ints(&e, "kernel", w->n, w->kernel);
  wick_emit_set_int(&e, "count_pad", !exclude);
  bool known = true;
  for (uint32_t k = 0; k < w->n; k++)
    known = known && wick_dim_is_const(w->before[k]) && wick_dim_is_const(w->after[k]);
  if (known || !exclude) return wick_emit_end1(&e, window_set(n, &e, w, x, 0));
  wick_value one = wick_emit_number(b, x, 1);
  if (b->status) return x;
  const wick_type_info *t = wick_built_info(b, x);
  wick_value ones = wick_emit_expand(b, one, t->rank, t->dim);
  wick_emit f = e;
  wick_value sum = wick_emit_end1(&e, window_set(n, &e, w, x, 0));
  wick_value count = wick_emit_end1(&f, window_set(n, &f, w, ones, 0));
  return wick_build2(b, WICK_OP_div, sum, count);
}

void wick_coreml_pooling(wick_import_node *n)
{
  uint32_t d = n->row->arg ? 3 : 2;
  wick_nhwc_window w = wick_nhwc_window_of(d);
  if (!n->row->arg && wick_import_int(n, "globalPooling", 0)) {
    window_pool_whole(n, d);
    return;
  }
  wick_value like = wick_coreml_float(n, 0), x = wick_coreml_fold(n, like, d + 1);
  if (n->failed || n->b->status) return;
  if (n->row->arg) {
    window_three(n, "kernel", w.kernel);
    window_three(n, "stride", w.stride);
  } else if (!window_list(n, "kernelSize", 3, d, w.kernel) ||
             !window_list(n, "stride", 1, d, w.stride)) {
    return;
  }
  wick_opcode op = window_pool_op(n, false);
  if (n->failed || !wick_nhwc_window_check(n, &w)) return;
  const wick_dim *size = wick_built_info(n->b, x)->dim + 2;
  bool last = !n->row->arg && wick_coreml_has(wick_coreml_params(n), "includeLastPixel");
  bool good = last          ? window_last_pixel(n, &w, size)
              : n->row->arg ? window_padding_3d(n, &w, size)
                            : window_padding(n, &w, size);
  if (!good) return;
  wick_value y;
  if (op == WICK_OP_avg_pool) {
    y = window_average(n, &w, x);
  } else {
    wick_emit e = wick_emit_begin(n->b, op);
    wick_emit_set_ints(&e, "kernel", w.n, w.kernel);
    double least = op == WICK_OP_max_pool ? -(double)INFINITY : 0;
    y = wick_emit_end1(&e, window_set(n, &e, &w, x, least));
  }
  n->out[0] = wick_coreml_unfold(n, y, like, d + 1);
}
