/* Special functions, which are formulas. Those of gamma are computed in f64. */
#include "import/kit/formula.h"
#include "import/tensorflow/ops.h"

#define HORNER WICK_FORMULA_HORNER
#define PI "3.14159265358979323846"
/* The series of Lanczos (g = 7, nine terms) at z = x - 1, or at -x below 1/2, with its slope. */
#define LANCZOS(c, k) " " c " z " k " add div add"
#define SLOPE(c, k) " " c " z " k " add z " k " add mul div sub"
#define TERMS(F)                                                                                   \
  F("676.5203681218851", "1")                                                                      \
  F("-1259.1392167224028", "2")                                                                    \
  F("771.32342877765313", "3")                                                                     \
  F("-176.61502916214059", "4")                                                                    \
  F("12.507343278686905", "5")                                                                     \
  F("-0.13857109526572012", "6") F("9.9843695780195716e-6", "7") F("1.5056327351493116e-7", "8")
#define SERIES                                                                                     \
  "x 0.5 lt =low x neg x 1 sub where =z 7.5 add =t log =l 0.99999999999980993" TERMS(LANCZOS) " =" \
                                                                                              "s"

enum {
  SPECIAL_LGAMMA,
  SPECIAL_DIGAMMA,
  SPECIAL_ERFINV,
  SPECIAL_NDTRI,
  SPECIAL_I0,
  SPECIAL_I0E,
  SPECIAL_I1,
  SPECIAL_I1E
};

/* The modified Bessel function of order 1: Abramowitz and Stegun 9.8.3 and 9.8.4. As WICK_FORMULA_BESSEL_0. */
#define BESSEL_1(small, large)                                                                     \
  "x abs =a 3.75 div =s s mul =t 0.00032411" HORNER("0.00301532") HORNER("0.02658733")             \
      HORNER("0.15084934") HORNER("0.51498869") HORNER("0.87890594")                               \
          HORNER("0.5") " a mul" small                                                             \
                        " =near 3.75 a 3.75 max div =t -0.00420059" HORNER("0.01787654")           \
                            HORNER("-0.02895312") HORNER("0.02282967") HORNER("-0.01031555")       \
                                HORNER("0.00163801") HORNER("-0.00362018") HORNER("-0.03988024")   \
                                    HORNER("0.39894228") large                                     \
      " a 3.75 max sqrt div =far a 3.75 lt near far where x sign mul"

static const char *const special_formulas[] = {
    [SPECIAL_LGAMMA] = SERIES
    " log z 0.5 add l mul add t sub 0.91893853320467274 add =y x abs =a a floor sub =f 0.5 gt 1 f "
    "sub f "
    "where " PI
    " mul sin log neg 1.1447298858494002 add y sub =r x abs inf eq inf low r y where where",
    [SPECIAL_DIGAMMA] =
        SERIES " l 0" TERMS(SLOPE) " s div add 7 t div sub =y x 0.5 add floor x sub " PI
                                   " mul =f cos f sin div " PI
                                   " mul y add =r x 0 le x x floor eq and nan low r y where where",
    [SPECIAL_ERFINV] = WICK_FORMULA_ERFINV,
    [SPECIAL_NDTRI] = "x 2 mul 1 sub =x " WICK_FORMULA_ERFINV " 1.4142135623730951 mul",
    [SPECIAL_I0] = WICK_FORMULA_BESSEL_0("", " a exp mul"),
    [SPECIAL_I0E] = WICK_FORMULA_BESSEL_0(" a neg exp mul", ""),
    [SPECIAL_I1] = BESSEL_1("", " a exp mul"),
    [SPECIAL_I1E] = BESSEL_1(" a neg exp mul", ""),
};

void wick_tf_import_special(wick_import_node *n) /* arg: the formula */
{
  const char *text = special_formulas[n->row->arg];
  wick_elem e = wick_import_info(n, 0)->elem;
  bool wide = n->row->arg <= SPECIAL_DIGAMMA || e == WICK_F64;
  if (!wick_elem_is_float(e)) {
    wick_import_fail(n, WICK_ETYPE, "elements of %s", wick_elem_name(e));
    return;
  }
  wick_value x = wick_build_cast(n->b, n->in[0], wide ? WICK_F64 : WICK_F32);
  x = wick_emit_formula(n->b, text, x, (wick_value){0});
  if (!n->b->status) n->out[0] = wick_build_cast(n->b, x, e);
}

/* The cross product of vectors of three elements, along the last axis. */
void wick_tf_import_cross(wick_import_node *n)
{
  wick_builder *b = n->b;
  wick_value part[2][3], y[3];
  for (uint32_t i = 0; i < 2; i++) {
    const wick_type_info t = *wick_import_info(n, i);
    if (!t.rank || !wick_dim_is(t.dim[t.rank - 1], 3)) {
      wick_import_fail(n, WICK_ETYPE, "operand %u has no last axis of 3 elements", i);
      return;
    }
    for (uint32_t k = 0; k < 3; k++)
      part[i][k] = wick_emit_slice(b, n->in[i], t.rank - 1, wick_dim_const(k), wick_dim_const(1));
  }
  for (uint32_t k = 0; k < 3; k++) {
    uint32_t p = (k + 1) % 3, q = (k + 2) % 3;
    y[k] = wick_build2(b, WICK_OP_sub, wick_build2(b, WICK_OP_mul, part[0][p], part[1][q]),
                       wick_build2(b, WICK_OP_mul, part[0][q], part[1][p]));
  }
  n->out[0] = wick_build_concat(b, wick_import_info(n, 0)->rank - 1u, 3, y);
}
