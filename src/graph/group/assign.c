/* One traversal from the last node to the first. When it reaches a node, all users of the node have
 * a group. The node joins that group if it is a single one and can take the node. */
#include "graph/group/assign.h"

#include "ir/op.h"

/* The limits of a group. The loops of a group are built by recursion over its stages, so a group
 * must have few nodes, even if a chain of element-wise nodes is long. */
enum { ASSIGN_MOST_OPERANDS = 24, ASSIGN_MOST_NODES = 48, ASSIGN_CHAIN = 64 };

/* ---- nodes ---- */

bool wick_group_is_imm(const wick_node *n)
{
  return n->op == WICK_OP_const && !wick_const_imm(n)->constant;
}

bool wick_group_is_scalar(const wick_func *f, const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  if (op->scalar == WICK_NOT_SCALAR) return false;
  return !op->compute || (n->nout == 1 && wick_elem_is_float(wick_info_of(f, n->first)->elem));
}

bool wick_group_is_filled(const wick_func *f, const wick_node *n)
{
  int64_t dim[WICK_MAX_RANK];
  if (wick_op_of(n)->view_of.kind != WICK_VIEW_OF_RESULT) return false;
  const wick_type_info *y = wick_info_of(f, n->first);
  if (!wick_type_const_dims(y, dim)) return false;
  wick_view_map map = wick_view_map_of(f, n, 0);
  uint32_t last = y->rank;
  while (last > 1 && dim[last - 1] == 1 && map.axis[last - 1] == last - 1) last--;
  return last && map.axis[last - 1] == last - 1;
}

/* Returns true if the part that n selects is contiguous: each axis before the first one that is cut
 * has only one index. *offset is the number of elements before the part. */
static bool assign_is_piece(const wick_func *f, const wick_node *n, const wick_view_map *map,
                            int64_t *offset)
{
  const wick_type_info *x = wick_info_of(f, n->in[0]), *y = wick_info_of(f, n->first);
  wick_dims *t = f->module->dims;
  wick_dim stride = wick_dim_const(1), at = wick_dim_const(0);
  bool cut = false;
  for (uint32_t k = x->rank; k-- > 0; stride = wick_dim_mul(t, stride, x->dim[k])) {
    int64_t least, most;
    wick_dim_range(t, y->dim[k], &least, &most);
    if (!wick_dim_is_const(map->begin[k]) || map->step[k] != 1 || least == 0 ||
        (cut && !wick_dim_is(y->dim[k], 1)))
      return false;
    cut = cut || !wick_dim_eq(y->dim[k], x->dim[k]);
    at = wick_dim_add(t, at, wick_dim_mul(t, stride, map->begin[k]));
  }
  if (wick_dim_is_const(at)) *offset = at.v;
  return wick_dim_is_const(at);
}

/* Returns the loop whose index is v, or NULL. */
static const wick_node *assign_loop_of(const wick_func *f, wick_value v)
{
  for (uint32_t i = 0; i < f->nnode; i++)
    if (f->node[i].op == WICK_OP_loop && f->node[i].region[0].first.id == v.id) return &f->node[i];
  return NULL;
}

/* Returns true if d is never more than `extent`. */
static bool assign_within(const wick_func *f, wick_dim d, wick_dim extent)
{
  int64_t lo, hi;
  wick_dim_range(f->module->dims, wick_dim_sub(f->module->dims, d, extent), &lo, &hi);
  return hi <= 0;
}

bool wick_group_counts_within(const wick_func *f, const wick_node *loop, wick_dim most)
{
  const wick_value_info *count = &f->value[loop->in[0].id];
  return count->content && count->ncontent == 1 && assign_within(f, count->content[0], most);
}

/* Returns true if the loop never makes more than `extent` steps. A loop with stacked results fails
 * if it has more steps than its results have rows. */
static bool assign_steps_within(const wick_func *f, const wick_node *loop, wick_dim extent)
{
  return wick_group_counts_within(f, loop, extent) ||
         (loop->attr[WICK_ATTR_loop_stacked].i &&
          assign_within(f, wick_loop_most(loop->attr), extent));
}

/* Returns true if v is a view of a part that a loop's index selects. */
static bool assign_is_of_chosen(const wick_func *f, wick_value v)
{
  for (uint32_t i = f->nnode; i-- > 0;) {
    const wick_node *n = &f->node[i];
    int64_t offset;
    wick_picked choice;
    if (v.id < n->first.id || v.id >= n->first.id + n->nout) continue;
    if (!wick_group_is_view(f, n, &offset, &choice)) return false;
    if (choice.index.id) return true;
    v = n->in[0];
  }
  return false;
}

/* Returns true if n selects, by operand 1, one of several contiguous parts along `axis`. The index
 * must be that of a loop and never exceed the last part. A part of a part that another loop's index
 * selects is no view, because a view has at most one index. */
static bool assign_is_chosen(const wick_func *f, const wick_node *n, const wick_view_map *map,
                             uint32_t axis, wick_picked *out)
{
  const wick_node *loop = assign_loop_of(f, n->in[1]);
  const wick_type_info *x = wick_info_of(f, n->in[0]);
  int64_t least;
  if (!loop || !assign_steps_within(f, loop, x->dim[axis]) || assign_is_of_chosen(f, n->in[0]))
    return false;
  *out = (wick_picked){.index = n->in[1], .step = 1, .reverse = map->step[axis] < 0};
  for (uint32_t k = 0; k < axis; k++)
    if (!wick_dim_is(x->dim[k], 1)) return false;
  for (uint32_t k = axis + 1; k < x->rank; k++)
    out->step *= wick_dim_is_const(x->dim[k]) ? x->dim[k].v : 0;
  wick_dim_range(f->module->dims, x->dim[axis], &least, &out->count);
  if (!out->reverse) return true;
  return out->step && wick_dim_is_const(x->dim[axis]); /* it counts from the end */
}

bool wick_group_is_view(const wick_func *f, const wick_node *n, int64_t *offset,
                        wick_picked *choice)
{
  wick_view_kind kind = wick_op_of(n)->view_of.kind;
  *offset = 0, *choice = (wick_picked){.count = 1};
  if (kind != WICK_VIEW_OF_OPERAND) return kind == WICK_VIEW_SAME;
  if (wick_elem_storage[wick_info_of(f, n->first)->elem].bits % 8) /* it may begin within a byte */
    return false;
  wick_view_map map = wick_view_map_of(f, n, 0);
  for (uint32_t k = 0; k < wick_info_of(f, n->in[0])->rank; k++)
    if (map.axis[k] == WICK_VIEW_CHOSEN) return assign_is_chosen(f, n, &map, k, choice);
  return assign_is_piece(f, n, &map, offset);
}

bool wick_group_is_later(const wick_node *n)
{
  const wick_op *op = wick_op_of(n);
  return !op->scalar && !op->compute && !op->expand && !op->host && !op->view_of.kind &&
         !op->terminator && !op->nregion[1] && n->op != WICK_OP_const;
}

static bool assign_has_code(const wick_func *f, const wick_node *n)
{
  int64_t offset;
  wick_picked choice;
  return n->op != WICK_OP_const && !wick_op_of(n)->terminator && !n->nregion &&
         !wick_group_is_view(f, n, &offset, &choice) && !wick_group_is_filled(f, n) &&
         !wick_group_is_later(n);
}

/* ---- groups ---- */

typedef struct assign {
  wick_groups g;
  uint32_t *anchor; /* per root: the node with stages of its own; UINT32_MAX: none yet */
  uint32_t *count;  /* per root: number of nodes */
  uint32_t *slice;  /* per root: the number of last axes that its folds reduce; 0: no such folds */
  /* per node: if it is in a chain that begins with a depthwise convolution, the root of the group
   * whose anchor the chain leads to; else UINT32_MAX */
  uint32_t *before;
  uint64_t near;   /* bytes of the largest image that stays in the cache where it was written */
  uint64_t second; /* bytes of the second cache */
  int64_t lanes;   /* floats in a vector */
  wick_value *scratch;
} assign;

uint32_t wick_group_operands(const wick_groups *g, uint32_t root, wick_value *out)
{
  uint32_t n = 0;
  bool host = wick_op_of(&g->f->node[root])->host; /* it needs all of its operands in memory */
  for (uint32_t i = g->first[root]; i != UINT32_MAX; i = g->next[i])
    for (uint32_t k = 0; k < g->f->node[i].nin; k++) {
      wick_value v = g->f->node[i].in[k];
      uint32_t d = v.id ? g->definer[v.id] : UINT32_MAX;
      bool seen = !v.id || (d != UINT32_MAX &&
                            (g->of[d] == root || (!host && wick_group_is_imm(&g->f->node[d]))));
      for (uint32_t j = 0; j < n && !seen; j++) seen = out[j].id == v.id;
      if (!seen) out[n++] = v;
    }
  return n;
}

/* Returns the root of the only group that has users of node i, or UINT32_MAX. */
static uint32_t assign_users(const assign *s, uint32_t i)
{
  const wick_node *n = &s->g.f->node[i];
  uint32_t root = UINT32_MAX;
  if (n->nout != 1) return UINT32_MAX;
  for (uint32_t u = s->g.uses.first[n->first.id]; u < s->g.uses.first[n->first.id + 1]; u++) {
    uint32_t own = s->g.of[s->g.uses.use[u]];
    if (own == UINT32_MAX || (root != UINT32_MAX && own != root) ||
        s->g.region[own] != s->g.region[i])
      return UINT32_MAX;
    root = own;
  }
  return root;
}

/* Returns true if a and b have the same dimensions, except that a has size 1 in the last `slice`
 * ones. */
static bool assign_fits(const wick_func *f, wick_value a, wick_value b, uint32_t slice)
{
  const wick_type_info *x = wick_info_of(f, a), *y = wick_info_of(f, b);
  if (x->rank != y->rank || x->rank < slice) return false;
  for (uint32_t k = 0; k < x->rank; k++)
    if (!(k + slice < x->rank ? wick_dim_eq(x->dim[k], y->dim[k]) : wick_dim_is(x->dim[k], 1)))
      return false;
  return true;
}

/* Returns the number of last dimensions along which n folds a tensor of `like`'s shape; 0 if it is
 * no such fold. */
static uint32_t assign_slice(const wick_func *f, const wick_node *n, wick_value like)
{
  const wick_op *op = wick_op_of(n);
  uint32_t rank = wick_info_of(f, like)->rank, slice = 0;
  if (!op->reduced_axes || n->nout != 1 || !assign_fits(f, n->in[0], like, 0)) return 0;
  uint32_t axes = op->reduced_axes(n->attr, rank);
  while (slice < rank && axes >> (rank - 1 - slice) & 1) slice++;
  if (!slice || axes != ((1u << slice) - 1) << (rank - slice)) return 0;
  return assign_fits(f, n->first, like, 0) || assign_fits(f, n->first, like, slice) ? slice : 0;
}

/* Returns the node that computes operand k of n, if n is its only user and both have the same
 * shape; else NULL. */
static const wick_node *assign_before(const assign *s, const wick_node *n, uint32_t k)
{
  wick_value v = n->in[k];
  if (!v.id || s->g.definer[v.id] == UINT32_MAX) return NULL;
  bool once = s->g.uses.first[v.id + 1] - s->g.uses.first[v.id] == 1;
  const wick_node *d = &s->g.f->node[s->g.definer[v.id]];
  return once && d->nout == 1 && assign_has_code(s->g.f, d) && assign_fits(s->g.f, v, n->first, 0)
             ? d
             : NULL;
}

/* Returns true if a chain of element-wise nodes leads to n from an anchor that is no fold along
 * slices. Each node of the chain is the only user of the one before it. */
static bool assign_is_epilogue(const assign *s, const wick_node *n)
{
  const wick_node *stack[ASSIGN_CHAIN] = {n};
  uint32_t depth = 1;
  for (uint32_t steps = 0; depth && steps < ASSIGN_CHAIN; steps++) {
    const wick_node *at = stack[--depth];
    if (!wick_group_is_scalar(s->g.f, at)) {
      if (!wick_op_of(at)->reduced_axes) return true;
      continue;
    }
    for (uint32_t k = 0; k < at->nin && depth < ASSIGN_CHAIN; k++) {
      const wick_node *d = assign_before(s, at, k);
      if (d) stack[depth++] = d;
    }
  }
  return false;
}

/* Returns true if n has one element for each slice of `like`, and depends on a fold along these
 * slices. */
static bool assign_is_per_slice(const assign *s, const wick_node *n, wick_value like,
                                uint32_t slice, uint32_t depth)
{
  const wick_func *f = s->g.f;
  if (!assign_fits(f, n->first, like, slice)) return false;
  if (!wick_group_is_scalar(f, n)) return assign_slice(f, n, like) == slice;
  for (uint32_t k = 0; k < n->nin && depth; k++) {
    uint32_t d = n->in[k].id ? s->g.definer[n->in[k].id] : UINT32_MAX;
    if (d != UINT32_MAX && assign_is_per_slice(s, &f->node[d], like, slice, depth - 1)) return true;
  }
  return false;
}

/* Slices of several axes that are longer share a group only if there are that many. A task computes
 * a whole slice, while groups of their own divide it among the threads. */
enum { ASSIGN_SLICE = 1 << 15, ASSIGN_SLICES = 4 };

/* Returns true if slices of that many axes may share the group. Vectors run along the last axis, so
 * it is long, or all nodes of the group use the axes of a slice together, so that they become one
 * (graph/group/collapse.h). */
static bool assign_may_slice(const assign *s, uint32_t root, uint32_t slice)
{
  const wick_func *f = s->g.f;
  const wick_type_info *y = wick_info_of(f, f->node[root].first);
  uint32_t first = y->rank - slice;
  uint64_t size[2] = {1, 1}; /* the number of slices, and of the elements of each */
  if (slice < 2) return true;
  for (uint32_t k = 0; k < y->rank; k++) {
    uint64_t *n = &size[k >= first];
    int64_t d = wick_dim_typical(f->module->dims, y->dim[k]);
    *n = wick_min_u64(*n * (uint64_t)wick_max_i64(d, 1), UINT32_MAX);
  }
  if (size[1] > ASSIGN_SLICE && size[0] < ASSIGN_SLICES) return false;
  if (wick_dim_typical(f->module->dims, y->dim[y->rank - 1]) >= 2 * s->lanes) return true;
  for (uint32_t i = s->g.first[root]; i != UINT32_MAX; i = s->g.next[i])
    for (uint32_t k = 0; k < f->node[i].nin; k++) {
      if (!f->node[i].in[k].id) continue;
      const wick_type_info *x = wick_info_of(f, f->node[i].in[k]);
      uint32_t same = 0, ones = 0;
      for (uint32_t a = 0; a < slice; a++) {
        bool has = a < x->rank;
        same += has && wick_dim_eq(x->dim[x->rank - 1 - a], y->dim[y->rank - 1 - a]);
        ones += !has || wick_dim_is(x->dim[x->rank - 1 - a], 1);
      }
      if (same != slice && ones != slice) return false;
    }
  return true;
}

/* Returns the number of last axes of slices for which n may join the group as a fold, or as a node
 * with one element for each slice; 0: it may not. */
static uint32_t assign_joins_slices(const assign *s, uint32_t root, const wick_node *n)
{
  const wick_func *f = s->g.f;
  wick_value like = f->node[root].first;
  uint32_t rank = wick_info_of(f, like)->rank, own = s->slice[root], slice;
  for (slice = own ? own : 1; slice <= (own ? own : rank); slice++)
    if ((assign_slice(f, n, like) == slice || assign_is_per_slice(s, n, like, slice, 8)) &&
        assign_may_slice(s, root, slice))
      return slice;
  return 0;
}

/* Returns true if node i casts narrow floats to wider ones and its users read elements without
 * guards. Such a cast reads fewer bytes than it writes, and is nearly free. */
static bool assign_widens(const assign *s, uint32_t i)
{
  const wick_func *f = s->g.f;
  const wick_node *n = &f->node[i];
  if (n->op != WICK_OP_cast) return false;
  wick_elem from = wick_info_of(f, n->in[0])->elem, to = wick_info_of(f, n->first)->elem;
  bool wider = wick_elem_is_float(from) && wick_elem_is_float(to) &&
               wick_elem_storage[from].bits < wick_elem_storage[to].bits;
  for (uint32_t u = s->g.uses.first[n->first.id]; wider && u < s->g.uses.first[n->first.id + 1];
       u++) {
    const wick_node *user = &f->node[s->g.uses.use[u]];
    wider = wick_group_is_scalar(f, user) || wick_op_of(user)->reduced_axes;
  }
  return wider;
}

static uint64_t assign_bytes(const assign *s, wick_value v)
{
  return wick_type_typical_nbytes(s->g.f->module, wick_type_of(s->g.f, v));
}

/* Returns true if keeping rows of the anchor's first operand pays, and a template exists for it. */
static bool assign_keeps_rows(const assign *s, const wick_node *n)
{
  const wick_func *f = s->g.f;
  if (!wick_op_of(n)->reach || wick_op_of(n)->reach(f, n) != WICK_REACH_CHANNELS) return false;
  const wick_type_info *x = wick_info_of(f, n->in[0]), *y = wick_info_of(f, n->first);
  return x->elem == WICK_F32 && s->lanes > 1 && wick_dim_is(x->dim[4], s->lanes) &&
         wick_dim_is(y->dim[4], s->lanes) && assign_bytes(s, n->in[0]) > s->near &&
         assign_bytes(s, n->in[1]) <= s->near / 2;
}

/* Called when node i has become the anchor of a group. Finds the nodes before its first operand
 * that join the group. */
static void assign_before_anchor(assign *s, uint32_t root, uint32_t i)
{
  const wick_func *f = s->g.f;
  const wick_node *n = &f->node[i], *chain[ASSIGN_CHAIN];
  uint32_t depth = 0;
  if (!assign_keeps_rows(s, n)) return;
  for (wick_value v = n->in[0]; depth < ASSIGN_CHAIN; v = chain[depth - 1]->in[0]) {
    uint32_t d = v.id ? s->g.definer[v.id] : UINT32_MAX;
    if (d == UINT32_MAX || s->g.uses.first[v.id + 1] - s->g.uses.first[v.id] != 1 ||
        f->node[d].nout != 1 || !assign_has_code(f, &f->node[d]))
      return;
    chain[depth++] = &f->node[d];
    if (!wick_group_is_scalar(f, &f->node[d])) break;
    if (!f->node[d].nin || !assign_fits(f, f->node[d].in[0], v, 0) ||
        wick_info_of(f, f->node[d].in[0])->elem != WICK_F32)
      return;
  }
  const wick_node *first = depth ? chain[depth - 1] : NULL;
  if (depth < 2 || !wick_op_of(first)->reach ||
      wick_op_of(first)->reach(f, first) != WICK_REACH_PLACES)
    return;
  for (uint32_t k = 0; k < depth; k++) s->before[chain[k] - f->node] = root;
}

/* Returns true if node i is element-wise and leads to nothing but a fold that reads each of its
 * elements once. All its users are in the group. */
static bool assign_is_folded(const assign *s, uint32_t root, uint32_t i)
{
  const wick_func *f = s->g.f;
  uint32_t anchor = s->anchor[root];
  if (anchor == UINT32_MAX || !wick_op_of(&f->node[anchor])->reads_once) return false;
  const wick_node *n = &f->node[i];
  return wick_group_is_scalar(f, n) && assign_fits(f, n->first, f->node[anchor].in[0], 0) &&
         !assign_is_epilogue(s, n);
}

/* Returns true if node i is element-wise and leads to nothing but the indices into a table of one axis. All
 * its users are in the group. */
static bool assign_is_index(const assign *s, uint32_t root, uint32_t i)
{
  const wick_func *f = s->g.f;
  uint32_t anchor = s->anchor[root];
  if (anchor == UINT32_MAX || f->node[anchor].op != WICK_OP_gather ||
      wick_info_of(f, f->node[anchor].in[0])->rank != 1)
    return false;
  const wick_node *n = &f->node[i];
  return wick_group_is_scalar(f, n) && assign_fits(f, n->first, f->node[anchor].in[1], 0) &&
         !assign_is_epilogue(s, n);
}

/* Returns true if node i only selects elements, which element-wise nodes of the group read where they
 * are, in vectors along the last axis. Any number of such nodes may be in a group. */
static bool assign_selects(const assign *s, uint32_t root, uint32_t i)
{
  const wick_func *f = s->g.f;
  const wick_node *n = &f->node[i];
  if (wick_op_of(n)->view_of.kind != WICK_VIEW_OF_OPERAND || s->slice[root]) return false;
  const wick_type_info *x = wick_info_of(f, n->in[0]), *y = wick_info_of(f, n->first);
  wick_view_map map = wick_view_map_of(f, n, 0);
  uint32_t last = x->rank ? x->rank - 1u : 0;
  for (uint32_t k = 0; k < x->rank; k++)
    if (map.axis[k] == WICK_VIEW_CHOSEN) return false;
  if (!x->rank || !y->rank || map.axis[last] != y->rank - 1u || map.step[last] != 1) return false;
  for (uint32_t u = s->g.uses.first[n->first.id]; u < s->g.uses.first[n->first.id + 1]; u++)
    if (!wick_group_is_scalar(f, &f->node[s->g.uses.use[u]])) return false;
  return true;
}

/* Returns true if a product of few rows reads n, a transposition of its second factor's rows and
 * columns. Long sums along the rows of what is transposed, which end in a sum across a vector for each
 * element of the result, then take less time than moving it. */
static bool assign_turns_rows(const assign *s, const wick_node *anchor, const wick_node *n)
{
  enum { MOST = 24, LONG = 8, LEAST = 64 };
  const wick_func *f = s->g.f;
  if (n->op != WICK_OP_transpose || anchor->op != WICK_OP_matmul || anchor->in[1].id != n->first.id)
    return false;
  const wick_type_info *a = wick_info_of(f, anchor->in[0]), *x = wick_info_of(f, n->in[0]);
  uint32_t last = x->rank - 1u;
  if (a->rank < 2 || x->rank < 2) return false;
  const wick_view_map from = wick_view_map_of(f, n, 0);
  for (uint32_t k = 0; k <= last; k++)
    if (from.axis[k] != (k == last ? last - 1 : k + 1 == last ? last : k)) return false;
  int64_t rows = wick_dim_typical(f->module->dims, a->dim[a->rank - 2]);
  int64_t sum = wick_dim_typical(f->module->dims, x->dim[last]);
  return rows <= MOST && sum >= LEAST && LONG * rows <= sum;
}

/* Returns true if n transposes the first factor of a product, which can read it where it is, because rows or
 * steps of the sum stay next to each other. If rows do, each step reads another line, whose other elements
 * belong to the rows after it. All these lines must stay in the second cache, where lines that are multiples of a
 * large power of two apart share few sets (on an Emerald Rapids, 1000 x 300 x 10 takes 0.34 of the time,
 * 300 x 1000 x 300 0.91; 1024 x 1024 x 1024 would take 1.75, 2048 x 512 x 512 2.1). */
static bool assign_turns_steps(const assign *s, const wick_node *product, const wick_node *n)
{
  const wick_func *f = s->g.f;
  if (n->op != WICK_OP_transpose || !product->nin || product->in[0].id != n->first.id ||
      (product->op != WICK_OP_matmul && product->op != WICK_OP_matmul_packed))
    return false;
  const wick_type_info *x = wick_info_of(f, n->in[0]), *sum = wick_info_of(f, product->first);
  if ((x->elem != WICK_F32 && x->elem != WICK_F64) || x->elem != sum->elem || x->rank < 2)
    return false;
  const wick_view_map from = wick_view_map_of(f, n, 0);
  uint32_t last = x->rank - 1u;
  if (from.axis[last] == last || from.axis[last - 1] != last) return from.axis[last] == last;
  uint64_t apart = wick_elem_bytes(x->elem, 1);
  for (uint32_t k = from.axis[last] + 1; k <= last; k++)
    apart *= (uint64_t)wick_max_i64(wick_dim_typical(f->module->dims, x->dim[k]), 1);
  uint64_t steps = (uint64_t)wick_dim_typical(f->module->dims, x->dim[from.axis[last]]);
  uint64_t power = wick_max_u64(apart & -apart, WICK_LINE);
  return 2 * steps <= s->second / power;
}

/* Returns true if node i is a factor of the group's product, and selects parts of rows, which are read
 * where they are, or rows as columns, or columns as rows. */
static bool assign_reads_in_place(const assign *s, uint32_t root, uint32_t i)
{
  const wick_func *f = s->g.f;
  const wick_node *n = &f->node[i];
  wick_value v = n->first;
  uint32_t anchor = s->anchor[root];
  if (anchor == UINT32_MAX || s->g.uses.first[v.id + 1] - s->g.uses.first[v.id] != 1) return false;
  const wick_node *product = &f->node[anchor];
  if (assign_turns_rows(s, product, n) || assign_turns_steps(s, product, n)) return true;
  bool packed = product->op == WICK_OP_matmul_packed,
       first = product->nin && product->in[0].id == v.id,
       second = product->nin > 1 && product->in[1].id == v.id;
  if (wick_op_of(n)->view_of.kind != WICK_VIEW_OF_OPERAND ||
      !(packed ? first : product->op == WICK_OP_matmul && (first || second)))
    return false;
  wick_view_map map = wick_view_map_of(f, n, 0);
  for (uint32_t k = 0; k < wick_info_of(f, n->in[0])->rank; k++)
    if (map.axis[k] != k || map.step[k] != 1) return false;
  return true;
}

/* Returns true if a node of the group, which is not its anchor, selects elements of node i. They must
 * be in memory: registers have no other index than that of the element that is computed. */
static bool assign_is_selected(const assign *s, uint32_t root, uint32_t i)
{
  const wick_func *f = s->g.f;
  uint32_t id = f->node[i].first.id;
  for (uint32_t u = s->g.uses.first[id]; u < s->g.uses.first[id + 1]; u++) {
    uint32_t user = s->g.uses.use[u];
    if (s->g.of[user] == root && user != s->anchor[root] &&
        !wick_group_is_scalar(f, &f->node[user]) &&
        wick_op_of(&f->node[user])->view_of.kind == WICK_VIEW_OF_OPERAND)
      return true;
  }
  return false;
}

/* Returns true if node i joins the group of its users. */
static bool assign_takes(assign *s, uint32_t root, uint32_t i)
{
  const wick_func *f = s->g.f;
  const wick_node *n = &f->node[i];
  if (wick_op_of(n)->host || wick_op_of(&f->node[root])->host) return false;
  if (wick_op_of(n)->ends_kernel) return false;
  if (wick_op_of(n)->unfusable || wick_op_of(&f->node[root])->unfusable) return false;
  if (s->before[i] == root) return true;
  wick_value like = f->node[root].first;
  bool whole = assign_fits(f, n->first, like, 0);
  if (f->node[root].nout != 1 || assign_is_selected(s, root, i)) return false;
  if (assign_widens(s, i) || assign_is_folded(s, root, i) || assign_is_index(s, root, i) ||
      assign_reads_in_place(s, root, i))
    return true;
  if (whole && assign_selects(s, root, i)) return true;
  if (s->anchor[root] != UINT32_MAX && !s->slice[root]) return false;
  if (wick_group_is_scalar(f, n))
    return whole ? !s->slice[root] || !assign_is_epilogue(s, n) : assign_joins_slices(s, root, n);
  uint32_t slice = assign_joins_slices(s, root, n);
  if (slice) s->slice[root] = slice;
  if (slice) return true;
  if (!whole || s->slice[root]) return false;
  s->anchor[root] = i;
  assign_before_anchor(s, root, i);
  return true;
}

static void assign_node(assign *s, uint32_t i)
{
  const wick_node *n = &s->g.f->node[i];
  uint32_t root = assign_users(s, i);
  if (root != UINT32_MAX) {
    uint32_t anchor = s->anchor[root];
    uint32_t slice = s->slice[root];
    if (s->count[root] < ASSIGN_MOST_NODES && assign_takes(s, root, i)) {
      s->g.of[i] = root, s->count[root]++;
      s->g.next[i] = s->g.first[root],
      s->g.first[root] = i; /* before all nodes that are in the group */
      if (wick_group_operands(&s->g, root, s->scratch) <= ASSIGN_MOST_OPERANDS) return;
      s->g.first[root] = s->g.next[i], s->count[root]--;
    }
    s->anchor[root] = anchor, s->slice[root] = slice;
  }
  s->g.of[i] = s->g.first[i] = i, s->g.next[i] = UINT32_MAX;
  s->count[i] = 1;
  s->slice[i] = n->nout == 1 ? assign_slice(s->g.f, n, n->first) : 0;
  s->anchor[i] = s->slice[i] || wick_group_is_scalar(s->g.f, n) ? UINT32_MAX : i;
  if (s->anchor[i] == i) assign_before_anchor(s, i, i);
}

wick_groups wick_groups_of(const wick_func *f, const wick_target *t, const bool *apart,
                           wick_arena *tmp)
{
  assign s = {.g = {.f = f, .uses = wick_uses_of(f, tmp), .definer = wick_definers_of(f, tmp)}};
  s.g.of = wick_new(tmp, uint32_t, f->nnode);
  s.anchor = wick_new(tmp, uint32_t, f->nnode);
  s.g.first = wick_new(tmp, uint32_t, f->nnode);
  s.g.next = wick_new(tmp, uint32_t, f->nnode);
  s.count = wick_new(tmp, uint32_t, f->nnode);
  s.slice = wick_new(tmp, uint32_t, f->nnode);
  s.before = wick_new(tmp, uint32_t, f->nnode);
  s.lanes = t->vector_bytes / 4;
  s.second = wick_target_cache(t, 2);
  s.near = s.second / 2;
  s.scratch = wick_new(tmp, wick_value, f->nvalue + 1);
  uint32_t *order = wick_new(tmp, uint32_t, f->nnode), n = 0;
  for (uint32_t i = 0; i < f->nnode; i++) s.g.of[i] = s.anchor[i] = s.before[i] = UINT32_MAX;
  s.g.region = wick_new(tmp, uint32_t, f->nnode);
  for (uint32_t i = 0; i < f->nnode; i++) order[n++] = i;
  for (uint32_t i = 0; i < f->nnode; i++) /* inner regions come later */
    for (uint32_t r = 0; r < f->node[i].nregion; r++)
      for (uint32_t k = f->node[i].region[r].begin; k < f->node[i].region[r].end; k++)
        s.g.region[k] = f->node[i].region[r].begin;
  while (n-- > 0)
    if (assign_has_code(f, &f->node[order[n]]) && !(apart && apart[order[n]]))
      assign_node(&s, order[n]);
  return s.g;
}
