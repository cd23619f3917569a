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

/* Exports places: the indices of true elements in ascending order, then the last index as
 * padding. */
void wick_export_places(wick_export_op *o)
{
  wick_dims *dims = o->x->m->dims;
  wick_dim size = wick_export_info(o, 0)->dim[0];
  int64_t axis = 0;
  const char *mask = wick_export_in(o, 0), *first = wick_export_i64(o->x, 0),
             *step = wick_export_i64(o->x, 1), *end = wick_export_dim(o, size),
             *last = wick_export_dim(o, wick_dim_sub(dims, size, wick_dim_const(1))), *top[2];
  const char *location = wick_export_3(o, "Range", first, end, step);
  location = wick_export_3(o, "Where", mask, location, last);
  wick_onnx_node *n = wick_export_begin(
      o, "TopK", 2, (const char *const[]){location, wick_export_dims(o, 1, &size)});
  wick_export_set_int(o, n, "axis", axis);
  wick_export_set_int(o, n, "largest", 0);
  wick_export_end_list(o, n, 2, top);
  wick_export_result_is(o, 0, top[0]);
  const char *ones = wick_export_cast(o, mask, WICK_BOOL, WICK_I64);
  n = wick_export_begin(o, "ReduceSum", 2,
                        (const char *const[]){ones, wick_export_i64s(o->x, 1, &axis)});
  wick_export_set_int(o, n, "keepdims", 0);
  wick_export_result_is(o, 1, wick_export_end(o, n));
}
