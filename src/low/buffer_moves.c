/* Moves of buffers. Legality depends on every access of the two roots. Each move updates positions
 * and accesses, so that moves can follow each other. */
#include "low/buffer_moves.h"

#include <stdlib.h>

#include "ir/copy.h"
#include "low/liveness.h"

wick_buffer_moves wick_buffer_moves_begin(const wick_func *f, wick_arena *mem, wick_arena *tmp)
{
  wick_buffer_moves m = {.alias = wick_alias_of(f, tmp), .mem = mem, .tmp = tmp};
  wick_liveness l = wick_liveness_of(&m.alias, 1, tmp);
  m.nbytes = l.nbytes, m.limit = l.peak_nbytes;
  m.next = wick_new(tmp, uint32_t, f->nvalue + 1);
  m.moved = wick_new(tmp, bool, f->nvalue + 1);
  m.drop = wick_new(tmp, bool, f->nnode);
  m.end = wick_new(tmp, int64_t, f->nvalue + 1);
  for (uint32_t v = 1; v <= f->nvalue; v++)
    if (m.alias.memref[v].known) m.end[v] = wick_memref_end(&m.alias.memref[v]);
  /* a root's list begins with the root, and is in order */
  for (uint32_t v = f->nvalue; v >= 1; v--) {
    uint32_t root = m.alias.memref[v].root.id;
    if (root && root != v) m.next[v] = m.next[root], m.next[root] = v;
  }
  return m;
}

/* ---- legality ---- */

/* Returns the reference to all of the root. */
static wick_memref buffer_moves_whole(const wick_buffer_moves *m, wick_value root)
{
  const wick_func *f = m->alias.f;
  return wick_memref_make(f->module, wick_type_of(f, root), root, 0, m->tmp);
}

static bool buffer_moves_writable(const wick_buffer_moves *m, wick_value root)
{
  const wick_func *f = m->alias.f;
  if (wick_alias_planned(f, m->alias.definer, root)) return true;
  return root.id <= f->nparam && f->qual[root.id - 1] != WICK_IN &&
         wick_info_of(f, root)->space == WICK_IO;
}

/* Returns true if the target's index is there before the first access to the root. Values of the
 * root that are defined earlier are then views from the index on. */
static bool buffer_moves_indexed(const wick_buffer_moves *m, const wick_buffer_move *x)
{
  const wick_alias *a = &m->alias;
  const wick_access_list *list = &a->access[x->root.id];
  wick_value index = x->to.choice.index;
  uint32_t at = index.id ? a->definer[index.id] : UINT32_MAX, root = a->definer[x->root.id];
  if (at == UINT32_MAX || at < root) return true;
  for (uint32_t i = 0; i < list->n; i++)
    if (!m->drop[list->at[i].node] && list->at[i].node < at) return false;
  return a->parent[at] == a->parent[root];
}

/* Returns true if root and target can be combined at all: both are resolved and not tied, the
 * memory spaces fit, and the target is large enough. */
static bool buffer_moves_roots_fit(const wick_buffer_moves *m, const wick_buffer_move *x)
{
  const wick_alias *a = &m->alias;
  const wick_func *f = a->f;
  wick_value to = x->to.root;
  uint64_t nbytes;
  if (!wick_alias_planned(f, a->definer, x->root) || to.id == x->root.id || m->moved[x->root.id])
    return false;
  if (a->tied[x->root.id] || a->tied[to.id] || !buffer_moves_indexed(m, x)) return false;
  wick_space space = wick_info_of(f, to)->space;
  bool writable = buffer_moves_writable(m, to);
  bool readable = writable || space == WICK_IO || space == WICK_CONSTANT;
  if (x->kind == WICK_MOVE_BACK ? !readable : !writable) return false;
  if (x->to.dynamic) {
    wick_memref whole = buffer_moves_whole(m, to);
    return wick_memref_covers(&x->to, &whole);
  }
  return wick_memref_injective(&x->to) &&
         wick_type_nbytes(f->module, wick_type_of(f, to), &nbytes) &&
         (uint64_t)wick_memref_end(&x->to) <= nbytes;
}

/* Finds the position of a value of either root after the move. */
static bool buffer_moves_place(const wick_buffer_moves *m, const wick_buffer_move *x, wick_value v,
                               wick_memref *out)
{
  *out = m->alias.memref[v.id];
  if (out->root.id != x->root.id) return wick_memref_resolved(out);
  wick_memref whole = buffer_moves_whole(m, x->root);
  return wick_memref_move(&m->alias.memref[v.id], &whole, &x->to, m->tmp, out);
}

/* Returns true if the node copies to the root, which joins its target. */
static bool buffer_moves_begins(const wick_buffer_moves *m, const wick_buffer_move *x,
                                uint32_t node)
{
  const wick_node *n = &m->alias.f->node[node];
  return x->kind == WICK_MOVE_JOIN && n->op == WICK_OP_copy &&
         m->alias.memref[n->in[0].id].root.id == x->root.id;
}

/* Returns true if the move makes this copy, in its direction, a copy of bytes to themselves. It
 * is then removed. */
static bool buffer_moves_idle(const wick_buffer_moves *m, const wick_buffer_move *x, uint32_t node)
{
  const wick_node *n = &m->alias.f->node[node];
  if (n->op != WICK_OP_copy || x->kind == WICK_MOVE_UNDER) return false;
  wick_value moved = n->in[x->kind == WICK_MOVE_BACK || buffer_moves_begins(m, x, node) ? 0 : 1];
  wick_memref dst, src;
  return m->alias.memref[moved.id].root.id == x->root.id &&
         buffer_moves_place(m, x, n->in[0], &dst) && buffer_moves_place(m, x, n->in[1], &src) &&
         wick_memref_same(&dst, &src);
}

/* The root's live interval, and the copies that the move removes. */
typedef struct buffer_moves_times {
  wick_interval live;             /* of the root */
  uint32_t first_idle, last_idle; /* removed copies; UINT32_MAX, 0: none */
} buffer_moves_times;

static int buffer_moves_by_offset(const void *a, const void *b)
{
  const wick_memref *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Returns true if no two of n known references to one root share a byte. Sorts them by their
 * offsets: each is compared with those that begin before its end. */
static bool buffer_moves_disjoint(wick_memref *p, uint32_t n)
{
  qsort(p, n, sizeof *p, buffer_moves_by_offset);
  for (uint32_t i = 0; i < n; i++) {
    int64_t end = wick_memref_end(&p[i]);
    for (uint32_t k = i + 1; k < n && p[k].offset < end; k++)
      if (!wick_memref_disjoint(&p[i], &p[k])) return false;
  }
  return true;
}

/* Returns true if the removed copies write all elements of the target, each once. The target's
 * previous contents are then dead. */
static bool buffer_moves_covers(const wick_buffer_moves *m, const wick_buffer_move *x)
{
  const wick_access_list *list = &m->alias.access[x->root.id];
  wick_memref *dst = wick_new(m->tmp, wick_memref, list->n);
  int64_t numel = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_access *b = &list->at[i];
    if (m->drop[b->node] || !buffer_moves_idle(m, x, b->node) || buffer_moves_begins(m, x, b->node))
      continue;
    dst[n] = m->alias.memref[m->alias.f->node[b->node].in[0].id];
    if (x->to.dynamic) return wick_memref_covers(&dst[n], &x->to);
    if (!dst[n].known) return false;
    numel += wick_memref_numel(&dst[n++]);
  }
  return x->to.known && numel == wick_memref_numel(&x->to) && buffer_moves_disjoint(dst, n);
}

/* Returns true if the access needs a dense buffer: functions that are called take no strides. */
static bool buffer_moves_is_dense(const wick_buffer_moves *m, uint32_t node)
{
  const wick_func *f = m->alias.f;
  const wick_node *n = &f->node[node];
  const wick_func *g = n->op == WICK_OP_kernel
                           ? wick_module_find(f->module, n->attr[WICK_ATTR_kernel_callee].s)
                           : NULL;
  return n->op == WICK_OP_load || n->op == WICK_OP_store || n->op == WICK_OP_call ||
         wick_op_of(n)->heap || (g && g->level == WICK_LOW);
}

/* Returns true if no write to the root can run before node `copy`, which is in branches only: a
 * write before it is in another region of a branch around both. */
static bool buffer_moves_is_first(const wick_buffer_moves *m, const wick_buffer_move *x,
                                  uint32_t copy)
{
  const wick_alias *a = &m->alias;
  const wick_access_list *list = &a->access[x->root.id];
  for (uint32_t p = a->parent[copy]; p != a->parent[x->at]; p = a->parent[p])
    if (p == UINT32_MAX || a->f->node[p].op != WICK_OP_if) return false;
  for (uint32_t i = 0; i < list->n; i++) {
    uint32_t node = list->at[i].node, p = a->parent[copy];
    if (m->drop[node] || !list->at[i].writes || node >= copy) continue;
    while (p != UINT32_MAX && node < p) p = a->parent[p];
    if (p == UINT32_MAX || p == a->parent[x->at]) return false;
    const wick_region *second = &a->f->node[p].region[1];
    if (node >= second->begin || copy < second->begin) return false;
  }
  return true;
}

/* Returns true if each access to the root can be moved, and is at the right time. */
static bool buffer_moves_root_legal(const wick_buffer_moves *m, const wick_buffer_move *x,
                                    buffer_moves_times *t)
{
  const wick_access_list *list = &m->alias.access[x->root.id];
  *t = (buffer_moves_times){.first_idle = UINT32_MAX};
  if (!wick_alias_live(&m->alias, x->root, &t->live)) return false;
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_access *b = &list->at[i];
    wick_memref p;
    if (m->drop[b->node]) continue;
    if (!b->reads && !b->writes) return false; /* the buffer is yielded or freed */
    if (b->halo) return false;                 /* the zeros around it cannot move */
    if (!buffer_moves_place(m, x, b->value, &p)) return false;
    if (buffer_moves_is_dense(m, b->node) && !wick_memref_contiguous(&p)) return false;
    if (!buffer_moves_idle(m, x, b->node)) continue;
    if (buffer_moves_begins(m, x, b->node)) {
      if (!buffer_moves_is_first(m, x, b->node)) return false;
      continue;
    }
    if (m->alias.parent[b->node] != m->alias.parent[x->at]) return false; /* the copy may not run */
    if (b->node < t->first_idle) t->first_idle = b->node;
    t->last_idle = b->node;
  }
  for (uint32_t i = 0; i < list->n; i++) {
    const wick_access *b = &list->at[i];
    if (m->drop[b->node] || b->node == x->at) continue;
    if (x->kind == WICK_MOVE_AHEAD && b->writes && b->node > t->last_idle) return false;
    if (x->kind == WICK_MOVE_BACK &&
        (b->node < t->first_idle || (b->writes && !buffer_moves_idle(m, x, b->node))))
      return false;
    if (x->kind == WICK_MOVE_JOIN && b->node > t->last_idle) return false;
    if (x->kind == WICK_MOVE_OVER && b->node < x->at) return false;
    if (x->kind == WICK_MOVE_UNDER && b->node > x->at) return false;
  }
  bool goes = x->kind == WICK_MOVE_AHEAD || x->kind == WICK_MOVE_JOIN ||
              (x->kind == WICK_MOVE_OVER && t->last_idle);
  return !goes || buffer_moves_covers(m, x);
}

/* Returns true if a copy from the target to the root, which joins it, always runs after node
 * `node` and before everything else that writes to the root. */
static bool buffer_moves_precedes(const wick_buffer_moves *m, const wick_buffer_move *x,
                                  uint32_t node)
{
  const wick_alias *a = &m->alias;
  const wick_access_list *list = &a->access[x->root.id];
  for (uint32_t i = 0; i < list->n; i++) {
    uint32_t copy = list->at[i].node, p = a->parent[copy], at = node;
    if (m->drop[copy] || copy <= node || !buffer_moves_begins(m, x, copy) ||
        !buffer_moves_idle(m, x, copy))
      continue;
    while (at != UINT32_MAX && a->parent[at] != p) at = a->parent[at];
    if (at == UINT32_MAX || p == UINT32_MAX) continue;
    const wick_node *around = &a->f->node[p];
    uint32_t second = around->nregion > 1 ? around->region[1].begin : UINT32_MAX;
    if ((at < second) == (copy < second)) return true;
  }
  return false;
}

/* Returns true if an access to the target, which overlaps the moved root's bytes, is at a time
 * when it may. */
static bool buffer_moves_target_legal(const wick_buffer_moves *m, const wick_buffer_move *x,
                                      const buffer_moves_times *t, const wick_access *b)
{
  bool during = b->node >= t->live.first && b->node <= t->live.last;
  switch (x->kind) {
  case WICK_MOVE_AHEAD: return !during || (b->node > t->last_idle && !b->writes);
  case WICK_MOVE_BACK: return !b->writes || b->node < t->first_idle || b->node > t->live.last;
  case WICK_MOVE_OVER:
    return b->node < x->at ||
           (t->last_idle && b->node > t->last_idle && (!b->writes || b->node > t->live.last));
  case WICK_MOVE_JOIN: return !during || buffer_moves_precedes(m, x, b->node);
  case WICK_MOVE_UNDER: return !during;
  }
  return false;
}

/* Returns true if b is an access of the in-place node to one of its two operands. Their dimensions
 * may be others than the root's, because both are dense. */
static bool buffer_moves_node_legal(const wick_buffer_moves *m, const wick_buffer_move *x,
                                    const wick_access *b)
{
  const wick_memref *p = &m->alias.memref[b->value.id];
  return b->node == x->at &&
         (b->value.id == x->root.id || wick_memref_same(p, &x->to) ||
          (!x->to.choice.index.id && wick_memref_contiguous(&x->to) &&
           wick_memref_covers(p, &x->to))) &&
         (b->writes == (x->kind == WICK_MOVE_UNDER));
}

/* Returns true if the access overlaps none of the bytes `to`, which end at `end`. */
static bool buffer_moves_apart(const wick_buffer_moves *m, const wick_access *b,
                               const wick_memref *to, int64_t end)
{
  const wick_memref *p = &m->alias.memref[b->value.id];
  if (!b->halo && p->known && (p->offset >= end || m->end[b->value.id] <= to->offset)) return true;
  wick_memref place = wick_access_memref(&m->alias, b);
  return wick_memref_disjoint(&place, to);
}

static bool buffer_moves_legal(const wick_buffer_moves *m, const wick_buffer_move *x)
{
  const wick_alias *a = &m->alias;
  buffer_moves_times t;
  bool in_place = x->kind == WICK_MOVE_OVER || x->kind == WICK_MOVE_UNDER;
  if (!buffer_moves_roots_fit(m, x)) return false;
  uint32_t scope = wick_alias_scope(a, x->root);
  if (a->parent[x->at] != scope) return false;
  if (!buffer_moves_root_legal(m, x, &t)) return false;
  bool over = x->kind == WICK_MOVE_OVER && !t.last_idle; /* the target's contents are overwritten */
  if (over && wick_alias_scope(a, x->to.root) != scope) return false;
  if (!in_place && x->kind != WICK_MOVE_JOIN && !buffer_moves_idle(m, x, x->at)) return false;
  const wick_access_list *list = &a->access[x->to.root.id];
  int64_t end = x->to.known ? wick_memref_end(&x->to) : INT64_MAX;
  for (uint32_t i = list->n; i-- > 0;) { /* the last first: most often it is in the way */
    const wick_access *b = &list->at[i];
    if (m->drop[b->node] || buffer_moves_apart(m, b, &x->to, end)) continue;
    if (buffer_moves_idle(m, x, b->node) || (in_place && buffer_moves_node_legal(m, x, b)))
      continue;
    if (!buffer_moves_target_legal(m, x, &t, b)) return false;
  }
  /* Most buffers of the caller are needed at the end, so that they must not be overwritten. */
  return !over || wick_alias_planned(a->f, a->definer, x->to.root) ||
         a->f->qual[x->to.root.id - 1] == WICK_TAKEN;
}

bool wick_buffer_move_legal(wick_buffer_moves *m, const wick_buffer_move *x)
{
  wick_mark mark = wick_arena_mark(m->tmp);
  bool legal = buffer_moves_legal(m, x);
  wick_arena_rewind(m->tmp, mark);
  return legal;
}

/* ---- bytes in use ---- */

static uint64_t buffer_moves_nbytes(const wick_buffer_moves *m, wick_value root)
{
  const wick_func *f = m->alias.f;
  if (!wick_alias_planned(f, m->alias.definer, root)) return 0;
  return wick_type_typical_nbytes(f->module, wick_type_of(f, root));
}

static wick_interval buffer_moves_hull(wick_interval a, wick_interval b)
{
  return (wick_interval){a.first < b.first ? a.first : b.first, a.last > b.last ? a.last : b.last};
}

/* Returns the hull of the live intervals of the target and of the moved roots. */
static wick_interval buffer_moves_lives(const wick_buffer_moves *m, const wick_buffer_move *x,
                                        uint32_t n, wick_interval *target, bool *has_target)
{
  wick_interval hull = {0, 0}, live;
  *has_target = wick_alias_live(&m->alias, x->to.root, target);
  if (*has_target) hull = *target;
  for (uint32_t i = 0; i < n; i++)
    if (wick_alias_live(&m->alias, x[i].root, &live))
      hull = i || *has_target ? buffer_moves_hull(hull, live) : live;
  return hull;
}

static bool buffer_moves_within(wick_interval x, uint32_t i) { return i >= x.first && i <= x.last; }

bool wick_buffer_moves_fit(const wick_buffer_moves *m, const wick_buffer_move *x, uint32_t n)
{
  wick_interval target, live = {0, 0};
  bool has_target;
  wick_interval hull = buffer_moves_lives(m, x, n, &target, &has_target);
  uint64_t nbytes = buffer_moves_nbytes(m, x->to.root);
  /* sum over the moves, from here on */
  uint64_t *less = wick_new(m->tmp, uint64_t, hull.last - hull.first + 2);
  for (uint32_t k = 0; k < n; k++) {
    if (!wick_alias_live(&m->alias, x[k].root, &live)) continue;
    less[live.first - hull.first] += buffer_moves_nbytes(m, x[k].root);
    less[live.last - hull.first + 1] -= buffer_moves_nbytes(m, x[k].root);
  }
  for (uint32_t i = hull.first; i <= hull.last; i++) {
    if (i > hull.first) less[i - hull.first] += less[i - hull.first - 1];
    uint64_t now = m->nbytes[i] - less[i - hull.first];
    if (!has_target || !buffer_moves_within(target, i)) now += nbytes;
    if (now > m->limit && now > m->nbytes[i]) return false;
  }
  return true;
}

/* ---- making a move ---- */

static void buffer_moves_account(wick_buffer_moves *m, const wick_buffer_move *x)
{
  wick_interval target, live = {0, 0};
  bool has_target, lives;
  wick_interval hull = buffer_moves_lives(m, x, 1, &target, &has_target);
  lives = wick_alias_live(&m->alias, x->root, &live);
  uint64_t nbytes = buffer_moves_nbytes(m, x->to.root), gone = buffer_moves_nbytes(m, x->root);
  for (uint32_t i = hull.first; i <= hull.last; i++) {
    if (lives && buffer_moves_within(live, i)) m->nbytes[i] -= gone;
    if (!has_target || !buffer_moves_within(target, i)) m->nbytes[i] += nbytes;
  }
}

static uint32_t buffer_moves_drop_accesses(const wick_buffer_moves *m, wick_access_list *list)
{
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->n; i++)
    if (!m->drop[list->at[i].node]) list->at[n++] = list->at[i];
  return list->n = n;
}

/* Merges the root's accesses into the target's list, from the end and in place, because many
 * small buffers may move into one. */
static void buffer_moves_merge_accesses(wick_buffer_moves *m, const wick_buffer_move *x)
{
  wick_access_list *from = &m->alias.access[x->root.id], *to = &m->alias.access[x->to.root.id];
  uint32_t i = buffer_moves_drop_accesses(m, from), k = buffer_moves_drop_accesses(m, to),
           at = i + k;
  while (to->n < at) wick_push(m->tmp, to, (wick_access){0});
  while (i > 0) {
    bool last = k > 0 && to->at[k - 1].node >= from->at[i - 1].node;
    to->at[--at] = last ? to->at[--k] : from->at[--i];
  }
  *from = (wick_access_list){0};
}

void wick_buffer_move_make(wick_buffer_moves *m, const wick_buffer_move *x)
{
  wick_alias *a = &m->alias;
  const wick_access_list *list = &a->access[x->root.id];
  buffer_moves_account(m, x);
  for (uint32_t i = 0; i < list->n; i++)
    if (buffer_moves_idle(m, x, list->at[i].node)) m->drop[list->at[i].node] = true;
  wick_memref whole = buffer_moves_whole(m, x->root);
  uint32_t v = x->root.id, last = v;
  for (; v; last = v, v = m->next[v]) {
    wick_memref p;
    bool known = wick_memref_move(&a->memref[v], &whole, &x->to, m->tmp, &p);
    p.known = p.known && known; /* a value that cannot be moved has no uses */
    p.dynamic = p.dynamic && known;
    a->memref[v] = p;
    m->end[v] = p.known ? wick_memref_end(&p) : 0;
    m->moved[v] = true;
  }
  m->next[last] = m->next[x->to.root.id];
  m->next[x->to.root.id] = x->root.id;
  buffer_moves_merge_accesses(m, x);
  m->nmove++;
}

/* ---- the result ---- */

static wick_type buffer_moves_type(const wick_buffer_moves *m, wick_value v)
{
  const wick_memref *p = &m->alias.memref[v.id];
  wick_module *module = m->alias.f->module;
  wick_type_info info = *wick_info_of(m->alias.f, v);
  info.space = wick_info_of(m->alias.f, p->root)->space;
  if (p->dynamic) return wick_type_intern(module, &info);
  wick_dim *stride = wick_new(m->tmp, wick_dim, p->rank);
  for (uint32_t k = 0; k < p->rank; k++) stride[k] = wick_dim_const(p->stride[k]);
  info.stride = stride;
  return wick_type_intern(module, &info);
}

/* Builds a moved value: its root, which is moved forward if it is defined later, or a view of
 * it. */
static void buffer_moves_emit(wick_buffer_moves *m, wick_copier *c, wick_value v)
{
  const wick_memref *p = &m->alias.memref[v.id];
  const wick_func *f = m->alias.f;
  if (!wick_memref_resolved(p)) return;
  wick_loc loc = c->b.loc;
  if (!c->to[p->root.id].id) wick_copy_node(c, &f->node[m->alias.definer[p->root.id]]);
  c->b.loc = loc;
  wick_value root = c->to[p->root.id];
  wick_type type = buffer_moves_type(m, v);
  c->to[v.id] = root;
  if (!p->offset && !p->choice.index.id && wick_type_eq(type, wick_built_type(&c->b, root))) return;
  wick_picked choice = p->choice;
  choice.index = c->to[choice.index.id];
  if (p->dynamic && choice.index.id && !wick_dim_eq(p->row, p->numel)) { /* a part of a row */
    wick_type_info row = {.kind = WICK_BUFFER, .elem = wick_info_of(f, v)->elem, .rank = 1};
    row.space = wick_info_of(f, p->root)->space, row.dim = &p->row;
    root = wick_build_view(&c->b, root, wick_type_intern(f->module, &row), 0, &choice);
    choice = (wick_picked){.count = 1};
  }
  c->to[v.id] = wick_build_view(&c->b, root, type, p->offset / p->elem_bytes, &choice);
  wick_build_name(&c->b, c->to[v.id], f->value[v.id].name, f->value[v.id].relation);
}

/* Returns true if the index of a moved value has been built. */
static bool buffer_moves_ready(const wick_buffer_moves *m, const wick_copier *c, wick_value v)
{
  wick_value index = m->alias.memref[v.id].choice.index;
  return !index.id || c->to[index.id].id;
}

wick_status wick_buffer_moves_end(wick_buffer_moves *m, wick_func **out)
{
  const wick_func *f = m->alias.f;
  bool changed = m->nmove > 0;
  for (uint32_t i = 0; i < f->nnode; i++) changed = changed || m->drop[i];
  *out = (wick_func *)(uintptr_t)f;
  if (!changed) return NULL;
  wick_list(wick_value) later = {0};
  wick_copier c = wick_copy_begin(f, m->mem);
  for (uint32_t i = 0; i < f->nnode; i++) {
    const wick_node *n = &f->node[i];
    if (m->drop[i] || (n->op == WICK_OP_alloc && c.to[n->first.id].id)) continue;
    c.b.loc = n->loc;
    if (n->nout != 1 || !m->moved[n->first.id])
      wick_copy_node(&c, n);
    else if (buffer_moves_ready(m, &c, n->first))
      buffer_moves_emit(m, &c, n->first);
    else
      wick_push(m->tmp, &later, n->first);
    for (uint32_t k = 0; k < later.n; k++)
      if (!c.to[later.at[k].id].id && buffer_moves_ready(m, &c, later.at[k]))
        buffer_moves_emit(m, &c, later.at[k]);
  }
  return wick_copy_finish(&c, out);
}
