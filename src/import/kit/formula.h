/* Element-wise functions that are formulas, for importers. */
#ifndef WICK_IMPORT_KIT_FORMULA_H
#define WICK_IMPORT_KIT_FORMULA_H

#include "import/kit/emit.h"

/* Builds a formula in postfix notation: "x y sub abs" is |x - y|. Its words, one space between two, are the
 * operands x and y (0: it has none), numbers, which have x's type, operators of Wick by name, "=d" (which names
 * the last value d and leaves it) and names. */
wick_value wick_emit_formula(wick_builder *b, const char *text, wick_value x, wick_value y);

#define WICK_FORMULA_HORNER(c) " t mul " c " add"

/* The modified Bessel function of order 0: Abramowitz and Stegun 9.8.1 and 9.8.2. `small` and `large` are what the
 * parts for small and for large arguments are multiplied by, where a is |x|: "" and " a exp mul", or times exp(-a). */
#define WICK_FORMULA_BESSEL_0(small, large)                                                        \
  "x abs =a 3.75 div =s s mul =t 0.0045813" WICK_FORMULA_HORNER("0.0360768")                       \
      WICK_FORMULA_HORNER("0.2659732") WICK_FORMULA_HORNER("1.2067492")                            \
          WICK_FORMULA_HORNER("3.0899424") WICK_FORMULA_HORNER("3.5156229")                        \
              WICK_FORMULA_HORNER("1") small                                                       \
      " =near 3.75 a 3.75 max div =t 0.00392377" WICK_FORMULA_HORNER("-0.01647633")                \
          WICK_FORMULA_HORNER("0.02635537") WICK_FORMULA_HORNER("-0.02057706")                     \
              WICK_FORMULA_HORNER("0.00916281") WICK_FORMULA_HORNER("-0.00157565")                 \
                  WICK_FORMULA_HORNER("0.00225319") WICK_FORMULA_HORNER("0.01328592")              \
                      WICK_FORMULA_HORNER("0.39894228") large                                      \
      " a 3.75 max sqrt div =far a 3.75 lt near far where"
/* The inverse of erf: Giles, Approximating the erfinv function, 2010 (single precision). */
#define WICK_FORMULA_ERFINV                                                                        \
  "1 x sub 1 x add mul log neg =w 2.5 sub =t 2.81022636e-08" WICK_FORMULA_HORNER("3.43273939e-07") \
      WICK_FORMULA_HORNER("-3.5233877e-06") WICK_FORMULA_HORNER("-4.39150654e-06")                 \
          WICK_FORMULA_HORNER("0.00021858087") WICK_FORMULA_HORNER(                                \
              "-0.00125372503") WICK_FORMULA_HORNER("-0.00417768164")                              \
              WICK_FORMULA_HORNER("0.246640727") WICK_FORMULA_HORNER(                              \
                  "1.50140941") " =near w 5 max sqrt 3 sub =t "                                    \
                                "-0.000200214257" WICK_FORMULA_HORNER("0.000100950558")            \
                                    WICK_FORMULA_HORNER("0.00134934322") WICK_FORMULA_HORNER(      \
                                        "-0.00367342844") WICK_FORMULA_HORNER("0.00573950773")     \
                                        WICK_FORMULA_HORNER("-0.0076224613")                       \
                                            WICK_FORMULA_HORNER("0.00943887047")                   \
                                                WICK_FORMULA_HORNER("1.00167406")                  \
                                                    WICK_FORMULA_HORNER(                           \
                                                        "2.83297682") " =far w 5 lt near far "     \
                                                                      "where x mul =y x abs 1 eq " \
                                                                      "x inf mul y where"

#endif
