/* Operators that select, place and mask elements. */
#include "import/relay/state.h"
#include "import/relay/table.h"

/* ---- slices ---- */

typedef struct indices_slice {
  int64_t begin[WICK_MAX_RANK], step[WICK_MAX_RANK];
  const char *shape[WICK_MAX_RANK];
} indices_slice;

static const char *indices_sliced(relay_member *m, const indices_slice *s)
{
  uint32_t rank = wick_relay_rank(m, 0);
  if (!rank) return "a";
  return wick_relay_text(
      m, "slice(a, begin = %s, shape = %s, step = %s)", wick_relay_tuple(m, (int)rank, s->begin),
      wick_relay_dims(m, rank, s->shape), wick_relay_tuple(m, (int)rank, s->step));
}

static int64_t indices_clamp(int64_t x, int64_t least, int64_t most)
{
  return x < least ? least : x > most ? most : x;
}

/* One axis of begin:end:step, as NumPy has it. */
static void indices_range(relay_member *m, indices_slice *s, uint32_t axis, int64_t begin,
                          int64_t end, int64_t step)
{
  const wick_lang_operand *x = wick_relay_operand(m, 0);
  bool open = x->dim[axis] < 0 && step == 1 && begin >= 0 && end >= INT32_MAX;
  s->step[axis] = step;
  if (open) { /* to the end of an axis of unknown size */
    s->begin[axis] = begin;
    s->shape[axis] = wick_relay_text(m, "%s - %lld", wick_relay_size(m, 0, axis), (long long)begin);
    return;
  }
  int64_t d = wick_relay_known(m, 0, axis), n;
  if (begin < 0) begin += d;
  if (end < 0) end += d;
  if (step > 0) {
    begin = indices_clamp(begin, 0, d), end = indices_clamp(end, 0, d);
    n = end > begin ? (end - begin + step - 1) / step : 0;
  } else {
    begin = indices_clamp(begin, -1, d - 1), end = indices_clamp(end, -1, d - 1);
    n = begin > end ? (begin - end - step - 1) / -step : 0;
  }
  if (!n) begin = 0, s->step[axis] = 1;
  s->begin[axis] = begin;
  s->shape[axis] = wick_relay_text(m, "%lld", (long long)n);
}

static void indices_whole(relay_member *m, indices_slice *s)
{
  for (uint32_t i = 0; i < wick_relay_rank(m, 0); i++)
    s->begin[i] = 0, s->step[i] = 1, s->shape[i] = wick_relay_size(m, 0, i);
}

/* The axes of an attribute, all from 0 to n - 1 if it is not given; -1: an axis is wrong. */
static int indices_axes(relay_member *m, int n, int64_t *axes)
{
  int64_t rank = wick_relay_rank(m, 0);
  int count = wick_relay_ints(m, "axes", axes);
  if (count < 0)
    for (count = 0; count < n && count < rank; count++) axes[count] = count;
  for (int i = 0; i < count; i++) {
    if (axes[i] < 0) axes[i] += rank;
    if (axes[i] >= 0 && axes[i] < rank) continue;
    wick_relay_fail(m, "an axis is outside of the operand's");
    return -1;
  }
  return count;
}

static const char *indices_strided(relay_member *m)
{
  int64_t begin[RELAY_MOST_INTS], end[RELAY_MOST_INTS], step[RELAY_MOST_INTS],
      axes[RELAY_MOST_INTS];
  int nb = wick_relay_ints(m, "begin", begin), ne = wick_relay_ints(m, "end", end),
      ns = wick_relay_ints(m, "strides", step), n = indices_axes(m, nb, axes);
  bool sizes = strcmp(wick_relay_word(m, "slice_mode", "end"), "size") == 0;
  indices_slice s;
  if (nb < 0 || ne < 0) return wick_relay_fail(m, "`begin` and `end` must be given");
  if (n < 0) return NULL;
  indices_whole(m, &s);
  for (int i = 0; i < n && i < nb; i++) {
    uint32_t axis = (uint32_t)axes[i];
    int64_t k = ns <= 0 || sizes ? 1 : ns == 1 ? step[0] : i < ns ? step[i] : 1;
    int64_t to = i < ne ? end[i] : INT32_MAX;
    if (k == 0 || k == INT64_MIN) return wick_relay_fail(m, "a stride is 0");
    if (sizes)
      to = to < 0 ? INT32_MAX : begin[i] + (begin[i] < 0 ? wick_relay_known(m, 0, axis) : 0) + to;
    indices_range(m, &s, axis, begin[i], to, k);
  }
  return indices_sliced(m, &s);
}

static const char *indices_slice_like(relay_member *m)
{
  int64_t axes[RELAY_MOST_INTS];
  indices_slice s;
  int given = wick_relay_ints(m, "axes", axes),
      n = indices_axes(m, (int)wick_relay_rank(m, 1), axes);
  if (n < 0) return NULL;
  indices_whole(m, &s);
  for (int i = 0; i < n; i++)
    if (axes[i] < (int64_t)wick_relay_rank(m, 1))
      s.shape[axes[i]] = wick_relay_size(m, 1, (uint32_t)axes[i]);
  (void)given;
  return indices_sliced(m, &s);
}

static const char *indices_reverse(relay_member *m)
{
  int64_t axis = wick_relay_axis(m, "axis", 0, wick_relay_rank(m, 0));
  indices_slice s;
  indices_whole(m, &s);
  if (m->use->wrong) return NULL;
  s.begin[axis] = wick_relay_known(m, 0, (uint32_t)axis) - 1, s.step[axis] = -1;
  if (s.begin[axis] < 0) return "a";
  return indices_sliced(m, &s);
}

/* ---- gathering ---- */

/* Indices in [0, size). */
static const char *indices_within(relay_member *m, const char *size, const char *dflt)
{
  const char *mode = wick_relay_word(m, "mode", dflt);
  if (strcmp(mode, "wrap") == 0) return wick_relay_text(m, "mod(b, %s)", size);
  if (strcmp(mode, "clip") == 0) return wick_relay_text(m, "max(min(b, %s - 1), 0)", size);
  return "b";
}

/* A size as a number of the element type of operand k. */
static const char *indices_size_as(relay_member *m, uint32_t k, const char *size)
{
  return wick_relay_text(m, "%s(%s)", wick_elem_name(wick_relay_elem(m, k)), size);
}

static const char *indices_take(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  if (!wick_relay_attr(m, "axis")) {
    const char *flat = wick_relay_let(m, "reshape(a, shape = (-1,))");
    int64_t n = 1;
    for (uint32_t i = 0; i < rank; i++) n *= wick_relay_known(m, 0, i);
    const char *size = indices_size_as(m, 1, wick_relay_text(m, "%lld", (long long)n));
    return wick_relay_text(m, "gather(%s, %s, axis = 0)", flat, indices_within(m, size, "clip"));
  }
  int64_t axis = wick_relay_axis(m, "axis", 0, rank), batch = wick_relay_int(m, "batch_dims", 0);
  if (m->use->wrong) return NULL;
  const char *size = indices_size_as(m, 1, wick_relay_size(m, 0, (uint32_t)axis)),
             *at = indices_within(m, size, "clip");
  if (!batch) return wick_relay_text(m, "gather(a, %s, axis = %lld)", at, (long long)axis);
  if (batch == 1 && axis == 1 && rank == 2 && wick_relay_rank(m, 1) == 2)
    return wick_relay_text(m, "gather_elements(a, %s, axis = 1)", at);
  return wick_relay_fail(m, "`batch_dims` is supported for matrices");
}

/* The first axis of Relay's indices, that of the tuples, becomes the last one. */
static const char *indices_tuples(relay_member *m, uint32_t k)
{
  int64_t perm[WICK_MAX_RANK];
  uint32_t rank = wick_relay_rank(m, k);
  for (uint32_t i = 0; i < rank; i++) perm[i] = (i + 1) % rank;
  return rank > 1 ? wick_relay_transpose(m, wick_relay_letter(k), rank, perm)
                  : wick_relay_letter(k);
}

static const char *indices_gather_nd(relay_member *m)
{
  int64_t batch = wick_relay_int(m, "batch_dims", 0);
  return wick_relay_text(m, "gather_nd(a, %s, batch = %lld)", indices_tuples(m, 1),
                         (long long)batch);
}

static const char *indices_adv_index(relay_member *m)
{
  const wick_lang_operand *x = wick_relay_operand(m, 0);
  uint32_t rank = 0;
  wick_text t = wick_text_begin(m->mem);
  if (x->kind != WICK_OPERAND_TUPLE || x->n < 2 || x->item[0].kind != WICK_OPERAND_TENSOR)
    return wick_relay_fail(m, "the operand must be a tuple of a tensor and indices");
  for (uint32_t i = 1; i < x->n; i++)
    if (x->item[i].rank > rank) rank = x->item[i].rank;
  int64_t dim[WICK_MAX_RANK + 1];
  for (uint32_t i = 0; i < rank; i++) dim[i] = 1;
  for (uint32_t i = 1; i < x->n; i++)
    for (uint32_t k = 0; k < x->item[i].rank; k++) {
      int64_t d = x->item[i].dim[k];
      if (d < 0) return wick_relay_fail(m, "the indices' sizes must be known");
      if (d > dim[rank - x->item[i].rank + k]) dim[rank - x->item[i].rank + k] = d;
    }
  const char *all = wick_relay_tuple(m, (int)rank, dim);
  if (rank == WICK_MAX_RANK) return wick_relay_fail(m, "there are too many axes");
  dim[rank] = 1;
  const char *one = wick_relay_tuple(m, (int)rank + 1, dim);
  for (uint32_t i = 1; i < x->n; i++)
    wick_text_printf(&t, "reshape(broadcast_to(i64(a.%u), shape = %s), shape = %s), ", i, all, one);
  return wick_relay_text(m, "gather_nd(a.0, concat(%saxis = %u))", t.at, rank);
}

/* ---- scattering ---- */

static const char *indices_reduction(relay_member *m, const char *name)
{
  const char *r = wick_relay_word(m, name, "update");
  if (strcmp(r, "update") == 0) return "none";
  if (strcmp(r, "add") == 0 || strcmp(r, "mul") == 0 || strcmp(r, "min") == 0 ||
      strcmp(r, "max") == 0)
    return r;
  return wick_relay_fail(m, "the reduction `%s` is not supported", r);
}

static const char *indices_scatter_elements(relay_member *m)
{
  const char *r = indices_reduction(m, "reduction");
  int64_t axis = wick_relay_axis(m, "axis", 0, wick_relay_rank(m, 0));
  return r ? wick_relay_text(m, "scatter_elements(a, b, c, axis = %lld, reduction = \"%s\")",
                             (long long)axis, r)
           : NULL;
}

static const char *indices_scatter_nd(relay_member *m)
{
  const char *r = indices_reduction(m, "mode");
  return r ? wick_relay_text(m, "scatter_nd(a, %s, c, reduction = \"%s\")", indices_tuples(m, 1), r)
           : NULL;
}

static const char *indices_invert(relay_member *m)
{
  const char *n = wick_relay_size(m, 0, 0), *e = wick_elem_name(wick_relay_elem(m, 0));
  return wick_relay_text(m, "scatter_elements(a, a, range(%s(0), %s(1), count = %s), axis = 0)", e,
                         e, n);
}

static const char *indices_sparse_to_dense(relay_member *m)
{
  int64_t shape[RELAY_MOST_INTS];
  int n = wick_relay_ints(m, "output_shape", shape);
  uint32_t rank = wick_relay_rank(m, 0);
  if (n < 0) return wick_relay_fail(m, "`output_shape` must be given");
  const char *none =
      m->use->n > 2 ? "c" : wick_relay_text(m, "%s(0)", wick_elem_name(wick_relay_elem(m, 1)));
  const char *x =
      wick_relay_text(m, "broadcast_to(%s, shape = %s)", none, wick_relay_tuple(m, n, shape));
  if (rank == 2) return wick_relay_text(m, "scatter_nd(%s, a, b)", x);
  if (rank == 1 && n == 1)
    return wick_relay_text(m, "scatter_nd(%s, reshape(a, shape = (-1, 1)), b)", x);
  return wick_relay_text(m, "scatter_nd(%s, reshape(a, shape = (1, -1)), reshape(b, shape = (1,)))",
                         x);
}

/* ---- masks ---- */

/* 0, 1, ... along an axis of operand k, with the operand's number of axes. */
static const char *indices_along(relay_member *m, uint32_t k, uint32_t axis, const char *elem)
{
  const char *dim[WICK_MAX_RANK], *n = wick_relay_size(m, k, axis);
  for (uint32_t i = 0; i < wick_relay_rank(m, k); i++) dim[i] = i == axis ? n : "1";
  return wick_relay_text(m, "reshape(range(%s(0), %s(1), count = %s), shape = %s)", elem, elem, n,
                         wick_relay_dims(m, wick_relay_rank(m, k), dim));
}

static const char *indices_zero(relay_member *m)
{
  bool truth = wick_relay_elem(m, 0) == WICK_BOOL;
  return truth ? "false" : wick_relay_text(m, "%s(0)", wick_elem_name(wick_relay_elem(m, 0)));
}

static const char *indices_trilu(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  if (rank < 2) return wick_relay_fail(m, "the operand must have two axes or more");
  const char *row = indices_along(m, 0, rank - 2, "i64"),
             *column = indices_along(m, 0, rank - 1, "i64");
  return wick_relay_text(m, "where(%s(%s - %s, i64(%s)), a, %s)",
                         wick_relay_int(m, "upper", 1) ? "ge" : "le", column, row,
                         wick_relay_rank(m, 1) ? "reshape(b, shape = ())" : "b", indices_zero(m));
}

static const char *indices_one_hot(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t depth = wick_relay_int(m, "depth", 1), axis = wick_relay_axis(m, "axis", -1, rank + 1);
  const char *dim[WICK_MAX_RANK + 1], *place[WICK_MAX_RANK + 1],
      *e = wick_elem_name(wick_relay_elem(m, 0));
  const char *elem = wick_relay_element(wick_relay_word(m, "dtype", "float32"));
  if (rank == WICK_MAX_RANK) return wick_relay_fail(m, "there are too many axes");
  for (uint32_t i = 0, k = 0; i <= rank; i++) {
    bool here = i == (uint32_t)axis;
    dim[i] = here ? "1" : wick_relay_size(m, 0, k++);
    place[i] = here ? "-1" : "1";
  }
  return wick_relay_text(m,
                         "where(eq(reshape(a, shape = %s), reshape(range(%s(0), %s(1), count = "
                         "%lld), shape = %s)), %s(b), %s(c))",
                         wick_relay_dims(m, rank + 1, dim), e, e, (long long)depth,
                         wick_relay_dims(m, rank + 1, place), elem ? elem : "f32",
                         elem ? elem : "f32");
}

static const char *indices_sequence_mask(relay_member *m)
{
  int64_t axis = wick_relay_axis(m, "axis", 0, wick_relay_rank(m, 0));
  const char *dim[WICK_MAX_RANK], *e = wick_elem_name(wick_relay_elem(m, 1));
  for (uint32_t i = 0; i < wick_relay_rank(m, 0); i++)
    dim[i] = i == 1 - (uint32_t)axis ? wick_relay_size(m, 1, 0) : "1";
  if (axis > 1 || wick_relay_rank(m, 0) < 2) return wick_relay_fail(m, "`axis` must be 0 or 1");
  return wick_relay_text(
      m, "where(lt(%s, reshape(b, shape = %s)), a, %s(%s))", indices_along(m, 0, (uint32_t)axis, e),
      wick_relay_dims(m, wick_relay_rank(m, 0), dim), wick_elem_name(wick_relay_elem(m, 0)),
      wick_relay_float(m, wick_relay_real(m, "mask_value", 0)));
}

/* Slices along `seq_axis`, of which the first seq_lengths elements are reversed. */
static const char *indices_reverse_sequence(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t seq = wick_relay_axis(m, "seq_axis", 1, rank),
          batch = wick_relay_axis(m, "batch_axis", 0, rank);
  const char *dim[WICK_MAX_RANK], *all[WICK_MAX_RANK];
  if (m->use->wrong) return NULL;
  for (uint32_t i = 0; i < rank; i++) {
    dim[i] = i == (uint32_t)batch ? wick_relay_size(m, 1, 0) : "1";
    all[i] = wick_relay_size(m, 0, i);
  }
  const char *n = wick_relay_let(m, "i64(reshape(b, shape = %s))", wick_relay_dims(m, rank, dim)),
             *i = wick_relay_let(m, "%s", indices_along(m, 0, (uint32_t)seq, "i64"));
  return wick_relay_text(m,
                         "gather_elements(a, broadcast_to(where(lt(%s, %s), %s - 1 - %s, %s), "
                         "shape = %s), axis = %lld)",
                         i, n, n, i, i, wick_relay_dims(m, rank, all), (long long)seq);
}

/* Diagonal k of matrices becomes the second operand. */
static const char *indices_matrix_set_diag(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0), n = wick_relay_rank(m, 1);
  int64_t k = wick_relay_int(m, "k1", 0);
  if (rank < 2 || k != wick_relay_int(m, "k2", k) || n != rank - 1)
    return wick_relay_fail(m, "one diagonal, k1 = k2, is supported");
  const char *row = indices_along(m, 0, rank - 2, "i64"),
             *column = indices_along(m, 0, rank - 1, "i64");
  int64_t rows = wick_relay_known(m, 0, rank - 2), columns = wick_relay_known(m, 0, rank - 1),
          length = wick_relay_known(m, 1, n - 1), pad[2 * WICK_MAX_RANK] = {0};
  const char *dim[WICK_MAX_RANK];
  pad[2 * n - 1] = (k >= 0 ? rows : columns) - length;
  for (uint32_t i = 0; i < n - 1; i++) dim[i] = wick_relay_size(m, 1, i);
  dim[n - 1] = k >= 0 ? wick_relay_text(m, "%lld", (long long)rows) : "1";
  dim[n] = k >= 0 ? "1" : wick_relay_text(m, "%lld", (long long)columns);
  return wick_relay_text(m, "where(eq(%s - %s, %lldi64), reshape(pad(b, pad = %s), shape = %s), a)",
                         column, row, (long long)k, wick_relay_tuple(m, (int)(2 * n), pad),
                         wick_relay_dims(m, rank, dim));
}

static const char *indices_unravel(relay_member *m)
{
  int64_t n = wick_relay_known(m, 1, 0);
  const char *dim[WICK_MAX_RANK], *r = "a", *part[WICK_MAX_RANK];
  uint32_t rank = wick_relay_rank(m, 0);
  if (m->use->wrong || n < 1 || n > WICK_MAX_RANK || rank == WICK_MAX_RANK)
    return wick_relay_fail(m, "the shape must have a known number of sizes");
  dim[0] = "1";
  for (uint32_t i = 0; i < rank; i++) dim[i + 1] = wick_relay_size(m, 0, i);
  const char *e = wick_elem_name(wick_relay_elem(m, 0)), *shape = wick_relay_dims(m, rank + 1, dim);
  for (int64_t i = n; i-- > 0;) {
    const char *d = wick_relay_let(m, "%s(b[%lld])", e, (long long)i);
    part[i] = wick_relay_let(m, "reshape(mod(%s, %s), shape = %s)", r, d, shape);
    r = wick_relay_let(m, "%s / %s", r, d);
  }
  wick_text t = wick_text_begin(m->mem);
  for (int64_t i = 0; i < n; i++) wick_text_printf(&t, "%s, ", part[i]);
  return wick_relay_text(m, "concat(%saxis = 0)", t.at);
}

/* [.., d, ..] becomes [.., windows, .., size, ..]: all windows, then all sizes. */
static const char *indices_sliding(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t axis = wick_relay_axis(m, "axis", 0, rank), size[RELAY_MOST_INTS], step[RELAY_MOST_INTS],
          perm[3 * WICK_MAX_RANK];
  int n = wick_relay_ints(m, "window_shape", size), ns = wick_relay_ints(m, "strides", step);
  if (n < 0 || n != ns || axis + n != (int64_t)rank || rank + (uint32_t)n > WICK_MAX_RANK)
    return wick_relay_fail(
        m, "`window_shape` and `strides` must have a number for each axis from `axis` on");
  const char *x = "a";
  for (int i = n; i-- > 0;) {
    int64_t d = wick_relay_known(m, 0, (uint32_t)(axis + i));
    if (size[i] < 1 || step[i] < 1 || size[i] > d)
      return wick_relay_fail(m, "a window does not fit");
    int64_t count = (d - size[i]) / step[i] + 1;
    x = wick_relay_let(m,
                       "gather(%s, reshape(range(0i64, %lldi64, count = %lld), shape = (-1, 1)) + "
                       "range(0i64, 1i64, count = %lld), axis = %lld)",
                       x, (long long)step[i], (long long)count, (long long)size[i],
                       (long long)(axis + i));
  }
  int k = 0;
  for (int64_t i = 0; i < axis; i++) perm[k++] = i;
  for (int i = 0; i < n; i++) perm[k++] = axis + 2 * i;
  for (int i = 0; i < n; i++) perm[k++] = axis + 2 * i + 1;
  return wick_relay_transpose(m, x, (uint32_t)k, perm);
}

/* ---- sums of products ---- */

/* An operator in index notation. */
static const char *indices_einsum(relay_member *m)
{
  const wick_lang_operand *x = wick_relay_operand(m, 0);
  const char *equation = wick_relay_word(m, "equation", ""), *arrow = strstr(equation, "->");
  if (x->kind != WICK_OPERAND_TUPLE || !x->n || x->n > RELAY_MOST_OPERANDS || !arrow ||
      strchr(equation, '.'))
    return wick_relay_fail(m, "the equation must have a result, and letters alone");
  wick_text head = wick_text_begin(m->mem), body = wick_text_begin(m->mem),
            call = wick_text_begin(m->mem), sum = wick_text_begin(m->mem),
            out = wick_text_begin(m->mem);
  const char *at = equation;
  for (uint32_t k = 0; k < x->n; k++) {
    bool first = true;
    wick_text_printf(&head, "%sx%u", k ? ", " : "", k);
    wick_text_printf(&call, "%sa.%u", k ? ", " : "", k);
    wick_text_printf(&body, "%sx%u[", k ? " * " : "", k);
    for (; at < arrow && *at != ','; at++) {
      if (*at == ' ') continue;
      wick_text_printf(&body, "%si_%c", first ? "" : ", ", *at);
      first = false;
      if (!strchr(arrow, *at) && !strchr(sum.n ? sum.at : "", *at)) wick_text_char(&sum, *at);
    }
    wick_text_char(&body, ']');
    at += at < arrow;
  }
  wick_text list = wick_text_begin(m->mem);
  for (uint32_t i = 0; i < sum.n; i++) wick_text_printf(&list, "%si_%c", i ? ", " : "", sum.at[i]);
  bool first = true;
  for (at = arrow + 2; *at; at++) {
    if (*at == ' ') continue;
    wick_text_printf(&out, "%si_%c", first ? "" : ", ", *at);
    first = false;
  }
  m->items =
      wick_relay_text(m, "op einsum(%s) {\n  y[%s] = %s%s%s%s\n}\n", head.at, out.n ? out.at : "",
                      sum.n ? "sum(" : "", sum.n ? list.at : "", sum.n ? ") " : "", body.at);
  return wick_relay_text(m, "einsum(%s)", call.at);
}

/* Fourier transforms of real and imaginary parts along the last axis. */
static const char *indices_dft(relay_member *m)
{
  uint32_t rank = wick_relay_rank(m, 0);
  int64_t n = rank ? wick_relay_known(m, 0, rank - 1) : 0;
  if (m->use->wrong || n < 1)
    return wick_relay_fail(m, "the operands must have axes of known sizes");
  bool inverse = wick_relay_int(m, "inverse", 0);
  const char *e = wick_elem_name(wick_relay_elem(m, 0));
  const char *k = wick_relay_let(m, "range(0i64, 1i64, count = %lld)", (long long)n);
  const char *t =
      wick_relay_let(m, "%s(f64(mod(reshape(%s, shape = (-1, 1)) * %s, %lldi64)) * %.17g)", e, k, k,
                     (long long)n, (inverse ? 1 : -1) * 6.283185307179586 / (double)n);
  const char *c = wick_relay_let(m, "cos(%s)", t), *s = wick_relay_let(m, "sin(%s)", t);
  const char *scale = inverse ? wick_relay_text(m, " / %lld.0", (long long)n) : "";
  return wick_relay_text(m, "((a @ %s - b @ %s)%s, (a @ %s + b @ %s)%s)", c, s, scale, s, c, scale);
}

/* Fourier transforms of windows of a signal, with a factor for each element of a window. */
static const char *indices_stft(relay_member *m)
{
  int64_t n = wick_relay_int(m, "n_fft", 0), hop = wick_relay_int(m, "hop_length", 0),
          window = wick_relay_int(m, "win_length", 0);
  if (wick_relay_rank(m, 0) != 2 || wick_relay_rank(m, 1) != 1)
    return wick_relay_fail(m, "the operands must have 2 axes and 1");
  int64_t all = wick_relay_known(m, 0, 1), given = wick_relay_known(m, 1, 0);
  if (m->use->wrong) return NULL;
  if (n < 1 || hop < 1 || window < 1 || window > n || n > all || given != window)
    return wick_relay_fail(m, "`n_fft` and `hop_length` must be positive, `win_length` at most "
                              "`n_fft`, which is at most the signal's length, and the second "
                              "operand have `win_length` elements");
  int64_t rows = wick_relay_int(m, "onesided", 1) ? n / 2 + 1 : n, columns = (all - n) / hop + 1;
  const char *e = wick_elem_name(wick_relay_elem(m, 0));
  const char *angle = wick_relay_let(
      m,
      "%s(f64(mod(reshape(range(0i64, 1i64, count = %lld), shape = (-1, 1)) * range(0i64, 1i64, "
      "count = %lld), %lldi64)) * %.17g)",
      e, (long long)rows, (long long)window, (long long)window, 6.283185307179586 / (double)window);
  m->items =
      wick_relay_text(m,
                      "op stft(x, w, s) {\n  y[b, f, t: %lld] = sum(k) w[k] * x[b, %lld * t + "
                      "k] * s[f, k]\n}\n",
                      (long long)columns, (long long)hop);
  const char *part[2];
  for (int k = 0; k < 2; k++)
    part[k] = wick_relay_let(m, "reshape(stft(a, b, %s(%s)), shape = (%s, %lld, %lld, 1))",
                             k ? "sin" : "cos", angle, wick_relay_size(m, 0, 0), (long long)rows,
                             (long long)columns);
  const char *y = wick_relay_text(m, "concat(%s, -%s, axis = 3)", part[0], part[1]);
  return wick_relay_int(m, "normalized", 0)
             ? wick_relay_text(m, "%s / sqrt(%s(%lld.0))", y, e, (long long)n)
             : y;
}

/* The numbers of an operand that the program says; -1: it does not. */
static int indices_constant(relay_member *m, uint32_t k, int64_t *out)
{
  const wick_ast *n = k + 1 < m->use->node->nkid ? m->use->node->kid[k + 1] : NULL;
  if (!n || n->kind != WICK_AST_TENSOR || n->tensor->rank != 1 ||
      n->tensor->dim[0] > RELAY_MOST_INTS || wick_elem_is_float(n->tensor->elem))
    return -1;
  for (int64_t i = 0; i < n->tensor->dim[0]; i++)
    out[i] = wick_load_elem(n->tensor->elem, n->tensor->data, (uint64_t)i).i;
  return (int)n->tensor->dim[0];
}

/* The first operand with a part replaced: (x, values, begin, end, strides). */
static const char *indices_strided_set(relay_member *m)
{
  int64_t begin[RELAY_MOST_INTS], end[RELAY_MOST_INTS], step[RELAY_MOST_INTS], stride = 1;
  int nb = indices_constant(m, 2, begin), ne = indices_constant(m, 3, end),
      ns = indices_constant(m, 4, step);
  uint32_t rank = wick_relay_rank(m, 0);
  if (nb < 0 || ne < 0 || ns < 0)
    return wick_relay_fail(m, "the begin, the end and the strides must be constants");
  if (!rank || wick_relay_rank(m, 1) != rank || nb > (int)rank)
    return wick_relay_fail(m, "the first two operands must have the same number of axes");
  indices_slice s;
  indices_whole(m, &s);
  for (int i = 0; i < nb; i++) {
    int64_t k = i < ns ? step[i] : 1;
    if (k == 0 || k == INT64_MIN) return wick_relay_fail(m, "a stride is 0");
    indices_range(m, &s, (uint32_t)i, begin[i], i < ne ? end[i] : INT32_MAX, k);
  }
  const char *at = NULL;
  for (uint32_t i = rank; i-- > 0;) {
    int64_t dim[WICK_MAX_RANK];
    for (uint32_t k = 0; k < rank; k++) dim[k] = k == i ? -1 : 1;
    const char *own =
        wick_relay_text(m, "reshape(range(%lldi64, %lldi64, count = %s), shape = %s)",
                        (long long)(s.begin[i] * stride), (long long)(s.step[i] * stride),
                        s.shape[i], wick_relay_tuple(m, (int)rank, dim));
    at = at ? wick_relay_text(m, "%s + %s", at, own) : own;
    stride *= wick_relay_known(m, 0, i);
    if (m->use->wrong) return NULL;
  }
  const char *dim[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) dim[i] = wick_relay_size(m, 0, i);
  return wick_relay_text(m,
                         "reshape(scatter_elements(reshape(a, shape = (-1,)), reshape(%s, shape = "
                         "(-1,)), reshape(broadcast_to(b, shape = %s), shape = (-1,)), axis = 0), "
                         "shape = %s)",
                         at, wick_relay_dims(m, rank, s.shape), wick_relay_dims(m, rank, dim));
}

const relay_row wick_relay_indices[] = {
    RELAY_WRITE("adv_index", 1, 1, indices_adv_index, NULL, "gather_nd"),
    RELAY_WRITE("dft", 2, 2, indices_dft, "inverse", "matmul with cos and sin"),
    RELAY_WRITE("einsum", 1, 1, indices_einsum, "equation", "index notation"),
    RELAY_EXPR("gather", 2, "gather_elements(a, b, axis = {axis:0})"),
    RELAY_WRITE("gather_nd", 2, 2, indices_gather_nd, "batch_dims index_rank", "gather_nd"),
    RELAY_WRITE("invert_permutation", 1, 1, indices_invert, NULL, "scatter_elements"),
    RELAY_WRITE("matrix_set_diag", 2, 2, indices_matrix_set_diag,
                "k1 k2 super_diag_right_align sub_diag_right_align", "where; one diagonal"),
    RELAY_WRITE("one_hot", 3, 3, indices_one_hot, "depth axis dtype", "where(eq(a, range), b, c)"),
    RELAY_WRITE("reverse", 1, 1, indices_reverse, "axis", "slice"),
    RELAY_WRITE("reverse_sequence", 2, 2, indices_reverse_sequence, "seq_axis batch_axis",
                "gather_elements"),
    RELAY_WRITE("scatter_elements", 3, 3, indices_scatter_elements, "axis reduction",
                "scatter_elements"),
    RELAY_WRITE("scatter_nd", 3, 3, indices_scatter_nd, "mode", "scatter_nd"),
    RELAY_WRITE("sequence_mask", 2, 2, indices_sequence_mask, "mask_value axis", "where"),
    RELAY_WRITE("slice_like", 2, 2, indices_slice_like, "axes", "slice"),
    RELAY_WRITE("sliding_window", 1, 1, indices_sliding, "axis window_shape strides", "gather"),
    RELAY_WRITE("sparse_to_dense", 2, 3, indices_sparse_to_dense, "output_shape", "scatter_nd"),
    RELAY_WRITE("stft", 2, 2, indices_stft, "n_fft hop_length win_length normalized onesided",
                "index notation"),
    RELAY_WRITE("strided_set", 5, 5, indices_strided_set, NULL,
                "scatter_elements; the last three operands are constants"),
    RELAY_WRITE("strided_slice", 1, 1, indices_strided, "begin end strides axes slice_mode",
                "slice"),
    RELAY_WRITE("take", 2, 2, indices_take, "axis mode batch_dims",
                "gather of indices within the axis"),
    RELAY_WRITE("trilu", 2, 2, indices_trilu, "upper", "where"),
    RELAY_WRITE("unravel_index", 2, 2, indices_unravel, NULL, "mod and division"),
    RELAY_END_OF_ROWS,
};
