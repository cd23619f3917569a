/* Tries pairs of a result and an operand of each kernel. The result's buffer moves over the
 * operand's, or, if the result is a part of a larger buffer, the operand's buffer moves under the
 * result's. */
#include "low/in_place.h"

#include <string.h>

#include "ir/copy.h"
#include "loop/inplace.h"
#include "low/buffer_moves.h"

typedef struct in_place {
  wick_buffer_moves m;
  wick_arena *tmp;
  const wick_schedule **schedule; /* per name in the module: the schedule, once it was requested */
} in_place;

static const wick_schedule *in_place_schedule(in_place *p, const wick_func *group)
{
  const wick_module *m = group->module;
  uint32_t at = wick_names_find(&m->names, group->name, strlen(group->name));
  if (p->schedule[at]) return p->schedule[at];
  wick_schedule *s = wick_schedule_begin(group, p->tmp);
  if (group->schedule && wick_schedule_apply(s, group->schedule)) return NULL;
  if (wick_schedule_check(s)) return NULL;
  return p->schedule[at] = s;
}

/* Returns true if each operand that overlaps the memory of operand `in` is read only at the
 * element that is being written. */
static bool in_place_reads(in_place *p, const wick_node *n, const wick_schedule *s, uint32_t out,
                           uint32_t in)
{
  const wick_alias *a = &p->m.alias;
  uint32_t nout = wick_return(s->group)->nin;
  const wick_memref *x = &a->memref[n->in[in].id];
  for (uint32_t k = 0; k < n->nin; k++) {
    const wick_memref *y = &a->memref[n->in[k].id];
    if (y->root.id != x->root.id || k == out) continue;
    bool same = k == in || wick_memref_same(x, y);
    if (!same && wick_memref_disjoint(x, y)) continue;
    if (!same || k < nout || k - nout >= s->group->nparam) return false;
    if (!wick_inplace(s, out, k - nout, p->tmp)) return false;
  }
  return true;
}

/* Returns the reference to all of a root. */
static wick_memref in_place_whole(const in_place *p, wick_value root)
{
  const wick_func *f = p->m.alias.f;
  return wick_memref_make(f->module, wick_type_of(f, root), root, 0, p->tmp);
}

static bool in_place_pair(in_place *p, uint32_t i, const wick_schedule *s, uint32_t out,
                          uint32_t in)
{
  const wick_node *n = &p->m.alias.f->node[i];
  const wick_memref w = p->m.alias.memref[n->in[out].id], x = p->m.alias.memref[n->in[in].id];
  if (!wick_memref_resolved(&w) || !wick_memref_resolved(&x) || w.root.id == x.root.id ||
      !in_place_reads(p, n, s, out, in))
    return false;
  for (int under = 0; under < 2; under++) {
    const wick_memref *from = under ? &x : &w, *to = under ? &w : &x;
    wick_buffer_move move = {
        .kind = under ? WICK_MOVE_UNDER : WICK_MOVE_OVER, .root = from->root, .at = i};
    wick_memref whole = in_place_whole(p, from->root);
    if (!wick_memref_covers(from, &whole) ||
        !wick_memref_extend(from, &whole, to, p->tmp, &move.to))
      continue;
    if (!wick_buffer_move_legal(&p->m, &move) || !wick_buffer_moves_fit(&p->m, &move, 1)) continue;
    wick_buffer_move_make(&p->m, &move);
    return true;
  }
  return false;
}

/* Lets a copy's destination be its source, if the source is not needed in its old state: what
 * replaces parts of a tensor then writes to the tensor itself. */
static void in_place_copy(in_place *p, uint32_t i)
{
  const wick_node *n = &p->m.alias.f->node[i];
  const wick_alias *a = &p->m.alias;
  const wick_memref w = a->memref[n->in[0].id], x = a->memref[n->in[1].id];
  wick_memref whole = in_place_whole(p, w.root);
  wick_buffer_move move = {.kind = WICK_MOVE_OVER, .root = w.root, .at = i};
  uint32_t scope = wick_alias_scope(a, w.root);
  for (; a->parent[move.at] != scope && a->parent[move.at] != UINT32_MAX;
       move.at = a->parent[move.at])
    move.kind = WICK_MOVE_JOIN;
  if (!wick_memref_resolved(&w) || !wick_memref_resolved(&x) || w.root.id == x.root.id ||
      !wick_memref_covers(&w, &whole) || !wick_memref_extend(&w, &whole, &x, p->tmp, &move.to) ||
      !wick_buffer_move_legal(&p->m, &move) || !wick_buffer_moves_fit(&p->m, &move, 1))
    return;
  wick_buffer_move_make(&p->m, &move);
  p->m.drop[i] = true;
}

static void in_place_kernel(in_place *p, uint32_t i)
{
  const wick_func *f = p->m.alias.f;
  const wick_node *n = &f->node[i];
  const wick_func *group = wick_module_find(f->module, n->attr[WICK_ATTR_kernel_callee].s);
  const wick_schedule *s = group && group->level == WICK_GROUP ? in_place_schedule(p, group) : NULL;
  if (!s || !s->nstage) return; /* calls into the runtime may read and write in any order */
  uint32_t nout = wick_return(group)->nin;
  for (uint32_t out = 0; out < nout; out++)
    for (uint32_t in = nout; in < n->nin && in - nout < group->nparam; in++)
      if (in_place_pair(p, i, s, out, in)) break;
}

wick_status wick_pass_in_place(const wick_pass_context *pass, const wick_func *f, wick_func **out)
{
  wick_arena *tmp = pass->tmp;
  wick_mark mark = wick_arena_mark(tmp);
  in_place p = {.m = wick_buffer_moves_begin(f, pass->mem, tmp), .tmp = tmp};
  p.schedule = wick_new(tmp, const wick_schedule *, f->module->names.n);
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_kernel)
      in_place_kernel(&p, i);
    else if (f->node[i].op == WICK_OP_copy && !p.m.drop[i])
      in_place_copy(&p, i);
  wick_status s = wick_buffer_moves_end(&p.m, out);
  wick_arena_rewind(tmp, mark);
  return s;
}
