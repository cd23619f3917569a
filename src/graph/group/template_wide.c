/* How many vectors a map computes side by side. Each step of a polynomial waits for the one before
 * it, and on machines with few registers its coefficients are loaded anew for each vector. Several
 * vectors at once fill the time and share the loads. */
#include "graph/group/template_state.h"
#include "loop/expand_math.h"

enum {
  WIDE_MOST = 4,
  WIDE_STEPS = 16,     /* so many at least, unless they leave nothing */
  WIDE_REGISTERS = 16, /* machines with more of them keep the coefficients */
  WIDE_LONG = 80       /* operations whose values do not fit into registers four times */
};

/* Counts the operations on elements in a group. */
static uint32_t wide_operations(const wick_func *g)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < g->nnode; i++)
    n += wick_op_of(&g->node[i])->scalar != WICK_NOT_SCALAR && g->node[i].nin > 0;
  return n;
}

bool template_is_contiguous(const template_state *t, uint32_t axis)
{
  for (uint32_t s = 0; s <= t->s->output; s++) {
    const wick_stage *st = &t->s->stage[s];
    for (uint32_t i = st->node + 1; i < template_node(t, st)->end; i++) {
      const wick_node *n = &t->g->node[i];
      if (n->op == WICK_OP_fail) return false;
      if (n->op == WICK_OP_read && axis < st->naxis &&
          (n->attr[WICK_ATTR_read_guard].i || template_step_of(t, n, st->axis[axis].sym) > 1))
        return false;
    }
  }
  return true;
}

static int64_t wide_vectors(const template_state *t, uint32_t axis, int64_t lanes)
{
  bool function = false;
  wick_func *expanded;
  for (uint32_t i = 0; i < t->g->nnode; i++)
    function = function || wick_op_of(&t->g->node[i])->ulp > 0;
  if (!function || lanes < 2 || t->t->nvector > WIDE_REGISTERS || !template_is_contiguous(t, axis))
    return 1;
  const wick_pass_context pass = {.target = t->t, .mem = t->tmp, .tmp = t->tmp};
  if (wick_pass_expand_math(&pass, t->g, &expanded)) return 1;
  int64_t n = WIDE_MOST, extent = template_extent(t, t->out, axis);
  if (wide_operations(expanded) > WIDE_LONG) n /= 2;
  while (n > 1 && extent % (n * lanes) && extent < WIDE_STEPS * n * lanes) n /= 2;
  return n;
}

int64_t template_wide(template_state *t, uint32_t axis, int64_t lanes)
{
  if (!t->knobs.vectors) return lanes * wide_vectors(t, axis, lanes);
  if (lanes < 2 || t->knobs.vectors < 2) return lanes;
  int64_t wide = lanes * t->knobs.vectors;
  t->refused =
      t->refused || t->knobs.vectors > WIDE_MOST || wide > template_extent(t, t->out, axis);
  return t->refused ? lanes : wide;
}
