/* keras.ops.rearrange: axes that are split, ordered and joined by a pattern, "b (h c) -> c b h". */
#include <ctype.h>
#include <string.h>

#include "import/keras/model.h"
#include "import/keras/rows.h"
#include "import/kit/array.h"

typedef struct rearrange_side {
  uint32_t n; /* axes, those of groups one by one */
  const char *name[WICK_MAX_RANK];
  size_t length[WICK_MAX_RANK];
  uint32_t group[WICK_MAX_RANK]; /* of each axis: the dimension to which it belongs */
  uint32_t rank;                 /* dimensions */
} rearrange_side;

/* Reads one side of the pattern. Returns false if it is no such pattern. */
static bool rearrange_parse(const char *at, const char *end, rearrange_side *out)
{
  bool within = false;
  *out = (rearrange_side){0};
  while (at < end) {
    if (*at == ' ') {
      at++;
    } else if (*at == '(' || *at == ')') {
      if (within == (*at == '(') || (!within && out->rank == WICK_MAX_RANK)) return false;
      if (within) out->rank++;
      within = *at++ == '(';
    } else {
      const char *begin = at;
      while (at < end && (isalnum((unsigned char)*at) || *at == '_')) at++;
      if (at == begin || out->n == WICK_MAX_RANK || out->rank == WICK_MAX_RANK) return false;
      out->name[out->n] = begin, out->length[out->n] = (size_t)(at - begin);
      out->group[out->n++] = out->rank;
      if (!within) out->rank++;
    }
  }
  return !within;
}

static uint32_t rearrange_find(const rearrange_side *s, const char *name, size_t length)
{
  uint32_t i = 0;
  while (i < s->n && (s->length[i] != length || memcmp(s->name[i], name, length) != 0)) i++;
  return i;
}

/* Reads the sizes that are arguments, by the names of axes; -1 for the others. */
static bool rearrange_given(wick_import_node *n, const rearrange_side *s, wick_dim *size)
{
  const keras_call *call = keras_of(n);
  for (uint32_t i = 0; i < s->n; i++) size[i] = wick_dim_const(-1);
  for (uint32_t k = 0; k < call->narg; k++) {
    const keras_arg *a = &call->arg[k];
    int64_t v;
    if (!a->key || strcmp(a->key, "pattern") == 0 || strcmp(a->key, "tensor") == 0) continue;
    uint32_t i = rearrange_find(s, a->key, strlen(a->key));
    if (i == s->n || a->kind != KERAS_CONST || !wick_json_int(a->json, &v) || v < 1) {
      wick_import_fail(n, WICK_EPARSE, "%s is no axis of the pattern, or no number",
                       wick_import_shown(n->c, a->key));
      return false;
    }
    size[i] = wick_dim_const(v);
  }
  return true;
}

/* Computes the sizes that are not given, at most one of each dimension. */
static bool rearrange_sizes(wick_import_node *n, const rearrange_side *s, const wick_dim *dim,
                            wick_dim *size)
{
  wick_dims *t = n->c->module->dims;
  for (uint32_t d = 0; d < s->rank; d++) {
    wick_dim rest = dim[d];
    uint32_t open = s->n;
    for (uint32_t i = 0; i < s->n; i++) {
      if (s->group[i] != d) continue;
      if (!wick_dim_is(size[i], -1)) {
        rest = wick_dim_floordiv(t, rest, size[i]);
      } else if (open < s->n) {
        wick_import_fail(n, WICK_EPARSE, "two sizes of a group are missing");
        return false;
      } else {
        open = i;
      }
    }
    if (open < s->n) size[open] = rest;
  }
  return true;
}

static void rearrange(wick_import_node *n)
{
  wick_dims *t = n->c->module->dims;
  wick_value x = keras_operand(n, 0, "tensor", (wick_value){0});
  const keras_arg *a = keras_argument(n, 1, "pattern");
  const char *pattern = a->kind == KERAS_CONST ? keras_text(n->c, a->json, NULL) : NULL;
  const char *arrow = pattern ? strstr(pattern, "->") : NULL;
  rearrange_side in, out;
  wick_dim size[WICK_MAX_RANK], dim[WICK_MAX_RANK];
  int64_t perm[WICK_MAX_RANK];
  if (n->failed || n->b->status) return;
  bool good = arrow && rearrange_parse(pattern, arrow, &in) &&
              rearrange_parse(arrow + 2, arrow + strlen(arrow), &out) && in.n == out.n &&
              in.rank == keras_rank(n, x);
  uint32_t used = 0;
  for (uint32_t i = 0; good && i < out.n; i++) {
    uint32_t k = rearrange_find(&in, out.name[i], out.length[i]);
    good = k < in.n && !(used >> k & 1);
    used |= good ? 1u << k : 0;
    perm[i] = k;
  }
  if (!good) {
    wick_import_fail(n, WICK_EPARSE, "the pattern \"%s\" does not fit",
                     pattern ? wick_import_shown(n->c, pattern) : "");
    return;
  }
  if (!rearrange_given(n, &in, size) || !rearrange_sizes(n, &in, keras_dims(n, x), size)) return;
  x = wick_build_reshape(n->b, x, in.n, size);
  x = wick_build_transpose(n->b, x, in.n, perm);
  for (uint32_t d = 0; d < out.rank; d++) dim[d] = wick_dim_const(1);
  for (uint32_t i = 0; i < out.n; i++)
    dim[out.group[i]] = wick_dim_mul(t, dim[out.group[i]], size[perm[i]]);
  n->out[0] = wick_build_reshape(n->b, x, out.rank, dim);
}

const wick_import_op keras_rearranging[] = {
    KERAS_ROW("Rearrange", 1, 1, 1, rearrange, .arg = 0),
    {.name = NULL},
};
