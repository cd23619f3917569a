/* The table of dimension expressions, for the files dim*.c only.
 *
 * Three things are interned: atoms, monomials (sorted lists of atoms; equal ones have equal
 * pointers) and expressions. An expression has two forms. Its key is a polynomial without `mod`
 * (mod(x, c) written as x - c*floordiv(x, c)), and decides identity. Its form is the same with
 * `mod` put back; other code sees only the form. Without a mod both are one array. */
#ifndef WICK_IR_DIM_TABLE_H
#define WICK_IR_DIM_TABLE_H

#include "ir/dim.h"

#define WICK_RANGE_LO (INT64_MIN + ((int64_t)1 << 33)) /* stands for minus infinity */
#define WICK_RANGE_HI INT64_MAX

enum {
  WICK_DIM_ARGS = 64, /* of one min or max */
  WICK_DIM_QUOTIENTS = 512,
  WICK_DIM_FUEL =
      1000 /* divisions that one division may cause, so that rules that undo each other end */
};

typedef struct wick_range {
  int64_t lo, hi;
} wick_range;

/* The hash and the number of each interned thing; open addressing, number 0 is an empty slot. */
typedef struct wick_dim_slot {
  uint32_t hash, id;
} wick_dim_slot;
typedef struct wick_dim_index {
  wick_dim_slot *slot;
  uint32_t nslot, n;
} wick_dim_index;

typedef struct wick_dim_cell { /* an atom */
  wick_atom atom;              /* lo and hi are the range, for all kinds */
  uint32_t id, natom, depth;   /* natom: of the whole tree */
  uint64_t mask;   /* a bit for each symbol, symbols of equal number modulo 64 sharing */
  uint64_t prefix; /* first 8 bytes of the name, ordered as it is */
  wick_dim self;   /* the atom as an expression; INVALID until it is first needed */
} wick_dim_cell;

typedef struct wick_dim_expr {
  wick_dim_form key, form;
  wick_range range;
  uint32_t natom, depth;
  uint64_t mask;
} wick_dim_expr;

typedef struct wick_dim_quotient { /* a cached result: floordiv(a, b) is q */
  wick_dim a, b, q;
} wick_dim_quotient;

struct wick_dims {
  wick_arena *mem;
  wick_list(wick_dim_expr) exprs;   /* 0 is INVALID, 1 is ANY */
  wick_list(wick_dim_cell *) atoms; /* at[0] is unused */
  wick_list(wick_term) monos;       /* of two atoms and more; coef and at[0] are unused */
  wick_dim_index expr_index, atom_index, mono_index;
  wick_dim_quotient *quotient; /* WICK_DIM_QUOTIENTS of them, by hash */
  uint32_t level, fuel;        /* of division: nested calls, and calls that may still be made */
};

static inline uint32_t wick_dim_number(wick_dim d) { return (uint32_t)(d.v - WICK_DIM_EXPR); }

/* Returns whether d can be an operand: a constant in the range of constants, or an expression other
 * than INVALID and ANY. */
static inline bool wick_dim_usable(const wick_dims *t, wick_dim d)
{
  if (wick_dim_is_const(d)) return d.v >= -((int64_t)1 << 62);
  return wick_dim_number(d) > 1 && wick_dim_number(d) < t->exprs.n;
}

static inline const wick_dim_cell *wick_dim_cell_of(const wick_dims *t, uint32_t atom)
{
  return t->atoms.at[atom];
}

wick_dim_form wick_dim_key(const wick_dims *t, wick_dim d);
wick_range wick_dim_range_of(const wick_dims *t, wick_dim d); /* d must be usable */

/* Returns the atom that d consists of; NULL if d is a sum, a product or a constant. */
const wick_dim_cell *wick_dim_lone(const wick_dims *t, wick_dim d);

/* Interns an atom without simplification and returns its number; 0 if it would be too large. */
uint32_t wick_dim_intern_atom(wick_dims *t, wick_atom_kind kind, uint32_t narg,
                              const wick_dim *arg);

/* Return interned monomials with the coefficient 1. A monomial without atoms is the number 1. */
wick_term wick_mono_atom(const wick_dims *t, uint32_t atom);
wick_term wick_mono_mul(wick_dims *t, wick_term a, wick_term b);
/* Returns false, and does not set *out, if b does not divide a. */
bool wick_mono_div(wick_dims *t, wick_term a, wick_term b, wick_term *out);

/* acc += coef * mono * p. Returns false if a number overflows or there are too many terms. */
WICK_CHECKED bool wick_dim_accumulate(wick_dims *t, wick_dim_form *acc, int64_t coef,
                                      wick_term mono, wick_dim_form p);

/* Makes an expression from any sorted selection of the terms of a form, with any coefficients. */
wick_dim wick_dim_from_form(wick_dims *t, wick_dim_form form);

/* Compares two expressions by structure, a total order that is the same in every table. Returns a
 * negative number, 0 or a positive number. */
int wick_dim_compare(const wick_dims *t, wick_dim a, wick_dim b);

/* Puts `mod` back into a key, which becomes the form. */
void wick_dim_put_mods(wick_dims *t, wick_dim_form *p);

/* Interval arithmetic; an end at WICK_RANGE_LO or _HI is infinite. */
wick_range wick_range_form(const wick_dims *t, wick_dim_form form);
wick_range wick_range_atom(wick_atom_kind kind, uint32_t narg, const wick_range *arg);

#endif
