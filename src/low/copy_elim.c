/* Removes copies. It sweeps over the copies until none can be removed, because a move makes others
 * possible (a concat of concats). */
#include "low/copy_elim.h"

#include "ir/copy.h"
#include "low/buffer_moves.h"

/* Finds the move that makes copy `node` a copy of bytes to themselves. */
static bool copy_elim_move(wick_buffer_moves *m, uint32_t node, wick_buffer_move_kind kind,
                           wick_buffer_move *out)
{
  const wick_node *n = &m->alias.f->node[node];
  bool ahead = kind == WICK_MOVE_AHEAD;
  const wick_memref *to = &m->alias.memref[n->in[!ahead ? 1 : 0].id],
                    *from = &m->alias.memref[n->in[ahead ? 1 : 0].id];
  *out = (wick_buffer_move){.kind = kind, .root = from->root, .at = node};
  if (!wick_memref_resolved(from) || !wick_memref_resolved(to) || from->root.id == to->root.id)
    return false;
  const wick_func *f = m->alias.f;
  wick_memref whole =
      wick_memref_make(f->module, wick_type_of(f, from->root), from->root, 0, m->tmp);
  return wick_memref_extend(from, &whole, to, m->tmp, &out->to) && wick_buffer_move_legal(m, out);
}

typedef struct copy_elim_state {
  wick_buffer_moves moves;
  uint32_t nchange; /* removed copies and moves that were made */
  /* per root: nchange + 1 when no source of a copy into it could be moved; 0: never */
  uint32_t *failed;
  uint32_t *seen; /* per root: `nseen` of the list that contains it */
  uint32_t nseen;
} copy_elim_state;

/* Moves all sources of copies into one buffer, decided together: a single move may need more
 * memory than all of them. */
static bool copy_elim_into(copy_elim_state *s, wick_value root)
{
  wick_buffer_moves *m = &s->moves;
  const wick_access_list *list = &m->alias.access[root.id];
  if (s->failed[root.id] == s->nchange + 1) return false;
  s->nseen++;
  wick_buffer_move *move = wick_new(m->tmp, wick_buffer_move, list->n);
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_access *b = &list->at[i];
    if (!b->writes || m->drop[b->node] || m->alias.f->node[b->node].op != WICK_OP_copy) continue;
    if (!copy_elim_move(m, b->node, WICK_MOVE_AHEAD, &move[n])) continue;
    uint32_t *seen = &s->seen[move[n].root.id];
    n += *seen != s->nseen;
    *seen = s->nseen;
  }
  bool all = n > 1 && wick_buffer_moves_fit(m, move, n), changed = false;
  for (uint32_t k = n; k-- > 0;) { /* the last source first: its life ends right before the copy */
    if (!wick_buffer_move_legal(m, &move[k]) || (!all && !wick_buffer_moves_fit(m, &move[k], 1)))
      continue;
    wick_buffer_move_make(m, &move[k]);
    s->nchange++;
    changed = true;
  }
  if (!changed) s->failed[root.id] = s->nchange + 1;
  return changed;
}

static bool copy_elim_sweep(copy_elim_state *s)
{
  wick_buffer_moves *m = &s->moves;
  const wick_func *f = m->alias.f;
  const uint32_t before = s->nchange;
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (n->op != WICK_OP_copy || m->drop[i]) continue;
    const wick_memref *dst = &m->alias.memref[n->in[0].id], *src = &m->alias.memref[n->in[1].id];
    wick_buffer_move move;
    if (wick_memref_same(dst, src)) {
      m->drop[i] = true;
      s->nchange++;
    } else if (!copy_elim_into(s, dst->root) && copy_elim_move(m, i, WICK_MOVE_BACK, &move) &&
               wick_buffer_moves_fit(m, &move, 1)) {
      wick_buffer_move_make(m, &move);
      s->nchange++;
    }
  }
  return s->nchange != before;
}

wick_status wick_pass_copy_elim(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *tmp = pass->tmp;
  wick_mark mark = wick_arena_mark(tmp);
  copy_elim_state s = {.moves = wick_buffer_moves_begin(f, pass->mem, tmp),
                       .failed = wick_new(tmp, uint32_t, f->nvalue + 1),
                       .seen = wick_new(tmp, uint32_t, f->nvalue + 1)};
  while (copy_elim_sweep(&s)) continue;
  wick_status status = wick_buffer_moves_end(&s.moves, out);
  wick_arena_rewind(tmp, mark);
  return status;
}
