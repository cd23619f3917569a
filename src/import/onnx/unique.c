/* Imports Unique: sorts the rows, so that equal rows are neighbours, and takes the first row of
 * each group. The sort is stable, by one column after another from the last to the first. */
#include "import/onnx/import.h"
#include "ir/element.h"

enum { UNIQUE_MOST = 1 << 28 };

typedef struct unique_rows {
  wick_value key; /* [n, m], of a type that has an order */
  int64_t n, m;
  bool nan; /* NaN may occur; they are equal and above all numbers */
} unique_rows;

static wick_value unique_number(wick_onnx_op *o, int64_t i)
{
  return wick_build_const(o->b, wick_type_tensor(o->c->module, WICK_I64, 0, NULL), 0, i);
}

static wick_value unique_at(wick_onnx_op *o, wick_value x, wick_value index)
{
  return wick_emit_gather(o->b, WICK_OP_gather, x, index, 0);
}

static wick_value unique_flat(wick_onnx_op *o, wick_value x, int64_t n)
{
  wick_dim d = wick_dim_const(n);
  return wick_build_reshape(o->b, x, 1, &d);
}

/* Writes the elements of x to the positions `position` [n], which are a permutation. */
static wick_value unique_put(wick_onnx_op *o, wick_value position, wick_value x)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_scatter_elements);
  wick_emit_set_int(&e, "axis", 0);
  wick_value in[3] = {wick_emit_by(o->b, WICK_OP_mul, x, 0), position, x};
  return wick_emit_end(&e, 3, in);
}

static wick_value unique_is_nan(wick_onnx_op *o, wick_value x)
{
  return wick_build2(o->b, WICK_OP_ne, x, x);
}

/* Returns where rows x and y differ: [k, m]. */
static wick_value unique_differ(wick_onnx_op *o, const unique_rows *u, wick_value x, wick_value y)
{
  wick_builder *b = o->b;
  wick_value ne = wick_build2(b, WICK_OP_ne, x, y);
  if (!u->nan) return ne;
  wick_value of_x = unique_is_nan(o, x), of_y = unique_is_nan(o, y);
  wick_value both = wick_build2(b, WICK_OP_and, of_x, of_y);
  return wick_build2(b, WICK_OP_and, ne, wick_build1(b, WICK_OP_not, both));
}

/* Returns whether any element of a row [k, m] is true: [k]. */
static wick_value unique_any(wick_onnx_op *o, wick_value x)
{
  if (o->b->status || !x.id) return x;
  const wick_type_info *t = wick_built_info(o->b, x);
  if (wick_dim_eq(t->dim[1], wick_dim_const(1))) return wick_emit_squeeze(o->b, x, 1);
  x = wick_emit_reduce1(o->b, WICK_OP_reduce_max, wick_build_cast(o->b, x, WICK_I32), 1, false);
  return wick_emit_by(o->b, WICK_OP_gt, x, 0);
}

/* Returns the indices that sort x [n], stably: i64 [n]. */
static wick_value unique_sorted(wick_onnx_op *o, wick_value x, int64_t n)
{
  wick_dim all = wick_dim_const(n);
  wick_emit e = wick_emit_begin(o->b, WICK_OP_top_k);
  wick_emit_set_int(&e, "axis", 0);
  wick_emit_set_int(&e, "least", 1);
  wick_emit_set_dims(&e, "k", 1, &all);
  return (wick_value){wick_emit_end1(&e, x).id + 1};
}

/* Returns the indices that sort the rows, stably: i64 [n]. */
static wick_value unique_order(wick_onnx_op *o, const unique_rows *u)
{
  wick_builder *b = o->b;
  static const int64_t turned[2] = {1, 0};
  if (u->m == 1) return unique_sorted(o, unique_flat(o, u->key, u->n), u->n);
  wick_value columns = wick_build_transpose(o->b, u->key, 2, turned),
             order = wick_emit_count(o->b, wick_dim_const(u->n)), y[2];
  if (b->status) return order;
  wick_type type[2] = {wick_type_tensor(o->c->module, WICK_I64, 0, NULL),
                       wick_built_type(b, order)};
  wick_value in[2] = {unique_number(o, u->m), order}, last = unique_number(o, u->m - 1);
  wick_attr a[] = {[WICK_ATTR_loop_stacked] = {.i = 0}, [WICK_ATTR_loop_most] = {.n = 0}};
  wick_build_open(b, WICK_OP_loop, 2, in, a, 0, NULL);
  wick_value i = wick_region_begin(b, 2, type), own = {i.id + 1};
  wick_value column = unique_at(o, columns, wick_build2(b, WICK_OP_sub, last, i));
  y[0] = wick_build_const(b, wick_type_tensor(o->c->module, WICK_BOOL, 0, NULL), 0, 1);
  y[1] = unique_at(o, own, unique_sorted(o, unique_at(o, column, own), u->n));
  wick_yield(b, 2, y);
  return wick_build_close(b);
}

/* Reads x as rows along `axis`, or as single elements if it is NULL. Returns false after it
 * added a failure. */
static bool unique_begin(wick_onnx_op *o, const uint32_t *axis, unique_rows *u)
{
  const wick_type_info t = *wick_onnx_info(o, 0);
  int64_t perm[WICK_MAX_RANK], dim[WICK_MAX_RANK];
  wick_dim all = wick_type_numel(o->c->module, wick_built_type(o->b, o->in[0]));
  if (!wick_type_const_dims(&t, dim)) return wick_onnx_must_be_known(o, "its input's size", all);
  if (all.v > UNIQUE_MOST) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "its input has %lld elements, at most %d are possible",
                   (long long)all.v, UNIQUE_MOST);
    return false;
  }
  if (!wick_elem_is_float(t.elem) && !wick_elem_is_int(t.elem) && t.elem != WICK_BOOL) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "elements of %s have no order", wick_elem_name(t.elem));
    return false;
  }
  u->n = axis ? dim[*axis] : all.v;
  u->m = u->n ? all.v / u->n : 1;
  u->nan = wick_elem_is_float(t.elem);
  u->key = o->in[0];
  if (u->n && !u->m) {
    wick_onnx_fail(o, WICK_EUNSUPPORTED, "its rows have no elements");
    return false;
  }
  for (uint32_t k = 0; k < t.rank && axis; k++)
    perm[k] = !k ? *axis : k <= *axis ? k - 1 : (int64_t)k;
  if (axis && *axis) u->key = wick_build_transpose(o->b, u->key, t.rank, perm);
  wick_dim row[2] = {wick_dim_const(u->n), wick_dim_const(u->m)};
  u->key = wick_build_reshape(o->b, u->key, 2, row);
  if (t.elem == WICK_BOOL)
    u->key = wick_build_cast(o->b, u->key, WICK_I32);
  else if (u->nan && t.elem != WICK_F64)
    u->key = wick_build_cast(o->b, u->key, WICK_F32);
  return true;
}

/* Groups of equal rows, in rising order. */
typedef struct unique_groups {
  /* [n] each; order: the rows, sorted; number: per sorted row, its group; begin, size: per
   * group, in sorted rows */
  wick_value order, number, begin, size;
  wick_value count;
} unique_groups;

static unique_groups unique_find(wick_onnx_op *o, const unique_rows *u)
{
  wick_builder *b = o->b;
  int64_t n = u->n;
  wick_dim size;
  unique_groups g = {.order = unique_order(o, u)};
  wick_value position = wick_emit_count(o->b, wick_dim_const(n)),
             rows = unique_at(o, u->key, g.order);
  wick_value first = wick_emit_by(o->b, WICK_OP_eq, position, 0);
  wick_value left = wick_build2(b, WICK_OP_max, wick_emit_by(o->b, WICK_OP_sub, position, 1),
                                unique_number(o, 0));
  wick_value differ = unique_differ(o, u, rows, unique_at(o, rows, left));
  wick_value begins = wick_build2(b, WICK_OP_or, first, unique_any(o, differ));
  if (b->status) return g;
  wick_value sums = wick_onnx_sums(o, wick_build_cast(b, begins, WICK_I64));
  g.number = wick_emit_by(o->b, WICK_OP_sub, sums, 1);
  g.begin = wick_onnx_places(o, begins, wick_dim_const(n), &size, &g.count);
  if (!g.count.id) g.count = unique_number(o, size.v);
  wick_value next = wick_emit_by(o->b, WICK_OP_add, wick_emit_count(o->b, size), 1);
  wick_value more = wick_build2(b, WICK_OP_lt, next, g.count);
  wick_value at = wick_build2(b, WICK_OP_min, next, unique_number(o, size.v - 1));
  wick_value end =
      wick_build3(b, WICK_OP_where, more, unique_at(o, g.begin, at), unique_number(o, n));
  g.size = wick_build2(b, WICK_OP_sub, end, g.begin);
  return g;
}

/* out: the first row of each group; for each row, its group; the sizes of groups. */
static void unique_rising(wick_onnx_op *o, const unique_groups *g, wick_value *out)
{
  out[0] = unique_at(o, g->order, g->begin);
  out[1] = unique_put(o, g->order, g->number);
  out[2] = g->size;
}

/* The same with the groups in the order of their first rows. */
static void unique_as_met(wick_onnx_op *o, const unique_rows *u, const unique_groups *g,
                          wick_value *out)
{
  wick_builder *b = o->b;
  wick_dim size;
  wick_value count;
  /* per sorted row: the beginning of its group */
  wick_value begin = unique_at(o, g->begin, g->number);
  wick_value own = unique_at(o, g->order, begin);
  wick_value new = wick_build2(b, WICK_OP_eq, own, g->order);
  wick_value met = unique_put(o, g->order, wick_build_cast(b, new, WICK_I64));
  wick_value number = wick_emit_by(o->b, WICK_OP_sub, wick_onnx_sums(o, met), 1);
  if (b->status) return;
  out[0] = wick_onnx_places(o, wick_emit_by(o->b, WICK_OP_ne, met, 0), wick_dim_const(u->n), &size,
                            &count);
  out[1] = unique_put(o, g->order, unique_at(o, number, own));
  out[2] = unique_at(o, unique_put(o, g->order, unique_at(o, g->size, g->number)), out[0]);
}

/* row->arg: com.microsoft's, which keeps the order and does not return positions. */
static void unique_import(wick_onnx_op *o)
{
  unique_rows u = {0};
  uint32_t axis = 0;
  bool along = wick_onnx_attr_find(o, "axis") != NULL;
  if (along && !wick_onnx_axis(o, wick_onnx_int(o, "axis", 0), wick_onnx_info(o, 0)->rank, &axis))
    return;
  if (!unique_begin(o, along ? &axis : NULL, &u) || o->b->status) return;
  wick_value x = along ? o->in[0] : unique_flat(o, o->in[0], u.n), result[3];
  if (!u.n) {
    int64_t none = 0;
    o->out[0] = x;
    for (uint32_t k = 1; k < o->nout; k++) o->out[k] = wick_onnx_table(o, WICK_I64, 1, &none, NULL);
    return;
  }
  unique_groups g = unique_find(o, &u);
  if (o->b->status) return;
  if (!o->row->arg && wick_onnx_int(o, "sorted", 1))
    unique_rising(o, &g, result);
  else
    unique_as_met(o, &u, &g, result);
  if (o->b->status) return;
  o->out[0] =
      wick_onnx_bound(o, wick_emit_gather(o->b, WICK_OP_gather, x, result[0], axis), axis, g.count);
  for (uint32_t k = 1, at = o->row->arg ? 1 : 0; k < o->nout; k++, at++)
    o->out[k] = at == 1 ? result[at] : wick_onnx_bound(o, result[at], 0, g.count);
}

const wick_onnx_row wick_onnx_unique_rows[] = {
    {"Unique", 11, {1, 1}, 4, "axis:i sorted:i", unique_import, 0, 0},
    {"com.microsoft.Unique", 1, {1, 1}, 3, "", unique_import, 0, 1},
    {0},
};
