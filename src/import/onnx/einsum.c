/* Imports Einsum: an equation of labels becomes transpositions, matrix products and sums. */
#include <string.h>

#include "import/onnx/import.h"

enum {
  EINSUM_LETTERS = 52,
  EINSUM_LABELS = EINSUM_LETTERS + WICK_MAX_RANK, /* letters, then the axes of an ellipsis */
  EINSUM_NONE = 255,
};

typedef struct einsum_term { /* a tensor, and the label of each of its axes */
  wick_value v;
  uint32_t n;
  uint8_t label[WICK_MAX_RANK];
} einsum_term;

typedef struct einsum_equation {
  wick_onnx_op *o;
  const char *at; /* the rest of the equation, not read yet */
  uint32_t dots;  /* axes of the longest ellipsis */
  bool arrow;
  einsum_term *term; /* by operand */
  einsum_term out;
} einsum_equation;

/* ---- reading ---- */

static bool einsum_refuse(einsum_equation *q, const char *what)
{
  wick_onnx_fail(q->o, WICK_EPARSE, "the equation %s", what);
  return false;
}

static uint8_t einsum_letter(char c)
{
  if (c >= 'a' && c <= 'z') return (uint8_t)(c - 'a');
  if (c >= 'A' && c <= 'Z') return (uint8_t)(c - 'A' + 26);
  return EINSUM_NONE;
}

/* Reads a term with `rank` axes. UINT32_MAX is for the result: its labels determine the rank, and
 * its ellipsis is the longest of all. */
static bool einsum_read(einsum_equation *q, uint32_t rank, einsum_term *t)
{
  uint32_t letters = 0, dots = 0;
  bool ellipsis = false;
  for (const char *s = q->at; *s && *s != ',' && *s != '-'; s++)
    letters += einsum_letter(*s) != EINSUM_NONE, ellipsis = ellipsis || *s == '.';
  if (ellipsis) dots = rank == UINT32_MAX ? q->dots : rank < letters ? 0 : rank - letters;
  if (letters + dots > WICK_MAX_RANK || (rank != UINT32_MAX && letters + dots != rank))
    return einsum_refuse(q, "does not have a label for each axis");
  for (; *q->at && *q->at != ',' && *q->at != '-'; q->at++) {
    uint8_t letter = einsum_letter(*q->at);
    if (letter != EINSUM_NONE) {
      t->label[t->n++] = letter;
    } else if (strncmp(q->at, "...", 3) == 0 && ellipsis) {
      for (uint32_t k = 0; k < dots; k++) /* aligned at the last */
        t->label[t->n++] = (uint8_t)(EINSUM_LETTERS + WICK_MAX_RANK - dots + k);
      q->at += 2;
      ellipsis = false; /* there is one */
    } else {
      return einsum_refuse(q, "is not of labels, commas, an ellipsis in each term and an arrow");
    }
  }
  if (dots > q->dots) q->dots = dots;
  return true;
}

/* Sets the result of an equation without an arrow: the ellipsis, then the labels that occur once,
 * in alphabetical order (capitals first). */
static void einsum_implied(einsum_equation *q)
{
  uint32_t count[EINSUM_LABELS] = {0};
  for (uint32_t i = 0; i < q->o->nin; i++)
    for (uint32_t k = 0; k < q->term[i].n; k++) count[q->term[i].label[k]]++;
  for (uint32_t k = 0; k < q->dots; k++)
    q->out.label[q->out.n++] = (uint8_t)(EINSUM_LABELS - q->dots + k);
  for (uint32_t i = 0; i < EINSUM_LETTERS && q->out.n < WICK_MAX_RANK; i++) {
    uint32_t letter = i < 26 ? i + 26 : i - 26;
    if (count[letter] == 1) q->out.label[q->out.n++] = (uint8_t)letter;
  }
}

static bool einsum_parse(einsum_equation *q)
{
  wick_onnx_op *o = q->o;
  const wick_onnx_attr *a = wick_onnx_attr_find(o, "equation");
  const char *given = wick_wire_text(o->c->tmp, a->s);
  char *plain = wick_new(o->c->tmp, char, strlen(given) + 1), *to = plain;
  for (const char *s = given; *s; s++)
    if (*s != ' ') *to++ = *s;
  q->at = plain;
  q->term = wick_new(o->c->tmp, einsum_term, o->nin);
  for (uint32_t i = 0; i < o->nin; i++) {
    q->term[i].v = o->in[i];
    if (!einsum_read(q, wick_onnx_info(o, i)->rank, &q->term[i])) return false;
    if (i + 1 < o->nin && *q->at++ != ',') return einsum_refuse(q, "has too few terms");
  }
  if (strncmp(q->at, "->", 2) == 0) {
    q->at += 2;
    if (!einsum_read(q, UINT32_MAX, &q->out)) return false;
  } else {
    einsum_implied(q);
  }
  return *q->at ? einsum_refuse(q, "has too many terms") : true;
}

/* ---- terms ---- */

static uint32_t einsum_axis(const einsum_term *t, uint8_t label)
{
  for (uint32_t k = 0; k < t->n; k++)
    if (t->label[k] == label) return k;
  return EINSUM_NONE;
}

static bool einsum_has(const einsum_term *t, uint8_t label)
{
  return einsum_axis(t, label) != EINSUM_NONE;
}

static wick_dim einsum_size(const einsum_equation *q, const einsum_term *t, uint8_t label)
{
  uint32_t k = einsum_axis(t, label);
  return k == EINSUM_NONE || q->o->b->status ? wick_dim_const(1)
                                             : wick_built_info(q->o->b, t->v)->dim[k];
}

/* Transposes the term's axes to that order. Axes that the term does not have get size 1. */
static void einsum_arrange(einsum_equation *q, einsum_term *t, uint32_t n, const uint8_t *label)
{
  int64_t perm[WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  uint32_t there = 0;
  for (uint32_t k = 0; k < n; k++) {
    dim[k] = einsum_size(q, t, label[k]);
    if (einsum_has(t, label[k])) perm[there++] = einsum_axis(t, label[k]);
  }
  t->v = wick_build_transpose(q->o->b, t->v, there, perm);
  t->v = wick_build_reshape(q->o->b, t->v, n, dim);
  t->n = n;
  memcpy(t->label, label, n);
}

/* Takes the diagonal for a label that occurs twice in a term. Both axes move to the end and become
 * one axis of n * n elements; the diagonal is every (n + 1)-th of them. */
static bool einsum_diagonal(einsum_equation *q, einsum_term *t)
{
  wick_onnx_op *o = q->o;
  for (uint32_t i = 0; i < t->n; i++)
    for (uint32_t k = i + 1; k < t->n; k++) {
      if (t->label[i] != t->label[k] || o->b->status) continue;
      const wick_type_info *info = wick_built_info(o->b, t->v);
      wick_dim size = info->dim[i];
      if (!wick_dim_is_const(size) || !wick_dim_eq(size, info->dim[k]))
        return einsum_refuse(q, "has a label twice in a term, and its sizes differ or are dynamic");
      int64_t perm[WICK_MAX_RANK], step[WICK_MAX_RANK];
      wick_dim dim[WICK_MAX_RANK], begin[WICK_MAX_RANK];
      uint8_t label[WICK_MAX_RANK], n = 0;
      for (uint32_t j = 0; j < t->n; j++) {
        if (j == i || j == k) continue;
        perm[n] = j, dim[n] = info->dim[j], label[n++] = t->label[j];
      }
      perm[n] = i, perm[n + 1] = k, label[n] = t->label[i];
      dim[n] = wick_dim_const(size.v * size.v);
      t->v = wick_build_reshape(o->b, wick_build_transpose(o->b, t->v, t->n, perm), n + 1u, dim);
      for (uint32_t j = 0; j <= n; j++) begin[j] = wick_dim_const(0), step[j] = 1;
      dim[n] = size, step[n] = size.v + 1;
      wick_emit e = wick_emit_begin(o->b, WICK_OP_slice);
      wick_emit_set_dims(&e, "begin", n + 1u, begin);
      wick_emit_set_dims(&e, "shape", n + 1u, dim);
      wick_emit_set_ints(&e, "step", n + 1u, step);
      t->v = wick_emit_end1(&e, t->v);
      t->n = n + 1u;
      memcpy(t->label, label, t->n);
      return einsum_diagonal(q, t);
    }
  return true;
}

/* Returns whether the result, or an operand from `from` on, has the label. */
static bool einsum_wanted(const einsum_equation *q, uint8_t label, uint32_t from)
{
  bool wanted = einsum_has(&q->out, label);
  for (uint32_t i = from; i < q->o->nin; i++) wanted = wanted || einsum_has(&q->term[i], label);
  return wanted;
}

/* Sums over the labels that no other term and not the result has. */
static void einsum_sum(einsum_equation *q, einsum_term *t, const einsum_term *other, uint32_t from)
{
  int64_t axes[WICK_MAX_RANK];
  uint32_t n = 0, kept = 0;
  uint8_t label[WICK_MAX_RANK];
  for (uint32_t k = 0; k < t->n; k++) {
    if (einsum_wanted(q, t->label[k], from) || (other && einsum_has(other, t->label[k])))
      label[kept++] = t->label[k];
    else
      axes[n++] = k;
  }
  if (!n) return;
  t->v = wick_emit_reduce(q->o->b, WICK_OP_reduce_sum, t->v, n, axes, false);
  t->n = kept;
  memcpy(t->label, label, kept);
}

/* ---- products ---- */

typedef struct einsum_split { /* labels, grouped by the operands that have them */
  uint32_t nboth, nx, ny, nsum;
  uint8_t both[WICK_MAX_RANK], x[WICK_MAX_RANK], y[WICK_MAX_RANK], sum[WICK_MAX_RANK];
} einsum_split;

static einsum_split einsum_split_of(const einsum_equation *q, const einsum_term *x,
                                    const einsum_term *y, uint32_t from)
{
  einsum_split s = {0};
  for (uint32_t k = 0; k < x->n; k++) {
    uint8_t label = x->label[k];
    if (!einsum_has(y, label))
      s.x[s.nx++] = label;
    else if (einsum_wanted(q, label, from))
      s.both[s.nboth++] = label;
    else
      s.sum[s.nsum++] = label;
  }
  for (uint32_t k = 0; k < y->n; k++)
    if (!einsum_has(x, y->label[k])) s.y[s.ny++] = y->label[k];
  return s;
}

/* Reshapes [both..., a..., b...] to a batch of matrices. Sets *out_rows to the product of the sizes
 * a. */
static void einsum_matrix(einsum_equation *q, einsum_term *t, const einsum_split *s, uint32_t na,
                          const uint8_t *a, uint32_t nb, const uint8_t *b)
{
  wick_dims *dims = q->o->c->module->dims;
  uint8_t order[2 * WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK + 2] = {{0}};
  uint32_t n = s->nboth;
  memcpy(order, s->both, n);
  memcpy(order + n, a, na);
  memcpy(order + n + na, b, nb);
  einsum_arrange(q, t, n + na + nb, order);
  for (uint32_t k = 0; k < n; k++) dim[k] = einsum_size(q, t, order[k]);
  dim[n] = dim[n + 1] = wick_dim_const(1);
  for (uint32_t k = 0; k < na; k++) dim[n] = wick_dim_mul(dims, dim[n], einsum_size(q, t, a[k]));
  for (uint32_t k = 0; k < nb; k++)
    dim[n + 1] = wick_dim_mul(dims, dim[n + 1], einsum_size(q, t, b[k]));
  t->v = wick_build_reshape(q->o->b, t->v, n + 2, dim);
}

/* Multiplies x and y to one term. Sums over labels that no later term and not the result has. */
static bool einsum_product(einsum_equation *q, einsum_term *x, einsum_term *y, uint32_t from)
{
  wick_onnx_op *o = q->o;
  einsum_split s = einsum_split_of(q, x, y, from);
  uint32_t n = s.nboth + s.nx + s.ny;
  uint8_t label[3 * WICK_MAX_RANK];
  wick_dim dim[WICK_MAX_RANK];
  if (n > WICK_MAX_RANK - 2) return einsum_refuse(q, "has too many labels");
  memcpy(label, s.both, s.nboth);
  memcpy(label + s.nboth, s.x, s.nx);
  memcpy(label + s.nboth + s.nx, s.y, s.ny);
  for (uint32_t k = 0; k < n; k++) {
    wick_dim a = einsum_size(q, x, label[k]), b = einsum_size(q, y, label[k]);
    dim[k] = wick_dim_is(a, 1) ? b : a;
  }
  if (s.nsum) {
    einsum_matrix(q, x, &s, s.nx, s.x, s.nsum, s.sum);
    einsum_matrix(q, y, &s, s.nsum, s.sum, s.ny, s.y);
    x->v = wick_build_reshape(o->b, wick_build2(o->b, WICK_OP_matmul, x->v, y->v), n, dim);
  } else {
    einsum_arrange(q, x, n, label);
    einsum_arrange(q, y, n, label);
    x->v = wick_build2(o->b, WICK_OP_mul, x->v, y->v);
  }
  x->n = n;
  memcpy(x->label, label, n);
  return !o->b->status;
}

static void einsum_import(wick_onnx_op *o)
{
  einsum_equation q = {.o = o};
  if (!einsum_parse(&q)) return;
  for (uint32_t i = 0; i < o->nin; i++)
    if (!einsum_diagonal(&q, &q.term[i])) return;
  for (uint32_t k = 0; k < q.out.n; k++) {
    bool there = false;
    for (uint32_t i = 0; i < o->nin; i++) there = there || einsum_has(&q.term[i], q.out.label[k]);
    if (!there || einsum_axis(&q.out, q.out.label[k]) != k) {
      einsum_refuse(&q, "has a label in its result that occurs there twice or in no term");
      return;
    }
  }
  einsum_term x = q.term[0];
  for (uint32_t i = 1; i < o->nin; i++) {
    einsum_sum(&q, &x, &q.term[i], i);
    einsum_sum(&q, &q.term[i], &x, i + 1);
    if (!einsum_product(&q, &x, &q.term[i], i + 1)) return;
  }
  einsum_sum(&q, &x, NULL, o->nin);
  einsum_arrange(&q, &x, q.out.n, q.out.label);
  o->out[0] = x.v;
}

const wick_onnx_row wick_onnx_einsum_rows[] = {
    {"Einsum", 12, {1, WICK_ANY}, 1, "equation:s!", einsum_import, 0, 0},
    {0},
};
