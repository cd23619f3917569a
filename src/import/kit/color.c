/* Changes between red, green and blue, and hue, saturation and value, along the last dimension. */
#include "import/kit/array.h"

static uint32_t color_rank(const wick_import_node *n, wick_value x)
{
  return n->b->status ? 1 : wick_built_info(n->b, x)->rank;
}

static wick_value color_channel(wick_import_node *n, wick_value x, uint32_t c)
{
  uint32_t rank = color_rank(n, x);
  return wick_emit_slice(n->b, x, rank - 1, wick_dim_const(c), wick_dim_const(1));
}

static bool color_is_rgb(wick_import_node *n, wick_value x)
{
  if (n->b->status || !x.id) return false;
  const wick_type_info *t = wick_built_info(n->b, x);
  if (t->rank && wick_import_equal(n, t->dim[t->rank - 1], wick_dim_const(3))) return true;
  wick_import_fail(n, WICK_ETYPE, "the last dimension is not 3");
  return false;
}

wick_value wick_array_rgb_to_hsv(wick_import_node *n, wick_value x)
{
  wick_builder *b = n->b;
  if (!color_is_rgb(n, x)) return (wick_value){0};
  wick_value red = color_channel(n, x, 0), green = color_channel(n, x, 1),
             blue = color_channel(n, x, 2);
  wick_value v = wick_build2(b, WICK_OP_max, wick_build2(b, WICK_OP_max, red, green), blue);
  wick_value low = wick_build2(b, WICK_OP_min, wick_build2(b, WICK_OP_min, red, green), blue);
  wick_value range = wick_build2(b, WICK_OP_sub, v, low), none = wick_emit_number(b, v, 0);
  wick_value one = wick_emit_number(b, v, 1);
  wick_value flat = wick_build2(b, WICK_OP_le, range, none),
             dark = wick_build2(b, WICK_OP_le, v, none);
  wick_value safe_v = wick_build3(b, WICK_OP_where, dark, one, v);
  wick_value s =
      wick_build3(b, WICK_OP_where, dark, none, wick_build2(b, WICK_OP_div, range, safe_v));
  wick_value safe = wick_build3(b, WICK_OP_where, flat, one, range);
  wick_value norm = wick_build2(b, WICK_OP_div, wick_emit_number(b, v, 1.0 / 6), safe);
  wick_value gb = wick_build2(b, WICK_OP_mul, norm, wick_build2(b, WICK_OP_sub, green, blue));
  wick_value br = wick_build2(b, WICK_OP_mul, norm, wick_build2(b, WICK_OP_sub, blue, red));
  wick_value rg = wick_build2(b, WICK_OP_mul, norm, wick_build2(b, WICK_OP_sub, red, green));
  br = wick_emit_by(b, WICK_OP_add, br, 2.0 / 6), rg = wick_emit_by(b, WICK_OP_add, rg, 4.0 / 6);
  wick_value is_green = wick_build2(b, WICK_OP_eq, green, v),
             is_red = wick_build2(b, WICK_OP_eq, red, v);
  wick_value h = wick_build3(b, WICK_OP_where, is_green, br, rg);
  h = wick_build3(b, WICK_OP_where, is_red, gb, h);
  h = wick_build3(b, WICK_OP_where, flat, none, h);
  wick_value below = wick_build2(b, WICK_OP_lt, h, none), up = wick_emit_by(b, WICK_OP_add, h, 1);
  h = wick_build3(b, WICK_OP_where, below, up, h);
  return wick_build_concat(b, color_rank(n, x) - 1u, 3, (wick_value[]){h, s, v});
}

wick_value wick_array_hsv_to_rgb(wick_import_node *n, wick_value x)
{
  wick_builder *b = n->b;
  if (!color_is_rgb(n, x)) return (wick_value){0};
  wick_value h = color_channel(n, x, 0), s = color_channel(n, x, 1), v = color_channel(n, x, 2),
             part[3];
  wick_value six = wick_emit_by(b, WICK_OP_mul, h, 6), one = wick_emit_number(b, h, 1);
  const double centre[] = {3, 2, 4}, sign[] = {1, -1, -1}, shift[] = {-1, 2, 2};
  for (uint32_t k = 0; k < 3; k++) {
    wick_value d = wick_build1(b, WICK_OP_abs, wick_emit_by(b, WICK_OP_sub, six, centre[k]));
    d = wick_emit_by(b, WICK_OP_add, wick_emit_by(b, WICK_OP_mul, d, sign[k]), shift[k]);
    d = wick_build3(b, WICK_OP_clip, d, wick_emit_number(b, h, 0), one);
    wick_value less = wick_build2(b, WICK_OP_sub, one, s);
    d = wick_build2(b, WICK_OP_add, less, wick_build2(b, WICK_OP_mul, s, d));
    part[k] = wick_build2(b, WICK_OP_mul, d, v);
  }
  return wick_build_concat(b, color_rank(n, x) - 1u, 3, part);
}
