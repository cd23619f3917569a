/* Splits the first loop of a sum, from the innermost one outwards, that makes the sum too long. A
 * span ends after some iterations of that loop. */
#include "graph/group/template_spans.h"

#include "ir/op.h"

/* The largest number of terms in a span. The random error of n terms in spans of t grows as sqrt(t
 * + n / t). The states of a tile are saved and added once for each span, which costs as many
 * additions, loads and stores as the tile has vectors. */
enum { SPANS_TERMS = 256 };

/* Returns true if the stage is a sum of floats in registers, and nothing else is computed in its
 * loops. */
static bool spans_sums(const wick_schedule *s, uint32_t stage)
{
  const wick_stage *st = &s->stage[stage];
  const wick_func *g = s->group;
  if (!st->fold || wick_stage_starts(s, st)) return false;
  const wick_region *merge = &g->node[st->node].region[2];
  const wick_node *add = &g->node[merge->begin];
  for (uint32_t i = 0; i < s->nstage; i++)
    if (s->stage[i].where == WICK_AT && s->stage[i].consumer == stage) return false;
  return merge->nparam == 2 && merge->end - merge->begin == 2 && add->op == WICK_OP_add &&
         wick_elem_is_float(wick_info_of(g, add->first)->elem);
}

/* Returns the largest number of iterations of a loop. A loop that never runs counts as 1, which
 * gives as few terms. */
static int64_t spans_count(const wick_schedule *s, const wick_stage *st, const wick_sloop *l)
{
  int64_t lo, hi;
  wick_dim_range(s->group->module->dims, st->axis[l->axis].extent, &lo, &hi);
  return wick_max_i64(l->size ? l->size : wick_ceildiv_i64(hi, l->factor), 1);
}

/* Returns how many of n iterations make a span, at most `most`. If n is known, spans are as even as
 * possible, and all equal if a divisor of n is not much smaller. */
static int64_t spans_size(int64_t n, bool known, int64_t most)
{
  if (!known) return most;
  int64_t even = wick_ceildiv_i64(n, wick_ceildiv_i64(n, most));
  for (int64_t s = most; s > most / 2; s--)
    if (n % s == 0) return s;
  return even;
}

/* Returns true if the reduced loops outside of `loop` are serial, and those inside it are in registers, or
 * in a tile that is. */
static bool spans_fit(const wick_stage *st, uint32_t loop)
{
  uint32_t tile = wick_stage_tile(st), reduced = 0;
  bool inner = loop >= tile;
  for (uint32_t i = 0; i < st->loops.n; i++) {
    const wick_sloop *l = &st->loops.at[i];
    bool reduce = st->axis[l->axis].reduce;
    reduced += reduce, inner = inner || (i >= tile && reduce);
    if (reduced && i <= loop && l->kind != WICK_SERIAL) return false;
    if (reduce && i > loop && i < tile) return false;
  }
  return inner;
}

static void spans_stage(const wick_schedule *s, const wick_stage *st, wick_text *steps)
{
  int64_t terms = 1;
  for (uint32_t i = st->loops.n; i-- > 0;) {
    const wick_sloop *l = &st->loops.at[i];
    if (!st->axis[l->axis].reduce || (l->kind != WICK_SERIAL && l->kind != WICK_UNROLL)) continue;
    int64_t n = spans_count(s, st, l);
    if (n <= SPANS_TERMS / terms) {
      terms *= n;
      continue;
    }
    bool known = l->size || wick_dim_is_const(st->axis[l->axis].extent);
    /* sums in memory are merged after each block of their terms */
    int64_t size =
        i < wick_stage_tile(st) ? 1 : spans_size(n, known, wick_max_i64(SPANS_TERMS / terms, 1));
    if (!spans_fit(st, i) || (l->size && l->size % size)) return;
    if (size > 1)
      wick_text_printf(steps, "split %s.%s span:%lld; ", st->name, l->name, (long long)size);
    wick_text_printf(steps, "spans %s.%s; ", st->name, l->name);
    return;
  }
}

wick_status wick_template_spans(wick_func *g, wick_arena *tmp, wick_text *steps)
{
  wick_schedule *s = wick_schedule_begin(g, tmp);
  WICK_TRY(wick_schedule_apply(s, steps->at));
  WICK_TRY(wick_schedule_check(s));
  for (uint32_t i = 0; i < s->nstage; i++)
    if (spans_sums(s, i)) spans_stage(s, &s->stage[i], steps);
  return NULL;
}
