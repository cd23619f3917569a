/* Sweeps over the copies until none can go: a move makes others possible (a concat of concats). */
#include "low/copy_elim.h"

#include "low/moves.h"

/* The move that makes copy `node` one of a place to itself. */
static bool copy_elim_move(wick_moves *m, uint32_t node, wick_move_kind kind, wick_move *out)
{
  const wick_node *n = &m->alias.f->node[node];
  bool ahead = kind == WICK_MOVE_AHEAD;
  const wick_place *to = &m->alias.place[n->in[!ahead ? 1 : 0].id],
                   *from = &m->alias.place[n->in[ahead ? 1 : 0].id];
  *out = (wick_move){.kind = kind, .root = from->root, .at = node};
  if (!wick_place_placed(from) || !wick_place_placed(to) || from->root.id == to->root.id)
    return false;
  const wick_func *f = m->alias.f;
  wick_place whole = wick_place_make(f->module, wick_type_of(f, from->root), from->root, 0, m->tmp);
  return wick_place_extend(from, &whole, to, m->tmp, &out->to) && wick_move_legal(m, out);
}

/* All sources of copies into one buffer, as one decision: each alone may seem to cost memory. */
static bool copy_elim_into(wick_moves *m, wick_value root)
{
  const wick_access_list *list = &m->alias.access[root.id];
  wick_move *move = wick_new(m->tmp, wick_move, list->n);
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_access *b = &list->at[i];
    if (!b->writes || m->drop[b->node] || m->alias.f->node[b->node].op != WICK_OP_copy) continue;
    bool seen = !copy_elim_move(m, b->node, WICK_MOVE_AHEAD, &move[n]);
    for (uint32_t k = 0; k < n && !seen; k++) seen = move[k].root.id == move[n].root.id;
    n += !seen;
  }
  bool all = n > 1 && wick_moves_fit(m, move, n), changed = false;
  for (uint32_t k = n; k-- > 0;) { /* the one that is made last first: it lives next to the copy */
    if (!wick_move_legal(m, &move[k]) || (!all && !wick_moves_fit(m, &move[k], 1))) continue;
    wick_move_make(m, &move[k]);
    changed = true;
  }
  return changed;
}

static bool copy_elim_sweep(wick_moves *m)
{
  const wick_func *f = m->alias.f;
  bool changed = false;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op != WICK_OP_copy || m->drop[i]) continue;
    const wick_place *dst = &m->alias.place[n->in[0].id], *src = &m->alias.place[n->in[1].id];
    wick_move move;
    if (wick_place_same(dst, src)) {
      m->drop[i] = changed = true;
    } else if (copy_elim_into(m, dst->root)) {
      changed = true;
    } else if (copy_elim_move(m, i, WICK_MOVE_BACK, &move) && wick_moves_fit(m, &move, 1)) {
      wick_move_make(m, &move);
      changed = true;
    }
  }
  return changed;
}

wick_func *wick_pass_copy_elim(const wick_func *f, wick_arena *mem, wick_arena *tmp)
{
  wick_mark mark = wick_arena_mark(tmp);
  wick_moves m = wick_moves_begin(f, mem, tmp);
  while (copy_elim_sweep(&m)) continue;
  wick_func *out = wick_moves_end(&m);
  wick_arena_rewind(tmp, mark);
  return out;
}
