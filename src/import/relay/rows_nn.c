/* Operators of neural networks but convolutions and pooling. */
#include "import/relay/state.h"
#include "import/relay/table.h"

/* A vector as a tensor of the first operand's number of axes. */
static const char *nn_along(relay_member *m, const char *x, int64_t axis)
{
  int64_t dim[WICK_MAX_RANK];
  uint32_t rank = wick_relay_rank(m, 0);
  for (uint32_t i = 0; i < rank; i++) dim[i] = i == (uint32_t)axis ? -1 : 1;
  if (axis == (int64_t)rank - 1) return x;
  return wick_relay_text(m, "reshape(%s, shape = %s)", x, wick_relay_tuple(m, (int)rank, dim));
}

static const char *nn_bias_add(relay_member *m)
{
  return wick_relay_text(m, "a + %s",
                         nn_along(m, "b", wick_relay_axis(m, "axis", 1, wick_relay_rank(m, 0))));
}

static const char *nn_prelu(relay_member *m)
{
  return wick_relay_text(m, "prelu(a, %s)",
                         nn_along(m, "b", wick_relay_axis(m, "axis", 1, wick_relay_rank(m, 0))));
}

/* ---- normalization ---- */

static const char *nn_epsilon(relay_member *m)
{
  return wick_relay_float(m, wick_relay_real(m, "epsilon", 1e-5));
}

/* y * scale + bias, where both are vectors along the axis and may be switched off. */
static const char *nn_scaled(relay_member *m, const char *y, int64_t axis)
{
  if (wick_relay_int(m, "scale", 1)) y = wick_relay_text(m, "%s * %s", y, nn_along(m, "b", axis));
  if (wick_relay_int(m, "center", 1)) y = wick_relay_text(m, "%s + %s", y, nn_along(m, "c", axis));
  return y;
}

static const char *nn_batch_norm(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t axis = wick_relay_axis(m, "axis", 1, rank);
  bool plain = axis == 1 && wick_relay_int(m, "scale", 1) && wick_relay_int(m, "center", 1);
  if (plain)
    return wick_relay_text(m, "(batch_norm(a, b, c, d, e, epsilon = %s), d, e)", nn_epsilon(m));
  const char *y = wick_relay_text(m, "(a - %s) / sqrt(%s + %s)", nn_along(m, "d", axis),
                                  nn_along(m, "e", axis), nn_epsilon(m));
  return wick_relay_text(m, "(%s, d, e)", nn_scaled(m, y, axis));
}

/* The mean over some axes is subtracted, and the rest divided by the deviation. */
static const char *nn_normalized(relay_member *m, int n, const int64_t *axes)
{
  const char *over = wick_relay_tuple(m, n, axes);
  const char *d = wick_relay_let(m, "a - reduce_mean(a, axes = %s, keepdims = true)", over);
  return wick_relay_text(m, "%s / sqrt(reduce_mean(square(%s), axes = %s, keepdims = true) + %s)",
                         d, d, over, nn_epsilon(m));
}

static const char *nn_layer_norm(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t axis = wick_relay_axis(m, "axis", -1, rank);
  if (axis == (int64_t)rank - 1 && wick_relay_int(m, "scale", 1) && wick_relay_int(m, "center", 1))
    return wick_relay_text(m, "layer_norm(a, b, c, axis = -1, epsilon = %s)", nn_epsilon(m));
  return nn_scaled(m, nn_normalized(m, 1, &axis), axis);
}

static const char *nn_instance_norm(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t axis = wick_relay_axis(m, "axis", 1, rank), axes[WICK_MAX_RANK];
  int n = 0;
  if (axis == 1 && rank > 2 && wick_relay_int(m, "scale", 1) && wick_relay_int(m, "center", 1))
    return wick_relay_text(m, "instance_norm(a, b, c, epsilon = %s)", nn_epsilon(m));
  for (uint32_t i = 1; i < rank; i++)
    if (i != (uint32_t)axis) axes[n++] = i;
  return nn_scaled(m, nn_normalized(m, n, axes), axis);
}

static const char *nn_group_norm(relay_member *m)
{
  if (wick_relay_axis(m, "axis", 1, wick_relay_rank(m, 0)) != 1 || !wick_relay_int(m, "scale", 1) ||
      !wick_relay_int(m, "center", 1))
    return wick_relay_fail(m, "it is supported along axis 1, with scale and center");
  return wick_relay_text(m, "group_norm(a, b, c, groups = %lld, epsilon = %s)",
                         (long long)wick_relay_int(m, "num_groups", 1), nn_epsilon(m));
}

static const char *nn_l2_normalize(relay_member *m)
{
  int64_t axes[RELAY_MOST_INTS], rank = wick_relay_rank(m, 0);
  int n = wick_relay_ints(m, "axis", axes);
  for (int i = 0; i < n; i++)
    if (axes[i] < 0) axes[i] += rank;
  if (n < 0)
    for (n = 0; n < rank; n++) axes[n] = n;
  return wick_relay_text(m, "a / sqrt(max(reduce_sum(square(a), axes = %s, keepdims = true), %s))",
                         wick_relay_tuple(m, n, axes),
                         wick_relay_float(m, wick_relay_real(m, "eps", 0)));
}

static const char *nn_lrn(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t axis = wick_relay_axis(m, "axis", 1, rank), perm[WICK_MAX_RANK], back[WICK_MAX_RANK];
  if (rank < 2) return wick_relay_fail(m, "the operand must have two axes or more");
  for (uint32_t i = 0; i < rank; i++) perm[i] = back[i] = i;
  perm[1] = axis, perm[axis] = 1; /* its own inverse */
  const char *y = wick_relay_text(m, "lrn(%s, size = %lld, alpha = %s, beta = %s, bias = %s)",
                                  wick_relay_transpose(m, "a", rank, perm),
                                  (long long)wick_relay_int(m, "size", 5),
                                  wick_relay_float(m, wick_relay_real(m, "alpha", 1e-5)),
                                  wick_relay_float(m, wick_relay_real(m, "beta", 0.75)),
                                  wick_relay_float(m, wick_relay_real(m, "bias", 2)));
  return wick_relay_transpose(m, y, rank, perm);
}

/* ---- products ---- */

/* Operands in the type of the result. */
static const char *nn_operand(relay_member *m, uint32_t k, bool transposed)
{
  const char *x = wick_relay_letter(k), *dtype = wick_relay_word(m, "out_dtype", ""),
             *elem = *dtype ? wick_relay_element(dtype) : NULL;
  uint32_t rank = wick_relay_rank(m, k);
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) perm[i] = i;
  if (transposed && rank > 1) perm[rank - 1] = rank - 2, perm[rank - 2] = rank - 1;
  x = wick_relay_transpose(m, x, rank, perm);
  return elem && strcmp(elem, wick_elem_name(wick_relay_elem(m, k))) != 0
             ? wick_relay_text(m, "%s(%s)", elem, x)
             : x;
}

static const char *nn_product(relay_member *m)
{
  bool dense = strcmp(m->row->name, "nn.dense") == 0;
  return wick_relay_text(m, "%s @ %s", nn_operand(m, 0, wick_relay_int(m, "transpose_a", 0)),
                         nn_operand(m, 1, dense || wick_relay_int(m, "transpose_b", 0)));
}

/* Weights [O / o, I, o] become [O, I]. */
static const char *nn_dense_pack(relay_member *m)
{
  if (wick_relay_rank(m, 1) != 3) return wick_relay_fail(m, "the weights must be [N / n, K, n]");
  const char *dim[2] = {wick_relay_size(m, 1, 1), "-1"};
  return wick_relay_text(m, "a @ reshape(transpose(b, perm = (1, 0, 2)), shape = %s)",
                         wick_relay_dims(m, 2, dim));
}

/* ---- padding and space ---- */

/* Pairs of numbers for each axis: those before, then those after. */
static bool nn_pairs(relay_member *m, const char *name, int64_t *before, int64_t *after)
{
  int64_t all[RELAY_MOST_INTS];
  uint32_t rank = wick_relay_rank(m, 0);
  int n = wick_relay_ints(m, name, all);
  if (n != (int)(2 * rank)) {
    wick_relay_fail(m, "`%s` must have a pair for each axis", name);
    return false;
  }
  for (uint32_t i = 0; i < rank; i++) before[i] = all[2 * i], after[i] = all[2 * i + 1];
  return true;
}

static const char *nn_pad(relay_member *m)
{
  int64_t pad[2 * WICK_MAX_RANK];
  uint32_t rank = wick_relay_rank(m, 0);
  if (!nn_pairs(m, "pad_width", pad, pad + rank)) return NULL;
  const char *mode = wick_relay_word(m, "pad_mode", "constant"),
             *list = wick_relay_tuple(m, (int)(2 * rank), pad);
  if (strcmp(mode, "constant") == 0 && m->use->n == 2)
    return wick_relay_text(m, "pad(a, %s(b), pad = %s)", wick_elem_name(wick_relay_elem(m, 0)),
                           list);
  return wick_relay_text(m, "pad(a, pad = %s, mode = \"%s\")", list, mode);
}

/* The first or last p elements along the axis, in the opposite order. */
static const char *nn_mirrored(relay_member *m, const char *x, uint32_t axis, int64_t p,
                               int64_t from)
{
  return wick_relay_text(m, "gather(%s, range(%lldi64, -1i64, count = %lld), axis = %u)", x,
                         (long long)from, (long long)p, axis);
}

static const char *nn_mirror_pad(relay_member *m)
{
  int64_t pad[2 * WICK_MAX_RANK];
  uint32_t rank = wick_relay_rank(m, 0);
  if (!nn_pairs(m, "pad_width", pad, pad + rank)) return NULL;
  if (strcmp(wick_relay_word(m, "mode", "SYMMETRIC"), "REFLECT") == 0)
    return wick_relay_text(m, "pad(a, pad = %s, mode = \"reflect\")",
                           wick_relay_tuple(m, (int)(2 * rank), pad));
  const char *x = "a";
  for (uint32_t i = 0; i < rank; i++) {
    int64_t d = wick_relay_known(m, 0, i), p = pad[i], q = pad[rank + i];
    if (p < 0 || q < 0 || p > d || q > d)
      return wick_relay_fail(m, "the padding is longer than axis %u", i);
    if (p) x = wick_relay_let(m, "concat(%s, %s, axis = %u)", nn_mirrored(m, x, i, p, p - 1), x, i);
    if (q)
      x = wick_relay_let(m, "concat(%s, %s, axis = %u)", x, nn_mirrored(m, x, i, q, d + p - 1), i);
  }
  return x;
}

static const char *nn_flatten(relay_member *m)
{
  return wick_relay_text(m, "reshape(a, shape = (%s, -1))", wick_relay_size(m, 0, 0));
}

static const char *nn_depth(relay_member *m)
{
  bool last = strcmp(wick_relay_word(m, "layout", "NCHW"), "NHWC") == 0,
       space = strstr(m->row->name, "to_space") != NULL;
  const char *x = last ? "transpose(a, perm = (0, 3, 1, 2))" : "a", *y;
  long long block = wick_relay_int(m, "block_size", 1);
  bool crd = strcmp(wick_relay_word(m, "mode", "DCR"), "CRD") == 0;
  y = space ? wick_relay_text(m, "depth_to_space(%s, block = %lld, order = \"%s\")", x, block,
                              crd ? "crd" : "dcr")
            : wick_relay_text(m, "space_to_depth(%s, block = %lld)", x, block);
  return last ? wick_relay_text(m, "transpose(%s, perm = (0, 2, 3, 1))", y) : y;
}

/* Zeros between the elements. */
static const char *nn_dilate(relay_member *m)
{
  int64_t step[RELAY_MOST_INTS];
  uint32_t rank = wick_relay_rank(m, 0);
  if (!wick_relay_spread(m, "strides", rank, 1, step)) return NULL;
  const char *x = "a", *e = wick_elem_name(wick_relay_elem(m, 0));
  const char *value =
      wick_relay_is_float(m, 0)
          ? wick_relay_float(m, wick_relay_real(m, "dilation_value", 0))
          : wick_relay_text(m, "%lld", (long long)wick_relay_real(m, "dilation_value", 0));
  for (uint32_t i = 0; i < rank; i++) {
    int64_t d = wick_relay_known(m, 0, i), pad[2 * WICK_MAX_RANK + 2] = {0},
            end[2 * WICK_MAX_RANK] = {0};
    if (step[i] <= 1 || !d) continue;
    if (step[i] > 1 << 20 || rank == WICK_MAX_RANK)
      return wick_relay_fail(m, "the stride is too large");
    const char *size[WICK_MAX_RANK + 1], *joined[WICK_MAX_RANK];
    for (uint32_t k = 0, j = 0; k < rank; k++, j++) {
      int64_t done = k < i && step[k] > 1 && wick_relay_known(m, 0, k)
                         ? (wick_relay_known(m, 0, k) - 1) * step[k] + 1
                         : wick_relay_known(m, 0, k);
      size[j] = wick_relay_text(m, "%lld", (long long)done);
      joined[k] = k == i ? wick_relay_text(m, "%lld", (long long)(d * step[i])) : size[j];
      if (k == i) size[++j] = "1";
    }
    pad[rank + 1 + i + 1] = step[i] - 1;
    end[rank + i] = 1 - step[i];
    x = wick_relay_let(
        m, "pad(reshape(pad(reshape(%s, shape = %s), %s(%s), pad = %s), shape = %s), pad = %s)", x,
        wick_relay_dims(m, rank + 1, size), e, value, wick_relay_tuple(m, (int)(2 * rank + 2), pad),
        wick_relay_dims(m, rank, joined), wick_relay_tuple(m, (int)(2 * rank), end));
  }
  return x;
}

/* Blocks of space become batches, or the reverse; the batch's axis is the first. */
static const char *nn_space_to_batch(relay_member *m)
{
  int64_t block[RELAY_MOST_INTS], pads[RELAY_MOST_INTS], pad[2 * WICK_MAX_RANK] = {0},
                                                                 perm[2 * WICK_MAX_RANK], batch = 1;
  uint32_t rank = wick_relay_rank(m, 0), n = 0, k = 0;
  int nb = wick_relay_ints(m, "block_shape", block), np = wick_relay_ints(m, "paddings", pads);
  const char *dim[2 * WICK_MAX_RANK], *out[WICK_MAX_RANK];
  if (nb < 1 || nb + 1 > (int)rank || np != 2 * nb || rank + (uint32_t)nb > WICK_MAX_RANK)
    return wick_relay_fail(m,
                           "`block_shape` and `paddings` must have numbers for each blocked axis");
  dim[n++] = wick_relay_size(m, 0, 0);
  for (uint32_t i = 1; i < rank; i++) {
    int64_t d = wick_relay_known(m, 0, i);
    if (i <= (uint32_t)nb) {
      pad[i] = pads[2 * i - 2], pad[rank + i] = pads[2 * i - 1], d += pad[i] + pad[rank + i];
      if (block[i - 1] < 1 || d % block[i - 1])
        return wick_relay_fail(m, "axis %u is no multiple of its block", i);
      batch *= block[i - 1];
      dim[n++] = wick_relay_text(m, "%lld", (long long)(d / block[i - 1]));
      dim[n++] = wick_relay_text(m, "%lld", (long long)block[i - 1]);
    } else {
      dim[n++] = wick_relay_text(m, "%lld", (long long)d);
    }
    out[i] = i <= (uint32_t)nb ? dim[n - 2] : dim[n - 1];
  }
  for (int i = 0; i < nb; i++) perm[k++] = 2 * i + 2;
  perm[k++] = 0;
  for (int i = 0; i < nb; i++) perm[k++] = 2 * i + 1;
  for (uint32_t i = 2 * (uint32_t)nb + 1; i < n; i++) perm[k++] = i;
  out[0] = wick_relay_text(m, "%s * %lld", dim[0], (long long)batch);
  const char *value = wick_relay_float(m, wick_relay_real(m, "pad_value", 0)),
             *e = wick_elem_name(wick_relay_elem(m, 0));
  return wick_relay_text(
      m, "reshape(%s, shape = %s)",
      wick_relay_transpose(m,
                           wick_relay_text(m, "reshape(pad(a, %s(%s), pad = %s), shape = %s)", e,
                                           value, wick_relay_tuple(m, (int)(2 * rank), pad),
                                           wick_relay_dims(m, n, dim)),
                           n, perm),
      wick_relay_dims(m, rank, out));
}

static const char *nn_batch_to_space(relay_member *m)
{
  int64_t block[RELAY_MOST_INTS], crops[RELAY_MOST_INTS],
      pad[2 * WICK_MAX_RANK] = {0}, perm[2 * WICK_MAX_RANK], batch = 1;
  uint32_t rank = wick_relay_rank(m, 0), n = 0, k = 0;
  int nb = wick_relay_ints(m, "block_shape", block), nc = wick_relay_ints(m, "crops", crops);
  const char *dim[2 * WICK_MAX_RANK], *out[WICK_MAX_RANK];
  if (nb < 1 || nb + 1 > (int)rank || nc != 2 * nb || rank + (uint32_t)nb > WICK_MAX_RANK)
    return wick_relay_fail(m, "`block_shape` and `crops` must have numbers for each blocked axis");
  for (int i = 0; i < nb; i++) {
    if (block[i] < 1 || block[i] > 1 << 20) return wick_relay_fail(m, "a block is not positive");
    batch *= block[i], dim[n++] = wick_relay_text(m, "%lld", (long long)block[i]);
    if (batch > 1 << 30) return wick_relay_fail(m, "the blocks are too large");
  }
  int64_t d = wick_relay_known(m, 0, 0);
  if (d % batch) return wick_relay_fail(m, "the batch is no multiple of the blocks");
  out[0] = dim[n++] = wick_relay_text(m, "%lld", (long long)(d / batch));
  for (uint32_t i = 1; i < rank; i++) {
    d = wick_relay_known(m, 0, i), dim[n++] = wick_relay_text(m, "%lld", (long long)d);
    if (i <= (uint32_t)nb)
      pad[i] = -crops[2 * i - 2], pad[rank + i] = -crops[2 * i - 1], d *= block[i - 1];
    out[i] = wick_relay_text(m, "%lld", (long long)d);
  }
  perm[k++] = nb;
  for (int i = 0; i < nb; i++) perm[k++] = nb + 1 + i, perm[k++] = i;
  for (uint32_t i = 2 * (uint32_t)nb + 1; i < n; i++) perm[k++] = i;
  return wick_relay_text(
      m, "pad(reshape(%s, shape = %s), pad = %s)",
      wick_relay_transpose(
          m, wick_relay_text(m, "reshape(a, shape = %s)", wick_relay_dims(m, n, dim)), n, perm),
      wick_relay_dims(m, rank, out), wick_relay_tuple(m, (int)(2 * rank), pad));
}

/* ---- losses and others ---- */

static const char *nn_cross_entropy(relay_member *m)
{
  bool logits = strstr(m->row->name, "logits") != NULL;
  return wick_relay_text(m, "-sum(%s * b) / %s.0", logits ? "a" : "log(a)",
                         wick_relay_text(m, "%lld", (long long)wick_relay_known(m, 0, 0)));
}

static const char *nn_nll_loss(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  const char *reduction = wick_relay_word(m, "reduction", "mean"), *dim[WICK_MAX_RANK],
             *out[WICK_MAX_RANK];
  long long ignored = wick_relay_int(m, "ignore_index", -100);
  if (rank < 2) return wick_relay_fail(m, "the operand must have two axes or more");
  for (uint32_t i = 0, k = 0; i < rank; i++) {
    dim[i] = i == 1 ? "1" : wick_relay_size(m, 0, i);
    if (i != 1) out[k++] = dim[i];
  }
  const char *valid = wick_relay_let(m, "ne(b, %lld)", ignored),
             *at = wick_relay_let(m, "where(%s, b, 0)", valid);
  const char *x = wick_relay_let(
      m, "reshape(gather_elements(a, reshape(%s, shape = %s), axis = 1), shape = %s)", at,
      wick_relay_dims(m, rank, dim), wick_relay_dims(m, rank - 1, out));
  const char *w = wick_relay_let(m, "where(%s, gather(c, %s, axis = 0), 0.0)", valid, at);
  if (strcmp(reduction, "none") == 0) return wick_relay_text(m, "-(%s * %s)", x, w);
  if (strcmp(reduction, "sum") == 0) return wick_relay_text(m, "-sum(%s * %s)", x, w);
  return wick_relay_text(m, "-sum(%s * %s) / sum(%s)", x, w, w);
}

static const char *nn_dropout(relay_member *m)
{
  const char *dim[WICK_MAX_RANK], *e = wick_elem_name(wick_relay_elem(m, 0));
  uint32_t rank = wick_relay_rank(m, 0);
  for (uint32_t i = 0; i < rank; i++) dim[i] = wick_relay_size(m, 0, i);
  return rank ? wick_relay_text(m, "(a, broadcast_to(%s(1), shape = %s))", e,
                                wick_relay_dims(m, rank, dim))
              : wick_relay_text(m, "(a, %s(1))", e);
}

static const char *nn_fifo(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t axis = wick_relay_axis(m, "axis", 0, rank), pad[2 * WICK_MAX_RANK] = {0};
  if (m->use->wrong) return NULL;
  pad[axis] = -wick_relay_known(m, 0, (uint32_t)axis);
  return wick_relay_text(m, "pad(concat(b, a, axis = %lld), pad = %s)", (long long)axis,
                         wick_relay_tuple(m, (int)(2 * rank), pad));
}

#define NN_NORM "axis epsilon center scale"

const relay_row wick_relay_nn[] = {
    RELAY_WRITE("nn.batch_flatten", 1, 1, nn_flatten, NULL, "reshape"),
    RELAY_WRITE("nn.batch_matmul", 2, 2, nn_product, "transpose_a transpose_b out_dtype", "matmul"),
    RELAY_WRITE("nn.batch_norm", 5, 5, nn_batch_norm, NN_NORM, "batch_norm"),
    RELAY_WRITE("nn.batch_to_space_nd", 1, 1, nn_batch_to_space, "block_shape crops",
                "reshape and transpose"),
    RELAY_WRITE("nn.bias_add", 2, 2, nn_bias_add, "axis", "a + reshape(b)"),
    RELAY_WRITE("nn.contrib_dense_pack", 2, 2, nn_dense_pack, "weight_layout", "matmul"),
    RELAY_WRITE("nn.cross_entropy", 2, 2, nn_cross_entropy, NULL, "-sum(log(a) * b) / batch"),
    RELAY_WRITE("nn.cross_entropy_with_logits", 2, 2, nn_cross_entropy, NULL,
                "-sum(a * b) / batch"),
    RELAY_WRITE("nn.dense", 2, 2, nn_product, "units out_dtype", "matmul"),
    RELAY_WRITE("nn.depth_to_space", 1, 1, nn_depth, "block_size layout mode", "depth_to_space"),
    RELAY_WRITE("nn.dilate", 1, 1, nn_dilate, "strides dilation_value", "pad and reshape"),
    RELAY_WRITE("nn.dropout", 1, 1, nn_dropout, "rate", "a, and ones"),
    RELAY_EXPR("nn.fast_softmax", 1, "softmax(a, axis = {axis:-1})"),
    RELAY_WRITE("nn.fifo_buffer", 2, 2, nn_fifo, "axis", "concat and pad"),
    RELAY_WRITE("nn.group_norm", 3, 3, nn_group_norm, NN_NORM " num_groups", "group_norm"),
    RELAY_WRITE("nn.instance_norm", 3, 3, nn_instance_norm, NN_NORM, "instance_norm"),
    RELAY_WRITE("nn.l2_normalize", 1, 1, nn_l2_normalize, "eps axis",
                "a / sqrt(max(reduce_sum(square(a)), eps))"),
    RELAY_WRITE("nn.layer_norm", 3, 3, nn_layer_norm, NN_NORM, "layer_norm"),
    RELAY_EXPR("nn.leaky_relu", 1, "leaky_relu(a, alpha = {alpha:0.25})"),
    RELAY_EXPR("nn.log_softmax", 1, "log_softmax(a, axis = {axis:-1})"),
    RELAY_WRITE("nn.lrn", 1, 1, nn_lrn, "size axis bias alpha beta", "lrn"),
    RELAY_WRITE("nn.matmul", 2, 2, nn_product, "units transpose_a transpose_b out_dtype", "matmul"),
    RELAY_WRITE("nn.mirror_pad", 1, 1, nn_mirror_pad, "mode pad_width", "pad, or concat of gather"),
    RELAY_WRITE("nn.nll_loss", 3, 3, nn_nll_loss, "reduction ignore_index",
                "gather_elements and sum"),
    RELAY_WRITE("nn.pad", 1, 2, nn_pad, "pad_width pad_mode", "pad"),
    RELAY_WRITE("nn.prelu", 2, 2, nn_prelu, "axis", "prelu"),
    RELAY_EXPR("nn.relu", 1, "relu(a)"),
    RELAY_EXPR("nn.softmax", 1, "softmax(a, axis = {axis:-1})"),
    RELAY_WRITE("nn.space_to_batch_nd", 1, 1, nn_space_to_batch, "block_shape paddings pad_value",
                "reshape and transpose"),
    RELAY_WRITE("nn.space_to_depth", 1, 1, nn_depth, "block_size layout", "space_to_depth"),
    RELAY_END_OF_ROWS,
};
