/* Reductions, running sums, sorting. */
#include "import/relay/state.h"
#include "import/relay/table.h"

/* The axes that are reduced, as a bit set. */
static uint32_t reductions_axes(relay_member *m)
{
  int64_t axis[RELAY_MOST_INTS];
  int64_t rank = wick_relay_rank(m, 0);
  int n = wick_relay_ints(m, "axis", axis);
  uint32_t all = (1u << rank) - 1, out = 0;
  if (n < 0) return all;
  for (int i = 0; i < n; i++) {
    if (axis[i] < -rank || axis[i] >= rank)
      wick_relay_fail(m, "axis %lld is outside of [%lld, %lld]", (long long)axis[i],
                      (long long)-rank, (long long)rank - 1);
    else
      out |= 1u << (axis[i] < 0 ? axis[i] + rank : axis[i]);
  }
  return wick_relay_int(m, "exclude", 0) ? all & ~out : out;
}

static const char *reductions_list(relay_member *m, uint32_t set)
{
  int64_t list[WICK_MAX_RANK];
  int n = 0;
  for (uint32_t i = 0; i < WICK_MAX_RANK; i++)
    if (set >> i & 1) list[n++] = i;
  return wick_relay_tuple(m, n, list);
}

static const char *reductions_of(relay_member *m, const char *op, const char *x)
{
  uint32_t set = reductions_axes(m);
  if (!set) return x; /* of no axes */
  return wick_relay_text(m, "%s(%s, axes = %s, keepdims = %s)", op, x, reductions_list(m, set),
                         wick_relay_int(m, "keepdims", 0) ? "true" : "false");
}

static const char *reductions_any(relay_member *m)
{
  const char *name = m->row->name;
  if (strcmp(name, "all") == 0) return reductions_of(m, "reduce_min", "a");
  if (strcmp(name, "any") == 0) return reductions_of(m, "reduce_max", "a");
  return reductions_of(m, wick_relay_text(m, "reduce_%s", name), "a");
}

/* The second operand is the mean. */
static const char *reductions_variance(relay_member *m)
{
  uint32_t set = reductions_axes(m);
  const char *d = wick_relay_let(m, "square(a - b)");
  if (!wick_relay_int(m, "unbiased", 0)) return reductions_of(m, "reduce_mean", d);
  int64_t n = 1;
  for (uint32_t i = 0; i < wick_relay_rank(m, 0); i++)
    if (set >> i & 1) n *= wick_relay_known(m, 0, i);
  return wick_relay_text(m, "%s / %lld.0", reductions_of(m, "reduce_sum", d), (long long)(n - 1));
}

static const char *reductions_arg(relay_member *m)
{
  uint32_t set = reductions_axes(m), rank = wick_relay_rank(m, 0), axis = 0;
  bool keep = wick_relay_int(m, "keepdims", 0), last = wick_relay_int(m, "select_last_index", 0);
  bool flat = set == (1u << rank) - 1 && rank != 1;
  while (axis < rank && !(set >> axis & 1)) axis++;
  if (!flat && set != 1u << axis) return wick_relay_fail(m, "it takes one axis, or all");
  const char *y =
      wick_relay_text(m, "i32(%s(%s, axis = %u, keepdims = %s, last = %s))", m->row->name,
                      flat ? "reshape(a, shape = (-1,))" : "a", flat ? 0 : axis,
                      keep && !flat ? "true" : "false", last ? "true" : "false");
  if (!flat || !keep) return y;
  int64_t ones[WICK_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) ones[i] = 1;
  return rank ? wick_relay_text(m, "reshape(%s, shape = %s)", y,
                                wick_relay_tuple(m, (int)rank, ones))
              : y;
}

static const char *reductions_running(relay_member *m)
{
  const char *dtype = wick_relay_word(m, "dtype", NULL),
             *elem = dtype ? wick_relay_element(dtype) : NULL;
  bool flat = !wick_relay_attr(m, "axis");
  const char *x = elem                                 ? wick_relay_text(m, "%s(a)", elem)
                  : wick_relay_elem(m, 0) == WICK_BOOL ? "i32(a)"
                                                       : "a";
  if (flat) x = wick_relay_text(m, "reshape(%s, shape = (-1,))", x);
  int64_t axis = flat ? 0 : wick_relay_axis(m, "axis", 0, wick_relay_rank(m, 0));
  return wick_relay_text(m, "%s(%s, axis = %lld, exclusive = %s)", m->row->name, x, (long long)axis,
                         wick_relay_int(m, "exclusive", 0) ? "true" : "false");
}

/* The sum over what broadcasting from the second shape to the first repeats. */
static const char *reductions_collapse(relay_member *m)
{
  int64_t want[RELAY_MOST_INTS];
  int n = (int)wick_relay_rank(m, 1);
  uint32_t rank = wick_relay_rank(m, 0), set = 0;
  if (m->row->most == 1) n = wick_relay_ints(m, "shape", want);
  for (int i = 0; m->row->most == 2 && i < n; i++) want[i] = wick_relay_known(m, 1, (uint32_t)i);
  if (n < 0 || n > (int)rank) return wick_relay_fail(m, "the shape has more axes than the operand");
  for (uint32_t i = 0; i < rank; i++) {
    int64_t k = (int64_t)i - ((int64_t)rank - n);
    if (k < 0 || (want[k] == 1 && wick_relay_known(m, 0, i) != 1)) set |= 1u << i;
  }
  if (!set) return "a";
  return wick_relay_text(m, "reshape(reduce_sum(a, axes = %s), shape = %s)",
                         reductions_list(m, set), wick_relay_tuple(m, n, want));
}

/* ---- sorting ---- */

static const char *reductions_top(relay_member *m, int64_t axis, const char *k, bool least)
{
  return wick_relay_let(m, "top_k(a, axis = %lld, k = %s, least = %s)", (long long)axis, k,
                        least ? "true" : "false");
}

static const char *reductions_sort(relay_member *m)
{
  int64_t axis = wick_relay_axis(m, "axis", -1, wick_relay_rank(m, 0));
  bool values = m->row->name[0] == 's';
  const char *elem = wick_relay_element(wick_relay_word(m, "dtype", "int32"));
  const char *t = reductions_top(m, axis, wick_relay_size(m, 0, (uint32_t)axis),
                                 wick_relay_int(m, "is_ascend", 1));
  return values ? wick_relay_text(m, "%s.0", t)
                : wick_relay_text(m, "%s(%s.1)", elem ? elem : "i32", t);
}

static const char *reductions_topk(relay_member *m)
{
  int64_t axis = wick_relay_axis(m, "axis", -1, wick_relay_rank(m, 0)),
          k = wick_relay_int(m, "k", 1);
  const char *elem = wick_relay_element(wick_relay_word(m, "dtype", "int32")),
             *type = wick_relay_word(m, "ret_type", "both");
  const char *n =
      k > 0 ? wick_relay_text(m, "%lld", (long long)k) : wick_relay_size(m, 0, (uint32_t)axis);
  const char *t = reductions_top(m, axis, n, wick_relay_int(m, "is_ascend", 0));
  const char *indices = wick_relay_text(m, "%s(%s.1)", elem ? elem : "i32", t);
  if (strcmp(type, "indices") == 0) return indices;
  if (strcmp(type, "values") == 0) return wick_relay_text(m, "%s.0", t);
  return wick_relay_text(m, "(%s.0, %s)", t, indices);
}

/* How many elements of the sorted slice come before each value. */
static const char *reductions_searchsorted(relay_member *m)
{
  uint32_t n = wick_relay_rank(m, 0), k = wick_relay_rank(m, 1);
  const char *list[WICK_MAX_RANK + 1], *value[WICK_MAX_RANK + 1];
  bool shared = n == 1;
  if (!n || (!shared && n != k) || k == WICK_MAX_RANK)
    return wick_relay_fail(m, "the operands have other axes");
  for (uint32_t i = 0; i < k; i++) value[i] = wick_relay_size(m, 1, i);
  value[k] = "1";
  for (uint32_t i = 0; i <= k; i++)
    list[i] = i == k                 ? wick_relay_size(m, 0, n - 1)
              : shared || i + 1 >= k ? "1"
                                     : wick_relay_size(m, 0, i);
  const char *elem = wick_relay_element(wick_relay_word(m, "dtype", "int32"));
  return wick_relay_text(m,
                         "reduce_sum(%s(%s(reshape(a, shape = %s), reshape(b, shape = %s))), axes "
                         "= (%u,), keepdims = false)",
                         elem ? elem : "i32", wick_relay_int(m, "right", 0) ? "le" : "lt",
                         wick_relay_dims(m, k + 1, list), wick_relay_dims(m, k + 1, value), k);
}

#define REDUCTION(name, doc)                                                                       \
  RELAY_WRITE(name, 1, 1, reductions_any, "axis keepdims exclude dtype", doc)

const relay_row wick_relay_reductions[] = {
    REDUCTION("all", "reduce_min"),
    REDUCTION("any", "reduce_max"),
    RELAY_WRITE("argmax", 1, 1, reductions_arg, "axis keepdims exclude select_last_index",
                "argmax"),
    RELAY_WRITE("argmin", 1, 1, reductions_arg, "axis keepdims exclude select_last_index",
                "argmin"),
    RELAY_WRITE("argsort", 1, 1, reductions_sort, "axis is_ascend dtype", "top_k of all elements"),
    RELAY_WRITE("collapse_sum_like", 2, 2, reductions_collapse, NULL, "reduce_sum"),
    RELAY_WRITE("collapse_sum_to", 1, 1, reductions_collapse, "shape", "reduce_sum"),
    RELAY_WRITE("cumprod", 1, 1, reductions_running, "axis dtype exclusive", "cumprod"),
    RELAY_WRITE("cumsum", 1, 1, reductions_running, "axis dtype exclusive", "cumsum"),
    REDUCTION("max", "reduce_max"),
    REDUCTION("mean", "reduce_mean"),
    REDUCTION("min", "reduce_min"),
    REDUCTION("prod", "reduce_prod"),
    RELAY_WRITE("searchsorted", 2, 2, reductions_searchsorted, "right dtype",
                "reduce_sum of comparisons"),
    RELAY_WRITE("sort", 1, 1, reductions_sort, "axis is_ascend", "top_k of all elements"),
    REDUCTION("sum", "reduce_sum"),
    RELAY_WRITE("topk", 1, 1, reductions_topk, "k axis ret_type is_ascend dtype", "top_k"),
    RELAY_WRITE("variance", 2, 2, reductions_variance, "axis keepdims exclude unbiased",
                "reduce_mean(square(a - b))"),
    RELAY_END_OF_ROWS,
};
