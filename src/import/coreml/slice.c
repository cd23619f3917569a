/* Layers that take parts of a tensor, or reorder it. */
#include "import/coreml/layers.h"
#include "import/kit/array.h"

/* Along axis -3, -2 or -1, from startIndex to endIndex, which may be negative. */
void wick_coreml_slice(wick_import_node *n)
{
  wick_dims *d = n->c->module->dims;
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t where = wick_import_int(n, "axis", 0), step = wick_import_int(n, "stride", 0);
  int64_t from = wick_import_int(n, "startIndex", 0), to = wick_import_int(n, "endIndex", 0);
  uint32_t axis;
  if (where < 0 || where > 2 || step < 0 || from < -(1 << 30) || to < -(1 << 30)) {
    wick_import_fail(n, WICK_ERANGE, "axis %lld, from %lld to %lld by %lld", (long long)where,
                     (long long)from, (long long)to, (long long)step);
    return;
  }
  if (!step) step = 1;
  if (!wick_import_axis(n, where - 3, t->rank, &axis)) return;
  wick_dim size = t->dim[axis], begin = wick_dim_const(from), end = wick_dim_const(to);
  if (from < 0) begin = wick_dim_max(d, wick_dim_add(d, size, begin), wick_dim_const(0));
  end = to < 0 ? wick_dim_add(d, size, end) : wick_dim_min(d, end, size);
  wick_dim span = wick_dim_max(d, wick_dim_sub(d, end, begin), wick_dim_const(0));
  wick_dim count = wick_dim_ceildiv(d, span, wick_dim_const(step));
  n->out[0] = wick_build_slice_axis(n->b, n->in[0], axis, begin, count, step);
}

/* Begins, ends, strides and masks are attributes, or operands 1 to 6 in this order. */
typedef struct slice_list {
  uint32_t n;
  const wick_dim *at;
} slice_list;

static bool slice_read(wick_import_node *n, uint32_t operand, const char *name, slice_list *out)
{
  if (n->row->arg && wick_import_has(n, operand))
    return wick_coreml_sizes(n, operand, name, &out->n, &out->at);
  wick_import_attr a = wick_import_ints(n, name);
  wick_dim *dim = wick_new(n->c->tmp, wick_dim, (size_t)a.n + 1);
  for (uint32_t k = 0; k < a.n; k++) dim[k] = wick_dim_const(a.ints[k]);
  out->n = a.n, out->at = dim;
  return true;
}

static int64_t slice_mask(slice_list l, uint32_t rank)
{
  int64_t mask = 0;
  for (uint32_t k = 0; k < l.n && k < rank; k++)
    if (!wick_dim_is(l.at[k], 0)) mask |= (int64_t)1 << k;
  return mask;
}

void wick_coreml_slice_masked(wick_import_node *n)
{
  static const char *const names[] = {"beginIds",   "endIds",   "strides",
                                      "beginMasks", "endMasks", "squeezeMasks"};
  enum { BEGIN, END, STRIDE, BEGIN_MASK, END_MASK, SQUEEZE, LISTS };
  slice_list l[LISTS];
  uint32_t rank = wick_import_info(n, 0)->rank;
  wick_dim begin[WICK_MAX_RANK], end[WICK_MAX_RANK];
  int64_t stride[WICK_MAX_RANK];
  for (uint32_t k = 0; k < LISTS; k++)
    if (n->row->arg && k == BEGIN ? !wick_coreml_sizes(n, 1, "the begins", &l[k].n, &l[k].at)
                                  : !slice_read(n, k + 1, names[k], &l[k]))
      return;
  for (uint32_t k = 0; k < LISTS; k++)
    if (l[k].n > rank) {
      wick_import_fail(n, WICK_ETYPE, "%s has %u entries, the rank of its input is %u", names[k],
                       l[k].n, rank);
      return;
    }
  wick_array_strided s = {.n = rank, .begin = begin, .end = end, .stride = stride};
  s.begin_mask = slice_mask(l[BEGIN_MASK], rank), s.end_mask = slice_mask(l[END_MASK], rank);
  s.shrink_mask = slice_mask(l[SQUEEZE], rank);
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim step = k < l[STRIDE].n ? l[STRIDE].at[k] : wick_dim_const(1);
    if (!wick_dim_is_const(step)) {
      wick_import_must_be_known(n, "the strides", step);
      return;
    }
    stride[k] = step.v ? step.v : 1;
    begin[k] = k < l[BEGIN].n ? l[BEGIN].at[k] : wick_dim_const(0);
    end[k] = k < l[END].n ? l[END].at[k] : wick_dim_const(0);
    if (k >= l[BEGIN].n) s.begin_mask |= (int64_t)1 << k;
    if (k >= l[END].n) s.end_mask |= (int64_t)1 << k;
  }
  n->out[0] = wick_array_strided_slice(n, n->in[0], &s);
}

/* `size` elements from a begin that the run knows. */
void wick_coreml_slice_by_size(wick_import_node *n)
{
  uint32_t axis;
  int64_t size = wick_import_int(n, "size", 0);
  const wick_type_info *t = wick_import_info(n, 0);
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), t->rank, &axis)) return;
  if (size < 1 || size > WICK_IMPORT_LARGEST) {
    wick_import_fail(n, WICK_ERANGE, "its size is %lld, expected 1 or more", (long long)size);
    return;
  }
  wick_value begin = wick_build_reshape(n->b, wick_coreml_index(n, 1), 0, NULL);
  wick_value at =
      wick_build2(n->b, WICK_OP_add, wick_emit_count(n->b, wick_dim_const(size)), begin);
  n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, n->in[0], at, axis);
}

void wick_coreml_reverse(wick_import_node *n)
{
  wick_import_attr dims = wick_import_ints(n, "reverseDim");
  uint32_t axes = 0, rank = wick_import_info(n, 0)->rank;
  if (dims.n > rank) {
    wick_import_fail(n, WICK_ETYPE, "reverseDim has %u entries, the rank of its input is %u",
                     dims.n, rank);
    return;
  }
  for (uint32_t k = 0; k < dims.n; k++)
    if (dims.ints[k]) axes |= 1u << k;
  n->out[0] = wick_array_reverse(n, n->in[0], axes);
}

void wick_coreml_reverse_sequence(wick_import_node *n)
{
  uint32_t batch, seq, rank = wick_import_info(n, 0)->rank;
  if (!wick_import_axis(n, wick_import_int(n, "batchAxis", 0), rank, &batch) ||
      !wick_import_axis(n, wick_import_int(n, "sequenceAxis", 0), rank, &seq))
    return;
  n->out[0] = wick_array_reverse_sequence(n, n->in[0], wick_coreml_index(n, 1), seq, batch);
}

/* [..., L, ...] becomes [..., (L - window) / step + 1, window, ...]. */
void wick_coreml_sliding_windows(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_dims *d = n->c->module->dims;
  const wick_type_info *t = wick_import_info(n, 0);
  int64_t size = wick_import_int(n, "windowSize", 0), step = wick_import_int(n, "step", 0);
  uint32_t axis;
  if (!step) step = 1;
  if (!wick_import_axis(n, wick_import_int(n, "axis", 0), t->rank, &axis)) return;
  if (size < 1 || step < 1 || size > WICK_IMPORT_LARGEST || step > WICK_IMPORT_LARGEST) {
    wick_import_fail(n, WICK_ERANGE, "its window is %lld, its step %lld", (long long)size,
                     (long long)step);
    return;
  }
  wick_dim span = wick_dim_sub(d, t->dim[axis], wick_dim_const(size));
  wick_dim count =
      wick_dim_add(d, wick_dim_floordiv(d, span, wick_dim_const(step)), wick_dim_const(1));
  wick_value first =
      wick_emit_by(b, WICK_OP_mul, wick_emit_count_along(b, count, 0, 2), (double)step);
  wick_value within = wick_emit_count_along(b, wick_dim_const(size), 1, 2);
  wick_value at = wick_build2(b, WICK_OP_add, first, within);
  n->out[0] = wick_emit_gather(b, WICK_OP_gather, n->in[0], at, axis);
}

void wick_coreml_triangular(wick_import_node *n)
{
  wick_emit e = wick_emit_begin(n->b, WICK_OP_trilu);
  wick_emit_set_int(&e, "upper", n->row->arg);
  wick_emit_set_int(&e, "k", wick_import_int(n, "k", 0));
  n->out[0] = wick_emit_end1(&e, n->in[0]);
}

/* Keeps numLower diagonals below and numUpper above the main one; a negative number keeps all. */
void wick_coreml_band(wick_import_node *n)
{
  int64_t count[2] = {wick_import_int(n, "numLower", 0), wick_import_int(n, "numUpper", 0)};
  wick_value x = n->in[0];
  for (int upper = 0; upper < 2; upper++) {
    if (count[upper] < 0) continue;
    int64_t k = count[upper] < INT32_MAX ? count[upper] : INT32_MAX;
    wick_emit e = wick_emit_begin(n->b, WICK_OP_trilu);
    wick_emit_set_int(&e, "upper", !upper);
    wick_emit_set_int(&e, "k", upper ? k : -k);
    x = wick_emit_end1(&e, x);
  }
  n->out[0] = x.id == n->in[0].id ? wick_build_again(n->b, x) : x;
}
