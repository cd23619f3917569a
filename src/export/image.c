/* Exports operators on images: regions of interest, col2im, and sampling at a grid. */
#include "export/write.h"

void wick_export_col2im(wick_export_op *o)
{
  const wick_attr *image = wick_export_attr(o, "image"), *kernel = wick_export_attr(o, "kernel");
  const char *in[] = {wick_export_in(o, 0), wick_export_dims(o, image->n, image->dims),
                      wick_export_i64s(o->x, kernel->n, kernel->ints)};
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, 3, in);
  wick_export_set_attrs(o, n, o->row->attrs);
  wick_export_end_results(o, n, 1);
}

void wick_export_roi_align(wick_export_op *o)
{
  const wick_attr *shape = wick_export_attr(o, "shape");
  const char *in[] = {wick_export_in(o, 0), wick_export_in(o, 1), wick_export_in(o, 2)};
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, 3, in);
  wick_export_set_attrs(o, n, o->row->attrs);
  wick_export_set_int(o, n, "output_height", shape->ints[0]);
  wick_export_set_int(o, n, "output_width", shape->ints[1]);
  wick_export_set_word(o, n, "mode", wick_export_attr(o, "mode")->i ? "max" : "avg");
  wick_export_set_word(o, n, "coordinate_transformation_mode",
                       wick_export_attr(o, "half")->i ? "half_pixel" : "output_half_pixel");
  wick_export_end_results(o, n, 1);
}

/* ONNX has no positions in units of elements: i becomes (2 i + 1) / size - 1, which ONNX's operator
 * converts back. */
void wick_export_grid_sample(wick_export_op *o)
{
  const wick_type_info *x = wick_export_info(o, 0);
  uint32_t rank = x->rank - 2u;
  const char *in[] = {wick_export_in(o, 0), wick_export_in(o, 1)};
  bool elements = wick_export_attr(o, "elements")->i;
  if (elements) {
    wick_dim size[WICK_MAX_RANK]; /* reversed: the last axis's coordinate comes first */
    for (uint32_t k = 0; k < rank; k++) size[k] = x->dim[x->rank - 1 - k];
    const char *by = wick_export_cast(o, wick_export_dims(o, rank, size), WICK_I64, x->elem),
               *one = wick_export_number(o->x, x->elem, 1),
               *two = wick_export_number(o->x, x->elem, 2);
    in[1] = wick_export_2(o, "Add", wick_export_2(o, "Mul", in[1], two), one);
    in[1] = wick_export_2(o, "Sub", wick_export_2(o, "Div", in[1], by), one);
  }
  wick_onnx_node *n = wick_export_begin(o, o->row->op_type, 2, in);
  wick_export_set_attrs(o, n, elements ? "mode padding=padding_mode" : o->row->attrs);
  wick_export_end_results(o, n, 1);
}
