/* The functions of keras.ops for diagonals, parts at computed positions, and searches. */
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

static wick_dims *index_dims(const wick_import_node *n) { return n->c->module->dims; }

static wick_value index_x(wick_import_node *n) { return keras_operand(n, 0, "x", (wick_value){0}); }

/* ---- diagonals and triangles ---- */

/* tril (arg 0), triu (arg 1) */
static void index_triangle(wick_import_node *n)
{
  wick_value x = index_x(n);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_trilu);
  wick_emit_set_int(&e, "upper", n->row->arg);
  wick_emit_set_int(&e, "k", wick_import_int(n, "k", 0));
  if (!n->failed) n->out[0] = wick_emit_end1(&e, x);
}

/* Diagonal k of the last two dimensions, as one dimension. */
static wick_value index_diagonal_of(wick_import_node *n, wick_value x, int64_t k)
{
  wick_dims *t = index_dims(n);
  uint32_t rank = keras_rank(n, x);
  if (rank < 2) return x; /* after a failure */
  wick_dim rows = keras_dims(n, x)[rank - 2], columns = keras_dims(n, x)[rank - 1];
  wick_dim down = wick_dim_const(k < 0 ? -k : 0), right = wick_dim_const(k > 0 ? k : 0);
  wick_dim count = wick_dim_min(t, wick_dim_sub(t, rows, down), wick_dim_sub(t, columns, right));
  count = wick_dim_max(t, count, wick_dim_const(0));
  wick_dim dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i + 2 < rank; i++) dim[i] = keras_dims(n, x)[i];
  dim[rank - 2] = wick_dim_mul(t, rows, columns);
  wick_value flat = wick_build_reshape(n->b, x, rank - 1, dim);
  wick_dim first = wick_dim_add(t, wick_dim_mul(t, down, columns), right);
  wick_value at = wick_emit_count(n->b, count);
  wick_value step =
      wick_array_sizes(n, 1, (wick_dim[]){wick_dim_add(t, columns, wick_dim_const(1))}, WICK_I64);
  wick_value from = wick_array_sizes(n, 1, &first, WICK_I64);
  at = wick_build2(n->b, WICK_OP_add, from, wick_build2(n->b, WICK_OP_mul, at, step));
  return wick_emit_gather(n->b, WICK_OP_gather, flat, at, rank - 2);
}

/* A matrix with the vector x on diagonal k. */
static wick_value index_with_diagonal(wick_import_node *n, wick_value x, int64_t k)
{
  wick_dims *t = index_dims(n);
  wick_dim shift = wick_dim_const(k < 0 ? -k : k),
           size = wick_dim_add(t, keras_dims(n, x)[0], shift);
  wick_dim zero = wick_dim_const(0), before = k > 0 ? shift : zero, after = k > 0 ? zero : shift;
  wick_value row = wick_emit_count_along(n->b, size, 0, 2);
  wick_value column = wick_emit_count_along(n->b, size, 1, 2);
  wick_value by = wick_emit_by(n->b, WICK_OP_add, row, (double)k);
  wick_value on = wick_build2(n->b, WICK_OP_eq, by, column);
  x = wick_emit_unsqueeze(n->b, wick_array_pad(n, x, &before, &after, (wick_value){0}), 0);
  return wick_build3(n->b, WICK_OP_where, on, x, wick_emit_number(n->b, x, 0));
}

static bool index_offset(wick_import_node *n, const char *name, int64_t *out)
{
  *out = wick_import_int(n, name, 0);
  if (*out >= -INT32_MAX && *out <= INT32_MAX) return true;
  wick_import_fail(n, WICK_ERANGE, "the diagonal is too far away");
  return false;
}

/* diag, and diagflat (arg 1) */
static void index_diag(wick_import_node *n)
{
  wick_value x = index_x(n);
  int64_t k;
  if (n->failed || !index_offset(n, "k", &k)) return;
  if (n->row->arg) x = keras_flat(n, x);
  uint32_t rank = keras_rank(n, x);
  if (rank != 1 && rank != 2) {
    wick_import_fail(n, WICK_ETYPE, "the rank is %u, expected 1 or 2", rank);
    return;
  }
  n->out[0] = rank == 1 ? index_with_diagonal(n, x, k) : index_diagonal_of(n, x, k);
}

/* diagonal, and its sum (arg 1) */
static void index_diagonal(wick_import_node *n)
{
  wick_value x = index_x(n);
  uint32_t rank = keras_rank(n, x), a, b;
  int64_t k, perm[WICK_MAX_RANK];
  if (n->failed || !keras_axis(n, "axis1", 0, rank, &a) || !keras_axis(n, "axis2", 1, rank, &b) ||
      !index_offset(n, "offset", &k))
    return;
  if (a == b) {
    wick_import_fail(n, WICK_ETYPE, "axis1 and axis2 are equal");
    return;
  }
  for (uint32_t i = 0, to = 0; i < rank; i++)
    if (i != a && i != b) perm[to++] = i;
  perm[rank - 2] = a, perm[rank - 1] = b;
  wick_value d = index_diagonal_of(n, wick_build_transpose(n->b, x, rank, perm), k);
  if (n->row->arg) {
    if (keras_elem_of(n, d) == WICK_BOOL) d = wick_build_cast(n->b, d, WICK_I32);
    d = wick_emit_reduce1(n->b, WICK_OP_reduce_sum, d, rank - 2, false);
  }
  n->out[0] = d;
}

static void index_vander(wick_import_node *n)
{
  wick_value x = index_x(n);
  if (n->failed || keras_rank(n, x) != 1) {
    if (!n->failed) wick_import_fail(n, WICK_ETYPE, "a vector is expected");
    return;
  }
  wick_elem e = keras_elem_of(n, x);
  int64_t columns = wick_import_int(n, "N", -1);
  wick_dim count = columns < 0 ? keras_dims(n, x)[0] : wick_dim_const(columns);
  wick_value v = wick_emit_unsqueeze(n->b, keras_floating(n, x), 1);
  wick_value power = wick_emit_count_along(n->b, count, 1, 2);
  if (!keras_is_true(n, "increasing", false)) power = keras_reverse(n, power, 1);
  power = wick_build_cast(n->b, power, keras_elem_of(n, v));
  n->out[0] = wick_build_cast(n->b, wick_build2(n->b, WICK_OP_pow, v, power), e);
}

/* ---- indices ---- */

/* The part of that shape at computed indices. */
static void index_slice(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "inputs", (wick_value){0});
  wick_value start = keras_operand(n, 1, "start_indices", (wick_value){0});
  wick_import_attr shape = keras_attr(n, "shape", 'I');
  uint32_t rank = keras_rank(n, x);
  if (n->failed) return;
  if (shape.kind != 'I' || shape.n != rank) {
    wick_import_fail(n, WICK_EPARSE, "a shape of %u numbers is expected", rank);
    return;
  }
  for (uint32_t i = 0; i < rank && !n->b->status; i++) {
    wick_dim at, size = shape.ints[i] < 0 ? keras_dims(n, x)[i] : wick_dim_const(shape.ints[i]);
    if (wick_array_element_dim(n, start, i, &at)) {
      if (shape.ints[i] < 0) size = wick_dim_sub(index_dims(n), size, at);
      x = wick_emit_slice(n->b, x, i, at, size);
      continue;
    }
    wick_value from = wick_build_cast(n->b, wick_array_element(n, start, i), WICK_I64);
    wick_value index = wick_build2(n->b, WICK_OP_add, wick_emit_count(n->b, size), from);
    x = wick_emit_gather(n->b, WICK_OP_gather, x, index, i);
  }
  n->out[0] = x;
}

/* x with a part replaced; the part is moved inside, as far as it does not fit. */
static void index_slice_update(wick_import_node *n)
{
  wick_dims *t = index_dims(n);
  wick_value x = keras_operand(n, 0, "inputs", (wick_value){0});
  wick_value start = keras_operand(n, 1, "start_indices", (wick_value){0});
  wick_value y = keras_operand(n, 2, "updates", x);
  uint32_t rank = keras_rank(n, x);
  if (n->failed || keras_rank(n, y) != rank || rank + 1 > WICK_MAX_RANK) {
    if (!n->failed) wick_import_fail(n, WICK_ETYPE, "the ranks differ");
    return;
  }
  wick_dim dim[WICK_MAX_RANK];
  wick_value part[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) dim[i] = keras_dims(n, y)[i];
  dim[rank] = wick_dim_const(1);
  for (uint32_t i = 0; i < rank && !n->b->status; i++) {
    wick_dim room = wick_dim_sub(t, keras_dims(n, x)[i], dim[i]);
    wick_value from = wick_build_cast(n->b, wick_array_element(n, start, i), WICK_I64);
    wick_value most = wick_array_sizes(n, 1, &room, WICK_I64);
    from = wick_build2(n->b, WICK_OP_min, from, wick_emit_squeeze(n->b, most, 0));
    from = wick_build2(n->b, WICK_OP_max, from, wick_emit_number(n->b, from, 0));
    wick_value index = wick_emit_count_along(n->b, dim[i], i, rank + 1);
    part[i] = wick_emit_expand(n->b, wick_build2(n->b, WICK_OP_add, index, from), rank + 1, dim);
  }
  if (n->b->status) return;
  wick_value index = rank ? wick_build_concat(n->b, rank, rank, part) : (wick_value){0};
  y = wick_build_cast(n->b, y, keras_elem_of(n, x));
  n->out[0] = rank ? wick_build3(n->b, WICK_OP_scatter_nd, x, index, y) : y;
}

/* scatter: into zeros of a shape; scatter_update (arg 1): into x */
static void index_scatter(wick_import_node *n)
{
  static const char *const words[] = {"none", "add", "mul", "max", "min"};
  const char *how = wick_import_text(n, "reduction", n->row->arg ? "none" : "add");
  uint32_t at = (uint32_t)n->row->arg, rank, word = 0;
  wick_value x = {0}, index = keras_operand(n, at, "indices", (wick_value){0});
  if (at) x = keras_operand(n, 0, "inputs", (wick_value){0});
  wick_value y = keras_operand(n, at + 1, at ? "updates" : "values", x);
  wick_dim dim[WICK_MAX_RANK];
  while (word < WICK_COUNT(words) && strcmp(words[word], how) != 0) word++;
  if (n->failed || (!at && !keras_shape(n, "shape", &rank, dim))) return;
  if (word == WICK_COUNT(words)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the reduction %s is not known",
                     wick_import_shown(n->c, how));
    return;
  }
  if (!at) x = wick_emit_expand(n->b, wick_emit_number(n->b, y, 0), rank, dim);
  wick_emit e = wick_emit_begin(n->b, WICK_OP_scatter_nd);
  wick_emit_set_int(&e, "reduction", word);
  index = wick_build_cast(n->b, index, WICK_I64);
  y = wick_build_cast(n->b, y, keras_elem_of(n, x));
  n->out[0] = wick_emit_end(&e, 3, (wick_value[]){x, index, y});
}

/* The coordinates of flat indices in a shape: one result for each dimension. */
static void index_unravel(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "indices", (wick_value){0});
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank;
  if (n->failed || !keras_shape(n, "shape", &rank, dim)) return;
  for (uint32_t i = rank; i-- > 0 && !n->b->status;) {
    if (dim[i].v < 1) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "the sizes are expected to be positive");
      return;
    }
    wick_value size = wick_emit_number(n->b, x, (double)dim[i].v);
    n->out[i] = wick_build2(n->b, WICK_OP_mod, x, size);
    wick_value whole = wick_build2(n->b, WICK_OP_sub, x, n->out[i]);
    x = wick_build2(n->b, WICK_OP_div, whole, size);
  }
}

/* The position of each value in an ascending vector. */
static wick_value index_searched(wick_import_node *n, wick_value list, wick_value x, bool right)
{
  uint32_t rank = keras_rank(n, x);
  wick_value value = wick_emit_unsqueeze(n->b, x, rank);
  wick_value before = wick_build2(n->b, right ? WICK_OP_le : WICK_OP_lt, list, value);
  before = wick_build_cast(n->b, before, WICK_I32);
  return wick_emit_reduce1(n->b, WICK_OP_reduce_sum, before, rank, false);
}

static void index_search_sorted(wick_import_node *n)
{
  wick_value list = keras_operand(n, 0, "sorted_sequence", (wick_value){0});
  wick_value x = keras_operand(n, 1, "values", list), both[2] = {list, x};
  if (n->failed) return;
  keras_common_all(n, 2, both);
  bool right = strcmp(wick_import_text(n, "side", "left"), "right") == 0;
  n->out[0] = index_searched(n, both[0], both[1], right);
}

static void index_digitize(wick_import_node *n)
{
  wick_value x = index_x(n), bins = keras_operand(n, 1, "bins", (wick_value){0});
  if (n->failed) return;
  x = keras_floating(n, x);
  n->out[0] = index_searched(n, wick_build_cast(n->b, bins, keras_elem_of(n, x)), x, true);
}

static void index_is_in(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (n->failed) return;
  keras_common_all(n, 2, x);
  uint32_t rank = keras_rank(n, x[0]);
  wick_value each = wick_emit_unsqueeze(n->b, x[0], rank), list = keras_flat(n, x[1]);
  wick_value eq = wick_build_cast(n->b, wick_build2(n->b, WICK_OP_eq, each, list), WICK_I32);
  wick_value any = wick_emit_reduce1(n->b, WICK_OP_reduce_max, eq, rank, false);
  wick_value wanted = wick_emit_number(n->b, any, !keras_is_true(n, "invert", false));
  n->out[0] = wick_build2(n->b, WICK_OP_eq, any, wanted);
}

/* The bits of x as elements of another type of the same size. */
static void index_view(wick_import_node *n)
{
  wick_value x = index_x(n);
  if (n->failed) return;
  wick_elem from = keras_elem_of(n, x), to = keras_elem(wick_import_text(n, "dtype", NULL), from);
  if (wick_elem_storage[from].bits != wick_elem_storage[to].bits) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a view with elements of another size");
    return;
  }
  n->out[0] = from == to ? x : wick_emit_bits(n->b, x, to);
}

/* Whether the sign's bit is set: for -0, too. */
static void index_sign_bit(wick_import_node *n)
{
  wick_value x = index_x(n);
  if (n->failed) return;
  if (wick_elem_is_float(keras_elem_of(n, x)))
    x = wick_emit_bits(n->b, wick_build_cast(n->b, x, WICK_F32), WICK_I32);
  if (keras_elem_of(n, x) == WICK_BOOL) x = wick_build_cast(n->b, x, WICK_I32);
  n->out[0] = wick_build2(n->b, WICK_OP_lt, x, wick_emit_number(n->b, x, 0));
}

/* The neighbour of a float in f64: in narrower types x itself, unless one operand is NaN. */
static void index_next_after(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (n->failed) return;
  for (int i = 0; i < 2; i++) x[i] = keras_floating(n, x[i]);
  keras_common_all(n, 2, x);
  if (keras_elem_of(n, x[0]) == WICK_F64) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "neighbours of f64 are not supported");
    return;
  }
  wick_value nan = wick_build1(n->b, WICK_OP_isnan, x[1]);
  n->out[0] = wick_build3(n->b, WICK_OP_where, nan, x[1], x[0]);
}

static void index_arctan2(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (n->failed) return;
  for (int i = 0; i < 2; i++) x[i] = keras_floating(n, x[i]);
  keras_common_all(n, 2, x);
  n->out[0] = wick_emit_atan2(n->b, x[0], x[1]);
}

const wick_import_op keras_indices[] = {
    KERAS_ROW("Arctan2", 1, 2, 1, index_arctan2, .arg = 0),
    KERAS_ROW("Diag", 1, 1, 1, index_diag, .arg = 0),
    KERAS_ROW("Diagflat", 1, 1, 1, index_diag, .arg = 1),
    KERAS_ROW("Diagonal", 1, 1, 1, index_diagonal, .arg = 0),
    KERAS_ROW("Digitize", 1, 2, 1, index_digitize, .arg = 0),
    KERAS_ROW("IsIn", 1, 2, 1, index_is_in, .arg = 0),
    KERAS_ROW("Nextafter", 1, 2, 1, index_next_after, .arg = 0),
    KERAS_ROW("Scatter", 1, 2, 1, index_scatter, .arg = 0),
    KERAS_ROW("ScatterUpdate", 1, 3, 1, index_scatter, .arg = 1),
    KERAS_ROW("SearchSorted", 1, 2, 1, index_search_sorted, .arg = 0),
    KERAS_ROW("Signbit", 1, 1, 1, index_sign_bit, .arg = 0),
    KERAS_ROW("Slice", 1, 2, 1, index_slice, .arg = 0),
    KERAS_ROW("SliceUpdate", 1, 3, 1, index_slice_update, .arg = 0),
    KERAS_ROW("Trace", 1, 1, 1, index_diagonal, .arg = 1),
    KERAS_ROW("Tril", 1, 1, 1, index_triangle, .arg = 0),
    KERAS_ROW("Triu", 1, 1, 1, index_triangle, .arg = 1),
    KERAS_ROW("UnravelIndex", 1, 1, WICK_ANY, index_unravel, .arg = 0),
    KERAS_ROW("Vander", 1, 1, 1, index_vander, .arg = 0),
    KERAS_ROW("View", 1, 1, 1, index_view, .arg = 0),
    {.name = NULL},
};
