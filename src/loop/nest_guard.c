/* Guarded reads: the conditions under which their indices are inside the tensor, and loads that need
 * none. */
#include <string.h>

#include "loop/nest_state.h"

enum { NEST_KEY_INSIDE = 64 };

static wick_value nest_inside_one(nest *t, const nest_run *r, wick_dim d, wick_opcode op,
                                  wick_dim bound)
{
  uint64_t key[4] = {NEST_KEY_INSIDE, (uint64_t)d.v, op, (uint64_t)bound.v};
  nest_known *k = nest_find(t, key, 4);
  return k ? k->value
           : nest_remember(t, key, 4, nest_binary(t, op, nest_dim(t, r, d), nest_dim(t, r, bound)));
}

/* Returns an upper bound, over all sizes, of how far an index exceeds the last element of a
 * dimension; 0 or less: it does not. */
static int64_t nest_inside_by(nest *t, const nest_run *r, wick_dim index, wick_dim extent)
{
  wick_dim over = wick_dim_sub(t->m->dims, nest_bound(t, r, index), extent);
  int64_t hi = nest_high(t, over);
  return hi < INT32_MAX ? hi + 1 : INT32_MAX;
}

wick_value nest_inside(nest *t, const nest_run *r, const wick_type_info *type,
                       const wick_halo *halo, const wick_dim *index, wick_dim *nearest, bool *never)
{
  wick_dims *dims = t->m->dims;
  wick_value all = {0};
  for (uint32_t k = 0; k < type->rank; k++) {
    int64_t lo, hi, least, most;
    if (wick_dim_eq(index[k], WICK_DIM_ANY)) continue;
    wick_dim_range(t->m->dims, index[k], &lo, &hi);
    wick_dim_range(t->m->dims, type->dim[k], &least, &most);
    if (hi < 0 || lo >= most) *never = true;
    if (!wick_dim_is_const(type->dim[k]) && hi >= least) /* hi relative to the least extent */
      hi = wick_min_i64(hi, least - 1 + nest_inside_by(t, r, index[k], type->dim[k]));
    if (halo && lo >= -halo->lo[k] && hi < least + halo->hi[k]) continue;
    wick_value c[2];
    uint32_t n = 0;
    if (lo < 0) {
      c[n++] = nest_inside_one(t, r, index[k], WICK_OP_ge, wick_dim_const(0));
      nearest[k] = wick_dim_max(dims, nearest[k], wick_dim_const(0));
    }
    if (hi >= least) {
      c[n++] = nest_inside_one(t, r, index[k], WICK_OP_lt, type->dim[k]);
      nearest[k] =
          wick_dim_min(dims, nearest[k], wick_dim_sub(dims, type->dim[k], wick_dim_const(1)));
    }
    for (uint32_t i = 0; i < n; i++) all = all.id ? nest_binary(t, WICK_OP_and, all, c[i]) : c[i];
  }
  return all;
}

bool nest_is_near(const nest *t, const nest_run *r, const wick_type_info *type,
                  const wick_dim *nearest)
{
  bool varies = false;
  for (uint32_t k = 0; k < type->rank; k++) {
    int64_t lo, hi;
    wick_dim_range(t->m->dims, type->dim[k], &lo, &hi);
    varies = varies || !wick_dim_is_const(type->dim[k]);
    wick_dim coef, rest;
    bool lanes = r->lanes > 1 && wick_dim_uses(t->m->dims, nearest[k], r->vsym);
    if (lo < 1 || (lanes && !wick_dim_linear(t->m->dims, nearest[k], r->vsym, &coef, &rest)))
      return false;
  }
  return varies;
}

wick_value nest_clamp_shared(nest *t, const nest_run *r, const wick_type_info *type,
                             const wick_halo *halo, const wick_dim *guarded, wick_dim *index,
                             const wick_dim *nearest, wick_value inside)
{
  wick_dim own[WICK_MAX_RANK], none[WICK_MAX_RANK];
  bool wide = false, never = false;
  for (uint32_t k = 0; k < type->rank; k++) {
    int64_t least, most;
    wick_dim_range(t->m->dims, type->dim[k], &least, &most);
    if (least < 1) return inside;
    bool varies = r->lanes > 1 && wick_dim_uses(t->m->dims, index[k], r->vsym);
    own[k] = varies ? guarded[k] : WICK_DIM_ANY;
    wide = wide || varies;
  }
  if (!wide) return inside;
  for (uint32_t k = 0; k < type->rank; k++)
    if (!wick_dim_uses(t->m->dims, index[k], r->vsym)) index[k] = nearest[k];
  memcpy(none, own, sizeof none);
  return nest_inside(t, r, type, halo, own, none, &never);
}
