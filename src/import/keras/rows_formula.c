/* The functions of keras.ops that are a formula in their elements. */
#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/formula.h"

/* Which element type the operands are converted to: */
typedef enum formula_type {
  FORMULA_COMMON, /* the common one of both */
  FORMULA_FLOAT,  /* the same; integers become f32 */
  FORMULA_BOOL,
  FORMULA_INT /* the common one; truth values become i32 */
} formula_type;

#define PI "3.14159265358979323846"
#define LOG2 "0.69314718055994530942"

/* The absolute error is that of erf; digits are lost where erf is near 1. */
#define ERFC "1 x erf sub"
/* A row: the function, how many operands it has, their type, the formula, and the one for integers,
 * if it differs. */
#define FORMULAS(F)                                                                                \
  F(Angle, 1, FLOAT, "x 0 lt " PI " 0 where =a x isnan x a where", NULL)                           \
  F(BitwiseInvert, 1, COMMON, "x bit_not", NULL)                                                   \
  F(BitwiseLeftShift, 2, COMMON, "x y shift_left", NULL)                                           \
  F(BitwiseNot, 1, COMMON, "x bit_not", NULL)                                                      \
  F(BitwiseRightShift, 2, COMMON, "x y shift_right", NULL)                                         \
  F(Cbrt, 1, FLOAT, "x sign x abs 0.33333333333333333 pow mul", NULL)                              \
  F(Deg2rad, 1, FLOAT, "x 0.017453292519943295769 mul", NULL)                                      \
  F(DivideNoNan, 2, FLOAT, "y 0 eq 0 x y 0 eq 1 y where div where", NULL)                          \
  F(Erfc, 1, FLOAT, ERFC, NULL)                                                                    \
  F(Erfinv, 1, FLOAT, WICK_FORMULA_ERFINV, NULL)                                                   \
  F(Fabs, 1, FLOAT, "x abs", NULL)                                                                 \
  F(Fmax, 2, COMMON, "x isnan y y isnan x x y max where where", "x y max")                         \
  F(Fmin, 2, COMMON, "x isnan y y isnan x x y min where where", "x y min")                         \
  F(Fmod, 2, INT, "x y fmod", NULL)                                                                \
  F(Heaviside, 2, FLOAT, "x 0 lt 0 x 0 gt 1 y where where", NULL)                                  \
  F(Hypot, 2, FLOAT,                                                                               \
    "x abs =a y abs =b max =m 0 eq 0 a b min m 0 eq 1 m where div =r r mul 1 add sqrt m mul "      \
    "where",                                                                                       \
    NULL)                                                                                          \
  F(I0, 1, FLOAT, WICK_FORMULA_BESSEL_0("", " a exp mul"), NULL)                                   \
  F(Isfinite, 1, FLOAT, "x isnan x isinf or not", NULL)                                            \
  F(Isneginf, 1, FLOAT, "x -inf eq", NULL)                                                         \
  F(Isposinf, 1, FLOAT, "x inf eq", NULL)                                                          \
  F(Ldexp, 2, FLOAT, "x isinf x 0 eq or x 2 y pow x mul where", NULL)                              \
  F(LeftShift, 2, COMMON, "x y shift_left", NULL)                                                  \
  F(Log10, 1, FLOAT, "x log 0.43429448190325182765 mul", NULL)                                     \
  F(Logaddexp, 2, FLOAT, "x y sub =d isnan x y add d abs neg exp log1p x y max add where", NULL)   \
  F(Logaddexp2, 2, FLOAT,                                                                          \
    "x y sub =d isnan x y add d abs -" LOG2 " mul exp log1p " LOG2 " div x y max add where", NULL) \
  F(LogicalNot, 1, BOOL, "x not", NULL)                                                            \
  F(Rad2deg, 1, FLOAT, "x 57.295779513082320877 mul", NULL)                                        \
  F(RightShift, 2, COMMON, "x y shift_right", NULL)                                                \
  F(Sinc, 1, FLOAT, "x " PI " mul =p 0 eq 1 p sin p div where", NULL)

#define ENUM(name, n, type, real, whole) FORMULA_##name,
#define TEXT(name, n, type, real, whole) {FORMULA_##type, real, whole},
#define ROW(name, n, type, real, whole)                                                            \
  KERAS_ROW(#name, 1, n, 1, formula_import, .arg = FORMULA_##name),

enum { FORMULAS(ENUM) FORMULA_COUNT };
static const struct {
  formula_type type;
  const char *real, *whole;
} formula_rows[FORMULA_COUNT] = {FORMULAS(TEXT)};

static void formula_import(wick_import_node *n)
{
  formula_type type = formula_rows[n->row->arg].type;
  wick_value x[2] = {{0}, {0}};
  bool two = n->row->nin[1] == 2;
  if (two)
    keras_operands(n, x);
  else
    x[0] = keras_operand(n, 0, "x", (wick_value){0});
  if (n->failed || n->b->status) return;
  wick_elem e =
      two ? keras_common(keras_elem_of(n, x[0]), keras_elem_of(n, x[1])) : keras_elem_of(n, x[0]);
  if (type == FORMULA_FLOAT && !wick_elem_is_float(e)) e = WICK_F32;
  if (type == FORMULA_INT && e == WICK_BOOL) e = WICK_I32;
  if (type == FORMULA_BOOL) e = WICK_BOOL;
  for (uint32_t i = 0; i <= two; i++) x[i] = wick_build_cast(n->b, x[i], e);
  bool whole = !wick_elem_is_float(e) && formula_rows[n->row->arg].whole;
  const char *text = whole ? formula_rows[n->row->arg].whole : formula_rows[n->row->arg].real;
  n->out[0] = wick_emit_formula(n->b, text, x[0], x[1]);
}

const wick_import_op keras_formulas[] = {FORMULAS(ROW){.name = NULL}};
