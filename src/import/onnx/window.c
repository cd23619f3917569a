/* Reads the geometry of sliding windows: strides, dilations, pads, auto_pad. */
#include "import/onnx/import.h"

enum { WINDOW_NOTSET, WINDOW_VALID, WINDOW_UPPER, WINDOW_LOWER };

/* Reads auto_pad. Some exporters write an empty word for NOTSET. */
static int window_auto(wick_onnx_op *o)
{
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "auto_pad");
  if (a && !a->s.nbytes) return WINDOW_NOTSET;
  return wick_onnx_word(o, "auto_pad", "NOTSET VALID SAME_UPPER SAME_LOWER");
}

/* Reads a list attribute of n numbers in their valid range. Uses `otherwise` if it is absent. */
static bool window_list(wick_onnx_op *o, const char *name, uint32_t n, int64_t least,
                        int64_t otherwise, int64_t *out)
{
  wick_wire_i64s v = wick_onnx_ints(o, name);
  for (uint32_t i = 0; i < n; i++) out[i] = otherwise;
  if (!v.n) return true;
  if (v.n != n) {
    wick_onnx_fail(o, WICK_ETYPE, "%s has %zu numbers, expected %u", name, v.n, n);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    if (v.at[i] < least || v.at[i] > INT32_MAX) {
      wick_onnx_fail(o, WICK_ERANGE, "%s has %lld, expected %lld to %d", name, (long long)v.at[i],
                     (long long)least, INT32_MAX);
      return false;
    }
    out[i] = v.at[i];
  }
  return true;
}

static bool window_kernel(wick_onnx_op *o, const wick_dim *kernel, wick_onnx_window *w)
{
  if (!window_list(o, "kernel_shape", w->n, 1, 0, w->kernel)) return false;
  bool given = wick_onnx_ints(o, "kernel_shape").n > 0;
  for (uint32_t i = 0; i < w->n && kernel; i++) {
    int64_t have = wick_dim_is_const(kernel[i]) ? kernel[i].v : 0;
    if (wick_dim_is(kernel[i], 0)) {
      wick_onnx_fail(o, WICK_ETYPE, "the weights have 0 elements along axis %u, expected 1 or more",
                     2 + i);
      return false;
    }
    if (given ? have && have != w->kernel[i] : !have) {
      if (given)
        wick_onnx_fail(o, WICK_ETYPE, "kernel_shape has %lld for axis %u, the weights %lld",
                       (long long)w->kernel[i], i, (long long)have);
      else
        wick_onnx_must_be_known(o, "the size of the kernel", kernel[i]);
      return false;
    }
    if (!given) w->kernel[i] = have;
  }
  return true;
}

static bool window_begin(wick_onnx_op *o, const wick_dim *kernel, wick_onnx_window *w)
{
  const wick_type_info *x = wick_onnx_info(o, 0);
  *w = (wick_onnx_window){0};
  if (x->rank < 3) {
    wick_onnx_fail(o, WICK_ETYPE, "the input's rank is %u, expected 3 or more", x->rank);
    return false;
  }
  w->n = x->rank - 2u;
  bool ok = window_kernel(o, kernel, w) && window_list(o, "strides", w->n, 1, 1, w->stride) &&
            window_list(o, "dilations", w->n, 1, 1, w->dilation) &&
            window_list(o, "pads", 2 * w->n, 0, 0, w->pad);
  if (ok && window_auto(o) != WINDOW_NOTSET)
    for (uint32_t i = 0; i < 2 * w->n; i++) w->pad[i] = 0;
  return ok && !o->failed;
}

static void window_share(wick_onnx_window *w, uint32_t i, int64_t total, bool upper)
{
  int64_t half = total / 2;
  w->pad[i] = upper ? half : total - half;
  w->pad[w->n + i] = total - w->pad[i];
}

/* With SAME the result has ceil(size / stride) elements. An odd pad is at the end for
 * SAME_UPPER. */
bool wick_onnx_window_read(wick_onnx_op *o, const wick_dim *kernel, wick_onnx_window *out)
{
  if (!window_begin(o, kernel, out)) return false;
  int mode = window_auto(o);
  if (mode < WINDOW_UPPER) return true;
  for (uint32_t i = 0; i < out->n; i++) {
    wick_dim size = wick_onnx_info(o, 0)->dim[2 + i];
    int64_t s = out->stride[i], reach = (out->kernel[i] - 1) * out->dilation[i] + 1, over = s;
    if (s > 1 && !wick_dim_is_const(size))
      return wick_onnx_must_be_known(o, "the input's size, for auto_pad with a stride,", size);
    if (s > 1 && size.v % s) over = size.v % s; /* the elements that the last stride covers */
    window_share(out, i, wick_max_i64(reach - over, 0), mode == WINDOW_UPPER);
  }
  return true;
}

void wick_onnx_window_crop(wick_onnx_op *o, wick_onnx_window *w)
{
  const int64_t most = 1 << 30;
  for (uint32_t i = 0; i < w->n; i++) {
    wick_dim size = wick_onnx_info(o, 0)->dim[2 + i];
    int64_t k = w->kernel[i], d = w->dilation[i], s = w->stride[i], *before = &w->pad[i],
            *after = &w->pad[w->n + i];
    if (!wick_dim_is_const(size) || k < 1 || k > most || d < 1 || d > most || s < 1 || s > most ||
        *before < 0 || *before > most || *after < 0 || *after > most || size.v > most)
      continue;
    /* with one window more than possible, because sizes may be rounded up */
    int64_t span = size.v + *before + *after - (k - 1) * d - 1,
            last = span < 0 ? s : (span / s + 1) * s;
    int64_t first = wick_max_i64(*before - last, 0) / d, end = (size.v - 1 + *before) / d + 1;
    int64_t head = wick_min_i64(wick_min_i64(first, *before / d), k - 1),
            tail = wick_max_i64(wick_min_i64(k - wick_max_i64(end, head + 1), *after / d), 0);
    w->kernel[i] = k - head - tail;
    *before -= head * d, *after -= tail * d;
  }
}

bool wick_onnx_window_read_transposed(wick_onnx_op *o, const wick_dim *kernel,
                                      wick_onnx_window *out, int64_t *out_pad)
{
  if (!window_begin(o, kernel, out) || !window_list(o, "output_padding", out->n, 0, 0, out_pad))
    return false;
  int mode = window_auto(o);
  wick_wire_i64s shape = wick_onnx_ints(o, "output_shape");
  if (shape.n == out->n + 2u)
    shape = (wick_wire_i64s){shape.at + 2, out->n}; /* some exporters include batch and channels */
  if (shape.n && shape.n != out->n) {
    wick_onnx_fail(o, WICK_ETYPE, "output_shape has %zu numbers, expected %u", shape.n, out->n);
    return false;
  }
  if (!shape.n && mode < WINDOW_UPPER) return true;
  for (uint32_t i = 0; i < out->n; i++) {
    wick_dim size = wick_onnx_info(o, 0)->dim[2 + i];
    int64_t s = out->stride[i],
            /* plus size * s */
        total = (out->kernel[i] - 1) * out->dilation[i] + 1 + out_pad[i] - s;
    if (shape.n) {
      int64_t whole;
      if (!wick_dim_is_const(size))
        return wick_onnx_must_be_known(o, "the input's size, for output_shape,", size);
      if (shape.at[i] < 0 || wick_mul_overflows(size.v, s, &whole) ||
          wick_sub_overflows(whole, shape.at[i], &whole) ||
          wick_add_overflows(whole, total, &total)) {
        wick_onnx_fail(o, WICK_ERANGE, "output_shape has %lld for axis %u", (long long)shape.at[i],
                       2 + i);
        return false;
      }
    }
    if (total < 0) out_pad[i] -= total;
    window_share(out, i, wick_max_i64(total, 0), mode == WINDOW_UPPER);
  }
  return true;
}

/* Omits a list in which all numbers are the default, so that equal windows have equal text. */
static void window_set_list(wick_emit *e, const char *name, uint32_t n, const int64_t *v,
                            int64_t usual)
{
  bool same = true;
  for (uint32_t i = 0; i < n; i++) same &= v[i] == usual;
  if (!same) wick_emit_set_ints(e, name, n, v);
}

void wick_onnx_window_set(wick_emit *e, const wick_onnx_window *w)
{
  window_set_list(e, "stride", w->n, w->stride, 1);
  window_set_list(e, "pad", 2 * w->n, w->pad, 0);
  window_set_list(e, "dilation", w->n, w->dilation, 1);
}
