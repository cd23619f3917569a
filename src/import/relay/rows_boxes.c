/* Operators that select boxes. Each image's rows are selected by a function of the language. */
#include "import/relay/state.h"
#include "import/relay/table.h"

static const char boxes_first[] =
    "// The rows that are kept, first; the others are -1.\n"
    "fn first(x: e[n, k], keep: bool[n]) -> e[n, k] {\n"
    "  let row = where(keep, cumsum(i64(keep), axis = 0) - 1, n)\n"
    "  let at = broadcast_to(reshape(row, shape = (n, 1)), shape = (n, k))\n"
    "  scatter_elements(broadcast_to((-1 : e), shape = (n + 1, k)), at, x, axis = 0)[0:n, :]\n"
    "}\n"
    "fn firsts(x: i32[n], keep: bool[n]) -> i32[n] {\n"
    "  reshape(first(reshape(x, shape = (n, 1)), keep), shape = (n,))\n"
    "}\n";

/* Boxes whose score is above a limit, and whose class is not negative, first; how many, and which. */
static const char *boxes_valid(relay_member *m)
{
  int64_t id = wick_relay_int(m, "id_index", 0), score = wick_relay_int(m, "score_index", 1);
  if (wick_relay_rank(m, 0) != 3) return wick_relay_fail(m, "the first operand must have 3 axes");
  if (wick_relay_rank(m, 1)) return wick_relay_fail(m, "the second operand must be a number");
  int64_t width = wick_relay_known(m, 0, 2);
  if (m->use->wrong) return NULL;
  if (score < 0 || score >= width || id >= width)
    return wick_relay_fail(m, "`id_index` or `score_index` is outside of a box's elements");
  const char *high = wick_relay_text(m, "x[:, %lld] > threshold", (long long)score);
  const char *keep =
      id < 0 ? high : wick_relay_text(m, "and(%s, x[:, %lld] >= 0.0)", high, (long long)id);
  m->items = wick_relay_text(m,
                             "%sfn valid(x: e[n, k], threshold: e) {\n  let keep = %s\n"
                             "  (i32(sum(i64(keep))), first(x, keep), firsts(i32(range(0, 1, "
                             "count = (n,))), keep))\n}\n",
                             boxes_first, keep);
  return wick_relay_text(m, "vmap(valid, axes = (0, -1))(a, %s(b))",
                         wick_elem_name(wick_relay_elem(m, 0)));
}

typedef struct boxes_suppress {
  int64_t id, score, corner, most;
  bool all, indices, bottom; /* of all classes; gives indices; moves what is left to the top */
} boxes_suppress;

static bool boxes_read(relay_member *m, boxes_suppress *s)
{
  *s = (boxes_suppress){.id = wick_relay_int(m, "id_index", 0),
                        .score = wick_relay_int(m, "score_index", 1),
                        .corner = wick_relay_int(m, "coord_start", 2),
                        .most = wick_relay_int(m, "top_k", -1),
                        .all = wick_relay_int(m, "force_suppress", 0) != 0,
                        .indices = wick_relay_int(m, "return_indices", 1) != 0,
                        .bottom = wick_relay_int(m, "invalid_to_bottom", 0) != 0};
  if (wick_relay_rank(m, 0) != 3 || wick_relay_rank(m, 1) != 1 || wick_relay_rank(m, 2) != 2 ||
      wick_relay_rank(m, 3) || wick_relay_rank(m, 4))
    return wick_relay_fail(m, "the operands must have 3, 1, 2, 0 and 0 axes");
  int64_t width = wick_relay_known(m, 0, 2);
  if (m->use->wrong) return false;
  if (s->score < 0 || s->score >= width || s->id >= width || s->corner < 0 || s->corner > width - 4)
    return wick_relay_fail(
        m, "`id_index`, `score_index` or `coord_start` is outside of a box's elements");
  return true;
}

/* A box goes if it overlaps an earlier one, in the order of scores, that stays. Boxes whose score is not
 * positive neither go nor let others go. An `overlap` that is not positive keeps all, in their order.
 * Source: the definition of vision.non_max_suppression in TVM 0.14. */
static const char *boxes_function(relay_member *m, const boxes_suppress *s)
{
  long long c = s->corner;
  const char *score = wick_relay_text(m, "%lld", (long long)s->score),
             *id = wick_relay_text(m, "%lld", (long long)s->id);
  const char *hit =
      wick_relay_text(m, "and(and(iou >= overlap, at > j), rows[:, %s] > 0.0)", score);
  if (s->id >= 0 && !s->all)
    hit = wick_relay_text(m, "and(%s, rows[:, %s] == rows[j, %s])", hit, id, id);
  const char *takes = wick_relay_text(m, "!full && !gone[j] && rows[j, %s] > 0.0", score);
  const char *lets = s->id < 0 ? "takes" : wick_relay_text(m, "takes && rows[j, %s] >= 0.0", id);
  const char *kept =
      s->most > 0 ? wick_relay_text(m, "min(count, %lld)", (long long)s->most) : "count";
  return wick_relay_text(
      m,
      "%sfn suppressed(x: e[n, k], count: i64, index: i32[n], most: i64, overlap: e) {\n"
      "  let at = range(0, 1, count = (n,))\n"
      "  let sorts = overlap > 0.0\n"
      "  let kept = if sorts { %s } else { count }\n"
      "  let (_, sorted) = top_k(where(at < count, x[:, %s], (-1.0 : e) / 0.0), axis = 0, k = "
      "(n,))\n"
      "  let order = if sorts { sorted } else { at }\n"
      "  let rows = where(reshape(at < kept, shape = (n, 1)), gather(x, order, axis = 0), -1.0)\n"
      "  let (y0, y1) = (min(rows[:, %lld], rows[:, %lld]), max(rows[:, %lld], rows[:, %lld]))\n"
      "  let (x0, x1) = (min(rows[:, %lld], rows[:, %lld]), max(rows[:, %lld], rows[:, %lld]))\n"
      "  let area = (y1 - y0) * (x1 - x0)\n"
      "  let (gone, _) = for j in 0..(if sorts { kept } else { 0 }) with (gone, found) = (at >= "
      "kept, 0) {\n"
      "    let full = found == most\n"
      "    let takes = %s\n"
      "    let both = max(min(y1, y1[j]) - max(y0, y0[j]), 0.0) * max(min(x1, x1[j]) - max(x0, "
      "x0[j]), 0.0)\n"
      "    let rest = area + area[j] - both\n"
      "    let iou = where(rest <= 0.0, 0.0, both / rest)\n"
      "    let hit = %s\n"
      "    (or(or(gone, and(at == j, full)), and(%s, hit)), if takes { found + 1 } else { found "
      "})\n"
      "  }\n"
      "  let rest = where(reshape(gone, shape = (n, 1)), -1.0, rows)\n",
      boxes_first, kept, score, c, c + 2, c, c + 2, c + 1, c + 3, c + 1, c + 3, takes, hit, lets);
}

static const char *boxes_suppressed(relay_member *m)
{
  boxes_suppress s;
  if (!boxes_read(m, &s)) return NULL;
  const char *e = wick_elem_name(wick_relay_elem(m, 0)),
             *result = s.indices
                           ? "(firsts(where(gone, -1, gather(index, order, axis = 0)), !gone), "
                             "i32(reduce_sum(i64(!gone), axes = (0,), keepdims = true)))"
                       : s.bottom ? "first(rest, rest[:, 0] >= 0.0)"
                                  : "rest";
  m->items = wick_relay_text(m, "%s  %s\n}\n", boxes_function(m, &s), result);
  return wick_relay_text(m,
                         "vmap(suppressed, axes = (0, 0, 0, -1, -1))(a, i64(b), i32(c), i64(d), "
                         "%s(e))",
                         e);
}

const relay_row wick_relay_boxes[] = {
    RELAY_WRITE("vision.get_valid_counts", 2, 2, boxes_valid, "id_index score_index",
                "scatter_elements"),
    RELAY_WRITE("vision.non_max_suppression", 5, 5, boxes_suppressed,
                "force_suppress top_k coord_start score_index id_index return_indices "
                "invalid_to_bottom",
                "a loop"),
    RELAY_END_OF_ROWS,
};
