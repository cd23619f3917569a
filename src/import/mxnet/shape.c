/* Imports MXNet's operators that move elements. */
#include "import/kit/array.h"
#include "import/mxnet/ops.h"

void wick_mxnet_flatten(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  if (!wick_import_rank(n, 0, 1, WICK_MAX_RANK)) return;
  const wick_dim dim[2] = {t->dim[0], wick_array_product(n, t->rank - 1, t->dim + 1)};
  n->out[0] = wick_build_reshape(n->b, n->in[0], 2, dim);
}

typedef struct shape_codes { /* the state of a reshape */
  wick_import_node *n;
  wick_dim dim[WICK_MAX_RANK], out[WICK_MAX_RANK]; /* of the operand and of the result */
  uint32_t from, at;                               /* the operand's rank, and its next dimension */
  uint32_t rank, open;                             /* the result's rank, and its open dimension */
} shape_codes;

enum { SHAPE_DROP = -10 }; /* a code of its own: drops a dimension of size 1 */

static bool shape_put(shape_codes *s, wick_dim d)
{
  if (s->rank == WICK_MAX_RANK) {
    wick_import_fail(s->n, WICK_EUNSUPPORTED, "the new rank is over %d", WICK_MAX_RANK);
    return false;
  }
  s->out[s->rank++] = d;
  return true;
}

/* Reads one code: a size, 0 to keep one, -1 for the rest, -2 to keep the others, -3 to join two, -4 to
 * split one into the next two numbers. Returns how many numbers it has, 0 after a failure. */
static uint32_t shape_code(shape_codes *s, const int64_t *code, uint32_t left)
{
  wick_dims *d = s->n->c->module->dims;
  const wick_dim *dim = s->dim;
  uint32_t rest = s->from > s->at ? s->from - s->at : 0;
  uint32_t need = code[0] == 0 || code[0] == -4 || code[0] == SHAPE_DROP ? 1
                  : code[0] == -3                                        ? 2
                                                                         : 0;
  if ((code[0] < -4 && code[0] != SHAPE_DROP) || rest < need || (code[0] == -4 && left < 3)) {
    wick_import_fail(s->n, WICK_ETYPE, "the shape's code %lld does not fit rank %u",
                     (long long)code[0], s->from);
    return 0;
  }
  if (code[0] > 0) return s->at++, shape_put(s, wick_dim_const(code[0]));
  if (code[0] == SHAPE_DROP && wick_dim_is(dim[s->at], 1)) return s->at++, 1;
  if (code[0] == SHAPE_DROP) {
    wick_import_fail(s->n, WICK_ETYPE, "dimension %u, which is dropped, has another size than 1",
                     s->at);
    return 0;
  }
  if (code[0] == 0) return shape_put(s, dim[s->at++]);
  if (code[0] == -1) return s->at++, s->open = s->rank, shape_put(s, wick_dim_const(1));
  if (code[0] == -2) {
    while (s->at < s->from)
      if (!shape_put(s, dim[s->at++])) return 0;
    return 1;
  }
  if (code[0] == -3)
    return s->at += 2, shape_put(s, wick_dim_mul(d, dim[s->at - 2], dim[s->at - 1]));
  wick_dim whole = dim[s->at++], a = wick_dim_const(code[1]), b = wick_dim_const(code[2]);
  if (code[1] == -1 && code[2] > 0) a = wick_dim_floordiv(d, whole, b);
  if (code[2] == -1 && code[1] > 0) b = wick_dim_floordiv(d, whole, a);
  return shape_put(s, a) && shape_put(s, b) ? 3 : 0;
}

static void shape_turn(uint32_t n, wick_dim *dim)
{
  for (uint32_t i = 0; i < n / 2; i++) {
    wick_dim d = dim[i];
    dim[i] = dim[n - 1 - i], dim[n - 1 - i] = d;
  }
}

enum { SHAPE_OLD, SHAPE_NUMPY, SHAPE_NPX }; /* row->arg: whose codes */

/* The code of mx.nd for one of mx.npx: -2 keeps one, -3 drops one of size 1, -4 keeps the others, -5 joins two,
 * -6 splits one. False if there is none. */
static bool shape_recode(wick_import_node *n, int64_t *code)
{
  static const int64_t of[] = {[2] = 0, [3] = SHAPE_DROP, [4] = -2, [5] = -3, [6] = -4};
  if (*code > 0 || *code == -1) return true;
  bool good = *code < 0 && *code >= (n->row->arg == SHAPE_NPX ? -6 : 0);
  if (good)
    *code = of[-*code];
  else
    wick_import_fail(n, WICK_EUNSUPPORTED, "a size of %lld is not supported", (long long)*code);
  return good;
}

/* `reverse`: sizes and codes are read from the last to the first. */
void wick_mxnet_reshape(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  shape_codes s = {.n = n, .from = t->rank, .open = UINT32_MAX};
  wick_import_attr shape = wick_import_ints(n, n->row->arg ? "newshape" : "shape");
  bool reverse = wick_import_int(n, "reverse", 0);
  int64_t *code = wick_new(n->c->tmp, int64_t, shape.n + 1);
  for (uint32_t k = 0; k < shape.n; k++) code[reverse ? shape.n - 1 - k : k] = shape.ints[k];
  for (uint32_t k = 0; n->row->arg && k < shape.n; k++)
    if (!shape_recode(n, &code[k])) return;
  for (uint32_t k = 0; k < t->rank; k++) s.dim[k] = t->dim[k];
  if (reverse) shape_turn(t->rank, s.dim);
  for (uint32_t k = 0; k < shape.n;) {
    uint32_t read = shape_code(&s, code + k, shape.n - k);
    if (!read) return;
    k += read;
  }
  if (s.open != UINT32_MAX)
    s.out[s.open] = wick_dim_floordiv(n->c->module->dims, wick_array_product(n, s.from, s.dim),
                                      wick_array_product(n, s.rank, s.out));
  if (reverse) shape_turn(s.rank, s.out);
  n->out[0] = wick_build_reshape(n->b, n->in[0], s.rank, s.out);
}

void wick_mxnet_reshape_like(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 1);
  n->out[0] = wick_build_reshape(n->b, n->in[0], t->rank, t->dim);
}

void wick_mxnet_transpose(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_import_attr axes = wick_import_ints(n, "axes");
  int64_t perm[WICK_MAX_RANK];
  bool seen[WICK_MAX_RANK] = {false};
  if (axes.n && axes.n != rank) {
    wick_import_fail(n, WICK_ETYPE, "axes has %u numbers for rank %u", axes.n, rank);
    return;
  }
  for (uint32_t k = 0; k < rank; k++) {
    uint32_t axis = rank - 1 - k;
    if (axes.n && !wick_import_axis(n, axes.ints[k], rank, &axis)) return;
    if (seen[axis]) {
      wick_import_fail(n, WICK_ETYPE, "axes is no permutation");
      return;
    }
    seen[axis] = true, perm[k] = axis;
  }
  n->out[0] = wick_build_transpose(n->b, n->in[0], rank, perm);
}

void wick_mxnet_swap_axes(wick_import_node *n)
{
  uint32_t rank = wick_import_info(n, 0)->rank, a, b;
  int64_t perm[WICK_MAX_RANK];
  if (!wick_mxnet_axis(n, "dim1", 0, rank, &a) || !wick_mxnet_axis(n, "dim2", 0, rank, &b)) return;
  for (uint32_t k = 0; k < rank; k++) perm[k] = k == a ? b : k == b ? a : k;
  n->out[0] = wick_build_transpose(n->b, n->in[0], rank, perm);
}

void wick_mxnet_expand_dims(wick_import_node *n)
{
  uint32_t axis;
  if (wick_mxnet_axis(n, "axis", 0, wick_import_info(n, 0)->rank + 1u, &axis))
    n->out[0] = wick_emit_unsqueeze(n->b, n->in[0], axis);
}

void wick_mxnet_squeeze(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr axes = wick_import_ints(n, "axis");
  bool gone[WICK_MAX_RANK] = {false};
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = 0, axis;
  for (uint32_t k = 0; k < axes.n; k++) {
    if (!wick_import_axis(n, axes.ints[k], t->rank, &axis)) return;
    gone[axis] = true;
  }
  for (uint32_t k = 0; k < t->rank; k++)
    if (axes.n ? !gone[k] : !wick_dim_is(t->dim[k], 1)) dim[rank++] = t->dim[k];
  n->out[0] = wick_build_reshape(n->b, n->in[0], rank, dim);
}

/* ---- parts ---- */

void wick_mxnet_concat(wick_import_node *n)
{
  uint32_t axis, rank = wick_import_info(n, 0)->rank + (n->row->arg ? 1u : 0);
  const char *word = n->row->arg ? "axis" : "dim";
  wick_value *part = wick_new(n->c->tmp, wick_value, (size_t)n->nin + 1);
  if (!wick_mxnet_axis(n, word, n->row->arg ? 0 : 1, rank, &axis)) return;
  for (uint32_t i = 0; i < n->nin; i++)
    part[i] = n->row->arg ? wick_emit_unsqueeze(n->b, n->in[i], axis) : n->in[i];
  n->out[0] = wick_build_concat(n->b, axis, n->nin, part);
}

void wick_mxnet_split(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t count = wick_import_int(n, "num_outputs", 1);
  bool squeeze = wick_import_int(n, "squeeze_axis", 0) != 0;
  uint32_t axis;
  wick_dims *d = n->c->module->dims;
  if (!wick_mxnet_axis(n, "axis", 1, t->rank, &axis)) return;
  if (count < 1 || count > n->nout) {
    wick_import_fail(n, WICK_ERANGE, "num_outputs is %lld, the most is %u", (long long)count,
                     n->nout);
    return;
  }
  wick_dim each = wick_dim_floordiv(d, t->dim[axis], wick_dim_const(count));
  if (!wick_import_equal(n, wick_dim_mul(d, each, wick_dim_const(count)), t->dim[axis])) {
    wick_import_fail(n, WICK_ETYPE, "the axis does not split into %lld equal parts",
                     (long long)count);
    return;
  }
  for (int64_t k = 0; k < count; k++) {
    wick_value y =
        wick_emit_slice(n->b, n->in[0], axis, wick_dim_mul(d, each, wick_dim_const(k)), each);
    n->out[k] = squeeze ? wick_emit_squeeze(n->b, y, axis) : y;
  }
}

/* Takes begin <= i < end along an axis; negative numbers count from the end, INT64_MIN is none. */
static wick_value shape_part(wick_import_node *n, wick_value x, uint32_t axis, int64_t begin,
                             int64_t end, int64_t step)
{
  wick_dims *d = n->c->module->dims;
  if (n->b->status) return x;
  wick_dim size = wick_built_info(n->b, x)->dim[axis], from, to, count;
  bool back = step < 0;
  if (step == INT64_MIN || step == 0) step = 1, back = false;
  from = begin == INT64_MIN ? (back ? wick_dim_sub(d, size, wick_dim_const(1)) : wick_dim_const(0))
         : begin < 0        ? wick_dim_add(d, size, wick_dim_const(begin))
                            : wick_dim_min(d, wick_dim_const(begin), size);
  to = end == INT64_MIN ? (back ? wick_dim_const(-1) : size)
       : end < 0        ? wick_dim_add(d, size, wick_dim_const(end))
                        : wick_dim_min(d, wick_dim_const(end), size);
  count = back ? wick_dim_sub(d, from, to) : wick_dim_sub(d, to, from);
  count = wick_dim_ceildiv(d, count, wick_dim_const(back ? -step : step));
  return wick_build_slice_axis(n->b, x, axis, from, count, step);
}

void wick_mxnet_slice(wick_import_node *n)
{
  wick_import_attr begin = wick_import_ints(n, "begin"), end = wick_import_ints(n, "end"),
                   step = wick_import_ints(n, "step");
  uint32_t rank = wick_import_info(n, 0)->rank;
  if (begin.n != end.n || begin.n > rank || (step.n && step.n != begin.n)) {
    wick_import_fail(n, WICK_ETYPE, "%u begins and %u ends for rank %u", begin.n, end.n, rank);
    return;
  }
  n->out[0] = n->in[0];
  for (uint32_t k = 0; k < begin.n; k++)
    n->out[0] = shape_part(n, n->out[0], k, begin.ints[k], end.ints[k], step.n ? step.ints[k] : 1);
}

void wick_mxnet_slice_axis(wick_import_node *n)
{
  uint32_t axis;
  if (!wick_mxnet_axis(n, "axis", 0, wick_import_info(n, 0)->rank, &axis)) return;
  n->out[0] = shape_part(n, n->in[0], axis, wick_import_int(n, "begin", 0),
                         wick_import_int(n, "end", INT64_MIN), 1);
}

/* The beginning of x, as large as the second operand along some or all axes. */
void wick_mxnet_slice_like(wick_import_node *n)
{
  const wick_type_info *x = wick_import_info(n, 0), *like = wick_import_info(n, 1);
  wick_import_attr axes = wick_import_ints(n, "axes");
  n->out[0] = n->in[0];
  uint32_t count = axes.n ? axes.n : x->rank;
  for (uint32_t k = 0; k < count; k++) {
    uint32_t axis = k;
    if (axes.n && !wick_import_axis(n, axes.ints[k], x->rank, &axis)) return;
    if (axis >= like->rank) {
      wick_import_fail(n, WICK_ETYPE, "the second input has no axis %u", axis);
      return;
    }
    n->out[0] = wick_emit_slice(n->b, n->out[0], axis, wick_dim_const(0), like->dim[axis]);
  }
}

void wick_mxnet_reverse(wick_import_node *n)
{
  wick_import_attr axes = wick_import_ints(n, "axis");
  n->out[0] = n->in[0];
  for (uint32_t k = 0; k < axes.n; k++) {
    uint32_t axis;
    if (!wick_import_axis(n, axes.ints[k], wick_import_info(n, 0)->rank, &axis)) return;
    n->out[0] = shape_part(n, n->out[0], axis, INT64_MIN, INT64_MIN, -1);
  }
}

/* ---- repetition ---- */

void wick_mxnet_tile(wick_import_node *n)
{
  wick_import_attr reps = wick_import_ints(n, "reps");
  const wick_type_info *t = wick_import_info(n, 0);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank = reps.n > t->rank ? reps.n : t->rank, more = rank - t->rank;
  if (rank > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the new rank is %u, the most is %d", rank,
                     WICK_MAX_RANK);
    return;
  }
  for (uint32_t k = 0; k < rank; k++) dim[k] = k < more ? wick_dim_const(1) : t->dim[k - more];
  wick_value y = more ? wick_build_reshape(n->b, n->in[0], rank, dim) : n->in[0];
  for (uint32_t k = 0; k < reps.n; k++) {
    int64_t times = reps.ints[k];
    if (times < 1 || times > 1 << 16) {
      wick_import_fail(n, WICK_ERANGE, "reps has %lld, expected 1 or more", (long long)times);
      return;
    }
    wick_value *part = wick_new(n->c->tmp, wick_value, (size_t)times);
    for (int64_t i = 0; i < times; i++) part[i] = y;
    if (times > 1) y = wick_build_concat(n->b, rank - reps.n + k, (uint32_t)times, part);
  }
  n->out[0] = y;
}

/* Repeats each element along an axis, or all of them in one dimension. */
void wick_mxnet_repeat(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t times = wick_import_int(n, "repeats", 1);
  uint32_t axis = 0;
  bool flat = !wick_import_attr_has(n, "axis");
  wick_dim all = wick_array_product(n, t->rank, t->dim), dim[WICK_MAX_RANK + 1];
  wick_value x = flat ? wick_build_reshape(n->b, n->in[0], 1, &all) : n->in[0];
  if ((!flat && !wick_mxnet_axis(n, "axis", 0, t->rank, &axis)) || n->b->status) return;
  const wick_type_info *s = wick_built_info(n->b, x);
  if (times < 1 || times > 1 << 20 || s->rank == WICK_MAX_RANK) {
    wick_import_fail(n, WICK_ERANGE, "repeats is %lld, expected 1 or more", (long long)times);
    return;
  }
  for (uint32_t k = 0; k <= s->rank; k++)
    dim[k] = k <= axis ? s->dim[k] : k == axis + 1 ? wick_dim_const(times) : s->dim[k - 1];
  wick_value y = wick_emit_expand(n->b, wick_emit_unsqueeze(n->b, x, axis + 1), s->rank + 1u, dim);
  for (uint32_t k = 0; k < s->rank; k++) dim[k] = s->dim[k];
  dim[axis] = wick_dim_mul(n->c->module->dims, dim[axis], wick_dim_const(times));
  n->out[0] = wick_build_reshape(n->b, y, s->rank, dim);
}

/* A size of 0 keeps the operand's. */
void wick_mxnet_broadcast_to(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr shape = wick_import_ints(n, "shape");
  wick_dim dim[WICK_MAX_RANK];
  if (shape.n != t->rank) {
    wick_import_fail(n, WICK_ETYPE, "shape has %u numbers for rank %u", shape.n, t->rank);
    return;
  }
  for (uint32_t k = 0; k < t->rank; k++)
    dim[k] = shape.ints[k] ? wick_dim_const(shape.ints[k]) : t->dim[k];
  n->out[0] = wick_emit_expand(n->b, n->in[0], t->rank, dim);
}

void wick_mxnet_broadcast_axis(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_import_attr axes = wick_import_ints(n, "axis"), size = wick_import_ints(n, "size");
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->rank; k++) dim[k] = t->dim[k];
  for (uint32_t k = 0; k < axes.n; k++) {
    uint32_t axis;
    if (axes.n != size.n || !wick_import_axis(n, axes.ints[k], t->rank, &axis)) {
      if (!n->failed) wick_import_fail(n, WICK_EPARSE, "axis and size differ in length");
      return;
    }
    dim[axis] = wick_dim_const(size.ints[k]);
  }
  n->out[0] = wick_emit_expand(n->b, n->in[0], t->rank, dim);
}

void wick_mxnet_broadcast_like(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 1);
  if (wick_import_attr_has(n, "lhs_axes") || wick_import_attr_has(n, "rhs_axes"))
    wick_import_fail(n, WICK_EUNSUPPORTED, "lhs_axes and rhs_axes are not supported");
  else
    n->out[0] = wick_emit_expand(n->b, n->in[0], t->rank, t->dim);
}

void wick_mxnet_shape(wick_import_node *n)
{
  const wick_type_info *t = wick_import_info(n, 0);
  wick_value part[WICK_MAX_RANK];
  wick_dim one = wick_dim_const(1), all = wick_array_product(n, t->rank, t->dim);
  uint32_t count = n->row->arg ? 1 : t->rank;
  if (!count) {
    wick_import_fail(n, WICK_ETYPE, "its input has rank 0");
    return;
  }
  for (uint32_t k = 0; k < count; k++) {
    part[k] = wick_build1(n->b, WICK_OP_size, wick_emit_count(n->b, n->row->arg ? all : t->dim[k]));
    part[k] = wick_build_reshape(n->b, part[k], 1, &one);
  }
  n->out[0] = count > 1 ? wick_build_concat(n->b, 0, count, part) : part[0];
}
