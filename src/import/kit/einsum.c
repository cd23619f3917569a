/* Products by an equation, "abc,cd->abd": both tensors become matrices of what they share (the
 * batch), what only one has, and what is summed. */
#include <string.h>

#include "import/kit/array.h"

enum { EINSUM_LABELS = 64, EINSUM_DOTS = 52 }; /* letters, then the axes of "..." */

typedef struct einsum_term {
  uint32_t n;
  uint8_t label[WICK_MAX_RANK];
} einsum_term;

typedef struct einsum_state {
  wick_import_node *n;
  wick_dim size[EINSUM_LABELS];
  bool in[3][EINSUM_LABELS]; /* of the first, the second, the result */
} einsum_state;

static int einsum_letter(char c)
{
  return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

/* Reads the labels of a term, up to a comma or an arrow. rank: that of the tensor, or of the dots of
 * the result. */
static bool einsum_read(const char **at, uint32_t rank, uint32_t *dots, bool result,
                        einsum_term *out)
{
  uint32_t letters = 0;
  for (const char *s = *at; *s && *s != ',' && *s != '-'; s++) letters += einsum_letter(*s) >= 0;
  uint32_t n = result ? *dots : rank >= letters ? rank - letters : 0;
  out->n = 0;
  for (; **at && **at != ',' && **at != '-'; ++*at) {
    int letter = einsum_letter(**at);
    if (**at == ' ') continue;
    if (strncmp(*at, "...", 3) == 0) {
      for (uint32_t k = 0; k < n && out->n < WICK_MAX_RANK; k++)
        out->label[out->n++] = (uint8_t)(EINSUM_DOTS + WICK_MAX_RANK - n + k);
      if (n > *dots) *dots = n;
      *at += 2;
    } else if (letter >= 0 && out->n < WICK_MAX_RANK) {
      out->label[out->n++] = (uint8_t)letter;
    } else {
      return false;
    }
  }
  return result || out->n == rank;
}

/* Sums x over the labels that neither the other tensor nor the result has. */
static wick_value einsum_alone(einsum_state *s, wick_value x, uint32_t which, einsum_term *t)
{
  int64_t axes[WICK_MAX_RANK];
  uint32_t n = 0, k = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    uint8_t l = t->label[i];
    if (!s->in[1 - which][l] && !s->in[2][l])
      axes[n++] = i, s->in[which][l] = false;
    else
      t->label[k++] = l;
  }
  t->n = k;
  return n ? wick_emit_reduce(s->n->b, WICK_OP_reduce_sum, x, n, axes, false) : x;
}

static wick_dim einsum_product(einsum_state *s, const einsum_term *t)
{
  wick_dim d = wick_dim_const(1);
  for (uint32_t i = 0; i < t->n; i++)
    d = wick_dim_mul(s->n->c->module->dims, d, s->size[t->label[i]]);
  return d;
}

/* Moves the axes of x, labelled t, into the order of three groups, as [group, group, group]. */
static wick_value einsum_matrix(einsum_state *s, wick_value x, const einsum_term *t,
                                const einsum_term *group[3])
{
  int64_t perm[WICK_MAX_RANK];
  wick_dim dim[3];
  uint32_t n = 0;
  for (uint32_t g = 0; g < 3; g++) {
    dim[g] = einsum_product(s, group[g]);
    for (uint32_t i = 0; i < group[g]->n; i++)
      for (uint32_t k = 0; k < t->n; k++)
        if (t->label[k] == group[g]->label[i] && n < WICK_MAX_RANK) perm[n++] = k;
  }
  return wick_build_reshape(s->n->b, wick_build_transpose(s->n->b, x, n, perm), 3, dim);
}

static wick_value einsum_build(einsum_state *s, wick_value x, wick_value y, einsum_term *a,
                               einsum_term *b, const einsum_term *out)
{
  einsum_term batch = {0}, rows = {0}, sum = {0}, columns = {0}, have = {0};
  for (uint32_t i = 0; i < a->n; i++) {
    uint8_t l = a->label[i];
    einsum_term *t = !s->in[1][l] ? &rows : s->in[2][l] ? &batch : &sum;
    t->label[t->n++] = l;
  }
  for (uint32_t i = 0; i < b->n; i++)
    if (!s->in[0][b->label[i]]) columns.label[columns.n++] = b->label[i];
  const einsum_term *left[] = {&batch, &rows, &sum}, *right[] = {&batch, &sum, &columns};
  wick_value p = einsum_matrix(s, x, a, left);
  wick_value q = einsum_matrix(s, y, b, right);
  wick_value r = wick_build2(s->n->b, WICK_OP_matmul, p, q);
  const einsum_term *parts[] = {&batch, &rows, &columns};
  wick_dim dim[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t g = 0; g < 3; g++)
    for (uint32_t i = 0; i < parts[g]->n && have.n < WICK_MAX_RANK; i++) {
      dim[have.n] = s->size[parts[g]->label[i]];
      have.label[have.n++] = parts[g]->label[i];
    }
  if (have.n != out->n) {
    wick_import_fail(s->n, WICK_EUNSUPPORTED, "this equation is not supported");
    return r;
  }
  for (uint32_t i = 0; i < out->n; i++)
    for (uint32_t k = 0; k < have.n; k++)
      if (have.label[k] == out->label[i]) perm[i] = k;
  return wick_build_transpose(s->n->b, wick_build_reshape(s->n->b, r, have.n, dim), out->n, perm);
}

wick_value wick_array_einsum(wick_import_node *n, const char *equation, wick_value x, wick_value y)
{
  if (n->b->status || !x.id || !y.id) return x;
  const wick_type_info tx = *wick_built_info(n->b, x), ty = *wick_built_info(n->b, y);
  einsum_state s = {.n = n};
  einsum_term t[3];
  uint32_t dots = 0;
  const char *at = equation;
  bool good = einsum_read(&at, tx.rank, &dots, false, &t[0]) && *at++ == ',';
  good = good && einsum_read(&at, ty.rank, &dots, false, &t[1]) && *at++ == '-';
  good = good && *at++ == '>' && einsum_read(&at, 0, &dots, true, &t[2]) && !*at;
  for (uint32_t k = 0; k < 3 && good; k++)
    for (uint32_t i = 0; i < t[k].n; i++) {
      uint8_t l = t[k].label[i];
      good = good && !s.in[k][l]; /* diagonals */
      s.in[k][l] = true;
      if (k < 2) {
        wick_dim d = (k ? &ty : &tx)->dim[i];
        if (k == 1 && s.in[0][l] && !wick_import_equal(n, s.size[l], d)) return x;
        s.size[l] = d;
      } else {
        good = good && (s.in[0][l] || s.in[1][l]);
      }
    }
  if (!good) {
    if (!n->b->status)
      wick_import_fail(n, WICK_EUNSUPPORTED, "the equation \"%s\" is not supported",
                       wick_import_shown(n->c, equation));
    return x;
  }
  x = einsum_alone(&s, x, 0, &t[0]);
  y = einsum_alone(&s, y, 1, &t[1]);
  return einsum_build(&s, x, y, &t[0], &t[1], &t[2]);
}
