/* Operators that make tensors, and that change their shapes. */
#include <stdlib.h>

#include "import/relay/state.h"
#include "import/relay/table.h"

/* ---- tensors of one value ---- */

static const char *shapes_filled(relay_member *m)
{
  int64_t shape[RELAY_MOST_INTS];
  int n = wick_relay_ints(m, "shape", shape);
  const char *dtype = wick_relay_word(m, "dtype", m->row->most ? NULL : "float32"),
             *elem = dtype && *dtype ? wick_relay_element(dtype) : NULL;
  const char *value = m->row->most ? "a" : m->row->name[0] == 'z' ? "0" : "1";
  if (n < 0) return wick_relay_fail(m, "the attribute `shape` must be given");
  if (!elem && !m->row->most) return wick_relay_fail(m, "there is no element type `%s`", dtype);
  const char *one = elem ? wick_relay_text(m, "%s(%s)", elem, value) : value;
  return n ? wick_relay_text(m, "broadcast_to(%s, shape = %s)", one, wick_relay_tuple(m, n, shape))
           : one;
}

static const char *shapes_of(relay_member *m, uint32_t k)
{
  const char *dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < wick_relay_rank(m, k); i++) dim[i] = wick_relay_size(m, k, i);
  return wick_relay_dims(m, wick_relay_rank(m, k), dim);
}

static const char *shapes_to(relay_member *m, const char *x, const char *to)
{
  return strcmp(to, "()") == 0 ? x : wick_relay_text(m, "broadcast_to(%s, shape = %s)", x, to);
}

static const char *shapes_filled_like(relay_member *m)
{
  const char *name = m->row->name, *elem = wick_elem_name(wick_relay_elem(m, 0));
  bool full = name[0] == 'f';
  const char *one = wick_relay_text(m, "%s(%s)", elem, full ? "b" : name[0] == 'z' ? "0" : "1");
  return shapes_to(m, one, shapes_of(m, 0));
}

static const char *shapes_broadcast(relay_member *m)
{
  int64_t shape[RELAY_MOST_INTS];
  if (m->row->most == 2) return shapes_to(m, "a", shapes_of(m, 1));
  int n = wick_relay_ints(m, "shape", shape);
  if (n < 0) return wick_relay_fail(m, "the attribute `shape` must be given");
  return shapes_to(m, "a", wick_relay_tuple(m, n, shape));
}

/* A number that the program says: a literal, or a constant. */
static bool shapes_number(const relay_member *m, uint32_t k, double *out)
{
  const wick_ast *n = k + 1 < m->use->node->nkid ? m->use->node->kid[k + 1] : NULL;
  if (!n) return false;
  *out = n->kind == WICK_AST_FLOAT ? n->f : (double)n->i;
  if (n->kind == WICK_AST_INT || n->kind == WICK_AST_FLOAT) return true;
  if (n->kind != WICK_AST_TENSOR || n->tensor->rank) return false;
  wick_scalar v = wick_load_elem(n->tensor->elem, n->tensor->data, 0);
  *out = wick_elem_is_float(n->tensor->elem) ? v.f : (double)v.i;
  return true;
}

static const char *shapes_arange(relay_member *m)
{
  double v[3];
  const char *elem = wick_relay_element(wick_relay_word(m, "dtype", "float32"));
  for (uint32_t k = 0; k < 3; k++)
    if (!shapes_number(m, k, &v[k]))
      return wick_relay_fail(m, "start, stop and step must be constants");
  if (!elem) return wick_relay_fail(m, "the attribute `dtype` must be an element type");
  double count = (v[1] - v[0]) / v[2];
  if (!(count < 1e9) || !(count > -1e9)) return wick_relay_fail(m, "the range has no end");
  int64_t n = count <= 0 ? 0 : (int64_t)count;
  if ((double)n < count && count > 0) n++;
  return wick_relay_text(m, "range(%s(a), %s(c), count = %lld)", elem, elem, (long long)n);
}

/* ---- reshape ---- */

typedef struct shapes_reshape {
  uint32_t nin, nout, at; /* `at`: the next size of the operand */
  const char *in[WICK_MAX_RANK], *out[2 * RELAY_MOST_INTS];
} shapes_reshape;

/* Splits a size into two, of which one may be -1. */
static bool shapes_split_size(relay_member *m, shapes_reshape *r, int64_t x, int64_t y)
{
  char *end;
  long long d = r->at < r->nin ? strtoll(r->in[r->at], &end, 10) : -1;
  if (r->at >= r->nin || *end || (x <= 0 && y <= 0)) {
    wick_relay_fail(m, "-4 needs a known size and one of two parts");
    return false;
  }
  r->at++;
  if (x <= 0) x = d / y;
  if (y <= 0) y = d / x;
  r->out[r->nout++] = wick_relay_text(m, "%lld", (long long)x);
  r->out[r->nout++] = wick_relay_text(m, "%lld", (long long)y);
  return true;
}

/* The codes of Relay: 0 keeps a size, -1 is inferred, -2 keeps the rest, -3 joins two sizes, -4
 * splits one into the next two numbers. */
static bool shapes_codes(relay_member *m, shapes_reshape *r, int n, const int64_t *code)
{
  for (int i = 0; i < n && r->nout < RELAY_MOST_INTS; i++) {
    bool more = r->at < r->nin;
    if (code[i] > 0) {
      r->out[r->nout++] = wick_relay_text(m, "%lld", (long long)code[i]);
      r->at++;
    } else if (code[i] == 0 && more) {
      r->out[r->nout++] = r->in[r->at++];
    } else if (code[i] == 0 && wick_relay_int(m, "allowzero", 0)) {
      r->out[r->nout++] = "0";
    } else if (code[i] == -1) {
      r->out[r->nout++] = "-1";
      r->at++;
    } else if (code[i] == -2) {
      while (r->at < r->nin) r->out[r->nout++] = r->in[r->at++];
    } else if (code[i] == -3 && r->at + 1 < r->nin) {
      r->out[r->nout++] = wick_relay_text(m, "%s * %s", r->in[r->at], r->in[r->at + 1]);
      r->at += 2;
    } else if (code[i] == -4 && i + 2 < n) {
      if (!shapes_split_size(m, r, code[i + 1], code[i + 2])) return false;
      i += 2;
    } else {
      wick_relay_fail(m, "the shape has no meaning for this operand: number %d is %lld", i + 1,
                      (long long)code[i]);
      return false;
    }
  }
  return true;
}

static void shapes_turn(uint32_t n, const char **at)
{
  for (uint32_t i = 0; i < n / 2; i++) {
    const char *keep = at[i];
    at[i] = at[n - 1 - i], at[n - 1 - i] = keep;
  }
}

static const char *shapes_reshaped(relay_member *m)
{
  shapes_reshape r = {.nin = wick_relay_rank(m, 0)};
  int64_t code[RELAY_MOST_INTS], turned[RELAY_MOST_INTS];
  int n = wick_relay_ints(m, "newshape", code);
  bool reverse = strcmp(m->row->name, "reshape") != 0;
  if (n < 0) return wick_relay_fail(m, "the attribute `newshape` must be given");
  for (uint32_t i = 0; i < r.nin; i++) r.in[i] = wick_relay_size(m, 0, i);
  for (int i = 0; i < n; i++) turned[i] = code[n - 1 - i];
  if (reverse) shapes_turn(r.nin, r.in);
  if (!shapes_codes(m, &r, n, reverse ? turned : code)) return NULL;
  if (reverse) shapes_turn(r.nout, r.out);
  return wick_relay_text(m, "reshape(a, shape = %s)", wick_relay_dims(m, r.nout, r.out));
}

static int64_t shapes_bound(const relay_member *m, const char *name, int64_t dflt, uint32_t rank)
{
  int64_t i = wick_relay_int(m, name, dflt);
  if (i < 0) i += rank;
  return i < 0 ? 0 : i > rank ? rank : i;
}

static const char *shapes_reshape_like(relay_member *m)
{
  uint32_t na = wick_relay_rank(m, 0), nb = wick_relay_rank(m, 1), n = 0;
  const char *dim[3 * WICK_MAX_RANK];
  int64_t begin = shapes_bound(m, "lhs_begin", 0, na), end = shapes_bound(m, "lhs_end", na, na),
          from = shapes_bound(m, "rhs_begin", 0, nb), to = shapes_bound(m, "rhs_end", nb, nb);
  for (int64_t i = 0; i < begin; i++) dim[n++] = wick_relay_size(m, 0, (uint32_t)i);
  for (int64_t i = from; i < to; i++) dim[n++] = wick_relay_size(m, 1, (uint32_t)i);
  for (int64_t i = end; i < na; i++) dim[n++] = wick_relay_size(m, 0, (uint32_t)i);
  return wick_relay_text(m, "reshape(a, shape = %s)", wick_relay_dims(m, n, dim));
}

/* ---- axes ---- */

static const char *shapes_expand(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0), n = 0;
  int64_t more = wick_relay_int(m, "num_newaxis", 1);
  if (more < 0 || more + rank > WICK_MAX_RANK) return wick_relay_fail(m, "there are too many axes");
  const char *dim[WICK_MAX_RANK];
  int64_t axis = wick_relay_int(m, "axis", 0);
  if (axis < 0) axis += rank + 1;
  if (axis < 0 || axis > rank)
    return wick_relay_fail(m, "axis %lld is outside of [%d, %d]",
                           (long long)wick_relay_int(m, "axis", 0), -(int)rank - 1, (int)rank);
  for (uint32_t i = 0; i <= rank; i++) {
    for (int64_t k = 0; i == (uint32_t)axis && k < more; k++) dim[n++] = "1";
    if (i < rank) dim[n++] = wick_relay_size(m, 0, i);
  }
  return wick_relay_text(m, "reshape(a, shape = %s)", wick_relay_dims(m, n, dim));
}

static const char *shapes_squeeze(relay_member *m)
{
  int64_t axis[RELAY_MOST_INTS];
  uint32_t rank = wick_relay_rank(m, 0), left = 0;
  int n = wick_relay_ints(m, "axis", axis);
  const char *dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) {
    bool drop = n < 0 && wick_relay_operand(m, 0)->dim[i] == 1;
    for (int k = 0; k < n; k++) drop = drop || axis[k] == i || axis[k] + rank == i;
    if (!drop) dim[left++] = wick_relay_size(m, 0, i);
    if (drop && wick_relay_known(m, 0, i) != 1)
      return wick_relay_fail(m, "axis %u has the size %lld, not 1", i,
                             (long long)wick_relay_known(m, 0, i));
  }
  return wick_relay_text(m, "reshape(a, shape = %s)", wick_relay_dims(m, left, dim));
}

static const char *shapes_transposed(relay_member *m)
{
  int64_t axes[RELAY_MOST_INTS];
  int n = wick_relay_ints(m, "axes", axes);
  uint32_t rank = wick_relay_rank(m, 0);
  if (n <= 0 && rank) return rank > 1 ? "transpose(a)" : "a";
  if ((uint32_t)n != rank) return wick_relay_fail(m, "`axes` has %d numbers, expected %u", n, rank);
  for (int i = 0; i < n; i++)
    if (axes[i] < 0) axes[i] += rank;
  return rank ? wick_relay_transpose(m, "a", rank, axes) : "a";
}

/* The items of the operand, which is a tuple, as arguments; each through `fmt`. */
static const char *shapes_items(relay_member *m, const char *before, const char *after)
{
  const wick_lang_operand *x = wick_relay_operand(m, 0);
  wick_text t = wick_text_begin(m->mem);
  for (uint32_t i = 0; i < x->n; i++)
    wick_text_printf(&t, "%s%sa.%u%s", i ? ", " : "", before, i, after);
  return t.at;
}

static bool shapes_is_tuple(relay_member *m)
{
  const wick_lang_operand *x = wick_relay_operand(m, 0);
  bool ok = x->kind == WICK_OPERAND_TUPLE && x->n > 0;
  for (uint32_t i = 0; ok && i < x->n; i++) ok = x->item[i].kind == WICK_OPERAND_TENSOR;
  if (!ok) wick_relay_fail(m, "the operand must be a tuple of tensors");
  return ok;
}

static const char *shapes_concatenate(relay_member *m)
{
  if (!shapes_is_tuple(m)) return NULL;
  int64_t axis = wick_relay_axis(m, "axis", 0, wick_relay_operand(m, 0)->item[0].rank);
  return wick_relay_text(m, "concat(%s, axis = %lld)", shapes_items(m, "", ""), (long long)axis);
}

static const char *shapes_stack(relay_member *m)
{
  if (!shapes_is_tuple(m)) return NULL;
  const wick_lang_operand *x = &wick_relay_operand(m, 0)->item[0];
  const char *dim[WICK_MAX_RANK + 1];
  int64_t axis = wick_relay_axis(m, "axis", 0, x->rank + 1);
  if (x->rank == WICK_MAX_RANK) return wick_relay_fail(m, "there are too many axes");
  for (uint32_t i = 0, k = 0; i <= x->rank; i++) {
    bool here = i == (uint32_t)axis;
    if (!here && x->dim[k] < 0) return wick_relay_fail(m, "the operands' sizes must be known");
    dim[i] = here ? "1" : wick_relay_text(m, "%lld", (long long)x->dim[k++]);
  }
  const char *after = wick_relay_text(m, ", shape = %s)", wick_relay_dims(m, x->rank + 1, dim));
  return wick_relay_text(m, "concat(%s, axis = %lld)", shapes_items(m, "reshape(", after),
                         (long long)axis);
}

static const char *shapes_split(relay_member *m)
{
  int64_t axis = wick_relay_axis(m, "axis", 0, wick_relay_rank(m, 0)), at[RELAY_MOST_INTS];
  const wick_ast *v = wick_relay_attr(m, "indices_or_sections");
  if (!v || !wick_relay_rank(m, 0)) return wick_relay_fail(m, "there is nothing to split");
  if (v->kind != WICK_AST_TUPLE)
    return wick_relay_text(m, "split(a, axis = %lld, parts = %lld)", (long long)axis,
                           (long long)wick_relay_int(m, "indices_or_sections", 1));
  int n = wick_relay_ints(m, "indices_or_sections", at);
  const char *part[RELAY_MOST_INTS + 1];
  int64_t before = 0;
  for (int i = 0; i < n; before = at[i++])
    part[i] = wick_relay_text(m, "%lld", (long long)(at[i] - before));
  part[n] =
      wick_relay_text(m, "%s - %lld", wick_relay_size(m, 0, (uint32_t)axis), (long long)before);
  if (wick_relay_operand(m, 0)->dim[axis] >= 0)
    part[n] = wick_relay_text(m, "%lld", (long long)(wick_relay_operand(m, 0)->dim[axis] - before));
  return wick_relay_text(m, "split(a, axis = %lld, sizes = %s)", (long long)axis,
                         wick_relay_dims(m, (uint32_t)n + 1, part));
}

/* ---- repetition ---- */

static const char *shapes_tile(relay_member *m)
{
  int64_t reps[RELAY_MOST_INTS], all[2 * RELAY_MOST_INTS];
  int n = wick_relay_ints(m, "reps", reps);
  uint32_t rank = wick_relay_rank(m, 0), more = n > (int)rank ? (uint32_t)n - rank : 0;
  if (n < 0) return wick_relay_fail(m, "the attribute `reps` must be given");
  const char *dim[2 * RELAY_MOST_INTS];
  for (uint32_t i = 0; i < rank + more; i++) {
    int64_t k = (int64_t)i - ((int64_t)rank + more - n);
    all[i] = k < 0 ? 1 : reps[k];
    dim[i] = i < more ? "1" : wick_relay_size(m, 0, i - more);
  }
  const char *x =
      more ? wick_relay_text(m, "reshape(a, shape = %s)", wick_relay_dims(m, rank + more, dim))
           : "a";
  return wick_relay_text(m, "tile(%s, repeats = %s)", x,
                         wick_relay_tuple(m, (int)(rank + more), all));
}

static const char *shapes_repeat(relay_member *m)
{
  int64_t count = wick_relay_int(m, "repeats", 1);
  uint32_t rank = wick_relay_rank(m, 0), n = 0;
  if (!wick_relay_attr(m, "axis"))
    return wick_relay_text(
        m,
        "reshape(transpose(tile(reshape(a, shape = (1, -1)), repeats = (%lld, 1))), shape = (-1,))",
        (long long)count);
  int64_t axis = wick_relay_axis(m, "axis", 0, rank);
  const char *one[WICK_MAX_RANK + 1], *all[WICK_MAX_RANK + 1], *out[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank && n < WICK_MAX_RANK; i++) {
    out[i] = one[n] = all[n] = wick_relay_size(m, 0, i), n++;
    if (i != (uint32_t)axis) continue;
    one[n] = "1", all[n++] = wick_relay_text(m, "%lld", (long long)count);
    out[i] = wick_relay_text(m, "%s * %lld", out[i], (long long)count);
  }
  return wick_relay_text(m, "reshape(broadcast_to(reshape(a, shape = %s), shape = %s), shape = %s)",
                         wick_relay_dims(m, n, one), wick_relay_dims(m, n, all),
                         wick_relay_dims(m, rank, out));
}

static const char *shapes_meshgrid(relay_member *m)
{
  if (!shapes_is_tuple(m)) return NULL;
  const wick_lang_operand *x = wick_relay_operand(m, 0);
  bool xy = strcmp(wick_relay_word(m, "indexing", "ij"), "xy") == 0 && x->n > 1;
  const char *all[WICK_MAX_RANK], *one[WICK_MAX_RANK];
  if (x->n > WICK_MAX_RANK) return wick_relay_fail(m, "there are too many operands");
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t to = xy && i < 2 ? 1 - i : i;
    int64_t d = x->item[i].rank ? x->item[i].dim[0] : 1;
    if (d < 0) return wick_relay_fail(m, "the operands' sizes must be known");
    all[to] = wick_relay_text(m, "%lld", (long long)d);
  }
  wick_text t = wick_text_begin(m->mem);
  for (uint32_t i = 0; i < x->n; i++) {
    uint32_t to = xy && i < 2 ? 1 - i : i;
    for (uint32_t k = 0; k < x->n; k++) one[k] = k == to ? all[k] : "1";
    wick_text_printf(&t, "broadcast_to(reshape(a.%u, shape = %s), shape = %s), ", i,
                     wick_relay_dims(m, x->n, one), wick_relay_dims(m, x->n, all));
  }
  return wick_relay_text(m, "(%s)", t.at);
}

/* ---- layouts ---- */

/* A layout such as NCHW4c: its axes, and for blocks (small letters) their sizes. */
typedef struct shapes_layout {
  uint32_t n;
  char axis[WICK_MAX_RANK];
  int64_t block[WICK_MAX_RANK];
} shapes_layout;

static bool shapes_read_layout(relay_member *m, const char *text, shapes_layout *out)
{
  int64_t block = 0;
  out->n = 0;
  for (; *text && out->n < WICK_MAX_RANK; text++) {
    if (*text >= '0' && *text <= '9') {
      block = 10 * (block < 100000 ? block : 0) + (*text - '0');
      continue;
    }
    out->axis[out->n] = *text, out->block[out->n++] = block, block = 0;
  }
  if (!*text && out->n) return true;
  wick_relay_fail(m, "this is no layout");
  return false;
}

static int shapes_find(const shapes_layout *l, char axis)
{
  for (uint32_t i = 0; i < l->n; i++)
    if (l->axis[i] == axis) return (int)i;
  return -1;
}
static char shapes_small(char c) { return (char)(c - 'A' + 'a'); }
static bool shapes_is_small(char c) { return c >= 'a'; }

/* Joins the blocks of the first layout, then makes those of the second. */
static const char *shapes_layout_transform(relay_member *m)
{
  shapes_layout a, b, plain = {0};
  if (!shapes_read_layout(m, wick_relay_word(m, "src_layout", ""), &a) ||
      !shapes_read_layout(m, wick_relay_word(m, "dst_layout", ""), &b))
    return NULL;
  if (a.n != wick_relay_rank(m, 0))
    return wick_relay_fail(m, "the layout has other axes than the operand");
  int64_t perm[2 * WICK_MAX_RANK];
  const char *dim[2 * WICK_MAX_RANK], *x = "a";
  int64_t size[WICK_MAX_RANK];
  uint32_t n = 0, k = 0;
  for (uint32_t i = 0; i < a.n; i++) { /* each axis with its block after it */
    if (shapes_is_small(a.axis[i])) continue;
    int inner = shapes_find(&a, shapes_small(a.axis[i]));
    plain.axis[plain.n] = a.axis[i];
    size[plain.n] = wick_relay_known(m, 0, i);
    perm[n++] = i;
    if (inner >= 0) perm[n++] = inner, size[plain.n] *= wick_relay_known(m, 0, (uint32_t)inner);
    dim[plain.n] = wick_relay_text(m, "%lld", (long long)size[plain.n]);
    plain.n++;
  }
  if (n != a.n) return wick_relay_fail(m, "this is no layout");
  x = wick_relay_transpose(m, x, n, perm);
  if (plain.n < n)
    x = wick_relay_text(m, "reshape(%s, shape = %s)", x, wick_relay_dims(m, plain.n, dim));
  int64_t from[WICK_MAX_RANK]; /* of the axes of b: where they are in x after its blocks are made */
  n = 0;
  for (uint32_t i = 0; i < plain.n; i++) {
    int outer = shapes_find(&b, plain.axis[i]),
        inner = shapes_find(&b, shapes_small(plain.axis[i]));
    int64_t block = inner >= 0 ? b.block[inner] : 1;
    if (outer < 0 || block < 1 || size[i] % block)
      return wick_relay_fail(m, "`%c` cannot be stored in this layout", plain.axis[i]);
    from[outer] = n;
    dim[n++] = wick_relay_text(m, "%lld", (long long)(size[i] / block));
    if (inner >= 0) from[inner] = n, dim[n++] = wick_relay_text(m, "%lld", (long long)block);
  }
  for (k = 0; k < b.n && n == b.n; k++) perm[k] = from[k];
  if (n != b.n) return wick_relay_fail(m, "the layouts have other axes");
  if (n > plain.n) x = wick_relay_text(m, "reshape(%s, shape = %s)", x, wick_relay_dims(m, n, dim));
  return wick_relay_transpose(m, x, n, perm);
}

static const char *shapes_shape_of(relay_member *m)
{
  const char *elem = wick_relay_element(wick_relay_word(m, "dtype", "int32"));
  return wick_relay_text(m, "%s(%s(a))", elem ? elem : "i32",
                         m->row->name[0] == 's' ? "shape" : "size");
}

const relay_row wick_relay_shapes[] = {
    RELAY_WRITE("arange", 3, 3, shapes_arange, "dtype start stop step",
                "range; the operands are constants"),
    RELAY_WRITE("broadcast_to", 1, 1, shapes_broadcast, "shape dtype", "broadcast_to"),
    RELAY_WRITE("broadcast_to_like", 2, 2, shapes_broadcast, NULL, "broadcast_to"),
    RELAY_WRITE("concatenate", 1, 1, shapes_concatenate, "axis", "concat"),
    RELAY_WRITE("contrib_reverse_reshape", 1, 1, shapes_reshaped, "newshape allowzero", "reshape"),
    RELAY_WRITE("expand_dims", 1, 1, shapes_expand, "axis num_newaxis", "reshape"),
    RELAY_WRITE("full", 1, 1, shapes_filled, "shape dtype", "broadcast_to(a, shape)"),
    RELAY_WRITE("full_like", 2, 2, shapes_filled_like, NULL, "broadcast_to(b, shape)"),
    RELAY_WRITE("auto_scheduler_layout_transform", 1, 1, shapes_layout_transform,
                "src_layout dst_layout", "reshape and transpose"),
    RELAY_WRITE("layout_transform", 1, 1, shapes_layout_transform, "src_layout dst_layout",
                "reshape and transpose; blocks fill their axes"),
    RELAY_WRITE("meshgrid", 1, 1, shapes_meshgrid, "indexing", "broadcast_to"),
    RELAY_WRITE("ndarray_size", 1, 1, shapes_shape_of, "dtype", "size"),
    RELAY_WRITE("ones", 0, 0, shapes_filled, "shape dtype", "broadcast_to(1, shape)"),
    RELAY_WRITE("ones_like", 1, 1, shapes_filled_like, NULL, "broadcast_to(1, shape)"),
    RELAY_WRITE("repeat", 1, 1, shapes_repeat, "repeats axis", "broadcast_to and reshape"),
    RELAY_WRITE("reshape", 1, 1, shapes_reshaped, "newshape allowzero",
                "reshape; the codes 0 and -1 to -4"),
    RELAY_WRITE("reshape_like", 2, 2, shapes_reshape_like, "lhs_begin lhs_end rhs_begin rhs_end",
                "reshape"),
    RELAY_WRITE("shape_of", 1, 1, shapes_shape_of, "dtype", "shape"),
    RELAY_WRITE("split", 1, 1, shapes_split, "indices_or_sections axis", "split"),
    RELAY_WRITE("squeeze", 1, 1, shapes_squeeze, "axis", "reshape"),
    RELAY_WRITE("stack", 1, 1, shapes_stack, "axis", "concat"),
    RELAY_WRITE("tile", 1, 1, shapes_tile, "reps", "tile"),
    RELAY_WRITE("transpose", 1, 1, shapes_transposed, "axes", "transpose"),
    RELAY_WRITE("vm.shape_of", 1, 1, shapes_shape_of, "dtype", "shape"),
    RELAY_WRITE("zeros", 0, 0, shapes_filled, "shape dtype", "broadcast_to(0, shape)"),
    RELAY_WRITE("zeros_like", 1, 1, shapes_filled_like, NULL, "broadcast_to(0, shape)"),
    RELAY_END_OF_ROWS,
};
