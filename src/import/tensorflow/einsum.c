/* Einsum: each pair of operands becomes one product of matrices. */
#include <string.h>

#include "import/tensorflow/ops.h"

enum { EINSUM_LABELS = 2 * WICK_MAX_RANK };

typedef struct einsum_term {
  wick_value v;
  uint32_t n;
  unsigned char
      label[WICK_MAX_RANK]; /* letters; 1, 2, ... for the dimensions of "..." from the end */
} einsum_term;

/* Reads the labels of one term. False after a failure. */
static bool einsum_labels(wick_import_node *n, const char **at, uint32_t rank, bool out,
                          uint32_t ndots, einsum_term *t)
{
  uint32_t letters = 0;
  for (const char *s = *at; *s && *s != ',' && strncmp(s, "->", 2) != 0; s++)
    letters += *s != '.' && *s != ' ';
  t->n = 0;
  for (; **at && **at != ',' && strncmp(*at, "->", 2) != 0; ++*at) {
    if (**at == ' ') continue;
    if (**at == '.') {
      uint32_t more = out ? ndots : rank - (letters < rank ? letters : rank);
      if (strncmp(*at, "...", 3) != 0) break;
      *at += 2;
      for (uint32_t k = 0; k < more && t->n < WICK_MAX_RANK; k++)
        t->label[t->n++] = (unsigned char)(more - k);
    } else if (t->n < WICK_MAX_RANK) {
      t->label[t->n++] = (unsigned char)**at;
    } else {
      break;
    }
  }
  if ((**at && **at != ',' && strncmp(*at, "->", 2) != 0) || (!out && t->n != rank)) {
    wick_import_fail(n, WICK_ETYPE, "the equation does not fit an operand of rank %u", rank);
    return false;
  }
  for (uint32_t i = 0; i < t->n; i++)
    for (uint32_t k = 0; k < i; k++)
      if (t->label[i] == t->label[k]) {
        wick_import_fail(n, WICK_EUNSUPPORTED, "a label occurs twice in one term");
        return false;
      }
  return true;
}

static int einsum_find(const einsum_term *t, unsigned char label)
{
  for (uint32_t i = 0; i < t->n; i++)
    if (t->label[i] == label) return (int)i;
  return -1;
}

/* Sums over labels that nothing else has. */
static void einsum_reduce(wick_import_node *n, einsum_term *t, const einsum_term *other,
                          const einsum_term *out)
{
  int64_t axes[WICK_MAX_RANK];
  uint32_t count = 0, kept = 0;
  for (uint32_t i = 0; i < t->n; i++) {
    bool used =
        einsum_find(out, t->label[i]) >= 0 || (other && einsum_find(other, t->label[i]) >= 0);
    if (!used) axes[count++] = i;
    if (used) t->label[kept++] = t->label[i];
  }
  t->n = kept;
  if (count) t->v = wick_emit_reduce(n->b, WICK_OP_reduce_sum, t->v, count, axes, false);
}

static wick_value einsum_arranged(wick_import_node *n, const einsum_term *t, uint32_t count,
                                  const unsigned char *label)
{
  int64_t perm[WICK_MAX_RANK];
  for (uint32_t i = 0; i < count; i++) perm[i] = einsum_find(t, label[i]);
  return wick_build_transpose(n->b, t->v, count, perm);
}

static wick_dim einsum_size(wick_import_node *n, const einsum_term *t, unsigned char label)
{
  return wick_built_info(n->b, t->v)->dim[einsum_find(t, label)];
}

/* The product of two terms, with the labels batch, free of a, free of b. */
static bool einsum_pair(wick_import_node *n, einsum_term *a, einsum_term *b, const einsum_term *out)
{
  wick_dims *d = n->c->module->dims;
  unsigned char batch[WICK_MAX_RANK], inner[WICK_MAX_RANK], free_a[WICK_MAX_RANK],
      free_b[WICK_MAX_RANK], order[EINSUM_LABELS];
  uint32_t nbatch = 0, ninner = 0, na = 0, nb = 0;
  wick_dim one = wick_dim_const(1), size[4] = {one, one, one, one}, dim[WICK_MAX_RANK];
  einsum_reduce(n, a, b, out);
  einsum_reduce(n, b, a, out);
  if (n->b->status) return false;
  for (uint32_t i = 0; i < a->n; i++) {
    unsigned char l = a->label[i];
    wick_dim s = einsum_size(n, a, l);
    if (einsum_find(b, l) < 0) {
      free_a[na++] = l, size[1] = wick_dim_mul(d, size[1], s);
      continue;
    }
    wick_dim other = einsum_size(n, b, l);
    if (!wick_import_equal(n, s, other)) {
      wick_import_fail(n, WICK_ETYPE, "the sizes of one label differ");
      return false;
    }
    if (!wick_dim_is_const(s)) s = other;
    bool keep = einsum_find(out, l) >= 0;
    if (keep)
      batch[nbatch++] = l, size[0] = wick_dim_mul(d, size[0], s);
    else
      inner[ninner++] = l, size[2] = wick_dim_mul(d, size[2], s);
  }
  for (uint32_t i = 0; i < b->n; i++)
    if (einsum_find(a, b->label[i]) < 0) {
      free_b[nb++] = b->label[i];
      size[3] = wick_dim_mul(d, size[3], einsum_size(n, b, b->label[i]));
    }
  if (nbatch + na + nb > WICK_MAX_RANK) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "a product of more than %d dimensions", WICK_MAX_RANK);
    return false;
  }
  memcpy(order, batch, nbatch), memcpy(order + nbatch, free_a, na);
  memcpy(order + nbatch + na, inner, ninner);
  wick_value x = einsum_arranged(n, a, a->n, order);
  x = wick_build_reshape(n->b, x, 3, (wick_dim[]){size[0], size[1], size[2]});
  memcpy(order + nbatch, inner, ninner), memcpy(order + nbatch + ninner, free_b, nb);
  wick_value y = einsum_arranged(n, b, b->n, order);
  y = wick_build_reshape(n->b, y, 3, (wick_dim[]){size[0], size[2], size[3]});
  uint32_t r = 0;
  for (uint32_t i = 0; i < nbatch; i++) order[r] = batch[i], dim[r++] = einsum_size(n, a, batch[i]);
  for (uint32_t i = 0; i < na; i++) order[r] = free_a[i], dim[r++] = einsum_size(n, a, free_a[i]);
  for (uint32_t i = 0; i < nb; i++) order[r] = free_b[i], dim[r++] = einsum_size(n, b, free_b[i]);
  a->v = wick_build_reshape(n->b, wick_build2(n->b, WICK_OP_matmul, x, y), r, dim);
  a->n = r;
  memcpy(a->label, order, r);
  return !n->b->status;
}

void wick_tf_import_einsum(wick_import_node *n)
{
  const char *at = wick_import_text(n, "equation", "");
  einsum_term *term = wick_new(n->c->tmp, einsum_term, n->nin + 1u), out = {0};
  uint32_t ndots = 0;
  for (uint32_t i = 0; i < n->nin; i++) {
    term[i].v = n->in[i];
    if (!einsum_labels(n, &at, wick_import_info(n, i)->rank, false, 0, &term[i])) return;
    for (uint32_t k = 0; k < term[i].n; k++)
      if (term[i].label[k] <= WICK_MAX_RANK && term[i].label[k] > ndots) ndots = term[i].label[k];
    if (i + 1 < n->nin && *at++ != ',') {
      wick_import_fail(n, WICK_ETYPE, "the equation has fewer terms than there are operands");
      return;
    }
  }
  if (strncmp(at, "->", 2) != 0) {
    wick_import_fail(n, WICK_EUNSUPPORTED, "the equation has no \"->\" after its operands");
    return;
  }
  at += 2;
  if (!einsum_labels(n, &at, 0, true, ndots, &out)) return;
  for (uint32_t i = 1; i < n->nin; i++) {
    einsum_term keep = out; /* labels that later terms have stay, too */
    for (uint32_t k = i + 1; k < n->nin; k++)
      for (uint32_t j = 0; j < term[k].n; j++)
        if (einsum_find(&keep, term[k].label[j]) < 0 && keep.n < WICK_MAX_RANK)
          keep.label[keep.n++] = term[k].label[j];
    if (!einsum_pair(n, &term[0], &term[i], &keep)) return;
  }
  einsum_reduce(n, &term[0], NULL, &out);
  if (term[0].n != out.n) {
    wick_import_fail(n, WICK_ETYPE, "the result has a label that no operand has");
    return;
  }
  for (uint32_t k = 0; k < out.n; k++)
    if (einsum_find(&term[0], out.label[k]) < 0) {
      wick_import_fail(n, WICK_ETYPE, "the result has a label that no operand has");
      return;
    }
  n->out[0] = einsum_arranged(n, &term[0], out.n, out.label);
}
