/* Exports one pass of a Fourier transform as ONNX's DFT, where the planes are the last axis, and as
 * products with roots of unity. */
#include "export/write.h"

/* Slices the elements `begin` to `end` - 1 along an axis. */
static const char *dft_part(wick_export_op *o, const char *x, int64_t axis, int64_t begin,
                            int64_t end)
{
  const char *in[] = {x, wick_export_i64s(o->x, 1, &begin), wick_export_i64s(o->x, 1, &end),
                      wick_export_i64s(o->x, 1, &axis)};
  return wick_export_end(o, wick_export_begin(o, "Slice", WICK_COUNT(in), in));
}

/* Multiplies all elements but the first of each 1-D slice by the roots: [2, r, lines, rest]. */
static const char *dft_rooted(wick_export_op *o, const char *y, int64_t r)
{
  const char *first = dft_part(o, y, 1, 0, 1), *others = dft_part(o, y, 1, 1, r),
             *roots = wick_export_unsqueeze(o, wick_export_in(o, 1), 2),
             *yr = dft_part(o, others, 0, 0, 1), *yi = dft_part(o, others, 0, 1, 2),
             *wr = dft_part(o, roots, 0, 0, 1), *wi = dft_part(o, roots, 0, 1, 2);
  const char *a = wick_export_2(o, "Mul", yr, wr), *b = wick_export_2(o, "Mul", yi, wi),
             *c = wick_export_2(o, "Mul", yr, wi), *d = wick_export_2(o, "Mul", yi, wr);
  const char *re = wick_export_2(o, "Sub", a, b), *im = wick_export_2(o, "Add", c, d);
  const char *z = wick_export_concat(o, 0, 2, (const char *[]){re, im});
  return wick_export_concat(o, 1, 2, (const char *[]){first, z});
}

void wick_export_fourier(wick_export_op *o)
{
  static const int64_t there[2][4] = {{1, 2, 0}, {1, 2, 3, 0}},
                       back[2][4] = {{2, 1, 0}, {3, 1, 0, 2}};
  const wick_type_info *t = wick_export_info(o, 0);
  uint32_t rest = t->rank == 4;
  int64_t r = t->dim[2].v;
  bool inverse = wick_export_attr(o, "inverse")->i != 0;
  const char *in[] = {wick_export_transpose(o, wick_export_in(o, 0), t->rank, there[rest]), "",
                      wick_export_i64(o->x, 1)};
  wick_onnx_node *n = wick_export_begin(o, "DFT", WICK_COUNT(in), in);
  if (inverse) wick_export_set_int(o, n, "inverse", 1);
  const char *y = wick_export_end(o, n);
  if (inverse) /* ONNX divides by the number of elements */
    y = wick_export_2(o, "Mul", y, wick_export_number(o->x, t->elem, (double)r));
  y = wick_export_transpose(o, y, t->rank, back[rest]);
  if (wick_export_given(o, 1) && r > 1) y = dft_rooted(o, y, r);
  wick_export_result_is(o, 0, y);
}
