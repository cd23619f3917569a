/* Exports operators that move elements, and operators whose attributes are operands in ONNX. */
#include "export/write.h"

/* Casts an operand to a type that ONNX accepts. */
static const char *move_wide(wick_export_op *o, const char *x, wick_elem *out_wide)
{
  wick_elem e = wick_export_info(o, 0)->elem;
  *out_wide = wick_export_wide(o, e, o->row->elems);
  return wick_export_cast(o, x, e, *out_wide);
}

static void move_end(wick_export_op *o, wick_onnx_node *n, wick_elem wide)
{
  wick_elem e = wick_export_out_info(o, 0)->elem;
  if (wide == e || wick_export_info(o, 0)->elem != e)
    wick_export_end_results(o, n, o->n->nout);
  else
    wick_export_result_is(o, 0, wick_export_cast(o, wick_export_end(o, n), wide, e));
}

static wick_onnx_node *move_begin(wick_export_op *o, const char *x, const char *y)
{
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, 2, (const char *const[]){x, y});
  wick_export_set_attrs(o, n, o->row->attrs);
  return n;
}

/* Exports the mean of small integers, whose sum wraps before the division. */
static void move_small_mean(wick_export_op *o, const char *x, const char *axes, wick_elem wide)
{
  const wick_attr *a = wick_export_attr(o, "axes");
  const wick_type_info *t = wick_export_info(o, 0);
  wick_dim count = wick_dim_const(1);
  for (uint32_t k = 0; k < (a->n ? a->n : t->rank); k++)
    count = wick_dim_mul(o->x->m->dims, count, t->dim[a->n ? a->ints[k] : k]);
  wick_onnx_node *n = wick_export_begin(o, "ReduceSum", 2, (const char *const[]){x, axes});
  wick_export_set_attrs(o, n, o->row->attrs);
  const char *y = wick_export_cast(o, wick_export_end(o, n), wide, t->elem);
  y = wick_export_2(o, "Div", wick_export_cast(o, y, t->elem, WICK_I64), wick_export_dim(o, count));
  wick_export_result_is(o, 0, wick_export_cast(o, y, WICK_I64, t->elem));
}

void wick_export_reduce(wick_export_op *o)
{
  wick_elem wide;
  const wick_attr *axes = wick_export_attr(o, "axes");
  const char *x = move_wide(o, wick_export_in(o, 0), &wide);
  if (o->failed) return;
  const char *along = axes->n ? wick_export_i64s(o->x, axes->n, axes->ints) : "";
  if (o->n->op == WICK_OP_reduce_mean && wide != wick_export_info(o, 0)->elem)
    move_small_mean(o, x, along, wide);
  else
    move_end(o, move_begin(o, x, along), wide);
}

void wick_export_extremes(wick_export_op *o)
{
  static const char *const by[2] = {"ReduceMin", "ReduceMax"};
  wick_elem wide, e = wick_export_info(o, 0)->elem;
  const wick_attr *axes = wick_export_attr(o, "axes");
  const char *x = move_wide(o, wick_export_in(o, 0), &wide);
  for (uint32_t k = 0; k < 2 && !o->failed; k++) {
    const char *along = axes->n ? wick_export_i64s(o->x, axes->n, axes->ints) : "";
    wick_onnx_node *n = wick_export_begin(o, by[k], 2, (const char *const[]){x, along});
    wick_export_set_attrs(o, n, o->row->attrs);
    wick_export_result_is(o, k, wick_export_cast(o, wick_export_end(o, n), wide, e));
  }
}

void wick_export_scan(wick_export_op *o)
{
  wick_elem wide;
  const char *x = move_wide(o, wick_export_in(o, 0), &wide);
  if (o->failed) return;
  move_end(o, move_begin(o, x, wick_export_i64(o->x, wick_export_attr(o, "axis")->i)), wide);
}

/* Exports operators with indices, operand 1. Wick accepts all integer types for them, ONNX mostly
 * 64 bits only. */
void wick_export_indexed(wick_export_op *o)
{
  wick_elem e = wick_export_info(o, 1)->elem;
  const char *in[3] = {wick_export_in(o, 0), wick_export_in(o, 1)};
  if (e != WICK_I64) in[1] = wick_export_cast(o, in[1], e, WICK_I64);
  if (o->n->nin > 2) in[2] = wick_export_in(o, 2);
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, o->n->nin, in);
  wick_export_set_attrs(o, n, o->row->attrs);
  wick_export_end_results(o, n, 1);
}

void wick_export_split(wick_export_op *o)
{
  const wick_attr *sizes = wick_export_attr(o, "sizes");
  wick_onnx_node *n = move_begin(o, wick_export_in(o, 0),
                                 sizes->n ? wick_export_dims(o, sizes->n, sizes->dims) : "");
  if (!sizes->n) wick_export_set_int(o, n, "num_outputs", o->n->nout);
  wick_export_end_results(o, n, o->n->nout);
}

void wick_export_top_k(wick_export_op *o)
{
  wick_onnx_node *n =
      move_begin(o, wick_export_in(o, 0), wick_export_dims(o, 1, wick_export_attr(o, "k")->dims));
  wick_export_set_int(o, n, "largest", !wick_export_attr(o, "least")->i);
  wick_export_end_results(o, n, 2);
}

/* Exports reshape, broadcast_to and tile, whose attribute is the second operand in ONNX. */
void wick_export_move(wick_export_op *o)
{
  const wick_attr *a = wick_export_attr(o, o->n->op == WICK_OP_tile ? "repeats" : "shape");
  const char *x = wick_export_in(o, 0);
  if (o->n->op == WICK_OP_reshape)
    wick_export_result_is(o, 0, wick_export_reshape(o, x, a->n, a->dims));
  else
    wick_export_end_results(o, move_begin(o, x, wick_export_dims(o, a->n, a->dims)), 1);
}

/* Exports slice. Omits axes that are taken as a whole. A slice that reaches the end of its axis has
 * the largest end, so that its size depends only on the begin. */
void wick_export_slice(wick_export_op *o)
{
  const wick_type_info *t = wick_export_info(o, 0);
  wick_dims *dims = o->x->m->dims;
  const wick_attr *begin = wick_export_attr(o, "begin"), *shape = wick_export_attr(o, "shape"),
                  *step = wick_export_attr(o, "step");
  wick_dim from[WICK_MAX_RANK], to[WICK_MAX_RANK];
  int64_t axis[WICK_MAX_RANK], by[WICK_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->rank; k++) {
    int64_t s = step->n ? step->ints[k] : 1;
    wick_dim size = shape->dims[k], b = begin->dims[k], last;
    if (s == 1 && wick_dim_is(b, 0) && wick_dim_eq(size, t->dim[k])) continue;
    last = wick_dim_add(
        dims, b,
        wick_dim_mul(dims, wick_dim_sub(dims, size, wick_dim_const(1)), wick_dim_const(s)));
    wick_dim end = wick_dim_add(dims, last, wick_dim_const(s > 0 ? 1 : -1));
    if (wick_dim_is(size, 0)) end = b;
    if (s > 0 && wick_dim_eq(end, t->dim[k])) end = wick_dim_const(INT64_MAX);
    if (s < 0 && wick_dim_is(end, -1)) end = wick_dim_const(-INT64_MAX / 2);
    axis[n] = k, by[n] = s, from[n] = b, to[n++] = end;
  }
  const char *in[] = {wick_export_in(o, 0), wick_export_dims(o, n, from),
                      wick_export_dims(o, n, to), wick_export_i64s(o->x, n, axis),
                      step->n ? wick_export_i64s(o->x, n, by) : ""};
  wick_onnx_node *y = wick_export_begin(o, "Slice", WICK_COUNT(in), in);
  wick_export_end_results(o, y, 1);
}

void wick_export_pad(wick_export_op *o)
{
  const wick_attr *pad = wick_export_attr(o, "pad");
  const char *in[] = {wick_export_in(o, 0), wick_export_dims(o, pad->n, pad->dims),
                      wick_export_in(o, 1)};
  wick_onnx_node *y = wick_export_begin(o, "Pad", WICK_COUNT(in), in);
  wick_export_set_attrs(o, y, o->row->attrs);
  wick_export_end_results(o, y, 1);
}

/* Returns the limit of a Range that has `count` elements. */
static const char *move_limit(wick_export_op *o, wick_elem e, double start, double delta)
{
  wick_dim count = wick_export_attr(o, "count")->dims[0];
  wick_dims *dims = o->x->m->dims;
  if (wick_elem_is_float(e))
    return wick_dim_is_const(count)
               ? wick_export_number(o->x, e, start + ((double)count.v - 0.5) * delta)
               : NULL;
  wick_dim limit = wick_dim_add(dims, wick_dim_const((int64_t)start),
                                wick_dim_mul(dims, count, wick_dim_const((int64_t)delta)));
  return wick_export_cast(o, wick_export_dim(o, limit), WICK_I64, e);
}

/* Exports a range as a Range if its numbers are known, else as start + i * delta, where i is a
 * Range. */
void wick_export_range_row(wick_export_op *o)
{
  static const uint64_t takes =
      WICK_BIT(WICK_F64) | WICK_BIT(WICK_F32) | (WICK_SINTS & ~WICK_BIT(WICK_I8));
  wick_export *x = o->x;
  wick_elem e = wick_export_info(o, 0)->elem;
  wick_elem wide = takes & WICK_BIT(e) ? e : wick_elem_is_float(e) ? WICK_F64 : WICK_I64;
  double start, delta;
  bool known = wick_export_known(o, 0, &start) && wick_export_known(o, 1, &delta) && delta != 0;
  const char *limit = known ? move_limit(o, wide, start, delta) : NULL, *y;
  if (limit) {
    y = wick_export_3(o, "Range", wick_export_number(x, wide, start), limit,
                      wick_export_number(x, wide, delta));
    wick_export_result_is(o, 0, wick_export_cast(o, y, wide, e));
    return;
  }
  y = wick_export_3(o, "Range", wick_export_i64(x, 0),
                    wick_export_dim(o, wick_export_attr(o, "count")->dims[0]),
                    wick_export_i64(x, 1));
  y = wick_export_2(o, "Mul", wick_export_cast(o, y, WICK_I64, e), wick_export_in(o, 1));
  wick_export_result_is(o, 0, wick_export_2(o, "Add", y, wick_export_in(o, 0)));
}

void wick_export_one_hot(wick_export_op *o)
{
  wick_elem e = wick_export_info(o, 1)->elem;
  wick_elem wide = wick_export_wide(o, e, o->row->elems);
  const char *in[] = {wick_export_in(o, 0),
                      wick_export_dims(o, 1, wick_export_attr(o, "depth")->dims),
                      wick_export_cast(o, wick_export_in(o, 1), e, wide)};
  wick_onnx_node *y = wick_export_begin(o, "OneHot", WICK_COUNT(in), in);
  wick_export_set_attrs(o, y, o->row->attrs);
  if (wide == e)
    wick_export_end_results(o, y, 1);
  else
    wick_export_result_is(o, 0, wick_export_cast(o, wick_export_end(o, y), wide, e));
}

void wick_export_eye(wick_export_op *o)
{
  const wick_type_info *t = wick_export_out_info(o, 0);
  const char *shape = wick_export_dims(o, t->rank, t->dim),
             *like = wick_export_1(o, "ConstantOfShape", shape);
  wick_onnx_node *y = wick_export_begin(o, "EyeLike", 1, &like);
  wick_export_set_int(o, y, "dtype", wick_export_type(t->elem));
  wick_export_set_attrs(o, y, "k");
  wick_export_end_results(o, y, 1);
}

void wick_export_triangle(wick_export_op *o)
{
  const char *k = wick_export_i64(o->x, wick_export_attr(o, "k")->i);
  wick_export_end_results(o, move_begin(o, wick_export_in(o, 0), k), 1);
}

void wick_export_shape(wick_export_op *o)
{
  const char *x = wick_export_in(o, 0);
  wick_onnx_node *y = wick_export_begin(o, "Shape", 1, &x);
  wick_export_set_attrs(o, y, "start");
  if (wick_export_attr(o, "end")->i < WICK_MAX_RANK) wick_export_set_attrs(o, y, "end");
  wick_export_end_results(o, y, 1);
}

void wick_export_depth(wick_export_op *o)
{
  const char *x = wick_export_in(o, 0);
  wick_onnx_node *y = wick_export_begin(o, "DepthToSpace", 1, &x);
  wick_export_set_attrs(o, y, "block=blocksize");
  wick_export_set_word(o, y, "mode", wick_export_attr(o, "order")->i ? "CRD" : "DCR");
  wick_export_end_results(o, y, 1);
}

/* Reshapes [.., C, ..] to [.., groups, C / groups, ..], and transposes these two axes. */
void wick_export_shuffle(wick_export_op *o)
{
  const wick_type_info *t = wick_export_info(o, 0);
  int64_t axis = wick_export_attr(o, "axis")->i, perm[WICK_MAX_RANK + 1];
  wick_dim groups = wick_dim_const(wick_export_attr(o, "groups")->i), dim[WICK_MAX_RANK + 1];
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->rank; k++) {
    if (k == axis) dim[n++] = groups;
    dim[n++] = k == axis ? wick_dim_floordiv(o->x->m->dims, t->dim[k], groups) : t->dim[k];
  }
  for (uint32_t k = 0; k < n; k++) perm[k] = k == axis ? k + 1 : k == axis + 1 ? k - 1 : k;
  const char *y = wick_export_reshape(o, wick_export_in(o, 0), n, dim);
  y = wick_export_transpose(o, y, n, perm);
  wick_export_result_is(o, 0, wick_export_reshape(o, y, t->rank, t->dim));
}

/* Concatenates the operands along a new axis after the interleaved one, then merges the two.
 * Operands that have one element less are padded, and the padding is sliced off. */
void wick_export_interleave(wick_export_op *o)
{
  const wick_type_info *t = wick_export_out_info(o, 0);
  wick_dims *dims = o->x->m->dims;
  uint32_t nin = o->n->nin, axis = (uint32_t)wick_export_attr(o, "axis")->i;
  wick_dim most = wick_export_info(o, 0)->dim[axis], whole[WICK_MAX_RANK];
  const char **part = wick_new(o->x->mem, const char *, nin);
  for (uint32_t i = 0; i < nin; i++) {
    part[i] = wick_export_in(o, i);
    if (!wick_dim_eq(wick_export_info(o, i)->dim[axis], most)) {
      int64_t pad[2 * WICK_MAX_RANK] = {0};
      pad[t->rank + axis] = 1;
      part[i] = wick_export_2(o, "Pad", part[i], wick_export_i64s(o->x, 2u * t->rank, pad));
    }
    part[i] = wick_export_unsqueeze(o, part[i], axis + 1);
  }
  for (uint32_t k = 0; k < t->rank; k++) whole[k] = t->dim[k];
  whole[axis] = wick_dim_mul(dims, most, wick_dim_const(nin));
  const char *y = wick_export_concat(o, axis + 1, nin, part);
  y = wick_export_reshape(o, y, t->rank, whole);
  if (!wick_dim_eq(whole[axis], t->dim[axis])) {
    const char *cut[] = {y, wick_export_i64s(o->x, 1, (const int64_t[]){0}),
                         wick_export_dims(o, 1, &t->dim[axis]),
                         wick_export_i64s(o->x, 1, (const int64_t[]){axis})};
    y = wick_export_end(o, wick_export_begin(o, "Slice", WICK_COUNT(cut), cut));
  }
  wick_export_result_is(o, 0, y);
}
