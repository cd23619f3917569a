/* Exports take (one index along an axis), search in a sorted list, and places (the indices of true
 * elements). */
#include "export/write.h"

/* Exports take. The index counts from the end of the axis if the operator does so. */
void wick_export_take_row(wick_export_op *o)
{
  int64_t axis = wick_export_attr(o, "axis")->i;
  wick_dim last = wick_dim_sub(o->x->m->dims, wick_export_info(o, 0)->dim[axis], wick_dim_const(1));
  const char *most = wick_export_dim(o, last), *at = wick_export_in(o, 1);
  if (wick_export_attr(o, "reverse")->i) at = wick_export_2(o, "Sub", most, at);
  at = wick_export_3(o, "Clip", at, wick_export_i64(o->x, 0), most);
  wick_onnx_node *n =
      wick_export_begin(o, "Gather", 2, (const char *const[]){wick_export_in(o, 0), at});
  wick_export_set_int(o, n, "axis", axis);
  wick_export_end_results(o, n, 1);
}

/* Exports search: counts the elements of the list that are less than each x. */
void wick_export_search(wick_export_op *o)
{
  if (wick_export_info(o, 0)->elem == WICK_STRING) {
    wick_export_fail(o, "ONNX has no order of strings");
    return;
  }
  int64_t axis = -1;
  const char *x = wick_export_unsqueeze(o, wick_export_in(o, 0), axis),
             *less = wick_export_2(o, "Less", wick_export_in(o, 1), x);
  less = wick_export_cast(o, less, WICK_BOOL, WICK_I64);
  wick_onnx_node *n = wick_export_begin(
      o, "ReduceSum", 2, (const char *const[]){less, wick_export_i64s(o->x, 1, &axis)});
  wick_export_set_int(o, n, "keepdims", 0);
  const char *y = wick_export_end(o, n);
  wick_export_result_is(o, 0, wick_export_cast(o, y, WICK_I64, wick_export_out_info(o, 0)->elem));
}

/* Exports the indices of positions in x, [rank, positions]. */
static const char *places_unravel(wick_export_op *o, const wick_type_info *x, const char *position)
{
  wick_dims *dims = o->x->m->dims;
  wick_dim stride = wick_dim_const(1);
  const char *row[WICK_MAX_RANK];
  for (uint32_t k = x->rank; k-- > 0;) {
    const char *by = wick_export_dim(o, stride), *extent = wick_export_dim(o, x->dim[k]);
    row[k] = wick_export_2(o, "Mod", wick_export_2(o, "Div", position, by), extent);
    row[k] = wick_export_unsqueeze(o, row[k], 0);
    stride = wick_dim_mul(dims, stride, x->dim[k]);
  }
  return wick_export_concat(o, 0, x->rank, row);
}

/* Exports places: the indices of true elements in ascending order, then the last index as
 * padding. */
void wick_export_places(wick_export_op *o)
{
  wick_dims *dims = o->x->m->dims;
  const wick_type_info *x = wick_export_info(o, 0);
  wick_dim size = wick_type_numel(o->x->m, wick_type_of(o->x->f, o->n->in[0]));
  int64_t axis = 0;
  const char *mask = wick_export_in(o, 0), *first = wick_export_i64(o->x, 0),
             *step = wick_export_i64(o->x, 1), *end = wick_export_dim(o, size),
             *last = wick_export_dim(o, wick_dim_sub(dims, size, wick_dim_const(1))), *top[2];
  if (x->rank > 1) mask = wick_export_reshape(o, mask, 1, &size);
  const char *location = wick_export_3(o, "Range", first, end, step);
  location = wick_export_3(o, "Where", mask, location, last);
  wick_onnx_node *n = wick_export_begin(
      o, "TopK", 2, (const char *const[]){location, wick_export_dims(o, 1, &size)});
  wick_export_set_int(o, n, "axis", axis);
  wick_export_set_int(o, n, "largest", 0);
  wick_export_end_list(o, n, 2, top);
  wick_export_result_is(o, 0, x->rank > 1 ? places_unravel(o, x, top[0]) : top[0]);
  const char *ones = wick_export_cast(o, mask, WICK_BOOL, WICK_I64);
  n = wick_export_begin(o, "ReduceSum", 2,
                        (const char *const[]){ones, wick_export_i64s(o->x, 1, &axis)});
  wick_export_set_int(o, n, "keepdims", 0);
  wick_export_result_is(o, 1, wick_export_end(o, n));
}
