/* Operations that give the same elements another shape, join or repeat them. */
#include "import/coreml/program/ops.h"

/* ---- shapes ---- */

void wick_mil_import_shape(wick_import_node *n)
{
  n->out[0] = wick_build_cast(n->b, wick_build1(n->b, WICK_OP_shape, n->in[0]), WICK_I32);
}

static bool shape_fits(wick_import_node *n, uint32_t rank)
{
  if (rank > WICK_MAX_RANK)
    wick_import_fail(n, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", rank, WICK_MAX_RANK);
  return rank <= WICK_MAX_RANK;
}

/* In a shape of x's rank, 0 stands for the size that x has there. */
void wick_mil_import_reshape(wick_import_node *n) /* x, shape */
{
  const wick_type_info *t = wick_import_info(n, 0);
  uint32_t rank;
  const wick_dim *dim;
  wick_dim to[WICK_MAX_RANK];
  if (!wick_import_dims(n, 1, "the shape", &rank, &dim) || !shape_fits(n, rank)) return;
  for (uint32_t k = 0; k < rank; k++)
    to[k] = rank == t->rank && wick_dim_is(dim[k], 0) ? t->dim[k] : dim[k];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, to);
}

/* The shape is made of parts of the shapes of other tensors. */
void wick_mil_import_reshape_like(wick_import_node *n) /* x, ref_tensors... */
{
  uint32_t count = n->nin - 1, rank = 0, lo, hi;
  int64_t begin[64], end[64], open[64];
  wick_dim dim[WICK_MAX_RANK];
  if (n->nin < 1 || count > WICK_COUNT(begin)) {
    wick_import_fail(n, WICK_ELIMIT, "it has %u reference tensors", count);
    return;
  }
  if (!wick_mil_list_of(n, "begins", count, 0, begin) ||
      !wick_mil_list_of(n, "ends", count, 0, end) ||
      !wick_mil_list_of(n, "end_masks", count, 0, open))
    return;
  for (uint32_t i = 0; i < count; i++) {
    const wick_type_info *t = wick_import_info(n, i + 1);
    int64_t from = begin[i] < 0 ? begin[i] + t->rank : begin[i], to = open[i] ? t->rank
                                                                      : end[i] < 0
                                                                          ? end[i] + t->rank
                                                                          : end[i];
    lo = (uint32_t)(from < 0 ? 0 : from > t->rank ? t->rank : from);
    hi = (uint32_t)(to < 0 ? 0 : to > t->rank ? t->rank : to);
    for (uint32_t k = lo; k < hi; k++) {
      if (!shape_fits(n, rank + 1)) return;
      dim[rank++] = t->dim[k];
    }
  }
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

void wick_mil_import_flatten2d(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_dim dim[2] = {wick_dim_const(1), wick_dim_const(1)};
  int64_t axis = wick_import_int(n, "axis", 1);
  if (axis < 0) axis += t->rank;
  if (axis < 0 || axis > t->rank) {
    wick_import_fail(n, WICK_ETYPE, "its axis is outside [0, %u]", t->rank);
    return;
  }
  for (uint32_t k = 0; k < t->rank; k++)
    dim[k >= axis] = wick_dim_mul(wick_mil_dims(n), dim[k >= axis], t->dim[k]);
  n->out[0] = wick_build_reshape(n->b, n->in[0], 2, dim);
}

/* The axes are those of the result. */
void wick_mil_import_expand_dims(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr a = wick_import_ints(n, "axes");
  bool fresh[WICK_MAX_RANK] = {false};
  wick_dim dim[WICK_MAX_RANK];
  uint32_t at, from = 0, rank = t->rank + a.n;
  if (a.n > WICK_MAX_RANK || !shape_fits(n, rank)) {
    if (!n->failed) wick_import_fail(n, WICK_ELIMIT, "it has %u axes", a.n);
    return;
  }
  for (uint32_t k = 0; k < a.n; k++) {
    if (!wick_import_axis(n, a.ints[k], rank, &at)) return;
    if (fresh[at]) {
      wick_import_fail(n, WICK_ETYPE, "axis %u is inserted twice", at);
      return;
    }
    fresh[at] = true;
  }
  for (uint32_t k = 0; k < rank; k++) dim[k] = fresh[k] ? wick_dim_const(1) : t->dim[from++];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

void wick_mil_import_squeeze(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  bool named = wick_import_attr_has(n, "axes"), gone[WICK_MAX_RANK] = {false};
  wick_dim dim[WICK_MAX_RANK], one = wick_dim_const(1);
  int64_t axes[WICK_MAX_RANK];
  uint32_t count, rank = 0;
  if (!wick_mil_axes(n, "axes", t->rank, &count, axes)) return;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t at = (uint32_t)axes[k];
    gone[at] = wick_dim_eq(t->dim[at], one);
    if (!named || gone[at]) continue;
    if (!wick_import_equal(n, t->dim[at], one)) {
      wick_import_fail(n, WICK_ETYPE, "the size of axis %u is not 1", at);
      return;
    }
    gone[at] = true;
  }
  for (uint32_t k = 0; k < t->rank; k++)
    if (!gone[k]) dim[rank++] = t->dim[k];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

void wick_mil_import_transpose(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr a = wick_import_ints(n, "perm");
  int64_t perm[WICK_MAX_RANK];
  uint32_t at;
  if (a.n != t->rank) {
    wick_import_fail(n, WICK_ETYPE, "perm has %u numbers, expected %u", a.n, t->rank);
    return;
  }
  for (uint32_t k = 0; k < a.n; k++) {
    if (!wick_import_axis(n, a.ints[k], t->rank, &at)) return;
    perm[k] = at;
  }
  n->out[0] = wick_build_transpose(n->b, n->in[0], a.n, perm);
}

/* ---- space, depth and batch ---- */

typedef enum shape_depth {
  SHAPE_SPACE_TO_DEPTH,
  SHAPE_DEPTH_TO_SPACE,
  SHAPE_PIXEL_SHUFFLE
} shape_depth;

static bool shape_block(wick_import_node *n, const char *name, int64_t *out)
{
  *out = wick_import_int(n, name, 1);
  if (!wick_import_rank(n, 0, 4, 4)) return false;
  if (*out >= 1 && *out <= 32768) return true;
  wick_import_fail(n, WICK_ERANGE, "%s is %lld, expected 1 to 32768", name, (long long)*out);
  return false;
}

void wick_mil_import_depth_space(wick_import_node *n) /* arg: shape_depth */
{
  int64_t block;
  bool deep = n->row->arg == SHAPE_SPACE_TO_DEPTH, shuffle = n->row->arg == SHAPE_PIXEL_SHUFFLE;
  if (!shape_block(n, shuffle ? "upscale_factor" : "block_size", &block)) return;
  wick_emit e = wick_emit_begin(n->b, deep ? WICK_OP_space_to_depth : WICK_OP_depth_to_space);
  wick_emit_set_int(&e, "block", block);
  if (!deep) wick_emit_set_int(&e, "order", shuffle);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* [N, C, H r, W r] becomes [N, C r r, H, W]: the position in a block is the faster part of the
 * channel. */
void wick_mil_import_pixel_unshuffle(wick_import_node *n)
{
  static const int64_t perm[] = {0, 1, 3, 5, 2, 4};
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dims *d = wick_mil_dims(n);
  int64_t block;
  if (!shape_block(n, "downscale_factor", &block)) return;
  wick_dim by = wick_dim_const(block), none = wick_dim_const(0);
  for (uint32_t k = 2; k < 4; k++)
    if (!wick_import_equal(n, wick_dim_mod(d, t.dim[k], by), none)) {
      wick_import_fail(n, WICK_ETYPE, "the size of axis %u is no multiple of %lld", k,
                       (long long)block);
      return;
    }
  wick_dim h = wick_dim_floordiv(d, t.dim[2], by), w = wick_dim_floordiv(d, t.dim[3], by),
           split[] = {t.dim[0], t.dim[1], h, by, w, by},
           out[] = {t.dim[0], wick_dim_mul(d, t.dim[1], wick_dim_const(block * block)), h, w};
  wick_value y = wick_build_transpose(n->b, wick_build_reshape(n->b, n->in[0], 6, split), 6, perm);
  n->out[0] = wick_build_reshape(n->b, y, 4, out);
}

/* Reads blocks and pairs of [before, after] for the axes from 2 on. */
static bool shape_blocks(wick_import_node *n, const char *pairs, uint32_t *count, int64_t *block,
                         wick_dim *before, wick_dim *after)
{
  int64_t pair[2 * WICK_MAX_RANK];
  uint32_t rank = wick_import_info(n, 0)->rank, m = wick_import_ints(n, "block_shape").n;
  if (m < 1 || m + 2 > rank) {
    wick_import_fail(n, WICK_ETYPE, "its blocks do not fit an input of rank %u", rank);
    return false;
  }
  if (!wick_mil_list_of(n, "block_shape", m, 1, block) ||
      !wick_mil_list_of(n, pairs, 2 * m, 0, pair))
    return false;
  for (uint32_t k = 0; k < m; k++)
    before[k] = wick_dim_const(pair[2 * k]), after[k] = wick_dim_const(pair[2 * k + 1]);
  for (uint32_t k = 0; k < 2 * m; k++)
    if (pair[k] < 0 || pair[k] > INT32_MAX) {
      wick_import_fail(n, WICK_ERANGE, "%s has the number %lld", pairs, (long long)pair[k]);
      return false;
    }
  *count = m;
  return true;
}

/* [N, C, spatial...] to [N, spatial..., C], or back. */
static wick_value shape_channels(wick_import_node *n, wick_value x, bool last)
{
  int64_t perm[WICK_MAX_RANK];
  if (n->b->status || !x.id) return x;
  uint32_t rank = wick_mil_info(n, x)->rank;
  for (uint32_t k = 0; k < rank; k++) perm[k] = k;
  for (uint32_t k = 1; k < rank; k++) {
    uint32_t to = last ? k + 1 : k - 1;
    perm[k] = last ? (k + 1 == rank ? 1 : to) : (k == 1 ? rank - 1 : to);
  }
  return wick_build_transpose(n->b, x, rank, perm);
}

void wick_mil_import_space_to_batch(wick_import_node *n)
{
  int64_t block[WICK_MAX_RANK];
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  uint32_t m;
  if (!shape_blocks(n, "paddings", &m, block, before, after)) return;
  wick_value x = shape_channels(n, n->in[0], true);
  x = wick_array_space_to_batch(n, x, m, block, before, after, (wick_value){0});
  if (!n->failed) n->out[0] = shape_channels(n, x, false);
}

void wick_mil_import_batch_to_space(wick_import_node *n)
{
  int64_t block[WICK_MAX_RANK];
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  uint32_t m;
  if (!shape_blocks(n, "crops", &m, block, before, after)) return;
  wick_value x = shape_channels(n, n->in[0], true);
  x = wick_array_batch_to_space(n, x, m, block, before, after);
  if (!n->failed) n->out[0] = shape_channels(n, x, false);
}

/* ---- joins and repetitions ---- */

void wick_mil_import_concat(wick_import_node *n)
{
  uint32_t at;
  if (!n->nin) {
    wick_import_fail(n, WICK_EPARSE, "it has no values");
    return;
  }
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), wick_import_info(n, 0)->rank, &at))
    return;
  if (!wick_import_int(n, "interleave", 0) || n->nin == 1) {
    n->out[0] = n->nin == 1 ? n->in[0] : wick_build_concat(n->b, at, n->nin, n->in);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_interleave);
  wick_emit_set_int(&e, "axis", at);
  n->out[0] = wick_emit_end(&e, n->nin, n->in);
}

void wick_mil_import_stack(wick_import_node *n)
{
  uint32_t at;
  if (!n->nin) {
    wick_import_fail(n, WICK_EPARSE, "it has no values");
    return;
  }
  if (wick_import_axis(n, wick_import_int(n, "axis", 0), wick_import_info(n, 0)->rank + 1, &at))
    n->out[0] = wick_array_stack(n, n->nin, n->in, at);
}

void wick_mil_import_split(wick_import_node *n) /* x, num_splits, split_sizes */
{
  const wick_type_info t = *wick_import_info(n, 0);
  wick_dims *d = wick_mil_dims(n);
  wick_dim begin = wick_dim_const(0), by = wick_dim_const(n->nout);
  const wick_dim *size = NULL;
  uint32_t at, count = n->nout;
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), t.rank, &at) ||
      (n->in[2].id && !wick_import_dims(n, 2, "split_sizes", &count, &size)))
    return;
  if (count != n->nout || !count) {
    wick_import_fail(n, WICK_EPARSE, "it has %u outputs, expected %u", n->nout, count);
    return;
  }
  if (!size && !wick_import_equal(n, wick_dim_mod(d, t.dim[at], by), wick_dim_const(0))) {
    wick_import_fail(n, WICK_ETYPE, "axis %u is no multiple of %u", at, count);
    return;
  }
  for (uint32_t k = 0; k < n->nout; k++) {
    wick_dim part = size ? size[k] : wick_dim_floordiv(d, t.dim[at], by);
    n->out[k] = wick_emit_slice(n->b, n->in[0], at, begin, part);
    begin = wick_dim_add(d, begin, part);
  }
  if (!wick_import_equal(n, begin, t.dim[at]) && size)
    wick_import_fail(n, WICK_ETYPE, "the parts do not add up to the size of axis %u", at);
}

void wick_mil_import_tile(wick_import_node *n) /* x, reps */
{
  uint32_t count;
  const wick_dim *reps;
  wick_emit e = wick_emit_begin(n->b, WICK_OP_tile);
  if (!wick_import_dims(n, 1, "reps", &count, &reps)) return;
  wick_emit_set_dims(&e, "repeats", count, reps);
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

void wick_mil_import_pad(wick_import_node *n) /* x, pad */
{
  const wick_type_info t = *wick_import_info(n, 0);
  uint32_t count;
  const wick_dim *pad;
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK], all[2 * WICK_MAX_RANK];
  int mode = wick_import_word(n, "mode", "constant reflect replicate symmetric");
  if (!wick_import_dims(n, 1, "the padding", &count, &pad)) return;
  if (count % 2 || count / 2 > t.rank) {
    wick_import_fail(n, WICK_ETYPE, "the padding has %u numbers for an input of rank %u", count,
                     t.rank);
    return;
  }
  uint32_t first = t.rank - count / 2;
  for (uint32_t k = 0; k < t.rank; k++) {
    before[k] = k < first ? wick_dim_const(0) : pad[2 * (k - first)];
    after[k] = k < first ? wick_dim_const(0) : pad[2 * (k - first) + 1];
    all[k] = before[k], all[t.rank + k] = after[k];
  }
  if (mode == 0) {
    wick_value fill = wick_emit_number(n->b, n->in[0], wick_import_real(n, "constant_val", 0));
    n->out[0] = wick_array_pad(n, n->in[0], before, after, fill);
  } else if (mode == 2) {
    wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
    wick_emit_set_dims(&e, "pad", 2 * t.rank, all);
    wick_emit_set_int(&e, "mode", 2);
    n->out[0] = wick_emit_end1(&e, n->in[0]);
  } else {
    n->out[0] = wick_array_mirror_pad(n, n->in[0], before, after, mode == 3);
  }
}

/* Keeps `lower` diagonals below and `upper` above the main one; all if negative. */
void wick_mil_import_band_part(wick_import_node *n)
{
  int64_t lower = wick_import_int(n, "lower", -1), upper = wick_import_int(n, "upper", -1);
  wick_value y = n->in[0];
  if (!wick_import_rank(n, 0, 2, WICK_MAX_RANK)) return;
  for (int side = 0; side < 2; side++) {
    int64_t keep = side ? upper : lower;
    if (keep < 0) continue;
    wick_emit e = wick_emit_begin(n->b, WICK_OP_trilu);
    wick_emit_set_int(&e, "upper", !side);
    wick_emit_set_int(&e, "k", side ? keep : -keep);
    y = wick_emit_end1(&e, y);
  }
  n->out[0] = y;
}

void wick_mil_import_reverse(wick_import_node *n)
{
  int64_t axes[WICK_MAX_RANK];
  uint32_t count, set = 0;
  if (!wick_mil_axes(n, "axes", wick_import_info(n, 0)->rank, &count, axes)) return;
  for (uint32_t k = 0; k < count; k++) set |= 1u << axes[k];
  n->out[0] = wick_array_reverse(n, n->in[0], set);
}

void wick_mil_import_reverse_sequence(wick_import_node *n) /* x, lengths */
{
  uint32_t seq, batch, rank = wick_import_info(n, 0)->rank;
  if (wick_import_axis(n, wick_import_int(n, "seq_axis", 0), rank, &seq) &&
      wick_import_axis(n, wick_import_int(n, "batch_axis", 0), rank, &batch))
    n->out[0] = wick_array_reverse_sequence(n, n->in[0], n->in[1], seq, batch);
}

void wick_mil_import_range(wick_import_node *n) /* end, start, step */
{
  n->out[0] = wick_array_range(n, n->in[1], n->in[0], n->in[2]);
}
