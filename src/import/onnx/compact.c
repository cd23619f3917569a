/* Imports operators whose result size depends on data. The result has the upper bound as its size,
 * and the number of valid elements is a second value. If the result is an output of the model, that
 * number is an output, too (NAME.size.AXIS). */
#include <math.h>

#include "import/onnx/import.h"
#include "ir/element.h"
#include "ops/ref.h"

enum { COMPACT_MOST = 1 << 28 };

wick_value wick_onnx_bound(wick_onnx_op *o, wick_value v, uint32_t axis, wick_value count)
{
  int64_t known;
  if (!v.id || o->b->status) return v;
  if (wick_onnx_known_int(o->c, count, &known))
    return wick_emit_slice(o->b, v, axis, wick_dim_const(0), wick_dim_const(known));
  wick_push(o->c->tmp, &o->c->bounded, (wick_onnx_bounded){v, axis, count});
  return v;
}

const wick_onnx_bounded *wick_onnx_bounded_find(const wick_onnx_context *c, wick_value v)
{
  for (uint32_t i = 0; i < c->bounded.n; i++)
    if (c->bounded.at[i].v.id == v.id) return &c->bounded.at[i];
  return NULL;
}

bool wick_onnx_whole(wick_onnx_op *o, wick_value v, const char *what)
{
  const wick_onnx_bounded *d = wick_onnx_bounded_find(o->c, v);
  if (!d) return true;
  wick_onnx_fail(o, WICK_EUNSUPPORTED, "the size of %s depends on data", what);
  wick_onnx_want(o, v);
  return false;
}

static wick_value compact_number(wick_onnx_op *o, int64_t i)
{
  return wick_build_const(o->b, wick_type_tensor(o->c->module, WICK_I64, 0, NULL), 0, i);
}

wick_value wick_onnx_size(wick_onnx_op *o, wick_dim d)
{
  return wick_dim_is_const(d) ? compact_number(o, d.v)
                              : wick_build1(o->b, WICK_OP_size, wick_emit_count(o->b, d));
}

static int64_t compact_most(const wick_onnx_op *o, wick_dim d)
{
  int64_t lo, hi;
  wick_dim_range(o->c->module->dims, d, &lo, &hi);
  return hi;
}

static wick_value compact_flat(wick_onnx_op *o, wick_value x, wick_dim n)
{
  return wick_build_reshape(o->b, x, 1, &n);
}

wick_value wick_onnx_sums(wick_onnx_op *o, wick_value x)
{
  wick_emit e = wick_emit_begin(o->b, WICK_OP_cumsum);
  wick_emit_set_int(&e, "axis", 0);
  return wick_emit_end1(&e, x);
}

/* If a mask is known, returns the number of its true elements and a constant of their indices.
 * Returns false if it is not known. */
static bool compact_known(wick_onnx_op *o, wick_value mask, wick_value *positions, int64_t *count)
{
  wick_tensor t;
  if (!wick_onnx_known(o->c, mask, &t)) return false;
  int64_t n = (int64_t)wick_ref_numel(&t);
  double *at = wick_new(o->c->tmp, double, (size_t)n + 1);
  *count = 0;
  for (int64_t i = 0; i < n; i++)
    if (wick_load_int(t.elem, t.data, (uint64_t)i)) at[(*count)++] = (double)i;
  *positions = wick_onnx_table(o, WICK_I64, 1, count, at);
  return true;
}

wick_value wick_onnx_places(wick_onnx_op *o, wick_value mask, wick_dim n, wick_dim *size,
                            wick_value *count)
{
  wick_value positions = {0};
  int64_t known;
  *count = (wick_value){0};
  *size = n;
  if (o->b->status) return positions;
  if (compact_known(o, mask, &positions, &known)) {
    *size = wick_dim_const(known);
    return positions;
  }
  if (wick_dim_is(n, 0)) return wick_emit_count(o->b, n);
  positions = wick_build1(o->b, WICK_OP_nonzero, mask);
  *count = (wick_value){positions.id + 1};
  return positions;
}

static bool compact_numel(wick_onnx_op *o, wick_value x, wick_dim *out)
{
  *out = wick_type_numel(o->c->module, wick_built_type(o->b, x));
  if (compact_most(o, *out) <= COMPACT_MOST) {
    if (!wick_dim_is_const(*out))
      wick_onnx_equal(o, wick_dim_min(o->c->module->dims, *out, wick_dim_const(1)),
                      wick_dim_const(1));
    return true;
  }
  wick_onnx_fail(o, WICK_EUNSUPPORTED,
                 "its input has up to %lld elements, but at most %d are supported; limit the "
                 "dynamic sizes by ranges",
                 (long long)compact_most(o, *out), COMPACT_MOST);
  return false;
}

/* ---- NonZero ---- */

/* Divides x by a size; `op` selects the quotient or the remainder. */
static wick_value compact_by(wick_onnx_op *o, wick_opcode op, wick_value x, wick_dim by)
{
  return wick_dim_is_const(by) ? wick_emit_by(o->b, op, x, (double)by.v)
                               : wick_build2(o->b, op, x, wick_onnx_size(o, by));
}

/* Builds the indices of known positions in a tensor with those dimensions, [rank, positions]. */
static wick_value compact_unravel(wick_onnx_op *o, wick_value position, uint32_t rank,
                                  const wick_dim *dim)
{
  wick_dim stride = wick_dim_const(1);
  wick_value row[WICK_MAX_RANK];
  for (uint32_t k = rank; k-- > 0;) {
    row[k] = wick_dim_is(stride, 1) ? position : compact_by(o, WICK_OP_div, position, stride);
    if (k) row[k] = compact_by(o, WICK_OP_mod, row[k], dim[k]);
    row[k] = wick_emit_unsqueeze(o->b, row[k], 0);
    stride = wick_dim_mul(o->c->module->dims, stride, dim[k]);
  }
  return wick_build_concat(o->b, 0, rank, row);
}

static void compact_non_zero(wick_onnx_op *o)
{
  const wick_type_info t = *wick_onnx_info(o, 0);
  const wick_dim one = wick_dim_const(1), *dim = t.rank ? t.dim : &one;
  wick_dim n;
  uint32_t rank = t.rank ? t.rank : 1;
  int64_t known;
  if (!compact_numel(o, o->in[0], &n)) return;
  if (wick_dim_is(n, 0)) {
    int64_t none[2] = {rank, 0};
    o->out[0] = wick_onnx_table(o, WICK_I64, 2, none, NULL);
    return;
  }
  wick_value x = wick_build_reshape(o->b, o->in[0], rank, dim), position;
  if (t.elem != WICK_BOOL) x = wick_emit_by(o->b, WICK_OP_ne, x, 0);
  if (compact_known(o, x, &position, &known)) {
    o->out[0] = compact_unravel(o, position, rank, dim);
    return;
  }
  wick_value found = wick_build1(o->b, WICK_OP_nonzero, x);
  o->out[0] = rank > 1 ? found : wick_emit_unsqueeze(o->b, found, 0);
  o->out[0] = wick_onnx_bound(o, o->out[0], 1, (wick_value){found.id + 1});
}

/* ---- Compress ---- */

static void compact_compress(wick_onnx_op *o)
{
  const wick_type_info *c = wick_onnx_info(o, 1);
  bool flat = !wick_onnx_attr_find(o, "axis");
  uint32_t axis = 0;
  wick_dim n, size;
  wick_value x = o->in[0], count;
  if (!compact_numel(o, x, &n)) return;
  if (flat)
    x = compact_flat(o, x, n);
  else if (!wick_onnx_axis(o, wick_onnx_int(o, "axis", 0), wick_onnx_info(o, 0)->rank, &axis))
    return;
  if (o->b->status) return;
  wick_dim extent = wick_built_info(o->b, x)->dim[axis], rows = c->rank ? c->dim[0] : extent;
  bool known = wick_dim_is_const(rows) && wick_dim_is_const(extent);
  if (c->elem != WICK_BOOL || c->rank != 1 || wick_dim_is(rows, 0) ||
      compact_most(o, rows) > COMPACT_MOST || (known && rows.v > extent.v)) {
    wick_onnx_fail(o, WICK_ETYPE, "the condition is not a vector of at most %lld bools",
                   (long long)compact_most(o, extent));
    return;
  }
  wick_value position = wick_onnx_places(o, o->in[1], rows, &size, &count);
  o->out[0] = wick_emit_gather(o->b, WICK_OP_gather, x, position, axis);
  if (count.id) o->out[0] = wick_onnx_bound(o, o->out[0], axis, count);
}

const wick_onnx_row wick_onnx_compact_rows[] = {
    {"Compress", 9, {2, 2}, 1, "axis:i", compact_compress, 0, 0},
    {"NonZero", 9, {1, 1}, 1, "", compact_non_zero, 0, 0},
    {0},
};
