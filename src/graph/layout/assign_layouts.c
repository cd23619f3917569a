/* Assigns layouts in one traversal. Every value has a plain form, a packed form, or both. A node
 * uses the form that its operator supports, and missing conversions are built. */
#include "graph/layout/assign_layouts.h"

#include "ir/copy.h"
#include "ops/layout/layout.h"

static bool assign_layouts_node(wick_layouts *s, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  s->c.b.loc = n->loc;
  if (op->layout) return op->layout(s, n);
  if (op->scalar) return wick_layout_scalar(s, n);
  return op->view_of.kind == WICK_VIEW_SAME && wick_layout_same(s, n);
}

/* ---- regions ---- */

/* The state at the beginning of a node's regions. Conversions inside them are not visible after
 * them. */
typedef struct assign_layouts_known {
  const wick_node *node;
  wick_value *to, *weights;
  wick_packed *packed, *second;
} assign_layouts_known;

typedef struct assign_layouts_regions {
  wick_list(assign_layouts_known) open;
} assign_layouts_regions;

/* Converts the values that a loop reads from outside to the plain form before the loop, instead of
 * in every step. */
static void assign_layouts_enter(wick_layouts *s, assign_layouts_regions *r, const wick_node *n)
{
  const wick_func *f = s->c.f;
  uint32_t nvalue = f->nvalue + 1, begin = (uint32_t)(n - f->node);
  for (uint32_t i = begin + 1; n->op == WICK_OP_loop && i < n->end; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) {
      uint32_t d = s->definer[f->node[i].in[k].id];
      if (d != UINT32_MAX && d < begin) wick_layout_plain(s, f->node[i].in[k]);
    }
  wick_push(s->mem, &r->open,
            (assign_layouts_known){n, wick_dup(s->mem, wick_value, s->c.to, nvalue),
                                   wick_dup(s->mem, wick_value, s->weights, nvalue),
                                   wick_dup(s->mem, wick_packed, s->packed, nvalue),
                                   wick_dup(s->mem, wick_packed, s->second, nvalue)});
}

/* Forgets, after a region, everything except the results that it passes to the node and the inputs
 * of the next region. */
static void assign_layouts_leave(wick_layouts *s, assign_layouts_regions *r)
{
  const assign_layouts_known *k = &r->open.at[r->open.n - 1];
  for (uint32_t v = 1; v <= s->c.f->nvalue; v++) {
    bool own = v >= k->node->first.id && v < k->node->first.id + k->node->nout;
    for (uint32_t i = 1; i < k->node->nregion && !own; i++)
      own = v >= k->node->region[i].first.id &&
            v < k->node->region[i].first.id + k->node->region[i].nparam;
    if (own) continue;
    s->c.to[v] = k->to[v], s->weights[v] = k->weights[v];
    s->packed[v] = k->packed[v], s->second[v] = k->second[v];
  }
}

static const wick_node *assign_layouts_loop(const assign_layouts_regions *r)
{
  const wick_node *n = r->open.n ? r->open.at[r->open.n - 1].node : NULL;
  return n && n->op == WICK_OP_loop ? n : NULL;
}

/* Copies a node with plain operands. */
static void assign_layouts_plain(wick_layouts *s, assign_layouts_regions *r, const wick_node *n)
{
  for (uint32_t k = 0; k < n->nin; k++) wick_layout_plain(s, n->in[k]);
  if (n->nregion) assign_layouts_enter(s, r, n);
  wick_copy_node(&s->c, n);
  if (n->op != WICK_OP_yield || s->c.b.status) return;
  assign_layouts_leave(s, r);
  if (&s->c.f->node[r->open.at[r->open.n - 1].node->end - 1] == n) r->open.n--;
}

wick_status wick_pass_assign_layouts(const wick_pass_context *pass, const wick_func *f,
                                     wick_func **out)
{
  wick_arena *mem = pass->mem;
  const wick_target *t = pass->target;
  wick_layouts s = {.mem = mem,
                    .target = t,
                    .block = t->vector_bytes / 4,
                    .strict = pass->strict,
                    .records = pass->records};
  s.c = wick_copy_begin(f, mem);
  s.packed = wick_new(mem, wick_packed, f->nvalue + 1);
  s.second = wick_new(mem, wick_packed, f->nvalue + 1);
  s.weights = wick_new(mem, wick_value, f->nvalue + 1);
  s.definer = wick_definers_of(f, mem);
  s.uses = wick_uses_of(f, mem);
  assign_layouts_regions regions = {0};
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    s.loop = assign_layouts_loop(&regions);
    bool inner = n->nregion || wick_op_of(n)->terminator;
    if (inner || s.block <= 1 || !assign_layouts_node(&s, n)) assign_layouts_plain(&s, &regions, n);
  }
  WICK_TRY(s.failed);
  return wick_copy_finish(&s.c, out);
}
