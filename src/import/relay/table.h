/* The table of Relay's operators. A row says how the operator is called, and writes the function of
 * the language that computes it for operands of given types: as a template, or by a C function. */
#ifndef WICK_IMPORT_RELAY_TABLE_H
#define WICK_IMPORT_RELAY_TABLE_H

#include "lang/family.h"

typedef struct relay_row relay_row;

/* A member that is being written. Its operands are a, b, c, ...; those of a tuple a.0, a.1, ... */
typedef struct relay_member {
  wick_lang_use *use;
  const relay_row *row;
  wick_arena *mem;
  wick_text lets; /* statements before the result */
  uint32_t nlet;
  const char *items; /* more items of the module, NULL: none */
  uint32_t sized;    /* bit set of operands whose types are written, for the names of their sizes */
} relay_member;

struct relay_row {
  const char *name;
  uint8_t least, most; /* operands */
  /* The result: an expression of the operands, with attributes as {name:default}. NULL: `write` */
  const char *expr;
  const char *(*write)(relay_member *m); /* the result; NULL after wick_relay_fail */
  const char
      *attrs;      /* those that are read and not in `expr`; a word with `=` at its end is one that
                        may only have the value after it: "layout=NCHW" */
  const char *doc; /* what computes it, for the documentation; NULL: `expr` */
};

/* Rows: a template; a function; the end. */
#define RELAY_EXPR(name, noperand, expr)                                                           \
  {                                                                                                \
    name, noperand, noperand, expr, NULL, NULL, NULL                                               \
  }
#define RELAY_WRITE(name, least, most, write, attrs, doc)                                          \
  {                                                                                                \
    name, least, most, NULL, write, attrs, doc                                                     \
  }
#define RELAY_END_OF_ROWS                                                                          \
  {                                                                                                \
    NULL, 0, 0, NULL, NULL, NULL, NULL                                                             \
  }

enum { RELAY_MOST_OPERANDS = 12 };

/* All rows, in the order of their names within a kind; the last one's name is NULL. */
extern const relay_row *const wick_relay_kinds[];
extern const relay_row wick_relay_elementwise[], wick_relay_shapes[], wick_relay_reductions[],
    wick_relay_indices[], wick_relay_nn[], wick_relay_windows[], wick_relay_images[],
    wick_relay_quantized[], wick_relay_vision[], wick_relay_boxes[], wick_relay_sparse[];
const relay_row *wick_relay_find(const char *name);
/* Operators that are refused, and why. */
typedef struct relay_refused {
  const char *name, *why;
} relay_refused;
extern const relay_refused wick_relay_refused[];

/* ---- operands ---- */
const wick_lang_operand *wick_relay_operand(const relay_member *m, uint32_t k);
bool wick_relay_is_float(const relay_member *m, uint32_t k);
uint32_t wick_relay_rank(const relay_member *m, uint32_t k);
wick_elem wick_relay_elem(const relay_member *m, uint32_t k);
const char *wick_relay_letter(uint32_t k); /* "a" of 0 */
/* Size i of operand k as text, a number or a name. */
const char *wick_relay_size(relay_member *m, uint32_t k, uint32_t i);
/* The same as a number; reports that it must be known. */
int64_t wick_relay_known(relay_member *m, uint32_t k, uint32_t i);

/* ---- attributes ---- */
const wick_ast *wick_relay_attr(const relay_member *m, const char *name); /* NULL: not given */
int64_t wick_relay_int(const relay_member *m, const char *name, int64_t dflt);
double wick_relay_real(const relay_member *m, const char *name, double dflt);
const char *wick_relay_word(const relay_member *m, const char *name, const char *dflt);
/* Reads a list, or a number as a list of one. Returns its length; -1: the attribute is not given. */
int wick_relay_ints(const relay_member *m, const char *name, int64_t *out);
enum { RELAY_MOST_INTS = 64 };
/* Spreads a list of one to n, and gives n times `dflt` if there is none. */
bool wick_relay_spread(relay_member *m, const char *name, uint32_t n, int64_t dflt, int64_t *out);
/* An axis of operand k, from 0 on; `extra` more axes are counted. */
int64_t wick_relay_axis(relay_member *m, const char *name, int64_t dflt, uint32_t rank);

/* ---- text ---- */
/* Sets why there is no member; returns NULL. */
const char *wick_relay_fail(relay_member *m, const char *fmt, ...) WICK_PRINTF(2, 3);
const char *wick_relay_text(relay_member *m, const char *fmt, ...) WICK_PRINTF(2, 3);
/* Names an expression; returns the name. */
const char *wick_relay_let(relay_member *m, const char *fmt, ...) WICK_PRINTF(2, 3);
const char *wick_relay_tuple(relay_member *m, int n, const int64_t *at); /* "(1, 2)" */
const char *wick_relay_float(relay_member *m, double f);                 /* "0.5" */
const char *wick_relay_dims(relay_member *m, uint32_t n, const char *const *dim);
/* transpose(x, perm = ...); x itself if that changes nothing */
const char *wick_relay_transpose(relay_member *m, const char *x, uint32_t n, const int64_t *perm);

/* ---- rows_windows.c ---- */
/* The convolution of the member's attributes; x and w: NULL: the first two operands. */
const char *wick_relay_convolution(relay_member *m, const char *x, const char *w, bool transposed);
/* The means, towards zero, of the windows of x, an i32 of the shape of the first operand. */
const char *wick_relay_average(relay_member *m, const char *x);

#endif
