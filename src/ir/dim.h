/* Dimensions and indices: canonical integer expressions over symbols.
 *
 * A wick_dim is a constant, or a handle to an expression that the module has interned: a sum of
 * terms, each a coefficient times a product of atoms; an atom is a symbol, floordiv, mod, min or
 * max. Two expressions are known to be equal exactly if their handles are. The same simplifier
 * serves tensor types, memory plans, the accesses of stages and the indices of loops.
 *
 * Canonical form: a polynomial with its terms sorted (by degree, then by names), like terms merged;
 * of a floordiv by a constant, the terms that divide exactly, or that the ranges of the symbols
 * decide, are taken out; min and max are flattened, sorted, and decided by ranges. mod(x, c) is x -
 * c*floordiv(x, c), so that `floordiv(x, c)*c + mod(x, c)` is x, and `x - floordiv(x, c)*c` is
 * mod(x, c). The form depends on the expression alone, not on what was interned before. An
 * expression that divides by 0 has no value, and simplification may ignore that case.
 *
 * Integer overflow, and more than WICK_DIM_ATOMS atoms or WICK_DIM_DEPTH levels, give
 * WICK_DIM_INVALID. An expression with an invalid operand is invalid. Arithmetic is on 64-bit
 * signed integers; floordiv rounds to minus infinity, mod has the divisor's sign. */
#ifndef WICK_IR_DIM_H
#define WICK_IR_DIM_H

#include "base/str.h"

typedef struct wick_dim {
  int64_t v; /* below WICK_DIM_EXPR + 2^32: expression number v - WICK_DIM_EXPR; else a constant */
} wick_dim;

#define WICK_DIM_EXPR INT64_MIN
/* Expression 0: overflow, or never set. Expression 1: in an access, the whole dimension, by a
 * run-time index. */
#define WICK_DIM_INVALID ((wick_dim){INT64_MIN})
#define WICK_DIM_ANY ((wick_dim){INT64_MIN + 1})

enum { WICK_DIM_ATOMS = 4096, WICK_DIM_DEPTH = 64 }; /* in one expression, counted as a tree */

typedef struct wick_dims wick_dims; /* the table; one per module */

typedef enum wick_atom_kind {
  WICK_ATOM_SYMBOL,
  WICK_ATOM_FLOORDIV,
  WICK_ATOM_MOD,
  WICK_ATOM_MIN,
  WICK_ATOM_MAX
} wick_atom_kind;

/* An atom of a term. Symbols are interned by name and range together. floordiv and mod divide
 * arg[0] by arg[1]. */
typedef struct wick_atom {
  wick_atom_kind kind;
  uint32_t narg;
  const wick_dim *arg;
  const char *name; /* of a symbol */
  int64_t lo, hi;   /* of a symbol: lo <= value <= hi, both ends included */
} wick_atom;

typedef struct wick_term {
  int64_t coef;         /* never 0 */
  uint32_t natom;       /* at least 1 */
  const uint32_t *atom; /* sorted; an atom appears as often as its power */
} wick_term;

typedef struct wick_dim_form { /* constant + sum of terms */
  int64_t constant;
  uint32_t nterm;
  const wick_term *term;
} wick_dim_form;

wick_dims *wick_dims_create(wick_arena *mem);

static inline bool wick_dim_is_const(wick_dim d)
{
  return d.v >= WICK_DIM_EXPR + ((int64_t)1 << 32);
}
static inline bool wick_dim_eq(wick_dim a, wick_dim b) { return a.v == b.v; }
static inline bool wick_dim_is(wick_dim a, int64_t c) { return a.v == c; }
/* Returns the constant c, or INVALID if c is the number of an expression, since files may contain
 * any number. Constants below -2^62 become INVALID in arithmetic. */
static inline wick_dim wick_dim_const(int64_t c)
{
  return wick_dim_is_const((wick_dim){c}) ? (wick_dim){c} : WICK_DIM_INVALID;
}

wick_dim wick_dim_symbol(wick_dims *t, const char *name, int64_t lo, int64_t hi);
wick_dim wick_dim_add(wick_dims *t, wick_dim a, wick_dim b);
wick_dim wick_dim_sub(wick_dims *t, wick_dim a, wick_dim b);
wick_dim wick_dim_mul(wick_dims *t, wick_dim a, wick_dim b);
wick_dim wick_dim_floordiv(wick_dims *t, wick_dim a, wick_dim b);
wick_dim wick_dim_ceildiv(wick_dims *t, wick_dim a, wick_dim b);
wick_dim wick_dim_mod(wick_dims *t, wick_dim a, wick_dim b);
wick_dim wick_dim_min(wick_dims *t, wick_dim a, wick_dim b);
wick_dim wick_dim_max(wick_dims *t, wick_dim a, wick_dim b);

/* Bounds by interval arithmetic over the ranges of the symbols; saturates at INT64_MIN + 2^33 and
 * INT64_MAX. */
void wick_dim_range(const wick_dims *t, wick_dim d, int64_t *out_lo, int64_t *out_hi);
/* The same with other ranges for some symbols (boxes of tiles): symbol sym[i] is in [lo[i],
 * hi[i]]. */
void wick_dim_range_with(const wick_dims *t, wick_dim d, uint32_t n, const wick_dim *sym,
                         const int64_t *lo, const int64_t *hi, int64_t *out_lo, int64_t *out_hi);

bool wick_dim_is_symbol(const wick_dims *t, wick_dim d);
bool wick_dim_uses(const wick_dims *t, wick_dim d, wick_dim symbol);
/* Replaces all symbols at once: sym[i] becomes by[i]. */
wick_dim wick_dim_substitute(wick_dims *t, wick_dim d, uint32_t n, const wick_dim *sym,
                             const wick_dim *by);
/* Computes the value for given values of symbols. Returns false for a symbol without a value, a
 * division by 0, or overflow. */
bool wick_dim_eval(const wick_dims *t, wick_dim d, uint32_t n, const wick_dim *sym,
                   const int64_t *val, int64_t *out);
/* Splits d = coef * sym + rest, where rest and coef do not use sym. Returns false if d is not of
 * that form. */
bool wick_dim_linear(wick_dims *t, wick_dim d, wick_dim sym, wick_dim *out_coef,
                     wick_dim *out_rest);
/* Solves d = value for the only symbol of d, where d is coef * symbol + rest with constant coef and
 * rest. If the solution is no integer it is rounded down, and then d does not equal `value` there.
 * Returns false if d is not of that form. */
bool wick_dim_solve(wick_dims *t, wick_dim d, int64_t value, wick_arena *tmp, wick_dim *out_sym,
                    int64_t *out);
/* Returns a - b without common factors. Equal results mean that both differences are 0 or none
 * is. */
wick_dim wick_dim_difference(wick_dims *t, wick_dim a, wick_dim b);
/* Returns false if ranges and divisors show that a and b differ for all values of their symbols. */
bool wick_dim_may_equal(wick_dims *t, wick_dim a, wick_dim b);
/* Returns the simpler of two equal expressions: a constant, or the one with fewer parts. */
wick_dim wick_dim_simpler(const wick_dims *t, wick_dim a, wick_dim b);

/* Returns a typical value of d, for estimates. A symbol is the geometric mean of its range, whose
 * upper end counts as at most 1024 times the lower one. The result is at least 0. */
int64_t wick_dim_typical(const wick_dims *t, wick_dim d);
/* Appends the symbols of d to `list`, each once, in order of first appearance. Symbols that are in
 * the list are not added again. */
typedef wick_list(wick_dim) wick_dim_list;
void wick_dim_symbols(const wick_dims *t, wick_dim d, wick_arena *mem, wick_dim_list *list);

/* Returns the canonical parts; a constant has no terms. The pointers live as long as the table. */
wick_dim_form wick_dim_get(const wick_dims *t, wick_dim d);
const wick_atom *wick_dim_atom(const wick_dims *t, uint32_t atom);
wick_dim wick_dim_from_atom(wick_dims *t, uint32_t atom);

/* Prints "3", "N", "2*N + 1", "-N + 1", "floordiv(N + 15, 16)", "min(N, 8)", "any" or "?", without
 * the ranges of symbols. */
void wick_dim_print(const wick_dims *t, wick_dim d, wick_text *out);
/* The same, but calls `symbol` to print each symbol. */
typedef void (*wick_dim_symbol_print)(void *arg, uint32_t atom, wick_text *out);
void wick_dim_print_with(const wick_dims *t, wick_dim d, wick_dim_symbol_print symbol, void *arg,
                         wick_text *out);

#endif
