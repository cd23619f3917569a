/* Answers queries about the stages of a group. */
#include "graph/group/template_state.h"
#include "loop/nest.h"

const wick_node *template_node(const template_state *t, const wick_stage *st)
{
  return &t->g->node[st->node];
}

wick_elem template_elem(const template_state *t) /* of the output */
{
  return wick_info_of(t->g, template_node(t, t->out)->first)->elem;
}

const char *template_loop(const template_state *t, const wick_stage *st, uint32_t axis)
{
  const wick_term *term = wick_dim_get(t->g->module->dims, st->axis[axis].sym).term;
  return wick_dim_atom(t->g->module->dims, term->atom[0])->name;
}

int64_t template_extent(const template_state *t, const wick_stage *st, uint32_t axis)
{
  wick_dim extent = st->axis[axis].extent;
  if (wick_dim_is_const(extent)) return extent.v;
  return wick_max_i64(wick_dim_typical(t->g->module->dims, extent), 1);
}

int64_t template_most(const template_state *t, const wick_stage *st, uint32_t axis)
{
  int64_t lo, hi;
  wick_dim_range(t->g->module->dims, st->axis[axis].extent, &lo, &hi);
  return hi;
}

bool template_is(const wick_stage *st, uint32_t axis, int64_t extent)
{
  return wick_dim_is(st->axis[axis].extent, extent);
}

bool template_varies(const wick_stage *st, uint32_t axis)
{
  return !wick_dim_is_const(st->axis[axis].extent);
}

unsigned template_step_of(const template_state *t, const wick_node *read, wick_dim sym)
{
  wick_dims *dims = t->g->module->dims;
  const wick_type_info *from = wick_info_of(t->g, read->in[0]);
  uint32_t rank = wick_read_index(read)->n, last = rank;
  while (last > 1 && wick_dim_is(from->dim[last - 1], 1)) last--; /* others are as contiguous */
  unsigned how = 0;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim d = wick_read_index(read)->dims[k], coef, rest;
    if (wick_dim_eq(d, WICK_DIM_ANY)) {
      how = 2;
    } else if (wick_dim_uses(dims, d, sym)) {
      bool unit = k + 1 == last && how == 0 && wick_dim_linear(dims, d, sym, &coef, &rest) &&
                  wick_dim_is(coef, 1);
      how = unit ? 1 : 2;
    }
  }
  return how;
}

bool template_is_near(const template_state *t, const wick_node *read, wick_dim sym, int64_t lanes)
{
  if (template_step_of(t, read, sym) < 2) return true;
  int64_t step = wick_read_stride(t->g, read, sym);
  return step && wick_nest_is_strided(step, (uint32_t)lanes);
}

/* Returns true if every element is the same number. */
static bool template_is_number(const wick_func *g, const wick_node *stage)
{
  for (uint32_t i = stage->region[0].begin; i < stage->region[0].end; i++)
    if (g->node[i].op == WICK_OP_read || g->node[i].op == WICK_OP_index) return false;
  return true;
}

/* A map is computed where it is read, unless a read of it has a guard or a run-time index. Such
 * reads need it in memory, unless all elements are the same. */
bool template_can_inline(const wick_func *g, const wick_node *stage)
{
  if (stage->op != WICK_OP_map || wick_info_of(g, stage->first)->rank !=
                                      /* it yields several elements at once */
                                      wick_stage_axes(stage)->n)
    return false;
  for (uint32_t i = 0; i < g->nnode; i++) {
    const wick_node *n = &g->node[i];
    bool uses = false;
    for (uint32_t k = 0; k < n->nin; k++)
      uses =
          uses || (n->in[k].id >= stage->first.id && n->in[k].id < stage->first.id + stage->nout);
    if (!uses) continue;
    if (n->op == WICK_OP_return) return false;
    if (n->op == WICK_OP_read &&
        (n->attr[WICK_ATTR_read_guard].i || (n->nin > 1 && !template_is_number(g, stage))))
      return false;
  }
  return true;
}

bool template_reads(const template_state *t, const wick_stage *fold, template_fits *fits,
                    uint32_t axis)
{
  const wick_node *f = template_node(t, fold);
  for (uint32_t s = 0; s < t->s->nstage; s++) {
    const wick_stage *st = &t->s->stage[s];
    for (uint32_t i = st->node + 1; i < template_node(t, st)->end; i++) {
      const wick_node *r = &t->g->node[i];
      if (r->op == WICK_OP_read && r->in[0].id >= f->first.id &&
          r->in[0].id < f->first.id + f->nout && !fits(t, st, r, axis))
        return false;
    }
  }
  return true;
}

/* Returns true if the read's index is the axes of the reading stage, in order, followed by numbers
 * if the fold has more axes. */
static bool template_fits_in_place(const template_state *t, const wick_stage *st,
                                   const wick_node *r, uint32_t axis)
{
  (void)t, (void)axis;
  if (st->fold || r->attr[WICK_ATTR_read_guard].i || wick_read_index(r)->n < st->naxis)
    return false;
  for (uint32_t k = st->naxis; k < wick_read_index(r)->n; k++)
    if (!wick_dim_is_const(wick_read_index(r)->dims[k])) return false;
  for (uint32_t k = 0; k < st->naxis; k++)
    if (!wick_dim_eq(wick_read_index(r)->dims[k], st->axis[k].sym) &&
        !(wick_dim_is(wick_read_index(r)->dims[k], 0) && wick_dim_is(st->axis[k].extent, 1)))
      return false;
  return true;
}

bool template_read_in_place(const template_state *t, const wick_stage *fold)
{
  return template_reads(t, fold, template_fits_in_place, 0);
}

int64_t template_vector_lanes(const template_state *t, uint32_t axis)
{
  int64_t v = template_most(t, t->out, axis), lanes = t->lanes;
  while (lanes > v && lanes > t->t->vector_bytes / 4) lanes /= 2; /* of short elements */
  return v >= lanes ? lanes : 1;
}

bool template_has_masks(const template_state *t)
{
  uint64_t masks = t->t->mask;
  for (uint32_t v = 1; v <= t->g->nparam; v++)
    if (!(masks & WICK_BIT(wick_info_of(t->g, (wick_value){v})->elem))) return false;
  return masks & WICK_BIT(template_elem(t));
}

int64_t template_short_lanes(const template_state *t, uint32_t axis)
{
  enum { FEW = 4 };
  int64_t v = template_most(t, t->out, axis), lanes = t->lanes;
  while (lanes > v && lanes > FEW) lanes /= 2;
  return v >= lanes ? lanes : 1;
}

int64_t template_even(int64_t n, int64_t most)
{
  return wick_ceildiv_i64(n, wick_ceildiv_i64(n, most));
}

void template_inline_maps(template_state *t)
{
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    if (!st->fold && st != t->panel && template_can_inline(t->g, template_node(t, st)))
      wick_text_printf(&t->steps, "inline %s; ", st->name);
  }
}
