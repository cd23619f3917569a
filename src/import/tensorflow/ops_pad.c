/* Operators that pad, repeat, fill and block tensors. */
#include "import/tensorflow/ops.h"

/* ---- pads and repetitions ---- */

/* Reads paddings [rank, 2] as the begins, then the ends. */
static bool pad_pads(wick_import_node *n, uint32_t i, uint32_t rank, wick_dim *out)
{
  const wick_type_info *t = wick_import_info(n, i);
  wick_dim count = wick_dim_const(rank);
  if (t->rank != 2 || !wick_dim_eq(t->dim[0], count) ||
      !wick_dim_eq(t->dim[1], wick_dim_const(2))) {
    wick_import_fail(n, WICK_ETYPE, "the paddings are not [%u, 2]", rank);
    return false;
  }
  wick_dim flat = wick_dim_const(2 * (int64_t)rank);
  wick_value v = wick_build_reshape(n->b, n->in[i], 1, &flat);
  if (n->b->status) return false;
  const wick_value_info *info = &n->b->values.at[v.id];
  wick_tensor known;
  if (!info->content && wick_known_value(n->b, n->c->tmp, v, &known)) {
    for (uint32_t k = 0; k < 2 * rank; k++)
      out[k / 2 + (k % 2 ? rank : 0)] = wick_dim_const(wick_load_elem(known.elem, known.data, k).i);
    return true;
  }
  if (!info->content) return wick_import_unknown(n, n->in[i], "the padding");
  for (uint32_t k = 0; k < 2 * rank; k++) out[k / 2 + (k % 2 ? rank : 0)] = info->content[k];
  return true;
}

static wick_value pad_pad(wick_import_node *n, wick_value x, uint32_t rank, const wick_dim *pad,
                          int64_t mode, wick_value fill)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_pad);
  wick_emit_set_dims(&e, "pad", 2 * rank, pad);
  wick_emit_set_int(&e, "mode", mode);
  wick_value in[] = {x, fill};
  return wick_emit_end(&e, fill.id ? 2 : 1, in);
}

void wick_tf_import_pad(wick_import_node *n) /* x, paddings, value */
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_dim pad[2 * WICK_MAX_RANK];
  if (!pad_pads(n, 1, rank, pad)) return;
  n->out[0] =
      rank ? pad_pad(n, n->in[0], rank, pad, 0, n->nin > 2 ? n->in[2] : (wick_value){0}) : n->in[0];
}

/* REFLECT leaves the border out; SYMMETRIC repeats it: per axis, slices in reverse. */
void wick_tf_import_mirror_pad(wick_import_node *n)
{
  const wick_type_info info = *wick_import_info(n, 0);
  wick_dim pad[2 * WICK_MAX_RANK], none = wick_dim_const(0), one = wick_dim_const(1);
  wick_dims *t = n->c->module->dims;
  wick_value x = n->in[0];
  int mode = wick_import_word(n, "mode", "REFLECT SYMMETRIC");
  if (n->failed || !pad_pads(n, 1, info.rank, pad)) return;
  if (mode == 0) {
    n->out[0] = pad_pad(n, x, info.rank, pad, 1, (wick_value){0});
    return;
  }
  for (uint32_t k = 0; k < info.rank; k++) {
    wick_value part[3];
    uint32_t count = 0;
    wick_dim before = pad[k], after = pad[info.rank + k], size = info.dim[k];
    if (!wick_dim_eq(before, none))
      part[count++] = wick_build_slice_axis(n->b, x, k, wick_dim_sub(t, before, one), before, -1);
    part[count++] = x;
    if (!wick_dim_eq(after, none))
      part[count++] = wick_build_slice_axis(n->b, x, k, wick_dim_sub(t, size, one), after, -1);
    if (count > 1) x = wick_build_concat(n->b, k, count, part);
  }
  n->out[0] = x;
}

void wick_tf_import_tile(wick_import_node *n) /* x, multiples */
{
  uint32_t count;
  const wick_dim *dim;
  if (!wick_import_dims(n, 1, "the multiples", &count, &dim)) return;
  if (count != wick_import_info(n, 0)->rank) {
    wick_import_fail(n, WICK_ETYPE, "there are %u multiples, expected %u", count,
                     wick_import_info(n, 0)->rank);
    return;
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_tile);
  wick_emit_set_dims(&e, "repeats", count, dim);
  n->out[0] = count ? wick_emit_end1(&e, n->in[0]) : n->in[0];
}

void wick_tf_import_fill(wick_import_node *n) /* shape, value */
{
  uint32_t rank;
  const wick_dim *dim;
  if (!wick_import_dims(n, 0, "the shape", &rank, &dim)) return;
  wick_tensor t;
  if (rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "its rank is %u, the most is %d", rank, WICK_MAX_RANK);
  } else if (wick_import_info(n, 1)->elem != WICK_STRING &&
             wick_known_value(n->b, n->c->tmp, n->in[1], &t)) {
    wick_scalar s = wick_load_elem(t.elem, t.data, 0);
    bool is_float = wick_elem_is_float(t.elem);
    wick_type type = wick_type_tensor(n->c->module, t.elem, rank, dim);
    n->out[0] = wick_build_const(n->b, type, is_float ? s.f : 0, is_float ? 0 : s.i);
  } else {
    n->out[0] = wick_emit_expand(n->b, n->in[1], rank, dim);
  }
}

void wick_tf_import_like(wick_import_node *n) /* arg: the number */
{
  const wick_tf_op *o = wick_tf_op_of(n);
  if (o->in[0].kind == WICK_TF_LIST) { /* zeros of a list */
    o->out[0] = o->in[0];
    o->out[0].v = (wick_value){0};
    return;
  }
  if (o->in[0].kind != WICK_TF_TENSOR) {
    wick_import_fail(n, WICK_ETYPE, "the operand is no tensor");
    return;
  }
  bool is_float = wick_elem_is_float(wick_import_info(n, 0)->elem);
  n->out[0] = wick_build_const(n->b, wick_built_type(n->b, n->in[0]), is_float ? n->row->arg : 0,
                               is_float ? 0 : n->row->arg);
}

void wick_tf_import_empty(wick_import_node *n) /* shape; its contents are undefined, here 0 */
{
  uint32_t rank;
  const wick_dim *dim;
  wick_elem e;
  if (wick_tf_attr_elem(n, "dtype", &e) && wick_import_dims(n, 0, "the shape", &rank, &dim) &&
      rank <= WICK_MAX_RANK)
    n->out[0] = wick_build_const(n->b, wick_type_tensor(n->c->module, e, rank, dim), 0, 0);
}

/* The number of steps from start to limit. Floats must be known. */
void wick_tf_import_range(wick_import_node *n) /* start, limit, delta */
{
  n->out[0] = wick_array_range(n, n->in[0], n->in[1], n->in[2]);
}

void wick_tf_import_linspace(wick_import_node *n) /* start, stop, count */
{
  int64_t count;
  wick_builder *b = n->b;
  if (!wick_import_one(n, 2, "the number of points", 0, &count)) return;
  if (count < 1) {
    wick_import_fail(n, WICK_ERANGE, "the number of points is %lld", (long long)count);
    return;
  }
  wick_elem e = wick_import_info(n, 0)->elem;
  wick_value i = wick_build_cast(b, wick_emit_count(b, wick_dim_const(count)), e);
  wick_value span = wick_build2(b, WICK_OP_sub, n->in[1], n->in[0]);
  wick_value step = wick_emit_by(b, WICK_OP_div, span, count > 1 ? (double)(count - 1) : 1);
  n->out[0] = wick_build2(b, WICK_OP_add, n->in[0], wick_build2(b, WICK_OP_mul, i, step));
}

void wick_tf_import_broadcast_to(wick_import_node *n) /* x, shape */
{
  uint32_t rank;
  const wick_dim *dim;
  if (wick_import_dims(n, 1, "the shape", &rank, &dim))
    n->out[0] = wick_emit_expand(n->b, n->in[0], rank, dim);
}

void wick_tf_import_broadcast_args(wick_import_node *n) /* two shapes */
{
  uint32_t na, nb;
  const wick_dim *a, *b;
  if (!wick_import_dims(n, 0, "the shape", &na, &a) ||
      !wick_import_dims(n, 1, "the shape", &nb, &b))
    return;
  uint32_t rank = na > nb ? na : nb;
  wick_value *part = wick_new(n->c->tmp, wick_value, rank + 1u);
  wick_elem e = wick_import_info(n, 0)->elem;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim one = wick_dim_const(1), x = k + na >= rank ? a[k + na - rank] : one,
             y = k + nb >= rank ? b[k + nb - rank] : one, d = wick_dim_eq(x, one) ? y : x;
    if (!wick_dim_eq(x, one) && !wick_dim_eq(y, one) && !wick_import_equal(n, x, y)) {
      wick_import_fail(n, WICK_ETYPE, "the shapes do not broadcast");
      return;
    }
    wick_value size = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, d));
    part[k] = wick_emit_unsqueeze(n->b, wick_build_cast(n->b, size, e), 0);
  }
  wick_type none = wick_type_tensor_const(n->c->module, e, 1, (int64_t[]){0});
  n->out[0] = rank > 1    ? wick_build_concat(n->b, 0, rank, part)
              : rank == 1 ? part[0]
                          : wick_build_const(n->b, none, 0, 0);
}

void wick_tf_import_roll(wick_import_node *n) /* x, shifts, axes */
{
  uint32_t nshift, naxis, at;
  const int64_t *shift, *axes;
  wick_value x = n->in[0];
  const wick_type_info info = *wick_import_info(n, 0);
  wick_dims *t = n->c->module->dims;
  if (!wick_import_numbers(n, 1, "the shifts", &nshift, &shift) ||
      !wick_import_numbers(n, 2, "the axes", &naxis, &axes))
    return;
  for (uint32_t k = 0; k < naxis && k < nshift; k++) {
    if (!wick_import_axis(n, axes[k], info.rank, &at)) return;
    wick_dim size = info.dim[at], by = wick_dim_mod(t, wick_dim_const(shift[k]), size);
    wick_dim rest = wick_dim_sub(t, size, by);
    wick_value tail = wick_emit_slice(n->b, x, at, rest, by);
    wick_value head = wick_emit_slice(n->b, x, at, wick_dim_const(0), rest);
    x = wick_build_concat(n->b, at, 2, (wick_value[]){tail, head});
  }
  n->out[0] = x;
}

/* ---- blocks ---- */

/* Moves blocks between the batch and the spatial axes. arg: to the batch */
void wick_tf_import_batch_blocks(wick_import_node *n) /* x, block shape, paddings or crops */
{
  const wick_type_info info = *wick_import_info(n, 0);
  wick_dims *t = n->c->module->dims;
  uint32_t m, rank = info.rank;
  const int64_t *block;
  wick_dim pad[2 * WICK_MAX_RANK], all[2 * WICK_MAX_RANK], dim[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  if (!wick_import_numbers(n, 1, "the shape of a block", &m, &block)) return;
  if (!m || m + 1 > rank || rank + m > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ETYPE, "blocks of %u dimensions of an operand of rank %u", m, rank);
    return;
  }
  for (uint32_t k = 0; k < m; k++)
    if (block[k] < 1) {
      wick_import_fail(n, WICK_ERANGE, "a block has the size %lld", (long long)block[k]);
      return;
    }
  if (!pad_pads(n, 2, m, pad)) return;
  bool to = n->row->arg != 0;
  for (uint32_t k = 0; k < 2 * rank; k++) all[k] = wick_dim_const(0);
  for (uint32_t k = 0; k < m; k++) {
    wick_dim none = wick_dim_const(0);
    all[1 + k] = to ? pad[k] : wick_dim_sub(t, none, pad[k]);
    all[rank + 1 + k] = to ? pad[m + k] : wick_dim_sub(t, none, pad[m + k]);
  }
  int64_t blocks = 1;
  for (uint32_t k = 0; k < m; k++) blocks *= block[k];
  wick_value x = to ? pad_pad(n, n->in[0], rank, all, 0, (wick_value){0}) : n->in[0];
  if (n->b->status) return;
  wick_dim cur[WICK_MAX_RANK], batch;
  for (uint32_t k = 0; k < rank; k++) cur[k] = wick_built_info(n->b, x)->dim[k];
  uint32_t r = 0;
  if (to) { /* [N, S/b, b, ..., rest] -> [b.., N, S/b.., rest] */
    dim[r++] = cur[0];
    for (uint32_t k = 0; k < m; k++) {
      dim[r++] = wick_dim_floordiv(t, cur[1 + k], wick_dim_const(block[k]));
      dim[r++] = wick_dim_const(block[k]);
      perm[k] = 2 + 2 * k, perm[m + 1 + k] = 1 + 2 * k;
    }
    perm[m] = 0;
    batch = wick_dim_mul(t, cur[0], wick_dim_const(blocks));
  } else { /* [b.., N, S.., rest] -> [N, S, b, ..., rest] */
    for (uint32_t k = 0; k < m; k++) dim[r++] = wick_dim_const(block[k]);
    batch = wick_dim_floordiv(t, cur[0], wick_dim_const(blocks));
    dim[r++] = batch;
    for (uint32_t k = 0; k < m; k++) {
      dim[r++] = cur[1 + k];
      perm[1 + 2 * k] = m + 1 + k, perm[2 + 2 * k] = k;
    }
    perm[0] = m;
  }
  for (uint32_t k = m + 1; k < rank; k++) perm[r] = r, dim[r++] = cur[k];
  wick_value y = wick_build_transpose(n->b, wick_build_reshape(n->b, x, r, dim), r, perm);
  cur[0] = batch;
  for (uint32_t k = 0; k < m; k++)
    cur[1 + k] = to ? wick_dim_floordiv(t, cur[1 + k], wick_dim_const(block[k]))
                    : wick_dim_mul(t, cur[1 + k], wick_dim_const(block[k]));
  y = wick_build_reshape(n->b, y, rank, cur);
  n->out[0] = to ? y : pad_pad(n, y, rank, all, 0, (wick_value){0});
}
