/* Merges loops and branches in one traversal. At a loop, the later loop that replaces it is copied; the later
 * one is skipped at its old position. */
#include "graph/merge_loops.h"

#include "ir/call.h"
#include "ir/copy.h"

enum { MERGE_LOOPS_APART = 64 };

typedef struct merge_loops_state {
  wick_copier c;
  const uint32_t *definer;
  uint32_t *twin; /* per node: the later loop that replaces it; 0: none */
  bool *moved;    /* per node: it is moved before the loop */
  wick_value *as; /* per value of the first loop: the value of the second loop */
  wick_effects effects;
} merge_loops_state;

/* ---- comparing ---- */

static bool merge_loops_value(const merge_loops_state *s, wick_value a, wick_value b)
{
  return (s->as[a.id].id ? s->as[a.id].id : a.id) == b.id;
}

static void merge_loops_map(merge_loops_state *s, wick_value a, wick_value b, uint32_t n)
{
  for (uint32_t k = 0; k < n; k++) s->as[a.id + k] = (wick_value){b.id + k};
}

static bool merge_loops_attrs(const wick_node *a, const wick_node *b)
{
  const wick_op *op = wick_op_of(a);
  for (uint32_t k = 0; k < a->nattr; k++)
    if (!wick_attr_eq(op->attr[k].kind, &a->attr[k], &b->attr[k])) return false;
  return true;
}

static bool merge_loops_nodes(const merge_loops_state *s, const wick_node *a, const wick_node *b)
{
  const wick_func *f = s->c.f;
  bool same = a->op == b->op && a->nin == b->nin && a->nout == b->nout &&
              a->nregion == b->nregion && a->end - (a - f->node) == b->end - (b - f->node) &&
              merge_loops_attrs(a, b);
  for (uint32_t k = 0; k < a->nin && same; k++) same = merge_loops_value(s, a->in[k], b->in[k]);
  for (uint32_t k = 0; k < a->nout && same; k++)
    same = wick_type_eq(wick_type_of(f, (wick_value){a->first.id + k}),
                        wick_type_of(f, (wick_value){b->first.id + k}));
  return same;
}

/* Compares regions, up to the end of g. */
static bool merge_loops_bodies(merge_loops_state *s, const wick_region *g, const wick_region *h)
{
  const wick_func *f = s->c.f;
  uint32_t n = g->end - 1 - g->begin;
  if (h->end - 1 - h->begin < n) return false;
  for (uint32_t i = 0; i < n; i++) {
    const wick_node *x = &f->node[g->begin + i], *y = &f->node[h->begin + i];
    if (x->nregion != y->nregion) return false;
    for (uint32_t r = 0; r < x->nregion; r++) {
      if (x->region[r].nparam != y->region[r].nparam ||
          x->region[r].end - x->region[r].begin != y->region[r].end - y->region[r].begin)
        return false;
      merge_loops_map(s, x->region[r].first, y->region[r].first, x->region[r].nparam);
    }
    if (!merge_loops_nodes(s, x, y)) return false;
    merge_loops_map(s, x->first, y->first, x->nout);
  }
  return true;
}

/* Returns true if everything that b uses was defined before a, or is a constant that can be moved
 * there. */
static bool merge_loops_moves(const merge_loops_state *s, uint32_t a, uint32_t b)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = b; i < f->node[b].end; i++)
    for (uint32_t k = 0; k < f->node[i].nin; k++) {
      uint32_t d = s->definer[f->node[i].in[k].id];
      if (d != UINT32_MAX && d >= a && d < b && f->node[d].op != WICK_OP_const) return false;
    }
  return true;
}

/* Returns the position of result k of a among the results of b. */
static uint32_t merge_loops_result(const wick_node *a, const wick_node *b, uint32_t k)
{
  return a->op == WICK_OP_if || k + 1u < a->nin ? k : k + (b->nin - a->nin);
}

/* Returns whether region r of b yields what that of a yields; skip: the operands before results. */
static bool merge_loops_yields(const merge_loops_state *s, const wick_node *a, const wick_node *b,
                               uint32_t r, uint32_t skip)
{
  const wick_func *f = s->c.f;
  const wick_node *x = &f->node[a->region[r].end - 1], *y = &f->node[b->region[r].end - 1];
  bool same = true;
  for (uint32_t k = 0; k < skip && same; k++) same = merge_loops_value(s, x->in[k], y->in[k]);
  for (uint32_t k = 0; k < a->nout && same; k++)
    same = merge_loops_value(s, x->in[skip + k], y->in[skip + merge_loops_result(a, b, k)]);
  return same;
}

static bool merge_loops_are_branches(merge_loops_state *s, uint32_t i, uint32_t j)
{
  const wick_node *a = &s->c.f->node[i], *b = &s->c.f->node[j];
  if (a->in[0].id != b->in[0].id || a->nout > b->nout || !merge_loops_attrs(a, b)) return false;
  for (uint32_t r = 0; r < a->nregion; r++)
    if (!merge_loops_bodies(s, &a->region[r], &b->region[r]) || !merge_loops_yields(s, a, b, r, 0))
      return false;
  return merge_loops_moves(s, i, j);
}

static bool merge_loops_are(merge_loops_state *s, uint32_t i, uint32_t j)
{
  const wick_func *f = s->c.f;
  const wick_node *a = &f->node[i], *b = &f->node[j];
  if (a->op == WICK_OP_if && b->op == WICK_OP_if) return merge_loops_are_branches(s, i, j);
  if (a->op != WICK_OP_loop || b->op != WICK_OP_loop || a->nin > b->nin ||
      a->nout - a->nin > b->nout - b->nin)
    return false;
  if (!wick_dim_eq(wick_loop_most(a->attr), wick_loop_most(b->attr)) &&
      a->attr[WICK_ATTR_loop_stacked].i)
    return false;
  for (uint32_t k = 0; k < a->nin; k++)
    if (a->in[k].id != b->in[k].id) return false;
  merge_loops_map(s, a->region[0].first, b->region[0].first, a->nin);
  return merge_loops_bodies(s, &a->region[0], &b->region[0]) && merge_loops_moves(s, i, j) &&
         merge_loops_yields(s, a, b, 0, 1);
}

/* Finds the last loop or branch that can replace each one of a region. */
static void merge_loops_find(merge_loops_state *s, uint32_t begin, uint32_t end)
{
  const wick_func *f = s->c.f;
  wick_list(uint32_t) loops = {0};
  for (uint32_t i = begin; i < end; i = f->node[i].end)
    if ((f->node[i].op == WICK_OP_loop || f->node[i].op == WICK_OP_if) &&
        !wick_nodes_act(&s->effects, f, i, f->node[i].end))
      wick_push(s->c.b.mem, &loops, i);
  for (uint32_t i = 0; i < loops.n; i++)
    for (uint32_t k = i + 1; k < loops.n && k <= i + MERGE_LOOPS_APART && !s->moved[loops.at[i]];
         k++)
      if (!s->moved[loops.at[k]] && merge_loops_are(s, loops.at[i], loops.at[k])) {
        s->twin[loops.at[i]] = loops.at[k];
        s->moved[loops.at[k]] = true;
        break;
      }
  for (uint32_t i = begin; i < end; i = f->node[i].end)
    for (uint32_t r = 0; r < f->node[i].nregion; r++)
      merge_loops_find(s, f->node[i].region[r].begin, f->node[i].region[r].end);
}

/* ---- copying the merged loop ---- */

static void merge_loops_copy(merge_loops_state *s, uint32_t begin, uint32_t end);

static void merge_loops_instead(merge_loops_state *s, uint32_t i)
{
  const wick_func *f = s->c.f;
  uint32_t j = s->twin[i];
  const wick_node *a = &f->node[i], *b = &f->node[j];
  for (uint32_t n = j; n < b->end; n++)
    for (uint32_t k = 0; k < f->node[n].nin; k++) {
      uint32_t d = s->definer[f->node[n].in[k].id];
      if (d == UINT32_MAX || d < i || d >= j || s->moved[d]) continue;
      wick_copy_node(&s->c, &f->node[d]);
      s->moved[d] = true;
    }
  s->moved[j] = false;
  merge_loops_copy(s, j, b->end);
  s->moved[j] = true;
  for (uint32_t k = 0; k < a->nout; k++) {
    wick_value v = s->c.to[a->first.id + k] = s->c.to[b->first.id + merge_loops_result(a, b, k)];
    const wick_value_info *old = &f->value[a->first.id + k];
    if (!s->c.b.values.at[v.id].name) wick_build_name(&s->c.b, v, old->name, old->relation);
  }
}

static void merge_loops_copy(merge_loops_state *s, uint32_t begin, uint32_t end)
{
  const wick_func *f = s->c.f;
  for (uint32_t i = begin; i < end;) {
    const wick_node *n = &f->node[i];
    if (s->moved[i]) {
      i = n->end;
    } else if (s->twin[i]) {
      merge_loops_instead(s, i);
      i = n->end;
    } else {
      wick_copy_node(&s->c, n);
      i++;
    }
  }
}

wick_status wick_pass_merge_loops(const wick_pass_context *pass, const wick_func *f,
                                  wick_func **out)
{
  wick_arena *mem = pass->mem;
  merge_loops_state s = {.c = wick_copy_begin(f, mem),
                         .definer = wick_definers_of(f, mem),
                         .effects = wick_effects_of(f->module, mem)};
  s.twin = wick_new(mem, uint32_t, f->nnode);
  s.moved = wick_new(mem, bool, f->nnode);
  s.as = wick_new(mem, wick_value, f->nvalue + 1);
  merge_loops_find(&s, 0, f->nnode);
  merge_loops_copy(&s, 0, f->nnode);
  return wick_copy_finish(&s.c, out);
}
