/* The functions of keras.ops on whole numbers: divisors and multiples; and casts that saturate. */
#include <math.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"
#include "ir/element.h"

/* ---- divisors ---- */

/* Euclid's algorithm in as many steps as numbers of that type need: two in a row halve the larger
 * one. */
static wick_value integers_gcd(wick_import_node *n, wick_value x, wick_value y)
{
  wick_builder *b = n->b;
  const wick_value carried[2] = {x, y};
  if (b->status) return x;
  int64_t most = 2 * (int64_t)wick_elem_storage[keras_elem_of(n, x)].bits;
  wick_value count =
      wick_build_const(b, wick_type_tensor(n->c->module, WICK_I64, 0, NULL), 0, most);
  wick_value p = wick_emit_loop_begin(b, count, 2, carried, 0, wick_dim_const(0));
  if (b->status) return x;
  wick_value a = {p.id + 1}, c = {p.id + 2};
  wick_value zero = wick_emit_number(b, c, 0), none = wick_build2(b, WICK_OP_eq, c, zero);
  wick_value by = wick_build3(b, WICK_OP_where, none, wick_emit_number(b, c, 1), c);
  const wick_value next[2] = {
      wick_build3(b, WICK_OP_where, none, a, c),
      wick_build3(b, WICK_OP_where, none, zero, wick_build2(b, WICK_OP_mod, a, by))};
  return wick_emit_loop_end(b, 2, next);
}

/* gcd, and lcm (arg 1) */
static void integers_common(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value x[2] = {{0}, {0}};
  keras_operands(n, x);
  if (n->failed || b->status) return;
  wick_elem e = keras_common(keras_elem_of(n, x[0]), keras_elem_of(n, x[1]));
  uint32_t rank;
  wick_dim dim[WICK_MAX_RANK];
  if (!wick_elem_is_int(e)) {
    wick_import_fail(n, WICK_ETYPE, "whole numbers are expected");
    return;
  }
  if (!wick_array_broadcast(n, keras_rank(n, x[0]), keras_dims(n, x[0]), keras_rank(n, x[1]),
                            keras_dims(n, x[1]), &rank, dim))
    return;
  for (int i = 0; i < 2 && !b->status; i++) {
    x[i] = wick_build1(b, WICK_OP_abs, wick_build_cast(b, x[i], e));
    x[i] = wick_emit_expand(b, x[i], rank, dim);
  }
  wick_value d = integers_gcd(n, x[0], x[1]);
  if (b->status) return;
  if (n->row->arg) { /* x1 * (x2 / d), 0 where both are */
    wick_value by = wick_build2(b, WICK_OP_max, d, wick_emit_number(b, d, 1));
    d = wick_build2(b, WICK_OP_mul, x[0], wick_build2(b, WICK_OP_div, x[1], by));
  }
  n->out[0] = d;
}

/* ---- casts ---- */

/* x in another type, with its least or largest number for those beyond. */
static void integers_saturate(wick_import_node *n)
{
  wick_value x = keras_operand(n, 0, "x", (wick_value){0});
  if (n->failed || n->b->status) return;
  wick_elem from = keras_elem_of(n, x), to = keras_elem(wick_import_text(n, "dtype", NULL), from);
  if (wick_elem_is_int(to) && wick_elem_is_float(from)) {
    uint32_t bits = wick_elem_storage[to].bits;
    bool below = wick_elem_class(to) == WICK_SINT;
    double end = ldexp(1, (int)(bits - below)), least = below ? -end : 0;
    /* the largest number of the float's type below the end */
    double most = wick_elem_storage[from].bits == 64
                      ? fmin(end - 1, nextafter(end, 0))
                      : fmin(end - 1, (double)nextafterf((float)end, 0));
    x = wick_build3(n->b, WICK_OP_clip, x, wick_emit_number(n->b, x, least),
                    wick_emit_number(n->b, x, most));
  } else if (wick_elem_is_int(to) && wick_elem_is_int(from)) { /* immediates saturate */
    uint32_t bits = wick_elem_storage[to].bits;
    bool below = wick_elem_class(to) == WICK_SINT;
    double end = ldexp(1, (int)(bits - below));
    x = wick_build3(n->b, WICK_OP_clip, x, wick_emit_number(n->b, x, below ? -end : 0),
                    wick_emit_number(n->b, x, end - 1));
  } else if (wick_elem_is_float(to) && wick_elem_is_float(from) &&
             wick_elem_storage[to].bits < wick_elem_storage[from].bits) {
    double most = to == WICK_F16 ? 65504 : to == WICK_BF16 ? 0x1.fep127 : 0x1.fffffep127;
    x = wick_build3(n->b, WICK_OP_clip, x, wick_emit_number(n->b, x, -most),
                    wick_emit_number(n->b, x, most));
  }
  n->out[0] = wick_build_cast(n->b, x, to);
}

const wick_import_op keras_integers[] = {
    KERAS_ROW("Gcd", 1, 2, 1, integers_common, .arg = 0),
    KERAS_ROW("Lcm", 1, 2, 1, integers_common, .arg = 1),
    KERAS_ROW("SaturateCast", 1, 1, 1, integers_saturate, .arg = 0),
    {.name = NULL},
};
