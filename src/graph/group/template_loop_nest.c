/* The template for loop nests. Tasks run over their axes. If everything that a loop nest reads and
 * writes is contiguous along its last axis, and all points take the same path through its loops,
 * several vectors of points run at once. */
#include "graph/group/template_state.h"

enum { LOOP_NEST_VECTORS = 4, LOOP_NEST_CHUNKS = 64, LOOP_NEST_TASKS = 8, LOOP_NEST_DEPTH = 16 };

/* Returns the node that defines v; NULL if a region or the group does. */
static const wick_node *loop_nest_definer(const template_state *t, wick_value v)
{
  for (uint32_t i = 0; i < t->g->nnode; i++)
    if (v.id >= t->g->node[i].first.id && v.id < t->g->node[i].first.id + t->g->node[i].nout)
      return &t->g->node[i];
  return NULL;
}

static bool loop_nest_is_index(const template_state *t, wick_value v)
{
  for (uint32_t i = 0; i < t->g->nnode; i++)
    if (t->g->node[i].op == WICK_OP_for && t->g->node[i].region[0].first.id == v.id) return true;
  return false;
}

/* Returns true if v is the same for all points along the axis. It is then computed from indices of
 * loops, numbers, and elements that are read at such indices. */
static bool loop_nest_shares(const template_state *t, wick_value v, wick_dim sym, uint32_t depth)
{
  if (loop_nest_is_index(t, v)) return true;
  const wick_node *n = loop_nest_definer(t, v);
  if (!n || !depth) return false;
  bool indexed = n->op == WICK_OP_index || n->op == WICK_OP_read;
  if (!indexed && wick_op_of(n)->scalar == WICK_NOT_SCALAR) return n->op == WICK_OP_const;
  for (uint32_t k = 0; indexed && k < wick_read_index(n)->n; k++) {
    wick_dim d = wick_read_index(n)->dims[k];
    if (!wick_dim_eq(d, WICK_DIM_ANY) && wick_dim_uses(t->g->module->dims, d, sym)) return false;
  }
  for (uint32_t k = n->op == WICK_OP_read; k < n->nin; k++)
    if (!loop_nest_shares(t, n->in[k], sym, depth - 1)) return false;
  return true;
}

/* Returns true if n accesses contiguous elements for neighbouring points along the axis, or only
 * reads one element for all of them. */
static bool loop_nest_contiguous(const template_state *t, const wick_node *n, wick_dim sym)
{
  wick_dims *dims = t->g->module->dims;
  uint32_t rank = wick_read_index(n)->n, from = 1;
  bool moves = false;
  for (uint32_t k = 0; k < rank; k++) {
    wick_dim d = wick_read_index(n)->dims[k], coef, rest;
    if (wick_dim_eq(d, WICK_DIM_ANY)) {
      if (!loop_nest_shares(t, n->in[from++], sym, LOOP_NEST_DEPTH)) return false;
    } else if (wick_dim_uses(dims, d, sym)) {
      moves = k + 1 == rank && wick_dim_linear(dims, d, sym, &coef, &rest) && wick_dim_is(coef, 1);
      if (!moves) return false;
    }
  }
  return moves || n->op == WICK_OP_read;
}

static bool loop_nest_is_vector(const template_state *t, uint32_t axis)
{
  wick_dim sym = t->out->axis[axis].sym;
  for (uint32_t i = t->out->node + 1; i < template_node(t, t->out)->end; i++) {
    const wick_node *n = &t->g->node[i];
    switch (n->op) {
    case WICK_OP_while: return false;
    case WICK_OP_fail:
    case WICK_OP_if:
      if (!loop_nest_shares(t, n->in[0], sym, LOOP_NEST_DEPTH)) return false;
      break;
    case WICK_OP_for:
      if (!loop_nest_shares(t, n->in[0], sym, LOOP_NEST_DEPTH) ||
          !loop_nest_shares(t, n->in[1], sym, LOOP_NEST_DEPTH))
        return false;
      break;
    case WICK_OP_element_load:
    case WICK_OP_element_store:
    case WICK_OP_read:
      if ((n->op == WICK_OP_read && n->attr[WICK_ATTR_read_guard].i) ||
          !loop_nest_contiguous(t, n, sym))
        return false;
      break;
    default: break;
    }
  }
  return true;
}

/* Returns the last axis of the loop nest that the reads of a stage depend on, or the last axis of
 * all if other stages read the stage. */
static uint32_t loop_nest_axis_of(const template_state *t, const wick_node *stage)
{
  uint32_t most = 0, last = t->out->naxis - 1;
  for (uint32_t i = 0; i < t->g->nnode; i++) {
    const wick_node *r = &t->g->node[i];
    if (r->op != WICK_OP_read || r->in[0].id < stage->first.id ||
        r->in[0].id >= stage->first.id + stage->nout)
      continue;
    if (i < t->out->node) return last;
    for (uint32_t k = 0; k < wick_read_index(r)->n; k++)
      for (uint32_t a = most; a <= last && !wick_dim_eq(wick_read_index(r)->dims[k], WICK_DIM_ANY);
           a++)
        if (wick_dim_uses(t->g->module->dims, wick_read_index(r)->dims[k], t->out->axis[a].sym))
          most = a;
  }
  return most;
}

/* Schedules the maps that the loop nest reads: in line, or in scratch memory for each point of the
 * axes that they depend on. */
static void loop_nest_before(template_state *t, const char *last_loop)
{
  for (uint32_t i = 0; i < t->s->output; i++) {
    const wick_stage *st = &t->s->stage[i];
    const wick_node *n = template_node(t, st);
    if (template_can_inline(t->g, n)) {
      wick_text_printf(&t->steps, "inline %s; ", st->name);
      continue;
    }
    uint32_t axis = loop_nest_axis_of(t, n);
    const char *loop = axis + 1 < t->out->naxis ? template_loop(t, t->out, axis) : last_loop;
    wick_text_printf(&t->steps, "at %s %s.%s scratch; ", st->name, t->out->name, loop);
    uint32_t last = st->naxis - 1;
    if (!st->naxis || st->fold || template_most(t, st, last) < t->lanes || t->lanes < 2) continue;
    if (!template_is(st, last, t->lanes))
      wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", st->name,
                       template_loop(t, st, last), (long long)t->lanes, st->name);
    else
      wick_text_printf(&t->steps, "vector %s.%s; ", st->name, template_loop(t, st, last));
  }
}

bool template_loop_nest_match(template_state *t) { return t->out->loop_nest; }

void template_loop_nest(template_state *t)
{
  uint32_t n = t->out->naxis;
  const char *o = t->out->name;
  bool some = n > 0;
  if (t->lanes > 1) wick_text_printf(&t->steps, "lanes %s:%lld; ", o, (long long)t->lanes);
  for (uint32_t k = 0; k < n; k++) some = some && template_extent(t, t->out, k);
  if (!some) { /* without axes or points, stages are computed at the root */
    template_inline_maps(t);
    return;
  }
  const char *last = template_loop(t, t->out, n - 1);
  int64_t extent = template_most(t, t->out, n - 1), lanes = template_short_lanes(t, n - 1),
          tasks = 1;
  bool masked = lanes < t->lanes && !template_varies(t->out, n - 1) && template_has_masks(t);
  while (masked && lanes < extent) lanes *= 2; /* one vector, some of whose lanes are masked */
  while (lanes >= t->lanes && lanes < t->lanes * LOOP_NEST_VECTORS && extent >= 2 * lanes)
    lanes *= 2;
  bool vector = lanes > 1 && (masked || extent >= lanes) && loop_nest_is_vector(t, n - 1),
       whole = vector && template_is(t->out, n - 1, lanes),
       chunks = !vector && extent > LOOP_NEST_CHUNKS * LOOP_NEST_TASKS;
  loop_nest_before(t, whole && n > 1 ? template_loop(t, t->out, n - 2) : chunks ? "chunk" : last);
  if (vector && !whole)
    wick_text_printf(&t->steps, "split %s.%s lane:%lld; vector %s.lane; ", o, last,
                     (long long)lanes, o);
  else if (vector)
    wick_text_printf(&t->steps, "vector %s.%s; ", o, last);
  for (uint32_t k = 0; k + 1 < n; k++) {
    wick_text_printf(&t->steps, "parallel %s.%s; ", o, template_loop(t, t->out, k));
    tasks *= template_extent(t, t->out, k);
  }
  if (whole || (!vector && tasks >= LOOP_NEST_TASKS && !chunks)) return;
  if (chunks) wick_text_printf(&t->steps, "split %s.%s chunk:%d; ", o, last, LOOP_NEST_CHUNKS);
  wick_text_printf(&t->steps, "parallel %s.%s; ", o, last);
}
