/* Lanes that are a few elements apart, also backwards: contiguous vectors are loaded, and shuffles
 * pick the lanes from them. */
#include "loop/nest_state.h"

enum { STRIDED_LANES = 1024 };

bool wick_nest_is_strided(int64_t step, uint32_t lanes)
{
  int64_t apart = step < 0 ? -step : step;
  return lanes > 1 && lanes <= STRIDED_LANES && (apart > 1 || step < 0) && apart <= lanes;
}

static wick_value strided_shuffle(nest *t, wick_value a, wick_value b, uint32_t n,
                                  const int64_t *lane)
{
  wick_value in[2] = {a, b};
  wick_attr at = {.n = n, .ints = wick_dup(&t->m->mem, int64_t, lane, n)};
  return wick_build(&t->b, WICK_OP_shuffle, 2, in, &at, 0, NULL);
}

/* The elements that the vector which begins at element `begin` reads: those of lanes in `mask`. */
static wick_value strided_mask(nest *t, wick_value mask, uint32_t lanes, int64_t step,
                               int64_t begin)
{
  int64_t lane[STRIDED_LANES], apart = step < 0 ? -step : step;
  wick_value none = wick_build_const(&t->b, wick_type_scalar(t->m, WICK_BOOL, 1), 0, 0);
  for (uint32_t i = 0; i < lanes; i++) {
    int64_t at = begin + i, of = at / apart;
    lane[i] = at % apart || of >= lanes ? lanes : step < 0 ? lanes - 1 - of : of;
  }
  return strided_shuffle(t, mask, nest_widen(t, none, lanes), lanes, lane);
}

wick_value nest_strided(nest *t, const nest_run *r, const nest_place *p, const nest_address *a,
                        wick_elem e, wick_value mask)
{
  uint32_t lanes = r->lanes;
  int64_t n = a->step < 0 ? -a->step : a->step, lane[STRIDED_LANES],
          first = a->offset + (a->step < 0 ? a->step * ((int64_t)lanes - 1) : 0);
  wick_value index = nest_dim(t, r, a->rest), v = {0};
  if (t->b.status) return v;
  bool some = mask.id && wick_built_info(&t->b, mask)->lanes > 1;
  if (mask.id && !some) mask = nest_widen(t, mask, lanes);
  wick_type type = wick_type_scalar(t->m, e, lanes);
  for (int64_t j = 0; j < n; j++) {
    /* Without conditions of lanes, the last vector ends where the last lane is. */
    int64_t begin = !some && j + 1 == n ? j * ((int64_t)lanes - 1) : j * lanes;
    wick_value on = some ? strided_mask(t, mask, lanes, a->step, begin) : mask,
               part = nest_load_at(t, p, index, first + begin, type, on);
    nest_fetch(t, r, p, &(nest_address){a->rest, first + begin, 1}, e);
    for (uint32_t i = 0; i < lanes; i++) {
      int64_t at = (a->step < 0 ? (int64_t)lanes - 1 - i : (int64_t)i) * n, of = at / lanes;
      lane[i] = of > j ? 0 : of == j ? (j ? lanes : 0) + at - begin : j == 1 ? at : i;
    }
    v = j || n == 1 ? strided_shuffle(t, j ? v : part, part, lanes, lane) : part;
  }
  return v;
}
