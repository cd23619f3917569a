/* Computes the box of a stage that its consumers read inside a loop, and that is therefore computed
 * there. */
#include "loop/nest_state.h"

/* The ranges of the loops that are still to be emitted, as symbols for the remainders of the axes.
 * The box of an access is its range over these. */
typedef struct box_runs {
  uint32_t n;
  wick_dim sym[64], first[64], run[64], last[64];
  int64_t zero[64], most[64]; /* the upper bound of `last` */
} box_runs;

static void box_runs_of(nest *t, const nest_run *r, box_runs *out)
{
  wick_dims *dims = t->m->dims;
  out->n = r->st->naxis;
  for (uint32_t a = 0; a < r->st->naxis; a++) {
    int64_t hi = nest_high(t, r->total[a]);
    out->sym[a] = r->st->axis[a].sym;
    out->zero[a] = 0, out->most[a] = hi > 0 ? hi - 1 : 0;
    out->last[a] = wick_dim_is_const(r->total[a])
                       ? wick_dim_const(out->most[a])
                       : wick_dim_sub(dims, r->total[a], wick_dim_const(1));
    out->run[a] = wick_dim_symbol(dims, wick_str_printf(t->tmp, "box.%u", a), 0, out->most[a]);
    out->first[a] = wick_dim_add(dims, r->base[a], out->run[a]);
  }
}

static bool box_rises(wick_dims *t, wick_dim d, wick_dim sym);

static bool box_atom_rises(wick_dims *t, const wick_atom *a, wick_dim sym)
{
  int64_t lo, hi;
  switch (a->kind) {
  case WICK_ATOM_SYMBOL: return true;
  case WICK_ATOM_MOD: return false;
  case WICK_ATOM_FLOORDIV:
    wick_dim_range(t, a->arg[1], &lo, &hi);
    return lo > 0 && !wick_dim_uses(t, a->arg[1], sym) && box_rises(t, a->arg[0], sym);
  case WICK_ATOM_MIN:
  case WICK_ATOM_MAX: break;
  }
  for (uint32_t i = 0; i < a->narg; i++)
    if (!box_rises(t, a->arg[i], sym)) return false;
  return true;
}

/* Returns true if d is known not to decrease with sym: it is a sum of such terms, whose other
 * factors are not negative. */
static bool box_rises(wick_dims *t, wick_dim d, wick_dim sym)
{
  if (!wick_dim_uses(t, d, sym)) return true;
  wick_dim_form f = wick_dim_get(t, d);
  for (uint32_t i = 0; i < f.nterm; i++) {
    const wick_term *x = &f.term[i];
    bool uses = false, positive = x->coef > 0;
    for (uint32_t k = 0; k < x->natom; k++) {
      int64_t lo, hi;
      wick_dim atom = wick_dim_from_atom(t, x->atom[k]);
      wick_dim_range(t, atom, &lo, &hi);
      positive = positive && (x->natom == 1 || lo >= 0);
      if (!wick_dim_uses(t, atom, sym)) continue;
      uses = true;
      positive = positive && box_atom_rises(t, wick_dim_atom(t, x->atom[k]), sym);
    }
    if (uses && !positive) return false;
  }
  return true;
}

/* Computes the beginning and the extent of an index by interval arithmetic. Symbols of open loops
 * stay symbolic. Returns false if they are not known; the box is then the whole dimension. */
static bool box_index(nest *t, const box_runs *x, wick_dim d, wick_dim *lo, wick_dim *extent)
{
  wick_dims *dims = t->m->dims;
  wick_dim at = wick_dim_substitute(dims, d, x->n, x->sym, x->first), begin[64], end[64];
  for (uint32_t a = 0; a < x->n; a++) {
    wick_dim coef, rest;
    bool linear = wick_dim_linear(dims, at, x->run[a], &coef, &rest) && wick_dim_is_const(coef),
         falls = linear && coef.v < 0; /* then the box begins at the axis' last element */
    if (!linear && !wick_dim_is_const(x->last[a]) && !box_rises(dims, at, x->run[a])) return false;
    begin[a] = falls ? x->last[a] : wick_dim_const(0);
    end[a] = wick_dim_is_const(x->last[a]) ? x->run[a] : falls ? wick_dim_const(0) : x->last[a];
  }
  *lo = wick_dim_substitute(dims, at, x->n, x->run, begin);
  wick_dim all = wick_dim_sub(dims, wick_dim_substitute(dims, at, x->n, x->run, end), *lo),
           zeros[64];
  for (uint32_t a = 0; a < x->n; a++) zeros[a] = wick_dim_const(0);
  /* the part that depends on symbolic extents */
  wick_dim some = wick_dim_substitute(dims, all, x->n, x->run, zeros);
  int64_t low, high;
  if (wick_dim_is_const(some)) some = wick_dim_const(0);
  wick_dim_range_with(dims, wick_dim_sub(dims, all, some), x->n, x->run, x->zero, x->most, &low,
                      &high);
  *extent = wick_dim_add(dims, some, wick_dim_const(high + 1));
  return low == 0;
}

/* Adds an access of a consumer to the box. */
static void box_add(nest *t, const nest_run *r, const wick_node *read, uint32_t rank, nest_box *box)
{
  wick_dims *dims = t->m->dims;
  box_runs runs;
  box_runs_of(t, r, &runs);
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim d = wick_read_index(read)->dims[k], all = wick_info_of(t->g, read->in[0])->dim[k], lo,
             extent;
    if (wick_dim_eq(d, WICK_DIM_ANY) || !box_index(t, &runs, d, &lo, &extent) ||
        nest_high(t, extent) > nest_high(t, all))
      lo = wick_dim_const(0), extent = all;
    if (!box->any) {
      box->lo[k] = lo, box->extent[k] = extent;
      continue;
    }
    wick_dim diff = wick_dim_sub(dims, lo, box->lo[k]);
    if (wick_dim_is_const(diff)) { /* the union of boxes whose beginnings differ by a constant */
      wick_dim end = wick_dim_max(dims, box->extent[k], wick_dim_add(dims, diff, extent));
      if (diff.v < 0) box->lo[k] = lo, end = wick_dim_sub(dims, end, diff);
      box->extent[k] = end;
    } else {
      box->lo[k] = wick_dim_const(0), box->extent[k] = all;
    }
  }
  box->any = true;
}

void nest_box_own(nest *t, const wick_node *stage, nest_box *box)
{
  uint32_t numel, own = nest_own(t, stage, 0, &numel);
  for (uint32_t k = 0; k < own && box->any; k++) {
    box->lo[k] = wick_dim_const(0);
    box->extent[k] = wick_info_of(t->g, stage->first)->dim[k];
  }
}

/* A stage that was searched for the value, with the box that is needed of it. Many paths may lead
 * to a stage; each box is searched once. */
typedef struct box_seen {
  uint32_t stage;
  const wick_dim *box; /* lo, then extent */
} box_seen;

typedef struct box_walk {
  wick_value value;
  wick_list(box_seen) seen;
} box_walk;

static bool box_is_new(nest *t, box_walk *w, uint32_t stage, uint32_t rank, const nest_box *box)
{
  for (uint32_t i = 0; i < w->seen.n; i++) {
    const box_seen *s = &w->seen.at[i];
    bool same = s->stage == stage;
    for (uint32_t k = 0; same && k < rank; k++)
      same = wick_dim_eq(s->box[k], box->lo[k]) && wick_dim_eq(s->box[rank + k], box->extent[k]);
    if (same) return false;
  }
  wick_dim *all = wick_new(t->tmp, wick_dim, 2 * rank + 1);
  for (uint32_t k = 0; k < rank; k++) all[k] = box->lo[k], all[rank + k] = box->extent[k];
  wick_push(t->tmp, &w->seen, ((box_seen){stage, all}));
  return true;
}

static void box_gather(nest *t, const nest_run *r, box_walk *w, nest_box *box)
{
  for (uint32_t i = r->st->node + 1; i < r->node->end; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op != WICK_OP_read) continue;
    const nest_place *p = &t->place[n->in[0].id];
    uint32_t rank = wick_info_of(t->g, n->in[0])->rank;
    if (n->in[0].id == w->value.id) {
      box_add(t, r, n, rank, box);
    } else if (p->stage != UINT32_MAX && p->stage > t->place[w->value.id].stage &&
               t->s->stage[p->stage].where != WICK_ROOT) {
      nest_box inner = {.any = false};
      box_add(t, r, n, rank, &inner);
      nest_box_own(t, &t->g->node[t->s->stage[p->stage].node], &inner);
      if (!box_is_new(t, w, p->stage, rank, &inner)) continue;
      nest_run child = nest_run_of(t, p->stage, inner.lo, inner.extent);
      box_gather(t, &child, w, box);
    }
  }
}

void nest_boxes(nest *t, const nest_run *r, wick_value value, nest_box *box)
{
  box_walk w = {.value = value};
  box_gather(t, r, &w, box);
}

/* ---- reads that are known to be in bounds ---- */

static wick_value box_and(nest *t, wick_value a, wick_value b)
{
  return a.id ? nest_binary(t, WICK_OP_and, a, b) : b;
}

/* Compares two sizes of the group. */
static wick_value box_compare(nest *t, wick_opcode op, wick_dim a, wick_dim b)
{
  wick_value right = nest_dim(t, NULL, b), left = nest_dim(t, NULL, a);
  return nest_binary(t, op, left, right);
}

/* Adds the condition that a guarded read is in bounds. Returns false if it cannot be expressed. */
static bool box_within(nest *t, const box_runs *runs, const wick_node *read, wick_value *all)
{
  wick_dims *dims = t->m->dims;
  const wick_type_info *type = wick_info_of(t->g, read->in[0]);
  for (uint32_t k = 0; k < type->rank; k++) {
    wick_dim d = wick_read_index(read)->dims[k], lo, extent;
    int64_t least, most;
    if (wick_dim_eq(d, WICK_DIM_ANY) || !box_index(t, runs, d, &lo, &extent)) return false;
    wick_dim end = wick_dim_add(dims, lo, extent);
    wick_dim_range(dims, lo, &least, &most);
    if (least < 0) *all = box_and(t, *all, box_compare(t, WICK_OP_ge, lo, wick_dim_const(0)));
    if (nest_high(t, wick_dim_sub(dims, nest_bound(t, NULL, end), type->dim[k])) > 0)
      *all = box_and(t, *all, box_compare(t, WICK_OP_le, end, type->dim[k]));
  }
  return true;
}

/* Returns true if the guards of a read remain: the tensor has no halo. */
static bool box_is_guarded(const nest *t, const wick_node *read)
{
  const wick_type_info *type = wick_info_of(t->g, read->in[0]);
  const wick_halo *halo = t->place[read->in[0].id].halo;
  for (uint32_t k = 0; halo && k < type->rank; k++)
    if (halo->lo[k] || halo->hi[k]) return false;
  return read->attr[WICK_ATTR_read_guard].i;
}

wick_value nest_within(nest *t, const nest_run *r, uint32_t loop, bool *stages)
{
  wick_value all = {0};
  for (uint32_t s = 0; s < t->s->nstage; s++) {
    const wick_stage *st = &t->s->stage[s];
    const wick_node *n = &t->g->node[st->node];
    nest_box box = {.any = false};
    if (st->where != WICK_AT || st->consumer != r->stage || st->consumer_loop != loop ||
        st->store != WICK_STORE_REG || !st->fold)
      continue;
    nest_boxes(t, r, n->first, &box);
    if (!box.any) continue;
    nest_box_own(t, n, &box);
    nest_run child = nest_run_of(t, s, box.lo, box.extent);
    box_runs runs;
    box_runs_of(t, &child, &runs);
    for (uint32_t i = st->node + 1; i < n->end; i++) {
      const wick_node *read = &t->g->node[i];
      if (read->op != WICK_OP_read || !box_is_guarded(t, read)) continue;
      if (!box_within(t, &runs, read, &all)) return (wick_value){0};
      stages[s] = true;
    }
  }
  return all;
}

/* Returns the only guarded read of a map of constant sizes, or NULL. */
static const wick_node *box_guarded(const nest *t, const nest_run *r)
{
  const wick_node *found = NULL;
  for (uint32_t i = r->st->node + 1; i < r->node->end; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op != WICK_OP_read || !box_is_guarded(t, n)) continue;
    const wick_type_info *type = wick_info_of(t->g, n->in[0]);
    for (uint32_t k = 0; k < type->rank; k++)
      if (!wick_dim_is_const(type->dim[k])) return NULL;
    if (found) return NULL;
    found = n;
  }
  return r->node->op == WICK_OP_map ? found : NULL;
}

wick_value nest_rows_within(nest *t, const nest_run *r, struct nest_sure *sure, bool *same)
{
  wick_dims *dims = t->m->dims;
  wick_value all = {0};
  box_runs runs;
  *same = true;
  *sure = (struct nest_sure){.read = box_guarded(t, r)};
  if (!sure->read) return all;
  box_runs_of(t, r, &runs);
  for (uint32_t k = 0; k < wick_read_index(sure->read)->n; k++) {
    wick_dim d = wick_read_index(sure->read)->dims[k], lo, extent;
    int64_t least, most, size = wick_info_of(t->g, sure->read->in[0])->dim[k].v;
    if (wick_dim_eq(d, WICK_DIM_ANY) || !box_index(t, &runs, d, &lo, &extent) ||
        !wick_dim_is_const(extent) || extent.v > size)
      continue;
    wick_dim_range(dims, lo, &least, &most);
    if (wick_dim_is_const(lo) || (least >= 0 && most <= size - extent.v)) continue;
    if (least < 0) all = box_and(t, all, box_compare(t, WICK_OP_ge, lo, wick_dim_const(0)));
    if (most > size - extent.v)
      all = box_and(t, all, box_compare(t, WICK_OP_le, lo, wick_dim_const(size - extent.v)));
    sure->dims |= 1u << k;
    *same = *same && wick_dim_is(extent, 1);
  }
  return all;
}
