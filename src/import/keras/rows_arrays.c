/* The functions of keras.ops that arrange elements: shapes, lists, indices, constants. */
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

static wick_dims *arrays_dims(const wick_import_node *n) { return n->c->module->dims; }

static wick_value arrays_x(wick_import_node *n)
{
  return keras_operand(n, 0, "x", (wick_value){0});
}

wick_value keras_flat(wick_import_node *n, wick_value x)
{
  wick_dim all = (wick_dim){-1};
  return keras_reshape_to(n, x, 1, &all);
}

bool keras_axis_or_flat(wick_import_node *n, wick_value *x, uint32_t *axis)
{
  *axis = 0;
  if (n->failed || n->b->status) return false;
  if (keras_attr(n, "axis", 'i').kind) return keras_axis(n, "axis", 0, keras_rank(n, *x), axis);
  *x = keras_flat(n, *x);
  return !n->b->status;
}

wick_value keras_moved(wick_import_node *n, wick_value x, uint32_t from, uint32_t to)
{
  uint32_t rank = keras_rank(n, x), k = 0;
  int64_t perm[WICK_MAX_RANK] = {0};
  for (uint32_t i = 0; i < rank; i++) {
    if (i == to) {
      perm[i] = from;
      continue;
    }
    if (k == from) k++;
    perm[i] = k++;
  }
  return from == to ? x : wick_build_transpose(n->b, x, rank, perm);
}

/* Element [begin, end) of an axis. */
static wick_value arrays_range(wick_import_node *n, wick_value x, uint32_t axis, wick_dim begin,
                               wick_dim end)
{
  return wick_emit_slice(n->b, x, axis, begin, wick_dim_sub(arrays_dims(n), end, begin));
}

/* x with leading dimensions of size 1 up to that rank. */
static wick_value arrays_at_least(wick_import_node *n, wick_value x, uint32_t rank)
{
  while (keras_rank(n, x) < rank && !n->b->status) x = wick_emit_unsqueeze(n->b, x, 0);
  return x;
}

static wick_elem arrays_type(wick_import_node *n, wick_elem otherwise)
{
  return keras_elem(wick_import_text(n, "dtype", NULL), otherwise);
}

/* ---- lists ---- */

void keras_common_all(wick_import_node *n, uint32_t count, wick_value *v)
{
  if (n->failed || n->b->status) return;
  wick_elem e = keras_elem_of(n, v[0]);
  for (uint32_t i = 1; i < count; i++) e = keras_common(e, keras_elem_of(n, v[i]));
  for (uint32_t i = 0; i < count; i++) v[i] = wick_build_cast(n->b, v[i], e);
}

static void arrays_append(wick_import_node *n)
{
  wick_value x[2] = {{0}, {0}};
  uint32_t axis = 0;
  keras_operands(n, x);
  bool flat = !keras_attr(n, "axis", 'i').kind;
  if (n->failed || (!flat && !keras_axis(n, "axis", 0, keras_rank(n, x[0]), &axis))) return;
  for (int i = 0; i < 2 && flat; i++) x[i] = keras_flat(n, x[i]);
  keras_common_all(n, 2, x);
  n->out[0] = wick_build_concat(n->b, axis, 2, x);
}

/* hstack (arg 1), vstack (arg 0), dstack (arg 2): along that axis; vectors of hstack along theirs. */
static void arrays_stack(wick_import_node *n)
{
  wick_value v[KERAS_MOST];
  uint32_t axis = (uint32_t)n->row->arg, count = keras_list(n, "xs", v);
  for (uint32_t i = 0; i < count; i++) {
    v[i] = arrays_at_least(n, v[i], axis == 1 ? 1 : 2);
    if (axis == 2 && keras_rank(n, v[i]) == 2) v[i] = wick_emit_unsqueeze(n->b, v[i], 2);
  }
  if (!count || n->b->status) return;
  keras_common_all(n, count, v);
  if (axis == 1 && keras_rank(n, v[0]) == 1) axis = 0;
  n->out[0] = wick_build_concat(n->b, axis, count, v);
}

/* Parts that may differ by one element; arg - 1 is the axis, 0: it is an attribute. */
static void arrays_split(wick_import_node *n)
{
  wick_value x = arrays_x(n);
  wick_import_attr a = keras_attr(n, "indices_or_sections", 'I');
  uint32_t axis = (uint32_t)(n->row->arg ? n->row->arg - 1 : 0), rank = keras_rank(n, x);
  if (n->failed || (!n->row->arg && !keras_axis(n, "axis", 0, rank, &axis))) return;
  if (n->row->arg == 2 && rank == 1) axis = 0; /* hsplit of a vector */
  int64_t count = a.kind == 'I' ? (int64_t)a.n + 1 : a.i;
  if ((a.kind != 'I' && a.kind != 'i') || count < 1 || count > KERAS_MOST || axis >= rank) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "1 to %d parts of an axis are expected", KERAS_MOST);
    return;
  }
  wick_dims *t = arrays_dims(n);
  wick_dim size = keras_dims(n, x)[axis], parts = wick_dim_const(count), at = wick_dim_const(0);
  wick_dim rest = wick_dim_mod(t, size, parts), each = wick_dim_floordiv(t, size, parts);
  for (int64_t i = 0; i < count; i++) {
    wick_dim end = wick_dim_mul(t, each, wick_dim_const(i + 1));
    end = wick_dim_add(t, end, wick_dim_min(t, rest, wick_dim_const(i + 1)));
    if (a.kind == 'I') {
      int64_t k = i + 1 < count ? a.ints[i] : 0;
      end = i + 1 == count ? size : wick_dim_const(k);
      if (k < 0) end = wick_dim_max(t, wick_dim_add(t, size, end), wick_dim_const(0));
      end = wick_dim_max(t, wick_dim_min(t, end, size), at);
    }
    n->out[i] = arrays_range(n, x, axis, at, end);
    at = end;
  }
}

static void arrays_unstack(wick_import_node *n)
{
  wick_value x = arrays_x(n), part[KERAS_MOST];
  uint32_t axis;
  if (n->failed || !keras_axis(n, "axis", 0, keras_rank(n, x), &axis)) return;
  wick_dim size = keras_dims(n, x)[axis];
  if (!keras_known(n, "the size of the axis", size)) return;
  if (size.v > KERAS_MOST || size.v < 1) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "1 to %d parts are expected", KERAS_MOST);
    return;
  }
  wick_array_unstack(n, x, axis, (uint32_t)size.v, part);
  for (int64_t i = 0; i < size.v; i++) n->out[i] = part[i];
}

static void arrays_meshgrid(wick_import_node *n)
{
  bool matrix = strcmp(wick_import_text(n, "indexing", "xy"), "ij") == 0;
  uint32_t count = n->nin;
  wick_dim dim[WICK_MAX_RANK];
  wick_value flat[WICK_MAX_RANK];
  if (count > WICK_MAX_RANK || count > n->nout) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a grid of %u dimensions", count);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    flat[i] = keras_flat(n, n->in[i]);
    uint32_t at = matrix || count < 2 || i > 1 ? i : 1 - i;
    dim[at] = keras_dims(n, flat[i])[0];
  }
  for (uint32_t i = 0; i < count && !n->b->status; i++) {
    uint32_t at = matrix || count < 2 || i > 1 ? i : 1 - i;
    n->out[i] = wick_emit_expand(n->b, keras_along(n, flat[i], at, count), count, dim);
  }
}

/* The choice of the first condition that holds, else the default. */
static void arrays_select(wick_import_node *n)
{
  const keras_arg *conditions = keras_argument(n, 0, "condlist");
  const keras_arg *choices = keras_argument(n, 1, "choicelist");
  const keras_arg *other = keras_argument(n, 2, "default");
  wick_value v[KERAS_MOST];
  uint32_t count = choices->n;
  if (conditions->kind != KERAS_LIST || choices->kind != KERAS_LIST || conditions->n != count ||
      !count || count >= KERAS_MOST) {
    wick_import_fail(n, WICK_EPARSE, "as many conditions as choices are expected");
    return;
  }
  for (uint32_t i = 0; i < count; i++) v[i] = keras_value(n, &choices->item[i], (wick_value){0});
  v[count] = n->failed                      ? (wick_value){0}
             : other->kind == KERAS_NOTHING ? wick_emit_number(n->b, v[0], 0)
                                            : keras_value(n, other, v[0]);
  if (n->failed) return;
  keras_common_all(n, count + 1, v);
  wick_value y = v[count];
  for (uint32_t i = count; i-- > 0 && !n->failed;) {
    wick_value c = keras_value(n, &conditions->item[i], (wick_value){0});
    y = wick_build3(n->b, WICK_OP_where, wick_build_cast(n->b, c, WICK_BOOL), v[i], y);
  }
  n->out[0] = y;
}

/* ---- order of dimensions and of elements ---- */

static void arrays_moveaxis(wick_import_node *n)
{
  wick_value x = arrays_x(n);
  uint32_t rank = keras_rank(n, x), count, other;
  int64_t from[WICK_MAX_RANK], to[WICK_MAX_RANK], perm[WICK_MAX_RANK];
  bool given[WICK_MAX_RANK] = {false};
  if (n->failed || !keras_axes(n, "source", rank, &count, from) ||
      !keras_axes(n, "destination", rank, &other, to))
    return;
  if (count != other) {
    wick_import_fail(n, WICK_ETYPE, "%u axes move to %u axes", count, other);
    return;
  }
  for (uint32_t i = 0; i < rank; i++) perm[i] = -1;
  for (uint32_t i = 0; i < count; i++) perm[to[i]] = from[i], given[from[i]] = true;
  for (uint32_t i = 0, k = 0; i < rank; i++) {
    if (perm[i] >= 0) continue;
    while (given[k]) k++;
    perm[i] = k++;
  }
  n->out[0] = wick_build_transpose(n->b, x, rank, perm);
}

/* flip; fliplr (arg 2) and flipud (arg 1) along axis arg - 1 */
static void arrays_flip(wick_import_node *n)
{
  wick_value x = arrays_x(n);
  uint32_t rank = keras_rank(n, x), count = 1, set = 0;
  int64_t axes[WICK_MAX_RANK] = {n->row->arg - 1};
  if (n->failed || (!n->row->arg && !keras_axes(n, "axis", rank, &count, axes))) return;
  if ((uint32_t)n->row->arg > rank) {
    wick_import_fail(n, WICK_ETYPE, "the rank is %u, expected at least %d", rank, n->row->arg);
    return;
  }
  for (uint32_t i = 0; i < count; i++) set |= 1u << axes[i];
  n->out[0] = wick_array_reverse(n, x, set);
}

static void arrays_rot90(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "array", (wick_value){0});
  uint32_t rank = keras_rank(n, x), count = 2;
  int64_t axes[WICK_MAX_RANK] = {0, 1}, turns = wick_import_int(n, "k", 1) & 3;
  if (n->failed || rank < 2) {
    if (!n->failed) wick_import_fail(n, WICK_ETYPE, "the rank is %u, expected at least 2", rank);
    return;
  }
  if (keras_attr(n, "axes", 'I').kind && !keras_axes(n, "axes", rank, &count, axes)) return;
  if (count != 2) {
    wick_import_fail(n, WICK_EPARSE, "two axes are expected");
    return;
  }
  if (turns == 2) {
    n->out[0] = wick_array_reverse(n, x, 1u << axes[0] | 1u << axes[1]);
    return;
  }
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) perm[i] = i;
  perm[axes[0]] = axes[1], perm[axes[1]] = axes[0];
  if (turns == 1) x = wick_array_reverse(n, x, 1u << axes[1]);
  if (turns) x = wick_build_transpose(n->b, x, rank, perm);
  if (turns == 3) x = wick_array_reverse(n, x, 1u << axes[1]);
  n->out[0] = x;
}

static wick_value arrays_rolled(wick_import_node *n, wick_value x, uint32_t axis, int64_t shift)
{
  wick_dims *t = arrays_dims(n);
  wick_dim size = keras_dims(n, x)[axis];
  if (wick_dim_is(size, 0)) return x;
  wick_dim by = wick_dim_mod(t, wick_dim_const(shift), size), rest = wick_dim_sub(t, size, by);
  wick_value part[2];
  part[0] = wick_emit_slice(n->b, x, axis, rest, by);
  part[1] = wick_emit_slice(n->b, x, axis, wick_dim_const(0), rest);
  return wick_build_concat(n->b, axis, 2, part);
}

static void arrays_roll(wick_import_node *n)
{
  wick_value x = arrays_x(n);
  wick_import_attr shift = keras_attr(n, "shift", 'I');
  uint32_t rank = keras_rank(n, x), count = 0;
  int64_t axes[WICK_MAX_RANK];
  bool flat = !keras_attr(n, "axis", 'I').kind;
  if (n->failed || (!flat && !keras_axes(n, "axis", rank, &count, axes))) return;
  if (shift.kind != 'i' && (shift.kind != 'I' || flat || shift.n != count)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a shift for each axis is expected");
    return;
  }
  wick_value y = flat ? arrays_rolled(n, keras_flat(n, x), 0, shift.i) : x;
  for (uint32_t i = 0; i < count && !n->b->status; i++)
    y = arrays_rolled(n, y, (uint32_t)axes[i], shift.kind == 'i' ? shift.i : shift.ints[i]);
  if (flat && !n->b->status) y = wick_build_reshape(n->b, y, rank, keras_dims(n, x));
  n->out[0] = y;
}

static void arrays_repeat(wick_import_node *n)
{
  wick_value x = arrays_x(n);
  wick_import_attr a = keras_attr(n, "repeats", 'I');
  uint32_t axis;
  if (!keras_axis_or_flat(n, &x, &axis)) return;
  int64_t each = a.kind == 'i' ? a.i : a.kind == 'I' && a.n == 1 ? a.ints[0] : -1;
  uint32_t rank = keras_rank(n, x);
  if (each >= 0 && rank < WICK_MAX_RANK) {
    wick_dim dim[WICK_MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) dim[i + (i > axis)] = keras_dims(n, x)[i];
    dim[axis + 1] = wick_dim_const(each);
    wick_value y = wick_emit_expand(n->b, wick_emit_unsqueeze(n->b, x, axis + 1), rank + 1, dim);
    wick_dim whole = wick_dim_mul(arrays_dims(n), dim[axis], dim[axis + 1]);
    for (uint32_t i = axis + 1; i < rank; i++) dim[i] = dim[i + 1];
    dim[axis] = whole;
    n->out[0] = wick_build_reshape(n->b, y, rank, dim);
    return;
  }
  wick_list(double) index = {0};
  for (uint32_t i = 0; a.kind == 'I' && i < a.n; i++)
    for (int64_t k = 0; k < a.ints[i] && index.n < 1u << 24; k++)
      wick_push(n->c->tmp, &index, (double)i);
  if (a.kind != 'I' || !wick_dim_is(keras_dims(n, x)[axis], a.n)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a number for each element of the axis is expected");
    return;
  }
  int64_t count = index.n;
  wick_push(n->c->tmp, &index, 0);
  wick_value at = wick_emit_table(n->b, n->name, WICK_I64, 1, &count, index.at);
  n->out[0] = wick_emit_gather(n->b, WICK_OP_gather, x, at, axis);
}

static void arrays_tile(wick_import_node *n)
{
  wick_value x = arrays_x(n);
  wick_import_attr a = keras_attr(n, "repeats", 'I');
  uint32_t count = a.kind == 'I' ? a.n : 1;
  wick_dim by[WICK_MAX_RANK];
  if (n->failed) return;
  if ((a.kind != 'I' && a.kind != 'i') || count > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "repeats are expected to be numbers");
    return;
  }
  x = arrays_at_least(n, x, count);
  uint32_t rank = keras_rank(n, x);
  for (uint32_t i = 0; i < rank; i++) {
    int64_t k = a.kind == 'i' ? a.i : i + count >= rank ? a.ints[i + count - rank] : 1;
    by[i] = wick_dim_const(a.kind == 'i' && i + 1 < rank ? 1 : k < 0 ? 0 : k);
  }
  wick_emit e = wick_emit_begin(n->b, WICK_OP_tile);
  wick_emit_set_dims(&e, "repeats", rank, by);
  n->out[0] = wick_emit_end1(&e, x);
}

static void arrays_ravel(wick_import_node *n) { n->out[0] = keras_flat(n, arrays_x(n)); }

static void arrays_broadcast_to(wick_import_node *n)
{
  wick_value x = arrays_x(n);
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank;
  if (n->failed || !keras_shape(n, "shape", &rank, dim)) return;
  for (uint32_t i = 0, own = keras_rank(n, x); i < rank; i++) /* the batch */
    if (wick_dim_is(dim[i], -1))
      dim[i] = i + own >= rank ? keras_dims(n, x)[i + own - rank] : wick_dim_const(1);
  n->out[0] = wick_emit_expand(n->b, x, rank, dim);
}

static void arrays_pad(wick_import_node *n)
{
  wick_value x = arrays_x(n), fill = {0};
  const wick_json *j = keras_config(keras_of(n)->layer, "pad_width");
  const char *mode = wick_import_text(n, "mode", "constant");
  static const char *const words[] = {"constant", "reflect", "symmetric"};
  uint32_t rank = keras_rank(n, x), word = 0;
  wick_dim before[WICK_MAX_RANK], after[WICK_MAX_RANK];
  while (word < WICK_COUNT(words) && strcmp(words[word], mode) != 0) word++;
  if (n->failed) return;
  bool good = j && word < WICK_COUNT(words);
  bool rows = good && j->kind == WICK_JSON_ARRAY && j->n && j->first->kind == WICK_JSON_ARRAY;
  for (uint32_t i = 0; i < rank && good; i++) {
    const wick_json *pair = rows ? wick_json_item(j, j->n == 1 ? 0 : i) : j;
    const wick_json *lo = pair, *hi = pair;
    if (pair && pair->kind == WICK_JSON_ARRAY)
      lo = pair->first, hi = pair->n == 1 ? lo : wick_json_item(pair, 1);
    int64_t a = 0, b = 0;
    good = lo && hi && wick_json_int(lo, &a) && wick_json_int(hi, &b) && a >= 0 && b >= 0 &&
           a <= INT32_MAX && b <= INT32_MAX;
    before[i] = wick_dim_const(a), after[i] = wick_dim_const(b);
  }
  if (!good) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "pads and the mode (%s) are not understood",
                     wick_import_shown(n->c, mode));
    return;
  }
  const keras_arg *value = keras_argument(n, 1, "constant_values");
  if (value->kind != KERAS_NOTHING)
    fill = wick_build_cast(n->b, keras_value(n, value, x), keras_elem_of(n, x));
  n->out[0] = word ? wick_array_mirror_pad(n, x, before, after, word == 2)
                   : wick_array_pad(n, x, before, after, fill);
}

/* ---- constants ---- */

static wick_value arrays_filled(wick_import_node *n, wick_value number, uint32_t rank,
                                const wick_dim *dim)
{
  return wick_emit_expand(n->b, number, rank, dim);
}

/* zeros_like, ones_like (arg 1), full_like (arg 2), imag (arg 3: zeros of x's type), isreal (arg 4) */
static void arrays_like(wick_import_node *n)
{
  wick_value x = arrays_x(n), v = {0};
  if (n->failed) return;
  wick_elem e = arrays_type(n, keras_elem_of(n, x));
  if (n->row->arg == 4) e = WICK_BOOL;
  wick_value like = wick_build_const(n->b, wick_type_tensor(n->c->module, e, 0, NULL), 0, 0);
  if (n->row->arg == 2)
    v = wick_build_cast(n->b, keras_operand(n, 1, "fill_value", like), e);
  else
    v = wick_emit_number(n->b, like, n->row->arg == 1 || n->row->arg == 4);
  if (!n->failed) n->out[0] = arrays_filled(n, v, keras_rank(n, x), keras_dims(n, x));
}

static void arrays_full(wick_import_node *n)
{
  wick_value v = keras_operand(n, 0, "fill_value", (wick_value){0});
  wick_dim dim[WICK_MAX_RANK];
  uint32_t rank;
  if (n->failed || !keras_shape(n, "shape", &rank, dim)) return;
  for (uint32_t i = 0; i < rank; i++)
    if (wick_dim_is(dim[i], -1)) {
      wick_import_fail(n, WICK_EUNSUPPORTED, "a size of the shape is open");
      return;
    }
  v = wick_build_cast(n->b, v, arrays_type(n, keras_elem_of(n, v)));
  n->out[0] = arrays_filled(n, v, rank, dim);
}

/* The rank (arg 0), or the number of elements. */
static void arrays_count(wick_import_node *n)
{
  wick_value x = arrays_x(n);
  if (n->failed) return;
  wick_dim count = n->row->arg ? wick_array_product(n, keras_rank(n, x), keras_dims(n, x))
                               : wick_dim_const(keras_rank(n, x));
  wick_value v = wick_array_sizes(n, 1, &count, WICK_I32);
  n->out[0] = wick_emit_squeeze(n->b, v, 0);
}

/* count numbers from start in steps, along a new axis. Endpoint: the last one is stop. */
static void arrays_linspace(wick_import_node *n)
{
  wick_value x[2];
  int64_t count = wick_import_int(n, "num", 50);
  bool end = keras_is_true(n, "endpoint", true);
  const keras_arg *a = keras_argument(n, 0, "start"), *b = keras_argument(n, 1, "stop");
  wick_value like = a->kind == KERAS_TENSOR   ? a->t.v
                    : b->kind == KERAS_TENSOR ? b->t.v
                                              : (wick_value){0};
  uint32_t axis;
  x[0] = keras_value(n, a, like);
  x[1] = n->failed ? x[0] : keras_value(n, b, like);
  if (n->failed) return;
  if (count < 1 || count > INT32_MAX || keras_is_true(n, "retstep", false)) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "at least one number, and no step, is expected");
    return;
  }
  wick_elem e = keras_common(keras_elem_of(n, x[0]), keras_elem_of(n, x[1]));
  e = arrays_type(n, wick_elem_is_float(e) ? e : WICK_F32);
  wick_elem compute = wick_elem_is_float(e) ? e : WICK_F32;
  for (int i = 0; i < 2; i++) x[i] = wick_build_cast(n->b, x[i], compute);
  wick_value width = wick_build2(n->b, WICK_OP_sub, x[1], x[0]);
  uint32_t rank = keras_rank(n, width);
  if (n->b->status || !keras_axis(n, "axis", 0, rank + 1, &axis)) return;
  width = wick_emit_unsqueeze(n->b, width, axis);
  if (keras_rank(n, x[0]) == rank) x[0] = wick_emit_unsqueeze(n->b, x[0], axis);
  wick_value at = wick_emit_count_along(n->b, wick_dim_const(count), axis, rank + 1);
  at = wick_build_cast(n->b, at, compute);
  double parts = (double)(count - (end && count > 1));
  at = wick_emit_by(n->b, WICK_OP_div, at, parts);
  wick_value y = wick_build2(n->b, WICK_OP_add, x[0], wick_build2(n->b, WICK_OP_mul, width, at));
  if (n->row->arg) { /* logspace */
    wick_value base = wick_emit_number(n->b, y, wick_import_real(n, "base", 10));
    y = wick_build2(n->b, WICK_OP_pow, base, y);
  }
  n->out[0] = wick_build_cast(n->b, y, e);
}

#define CODE "it holds functions of Python, which the file does not contain"
#define DYNAMIC "the size of its result depends on the elements"

const wick_import_op keras_arrays[] = {
    KERAS_ROW("Append", 1, 2, 1, arrays_append, .arg = 0),
    KERAS_ROW("ArraySplit", 1, 1, WICK_ANY, arrays_split, .arg = 0),
    KERAS_ROW("AssociativeScan", 0, WICK_ANY, WICK_ANY, NULL, .why = CODE),
    KERAS_ROW("Bincount", 0, WICK_ANY, 1, NULL, .why = DYNAMIC),
    KERAS_ROW("BroadcastTo", 1, 1, 1, arrays_broadcast_to, .arg = 0),
    KERAS_ROW("Cond", 0, WICK_ANY, WICK_ANY, NULL, .why = CODE),
    KERAS_ROW("Dsplit", 1, 1, WICK_ANY, arrays_split, .arg = 3),
    KERAS_ROW("Dstack", 1, WICK_ANY, 1, arrays_stack, .arg = 2),
    KERAS_ROW("EmptyLike", 1, 1, 1, arrays_like, .arg = 0),
    KERAS_ROW("Flip", 1, 1, 1, arrays_flip, .arg = 0),
    KERAS_ROW("Fliplr", 1, 1, 1, arrays_flip, .arg = 2),
    KERAS_ROW("Flipud", 1, 1, 1, arrays_flip, .arg = 1),
    KERAS_ROW("ForiLoop", 0, WICK_ANY, WICK_ANY, NULL, .why = CODE),
    KERAS_ROW("Full", 0, 1, 1, arrays_full, .arg = 0),
    KERAS_ROW("FullLike", 1, 2, 1, arrays_like, .arg = 2),
    KERAS_ROW("Hsplit", 1, 1, WICK_ANY, arrays_split, .arg = 2),
    KERAS_ROW("Hstack", 1, WICK_ANY, 1, arrays_stack, .arg = 1),
    KERAS_ROW("Imag", 1, 1, 1, arrays_like, .arg = 3),
    KERAS_ROW("Isreal", 1, 1, 1, arrays_like, .arg = 4),
    KERAS_ROW("Linspace", 1, 2, 1, arrays_linspace, .arg = 0),
    KERAS_ROW("Logspace", 1, 2, 1, arrays_linspace, .arg = 1),
    KERAS_ROW("Map", 0, WICK_ANY, WICK_ANY, NULL, .why = CODE),
    KERAS_ROW("Meshgrid", 1, WICK_ANY, WICK_ANY, arrays_meshgrid, .arg = 0),
    KERAS_ROW("Moveaxis", 1, 1, 1, arrays_moveaxis, .arg = 0),
    KERAS_ROW("Ndim", 1, 1, 1, arrays_count, .arg = 0),
    KERAS_ROW("Nonzero", 0, WICK_ANY, WICK_ANY, NULL, .why = DYNAMIC),
    KERAS_ROW("OnesLike", 1, 1, 1, arrays_like, .arg = 1),
    KERAS_ROW("Pad", 1, 2, 1, arrays_pad, .arg = 0),
    KERAS_ROW("Ravel", 1, 1, 1, arrays_ravel, .arg = 0),
    KERAS_ROW("Repeat", 1, 1, 1, arrays_repeat, .arg = 0),
    KERAS_ROW("Roll", 1, 1, 1, arrays_roll, .arg = 0),
    KERAS_ROW("Rot90", 1, 1, 1, arrays_rot90, .arg = 0),
    KERAS_ROW("Scan", 0, WICK_ANY, WICK_ANY, NULL, .why = CODE),
    KERAS_ROW("Select", 1, WICK_ANY, 1, arrays_select, .arg = 0),
    KERAS_ROW("Size", 1, 1, 1, arrays_count, .arg = 1),
    KERAS_ROW("Switch", 0, WICK_ANY, WICK_ANY, NULL, .why = CODE),
    KERAS_ROW("Tile", 1, 1, 1, arrays_tile, .arg = 0),
    KERAS_ROW("Unique", 0, WICK_ANY, WICK_ANY, NULL, .why = DYNAMIC),
    KERAS_ROW("Unstack", 1, 1, WICK_ANY, arrays_unstack, .arg = 0),
    KERAS_ROW("VectorizedMap", 0, WICK_ANY, WICK_ANY, NULL, .why = CODE),
    KERAS_ROW("Vsplit", 1, 1, WICK_ANY, arrays_split, .arg = 1),
    KERAS_ROW("Vstack", 1, WICK_ANY, 1, arrays_stack, .arg = 0),
    KERAS_ROW("WhileLoop", 0, WICK_ANY, WICK_ANY, NULL, .why = CODE),
    KERAS_ROW("ZerosLike", 1, 1, 1, arrays_like, .arg = 0),
    {.name = NULL},
};
