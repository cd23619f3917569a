/* The functions of keras.ops that are a formula in their elements.
 *
 * A formula is in postfix notation: "x y sub abs" is |x - y|. Its words are the operands x and y,
 * numbers, operators of Wick by name, "=d" (which names the last value d and leaves it) and names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"

/* Which element type the operands are converted to: */
typedef enum formula_type {
  FORMULA_COMMON, /* the common one of both */
  FORMULA_FLOAT,  /* the same; integers become f32 */
  FORMULA_BOOL,
  FORMULA_INT /* the common one; truth values become i32 */
} formula_type;

#define PI "3.14159265358979323846"
#define LOG2 "0.69314718055994530942"
#define HORNER(c) " t mul " c " add"

/* The absolute error is that of erf; digits are lost where erf is near 1. */
#define ERFC "1 x erf sub"
/* The modified Bessel function of order 0: Abramowitz and Stegun 9.8.1 and 9.8.2. */
#define BESSEL                                                                                     \
  "x abs =a 3.75 div =s s mul =t 0.0045813" HORNER("0.0360768") HORNER("0.2659732") HORNER(        \
      "1.2067492") HORNER("3.0899424") HORNER("3.5156229")                                         \
      HORNER("1") " =small 3.75 a 3.75 max div =t 0.00392377" HORNER("-0.01647633") HORNER(        \
          "0.02635537") HORNER("-0.02057706") HORNER("0.00916281") HORNER("-0.00157565")           \
          HORNER("0.00225319") HORNER("0.01328592") HORNER(                                        \
              "0.39894228") " a exp mul a 3.75 max sqrt div =large a 3.75 lt small large where"
/* The inverse of erf: Giles, Approximating the erfinv function, 2010 (single precision). */
#define ERFINV                                                                                     \
  "1 x sub 1 x add mul log neg =w 2.5 sub =t 2.81022636e-08" HORNER("3.43273939e-07")              \
      HORNER("-3.5233877e-06") HORNER("-4.39150654e-06") HORNER("0.00021858087")                   \
          HORNER("-0.00125372503") HORNER("-0.00417768164") HORNER("0.246640727")                  \
              HORNER("1.50140941") " =near w 5 max sqrt 3 sub =t -0.000200214257" HORNER(          \
                  "0.000100950558") HORNER("0.00134934322") HORNER("-0.00367342844")               \
                  HORNER("0.00573950773") HORNER("-0.0076224613") HORNER("0.00943887047")          \
                      HORNER("1.00167406")                                                         \
                          HORNER("2.83297682") " =far w 5 lt near far where x mul =y x abs 1 eq "  \
                                               "x inf mul y where"

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
  F(Erfinv, 1, FLOAT, ERFINV, NULL)                                                                \
  F(Fabs, 1, FLOAT, "x abs", NULL)                                                                 \
  F(Fmax, 2, COMMON, "x isnan y y isnan x x y max where where", "x y max")                         \
  F(Fmin, 2, COMMON, "x isnan y y isnan x x y min where where", "x y min")                         \
  F(Fmod, 2, INT, "x y fmod", NULL)                                                                \
  F(Heaviside, 2, FLOAT, "x 0 lt 0 x 0 gt 1 y where where", NULL)                                  \
  F(Hypot, 2, FLOAT,                                                                               \
    "x abs =a y abs =b max =m 0 eq 0 a b min m 0 eq 1 m where div =r r mul 1 add sqrt m mul "      \
    "where",                                                                                       \
    NULL)                                                                                          \
  F(I0, 1, FLOAT, BESSEL, NULL)                                                                    \
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

enum { FORMULA_DEPTH = 16, FORMULA_NAMES = 16 };
typedef struct formula {
  wick_import_node *n;
  wick_value like; /* of the type of numbers */
  wick_value stack[FORMULA_DEPTH];
  uint32_t depth, nname;
  struct {
    const char *name;
    size_t size;
    wick_value v;
  } named[FORMULA_NAMES];
} formula;

static void formula_name(formula *f, const char *name, size_t size, wick_value v)
{
  f->named[f->nname].name = name;
  f->named[f->nname].size = size;
  f->named[f->nname++].v = v;
}

/* The newest value of that name; 0: there is none. */
static wick_value formula_named(const formula *f, const char *word, size_t size)
{
  for (uint32_t k = f->nname; k-- > 0;)
    if (f->named[k].size == size && memcmp(f->named[k].name, word, size) == 0) return f->named[k].v;
  return (wick_value){0};
}

static wick_value formula_apply(formula *f, wick_opcode op)
{
  uint32_t count = wick_ops[op]->nin[0];
  f->depth -= count;
  return wick_build(f->n->b, op, count, &f->stack[f->depth], NULL, 0, NULL);
}

static wick_value formula_value(formula *f, const char *text)
{
  for (const char *word = text; *word && !f->n->b->status;) {
    size_t size = strcspn(word, " ");
    wick_value v = formula_named(f, word, size);
    wick_opcode op = wick_op_find(word, size);
    if (*word == '=')
      formula_name(f, word + 1, size - 1, f->stack[f->depth - 1]);
    else
      v = v.id                 ? v
          : op != WICK_OP_none ? formula_apply(f, op)
                               : wick_emit_number(f->n->b, f->like, strtod(word, NULL));
    if (*word != '=') f->stack[f->depth++] = v;
    word += size;
    word += *word == ' ';
  }
  return f->n->b->status ? (wick_value){0} : f->stack[f->depth - 1];
}

static void formula_import(wick_import_node *n)
{
  formula f = {.n = n};
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
  f.like = x[0];
  formula_name(&f, "x", 1, x[0]);
  if (two) formula_name(&f, "y", 1, x[1]);
  bool whole = !wick_elem_is_float(e) && formula_rows[n->row->arg].whole;
  n->out[0] =
      formula_value(&f, whole ? formula_rows[n->row->arg].whole : formula_rows[n->row->arg].real);
}

const wick_import_op keras_formulas[] = {FORMULAS(ROW){.name = NULL}};
