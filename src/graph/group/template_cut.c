/* Cuts the loop of the output's vectors where reads change their form: at the borders of padding,
 * where an index is clamped, mirrored, or begins again. The loops in between read whole vectors
 * without conditions. */
#include "graph/group/template_state.h"
#include "ir/dim.h"

enum { CUT_MOST = 6 };

typedef struct cut {
  const template_state *t;
  int64_t extent, begin, end; /* the axis; the part in which no guard is needed */
  uint32_t n;
  int64_t at[CUT_MOST];
  bool many; /* too many pieces: the axis stays whole */
} cut;

static void cut_add(cut *c, int64_t position)
{
  uint32_t i = 0;
  if (position <= 0 || position >= c->extent) return;
  while (i < c->n && c->at[i] < position) i++;
  if (i < c->n && c->at[i] == position) return;
  if (c->n == CUT_MOST) {
    c->many = true;
    return;
  }
  for (uint32_t k = c->n++; k > i; k--) c->at[k] = c->at[k - 1];
  c->at[i] = position;
}

/* Returns true if the index is linear in `n` positions of the axis from `from` on. */
static bool cut_is_linear(const cut *c, wick_dim index, wick_dim sym, int64_t from, int64_t n)
{
  wick_dims *dims = c->t->g->module->dims;
  wick_dim in = n > 1 ? wick_dim_symbol(dims, "cut", 0, n - 1) : wick_dim_const(0), coef, rest,
           by = wick_dim_add(dims, in, wick_dim_const(from)),
           d = wick_dim_substitute(dims, index, 1, &sym, &by);
  return n <= 1 || !wick_dim_uses(dims, d, in) ||
         (wick_dim_linear(dims, d, in, &coef, &rest) && wick_dim_is_const(coef));
}

/* Cuts where the index begins to be another linear function. */
static void cut_pieces(cut *c, wick_dim index, wick_dim sym)
{
  for (int64_t from = 0; from < c->extent && !c->many;) {
    int64_t yes = 1, no = c->extent - from + 1; /* lengths that are linear, and that are not */
    if (cut_is_linear(c, index, sym, from, no - 1)) return;
    while (no - yes > 1) {
      int64_t n = yes + (no - yes) / 2;
      if (cut_is_linear(c, index, sym, from, n))
        yes = n;
      else
        no = n;
    }
    cut_add(c, from += yes);
  }
}

/* Narrows the part in which no guard is needed to where this index is inside for all values of the
 * other axes. */
static void cut_guard(cut *c, wick_dim index, wick_dim sym, wick_dim extent)
{
  wick_dims *dims = c->t->g->module->dims;
  wick_dim coef, rest;
  int64_t lo, hi;
  if (!wick_dim_is_const(extent) || !wick_dim_linear(dims, index, sym, &coef, &rest) ||
      !wick_dim_is_const(coef) || coef.v < 1)
    return;
  wick_dim_range(dims, rest, &lo, &hi);
  if (lo < -(int64_t)INT32_MAX || hi > INT32_MAX) return;
  c->begin = wick_max_i64(c->begin, wick_ceildiv_i64(-lo, coef.v));
  c->end = wick_min_i64(c->end, wick_ceildiv_i64(extent.v - hi, coef.v));
}

static void cut_stage(cut *c, const wick_stage *st, uint32_t axis)
{
  const template_state *t = c->t;
  wick_dim sym = st->axis[axis].sym;
  for (uint32_t i = st->node + 1; i < template_node(t, st)->end; i++) {
    const wick_node *n = &t->g->node[i];
    if (n->op != WICK_OP_read) continue;
    for (uint32_t k = 0; k < wick_read_index(n)->n; k++) {
      wick_dim d = wick_read_index(n)->dims[k];
      if (wick_dim_eq(d, WICK_DIM_ANY) || !wick_dim_uses(t->g->module->dims, d, sym)) continue;
      if (n->attr[WICK_ATTR_read_guard].i)
        cut_guard(c, d, sym, wick_info_of(t->g, n->in[0])->dim[k]);
      cut_pieces(c, d, sym);
    }
  }
}

bool template_cut(template_state *t, uint32_t axis, int64_t lanes)
{
  if (template_varies(t->out, axis)) return false;
  int64_t extent = template_extent(t, t->out, axis);
  cut c = {.t = t, .extent = extent, .end = extent};
  for (uint32_t s = 0; s <= t->s->output; s++) {
    const wick_stage *st = &t->s->stage[s];
    if (st == t->out || (axis < st->naxis && template_read_in_place(t, st)))
      cut_stage(&c, st, axis);
  }
  /* Borders take whole vectors: guards are masks, which cost less than shorter vectors. */
  c.begin = wick_ceildiv_i64(c.begin, lanes) * lanes;
  if (c.end < extent) c.end = c.begin + (c.end - c.begin) / lanes * lanes;
  if (c.end > c.begin) {
    cut_add(&c, c.begin);
    cut_add(&c, c.end);
  }
  if (c.many || !c.n) return false;
  wick_text_printf(&t->steps, "cut %s.%s", t->out->name, template_loop(t, t->out, axis));
  for (uint32_t i = 0; i < c.n; i++) wick_text_printf(&t->steps, " %lld", (long long)c.at[i]);
  wick_text_add(&t->steps, "; ");
  return true;
}
